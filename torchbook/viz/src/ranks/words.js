/** What happens, in words. */

import { several } from "../core/units.js";
import { CALLS, parse } from "./model.js";

export const named = (letter) => `${CALLS[letter].op}${letter === "x" ? " " : ""}${CALLS[letter].of}`;
const ranksOf = (all) => `rank${all.length === 1 ? "" : "s"} ${several(all.map(String))}`;

/** Who has this end. */
const having = (frame, end) => frame.ranks.flatMap((one, r) => (one.end === end ? [r] : []));

/** How it ended, in a sentence. */
export function ending({ frames, outcome }) {
  const last = frames.at(-1);
  const first = (text) => text[0].toUpperCase() + text.slice(1);
  const stuck = last.ranks.flatMap((one, r) => (one.inside && one.end === "timeout" ? [r] : []));
  return {
    finished: "All ranks finish.",
    wrong: "All finish, but different tensors were added.",
    hangs: `${first(ranksOf(stuck))} wait${stuck.length === 1 ? "s" : ""} until the timeout, 30 minutes.`,
    aborted: `${first(ranksOf(having(last, "aborted")))} aborts; the others get an error.`,
    raised: `${first(ranksOf(having(last, "raised")))} exits; who waits gets an error.`,
  }[outcome];
}

const waiting = ({ waits }) => `waits for rank${waits.length === 1 ? "" : "s"} ${waits.join(", ")}`;

/** What one rank does now: short. */
export function doing(one) {
  if (one.end) return { finished: "done", timeout: waiting(one), closed: "error", aborted: "aborted", raised: "exited" }[one.end];
  return one.inside ? waiting(one) : "runs";
}

export function describe(programs, found, step) {
  const at = Math.min(step, found.frames.length - 1);
  const frame = found.frames[at];
  const texts = parse(programs).map((calls, r) => `Rank ${r}: ${calls.filter((one) => !one.off).map((one) => named(one.letter)).join(", ") || "no call"}.`);
  const states = frame.ranks.map((one, r) => `rank ${r} ${doing(one)}, after ${one.seq} calls`);
  return `${texts.join(" ")} Step ${at} of ${found.frames.length - 1}: ${states.join("; ")}.${at === found.frames.length - 1 ? ` ${ending(found)}` : ""}`;
}
