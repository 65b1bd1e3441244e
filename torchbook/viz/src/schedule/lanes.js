/** The lanes: one for each rank, with forwards and backwards, and the moment that is looked at. */

import { h, replace, s, uid } from "../core/index.js";
import { plain } from "../core/units.js";
import { span } from "./model.js";

const [HIGH, GAP] = [22, 6];
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
  let cursor = null;
  let marked = [];
  let at = { scale: 1, room: 0 };
  let boxes = [];

  const pattern = () => s("defs", {}, s("pattern", { id: hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, s("rect", { width: 6, height: 6, class: "sd-hatch" }), s("path", { d: "M0 0v6", class: "sd-hatch-line" })));
  const swatch = (cls, fill) => s("svg", { width: 20, height: 14, "aria-hidden": "true" }, s("rect", { x: 1, y: 1, width: 18, height: 12, rx: 2, class: cls, style: fill && `fill:${fill}`, "stroke-width": 1.2 }));
  const sized = (el, width, height) => Object.entries({ viewBox: `0 0 ${width} ${height}`, width, height }).forEach(([name, value]) => el.setAttribute(name, value));

  /** Draws the boxes anew; the moment is put in by `mark`. */
  function draw({ ops, ranks, virtual, backward, room, whole }) {
    const end = span(ops);
    const left = 52;
    const fit = Math.max(120, room - left);
    const least = virtual > 1 ? 17 : 15;
    const shortest = Math.min(1, backward) / virtual;
    const scale = whole ? (fit - 6) / end : Math.max((fit - 6) / end, least / shortest);
    const width = Math.max(fit, Math.ceil(end * scale) + 6);
    const bottom = ranks * (HIGH + GAP);
    const height = bottom + 18;
    at = { scale, room: fit };
    sized(names, left, height);
    sized(svg, width, height);
    svg.setAttribute("aria-label", `Lanes of ${ranks} ranks from 0 to ${plain(end)} forwards; the words below say what they do`);
    const y = (rank) => rank * (HIGH + GAP) + 2;
    replace(names, Array.from({ length: ranks }, (_, r) => s("text", { x: 0, y: y(r) + 15, class: "sd-lane" }, `rank ${r}`)));
    boxes = ops.map((op) => {
      const w = (op.end - op.start) * scale;
      const letter = virtual > 1 ? String.fromCharCode(97 + Math.floor(op.stage / ranks)) : "";
      const label = [`${op.kind}${op.microbatch}${letter}`, `${op.microbatch}${letter}`, String(op.microbatch)].find((text) => 6.6 * text.length + 3 < w);
      const rect = s("rect", { x: one(op.start * scale + 0.5), y: y(op.rank), width: one(Math.max(0.8, w - 1)), height: HIGH, rx: one(Math.min(2, w / 4)), "stroke-width": one(Math.min(1, w / 8)), class: `sd-${op.kind.toLowerCase()}`, style: op.kind === "B" ? `fill:url(#${hatch})` : null });
      const wide = label && 6.4 * label.length + 2;
      return { op, rect, x: op.start * scale, w, y: y(op.rank), text: label && [op.kind === "B" && s("rect", { x: one(op.start * scale + w / 2 - wide / 2), y: y(op.rank) + 4, width: wide, height: 14, rx: 2, class: "sd-hatch", "pointer-events": "none" }), s("text", { x: one(op.start * scale + w / 2), y: y(op.rank) + 15, "text-anchor": "middle" }, label)] };
    });
    cursor = s("path", { d: `M0 0V${bottom}`, class: "sd-now" });
    marked = s("g");
    replace(
      svg,
      pattern(),
      Array.from({ length: ranks }, (_, r) => s("path", { d: `M0 ${y(r) + HIGH + GAP / 2}H${width}`, class: "sd-rail" })),
      ticks(end, Math.max(2, Math.floor(width / 90))).map((t) => s("text", { x: one(t * scale), y: height - 4, "text-anchor": t === 0 ? "start" : t * scale > width - 14 ? "end" : "middle", class: "sd-tick" }, plain(t))),
      boxes.map(({ rect }) => rect),
      boxes.map(({ text }) => text),
      marked,
      cursor,
    );
    replace(
      key,
      h("span", {}, swatch("sd-f"), "F, forward"),
      h("span", {}, swatch("sd-b", `url(#${hatch})`), "B, backward"),
      h("span", {}, swatch("sd-idle"), "waits at this moment"),
      h("span", {}, virtual > 1 ? `number: micro-batch; a to ${String.fromCharCode(96 + virtual)}: first to last stage of the rank` : "number: micro-batch"),
    );
  }

  /** Marks what runs at a time, and where a rank waits. */
  function mark(now, time, until) {
    const x = time * at.scale;
    cursor.setAttribute("transform", `translate(${one(x)} 0)`);
    const running = new Set(now.map((one_) => one_.op).filter(Boolean));
    boxes.forEach(({ op, rect }) => rect.classList.toggle("sd-on", running.has(op)));
    replace(
      marked,
      now.map(({ op, following }, rank) => !op && following && s("rect", { x: one(x + 1), y: rank * (HIGH + GAP) + 3, width: one(Math.max(2, (until - time) * at.scale - 2)), height: HIGH - 2, rx: 2, class: "sd-idle" })),
    );
    if (x < scroll.scrollLeft + 20 || x > scroll.scrollLeft + at.room - 60) scroll.scrollLeft = x - at.room / 3;
  }
  svg.addEventListener("click", (event) => pick((event.clientX - svg.getBoundingClientRect().left) / at.scale));
  return { node, draw, mark };
}
