/** The bits in their three fields; each can be flipped by mouse, and by keyboard from one tab stop. */

import { h, replace } from "../core/index.js";
import { digits, fields } from "./model.js";
import { exact } from "./text.js";

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
  const node = h("div", { class: "fx-bits", role: "group", "aria-label": "Bits" });
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
  node.addEventListener("focusin", (event) => buttons.includes(event.target) && rove(buttons.indexOf(event.target)));

  function build({ of }) {
    buttons = [];
    const column = (name, size) => {
      const own = Array.from({ length: size }, () => {
        const n = buttons.length;
        const one = h("button", { type: "button", class: "fx-bit", "data-bit": n, onclick: () => flip(n) });
        buttons.push(one);
        return one;
      });
      const title = h("p", { class: "fx-head" }, name, h("span", {}, ` ${size} bit${size > 1 ? "s" : ""}`));
      const meaning = h("p", { class: "fx-meaning" });
      return h("div", { class: `fx-field fx-${name}`, "data-field": name }, title, h("div", { class: "fx-own" }, own), meaning);
    };
    replace(node, column("sign", 1), column("exponent", of.exponent), column("fraction", of.fraction));
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
      one.textContent = all[n];
      one.setAttribute("aria-pressed", String(all[n] === "1"));
      one.setAttribute("aria-label", `${field} bit ${now.of.width - 1 - n}, ${worth(now, field, place)}, is ${all[n]}`);
    });
    const told = meanings(now);
    node.querySelectorAll(".fx-meaning").forEach((one, i) => replace(one, told[i]));
    if (fresh && focused) go(0);
  }

  return { node, draw };
}
