/** AutogradPlayground: an expression, its graph, its gradients; drag a value and all of them move. */

import { copyButton, field, h, replace, s, shell, sideways, slider } from "../core/index.js";
import { aim, CANVAS, canvas, READABLE } from "../autograd/canvas.js";
import { fitting } from "../autograd/layout.js";
import { build, difference, KINDS, run, show as short, torchCode } from "./model.js";
import { notes } from "./notes.js";
import { parse } from "./parse.js";
import SETUP from "./setup.json";

const STYLE = `${CANVAS}
.tbpg-spot{height:22rem}
.tbpg .tbgraph{height:100%}
.tbpg .tbviz-bar{align-items:flex-end}
.tbpg .tbviz-field.tbpg-wide{flex:1 1 16rem}
.tbpg .tbpg-wide input{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:1.05em;width:100%}
.tbpg-said{height:3em;overflow:auto}
@container (max-width:560px){.tbpg-spot{height:24rem}.tbpg-said{height:5.6em}}
.tbpg-where{display:block;white-space:pre;overflow-x:auto;color:var(--tb-bad);font-size:max(12px,.95em);line-height:1.2}
.tbpg-value{color:var(--tb-accent);font-weight:600}
.tbpg-grad{color:var(--tb-warm);font-weight:600}
.tbgraph-node .tbpg-v{fill:var(--tb-accent)}
.tbgraph-node .tbpg-g{fill:var(--tb-warm)}
.tbpg .tbpg-leaf{touch-action:pan-y}
.tbpg-leaf .tbgraph-box{fill:var(--tb-accent-soft);stroke:var(--tb-accent)}
.tbpg-odd .tbgraph-box{stroke:var(--tb-bad);stroke-width:2.6;stroke-dasharray:6 3}
.tbpg .tbgraph-node[aria-pressed=true] .tbgraph-box{stroke-width:3.2}
.tbpg-edge{stroke-width:2;stroke:var(--tb-warm)}
.tbpg .tbgraph-tip{fill:var(--tb-warm)}
.tbpg-tight .tbgraph-label{display:none}
.tbpg-rows{display:grid;gap:.35rem}
.tbpg-row{display:grid;grid-template-columns:minmax(12rem,1.5fr) minmax(5.2rem,auto) repeat(3,minmax(5.4rem,1fr));gap:.3rem .9rem;align-items:center;border-bottom:1px solid var(--tb-line);padding-bottom:.3rem}
.tbpg-row>span{font-variant-numeric:tabular-nums;min-width:0;overflow-wrap:anywhere}
.tbpg-row small{display:block;color:var(--tb-muted);font-size:max(12px,.8em)}
.tbpg-row .tbviz-slider{grid-template-columns:auto minmax(5rem,1fr)}
.tbpg-row .tbviz-slider>output{display:none}
.tbpg-row .tbviz-slider>label{font-family:ui-monospace,Menlo,Consolas,monospace;font-weight:600}
.tbpg-row .tbviz-field>input{width:6.4rem}
.tbpg-grad-cell{color:var(--tb-warm);font-weight:600}
@container (max-width:480px){.tbpg-row:not(:first-child) small{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}}
@container (max-width:620px){.tbpg-row{grid-template-columns:minmax(0,1fr) auto}.tbpg-row .tbpg-cells{grid-column:1/-1}}
.tbpg-cells{display:contents}
@container (max-width:620px){.tbpg-cells{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:.4rem;grid-column:1/-1}}
.tbviz .tbpg-legend{display:flex;flex-wrap:wrap;gap:.1rem 1.1rem;font-size:max(12px,.84em);color:var(--tb-muted);margin-top:.25rem;line-height:1.2}
@container (min-width:521px){.tbviz [role=toolbar][aria-label=Presets]::before{content:"or:";align-self:center;font-size:max(12px,.86em);color:var(--tb-muted)}}
.tbpg-legend b{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.tbpg-tight+.tbpg-legend>:last-child{visibility:hidden}
.tbpg-notes{margin:0;padding-left:1.2rem}
.tbpg-notes li{margin:.15rem 0}
.tbpg-key{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;font-size:max(12px,.86em);color:var(--tb-muted)}
.tbviz .tbpg-code{display:block;background:var(--tb-fill);border:1px solid var(--tb-line);border-radius:6px;padding:.4rem .6rem;overflow:auto;white-space:pre;line-height:1.4;margin-top:.4rem}
`;

const BROAD = 620; // of the figure: from here on the graph runs from left to right
// Ways to lay the graph out, the best first; in a tight one the numbers beside the edges are left out.
const ACROSS = [{ across: true, near: 14, far: 62 }, { across: false, near: 14, far: 34 }, { across: true, near: 8, far: 24, tight: true }];
const DOWN = [{ across: false, near: 8, far: 38 }, { across: false, near: 6, far: 14, tight: true }];
const REACH = 10;
const TURNS = { ArrowLeft: -1, ArrowRight: 1 };
const PULL = 5; // pixels of a drag for one grain

/** By how much a value changes at once: a tenth, and more where it is large. */
const grain = (x) => 10 ** Math.max(-1, Math.floor(Math.log10(Math.abs(x) || 1)) - 1);
const near = (x) => Number(x.toPrecision(12));

/** A box whose number follows a drag to the left or to the right. */
function pull(group, get, put) {
  let held;
  group.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    event.stopPropagation(); // the canvas stays
    const x = get();
    held = { id: event.pointerId, from: event.clientX, x, size: grain(x), far: false };
  });
  group.addEventListener("pointermove", (event) => {
    if (held?.id !== event.pointerId) return;
    const by = event.clientX - held.from;
    if (!held.far && Math.abs(by) < 4) return;
    if (!held.far) group.setPointerCapture(event.pointerId);
    held.far = true;
    put(near(held.x + Math.round(by / PULL) * held.size));
  });
  for (const end of ["pointerup", "pointercancel"]) group.addEventListener(end, () => { if (held) held.id = -1; });
  group.addEventListener("click", (event) => { if (held?.far) event.stopImmediatePropagation(); held = undefined; }, { capture: true });
}

function render({ model, el }) {
  const ui = shell({ model, el, contract: SETUP, kind: "playground" });
  ui.css(STYLE);
  ui.root.classList.add("tbpg");
  let graph;
  let drawn = "";
  let picture;
  let broad;
  let wide; // what it was drawn for

  const typed = field({ label: "Expression", value: model.get("expression"), oninput: type });
  typed.classList.add("tbpg-wide");
  const where = h("code", { class: "tbpg-where", hidden: true, "aria-hidden": "true" });
  const choose = (name) => apply(SETUP.presets[name].set);
  const chips = ui.chips(choose);
  Object.values(SETUP.presets).forEach(({ note }, i) => (chips[i].title = note));
  const presetNow = () =>
    Object.keys(SETUP.presets).find((name) => {
      const { expression, values } = SETUP.presets[name].set;
      return expression === model.get("expression") && Object.entries(values).every(([key, x]) => model.get("values")[key] === x);
    });
  const link = ui.link({ choose, start: apply, accepts: Boolean, get: () => ({ expression: model.get("expression"), values: model.get("values") }) });
  const code = h("code", { class: "tbpg-code", tabindex: "0", role: "group", "aria-label": "The same as PyTorch code" });
  const rows = h("div", { class: "tbpg-rows" });
  const told = h("ul", { class: "tbpg-notes" });
  const detail = h("p", { class: "tbpg-detail" });
  const spot = h("div", { class: "tbpg-spot" });
  ui.lay({
    stage: [spot, legend()],
    presets: chips,
    bar: typed,
    readout: h("div", { class: "tbpg-said", tabindex: "0", role: "group", "aria-label": "What is seen" }, typed.querySelector(".tbviz-error"), where, detail),
    drawer: [
      rows,
      h("div", { class: "tbpg-key" }, h("span", {}, h("b", { class: "tbpg-value" }, "6"), " value, computed forward (down or to the right)"),
      h("span", {}, h("b", { class: "tbpg-grad" }, "∇ 3"), " gradient of the result, computed backward"), h("span", {}, "arrows and their numbers: the gradient an operation sends to each input")),
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
    detail.hidden = Boolean(error);
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

  const names = () => graph.nodes.map((node, i) => (node.kind === "leaf" ? node.name : `${node.title} ${graph.nodes.slice(0, i).filter((one) => one.title === node.title).length}`));

  function draw() {
    const before = picture ? new Map(picture.spots().map((at, i) => [picture.names[i], at])) : new Map();
    graph = build(parse(model.get("expression")));
    broad = (ui.root.clientWidth || 700) > BROAD;
    drawn = model.get("expression");
    picture?.remove();
    const edges = graph.nodes.flatMap((node, to) => node.inputs.map((from, input) => ({ from, to, input })));
    const boxes = graph.nodes.map((node, i) => box(node, broad, i === graph.root));
    wide = spot.clientWidth;
    const room = { width: wide || 700, height: spot.clientHeight || 350 };
    const { across, placed, tight } = fitting(boxes, edges, broad ? ACROSS : DOWN, room, READABLE);
    picture = canvas({
      label: "Graph of the expression", defer: ui.defer, across, placed, edges, boxes,
      onselect: (i) => ui.set({ selected: model.get("selected") === i ? -1 : i }),
      onkey,
    });
    picture.all = edges;
    picture.names = names();
    spot.classList.toggle("tbpg-tight", Boolean(tight));
    for (const part of picture.edges) {
      part.path.classList.add("tbpg-edge");
      aim(part, true);
    }
    graph.nodes.forEach((node, i) => { if (node.kind === "leaf") pull(picture.nodes[i], () => model.get("values")[node.name], (x) => change(node.name, x)); });
    spot.append(picture.el);
    picture.start(picture.names.map((name) => before.get(name)));
    inputs();
  }

  /** Shift and an arrow change a variable by a grain; true where that was the key. */
  function onkey(event, i) {
    const { kind, name } = graph.nodes[i];
    const by = TURNS[event.key];
    if (kind !== "leaf" || !event.shiftKey || !by) return false;
    const x = model.get("values")[name];
    change(name, near(x + by * grain(x)));
    return true;
  }

  let cells = {};
  function inputs() {
    cells = {};
    replace(rows, graph.names.map((name) => {
      const drag = slider({ label: name, min: -REACH, max: REACH, step: 0.1, value: 0, oninput: (x) => change(name, x), format: short });
      const exact = field({
        label: "value",
        value: "",
        oninput(text) {
          const x = text.trim() ? Number(text.replace("−", "-")) : NaN;
          exact.update({ error: Number.isFinite(x) ? "" : "a number, such as −0.5" });
          change(name, x);
        },
      });
      exact.input.inputMode = "decimal";
      exact.input.setAttribute("aria-label", `${name}, exact value`);
      exact.input.addEventListener("blur", show);
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
      group.parts.value.textContent = value;
      group.parts.grad.textContent = `∇ ${grad}`;
      const odd = !Number.isFinite(done.values[i]) || !Number.isFinite(done.grads[i]);
      group.setAttribute("class", `tbgraph-node ${node.kind === "leaf" ? "tbpg-leaf tbviz-grip tbviz-across" : ""} ${odd ? "tbpg-odd" : ""}`);
      group.refuse(odd && node.kind !== "leaf");
      group.setAttribute("aria-pressed", String(i === chosen));
      group.setAttribute("aria-label", `${node.kind === "leaf" ? "variable " : ""}${node.title}, value ${value}, gradient ${grad}`);
    });
    picture.all.forEach(({ to, input }, i) => (picture.edges[i].text.textContent = short(done.edges[to][input])));
    for (const name of graph.names) {
      const { drag, exact, three } = cells[name];
      const x = values[name];
      const reach = Math.max(REACH, 2 ** Math.ceil(Math.log2(Math.abs(x) || 1)));
      drag.update({ min: -reach, max: reach, step: reach / 100, value: x });
      if (exact.getRootNode().activeElement !== exact.input) exact.update({ value: String(Number(x.toPrecision(12))), error: "" });
      const slope = done.grads[graph.nodes.findIndex((node) => node.name === name)];
      const other = difference(graph, values, name);
      three[0].value.textContent = short(slope);
      three[1].value.textContent = short(other);
      three[2].value.textContent = Number.isFinite(slope - other) ? short(Math.abs(slope - other)) : "–";
    }
    const seen = notes(graph, done, values);
    replace(told, seen.map((text) => h("li", {}, text)));
    if (graph.nodes[chosen]) describe(chosen, done);
    else replace(detail, seen[0]);
    code.textContent = torchCode(expression, values);
    const gradients = graph.names.map((name) => `d/d${name} = ${short(done.grads[graph.nodes.findIndex((node) => node.name === name)])}`);
    ui.mark(presetNow());
    ui.say(`${expression} at ${graph.names.map((name) => `${name} = ${short(values[name])}`).join(", ")} is ${short(done.values[graph.root])}; its gradients are ${gradients.join(", ")}.`);
  }

  /** What the chosen node receives and sends. */
  function describe(i, done) {
    const node = graph.nodes[i];
    const grad = (x) => h("span", { class: "tbpg-grad" }, short(x));
    const uses = picture.all.filter((edge) => edge.from === i);
    const sum = uses.length > 1 ? [" (the sum of ", uses.flatMap((edge, k) => [k ? " + " : "", grad(done.edges[edge.to][edge.input])]), ")"] : "";
    if (node.kind === "leaf") {
      replace(detail, `${node.name}: a leaf. AccumulateGrad puts `, grad(done.grads[i]), sum, ` into ${node.name}.grad.`);
      return;
    }
    const { node: name, says } = KINDS[node.kind];
    const sent = node.inputs.map((to, j) => [j ? "; " : "", `to ${graph.nodes[to].title}: `, grad(done.grads[i]), ` · (${says[j]}) = `, grad(done.edges[i][j])]);
    replace(detail, h("b", {}, name), ": receives ", grad(done.grads[i]), sum, " and sends, by its own derivative, ", sent, ".");
  }

  show();
  for (const trait of ["expression", "values", "selected"]) ui.on(trait, show);
  const watch = new ResizeObserver(() => {
    if (!spot.clientWidth || spot.clientWidth === wide) return;
    drawn = ""; // another way may fit now
    show();
  });
  watch.observe(ui.root);
  ui.defer(() => watch.disconnect());
  return ui.cleanup;
}

/** What the numbers in the boxes and on the arrows are. */
function legend() {
  const named = (kind, sign, name) => h("span", {}, h("b", { class: `tbpg-${kind}` }, sign), ` ${name}`);
  return h("p", { class: "tbpg-legend" }, named("value", "2", "value"), named("grad", "∇", "gradient of the result"), named("grad", "3", "sent along the arrow"));
}

/** A box with what it computes, its value and its gradient; a variable shows that it can be pulled. */
function box(node, broad, result) {
  const leaf = node.kind === "leaf";
  const title = result && !leaf ? `${node.title} result` : node.title;
  return {
    width: Math.max(broad ? 92 : 80, title.length * 8 + 22), height: 54,
    draw(group, { width: w, height: t }) {
      const value = s("text", { class: "tbpg-v", y: 5 });
      const grad = s("text", { class: "tbpg-g", y: 21 });
      group.append(s("rect", { class: "tbgraph-box", x: -w / 2, y: -t / 2, width: w, height: t, rx: leaf ? t / 2 : 7 }));
      if (leaf) group.append(sideways(w / 2 - 11, 0, -7));
      group.append(s("text", { y: -12, "font-weight": 600 }, title), value, grad);
      return { value, grad };
    },
  };
}

export default { render };
