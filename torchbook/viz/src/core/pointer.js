/** One target in place of many small ones: where a picture is pressed, the figure finds what is nearest. */

/**
 * Calls `pick` with the place, in pixels from the top left of `node`, where it is pressed, and while it is dragged over.
 * A finger taps, because its drag scrolls the page; it drags what has `touch-action: none`.
 * @param {Element} node
 * @param {(x: number, y: number, start: boolean) => void} pick `start` is false while it is dragged
 * @param {string} [handle] selector of what can be pressed in `node`; all of it, if there is none
 */
export function pressed(node, pick, handle) {
  let tap = false;
  const held = (event) => (handle ? event.target.closest(handle) : node);
  const dragged = (hit) => getComputedStyle(hit).touchAction === "none";
  const tell = (event, start) => {
    const { left, top } = node.getBoundingClientRect();
    pick(event.clientX - left, event.clientY - top, start);
  };
  node.addEventListener("pointerdown", (event) => {
    const hit = held(event);
    tap = Boolean(hit) && event.pointerType === "touch" && !dragged(hit);
    if (!hit || event.button || tap) return;
    node.setPointerCapture(event.pointerId);
    tell(event, true);
  });
  node.addEventListener("pointermove", (event) => node.hasPointerCapture(event.pointerId) && tell(event, false));
  node.addEventListener("click", (event) => tap && tell(event, true));
  // Browsers read `touch-action` of boxes, not of shapes in a drawing.
  const keep = (event) => held(event) && dragged(held(event)) && event.preventDefault();
  node.addEventListener("touchstart", keep, { passive: false });
}
