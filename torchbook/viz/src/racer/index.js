/** OptimizerRacer: optimizers of torch.optim race on one loss surface. */

import { button, copyButton, field, h, number, replace, select, shell, toolbar } from "../core/index.js";
import { lossChart } from "./chart.js";
import { landscape } from "./map.js";
import { MOST, SURFACES } from "./model.js";
import { settingsPanel, table } from "./panel.js";
import { player } from "./player.js";
import SETUP from "./setup.json";
import { inView, isState, session } from "./state.js";
import { CSS } from "./style.js";
import { describe, script, show } from "./words.js";


/** A field for one coordinate of the start. */
function coordinate(i, now) {
  const box = field({
    label: `start ${"xy"[i]}`,
    size: 5,
    oninput(text) {
      const { surface, start } = now.now();
      const [low, high] = SURFACES[surface].view.slice(2 * i, 2 * i + 2);
      const value = text.trim() ? Number(text.replace("−", "-")) : NaN;
      const to = start.map((v, k) => (k === i ? value : v));
      if (!inView(surface, to)) return box.update({ error: `from ${show(low)} to ${show(high)}` });
      box.update({ error: "" });
      now.set({ start: to });
    },
  });
  box.input.inputMode = "decimal";
  box.refresh = () => {
    const typing = box.getRootNode().activeElement === box.input;
    if (!typing) box.update({ value: show(now.now().start[i]).replace("−", "-"), error: "" });
  };
  box.input.addEventListener("blur", box.refresh);
  return box;
}

/** Words for the screen reader: at once when the reader rests, once after a row of changes, never during the film. */
function speaker(ui) {
  let timer = 0;
  ui.defer(() => clearTimeout(timer));
  return (text, wait) => {
    clearTimeout(timer);
    if (wait) timer = setTimeout(() => ui.say(text), wait);
    else ui.say(text);
  };
}

function render({ model, el }) {
  const ui = shell({ model, el, contract: SETUP, kind: "racer" });
  ui.css(CSS);
  const now = session(ui, model);
  const link = ui.link({ choose: (name) => now.start(SETUP.presets[name].set), start: now.start, accepts: isState, get: () => now.preset() ?? now.state() });
  const chips = ui.chips((name) => {
    film.stop();
    now.start(SETUP.presets[name].set);
  });

  let filming = false;
  const seek = (step, playing) => {
    filming = playing;
    if (playing) model.set("step", step); // saved, so that a kernel hears of it, when the film stops
    else {
      now.set({ step });
      queue();
    }
  };
  const film = player({ get: now.now, seek });
  ui.defer(film.stop);

  const options = Object.values(SURFACES).map(({ name, label }) => ({ value: name, label }));
  const surface = select({ label: "surface", options, value: model.get("surface"), onchange: (name) => (film.stop(), now.surface(name)) });
  const steps = number({
    label: "steps",
    value: null,
    min: 1,
    max: MOST,
    oninput: (n) => Number.isInteger(n) && n >= 1 && n <= MOST && now.steps(n),
  });
  const start = [0, 1].map((i) => coordinate(i, now));
  const reseed = button("Other batches", () => now.set({ seed: (now.now().seed + 1) % 10000 }));
  const note = h("p", { class: "rx-note", role: "status" });
  const formula = h("p", { class: "rx-formula" });
  const about = h("p", { class: "rx-about" });
  const map = landscape({ move: now.move });
  const chart = lossChart({ seek: (step) => (film.stop(), seek(step, false)) });
  const rows = table();
  const racers = settingsPanel(now);
  const say = speaker(ui);

  let first = true;
  function drawAll() {
    const all = now.now();
    const { name, formula: text, about: said } = SURFACES[all.surface];
    surface.update({ value: name });
    if (steps.getRootNode().activeElement !== steps.input) steps.update({ value: all.steps });
    start.forEach((box) => box.refresh());
    reseed.hidden = name !== "minibatch";
    replace(formula, h("span", { class: "rx-f" }, "loss "), text);
    about.textContent = said;
    for (const part of [map, chart, film, rows, racers]) part.draw(all);
    ui.tell(note, ui.mark(now.preset()));
    if (!filming) say(describe(all), first ? 0 : 400);
    first = false;
  }
  // Traits that change together are drawn once.
  const queue = ui.follow(drawAll, now.traits);

  const plot = h("div", { class: "rx-box" }, h("p", { class: "rx-title" }, "Loss above the minimum"), chart.node);
  const top = h("div", { class: "rx-about-box" }, formula, about);
  ui.lay({
    stage: h("div", { class: "rx-main" }, map.node, plot),
    bar: film.node,
    readout: note,
    drawer: [
      h("div", { class: "rx-chips" }, h("p", { class: "rx-title" }, "Start from"), toolbar("Presets", chips)),
      h("div", { class: "rx-bar" }, surface, start, steps, reseed),
      racers.node,
      rows.node,
      top,
      h("div", { class: "rx-bar" }, copyButton("Copy as PyTorch", () => script(now.now())), link),
    ],
  });
  drawAll();
  const watch = new ResizeObserver(() => {
    map.draw();
    chart.draw();
  });
  watch.observe(map.node);
  watch.observe(chart.node);
  ui.defer(() => watch.disconnect());
  return ui.cleanup;
}

export default { render };
