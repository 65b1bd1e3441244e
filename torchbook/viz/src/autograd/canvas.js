/** A graph on a canvas that can be moved and zoomed by mouse, touch and keyboard. */

import { animate, button, h, s, shake, still, toolbar, uid } from "../core/index.js";
import { curve, layout, MARGIN, neighbour } from "./layout.js";

const ARROWS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
const LETTER = 7.9; // the width of a letter of 13 px
const MOST = 2.5;
const GLIDE = 380; // milliseconds in which nodes, marks and the view move
const REST = 3000; // milliseconds without motion
export const READABLE = 12.01 / 13; // below this the text in the boxes, of 13 px, is too small; the canvas then follows what happens instead

export const CANVAS = `
.tbgraph{position:relative;border:1px solid var(--tb-line);border-radius:8px;background:var(--tb-fill);overflow:hidden;touch-action:pan-y;display:flex;flex-direction:column;--l:0;--r:0;--t:0;--b:0;--more:color-mix(in srgb,var(--tb-edge) 70%,transparent)}
.tbgraph::after{content:"";position:absolute;inset:0 0 var(--strip,0) 0;pointer-events:none;border-radius:inherit;box-shadow:inset calc(var(--l)*16px) 0 14px -13px var(--more),
inset calc(var(--r)*-16px) 0 14px -13px var(--more),inset 0 calc(var(--t)*16px) 14px -13px var(--more),inset 0 calc(var(--b)*-16px) 14px -13px var(--more)}
.tbgraph>svg{display:block;width:100%;flex:1 1 0;min-height:0;max-width:none;cursor:grab;user-select:none;-webkit-user-select:none}
.tbgraph>svg:active{cursor:grabbing}
.tbgraph .tbgraph-zoom{flex:none;flex-wrap:nowrap;padding:2px;border-top:1px solid var(--tb-line);background:var(--tb-bg)}
.tbgraph .tbgraph-zoom .tbviz-button{padding:.1rem .45rem}
.tbgraph-edge{fill:none;stroke:var(--tb-edge);stroke-width:1.5}
.tbgraph-tip{fill:var(--tb-edge)}
.tbgraph-node{outline:none}
.tbgraph .tbgraph-node{cursor:pointer}
.tbgraph-box{fill:var(--tb-bg);stroke:var(--tb-fg);stroke-width:1.4}
.tbgraph-node text{fill:var(--tb-fg);font-size:13px;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;text-anchor:middle}
.tbgraph-ring{fill:none;stroke:none;stroke-width:3}
.tbgraph-node:focus-visible .tbgraph-ring{stroke:var(--tb-accent)}
.tbgraph-node[aria-pressed=true] .tbgraph-box{stroke-width:3.2}
.tbgraph-label{font-size:13px;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:var(--tb-warm);paint-order:stroke;
stroke:var(--tb-fill);stroke-width:4px;stroke-linejoin:round;text-anchor:start;pointer-events:none;font-weight:600}
.tbgraph-above{text-anchor:middle}
.tbgraph-left{text-anchor:end}
.tbgraph-mark{pointer-events:none;stroke:var(--tb-fill);stroke-width:1.5}
.tbgraph-mark-gradient{fill:var(--tb-warm)}
.tbgraph-mark-value{fill:var(--tb-accent)}
@media (prefers-reduced-motion:no-preference){.tbgraph-box{transition:fill .3s,stroke .3s}}
@media (forced-colors:active){.tbgraph-edge{stroke:CanvasText}}
`;

/**
 * @param {{label: string, boxes: Array<{width, height, draw: (group: SVGGElement, box: object) => object}>,
 *   edges: Array<{from: number, to: number}>, onselect: (index: number) => void, across?: boolean, far?: number, near?: number,
 *   placed?: object, defer: Function, onkey?: (event: KeyboardEvent, index: number) => boolean}} options `draw` puts a box into
 *   its group, and gives the parts that change; `placed` is a layout that is known already; `head` are pixels at the top
 *   in which something else stands; `onkey` says whether it took a key.
 * @returns {object} `el`, `nodes` (groups, with `parts`), `edges` ({path, tip, text, points}), `start()` once it is on the page,
 *   `show(index)` brings a node into view, `fit()`, `send(indices, look)` lets marks travel, `cover(sides)`, `remove()`
 */
export function canvas({ label, boxes, edges, onselect, across = false, far, near, head = 0, placed = layout(boxes, edges, { across, far, near }), defer, onkey }) {
  const wires = s("g", {});
  const crowd = s("g", {});
  const notes = s("g", {});
  const marks = s("g", { "aria-hidden": "true" });
  const scene = s("g", {}, wires, crowd, notes, marks);
  const svg = s("svg", { role: "presentation" }, scene);
  const hint = uid();
  const el = h("div", { class: "tbgraph", tabindex: "0", role: "group", "aria-label": label, "aria-describedby": hint },
    svg, h("span", { id: hint, hidden: true }, "Arrow keys move the picture, plus and minus zoom, 0 shows all. Tab goes to the nodes."));

  const lines = edges.map((edge, i) => line(placed.edges[i]));
  const nodes = boxes.map((box, i) => node(box, placed.boxes[i], i));
  wires.append(...lines.flatMap(({ path, tip }) => [path, tip]));
  crowd.append(...nodes);
  notes.append(...lines.map(({ text }) => text));

  function line(points) {
    const path = s("path", { class: "tbgraph-edge", d: curve(points) });
    const tip = s("path", { class: "tbgraph-tip" });
    const [first, last] = [points[0], points.at(-1)];
    const level = !across && Math.abs(last.x - first.x) > 2 * Math.abs(last.y - first.y);
    const middle = level ? halfway(points) : points[Math.floor(points.length / 2)];
    const left = points[0].x < points[points.length - 1].x - 4; // the number stands on the side to which the edge leads
    const beside = { class: `tbgraph-label ${left ? "tbgraph-left" : ""}`, x: middle.x + (left ? -7 : 7), y: middle.y + 4 };
    const text = s("text", across || level ? { class: "tbgraph-label tbgraph-above", x: middle.x, y: middle.y - (level ? 4 : 6) } : beside);
    const parts = { path, tip, text, points };
    aim(parts, false);
    return parts;
  }

  function node(box, at, index) {
    const inside = s("g", {});
    const group = s("g", {
      class: "tbgraph-node", role: "button", tabindex: index ? "-1" : "0", "aria-pressed": "false",
      transform: `translate(${at.x} ${at.y})`,
      onclick: () => { focused(index); onselect(index); },
      onkeydown: (event) => keys(event, index),
      onfocus: () => { focused(index); show(index); },
    }, inside);
    const [w, t] = [at.width, at.height];
    inside.append(s("rect", { class: "tbgraph-ring", x: -w / 2 - 4, y: -t / 2 - 4, width: w + 8, height: t + 8, rx: 10 }));
    group.parts = box.draw(inside, { width: w, height: t });
    /** Something is refused here, or not any more: the box shakes when it begins. */
    group.refuse = (yes) => {
      if (yes && !group.refused) shake(inside);
      group.refused = yes;
    };
    return group;
  }

  const focused = (index) => nodes.forEach((group, i) => group.setAttribute("tabindex", i === index ? "0" : "-1"));

  function keys(event, index) {
    const own = onkey?.(event, index);
    if (!own && (event.key === "Enter" || event.key === " ")) {
      onselect(index);
    } else if (!own && event.key in ARROWS && !event.shiftKey) {
      const to = neighbour(placed.boxes, index, ARROWS[event.key]);
      if (to !== undefined) nodes[to].focus();
    } else if (!own) return;
    event.preventDefault();
    event.stopPropagation();
  }

  // The view: what of the scene is in the frame, at which size. It glides where the figure moves it, and follows a hand at once.

  let view = { x: 0, y: 0, k: 1 };
  let goal = view; // where it is going
  let gliding = { cancel() {} };
  let touched = false;
  let shown;
  let covered = { right: 0, bottom: 0 }; // by what lies on top of the canvas
  const strip = () => (zoomers.hidden ? 0 : zoomers.offsetHeight); // of the zoom buttons, below the picture
  const free = (below) => ({ width: (el.clientWidth || 600) - covered.right, height: (el.clientHeight || 380) - head - Math.max(below, covered.bottom) });
  const room = () => free(0);
  const size = () => free(strip());
  const scale = ({ width, height }) => Math.min(width / placed.width, height / placed.height, 1.15);
  const readable = () => scale(room()) >= READABLE;
  const whole = () => scale(size());
  /** Zoom buttons are there where not all is in sight at a readable size, or where somebody moved the picture. */
  const tools = () => { zoomers.hidden = !touched && readable(); el.style.setProperty("--strip", `${strip()}px`); };
  const least = () => Math.min(whole(), READABLE) * 0.8;

  // While it moves, the scene is a layer of its own, painted once and then moved: painting sixty nodes takes longer than
  // a frame. A layer is not painted anew at another scale, so it ends where that changes, and after a rest.
  let resting;
  const settled = () => { clearTimeout(resting); scene.style.willChange = ""; };
  const lift = () => { clearTimeout(resting); scene.style.willChange = "transform"; resting = setTimeout(settled, REST); };

  function draw(next) {
    if (next.k !== view.k) settled();
    view = next;
    scene.setAttribute("transform", `translate(${view.x.toFixed(2)} ${(view.y + head).toFixed(2)}) scale(${view.k.toFixed(4)})`);
  }
  /** A shade at each side beyond which there is more. */
  function hintAtMore({ x, y, k }) {
    const { width, height } = size();
    const edge = MARGIN * k;
    const beyond = { l: x + edge < -1, r: x + placed.width * k - edge > width + 1, t: y + edge < -1, b: y + placed.height * k - edge > height + 1 };
    for (const [side, yes] of Object.entries(beyond)) el.style.setProperty(`--${side}`, yes ? "1" : "0");
  }
  function place(next, slowly = false) {
    gliding.cancel();
    goal = next;
    hintAtMore(goal);
    const from = view;
    if (!slowly || !known || still()) return draw(goal);
    if (Math.hypot(goal.x - from.x, goal.y - from.y) < 1 && goal.k === from.k) return draw(goal);
    if (goal.k === from.k) lift();
    gliding = animate({
      ms: GLIDE,
      step: (t) => {
        const part = ease(t);
        const mix = (name) => from[name] + (goal[name] - from[name]) * part;
        draw(t === 1 ? goal : { x: mix("x"), y: mix("y"), k: mix("k") });
      },
    });
  }
  const centred = (k) => { const { width, height } = size(); return { k, x: (width - placed.width * k) / 2, y: (height - placed.height * k) / 2 }; };
  const fit = (slowly = true) => { touched = false; tools(); place(centred(whole()), slowly); };
  /** All of it where that is readable, else its beginning. */
  const begin = () => {
    fit(false);
    if (readable()) return;
    const top = placed.boxes.reduce((best, box) => (box.y < best.y ? box : best));
    const { width, height } = size();
    const within = (at, space, long) => (long * READABLE <= space ? (space - long * READABLE) / 2 : Math.max(space - long * READABLE, Math.min(0, at)));
    place({
      k: READABLE,
      x: across ? within(0, width, placed.width) : within(width / 2 - top.x * READABLE, width, placed.width),
      y: within(0, height, placed.height),
    });
  };
  const zoom = (by, at) => {
    const { width, height } = size();
    const [x, y] = at ?? [width / 2, height / 2];
    const k = Math.min(MOST, Math.max(least(), goal.k * by));
    touched = true;
    tools();
    place({ k, x: x - ((x - goal.x) * k) / goal.k, y: y - ((y - goal.y) * k) / goal.k }, !at);
  };
  const pan = (dx, dy, slowly = false) => { touched = true; tools(); place({ ...goal, x: goal.x + dx, y: goal.y + dy }, slowly); };

  /** Bring a node into view at a readable size, moving as little as possible. */
  function show(index) {
    shown = index;
    const box = placed.boxes[index];
    const { width, height } = size();
    let next = goal;
    if (!touched && goal.k < READABLE * 0.99) next = { k: READABLE, x: width / 2 - box.x * READABLE, y: height / 2 - box.y * READABLE };
    const edge = goal.k < whole() * 1.01 ? 8 : Math.min(width, height) * 0.22; // leave its neighbours in view
    const low = (p, half, at) => p * next.k + at - half * next.k;
    const left = low(box.x, box.width / 2, next.x);
    const right = left + box.width * next.k;
    const top = low(box.y, box.height / 2, next.y);
    const bottom = top + box.height * next.k;
    const shift = (from, to, space) => (from < edge ? edge - from : to > space - edge ? space - edge - to : 0);
    place({ ...next, x: next.x + shift(left, right, width), y: next.y + shift(top, bottom, height) }, true);
  }

  /** Something lies on the canvas at the right or at the bottom, that many pixels of it. */
  function cover(sides) {
    if (sides.right === covered.right && sides.bottom === covered.bottom) return;
    covered = sides;
    if (touched) return;
    tools();
    if (readable()) fit();
    else if (shown !== undefined) show(shown);
    else begin();
  }

  /** Is there room for a number at an edge, beside boxes and what is taken? Then that is taken too. */
  function keeps(index, number, taken) {
    const { text } = lines[index];
    const [x, y] = ["x", "y"].map((name) => Number(text.getAttribute(name)));
    const long = LETTER * number.length;
    const left = x - long * (text.classList.contains("tbgraph-above") ? 0.5 : text.classList.contains("tbgraph-left") ? 1 : 0);
    const own = { left, right: left + long, top: y - 12, bottom: y + 4 };
    const sides = placed.boxes.map((box) => ({ left: box.x - box.width / 2, right: box.x + box.width / 2, top: box.y - box.height / 2, bottom: box.y + box.height / 2 }));
    const on = (other) => Math.min(own.right, other.right) > Math.max(own.left, other.left) && Math.min(own.bottom, other.bottom) - Math.max(own.top, other.top) > 2;
    if ([...sides, ...taken].some(on)) return false;
    taken.push(own);
    return true;
  }

  // Marks that travel along edges, from where something is to where it goes

  let travelling = { cancel() {} };
  let arrive = () => {};
  /**
   * @param {number[]} along numbers of edges
   * @param {{backward?: boolean, look: string}} how `look` is "gradient" or "value"
   */
  function send(along, { backward = false, look }) {
    travelling.cancel();
    arrive();
    if (!along.length || still()) return;
    const going = along.map((i) => {
      const { path, text } = lines[i];
      const mark = s("circle", { class: `tbgraph-mark tbgraph-mark-${look}`, r: 7 });
      text.style.opacity = "0"; // it says what has arrived
      return { path, text, mark, long: path.getTotalLength() };
    });
    const move = (t) => going.forEach(({ path, mark, long }) => {
      const { x, y } = path.getPointAtLength((backward ? 1 - t : t) * long);
      mark.setAttribute("cx", x.toFixed(1));
      mark.setAttribute("cy", y.toFixed(1));
    });
    move(0);
    lift();
    marks.append(...going.map(({ mark }) => mark));
    arrive = () => {
      going.forEach(({ mark, text }) => { mark.remove(); text.style.opacity = ""; });
      arrive = () => {};
    };
    travelling = animate({ ms: GLIDE, step: (t) => move(ease(t)), done: () => arrive() });
  }

  el.addEventListener("keydown", (event) => {
    const step = 48;
    if (event.target.closest(".tbgraph-zoom")) return;
    if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-" || event.key === "_") zoom(0.8);
    else if (event.key === "0") fit();
    else if (event.key in ARROWS) pan(-ARROWS[event.key][0] * step, -ARROWS[event.key][1] * step, true);
    else return;
    event.preventDefault();
  });
  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // the page scrolls
    event.preventDefault();
    const frame = el.getBoundingClientRect();
    zoom(Math.exp(-event.deltaY * 0.002), [event.clientX - frame.left, event.clientY - frame.top - head]);
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
    if (apart(was) > 1) zoom(apart(now) / apart(was), [(now[0] + other[0]) / 2 - frame.left, (now[1] + other[1]) / 2 - frame.top - head]);
  };
  const up = (event) => down.delete(event.pointerId);
  svg.addEventListener("pointerup", up);
  svg.addEventListener("pointercancel", up);
  svg.addEventListener("click", (event) => { if (moved > 6) { event.stopPropagation(); moved = 0; } }, { capture: true });

  const zoomers = toolbar("Zoom", [
    button("+", () => zoom(1.25), { name: "Zoom in", title: "Zoom in (+)" }),
    button("−", () => zoom(0.8), { name: "Zoom out", title: "Zoom out (−)" }),
    button("All", () => fit(), { name: "Show all", title: "Show all (0)" }),
  ]);
  zoomers.classList.add("tbgraph-zoom");
  el.append(zoomers);

  let known = 0;
  const settle = () => {
    known = el.clientWidth;
    if (touched) tools();
    else begin();
    if (shown !== undefined) show(shown);
  };
  const watcher = new ResizeObserver(() => { if (el.clientWidth !== known) settle(); });
  watcher.observe(el);
  const stop = () => { watcher.disconnect(); gliding.cancel(); travelling.cancel(); coming.cancel(); settled(); };
  defer(stop);

  /** Where each node is on the canvas, in pixels. */
  const spots = () => placed.boxes.map(({ x, y }) => ({ x: x * view.k + view.x, y: y * view.k + view.y }));
  let coming = { cancel() {} };
  /**
   * Draws it, once it is on the page. Nodes that were there before come from where they were; the others appear.
   * @param {Array<{x: number, y: number}|undefined>} [before] where each node was on the canvas, in pixels
   */
  function start(before) {
    if (!el.clientWidth) return;
    settle();
    if (!before?.some(Boolean) || still()) return;
    const from = before.map((at) => at && { x: (at.x - view.x) / view.k, y: (at.y - view.y) / view.k });
    coming = animate({
      ms: GLIDE,
      step(t) {
        const part = ease(t);
        nodes.forEach((group, i) => {
          const to = placed.boxes[i];
          if (!from[i]) group.style.opacity = t < 1 ? part : "";
          else group.setAttribute("transform", `translate(${from[i].x + (to.x - from[i].x) * part} ${from[i].y + (to.y - from[i].y) * part})`);
        });
        for (const layer of [wires, notes]) layer.style.opacity = t < 1 ? part * part : "";
      },
    });
  }
  const remove = () => { stop(); el.remove(); };
  return { el, nodes, edges: lines, show, fit, begin, zoom, placed, view: () => view, readable, start, spots, send, keeps, cover, remove };
}

/** The middle of a smooth path through points. */
function halfway(points) {
  const middle = points[Math.floor(points.length / 2)];
  if (points.length !== 3) return middle;
  const [from, , to] = points;
  return { x: (from.x + 2 * middle.x + to.x) / 4, y: (from.y + 2 * middle.y + to.y) / 4 };
}

/** Slow at both ends. */
const ease = (t) => (t < 0.5 ? 2 * t * t : 1 - 2 * (1 - t) ** 2);

/** Point the arrowhead of an edge at its end (forward) or at its start (backward). */
export function aim({ tip, points }, backward) {
  const ends = backward ? [points[1], points[0]] : [points[points.length - 2], points[points.length - 1]];
  const [{ x: x0, y: y0 }, { x, y }] = ends;
  const long = Math.hypot(x - x0, y - y0) || 1;
  const [ux, uy] = [(x - x0) / long, (y - y0) / long];
  const [bx, by] = [x - 9 * ux, y - 9 * uy];
  tip.setAttribute("d", `M${x.toFixed(1)} ${y.toFixed(1)}L${(bx - 4.5 * uy).toFixed(1)} ${(by + 4.5 * ux).toFixed(1)}L${(bx + 4.5 * uy).toFixed(1)} ${(by - 4.5 * ux).toFixed(1)}Z`);
}
