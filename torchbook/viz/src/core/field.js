/** Pictures of many small cells: under a finger they are one field, in which the nearest cell is picked. */

const NEAR = 40; // pixels to the edge of a cell, at most

/**
 * The element whose box is nearest to a pointer; null where none is near.
 * @param {Iterable<Element>} elements
 * @param {{clientX: number, clientY: number}} pointer
 */
export function nearest(elements, { clientX, clientY }) {
  let [best, least] = [null, NEAR];
  for (const el of elements) {
    const { left, right, top, bottom } = el.getBoundingClientRect();
    const away = Math.hypot(Math.max(left - clientX, 0, clientX - right), Math.max(top - clientY, 0, clientY - bottom));
    if (away < least) [best, least] = [el, away];
  }
  return best;
}

/**
 * Makes `node` a field: a click, a tap, or a finger drawn across it picks a cell. Where fingers point, the cells
 * themselves (gridcells and what has the class `tbviz-small`) are no targets.
 * @param {Element} node
 * @param {{cells: () => Iterable<Element>, onpick: (cell: Element, event: Event) => void, draw?: boolean}} on `draw` is
 *   false where drawing a finger across must pick nothing
 */
export function touchField(node, { cells, onpick, draw = true }) {
  node.classList.add("tbviz-cells");
  if (draw) node.classList.add("tbviz-drawn");
  let last = null;
  node.addEventListener("click", (event) => {
    const all = [...cells()];
    const cell = all.find((one) => one.contains(event.target)) ?? nearest(all, event);
    if (cell) onpick(cell, event);
  });
  node.addEventListener("pointerdown", () => (last = null));
  node.addEventListener("pointermove", (event) => {
    if (!draw || event.pointerType !== "touch" || !event.isPrimary) return;
    const cell = nearest(cells(), event);
    if (cell && cell !== last) onpick((last = cell), event);
  });
}
