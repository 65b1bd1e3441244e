// Runs torchbook/viz/src/floats/{model,text,words}.js for tests/viz/models/test_floats_model.py.
// One JSON line in: {ask, format, of: [patterns, or float64 as 16 hexadecimal digits, or texts], saturates}; one JSON line out.
// Usage: node harness_floats.mjs path/to/torchbook/viz/src

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const part = (name) => import(pathToFileURL(`${process.argv[2]}/floats/${name}.js`).href);
const [model, text, words] = await Promise.all(["model", "text", "words"].map(part));

const view = new DataView(new ArrayBuffer(8));

/** A number whatever it is, also −0, inf and nan. */
function number(digits) {
  view.setBigUint64(0, BigInt(`0x${digits}`));
  return view.getFloat64(0);
}

function written(x) {
  view.setFloat64(0, Number.isNaN(x) ? NaN : x);
  return view.getBigUint64(0).toString(16).padStart(16, "0");
}

function read(typed) {
  try {
    return written(text.read(typed));
  } catch (error) {
    return { refused: error.message };
  }
}

function state(of, typed, saturates) {
  const x = text.read(typed);
  const bits = model.encode(of, x, saturates);
  const all = { of, number: typed, typed: x, bits, saturates };
  return { ...all, value: model.decode(of, bits), kind: model.classOf(of, bits) };
}

const ASK = {
  patterns: (of) => (bits) => [
    written(model.decode(of, bits)),
    model.classOf(of, bits),
    model.neighbour(of, bits, 1),
    model.neighbour(of, bits, -1),
  ],
  texts: (of) => (bits) => {
    const value = model.decode(of, bits);
    return [text.repr(value), text.exact(value), text.floatHex(value), model.digits(of, bits), model.hex(of, bits)];
  },
  casts: (of, saturates) => (digits) => model.encode(of, number(digits), saturates),
  fates: (of, saturates) => (digits) => {
    const { fate, error } = model.fate(of, number(digits), saturates);
    return [fate, written(error)];
  },
  limits: (of) => () => ({ ...model.limits(of), bits: of.width, brink: model.brink(of) }),
  reprs: () => (digits) => [text.repr(number(digits)), text.exact(number(digits)), text.short(number(digits))],
  reads: () => read,
  words: (of, saturates) => (typed) => words.describe(state(of, typed, saturates)),
  scripts: (of, saturates) => (typed) => words.script(state(of, typed, saturates)),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { ask, format, of, saturates = true } = JSON.parse(line);
  process.stdout.write(JSON.stringify(of.map(ASK[ask](model.FORMATS[format], saturates))) + "\n");
}
