/**
 * Scalar autograd as PyTorch does it, in doubles: the same nodes, the same formulas of the derivatives, the same
 * special cases (`2 / a` is a reciprocal and a product; `a ** 0.5` is a square root). Numbers without a variable are
 * folded, as Python folds them. No DOM.
 */

import { ParseError, parse } from "./parse.js";

const power = (x, y) => (x === 1 || y === 0 || (x === -1 && (y === Infinity || y === -Infinity)) ? 1 : Math.pow(x, y)); // C's pow
const SHORTCUTS = { 0: () => 1, 1: (x) => x, 2: (x) => x * x, 3: (x) => x * x * x, "-1": (x) => 1 / x, "-2": (x) => 1 / (x * x),
  0.5: (x) => Math.sqrt(x), "-0.5": (x) => 1 / Math.sqrt(x) };
const powerScalar = (x, y) => (SHORTCUTS[y] ?? ((z) => power(z, y)))(x); // torch's shortcuts for a number as exponent
const relu = (x) => (x < 0 ? 0 : x); // relu(-0.0) is -0.0, as in torch
const larger = (x, y) => (Number.isNaN(x) || Number.isNaN(y) ? NaN : x < y ? y : x);
/** What `torch.maximum` sends to each input; at a tie half to each, and beside a nan all to both. */
const shares = (g, x, y) => (x === y ? [g / 2, g / 2] : [x < y ? 0 : g, y < x ? 0 : g]);
const sigmoid = (x) => 1 / (1 + Math.exp(-x));

/**
 * One row for each kind of node: `grad_fn` as torch names it, `f` the value, `df` the gradient that goes to each input,
 * given the gradient that arrives `g`, the inputs and the result; `k` is the number beside the tensor.
 */
export const KINDS = {
  add: { node: "AddBackward0", f: (x, y) => x + y, df: (g) => [g, g], says: ["1", "1"] },
  addNumber: { node: "AddBackward0", f: (x, k) => x + k, df: (g) => [g], says: ["1"] },
  sub: { node: "SubBackward0", f: (x, y) => x - y, df: (g) => [g, -g], says: ["1", "−1"] },
  subNumber: { node: "SubBackward0", f: (x, k) => x - k, df: (g) => [g], says: ["1"] },
  numberSub: { node: "RsubBackward1", f: (x, k) => k - x, df: (g) => [-g], says: ["−1"] },
  mul: { node: "MulBackward0", f: (x, y) => x * y, df: (g, [x, y]) => [g * y, g * x], says: ["right", "left"] },
  mulNumber: { node: "MulBackward0", f: (x, k) => x * k, df: (g, _, __, k) => [g * k], says: ["number"] },
  div: { node: "DivBackward0", f: (x, y) => x / y, df: (g, [x, y]) => [g / y, -g * (x / y / y)], says: ["1 / right", "−left / right²"] },
  divNumber: { node: "DivBackward0", f: (x, k) => x / k, df: (g, _, __, k) => [g / k], says: ["1 / number"] },
  reciprocal: { node: "ReciprocalBackward0", f: (x) => 1 / x, df: (g, _, r) => [-g * (r * r)], says: ["−result²"] },
  pow: {
    node: "PowBackward1",
    f: power,
    df: (g, [x, y], r) => [
      y === 0 ? 0 : g * (y * power(x, y - 1)),
      g * (x === 0 && y >= 0 ? 0 : r * Math.log(x)),
    ],
    says: ["exponent · base^(exponent − 1)", "result · log(base)"],
  },
  powNumber: {
    node: "PowBackward0",
    f: powerScalar,
    df: (g, [x], _, k) => [k === 0 ? 0 : g * (k * powerScalar(x, k - 1))],
    says: ["number · base^(number − 1)"],
  },
  numberPow: {
    node: "PowBackward2",
    f: (x, k) => power(k, x),
    df: (g, [x], r, k) => [k === 0 ? g * (x >= 0 ? 0 : r * Math.log(k)) : g * (r * Math.log(k))],
    says: ["result · log(number)"],
  },
  max: {
    node: "MaximumBackward0",
    f: larger,
    df: (g, [x, y]) => shares(g, x, y),
    says: ["1 where left is larger, ½ at a tie, else 0", "1 where right is larger, ½ at a tie, else 0"],
  },
  maxNumber: { node: "MaximumBackward0", f: larger, df: (g, [x], _, k) => shares(g, x, k).slice(0, 1), says: ["1 where it is the larger, ½ at a tie, else 0"] },
  numberMax: { node: "MaximumBackward0", f: (x, k) => larger(k, x), df: (g, [x], _, k) => shares(g, k, x).slice(1), says: ["1 where it is the larger, ½ at a tie, else 0"] },
  neg: { node: "NegBackward0", f: (x) => -x, df: (g) => [-g], says: ["−1"] },
  exp: { node: "ExpBackward0", f: Math.exp, df: (g, _, r) => [g * r], says: ["result"] },
  log: { node: "LogBackward0", f: Math.log, df: (g, [x]) => [g / x], says: ["1 / input"] },
  sqrt: { node: "SqrtBackward0", f: Math.sqrt, df: (g, _, r) => [g / (2 * r)], says: ["1 / (2 · result)"] },
  sin: { node: "SinBackward0", f: Math.sin, df: (g, [x]) => [g * Math.cos(x)], says: ["cos(input)"] },
  cos: { node: "CosBackward0", f: Math.cos, df: (g, [x]) => [g * -Math.sin(x)], says: ["−sin(input)"] },
  tanh: { node: "TanhBackward0", f: Math.tanh, df: (g, _, r) => [g * (1 - r * r)], says: ["1 − result²"] },
  sigmoid: { node: "SigmoidBackward0", f: sigmoid, df: (g, _, r) => [g * (1 - r) * r], says: ["result · (1 − result)"] },
  relu: { node: "ReluBackward0", f: relu, df: (g, _, r) => [r <= 0 ? 0 : g], says: ["1 where result > 0, else 0"] },
};

const SIGN = { add: "+", sub: "−", mul: "×", div: "÷", pow: "^", max: "max" };

/**
 * The graph that torch would record, nodes in the order of the forward.
 * @param {object} tree from `parse`
 * @returns {{nodes: Array<object>, names: string[], root: number}} a node is `{kind: "leaf", name}` or
 *   `{kind, title, inputs, number}` where `kind` is a key of `KINDS`
 * @throws {ParseError} when there is no variable, or a folded number is not finite
 */
export function build(tree) {
  const nodes = [];
  const leaves = new Map();
  const put = (node) => nodes.push(node) - 1;

  const visit = (part) => {
    if (part.kind === "number") return { number: finite(part.value, part.at) };
    if (part.kind === "name") {
      if (!leaves.has(part.name)) leaves.set(part.name, put({ kind: "leaf", name: part.name, title: part.name, inputs: [] }));
      return { at: leaves.get(part.name) };
    }
    const args = part.args.map(visit);
    if (args.every((arg) => arg.at === undefined)) return { number: fold(part, args.map((arg) => arg.number)) };
    return { at: operation(part.name, args) };
  };

  const operation = (name, args) => {
    const [left, right] = args;
    if (args.length === 1) return put({ kind: name, title: name === "neg" ? "−" : name, inputs: [left.at] });
    const sign = SIGN[name];
    if (left.at !== undefined && right.at !== undefined) return put({ kind: name, title: sign, inputs: [left.at, right.at] });
    if (left.at !== undefined) return put({ kind: `${name}Number`, title: `${sign} ${show(right.number)}`, inputs: [left.at], number: right.number });
    const number = left.number;
    if (name === "div") {
      const inverse = put({ kind: "reciprocal", title: "1 ÷", inputs: [right.at] });
      return put({ kind: "mulNumber", title: `× ${show(number)}`, inputs: [inverse], number });
    }
    const kind = { add: "addNumber", mul: "mulNumber", sub: "numberSub", pow: "numberPow", max: "numberMax" }[name];
    return put({ kind, title: `${show(number)} ${sign}`, inputs: [right.at], number });
  };

  const root = visit(tree);
  if (root.at === undefined) throw new ParseError("there is no variable in it, so autograd records nothing", 0);
  return { nodes, names: [...leaves.keys()], root: root.at };
}

function fold(part, numbers) {
  return finite(KINDS[part.name].f(...numbers), part.at);
}

function finite(number, at) {
  if (!Number.isFinite(number)) throw new ParseError("this number is not finite", at);
  return number;
}

/**
 * Forward and backward.
 * @param {{nodes: Array<object>, root: number}} graph
 * @param {Record<string, number>} values of the leaves
 * @returns {{values: number[], grads: Array<number|null>, edges: number[][]}} `edges[i][j]` is the gradient that node i
 *   sends to its input j
 */
export function run(graph, values) {
  const { nodes, root } = graph;
  const out = [];
  for (const node of nodes) {
    out.push(node.kind === "leaf" ? values[node.name] : KINDS[node.kind].f(...node.inputs.map((i) => out[i]), ...rest(node)));
  }
  const grads = nodes.map(() => null);
  const edges = nodes.map(() => []);
  grads[root] = 1;
  for (let at = nodes.length - 1; at >= 0; at -= 1) {
    const node = nodes[at];
    if (grads[at] === null || node.kind === "leaf") continue;
    edges[at] = KINDS[node.kind].df(grads[at], node.inputs.map((i) => out[i]), out[at], node.number);
    node.inputs.forEach((i, j) => { grads[i] = grads[i] === null ? edges[at][j] : grads[i] + edges[at][j]; });
  }
  return { values: out, grads, edges };
}

const rest = (node) => (node.number === undefined ? [] : [node.number]);

/** The gradient with respect to `name` by a central difference, which knows nothing of the graph. */
export function difference(graph, values, name) {
  const x = values[name];
  const h = Math.cbrt(Number.EPSILON) * Math.max(1, Math.abs(x));
  const at = (moved) => run(graph, { ...values, [name]: moved }).values[graph.root];
  return (at(x + h) - at(x - h)) / (x + h - (x - h));
}

/** Value and gradients of an expression in one go. */
export function evaluate(text, values) {
  const graph = build(parse(text));
  const done = run(graph, values);
  const gradients = {};
  graph.nodes.forEach((node, i) => { if (node.kind === "leaf") gradients[node.name] = done.grads[i]; });
  return { value: done.values[graph.root], gradients };
}

/** A number short enough for a box: four significant digits, words for what is not finite. */
export function show(x) {
  if (x === null || x === undefined) return "None";
  if (Number.isNaN(x)) return "nan";
  if (!Number.isFinite(x)) return x > 0 ? "inf" : "−inf";
  if (x === 0) return "0";
  const size = Math.abs(x);
  const text = size >= 1e5 || size < 1e-3 ? x.toExponential(2).replace(/\.?0+e/, "e") : String(Number(x.toPrecision(4)));
  return text.replaceAll("-", "−");
}

/** The same computation as PyTorch code. */
export function torchCode(text, values) {
  const tree = parse(text);
  const { names } = build(tree);
  const lines = names.map((name) => `${name} = torch.tensor(${python(values[name])}, dtype=torch.float64, requires_grad=True)`);
  lines.unshift("import torch", "");
  lines.push(`out = ${code(tree, 0)}`, "out.backward()", `print(out.item(), ${names.map((n) => `${n}.grad.item()`).join(", ")})`);
  return lines.join("\n");
}

const python = (x) => (Object.is(x, -0) ? "-0.0" : Number.isInteger(x) && Math.abs(x) < 1e15 ? `${x}.0` : String(x));
const INFIX = { add: ["+", 1], sub: ["-", 1], mul: ["*", 2], div: ["/", 2], pow: ["**", 4] };

function code(part, least) {
  if (part.kind === "number") return (part.value < 0 || Object.is(part.value, -0)) && least > 1 ? `(${python(part.value)})` : python(part.value);
  if (part.kind === "name") return part.name;
  if (isNumber(part)) return code({ kind: "number", value: foldTree(part) }, least);
  if (part.name === "neg") return wrap(`-${code(part.args[0], 3)}`, 3 < least);
  if (part.name === "max") return `torch.maximum(${part.args.map(tensorCode).join(", ")})`;
  const [sign, strength] = INFIX[part.name] ?? [];
  if (!sign) return `torch.${part.name}(${part.args.map((arg) => code(arg, 0)).join(", ")})`;
  const [left, right] = part.args;
  const [a, b] = part.name === "pow" ? [5, 4] : [strength, strength + 1];
  return wrap(`${code(left, a)} ${sign} ${code(right, b)}`, strength < least);
}

/** `torch.maximum` takes no plain numbers. */
const tensorCode = (part) => (isNumber(part) ? `torch.tensor(${code(part, 0)}, dtype=torch.float64)` : code(part, 0));

const wrap = (text, yes) => (yes ? `(${text})` : text);
const isNumber = (part) => part.kind === "number" || (part.kind === "call" && part.args.every(isNumber));
const foldTree = (part) => (part.kind === "number" ? part.value : fold(part, part.args.map(foldTree)));
