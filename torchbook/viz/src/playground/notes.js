/** What is worth noticing at the present values, in sentences. No DOM. */

import { show } from "./model.js";

/**
 * @param {{nodes: Array<object>, names: string[]}} graph
 * @param {{values: number[], grads: number[], edges: number[][]}} done
 */
export function notes(graph, done) {
  const found = [];
  const uses = graph.nodes.map(() => []);
  graph.nodes.forEach((node, i) => node.inputs.forEach((from, j) => uses[from].push(done.edges[i][j])));
  graph.nodes.forEach((node, i) => {
    const value = done.values[i];
    const input = done.values[node.inputs[0]];
    const arrived = done.grads[i];
    if (uses[i].length > 1) {
      const who = node.kind === "leaf" ? node.name : `the result of ${node.title}`;
      found.push(`${who} is used ${uses[i].length} times, so its gradients add: ${uses[i].map(show).join(" + ")} = ${show(arrived)}.`);
    }
    if (node.kind === "relu" && value === 0) {
      found.push(input === 0 ? "ReLU at 0: there is no derivative; torch uses 0." : `Dead ReLU: its input is ${show(input)}, so it sends 0 whatever arrives.`);
    }
    if (node.kind === "max" && input === done.values[node.inputs[1]]) {
      found.push(`max at a tie: there is no derivative; torch sends half to each side, ${done.edges[i].map(show).join(" and ")}.`);
    }
    if (node.kind === "log" && input === 0) found.push(`log at 0: the value is −inf, and the gradient it sends is ${show(done.edges[i][0])}.`);
    if (node.kind === "log" && input < 0) found.push(`log of a negative number is nan, yet the gradient 1 / ${show(input)} is finite: ${show(done.edges[i][0])}.`);
    if (node.kind === "sqrt" && input === 0) found.push("sqrt at 0: the slope is infinite.");
    if (["tanh", "sigmoid"].includes(node.kind) && Number.isFinite(arrived) && arrived !== 0 && Math.abs(done.edges[i][0] / arrived) < 1e-3) {
      found.push(`Saturation: ${node.kind} of ${show(input)} is flat, so of ${show(arrived)} only ${show(done.edges[i][0])} comes through.`);
    }
  });
  const bad = graph.names.filter((name) => Number.isNaN(done.grads[graph.nodes.findIndex((node) => node.name === name)]));
  if (bad.length) found.push(`nan: the gradient of ${bad.join(", ")} is 0 times infinity, or comes from a nan; no step of an optimizer repairs that.`);
  if (!found.length) found.push("Each gradient is the product of the slopes along the path from the result to the variable.");
  return found.slice(0, 6);
}
