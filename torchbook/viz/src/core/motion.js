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
