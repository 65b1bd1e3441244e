/** Attention weights in 255ths and what is counted from them; the same as in torchbook/viz/attention.py, which tests compare. */

import SETUP from "./setup.json";

export const { levels: LEVELS } = SETUP;
export const UNIT = 255;

const range = (n) => Array.from({ length: n }, (_, i) => i);
const sum = (all) => all.reduce((a, b) => a + b, 0);

/** The heads, layer after layer, from one byte a weight; of causal heads only the triangle is there. */
export function unpacked(text, size, causal) {
  const data = bytesOf(text);
  const found = [];
  let at = 0;
  while (at < data.length) {
    found.push(
      range(size).map((i) => {
        const wide = causal ? i + 1 : size;
        const row = [...data.subarray(at, at + wide), ...Array(size - wide).fill(0)];
        at += wide;
        return row;
      }),
    );
  }
  return found;
}

const bytesOf = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

/** Heads of scores in whole steps, from two bytes each; of causal heads only the triangle is there. */
function scored(text, size, causal) {
  const data = bytesOf(text);
  const view = new DataView(data.buffer);
  let at = 0;
  const row = (i) => range(size).map((j) => (causal && j > i ? 0 : view.getInt16((at += 2) - 2, true)));
  const heads = [];
  while (at < data.length) heads.push(range(size).map(row));
  return heads;
}

/**
 * A text as the model's trait has it, unpacked.
 * @returns {object} `tokens`, `causal`, `likely`, `all` (the weights of each head), and, where queries and keys were given,
 *   `width`, `product` and `scaled` (of a head, a query and a key) and `strip` (the steps of a vector, from −7 to 7: of kind
 *   0, 1 or 2, which are queries, keys and values)
 */
export function seen({ tokens, packed, causal, scores, likely }) {
  const size = tokens.length;
  const of = { tokens, causal, likely, all: unpacked(packed, size, causal), width: 0 };
  if (!scores) return of;
  const { step, width } = scores;
  const rows = scored(scores.packed, size, causal);
  const halves = bytesOf(scores.strips);
  const half = (i) => (i % 2 ? halves[i >> 1] & 15 : halves[i >> 1] >> 4) - 8;
  return {
    ...of,
    width,
    scaled: (at, query, key) => rows[at][query][key] * step,
    product: (at, query, key) => rows[at][query][key] * step * Math.sqrt(width),
    strip: (kind, at, token) => range(width).map((i) => half(((kind * rows.length + at) * size + token) * width + i)),
  };
}

/** The key with the most weight, the first of several. */
export const strongest = (row) => row.indexOf(Math.max(...row));

/** The query and the key of a state in a text: those of a longer text are its last, and −1 is the strongest. */
export function cellOf({ tokens, all }, heads, { layer, head, query, key }) {
  const [at, last] = [layer * heads + head, tokens.length - 1];
  const q = Math.min(query, last);
  return { at, query: q, key: key < 0 ? strongest(all[at][q]) : Math.min(key, last) };
}

/** The mean of the values of a head under the weights of a row, in steps of colour. */
export function mixed(text, at, row) {
  const sums = Array(text.width).fill(0);
  row.forEach((w, key) => w && text.strip(2, at, key).forEach((x, i) => (sums[i] += (w * x) / UNIT)));
  return sums;
}

/** Bits: 0 where one key has all the weight, log2(n) where n keys share it equally. */
export function entropy(row) {
  let total = 0;
  for (const x of row) if (x) total -= (x / UNIT) * Math.log2(x / UNIT);
  return total;
}

/** Means over the queries from the second on. */
export function numbers(rows) {
  const later = range(rows.length).slice(1);
  const mean = (of) => sum(later.map(of));
  return {
    entropy: mean((i) => entropy(rows[i])) / later.length,
    previous: mean((i) => rows[i][i - 1]) / (UNIT * later.length),
    first: mean((i) => rows[i][0]) / (UNIT * later.length),
    itself: mean((i) => rows[i][i]) / (UNIT * later.length),
  };
}

/** The number of the head that a preset shows; the first of several. */
export function find(heads, preset) {
  const values = heads.map(numbers).map((one) => (preset === "sharp" ? -one.entropy : one[preset === "broad" ? "entropy" : preset]));
  return values.indexOf(Math.max(...values));
}

/** How much a query does what a preset names. */
const DOES = {
  previous: (row, i) => row[i - 1] / UNIT,
  first: (row) => row[0] / UNIT,
  itself: (row, i) => row[i] / UNIT,
  sharp: (row) => -entropy(row),
  broad: (row) => entropy(row),
};

/**
 * Where a preset leads: the head that does what it names the most, and of its queries the one that does. The first two
 * are left out, where there are others: of them the first token is the query's own, or the one before it.
 * @returns {{at: number, query: number}}
 */
export function home(heads, preset) {
  const at = find(heads, preset);
  const rows = heads[at];
  const queries = range(rows.length).slice(Math.min(2, rows.length - 1));
  const values = queries.map((i) => DOES[preset](rows[i], i));
  return { at, query: queries[values.indexOf(Math.max(...values))] };
}

/** How dark a weight is drawn: the square root, in eighths. */
const level = (x) => (x ? Math.max(1, Math.floor(LEVELS * Math.sqrt(x / UNIT) + 0.5)) : 0);

/** For each darkness the cells that have it, as the data of one SVG path in units of a cell. */
export function paths(rows) {
  const found = {};
  rows.forEach((row, i) => {
    const levels = row.map(level);
    for (let at = 0, end = 0; at < levels.length; at = end) {
      while (end < levels.length && levels[end] === levels[at]) end += 1;
      if (levels[at]) (found[levels[at]] ??= []).push(`M${at} ${i}h${end - at}v1h-${end - at}z`);
    }
  });
  return Object.entries(found).map(([one, parts]) => [Number(one), parts.join("")]);
}

/** Is this, from a link, a state that can be shown? */
export function isState(given, { layers, heads, sizes }) {
  if (!given || typeof given !== "object") return false;
  const size = sizes[given.text ?? 0] ?? 0;
  const most = { text: sizes.length, layer: layers, head: heads, query: size, key: size };
  return Object.entries(given).every(([name, x]) => Object.hasOwn(most, name) && Number.isInteger(x) && x >= (name === "key" ? -1 : 0) && x < most[name]);
}
