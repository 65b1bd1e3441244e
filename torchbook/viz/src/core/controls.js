/** Controls with a name, a value and a visible focus; all of them work by keyboard alone. */

import { h, replace, uid } from "./dom.js";

/**
 * A button. When disabled it keeps the focus (`aria-disabled`), so that a keyboard reader does not lose the place.
 * The element has `disable(bool)`.
 * @param {string|Node} label
 * @param {(event: Event) => void} onclick
 * @param {{title?: string, name?: string, disabled?: boolean, kind?: string}} [opts] `name` is the spoken name where the
 *   label is a symbol; `kind` is "primary", "quiet" or nothing.
 */
export function button(label, onclick, opts = {}) {
  const el = h(
    "button",
    {
      type: "button",
      class: ["tbviz-button", opts.kind && `tbviz-${opts.kind}`].filter(Boolean).join(" "),
      title: opts.title,
      "aria-label": opts.name,
      onclick: (event) => el.getAttribute("aria-disabled") !== "true" && onclick(event),
    },
    label,
  );
  el.disable = (off) => (off ? el.setAttribute("aria-disabled", "true") : el.removeAttribute("aria-disabled"));
  el.disable(Boolean(opts.disabled));
  return el;
}

/**
 * A button that stays pressed. The element has `press(bool)`.
 * @param {string|Node} label
 * @param {boolean} pressed
 * @param {(pressed: boolean) => void} onchange
 */
export function toggle(label, pressed, onchange, opts = {}) {
  const el = button(
    label,
    () => {
      el.press(el.getAttribute("aria-pressed") !== "true");
      onchange(el.getAttribute("aria-pressed") === "true");
    },
    opts,
  );
  el.press = (on) => el.setAttribute("aria-pressed", String(Boolean(on)));
  el.press(pressed);
  return el;
}

/** A button for one of several that exclude each other: pressed again it stays as it is. The element has `press(on)`. */
export function choice(label, pressed, onchoose, opts = {}) {
  const el = button(label, onchoose, opts);
  el.press = (on) => el.setAttribute("aria-pressed", String(Boolean(on)));
  el.press(pressed);
  return el;
}

/**
 * A slider with its value beside it. The element has `update({min, max, step, value})` and `input`.
 * @param {{label: string|Node, min: number, max: number, step?: number, value: number,
 *   oninput: (value: number) => void, format?: (value: number) => string}} options
 */
export function slider({ label, min, max, step = 1, value, oninput, format = String, title }) {
  const id = uid();
  const out = h("output", { for: id });
  const input = h("input", {
    type: "range",
    id,
    oninput: () => {
      show();
      oninput(Number(input.value));
    },
  });
  const show = () => {
    const text = format(Number(input.value));
    out.textContent = text;
    input.setAttribute("aria-valuetext", text);
  };
  const el = h("div", { class: "tbviz-slider", title }, h("label", { for: id }, label), input, out);
  el.input = input;
  el.update = (next) => {
    for (const name of ["min", "max", "step"]) if (next[name] !== undefined) input[name] = next[name];
    if (next.value !== undefined) input.value = next.value;
    input.disabled = Number(input.min) >= Number(input.max);
    show();
  };
  el.update({ min, max, step, value });
  return el;
}

/**
 * A list of choices. The element has `update({options, value})` and `input`.
 * @param {{label: string, options: Array<{label: string, value: string}|string>, value: string,
 *   onchange: (value: string) => void}} options
 */
export function select({ label, options, value, onchange, title }) {
  const id = uid();
  const input = h("select", { id, onchange: () => onchange(input.value) });
  const el = h("div", { class: "tbviz-field", title }, h("label", { for: id }, label), input);
  el.input = input;
  el.update = (next) => {
    if (next.options) {
      const all = next.options.map((o) => (typeof o === "object" ? o : { label: String(o), value: String(o) }));
      replace(
        input,
        all.map((o) => h("option", { value: o.value }, o.label)),
      );
    }
    if (next.value !== undefined) input.value = String(next.value);
  };
  el.update({ options, value });
  return el;
}

/**
 * A line of text. The element has `update({value, error})` and `input`; an error is shown and announced.
 * @param {{label: string, value: string, oninput: (value: string) => void, placeholder?: string, error?: string,
 *   onenter?: (value: string) => void, size?: number}} options
 */
export function field({ label, value = "", oninput, placeholder, error = "", onenter, size, title }) {
  const id = uid();
  const said = h("span", { class: "tbviz-error", id: `${id}-e`, role: "alert" });
  const input = h("input", {
    type: "text",
    id,
    placeholder,
    size,
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "off",
    oninput: () => oninput?.(input.value),
    onkeydown: (event) => event.key === "Enter" && onenter?.(input.value),
  });
  const el = h("div", { class: "tbviz-field", title }, h("label", { for: id }, label), input, said);
  el.input = input;
  el.update = (next) => {
    if (next.value !== undefined && input.value !== String(next.value)) input.value = next.value;
    if (next.error === undefined) return;
    said.textContent = next.error;
    if (next.error) {
      input.setAttribute("aria-invalid", "true");
      input.setAttribute("aria-describedby", said.id);
    } else {
      input.removeAttribute("aria-invalid");
      input.removeAttribute("aria-describedby");
    }
  };
  el.update({ value, error });
  return el;
}

/**
 * A whole number. The element has `update({value, min, max})` and `input`; an empty field is null.
 * @param {{label: string|Node, value: number|null, min?: number, max?: number, placeholder?: string,
 *   oninput: (value: number|null) => void, onenter?: () => void}} options
 */
export function number({ label, value, min, max, placeholder, oninput, onenter, step = 1, title }) {
  const id = uid();
  const input = h("input", {
    type: "number",
    id,
    min,
    max,
    step,
    placeholder,
    inputmode: "numeric",
    oninput: () => oninput(input.value.trim() === "" ? null : Number(input.value)),
    onkeydown: (event) => event.key === "Enter" && onenter?.(),
  });
  const el = h("div", { class: "tbviz-field", title }, h("label", { for: id }, label), input);
  el.input = input;
  el.update = (next) => {
    for (const name of ["min", "max"]) if (next[name] !== undefined) input[name] = next[name];
    if (next.value !== undefined && input.value !== String(next.value ?? "")) input.value = next.value ?? "";
  };
  el.update({ value });
  return el;
}

const MOVES = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/**
 * A toolbar: one tab stop, arrow keys, Home and End move between its buttons, those that are hidden left out. After buttons
 * were hidden or shown, `reset()`. One that is wider than its place is scrolled; its edges fade where there is more.
 * @param {string} label
 * @param {Node[]} buttons
 */
export function toolbar(label, buttons) {
  const el = h("div", { class: "tbviz-toolbar", role: "toolbar", "aria-label": label }, buttons);
  const all = () => [...el.querySelectorAll("button, a[href]")].filter((one) => !one.hidden);
  const rove = (to) => all().forEach((b) => (b.tabIndex = b === to ? 0 : -1));
  el.addEventListener("focusin", (event) => rove(event.target.closest("button, a[href]")));
  el.addEventListener("keydown", (event) => {
    const list = all();
    const at = list.indexOf(event.target);
    if (at < 0) return;
    let to = -1;
    if (event.key in MOVES) to = (at + MOVES[event.key] + list.length) % list.length;
    else if (event.key === "Home") to = 0;
    else if (event.key === "End") to = list.length - 1;
    if (to < 0) return;
    event.preventDefault();
    list[to].focus();
  });
  rove(all()[0]);
  const more = () => {
    el.classList.toggle("tbviz-before", el.scrollLeft > 1);
    el.classList.toggle("tbviz-after", el.scrollWidth - el.clientWidth - el.scrollLeft > 1);
  };
  el.addEventListener("scroll", more, { passive: true });
  new ResizeObserver(more).observe(el);
  el.reset = () => rove(all().find((b) => b.tabIndex === 0) ?? all()[0]);
  return el;
}
