/** Two tools beside the picture: writing through one element, and walking through memory. */

import { animate, button, h, number, replace, select, still, toggle } from "../core/index.js";
import { cacheLines } from "./model.js";
import { fits, short } from "./program.js";

const bracket = (at) => `[${at.join(", ")}]`;

/**
 * @param {{get: () => object, selected: () => number[]|null, write: (at: number[], value: number) => void}} on
 */
export function writer(on) {
  let value = 99;
  const target = h("code", { class: "sx-target", role: "status" });
  const said = h("p", { role: "status" });
  const go = button("Write", () => on.write(on.selected(), value), { kind: "primary" });
  const input = number({
    label: "value",
    value,
    step: "any",
    oninput: (v) => {
      value = v;
      refresh();
    },
    onenter: () => go.click(),
  });
  function refresh() {
    const { state } = on.get();
    const at = on.selected();
    const number = Number.isFinite(value); // null, for an empty field, is none
    target.textContent = !fits(state, at) ? "select an element first" : number ? `x${bracket(at)} = ${value}` : "value: a number";
    target.classList.toggle("bad", !number);
    go.disable(!fits(state, at) || !number);
  }
  const node = h(
    "div",
    { class: "sx-box", hidden: true, role: "group", "aria-label": "Write to one element" },
    h("p", {}, "Write to the selected element and see every element that reads the same place in memory."),
    h("div", { class: "sx-row" }, input, go, target),
    said,
  );
  /** After a write: what changed, in words. */
  const tell = (place, stored, readers, first) => {
    const some = readers.slice(0, 6).map(bracket).join(", ");
    const list = readers.length > 6 ? `${some} and ${readers.length - 6} more` : some;
    const here =
      readers.length === 1
        ? `One element of x reads it: ${list}.`
        : `${readers.length} elements of x read it: ${list}.`;
    const there = first
      ? ` The first tensor sees it too, at ${first.map(bracket).join(", ")}.`
      : " The first tensor has a storage of its own and does not change.";
    said.textContent = `storage[${place}] is now ${short(stored)}. ${here}${there}`;
  };
  const clear = () => (said.textContent = "");
  return { node, refresh, tell, clear };
}

/**
 * @param {{get: () => object, show: (step: object|null) => void, begin: () => void}} on `show` marks what a step of the
 *   walk touches
 */
export function walker(on) {
  let kept = 1;
  let running = { cancel() {} };
  const said = h("p", {});
  const live = h("p", { role: "status" });
  const cells = {};
  const row = (kind, label) => {
    cells[kind] = { loads: h("td"), steps: h("td") };
    return h("tr", {}, h("th", { scope: "row" }, label), cells[kind].steps, cells[kind].loads);
  };
  const table = h(
    "table",
    { class: "sx-table" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        ["order", "elements visited", "lines loaded"].map((text) => h("th", { scope: "col" }, text)),
      ),
    ),
    h("tbody", {}, row("row", "row by row"), row("column", "column by column")),
  );

  function stop() {
    running.cancel();
    on.show(null);
    pause.disable(true);
    totals();
  }

  function totals() {
    const { state } = on.get();
    const both = Object.fromEntries(["row", "column"].map((kind) => [kind, cacheLines(state, kind, 64, kept)]));
    for (const kind of ["row", "column"]) {
      cells[kind].steps.textContent = both[kind].order.length;
      cells[kind].loads.textContent = both[kind].touched;
    }
    const per = Math.floor(64 / state.itemsize);
    const { distinct } = both.row;
    const touched = `The walk touches ${distinct} different line${distinct === 1 ? "" : "s"} in either order`;
    const rule = kept === 1 ? "is not the one used last" : `is not among the ${kept} used last`;
    said.textContent = `A cache line is 64 bytes, here ${per} elements. ${touched}; it loads one whenever the line ${rule}.`;
    return both;
  }

  function walk(kind) {
    running.cancel();
    const { state } = on.get();
    const found = cacheLines(state, kind, 64, kept);
    const count = found.order.length;
    if (!count) return;
    live.textContent = "";
    pause.disable(false);
    on.begin();
    let shown = 0;
    running = animate({
      ms: Math.min(9000, Math.max(1200, count * 140)),
      step: (t) => {
        const upTo = Math.max(1, Math.round(t * count));
        if (upTo === shown) return;
        shown = upTo;
        cells[kind].steps.textContent = upTo;
        cells[kind].loads.textContent = found.loads.slice(0, upTo).filter(Boolean).length;
        on.show({ kind, upTo, order: found.order, lines: found.lines });
      },
      done: () => {
        pause.disable(true);
        const name = kind === "row" ? "Row by row" : "Column by column";
        live.textContent = `${name}: ${count} elements, ${found.touched} line${found.touched === 1 ? "" : "s"} loaded.`;
        if (still()) on.show({ kind, upTo: count, order: found.order, lines: found.lines });
      },
    });
  }

  const pause = button("Stop", stop, { disabled: true });
  const cache = select({
    label: "lines the cache holds",
    options: ["1", "2", "4", "8"],
    value: "1",
    onchange: (v) => {
      kept = Number(v);
      stop();
    },
  });
  const node = h(
    "div",
    { class: "sx-box", hidden: true, role: "group", "aria-label": "Walk through memory" },
    h(
      "div",
      { class: "sx-row" },
      button("Walk row by row", () => walk("row"), { kind: "primary" }),
      button("Walk column by column", () => walk("column"), { kind: "primary" }),
      pause,
      cache,
    ),
    table,
    said,
    live,
  );
  return { node, refresh: stop, cancel: () => running.cancel() };
}

/** A row of toggles of which at most one is pressed; each shows its panel. */
export function tabs(label, entries) {
  const all = entries.map(([text, tool]) => {
    const el = toggle(text, false, (pressed) => {
      for (const other of all) {
        const on = pressed && other.el === el;
        other.el.press(on);
        other.tool.node.hidden = !on;
        if (on) other.tool.refresh();
      }
    });
    return { el, tool };
  });
  return h(
    "div",
    { class: "sx" },
    h(
      "div",
      { class: "sx-row", role: "group", "aria-label": label },
      all.map(({ el }) => el),
    ),
    all.map(({ tool }) => tool.node),
  );
}
