// What the page makes of the contracts: torchbook/viz/src/core/contract.js for tests/viz/models/test_contract.py.
// One JSON line in: {ask, of: [[figure, ...]]}; one JSON line out. A figure is the name of its folder.
// Usage: node harness_contract.mjs path/to/torchbook/viz/src

import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { load } from "./modules.mjs";

const [, , source] = process.argv;
const { contractOf } = await load(`${source}/core/contract.js`);
const known = new Map();

async function contract(figure) {
  if (!known.has(figure)) {
    const model = existsSync(`${source}/${figure}/model.js`) ? await load(`${source}/${figure}/model.js`) : {};
    known.set(figure, model.CONTRACT ?? contractOf((await load(`${source}/${figure}/setup.json`)).default));
  }
  return known.get(figure);
}

const ASK = {
  start: (of) => of.start,
  problem: (of, name, value) => of.problem(name, value),
  fits: (of, given) => of.isSetting(given),
  options: (of, name) => of.options(name).map(({ value }) => value),
  setting: (of, preset) => of.settingOf(preset),
  preset: (of, setting) => of.presetOf(setting) ?? null,
};

for await (const line of createInterface({ input: process.stdin })) {
  const { ask, of } = JSON.parse(line);
  const answers = [];
  for (const [figure, ...rest] of of) answers.push(ASK[ask](await contract(figure), ...rest));
  process.stdout.write(`${JSON.stringify(answers)}\n`);
}
