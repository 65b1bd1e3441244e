/** The ring: each rank a disc, each chunk a slice of it, which fill as sums come in; and the table of its numbers. */

import { animate, grip, h, pressed, replace, s } from "../core/index.js";
import { chunkEnds, perLink } from "./model.js";
import { who } from "./words.js";

export const ROOMY = 4; // ranks: with more there is no room for numbers in their chunks
const one = (v) => Math.round(v * 10) / 10;

/** A slice of a disc around 0, between two shares of the turn. */
function slice(from, to, radius) {
  if (to - from > 0.999) return `M0 ${-radius}a${radius} ${radius} 0 1 1 -.01 0z`;
  const at = (share) => [Math.sin(2 * Math.PI * share), -Math.cos(2 * Math.PI * share)].map((v) => one(v * radius)).join(" ");
  return `M0 0L${at(from)}A${radius} ${radius} 0 ${to - from > 0.5 ? 1 : 0} 1 ${at(to)}Z`;
}

/**
 * @param {{seek: (step: number) => void}} options a slice that is dragged to the next rank takes the steps on its way.
 * @returns {{node: Element, draw: (steps: object[], step: number, moving: boolean, width: number) => void, stop: () => void}}
 */
export function ring({ seek }) {
  const svg = s("svg", { class: "ri-svg", role: "img" });
  let run = { cancel() {} };
  let [shown, nodes, waiting] = ["", [], s("g")];
  let place = { angleAt: () => 0, turn: 1 };
  let now = 0; // the step that is drawn
  let held = null; // where a drag began: [step, angle]

  /** Everything that stays while the steps go by. */
  function build(vectors, width) {
    const ranks = vectors.length;
    const high = width < 520 ? 400 : 380;
    const ends = chunkEnds(vectors[0].length, ranks).map((end, _, all) => end / all.at(-1));
    const radius = Math.min(high / 7, width < 520 ? 44 : 56, (0.75 * Math.PI * Math.min(width / 2, high / 2)) / ranks);
    const [mid, tall] = [width / 2, high / 2];
    const [wide, rise] = [Math.min(mid - radius - 6, 2 * tall), tall - radius - 6];
    const angle = (rank) => (2 * Math.PI * rank) / ranks - Math.PI / 2;
    const point = (rank) => [mid + wide * Math.cos(angle(rank)), tall + rise * Math.sin(angle(rank))];
    /** How far along the way to the next rank a disc's edge is. */
    const rim = (rank, way) => {
      const [x, y] = point(rank);
      let t = 0;
      while (t < 0.49 && Math.hypot(point(rank + way * t)[0] - x, point(rank + way * t)[1] - y) < radius + 4) t += 0.01;
      return t;
    };
    for (const [name, value] of Object.entries({ viewBox: `0 0 ${width} ${high}`, width, height: high })) svg.setAttribute(name, value);
    const arcs = vectors.map((_, r) => {
      const [begin, end] = [r + rim(r, 1), r + 1 - rim(r + 1, -1)];
      const [[x, y], [u, v], [p, q]] = [point(begin), point(end), point(end - 0.02)];
      const tilt = (Math.atan2(v - q, u - p) * 180) / Math.PI;
      return [s("path", { d: `M${one(x)} ${one(y)}A${one(wide)} ${one(rise)} 0 0 1 ${one(u)} ${one(v)}`, class: "ri-arc" }), s("path", { d: "M-7 -5L2 0L-7 5Z", transform: `translate(${one(u)} ${one(v)}) rotate(${one(tilt)})`, class: "ri-tip" })];
    });
    const roomy = ranks <= ROOMY && radius > 50; // for "rank" before the number
    const hub = roomy ? 48 : 19;
    nodes = vectors.map((_, rank) => {
      const [x, y] = point(rank);
      const slices = ends.slice(1).map((end, chunk) => s("path", { d: slice(ends[chunk], end, radius), class: "ri-slice" }));
      const rays = ranks > 1 ? ends.slice(1).map((end) => s("path", { d: `M0 0L${one(radius * Math.sin(2 * Math.PI * end))} ${one(-radius * Math.cos(2 * Math.PI * end))}`, class: "ri-ray", "stroke-width": ranks > 8 ? 1.2 : 3 })) : [];
      const counts = ends.slice(1).map((end, chunk) => {
        const [middle, away] = [Math.PI * (ends[chunk] + end), 0.4 * radius];
        return ranks <= ROOMY && end > ends[chunk] && s("text", { x: one(away * Math.sin(middle)), y: one(-away * Math.cos(middle)), class: "ri-count" });
      });
      return { slices, counts, disc: s("g", { transform: `translate(${one(x)} ${one(y)})` }, s("circle", { r: radius, class: "ri-node" }), slices, rays), hub: s("g", { class: "ri-over", transform: `translate(${one(x)} ${one(y)})` }, counts, s("rect", { x: -hub / 2, y: -9.5, width: hub, height: 19, rx: 9.5, class: "ri-hub" }), s("text", { class: "ri-rank" }, roomy ? `rank ${rank}` : rank)) };
    });
    const line = (y, cls) => s("text", { x: mid, y: one(tall + y), class: cls });
    const [lead, big, of, goal] = [line(-34, "ri-mid"), line(-8, "ri-big"), line(18, "ri-mid"), line(36, "ri-mid")];
    const first = s("text", { x: mid, y: one(point(0)[1] + radius + 14), class: "ri-mid" }, roomy ? "" : "rank 0"); // the others bear their numbers alone
    waiting = s("g");
    replace(svg, arcs, nodes.map((one) => one.disc), first, lead, big, of, goal, waiting, nodes.map((one) => one.hub));
    place = { point, ends, radius, lead, big, of, goal, turn: (2 * Math.PI) / ranks, angleAt: (x, y) => Math.atan2((y - tall) / rise, (x - mid) / wide) };
  }

  /** The slices that the messages carry, at the discs that send them; `put` moves one on its way, from 0 to 1. */
  function parcels(messages, done) {
    const { point, ends, radius } = place;
    return messages.map(({ source, chunk }) => {
      const centre = Math.PI * (ends[chunk] + ends[chunk + 1]);
      const [x, y] = [0.62 * radius * Math.sin(centre), -0.62 * radius * Math.cos(centre)];
      const g = s("g", { class: `ri-parcel${done(source, chunk) ? " all" : ""}` }, s("path", { class: "ri-carried", d: slice(ends[chunk], ends[chunk + 1], radius + 3) }));
      grip(g, { knob: "dots", at: [one(x), one(y)] });
      g.put = (t) => g.setAttribute("transform", `translate(${point(source + t).map(one).join(" ")})`);
      g.put(0);
      return g;
    });
  }

  function draw(steps, step, moving, width) {
    run.cancel();
    const state = steps[step];
    const { vectors } = state;
    const ranks = vectors.length;
    const made = `${width} ${ranks} ${vectors[0].length}`;
    if (made !== shown) build(vectors, width);
    shown = made;
    now = step;
    svg.setAttribute("aria-label", `Ring of ${ranks} ranks; the words below say what each has sent and holds`);
    const full = ({ parts }) => (rank, chunk) => parts[rank][chunk].length === ranks;
    const fill = ({ parts }) =>
      nodes.forEach(({ slices, counts }, rank) =>
        slices.forEach((el, chunk) => {
          const held = parts[rank][chunk].length;
          if (counts[chunk]) counts[chunk].textContent = held;
          el.setAttribute("class", `ri-slice${held === ranks ? " all" : held > 1 ? " some" : ""}`);
          el.style.transform = `scale(${Math.sqrt(held / ranks).toFixed(3)})`;
        }),
      );
    const even = vectors[0].length % ranks === 0;
    const sent = perLink(steps.slice(0, step + 1).flatMap((each) => each.messages), ranks);
    const all = perLink(steps.flatMap((each) => each.messages), ranks);
    const [part, whole] = [sent, all].map((each) => Math.round((100 * Math.max(...each)) / vectors[0].length));
    place.lead.textContent = Math.min(...all) === Math.max(...all) ? "each rank sent" : "sent at most";
    place.big.textContent = `${part} %`;
    const of = even && step > 0 && width >= 330 ? `${step} × 1/${ranks} of its data` : "of its data";
    place.of.textContent = part === whole ? of : `${of};`;
    place.goal.textContent = part === whole ? "" : `${whole} % at the end`;
    const rest = () => {
      fill(state);
      const next = steps[step + 1];
      replace(waiting, next && parcels(next.messages, full(state)));
    };
    if (!moving) return rest();
    const on = parcels(state.messages, full(steps[step - 1]));
    replace(waiting, on);
    run = animate({ ms: 420, step: (t) => on.forEach((g) => g.put(t * t * (3 - 2 * t))), done: rest });
  }

  // A slice is turned around the ring, a step for each rank that it reaches; pressed only, it goes to the next one.
  pressed(
    svg,
    (x, y, start) => {
      const angle = place.angleAt(x, y);
      if (start) held = { from: now, angle, moved: false };
      const turned = Math.atan2(Math.sin(angle - held.angle), Math.cos(angle - held.angle));
      const way = Math.trunc(turned / (0.6 * place.turn));
      if (!way) return;
      held = { from: held.from + way, angle: held.angle + way * place.turn, moved: true };
      seek(held.from);
    },
    ".ri-parcel",
  );
  svg.addEventListener("pointerup", () => {
    if (held && !held.moved) seek(now + 1);
    held = null;
  });
  return { node: svg, draw, stop: () => run.cancel() };
}

/** The table: what each rank holds of each chunk, and whose numbers are in it. */
export function table() {
  const node = h("div", { class: "ri-scroll", tabindex: 0, role: "region", "aria-label": "What the ranks, in rows, hold of the chunks, in columns" });
  const swatch = (cls, text) => h("span", {}, h("i", { class: cls }), text);
  const key = h("div", { class: "ri-key" }, swatch("", "own numbers"), swatch("some", "partial sum"), swatch("all", "finished"), swatch("sent", "sent in this step"), swatch("got", "received in this step"));
  function draw(steps, step) {
    const now = steps[step];
    const ranks = now.vectors.length;
    const ends = chunkEnds(now.vectors[0].length, ranks);
    const has = (name, rank, chunk) => now.messages.some((one) => one[name] === rank && one.chunk === chunk);
    replace(
      node,
      h(
        "table",
        { class: `ri-grid${ranks > 8 ? " many" : ""}` },
        h("thead", {}, h("tr", {}, h("td", { class: "ri-corner" }), ends.slice(1).map((_, chunk) => h("th", { scope: "col" }, ranks > 6 ? chunk : [h("span", { class: "ri-long" }, "chunk "), chunk])))),
        h(
          "tbody",
          {},
          now.vectors.map((vector, rank) =>
            h(
              "tr",
              {},
              h("th", { scope: "row" }, h("span", { class: "ri-long" }, "rank "), rank),
              now.parts[rank].map((held, chunk) => {
                const marks = [held.length === ranks ? "all" : held.length > 1 && "some", has("target", rank, chunk) && "got", has("source", rank, chunk) && "sent"];
                return h("td", { class: marks.filter(Boolean).join(" ") || null, title: `ranks ${held.join(", ")}` }, h("span", { class: "ri-nums" }, vector.slice(ends[chunk], ends[chunk + 1]).join(" ") || "–"), h("span", { class: "ri-who" }, who(held, ranks)));
              }),
            ),
          ),
        ),
      ),
    );
  }
  return { node: h("div", { class: "ri" }, node, key), draw };
}
