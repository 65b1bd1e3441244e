/**
 * What an op computes and moves, and the ceilings of devices; the same as in torchbook/viz/roofline.py, which tests
 * compare.
 */

import { amount, duration, significant } from "../core/units.js";
import { contractOf, wrong } from "../core/contract.js";
import SETUP from "./setup.json";

export const { devices: DEVICES, dtypes: DTYPES, ops: OPS, presets: PRESETS } = SETUP;
export const LAUNCH = 5e-6;
export const MACHINE = "machine";

const cost = (flops, bytes) => ({ flops, bytes, intensity: flops / bytes });

const matmul = ({ m, n, k, extra = 0 }, e, fused) => cost(2 * m * n * k + extra * m * n, e * (m * k + k * n + m * n + (fused ? 0 : extra * 2 * m * n)));

const COSTS = {
  matmul,
  decode: ({ batch, inputs, outputs }, e) => matmul({ m: batch, n: outputs, k: inputs }, e, true),
  pointwise: ({ elements, ops }, e, fused) => cost(ops * elements, e * 2 * elements * (fused ? 1 : ops)),
  layer_norm({ rows, width }, e, fused) {
    const flops = rows * (7 * width - 2 + 4);
    return cost(flops, e * (fused ? 2 * rows * width + 2 * width : 12 * rows * width + 8 * rows + 2 * width));
  },
  softmax: ({ rows, width }, e, fused) => cost(rows * (5 * width - 2), e * (fused ? 2 * rows * width : 8 * rows * width + 4 * rows)),
  attention({ batch, heads, kv_heads, queries, keys, width }, e, fused) {
    const moved = 2 * batch * heads * queries * width + 2 * batch * kv_heads * keys * width;
    return cost(4 * batch * heads * queries * keys * width, e * (moved + (fused ? 0 : 4 * batch * heads * queries * keys)));
  },
  conv2d({ batch, channels_in, channels_out, size, kernel, stride }, e) {
    const out = convOut(size, kernel, stride);
    const weights = channels_out * channels_in * kernel * kernel;
    return cost(2 * batch * out * out * weights, e * (batch * channels_in * size * size + weights + batch * channels_out * out * out));
  },
  embedding: ({ tokens, width }, e) => cost(0, tokens * (8 + 2 * width * e)),
};

/** Height and width of a convolution's result. */
export const convOut = (size, kernel, stride) => Math.floor((size + 2 * Math.floor(kernel / 2) - kernel) / stride) + 1;

export const costOf = ({ op, sizes, dtype, fused }, whole = fused) => COSTS[op](sizes, DTYPES[dtype].bytes, whole);

export const attainable = (intensity, peak, bandwidth) => Math.min(peak, intensity * bandwidth);
export const leastTime = (of, peak, bandwidth) => Math.max(of.flops / peak, of.bytes / bandwidth);

/** Measured ops that were faster than the machine's own ceilings allow, by more than noise. */
export const beyond = (points, machine) => (isMachine(machine) && machine.flops.fp32 ? points.filter((one) => one.flops / one.seconds > 1.1 * attainable(one.flops / one.bytes, machine.flops.fp32, machine.bandwidth)) : []);

export const isMachine = (machine) => Boolean(machine && machine.bandwidth);

/** The devices, and the machine that was measured. */
export const devicesOf = ({ machine }) => (isMachine(machine) ? { ...DEVICES, [MACHINE]: { ...machine, label: machine.name } } : DEVICES);

export const peakOf = (device, op, dtype) => device.flops[OPS[op].matrix ? dtype : "fp32"] ?? null;

function on(of, device, op, dtype) {
  const peak = peakOf(device, op, dtype);
  if (peak === null) return null;
  const { bandwidth } = device;
  const ridge = peak / bandwidth;
  return { peak, bandwidth, ridge, attainable: attainable(of.intensity, peak, bandwidth), time: leastTime(of, peak, bandwidth), bound: of.intensity >= ridge ? "compute" : "memory" };
}

/** The op on each device; null where the device has no figure for the dtype. */
export function results(setting) {
  const of = costOf(setting);
  return Object.fromEntries(Object.entries(devicesOf(setting)).map(([name, device]) => [name, on(of, device, setting.op, setting.dtype)]));
}

/** Rows from which on a matmul with a matrix (inputs, outputs) is compute-bound. */
export function rowsAtRidge(inputs, outputs, element, ridge) {
  const below = 2 * inputs * outputs - ridge * element * (inputs + outputs);
  return below > 0 ? (ridge * element * inputs * outputs) / below : Infinity;
}

/** What would make the op faster on the device in view. */
export function advice(setting) {
  const { op, dtype, sizes, fused } = setting;
  const of = costOf(setting);
  const device = devicesOf(setting)[setting.device];
  const now = on(of, device, op, dtype);
  if (!now) return `There is no figure for ${dtype} on ${device.label}.`;
  const whole = costOf(setting, true);
  const told = [];
  if (now.bound === "compute") {
    const faster = ["tf32", "bf16", "fp8"].filter((name) => OPS[op].matrix && device.flops[name] > now.peak).map((name) => [name, leastTime(costOf({ ...setting, dtype: name }), device.flops[name], now.bandwidth)]);
    if (faster.length) told.push(`A dtype with a higher peak helps: ${faster[0][0]}, ${significant(now.time / faster[0][1])} times as fast at most.`);
    else told.push("Only fewer operations help.");
    if (OPS[op].fusable && !fused) told.push("Fusing saves bytes that are not the limit.");
  } else if (OPS[op].fusable && !fused && whole.bytes < of.bytes) {
    told.push(`Fusing into one kernel helps: ${amount(whole.bytes)} instead of ${amount(of.bytes)}, ${significant(now.time / on(whole, device, op, dtype).time)} times as fast at most.`);
  } else if (op === "matmul" || op === "decode") {
    const [m, k, n] = op === "matmul" ? [sizes.m, sizes.k, sizes.n] : [sizes.batch, sizes.inputs, sizes.outputs];
    const enough = op === "decode" || !sizes.extra ? rowsAtRidge(k, n, DTYPES[dtype].bytes, now.ridge) : Infinity;
    if (m < enough && enough < Infinity) told.push(`More rows for each reading of the matrix help: the ridge is at ${Math.ceil(enough)} rows.`);
    else told.push("Larger matrices, or a smaller dtype, help.");
  } else if (op === "attention") told.push("Fewer bytes of keys and values help: fewer key and value heads, a smaller dtype; or more queries at once.");
  else if (op === "conv2d") told.push("More channels for each pixel, or a smaller dtype, help.");
  else told.push("Only fewer bytes help: a smaller dtype, or fusing it into the op before or after it.");
  if (now.time < LAUNCH && setting.device !== MACHINE) told.push(`In ${duration(now.time)} not even a launch fits: gather many such calls in one, or in a CUDA graph.`);
  return told.join(" ");
}

/** The decades that the plot shows, as powers of ten: [intensity from, to, FLOP/s from, to]. */
export function span(setting, points) {
  const roofs = Object.values(results(setting)).filter(Boolean);
  const of = costOf(setting);
  const spots = points.map((one) => [one.flops / one.bytes, one.flops / one.seconds]);
  if (of.flops) spots.push(...roofs.map((one) => [of.intensity, one.attainable]));
  const xs = [...spots.map(([x]) => Math.log10(x)), ...roofs.map((one) => Math.log10(one.ridge))];
  const ys = [...spots.map(([, y]) => Math.log10(y)), ...roofs.map((one) => Math.log10(one.peak))];
  const low = Math.min(...ys.map((y) => Math.floor(y - 0.1)), ...roofs.map((one) => Math.floor(Math.log10(one.bandwidth))));
  return [Math.min(-1, Math.floor(Math.min(...xs) - 0.1)), Math.max(4, Math.ceil(Math.max(...xs) + 0.1)), low, Math.ceil(Math.max(...ys) + 0.1)];
}

export const defaultSizes = (op) => Object.fromEntries(Object.entries(OPS[op].fields).map(([name, { value }]) => [name, value]));

/** What is wrong with a value for this size; empty when nothing is. */
export const problem = (op, name, value) => wrong(OPS[op].fields[name], value);

export const CONTRACT = contractOf(SETUP);
export const START = { ...CONTRACT.start, sizes: defaultSizes(CONTRACT.start.op) };

export function settingOf(preset) {
  const { op, sizes, dtype, fused } = { ...START, ...PRESETS[preset].set };
  return { op, sizes: { ...defaultSizes(op), ...(PRESETS[preset].set.sizes ? sizes : {}) }, dtype, fused };
}

const same = (a, b) => Object.keys(a).every((name) => (typeof a[name] === "object" ? same(a[name], b[name]) : a[name] === b[name]));
export const presetOf = (setting) => Object.keys(PRESETS).find((name) => same(settingOf(name), setting));

/** The preset of the operation's sizes, whatever the dtype. */
export const sizedAs = ({ op, sizes, fused }) => Object.keys(PRESETS).find((name) => same({ ...settingOf(name), dtype: "" }, { op, sizes, dtype: "", fused }));

/** What the operation is called, in short: that preset, or its kind. */
export function shortOf(setting) {
  const { op } = setting;
  const known = sizedAs(setting);
  return known ? PRESETS[known].label : OPS[op].label.split(",")[0];
}

const SLIDES = { matmul: "m", decode: "batch", pointwise: "ops", attention: "queries", conv2d: "channels_out" };

/** The size that moves the op to another intensity; undefined where none does. */
export function slideOf(setting) {
  const name = SLIDES[setting.op];
  if (!name) return undefined;
  const { low, high } = OPS[setting.op].fields[name];
  const [least, most] = [low, high].map((value) => costOf({ ...setting, sizes: { ...setting.sizes, [name]: value } }).intensity);
  return most > 1.05 * least ? name : undefined;
}

/** The value of that size with which the op comes nearest to an intensity, from below; intensity grows with it. */
export function sizeAt(setting, intensity) {
  const name = slideOf(setting);
  let { low, high } = OPS[setting.op].fields[name];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (costOf({ ...setting, sizes: { ...setting.sizes, [name]: middle } }).intensity <= intensity) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Is this, from a link, a setting that can be shown? */
export function isSetting(value, machine) {
  const { sizes, device, ...given } = value ?? {};
  if (!CONTRACT.isSetting(given) || !CONTRACT.names.every((name) => name in given)) return false;
  const fields = OPS[given.op].fields;
  const sized = sizes && typeof sizes === "object" && Object.keys(fields).length === Object.keys(sizes).length && Object.entries(sizes).every(([name, value]) => Object.hasOwn(fields, name) && !problem(given.op, name, value));
  return Boolean(sized) && (device === undefined || Object.hasOwn(DEVICES, device) || (device === MACHINE && isMachine(machine)));
}
