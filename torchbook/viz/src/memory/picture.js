/** What a GPU holds as one bar, part after part, against the line of the card. */

import { h, keyed, moving, s, uid } from "../core/index.js";
import { amount, plain, significant } from "../core/units.js";
import { PARTS, results } from "./model.js";
import { LABELS } from "./words.js";

const [TOP, FOOT] = [24, 24];
const BRIEF = { copies: "bf16 copies (no embedding)", optimizer: "optimizer", master: "master", gathered: "gathered" };

/** Bytes from one end of the picture to the other: the card and a little more, or twice, four times, ... the card. */
export function span(total, limit) {
  return limit * (total <= 1.15 * limit ? 1.2 : 2 ** Math.ceil(Math.log2(total / limit)));
}

/**
 * The picture; `draw(setting, width, before)` shows `before`, the bytes of an earlier state, as what is saved since.
 * @returns {{node: Element, draw: (setting: object, width: number, before?: number) => void}}
 */
export function stack() {
  const hatch = uid("mb-hatch");
  const pattern = s("pattern", { id: hatch, width: 14, height: 14, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, s("path", { d: "M0 0v14", class: "mb-hatch" }));
  const room = s("rect", { x: 0, class: "mb-room" });
  const held = s("g");
  const gone = s("rect", { class: "mb-gone" });
  const over = s("rect", { class: "mb-over", fill: `url(#${hatch})` });
  const line = s("path", { class: "mb-card" });
  const [card, told, less] = ["mb-limit", "mb-total", "mb-less"].map((cls) => s("text", { class: cls }));
  const svg = s("svg", { class: "sc-svg mb-svg", role: "img" }, s("defs", {}, pattern), room, held, gone, over, line, card, told, less);
  const key = h("ul", { class: "mb-key" });
  const parts = keyed(held, { key: (one) => one.name, make: (one) => s("rect", { class: `mb-part mb-${one.name}` }), update: (el, one) => place(el, one) });
  const names = keyed(key, {
    key: (one) => one.name,
    make: (one) => h("li", {}, h("i", { class: `mb-${one.name}` }), h("span", {}, BRIEF[one.name] ?? LABELS[one.name]), h("b")),
    update: (el, one) => (el.lastChild.textContent = `${significant(one.size / 1e9)} GB`), // the unit of the line
  });

  function place(el, attrs) {
    for (const name of ["x", "y", "width", "height"]) el.setAttribute(name, attrs[name]);
  }
  function write(el, text, x, y, anchor) {
    el.textContent = text;
    for (const [name, value] of Object.entries({ x, y, "text-anchor": anchor })) el.setAttribute(name, value);
  }

  function draw(setting, width, before = 0) {
    moving(svg, width);
    const all = results(setting);
    const limit = setting.memory_gb * 1e9;
    const scale = width / span(Math.max(all.total, before), limit);
    const high = width < 480 ? 92 : 116;
    const box = { y: TOP, height: high };
    for (const [name, value] of Object.entries({ viewBox: `0 0 ${width} ${TOP + high + FOOT}`, width, height: TOP + high + FOOT })) svg.setAttribute(name, value);
    let start = 0;
    const shown = PARTS.filter((name) => all[name]).map((name) => {
      const one = { name, size: all[name], x: start * scale, width: Math.max(1, all[name] * scale), ...box };
      start += all[name];
      return one;
    });
    parts(shown);
    names(shown);
    const [end, edge] = [all.total * scale, limit * scale];
    place(room, { x: 0, width: edge, ...box });
    place(over, { x: Math.min(edge, end), width: Math.max(0, end - edge), ...box });
    place(gone, { x: end, width: Math.max(0, before * scale - end), ...box });
    line.setAttribute("d", `M${edge} ${TOP - 6}V${TOP + high + 6}`);
    svg.classList.toggle("mb-bad", !all.fits);
    const near = edge > width - 40;
    write(card, `${plain(setting.memory_gb)} GB`, near ? width : edge, TOP - 9, near ? "end" : "middle");
    const last = end > width - 34;
    write(told, amount(all.total), last ? width : Math.max(end, 34), TOP + high + 18, last ? "end" : "middle");
    const saved = before - all.total;
    const middle = (end + before * scale) / 2;
    write(less, saved * scale > 64 ? `−${amount(saved)}` : "", middle, TOP + high / 2 + 4, "middle");
    svg.setAttribute("aria-label", `Memory of one GPU: ${shown.map(({ name, size }) => `${LABELS[name]} ${amount(size)}`).join(", ")}; together ${amount(all.total)} of ${plain(setting.memory_gb)} GB.`);
  }
  return { node: h("div", { class: "mb" }, svg, key), draw };
}
