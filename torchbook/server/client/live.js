// Cells that run in the page. It is loaded by pages that `torchbook live` serves, and by no others.
import { agreed, started } from "./binder.js";
import { hash, Edits } from "./edits.js";
import { Kernel, KernelGone } from "./kernel.js";
import { Outputs, printed, verdict } from "./outputs.js";
import { Widgets } from "./widgets.js";

const settings = JSON.parse(document.querySelector('meta[name="torchbook-live"]').content);
const address = (path) => new URL(path, location.href);
const site = address(settings.site);
const page = location.pathname.slice(site.pathname.length).replace(/\.html$/, "");
const GPU_ONLY = "gpu-only";
const RAISES = "raises-exception";
const PARAMETERS = "parameters";

const make = (tag, { text, label, press, ...properties } = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), tag === "button" ? { type: "button" } : {}, properties);
  if (text !== undefined) made.textContent = text;
  if (label) made.setAttribute("aria-label", label);
  if (press) made.addEventListener("click", press);
  made.append(...children);
  return made;
};
const duration = (seconds) => (seconds < 90 ? `${Math.max(1, Math.round(seconds))} s` : `${Math.round(seconds / 60)} min`);
const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

// ---------- Python ----------

const widgets = new Widgets();

// The one kernel of this page: it starts at the first cell that runs, and ends with the page.
class Python {
  constructor() {
    this.server = { base: address(settings.base) };
    this.state = "off";
    this.listeners = [];
    this.runs = 0; // kernels that this page has had
  }

  say(state, words = "") {
    Object.assign(this, { state, words });
    this.listeners.forEach((listener) => listener());
  }

  ready() {
    return (this.starting ??= this.start().catch((error) => {
      this.starting = undefined;
      this.say("off", error.message);
      throw error;
    }));
  }

  async start() {
    this.say("starting");
    this.runs += 1;
    const told = { comm: (...message) => widgets.take(...message), gone: (why) => this.gone(why) };
    this.kernel = widgets.kernel = new Kernel(this.server, told);
    await this.kernel.start();
    const begin = `__import__("torchbook.server.inside", fromlist=["begin"]).begin(${book.threads})["torch"]`;
    const reply = await this.kernel.run("", { silent: true, expressions: { torch: begin } });
    const { status, data = {}, evalue } = reply.user_expressions?.torch ?? { status: "error", evalue: reply.evalue };
    const problem = status !== "ok" ? `torchbook is missing in the Python that runs cells (${evalue}): pip install torchbook`
      : data["text/plain"] === "''" ? "torch is missing in the Python that runs cells: pip install torch torchvision" : "";
    if (problem) {
      await this.kernel.stop();
      throw new Error(problem);
    }
    this.version = data["text/plain"].replaceAll("'", "");
    this.say("idle");
  }

  gone(why) {
    this.starting = undefined;
    this.say("off", `${why}. What the cells had made is lost: run them again.`);
  }

  async run(code, output) {
    await this.ready();
    this.say("busy");
    try {
      return await this.kernel.run(code, { output });
    } finally {
      if (this.state === "busy") this.say("idle");
    }
  }

  interrupt() {
    return this.kernel?.interrupt().catch((error) => this.say(this.state, error.message));
  }

  // Goes on on another machine, where the reader agrees.
  async move(build) {
    if (!(await agreed(build, make))) return;
    await this.kernel?.stop();
    this.say("starting", "");
    try {
      this.server = await started(build, (words) => this.say("starting", words));
      this.starting = undefined;
      await this.ready();
    } catch (error) {
      this.say("off", error.message);
    }
  }

  async restart() {
    this.starting = undefined;
    this.runs += 1; // from now on no cell has run
    this.say("starting");
    const old = this.kernel;
    this.kernel = widgets.kernel = undefined;
    await old?.stop();
    await this.ready();
  }
}

const python = new Python();
addEventListener("pagehide", () => python.kernel?.stop());
addEventListener("pageshow", ({ persisted }) => persisted && python.gone("This page was left, and Python ended"));

// ---------- what a cell shows ----------

let viz;

// The starter of figures, which a page without figures has not loaded.
function starter() {
  const there = [...document.scripts].some(({ src }) => src.includes("viz-static.js"));
  return (viz ??= there ? Promise.resolve() : new Promise((done, failed) => {
    const script = make("script", { src: new URL("_static/viz-static.js", site), onload: done, onerror: failed });
    document.head.append(script);
  }));
}

async function addFigure(figure, model) {
  await starter();
  figure.dispatchEvent(new CustomEvent("viz-figure", { bubbles: true, detail: model }));
}

// ---------- editing ----------

let editing;
const editor = () => (editing ??= import("./editor.js"));

// What can be edited and run: a cell of the page, or the stub of an exercise.
class Unit {
  constructor({ id, book, tags = [], seconds = 0 }, place) {
    Object.assign(this, { id, book, tags, seconds, place, ranIn: 0, state: "" });
  }

  get text() {
    return this.edit ?? this.book;
  }

  get edited() {
    return this.edit !== undefined;
  }

  // Tools below the code: `name` is what a screen reader calls the unit, `run` the words of the first button.
  furnish(name, run) {
    this.name = name;
    this.runButton = make("button", { text: run, label: `${run}: ${name}`, className: "live-run", press: () => this.pressRun() });
    this.runWords = run;
    this.editButton = make("button", { text: "Edit", label: `Edit: ${name}`, press: () => this.open() });
    this.resetButton = make("button", { text: "Reset", label: `Reset to the book's text: ${name}`, press: () => this.reset(), hidden: true });
    this.status = make("span", { className: "live-status" });
    this.status.setAttribute("role", "status");
    this.tools = make("div", { className: "live live-tools" }, this.runButton, this.editButton, this.resetButton, this.status);
    this.box = make("div", { className: "live live-editor", hidden: true });
    this.offer = make("div", { className: "live live-offer", hidden: true });
    this.output = make("div", { className: "live live-output", hidden: true });
    this.output.setAttribute("role", "group");
    this.output.setAttribute("aria-label", `Output here: ${name}`);
    this.remember();
  }

  remember() {
    const kept = edits.of(this, hashes());
    if (!kept) return;
    this.edit = kept.text;
    this.tell(kept.stale ? "your text; the book's cell has changed since: Reset shows the new one" : "your text");
    this.mark();
    this.open(false);
  }

  mark() {
    this.resetButton.hidden = !this.edited;
    this.place.classList.toggle("live-edited", this.edited);
  }

  tell(words, state = "") {
    this.status.textContent = words;
    this.state = this.status.dataset.state = state;
    bar.summarise();
  }

  async open(focus = true) {
    if (this.editor) return focus && this.editor.focus();
    const { open } = await editor();
    if (this.editor) return;
    this.box.hidden = false;
    this.place.classList.add("live-editing");
    this.editor = open(this.box, {
      text: this.text,
      label: `${this.name}. Shift and Enter runs it, Escape leaves the editor.`,
      run: () => this.pressRun(),
      leave: () => this.runButton.focus(),
      changed: (text) => this.changed(text),
    });
    if (focus) this.editor.focus();
  }

  changed(text) {
    this.edit = text === this.book ? undefined : text;
    if (!edits.keep(this, this.edit)) this.tell("your text, which this browser does not keep");
    else if (this.state) this.tell("changed since it ran");
    this.mark();
  }

  reset() {
    this.edit = undefined;
    edits.keep(this, undefined);
    this.editor?.close();
    this.editor = undefined;
    this.box.hidden = true;
    this.place.classList.remove("live-editing");
    this.mark();
    this.tell("the book's text again");
    this.editButton.focus();
  }

  get ran() {
    return this.ranIn > 0 && this.ranIn === python.runs && python.state !== "off";
  }

  pressRun() {
    if (this.running) return python.interrupt();
    const above = this.above().filter((one) => !one.ran);
    if (above.length) return this.offerAbove(above);
    return this.runSafely();
  }

  above() {
    return [];
  }

  offerAbove(above) {
    const seconds = above.reduce((sum, one) => sum + one.seconds, 0);
    const took = seconds ? `, ${duration(seconds)} in the book's run` : "";
    const close = () => (this.offer.hidden = true);
    const all = make("button", { text: `Run ${counted(above.length, "cell")} above first`, press: async () => {
      close();
      this.runButton.focus();
      if (await runAll(above)) await this.runSafely();
    } });
    const only = make("button", { text: "Run only this", press: () => (close(), this.runButton.focus(), this.runSafely()) });
    const words = make("span", { text: `The cells above have not run yet${took}.` });
    this.offer.replaceChildren(words, all, only);
    this.offer.onkeydown = ({ key }) => key === "Escape" && (close(), this.runButton.focus());
    this.offer.hidden = false;
    all.focus();
  }

  // Says what goes wrong, and whether the next cell may run.
  async runSafely() {
    if (this.running) return false;
    this.offer.hidden = true;
    this.running = true;
    this.runButton.textContent = "Interrupt";
    this.runButton.setAttribute("aria-label", `Interrupt: ${this.name}`);
    this.place.setAttribute("aria-busy", "true");
    this.tell(python.starting && python.state !== "starting" ? "running…" : "Python starts…", "running");
    try {
      await python.ready();
      this.tell("running…", "running");
      return await this.run();
    } catch (error) {
      this.tell(error.message, "failed");
      if (!(error instanceof KernelGone)) console.error(error);
      return false;
    } finally {
      this.running = false;
      this.runButton.textContent = this.runWords;
      this.runButton.setAttribute("aria-label", `${this.runWords}: ${this.name}`);
      this.place.removeAttribute("aria-busy");
    }
  }

  async execute(code, outputs) {
    this.output.hidden = false;
    const reply = await python.run(code, (type, content) => outputs.take(type, content));
    return { reply, all: await outputs.complete() };
  }
}

class Cell extends Unit {
  constructor(entry, place, number) {
    super(entry, place);
    this.number = number;
    this.furnish(`Cell ${number}`, "Run");
    const book = place.querySelector(":scope > .cell_output");
    const parts = [this.box, this.tools, this.offer];
    if (book) book.before(...parts);
    else place.append(...parts);
    place.append(this.output);
  }

  above() {
    return cells.slice(0, cells.indexOf(this)).filter((one) => !one.skipped);
  }

  get skipped() {
    return this.tags.includes(GPU_ONLY);
  }

  // The page's parameters follow the bar, unless the reader has written others into their cell.
  get code() {
    return this.tags.includes(PARAMETERS) && !this.edited ? `${this.text}\n${bar.parameters()}` : this.text;
  }

  async run() {
    const before = performance.now();
    const { reply, all } = await this.execute(this.code, new Outputs(this.output, widgets, addFigure));
    this.ranIn = python.runs;
    this.took = performance.now() - before;
    if (!this.tags.includes("remove-output")) {
      const { verdict: state, words } = verdict(all, printed(this.place), this.tags);
      this.tell(this.edited ? `your text; ${words}` : words, state);
    } else this.tell("has run; the book does not show its output", "same");
    this.output.classList.toggle("live-same", this.state === "same" && !this.output.querySelector("figure"));
    this.output.hidden = !all.length;
    return reply.status === "ok" || this.tags.includes(RAISES);
  }
}

// A cell that the page does not show, and that others need.
class Hidden extends Cell {
  constructor(entry) {
    super(entry, make("div"), 0);
  }
}

// ---------- exercises ----------

class Exercise extends Unit {
  constructor(entry, section, name) {
    super(entry, section);
    this.exercise = name;
    const stub = section.querySelector(":scope > .highlight-python");
    stub.classList.add("live-stub");
    this.furnish(`Exercise ${name}`, "Check");
    stub.after(this.box, this.tools, this.offer, this.output);
    this.facts = make("span", { className: "live-progress" });
    section.querySelector(".exercise-facts")?.append(this.facts);
    section.addEventListener("toggle", ({ target }) => target.open && this.opened(target), true);
  }

  showProgress(state) {
    this.facts.textContent = state ? ` · ${state}` : "";
  }

  async run() {
    const outputs = new Outputs(this.output, widgets, addFigure);
    const { reply } = await this.execute(this.text, outputs);
    if (reply.status !== "ok") {
      this.tell("your code stopped with an error, so nothing was checked", "failed");
      return false;
    }
    let headline = "nothing was checked";
    const code = `from torchbook.practice import check, hint, solution\n\ncheck("${this.exercise}")`;
    const checked = await python.run(code, (type, content) => {
      if (type === "display_data") headline = content.data["text/plain"].split("\n")[0].replaceAll("`", "");
      outputs.take(type, content);
    });
    await outputs.complete();
    this.linkHints();
    const records = await progress();
    const state = records[this.exercise] ?? "";
    this.tell(headline, checked.status === "ok" ? "checked" : "failed");
    this.showProgress(state);
    return checked.status === "ok";
  }

  // hint("p01-x3", 2) in what a check says leads to that hint on the page.
  linkHints() {
    for (const code of this.output.querySelectorAll("code")) {
      const [, name, number] = /^hint\("([\w-]+)", (\d+)\)$/.exec(code.textContent) ?? [];
      const hint = name === this.exercise && this.place.querySelector(`details#ex-${name}-hint-${number}`);
      if (!hint) continue;
      const press = () => {
        hint.open = true;
        hint.querySelector("summary").focus();
      };
      code.replaceWith(make("button", { text: `Hint ${number}`, className: "live-hint", press }));
    }
  }

  // What was opened is kept beside what was tried, as notebook and terminal keep it.
  opened(details) {
    const number = /-hint-(\d+)$/.exec(details.id)?.[1];
    if (number) note({ exercise: this.exercise, hint: Number(number) });
    else if (/-solution$/.test(details.id)) note({ exercise: this.exercise });
  }
}

const server = new Kernel({ base: address(settings.base) }); // no kernel of it is ever started: it only asks
const progressAt = `${settings.client.slice(settings.base.length)}progress`;

async function progress() {
  try {
    return (await server.ask(progressAt)).records;
  } catch {
    return {};
  }
}

async function note(what) {
  await server.ask(progressAt, "POST", what).catch(() => {});
  const records = await progress();
  exercises.forEach((one) => one.showProgress(records[one.exercise]));
}

// ---------- the page's bar ----------

class Bar {
  build(at) {
    this.state = make("span", { className: "live-status" });
    this.state.setAttribute("role", "status");
    this.all = make("button", { text: "Run all", press: () => (this.busy ? python.interrupt() : this.runPage()) });
    this.interrupt = make("button", { text: "Interrupt", press: () => python.interrupt(), disabled: true });
    this.restart = make("button", { text: "Restart", label: "Restart Python", press: () => python.restart().catch(() => {}), disabled: true });
    this.summary = make("p", { className: "live-summary" });
    this.fields = this.buildFields();
    const move = () => python.move(settings.binder).then(() => away.focus());
    const away = make("button", { text: "Use Binder…", hidden: !settings.binder, press: move });
    const tools = make("div", { className: "live-tools" }, this.all, this.interrupt, this.restart, away, this.state);
    this.element = make("section", { className: "live live-bar" }, tools, this.fields, this.summary);
    this.element.setAttribute("aria-label", "Python on this page");
    at(this.element);
    python.listeners.push(() => this.follow());
    this.follow();
  }

  runPage() {
    for (const one of cells.filter(({ skipped }) => skipped)) one.tell("needs a GPU: not run with the others");
    return runAll(cells.filter(({ skipped }) => !skipped));
  }

  buildFields() {
    const { DEVICE, FAST, SEED } = book.parameters;
    const options = [...new Set([DEVICE, "auto", "cpu", "cuda", "mps"])].map((one) => make("option", { text: one, value: one }));
    this.device = make("select", {}, ...options);
    this.fast = make("input", { type: "checkbox", checked: FAST });
    this.seed = make("input", { type: "number", value: SEED, step: 1, min: 0 });
    const named = (name, field) => make("label", {}, `${name} `, field);
    const fields = make("fieldset", { className: "live-fields" }, make("legend", { text: "Parameters of this page" }),
      named("DEVICE", this.device), named("FAST", this.fast), named("SEED", this.seed));
    fields.addEventListener("change", () => this.note());
    return fields;
  }

  note() {
    const first = cells.find((one) => one.tags.includes(PARAMETERS));
    if (first?.ran) {
      first.ranIn = 0;
      cells.forEach((one) => (one.ranIn = 0));
      this.state.textContent = "The parameters hold from the next run of all cells.";
    }
  }

  parameters() {
    const fast = this.fast.checked ? "True" : "False";
    return `DEVICE = ${JSON.stringify(this.device.value)}\nFAST = ${fast}\nSEED = ${Math.trunc(Number(this.seed.value) || 0)}`;
  }

  follow() {
    const words = { off: "Python starts with the first cell that runs.", starting: "Python starts…", idle: `Python is ready, torch ${python.version ?? ""}`, busy: "Python is busy…" };
    this.state.textContent = python.words || words[python.state];
    this.state.dataset.state = { starting: "running", busy: "running" }[python.state] ?? "";
    this.interrupt.disabled = python.state !== "busy";
    this.restart.disabled = python.state === "off" || python.state === "starting";
  }

  summarise() {
    if (!this.summary) return;
    const shown = cells.filter(({ number }) => number);
    const with_ = (state, edited) => shown.filter((one) => one.state === state && (edited === undefined || one.edited === edited));
    const [same, varies, differ, failed] = [with_("same"), with_("varies"), with_("differs"), with_("failed")];
    const ran = same.length + varies.length + differ.length + failed.length;
    this.summary.replaceChildren();
    if (!ran) return;
    const parts = [`${ran} of ${counted(shown.length, "cell")} run`, `${same.length} same as in the book`];
    if (varies.length) parts.push(`${varies.length} with times that differ every time`);
    this.summary.append(parts.join(" · "));
    for (const [list, word] of [[differ, "differs"], [failed, "failed"]]) {
      for (const one of list) {
        const link = make("a", { text: `cell ${one.number} ${word}`, href: `#${one.anchor}` });
        this.summary.append(" · ", link);
      }
    }
  }
}

const bar = new Bar();

// Runs cells in their order until one fails; says whether all have run.
async function runAll(list) {
  if (bar.busy) return false;
  bar.busy = true;
  bar.all.textContent = "Stop";
  try {
    for (const one of list) if (!(await one.runSafely())) return false;
    return true;
  } finally {
    bar.busy = false;
    bar.all.textContent = "Run all";
  }
}

// ---------- the page ----------

const edits = new Edits(site.pathname + page);
let entries = [];
const hashes = () => (entries.hashes ??= entries.map(({ book: text }) => hash(text)));
const cells = [];
const exercises = [];
const book = { threads: 1, parameters: { DEVICE: "cpu", FAST: false, SEED: 0 } };

const textOf = ({ source }) => [source].flat().join("").replace(/\n+$/, "");

async function begin() {
  const places = [...document.querySelectorAll("article div.cell")];
  const sections = [...document.querySelectorAll("article section.exercise")];
  if (!places.length && !sections.length) return;
  const answer = await fetch(new URL(`notebooks/${page}.ipynb`, site));
  if (!answer.ok) return console.error("torchbook live: this page has no notebook, so its cells cannot run");
  const notebook = await answer.json();
  Object.assign(book, notebook.metadata.torchbook);
  const code = notebook.cells.filter(({ cell_type: type }) => type === "code");
  const seconds = notebook.metadata.torchbook?.cell_seconds ?? [];
  const own = code.filter(({ id }) => /^cell-\d+$/.test(id));
  const stubs = new Map(code.filter(({ id }) => id.endsWith("-stub")).map((cell) => [cell.id.replace(/-stub$/, ""), cell]));
  const entry = (cell, n) => ({ id: cell.id, book: textOf(cell), tags: cell.metadata.tags ?? [], seconds: seconds[n] ?? 0 });
  entries = [...own.map(entry), ...[...stubs.values()].map((cell) => entry(cell))];
  const head = document.querySelector(".chapter-head") ?? document.querySelector("article h1");
  bar.build((element) => head.after(element));
  let at = 0;
  own.forEach((cell, n) => {
    const hidden = (cell.metadata.tags ?? []).includes("remove-cell");
    if (hidden) return cells.push(new Hidden(entries[n]));
    const place = places[at++];
    place.id ||= `live-${cell.id}`;
    const one = new Cell(entries[n], place, at);
    one.anchor = place.id;
    cells.push(one);
  });
  for (const section of sections) {
    const name = section.id.replace(/^ex-/, "");
    if (stubs.has(name)) exercises.push(new Exercise(entry(stubs.get(name)), section, name));
  }
  document.documentElement.dataset.live = "ready";
  const records = await progress();
  exercises.forEach((one) => one.showProgress(records[one.exercise]));
}

begin();
