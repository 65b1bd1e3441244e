/** The shapes one below the other, aligned from the right, every size a list of choices; below them what happens. */

import { button, h, replace } from "../core/index.js";
import { columns, inPlace, MOST, names, outcome, RANK } from "./model.js";

const CAPTIONS = { equal: "", stretched: "repeats", missing: "as 1", mismatch: "✗" };
const REMOVE = "remove";

const range = (n) => Array.from({ length: n }, (_, i) => i);

/** Does `a` lack what an operation in place would need in this dimension? */
export const outgrown = (given, { size, of }) =>
  inPlace(given.op) && size !== null && (of[0].size === null || of[0].size !== size);

/** One line an operand: what becomes of it in this dimension. */
function happens(given, column) {
  const { size, real, of } = column;
  if (size === null) return h("b", { class: "bx-bad" }, `✗ ${real.join(" ≠ ")}`);
  const lines = of
    .filter(({ kind }) => kind === "stretched" || kind === "missing")
    .map(({ name, kind }) => h("span", { class: `bx-${name}` }, `${name}: ${kind === "missing" ? "–" : 1} → ${size}`));
  if (outgrown(given, column)) lines.push(h("b", { class: "bx-bad" }, "✗ a stays"));
  return lines.length ? lines : "equal";
}

/**
 * @param {{get: () => object, resize: (name: string, shape: number[]) => void}} on
 * @returns {{node: HTMLElement, draw: () => void}}
 */
export function alignment(on) {
  const body = h("tbody", {});
  const head = h("thead", {});
  const table = h("table", { class: "bx-table" }, head, body);
  const node = h("div", { class: "bx-scroll" }, table);
  let built = "";
  let sizes = new Map(); // "a:0" → select

  const shapeOf = (name) => [...on.get()[name]];
  const insert = (name, at) => {
    const shape = shapeOf(name);
    shape.splice(at, 0, 1);
    on.resize(name, shape);
  };
  const change = (name, d, value) => {
    const shape = shapeOf(name);
    if (value === REMOVE) shape.splice(d, 1);
    else shape[d] = Number(value);
    on.resize(name, shape);
  };

  function size(name, d) {
    const input = h(
      "select",
      {
        class: "bx-size",
        "data-key": `${name}:${d}`,
        onchange: () => change(name, d, input.value),
        onkeydown: (event) => {
          if (event.key !== "Delete" && event.key !== "Backspace") return;
          event.preventDefault();
          change(name, d, REMOVE);
        },
      },
      range(MOST + 1).map((n) => h("option", { value: n }, n)),
      h("option", { value: REMOVE }, REMOVE),
    );
    const caption = h("small", { "aria-hidden": "true" });
    input.caption = caption;
    sizes.set(`${name}:${d}`, input);
    return h("td", {}, input, caption);
  }

  const absent = () => h("td", {}, h("span", { class: "bx-none" }, "–"), h("small", {}, CAPTIONS.missing));

  function row(given, name, rank) {
    const shape = given[name];
    const add = (at, key, where) =>
      h(
        "td",
        { class: "bx-add" },
        button("+", () => insert(name, at), {
          name: `Add a dimension to ${name} ${where}`,
          title: `Add a dimension of size 1 ${where}`,
          kind: "quiet",
          disabled: shape.length >= RANK,
        }),
      );
    const front = add(0, "front", "in front");
    const end = add(shape.length, "end", "at the end");
    front.firstChild.dataset.key = `${name}:front`;
    end.firstChild.dataset.key = `${name}:end`;
    return h(
      "tr",
      { class: `bx-${name}` },
      h("th", { scope: "row" }, h("b", {}, name)),
      front,
      range(rank).map((d) => (d < rank - shape.length ? absent() : size(name, d - rank + shape.length))),
      end,
    );
  }

  function build(given, rank) {
    sizes = new Map();
    const plain = (label, cells, cls) =>
      h("tr", { class: cls }, h("th", { scope: "row" }, label), h("td"), cells, h("td"));
    replace(
      head,
      h(
        "tr",
        {},
        h("td"),
        h("td"),
        range(rank).map((d) => h("th", { scope: "col" }, h("span", {}, `dim ${d}`), h("small", {}, d - rank))),
        h("td"),
      ),
    );
    replace(
      body,
      names(given).map((name) => row(given, name, rank)),
      plain(
        h("small", { class: "bx-long" }, "what happens"),
        range(rank).map(() => h("td", { class: "bx-happens" })),
        "bx-what",
      ),
      plain(
        [h("span", { class: "bx-hidden" }, "result"), h("b", { "aria-hidden": "true" }, "=")],
        range(rank).map(() => h("td", {}, h("span", { class: "bx-out" }))),
        "bx-result",
      ),
    );
  }

  /** Keeps the keyboard where it was, or as near as what is left allows. */
  function keepFocus(act) {
    const root = node.getRootNode();
    const key = node.contains(root.activeElement) ? root.activeElement.dataset.key : undefined;
    act();
    if (!key) return;
    const [name, at] = key.split(":");
    const find = (d) => node.querySelector(`[data-key="${name}:${d}"]`);
    const fallback = Number.isNaN(Number(at)) ? null : (find(Math.max(0, at - 1)) ?? find("front"));
    (find(at) ?? fallback)?.focus();
  }

  function draw() {
    const given = on.get();
    const all = columns(given);
    const { shape } = outcome(given);
    const structure = names(given)
      .map((name) => `${name}${given[name].length}`)
      .join();
    if (structure !== built) keepFocus(() => build(given, all.length));
    built = structure;
    table.classList.toggle("many", all.length > 4);
    all.forEach((column, i) => {
      for (const { name, size: n, kind } of column.of) {
        if (kind === "missing") continue;
        const d = i - all.length + given[name].length;
        const input = sizes.get(`${name}:${d}`);
        input.value = n;
        const bad = kind === "mismatch" || (name === "a" && outgrown(given, column));
        input.className = `bx-size ${kind}${bad ? " bad" : ""}`;
        input.caption.textContent = kind === "stretched" ? `×${column.size}` : CAPTIONS[bad ? "mismatch" : kind];
        const told = bad ? "does not fit" : kind === "stretched" ? `repeated ${column.size} times` : "equal";
        input.setAttribute(
          "aria-label",
          `Size of dimension ${d} of ${name}, under dimension ${i} of the result: ${told}`,
        );
      }
      replace(body.querySelectorAll(".bx-happens")[i], happens(given, column));
      const out = body.querySelectorAll(".bx-out")[i];
      out.textContent = column.size ?? "✗";
      out.classList.toggle("bad", column.size === null || !shape);
    });
  }

  return { node, draw };
}
