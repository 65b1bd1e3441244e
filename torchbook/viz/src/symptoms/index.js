/** SymptomFinder: a search field, kinds, and a list of symptoms that open to their first moves. */

import { button, copyButton, field, h, replace, shell, toolbar } from "../core/index.js";
import { addressOf, BY_KEY, describe, isState, KINDS, search, SYMPTOMS } from "./model.js";
import SETUP from "./setup.json";
import { CSS } from "./style.js";

const MOST = 6; // entries at first; all of them would be higher than a screen


/** One symptom: what is seen and the first move, and behind them how to do it and what it tells. */
function entry(one, onopen) {
  const address = addressOf(one.where, document.documentElement.dataset.content_root);
  const place = address ? h("a", { href: address }, one.section) : `“${one.section}”`;
  const summary = h("summary", {}, h("span", { class: "sy-name" }, one.symptom), h("span", { class: "sy-kind" }, KINDS[one.kind]), h("span", { class: "sy-first" }, one.first));
  const code = h("pre", { tabindex: "0", "aria-label": "Code of the first move" }, h("code", {}, one.code));
  const item = h(
    "details",
    { class: "sy-item" },
    summary,
    h("div", { class: "sy-body" }, h("div", { class: "sy-code" }, code, copyButton("Copy", () => one.code, { title: "Copy this code" })), h("p", {}, h("b", {}, "It tells: "), one.tells), h("p", {}, h("b", {}, "Then: "), one.then), h("p", {}, h("b", {}, "Shown in: "), place)),
  );
  item.addEventListener("toggle", () => onopen(one.key, item.open));
  return item;
}

function render({ model, el }) {
  const ui = shell({ model, el, contract: SETUP, kind: "symptoms" });
  ui.css(CSS);
  const now = () => ({ query: model.get("query"), kind: model.get("kind"), chosen: model.get("chosen") });
  const input = field({ label: "What do you see?", placeholder: "loss is nan, hangs, RuntimeError: …", oninput: (query) => ui.set({ query, chosen: "" }) });
  input.classList.add("sy-search");
  input.input.addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text") ?? "";
    if (!text.includes("\n")) return; // a field of one line would run lines into one another
    event.preventDefault();
    ui.set({ query: text.split(/\s+/).join(" ").trim(), chosen: "" });
  });
  const kinds = ["", ...Object.keys(KINDS)];
  const chips = kinds.map((kind) => button(kind ? KINDS[kind] : "all", () => ui.set({ kind, chosen: "" })));
  const link = ui.link({
    presets: BY_KEY,
    choose: (chosen) => ui.set({ query: "", kind: "", chosen }),
    start: (value) => ui.set({ query: "", kind: "", chosen: "", ...value }),
    accepts: isState,
    get: () => (now().chosen && !now().query ? now().chosen : now()),
  });
  const count = h("p", { class: "sy-count" });
  const list = h("div", { class: "sy-list" });
  const items = new Map(
    SYMPTOMS.map((one) => [
      one.key,
      entry(one, (key, open) => {
        if (open) ui.set({ chosen: key });
        else if (model.get("chosen") === key) ui.set({ chosen: "" });
      }),
    ]),
  );
  const more = button("", () => {
    all = true;
    draw();
  });
  let [order, all] = ["", false];

  function draw() {
    const { query, kind, chosen } = now();
    if (input.getRootNode().activeElement !== input.input || input.input.value.trim() !== query.trim()) input.update({ value: query });
    chips.forEach((chip, i) => chip.setAttribute("aria-pressed", String(kinds[i] === kind)));
    const found = search(query, kind);
    const listed = found.filter((key, i) => all || i < MOST || key === chosen);
    if (order !== listed.join()) replace(list, listed.map((key) => items.get(key)));
    order = listed.join();
    more.hidden = listed.length === found.length;
    more.textContent = `Show ${found.length - listed.length} more`;
    for (const [key, item] of items) if (item.open !== (key === chosen)) item.open = key === chosen;
    count.textContent = found.length ? `${found.length} of ${SYMPTOMS.length}` : "Nothing matches. Try fewer words, or the first line of the message.";
    const words = describe(query, kind, chosen);
    ui.soon(() => words, { ms: 500 });
  }
  ui.follow(draw, ["query", "kind", "chosen"]);

  ui.lay({ stage: [h("div", { class: "sy-bar" }, input, toolbar("Kinds", chips)), count, list], bar: more, drawer: link });
  draw();
  return ui.cleanup;
}

export default { render };
