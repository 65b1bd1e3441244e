/** Four programs of collectives on one group, as gloo runs them; held to real processes by tests/viz/models/test_ranks.py. */

import { contractOf } from "../core/contract.js";
import SETUP from "./setup.json";

const { calls: CALLS, presets } = SETUP;
export { CALLS };
export const RANKS = 4;
export const MOST = 6; // calls of a program
const range = Array.from({ length: RANKS }, (_, i) => i);

/** The calls of each rank, removed ones too: [[{letter, off}]]. */
export const parse = (programs) => programs.split(" ").map((text) => [...text.matchAll(/(-?)([a-zA-Z])/g)].map(([, off, letter]) => ({ letter, off: off !== "" })));
export const written = (all) => all.map((calls) => calls.map(({ letter, off }) => (off ? "-" : "") + letter).join("")).join(" ");
export const isPrograms = (text) => typeof text === "string" && /^((-?[aAbcCwx]){1,6}( |$)){4}$/.test(text) && text.split(" ").length === RANKS;

/** What a tap does; nothing where it cannot be done. */
export function edit(programs, rank, place, way) {
  const all = parse(programs);
  const calls = all[rank];
  const one = calls[place];
  if (way === "remove" || one.off) one.off = !one.off;
  else if (way === "repeat") {
    if (calls.length >= MOST) return undefined;
    calls.splice(place, 0, { ...one });
  } else {
    const next = calls.findIndex((other, i) => i > place && !other.off);
    if (next < 0) return undefined;
    [calls[place], calls[next]] = [calls[next], one];
  }
  return written(all);
}

// A broadcast goes down a tree of two levels: the source to the next and the one after that, the next to the last.
const place = (rank, root) => (rank - root + RANKS) % RANKS;
const parent = (rank, root) => (rank === root ? undefined : (root + (place(rank, root) === 3 ? 1 : 0)) % RANKS);
const children = (rank, root) => ({ 0: [1, 2], 1: [3] })[place(rank, root)]?.map((v) => (v + root) % RANKS) ?? [];

/**
 * All that happens, frame by frame: {kind, moves, ranks}. A rank has its `calls`, how many have returned (`seq`), whether it
 * is `inside` the next one, whom it `waits` for, what it `held`, its `log`, and, once over, its `end`.
 */
export function run(programs) {
  const ranks = parse(programs).map((slots, rank) => ({
    rank,
    calls: slots.map((one, slot) => ({ ...one, ...CALLS[one.letter], slot })).filter((one) => !one.off),
    seq: 0,
    inside: false,
    received: false,
    sent: [],
    late: -1,
    end: "",
    held: { a: rank + 1, b: 10 * (rank + 1), w: 5 + rank },
    log: [],
  }));
  const frames = [];
  let mixed = false;
  const now = (one) => one.calls[one.seq];
  const meets = (one, other) => other.inside && other.seq === one.seq && now(other).op === now(one).op;
  const waits = (one) => {
    if (!one.inside) return [];
    const call = now(one);
    if (call.op !== "broadcast") return range.filter((r) => !meets(one, ranks[r]));
    const from = parent(one.rank, call.root);
    return from === undefined || one.received ? children(one.rank, call.root).filter((r) => !one.sent.includes(r)) : [from];
  };
  const shot = (kind, moves = []) =>
    frames.push({ kind, moves, ranks: ranks.map((one) => ({ seq: one.seq, slot: now(one)?.slot ?? -1, inside: one.inside, waits: waits(one), end: one.end, held: { ...one.held }, log: one.log.map((entry) => ({ ...entry })) })) });
  const leave = (one) => {
    one.log.at(-1).done = true;
    Object.assign(one, { seq: one.seq + 1, inside: false, received: false, sent: [] });
    finish(one);
  };
  const finish = (one) => {
    if (one.seq === one.calls.length) one.end = "finished";
  };
  /** Some come a little later, as in life: each call has another straggler. */
  function arrive() {
    const free = ranks.filter((one) => !one.inside && !one.end && now(one).op !== "raise");
    const slow = free.filter((one) => one.late < one.seq && (one.rank + one.seq) % RANKS === 2);
    slow.forEach((one) => (one.late = one.seq));
    const come = free.filter((one) => !slow.includes(one));
    for (const one of come) {
      one.inside = true;
      one.log.push({ seq: one.seq + 1, op: now(one).op, size: now(one).size, done: false });
    }
    return come.length ? "came" : slow.length ? "later" : "";
  }
  function together() {
    const [first] = ranks;
    if (!ranks.every((one) => one.inside && now(one).op !== "broadcast" && meets(first, one) && now(one).size === now(first).size)) return [];
    if (now(first).op === "all_reduce") {
      const letters = ranks.map((one) => now(one).letter);
      mixed ||= new Set(letters).size > 1;
      const sum = ranks.reduce((all, one, r) => all + (one.held[letters[r]] ?? 0), 0);
      ranks.forEach((one, r) => letters[r] !== "A" && (one.held[letters[r]] = sum));
    }
    ranks.forEach(leave);
    return range.map((r) => [r, (r + RANKS - 1) % RANKS]);
  }
  function down() {
    const moves = [];
    const has = ranks.map((one) => one.inside && now(one).op === "broadcast" && (one.rank === now(one).root || one.received));
    for (const one of ranks.filter((_, r) => has[r]))
      for (const r of children(one.rank, now(one).root)) {
        const other = ranks[r];
        if (one.sent.includes(r) || !meets(one, other) || parent(r, now(other).root) !== one.rank) continue;
        one.sent.push(r);
        other.received = true;
        other.held.w = one.held.w;
        moves.push([one.rank, r]);
      }
    for (const one of ranks) if (one.inside && now(one).op === "broadcast" && !waits(one).length) leave(one);
    return moves;
  }
  ranks.forEach(finish);
  shot("start");
  for (;;) {
    const came = arrive();
    if (came === "came") shot("arrive");
    const moves = [...together(), ...down()];
    if (moves.length) shot("move", moves);
    if (!came && !moves.length) break;
  }
  // A message goes to the rank before; one that is longer than the place for it ends the process.
  const broken = ranks.filter((one) => one.inside && now(one).op === "all_reduce" && meets(one, ranks[(one.rank + 1) % RANKS]) && now(ranks[(one.rank + 1) % RANKS]).size > now(one).size);
  const raised = ranks.filter((one) => !one.inside && !one.end);
  const [outcome, dead] = broken.length ? ["aborted", broken] : ["raised", raised];
  const stuck = ranks.filter((one) => one.inside && !dead.includes(one));
  stuck.forEach((one) => (one.end = dead.length ? "closed" : "timeout"));
  dead.forEach((one) => (one.end = outcome));
  if (broken.length) raised.forEach((one) => (one.end = "raised"));
  if (dead.length || stuck.length) shot("end");
  return { frames, outcome: dead.length ? outcome : stuck.length ? "hangs" : mixed ? "wrong" : "finished" };
}

const also = { programs: isPrograms, step: (step) => Number.isInteger(step) && step >= 0 && step < 100 };
export const START = presets.skip.set.programs;
export const CONTRACT = contractOf(SETUP, { also, start: { programs: START } });
