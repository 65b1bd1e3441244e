// Runs torchbook/viz/src/racer/{model,state,words}.js for tests/viz/models/test_racer_model.py.
// One JSON line in: {ask, of: [cases]}; one JSON line out.
// Usage: node harness_racer.mjs path/to/torchbook/viz/src

import { createInterface } from "node:readline";
import { load } from "./modules.mjs";

const [model, state, words, contour, setup] = await Promise.all(["model.js", "state.js", "words.js", "contour.js", "setup.json"].map((name) => load(`${process.argv[2]}/racer/${name}`)));

/** A state with the way of each racer, as `session().now()` has it. */
function now(given) {
  const picks = model.batches(given.seed, given.steps);
  const go = (name) => model.run(given.surface, name, given[name], given.start, given.steps, picks);
  return { ...given, picks, ways: Object.fromEntries(given.optimizers.map((name) => [name, go(name)])) };
}

const ASK = {
  surfaces: () => model.SURFACES,
  defaults: ([surface, name]) => model.defaults(surface, name),
  batches: ([seed, steps]) => model.batches(seed, steps),
  slopes({ surface, at, step, seed }) {
    const { loss, grad } = model.SURFACES[surface];
    return [loss(...at), ...grad(...at, step, model.batches(seed, step)[step - 1])];
  },
  moves({ name, settings, at, kept, grad }) {
    const after = model.advance(model.mover(name, settings), { at, kept }, grad);
    return { at: after.at, m: after.kept.map((k) => k.m), v: after.kept.map((k) => k.v), step: after.kept[0].step };
  },
  runs: (given) => now(given).ways,
  reads: ({ step, ...given }) => Object.values(now(given).ways).map((way) => model.read(given.surface, way, step)),
  words: (given) => words.describe(now(given)),
  scripts: (given) => words.script(given),
  valid: (given) => state.isState(given),
  presets: (name) => state.full(setup.presets[name].set),
  contours: ({ surface, level }) => contour.segments(contour.heights(model.SURFACES[surface]), level),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { ask, of } = JSON.parse(line);
  process.stdout.write(JSON.stringify(of.map(ASK[ask])) + "\n");
}
