/** Memory with the matrices, and the chip with the tiles of this step: what is loaded, summed, written and skipped. */

import { h, pressed, replace, s, still, uid } from "../core/index.js";
import { short } from "./words.js";
import { held, online, product, programs, visits } from "./model.js";

const NARROW = 520; // below it the chip stands under the matrices
const GLIDE = { duration: 420, easing: "cubic-bezier(.3,0,.2,1)" };
const one = (v) => Math.round(v * 10) / 10;

/** @param {{pick: (row: number, column: number, line: number) => void}} options a tile of C, or of the scores, was pressed, at this line of it. */
export function picture({ pick }) {
  const hatch = uid("ti-hatch");
  const svg = s("svg", { class: "ti-svg", role: "img" });
  const key = h("div", { class: "ti-key" });
  const node = h("div", {}, svg, key);
  let unit = 14;
  let before = ""; // what was drawn last, without its step
  let field = null; // the tiles that can be pressed: {x, y, high, wide, rows, columns}
  const named = (cls, text) => h("span", {}, s("svg", { width: 16, height: 12, "aria-hidden": "true" }, s("rect", { x: 1.2, y: 1.2, width: 13.6, height: 9.6, class: cls, fill: cls === "ti-skip" ? `url(#${hatch})` : undefined })), text);

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
    const part = depth > 1 && depth <= 99 && inside(sum, `${now.depth + 1}/${depth}${sum.width >= 96 && depth < 10 ? " summed" : ""}`, "ti-id ti-part");
    const written = box(cAt, now.last ? "ti-done ti-now" : "ti-c");
    show(
      width,
      high,
      `A, B and C with the tiles of step ${step + 1}; the words below say which`,
      all.slice(0, now.program).map(([i, j]) => box(place(right, low, c, i, j), "ti-done")),
      box(aAt, "ti-a"),
      box(bAt, "ti-b"),
      right - left >= 100 && s("text", { x: left, y: top - 6, class: "ti-label" }, "slow memory"),
      frame("A", left, low, ...a),
      frame("B", right, top, ...b),
      frame("C", right, low, ...c),
      setting.cache > 0 && held(setting, step).map(({ matrix, row, column }) => box(matrix === "A" ? place(left, low, a, row, column) : place(right, top, b, row, column), "ti-held")),
      written,
      all.map(([i, j], p) => (all.length <= 16 || p === now.program) && inside(place(right, low, c, i, j), p)),
      box({ x: right, y: low, width: n * unit, height: m * unit }, "ti-field"),
      chipFrame(chip, "on the chip: fast"),
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
    replace(key, named("ti-a", "tile of A"), named("ti-b", "tile of B"), named("ti-sum", "sum of products"), named("ti-done", "written to C"), setting.cache > 0 && named("ti-held", "cached"));
  }

  /**
   * The scores, and on the chip one query: its maximum before and after this tile, and its sum as bars of one scale: what
   * was summed before, the same times α, and that with what this tile adds.
   */
  function attention(setting, step, row, width, moving) {
    const { tokens, block_q: high, block_kv: wide, causal } = setting;
    const all = regions(width);
    const { memory, chip } = all;
    const top = 22;
    const now = online(setting, step);
    const seen = visits(setting);
    const sizes = [tokens, tokens, high, wide];
    const strip = all.narrow ? 14 : 22;
    const tall = all.narrow ? 206 : memory[3];
    unit = Math.floor(Math.min((memory[2] - strip - 12) / tokens, (tall - top - strip - 30) / tokens, 40));
    const [x, y] = [strip + 10, top + strip + 24];
    const side = tokens * unit;
    if (all.narrow) [chip[1], chip[3]] = [tall + 4, all.high - tall - 4];
    else [chip[0], chip[2]] = [x + side + 24, width - x - side - 24];
    field = { x, y, high: high * unit, wide: wide * unit, rows: Math.ceil(tokens / high), columns: Math.ceil(tokens / wide) };
    const computed = new Set(seen.map(String));
    const skipped = Array.from({ length: field.rows * field.columns }, (_, i) => [Math.floor(i / field.columns), i % field.columns]).filter((at) => !computed.has(String(at)));
    const dots = causal ? seen.flatMap(([i, j]) => Array.from({ length: high * wide }, (_, p) => [i * high + Math.floor(p / wide), j * wide + (p % wide)])).filter(([r, q]) => q > r && q < tokens && r < tokens) : [];
    const keysAt = { ...place(x, top, [1, tokens, 1, wide], 0, now.tile), height: strip };
    const scores = place(x, y, sizes, now.program, now.tile);
    const line = { x, y: y + (now.program * high + row) * unit, width: side, height: unit };

    // The query of which all is written out, and what was scored for it before.
    const of = now.rows[row];
    const { before, maximum, rescale, weights, total_before, total } = of;
    const first = before === -Infinity;
    const past = Array.from({ length: now.tile }, (_, j) => online(setting, step - now.tile + j).rows[row].scores).flat();
    const each = [...past, ...of.scores];
    const room = unit >= 34 && !each.some((score) => Number.isFinite(score) && Math.abs(score) >= 10);
    const numbers = room && each.map((score, key) => Number.isFinite(score) && s("text", { x: x + (key + 0.5) * unit, y: line.y + unit / 2, class: score === maximum ? "ti-id ti-part" : "ti-id ti-score" }, short(score)));
    const keys = of.scores.map((_, i) => now.tile * wide + i);
    const dash = (value) => (value < 0 ? `(${short(value)})` : short(value));
    const said = [
      [`${keys.length > 1 ? `scores, keys ${keys[0]} to ${keys.at(-1)}` : `score, key ${keys[0]}`}: `, of.scores.map((score) => (Number.isFinite(score) ? short(score) : "masked")).join(", ")],
      ["maximum: ", first ? `${short(maximum)}, the first` : maximum > before ? `${short(before)} → ${short(maximum)}` : `stays ${short(maximum)}`],
      first ? ["α: ", "no old sum yet"] : [`α = e^(${short(before)} − ${dash(maximum)}) = `, short(rescale)],
    ];

    const [left, wideAt] = [chip[0] + 14, chip[2] - 28];
    const [saidX, saidY] = all.narrow ? [x + side + 14, y + 8] : [left, 48];
    const told = said.map(([name, value], i) => s("text", { x: saidX, y: saidY + i * (all.narrow && width < 400 ? 44 : 24), class: "ti-said" }, all.narrow ? [name, s("tspan", { x: saidX, dy: 17, class: "ti-part" }, value)] : [name, s("tspan", { class: "ti-part" }, value)]));
    const scale = wideAt / Math.max(total, total_before, tokens / 2);
    const barsY = all.narrow ? chip[1] + 24 : 118;
    const pitch = (chip[1] + chip[3] - barsY - 4) / 3;
    const thick = Math.min(34, pitch - 26);
    const at = (i) => ({ x: left, y: barsY + i * pitch + 22, height: thick });
    const title = (i, name, value) => s("text", { x: left, y: barsY + i * pitch + 15, class: "ti-said" }, name, s("tspan", { class: "ti-part" }, value));
    const kept = total_before * rescale * scale;
    const shrunk = box({ ...at(1), width: kept }, "ti-kept");
    shrunk.style.transformOrigin = `${left}px 0`;
    if (moving && rescale > 0 && rescale < 1 && kept > 0.5) shrunk.animate?.([{ transform: `scaleX(${(1 / rescale).toFixed(3)})` }, { transform: "none" }], GLIDE);
    let end = left + kept;
    const added = weights.map((weight, i) => {
      const part = box({ ...at(2), x: end, width: weight * scale }, "ti-new");
      if (moving) fly(part, { ...line, x: scores.x + i * unit, width: unit }, { ...at(2), x: end, width: Math.max(1, weight * scale) });
      end += weight * scale;
      return part;
    });
    const bars = [
      title(0, "sum so far: ", short(total_before)),
      title(1, "× α: ", short(total_before * rescale)),
      title(2, `+ ${weights.map(short).join(" + ")} = `, short(total)),
      [0, 1, 2].map((i) => box({ ...at(i), width: wideAt }, "ti-empty")),
      box({ ...at(0), width: total_before * scale }, "ti-kept ti-old"),
      shrunk,
      box({ ...at(2), width: kept }, "ti-kept"),
      added,
    ];
    show(
      width,
      all.high,
      `The matrix of scores with the tile of step ${step + 1}; the words below say which`,
      s("text", { x, y: 14, class: "ti-label" }, "keys and values"),
      s("rect", { x, y: top, width: side, height: strip, class: "ti-strip" }),
      box(keysAt, "ti-b"),
      s("rect", { x: 1, y, width: strip, height: side, class: "ti-strip" }),
      box({ ...place(1, y, [tokens, 1, high, 1], now.program, 0), width: strip }, "ti-a"),
      s("text", { x: 1, y: y - 6, class: "ti-label" }, "queries"),
      skipped.map(([i, j]) => box(place(x, y, sizes, i, j), "ti-skip", { fill: `url(#${hatch})` })),
      seen.slice(0, step).map(([i, j]) => box(place(x, y, sizes, i, j), "ti-done")),
      frame("", x, y, ...sizes),
      side >= 200 && s("text", { x: x + side, y: y - 6, class: "ti-label", "text-anchor": "end" }, "scores, never stored"),
      box(scores, "ti-c"),
      box(line, "ti-line-of"),
      s("text", { x: 1 + strip / 2, y: line.y + unit / 2, class: "ti-id ti-part" }, all.narrow ? "" : `q${of.query}`),
      dots.map(([r, q]) => s("circle", { cx: x + (q + 0.5) * unit, cy: y + (r + 0.5) * unit, r: 2, class: "ti-masked" })),
      numbers,
      box({ x, y, width: side, height: side }, "ti-field"),
      chipFrame(chip, `q${of.query}: sum of e^(score − maximum)`),
      all.narrow && s("text", { x: saidX, y: 14, class: "ti-label" }, `query q${of.query}`),
      told,
      bars,
    );
    replace(key, named("ti-kept", "summed before"), named("ti-new", "added by this tile"), causal && [named("ti-skip", "skipped"), h("span", {}, s("svg", { width: 12, height: 12, "aria-hidden": "true" }, s("circle", { cx: 6, cy: 6, r: 2.2, class: "ti-masked" })), "masked")]);
  }

  pressed(
    svg,
    (x, y) => {
      const [i, j] = [Math.floor((y - field.y) / field.high), Math.floor((x - field.x) / field.wide)];
      const tile = Math.max(0, Math.min(field.rows - 1, i));
      pick(tile, Math.max(0, Math.min(field.columns - 1, j)), Math.max(0, Math.floor((y - field.y - tile * field.high) / unit)));
    },
    ".ti-field",
  );
  let last = 0;
  /** Draw a step in a picture of this width, for attention with a row of its tile written out; the step after the one that was drawn moves. */
  function draw(setting, step, row, width) {
    const made = `${JSON.stringify(setting)} ${row} ${width}`;
    const moving = made === before && step === last + 1 && !still();
    [before, last] = [made, step];
    if (setting.kind === "attention") attention(setting, step, row, width, moving);
    else matmul(setting, step, width, moving);
  }
  return { node, draw };
}
