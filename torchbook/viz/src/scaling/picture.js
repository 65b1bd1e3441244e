/** The step as a bar, and the speed-up over the number of GPUs. */

import { h, replace, s } from "../core/index.js";
import { curve, MOST, results } from "./model.js";
import { duration, significant } from "../core/units.js";

const text = (x, y, label, attrs) => s("text", { x, y, ...attrs }, label);

function setSize(svg, width, height) {
  for (const [name, value] of Object.entries({ viewBox: `0 0 ${width} ${height}`, width, height })) svg.setAttribute(name, value);
}

/** Compute above, communication below, to the same scale. */
export function stepBar() {
  const hatch = `sc-hatch-${Math.random().toString(36).slice(2, 8)}`;
  const svg = s("svg", { class: "sc-svg", role: "img" });
  function draw(setting, width) {
    const all = results(setting);
    const compute = setting.compute_ms * 1e-3;
    const scale = width / all.step;
    const [end, start] = [compute * scale, (compute - all.hidden) * scale];
    const least = (w) => Math.max(w, 1.5);
    setSize(svg, width, 58);
    svg.setAttribute("aria-label", `One step of ${duration(all.step)}: ${duration(compute)} compute, ${duration(all.hidden)} of communication hidden behind it, ${duration(all.exposed)} exposed.`);
    const pattern = s("pattern", { id: hatch, width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, s("rect", { width: 7, height: 7, class: "sc-hidden-fill" }), s("line", { x1: 0, y1: 0, x2: 0, y2: 7, class: "sc-hidden-line" }));
    replace(
      svg,
      s("defs", {}, pattern),
      s("rect", { x: 0, y: 1, width: least(end), height: 26, rx: 3, class: "sc-compute" }),
      text(6, 19, end > 120 ? `compute ${duration(compute)}` : end > 60 ? "compute" : ""),
      all.hidden > 0 && s("rect", { x: start, y: 31, width: least(end - start), height: 26, rx: 3, fill: `url(#${hatch})`, class: "sc-hidden" }),
      all.exposed > 0 && s("rect", { x: Math.min(end, width - 2), y: 31, width: least(width - end), height: 26, rx: 3, class: "sc-exposed" }),
    );
  }
  const key = h("div", { class: "sc-key" });
  const swatch = (cls, fill) => s("svg", { width: 18, height: 12, "aria-hidden": "true" }, s("rect", { x: 0.75, y: 0.75, width: 16.5, height: 10.5, rx: 2, class: cls, fill: fill && `url(#${hatch})` }));
  function tell(setting) {
    const all = results(setting);
    replace(
      key,
      h("span", {}, swatch("sc-compute"), `compute ${duration(setting.compute_ms * 1e-3)}`),
      h("span", {}, swatch("sc-hidden", true), `communication, hidden ${duration(all.hidden)}`),
      h("span", {}, swatch("sc-exposed"), `communication, exposed ${duration(all.exposed)}`),
    );
  }
  return { node: h("div", {}, svg, key), draw: (setting, width) => { draw(setting, width); tell(setting); } };
}

/** The curve; `pick` takes a number of GPUs. */
export function curvePlot(pick) {
  const svg = s("svg", { class: "sc-svg sc-curve", role: "img" });
  const told = h("p", { class: "sc-small" });
  const node = h("div", {}, svg, told);
  function draw(setting, width) {
    const high = Math.min(260, Math.max(170, width * 0.42));
    const [left, right, top, bottom] = [34, 12, 10, 34];
    const points = curve(setting);
    const x = (gpus) => left + ((gpus - 1) / (MOST - 1)) * (width - left - right);
    const y = (value) => top + (1 - value / MOST) * (high - top - bottom);
    setSize(svg, width, Math.round(high));
    const all = results(setting);
    const best = points.indexOf(Math.max(...points)) + 1;
    const some = [2, 4, 8, 16, 32, 64].map((gpus) => `${gpus}: ${significant(points[gpus - 1])}`).join(", ");
    svg.setAttribute("aria-label", `Speed-up by number of GPUs. ${some}. Ideal is the number itself.`);
    told.textContent = `Number of GPUs: speed-up – ${some}. ${best < MOST ? `Most with ${best} GPUs. ` : ""}The link is the same for all of them; beyond one machine it seldom is.`;
    const shown = setting.gpus <= MOST;
    const label = `${setting.gpus} GPU${setting.gpus === 1 ? "" : "s"}: ${significant(all.speedup)}×`;
    const right_of = shown && x(setting.gpus) < width - 130;
    replace(
      svg,
      [1, 16, 32, 48, 64].map((tick) => [
        s("line", { x1: left, x2: width - right, y1: y(tick), y2: y(tick), class: "sc-grid" }),
        text(left - 6, y(tick) + 4, String(tick), { "text-anchor": "end" }),
        text(x(tick), high - bottom + 18, String(tick), { "text-anchor": "middle" }),
      ]),
      text((left + width - right) / 2, high - 3, "GPUs", { "text-anchor": "middle", class: "sc-axis" }),
      s("path", { d: `M${x(1)} ${y(1)}L${x(MOST)} ${y(MOST)}`, class: "sc-ideal" }),
      text(x(44), y(44) - 12, "ideal", { "text-anchor": "end", class: "sc-muted" }),
      s("polyline", { points: points.map((value, i) => `${x(i + 1).toFixed(1)},${y(value).toFixed(1)}`).join(" "), class: "sc-line" }),
      shown && s("circle", { cx: x(setting.gpus), cy: y(all.speedup), r: 5.5, class: "sc-dot" }),
      shown && text(x(setting.gpus) + (right_of ? 10 : -10), y(all.speedup) + (y(all.speedup) + 22 < high - bottom ? 18 : -13), label, { class: "sc-here", "text-anchor": right_of ? "start" : "end" }),
    );
    svg.onclick = (event) => {
      const box = svg.getBoundingClientRect();
      const at = ((event.clientX - box.left) / box.width) * width;
      pick(Math.round(Math.min(MOST, Math.max(1, 1 + ((at - left) / (width - left - right)) * (MOST - 1)))));
    };
  }
  return { node, draw };
}
