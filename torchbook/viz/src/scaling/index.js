/** ScalingCalculator: the arithmetic of data-parallel training, with every formula and its numbers. */

import { numberField, table } from "../core/form.js";
import { copyButton, h, replace, select, shell } from "../core/index.js";
import { SHEET } from "../core/sheet.js";
import { duration, plain, significant, typed } from "../core/units.js";
import { CONTRACT, FIELDS, linkOf, LINKS, NAMES, results, RULES } from "./model.js";
import { curvePlot, stepBar } from "./picture.js";
import { CSS } from "./style.js";
import { CLAIMS, describe, rows, script } from "./words.js";

const OTHER = "other";

/** The next number up or down: doubling and halving for sizes, steps of one digit otherwise. */
function stepped(name, value, way, far) {
  const { low, high, whole } = FIELDS[name];
  const unit = name === "overlap" ? 5 : name === "latency_us" || whole ? Math.max(1, 10 ** (Math.floor(Math.log10(Math.max(value, 1))) - 1)) : 10 ** (Math.floor(Math.log10(value || 1)) - 1);
  const next = Number((value + way * unit * (far ? 10 : 1)).toPrecision(12));
  return Math.min(high, Math.max(low, name === "gpus" || name === "batch" || name === "bytes_per_element" ? value + way * (far ? 10 : 1) : next));
}

function numberOf(name, model, put) {
  const { label, unit } = FIELDS[name];
  return numberField({
    label: unit && name !== "bytes_per_element" ? `${label}, ${unit}` : label,
    get: () => model.get(name),
    put: (value) => put({ [name]: value }),
    problem: (value) => CONTRACT.problem(name, value),
    next: (value, way, far) => stepped(name, value, way, far),
    typed: (value) => typed(name, value),
    text: name === "parameters",
  });
}

function render({ model, el }) {
  const ui = shell({ model, el, contract: CONTRACT, kind: "scaling", changed: (given) => Object.keys(given).length > 1 && Object.values(inputs).forEach((one) => one.refresh(true)) });
  ui.css(SHEET);
  ui.css(CSS);
  const { setting, put } = ui;
  const link = ui.link();
  const chips = ui.chips();
  const inputs = Object.fromEntries(NAMES.map((name) => [name, numberOf(name, model, put)]));
  const known = select({
    label: "link between GPUs",
    options: [...Object.entries(LINKS).map(([value, { label, each }]) => ({ value, label: `${label}: ${each} GB/s` })), { value: OTHER, label: "other" }],
    value: OTHER,
    onchange: (name) => {
      if (LINKS[name]) put({ bandwidth_gb: LINKS[name].each });
      inputs.bandwidth_gb.refresh(true);
    },
  });
  known.classList.add("sc-wide");
  const rule = select({ label: "rule for the learning rate", options: Object.entries(RULES).map(([value, label]) => ({ value, label })), value: "linear", onchange: (value) => put({ rule: value }) });
  rule.classList.add("sc-wide");
  const note = h("p", { class: "sc-note", role: "status" });
  const told = h("p", { class: "sc-told" });
  const answers = table();
  const bar = stepBar();
  const head = h("p", { class: "sc-head" });
  const plot = curvePlot((gpus) => {
    put({ gpus });
    inputs.gpus.refresh(true);
  });
  const claims = h("details", {}, h("summary", {}, "What an older tutorial said of the first example"), h("dl", {}, CLAIMS.flatMap(([claim, holds]) => [h("dt", {}, claim), h("dd", {}, holds)])));
  const spot = h("div", { class: "sc-box" }, head, bar.node);
  const curveBox = h("div", { class: "sc-box" }, h("p", { class: "sc-title" }, "Speed-up over the number of GPUs"), plot.node);

  function draw() {
    const now = setting();
    Object.values(inputs).forEach((one) => one.refresh());
    const which = linkOf(now);
    known.update({ value: which ?? OTHER });
    rule.update({ value: now.rule });
    const of = LINKS[which];
    told.textContent = of
      ? of.both
        ? `${of.label}: data sheets say ${of.told}, both directions together; a ring sends in one, ${of.each} GB/s.`
        : `${of.label}: ${of.told} in each direction, ${of.each} GB/s.`
      : `${plain(now.bandwidth_gb)} GB/s in one direction; a data sheet that adds both directions would say ${plain(2 * now.bandwidth_gb)} GB/s.`;
    ui.tell(note, ui.mark(CONTRACT.presetOf(now)));
    answers.draw(rows(now));
    const room = Math.max(240, Math.floor(spot.clientWidth - 24) || 560);
    const all = results(now);
    replace(head, "One step ", h("b", {}, duration(all.step)), ", speed-up ", h("b", {}, `${significant(all.speedup)}×`), `, efficiency ${significant(100 * all.efficiency)} %`);
    bar.draw(now, room);
    plot.draw(now, room);
    ui.say(describe(now));
  }
  ui.follow(draw);

  const order = ["parameters", "bytes_per_element", "batch", "gpus", "compute_ms", "overlap", "bandwidth_gb", "latency_us", "lr", "memory_gb"];
  const shown = order.map((name) => inputs[name]);
  shown.splice(6, 0, known);
  shown.splice(10, 0, rule);
  ui.lay({
    stage: spot,
    presets: chips,
    readout: [note, told],
    drawer: [
    h("div", { class: "sc-fields" }, shown),
    h("div", { class: "sc-bar" }, copyButton("Copy as Python", () => script(setting())), link),
      h("div", { class: "sc-box" }, answers.node),
      curveBox,
      claims,
    ],
  });
  draw();
  ui.watch(spot, draw);
  return ui.cleanup;
}

export default { render };
