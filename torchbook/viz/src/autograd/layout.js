/*! Layout by @dagrejs/dagre and @dagrejs/graphlib, MIT licence, Copyright (c) 2012-2014 Chris Pettitt */
/** Where the nodes of a graph stand. No DOM. */

import { Graph, layout as dagre } from "@dagrejs/dagre";

export const MARGIN = 7; // around the graph

/**
 * @param {Array<{width: number, height: number}>} boxes
 * @param {Array<{from: number, to: number}>} edges drawn from `from` (earlier) to `to` (later); parallel edges are kept
 * @param {{across?: boolean, near?: number, far?: number}} [options] `across` runs left to right instead of downwards
 * @returns {{boxes: Array<{x: number, y: number, width: number, height: number}>, edges: Array<Array<{x, y}>>,
 *   width: number, height: number}} centres of the boxes, and the points of each edge
 */
export function layout(boxes, edges, { across = false, near = 22, far = 46 } = {}) {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: across ? "LR" : "TB", nodesep: near, edgesep: near * 0.6, ranksep: far, marginx: MARGIN, marginy: MARGIN });
  graph.setDefaultEdgeLabel(() => ({}));
  boxes.forEach(({ width, height }, i) => graph.setNode(String(i), { width, height }));
  edges.forEach(({ from, to }, i) => graph.setEdge(String(from), String(to), { width: 1, height: 1 }, String(i)));
  dagre(graph);
  const placed = boxes.map((_, i) => {
    const { x, y, width, height } = graph.node(String(i));
    return { x, y, width, height };
  });
  const lines = edges.map(({ from, to }, i) => graph.edge(String(from), String(to), String(i)).points.map(({ x, y }) => ({ x, y })));
  if (!across) {
    lines.forEach((points, i) => upright(points, placed[edges[i].from], placed[edges[i].to]));
    placed.forEach((box, i) => {
      apart(box, lines.filter((_, e) => edges[e].from === i).map((points) => ({ end: points[0], far: points.at(-1), points })));
      apart(box, lines.filter((_, e) => edges[e].to === i).map((points) => ({ end: points.at(-1), far: points[0], points })));
    });
  }
  const { width, height } = graph.graph();
  return { boxes: placed, edges: lines, width, height };
}

/** An edge leaves a box below and comes to the next from above: at a side it would run behind a neighbour. */
function upright(points, from, to) {
  const within = ({ x }, box) => Math.max(box.x - box.width / 2 + 14, Math.min(box.x + box.width / 2 - 14, x));
  const end = points.length - 1;
  if (points[0].y < from.y + from.height / 2 - 1) points[0] = { x: within(points[0], from), y: from.y + from.height / 2 };
  if (points[end].y > to.y - to.height / 2 + 1) points[end] = { x: within(points[end], to), y: to.y - to.height / 2 };
}

const APART = 44; // pixels between edges at a box, so that a number has room beside each

/** Several edges at one side of a box do not cross there, and stand apart: each ends on the side to which it leads. */
function apart({ x, width }, ends) {
  const sorted = ends.toSorted((a, b) => a.far.x - b.far.x || a.points[1].x - b.points[1].x);
  if (sorted.every(({ end }, i) => !i || end.x - sorted[i - 1].end.x > APART * 0.7)) return;
  const gap = Math.min(APART, (width - 28) / (ends.length - 1));
  sorted.forEach(({ end, far, points }, place) => {
    end.x = x + (place - (ends.length - 1) / 2) * gap;
    if (points.length === 3) points[1].x = (end.x + far.x) / 2;
  });
}

/**
 * The first of several ways to lay a graph out that fits into a room at a scale, else the one that comes nearest to it.
 * @param {Array<{across: boolean, near: number, far: number}>} ways
 * @param {{width: number, height: number}} room
 * @returns {object} the way, and its layout as `placed`
 */
export function fitting(boxes, edges, ways, room, scale) {
  let best;
  for (const way of ways) {
    const placed = layout(boxes, edges, way);
    const k = Math.min(room.width / placed.width, room.height / placed.height);
    if (!best || k > best.k) best = { ...way, placed, k };
    if (k >= scale) break;
  }
  return best;
}

/** A smooth path through points. */
export function curve(points) {
  const at = ({ x, y }) => `${x.toFixed(1)} ${y.toFixed(1)}`;
  if (points.length < 3) return `M${points.map(at).join("L")}`;
  let path = `M${at(points[0])}`;
  for (let i = 1; i < points.length - 2; i += 1) {
    const middle = { x: (points[i].x + points[i + 1].x) / 2, y: (points[i].y + points[i + 1].y) / 2 };
    path += `Q${at(points[i])} ${at(middle)}`;
  }
  return `${path}Q${at(points[points.length - 2])} ${at(points[points.length - 1])}`;
}

/** The box that lies next in a direction, or undefined; `of` is an index, `boxes` the placed boxes. */
export function neighbour(boxes, of, [dx, dy]) {
  const from = boxes[of];
  let best;
  let least = Infinity;
  boxes.forEach((box, i) => {
    const along = (box.x - from.x) * dx + (box.y - from.y) * dy;
    if (i === of || along < 4) return;
    const beside = Math.abs((box.x - from.x) * dy) + Math.abs((box.y - from.y) * dx);
    const cost = along + 2.5 * beside;
    if (cost < least) [best, least] = [i, cost];
  });
  return best;
}
