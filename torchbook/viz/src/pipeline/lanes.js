/** The lanes: one for each worker, the main process where it waits, the copies and the steps. */

import { h, replace, s, uid } from "../core/index.js";
import { gaps, MAIN } from "./model.js";
import { time } from "./words.js";

const [HIGH, GAP] = [18, 7];
const one = (v) => Math.round(v * 10) / 10;

/** Round times at which the axis is marked. */
function ticks(from, to, most) {
  const raw = (to - from) / most;
  const ten = 10 ** Math.floor(Math.log10(raw));
  const unit = [1, 2, 5, 10].map((k) => k * ten).find((k) => k >= raw);
  const found = [];
  for (let k = Math.ceil(from / unit - 1e-9); k * unit <= to * (1 + 1e-9); k += 1) found.push(k * unit);
  return found;
}

/**
 * @param {{pick: (i: number) => void}} options
 * @returns {{node: Element, draw: (now: {rows: object[], selected: number, skip: boolean, width: number}) => void}}
 */
export function lanes({ pick }) {
  const hatch = uid("pl-hatch");
  const svg = s("svg", { class: "pl-svg", role: "img" });
  const swatch = (cls, fill) => s("svg", { width: 18, height: 12, "aria-hidden": "true" }, s("rect", { x: 0.75, y: 0.75, width: 16.5, height: 10.5, rx: 2, class: cls, "stroke-width": 1.2, fill }));
  const line = s("svg", { width: 18, height: 12, "aria-hidden": "true" }, s("path", { d: "M1 6h16", class: "pl-ready" }));
  const key = h("div", { class: "pl-key" }, [
    h("span", {}, swatch("pl-load"), "loading"),
    h("span", {}, line, "ready, waiting to be taken"),
    h("span", {}, swatch("pl-copy"), "copy"),
    h("span", {}, swatch("pl-step"), "step"),
    h("span", {}, swatch("pl-wait", `url(#${hatch})`), "waiting for data"),
  ]);
  const node = h("div", {}, svg, key);

  function draw({ rows, selected, skip, width }) {
    const workers = [...new Set(rows.map((row) => row.worker))].sort((a, b) => a - b);
    const own = workers[0] === MAIN;
    const names = [...workers.map((k) => (k === MAIN ? "main loads" : `worker ${k}`)), ...(own ? [] : ["main waits"]), "copy", "step"];
    const at = { copy: names.length - 2, step: names.length - 1, wait: workers.length };
    const end = rows.at(-1).step_end;
    const zero = skip ? Math.max(0, rows[0].got - 0.02 * (end - rows[0].got)) : 0;
    const left = 76;
    const scale = (width - left - 4) / (end - zero);
    const x = (t) => one(left + Math.max(0, t - zero) * scale);
    const y = (lane) => lane * (HIGH + GAP) + 1;
    const bottom = names.length * (HIGH + GAP);
    const high = bottom + 20;
    for (const [name, value] of Object.entries({ viewBox: `0 0 ${width} ${high}`, width, height: high })) svg.setAttribute(name, value);
    svg.setAttribute("aria-label", `Lanes from ${time(zero)} to ${time(end)}: ${names.join(", ")}. The words below say how they went.`);

    const bar = (lane, from, to, cls, i, label = String(i)) => {
      if (to <= zero || to <= from) return null;
      const w = Math.max(1.2, x(to) - x(from));
      return [
        s("rect", { x: x(from), y: y(lane), width: one(w), height: HIGH, rx: Math.min(2, w / 3), class: `${cls}${i === selected ? " pl-on" : ""}`, "data-batch": i, fill: cls === "pl-wait" ? `url(#${hatch})` : null }),
        w > 7 * label.length + 3 && s("text", { x: one(x(from) + w / 2), y: y(lane) + 13, "text-anchor": "middle", "pointer-events": "none" }, label),
      ];
    };
    const order = rows.map((_, i) => i).filter((i) => i !== selected).concat(rows[selected] ? [selected] : []);
    const row = rows[selected];
    const points = row && [
      [row.load_end, workers.indexOf(row.worker)],
      [row.got, own ? 0 : at.wait],
      ...(row.copy_end > row.copy_start ? [[row.copy_start, at.copy]] : []),
      [row.step_start, at.step],
    ];
    replace(
      svg,
      s("defs", {}, s("pattern", { id: hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, s("path", { d: "M0 0v6", class: "pl-wait-line" }))),
      names.map((name, lane) => [s("path", { d: `M${left} ${y(lane) + HIGH + GAP / 2}H${width - 4}`, class: "pl-rail" }), s("text", { x: left - 7, y: y(lane) + 13, "text-anchor": "end", class: "pl-lane" }, name)]),
      ticks(zero, end, Math.max(2, Math.floor(width / 110))).map((t) => s("text", { x: x(t), y: high - 4, "text-anchor": x(t) > width - 30 ? "end" : x(t) < left + 12 ? "start" : "middle", class: "pl-tick" }, time(t))),
      order.map((i) => {
        const { worker, load_start, load_end, ask, got, copy_start, copy_end, step_start, step_end } = rows[i];
        const lane = workers.indexOf(worker);
        const idle = i ? rows[i - 1].step_end : 0;
        return [
          worker !== MAIN && got > load_end && got > zero && s("path", { d: `M${x(load_end)} ${y(lane) + HIGH - 1}H${x(got)}`, class: "pl-ready" }),
          bar(lane, load_start, load_end, "pl-load", i),
          !own && got > ask && bar(at.wait, ask, got, "pl-wait", i, ""),
          gaps(rows, i)[0] > 0 && bar(at.step, idle, idle + gaps(rows, i)[0], "pl-wait", i, ""),
          bar(at.copy, copy_start, copy_end, "pl-copy", i),
          bar(at.step, step_start, step_end, "pl-step", i),
        ];
      }),
      points && row.got > zero && s("path", { class: "pl-thread", d: points.map(([t, lane], k) => `${k ? "L" : "M"}${x(t)} ${y(lane) + HIGH / 2}`).join("") }),
    );
    svg.onclick = (event) => {
      const hit = event.target.closest("[data-batch]");
      if (hit) pick(Number(hit.dataset.batch));
    };
  }
  return { node, draw };
}
