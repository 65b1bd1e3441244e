/** SymptomFinder: pictures of sick runs; the one that is picked grows, its causes stand beside it, and each shows the cure. */

import { button, copyButton, field, h, keyed, moving, replace, s, shell, toolbar } from "../core/index.js";
import { addressOf, BY_KEY, causesOf, describe, endsOf, isState, PICTURES, runOf, search, shownIn, SYMPTOMS } from "./model.js";
import { drawn, HIGH, WIDE } from "./picture.js";
import SETUP from "./setup.json";
import { CAPTION, CSS, FOOT, PART, SIDE } from "./style.js";

const NAMES = Object.keys(PICTURES);
const MOST = 3; // causes that match what was typed; their pictures show the others
const percent = (part, whole) => `${(100 * part) / whole}%`;

/** One picture: as a thumbnail, and when it is open with its labels. */
function card(name, i, onpress) {
  const svg = s("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  const labels = h("span", { class: "sy-labels", "aria-hidden": "true" });
  const mark = h("span", { class: "sy-mark", "aria-hidden": "true" });
  const node = button([h("span", { class: "sy-name" }, PICTURES[name].label), h("span", { class: "sy-plot" }, svg, labels, mark)], onpress, { kind: "quiet", title: PICTURES[name].says });
  node.classList.add("sy-card");
  node.style.setProperty("--i", i);
  for (const columns of [3, 5]) {
    node.style.setProperty(`--c${columns}`, i % columns);
    node.style.setProperty(`--r${columns}`, Math.floor(i / columns));
  }
  const paths = keyed(svg, {
    key: ({ key }) => key,
    make: () => s("path", { "vector-effect": "non-scaling-stroke" }),
    update: (el, { d, cls }) => {
      el.setAttribute("d", d);
      el.setAttribute("class", cls);
    },
  });
  const place = (el, x, y) => {
    el.style.left = percent(x, WIDE);
    el.style.top = percent(y, HIGH);
  };
  const texts = keyed(labels, {
    key: ({ key }) => key,
    make: () => h("span", {}),
    update: (el, { x, y, text, cls }) => {
      el.textContent = text;
      el.className = cls;
      place(el, x, y);
    },
  });
  node.draw = (run, { open, cured, ended }) => {
    const picture = drawn(run, cured);
    moving(svg, WIDE);
    paths(picture.paths);
    const broken = picture.mark.broken;
    const { label: text, message } = ended;
    const end = broken && { key: "end", text, ...(message ? { x: 4, y: HIGH - 4, cls: "sy-end sy-message" } : { ...picture.mark, cls: picture.mark.y < 12 ? "sy-end sy-under" : "sy-end" }) };
    texts(open ? [...picture.labels, ...(end ? [end] : [])] : []);
    place(mark, picture.mark.x, picture.mark.y);
    mark.className = `sy-mark${broken ? " sy-broken" : ""}${cured ? " sy-past" : ""}`;
    mark.hidden = !broken && !open;
    return picture.mark;
  };
  return node;
}

/** One cause: its name, the test that tells it from the others, and where its cure is. */
function cause(key, onpress) {
  const one = BY_KEY[key];
  const place = causesOf(one.picture).indexOf(one) + 1;
  const address = addressOf(one.where, document.documentElement.dataset.content_root);
  const pick = button([h("b", {}, `${place}. ${one.cause}`), h("span", { class: "sy-test" }, one.test)], onpress);
  return h("li", {}, pick, address && h("a", { href: address, title: one.section, "aria-label": `Cure: ${one.section}` }, "Cure"));
}

function render({ model, el }) {
  const ui = shell({ model, el, contract: SETUP, kind: "symptoms" });
  ui.css(CSS);
  ui.root.classList.add("sy");
  const now = () => ({ query: model.get("query"), opened: model.get("opened"), chosen: model.get("chosen") });
  const go = (state) => ui.set({ query: "", opened: "", chosen: "", ...state });
  const bestIn = (picture) => (now().query.trim() ? search(now().query, picture)[0] : undefined);
  const openIn = () => shownIn(now().opened, now().chosen);

  const input = field({
    label: "What do you see?",
    placeholder: "type it, or paste the message",
    oninput: (query) => go({ query }),
    onenter: () => search(now().query).length && now().query.trim() && go({ chosen: search(now().query)[0] }),
  });
  input.classList.add("sy-search");
  input.input.addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text") ?? "";
    if (!text.includes("\n")) return; // a field of one line would run lines into one another
    event.preventDefault();
    go({ query: text.split(/\s+/).join(" ").trim() });
  });
  const all = button("◂ All pictures", () => go({}));
  const copy = copyButton("Copy", () => BY_KEY[now().chosen].code, { title: "Copy the code of this test" });

  const cards = Object.fromEntries(NAMES.map((name, i) => [name, card(name, i, () => {
    if (openIn() === name) return go({});
    const best = bestIn(name);
    go(best ? { chosen: best } : { opened: name });
  })]));
  const gallery = toolbar("Pictures of sick runs", Object.values(cards));
  gallery.classList.add("sy-gallery");
  const lines = s("svg", { class: "sy-lines", "aria-hidden": "true" });
  const list = h("ol", { class: "sy-causes", "aria-label": "Likely causes, the likeliest first" });
  const causes = keyed(list, { key: (key) => key, make: (key) => cause(key, () => go(now().chosen === key ? { opened: openIn() } : { chosen: key })), update: (item, key) => item.firstChild.setAttribute("aria-pressed", String(now().chosen === key)) });
  const area = h("div", { class: "sy-stage" }, gallery, lines, list);
  ui.root.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !openIn()) return;
    const name = openIn();
    go({});
    cards[name].focus();
  });

  const seen = h("p", { class: "sy-seen" });
  const matches = toolbar("Causes that match", []);
  const code = h("code", {});
  const first = h("p", {});
  const tells = h("p", {});
  const move = h("div", { class: "sy-move" }, first, h("pre", { tabindex: "0", "aria-label": "Code of the test" }, code), copy, tells);
  const link = ui.link({ presets: { ...BY_KEY, ...PICTURES }, choose: (name) => go(BY_KEY[name] ? { chosen: name } : { opened: name }), start: go, accepts: isState, get: () => (!now().query && (now().chosen || now().opened)) || now() });

  function leaders(mark, keys, chosen) {
    const [wide, high] = [area.clientWidth, area.clientHeight];
    const part = PART[keys.length > 4 ? "many" : "few"];
    const spot = [SIDE + (mark.x / WIDE) * (wide * part - 2 * SIDE), CAPTION + (mark.y / HIGH) * (high - CAPTION - FOOT)];
    const [edge, trunk] = [wide * (part + 0.02), wide * (part + 0.01)];
    const y = keys.map((_, i) => ((i + 0.5) * high) / keys.length);
    const on = keys.indexOf(chosen);
    replace(
      lines,
      on < 0 && s("path", { d: `M${spot}H${trunk}`, class: "sy-hint" }),
      s("path", { d: `M${trunk} ${y[0]}V${y.at(-1)}${y.map((at) => `M${trunk} ${at}H${edge}`).join("")}` }),
      on >= 0 && s("path", { d: `M${trunk - 12} ${y[on]}H${edge}`, class: "sy-on" }),
    );
  }

  function readout({ query, chosen }, open, found) {
    if (chosen) {
      const { then, section, where } = BY_KEY[chosen];
      const address = addressOf(where, document.documentElement.dataset.content_root);
      const ends = endsOf(chosen);
      return [ends && [`${ends.what} `, h("span", { class: "sy-t-ill" }, ends.sick), " ill, ", h("span", { class: "sy-t-well" }, ends.cured), " cured. "], then, " ", address ? h("a", { href: address }, section) : `“${section}”`];
    }
    if (open) return [PICTURES[open].says, " Likeliest cause first; each shows the run after its cure."];
    if (!query.trim()) return SETUP.legend;
    return found.length ? `${found.length} of ${SYMPTOMS.length} causes match:` : "Nothing matches. Try fewer words, or the first line of the message.";
  }

  function draw() {
    const state = now();
    const { query, chosen } = state;
    const open = openIn();
    const asked = query.trim() !== "" && !open;
    const found = search(query);
    const lit = new Set(found.map((key) => BY_KEY[key].picture));
    if (input.getRootNode().activeElement !== input.input || input.input.value.trim() !== query.trim()) input.update({ value: query });
    for (const name of NAMES) {
      const [node, is] = [cards[name], name === open];
      const mine = is && chosen ? chosen : causesOf(name)[0].key;
      node.setAttribute("aria-expanded", String(is));
      node.hidden = Boolean(open) && !is;
      node.classList.toggle("sy-off", asked && !lit.has(name));
      const mark = node.draw(runOf(mine), { open: is, cured: is && Boolean(chosen), ended: name === "error" ? { label: BY_KEY[mine].messages[0], message: true } : { label: PICTURES[name].end } });
      if (is) leaders(mark, causesOf(open).map(({ key }) => key), chosen);
    }
    gallery.reset();
    area.classList.toggle("sy-opened", Boolean(open));
    const keys = open ? causesOf(open).map(({ key }) => key) : [];
    area.classList.toggle("sy-many", keys.length > 4);
    area.classList.toggle("sy-most", keys.length > 5);
    area.classList.toggle("sy-few", keys.length < 4);
    causes(keys);
    list.hidden = lines.hidden = !open;
    all.hidden = !open;
    replace(seen, readout(state, open, found));
    replace(matches, asked ? found.slice(0, MOST).map((key) => button(BY_KEY[key].cause, () => go({ chosen: key }), { title: BY_KEY[key].symptom })) : []);
    matches.hidden = !matches.childNodes.length;
    if (!matches.hidden) matches.reset();
    move.hidden = !chosen;
    if (chosen) {
      first.textContent = `${BY_KEY[chosen].symptom}: ${BY_KEY[chosen].first}`;
      code.textContent = BY_KEY[chosen].code;
      tells.textContent = BY_KEY[chosen].tells;
    }
    const words = describe(query, state.opened, chosen);
    ui.soon(() => words, { ms: 500 });
  }
  ui.follow(draw, ["query", "opened", "chosen"]);

  ui.lay({ stage: area, bar: [input, all], readout: [seen, matches], drawer: [move, link] });
  draw();
  ui.watch(area, draw);
  return ui.cleanup;
}

export default { render };
