/** The text with the attention of one of its characters above it, layer after layer, and the size of its stream. */

import { h, pressed, replace, s, uid } from "../core/index.js";
import { placeOf } from "./model.js";
import { shown, two } from "./words.js";

const LEAST = 10; // px of a column
const MOST = 20;
const GAP = 9; // between layers
const LINE = 22; // px of the text's line
const TOP = 18;
const WIDE = 36; // px of the longest bar of the stream

/** Where the rows of the heads are: the last layer on top, and the text below the first. */
function rowsOf(layers, heads) {
  const high = Math.max(5, Math.min(15, Math.floor(190 / (layers * heads))));
  const top = (layer) => TOP + (layers - 1 - layer) * (heads * high + GAP);
  return { high, top, base: top(0) + heads * high + GAP };
}

/**
 * @param {{shape: object, pick: (at: number) => void}} options
 * @returns {{node: HTMLElement, slider: HTMLElement, draw: (of: object|null, setting: object) => void}} `slider` is the text,
 *   one tab stop
 */
export function picture({ shape, pick }) {
  const { layers, heads } = shape;
  const { high, top, base } = rowsOf(layers, heads);
  const height = base + LINE + 6;
  const hatch = uid("lm-hatch");
  const each = Array.from({ length: layers }, (_, i) => i);
  const numbers = high >= 12 ? each.flatMap((i) => Array.from({ length: heads }, (_, k) => s("text", { x: 66, y: top(i) + (k + 0.5) * high + 4, class: "lm-head" }, k))) : [];
  const ends = numbers.length && layers > 1 ? [[0, "(first)"], [layers - 1, "(last)"]] : [];
  const names = s("svg", { width: numbers.length ? 70 : 50, height, "aria-hidden": "true" }, numbers, numbers.length > 0 && s("text", { x: 66, y: 12, class: "lm-head" }, "head"), each.map((i) => s("text", { x: 0, y: top(i) + (heads * high) / 2 + 4 }, `layer ${i}`)), ends.map(([i, text]) => s("text", { x: 0, y: top(i) + (heads * high) / 2 + 19 }, text)), s("text", { x: 0, y: base + 15 }, "text"));
  const svg = s("svg", { height, "aria-hidden": "true" });
  const slider = h("div", { class: "lm-strip", role: "slider", tabindex: 0, "aria-label": "Character", "aria-valuemin": 0 }, svg);
  const bars = [-1, ...each].map((i) => {
    const y = i < 0 ? base + 3 : top(i) - 1;
    const bar = s("rect", { x: 2, y, height: 13, width: 0, rx: 2, class: "lm-size" });
    const number = s("text", { y: y + 11, class: "lm-number" });
    return { bar, number };
  });
  const whose = s("text", { x: 2, y: 11 });
  const stream = s("svg", { width: WIDE + 62, height, "aria-hidden": "true" }, whose, bars.map(({ bar, number }) => [bar, number]));
  const node = h("div", { class: "lm-picture" }, names, slider, stream);

  let [laid, cells, chars, column, count, spare] = ["", [], [], MOST, 0, 6];
  const [frame, later] = [s("rect", { class: "lm-frame", y: TOP - 3, height: base + LINE - TOP + 4 }), s("rect", { y: TOP, height: base - GAP - TOP, fill: `url(#${hatch})` })];
  const pattern = s("defs", {}, s("pattern", { id: hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, s("path", { d: "M0 0v6", class: "lm-later" })));

  /** Columns for so many characters. */
  function lay(length) {
    const room = slider.clientWidth - 6;
    const most = Math.floor(room / LEAST); // of columns that are in sight at once, each of them whole
    column = length > most && most > 0 ? room / most : Math.max(LEAST, Math.min(MOST, Math.floor(room / length) || MOST));
    spare = length > most ? slider.clientWidth - room : 6;
    const key = `${length} ${column}`;
    if (key === laid) return;
    laid = key;
    svg.setAttribute("width", column * length + spare - 4);
    const places = Array.from({ length }, (_, i) => i);
    const tracks = each.flatMap((layer) => Array.from({ length: heads }, (_, head) => s("rect", { class: "lm-track", y: top(layer) + head * high, width: column * length, height: high - 1 })));
    cells = each.map((layer) => Array.from({ length: heads }, (_, head) => places.map((i) => s("rect", { class: "lm-cell", x: i * column, y: top(layer) + head * high, width: column - 1, height: high - 1, "fill-opacity": 0 }))));
    chars = places.map((i) => s("text", { class: "lm-char", x: (i + 0.5) * column, y: base + 15 }));
    frame.setAttribute("width", column);
    replace(svg, pattern, tracks, cells.flat(2), later, chars, frame);
  }

  function draw(of, { text, at }, start) {
    const shownText = text.slice(start);
    count = shownText.length;
    lay(count);
    const place = placeOf({ text, start }, at);
    chars.forEach((one, i) => {
      const char = shown(shownText[i]);
      if (one.textContent !== char) one.textContent = char;
      one.setAttribute("class", `lm-char${i === place ? " here" : i > place ? " later" : ""}`);
    });
    cells.forEach((layer, l) => layer.forEach((head, k) => head.forEach((cell, i) => cell.setAttribute("fill-opacity", of && i <= place ? Math.sqrt(of.rows[l][k][place][i]).toFixed(2) : 0))));
    frame.style.transform = `translateX(${place * column}px)`;
    later.setAttribute("x", (place + 1) * column);
    later.setAttribute("width", Math.max(0, count - place - 1) * column);
    const sizes = of?.sizes[place] ?? [];
    const longest = Math.max(...sizes, 1e-9);
    whose.textContent = `“${shown(shownText[place])}” as a vector`;
    bars.forEach(({ bar, number }, i) => {
      const wide = sizes.length ? (WIDE * sizes[i]) / longest : 0;
      bar.setAttribute("width", wide);
      number.setAttribute("x", 6 + wide);
      number.textContent = sizes.length ? `${i === sizes.length - 1 ? "size " : ""}${two(sizes[i])}` : "";
    });
    slider.setAttribute("aria-valuemin", start);
    slider.setAttribute("aria-valuemax", text.length - 1);
    slider.setAttribute("aria-valuenow", start + place);
    slider.setAttribute("aria-valuetext", `${start + place} “${shown(shownText[place])}”`);
    const x = (place + 0.5) * column;
    if (slider.scrollWidth > slider.clientWidth) slider.scrollLeft = column * Math.round((x - slider.clientWidth * (place > count - 4 ? 0.92 : 0.5)) / column);
    return start;
  }

  pressed(slider, (x) => {
    const inside = x + slider.getBoundingClientRect().left - svg.getBoundingClientRect().left;
    const start = Number(slider.getAttribute("aria-valuemin"));
    pick(start + Math.max(0, Math.min(count - 1, Math.floor(inside / column))));
  });
  return { node, slider, draw };
}

/** Two lines: the time of each further character, with and without the cache, in times of the mean with it. */
export function chart({ cached, anew }) {
  const [wide, high, left, low] = [520, 190, 46, 30];
  const unit = cached.reduce((a, b) => a + b, 0) / cached.length || 1;
  const most = Math.max(...anew, ...cached) / unit;
  const x = (i) => left + ((wide - left - 12) * i) / Math.max(1, cached.length - 1);
  const y = (t) => high - low - ((high - low - 14) * t) / unit / most;
  const line = (all, kind) => s("path", { class: kind, d: all.map((t, i) => `${i ? "L" : "M"}${x(i).toFixed(1)} ${y(t).toFixed(1)}`).join("") });
  return s(
    "svg",
    { viewBox: `0 0 ${wide} ${high}`, width: wide, class: "lm-chart", role: "img", "aria-label": `Time of a character over the length of the text, from 1 to ${anew.length}: without the cache up to ${most.toFixed(0)} times that with it` },
    s("path", { class: "lm-axis", d: `M${left} 8V${high - low}H${wide - 10}` }),
    s("text", { x: left - 6, y: y(unit * most) + 4, "text-anchor": "end" }, `${most.toFixed(0)} ×`),
    s("text", { x: left - 6, y: y(unit) + 4, "text-anchor": "end" }, "1 ×"),
    s("text", { x: left, y: high - 10 }, "1"),
    s("text", { x: wide - 12, y: high - 10, "text-anchor": "end" }, `${anew.length} characters`),
    line(anew, "lm-without"),
    line(cached, "lm-with"),
  );
}
