/** Tokens in words and as characters, and the same tokeniser in Python. */

import { counted, ordinal } from "../core/units.js";
import { charactersOf, chosen, cut, encode, moment } from "./model.js";

const TOLD = 40;
const SIGNS = { " ": "␣", "\n": "↵", "\t": "⇥" };

export const hex = (bytes) => bytes.map((b) => b.toString(16).toUpperCase().padStart(2, "0")).join(" ");

/** Bytes as the figure writes them: characters where they are some, else hexadecimal numbers. */
export function shown(bytes) {
  const text = charactersOf(bytes);
  if (text === null) return `⟨${hex(bytes)}⟩`;
  return [...text]
    .map((char, i) => {
      if (Object.hasOwn(SIGNS, char)) return SIGNS[char];
      if (/[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\p{Zs}]/u.test(char)) return `⟨U+${char.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
      return i === 0 && /\p{M}/u.test(char) ? `◌${char}` : char;
    })
    .join("");
}

export const sizeOf = (text) => new TextEncoder().encode(text).length;

/** The same sentences as `describe` in torchbook/viz/tokenizer.py. */
export function describe(known, { text, pretokenizer, step, token }) {
  if (!text) return "The text is empty: no bytes, no tokens.";
  const pieces = cut(text, known, pretokenizer);
  const now = moment(pieces, step);
  const ids = now.parts.flat();
  const name = (id) => `“${shown(known.tokens[id])}”`;
  const said = [
    `${counted([...text].length, "character")}, ${counted(sizeOf(text), "byte")} in UTF-8, ${counted(pieces.length, "piece")} (${pretokenizer === "gpt2" ? "GPT-2 pattern" : "no pattern"}). ` +
      `After ${now.done} of ${counted(now.total, "merge")}: ${counted(ids.length, "token")}, ${(sizeOf(text) / ids.length).toFixed(2)} bytes a token.`,
  ];
  if (now.last) {
    const [piece, , rank] = now.last;
    const [left, right] = known.pairs[rank].map(name);
    said.push(`The last merge, learned ${ordinal(rank + 1)}, joined ${left} and ${right} in piece ${piece + 1} to id ${256 + rank}.`);
  }
  if (now.next) {
    const [piece, , rank] = now.next;
    const [left, right] = known.pairs[rank].map(name);
    said.push(`The next joins ${left} and ${right} in piece ${piece + 1}: learned ${ordinal(rank + 1)}, the earliest there.`);
  } else said.push("No two neighbours in a piece are a merge any more.");
  const at = chosen(now, token);
  said.push(`Token ${at + 1} is chosen: ${name(ids[at])}, id ${ids[at]}, bytes ${hex(known.tokens[ids[at]])}.`);
  const told = ids.slice(0, TOLD).map((id) => `${name(id)} ${id}`);
  said.push(`Tokens and ids: ${told.join(", ")}${ids.length > TOLD ? ` and ${ids.length - TOLD} more` : ""}.`);
  return said.join(" ");
}

/** A Python literal of a text: ASCII only, so that it survives every clipboard and editor. */
function literal(text) {
  const escaped = [...text].map((char) => {
    const code = char.codePointAt(0);
    if (char === "\\" || char === '"') return `\\${char}`;
    if (char === "\n") return "\\n";
    if (code >= 32 && code < 127) return char;
    return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });
  return `"${escaped.join("")}"`;
}

/** Items in lines of at most 88 columns. */
function wrapped(items) {
  const lines = [""];
  for (const item of items) {
    const line = lines.at(-1);
    if (line && line.length + item.length + 2 > 84) lines.push(`${item},`);
    else lines[lines.length - 1] = line ? `${line} ${item},` : `${item},`;
  }
  return lines.map((line) => `    ${line}`).join("\n");
}

/** A tokeniser of the library `tokenizers` from the same merges, which gives the same ids. */
export function script(known, { text, pretokenizer }) {
  const ids = encode(text, known, pretokenizer);
  const specials = known.specials.length ? `tokenizer.add_special_tokens([${known.specials.map(literal).join(", ")}])\n` : "";
  return `import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

# The ids that each merge joins, in order: ids 0 to 255 are the bytes, 256 is what the first merge makes.
PAIRS = [
${wrapped(known.pairs.map(([left, right]) => `(${left}, ${right})`))}
]
tokens = [bytes([i]) for i in range(256)]
for left, right in PAIRS:
    tokens.append(tokens[left] + tokens[right])

# The library writes each byte as one printable character, as GPT-2's files do.
plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
others = [byte for byte in range(256) if byte not in plain]
letters = {byte: chr(byte) for byte in plain} | {byte: chr(256 + i) for i, byte in enumerate(others)}
names = ["".join(letters[byte] for byte in token) for token in tokens]

merges = [(names[left], names[right]) for left, right in PAIRS]
tokenizer = Tokenizer(models.BPE(vocab={name: i for i, name in enumerate(names)}, merges=merges))
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=${pretokenizer === "gpt2" ? "True" : "False"})
tokenizer.decoder = decoders.ByteLevel()
${specials}
text = ${literal(text)}
ids = tokenizer.encode(text).ids
assert ids == [${ids.join(", ")}]
assert tokenizer.decode(ids, skip_special_tokens=False) == text
x = torch.tensor([ids])  # (1, T)
print(x)
`;
}
