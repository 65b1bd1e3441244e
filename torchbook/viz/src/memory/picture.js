/** The parts of the memory as bars, one below the other, against the card. */

import { replace, s } from "../core/index.js";
import { amount, plain } from "../core/units.js";
import { PARTS, results } from "./model.js";
import { LABELS } from "./words.js";

const text = (x, y, label, attrs) => s("text", { x, y, ...attrs }, label);

export function bars() {
  const svg = s("svg", { class: "sc-svg", role: "img" });
  function draw(setting, width) {
    const all = results(setting);
    const limit = setting.memory_gb * 1e9;
    const shown = PARTS.filter((name) => all[name]);
    const narrow = width < 480;
    const [left, right, top] = narrow ? [0, 0, 6] : [174, 78, 6];
    const step = narrow ? 40 : 27;
    const scale = (width - left - right) / Math.max(all.total, limit);
    const high = top + step * (shown.length + 1) + 24;
    for (const [name, value] of Object.entries({ viewBox: `0 0 ${width} ${high}`, width, height: high })) svg.setAttribute(name, value);
    svg.setAttribute("aria-label", `Memory of one GPU: ${shown.map((name) => `${LABELS[name]} ${amount(all[name])}`).join(", ")}; together ${amount(all.total)} of ${plain(setting.memory_gb)} GB.`);
    let start = 0;
    const bar = (name, value, i, cls) => {
      const y = top + i * step;
      const x = left + start * scale;
      const size = amount(value);
      return [
        narrow ? text(0, y + 13, name, { class: "mb-size" }) : text(left - 8, y + 15, name, { "text-anchor": "end" }),
        text(width, y + (narrow ? 13 : 15), size, { "text-anchor": "end", class: "mb-size" }),
        s("rect", { x, y: y + (narrow ? 19 : 1), width: Math.max(1.5, value * scale), height: narrow ? 15 : 20, rx: 3, class: cls }),
      ];
    };
    const made = shown.map((name, i) => {
      const one = bar(LABELS[name], all[name], i, "mb-part");
      start += all[name];
      return one;
    });
    start = 0;
    const x = left + limit * scale;
    replace(
      svg,
      s("path", { d: `M${x} ${top - 4}V${high - 20}`, class: "mb-card" }),
      made,
      bar("together", all.total, shown.length, all.fits ? "mb-fits" : "mb-over"),
      s("path", { d: `M${x} ${high - 20 - step}v${step}`, class: "mb-card" }),
      text(Math.min(x + 4, width), high - 6, `${plain(setting.memory_gb)} GB`, { "text-anchor": x + 60 > width ? "end" : "middle", class: "sc-muted" }),
    );
  }
  return { node: svg, draw };
}
