/** The frame that every figure stands in: root, stage, controls, words, and the bond to the model's traits. */

import { h, uid } from "./dom.js";
import { CSS } from "./style.js";

/**
 * @param {{model: object, el: Element, title: string, describe?: string|(() => string)}} options `describe` says how
 *   the figure is used (a string), or gives its first words (a function).
 * @returns {{root: HTMLElement, stage: HTMLElement, controls: HTMLElement, help: HTMLElement, say: (text: string) => void,
 *   on: (trait: string, fn: (value: *) => void) => void, set: (traits: object) => void,
 *   defer: (fn: () => void) => void, cleanup: () => void, css: (text: string) => void}}
 *   `controls` stands above `stage`; move either with `root.append` or CSS `order` where another order reads better.
 */
export function shell({ model, el, title, describe }) {
  const undo = [];
  const helped = uid();
  const controls = h("div", { class: "tbviz-controls" });
  const stage = h("div", { class: "tbviz-stage" });
  const words = h("p", { class: "tbviz-words", "aria-live": "polite" });
  const help = h("p", { class: "tbviz-help", id: helped });
  const style = h("style", {}, CSS);
  const root = h(
    "div",
    {
      class: "tbviz",
      role: "group",
      "aria-label": title,
      "aria-describedby": typeof describe === "string" ? helped : null,
    },
    style,
    controls,
    stage,
    words,
    help,
  );
  if (typeof describe === "string") help.textContent = describe;
  else help.hidden = true;
  root.addEventListener("keydown", (event) => event.stopPropagation()); // else JupyterLab takes the arrow keys

  const set = (traits) => {
    for (const [name, value] of Object.entries(traits)) model.set(name, value);
    model.save_changes();
  };
  const say = (text) => {
    if (words.textContent !== text) words.textContent = text;
    if (model.get("words") !== text) set({ words: text });
  };
  const on = (trait, fn) => {
    const listen = () => fn(model.get(trait));
    model.on(`change:${trait}`, listen);
    undo.push(() => model.off(`change:${trait}`, listen));
  };
  const cleanup = () => {
    while (undo.length) undo.pop()();
    root.remove();
  };
  el.append(root);
  if (typeof describe === "function") say(describe());
  return {
    root,
    stage,
    controls,
    help,
    say,
    on,
    set,
    defer: (fn) => undo.push(fn),
    cleanup,
    css: (text) => style.append(text),
  };
}
