/** RankStepper: four programs of collectives side by side; who waits for whom, and where it ends. */

import { button, h, player, replace, shake, shell, still, toggle, toolbar } from "../core/index.js";
import { CONTRACT, edit, parse, RANKS, run } from "./model.js";
import { CSS } from "./style.js";
import { describe, doing, ending, named } from "./words.js";

const WAYS = { remove: "Remove", repeat: "Repeat", swap: "Swap with next" };
const LAST = 99; // a step that no program reaches: the end

/** Is a sum half made in this tensor, by a call that failed? What it holds then is not said. */
function partial(one, slots, name) {
  const call = one.inside && one.end ? slots.find((_, i) => i === one.slot) : undefined;
  return call?.letter === name && name !== "w";
}

function render({ model, el }) {
  const ui = shell({ model, el, contract: CONTRACT, kind: "ranks", reset: { step: LAST }, changing: () => steps.stop() });
  ui.css(CSS);
  let found = run(model.get("programs"));
  let way = "remove";
  const last = () => found.frames.length - 1;
  const at = () => Math.min(model.get("step"), last());
  const link = ui.link({ get: () => ({ programs: model.get("programs"), step: at() }) });
  const chips = ui.chips();
  const steps = player({
    at,
    last,
    seek: (step) => ui.put({ step }),
    show: (step) => model.set("step", step),
    rest: () => {
      model.save_changes();
      queue();
    },
    ms: 800,
    from: 0,
  });
  ui.defer(steps.cleanup);
  const ways = Object.entries(WAYS).map(([name, label]) =>
    toggle(label, name === way, () => {
      way = name;
      ways.forEach((one, i) => one.press(Object.keys(WAYS)[i] === way));
    }),
  );
  const note = h("p", { class: "rk-small", role: "status" });
  const head = h("p", { class: "rk-head" });
  const flight = h("div", { class: "rk-wide", tabindex: 0, role: "region", "aria-label": "Flight recorders" });
  const stage = h("div", { class: "rk" });
  let calls = []; // the buttons of each rank
  let columns = [];
  let built = "";

  function tap(rank, place) {
    const next = edit(model.get("programs"), rank, place, way);
    if (next) ui.put({ programs: next, step: LAST });
    else shake(calls[rank][place]);
  }
  function build(programs) {
    const focused = calls.flatMap((row, r) => row.flatMap((one, i) => (one === one.getRootNode().activeElement ? [[r, i]] : [])))[0];
    const all = parse(programs);
    calls = all.map((row, r) => row.map((one, i) => button([h("b", {}, named(one.letter).split(/(?=[( ])/)[0]), named(one.letter).slice(named(one.letter).split(/(?=[( ])/)[0].length)], () => tap(r, i), { name: `Rank ${r}, call ${i + 1}: ${named(one.letter)}${one.off ? ", removed" : ""}` })));
    calls.flat().forEach((one) => one.classList.add("rk-call"));
    columns = calls.map((row, r) => ({ does: h("p", { class: "rk-does" }), held: h("p", { class: "rk-held" }), node: null, row, r }));
    for (const one of columns) one.node = h("div", { class: "rk-rank" }, h("p", { class: "rk-name" }, `rank ${one.r}`), toolbar(`Calls of rank ${one.r}`, one.row), one.does, one.held);
    replace(stage, columns.map((one) => one.node));
    if (focused) calls[focused[0]][Math.min(focused[1], calls[focused[0]].length - 1)].focus();
  }
  /** What moves goes from the rank that has it to the one that gets it. */
  function fly(moves) {
    if (still()) return;
    for (const [from, to] of moves) {
      const [a, b] = [columns[from].held, columns[to].held];
      const away = a.getBoundingClientRect().left - b.getBoundingClientRect().left;
      b.animate([{ transform: `translateX(${away}px)`, opacity: 0.2 }, { transform: "none", opacity: 1 }], { duration: 400, easing: "ease-out" });
    }
  }
  function recorder(frame) {
    const size = (entry) => (entry.op === "barrier" ? "[]" : `[[${entry.size}]]`);
    const rows = frame.ranks.map((one, r) => {
      const [entry] = one.log.slice(-1);
      const lost = one.end === "aborted";
      const returned = one.log.filter((past) => past.done).length;
      return h("tr", {}, h("th", { scope: "row" }, r), (lost ? ["process gone", "", "", ""] : entry ? [entry.seq, entry.op, size(entry), returned] : ["none", "", "", returned]).map((text) => h("td", {}, text)));
    });
    replace(flight, h("table", { class: "rk-table" }, h("thead", {}, h("tr", {}, ["rank", "last number", "operation", "size", "returned"].map((text) => h("th", { scope: "col" }, text)))), h("tbody", {}, rows)));
  }
  let before = -1;
  function draw() {
    const programs = model.get("programs");
    if (programs !== built) {
      found = run(programs);
      build(programs);
      built = programs;
      before = -1;
    }
    const frame = found.frames[at()];
    const all = parse(programs);
    frame.ranks.forEach((one, r) => {
      let live = -1;
      const bad = ["timeout", "closed", "aborted", "raised"].includes(one.end);
      all[r].forEach((slot, i) => {
        if (!slot.off) live += 1;
        const here = !slot.off && live === one.seq && (one.inside || bad);
        const marks = { "rk-off": slot.off, "rk-done": !slot.off && live < one.seq, "rk-in": here && !bad, "rk-bad": here && bad };
        for (const [name, on] of Object.entries(marks)) calls[r][i].classList.toggle(name, on);
      });
      columns[r].does.textContent = doing(one);
      columns[r].does.className = `rk-does ${bad ? "rk-red" : one.inside ? "rk-blue" : one.end ? "rk-green" : ""}`;
      const wrong = found.outcome === "wrong";
      replace(columns[r].held, Object.entries(one.held).map(([name, x]) => h("span", { class: wrong && at() === last() && name !== "w" ? "rk-red" : null }, `${name} ${partial(one, all[r], name) ? "?" : x}`)));
    });
    if (frame.kind === "move" && at() === before + 1) fly(frame.moves);
    before = at();
    const waiting = frame.ranks.filter((one) => one.inside).length;
    head.textContent = at() === last() ? ending(found) : frame.kind === "move" ? "Those who were needed have come: tensors move." : `${waiting} of ${RANKS} ranks wait inside a call.`;
    ui.tell(note, ui.mark(CONTRACT.presetOf({ programs })));
    recorder(frame);
    steps.refresh();
    ui.soon(() => describe(programs, found, at()), { quiet: steps.playing() });
  }
  const queue = ui.follow(draw, ["programs", "step"]);
  ui.lay({
    stage,
    bar: [toolbar("A tap on a call", ways), steps],
    readout: head,
    drawer: [
      note,
      toolbar("Presets", chips),
      h("p", { class: "tbviz-title" }, "What the flight recorder of each rank holds last"),
      flight,
      h("p", { class: "rk-small" }, "With gloo an entry stays “scheduled” after its call returned; with NCCL it becomes “started” and “completed”. Held to gloo on CPU. Not measured here, from PyTorch's documentation of torch.distributed: with NCCL the timeout is 10 minutes by default, after which a watchdog ends the process, and mismatched calls show as hangs, crashes or inconsistent behaviour across ranks."),
      link,
    ],
  });
  draw();
  return ui.cleanup;
}

export default { render };
