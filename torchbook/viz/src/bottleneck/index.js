/** BottleneckTool: measurements in, questions answered, cause and remedies out. */

import { copyButton, field, h, replace, select, shell } from "../core/index.js";
import { read, significant } from "../core/units.js";
import { CONTRACT, CPUS, describe, diagnose, FIELDS, ms, NAMES, problem, QUESTIONS, script } from "./model.js";
import { lanes } from "./lanes.js";
import { CSS } from "./style.js";

/** What the shorter time takes. */
const HOW = { loader: "With a loader that keeps up", transfer: "With copies beside the steps", serial: "With loading beside the steps", nearly: "With loading beside the steps", uneven: "If all of it overlapped", more: "Without the rest" };

function measured(name, model, put) {
  const { label, unit } = FIELDS[name];
  const one = field({
    label: unit ? `${label}, ${unit}` : label,
    oninput: (text) => {
      const value = text.trim() ? read(text) : null;
      const wrong = problem(name, value);
      one.update({ error: wrong });
      if (!wrong) put({ [name]: value });
    },
  });
  one.input.inputMode = "decimal";
  one.refresh = (always) => {
    if (always || one.getRootNode().activeElement !== one.input) one.update({ value: String(model.get(name) ?? ""), error: "" });
  };
  one.input.addEventListener("blur", () => one.refresh(true));
  return one;
}

function render({ model, el }) {
  const ui = shell({ model, el, contract: CONTRACT, kind: "bottleneck", changed: (given) => Object.keys(given).length > 1 && Object.values(inputs).forEach((one) => one.refresh(true)) });
  ui.css(CSS);
  const { setting, put } = ui;
  const link = ui.link();
  const chips = ui.chips();
  const inputs = Object.fromEntries(NAMES.map((name) => [name, measured(name, model, put)]));
  const cpu = select({ label: "CPU while the loader runs alone", options: Object.entries(CPUS).map(([value, label]) => ({ value, label })), value: "unknown", onchange: (value) => put({ cpu: value }) });
  const note = h("p", { class: "bn-note", role: "status" });
  const picture = lanes((changes) => {
    put(changes);
    for (const name of Object.keys(changes)) inputs[name].refresh(true);
  });
  const spot = picture.node;
  const path = h("ol", { class: "bn-path" });
  const found = h("p", { class: "bn-found" });
  const verdict = h("div", { class: "bn-box bn-verdict" });

  function draw() {
    const now = setting();
    Object.values(inputs).forEach((one) => one.refresh());
    cpu.update({ value: now.cpu });
    ui.tell(note, ui.mark(CONTRACT.presetOf(now)));
    const { cause, path: asked, reach, gain, remedies, title, why } = diagnose(now);
    picture.draw(now, cause, Math.max(240, Math.floor(spot.clientWidth) || 560));
    replace(path, asked.map(({ key, sum, yes }, i) => h("li", { class: i === asked.length - 1 ? "last" : null }, h("span", {}, QUESTIONS[key]), h("span", { class: "bn-sum" }, sum), h("span", { class: "bn-answer" }, yes ? "yes" : "no"))));
    replace(found, h("span", { class: "bn-cause" }, title), ".", reach !== null && [` ${HOW[cause]}, a batch would take `, h("b", {}, ms(reach)), `, not ${ms(now.full_ms)}: ${significant(gain)} times as fast.`]);
    replace(verdict, h("p", {}, why), h("ol", {}, remedies.map((text) => h("li", {}, text))));
    ui.soon(() => describe(now), { ms: 500 });
  }
  ui.follow(draw);

  ui.lay({
    stage: spot,
    presets: chips,
    readout: found,
    drawer: [
      verdict,
      note,
    h("div", { class: "bn-fields" }, NAMES.map((name) => inputs[name]), cpu),
    h("div", { class: "bn-bar" }, copyButton("Copy as PyTorch", script, { title: "Code that takes these measurements" }), link),
      h("div", { class: "bn-box" }, h("p", { class: "bn-title" }, "What it answers"), path),
    ],
  });
  draw();
  ui.watch(spot, draw);
  return ui.cleanup;
}

export default { render };
