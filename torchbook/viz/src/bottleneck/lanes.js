/** What was measured as three lanes, whose blocks are dragged to other lengths. */

import { grip, h, keyed, moving, replace, s, uid } from "../core/index.js";
import { ticks } from "../core/ticks.js";
import { axis } from "../core/units.js";
import { BATCHES, FIELDS, follows, lanesOf, ms } from "./model.js";

const [LEFT, RIGHT, ROW, HIGH, AXIS] = [52, 24, 46, 34, 22];
const LANES = ["loader", "copy", "step"];
const SHORT = { loader_ms: "loader alone", copy_ms: "copy", step_ms: "step alone", full_ms: "full run, a batch" };
const LIMITS = { loader: "loader", transfer: "copy", compute: "step", launch: "step" };
const SLACK = 0.1; // of a batch's time: so far two times count as the same
const SLICES = 7; // of a step in which the GPU is not always busy

/** A length as it is dragged: two digits. */
const round = (value) => (value > 0 ? Number(value.toPrecision(2)) : 0);

/** @param {(change: object) => void} put takes a measurement that was dragged. */
export function lanes(put) {
  const [clash, wait] = [uid("bn-clash"), uid("bn-wait")];
  const hatch = (id, cls) => s("pattern", { id, width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, s("path", { d: "M0 0v7", class: cls }));
  const [back, rule, boxes, marks, texts, grips] = Array.from({ length: 6 }, () => s("g"));
  const period = s("path", { class: "bn-period" });
  const svg = s("svg", { class: "bn-svg", role: "group" }, s("defs", {}, hatch(clash, "bn-clash-line"), hatch(wait, "bn-wait-line")), back, rule, period, boxes, marks, texts, grips);
  const node = h("div", { class: "bn-lanes" }, svg);
  let [now, scale, dragged, width] = [null, 1, "", 560];

  const y = (lane) => (LANES.indexOf(lane) + 1) * ROW + (ROW - HIGH) / 2;
  const x = (time) => LEFT + time * scale;
  const set = (el, attrs) => Object.entries(attrs).forEach(([name, value]) => el.setAttribute(name, value));
  const rects = (parent, key) => keyed(parent, { key, make: () => s("rect", { rx: 3 }), update: (el, { attrs }) => set(el, attrs) });
  const [drawBack, drawBoxes, drawMarks] = [back, boxes, marks].map((parent) => rects(parent, (one) => one.key));
  const drawTexts = keyed(texts, {
    key: (one) => one.key,
    make: () => s("text"),
    update: (el, one) => {
      el.textContent = one.text;
      set(el, { x: one.x, y: one.y, "text-anchor": one.anchor ?? "middle", class: one.cls ?? "" });
    },
  });

  /** The grip at the end of a measurement: dragged, or moved by arrow keys. */
  function end(name) {
    const { low, high } = FIELDS[name];
    const el = s("g", { class: "bn-grip", role: "slider", tabindex: 0, "aria-label": SHORT[name], "aria-valuemin": low, "aria-valuemax": high });
    grip(el, { knob: "bar", across: true });
    const starts = { loader_ms: () => 0, copy_ms: () => now.loader_ms, step_ms: () => now.loader_ms + (now.copy_ms ?? 0), full_ms: () => 0 };
    let from = null; // the setting in which a drag began
    const give = (value) => {
      const change = { [name]: Math.min(high, Math.max(low, value)) };
      put(name === "full_ms" ? change : { ...change, full_ms: follows(from ?? now.setting, change) });
    };
    el.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      el.setPointerCapture(event.pointerId);
      el.focus();
      dragged = name;
      from = now.setting;
    });
    el.addEventListener("pointermove", (event) => {
      if (!el.hasPointerCapture(event.pointerId)) return;
      const box = svg.getBoundingClientRect();
      const time = (Math.min(width - 4, ((event.clientX - box.left) / box.width) * width) - LEFT) / scale - starts[name]();
      give(round(Math.max(0, time)));
    });
    el.addEventListener("lostpointercapture", () => {
      dragged = "";
      from = null;
      if (now) draw(now.setting, now.cause, width);
    });
    el.addEventListener("keydown", (event) => {
      const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
      if (!way) return;
      event.preventDefault();
      const value = now[name] ?? 0;
      const unit = 10 ** (Math.floor(Math.log10(value || 10)) - 1) * (event.shiftKey ? 10 : 1);
      give(Number((value + way * unit).toPrecision(12)));
    });
    return el;
  }
  const gripOf = Object.fromEntries(["full_ms", "loader_ms", "copy_ms", "step_ms"].map((name) => [name, end(name)]));
  replace(grips, Object.values(gripOf));

  /** @param {object} setting the measurements @param {string} cause of the diagnosis @param {number} room pixels */
  function draw(setting, cause, room) {
    const all = lanesOf(setting);
    now = { ...setting, setting, cause };
    if (!dragged || room !== width) scale = (room - LEFT - RIGHT) / all.end;
    moving(svg, room);
    if (dragged) svg.classList.remove("tbviz-moving");
    width = room;
    const floor = ROW * (LANES.length + 1) + 2;
    const height = floor + AXIS;
    set(svg, { viewBox: `0 0 ${width} ${height}`, width, height });
    const { step_ms: step, loader_ms: loader, full_ms: full } = setting;
    const copy = setting.copy_ms ?? 0;
    svg.setAttribute("aria-label", `Lanes of ${BATCHES} batches, one every ${ms(full)}: loading ${ms(loader)}, copy ${setting.copy_ms === null ? "not measured" : ms(copy)}, step ${ms(step)}.`);
    const span = (start, end, attrs) => ({ x: x(start), width: Math.max(1, (end - start) * scale), ...attrs });
    const limit = LIMITS[cause];
    drawBack(LANES.map((lane) => ({ key: lane, attrs: { x: LEFT, width: width - LEFT, y: y(lane) - 4, height: HIGH + 8, class: lane === limit ? "bn-lane bn-slow" : "bn-lane" } })));
    drawBoxes(
      all.blocks.filter(({ lane }) => lane !== "copy" || setting.copy_ms !== null).flatMap(({ lane, batch, start, end, busy }) => {
        const one = (key, from, to, cls) => ({ key, attrs: span(from, to, { y: y(lane), height: HIGH, class: cls }) });
        const whole = one(`${lane}${batch}`, start, end - start > full && end - start <= (1 + SLACK) * full ? start + full : end, busy < 0.95 ? "bn-idle" : `bn-${lane}`);
        const each = (end - start) / SLICES;
        return busy < 0.95 ? [whole, ...Array.from({ length: SLICES }, (_, k) => one(`${lane}${batch}.${k}`, start + k * each, start + (k + busy) * each, `bn-${lane}`))] : [whole];
      }),
    );
    drawMarks([
      ...all.waits.map(({ start, end }, k) => ({ key: `w${k}`, attrs: span(start, end, { y: y("step") + 3, height: HIGH - 6, class: "bn-wait", fill: `url(#${wait})` }) })),
      ...all.clashes.filter(({ start, end }) => end - start > SLACK * full).map(({ lane, start, end }, k) => ({ key: `c${k}`, attrs: span(start, end, { y: y(lane), height: HIGH, class: "bn-clash", fill: `url(#${clash})` }) })),
      ...all.gaps.map(({ start, end }, k) => ({ key: `g${k}`, attrs: span(start, end, { y: y("loader") - 2, height: 3 * ROW - 8, class: "bn-gap" }) })),
    ]);
    const times = ticks(0, all.end, Math.max(2, Math.floor(width / 120)));
    const names = axis(times.map(ms));
    replace(rule, s("path", { class: "bn-axis", d: `M${LEFT} ${floor}H${width}${times.map((t) => `M${x(t)} ${floor}v5`).join("")}` }), times.map((t, k) => s("text", { class: "bn-tick", x: x(t), y: floor + 17, "text-anchor": x(t) > width - 30 ? "end" : "middle" }, names[k])));
    const ends = [1, 2].map((k) => x(k * full));
    set(period, { d: `M${x(0)} ${ROW / 2}H${ends[0]}M${x(0)} ${ROW / 2 - 7}v14${ends.map((at) => `M${at} ${ROW - 4}V${floor}`).join("")}` });
    const sizes = { loader, copy, step };
    const wide = (text, size) => size * scale > 7 * text.length + 24;
    const sized = all.blocks.filter(({ lane, batch }) => batch === 0 && (lane !== "copy" || setting.copy_ms !== null)).map(({ lane, start, end }) => {
      const text = ms(end - start);
      const inside = wide(text, sizes[lane]);
      return { key: `${lane}t`, lane, inside, text, x: inside ? x((start + end) / 2) - 6 : 0, y: y(lane) + HIGH / 2 + (inside ? 4 : 12), anchor: inside ? "middle" : "start", cls: inside ? "bn-size" : "bn-size bn-aside" };
    });
    const untimed = ["not measured; drag the knob to add its time", "not measured"].find((text, k) => k || x(loader) + 14 + 6.5 * text.length < width);
    const time = ms(full);
    const told = [`full run, loader and step together: ${time} a batch`, `together: ${time} a batch`, `together: ${time}`].find((text, k) => k === 2 || wide(text, full) || ends[0] + 28 + 7.2 * text.length < width);
    const roomy = wide(told, full);
    drawTexts([
      ...LANES.map((lane) => ({ key: lane, text: lane, x: 0, y: y(lane) + HIGH / 2 + (sized.some((one) => one.lane === lane && !one.inside) ? -4 : 4), anchor: "start", cls: lane === limit ? "bn-name bn-slowest" : "bn-name" })),
      { key: "full", text: told, x: roomy ? x(full / 2) - 6 : ends[0] + 26, y: roomy ? ROW / 2 - 6 : ROW / 2 + 4, anchor: roomy ? "middle" : "start", cls: "bn-size" },
      ...sized,
      ...(setting.copy_ms === null ? [{ key: "none", text: untimed, x: x(loader) + 14, y: y("copy") + HIGH / 2 + 4, anchor: "start", cls: "bn-none" }] : []),
      ...all.waits.slice(-1).filter(({ start, end }) => wide("waits", end - start)).map(({ start, end }) => ({ key: "waits", text: "waits", x: x((start + end) / 2), y: y("step") + HIGH / 2 + 4, anchor: "middle", cls: "bn-size" })),
      ...all.gaps.map(({ start, end }, k) => ({ key: `?${k}`, text: "?", x: x((start + end) / 2), y: y("copy") + HIGH / 2 + 5, cls: "bn-what" })),
    ]);
    const at = { full_ms: [full, ROW / 2], loader_ms: [loader, y("loader") + HIGH / 2], copy_ms: [loader + copy, y("copy") + HIGH / 2], step_ms: [loader + copy + step, y("step") + HIGH / 2] };
    for (const [name, [time, place]] of Object.entries(at)) {
      gripOf[name].style.transform = `translate(${x(time)}px,${place}px)`;
      set(gripOf[name], { "aria-valuenow": setting[name] ?? 0, "aria-valuetext": setting[name] === null ? "not measured" : ms(setting[name]) });
    }
  }
  return { node, draw };
}
