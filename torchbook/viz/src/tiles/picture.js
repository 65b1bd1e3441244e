/** Memory with the matrices, and the chip with the tiles of this step: what is loaded, summed, written and skipped. */

import { h, pressed, replace, s, still, uid } from "../core/index.js";
import { short } from "./words.js";
import { held, online, product, programs, visits } from "./model.js";

const NARROW = 520; // below it the chip stands under the matrices
const GLIDE = { duration: 420, easing: "cubic-bezier(.3,0,.2,1)" };
const one = (v) => Math.round(v * 10) / 10;

/** @param {{pick: (row: number, column: number) => void}} options a tile of C, or of the scores, was pressed. */
export function picture({ pick }) {
  const hatch = uid("ti-hatch");
  const svg = s("svg", { class: "ti-svg", role: "img" });
  const key = h("div", { class: "ti-key" });
  const node = h("div", {}, svg, key);
  let unit = 14;
  let before = ""; // what was drawn last, without its step
  let field = null; // the tiles that can be pressed: {x, y, high, wide, rows, columns}
  const told = (cls, text) => h("span", {}, s("svg", { width: 16, height: 12, "aria-hidden": "true" }, s("rect", { x: 1.2, y: 1.2, width: 13.6, height: 9.6, class: cls, fill: cls === "ti-skip" ? `url(#${hatch})` : undefined })), text);

  const frame = (name, x, y, rows, columns, high, wide) => [
    s("text", { x, y: y - 6, class: "ti-label" }, name),
    Array.from({ length: Math.ceil(rows / high) - 1 }, (_, i) => s("path", { d: `M${x} ${y + (i + 1) * high * unit}h${columns * unit}`, class: "ti-line" })),
    Array.from({ length: Math.ceil(columns / wide) - 1 }, (_, j) => s("path", { d: `M${x + (j + 1) * wide * unit} ${y}v${rows * unit}`, class: "ti-line" })),
    s("rect", { x, y, width: columns * unit, height: rows * unit, class: "ti-frame" }),
  ];
  const place = (x, y, [rows, columns, high, wide], i, j) => ({ x: x + j * wide * unit, y: y + i * high * unit, width: Math.min(wide, columns - j * wide) * unit, height: Math.min(high, rows - i * high) * unit });
  const box = (at, cls, more = {}) => s("rect", { ...at, class: cls, ...more });
  const inside = ({ x, y, width, height }, text, cls = "ti-id") => height >= 16 && width >= 18 && s("text", { x: x + width / 2, y: y + height / 2, class: cls }, text);

  /** Where memory and chip are in a picture of this width: [x, y, width, height] each. */
  function regions(width) {
    const narrow = width < NARROW;
    const high = narrow ? 400 : 372;
    return { high, narrow, memory: narrow ? [0, 0, width, 286] : [0, 0, Math.round(0.6 * width), high], chip: narrow ? [0, 298, width, 102] : [Math.round(0.6 * width) + 22, 0, width - Math.round(0.6 * width) - 22, high] };
  }

  function show(width, high, label, ...parts) {
    for (const [name, value] of Object.entries({ viewBox: `0 0 ${width} ${high}`, width, height: high, "aria-label": label })) svg.setAttribute(name, value);
    replace(svg, s("defs", {}, s("pattern", { id: hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, s("path", { d: "M0 0v6", class: "ti-skip-line" }))), parts);
  }

  /** A tile flies from where it lay to where it is used. */
  function fly(el, from, to) {
    const away = `translate(${one(from.x - to.x)}px,${one(from.y - to.y)}px) scale(${(from.width / to.width).toFixed(3)},${(from.height / to.height).toFixed(3)})`;
    el.style.transformOrigin = `${to.x}px ${to.y}px`;
    el.animate?.([{ transform: away }, { transform: "none" }], GLIDE);
  }

  const chipFrame = ([x, y, width, height], name) => [s("rect", { x: x + 0.5, y: y + 0.5, width: width - 1, height: height - 1, rx: 8, class: "ti-chip" }), s("text", { x: x + 9, y: y + 17, class: "ti-label" }, name)];

  /** The tiles of the step as cells of one size, the largest that fits. */
  function matmul(setting, step, width, moving) {
    const { m, n, k, block_m: bm, block_n: bn, block_k: bk } = setting;
    const { high, narrow, memory, chip } = regions(width);
    const [top, gap] = [20, 24];
    unit = Math.floor(Math.min((memory[2] - gap - 2) / (k + n), (memory[3] - top - gap - 2) / (k + m), 26) * 2) / 2;
    const now = product(setting, step);
    const [left, right, low] = [1, 1 + k * unit + gap, top + k * unit + gap];
    if (!narrow) [chip[0], chip[2]] = [right + n * unit + gap, width - right - n * unit - gap];
    const [a, b, c] = [[m, k, bm, bk], [k, n, bk, bn], [m, n, bm, bn]];
    const all = programs(setting);
    const [aAt, bAt, cAt] = [place(left, low, a, now.row, now.depth), place(right, top, b, now.depth, now.column), place(right, low, c, now.row, now.column)];
    field = { x: right, y: low, high: bm * unit, wide: bn * unit, rows: Math.ceil(m / bm), columns: Math.ceil(n / bn) };

    // On the chip: A's tile beside the accumulator, B's tile over it, as in memory.
    const cell = Math.floor(narrow ? Math.min(18, (chip[2] - 120) / (2 * bn + bk), (chip[3] - 30) / Math.max(bm, bk)) : Math.min(44, (chip[2] - 58) / (bk + bn), (chip[3] - 110) / (bk + bm)));
    const spread = narrow ? (chip[2] - (2 * bn + bk) * cell) / 4 : 0;
    const [x0, y0] = [chip[0] + (chip[2] - (bk + bn) * cell - 22) / 2, chip[1] + (chip[3] - (bk + bm) * cell - 34) / 2 + 12];
    const row = chip[1] + 26;
    const spots = narrow
      ? [
          { x: chip[0] + spread, y: row, width: bk * cell, height: bm * cell },
          { x: chip[0] + 2 * spread + bk * cell, y: row, width: bn * cell, height: bk * cell },
          { x: chip[0] + 3 * spread + (bk + bn) * cell, y: row, width: bn * cell, height: bm * cell },
        ]
      : [
          { x: x0, y: y0 + bk * cell + 26, width: bk * cell, height: bm * cell },
          { x: x0 + bk * cell + 22, y: y0, width: bn * cell, height: bk * cell },
          { x: x0 + bk * cell + 22, y: y0 + bk * cell + 26, width: bn * cell, height: bm * cell },
        ];
    const grid = (at, rows, columns) => s("path", { d: Array.from({ length: columns - 1 }, (_, j) => `M${at.x + (j + 1) * cell} ${at.y}v${at.height}`).join("") + Array.from({ length: rows - 1 }, (_, i) => `M${at.x} ${at.y + (i + 1) * cell}h${at.width}`).join(""), class: "ti-cells" });
    const depth = Math.ceil(k / bk);
    const done = (now.depth + 1) / depth;
    const sum = spots[2];
    const tileA = box(spots[0], "ti-a");
    const tileB = box(spots[1], "ti-b");
    const filled = box(sum, "ti-sum", { style: `fill-opacity:${(0.55 * done).toFixed(3)}` });
    const part = depth > 1 && depth <= 99 && inside(sum, `${now.depth + 1}/${depth}`, "ti-id ti-part");
    const written = box(cAt, now.last ? "ti-done ti-now" : "ti-c");
    show(
      width,
      high,
      `A, B and C with the tiles of step ${step + 1}; the words below say which`,
      all.slice(0, now.program).map(([i, j]) => box(place(right, low, c, i, j), "ti-done")),
      box(aAt, "ti-a"),
      box(bAt, "ti-b"),
      frame("A", left, low, ...a),
      frame("B", right, top, ...b),
      frame("C", right, low, ...c),
      setting.cache > 0 && held(setting, step).map(({ matrix, row, column }) => box(matrix === "A" ? place(left, low, a, row, column) : place(right, top, b, row, column), "ti-held")),
      written,
      all.map(([i, j], p) => (all.length <= 16 || p === now.program) && inside(place(right, low, c, i, j), p)),
      box({ x: right, y: low, width: n * unit, height: m * unit }, "ti-field"),
      chipFrame(chip, "on the chip"),
      box(sum, "ti-empty"),
      filled,
      tileA,
      tileB,
      grid(spots[0], bm, bk),
      grid(spots[1], bk, bn),
      grid(sum, bm, bn),
      part,
    );
    if (moving) {
      fly(tileA, aAt, spots[0]);
      fly(tileB, bAt, spots[1]);
      if (now.last) fly(written, spots[2], cAt);
    }
    replace(key, told("ti-a", "of A"), told("ti-b", "of B"), told("ti-sum", "sum"), told("ti-done", "written"), setting.cache > 0 && told("ti-held", "cached"));
  }

  /** The scores, and on the chip a bar for each query: what was summed before, scaled, and what this tile adds. */
  function attention(setting, step, width, moving) {
    const { tokens, block_q: high, block_kv: wide, causal } = setting;
    const all = regions(width);
    const { memory, chip } = all;
    const top = 22;
    const now = online(setting, step);
    const seen = visits(setting);
    const sizes = [tokens, tokens, high, wide];
    const strip = all.narrow ? 14 : 18;
    unit = Math.floor(Math.min((memory[2] - strip - 12) / tokens, (memory[3] - top - strip - 30) / tokens, 40));
    const [x, y] = [strip + 10, top + strip + 24];
    const side = tokens * unit;
    if (!all.narrow) [chip[0], chip[2]] = [x + side + 24, width - x - side - 24];
    field = { x, y, high: high * unit, wide: wide * unit, rows: Math.ceil(tokens / high), columns: Math.ceil(tokens / wide) };
    const computed = new Set(seen.map(String));
    const skipped = Array.from({ length: field.rows * field.columns }, (_, i) => [Math.floor(i / field.columns), i % field.columns]).filter((at) => !computed.has(String(at)));
    const dots = causal ? seen.flatMap(([i, j]) => Array.from({ length: high * wide }, (_, p) => [i * high + Math.floor(p / wide), j * wide + (p % wide)])).filter(([r, q]) => q > r && q < tokens && r < tokens) : [];
    const keysAt = { ...place(x, top, [1, tokens, 1, wide], 0, now.tile), height: strip };
    const scores = place(x, y, sizes, now.program, now.tile);

    const [left, room] = [chip[0] + 36, chip[2] - 48];
    const pitch = (chip[3] - 30) / now.rows.length;
    const thick = Math.min(34, 0.62 * pitch);
    const whole = Math.max(...Array.from(now.rows, (row) => row.total), tokens / 2);
    const scale = room / whole;
    const bars = now.rows.map((row, i) => {
      const at = { x: left, y: chip[1] + 26 + i * pitch + (pitch - thick) / 2 - 2, height: thick };
      const kept = row.total_before * row.rescale * scale;
      const old = box({ ...at, width: Math.max(0, kept) }, "ti-kept");
      if (moving && row.rescale > 0 && row.rescale < 1 && kept > 0.5) old.animate?.([{ transform: `scaleX(${(1 / row.rescale).toFixed(3)})` }, { transform: "none" }], GLIDE);
      old.style.transformOrigin = `${left}px 0`;
      let end = left + kept;
      const added = row.weights.map((weight) => {
        const part = box({ ...at, x: end, width: weight * scale }, "ti-new");
        if (moving) fly(part, { ...scores, y: scores.y + i * unit, height: unit }, { ...at, x: end, width: Math.max(1, weight * scale) });
        end += weight * scale;
        return part;
      });
      const middle = at.y + thick / 2;
      const scaled = Number.isFinite(row.before) && row.rescale < 1 && end + 54 < left + room;
      return [
        s("text", { x: left - 8, y: middle, class: "ti-row" }, `q${row.query}`),
        box({ ...at, width: room }, "ti-empty"),
        old,
        added,
        scaled && s("text", { x: end + 8, y: middle, class: "ti-alpha" }, `α ${short(row.rescale)}`),
      ];
    });
    show(
      width,
      all.high,
      `The matrix of scores with the tile of step ${step + 1}; the words below say which`,
      s("text", { x, y: 14, class: "ti-label" }, "keys and values"),
      s("rect", { x, y: top, width: side, height: strip, class: "ti-strip" }),
      box(keysAt, "ti-b"),
      s("rect", { x: 1, y, width: strip, height: side, class: "ti-strip" }),
      box({ ...place(1, y, [tokens, 1, high, 1], now.program, 0), width: strip }, "ti-a"),
      s("text", { x: 1, y: y - 6, class: "ti-label" }, "Q"),
      skipped.map(([i, j]) => box(place(x, y, sizes, i, j), "ti-skip", { fill: `url(#${hatch})` })),
      seen.slice(0, step).map(([i, j]) => box(place(x, y, sizes, i, j), "ti-done")),
      frame("scores, never stored", x, y, ...sizes),
      box(scores, "ti-c"),
      dots.map(([r, q]) => s("circle", { cx: x + (q + 0.5) * unit, cy: y + (r + 0.5) * unit, r: 2, class: "ti-masked" })),
      box({ x, y, width: side, height: side }, "ti-field"),
      chipFrame(chip, `sums of q${now.rows[0].query} to q${now.rows.at(-1).query}; full bar: ${short(whole)}`),
      bars,
    );
    replace(key, told("ti-kept", "kept × α"), told("ti-new", causal ? "added" : "added, a part a key"), causal && [told("ti-skip", "skipped"), h("span", {}, s("svg", { width: 12, height: 12, "aria-hidden": "true" }, s("circle", { cx: 6, cy: 6, r: 2.2, class: "ti-masked" })), "masked")]);
  }

  pressed(
    svg,
    (x, y) => {
      const [i, j] = [Math.floor((y - field.y) / field.high), Math.floor((x - field.x) / field.wide)];
      pick(Math.max(0, Math.min(field.rows - 1, i)), Math.max(0, Math.min(field.columns - 1, j)));
    },
    ".ti-field",
  );
  let last = 0;
  /** Draw a step in a picture of this width; the step after the one that was drawn moves. */
  function draw(setting, step, width) {
    const made = `${JSON.stringify(setting)} ${width}`;
    const moving = made === before && step === last + 1 && !still();
    [before, last] = [made, step];
    (setting.kind === "attention" ? attention : matmul)(setting, step, width, moving);
  }
  return { node, draw };
}
