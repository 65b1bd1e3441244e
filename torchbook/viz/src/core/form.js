/** Fields that take numbers as people type them, and the table of results with their formulas: shared by the calculators. */

import { field } from "./controls.js";
import { h, replace } from "./dom.js";
import { read } from "./units.js";

/**
 * A field for one number: arrow up and down go to the next, with Shift further. It has `refresh(always)`.
 * @param {{label: string, get: () => number, put: (value: number) => void, problem: (value: number) => string,
 *   next: (value: number, way: number, far: boolean) => number, typed?: (value: number) => string, text?: boolean}} options
 */
export function numberField({ label, get, put, problem, next, typed = String, text = false }) {
  const one = field({
    label,
    oninput: (written) => {
      const value = read(written);
      const wrong = problem(value);
      one.update({ error: wrong });
      if (!wrong) put(value);
    },
  });
  one.input.inputMode = text ? "text" : "decimal";
  one.input.addEventListener("keydown", (event) => {
    const way = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!way) return;
    event.preventDefault();
    put(next(get(), way, event.shiftKey));
    one.refresh(true);
  });
  one.refresh = (always) => {
    if (always || one.getRootNode().activeElement !== one.input) one.update({ value: typed(get()), error: "" });
  };
  one.input.addEventListener("blur", () => one.refresh(true));
  return one;
}

/** A table of groups of rows {name, value, rule, formula, note, main, bad}; `draw(groups)` fills it. */
export function table() {
  const node = h("table", { class: "sc-table" });
  const line = (row) =>
    h(
      "tr",
      { class: [row.main && "main", row.bad && "bad"].filter(Boolean).join(" ") },
      h("th", { scope: "row" }, row.name),
      h("td", { class: "sc-value" }, row.value),
      h("td", {}, h("span", { class: "sc-rule" }, row.rule), " ", row.formula && h("span", { class: "sc-sum" }, `= ${row.formula}`), row.note && h("span", { class: "sc-more" }, row.note)),
    );
  const draw = (groups) =>
    replace(
      node,
      groups.map((group) => h("tbody", {}, h("tr", { class: "sc-group" }, h("th", { colspan: 3, scope: "rowgroup" }, group.title)), group.rows.map(line))),
    );
  return { node, draw };
}
