/** AutogradExplorer: a recorded graph, stepped forward and backward. */

import { button, copyButton, h, replace, s, select, shell, slider, toolbar } from "../core/index.js";
import { aim, canvas } from "./canvas.js";
import { details } from "./details.js";
import { brief, called, opening, plain, sentence, stateAt, timeline, tiny, told, tuple } from "./model.js";
import SETUP from "./setup.json";
import { STYLE } from "./style.js";
import { written } from "./written.js";

const TRAITS = ["scenario", "target", "step", "selected"];
const PACE = 900; // milliseconds between steps when it plays
const SHORT = 3; // letters of a number that stays at its arrow
const LETTER = 7.9; // the width of a letter in a box
const NARROW = 480; // of the picture: boxes are smaller, and details lie below, not beside

function render({ model, el }) {
  const data = { graphs: model.get("graphs"), tensors: model.get("tensors"), scenarios: model.get("scenarios") };
  const ui = shell({ model, el, contract: SETUP, kind: "autograd" });
  ui.css(STYLE);
  let line;
  let picture;
  let drawn = "";
  let was = -1; // the step that is drawn
  let timer = 0;

  // Controls

  const which = select({
    label: "What to run",
    options: data.scenarios.map(({ key, label, why }) => ({ value: key, label: why ? `${label} (did not run)` : label })),
    value: model.get("scenario"),
    onchange: (key) => choose({ scenario: key, target: -1, step: -1 }),
  });
  const whom = select({ label: "on which tensor", options: [], value: "", onchange: (node) => choose({ target: Number(node), step: editStep(Number(node)) }) });
  /** The step that is shown: the one that was chosen, else the one at which the figure opens. */
  const here = () => (model.get("step") < 0 ? opening(line) : Math.min(model.get("step"), line.steps.length - 1));
  const back = button("◀", () => step(here() - 1), { name: "Step back", title: "Step back" });
  const next = button("▶", () => step(here() + 1), { name: "Step forward", title: "Step forward" });
  const play = button("Play", () => (timer ? stop() : start()), { kind: "primary" });
  const phase = button("Backward ▶|", () => step(jump()), { name: "Jump to the next part", title: "To the backward, then to the end" });
  const along = slider({ label: "Step", min: 0, max: 1, value: 0, oninput: (n) => step(n), format: (n) => `${n}/${line ? line.steps.length - 1 : 0}` });
  along.classList.add("tbag-slide");
  const code = h("code", { class: "tbag-code", tabindex: "0", role: "group", "aria-label": "Code of this run" });
  const copy = copyButton("Copy as PyTorch", () => code.textContent);
  const link = ui.link({
    presets: Object.fromEntries(data.scenarios.map((one) => [one.key, one])),
    choose: (scenario) => choose({ scenario }),
    accepts: Boolean,
    start: (state) => choose(valid(state)),
    get: () => Object.fromEntries(TRAITS.map((name) => [name, model.get(name)])),
  });
  const bar = h("div", { class: "tbag-bar" }, toolbar("Steps", [back, play, next, phase]), along);
  bar.walk = { at: () => here(), last: () => line.steps.length - 1, show: (n) => ui.set({ step: n }), rest: () => show(), ms: PACE };

  // Picture, details, leaves

  const program = h("p", { class: "tbag-program" });
  const spot = h("div", { class: "tbag-canvas" }, program);
  const facts = h("div", { class: "tbag-facts", tabindex: "0", role: "group", "aria-label": "Details of the chosen node" });
  const side = h("div", { class: "tbag-side", hidden: true }, button("✕", () => ui.set({ selected: -1 }), { name: "Close the details", kind: "quiet" }), facts);
  const table = h("div", { class: "tbag-scroll", tabindex: "0", role: "group", "aria-label": "Gradients of the leaves" });
  const said = h("p", { class: "tbag-said", "aria-hidden": "true" });
  const counted = h("p", { class: "tbag-muted" });
  const refusal = h("p", { class: "tbag-error" });
  ui.lay({
    stage: [h("div", { class: "tbag-main" }, spot, side), legend(data.tensors)],
    bar,
    readout: said,
    drawer: [
      refusal,
      h("div", { class: "tbviz-controls" }, which, whom, link),
      h("div", { class: "tbag-below" }, key(), h("p", { class: "tbag-head" }, "The leaves and their .grad"), table, counted, h("div", { class: "tbag-bar" }, code, copy)),
    ],
  });
  ui.stage.style.overflow = "visible";
  ui.help.append(help());

  // Changes come through the model, so that several views and Python agree

  function valid(state) {
    const good = { ...state };
    if (!data.scenarios.some((one) => one.key === good.scenario)) delete good.scenario;
    for (const name of Object.keys(good)) if (!TRAITS.includes(name) || (name !== "scenario" && !Number.isInteger(good[name]))) delete good[name];
    return good;
  }
  const choose = (traits) => { stop(); ui.set(traits); };
  const go = (n) => {
    const to = Math.max(0, Math.min(n, line.steps.length - 1));
    if (to !== here()) ui.set({ step: to });
  };
  const step = (n) => { stop(); go(n); }; // whoever steps by hand wants to stay there
  const jump = () => {
    const at = here();
    const starts = line.steps.flatMap((step, i) => (step.kind === "backward" && step.place === 1 ? [i] : []));
    return starts.find((i) => i > at) ?? line.steps.length - 1;
  };
  const editStep = (node) => {
    const found = timeline(data, model.get("scenario"), node).steps.findIndex((step) => step.kind === "edit");
    return Math.max(0, found);
  };
  function start() {
    if (here() >= line.steps.length - 1) go(0);
    play.textContent = "Pause";
    timer = setInterval(() => {
      go(here() + 1);
      if (here() >= line.steps.length - 1) stop();
    }, PACE);
  }
  function stop() {
    clearInterval(timer);
    timer = 0;
    play.textContent = "Play";
  }
  ui.defer(stop);

  function relayout() {
    line = timeline(data, model.get("scenario"), model.get("target"));
    which.update({ value: line.scenario.key });
    const { targets } = line.scenario;
    whom.hidden = !targets.length;
    whom.update({ options: targets.map((i) => ({ value: String(i), label: `${i}: ${called(data.graphs[0], i)}` })), value: String(line.about) });
    code.textContent = codeOf(line);
    along.update({ max: line.steps.length - 1 });
    was = -1;
    put(counted, total(line.graph));
    draw();
    leaves();
  }

  const narrow = () => (spot.clientWidth || 700) < NARROW;

  /** The graph, where another is to be drawn, or in another width. */
  function draw() {
    const wanted = `${line.scenario.graph} ${narrow()}`;
    if (drawn === wanted) return;
    drawn = wanted;
    was = -1;
    const { graph } = line;
    const { lines, names } = written(graph, data.tensors);
    picture?.remove();
    replace(program, lines.map((text) => h("code", {}, text)));
    picture = canvas({
      label: "Graph", defer: ui.defer, far: narrow() ? 26 : 30, near: narrow() ? 5 : 22, head: program.offsetHeight,
      boxes: graph.nodes.map((node, i) => box(node, i, narrow(), names[i])),
      edges: graph.edges.map((edge) => ({ from: edge.to, to: edge.from })),
      onselect: (i) => ui.set({ selected: model.get("selected") === i ? -1 : i }),
    });
    spot.append(picture.el, program);
    picture.start();
  }

  let rows = [];
  function leaves() {
    const { graph } = line;
    rows = graph.nodes.flatMap((node, i) => {
      if (node.kind !== "leaf") return [];
      const was = h("td", {});
      const is = h("td", {});
      return [{ i, was, is, row: h("tr", {}, h("td", {}, h("code", {}, called(graph, i))), h("td", {}, brief(data.tensors[node.value])), was, is) }];
    });
    const head = h("thead", {}, h("tr", {}, ...["leaf", "value", ".grad before", ".grad now"].map((text) => h("th", { scope: "col" }, text))));
    replace(table, h("table", { class: "tbag-table" }, head, h("tbody", {}, rows.map((one) => one.row))));
  }

  function show() {
    const state = stateAt(line, here());
    const chosen = model.get("selected");
    line.graph.nodes.forEach((node, i) => dress(picture.nodes[i], node, i, state.nodes[i], i === chosen));
    const taken = []; // by numbers at edges; those of this step come first
    const onward = line.graph.edges.map((_, i) => i).sort((a, b) => Boolean(state.edges[b].now) - Boolean(state.edges[a].now));
    for (const i of onward) dressEdge(picture.edges[i], line.graph.edges[i], state, i, taken);
    for (const { i, was: before, is, row } of rows) {
      const { grad, now } = state.nodes[i];
      const first = firstGrad(line, i);
      put(before, brief(data.tensors[grad ? grad.before : first]));
      put(is, brief(data.tensors[grad ? grad.after : first]));
      row.className = now ? "tbag-now" : "";
      if (now) table.scrollTop = Math.max(0, row.offsetTop - table.clientHeight / 2);
    }
    const parts = told(line, data, state.at);
    const failed = Boolean(state.step.error) || !line.run.passes.length;
    const short = parts.map(cut);
    replace(said, short.map((part) => (part.kind ? h("span", { class: `tbag-${part.kind}` }, part.text) : part)));
    said.classList.toggle("tbag-stopped", failed);
    refusal.hidden = !failed && plain(short) === plain(parts);
    refusal.classList.toggle("tbag-error", failed);
    put(refusal, plain(parts));
    along.update({ value: state.at });
    back.disable(state.at === 0);
    next.disable(state.at === line.steps.length - 1);
    phase.disable(state.at === line.steps.length - 1);
    put(phase, line.steps.some((step, i) => i > state.at && step.kind === "backward" && step.place === 1) ? "Backward ▶|" : "End ▶|");
    ui.say(sentence(line, data, state.at));
    tell(state, chosen);
    const { node } = state.step;
    if (!side.hidden) picture.show(chosen);
    else if (state.nodes[node]) picture.show(node);
    else if (state.at === 0 || state.step.kind === "end") settle();
    if (state.at !== was) travel(state, was >= 0 && state.at === was + 1);
    was = state.at;
  }
  const settle = () => { if (picture.readable() || line.steps.length === 1) picture.fit(); else if (here() === 0) picture.begin(); };

  /** From one step to the next, what an operation reads comes to it, and the gradients that it sends leave it. */
  function travel({ step, edges }, onwards) {
    const along = onwards ? line.edges[step.node] ?? [] : [];
    const backward = step.kind === "backward";
    const moves = along.filter(({ index }) => (backward ? edges[index].gradient !== undefined : step.kind === "forward"));
    picture.send(moves.map(({ index }) => index), { backward, look: backward ? "gradient" : "value" });
  }

  /** The details of the chosen node, on top of the picture, which makes room for them. */
  function tell(state, chosen) {
    side.hidden = !state.nodes[chosen];
    if (!side.hidden) details(facts, { line, data, state, at: chosen, onselect: (i) => { ui.set({ selected: i }); picture.show(i); } });
    picture.cover({ right: side.hidden || narrow() ? 0 : side.offsetWidth, bottom: side.hidden || !narrow() ? 0 : side.offsetHeight });
  }

  /** The look of a node: its class, its second row, what it is called aloud. */
  function dress(group, node, i, state, chosen) {
    const looks = ["tbgraph-node"];
    if (node.kind === "leaf") looks.push("tbag-box-leaf");
    if (state.unrecorded) looks.push("tbag-box-gone");
    else if (state.unreached) looks.push("tbag-box-off");
    else if (!state.recorded) looks.push("tbag-box-dash");
    if (state.grad) looks.push("tbag-box-kept");
    else if (state.sent) looks.push("tbag-box-sent");
    if (state.now) looks.push("tbag-box-now");
    if (state.failed) looks.push("tbag-box-fail");
    group.refuse(state.failed && state.now);
    put2(group, "class", looks.join(" "));
    put2(group, "aria-pressed", String(chosen));
    const parts = group.parts;
    const shown = second(node, state, parts.room);
    put(parts.two, shown);
    parts.badge?.toggleAttribute("data-freed", state.freed);
    if (parts.badge) put2(parts.badge, "opacity", state.recorded && !state.unreached ? "1" : "0");
    const told = state.unreached && node.kind !== "leaf" ? `recorded, ${shown}` : state.recorded || state.unrecorded ? shown : "not yet recorded";
    put2(group, "aria-label", `${called(line.graph, i)}, ${told}${state.freed ? ", saved tensors freed" : ""}${state.failed ? ", failed" : ""}`);
  }

  /** The second row of a node, in as many characters as there is room for. */
  function second(node, state, room) {
    const tensor = (i, used = 2) => tiny(data.tensors[i], room - used);
    if (state.unrecorded) return "not recorded";
    if (state.unreached) return "not reached";
    const own = (text) => {
      const both = node.value === null ? "" : `= ${tensor(node.value)} · ${text}`;
      return both && both.length <= room ? both : text;
    };
    if (node.kind === "leaf" && state.grad) return own(`.grad ${tensor(state.grad.after, 6)}`);
    if (state.arrived) return own(`∇ ${state.arrived.map((i) => tensor(i)).join("; ")}`);
    if (!state.recorded) return "–";
    return node.value === null ? tuple(node.outputs[0]?.shape ?? ["?"]) : `= ${tensor(node.value)}`;
  }

  function dressEdge(part, edge, state, i, taken) {
    const [from, to, flow] = [state.nodes[edge.from], state.nodes[edge.to], state.edges[i]];
    const sent = flow.gradient !== undefined;
    const gone = from.unrecorded || to.unrecorded || (to.unreached && !from.unreached);
    const look = gone ? "tbag-edge-gone" : from.unreached ? "tbag-edge-off" : flow.now ? "tbag-edge-now" : sent ? "tbag-edge-sent" : from.recorded ? "" : "tbag-edge-wait";
    put2(part.path, "class", `tbgraph-edge ${look}`);
    put2(part.tip, "class", `tbgraph-tip ${gone ? "tbag-tip-gone" : from.unreached ? "tbag-edge-off" : sent ? "tbag-tip-sent" : ""}`);
    if (part.backward !== sent) {
      part.backward = sent;
      aim(part, sent);
    }
    const number = sent ? tiny(data.tensors[flow.gradient], 14) : "";
    const fits = number !== "" && (flow.now || number.length <= SHORT) && picture.keeps(i, number, taken);
    put(part.text, flow.now || fits ? number : "");
  }
  relayout();
  show();
  const turn = new ResizeObserver(() => { if (spot.clientWidth && drawn !== `${line.scenario.graph} ${narrow()}`) { draw(); show(); } });
  turn.observe(spot);
  ui.defer(() => turn.disconnect());
  for (const name of ["scenario", "target"]) ui.on(name, () => { relayout(); show(); });
  ui.on("step", show);
  ui.on("selected", show);
  return ui.cleanup;
}

/** What is written of a step below the picture: of torch's words how they begin, of an aside nothing; the drawer has it whole. */
function cut(part) {
  if (part.kind === "refused") return { ...part, text: part.text.replace(/(?:: \[|; | \(|\. ).*$/s, " …") };
  return part.kind ? part : part.replace(/ \([^()]*;[^()]*\)/, "").replace(/ Asked for a saved tensor.*$/s, "");
}

/** The `.grad` that a leaf had before the first backward. */
function firstGrad(line, leaf) {
  for (const pass of line.run.passes) {
    const event = pass.events.find((one) => one.node === leaf && "before" in one);
    if (event) return event.before;
  }
  return null;
}

const put = (el, text) => { if (el.textContent !== text) el.textContent = text; };
const put2 = (el, name, value) => { if (el.getAttribute(name) !== value) el.setAttribute(name, value); };

/** What the graph holds. */
function total({ nodes, bytes: { activations, leaves } }) {
  const ends = nodes.filter((node) => node.kind === "leaf").length;
  return `${nodes.length - ends} operations, ${ends} leaves. Saved for the backward: ${activations} bytes of activations and ${leaves} bytes of leaves.`;
}

function codeOf({ scenario, graph, about }) {
  const leaf = graph.nodes[about]?.kind === "leaf";
  const name = about < 0 ? "" : graph.nodes[about].label || "h";
  return (leaf ? scenario.leaf_code ?? scenario.code : scenario.code).replaceAll("{0}", name);
}

/** How one node is drawn: a box with two rows of text, and a badge with the number of tensors that it saved. */
function box(node, i, narrow, text) {
  const name = node.kind === "leaf" ? node.label || `leaf ${i}` : node.name;
  const short = narrow && node.label !== "loss"; // there is room for the name of the end alone
  const called = node.label || text;
  const title = node.kind === "leaf" || short || !called ? name : `${called} · ${name}`;
  const saved = node.saved.filter((item) => item.tensor !== undefined).length;
  const aside = saved ? 26 : 0;
  return {
    width: Math.max(narrow ? 92 : 136, title.length * LETTER + (narrow ? 12 : 20)) + aside, height: 44,
    draw(group, { width: w, height: t }) {
      const middle = -aside / 2;
      const two = s("text", { class: "tbag-two", x: middle, y: 14 });
      group.append(s("rect", { class: "tbgraph-box", x: -w / 2, y: -t / 2, width: w, height: t, rx: node.kind === "leaf" ? 14 : 5 }));
      group.append(s("text", { x: middle, y: -4 }, title), two);
      const badge = saved ? s("g", { class: "tbag-badge", transform: `translate(${w / 2 - 17} 0)` },
        s("rect", { x: -13, y: -16, width: 26, height: 32, rx: 6 }), store(0, -7), s("text", { y: 11 }, saved)) : null;
      if (badge) group.append(badge);
      return { two, badge, room: Math.floor((w - aside - 10) / LETTER) };
    },
  };
}

/** The sign of something kept. */
const store = (x, y) => s("path", { class: "tbag-store", d: `M${x - 6} ${y - 3}c0 -3 12 -3 12 0v6c0 3 -12 3 -12 0zc0 3 12 3 12 0` });

/** What stands in a node and beside it, by name. */
function legend(tensors) {
  const sign = (attrs) => s("svg", { width: 18, height: 16, viewBox: "0 0 18 16", "aria-hidden": "true" }, s("g", { class: "tbag-badge", ...attrs }, store(9, 7.5)));
  const named = (kind, text, name) => h("span", {}, h("span", { class: `tbviz-mono tbag-${kind}` }, text), name);
  const arrow = (look, d) => s("svg", { width: 22, height: 12, viewBox: "0 0 22 12", "aria-hidden": "true" },
    s("path", { class: `tbgraph-edge ${look && "tbag-edge-sent"}`, d: "M2 6H20" }), s("path", { class: `tbgraph-tip ${look && "tbag-tip-sent"}`, d }));
  const box = (look, style = "") => s("svg", { width: 18, height: 14, viewBox: "0 0 18 14", "aria-hidden": "true" }, s("g", { class: `tbgraph-node ${look}` }, s("rect", { class: "tbgraph-box", style, x: 2, y: 2, width: 14, height: 10, rx: 3 })));
  const shape = tensors.find((tensor) => tensor?.shape && tiny(tensor) === tuple(tensor.shape))?.shape;
  return h(
    "p",
    { class: "tbag-legend" },
    h("span", {}, arrow("", "M22 6L12 1.5V10.5Z"), "forward"),
    h("span", {}, arrow("sent", "M0 6L10 1.5V10.5Z"), "backward: gradient sent"),
    h("span", {}, box("", "stroke-width:3.2"), "now"),
    h("span", {}, box("tbag-box-sent"), "done"),
    named("sign", "=", "value"),
    named("gradient", "∇", "gradient received"),
    named("kept", ".grad", "stored"),
    shape && named("sign", tuple(shape), "a shape"),
    h("span", {}, sign({}), "saved for backward"),
    h("span", {}, sign({ "data-freed": "" }), "freed"),
  );
}

function key() {
  const swatch = (cls, extra) => s("svg", { width: 30, height: 20, viewBox: "0 0 30 20", "aria-hidden": "true" },
    s("g", { class: `tbgraph-node ${cls}` }, s("rect", { class: "tbgraph-box", x: 2, y: 2, width: 26, height: 16, rx: extra ?? 4 })));
  const arrow = s("svg", { width: 30, height: 20, viewBox: "0 0 30 20", "aria-hidden": "true" },
    s("path", { class: "tbgraph-edge tbag-edge-sent", d: "M9 10H28" }), s("path", { class: "tbgraph-tip tbag-tip-sent", d: "M1 10L10 5.5L10 14.5Z" }));
  const item = (node, text) => h("span", {}, node, text);
  return h("div", { class: "tbag-key" },
    item(swatch("tbag-box-leaf", 8), "leaf"), item(swatch("tbag-box-dash"), "not yet recorded"), item(swatch(""), "recorded (= value)"),
    item(swatch("tbag-box-sent"), "its backward has run (∇ what arrived)"), item(swatch("tbag-box-kept", 8), "leaf with a .grad"), item(arrow, "gradient"),
    item(swatch("tbag-box-gone"), "not recorded (no grad_fn)"), item(swatch("tbag-box-off"), "not reached by this backward"), item(s("svg", { width: 30, height: 20, viewBox: "0 0 30 20", "aria-hidden": "true" }, s("g", { class: "tbag-badge" }, store(15, 10))), "with the number of tensors kept for the backward, struck through once freed"));
}

function help() {
  return h("details", { class: "tbag-help" }, h("summary", {}, "Keys and mouse"),
    h("ul", {},
      h("li", {}, "Graph: arrow keys move it, + and − zoom, 0 shows all; drag to move, Ctrl and wheel or two fingers to zoom."),
      h("li", {}, "Tab into the graph: arrow keys go from node to node, Enter chooses one."),
      h("li", {}, "Step slider: arrow keys, Home and End.")));
}

export default { render };
