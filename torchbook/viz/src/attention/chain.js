/** One weight as it is computed: a query and a key, the root of their width, the softmax of the row, the values under it. */

import { h, pressed, replace, s } from "../core/index.js";
import { mixed, UNIT } from "./model.js";
import { fixed, two } from "./words.js";

const STEPS = 7; // of a colour, on each side of zero

/** Channels of a vector as colours. */
function vector(label, steps, kind = "") {
  const cell = (x, i) => x !== 0 && s("rect", { x: i + 0.06, width: 0.88, height: 1, class: x > 0 ? "at-plus" : "at-minus", "fill-opacity": Math.sqrt(Math.min(1, Math.abs(x) / STEPS)).toFixed(2) });
  const strip = s("svg", { class: "at-vector", viewBox: `0 0 ${steps.length} 1`, preserveAspectRatio: "none", "aria-hidden": "true" }, steps.map(cell));
  return [h("span", { class: `at-name ${kind}` }, label), strip];
}

/**
 * @param {{pick: (key: number) => void}} options
 * @returns {{node: HTMLElement, draw: (text: object, cell: {at: number, query: number, key: number}) => void}}
 */
export function chain({ pick }) {
  const parts = ["product", "scaled", "softmax", "value"].map((name) => h("li", { class: `at-${name}` }));
  const list = h("ol", { class: "at-chain", "aria-label": "How the pressed weight is computed" }, parts);
  const swatch = (kind) => s("svg", { class: "at-swatch", viewBox: "0 0 1 1", "aria-hidden": "true" }, s("rect", { width: 1, height: 1, class: kind }));
  const sign = (kind, text) => h("span", {}, swatch(kind), text);
  const size = h("span");
  const key = h("p", { class: "at-key" }, size, sign("at-plus", "above 0"), sign("at-minus", "below 0"));
  const node = h("div", {}, list, key);
  const bars = h("div", { class: "at-bars" });
  pressed(bars, (x) => pick(Math.max(0, Math.min(bars.children.length - 1, Math.floor((x / bars.clientWidth) * bars.children.length)))));

  function draw(text, { at, query, key }) {
    const { causal, width } = text;
    size.textContent = `A box is one of this head’s ${width} channels:`;
    const row = text.all[at][query];
    const most = Math.max(...row);
    const later = (i) => causal && i > query;
    const [q, k, v] = [query, key, key].map((token, kind) => text.strip(kind, at, token));
    const number = (text) => h("b", {}, text);
    const title = (text) => h("span", { class: "at-title" }, text);
    const rows = (...all) => h("div", { class: "at-vectors" }, all);
    replace(bars, row.map((w, i) => h("i", { class: [later(i) && "later", i === key && "on"].filter(Boolean).join(" "), "data-part": `b${i}`, "data-with": `t${i}`, style: { "--w": (w / most).toFixed(3) } })));
    const inside = [
      [title("q · k"), rows(vector("q", q, "at-asks"), vector("k", k, "at-found"), vector("q × k", q.map((x, i) => (x * k[i]) / STEPS))), number(later(key) ? "–" : fixed(text.product(at, query, key), 2))],
      [title(later(key) ? "later: masked" : `÷ √${width}`), number(later(key) ? "−∞" : fixed(text.scaled(at, query, key), 2))],
      [title("softmax: weight w"), bars, number([h("span", { class: "at-w" }, "w = "), two(row[key] / UNIT)])],
      [title("sum of w × v"), rows(vector("v", v, "at-found"), vector("w × v", v.map((x) => (x * row[key]) / UNIT)), vector("sum", mixed(text, at, row)))],
    ];
    parts.forEach((part, i) => replace(part, inside[i]));
  }
  return { node, draw };
}
