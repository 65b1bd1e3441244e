/** One way to generate as a triangle: steps in rows, positions in columns; and the pool of pages. */

import { h, replace, s } from "../core/index.js";
import { letter } from "./words.js";

/** The mark of a cell: computed and lost, computed and kept, read from the cache. */
function cell(kind, x, y, unit) {
  const [a, size] = [unit * 0.3, unit - 2];
  const [u, v] = [x + unit / 2, y + unit / 2];
  const box = s("rect", { x: x + 1, y: y + 1, width: size, height: size, rx: 1.5, class: `kv-${kind}` });
  if (kind === "lost") return [box, s("path", { d: `M${u - a / 1.2} ${v - a / 1.2}l${1.67 * a} ${1.67 * a}m0 ${-1.67 * a}l${-1.67 * a} ${1.67 * a}`, class: "kv-cross" })];
  if (kind === "read") return [box, s("circle", { cx: u, cy: v, r: unit * 0.17, class: "kv-dot" })];
  if (kind === "kept") return [box, s("path", { d: `M${u - a} ${v}l${0.7 * a} ${0.8 * a}l${1.2 * a} ${-1.6 * a}`, class: "kv-tick" })];
  return box;
}

const LEGEND = { lost: "computed, then thrown away", kept: "computed and kept", read: "read from the cache" };
export const key = () => h("div", { class: "kv-key" }, Object.entries(LEGEND).map(([kind, text]) => h("span", {}, s("svg", { width: 15, height: 15, "aria-hidden": "true" }, cell(kind, 0, 0, 15)), text)));

/** @param {{cached: boolean, pick: (step: number) => void}} options a click on a row picks its step. */
export function triangle({ cached, pick }) {
  const svg = s("svg", { class: "kv-svg", role: "img" });
  const title = cached ? "With a cache" : "Without a cache";
  const node = h("div", { class: "kv-panel" }, h("p", { class: "kv-title" }, title), svg);

  function draw(tokens, prompt, steps, at) {
    const columns = prompt + steps - 1;
    const unit = Math.max(9, Math.min(22, Math.floor(300 / columns)));
    const [left, top] = [22, 66];
    const [width, height] = [left + columns * unit + 3, top + steps * unit + 3];
    for (const [name, value] of Object.entries({ viewBox: `0 0 ${width} ${height}`, width, height })) svg.setAttribute(name, value);
    svg.setAttribute("aria-label", `${title}: a row for each of ${steps} steps, a column for each of ${columns} positions; the words below say what each holds`);
    const names = tokens.map((text, i) => s("text", { transform: `translate(${left + (i + 0.5) * unit + 3.5} ${top - 5}) rotate(-90)`, class: i < prompt ? null : "quiet" }, [...text.trim()].slice(0, 8).join("") || "␣"));
    const rows = Array.from({ length: steps }, (_, step) => {
      const y = top + step * unit;
      const cells = Array.from({ length: prompt + step }, (_, i) => cell(step > at ? "later" : !cached ? "lost" : step === 0 || i === prompt + step - 1 ? "kept" : "read", left + i * unit, y, unit));
      const hit = s("rect", { x: 0, y, width, height: unit, fill: "transparent", onclick: () => pick(step) });
      return s("g", {}, s("text", { x: left - 5, y: y + unit / 2 + 4, "text-anchor": "end", class: step === at ? "on" : "quiet" }, step + 1), cells, step === at && s("rect", { x: left - 1, y: y - 0.5, width: (prompt + step) * unit + 2, height: unit + 1, rx: 2, class: "kv-row" }), hit);
    });
    replace(svg, names, rows);
  }
  return { node, draw };
}

/** The pages with their owners. */
export function pool() {
  const node = h("ol", { class: "kv-pool", "aria-label": "Pages of the pool" });
  const sample = (cls, text) => h("span", {}, h("i", { class: `kv-sample ${cls}` }), text);
  const legend = h("div", { class: "kv-key" }, sample("used", "position in use"), sample("spare", "held, unused"), sample("free", "free page"));
  function draw({ page, capacity }, now, before) {
    const owners = (one) => new Map((one?.running ?? []).flatMap((run) => run.pages.map((number, place) => [number, [run, place]])));
    const [own, past] = [owners(now), owners(before)];
    replace(
      node,
      Array.from({ length: capacity }, (_, number) => {
        const [run, place] = own.get(number) ?? [];
        const used = run ? Math.min(page, run.positions - place * page) : 0;
        const fresh = run && past.get(number)?.[0].request !== run.request;
        const name = run ? `page ${number}: ${letter(run.request)}, ${used} of ${page}${fresh ? ", new in this step" : ""}` : `page ${number}: free`;
        const slots = Array.from({ length: page }, (_, i) => h("i", { class: run ? (i < used ? "used" : "spare") : null }));
        return h("li", { class: `${run ? "" : "free"}${fresh ? " fresh" : ""}`.trim() || null, title: name }, h("span", { class: "kv-top" }, h("span", {}, number), run ? h("b", {}, letter(run.request)) : "free"), h("span", { class: "kv-slots", "aria-hidden": "true" }, slots));
      }),
    );
  }
  return { node: h("div", { class: "kv" }, node, legend), draw };
}
