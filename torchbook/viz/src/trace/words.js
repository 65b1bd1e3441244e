/** Times, names and the chosen event in words; and the same as Python. */

import { PHASES, SMALL, stepOf } from "./model.js";

const digits = (x) => (x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x.toFixed(2));

/** Tenths of a microsecond for people. */
export function time(tenths) {
  const micro = tenths / 10;
  if (!micro) return "0";
  if (micro >= 1e6) return `${digits(micro / 1e6)} s`;
  if (micro >= 1e3) return `${digits(micro / 1e3)} ms`;
  return `${digits(micro)} µs`;
}

export function percent(part, whole) {
  const x = whole ? (100 * part) / whole : 0;
  return x >= 9.95 || x === 0 ? `${x.toFixed(0)} %` : x >= 0.05 ? `${x.toFixed(1)} %` : "< 0.1 %";
}

const SHORTER = [
  [/^autograd::engine::evaluate_function: /, "engine: "],
  [/^enumerate\(DataLoader\)#_/, "DataLoader: "],
  [/^torch::autograd::/, ""],
  [/^aten::/, ""],
];

/** A name that fits into `room` characters, or as much of it as does if that is `least` characters. */
export function fitting(name, room, least = 4) {
  if (name.length <= room) return name;
  const short = SHORTER.reduce((text, [from, to]) => text.replace(from, to), name);
  if (short.length <= room) return short;
  return room >= least ? `${short.slice(0, room - 1)}…` : "";
}

export const titleOf = (node) =>
  node.name === SMALL ? `${node.calls} small events` : node.calls > 1 ? `${node.calls} × ${node.name}` : node.name;

const many = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;

/** Everything about one event, in sentences. */
export function details(data, node) {
  const { name, total, self } = node;
  const step = stepOf(data, node);
  const where = [data.lanes[node.lane].name, PHASES[node.phase] === "other" ? "" : PHASES[node.phase], step ? `step ${step}` : ""].filter(Boolean).join(", ");
  const text = [`${titleOf(node)} (${where}): starts at ${time(node.start)}`];
  if (node.calls > 1) {
    text[0] += `; ${many(node.calls, "call")} merged, ${time(total)} together, over ${time(node.end - node.start)}${name === SMALL ? "" : `; ${time(self)} self`}.`;
  } else {
    text[0] += `, takes ${time(total)}, ${self === total ? "all of it self" : `${time(self)} self`}.`;
    const all = data.nodes.filter((one) => one.name === name && one.lane === node.lane);
    const before = all.filter((one) => one.i < node.i).reduce((sum, one) => sum + one.calls, 0);
    const calls = all.reduce((sum, one) => sum + one.calls, 0);
    if (calls > 1) text.push(`Call ${before + 1} of ${calls} drawn.`);
  }
  if (node.shape) text.push(`Shapes ${node.shape}.`);
  if (node.parent) text.push(`${percent(total, node.parent.total)} of its parent ${titleOf(node.parent)}.`);
  if (step) {
    const [from, to] = data.steps[step - 1];
    text.push(`${percent(total, to - from)} of step ${step}.`);
  } else {
    text.push(`${percent(total, data.end)} of the profile.`);
  }
  if (node.gpu) text.push(`It started ${time(node.gpu)} of work on the GPU.`);
  if (node.folded.length) {
    const inside = node.folded.slice(0, 4).map((one) => `${one.calls} × ${one.name}, ${time(one.self)} self`);
    text.push(`Not drawn, but counted: ${inside.join("; ")}${node.folded.length > 4 ? "; …" : ""}.`);
  }
  for (const [as, told] of [
    ["backward", "Its backward"],
    ["forward", "Backward of"],
    ["kernel", "Started"],
    ["launch", "Started by"],
  ]) {
    const found = node.links.filter((link) => link.as === as).map((link) => link.to);
    if (found.length) text.push(`${told}: ${found.slice(0, 3).map((one) => `${titleOf(one)}, ${time(one.total)}`).join("; ")}${found.length > 3 ? "; …" : ""}.`);
  }
  return text.join(" ");
}

/** One event in a line: parts of text, and what of it has the colour of its phase. */
export function inBrief(data, node) {
  const { total, self } = node;
  const step = stepOf(data, node);
  const [from, to] = step ? data.steps[step - 1] : [0, data.end];
  return [
    { name: titleOf(node) },
    ` takes ${time(total)}${self < total ? `, ${time(self)} of it self` : ""}: ${percent(total, to - from)} of ${step ? `step ${step}` : "the profile"}.`,
  ];
}

/** What a search found. */
export function found(rows, hit, spent) {
  const hits = rows.filter((row) => hit(row.name));
  if (!hits.length) return "No operator has that in its name.";
  const sum = (what) => hits.reduce((all, row) => all + row[what], 0);
  const own = hits.filter((row) => row.where === "CPU").reduce((all, row) => all + row.self, 0);
  return `${many(sum("calls"), "call")} of ${many(hits.length, "operator")}: ${time(sum("self"))} self${own ? `, ${percent(own, spent)} of the CPU's` : ""}.`;
}

const COLUMNS = { self: "self_cpu_time_total", total: "cpu_time_total", calls: "count", gpu: "self_device_time_total", name: "self_cpu_time_total" };

/** The same numbers from the profile itself. */
export function script({ query, sort, names }) {
  const table = `print(prof.key_averages().table(sort_by="${COLUMNS[sort]}", row_limit=12))\n`;
  const text = query.trim();
  if (!text) return table;
  const test = names.includes(query) ? `event.name == ${JSON.stringify(query)}` : `${JSON.stringify(text.toLowerCase())} in event.name.lower()`;
  return `${table}
found = [event for event in prof.events() if ${test}]
print(len(found), "calls,", round(sum(event.self_cpu_time_total for event in found), 1), "us self on the CPU")
`;
}
