/** Which symptoms match what was typed; the same rules as `search` in torchbook/viz/symptoms.py, which tests compare. */

import SETUP from "./setup.json";

export const { kinds: KINDS, symptoms: SYMPTOMS, silent: SILENT } = SETUP;
export const BY_KEY = Object.fromEntries(SYMPTOMS.map((one) => [one.key, one]));
const WEIGHTS = { symptom: 3, words: 3, first: 1, tells: 1, code: 1 };
const MESSAGE = 20;

const wordsOf = (text) => text.toLowerCase().match(/[a-z0-9_]+/g) ?? [];
const textOf = (part) => (Array.isArray(part) ? part.join(" ") : part);
const PARTS = new Map(SYMPTOMS.map((one) => [one, Object.entries(WEIGHTS).map(([part, weight]) => [weight, wordsOf(textOf(one[part]))])]));

/** Does a word that was typed mean this word: its beginning, or the same but for an ending? */
export function alike(asked, word) {
  if (word.startsWith(asked)) return true;
  let common = 0;
  while (common < asked.length && common < word.length && asked[common] === word[common]) common += 1;
  return common >= 4 && Math.max(asked.length, word.length) - common <= 3;
}

function score(symptom, asked, text) {
  let total = MESSAGE * symptom.messages.filter((message) => text.includes(message.toLowerCase())).length;
  for (const one of asked) total += Math.max(0, ...PARTS.get(symptom).filter(([, words]) => words.some((word) => alike(one, word))).map(([weight]) => weight));
  return total;
}

/** Keys of the symptoms that match, the best first. */
export function search(query = "", kind = "") {
  const ofKind = SYMPTOMS.filter((one) => !kind || one.kind === kind);
  const asked = [...new Set(wordsOf(query))].filter((word) => !SILENT.includes(word));
  if (!asked.length) return ofKind.map((one) => one.key);
  const text = oneLine(query.toLowerCase());
  const scores = new Map(ofKind.map((one) => [one.key, score(one, asked, text)]));
  const best = Math.max(0, ...scores.values());
  const found = [...scores].filter(([, points]) => points && points * 2 >= best);
  return found.sort((a, b) => b[1] - a[1]).map(([key]) => key);
}

export const oneLine = (text) => text.split(/\s+/).filter(Boolean).join(" ");

const sentence = (key) => `${BY_KEY[key].symptom}. ${BY_KEY[key].first}`;

/** The same sentences as `describe` in torchbook/viz/symptoms.py. */
export function describe(query = "", kind = "", chosen = "") {
  const found = search(query, kind);
  const asked = query.trim() ? ` for “${oneLine(query)}”` : "";
  const among = kind ? ` among those of “${KINDS[kind]}”` : "";
  const count = `${found.length} of ${SYMPTOMS.length} symptoms${asked}${among}.`;
  if (chosen) return `${count} Open: ${sentence(chosen)}`;
  if (!found.length) return `${count} Try fewer words, or the first line of the message.`;
  return asked ? `${count} First: ${sentence(found[0])}` : count;
}

/** Is this, from a link, a state that can be shown? */
export const isState = (given) =>
  Boolean(given) &&
  typeof given === "object" &&
  typeof (given.query ?? "") === "string" &&
  ["", undefined, ...Object.keys(KINDS)].includes(given.kind) &&
  ["", undefined, ...Object.keys(BY_KEY)].includes(given.chosen);

/** Where a section stands for a page whose root is `root`; nothing where there is no book around. */
export const addressOf = (where, root) => {
  if (root === undefined) return "";
  const [page, section] = where.split("#");
  return `${root}${page}.html${section ? `#${section}` : ""}`;
};
