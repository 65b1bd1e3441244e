/** The three pictures: two ways to generate, step by step; the memory; and the pool of pages. */

import { h, keyed, pressed, replace, s, still } from "../core/index.js";
import { letter } from "./words.js";

const NARROW = 520; // below it the two ways stand one below the other
const WAYS = ["Without a cache", "With a cache"];
const GLIDE = { duration: 380, easing: "cubic-bezier(.3,0,.2,1)" };

/** The mark of a cell: computed and lost, computed and kept, read from the cache. */
function cell(kind, x, y, wide, high) {
  const unit = Math.min(wide, high);
  const a = unit * 0.24;
  const [u, v] = [x + wide / 2, y + high / 2];
  const box = s("rect", { x: x + 1, y: y + 1, width: wide - 2, height: high - 2, rx: 2, class: `kv-${kind}` });
  if (unit < 9 || kind === "later") return box;
  const cross = `M${u - a} ${v - a}l${2 * a} ${2 * a}m0 ${-2 * a}l${-2 * a} ${2 * a}`;
  if (kind === "lost") return [box, s("path", { d: cross, class: "kv-cross" })];
  if (kind === "read") return [box, s("circle", { cx: u, cy: v, r: unit * 0.16, class: "kv-dot" })];
  return [box, s("path", { d: `M${u - a} ${v}l${0.7 * a} ${0.8 * a}l${1.3 * a} ${-1.6 * a}`, class: "kv-tick" })];
}

const LEGEND = { lost: "computed, lost", kept: "keys, values kept", read: "read" };
const legend = (...more) => h("div", { class: "kv-key" }, Object.entries(LEGEND).map(([kind, text]) => h("span", {}, s("svg", { width: 15, height: 15, "aria-hidden": "true" }, cell(kind, 0, 0, 15, 15)), text)), more);

/**
 * Steps in rows, positions in columns, both ways; a press on a row shows its step.
 * @param {{pick: (step: number) => void}} options
 */
export function triangles({ pick }) {
  const svg = s("svg", { class: "kv-svg", role: "img", "aria-label": "A row for each step and a column for each position, without a cache and with one; the words below say what each holds" });
  const meters = WAYS.map((name) => {
    const [fill, told] = [h("i"), h("b")];
    return { fill, told, row: h("div", { class: "kv-cost" }, h("span", {}, name.toLowerCase().replace(" a cache", "")), h("span", { class: "kv-track", "aria-hidden": "true" }, fill), told) };
  });
  const fresh = h("span", {}, "+1, +2 …: new tokens");
  let rows = null; // where the rows are: {tops, high, steps}
  let drawn = [-1, ""];
  pressed(svg, (_, y) => {
    const from = rows.tops.findLast((top) => y >= top - 1) ?? rows.tops[0];
    pick(Math.max(0, Math.min(rows.steps - 1, Math.floor((y - from) / rows.high))));
  });

  /** @param {{tokens: string[], prompt: number, steps: number, at: number, width: number, costs: {shares: number[], told: string[]}}} now */
  function draw({ tokens, prompt, steps, at, width, costs }) {
    const columns = prompt + steps - 1;
    const narrow = width < NARROW;
    const [left, title, gap] = [20, 20, 26];
    const room = (narrow ? width : (width - gap) / 2) - left - 2;
    const wide = room / columns;
    const longest = Math.max(...tokens.map((text) => [...text.trim()].length));
    const upright = longest <= Math.max(1, Math.floor((wide - 2) / 8));
    const names = upright ? 16 : wide >= 13 ? 8 + 7.4 * Math.min(8, longest) : 0;
    const high = Math.floor(((narrow ? 300 - names - 2 * title : 268 - names - title) / (narrow ? 2 : 1) / steps) * 2) / 2;
    const panel = title + steps * high;
    const places = [0, 1].map((i) => ({ x: left + (narrow ? 0 : i * (room + left + 2 + gap)), y: title + names + (narrow ? i * (panel + 6) : 0) }));
    const total = narrow ? 306 : 268;
    const moving = !still() && at === drawn[0] + 1 && drawn[1] === `${columns} ${steps} ${width}`;
    drawn = [at, `${columns} ${steps} ${width}`];
    rows = { tops: [...new Set(places.map(({ y }) => y))], high, steps };
    for (const [name, value] of Object.entries({ viewBox: `0 0 ${width} ${total}`, width, height: total })) svg.setAttribute(name, value);
    const said = (text, i) => i < prompt || i === prompt + at - 1 || i === columns - 1 || !/^\+\d+$/.test(text); // of the places of new tokens that of this step and the last
    const name = (text, i, { x, y }) => {
      const short = [...text.trim()].slice(0, 8).join("") || "␣";
      const [u, v] = [x + (i + 0.5) * wide, y - 6];
      return s("text", { ...(upright ? { x: u, y: v, "text-anchor": "middle" } : { transform: `translate(${u + 4} ${v}) rotate(-90)` }), class: i < prompt ? null : "quiet" }, short);
    };
    const way = (cached, place) =>
      Array.from({ length: steps }, (_, step) => {
        const y = place.y + step * high;
        const kindOf = (i) => (step > at ? "later" : !cached ? "lost" : step === 0 || i === prompt + step - 1 ? "kept" : "read");
        const cells = Array.from({ length: prompt + step }, (_, i) => {
          const kind = kindOf(i);
          const one = s("g", {}, cell(kind, place.x + i * wide, y, wide, high));
          if (moving && step === at) one.animate?.(kind === "read" ? [{ transform: `translateY(${-high}px)` }, { transform: "none" }] : [{ opacity: 0 }, { opacity: 1 }], kind === "read" ? GLIDE : { ...GLIDE, delay: cached ? 0 : 16 * i, fill: "backwards" });
          return one;
        });
        const number = step === at && s("text", { x: place.x - 5, y: y + high / 2, class: "on kv-row-name" }, step + 1);
        return [number, cells, step === at && s("rect", { x: place.x - 1, y: y - 0.5, width: (prompt + step) * wide + 2, height: high + 1, rx: 3, class: "kv-row" })];
      });
    replace(
      svg,
      places.map((place, i) => [
        s("text", { x: place.x, y: i && narrow ? place.y - 6 : 13, class: "kv-way" }, WAYS[i]),
        (i === 0 || !narrow) && names > 0 && tokens.map((text, column) => said(text, column) && name(text, column, place)),
        way(Boolean(i), place),
      ]),
    );
    fresh.style.visibility = names > 0 && tokens.some((text) => /^\+\d+$/.test(text)) ? "" : "hidden"; // it keeps its room
    meters.forEach(({ fill, told }, i) => {
      fill.style.width = `${(100 * costs.shares[i]).toFixed(1)}%`;
      told.textContent = costs.told[i];
    });
  }
  return { node: h("div", { class: "kv" }, svg, legend(fresh), h("div", { class: "kv-costs" }, meters.map((one) => one.row))), draw };
}

/**
 * The memory once for each number of KV heads: the weights, and beside them the caches of as many sequences as fit.
 * @param {{pick: (heads: number) => void}} options
 */
export function shelves({ pick }) {
  const node = h("div", { class: "kv-shelves", role: "group", "aria-label": "The memory with other KV heads" });
  const MOST = 60; // slots that can be told apart
  const sync = keyed(node, {
    key: ({ place }) => place,
    make: () => {
      const el = h("button", { type: "button", class: "kv-shelf", onclick: () => pick(el.heads) }, h("span", { class: "kv-shelf-head" }, h("span"), h("b")), h("span", { class: "kv-meter", "aria-hidden": "true" }, h("i", { class: "w" }), h("i", { class: "c" })));
      return el;
    },
    update: (el, { heads, name, own, memory, chosen }) => {
      el.heads = heads;
      el.setAttribute("aria-pressed", String(chosen));
      const [label, fits] = el.querySelectorAll(".kv-shelf-head > *");
      label.textContent = name;
      const over = own.left < 0;
      fits.textContent = over ? "too large" : `${own.fit.toLocaleString("en-US")} fit`;
      const meter = el.querySelector(".kv-meter");
      meter.classList.toggle("over", over);
      const [weights, caches] = meter.children;
      weights.style.width = `${(100 * Math.min(1, own.weights / memory)).toFixed(2)}%`;
      const share = over ? 0 : (own.fit * own.each) / memory;
      caches.style.width = `${(100 * share).toFixed(2)}%`;
      caches.classList.toggle("many", own.fit > MOST);
      caches.style.setProperty("--slot", `${100 / Math.max(1, own.fit)}%`);
    },
  });
  const sample = (cls, text) => h("span", {}, h("i", { class: `kv-sample ${cls}` }), text);
  const key = h("div", { class: "kv-key" }, sample("w", "weights"), sample("c", "a sequence’s cache"), sample("", "too little for one more"));
  return { node: h("div", { class: "kv" }, node, key), draw: sync };
}

/** The pages with their owners, and the same memory as reservations. */
export function pool() {
  const node = h("ol", { class: "kv-pool", "aria-label": "Pages of the pool" });
  const reserved = h("ol", { class: "kv-reserved", "aria-label": "The same memory, reserved" });
  const sample = (cls, text) => h("span", {}, h("i", { class: `kv-sample ${cls}` }), text);
  const slots = (count, used, held) => Array.from({ length: count }, (_, i) => h("i", { class: held ? (i < used ? "used" : "spare") : null }));
  const draws = keyed(node, {
    key: ({ number }) => number,
    make: ({ number }) => h("li", {}, h("span", { class: "kv-top" }, h("span", {}, number), h("b")), h("span", { class: "kv-slots", "aria-hidden": "true" })),
    update: (el, { number, run, used, page, fresh }) => {
      el.className = [!run && "free", fresh && "fresh"].filter(Boolean).join(" ");
      el.title = run ? `page ${number}: ${letter(run.request)}, ${used} of ${page}${fresh ? ", new in this step" : ""}` : `page ${number}: free`;
      el.querySelector("b").textContent = run ? letter(run.request) : "";
      replace(el.querySelector(".kv-slots"), slots(page, used, run));
    },
  });
  function draw({ page, capacity, reserve }, now, before, whole) {
    const owners = (one) => new Map((one?.running ?? []).flatMap((run) => run.pages.map((number, place) => [number, [run, place]])));
    const [own, past] = [owners(now), owners(before)];
    draws(
      Array.from({ length: capacity }, (_, number) => {
        const [run, place] = own.get(number) ?? [];
        return { number, run, page, used: run ? Math.min(page, run.positions - place * page) : 0, fresh: run && past.get(number)?.[0].request !== run.request };
      }),
    );
    const held = owners(whole);
    replace(
      reserved,
      Array.from({ length: Math.floor((page * capacity) / reserve) }, (_, number) => {
        const [run] = held.get(number) ?? [];
        return h("li", { class: run ? null : "free" }, h("b", {}, run ? letter(run.request) : ""), h("span", { class: "kv-slots", "aria-hidden": "true" }, slots(reserve, run?.positions ?? 0, run)));
      }),
    );
  }
  return {
    node: h("div", { class: "kv" }, h("p", { class: "kv-title" }, "in pages"), node, h("p", { class: "kv-title" }, "reserved"), reserved, h("div", { class: "kv-key" }, sample("used", "in use"), sample("spare", "held, unused"), sample("free", "free"))),
    draw,
  };
}
