/** The state in words, each part with its formula, and the same as Python. */

import { amount, count, plain } from "../core/units.js";
import {
  ACTIVATION_BYTES,
  ADAPTER_BYTES,
  activations,
  adapterWidth,
  copied,
  firstChange,
  kvWidth,
  logitBytes,
  matrixRows,
  parameters,
  PARTS,
  QUANT_4BIT,
  restBytes,
  results,
  STATE_8BIT,
  STATE_BYTES,
  streamBytes,
  tokenParts,
  WEIGHT_BYTES,
} from "./model.js";

export const LABELS = {
  weights: "weights",
  copies: "bf16 copies of autocast",
  gradients: "gradients",
  optimizer: "optimizer states",
  master: "master weights",
  gathered: "gathered blocks",
  activations: "activations",
  logits: "logits",
  cache: "KV cache",
};
const DOES = { train: "Training all", lora: "LoRA on", infer: "Inference with" };

/** The same sentences as `describe` in torchbook/viz/memory.py. */
export function describe(setting) {
  const all = results(setting);
  const { mode, gpus, batch, seq } = setting;
  const trained = mode === "lora" ? `, of adapters ${count(Math.round(all.trained))},` : "";
  const many = gpus > 1 ? `on each of ${gpus} GPUs` : "on one GPU";
  const parts = PARTS.filter((name) => all[name]).map((name) => `${LABELS[name]} ${amount(all[name])}`);
  const card = `${plain(setting.memory_gb)} GB`;
  const text = `${DOES[mode]} ${count(Math.round(all.parameters))} parameters${trained} with ${batch} × ${seq} tokens ${many}: ${parts.join(", ")}; together ${amount(all.total)}. That `;
  if (all.fits) return `${text}fits in ${card} and leaves ${amount(all.room)}.`;
  const not = `${text}does not fit in ${card}: ${amount(-all.room)} too much.`;
  const first = firstChange(setting);
  if (!first) return not;
  if (first.fits) return `${not} Change first: ${first.name}; then it needs ${amount(first.total)} and fits.`;
  return `${not} No single change suffices; most is saved by: ${first.name}, to ${amount(first.total)}.`;
}

const STATES = { sgd: "none", momentum: "one momentum", adamw: "two moments", adamw8: "two moments of a byte, a float32 scale for each 256", muon: "one momentum for blocks' matrices, two moments for the rest" };

/** Groups of rows {name, value, rule, formula, note}: parameters, then the parts. */
export function rows(setting) {
  const all = results(setting);
  const p = parameters(setting);
  const { layers: L, hidden: h, ffn: f, vocab: V, batch, seq, mode, precision, gpus, rank } = setting;
  const kv = kvWidth(setting);
  const gpt = setting.family === "gpt";
  const zero = mode === "infer" ? 0 : setting.zero;
  const tokens = batch * seq;
  const [P, N, M] = [p.total, all.trained, p.matrices].map((x) => count(Math.round(x)));
  const over = (from) => (zero >= from && gpus > 1 ? ` ÷ ${gpus}` : "");
  const heads = setting.tied ? 1 : 2;
  const found = [
    {
      title: "Parameters",
      rows: [
        { name: "one block", value: count(Math.round(p.block)), rule: `2h² + 2h·kv + ${gpt ? "2" : "3"}h·f${gpt ? " + biases" : ""} + norms`, formula: `2 × ${h} × ${h} + 2 × ${h} × ${kv} + ${gpt ? 2 : 3} × ${h} × ${f}${gpt ? ` + ${p.biases}` : ""} + ${p.norms}`, note: kv < h ? `kv = h × key and value heads ÷ heads = ${kv}.` : "" },
        { name: "whole model", value: P, rule: `L blocks + ${heads === 2 ? "embedding + head" : "embedding"} + final norm`, formula: `${L} × ${count(Math.round(p.block))} + ${heads} × ${V} × ${h}${setting.positions ? ` + ${setting.positions} × ${h}` : ""} + ${p.final}`, main: true },
        mode === "lora" && { name: "adapters", value: N, rule: "L × r × (inputs + outputs)", formula: `${L} × ${rank} × ${adapterWidth(setting, setting.targets)}`, note: `${((100 * all.trained) / all.parameters).toPrecision(2)} % of the model.` },
      ].filter(Boolean),
    },
  ];
  const parts = [];
  const part = (key, rule, formula, note = "") => all[key] && parts.push({ name: LABELS[key], value: amount(all[key]), rule, formula, note });
  if (mode === "train") {
    const w = WEIGHT_BYTES[precision];
    part("weights", "parameters × bytes", `${P} × ${w} B${over(3)}`);
    part("copies", "matrices, biases, head × 2 B", `${count(Math.round(copied(setting)))} × 2 B${over(3)}`, "Made once in each step, saved for the backward, gone after it.");
    part("gradients", "parameters × bytes", `${P} × ${w} B${over(2)}`, "None after zero_grad(). They grow while the activations go, so the peak of a step is about the sum, or below it.");
    const s = STATE_BYTES[precision];
    const states = { momentum: `${P} × ${s} B`, adamw: `${P} × 2 × ${s} B`, adamw8: `${P} × 2 × ${STATE_8BIT} B`, muon: `(${M} + 2 × ${count(Math.round(p.total - p.matrices))}) × ${s} B` };
    part("optimizer", STATES[setting.optimizer], `${states[setting.optimizer]}${over(1)}`, setting.optimizer === "adamw8" ? "Made in the first step()." : "Made in the first step(). On a GPU its default, foreach, needs about one more copy of the weights while it runs; fused=True does not.");
    part("master", "parameters × 4 B", `${P} × 4 B${over(1)}`);
  } else {
    const rest = restBytes(precision);
    const other = count(Math.round(p.total - p.matrices));
    const frozen = { 16: `${P} × ${rest} B`, 8: `${M} × 1 B + ${count(Math.round(matrixRows(setting)))} × 4 B + ${other} × ${rest} B`, 4: `${M} × ${QUANT_4BIT} B + ${other} × ${rest} B` }[setting.bits];
    const rule = { 16: "parameters × bytes", 8: "matrices × 1 B + a scale for each row + the rest", 4: "matrices × ½ B + a scale for each 64 + the rest" }[setting.bits];
    const adapters = mode === "lora" ? ` + ${N} × ${ADAPTER_BYTES} B` : "";
    const split = mode === "infer" && gpus > 1 ? ` ÷ ${gpus}` : over(3);
    part("weights", mode === "lora" ? `${rule} + adapters` : rule, split ? `(${frozen}${adapters})${split}` : `${frozen}${adapters}`);
    if (mode === "lora") {
      part("copies", "adapters × 2 B", `${N} × 2 B${over(3)}`);
      part("gradients", "adapters × 4 B", `${N} × ${ADAPTER_BYTES} B${over(2)}`, "The frozen weights have none.");
      const states = { momentum: `${N} × 4 B`, adamw: `${N} × 2 × 4 B`, adamw8: `${N} × 2 × ${STATE_8BIT} B`, muon: `${N} × 4 B` };
      part("optimizer", STATES[setting.optimizer], `${states[setting.optimizer]}${over(1)}`);
    }
  }
  part("gathered", "two blocks whole: one computes, the next is on its way", `2 × ${amount(((all.weights + all.copies) * gpus * p.block) / p.total)} × ${gpus - 1}/${gpus}`);
  if (mode !== "infer") {
    const saved = activations(setting);
    const token = tokenParts(setting);
    const stream = streamBytes(precision, mode);
    const e = ACTIVATION_BYTES[precision];
    parts.push({ name: "one block saves", value: amount(saved.block), rule: `b·s × (${token.map(([text]) => text).join(" + ")})`, formula: `${tokens} × (${token.map(([, n, bytes]) => `${n} × ${bytes}`).join(" + ")}) B`, sub: true });
    const final = `${tokens} × (${h} × ${stream + e} + ${gpt ? 16 : 12}) B`;
    const lora = mode === "lora" ? "Counted as in full training, a little too much: a frozen matrix needs no input for its gradient." : "";
    if (setting.checkpoint) part("activations", "L inputs of blocks + one block less its input + final norm", `${L} × ${amount(saved.start)} + ${amount(saved.block)} − ${amount(saved.start)} + ${final}`, `Each block runs its forward again in the backward. ${lora}`.trim());
    else part("activations", "L blocks + final norm", `${L} × ${amount(saved.block)} + ${final}`, lora);
    part("logits", "b·s·V × (logits + log-softmax)", `${tokens} × ${V} × ${logitBytes(precision)} B`, "Their gradient comes for a moment on top. Computing the loss in chunks saves almost all of it.");
  } else {
    const e = setting.kv_bits === 8 ? 1 : restBytes(precision);
    part("cache", "2 × L × kv × b·s × bytes", `2 × ${L} × ${kv} × ${tokens} × ${e} B${gpus > 1 ? ` ÷ ${gpus}` : ""}`, `${amount(2 * L * kv * e)} for each token.`);
    part("logits", "b·V × 4 B", `${batch} × ${V} × 4 B`, "Of the last token alone. A long prompt holds one block's tensors for a moment on top.");
  }
  const sum = PARTS.filter((name) => all[name]).map((name) => amount(all[name]));
  parts.push({
    name: "together",
    value: amount(all.total),
    rule: "sum of the parts",
    formula: sum.join(" + "),
    note: all.fits ? `Fits in ${plain(setting.memory_gb)} GB and leaves ${amount(all.room)}.` : `${amount(-all.room)} more than ${plain(setting.memory_gb)} GB.`,
    main: true,
    bad: !all.fits,
  });
  found.push({ title: gpus > 1 ? "Memory of each GPU" : "Memory", rows: parts });
  return found;
}

const python = (value) => (value === true ? "True" : value === false ? "False" : typeof value === "string" ? `"${value}"` : String(value));

/** Python that prints the results; it needs nothing. */
export function script(setting) {
  const { mode, precision, family, gpus, optimizer, bits, flash, checkpoint } = setting;
  const gpt = family === "gpt";
  const zero = mode === "infer" ? 0 : setting.zero;
  const train = mode === "train";
  const split = !gpt && precision === "autocast" && train;
  const e = ACTIVATION_BYTES[precision];
  const stream = streamBytes(precision, mode);
  const rest = restBytes(precision);
  const lines = [
    ...["layers", "hidden", "heads", "kv_heads", "ffn", "vocab", "positions"].map((name) => `${name} = ${setting[name]}`),
    `batch, seq, K = ${setting.batch}, ${setting.seq}, ${gpus}`,
    `memory = ${setting.memory_gb} * 1e9`,
    "",
    "kv = hidden * kv_heads / heads  # elements of a token's keys",
    `matrices = layers * (2 * hidden * (hidden + kv) + ${gpt ? 2 : 3} * hidden * ffn)`,
    `biases = ${gpt ? "layers * (3 * hidden + 2 * kv + ffn)" : "0"}`,
    `norms = ${gpt ? "2" : "1"} * hidden * (2 * layers + 1)`,
    `embeddings = ${setting.tied ? 1 : 2} * vocab * hidden + positions * hidden`,
    "P = matrices + biases + norms + embeddings",
    "tokens = batch * seq",
    "",
    "copies = gradients = optimizer = master = gathered = activations = cache = 0",
  ];
  const state = { sgd: "0", momentum: "N", adamw: "2 * N", adamw8: "", muon: train ? "matrices + 2 * (N - matrices)" : "N" }[optimizer];
  const states = (bytes) => (optimizer === "adamw8" ? "2 * (1 + 4 / 256) * N  # a byte, a scale for each 256" : `(${state}) * ${bytes}`);
  if (train) {
    lines.push("N = P  # parameters that train", `weights = ${WEIGHT_BYTES[precision]} * P`, `gradients = ${WEIGHT_BYTES[precision]} * P`, `optimizer = ${states(STATE_BYTES[precision])}`);
    if (precision === "master") lines.push("master = 4 * P");
    if (precision === "autocast") lines.push("copies = 2 * (matrices + biases + vocab * hidden)");
  } else {
    lines.push("N = 0  # parameters that train");
    if (bits === 16) lines.push(`weights = ${rest} * P`);
    else {
      if (bits === 8) lines.push(`rows = layers * (2 * hidden + 2 * kv + ${gpt ? "ffn + hidden" : "2 * ffn + hidden"})`);
      lines.push(`weights = ${bits === 8 ? "matrices + 4 * rows" : "(0.5 + 4 / 64) * matrices"} + ${rest} * (P - matrices)`);
    }
  }
  if (mode === "lora") {
    const qkv = gpt ? "2 * hidden + 2 * kv" : "4 * hidden + 2 * kv";
    lines.push(`wide = ${qkv} + 2 * hidden${setting.targets === "all" ? ` + ${gpt ? 2 : 3} * (hidden + ffn)` : ""}  # inputs and outputs`, `N = layers * ${setting.rank} * wide`, "weights += 4 * N", "gradients = 4 * N", `optimizer = ${states(4)}`);
    if (precision === "autocast") lines.push("copies = 2 * N");
  }
  if (mode === "infer") {
    lines.push(`cache = 2 * layers * kv * tokens * ${setting.kv_bits === 8 ? 1 : rest} / K`, "logits = 4 * batch * vocab", "weights /= K");
  } else {
    const attention = flash ? `2 * kv * ${e} + 4 * heads` : `2 * hidden * ${e} + heads * seq * ${precision === "autocast" ? 6 : e}`;
    lines.push(
      "",
      "token = (  # bytes that one block saves of one token",
      `    2 * hidden * ${stream} + ${2 + (split ? 5 : 2)} * hidden * ${e} + ${gpt ? 2 : 4} * ffn * ${e}`,
      `    + ${attention} + ${gpt ? 16 : 8}`,
      ")",
      checkpoint ? `saved = (layers - 1) * hidden * ${stream} + token  # inputs, and one block anew` : "saved = layers * token",
      `activations = tokens * (saved + hidden * ${stream + e} + ${gpt ? 16 : 12})`,
      `logits = tokens * vocab * ${logitBytes(precision)}`,
    );
  }
  if (zero >= 1) lines.push("optimizer, master = optimizer / K, master / K  # ZeRO-1");
  if (zero >= 2) lines.push("gradients /= K  # ZeRO-2");
  if (zero >= 3) lines.push(`block = (matrices + biases + 2 * layers * ${gpt ? 2 : 1} * hidden) / layers`, "gathered = 2 * (weights + copies) * block / P * (1 - 1 / K)  # ZeRO-3", "weights, copies = weights / K, copies / K");
  lines.push(
    "",
    "parts = {",
    ...PARTS.map((name) => `    ${python(name)}: ${name},`),
    "}",
    "total = sum(parts.values())",
    "",
    'print("parameters", P)',
    'print("trained", N)',
    "for name, size in parts.items():",
    "    print(name, size)",
    'print("total", total)',
    'print("room", memory - total)',
    'print("fits", total <= memory)',
  );
  return `${lines.join("\n")}\n`;
}
