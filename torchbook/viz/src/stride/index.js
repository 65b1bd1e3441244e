/** StrideExplorer: logical elements above the storage they lie in, joined; real operations between them. */

import { button, copyButton, field, glide, h, replace, select, shake, shell, toolbar } from "../core/index.js";
import { operations, parseList } from "./form.js";
import { dtypes, script } from "./model.js";
import { logicalGrid, memory } from "./panels.js";
import * as programs from "./program.js";
import { factsOf, listingOf, readersOf, refusalOf, sumOf } from "./readout.js";
import SETUP from "./setup.json";
import { CSS } from "./style.js";
import { tabs, walker, writer } from "./tools.js";
import { wires } from "./wires.js";

const { aliases, fits, index, run, sharesFirst } = programs;
const INPUTS = ["shape", "dtype", "ops", "attempt"];
const GLIDES = 128; // elements that move at once
const GLIDE = 420; // milliseconds

const sorted = (_, value) =>
  value && typeof value === "object" && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort())
    : value;
const same = (a, b) => JSON.stringify(a, sorted) === JSON.stringify(b, sorted);
const product = (shape) => shape.reduce((a, b) => a * b, 1);

/** The element that is worked out when nobody has chosen one. */
const firstChoice = ({ shape }) => (product(shape) === 0 ? null : shape.map((size) => Math.min(1, size - 1)));

/** The program that the traits hold, and changes to it. Nothing here draws. */
function session(ui, model) {
  const read = () => Object.fromEntries(INPUTS.map((name) => [name, model.get(name)]));
  let program = { ...run(read()), ...read() };

  const selected = () => (fits(program.state, model.get("selected")) ? model.get("selected") : null);

  /** Sets the inputs, and with them all that follows. */
  function commit(change) {
    const next = { ...read(), attempt: null, ...change };
    const after = run(next);
    const { shape: size, stride, offset } = after.state;
    const here = selected() ?? program.state.shape.map(() => 0);
    ui.set({
      ...Object.fromEntries(INPUTS.map((name) => [name, next[name]])),
      selected: change.selected === undefined ? programs.follow(program.state, after.state, here) : change.selected,
      size,
      stride,
      offset,
      contiguous: programs.isContiguous(after.state),
      shares: sharesFirst(after),
      error: after.error?.error ?? "",
    });
  }
  const ops = () => model.get("ops");
  return {
    get: () => program,
    refresh: () => (program = { ...run(read()), ...read() }),
    selected,
    select: (at) => same(at, model.get("selected")) || ui.set({ selected: at }),
    apply(op) {
      const done = run({ ...read(), attempt: op });
      commit(done.error ? { attempt: op } : { ops: [...ops(), { name: op.name, args: done.state.ops.at(-1).args }] });
    },
    replaceLast: (op) => commit({ ops: [...(ops().at(-1)?.name === op.name ? ops().slice(0, -1) : ops()), op] }),
    undo: () => commit(model.get("attempt") ? {} : { ops: ops().slice(0, -1) }),
    /** Writes, or shows why torch does not; answers whether it was done. */
    write(at, value) {
      const op = { name: "write", args: { index: [...at], value } };
      const { error } = run({ ...read(), attempt: op });
      commit(error ? { attempt: op, selected: at } : { ops: [...ops(), op], selected: at });
      return !error;
    },
    start(given) {
      const next = { dtype: "float32", ops: [], attempt: null, ...given };
      const { state } = run(next);
      commit({ ...next, selected: fits(state, given.selected) ? given.selected : firstChoice(state) });
    },
    atStart: () => !ops().length && !model.get("attempt"),
    preset() {
      // Of what is set, not of what was drawn last: the address asks between the two.
      const set = read();
      const now = [set.shape, set.ops, set.attempt ?? null, set.dtype];
      const is = ({ shape, ops: all, attempt = null }) => same([shape, all, attempt, "float32"], now);
      return Object.keys(SETUP.presets).find((name) => is(SETUP.presets[name].set));
    },
    state: () => ({ ...read(), selected: model.get("selected") }),
  };
}

/**
 * Which thing lies at a place of `after`, told by its place in `before`: the same place of the same storage, or that from
 * which it was copied, known by its value; undefined for what was not there.
 */
function origins(before, after) {
  if (before.storageId === after.storageId) return (place) => place;
  const from = new Map();
  before.storage.forEach((value, place) => from.set(value, from.has(value) ? undefined : place));
  return (place) => from.get(after.storage[place]);
}

/** A dimension goes where its size and stride go. */
const placedNumbers = (facts) =>
  [...facts.querySelectorAll(".sx-value")].flatMap((value, row) =>
    [...value.querySelectorAll("[data-dim]")].map((number, d) => [`${row}:${dimensionOf(facts, d)}`, number]),
  );
const dimensionOf = (facts, d) =>
  [...facts.querySelectorAll(".sx-value")].slice(0, 2).map((value) => value.querySelectorAll("[data-dim]")[d]?.textContent).join();

/** The two pictures, joined, and the sum below them; `point` says what the pointer or the keyboard is on. */
function pictures(now) {
  let pointed = null; // {at} or {place}
  let written = null; // {place, readers} of the last write
  let drawn = null; // the state that the pictures show
  let walking = false; // while the walk is shown there are no wires
  const point = (what) => {
    pointed = what;
    mark();
  };
  const onPlace = (place) => point(place === null ? null : { place });
  const grid = logicalGrid({
    onselect: (at) => {
      now.select(at);
      point(null);
    },
    onpoint: (at) => point(at && { at }),
  });
  const store = memory({
    onpoint: onPlace,
    onfocus: onPlace,
    onselect: (place) => {
      const readers = aliases(now.get().state).get(place);
      if (readers) now.select(readers[0]);
      onPlace(place);
    },
  });
  const sum = h("div", { class: "sx-sum" });
  const facts = h("div", { class: "sx-facts", role: "list", "aria-label": "The tensor" });
  const stored = h("div", { class: "sx-told", role: "list", "aria-label": "The storage" });
  const node = h("div", { class: "sx-picture" }, facts, grid.node, h("div", { class: "sx-below" }, store.node, stored, sum));
  const join = wires(node, { grid: grid.node, store: store.node, cellOf: grid.cellOf, slot: store.slot });
  node.append(join.node);

  function mark() {
    const { state } = now.get();
    const at = pointed?.place !== undefined ? null : fits(state, pointed?.at) ? pointed.at : now.selected();
    const place = pointed?.place ?? (at && index(state, at));
    const readers = place === null ? [] : (aliases(state).get(place) ?? []);
    grid.mark({ main: at, also: readers, wrote: written?.readers });
    store.mark({ main: place, wrote: written?.place });
    if (at) replace(sum, sumOf(state, at));
    else if (place !== null) replace(sum, readersOf(state, place));
    else replace(sum, h("p", { class: "small" }, "There is no element to point at."));
    const others = readers.filter((one) => !same(one, at));
    join.join(at ? [at, ...others] : readers, walking ? null : place);
  }

  /** Shape, stride and offset above the grid, the fate of the storage below the storage. */
  function tell() {
    const told = factsOf(now.get());
    replace(facts, told.tensor);
    replace(stored, told.storage, h("div", { class: "sx-cap", role: "listitem" }, `${store.start()} storage_offset, where x begins`));
    const unread = now.get().state.storage.length - aliases(now.get().state).size;
    if (unread > 0) stored.append(h("div", { class: "sx-cap", role: "listitem" }, `dashed: ${unread} not reached`));
  }

  /** Remembers where all things are before `state` is drawn; the answer lets them glide to where they are then. */
  function leave(before, state) {
    const origin = origins(before, state);
    const cells = (of, thing) =>
      [...grid.all()].map(([name, cell]) => [thing(index(of, name ? name.split(",").map(Number) : [])), cell]);
    const slots = (thing) => store.slots().map((slot, place) => [thing(place), slot]);
    const itself = (place) => place;
    const all = [
      [glide(cells(before, itself), GLIDE), () => cells(state, origin)],
      [glide(slots(itself), GLIDE), () => slots(origin)],
      [glide(placedNumbers(facts), GLIDE), () => placedNumbers(facts)],
    ];
    return () => {
      for (const [settle, after] of all) settle(after());
      join.follow(GLIDE);
    };
  }

  function draw() {
    const { state } = now.get();
    const looks = ({ shape, stride, offset, storageId, storage }) => [shape, stride, offset, storageId, storage];
    const fresh = !drawn || !same(looks(drawn), looks(state));
    const hadFocus = grid.hasFocus();
    if (fresh) {
      const settle = drawn && grid.all().size <= GLIDES ? leave(drawn, state) : () => {};
      pointed = null;
      grid.draw(state);
      store.draw(state);
      tell();
      settle();
      drawn = state;
    } else tell();
    const at = now.selected();
    grid.rove(at);
    if (hadFocus && fresh && at) grid.cellOf(at).focus({ preventScroll: true });
    mark();
    return fresh;
  }

  /** Marks the elements visited so far and the last one; null ends the walk. */
  function showWalk(step) {
    const cells = [...grid.all().values()];
    for (const one of [...cells, ...store.slots()]) one.classList.remove("walked", "step");
    for (const line of store.lines()) line.classList.remove("hot");
    walking = Boolean(step);
    mark();
    if (!step) return;
    const order = step.kind === "row" ? cells : columnwise(cells, now.get().state.shape);
    const visited = [order, step.order.map(store.slot)].map((all) => all.slice(0, step.upTo));
    for (const one of visited.flat()) one.classList.add("walked");
    for (const all of visited) all.at(-1)?.classList.add("step");
    store.line(step.lines[step.upTo - 1])?.classList.add("hot");
  }

  return {
    node,
    sum,
    draw,
    showWalk,
    refuse: () => shake(grid.node),
    wrote: (what) => (written = what),
    mark,
    cleanup: join.cleanup,
  };
}

/** Cells, given in row-major order, in column-major order. */
function columnwise(cells, shape) {
  return cells.map((_, n) => {
    let rest = n;
    const at = shape.map((size) => {
      const i = rest % size;
      rest = Math.floor(rest / size);
      return i;
    });
    return cells[at.reduce((flat, i, d) => flat * shape[d] + i, 0)];
  });
}

/** The fields for the first tensor. */
function firstTensor(now) {
  const problem = (shape) => {
    if (!shape || shape.some((n) => n < 0)) return "sizes, separated by commas";
    const large = shape.length > programs.RANK || product(shape) > programs.LIMIT;
    return large ? `at most ${programs.RANK} dimensions and ${programs.LIMIT} elements` : "";
  };
  const shape = field({
    label: "shape of the first tensor",
    size: 10,
    oninput: (text) => {
      const sizes = parseList(text);
      shape.update({ error: problem(sizes) });
      if (!problem(sizes)) now.start({ shape: sizes, dtype: now.get().dtype });
    },
  });
  const dtype = select({
    label: "dtype",
    options: dtypes,
    value: now.get().dtype,
    onchange: (name) => now.start({ shape: now.get().shape, dtype: name }),
  });
  const refresh = () => {
    const typing = shape.input.getRootNode().activeElement === shape.input;
    if (!typing) shape.update({ value: now.get().shape.join(", "), error: "" });
    dtype.update({ value: now.get().dtype });
  };
  return { nodes: [shape, dtype], refresh };
}

function render({ model, el }) {
  const ui = shell({ model, el, contract: SETUP, kind: "stride" });
  ui.css(CSS);
  const now = session(ui, model);
  const view = pictures(now);
  ui.defer(view.cleanup);

  // Every change but a write lifts the marks that the last write left.
  const lifting =
    (act) =>
    (...given) => {
      view.wrote(null);
      writing.clear();
      act(...given);
      if (model.get("attempt")) view.refuse();
    };
  const apply = lifting(now.apply);
  const forms = operations({ get: now.get, apply, replaceLast: lifting(now.replaceLast) });
  const first = firstTensor({ ...now, start: lifting(now.start) });
  const writing = writer({
    get: now.get,
    selected: now.selected,
    write(at, value) {
      view.wrote(null);
      writing.clear();
      const done = now.write(at, value);
      drawAll();
      if (!done) return;
      const { state } = now.get();
      const place = index(state, at);
      const readers = aliases(state).get(place);
      const inFirst = sharesFirst(now.get()) ? programs.readersInFirst(now.get(), place) : null;
      view.wrote({ place, readers });
      view.mark();
      writing.tell(place, state.storage[place], readers, inFirst);
    },
  });
  const walking = walker({
    get: now.get,
    show: view.showWalk,
    begin: () => view.node.scrollIntoView({ block: "nearest" }),
  });
  ui.defer(walking.cancel);

  const begin = lifting((given) => {
    forms.close();
    now.start(given);
  });
  let told = false; // are presets explained? Not before the reader has chosen one
  const choose = (name) => {
    told = true;
    begin(SETUP.presets[name].set);
  };
  const link = ui.link({ choose, start: begin, accepts: programs.isProgram, get: () => now.preset() ?? now.state() });
  const chips = ui.chips(choose);

  const note = h("p", { role: "status" });
  const more = h("div", { class: "sx-told", role: "list", "aria-label": "More of the tensor" });
  const refusal = h("div", { class: "sx-alert", role: "alert" });
  const listing = h("ol", { class: "sx-program", "aria-label": "The program so far" });
  const back = button("Undo", lifting(now.undo));
  const reset = button("Start over", () => begin({ shape: now.get().shape, dtype: now.get().dtype }));
  const copy = copyButton("Copy code", () => script(now.get().state));

  function drawAll() {
    now.refresh();
    const program = now.get();
    const fresh = view.draw();
    replace(more, factsOf(program).more);
    if (program.error || refusal.hasChildNodes()) replace(refusal, refusalOf(program));
    replace(listing, listingOf(program));
    for (const one of [back, reset]) one.disable(now.atStart());
    forms.refresh();
    first.refresh();
    if (!writing.node.hidden) writing.refresh();
    if (!walking.node.hidden && fresh) walking.refresh();
    const about = ui.mark(now.preset());
    ui.tell(note, program.error || !told ? "" : about);
    ui.say(programs.describe(program, now.selected()));
  }
  // Traits that change together are drawn once.
  ui.follow(drawAll, [...INPUTS, "selected"]);

  const quick = [
    button("x.mT", () => apply({ name: "mT", args: {} }), { title: "Swap the last two dimensions" }),
    button("x.contiguous()", () => apply({ name: "contiguous", args: {} }), { title: "Bring the elements in order in memory" }),
  ];
  const readout = h("div", { class: "sx-readout" }, note, refusal);
  const code = h("div", { class: "sx-row" }, copy, link, reset, first.nodes);
  const tools = tabs("Tools", [
    ["Write to an element", writing],
    ["Walk through memory", walking],
  ]);
  const workshop = h("div", { class: "sx" }, forms.node, h("div", { class: "sx-box" }, more, listing, code), tools);
  ui.lay({
    stage: view.node,
    presets: chips,
    bar: toolbar("Program", [...quick, back]),
    readout,
    drawer: workshop,
  });
  drawAll();
  return ui.cleanup;
}

export default { render };
