/** BottleneckTool: measurements in, questions answered, cause and remedies out. */

import { copyButton, field, h, replace, select, shell } from "../core/index.js";
import { read, significant } from "../core/units.js";
import { CONTRACT, CPUS, describe, diagnose, FIELDS, ms, NAMES, problem, QUESTIONS, script } from "./model.js";
import { CSS } from "./style.js";

const PARTS = [["step_ms", "step alone"], ["loader_ms", "loader alone"], ["copy_ms", "copy"], ["full_ms", "full run"]];

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
  const bars = h("div", { class: "bn-bars" });
  const path = h("ol", { class: "bn-path" });
  const verdict = h("div", { class: "bn-box bn-verdict" });

  function draw() {
    const now = setting();
    Object.values(inputs).forEach((one) => one.refresh());
    cpu.update({ value: now.cpu });
    ui.tell(note, ui.mark(CONTRACT.presetOf(now)));
    const found = diagnose(now);
    const most = Math.max(...PARTS.map(([name]) => now[name] ?? 0));
    replace(bars, PARTS.filter(([name]) => now[name] !== null).map(([name, label]) => [h("span", {}, label), h("span", { class: `bn-track${name === "full_ms" ? " full" : ""}`, "aria-hidden": "true" }, h("i", { style: { width: `${((100 * now[name]) / most).toFixed(1)}%` } })), h("span", { class: "bn-value" }, ms(now[name]))]));
    replace(path, found.path.map(({ key, sum, yes }, i) => h("li", { class: i === found.path.length - 1 ? "last" : null }, h("span", {}, QUESTIONS[key]), h("span", { class: "bn-sum" }, sum), h("span", { class: "bn-answer" }, yes ? "yes" : "no"))));
    replace(
      verdict,
      h("p", { class: "bn-cause" }, found.title),
      h("p", {}, found.why),
      found.reach !== null && h("p", {}, "Once that is mended a batch could take ", h("b", {}, ms(found.reach)), `, ${significant(found.gain)} times as fast.`),
      h("ol", {}, found.remedies.map((text) => h("li", {}, text))),
    );
    ui.soon(() => describe(now), { ms: 500 });
  }
  ui.follow(draw);

  const left = h("div", { class: "bn-box" }, h("p", { class: "bn-title" }, "What was measured"), bars);
  ui.lay({
    stage: h("div", { class: "bn-pair" }, left, verdict),
    presets: chips,
    readout: note,
    drawer: [
    h("div", { class: "bn-fields" }, NAMES.map((name) => inputs[name]), cpu),
    h("div", { class: "bn-bar" }, copyButton("Copy as PyTorch", script, { title: "Code that takes these measurements" }), link),
      h("div", { class: "bn-box" }, h("p", { class: "bn-title" }, "What it answers"), path),
    ],
  });
  draw();
  return ui.cleanup;
}

export default { render };
