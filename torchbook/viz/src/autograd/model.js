/** From what was recorded to what is shown at each step. No DOM. */

/**
 * The steps of one run: the forward node by node, an edit where there is one, each backward in the engine's order.
 * @param {{graphs: object[], tensors: object[], scenarios: object[]}} data
 * @param {string} key of the scenario
 * @param {number} target node that the scenario is about, or -1
 */
export function timeline(data, key, target) {
  const scenario = data.scenarios.find((one) => one.key === key) ?? data.scenarios[0];
  const about = scenario.targets.includes(target) ? target : scenario.targets[0] ?? -1;
  const run = scenario.runs[about < 0 ? "" : String(about)] ?? { passes: [] };
  const graph = data.graphs[scenario.graph];
  const [missing, unrecorded] = [run.missing, run.unrecorded].map((nodes) => new Set(nodes));
  const steps = [{ kind: "start" }];
  const cut = scenario.key === "detach" ? about : -1;
  let done = cut < 0;
  graph.nodes.forEach((node, i) => {
    if (node.kind === "leaf" || unrecorded.has(i) || node.first !== undefined) return;
    if (!done && i > cut) {
      steps.push({ kind: "edit", node: cut });
      done = true;
    }
    steps.push({ kind: "forward", node: i });
  });
  if (!done) steps.push({ kind: "edit", node: cut });
  if (scenario.key === "no_grad") steps.push({ kind: "nothing" });
  if (scenario.key === "in_place" && about >= 0) steps.push({ kind: "edit", node: about, error: run.edit_error });
  if (scenario.key === "retain_grad" && run.passes.length) steps.push({ kind: "edit", node: -1 });
  run.passes.forEach((pass, p) => {
    pass.events.forEach((event, i) => steps.push({ kind: "backward", node: event.node, pass: p, event, place: i + 1, of: pass.events.length }));
    if (pass.error) steps.push({ kind: "error", node: pass.error.node ?? -1, pass: p, error: pass.error });
  });
  const failed = run.edit_error || run.passes.some((pass) => pass.error);
  if (!failed && run.passes.length) steps.push({ kind: "end" });
  return { scenario, run, graph, about, missing, unrecorded, steps, edges: outgoing(graph) };
}

const outgoing = (graph) => {
  const found = graph.nodes.map(() => []);
  graph.edges.forEach((edge, i) => found[edge.from].push({ ...edge, index: i }));
  return found;
};

/** What each node, edge and leaf looks like after step `n`; what a detach cuts off is `unreached` from then on. */
export function stateAt(line, n) {
  const { graph, run, steps, missing, unrecorded } = line;
  const cut = n >= steps.findIndex((step) => step.kind === "edit");
  const freed = new Set(run.freed ?? []);
  const nodes = graph.nodes.map((node, i) => ({
    recorded: node.kind === "leaf" || node.first !== undefined, unrecorded: unrecorded.has(i), unreached: cut && missing.has(i) && !unrecorded.has(i), arrived: null, sent: null, grad: undefined,
    now: false, failed: false, freed: false, edited: false,
  }));
  const edges = graph.edges.map(() => ({ gradient: undefined, now: false }));
  const last = Math.max(0, Math.min(n, steps.length - 1));
  let pass = -1;
  for (let at = 0; at <= last; at += 1) {
    const step = steps[at];
    const node = nodes[step.node];
    if (step.kind === "forward") node.recorded = true;
    if (step.kind === "edit" && node) node.edited = true;
    if (step.kind === "edit" && step.error) node.failed = true;
    if (step.kind === "error" && node) node.failed = true;
    if (step.kind !== "backward") continue;
    if (step.pass !== pass) {
      pass = step.pass;
      nodes.forEach((one) => Object.assign(one, { arrived: null, sent: null }));
      edges.forEach((one) => (one.gradient = undefined));
    }
    const { event } = step;
    node.arrived = event.out;
    node.sent = event.in ?? null;
    if ("after" in event) node.grad = { before: event.before, after: event.after };
    for (const edge of line.edges[step.node]) if (event.in) edges[edge.index].gradient = event.in[edge.input] ?? undefined;
    if (event.in && freed.has(step.node)) node.freed = true;
  }
  const step = steps[last];
  if (nodes[step.node]) nodes[step.node].now = step.kind !== "end";
  if (step.kind === "backward") for (const edge of line.edges[step.node]) edges[edge.index].now = true;
  if (step.kind === "end" || pass >= 0) {
    for (const [number, tensor] of Object.entries(run.grads ?? {})) if (nodes[number].sent) nodes[number].retained = tensor;
  }
  return { nodes, edges, step, pass, at: last };
}

/**
 * The step at which a figure opens whose step nobody chose: an error where there is one, else amid the first backward,
 * where a leaf's turn follows at that leaf, else the last step.
 */
export function opening({ steps, graph }) {
  const failed = steps.findIndex((step) => step.error);
  if (failed >= 0) return failed;
  const backward = steps.flatMap((step, i) => (step.kind === "backward" && step.pass === 0 ? [i] : []));
  if (!backward.length) return steps.length - 1;
  const middle = backward[(backward.length - 1) >> 1];
  return graph.nodes[steps[middle + 1]?.node]?.kind === "leaf" ? middle + 1 : middle;
}

/** A number in few characters. */
export function short(x) {
  if (typeof x === "boolean") return x ? "True" : "False";
  if (typeof x === "string") return x.replace("-", "−");
  if (x === 0) return "0";
  const size = Math.abs(x);
  const text = size >= 1e5 || size < 1e-3 ? x.toExponential(1).replace(".0e", "e") : String(Number(x.toPrecision(3)));
  return text.replaceAll("-", "−");
}

/** A shape as Python writes it, in parentheses: brackets are round numbers. */
export const tuple = (shape, between = ",") => `(${shape.join(between)}${shape.length === 1 ? "," : ""})`;

/** A tensor in a few words: its number, its few numbers, or its shape and norm. */
export function brief(tensor) {
  if (!tensor) return "None";
  if (tensor.data?.length === 1) return short(tensor.data[0]);
  if (tensor.data && tensor.data.length <= 4) return nested(tensor.data.map(short), tensor.shape);
  const size = tuple(tensor.shape, ", ");
  if (tensor.data) return `${size} of norm ${short(norm(tensor.data))}`;
  return tensor.norm === undefined ? size : `${size} of norm ${short(tensor.norm)}`;
}

/** A tensor in the picture: its one or two numbers where `room` characters are enough for them, or its shape. */
export function tiny(tensor, room = Infinity) {
  if (!tensor) return "None";
  if (tensor.data?.length === 1) return short(tensor.data[0]);
  const numbers = tensor.data?.length === 2 && tensor.shape.length === 1 ? `[${tensor.data.map(short).join(", ")}]` : "";
  return numbers && numbers.length <= room ? numbers : tuple(tensor.shape);
}

/** A tensor in full where it was kept whole, as nested lists, one row a line. */
export function full(tensor) {
  if (!tensor) return "None";
  if (tensor.text) return tensor.text;
  if (tensor.data) return nested(pad(tensor.data.map(precise)), tensor.shape, "\n ");
  const odd = ["nan", "inf"].filter((name) => tensor[name]).map((name) => `, ${tensor[name]} ${name}`).join("");
  return `least ${precise(tensor.min)}, greatest ${precise(tensor.max)}, mean ${precise(tensor.mean)}, norm ${precise(tensor.norm)}${odd}`;
}

const precise = (x) => (typeof x === "number" ? String(Number(x.toPrecision(6))).replaceAll("-", "−") : short(x));
const pad = (cells) => { const wide = Math.max(0, ...cells.map((c) => c.length)); return cells.map((c) => c.padStart(wide)); };

function nested(cells, shape, between = " ") {
  if (!shape.length) return cells[0].trim();
  if (shape.length === 1) return `[${cells.join(", ")}]`;
  const each = shape.slice(1).reduce((a, b) => a * b, 1);
  const rows = Array.from({ length: shape[0] }, (_, i) => nested(cells.slice(i * each, (i + 1) * each), shape.slice(1), `${between} `));
  return `[${rows.join(`,${between}`)}]`;
}

const norm = (data) => (data.every((x) => typeof x === "number") ? Math.sqrt(data.reduce((a, x) => a + x * x, 0)) : "nan");

/** What a node is called in a sentence. */
export function called(graph, i) {
  const node = graph.nodes[i];
  if (node.kind === "leaf") return node.label || `leaf ${i}`;
  return node.label ? `${node.name} (${node.label})` : node.name;
}

// Sentences are lists of parts: text, and `{kind, text}` for what has the colour of what it is. Kinds are "value" (read in
// the forward), "gradient", "kept" (saved, or in `.grad`) and "refused".

const say = (strings, ...between) => strings.flatMap((text, i) => [text, between[i] ?? ""].flat()).filter((part) => part !== "");
const of = (kind) => (text) => ({ kind, text });
const [value, gradient, kept, refused] = ["value", "gradient", "kept", "refused"].map(of);
/** Lists of parts, one after the other, with a text between them. */
const joined = (lists, between) => lists.flatMap((one, i) => [...(i ? [between] : []), ...[one].flat()]);

/** Parts of a sentence as text. */
export const plain = (parts) => parts.map((part) => part.text ?? part).join("");

/** The step in words. */
export function sentence(line, data, n) {
  const { steps, run } = line;
  if (!run.passes.length && !run.edit_error) return plain(told(line, data, n));
  const at = Math.max(0, Math.min(n, steps.length - 1));
  return `Step ${at} of ${steps.length - 1}. ${turn(line, steps[at])}${plain(told(line, data, n))}`;
}

/** Which of the engine's calls a step is. */
function turn({ run }, step) {
  if (step.kind !== "backward") return "";
  return `${run.passes.length > 1 ? `Backward ${step.pass + 1}` : "Backward"}, ${step.place} of ${step.of}: `;
}

/** What happens in the step, in parts. */
export function told(line, data, n) {
  const { graph, steps, run, scenario } = line;
  if (!run.passes.length && !run.edit_error) return [scenario.why || run.note || ""];
  const step = steps[Math.max(0, Math.min(n, steps.length - 1))];
  if (step.kind === "start") return [beginning(line)];
  if (step.kind === "nothing") return ["Under no_grad the operations ran, but none was recorded: no node, nothing saved."];
  if (step.kind === "edit") return edit(line, step);
  if (step.kind === "error") return say`torch raises ${refused(`${step.error.kind}: ${step.error.text}`)}`;
  if (step.kind === "end") return [ending(line)];
  if (step.kind === "forward") return recorded(line, data, step.node);
  const { event } = step;
  const name = called(graph, step.node);
  const sum = (index) => gradient(brief(data.tensors[index]));
  if (graph.nodes[step.node].kind === "leaf") {
    const adds = event.before === null ? ["is set to"] : say`was ${kept(brief(data.tensors[event.before]))} and becomes`;
    return say`${name} receives ${sum(event.out[0])}; .grad ${adds} ${kept(brief(data.tensors[event.after]))}.`;
  }
  const arrived = joined(event.out.map(sum), " and ");
  if (!event.in) return say`${name} receives ${arrived} and stops.`;
  const sent = line.edges[step.node].filter(({ to }) => !line.missing.has(to)).map((edge) => say`${sum(event.in[edge.input])} to ${called(graph, edge.to)}`);
  const freed = run.freed?.includes(step.node) ? " What it saved is freed." : "";
  return say`${name} receives ${arrived}; it sends ${sent.length ? joined(sent, ", ") : "nothing on"}.${freed}`;
}

function beginning({ graph, scenario }) {
  const leaves = graph.nodes.filter((node) => node.kind === "leaf");
  if (scenario.key === "create_graph") {
    const old = graph.nodes.filter((node) => node.first !== undefined && node.kind !== "leaf").length;
    const made = graph.nodes.filter((node) => node.first === undefined && node.kind !== "leaf").length;
    const from = old ? `${old} operations of the first graph are there already. ` : "";
    return `${from}With create_graph=True the backward records itself: ${made} new operations.`;
  }
  const names = leaves.map((leaf) => leaf.label || "a leaf").slice(0, 8).join(", ");
  return `Before the forward there are only the leaves: ${names}${leaves.length > 8 ? ", …" : ""}.`;
}

function recorded(line, data, i) {
  const node = line.graph.nodes[i];
  const result = node.value === null ? [] : say` The result is ${value(brief(data.tensors[node.value]))}.`;
  const saved = node.saved.filter((item) => item.tensor !== undefined).map((item) => item.name);
  return say`Forward: ${called(line.graph, i)} is recorded.${result} It saves ${saved.length ? kept(saved.join(", ")) : "no tensor"} for the backward.`;
}

function edit({ graph, scenario, run, about }, step) {
  if (scenario.key === "retain_grad") return ["retain_grad() on every intermediate tensor: each will keep its gradient in .grad."];
  const name = called(graph, about);
  if (scenario.key === "detach") return [`The result of ${name} is detached: what follows sees a tensor without a history.`];
  if (step.error) return say`add_(1) on the result of ${name} raises ${refused(`${step.error.kind}: ${step.error.text}`)}`;
  const denied = run.refused ? ` Without no_grad torch refuses: ${run.refused.text}` : "";
  return [`add_(1) edits ${graph.nodes[about].kind === "leaf" ? name : `the result of ${name}`} in place; its version is now ${run.version}.${denied}`];
}

function ending({ scenario, run, graph }) {
  const parts = ["Done."];
  if (scenario.key === "again") parts.push("Each .grad holds the sum of both backwards.");
  if (scenario.key === "in_place") parts.push("No error: no node that ran had saved this tensor.");
  if (scenario.key === "detach") parts.push("Pale nodes were recorded, but this backward did not reach them: no gradient came through them.");
  if (scenario.key === "retain_grad") parts.push("Without retain_grad() only leaves keep a gradient.");
  if (run.freed?.length) {
    const { activations, leaves } = graph.bytes;
    parts.push(`${run.freed.length} nodes freed what they saved (${activations} bytes of activations; ${leaves} bytes belong to leaves and stay).`);
    parts.push(`Asked for a saved tensor, torch now says: ${run.freed_error}`);
  }
  if (run.note) parts.push(run.note);
  return parts.join(" ");
}
