// Runs the model of the KV cache for its tests. One JSON line in: {ask, of: [...]}; one JSON line out.
// Usage: node harness_kvcache.mjs path/to/torchbook/viz/src

import { createInterface } from "node:readline";
import { load } from "./modules.mjs";

const [model, words] = await Promise.all(["model", "words"].map((name) => load(`${process.argv[2]}/kvcache/${name}.js`)));

const moment = (one) => [one.running.map((run) => [run.request, run.positions, run.generated, run.pages, run.done]), one.waiting, one.ended, one.started, one.evicted, one.used, one.held, one.pages];

const ASK = {
  generation: ([setting, cached]) => model.generation(setting, cached).map((one) => [one.step, one.phase, one.new, one.total, one.computed, one.read, one.macs, one.flops, one.kept]),
  room: ([setting, heads]) => {
    const one = model.room(setting, heads);
    return [one.parameters, one.weights, one.position, one.each, one.left, one.fit];
  },
  serve: ([requests, page, capacity]) => model.serve(requests, page, capacity).map(moment),
  mismatch: model.mismatch,
  words: ([setting, step, at]) => words.describe(setting, step, at),
  script: ([setting, step, at]) => words.script(setting, step, at),
  state: model.isState,
  preset: model.presetOf,
  other: model.otherRequests,
};

for await (const line of createInterface({ input: process.stdin })) {
  const { ask, of } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(of.map((one) => ASK[ask](one) ?? null))}\n`);
}
