/** The speed-up over the number of GPUs, whose place is dragged along the curve, and one step as a bar. */

import { animate, grip, h, moving, replace, s, uid } from "../core/index.js";
import { curve, MOST, results } from "./model.js";
import { duration, significant } from "../core/units.js";

const MS = 380;
const [LEFT, RIGHT, TOP, BOTTOM] = [30, 16, 12, 36];
const text = (x, y, label, attrs) => s("text", { x, y, ...attrs }, label);
const smooth = (t) => t * t * (3 - 2 * t);

function setSize(svg, width, height) {
  for (const [name, value] of Object.entries({ viewBox: `0 0 ${width} ${height}`, width, height })) svg.setAttribute(name, value);
}

/** Compute above, communication below, to the same scale. */
export function stepBar() {
  const hatch = uid("sc-hatch");
  const pattern = s("pattern", { id: hatch, width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, s("rect", { width: 7, height: 7, class: "sc-hidden-fill" }), s("line", { x1: 0, y1: 0, x2: 0, y2: 7, class: "sc-hidden-line" }));
  const box = (cls, y, fill) => s("rect", { x: 0, y, height: 22, rx: 3, class: cls, fill });
  const [compute, hidden, exposed] = [box("sc-compute", 1), box("sc-hidden", 26, `url(#${hatch})`), box("sc-exposed", 26)];
  const svg = s("svg", { class: "sc-svg sc-step", role: "img" }, s("defs", {}, pattern), compute, hidden, exposed);
  const key = h("div", { class: "sc-key" });
  const swatch = (cls, fill) => s("svg", { width: 18, height: 12, "aria-hidden": "true" }, s("rect", { x: 0.75, y: 0.75, width: 16.5, height: 10.5, rx: 2, class: cls, fill: fill && `url(#${hatch})` }));

  function draw(setting, width) {
    moving(svg, width);
    const all = results(setting);
    const seconds = setting.compute_ms * 1e-3;
    const scale = width / all.step;
    const [end, start] = [seconds * scale, (seconds - all.hidden) * scale];
    const span = (rect, x, wide, there) => {
      rect.setAttribute("x", x);
      rect.setAttribute("width", there ? Math.max(wide, 1.5) : 0);
      rect.setAttribute("opacity", there ? 1 : 0);
    };
    setSize(svg, width, 49);
    svg.setAttribute("aria-label", `One step of ${duration(all.step)}: ${duration(seconds)} compute, ${duration(all.hidden)} of communication hidden behind it, ${duration(all.exposed)} exposed.`);
    span(compute, 0, end, true);
    span(hidden, start, end - start, all.hidden > 0);
    span(exposed, Math.min(end, width - 2), width - end, all.exposed > 0);
    const shownIf = (there) => ({ visibility: there ? "" : "hidden" }); // it keeps its room
    replace(
      key,
      h("span", {}, swatch("sc-compute"), `computes ${duration(seconds)}`),
      h("span", { style: shownIf(all.exposed > 0) }, swatch("sc-exposed"), `waits, sending ${duration(all.exposed)}`),
      h("span", { style: shownIf(all.hidden > 0) }, swatch("sc-hidden", true), `sends gradients during backward ${duration(all.hidden)}`),
    );
  }
  return { node: h("div", {}, svg, key), draw };
}

/** The curve; `pick` takes a number of GPUs: by a click on the plot, by dragging the point, or by its arrow keys. */
export function curvePlot(pick) {
  const grid = s("g");
  const lost = s("path", { class: "sc-lost" });
  const ideal = s("path", { class: "sc-ideal" });
  const line = s("path", { class: "sc-line" });
  const here = s("text", { class: "sc-here", x: LEFT + 10, y: TOP + 40 }); // over the ideal, where no curve comes
  const named = [s("text", { class: "sc-named", "text-anchor": "end" }, "ideal"), s("text", { class: "sc-named", "text-anchor": "end" }, "lost to waiting")];
  const point = s("g", { class: "sc-point", role: "slider", tabindex: 0, "aria-label": "Number of GPUs", "aria-valuemin": 1, "aria-valuemax": MOST });
  grip(point);
  const svg = s("svg", { class: "sc-svg sc-curve", role: "group" }, grid, lost, ideal, line, named, here, point);
  let [width, high, gpus, moved] = [560, 240, 1, { cancel() {} }];
  let shown = null; // the points as they are drawn at this moment

  const x = (many) => LEFT + ((many - 1) / (MOST - 1)) * (width - LEFT - RIGHT);
  const y = (value) => TOP + (1 - value / MOST) * (high - TOP - BOTTOM);
  const at = (event) => {
    const box = svg.getBoundingClientRect();
    const place = ((event.clientX - box.left) / box.width) * width;
    return Math.round(Math.min(MOST, Math.max(1, 1 + ((place - LEFT) / (width - LEFT - RIGHT)) * (MOST - 1))));
  };
  svg.addEventListener("click", (event) => pick(at(event)));
  point.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    point.setPointerCapture(event.pointerId);
    point.focus();
  });
  point.addEventListener("pointermove", (event) => point.hasPointerCapture(event.pointerId) && at(event) !== gpus && pick(at(event)));
  point.addEventListener("keydown", (event) => {
    const next = { ArrowRight: gpus + 1, ArrowUp: gpus + 1, ArrowLeft: gpus - 1, ArrowDown: gpus - 1, PageUp: gpus + 8, PageDown: gpus - 8, Home: 1, End: MOST }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    pick(Math.min(MOST, Math.max(1, next)));
  });

  function trace(values, label) {
    shown = values;
    const path = values.map((value, i) => `${x(i + 1).toFixed(1)} ${y(value).toFixed(1)}`).join("L");
    line.setAttribute("d", `M${path}`);
    lost.setAttribute("d", `M${path}L${x(MOST)} ${y(MOST)}Z`);
    // The line of the ideal and the area under it are named where they have room.
    named[0].setAttribute("x", x(44) - 6);
    named[0].setAttribute("y", y(44) - 6);
    const most = 58;
    named[1].setAttribute("x", x(most));
    named[1].setAttribute("y", (y(most - 10) + y(values[most - 1])) / 2 + 4);
    named[1].style.visibility = y(values[most - 1]) - y(most - 10) > 22 ? "" : "hidden";
    if (gpus > MOST) return;
    const [px, py] = [x(gpus), y(values[gpus - 1])];
    point.setAttribute("transform", `translate(${px.toFixed(1)} ${py.toFixed(1)})`);
    here.textContent = label;
  }

  function draw(setting, room) {
    const resized = room !== width || !shown;
    width = room;
    high = Math.round(Math.min(300, Math.max(190, width * 0.44)));
    gpus = setting.gpus;
    const points = curve(setting);
    const all = results(setting);
    if (resized) {
      setSize(svg, width, high);
      replace(
        grid,
        [1, 32, 64].map((tick) => [
          s("line", { x1: LEFT, x2: width - RIGHT, y1: y(tick), y2: y(tick), class: "sc-grid" }),
          text(LEFT - 6, y(tick) + 4, String(tick), { "text-anchor": "end" }),
          text(x(tick), high - BOTTOM + 18, String(tick), { "text-anchor": "middle" }),
        ]),
        text((LEFT + width - RIGHT) / 2, high - 4, "GPUs", { "text-anchor": "middle", class: "sc-axis" }),
        text(LEFT + 10, TOP + 17, "speed-up", { class: "sc-axis" }),
      );
      ideal.setAttribute("d", `M${x(1)} ${y(1)}L${x(MOST)} ${y(MOST)}`);
    }
    const some = [2, 4, 8, 16, 32, 64].map((many) => `${many}: ${significant(points[many - 1])}`).join(", ");
    svg.setAttribute("aria-label", `Speed-up by number of GPUs. ${some}. Ideal is the number itself.`);
    const known = gpus <= MOST;
    if (known !== point.isConnected) known ? svg.append(here, point) : [here, point].forEach((one) => one.remove());
    const label = `${gpus} GPU${gpus === 1 ? "" : "s"}: ${significant(all.speedup)}×`;
    point.setAttribute("aria-valuenow", gpus);
    point.setAttribute("aria-valuetext", label);
    moved.cancel();
    const from = shown;
    if (resized || from.every((value, i) => value === points[i])) trace(points, label);
    else moved = animate({ ms: MS, step: (t) => trace(points.map((value, i) => from[i] + (value - from[i]) * smooth(t)), label) });
  }
  return { node: svg, draw, stop: () => moved.cancel() };
}
