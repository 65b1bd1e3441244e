/** Where one query looks: arcs over the text; and a head as a map of all its queries. */

import { animate, h, pressed, replace, s, uid } from "../core/index.js";
import { LEVELS, paths, UNIT } from "./model.js";
import { shown } from "./words.js";

const LETTER = 7.9; // px of a letter of this type
const THICK = 9; // px of an arc with all of the weight

export const cells = (rows) => paths(rows).map(([level, d]) => s("path", { d, class: "at-cell", "fill-opacity": level / LEVELS }));

/** What no query of a causal head sees, hatched; in units of a cell. */
export function masked(size, unit) {
  const id = uid("at-hatch");
  const step = 5 * unit;
  return [
    s("defs", {}, s("pattern", { id, width: step, height: step, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, s("path", { d: `M0 0v${step}`, class: "at-line", style: { strokeWidth: 0.7 * unit } }))),
    s("path", { d: `M1 0${"v1h1".repeat(size - 1)}V0z`, fill: `url(#${id})` }),
  ];
}

const across = (size, i) => Array.from({ length: size }, (_, j) => `x${i}-${j}`);
const down = (size, j) => Array.from({ length: size }, (_, i) => `x${i}-${j}`);
/** The cells of the large map that a token has a part in: its row and its column. */
const cellsOf = (size, i) => [...across(size, i), ...down(size, i)].join(" ");

/**
 * The text with arcs from the query to its keys, as thick as their weights.
 * @param {{tokens: string[], causal: boolean, pick: (query: number) => void}} options
 * @returns {{node: HTMLElement, draw: (row: number[], cell: {query: number, key: number}, value: string) => void, stop: () => void}} `node` is a
 *   slider over the tokens, whose spoken value is `value`.
 */
export function arcs({ tokens, causal, pick }) {
  const size = tokens.length;
  const svg = s("svg", { class: "at-arcs", "aria-hidden": "true" });
  const texts = tokens.map((token, i) => h("span", { class: "at-token", "aria-hidden": "true", "data-part": `t${i}`, "data-with": cellsOf(size, i) }, shown(token)));
  const line = h("div", { class: "at-text" }, texts);
  const inner = h("div", { class: "at-inner" }, svg, line);
  const node = h("div", { class: "at-strip", role: "slider", tabindex: 0, "aria-label": "Query", "aria-valuemin": 0, "aria-valuemax": size - 1 }, inner);
  const curves = tokens.map((_, i) => s("path", { class: "at-arc", "data-part": `a${i}`, "data-with": `t${i}` }));
  const drop = s("path", { class: "at-drop" });
  replace(svg, curves, drop);
  let run = { cancel() {} };
  let now = null; // what is drawn, between two queries too: the query's place and all weights
  let [centres, drawn] = [[], 0]; // places of the tokens in a line of so many pixels

  const wanted = tokens.map((token) => Math.max(1, shown(token).length) * LETTER + 1);
  /** Tokens as wide as they need; narrower ones share what is left. */
  function measure() {
    const room = node.clientWidth;
    const need = wanted.reduce((a, b) => a + b, 0);
    const extra = Math.max(0, Math.min(12, (room - need) / size));
    let x = 0;
    centres = wanted.map((width, i) => {
      texts[i].style.width = `${width + extra}px`;
      x += width + extra;
      return x - (width + extra) / 2;
    });
    inner.style.width = `${x}px`;
    return x;
  }

  function put({ at, weights }) {
    const high = svg.clientHeight || 150;
    const base = high - 2;
    const reach = Math.max(...centres.map((x) => Math.abs(x - at)), 1);
    curves.forEach((curve, key) => {
      const [x, w] = [centres[key], weights[key] / UNIT];
      const far = Math.abs(x - at);
      const up = far < 1 ? 22 : 26 + (high - 42) * Math.sqrt(far / reach);
      curve.setAttribute("d", far < 1 ? `M${at - 7} ${base}C${at - 16} ${base - 1.4 * up} ${at + 16} ${base - 1.4 * up} ${at + 7} ${base}` : `M${at} ${base}C${at} ${base - up} ${x} ${base - up} ${x} ${base}`);
      curve.style.strokeWidth = `${Math.max(0.4, THICK * w).toFixed(2)}px`;
      curve.style.strokeOpacity = w ? Math.min(1, 0.25 + 1.2 * w).toFixed(3) : "0";
    });
    drop.setAttribute("d", `M${at - 5} ${base}h10`);
    now = { at, weights };
  }

  function draw(row, { query, key }, value) {
    run.cancel();
    const width = measure();
    svg.setAttribute("width", width);
    node.setAttribute("aria-valuenow", query);
    node.setAttribute("aria-valuetext", value);
    texts.forEach((el, i) => {
      el.classList.toggle("on", i === query);
      el.classList.toggle("key", i === key && key !== query);
      el.classList.toggle("off", causal && i > query);
    });
    const [from, to] = [now, { at: centres[query], weights: row }];
    if (node.scrollWidth > node.clientWidth) node.scrollLeft = to.at - node.clientWidth / 2;
    if (!from || width !== drawn) put(to);
    else {
      const mix = (a, b, t) => a + (b - a) * t * t * (3 - 2 * t);
      run = animate({ ms: 360, step: (t) => put({ at: mix(from.at, to.at, t), weights: row.map((w, i) => mix(from.weights[i], w, t)) }) });
    }
    drawn = width;
  }

  const nearest = (x) => centres.reduce((best, centre, i) => (Math.abs(centre - x) < Math.abs(centres[best] - x) ? i : best), 0);
  // The nearest token, wherever the picture is pressed.
  pressed(inner, (x) => pick(nearest(x)));
  /** The token under a pointer. */
  const at = (event) => (inner.contains(event.target) ? `t${nearest(event.clientX - inner.getBoundingClientRect().left)}` : undefined);
  return { node, draw, at, stop: () => run.cancel() };
}

/** One head, queries down and keys across; a press chooses a cell. */
export function map({ tokens, causal, pick }) {
  const size = tokens.length;
  const svg = s("svg", { class: "at-svg", role: "slider", tabindex: 0, "aria-label": "Key", "aria-valuemin": 0, "aria-valuemax": size - 1, viewBox: `-0.1 -0.1 ${size + 0.2} ${size + 0.2}` });
  const place = (along, whole) => Math.max(0, Math.min(size - 1, Math.floor((along / whole) * size)));
  pressed(svg, (x, y) => pick(place(y, svg.clientHeight), place(x, svg.clientWidth)));
  const mark = s("rect", { width: size, height: 1, class: "at-row" });
  const here = s("rect", { width: 1, height: 1, class: "at-here" });
  const bands = tokens.flatMap((_, i) => [
    s("rect", { y: i, width: size, height: 1, class: "at-band", "data-part": `r${i}`, "data-with": `t${i} ${across(size, i).join(" ")}` }),
    s("rect", { x: i, width: 1, height: size, class: "at-band", "data-part": `c${i}`, "data-with": `t${i} ${down(size, i).join(" ")}` }),
  ]);
  const inside = s("g");
  replace(svg, causal && masked(size, size / 110), inside, bands, s("rect", { width: size, height: size, class: "at-edge" }), mark, here);
  let drawn = null;
  function draw(rows, { query, key }, value) {
    svg.setAttribute("aria-valuenow", key);
    svg.setAttribute("aria-valuetext", value);
    mark.style.transform = `translateY(${query}px)`;
    here.style.transform = `translate(${key}px,${query}px)`;
    if (rows !== drawn) replace(inside, cells(rows));
    drawn = rows;
  }
  /** The cell under a pointer. */
  function at(event) {
    if (!svg.contains(event.target)) return undefined;
    const { left, top, width, height } = svg.getBoundingClientRect();
    return `x${place(event.clientY - top, height)}-${place(event.clientX - left, width)}`;
  }
  return { node: svg, draw, at };
}
