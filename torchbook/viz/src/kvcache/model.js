/**
 * Generating with and without a cache of keys and values, its memory, and pages that sequences share; the same
 * arithmetic as in torchbook/viz/kvcache.py, which tests compare.
 */

import { contractOf } from "../core/contract.js";
import SETUP from "./setup.json";

export const { fields: FIELDS, models: MODELS, views: VIEWS, longest: LONGEST, most: MOST, more: MORE } = SETUP;
export const SHAPE = ["family", "layers", "heads", "kv_heads", "head_dim", "hidden", "vocab", "context", "tied"];
export const VALUE_BYTES = Object.fromEntries(SETUP.choices.bytes_per_value.of);
export const WEIGHT_BYTES = Object.fromEntries(SETUP.choices.weight_bytes.of);

const shapeFields = (name) => Object.fromEntries(SHAPE.map((key) => [key, MODELS[name].shape[key]]));

/** Changes, with the shape of the model that they name. */
export function named({ model, ...changes }) {
  return model ? { ...shapeFields(model), ...changes } : changes;
}

const ceil = (a, b) => Math.floor((a + b - 1) / b);
const sum = (all) => all.reduce((a, b) => a + b, 0);

export const cachePositions = ([prompt, fresh]) => prompt + fresh - 1;
export const pagesNeeded = ceil;
export const paddedPositions = (requests) => requests.length * cachePositions([0, 1].map((i) => Math.max(...requests.map((one) => one[i]))));

/** Number of parameters, as torchbook/viz/memory.py counts them. */
export function parameters({ layers, heads, kv_heads, head_dim, hidden, vocab, context, family, tied }) {
  const [width, shared, gpt] = [heads * head_dim, kv_heads * head_dim, family === "gpt"];
  const block = 2 * width * (width + shared) + (gpt ? 2 : 3) * width * hidden + (gpt ? 7 * width + 2 * shared + hidden : 2 * width);
  return layers * block + (vocab * (tied ? 1 : 2) + context + (gpt ? 2 : 1)) * width;
}

export const kvRows = (positions, { layers, kv_heads }) => 2 * layers * kv_heads * positions;
export const cacheBytes = (positions, setting, kv_heads = setting.kv_heads) => kvRows(positions, { ...setting, kv_heads }) * setting.head_dim * setting.bytes_per_value;
export const attentionMacs = (fresh, total, { layers, heads, head_dim }) => 2 * layers * heads * head_dim * fresh * total;

/** FLOPs of one forward call, as FlopCounterMode counts them. */
export function forwardFlops(setting, fresh, total) {
  const { layers, heads, kv_heads, head_dim, hidden, vocab, family } = setting;
  const width = heads * head_dim;
  const matrices = 2 * width * (width + kv_heads * head_dim) + (family === "gpt" ? 2 : 3) * width * hidden;
  return 2 * (layers * matrices * fresh + attentionMacs(fresh, total, setting) + width * vocab * fresh);
}

/** The steps that generate the new tokens. */
export function generation(setting, cached) {
  const prompt = setting.prompt.length;
  return Array.from({ length: setting.new_tokens }, (_, step) => {
    const total = prompt + step;
    const fresh = step === 0 || !cached ? total : 1;
    const rows = kvRows(1, setting);
    return { step, phase: step ? "decode" : "prefill", new: fresh, total, computed: rows * fresh, read: rows * (total - fresh), macs: attentionMacs(fresh, total, setting), flops: forwardFlops(setting, fresh, total), kept: cached ? total : 0 };
  });
}

/** What weights and caches take of the memory. */
export function room(setting, kv_heads = setting.kv_heads) {
  const total = parameters(setting);
  const weights = total * setting.weight_bytes;
  const position = cacheBytes(1, setting, kv_heads);
  const each = position * setting.length;
  const left = setting.memory_gb * 1e9 - weights;
  return { parameters: total, weights, position, each, left, fit: Math.max(0, Math.floor(left / each)) };
}

/** Continuous batching on a pool of pages: the moments of `serve` in Python. */
export function serve(requests, page, capacity) {
  const waiting = requests.map(([prompt, fresh], number) => ({ number, prompt, new: fresh, generated: 0, positions: 0, pages: [] }));
  const running = [];
  const free = Array.from({ length: capacity }, (_, i) => i);
  const take = () => free.shift();
  const moments = [];
  const release = (one) => {
    running.splice(running.indexOf(one), 1);
    free.push(...one.pages);
    free.sort((a, b) => a - b);
    one.pages = [];
  };
  while (waiting.length || running.some((one) => one.generated < one.new)) {
    const ended = running.filter((one) => one.generated === one.new);
    ended.forEach(release);
    const evicted = [];
    for (const one of [...running]) {
      while (!evicted.includes(one) && one.positions === one.pages.length * page && !free.length) {
        evicted.push(running.at(-1));
        release(running.at(-1));
      }
      if (evicted.includes(one)) continue;
      if (one.positions === one.pages.length * page) one.pages.push(take());
      one.positions += 1;
      one.generated += 1;
    }
    for (const one of evicted) waiting.unshift(one);
    const started = [];
    while (!evicted.length && waiting.length) {
      const [one] = waiting;
      const length = one.prompt + one.generated;
      if (pagesNeeded(length, page) > free.length) break;
      one.pages = Array.from({ length: pagesNeeded(length, page) }, take);
      one.positions = length;
      one.generated += 1;
      running.push(waiting.shift());
      started.push(one);
    }
    const now = running.map((one) => ({ request: one.number, positions: one.positions, generated: one.generated, pages: [...one.pages], done: one.generated === one.new }));
    const pages = sum(now.map((one) => one.pages.length));
    const numbers = (all) => all.map((one) => one.number);
    moments.push({ running: now, waiting: numbers(waiting), ended: numbers(ended), started: numbers(started), evicted: numbers(evicted), used: sum(now.map((one) => one.positions)), held: pages * page, pages });
  }
  return moments;
}

export const summary = (moments) => ({
  steps: moments.length,
  most: Math.max(...moments.map((one) => one.running.length)),
  used: sum(moments.map((one) => one.used)) / sum(moments.map((one) => one.held)),
  evicted: sum(moments.map((one) => one.evicted.length)),
});

/** Pages, and contiguous reservations in the same memory. */
export const pools = ({ requests, page, capacity, reserve }) => [serve(requests, page, capacity), serve(requests, reserve, Math.floor((page * capacity) / reserve))];

/** Other sequences, with at most 16 positions each. */
export function otherRequests(seed) {
  let x = (seed * 7919 + 17) % 65537;
  const draw = (low, high) => {
    x = (x * 75 + 74) % 65537;
    return low + (x % (high - low + 1));
  };
  return Array.from({ length: 6 }, () => [draw(2, 9), draw(2, 8)]);
}

/** What does not fit together; empty when all does. */
export function mismatch(setting) {
  const { heads, kv_heads, requests, reserve, page, capacity } = setting;
  if (heads % kv_heads) return `${heads} heads cannot share ${kv_heads} heads of keys and values equally`;
  const longest = Math.max(...requests.map(cachePositions));
  if (reserve < longest) return `the longest sequence needs ${longest} positions, but reserve is ${reserve}`;
  if (page * capacity < reserve) return `${capacity} pages of ${page} hold ${page * capacity} positions, but reserve is ${reserve}`;
  return "";
}

const isText = (value) => Array.isArray(value) && value.every((one) => typeof one === "string");
const isRequest = (one) => Array.isArray(one) && one.length === 2 && one.every((n) => Number.isInteger(n) && n >= 1 && n <= 32);
const counts = (value) => Number.isInteger(value) && value >= 0;
export const CONTRACT = contractOf(SETUP, {
  start: { prompt: SETUP.prompt, requests: SETUP.requests },
  also: {
    prompt: (x) => isText(x) && x.length >= 1 && x.length <= LONGEST,
    reply: (x) => isText(x) && x.length <= LONGEST,
    requests: (x) => Array.isArray(x) && x.length >= 1 && x.length <= MOST && x.every(isRequest),
    step: counts,
    moment: counts,
  },
  possible: (setting) => !mismatch(setting),
  alike: (name, wanted, setting) => JSON.stringify(wanted[name]) === JSON.stringify(setting[name]),
});
export const { start: START, problem, isSetting: isState, presetOf } = CONTRACT;

/** The published model of these sizes, whatever its heads of keys and values. */
export const modelOf = (setting) => Object.keys(MODELS).find((name) => SHAPE.every((key) => key === "kv_heads" || MODELS[name].shape[key] === setting[key]));

export const divisors = (n) => Array.from({ length: n }, (_, i) => n - i).filter((one) => n % one === 0);
