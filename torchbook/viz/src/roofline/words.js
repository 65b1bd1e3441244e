/** The op in words, its numbers with their formulas, and the same as Python. */

import { amount, duration, plain, prefixed, significant } from "../core/units.js";
import { advice, convOut, costOf, devicesOf, DTYPES, isMachine, OPS, results } from "./model.js";

const capital = (text) => text[0].toUpperCase() + text.slice(1);
/** A power of ten with its prefix: 10 T. */
export function tick(power) {
  const thousands = Math.min(Math.max(Math.floor(power / 3), 0), 5);
  return `${plain(10 ** (power - 3 * thousands))} ${" kMGTP"[thousands]}`.trim();
}

const size = (x) => (x < 1e6 ? plain(x) : String(Math.trunc(x)));

export function place(point, machine) {
  const reached = point.flops / point.seconds;
  const text = `${point.name} reached ${prefixed(reached, "FLOP")}/s at ${significant(point.flops / point.bytes)} FLOP per byte`;
  const top = isMachine(machine) && machine.flops.fp32;
  if (!top) return text;
  const limit = Math.min(top, (point.flops / point.bytes) * machine.bandwidth);
  return `${text}, ${significant((100 * reached) / limit)} % of what ${machine.name} allows in float32`;
}

/** The same sentences as `describe` in torchbook/viz/roofline.py. */
export function describe(setting, points = []) {
  const of = costOf(setting);
  const every = devicesOf(setting);
  const { op, dtype, sizes, fused } = setting;
  const told = Object.keys(OPS[op].fields).map((name) => `${name} ${size(sizes[name])}`);
  const how = !OPS[op].fusable ? "" : fused ? ", fused" : ", a kernel for each step";
  let text = `${capital(OPS[op].label)} (${told.join(", ")}) in ${dtype}${how}: ${prefixed(of.flops, "FLOP")}, ${amount(of.bytes)}, ${significant(of.intensity)} FLOP per byte.`;
  for (const [name, one] of Object.entries(results(setting))) {
    const { label } = every[name];
    text += one ? ` ${capital(label)}: ${one.bound}-bound (ridge at ${significant(one.ridge)}), at most ${prefixed(one.attainable, "FLOP")}/s, at least ${duration(one.time)}.` : ` ${capital(label)}: no figure for ${dtype}.`;
  }
  text += ` On ${every[setting.device].label}: ${advice(setting)}`;
  if (points.length) text += ` Measured: ${points.map((one) => place(one, setting.machine)).join("; ")}.`;
  return text;
}

/** FLOPs and bytes of each op: [rule, numbers put in, note] each, and the same as an expression of Python. */
const FORMULAS = {
  matmul({ m, n, k, extra }, fused) {
    const more = extra ? [" + ops·M·N", ` + ${extra} × ${m} × ${n}`] : ["", ""];
    const again = extra && !fused ? [" + 2·ops·M·N", ` + 2 × ${extra} × ${m} × ${n}`] : ["", ""];
    return {
      flops: [`2·M·N·K${more[0]}`, `2 × ${m} × ${n} × ${k}${more[1]}`],
      bytes: [`M·K + K·N + M·N${again[0]}`, `${m} × ${k} + ${k} × ${n} + ${m} × ${n}${again[1]}`],
    };
  },
  decode: ({ batch, inputs, outputs }) => ({
    flops: ["2 × sequences × inputs × outputs", `2 × ${batch} × ${inputs} × ${outputs}`],
    bytes: ["weights + inputs + outputs", `${inputs} × ${outputs} + ${batch} × ${inputs} + ${batch} × ${outputs}`],
  }),
  pointwise: ({ elements, ops }, fused) => ({
    flops: ["ops × elements", `${ops} × ${elements}`],
    bytes: [fused ? "read + written" : "ops × (read + written)", fused ? `2 × ${elements}` : `${ops} × 2 × ${elements}`],
  }),
  layer_norm: ({ rows, width }, fused) => ({
    flops: ["rows × (7·width + 2)", `${rows} × (7 × ${width} + 2)`],
    bytes: fused ? ["2·rows·width + 2·width", `2 × ${rows} × ${width} + 2 × ${width}`] : ["12·rows·width + 8·rows + 2·width", `12 × ${rows} × ${width} + 8 × ${rows} + 2 × ${width}`],
    note: fused ? "" : "Mean, difference, square, mean, plus eps, rsqrt, product, times weight, plus bias: a kernel each.",
  }),
  softmax: ({ rows, width }, fused) => ({
    flops: ["rows × (5·width − 2)", `${rows} × (5 × ${width} − 2)`],
    bytes: fused ? ["2·rows·width", `2 × ${rows} × ${width}`] : ["8·rows·width + 4·rows", `8 × ${rows} × ${width} + 4 × ${rows}`],
    note: fused ? "" : "Maximum, difference, exponential, sum, quotient: a kernel each.",
  }),
  attention({ batch: b, heads: a, kv_heads: kv, queries: s, keys: t, width: d }, fused) {
    const scores = fused ? ["", ""] : [" + 4·scores", ` + 4 × ${b} × ${a} × ${s} × ${t}`];
    return {
      flops: ["two products of 2·b·a·s·t·d", `4 × ${b} × ${a} × ${s} × ${t} × ${d}`],
      bytes: [`queries + output + keys + values${scores[0]}`, `2 × ${b} × ${a} × ${s} × ${d} + 2 × ${b} × ${kv} × ${t} × ${d}${scores[1]}`],
      note: fused ? "" : "Scores are written, read by softmax, whose result is written, and read by the second product.",
    };
  },
  conv2d({ batch, channels_in: i, channels_out: o, size: side, kernel, stride }) {
    const out = convOut(side, kernel, stride);
    return {
      flops: ["2 × images × out² × weights", `2 × ${batch} × ${out} × ${out} × ${o} × ${i} × ${kernel} × ${kernel}`],
      bytes: ["image in + weights + image out", `${batch} × ${i} × ${side} × ${side} + ${o} × ${i} × ${kernel} × ${kernel} + ${batch} × ${o} × ${out} × ${out}`],
    };
  },
  embedding: ({ tokens, width }) => ({ flops: ["none", "0"], bytes: ["an index, a row read, a row written", ""] }),
};

/** Groups of rows for the table. */
export function rows(setting) {
  const { op, sizes, dtype, fused } = setting;
  const of = costOf(setting);
  const e = DTYPES[dtype].bytes;
  const { flops, bytes, note } = FORMULAS[op](sizes, fused);
  const moved = op === "embedding" ? `${sizes.tokens} × (8 + 2 × ${sizes.width} × ${e}) B` : `(${bytes[1]}) × ${e} B`;
  const every = devicesOf(setting);
  const found = Object.entries(results(setting)).map(([name, one]) => {
    const { label, full } = every[name];
    const here = name === setting.device;
    if (!one) return { name: label, value: "–", rule: `${full ?? label}: no figure for ${dtype}`, main: here };
    return {
      name: label,
      value: duration(one.time),
      rule: one.bound === "compute" ? "FLOPs ÷ peak" : "bytes ÷ bandwidth",
      formula: one.bound === "compute" ? `${prefixed(of.flops, "FLOP")} ÷ ${prefixed(one.peak, "FLOP")}/s` : `${amount(of.bytes)} ÷ ${amount(one.bandwidth)}/s`,
      note: `${one.bound}-bound: ridge at ${significant(one.ridge)} FLOP per byte; at most ${prefixed(one.attainable, "FLOP")}/s.`,
      main: here,
    };
  });
  return [
    {
      title: "The op",
      rows: [
        { name: "FLOPs", value: prefixed(of.flops, "FLOP"), rule: flops[0], formula: flops[1], note: OPS[op].matrix || !of.flops ? "" : "Not a matrix product, so the float32 peak of the ordinary cores counts." },
        { name: "bytes", value: amount(of.bytes), rule: op === "embedding" ? bytes[0] : `(${bytes[0]}) × bytes`, formula: moved, note },
        { name: "intensity", value: significant(of.intensity), rule: "FLOPs ÷ bytes", formula: `${prefixed(of.flops, "FLOP")} ÷ ${amount(of.bytes)}`, main: true },
      ],
    },
    { title: "Least time", rows: found },
  ];
}

const PYTHON = {
  matmul: (fused) => ["2 * m * n * k + extra * m * n", `m * k + k * n + m * n${fused ? "" : " + extra * 2 * m * n"}`],
  decode: () => ["2 * batch * inputs * outputs", "batch * inputs + inputs * outputs + batch * outputs"],
  pointwise: (fused) => ["ops * elements", fused ? "2 * elements" : "ops * 2 * elements"],
  layer_norm: (fused) => ["rows * (7 * width + 2)", fused ? "2 * rows * width + 2 * width" : "12 * rows * width + 8 * rows + 2 * width"],
  softmax: (fused) => ["rows * (5 * width - 2)", fused ? "2 * rows * width" : "8 * rows * width + 4 * rows"],
  attention: (fused) => ["4 * batch * heads * queries * keys * width", `2 * batch * width * (heads * queries + kv_heads * keys)${fused ? "" : " + 4 * batch * heads * queries * keys"}`],
  conv2d: () => ["2 * batch * out**2 * weights", "batch * channels_in * size**2 + weights + batch * channels_out * out**2"],
  embedding: () => ["0", ""],
};

/** Python that prints the results; it needs nothing. */
export function script(setting) {
  const { op, sizes, dtype, fused } = setting;
  const [flops, moved] = PYTHON[op](fused);
  const every = devicesOf(setting);
  const found = Object.entries(results(setting)).filter(([, one]) => one);
  const lines = Object.keys(OPS[op].fields).map((name) => `${name} = ${sizes[name]}`);
  if (op === "conv2d") lines.push("out = (size + 2 * (kernel // 2) - kernel) // stride + 1", "weights = channels_out * channels_in * kernel**2");
  lines.push(
    `element = ${DTYPES[dtype].bytes}  # bytes, ${dtype}`,
    "",
    `flops = ${flops}`,
    op === "embedding" ? "moved = tokens * (8 + 2 * width * element)" : `moved = element * (${moved})`,
    'print("flops", flops)',
    'print("bytes", moved)',
    'print("intensity", flops / moved)',
    "",
    "# FLOP/s of the peak, bytes per second",
    "devices = {",
    ...found.map(([name, one]) => `    ${JSON.stringify(every[name].label)}: (${one.peak}, ${one.bandwidth}),`),
    "}",
    "for name, (peak, bandwidth) in devices.items():",
    '    bound = "compute" if flops / moved >= peak / bandwidth else "memory"',
    '    print(name, max(flops / peak, moved / bandwidth), bound, sep="|")',
  );
  return `${lines.join("\n")}\n`;
}
