/**
 * A figure that walks through steps plays a few of them when the reader comes to it, once, and ends as it was found. It
 * does so on a page of the book alone, and never for a reader who wants less motion, has a hand on it, or followed a link to
 * its state. `data-arrival="off"` at the root of the document turns it off.
 */

import { still } from "./motion.js";
import { mountOf } from "./permalink.js";

const SEEN = 0.6; // of the figure, when it begins
const GONE = 0.2; // of the figure, when it ends
const REACH = 4; // steps
const met = new WeakSet(); // models whose figure has played, or has not to play any more

/**
 * @typedef {{at: () => number, last: () => number, show: (step: number) => void, rest: () => void, ms: number, reach?: number,
 *   by?: () => number, traits?: string[], hidden?: () => boolean}} Walk as a `player` takes it; `traits` are those that it
 *   changes. It plays the `reach` steps that lead to where it
 *   is, or from the start on and back to it where it is there, `by` so many of them at once.
 * @param {{el: Element, root: Element, model: object}} options
 * @returns {{of: (walk: Walk) => void, playing: () => boolean, over: () => void, cleanup: () => void}} `of` says what
 *   plays; `over`: the state is another's now, so it stays where it is, and does not play any more
 */
export function arrival({ el, root, model }) {
  let walk;
  let watcher;
  let timer = 0;
  let home = 0;
  let found = []; // the traits that it changes, as they were
  const end = (back) => {
    met.add(model);
    watcher?.disconnect();
    if (!timer) return;
    clearInterval(timer);
    timer = 0;
    if (back) walk.show(home);
    if (back) for (const [trait, value] of found) model.set(trait, value);
    walk.rest();
  };
  const over = () => end(false);
  const begin = () => {
    if (timer || met.has(model) || walk.hidden?.()) return;
    home = walk.at();
    const reach = walk.reach ?? REACH;
    const to = home || Math.min(walk.last(), reach);
    const from = Math.max(0, to - reach);
    if (from >= to) return;
    met.add(model);
    found = (walk.traits ?? ["step"]).map((trait) => [trait, model.get(trait)]);
    timer = setInterval(() => {
      const next = walk.at() + (walk.by?.() ?? 1);
      if (walk.at() >= to) end(true);
      else walk.show(Math.min(to, next));
    }, walk.ms);
    walk.show(from);
  };
  const look = (entries) => {
    const { intersectionRatio } = entries.at(-1);
    if (intersectionRatio >= SEEN) begin();
    else if (timer && intersectionRatio < GONE) end(true);
  };
  const key = (event) => timer && end(!root.contains(event.target));
  for (const kind of ["pointerdown", "keydown", "focusin"]) root.addEventListener(kind, over, { capture: true });
  document.addEventListener("keydown", key, { capture: true });
  return {
    of(given) {
      if (!given || walk || !mountOf(el) || still() || document.documentElement.dataset.arrival === "off") return;
      walk = given;
      watcher = new IntersectionObserver(look, { threshold: [GONE, SEEN] });
      watcher.observe(root);
    },
    playing: () => timer !== 0,
    over,
    cleanup() {
      watcher?.disconnect();
      clearInterval(timer);
      document.removeEventListener("keydown", key, { capture: true });
    },
  };
}
