/**
 * Which parallel training a model needs on a cluster; the same functions as in torchbook/viz/strategy.py, which tests
 * compare. Bytes, seconds, bytes per second.
 */

import {
  ACTIVATION_BYTES, activations, autocastCopies, blockActivations, CHOICES as MEMORY_CHOICES, FIELDS as MEMORY_FIELDS,
  kvWidth, logitsBytes, MODELS as SHAPES, optimizerBytes, parameters, SHAPE, STATE_BYTES, streamBytes,
} from "../memory/model.js";
import { hiddenTime, ringAllreduceTime } from "../scaling/model.js";
import { amount, duration, plain, significant } from "../core/units.js";
import { contractOf } from "../core/contract.js";
import SETUP from "./setup.json";

const pick = (from, names) => Object.fromEntries(names.map((name) => [name, from[name]]));
export const FIELDS = { ...pick(MEMORY_FIELDS, SETUP.shared), ...SETUP.fields };
export const CHOICES = { ...pick(MEMORY_CHOICES, SETUP.picks), ...SETUP.choices };
export const MODELS = pick(SHAPES, SETUP.models);
export const { cards: CARDS, wires: WIRES } = SETUP;
export const NAMES = Object.keys(FIELDS);
export const PICKS = Object.keys(CHOICES);
export const CONTRACT = contractOf({ ...SETUP, fields: FIELDS, choices: CHOICES, models: MODELS }, { also: { show: (value) => value === "" || Object.hasOwn(STRATEGIES, value) } });
export const { start: START, problem, isSetting, settingOf, presetOf } = CONTRACT;

export const ROOM = 0.9;
export const MANY = 128;
export const EXPOSED = 0.1;
const CHUNKS = 4;
export const BUCKET = 25 * 2 ** 20;
export const WHOLE = { fp32: 4, mixed: 4, bf16: 2 };
export const GATHERED = { fp32: 4, mixed: 2, bf16: 2 };
const UNSHARDED = { fp32: "fp32", mixed: "autocast", bf16: "bf16" };
const SHARDED = { fp32: "fp32", mixed: "master", bf16: "bf16" };
export const STRATEGIES = {
  single: "one GPU",
  ddp: "DDP",
  zero2: "sharded optimizer and gradients (ZeRO-2)",
  fsdp: "fully sharded (FSDP, ZeRO-3)",
  hsdp: "sharded in a node, replicated over nodes (HSDP)",
  cp: "context parallel × FSDP",
  tp: "tensor parallel × FSDP",
  "3d": "3D: tensor × pipeline × data",
};

/** Degrees of each dimension, and what follows from them. */
export function layoutOf({ replicate = 1, shard = 1, cp = 1, tp = 1, pp = 1, reshard = true } = {}) {
  return { replicate, shard, cp, tp, pp, reshard, world: replicate * shard * cp * tp * pp, data: replicate * shard, fsdp: shard * cp };
}

export function share(model, layout, last) {
  const p = parameters(model);
  const h = model.hidden;
  const blocks = Math.ceil(model.layers / layout.pp);
  const whole = Math.min(p.biases, 2 * h);
  const block = (p.attention + p.mlp + p.biases - whole) / layout.tp + whole + p.norms;
  const matrices = (blocks * (p.attention + p.mlp)) / layout.tp;
  const embedding = (model.vocab * h) / layout.tp + model.positions * h;
  const head = (model.vocab * h) / layout.tp;
  const root = layout.pp === 1 ? embedding + (model.tied ? 0 : head) + p.final : last ? head + p.final : embedding;
  return { blocks, block, matrices, root, head, total: blocks * block + root };
}

export const microBatches = (given, layout) => Math.max(1, Math.ceil(given.global_batch / (layout.data * given.batch)));
export const chunks = (given, layout) => (layout.pp > 1 ? Math.min(CHUNKS, Math.ceil(given.layers / layout.pp)) : 1);
export const namedAs = (precision, layout) => (layout.fsdp > 1 ? SHARDED : UNSHARDED)[precision];

/** Activations of the blocks and after them: what a micro-batch leaves on a GPU. */
export function saved(given, layout, last) {
  const { tp, cp } = layout;
  const [batch, seq] = [given.batch, given.seq / cp];
  const precision = namedAs(given.precision, layout);
  const e = ACTIVATION_BYTES[precision];
  const as = { ...given, seq, precision, mode: "train", flash: given.flash || cp > 1 };
  const tokens = batch * seq;
  const block = blockActivations(as) / tp + tokens * 2 * given.hidden * e * (1 - 1 / tp);
  const start = (tokens * given.hidden * streamBytes(precision, "train")) / tp;
  const final = last ? activations({ ...as, layers: 0, checkpoint: false, flash: true }).all / tp : 0;
  const flying = last ? 1 : Math.min(microBatches(given, layout), layout.pp + (layout.pp - 1) / chunks(given, layout));
  return { block, start, final, flying, logits: last ? logitsBytes(given, batch, seq, precision) / tp : 0 };
}

function stageMemory(given, layout, last) {
  const { precision } = given;
  const part = share(given, layout, last);
  const g = GATHERED[precision];
  const held = (WHOLE[precision] * part.total) / layout.fsdp;
  const states = optimizerBytes(part.total, part.matrices, given.optimizer, STATE_BYTES[namedAs(precision, layout)]) / layout.fsdp;
  let gathered;
  if (layout.fsdp === 1) gathered = precision === "mixed" ? autocastCopies(given) / (layout.tp * layout.pp) : 0;
  else if (layout.pp > 1) gathered = (g + WHOLE[precision]) * part.total;
  else gathered = g * (layout.reshard ? 2 * part.root + 3 * part.block : part.total + part.root + part.block);
  const { block, start, final, flying, logits } = saved(given, layout, last);
  let kept = given.checkpoint ? flying * part.blocks * start + (block - start) : flying * part.blocks * block;
  if (last) kept += final;
  const total = held + held + states + gathered + kept + logits;
  return { parameters: held, gradients: held, optimizer: states, gathered, activations: kept, logits, total, fits: total <= ROOM * given.memory_gb * 1e9, last };
}

export function memoryPerGpu(given, layout) {
  const last = stageMemory(given, layout, true);
  if (layout.pp === 1) return last;
  const first = stageMemory(given, layout, false);
  return last.total >= first.total ? last : first;
}

export function computeFlops(given) {
  const p = parameters(given);
  const blocks = 2 * p.matrices + 2 * given.layers * given.hidden * given.seq;
  return 3 * (blocks + 2 * given.vocab * given.hidden) + (given.checkpoint ? blocks : 0);
}

export function linkOf(given, ranks, stride) {
  const node = given.gpus_per_node;
  const inside = given.intra_gb * 1e9;
  if (ranks * stride <= node) return [inside, 0];
  const members = Math.max(1, Math.min(ranks, Math.floor(node / stride)));
  return [Math.min(inside, members * given.inter_gb * 1e9), given.latency_us * 1e-6];
}

/** Part of the fullest stage, by parameters. */
export function fullest(given, layout) {
  const [last, first] = [share(given, layout, true), share(given, layout, false)];
  return last.total >= first.total ? last : first;
}

export function communication(given, layout) {
  const { precision } = given;
  const { tp, cp, fsdp, pp } = layout;
  const part = fullest(given, layout);
  const micros = microBatches(given, layout);
  const [w, g] = [WHOLE[precision], GATHERED[precision]];
  const found = [];
  const ring = (kind, dim, ranks, stride, what, calls, size, hides) => {
    if (ranks === 1) return;
    const reduced = kind === "all-reduce";
    const half = reduced ? 1 : 0.5;
    const [speed, latency] = linkOf(given, ranks, stride);
    const rounds = reduced ? 2 * (32 - Math.clz32(ranks - 1)) : ranks - 1;
    const sent = half * ringAllreduceTime(size, ranks, 1);
    const seconds = half * ringAllreduceTime(size, ranks, speed) + calls * rounds * latency;
    found.push({ kind, dim, ranks, stride, what, calls, size, sent, bandwidth: speed, latency, seconds, hides });
  };
  const send = (dim, ranks, stride, what, calls, each) => {
    const [speed, latency] = linkOf(given, ranks, stride);
    const size = calls * each;
    found.push({ kind: "send", dim, ranks, stride, what, calls, size, sent: size, bandwidth: speed, latency, seconds: size / speed + calls * latency, hides: "never" });
  };
  const whole = w * part.total;
  if (fsdp > 1 && pp > 1) {
    ring("all-gather", "shard", fsdp, tp, "parameters of the stage", part.blocks + 1, g * part.total, "first");
    ring("reduce-scatter", "shard", fsdp, tp, "gradients", part.blocks + 1, whole, "last");
  } else if (fsdp > 1) {
    const [groups, blocks] = [micros * (part.blocks + 1), micros * part.blocks];
    ring("all-gather", "shard", fsdp, tp, "parameters, forward", groups, micros * g * part.total, "forward");
    if (layout.reshard) ring("all-gather", "shard", fsdp, tp, "blocks again, backward", blocks, micros * g * (part.total - part.root), "backward");
    ring("reduce-scatter", "shard", fsdp, tp, "gradients", groups, micros * whole, "backward");
    ring("all-reduce", "replicate", layout.replicate, tp * fsdp, "gradient shards", groups, (micros * whole) / fsdp, "backward");
  } else ring("all-reduce", "replicate", layout.replicate, tp, "gradients", Math.ceil(whole / BUCKET), whole, "last");
  const e = g;
  const piece = ((given.batch * given.seq) / cp) * given.hidden * e;
  const passes = given.checkpoint ? 3 : 2;
  const edges = pp === 1 ? 2 : 1;
  const calls = micros * (2 * passes * part.blocks + edges);
  ring("all-reduce", "tp", tp, 1, "activations", calls, calls * piece, "never");
  if (cp > 1) send("cp", cp, tp, "keys and values", micros * part.blocks * (passes + 1) * (cp - 1), (2 * kvWidth(given) * e * given.batch * given.seq) / cp / tp);
  if (pp > 1) {
    const ways = pp > 2 || chunks(given, layout) > 1 ? 2 : 1;
    send("pp", pp, layout.world / pp, "activations, their gradients", micros * ways * chunks(given, layout), piece / tp);
  }
  return found;
}

export function estimate(given, layout, name = "") {
  const memory = memoryPerGpu(given, layout);
  const transfers = communication(given, layout);
  const micros = microBatches(given, layout);
  const sequences = layout.data * given.batch * micros;
  const tokens = sequences * given.seq;
  const rate = (layout.world * given.tflops * 1e12 * given.utilisation) / 100;
  const compute = (tokens * computeFlops(given)) / rate;
  const uneven = (Math.ceil(given.layers / layout.pp) * layout.pp) / given.layers;
  const bubble = compute * (uneven * (1 + (layout.pp - 1) / (micros * chunks(given, layout))) - 1);
  const backward = given.checkpoint ? 3 / 4 : 2 / 3;
  const behind = { forward: [compute, 1 - backward], backward: [compute, backward], first: [compute / micros, 1 - backward], last: [compute / micros, backward] };
  let [hidden, exposed] = [0, 0];
  for (const hides of ["forward", "backward", "first", "last", "never"]) {
    const seconds = transfers.filter((t) => t.hides === hides).reduce((sum, t) => sum + t.seconds, 0);
    const some = behind[hides] ? hiddenTime(seconds, behind[hides][0], 1, behind[hides][1]) : 0;
    hidden += some;
    exposed += seconds - some;
  }
  const step = compute + bubble + exposed;
  return {
    name, layout, memory, transfers, micros, sequences, wide: layout.data * given.batch > given.global_batch, compute, bubble,
    sent: transfers.reduce((sum, t) => sum + t.sent, 0), communication: hidden + exposed, hidden, exposed, step,
    tokens_per_second: tokens / step, fits: memory.fits,
  };
}

export function tensorDegrees({ gpus_per_node: node, heads, kv_heads: kv }) {
  return Array.from({ length: Math.min(node, 64) }, (_, i) => i + 1).filter((d) => d > 1 && node % d === 0 && heads % d === 0 && kv % d === 0);
}
export const contextDegrees = ({ gpus_per_node: node, nodes, seq }) => [2, 4, 8, 16, 32, 64, 128, 256].filter((d) => (node * nodes) % d === 0 && seq % (2 * d) === 0);

function layouts3d(given, cp) {
  const world = given.gpus_per_node * given.nodes;
  const found = [];
  for (const tp of tensorDegrees(given)) {
    for (const pp of [2, 4, 8, 16, 32, 64]) {
      if (world % (cp * tp * pp) || pp > given.layers) continue;
      const data = Math.floor(world / (cp * tp * pp));
      found.push(layoutOf({ shard: data, cp, tp, pp, reshard: false }));
    }
  }
  return found;
}

function better(a, b) {
  if (!b || a.fits !== b.fits) return !b || a.fits;
  if (!a.fits) return a.memory.total < b.memory.total;
  if (a.wide !== b.wide) return b.wide;
  return a.tokens_per_second > b.tokens_per_second;
}

export function candidates(given) {
  const { gpus_per_node: node, nodes } = given;
  const world = node * nodes;
  const found = { single: estimate(given, layoutOf(), "single") };
  if (world === 1) return found;
  const add = (name, degrees) => (found[name] = estimate(given, layoutOf(degrees), name));
  add("ddp", { replicate: world });
  add("zero2", { shard: world, reshard: false });
  add("fsdp", { shard: world });
  if (nodes > 1 && node > 1) add("hsdp", { replicate: nodes, shard: node });
  let best;
  for (const [name, degrees] of [["cp", contextDegrees(given)], ["tp", tensorDegrees(given)]]) {
    best = undefined;
    for (const degree of degrees) {
      const one = estimate(given, layoutOf({ shard: Math.floor(world / degree), [name]: degree }), name);
      if (!best || !best.fits || (one.fits && best.wide && !one.wide)) best = one;
    }
    if (best) found[name] = best;
  }
  best = undefined;
  for (const cp of [1, ...contextDegrees(given)]) {
    for (const layout of layouts3d(given, cp)) {
      const one = estimate(given, layout, "3d");
      if (better(one, best)) best = one;
    }
    if (best?.fits && !best.wide) break;
  }
  if (best) found["3d"] = best;
  return found;
}

export const speed = (rate) => {
  for (const [size, unit] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]]) if (rate >= size) return `${significant(rate / size)} ${unit} tokens/s`;
  return `${significant(rate)} tokens/s`;
};
/** The place of a rank in each dimension of the mesh: ranks next to each other are tensor parallel, stages lie farthest apart. */
export function placeOf(rank, layout) {
  let rest = rank;
  return Object.fromEntries(
    ["tp", "cp", "shard", "replicate", "pp"].map((dim) => {
      const at = rest % layout[dim];
      rest = Math.floor(rest / layout[dim]);
      return [dim, at];
    }),
  );
}

/**
 * What a rank keeps of the model, in fractions of its width and of its depth, and which part of a step's tokens it sees.
 * Shards are narrow columns of the tensor-parallel slice. Ranks of the same `piece`, of `pieces`, keep the same.
 */
export function partOf(rank, layout) {
  const { tp, cp, shard, pp, fsdp, data } = layout;
  const at = placeOf(rank, layout);
  const inside = at.shard * cp + at.cp;
  return {
    x: (at.tp + inside / fsdp) / tp, width: 1 / (tp * fsdp), y: at.pp / pp, height: 1 / pp, slice: at.tp / tp, slices: tp,
    from: (at.replicate * shard + at.shard + at.cp / cp) / data, tokens: 1 / (data * cp),
    piece: (at.pp * tp + at.tp) * fsdp + inside, pieces: pp * tp * fsdp,
  };
}

/** With whom a rank talks in a step of a candidate: for each dimension the ranks, the bytes that it sends, and whether they stay in its node. */
export function peersOf(rank, given, { layout, transfers }) {
  const dims = [...new Set(transfers.map((one) => one.dim))];
  return dims.map((dim) => {
    const all = transfers.filter((one) => one.dim === dim);
    const { ranks, stride } = all[0];
    const at = Math.floor(rank / stride) % ranks;
    const wraps = dim !== "pp" || chunks(given, layout) > 1;
    const members = dim === "pp" ? [at - 1, at + 1] : Array.from({ length: ranks }, (_, i) => i);
    const places = new Set(members.filter((i) => wraps || (i >= 0 && i < ranks)).map((i) => (i + ranks) % ranks));
    places.delete(at);
    return { dim, ranks: [...places].map((i) => rank + (i - at) * stride), sent: all.reduce((sum, one) => sum + one.sent, 0), near: ranks * stride <= given.gpus_per_node };
  });
}

const DIMS = { pp: "pipeline", replicate: "replicas", shard: "shards", cp: "context", tp: "tensor" };
export const describeLayout = (layout) => Object.keys(DIMS).filter((dim) => layout[dim] > 1).map((dim) => `${layout[dim]} ${DIMS[dim]}`).join(" × ") || "one GPU";
export const stateOf = (memory) => memory.parameters + memory.gradients + memory.optimizer;
const sums = (memory) => `${amount(stateOf(memory))} of state, ${amount(memory.gathered)} gathered or cast, ${amount(memory.activations)} of activations, ${amount(memory.logits)} of logits`;

function walk(given, every, steps) {
  const { nodes } = given;
  const world = given.gpus_per_node * nodes;
  const limit = ROOM * given.memory_gb * 1e9;
  const ask = (key, question, left, right, yes, compare, told) => {
    steps.push({ key, question, left, right, yes, compare, told });
    return yes;
  };
  const fits = (key, question, one, told) => {
    const size = one.memory.total;
    return ask(key, question, size, limit, one.fits, `${amount(size)} ${one.fits ? "≤" : ">"} ${amount(limit)}`, told);
  };
  const split = (name, question) => {
    const one = every[name];
    if (!one) return ask(name, question, 0, limit, false, "none", "Heads, sequence or blocks cannot be cut evenly over these GPUs.");
    return fits(name, question, one, `${describeLayout(one.layout)}; ${sums(one.memory)}.`);
  };
  const alone = every[world === 1 ? "single" : "ddp"];
  const against = `${plain(100 * ROOM)} % of ${plain(given.memory_gb)} GB are counted on.`;
  if (fits("fits", "Does it all fit on one GPU?", alone, `${sums(alone.memory)}; ${against} The data set does not count: a batch is on the GPU, the data are not.`)) return alone.name;
  if (world === 1) return "none";
  let one = every.zero2;
  if (fits("barely", `With gradients and optimizer states sharded over ${world} GPUs?`, one, `${sums(one.memory)}; the parameters are whole from forward to backward.`)) return "zero2";
  one = every.fsdp;
  const state = stateOf(every.single.memory);
  let now = "fsdp";
  if (!fits("shard", "With the parameters sharded too?", one, `${sums(one.memory)}; the whole state, ${amount(state)}, would fill ${Math.ceil(state / limit)} GPUs.`)) {
    const held = memoryPerGpu({ ...given, batch: 1 }, layoutOf({ shard: world }));
    const kept = held.activations + held.logits;
    const long = kept > limit;
    ask("sequence", "Is one sequence too long for a GPU?", kept, limit, long, `${amount(kept)} ${long ? ">" : "≤"} ${amount(limit)}`, "Activations and logits of a single sequence, with nothing else on the GPU.");
    const wide = ["tp", "With every layer split over GPUs of a node?"];
    const parts = ["cp", "With the sequence split over GPUs?"];
    const tried = [...(long ? [parts, wide] : [wide, parts]), ["3d", "With layers split and pipeline stages?"]];
    now = tried.find(([name, question]) => split(name, question))?.[0] ?? "none";
    if (now === "none" || now === "3d") return now;
  }
  const spread = world >= MANY && nodes > 1;
  if (!ask("many", "Hundreds of GPUs over nodes?", world, MANY, spread, `${world} ${world >= MANY ? "≥" : "<"} ${MANY}`, `${nodes} node${nodes === 1 ? "" : "s"}; with fewer than ${MANY} GPUs nothing more is asked.`)) return now;
  one = every[now];
  const other = every["3d"];
  const waits = one.exposed / one.step;
  const told = `${one.layout.data * given.batch} sequences at once, ${given.global_batch} wanted in a step; ${duration(one.exposed)} of ${duration(one.step)} is waiting for the network.`;
  const compare = `${significant(100 * waits)} % waiting${one.wide ? ", too many replicas" : ""}`;
  if (!ask("busy", "Are there too many replicas, or do they wait?", waits, EXPOSED, one.wide || waits > EXPOSED, compare, told) || !other) return now;
  const rates = [other.tokens_per_second, one.tokens_per_second];
  return ask("3d", "Is it better with pipeline stages?", ...rates, other.fits && better(other, one), `${speed(rates[0])}, not ${speed(rates[1])}`, `${describeLayout(other.layout)}; ${sums(other.memory)}.`) ? "3d" : now;
}

export function planOf(given) {
  const every = candidates(given);
  const steps = [];
  const strategy = walk(given, every, steps);
  let fastest;
  for (const one of Object.values(every)) if (one.fits && better(one, fastest)) fastest = one;
  return { strategy, steps, candidates: every, fastest: fastest?.name ?? "none" };
}

const matches = (setting, wanted) => Object.entries(wanted).every(([name, value]) => setting[name] === value);
export const modelOf = (setting) => Object.keys(MODELS).find((name) => matches(setting, MODELS[name].shape));
export const cardOf = (setting) => Object.keys(CARDS).find((name) => matches(setting, CARDS[name].set));
export const wireOf = (setting) => Object.keys(WIRES).find((name) => matches(setting, WIRES[name].set));
export { SHAPE };
