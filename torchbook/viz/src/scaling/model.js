/**
 * The arithmetic of data-parallel training; the same functions as in torchbook/viz/scaling.py, which tests compare.
 *
 * Seconds, bytes, bytes per second; a bandwidth is that of one direction of a link.
 */

import { contractOf } from "../core/contract.js";
import { choices, fields as FIELDS, finding, help, invitation, links as LINKS, presets as PRESETS, rules as RULES, title } from "./setup.json"; // by name, so that other figures bundle only what they use

export { FIELDS, LINKS, PRESETS, RULES };
export const NAMES = Object.keys(FIELDS);
export const CONTRACT = /* @__PURE__ */ contractOf({ title, finding, invitation, help, fields: FIELDS, choices, rules: RULES, presets: PRESETS });

export const BACKWARD_SHARE = 2 / 3;
export const ADAMW_BYTES = 16;
export const MOST = 64;

export const globalBatch = (batch, gpus) => batch * gpus;
export const scaledLr = (lr, gpus, rule) => (rule === "linear" ? lr * gpus : rule === "sqrt" ? lr * Math.sqrt(gpus) : lr);
export const gradientBytes = (parameters, bytesPerElement) => parameters * bytesPerElement;
export const copyTime = (size, bandwidth, latency = 0) => size / bandwidth + latency;
export const ringAllreduceTime = (size, gpus, bandwidth, latency = 0) =>
  (((2 * (gpus - 1)) / gpus) * size) / bandwidth + 2 * (gpus - 1) * latency;
export const naiveAllreduceTime = (size, gpus, bandwidth, latency = 0) => 2 * (gpus - 1) * copyTime(size, bandwidth, latency);
export const hiddenTime = (communication, compute, overlap, backward = BACKWARD_SHARE) =>
  Math.min(communication, overlap * backward * compute);
export const stepTime = (compute, communication, hidden = 0) => compute + (communication - hidden);
export const speedup = (gpus, compute, step) => (gpus * compute) / step;
export const efficiency = (gpus, compute, step) => speedup(gpus, compute, step) / gpus;
export const adamwBytes = (parameters) => parameters * ADAMW_BYTES;

/** All results of a setting, whose numbers have the units of their fields. */
export function results(setting) {
  const { gpus, batch, rule } = setting;
  const compute = setting.compute_ms * 1e-3;
  const size = gradientBytes(setting.parameters, setting.bytes_per_element);
  const link = [setting.bandwidth_gb * 1e9, setting.latency_us * 1e-6];
  const ring = ringAllreduceTime(size, gpus, ...link);
  const hidden = hiddenTime(ring, compute, setting.overlap / 100);
  const step = stepTime(compute, ring, hidden);
  const memory = adamwBytes(setting.parameters);
  return {
    global_batch: globalBatch(batch, gpus),
    lr: scaledLr(setting.lr, gpus, rule),
    gradients: size,
    copy: copyTime(size, ...link),
    ring,
    naive: naiveAllreduceTime(size, gpus, ...link),
    hidden,
    exposed: ring - hidden,
    step,
    speedup: speedup(gpus, compute, step),
    efficiency: efficiency(gpus, compute, step),
    throughput: globalBatch(batch, gpus) / step,
    memory,
    fits: memory <= setting.memory_gb * 1e9,
  };
}

/** The speed-up with 1 to 64 GPUs, all else as it is. */
export const curve = (setting) => Array.from({ length: MOST }, (_, i) => results({ ...setting, gpus: i + 1 }).speedup);

export const linkOf = (setting) => Object.keys(LINKS).find((name) => LINKS[name].each === setting.bandwidth_gb);
