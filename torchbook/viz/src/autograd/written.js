/** What was computed, as Python writes it, from the recorded graph. No DOM. */

import { short } from "./model.js";

const BETWEEN = { MulBackward0: "*", AddBackward0: " + ", SubBackward0: " - ", DivBackward0: "/", PowBackward0: "**" };
const AROUND = { Exp: "exp", Log: "log", Sum: "sum", Mean: "mean", Relu: "relu", Tanh: "tanh", Sigmoid: "sigmoid", Sin: "sin", Cos: "cos", Sqrt: "sqrt", Abs: "abs" };
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
  const atom = (i) => graph.nodes[i].label || (/^[\w*]+$|^\w+\(.*\)$|\.t\(\)$/.test(texts[i]) ? texts[i] : `(${texts[i]})`);

  function operand(i, input, name) {
    const edge = graph.edges.find((one) => one.from === i && one.input === input);
    if (edge) return edge.output === 0 && (graph.nodes[edge.to].label || texts[edge.to]) ? atom(edge.to) : "";
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
      const [one, other] = [operand(i, 0, "self"), operand(i, 1, node.name.startsWith("Pow") ? "exponent" : "other")];
      if (one && other && !scaled) texts[i] = `${one}${between}${other}`;
    } else if (around) {
      const edge = graph.edges.find((one) => one.from === i);
      const inner = edge && (graph.nodes[edge.to].label || texts[edge.to]);
      if (inner) texts[i] = `${around}(${inner})`;
    } else if (node.name === "TBackward0") {
      const edge = graph.edges.find((one) => one.from === i);
      if (edge && (graph.nodes[edge.to].label || texts[edge.to])) texts[i] = `${atom(edge.to)}.t()`;
    }
    if (!texts[i]) return none;
  }
  const lines = graph.nodes.flatMap((node, i) => (node.kind !== "leaf" && node.label ? [`${node.label} = ${texts[i]}`] : []));
  if (lines.join("; ").length > LONG) return none;
  return { lines, names: graph.nodes.map((node, i) => (node.kind !== "leaf" && !node.label && texts[i].length <= BRIEF ? texts[i] : "")) };
}
