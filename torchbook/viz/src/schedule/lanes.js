/**
 * The lanes: one for each rank, with forwards and backwards, and the moment that is looked at. The first rank's boxes are
 * numbered, and everywhere the first micro-batch, which shows the way, and what runs at the moment.
 */

import { h, keyed, moving, replace, s, uid } from "../core/index.js";
import { plain } from "../core/units.js";
import { span } from "./model.js";

const GAP = 6;
const heightOf = (ranks) => (ranks > 6 ? 20 : 34);
const MOVED = 400; // more operations than that step to their places
const one = (v) => Math.round(v * 10) / 10;

function ticks(to, most) {
  const raw = to / most;
  const ten = 10 ** Math.floor(Math.log10(raw));
  const unit = [1, 2, 5, 10].map((k) => k * ten).find((k) => k >= raw);
  return Array.from({ length: Math.floor(to / unit) + 1 }, (_, k) => Number((k * unit).toPrecision(6)));
}

/** @param {{pick: (time: number) => void}} options a place in time was clicked. */
export function lanes({ pick }) {
  const hatch = uid("sd-hatch");
  const names = s("svg", { class: "sd-svg", "aria-hidden": "true" });
  const svg = s("svg", { class: "sd-svg", role: "img" });
  const scroll = h("div", { class: "sd-scroll", tabindex: 0, role: "region", "aria-label": "Lanes of the ranks over time" }, svg);
  const key = h("div", { class: "sd-key" });
  const node = h("div", { class: "sd" }, h("div", { class: "sd-frame" }, names, scroll), key);
  const [rails, idle, boxes, texts, marked] = Array.from({ length: 5 }, () => s("g"));
  const cursor = s("path", { class: "sd-now" });
  let at = { scale: 1, room: 0, high: 34 };

  const set = (el, attrs) => Object.entries(attrs).forEach(([name, value]) => el.setAttribute(name, value));
  const drawIdle = keyed(idle, { key: (one) => one.key, make: () => s("rect", { class: "sd-bubble" }), update: (el, { attrs }) => set(el, attrs) });
  const drawBoxes = keyed(boxes, {
    key: (one) => one.key,
    make: ({ op }) => s("rect", { class: `sd-${op.kind.toLowerCase()}`, style: op.kind === "B" ? `fill:url(#${hatch})` : null, "data-op": `${op.kind}${op.microbatch}.${op.stage}` }),
    update: (el, { attrs }) => set(el, attrs),
  });
  const drawTexts = keyed(texts, {
    key: (one) => one.key,
    make: ({ op }) => s("g", {}, s("text", { "text-anchor": "middle", class: op.kind === "B" ? "sd-on-hatch" : null })),
    update: (el, { op, key, label, x, y }) => {
      Object.assign(el.dataset, { op: key, label, always: op.rank === 0 || op.microbatch === 0 ? "1" : "" });
      el.style.transform = `translate(${x}px,${y}px)`;
    },
  });

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

  const pattern = () => s("defs", {}, s("pattern", { id: hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, s("rect", { width: 6, height: 6, class: "sd-hatch" }), s("path", { d: "M0 0v6", class: "sd-hatch-line" })));
  const swatch = (cls, fill) => s("svg", { width: 20, height: 14, "aria-hidden": "true" }, s("rect", { x: 1, y: 1, width: 18, height: 12, rx: 2, class: cls, style: fill && `fill:${fill}`, "stroke-width": 1.2 }));
  const sized = (el, width, height) => Object.entries({ viewBox: `0 0 ${width} ${height}`, width, height }).forEach(([name, value]) => el.setAttribute(name, value));

  /** Draws the boxes; the moment is put in by `mark`. */
  function draw({ ops, ranks, virtual, backward, room, whole }) {
    const end = span(ops);
    const left = 52;
    const high = heightOf(ranks);
    const fit = Math.max(120, room - left);
    const least = virtual > 1 ? 17 : 15;
    const shortest = Math.min(1, backward) / virtual;
    const scale = whole ? (fit - 6) / end : Math.max((fit - 6) / end, least / shortest);
    const width = Math.max(fit, Math.ceil(end * scale) + 6);
    const bottom = ranks * (high + GAP);
    const height = bottom + 18;
    moving(svg, `${room} ${ranks}`);
    if (ops.length > MOVED) svg.classList.remove("tbviz-moving");
    at = { scale, room: fit, high };
    sized(names, left, height);
    sized(svg, width, height);
    svg.setAttribute("aria-label", `Lanes of ${ranks} ranks from 0 to ${plain(end)} forwards; the words below say what they do`);
    const y = (rank) => rank * (high + GAP) + 2;
    replace(names, Array.from({ length: ranks }, (_, r) => s("text", { x: 0, y: y(r) + high / 2 + 4, class: "sd-lane" }, `rank ${r}`)));
    replace(
      rails,
      Array.from({ length: ranks }, (_, r) => s("path", { d: `M0 ${y(r) + high + GAP / 2}H${width}`, class: "sd-rail" })),
      ticks(end, Math.max(2, Math.floor(width / 90))).map((t) => s("text", { x: one(t * scale), y: height - 4, "text-anchor": t === 0 ? "start" : t * scale > width - 14 ? "end" : "middle", class: "sd-tick" }, plain(t))),
    );
    drawIdle(Array.from({ length: ranks }, (_, r) => waits(ops.filter((op) => op.rank === r), end).map(([from, to], k) => ({ key: `${r}.${k}`, attrs: { x: one(from * scale), y: y(r), width: one((to - from) * scale), height: high } }))).flat());
    // In an order of their own, which no schedule changes, so that a box stays where it is among the elements.
    const stable = [...ops].sort((a, b) => a.stage - b.stage || a.kind.localeCompare(b.kind) || a.microbatch - b.microbatch);
    const items = stable.map((op) => {
      const w = (op.end - op.start) * scale;
      const letter = virtual > 1 ? String.fromCharCode(97 + Math.floor(op.stage / ranks)) : "";
      const label = [`${op.kind}${op.microbatch}${letter}`, `${op.microbatch}${letter}`, String(op.microbatch)].find((text) => 6.6 * text.length + 3 < w);
      const attrs = { x: one(op.start * scale + 0.5), y: y(op.rank), width: one(Math.max(0.8, w - 1)), height: high, rx: one(Math.min(2, w / 4)), "stroke-width": one(Math.min(1, w / 8)) };
      return { key: `${op.kind}${op.microbatch}.${op.stage}`, op, attrs, label, x: one(op.start * scale + w / 2), y: y(op.rank) + high / 2 + 4 };
    });
    drawBoxes(items);
    drawTexts(items.filter((item) => item.label));
    cursor.setAttribute("d", `M0 0V${bottom}`);
  }
  replace(svg, pattern(), rails, idle, boxes, texts, marked, cursor);
  replace(key, h("span", {}, swatch("sd-f"), "forward"), h("span", {}, swatch("sd-b", `url(#${hatch})`), "backward"), h("span", {}, swatch("sd-bubble"), "bubble"));

  /** Marks what runs at a time, and where a rank waits. */
  function mark(now, time, until) {
    const x = time * at.scale;
    cursor.style.transform = `translateX(${one(x)}px)`;
    const running = new Set(now.map((one_) => one_.op && `${one_.op.kind}${one_.op.microbatch}.${one_.op.stage}`));
    for (const rect of boxes.children) rect.classList.toggle("sd-on", running.has(rect.dataset.op));
    for (const el of texts.children) el.firstChild.textContent = el.dataset.always || running.has(el.dataset.op) ? el.dataset.label : "";
    replace(
      marked,
      now.map(({ op, following }, rank) => !op && following && s("rect", { x: one(x + 1), y: rank * (at.high + GAP) + 3, width: one(Math.max(2, (until - time) * at.scale - 2)), height: at.high - 2, rx: 2, class: "sd-idle" })),
    );
    if (x < scroll.scrollLeft + 20 || x > scroll.scrollLeft + at.room - 60) scroll.scrollLeft = x - at.room / 3;
  }
  svg.addEventListener("click", (event) => pick((event.clientX - svg.getBoundingClientRect().left) / at.scale));
  return { node, draw, mark };
}
