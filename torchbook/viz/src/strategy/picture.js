/** The cluster, each GPU with the part of the model and of the batch that is its own, and one GPU's memory against the limit. */

import { h, keyed, moving, relations, replace, s, uid } from "../core/index.js";
import { amount, plain, significant } from "../core/units.js";
import { describeLayout, partOf, peersOf, placeOf, ROOM } from "./model.js";

const [NODES, GPUS] = [16, 64]; // that are drawn, at most
const [APART, PAD, GAP, NAME] = [8, 4, 3, 15];
const set = (el, attrs) => Object.entries(attrs).forEach(([name, value]) => el.setAttribute(name, value));

/** The GPUs that are drawn, node by node: all of them, or some of nodes that lie evenly over the cluster. */
export function drawnOf({ nodes, gpus_per_node: node }) {
  const shown = Math.min(nodes, NODES);
  const each = Math.min(node, Math.max(8, Math.floor(GPUS / shown)));
  return Array.from({ length: shown }, (_, i) => Math.floor((i * nodes) / shown)).map((at) => ({ at, ranks: Array.from({ length: each }, (_, i) => at * node + i) }));
}

/** Columns of nodes and of GPUs in a node for which the boxes are largest. */
function fitted(width, height, nodes, each) {
  const name = nodes > 1 ? NAME : 0;
  let best;
  for (let across = 1; across <= nodes; across += 1) {
    const wide = (width + APART) / across - APART;
    const high = (height + APART) / Math.ceil(nodes / across) - APART - name;
    for (let columns = 1; columns <= each; columns += 1) {
      const box = [(wide - 2 * PAD + GAP) / columns - GAP, (high - 2 * PAD + GAP) / Math.ceil(each / columns) - GAP];
      const holes = (each % columns ? 0.75 : 1) * (nodes % across ? 0.9 : 1);
      const score = holes * Math.min(box[0], 0.9 * box[1]);
      if (!best || score > best.score) best = { score, across, columns, wide, high, box, name };
    }
  }
  return best;
}

/** A wire from one place to another, bent a little. */
const bent = ([x, y], [to, down]) => `M${x} ${y}Q${(x + to) / 2 - 0.06 * (down - y)} ${(y + down) / 2 + 0.06 * (to - x)} ${to} ${down}`;

const WHO = { tp: "tensor", cp: "context", shard: "shards", replicate: "replicas", pp: "pipeline" };

/** What a rank keeps and sees, in words. */
export function holds(rank, layout) {
  const at = placeOf(rank, layout);
  const { pp, tp, cp, fsdp, data, shard } = layout;
  const parts = [["stage", at.pp, pp], ["slice", at.tp, tp], ["shard", at.shard * cp + at.cp, fsdp], ["batch", at.replicate * shard + at.shard, data], ["sequence", at.cp, cp]];
  return parts.filter(([, , of]) => of > 1).map(([what, i, of]) => `${what} ${i + 1}/${of}`).join(", ") || "everything";
}

const KEY = [["st-hues", "weights kept"], ["st-hues st-pale", "gathered"], ["st-tokens", "tokens"]];

export function cluster() {
  const [boxes, cells, names, wires] = ["", "", "", "st-wires"].map((cls) => s("g", { class: cls }));
  const svg = s("svg", { class: "sc-svg st-cluster", "aria-hidden": "true" }, boxes, names, cells, wires);
  const told = h("p", { class: "sc-small st-key" });
  const node = h("div", { class: "st-field" }, svg);
  let [now, one, lit, spots] = [null, null, null, new Map()];

  const nodes = keyed(boxes, { key: ({ at }) => at, make: () => s("rect", { class: "st-node", rx: 6 }), update: (el, { box }) => set(el, box) });
  const labels = keyed(names, { key: ({ at }) => at, make: ({ at }) => s("text", { class: "sc-muted" }, String(at + 1)), update: (el, { box, first, at }) => {
    set(el, { x: box.x + 2, y: box.y - 4 });
    el.textContent = first && box.width > 56 ? `node ${at + 1}` : String(at + 1);
  } });
  const gpus = keyed(cells, {
    key: ({ rank }) => rank,
    make: ({ rank }) => s("g", { class: "st-gpu", "data-part": `gpu${rank}` }, ["chip", "box", "slice", "kept"].map((cls) => s("rect", { class: `st-${cls}`, rx: 1.5 })), s("path", { class: "st-layers" }), ["step", "seen"].map((cls) => s("rect", { class: `st-${cls}` }))),
    update: (el, { chip, box, slice, kept, lines, step, seen, idle, hue }) => {
      el.classList.toggle("st-idle", idle);
      el.style.setProperty("--hue", hue);
      [chip, box, slice, kept, { d: lines }, step, seen].forEach((attrs, i) => set(el.children[i], attrs));
    },
  });

  function draw(given, shown, width, height) {
    moving(svg, width);
    [now, one] = [given, shown];
    const { layout } = one;
    const drawn = drawnOf(given);
    const each = drawn[0].ranks.length;
    const { across, columns, wide, high, box: [w, t], name } = fitted(width - 2, height - 2, drawn.length, each);
    set(svg, { viewBox: `0 0 ${width} ${height}`, width, height });
    const at = drawn.map((of, i) => ({ at: of.at, first: i === 0, box: { x: 1 + (i % across) * (wide + APART), y: 1 + name + Math.floor(i / across) * (high + APART + name), width: wide, height: high } }));
    nodes(at);
    labels(name ? at : []);
    const edge = Math.min(w, t) < 40 ? 2 : 4; // from a GPU's outline to what is in it
    const strip = Math.max(3, Math.min(9, t * 0.08));
    const [span, deep] = [w - 2 * edge, t - 3 * edge - strip];
    const least = (span, part, pixels) => Math.max(span * part, Math.min(span, pixels));
    const many = deep / given.layers >= 3.5 ? given.layers : 0;
    const items = drawn.flatMap(({ ranks }, k) =>
      ranks.map((rank, i) => {
        const corner = [at[k].box.x + PAD + (i % columns) * (w + GAP), at[k].box.y + PAD + Math.floor(i / columns) * (t + GAP)];
        const [x, y] = corner.map((of) => of + edge);
        const part = partOf(rank % layout.world, layout);
        /** A part of a line of `size` pixels, no shorter than it can be seen. */
        const piece = (start, size, from, part, least) => {
          const long = Math.max(size * part, Math.min(size, least));
          return [start + Math.min(from * size, size - long), long];
        };
        const [down, tall] = piece(y, deep, part.y, part.height, 5);
        const [left, slice] = piece(x, span, part.slice, 1 / part.slices, 5);
        const [start, thick] = piece(x, span, part.x, part.width, 4);
        const [from, seen] = piece(x, span, part.from, part.tokens, 3);
        const below = { y: y + deep + edge, height: strip };
        return {
          rank,
          idle: rank >= layout.world,
          hue: 195 + 145 * (part.pieces > 1 ? part.piece / (part.pieces - 1) : 0.4),
          chip: { x: corner[0], y: corner[1], width: w, height: t },
          box: { x, y, width: span, height: deep },
          slice: { x: left, width: slice, y: down, height: tall },
          kept: { x: start, width: thick, y: down, height: tall },
          lines: `M${x} ${y}${Array.from({ length: many }, (_, n) => `M${x} ${y + (n * deep) / many}h${span}`).join("")}`,
          step: { x, width: span, ...below },
          seen: { x: from, width: seen, ...below },
        };
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
    return spots.size < all ? `${spots.size} of ${all} GPUs` : `${all} GPU${all === 1 ? "" : "s"}`;
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
      replace(told, KEY.map(([cls, words]) => h("span", {}, h("i", { class: cls }), words)), some);
      return;
    }
    const rank = rankOf(name);
    const cell = (of) => cells.querySelector(`[data-part=gpu${of}]`);
    const groups = talks(rank).map((group) => ({ ...group, there: group.ranks.filter((other) => spots.has(other)) }));
    for (const { dim, there } of groups) {
      for (const other of there) cell(other).dataset.wire = dim;
      const ring = [...there, rank].sort((a, b) => a - b);
      const lines = dim === "pp" ? there.map((other) => [rank, other]) : ring.map((from, i) => [from, ring[(i + 1) % ring.length]]);
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

const PARTS = ["parameters", "gradients", "optimizer", "gathered", "activations", "logits"];

export function stack() {
  const hatch = uid("st-hatch");
  const pattern = s("pattern", { id: hatch, width: 8, height: 8, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, s("rect", { width: 8, height: 8, class: "st-soft" }), s("path", { d: "M0 0v8", class: "st-hatch" }));
  const [room, spare] = [s("rect", { class: "st-room", rx: 4 }), s("rect", { class: "st-spare" })];
  const held = s("g");
  const whole = s("path", { class: "st-whole" });
  const over = s("rect", { class: "st-over", fill: `url(#${hatch})` });
  const [line, torn] = ["st-limit", "st-torn"].map((cls) => s("path", { class: cls }));
  const named = s("g");
  const text = Object.fromEntries(["named", "total", "room", "unsplit"].map((name) => [name, s("text", { class: `st-${name === "room" ? "left" : name}` })]));
  const svg = s("svg", { class: "sc-svg st-stack", role: "img" }, s("defs", {}, pattern), room, spare, held, whole, over, line, torn, named, Object.values(text));
  const parts = keyed(held, { key: ({ name }) => name, make: ({ name }) => s("rect", { class: `st-piece st-${name}` }), update: (el, { box }) => set(el, box) });
  const labels = keyed(named, { key: ({ name }) => name, make: ({ name }) => s("text", {}, s("tspan", {}, name), s("tspan", { class: "st-size" })), update: (el, { x, y, size, two }) => {
    set(el, { x, y: two ? y - 7 : y });
    el.lastChild.textContent = `${two ? "" : " "}${size}`;
    set(el.lastChild, two ? { x, dy: 15 } : { dy: 0 });
    if (!two) el.lastChild.removeAttribute("x");
  } });
  const write = (el, words, x, y) => {
    el.textContent = words;
    set(el, { x, y });
  };

  /** @param {object} given @param {object} one the candidate @param {number} unsplit bytes of all of it on one GPU */
  function draw(given, { memory, fits }, unsplit, width, height) {
    moving(svg, width);
    set(svg, { viewBox: `0 0 ${width} ${height}`, width, height });
    const two = width < 180; // lines of a name and its number
    const thick = two ? 32 : 64;
    const [x, top, foot] = [2, 24, height - 24];
    const card = 1e9 * given.memory_gb;
    const scale = (0.6 * (foot - top)) / card;
    const limit = ROOM * card;
    const [edge, roof] = [foot - limit * scale, foot - card * scale];
    const column = { x, width: thick };
    const high = (bytes) => Math.max(top, foot - bytes * scale);
    set(room, { ...column, y: roof, height: foot - roof });
    set(spare, { ...column, y: roof, height: edge - roof });
    let from = 0;
    const shown = PARTS.map((name) => {
      const y = high(from);
      from += memory[name];
      return { name, size: memory[name], box: { ...column, y: high(from), height: y - high(from) } };
    });
    parts(shown);
    const peak = high(memory.total);
    set(over, { ...column, y: fits ? edge : peak, height: fits ? 0 : edge - peak });
    set(line, { d: `M${x - 2} ${edge}H${x + thick + 8}` });
    const ghost = fits && unsplit > limit; // what it would be is dashed
    const tip = high(unsplit);
    set(whole, { d: ghost ? `M${x} ${roof}V${tip}${tip > top ? `h${thick}` : `m${thick} 0`}V${roof}` : "" });
    const cut = (ghost ? unsplit : memory.total) * scale > foot - top;
    const tooth = thick / 4;
    set(torn, { d: cut ? `M${x - 3} ${top + 7}l${tooth} -7 ${tooth} 7 ${tooth} -7 ${tooth + 4} 7` : "" });
    const right = x + thick + 10;
    const clear = (y) => Math.abs(y - edge) > 15; // of the limit's name
    let last = Infinity;
    labels(shown.filter(({ box }) => box.height >= 13).map(({ name, size, box }) => {
      const tall = box.height >= 30;
      return { name, size: two && !tall ? "" : significant(size / 1e9), x: right, y: box.y + box.height / 2 + 4, two: two && tall }; // GB, as at the line
    }).filter(({ y }) => {
      const free = last - y >= 14 && clear(y - 4);
      if (free) last = y;
      return free;
    }));
    write(text.named, `limit ${plain(Number((limit / 1e9).toPrecision(3)))} GB`, right, edge + 4);
    write(text.total, amount(memory.total), x, height - 7);
    write(text.room, fits ? "" : `${amount(memory.total - limit)} too much`, 0, top - 9);
    write(text.unsplit, ghost ? `unsplit ${amount(unsplit)}` : "", 0, Math.max(top, tip) - 9);
    svg.classList.toggle("st-not", !fits);
    svg.setAttribute("aria-label", `Memory of one GPU: ${shown.filter(({ size }) => size).map(({ name, size }) => `${name} ${amount(size)}`).join(", ")}; together ${amount(memory.total)}, ${fits ? "within" : "over"} the limit of ${amount(limit)}.`);
  }
  return { node: svg, draw };
}
