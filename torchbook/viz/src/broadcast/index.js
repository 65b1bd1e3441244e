/** BroadcastExplorer: shapes aligned from the right, what happens in each column, and the elements that meet. */

import { copyButton, h, replace, shell, toggle, toolbar } from "../core/index.js";
import { describe, fits, inPlace, isGiven, names, outcome, product, script, spoken } from "./model.js";
import { pictures } from "./picture.js";
import { memoryOf, refusal, verdict } from "./readout.js";
import SETUP from "./setup.json";
import { CSS } from "./style.js";
import { alignment } from "./table.js";

const INPUTS = ["a", "b", "c", "op"];

const same = (x, y) => JSON.stringify(x) === JSON.stringify(y);

/** The element that is worked out when nobody has chosen one. */
const firstChoice = (shape) => (shape && product(shape) > 0 ? shape.map((n) => Math.min(1, n - 1)) : null);

/** The state that the traits hold, and changes to it. Nothing here draws. */
function session(ui, model) {
  const get = () => Object.fromEntries(INPUTS.map((name) => [name, model.get(name)]));
  const shape = () => outcome(get()).shape ?? null;
  const selected = () => (fits(shape(), model.get("selected")) ? model.get("selected") : null);

  /** Sets the inputs, and with them all that follows. */
  function commit(change) {
    const next = { ...get(), ...change };
    const { shape: result = null, error = "" } = outcome(next);
    const old = model.get("selected");
    const kept = fits(result, old) ? old : firstChoice(result);
    ui.set({
      ...Object.fromEntries(INPUTS.map((name) => [name, next[name]])),
      result,
      error,
      selected: fits(result, change.selected) ? change.selected : kept,
    });
  }
  return {
    get,
    shape,
    selected,
    commit,
    select: (at) => same(at, model.get("selected")) || ui.set({ selected: at }),
    resize: (name, sizes) => commit({ [name]: sizes }),
    start: ({ a, b, c = [], op, selected: at }) => commit({ a, b, c, op, selected: at }),
    preset: () => Object.keys(SETUP.presets).find((key) => isPreset(SETUP.presets[key].set, get())),
    state: () => ({ ...get(), selected: model.get("selected") }),
  };
}

const isPreset = (preset, given) =>
  preset.op === given.op && names(given).every((name) => same(preset[name], given[name]));

/** The operation: its sign, and whether it is in place or a choice between two. */
function operations(now) {
  let sign = "+";
  const kinds = [
    ["out of place", () => sign],
    ["in place", () => `${sign}=`],
    ["where", () => "where"],
  ].map(([label, op]) => {
    const el = toggle("", false, () => {
      now.commit({ op: op() });
      draw();
    });
    el.title = label;
    return { el, op };
  });
  const signs = ["+", "-", "*"].map((each) => {
    const el = toggle(
      spoken(each),
      false,
      () => {
        sign = each;
        const { op } = now.get();
        if (op !== "where") now.commit({ op: inPlace(op) ? `${each}=` : each });
        draw();
      },
      { name: { "+": "plus", "-": "minus", "*": "times" }[each] },
    );
    return { el, each };
  });
  const signBar = toolbar(
    "Sign",
    signs.map(({ el }) => el),
  );
  function draw() {
    const { op } = now.get();
    if (op !== "where") sign = op[0];
    for (const one of kinds) {
      const text = one.op();
      one.el.textContent = text === "where" ? "where(c, a, b)" : `a ${spoken(text)} b`;
      one.el.press(text === op);
    }
    for (const one of signs) one.el.press(one.each === sign);
    signBar.hidden = op === "where";
  }
  return {
    node: h(
      "div",
      { class: "bx-row bx-ops" },
      toolbar(
        "Operation",
        kinds.map(({ el }) => el),
      ),
      signBar,
    ),
    draw,
  };
}

function render({ model, el }) {
  const ui = shell({ model, el, contract: SETUP, kind: "broadcast" });
  ui.css(CSS);
  const now = session(ui, model);
  const table = alignment({ get: now.get, resize: now.resize });
  const view = pictures(now);
  const kinds = operations(now);

  const choose = (name) => now.start(SETUP.presets[name].set);
  const link = ui.link({ choose, start: now.start, accepts: isGiven, get: () => now.preset() ?? now.state() });
  const chips = ui.chips(choose);
  const copy = copyButton("Copy as PyTorch", () => script(now.get(), now.selected()));

  const note = h("p", { class: "bx-note", role: "status" });
  const gives = h("p", { class: "bx-verdict" });
  const alert = h("div", { class: "bx-alert", role: "alert" });
  const bytes = h("div", { class: "bx-memory" });

  function drawAll() {
    const given = now.get();
    kinds.draw();
    table.draw();
    replace(gives, verdict(given));
    replace(alert, refusal(given));
    view.draw();
    view.sum.hidden = !now.shape();
    replace(bytes, memoryOf(given));
    ui.tell(note, ui.mark(now.preset()));
    ui.say(describe(given, now.selected()));
  }
  // Traits that change together are drawn once.
  ui.follow(drawAll, [...INPUTS, "selected"]);

  ui.lay({
    stage: h("div", { class: "bx-show" }, view.node, view.sum, alert),
    presets: chips,
    drawer: h("div", { class: "bx" }, note, h("div", { class: "bx-main" }, h("div", { class: "bx" }, kinds.node, table.node), bytes), gives, h("div", { class: "bx-row" }, copy, link)),
  });
  drawAll();
  return ui.cleanup;
}

export default { render };
