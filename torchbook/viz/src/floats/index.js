/** FloatExplorer: the bits of a number, what they mean, and what each floating-point format makes of it. */

import { button, copyButton, field, h, replace, select, shell, toolbar } from "../core/index.js";
import { bitRow } from "./bits.js";
import { numberLine } from "./line.js";
import { NAMES, neighbour } from "./model.js";
import { comparison, factsOf, formulaOf, limitsOf } from "./readout.js";
import SETUP from "./setup.json";
import { isState, session } from "./state.js";
import { CSS } from "./style.js";
import { read } from "./text.js";
import { describe, script } from "./words.js";


/** The field for a number; while something else is typed, the figure stays as it was. */
function numberField(now) {
  const typed = field({
    label: "number",
    size: 14,
    oninput: (text) => {
      try {
        read(text);
        typed.update({ error: "" });
        now.type(text.trim());
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        typed.update({ error: text.trim() ? error.message : "a number, such as 0.1 or 1/3" });
      }
    },
  });
  typed.refresh = () => {
    const typing = typed.getRootNode().activeElement === typed.input;
    if (!typing) typed.update({ value: now.now().number, error: "" });
  };
  typed.input.addEventListener("blur", typed.refresh);
  return typed;
}

/** The number line and its buttons: two that change its scale, two that go to a neighbour. */
function lineBox(now, ui) {
  const line = numberLine({ pick: now.pattern, type: now.type });
  const zoom = (label, name, factor) =>
    button(
      label,
      () => {
        line.zoom(factor);
        refresh();
      },
      { name, title: name },
    );
  const closer = zoom("+", "Closer", 1 / 2);
  const wider = zoom("−", "Wider", 2);
  const down = button("Next down", () => now.step(-1));
  const up = button("Next up", () => now.step(1));
  const refresh = () => {
    const { of, bits } = now.now();
    down.disable(neighbour(of, bits, -1) === null);
    up.disable(neighbour(of, bits, 1) === null);
    closer.disable(!line.canZoom(1 / 2));
    wider.disable(!line.canZoom(2));
  };
  const watch = new ResizeObserver(() => line.draw());
  const start = () => watch.observe(line.node);
  ui.defer(() => watch.disconnect());
  const draw = (all) => {
    line.draw(all);
    refresh();
  };
  const [scale, steps] = [toolbar("Number line", [closer, wider]), toolbar("Neighbours", [down, up])];
  return { node: line.node, told: line.told, scale, steps, draw, start };
}

function render({ model, el }) {
  const ui = shell({ model, el, contract: SETUP, kind: "floats" });
  ui.css(CSS);
  const now = session(ui, model);
  const choose = (name) => now.start(SETUP.presets[name].set);
  const link = ui.link({ choose, start: now.start, accepts: isState, get: () => now.preset() ?? now.state() });
  const chips = ui.chips(choose);

  const typed = numberField(now);
  const formats = select({ label: "format", options: NAMES, value: model.get("dtype"), onchange: now.choose });
  const note = h("p", { class: "fx-note", role: "status" });
  const bits = bitRow({ flip: now.pattern, step: now.step });
  const formula = h("p", { class: "fx-formula" });
  const facts = h("div", { class: "fx-facts", role: "list", "aria-label": "The number" });
  const limits = h("div", { class: "fx-facts", role: "list", "aria-label": "The format" });
  const format = h("p", { class: "fx-title" });
  const line = lineBox(now, ui);
  const table = comparison(now.choose);

  function drawAll() {
    const all = now.now();
    typed.refresh();
    formats.update({ value: all.of.name });
    bits.draw(all);
    replace(formula, formulaOf(all));
    replace(facts, factsOf(all));
    replace(format, `${all.of.name} has`);
    replace(limits, limitsOf(all.of));
    table.draw(all);
    line.draw(all);
    ui.tell(note, ui.mark(now.preset()));
    ui.say(describe(all));
  }
  // Traits that change together are drawn once.
  ui.follow(drawAll, ["number", "dtype", "bits", "saturates"]);

  const wholes = h("div", { class: "fx-box fx-value-box" }, bits.node, formula);
  const compared = h("div", { class: "fx-box" }, h("p", { class: "fx-title" }, "The same number in each format"), table.node);
  ui.lay({
    stage: h("div", { class: "fx", role: "figure", "aria-label": "The bits of the number, and the numbers near it" }, wholes, line.node),
    bar: h("div", { class: "fx-bar fx-line-of-control" }, typed, formats, h("span", { class: "fx-zoom", "aria-hidden": "true" }, "zoom"), line.scale),
    readout: h("div", { class: "fx-readout" }, note),
    drawer: [
      h("div", { class: "fx-box" }, bits.told, line.told, line.steps),
      h("div", { class: "fx-chips" }, h("p", { class: "fx-title" }, "Start from"), toolbar("Presets", chips)),
      compared,
      h("div", { class: "fx-box" }, facts),
      h("div", { class: "fx-box" }, format, limits),
      h("div", { class: "fx-bar" }, copyButton("Copy as PyTorch", () => script(now.now())), link),
    ],
  });
  drawAll();
  line.start();
  return ui.cleanup;
}

export default { render };
