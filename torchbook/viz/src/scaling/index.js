/** ScalingCalculator: the arithmetic of data-parallel training, with every formula and its numbers. */

import { numberField, table } from "../core/form.js";
import { copyButton, h, replace, select, shell, slider } from "../core/index.js";
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

/** The sliders under the curve: sizes run over decades, with twenty places in each. */
const SLIDERS = {
  parameters: { label: "model", range: [1e6, 1e11], say: (value) => typed("parameters", value) },
  bandwidth_gb: { label: "link", range: [1, 1000], say: (value) => `${plain(value)} GB/s` },
  overlap: { label: "overlap", say: (value) => `${plain(value)} % of backward` },
};

function sliderOf(name, model, put) {
  const { label, range, say } = SLIDERS[name];
  const [low, high] = range ?? [];
  const valueAt = (place) => (range ? Number((low * 10 ** (place / 20)).toPrecision(2)) : place);
  const placeOf = (value) => (range ? Math.round(20 * Math.log10(Math.min(high, Math.max(low, value)) / low)) : value);
  let exact; // the model's own number, where the slider only comes near it
  const one = slider({ label, min: 0, max: range ? placeOf(high) : 100, value: 0, format: (place) => say(exact ?? valueAt(place)), oninput: (place) => put({ [name]: valueAt(place) }) });
  one.input.addEventListener("input", () => (exact = undefined), { capture: true });
  one.refresh = () => {
    exact = model.get(name);
    one.update({ value: placeOf(exact) });
  };
  return one;
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
  ui.defer(plot.stop);
  const sliders = Object.keys(SLIDERS).map((name) =>
    sliderOf(name, model, (changes) => {
      put(changes);
      inputs[name].refresh(true);
    }),
  );
  const claims = h("details", {}, h("summary", {}, "What an older tutorial said of the first example"), h("dl", {}, CLAIMS.flatMap(([claim, holds]) => [h("dt", {}, claim), h("dd", {}, holds)])));
  const spot = h("div", { class: "sc-pictures" }, plot.node, bar.node);

  function draw() {
    const now = setting();
    [...Object.values(inputs), ...sliders].forEach((one) => one.refresh());
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
    const room = Math.max(240, Math.floor(spot.clientWidth) || 560);
    const all = results(now);
    replace(head, "A step takes ", h("b", {}, duration(all.step)), "; speed-up ", h("b", { class: "sc-fast" }, `${significant(100 * all.efficiency)} %`), " of the ideal.");
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
    bar: h("div", { class: "sc-sliders" }, sliders),
    readout: head,
    drawer: [
      note,
    h("div", { class: "sc-fields" }, shown),
      told,
    h("div", { class: "sc-bar" }, copyButton("Copy as Python", () => script(setting())), link),
      h("div", { class: "sc-box" }, answers.node),
      claims,
    ],
  });
  draw();
  ui.watch(spot, draw);
  return ui.cleanup;
}

export default { render };
