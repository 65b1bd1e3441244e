/** Elements of HTML and SVG from a tag, attributes and children. */

const SVG = "http://www.w3.org/2000/svg";
const scope = Math.random().toString(36).slice(2, 8);
let count = 0;

/** An id that no other figure on the page has, not even one of another bundle. */
export const uid = (prefix = "tb") => `${prefix}-${scope}-${(count += 1)}`;

/**
 * An HTML element.
 * @param {string} tag
 * @param {object} [attrs] `on…` functions are listeners, `style` may be an object, `true` is an empty attribute,
 *   `false`, `null` and `undefined` are left out; everything else is set as an attribute.
 * @param {...*} children strings, numbers, nodes, arrays of these; empty values are left out.
 */
export const h = (tag, attrs, ...children) => fill(document.createElement(tag), attrs, children);

/** An SVG element; arguments as in `h`. */
export const s = (tag, attrs, ...children) => fill(document.createElementNS(SVG, tag), attrs, children);

function fill(el, attrs, children) {
  for (const [name, value] of Object.entries(attrs ?? {})) {
    if (value === false || value === null || value === undefined) continue;
    if (typeof value === "function" && name.startsWith("on")) el.addEventListener(name.slice(2), value);
    else if (name === "style" && typeof value === "object") restyle(el, value);
    else el.setAttribute(name, value === true ? "" : value);
  }
  el.append(...flat(children));
  return el;
}

/** Sets attributes of an element that is there. */
export const assign = (el, attrs) => Object.entries(attrs).forEach(([name, value]) => el.setAttribute(name, value));

function restyle(el, style) {
  for (const [name, value] of Object.entries(style)) {
    if (name.startsWith("--")) el.style.setProperty(name, value);
    else el.style[name] = value;
  }
}

const flat = (children) =>
  children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false && c !== "");

/** Put `children` in the place of everything that `el` holds. */
export function replace(el, ...children) {
  el.replaceChildren(...flat(children));
  return el;
}

/**
 * Children that stay the same while what they show changes. The answer takes the items that are shown now: what is new
 * is made, what is gone is removed, the others stay the elements that they were, so that they can move.
 * @param {Element} parent
 * @param {{key: (item: *) => *, make: (item: *) => Element, update: (el: Element, item: *) => void}} how
 */
export function keyed(parent, { key, make, update }) {
  let made = new Map();
  return (items) => {
    const next = new Map(items.map((item) => [key(item), made.get(key(item)) ?? make(item)]));
    for (const [name, el] of made) if (!next.has(name)) el.remove();
    [...next.values()].forEach((el, i) => parent.children[i] !== el && parent.insertBefore(el, parent.children[i] ?? null));
    items.forEach((item) => update(next.get(key(item)), item));
    made = next;
  };
}
