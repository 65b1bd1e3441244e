// Runs torchbook/viz/src/microscope/{model,words}.js for tests/viz/models/test_microscope.py.
// One JSON line in: {ask, of: [...]}; one JSON line out. Usage: node harness_microscope.mjs path/to/torchbook/viz/src

import { createInterface } from "node:readline";
import { load } from "./modules.mjs";

const [model, words] = await Promise.all(["model", "words"].map((name) => load(`${process.argv[2]}/microscope/${name}.js`)));

/** A state as Python has it: {params, grad, buffer, pred, loss, recorded, reaches, current, line, refused}. */
const state = ({ pred, loss, ...rest }) => ({
  ...rest,
  pred: pred?.values ?? null,
  loss: loss?.value ?? null,
  recorded: Boolean(pred?.alive),
  reaches: Boolean(loss?.alive),
  current: Boolean(loss) && loss.of === pred.id,
});

const ASK = {
  states: (setting) => model.run(setting).map(state),
  words: words.describe,
  script: words.script,
  shown: words.shown,
  next: model.nextOf,
  fits: model.CONTRACT.isSetting,
};

for await (const line of createInterface({ input: process.stdin })) {
  const { ask, of } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(of.map((one) => ASK[ask](one) ?? null))}\n`);
}
