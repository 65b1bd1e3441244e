/** The dispatcher's rule, and what kernels do after it; the same as in torchbook/viz/dispatch.py. */

import { contractOf } from "../core/contract.js";
import SETUP from "./setup.json";

export const { choices: CHOICES, actions: ACTIONS, presets: PRESETS, keys: KEYS } = SETUP;
export const NAMES = Object.keys(CHOICES);
export const CONTRACT = contractOf(SETUP);
export const START = { op: "aten::add.Tensor", ...CONTRACT.start };

const FRONT = "FuncTorchDynamicLayerFrontMode";
const PYTHON = ["Python", "PythonTLSSnapshot"];
const LIMIT = 24;
const KNOWN = { ADInplaceOrView: "inplace", BackendSelect: "select", Conjugate: "bit", Negative: "bit", PythonTLSSnapshot: "snapshot", [FRONT]: "front", FuncTorchDynamicLayerBackMode: "back" };

const union = (...sets) => new Set(sets.flatMap((one) => [...one]));
const minus = (set, ...others) => {
  const out = union(...others);
  return new Set([...set].filter((one) => !out.has(one)));
};

/** The slot of a functionality in the table. */
export const runtime = (functionality, backend) => (functionality in SETUP.prefix ? SETUP.prefix[functionality] + backend : functionality);

/** Number of the entry in a slot; -1 for none. */
export function entryOf(recording, op, slot) {
  const place = recording.slots.indexOf(slot);
  return place < 0 ? -1 : recording.ops[op].table[place];
}

export function fallsThrough(recording, op, slot) {
  const entry = entryOf(recording, op, slot);
  return entry >= 0 && Boolean(recording.entries[entry][2]);
}

const highest = (order, of) => order.find((name) => of.has(name)) ?? "";
const wayOf = (setting, transform) => (transform !== "none" && setting.grad === "inference" ? `${transform} inference` : transform);

function keysOf(recording, setting, transform, index) {
  const every = recording.args;
  const found = [every[wayOf(setting, transform)][setting.args]];
  if (recording.ops[setting.op].index) found.push(every[wayOf(setting, index)][SETUP.dense.includes(setting.args) ? setting.args : "cpu"]);
  return { args: union(...found.map((one) => one[0]), setting.mode === "fake" ? recording.fake : []), backends: union(...found.map((one) => one[1])) };
}

/** Did torch make such arguments when it was recorded? */
export const possible = (recording, setting) => setting.args in recording.args[wayOf(setting, setting.transform)];

/** What the first call meets. */
export function start(recording, setting) {
  const { transform, mode } = setting;
  const { args, backends } = keysOf(recording, setting, "none", "none");
  const device = highest(recording.backends, backends);
  let [include, exclude] = recording.thread.map((part) => new Set(part));
  if (setting.autocast === "on") exclude.delete(`Autocast${device}`);
  const change = (name) => {
    const [added, taken, out, back] = recording.changes[name] ?? [[], [], [], []];
    include = minus(union(include, added), taken);
    exclude = minus(union(exclude, out), back);
  };
  change(setting.grad);
  change(mode);
  const outer = { args, backends, include, exclude, transform: "none", outer: null, mode, device, wrapped: null };
  if (transform === "none") return outer;
  change(transform);
  return { ...outer, ...keysOf(recording, setting, transform, "none"), include, exclude, transform, outer, wrapped: keysOf(recording, { ...setting, mode: "none" }, transform, transform) };
}

/** The stops of a call; none where there are no such arguments. */
export const route = (recording, setting) => (possible(recording, setting) ? follow(recording, setting.op, start(recording, setting)) : []);

function first(recording, op, state) {
  const backend = highest(recording.backends, state.backends);
  return new Set([...minus(union(state.args, state.include), state.exclude)].filter((key) => !fallsThrough(recording, op, runtime(key, backend))));
}

/** The route of an operator from a state. */
export function follow(recording, op, from) {
  const order = recording.keys;
  const stops = [];
  let state = recording.ops[op].tensors ? from : { ...from, args: new Set(), backends: new Set() };
  let keys = first(recording, op, state);
  let { backends } = state;
  let call = 0;
  let passed = new Set();
  while (stops.length < LIMIT) {
    const backend = highest(recording.backends, backends);
    const functionality = highest(order, keys);
    const key = functionality ? runtime(functionality, backend) : "Undefined";
    const left = order.filter((one) => keys.has(one)).map((one) => runtime(one, backend));
    const entry = entryOf(recording, op, key);
    const action = actionOf(recording, op, functionality, entry, state);
    const after = afterOf(recording, op, functionality, entry, action, state);
    stops.push({ call, state, passed, left, functionality, key, entry, action, after });
    if (["autocast", "functionalize", "python", "front", "back", "batched"].includes(action)) {
      call += 1;
      passed = new Set();
      keys = first(recording, op, after);
      backends = after.backends;
    } else {
      const last = action === "autograd" ? "AutogradOther" : functionality;
      const above = order.slice(0, order.indexOf(last) + 1);
      if (["autograd", "inplace", "bit", "snapshot"].includes(action)) keys = minus(keys, above);
      else if (action === "select" && !recording.ops[op].tensors) {
        keys = new Set(["Dense"]);
        backends = new Set([after.device]);
      } else if (action === "select") {
        keys = minus(union(after.args, ["Dense"], after.include), after.exclude, above);
        backends = union(after.backends, ["CPU"]);
      } else break;
      passed = new Set(above);
    }
    state = after;
  }
  return stops;
}

function composite(recording, op) {
  const entry = entryOf(recording, op, "Undefined");
  return entry >= 0 && recording.entries[entry][1] === "math kernel";
}

function actionOf(recording, op, key, entry, state) {
  if (entry < 0) return "missing";
  const kind = recording.entries[entry][1];
  if (["math kernel", "batched kernel", "nested kernel"].includes(kind)) return "implicit";
  if (kind === "default backend kernel") return "explicit";
  if (key === FRONT && kind === "kernel") return "parts";
  if (SETUP.autograd.includes(key)) return "autograd";
  if (key.startsWith("Autocast")) return "autocast";
  if (key === "Python") return state.mode === "fake" ? "fake" : "python";
  if (key === "Functionalize") {
    if (kind === "kernel" && composite(recording, op)) return "implicit";
    return recording.ops[op].mutates ? "mutation" : "functionalize";
  }
  if (key === "FuncTorchBatched") {
    const names = recording.ops[op].callees[key];
    return names?.length === 1 && names[0] === op ? "batched" : "batching";
  }
  return KNOWN[key] ?? (key in SETUP.prefix && kind === "kernel" ? "backend" : "unknown");
}

function afterOf(recording, op, key, entry, action, state) {
  const order = recording.keys;
  const { autograd } = SETUP;
  const out = (...sets) => ({ ...state, exclude: union(state.exclude, ...sets) });
  if (action === "autograd") {
    const view = !fallsThrough(recording, op, "ADInplaceOrView") || recording.entries[entry][0].includes(".py:");
    return out(autograd, view ? [] : ["ADInplaceOrView"]);
  }
  if (action === "inplace") return out(autograd, ["ADInplaceOrView"]);
  if (action === "autocast") {
    const casts = seen(recording, op, key, entry)?.length && !(state.outer ?? state).args.has("Conjugate");
    return { ...(casts ? cast(state) : state), exclude: union(state.exclude, [key]) };
  }
  if (action === "bit") return { ...state, args: minus(state.args, [key]) };
  if (["functionalize", "mutation", "batched", "batching"].includes(action)) {
    const { args, backends } = state.outer ?? state;
    return { ...out([key]), args, backends };
  }
  if (action === "python") {
    const next = out(order.slice(0, order.indexOf("Python")).filter((one) => one !== "PythonDispatcher"));
    return state.mode === "dispatch" ? { ...next, include: minus(state.include, PYTHON), mode: "none" } : { ...next, args: minus(state.args, PYTHON) };
  }
  if (action === "front") {
    const own = SETUP.layers[state.transform];
    const layer = minus(union(SETUP.layer, autograd), own);
    const added = { vmap: ["FuncTorchVmapMode"], functionalize: ["Functionalize"] }[state.transform] ?? [];
    return { ...state, ...(state.transform === "grad" ? state.wrapped : {}), include: union(state.include, added), exclude: minus(union(state.exclude, [...layer].filter((one) => order.includes(one))), own) };
  }
  if (action === "back" && state.outer) return state.outer;
  return state;
}

/** After a cast the tensors are new ones, made by this thread. */
function cast(state) {
  const own = state.include.has("ADInplaceOrView") && !state.outer ? ["ADInplaceOrView", "AutogradFunctionality"] : [];
  return { ...state, args: union(minus(state.args, ["Negative"]), own), outer: state.outer && cast(state.outer) };
}

/** What the kernel in a slot was seen to call; null for unseen. */
function seen(recording, op, key, entry) {
  const { callees } = recording.ops[op];
  if (key in callees) return callees[key];
  const same = Object.keys(callees).find((slot) => entryOf(recording, op, slot) === entry);
  return same === undefined ? null : callees[same];
}

/** What the kernel of a stop calls, each with its own route: [[name, stops], ...]. */
export function callees(recording, op, stop) {
  if (stop.entry < 0 || stop.action === "batched") return [];
  return (seen(recording, op, stop.key, stop.entry) ?? []).map((name) => [name, follow(recording, name, stop.after)]);
}

/** The keys of the whole route, the highest first, and what each is at a stop. */
export function lines(recording, op, stops, step) {
  const stop = stops[step];
  const { state } = stops.find((one) => one.call === stop.call);
  const backend = highest(recording.backends, state.backends) || highest(recording.backends, stops.at(-1).state.backends);
  const every = union(...stops.flatMap((one) => [one.state.args, one.state.include, [one.functionality]]));
  return recording.keys
    .filter((key) => every.has(key))
    .map((key) => {
      const slot = runtime(key, backend);
      const [args, thread] = [state.args.has(key), state.include.has(key)];
      let is = "later";
      if (key === stop.functionality) is = "chosen";
      else if (!args && !thread) is = "absent";
      else if (state.exclude.has(key)) is = "excluded";
      else if (fallsThrough(recording, op, slot)) is = "through";
      else if (stop.passed.has(key)) is = "passed";
      return { key, slot, from: args && thread ? "both" : args ? "arguments" : thread ? "thread" : "", is, entry: entryOf(recording, op, slot), at: stops.flatMap((one, i) => (one.call === stop.call && one.functionality === key ? [i] : [])) };
    });
}

const OFF = ["excluded", "through"];

/** The keys that are taken off before a stop that is the first of its call: those of the thread, then those let through. */
export function taken(recording, op, stops, step) {
  if (step && stops[step - 1].call === stops[step].call) return [];
  const rows = lines(recording, op, stops, step);
  return OFF.flatMap((is) => rows.filter((row) => row.is === is));
}

/** All that happens, in order: [{step, way}, ...]. `way` is 0 at the call, then one more for each key taken off; −1 at the stop. */
export function moments(recording, op, stops) {
  return stops.flatMap((stop, step) => {
    const opens = !step || stops[step - 1].call !== stop.call;
    const off = opens ? taken(recording, op, stops, step).length : -1;
    return [...Array.from({ length: off + 1 }, (_, way) => ({ step, way })), { step, way: -1 }];
  });
}

/** The way to a stop as it can be shown: −1 beyond its end. */
export const wayTo = (recording, op, stops, step, way) => (moments(recording, op, stops).some((one) => one.step === step && one.way === way) ? way : -1);

/** Is this, from a link, something that can be shown? */
export function isState(recording, value) {
  if (!value || typeof value !== "object" || Array.isArray(value)) return false;
  const { step = 0, way = -1, op = START.op, ...rest } = value;
  return Number.isInteger(step) && step >= 0 && Number.isInteger(way) && way >= -1 && Boolean(Object.hasOwn(recording.ops, op) && recording.ops[op].listed) && CONTRACT.isSetting(rest);
}

/** The presets of a recording: name → setting. */
export function presetsOf(recording) {
  const found = {};
  for (const [name, { set }] of Object.entries(PRESETS)) {
    const own = Object.keys(recording.ops).find((op) => recording.ops[op].listed && !op.startsWith("aten::"));
    const op = name === "custom" ? own : set.op;
    if (op && recording.ops[op]?.listed) found[name] = { ...START, ...set, op };
  }
  return found;
}

export const presetOf = (recording, setting) => Object.entries(presetsOf(recording)).find(([, set]) => Object.keys(START).every((name) => set[name] === setting[name]))?.[0] ?? "";
