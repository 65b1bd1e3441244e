/** AttentionExplorer: all heads small, one large, one weight as it is computed, and what may come next. */

import { copyButton, h, relations, replace, s, select, shell, uid } from "../core/index.js";
import { chain } from "./chain.js";
import { cellOf, entropy, home, isState, numbers, seen, UNIT } from "./model.js";
import { arcs, cells, map, masked } from "./picture.js";
import SETUP from "./setup.json";
import { CSS } from "./style.js";
import { describe, script, shown, two } from "./words.js";

const NAMES = ["text", "layer", "head", "query", "key"];
const NEXT = 3; // tokens that may come next, in the picture; the words have all of them
const COLUMNS = [["entropy", "entropy, bits"], ["previous", "previous"], ["first", "first"], ["itself", "itself"]];

const clamp = (x, high) => Math.max(0, Math.min(high - 1, x));

/** How far a key is from its query. */
function away(query, key) {
  if (query === key) return "itself";
  return query > key ? `${query - key} back` : `${key - query} on`;
}

/** All heads of a text, small: a list with one tab stop. */
function overviewOf({ tokens, causal, all }, [layers, heads], of, go) {
  const size = tokens.length;
  const small = all.map((rows, at) => {
    const told = COLUMNS.map(([name, label]) => `${label} ${two(of[at][name])}`).join("; ");
    return h(
      "div",
      { role: "option", id: uid("at-head"), class: "at-head", "aria-label": `layer ${Math.floor(at / heads)}, head ${at % heads}; ${told}`, onclick: () => go(at) },
      s("svg", { viewBox: `0 0 ${size} ${size}`, "aria-hidden": "true" }, causal && masked(size, size / 36), cells(rows), s("rect", { width: size, height: size, class: "at-edge" })),
    );
  });
  const label = (text, kind) => h("span", { class: `at-label ${kind}`, "aria-hidden": "true" }, text);
  const place = (one, at) => (one.style.gridArea = `${Math.floor(at / heads) + 2} / ${(at % heads) + 2}`);
  small.forEach(place);
  const node = h("div", { class: "at-heads", role: "listbox", tabindex: 0, "aria-label": "Heads", style: { "--at-layers": layers, gridTemplateColumns: `1.1rem repeat(${heads}, var(--at-thumb))` } }, label("heads →", "at-column"), label("layers →", "at-layer"), small);
  return { node, small };
}

function render({ model, el }) {
  const ui = shell({ model, el, contract: SETUP, kind: "attention" });
  ui.css(CSS);
  const texts = model.get("texts").map(seen);
  const [layers, heads] = ["layers", "heads"].map((name) => model.get(name));
  const state = () => Object.fromEntries(NAMES.map((name) => [name, model.get(name)]));
  const textNow = () => texts[model.get("text")];
  const cellNow = () => cellOf(textNow(), heads, state());
  const go = (at) => ui.set({ layer: Math.floor(at / heads), head: at % heads });
  const choose = (query) => ui.set({ query: clamp(query, textNow().tokens.length), key: -1 });
  const press = (query, key) => ui.set({ query, key: textNow().width ? key : -1 });

  const visit = (name) => {
    const { at, query } = scene().homes[name];
    ui.set({ layer: Math.floor(at / heads), head: at % heads, query, key: -1 });
  };
  const link = ui.link({
    choose: visit,
    start: (given) => ui.set({ text: 0, key: -1, ...given }),
    accepts: (value) => isState(value, { layers, heads, sizes: texts.map((one) => one.tokens.length) }),
    get: state,
  });
  const chips = ui.chips(visit);
  const note = h("p", { class: "at-note", role: "status" });

  /** What is drawn of a text once, and then changes with the state. */
  function sceneOf(text) {
    const of = text.all.map(numbers);
    const { node: overview, small } = overviewOf(text, [layers, heads], of, go);
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
      ui.set({ layer: clamp(to[0], layers), head: clamp(to[1], heads) });
    });
    const size = text.tokens.length;
    const view = arcs({ tokens: text.tokens, causal: text.causal, pick: choose });
    ui.defer(view.stop);
    view.node.addEventListener("keydown", (event) => {
      const at = cellNow().query;
      const to = { ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1, PageUp: at + 8, PageDown: at - 8, Home: 0, End: size - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      choose(to);
    });
    const large = map({ tokens: text.tokens, causal: text.causal, pick: press });
    large.node.addEventListener("keydown", (event) => {
      const { query, key } = cellNow();
      const to = { ArrowRight: [query, key + 1], ArrowLeft: [query, key - 1], ArrowDown: [query + 1, key], ArrowUp: [query - 1, key], Home: [query, 0], End: [query, size - 1] }[event.key];
      if (!to) return;
      event.preventDefault();
      press(clamp(to[0], size), clamp(to[1], size));
    });
    const homes = Object.fromEntries(Object.keys(SETUP.presets).map((name) => [name, home(text.all, name)]));
    return { of, overview, small, view, large, homes };
  }
  const scenes = texts.map(() => null);
  const scene = () => (scenes[model.get("text")] ??= sceneOf(textNow()));

  const steps = chain({ pick: (key) => press(cellNow().query, key) });
  const likely = h("ol", { class: "at-next-list" });
  const after = h("p", { class: "at-title" });
  const next = h("div", { class: "at-next" }, after, likely);
  const dark = [0, 1, 2, 3, 4].map((level) => s("rect", { x: level, width: 0.9, height: 1, class: "at-cell", "fill-opacity": level / 4 }));
  const scale = h(
    "p", { class: "at-scale" },
    h("span", {}, "weight 0 ", s("svg", { width: 60, height: 12, viewBox: "0 0 5 1", class: "at-dark", "aria-hidden": "true" }, dark), " 1"),
    h("span", {}, s("svg", { class: "at-swatch", viewBox: "0 0 12 12", "aria-hidden": "true" }, s("path", { class: "at-line", d: "M0 4L4 0M0 8L8 0M0 12L12 0M4 12L12 4M8 12L12 8" })), "later, not seen"),
  );
  const pickText = select({ label: "text", options: texts.map(({ tokens }, i) => ({ value: i, label: `“${tokens.map((one) => (one === " " ? " " : shown(one))).join("")}”` })), value: "0", onchange: (value) => ui.set({ text: Number(value), query: texts[value].tokens.length - 1, key: -1 }) });
  pickText.classList.add("at-pick");
  const told = h("p", { class: "at-told" });
  const rowTitle = h("p", { class: "at-title" });
  const weights = h("ol", { class: "at-weights" });
  const rowFacts = h("p", { class: "at-small" });
  const means = h("dl", { class: "at-lines" });
  const meansTitle = h("p", { class: "at-title" }, "This head, mean over the queries from 1 on");
  const body = h("tbody");
  const table = h(
    "div",
    { class: "at-scroll at-tall", tabindex: 0, role: "region", "aria-label": "Numbers of all heads" },
    h("table", { class: "at-table" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "mean over queries"), COLUMNS.map(([, label]) => h("th", { scope: "col" }, label)))), body),
  );
  const stage = h("div", { class: "at", role: "figure", "aria-label": "The text with its weights, and all heads" });

  let asked = false; // did somebody choose a key? Then the computation of its weight stays in sight
  const chained = () => asked && textNow().width > 0;
  let laid = null;
  /** Another text: its arcs, its heads and its table take the place of the others. */
  function lay() {
    const { view, overview, large, of } = scene();
    replace(
      stage,
      view.node,
      h("div", { class: "at-pair" }, h("div", { class: "at-scroll" }, overview), h("div", { class: "at-large" }, h("span", { class: "at-label", "aria-hidden": "true" }, h("span", { class: "at-asks" }, "queries ↓"), " ", h("span", { class: "at-found" }, "keys →")), large.node), h("div", { class: "at-aside" }, textNow().likely && next, scale)),
      textNow().width > 0 && steps.node,
    );
    replace(body, of.map((one, at) => h("tr", {}, h("th", { scope: "row" }, `layer ${Math.floor(at / heads)}, head ${at % heads}`), COLUMNS.map(([name]) => h("td", {}, two(one[name]))))));
  }

  function drawRow({ tokens, causal }, row, { query, key }) {
    const seen = causal ? query + 1 : tokens.length;
    const value = (i) => (causal && i > query ? "–" : row[i] ? two(row[i] / UNIT) : "0");
    const order = row.map((_, i) => i).filter((i) => row[i]).sort((a, b) => row[b] - row[a] || a - b);
    const name = (i) => `“${shown(tokens[i])}”`;
    scene().view.draw(row, { query, key }, `${query} ${name(query)}: ${order.slice(0, 3).map((i) => `${value(i)} to ${i} ${name(i)}`).join(", ")}`);
    const later = causal && key > query;
    replace(
      told,
      `Layer ${model.get("layer")}, head ${model.get("head")}: `,
      h("span", { class: "at-asks" }, name(query)),
      later ? " cannot attend to " : " attends to ",
      h("span", { class: "at-found" }, name(key)),
      ` ${away(query, key)}`,
      later ? ": masked." : chained() ? "." : [": ", h("b", {}, value(key)), " of its weight."], // the chain has the weight
    );
    rowTitle.textContent = `Query ${query} ${name(query)}: weight of each key`;
    replace(weights, tokens.map((token, i) => h("li", { class: [causal && i > query && "off", i === key && "on"].filter(Boolean).join(" ") }, h("span", {}, shown(token)), h("small", {}, value(i)))));
    rowFacts.textContent = `The row sums to ${two(row.reduce((a, b) => a + b, 0) / UNIT)} over ${seen} key${seen === 1 ? "" : "s"}; entropy ${two(entropy(row))} of at most ${two(Math.log2(seen))} bits.${causal ? " – is masked: later than the query." : ""}`;
  }

  function drawNumbers(of, at) {
    replace(
      means,
      [["previous", "to the previous token"], ["first", "to the first token"], ["itself", "to itself"]].map(([name, label]) => [h("dt", {}, label), h("dd", {}, two(of[at][name])), h("dd", { class: "at-meter", "aria-hidden": "true" }, h("i", { style: { width: `${(100 * of[at][name]).toFixed(1)}%` } }))]),
      h("dt", {}, "entropy of a row"),
      h("dd", {}, two(of[at].entropy)),
      h("dd", { style: { textAlign: "left" } }, "bits"),
    );
    const lines = [...body.children];
    lines.forEach((line, i) => line.classList.toggle("on", i === at));
    const { offsetTop, offsetHeight } = lines[at];
    if (offsetTop < table.scrollTop || offsetTop + offsetHeight > table.scrollTop + table.clientHeight) table.scrollTop = offsetTop - table.clientHeight / 2;
  }

  function drawNext({ tokens, likely: comes }, query) {
    replace(after, "model’s guess after ", h("span", { class: "at-asks" }, `“${shown(tokens[query])}”`));
    replace(likely, comes[query].slice(0, NEXT).map(([token, p]) => h("li", {}, h("span", { class: "at-guess" }, shown(token)), h("span", { class: "at-meter", "aria-hidden": "true" }, h("i", { style: { width: `${(100 * p).toFixed(1)}%` } })), h("span", { class: "at-chance" }, two(p)))));
  }

  function draw() {
    const text = textNow();
    const cell = cellNow();
    const { at, query, key } = cell;
    if (laid !== text) lay();
    laid = text;
    asked ||= model.get("key") >= 0;
    steps.node.hidden = !chained();
    const { of, overview, small, large, homes } = scene();
    small.forEach((one, i) => one.setAttribute("aria-selected", String(i === at)));
    overview.setAttribute("aria-activedescendant", small[at].id);
    pickText.update({ value: model.get("text") });
    ui.tell(note, ui.mark(Object.keys(SETUP.presets).filter((name) => homes[name].at === at && homes[name].query === query)));
    const row = text.all[at][query];
    large.draw(text.all[at], cell, `key ${key} “${shown(text.tokens[key])}” of query ${query} “${shown(text.tokens[query])}”: ${two(row[key] / UNIT)}`);
    drawRow(text, row, cell);
    if (text.width) steps.draw(text, cell);
    if (text.likely) drawNext(text, query);
    drawNumbers(of, at);
    ui.soon(() => describe(text, [layers, heads], state(), texts.length));
  }
  const queue = ui.follow(draw, NAMES);
  const part = (event) => event.target.closest(".at-bars [data-part]")?.dataset.part ?? scene().view.at(event) ?? scene().large.at(event);
  relations(stage, { at: part });

  ui.lay({
    stage,
    presets: chips,
    bar: texts.length > 1 && pickText,
    readout: told,
    drawer: [
      note,
      h("div", { class: "at-bar" }, copyButton("Copy as PyTorch", () => script(textNow().all, textNow().causal, [layers, heads], { ...state(), query: cellNow().query })), link),
      h("div", { class: "at-box" }, rowTitle, weights, rowFacts),
      h("div", { class: "at-all" }, h("div", { class: "at-box" }, meansTitle, means), h("div", { class: "at-box" }, table)),
    ],
  });
  draw();
  const watch = new ResizeObserver(queue);
  watch.observe(stage);
  ui.defer(() => watch.disconnect());
  return ui.cleanup;
}

export default { render };
