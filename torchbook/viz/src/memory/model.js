/**
 * What a transformer holds in memory; the same functions as in torchbook/viz/memory.py, which tests compare.
 *
 * All sizes are bytes.
 */

import { contractOf } from "../core/contract.js";
import { cards as CARDS, choices as CHOICES, fields as FIELDS, finding, help, invitation, models as MODELS, presets as PRESETS, title } from "./setup.json"; // by name, so that other figures bundle only what they use

export { CARDS, CHOICES, FIELDS, MODELS, PRESETS };
export const NAMES = Object.keys(FIELDS);
export const PICKS = Object.keys(CHOICES);
export const SHAPE = ["layers", "hidden", "heads", "kv_heads", "ffn", "vocab", "positions", "family", "tied"];
export const CONTRACT = /* @__PURE__ */ contractOf({ title, finding, invitation, help, fields: FIELDS, choices: CHOICES, models: MODELS, presets: PRESETS });

export const WEIGHT_BYTES = { fp32: 4, autocast: 4, master: 2, bf16: 2 };
export const ACTIVATION_BYTES = { fp32: 4, autocast: 2, master: 2, bf16: 2 };
export const STATE_BYTES = { fp32: 4, autocast: 4, master: 4, bf16: 2 };
export const STATE_8BIT = 1 + 4 / 256;
export const QUANT_4BIT = 0.5 + 4 / 64;
export const ADAPTER_BYTES = 4;
export const PARTS = ["weights", "copies", "gradients", "optimizer", "master", "gathered", "activations", "logits", "cache"];

const isGpt = (model) => model.family === "gpt";
export const kvWidth = (model) => (model.hidden * model.kv_heads) / model.heads;

export function parameters(model) {
  const { hidden: h, ffn: f, layers, vocab } = model;
  const kv = kvWidth(model);
  const gpt = isGpt(model);
  const attention = h * (h + 2 * kv) + h * h;
  const mlp = (gpt ? 2 : 3) * h * f;
  const biases = gpt ? h + 2 * kv + h + f + h : 0;
  const norms = gpt ? 4 * h : 2 * h;
  const block = attention + mlp + biases + norms;
  const embedding = vocab * h + model.positions * h;
  const head = model.tied ? 0 : vocab * h;
  const final = norms / 2;
  return { attention, mlp, biases, norms, block, matrices: layers * (attention + mlp), embedding, head, final, total: layers * block + embedding + head + final };
}

/** Inputs plus outputs of the matrices of one block beside which adapters stand. */
export function adapterWidth(model, targets) {
  const { hidden: h, ffn: f } = model;
  const kv = kvWidth(model);
  const qkv = isGpt(model) ? h + (h + 2 * kv) : h + h + 2 * (h + kv);
  return qkv + (h + h) + (targets === "all" ? (isGpt(model) ? 2 : 3) * (h + f) : 0);
}
export const adapterParameters = (model, rank, targets) => model.layers * rank * adapterWidth(model, targets);

/** Rows of the matrices of all blocks: one scale each with 8 bits. */
export function matrixRows(model) {
  const { hidden: h, ffn: f } = model;
  return model.layers * (h + 2 * kvWidth(model) + h + (isGpt(model) ? f + h : f + f + h));
}

export function frozenBytes(model, bits, element) {
  const p = parameters(model);
  if (bits === 16) return p.total * element;
  const quantised = bits === 4 ? p.matrices * QUANT_4BIT : p.matrices + 4 * matrixRows(model);
  return quantised + (p.total - p.matrices) * element;
}

export function optimizerBytes(trained, matrices, optimizer, element) {
  if (optimizer === "adamw8") return 2 * STATE_8BIT * trained;
  const states = { sgd: 0, momentum: trained, adamw: 2 * trained, muon: matrices + 2 * (trained - matrices) };
  return states[optimizer] * element;
}

export function copied(model) {
  const p = parameters(model);
  return p.matrices + model.layers * p.biases + model.vocab * model.hidden;
}
export const autocastCopies = (model) => 2 * copied(model);

export const streamBytes = (precision, mode) => (precision === "fp32" || (precision === "autocast" && mode === "train") ? 4 : 2);
export const normBytes = (model) => (isGpt(model) ? 8 : 4);

/** Elements and bytes of one token that one block saves, in parts: [text, elements, bytes of each]. */
export function tokenParts({ mode, precision, flash, seq, ...model }) {
  const { hidden: h, ffn: f, heads } = model;
  const e = ACTIVATION_BYTES[precision];
  const normed = !isGpt(model) && precision === "autocast" && mode === "train" ? 5 : 2;
  const parts = [
    ["stream 2h", 2 * h, streamBytes(precision, mode)],
    [`${2 + normed}h`, (2 + normed) * h, e],
    [isGpt(model) ? "2f" : "4f", (isGpt(model) ? 2 : 4) * f, e],
    ["norms", 2, normBytes(model)],
  ];
  if (flash) parts.push(["keys, values", 2 * kvWidth(model), e], ["one per head", heads, 4]);
  else parts.push(["keys, values 2h", 2 * h, e], ["a·s", heads * seq, precision === "autocast" ? 6 : e]);
  return parts;
}
export const blockActivations = (setting) => setting.batch * setting.seq * tokenParts(setting).reduce((sum, [, n, bytes]) => sum + n * bytes, 0);

export function activations(setting) {
  const { batch, seq, precision, mode, layers, hidden, checkpoint } = setting;
  const [tokens, stream, block] = [batch * seq, streamBytes(precision, mode), blockActivations(setting)];
  const start = tokens * hidden * stream;
  const blocks = checkpoint ? layers * start + (block - start) : layers * block;
  const final = tokens * (hidden * (stream + ACTIVATION_BYTES[precision]) + normBytes(setting) + 8);
  return { start, block, blocks, final, all: blocks + final };
}

export const logitBytes = (precision) => ACTIVATION_BYTES[precision] + (precision === "autocast" ? 4 : ACTIVATION_BYTES[precision]);
export const logitsBytes = (model, batch, seq, precision) => batch * seq * model.vocab * logitBytes(precision);
export const kvCacheBytes = (model, batch, seq, element) => 2 * model.layers * kvWidth(model) * batch * seq * element;
export const restBytes = (precision) => (precision === "fp32" ? 4 : 2);

/** All results of a setting, in bytes on each GPU. */
export function results(setting) {
  const { batch, seq, precision, mode, gpus, optimizer } = setting;
  const zero = mode === "infer" ? 0 : setting.zero;
  const p = parameters(setting);
  const rest = restBytes(precision);
  let [trained, copies, gradients, states, master, saved, logits, held, gathered] = Array(9).fill(0);
  let weights;
  if (mode === "train") {
    trained = p.total;
    weights = p.total * WEIGHT_BYTES[precision];
    gradients = weights;
    states = optimizerBytes(p.total, p.matrices, optimizer, STATE_BYTES[precision]);
    master = precision === "master" ? 4 * p.total : 0;
    copies = precision === "autocast" ? autocastCopies(setting) : 0;
  } else weights = frozenBytes(setting, setting.bits, rest);
  if (mode === "lora") {
    trained = adapterParameters(setting, setting.rank, setting.targets);
    weights += ADAPTER_BYTES * trained;
    gradients = ADAPTER_BYTES * trained;
    states = optimizerBytes(trained, trained, optimizer, ADAPTER_BYTES);
    copies = precision === "autocast" ? 2 * trained : 0;
  }
  if (mode === "infer") {
    held = kvCacheBytes(setting, batch, seq, setting.kv_bits === 8 ? 1 : rest) / gpus;
    logits = 4 * batch * setting.vocab;
    weights /= gpus;
  } else {
    saved = activations(setting).all;
    logits = logitsBytes(setting, batch, seq, precision);
  }
  if (zero >= 1) {
    states /= gpus;
    master /= gpus;
  }
  if (zero >= 2) gradients /= gpus;
  if (zero >= 3) {
    gathered = ((2 * (weights + copies) * p.block) / p.total) * (1 - 1 / gpus);
    weights /= gpus;
    copies /= gpus;
  }
  const total = weights + copies + gradients + states + master + gathered + saved + logits + held;
  const limit = setting.memory_gb * 1e9;
  return { parameters: p.total, trained, weights, copies, gradients, optimizer: states, master, gathered, activations: saved, logits, cache: held, total, room: limit - total, fits: total <= limit };
}

/** Single changes that save memory, those that alter the training least first: {name, set, total, fits}. */
export function changes(setting) {
  const { mode, gpus, precision, zero, bits, batch, seq } = setting;
  const infer = mode === "infer";
  const found = [
    [!infer && !setting.flash, "fused attention", { flash: true }],
    [!infer && !setting.checkpoint, "checkpoint every block", { checkpoint: true }],
    [batch > 1, "half the batch", { batch: Math.floor(batch / 2) }],
    [infer && setting.kv_bits === 16, "KV cache in 8 bits", { kv_bits: 8 }],
    [!infer && precision === "fp32", "autocast to bf16", { precision: "autocast" }],
    [!infer && setting.optimizer === "adamw", "8-bit optimizer states", { optimizer: "adamw8" }],
    [!infer && gpus > 1 && zero < 3, "ZeRO-3 over the GPUs", { zero: 3 }],
    [!infer && gpus === 1, "8 GPUs with ZeRO-3", { gpus: 8, zero: 3 }],
    [!infer && gpus > 1 && zero > 0, "twice the GPUs", { gpus: 2 * gpus }],
    [mode === "train" && precision !== "bf16", "bf16 alone", { precision: "bf16" }],
    [mode === "train", "LoRA", { mode: "lora" }],
    [mode === "train", "LoRA, frozen weights in 4 bits", { mode: "lora", bits: 4 }],
    [mode !== "train" && bits > 8, "weights in 8 bits", { bits: 8 }],
    [mode !== "train" && bits > 4, "weights in 4 bits", { bits: 4 }],
    [infer, "twice the GPUs", { gpus: 2 * gpus }],
    [seq > 1, "half the sequence", { seq: Math.floor(seq / 2) }],
  ];
  const now = results(setting).total;
  return found
    .filter(([applies]) => applies)
    .map(([, name, set]) => {
      const { total, fits } = results({ ...setting, ...set });
      return { name, set, total, fits };
    })
    .filter((one) => one.total < now);
}

/** What to change first when it does not fit; null when it does. */
export function firstChange(setting) {
  const every = changes(setting);
  if (results(setting).fits || !every.length) return null;
  return every.find((one) => one.fits) ?? every.reduce((best, one) => (one.total < best.total ? one : best));
}

/**
 * What a press changes and another undoes: {label, about, modes in which it is offered, set, unset}. It is on where all of `set`
 * holds; sharding asks for at least as many GPUs as it sets.
 */
export const REMEDIES = {
  flash: { label: "flash attention", about: "Attention in one kernel that keeps no score matrix", modes: ["train", "lora"], set: { flash: true }, unset: { flash: false } },
  checkpoint: { label: "recompute layers", about: "Checkpointing: activations of each layer are dropped, and computed again in the backward", modes: ["train", "lora"], set: { checkpoint: true }, unset: { checkpoint: false } },
  states: { label: "8-bit optimizer", about: "AdamW's states in 8 bits, not 32", modes: ["train", "lora"], set: { optimizer: "adamw8" }, unset: { optimizer: "adamw" } },
  shard: { label: "8 GPUs, split", about: "ZeRO-3: weights, gradients and optimizer states are split over 8 GPUs", modes: ["train", "lora"], set: { gpus: 8, zero: 3 }, unset: { gpus: 1, zero: 0 } },
  bf16: { label: "bf16 only", about: "Weights, gradients and optimizer states all in bf16", modes: ["train"], set: { precision: "bf16" }, unset: { precision: "autocast" } },
  lora: { label: "LoRA", about: "The weights are frozen; small adapters beside them train", modes: ["train", "lora"], set: { mode: "lora" }, unset: { mode: "train" } },
  eight: { label: "8-bit weights", about: "The weights in 8 bits", modes: ["infer"], set: { bits: 8 }, unset: { bits: 16 } },
  four: { label: "4-bit weights", about: "The frozen weights in 4 bits", modes: ["lora", "infer"], set: { bits: 4 }, unset: { bits: 16 } },
  cache: { label: "8-bit KV cache", about: "Keys and values in 8 bits", modes: ["infer"], set: { kv_bits: 8 }, unset: { kv_bits: 16 } },
};

/** Is this remedy taken in a setting? */
export const taken = (setting, remedy) => Object.entries(remedy.set).every(([name, value]) => (name === "gpus" ? setting.gpus >= value : setting[name] === value));

export const modelOf = (setting) => Object.keys(MODELS).find((name) => Object.entries(MODELS[name].shape).every(([key, value]) => setting[key] === value));
