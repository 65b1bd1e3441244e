// Runs torchbook/viz/src/racer/{model,state,words}.js for tests/viz/models/test_racer_model.py.
// One JSON line in: {ask, of: [cases]}; one JSON line out.
// Usage: node harness_racer.mjs path/to/torchbook/viz/src

import { register } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

// As esbuild does, a JSON file is a module.
const loader = `
import { readFile } from "node:fs/promises";
export async function load(url, context, next) {
  if (!url.endsWith(".json")) return next(url, context);
  return { format: "module", shortCircuit: true, source: "export default " + (await readFile(new URL(url), "utf8")) };
}`;
register(`data:text/javascript,${encodeURIComponent(loader)}`);

const part = (name) => import(pathToFileURL(`${process.argv[2]}/racer/${name}.js`).href);
const [model, state, words, contour] = await Promise.all(["model", "state", "words", "contour"].map(part));

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
  presets: (name) => state.full(state.presets[name]),
  contours: ({ surface, level }) => contour.segments(contour.heights(model.SURFACES[surface]), level),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { ask, of } = JSON.parse(line);
  process.stdout.write(JSON.stringify(of.map(ASK[ask])) + "\n");
}
