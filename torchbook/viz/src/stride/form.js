/** The toolbar of operations, and the form for the arguments of the chosen one. */

import { button, field, h, number, replace, select, slider, toolbar } from "../core/index.js";
import { codeOf, legalRange, OPS, suggest } from "./model.js";
import { inHue } from "./panels.js";
import { LIMIT, RANK, sharesFirst, step, tuple } from "./program.js";

const GROUPS = [
  ["order", ["transpose", "t", "mT", "permute"]],
  ["shape", ["view", "reshape", "flatten", "unsqueeze", "squeeze", "expand"]],
  ["part", ["narrow", "slice", "select", "index", "diagonal", "unfold"]],
  ["anything", ["as_strided"]],
  ["memory", ["contiguous", "channels_last", "flip"]],
];
const SCHEMAS = new Map(OPS.map((op) => [op.name, op]));

/** Whole numbers from "2, 3" or "(2, 3)"; null when it is something else. */
export function parseList(text) {
  const bare = text
    .trim()
    .replace(/^[([]/, "")
    .replace(/[)\]]$/, "")
    .trim()
    .replace(/,$/, "");
  if (bare === "") return [];
  const parts = bare
    .split(/[\s,×x]+/)
    .map((part) => (/^[-−]?\d{1,9}$/.test(part) ? Number(part.replace("−", "-")) : NaN));
  return parts.some(Number.isNaN) ? null : parts;
}

/** What an operation did to the memory. */
export const fate = ({ copied, same }) => (copied ? "copied" : same ? "same tensor" : "shared");

const FATES = {
  copied: "copies to a new storage",
  "same tensor": "gives back the same tensor",
  shared: "shares the storage",
};

const LIST = "whole numbers, separated by commas";

const layout = ({ shape, stride, offset }) =>
  `shape ${tuple(shape)}, stride ${tuple(stride)}, storage_offset ${offset}`;

/**
 * @param {{get: () => object, apply: (op: object) => void, replaceLast: (op: object) => void}} on `get` answers the
 *   program
 * @returns {{node: HTMLElement, refresh: () => void}}
 */
export function operations(on) {
  const panel = h("div", { class: "sx-box", hidden: true });
  let open = null; // name of the operation whose form is shown
  let refreshForm = () => {};
  const buttons = new Map();

  function choose(name, event) {
    if (!SCHEMAS.get(name).args.length) {
      show(null);
      on.apply({ name, args: {} });
      return;
    }
    show(open === name ? null : name);
    const byKeyboard = event?.detail === 0;
    if (open && byKeyboard) panel.querySelector("input:not(:disabled), select, button")?.focus();
  }

  function show(name) {
    open = name;
    for (const [other, el] of buttons)
      if (el.hasAttribute("aria-expanded")) el.setAttribute("aria-expanded", String(other === name));
    panel.hidden = !name;
    refreshForm = () => {};
    if (!name) return;
    panel.setAttribute("aria-label", `Arguments of ${name}`);
    refreshForm = name === "as_strided" ? strided() : argumentForm(name);
  }

  function close() {
    const name = open;
    show(null);
    buttons.get(name)?.focus();
  }

  const group = ([label, names]) =>
    h(
      "div",
      { class: "sx-group", role: "group", "aria-label": label },
      h("span", { "aria-hidden": "true" }, label),
      names.map((name) => {
        const el = button(name, (event) => choose(name, event), { title: SCHEMAS.get(name).does });
        if (SCHEMAS.get(name).args.length) el.setAttribute("aria-expanded", "false");
        buttons.set(name, el);
        return el;
      }),
    );
  const bar = toolbar("Operations", GROUPS.map(group));
  panel.setAttribute("role", "group");
  panel.addEventListener("keydown", (event) => event.key === "Escape" && close());

  function argumentForm(name) {
    const schema = SCHEMAS.get(name);
    const { state } = on.get();
    const args = { ...suggest(state, name) };
    const wrong = new Set();
    const title = h("code", {});
    const preview = h("p", { class: "sx-preview", role: "status" });
    const run = () => !wrong.size && on.apply({ name, args: { ...args } });
    const go = button("Apply", run, { kind: "primary" });

    function update() {
      title.textContent = codeOf({ name, args });
      go.disable(wrong.size > 0);
      if (wrong.size) {
        preview.classList.add("bad");
        const wanted = (name) => (schema.args.find((arg) => arg.name === name).kind === "int" ? "a whole number" : LIST);
        preview.textContent = [...wrong].map((each) => `${each}: ${wanted(each)}`).join("; ");
        return;
      }
      const before = on.get().state;
      const done = step(before, { name, args });
      preview.classList.toggle("bad", Boolean(done.error));
      preview.textContent = done.error
        ? `${done.type === "figure" || done.type === "unsupported" ? "" : "torch refuses: "}${done.error}`
        : `gives ${layout(done.state)}; ${FATES[fate(done)]}`;
    }

    const set = (key, value) => {
      args[key] = value;
      update();
    };
    const controls = schema.args.map((arg) => control(arg, args[arg.name], set, wrong, run, name));
    replace(
      panel,
      h("p", {}, title, h("span", { class: "tbviz-help" }, ` ${schema.does}.`)),
      h("div", { class: "sx-row" }, controls, go, button("Close", close)),
      preview,
    );
    update();
    return update;
  }

  function control(arg, value, set, wrong, run, name) {
    const rank = on.get().state.shape.length + (name === "unsqueeze" ? 1 : 0);
    const spoken = arg.name;
    if (arg.kind === "choice")
      return select({ label: spoken, options: arg.choices, value, onchange: (v) => set(arg.name, v) });
    if (arg.kind === "dim") {
      const dims = Array.from({ length: Math.max(rank, 1) }, (_, d) => String(d));
      const options = [...(arg.optional ? [{ label: "all", value: "" }] : []), ...dims, "-1"];
      return select({
        label: spoken,
        options,
        value: value ?? "",
        onchange: (v) => set(arg.name, v === "" ? null : Number(v)),
      });
    }
    if (arg.kind === "int") {
      const oninput = (v) => {
        if (Number.isInteger(v) || (v === null && arg.optional)) wrong.delete(arg.name);
        else wrong.add(arg.name);
        set(arg.name, v);
      };
      return number({ label: spoken, value, placeholder: arg.optional ? "None" : "", oninput, onenter: run });
    }
    const box = field({
      label: `${spoken}${arg.infer ? " (one may be -1)" : ""}`,
      value: value.join(", "),
      size: 10,
      onenter: run,
      oninput: (text) => {
        const numbers = parseList(text);
        if (numbers) wrong.delete(arg.name);
        else wrong.add(arg.name);
        box.update({ error: numbers ? "" : LIST });
        set(arg.name, numbers ?? []);
      },
    });
    return box;
  }

  /** Sliders, each of which can only reach what stays inside the storage; every move is applied at once. */
  function strided() {
    const rows = h("div", { class: "sx-strided" });
    const ranks = h("div", { class: "sx-row" });
    const title = h("code", {});
    const preview = h("p", { class: "sx-preview", role: "status" });
    let sliders = [];
    let rank = -1;

    const now = () => {
      const { shape, stride, offset } = on.get().state;
      return { size: [...shape], stride: [...stride], storage_offset: offset };
    };
    const put = (change) => {
      const args = now();
      change(args);
      on.replaceLast({ name: "as_strided", args });
    };
    const most = (state, d) => {
      const others = state.shape.reduce((all, size, at) => (at === d ? all : all * size), 1);
      return Math.floor(LIMIT / Math.max(1, others));
    };

    function build(state) {
      rank = state.shape.length;
      sliders = [];
      const add = (label, get, range, change, wide) => {
        const el = slider({ label, min: 0, max: 1, value: 0, oninput: (v) => put((args) => change(args, v)) });
        if (wide) el.classList.add("wide");
        sliders.push({ el, get, range });
        return el;
      };
      replace(
        rows,
        state.shape.map((_, d) => [
          add(
            [inHue(d, `dim ${d}`), " size"],
            (s) => s.shape[d],
            (s) => [1, Math.min(legalRange(s, d, "size")[1], most(s, d))],
            (a, v) => (a.size[d] = v),
          ),
          add(
            [inHue(d, `dim ${d}`), " stride"],
            (s) => s.stride[d],
            (s) => legalRange(s, d, "stride"),
            (a, v) => (a.stride[d] = v),
          ),
        ]),
        add(
          "storage_offset",
          (s) => s.offset,
          (s) => legalRange(s, "offset"),
          (a, v) => (a.storage_offset = v),
          true,
        ),
      );
      replace(
        ranks,
        button(
          "Add a dimension",
          () =>
            put((a) => {
              a.size.push(1);
              a.stride.push(1);
            }),
          { disabled: rank >= RANK },
        ),
        button(
          "Drop the last dimension",
          () =>
            put((a) => {
              a.size.pop();
              a.stride.pop();
            }),
          { disabled: rank === 0 },
        ),
        button("Close", close),
      );
    }

    function update() {
      const program = on.get();
      const { state } = program;
      if (state.shape.length !== rank) {
        const inside = ranks.contains(ranks.getRootNode().activeElement);
        const at = inside ? [...ranks.children].indexOf(ranks.getRootNode().activeElement) : -1;
        build(state);
        if (at >= 0) ranks.children[at].focus();
      }
      for (const { el, get, range } of sliders) {
        const [min, max] = range(state);
        el.update({ min, max, value: get(state) });
      }
      title.textContent = codeOf({ name: "as_strided", args: now() });
      const storage = `${state.storage.length} elements of the storage${sharesFirst(program) ? "" : " (the copy's own)"}`;
      preview.textContent = `Every position is legal: each slider ends where the view would leave the ${storage}.`;
    }

    replace(panel, h("p", {}, title), rows, ranks, preview);
    update();
    return update;
  }

  return {
    node: h("div", { class: "sx-ops sx-tight" }, h("p", { class: "sx-head" }, "Apply an operation"), bar, panel),
    refresh: () => refreshForm(),
    close: () => show(null),
  };
}
