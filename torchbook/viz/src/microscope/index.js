/** StepMicroscope: what each line of a training step changes, and what it leaves alone. */

import { button, copyButton, h, select, shake, shell, slider, toolbar } from "../core/index.js";
import { plain } from "../core/units.js";
import { CONTRACT, LINES, MOST, NAMES, nextOf, run } from "./model.js";
import { board, fit } from "./picture.js";
import { CSS } from "./style.js";
import { describe, script, brief } from "./words.js";

function render({ model, el }) {
  const ui = shell({ model, el, contract: CONTRACT, kind: "microscope" });
  ui.css(CSS);
  const { setting, put } = ui;
  const full = () => model.get("ran").length >= MOST;

  /** Runs a line; what was refused once more only shakes. */
  function press(name) {
    if (full()) return;
    const ran = [...model.get("ran"), name];
    const states = run({ ...setting(), ran });
    if (states.at(-1).refused) shake(lines[name]);
    if (!(states.at(-1).refused && states.at(-2).refused && states.at(-2).line === name)) put({ ran });
  }
  const undo = () => put({ ran: model.get("ran").slice(0, -1) });

  const lines = Object.fromEntries(NAMES.map((name) => [name, button(LINES[name], () => press(name))]));
  const loop = toolbar("Lines of the loop", Object.values(lines));
  loop.classList.add("mi-lines");
  const next = button("Next line", () => press(nextOf(setting())), { kind: "primary" });
  const back = button("Back", undo);
  const count = h("span", { class: "mi-count" });
  const head = h("p", { class: "mi-head" });
  const cells = board();
  const chart = fit();
  const main = h("div", { class: "mi-main" }, loop, cells.grid, cells.flow, chart.node);

  const note = h("p", { class: "mi-note", role: "status" });
  const without = select({ label: CONTRACT.choices.without.label, options: CONTRACT.options("without"), value: "nothing", onchange: (value) => put({ without: value, ran: [] }) });
  const rates = Object.entries(CONTRACT.fields).map(([name, { label, low, high }]) => {
    const one = slider({ label, min: low, max: high, step: 0.001, value: low, format: plain, oninput: (value) => put({ [name]: value }) });
    return [name, one];
  });
  const chips = ui.chips();
  const link = ui.link();
  const clear = button("Start anew", () => put({ ran: [] }));

  ui.root.addEventListener("keydown", (event) => {
    if (event.target.closest("input, select") || event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.toLowerCase();
    if (key === "n") press(nextOf(setting()));
    if (key === "b" && model.get("ran").length) undo();
  });

  function draw() {
    const now = setting();
    const states = run(now);
    const state = states.at(-1);
    const before = states.at(-2) ?? state;
    const following = nextOf(now);
    for (const [name, one] of Object.entries(lines)) {
      const left = name === now.without;
      const marks = [name === state.line && (state.refused ? "refused" : "ran"), name === following && !full() && "next", left && "left"].filter(Boolean);
      one.className = ["tbviz-button mi-line", ...marks].join(" ");
      one.disable(full());
      if (name === state.line) one.setAttribute("aria-current", "step");
      else one.removeAttribute("aria-current");
      if (left) one.setAttribute("aria-label", `${LINES[name]}, left out`);
      else one.removeAttribute("aria-label");
    }
    next.disable(full());
    back.disable(!now.ran.length);
    const steps = states.filter(({ line }) => line === "step").length + (state.line !== "step");
    count.textContent = `step ${steps}`;
    cells.draw(before, state);
    const wide = main.clientWidth >= 640;
    chart.draw(before, state, wide ? Math.max(150, Math.min(340, Math.round(main.clientWidth * 0.32) - 60)) : Math.max(104, Math.min(230, main.clientWidth - 218)), wide ? 262 : 184);
    head.textContent = brief(before, state, now);
    head.classList.toggle("refused", Boolean(state.refused));
    ui.tell(note, ui.mark(CONTRACT.presetOf(now)));
    without.update({ value: now.without });
    for (const [name, one] of rates) one.update({ value: now[name] });
    ui.soon(() => describe(now));
  }
  const queue = ui.follow(draw);

  ui.lay({
    stage: main,
    bar: [toolbar("Steps", [next, back]), count],
    readout: head,
    drawer: [
      h("div", {}, h("p", { class: "tbviz-title" }, "Start from"), toolbar("Presets", chips)),
      note,
      h("div", { class: "mi-settings" }, without, rates.map(([, one]) => one)),
      h("div", { class: "tbviz-controls" }, clear, copyButton("Copy as PyTorch", () => script(setting())), link),
    ],
  });
  draw();
  ui.watch(main, queue);
  return ui.cleanup;
}

export default { render };
