/** AttentionExplorer: all heads small, one large, one query in numbers. */

import { copyButton, h, replace, s, shell } from "../core/index.js";
import { entropy, home, isState, numbers, UNIT, unpacked } from "./model.js";
import { arcs, cells, map, masked } from "./picture.js";
import SETUP from "./setup.json";
import { CSS } from "./style.js";
import { describe, script, shown, two } from "./words.js";

const NAMES = ["layer", "head", "query"];
const COLUMNS = [["entropy", "entropy, bits"], ["previous", "previous"], ["first", "first"], ["itself", "itself"]];

const clamp = (x, high) => Math.max(0, Math.min(high - 1, x));

function render({ model, el }) {
  const ui = shell({ model, el, contract: SETUP, kind: "attention" });
  ui.css(CSS);
  const [tokens, causal, layers, heads] = ["tokens", "causal", "layers", "heads"].map((name) => model.get(name));
  const size = tokens.length;
  const all = unpacked(model.get("packed"), size, causal);
  const of = all.map(numbers);
  const state = () => Object.fromEntries(NAMES.map((name) => [name, model.get(name)]));
  const here = () => model.get("layer") * heads + model.get("head");
  const go = (at) => ui.set({ layer: Math.floor(at / heads), head: at % heads });
  const homes = Object.fromEntries(Object.keys(SETUP.presets).map((name) => [name, home(all, name)]));
  let focus = false; // the pressed head takes the focus when it is drawn

  const visit = (name) => {
    const { at, query } = homes[name];
    ui.set({ layer: Math.floor(at / heads), head: at % heads, query });
  };
  const link = ui.link({ choose: visit, start: ui.set, accepts: (value) => isState(value, { layers, heads, size }), get: state });
  const chips = ui.chips(visit);
  const note = h("p", { class: "at-note", role: "status" });

  // All heads, small
  const small = all.map((rows, at) => {
    const [layer, head] = [Math.floor(at / heads), at % heads];
    const told = COLUMNS.map(([name, label]) => `${label} ${two(of[at][name])}`).join("; ");
    return h(
      "button",
      { type: "button", class: "at-head", "aria-label": `layer ${layer}, head ${head}; ${told}`, onclick: () => go(at) },
      s("svg", { viewBox: `0 0 ${size} ${size}`, "aria-hidden": "true" }, causal && masked(size, size / 36), cells(rows), s("rect", { width: size, height: size, class: "at-edge" })),
    );
  });
  const overview = h("div", { class: "at-heads", role: "toolbar", "aria-label": "Heads", style: { gridTemplateColumns: `repeat(${heads}, var(--at-thumb))` } }, small);
  overview.addEventListener("keydown", (event) => {
    const { layer, head } = state();
    const to = {
      ArrowRight: [layer, head + 1],
      ArrowLeft: [layer, head - 1],
      ArrowDown: [layer + 1, head],
      ArrowUp: [layer - 1, head],
      Home: [0, 0],
      End: [layers - 1, heads - 1],
    }[event.key];
    if (!to) return;
    event.preventDefault();
    focus = true;
    ui.set({ layer: clamp(to[0], layers), head: clamp(to[1], heads) });
    queue();
  });

  const choose = (query) => ui.set({ query: clamp(query, size) });
  const view = arcs({ tokens, causal, pick: choose });
  ui.defer(view.stop);
  view.node.addEventListener("keydown", (event) => {
    const at = model.get("query");
    const to = { ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1, PageUp: at + 8, PageDown: at - 8, Home: 0, End: size - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    choose(to);
  });
  const large = map({ tokens, causal, pick: choose });
  const told = h("p", { class: "at-told" });
  const rowTitle = h("p", { class: "at-title" });
  const weights = h("ol", { class: "at-weights" });
  const rowFacts = h("p", { class: "at-small" });
  const means = h("dl", { class: "at-lines" });
  const meansTitle = h("p", { class: "at-title" });

  const lines = all.map((_, at) => h("tr", {}, h("th", { scope: "row" }, `layer ${Math.floor(at / heads)}, head ${at % heads}`), COLUMNS.map(([name]) => h("td", {}, two(of[at][name])))));
  const table = h(
    "div",
    { class: "at-scroll at-tall", tabindex: 0, role: "region", "aria-label": "Numbers of all heads" },
    h("table", { class: "at-table" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "mean over queries"), COLUMNS.map(([, label]) => h("th", { scope: "col" }, label)))), h("tbody", {}, lines)),
  );

  function drawRow(row, query) {
    const seen = causal ? query + 1 : size;
    const value = (i) => (causal && i > query ? "–" : row[i] ? two(row[i] / UNIT) : "0");
    const order = row.map((_, i) => i).filter((i) => row[i]).sort((a, b) => row[b] - row[a] || a - b);
    const name = (i) => `“${shown(tokens[i])}”`;
    const best = order.slice(0, 3).map((i) => [name(i), " ", h("b", {}, value(i))]);
    view.draw(row, query, `${query} ${name(query)}: ${order.slice(0, 3).map((i) => `${value(i)} to ${i} ${name(i)}`).join(", ")}`);
    replace(told, `Layer ${model.get("layer")}, head ${model.get("head")}: ${name(query)} looks at `, best.map((one, i) => [i ? ", " : "", one]), order.length > 3 ? " …" : ".");
    rowTitle.textContent = `Query ${query} ${name(query)}: weight of each key`;
    replace(weights, tokens.map((token, i) => h("li", { class: causal && i > query ? "off" : null }, h("span", {}, shown(token)), h("small", {}, value(i)))));
    rowFacts.textContent = `The row sums to ${two(row.reduce((a, b) => a + b, 0) / UNIT)} over ${seen} key${seen === 1 ? "" : "s"}; entropy ${two(entropy(row))} of at most ${two(Math.log2(seen))} bits.${causal ? " – is masked: later than the query." : ""}`;
  }

  function draw() {
    const now = state();
    const at = here();
    small.forEach((one, i) => {
      one.setAttribute("aria-pressed", String(i === at));
      one.tabIndex = i === at ? 0 : -1;
    });
    ui.tell(note, ui.mark(Object.keys(SETUP.presets).filter((name) => homes[name].at === at && homes[name].query === now.query)));
    large.draw(all[at], `layer ${now.layer}, head ${now.head}`, now.query);
    drawRow(all[at][now.query], now.query);
    meansTitle.textContent = "This head, mean over the queries from 1 on";
    replace(
      means,
      [["previous", "to the previous token"], ["first", "to the first token"], ["itself", "to itself"]].map(([name, label]) => [h("dt", {}, label), h("dd", {}, two(of[at][name])), h("dd", { class: "at-meter", "aria-hidden": "true" }, h("i", { style: { width: `${(100 * of[at][name]).toFixed(1)}%` } }))]),
      h("dt", {}, "entropy of a row"),
      h("dd", {}, two(of[at].entropy)),
      h("dd", { style: { textAlign: "left" } }, "bits"),
    );
    lines.forEach((line, i) => line.classList.toggle("on", i === at));
    if (lines[at].offsetTop < table.scrollTop || lines[at].offsetTop + lines[at].offsetHeight > table.scrollTop + table.clientHeight) table.scrollTop = lines[at].offsetTop - table.clientHeight / 2;
    if (focus) overview.querySelector("[aria-pressed='true']").focus();
    focus = false;
    ui.soon(() => describe(tokens, all, causal, [layers, heads], now));
  }
  const queue = ui.follow(draw, NAMES);

  const grid = h("div", { class: "at-scroll" }, overview);
  ui.lay({
    stage: h("div", { class: "at", role: "figure", "aria-label": "The text with its weights, and all heads" }, view.node, h("div", { class: "at-pair" }, grid, large.node)),
    presets: chips,
    readout: told,
    drawer: [
      note,
      h("div", { class: "at-bar" }, copyButton("Copy as PyTorch", () => script(all, causal, [layers, heads], state())), link),
      h("div", { class: "at-box" }, rowTitle, weights, rowFacts),
      h("div", { class: "at-all" }, h("div", { class: "at-box" }, meansTitle, means), h("div", { class: "at-box" }, table)),
    ],
  });
  draw();
  const watch = new ResizeObserver(queue);
  watch.observe(view.node);
  ui.defer(() => watch.disconnect());
  return ui.cleanup;
}

export default { render };
