// Runs the forward of the living model for its tests. One JSON line in: {ask, of: [...]}; one JSON line out.
// Usage: node harness_living.mjs path/to/torchbook/viz/src

import { createInterface } from "node:readline";
import { load } from "./modules.mjs";

const [model, words] = await Promise.all(["model", "words"].map((name) => load(`${process.argv[2]}/living/${name}.js`)));

let living;

const plain = ({ text, start, rows, sizes, logits }) => ({ text, start, rows: rows.map((layer) => layer.map((head) => head.map((row) => [...row]))), sizes, logits: logits.map((one) => [...one]) });

const ASK = {
  model: ([shape, text]) => {
    const bytes = Uint8Array.from(Buffer.from(text, "base64"));
    try {
      living = model.modelOf(shape, new DataView(bytes.buffer));
    } catch (error) {
      return error.message;
    }
    return Object.keys(living.weights).length;
  },
  half: model.half,
  logits: (text) => {
    const cache = model.cacheOf(living);
    return [...text].map((char) => [...model.step(living, living.shape.alphabet.indexOf(char), cache)]);
  },
  reading: (text) => plain(model.readingOf(living, text)),
  recorded: ([reading, shape]) => plain(model.recorded(reading, shape)),
  window: ([length, context]) => model.windowOf(length, context),
  chances: ([logits, temperature, topP]) => {
    const { listed, kept } = model.chances(logits, temperature, topP);
    return [listed, kept];
  },
  draws: ([logits, temperature, topP, count]) => {
    const luck = model.luckOf(3);
    const next = model.chances(logits, temperature, topP);
    return Array.from({ length: count }, () => model.drawn(next, luck()));
  },
  written: ([text, how, count, seed]) => {
    const writer = model.writerOf(living);
    const luck = model.luckOf(seed);
    const computed = [];
    let written = text;
    for (let i = 0; i < count; i += 1) {
      const one = writer(written, how, luck, () => 0);
      written += one.char;
      computed.push(one.computed);
    }
    return [written, computed];
  },
  words: ([reading, shape, setting]) => words.describe(reading && model.recorded(reading, shape), shape, setting),
  script: ([reading, shape, setting]) => words.script(model.recorded(reading, shape), shape, setting),
  problem: ([text, alphabet]) => model.problemOf(text, alphabet),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { ask, of } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(of.map((one) => ASK[ask](one) ?? null))}\n`);
}
