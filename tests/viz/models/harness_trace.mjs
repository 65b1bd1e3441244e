// Runs torchbook/viz/src/trace/{model,words}.js for tests/viz/models/test_trace.py.
// One JSON line in: {ask, trace, of}; one JSON line out.
// Usage: node harness_trace.mjs path/to/torchbook/viz/src

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const part = (name) => import(pathToFileURL(`${process.argv[2]}/trace/${name}.js`).href);
const [model, words] = await Promise.all(["model", "words"].map(part));

const bare = (node) => ({ ...node, parent: node.parent ? node.parent.i : -1, children: node.children.map((one) => one.i), links: node.links.map(({ to, as }) => [to.i, as]) });

const ASK = {
  nodes: (data) => data.nodes.map(bare),
  tally: (data, of) => model.tally(data, { phase: of.phase, among: of.within === undefined ? undefined : model.within(data.nodes[of.within], data.nodes) }),
  sum: (data) => model.tally(data, { among: data.nodes }),
  shares: (data) => model.shares(data),
  busy: (data, [lane, start, end]) => model.busy(data.lanes[lane], start, end),
  details: (data, i) => words.details(data, data.nodes[i]),
  found: (data, query) => words.found(model.tally(data), model.matcher(query, data.names), 1),
  script: (data, of) => words.script({ names: data.names, ...of }),
  moved: (data, [i, key]) => model.moved(data, data.nodes[i] ?? null, key, { start: 0, end: data.end })?.i ?? -1,
  zoomed: (data, [view, factor, at]) => model.zoomed(data, view, factor, at),
  around: (data, i) => model.around(data, data.nodes[i]),
  nodeAt: (data, of) => model.nodeAt(data, ...of)?.i ?? -1,
  fitting: (data, [name, room]) => words.fitting(name, room),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { ask, trace, of } = JSON.parse(line);
  const data = model.decode(trace);
  process.stdout.write(`${JSON.stringify(of.map((one) => ASK[ask](data, one)))}\n`);
}
