/** StrategyTool: questions answered by numbers, every candidate's memory, communication and time, with formulas. */

import { numberField, table } from "../core/form.js";
import { copyButton, h, replace, select, shell, slider, toolbar, uid } from "../core/index.js";
import { SHEET } from "../core/sheet.js";
import { parameters } from "../memory/model.js";
import { amount, count, duration, significant } from "../core/units.js";
import { cardOf, CARDS, CHOICES, CONTRACT, describeLayout, FIELDS, modelOf, MODELS, NAMES, PICKS, planOf, problem, ROOM, SHAPE, speed, STRATEGIES, wireOf, WIRES } from "./model.js";
import { cluster } from "./cluster.js";
import { stack } from "./stack.js";
import { CSS } from "./style.js";
import { ABOUT, describe, reason, rows, script, SHORT, SPLITS } from "./words.js";

const ASSUMED = [
  "Estimates for choosing, not predictions: measure one step of the two best candidates before you rent the cluster.",
  "Memory counts tensors. A tenth of each GPU is left for the CUDA context, workspaces and fragmentation.",
  "The block is that of MemoryBudget. float32 weights with bf16 compute mean autocast under DDP, and a MixedPrecisionPolicy (bf16 parameters, float32 reduction) under fully_shard, which casts the residual stream too.",
  "Every collective is a ring as fast as its slowest link; over nodes each GPU has a network card of its own. A ring's rounds wait for the latency between nodes; an all-reduce has a tree's few rounds. No contention, no stragglers.",
  "What a GPU sends is counted on the fullest stage of a pipeline; the wires that are drawn go from rank to rank.",
  "Computing runs at one rate whatever the shapes; thin slices of tensor parallelism really run slower.",
  "What can hide is taken to hide. Tensor, context and pipeline communication hides behind nothing here; ring attention and pipelines do hide some.",
  "fully_shard gathers and reduces for each micro-batch, as it does unless told otherwise; DDP accumulates under no_sync() and reduces once, and so does a pipeline.",
  "Ranks next to each other are tensor parallel, then context, shards, replicas, stages. Degrees of tensor parallelism stay inside a node and divide the heads; 3D is the fastest of all degrees tried.",
];
const OTHER = "other";
const SIZES = ["seq", "batch", "hidden", "ffn", "vocab", "positions"];
const AS = { gpus_per_node: 2, nodes: 2, global_batch: 2 };

function stepped(name, value, way, far) {
  const { low, high, whole } = FIELDS[name];
  const unit = SIZES.includes(name) && value >= 256 ? 2 ** (Math.floor(Math.log2(value)) - 3) : 1;
  const next = far || AS[name] ? (way > 0 ? value * 2 : value / 2) : value + way * unit;
  return Math.min(high, Math.max(low, whole ? Math.round(next) : next));
}

/** A list of the ways to split the work, each with its memory against the limit; one of them is shown. It is one tab stop. */
function waysOf(choose) {
  const id = uid("st-way");
  const options = Object.keys(STRATEGIES).map((name) =>
    h("div", { role: "option", id: `${id}-${name}`, "data-name": name, onclick: () => pick(name) }, h("span", { class: "st-name" }, SHORT[name]), h("span", { class: "st-splits" }), h("span", { class: "st-mini" }, h("i"))),
  );
  const node = h("div", { class: "st-ways", role: "listbox", tabindex: 0, "aria-label": "Ways to split the work", "aria-orientation": "horizontal" }, options);
  let now = {};
  const pick = (name) => now[name] && choose(name);
  node.addEventListener("keydown", (event) => {
    const all = options.filter((el) => now[el.dataset.name] && !el.hidden).map((el) => el.dataset.name);
    const at = all.findIndex((name) => node.getAttribute("aria-activedescendant") === `${id}-${name}`);
    const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    pick(all[(to + all.length) % all.length]);
  });

  function draw(plan, shown, most, nodes) {
    now = plan.candidates;
    node.setAttribute("aria-activedescendant", `${id}-${shown}`);
    for (const el of options) {
      const { name } = el.dataset;
      el.title = STRATEGIES[name];
      const one = now[name];
      el.setAttribute("aria-selected", String(name === shown));
      el.querySelector(".st-splits").textContent = one ? SPLITS[name] : name === "hsdp" && nodes < 2 ? "needs 2 nodes" : "not here";
      if (one) el.removeAttribute("aria-disabled");
      else el.setAttribute("aria-disabled", "true");
      el.hidden = name === "single" && shown !== "single" && Boolean(now.ddp); // a way only where there is no other
      el.classList.toggle("st-best", name === plan.strategy);
      el.classList.toggle("st-not", Boolean(one) && !one.fits);
      el.querySelector("i").style.width = `${one ? Math.min(100, (66 * one.memory.total) / most) : 0}%`;
      const told = name === plan.strategy ? ", recommended" : name === plan.fastest ? ", fastest" : "";
      el.setAttribute("aria-label", one ? `${STRATEGIES[name]}: ${amount(one.memory.total)}, ${one.fits ? "fits" : "too much"}, ${speed(one.tokens_per_second)}${told}` : `${STRATEGIES[name]}: not on this cluster`);
    }
  }
  return { node, draw };
}

const FAR = 14; // GPUs by the slider: at most two to this power, eight in a node

function render({ model, el }) {
  const ui = shell({ model, el, contract: CONTRACT, kind: "strategy", reset: { show: "" }, changed: (given) => Object.keys(given).forEach((name) => inputs[name]?.refresh(true)) });
  ui.css(SHEET);
  ui.css(CSS);
  const { setting, put } = ui;
  const link = ui.link({ get: () => (model.get("show") ? undefined : CONTRACT.presetOf(setting())) ?? { ...setting(), show: model.get("show") } });
  const chips = ui.chips();
  const inputs = Object.fromEntries(
    NAMES.map((name) => [
      name,
      numberField({
        label: FIELDS[name].unit ? `${FIELDS[name].label}, ${FIELDS[name].unit}` : FIELDS[name].label,
        get: () => model.get(name),
        put: (value) => ui.set({ [name]: value }),
        problem: (value) => problem(name, value),
        next: (value, way, far) => stepped(name, value, way, far),
      }),
    ]),
  );
  const picks = Object.fromEntries(
    PICKS.map((name) => [
      name,
      select({
        label: CHOICES[name].label,
        options: CHOICES[name].of.map(([value, label]) => ({ value: String(value), label })),
        value: String(CHOICES[name].value),
        onchange: (text) => ui.set({ [name]: CHOICES[name].of.find(([value]) => String(value) === text)[0] }),
      }),
    ]),
  );
  const named = (label, from, other, set) =>
    select({
      label,
      options: [...Object.entries(from).map(([value, one]) => ({ value, label: one.label })), { value: OTHER, label: other }],
      value: OTHER,
      onchange: (name) => from[name] && put(set(from[name])),
    });
  const known = named("model", MODELS, "a shape of your own", (one) => one.shape);
  const card = named("GPU", CARDS, "other", (one) => one.set);
  const wire = named("network between nodes", WIRES, "other", (one) => one.set);
  const note = h("p", { class: "sc-note", role: "status" });
  const asked = h("ol", { class: "st-walk" });
  const end = h("p", { class: "st-told-one" });
  const board = h("tbody");
  const answers = table();
  const shownTitle = h("p", { class: "sc-title" });
  const about = h("p", { class: "st-about" });
  const ways = waysOf((name) => ui.set({ show: name }));
  const [grid, bar] = [cluster(), stack()];
  const sizes = Object.keys(MODELS).sort((a, b) => parameters(MODELS[a].shape).total - parameters(MODELS[b].shape).total);
  const sizeOf = (now) => MODELS[modelOf(now)]?.label.split(", ").at(-1) ?? count(Number(parameters(now).total.toPrecision(2)));
  const nearest = (now) => {
    const away = (name) => Math.abs(Math.log(parameters(MODELS[name].shape).total / parameters(now).total));
    return sizes.reduce((best, name) => (away(name) < away(best) ? name : best));
  };
  const worldOf = ({ gpus_per_node: node, nodes }) => node * nodes;
  const exponent = (now) => Math.min(FAR, Math.round(Math.log2(worldOf(now))));
  const drags = {
    size: slider({ label: "Model", min: 0, max: sizes.length - 1, value: 0, oninput: (i) => put(MODELS[sizes[i]].shape), format: (i) => (sizes[i] === nearest(setting()) ? sizeOf(setting()) : MODELS[sizes[i]].label.split(", ").at(-1)) }),
    world: slider({ label: "GPUs", min: 0, max: FAR, value: 0, oninput: (i) => put({ gpus_per_node: Math.min(8, 2 ** i), nodes: Math.max(1, 2 ** (i - 3)) }), format: (i) => String(i === exponent(setting()) ? worldOf(setting()) : 2 ** i) }),
  };

  function walk(plan) {
    replace(
      asked,
      plan.steps.map((step) =>
        h(
          "li",
          {},
          h("span", { class: "st-question" }, step.question),
          h("span", { class: step.yes ? "st-yes" : "st-no" }, h("b", {}, step.yes ? "Yes" : "No"), ` ${step.compare}`),
          h("span", { class: "st-told" }, step.told),
        ),
      ),
    );
  }

  /** One sentence on the candidate that is shown, and why the tree ends where it does. */
  function tell(now, plan, one, odd) {
    const most = ROOM * now.memory_gb * 1e9;
    const bytes = (size) => h("b", { class: size <= most ? "st-good" : "st-bad" }, amount(size));
    const chosen = plan.candidates[plan.strategy];
    replace(
      end,
      h("b", {}, SHORT[one.name]),
      one === chosen ? " is enough: " : one.fits ? " fits: " : " does not fit: ",
      bytes(one.memory.total),
      " a GPU",
      one === chosen ? reason(now, plan).map((part) => (typeof part === "number" ? bytes(part) : part)) : chosen && [". Recommended: ", h("b", {}, SHORT[chosen.name]), ", ", bytes(chosen.memory.total)],
      chosen ? "." : ". Nothing here fits.",
      odd && ` ${odd}`,
    );
  }

  function compare(plan) {
    replace(
      board,
      Object.values(plan.candidates).map((one) =>
        h(
          "tr",
          { class: one.fits ? "" : "bad" },
          h("th", { scope: "row" }, STRATEGIES[one.name], h("span", { class: "st-degrees" }, describeLayout(one.layout))),
          h("td", { "data-of": "memory of a GPU" }, h("b", {}, amount(one.memory.total)), one.fits ? " fits" : " too much"),
          h("td", { "data-of": "sent by it in a step" }, amount(one.sent)),
          h("td", { "data-of": "waiting" }, h("span", { class: "st-one" }, duration(one.exposed)), h("span", { class: "st-part" }, ` ${significant((100 * one.exposed) / one.step)} %`)),
          h("td", { "data-of": "tokens/s" }, h("span", { class: "st-one" }, speed(one.tokens_per_second).replace(" tokens/s", "")), h("span", { class: "st-part" }, one.wide && " too many replicas", one.name === plan.fastest && " fastest")),
        ),
      ),
    );
  }

  const spot = h("div", { class: "st-stage" });
  function draw() {
    const now = setting();
    Object.values(inputs).forEach((one) => one.refresh());
    for (const name of PICKS) picks[name].update({ value: String(now[name]) });
    known.update({ value: modelOf(now) ?? OTHER });
    card.update({ value: cardOf(now) ?? OTHER });
    wire.update({ value: wireOf(now) ?? OTHER });
    const hint = ui.mark(CONTRACT.presetOf(now));
    const odd = now.hidden % now.heads ? "The hidden size is not a multiple of the heads: no such model exists." : now.heads % now.kv_heads ? "The heads are not a multiple of the key and value heads: no such model exists." : "";
    ui.tell(note, hint);
    const plan = planOf(now);
    const show = model.get("show");
    const shown = plan.candidates[show] ? show : plan.candidates[plan.strategy] ? plan.strategy : Object.keys(plan.candidates).at(-1);
    const one = plan.candidates[shown];
    walk(plan);
    tell(now, plan, one, odd);
    ways.draw(plan, shown, ROOM * now.memory_gb * 1e9, now.nodes);
    drags.size.update({ value: sizes.indexOf(nearest(now)) });
    drags.world.update({ value: exponent(now) });
    const wide = Math.max(300, Math.floor(spot.clientWidth) || 720);
    const [side, high] = wide < 560 ? [136, 396] : [232, 386];
    grid.draw(now, one, wide - side - 16, high);
    bar.draw(now, one, plan.candidates.single.memory.total, side, high);
    compare(plan);
    shownTitle.textContent = `In numbers: ${STRATEGIES[shown]}, ${describeLayout(one.layout)}`;
    about.textContent = ABOUT[shown];
    answers.draw(rows(now, one));
    ui.say(describe(now, show, plan));
    return one;
  }
  ui.follow(draw, [...CONTRACT.names, "show"]);

  const group = (title, ...of) => h("fieldset", {}, h("legend", {}, title), h("div", { class: "sc-fields" }, of));
  const copied = () => script(setting(), draw());
  replace(spot, grid.node[0], bar.node, grid.node[1]);
  const columns = ["candidate", "memory of a GPU", "sent by it in a step", "waiting", "tokens/s"];
  ui.lay({
    stage: spot,
    bar: [ways.node, drags.size, drags.world],
    readout: end,
    drawer: [
      h("div", {}, h("p", { class: "tbviz-title" }, "Start from"), toolbar("Presets", chips)),
      note,
      h("div", { class: "sc-box" }, h("p", { class: "sc-title" }, "The questions"), asked),
      h("div", { class: "sc-box" }, h("p", { class: "sc-title" }, "Every candidate"), h("table", { class: "st-board" }, h("thead", {}, h("tr", {}, columns.map((label) => h("th", { scope: "col" }, label)))), board)),
      h("div", { class: "sc-box" }, shownTitle, about, answers.node),
    h(
      "div",
      { class: "st-groups" },
      group("Training", known, inputs.seq, inputs.batch, inputs.global_batch, picks.precision, picks.optimizer, picks.checkpoint, picks.flash),
      group("Cluster", card, inputs.gpus_per_node, inputs.nodes, wire, inputs.memory_gb, inputs.intra_gb, inputs.inter_gb, inputs.latency_us, inputs.tflops, inputs.utilisation),
      h("details", {}, h("summary", {}, "Shape of the model"), h("div", { class: "sc-fields" }, SHAPE.map((name) => inputs[name] ?? picks[name]))),
    ),
      h("div", { class: "sc-bar" }, copyButton("Copy as PyTorch", copied), link),
      h("details", { class: "sc-box" }, h("summary", {}, "What is assumed"), h("ul", { class: "st-list" }, ASSUMED.map((line) => h("li", {}, line)))),
    ],
  });
  draw();
  ui.watch(spot, draw);
  return ui.cleanup;
}

export default { render };
