/** Numbers as people write them, and reading them back. */

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
