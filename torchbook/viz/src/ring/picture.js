/** The ring with the message on each link, and the table of ranks and chunks. */

import { animate, h, replace, s } from "../core/index.js";
import { chunkEnds, GATHER } from "./model.js";
import { who } from "./words.js";

const one = (v) => Math.round(v * 10) / 10;

/** @returns {{node: Element, draw: (steps: object[], step: number, moving: boolean) => void, stop: () => void}} */
export function ring() {
  const svg = s("svg", { class: "ri-svg", role: "img" });
  let run = { cancel() {} };

  function draw(steps, step, moving) {
    run.cancel();
    const now = steps[step];
    const ranks = now.vectors.length;
    const size = 290;
    const [mid, radius, dot] = [size / 2, size / 2 - 22, ranks > 10 ? 14 : 17];
    const angle = (r) => (2 * Math.PI * r) / ranks - Math.PI / 2;
    const point = (r, at = radius) => [one(mid + at * Math.cos(angle(r))), one(mid + at * Math.sin(angle(r)))];
    const away = (dot + 4) / radius / ((2 * Math.PI) / ranks); // share of the arc that a node covers
    for (const [name, value] of Object.entries({ viewBox: `0 0 ${size} ${size}`, width: size, height: size })) svg.setAttribute(name, value);
    svg.setAttribute("aria-label", `Ring of ${ranks} ranks; the words below say which chunk is on each link`);
    const on = step ? " on" : "";
    const arcs = now.vectors.map((_, r) => {
      const [[x, y], [u, v]] = [point(r + away), point(r + 1 - away)];
      const tilt = ((angle(r + 1 - away) + Math.PI / 2) * 180) / Math.PI;
      return [s("path", { d: `M${x} ${y}A${radius} ${radius} 0 0 1 ${u} ${v}`, class: `ri-arc${on}` }), s("path", { d: "M-6 -4.5L3 0L-6 4.5Z", transform: `translate(${u} ${v}) rotate(${one(tilt)})`, class: `ri-tip${on}` })];
    });
    const parcels = now.messages.map(({ source, chunk }) => {
      const label = ranks > 8 ? String(chunk) : `chunk ${chunk}`;
      const wide = ranks > 8 ? 20 : 54;
      const g = s("g", { class: `ri-parcel${now.phase === GATHER ? " gather" : ""}` }, s("rect", { x: -wide / 2, y: -8.5, width: wide, height: 17, rx: 4 }), s("text", { y: 0.5 }, label));
      g.put = (t) => g.setAttribute("transform", `translate(${point(source + away + t * (1 - 2 * away), ranks > 8 ? radius - 24 : radius - (ranks > 4 ? 22 : 0)).join(" ")})`);
      g.put(0.5);
      return g;
    });
    replace(
      svg,
      arcs,
      now.vectors.map((_, r) => {
        const [x, y] = point(r);
        return [s("circle", { cx: x, cy: y, r: dot, class: "ri-node" }), s("text", { x, y }, r)];
      }),
      parcels,
      s("text", { x: mid, y: mid - 9, class: "ri-mid" }, step ? now.phase : "start"),
      s("text", { x: mid, y: mid + 9, class: "ri-mid" }, step ? `step ${step} of ${steps.length - 1}` : `${steps.length - 1} steps ahead`),
    );
    if (moving) run = animate({ ms: 420, step: (t) => parcels.forEach((g) => g.put(0.5 * t)) });
  }
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
