/** The racers: who runs, with which settings, and where each of them is. */

import { field, h, replace, toggle, toolbar } from "../core/index.js";
import { brief, each, sample } from "./looks.js";
import { ahead, NAMES, RACERS, read } from "./model.js";
import { inView, LIMITS } from "./state.js";
import { labels, short, show } from "./words.js";

const plain = (x) => show(x).replace("−", "-");
const tidy = (x, digits) => Number(x.toPrecision(digits));

/** A field for one setting; arrow up and down change it by a factor or by steps. */
function setting({ label, title, name, limit, get, put, nudge }) {
  const box = field({
    label,
    title,
    size: 6,
    oninput(text) {
      const value = Number(text.trim().replace("−", "-") || NaN);
      if (!limit.ok(value, name)) return box.update({ error: limit.words });
      box.update({ error: "" });
      put(value);
    },
  });
  box.input.inputMode = "decimal";
  box.refresh = () => {
    if (box.getRootNode().activeElement !== box.input) box.update({ value: plain(get()), error: "" });
  };
  box.input.addEventListener("blur", box.refresh);
  box.input.addEventListener("keydown", (event) => {
    const way = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!way) return;
    event.preventDefault();
    const value = nudge(get(), way);
    if (!limit.ok(value, name)) return;
    box.update({ value: plain(value), error: "" });
    put(value);
  });
  return box;
}

const times = (factor) => (x, way) => tidy(x * factor ** way, 3);
/** Momentum and betas: by tenths of what is missing to 1. */
const towardsOne = (x, way) => {
  const missing = 1 - x;
  const next = way > 0 ? missing / 1.25 : missing * 1.25;
  return Math.max(0, Number((1 - next).toFixed(4)));
};
const decays = (x, way) => (way > 0 ? (x ? tidy(x * 2, 3) : 0.01) : x > 0.0101 ? tidy(x / 2, 3) : 0);

/** The settings of one racer. */
function card(name, now) {
  const own = () => now.now()[name];
  const put = (changed) => now.tune(name, changed);
  const ask = (label, title, limit, nudge, get, set) => setting({ label, title, name, limit, nudge, get, put: set });
  const lr = ask("lr", "learning rate", LIMITS.lr, times(1.1), () => own().lr, (v) => put({ lr: v }));
  const slide = h("input", {
    type: "range",
    class: "rx-slide",
    min: -4,
    max: 1,
    step: 0.05,
    "aria-label": "lr, slider",
    oninput: () => put({ lr: tidy(10 ** Number(slide.value), 2) }),
  });
  const boxes = [lr];
  const { takes } = RACERS[name];
  if (takes.includes("momentum")) boxes.push(ask("momentum", "", LIMITS.momentum, towardsOne, () => own().momentum, (v) => put({ momentum: v })));
  if (takes.includes("betas")) {
    for (const i of [0, 1]) {
      const set = (v) => put({ betas: own().betas.map((b, k) => (k === i ? v : b)) });
      boxes.push(ask(`beta${i + 1}`, ["of the mean of the gradients", "of the mean of their squares"][i], LIMITS.beta, towardsOne, () => own().betas[i], set));
    }
  }
  const kind = name === "adamw" ? "decoupled from the gradient" : "added to the gradient: an L2 penalty";
  boxes.push(ask("weight decay", kind, LIMITS.weight_decay, decays, () => own().weight_decay, (v) => put({ weight_decay: v })));
  const title = h("p", { class: `rx-name rx-${name}` }, sample(name), h("b", {}, brief(name)));
  const node = h("div", { class: "rx-card", role: "group", "aria-label": RACERS[name].label }, title, slide, h("div", { class: "rx-fields" }, boxes));
  const draw = () => {
    boxes.forEach((box) => box.refresh());
    slide.value = Math.log10(own().lr);
    slide.setAttribute("aria-valuetext", show(own().lr));
  };
  return { node, draw };
}

/** Who runs, and the settings of those who do. */
export function settingsPanel(now) {
  const picks = each((name) => toggle(h("span", { class: "rx-pick" }, sample(name), brief(name)), false, (on) => now.toggle(name, on), { title: RACERS[name].label }));
  const cards = each((name) => card(name, now));
  const node = h(
    "div",
    { class: "rx-box" },
    h("p", { class: "rx-title" }, "Racers"),
    toolbar("Racers", Object.values(picks)),
    h("div", { class: "rx-cards" }, NAMES.map((name) => cards[name].node)),
  );
  function draw({ optimizers }) {
    for (const name of NAMES) {
      const on = optimizers.includes(name);
      picks[name].press(on);
      cards[name].node.hidden = !on;
      if (on) cards[name].draw();
    }
  }
  return { node, draw };
}

/** As `short`, in the least room. */
export function cell(x) {
  if (x === null) return "–";
  const size = Math.abs(x);
  if (x === 0 || (size >= 1e-3 && size < 1e5)) return short(x);
  return size < 1e-9 ? "<1e−9" : x.toExponential(2).replace("+", "").replaceAll("-", "−");
}

/** Where each racer is. */
export function table() {
  const body = h("tbody");
  const titles = [
    ["racer", ""],
    ["loss", "of the whole surface"],
    ["distance", "to the nearest minimum"],
    ["step length", "of the last step"],
    ["eff. rate", "effective rate: length of the last step ÷ length of its gradient"],
  ];
  const head = h("tr", {}, titles.map(([text, title]) => h("th", { scope: "col", title }, text)));
  const caption = h("caption", {});
  const node = h("table", { class: "rx-table" }, caption, h("thead", {}, head), body);
  function draw({ surface, step, steps, optimizers, ways }) {
    const first = optimizers.length > 1 && step ? ahead(ways, step) : [];
    caption.textContent = `Step ${step} of ${steps}${first.length ? `; lowest loss: ${labels(first)}` : ""}`;
    replace(
      body,
      optimizers.map((name) => {
        const told = read(surface, ways[name], step);
        const title = h("th", { scope: "row", class: `rx-${name}` }, h("span", { class: "rx-row" }, sample(name), brief(name)));
        if (!told) return h("tr", {}, title, h("td", { colspan: 4, class: "rx-bad" }, `diverged at step ${ways[name].diverged}`));
        const out = inView(surface, told.at) ? "" : h("span", { class: "rx-out" }, " outside the picture");
        return h("tr", {}, title, h("td", {}, cell(told.loss), out), [told.distance, told.moved, told.rate].map((x) => h("td", {}, cell(x))));
      }),
    );
  }
  return { node, draw };
}
