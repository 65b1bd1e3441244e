/** Numbers as text, as Python writes them; a number that is typed, as Python reads it. */

import { repr } from "../core/units.js";
import { power } from "./model.js";

export { repr };

/** For people: a real minus, and no ".0" behind a whole number. */
export const show = (x) => repr(x).replace(/\.0$/, "").replaceAll("-", "−").replace("e+", "e");

/** At most four significant digits; a whole number with all of them. */
export const short = (x) => show(Number.isInteger(x) || !Number.isFinite(x) ? x : Number(x.toPrecision(4)));

/** With as many digits as tell it from numbers a tenth of `step` away. */
export function resolved(x, step) {
  if (!Number.isFinite(x) || x === 0 || !(step > 0)) return show(x);
  const digits = Math.ceil(Math.log10(Math.abs(x)) - Math.log10(step)) + 2;
  return show(Number(x.toPrecision(Math.max(4, Math.min(17, digits)))));
}

/** All decimal digits of a number, in the manner of `show`. */
export function exact(x) {
  if (!Number.isFinite(x) || x === 0) return show(x);
  let size = Math.abs(x);
  let twos = 0;
  while (!Number.isInteger(size)) {
    size *= 2;
    twos += 1;
  }
  const whole = String(BigInt(size) * 5n ** BigInt(twos)); // × 10^-twos
  const minus = x < 0 ? "−" : "";
  const e = whole.length - 1 - twos;
  if (e >= -6 && e < 22) {
    const all = whole.padStart(twos + 1, "0");
    const point = all.length - twos;
    return `${minus}${all.slice(0, point)}${twos ? `.${all.slice(point)}` : ""}`;
  }
  const tail = whole.slice(1).replace(/0+$/, "");
  return `${minus}${whole[0]}${tail && `.${tail}`}e${e < 0 ? "−" : ""}${String(Math.abs(e)).padStart(2, "0")}`;
}

/** As Python's `float.hex`, without the zeros at the end. */
export function floatHex(x) {
  if (!Number.isFinite(x)) return repr(x);
  const minus = x < 0 || Object.is(x, -0) ? "-" : "";
  let size = Math.abs(x);
  if (size === 0) return `${minus}0x0.0p+0`;
  let e = 0;
  for (; size >= 2; size /= 2) e += 1;
  for (; size < 1; size *= 2) e -= 1;
  let tail = "";
  for (let rest = size - 1; rest; rest %= 1) tail += Math.floor((rest *= 16)).toString(16);
  return `${minus}0x1.${tail || "0"}p${e < 0 ? "-" : "+"}${Math.abs(e)}`;
}

const DIGITS = String.raw`\d+(?:_\d+)*`;
const NUMBER = String.raw`(?:${DIGITS}\.?(?:${DIGITS})?|\.${DIGITS})(?:e[+-]?${DIGITS})?`;
const TOKEN = new RegExp(String.raw`\s*(?:(${NUMBER})|(inf(?:inity)?|nan)|(\*\*|[-+*/()]))\s*`, "iy");
const LONGEST = 300; // no nesting in it is too deep to read

function tokens(text) {
  const found = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match) throw new SyntaxError(`“${text.slice(at, at + 12).trim()}” is not part of a number`);
    const [, number, name, sign] = match;
    if (sign) found.push(sign);
    else found.push(number ? Number(number.replaceAll("_", "")) : name.toLowerCase() === "nan" ? NaN : Infinity);
  }
  return found;
}

/**
 * A number, or a sum, difference, product or quotient of numbers, in float64; 2**n for a whole n.
 * Throws a SyntaxError with a sentence for the reader.
 */
export function read(text) {
  const plain = text.replaceAll("−", "-").trim();
  if (plain.length > LONGEST) throw new SyntaxError(`at most ${LONGEST} characters`);
  const all = tokens(plain);
  let at = 0;
  const take = (...wanted) => (wanted.includes(all[at]) ? all[at++] : undefined);

  function sum() {
    let left = product();
    for (let sign; (sign = take("+", "-")); ) {
      const right = product();
      left = sign === "+" ? left + right : left - right;
    }
    return left;
  }

  function product() {
    let left = signed();
    for (let sign; (sign = take("*", "/")); ) {
      const right = signed();
      if (sign === "/" && right === 0) throw new SyntaxError("division by zero");
      left = sign === "*" ? left * right : left / right;
    }
    return left;
  }

  function signed() {
    const sign = take("+", "-");
    if (!sign) return raised();
    return sign === "-" ? -signed() : signed();
  }

  function raised() {
    const base = atom();
    if (!take("**")) return base;
    const n = signed();
    if (base !== 2 || !Number.isInteger(n)) throw new SyntaxError("only 2 can be raised, to a whole power");
    return power(n);
  }

  function atom() {
    if (take("(")) {
      const inside = sum();
      if (!take(")")) throw new SyntaxError("a parenthesis is not closed");
      return inside;
    }
    if (typeof all[at] !== "number") throw new SyntaxError("a number is missing");
    return all[at++];
  }

  const value = sum();
  if (at < all.length) throw new SyntaxError("a number, or numbers with + − * / and 2**n");
  return value;
}
