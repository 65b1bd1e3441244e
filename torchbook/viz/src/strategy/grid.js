/** The cluster: in the box of each GPU, which stands for the whole model, the part that it keeps and what it gathers. */

import { h, keyed, moving, s, uid } from "../core/index.js";
import { describeLayout, partOf } from "./model.js";

const [COLUMNS, GAP, LEFT, CAPTION] = [8, 6, 72, 19];

/** The nodes that are drawn, of so many: the first and the last, as stages differ between them. */
export const drawnNodes = (nodes) => (nodes > 1 ? [0, nodes - 1] : [0]);

export function cluster() {
  const hatch = uid("st-hatch");
  const pattern = s("pattern", { id: hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" }, s("path", { d: "M0 0v6", class: "st-hatch" }));
  const cells = s("g");
  const names = s("g");
  const caption = s("text", { class: "st-caption" });
  const svg = s("svg", { class: "sc-svg st-cluster", role: "img" }, s("defs", {}, pattern), cells, names, caption);
  const set = (el, attrs) => Object.entries(attrs).forEach(([name, value]) => el.setAttribute(name, value));
  const boxes = keyed(cells, {
    key: (one) => one.rank,
    make: () => s("g", {}, s("rect", { class: "st-box", rx: 3 }), s("rect", { class: "st-whole", fill: `url(#${hatch})` }), s("rect", { class: "st-kept" })),
    update: (el, { box, whole, kept, idle }) => {
      const [frame, gathered, held] = el.children;
      set(frame, box);
      set(gathered, whole);
      set(held, kept);
      frame.classList.toggle("st-idle", idle);
      for (const one of [gathered, held]) one.setAttribute("opacity", idle ? 0 : 1);
    },
  });
  const lines = keyed(names, { key: (one) => one.text, make: (one) => s("text", { x: 0 }, one.text), update: (el, one) => el.setAttribute("y", one.y) });

  /** @param {object} given the setting @param {object} one the candidate @param {number} width */
  function draw(given, one, width) {
    moving(svg, width);
    const { layout, memory } = one;
    const { nodes, gpus_per_node: node } = given;
    const shown = drawnNodes(nodes);
    const columns = Math.min(COLUMNS, node);
    const wide = (width - LEFT - 2 - GAP * (COLUMNS - 1)) / COLUMNS;
    const row = width < 480 ? 34 : 46;
    const high = shown.length > 1 ? row : 2 * row + GAP;
    const height = 2 * row + GAP + 2 + CAPTION;
    set(svg, { viewBox: `0 0 ${width} ${height}`, width, height });
    const items = shown.flatMap((at, k) =>
      Array.from({ length: columns }, (_, i) => {
        const rank = at * node + i;
        const box = { x: LEFT + i * (wide + GAP), y: 1 + k * (high + GAP), width: wide, height: high };
        const part = partOf(rank, layout);
        const [y, deep] = [box.y + part.y * high, part.height * high];
        // The blocks that are whole for a moment: two of all, or all of the part where nothing is given back in between.
        const some = layout.fsdp > 1 && layout.reshard ? Math.max(3, (2 * deep) / (given.layers / layout.pp)) : layout.fsdp > 1 && memory.gathered ? deep : 0;
        const whole = { x: box.x + part.column * wide, y: y + (deep - some) / 2, width: part.wide * wide, height: some };
        const kept = { x: box.x + part.x * wide, y, width: Math.max(1.5, part.width * wide), height: deep };
        return { rank: k * COLUMNS + i, box, whole, kept, idle: rank >= layout.world };
      }),
    );
    boxes(items);
    set(caption, { x: LEFT, y: height - 5 });
    caption.textContent = "a box: the whole model";
    lines(shown.map((at, k) => ({ text: `node ${at + 1}`, y: 1 + k * (high + GAP) + high / 2 + 4 })));
    const drawn = items.length < nodes * node ? `${items.length} of ${nodes * node} GPUs` : `${items.length} GPU${items.length === 1 ? "" : "s"}`;
    svg.setAttribute("aria-label", `${drawn}, and what each keeps of the model: ${describeLayout(layout)}.`);
  }
  return { node: h("div", {}, svg), draw };
}
