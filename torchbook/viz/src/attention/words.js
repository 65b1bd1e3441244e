/** A head and a query in words, and the same row from a model in PyTorch. */

import { cellOf, entropy, numbers, UNIT } from "./model.js";

const TOLD = 5;

export const two = (x) => x.toFixed(2);
/** A number with so many decimals and a minus sign. */
export const fixed = (x, places) => x.toFixed(places).replace("-", "−");
export const shown = (token) => token.replaceAll(" ", "␣").replaceAll("\n", "↵").replaceAll("\t", "⇥") || "∅";

/** How one weight comes from its query and key. */
function computed(text, { at, query, key }) {
  if (!text.width) return "";
  const name = `Key ${key} “${shown(text.tokens[key])}”`;
  if (text.causal && key > query) return ` ${name} is later than the query: masked, its weight is 0.`;
  return (
    ` ${name}: q · k is ${fixed(text.product(at, query, key), 1)}, over √${text.width} it is ${fixed(text.scaled(at, query, key), 2)}, ` +
    `and the softmax of the row makes ${two(text.all[at][query][key] / UNIT)} of it.`
  );
}

/** The same sentences as `describe` in torchbook/viz/attention.py. */
export function describe(text, [layers, heads], state, count = 1) {
  const { tokens, causal, likely } = text;
  const { layer, head } = state;
  const cell = cellOf(text, heads, state);
  const { at, query } = cell;
  const mine = text.all[at];
  const comes = (likely?.[query] ?? []).map(([token, p]) => `“${shown(token)}” ${two(p)}`).join(", ");
  const row = mine[query];
  const of = numbers(mine);
  const seen = causal ? query + 1 : tokens.length;
  const order = row.map((_, i) => i).slice(0, seen).sort((a, b) => row[b] - row[a] || a - b);
  const told = order.slice(0, TOLD).filter((i) => row[i]).map((i) => `${two(row[i] / UNIT)} to ${i} “${shown(tokens[i])}”`);
  return (
    `${count > 1 ? `Text ${state.text + 1} of ${count}. ` : ""}Attention of ${tokens.length} tokens, ${layers} layer${layers === 1 ? "" : "s"} of ${heads} head${heads === 1 ? "" : "s"}, ${causal ? "causal, so that no query attends to a later key" : "not causal"}. ` +
    `Layer ${layer}, head ${head}, query ${query} “${shown(tokens[query])}”: weight ${told.join(", ")}; the row sums to ${two(row.reduce((a, b) => a + b, 0) / UNIT)}, its entropy is ` +
    `${two(entropy(row))} of at most ${two(Math.log2(seen))} bits. Means of this head over the queries from 1 on: entropy ${two(of.entropy)} bits, weight of the previous token ` +
    `${two(of.previous)}, of the first ${two(of.first)}, of the query itself ${two(of.itself)}.` +
    `${computed(text, cell)}${comes && ` Likeliest to come next: ${comes}.`}`
  );
}

function wrapped(items) {
  const lines = [""];
  for (const item of items) {
    const line = lines.at(-1);
    if (line && line.length + item.length + 2 > 84) lines.push(`${item},`);
    else lines[lines.length - 1] = line ? `${line} ${item},` : `${item},`;
  }
  return lines.map((line) => `    ${line}`).join("\n");
}

/** The chosen row from queries and keys of a model, and an assertion that it is the one of the figure. */
export function script(all, causal, [, heads], { layer, head, query }) {
  const row = all[layer * heads + head][query];
  return `import torch
from torchbook.llm import rotary_tables, rotate

# Given: \`model\`, a torchbook.llm.GPT, and \`ids\` (1, ${row.length}), the tokens of the figure.
LAYER, HEAD, QUERY = ${layer}, ${head}, ${query}
attention = model.blocks[LAYER].attention
seen = {}


def keep(name):
    return lambda module, args, output: seen.update({name: output})


hooks = [getattr(attention, name).register_forward_hook(keep(name)) for name in ("query", "key")]
model.train(False)
with torch.no_grad():
    model(ids)
for hook in hooks:
    hook.remove()

q = seen["query"].unflatten(-1, (attention.heads, -1)).transpose(1, 2)  # (1, H, T, D)
k = seen["key"].unflatten(-1, (attention.kv_heads, -1)).transpose(1, 2)  # (1, kv_heads, T, D)
D = q.shape[-1]
if model.position_embedding is None:  # rotary positions turn queries and keys
    tables = rotary_tables(torch.arange(ids.shape[1], device=ids.device), D, model.config.rope_base)
    q, k = rotate(q, *tables), rotate(k, *tables)
q = q[0, HEAD, QUERY]  # (D,)
k = k[0, HEAD * attention.kv_heads // attention.heads]  # (T, D)
scores = k @ q / D**0.5  # (T,)
${causal ? 'scores[QUERY + 1 :] = float("-inf")  # later keys\n' : ""}row = scores.softmax(-1)
print(row)

# The figure keeps weights in 255ths.
shown = torch.tensor([
${wrapped(row.map(String))}
])
torch.testing.assert_close(row.float().cpu(), shown / 255, rtol=0, atol=1 / 255 + 1e-3)
`;
}
