/** Which symptoms match what was typed; the same rules as `search` in torchbook/viz/symptoms.py, which tests compare. */

import { significant } from "../core/units.js";
import RUNS from "./runs.json";
import SETUP from "./setup.json";

export const { pictures: PICTURES, symptoms: SYMPTOMS, silent: SILENT } = SETUP;
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
export function search(query = "", picture = "") {
  const among = causesOf(picture);
  const asked = [...new Set(wordsOf(query))].filter((word) => !SILENT.includes(word));
  if (!asked.length) return among.map((one) => one.key);
  const text = oneLine(query.toLowerCase());
  const scores = new Map(among.map((one) => [one.key, score(one, asked, text)]));
  const best = Math.max(0, ...scores.values());
  const found = [...scores].filter(([, points]) => points && points * 2 >= best);
  return found.sort((a, b) => b[1] - a[1]).map(([key]) => key);
}

export const oneLine = (text) => text.split(/\s+/).filter(Boolean).join(" ");

/** The causes of a picture, the likeliest first; all of them without one. */
export const causesOf = (picture) => SYMPTOMS.filter((one) => !picture || one.picture === picture);

/** The picture that is open. */
export const shownIn = (opened, chosen) => (chosen ? BY_KEY[chosen].picture : opened);

export const runOf = (key) => RUNS[BY_KEY[key].run ?? key];

/** The curve that is ill: the last of the named, but of a speed the first. */
export const patientOf = (run) => (run.sketch ? 0 : run.names.length - 1);

const CUT = { nan: "nan" };
const PEAK = ["full", "spikes"]; // pictures of the highest value, not of the last

/** What the curve that is ill comes to, ill and cured; nothing of a sketch, and of a run that stops for another reason. */
export function endsOf(key) {
  const [run, { picture }] = [runOf(key), BY_KEY[key]];
  if (run.sketch || picture === "error") return undefined;
  const peak = PEAK.includes(picture);
  const of = (curves) => {
    const values = curves[patientOf(run)].filter((value) => value !== null);
    return significant(peak ? Math.max(...values) : values.at(-1));
  };
  const name = run.names[patientOf(run)];
  return { what: peak ? `Highest ${name}:` : `Last ${name}:`, sick: CUT[picture] ?? of(run.sick), cured: of(run.cured) };
}

/** The same sentences as `describe` in torchbook/viz/symptoms.py. */
export function describe(query = "", opened = "", chosen = "") {
  const shown = shownIn(opened, chosen);
  const asked = oneLine(query);
  const found = search(query, chosen ? "" : opened);
  const count = asked ? `${found.length} of ${SYMPTOMS.length} causes for “${asked}”. ` : "";
  if (chosen) {
    const { cause, test, first, then } = BY_KEY[chosen];
    return `${count}${PICTURES[shown].says} Cause: ${cause}. ${test} ${first} Then: ${then}`;
  }
  if (shown) return `${count}${PICTURES[shown].says} Likely causes: ${causesOf(shown).map(({ cause, test }, i) => `${i + 1}. ${cause}. ${test}`).join(" ")}`;
  if (!asked) return `${Object.keys(PICTURES).length} pictures of sick runs, with ${SYMPTOMS.length} causes.`;
  if (!found.length) return `${count}Try fewer words, or the first line of the message.`;
  const { symptom, first } = BY_KEY[found[0]];
  return `${count}First: ${symptom}. ${first}`;
}

/** Is this, from a link, a state that can be shown? */
export const isState = (given) =>
  Boolean(given) &&
  typeof given === "object" &&
  typeof (given.query ?? "") === "string" &&
  ["", undefined, ...Object.keys(PICTURES)].includes(given.opened) &&
  ["", undefined, ...Object.keys(BY_KEY)].includes(given.chosen);

/** Where a section stands for a page whose root is `root`; nothing where there is no book around. */
export const addressOf = (where, root) => {
  if (root === undefined) return "";
  const [page, section] = where.split("#");
  return `${root}${page}.html${section ? `#${section}` : ""}`;
};
