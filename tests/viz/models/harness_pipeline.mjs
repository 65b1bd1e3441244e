// Runs the models of pipeline, bottleneck and tiles for their tests. One JSON line in: {ask, of: [...]}; one JSON line out.
// Usage: node harness_pipeline.mjs path/to/torchbook/viz/src

import { createInterface } from "node:readline";
import { load } from "./modules.mjs";

const at = (name) => load(`${process.argv[2]}/${name}.js`);
const names = ["pipeline/model", "pipeline/words", "bottleneck/model", "tiles/model", "tiles/words"];
const [pipe, pipeWords, neck, tiles, tileWords] = await Promise.all(names.map(at));

// JSON has no infinity.
const safe = (value) => JSON.stringify(value, (_, x) => (x === Infinity ? "inf" : x === -Infinity ? "-inf" : x));

const ASK = {
  simulate: (setting) => pipe.simulate(setting).map((one) => Object.values(one)),
  keys: () => Object.keys(pipe.simulate(pipe.START)[0]),
  steady: pipe.steady,
  terms: pipe.terms,
  pipe_words: ([setting, run]) => pipeWords.describe(setting, run),
  way: ([setting, i]) => pipeWords.wayOf(pipe.simulate(setting), i),
  pipe_script: pipeWords.script,
  pipe_preset: pipe.presetOf,
  seen: ([run, workers]) => pipe.seen(pipe.unpacked(run), workers),
  diagnose: neck.diagnose,
  neck_lanes: neck.lanesOf,
  neck_words: neck.describe,
  neck_script: neck.script,
  product: ([setting, step]) => tiles.product(setting, step),
  online: ([setting, step]) => tiles.online(setting, step),
  loads: tiles.loads,
  held: ([setting, step]) => tiles.held(setting, step),
  traffic: ([setting, step]) => tiles.traffic(setting, step),
  passes: tiles.passes,
  steps: tiles.stepsOf,
  jump: ([setting, step, way]) => tiles.program(setting, step, way),
  tile_words: ([setting, step, row]) => tileWords.describe(setting, step, row),
  tile_script: ([setting, step]) => tileWords.script(setting, step),
  fixed: tileWords.fixed,
  is_state: tiles.isState,
};

for await (const line of createInterface({ input: process.stdin })) {
  const { ask, of } = JSON.parse(line);
  process.stdout.write(`${safe(of.map(ASK[ask]))}\n`);
}
