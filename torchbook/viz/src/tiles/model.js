/** Tiled product and online softmax; the same arithmetic as in torchbook/viz/tiles.py, which tests compare. */

import { contractOf } from "../core/contract.js";
import SETUP from "./setup.json";

export const { fields: FIELDS } = SETUP;
export const BYTES = 4;

const count = (size, block) => Math.ceil(size / block);
const range = (n) => Array.from({ length: n }, (_, i) => i);

/** Tenths from -2 to 2 by Park and Miller's generator, after `skip` of them. */
export function numbers(seed, rows, columns, skip = 0) {
  let state = seed + 1;
  const found = range(skip + rows * columns).map(() => {
    state = (state * 48271) % 2147483647;
    return ((state % 41) - 20) / 10;
  });
  return range(rows).map((r) => found.slice(skip + r * columns, skip + (r + 1) * columns));
}

// Matrix multiplication

export function programs({ m, n, block_m: bm, block_n: bn, order, group }) {
  const [rows, columns] = [count(m, bm), count(n, bn)];
  return range(rows * columns).map((i) => {
    if (order === "row") return [Math.floor(i / columns), i % columns];
    const first = Math.floor(i / (group * columns)) * group;
    const inside = i % (group * columns);
    const high = Math.min(rows - first, group);
    return [first + (inside % high), Math.floor(inside / high)];
  });
}

/** What each step loads, through a cache that drops what was not used for longest. */
export function loads(setting) {
  const { m, n, k, block_m: bm, block_n: bn, block_k: bk, cache } = setting;
  const kept = new Map();
  return programs(setting).flatMap(([row, column]) =>
    range(count(k, bk)).map((step) =>
      [["A", row, step, Math.min(bm, m - row * bm) * Math.min(bk, k - step * bk)], ["B", step, column, Math.min(bk, k - step * bk) * Math.min(bn, n - column * bn)]].map(([matrix, i, j, elements]) => {
        const key = `${matrix}${i},${j}`;
        const hit = kept.delete(key);
        kept.set(key, [matrix, i, j]);
        while (kept.size > cache) kept.delete(kept.keys().next().value);
        return { matrix, row: i, column: j, elements, hit };
      }),
    ),
  );
}

/** The tiles that the cache holds after a step. */
export function held(setting, step) {
  const kept = new Map();
  for (const now of loads(setting).slice(0, step + 1)) {
    for (const { matrix, row, column } of now) {
      const key = `${matrix}${row},${column}`;
      kept.delete(key);
      kept.set(key, { matrix, row, column });
      while (kept.size > setting.cache) kept.delete(kept.keys().next().value);
    }
  }
  return [...kept.values()];
}

export function traffic(setting, step) {
  const { m, n, k } = setting;
  const all = loads(setting);
  const until = all.slice(0, step + 1).flat();
  const every = all.flat();
  const sum = (of) => of.reduce((total, one) => total + one.elements, 0) * BYTES;
  const missed = (one) => !one.hit;
  return {
    untiled: 2 * m * n * k * BYTES,
    tiled: sum(every),
    cached: sum(every.filter(missed)),
    least: (m * k + k * n) * BYTES,
    sofar: sum(until.filter(missed)),
    tiles: new Set(until.map((one) => `${one.matrix}${one.row},${one.column}`)).size,
  };
}

export const operands = ({ m, n, k, seed }) => [numbers(seed, m, k), numbers(seed, k, n, m * k)];

const tile = (of, row, column, high, wide) => range(high).map((i) => range(wide).map((j) => of[row + i]?.[column + j] ?? 0));

export function product(setting, step) {
  const { k, block_m: bm, block_n: bn, block_k: bk } = setting;
  const [all_a, all_b] = operands(setting);
  const depth = count(k, bk);
  const program = Math.floor(step / depth);
  const now = step % depth;
  const [row, column] = programs(setting)[program];
  const accumulator = range(bm).map(() => Array(bn).fill(0));
  let a;
  let b;
  for (let d = 0; d <= now; d += 1) {
    a = tile(all_a, row * bm, d * bk, bm, bk);
    b = tile(all_b, d * bk, column * bn, bk, bn);
    for (let i = 0; i < bm; i += 1) for (let j = 0; j < bn; j += 1) for (let x = 0; x < bk; x += 1) accumulator[i][j] += a[i][x] * b[x][j];
  }
  return { program, row, column, depth: now, a, b, accumulator, last: now === depth - 1 };
}

// Attention

export function heads({ tokens, head_dim: size, seed, gain }) {
  const [q, k, v] = [0, 1, 2].map((i) => numbers(seed, tokens, size, i * tokens * size));
  return [q.map((row) => row.map((x) => x * gain)), k, v];
}

export const visits = ({ tokens, block_q: high, block_kv: wide, causal }) =>
  range(count(tokens, high)).flatMap((i) => range(count(tokens, wide)).flatMap((j) => (!causal || j * wide <= Math.min((i + 1) * high, tokens) - 1 ? [[i, j]] : [])));

export function online(setting, step) {
  const { tokens, head_dim: size, block_q: high, block_kv: wide, causal } = setting;
  const [q, k, v] = heads(setting);
  const seen = visits(setting);
  const [program, last] = seen[step];
  const scale = 1 / Math.sqrt(size);
  const rows = [];
  for (let query = program * high; query < Math.min((program + 1) * high, tokens); query += 1) {
    let maximum = -Infinity;
    let total = 0;
    const accumulator = Array(size).fill(0);
    let row;
    for (let j = 0; j <= last; j += 1) {
      const keys = range(Math.min((j + 1) * wide, tokens) - j * wide).map((x) => j * wide + x);
      const scores = keys.map((key) => {
        let score = 0;
        for (let x = 0; x < size; x += 1) score += q[query][x] * k[key][x];
        return causal && key > query ? -Infinity : score * scale;
      });
      const [before, total_before] = [maximum, total];
      maximum = Math.max(before, ...scores);
      const rescale = Math.exp(before - maximum);
      const weights = scores.map((score) => Math.exp(score - maximum));
      total = weights.reduce((sum, weight) => sum + weight, total_before * rescale);
      for (let x = 0; x < size; x += 1) {
        accumulator[x] *= rescale;
        keys.forEach((key, i) => (accumulator[x] += weights[i] * v[key][x]));
      }
      row = { query, scores, before, maximum, rescale, weights, total_before, total };
    }
    rows.push({ ...row, accumulator, output: accumulator.map((x) => x / total) });
  }
  return { program, tile: last, rows, last: seen[step + 1]?.[0] !== program };
}

export function passes(setting) {
  const { tokens, head_dim: size, block_q: high, block_kv: wide, causal } = setting;
  const seen = visits(setting);
  const keys = seen.reduce((sum, [, j]) => sum + Math.min(wide, tokens - j * wide), 0);
  return {
    eager: (4 * tokens * tokens + 4 * tokens * size) * BYTES,
    tiled: (2 * tokens * size + 2 * keys * size) * BYTES,
    scores: tokens * tokens * BYTES,
    computed: seen.length,
    skipped: count(tokens, high) * count(tokens, wide) - seen.length,
    masked: seen.filter(([i, j]) => causal && Math.min((j + 1) * wide, tokens) - 1 > i * high).length,
  };
}

export const stepsOf = (setting) =>
  setting.kind === "attention" ? visits(setting).length : count(setting.m, setting.block_m) * count(setting.n, setting.block_n) * count(setting.k, setting.block_k);

/** The first step of the program after, or before, the one of this step. */
export function program(setting, step, way) {
  const of = (at) => (setting.kind === "attention" ? visits(setting)[at][0] : Math.floor(at / count(setting.k, setting.block_k)));
  const total = stepsOf(setting);
  const now = of(step);
  let at = step;
  while (at + way >= 0 && at + way < total && of(at) === now) at += way;
  while (way < 0 && at > 0 && of(at - 1) === of(at)) at -= 1;
  return at;
}

const counts = (value) => Number.isInteger(value) && value >= 0 && value <= 1e6;
export const CONTRACT = contractOf(SETUP, { also: { step: counts, row: counts }, possible: (setting) => (setting.step ?? 0) < stepsOf(setting) });
export const { start: START, problem, isSetting: isState, presetOf } = CONTRACT;
