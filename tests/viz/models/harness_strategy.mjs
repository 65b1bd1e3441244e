// Runs torchbook/viz/src/strategy/{model,words}.js for tests/viz/models/test_strategy.py.
// One JSON line in: {ask, of: [...]}; one JSON line out.
// Usage: node harness_strategy.mjs path/to/torchbook/viz/src

import { createInterface } from "node:readline";
import { load } from "./modules.mjs";

const [model, words] = await Promise.all(["strategy/model.js", "strategy/words.js"].map((path) => load(`${process.argv[2]}/${path}`)));

const ASK = {
  plan: model.planOf,
  words: ([setting, show]) => words.describe(setting, show),
  script: ([setting, name]) => words.script(setting, model.candidates(setting)[name]),
  rows: (setting) => Object.values(model.candidates(setting)).map((one) => words.rows(setting, one).flatMap((group) => group.rows.map((row) => [row.name, row.value, row.formula]))),
  names: (setting) => [model.presetOf(setting) ?? null, model.modelOf(setting) ?? null, model.cardOf(setting) ?? null, model.wireOf(setting) ?? null],
  part: ([rank, layout]) => model.partOf(rank, model.layoutOf(layout)),
  peers: ([rank, setting, name]) => model.peersOf(rank, setting, model.candidates(setting)[name]),
  start: (name) => model.settingOf(name),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { ask, of } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(of.map(ASK[ask]))}\n`);
}
