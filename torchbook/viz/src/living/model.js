/** The forward of `torchbook.llm.GPT` in plain JavaScript, one position at a time, and what is drawn from its logits. */

import SETUP from "./setup.json";

export const { most_characters: MOST } = SETUP;
export const UNIT = 255;

const bytesOf = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

// ---------- weights ----------

const CRC = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let bit = 0; bit < 8; bit += 1) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c;
});

/** The checksum of zlib. */
export function crc32(bytes) {
  let c = -1;
  for (let i = 0; i < bytes.length; i += 1) c = CRC[(c ^ bytes[i]) & 255] ^ (c >>> 8);
  return (c ^ -1) >>> 0;
}

/** The number that a 16-bit float stands for; infinities and NaN are never exported. */
export function half(bits) {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  return (bits >> 15 ? -1 : 1) * (exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24);
}

/**
 * A model from its shape and a view of its weights.
 * @param {object} shape the figure's trait of that name
 * @param {DataView} view
 * @returns {{shape: object, weights: Record<string, Float32Array>, turns: Float64Array[]}} `turns` are cosines and sines of
 *   the rotary angles, position after position
 */
export function modelOf(shape, view) {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  if (bytes.length !== shape.bytes || crc32(bytes) !== shape.crc) throw new Error("the weights that came are damaged");
  const weights = {};
  let at = 0;
  for (const [name, size] of shape.parts) {
    const all = new Float32Array(size);
    for (let i = 0; i < size; i += 1) all[i] = half(view.getUint16(2 * (at + i), true));
    weights[name] = all;
    at += size;
  }
  const pairs = shape.width / shape.heads / 2;
  const turn = (of) => Float64Array.from({ length: Math.ceil(shape.context * pairs) }, (_, i) => of(Math.floor(i / pairs) * shape.rope_base ** (-(i % pairs) / pairs)));
  return { shape, weights, turns: [turn(Math.cos), turn(Math.sin)] };
}

/** Where the model begins to read a text; as `window` in torchbook/viz/living.py. */
export function windowOf(length, context) {
  const kept = Math.max(1, Math.floor(context / 2));
  return length <= context ? 0 : kept * Math.ceil((length - context) / kept);
}

// ---------- forward ----------

/** Keys and values of each layer, position after position. */
export const cacheOf = ({ shape }) => {
  const wide = (shape.width / shape.heads) * shape.kv_heads;
  const room = () => Array.from({ length: shape.layers }, () => new Float32Array(shape.context * wide));
  return { length: 0, keys: room(), values: room() };
};

function linear({ weights }, name, x, out) {
  const w = weights[`${name}.weight`];
  const bias = weights[`${name}.bias`];
  const wide = x.length;
  const whole = wide - (wide % 4);
  for (let row = 0, at = 0; row < out.length; row += 1) {
    let a = bias ? bias[row] : 0;
    let b = 0;
    let c = 0;
    let d = 0;
    let i = 0;
    for (; i < whole; i += 4, at += 4) {
      a += w[at] * x[i];
      b += w[at + 1] * x[i + 1];
      c += w[at + 2] * x[i + 2];
      d += w[at + 3] * x[i + 3];
    }
    for (; i < wide; i += 1, at += 1) a += w[at] * x[i];
    out[row] = a + b + c + d;
  }
  return out;
}

function norm({ shape, weights }, name, x) {
  const w = weights[`${name}.weight`];
  const bias = weights[`${name}.bias`];
  const centred = shape.norm === "layer";
  let mean = 0;
  if (centred) for (const one of x) mean += one / x.length;
  let square = 0;
  for (const one of x) square += (one - mean) ** 2 / x.length;
  const scale = 1 / Math.sqrt(square + shape.eps);
  return x.map((one, i) => (one - mean) * scale * w[i] + (bias ? bias[i] : 0));
}

const silu = (x) => x / (1 + Math.exp(-x));
const gelu = (x) => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));

function mlp(model, name, x) {
  const { hidden, width } = model.shape;
  const up = linear(model, `${name}.up`, x, new Float32Array(hidden));
  if (model.shape.mlp === "swiglu") {
    const gate = linear(model, `${name}.gate`, x, new Float32Array(hidden));
    for (let i = 0; i < hidden; i += 1) up[i] *= silu(gate[i]);
  } else {
    for (let i = 0; i < hidden; i += 1) up[i] = gelu(up[i]);
  }
  return linear(model, `${name}.down`, up, new Float32Array(width));
}

/** Turns the pairs of channels of each head by the angles of a position. */
function rotate({ shape, turns: [cos, sin] }, x, position) {
  const wide = shape.width / shape.heads;
  const pairs = wide / 2;
  for (let head = 0; head < x.length; head += wide) {
    for (let i = 0; i < pairs; i += 1) {
      const [first, second, at] = [x[head + i], x[head + i + pairs], position * pairs + i];
      x[head + i] = first * cos[at] - second * sin[at];
      x[head + i + pairs] = second * cos[at] + first * sin[at];
    }
  }
}

function attention(model, layer, x, cache, look) {
  const { shape } = model;
  const name = `blocks.${layer}.attention`;
  const wide = shape.width / shape.heads;
  const shared = wide * shape.kv_heads;
  const at = cache.length;
  const q = linear(model, `${name}.query`, x, new Float32Array(shape.width));
  const here = (all) => all[layer].subarray(at * shared, (at + 1) * shared);
  const k = linear(model, `${name}.key`, x, here(cache.keys));
  linear(model, `${name}.value`, x, here(cache.values));
  if (shape.positions === "rotary") [q, k].forEach((one) => rotate(model, one, at));
  const [keys, values] = [cache.keys[layer], cache.values[layer]];
  const mixed = new Float32Array(shape.width);
  for (let head = 0; head < shape.heads; head += 1) {
    const [own, of] = [head * wide, Math.floor((head * shape.kv_heads) / shape.heads) * wide];
    const row = new Float32Array(at + 1);
    let largest = -Infinity;
    for (let t = 0; t <= at; t += 1) {
      let sum = 0;
      for (let i = 0, from = t * shared + of; i < wide; i += 1) sum += q[own + i] * keys[from + i];
      row[t] = sum / Math.sqrt(wide);
      if (row[t] > largest) largest = row[t];
    }
    let total = 0;
    for (let t = 0; t <= at; t += 1) total += row[t] = Math.exp(row[t] - largest);
    for (let t = 0; t <= at; t += 1) {
      row[t] /= total;
      for (let i = 0, from = t * shared + of; i < wide; i += 1) mixed[own + i] += row[t] * values[from + i];
    }
    look?.rows[layer][head].push(row);
  }
  return linear(model, `${name}.output`, mixed, new Float32Array(shape.width));
}

const size = (x) => Math.sqrt(x.reduce((sum, one) => sum + one * one, 0) / x.length);

/**
 * Reads one more character: it attends to itself and to all that the cache holds.
 * @param {object} model
 * @param {number} id
 * @param {object} cache of `cacheOf`; it grows by one position
 * @param {{look?: object, head?: boolean}} [how] `look` takes the attention (`rows`) and the stream's sizes (`sizes`) of the
 *   position; without `head` there are no logits.
 * @returns {Float32Array|null} logits of the character that follows
 */
export function step(model, id, cache, { look, head = true } = {}) {
  const { shape, weights } = model;
  const { width } = shape;
  if (cache.length >= shape.context) throw new Error(`this model has ${shape.context} positions`);
  const x = weights["token_embedding.weight"].slice(id * width, (id + 1) * width);
  const add = (more) => more.forEach((one, i) => (x[i] += one));
  if (shape.positions === "learned") add(weights["position_embedding.weight"].subarray(cache.length * width, (cache.length + 1) * width));
  const sizes = [size(x)];
  for (let layer = 0; layer < shape.layers; layer += 1) {
    const name = `blocks.${layer}`;
    add(attention(model, layer, norm(model, `${name}.attention_norm`, x), cache, look));
    add(mlp(model, `${name}.mlp`, norm(model, `${name}.mlp_norm`, x)));
    sizes.push(size(x));
  }
  cache.length += 1;
  look?.sizes.push(sizes);
  return head ? linear(model, shape.tied ? "token_embedding" : "head", norm(model, "norm", x), new Float32Array(shape.vocab_size)) : null;
}

/** The logits after the last of some characters, all of them computed anew. */
export function last(model, ids) {
  const cache = cacheOf(model);
  ids.slice(0, -1).forEach((id) => step(model, id, cache, { head: false }));
  return step(model, ids.at(-1), cache);
}

// ---------- readings ----------

const emptyLook = ({ layers, heads }) => ({ rows: Array.from({ length: layers }, () => Array.from({ length: heads }, () => [])), sizes: [], logits: [] });

/**
 * What the model makes of a text, as `Reading` in torchbook/viz/living.py, with attention weights as they are. One of the
 * text's beginning is continued.
 * @returns {{text: string, start: number, rows: Float32Array[][][], sizes: number[][], logits: Float32Array[], cache: object}}
 */
export function readingOf(model, text, before) {
  const { shape } = model;
  const start = windowOf(text.length, shape.context);
  const goesOn = before?.cache && before.start === start && before.text.length < text.length && text.startsWith(before.text);
  const of = goesOn ? before : { ...emptyLook(shape), start, cache: cacheOf(model) };
  for (const char of text.slice(start + of.cache.length)) of.logits.push(step(model, shape.alphabet.indexOf(char), of.cache, { look: of }));
  return { ...of, text };
}

/** A recorded reading, unpacked. */
export function recorded({ text, weights, sizes, logits }, { layers, heads, vocab_size }) {
  const data = bytesOf(weights);
  const look = emptyLook({ layers, heads });
  let at = 0;
  for (const layer of look.rows)
    for (const head of layer)
      for (let query = 1; query <= text.length; query += 1) {
        head.push(Float64Array.from(data.subarray(at, at + query), (w) => w / UNIT));
        at += query;
      }
  const numbers = ({ step: unit, packed }, wide) => {
    const view = new DataView(bytesOf(packed).buffer);
    return Array.from({ length: text.length }, (_, row) => Array.from({ length: wide }, (_, i) => view.getInt16(2 * (row * wide + i), true) * unit));
  };
  return { ...look, text, start: 0, sizes: numbers(sizes, layers + 1), logits: numbers(logits, vocab_size) };
}

/** The place in the window of the character pointed at. */
export const placeOf = ({ text, start }, at) => (at < 0 ? text.length - 1 : Math.max(start, Math.min(at, text.length - 1))) - start;

// ---------- what comes next ----------

/** As `chances` in torchbook/viz/living.py: `[[id, probability], …]`, the likeliest first, and how many top-p keeps. */
export function chances(logits, temperature, topP) {
  const order = [...logits.keys()].sort((a, b) => logits[b] - logits[a] || a - b);
  if (temperature === 0) return { listed: [[order[0], 1]], kept: 1 };
  const powers = order.map((i) => Math.exp((logits[i] - logits[order[0]]) / temperature));
  const total = powers.reduce((a, b) => a + b, 0);
  let [reached, kept] = [0, 0];
  const listed = order.map((id, i) => {
    if (reached < topP - 1e-9) kept += 1;
    reached += powers[i] / total;
    return [id, powers[i] / total];
  });
  return { listed, kept };
}

/** The character that a number from 0 to 1 draws. */
export function drawn({ listed, kept }, luck) {
  const total = listed.slice(0, kept).reduce((sum, [, p]) => sum + p, 0);
  let left = luck * total;
  for (const [id, p] of listed.slice(0, kept)) if ((left -= p) < 0) return id;
  return listed[kept - 1][0];
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function luckOf(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/**
 * Writes on, one character at a time. The cache goes on from call to call; without it the window is computed anew.
 * @returns {(text: string, how: {cache: boolean, temperature: number, top_p: number}, luck: () => number, clock: () => number) => {char: string,
 *   ms: number, computed: number}} `computed` are the positions that this character took
 */
export function writerOf(model) {
  const { alphabet, context } = model.shape;
  let kept = { text: "", start: 0, cache: null };
  return (text, { cache, temperature, top_p }, luck, clock) => {
    const start = windowOf(text.length, context);
    const ids = [...text.slice(start)].map((char) => alphabet.indexOf(char));
    const begun = clock();
    let logits;
    let computed = ids.length;
    if (cache) {
      const goesOn = kept.cache && kept.start === start && text.length > kept.text.length && text.startsWith(kept.text);
      const own = goesOn ? kept.cache : cacheOf(model);
      computed = ids.length - own.length;
      const missing = ids.slice(own.length);
      missing.forEach((id, i) => (logits = step(model, id, own, { head: i === missing.length - 1 })));
      kept = { text, start, cache: own };
    } else {
      logits = last(model, ids);
    }
    const ms = clock() - begun;
    return { char: alphabet[drawn(chances(logits, temperature, top_p), luck())], ms, computed };
  };
}

/** Is this text one that the model can read? Empty, or what is wrong. */
export function problemOf(text, alphabet) {
  const strange = [...new Set(text)].filter((char) => !alphabet.includes(char));
  if (strange.length) return `the model was trained without ${strange.map((char) => `“${char}”`).join(", ")}`;
  if (!text) return "type a character";
  return text.length > MOST ? `at most ${MOST} characters` : "";
}
