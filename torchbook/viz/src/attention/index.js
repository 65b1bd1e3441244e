/** AttentionExplorer: all heads small, one large, one query in numbers. */

import { copyButton, h, replace, s, shell, toolbar, uid } from "../core/index.js";
import { entropy, find, isState, LEVELS, numbers, paths, UNIT, unpacked } from "./model.js";
import SETUP from "./setup.json";
import { CSS } from "./style.js";
import { describe, script, shown, two } from "./words.js";

const NAMES = ["layer", "head", "query"];
const COLUMNS = [["entropy", "entropy, bits"], ["previous", "previous"], ["first", "first"], ["itself", "itself"]];

const cells = (rows) => paths(rows).map(([level, d]) => s("path", { d, class: "at-cell", "fill-opacity": level / LEVELS }));
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
  const homes = Object.fromEntries(Object.keys(SETUP.presets).map((name) => [name, find(all, name)]));
  const triangle = `M1 0${"v1h1".repeat(size - 1)}V0z`;
  let focus = null;

  const choose = (name) => go(homes[name]);
  const link = ui.link({ choose, start: ui.set, accepts: (value) => isState(value, { layers, heads, size }), get: state });
  const chips = ui.chips(choose);
  const note = h("p", { class: "at-note", role: "status" });

  // All heads, small
  const small = all.map((rows, at) => {
    const hatch = uid("at-hatch");
    const [layer, head] = [Math.floor(at / heads), at % heads];
    const told = COLUMNS.map(([name, label]) => `${label} ${two(of[at][name])}`).join("; ");
    return h(
      "button",
      { type: "button", class: "at-head", "aria-label": `layer ${layer}, head ${head}; ${told}`, onclick: () => go(at) },
      s("svg", { viewBox: `0 0 ${size} ${size}`, "aria-hidden": "true" }, causal && masked(hatch, size / 36), cells(rows), s("rect", { width: size, height: size, class: "at-edge" })),
      `${layer}.${head}`,
    );
  });
  const overview = h("div", { class: "at-heads", role: "toolbar", "aria-label": "Heads", style: { gridTemplateColumns: `repeat(${heads}, minmax(2.4rem, 5.4rem))` } }, small);
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
    focus = overview;
    ui.set({ layer: clamp(to[0], layers), head: clamp(to[1], heads) });
    queue();
  });

  function masked(id, unit) {
    const step = 5 * unit;
    return [
      s("defs", {}, s("pattern", { id, width: step, height: step, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, s("path", { d: `M0 0v${step}`, class: "at-line", style: { strokeWidth: 0.7 * unit } }))),
      s("path", { d: triangle, fill: `url(#${id})` }),
    ];
  }

  // One head, large
  const unit = Math.min(24, 300 / size);
  const [left, top] = [72, 20];
  const map = s("svg", { class: "at-svg", role: "img", viewBox: `0 0 ${left + size * unit + 4} ${top + size * unit + 4}`, style: { maxWidth: `${left + size * unit + 4}px` } });
  map.addEventListener("click", (event) => {
    const box = map.getBoundingClientRect();
    const y = ((event.clientY - box.top) / box.height) * (top + size * unit + 4) - top;
    if (y >= 0) ui.set({ query: clamp(Math.floor(y / unit), size) });
  });
  const swatch = (...inside) => s("svg", { width: 16, height: 12, "aria-hidden": "true", viewBox: "0 0 16 12" }, inside, s("rect", { x: 0.5, y: 0.5, width: 15, height: 11, class: "at-edge" }));
  const hatchKey = uid("at-hatch");
  const key = h(
    "div",
    { class: "at-key" },
    [1, 0.25, 0.05].map((x) => h("span", {}, swatch(s("rect", { width: 16, height: 12, class: "at-cell", "fill-opacity": Math.round(LEVELS * Math.sqrt(x)) / LEVELS })), two(x))),
    causal &&
      h(
        "span",
        {},
        swatch(
          s("defs", {}, s("pattern", { id: hatchKey, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, s("path", { d: "M0 0v5", class: "at-line" }))),
          s("rect", { width: 16, height: 12, fill: `url(#${hatchKey})` }),
        ),
        "masked: later than the query",
      ),
  );
  const mapTitle = h("p", { class: "at-title" });
  const hatchMap = uid("at-hatch");
  const every = Math.ceil(12 / unit);

  // One query
  const rowTitle = h("p", { class: "at-title" });
  const strip = h("div", { class: "at-strip", role: "toolbar", "aria-label": "Query" });
  const rowFacts = h("p", { class: "at-small" });
  strip.addEventListener("keydown", (event) => {
    const at = model.get("query");
    const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: size - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    focus = strip;
    ui.set({ query: clamp(to, size) });
    queue();
  });
  const means = h("dl", { class: "at-lines" });
  const meansTitle = h("p", { class: "at-title" });

  const lines = all.map((_, at) => h("tr", {}, h("th", { scope: "row" }, `layer ${Math.floor(at / heads)}, head ${at % heads}`), COLUMNS.map(([name]) => h("td", {}, two(of[at][name])))));
  const table = h(
    "div",
    { class: "at-scroll at-tall", tabindex: 0, role: "region", "aria-label": "Numbers of all heads" },
    h("table", { class: "at-table" }, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "mean over queries"), COLUMNS.map(([, label]) => h("th", { scope: "col" }, label)))), h("tbody", {}, lines)),
  );

  function drawMap(rows, { layer, head, query }) {
    map.setAttribute("aria-label", `Weights of layer ${layer}, head ${head}, queries down, keys across; the words below give the row of query ${query}`);
    replace(
      map,
      s("text", { x: left, y: 12, class: "at-axis" }, "keys →"),
      s("text", { x: left - 6, y: 12, class: "at-axis", "text-anchor": "end" }, "queries ↓"),
      s("g", { transform: `translate(${left} ${top}) scale(${unit})` }, causal && masked(hatchMap, 1.2 / unit), cells(rows), s("rect", { width: size, height: size, class: "at-edge" }), s("rect", { y: query, width: size, height: 1, class: "at-row" })),
      tokens.map((token, i) => (i === query || (i % every === 0 && Math.abs(i - query) >= every)) && s("text", { x: left - 6, y: top + (i + 0.5) * unit + 4, "text-anchor": "end", class: i === query ? "on" : null }, `${i} ${shown(token).slice(0, 7)}`)),
    );
  }

  function drawRow(row, query) {
    const most = Math.max(...row);
    replace(
      strip,
      tokens.map((token, i) => {
        const off = causal && i > query;
        const value = off ? "–" : row[i] ? two(row[i] / UNIT) : "0";
        return h(
          "button",
          {
            type: "button",
            class: `at-token${off ? " off" : ""}`,
            tabindex: i === query ? 0 : -1,
            "aria-pressed": String(i === query),
            "aria-label": `token ${i} ${shown(token)}, ${off ? "masked" : `weight ${value}`}`,
            onclick: () => {
              focus = strip;
              ui.set({ query: i });
            },
          },
          shown(token),
          h("span", { class: "at-track", "aria-hidden": "true" }, h("i", { style: { height: `${((100 * row[i]) / most).toFixed(1)}%` } })),
          h("small", {}, value),
        );
      }),
    );
    const seen = causal ? query + 1 : size;
    rowFacts.textContent = `The row sums to ${two(row.reduce((a, b) => a + b, 0) / UNIT)} over ${seen} key${seen === 1 ? "" : "s"}; entropy ${two(entropy(row))} of at most ${two(Math.log2(seen))} bits. A full bar is the row's largest weight.`;
  }

  function draw() {
    const now = state();
    const at = here();
    small.forEach((one, i) => {
      one.setAttribute("aria-pressed", String(i === at));
      one.tabIndex = i === at ? 0 : -1;
    });
    ui.tell(note, ui.mark(Object.keys(SETUP.presets).filter((name) => homes[name] === at)));
    mapTitle.textContent = `Layer ${now.layer}, head ${now.head}`;
    drawMap(all[at], now);
    rowTitle.textContent = `Query ${now.query} “${shown(tokens[now.query])}”: weight of each key`;
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
    focus?.querySelector("[aria-pressed='true']")?.focus();
    focus = null;
    ui.soon(() => describe(tokens, all, causal, [layers, heads], now));
  }
  const queue = ui.follow(draw, NAMES);

  ui.lay({
    stage: h("div", { class: "at at-main" }, h("div", { class: "at-box" }, mapTitle, map, key), h("div", { class: "at-box" }, rowTitle, strip)),
    readout: rowFacts,
    drawer: [
      note,
      h("div", { class: "at-chips" }, h("p", { class: "at-title" }, "Go to the head with the most weight on …, or the extreme of entropy"), toolbar("Presets", chips)),
      h("div", { class: "at-bar" }, copyButton("Copy as PyTorch", () => script(all, causal, [layers, heads], state())), link),
      h("div", { class: "at-all" }, h("div", { class: "at-box" }, h("p", { class: "at-title" }, "All heads, layer.head: layers down, heads across"), h("div", { class: "at-scroll" }, overview)), h("div", { class: "at-box" }, table)),
      h("div", { class: "at-box" }, meansTitle, means),
    ],
  });
  draw();
  return ui.cleanup;
}

export default { render };
