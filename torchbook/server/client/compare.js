// Whether what a cell gave here is what the book has. Texts are freed of what differs from run to run, as the press
// does it (torchbook_press/normal.py), then compared line by line.

const FOLDERS = "[^\\s\"'<>:\\\\]{0,400}";
const NOISE = [
  [/\x1b\[[0-9;]*m/g, ""],
  [/ at 0x[0-9a-f]{6,}(?=>)/g, ""],
  [new RegExp(`(?:/${FOLDERS})?/ipykernel_\\d+/\\d+\\.py`, "g"), "<cell>"],
  [new RegExp(`(?:~|/)${FOLDERS}/(?=site-packages/|python3\\.\\d+/|torchbook/)`, "g"), ""],
];
const NUMBER = /[-+]?\d[\d_]*(?:\.\d*)?(?:e[-+]?\d+)?/gi;
const SHOWN = 3; // differences that are told
const LONG = 60; // characters of a line that is told
const COMPARED = 100_000; // characters of an output, no one in the book is nearly as long

export function normal(text) {
  const plain = NOISE.reduce((left, [noise, instead]) => left.replace(noise, instead), text.slice(0, COMPARED));
  const lines = plain.split("\n").map((line) => line.trimEnd());
  const [first, last] = [lines.findIndex(Boolean), lines.findLastIndex(Boolean)];
  return first < 0 ? "" : lines.slice(first, last + 1).join("\n");
}

const short = (text) => (text.length > LONG ? `${text.slice(0, LONG)}…` : text) || "nothing";

// Pairs of what is here and what the book has, of two lines: their numbers, where only these differ.
function pairs(here, book) {
  const [ours, theirs] = [here.match(NUMBER) ?? [], book.match(NUMBER) ?? []];
  if (here.replace(NUMBER, "0") !== book.replace(NUMBER, "0")) return [[short(here.trim()), short(book.trim())]];
  return ours.map((one, n) => [one, theirs[n]]).filter(([one, other]) => one !== other);
}

export function differences(here, book) {
  const [ours, theirs] = [normal(here).split("\n"), normal(book).split("\n")];
  const found = [];
  for (let n = 0; n < Math.max(ours.length, theirs.length); n++) {
    if (ours[n] !== theirs[n]) found.push(...pairs(ours[n] ?? "", theirs[n] ?? ""));
  }
  return found;
}

// What is to be said of them.
export function told(found) {
  const said = found.slice(0, SHOWN).map(([here, book]) => `${here}, the book has ${book}`);
  const more = found.length - said.length;
  return `differs: ${said.join("; ")}${more > 0 ? `; and ${more} more` : ""}`;
}

// Two states of a figure, of which the book's may leave some entries out.
export function differs(here, book) {
  if (typeof book === "number" && typeof here === "number") return here !== book;
  if (typeof book !== "object" || !book || typeof here !== "object" || !here) return normal(String(here)) !== normal(String(book));
  return Object.keys(book).some((key) => differs(here[key], book[key]));
}
