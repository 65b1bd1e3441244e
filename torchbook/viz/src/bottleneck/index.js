/** BottleneckTool: measurements in, questions answered, cause and remedies out. */

import { button, copyButton, field, h, keyOf, permalink, replace, select, shell } from "../core/index.js";
import { read, significant } from "../scaling/text.js";
import { CPUS, describe, diagnose, FIELDS, isSetting, ms, NAMES, presetOf, PRESETS, problem, QUESTIONS, script, START } from "./model.js";
import { lanes } from "./lanes.js";
import { CSS } from "./style.js";

const HELP = "Drag the end of a block, move it by arrow keys, or type what you measured. The lanes show one run that takes these times: hatched, the step waits for its next batch; red, what no run can do; dashed, what no part explains. Times are milliseconds for each batch. Copy and utilisation may stay empty. Two times count as the same when neither is more than a tenth longer.";
const ALL = [...NAMES, "cpu"];

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
  const ui = shell({ model, el, title: "Bottleneck diagnosis", finding: "The slowest stage sets the pace", invitation: "Drag the ends of the blocks: when does the step wait?", describe: HELP });
  ui.css(CSS);
  const setting = () => Object.fromEntries(ALL.map((name) => [name, model.get(name)]));
  const put = (changes) => ui.set(changes);
  const start = (given) => {
    put({ ...START, ...given });
    Object.values(inputs).forEach((one) => one.refresh(true));
  };
  const link = permalink({
    key: keyOf(el, "bottleneck", model.get("link")),
    el,
    get: () => presetOf(setting()) ?? setting(),
    put: (value) => {
      if (typeof value === "string") {
        if (Object.hasOwn(PRESETS, value)) start(PRESETS[value].set);
      } else if (isSetting(value)) start(value);
    },
  });
  ui.defer(link.cleanup);
  const chips = Object.entries(PRESETS).map(([name, preset]) =>
    button(preset.label, () => {
      start(preset.set);
    }),
  );
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
  let timer = 0;
  let first = true;
  ui.defer(() => clearTimeout(timer));

  let queued = false;
  let width = 0;
  function draw() {
    queued = false;
    const now = setting();
    Object.values(inputs).forEach((one) => one.refresh());
    cpu.update({ value: now.cpu });
    const preset = presetOf(now);
    Object.keys(PRESETS).forEach((name, i) => chips[i].setAttribute("aria-pressed", String(name === preset)));
    note.textContent = PRESETS[preset]?.note ?? "";
    note.hidden = !preset;
    const { cause, path: asked, reach, gain, remedies, title, why } = diagnose(now);
    picture.draw(now, cause, Math.max(240, Math.floor(spot.clientWidth) || 560));
    replace(path, asked.map(({ key, sum, yes }, i) => h("li", { class: i === asked.length - 1 ? "last" : null }, h("span", {}, QUESTIONS[key]), h("span", { class: "bn-sum" }, sum), h("span", { class: "bn-answer" }, yes ? "yes" : "no"))));
    replace(found, h("span", { class: "bn-cause" }, title), ".", reach !== null && [" Mended: ", h("b", {}, `${ms(reach)} a batch`), `, ${significant(gain)} times as fast.`]);
    replace(verdict, h("p", {}, why), h("ol", {}, remedies.map((text) => h("li", {}, text))));
    clearTimeout(timer);
    const words = describe(now);
    if (first) ui.say(words);
    else timer = setTimeout(() => ui.say(words), 500);
    first = false;
  }
  const queue = () => {
    if (!queued) queueMicrotask(() => queued && draw());
    queued = true;
  };
  for (const name of ALL) ui.on(name, queue);

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
  const watch = new ResizeObserver(() => {
    if (spot.clientWidth && spot.clientWidth !== width) {
      width = spot.clientWidth;
      draw();
    }
  });
  watch.observe(spot);
  ui.defer(() => watch.disconnect());
  return ui.cleanup;
}

export default { render };
