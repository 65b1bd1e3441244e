/** The number line: the numbers that each format has around the one that was typed, lane under lane. */

import { animate, h, replace, s, sideways, still } from "../core/index.js";
import { brink, classOf, decode, encode, FORMATS, limits, NAMES, patternAt, placeOf, spacing } from "./model.js";
import { resolved, short, show } from "./text.js";

const TOP = 58;
const LANES = [29, 38]; // pixels from lane to lane, on narrow and on wide screens
const GLIDE = 380; // milliseconds
const DRAG = 4; // pixels; what moves less was a click
const SIDE = 14;
const CLOSE = 9; // pixels between marks; closer ones are drawn as one band
const NARROW = 440; // pixels; with less the lanes are nearer together
const [NEAREST, START, WIDEST] = [1.5, 3, 2 ** 14]; // neighbours to either side

const between = (low, x, high) => Math.max(low, Math.min(high, x));
const ease = (t) => 1 - (1 - t) ** 3;
const middled = (x, y, name, text) => s("text", { x, y, class: name, "text-anchor": "middle" }, text);

/** The part of the line to show: from where to where. */
function partOf({ of, typed, bits }, reach) {
  const step = spacing(of, bits);
  const end = limits(of).largest + step;
  const centre = between(-end, typed, end);
  return [centre - reach * step, centre + reach * step];
}

/** Where a number stands in the part that is shown; `clip` keeps within the edges. */
function frameOf([low, high], width) {
  const x = (v) => SIDE + ((v - low) / (high - low)) * (width - 2 * SIDE);
  const at = (px) => low + (between(0, (px - SIDE) / (width - 2 * SIDE), 1)) * (high - low);
  return { low, high, width, x, at, clip: (v) => between(SIDE, x(v), width - SIDE), holds: (v) => v >= low && v <= high };
}

/** The places of the first and the last number of a format in the frame, and how many there are. */
function within(of, { low, high }) {
  const { largest } = limits(of);
  const near = (v) => placeOf(of, encode(of, between(-largest, v, largest)));
  const at = (place) => decode(of, patternAt(of, place));
  let first = near(low);
  let last = near(high);
  while (first <= of.top && at(first) < low) first += 1;
  while (last >= -of.top && at(last) > high) last -= 1;
  return { first, last, at, count: Math.max(0, last - first + 1) };
}

/** The stretch of all numbers that are rounded to a finite one. */
function basin(of, bits, y, { clip }) {
  if (["inf", "nan"].includes(classOf(of, bits))) return null;
  const place = placeOf(of, bits);
  const edge = (way) => {
    if (Math.abs(place + way) > of.top) return way * brink(of);
    return (decode(of, patternAt(of, place + way)) + decode(of, bits)) / 2;
  };
  const [from, to] = [-1, 1].map((way) => clip(edge(way)));
  return s("rect", { x: from, y: y - 9, width: Math.max(0, to - from), height: 18, rx: 4, class: "fx-basin" });
}

/** The stretches of all numbers that are too large. */
function beyond({ of, saturates }, y, { low, high, clip }) {
  const edge = brink(of);
  const over = of.infinite ? Infinity : saturates ? limits(of).largest : NaN;
  const stretch = (from, to, what) => [
    s("rect", { x: from, y: y - 9, width: Math.max(0, to - from), height: 18, class: "fx-beyond" }),
    middled((from + to) / 2, y + 24, "fx-count", `from here on ${show(what)}`),
  ];
  return [
    high > edge && stretch(clip(edge), clip(high), over),
    low < -edge && stretch(clip(low), clip(-edge), -over),
  ];
}

/** What the format makes of the number: a dot, or an arrow where it lies outside. */
function result(value, y, size, frame) {
  if (Number.isNaN(value)) return null;
  if (frame.holds(value)) return s("circle", { cx: frame.x(value), cy: y, r: size, class: "fx-dot" });
  const right = value > frame.high;
  const from = right ? frame.width - SIDE + 2 : SIDE - 2;
  const to = right ? 9 : -9;
  return s("path", { d: `M${from} ${y - 6}l${to} 6l${-to} 6z`, class: "fx-dot" });
}

/** What a lane says at its right end: how many numbers the format has on the part that is drawn, or where the typed one went. */
function remark(value, count, { holds, width }, chosen) {
  const number = `${count ? count.toLocaleString("en").replaceAll(",", "\u202f") : "no"} number${count === 1 ? "" : "s"}`;
  const many = chosen && (width >= NARROW || count < 1000) ? `${number} on this line` : number;
  const became = holds(value) ? "" : `becomes ${short(value)}`;
  return became || many;
}

/** The typed number: a line across all lanes, and its grip at the top. */
function typedMark(typed, bottom, { low, high, width, x }) {
  const at = between(low, typed, high);
  const text = `${typed < at ? "← " : ""}${show(typed)}${typed > at ? " →" : ""}`;
  const room = Math.min(4.2 * text.length + 20, width / 2);
  const middle = between(room + 1, x(at), width - room - 1);
  return [
    s("line", { x1: x(at), x2: x(at), y1: 23, y2: bottom, class: "fx-typed" }),
    s("g", { class: "fx-grip" }, s("rect", { x: middle - room, y: 1, width: 2 * room, height: 22, rx: 11 }), sideways(room - 9, middle, 12), middled(middle, 16.5, "fx-at", text)),
  ];
}

/** Values under the selected lane: the number itself, and the next to either side where there is room. */
function labels({ of, bits }, y, frame) {
  const { first, last, at } = within(of, frame);
  const { x, width, low, high } = frame;
  const here = placeOf(of, bits);
  const edge = brink(of);
  const [left, right] = [low < -edge ? x(-edge) : 0, high > edge ? x(edge) : width];
  const taken = [];
  const shown = [];
  const places = [0, 1, -1].map((step) => here + step).filter((place) => place >= first && place <= last);
  const texts = alike(places.map(at), spacing(of, bits));
  for (const [i, place] of places.entries()) {
    const step = place - here;
    const text = texts[i];
    const half = text.length * 3.6 + 6;
    const middle = between(left + half, x(at(place)), right - half);
    if (taken.some(([from, to]) => middle - half < to && middle + half > from)) continue;
    taken.push([middle - half, middle + half]);
    shown.push(middled(middle, y + 24, step ? "fx-value" : "fx-value on", text));
  }
  const means = `shaded: rounds to ${texts[places.indexOf(here)]}`;
  const room = means.length * 6.1 + 14;
  const free = ([from, to]) => !taken.some(([a, b]) => from < b && to > a);
  const spots = [[right - SIDE - room, right - SIDE], [left + SIDE, left + SIDE + room]];
  const spot = places.includes(here) && !["inf", "nan"].includes(classOf(of, bits)) && left === 0 && right === width ? spots.findIndex(free) : -1;
  if (spot >= 0) shown.push(s("text", { x: spots[spot][1 - spot], y: y + 24, class: "fx-count", "text-anchor": spot ? "start" : "end" }, means));
  return shown;
}

/** A large number in three digits, a smaller one with all of them. */
const rounded = (x) => short(x < 1e6 ? x : Number(x.toPrecision(3)));

/** Neighbours with as many decimals as the one that needs most. */
function alike(values, step) {
  const texts = values.map((value) => resolved(value, step));
  const places = Math.max(...texts.map((text) => (text.split(".")[1] ?? "").length));
  return texts.some((text) => /[^\d.−]/.test(text)) || places > 12 ? texts : values.map((value) => value.toFixed(places).replace("-", "−"));
}

/**
 * @param {{pick: (bits: number) => void, type: (text: string) => void}} on a number of the selected format was clicked;
 *   the number was dragged to another one
 */
export function numberLine(on) {
  const picture = s("svg", { role: "img", class: "fx-line" });
  const nothing = h("p", { class: "fx-small" }, "nan is not on the number line: it is neither smaller nor larger than any number.");
  const told = h("p", { class: "fx-small" });
  const node = h("div", { class: "fx-lines" }, picture, nothing);
  let reach = START;
  let drawn;
  let part; // what is shown now
  let held = false; // while the number is dragged the line stays
  let moving = { cancel() {} };

  function tick(of, place, x, y, chosen) {
    const tall = chosen ? 9 : 5;
    const line = s("line", { x1: x, x2: x, y1: y - tall, y2: y + tall, class: "fx-tick" });
    if (!chosen) return line;
    const bits = patternAt(of, place);
    const title = s("title", {}, show(decode(of, bits)));
    return s("g", {}, line, s("rect", { x: x - 8, y: y - 12, width: 16, height: 24, class: "fx-hit" }, title));
  }

  function marks(of, y, frame, chosen) {
    const { first, last, at, count } = within(of, frame);
    if (count * CLOSE <= frame.width) {
      return Array.from({ length: count }, (_, i) => tick(of, first + i, frame.x(at(first + i)), y, chosen));
    }
    const [from, to] = [at(first), at(last)].map(frame.clip);
    return s("rect", { x: from, y: y - 5, width: Math.max(1, to - from), height: 10, class: "fx-dense" });
  }

  function lane(now, of, y, frame) {
    const chosen = of === now.of;
    const bits = chosen ? now.bits : encode(of, now.typed, now.saturates);
    const value = decode(of, bits);
    const right = frame.width - SIDE;
    const name = [chosen && "▸ ", of.name, s("tspan", { class: "fx-range" }, ` up to ${rounded(limits(of).largest)}`)];
    return s(
      "g",
      { "data-lane": of.name },
      s("line", { x1: SIDE, x2: right, y1: y, y2: y, class: "fx-axis" }),
      chosen && [basin(of, bits, y, frame), beyond(now, y, frame)],
      marks(of, y, frame, chosen),
      result(value, y, chosen ? 6 : 4.5, frame),
      s("text", { x: SIDE, y: y - 11, class: chosen ? "fx-name on" : "fx-name" }, name),
      s(
        "text",
        { x: right, y: y - 11, class: "fx-count", "text-anchor": "end" },
        remark(value, within(of, frame).count, frame, chosen),
      ),
    );
  }

  function tell({ of }, frame, names) {
    const ends = [frame.low, frame.high].map((end) => resolved(end, (frame.high - frame.low) / 10)).join(" to ");
    const counts = names.map((name) => `${name} ${within(FORMATS[name], frame).count}`).join(", ");
    picture.setAttribute("aria-label", `Number line from ${ends}. Numbers of each format on it: ${counts}.`);
    told.textContent =
      `${ends}. Dashed: the number; a dot: what a format makes of it; shaded: all that becomes the same ${of.name}.`;
  }

  const width = () => Math.max(280, Math.floor(node.clientWidth) || 640);

  function draw(now = drawn) {
    drawn = now;
    const nan = Number.isNaN(now.typed);
    picture.toggleAttribute("hidden", nan);
    nothing.hidden = !nan;
    moving.cancel();
    if (nan) return;
    const [from, to] = [part, held ? part : partOf(now, reach)];
    if (!from || held || still()) return paint(to);
    moving = animate({ ms: GLIDE, step: (t) => paint(to.map((end, i) => from[i] + ease(t) * (end - from[i]))) });
  }

  function paint(shown) {
    part = shown;
    const now = drawn;
    const frame = frameOf(part, width());
    const names = [now.of.name, ...NAMES.filter((name) => name !== now.of.name)];
    const y = (n) => TOP + n * LANES[Number(frame.width > NARROW)] + (n ? 22 : 0);
    const height = y(names.length - 1) + 12;
    for (const [name, value] of Object.entries({ viewBox: `0 0 ${frame.width} ${height}`, width: frame.width, height })) {
      picture.setAttribute(name, value);
    }
    node.style.minHeight = `${height}px`;
    const lanes = names.map((name, n) => lane(now, FORMATS[name], y(n), frame));
    replace(picture, lanes, typedMark(now.typed, height - 6, frame), labels(now, y(0), frame));
    tell(now, frame, names);
  }

  /** The number at a pixel, with no more digits than pixels can tell. */
  function numberAt(px) {
    const frame = frameOf(part, width());
    const value = frame.at(px);
    return [value, resolved(value, (10 * (frame.high - frame.low)) / frame.width).replaceAll("−", "-")];
  }
  let start = null; // pixel at which the hand came down
  const pixel = (event) => event.clientX - picture.getBoundingClientRect().left;
  picture.addEventListener("pointerdown", (event) => {
    if (event.button || !event.isPrimary) return;
    moving.cancel();
    start = pixel(event);
    picture.setPointerCapture(event.pointerId);
  });
  picture.addEventListener("pointermove", (event) => {
    if (start === null || (!held && Math.abs(pixel(event) - start) < DRAG)) return;
    held = true;
    on.type(numberAt(pixel(event))[1]);
  });
  const end = (event) => {
    if (start === null) return;
    start = null;
    const { of } = drawn;
    const bits = encode(of, numberAt(pixel(event))[0]);
    const dragged = held;
    held = false;
    if (dragged) draw();
    else if (event.type === "pointerup" && classOf(of, bits) !== "nan") on.pick(bits);
  };
  picture.addEventListener("pointerup", end);
  picture.addEventListener("pointercancel", end);

  return {
    node,
    told,
    draw,
    canZoom: (factor) => reach * factor >= NEAREST && reach * factor <= WIDEST,
    zoom(factor) {
      reach *= factor;
      draw();
    },
  };
}
