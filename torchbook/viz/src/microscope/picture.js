/** What a training step keeps, as cells, and the line that it fits. */

import { h, moving, replace, s, uid } from "../core/index.js";
import { READS, RIDES, UNITS } from "./model.js";
import { shown } from "./words.js";

const ROWS = [["params", "value", ""], ["grad", ".grad", "None"], ["buffer", "momentum", "none"]];

/** A cell: what is there, above it what was there before the line changed it. */
function cell(tag, was, is, none, read, label) {
  const changed = was !== is;
  const marks = ["mi-cell", changed && "new", !changed && read && "read", is === null && "absent"].filter(Boolean).join(" ");
  return h(tag, { class: marks }, label && h("span", { class: "mi-name" }, label), changed && h("s", {}, was ?? none), h("b", {}, is ?? none));
}

const text = (values, i) => (values ? shown(values[i]) : null);
const predicted = ({ pred }) => pred && pred.values.map(shown).join(", ");

const EDGE = { on: "graph", freed: "freed", old: "older", none: "" };

/** The graph from the parameters to the predictions, and from them to the loss. */
function edges({ pred, loss }) {
  const first = !pred ? "none" : pred.alive ? "on" : "freed";
  if (!loss) return [first, "none"];
  return [first, !loss.alive ? "freed" : loss.of === pred.id ? "on" : "old"];
}

/** Parameters, gradients and momentum in cells; below them predictions and loss, joined by the graph. */
export function board() {
  const grid = h("table", { class: "mi-grid" });
  const flow = h("div", { class: "mi-flow" });
  function draw(before, now) {
    const reads = now.refused ? [] : READS[now.line].filter((name) => name !== "buffer" || before.buffer);
    replace(
      grid,
      h("thead", {}, h("tr", {}, h("td"), Object.entries(UNITS).map(([name, unit]) => h("th", { scope: "col" }, name, h("small", {}, unit))))),
      h("tbody", {}, ROWS.map(([name, label, none]) => h("tr", {}, h("th", { scope: "row" }, label), [0, 1].map((i) => cell("td", text(before[name], i), text(now[name], i), none, reads.includes(name)))))),
    );
    const edge = ([was, is], label) => {
      const arrow = s("svg", { class: "mi-arrow", viewBox: "0 0 34 14", "aria-hidden": "true" }, s("path", { d: "M1 7H31" }), s("path", { d: "M26 2L32 7L26 12", class: "tip" }));
      return h("span", { class: `mi-edge ${is}${was === is ? "" : " new"}` }, arrow, h("span", {}, label));
    };
    const [first, second] = [0, 1].map((i) => [edges(before)[i], edges(now)[i]]);
    const value = ({ loss }) => loss && shown(loss.value);
    replace(
      flow,
      h("span", { class: "mi-ends" }, "w, b"),
      edge(first, EDGE[first[1]]),
      cell("span", predicted(before), predicted(now), "none", reads.includes("pred"), "pred"),
      edge(second, second[1] === first[1] ? "" : EDGE[second[1]]),
      cell("span", value(before), value(now), "none", reads.includes("loss"), "loss"),
    );
  }
  return { grid, flow, draw };
}

const [LEFT, RIGHT, LOW, HIGH] = [0, 4, -3.5, 16];

/** Rides, predictions, and the line of the parameters; the line before the last change is dashed. */
export function fit() {
  const clip = uid();
  const edges = s("rect", { x: 0, y: 0 });
  const [axis, marks, dots] = [s("path", { class: "mi-axis" }), s("g"), s("g")];
  const [ghost, line] = [s("path", { class: "mi-fitted old" }), s("path", { class: "mi-fitted" })];
  const svg = s("svg", { class: "mi-fit", role: "img" }, s("clipPath", { id: clip }, edges), axis, marks, s("g", { "clip-path": `url(#${clip})` }, ghost, line, dots));
  function draw(before, now, width, high) {
    const [left, top, bottom] = [30, 20, 34];
    const x = (km) => left + ((km - LEFT) / (RIGHT - LEFT)) * (width - left - 4);
    const y = (price) => high - bottom - ((price - LOW) / (HIGH - LOW)) * (high - top - bottom);
    for (const [name, value] of Object.entries({ viewBox: `0 0 ${width} ${high}`, width, height: high })) svg.setAttribute(name, value);
    for (const [name, value] of Object.entries({ x: left, y: top, width: width - left, height: high - top - bottom })) edges.setAttribute(name, value);
    moving(svg, width);
    const at = ([w, b]) => `M${x(LEFT).toFixed(1)} ${y(w * LEFT + b).toFixed(1)}L${x(RIGHT).toFixed(1)} ${y(w * RIGHT + b).toFixed(1)}`;
    axis.setAttribute("d", `M${left} ${top}V${high - bottom}M${left} ${y(0)}H${width}`);
    const label = (tx, ty, words, anchor) => s("text", { x: tx, y: ty, "text-anchor": anchor }, words);
    const dot = (tx, look, r) => s("circle", { class: look, cx: tx, cy: high - 8, r });
    replace(
      marks,
      label(0, 13, "price = w · km + b", "start"),
      RIDES.map(([km, price]) => [label(x(km), high - 20, `${km} km`, "middle"), label(left - 4, y(price) + 4, `${price} €`, "end")]),
      [dot(6, "mi-ride", 5), label(15, high - 4, "paid", "start"), dot(56, "mi-pred", 4), label(64, high - 4, "pred", "start")],
    );
    const moved = before.params.some((p, i) => p !== now.params[i]);
    ghost.setAttribute("d", at(before.params));
    ghost.style.opacity = moved ? 1 : 0;
    line.setAttribute("d", at(now.params));
    line.setAttribute("class", `mi-fitted${moved ? " new" : ""}`);
    const values = now.pred?.values ?? [];
    replace(
      dots,
      values.map((p, i) => s("path", { class: "mi-error", d: `M${x(RIDES[i][0])} ${y(p)}V${y(RIDES[i][1])}` })),
      values.map((p, i) => s("circle", { class: "mi-pred", cx: x(RIDES[i][0]), cy: y(p), r: 4 })),
      RIDES.map(([km, price]) => s("circle", { class: "mi-ride", cx: x(km), cy: y(price), r: 5 })),
    );
    svg.setAttribute("aria-label", `The line of w ${shown(now.params[0])} and b ${shown(now.params[1])} beside two rides: ${RIDES.map(([km, price]) => `${km} km for ${price} euros`).join(", ")}`);
  }
  return { node: svg, draw };
}
