/** MemoryBudget: what a transformer holds in memory, part by part, with every formula and its numbers. */

import { numberField, table } from "../core/form.js";
import { button, copyButton, h, keyed, replace, select, shell, toolbar } from "../core/index.js";
import { SHEET } from "../core/sheet.js";
import { amount } from "../core/units.js";
import { CARDS, changes, CHOICES, CONTRACT, FIELDS, firstChange, modelOf, MODELS, NAMES, PICKS, REMEDIES, results, taken } from "./model.js";
import { stack } from "./picture.js";
import { CSS } from "./style.js";
import { describe, rows, script } from "./words.js";

const OTHER = "other";
const matches = (a, b) => Object.keys(a).length === Object.keys(b).length && Object.keys(a).every((name) => a[name] === b[name]);
const SIZES = ["seq", "batch", "hidden", "ffn", "vocab", "positions"];

function stepped(name, value, way, far) {
  const { low, high, whole } = FIELDS[name];
  const unit = SIZES.includes(name) && value >= 256 ? 2 ** (Math.floor(Math.log2(value)) - 3) : 1;
  const next = far ? (way > 0 ? value * 2 : value / 2) : value + way * unit;
  return Math.min(high, Math.max(low, whole ? Math.round(next) : next));
}

function render({ model, el }) {
  const ui = shell({ model, el, contract: CONTRACT, kind: "memory", changed: (given) => Object.keys(given).forEach((name) => inputs[name]?.refresh(true)) });
  ui.css(SHEET);
  ui.css(CSS);
  const replaced = {}; // by remedy that was taken here, what it replaced
  let eased = null; // the last remedy: the bytes before it, and the setting after it
  const { setting, put } = ui;
  const link = ui.link();
  const chips = ui.chips();
  const inputs = Object.fromEntries(
    NAMES.map((name) => [
      name,
      numberField({
        label: FIELDS[name].unit ? `${FIELDS[name].label}, ${FIELDS[name].unit}` : FIELDS[name].label,
        get: () => model.get(name),
        put: (value) => ui.set({ [name]: value }),
        problem: (value) => CONTRACT.problem(name, value),
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
  const known = select({
    label: "model",
    options: [...Object.entries(MODELS).map(([value, { label }]) => ({ value, label })), { value: OTHER, label: "a shape of your own" }],
    value: OTHER,
    onchange: (name) => MODELS[name] && put(MODELS[name].shape),
  });
  const cards = CARDS.map((size) => button(`${size} GB`, () => put({ memory_gb: size })));
  const note = h("p", { class: "sc-note", role: "status" });
  const head = h("p", { class: "mb-told" });
  const picture = stack();
  const spot = picture.node;
  const remedies = Object.entries(REMEDIES).map(([name, one]) => ({ name, ...one, press: button(one.label, () => remedy(name)) }));
  const remedyBar = toolbar("What saves memory", remedies.map((one) => one.press));
  remedyBar.classList.add("mb-ways");
  remedyBar.replaceChildren(); // those of a setting are put in as it is drawn
  const remedyList = keyed(remedyBar, { key: (one) => one.name, make: (one) => one.press, update: () => {} });

  /** Take a remedy, or take it back: what it had replaced comes again. */
  function remedy(name) {
    const { set, unset } = REMEDIES[name];
    const now = setting();
    const on = taken(now, REMEDIES[name]);
    const next = on ? { ...unset, ...replaced[name] } : set;
    if (on) delete replaced[name];
    else replaced[name] = Object.fromEntries(Object.keys(set).map((key) => [key, now[key]]));
    eased = on ? null : { bytes: results(now).total, setting: { ...now, ...next } };
    put(next);
  }
  const ways = h("ul", { class: "mb-list" });
  const waysTitle = h("p", { class: "sc-title" });
  const waysBox = h("div", { class: "sc-box" }, waysTitle, ways);
  const answers = table();
  const offered = new Map();

  /** Buttons stay the same elements, so that a press does not lose the focus. */
  function offer(now) {
    const first = firstChange(now);
    waysTitle.textContent = results(now).fits ? "What would save memory" : "What to change, first what alters the training least";
    const items = changes(now).map((one) => {
      const key = one.name;
      if (!offered.has(key)) {
        const press = button(one.name, () => put(offered.get(key).set));
        const told = h("span");
        offered.set(key, { press, told, item: h("li", {}, press, told) });
      }
      const kept = offered.get(key);
      kept.set = one.set;
      replace(kept.told, "→ ", h("b", {}, amount(one.total)), one.fits ? ", fits" : ", does not fit", first?.name === key && (one.fits ? ": change this first" : ": saves most"));
      return kept.item;
    });
    const focused = ways.contains(document.activeElement) && document.activeElement;
    replace(ways, items);
    if (focused && focused.isConnected) focused.focus();
    else if (focused) ways.querySelector("button")?.focus();
    waysBox.hidden = !items.length;
  }

  function draw() {
    const now = setting();
    const { mode } = now;
    Object.values(inputs).forEach((one) => one.refresh());
    for (const name of PICKS) picks[name].update({ value: String(now[name]) });
    known.update({ value: modelOf(now) ?? OTHER });
    const only = { rank: "lora", targets: "lora", kv_bits: "infer" };
    for (const [name, when] of Object.entries(only)) (inputs[name] ?? picks[name]).hidden = mode !== when;
    for (const name of ["optimizer", "flash", "checkpoint", "zero"]) picks[name].hidden = mode === "infer";
    picks.bits.hidden = mode === "train";
    cards.forEach((one, i) => one.setAttribute("aria-pressed", String(CARDS[i] === now.memory_gb)));
    const hint = ui.mark(CONTRACT.presetOf(now));
    const odd = now.hidden % now.heads ? "The hidden size is not a multiple of the heads: no such model exists." : now.heads % now.kv_heads ? "The heads are not a multiple of the key and value heads: no such model exists." : "";
    ui.tell(note, hint);
    const all = results(now);
    const first = firstChange(now);
    const called = first && (remedies.find((one) => matches(first.set, one.set))?.label ?? first.name); // as on its button
    replace(
      head,
      now.gpus > 1 ? "On each GPU " : "",
      h("b", { class: all.fits ? "good" : "bad" }, amount(Math.abs(all.room))),
      all.fits ? " are left." : " too much.",
      odd ? ` ${odd}` : first && [first.fits ? " First: " : " Most is saved by: ", h("b", {}, called), `, to ${amount(first.total)}.`],
    );
    const possible = remedies.filter((one) => one.modes.includes(mode));
    remedyList(possible);
    remedyBar.reset();
    for (const one of possible) {
      one.press.setAttribute("aria-pressed", String(taken(now, one)));
      const best = Boolean(first) && matches(first.set, one.set);
      one.press.classList.toggle("mb-first", best);
      one.press.title = `${one.about}${best ? ". Change this first" : ""}`;
    }
    const before = eased && matches(eased.setting, now) ? eased.bytes : 0;
    picture.draw(now, Math.max(240, Math.floor(spot.clientWidth) || 560), before);
    offer(now);
    answers.draw(rows(now));
    ui.say(describe(now));
  }
  ui.follow(draw);

  const group = (title, ...of) => h("fieldset", {}, h("legend", {}, title), h("div", { class: "sc-fields" }, of));
  ui.lay({
    stage: spot,
    presets: chips,
    bar: remedyBar,
    readout: head,
    drawer: [
      note,
    h(
      "div",
      { class: "mb-groups" },
      group("Run", known, picks.mode, picks.precision, picks.optimizer, inputs.batch, inputs.seq, picks.flash, picks.checkpoint, picks.bits, picks.kv_bits, inputs.rank, picks.targets),
      group("GPUs", inputs.gpus, picks.zero, inputs.memory_gb, h("div", { class: "mb-cards", role: "group", "aria-label": "Cards" }, cards)),
      h("details", {}, h("summary", {}, "Shape of the model"), h("div", { class: "sc-fields" }, inputs.layers, inputs.hidden, inputs.heads, inputs.kv_heads, inputs.ffn, inputs.vocab, inputs.positions, picks.family, picks.tied)),
    ),
    h("div", { class: "sc-bar" }, copyButton("Copy as Python", () => script(setting())), link),
      waysBox,
      h("div", { class: "sc-box" }, answers.node),
    ],
  });
  draw();
  ui.watch(spot, draw);
  return ui.cleanup;
}

export default { render };
