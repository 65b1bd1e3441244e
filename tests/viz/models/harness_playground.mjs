// Usage: node harness_playground.mjs path/to/torchbook/viz/src
// One JSON line in, one out: {text, values} → {value, gradients, code} or {error, at}. Numbers that JSON lacks are text.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const { evaluate, torchCode } = await import(pathToFileURL(`${process.argv[2]}/playground/model.js`).href);

const plain = (x) => (x === null || Number.isFinite(x) ? x : String(x));

for await (const line of createInterface({ input: process.stdin })) {
  const { text, values } = JSON.parse(line);
  let answer;
  try {
    const { value, gradients } = evaluate(text, values);
    const told = Object.fromEntries(Object.entries(gradients).map(([name, x]) => [name, plain(x)]));
    answer = { value: plain(value), gradients: told, code: torchCode(text, values) };
  } catch (error) {
    if (error.name !== "ParseError") throw error;
    answer = { error: error.message, at: error.at };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
