/** PipelineSchedule: what every rank computes when, and how long it waits. */

import { button, choice, copyButton, h, replace, shell, slider, still, toggle, toolbar } from "../core/index.js";
import { plain } from "../core/units.js";
import { lanes } from "./lanes.js";
import { CONTRACT, doing, FIELDS, KINDS, moments, NAMES, possible, refusal, rival } from "./model.js";
import { CSS } from "./style.js";
import { counted, describe, percent, planned, script, tell } from "./words.js";


const STEP = 450; // ms of a moment while it plays
const LONGEST = 14000; // ms of all of them

function render({ model, el }) {
  const ui = shell({ model, el, contract: CONTRACT, kind: "schedule", reset: { cursor: 0 }, changing: () => stop() });
  ui.css(CSS);
  const { setting, put } = ui;
  let all = [0];
  let numbers = [1];
  const cursorNow = () => Math.min(model.get("cursor"), all.length - 1);
  let timer = 0;
  let frame = 0;
  let time = null; // between two moments: while it plays or is dragged
  const playing = () => timer !== 0 || frame !== 0;
  const stop = () => {
    clearInterval(timer);
    cancelAnimationFrame(frame);
    timer = frame = 0;
    time = null;
    play.textContent = "Play";
  };
  // What PyTorch refuses is never set: the nearest number of micro-batches that it takes is.
  const change = (changes) => {
    const next = { ...setting(), ...changes };
    if (refusal(next.kind, next.stages, next.microbatches)) next.microbatches = possible(next.kind, next.stages).reduce((best, m) => (Math.abs(m - next.microbatches) < Math.abs(best - next.microbatches) ? m : best));
    put({ ...changes, microbatches: next.microbatches, cursor: 0 });
  };
  const seek = (cursor) => put({ cursor: Math.max(0, Math.min(all.length - 1, cursor)) });
  const link = ui.link({ get: () => ({ ...setting(), cursor: cursorNow() }) });
  const chips = ui.chips();
  const kinds = Object.entries(KINDS).map(([kind, { label }]) => choice(label, false, () => change({ kind, ...(kind === "interleaved" && model.get("virtual") === 1 ? { virtual: 2 } : {}) })));
  const inputs = Object.fromEntries(
    NAMES.map((name) => {
      const { label, low, high, whole } = FIELDS[name];
      const micro = name === "microbatches";
      const one = slider({ label, min: micro ? 0 : low, max: micro ? 1 : high, step: whole ? 1 : name === "hop" ? 0.05 : 0.25, value: 0, format: (x) => (micro ? String(numbers[x]) : whole ? String(x) : plain(x)), oninput: (x) => change({ [name]: micro ? numbers[x] : x }) });
      return [name, one];
    }),
  );
  const { microbatches: many, ...others } = inputs;
  const note = h("p", { class: "sd-note", role: "status" });
  const momentAt = (t) => Math.max(0, all.findLastIndex((moment) => moment <= t));
  const chart = lanes({
    pick: (at) => {
      seek(momentAt(at));
      time = Math.max(0, Math.min(found.whole, at));
      look();
    },
    drop: () => {
      time = null;
      look();
    },
  });
  const spot = h("div");
  const head = h("p", { class: "sd-head" });
  const ranksBox = h("div", { class: "sd-box" });
  const countBox = h("div", { class: "sd-box" });
  const whole = toggle("Fit the width", false, (on) => ui.set({ whole: on }));

  // While it plays, nothing is saved or said; both are done where it ends.
  const rest = () => {
    stop();
    model.save_changes();
    queue();
  };
  const step = () => {
    model.set("cursor", cursorNow() + 1);
    if (cursorNow() + 1 >= all.length) rest();
  };
  /** The moment runs through the lanes; what is saved are those at which something begins or ends. */
  const run = () => {
    const from = all[cursorNow()];
    const speed = found.whole / Math.min(LONGEST, STEP * all.length);
    let began;
    const tick = (now) => {
      began ??= now;
      time = Math.min(all.at(-1), from + (now - began) * speed);
      const at = momentAt(time);
      if (at !== cursorNow()) model.set("cursor", at);
      if (at + 1 >= all.length) return rest();
      look();
      frame = requestAnimationFrame(tick);
    };
    frame = requestAnimationFrame(tick);
  };
  const play = button(
    "Play",
    () => {
      if (playing()) return rest();
      if (cursorNow() + 1 >= all.length) model.set("cursor", 0);
      if (still()) timer = setInterval(step, 1400);
      else run();
      play.textContent = "Pause";
    },
    { kind: "primary" },
  );
  ui.defer(() => {
    clearInterval(timer);
    cancelAnimationFrame(frame);
  });
  const moves = [button("◂", () => seek(cursorNow() - 1), { name: "One moment back", title: "One moment back" }), button("▸", () => seek(cursorNow() + 1), { name: "One moment on", title: "One moment on" })];
  const scrub = slider({ label: "moment", min: 1, max: 2, value: 1, format: (x) => `${x}/${all.length}`, oninput: (x) => seek(x - 1) });
  replace(spot, chart.node);

  function ranksTable(now, found, time) {
    const { v, peaks } = found;
    const rows = doing(found.ops, time, now.stages);
    replace(
      ranksBox,
      h("p", { class: "sd-title" }, `At time ${plain(time)}; a forward takes 1`),
      h("div", { class: "sd-wide" }, h("table", { class: "sd-table" }, h("thead", {}, h("tr", {}, ["rank", "does", "holds", "at most"].map((text) => h("th", { scope: "col", class: text === "does" ? "text" : null }, text)))), h("tbody", {}, rows.map((one, rank) => h("tr", {}, h("th", { scope: "row" }, rank), h("td", { class: `text${one.op ? "" : " wait"}` }, tell(one, v)), h("td", {}, one.held), h("td", {}, peaks[rank])))))),
      h("p", { class: "sd-small" }, v > 1 ? `Held: activations of a micro-batch in one of the rank's ${v} stages, 1/${v} of what its layers keep; rank 0 at most ${plain(peaks[0] / v)} whole ones. From the start of the forward to the end of the backward.` : "Held: activations of so many micro-batches, from the start of the forward to the end of the backward."),
    );
  }

  function countTable(now, found) {
    const { share, rule, same, whole: length, work, formula, fraction } = found;
    const rows = Object.keys(KINDS).map((kind) => {
      const other = { ...now, kind, virtual: kind === "interleaved" ? Math.max(2, now.virtual) : now.virtual };
      const refused = refusal(kind, now.stages, now.microbatches);
      const one = refused ? null : kind === now.kind ? found : counted(other);
      const name = kind === "interleaved" ? `interleaved, ${other.virtual} stages a rank` : KINDS[kind].label;
      return h("tr", { class: kind === now.kind ? "on" : null }, h("th", { scope: "row" }, name), one ? [plain(Number(one.whole.toPrecision(6))), percent(one.share), plain(one.peaks[0] / one.v), one.sent].map((text) => h("td", {}, text)) : h("td", { colspan: 4 }, "PyTorch refuses this m"));
    });
    replace(
      countBox,
      h("p", { class: "sd-title" }, "Counted in the lanes"),
      h("p", { class: "sd-formula" }, `waiting ${plain(Number((length - work).toPrecision(6)))} of ${plain(Number(length.toPrecision(6)))} per rank = ${percent(share)}`),
      h("p", { class: "sd-formula" }, `${formula} = ${fraction} = ${percent(rule)}`),
      h("p", { class: "sd-small" }, same ? `Some papers divide by the work instead of the whole time: ${percent(share / (1 - share))}.` : now.hop ? "The formula knows no sending: it leaves out the time on the links." : "The formula needs at least as many micro-batches as ranks."),
      h("div", { class: "sd-wide" }, h("table", { class: "sd-table" }, h("thead", {}, h("tr", {}, ["schedule", "time", "bubble", "held by 0", "sent"].map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, rows))),
      h("p", { class: "sd-small" }, "held by 0: micro-batches of which rank 0 holds the activations, at most; sent: messages between ranks."),
    );
  }

  let drawn = "";
  let found;
  let below;
  /** Shows the moment, or the time between two of them. */
  function look() {
    const at = cursorNow();
    const ranks = setting().stages;
    const t = time ?? all[at];
    chart.mark([doing(found.ops, t, ranks), below.refused ? [] : doing(below.ops, t, ranks)], t, all[at], all[at + 1] ?? found.whole, time !== null);
  }
  function draw() {
    const now = setting();
    const room = Math.max(240, Math.floor(spot.clientWidth) || 560);
    const wanted = JSON.stringify([now, room, model.get("whole")]);
    if (wanted !== drawn) {
      drawn = wanted;
      found = counted(now);
      all = moments(found.ops);
      numbers = possible(now.kind, now.stages);
      for (const [name, one] of Object.entries(inputs)) one.update(name === "microbatches" ? { max: numbers.length - 1, value: numbers.indexOf(now.microbatches) } : { value: now[name] });
      inputs.virtual.input.disabled = now.kind !== "interleaved";
      kinds.forEach((one, k) => one.press(Object.keys(KINDS)[k] === now.kind));
      ui.tell(note, ui.mark(CONTRACT.presetOf(now)));
      whole.press(model.get("whole"));
      below = planned(rival(now));
      const above = planned(now);
      chart.draw({ plans: [above, below], ranks: now.stages, backward: now.backward, room, whole: model.get("whole") });
      countTable(now, found);
      const against = (text) => (below.refused ? "" : text(below) === text(above) ? " in both" : ` (lower schedule: ${text(below)})`);
      const kept = ({ peaks, v }) => plain(peaks[0] / v);
      const share = (plan) => percent(plan.share);
      replace(head, "Bubble ", h("b", { class: "sd-share" }, percent(found.share)), ` of the time${against(share)}; rank 0 keeps up to `, h("b", { class: "sd-keeps" }, kept(found)), ` micro-batch${found.peaks[0] === found.v ? "" : "es"}${against(kept)}.`);
    }
    const at = cursorNow();
    scrub.update({ max: all.length, value: at + 1 });
    moves.forEach((one, i) => one.disable(i === 0 ? at === 0 : at + 1 >= all.length));
    look();
    ranksTable(now, found, all[at]);
    ui.soon(() => describe(now, at), { quiet: playing() });
  }
  const queue = ui.follow(draw, [...CONTRACT.names, "cursor", "whole"]);

  play.walk = { at: cursorNow, last: () => all.length - 1, show: (at) => model.set("cursor", at), rest, ms: STEP, reach: 10, traits: ["cursor"] };
  ui.lay({
    stage: spot,
    bar: [play, toolbar("Schedule", kinds), h("div", { class: "sd-many" }, many)],
    readout: head,
    drawer: [
      note,
      h("div", { class: "sd-chips" }, h("p", { class: "sd-title" }, "Start from"), toolbar("Presets", chips)),
      h("div", { class: "sd-player" }, toolbar("Moments", moves), scrub),
      h("div", { class: "sd-sliders" }, Object.values(others)),
      h("div", { class: "sd-bar" }, whole, copyButton("Copy as PyTorch", () => script(setting())), link),
      h("div", { class: "sd-pair" }, ranksBox, countBox),
    ],
  });
  draw();
  ui.watch(spot, draw);
  return ui.cleanup;
}

export default { render };
