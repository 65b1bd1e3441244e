/** What was computed, as Python writes it, from the recorded graph. No DOM. */

import { short } from "./model.js";

const BETWEEN = { MulBackward0: "*", AddBackward0: " + ", SubBackward0: " - ", DivBackward0: "/", PowBackward0: "**" };
const AROUND = { Exp: "exp", Log: "log", Sum: "sum", Mean: "mean", Relu: "relu", Tanh: "tanh", Sigmoid: "sigmoid", Sin: "sin", Cos: "cos", Sqrt: "sqrt", Abs: "abs" };
const BINDS = { "+": 1, "-": 1, "*": 2, "/": 2, "**": 3 }; // how strongly; a name, a number or a call binds most
const MOST = 4;
const LONG = 76; // characters that have room above a graph
const BRIEF = 7; // characters of what names a node that has no name

/**
 * @param {{nodes: object[], edges: object[]}} graph
 * @param {object[]} tensors
 * @returns {{lines: string[], names: string[]}} an assignment for each named result, and a short text for each node that
 *   has no name; both are empty where a part of the graph cannot be written, or not briefly
 */
export function written(graph, tensors) {
  const none = { lines: [], names: graph.nodes.map(() => "") };
  if (graph.nodes.some((node) => node.first !== undefined) || graph.nodes.filter((node) => node.root).length !== 1) return none;
  const texts = graph.nodes.map(() => "");
  const binds = graph.nodes.map(() => MOST);
  const inner = (i) => graph.nodes[i].label || texts[i];
  const within = (i, least) => (graph.nodes[i].label || binds[i] >= least ? inner(i) : `(${texts[i]})`);

  function operand(i, input, name, least) {
    const edge = graph.edges.find((one) => one.from === i && one.input === input);
    if (edge) return edge.output === 0 && inner(edge.to) ? within(edge.to, least) : "";
    const saved = graph.nodes[i].saved.find((item) => item.name === name);
    if (!saved || saved.leaf !== undefined || saved.node !== undefined) return "";
    if (saved.tensor === undefined) return /^[\d.]+$/.test(saved.text ?? "") ? saved.text : "";
    const { data } = tensors[saved.tensor];
    return data?.length === 1 && data[0] >= 0 ? short(data[0]) : "";
  }

  for (const [i, node] of graph.nodes.entries()) {
    if (node.kind === "leaf") continue;
    const between = BETWEEN[node.name];
    const around = Object.hasOwn(AROUND, node.name.replace("Backward0", "")) ? AROUND[node.name.replace("Backward0", "")] : "";
    if (between) {
      const scaled = node.saved.some((item) => item.name === "alpha" && item.text !== "1");
      const level = BINDS[between.trim()];
      // From the left on, as Python reads it; a power is read from the right.
      const one = operand(i, 0, "self", between === "**" ? MOST : level);
      const other = operand(i, 1, between === "**" ? "exponent" : "other", level + 1);
      if (one && other && !scaled) [texts[i], binds[i]] = [`${one}${between}${other}`, level];
    } else if (around) {
      const edge = graph.edges.find((one) => one.from === i);
      if (edge && inner(edge.to)) texts[i] = `${around}(${inner(edge.to)})`;
    } else if (node.name === "TBackward0") {
      const edge = graph.edges.find((one) => one.from === i);
      if (edge && inner(edge.to)) texts[i] = `${within(edge.to, MOST)}.t()`;
    }
    if (!texts[i]) return none;
  }
  const lines = graph.nodes.flatMap((node, i) => (node.kind !== "leaf" && node.label ? [`${node.label} = ${texts[i]}`] : []));
  if (lines.join("; ").length > LONG) return none;
  return { lines, names: graph.nodes.map((node, i) => (node.kind !== "leaf" && !node.label && texts[i].length <= BRIEF ? texts[i] : "")) };
}
