/** Animation that honours the reader's wish for less motion. */

/** True when the reader asked for less motion. */
export const still = () => Boolean(globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches);

/**
 * Call `step` with t from 0 to 1 over `ms` milliseconds, then `done`. With reduced motion it jumps to the end.
 * @param {{ms: number, step: (t: number) => void, done?: () => void}} options
 * @returns {{cancel: () => void}}
 */
export function animate({ ms, step, done }) {
  if (still() || ms <= 0) {
    step(1);
    done?.();
    return { cancel() {} };
  }
  let frame = 0;
  let start;
  const tick = (now) => {
    start ??= now;
    const t = Math.min(1, (now - start) / ms);
    step(t);
    if (t < 1) frame = requestAnimationFrame(tick);
    else done?.();
  };
  frame = requestAnimationFrame(tick);
  return { cancel: () => cancelAnimationFrame(frame) };
}

const UNSEEN = 4; // pixels: no move, but a line above that is a little taller than the one before it

/**
 * Remembers where things are. The answer, called once they are drawn anew, lets each thing glide from where the one of
 * the same key was; one that was still gliding goes on from where it is.
 * @param {Iterable<[*, Element]>} placed things with their keys
 * @param {number} [ms]
 * @returns {(placed: Iterable<[*, Element]>) => void}
 */
export function glide(placed, ms = 400) {
  if (still()) return () => {};
  const spots = (all) => [...all].map(([key, el]) => [key, el, el.getBoundingClientRect()]);
  const old = new Map(spots(placed).map(([key, , box]) => [key, box]));
  return (after) => {
    for (const [key, el, box] of spots(after)) {
      const from = old.get(key);
      const [dx, dy] = from ? [from.left - box.left, from.top - box.top] : [0, 0];
      if (from && Math.hypot(dx, dy) < UNSEEN) continue;
      const start = from ? { transform: `translate(${dx}px,${dy}px)` } : { opacity: 0, transform: "scale(.7)" };
      el.animate([start, { transform: "none" }], { duration: ms, easing: "cubic-bezier(.3,0,.2,1)" });
    }
  };
}

/** A refusal: the thing shakes, and stays as it was. */
export function shake(el) {
  if (still()) return;
  el.animate({ transform: [0, -7, 6, -4, 2, 0].map((x) => `translateX(${x}px)`) }, { duration: 380 });
}

/**
 * Let what is drawn in `svg` glide to its next place (`.tbviz-moving` in style.js), except where the drawing itself got
 * another size. Call it before each drawing.
 * @param {Element} svg
 * @param {number} width the width for which it is drawn now
 */
export function moving(svg, width) {
  svg.classList.toggle("tbviz-moving", svg.dataset.width === String(width));
  svg.dataset.width = width;
}
