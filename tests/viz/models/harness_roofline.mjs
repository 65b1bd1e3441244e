// Runs torchbook/viz/src/roofline/{model,words}.js for tests/viz/models/test_roofline.py.
// One JSON line in: {ask, of: [settings]}; one JSON line out.
// Usage: node harness_roofline.mjs path/to/torchbook/viz/src

import { createInterface } from "node:readline";
import { load } from "./modules.mjs";

const [model, words, units] = await Promise.all(["roofline/model.js", "roofline/words.js", "core/units.js"].map((path) => load(`${process.argv[2]}/${path}`)));

const ASK = {
  results: (setting) => [model.costOf(setting), model.costOf(setting, !setting.fused), model.results(setting)],
  words: ([setting, points]) => words.describe(setting, points),
  advice: model.advice,
  span: ([setting, points]) => model.span(setting, points),
  script: words.script,
  slide: ([setting, intensity]) => {
    const name = model.slideOf(setting) ?? null;
    return [name, name && model.sizeAt(setting, intensity)];
  },
  values: (setting) => words.rows(setting).flatMap((group) => group.rows.map((row) => [row.name, row.value, row.formula ?? ""])),
  problem: ([op, name, value]) => model.problem(op, name, value ?? NaN),
  preset: (setting) => model.presetOf(setting) ?? null,
  start: (name) => model.settingOf(name),
  tick: words.tick,
  operations: (x) => units.prefixed(x, "FLOP"),
  is: ([setting, machine]) => model.isSetting(setting, machine),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { ask, of } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(of.map(ASK[ask]))}\n`);
}
