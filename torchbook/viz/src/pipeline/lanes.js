/** The lanes: one for each worker, the main process where it waits, the copies and the steps. */

import { h, keyed, moving, replace, s, uid } from "../core/index.js";
import { ticks } from "../core/ticks.js";
import { axis } from "../core/units.js";
import { gaps, MAIN } from "./model.js";
import { time } from "./words.js";

const [ALL, LEFT] = [340, 86]; // pixels: of all lanes, so that none of the cases is higher; of their names
const one = (v) => Math.round(v * 10) / 10;
const EVERY = [1, 5, 10, 20, 50]; // batches from number to number

/**
 * The batches whose numbers are written into a lane: all of them where each bar has room for its number, else every
 * 5th, 10th …, so that none touches the next; and the selected one, in place of what it would touch.
 * @param {Array<{i: number, x: number, w: number, own: boolean}>} bars by time, with their middles, widths and whether the
 *   batch is selected
 */
export function numbered(bars) {
  const size = ({ i }) => 7 * String(i).length + 3;
  const apart = (a, b) => Math.abs(b.x - a.x) >= (size(a) + size(b)) / 2;
  const every = EVERY.find((n) => {
    const some = bars.filter(({ i }) => i % n === 0);
    return (n > 1 || some.every((bar) => bar.w > size(bar))) && some.every((bar, k) => !k || apart(some[k - 1], bar));
  });
  const mine = bars.find(({ own }) => own);
  return bars.filter((bar) => bar === mine || (every && bar.i % every === 0 && (!mine || apart(mine, bar))));
}

/**
 * The picture is one control: where it is pressed the nearest batch is picked, and arrow keys go to the next.
 * @param {{pick: (i: number) => void}} options
 * @returns {{node: Element, draw: (now: {rows: object[], selected: number, skip: boolean, width: number}) => void}}
 */
export function lanes({ pick }) {
  const hatch = uid("pl-hatch");
  const [rails, bars, texts] = Array.from({ length: 3 }, () => s("g"));
  const thread = s("path", { class: "pl-thread" });
  const pattern = s("pattern", { id: hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, s("path", { d: "M0 0v6", class: "pl-wait-line" }));
  const svg = s("svg", { class: "pl-svg", role: "slider", tabindex: 0, "aria-label": "follow batch", "aria-valuemin": 0 }, s("defs", {}, pattern), rails, bars, texts, thread);
  const swatch = (cls, fill) => s("svg", { width: 18, height: 12, "aria-hidden": "true" }, s("rect", { x: 0.75, y: 0.75, width: 16.5, height: 10.5, rx: 2, class: cls, "stroke-width": 1.2, fill }));
  const line = (cls) => s("svg", { width: 18, height: 12, "aria-hidden": "true" }, s("path", { d: "M1 6h16", class: cls }));
  const [copies, ready] = [h("span", {}, swatch("pl-copy"), "copies it"), h("span", {}, line("pl-ready"), "it is ready")];
  const key = h("div", { class: "pl-key" }, [
    h("span", {}, swatch("pl-load"), "loads a batch"),
    h("span", {}, swatch("pl-wait", `url(#${hatch})`), "waits for it"),
    h("span", {}, swatch("pl-step"), "trains on it"),
    h("span", {}, line("pl-thread"), "the chosen batch’s way"),
    copies,
    ready,
  ]);
  const node = h("div", {}, svg, key);
  const set = (el, attrs) => Object.entries(attrs).forEach(([name, value]) => el.setAttribute(name, value));
  const drawBars = keyed(bars, {
    key: (one) => one.key,
    make: (one) => s(one.line ? "path" : "rect", { "data-batch": one.batch, class: one.cls, fill: one.cls === "pl-wait" ? `url(#${hatch})` : null }),
    update: (el, { attrs, on }) => {
      set(el, attrs);
      el.classList.toggle("pl-on", Boolean(on));
    },
  });
  const drawTexts = keyed(texts, {
    key: (one) => one.key,
    make: (one) => s("g", {}, s("text", { "text-anchor": "middle", class: one.cls ?? null }, one.label)),
    update: (el, { x, y }) => (el.style.transform = `translate(${x}px,${y}px)`),
  });
  let [spans, batch, last] = [[], 0, 0]; // what a press can be near to

  function draw({ rows, selected, skip, width }) {
    const workers = [...new Set(rows.map((row) => row.worker))].sort((a, b) => a - b);
    const own = workers[0] === MAIN;
    const names = [...workers.map((k) => (k === MAIN ? "main process" : `worker ${k}`)), ...(own ? [] : ["main process"]), ...(rows.some((row) => row.copy_end > row.copy_start) ? ["copy"] : []), "step"];
    const at = { copy: names.length - 2, step: names.length - 1, wait: workers.length };
    const end = rows.at(-1).step_end;
    const zero = skip ? Math.max(0, rows[0].got - 0.02 * (end - rows[0].got)) : 0;
    const scale = (width - LEFT - 4) / (end - zero);
    const lane = Math.max(15, ALL / names.length);
    const high = Math.min(44, lane - Math.min(7, lane / 4));
    const x = (t) => one(LEFT + Math.max(0, t - zero) * scale);
    const y = (k) => one(k * lane + (lane - high) / 2);
    const bottom = lane * names.length;
    const height = Math.round(bottom) + 20;
    moving(svg, width);
    set(svg, { viewBox: `0 0 ${width} ${height}`, width, height, "aria-valuemax": rows.length - 1, "aria-valuenow": selected, "aria-valuetext": `batch ${selected} of ${rows.length}, from ${time(zero)} to ${time(end)}, in lanes ${names.join(", ")}` });
    [batch, last, spans] = [selected, rows.length - 1, []];

    const rounds = 2 * Math.max(2, workers.length); // so many batches are numbered, which shows who loads which
    const items = [];
    const told = []; // of each lane
    const waits = new Map(); // the first wait of a lane that has room for what it waits for
    const bar = (k, from, to, cls, i, name = "", label = "") => {
      if (to <= zero || to <= from) return;
      const w = Math.max(1.2, x(to) - x(from));
      spans.push({ i, left: x(from), right: x(from) + w, top: y(k), bottom: y(k) + high });
      items.push({ key: `${cls}${name}${i}`, batch: i, cls, on: i === selected, attrs: { x: x(from), y: y(k), width: one(w), height: one(high), rx: Math.min(2, w / 3) } });
      const said = [`waits for batch ${i}`, `waits for ${i}`, "waits"].find((text) => 6.6 * text.length + 12 < w);
      if (cls === "pl-wait" && said && high >= 14 && !waits.has(k)) waits.set(k, { key: `${k} ${said}`, label: said, cls: "pl-said", x: one(x(from) + w / 2), y: one(y(k) + high / 2 + 4) });
      if (label && high >= 11) (told[k] ??= []).push({ key: `${cls}${i}`, label, i, own: i === selected, w, x: one(x(from) + w / 2), y: one(y(k) + high / 2 + 4) });
    };
    rows.forEach(({ worker, load_start, load_end, ask, got, copy_start, copy_end, step_start, step_end }, i) => {
      const k = workers.indexOf(worker);
      const idle = i ? rows[i - 1].step_end : 0;
      const [data] = gaps(rows, i);
      if (worker !== MAIN && got > load_end && got > zero) items.push({ key: `ready${i}`, line: true, batch: i, cls: "pl-ready", attrs: { d: `M${x(load_end)} ${one(y(k) + high - 1)}H${x(got)}` } });
      bar(k, load_start, load_end, "pl-load", i, "", own || i < rounds || i === selected ? String(i) : "");
      if (!own) bar(at.wait, ask, got, "pl-wait", i, "main");
      if (data > 0) bar(at.step, idle, idle + data, "pl-wait", i, "step");
      bar(at.copy, copy_start, copy_end, "pl-copy", i);
      bar(at.step, step_start, step_end, "pl-step", i, "", i === selected ? String(i) : "");
    });
    const times = ticks(zero, end, Math.max(2, Math.floor(width / 190)));
    const said = axis(times.map(time));
    replace(
      rails,
      names.map((name, k) => [s("path", { d: `M${LEFT} ${one((k + 1) * lane)}H${width - 4}`, class: "pl-rail" }), s("text", { x: LEFT - 7, y: one(y(k) + high / 2 + 4), "text-anchor": "end", class: "pl-lane" }, name)]),
      times.map((t, k) => s("text", { x: x(t), y: height - 4, "text-anchor": x(t) > width - 30 ? "end" : x(t) < LEFT + 12 ? "start" : "middle", class: "pl-tick" }, said[k])),
    );
    drawBars(items);
    copies.style.visibility = names.includes("copy") ? "" : "hidden"; // it keeps its room
    ready.style.visibility = items.some(({ cls }) => cls === "pl-ready") ? "" : "hidden";
    drawTexts([...told.flatMap(numbered), ...waits.values()]);
    const row = rows[selected];
    const points = row && [
      [row.load_end, workers.indexOf(row.worker)],
      [row.got, own ? 0 : at.wait],
      ...(row.copy_end > row.copy_start ? [[row.copy_start, at.copy]] : []),
      [row.step_start, at.step],
    ];
    thread.setAttribute("d", points && row.got > zero ? points.map(([t, k], n) => `${n ? "L" : "M"}${x(t)} ${one(y(k) + high / 2)}`).join("") : "");
  }

  svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    const far = ({ left, right, top, bottom }) => Math.max(left - px, px - right, 0) + 2 * Math.max(top - py, py - bottom, 0);
    const nearest = spans.reduce((best, one_) => (best && far(best) <= far(one_) ? best : one_), null);
    if (nearest) pick(nearest.i);
  });
  svg.addEventListener("keydown", (event) => {
    const next = { ArrowRight: batch + 1, ArrowUp: batch + 1, ArrowLeft: batch - 1, ArrowDown: batch - 1, Home: 0, End: last }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    pick(Math.min(last, Math.max(0, next)));
  });
  return { node, draw };
}
