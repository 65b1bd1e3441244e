/** How each racer is told from the others: a hue, a dash and the shape of its head. */

import { s } from "../core/index.js";
import { NAMES, RACERS } from "./model.js";

export const DASHES = { sgd: "", momentum: "9 4", nesterov: "2 3.5", adam: "10 3 2 3", adamw: "4 3" };

const HEADS = {
  sgd: "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z",
  momentum: "M-4.6 -4.6h9.2v9.2h-9.2z",
  nesterov: "M0 -6.6l6.6 6.6l-6.6 6.6l-6.6 -6.6z",
  adam: "M0 -6.4l6 10.6h-12z",
  adamw: "M0 6.4l6 -10.6h-12z",
};

export const head = (name, x, y) => s("path", { class: `rx-head rx-${name}`, d: HEADS[name], transform: `translate(${x} ${y})` });

/** A piece of a racer's line with its head, for keys. */
export const sample = (name) =>
  s(
    "svg",
    { class: "rx-sample", viewBox: "0 0 40 16", width: 40, height: 16, "aria-hidden": "true" },
    s("path", { class: `rx-path rx-${name}`, d: "M2 8h26", "stroke-dasharray": DASHES[name] }),
    head(name, 32, 8),
  );

export const brief = (name) => RACERS[name].short ?? RACERS[name].label;
export const each = (make) => Object.fromEntries(NAMES.map((name) => [name, make(name)]));
