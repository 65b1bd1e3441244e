/** LivingModel: a GPT that runs in the page. It reads the reader's text, and writes on. */

import { button, copyButton, h, replace, shell, slider, still, toggle, uid } from "../core/index.js";
import { contractOf } from "../core/contract.js";
import { ordinal } from "../core/units.js";
import { cacheOf, chances, last, luckOf, modelOf, MOST, placeOf, problemOf, readingOf, recorded, step, windowOf, writerOf } from "./model.js";
import { chart, picture } from "./picture.js";
import SETUP from "./setup.json";
import { CSS } from "./style.js";
import { describe, largest, percent, script, shown, two } from "./words.js";

const NEXT = 6; // characters that may come next, in the picture
const PACE = 45; // ms of a written character
const PASSES = 4; // over all characters, when both ways are timed
const RECORDED = "Recorded: a text of yours needs the model.";
const SLICE = 25; // ms of work between two looks at the reader
const ENOUGH = 20; // times of which there is a mean
const OWN = ["text", "at"];

// Browsers round their clocks, so single times of less than a millisecond say nothing, and means do.
const mean = (all) => all.reduce((a, b) => a + b, 0) / all.length;
const turn = () => new Promise((done) => setTimeout(done, 0));

function render({ model, el }) {
  const shape = model.get("shape");
  const readable = (text) => typeof text === "string" && !problemOf(text, shape.alphabet);
  const contract = contractOf(SETUP, { also: { text: readable, at: (at) => Number.isInteger(at) && at >= -1 && at < MOST } });
  const ui = shell({ model, el, contract, kind: "living" });
  ui.css(CSS);
  const known = Object.fromEntries(model.get("readings").map((one) => [one.text, one]));
  const first = model.get("readings")[0].text;
  const names = [...contract.names, ...OWN];
  const state = () => Object.fromEntries(names.map((name) => [name, model.get(name)]));
  const size = `${(shape.bytes / 1e6).toFixed(1)} MB`;

  let living = null; // the model, once its weights are here
  let reading = null;
  let writer = null;
  let writing = 0; // characters that are still to be written
  let luck = luckOf(1);
  let gone = false;
  const spent = { true: [], false: [] }; // ms of each written character, with the cache and without

  function read() {
    const text = model.get("text");
    if (living) return readingOf(living, text, reading);
    return reading?.text === text ? reading : known[text] ? recorded(known[text], shape) : null;
  }

  // ---------- what the reader does ----------

  const choose = (name) => ui.put(contract.settingOf(name));
  const link = ui.link({
    choose,
    start: (given) => ui.put({ ...contract.start, text: first, at: -1, ...given }),
    get: () => {
      const plain = model.get("text") === first && model.get("at") === -1;
      return (plain && contract.presetOf(ui.setting())) || state();
    },
  });
  const chips = ui.chips(choose);
  const rest = () => {
    writing = 0;
    view.node.classList.remove("lm-busy");
    act.textContent = "Write on";
    model.save_changes();
    queue();
  };
  const failed = (error) => {
    act.disable(false);
    act.textContent = `Load the model (${size})`;
    replace(status, `The model could not be loaded: ${error.message ?? error}.`);
  };
  async function load() {
    act.disable(true);
    act.textContent = "Loading …";
    try {
      const view = (await model.later?.("weights")) ?? model.get("weights");
      await turn();
      living = modelOf(shape, view);
    } catch (error) {
      failed(error);
      return;
    }
    if (gone) return;
    writer = writerOf(living);
    last(living, [0, 0]); // so that the first character is not timed with the browser's own preparations
    act.disable(false);
    act.textContent = "Write on";
    time.disable(false);
    replace(status, "The model is here: type, or let it write on.");
    draw();
  }
  const now = () => performance.now();
  /** Writes one character; the text has it, and the times. */
  function one() {
    const setting = ui.setting();
    const text = model.get("text");
    const { char, ms, computed } = writer(text, setting, luck, now);
    if (!setting.cache || computed === 1) spent[setting.cache].push(ms);
    writing -= 1;
    model.set("at", -1);
    model.set("text", text + char);
  }
  function go() {
    if (gone || writing <= 0) return;
    const begun = now();
    do one();
    while (still() && writing > 0 && now() - begun < SLICE);
    if (writing > 0) setTimeout(go, still() ? 0 : PACE);
    else rest();
  }
  function press() {
    if (!living) return load();
    if (writing) return rest();
    writing = Math.min(SETUP.write, MOST - model.get("text").length);
    if (writing <= 0) return replace(status, `The text has ${MOST} characters, the most that fit: shorten it, or start again.`);
    act.textContent = "Pause";
    view.node.classList.add("lm-busy");
    go();
  }
  const act = button(`Load the model (${size})`, press, { kind: "primary" });
  act.classList.add("lm-act");

  // ---------- what is seen ----------

  const pick = (at) => ui.set({ at: at === model.get("text").length - 1 ? -1 : at });
  const view = picture({ shape, pick });
  view.slider.addEventListener("keydown", (event) => {
    const text = model.get("text");
    const start = windowOf(text.length, shape.context);
    const at = start + placeOf({ text, start }, model.get("at"));
    const to = { ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1, PageUp: at + 8, PageDown: at - 8, Home: start, End: text.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    pick(Math.max(start, Math.min(text.length - 1, to)));
  });
  const list = h("ol", { class: "lm-list" });
  const next = h("div", { class: "lm-next" }, h("p", { class: "lm-title" }, "likeliest next"), list);

  const id = uid();
  const wrong = h("span", { class: "tbviz-error", role: "alert" });
  const area = h("textarea", {
    id,
    rows: 2,
    maxlength: MOST,
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "off",
    oninput: () => {
      const problem = problemOf(area.value, shape.alphabet);
      wrong.textContent = problem;
      area.setAttribute("aria-invalid", String(Boolean(problem)));
      if (problem) return;
      writing = 0;
      ui.set({ text: area.value, at: -1 });
    },
  });
  area.addEventListener("blur", () => {
    area.value = model.get("text");
    wrong.textContent = "";
    area.removeAttribute("aria-invalid");
  });
  const typed = h("div", { class: "tbviz-field lm-text" }, h("label", { for: id }, "text"), area, wrong);
  const stage = h("div", { class: "lm", role: "figure", "aria-label": "The text, the attention of one of its characters, and what may come next" }, view.node, next, typed);
  const { temperature: hot, top_p: most } = SETUP.fields;
  const heat = slider({ label: hot.label, min: hot.low, max: hot.high, step: 0.1, value: hot.value, format: (x) => x.toFixed(1), oninput: (x) => ui.set({ temperature: x }) });
  heat.classList.add("lm-heat");
  const top = slider({ label: most.label, min: most.low, max: most.high, step: 0.05, value: most.value, format: two, oninput: (x) => ui.set({ top_p: x }) });
  const keep = toggle(SETUP.choices.cache.label, true, (cache) => ui.set({ cache }));
  keep.classList.add("lm-keep");
  const told = h("p", { class: "lm-told" });
  const status = h("p", { class: "lm-status", role: "status" }, RECORDED);
  ui.on("cache", (cache) => living || replace(status, cache ? RECORDED : "Without the cache, every character that is written computes the whole text again."));
  const note = h("p", { class: "lm-note", role: "status" });
  const again = button("Start again", () => {
    writing = 0;
    luck = luckOf(1);
    ui.set({ text: first, at: -1 });
  });

  // ---------- the same characters, timed both ways ----------

  const times = h("div", { class: "lm-times" });
  const time = button("Time both ways", measure, { disabled: true });
  async function measure() {
    if (!living) return;
    rest();
    time.disable(true);
    const { context, alphabet } = shape;
    const ids = [...model.get("text").slice(windowOf(model.get("text").length, context))].map((char) => alphabet.indexOf(char));
    const [cached, anew] = [0, 1].map(() => Array(context).fill(0));
    for (let pass = 0; pass < PASSES; pass += 1) {
      const cache = cacheOf(living);
      for (let n = 0; n < context; n += 1) {
        const begun = now();
        const logits = step(living, ids[n], cache);
        const between = now();
        last(living, ids.slice(0, n + 1));
        const end = now();
        if (n + 1 === ids.length && ids.length < context) ids.push(largest(logits));
        cached[n] += between - begun;
        anew[n] += end - between;
        if (n % 8 === 7) {
          time.textContent = `Timing … ${Math.round((100 * (pass * context + n)) / (PASSES * context))} %`;
          await turn();
          if (gone) return;
        }
      }
    }
    time.textContent = "Time both ways";
    time.disable(false);
    const around = (all, n) => mean(all.slice(Math.max(0, n - 4), n + 4));
    const ratio = (n) => `${ordinal(n)} character takes ${(around(anew, n) / around(cached, n)).toFixed(0)} times as long without the cache as with it`;
    const told = `Measured here: the ${ratio(context / 2)}, and the ${ratio(context)}.`;
    replace(times, chart({ cached, anew }), h("p", { role: "status" }, h("span", { class: "lm-kept" }, "━ with"), " and ", h("span", { class: "lm-write" }, "━ without"), ` the cache. ${told}`));
  }

  // ---------- drawing ----------

  function drawNext({ listed, kept }) {
    const each = listed.slice(0, NEXT).map(([at, p], i) =>
      h("li", { class: i < kept ? null : "lm-out" }, h("span", { class: "lm-guess" }, shown(shape.alphabet[at])), h("span", { class: "lm-meter", "aria-hidden": "true" }, h("i", { style: { width: `${(100 * p).toFixed(1)}%` } })), h("span", { class: "lm-chance" }, percent(p))),
    );
    replace(list, each);
  }

  function drawTold(setting, likeliest) {
    const place = placeOf(reading, setting.at);
    const chars = setting.text.slice(reading.start);
    let best = [0, 0, 0];
    reading.rows.forEach((layer, l) => layer.forEach((head, k) => head[place].forEach((w, i) => i !== place && w > reading.rows[best[0]][best[1]][place][best[2]] && (best = [l, k, i]))));
    const [layer, head, key] = best;
    replace(
      told,
      `At “${shown(chars[place])}”, layer ${layer}, head ${head} looks `,
      h("span", { class: "lm-read" }, key === place ? "at itself" : `${place - key} back at “${shown(chars[key])}”`),
      `: ${percent(reading.rows[layer][head][place][key])} of its attention. Next: `,
      h("span", { class: "lm-write" }, `“${shown(shape.alphabet[likeliest[0]])}”`),
      `, ${percent(likeliest[1])}.`,
    );
  }

  function drawStatus() {
    if (spent.true.length < ENOUGH || spent.false.length < ENOUGH || !mean(spent.true)) return;
    const ratio = mean(spent.false) / mean(spent.true);
    replace(status, "Without the cache a character took ", h("b", {}, `${ratio.toFixed(ratio < 10 ? 1 : 0)} times`), " as long as with it.");
  }

  function draw() {
    const setting = state();
    reading = read();
    const start = windowOf(setting.text.length, shape.context);
    view.draw(reading, setting, start);
    if (document.activeElement !== area && area.getRootNode().activeElement !== area) {
      area.value = setting.text;
      area.scrollTop = area.scrollHeight;
    }
    heat.update({ value: setting.temperature });
    top.update({ value: setting.top_p });
    keep.press(setting.cache);
    if (reading) {
      const comes = chances(reading.logits[placeOf(reading, setting.at)], setting.temperature, setting.top_p);
      drawNext(comes);
      drawTold(setting, comes.listed[0]);
    } else {
      replace(list);
      replace(told, `Only the model knows what it makes of this text: load it (${size}).`);
    }
    drawStatus();
    ui.tell(note, ui.mark(contract.presetOf(ui.setting())));
    ui.soon(() => describe(reading, shape, setting), { quiet: writing > 0 });
  }
  const queue = ui.follow(draw, names);
  ui.watch(stage, draw);
  ui.defer(() => (gone = true));

  ui.lay({
    stage,
    presets: chips,
    bar: [act, keep, heat],
    readout: [told, status],
    drawer: [note, top, h("div", { class: "lm-line" }, again, time, copyButton("Copy as PyTorch", () => (reading ? script(reading, shape, state()) : "")), link), times],
  });
  draw();
  return ui.cleanup;
}

export default { render };
