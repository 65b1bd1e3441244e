/** TileExplorer: tiled matrix multiplication and the online softmax, tile by tile. */

import { button, copyButton, h, player, replace, select, shake, shell, toggle, toolbar } from "../core/index.js";
import { numberField } from "../core/form.js";
import { amount } from "../core/units.js";
import { CONTRACT, FIELDS, online, passes, problem, product, program, programs, stepsOf, traffic, visits } from "./model.js";
import { picture } from "./picture.js";
import SETUP from "./setup.json";
import { CSS } from "./style.js";
import { describe, fixed, lines, places, script, short } from "./words.js";

const brief = (x) => (x === 0 ? "0" : fixed(x).replace(/0{1,3}$/, ""));


/** A small table of numbers; a row can be chosen. */
const grid = (caption, rows, { outside = () => false, on = -1 } = {}) =>
  h("table", { class: "ti-grid" }, h("caption", {}, caption), h("tbody", {}, rows.map((row, i) => h("tr", { class: i === on ? "on" : null }, row.map((x, j) => h("td", { class: outside(i, j) ? "out" : null }, brief(x)))))));

const bars = (rows) => {
  const most = Math.max(...rows.map(([, value]) => value));
  return h("div", { class: "ti-bars" }, rows.map(([name, value]) => [h("span", {}, name), h("span", { class: "ti-track", "aria-hidden": "true" }, h("i", { style: { width: `${((100 * value) / most).toFixed(1)}%` } })), h("span", { class: "ti-amount" }, amount(value))]));
};

function render({ model, el }) {
  const ui = shell({ model, el, contract: CONTRACT, kind: "tiles", reset: { step: 0, row: 0 }, changing: () => steps.stop() });
  ui.css(CSS);
  const { setting, put } = ui;
  const [finding, invitation] = ui.root.querySelectorAll(".tbviz-finding, .tbviz-invitation");
  const stepNow = () => Math.min(model.get("step"), stepsOf(setting()) - 1);
  const resize = (changes) => put({ ...changes, step: 0, row: 0 });
  const seek = (step) => put({ step: Math.max(0, Math.min(stepsOf(setting()) - 1, step)) });
  const link = ui.link({ get: () => ({ ...setting(), step: stepNow(), row: model.get("row") }) });
  const chips = ui.chips();
  const inputs = Object.fromEntries(
    Object.entries(FIELDS).map(([name, { label, low, high }]) => [
      name,
      numberField({
        label,
        get: () => model.get(name),
        put: (value) => (name === "cache" ? put({ cache: value }) : resize({ [name]: value })),
        problem: (value) => problem(name, value),
        next: (value, way, far) => Math.min(high, Math.max(low, value + (far ? 10 * way : way))),
      }),
    ]),
  );
  const order = select({ label: "order of programs", options: [{ value: "row", label: "row by row" }, { value: "grouped", label: "grouped" }], value: "row", onchange: (value) => resize({ order: value }) });
  const causal = toggle("Causal mask", false, (on) => resize({ causal: on }));
  const note = h("p", { class: "ti-note", role: "status" });
  const view = picture({
    pick: (i, j, row) => {
      const now = setting();
      const same = ([a, b]) => a === i && b === j;
      if (now.kind === "attention") {
        const at = visits(now).findIndex(same);
        if (at >= 0) return put({ step: at, row: Math.min(row, now.block_q - 1) });
        shake(view.node);
        head.textContent = "This tile is skipped: all of its keys are later than its queries.";
      } else seek(programs(now).findIndex(same) * Math.ceil(now.k / now.block_k));
    },
  });
  const main = h("div", { class: "ti-main" }, view.node);
  const head = h("p", { class: "ti-head" });
  const told = h("div", { class: "ti-box" });
  const bytes = h("div", { class: "ti-box" });
  const rowsFor = select({ label: "row written out", options: [], value: "0", onchange: (value) => put({ row: Number(value) }) });

  const steps = player({
    at: stepNow,
    last: () => stepsOf(setting()) - 1,
    seek,
    show: (step) => model.set("step", step),
    rest: () => {
      model.save_changes();
      queue();
    },
    ms: 800,
  });
  ui.defer(steps.cleanup);
  const jumps = [["Program before", -1], ["Next program", 1]].map(([name, way]) => button(name, () => seek(program(setting(), stepNow(), way))));

  function matmulNumbers(now, step) {
    const one = product(now, step);
    const where = places(now, one);
    const beyond = (rows, columns, row, column) => (i, j) => row + i >= rows || column + j >= columns;
    const [r, c, d] = [one.row * now.block_m, one.column * now.block_n, one.depth * now.block_k];
    const seen = traffic(now, step);
    replace(head, `Tile ${one.program} of C, step ${one.depth + 1} of ${Math.ceil(now.k / now.block_k)}. Read so far: `, h("b", {}, amount(seen.sofar)), `; in total ${amount(now.cache ? seen.cached : seen.tiled)}, without tiles ${amount(seen.untiled)}.`);
    const tables = [grid(where.a, one.a, { outside: beyond(now.m, now.k, r, d) }), h("span", {}, "@"), grid(where.b, one.b, { outside: beyond(now.k, now.n, d, c) }), h("span", {}, "→"), grid(one.last ? `accumulator, then ${where.c}` : "accumulator", one.accumulator, { outside: beyond(now.m, now.n, r, c) })];
    replace(told, h("div", { class: "ti-product" }, tables));
    replace(
      bytes,
      h("p", { class: "ti-title" }, "Bytes of A and B read from memory, whole product"),
      bars([["no tiles", seen.untiled], ["tiles", seen.tiled], ...(now.cache ? [[`and a cache of ${now.cache}`, seen.cached]] : []), ["each once", seen.least]]),
      h("p", { class: "ti-small" }, `So far ${seen.tiles} different tiles, ${amount(seen.sofar)} from memory. A program reuses each loaded element of A BLOCK_N times and of B BLOCK_M times; the cache serves neighbours. Programs run one after the other here, on a GPU many at once.`),
    );
  }

  function attentionNumbers(now, step) {
    const one = online(now, step);
    const chosen = Math.min(model.get("row"), one.rows.length - 1);
    const { tokens, block_q: high, block_kv: wide } = now;
    const row = one.rows[chosen];
    const higher = row.before !== -Infinity && row.maximum > row.before;
    replace(head, `q${row.query}’s maximum ${higher ? `rises from ${short(row.before)} to` : row.before === -Infinity ? "is" : "stays"} ${short(row.maximum)}`, higher ? [": the old sum counts × α = ", h("b", {}, short(row.rescale)), "."] : "; nothing is rescaled.");
    rowsFor.update({ options: one.rows.map((row, i) => ({ value: String(i), label: `query ${row.query}` })), value: String(chosen) });
    const cell = (name, of) => h("tr", {}, h("th", { scope: "row" }, name), one.rows.map((row, i) => h("td", { class: i === chosen ? "on" : null }, fixed(of(row)))));
    const table = h(
      "table",
      { class: "ti-grid" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "query"), one.rows.map((row, i) => h("th", { scope: "col", class: i === chosen ? "on" : null }, row.query)))),
      h("tbody", {}, [
        one.rows[0].scores.map((_, j) => cell(`score ${one.tile * wide + j}`, (row) => row.scores[j])),
        cell("m", (row) => row.maximum),
        cell("α", (row) => row.rescale),
        cell("l", (row) => row.total),
        one.rows[0].accumulator.map((_, x) => cell(`acc ${x}`, (row) => row.accumulator[x])),
      ]),
    );
    const rows = lines(one.rows[chosen], one.last).map(([name, sum, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, h("span", { class: "ti-sum" }, sum), h("span", { class: "ti-value" }, `= ${value}`))));
    replace(told, h("div", { class: "ti-scroll", tabindex: 0, role: "region", "aria-label": "All rows of the tile" }, table), rowsFor, h("table", { class: "ti-lines" }, h("tbody", {}, rows)));
    const seen = passes(now);
    replace(
      bytes,
      h("p", { class: "ti-title" }, "Bytes to and from memory"),
      bars([["scores stored", seen.eager], ["in tiles", seen.tiled]]),
      h("p", { class: "ti-small" }, `${seen.computed} tiles computed${now.causal ? `, ${seen.skipped} skipped, ${seen.masked} with masked elements` : ""}. The scores, ${amount(seen.scores)}, grow with the square of the tokens and are never stored; m, l and acc stay in registers.`),
    );
  }

  function draw() {
    const now = setting();
    const step = stepNow();
    for (const [name, one] of Object.entries(inputs)) {
      one.hidden = FIELDS[name].for !== "both" && FIELDS[name].for !== now.kind;
      if (name === "group") one.hidden ||= now.order === "row";
      one.refresh(false);
    }
    order.hidden = now.kind !== "matmul";
    causal.hidden = now.kind === "matmul";
    order.update({ value: now.order });
    causal.press(now.causal);
    ui.tell(note, ui.mark(CONTRACT.presetOf(now)));
    steps.refresh();
    jumps.forEach((one, i) => one.disable(i ? step + 1 >= stepsOf(now) : step === 0));
    const softmax = now.kind === "attention";
    finding.textContent = softmax ? SETUP.softmax.finding : SETUP.finding;
    invitation.textContent = softmax ? SETUP.softmax.invitation : SETUP.invitation;
    view.draw(now, step, softmax ? Math.min(model.get("row"), online(now, step).rows.length - 1) : 0, Math.max(260, main.clientWidth - 1));
    (softmax ? attentionNumbers : matmulNumbers)(now, step);
    ui.soon(() => describe(now, step, model.get("row")), { quiet: steps.playing() });
  }
  const queue = ui.follow(draw, [...CONTRACT.names, "step", "row"]);

  ui.lay({
    stage: main,
    presets: chips,
    bar: steps,
    readout: head,
    drawer: [
      note,
      told,
      h("div", { class: "ti-sizes" }, Object.values(inputs), order, causal),
      h("div", { class: "ti-bar" }, toolbar("Programs", jumps), copyButton("Copy as PyTorch", () => script(setting(), stepNow())), link),
      bytes,
    ],
  });
  draw();
  const watch = new ResizeObserver(queue);
  watch.observe(main);
  ui.defer(() => watch.disconnect());
  return ui.cleanup;
}

export default { render };
