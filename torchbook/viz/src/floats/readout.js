/** The number in full: formula, class, neighbours, limits; and the table of what each format makes of it. */

import { h, replace } from "../core/index.js";
import { classOf, decode, exponentOf, fate, fields, FORMATS, hex, limits, NAMES, neighbour, spacing } from "./model.js";
import { exact, floatHex, resolved, short, show } from "./text.js";

const sup = (n) => h("sup", {}, String(n).replace("-", "−"));
const part = (name, ...inside) => h("span", { class: `fx-${name}` }, inside);

/** The value as the product of its three fields. */
export function formulaOf({ of, bits, value, kind }) {
  const { sign, exponent, fraction } = fields(of, bits);
  const whole = exact(value);
  if (kind === "inf" || kind === "nan") {
    const why = of.infinite
      ? `an exponent of all ones, and a fraction that is ${kind === "inf" ? "zero" : "not zero"}`
      : "all ones, the only pattern but for the sign that is no number";
    return [h("span", { class: "fx-whole" }, show(value)), `: ${why}`];
  }
  const least = exponent === 0;
  return [
    part("sign", sign ? "−1" : "+1"),
    " × ",
    part("exponent", "2", sup(Math.max(exponent, 1) - of.bias)),
    " × ",
    part("fraction", exact(Number(!least) + fraction / 2 ** of.fraction)),
    h("span", { class: "fx-equals" }, " = ", h("span", { class: "fx-whole" }, whole)),
  ];
}

const KINDS = {
  normal: "normal",
  subnormal: "subnormal: no leading 1",
  zero: "zero",
  inf: "inf",
  nan: "nan, not a number",
};

const fact = (name, value, more) =>
  h("div", { role: "listitem" }, h("span", { class: "fx-label" }, name), h("span", { class: "fx-fact" }, value), more && h("span", { class: "fx-more" }, more));

function next({ of, bits, value }, way, name) {
  const to = neighbour(of, bits, way);
  if (to === null) return fact(name, "none", !of.infinite && value * way > 0 && "the next pattern is nan");
  const there = decode(of, to);
  const gap = Math.abs(there - value);
  const away = ["away by 2", sup(exponentOf(gap)), ` = ${short(gap)}`];
  return fact(name, resolved(there, spacing(of, bits)), Number.isFinite(gap) && away);
}

export const factsOf = (now) => [
  fact("class", KINDS[now.kind]),
  fact("pattern", hex(now.of, now.bits), floatHex(now.value)),
  next(now, 1, "next up"),
  next(now, -1, "next down"),
];

export function limitsOf(of) {
  const { largest, normal, subnormal, eps } = limits(of);
  const fraction = of.infinite ? of.fraction : of.fraction - 1;
  return [
    fact("largest finite", resolved(largest, largest * 1e-6), ["(2 − 2", sup(-fraction), ") × 2", sup(of.bias + Number(!of.infinite))]),
    fact("smallest normal", resolved(normal, normal * 1e-6), ["2", sup(1 - of.bias)]),
    fact("smallest subnormal", resolved(subnormal, subnormal * 1e-6), ["2", sup(1 - of.bias - of.fraction)]),
    fact("eps, step after 1", resolved(eps, eps * 1e-6), ["2", sup(-of.fraction)]),
  ];
}

const FATES = {
  exact: "exact",
  up: "rounded up",
  down: "rounded down",
  overflow: "overflow to inf",
  saturated: "too large: stops here",
  lost: "too large: no inf",
  underflow: "underflow to zero",
  nan: "nan",
};
const SIGNS = { exact: "=", up: "↑", down: "↓", overflow: "!", saturated: "!", lost: "!", underflow: "!", nan: "" };

/** A number that may only be broken before its exponent. */
const breakable = (text) => text.split(/(?=e)/).flatMap((part, i) => (i ? [h("wbr"), part] : [part]));

/** One row of the table. */
export function rowOf(now, name) {
  const of = FORMATS[name];
  const { fate: what, value, error, relative, bits } = fate(of, now.typed, now.saturates);
  const small = what !== "underflow" && classOf(of, bits) === "subnormal" ? ", subnormal" : "";
  const moved = what === "exact" || Number.isFinite(error);
  const nothing = "–";
  return {
    value: show(value),
    error: moved ? short(error) : nothing,
    relative: moved && Number.isFinite(relative) ? short(relative) : nothing,
    fate: `${SIGNS[what]} ${FATES[what]}${small}`.trim(),
    bad: SIGNS[what] === "!",
  };
}

/** What each format makes of the number; the name of a format chooses it. */
export function comparison(choose) {
  const rows = NAMES.map((name) => {
    const pick = h("button", { type: "button", class: "tbviz-button fx-pick", onclick: () => choose(name) }, name);
    const cells = ["becomes", "error", "relative", "what happened"].map((title) => h("td", { "data-title": title }));
    return { name, pick, cells, node: h("tr", {}, h("th", { scope: "row" }, pick), cells) };
  });
  const titles = ["format", "becomes", "error", "relative error", "what happened"];
  const head = h("thead", {}, h("tr", {}, titles.map((text) => h("th", { scope: "col" }, text))));
  const node = h("table", { class: "fx-table" }, head, h("tbody", {}, rows.map((row) => row.node)));
  function draw(now) {
    for (const { name, pick, cells, node: line } of rows) {
      const told = rowOf(now, name);
      pick.setAttribute("aria-pressed", String(name === now.of.name));
      line.classList.toggle("on", name === now.of.name);
      [told.value, told.error, told.relative].forEach((text, i) => replace(cells[i], breakable(text)));
      cells[3].textContent = told.fate;
      cells[3].classList.toggle("bad", told.bad);
    }
  }
  return { node, draw };
}
