/** RingAllReduce: how ranks in a ring sum their vectors, step by step. */

import { button, copyButton, h, player, replace, shell, slider, toolbar } from "../core/index.js";
import { amount, duration, plain } from "../core/units.js";
import { CONTRACT, costs, factor, FIELDS, NAMES, numbers, perLink, problem, REDUCE, ringSteps } from "./model.js";
import { ring, ROOMY, table } from "./picture.js";
import { CSS } from "./style.js";
import { between, describe, script } from "./words.js";

const SAY = { size_mb: (x) => amount(x * 1e6), bandwidth_gbs: (x) => `${amount(x * 1e9)}/s`, latency_us: (x) => duration(x * 1e-6) };
const sum = (all) => all.reduce((a, b) => a + b, 0);

/** A slider; those of bytes and times run over decades, in steps that look round. */
function control(name, model, put) {
  const { label, low, high, whole } = FIELDS[name];
  const least = low || 0.1;
  const place = (x) => (x < least ? 0 : 1 + Math.round((119 * Math.log(x / least)) / Math.log(high / least)));
  const value = (p) => (p === 0 ? low : Number((least * (high / least) ** ((p - 1) / 119)).toPrecision(2)));
  let exact; // the model's own number, where the slider only comes near it
  const one = slider({
    label,
    min: whole ? low : low ? 1 : 0,
    max: whole ? high : 120,
    value: 0,
    format: (p) => (whole ? String(p) : SAY[name](exact ?? value(p))),
    oninput: (p) => put({ [name]: whole ? p : value(p) }),
  });
  one.refresh = () => {
    exact = model.get(name);
    one.update({ value: whole ? exact : place(exact) });
  };
  one.input.addEventListener("input", () => (exact = undefined), { capture: true });
  return one;
}

function render({ model, el }) {
  const ui = shell({ model, el, contract: CONTRACT, kind: "ring", reset: { values: [], step: 0 }, changing: () => steps.stop() });
  ui.css(CSS);
  const { setting, put } = ui;
  const vectors = () => {
    const { ranks, elements, seed } = setting();
    const given = model.get("values");
    return given?.length === ranks && given[0].length === elements ? given : numbers(ranks, elements, seed);
  };
  const last = () => 2 * (model.get("ranks") - 1);
  const stepNow = () => Math.min(model.get("step"), last());
  const change = (changes) => put("ranks" in changes || "elements" in changes || "seed" in changes ? { values: [], step: 0, ...changes } : changes);
  const seek = (step) => put({ step: Math.max(0, Math.min(last(), step)) });
  const link = ui.link({ get: () => ({ ...setting(), step: stepNow(), ...(model.get("values")?.length ? { values: model.get("values") } : {}) }) });
  const chips = ui.chips();
  const inputs = Object.fromEntries(NAMES.filter((name) => name !== "seed").map((name) => [name, control(name, model, change)]));
  const other = button("Other numbers", () => change({ seed: problem("seed", model.get("seed") + 1) ? 0 : model.get("seed") + 1 }));
  const note = h("p", { class: "ri-note", role: "status" });
  const view = ring({ seek });
  const grid = table();
  const main = h("div", { class: "ri-main" }, view.node);
  const links = h("div", { class: "ri-box" });
  const times = h("div", { class: "ri-box" });
  ui.defer(view.stop);

  const half = () => model.get("ranks") - 1;
  const steps = player({
    at: stepNow,
    last,
    seek,
    show: (step) => model.set("step", step),
    rest: () => {
      model.save_changes();
      queue();
    },
    ms: 1100,
    from: 0,
  });
  ui.defer(steps.cleanup);
  const phases = [
    button("Phase before", () => seek(stepNow() > half() ? half() : 0)),
    button("Next phase", () => seek(stepNow() < half() ? half() : last())),
  ];
  const head = h("p", { class: "ri-head" });
  const goal = h("p", { class: "ri-goal" });

  function counted(now, walk, step) {
    const { ranks, elements } = now;
    const each = (now.size_mb * 1e6) / elements;
    const soFar = perLink(walk.slice(0, step + 1).flatMap((one) => one.messages), ranks);
    const all = perLink(walk.flatMap((one) => one.messages), ranks);
    const total = sum(all);
    replace(
      links,
      h("p", { class: "ri-title" }, "Counted: elements on each link so far, of all"),
      h("div", { class: "ri-links" }, soFar.map((sent, r) => h("span", {}, h("span", {}, `${r} → ${(r + 1) % ranks}`), h("b", {}, `${sent} of ${all[r]}`)))),
      h("p", { class: "ri-small" }, `One element stands for ${amount(each)}: so far ${between(soFar)} of them, ${amount(Math.max(...soFar) * each)}, on ${between(soFar).includes("to") ? "the busiest link" : "each link"}; ${amount(sum(soFar) * each)} on all.`),
      h("p", { class: "ri-formula" }, `counted: ${total} ÷ ${ranks} links ÷ ${elements} elements = ${plain(total / ranks / elements)}`),
      h("p", { class: "ri-formula" }, `formula: 2(K−1)/K = 2·${ranks - 1}/${ranks} = ${plain(factor(ranks))}`),
    );
  }

  function timed(now) {
    const all = costs(now);
    const most = Math.max(...Object.values(all).map((one) => one.seconds));
    const names = { ring: "ring", gather: "gather, send back", tree: "tree" };
    const { ring: best } = all;
    const pair = (cls, share) => h("i", { class: cls, style: { width: `${(100 * share).toFixed(1)}%` } });
    replace(
      times,
      h("p", { class: "ri-title" }, `Time for ${SAY.size_mb(now.size_mb)}: bytes (solid) and latency (hatched)`),
      h("div", { class: "ri-bars" }, Object.entries(all).map(([name, one]) => [h("span", {}, names[name]), h("span", { class: "ri-track", "aria-hidden": "true" }, pair("", one.bandwidth / most), pair("late", one.latency / most)), h("span", { class: "ri-value" }, duration(one.seconds))])),
      h("table", { class: "ri-costs" }, h("thead", {}, h("tr", {}, ["way", "steps", "busiest link", "latency", "for bytes"].map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, Object.entries(all).map(([name, one]) => h("tr", {}, h("th", { scope: "row" }, names[name]), [one.steps, amount(one.busiest), duration(one.latency), duration(one.bandwidth)].map((text) => h("td", {}, text)))))),
      h("p", { class: "ri-formula" }, `ring: 2(K−1)·α + 2(K−1)/K·N/β = ${duration(best.latency)} + ${duration((factor(now.ranks) * now.size_mb * 1e6) / (now.bandwidth_gbs * 1e9))}`),
      h("p", { class: "ri-small" }, `The bytes in all messages are the same three times, ${amount(best.total)}; only the ring spreads them evenly. A rank has one link, with this bandwidth in each direction.${now.elements % now.ranks ? " The chunks are uneven: a step waits for its longest message." : ""}`),
    );
  }

  let first = true;
  let before = 0;
  function draw() {
    const now = setting();
    const step = stepNow();
    const walk = ringSteps(vectors());
    Object.values(inputs).forEach((one) => one.refresh());
    ui.tell(note, ui.mark(model.get("values")?.length ? undefined : CONTRACT.presetOf(now)));
    steps.refresh();
    phases.forEach((one, i) => one.disable(i ? step >= last() : step === 0));
    head.textContent = step === 0 ? "Each rank holds its own numbers." : step === last() ? "Every rank holds the whole sum." : walk[step].phase === REDUCE ? "Half 1, reduce-scatter: add what you receive." : "Half 2, all-gather: keep what you receive.";
    goal.textContent = `A disc is a rank (a process); ${now.ranks <= ROOMY ? "its chunks count the ranks added" : "its chunks grow with ranks added"}${step === last() ? "" : "; outlined: sent next"}${step < half() ? "" : "; green: all added"}.`;
    view.draw(walk, step, !first && step === before + 1, Math.max(260, main.clientWidth - 1));
    grid.draw(walk, step);
    counted(now, walk, step);
    timed(now);
    before = step;
    ui.soon(() => describe(now, vectors(), step), { quiet: steps.playing() });
    first = false;
  }
  const queue = ui.follow(draw, [...CONTRACT.names, "values", "step"]);

  ui.lay({
    stage: main,
    presets: chips,
    bar: steps,
    readout: [head, goal],
    drawer: [
      note,
      grid.node,
      h("div", { class: "ri-sliders" }, Object.values(inputs)),
      h("div", { class: "ri-bar" }, toolbar("Phases", phases), other, copyButton("Copy as PyTorch", () => script(vectors())), link),
      h("div", { class: "ri-pair" }, links, times),
    ],
  });
  draw();
  const watch = new ResizeObserver(queue);
  watch.observe(main);
  ui.defer(() => watch.disconnect());
  return ui.cleanup;
}

export default { render };
