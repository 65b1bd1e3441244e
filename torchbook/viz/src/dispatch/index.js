/** DispatchRoute: which kernels a call visits, and why, from a dump of the dispatcher's tables. */

import { button, choice, copyButton, h, keyed, player, replace, select, shell, toolbar, touchField, uid } from "../core/index.js";
import { ACTIONS, callees, CHOICES, CONTRACT, isState, lines, moments, NAMES, presetOf, PRESETS, presetsOf, route, START, taken, wayTo } from "./model.js";
import { CSS } from "./style.js";
import { called, describe, grouped, kernelOf, keysIn, purpose, script, situation } from "./words.js";

const IS = { chosen: "chosen", later: "in the set, lower", passed: "behind it", through: "fallthrough", excluded: "excluded", absent: "not in this call" };
const FATE = {
  chosen: "It is the highest that is left.",
  later: "Others stand above it.",
  passed: "The call has it behind it.",
  through: "A fallthrough: taken off.",
  excluded: "The thread excludes it: taken off.",
  absent: "In this call nothing carries it.",
};
const FROM = { arguments: "carried by the tensors", thread: "added by the thread", both: "carried by the tensors and added by the thread" };
const ORDER = "Numbered: this layer’s code runs, in this order. ";
const TAKEN = { way: "Dashed: its key is taken off first.", stop: "Crossed out, or with an arrow: its key was taken off." };
const fromThe = (row) => row.from && FROM[row.from];
const sentence = (text) => text.split(/(?<=\.) |, which /)[0].replace(/\.?$/, ".");
const firstOf = (text) => text.split(";")[0];
const MARK = { later: "", passed: "✓", through: "↓", excluded: "×", absent: "" };

function render({ model, el }) {
  const recording = model.get("recording");
  const ui = shell({ model, el, contract: CONTRACT, kind: "dispatch", changing: () => steps.stop() });
  ui.css(CSS);
  const { put } = ui;
  const setting = () => ({ op: model.get("op"), ...ui.setting() });
  const change = (changes) => put({ ...changes, step: 0, way: -1 });
  const presets = presetsOf(recording);
  const choose = (name) => change(presets[name]);
  const link = ui.link({
    presets,
    choose,
    start: (value) => put({ ...START, step: 0, way: -1, ...value }),
    accepts: (value) => isState(recording, value),
    get: () => (stepNow() || wayNow() >= 0 ? undefined : presetOf(recording, setting()) || undefined) ?? { ...setting(), step: stepNow(), way: wayNow() },
  });
  const chips = ui.chips(choose, Object.fromEntries(Object.keys(presets).map((name) => [name, PRESETS[name]])));
  const ops = Object.keys(recording.ops).filter((op) => recording.ops[op].listed);
  const picks = {
    op: select({ label: "operator", options: ops, value: ops[0], onchange: (op) => change({ op }) }),
    ...Object.fromEntries(NAMES.map((name) => [name, select({ label: CHOICES[name].label, options: Object.entries(CHOICES[name].of).map(([value, [label]]) => ({ value, label })), value: START[name], onchange: (value) => change({ [name]: value }) })])),
  };
  const note = h("p", { class: "dr-note", role: "status" });
  const schema = h("p", { class: "dr-schema tbviz-mono" });
  const way = h("div", { class: "dr-steps" });
  const from = h("p", { class: "dr-from" });
  const line = h("div", { class: "dr-line", role: "listbox", tabindex: 0, "aria-label": "Keys of the call, the highest first" });
  const ball = h("span", { class: "dr-ball", "aria-hidden": "true" });
  const stack = h("div", { class: "dr-stack" }, h("div", { class: "dr-fall" }, from, line, ball));
  const order = h("p", { class: "dr-order" });
  const box = h("div", { class: "dr-box" });
  const said = h("div", { class: "dr-said" });
  let stops = [];
  let all = []; // the moments of the route
  let [looked, drawnAt] = ["", ""]; // the key of which the reader asks, and the moment that is drawn
  const stepNow = () => Math.max(0, Math.min(model.get("step"), stops.length - 1));
  const wayNow = () => wayTo(recording, setting().op, stops, stepNow(), model.get("way"));
  const momentNow = () => Math.max(0, all.findIndex((one) => one.step === stepNow() && one.way === wayNow()));
  const seek = (step) => put({ step, way: -1 });
  const steps = player({
    at: momentNow,
    last: () => all.length - 1,
    seek: (at) => put(all[at]),
    show: (at) => Object.entries(all[at]).forEach(([trait, value]) => model.set(trait, value)),
    rest: () => {
      model.save_changes();
      queue();
    },
    ms: 1200,
    label: "step",
    one: "step",
  });
  ui.defer(steps.cleanup);
  let marks = [];

  function drawWay() {
    marks = stops.map((stop, i) => {
      const one = choice(`${i + 1} ${stop.key}`, false, () => seek(i));
      if (stop.action === "missing") one.append(" ×");
      return one;
    });
    const many = stops.length ? stops.at(-1).call + 1 : 0;
    const groups = Array.from({ length: many }, (_, call) => stops.flatMap((stop, i) => (stop.call === call ? [i] : [])));
    const parts = groups.flatMap((group, call) => [call ? h("span", { class: "dr-call" }, "calls again: ") : null, ...group.map((i) => marks[i])]);
    replace(way, h("p", { class: "dr-title" }, many > 1 ? `The route: ${stops.length} stops in ${many} calls of the dispatcher` : `The route: ${stops.length} ${stops.length === 1 ? "stop" : "stops"}, one call of the dispatcher`), toolbar("Stops", parts.filter(Boolean)));
  }

  const drawKeys = keyed(line, {
    key: ({ row }) => row.key,
    make: ({ row }) => h("div", { role: "option", id: uid("dr-key"), "aria-selected": "false" }, h("span", { class: "dr-dot", "aria-hidden": "true" }), h("span", { class: "dr-name" }, row.slot), h("span", { class: "dr-state" }), h("span", { class: "dr-what" })),
    update: (el, { row, stop, at, waits, leaves, here: falls }) => {
      const here = row.is === "chosen" && !waits;
      const entry = row.entry < 0 ? null : recording.entries[row.entry];
      const kernel = here ? (entry ? entry[1] : "nothing registered in this build") : "";
      const [dot, name, is, what] = el.children;
      el.className = `dr-${waits ? `waiting${leaves ? " dr-leaves" : ""}` : row.is}${here && stop.action === "missing" ? " dr-missing" : ""}`;
      if (falls) el.setAttribute("aria-current", "step");
      else el.removeAttribute("aria-current");
      el.setAttribute("aria-selected", String(row.key === looked));
      el.row = row;
      el.stop = row.at.length ? row.at.find((one) => one >= at) ?? row.at[0] : -1;
      dot.textContent = waits ? (row.at[0] ?? -1) + 1 || "" : here ? at + 1 : row.is === "passed" && row.at.length ? row.at[0] + 1 : row.is === "later" && row.at.length ? (row.at.find((one) => one > at) ?? row.at[0]) + 1 : MARK[row.is];
      name.textContent = here ? stop.key : row.slot;
      is.textContent = waits ? leaves : IS[row.is];
      what.textContent = waits ? firstOf(purpose(row.key)) : [fromThe(row), kernel].filter(Boolean).join("; ");
    },
  });

  /** The call comes from Python, falls past the keys that are taken off to the one that is chosen; the stack keeps it in view. */
  function drawLine(now, at, way) {
    const off = taken(recording, now.op, stops, at).map((row) => row.key);
    const falls = way < 0 ? stops[at].functionality : off[way - 1];
    /** Why a key is taken off, or nothing. */
    const why = ({ key, is }, at) => {
      if (!["excluded", "through"].includes(is)) return "";
      if (is === "through") return `off: ${now.op.split("::")[1].split(".")[0]} does not need it`;
      if (stops.slice(0, at).some((one) => one.functionality === key)) return "off: it had its turn";
      if (key.startsWith("Autocast")) return "off: autocast is not in use";
      if (now.grad === "inference" && (key === "ADInplaceOrView" || key.startsWith("Autograd"))) return "off: inference mode is on";
      return "off: the thread excludes it";
    };
    const waits = (row) => way >= 0 && row.from && !off.slice(0, way).includes(row.key);
    drawKeys(lines(recording, now.op, stops, at).map((row) => ({ row, stop: stops[at], at, waits: waits(row), leaves: why(row, at), here: row.key === falls })));
    const { call } = stops[at];
    const caller = stops.findLast((one) => one.call < call);
    replace(from, h("span", { class: "dr-dot", "aria-hidden": "true" }, "›"), h("code", {}, called(recording, now.op)), h("span", { class: "dr-state" }, caller ? `again, from ${caller.key}` : "from Python; each name below is a key"));
    line.style.setProperty("--row", `${Math.max(28, Math.min(64, Math.floor((stack.clientHeight - from.offsetHeight - 26) / line.children.length)))}px`);
    const chosen = line.querySelector("[aria-current]");
    const top = chosen ? line.offsetTop + chosen.offsetTop : 0;
    const high = (chosen ?? from).offsetHeight;
    ball.className = `dr-ball${way > 0 ? " off" : ""}`;
    ball.style.transform = `translateY(${top}px)`;
    ball.style.height = `${high}px`;
    const beyond = top + high - stack.clientHeight;
    if (beyond > stack.scrollTop || top < stack.scrollTop) stack.scrollTop = Math.max(0, beyond + stack.clientHeight / 3);
  }

  /** A key says why it is there; one at which the call stops takes the figure to that stop. */
  function look(key) {
    looked = key.row.key;
    if (key.stop >= 0) {
      drawnAt = `${key.stop} -1`;
      seek(key.stop);
    } else steps.stop();
    queue();
  }
  const why = (row) => h("p", {}, h("b", {}, row.slot), ` ${purpose(row.key)}. `, row.from && `Here it is ${fromThe(row)}. `, FATE[row.is]);
  touchField(stack, { cells: () => line.children, onpick: look, draw: false });
  line.addEventListener("keydown", (event) => {
    const every = [...line.children];
    const at = every.findIndex((one) => one.row.key === looked);
    const now = at < 0 ? every.findIndex((one) => one.hasAttribute("aria-current")) - 1 : at;
    const to = { ArrowDown: now + 1, ArrowRight: now + 1, ArrowUp: now - 1, ArrowLeft: now - 1, Home: 0, End: every.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    look(every[Math.max(0, Math.min(every.length - 1, to))]);
  });

  /** What happens before a stop: the keys come together, and some are taken off. */
  function drawWayTo(now, at, way) {
    const rows = lines(recording, now.op, stops, at);
    const off = taken(recording, now.op, stops, at);
    if (way) replace(said, why(off[way - 1]));
    else {
      const runs = stops.filter((one, i) => i >= at && one.call === stops[at].call);
      const records = runs.length > 1 && runs[0].action === "autograd" && runs.at(-1).action === "backend";
      const here = rows.filter((row) => row.from).length;
      replace(said, h("p", {}, h("b", {}, here), ` ${here === 1 ? "key comes" : "keys come"} with the tensors and the running thread, needed or not. ${off.length} ${off.length === 1 ? "is" : "are"} taken off next${records ? `; then autograd can record before ${runs.at(-1).key} code runs` : ""}.`));
    }
  }

  function drawBox(now, at) {
    const stop = stops[at];
    const [label, does] = ACTIONS[stop.action];
    const { state } = stop;
    const entry = stop.entry < 0 ? null : recording.entries[stop.entry];
    const base = recording.thread.map((part) => new Set(part));
    const part = (set, of) => [...recording.keys].filter((key) => set.has(key) && !of.has(key));
    const told = (names) => (names.length > 6 ? `${names.slice(0, 5).join(", ")} and ${names.length - 5} more` : names.join(", ") || "nothing");
    const held = box.contains(box.getRootNode().activeElement);
    const included = recording.keys.filter((key) => state.include.has(key));
    const excluded = part(state.exclude, base[1]);
    const autocast = recording.keys.filter((key) => base[1].has(key) && !state.exclude.has(key));
    const usual = base[1].size - autocast.length;
    const called = grouped(callees(recording, now.op, stop));
    const again = stops[at + 1];
    replace(said, h("p", {}, h("b", {}, `${stop.key}: `), sentence(does), again && again.call !== stop.call && " The next stop is a new call."));
    replace(
      box,
      h("dl", {}, [
        ["kernel", label],
        ["what it does", does],
        ["in the table", entry ? `[${entry[1]}] ${kernelOf(recording, stop.entry)}` : "nothing"],
        ["thread includes", told(included)],
        ["thread excludes", [excluded.length ? told(excluded) : "", usual ? `${usual} autocast keys` : ""].filter(Boolean).join("; ") || "nothing"],
      ].map(([name, value]) => [h("dt", {}, name), h("dd", { class: name === "in the table" ? "tbviz-mono" : null }, value)])),
      called.length
        ? h("div", {}, h("p", { class: "dr-title" }, "It was seen to call, in this order"), h("ul", { class: "dr-parts" }, called.map(([text, steps, name]) => h("li", {}, recording.ops[name].listed ? button(text, () => change({ op: name }), { title: `Show ${name} in this situation` }) : h("span", { class: "tbviz-mono", style: { color: "inherit" } }, text), h("span", {}, `${keysIn(steps)}: ${ACTIONS[steps.at(-1).action][0]}`)))))
        : null,
    );
    if (held) picks.op.input.focus(); // what was pressed is gone
  }

  let drawn = "";
  function draw() {
    const now = setting();
    const wanted = JSON.stringify(now);
    if (wanted !== drawn) {
      drawn = wanted;
      stops = route(recording, now);
      all = moments(recording, now.op, stops);
      for (const [name, one] of Object.entries(picks)) one.update({ value: now[name] });
      ui.tell(note, ui.mark(presetOf(recording, now) || undefined));
      schema.textContent = recording.ops[now.op].schema;
      drawWay();
    }
    const at = stepNow();
    const here = stops.length ? wayNow() : -1;
    if (drawnAt !== `${at} ${here}`) looked = "";
    drawnAt = `${at} ${here}`;
    order.textContent = ORDER + TAKEN[here >= 0 ? "way" : "stop"];
    way.hidden = order.hidden = from.hidden = line.hidden = ball.hidden = !stops.length;
    steps.refresh();
    if (stops.length) {
      marks.forEach((one, i) => one.press(i === at && here < 0));
      drawLine(now, at, here);
      const asked = lines(recording, now.op, stops, at).find((row) => row.key === looked);
      drawBox(now, at);
      if (asked) replace(said, why(asked));
      else if (here >= 0) drawWayTo(now, at, here);
      const option = [...line.children].find((one) => one.row.key === looked);
      if (option) line.setAttribute("aria-activedescendant", option.id);
      else line.removeAttribute("aria-activedescendant");
    } else {
      replace(said, h("p", {}, "This torch could not make such arguments when it was recorded."));
      replace(box);
    }
    ui.soon(() => describe(recording, now, at, here), { quiet: steps.playing() });
  }
  const queue = ui.follow(draw, [...Object.keys(START), "step", "way"]);

  const cuda = recording.cuda ? `built for CUDA ${recording.cuda}` : "built without CUDA";
  ui.lay({
    stage: [stack, order],
    presets: chips,
    bar: steps,
    readout: said,
    drawer: [
      note,
      way,
      box,
      schema,
      h("div", { class: "dr-pick" }, Object.values(picks)),
      h("div", { class: "dr-bar" }, copyButton("Copy as PyTorch", () => script(recording, setting())), " ", link),
      h("p", { class: "dr-small" }, `torch ${recording.torch}, ${cuda}. Calls of composite kernels were seen with dense 3 × 3 CPU tensors unless a kernel was seen with others.`),
    ],
  });
  draw();
  return ui.cleanup;
}

export default { render };
