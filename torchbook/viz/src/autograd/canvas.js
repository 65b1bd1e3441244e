/** A graph on a canvas that can be moved and zoomed by mouse, touch and keyboard. */

import { button, h, s, toolbar, uid } from "../core/index.js";
import { curve, layout, neighbour } from "./layout.js";

const ARROWS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
const MOST = 2.5;
const STRIP = 40; // kept free for the zoom buttons
const READABLE = 0.93; // below this the text in the boxes is too small; the canvas then follows what happens instead

export const CANVAS = `
.tbgraph{position:relative;border:1px solid var(--tb-line);border-radius:8px;background:var(--tb-fill);overflow:hidden;touch-action:pan-y}
.tbgraph svg{display:block;width:100%;height:100%;max-width:none;cursor:grab;user-select:none;-webkit-user-select:none}
.tbgraph svg:active{cursor:grabbing}
.tbgraph .tbgraph-zoom{position:absolute;right:.45rem;bottom:.45rem;flex-wrap:nowrap}
.tbgraph .tbgraph-zoom .tbviz-button{padding:.1rem .45rem}
.tbgraph-edge{fill:none;stroke:var(--tb-edge);stroke-width:1.5}
.tbgraph-tip{fill:var(--tb-edge)}
.tbgraph-node{cursor:pointer;outline:none}
.tbgraph-box{fill:var(--tb-bg);stroke:var(--tb-fg);stroke-width:1.4}
.tbgraph-node text{fill:var(--tb-fg);font-size:13px;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;text-anchor:middle}
.tbgraph-ring{fill:none;stroke:none;stroke-width:3}
.tbgraph-node:focus-visible .tbgraph-ring{stroke:var(--tb-accent)}
.tbgraph-node[aria-pressed=true] .tbgraph-box{stroke-width:3.2}
.tbgraph-label{font-size:13px;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:var(--tb-warm);paint-order:stroke;
stroke:var(--tb-fill);stroke-width:4px;stroke-linejoin:round;text-anchor:start;pointer-events:none;font-weight:600}
.tbgraph-above{text-anchor:middle}
@media (forced-colors:active){.tbgraph-edge{stroke:CanvasText}}
`;

/**
 * @param {{label: string, boxes: Array<{width, height, draw: (group: SVGGElement, box: object) => void}>,
 *   edges: Array<{from: number, to: number}>, onselect: (index: number) => void, across?: boolean, far?: number, defer: Function}} options
 * @returns {object} `el`, `nodes` (groups), `edges` ({path, tip, label}), `show(index)` brings a node into view, `fit()`
 */
export function canvas({ label, boxes, edges, onselect, across = false, far, near, defer, height }) {
  const placed = layout(boxes, edges, { across, far, near });
  const scene = s("g", {});
  const svg = s("svg", { role: "presentation" }, scene);
  const hint = uid();
  const el = h("div", { class: "tbgraph", tabindex: "0", role: "group", "aria-label": label, "aria-describedby": hint, style: { height: height ?? "" } },
    svg, h("span", { id: hint, hidden: true }, "Arrow keys move the picture, plus and minus zoom, 0 shows all. Tab goes to the nodes."));

  const lines = edges.map((edge, i) => line(placed.edges[i]));
  const nodes = boxes.map((box, i) => node(box, placed.boxes[i], i));
  scene.append(...lines.flatMap(({ path, tip }) => [path, tip]), ...nodes, ...lines.map(({ text }) => text));

  function line(points) {
    const path = s("path", { class: "tbgraph-edge", d: curve(points) });
    const tip = s("path", { class: "tbgraph-tip" });
    const middle = points[Math.floor(points.length / 2)];
    const text = s("text", across ? { class: "tbgraph-label tbgraph-above", x: middle.x, y: middle.y - 6 } : { class: "tbgraph-label", x: middle.x + 6, y: middle.y + 4 });
    const parts = { path, tip, text, points };
    aim(parts, false);
    return parts;
  }

  function node(box, at, index) {
    const group = s("g", {
      class: "tbgraph-node", role: "button", tabindex: index ? "-1" : "0", "aria-pressed": "false",
      transform: `translate(${at.x} ${at.y})`,
      onclick: () => { focused(index); onselect(index); },
      onkeydown: (event) => keys(event, index),
      onfocus: () => { focused(index); show(index); },
    });
    const [w, t] = [at.width, at.height];
    group.append(s("rect", { class: "tbgraph-ring", x: -w / 2 - 4, y: -t / 2 - 4, width: w + 8, height: t + 8, rx: 10 }));
    box.draw(group, { width: w, height: t });
    return group;
  }

  const focused = (index) => nodes.forEach((group, i) => group.setAttribute("tabindex", i === index ? "0" : "-1"));

  function keys(event, index) {
    if (event.key === "Enter" || event.key === " ") {
      onselect(index);
    } else if (event.key in ARROWS && !event.shiftKey) {
      const to = neighbour(placed.boxes, index, ARROWS[event.key]);
      if (to !== undefined) nodes[to].focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // The view: what of the scene is in the frame, at which size

  let view = { x: 0, y: 0, k: 1 };
  let touched = false;
  let shown;
  const size = () => ({ width: el.clientWidth || 600, height: (el.clientHeight || 380) - STRIP });
  const place = (next) => {
    view = next;
    scene.setAttribute("transform", `translate(${view.x.toFixed(2)} ${view.y.toFixed(2)}) scale(${view.k.toFixed(4)})`);
  };
  const whole = () => { const { width, height: t } = size(); return Math.min(width / placed.width, t / placed.height, 1.15); };
  const least = () => Math.min(whole(), READABLE) * 0.8;
  const centred = (k) => { const { width, height: t } = size(); return { k, x: (width - placed.width * k) / 2, y: (t - placed.height * k) / 2 }; };
  const fit = () => { touched = false; place(centred(whole())); };
  /** All of it where that is readable, else its beginning. */
  const begin = () => {
    fit();
    if (view.k >= READABLE) return;
    const along = across ? "x" : "y";
    const top = placed.boxes.reduce((best, box) => (box[along] < best[along] ? box : best));
    const { width, height: t } = size();
    const within = (at, room, long) => (long * READABLE <= room ? (room - long * READABLE) / 2 : Math.max(room - long * READABLE, Math.min(0, at)));
    place({
      k: READABLE,
      x: across ? 8 : within(width / 2 - top.x * READABLE, width, placed.width),
      y: across ? within(t / 2 - top.y * READABLE, t, placed.height) : 8,
    });
  };
  const zoom = (by, at) => {
    const { width, height: t } = size();
    const [x, y] = at ?? [width / 2, t / 2];
    const k = Math.min(MOST, Math.max(least(), view.k * by));
    touched = true;
    place({ k, x: x - ((x - view.x) * k) / view.k, y: y - ((y - view.y) * k) / view.k });
  };
  const pan = (dx, dy) => { touched = true; place({ ...view, x: view.x + dx, y: view.y + dy }); };

  /** Bring a node into view at a readable size, moving as little as possible. */
  function show(index) {
    shown = index;
    const box = placed.boxes[index];
    const { width, height: t } = size();
    let next = view;
    if (!touched && view.k < READABLE * 0.99) next = { k: READABLE, x: width / 2 - box.x * READABLE, y: t / 2 - box.y * READABLE };
    const edge = view.k < whole() * 1.01 ? 8 : Math.min(width, t) * 0.22; // leave its neighbours in view
    const low = (p, half, at) => p * next.k + at - half * next.k;
    const left = low(box.x, box.width / 2, next.x);
    const right = left + box.width * next.k;
    const top = low(box.y, box.height / 2, next.y);
    const bottom = top + box.height * next.k;
    const shift = (from, to, room) => (from < edge ? edge - from : to > room - edge ? room - edge - to : 0);
    place({ ...next, x: next.x + shift(left, right, width), y: next.y + shift(top, bottom, t) });
  }

  el.addEventListener("keydown", (event) => {
    const step = 48;
    if (event.target.closest(".tbgraph-zoom")) return;
    if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-" || event.key === "_") zoom(0.8);
    else if (event.key === "0") fit();
    else if (event.key in ARROWS) pan(-ARROWS[event.key][0] * step, -ARROWS[event.key][1] * step);
    else return;
    event.preventDefault();
  });
  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
    event.preventDefault();
    const frame = el.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY * 0.002), [event.clientX - frame.left, event.clientY - frame.top]);
  }, { passive: false });

  const down = new Map();
  let moved = 0;
  svg.addEventListener("pointerdown", (event) => {
    if (!down.size) moved = 0;
    down.set(event.pointerId, [event.clientX, event.clientY]);
  });
  svg.addEventListener("pointermove", (event) => {
    const was = down.get(event.pointerId);
    if (!was) return;
    const now = [event.clientX, event.clientY];
    moved += Math.abs(now[0] - was[0]) + Math.abs(now[1] - was[1]);
    if (moved > 6 && !svg.hasPointerCapture(event.pointerId)) svg.setPointerCapture(event.pointerId);
    if (moved > 6 && down.size === 1) pan(now[0] - was[0], now[1] - was[1]);
    if (down.size === 2) pinch(event.pointerId, was, now);
    down.set(event.pointerId, now);
  });
  const pinch = (id, was, now) => {
    const other = [...down].find(([key]) => key !== id)[1];
    const apart = ([x, y]) => Math.hypot(x - other[0], y - other[1]);
    const frame = el.getBoundingClientRect();
    pan((now[0] - was[0]) / 2, (now[1] - was[1]) / 2);
    if (apart(was) > 1) zoom(apart(now) / apart(was), [(now[0] + other[0]) / 2 - frame.left, (now[1] + other[1]) / 2 - frame.top]);
  };
  const up = (event) => down.delete(event.pointerId);
  svg.addEventListener("pointerup", up);
  svg.addEventListener("pointercancel", up);
  svg.addEventListener("click", (event) => { if (moved > 6) { event.stopPropagation(); moved = 0; } }, { capture: true });

  const zoomers = toolbar("Zoom", [
    button("+", () => zoom(1.25), { name: "Zoom in", title: "Zoom in (+)" }),
    button("−", () => zoom(0.8), { name: "Zoom out", title: "Zoom out (−)" }),
    button("All", fit, { name: "Show all", title: "Show all (0)" }),
  ]);
  zoomers.classList.add("tbgraph-zoom");
  el.append(zoomers);

  let known = 0;
  const watcher = new ResizeObserver(() => {
    if (el.clientWidth === known) return;
    known = el.clientWidth;
    if (!touched) begin();
    if (shown !== undefined) show(shown);
  });
  watcher.observe(el);
  defer(() => watcher.disconnect());
  return { el, nodes, edges: lines, show, fit, begin, zoom, placed, view: () => view, readable: () => whole() >= READABLE };
}

/** Point the arrowhead of an edge at its end (forward) or at its start (backward). */
export function aim({ tip, points }, backward) {
  const ends = backward ? [points[1], points[0]] : [points[points.length - 2], points[points.length - 1]];
  const [{ x: x0, y: y0 }, { x, y }] = ends;
  const long = Math.hypot(x - x0, y - y0) || 1;
  const [ux, uy] = [(x - x0) / long, (y - y0) / long];
  const [bx, by] = [x - 9 * ux, y - 9 * uy];
  tip.setAttribute("d", `M${x.toFixed(1)} ${y.toFixed(1)}L${(bx - 4.5 * uy).toFixed(1)} ${(by + 4.5 * ux).toFixed(1)}L${(bx + 4.5 * uy).toFixed(1)} ${(by - 4.5 * ux).toFixed(1)}Z`);
}
