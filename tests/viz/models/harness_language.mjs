// Runs the models of tokenizer and attention for their tests. One JSON line in: {ask, of: [...]}; one JSON line out.
// Usage: node harness_language.mjs path/to/torchbook/viz/src

import { createInterface } from "node:readline";
import { load } from "./modules.mjs";

const at = (name) => load(`${process.argv[2]}/${name}.js`);
const names = ["tokenizer/model", "tokenizer/words", "attention/model", "attention/words"];
const [bpe, bpeWords, heads, headWords] = await Promise.all(names.map(at));

let known;

const ASK = {
  vocabulary: ([pairs, specials]) => {
    known = bpe.vocabulary(bpe.unpacked(pairs), specials);
    return known.tokens.length;
  },
  pieces: bpe.gpt2Pieces,
  encode: ([text, pretokenizer]) => bpe.encode(text, known, pretokenizer),
  decode: (ids) => bpe.decode(ids, known),
  moment: ([text, pretokenizer, step]) => {
    const now = bpe.moment(bpe.cut(text, known, pretokenizer), step);
    return [now.done, now.total, now.parts, now.last ?? null, now.next ?? null];
  },
  tree: ([text, merges]) => {
    const [piece] = bpe.cut(text, known, "none");
    const { all, roots } = bpe.tree(bpe.partsOf(piece, 0), piece.merges.slice(0, merges));
    return [all.map(({ id, from, size, level, parts }) => [id, from, size, level, parts.map((one) => all.indexOf(one))]), roots.map(({ id }) => id)];
  },
  shown: bpeWords.shown,
  tokenizer_words: ([text, pretokenizer, step, token]) => bpeWords.describe(known, { text, pretokenizer, step, token }),
  tokenizer_script: ([text, pretokenizer]) => bpeWords.script(known, { text, pretokenizer }),
  tokenizer_state: bpe.isState,
  unpacked: ([text, size, causal]) => heads.unpacked(text, size, causal),
  numbers: heads.numbers,
  entropy: heads.entropy,
  find: ([all, preset]) => heads.find(all, preset),
  home: ([all, preset]) => heads.home(all, preset),
  paths: heads.paths,
  attention_words: ([text, shape, state, count]) => headWords.describe(heads.seen(text), shape, state, count),
  strips: ([text, at]) => {
    const one = heads.seen(text);
    return [0, 1, 2].map((kind) => one.tokens.map((_, token) => one.strip(kind, at, token)));
  },
  mixed: ([text, at, query]) => {
    const one = heads.seen(text);
    return heads.mixed(one, at, one.all[at][query]);
  },
  attention_script: ([all, causal, shape, state]) => headWords.script(all, causal, shape, state),
  attention_state: ([given, of]) => heads.isState(given, of),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { ask, of } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify(of.map((one) => ASK[ask](one) ?? null))}\n`);
}
