/** Lines from logical elements to their place in the storage; and elements gliding to where an operation puts them. */

import { replace, s, still } from "../core/index.js";

const MOST = 24; // lines at once

/**
 * Lines over `picture`, drawn in the frame after the last call, so that measuring never lays out the page twice.
 * @param {HTMLElement} picture
 * @param {{cellOf: (at: number[]) => Element, slot: (place: number) => Element}} ends
 */
export function wires(picture, { cellOf, slot }) {
  const node = s("svg", { class: "sx-wires", "aria-hidden": "true" });
  let joined = { elements: [], place: null };
  let frame = 0;

  function path(at, i, end, box) {
    const from = cellOf(at)?.getBoundingClientRect();
    if (!from) return null;
    const x1 = Math.min(Math.max(from.left + from.width / 2 - box.left, 0), box.width);
    const [y1, x2, y2] = [from.bottom - box.top, end.left + end.width / 2 - box.left, end.top - box.top];
    const bend = Math.max(18, (y2 - y1) / 2);
    return s("path", { class: i ? "more" : "", d: `M${x1},${y1}C${x1},${y1 + bend} ${x2},${y2 - bend} ${x2},${y2}` });
  }
  function draw() {
    frame = 0;
    const { elements, place } = joined;
    const end = place === null ? null : slot(place)?.getBoundingClientRect();
    if (!end) return replace(node);
    const box = picture.getBoundingClientRect();
    return replace(
      node,
      elements.slice(0, MOST).map((at, i) => path(at, i, end, box)),
    );
  }
  const redraw = () => (frame ||= requestAnimationFrame(draw));
  const watch = new ResizeObserver(redraw);
  watch.observe(picture);
  picture.addEventListener("scroll", redraw, true);

  return {
    node,
    /** Join these elements, the first one with a full line, to a place; nothing when `place` is null. */
    join(elements, place) {
      joined = { elements, place };
      redraw();
    },
    cleanup() {
      watch.disconnect();
      cancelAnimationFrame(frame);
    },
  };
}

/**
 * Remembers where the elements are now. The answer, called after the grid is drawn anew, lets every element that kept
 * its place in memory glide from its old place in the grid to the new one.
 * @param {HTMLElement} picture
 * @param {() => Array<[number, Element]>} placedBefore the grid's cells with their storage indices
 * @param {() => Array<[number, Element]>} placedAfter the same once the grid is drawn anew
 */
export function glide(picture, placedBefore, placedAfter) {
  if (still()) return () => {};
  const spot = (cell, box) => {
    const { left, top } = cell.getBoundingClientRect();
    return [left - box.left, top - box.top];
  };
  const before = picture.getBoundingClientRect();
  const old = new Map(placedBefore().map(([place, cell]) => [place, spot(cell, before)]));
  return () => {
    const after = picture.getBoundingClientRect();
    for (const [place, cell] of placedAfter()) {
      if (!old.has(place)) continue;
      const [x, y] = spot(cell, after);
      const [dx, dy] = [old.get(place)[0] - x, old.get(place)[1] - y];
      const from = { transform: `translate(${dx}px,${dy}px)` };
      if (dx || dy) cell.animate([from, { transform: "none" }], { duration: 420, easing: "cubic-bezier(.3,0,.2,1)" });
    }
  };
}
