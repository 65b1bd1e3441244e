/** One GPU's memory, part upon part, against the limit: what does not fit stands over the line. */

import { assign, keyed, moving, s, uid } from "../core/index.js";
import { amount, plain, significant } from "../core/units.js";
import { ROOM } from "./model.js";

const PARTS = ["parameters", "gradients", "optimizer", "gathered", "activations", "logits"];


/**
 * Lets names, the lowest first, stand beside their pieces, moved up or down so far that none touches the next.
 * @param {Array<{y: number, room: number}>} names each with where it would stand, and how much it needs
 * @param {number} low the lowest place @param {number} high the highest
 */
function spread(names, low, high) {
  let edge = low;
  for (const one of names) {
    one.y = Math.min(one.y, edge - one.room / 2);
    edge = one.y - one.room / 2;
  }
  edge = high;
  for (const one of [...names].reverse()) {
    one.y = Math.max(one.y, edge + one.room / 2);
    edge = one.y + one.room / 2;
  }
}

/** `draw(setting, candidate, unsplit, width, height)` in `node`. */
export function stack() {
  const hatch = uid("st-hatch");
  const pattern = s("pattern", { id: hatch, width: 8, height: 8, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, s("rect", { width: 8, height: 8, class: "st-soft" }), s("path", { d: "M0 0v8", class: "st-hatch" }));
  const [room, spare] = [s("rect", { class: "st-room", rx: 4 }), s("rect", { class: "st-spare" })];
  const held = s("g");
  const whole = s("path", { class: "st-whole" });
  const over = s("rect", { class: "st-over", fill: `url(#${hatch})` });
  const [line, torn] = ["st-limit", "st-torn"].map((cls) => s("path", { class: cls }));
  const [leads, named] = [s("g"), s("g")];
  const text = Object.fromEntries(["named", "total", "excess", "unsplit", "reserve", "free"].map((name) => [name, s("text", { class: `st-${name}` })]));
  const svg = s("svg", { class: "sc-svg st-stack", role: "img" }, s("defs", {}, pattern), room, spare, held, whole, over, line, torn, leads, named, Object.values(text));
  const parts = keyed(held, { key: ({ name }) => name, make: ({ name }) => s("rect", { class: `st-piece st-${name}` }), update: (el, { box }) => assign(el, box) });
  const labels = keyed(named, {
    key: ({ name }) => name,
    make: () => s("text", {}, s("tspan"), s("tspan", { class: "st-size" })),
    update: (el, { called, x, y, size, below }) => {
      assign(el, { x, y: below ? y - 7 : y });
      const [name, number] = el.children;
      name.textContent = called;
      number.textContent = below ? size : ` ${size}`;
      number.setAttribute("dy", below ? 15 : 0);
      if (below) number.setAttribute("x", x);
      else number.removeAttribute("x");
    },
  });
  const lead = keyed(leads, { key: ({ name }) => name, make: () => s("path", { class: "st-lead" }), update: (el, { path }) => assign(el, { d: path }) });
  const write = (el, words, x, y) => {
    el.textContent = words;
    assign(el, { x, y });
  };

  /** @param {object} given the setting @param {object} one the candidate @param {number} unsplit bytes of all of it on one GPU */
  function draw(given, { memory, fits, layout }, unsplit, width, height) {
    moving(svg, width);
    assign(svg, { viewBox: `0 0 ${width} ${height}`, width, height });
    const narrow = width < 180; // a number stands below its name
    const thick = narrow ? 30 : 52;
    const [x, top, foot] = [2, 24, height - 24];
    const card = 1e9 * given.memory_gb;
    const scale = (0.6 * (foot - top)) / card;
    const limit = ROOM * card;
    const [edge, roof] = [foot - limit * scale, foot - card * scale];
    const column = { x, width: thick };
    const high = (bytes) => Math.max(top, foot - bytes * scale);
    assign(room, { ...column, y: roof, height: foot - roof });
    assign(spare, { ...column, y: roof, height: edge - roof });
    let from = 0;
    const shown = PARTS.map((name) => {
      const y = high(from);
      from += memory[name];
      return { name, size: memory[name], box: { ...column, y: high(from), height: y - high(from) } };
    });
    parts(shown);
    const peak = high(memory.total);
    assign(over, { ...column, y: fits ? edge : peak, height: fits ? 0 : edge - peak });
    assign(line, { d: `M${x - 2} ${edge}H${x + thick + 5}` });
    const ghost = fits && unsplit > limit; // what it would be is dashed
    const tip = high(unsplit);
    assign(whole, { d: ghost ? `M${x} ${roof}V${tip}${tip > top ? `h${thick}` : `m${thick} 0`}V${roof}` : "" });
    const cut = (ghost ? unsplit : memory.total) * scale > foot - top;
    const tooth = thick / 4;
    assign(torn, { d: cut ? `M${x - 3} ${top + 7}l${tooth} -7 ${tooth} 7 ${tooth} -7 ${tooth + 4} 7` : "" });
    const right = x + thick + (narrow ? 8 : 12);
    const extra = layout.fsdp > 1 ? (narrow ? "fetched" : "fetched weights") : "bf16 copies";
    const gb = (bytes) => `${significant(bytes / 1e9)} GB`; // as at the line
    const lines = shown.filter(({ size }) => size).map(({ name, size, box }) => {
      const below = narrow && box.height >= 30;
      const y = box.y + box.height / 2;
      return { name, called: name === "gathered" ? extra : name, size: narrow && !below ? "" : gb(size), x: right, y, at: y, below, room: below ? 30 : 15 };
    });
    spread(lines.filter(({ at }) => at >= edge), foot, edge + 8);
    spread(lines.filter(({ at }) => at < edge), edge - 8, Math.min(peak, roof));
    lead(lines.map(({ name, y, at }) => ({ name, path: `M${x + thick + 1} ${at}L${right - 3} ${y}` })));
    labels(lines.map((one) => ({ ...one, y: one.y + 4 })));
    write(text.reserve, fits ? `for CUDA${narrow ? "" : ` ${gb(card - limit)}`}` : "", right, (edge + roof) / 2 + 1);
    const upper = Math.min(peak, ...lines.map(({ y }) => y - 8)); // of what stands beside the pieces
    write(text.free, fits && upper - edge > 26 ? `free ${gb(limit - memory.total)}` : "", right, (upper + edge) / 2 + 8);
    write(text.named, `limit ${plain(Number((limit / 1e9).toPrecision(3)))}${narrow ? "" : ` of ${plain(given.memory_gb)}`} GB`, right, edge + 4);
    write(text.total, `${amount(memory.total)} a GPU`, x, height - 7);
    write(text.excess, fits ? "" : `${amount(memory.total - limit)} too much`, 0, Math.min(peak, roof) - 9);
    write(text.unsplit, ghost ? `unsplit ${amount(unsplit)}${cut && !narrow ? ", cut off" : ""}` : "", 0, Math.min(tip, roof) - 9);
    svg.classList.toggle("st-not", !fits);
    svg.setAttribute("aria-label", `Memory of one GPU: ${shown.filter(({ size }) => size).map(({ name, size }) => `${name} ${amount(size)}`).join(", ")}; together ${amount(memory.total)}, ${fits ? "within" : "over"} the limit of ${amount(limit)}.`);
  }
  return { node: svg, draw };
}
