/** AutogradPlayground: an expression, its graph, its gradients; drag a value and all of them move. */

import { copyButton, field, h, replace, s, shell, slider, toolbar } from "../core/index.js";
import { aim, CANVAS, canvas } from "../autograd/canvas.js";
import { build, difference, KINDS, run, show as short, torchCode } from "./model.js";
import { notes } from "./notes.js";
import { parse } from "./parse.js";
import SETUP from "./setup.json";

const STYLE = `${CANVAS}
.tbpg .tbgraph{height:21rem}
.tbpg .tbviz-field.tbpg-wide{flex:1 1 16rem}
.tbpg .tbpg-wide input{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:1.05em;width:100%}
.tbpg-where{white-space:pre;overflow-x:auto;color:var(--tb-bad);font-size:max(12px,.95em);line-height:1.2;padding:.1rem .6rem!important}
.tbgraph-node .tbpg-value{fill:var(--tb-accent);font-size:12.5px}
.tbgraph-node .tbpg-grad{fill:var(--tb-warm);font-size:12.5px}
.tbpg-leaf .tbgraph-box{fill:var(--tb-good-soft)}
.tbpg-odd .tbgraph-box{stroke:var(--tb-bad);stroke-width:2.6;stroke-dasharray:6 3}
.tbpg .tbgraph-node[aria-pressed=true] .tbgraph-box{stroke:var(--tb-accent);stroke-width:3.2}
.tbpg-edge{stroke-width:2}
.tbpg-rows{display:grid;gap:.35rem}
.tbpg-row{display:grid;grid-template-columns:minmax(12rem,1.5fr) minmax(5.2rem,auto) repeat(3,minmax(5.4rem,1fr));gap:.3rem .9rem;align-items:center;border-bottom:1px solid var(--tb-line);padding-bottom:.3rem}
.tbpg-row>span{font-variant-numeric:tabular-nums;min-width:0;overflow-wrap:anywhere}
.tbpg-row small{display:block;color:var(--tb-muted);font-size:max(12px,.8em)}
.tbpg-row .tbviz-slider{grid-template-columns:auto minmax(5rem,1fr)}
.tbpg-row .tbviz-slider>output{display:none}
.tbpg-row .tbviz-slider>label{font-family:ui-monospace,Menlo,Consolas,monospace;font-weight:600}
.tbpg-row input[type=number]{width:6.4rem}
.tbpg-grad-cell{color:var(--tb-warm);font-weight:600}
@container (max-width:480px){.tbpg-row:not(:first-child) small{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}}
@container (max-width:620px){.tbpg-row{grid-template-columns:minmax(0,1fr) auto}.tbpg-row .tbpg-cells{grid-column:1/-1}}
.tbpg-cells{display:contents}
@container (max-width:620px){.tbpg-cells{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:.4rem;grid-column:1/-1}}
.tbpg-notes{margin:0;padding-left:1.2rem}
.tbpg-notes li{margin:.15rem 0}
.tbpg-detail{background:var(--tb-fill);border-radius:8px;padding:.45rem .7rem}
.tbpg-key{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;font-size:max(12px,.86em);color:var(--tb-muted)}
.tbpg-key b{font-weight:600}
.tbpg-key .v{color:var(--tb-accent)}.tbpg-key .g{color:var(--tb-warm)}
.tbviz .tbpg-code{display:block;background:var(--tb-fill);border:1px solid var(--tb-line);border-radius:6px;padding:.4rem .6rem;overflow:auto;white-space:pre;line-height:1.4;margin-top:.4rem}
.tbpg details summary{cursor:pointer;min-height:1.6rem}
`;

const REACH = 10;

function render({ model, el }) {
  const ui = shell({ model, el, contract: SETUP, kind: "playground" });
  ui.css(STYLE);
  ui.root.classList.add("tbpg");
  let graph;
  let drawn = "";
  let picture;
  let across;

  const typed = field({ label: "Expression", value: model.get("expression"), oninput: type });
  typed.classList.add("tbpg-wide");
  const where = h("code", { class: "tbpg-where", hidden: true, "aria-hidden": "true" });
  const choose = (name) => apply(SETUP.presets[name].set);
  const chips = ui.chips(choose);
  Object.values(SETUP.presets).forEach(({ note }, i) => (chips[i].title = note));
  const presets = toolbar("Presets", chips);
  const link = ui.link({ choose, start: apply, accepts: Boolean, get: () => ({ expression: model.get("expression"), values: model.get("values") }) });
  const code = h("code", { class: "tbpg-code", tabindex: "0", role: "group", "aria-label": "The same as PyTorch code" });
  const rows = h("div", { class: "tbpg-rows" });
  const told = h("ul", { class: "tbpg-notes" });
  const detail = h("p", { class: "tbpg-detail", hidden: true });
  const spot = h("div", {});
  ui.lay({
    stage: spot,
    bar: [typed, where, rows],
    readout: [ui.words, detail],
    drawer: [
      presets,
      h("div", { class: "tbpg-key" }, h("span", {}, h("b", { class: "v" }, "= 6"), " value, computed forward (down or to the right)"),
      h("span", {}, h("b", { class: "g" }, "∇ 3"), " gradient of the result, computed backward"), h("span", {}, "arrows and their numbers: the gradient an operation sends to each input")),
      told,
      code,
      h("div", { class: "tbviz-controls" }, copyButton("Copy as PyTorch", () => torchCode(model.get("expression"), model.get("values"))), link),
    ],
  });

  /** Reads what was typed; an expression that cannot be read leaves the figure as it was, and says where it is wrong. */
  function type(text) {
    try {
      const made = build(parse(text));
      const values = { ...model.get("values") };
      for (const name of made.names) values[name] ??= 1;
      wrong("");
      ui.set({ values, expression: text, selected: -1 });
    } catch (error) {
      if (error.name !== "ParseError") throw error;
      wrong(text, error);
    }
  }

  function wrong(text, error) {
    typed.update({ error: error ? `Character ${error.at + 1}: ${error.message}.` : "" });
    where.hidden = !error || !text;
    if (error) where.textContent = `${text}\n${" ".repeat(error.at)}▲`;
  }

  function apply({ expression, values }) {
    if (typeof expression !== "string") return;
    const numbers = Object.fromEntries(Object.entries(values ?? {}).filter(([, x]) => Number.isFinite(x)));
    typed.update({ value: expression });
    ui.set({ values: { ...model.get("values"), ...numbers } });
    type(expression);
  }

  const change = (name, value) => {
    if (Number.isFinite(value) && value !== model.get("values")[name]) ui.set({ values: { ...model.get("values"), [name]: value } });
  };

  // The graph is drawn anew when the expression changes; a dragged value only changes numbers

  function draw() {
    graph = build(parse(model.get("expression")));
    across = (ui.root.clientWidth || 700) > 620;
    drawn = model.get("expression");
    picture?.el.remove();
    const edges = graph.nodes.flatMap((node, to) => node.inputs.map((from, input) => ({ from, to, input })));
    picture = canvas({
      label: "Graph of the expression", defer: ui.defer, across, far: across ? 70 : 44, near: 16, edges,
      boxes: graph.nodes.map(box),
      onselect: (i) => ui.set({ selected: model.get("selected") === i ? -1 : i }),
    });
    picture.all = edges;
    for (const part of picture.edges) {
      part.path.classList.add("tbpg-edge");
      aim(part, true);
    }
    spot.append(picture.el);
    inputs();
  }

  let cells = {};
  function inputs() {
    cells = {};
    replace(rows, graph.names.map((name) => {
      const drag = slider({ label: name, min: -REACH, max: REACH, step: 0.1, value: 0, oninput: (x) => change(name, x), format: short });
      const exact = h("input", { type: "number", step: "any", "aria-label": `${name}, exact value`, oninput: () => exact.value !== "" && change(name, Number(exact.value)) });
      const cell = (label, cls) => { const value = h("span", {}); return { value, el: h("span", { class: cls }, h("small", {}, label), value) }; };
      const three = [cell(`gradient d/d${name}`, "tbpg-grad-cell"), cell("finite difference"), cell("they differ by")];
      cells[name] = { drag, exact, three };
      return h("div", { class: "tbpg-row" }, drag, exact, h("div", { class: "tbpg-cells" }, three.map((one) => one.el)));
    }));
  }

  function show() {
    const expression = model.get("expression");
    if (expression !== drawn) draw();
    if (typed.input.value !== expression && document.activeElement !== typed.input) { typed.update({ value: expression }); wrong(""); }
    const values = model.get("values");
    const done = run(graph, values);
    const chosen = model.get("selected");
    graph.nodes.forEach((node, i) => {
      const group = picture.nodes[i];
      const [value, grad] = [short(done.values[i]), short(done.grads[i])];
      group.parts.value.textContent = `= ${value}`;
      group.parts.grad.textContent = `∇ ${grad}`;
      const odd = !Number.isFinite(done.values[i]) || !Number.isFinite(done.grads[i]);
      group.setAttribute("class", `tbgraph-node ${node.kind === "leaf" ? "tbpg-leaf" : ""} ${odd ? "tbpg-odd" : ""}`);
      group.setAttribute("aria-pressed", String(i === chosen));
      group.setAttribute("aria-label", `${node.kind === "leaf" ? "variable " : ""}${node.title}, value ${value}, gradient ${grad}`);
    });
    picture.all.forEach(({ to, input }, i) => (picture.edges[i].text.textContent = short(done.edges[to][input])));
    for (const name of graph.names) {
      const { drag, exact, three } = cells[name];
      const x = values[name];
      const reach = Math.max(REACH, 2 ** Math.ceil(Math.log2(Math.abs(x) || 1)));
      drag.update({ min: -reach, max: reach, step: reach / 100, value: x });
      if (document.activeElement !== exact) exact.value = String(Number(x.toPrecision(12)));
      const slope = done.grads[graph.nodes.findIndex((node) => node.name === name)];
      const other = difference(graph, values, name);
      three[0].value.textContent = short(slope);
      three[1].value.textContent = short(other);
      three[2].value.textContent = Number.isFinite(slope - other) ? short(Math.abs(slope - other)) : "–";
    }
    replace(told, notes(graph, done, values).map((text) => h("li", {}, text)));
    describe(chosen, done);
    code.textContent = torchCode(expression, values);
    const gradients = graph.names.map((name) => `d/d${name} = ${short(done.grads[graph.nodes.findIndex((node) => node.name === name)])}`);
    ui.say(`${expression} at ${graph.names.map((name) => `${name} = ${short(values[name])}`).join(", ")} is ${short(done.values[graph.root])}; its gradients are ${gradients.join(", ")}.`);
  }

  function describe(i, done) {
    const node = graph.nodes[i];
    detail.hidden = !node;
    if (!node) return;
    const uses = picture.all.map((edge, at) => ({ ...edge, at })).filter((edge) => edge.from === i);
    const sum = uses.length > 1 ? ` (the sum of ${uses.map((edge) => short(done.edges[edge.to][edge.input])).join(" + ")})` : "";
    if (node.kind === "leaf") {
      replace(detail, `${node.name}: a leaf. AccumulateGrad puts ${short(done.grads[i])}${sum} into ${node.name}.grad.`);
      return;
    }
    const { node: name, says } = KINDS[node.kind];
    const sent = node.inputs.map((to, j) => `to ${graph.nodes[to].title}: ${short(done.grads[i])} · (${says[j]}) = ${short(done.edges[i][j])}`);
    replace(detail, h("b", {}, name), `: receives ${short(done.grads[i])}${sum} and sends, by its own derivative, ${sent.join("; ")}.`);
  }

  show();
  for (const trait of ["expression", "values", "selected"]) ui.on(trait, show);
  const turn = new ResizeObserver(() => { if ((ui.root.clientWidth > 620) !== across && ui.root.clientWidth) { drawn = ""; show(); } });
  turn.observe(ui.root);
  ui.defer(() => turn.disconnect());
  return ui.cleanup;
}

function box(node) {
  return {
    width: Math.max(88, node.title.length * 9 + 26), height: 58,
    draw(group, { width: w, height: t }) {
      const value = s("text", { class: "tbpg-value", y: 5 });
      const grad = s("text", { class: "tbpg-grad", y: 21 });
      group.append(s("rect", { class: "tbgraph-box", x: -w / 2, y: -t / 2, width: w, height: t, rx: node.kind === "leaf" ? t / 2 : 7 }));
      group.append(s("text", { y: -12, "font-weight": 600 }, node.title), value, grad);
      group.parts = { value, grad };
    },
  };
}

export default { render };
