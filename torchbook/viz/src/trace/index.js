/** TraceExplorer: a real profile as a flame chart, and the table of its operators. */

import { animate, button, copyButton, field, h, replace, select, shell, toolbar } from "../core/index.js";
import { chart, phasesOf } from "./chart.js";
import { around, clamp, decode, matcher, moved, PHASES, tally, within, zoomed } from "./model.js";
import SETUP from "./setup.json";
import { CSS } from "./style.js";
import { table } from "./table.js";
import { details, fitting, found, inBrief, percent, script } from "./words.js";

const TRAITS = ["start", "end", "selected", "query", "phase", "scope", "sort"];
const SCOPES = { all: "the whole profile", view: "events wholly in view", event: "the chosen event" };
const KEYS = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End", "PageUp", "PageDown"];

function render({ model, el }) {
  const data = decode(model.get("trace"));
  const summary = model.get("trace").summary;
  const ui = shell({ model, el, contract: SETUP, kind: "trace" });
  ui.css(CSS);
  const state = () => Object.fromEntries(TRAITS.map((name) => [name, model.get(name)]));
  const whole = { start: 0, end: data.end };
  let shown = { start: model.get("start"), end: model.get("end") }; // what is drawn, also while it moves
  let moving = { cancel() {} };
  let soon = 0;

  /** Is this, from a link, something that can be shown? */
  const sane = (given) => {
    const good = {};
    if (Number.isFinite(given?.start) && Number.isFinite(given?.end) && given.end > given.start) Object.assign(good, clamp(data, given.start, given.end));
    if (Number.isInteger(given?.selected) && given.selected >= -1 && given.selected < data.nodes.length) good.selected = given.selected;
    if (typeof given?.query === "string") good.query = given.query;
    if (given?.phase === "" || PHASES.includes(given?.phase)) good.phase = given.phase;
    if (Object.hasOwn(SCOPES, given?.scope ?? "")) good.scope = given.scope;
    if (["self", "total", "calls", "name", "gpu"].includes(given?.sort)) good.sort = given.sort;
    return good;
  };
  const ready = (view) => ({ start: view.start, end: Math.min(view.end, data.end), selected: view.selected, query: view.query, phase: view.phase, scope: "all" });
  const viewNow = () => {
    const now = state();
    return data.views.find((view) => Object.entries(ready(view)).every(([name, value]) => now[name] === value));
  };

  /** Go to a window: at once where the hand moves it, else along a short way. */
  function look(to, byHand = false) {
    moving.cancel();
    clearTimeout(soon);
    if (byHand) {
      shown = to;
      drawChart();
      soon = setTimeout(() => ui.set(to), 120);
      return;
    }
    ui.set(to);
  }
  function follow() {
    const to = { start: model.get("start"), end: model.get("end") };
    if (to.start === shown.start && to.end === shown.end) return;
    const from = shown;
    moving.cancel();
    moving = animate({
      ms: 350,
      step: (t) => {
        const ease = 1 - (1 - t) ** 3;
        shown = t === 1 ? to : { start: from.start + (to.start - from.start) * ease, end: from.end + (to.end - from.end) * ease };
        drawChart();
      },
    });
  }
  ui.defer(() => {
    moving.cancel();
    clearTimeout(soon);
  });

  const choose = (node, extra = {}) => ui.set({ selected: node ? node.i : -1, ...extra });
  const chosen = () => data.nodes[model.get("selected")];
  const zoomTo = (node) => node && choose(node, around(data, node));
  const out = () => {
    const node = chosen();
    if (node?.parent) zoomTo(node.parent);
    else choose(null, whole);
  };
  /** Keep a node that was reached by key in view, and wide enough to be seen. */
  function reach(node) {
    const now = { start: model.get("start"), end: model.get("end") };
    const span = now.end - now.start;
    const length = Math.max(node.end - node.start, 1);
    const wide = (length / span) * picture.width();
    let next = now;
    if (wide < 9) next = clamp(data, (node.start + node.end) / 2 - length * 14, (node.start + node.end) / 2 + length * 14);
    else if (node.end < now.start || node.start > now.end || node.start < now.start - length || node.end > now.end + length) {
      const room = Math.max(span, length * 1.1);
      next = clamp(data, (node.start + node.end - room) / 2, (node.start + node.end + room) / 2);
    }
    choose(node, next);
  }

  function key(event) {
    const { key: name } = event;
    const now = { start: model.get("start"), end: model.get("end") };
    const span = now.end - now.start;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.shiftKey && (name === "ArrowLeft" || name === "ArrowRight")) {
      const by = span * (name === "ArrowLeft" ? -0.2 : 0.2);
      look(clamp(data, now.start + by, now.end + by));
    } else if (KEYS.includes(name)) {
      const next = moved(data, chosen(), name, now);
      if (next) reach(next);
    } else if (name === "Enter" || name === " ") zoomTo(chosen());
    else if (name === "Backspace" || name === "Escape") out();
    else if (name === "+" || name === "=") look(zoomed(data, now, 0.6));
    else if (name === "-" || name === "_") look(zoomed(data, now, 1 / 0.6));
    else if (name === "0") look(whole);
    else return;
    event.preventDefault();
  }

  const picture = chart(data, { look, key, pick: (node) => (chosen() === node ? zoomTo(node) : choose(node)) });
  const operators = table({
    gpu: data.lanes.some((lane) => lane.gpu),
    pick: (name) => ui.set({ query: model.get("query") === name ? "" : name }),
    sort: (column) => ui.set({ sort: column }),
  });
  const parts = phasesOf(data, picture.ids);
  const phases = parts.map(({ name, time, share, swatch }) => {
    const el = button(h("span", {}, name, ` ${share}`), () => ui.set({ phase: model.get("phase") === name ? "" : name, query: "" }), { title: `${time} of self time on the CPU` });
    el.prepend(swatch());
    el.phase = name;
    return el;
  });
  const legend = h("div", { class: "tr-legend", "aria-hidden": "true" }, h("span", {}, "CPU time:"), parts.filter(({ part }) => part >= 0.01).map(({ name, i, share, swatch }) => h("span", {}, swatch(), name, h("b", { class: `tr-of tr-p${i}` }, share))));
  const search = field({ label: "find operators by name", placeholder: "addmm", size: 16, oninput: (query) => ui.set({ query }) });
  search.classList.add("tr-search");
  const told = h("p", { class: "tr-found", role: "status" });
  const note = h("p", { class: "tr-note" });
  const brief = h("p", { class: "tr-brief", "aria-hidden": "true" });
  const opened = summary.split(/(?<=[a-zA-Z0-9%]\.) /)[0].replace(/^Profile(?: of|,) |(?<=events?) on .*(?=\.)/g, ""); // what the picture of the whole profile does not show
  const [most] = tally(data).filter((row) => row.where === "CPU").sort((a, b) => b.self - a.self);
  const spent = parts.reduce((sum, one) => sum + one.spent, 0);
  const verdict = most ? [" Costliest by itself: ", h("b", {}, fitting(most.name.replace(/^aten::/, ""), 30)), `, ${percent(most.self, spent)}.`] : [];
  let revealed = -1;
  const scope = select({ label: "count in", options: Object.entries(SCOPES).map(([value, label]) => ({ value, label })), value: "all", onchange: (value) => ui.set({ scope: value }) });
  const link = ui.link({
    presets: Object.fromEntries(data.views.map((view) => [view.key, view])),
    choose: (key) => ui.set(ready(data.views.find((view) => view.key === key))),
    start: (value) => ui.set(sane(value)),
    accepts: (value) => Boolean(value) && typeof value === "object",
    get: () => viewNow()?.key ?? state(),
  });
  const chips = data.views.map((view) =>
    button(view.label, () => {
      ui.set(ready(view));
    }),
  );
  const now = () => ({ start: model.get("start"), end: model.get("end") });
  const closer = button("+", () => look(zoomed(data, now(), 0.6)), { name: "Zoom in" });
  const wider = button("−", () => look(zoomed(data, now(), 1 / 0.6)), { name: "Zoom out" });
  const pan = (way) => {
    const { start, end } = now();
    look(clamp(data, start + way * (end - start) * 0.3, end + way * (end - start) * 0.3));
  };
  const left = button("◀", () => pan(-1), { name: "Move left" });
  const right = button("▶", () => pan(1), { name: "Move right" });
  const all = button("All", () => look(whole), { name: "Show the whole profile" });
  const to = button("Zoom to it", () => zoomTo(chosen()));
  const parent = button("Parent", () => reach(chosen().parent));
  const other = button("", () => jump());
  const jump = () => {
    const node = chosen()?.links[0]?.to;
    if (node) reach(node);
  };
  const tools = toolbar("Zoom", [closer, wider, all]);
  const event = toolbar("Chosen event", [to, parent, other]);
  const sideways = toolbar("Move", [left, right]);

  function drawChart() {
    picture.draw({ ...state(), ...shown });
  }

  function drawRest() {
    const is = state();
    const node = chosen();
    const hit = matcher(is.query, data.names);
    const view = viewNow();
    data.views.forEach((one, i) => chips[i].setAttribute("aria-pressed", String(one === view)));
    note.textContent = view?.note ?? "";
    note.hidden = !note.textContent;
    brief.hidden = !note.hidden;
    replace(brief, node ? inBrief(data, node).map((part) => (part.name ? h("b", { class: `tr-of tr-p${node.phase}` }, part.name) : part)) : [opened, verdict]);
    phases.forEach((one) => one.setAttribute("aria-pressed", String(one.phase === is.phase)));
    if (search.getRootNode().activeElement !== search.input) search.update({ value: is.query });
    const every = tally(data);
    told.textContent = hit ? found(every, hit, every.reduce((sum, row) => sum + (row.where === "CPU" ? row.self : 0), 0)) : "";
    scope.update({ value: is.scope });
    const among =
      is.scope === "event" ? (node ? within(node, data.nodes) : []) : is.scope === "view" ? data.nodes.filter((one) => one.start >= is.start && one.end <= is.end) : undefined;
    operators.draw(tally(data, { among, phase: is.phase }), is);
    empty.hidden = !(is.scope === "event" && !node);
    closer.disable(is.end - is.start <= 10);
    wider.disable(is.end - is.start >= data.end);
    all.disable(is.end - is.start >= data.end);
    left.disable(is.start <= 0);
    right.disable(is.end >= data.end);
    for (const one of [to, parent, other]) one.hidden = !node;
    parent.disable(!node?.parent);
    const first = node?.links[0];
    other.textContent = { backward: "Its backward", forward: "Its forward", kernel: "Its kernel", launch: "What started it" }[first?.as] ?? "Linked event";
    other.disable(!first);
    if (node && node.i !== revealed) picture.reveal(node);
    revealed = node?.i ?? -1;
    event.hidden = !node;
    for (const one of [tools, event]) one.reset();
    ui.say(node ? details(data, node) : summary);
  }

  let queued = false;
  const queue = () => {
    if (!queued)
      queueMicrotask(() => {
        queued = false;
        follow();
        drawChart();
        drawRest();
      });
    queued = true;
  };
  for (const name of TRAITS) ui.on(name, queue);

  const empty = h("p", { class: "tr-title" }, "Choose an event in the chart; the table then counts what is inside it.");
  ui.lay({
    stage: picture.node,
    presets: chips,
    bar: tools,
    readout: [legend, h("div", { class: "tr-said" }, note, brief)],
    drawer: [
      h("div", { class: "tr-bar" }, sideways, event),
      h("div", { class: "tr-bar tr-key" }, h("p", { class: "tr-title" }, "Phases"), toolbar("Phases", phases)),
      h("div", { class: "tr-bar" }, search, told, scope),
      operators.node,
      empty,
      h("div", { class: "tr-bar" }, operators.more, copyButton("Copy as PyTorch", () => script({ ...state(), names: data.names })), link),
      help(),
    ],
  });
  ui.stage.style.overflow = "visible"; // for the ring of the focus
  ui.help.hidden = true;
  drawChart();
  drawRest();
  const watch = new ResizeObserver(() => picture.node.clientWidth !== picture.width() && drawChart());
  watch.observe(picture.node);
  ui.defer(() => watch.disconnect());
  return ui.cleanup;
}

function help() {
  return h(
    "details",
    {},
    h("summary", {}, "Keys, mouse, and what the numbers are"),
    h(
      "ul",
      {},
      h("li", {}, "Click an event to choose it, and again to zoom to it. Drag to move; Ctrl and wheel, or two fingers, zoom. The strip on top is the whole profile."),
      h("li", {}, "In the chart: arrow up and down go to the parent and the first child, left and right to the neighbours; Enter zooms to the event, Backspace back out; + and − zoom, 0 shows all, Shift and arrows move."),
      h("li", {}, "Total is the time from an event's begin to its end; self is what is left without the events inside it. An operator that calls itself counts twice in total, as in torch's own table."),
      h("li", {}, "Dashed lines end the steps. A thick frame is the chosen event; a dashed frame is what belongs to it: its backward, its forward, or its kernel."),
    ),
  );
}

export default { render };
