/** What is known about one node, in words and numbers. */

import { button, h, replace } from "../core/index.js";
import { formula } from "./formulas.js";
import { called, full } from "./model.js";

/**
 * @param {HTMLElement} side
 * @param {{line: object, data: object, state: object, at: number, onselect: (i: number) => void}} view
 */
export function details(side, { line, data, state, at, onselect }) {
  const { graph } = line;
  const node = graph.nodes[at];
  const look = state.nodes[at];
  const number = (i) => tensor(data.tensors[i]);
  const jump = (i) => button(called(graph, i), () => onselect(i), { kind: "quiet" });
  const top = h("p", { class: "tbag-title" }, called(graph, at));
  const kind = node.kind === "leaf" ? "AccumulateGrad: the end of a path. It adds what arrives to .grad."
    : node.kind === "custom" ? "A node of a custom torch.autograd.Function." : node.op ? `Recorded by ${operation(node.op)}.` : "";
  const parts = [top, h("p", { class: "tbag-muted" }, kind)];
  if (node.value !== null) {
    const note = { now: "", forward: "", "": "" }[node.source] ?? `, ${node.source}`;
    parts.push(h("p", { class: "tbag-head" }, `${node.kind === "leaf" ? "Value" : "Result of the forward"}${note}`), number(node.value));
  } else {
    parts.push(h("p", { class: "tbag-muted" }, "Its value was not kept: nothing saved it."));
  }
  if (node.kind === "leaf") parts.push(h("p", {}, `Version ${node.version}.`));
  if (node.hooks.length) parts.push(h("p", {}, `Hooks: ${node.hooks.join(", ")}.`));
  parts.push(...formulas(node));
  parts.push(...saved(node, look, number, jump));
  parts.push(...flows(line, at, look, number, jump));
  replace(side, parts);
}

const operation = (name) => name.replace("aten.", "aten::").replace(/\.default$/, "");

const tensor = (row) => h("code", { class: row && !row.data ? "tbag-number tbag-words" : "tbag-number" },
  row && (row.shape.length || !row.data) ? `${row.dtype} [${row.shape.join(", ")}]\n${full(row)}` : full(row));

function formulas(node) {
  const rows = formula(node.name);
  if (!rows) return [h("p", { class: "tbag-head" }, "Formula"), h("p", { class: "tbag-muted" }, `No formula is written here for ${node.name}; the numbers below are what it did.`)];
  return [h("p", { class: "tbag-head" }, "Gradient it sends to"), h("dl", {}, Object.entries(rows).map(([name, text]) => [h("dt", {}, h("code", {}, name)), h("dd", {}, text)]))];
}

function saved(node, look, number, jump) {
  if (node.kind === "leaf") return [];
  const tensors = node.saved.filter((item) => item.tensor !== undefined || item.error);
  const rest = node.saved.filter((item) => item.text !== undefined && item.text !== "()" && !item.name.includes("_sym_"));
  const head = h("p", { class: "tbag-head" }, look.freed ? "Saved for the backward: freed now" : "Saved for the backward");
  if (!tensors.length && !rest.length) return [head, h("p", { class: "tbag-muted" }, "Nothing.")];
  const rows = tensors.map((item) => {
    const from = item.node !== undefined ? ["from ", jump(item.node)] : item.leaf ? [`the leaf ${item.leaf}`] : ["no gradient needs to reach it"];
    const body = item.error ? h("code", { class: "tbag-number tbag-words" }, item.error) : look.freed ? null : number(item.tensor);
    return h("div", {}, h("code", {}, item.name), h("span", { class: "tbag-muted" }, item.error ? "" : ` version ${item.version}, `, item.error ? "" : from), body);
  });
  const plain = rest.length ? h("p", { class: "tbag-muted" }, rest.map((item) => `${item.name}: ${item.text}`).join("; ")) : null;
  return [head, ...rows, plain];
}

function flows(line, at, look, number, jump) {
  const { graph } = line;
  if (!look.arrived) return [];
  const parts = [h("p", { class: "tbag-head" }, "Gradient that arrives")];
  const into = graph.edges.filter((edge) => edge.to === at);
  if (into.length > 1) parts.push(h("p", { class: "tbag-muted" }, `The sum of what ${into.length} edges bring.`));
  parts.push(...look.arrived.map(number));
  if (graph.nodes[at].kind === "leaf") {
    if (look.grad) parts.push(h("p", { class: "tbag-head" }, ".grad before"), number(look.grad.before), h("p", { class: "tbag-head" }, ".grad after"), number(look.grad.after));
    return parts;
  }
  if (look.sent) {
    parts.push(h("p", { class: "tbag-head" }, "Gradients it sends"));
    for (const edge of line.edges[at]) parts.push(h("div", {}, h("span", { class: "tbag-muted" }, "to "), jump(edge.to), number(look.sent[edge.input])));
  }
  if (look.retained !== undefined) parts.push(h("p", { class: "tbag-head" }, ".grad, kept by retain_grad()"), number(look.retained));
  return parts;
}
