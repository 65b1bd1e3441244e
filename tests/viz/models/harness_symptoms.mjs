// Runs the model of symptoms for its tests. One JSON line in: {ask, of: [...]}; one JSON line out.
// Usage: node harness_symptoms.mjs path/to/torchbook/viz/src

import { createInterface } from "node:readline";
import { load } from "./modules.mjs";

const model = await load(`${process.argv[2]}/symptoms/model.js`);

const ASK = {
  search: ([query, picture]) => model.search(query, picture),
  words: ([query, opened, chosen]) => model.describe(query, opened, chosen),
  is_state: (given) => model.isState(given),
  address: ([where, root]) => model.addressOf(where, root ?? undefined),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { ask, of } = JSON.parse(line);
  console.log(JSON.stringify(of.map((one) => ASK[ask](one) ?? null)));
}
