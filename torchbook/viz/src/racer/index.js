/** OptimizerRacer: optimizers of torch.optim race on one loss surface. */

import { animate, button, copyButton, field, h, replace, select, shell, slider, still } from "../core/index.js";
import { lossChart } from "./chart.js";
import { brief, sample } from "./looks.js";
import { landscape } from "./map.js";
import { defaults, MOST, read, SURFACES } from "./model.js";
import { cell, settingsPanel, table } from "./panel.js";
import { player } from "./player.js";
import SETUP from "./setup.json";
import { inView, isState, session } from "./state.js";
import { CSS } from "./style.js";
import { describe, script, show } from "./words.js";

const GLIDE = 380; // milliseconds in which ways bend from one preset to the next

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

/** All learning rates at once, as a multiple of those that suit the surface: what is the first racer's the others share. */
function rates(now) {
  const multiple = ({ surface, optimizers: [name], ...own }) => (name ? own[name].lr / defaults(surface, name).lr : 1);
  let held; // while a hand is on it: the rates that it started from
  const slide = slider({
    label: "all learning rates",
    min: -2,
    max: 2,
    step: 0.05,
    value: 0,
    format: (power) => `× ${show(Number((10 ** power).toPrecision(2)))}`,
    title: "All learning rates, as a multiple of those that suit this surface",
    oninput(power) {
      const all = now.now();
      held ??= { multiple: multiple(all), of: Object.fromEntries(all.optimizers.map((name) => [name, all[name].lr])) };
      const lr = (name) => Math.min(10, Number(((held.of[name] * 10 ** power) / held.multiple).toPrecision(3)));
      now.set(Object.fromEntries(all.optimizers.map((name) => [name, { ...all[name], lr: lr(name) }])));
    },
  });
  slide.input.addEventListener("change", () => (held = undefined));
  const draw = (all) => {
    if (!held) slide.update({ value: Math.log10(multiple(all)) });
    slide.input.disabled = !all.optimizers.length;
  };
  return { node: slide, draw };
}

/** Who is who, and the loss of each. */
function legend() {
  const node = h("div", { class: "rx-legend", "aria-hidden": "true" });
  const draw = ({ surface, step, optimizers, ways }) => {
    replace(node, h("span", { class: "rx-lead" }, "Loss at this step; map: bluer is higher, ✕ minimum"), optimizers.map((name) => {
      const told = read(surface, ways[name], step);
      return h("span", { class: `rx-who rx-${name}` }, sample(name), brief(name), h("b", {}, told ? cell(told.loss) : "diverged"));
    }));
  };
  return { node, draw };
}

/** Ways between two, point by point; where there was none before they are what they become. */
function between(surface, from, to, part) {
  const mix = (a, b) => b.map((v, k) => a[k] + (v - a[k]) * part);
  return Object.fromEntries(
    Object.entries(to).map(([name, way]) => {
      const before = from[name]?.points ?? [];
      const points = way.points.map((at, i) => (before[i] ? mix(before[i], at) : at));
      return [name, { ...way, points, losses: points.map((at) => SURFACES[surface].loss(...at)) }];
    }),
  );
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
  let leap = false; // does the picture change to another state by itself, not under a hand?
  const leaping = (given) => {
    leap = true;
    now.start(given);
  };
  const link = ui.link({ choose: (name) => leaping(SETUP.presets[name].set), start: leaping, accepts: isState, get: () => now.preset() ?? now.state() });
  const chips = ui.chips((name) => {
    film.stop();
    leaping(SETUP.presets[name].set);
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
  film.node.walk = { at: () => now.now().step, last: () => now.now().steps, show: (step) => seek(step, true), rest: () => seek(now.now().step, false), ms: 50, reach: Infinity, by: () => Math.ceil(now.now().steps / 50) };
  ui.defer(film.stop);

  const options = Object.values(SURFACES).map(({ name, label }) => ({ value: name, label }));
  const surface = select({ label: "surface", options, value: model.get("surface"), onchange: (name) => (film.stop(), now.surface(name)) });
  const steps = field({
    label: "steps",
    size: 5,
    oninput(text) {
      const n = text.trim() ? Number(text) : NaN;
      const fits = Number.isInteger(n) && n >= 1 && n <= MOST;
      steps.update({ error: fits ? "" : `a whole number from 1 to ${MOST}` });
      if (fits) now.steps(n);
    },
  });
  steps.input.inputMode = "numeric";
  steps.refresh = () => {
    if (steps.getRootNode().activeElement !== steps.input) steps.update({ value: now.now().steps, error: "" });
  };
  steps.input.addEventListener("blur", steps.refresh);
  const start = [0, 1].map((i) => coordinate(i, now));
  const reseed = button("Other batches", () => now.set({ seed: (now.now().seed + 1) % 10000 }));
  const says = h("p", { class: "rx-says", role: "status" });
  const note = h("p", { class: "rx-note" });
  const formula = h("p", { class: "rx-formula" });
  const told = h("p", { class: "rx-about" });
  const map = landscape({ move: now.move });
  const chart = lossChart({ seek: (step) => (film.stop(), seek(step, false)) });
  const rows = table();
  const racers = settingsPanel(now);
  const say = speaker(ui);
  const who = legend();
  const pace = rates(now);
  let shown; // what is drawn, also while it bends
  let bending = { cancel() {} };
  ui.defer(() => bending.cancel());

  /** Map, chart and legend: at once under a hand, else from where they were. */
  function picture(all) {
    bending.cancel();
    const paint = (state) => {
      shown = state;
      for (const part of [map, chart, who]) part.draw(state);
    };
    const from = shown;
    const bends = leap && from?.surface === all.surface && !still();
    leap = false;
    if (!bends) return paint(all);
    bending = animate({
      ms: GLIDE,
      step(t) {
        const part = 1 - (1 - t) ** 3;
        const start = all.start.map((v, k) => from.start[k] + (v - from.start[k]) * part);
        paint(t === 1 ? all : { ...all, start, ways: between(all.surface, from.ways, all.ways, part) });
      },
    });
  }

  let fresh = true;
  function drawAll() {
    const all = now.now();
    const { name, formula: text, about: said } = SURFACES[all.surface];
    surface.update({ value: name });
    steps.refresh();
    start.forEach((box) => box.refresh());
    reseed.hidden = name !== "minibatch";
    replace(formula, h("span", { class: "rx-f" }, "loss "), text);
    told.textContent = said;
    picture(all);
    for (const part of [film, rows, racers, pace]) part.draw(all);
    const about = ui.mark(now.preset());
    ui.tell(note, about);
    const first = (about || said).split(/(?<=[a-z%0-9]\.) /)[0];
    if (says.textContent !== first) says.textContent = first;
    if (!filming) say(describe(all), fresh ? 0 : 400);
    fresh = false;
  }
  // Traits that change together are drawn once.
  const queue = ui.follow(drawAll, now.traits);

  const plot = h("div", { class: "rx-curve" }, chart.node);
  const top = h("div", { class: "rx-about-box" }, formula, told);
  ui.lay({
    stage: [h("div", { class: "rx-main" }, map.node, plot), who.node],
    presets: chips,
    bar: [film.node, pace.node],
    readout: says,
    drawer: [
      note,
      film.more,
      h("div", { class: "rx-bar" }, surface, start, steps, reseed),
      racers.node,
      rows.node,
      top,
      h("div", { class: "rx-bar" }, copyButton("Copy as PyTorch", () => script(now.now())), link),
    ],
  });
  drawAll();
  const watch = new ResizeObserver(() => {
    if (shown) for (const part of [map, chart]) part.draw(shown);
  });
  watch.observe(map.node);
  watch.observe(chart.node);
  ui.defer(() => watch.disconnect());
  return ui.cleanup;
}

export default { render };
