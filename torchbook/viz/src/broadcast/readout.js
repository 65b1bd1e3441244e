/** What is written beside the table and the pictures: the shape or torch's refusal, and the memory. */

import { h } from "../core/index.js";
import { inPlace, memory, names, outcome, product, shapesLine, statement, tuple } from "./model.js";

const bytes = (n) => `${n} byte${n === 1 ? "" : "s"}`;

/** The shapes and what they give. */
export function verdict(given) {
  const { shape } = outcome(given);
  if (!shape) return [];
  const most = Math.max(...names(given).map((name) => product(given[name])));
  const count = product(shape);
  const grown = count > most && h("span", { class: "bx-tag" }, `${count} elements from operands of at most ${most}`);
  return [
    h("code", {}, h("span", {}, shapesLine(given), " "), h("span", {}, "→ ", h("b", {}, tuple(shape)))),
    inPlace(given.op) && h("span", { class: "bx-tag" }, "a keeps its shape and its memory"),
    grown,
  ];
}

/** Torch's own words, and what they mean here. */
export function refusal(given) {
  const { error, wanted } = outcome(given);
  if (!error) return [];
  const why = wanted
    ? `Only b may be stretched. Out of place, the result would have the shape ${tuple(wanted)}; a has no room for it.`
    : given.op === "where"
      ? "torch takes c, a, b in this order: its “tensor a” is what came before, its “tensor b” what comes next."
      : "Sizes match from the right when they are equal, or one of them is 1 or missing.";
  return h(
    "div",
    { class: "bx-refusal" },
    h("p", {}, h("strong", {}, "torch refuses "), h("code", {}, statement(given))),
    h("code", { class: "bx-error" }, `RuntimeError: ${error}`),
    h("p", { class: "small" }, why),
  );
}

/** A bar for each tensor: solid what it has, dashed what stretching does not copy. */
export function memoryOf(given) {
  const { shape } = outcome(given);
  if (!shape) return [];
  const { of, result, fresh } = memory(given, shape);
  const whole = Math.max(1, result, ...of.map(({ own, full }) => Math.max(own, full)));
  const part = (n, cls) => n > 0 && h("i", { class: cls, style: { width: `${(100 * n) / whole}%` } });
  const line = (name, label, bar, text) =>
    h(
      "div",
      { class: `bx-mem bx-${name}`, role: "listitem" },
      h("b", {}, label),
      h("span", { class: "bx-bar", "aria-hidden": "true" }, bar),
      h("span", {}, text),
    );
  const operands = of.map(({ name, own, spared }) =>
    line(
      name,
      name,
      [part(own, "own"), part(spared, "spared")],
      [bytes(own), spared > 0 ? h("span", {}, `, ${spared} not copied`) : ""],
    ),
  );
  const made = inPlace(given.op) ? "0 bytes new: written into a" : `${bytes(fresh)} new`;
  const last = line("result", "result", part(inPlace(given.op) ? 0 : result, "own"), h("strong", {}, made));
  return [
    h("p", { class: "bx-head" }, "Memory: dashed is what a copy to the full shape would take"),
    h("div", { role: "list", "aria-label": "Memory" }, operands, last),
  ];
}
