/** The lanes in words, and the model's pipeline as a real DataLoader. */

import { duration, plain, significant } from "../core/units.js";
import { gaps, MAIN, seen, steady, terms, TRANSFERS, unpacked } from "./model.js";

export const time = (ms) => duration(ms * 1e-3);
export const percent = (part) => `${Math.floor(100 * part + 0.5)} %`;
const loaders = (n) => (n ? `${n} worker${n === 1 ? "" : "s"}` : "no workers, the main process loads");

export const LIMITS = {
  load: "loading",
  copy: "the copy",
  step: "the step",
  "copy and step": "copy and step, one after the other",
  "all three": "loading, copy and step, one after the other",
};

/** The steady state's formula with its numbers. */
export function formula(setting) {
  const of = terms(setting);
  const { workers } = setting;
  const [copy, step] = [time(setting.copy_ms), time(setting.step_ms)];
  if (of["all three"] !== undefined) return `${time(of["all three"] - setting.copy_ms - setting.step_ms)} + ${copy} + ${step}`;
  const load = time(of.load * Math.max(1, workers)) + (workers > 1 ? ` ÷ ${workers}` : "");
  return of.copy !== undefined ? `max(${load}, ${copy}, ${step})` : `max(${load}, ${copy} + ${step})`;
}

/** The same sentences as `describe` in torchbook/viz/pipeline.py. */
export function describe(setting, run) {
  if (run) {
    const rows = unpacked(run);
    const all = seen(rows, run.workers);
    return (
      `Recorded on ${run.device}: ${rows.length} batches, ${loaders(run.workers)}. The first batch came after ${time(rows[0].got)}; from then on a batch took ` +
      `${time(all.period)}, ${all.period ? significant(1e3 / all.period) : "0"} a second. Busy: ${run.workers ? "workers" : "loading"} ${percent(all.workers)}, ` +
      `copy ${percent(all.copy)}, compute ${percent(all.compute)}. Compute waited ${time(all.starved)} for data and ${time(all.copying)} for copies.`
    );
  }
  const state = steady(setting);
  const every = setting.slow_every;
  const slow = every ? `, one in ${every} ${plain(setting.slow_times)} times as long` : "";
  return (
    `Model: ${loaders(setting.workers)}, ${time(setting.load_ms)} to load a batch${slow}, ${time(setting.copy_ms)} to copy it, ${time(setting.step_ms)} for its step, ` +
    `prefetch factor ${setting.prefetch}; ${TRANSFERS[setting.transfer].brief}. The first batch comes after ${time(state.first)}; in the steady state a batch takes ` +
    `${time(state.period)}, ${significant(1e3 / state.period)} a second. The formula says ${formula(setting)} = ${time(state.bound)}, set by ${LIMITS[state.limit]}` +
    `${state.period > 1.01 * state.bound ? "; uneven batches cost the rest" : ""}. Busy: ${setting.workers ? "workers" : "loading"} ${percent(state.workers)}, ` +
    `copy ${percent(state.copy)}, compute ${percent(state.compute)}.`
  );
}

/** The way of one batch. */
export function wayOf(rows, i) {
  const one = rows[i];
  const ready = one.got - one.load_end;
  const waited = one.got - one.ask;
  const [data, copied] = gaps(rows, i);
  const parts = [
    `Batch ${i}: ${one.worker === MAIN ? "the main process" : `worker ${one.worker}`} loads it from ${time(one.load_start)} to ${time(one.load_end)}.`,
    one.worker === MAIN
      ? ""
      : waited > ready
        ? `The main process asks at ${time(one.ask)} and waits ${time(waited)} for it.`
        : `It stands ready for ${time(ready)}, until the main process takes it at ${time(one.got)}.`,
    one.copy_end > one.copy_start ? `Copied from ${time(one.copy_start)} to ${time(one.copy_end)}.` : "No copy.",
    `Step from ${time(one.step_start)} to ${time(one.step_end)}.`,
    data + copied > 1e-6 * one.step_end
      ? `Before it compute is idle for ${time(data + copied)}: ${[data > 0 && `${time(data)} for want of data`, copied > 0 && `${time(copied)} for the copy`].filter(Boolean).join(", ")}.`
      : "Compute goes straight on from the step before.",
  ];
  return parts.filter(Boolean).join(" ");
}

/** The same in one line. */
export function briefOf(rows, i) {
  const one = rows[i];
  const [data, copied] = gaps(rows, i);
  return `Outlined, batch ${i}: the step ${data + copied > 1e-6 * one.step_end ? `waited ${time(data + copied)}` : "went straight on"}.`;
}

/** What set the pace of a run: without workers all that is done, else what was busy for the longest. */
const busiest = (all, workers) => (workers ? [["load", all.workers], ["copy", all.copy], ["step", all.compute]].reduce((most, one) => (one[1] > most[1] ? one : most))[0] : "all three");

/** Rows of the result: what the model or the run says, with the rule. */
export function rowsOf(setting, run) {
  const state = steady(setting);
  const all = run && seen(unpacked(run), run.workers);
  const of = terms(setting);
  return {
    period: run ? all.period : state.period,
    formula: formula(setting),
    bound: state.bound,
    limit: run ? busiest(all, run.workers) : state.limit,
    terms: Object.entries(of).map(([name, value]) => ({ name: { load: setting.workers > 1 ? `loading ÷ ${setting.workers}` : "loading", "copy and step": "copy + step", "all three": "loading + copy + step" }[name] ?? name, value, most: name === state.limit })),
    busy: [
      [setting.workers ? "workers" : "loading", run ? all.workers : state.workers],
      ["copy", run ? all.copy : state.copy],
      ["compute", run ? all.compute : state.compute],
    ],
  };
}

const LOOP = {
  wait: `for _ in loader:
    time.sleep(copy)  # .to(device), waited for
    time.sleep(step)
    ends.append(time.perf_counter())`,
  same: `device = ThreadPoolExecutor(1)  # one stream: copies and steps in the order of issue
issued = []
for _ in loader:
    device.submit(time.sleep, copy)
    issued.append(device.submit(time.sleep, step))
    issued[-1].add_done_callback(lambda _: ends.append(time.perf_counter()))
    if len(issued) > 2:
        issued[-3].result()  # at most two steps ahead
device.shutdown()`,
  side: `copies, device = ThreadPoolExecutor(1), ThreadPoolExecutor(1)  # two streams
issued = []


def use(copied):
    copied.result()
    time.sleep(step)


for _ in loader:
    copied = copies.submit(time.sleep, copy)
    issued.append(device.submit(use, copied))
    issued[-1].add_done_callback(lambda _: ends.append(time.perf_counter()))
    if len(issued) > 2:
        issued[-3].result()  # at most two steps ahead
device.shutdown()`,
};

/** A real DataLoader with these times, slept instead of worked, that measures its steady state. */
export function script(setting) {
  const { workers, slow_every: every, transfer } = setting;
  const load = every ? `load * (${plain(setting.slow_times)} if (i + 1) % ${every} == 0 else 1)` : "load";
  const options = workers ? `, num_workers=${workers}, prefetch_factor=${setting.prefetch}, multiprocessing_context="fork"` : "";
  const count = Math.max(24, 4 * workers) + 16;
  return `import time
${transfer === "wait" ? "" : "from concurrent.futures import ThreadPoolExecutor\n"}
from torch.utils.data import DataLoader, Dataset

load, copy, step = ${setting.load_ms} * 1e-3, ${setting.copy_ms} * 1e-3, ${setting.step_ms} * 1e-3  # seconds


class Slept(Dataset):
    def __len__(self):
        return ${count}

    def __getitem__(self, i):
        time.sleep(${load})
        return i


loader = DataLoader(Slept(), batch_size=None${options})
ends = []
${LOOP[transfer]}

skip = ${Math.max(8, 2 * workers)}
period = (ends[-1] - ends[skip]) / (len(ends) - 1 - skip)
print(f"{1e3 * period:.2f} ms a batch; the formula says ${steady(setting).bound.toFixed(2)}")
`;
}
