/**
 * The way of each batch through an input pipeline; the same arithmetic as in torchbook/viz/pipeline.py, which tests compare.
 * Times are milliseconds.
 */

import { contractOf } from "../core/contract.js";
import SETUP from "./setup.json";

export const { fields: FIELDS, transfers: TRANSFERS } = SETUP;
export const NAMES = Object.keys(FIELDS);
export const CONTRACT = contractOf(SETUP);
export const { start: START, problem, isSetting, presetOf } = CONTRACT;
export const MAIN = -1;
const AHEAD = 2;
const KEYS = ["load_start", "load_end", "ask", "got", "copy_start", "copy_end", "step_start", "step_end"];

const slowLoad = ({ load_ms: load, slow_every: every, slow_times: times }, i) => load * (every && (i + 1) % every === 0 ? times : 1);
const meanLoad = ({ load_ms: load, slow_every: every, slow_times: times }) => load * (every ? 1 + (times - 1) / every : 1);

export function simulate(setting, batches = setting.batches) {
  const { workers, transfer } = setting;
  const ahead = workers * setting.prefetch;
  const free = Array(workers).fill(setting.startup_ms);
  const done = [];
  for (let i = 0; i < batches; i += 1) {
    const load = slowLoad(setting, i);
    const last = done.at(-1);
    let ask = 0;
    if (last) ask = transfer === "wait" ? last.step_end : Math.max(last.got, i > AHEAD ? done[i - AHEAD - 1].step_end : 0);
    let worker = MAIN;
    let load_start = ask;
    if (workers) {
      worker = i % workers;
      load_start = Math.max(free[worker], i >= ahead ? done[i - ahead].got : 0);
      free[worker] = load_start + load;
    }
    const load_end = load_start + load;
    const got = Math.max(ask, load_end);
    const copy_start = Math.max(got, !last ? 0 : transfer === "side" ? last.copy_end : last.step_end);
    const copy_end = copy_start + setting.copy_ms;
    const step_start = Math.max(copy_end, last ? last.step_end : 0);
    done.push({ worker, load_start, load_end, ask, got, copy_start, copy_end, step_start, step_end: step_start + setting.step_ms });
  }
  return done;
}

/** The times of which the longest is the steady state's time of a batch, by what they are spent on. */
export function terms(setting) {
  const { workers, transfer, copy_ms: copy, step_ms: step } = setting;
  const load = meanLoad(setting);
  if (!workers && transfer === "wait") return { "all three": load + copy + step };
  const share = workers ? load / workers : load;
  return transfer === "side" ? { load: share, copy, step } : { load: share, "copy and step": copy + step };
}

export function steady(setting) {
  const round = Math.max(1, setting.workers) * Math.max(1, setting.slow_every);
  const warm = Math.max(64, 4 * setting.workers * setting.prefetch);
  const count = round * Math.ceil(128 / round);
  const done = simulate(setting, warm + count);
  const period = (done.at(-1).step_end - done[warm - 1].step_end) / count;
  const of = terms(setting);
  const limit = Object.keys(of).reduce((best, name) => (of[name] > of[best] ? name : best));
  return {
    period,
    bound: of[limit],
    limit,
    workers: meanLoad(setting) / (Math.max(1, setting.workers) * period),
    copy: setting.copy_ms / period,
    compute: setting.step_ms / period,
    first: done[0].got,
  };
}

/** The batches of a recorded run, whose times travel as microseconds. */
export const unpacked = (run) => run.rows.map(([worker, ...times]) => ({ worker, ...Object.fromEntries(KEYS.map((key, k) => [key, times[k] / 1e3])) }));

/** How these batches went, from the end of the first step to the end of the last. */
export function seen(rows, workers) {
  const start = rows[0].step_end;
  const end = rows.at(-1).step_end;
  const span = end - start;
  let starved = 0;
  let copying = 0;
  for (let i = 1; i < rows.length; i += 1) {
    const [data, copied] = gaps(rows, i);
    starved += data;
    copying += copied;
  }
  const share = (a, b) => (span ? rows.reduce((sum, one) => sum + Math.max(0, Math.min(end, one[b]) - Math.max(start, one[a])), 0) / span : 0);
  return {
    span,
    period: span / Math.max(1, rows.length - 1),
    starved,
    copying,
    workers: share("load_start", "load_end") / Math.max(1, workers),
    copy: share("copy_start", "copy_end"),
    compute: share("step_start", "step_end"),
  };
}

/** How long compute waited before step i: for data, and for the copy. */
export function gaps(rows, i) {
  const before = i ? rows[i - 1].step_end : 0;
  const gap = rows[i].step_start - before;
  const data = Math.min(gap, Math.max(0, rows[i].got - before));
  return [data, gap - data];
}
