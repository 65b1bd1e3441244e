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

/**
 * "Copy link". On the book's page it applies a link to this figure when the page opens and when the hash changes;
 * elsewhere it hides itself. Pass `el`, the element of the view, so that it knows where it is.
 * @param {{key: string, get: () => *, put: (value: *) => void, el: Element, label?: string}} options
 * @returns {HTMLElement} with `cleanup()`, and `href(value)` for links to given states
 */
export function permalink({ key, get, put, el, label = "Copy link" }) {
  const here = Boolean(mountOf(el));
  const address = (value) => `${location.href.split("#")[0]}${hashOf(key, value)}`;
  const node = here
    ? copyButton(label, () => address(get()), { title: "A link that opens this figure as it is now" })
    : h("span", { hidden: true });
  const apply = (move) => {
    const value = valueOf(key, location.hash);
    if (value === undefined) return;
    put(value);
    // A figure that fits is shown whole, one that is higher than the screen from its top on.
    if (move) el.scrollIntoView({ block: el.clientHeight > innerHeight ? "start" : "nearest" });
  };
  const changed = () => apply(true);
  node.href = (value) => (here ? hashOf(key, value) : "");
  node.cleanup = () => removeEventListener("hashchange", changed);
  node.start = () => {
    if (!here) return;
    addEventListener("hashchange", changed);
    apply(true);
  };
  queueMicrotask(node.start);
  return node;
}
