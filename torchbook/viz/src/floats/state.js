/** The state that the traits hold, and changes to it. Nothing here draws. */

import { classOf, decode, encode, FORMATS, neighbour } from "./model.js";
import { presets as PRESETS } from "./setup.json";
import { read, repr } from "./text.js";

const isPattern = (of, bits) => Number.isInteger(bits) && bits >= 0 && bits < 2 ** of.width;

/** The number that a text holds, or undefined. */
export function numberOf(text) {
  try {
    return read(text);
  } catch {
    return undefined;
  }
}

/** Is this, from a link, a state that can be shown? */
export const isState = (given) =>
  Boolean(given) &&
  Object.hasOwn(FORMATS, given.dtype) &&
  typeof given.number === "string" &&
  numberOf(given.number) !== undefined &&
  (given.bits === undefined || isPattern(FORMATS[given.dtype], given.bits));

/** The bond to the model's traits `number`, `dtype` and `bits`; `bits` counts only where several patterns are nan. */
export function session(ui, model) {
  function now() {
    const of = FORMATS[model.get("dtype")];
    const saturates = model.get("saturates");
    const number = model.get("number");
    const typed = numberOf(number) ?? 0;
    const given = model.get("bits");
    const keeps = Number.isNaN(typed) && isPattern(of, given) && classOf(of, given) === "nan";
    const bits = keeps ? given : encode(of, typed, saturates);
    return { of, number, typed, bits, saturates, value: decode(of, bits), kind: classOf(of, bits) };
  }
  const put = (number, dtype, bits) => {
    const of = FORMATS[dtype];
    ui.set({ number, dtype, bits: bits ?? encode(of, numberOf(number), model.get("saturates")) });
  };
  const start = ({ number, dtype, bits }) => {
    const nan = Number.isNaN(numberOf(number)) && bits !== undefined && classOf(FORMATS[dtype], bits) === "nan";
    put(number, dtype, nan ? bits : undefined);
  };
  const pattern = (bits) => {
    const { of } = now();
    put(repr(decode(of, bits)), of.name, bits);
  };
  return {
    now,
    start,
    pattern,
    type: (number) => put(number, model.get("dtype")),
    choose: (dtype) => dtype !== model.get("dtype") && put(model.get("number"), dtype),
    step(way) {
      const { of, bits } = now();
      const next = neighbour(of, bits, way);
      if (next !== null) pattern(next);
    },
    state() {
      const { of, number, bits } = now();
      return { number, dtype: of.name, bits };
    },
    preset() {
      const { of, number } = now();
      return Object.keys(PRESETS).find((name) => PRESETS[name].set.number === number && PRESETS[name].set.dtype === of.name);
    },
  };
}
