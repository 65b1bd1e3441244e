/**
 * The flame chart: lanes of events over time, which scroll where they are more than fit, and above them, always in sight, a
 * strip of the whole profile with the window in it, and an axis.
 */

import { h, replace, s, uid } from "../core/index.js";
import { axis as axisOf } from "../core/units.js";
import { busy, clamp, matcher, matches, nodeAt, PHASES, shares, zoomed } from "./model.js";
import { fitting, percent, time, titleOf } from "./words.js";

const ROWS = [21, 58]; // least and greatest height of a row
const TALL = 410; // a chart of few rows takes about that much
const HEAD = 20; // name of a lane
const STRIP = 16; // the whole profile
const AXIS = 20;
const THIN = 1.3; // narrower events of one phase are drawn as one
const CUT = 9; // characters: a name of which less fits is left out
const FINGER = 14; // pixels by which a finger may miss

/** Patterns of the phases: bars, plain, hatch, dots, plain and grey. */
function patterns(ids) {
  const pattern = (phase, size, ...marks) =>
    s("pattern", { id: ids[phase], class: `tr-p${phase}`, width: size, height: size, patternUnits: "userSpaceOnUse" }, s("rect", { width: size, height: size, class: "tr-soft" }), marks);
  return s(
    "defs",
    {},
    pattern(0, 6, s("path", { d: "M3 0V6", class: "tr-mark" })),
    pattern(1, 8),
    pattern(2, 7, s("path", { d: "M-1 8L8 -1M-1 1L1 -1M6 8L8 6", class: "tr-mark" })),
    pattern(3, 6, s("circle", { cx: 3, cy: 3, r: 1.1, class: "tr-dot" })),
    pattern(4, 8),
  );
}

/** The phases that occur, with the time that they take, their share, and how they look. */
export function phasesOf(data, ids) {
  const spent = shares(data);
  const all = spent.reduce((a, b) => a + b, 0);
  const swatch = (i) => s("svg", { width: 20, height: 13, "aria-hidden": "true", class: `tr-p${i}` }, s("rect", { x: 0.5, y: 0.5, width: 19, height: 12, fill: `url(#${ids[i]})`, class: "tr-ev" }));
  return PHASES.flatMap((name, i) => (spent[i] ? [{ name, i, spent: spent[i], part: spent[i] / all, time: time(spent[i]), share: percent(spent[i], all), swatch: () => swatch(i) }] : []));
}

/** What stands in the rows of a lane, at length and in brief. */
const rowsOf = ({ name, gpu }) => (!gpu ? ["operators and your marks; below each what it calls ↓", "↓ what it calls"] : name.endsWith("marks") ? ["record_function, on the GPU", "record_function"] : ["kernels and copies"]);

const NICE = [1, 2, 5];
function ticks({ start, end }, width) {
  const least = ((end - start) / width) * 140;
  let size = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  size *= NICE.find((n) => n * size >= least) ?? 10;
  const list = [];
  for (let at = Math.ceil(start / size) * size; at <= end; at += size) list.push(at);
  return list;
}

/**
 * @param {object} data what `decode` gave
 * @param {{pick: (node) => void, look: (view, soon: boolean) => void, key: (event) => void}} on
 */
export function chart(data, on) {
  const ids = PHASES.map(() => uid("tr"));
  const top = s("svg", { class: "tr-head", "aria-hidden": "true" });
  const svg = s("svg", { "aria-hidden": "true" });
  const tip = h("div", { class: "tr-tip", hidden: true, "aria-hidden": "true" });
  const node = h("div", { class: "tr-chart", tabindex: "0", role: "application", "aria-label": "Flame chart", "aria-roledescription": "flame chart" }, top, svg, tip);
  const tops = []; // of the lanes, from the top of the chart
  const depth = data.lanes.reduce((sum, lane) => sum + lane.depth, 0);
  const ROW = Math.min(ROWS[1], Math.max(ROWS[0], Math.floor((TALL - STRIP - AXIS - data.lanes.length * (HEAD + 8)) / depth)));
  let height = STRIP + AXIS + 6;
  for (const lane of data.lanes) {
    tops.push(height + HEAD);
    height += HEAD + lane.depth * ROW + 8;
  }
  let now = { start: 0, end: data.end };
  let width = 640;
  const strip = stripOf();

  /** The whole profile by phase, once. */
  function stripOf() {
    const bins = 400;
    const first = data.lanes.find((lane) => !lane.gpu) ?? data.lanes[0];
    const owners = new Int8Array(bins).fill(-1);
    const widest = new Float64Array(bins);
    for (const one of data.nodes) {
      if (data.lanes[one.lane] !== first || one.depth > 3 || (one.phase === 4 && one.depth > 0)) continue;
      const [a, b] = [(one.start / data.end) * bins, (one.end / data.end) * bins];
      for (let bin = Math.floor(a); bin < Math.min(bins, b); bin++) {
        const part = Math.min(bin + 1, b) - Math.max(bin, a);
        if (part > widest[bin] + 1e-9 || (owners[bin] === 4 && one.phase !== 4 && part > 0.2)) {
          widest[bin] = part;
          owners[bin] = one.phase;
        }
      }
    }
    const runs = [];
    for (let bin = 0; bin < bins; bin++) {
      const last = runs[runs.length - 1];
      if (last && last.phase === owners[bin]) last.to = (bin + 1) / bins;
      else runs.push({ phase: owners[bin], from: bin / bins, to: (bin + 1) / bins });
    }
    return runs.filter((run) => run.phase >= 0);
  }

  const x = (at) => ((at - now.start) / (now.end - now.start)) * width;
  const clip = (value) => Math.min(Math.max(value, -4), width + 4);

  function axis() {
    const marks = ticks(now, width);
    const ends = data.steps.length > 1 ? data.steps.map(([, end]) => end).filter((at) => at > now.start && at < now.end) : [];
    const said = axisOf(marks.map(time));
    const names = marks.map((at, k) => s("text", { x: Math.min(Math.max(x(at), 2), width - 2), y: STRIP + 15, class: "tr-tick", "text-anchor": x(at) < 24 ? "start" : x(at) > width - 30 ? "end" : "middle" }, said[k]));
    const grid = marks.map((at) => s("line", { x1: x(at), x2: x(at), y1: STRIP + AXIS, y2: height, class: "tr-grid" }));
    return [names, grid, ends.map((at) => s("line", { x1: x(at), x2: x(at), y1: STRIP + AXIS, y2: height, class: "tr-step" }))];
  }

  function overview() {
    const full = (at) => (at / data.end) * width;
    return [
      strip.map((run) => s("rect", { x: run.from * width, width: Math.max((run.to - run.from) * width, 0.6), y: 2, height: STRIP - 4, fill: `url(#${ids[run.phase]})` })),
      strip.map((run) => s("rect", { x: run.from * width, width: Math.max((run.to - run.from) * width, 0.6), y: STRIP - 5, height: 3, class: `tr-thin tr-p${run.phase}` })),
      s("rect", { x: 0, width: full(now.start), y: 0, height: STRIP, class: "tr-away" }),
      s("rect", { x: full(now.end), width: Math.max(0, width - full(now.end)), y: 0, height: STRIP, class: "tr-away" }),
      s("rect", { x: full(now.start) + 0.75, width: Math.max(full(now.end) - full(now.start) - 1.5, 2), y: 0.75, height: STRIP - 1.5, class: "tr-window" }),
    ];
  }

  const boxOf = (one) => {
    const from = clip(x(one.start));
    return { x: from, y: tops[one.lane] + one.depth * ROW, width: Math.max(clip(x(one.end)) - from, THIN), height: ROW - 2 };
  };

  function events({ hit, phase }) {
    const wanted = PHASES.indexOf(phase);
    const boxes = [];
    const labels = [];
    const thin = new Map();
    const flush = (run) =>
      boxes.push(s("rect", { x: run.from.toFixed(1), y: run.y, width: Math.max(run.to - run.from, 1).toFixed(1), height: ROW - 2, class: `tr-thin tr-p${run.phase}${run.dim ? " tr-dim" : ""}` }));
    for (const one of data.nodes) {
      if (one.end < now.start || one.start > now.end) continue;
      const box = boxOf(one);
      const chosen = hit ? matches(one, hit) : wanted < 0 || one.phase === wanted;
      if (box.width <= THIN) {
        const place = `${one.lane} ${one.depth}`;
        const run = thin.get(place);
        if (run && run.phase === one.phase && run.dim === !chosen && box.x - run.to < 0.8) run.to = Math.max(run.to, box.x + box.width);
        else {
          if (run) flush(run);
          thin.set(place, { from: box.x, to: box.x + box.width, y: box.y, phase: one.phase, dim: !chosen });
        }
        continue;
      }
      boxes.push(s("rect", { ...box, rx: box.width > 6 ? 2.5 : 0, fill: `url(#${ids[one.phase]})`, class: `tr-ev tr-p${one.phase}${chosen ? "" : " tr-dim"}${hit && chosen ? " tr-hit" : ""}` }));
      const seen = { from: Math.max(box.x, 0), to: Math.min(box.x + box.width, width) };
      const text = fitting(titleOf(one).replace(/^aten::|\*$/g, ""), Math.floor((seen.to - seen.from - 9) / 6.9), CUT);
      if (text) labels.push(s("text", { x: (seen.from + 5).toFixed(1), y: box.y + ROW / 2 + 3, class: `tr-name${chosen ? "" : " tr-dim"}` }, text));
    }
    thin.forEach(flush);
    return [boxes, labels];
  }

  function frame(one, cls) {
    if (!one || one.end < now.start || one.start > now.end) return null;
    const box = boxOf(one);
    return s("rect", { x: box.x - 1, y: box.y - 1, width: Math.max(box.width + 2, 5), height: box.height + 2, rx: 3, class: cls });
  }

  /** A lane's name, and where there is room for it what stands in its rows. */
  function headOf(lane, y) {
    const name = `${lane.name}: busy ${percent(busy(lane, now.start, now.end), 1)}`;
    const kind = rowsOf(lane).find((text) => 7.4 * name.length + 6.8 * text.length + 16 < width);
    return [s("text", { x: 4, y, class: "tr-lane" }, name), kind && s("text", { x: width - 4, y, class: "tr-kind", "text-anchor": "end" }, kind)];
  }

  function draw(state) {
    now = { start: state.start, end: state.end };
    width = Math.max(240, Math.floor(node.clientWidth) || 640);
    const size = (el, from, to) => {
      for (const [name, value] of Object.entries({ viewBox: `0 ${from} ${width} ${to - from}`, width, height: to - from })) el.setAttribute(name, value);
    };
    size(top, 0, STRIP + AXIS);
    size(svg, STRIP + AXIS, height);
    const hit = matcher(state.query, data.names);
    const chosen = data.nodes[state.selected];
    const [names, ...grid] = axis();
    replace(top, names, overview());
    replace(
      svg,
      patterns(ids),
      grid,
      data.lanes.map((lane, i) => headOf(lane, tops[i] - 6)),
      events({ hit, phase: state.phase }),
      chosen?.links.map((link) => frame(link.to, "tr-linked")),
      frame(chosen, "tr-on"),
    );
    const shown = now.end - now.start < data.end ? `${time(now.start)} to ${time(now.end)} of ${time(data.end)}` : `all ${time(data.end)}`;
    node.setAttribute("aria-label", `Flame chart, ${shown} in view. Arrow keys choose an event, Enter zooms to it, plus, minus and 0 zoom.`);
  }

  // Pointers: drag moves, two fingers or Ctrl and wheel zoom, a click picks

  const timeAt = (clientX) => now.start + ((clientX - svg.getBoundingClientRect().left) / width) * (now.end - now.start);
  const inStrip = (event) => event.clientY - top.getBoundingClientRect().top < STRIP + 4;
  /** The event under the pointer; for a finger also one beside it, above or below. */
  function under(event) {
    if (event.clientY < top.getBoundingClientRect().bottom) return null; // lanes that are scrolled away
    const finger = event.pointerType === "touch";
    const y = event.clientY - svg.getBoundingClientRect().top + STRIP + AXIS;
    const room = finger ? FINGER : 0;
    const lane = tops.findIndex((from, i) => y >= from - room && y < from + data.lanes[i].depth * ROW + room);
    if (lane < 0) return null;
    const row = (y - tops[lane]) / ROW;
    const slack = ((now.end - now.start) / width) * (finger ? FINGER : 3);
    const rows = finger ? [0, row % 1 < 0.5 ? -1 : 1, row % 1 < 0.5 ? 1 : -1] : [0];
    for (const by of rows) {
      const one = nodeAt(data, lane, Math.floor(row) + by, timeAt(event.clientX), slack);
      if (one) return one;
    }
    return null;
  }
  const pointers = new Map();
  let drag = null;
  node.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    pointers.set(event.pointerId, event.clientX);
    drag = { from: event.clientX, y: event.clientY, view: now, far: false, strip: inStrip(event) };
    if (pointers.size === 2) drag = { two: [...pointers.values()], view: now, far: true };
  });
  node.addEventListener("pointermove", (event) => {
    if (!pointers.has(event.pointerId)) return hover(event);
    pointers.set(event.pointerId, event.clientX);
    tip.hidden = true;
    if (!drag) return;
    if (drag.two && pointers.size === 2) {
      const [a, b] = drag.two;
      const [c, d] = [...pointers.values()];
      const factor = Math.max(Math.abs(a - b), 8) / Math.max(Math.abs(c - d), 8);
      const left = svg.getBoundingClientRect().left;
      const per = (drag.view.end - drag.view.start) / width;
      const held = drag.view.start + ((a + b) / 2 - left) * per;
      const span = (drag.view.end - drag.view.start) * factor;
      const start = held - (((c + d) / 2 - left) / width) * span;
      on.look(clamp(data, start, start + span), true);
      return;
    }
    if (drag.two) return;
    const by = event.clientX - drag.from;
    if (!drag.far && Math.abs(by) < 5) return;
    if (!drag.far) node.setPointerCapture?.(event.pointerId);
    drag.far = true;
    const per = (drag.strip ? -data.end : drag.view.end - drag.view.start) / width;
    const start = Math.min(Math.max(0, drag.view.start - by * per), data.end - (drag.view.end - drag.view.start));
    on.look(clamp(data, start, start + drag.view.end - drag.view.start), true);
  });
  const up = (event) => {
    pointers.delete(event.pointerId);
    const was = drag;
    if (!pointers.size) drag = null;
    if (!was || was.far || event.type !== "pointerup") return;
    if (was.strip) {
      const span = now.end - now.start;
      const middle = ((event.clientX - svg.getBoundingClientRect().left) / width) * data.end;
      on.look(clamp(data, middle - span / 2, middle + span / 2));
      return;
    }
    const one = under(event);
    if (one) on.pick(one);
  };
  node.addEventListener("pointerup", up);
  node.addEventListener("pointercancel", up);
  node.addEventListener("pointerleave", () => (tip.hidden = true));
  node.addEventListener(
    "wheel",
    (event) => {
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) ? event.deltaX : event.shiftKey ? event.deltaY : 0;
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        on.look(zoomed(data, now, Math.exp(Math.min(Math.max(event.deltaY, -60), 60) / 120), timeAt(event.clientX)), true);
      } else if (sideways) {
        event.preventDefault();
        const by = (sideways / width) * (now.end - now.start);
        on.look(clamp(data, now.start + by, now.end + by), true);
      }
    },
    { passive: false },
  );
  node.addEventListener("keydown", on.key);

  function hover(event) {
    const one = under(event);
    tip.hidden = !one || event.pointerType === "touch";
    node.style.cursor = one ? "pointer" : "";
    if (tip.hidden) return;
    tip.textContent = `${titleOf(one)}: ${time(one.total)}${one.self < one.total ? `, ${time(one.self)} self` : ""}`;
    const box = node.getBoundingClientRect();
    const left = event.clientX - box.left;
    tip.style.left = left < box.width / 2 ? `${left + 12}px` : "";
    tip.style.right = left < box.width / 2 ? "" : `${box.width - left + 12}px`;
    tip.style.top = `${Math.min(event.clientY - box.top + 14, node.clientHeight - 30) + node.scrollTop}px`;
  }

  /** Scroll the lanes so far that an event is in sight. */
  function reveal(one) {
    const { y } = boxOf(one);
    const room = node.clientHeight - STRIP - AXIS;
    const at = y - STRIP - AXIS - HEAD;
    if (at < node.scrollTop) node.scrollTop = Math.max(0, at);
    else if (at + HEAD + 2 * ROW > node.scrollTop + room) node.scrollTop = at + HEAD + 2 * ROW - room;
  }

  return { node, draw, reveal, ids, width: () => width };
}
