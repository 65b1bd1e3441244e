// Runs torchbook/viz/src/broadcast/model.js for tests/viz/models/test_broadcast_model.py.
// A JSON line in, [{given, at: [[…], …]}, …]; a JSON line out, one answer for each.
// Usage: node harness_broadcast.mjs path/to/torchbook/viz/src

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const model = await import(pathToFileURL(`${process.argv[2]}/broadcast/model.js`).href);

function answer({ given, at, text }) {
  const { shape, error } = model.outcome(given);
  const sizes = model.columns(given).map((column) => column.size);
  const code = text ? model.script(given, at[0]) : undefined;
  if (error) return { error, sizes, code };
  const names = model.names(given);
  const elements = at.map((one) => {
    const { of, value } = model.element(given, one);
    return { places: of.map(({ name, index }) => model.flat(given[name], index)), value };
  });
  const strides = names.map((name) => model.broadcastStride(given[name], shape));
  return { shape, sizes, strides, elements, memory: model.memory(given, shape), code };
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(JSON.parse(line).map(answer))}\n`);
}
