/** The operands stretched to the result, and the result: small grids, each one tab stop; or the shapes that do not fit. */

import { glide, h, replace, shake, still, touchField } from "../core/index.js";
import {
  brackets,
  broadcastStride,
  columns,
  element,
  flat,
  formula,
  inPlace,
  names,
  product,
  python,
  spoken,
  tuple,
  used,
} from "./model.js";
import { outgrown } from "./table.js";

export const LIMIT = 128; // elements of a result that is drawn
export const DRAWN = 4; // and its dimensions
const GLIDE = 420; // milliseconds
const MOVES = {
  ArrowRight: [-1, 1],
  ArrowLeft: [-1, -1],
  ArrowDown: [-2, 1],
  ArrowUp: [-2, -1],
  PageDown: [-3, 1],
  PageUp: [-3, -1],
};

export const canDraw = (shape) => shape.length <= DRAWN && product(shape) > 0 && product(shape) <= LIMIT;

/** All indices of a shape, the last dimension fastest. */
export const indices = (shape) =>
  shape.reduce((all, n) => all.flatMap((at) => Array.from({ length: n }, (_, i) => [...at, i])), [[]]);

const key = (at) => at.join(",");

/** Where a key leads from `at`; null when it is not one that moves. */
function moved(at, shape, event) {
  const rank = shape.length;
  const to = [...at];
  if (event.key === "Home" || event.key === "End") {
    shape.forEach((n, d) => {
      if (event.ctrlKey || d === rank - 1) to[d] = event.key === "Home" ? 0 : n - 1;
    });
    return to;
  }
  const [from, by] = MOVES[event.key] ?? [];
  if (!by) return null;
  const d = rank === 1 && from === -2 ? 0 : rank + (from === -3 && event.shiftKey ? -4 : from);
  if (d >= 0 && d < rank) to[d] = Math.min(shape[d] - 1, Math.max(0, to[d] + by));
  return to;
}

/** Rows and columns of the last two dimensions in panels, these in rows of panels. */
function nested(shape, cell) {
  const rank = shape.length;
  const rows = (before) => {
    const lines = rank > 1 ? Array.from({ length: shape[rank - 2] }, (_, i) => [...before, i]) : [before];
    const line = (at) => (rank ? Array.from({ length: shape[rank - 1] }, (_, j) => cell([...at, j])) : cell([]));
    return h(
      "div",
      { class: "bx-rows", role: "rowgroup" },
      lines.map((at) => h("div", { role: "row" }, line(at))),
    );
  };
  if (rank < 3) return rows([]);
  const panel = (before) =>
    h(
      "div",
      { class: "bx-panel", role: "presentation" },
      h("small", { class: "tbviz-mono", "aria-hidden": "true" }, `[${before.join(", ")}]`),
      rows(before),
    );
  const band = (before) =>
    h(
      "div",
      { class: "bx-band", role: "presentation" },
      Array.from({ length: shape[before.length] }, (_, i) => panel([...before, i])),
    );
  return rank === 3 ? band([]) : Array.from({ length: shape[0] }, (_, i) => band([i]));
}

/** Shapes that do not fit, one below the other, aligned from the right. */
function ladder(given) {
  const all = columns(given);
  const rung = (name) =>
    h(
      "div",
      { class: `bx-rung bx-${name}` },
      h("b", {}, name),
      all.map((column) => {
        const { size, kind } = column.of.find((one) => one.name === name);
        const bad = kind === "mismatch" || (name === "a" && outgrown(given, column));
        return h("span", { class: `bx-step ${kind}${bad ? " bad" : ""}` }, size);
      }),
    );
  return h("div", { class: "bx-ladder", "aria-hidden": "true" }, names(given).map(rung));
}

/**
 * One grid.
 * @param {{name: string, onpoint: (at: number[]|null) => void, onselect: (at: number[]) => void,
 *   onmeet: (at: number[]) => void}} on `onmeet` is called when an element was clicked
 */
function grid(on) {
  const title = h("p", { class: "bx-head" });
  const box = h("div", { class: "bx-grid" });
  const node = h("div", { class: `bx-block bx-${on.name}` }, title, box);
  let cells = new Map();
  let things = []; // each cell with its name among all things, and whether it is one, not a repetition
  let shape = [];

  const atOf = (target) => {
    const text = target.closest?.("[data-at]")?.dataset.at;
    return text === undefined ? null : text === "" ? [] : text.split(",").map(Number);
  };
  function draw(next, heading, look) {
    shape = next;
    cells = new Map();
    things = [];
    replace(title, heading);
    const cell = (at) => {
      const { text, label, copy, thing } = look(at);
      const el = h(
        "div",
        {
          class: `bx-cell${copy ? " copy" : ""}`,
          role: "gridcell",
          tabindex: -1,
          "data-at": key(at),
          "aria-label": label,
        },
        text,
      );
      cells.set(key(at), el);
      things.push([thing, el, !copy]);
      return el;
    };
    replace(
      box,
      h(
        "div",
        { class: "bx-panels", role: "grid", "aria-label": `${on.name}, as it is in the result` },
        nested(shape, cell),
      ),
    );
    rove(shape.map(() => 0));
  }
  function rove(at) {
    const to = (at && cells.get(key(at))) ?? cells.values().next().value;
    for (const el of cells.values()) el.tabIndex = el === to ? 0 : -1;
  }
  /** `main` is framed, `also` framed by dashes; both are lists of indices. */
  function mark(main, also = []) {
    const [one, more] = [new Set(main.map(key)), new Set(also.map(key))];
    for (const [name, el] of cells) {
      el.classList.toggle("on", one.has(name));
      el.classList.toggle("also", !one.has(name) && more.has(name));
    }
  }
  const choose = (at) => {
    rove(at);
    on.onselect(at);
  };
  touchField(box, {
    cells: () => cells.values(),
    onpick(cell, event) {
      if (event.type === "click") cell.focus({ preventScroll: true });
      choose(atOf(cell));
      if (event.type === "click") on.onmeet(atOf(cell));
    },
  });
  box.addEventListener("keydown", (event) => {
    const at = atOf(event.target);
    const to = at && moved(at, shape, event);
    if (!to) return;
    event.preventDefault();
    cells.get(key(to)).focus();
    choose(to);
  });
  box.addEventListener("focusin", (event) => {
    const at = atOf(event.target);
    if (at && event.target.matches(":focus-visible")) on.onselect(at);
  });
  box.addEventListener("focusout", () => on.onpoint(null));
  box.addEventListener("pointerover", (event) => event.pointerType !== "touch" && on.onpoint(atOf(event.target)));
  box.addEventListener("pointerleave", () => on.onpoint(null));
  return { node, draw, mark, rove, cellOf: (at) => cells.get(key(at)), things: () => things };
}

/**
 * @param {{get: () => object, shape: () => number[]|null, selected: () => number[]|null,
 *   select: (at: number[]) => void}} on
 */
export function pictures(on) {
  const node = h("div", { class: "bx-picture", role: "figure", "aria-label": "The operands and the result" });
  const sum = h("div", { class: "bx-sum" });
  let pointed = null; // {name, at}: of an operand, or of the result
  let grids = {};
  let fields = []; // of the chooser
  let drawn = "";

  const point = (name) => (at) => {
    pointed = at && { name, at };
    mark();
  };
  const result = (name) => name === "result";
  const shortly = (value) => (typeof value === "boolean" ? python(value)[0] : String(value).replace("-", "−"));

  function look(name) {
    const given = on.get();
    if (result(name))
      return (at) => {
        const { left, uses, values, value } = formula(given, at);
        const label = `${left} = ${uses} = ${values} = ${value}`;
        return { text: shortly(value), label, thing: `${name} ${key(at)}` };
      };
    return (at) => {
      const { index, value } = element(given, at).of.find((one) => one.name === name);
      const copy = at.some((i, d) => i !== (index[d - at.length + index.length] ?? 0));
      const again = copy ? ", the same element again" : "";
      const thing = `${name} ${flat(given[name], index)}`;
      return { text: shortly(value), copy, thing, label: `${brackets(name, index)} is ${python(value)}${again}` };
    };
  }

  function heading(name, shape) {
    const given = on.get();
    if (result(name))
      return [h("i", {}, "= "), h("b", {}, inPlace(given.op) ? "a, written in place" : "result"), " shape ", h("code", {}, tuple(shape))];
    const stride = broadcastStride(given[name], shape);
    const before = inPlace(given.op) && name === "a" ? "a, before" : name;
    const sign = name === "b" && given.op !== "where" ? spoken(given.op[0]) : "";
    return [
      sign && h("i", {}, `${sign} `),
      h("b", {}, before),
      " shape ",
      h("code", {}, tuple(given[name])),
      ...(stride.includes(0) ? [" ", h("span", {}, stride.length === 2 && h("small", {}, stays(stride)), "stride ", h("code", {}, tuple(stride)))] : []),
    ];
  }

  /** What the zeros of a stride mean, in two dimensions. */
  const stays = (stride) => `step ${["down", "right"].filter((_, d) => !stride[d]).reverse().join(", ")}: 0, `;

  function operandLine(name, index, users) {
    const some = users
      .slice(0, 6)
      .map((at) => brackets("result", at))
      .join(", ");
    const more = users.length > 6 ? ` and ${users.length - 6} more` : "";
    const count = users.length === 1 ? "one result" : `${users.length} results`;
    const { value } = element(on.get(), users[0]).of.find((one) => one.name === name);
    return [
      h("p", { class: "big" }, h("b", { class: `bx-${name}` }, brackets(name, index)), ` = ${python(value)}`),
      h("p", { class: "small" }, `is used by ${count}: ${some}${more}`),
    ];
  }

  function resultLine(at) {
    const { left, uses, values, value } = formula(on.get(), at);
    const parts = element(on.get(), at).of.map(({ name, index }) => `${brackets(name, index)}`);
    return [
      h("p", { class: "big" }, h("b", {}, left), " = ", coloured(uses, parts)),
      h("p", { class: "small tbviz-mono" }, `= ${values} = ${python(value)}`),
    ];
  }

  /** `text` with each of `parts`, in their order, in the hue of its operand. */
  function coloured(text, parts) {
    const out = [];
    let rest = text;
    for (const part of parts) {
      const at = rest.indexOf(part);
      out.push(rest.slice(0, at), h("b", { class: `bx-${part[0]}` }, part));
      rest = rest.slice(at + part.length);
    }
    return [...out, rest];
  }

  function mark() {
    const [given, shape] = [on.get(), on.shape()];
    if (!shape) return;
    const all = canDraw(shape) ? indices(shape) : [];
    const operand = pointed && !result(pointed.name) ? pointed.name : null;
    const at = operand ? pointed.at : (pointed?.at ?? on.selected());
    if (!at) return void replace(sum, h("p", { class: "small" }, "The result has no elements."));
    const place = (name, one) => flat(given[name], used(given[name], one));
    const users = operand ? all.filter((one) => place(operand, one) === place(operand, at)) : [];
    for (const [name, each] of Object.entries(grids)) {
      if (result(name)) each.mark(operand ? [] : [at], users);
      else if (operand && name !== operand) each.mark([]);
      else {
        const same = all.filter((one) => place(name, one) === place(name, at));
        each.mark([same[0]], operand ? same : [at]);
      }
    }
    replace(sum, operand ? operandLine(operand, used(given[operand], at), users) : resultLine(at));
  }

  function draw() {
    const [given, shape] = [on.get(), on.shape()];
    const now = JSON.stringify([given, shape]);
    if (now !== drawn) {
      const settle = drawn ? leave() : () => {};
      drawn = now;
      pointed = null;
      build(given, shape);
      settle();
    }
    grids.result?.rove(on.selected());
    fields.forEach((input, d) => (input.value = on.selected()[d]));
    mark();
  }

  /** Remembers where the elements are. The answer lets them glide to their new places, and repetitions out of them. */
  function leave() {
    const all = () => Object.values(grids).flatMap((one) => one.things());
    const settle = glide(all().filter(([, , own]) => own), GLIDE);
    return () => (on.shape() ? settle(all()) : shake(node));
  }

  /** The operands' elements go into the result's element, one click long. */
  function meet(at) {
    if (still() || !grids.result) return;
    const [origin, to] = [node, grids.result.cellOf(at)].map((el) => el.getBoundingClientRect());
    for (const name of names(on.get())) {
      const cell = grids[name].cellOf(at);
      const { left, top, width, height } = cell.getBoundingClientRect();
      const style = { left: `${left - origin.left}px`, top: `${top - origin.top}px`, width: `${width}px`, height: `${height}px` };
      const ghost = h("div", { class: `bx-cell bx-ghost bx-${name}`, "aria-hidden": "true", style }, cell.textContent);
      node.append(ghost);
      const end = { transform: `translate(${to.left - left}px,${to.top - top}px)`, opacity: 0.3 };
      ghost.animate([{ transform: "none", opacity: 1 }, end], { duration: GLIDE, easing: "ease-in" }).onfinish = () => ghost.remove();
    }
  }

  function build(given, shape) {
    [grids, fields] = [{}, []];
    if (!shape) return void replace(node, ladder(given));
    if (!canDraw(shape)) return void replace(node, product(shape) > 0 ? chooser(shape) : null);
    for (const name of [...names(given), "result"]) {
      const select = result(name) ? (at) => ((pointed = null), on.select(at)) : point(name);
      grids[name] = grid({ name, onpoint: point(name), onselect: select, onmeet: result(name) ? meet : () => {} });
      grids[name].draw(shape, heading(name, shape), look(name));
    }
    const blocks = Object.values(grids).map((one) => one.node);
    const wide = shape.length > 2 && shape.at(-3) * shape.at(-1) >= 6; // then shape and stride stand side by side
    const columns = shape.at(-1) * (shape.at(-3) ?? 1);
    const many = product(shape) > 16 || shape.length > 3 || columns > 4;
    const size = many ? " small" : shape.length > 2 || columns > 3 ? " middling" : "";
    replace(node, h("div", { class: `bx-blocks${wide ? " wide" : ""}${size}` }, blocks));
  }

  /** Fields for the index of an element where there are too many to draw. */
  function chooser(shape) {
    const field = (n, d) => {
      const input = h(
        "select",
        {
          "aria-label": `Index in dimension ${d} of the result`,
          onchange: () => on.select(on.selected().map((i, e) => (e === d ? Number(input.value) : i))),
        },
        Array.from({ length: n }, (_, i) => h("option", { value: i }, i)),
      );
      fields.push(input);
      return [d ? ", " : "", input];
    };
    return h(
      "p",
      { class: "bx-chooser" },
      `${product(shape)} elements in ${shape.length} dimensions: not drawn. Choose one: `,
      h("span", { class: "tbviz-mono" }, "result[", shape.map(field), "]"),
    );
  }

  return { node, sum, draw };
}
