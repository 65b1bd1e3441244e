// Runs torchbook/viz/src/dispatch/{model,words}.js for tests/viz/models/test_dispatch.py.
// One JSON line in: {ask, of: [...]}; one JSON line out. {ask: "recording", of: [recording]} comes first.
// Usage: node harness_dispatch.mjs path/to/torchbook/viz/src

import { createInterface } from "node:readline";
import { load } from "./modules.mjs";

const [model, words] = await Promise.all(["dispatch/model.js", "dispatch/words.js"].map((path) => load(`${process.argv[2]}/${path}`)));

let recording;
const sorted = (set) => [...set].sort();
const plain = (stop) => ({
  call: stop.call,
  left: stop.left,
  key: stop.key,
  entry: stop.entry,
  action: stop.action,
  passed: sorted(stop.passed),
  args: sorted(stop.state.args),
  include: sorted(stop.state.include),
  exclude: sorted(stop.state.exclude),
});

const ASK = {
  recording: (given) => Boolean((recording = given)),
  route: (setting) => model.route(recording, setting).map(plain),
  callees: (setting) => {
    const stops = model.route(recording, setting);
    return stops.length ? model.callees(recording, setting.op, stops.at(-1)).map(([name, way]) => [name, way.map(plain)]) : [];
  },
  words: ([setting, step, way]) => words.describe(recording, setting, step, way),
  moments: (setting) => model.moments(recording, setting.op, model.route(recording, setting)).map(({ step, way }) => [step, way]),
  script: (setting) => words.script(recording, setting),
  state: (value) => model.isState(recording, value),
  presets: () => model.presetsOf(recording),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { ask, of } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(of.map(ASK[ask]))}\n`);
}
