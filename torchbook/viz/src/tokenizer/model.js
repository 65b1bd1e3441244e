/** Byte-level BPE; the same steps as in torchbook/viz/tokenizer.py. Tests hold both to the library `tokenizers`. */

import SETUP from "./setup.json";

export const { limit: LIMIT } = SETUP;
export const PRETOKENIZERS = ["gpt2", "none"];

// White_Space in place of \s, which in JavaScript has U+FEFF and lacks U+0085.
const GPT2 = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;

const utf8 = (text) => [...new TextEncoder().encode(text)];
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const loose = new TextDecoder("utf-8", { ignoreBOM: true });

/** The pairs of ids that merges join, from base64 of 16-bit numbers. */
export function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const at = (i) => bytes[i] + 256 * bytes[i + 1];
  return Array.from({ length: bytes.length / 4 }, (_, i) => [at(4 * i), at(4 * i + 2)]);
}

/** Bytes of each id: 0 to 255 the bytes, then the merges' products in order, then the special tokens. */
export function vocabulary(pairs, specials) {
  const tokens = Array.from({ length: 256 }, (_, i) => [i]);
  for (const [left, right] of pairs) tokens.push([...tokens[left], ...tokens[right]]);
  for (const one of specials) tokens.push(utf8(one));
  return { pairs, specials, tokens, ranks: new Map(pairs.map(([left, right], rank) => [left * 65536 + right, rank])) };
}

export const gpt2Pieces = (text) => text.match(GPT2) ?? [];

/** Place and rank of the pair of neighbours with the lowest rank, the leftmost of several. */
export function lowest(ids, { ranks }) {
  let found;
  for (let at = 0; at + 1 < ids.length; at += 1) {
    const rank = ranks.get(ids[at] * 65536 + ids[at + 1]);
    if (rank !== undefined && !(found && found[1] <= rank)) found = [at, rank];
  }
  return found;
}

function merged(text, known) {
  const ids = utf8(text);
  const merges = [];
  for (let found = lowest(ids, known); found; found = lowest(ids, known)) {
    ids.splice(found[0], 2, 256 + found[1]);
    merges.push(found);
  }
  return { text, special: null, merges };
}

let kept = {};

/** The pieces of a text with all their merges; those of the last text are kept. */
export function cut(text, known, pretokenizer) {
  if (kept.text !== text || kept.known !== known || kept.pretokenizer !== pretokenizer) kept = { text, known, pretokenizer, pieces: all(text, known, pretokenizer) };
  return kept.pieces;
}

/** Special tokens come first, the longest at the leftmost place. */
function all(text, known, pretokenizer) {
  const split = pretokenizer === "gpt2" ? gpt2Pieces : (one) => (one ? [one] : []);
  const found = [];
  let start = 0;
  for (let at = 0; at <= text.length; ) {
    const here = known.specials.filter((one) => text.startsWith(one, at)).reduce((best, one) => (one.length > best.length ? one : best), "");
    if (here || at === text.length) found.push(...split(text.slice(start, at)).map((one) => merged(one, known)));
    if (here) {
      found.push({ text: here, special: 256 + known.pairs.length + known.specials.indexOf(here), merges: [] });
      start = at + here.length;
    }
    at += here.length || 1;
  }
  return found;
}

/** The ids of a piece after so many merges. */
export function partsOf(piece, merges = piece.merges.length) {
  if (piece.special !== null) return [piece.special];
  const ids = utf8(piece.text);
  for (const [at, rank] of piece.merges.slice(0, merges)) ids.splice(at, 2, 256 + rank);
  return ids;
}

/**
 * Where the tokens of a piece stand after some merges: in units of a byte from the left, in rows from the top.
 * @returns {{all: object[], roots: object[]}} of each token `id`, `from`, `size`, `level` and the two that it is made of
 */
export function tree(bytes, merges) {
  const roots = bytes.map((id, from) => ({ id, from, size: 1, level: 0, parts: [] }));
  const all = [...roots];
  for (const [at, rank] of merges) {
    const parts = roots.slice(at, at + 2);
    const made = { id: 256 + rank, from: parts[0].from, size: parts[0].size + parts[1].size, level: 1 + Math.max(...parts.map((one) => one.level)), parts };
    roots.splice(at, 2, made);
    all.push(made);
  }
  return { all, roots };
}

export const encode = (text, known, pretokenizer) => cut(text, known, pretokenizer).flatMap((piece) => partsOf(piece));

export const decode = (ids, { tokens }) => loose.decode(Uint8Array.from(ids.flatMap((id) => tokens[id])));

/** The text after `step` merges, piece after piece; -1 is all of them. */
export function moment(pieces, step) {
  const every = pieces.flatMap((piece, i) => piece.merges.map(([at, rank]) => [i, at, rank]));
  const done = step < 0 ? every.length : Math.min(step, every.length);
  let left = done;
  const parts = pieces.map((piece) => {
    const now = Math.min(left, piece.merges.length);
    left -= now;
    return partsOf(piece, now);
  });
  return { done, total: every.length, parts, last: every[done - 1], next: every[done] };
}

/** How early a merge was learned, for its shade: 0 for the first 64th of all merges, then the first 16th, the first quarter, 3 for later. */
export const shade = (rank, { pairs }) => [64, 16, 4].filter((part) => rank >= pairs.length / part).length;

/** The token that is chosen, among all: −1 is what the last merge made, or what the next begins with. */
export function chosen({ parts, last, next }, token) {
  if (token >= 0) return Math.min(token, parts.flat().length - 1);
  const [piece, at] = last ?? next ?? [0, 0];
  return parts.slice(0, piece).reduce((sum, one) => sum + one.length, at);
}

/** The characters of some bytes, or null where they are not whole characters. */
export function charactersOf(bytes) {
  try {
    return strict.decode(Uint8Array.from(bytes));
  } catch {
    return null;
  }
}

/** Text without halves of surrogate pairs, which UTF-8 cannot write. */
export const whole = (text) => loose.decode(new TextEncoder().encode(text));

export function isState(given) {
  if (!given || typeof given !== "object") return false;
  const count = (x, low) => Number.isInteger(x) && x >= low && x < 1e6;
  return Object.entries({ text: "", ...given }).every(([name, value]) => {
    if (name === "text") return typeof value === "string" && [...value].length <= LIMIT && whole(value) === value;
    if (name === "pretokenizer") return PRETOKENIZERS.includes(value);
    return (name === "step" && count(value, -1)) || (name === "token" && count(value, -1));
  });
}
