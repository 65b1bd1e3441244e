/**
 * Two schedules, one above the other, on one time axis: a lane for each rank, with forwards and backwards, below them what
 * rank 0 keeps, and through both the moment that is looked at. The first rank's boxes are numbered, and everywhere the
 * first micro-batch, which shows the way, and what runs at the moment.
 */

import { grip, h, keyed, moving, pressed, relations, replace, s, uid } from "../core/index.js";
import { ticks } from "../core/ticks.js";
import { plain } from "../core/units.js";
import { keeps, idOf, needsOf, span } from "./model.js";
import { gain, nameOf } from "./words.js";

const TITLE = 20;
const KEPT = 30;
const PAD = 8; // half a knob
const LETTERS = ["a", "b", "c", "d"]; // of the stages of a rank, of which a later one is darker
const DEEP = 22; // % for each
const PARTS = { 2: "halves", 3: "thirds", 4: "quarters" };
const AIR = 5; // between two labels
const MOVED = 400; // more operations than that step to their places
const sizesOf = (ranks, narrow) => (ranks > 8 ? [narrow ? 9 : 13, 2] : ranks > 4 ? [narrow ? 18 : 20, 4] : [26, 5]);
const one = (v) => Math.round(v * 10) / 10;
const wide = (text) => 6.6 * text.length;
const bold = (text) => 7.4 * text.length;
const set = (el, attrs) => Object.entries(attrs).forEach(([name, value]) => el.setAttribute(name, value));
const sized = (el, width, height, x = 0) => set(el, { viewBox: `${x} 0 ${width} ${height}`, width, height });

/** The times in which a rank does nothing, from the start of all to the end: [from, to]. */
function waits(own, end) {
  const found = [];
  let from = 0;
  for (const op of own) {
    if (op.start > from + 1e-9) found.push([from, op.start]);
    from = op.end;
  }
  if (end > from + 1e-9) found.push([from, end]);
  return found;
}

/** Of the labels that stand all the time those between which there is air, the first micro-batch before the others. */
function apart(items) {
  const taken = new Map();
  const standing = items.filter(({ op, label }) => label && (op.rank === 0 || op.microbatch === 0));
  for (const { op, label, x, key } of standing.sort((a, b) => Math.min(1, a.op.microbatch) - Math.min(1, b.op.microbatch) || a.x - b.x)) {
    const lane = taken.get(op.rank) ?? [];
    const half = (wide(label) + AIR) / 2;
    if (lane.every((other) => Math.abs(other.x - x) >= half + other.half)) taken.set(op.rank, [...lane, { x, half, key }]);
  }
  return new Set([...taken.values()].flat().map(({ key }) => key));
}

/** One schedule; what stands in it is found by its `data-<data>`, and what runs by the class `on`. */
function group({ hatch, data, on }) {
  const names = s("svg", { class: "sd-svg sd-lanes", "aria-hidden": "true" });
  const svg = s("svg", { class: "sd-svg", role: "img" });
  const [rails, idle, kept, boxes, texts, marked, above] = Array.from({ length: 7 }, () => s("g"));
  const cursor = s("g", { class: "sd-now" });
  let at = { scale: 1, y: () => 0, high: 26 };
  const drawIdle = keyed(idle, { key: ({ key }) => key, make: () => s("rect", { class: "sd-bubble" }), update: (el, { attrs }) => set(el, attrs) });
  const drawBoxes = keyed(boxes, {
    key: ({ key }) => key,
    make: ({ op, key }) => s("rect", { class: `sd-${op.kind.toLowerCase()}`, [`data-${data}`]: key, "data-part": key }),
    update: (el, { op, attrs, depth }) => {
      set(el, attrs);
      el.style.setProperty("--deep", `${DEEP * depth}%`);
      if (op.kind === "B") el.style.fill = `url(#${hatch}-${depth})`;
    },
  });
  const drawTexts = keyed(texts, {
    key: ({ key }) => key,
    make: ({ op, key }) => s("g", { [`data-${data}`]: key, "data-part": key }, s("text", { "text-anchor": "middle", class: op.kind === "B" ? "sd-on-hatch" : null })),
    update: (el, { label, always, x, y }) => {
      Object.assign(el.dataset, { label, always: always ? "1" : "" });
      el.style.transform = `translate(${x}px,${y}px)`;
    },
  });
  replace(svg, rails, idle, kept, boxes, texts, marked, above, cursor);

  function draw({ plan, ranks, size, most, beside }) {
    const { left, width, scale } = size;
    const narrow = left < 40; // the name of the lanes stands over their numbers
    const [high, gap] = sizesOf(ranks, narrow);
    const y = (rank) => TITLE + rank * (high + gap);
    const floor = y(ranks) + KEPT + 2;
    at = { scale, y, high };
    moving(svg, `${size.room} ${ranks}`);
    sized(names, left, floor + (beside ? 16 : 2));
    sized(svg, width + PAD, floor + (beside ? 16 : 2), -PAD);
    replace(names, Array.from({ length: ranks }, (_, r) => s("text", { x: r ? left - 4 : 0, y: y(r) + high / 2 + 4, "text-anchor": r ? "end" : null, class: "sd-lane" }, high < 12 && r % 2 ? "" : r || narrow ? String(r) : "rank 0")), narrow && s("text", { x: 0, y: 13, class: "sd-lane" }, "rank"));
    replace(
      rails,
      Array.from({ length: ranks }, (_, r) => s("path", { d: `M0 ${y(r) + high + gap / 2}H${width}`, class: "sd-rail" })),
      beside && ticks(0, size.end, Math.max(2, Math.floor(width / 90))).map((t, k, { length }) => s("text", { x: one(t * scale), y: floor + 12, "text-anchor": t === 0 ? "start" : t * scale > width - (k === length - 1 ? 40 : 14) ? "end" : "middle", class: "sd-tick" }, `${plain(t)}${k === length - 1 ? " forwards" : ""}`)),
    );
    replace(cursor, s("path", { d: `M0 ${TITLE - 4}V${floor}` }), grip(s("g"), { knob: "bar", across: true, at: [0, y(ranks) + KEPT / 2] }));
    const { ops, label, refused } = plan;
    const gloss = plan.v > 1 ? ` (${LETTERS.slice(0, plan.v).join(", ")})` : plan.gloss ? ` (${plan.gloss})` : "";
    svg.setAttribute("aria-label", refused || `${label}: lanes of ${ranks} ranks from 0 to ${plain(plan.whole)} forwards; the words below say what they do`);
    if (refused) {
      for (const list of [drawIdle, drawBoxes, drawTexts]) list([]);
      replace(kept);
      replace(above, s("text", { x: 0, y: 13, class: "sd-name" }, label), s("rect", { x: 1, y: y(0), width: width - 8, height: y(ranks) - y(0), rx: 4, class: "sd-none" }), s("text", { x: width / 2, y: y(0) + (y(ranks) - y(0)) / 2 + 4, "text-anchor": "middle", class: "sd-no" }, `PyTorch refuses: m must be ${plan.must}`));
      return;
    }
    if (ops.length > MOVED) svg.classList.remove("tbviz-moving");
    const empty = Array.from({ length: ranks }, (_, r) => waits(ops.filter((op) => op.rank === r), plan.whole).map(([from, to], k) => ({ key: `${r}.${k}`, rank: r, from, to, attrs: { x: one(from * scale), y: y(r), width: one((to - from) * scale), height: high } }))).flat();
    drawIdle(empty);
    // In an order of their own, which no schedule changes, so that a box stays where it is among the elements.
    const stable = [...ops].sort((a, b) => a.stage - b.stage || a.kind.localeCompare(b.kind) || a.microbatch - b.microbatch);
    const last = ranks * plan.v - 1;
    const items = stable.map((op) => {
      const w = (op.end - op.start) * scale;
      const depth = Math.floor(op.stage / ranks);
      const letter = plan.v > 1 ? LETTERS[depth] : "";
      const text = [`${op.kind}${op.microbatch}${letter}`, `${op.microbatch}${letter}`, String(op.microbatch)].find((long) => (op.kind === "B" && long !== String(op.microbatch) ? 7.9 * long.length + 3 : wide(long) + (long.length > 1 ? 3 : 2.1)) < w); // a text on hatching has a rim
      const attrs = { x: one(op.start * scale + 0.5), y: y(op.rank), width: one(Math.max(0.8, w - 1)), height: high, rx: one(Math.min(2, w / 4)), "stroke-width": one(Math.min(1, w / 8)), "data-with": needsOf(op.kind, op.stage, last).map(([kind, stage]) => idOf({ ...op, kind, stage })).join(" ") };
      return { key: idOf(op), op, depth, attrs, label: text, x: one(op.start * scale + w / 2), y: y(op.rank) + high / 2 + 4 };
    });
    const clear = apart(items);
    drawBoxes(items);
    drawTexts(items.filter((item) => item.label).map((item) => ({ ...item, always: clear.has(item.key) })));

    const unit = (KEPT - 2) / most;
    const steps = keeps(ops, 0).map(([time, n]) => `H${one(time * scale)}V${one(floor - (n / plan.v) * unit)}`).join("");
    const peak = plain(plan.peaks[0] / plan.v);
    const batches = `micro-batch${peak === "1" ? "" : "es"}`;
    const parts = plan.v > 1 ? `${plan.peaks[0]} ${PARTS[plan.v]}, ` : "";
    const holds = [`rank 0 keeps activations of up to ${parts}${peak} ${batches}`, `rank 0 keeps up to ${parts}${peak} ${batches}`, `rank 0 keeps up to ${peak} ${batches}`, `up to ${peak} ${batches}`, `up to ${peak}`];
    replace(kept, s("path", { d: `M0 ${floor}${steps}Z`, class: "sd-kept" }), s("text", { x: one((plan.whole * scale) / 2), y: floor - 4, "text-anchor": "middle" }, holds.find((text) => wide(text) + 8 < 0.7 * plan.whole * scale) ?? holds.at(-1)));

    const long = plain(Number(plan.whole.toPrecision(6)));
    const against = beside && !beside.refused && bracket(beside.whole, plan.whole, scale, floor);
    const waiting = plain(Number((plan.whole - plan.work).toPrecision(6)));
    const room = Math.min(width, against ? against.from : size.room - left - PAD);
    const few = label.split(", ").at(-1);
    const [title, lost] = [
      ...(beside ? [[`To compare: ${label}${gloss}: `, `waits ${waiting} of ${long}`]] : [[`${label}${gloss}: `, `each rank waits ${waiting} of ${long} forwards`]]),
      [`${label}${gloss}: `, `waits ${waiting} of ${long}`],
      [`${label}: `, `waits ${waiting} of ${long}`],
      [`${few}: `, `waits ${waiting} of ${long}`],
    ].find(([name, rest]) => bold(name + rest) < room) ?? [`${few}: ${long}`, ""];
    replace(above, s("text", { x: 0, y: 13, class: "sd-name" }, title, s("tspan", { class: "sd-part" }, lost)), against?.node);
  }

  /** What is gained or lost against the schedule above, as a length; its text begins at `from`. */
  function bracket(before, after, scale, floor) {
    const [from, to] = [Math.min(before, after) * scale, Math.max(before, after) * scale];
    const text = gain(after - before);
    const inside = wide(text) + 8 < to - from;
    const node = s("g", { class: after < before - 1e-9 ? "sd-less" : after > before + 1e-9 ? "sd-more" : "sd-same" },
      to - from > 1 && s("path", { d: `M${one(from)} ${TITLE - 4}v5m0 -2.5H${one(to)}m0 -2.5v5`, class: "sd-bracket" }),
      to - from > 1 && s("path", { d: `M${one(before * scale)} ${TITLE}V${floor}`, class: "sd-end" }),
      s("text", { x: one(inside ? (from + to) / 2 : to), y: 11, "text-anchor": inside ? "middle" : "end" }, text));
    return { node, from: (inside ? (from + to - bold(text)) / 2 : to - bold(text)) - 6 };
  }

  /** Marks what runs at a time, and where a rank waits, until another one. */
  function mark(now, time, from, until) {
    cursor.style.transform = `translateX(${one(time * at.scale)}px)`;
    const running = new Set(now.map(({ op }) => op && idOf(op)));
    for (const rect of boxes.children) rect.classList.toggle(on, running.has(rect.dataset.part));
    for (const el of texts.children) el.firstChild.textContent = el.dataset.always || running.has(el.dataset.part) ? el.dataset.label : "";
    replace(
      marked,
      now.map(({ op, following }, rank) => until !== undefined && !op && following && s("rect", { x: one(from * at.scale + 1), y: at.y(rank) + 1, width: one(Math.max(2, (until - from) * at.scale - 2)), height: at.high - 2, rx: 2, class: "sd-idle" })),
    );
  }
  return { names, svg, draw, mark, live: (yes) => svg.classList.toggle("sd-live", yes) };
}

/** @param {{pick: (time: number) => void, drop: () => void}} options a place in time was pressed, or dragged over, and left. */
export function lanes({ pick, drop }) {
  const hatch = uid("sd-hatch");
  const [first, second] = [group({ hatch, data: "op", on: "sd-on" }), group({ hatch, data: "other", on: "sd-along" })];
  const both = [first, second];
  const scroll = h("div", { class: "sd-scroll" }, first.svg);
  const other = h("div", { class: "sd-other" }, second.svg);
  const swatch = (cls, style) => s("svg", { width: 20, height: 14, "aria-hidden": "true" }, s("rect", { x: 1, y: 1, width: 18, height: 12, rx: 2, class: cls, style, "stroke-width": 1.2 }));
  const key = h("div", { class: "sd-key" });
  const tellKey = (most) => {
    const entries = [[swatch("sd-f"), "F0, forward of micro-batch 0"], [swatch("sd-b", `fill:url(#${hatch}-0)`), "B, backward"], [swatch("sd-bubble"), "waits"], [swatch("sd-idle"), "waits now"], most > 1 && [swatch("sd-f", `--deep:${DEEP}%`), most > 2 ? "darker: later stage" : "darker: stage b"]];
    replace(key, entries.filter(Boolean).map((entry) => h("span", {}, entry)));
  };
  const pattern = s("svg", { class: "sd-defs", width: 0, height: 0, "aria-hidden": "true" }, s("defs", {}, LETTERS.map((_, depth) => s("pattern", { id: `${hatch}-${depth}`, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, s("rect", { width: 6, height: 6, class: "sd-hatch", style: `--deep:${DEEP * depth}%` }), s("path", { d: "M0 0v6", class: "sd-hatch-line" })))));
  const node = h("div", { class: "sd" }, pattern, h("div", { class: "sd-frame" }, first.names, scroll, second.names, other), key);
  let at = { scale: 1, room: 0 };
  let shown = { ops: [], ranks: 1, v: 1 };
  const named = (op) => `${nameOf(op, shown.v)} on rank ${op.stage % shown.ranks}`;
  const tell = (id) => {
    const op = shown.ops.find((one_) => idOf(one_) === id);
    const needs = needsOf(op.kind, op.stage, shown.ranks * shown.v - 1).map(([kind, stage]) => named({ ...op, kind, stage }));
    return `${named(op)} waits for ${needs.join(" and ") || "nothing"}`;
  };
  // Not the drawings themselves: one that listens for the focus takes it.
  relations(scroll, { walk: { label: "block", all: () => shown.ops.map(idOf), tell } });
  relations(other);
  scroll.addEventListener("scroll", () => (other.scrollLeft = scroll.scrollLeft));

  /** Draws two plans, as `counted` makes them, of which the second may be refused. */
  function draw({ plans, ranks, backward, room, whole }) {
    const taken = plans.filter(({ refused }) => !refused);
    const end = Math.max(...taken.map((plan) => plan.whole));
    const left = room < 480 ? 30 : 44;
    const fit = Math.max(120, room - left - PAD);
    shown = { ...plans[0], ranks };
    const scale = whole ? (fit - 6) / end : Math.max((fit - 6) / end, ...taken.map(({ v }) => ((v > 1 ? 17 : 15) * v) / Math.min(1, backward)));
    const size = { left, room, end, scale, width: Math.max(fit, Math.ceil(end * scale) + 6) };
    const most = Math.max(...taken.map(({ peaks, v }) => peaks[0] / v));
    at = { scale, room: fit };
    tellKey(Math.max(...taken.map(({ v }) => v)));
    both.forEach((drawn, i) => drawn.draw({ plan: plans[i], ranks, size, most, beside: i > 0 && plans[0] }));
  }

  /** Marks what runs at a time in both; in the first what waits from one moment to the next. */
  function mark([above, below], time, from, until, live) {
    both.forEach((drawn) => drawn.live(live));
    first.mark(above, time, from, until);
    second.mark(below, time);
    const x = time * at.scale;
    if (x < scroll.scrollLeft + 20 || x > scroll.scrollLeft + at.room - 60) scroll.scrollLeft = x < at.room / 3 ? 0 : x - at.room / 3;
  }
  for (const { svg } of both) {
    const place = (x) => pick((x - PAD) / at.scale);
    pressed(svg, place);
    pressed(svg, place, ".tbviz-grip");
    for (const name of ["pointerup", "pointercancel", "click"]) svg.addEventListener(name, drop);
  }
  return { node, draw, mark };
}
