/** The loss above the minimum over the steps, on a logarithmic scale. */

import { h, replace, s } from "../core/index.js";
import { DASHES, head } from "./looks.js";
import { SURFACES } from "./model.js";

const LEAST = -9; // decades below which a loss counts as the minimum
const PAD = { left: 46, right: 12, top: 22, bottom: 20 };
const one = (v) => Math.round(v * 10) / 10;
const decade = (k) => (k === 0 ? "1" : k === 1 ? "10" : `1e${String(k).replace("-", "−")}`);

/**
 * @param {{seek: (step: number) => void}} options
 * @returns {{node: Element, draw: (now: object) => void}}
 */
export function lossChart({ seek }) {
  const svg = s("svg", { class: "rx-chart", role: "img", "aria-label": "Loss above the minimum over the steps, on a logarithmic scale; the table has the numbers" });
  const node = h("div", { class: "rx-plot" }, svg);
  let now;

  const size = () => [svg.clientWidth || 320, svg.clientHeight || 180];
  const width = () => size()[0] - PAD.left - PAD.right;
  const x = (step) => one(PAD.left + (width() * step) / now.steps);

  function scale(all) {
    const high = Math.min(9, Math.ceil(Math.max(...all, LEAST + 1) - 1e-9));
    const low = Math.max(LEAST, Math.min(Math.floor(Math.min(...all, high - 1) + 1e-9), high - 2));
    const [, height] = size();
    const y = (v) => one(PAD.top + ((high - Math.min(high, Math.max(low, v))) / (high - low)) * (height - PAD.top - PAD.bottom));
    return { high, low, y };
  }

  function draw(given = now) {
    if (!given) return;
    now = given;
    const [full, height] = size();
    svg.setAttribute("viewBox", `0 0 ${full} ${height}`);
    const { lowest } = SURFACES[now.surface];
    const logs = now.optimizers.map((name) => now.ways[name].losses.map((loss) => Math.max(LEAST, Math.log10(Math.max(0, loss - lowest)))));
    const { high, low, y } = scale(logs.flat().filter(Number.isFinite));
    const every = Math.ceil((high - low) / 3);
    const marks = Array.from({ length: Math.floor((high - low) / every) + 1 }, (_, k) => high - k * every);
    replace(
      svg,
      marks.map((k) => [
        s("path", { class: "rx-grid", d: `M${PAD.left} ${y(k)}h${width()}` }),
        s("text", { class: "rx-tick", x: PAD.left - 5, y: y(k) + 4, "text-anchor": "end" }, k === LEAST ? `≤${decade(k)}` : decade(k)),
      ]),
      [0, now.steps].map((n) => s("text", { class: "rx-tick", x: x(n), y: height - 5, "text-anchor": n ? "end" : "middle" }, n || "0")),
      s("text", { class: "rx-tick", x: (x(0) + x(now.steps)) / 2, y: height - 5, "text-anchor": "middle" }, "step"),
      s("text", { class: "rx-tick", x: x(now.steps), y: PAD.top - 9, "text-anchor": "end" }, "loss above the minimum"),
      s("path", { class: "rx-now", d: `M${x(now.step)} ${PAD.top}V${height - PAD.bottom}` }),
      logs.map((log, i) => {
        const d = log.map((v, step) => `${step ? "L" : "M"}${x(step)} ${y(v)}`).join("");
        return s("path", { class: `rx-path rx-${now.optimizers[i]}`, d, "stroke-dasharray": DASHES[now.optimizers[i]] });
      }),
      logs.map((log, i) => {
        const at = Math.min(now.step, log.length - 1);
        return head(now.optimizers[i], x(at), y(log[at]));
      }),
    );
  }

  let held = null;
  const follow = (event) => {
    const box = svg.getBoundingClientRect();
    const step = Math.round(((event.clientX - box.left - PAD.left) / width()) * now.steps);
    seek(Math.min(now.steps, Math.max(0, step)));
  };
  svg.addEventListener("pointerdown", (event) => {
    if (event.button > 0 || event.pointerType === "touch") return;
    held = event.pointerId;
    svg.setPointerCapture(held);
    follow(event);
  });
  svg.addEventListener("pointermove", (event) => held === event.pointerId && follow(event));
  for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, () => (held = null));
  return { node, draw };
}
