// Runs torchbook/viz/src/ranks/{model,words}.js for tests/viz/models/test_ranks.py. JSON line in: {ask, of: [...]}; one out.
// Usage: node harness_ranks.mjs path/to/torchbook/viz/src

import { createInterface } from "node:readline";
import { load } from "./modules.mjs";

const [model, words] = await Promise.all(["model", "words"].map((name) => load(`${process.argv[2]}/ranks/${name}.js`)));

const ASK = {
  run: (programs) => {
    const { frames, outcome } = model.run(programs);
    return { outcome, ranks: frames.at(-1).ranks, frames: frames.length };
  },
  words: (programs) => words.describe(programs, model.run(programs), 99),
  edit: (args) => model.edit(...args) ?? null,
  state: model.CONTRACT.isSetting,
};

for await (const line of createInterface({ input: process.stdin })) {
  const { ask, of } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(of.map((one) => ASK[ask](one)))}\n`);
}
