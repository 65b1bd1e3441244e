/** DispatchRoute: which kernels a call visits, and why, from a dump of the dispatcher's tables. */

import { button, copyButton, h, keyed, player, replace, select, shake, shell, toggle, toolbar, touchField } from "../core/index.js";
import { ACTIONS, callees, CHOICES, CONTRACT, isState, lines, NAMES, presetOf, PRESETS, presetsOf, route, START } from "./model.js";
import { CSS } from "./style.js";
import { describe, grouped, kernelOf, keysIn, script, situation } from "./words.js";

const IS = { chosen: "chosen", later: "in the set, lower", passed: "behind it", through: "lets it through", excluded: "switched off", absent: "not in this call" };
const FROM = { arguments: "from the tensors", thread: "from the thread", both: "from the tensors and the thread" };
const firstOf = (text) => text.split(/(?<=\.) |, which /)[0].replace(/\.?$/, ".");
const MARK = { later: "", passed: "✓", through: "↓", excluded: "×", absent: "" };

function render({ model, el }) {
  const recording = model.get("recording");
  const ui = shell({ model, el, contract: CONTRACT, kind: "dispatch", changing: () => steps.stop() });
  ui.css(CSS);
  const { put } = ui;
  const setting = () => ({ op: model.get("op"), ...ui.setting() });
  const change = (changes) => put({ ...changes, step: 0 });
  const presets = presetsOf(recording);
  const choose = (name) => change(presets[name]);
  const link = ui.link({
    presets,
    choose,
    start: (value) => put({ ...START, step: 0, ...value }),
    accepts: (value) => isState(recording, value),
    get: () => (stepNow() ? undefined : presetOf(recording, setting()) || undefined) ?? { ...setting(), step: stepNow() },
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
  const line = h("ol", { class: "dr-line", "aria-label": "Keys, the highest first" });
  const ball = h("span", { class: "dr-ball", "aria-hidden": "true" });
  const stack = h("div", { class: "dr-stack", tabindex: 0, role: "region", "aria-label": "Keys of the call" }, h("div", { class: "dr-fall" }, line, ball));
  const box = h("div", { class: "dr-box" });
  const said = h("div", { class: "dr-said" });
  let stops = [];
  const stepNow = () => Math.max(0, Math.min(model.get("step"), stops.length - 1));
  const seek = (step) => put({ step: Math.max(0, Math.min(stops.length - 1, step)) });
  const steps = player({
    at: stepNow,
    last: () => stops.length - 1,
    seek,
    show: (step) => model.set("step", step),
    rest: () => {
      model.save_changes();
      queue();
    },
    ms: 1200,
    label: "stop",
    one: "stop",
  });
  ui.defer(steps.cleanup);
  let marks = [];

  function drawWay() {
    marks = stops.map((stop, i) => {
      const one = toggle(`${i + 1} ${stop.key}`, false, () => seek(i));
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
    make: ({ row }) => h("li", {}, h("span", { class: "dr-dot", "aria-hidden": "true" }), h("span", { class: "dr-name" }, row.slot), h("span", { class: "dr-state" }), h("span", { class: "dr-what" })),
    update: (el, { row, stop, at }) => {
      const here = row.is === "chosen";
      const entry = row.entry < 0 ? null : recording.entries[row.entry];
      const kernel = here ? (entry ? entry[1] : "nothing registered in this build") : "";
      const [dot, name, is, what] = el.children;
      el.className = `dr-${row.is}${here && stop.action === "missing" ? " dr-missing" : ""}`;
      if (here) el.setAttribute("aria-current", "step");
      else el.removeAttribute("aria-current");
      el.stop = row.at.length ? row.at.find((one) => one >= at) ?? row.at[0] : -1;
      dot.textContent = here ? at + 1 : row.is === "passed" && row.at.length ? row.at[0] + 1 : row.is === "later" && row.at.length ? (row.at.find((one) => one > at) ?? row.at[0]) + 1 : MARK[row.is];
      name.textContent = here ? stop.key : row.slot;
      is.textContent = IS[row.is];
      what.textContent = [FROM[row.from], kernel].filter(Boolean).join("; ");
    },
  });

  /** The call falls to the key that is chosen, and the stack keeps it in view. */
  function drawLine(now, at) {
    drawKeys(lines(recording, now.op, stops, at).map((row) => ({ row, stop: stops[at], at })));
    line.style.setProperty("--row", `${Math.max(28, Math.min(54, Math.floor((stack.clientHeight - 24) / line.children.length)))}px`);
    const chosen = line.querySelector("[aria-current]");
    ball.style.transform = `translateY(${chosen.offsetTop}px)`;
    ball.style.height = `${chosen.offsetHeight}px`;
    const beyond = chosen.offsetTop + chosen.offsetHeight - stack.clientHeight;
    if (beyond > stack.scrollTop || chosen.offsetTop < stack.scrollTop) stack.scrollTop = Math.max(0, beyond + stack.clientHeight / 3);
  }
  touchField(stack, {
    cells: () => line.children,
    onpick: (key) => {
      if (key.stop >= 0) seek(key.stop);
      else {
        shake(key);
        said.textContent = `The call does not stop at ${key.querySelector(".dr-name").textContent}: ${key.querySelector(".dr-state").textContent}.`;
      }
    },
    draw: false,
  });

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
    replace(said, h("p", {}, h("b", {}, `${stop.key}: `), firstOf(does), again && again.call !== stop.call && " The next stop is a new call."));
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
      for (const [name, one] of Object.entries(picks)) one.update({ value: now[name] });
      ui.tell(note, ui.mark(presetOf(recording, now) || undefined));
      schema.textContent = recording.ops[now.op].schema;
      drawWay();
    }
    const at = stepNow();
    way.hidden = line.hidden = ball.hidden = !stops.length;
    steps.refresh();
    if (stops.length) {
      marks.forEach((one, i) => one.press(i === at));
      drawLine(now, at);
      drawBox(now, at);
    } else {
      replace(said, h("p", {}, "This torch could not make such arguments when it was recorded."));
      replace(box);
    }
    ui.soon(() => describe(recording, now, at), { quiet: steps.playing() });
  }
  const queue = ui.follow(draw, [...Object.keys(START), "step"]);

  const cuda = recording.cuda ? `built for CUDA ${recording.cuda}` : "built without CUDA";
  ui.lay({
    stage: stack,
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
