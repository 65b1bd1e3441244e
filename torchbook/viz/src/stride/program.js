/** A tensor and the operations on it, run from the start: what the figure shows at each step, and in words. Pure. */

import { aliases, apply, bytes, create, dtypes, index, isContiguous, storageBytes, write } from "./model.js";

export const LIMIT = 512; // elements that can be drawn
export const RANK = 4;

const product = (numbers) => numbers.reduce((a, b) => a * b, 1);

/** A shape as Python prints it. */
export const tuple = (numbers) => (numbers.length === 1 ? `(${numbers[0]},)` : `(${numbers.join(", ")})`);

/** A whole number below 1e21 with all digits, another with at most four significant ones. */
export function short(value) {
  if (!Number.isFinite(value)) return String(value).replace("Infinity", "inf").toLowerCase();
  return Number.isInteger(value) && Math.abs(value) < 1e21 ? String(BigInt(value)) : String(Number(value.toPrecision(4)));
}

const tooLarge = ({ shape, storage }) => {
  if (shape.length > RANK) return `This figure draws up to ${RANK} dimensions; here there would be ${shape.length}.`;
  const most = Math.max(product(shape), storage.length);
  return most > LIMIT ? `This figure draws up to ${LIMIT} elements; here there would be ${most}.` : "";
};

/** One operation or write: `apply`, and a refusal of what cannot be drawn. */
export function step(state, op) {
  if (op.name === "write") {
    const { index: at, value } = op.args;
    return { copied: false, same: true, ...write(state, at, value) };
  }
  const done = apply(state, op);
  const large = done.error ? "" : tooLarge(done.state);
  return large ? { error: large, type: "figure", code: done.code } : done;
}

/**
 * Runs a program.
 * @param {{shape: number[], dtype?: string, ops?: object[], attempt?: object|null}} program
 * @returns {{steps: object[], state: object, error: object|null}} `steps[0]` is the first tensor; `error` is that of
 *   the attempt, or of the first operation that is refused (then the later ones are left out)
 */
export function run({ shape, dtype = "float32", ops = [], attempt = null }) {
  const first = create({ shape, dtype });
  const steps = [{ state: first, copied: false, same: true, code: first.origin }];
  let error = null;
  for (const op of attempt ? [...ops, attempt] : ops) {
    const done = step(steps.at(-1).state, op);
    if (done.error) {
      error = { ...done, op };
      break;
    }
    steps.push({ ...done, op });
  }
  return { steps, state: steps.at(-1).state, error };
}

/** Is this a program that `run` understands and the figure can draw? */
export function isProgram(given) {
  const whole = (list) => Array.isArray(list) && list.every((n) => Number.isInteger(n) && n >= 0);
  try {
    if (
      !whole(given.shape) ||
      !dtypes.includes(given.dtype ?? "float32") ||
      tooLarge({ shape: given.shape, storage: { length: product(given.shape) } })
    )
      return false;
    return run(given).steps.length === (given.ops ?? []).length + 1;
  } catch {
    return false;
  }
}

/** Does the last state still use the storage of the first? */
export const sharesFirst = ({ steps, state }) => state.storageId === steps[0].state.storageId;

/** The element to keep in view after an operation: the same place in the storage, or else the nearest index. */
export function follow(before, after, selected) {
  if (!selected) return null;
  if (product(after.shape) === 0) return null;
  if (before.storageId === after.storageId && fits(before, selected)) {
    const readers = aliases(after).get(index(before, selected));
    if (readers) return readers[0];
  }
  return after.shape.map((size, d) => Math.min(selected[d] ?? Math.min(1, size - 1), size - 1));
}

/** Is `at` an index of the state? */
export const fits = ({ shape }, at) =>
  Array.isArray(at) && at.length === shape.length && at.every((i, d) => i >= 0 && i < shape[d]);

/** Sum of products for `at`, with the numbers in it. */
export function arithmetic({ offset, stride }, at) {
  return [String(offset), ...at.map((i, d) => `${i}×${stride[d]}`)].join(" + ");
}

/** The state in words; StrideExplorer in Python says the same. */
export function describe(program, selected) {
  const { steps, state, error } = program;
  const count = steps.length - 1;
  const made = count
    ? `After ${count} step${count > 1 ? "s" : ""}, the last ${steps.at(-1).op.name}: `
    : `${state.origin}: `;
  const layout = `shape ${tuple(state.shape)}, stride ${tuple(state.stride)}, storage_offset ${state.offset}, `;
  const order = isContiguous(state) ? "contiguous, " : "not contiguous, ";
  const memory = sharesFirst(program) ? "sharing the first tensor's storage of " : "with a storage of its own, ";
  const stored = `${state.storage.length} elements (${storageBytes(state)} bytes); `;
  const shown = `the elements shown are ${bytes(state)} bytes.`;
  const one = fits(state, selected) ? ` ${elementInWords(state, selected)}` : "";
  const refused = error ? ` Refused: ${error.op.name}. ${error.error}` : "";
  return made + layout + order + memory + stored + shown + one + refused;
}

function elementInWords(state, at) {
  const place = index(state, at);
  const value = short(state.storage[place]);
  return `Element [${at.join(", ")}] is storage[${arithmetic(state, at)}] = storage[${place}] = ${value}.`;
}

/** Storage indices that a write through `at` changes for readers of the first tensor: its logical indices. */
export function readersInFirst(program, place) {
  return sharesFirst(program) ? (aliases(program.steps[0].state).get(place) ?? []) : [];
}

export { aliases, bytes, index, isContiguous, storageBytes };
