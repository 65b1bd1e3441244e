// Runs torchbook/viz/src/memory/{model,words}.js for tests/viz/models/test_memory.py.
// One JSON line in: {ask, of: [settings]}; one JSON line out.
// Usage: node harness_memory.mjs path/to/torchbook/viz/src

import { createInterface } from "node:readline";
import { load } from "./modules.mjs";

const [model, words] = await Promise.all(["memory/model.js", "memory/words.js"].map((path) => load(`${process.argv[2]}/${path}`)));

const ASK = {
  results: model.results,
  changes: (setting) => [model.changes(setting), model.firstChange(setting)],
  remedies: () => model.REMEDIES,
  taken: (setting) => Object.fromEntries(Object.entries(model.REMEDIES).map(([name, one]) => [name, model.taken(setting, one)])),
  words: words.describe,
  script: words.script,
  values: (setting) => words.rows(setting).flatMap((group) => group.rows.map((row) => [row.name, row.value, row.formula])),
  preset: (setting) => [model.CONTRACT.presetOf(setting) ?? null, model.modelOf(setting) ?? null],
  start: (name) => model.CONTRACT.settingOf(name),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { ask, of } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(of.map(ASK[ask]))}\n`);
}
