/** The route in words, and the same question to torch. */

import { several } from "../core/units.js";
import { ACTIONS, callees, CHOICES, KEYS, lines, NAMES, route, START, taken, wayTo } from "./model.js";

/** The situation: its arguments, and what is not as usual. */
export function situation(setting) {
  const told = NAMES.filter((name) => name === "args" || setting[name] !== START[name]).map((name) => CHOICES[name].of[setting[name]][1]);
  return told.join(", ");
}

export const kernelOf = (recording, entry) => (entry < 0 ? "nothing registered" : recording.entries[entry][0]);
export const keysIn = (stops) => stops.map((stop) => stop.key).join(" → ");

/** Callees with equal neighbours counted: [["3 × name", stops], ...]. */
export function grouped(every) {
  const found = [];
  for (const [name, stops] of every) {
    const last = found.at(-1);
    if (last && last.name === name) last.count += 1;
    else found.push({ name, stops, count: 1 });
  }
  return found.map(({ name, stops, count }) => [count > 1 ? `${count} × ${name}` : name, stops, name]);
}

/** An operator as Python calls it, with the arguments that it must have. */
export function called(recording, op) {
  const [, given] = /\((.*)\) ->/.exec(recording.ops[op].schema) ?? ["", ""];
  const names = given.split(", *")[0].split(", ").filter((one) => !one.includes("=")).map((one) => one.split(" ").at(-1));
  return `torch.ops.${op.replace("::", ".")}(${names.join(", ")})`;
}

/** What a key is for. */
export const purpose = (key) => KEYS[key.startsWith("Autocast") ? "Autocast" : key] ?? "stands here";

const BECAUSE = { excluded: "the thread excludes it", through: "a fallthrough" };

/** The call, or a key that is taken off before its first stop. */
function onTheWay(recording, setting, stops, at, way) {
  const { call } = stops[at];
  if (way) {
    const off = taken(recording, setting.op, stops, at);
    const row = off[way - 1];
    return `Taken off, ${way} of ${off.length}: ${row.slot}, ${BECAUSE[row.is]}. It ${purpose(row.key)}.`;
  }
  const rows = lines(recording, setting.op, stops, at).filter((row) => row.from);
  const of = (from) => several(rows.filter((row) => row.from === from || row.from === "both").map((row) => row.slot)) || "none";
  return `Call ${call + 1} of the dispatcher, and its keys. From the tensors: ${of("arguments")}. From the thread: ${of("thread")}.`;
}

/** The same sentences as `describe` in torchbook/viz/dispatch.py. */
export function describe(recording, setting, step, way = -1) {
  const stops = route(recording, setting);
  const head = `${setting.op}: ${situation(setting)}; torch ${recording.torch}.`;
  if (!stops.length) return `${head} This torch could not make such arguments when it was recorded.`;
  const at = Math.min(step, stops.length - 1);
  const stop = stops[at];
  const here = wayTo(recording, setting.op, stops, at, way);
  if (here >= 0) return [head, `The route: ${keysIn(stops)}.`, onTheWay(recording, setting, stops, at, here)].join(" ");
  const rows = lines(recording, setting.op, stops, at);
  const [name, does] = ACTIONS[stop.action];
  const list = (is) => rows.filter((row) => row.is === is).map((row) => row.slot);
  const told = [
    head,
    `The route: ${keysIn(stops)}.`,
    `Stop ${at + 1} of ${stops.length}, call ${stop.call + 1} of the dispatcher: the highest of ${stop.left.length ? several(stop.left) : "no key"} is ${stop.key}; there, ${name}: ${kernelOf(recording, stop.entry)}.`,
    does,
  ];
  if (list("through").length) told.push(`Skipped, a fallthrough: ${several(list("through"))}.`);
  if (list("excluded").length) told.push(`Excluded by the thread: ${several(list("excluded"))}.`);
  const called = grouped(callees(recording, setting.op, stop));
  if (called.length) told.push(`It was seen to call ${called.map(([text, way]) => `${text} (${keysIn(way)})`).join("; ")}.`);
  return told.join(" ");
}

const MAKE = {
  cpu: "torch.full((3, 3), 0.5)",
  cuda: 'torch.full((3, 3), 0.5, device="cuda")',
  meta: 'torch.full((3, 3), 0.5, device="meta")',
  sparse: "torch.full((3, 3), 0.5).to_sparse()",
  csr: "torch.full((3, 3), 0.5).to_sparse_csr()",
  conj: "torch.full((3, 3), 0.5, dtype=torch.complex64).conj()",
  neg: "torch._neg_view(torch.full((3, 3), 0.5))",
};

/** A program that asks torch for the first stop, with the same private functions. */
export function script(recording, setting) {
  const [stop] = route(recording, setting);
  const { args, grad, autocast, mode, transform } = setting;
  const fake = mode === "fake";
  const out = ["import torch"];
  if (fake) out.push("from torch._subclasses.fake_tensor import FakeTensorMode");
  if (mode === "dispatch") out.push("from torch.utils._python_dispatch import TorchDispatchMode");
  out.push("", `op = "${setting.op}"  # ${situation(setting)}; torch ${recording.torch}`, "");
  if (mode === "dispatch") out.push("", "class Calls(TorchDispatchMode):", "    def __torch_dispatch__(self, func, types, args=(), kwargs=None):", "        return func(*args, **(kwargs or {}))", "");
  if (args === "subclass") {
    out.push("", "class Wrapped(torch.Tensor):", "    @staticmethod", "    def __new__(cls, inner):", "        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)", "");
    out.push("    @classmethod", "    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):", "        return NotImplemented", "");
  }
  const tensors = recording.ops[setting.op].index ? "(x, i)" : "(x,)";
  out.push(
    "",
    "def first(*tensors):",
    "    keys = torch._C._dispatch_tls_local_include_set()",
    "    for one in tensors:",
    "        keys = keys | torch._C._dispatch_keys(one)",
    "    keys = keys - torch._C._dispatch_tls_local_exclude_set()",
    "    table = torch._C._dispatch_dump_table(op)",
    '    while f"\\n{keys.highestPriorityTypeId().name}: fallthrough" in table:',
    "        keys = keys.remove(keys.highestPriorityTypeId())",
    "    key = keys.highestPriorityTypeId().name",
    "    print(keys)",
    '    print(next((line for line in table.splitlines() if line.startswith(f"{key}: ")), f"nothing for {key}"))',
    "    return key",
    "",
    "",
    "def asked(x):",
    `    found.append(first${tensors})`,
    "    return x",
    "",
    "",
    "found = []",
  );
  const outer = [];
  if (fake) outer.push("FakeTensorMode()");
  if (args === "inference") outer.push("torch.inference_mode()");
  const dense = args === "subclass" ? "Wrapped(torch.full((3, 3), 0.5))" : (MAKE[args] ?? MAKE.cpu);
  const x = transform === "vmap" ? dense.replace("(3, 3)", "(2, 3, 3)") : dense;
  const index = args === "subclass" ? "Wrapped(torch.zeros(3, dtype=torch.int64))" : `torch.zeros(3, dtype=torch.int64${args === "cuda" || args === "meta" ? `, device="${args}"` : ""})`;
  const making = [`x = ${x}`, ...(recording.ops[setting.op].index ? [`i = ${index}`] : [])];
  const inside = [];
  if (grad !== "on") inside.push(grad === "no_grad" ? "torch.no_grad()" : "torch.inference_mode()");
  if (autocast === "on" && args !== "meta") inside.push(`torch.autocast("${args === "cuda" ? "cuda" : "cpu"}")`);
  if (mode === "dispatch") inside.push("Calls()");
  const call = { none: "asked(x)", vmap: "torch.func.vmap(asked)(x)", grad: "torch.func.vjp(asked, x)", functionalize: "torch.func.functionalize(asked)(x)" }[transform];
  let depth = "";
  if (outer.length) {
    out.push(`with ${outer.join(", ")}:`, ...making.map((line) => `    ${line}`));
    if (fake) depth = "    ";
  } else out.push(...making);
  if (setting.requires === "yes" && args !== "inference" && args !== "csr") out.push(`${depth}x.requires_grad_()`);
  if (inside.length) {
    out.push(`${depth}with ${inside.join(", ")}:`);
    depth += "    ";
  }
  out.push(`${depth}${call}`, `assert found == ["${stop?.key ?? ""}"]`);
  return `${out.join("\n")}\n`;
}
