/**
 * Pipeline schedules; the same arithmetic as in torchbook/viz/schedule.py, which tests compare. Times are in forwards of
 * one micro-batch through all stages of one rank.
 */

import { contractOf } from "../core/contract.js";
import SETUP from "./setup.json";

export const { fields: FIELDS, kinds: KINDS } = SETUP;
export const NAMES = Object.keys(FIELDS);

const range = (n) => Array.from({ length: n }, (_, i) => i);
export const virtualOf = ({ kind, virtual }) => (kind === "interleaved" ? virtual : 1);

/** Why PyTorch refuses this number of micro-batches; empty when it does not. */
export function refusal(kind, stages, microbatches) {
  if (kind === "1f1b" && microbatches < stages) return `1F1B needs at least as many micro-batches as stages: ${microbatches} is below ${stages}`;
  const rounds = Math.max(1, Math.floor(microbatches / stages));
  if (kind === "interleaved" && microbatches % rounds) return `interleaved 1F1B needs a multiple of the number of rounds, max(1, m // p) = ${rounds}: ${microbatches} is none`;
  return "";
}

export const CONTRACT = contractOf(SETUP, {
  also: { cursor: (value) => Number.isInteger(value) && value >= 0 },
  possible: ({ kind, stages, microbatches }) => !refusal(kind, stages, microbatches),
  alike: (name, wanted, setting) => (name === "virtual" ? virtualOf(wanted) === virtualOf(setting) : wanted[name] === setting[name]), // where v is of no consequence, it need not match
});
export const { start: START, problem, isSetting: isState, presetOf } = CONTRACT;

/** Numbers of micro-batches that PyTorch takes. */
export const possible = (kind, stages) => range(FIELDS.microbatches.high).map((i) => i + 1).filter((m) => !refusal(kind, stages, m));

/** What a rank does in turn: [letter, stage, micro-batch]. */
export function order(kind, p, m, v, rank) {
  if (kind === "gpipe") return ["F", "B"].flatMap((letter) => range(m).map((i) => [letter, rank, i]));
  const each = kind === "1f1b" ? m : Math.floor(m / Math.max(1, Math.floor(m / p)));
  const warm = kind === "1f1b" ? Math.min(m, p - 1 - rank) : Math.min((v - 1) * each + 2 * (p - 1 - rank), v * m);
  const counts = { F: Array(v).fill(0), B: Array(v).fill(0) };
  const ops = [];
  const add = (letter, local) => ops.push([letter, local * p + rank, counts[letter][local]++]);
  for (let k = 0; k < v * m + warm; k += 1) {
    if (k < v * m) add("F", Math.floor(k / each) % v);
    if (k >= warm) add("B", v - 1 - (Math.floor((k - warm) / each) % v));
  }
  return ops;
}

/** What an operation waits for, [letter, stage] of the same micro-batch; `last` is the last stage. */
export function needsOf(letter, stage, last) {
  if (letter === "F") return stage ? [["F", stage - 1]] : [];
  return stage < last ? [["F", stage], ["B", stage + 1]] : [["F", stage]];
}

export const idOf = ({ kind, microbatch, stage }) => `${kind}${microbatch}.${stage}`;

/** The setting that stands below a setting, to be compared. */
export const rival = (setting) => (setting.kind === "1f1b" ? { ...setting, kind: "interleaved", virtual: Math.max(2, setting.virtual) } : { ...setting, kind: "1f1b" });

/** The operations {rank, stage, microbatch, kind, start, end} by start and rank. */
export function schedule({ kind, stages: p, microbatches: m, virtual, backward, hop }) {
  const v = virtualOf({ kind, virtual });
  const last = p * v - 1;
  const orders = range(p).map((rank) => order(kind, p, m, v, rank));
  const ends = { F: range(last + 1).map(() => []), B: range(last + 1).map(() => []) };
  const free = Array(p).fill(0);
  const at = Array(p).fill(0);
  const placed = [];
  while (placed.length < 2 * p * v * m) {
    const before = placed.length;
    for (let rank = 0; rank < p; rank += 1) {
      for (; at[rank] < orders[rank].length; at[rank] += 1) {
        const [letter, stage, i] = orders[rank][at[rank]];
        const needs = needsOf(letter, stage, last);
        if (needs.some(([kindOf, of]) => ends[kindOf][of][i] === undefined)) break;
        const start = needs.reduce((most, [kindOf, of]) => Math.max(most, ends[kindOf][of][i] + (of % p === rank ? 0 : hop * v)), free[rank]);
        const end = start + (letter === "F" ? 1 : backward);
        free[rank] = ends[letter][stage][i] = end;
        placed.push({ rank, stage, microbatch: i, kind: letter, start: start / v, end: end / v });
      }
    }
    if (placed.length === before) throw new Error("every rank waits for another");
  }
  return placed.sort((a, b) => a.start - b.start || a.rank - b.rank);
}

export const span = (ops) => ops.reduce((most, op) => Math.max(most, op.end), 0);

export function bubble(ops, ranks) {
  return 1 - ops.reduce((sum, op) => sum + (op.end - op.start), 0) / (ranks * span(ops));
}

export const bubbleFormula = (p, m, v) => (p - 1) / (v * m + p - 1);

/** For each rank the most activations that it holds at once. */
export function held(ops, ranks) {
  const now = Array(ranks).fill(0);
  const most = Array(ranks).fill(0);
  for (const { rank, kind } of ops) {
    now[rank] += kind === "F" ? 1 : -1;
    most[rank] = Math.max(most[rank], now[rank]);
  }
  return most;
}

/** How many activations a rank holds, from when on: [time, number]. */
export function keeps(ops, rank) {
  let now = 0;
  return ops
    .filter((op) => op.rank === rank)
    .map(({ kind, start, end }) => (kind === "F" ? [start, 1] : [end, -1]))
    .sort((a, b) => a[0] - b[0] || a[1] - b[1])
    .map(([time, by]) => [time, (now += by)])
    .filter(([time], i, all) => time !== all[i + 1]?.[0]);
}

/** How many times something is sent from one rank to another. */
export function messages(ops, ranks) {
  if (ranks < 2) return 0;
  const last = ops.reduce((most, op) => Math.max(most, op.stage), 0);
  return ops.filter(({ kind, stage }) => (kind === "F" ? stage < last : stage > 0)).length;
}

/** The times at which something begins or ends, without the last. */
export const moments = (ops) => [...new Set(ops.flatMap((op) => [op.start, op.end]))].sort((a, b) => a - b).slice(0, -1);

/** What each rank does at a time: {op, following, from, held}. */
export function doing(ops, time, ranks) {
  const last = ops.reduce((most, op) => Math.max(most, op.stage), 0);
  return range(ranks).map((rank) => {
    const own = ops.filter((op) => op.rank === rank);
    const begun = own.filter((op) => op.start <= time);
    const op = begun.length && begun.at(-1).end > time ? begun.at(-1) : null;
    const following = own[begun.length] ?? null;
    let from = null;
    if (!op && following) {
      const stage = following.stage + (following.kind === "F" ? -1 : 1);
      if (stage >= 0 && stage <= last) from = stage % ranks;
    }
    const inside = begun.reduce((sum, one) => sum + (one.kind === "F" ? 1 : one.end <= time ? -1 : 0), 0);
    return { op, following, from, held: inside };
  });
}
