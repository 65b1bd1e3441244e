/** The two pictures: logical elements in nested panels, and the storage in cache lines. Each is one tab stop. */

import { h, replace, touchField } from "../core/index.js";
import { aliases, index, short } from "./program.js";

const MOVES = {
  ArrowRight: [-1, 1],
  ArrowLeft: [-1, -1],
  ArrowDown: [-2, 1],
  ArrowUp: [-2, -1],
  PageDown: [-3, 1],
  PageUp: [-3, -1],
};

/** The hue class of a dimension. */
export const hue = (d) => `tbviz-d${d % 4}`;

/** Text in the hue of dimension `d`. */
export const inHue = (d, text) => h("span", { class: hue(d), "data-dim": d }, text);

const key = (at) => at.join(",");
const share = (place, storage) => `${Math.round((100 * place) / Math.max(1, storage.length - 1))}%`;
const bracket = (at) => `[${at.join(", ")}]`;
const MOST = 48; // numbers that are written into cells; of more a mosaic is drawn

function roving(cells, to) {
  for (const cell of cells) cell.tabIndex = cell === to ? 0 : -1;
}

/**
 * The logical elements.
 * @param {{onselect: (at: number[]) => void, onpoint: (at: number[]|null) => void}} on
 */
export function logicalGrid(on) {
  const node = h("div", { class: "sx-grid" });
  let cells = new Map(); // "i,j" → element
  let state = null;

  const cellOf = (at) => cells.get(key(at));
  const atOf = (target) => {
    const text = target.closest?.("[data-at]")?.dataset.at;
    return text === undefined ? null : text === "" ? [] : text.split(",").map(Number);
  };

  function cell(at) {
    const place = index(state, at);
    const value = short(state.storage[place]);
    const name = `${bracket(at)} holds ${value}, storage ${place}`;
    const el = h(
      "div",
      {
        class: "sx-cell",
        role: "gridcell",
        tabindex: -1,
        "data-at": key(at),
        "aria-label": name,
        style: { "--at": share(place, state.storage) },
      },
      h("span", { class: "sx-n" }, value),
    );
    cells.set(key(at), el);
    return el;
  }

  const axis = (d, text) => h("span", { class: `sx-axis ${hue(d)}`, "data-dim": d, "aria-hidden": "true" }, text);

  /** Rows and columns of the last two dimensions. */
  function table(before) {
    const rank = state.shape.length;
    const columns = rank ? state.shape[rank - 1] : 1;
    const rows = rank > 1 ? Array.from({ length: state.shape[rank - 2] }, (_, i) => [...before, i]) : [before];
    const body = rows.map((row) =>
      h(
        "div",
        { role: "row", class: rank > 1 ? "sx-lead" : "" },
        rank > 1 ? axis(rank - 2, row.at(-1)) : null,
        rank ? Array.from({ length: columns }, (_, j) => cell([...row, j])) : cell([]),
      ),
    );
    const labels = rank
      ? h(
          "div",
          { role: "row", class: rank > 1 ? "sx-lead" : "", "aria-hidden": "true" },
          rank > 1 ? h("span") : null,
          Array.from({ length: columns }, (_, j) => axis(rank - 1, j)),
        )
      : null;
    return h("div", { class: "sx-rows", role: "rowgroup", style: { "--n": columns } }, labels, body);
  }

  const panel = (before) =>
    h(
      "div",
      { class: "sx-panel", role: "presentation" },
      h(
        "p",
        { class: "sx-cap tbviz-mono", "aria-hidden": "true" },
        "[",
        before.map((i, d) => [inHue(d, i), ", "]),
        ":, :]",
      ),
      table(before),
    );

  function draw(next) {
    state = next;
    cells = new Map();
    const { shape } = state;
    const rank = shape.length;
    const empty = shape.some((size) => size === 0);
    const across = (before) =>
      h(
        "div",
        { class: "sx-band", role: "presentation" },
        Array.from({ length: shape[before.length] }, (_, i) => panel([...before, i])),
      );
    let body;
    if (empty) body = h("p", { class: "sx-cap" }, "No elements: one of the sizes is 0.");
    else if (rank <= 2) body = table([]);
    else if (rank === 3) body = across([]);
    else body = Array.from({ length: shape[0] }, (_, n) => across([n]));
    const grid = h(
      "div",
      {
        class: `sx-outer${rank > 3 ? " boxed" : ""}`,
        role: empty ? null : "grid",
        "aria-label": empty ? null : "Logical elements",
      },
      body,
    );
    node.classList.toggle("dense", cells.size > MOST);
    node.classList.toggle("roomy", rank <= 2 && cells.size <= MOST / 2 && (shape.at(-2) ?? 1) <= 4);
    node.classList.toggle("tbviz-drawn", (shape.at(-1) ?? 0) <= 16); // wider ones are scrolled by the finger
    replace(node, grid);
  }

  function mark({ main, also = [], wrote = [] }) {
    const [a, w] = [new Set(also.map(key)), new Set(wrote.map(key))];
    for (const [name, el] of cells) {
      const on = Boolean(main) && name === key(main);
      el.classList.toggle("on", on);
      el.classList.toggle("also", !on && a.has(name));
      el.classList.toggle("wrote", w.has(name));
    }
  }

  /** The one tab stop of the grid, and which element counts as selected. */
  function rove(at) {
    const to = (at && cellOf(at)) || cells.values().next().value;
    roving(cells.values(), to);
    for (const [name, el] of cells) el.setAttribute("aria-selected", String(Boolean(at) && name === key(at)));
  }

  function move(at, event) {
    const { shape } = state;
    const rank = shape.length;
    const to = [...at];
    if (event.key === "Home" || event.key === "End") {
      shape.forEach((size, d) => {
        if (event.ctrlKey || d === rank - 1) to[d] = event.key === "Home" ? 0 : size - 1;
      });
      return to;
    }
    const [from, by] = MOVES[event.key] ?? [];
    if (!by) return null;
    const outer = from === -3 && event.shiftKey ? -4 : from;
    const d = rank === 1 && from === -2 ? 0 : rank + outer;
    if (d < 0 || d >= rank) return to;
    to[d] = Math.min(shape[d] - 1, Math.max(0, to[d] + by));
    return to;
  }

  touchField(node, {
    cells: () => cells.values(),
    onpick(cell, event) {
      if (event.type === "click") cell.focus({ preventScroll: true });
      on.onselect(atOf(cell));
    },
  });
  node.addEventListener("keydown", (event) => {
    const at = atOf(event.target);
    const to = at && move(at, event);
    if (!to) return;
    event.preventDefault();
    cellOf(to).focus();
    on.onselect(to);
  });
  node.addEventListener("focusin", (event) => {
    const at = atOf(event.target);
    if (at && event.target.matches(":focus-visible")) on.onselect(at);
  });
  node.addEventListener("pointerover", (event) => event.pointerType !== "touch" && on.onpoint(atOf(event.target)));
  node.addEventListener("pointerleave", () => on.onpoint(null));

  const hasFocus = () => node.contains(node.getRootNode().activeElement);
  return { node, draw, mark, rove, cellOf, hasFocus, all: () => cells };
}

/**
 * The flat storage, one row a cache line.
 * @param {{onpoint: (place: number|null) => void, onfocus: (place: number|null) => void,
 *   onselect: (place: number) => void}} on
 */
export function memory(on) {
  const node = h("div", { class: "sx-store" });
  let slots = [];
  let lines = [];
  let perLine = 16;

  function slot(state, place, readers) {
    const value = short(state.storage[place]);
    const count = readers.length;
    const read =
      count === 0 ? "not reached" : count === 1 ? `read by ${bracket(readers[0])}` : `read by ${count} elements`;
    const start = place === state.offset ? ", the storage offset" : "";
    const el = h(
      "div",
      {
        class: `sx-cell${count ? "" : " off"}`,
        role: "gridcell",
        tabindex: -1,
        "data-place": place,
        "aria-label": `storage ${place} holds ${value}, ${read}${start}`,
        style: { "--at": share(place, state.storage) },
      },
      h("span", { class: "sx-n" }, value),
      count > 1 ? h("span", { class: "sx-times", "aria-hidden": "true" }, `×${count}`) : null,
    );
    slots.push(el);
    return h(
      "div",
      { class: `sx-slot${start ? " start" : ""}`, role: "presentation" },
      el,
      h("small", { "aria-hidden": "true" }, h("span", {}, bracket([place]))),
    );
  }

  function draw(state) {
    const shared = aliases(state);
    perLine = Math.max(1, Math.floor(64 / state.itemsize));
    slots = [];
    lines = [];
    const count = state.storage.length;
    const [many, dense] = [count > perLine, count > MOST];
    for (let first = 0; first < count; first += perLine) {
      const places = Array.from({ length: Math.min(perLine, count - first) }, (_, i) => first + i);
      lines.push(
        h(
          "div",
          { class: "sx-line", role: "row" },
          many ? h("span", { class: "sx-cap", "aria-hidden": "true" }, first) : null,
          places.map((place) => slot(state, place, shared.get(place) ?? [])),
        ),
      );
    }
    const body = lines.length
      ? h("div", { class: `sx-memory${dense ? " dense" : ""}${many ? " many" : ""}${count > 8 ? " long" : ""}`, role: "grid", "aria-label": "Storage", style: { "--k": Math.min(count, 8) } }, lines)
      : h("p", { class: "sx-cap" }, "An empty storage.");
    replace(node, body);
    roving(slots, slots[Math.min(state.offset, slots.length - 1)]);
  }

  function mark({ main, wrote }) {
    slots.forEach((el, place) => {
      el.classList.toggle("on", place === main);
      el.classList.toggle("wrote", place === wrote);
    });
  }

  const placeOf = (target) => {
    const text = target.closest?.("[data-place]")?.dataset.place;
    return text === undefined ? null : Number(text);
  };
  const STEPS = () => ({
    ArrowRight: 1,
    ArrowLeft: -1,
    ArrowDown: perLine,
    ArrowUp: -perLine,
    Home: -Infinity,
    End: Infinity,
  });
  node.addEventListener("keydown", (event) => {
    const place = placeOf(event.target);
    const by = STEPS()[event.key];
    if (place !== null && event.key === "Enter") on.onselect(place);
    if (place === null || by === undefined) return;
    event.preventDefault();
    const to = slots[Math.min(slots.length - 1, Math.max(0, place + by))];
    roving(slots, to);
    to.focus();
  });
  touchField(node, { cells: () => slots, onpick: (cell) => on.onselect(placeOf(cell)) });
  node.addEventListener(
    "focusin",
    (event) => event.target.matches(":focus-visible") && on.onfocus(placeOf(event.target)),
  );
  node.addEventListener("focusout", () => on.onfocus(null));
  node.addEventListener("pointerover", (event) => event.pointerType !== "touch" && on.onpoint(placeOf(event.target)));
  node.addEventListener("pointerleave", () => on.onpoint(null));
  const hasFocus = () => node.contains(node.getRootNode().activeElement);
  return {
    node,
    draw,
    mark,
    slot: (place) => slots[place],
    line: (i) => lines[i],
    /** The sign of the place where the tensor begins. */
    start: () => (lines.length > 1 ? "thick edge:" : "▲"),
    slots: () => slots,
    lines: () => lines,
    hasFocus,
  };
}
