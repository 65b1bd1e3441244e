/** Lines from logical elements to their place in the storage, led between the cells: no number and no border is crossed. */

import { replace, s, still } from "../core/index.js";

const MOST = 24; // lines at once

/**
 * Lines over `picture`, drawn in the frame after the last call, so that measuring never lays out the page twice.
 * @param {HTMLElement} picture
 * @param {{grid: Element, store: Element, cellOf: (at: number[]) => Element, slot: (place: number) => Element}} ends
 */
export function wires(picture, { grid, store, cellOf, slot }) {
  const node = s("svg", { class: "sx-wires", "aria-hidden": "true" });
  let joined = { elements: [], place: null };
  let frame = 0;
  let until = 0; // lines follow what moves until then

  /** Half of what is between an element and the next one in its row. */
  const gutter = (el) => (parseFloat(getComputedStyle(el.closest("[role=row]")).columnGap) || 2) / 2;
  /** From a cell down beside its column to the grid's lower edge; and where that is. */
  function down(cell, floor, gutter) {
    const [x, bottom] = [(cell.left + cell.right) / 2, Math.min(cell.bottom, floor)];
    if (floor - bottom < (cell.bottom - cell.top) / 2) return [`M${x},${bottom}`, x, bottom];
    const beside = cell.right + gutter;
    return [`M${cell.right},${(cell.top + bottom) / 2}H${beside}V${floor}`, beside, floor];
  }
  /** From the storage's upper edge down beside the slots' columns to the slot; and where it begins. */
  function into(end, ceiling, gutter) {
    const [x, top] = [(end.left + end.right) / 2, Math.max(end.top, ceiling)];
    if (top - ceiling < (end.bottom - end.top) / 2) return ["", x, top];
    return [`V${(top + end.bottom) / 2}H${end.left}`, end.left - gutter, ceiling];
  }
  function path(cell, i, end, edges) {
    const [start, x1, y1] = down(cell, edges.floor, edges.between);
    const [rest, x2, y2] = into(end, edges.ceiling, edges.beside);
    const bend = Math.max(10, (y2 - y1) / 2);
    const d = `${start}C${x1},${y1 + bend} ${x2},${y2 - bend} ${x2},${y2}${rest}`;
    return [s("path", { class: "halo", d }), s("path", { class: i ? "more" : "", d })];
  }
  function draw() {
    frame = 0;
    const { elements, place } = joined;
    const origin = picture.getBoundingClientRect();
    const box = (el) => el && within(el.getBoundingClientRect(), origin);
    const end = place === null ? null : box(slot(place));
    if (!end) return replace(node);
    if (performance.now() < until) redraw();
    const some = elements.slice(0, MOST).map(cellOf);
    const edges = {
      floor: box(grid).bottom,
      ceiling: Math.max(box(store).top, box(store.firstElementChild).top),
      between: some[0] ? gutter(some[0]) : 1,
      beside: gutter(slot(place)),
    };
    const cells = some.map(box);
    return replace(node, cells.map((cell, i) => cell && path(cell, i, end, edges)).reverse());
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
    /** The ends are moving for so long. */
    follow(ms) {
      if (!still()) until = performance.now() + ms;
      redraw();
    },
    cleanup() {
      watch.disconnect();
      cancelAnimationFrame(frame);
    },
  };
}

/** A box as it lies in another, which cuts off what is beside it. */
const within = ({ left, right, top, bottom }, { left: x, top: y, width }) => ({
  left: Math.min(Math.max(left - x, 0), width),
  right: Math.min(Math.max(right - x, 0), width),
  top: top - y,
  bottom: bottom - y,
});
