/** KVCacheExplorer: generating with and without a cache of keys and values, its memory, and pages. */

import { button, copyButton, h, player, replace, select, shell, slider, toolbar } from "../core/index.js";
import { numberField } from "../core/form.js";
import { amount, count, prefixed, significant } from "../core/units.js";
import { cachePositions, CONTRACT, divisors, FIELDS, generation, LONGEST, mismatch, modelOf, MODELS, MORE, named, otherRequests, paddedPositions, pools, problem, room, SHAPE, START, summary, VALUE_BYTES, VIEWS, WEIGHT_BYTES } from "./model.js";
import { pool, shelves, triangles } from "./picture.js";
import { CSS } from "./style.js";
import { commas, describe, events, kindOf, letter, product, script } from "./words.js";

const FIRST = ["steps", "llama-3-8b", "pages"]; // presets in the line of control: one of each view
const SHORT = { "multi-head": "MHA", "grouped-query": "GQA", "multi-query": "MQA" };
const sum = (all) => all.reduce((a, b) => a + b, 0);
const heads = (names) => h("thead", {}, h("tr", {}, names.map((text) => h("th", { scope: "col" }, text))));
const row = (name, cells, on) => h("tr", { class: on ? "on" : null }, h("th", { scope: "row" }, name), cells.map((text) => h("td", {}, text)));

function render({ model, el }) {
  const ui = shell({ model, el, contract: CONTRACT, kind: "kvcache", reset: { reply: [], step: 0, moment: 0 }, changing: () => steps.stop() });
  ui.css(CSS);
  const { setting, put } = ui;
  const inPages = () => model.get("view") === "pages";
  const last = () => (inPages() ? pools(setting())[0].length : model.get("new_tokens")) - 1;
  const at = () => Math.min(model.get(inPages() ? "moment" : "step"), last());
  const seek = (to) => put({ [inPages() ? "moment" : "step"]: Math.max(0, Math.min(last(), to)) });
  const link = ui.link({ get: () => ({ ...setting(), reply: model.get("reply") ?? [], step: model.get("step"), moment: model.get("moment") }) });
  const chips = ui.chips(undefined, Object.fromEntries([...new Set([...FIRST, ...Object.keys(CONTRACT.presets)])].map((name) => [name, CONTRACT.presets[name]])));
  const views = Object.entries(VIEWS).map(([view, label]) => button(label, () => put({ view })));

  // Changes that keep the numbers fitting each other
  const shaped = (changes) => {
    const now = { ...setting(), ...changes };
    const old = setting();
    if (now.heads % now.kv_heads) now.kv_heads = now.heads;
    const hidden = Math.max(1, Math.min(FIELDS.hidden.high, Math.round((old.hidden / (old.heads * old.head_dim)) * now.heads * now.head_dim)));
    put({ ...changes, kv_heads: now.kv_heads, hidden });
  };
  const paged = (changes) => {
    const now = { ...setting(), ...changes };
    now.reserve = Math.max(now.reserve, ...now.requests.map(cachePositions));
    if (now.page * now.capacity < now.reserve) now.capacity = Math.ceil(now.reserve / now.page);
    if (!mismatch(now)) put({ ...changes, reserve: now.reserve, capacity: now.capacity, moment: "requests" in changes ? 0 : model.get("moment") });
  };
  const prompted = (n) => {
    const old = model.get("prompt");
    put({ prompt: [...old, ...START.prompt, ...MORE].slice(0, Math.max(n, 1)).map((text, i) => (i < old.length ? text : [...START.prompt, ...MORE][i])), step: 0 });
  };

  const models = select({ label: "model", options: [], value: "", onchange: (value) => value && put({ ...Object.fromEntries(SHAPE.map((name) => [name, MODELS[value].shape[name]])) }) });
  const kv = select({ label: "KV heads", options: [], value: "", onchange: (value) => put({ kv_heads: Number(value) }) });
  const pick = (label, options, name) => select({ label, options: Object.entries(options).map(([value, text]) => ({ value, label: text })).sort((a, b) => b.value - a.value), value: "2", onchange: (value) => put({ [name]: Number(value) }) });
  const valueBytes = pick("bytes of a number", VALUE_BYTES, "bytes_per_value");
  const weightBytes = pick("bytes of a weight", WEIGHT_BYTES, "weight_bytes");
  const numbers = Object.fromEntries(
    [
      ["layers", FIELDS.layers.label, (x) => put({ layers: x })],
      ["heads", FIELDS.heads.label, (x) => shaped({ heads: x })],
      ["head_dim", FIELDS.head_dim.label, (x) => shaped({ head_dim: x })],
      ["memory_gb", "memory, GB", (x) => put({ memory_gb: x })],
      ["length", FIELDS.length.label, (x) => put({ length: x })],
    ].map(([name, label, change]) => {
      const next = (x, way, far) => {
        const near = far ? x * 2 ** way : x + way;
        return problem(name, near) ? x : near;
      };
      return [name, numberField({ label, get: () => model.get(name), put: change, problem: (x) => problem(name, x), next })];
    }),
  );
  const slide = (name, label, min, max, change) => slider({ label, min, max, value: min, oninput: change });
  const sliders = {
    prompt: slide("prompt", "tokens of prompt", 1, LONGEST, prompted),
    new_tokens: slide("new_tokens", FIELDS.new_tokens.label, 1, FIELDS.new_tokens.high, (x) => put({ new_tokens: x })),
    page: slide("page", FIELDS.page.label, 1, FIELDS.page.high, (x) => paged({ page: x })),
    capacity: slide("capacity", FIELDS.capacity.label, 1, FIELDS.capacity.high, (x) => paged({ capacity: x })),
    reserve: slide("reserve", FIELDS.reserve.label, 1, FIELDS.reserve.high, (x) => paged({ reserve: x })),
  };
  let seed = 0;
  const other = button("Other sequences", () => paged({ requests: otherRequests((seed += 1)) }));
  const of = {
    steps: [models, kv, valueBytes, numbers.layers, numbers.heads, numbers.head_dim, sliders.prompt, sliders.new_tokens],
    memory: [models, kv, valueBytes, weightBytes, numbers.memory_gb, numbers.length],
    pages: [sliders.page, sliders.capacity, sliders.reserve, other],
  };
  const note = h("p", { class: "kv-note", role: "status" });
  const head = h("p", { class: "kv-head" });

  const steps = player({
    at,
    last,
    seek,
    show: (step) => model.set(inPages() ? "moment" : "step", step),
    rest: () => {
      model.save_changes();
      queue();
    },
    ms: 1000,
    traits: ["step", "moment"],
  });
  ui.defer(steps.cleanup);
  const length = slider({ label: "sequence", min: 7, max: 17, value: 7, format: () => `${commas(model.get("length"))} tokens`, oninput: (x) => put({ length: 2 ** x }) });
  const ways = triangles({ pick: seek });
  const shelf = shelves({ pick: (heads) => put({ kv_heads: heads }) });
  const pages = pool();
  const counts = h("div", { class: "kv-box" });
  const second = h("div", { class: "kv-box" });
  const parts = [ways.node, shelf.node, pages.node, steps, length];
  const shown = { steps: [ways.node, steps], memory: [shelf.node, length], pages: [pages.node, steps] };
  const main = h("div", { class: "kv-main" }, ways.node, shelf.node, pages.node);

  function drawSteps(now, step) {
    const runs = [false, true].map((cached) => generation(now, cached));
    const prompt = now.prompt.length;
    const reply = model.get("reply") ?? [];
    const tokens = [...now.prompt, ...Array.from({ length: now.new_tokens - 1 }, (_, i) => reply[i] ?? `+${i + 1}`)];
    const flops = runs.map((run) => sum(run.slice(0, step + 1).map((one) => one.flops)));
    const all = sum(runs[0].map((one) => one.flops));
    const ratio = significant(flops.map((x) => Number(x.toPrecision(3))).reduce((a, b) => a / b), 2); // of the numbers as they stand in the picture
    ways.draw({ tokens, prompt, steps: now.new_tokens, at: step, width: width(), costs: { shares: flops.map((x) => x / all), told: flops.map((x) => prefixed(x, "FLOP")) } });
    replace(
      head,
      step ? `Only “${tokens[prompt + step - 1].trim()}” is new. ` : "Prefill: the whole prompt goes in, with a cache or without. ",
      step ? ["Without a cache, ", h("b", {}, ratio), " times the work so far."] : null,
    );
    const say = (name, field, show) => {
      const cells = runs.map((run) => [run[step][field], sum(run.slice(0, step + 1).map((one) => one[field]))]);
      return row(name, cells.map(([one, total]) => [h("b", { title: commas(one) }, show(one)), h("span", { title: commas(total) }, `so far ${show(total)}`)]));
    };
    const position = room(now).position;
    const { kept } = runs[1][step];
    replace(
      counts,
      h("p", { class: "kv-title" }, "Counted: this step, and so far"),
      h(
        "table",
        { class: "kv-table" },
        heads(["counted", "without", "with a cache"]),
        h("tbody", {}, say("rows of K and V computed", "computed", commas), say("rows read from the cache", "read", commas), say("multiply-adds of attention", "macs", (x) => prefixed(x)), say("FLOPs of the model", "flops", (x) => prefixed(x, "FLOP")), row("bytes of the cache", ["none", h("b", {}, amount(position * kept))])),
      ),
    );
    replace(
      second,
      h("p", { class: "kv-title" }, "The cache"),
      h("p", { class: "kv-formula" }, `${product(now)} = ${commas(position)} B a position`),
      h("p", { class: "kv-formula" }, `× ${kept} position${kept === 1 ? "" : "s"} = ${commas(position * kept)} B`),
      h("p", { class: "kv-small" }, `At the end ${prompt} + ${now.new_tokens} − 1 = ${prompt + now.new_tokens - 1} positions are kept: the last new token is never fed back.`),
      h("p", { class: "kv-small" }, `So far the model does ${ratio} times the FLOPs without a cache. A decode step with one multiplies every matrix by a single vector: reading weights and cache takes its time, not the FLOPs.`),
    );
  }

  function drawMemory(now) {
    const own = room(now);
    const memory = now.memory_gb * 1e9;
    const spare = own.left - own.fit * own.each;
    const kinds = [...new Set([now.heads, ...(now.heads % 4 ? [] : [now.heads / 4]), now.kv_heads, 1])].sort((a, b) => b - a);
    shelf.draw(kinds.map((heads, place) => ({ place, heads, name: `${heads} KV head${heads === 1 ? "" : "s"} (${SHORT[kindOf(now.heads, heads)]})`, own: room(now, heads), memory, chosen: heads === now.kv_heads })));
    if (own.left < 0) replace(head, "The weights need ", h("b", { class: "kv-bad" }, amount(own.weights)), `, more than ${amount(memory)}.`);
    else replace(head, "A sequence takes ", h("b", { class: "kv-good" }, amount(own.each)), `; beside the weights, ${amount(own.weights)}, ${commas(own.fit)} fit${own.fit === 1 ? "s" : ""} into ${amount(memory)}.`);
    const choices = [...new Set([now.heads, now.kv_heads, 1])];
    const title = ["KV heads", "a position", "a sequence", "fit"];
    replace(
      counts,
      h("p", { class: "kv-formula" }, `${product(now)} = ${commas(own.position)} B a position, × ${commas(now.length)} = ${amount(own.each)}`),
      h("p", { class: "kv-small" }, `${count(own.parameters)} parameters; ${own.left < 0 ? "nothing" : amount(spare)} is left over. An upper bound: activations, workspaces, the CUDA context and fragmentation take their part, so engines leave about a tenth free. GB are 10⁹ bytes. GPT-2 has only 1,024 positions.`),
      h("p", { class: "kv-title" }, "This model with other KV heads, at the same weights"),
      h("table", { class: "kv-table" }, heads(title), h("tbody", {}, choices.map((n) => [n, room(now, n)]).map(([n, one]) => row(`${n} (${SHORT[kindOf(now.heads, n)]})`, [amount(one.position), amount(one.each), one.left < 0 ? "–" : commas(one.fit)], n === now.kv_heads)))),
    );
    replace(
      second,
      h("p", { class: "kv-title" }, `Published sizes, ${now.weight_bytes === 0.5 ? "½" : now.weight_bytes} B a weight, ${now.bytes_per_value} B a number`),
      h(
        "div",
        { class: "kv-scroll", tabindex: 0, role: "region", "aria-label": "Published models" },
        h("table", { class: "kv-table" }, heads(["model", "weights", "a position", "a sequence", "fit"]), h("tbody", {}, Object.entries(MODELS).slice(1).map(([name, { label }]) => [name, label, room({ ...now, ...named({ model: name }) })]).map(([name, label, one]) => row(label, [amount(one.weights), amount(one.position), amount(one.each), one.left < 0 ? "–" : commas(one.fit)], name === modelOf(now))))),
      ),
    );
  }

  function drawPages(now, moment) {
    const [all, whole] = pools(now);
    const one = all[moment];
    const then = whole[Math.min(moment, whole.length - 1)];
    const [a, b] = [summary(all), summary(whole)];
    const free = now.capacity - one.pages;
    const told = events(one, all[moment - 1]).trim() || "Every sequence grows by one position.";
    const used = (pool) => `${Math.round((100 * pool.used) / pool.held)} %`;
    replace(head, told, " Used of what is held: ", h("b", {}, one.held ? used(one) : "–"), ` in pages, ${then.held ? used(then) : "–"} reserved.`);
    pages.draw(now, one, all[moment - 1], then);
    const state = (number) => {
      const run = one.running.find((each) => each.request === number);
      const [prompt, fresh] = now.requests[number];
      const name = `${letter(number)}: ${prompt} + ${fresh}`;
      if (!run) return row(name, [one.waiting.includes(number) ? (one.evicted.includes(number) ? "evicted" : "waits") : "gone", "–", "–"]);
      return h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, run.done ? "done" : one.started.includes(number) ? "prefill" : "decode"), h("td", {}, run.positions), h("td", { class: "kv-pages" }, run.pages.join(" ")));
    };
    replace(
      counts,
      h("p", { class: "kv-title" }, "Block tables: prompt + new tokens, and the pages in order"),
      h("table", { class: "kv-table kv-tables" }, heads(["sequence", "state", "kept", "pages"]), h("tbody", {}, now.requests.map((_, number) => state(number)))),
    );
    const percent = (x) => `${significant(100 * x)} %`;
    replace(
      second,
      h("p", { class: "kv-title" }, `Pages, and ${now.reserve} positions reserved for each, in the same memory`),
      h(
        "table",
        { class: "kv-table" },
        heads(["counted", "pages", "reserved"]),
        h(
          "tbody",
          {},
          row("running now", [one.running.length, then.running.length]),
          row("positions held now", [one.held, then.held]),
          row("of them unused", [one.held - one.used, then.held - then.used]),
          row("most at once", [a.most, b.most]),
          row("used of what is held, whole run", [percent(a.used), percent(b.used)]),
          row("steps for all", [a.steps, b.steps]),
          row("computed again", [a.evicted, b.evicted]),
        ),
      ),
      h("p", { class: "kv-small" }, `${free} page${free === 1 ? " is" : "s are"} free. One left-padded batch of all ${now.requests.length} would keep ${paddedPositions(now.requests)} positions, of which ${sum(now.requests.map(cachePositions))} are tokens.`),
    );
  }

  const width = () => Math.max(300, main.clientWidth - 1);
  function draw() {
    const now = setting();
    const step = at();
    const { view } = now;
    for (const [name, all] of Object.entries(of)) for (const one of all) if (!of[view].includes(one)) one.hidden = true;
    of[view].forEach((one) => (one.hidden = false));
    views.forEach((one, i) => one.setAttribute("aria-pressed", String(Object.keys(VIEWS)[i] === view)));
    const known = modelOf(now);
    models.update({ options: [...(known ? [] : [{ value: "", label: "own sizes" }]), ...Object.entries(MODELS).map(([value, { label }]) => ({ value, label }))], value: known ?? "" });
    kv.update({ options: divisors(now.heads).map((n) => ({ value: String(n), label: `${n} (${SHORT[kindOf(now.heads, n)]})` })), value: now.kv_heads });
    valueBytes.update({ value: now.bytes_per_value });
    weightBytes.update({ value: now.weight_bytes });
    for (const one of Object.values(numbers)) one.refresh(false);
    for (const [name, one] of Object.entries(sliders)) one.update({ value: name === "prompt" ? now.prompt.length : now[name] });
    const longest = Math.max(...now.requests.map(cachePositions));
    sliders.reserve.update({ min: longest, value: now.reserve });
    sliders.capacity.update({ min: Math.ceil(now.reserve / now.page), value: now.capacity });
    ui.tell(note, ui.mark(CONTRACT.presetOf(now)));
    steps.refresh();
    length.update({ value: Math.round(Math.log2(now.length)) });
    for (const one of parts) one.hidden = !shown[view].includes(one);
    ({ steps: drawSteps, memory: drawMemory, pages: drawPages })[view](now, step);
    ui.soon(() => describe(now, model.get("step"), model.get("moment")), { quiet: steps.playing() });
  }
  const queue = ui.follow(draw, [...CONTRACT.names, "reply", "step", "moment"]);

  ui.lay({
    stage: main,
    presets: chips,
    bar: [steps, length],
    readout: head,
    drawer: [
      note,
      h("div", { class: "kv-bar" }, toolbar("Look at", views)),
      h("div", { class: "kv-fields" }, models, kv, valueBytes, weightBytes, Object.values(numbers)),
      h("div", { class: "kv-sliders" }, Object.values(sliders)),
      h("div", { class: "kv-bar" }, other, copyButton("Copy as PyTorch", () => script(setting(), model.get("step"), at())), link),
      h("div", { class: "kv-pair" }, counts, second),
    ],
  });
  draw();
  const watch = new ResizeObserver(queue);
  watch.observe(main);
  ui.defer(() => watch.disconnect());
  return ui.cleanup;
}

export default { render };
