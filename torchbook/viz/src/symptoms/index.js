/** SymptomFinder: a search field, kinds, and a table of symptoms that open to their first moves. */

import { button, copyButton, field, h, keyed, select, shell, uid } from "../core/index.js";
import { addressOf, BY_KEY, describe, isState, KINDS, search, SYMPTOMS } from "./model.js";
import SETUP from "./setup.json";
import { CSS } from "./style.js";

const MOST = 6; // entries that match; all of them would be higher than a screen
const EXAMPLES = ["loss-nan", "oom-first", "hangs-epoch-end"]; // what is seen before anything is asked


/** One symptom: a row with what is seen and the first move, and a second one with how to do it and what it tells. */
function entry(one, onpress) {
  const id = uid("sy");
  const address = addressOf(one.where, document.documentElement.dataset.content_root);
  const place = address ? h("a", { href: address }, one.section) : `“${one.section}”`;
  const name = h("button", { type: "button", class: "sy-name", "aria-expanded": "false", "aria-controls": id, onclick: onpress }, one.symptom);
  const code = h("pre", { tabindex: "0", "aria-label": "Code of the first move" }, h("code", {}, one.code));
  const body = h("div", { class: "sy-body" }, h("p", { class: "sy-brief" }, one.first), h("div", { class: "sy-code" }, code, copyButton("Copy", () => one.code, { title: "Copy this code" })), h("p", {}, h("b", {}, "It tells: "), one.tells), h("p", {}, h("b", {}, "Then: "), one.then), h("p", {}, h("b", {}, "Shown in: "), place));
  const more = h("tr", { id, hidden: true }, h("td", { colspan: 2 }, body));
  const node = h("tbody", { class: "sy-item" }, h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, one.first)), more);
  const open = (is) => {
    name.setAttribute("aria-expanded", String(is));
    node.classList.toggle("sy-open", is);
    more.hidden = !is;
  };
  return { node, open };
}

function render({ model, el }) {
  const ui = shell({ model, el, contract: SETUP, kind: "symptoms" });
  ui.css(CSS);
  ui.root.classList.add("sy");
  const now = () => ({ query: model.get("query"), kind: model.get("kind"), chosen: model.get("chosen") });
  const input = field({ label: "What do you see?", placeholder: "loss is nan, hangs, RuntimeError: …", oninput: (query) => ui.set({ query, chosen: "" }) });
  input.classList.add("sy-search");
  input.input.addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text") ?? "";
    if (!text.includes("\n")) return; // a field of one line would run lines into one another
    event.preventDefault();
    ui.set({ query: text.split(/\s+/).join(" ").trim(), chosen: "" });
  });
  const kinds = select({ label: "kind", options: [{ value: "", label: "all" }, ...Object.entries(KINDS).map(([value, label]) => ({ value, label }))], value: "", onchange: (kind) => ui.set({ kind, chosen: "" }) });
  const link = ui.link({
    presets: BY_KEY,
    choose: (chosen) => ui.set({ query: "", kind: "", chosen }),
    start: (value) => ui.set({ query: "", kind: "", chosen: "", ...value }),
    accepts: isState,
    get: () => (now().chosen && !now().query ? now().chosen : now()),
  });
  const count = h("p", { class: "sy-count" });
  const table = h("table", { class: "sy-table" });
  const head = h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Symptom"), h("th", { scope: "col" }, "First move")));
  const items = new Map(SYMPTOMS.map((one) => [one.key, entry(one, () => ui.set({ chosen: model.get("chosen") === one.key ? "" : one.key }))]));
  const list = keyed(table, { key: (one) => one, make: (one) => (one === "head" ? head : items.get(one).node), update: () => {} });
  const more = button("", () => {
    all = true;
    draw();
  });
  let all = false;

  function draw() {
    const { query, kind, chosen } = now();
    if (input.getRootNode().activeElement !== input.input || input.input.value.trim() !== query.trim()) input.update({ value: query });
    kinds.update({ value: kind });
    const found = search(query, kind);
    const asked = query.trim() || kind;
    const listed = found.filter((key, i) => all || (asked ? i < MOST : EXAMPLES.includes(key)) || key === chosen);
    list(listed.length ? ["head", ...listed] : []);
    more.hidden = listed.length === found.length;
    more.textContent = `${found.length - listed.length} more`;
    for (const [key, item] of items) item.open(key === chosen);
    ui.tell(count, found.length ? asked ? `${found.length} of ${SYMPTOMS.length}` : "" : "Nothing matches. Try fewer words, or the first line of the message.");
    const words = describe(query, kind, chosen);
    ui.soon(() => words, { ms: 500 });
  }
  ui.follow(draw, ["query", "kind", "chosen"]);

  ui.lay({ stage: [h("div", { class: "sy-bar" }, input, kinds), count, table], bar: more, drawer: link });
  draw();
  return ui.cleanup;
}

export default { render };
