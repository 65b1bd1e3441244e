/** How figures write numbers, amounts and times in their words, as torchbook/viz/units.py does, and reading them back. */

/** Three significant digits, or all digits before the point. */
export function significant(x, digits = 3) {
  if (x === 0) return "0";
  const text = x.toExponential(digits - 1);
  const exponent = Number(text.slice(text.indexOf("e") + 1));
  return exponent >= digits ? String(Math.round(x)) : Number(text).toFixed(Math.max(0, digits - 1 - exponent));
}

/** A learning rate: up to six digits, and an exponent below a thousandth. */
export function plain(x) {
  const [mantissa, exponent] = x.toExponential(5).split("e");
  return Number(exponent) < -3 ? `${Number(mantissa)}e−${-Number(exponent)}` : String(Number(x.toPrecision(6)));
}

const LARGE = [
  [1e12, " trillion"],
  [1e9, " billion"],
  [1e6, " million"],
];

/** A whole number for people: 350 million. */
export function count(x) {
  const [size, name] = LARGE.find(([least]) => x >= least) ?? [1, ""];
  return name ? `${Number((x / size).toPrecision(6))}${name}` : String(x);
}

export function duration(seconds) {
  if (seconds >= 1) return `${significant(seconds)} s`;
  if (seconds >= 1e-3) return `${significant(seconds / 1e-3)} ms`;
  return seconds ? `${significant(seconds / 1e-6)} µs` : "0 ms";
}

const BYTES = [
  [1e12, "TB"],
  [1e9, "GB"],
  [1e6, "MB"],
  [1e3, "kB"],
  [0, "B"],
];

/** Bytes in the unit that suits them; 1 GB is 10⁹ bytes. */
export function amount(bytes) {
  const [unit, name] = BYTES.find(([least]) => bytes >= least);
  return `${significant(unit ? bytes / unit : bytes)} ${name}`;
}

/** A number with three digits and a prefix: "12.3 GFLOP", "33.1 k". */
export function prefixed(x, unit = "") {
  for (const [size, prefix] of [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]) if (x >= size) return `${significant(x / size)} ${prefix}${unit}`;
  return `${significant(x)} ${unit}`.trim();
}

/** Numbers at an axis: a unit that stands at all of them, but for a bare 0, is written at the last one only. */
export function axis(texts) {
  const unit = (text) => text.split(" ")[1] ?? "";
  const same = texts.every((text) => text === "0" || unit(text) === unit(texts.at(-1)));
  return texts.map((text, i) => (same && i < texts.length - 1 ? text.split(" ")[0] : text));
}

/** Words in a row: "3, 3 and 2". */
export const several = (words) => (words.length > 1 ? `${words.slice(0, -1).join(", ")} and ${words.at(-1)}` : words.join(""));

/** What a word ends in when there are so many: nothing, or an s. */
export const plural = (number) => (number === 1 ? "" : "s");

/** A place in an order, counted from 1: "1st", "12th". */
export function ordinal(place) {
  const [tens, ones] = [Math.floor(place / 10) % 10, place % 10];
  return `${place}${(tens !== 1 && ["th", "st", "nd", "rd"][ones]) || "th"}`;
}

/** So many of something: "1 page", "2 pages". */
export const counted = (number, what) => `${number} ${what}${plural(number)}`;

const SUFFIX = { k: 1e3, m: 1e6, million: 1e6, b: 1e9, g: 1e9, billion: 1e9, t: 1e12, trillion: 1e12 };

/** A typed number: 350e6, 350M, 7B, 1 000, or 12,5 with a decimal comma; NaN when it is none. */
export function read(text) {
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)([a-z]*)$/i.exec(text.replace(/[\s_]/g, "").replace("−", "-").replace(/^(\d+),(\d{1,2})$/, "$1.$2"));
  if (!match) return NaN;
  const times = match[2] ? SUFFIX[match[2].toLowerCase()] : 1;
  if (!times) return NaN;
  return times === 1 ? Number(match[1]) : Number((Number(match[1]) * times).toPrecision(15));
}

/** What a field holds: short, and read back as the same number. */
export function typed(name, x) {
  if (name === "parameters") {
    for (const [size, letter] of [
      [1e12, "T"],
      [1e9, "B"],
      [1e6, "M"],
    ]) {
      const short = `${x / size}${letter}`;
      if (x >= size && short.length < 10 && read(short) === x) return short;
    }
  }
  return String(x);
}

const SCIENTIFIC = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/;

/** As Python's `repr` of a float. */
export function repr(x) {
  if (!Number.isFinite(x)) return Number.isNaN(x) ? "nan" : x > 0 ? "inf" : "-inf";
  const [, sign, first, rest = "", exponent] = SCIENTIFIC.exec(x.toExponential());
  const minus = sign || (Object.is(x, -0) ? "-" : "");
  const e = Number(exponent);
  if (e < -4 || e > 15) {
    const power10 = `${e < 0 ? "-" : "+"}${String(Math.abs(e)).padStart(2, "0")}`;
    return `${minus}${first}${rest && `.${rest}`}e${power10}`;
  }
  if (e < 0) return `${minus}0.${"0".repeat(-e - 1)}${first}${rest}`;
  const all = (first + rest).padEnd(e + 1, "0");
  return `${minus}${all.slice(0, e + 1)}.${all.slice(e + 1) || "0"}`;
}
