/** The step in words, and the same as PyTorch. */

import { amount, repr } from "../core/units.js";
import { loads, online, passes, product, stepsOf, traffic } from "./model.js";

/** Four decimals; very large and very small numbers with an exponent. */
export function fixed(x) {
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  const text = x === 0 || (Math.abs(x) >= 5e-5 && Math.abs(x) < 1e6) ? (x + 0).toFixed(4) : x.toExponential(2).replace("e+", "e");
  return text.replaceAll("-", "−");
}

/** Few digits: two decimals, of large ones none. */
export const short = (x) => (Math.abs(x) >= 100 && Math.abs(x) < 1e6 ? x.toFixed(0).replace("-", "−") : Math.abs(x) < 1e6 && (x === 0 || Math.abs(x) >= 0.005) ? x.toFixed(2).replace("-", "−") : fixed(x));

const span = (first, n, size) => `${first}:${Math.min(first + n, size)}`;
const list = (values) => `(${values.map(fixed).join(", ")})`;

/** The places of the tiles of a step of the product. */
export function places(setting, now) {
  const { m, n, k, block_m: bm, block_n: bn, block_k: bk } = setting;
  const [rows, columns, depth] = [span(now.row * bm, bm, m), span(now.column * bn, bn, n), span(now.depth * bk, bk, k)];
  return { a: `A[${rows}, ${depth}]`, b: `B[${depth}, ${columns}]`, c: `C[${rows}, ${columns}]` };
}

/** The same sentences as `describe` in torchbook/viz/tiles.py. */
export function describe(setting, step, row) {
  const total = stepsOf(setting);
  const at = Math.min(step, total - 1);
  if (setting.kind === "attention") return describeOnline(setting, at, row, total);
  const { m, n, k, block_m: bm, block_n: bn, block_k: bk } = setting;
  const now = product(setting, at);
  const seen = traffic(setting, at);
  const [a, b] = loads(setting)[at].map((one) => (one.hit ? "from the cache" : "from memory"));
  const where = places(setting, now);
  return (
    `Product of A (${m} × ${k}) and B (${k} × ${n}) in tiles of ${bm} × ${bn} × ${bk}, programs ${setting.order === "row" ? "row by row" : `grouped by ${setting.group}`}. ` +
    `Step ${at + 1} of ${total}: program ${now.program}, ${where.c}, loads ${where.a} ${a} and ${where.b} ${b}, adds their product to its accumulator` +
    `${now.last ? " and writes the tile to C" : ""}. The first element of the accumulator is ${fixed(now.accumulator[0][0])}. So far ${seen.tiles} different tiles and ` +
    `${amount(seen.sofar)} from memory; the whole product reads ${amount(seen.untiled)} without tiles, ${amount(seen.tiled)} with tiles` +
    `${setting.cache ? `, with a cache of ${setting.cache} tiles ${amount(seen.cached)}` : ""}, ${amount(seen.least)} at least.`
  );
}

function describeOnline(setting, step, row, total) {
  const { tokens, block_q: high, block_kv: wide } = setting;
  const now = online(setting, step);
  const seen = passes(setting);
  const one = now.rows[Math.min(row, now.rows.length - 1)];
  const mask = setting.causal ? `, causal: ${seen.skipped} of ${seen.computed + seen.skipped} tiles skipped` : "";
  const moved =
    one.before === -Infinity
      ? `maximum ${fixed(one.maximum)}, nothing before it to rescale`
      : one.maximum > one.before
        ? `the maximum rises from ${fixed(one.before)} to ${fixed(one.maximum)}, so what was summed is multiplied by ${fixed(one.rescale)}`
        : `the maximum stays ${fixed(one.maximum)}, nothing is rescaled`;
  return (
    `Attention of ${tokens} tokens, head_dim ${setting.head_dim}, in tiles of ${high} queries and ${wide} keys${mask}. Step ${step + 1} of ${total}: queries ` +
    `${span(now.program * high, high, tokens)}, keys ${span(now.tile * wide, wide, tokens)}. Query ${one.query}: scores ${list(one.scores)}; ${moved}; sum of ` +
    `exponentials ${fixed(one.total)}; accumulator ${list(one.accumulator)}.${now.last ? ` The row is finished: output ${list(one.output)}.` : ""} Memory: eager ` +
    `attention moves ${amount(seen.eager)} and keeps ${amount(seen.scores)} of scores, in tiles ${amount(seen.tiled)} and none.`
  );
}

/** The lines of the online softmax for one row, with its numbers. */
export function lines(one, last) {
  const { before, maximum, rescale, scores, weights, total_before, total, accumulator, output } = one;
  const rows = [
    ["m", `max(${fixed(before)}, ${scores.map(fixed).join(", ")})`, fixed(maximum)],
    ["α", `exp(${fixed(before)} − ${maximum < 0 ? `(${fixed(maximum)})` : fixed(maximum)})`, fixed(rescale)],
    ["p", `exp(scores − m)`, list(weights)],
    ["l", `${fixed(rescale)} × ${fixed(total_before)} + ${weights.map(fixed).join(" + ")}`, fixed(total)],
    ["acc", `${fixed(rescale)} × acc + p @ V`, list(accumulator)],
  ];
  if (last) rows.push(["out", "acc ÷ l", list(output)]);
  return rows;
}

const GENERATOR = (seed) => `state = ${seed + 1}  # Park and Miller's generator


def numbers(rows, columns):
    global state
    found = []
    for _ in range(rows * columns):
        state = state * 48271 % 2147483647
        found.append((state % 41 - 20) / 10)
    return torch.tensor(found, dtype=torch.float64).view(rows, columns)
`;

export function script(setting, step) {
  return setting.kind === "attention" ? attentionScript(setting, step) : matmulScript(setting, step);
}

function matmulScript(setting, step) {
  const { m, n, k, block_m: bm, block_n: bn, block_k: bk, group } = setting;
  const place =
    setting.order === "row"
      ? "    row, column = divmod(program, columns)"
      : `    first = program // (GROUP_M * columns) * GROUP_M
    inside, high = program % (GROUP_M * columns), min(rows - first, GROUP_M)
    row, column = first + inside % high, inside // high`;
  return `import torch

M, N, K = ${m}, ${n}, ${k}
BLOCK_M, BLOCK_N, BLOCK_K${setting.order === "row" ? "" : ", GROUP_M"} = ${bm}, ${bn}, ${bk}${setting.order === "row" ? "" : `, ${group}`}
${GENERATOR(setting.seed)}

a, b = numbers(M, K), numbers(K, N)
c = torch.zeros(M, N, dtype=torch.float64)
rows, columns = -(-M // BLOCK_M), -(-N // BLOCK_N)
step = 0
for program in range(rows * columns):
${place}
    i, j = row * BLOCK_M, column * BLOCK_N
    accumulator = torch.zeros_like(c[i : i + BLOCK_M, j : j + BLOCK_N])
    for x in range(0, K, BLOCK_K):
        accumulator += a[i : i + BLOCK_M, x : x + BLOCK_K] @ b[x : x + BLOCK_K, j : j + BLOCK_N]
        if step == ${step}:
            print(program, accumulator, sep="\\n")
        step += 1
    c[i : i + BLOCK_M, j : j + BLOCK_N] = accumulator
torch.testing.assert_close(c, a @ b)
`;
}

function attentionScript(setting, step) {
  const { tokens, head_dim: size, block_q: high, block_kv: wide, causal, gain } = setting;
  return `import torch

T, D, BLOCK_Q, BLOCK_KV = ${tokens}, ${size}, ${high}, ${wide}
${GENERATOR(setting.seed)}

q, k, v = numbers(T, D)${gain === 1 ? "" : ` * ${repr(gain)}`}, numbers(T, D), numbers(T, D)
out = torch.zeros_like(q)
step = 0
for i in range(0, T, BLOCK_Q):
    rows = torch.arange(i, min(i + BLOCK_Q, T))
    m = torch.full((len(rows),), -torch.inf, dtype=q.dtype)
    l = torch.zeros(len(rows), dtype=q.dtype)
    acc = torch.zeros(len(rows), D, dtype=q.dtype)
    for j in range(0, ${causal ? "min(i + BLOCK_Q, T)" : "T"}, BLOCK_KV):
        keys = torch.arange(j, min(j + BLOCK_KV, T))
        scores = q[rows] @ k[keys].T / D**0.5
${causal ? "        scores[keys > rows[:, None]] = -torch.inf\n" : ""}        new = torch.maximum(m, scores.amax(1))
        alpha, p = torch.exp(m - new), torch.exp(scores - new[:, None])
        m, l = new, alpha * l + p.sum(1)
        acc = alpha[:, None] * acc + p @ v[keys]
        if step == ${step}:
            print("m", m, "l", l, "acc", acc, sep="\\n")
        step += 1
    out[rows] = acc / l[:, None]
expected = torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=${causal ? "True" : "False"})[0]
torch.testing.assert_close(out, expected)
`;
}
