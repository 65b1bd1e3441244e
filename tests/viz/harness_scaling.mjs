// Runs torchbook/viz/src/scaling/{model,text,words}.js for tests/viz/test_scaling.py; its data comes with the bundler, here by hand.
// One JSON line in: {ask, of: [settings or texts]}; one JSON line out.
// Usage: node harness_scaling.mjs path/to/torchbook/viz/src/scaling

import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const folder = process.argv[2];
const blob = (text) => `data:text/javascript,${encodeURIComponent(text)}`;
const source = (name) => readFileSync(`${folder}/${name}.js`, "utf8");
const setup = blob(`export default ${readFileSync(`${folder}/setup.json`, "utf8")}`);
const modelAt = blob(source("model").replace('"./setup.json"', JSON.stringify(setup)));
const textAt = blob(source("text"));
const wordsAt = blob(source("words").replace('"./model.js"', JSON.stringify(modelAt)).replace('"./text.js"', JSON.stringify(textAt)));
const [model, text, words] = await Promise.all([modelAt, textAt, wordsAt].map((at) => import(at)));

const ASK = {
  results: model.results,
  curve: model.curve,
  words: words.describe,
  script: words.script,
  values: (setting) => words.rows(setting).flatMap((group) => group.rows.map((row) => [row.name, row.value, row.formula])),
  read: (typed) => String(text.read(typed)),
  typed: ([name, value]) => [text.typed(name, value), text.read(text.typed(name, value))],
  problem: ([name, value]) => model.problem(name, value ?? NaN),
  numbers: (x) => [text.significant(x), text.plain(x), text.count(Math.round(x)), text.duration(x), text.amount(x)],
  preset: model.presetOf,
  claims: () => words.CLAIMS,
};

for await (const line of createInterface({ input: process.stdin })) {
  const { ask, of } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(of.map(ASK[ask]))}\n`);
}
