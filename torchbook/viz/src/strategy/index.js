/** StrategyTool: questions answered by numbers, every candidate's memory, communication and time, with formulas. */

import { numberField, table } from "../core/form.js";
import { button, copyButton, h, replace, select, shell } from "../core/index.js";
import { SHEET } from "../core/sheet.js";
import { parameters } from "../memory/model.js";
import { amount, count, duration, significant } from "../core/units.js";
import { cardOf, CARDS, CHOICES, CONTRACT, describeLayout, FIELDS, modelOf, MODELS, NAMES, PICKS, planOf, problem, ROOM, SHAPE, speed, stateOf, STRATEGIES, wireOf, WIRES } from "./model.js";
import { cluster } from "./grid.js";
import { CSS } from "./style.js";
import { ABOUT, describe, rows, script } from "./words.js";

const ASSUMED = [
  "Estimates for choosing, not predictions: measure one step of the two best candidates before you rent the cluster.",
  "Memory counts tensors. A tenth of each GPU is left for the CUDA context, workspaces and fragmentation.",
  "The block is that of MemoryBudget. float32 weights with bf16 compute mean autocast under DDP, and a MixedPrecisionPolicy (bf16 parameters, float32 reduction) under fully_shard, which casts the residual stream too.",
  "Every collective is a ring as fast as its slowest link; over nodes each GPU has a network card of its own. A ring's rounds wait for the latency between nodes; an all-reduce has a tree's few rounds. No contention, no stragglers.",
  "Computing runs at one rate whatever the shapes; thin slices of tensor parallelism really run slower.",
  "What can hide is taken to hide. Tensor, context and pipeline communication hides behind nothing here; ring attention and pipelines do hide some.",
  "fully_shard gathers and reduces for each micro-batch, as it does unless told otherwise; DDP accumulates under no_sync() and reduces once, and so does a pipeline.",
  "Ranks next to each other are tensor parallel, then context, shards, replicas, stages. Degrees of tensor parallelism stay inside a node and divide the heads; 3D is the fastest of all degrees tried.",
];
const SHORT = { single: "one GPU", ddp: "DDP", zero2: "ZeRO-2", fsdp: "FSDP", hsdp: "HSDP", cp: "context", tp: "tensor", "3d": "3D" };
const OTHER = "other";
const SIZES = ["seq", "batch", "hidden", "ffn", "vocab", "positions"];
const AS = { gpus_per_node: 2, nodes: 2, global_batch: 2 };

function stepped(name, value, way, far) {
  const { low, high, whole } = FIELDS[name];
  const unit = SIZES.includes(name) && value >= 256 ? 2 ** (Math.floor(Math.log2(value)) - 3) : 1;
  const next = far || AS[name] ? (way > 0 ? value * 2 : value / 2) : value + way * unit;
  return Math.min(high, Math.max(low, whole ? Math.round(next) : next));
}

const OFF = 1.5; // a bar is as long as so many limits; what is more runs out of it

/** A candidate: its memory as a bar against the limit, and its speed; `press` is the button, and it has `draw`. */
function line(name, show) {
  const parts = { "st-state": (memory) => stateOf(memory), "st-gathered": (memory) => memory.gathered, "st-saved": (memory) => memory.activations + memory.logits };
  const bars = Object.keys(parts).map((cls) => h("i", { class: cls }));
  const [over, limit] = ["st-over", "st-limit"].map((cls) => h("i", { class: cls }));
  const [arrow, rate] = [h("span", { class: "st-arrow" }), h("span", { class: "st-speed" })];
  const bar = h("span", { class: "st-bar" }, bars, over, limit);
  const press = button(h("span", { class: "st-line" }, h("span", { class: "st-name" }, arrow, SHORT[name]), bar, rate), show, { kind: "row" });

  /** @param {object} plan @param {object|undefined} one the candidate, if there is any of that name @param {boolean} shown @param {number} most bytes */
  function draw(plan, one, shown, most) {
    press.disable(!one);
    press.setAttribute("aria-pressed", String(shown));
    const scale = 100 / (OFF * most);
    const sizes = one ? Object.values(parts).map((size) => size(one.memory)) : [0, 0, 0];
    bars.forEach((el, i) => (el.style.width = `${Math.min(101, sizes[i] * scale)}%`)); // no wider than what is seen of it
    limit.style.left = over.style.left = `${most * scale}%`;
    over.style.width = one && !one.fits ? `${Math.min(34, (one.memory.total - most) * scale)}%` : "0";
    arrow.textContent = name === plan.strategy ? "→ " : "";
    press.classList.toggle("st-not", Boolean(one) && !one.fits);
    rate.textContent = one ? speed(one.tokens_per_second).replace(/ (\w*) ?tokens\/s/, "$1") : "–";
    const told = name === plan.strategy ? ", the tree's end" : name === plan.fastest ? ", fastest" : "";
    press.setAttribute("aria-label", one ? `${STRATEGIES[name]}: ${amount(one.memory.total)}, ${one.fits ? "fits" : "too much"}, ${speed(one.tokens_per_second)}${told}` : `${STRATEGIES[name]}: not on this cluster`);
  }
  return { press, draw };
}

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
  const lines = Object.fromEntries(Object.keys(STRATEGIES).map((name) => [name, line(name, () => ui.set({ show: name }))]));
  const picture = h("div", { class: "st-rows", role: "group", "aria-label": "Candidates" }, Object.values(lines).map((one) => one.press));
  const limit = h("span", { class: "st-named", style: { left: `${100 / OFF}%` } });
  const heads = h("div", { class: "st-line st-heads" }, h("span"), h("span", { class: "st-over-bars" }, h("span", { class: "st-roomy" }, "a GPU’s "), "memory", limit), h("span", { class: "st-speed" }, "tokens/s"));
  const grid = cluster();

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

  /** One sentence on the candidate that is shown. */
  function tell(now, plan, one, odd) {
    const what = MODELS[modelOf(now)]?.label.split(", ").at(-1) ?? `${count(Math.round(parameters(now).total))} parameters`;
    const world = now.gpus_per_node * now.nodes;
    const chosen = plan.candidates[plan.strategy];
    const fast = one === chosen && plan.fastest !== plan.strategy && plan.candidates[plan.fastest];
    replace(
      end,
      one === chosen && "→ ",
      h("b", {}, SHORT[one.name]),
      `: ${what} on ${world} GPU${world === 1 ? "" : "s"}, ${describeLayout(one.layout)}, `,
      h("b", { class: one.fits ? "st-good" : "st-bad" }, amount(one.memory.total)),
      one.fits ? " each." : " each, too much.",
      fast && ` Faster, by these estimates: ${SHORT[fast.name]}.`,
      odd ? ` ${odd}` : !chosen && " Nothing here fits.",
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
          h("td", { "data-of": "tokens/s" }, h("span", { class: "st-one" }, speed(one.tokens_per_second).replace(" tokens/s", "")), one.wide && h("span", { class: "st-part" }, " too many replicas")),
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
    for (const [name, row] of Object.entries(lines)) row.draw(plan, plan.candidates[name], name === shown, ROOM * now.memory_gb * 1e9);
    limit.textContent = `limit ${Number((ROOM * now.memory_gb).toPrecision(3))} GB`;
    grid.draw(now, one, Math.max(240, Math.floor(spot.clientWidth) || 560));
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
  const swatch = (cls, label) => h("span", {}, h("i", { class: cls }), label);
  replace(spot, grid.node, h("p", { class: "sc-small st-key" }, swatch("st-state", "kept"), swatch("st-gathered", "gathered briefly"), swatch("st-saved", "activations")), h("div", {}, heads, picture));
  const columns = ["candidate", "memory of a GPU", "sent by it in a step", "waiting", "tokens/s"];
  ui.lay({
    stage: spot,
    presets: chips,
    readout: end,
    drawer: [
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
