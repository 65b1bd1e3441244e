// Runs torchbook/viz/src/stride/model.js for tests/viz/models/test_stride_model.py.
// One JSON line in: a chain {create, steps: [{name, args, write}]}, or {ask: function, of: [arguments…]}. One JSON line out.
// Usage: node harness_stride.mjs path/to/torchbook/viz/src

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const model = await import(pathToFileURL(`${process.argv[2]}/stride/model.js`).href);

const flat = (at, shape) => at.reduce((sum, i, d) => sum * shape[d] + i, 0);

/** Everything that torch can be asked about as well. */
function seen(state) {
  const shared = model.aliases(state);
  return {
    shape: state.shape,
    stride: state.stride,
    offset: state.offset,
    contiguous: model.isContiguous(state),
    channelsLast: model.isContiguous(state, "channels_last"),
    values: model.values(state),
    aliases: Object.fromEntries([...shared].map(([place, ats]) => [place, ats.map((at) => flat(at, state.shape))])),
    bytes: model.bytes(state),
    storageBytes: model.storageBytes(state),
  };
}

function chain({ create, steps }) {
  let state = model.create(create);
  const start = seen(state);
  const results = steps.map(({ name, args, write }) => {
    const before = state.storageId;
    const result = model.apply(state, { name, args });
    if (result.error !== undefined) return result;
    state = result.state;
    const answer = { code: result.code, copied: result.copied, same: result.same, newStorage: state.storageId !== before };
    answer.seen = seen(state);
    if (write) {
      const { error, type, ...written } = model.write(state, write.at, write.value);
      answer.refused = error === undefined ? null : { error, type };
      state = written.state ?? state;
      answer.changed = written.changed?.map((at) => flat(at, state.shape));
      answer.written = model.values(state);
    }
    return answer;
  });
  return { start, results, script: model.script(state) };
}

function ask({ ask: name, of }) {
  return model[name](...of);
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  process.stdout.write(JSON.stringify(request.ask ? ask(request) : chain(request)) + "\n");
}
