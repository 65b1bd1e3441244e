/** BottleneckTool: measurements in, questions answered, cause and remedies out. */

import { button, copyButton, field, h, keyOf, permalink, replace, select, shell } from "../core/index.js";
import { read, significant } from "../scaling/text.js";
import { CPUS, describe, diagnose, FIELDS, isSetting, ms, NAMES, presetOf, PRESETS, problem, QUESTIONS, script, START } from "./model.js";
import { CSS } from "./style.js";

const HELP = "Type what you measured; times are milliseconds for each batch. Copy and utilisation may stay empty. Two times count as the same when neither is more than a tenth longer.";
const ALL = [...NAMES, "cpu"];
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
  const ui = shell({ model, el, title: "Bottleneck diagnosis", finding: "The slowest stage sets the pace", invitation: "Start from a case, then change what was measured.", describe: HELP });
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
  const bars = h("div", { class: "bn-bars" });
  const path = h("ol", { class: "bn-path" });
  const verdict = h("div", { class: "bn-box bn-verdict" });
  let timer = 0;
  let first = true;
  ui.defer(() => clearTimeout(timer));

  let queued = false;
  function draw() {
    queued = false;
    const now = setting();
    Object.values(inputs).forEach((one) => one.refresh());
    cpu.update({ value: now.cpu });
    const preset = presetOf(now);
    Object.keys(PRESETS).forEach((name, i) => chips[i].setAttribute("aria-pressed", String(name === preset)));
    note.textContent = PRESETS[preset]?.note ?? "";
    note.hidden = !preset;
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
