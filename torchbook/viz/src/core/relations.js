/** What belongs together in a picture: pointing at a part, or focusing it, lights what belongs to it, and the rest fades. */

const WAYS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
const names = (text) => (text ? text.split(" ") : []);
const under = (event) => event.target.closest("[data-part]")?.dataset.part;

/** Those of `parts`, elements that say `data-part` and `data-with`, that belong to the part of a name; it is one of them. */
function belonging(parts, name) {
  const own = new Set(parts.filter(({ dataset }) => dataset.part === name).flatMap(({ dataset }) => names(dataset.with)));
  return new Set(parts.filter(({ dataset }) => dataset.part === name || own.has(dataset.part) || names(dataset.with).includes(name)));
}

/**
 * Elements in `node` say which part of the picture they are, `data-part="k3"`, and which others they belong to,
 * `data-with="q1 q2"`; it is enough that one of two says so, and elements of the same name are one part. A pointer lights
 * a part while it is over it, a finger until it taps elsewhere, the keyboard while a part has the focus. What is drawn
 * anew meanwhile is lit too.
 * @param {Element} node
 * @param {{at?: (event: PointerEvent) => string|undefined, onlight?: (name: string|null) => void,
 *   walk?: {label: string, all: () => string[], tell: (name: string) => string}}} [how] `at` finds the part under the
 *   pointer where the elements themselves cannot be hit; `onlight` hears which part is lit, or that none is any more;
 *   `walk`, for a picture in which no part can have the focus, makes `node` a slider of that label, whose arrow keys go
 *   through `all` parts and which tells what each belongs to.
 */
export function relations(node, { at = under, onlight, walk } = {}) {
  let lit = null;
  const show = () => {
    const parts = [...node.querySelectorAll("[data-part]")];
    const shown = belonging(parts, lit);
    node.classList.toggle("tbviz-lighting", shown.size > 0);
    for (const part of parts) part.classList.toggle("tbviz-lit", shown.has(part));
  };
  const light = (name) => {
    if (name === lit) return;
    lit = name;
    show();
    onlight?.(name);
  };
  const leave = (event) => {
    if (node.contains(event.target)) return;
    document.removeEventListener("pointerdown", leave);
    light(null);
  };
  const tap = (event) => {
    document.addEventListener("pointerdown", leave);
    light(at(event) ?? null);
  };
  const finger = ({ pointerType }) => pointerType === "touch";
  node.addEventListener("pointermove", (event) => finger(event) || light(at(event) ?? null));
  node.addEventListener("pointerleave", (event) => finger(event) || light(null));
  node.addEventListener("click", (event) => finger(event) && tap(event));
  node.addEventListener("focusin", ({ target }) => target.matches("[data-part]:focus-visible") && light(target.dataset.part));
  node.addEventListener("focusout", () => light(null));
  const stroll = walk && strolling(node, walk, light, () => lit);
  const drawn = () => {
    if (lit !== null) show();
    stroll?.();
  };
  new MutationObserver(drawn).observe(node, { childList: true, subtree: true });
}

/** `node` as one tab stop for many parts; the answer tells anew what there is. */
function strolling(node, { label, all, tell }, light, lit) {
  let place = 0;
  const told = () => {
    const parts = all();
    place = Math.max(0, Math.min(parts.length - 1, place));
    if (!parts.length) return undefined;
    const values = { "aria-valuemin": 1, "aria-valuemax": parts.length, "aria-valuenow": place + 1, "aria-valuetext": tell(parts[place]) };
    for (const [name, value] of Object.entries(values)) node.setAttribute(name, value);
    return parts[place];
  };
  const go = (to) => {
    place = to;
    light(told() ?? null);
  };
  node.setAttribute("role", "slider");
  node.setAttribute("tabindex", "0");
  node.setAttribute("aria-label", label);
  node.addEventListener("focus", () => node.matches(":focus-visible") && go(place));
  node.addEventListener("keydown", (event) => {
    const here = all().includes(lit()) ? all().indexOf(lit()) : place;
    const to = { Home: 0, End: all().length - 1 }[event.key] ?? (event.key in WAYS ? here + WAYS[event.key] : undefined);
    if (to === undefined) return;
    event.preventDefault();
    go(to);
  });
  return told;
}
