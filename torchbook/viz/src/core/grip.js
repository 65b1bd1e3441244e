/** What can be dragged looks so: a knob with a grip, a cursor that says which way, and a ring where the focus is. */

import { s } from "./dom.js";

const HAND = 22; // half of what a finger needs
const dots = (columns, rows) => [...Array(rows)].flatMap((_, row) => [...Array(columns)].map((_, column) => `M${4 * column - 2 * (columns - 1)} ${4 * row - 2 * (rows - 1)}h0`)).join("");
const KNOBS = {
  disc: () => [s("circle", { class: "tbviz-ring", r: 13 }), s("circle", { class: "tbviz-body", r: 10 }), s("path", { class: "tbviz-dots", d: dots(2, 3) })],
  bar: () => [s("rect", { class: "tbviz-ring", x: -8, y: -16, width: 16, height: 32, rx: 8 }), s("rect", { class: "tbviz-body", x: -5, y: -13, width: 10, height: 26, rx: 5 }), s("path", { class: "tbviz-dots", d: dots(1, 3) })],
  dots: () => [s("path", { class: "tbviz-dots", d: dots(2, 3) })],
};

/**
 * Lets an element look like what is dragged, and gives it a knob with as much room as a finger needs.
 * @param {Element} el a group of a drawing, or a box
 * @param {{knob?: "disc"|"bar"|"dots", across?: boolean, at?: [number, number]}} [how] `across`: it is dragged to left and
 *   right only; `at` is where in `el` the knob is. The knob takes its colour from `--tb-grip`.
 * @returns {Element} `el`
 */
export function grip(el, { knob = "disc", across = false, at = [0, 0] } = {}) {
  el.classList.add("tbviz-grip");
  el.classList.toggle("tbviz-across", across);
  const made = s("g", { class: "tbviz-knob", transform: `translate(${at.join(" ")})`, "aria-hidden": "true" }, s("circle", { class: "tbviz-reach", r: HAND }), KNOBS[knob]());
  el.append(el.namespaceURI === made.namespaceURI ? made : s("svg", { width: 2 * HAND, height: 2 * HAND, viewBox: `${-HAND} ${-HAND} ${2 * HAND} ${2 * HAND}`, "aria-hidden": "true" }, made));
  return el;
}

/** The sign, around something `2 * half` wide, that it is dragged to left and right. */
export const sideways = (half, x = 0, y = 0) => s("path", { class: "tbviz-sideways", d: `M${x - half} ${y - 5}l-5 5l5 5M${x + half} ${y - 5}l5 5l-5 5` });
