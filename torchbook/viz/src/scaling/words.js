/** The state in words, each result with its formula, and the same as Python. */

import { ADAMW_BYTES, BACKWARD_SHARE, results } from "./model.js";
import { amount, count, duration, plain, significant } from "../core/units.js";

/** The same sentences as `describe` in torchbook/viz/scaling.py. */
export function describe(setting) {
  const all = results(setting);
  const many = `${setting.gpus} GPU${setting.gpus === 1 ? "" : "s"}`;
  const shown = `${duration(all.hidden)} of it hidden behind the backward, ${duration(all.exposed)} exposed`;
  return (
    `${count(setting.parameters)} parameters on ${many}: global batch ${all.global_batch}, learning rate ` +
    `${plain(all.lr)}. ${amount(all.gradients)} of gradients; a ring all-reduce takes ${duration(all.ring)}, ` +
    `${shown}. A step takes ${duration(all.step)}: ${significant(all.speedup)} times as fast as one GPU, ` +
    `${significant(100 * all.efficiency)} % efficiency. Weights, gradients and AdamW's moments need ` +
    `${amount(all.memory)} on each GPU and ${all.fits ? "fit" : "do not fit"} in ${plain(setting.memory_gb)} GB; ` +
    `activations come on top.`
  );
}

/** Rows of the results: {name, value, formula, note}, in groups. */
export function rows(setting) {
  const all = results(setting);
  const { gpus: k, batch, lr, rule, latency_us: wait, overlap } = setting;
  const rounds = 2 * (k - 1);
  const band = `${plain(setting.bandwidth_gb)} GB/s`;
  const compute = setting.compute_ms * 1e-3;
  const late = (n) => (wait ? ` + ${n} × ${plain(wait)} µs` : "");
  const times = { linear: ` × ${k}`, sqrt: ` × √${k}`, none: "" }[rule];
  return [
    {
      title: "Batch and learning rate",
      rows: [
        { name: "global batch", value: String(all.global_batch), rule: "K × b", formula: `${k} × ${batch}` },
        {
          name: "learning rate",
          value: plain(all.lr),
          rule: { linear: "lr × K", sqrt: "lr × √K", none: "lr" }[rule],
          formula: `${plain(lr)}${times}`,
          note: rule === "none" ? "" : "A rule of thumb for SGD (linear) or Adam (square root), with warm-up; nothing in the arithmetic of gradients demands it.",
        },
      ],
    },
    {
      title: "Communication in each step",
      rows: [
        { name: "gradients", value: amount(all.gradients), rule: "parameters × bytes", formula: `${count(setting.parameters)} × ${setting.bytes_per_element} B` },
        { name: "one copy, one way", value: duration(all.copy), rule: "bytes ÷ bandwidth", formula: `${amount(all.gradients)} ÷ ${band}${late(1)}`, note: "Not an all-reduce: nothing is summed, and only one GPU has it." },
        { name: "ring all-reduce", value: duration(all.ring), rule: "2(K−1)/K × bytes ÷ bandwidth + 2(K−1) × latency", formula: `${rounds}/${k} × ${amount(all.gradients)} ÷ ${band}${late(rounds)}`, main: true },
        { name: "naive all-reduce", value: duration(all.naive), rule: "2(K−1) × one copy", formula: `${rounds} × ${duration(all.copy)}`, note: "All send to one GPU over its one link, and it sends the sums back." },
      ],
    },
    {
      title: "Time of a step",
      rows: [
        { name: "hidden", value: duration(all.hidden), rule: "min(all-reduce, usable backward)", formula: `min(${duration(all.ring)}, ${plain(overlap)} % × ${duration(BACKWARD_SHARE * compute)})`, note: "The backward is taken as two thirds of the compute time." },
        { name: "exposed", value: duration(all.exposed), rule: "all-reduce − hidden", formula: `${duration(all.ring)} − ${duration(all.hidden)}` },
        { name: "step", value: duration(all.step), rule: "compute + exposed", formula: `${duration(compute)} + ${duration(all.exposed)}`, main: true },
        { name: "speed-up", value: `${significant(all.speedup)}×`, rule: "K × compute ÷ step", formula: `${k} × ${duration(compute)} ÷ ${duration(all.step)}`, main: true },
        { name: "efficiency", value: `${significant(100 * all.efficiency)} %`, rule: "speed-up ÷ K", formula: `${significant(all.speedup)} ÷ ${k}` },
        { name: "samples per second", value: significant(all.throughput), rule: "global batch ÷ step", formula: `${all.global_batch} ÷ ${duration(all.step)}`, note: `One GPU: ${significant(batch / compute)}.` },
      ],
    },
    {
      title: "Memory on each GPU",
      rows: [
        {
          name: "AdamW, float32",
          value: amount(all.memory),
          rule: "weights 4 + gradients 4 + moments 8 bytes",
          formula: `${count(setting.parameters)} × ${ADAMW_BYTES} B`,
          note: `${all.fits ? "Fits" : "Does not fit"} in ${plain(setting.memory_gb)} GB. Activations, buffers and DDP's buckets (as large as the gradients, unless gradient_as_bucket_view=True) come on top.`,
          bad: !all.fits,
        },
      ],
    },
  ];
}

/** Python that prints the results; it needs nothing but `math`. */
export function script(setting) {
  const { rule } = setting;
  const lr = { linear: "lr * K", sqrt: "lr * math.sqrt(K)", none: "lr" }[rule];
  return `import math

parameters = ${whole(setting.parameters)}
bytes_per_element = ${setting.bytes_per_element}
batch, K = ${setting.batch}, ${setting.gpus}
compute = ${setting.compute_ms} * 1e-3  # seconds of forward and backward
bandwidth = ${setting.bandwidth_gb} * 1e9  # bytes per second, one direction
latency = ${setting.latency_us} * 1e-6  # seconds of one hop
overlap = ${setting.overlap} / 100  # of the backward, two thirds of the compute time
lr, memory = ${setting.lr}, ${setting.memory_gb} * 1e9

size = parameters * bytes_per_element
copy = size / bandwidth + latency
ring = 2 * (K - 1) / K * size / bandwidth + 2 * (K - 1) * latency
naive = 2 * (K - 1) * copy
hidden = min(ring, overlap * (2 / 3) * compute)
step = compute + (ring - hidden)
speedup = K * compute / step

print("global_batch", K * batch)
print("lr", ${lr})
print("gradients", size)
print("copy", copy)
print("ring", ring)
print("naive", naive)
print("hidden", hidden)
print("exposed", ring - hidden)
print("step", step)
print("speedup", speedup)
print("efficiency", speedup / K)
print("throughput", K * batch / step)
print("memory", parameters * 16)
print("fits", parameters * 16 <= memory)
`;
}
const whole = (x) => (x > 2 ** 53 ? BigInt(x).toString() : String(x));

/** What an older tutorial said of the example, and what holds. */
export const CLAIMS = [
  ["“naive all-reduce, 2.3 ms”", "1.4 GB ÷ 600 GB/s = 2.33 ms is one copy, one way. A naive all-reduce of it takes 6 copies, 14 ms; it is slower than a ring, not faster."],
  ["“ring all-reduce, 3.5 ms”", "6/4 × 1.4 GB ÷ 600 GB/s = 3.5 ms; but 600 GB/s is both directions of the A100's NVLink together, and a ring sends in one. At 300 GB/s it is 7.0 ms."],
  ["“3.7× on four GPUs”", "With all of 3.5 ms exposed it would be 4 × 80 ÷ 83.5 = 3.83×; with all of 7.0 ms exposed it is 4 × 80 ÷ 87 = 3.68×. For 3.7× exactly 6.5 ms would be exposed, so the claim that the overlap hides almost all of it cannot be right as well."],
];
