/** TokenizerExplorer: byte-level BPE, from text over pieces and bytes to ids, one merge at a time. */

import { button, copyButton, h, player, replace, select, shell, toolbar, touchField, uid } from "../core/index.js";
import { counted, ordinal } from "../core/units.js";
import { charactersOf, chosen as chosenOf, cut, decode, isState, LIMIT, lowest, moment, partsOf, shade, unpacked, vocabulary, whole } from "./model.js";
import { picture } from "./picture.js";
import SETUP from "./setup.json";
import { CSS } from "./style.js";
import { describe, hex, script, shown, sizeOf } from "./words.js";

const LONG = 14; // characters of a piece that is not named in a sentence

/** The piece, as the place where its pairs are joined. */
const inside = (text) => `Inside ${text.length > LONG ? "this piece" : `“${shown([...new TextEncoder().encode(text)])}”`}, `;

const NAMES = ["text", "pretokenizer", "step", "token"];

function render({ model, el }) {
  const ui = shell({ model, el, contract: SETUP, kind: "tokenizer" });
  ui.css(CSS);
  const known = vocabulary(unpacked(model.get("pairs")), model.get("specials"));
  const state = () => Object.fromEntries(NAMES.map((name) => [name, model.get(name)]));
  const name = (id) => shown(known.tokens[id]);
  const tokens = () => [...run.querySelectorAll("[role=option]")];

  const begin = (given) => put({ text: "", pretokenizer: "gpt2", step: -1, token: -1, ...given });
  /** The state after so many merges: chosen is what the last of them made. */
  const after = (step) => ({ step: step >= now().total ? -1 : step, token: -1 });
  const put = (changes) => {
    steps.stop();
    ui.set(changes);
  };
  const seek = (step) => put(after(step));
  const now = () => moment(cut(model.get("text"), known, model.get("pretokenizer")), model.get("step"));
  /** To the end of the piece of the next merge, or to the start of that of the last one. */
  const jump = (way) => {
    const pieces = cut(model.get("text"), known, model.get("pretokenizer"));
    const { done, last, next } = moment(pieces, model.get("step"));
    const ends = [0];
    for (const piece of pieces) ends.push(ends.at(-1) + piece.merges.length);
    if (way > 0 && next) seek(ends[next[0] + 1]);
    if (way < 0 && last && done) seek(ends[last[0]]);
  };

  const choose = (name) => begin(SETUP.presets[name].set);
  const link = ui.link({ choose, start: begin, accepts: isState, get: state });
  const chips = ui.chips(choose);
  const id = uid();
  const area = h("textarea", { id, rows: 2, maxlength: LIMIT, spellcheck: "false", autocomplete: "off", autocapitalize: "off", dir: "auto", oninput: () => put({ text: whole(area.value), step: -1, token: -1 }) });
  const full = h("span", { class: "tbviz-error", role: "alert" });
  const typed = h("div", { class: "tbviz-field tk-text" }, h("label", { for: id }, "text"), area, full);
  const cutter = select({
    label: "cut into pieces by",
    options: [{ value: "gpt2", label: "GPT-2's pattern" }, { value: "none", label: "nothing: one piece" }],
    value: "gpt2",
    onchange: (value) => put({ pretokenizer: value, step: -1, token: -1 }),
  });
  const note = h("p", { class: "tk-note", role: "status" });

  const steps = player({
    at: () => now().done,
    last: () => now().total,
    seek,
    show: (step) => Object.entries(after(step)).forEach(([trait, value]) => model.set(trait, value)),
    rest: () => {
      model.save_changes();
      queue();
    },
    ms: 700,
    from: 0,
    label: "merge",
    one: "merge",
    traits: ["step", "token"],
  });
  ui.defer(steps.cleanup);
  const ends = [button("Start of the piece", () => jump(-1)), button("End of the piece", () => jump(1))];
  const facts = h("div", { class: "tk-facts" });
  const run = h("div", { class: "tk-run", role: "listbox", tabindex: 0, "aria-label": "Tokens" });
  run.addEventListener("keydown", (event) => {
    const total = tokens().length;
    const at = chosenOf(now(), model.get("token"));
    const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: total - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    put({ token: Math.max(0, Math.min(total - 1, to)) });
  });
  touchField(run, {
    cells: tokens,
    onpick: (cell) => put({ token: tokens().indexOf(cell) }),
    draw: false,
  });
  const view = picture();
  const said = h("p", { class: "tk-said" });
  const empty = h("p", { class: "tk-empty" }, "No text, no tokens.");
  const stands = h("span");
  const swatch = (...kinds) => kinds.map((kind) => h("i", { class: `tk-swatch ${kind}` }));
  const comes = h("span");
  const key = h("p", { class: "tk-key" }, stands, h("span", {}, swatch("byte"), " byte"), h("span", {}, "learned 1st ", swatch("early0", "early1", "early2", "early3"), ` ${ordinal(known.pairs.length)}`), comes, h("span", {}, h("i", { class: "tk-thick" }), " drawn below"));
  const joins = h("ol", { class: "tk-joins", tabindex: 0, "aria-label": "How the piece is joined" });
  const joinsOf = h("p", { class: "tk-title" });
  const side = h("div", { class: "tk-side" }, joinsOf, joins);
  const lower = h("div", { class: "tk-lower" }, view.node);
  const main = h("div", { class: "tk-main", role: "figure", "aria-label": "The text in tokens, and a piece as a tree of its joins" }, run, key, lower, empty);
  const chosen = h("div", { class: "tk-box" });
  const body = h("tbody");
  const table = h(
    "div",
    { class: "tk-scroll", tabindex: 0, role: "region", "aria-label": "All tokens" },
    h(
      "table",
      { class: "tk-table" },
      h("thead", {}, h("tr", {}, ["token", "text", "id", "bytes", "count", "made of"].map((one, i) => h("th", { scope: "col", class: [0, 2, 4].includes(i) ? "n" : null }, one)))),
      body,
    ),
  );

  function drawTokens({ parts, last }, pieces, at) {
    let count = -1;
    replace(
      run,
      parts.map((ids, piece) => {
        const mine = ids.map((one, i) => {
          count += 1;
          const here = count;
          const bytes = known.tokens[one];
          const cls = ["tk-token", "tbviz-small", pieces[piece].special !== null ? "special" : one < 256 ? "byte" : `early${shade(one - 256, known)}`];
          const made = last && last[0] === piece && last[1] === i ? ", just made" : "";
          return h(
            "span",
            {
              role: "option",
              id: `${id}-${here}`,
              class: cls.join(" "),
              "aria-selected": String(here === at),
              "aria-label": `token ${here + 1}: ${shown(bytes)}, id ${one}${made}`,
            },
            shown(bytes),
          );
        });
        const on = at > count - ids.length && at <= count;
        return h("span", { class: `tk-piece${on ? " on" : ""}` }, mine);
      }),
    );
    run.setAttribute("aria-activedescendant", `${id}-${at}`);
    const selected = tokens()[at];
    if (selected.offsetTop < run.scrollTop || selected.offsetTop + selected.offsetHeight > run.scrollTop + run.clientHeight) run.scrollTop = selected.offsetTop - run.clientHeight / 2;
  }

  function drawPiece({ parts, last }, pieces, piece, at) {
    const ids = parts[piece];
    const best = lowest(ids, known);
    const special = pieces[piece].special !== null;
    const merges = special ? [] : pieces[piece].merges.slice(0, partsOf(pieces[piece], 0).length - ids.length);
    const rankAt = (i) => known.ranks.get(ids[i] * 65536 + ids[i + 1]);
    view.draw({ bytes: partsOf(pieces[piece], 0), merges, every: special ? [] : pieces[piece].merges, next: best, rankAt, known, chosen: at, name: `${piece} ${pieces[piece].text}` });
    comes.hidden = !best;
    replace(comes, best && [h("b", { class: "tk-comes" }, ordinal(best[1] + 1)), " joined next, grey later"]);
    const joined = last && last[0] === piece && merges.length ? known.pairs[last[2]].map(name) : null;
    const made = joined && ids[at] === 256 + last[2];
    replace(
      said,
      special
        ? "A special token: it is found before the text is cut, and no merge touches it. "
        : joined
          ? [inside(pieces[piece].text), `“${joined[0]}” and “${joined[1]}”, learned `, h("b", {}, ordinal(last[2] + 1)), made ? ", were joined to " : ", were joined. "]
          : best
            ? ["Next comes the pair that was learned ", h("b", {}, ordinal(best[1] + 1)), ". "]
            : null,
      made ? "id " : `“${name(ids[at])}” is id `,
      h("b", {}, ids[at]),
      ".",
    );
    drawJoins(pieces[piece], merges.length);
    const one = ids[at];
    const bytes = known.tokens[one];
    const pair = known.pairs[one - 256];
    const text = charactersOf(bytes);
    const lines = [
      ["id", String(one)],
      ["bytes", `${hex(bytes)} (${bytes.length})`],
      ["made of", pair ? `“${name(pair[0])}” ${pair[0]} + “${name(pair[1])}” ${pair[1]}, rank ${one - 256}` : one < 256 ? "a byte, no merge" : "special token"],
      ["decoded alone", text === null ? `${decode([one], known)} – not a whole character` : `“${shown(bytes)}”, ${counted([...text].length, "character")}`],
    ];
    replace(chosen, h("p", { class: "tk-title" }, `The chosen token: “${name(one)}”`), h("dl", { class: "tk-lines" }, lines.map(([label, value]) => [h("dt", {}, label), h("dd", {}, value)])));
  }

  /** All joins of a piece in their order; `done` of them are behind. */
  function drawJoins({ text, merges, special }, done) {
    const ids = partsOf({ text, merges, special }, 0);
    const made = merges.map(([at, rank]) => {
      const pair = ids.slice(at, at + 2).map(name);
      ids.splice(at, 2, 256 + rank);
      return { rank, pair: pair.join("+") };
    });
    joinsOf.textContent = made.length ? `Joins of “${shown([...new TextEncoder().encode(text)])}”` : "None of its pairs was learned.";
    replace(joins, made.map(({ rank, pair }, i) => h("li", { class: i < done ? "done" : i === done ? "next" : null }, h("b", { class: `early${shade(rank, known)}` }, ordinal(rank + 1)), " ", h("span", {}, pair))));
    const next = joins.children[Math.min(done, made.length - 1)];
    if (next) joins.scrollTop = next.offsetTop - joins.clientHeight / 2;
  }

  function draw() {
    const { text, pretokenizer, step, token } = state();
    const pieces = cut(text, known, pretokenizer);
    const at = moment(pieces, step);
    const ids = at.parts.flat();
    const pick = chosenOf(at, token);
    if (area.value !== text && area.getRootNode().activeElement !== area) area.value = text;
    cutter.update({ value: pretokenizer });
    ui.tell(note, ui.mark(Object.keys(SETUP.presets).find((name) => SETUP.presets[name].set.text === text && pretokenizer === "gpt2")));
    full.textContent = [...text].length >= LIMIT ? `No more than ${LIMIT} characters.` : "";
    steps.refresh();
    ends.forEach((one, i) => one.disable(i ? !at.next : !at.done));
    replace(stands, h("b", {}, ids.length), ids.length === 1 ? " token" : " tokens");
    const size = sizeOf(text);
    const fact = (label, value) => h("span", {}, `${label} `, h("b", {}, value));
    replace(
      facts,
      [["characters", [...text].length], ["bytes", size], ["pieces", pieces.length], ["tokens", ids.length], ["bytes a token", ids.length ? (size / ids.length).toFixed(2) : "–"], ["ids decoded", decode(ids, known) === text ? "the text again" : "another text"]].map(([label, value]) => fact(label, value)),
    );
    for (const one of [run, key, lower, side, said, chosen, table]) one.hidden = !ids.length;
    empty.hidden = Boolean(ids.length);
    if (ids.length) {
      drawTokens(at, pieces, pick);
      let piece = 0;
      let place = pick;
      while (place >= at.parts[piece].length) place -= at.parts[piece++].length;
      drawPiece(at, pieces, piece, place);
      replace(
        body,
        ids.map((one, i) => {
          const pair = known.pairs[one - 256];
          const made = pair ? `${name(pair[0])} + ${name(pair[1])}` : one < 256 ? "byte" : "special";
          return h("tr", { class: i === pick ? "on" : null }, h("td", { class: "n" }, i + 1), h("td", { class: "m" }, name(one)), h("td", { class: "n" }, one), h("td", { class: "m" }, hex(known.tokens[one])), h("td", { class: "n" }, known.tokens[one].length), h("td", { class: pair ? "m" : null }, made));
        }),
      );
      table.scrollTop = body.children[pick].offsetTop - table.clientHeight / 2;
    }
    ui.soon(() => describe(known, state()), { quiet: steps.playing() });
  }
  const queue = ui.follow(draw, NAMES);

  ui.lay({
    stage: main,
    presets: chips,
    bar: [typed, steps],
    readout: said,
    drawer: [
      note,
      facts,
      side,
      cutter,
      h("div", { class: "tk-bar" }, toolbar("Piece", ends), copyButton("Copy as PyTorch", () => script(known, state())), link),
      chosen,
      h("div", { class: "tk-box" }, table),
    ],
  });
  draw();
  const watch = new ResizeObserver(queue);
  watch.observe(main);
  ui.defer(() => watch.disconnect());
  return ui.cleanup;
}

export default { render };
