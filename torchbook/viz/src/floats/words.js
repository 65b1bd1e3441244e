/** The state in words, and as PyTorch. */

import { decode, digits, fate, hex, limits, neighbour } from "./model.js";
import { repr, short, show } from "./text.js";

function moved(of, typed, saturates) {
  const { fate: what, error, relative } = fate(of, typed, saturates);
  const largest = show(limits(of).largest);
  const by = `by ${short(error)}, relative ${short(relative)}`;
  return {
    exact: " It is exact.",
    up: ` Rounded up ${by}.`,
    down: ` Rounded down ${by}.`,
    overflow: ` Overflow: the largest finite number is ${largest}.`,
    saturated: ` Too large: the cast stops at ${largest}.`,
    lost: ` Too large: the largest number is ${largest}, there is no inf, so it is nan.`,
    underflow: ` Underflow: the smallest number above zero is ${show(limits(of).subnormal)}.`,
    nan: " Other patterns are nan too: which one a cast gives depends on the sign of nan and on the processor.",
  }[what];
}

/** As `FloatExplorer._describe`. */
export function describe({ of, number, typed, bits, saturates, value, kind }) {
  const all = digits(of, bits);
  const parts = [all[0], all.slice(1, 1 + of.exponent), all.slice(1 + of.exponent)].join(" ");
  const next = [1, -1].map((way) => neighbour(of, bits, way));
  const [up, down] = next.map((one) => (one === null ? "none" : show(decode(of, one))));
  const around = kind === "nan" ? "" : ` Next up ${up}, next down ${down}.`;
  const is = kind.endsWith("normal") ? `${show(value)}, a ${kind} number` : show(value);
  return `${number} in ${of.name} is ${is}; bits ${parts} (${hex(of, bits)}).${moved(of, typed, saturates)}${around}`;
}

/** The same in PyTorch. */
export function script({ of, typed, bits, value, kind }) {
  const raw = `torch.uint${of.width}`;
  const literal = Number.isFinite(typed) ? repr(typed) : `float("${repr(typed)}")`;
  const pattern = `torch.tensor(${hex(of, bits)}, dtype=${raw}).view(torch.${of.name})`;
  if (kind === "nan") return `import torch\n\ny = ${pattern}\nassert y.float().isnan()\n`;
  const result = Number.isFinite(value) ? repr(value) : `float("${repr(value)}")`;
  return [
    "import torch",
    "",
    `y = torch.tensor(${literal}, dtype=torch.float64).to(torch.${of.name})`,
    `assert y.item() == ${result}`,
    `assert y.view(${raw}).item() == ${hex(of, bits)}`,
    `assert ${pattern}.item() == y.item()`,
    "",
  ].join("\n");
}
