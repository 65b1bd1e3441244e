/** The bits, in the hues of their three fields; each can be flipped by hand, and by keyboard from one tab stop. */

import { h, replace, still, touchField } from "../core/index.js";
import { digits, fields } from "./model.js";
import { exact } from "./text.js";

const TURN = 320; // milliseconds
const sup = (n) => h("sup", {}, String(n).replace("-", "−"));
const spoken = (n) => String(n).replace("-", "minus ");

/** What a field stands for; `words` where it has no number. */
function meanings({ of, bits, kind }) {
  const { sign, exponent, fraction } = fields(of, bits);
  const special = kind === "inf" || kind === "nan";
  const least = exponent === 0;
  const ones = of.infinite ? "not zero" : "all ones";
  return [
    [`(−1)`, sup(sign), ` = ${sign ? "−1" : "+1"}`],
    special
      ? ["all ones"]
      : [least ? "field 0 counts as 1: 2" : "2", sup(`${least ? 1 : exponent}−${of.bias}`), ` = 2`, sup(Math.max(exponent, 1) - of.bias)],
    special
      ? [kind === "inf" ? "zero: inf" : `${ones}: nan`]
      : [`${least ? 0 : 1} + ${fraction}/2`, sup(of.fraction), ` = ${exact(Number(!least) + fraction / 2 ** of.fraction)}`],
  ];
}

/** What a single bit is worth. */
function worth({ of, bits }, field, place) {
  if (field === "sign") return "minus if 1";
  if (field === "exponent") return `worth ${2 ** place}`;
  return `worth 2 to the ${spoken(place - of.fraction)}`;
}

/**
 * @param {{flip: (bits: number) => void, step: (way: number) => void}} on
 */
export function bitRow(on) {
  const legend = h("div", { class: "fx-legend" });
  const row = h("div", { class: "fx-own" });
  const node = h("div", { class: "fx-bits", role: "group", "aria-label": "Bits" }, legend, row);
  const told = h("div", { class: "fx-meanings" });
  let now;
  let buttons = [];
  let here = 0;

  const flip = (n, to) => {
    const scale = 2 ** (now.of.width - 1 - n);
    const set = Math.floor(now.bits / scale) % 2;
    if (to === undefined || to !== set) on.flip(now.bits + (set ? -scale : scale));
  };
  const go = (n) => {
    rove(Math.max(0, Math.min(buttons.length - 1, n)));
    buttons[here].focus({ preventScroll: true });
  };
  const rove = (n) => {
    here = n;
    buttons.forEach((one, i) => (one.tabIndex = i === n ? 0 : -1));
  };
  const KEYS = {
    ArrowLeft: () => go(here - 1),
    ArrowRight: () => go(here + 1),
    Home: () => go(0),
    End: () => go(buttons.length - 1),
    ArrowUp: () => on.step(1),
    ArrowDown: () => on.step(-1),
    0: () => (flip(here, 0), go(here + 1)),
    1: () => (flip(here, 1), go(here + 1)),
  };
  node.addEventListener("keydown", (event) => {
    const act = !event.ctrlKey && !event.metaKey && !event.altKey && KEYS[event.key];
    if (!act || !buttons.includes(event.target)) return;
    event.preventDefault();
    act();
  });
  // A bit is smaller than a finger: the nearest is flipped, once for each tap.
  touchField(row, { cells: () => buttons, onpick: (bit) => flip(buttons.indexOf(bit)), draw: false });
  node.addEventListener("focusin", (event) => buttons.includes(event.target) && rove(buttons.indexOf(event.target)));

  function build({ of }) {
    const bit = (name) => (_, i) =>
      h("button", { type: "button", class: `fx-bit tbviz-small fx-${name}${i ? "" : " first"}` });
    const all = [["sign", 1], ["exponent", of.exponent], ["fraction", of.fraction]];
    buttons = all.flatMap(([name, size]) => Array.from({ length: size }, bit(name)));
    buttons.forEach((one, n) => (one.dataset.bit = n));
    replace(legend, all.map(([name, size]) => h("p", { class: `fx-head fx-${name}` }, `${size} ${name}${name === "fraction" ? " bits" : ""}`)));
    replace(told, all.map(([name]) => h("p", { class: `fx-meaning fx-${name}` })));
    replace(row, buttons);
    node.dataset.width = of.width;
    rove(0);
  }

  function draw(next) {
    const fresh = !now || now.of !== next.of;
    const focused = buttons.includes(node.getRootNode().activeElement);
    now = next;
    if (fresh) build(now);
    const all = digits(now.of, now.bits);
    buttons.forEach((one, n) => {
      const field = n === 0 ? "sign" : n <= now.of.exponent ? "exponent" : "fraction";
      const place = field === "exponent" ? now.of.exponent - n : now.of.width - 1 - n;
      if (!fresh && one.textContent !== all[n] && !still()) one.animate({ transform: ["rotateX(180deg)", "none"] }, TURN);
      one.textContent = all[n];
      one.setAttribute("aria-pressed", String(all[n] === "1"));
      one.setAttribute("aria-label", `${field} bit ${now.of.width - 1 - n}, ${worth(now, field, place)}, is ${all[n]}`);
    });
    const means = meanings(now);
    [...told.children].forEach((one, i) => replace(one, means[i]));
    if (fresh && focused) go(0);
  }

  return { node, told, draw };
}
