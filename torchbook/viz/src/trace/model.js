/**
 * The profile on the page: events with their tree, the table of operators, searching, idle time. Times are in tenths of
 * a microsecond, as in the trait. Nothing here draws.
 */

export const PHASES = ["data", "forward", "backward", "optimizer", "other"];
export const SMALL = "small events";

/** Nodes from the columns of the trait, in the order of their numbers; parents come before their children. */
export function decode(trace) {
  const { columns: c, names, shapes } = trace;
  const lanes = trace.lanes.map((lane, at) => ({ ...lane, at, roots: [], depth: 0 }));
  const nodes = [];
  const open = [];
  let begin = 0;
  let lane = -1;
  for (let i = 0; i < c.name.length; i++) {
    while (lane + 1 < lanes.length && lanes[lane + 1].first <= i) lane += 1;
    begin += c.start[i];
    const [calls, total] = trace.merged[i] ?? [1, c.span[i]];
    const depth = c.depth[i];
    const node = {
      i,
      name: names[c.name[i]],
      lane,
      depth,
      start: begin,
      end: begin + c.span[i],
      calls,
      total,
      self: total - c.inner[i],
      phase: c.phase[i],
      shape: shapes[c.shape[i]],
      gpu: trace.gpu[i] ?? 0,
      folded: (trace.folded[i] ?? []).map(([name, count, own, all, gpu = 0]) => ({ name: names[name], calls: count, self: own, total: all, gpu })),
      parent: depth ? open[depth - 1] : null,
      children: [],
      links: [],
    };
    if (node.name === SMALL && node.folded.length) node.self = 0;
    (depth ? node.parent.children : lanes[lane].roots).push(node);
    open[depth] = node;
    nodes.push(node);
    lanes[lane].depth = Math.max(lanes[lane].depth, depth + 1);
  }
  const join = (pairs, there, back) =>
    pairs.forEach(([a, b]) => {
      nodes[a].links.push({ to: nodes[b], as: there });
      nodes[b].links.push({ to: nodes[a], as: back });
    });
  join(trace.links, "backward", "forward");
  join(trace.launches, "kernel", "launch");
  return { nodes, lanes, rows: trace.rows, names, steps: trace.steps, end: trace.end, views: trace.views, count: trace.count };
}

/** A node and all below it. */
export function within(node, nodes) {
  let last = node.i + 1;
  while (last < nodes.length && nodes[last].lane === node.lane && nodes[last].depth > node.depth) last += 1;
  return nodes.slice(node.i, last);
}

const add = (rows, name, gpu, one) => {
  const key = `${name}\n${gpu ? 1 : 0}`;
  const row = rows.get(key) ?? { name, where: gpu ? "GPU" : "CPU", calls: 0, self: 0, total: 0, gpu: 0 };
  for (const what of ["calls", "self", "total", "gpu"]) row[what] += one[what];
  rows.set(key, row);
};

/**
 * Rows of the table. Without `among` they are those of the whole profile, which Python summed before anything was
 * merged; else the sums over these nodes and what they hold.
 */
export function tally(data, { among, phase = "" } = {}) {
  const wanted = PHASES.indexOf(phase);
  const rows = new Map();
  if (!among) {
    for (const [name, gpu, of, calls, self, total, on] of data.rows) {
      if (wanted < 0 || of === wanted) add(rows, data.names[name], gpu, { calls, self, total, gpu: on });
    }
  } else {
    for (const node of among) {
      if (wanted >= 0 && node.phase !== wanted) continue;
      const { gpu } = data.lanes[node.lane];
      if (node.name !== SMALL) add(rows, node.name, gpu, node);
      for (const one of node.folded) add(rows, one.name, gpu, one);
    }
  }
  return [...rows.values()];
}

export const ORDERS = {
  self: (a, b) => b.self - a.self,
  total: (a, b) => b.total - a.total,
  calls: (a, b) => b.calls - a.calls,
  gpu: (a, b) => b.gpu - a.gpu,
  name: (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
};

/** Does a name match what is searched for? A whole name matches itself only, anything else each name that has it. */
export function matcher(query, names) {
  const text = query.trim().toLowerCase();
  if (!text) return null;
  if (names.includes(query)) return (name) => name === query;
  return (name) => name.toLowerCase().includes(text);
}

/** Does this node match, or something that is counted in it? */
export const matches = (node, hit) => hit(node.name) || node.folded.some((one) => hit(one.name));

/** Self time by phase, on the CPU. */
export function shares(data) {
  const spent = PHASES.map(() => 0);
  for (const [, gpu, phase, , self] of data.rows) if (!gpu) spent[phase] += self;
  return spent;
}

/** How much of a window a lane is busy, 0 to 1. */
export function busy(lane, start, end) {
  let sum = 0;
  let last = start;
  for (const root of lane.roots) {
    const [from, to] = [Math.max(root.start, last), Math.min(root.end, end)];
    if (to > from) {
      sum += to - from;
      last = to;
    }
  }
  return end > start ? sum / (end - start) : 0;
}

/** The step that a node lies in, counted from 1; 0 for none. */
export const stepOf = (data, node) => data.steps.findIndex(([start, end]) => node.start >= start && node.start < end) + 1;

/** The node that a key leads to, or null. */
export function moved(data, node, key, view) {
  if (!node) {
    const seen = data.nodes.filter((one) => one.depth === 0 && one.end > view.start && one.start < view.end);
    return seen[0] ?? data.nodes[0] ?? null;
  }
  const row = node.parent ? node.parent.children : data.lanes[node.lane].roots;
  const at = row.indexOf(node);
  const cousins = () => data.nodes.filter((one) => one.lane === node.lane && one.depth === node.depth);
  switch (key) {
    case "ArrowUp":
      return node.parent;
    case "ArrowDown":
      return node.children[0] ?? null;
    case "ArrowRight":
      return row[at + 1] ?? cousins().find((one) => one.i > node.i) ?? null;
    case "ArrowLeft":
      return row[at - 1] ?? cousins().findLast?.((one) => one.i < node.i) ?? null;
    case "Home":
      return row[0];
    case "End":
      return row[row.length - 1];
    case "PageDown":
      return data.lanes[node.lane + 1]?.roots[0] ?? null;
    case "PageUp":
      return data.lanes[node.lane - 1]?.roots[0] ?? null;
    default:
      return null;
  }
}

/** The deepest node of a lane at a time and depth, give or take `slack`. */
export function nodeAt(data, lane, depth, time, slack) {
  let best = null;
  for (const node of data.nodes) {
    if (node.lane !== lane || node.depth !== depth) continue;
    const away = time < node.start ? node.start - time : time > node.end ? time - node.end : 0;
    if (away <= slack && (!best || away < best.away || (away === best.away && node.total > best.node.total))) best = { node, away };
  }
  return best?.node ?? null;
}

/** A window inside the profile, not narrower than a microsecond. */
export function clamp(data, start, end) {
  const span = Math.min(Math.max(end - start, 10), data.end);
  const from = Math.min(Math.max(0, start), data.end - span);
  return { start: Math.round(from), end: Math.round(from + span) };
}

/** The window times `factor`, around `at`. */
export function zoomed(data, view, factor, at = (view.start + view.end) / 2) {
  return clamp(data, at - (at - view.start) * factor, at + (view.end - at) * factor);
}

/** A window that shows a node with a little room around it. */
export function around(data, node) {
  const room = Math.max((node.end - node.start) * 0.04, 2);
  return clamp(data, node.start - room, node.end + room);
}
