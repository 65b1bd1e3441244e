/**
 * Broadcasting without PyTorch: the shape of the result or what torch says when there is none, the strides of the
 * operands as broadcast, and the operand elements that a result element uses.
 *
 * Everything here is pure. The rules follow ATen (ExpandUtils.cpp, TensorIterator.cpp); test_broadcast_model.py
 * compares them with the installed torch on random shapes. Error texts are those of torch 2.15.
 *
 * @typedef {{a: number[], b: number[], c: number[], op: string}} Given `c`, the condition, counts only for "where"
 */

/** Operators; with "=" in place. "where" takes a condition first. */
export const OPS = ["+", "-", "*", "+=", "-=", "*=", "where"];
export const RANK = 5;
export const MOST = 5; // the largest size
const BYTES = { a: 4, b: 4, c: 1 };

export const inPlace = (op) => op.endsWith("=");
export const product = (numbers) => numbers.reduce((x, y) => x * y, 1);

/** A shape as Python prints it. */
export const tuple = (numbers) => (numbers.length === 1 ? `(${numbers[0]},)` : `(${numbers.join(", ")})`);

/** Names of the operands, in the order in which torch looks at them. */
export const names = ({ op }) => (op === "where" ? ["c", "a", "b"] : ["a", "b"]);

/** The size of dimension `d` of a result with `rank` dimensions; null where the operand has no such dimension. */
const sizeAt = (shape, d, rank) => shape[d - rank + shape.length] ?? null;

function pair(one, other) {
  const rank = Math.max(one.length, other.length);
  const shape = new Array(rank);
  for (let d = rank - 1; d >= 0; d--) {
    const [x, y] = [sizeAt(one, d, rank) ?? 1, sizeAt(other, d, rank) ?? 1];
    if (x !== y && x !== 1 && y !== 1)
      return {
        error: `The size of tensor a (${x}) must match the size of tensor b (${y}) at non-singleton dimension ${d}`,
      };
    shape[d] = x === 1 ? y : x;
  }
  return { shape };
}

const equal = (x, y) => x.length === y.length && x.every((n, d) => n === y[d]);

/**
 * What torch answers: `{shape}`, or `{error}` in its own words. In place, `wanted` is the shape that `a` would need.
 * @param {Given} given
 */
export function outcome(given) {
  let so = { shape: given[names(given)[0]] };
  for (const name of names(given).slice(1)) {
    so = pair(so.shape, given[name]);
    if (so.error) return so;
  }
  if (inPlace(given.op) && !equal(so.shape, given.a))
    return {
      error: `output with shape [${given.a.join(", ")}] doesn't match the broadcast shape [${so.shape.join(", ")}]`,
      wanted: so.shape,
    };
  return so;
}

/**
 * The dimensions of the result, each with what becomes of every operand there: "equal", "stretched", "missing" or
 * "mismatch". `size` is null where sizes do not match.
 * @param {Given} given
 */
export function columns(given) {
  const rank = Math.max(...names(given).map((name) => given[name].length));
  return Array.from({ length: rank }, (_, d) => {
    const sizes = names(given).map((name) => ({ name, size: sizeAt(given[name], d, rank) }));
    const real = [...new Set(sizes.map((one) => one.size).filter((n) => n !== null && n !== 1))];
    const size = real.length > 1 ? null : (real[0] ?? 1);
    const kind = (n) => {
      if (n === null) return "missing";
      if (n !== 1) return size === null ? "mismatch" : "equal";
      return size === 1 ? "equal" : "stretched";
    };
    return { dim: d, back: d - rank, size, real, of: sizes.map((one) => ({ ...one, kind: kind(one.size) })) };
  });
}

/** The strides of a new tensor; an empty dimension counts as one of size 1. */
export function contiguousStride(shape) {
  let step = 1;
  return shape.reduceRight((strides, n) => {
    strides.unshift(step);
    step *= Math.max(n, 1);
    return strides;
  }, []);
}

/** The strides of a new tensor of `shape` as `torch.broadcast_tensors` gives it back with the shape `target`. */
export function broadcastStride(shape, target) {
  if (!shape.length) return target.map(() => 0);
  const own = contiguousStride(shape);
  const strides = new Array(target.length);
  for (let d = target.length - 1; d >= 0; d--) {
    const from = d - target.length + shape.length;
    const [size, step] = from >= 0 ? [shape[from], own[from]] : [1, target[d + 1] * strides[d + 1]];
    strides[d] = size === target[d] ? step : 0;
  }
  return strides;
}

/** The index of the element of an operand that the result element `at` uses. */
export const used = (shape, at) => shape.map((n, d) => (n === 1 ? 0 : at[d - shape.length + at.length]));

/** The place of an element in row-major order. */
export const flat = (shape, at) => at.reduce((sum, i, d) => sum * shape[d] + i, 0);

/** The value at a place of an operand: 0, 10, 20, … in a, 0, 1, 2, … in b, True, False, … in c. */
export const valueOf = (name, place) => (name === "c" ? place % 2 === 0 : name === "a" ? 10 * place : place);

/** The operand elements behind the result element `at`, and its value. */
export function element(given, at) {
  const of = names(given).map((name) => {
    const index = used(given[name], at);
    return { name, index, value: valueOf(name, flat(given[name], index)) };
  });
  const [x, y, z] = of.map((one) => one.value);
  const sign = given.op[0];
  if (given.op === "where") return { of, value: x ? y : z };
  return { of, value: sign === "+" ? x + y : sign === "-" ? x - y : x * y };
}

/**
 * Bytes: what each operand has, what it would have if it were copied out to the result's shape, and what is new.
 * Elements are float32, those of the condition bool.
 */
export function memory(given, shape) {
  const count = product(shape);
  const of = names(given).map((name) => {
    const [own, full] = [product(given[name]) * BYTES[name], count * BYTES[name]];
    return { name, own, full, spared: Math.max(0, full - own) };
  });
  return { of, result: 4 * count, fresh: inPlace(given.op) ? 0 : 4 * count };
}

const sized = (shape) => (shape.length ? shape.join(", ") : "()");

function made(name, shape) {
  const count = product(shape);
  const reshape = shape.length === 1 ? "" : `.reshape(${sized(shape)})`;
  if (name === "b") return `b = torch.arange(${count}.0)${reshape}`;
  const row = name === "a" ? `10 * torch.arange(${count}.0)` : `torch.arange(${count}) % 2 == 0`;
  return `${name} = ${reshape ? `(${row})${reshape}` : row}`;
}

/** The operation in Python. */
export const statement = ({ op }) => (op === "where" ? "torch.where(c, a, b)" : `a ${op} b`);

const indexed = (name, at) => `${name}[${at.length ? at.join(", ") : "()"}]`;

/** Code that makes the operands, runs the operation and asserts what the figure shows. */
export function script(given, at) {
  const all = names(given);
  const lines = ["import torch", "", ...all.map((name) => made(name, given[name]))];
  const run = inPlace(given.op) ? statement(given) : `result = ${statement(given)}`;
  const { shape, error } = outcome(given);
  if (error)
    return [
      ...lines,
      "",
      "try:",
      `    ${run}`,
      "except RuntimeError as refusal:",
      `    assert str(refusal) == ${JSON.stringify(error)}`,
      "else:",
      '    raise AssertionError("torch allows it")',
      "",
    ].join("\n");
  const strides = all.map((name) => tuple(broadcastStride(given[name], shape))).join(", ");
  lines.push(`strides = [x.stride() for x in torch.broadcast_tensors(${all.join(", ")})]`, "", run);
  const result = inPlace(given.op) ? "a" : "result";
  lines.push(`assert ${result}.shape == ${tuple(shape)}`, `assert strides == [${strides}]`);
  if (at) lines.push(`assert ${indexed(result, at)} == ${element(given, at).value}`);
  if (at && !inPlace(given.op)) {
    const parts = element(given, at).of.map((one) => indexed(one.name, one.index));
    const whole = given.op === "where" ? `torch.where(${parts.join(", ")})` : parts.join(` ${given.op} `);
    lines.push(`assert ${indexed(result, at)} == ${whole}`);
  }
  return `${lines.join("\n")}\n`;
}

const OPERATORS = { "+": "+", "-": "−", "*": "×" };

/** The operation as it is read. */
export const spoken = (op) => (OPERATORS[op[0]] ?? op) + (inPlace(op) ? "=" : "");

/** `name[1, 0]`; without dimensions just the name. */
export const brackets = (name, at) => (at.length ? `${name}[${at.join(", ")}]` : name);

/** Python's word for a value. */
export const python = (value) => (typeof value === "boolean" ? (value ? "True" : "False") : String(value));

/** The two sides of an element: the elements used, and their values. */
export function formula(given, at) {
  const { of, value } = element(given, at);
  const join = (parts) =>
    given.op === "where" ? `where(${parts.join(", ")})` : parts.join(` ${OPERATORS[given.op[0]]} `);
  return {
    left: brackets(inPlace(given.op) ? "a" : "result", at),
    uses: join(of.map((one) => brackets(one.name, one.index))),
    values: join(of.map((one) => python(one.value))),
    value,
  };
}

const repeats = ({ of, size }) =>
  of
    .filter(({ kind }) => kind === "stretched" || kind === "missing")
    .map(
      ({ name, kind }) =>
        `${name} ${kind === "missing" ? "has none and counts as 1" : "has 1"}, repeated ${size} times`,
    );

function columnInWords(column) {
  const { dim, size, real, of } = column;
  if (size === null) return `Dimension ${dim}: ${real.join(" and ")} do not match.`;
  const told =
    size === 1
      ? of.filter((one) => one.kind === "missing").map((one) => `${one.name} has none and counts as 1`)
      : repeats(column);
  return `Dimension ${dim}: ${size}${told.length ? `; ${told.join("; ")}` : ", equal"}.`;
}

/** The shapes with the operation between them. */
export const shapesLine = (given) => {
  const all = names(given).map((name) => tuple(given[name]));
  return given.op === "where" ? `where(${all.join(", ")})` : all.join(` ${spoken(given.op)} `);
};

/** The state in words; BroadcastExplorer in Python says the same. */
export function describe(given, at) {
  const { shape, error } = outcome(given);
  const dims = columns(given).map(columnInWords).reverse();
  if (error) return [`${shapesLine(given)} is refused: ${error}.`, ...dims].join(" ");
  const { fresh } = memory(given, shape);
  const where = inPlace(given.op) ? "written into a, no new memory" : `${fresh} bytes of new memory`;
  const strides = names(given).map((name) => `${name} ${tuple(broadcastStride(given[name], shape))}`);
  const text = [
    `${shapesLine(given)} gives shape ${tuple(shape)}: ${product(shape)} element${product(shape) === 1 ? "" : "s"}, ${where}.`,
    ...dims,
    `Strides as broadcast: ${strides.join(", ")}.`,
  ];
  if (at) {
    const { left, uses, values, value } = formula(given, at);
    text.push(`${left} = ${uses} = ${values} = ${python(value)}.`);
  }
  return text.join(" ");
}

/** Is this a state that the figure shows? */
export function isGiven(given) {
  const shape = (x) =>
    Array.isArray(x) && x.length <= RANK && x.every((n) => Number.isInteger(n) && n >= 0 && n <= MOST);
  return Boolean(given) && OPS.includes(given.op) && shape(given.a) && shape(given.b) && shape(given.c ?? []);
}

/** Is `at` an element of a tensor of this shape? */
export const fits = (shape, at) =>
  Boolean(shape) &&
  Array.isArray(at) &&
  at.length === shape.length &&
  at.every((i, d) => Number.isInteger(i) && i >= 0 && i < shape[d]);
