/**
 * The floating-point formats of PyTorch: what a bit pattern stands for, and which pattern a number becomes.
 *
 * test_floats_model.py compares all of this with the installed torch. A cast from float64 goes through float32
 * and so rounds twice, as in torch. From torch 2.12 on a cast to float8_e4m3fn stops at the largest finite number; before
 * it gave nan there, which is what `saturates = false` asks for. Which nan pattern a cast of nan gives depends on the
 * sign of that nan and on the processor; here it is the one that torch's scalar code gives for a positive nan.
 *
 * @typedef {object} Format
 * @property {string} name as in `torch.<name>`
 * @property {number} exponent bits of the exponent field
 * @property {number} fraction bits of the fraction field
 * @property {number} bias
 * @property {number} width all bits
 * @property {number} top the pattern of the largest finite number
 * @property {number} nan what a positive nan becomes
 * @property {boolean} infinite is there an inf?
 */

const format = (name, exponent, fraction, { infinite = true, nan } = {}) => {
  const full = (2 ** exponent - 1) * 2 ** fraction;
  return {
    name,
    exponent,
    fraction,
    bias: 2 ** (exponent - 1) - 1,
    width: 1 + exponent + fraction,
    top: infinite ? full - 1 : full + 2 ** fraction - 2,
    nan: nan ?? full + 2 ** (fraction - 1),
    infinite,
  };
};

export const FORMATS = Object.fromEntries(
  [
    format("float32", 8, 23),
    format("float16", 5, 10),
    format("bfloat16", 8, 7),
    format("float8_e4m3fn", 4, 3, { infinite: false, nan: 0x7f }),
    format("float8_e5m2", 5, 2, { nan: 0x7f }),
  ].map((one) => [one.name, one]),
);
export const NAMES = Object.keys(FORMATS);

const word = new DataView(new ArrayBuffer(8));

/** 2 to a whole power, exactly. */
export function power(n) {
  if (n < -1022) return n < -1074 ? 0 : Number.MIN_VALUE * power(n + 1074);
  if (n > 1023) return Infinity;
  word.setUint32(0, (n + 1023) * 2 ** 20);
  word.setUint32(4, 0);
  return word.getFloat64(0);
}

/** The exponent of a number's leading bit, for a positive finite one. */
function leading(x) {
  if (x < power(-1022)) return leading(x * power(60)) - 60;
  word.setFloat64(0, x);
  return (word.getUint32(0) >>> 20) - 1023;
}

const roundHalfEven = (x) => {
  const low = Math.floor(x);
  const rest = x - low;
  return rest > 0.5 || (rest === 0.5 && low % 2 === 1) ? low + 1 : low;
};

/** Sign bit, exponent field and fraction field. */
export function fields({ exponent, fraction }, bits) {
  const scale = 2 ** fraction;
  const rest = bits % (scale * 2 ** exponent);
  return { sign: Number(bits !== rest), exponent: Math.floor(rest / scale), fraction: rest % scale };
}

const signBit = ({ width }) => 2 ** (width - 1);
const magnitude = (of, bits) => bits % signBit(of);

/** "zero", "subnormal", "normal", "inf" or "nan". */
export function classOf(of, bits) {
  const all = magnitude(of, bits);
  if (all > of.top) return of.infinite && all === of.top + 1 ? "inf" : "nan";
  if (all === 0) return "zero";
  return all < 2 ** of.fraction ? "subnormal" : "normal";
}

/** The number that a pattern stands for; each is also a float64, so nothing is lost. */
export function decode(of, bits) {
  const kind = classOf(of, bits);
  if (kind === "nan") return NaN;
  const { sign, exponent, fraction } = fields(of, bits);
  const whole = exponent ? 2 ** of.fraction + fraction : fraction;
  const size = kind === "inf" ? Infinity : whole * power(Math.max(exponent, 1) - of.bias - of.fraction);
  return sign ? -size : size;
}

/** The pattern before the range is looked at; may lie beyond `top`. `x` is a positive finite number. */
function roundedTo(of, x) {
  if (x === 0) return 0;
  const least = 1 - of.bias;
  const at = Math.max(leading(x), least);
  return (at - least) * 2 ** of.fraction + roundHalfEven(x / power(at - of.fraction));
}

/**
 * `torch.tensor(x, dtype=torch.float64).to(dtype)`: the pattern, and whether `x` lay beyond the range.
 * @param {Format} of
 * @param {number} x
 */
export function cast(of, x, saturates = true) {
  if (Number.isNaN(x)) return { bits: of.nan, beyond: false };
  const single = Math.fround(x);
  const sign = x < 0 || Object.is(x, -0) ? signBit(of) : 0;
  const size = Number.isFinite(single) ? roundedTo(of, Math.abs(single)) : Infinity;
  const beyond = size > of.top;
  const over = of.infinite ? of.top + 1 : saturates ? of.top : of.nan;
  return { bits: sign + (beyond ? over : size), beyond };
}

export const encode = (of, x, saturates = true) => cast(of, x, saturates).bits;

/** The place of a pattern in the order of numbers, 0 for both zeros; and back. */
export const placeOf = (of, bits) => (bits >= signBit(of) ? -magnitude(of, bits) : bits);
export const patternAt = (of, place) => (place < 0 ? signBit(of) - place : place);

/** The pattern of the next number up (1) or down (-1), as `torch.nextafter`; null where there is none. */
export function neighbour(of, bits, way) {
  const kind = classOf(of, bits);
  if (kind === "nan") return null;
  const last = of.top + Number(of.infinite);
  const next = placeOf(of, bits) + way;
  if (Math.abs(next) > last) return null;
  return next === 0 && way > 0 ? signBit(of) : patternAt(of, next);
}

/** What `torch.finfo` says, and the smallest subnormal number. */
export function limits(of) {
  return {
    largest: decode(of, of.top),
    normal: decode(of, 2 ** of.fraction),
    subnormal: decode(of, 1),
    eps: power(-of.fraction),
  };
}

/**
 * What became of a number: "exact", "up", "down", "overflow" (inf), "saturated", "lost" (nan instead of a number),
 * "underflow" or "nan"; and by how much it moved.
 */
export function fate(of, x, saturates = true) {
  const { bits, beyond } = cast(of, x, saturates);
  const value = decode(of, bits);
  const error = Math.abs(value - x);
  const told = { bits, value, error, relative: x ? error / Math.abs(x) : 0 };
  if (Number.isNaN(x)) return { ...told, fate: "nan" };
  if (Object.is(value, x)) return { ...told, fate: "exact", error: 0, relative: 0 };
  if (Number.isNaN(value)) return { ...told, fate: "lost" };
  if (beyond) return { ...told, fate: Number.isFinite(value) ? "saturated" : "overflow" };
  if (value === 0) return { ...told, fate: "underflow" };
  return { ...told, fate: value > x ? "up" : "down" };
}

/** The distance from a number to its neighbour away from zero; from the largest and from inf, to the one before. */
export function spacing(of, bits) {
  const place = Math.min(magnitude(of, bits), of.top - 1);
  return decode(of, place + 1) - decode(of, place);
}

/** The exponent of a power of two. */
export const exponentOf = leading;

/** Where the numbers begin that are too large even after rounding. */
export function brink(of) {
  const largest = decode(of, of.top);
  return largest + (largest - decode(of, of.top - 1)) / 2;
}

export const hex = ({ width }, bits) => `0x${bits.toString(16).padStart(width / 4, "0")}`;
export const digits = ({ width }, bits) => bits.toString(2).padStart(width, "0");
