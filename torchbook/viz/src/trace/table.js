/** The operators: calls, self and total time; a name singles out its events, a heading sorts. */

import { button, h, replace } from "../core/index.js";
import { ORDERS } from "./model.js";
import { percent, time } from "./words.js";

const FEW = 10;

/** @param {{pick: (name: string) => void, sort: (column: string) => void, gpu: boolean}} on */
export function table(on) {
  const columns = [
    { key: "name", title: "operator" },
    { key: "calls", title: "calls", of: (row) => String(row.calls) },
    { key: "self", title: "self", of: (row) => time(row.self) },
    { key: "", title: "share", of: (row, spent) => percent(row.self, row.where === "CPU" ? spent.CPU : spent.GPU) },
    { key: "total", title: "total", of: (row) => time(row.total) },
    ...(on.gpu ? [{ key: "gpu", title: "on GPU", of: (row) => (row.gpu ? time(row.gpu) : "–") }] : []),
  ];
  const heads = columns.map(({ key, title }) => {
    const press = key ? button(title, () => on.sort(key), { kind: "quiet", title: `Sort by ${title}` }) : null;
    press?.classList.add("tr-sort");
    return { key, title, press, node: h("th", { scope: "col" }, press || title) };
  });
  const body = h("tbody");
  const node = h("table", { class: "tr-table" }, h("thead", {}, h("tr", {}, heads.map((head) => head.node))), body);
  const more = button("", () => {
    all = !all;
    draw(...drawn);
  });
  let all = false;
  let drawn;

  function draw(rows, state) {
    drawn = [rows, state];
    const sorted = [...rows].sort((a, b) => ORDERS[state.sort](a, b) || ORDERS.self(a, b));
    const spent = { CPU: 0, GPU: 0 };
    for (const row of rows) spent[row.where] += row.self;
    for (const { key, title, press, node: head } of heads) {
      if (!key) continue;
      const chosen = key === state.sort;
      press.textContent = `${title}${chosen ? (key === "name" ? " ▲" : " ▼") : ""}`;
      if (chosen) head.setAttribute("aria-sort", key === "name" ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    }
    const held = body.contains(document.activeElement) ? document.activeElement.textContent : "";
    const most = Math.max(...sorted.map((row) => row.self), 1);
    replace(
      body,
      sorted.slice(0, all ? sorted.length : FEW).map((row) => {
        const name = button(row.where === "GPU" ? `${row.name} (GPU)` : row.name, () => on.pick(row.name), { kind: "quiet" });
        name.classList.add("tr-op");
        name.setAttribute("aria-pressed", String(row.name === state.query));
        return h(
          "tr",
          {},
          h("th", { scope: "row" }, name),
          columns.slice(1).map(({ key, title, of }) =>
            h("td", { "data-title": title, class: key ? "" : "tr-share" }, of(row, spent), !key && h("i", { style: { width: `${((row.self / most) * 88).toFixed(0)}%` } })),
          ),
        );
      }),
    );
    if (held) [...body.querySelectorAll(".tr-op")].find((one) => one.textContent === held)?.focus();
    more.hidden = sorted.length <= FEW;
    more.textContent = all ? `The first ${FEW} operators` : `All ${sorted.length} operators`;
  }
  return { node: h("div", { class: "tr-scroll" }, node), more, draw };
}
