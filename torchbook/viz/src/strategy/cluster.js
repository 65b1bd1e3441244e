/** The cluster as a grid: in each GPU the part of the model that it keeps and the tokens that it sees, and its wires. */

import { assign, h, keyed, moving, relations, replace, s } from "../core/index.js";
import { amount } from "../core/units.js";
import { describeLayout, partOf, peersOf, placeOf } from "./model.js";

const [NODES, GPUS] = [16, 64]; // that are drawn, at most
const [APART, PAD, GAP, NAME] = [8, 4, 3, 15];

/** The GPUs that are drawn, node by node: all of them, or some of nodes that lie evenly over the cluster. */
function drawnOf({ nodes, gpus_per_node: node }) {
  const shown = Math.min(nodes, NODES);
  const each = Math.min(node, Math.max(8, Math.floor(GPUS / shown)));
  return Array.from({ length: shown }, (_, i) => Math.floor((i * nodes) / shown)).map((at) => ({ at, ranks: Array.from({ length: each }, (_, i) => at * node + i) }));
}

/** Columns of nodes and of GPUs in a node for which the boxes are largest. */
function fitted(width, height, nodes, each) {
  let best;
  for (let across = 1; across <= nodes; across += 1) {
    const wide = (width + APART) / across - APART;
    const high = (height + APART) / Math.ceil(nodes / across) - APART - NAME;
    for (let columns = 1; columns <= each; columns += 1) {
      const box = [(wide - 2 * PAD + GAP) / columns - GAP, (high - 2 * PAD + GAP) / Math.ceil(each / columns) - GAP];
      const holes = (each % columns ? 0.75 : 1) * (nodes % across ? 0.78 : 1);
      const score = holes * Math.min(box[0], 0.9 * box[1]);
      if (!best || score > best.score) best = { score, across, columns, wide, high, box };
    }
  }
  return best;
}

/** From a place on a line of `size` pixels, a part of it, no shorter than can be seen: where it starts, and how long it is. */
function piece(start, size, from, part, least) {
  const long = Math.max(size * part, Math.min(size, least));
  return [start + Math.min(from * size, size - long), long];
}

/** What is drawn in a GPU: a box for the whole model, in it what is kept and gathered, and a strip for the tokens of a step. */
function inside({ x: corner, y: top, width, height }, part, layers) {
  const edge = Math.min(width, height) < 40 ? 2 : 4;
  const strip = Math.max(3, Math.min(9, height * 0.08));
  const [x, y, wide, deep] = [corner + edge, top + edge, width - 2 * edge, height - 3 * edge - strip];
  const [down, tall] = piece(y, deep, part.y, part.height, 5);
  const [left, slice] = piece(x, wide, part.slice, 1 / part.slices, 5);
  const [start, thick] = piece(x, wide, part.x, part.width, 4);
  const [from, seen] = piece(x, wide, part.from, part.tokens, 3);
  const below = { y: y + deep + edge, height: strip };
  const lines = Array.from({ length: deep / layers < 3.5 ? 0 : layers }, (_, n) => `M${x} ${y + (n * deep) / layers}h${wide}`);
  return {
    hue: 195 + 145 * (part.pieces > 1 ? part.piece / (part.pieces - 1) : 0.4), // the same for the same piece
    box: { x, y, width: wide, height: deep },
    slice: { x: left, width: slice, y: down, height: tall },
    kept: { x: start, width: thick, y: down, height: tall },
    layers: { d: `M${x} ${y}${lines.join("")}` },
    step: { x, width: wide, ...below },
    seen: { x: from, width: seen, ...below },
  };
}

/** A wire from one place to another, bent a little. */
const bent = ([x, y], [to, down]) => `M${x} ${y}Q${(x + to) / 2 - 0.06 * (down - y)} ${(y + down) / 2 + 0.06 * (to - x)} ${to} ${down}`;

const WHO = { tp: "tensor", cp: "context", shard: "shards", replicate: "replicas", pp: "pipeline" };

/** What a rank keeps and sees, in words. */
function holds(rank, layout) {
  const at = placeOf(rank, layout);
  const { pp, tp, cp, fsdp, data, shard } = layout;
  const parts = [["stage", at.pp, pp], ["slice", at.tp, tp], ["shard", at.shard * cp + at.cp, fsdp], ["batch", at.replicate * shard + at.shard, data], ["sequence", at.cp, cp]];
  return parts.filter(([, , of]) => of > 1).map(([what, i, of]) => `${what} ${i + 1}/${of}`).join(", ") || "everything";
}

const LAID = ["chip", "box", "slice", "kept", "layers", "step", "seen"]; // one above the other
const KEY = [["st-hues", "kept weights, by part"], ["st-hues st-pale", "fetched from others"], ["st-striped", "layers"], ["st-tokens", "its batch"]];
const MARKS = "Bars below: memory, a tick its limit; ✓ recommended"; // of the ways below

/** `draw(setting, candidate, width, height)`; `node` are the grid and the line below it. */
export function cluster() {
  const [boxes, cells, names] = [s("g"), s("g"), s("g")];
  const wires = s("g", { class: "st-wires" });
  const svg = s("svg", { class: "sc-svg st-cluster", "aria-hidden": "true" }, boxes, names, cells, wires);
  const told = h("p", { class: "sc-small st-key" });
  const node = h("div", { class: "st-field" }, svg);
  let [now, one, lit, spots] = [null, null, null, new Map()];

  const nodes = keyed(boxes, { key: ({ at }) => at, make: () => s("rect", { class: "st-node", rx: 6 }), update: (el, { box }) => assign(el, box) });
  const labels = keyed(names, { key: ({ at }) => at, make: () => s("text", { class: "sc-muted" }), update: (el, { box, label, at }) => {
    assign(el, { x: box.x + 2, y: box.y - 4 });
    el.textContent = label === "1" && !at && box.width > 56 ? "node 1" : label;
  } });
  const gpus = keyed(cells, {
    key: ({ rank }) => rank,
    make: ({ rank }) => s("g", { class: "st-gpu", "data-part": `gpu${rank}` }, LAID.map((name) => s(name === "layers" ? "path" : "rect", { class: `st-${name}` }))),
    update: (el, one) => {
      el.classList.toggle("st-idle", one.idle);
      el.style.setProperty("--hue", one.hue);
      LAID.forEach((name, i) => assign(el.children[i], one[name]));
    },
  });

  function draw(given, shown, width, height) {
    moving(svg, width);
    [now, one] = [given, shown];
    const { layout } = one;
    const drawn = drawnOf(given);
    const each = drawn[0].ranks.length;
    const { across, columns, wide, high, box: [w, t] } = fitted(width - 2, height - 2, drawn.length, each);
    assign(svg, { viewBox: `0 0 ${width} ${height}`, width, height });
    const at = drawn.map((of, i) => ({ at: of.at, label: drawn.length === 1 ? count() : i === 0 && drawn.length === given.nodes && drawn.length > 2 && across > 2 ? "node 1" : i === 0 || i === drawn.length - 1 || drawn.length < given.nodes ? String(of.at + 1) : "", box: { x: 1 + (i % across) * (wide + APART), y: 1 + NAME + Math.floor(i / across) * (high + APART + NAME), width: wide, height: high } }));
    nodes(at);
    labels(at);
    const items = drawn.flatMap(({ ranks }, k) =>
      ranks.map((rank, i) => {
        const { x, y } = at[k].box;
        const chip = { x: x + PAD + (i % columns) * (w + GAP), y: y + PAD + Math.floor(i / columns) * (t + GAP), width: w, height: t };
        return { rank, chip, idle: rank >= layout.world, ...inside(chip, partOf(rank % layout.world, layout), given.layers) };
      }),
    );
    gpus(items);
    spots = new Map(items.map(({ rank, box }) => [rank, [box.x + box.width / 2, box.y + box.height / 2]]));
    svg.classList.toggle("st-not", !one.fits);
    svg.classList.toggle("st-fine", w < 45);
    light(spots.has(rankOf(lit)) ? lit : null);
    node.setAttribute("aria-description", `${count()}, and what each keeps of the model: ${describeLayout(layout)}.`);
  }
  const count = () => {
    const all = now.nodes * now.gpus_per_node;
    const some = drawnOf(now).flatMap(({ ranks }) => ranks).length;
    return some < all ? `${some} of ${all} GPUs` : `${all} GPU${all === 1 ? "" : "s"}`;
  };
  const rankOf = (name) => Number(name?.slice(3) ?? NaN);
  const talks = (rank) => (rank < one.layout.world ? peersOf(rank, now, one) : []);
  const wire = ({ dim, ranks, sent, near }) => `${WHO[dim]}: ${ranks.length} ${near ? "in the node" : "over nodes"}, ${amount(sent)} a step`;
  const tell = (name) => {
    const rank = rankOf(name);
    if (rank >= one.layout.world) return `GPU ${rank + 1}: idle`;
    return [`GPU ${rank + 1}: ${holds(rank, one.layout)}`, ...talks(rank).map(wire)].join("; ");
  };

  /** Who talks to whom: rings through the GPU that is pointed at, and its neighbours in the pipeline; in words, what each carries. */
  function light(name) {
    lit = name;
    for (const el of cells.children) {
      delete el.dataset.wire;
      delete el.dataset.with;
    }
    replace(wires);
    if (name === null) {
      const some = spots.size < now.nodes * now.gpus_per_node && h("span", {}, count());
      replace(told, KEY.map(([cls, words]) => h("span", {}, h("i", { class: cls }), words)), some, h("span", { class: "st-marks" }, MARKS));
      return;
    }
    const rank = rankOf(name);
    const cell = (of) => cells.querySelector(`[data-part=gpu${of}]`);
    const groups = talks(rank).map((group) => ({ ...group, there: group.ranks.filter((other) => spots.has(other)) }));
    for (const { dim, there } of groups) {
      for (const other of there) cell(other).dataset.wire = dim;
      const ring = [...there, rank].sort((a, b) => a - b);
      const lines = dim === "pp" || ring.length === 2 ? there.map((other) => [rank, other]) : ring.map((from, i) => [from, ring[(i + 1) % ring.length]]);
      const drawn = (some, far) => s("path", { class: `st-wire st-wire-${dim}${far}`, d: some.map((pair) => bent(...pair.map((of) => spots.get(of)))).join("") });
      wires.append(drawn(lines.filter((pair) => !pair.includes(rank)), " st-far"), drawn(lines.filter((pair) => pair.includes(rank)), ""));
    }
    cell(rank).dataset.with = groups.flatMap(({ there }) => there.map((other) => `gpu${other}`)).join(" ");
    wires.append(s("circle", { class: "st-hub", cx: spots.get(rank)[0], cy: spots.get(rank)[1], r: 4 }));
    const [has] = tell(name).split("; ");
    replace(told, has, h("br"), groups.map((of) => h("span", { class: `st-who st-wire-${of.dim}` }, wire(of))));
  }
  relations(node, { onlight: light, walk: { label: "GPUs of the cluster", all: () => [...spots.keys()].map((rank) => `gpu${rank}`), tell } });
  return { node: [node, told], draw };
}

