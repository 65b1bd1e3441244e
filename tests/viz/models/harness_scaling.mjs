// Runs torchbook/viz/src/scaling/{model,words}.js and core/units.js for tests/viz/models/test_scaling.py.
// One JSON line in: {ask, of: [settings or texts]}; one JSON line out.
// Usage: node harness_scaling.mjs path/to/torchbook/viz/src

import { createInterface } from "node:readline";
import { load } from "./modules.mjs";

const [model, text, words] = await Promise.all(["scaling/model.js", "core/units.js", "scaling/words.js"].map((path) => load(`${process.argv[2]}/${path}`)));

const ASK = {
  results: model.results,
  curve: model.curve,
  words: words.describe,
  script: words.script,
  values: (setting) => words.rows(setting).flatMap((group) => group.rows.map((row) => [row.name, row.value, row.formula])),
  read: (typed) => String(text.read(typed)),
  typed: ([name, value]) => [text.typed(name, value), text.read(text.typed(name, value))],
  numbers: (x) => [text.significant(x), text.plain(x), text.count(Math.round(x)), text.duration(x), text.amount(x)],
  preset: model.CONTRACT.presetOf,
  claims: () => words.CLAIMS,
};

for await (const line of createInterface({ input: process.stdin })) {
  const { ask, of } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(of.map(ASK[ask]))}\n`);
}
