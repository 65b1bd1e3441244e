/** AutogradExplorer: a recorded graph, stepped forward and backward. */

import { button, copyButton, h, replace, s, select, shell, slider, toolbar } from "../core/index.js";
import { aim, canvas } from "./canvas.js";
import { details } from "./details.js";
import { brief, called, sentence, stateAt, timeline, tiny } from "./model.js";
import SETUP from "./setup.json";
import { STYLE } from "./style.js";

const TRAITS = ["scenario", "target", "step", "selected"];
const PACE = 900; // milliseconds between steps when it plays

function render({ model, el }) {
  const data = { graphs: model.get("graphs"), tensors: model.get("tensors"), scenarios: model.get("scenarios") };
  const ui = shell({ model, el, contract: SETUP, kind: "autograd" });
  ui.css(STYLE);
  let line;
  let picture;
  let drawn = -1;
  let timer = 0;

  // Controls

  const which = select({
    label: "What to run",
    options: data.scenarios.map(({ key, label, why }) => ({ value: key, label: why ? `${label} (not recorded)` : label })),
    value: model.get("scenario"),
    onchange: (key) => choose({ scenario: key, target: -1, step: 0 }),
  });
  const whom = select({ label: "on which tensor", options: [], value: "", onchange: (node) => choose({ target: Number(node), step: editStep(Number(node)) }) });
  const back = button("◀ Back", () => go(model.get("step") - 1), { name: "Step back" });
  const next = button("Step ▶", () => go(model.get("step") + 1), { kind: "primary", name: "Step forward" });
  const play = button("Play", () => (timer ? stop() : start()), {});
  const first = button("|◀", () => go(0), { name: "To the start", title: "To the start" });
  const phase = button("Backward ▶|", () => go(jump()), { name: "Jump to the next part", title: "To the backward, then to the end" });
  const along = slider({ label: "Step", min: 0, max: 1, value: 0, oninput: (n) => go(n), format: (n) => `${n}/${line ? line.steps.length - 1 : 0}` });
  along.classList.add("tbag-slide");
  const code = h("code", { class: "tbag-code", tabindex: "0", role: "group", "aria-label": "Code of this run" });
  const copy = copyButton("Copy as PyTorch", () => code.textContent);
  const link = ui.link({ presets: {}, accepts: () => true, start: (value) => choose(valid(value)), get: () => Object.fromEntries(TRAITS.map((name) => [name, model.get(name)])) });
  const bar = h("div", { class: "tbag-bar" }, toolbar("Steps", [first, back, next, play, phase]), along);

  // Picture, details, leaves

  const spot = h("div", { class: "tbag-canvas" });
  const side = h("div", { class: "tbag-side", tabindex: "0", role: "group", "aria-label": "Details of the chosen node" });
  const table = h("div", { class: "tbag-scroll", tabindex: "0", role: "group", "aria-label": "Gradients of the leaves" });
  ui.lay({
    stage: h("div", { class: "tbag-main" }, spot, side),
    bar,
    readout: ui.words,
    drawer: [h("div", { class: "tbviz-controls" }, which, whom, link), h("div", { class: "tbag-below" }, key(), h("p", { class: "tbag-head" }, "The leaves and their .grad"), table, h("div", { class: "tbag-bar" }, code, copy))],
  });
  ui.stage.style.overflow = "visible";
  ui.help.append(help());

  // Changes come through the model, so that several views and Python agree

  function valid(state) {
    const good = typeof state === "string" ? { scenario: state } : { ...state };
    if (!data.scenarios.some((one) => one.key === good.scenario)) delete good.scenario;
    for (const name of Object.keys(good)) if (!TRAITS.includes(name) || (name !== "scenario" && !Number.isInteger(good[name]))) delete good[name];
    return good;
  }
  const choose = (traits) => { stop(); ui.set(traits); };
  const go = (n) => {
    const to = Math.max(0, Math.min(n, line.steps.length - 1));
    if (to !== model.get("step")) ui.set({ step: to });
  };
  const jump = () => {
    const at = model.get("step");
    const starts = line.steps.flatMap((step, i) => (step.kind === "backward" && step.place === 1 ? [i] : []));
    return starts.find((i) => i > at) ?? line.steps.length - 1;
  };
  const editStep = (node) => {
    const found = timeline(data, model.get("scenario"), node).steps.findIndex((step) => step.kind === "edit");
    return Math.max(0, found);
  };
  function start() {
    if (model.get("step") >= line.steps.length - 1) go(0);
    play.textContent = "Pause";
    timer = setInterval(() => {
      go(model.get("step") + 1);
      if (model.get("step") >= line.steps.length - 1) stop();
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
    if (drawn !== line.scenario.graph) draw();
    leaves();
  }

  function draw() {
    drawn = line.scenario.graph;
    const { graph } = line;
    picture?.el.remove();
    picture = canvas({
      label: "Graph", defer: ui.defer, far: 38,
      boxes: graph.nodes.map((node, i) => box(node, i)),
      edges: graph.edges.map((edge) => ({ from: edge.to, to: edge.from })),
      onselect: (i) => ui.set({ selected: model.get("selected") === i ? -1 : i }),
    });
    spot.append(picture.el);
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
    const state = stateAt(line, model.get("step"));
    const chosen = model.get("selected");
    line.graph.nodes.forEach((node, i) => dress(picture.nodes[i], node, i, state.nodes[i], i === chosen));
    line.graph.edges.forEach((edge, i) => dressEdge(picture.edges[i], edge, state));
    for (const { i, was, is, row } of rows) {
      const { grad, now } = state.nodes[i];
      const before = firstGrad(line, i);
      put(was, grad ? brief(data.tensors[grad.before]) : brief(data.tensors[before]));
      put(is, grad ? brief(data.tensors[grad.after]) : brief(data.tensors[before]));
      row.className = now ? "tbag-now" : "";
      if (now) table.scrollTop = Math.max(0, row.offsetTop - table.clientHeight / 2);
    }
    ui.words.classList.toggle("tbag-error", Boolean(state.step.error) || !line.run.passes.length);
    along.update({ value: state.at });
    back.disable(state.at === 0);
    first.disable(state.at === 0);
    next.disable(state.at === line.steps.length - 1);
    phase.disable(state.at === line.steps.length - 1);
    put(phase, line.steps.some((step, i) => i > state.at && step.kind === "backward" && step.place === 1) ? "Backward ▶|" : "End ▶|");
    const at = state.nodes[chosen] ? chosen : state.step.node >= 0 && state.step.node !== undefined ? state.step.node : -1;
    side.classList.toggle("tbag-chosen", at === chosen && at >= 0);
    details(side, { line, data, state, at, chosen: at === chosen && at >= 0, onselect: (i) => { ui.set({ selected: i }); picture.show(i); } });
    ui.say(sentence(line, data, state.at));
    if (state.nodes[state.step.node]) picture.show(state.step.node);
    else if (state.at === 0 || state.step.kind === "end") settle();
  }
  const settle = () => { if (picture.readable() || line.steps.length === 1) picture.fit(); else if (model.get("step") === 0) picture.begin(); };

  /** The look of a node: its class, its second row, what it is called aloud. */
  function dress(group, node, i, state, chosen) {
    const looks = ["tbgraph-node"];
    if (node.kind === "leaf") looks.push("tbag-box-leaf");
    if (state.missing) looks.push("tbag-box-gone");
    else if (!state.recorded) looks.push("tbag-box-dash");
    if (state.sent) looks.push("tbag-box-sent");
    if (state.now) looks.push("tbag-box-now");
    if (state.failed) looks.push("tbag-box-fail");
    put2(group, "class", looks.join(" "));
    put2(group, "aria-pressed", String(chosen));
    const parts = group.parts;
    put(parts.two, second(node, state));
    put(parts.mark, state.failed ? "✕" : state.now ? "▶" : "");
    parts.badge?.toggleAttribute("data-freed", state.freed);
    if (parts.badge) put2(parts.badge, "opacity", state.recorded && !state.missing ? "1" : "0");
    const told = state.missing ? "not recorded" : state.recorded ? second(node, state) : "not yet recorded";
    put2(group, "aria-label", `${called(line.graph, i)}, ${told}${state.freed ? ", saved tensors freed" : ""}${state.failed ? ", failed" : ""}`);
  }

  function second(node, state) {
    const tensor = (i) => tiny(data.tensors[i]);
    if (state.missing) return "not recorded";
    if (node.kind === "leaf" && state.grad) return `.grad ${tensor(state.grad.after)}`;
    if (state.arrived) return `∇ ${state.arrived.map(tensor).join("; ")}`;
    if (!state.recorded) return "–";
    return node.value === null ? `[${node.outputs[0]?.shape.join(", ") ?? "?"}]` : `= ${tensor(node.value)}`;
  }

  function dressEdge(part, edge, state) {
    const [from, to, flow] = [state.nodes[edge.from], state.nodes[edge.to], state.edges[line.graph.edges.indexOf(edge)]];
    const sent = flow.gradient !== undefined;
    const gone = from.missing || to.missing;
    const look = gone ? "tbag-edge-gone" : flow.now ? "tbag-edge-now" : sent ? "tbag-edge-sent" : from.recorded ? "" : "tbag-edge-wait";
    put2(part.path, "class", `tbgraph-edge ${look}`);
    put2(part.tip, "class", `tbgraph-tip ${gone ? "tbag-tip-gone" : sent ? "tbag-tip-sent" : ""}`);
    if (part.backward !== sent) {
      part.backward = sent;
      aim(part, sent);
    }
    put(part.text, sent && (flow.now || scalar(flow.gradient)) ? tiny(data.tensors[flow.gradient]) : "");
  }
  const scalar = (i) => data.tensors[i].data?.length === 1;

  relayout();
  show();
  for (const name of ["scenario", "target"]) ui.on(name, () => { relayout(); show(); });
  ui.on("step", show);
  ui.on("selected", show);
  return ui.cleanup;
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

function codeOf({ scenario, graph, about }) {
  const leaf = graph.nodes[about]?.kind === "leaf";
  const name = about < 0 ? "" : graph.nodes[about].label || "h";
  return (leaf ? scenario.leaf_code ?? scenario.code : scenario.code).replaceAll("{0}", name);
}

/** How one node is drawn: a box with two rows of text, and a badge for what it saved. */
function box(node, i) {
  const title = node.kind === "leaf" ? node.label || `leaf ${i}` : node.label ? `${node.label} · ${node.name}` : node.name;
  const saved = node.saved.filter((item) => item.tensor !== undefined).length;
  return {
    width: Math.max(176, title.length * 8 + 34), height: 46,
    draw(group, { width: w, height: t }) {
      const two = s("text", { class: "tbag-two", y: 15 });
      const mark = s("text", { class: "tbag-mark", x: -w / 2 + 12, y: -2, "aria-hidden": "true" });
      group.append(s("rect", { class: "tbgraph-box", x: -w / 2, y: -t / 2, width: w, height: t, rx: node.kind === "leaf" ? t / 2 : 6 }));
      group.append(s("text", { y: -3 }, title), two, mark);
      const badge = saved ? s("g", { class: "tbag-badge", transform: `translate(${w / 2 - 22} ${-t / 2})` },
        s("rect", { x: -27, y: -8, width: 54, height: 16, rx: 8 }), s("text", { y: 3.5 }, `saves ${saved}`)) : null;
      if (badge) group.append(badge);
      group.parts = { two, mark, badge };
    },
  };
}

function key() {
  const swatch = (cls, extra) => s("svg", { width: 30, height: 20, viewBox: "0 0 30 20", "aria-hidden": "true" },
    s("g", { class: `tbgraph-node ${cls}` }, s("rect", { class: "tbgraph-box", x: 2, y: 2, width: 26, height: 16, rx: extra ?? 4 })));
  const arrow = s("svg", { width: 30, height: 20, viewBox: "0 0 30 20", "aria-hidden": "true" },
    s("path", { class: "tbgraph-edge tbag-edge-sent", d: "M9 10H28" }), s("path", { class: "tbgraph-tip tbag-tip-sent", d: "M1 10L10 5.5L10 14.5Z" }));
  const item = (node, text) => h("span", {}, node, text);
  return h("div", { class: "tbag-key" },
    item(swatch("tbag-box-leaf", 8), "leaf"), item(swatch("tbag-box-dash"), "not yet recorded"), item(swatch(""), "recorded (= value)"),
    item(swatch("tbag-box-sent"), "its backward has run (∇ what arrived)"), item(arrow, "gradient"), item(swatch("tbag-box-gone"), "not recorded"),
    item("", "saves 2: tensors kept for the backward, struck through once freed"));
}

function help() {
  return h("details", { class: "tbag-help" }, h("summary", {}, "Keys and mouse"),
    h("ul", {},
      h("li", {}, "Graph: arrow keys move it, + and − zoom, 0 shows all; drag to move, Ctrl and wheel or two fingers to zoom."),
      h("li", {}, "Tab into the graph: arrow keys go from node to node, Enter chooses one."),
      h("li", {}, "Step slider: arrow keys, Home and End.")));
}

export default { render };
