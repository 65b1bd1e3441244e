/** Links to one state of one figure: `#tbviz-<key>=<base64url of JSON>`, or `#tbviz-<key>:<word>` for a preset. */

import { copyButton } from "./copy.js";
import { h } from "./dom.js";

const encode = (value) => {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
};
const decode = (text) => {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return JSON.parse(new TextDecoder().decode(Uint8Array.from(binary, (c) => c.charCodeAt(0))));
};

/** The hash that stands for `value`; a bare word stays readable. */
export const hashOf = (key, value) =>
  typeof value === "string" && /^[\w-]+$/.test(value) ? `#tbviz-${key}:${value}` : `#tbviz-${key}=${encode(value)}`;

/** What `hash` holds for the figure `key`, or undefined. */
export function valueOf(key, hash) {
  let text;
  try {
    text = decodeURIComponent(hash);
  } catch {
    return undefined;
  }
  for (const [mark, read] of [
    [":", (t) => t],
    ["=", decode],
  ]) {
    const head = `#tbviz-${key}${mark}`;
    if (!text.startsWith(head)) continue;
    try {
      return read(text.slice(head.length));
    } catch {
      return undefined;
    }
  }
  return undefined;
}

/** The page's mount point around `el`; null in Jupyter, Colab and VS Code, where a link to a state means nothing. */
export const mountOf = (el) => el.closest(".viz-mount");

/** The name of a figure in links: the one it was given, else its kind and its place among the figures of the page. */
export function keyOf(el, kind, given) {
  const mount = mountOf(el);
  if (given || !mount) return given || kind;
  return `${kind}-${[...document.querySelectorAll(".viz-mount")].indexOf(mount) + 1}`;
}

const models = new WeakMap(); // by the element of the view

/** Tell permalinks what the state of the figure in `el` is kept in. */
export const bond = (el, model) => models.set(el, model);

/**
 * "Copy link". On the book's page it applies a link to this figure when the page opens and when the hash changes;
 * elsewhere it hides itself. Once the address tells of this figure it follows the figure's state: going back undoes a
 * link or a preset. Pass `el`, the element of the view, so that it knows where it is.
 * @param {{key: string, get: () => *, put: (value: *) => void, el: Element, label?: string, passing?: () => boolean}} options
 *   `get` gives the name of a preset, or the state as JSON has it; while it is `passing` the address does not follow.
 * @returns {HTMLElement} with `cleanup()`
 */
export function permalink({ key, get, put, el, label = "Copy link", passing = () => false }) {
  const here = Boolean(mountOf(el));
  const model = models.get(el);
  const address = (value) => `${location.href.split("#")[0]}${hashOf(key, value)}`;
  const node = here
    ? copyButton(label, () => address(get()), { title: "A link that opens this figure as it is now" })
    : h("span", { hidden: true });
  let [first, shown, waits] = [undefined, "", 0]; // the state before any link; the one that the address tells of

  const apply = () => {
    const value = valueOf(key, location.hash);
    if (value === undefined && !shown) return;
    put(value === undefined ? first : value);
    clearTimeout(waits); // what is told already
    shown = value === undefined ? "" : hashOf(key, get());
    // A figure that fits is shown whole, one that is higher than the screen from its top on.
    if (value !== undefined) el.scrollIntoView({ block: el.clientHeight > innerHeight ? "start" : "nearest" });
  };
  const tell = () => {
    if (passing()) return;
    const value = get();
    const hash = hashOf(key, value);
    if (hash === shown || (!shown && hash === hashOf(key, first))) return;
    if (typeof value === "string") history.pushState(null, "", hash);
    else if (shown) history.replaceState(null, "", hash);
    else return;
    shown = hash;
  };
  const changed = () => {
    clearTimeout(waits);
    waits = setTimeout(tell, 250); // while something moves, the state at rest
  };
  node.cleanup = () => {
    clearTimeout(waits);
    removeEventListener("hashchange", apply);
    model?.off("change", changed);
  };
  node.start = () => {
    if (!here) return;
    first = get();
    addEventListener("hashchange", apply);
    apply();
    model?.on("change", changed);
  };
  queueMicrotask(node.start);
  return node;
}
