/** The frame that every figure stands in: root, stage, controls, words, and the bond to the model's traits. */

import { toolbar } from "./controls.js";
import { h, replace, uid } from "./dom.js";
import { bond } from "./permalink.js";
import { CSS } from "./style.js";

const SHOWN = 3; // presets in the line of control; the others are in the drawer

/**
 * @param {{model: object, el: Element, title: string, finding: string, invitation: string,
 *   describe?: string|(() => string)}} options `title` is the spoken name of the figure, `finding` what it shows and
 *   `invitation` what to do first; `describe` says how it is used (a string), or gives its first words (a function).
 * @returns {{root: HTMLElement, stage: HTMLElement, words: HTMLElement, help: HTMLElement,
 *   lay: (parts: {stage: Parts, presets?: Node[], bar?: Parts, readout?: Parts, drawer?: Parts}) => void, say: (text: string) => void,
 *   on: (trait: string, fn: (value: *) => void) => void, set: (traits: object) => void,
 *   defer: (fn: () => void) => void, cleanup: () => void, css: (text: string) => void}}
 *   `lay` puts the figure's nodes in their places: one picture, one line of control, one line that says what is seen,
 *   and a drawer, closed at first, with all the rest; of the buttons `presets` some in the line of control, the others in
 *   the drawer. `words` are for screen readers, unless they are laid out too.
 * @typedef {Node|Array<Node|false|undefined>} Parts
 */
export function shell({ model, el, title, finding, invitation, describe }) {
  const undo = [];
  bond(el, model);
  const helped = uid();
  const stage = h("div", { class: "tbviz-stage" });
  const bar = h("div", { class: "tbviz-bar" });
  const readout = h("div", { class: "tbviz-readout" });
  const rest = h("div", { class: "tbviz-rest" });
  const words = h("p", { class: "tbviz-words", "aria-live": "polite" });
  const help = h("p", { class: "tbviz-help", id: helped });
  const drawer = h("details", { class: "tbviz-drawer" }, h("summary", {}, "Settings and numbers"), rest, help);
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
    h("div", { class: "tbviz-head" }, h("p", { class: "tbviz-finding" }, finding), h("p", { class: "tbviz-invitation" }, invitation)),
    stage,
    bar,
    readout,
    words,
    drawer,
  );
  const lay = ({ presets = [], ...parts }) => {
    const more = presets.slice(SHOWN);
    const laid = [
      [stage, [parts.stage]],
      [bar, [presets.length > 0 && toolbar("Presets", presets.slice(0, SHOWN)), parts.bar]],
      [readout, [parts.readout]],
      [rest, [more.length > 0 && h("div", {}, h("p", { class: "tbviz-title" }, "Start from"), toolbar("More presets", more)), parts.drawer]],
    ];
    for (const [place, nodes] of laid) {
      replace(place, nodes.flat());
      place.hidden = !place.childNodes.length;
    }
  };
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
    words,
    help,
    lay,
    say,
    on,
    set,
    defer: (fn) => undo.push(fn),
    cleanup,
    css: (text) => style.append(text),
  };
}
