/** What the model makes of a text, in words; and the same from PyTorch. */

import { counted, several } from "../core/units.js";
import { chances, placeOf } from "./model.js";

const TOLD = 5;

export const two = (x) => x.toFixed(2);
export const percent = (x) => (x > 0 && x < 0.005 ? "<\u00a01\u00a0%" : `${Math.round(100 * x)}\u00a0%`);
export const shown = (text) => text.replaceAll(" ", "␣").replaceAll("\n", "↵").replaceAll("\t", "⇥");
export const largest = (row) => row.reduce((best, w, i) => (w > row[best] ? i : best), 0);

/** The same sentences as `describe` in torchbook/viz/living.py; without a reading, those of a text that only the model can read. */
export function describe(of, { alphabet, context, heads }, { text, at, temperature, top_p, cache }) {
  const told = `Text of ${counted(text.length, "character")}`;
  const kept = `KV cache ${cache ? "on" : "off"}.`;
  if (!of) return `${told}: “${shown(text)}”. The model has to be loaded before it can read it. ${kept}`;
  const place = placeOf(of, at);
  const chars = text.slice(of.start);
  const layers = of.rows.map((layer, i) => {
    const each = layer.map((head, h) => {
      const row = head[place];
      const key = largest(row);
      return `head ${h} ${two(row[key])} to ${of.start + key} “${shown(chars[key])}”`;
    });
    return `layer ${i}: ${each.slice(0, heads).join(", ")}`;
  });
  const next = chances(of.logits[place], temperature, top_p);
  const comes = next.listed.slice(0, TOLD).map(([id, p]) => `“${shown(alphabet[id])}” ${two(p)}`).join(", ");
  const cut = top_p < 1 && temperature ? `, of which top-p ${two(top_p)} keeps ${next.kept}` : "";
  return (
    `${told}, ${chars.length} in a window of ${context}: “${shown(text)}”. ` +
    `Most attention of character ${of.start + place} “${shown(chars[place])}” in ${layers.join("; ")}. ` +
    `Size of its residual stream: ${several(of.sizes[place].map(two))}, after the embedding and each layer. ` +
    `Likeliest to come next at temperature ${two(temperature)}: ${comes}${cut}. ${kept}`
  );
}

/** The probabilities after the character pointed at, from the model itself, and an assertion that they are the figure's. */
export function script(of, { alphabet }, { text, at, temperature, top_p }) {
  const place = placeOf(of, at);
  const { listed, kept } = chances(of.logits[place], temperature, top_p);
  const seen = listed.slice(0, Math.min(kept, TOLD));
  const pairs = seen.map(([id, p]) => `${JSON.stringify(alphabet[id])}: ${p.toFixed(4)}`).join(", ");
  const chances_ = temperature ? `p = (logits / ${temperature}).softmax(-1)` : "p = (logits == logits.max()).float()";
  return `import torch

# Given: \`model\`, a torchbook.llm.GPT, and \`codec\`, which numbers its characters.
text = ${JSON.stringify(text.slice(of.start, of.start + place + 1))}
ids = codec.encode(text)[None]  # (1, T)
with torch.no_grad():
    logits = model(ids)[0, -1]  # (V,)
${chances_}
order = p.argsort(descending=True)
before = p[order].cumsum(0) - p[order]  # what the likelier ones sum to
kept = order[before < ${top_p}]
print({codec.alphabet[i]: round(p[i].item(), 4) for i in kept[:${TOLD}].tolist()})

# The figure has the weights in 16 bits.
shown = {${pairs}}
for character, chance in shown.items():
    assert abs(p[codec.alphabet.index(character)].item() - chance) < 0.01
`;
}
