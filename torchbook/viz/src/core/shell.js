/** The frame that every figure stands in: root, stage, controls, words, and the bond to the model's traits. */

import { arrival } from "./arrival.js";
import { button, toolbar } from "./controls.js";
import { h, replace, uid } from "./dom.js";
import { bond, keyOf, permalink } from "./permalink.js";
import { CSS } from "./style.js";

const SHOWN = 3; // presets in the line of control; the others are in the drawer

/**
 * @param {{model: object, el: Element, contract: object, kind: string, reset?: object, changing?: () => void,
 *   changed?: (traits: object) => void}} options `contract` is what `contractOf` makes of the figure's setup.json, or that
 *   itself where there is no field in it: its title is the spoken name of the figure, its finding what it shows, its
 *   invitation what to do first, its help how it is used. `kind` is the first part of the figure's name in links. `reset`
 *   are traits that `start` sets beside fields and choices; `changing` is called before `put` sets traits, and `changed`
 *   after that.
 * @returns {{root: HTMLElement, stage: HTMLElement, words: HTMLElement, help: HTMLElement,
 *   lay: (parts: {stage: Parts, presets?: Node[], bar?: Parts, readout?: Parts, drawer?: Parts}) => void, say: (text: string) => void,
 *   soon: (text: () => string, when?: {ms?: number, quiet?: boolean}) => void, tell: (node: Element, text: string) => void, on: (trait: string, fn: (value: *) => void) => void, set: (traits: object) => void, setting: () => object,
 *   put: (traits: object) => void, start: (given: object) => void, chips: (choose?: (name: string) => void, presets?: object) => Node[],
 *   mark: (names?: string|string[]) => string, link: (own?: object) => HTMLElement, follow: (draw: () => void, names?: string[]) => () => void,
 *   watch: (node: Element, draw: () => void) => void, defer: (fn: () => void) => void, cleanup: () => void, css: (text: string) => void}}
 *   `lay` puts the figure's nodes in their places: one picture, one line of control, one line that says what is seen,
 *   and a drawer, closed at first, with all the rest; of the buttons `presets` some in the line of control, the others in
 *   the drawer; a bar with a `walk` (see player.js) plays a few steps when the reader comes to it (arrival.js). `words` are for screen readers, unless they are laid out too. `setting` are the values of fields and
 *   choices; `set` sets traits, `put` does it with what belongs to it, and `start` makes all that is not given as by
 *   default. `chips` are the buttons of the presets, `mark` presses those of a state and gives their notes, and `link` is
 *   "Copy link". `say` is for screen readers; `soon` says the first words at once and later ones when the reader has paused, or not
 *   at all while it is `quiet`. `tell` shows a text, or hides its node where there is none. `follow` draws again, once for many changes; `watch` draws when a node's width is another.
 * @typedef {Node|Array<Node|false|undefined>} Parts
 */
export function shell({ model, el, contract, kind, reset = {}, changing, changed }) {
  const undo = [];
  bond(el, model);
  const helped = uid();
  const stage = h("div", { class: "tbviz-stage" });
  const bar = h("div", { class: "tbviz-bar" });
  const readout = h("div", { class: "tbviz-readout" });
  const rest = h("div", { class: "tbviz-rest" });
  const words = h("p", { class: "tbviz-words", "aria-live": "polite" });
  const help = h("p", { class: "tbviz-help", id: helped }, contract.help);
  const drawer = h("details", { class: "tbviz-drawer" }, h("summary", {}, "Details"), rest, help);
  const style = h("style", {}, CSS);
  const root = h(
    "div",
    {
      class: "tbviz",
      role: "group",
      "aria-label": contract.title,
      "aria-describedby": contract.help ? helped : null,
    },
    style,
    h("div", { class: "tbviz-head" }, h("p", { class: "tbviz-finding" }, contract.finding), h("p", { class: "tbviz-invitation" }, contract.invitation)),
    stage,
    bar,
    readout,
    words,
    drawer,
  );
  const coming = arrival({ el, root, model });
  undo.push(coming.cleanup);
  let opening = null; // the two toolbars of presets, until the first state was marked
  const lay = ({ presets = [], ...parts }) => {
    const more = presets.slice(SHOWN);
    const few = presets.length > 0 && toolbar("Presets", presets.slice(0, SHOWN));
    const others = more.length > 0 && toolbar("More presets", more);
    opening = [few, others];
    const laid = [
      [stage, [parts.stage]],
      [bar, [few, parts.bar]],
      [readout, [parts.readout]],
      [rest, [others && h("div", {}, h("p", { class: "tbviz-title" }, "Start from"), others), parts.drawer]],
    ];
    for (const [place, nodes] of laid) {
      replace(place, nodes.flat());
      place.hidden = !place.childNodes.length;
    }
    coming.of([parts.bar].flat().find((one) => one?.walk)?.walk);
  };
  root.addEventListener("keydown", (event) => event.stopPropagation()); // else JupyterLab takes the arrow keys

  const set = (traits) => {
    for (const [name, value] of Object.entries(traits)) model.set(name, value);
    model.save_changes();
  };
  const say = (text) => {
    if (coming.playing()) return;
    if (words.textContent !== text) words.textContent = text;
    if (model.get("words") !== text) set({ words: text });
  };
  let waiting = 0;
  let spoken = false;
  const soon = (text, { ms = 250, quiet = false } = {}) => {
    clearTimeout(waiting);
    if (!spoken) say(text());
    else if (!quiet) waiting = setTimeout(() => say(text()), ms);
    spoken = true;
  };
  undo.push(() => clearTimeout(waiting));
  const tell = (node, text) => {
    if (node.textContent !== text) node.textContent = text;
    node.hidden = !text;
  };
  const on = (trait, fn) => {
    const listen = () => fn(model.get(trait));
    model.on(`change:${trait}`, listen);
    undo.push(() => model.off(`change:${trait}`, listen));
  };
  const setting = () => Object.fromEntries(contract.names.map((name) => [name, model.get(name)]));
  const put = (traits) => {
    changing?.();
    set(traits);
    changed?.(traits);
  };
  const start = (given) => put({ ...contract.start, ...reset, ...given });
  const ready = (name) => start(contract.settingOf(name));
  const marked = {};
  /** The preset in whose state the figure opens stands first among those that are seen. */
  const show = (chip, few, others) => {
    if (!chip || !others || !others.contains(chip)) return;
    const place = chip.nextSibling;
    others.insertBefore(few.lastChild, place);
    few.prepend(chip);
    for (const one of [few, others]) one.reset();
  };
  const chips = (choose = ready, presets = contract.presets) => {
    for (const [name, { label }] of Object.entries(presets)) marked[name] = button(label, () => choose(name));
    return Object.values(marked);
  };
  const mark = (names = []) => {
    const all = [names].flat();
    for (const [name, chip] of Object.entries(marked)) chip.setAttribute("aria-pressed", String(all.includes(name)));
    if (opening) show(marked[all[0]], ...opening);
    opening = null;
    return all.map((name) => contract.presets[name].note).join(" ");
  };
  /** What a link holds: the name of a preset, which `choose` takes, or a state, which `start` takes if it `accepts` it. */
  const link = ({ choose = ready, presets = contract.presets, accepts = contract.isSetting, start: begin = start, get = () => contract.presetOf(setting()) ?? setting() } = {}) => {
    const put = (value) => {
      coming.over();
      if (typeof value !== "string") return accepts(value) && begin(value);
      return Object.hasOwn(presets, value) && choose(value);
    };
    const node = permalink({ key: keyOf(el, kind, model.get("link")), el, get, put, passing: coming.playing });
    undo.push(node.cleanup);
    return node;
  };
  const follow = (draw, names = contract.names) => {
    let waits = false;
    const queue = () => {
      if (!waits)
        queueMicrotask(() => {
          waits = false;
          draw();
        });
      waits = true;
    };
    for (const name of names) on(name, queue);
    return queue;
  };
  const watch = (node, draw) => {
    let width = node.clientWidth;
    const watcher = new ResizeObserver(() => {
      if (node.clientWidth && node.clientWidth !== width) {
        width = node.clientWidth;
        draw();
      }
    });
    watcher.observe(node);
    undo.push(() => watcher.disconnect());
  };
  const cleanup = () => {
    while (undo.length) undo.pop()();
    root.remove();
  };
  el.append(root);
  return {
    root,
    stage,
    words,
    help,
    lay,
    say,
    soon,
    tell,
    on,
    set,
    setting,
    put,
    start,
    chips,
    mark,
    link,
    follow,
    watch,
    defer: (fn) => undo.push(fn),
    cleanup,
    css: (text) => style.append(text),
  };
}
