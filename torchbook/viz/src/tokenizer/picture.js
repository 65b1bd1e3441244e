/** One piece as a tree that grows down: its bytes on top, and under each pair, with its place in the order of learning, the token that a merge made of it. */

import { h, replace, s, still } from "../core/index.js";
import { ordinal } from "../core/units.js";
import { shade, tree } from "./model.js";
import { shown } from "./words.js";

const [LOW, TALL, GAP, LEAF, MOST] = [22, 38, 17, 24, 64]; // of a box the least and the most height, between boxes, of a byte the least and the most width
const GLIDE = { duration: 360, easing: "cubic-bezier(.3,0,.2,1)" };

/** @returns {{node: Element, draw: (now: object) => void}} */
export function picture() {
  const svg = s("svg", { class: "tk-tree", role: "img", "aria-label": "The piece of the chosen token as a tree of merges; the words below say which come last and next" });
  const node = h("div", { class: "tk-stage", tabindex: 0, role: "region", "aria-label": "The piece of the chosen token" }, svg);
  let before = { piece: "", merges: 0 };

  /** @param {{bytes: number[], merges: number[][], every: number[][], next: number[]|undefined, rankAt: (i: number) => number|undefined, known: object, chosen: number, name: string}} now */
  function draw({ bytes, merges, every, next, rankAt, known, chosen, name }) {
    const { all, roots } = tree(bytes, merges);
    const texts = all.map((one) => shown(known.tokens[one.id]));
    const unit = Math.max(LEAF, Math.min(MOST, Math.floor((node.clientWidth - 4) / bytes.length)), ...texts.map((text, i) => (8 * [...text].length + 6) / all[i].size));
    const deepest = Math.max(...tree(bytes, every).all.map((one) => one.level));
    const high = Math.max(LOW, Math.min(TALL, Math.floor((node.clientHeight - 26) / (deepest + 1)) - GAP));
    const place = ({ from, size, level }) => ({ x: 2 + from * unit + 1.5, y: 2 + level * (high + GAP), width: size * unit - 3, height: high });
    const moving = !still() && name === before.piece && merges.length === before.merges + 1;
    before = { piece: name, merges: merges.length };
    const [width, height] = [bytes.length * unit + 4, (deepest + 1) * (high + GAP) + 4];
    for (const [key, value] of Object.entries({ viewBox: `0 0 ${width} ${height}`, width, height })) svg.setAttribute(key, value);
    const branch = (one) =>
      one.parts.map((part) => {
        const [top, low] = [place(part), place(one)];
        return s("path", { d: `M${top.x + top.width / 2} ${top.y + high}V${low.y}`, class: "tk-branch" });
      });
    const order = (one) => {
      const at = place(one);
      return one.parts.length > 0 && s("g", { class: "tk-rank done" }, s("text", { x: 2 + one.parts[1].from * unit, y: at.y - GAP / 2 }, ordinal(one.id - 255)));
    };
    const box = (one, i) => {
      const at = place(one);
      const root = roots.indexOf(one);
      const fresh = i === all.length - 1 && one.parts.length > 0;
      const cls = ["tk-box-of", one.parts.length ? `made h${shade(one.id - 256, known)}` : one.id < 256 ? "byte" : "special", root < 0 && "used", fresh && "new", root === chosen && "on"].filter(Boolean).join(" ");
      const g = s("g", { class: cls }, s("rect", { ...at, rx: 4 }), s("text", { x: at.x + at.width / 2, y: at.y + high / 2 }, texts[i]));
      if (moving && fresh) g.animate?.([{ transform: `translateY(${-(high + GAP)}px)`, opacity: 0 }, { transform: "none" }], GLIDE);
      return g;
    };
    // Between neighbours that are a merge stands when it was learned; the earliest comes next.
    const ranks = roots.slice(1).map((right, i) => {
      const rank = rankAt(i);
      if (rank === undefined) return null;
      const x = 2 + right.from * unit;
      const y = Math.max(place(roots[i]).y, place(right).y) + high + GAP / 2;
      return s("g", { class: next && next[0] === i ? "tk-rank next" : "tk-rank" }, s("text", { x, y }, ordinal(rank + 1)));
    });
    replace(svg, all.map(branch), all.map(box), all.map(order), ranks);
  }
  return { node, draw };
}
