/** PipelineTimeline: who loads, copies, steps and waits in an input pipeline. */

import { choice, copyButton, h, replace, select, shell, slider, toggle, toolbar } from "../core/index.js";
import { lanes } from "./lanes.js";
import { CONTRACT, FIELDS, NAMES, simulate, TRANSFERS, unpacked } from "./model.js";
import SETUP from "./setup.json";
import { CSS } from "./style.js";
import { briefOf, describe, LIMITS, percent, rowsOf, script, time, wayOf } from "./words.js";

const FIRST = ["workers", "load_ms"]; // in the line of control
const STEPS = { load_ms: 1000, copy_ms: 1000, step_ms: 1000, startup_ms: 10000 }; // highest time of a slider

/** Times run over decades: a slider's place 0 to 120 is 0.1 ms to its highest, in steps that look round. */
const CURVE = { place: (ms, high) => (ms < 0.1 ? 0 : 1 + Math.round((119 * Math.log(Math.min(ms, high) / 0.1)) / Math.log(high / 0.1))), time: (p, high, low) => (p === 0 ? low : Number((0.1 * (high / 0.1) ** ((p - 1) / 119)).toPrecision(2))) };

function control(name, model, put) {
  const { label, low, high, unit, whole } = FIELDS[name];
  const top = STEPS[name];
  const here = () => model.get(name);
  let exact; // the model's own number, where the slider only comes near it
  const say = (value) => (name === "slow_every" ? (value ? String(value) : "none") : top ? time(value) : unit ? `${value} ${unit}` : String(value));
  const one = slider({
    label,
    min: top && low > 0 ? 1 : top ? 0 : low,
    max: top ? 120 : high,
    step: name === "slow_times" ? 0.5 : 1,
    value: 0,
    format: (p) => say(top ? (exact ?? CURVE.time(p, top, low)) : p),
    oninput: (p) => {
      put({ [name]: top ? CURVE.time(p, top, low) : whole ? Math.round(p) : p });
    },
  });
  one.refresh = () => {
    exact = top ? here() : undefined;
    one.update({ value: top ? CURVE.place(here(), top) : here() });
  };
  // A format reads the value that the reader sees, not the last one from the model.
  one.input.addEventListener("input", () => (exact = undefined), { capture: true });
  return one;
}

const bars = (rows) => h("div", { class: "pl-bars" }, rows.map(([name, share, text, most]) => [h("span", {}, most ? h("b", {}, name) : name), h("span", { class: `pl-track${most ? " most" : ""}`, "aria-hidden": "true" }, h("i", { style: { width: `${Math.min(100, 100 * share).toFixed(1)}%` } })), h("span", { class: "pl-value" }, text)]));

function render({ model, el }) {
  const ui = shell({ model, el, contract: CONTRACT, kind: "pipeline" });
  ui.css(CSS);
  const run = model.get("run")?.rows ? model.get("run") : null;
  const { setting } = ui;
  const put = (changes) => ui.set({ source: "model", ...changes });
  const start = (given) => put({ ...CONTRACT.start, ...given, selected: 0, skip: false });
  const choose = (name) => start(CONTRACT.settingOf(name));
  const link = ui.link({
    presets: run ? { ...CONTRACT.presets, recorded: {} } : CONTRACT.presets,
    choose: (name) => (name === "recorded" ? ui.set({ source: name }) : choose(name)),
    start,
    get: () => (model.get("source") === "recorded" ? "recorded" : (CONTRACT.presetOf(setting()) ?? setting())),
  });
  const chips = ui.chips(choose);
  const sources = run ? ["recorded", "model"].map((name) => choice(name === "recorded" ? "recorded run" : "simulated model", false, () => ui.set({ source: name }))) : [];
  const inputs = Object.fromEntries(NAMES.map((name) => [name, control(name, model, put)]));
  const transfer = select({ label: "copy", options: Object.entries(TRANSFERS).map(([value, { label }]) => ({ value, label })), value: "wait", onchange: (value) => put({ transfer: value }) });
  const skip = toggle("Without start-up", false, (on) => ui.set({ skip: on }));
  const note = h("p", { class: "pl-note", role: "status" });
  const head = h("p", { class: "pl-head" });
  const chart = lanes({ pick: (i) => ui.set({ selected: i }) });
  const way = h("p", { class: "pl-way", role: "status" });
  const pace = h("div", { class: "pl-box" });
  const busy = h("div", { class: "pl-box" });
  const spot = chart.node;
  const brief = h("p", { class: `pl-brief${run ? " pl-either" : ""}` });

  /** What adds up where nothing overlaps; of two parts also their times, as the model has them. */
  const addedUp = (recorded) => {
    const { load_ms: load, copy_ms: copy, step_ms: step } = setting();
    return copy > 0 ? ": loading, copy and step add up" : `${recorded ? ", typically" : ":"} loading ${time(load)} + step ${time(step)}`;
  };
  const [finding, invitation] = ui.root.querySelectorAll(".tbviz-finding, .tbviz-invitation");

  function draw() {
    const now = setting();
    const recorded = model.get("source") === "recorded" && run;
    const rows = recorded ? unpacked(run) : simulate(now);
    const alone = !(recorded ? run.workers : now.workers);
    finding.textContent = alone ? SETUP.alone.finding : SETUP.finding;
    invitation.textContent = alone ? SETUP.alone.invitation : SETUP.invitation;
    const selected = Math.min(model.get("selected"), rows.length - 1);
    Object.values(inputs).forEach((one) => one.refresh());
    for (const name of ["prefetch", "startup_ms"]) inputs[name].input.disabled = !now.workers;
    inputs.slow_times.input.disabled = !now.slow_every;
    transfer.update({ value: now.transfer });
    sources.forEach((one, k) => one.press((k === 0) === Boolean(recorded)));
    skip.press(model.get("skip"));
    ui.tell(note, ui.mark(recorded ? undefined : CONTRACT.presetOf(now)));
    const all = rowsOf(now, recorded);
    replace(head, recorded ? "Recorded: " : "Simulated: ", h("b", {}, `${time(all.period)} a batch`), !recorded && all.period > 1.01 * all.bound ? ", held up by its slow batches" : all.limit === "all three" ? addedUp(recorded) : `, set by ${LIMITS[all.limit]}`);
    way.textContent = wayOf(rows, selected);
    brief.textContent = `${briefOf(rows, selected)}${recorded ? " Move a slider to simulate it." : ""}`;
    chart.draw({ rows, selected, skip: model.get("skip"), width: Math.max(240, Math.floor(spot.clientWidth) || 560) });
    const most = Math.max(...all.terms.map((one) => one.value));
    replace(
      pace,
      h("p", { class: "pl-title" }, "Steady state of the model: the longest of these"),
      bars(all.terms.map((one) => [one.name, one.value / most, time(one.value), one.most])),
      h("p", { class: "pl-formula" }, `${all.formula} = ${time(all.bound)}`),
      h("p", { class: "pl-small" }, recorded ? `Recorded: ${time(all.period)} a batch. What the formula leaves out: uneven batches, hand-over, cores that are shared.` : all.period > 1.01 * all.bound ? `The lanes need ${time(all.period)}: the slow batches are not bridged.` : "The lanes run at that pace."),
    );
    replace(busy, h("p", { class: "pl-title" }, recorded ? "Busy, after the first batch" : "Busy, in the steady state"), bars(all.busy.map(([name, share]) => [name, share, percent(share), false])));
    ui.soon(() => describe(now, recorded), { ms: 300 });
  }
  ui.follow(draw, [...CONTRACT.names, "source", "selected", "skip"]);

  ui.lay({
    stage: spot,
    bar: [run && h("div", { class: "pl-source" }, toolbar("What is shown", sources)), h("div", { class: "pl-two" }, FIRST.map((name) => inputs[name]))],
    readout: [head, brief],
    drawer: [
      h("div", {}, h("p", { class: "tbviz-title" }, "Start from"), toolbar("Presets", chips)),
      note,
      way,
    h("div", { class: "pl-sliders" }, NAMES.filter((name) => !FIRST.includes(name)).map((name) => inputs[name])),
    h("div", { class: "pl-bar" }, transfer, skip, copyButton("Copy as PyTorch", () => script(setting())), link),
      h("div", { class: "pl-pair" }, pace, busy),
    ],
  });
  draw();
  ui.watch(spot, draw);
  return ui.cleanup;
}

export default { render };
