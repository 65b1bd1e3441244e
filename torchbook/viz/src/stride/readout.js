/** What is written about a program beside its pictures: facts, the sum of an element's place, refusals, the listing. */

import { h } from "../core/index.js";
import { fate } from "./form.js";
import { inHue } from "./panels.js";
import { aliases, bytes, index, isContiguous, short, storageBytes, tuple } from "./program.js";

const LETTERS = ["i", "j", "k", "l"];
const NB = "\u00a0";
const PLUS = `${NB}+${NB}`;
const truth = (state) => (isContiguous(state) ? "True" : "False");
const unbroken = (...parts) => h("span", {}, parts);
const inHues = (list) => ["(", list.map((n, d) => [d ? ", " : "", inHue(d, n)]), list.length === 1 ? ",)" : ")"];

function storageFact({ steps }) {
  const last = steps.at(-1);
  if (steps.length === 1) return "its own";
  return last.op.name === "write" ? "written to" : fate(last);
}

/** What tells where an element lies; of the storage, what became of it; and what is true besides. */
export function factsOf(program) {
  const { state, steps } = program;
  const { copied } = steps.at(-1);
  const [size, stored] = [bytes(state), storageBytes(state)];
  return {
    tensor: [
      fact("shape", inHues(state.shape)),
      fact("stride", inHues(state.stride)),
      fact("storage_offset", state.offset),
    ],
    storage: fact("storage", storageFact(program), copied ? "copied" : steps.length > 1 ? "kept" : ""),
    more: [
      fact("is_contiguous()", truth(state)),
      fact("bytes", size === stored ? size : `${size} (storage ${stored})`),
      fact("an element is at", formulaOf(state)),
    ],
  };
}

const fact = (name, value, look = "") =>
  h(
    "div",
    { class: `sx-fact ${look}`, role: "listitem" },
    h("span", { class: "sx-name" }, name),
    h("span", { class: "sx-value" }, value),
  );

const formulaOf = ({ shape }) => [
  "storage_offset",
  shape.map((_, d) => unbroken(PLUS, inHue(d, LETTERS[d]), "·", inHue(d, `stride[${d}]`))),
];

const mono = (...parts) => h("p", { class: "big" }, parts);

/** Where the element `at` lies, with the numbers filled in. */
export function sumOf(state, at) {
  const place = index(state, at);
  const last = at.length - 1;
  const end = (d) => (d === last ? `]${NB}` : "");
  return [
    mono(
      unbroken(
        "x[",
        at.map((i, d) => [d ? ", " : "", inHue(d, i)]),
        `]${NB}`,
      ),
      unbroken(`=${NB}storage[`, state.offset, end(-1)),
      at.map((i, d) => unbroken(PLUS, inHue(d, i), "×", inHue(d, state.stride[d]), end(d))),
      at.length > 0 && unbroken(`=${NB}storage[`, h("b", {}, place), `]${NB}`),
      unbroken(`=${NB}`, h("b", {}, short(state.storage[place]))),
    ),
  ];
}

/** Which elements read a place of the storage. */
export function readersOf(state, place) {
  const readers = aliases(state).get(place) ?? [];
  const some = readers.slice(0, 8).map((at) => `x[${at.join(", ")}]`);
  const more = readers.length > 8 ? ` and ${readers.length - 8} more` : "";
  return [
    mono("storage[", h("b", {}, place), `] = ${short(state.storage[place])}`),
    h("p", { class: "small" }, readers.length ? `read by ${some.join(", ")}${more}` : "no element of x reads it"),
  ];
}

const isTorchs = (error) => error.type !== "figure" && error.type !== "unsupported";

/** Torch's own words, and the dimensions that `view` cannot merge. */
export function refusalOf({ error, state }) {
  if (!error) return [];
  const { shape, stride } = state;
  const reason = ([a, b]) => {
    const inner = `${shape[b]} × ${stride[b]} = ${shape[b] * stride[b]}`;
    return h(
      "p",
      {},
      "Dimensions ",
      inHue(a, a),
      " and ",
      inHue(b, b),
      ` cannot be merged: stride ${stride[a]} would have to be ${inner}.`,
    );
  };
  const torchs = isTorchs(error);
  const whole = h("code", {}, torchs ? `${error.type}: ${error.error}` : error.error);
  return [
    h(
      "div",
      { class: "sx-refusal" },
      h(
        "p",
        {},
        h("strong", {}, torchs ? "torch refuses " : "Not drawn: "),
        h("code", { class: "inline" }, error.code),
      ),
      error.unmergeable?.length ? h("details", {}, h("summary", {}, error.type), whole) : whole,
      (error.unmergeable ?? []).map(reason),
    ),
  ];
}

/** The program, one line an operation. */
export function listingOf({ steps, error }) {
  const line = ({ code, copied, op, state }) => {
    if (!op) return h("li", {}, h("code", {}, `x = ${code}`));
    if (op.name === "write") return h("li", {}, h("code", {}, code));
    const tag = h("span", { class: copied ? "sx-tag copy" : "sx-tag" }, copied ? "copy" : "view");
    return h("li", {}, h("code", {}, `x = ${code}`), tag, h("span", { class: "sx-cap" }, tuple(state.shape)));
  };
  const refused = () =>
    h(
      "li",
      { class: "bad" },
      h("code", {}, error.op.name === "write" ? error.code : `x = ${error.code}`),
      h("span", { class: "sx-tag bad" }, isTorchs(error) ? "refused" : "not drawn"),
    );
  return [...steps.map(line), ...(error ? [refused()] : [])];
}
