/** What limits a pipeline; the same rules as `diagnose` in torchbook/viz/bottleneck.py, which tests compare. */

import { duration, significant } from "../core/units.js";
import { contractOf } from "../core/contract.js";
import SETUP from "./setup.json";

export const { fields: FIELDS, cpus: CPUS, questions: QUESTIONS } = SETUP;
export const NAMES = Object.keys(FIELDS);
export const CONTRACT = contractOf(SETUP);
export const { start: START, problem, isSetting, presetOf } = CONTRACT;
const [NEAR, BUSY, HIDDEN] = [1.1, 70, 0.2];

export const ms = (value) => duration(value * 1e-3);

export function diagnose(setting) {
  const { step_ms: step, loader_ms: loader, full_ms: full, utilisation, workers, cpu } = setting;
  const copy = setting.copy_ms ?? 0;
  const path = [];
  const ask = (key, sum, yes) => {
    path.push({ key, sum, yes });
    return yes;
  };
  const same = (total) => total / NEAR <= full && full <= total * NEAR;
  const against = (total, parts = "") => `${ms(full)} against ${parts && `${parts} = `}${ms(total)}`;
  const sum = (...parts) => parts.filter(Boolean).map(ms).join(" + ");
  const longest = Math.max(step, loader, copy);
  const serial = loader + copy + step;
  const without = Math.max(loader, step + copy);
  const apart = serial - full <= HIDDEN * (serial - without); // of what could be hidden, hardly anything is
  let cause = "uneven";
  if (!ask("check", against(longest), full * NEAR >= longest)) cause = "check";
  else if (ask("compute", against(step), same(step))) cause = utilisation === null || ask("launch", `${significant(utilisation)} %`, utilisation >= BUSY) ? "compute" : "launch";
  else if (ask("loader", against(loader), same(loader))) cause = "loader";
  else if (copy && ask("copy", against(copy), same(copy))) cause = "transfer";
  else if (copy && ask("transfer", against(copy + step, `${ms(copy)} + ${ms(step)}`), same(copy + step))) cause = "transfer";
  else if (ask("serial", against(serial, sum(loader, copy, step)), same(serial) && apart)) cause = full < serial ? "nearly" : "serial";
  else if (ask("more", against(serial), full > serial)) cause = "more";
  const { title, why, remedies: usual } = SETUP.causes[cause];
  let remedies = usual;
  if (cause === "loader") {
    const needed = Math.max(1, Math.ceil((Math.max(1, workers) * loader) / (step + copy) - 1e-9));
    remedies = SETUP.loader_remedies[cpu].map((text) => text.replace("{needed}", needed));
  } else if (cause === "serial" || cause === "nearly") remedies = SETUP.serial_remedies[workers ? "some" : "none"];
  let reach = { loader: step + copy, transfer: longest, serial: without, nearly: without, uneven: without, more: without }[cause] ?? null;
  if (reach !== null && reach >= full) reach = null;
  return { cause, title, why, remedies, path, reach, gain: reach === null ? null : full / reach };
}

/**
 * How long the full run takes, by the law that it follows, once a part takes another time: the longest of what overlaps,
 * or the sum of what takes turns. Where it follows neither it stays as it was measured.
 */
export function follows(setting, change) {
  const { cause } = diagnose(setting);
  const time = ({ loader_ms: loader, copy_ms: copy, step_ms: step }) => (["serial", "nearly"].includes(cause) ? loader + copy + step : Math.max(loader, copy + step));
  if (["check", "uneven", "more"].includes(cause)) return setting.full_ms;
  const ratio = time({ ...setting, ...change }) / time(setting);
  return Math.min(FIELDS.full_ms.high, Math.max(FIELDS.full_ms.low, Number((setting.full_ms * ratio).toPrecision(4))));
}

export const BATCHES = 3; // that are drawn

/**
 * The measurements as lanes: each batch is loaded, copied and used right after another, and a batch comes every
 * `full_ms`. That is one run, of several, that takes these times.
 * @returns {{blocks: Array<{lane: string, batch: number, start: number, end: number, busy: number}>,
 *   clashes: Array<{lane: string, start: number, end: number}>, waits: Array<{start: number, end: number}>,
 *   gaps: Array<{start: number, end: number}>, end: number}} milliseconds; `busy` is the part of a step in which the GPU
 *   works, `clashes` are what no lane can do, `waits` are those of the step for its next batch, `gaps` have no part at all
 */
export function lanesOf({ step_ms: step, loader_ms: loader, copy_ms, full_ms: full, utilisation }) {
  const parts = [["loader", loader], ["copy", copy_ms ?? 0], ["step", step]];
  const serial = parts.reduce((sum, [, size]) => sum + size, 0);
  const [blocks, clashes, waits, gaps] = [[], [], [], []];
  const busy = utilisation === null ? 1 : Math.min(1, (utilisation * full) / (100 * step));
  for (let batch = 0; batch < BATCHES; batch += 1) {
    let start = batch * full;
    for (const [lane, size] of parts) {
      blocks.push({ lane, batch, start, end: start + size, busy: lane === "step" ? busy : 1 });
      if (batch && size > full) clashes.push({ lane, start, end: start + size - full });
      start += size;
    }
    if (batch + 1 === BATCHES) break;
    if (full > serial) gaps.push({ start, end: (batch + 1) * full });
    if (full > step) waits.push({ start, end: start + full - step });
  }
  return { blocks, clashes, waits, gaps, end: (BATCHES - 1) * full + serial };
}

/** The same sentences as `describe` in torchbook/viz/bottleneck.py. */
export function describe(setting) {
  const found = diagnose(setting);
  return [
    `${found.title}. ${found.why}`,
    ...(found.reach === null ? [] : [`Once that is mended a batch could take ${ms(found.reach)}, ${significant(found.gain)} times as fast.`]),
    "Remedies:",
    ...found.remedies,
  ].join(" ");
}

/** Code that takes the measurements of the reader's own `loader` and `step`. */
export const script = () => `import itertools
import time

import torch


def measure(loader, step, device="cpu", steps=20):
    """Milliseconds a batch: step alone, loader alone, full run, copy."""
    on_gpu = torch.device(device).type != "cpu"

    def now():
        if on_gpu:
            torch.accelerator.synchronize()
        return time.perf_counter()

    def move(batch):
        return [one.to(device) for one in batch]

    def each(use):  # after the first batch, with which the workers start
        for count, batch in enumerate(itertools.islice(loader, steps + 1)):
            use(batch)
            if count == 0:
                start = now()
        return 1e3 * (now() - start) / count

    def repeated(work):
        for _ in range(3):  # warm-up
            work()
        start = now()
        for _ in range(steps):
            work()
        return 1e3 * (now() - start) / steps

    batch = next(iter(loader))
    ready = move(batch)
    return {
        "loader_ms": each(lambda batch: None),
        "full_ms": each(lambda batch: (step(move(batch)), now())),
        "step_ms": repeated(lambda: step(ready)),
        "copy_ms": repeated(lambda: (move(batch), now())) if on_gpu else None,
    }


# print(measure(loader, step))  # with your loader, whose batches are lists of tensors, and your step
`;
