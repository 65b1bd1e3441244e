/** What all figures share. Each figure's module imports from here and is bundled with it into one file. */

export { button, choice, field, number, select, slider, toggle, toolbar } from "./controls.js";
export { copyButton, copyText } from "./copy.js";
export { assign, h, keyed, replace, s, uid } from "./dom.js";
export { nearest, touchField } from "./field.js";
export { grip, sideways } from "./grip.js";
export { animate, glide, moving, shake, still } from "./motion.js";
export { hashOf, keyOf, mountOf, permalink, valueOf } from "./permalink.js";
export { player } from "./player.js";
export { pressed } from "./pointer.js";
export { relations } from "./relations.js";
export { shell } from "./shell.js";
