/** The roofs, log-log: the op under each of them, a dot that slides along the roof, and the measured points. */

import { animate, grip, h, pressed, replace, s } from "../core/index.js";
import { duration, plain, prefixed, several } from "../core/units.js";
import { attainable, beyond, costOf, DEVICES, devicesOf, OPS, results, shortOf, slideOf, span } from "./model.js";
import { tick } from "./words.js";

export const DASH = { a100: "9 4", h100: null, h200: "2 3", machine: "12 3 2 3" };
const NARROW = 520;
const HAND = 22; // half of what a finger needs
const LETTER = 7.2; // px of a letter, on average
const LABEL = 20; // so much worse is it to cover a label than a line
const NEAR = 14; // px from a mark to a label that stands beside it
const STRAY = 6; // and so much worse a px towards another's mark
const FAR = 3; // so much worse is a px away from the mark than a covered px²
const PEAK = Math.ceil(Math.log10(Math.max(...Object.values(DEVICES).flatMap(({ flops }) => Object.values(flops)))));
const text = (x, y, label, attrs) => s("text", { x, y, ...attrs }, label);
const power = (n) => (n < 4 ? plain(10 ** n) : `10${[...String(n)].map((d) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[d]).join("")}`);

const overlap = (a, b) => Math.max(0, Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x)) * Math.max(0, Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y));

/**
 * Where a label stands beside its place: inside the frame, near, and over as little as can be. From a label that is not
 * beside its mark a line leads there.
 * @param {[number, number]} at
 * @param {string} label
 * @param {{x: number, y: number, width: number, height: number}} frame
 * @param {object[]} taken boxes that are not to be covered; the label's is added
 * @param {[number, number][]} others marks that have labels of their own, to which this one must not seem to belong
 */
export function besides([x, y], label, frame, taken, others = []) {
  const [width, height] = [label.length * LETTER + 10, 20];
  const spots = [
    ...[-10, 8, -28, 26, -46, 44, -64, 62].flatMap((dy) => [[10, dy], [-width - 10, dy]]), [-width / 2, 11], [-width / 2, -31], [-20, 11], [-20, -31], [20 - width, 11], [20 - width, -31],
  ].map(([dx, dy]) => ({ x: x + dx, y: y + dy, width, height }));
  const out = (box) => width * height - overlap(box, frame);
  const end = (box) => [Math.max(box.x, Math.min(box.x + width, x)), Math.max(box.y, Math.min(box.y + height, y))];
  const away = (box) => Math.hypot(end(box)[0] - x, end(box)[1] - y);
  const gap = (box, [u, v]) => Math.hypot(Math.max(box.x - u, u - box.x - width, 0), Math.max(box.y - v, v - box.y - height, 0));
  const stray = (box) => others.reduce((sum, mark) => sum + Math.max(0, NEAR + 12 - gap(box, mark)), 0);
  const cost = (box, i) => FAR * away(box) + STRAY * stray(box) + 50 * out(box) + taken.reduce((sum, other) => sum + (other.label ? LABEL : 1) * overlap(box, other), 0) + i;
  const best = spots.reduce((least, box, i) => (cost(box, i) < least[0] ? [cost(box, i), box] : least), [Infinity, spots[0]])[1];
  const box = { ...best, x: Math.max(frame.x, Math.min(frame.x + frame.width - width, best.x)), label: true };
  box.lead = away(box) > NEAR ? `M${x} ${y}L${end(box).join(" ")}` : "";
  box.before = box.x + width <= x; // its text ends at the mark
  taken.push(box);
  return box;
}

/**
 * @param {{device: (name: string) => void, slide: (intensity: number) => void, step: (way: number) => void}} on a device
 *   was chosen; the dot was dragged to an intensity, or moved by a key.
 */
export function plot(on) {
  const svg = s("svg", { class: "sc-svg rl-plot", role: "img" });
  const over = h("p", { class: "sc-small rl-over" });
  const key = h("div", { class: "rl-key", role: "group", "aria-label": "Device" });
  const dot = grip(h("div", { class: "rl-grip", role: "slider", tabindex: 0 }));
  const node = h("div", { class: "rl-stage" }, h("div", { class: "rl-field" }, svg, dot), key, over);
  const made = new Map();
  let run = { cancel() {} };
  let at = null; // the intensity that is drawn, also on the way to another
  let place = null;

  function draw(setting, points, width) {
    run.cancel();
    const of = costOf(setting);
    const every = devicesOf(setting);
    const all = results(setting);
    const roofs = Object.entries(all).filter(([, one]) => one);
    const [from, to, low, top] = span(setting, points).map((edge, i) => [Math.min(edge, -1), Math.max(edge, 4), Math.min(edge, 11), Math.max(edge, PEAK)][i]);
    const narrow = width < NARROW;
    const high = narrow ? 296 : 352;
    const [left, right, above, below] = [44, 12, 22, 38];
    const x = (v) => left + ((Math.log10(v) - from) / (to - from)) * (width - left - right);
    const y = (v) => above + ((top - Math.log10(v)) / (top - low)) * (high - above - below);
    const frame = { x: left, y: above, width: width - left - right, height: high - above - below };
    for (const [name, value] of Object.entries({ viewBox: `0 0 ${width} ${high}`, width, height: high })) svg.setAttribute(name, value);
    const told = roofs.map(([name, one]) => `${every[name].label} ${one.bound}-bound, at most ${prefixed(one.attainable, "FLOP")}/s`).join("; ");
    svg.setAttribute("aria-label", `Roofline. The op has ${of.flops ? plain(Number(of.intensity.toPrecision(3))) : "no"} FLOP per byte: ${told}.`);
    const ticks = (a, b) => Array.from({ length: b - a + 1 }, (_, i) => a + i);
    const corners = ([, one]) => [10 ** Math.max(from, low - Math.log10(one.bandwidth)), one.ridge, 10 ** to].map((v) => [x(v), y(attainable(v, one.peak, one.bandwidth))]);
    const line = (roof) => s("polyline", { points: corners(roof).map((p) => p.map((v) => v.toFixed(1)).join(",")).join(" "), class: roof[0] === setting.device ? "rl-roof rl-here" : "rl-roof", "stroke-dasharray": DASH[roof[0]] });
    const focus = all[setting.device];
    const other = costOf(setting, !setting.fused);
    const shown = focus && of.flops && other.bytes !== of.bytes && Math.log10(other.intensity) > from && Math.log10(other.intensity) < to;

    // What labels must not cover: the roofs, in pieces, and the marks.
    const taken = roofs.flatMap((roof) => corners(roof).slice(1).flatMap(([u, v], i) => {
      const [a, b] = corners(roof)[i];
      const n = Math.ceil(Math.hypot(u - a, v - b) / 12);
      return Array.from({ length: n }, (_, p) => ({ x: a + ((u - a) * p) / n - 2, y: b + ((v - b) * p) / n - 2, width: 16, height: 5 }));
    }));
    const marks = points.map((one) => [x(one.flops / one.bytes), y(one.flops / one.seconds)]);
    taken.push(...marks.map(([u, v]) => ({ x: u - 7, y: v - 7, width: 14, height: 14 })));
    const spots = of.flops ? roofs.map(([name, one]) => ({ name, one, el: s("circle", { r: name === setting.device ? 7 : 4, class: name === setting.device ? "rl-dot rl-now" : "rl-dot" }) })) : [];
    if (of.flops) taken.push(...roofs.map(([, one]) => ({ x: x(of.intensity) - 8, y: y(one.attainable) - 8, width: 16, height: 16 })));
    const written = (box, label, cls) => text(box.before ? box.x + box.width - 4 : box.x + 4, box.y + 15, label, { class: cls, "text-anchor": box.before ? "end" : "start" });
    const hereLabel = focus && of.flops ? `${shortOf(setting)}: ${duration(focus.time)}` : "";
    const hereBox = hereLabel && besides([x(of.intensity), y(focus.attainable)], hereLabel, frame, taken, marks);
    const otherAt = shown && [x(other.intensity), y(attainable(other.intensity, focus.peak, focus.bandwidth))];
    if (shown) taken.push({ x: otherAt[0] - 6, y: otherAt[1] - 6, width: 12, height: 12 });
    const otherBox = shown && besides(otherAt, setting.fused ? "not fused" : "fused", frame, taken);
    const dots = focus && of.flops ? [[x(of.intensity), y(focus.attainable)]] : [];
    const boxes = points.map((one, i) => besides(marks[i], one.name, frame, taken, [...dots, ...marks.filter((_, j) => j !== i)]));
    // Left of the ridge of the device an op waits for memory, right of it for arithmetic.
    const bend = focus && x(focus.ridge);
    const waits = (cause, px, anchor, room) => {
      const whole = `waits for ${cause}`;
      return room > whole.length * 6.6 ? text(px, above + 17, whole, { class: "rl-zone", "text-anchor": anchor }) : s("text", { y: above + 15, class: "rl-zone", "text-anchor": anchor }, s("tspan", { x: px }, "waits for"), s("tspan", { x: px, dy: 15 }, cause));
    };
    const zones = focus && bend > left && bend < width - right && s("g", {}, s("line", { x1: bend, x2: bend, y1: above, y2: y(focus.peak), class: "rl-ridge" }), waits("memory", bend - 8, "end", bend - 8 - left), waits("arithmetic", bend + 8, "start", width - right - bend - 8));
    const stem = of.flops ? s("line", { y1: above, y2: high - below, class: "rl-at" }) : null;
    const way = shown && s("path", { class: "rl-way" });
    const labels = s("g", { class: "rl-labels" }, hereBox && written(hereBox, hereLabel, "sc-here"), otherBox && written(otherBox, setting.fused ? "not fused" : "fused", "sc-muted rl-halo"));
    replace(
      svg,
      ticks(low, top).map((n) => [s("line", { x1: left, x2: width - right, y1: y(10 ** n), y2: y(10 ** n), class: "sc-grid" }), text(left - 6, y(10 ** n) + 4, tick(n), { "text-anchor": "end" })]),
      ticks(from, to).map((n, i) => [s("line", { x1: x(10 ** n), x2: x(10 ** n), y1: above, y2: high - below, class: "sc-grid" }), (to - from <= 7 || i % 2 === 0) && text(x(10 ** n), high - below + 17, power(n), { "text-anchor": "middle" })]),
      text(2, 12, narrow ? "FLOP per second" : "FLOP (operations) per second", { class: "sc-axis" }),
      text((left + width - right) / 2, high - 4, "FLOP per byte read or written", { "text-anchor": "middle", class: "sc-axis" }),
      points.length > 0 && s("text", { x: width - right, y: 12, "text-anchor": "end" }, s("tspan", { class: "rl-cross" }, "+"), narrow ? " measured here" : " measured on this machine, where the page ran"),
      zones,
      stem,
      roofs.map(line),
      way,
      shown && s("circle", { cx: otherAt[0], cy: otherAt[1], r: 5, class: "rl-other" }),
      marks.map(([u, v]) => s("path", { d: `M${u - 5} ${v}h10M${u} ${v - 5}v10`, class: "rl-point" })),
      boxes.map(({ lead }) => lead && s("path", { d: lead, class: "rl-lead" })),
      boxes.map((box, i) => written(box, points[i].name, "rl-halo")),
      labels,
      spots.map(({ el }) => el),
    );
    const slides = slideOf(setting);
    dot.hidden = !(focus && of.flops);
    dot.classList.toggle("fixed", !slides);
    if (slides) {
      dot.setAttribute("aria-label", `Dot on the roof: ${OPS[setting.op].fields[slides].label}`);
      dot.setAttribute("aria-valuenow", setting.sizes[slides]);
      dot.setAttribute("aria-valuemin", OPS[setting.op].fields[slides].low);
      dot.setAttribute("aria-valuemax", OPS[setting.op].fields[slides].high);
      dot.setAttribute("aria-valuetext", `${setting.sizes[slides]}, ${plain(Number(of.intensity.toPrecision(3)))} FLOP per byte`);
      dot.tabIndex = 0;
    } else {
      dot.setAttribute("aria-label", "Dot on the roof: no size moves it");
      dot.tabIndex = -1;
    }
    /** The op at an intensity, on all roofs. */
    const put = (v) => {
      at = v;
      stem.setAttribute("x1", x(v));
      stem.setAttribute("x2", x(v));
      for (const { name, one, el } of spots) {
        const [u, w] = [x(v), y(attainable(v, one.peak, one.bandwidth))];
        el.setAttribute("cx", u);
        el.setAttribute("cy", w);
        if (name !== setting.device) continue;
        dot.style.transform = `translate(${u - HAND}px,${w - HAND}px)`;
        if (way) way.setAttribute("d", `M${otherAt.join(" ")}L${u} ${w}`);
      }
    };
    place = { intensity: (px) => 10 ** (from + ((px - left) / (width - left - right)) * (to - from)), slides };
    if (!of.flops) at = null;
    else if (at === null || at === of.intensity) put(of.intensity);
    else {
      const [start, end] = [Math.log(at), Math.log(of.intensity)];
      labels.style.opacity = 0;
      run = animate({ ms: held ? 0 : 400, step: (t) => put(Math.exp(start + (end - start) * t * t * (3 - 2 * t))), done: () => (labels.style.opacity = 1) });
    }
    tell(every, all, setting);
    const names = several(beyond(points, setting.machine).map(({ name }) => `“${name}”`));
    over.hidden = !names;
    over.textContent = `Above the roof: ${names}. The data came from a cache, or the roof was measured at a slower moment.`;
  }

  // The dot slides along the roof: a size of the op follows it.
  let held = false;
  pressed(
    node.firstChild,
    (px, _, start) => {
      if (!place.slides) return;
      held = true;
      if (!start) on.slide(place.intensity(px));
    },
    ".rl-grip:not(.fixed)",
  );
  node.addEventListener("pointerup", () => (held = false));
  node.addEventListener("pointercancel", () => (held = false));
  dot.addEventListener("keydown", (event) => {
    const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!way || !place.slides) return;
    event.preventDefault();
    on.step(way);
  });

  function tell(every, all, setting) {
    const items = Object.entries(all).map(([name, one]) => {
      if (!made.has(name)) {
        const label = h("span");
        made.set(name, { label, press: h("button", { type: "button", class: "tbviz-button rl-pick", onclick: () => on.device(name) }, s("svg", { width: 30, height: 12, "aria-hidden": "true" }, s("line", { x1: 1, x2: 29, y1: 6, y2: 6, class: "rl-roof", "stroke-dasharray": DASH[name] })), label) });
      }
      const { press, label } = made.get(name);
      press.setAttribute("aria-pressed", String(name === setting.device));
      press.title = one ? `${every[name].label}: ${one.bound}-bound` : "";
      label.textContent = `${every[name].label}: ${one ? duration(one.time) : `no ${setting.dtype}`}`;
      return press;
    });
    key.style.setProperty("--many", items.length === 4 ? 2 : 3);
    if (key.children.length !== items.length) replace(key, items);
  }
  return { node, draw, stop: () => run.cancel() };
}
