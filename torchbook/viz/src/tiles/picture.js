/** The matrices with their tiles: what is loaded, what is done, what the cache holds, what is skipped. */

import { h, replace, s, uid } from "../core/index.js";
import { held, online, product, programs, visits } from "./model.js";

const fit = (room, count, most) => Math.max(8, Math.min(most, Math.floor(room / count)));

/** @param {{pick: (row: number, column: number) => void}} options a tile of C, or of the scores, was clicked. */
export function picture({ pick }) {
  const hatch = uid("ti-hatch");
  let unit = 14;
  const svg = s("svg", { class: "ti-svg", role: "img" });
  const key = h("div", { class: "ti-key" });
  const node = h("div", {}, svg, key);
  const swatch = (cls, fill) => s("svg", { width: 16, height: 12, "aria-hidden": "true" }, s("rect", { x: 1.2, y: 1.2, width: 13.6, height: 9.6, class: cls, fill }));
  const told = (cls, text, fill) => h("span", {}, swatch(cls, fill), text);

  const frame = (name, x, y, rows, columns, high, wide) => [
    s("text", { x, y: y - 5, class: "ti-label" }, name),
    Array.from({ length: Math.ceil(rows / high) - 1 }, (_, i) => s("path", { d: `M${x} ${y + (i + 1) * high * unit}h${columns * unit}`, class: "ti-line" })),
    Array.from({ length: Math.ceil(columns / wide) - 1 }, (_, j) => s("path", { d: `M${x + (j + 1) * wide * unit} ${y}v${rows * unit}`, class: "ti-line" })),
    s("rect", { x, y, width: columns * unit, height: rows * unit, class: "ti-frame" }),
  ];
  const box = (x, y, [rows, columns, high, wide], i, j, cls, more = {}) =>
    s("rect", { x: x + j * wide * unit, y: y + i * high * unit, width: Math.min(wide, columns - j * wide) * unit, height: Math.min(high, rows - i * high) * unit, class: cls, ...more });
  const centre = (x, y, [rows, columns, high, wide], i, j, text) => {
    const [tall, broad] = [Math.min(high, rows - i * high) * unit, Math.min(wide, columns - j * wide) * unit];
    return tall < 16 || broad < 18 ? null : s("text", { x: x + j * wide * unit + broad / 2, y: y + i * high * unit + tall / 2 + 4, "text-anchor": "middle", class: "ti-id", "pointer-events": "none" }, text);
  };

  function show(width, height, label, ...parts) {
    for (const [name, value] of Object.entries({ viewBox: `0 0 ${width} ${height}`, width, height, "aria-label": label })) svg.setAttribute(name, value);
    replace(svg, s("defs", {}, s("pattern", { id: hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, s("path", { d: "M0 0v6", class: "ti-skip-line" }))), parts);
  }

  function matmul(setting, step) {
    const { m, n, k, block_m: bm, block_n: bn, block_k: bk } = setting;
    unit = fit(300, Math.max(k, 4) + Math.max(n, 4), 22);
    const now = product(setting, step);
    const right = 4 + Math.max(k * unit, 78) + 22;
    const low = 22 + k * unit + 26;
    const [a, b, c] = [[m, k, bm, bk], [k, n, bk, bn], [m, n, bm, bn]];
    const all = programs(setting);
    show(
      right + Math.max(n * unit, 78) + 4,
      low + m * unit + 4,
      `A, B and C with the tiles of step ${step + 1}; the words below say which`,
      all.slice(0, now.program).map(([i, j]) => box(right, low, c, i, j, "ti-done")),
      box(4, low, a, now.row, now.depth, "ti-a"),
      box(right, 22, b, now.depth, now.column, "ti-b"),
      frame(`A (${m} × ${k})`, 4, low, ...a),
      frame(`B (${k} × ${n})`, right, 22, ...b),
      frame(`C (${m} × ${n})`, right, low, ...c),
      box(right, low, c, now.row, now.column, "ti-c"),
      setting.cache > 0 && held(setting, step).map(({ matrix, row, column }) => (matrix === "A" ? box(4, low, a, row, column, "ti-held") : box(right, 22, b, row, column, "ti-held"))),
      all.map(([i, j], p) => [centre(right, low, c, i, j, p), box(right, low, c, i, j, "", { fill: "transparent", "data-at": `${i},${j}` })]),
    );
    replace(key, told("ti-a", "loaded of A"), told("ti-b", "loaded of B"), told("ti-c", "accumulator"), told("ti-done", "written"), setting.cache > 0 && told("ti-held", "in the cache", "none"));
  }

  function attention(setting, step) {
    const { tokens, block_q: high, block_kv: wide, causal } = setting;
    unit = fit(280, tokens, 30);
    const now = online(setting, step);
    const seen = visits(setting);
    const sizes = [tokens, tokens, high, wide];
    const [x, y] = [unit + 22, unit + 48];
    const side = tokens * unit;
    const computed = new Set(seen.map(String));
    const skipped = [];
    for (let i = 0; i * high < tokens; i += 1) for (let j = 0; j * wide < tokens; j += 1) if (!computed.has(`${i},${j}`)) skipped.push([i, j]);
    const dots = [];
    if (causal) for (const [i, j] of seen) for (let r = i * high; r < Math.min((i + 1) * high, tokens); r += 1) for (let q = j * wide; q < Math.min((j + 1) * wide, tokens); q += 1) if (q > r) dots.push(s("circle", { cx: x + (q + 0.5) * unit, cy: y + (r + 0.5) * unit, r: 1.8, class: "ti-masked", "pointer-events": "none" }));
    show(
      Math.max(x + side + 4, 220),
      y + side + 4,
      `The matrix of scores with the tile of step ${step + 1}; the words below say which`,
      s("text", { x, y: 12, class: "ti-label" }, "keys and values"),
      s("rect", { x, y: 18, width: side, height: unit, class: "ti-strip" }),
      box(x, 18, [1, tokens, 1, wide], 0, now.tile, "ti-b"),
      s("rect", { x: 4, y, width: unit, height: side, class: "ti-strip" }),
      box(4, y, [tokens, 1, high, 1], now.program, 0, "ti-a"),
      s("text", { x: 4, y: y - 5, class: "ti-label" }, "Q"),
      skipped.map(([i, j]) => box(x, y, sizes, i, j, "ti-skip", { fill: `url(#${hatch})` })),
      seen.slice(0, step).map(([i, j]) => box(x, y, sizes, i, j, "ti-done")),
      frame("scores, never stored", x, y, ...sizes),
      box(x, y, sizes, now.program, now.tile, "ti-c"),
      dots,
      seen.map(([i, j], at) => [centre(x, y, sizes, i, j, at), box(x, y, sizes, i, j, "", { fill: "transparent", "data-at": `${i},${j}` })]),
    );
    replace(key, told("ti-a", "queries, kept"), told("ti-b", "keys and values, loaded"), told("ti-c", "scores now"), told("ti-done", "done"), causal && [told("ti-skip", "skipped", `url(#${hatch})`), h("span", {}, s("svg", { width: 12, height: 12, "aria-hidden": "true" }, s("circle", { cx: 6, cy: 6, r: 2.2, class: "ti-masked" })), "masked")]);
  }

  svg.addEventListener("click", (event) => {
    const hit = event.target.closest("[data-at]");
    if (hit) pick(...hit.dataset.at.split(",").map(Number));
  });
  return { node, draw: (setting, step) => (setting.kind === "attention" ? attention : matmul)(setting, step) };
}
