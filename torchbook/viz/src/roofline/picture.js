/** The roofs, log-log: the op under each of them, and the measured points. */

import { h, replace, s } from "../core/index.js";
import { duration, plain, prefixed } from "../core/units.js";
import { attainable, costOf, devicesOf, results, span } from "./model.js";
import { tick } from "./words.js";

export const DASH = { a100: "9 4", h100: null, h200: "2 3", machine: "12 3 2 3" };
const text = (x, y, label, attrs) => s("text", { x, y, ...attrs }, label);
const power = (n) => (n < 4 ? plain(10 ** n) : `10${[...String(n)].map((d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[d]).join("")}`);

export function plot(pick) {
  const svg = s("svg", { class: "sc-svg rl-plot", role: "img" });
  const key = h("ul", { class: "rl-key" });
  const node = h("div", {}, svg, key);
  const made = new Map();

  function draw(setting, points, width) {
    const of = costOf(setting);
    const every = devicesOf(setting);
    const all = results(setting);
    const roofs = Object.entries(all).filter(([, one]) => one);
    const [from, to, low, top] = span(setting, points);
    const high = Math.round(Math.min(400, Math.max(250, width * 0.56)));
    const [left, right, above, below] = [44, 10, 22, 38];
    const x = (v) => left + ((Math.log10(v) - from) / (to - from)) * (width - left - right);
    const y = (v) => above + ((top - Math.log10(v)) / (top - low)) * (high - above - below);
    for (const [name, value] of Object.entries({ viewBox: `0 0 ${width} ${high}`, width, height: high })) svg.setAttribute(name, value);
    const told = roofs.map(([name, one]) => `${every[name].label} ${one.bound}-bound, at most ${prefixed(one.attainable, "FLOP")}/s`).join("; ");
    svg.setAttribute("aria-label", `Roofline. The op has ${of.flops ? plain(Number(of.intensity.toPrecision(3))) : "no"} FLOP per byte: ${told}.`);
    const ticks = (a, b) => Array.from({ length: b - a + 1 }, (_, i) => a + i);
    const every_x = ticks(from, to).filter((_, i) => to - from < 9 || width > 520 || i % 2 === 0);
    const line = ([name, one]) => {
      const start = Math.max(from, low - Math.log10(one.bandwidth));
      const at = [10 ** start, one.ridge, 10 ** to].map((v) => `${x(v).toFixed(1)},${y(attainable(v, one.peak, one.bandwidth)).toFixed(1)}`);
      return s("polyline", { points: at.join(" "), class: name === setting.device ? "rl-roof rl-here" : "rl-roof", "stroke-dasharray": DASH[name] });
    };
    const spot = ([name, one]) => s("circle", { cx: x(of.intensity), cy: y(one.attainable), r: name === setting.device ? 6 : 4, class: name === setting.device ? "rl-dot rl-now" : "rl-dot" });
    const focus = all[setting.device];
    const other = costOf(setting, !setting.fused);
    const moved = focus && of.flops && other.bytes !== of.bytes;
    const tip = moved && attainable(other.intensity, focus.peak, focus.bandwidth);
    const shown = moved && Math.log10(other.intensity) > from && Math.log10(other.intensity) < to;
    const here = focus && of.flops ? [x(of.intensity), y(focus.attainable)] : null;
    const flip = here && here[0] > width - 110;
    replace(
      svg,
      ticks(low, top).map((n) => [s("line", { x1: left, x2: width - right, y1: y(10 ** n), y2: y(10 ** n), class: "sc-grid" }), text(left - 6, y(10 ** n) + 4, tick(n), { "text-anchor": "end" })]),
      every_x.map((n) => [s("line", { x1: x(10 ** n), x2: x(10 ** n), y1: above, y2: high - below, class: "sc-grid" }), text(x(10 ** n), high - below + 17, power(n), { "text-anchor": "middle" })]),
      text(2, 12, "FLOP/s", { class: "sc-axis" }),
      text((left + width - right) / 2, high - 4, "FLOP per byte", { "text-anchor": "middle", class: "sc-axis" }),
      of.flops ? s("line", { x1: x(of.intensity), x2: x(of.intensity), y1: above, y2: high - below, class: "rl-at" }) : null,
      roofs.map(line),
      shown && s("path", { d: `M${x(other.intensity)} ${y(tip)}L${here[0]} ${here[1]}`, class: "rl-way" }),
      shown && s("circle", { cx: x(other.intensity), cy: y(tip), r: 5, class: "rl-other" }),
      shown && text(x(other.intensity), y(tip) + (setting.fused ? 20 : -12), setting.fused ? "not fused" : "fused", { class: "sc-muted rl-halo", "text-anchor": "middle" }),
      of.flops ? roofs.map(spot) : null,
      here && text(here[0] + (flip ? -11 : 11), here[1] + 18, `${every[setting.device].label}: ${duration(focus.time)}`, { class: "sc-here", "text-anchor": flip ? "end" : "start" }),
      points.map((one) => {
        const at = [x(one.flops / one.bytes), y(one.flops / one.seconds)];
        const end = at[0] > width - 100;
        return [s("path", { d: `M${at[0] - 5} ${at[1]}h10M${at[0]} ${at[1] - 5}v10`, class: "rl-point" }), text(at[0] + (end ? -9 : 9), at[1] + 4, one.name, { class: "rl-halo", "text-anchor": end ? "end" : "start" })];
      }),
    );
    tell(every, all, setting);
  }

  function tell(every, all, setting) {
    const items = Object.entries(all).map(([name, one]) => {
      if (!made.has(name)) {
        const label = h("span");
        const press = h("button", { type: "button", class: "tbviz-button rl-pick", onclick: () => pick(name) }, s("svg", { width: 34, height: 12, "aria-hidden": "true" }, s("line", { x1: 1, x2: 33, y1: 6, y2: 6, class: "rl-roof", "stroke-dasharray": DASH[name] })), label);
        made.set(name, { press, label, item: h("li", {}, press) });
      }
      const { press, label, item } = made.get(name);
      press.setAttribute("aria-pressed", String(name === setting.device));
      label.textContent = `${every[name].label}: ${one ? `${duration(one.time)}, ${one.bound}-bound` : `no ${setting.dtype}`}`;
      return item;
    });
    if (key.children.length !== items.length) replace(key, items);
  }
  return { node, draw };
}
