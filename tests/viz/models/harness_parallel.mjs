// Runs the models of ring and schedule for their tests. One JSON line in: {ask, of: [...]}; one JSON line out.
// Usage: node harness_parallel.mjs path/to/torchbook/viz/src

import { createInterface } from "node:readline";
import { load } from "./modules.mjs";

const at = (name) => load(`${process.argv[2]}/${name}.js`);
const [ring, ringWords, plan, planWords] = await Promise.all(["ring/model", "ring/words", "schedule/model", "schedule/words"].map(at));

const flat = (messages) => messages.map((one) => [one.step, one.source, one.target, one.chunk, one.values]);

const ASK = {
  numbers: ([ranks, elements, seed]) => ring.numbers(ranks, elements, seed),
  ring: (values) => ring.ringSteps(values).map((one) => [one.step, one.phase, flat(one.messages), one.vectors, one.parts]),
  others: (values) => [flat(ring.gatherMessages(values)), flat(ring.treeMessages(values))],
  costs: ring.costs,
  ring_words: ([setting, vectors, step]) => ringWords.describe(setting, vectors, step),
  ring_script: ringWords.script,
  ring_state: ring.isState,
  schedule: (setting) => plan.schedule(setting).map((op) => [op.rank, op.stage, op.microbatch, op.kind, op.start, op.end]),
  counts: (setting) => {
    const ops = plan.schedule(setting);
    const p = setting.stages;
    return [plan.span(ops), plan.bubble(ops, p), plan.held(ops, p), plan.messages(ops, p), plan.moments(ops)];
  },
  possible: ([kind, stages]) => plan.possible(kind, stages),
  refusal: ([kind, stages, microbatches]) => plan.refusal(kind, stages, microbatches),
  plan_words: ([setting, cursor]) => planWords.describe(setting, cursor),
  plan_script: planWords.script,
  plan_state: plan.isState,
  plan_preset: plan.presetOf,
};

for await (const line of createInterface({ input: process.stdin })) {
  const { ask, of } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(of.map((one) => ASK[ask](one) ?? null))}\n`);
}
