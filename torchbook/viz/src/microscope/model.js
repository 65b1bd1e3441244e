/** Lines of a training loop on a model of two parameters, as torch runs them; tests compare with torch.optim.SGD. */

import { contractOf } from "../core/contract.js";
import SETUP from "./setup.json";

export const { lines: LINES, most: MOST, refusals: REFUSALS, rides: RIDES, units: UNITS } = SETUP;
export const NAMES = Object.keys(LINES);

const isRan = (ran) => Array.isArray(ran) && ran.length <= MOST && ran.every((name) => Object.hasOwn(LINES, name));
export const CONTRACT = contractOf(SETUP, {
  also: { ran: isRan },
  start: { ran: SETUP.ran },
  alike: (name, wanted, setting) => JSON.stringify(wanted[name]) === JSON.stringify(setting[name]),
});

/**
 * Before any line. `grad` and `buffer` are pairs, for w and b, or null; `pred` is {values, id, alive}, where `alive` says
 * whether its part of the graph is still there; `loss` is {value, values, of, alive, root}: `of` is the id of the
 * predictions behind it, `alive` and `root` say whether its own part of the graph, and that of its predictions, is there.
 */
const FRESH = { params: [SETUP.start.w, SETUP.start.b], grad: null, buffer: null, pred: null, loss: null, line: "", refused: "" };

const sum = (all) => all.reduce((a, b) => a + b, 0);

const RUN = {
  forward: ({ params: [w, b] }, _, id) => ({ pred: { values: RIDES.map(([km]) => w * km + b), id, alive: true } }),
  loss({ pred }) {
    if (!pred) return { refused: "pred" };
    const value = sum(pred.values.map((p, i) => (p - RIDES[i][1]) ** 2)) / RIDES.length;
    return { loss: { value, values: pred.values, of: pred.id, alive: true, root: pred.alive } };
  },
  zero: () => ({ grad: null }),
  backward({ grad, pred, loss }) {
    if (!loss) return { refused: "loss" };
    const freed = { ...loss, alive: false, root: false };
    if (!loss.alive) return { refused: "freed" };
    if (!loss.root) return { refused: "freed", loss: freed }; // its own part is gone before the other one is missed
    const slopes = loss.values.map((p, i) => (2 / RIDES.length) * (p - RIDES[i][1]));
    const [dw, db] = [sum(slopes.map((d, i) => d * RIDES[i][0])), sum(slopes)];
    return { grad: grad ? [grad[0] + dw, grad[1] + db] : [dw, db], loss: freed, pred: { ...pred, alive: pred.alive && pred.id !== loss.of } };
  },
  step({ params, grad, buffer }, { lr, momentum }) {
    if (!grad) return {};
    const by = momentum && buffer ? buffer.map((m, i) => momentum * m + grad[i]) : grad;
    return { params: params.map((p, i) => p - lr * by[i]), buffer: momentum ? by : null };
  },
};

/** The states before the first line and after each one. */
export function run(setting) {
  const states = [FRESH];
  for (const line of setting.ran) {
    const before = states.at(-1);
    states.push({ ...before, refused: "", ...RUN[line](before, setting, states.length), line });
  }
  return states;
}

/** The line that follows in the loop, those that are left out skipped. */
export function nextOf({ ran, without }) {
  const loop = NAMES.filter((name) => name !== without || name === ran.at(-1));
  return loop[(loop.indexOf(ran.at(-1)) + 1) % loop.length];
}

/** What a line looks at, beside what it changes: the names of rows of the picture. */
export const READS = { "": [], forward: ["params"], loss: ["pred"], zero: [], backward: ["loss"], step: ["grad", "buffer"] };
