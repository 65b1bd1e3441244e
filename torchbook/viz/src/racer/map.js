/** The surface from above, the ways of the racers on it, and the start, which can be dragged. */

import { grip, h, replace, s } from "../core/index.js";
import { heights, levels, segments } from "./contour.js";
import { DASHES, head } from "./looks.js";
import { POINTS, SURFACES } from "./model.js";
import { show } from "./words.js";

const SHADE = [60, 130, 220];
const DOTS = 10; // steps from dot to dot
const EDGE = 38; // pixels to the left of the map, for its numbers; as in the style
const TICKS = 4; // numbers along a side, about
const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const one = (v) => Math.round(v * 10) / 10;

/** The contour lines of a surface, each as a path of a picture of size `width` × `height`. */
function lines(surface, grid, width, height) {
  return levels(surface).map((level) =>
    segments(grid, level)
      .map(([a, b, c, d]) => `M${one(a * width)} ${one(b * height)}L${one(c * width)} ${one(d * height)}`)
      .join(""),
  );
}

/** The higher the loss, the stronger the tint. */
function tint(canvas, surface) {
  const [columns, rows] = [150, 100];
  const grid = heights(surface, columns - 1, rows - 1);
  const all = levels(surface);
  const image = new ImageData(columns, rows);
  grid.flat().forEach((loss, i) => {
    const band = all.filter((level) => loss > level).length / all.length;
    image.data.set([...SHADE, Math.round(82 * band)], 4 * i);
  });
  canvas.width = columns;
  canvas.height = rows;
  canvas.getContext("2d").putImageData(image, 0, 0);
}

/**
 * @param {{move: (at: number[]) => void}} options
 * @returns {{node: Element, draw: (now: object) => void}}
 */
export function landscape({ move }) {
  const shade = h("canvas", { class: "rx-shade", "aria-hidden": "true" });
  const ground = s("g", { "aria-hidden": "true" });
  const race = s("g", { "aria-hidden": "true" });
  const ends = s("g", { "aria-hidden": "true" }); // the minima, above the ways that lead to them
  const handle = s(
    "g",
    { class: "rx-start", tabindex: 0, role: "slider", "aria-label": "Start", "aria-describedby": null },
  );
  grip(handle);
  const svg = s("svg", { class: "rx-svg", role: "group" }, ground, race, ends, handle);
  const axes = s("svg", { class: "rx-axes", "aria-hidden": "true" }); // beside the map, so that no way runs through a number
  const node = h("div", { class: "rx-frame" }, h("div", { class: "rx-map" }, shade, svg), axes);
  let now;
  let grid;
  let drawn = "";

  const surface = () => SURFACES[now.surface];
  const size = () => [svg.clientWidth || 600, svg.clientHeight || 400];
  function place([x, y]) {
    const [left, right, bottom, top] = surface().view;
    const [width, height] = size();
    const far = (v) => Math.min(1e5, Math.max(-1e5, v));
    return [one(far(((x - left) / (right - left)) * width)), one(far(((top - y) / (top - bottom)) * height))];
  }
  function under({ clientX, clientY }) {
    const box = svg.getBoundingClientRect();
    const [left, right, bottom, top] = surface().view;
    return [left + ((right - left) * (clientX - box.left)) / box.width, top - ((top - bottom) * (clientY - box.top)) / box.height];
  }

  function drawGround() {
    const [width, height] = size();
    const key = `${now.surface} ${width} ${height}`;
    if (key === drawn) return;
    if (!drawn.startsWith(`${now.surface} `)) {
      grid = heights(surface());
      tint(shade, surface());
    }
    drawn = key;
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const [left, right, bottom, top] = surface().view;
    const ticks = (from, to) => {
      const every = Math.ceil((to - from) / TICKS);
      return Array.from({ length: Math.floor(to) - Math.ceil(from) + 1 }, (_, k) => Math.ceil(from) + k).filter((v) => v > from && v < to && v % every === 0);
    };
    const [across, up] = [ticks(left, right), ticks(bottom, top)];
    const [x0, x1] = across.slice(-2).map((x) => place([x, 0])[0]); // the name of the axis stands between these
    const text = (x, y, said, attrs) => s("text", { class: "rx-tick", x, y, "text-anchor": "middle", ...attrs }, said);
    replace(
      axes,
      across.map((x) => text(EDGE + place([x, 0])[0], height + 15, show(x))),
      up.map((y) => text(EDGE - 6, place([0, y])[1] + 4, show(y), { "text-anchor": "end" })),
      text(EDGE + (x0 + x1) / 2, height + 15, x1 - x0 > 100 ? "parameter x" : "x"),
      text(0, 0, "parameter y", { transform: `translate(12 ${height / 2}) rotate(-90)` }),
    );
    replace(
      ground,
      lines(surface(), grid, width, height).map((d) => s("path", { class: "rx-contour", d })),
      now.surface === "minibatch" && POINTS.map((point) => s("circle", { class: "rx-point", cx: place(point)[0], cy: place(point)[1], r: 3 })),
    );
    replace(ends, surface().minima.map((at) => s("path", { class: "rx-minimum", d: "M-5 -5l10 10M-5 5l10 -10", transform: `translate(${place(at).join(" ")})` })));
  }

  /** A line; where it crosses the picture between two points that lie outside, it is faint. */
  function way(name, passed) {
    const [width, height] = size();
    const inside = ([x, y]) => x >= 0 && y >= 0 && x <= width && y <= height;
    let [near, far] = ["", ""];
    passed.slice(1).forEach((to, i) => {
      const from = passed[i];
      if (inside(from) || inside(to)) near += near.endsWith(from.join(" ")) ? `L${to.join(" ")}` : `M${from.join(" ")}L${to.join(" ")}`;
      else far += `M${from.join(" ")}L${to.join(" ")}`;
    });
    return [
      far && s("path", { class: `rx-far rx-${name}`, d: far }),
      near && s("path", { class: `rx-path rx-${name}`, d: near, "stroke-dasharray": DASHES[name] }),
    ].filter(Boolean);
  }

  function drawRace() {
    const parts = now.optimizers.map((name) => {
      const { points } = now.ways[name];
      const passed = points.slice(0, now.step + 1).map(place);
      const dots = passed.filter((_, i) => i % DOTS === 0).map(([x, y]) => `M${x} ${y}h0`);
      return [
        s("g", {}, way(name, passed)),
        s("path", { class: `rx-dots rx-${name}`, d: dots.join("") }),
        head(name, ...passed.at(-1)),
      ];
    });
    const batch = now.surface === "minibatch" && now.step > 0 ? now.picks[now.step - 1] : [];
    const seen = batch.map((i) => s("circle", { class: "rx-seen", cx: place(POINTS[i])[0], cy: place(POINTS[i])[1], r: 6 }));
    replace(race, seen, parts.map(([path]) => path), parts.map(([, dots]) => dots), parts.map(([, , end]) => end));
    handle.setAttribute("transform", `translate(${place(now.start).join(" ")})`);
    const [x, y] = now.start;
    const [left, right] = surface().view;
    for (const [name, value] of [
      ["aria-valuemin", left],
      ["aria-valuemax", right],
      ["aria-valuenow", x],
      ["aria-valuetext", `x ${show(x)}, y ${show(y)}`],
    ])
      handle.setAttribute(name, value);
    svg.setAttribute("aria-label", `Map of the loss: ${surface().label}`);
  }

  let held = null;
  const drag = (event) => held === event.pointerId && move(under(event));
  const grab = (event) => {
    if (event.button > 0 || (event.pointerType === "touch" && !handle.contains(event.target))) return;
    event.preventDefault();
    held = event.pointerId;
    svg.setPointerCapture(held);
    handle.focus({ preventScroll: true });
    move(under(event));
  };
  svg.addEventListener("pointerdown", grab);
  svg.addEventListener("pointermove", drag);
  for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, () => (held = null));
  svg.addEventListener("click", (event) => event.pointerType === "touch" && move(under(event)));
  handle.addEventListener("keydown", (event) => {
    const way = KEYS[event.key];
    if (!way) return;
    event.preventDefault();
    const [left, right] = surface().view;
    const far = ((right - left) / 120) * (event.shiftKey ? 5 : 1);
    move(now.start.map((v, i) => v + far * way[i]));
  });

  function draw(given = now) {
    if (!given) return;
    now = given;
    drawGround();
    drawRace();
  }
  return { node, draw };
}
