/** TokenizerExplorer: byte-level BPE, from text over pieces and bytes to ids, one merge at a time. */

import { button, copyButton, h, replace, select, shell, slider, toolbar, uid } from "../core/index.js";
import { counted } from "../core/units.js";
import { charactersOf, cut, decode, isState, LIMIT, lowest, moment, placeOf, unpacked, vocabulary, whole } from "./model.js";
import SETUP from "./setup.json";
import { CSS } from "./style.js";
import { describe, hex, script, shown, sizeOf } from "./words.js";

const NAMES = ["text", "pretokenizer", "step", "token"];

function render({ model, el }) {
  const ui = shell({ model, el, contract: SETUP, kind: "tokenizer" });
  ui.css(CSS);
  const known = vocabulary(unpacked(model.get("pairs")), model.get("specials"));
  const state = () => Object.fromEntries(NAMES.map((name) => [name, model.get(name)]));
  const name = (id) => shown(known.tokens[id]);
  let focusToken = false;

  const begin = (given) => ui.set({ text: "", pretokenizer: "gpt2", step: -1, token: 0, ...given });
  const seek = (step) => {
    const { text, pretokenizer } = state();
    const now = moment(cut(text, known, pretokenizer), Math.max(0, step));
    const [piece, at] = now.last ?? now.next ?? [0, 0];
    ui.set({ step: now.done === now.total ? -1 : now.done, token: placeOf(now.parts, piece, at) });
  };
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
  const area = h("textarea", { id, rows: 3, maxlength: LIMIT, spellcheck: "false", autocomplete: "off", autocapitalize: "off", dir: "auto", oninput: () => ui.set({ text: whole(area.value), step: -1, token: 0 }) });
  const typed = h("div", { class: "tbviz-field tk-text" }, h("label", { for: id }, `text, up to ${LIMIT} characters`), area);
  const cutter = select({
    label: "cut into pieces by",
    options: [{ value: "gpt2", label: "GPT-2's pattern" }, { value: "none", label: "nothing: one piece" }],
    value: "gpt2",
    onchange: (value) => ui.set({ pretokenizer: value, step: -1, token: 0 }),
  });
  const note = h("p", { class: "tk-note", role: "status" });

  const moves = [
    button("|◂", () => jump(-1), { name: "Start of the piece", title: "Start of the piece" }),
    button("◂", () => seek(now().done - 1), { name: "One merge back", title: "One merge back" }),
    button("▸", () => seek(now().done + 1), { name: "One merge on", title: "One merge on" }),
    button("▸|", () => jump(1), { name: "End of the piece", title: "End of the piece" }),
  ];
  const scrub = slider({ label: "merge", min: 0, max: 1, value: 0, format: (x) => `${x} of ${now().total}`, oninput: seek });
  const player = h("div", { class: "tk-player" }, toolbar("Merges", moves), scrub);
  const facts = h("div", { class: "tk-facts" });
  const run = h("div", { class: "tk-run", role: "toolbar", "aria-label": "Tokens" });
  run.addEventListener("keydown", (event) => {
    const total = run.querySelectorAll("button").length;
    const at = Math.min(model.get("token"), total - 1);
    const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: total - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    focusToken = true;
    ui.set({ token: Math.max(0, Math.min(total - 1, to)) });
    queue();
  });
  const inside = h("div", { class: "tk-box" });
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
          const cls = ["tk-token", pieces[piece].special !== null ? "special" : one < 256 ? "byte" : `h${here % 4}`];
          const made = last && last[0] === piece && last[1] === i ? ", just made" : "";
          return h(
            "button",
            {
              type: "button",
              class: cls.join(" "),
              tabindex: here === at ? 0 : -1,
              "aria-pressed": String(here === at),
              "aria-label": `token ${here + 1}: ${shown(bytes)}, id ${one}${made}`,
              onclick: () => {
                focusToken = true;
                ui.set({ token: here });
              },
            },
            shown(bytes),
            h("small", {}, one),
          );
        });
        const on = at > count - ids.length && at <= count;
        return h("span", { class: `tk-piece${on ? " on" : ""}` }, mine);
      }),
    );
    const pressed = run.querySelector("[aria-pressed='true']");
    if (pressed.offsetTop < run.scrollTop || pressed.offsetTop + pressed.offsetHeight > run.scrollTop + run.clientHeight) run.scrollTop = pressed.offsetTop - run.clientHeight / 2;
    if (focusToken) run.querySelector("[tabindex='0']")?.focus();
    focusToken = false;
  }

  function drawPiece({ parts, last, next }, pieces, piece, at) {
    const ids = parts[piece];
    const best = lowest(ids, known);
    const chain = ids.flatMap((one, i) => {
      const part = h("span", { class: `tk-part${last && last[0] === piece && last[1] === i ? " new" : ""}` }, name(one));
      if (i + 1 === ids.length) return [part];
      const rank = known.ranks.get(one * 65536 + ids[i + 1]);
      const lead = best && best[0] === i;
      return [part, h("span", { class: `tk-rank${rank === undefined ? "" : " is"}${lead ? " next" : ""}` }, rank === undefined ? "–" : `${rank}${lead ? " lowest" : ""}`)];
    });
    const said = best
      ? `Between neighbours stands the rank of their merge, – if there is none. The lowest comes next: it was learnt first.${next && next[0] !== piece ? ` (Before it, piece ${next[0] + 1}.)` : ""}`
      : pieces[piece].special !== null
        ? "A special token: it is found before the text is cut into pieces, and no merge touches it."
        : ids.length > 1
          ? "No neighbours here are a merge: the piece is finished."
          : "One token: the piece is finished.";
    replace(inside, h("p", { class: "tk-title" }, `Piece ${piece + 1} of ${pieces.length}, ${counted(sizeOf(pieces[piece].text), "byte")}`), h("div", { class: "tk-chain" }, chain), h("p", { class: "tk-small" }, said));
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

  function draw() {
    const { text, pretokenizer, step, token } = state();
    const pieces = cut(text, known, pretokenizer);
    const at = moment(pieces, step);
    const ids = at.parts.flat();
    const pick = Math.min(token, ids.length - 1);
    if (area.value !== text && area.getRootNode().activeElement !== area) area.value = text;
    cutter.update({ value: pretokenizer });
    ui.tell(note, ui.mark(Object.keys(SETUP.presets).find((name) => SETUP.presets[name].set.text === text && pretokenizer === "gpt2")));
    scrub.update({ max: Math.max(1, at.total), value: at.done });
    scrub.input.disabled = !at.total;
    moves.forEach((one, i) => one.disable(i < 2 ? !at.done : !at.next));
    const size = sizeOf(text);
    const fact = (label, value) => h("span", {}, `${label} `, h("b", {}, value));
    replace(
      facts,
      [["characters", [...text].length], ["bytes", size], ["pieces", pieces.length], ["tokens", ids.length], ["bytes a token", ids.length ? (size / ids.length).toFixed(2) : "–"], ["ids decoded", decode(ids, known) === text ? "the text again" : "another text"]].map(([label, value]) => fact(label, value)),
    );
    for (const one of [run, inside, chosen, table]) one.hidden = !ids.length;
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
    ui.soon(() => describe(known, state()));
  }
  const queue = ui.follow(draw, NAMES);

  ui.lay({
    stage: h("div", { class: "tk-main" }, h("div", { class: "tk-box" }, run), inside),
    bar: player,
    readout: [note, facts],
    drawer: [
      h("div", { class: "tk-chips" }, h("p", { class: "tk-title" }, "Start from"), toolbar("Presets", chips)),
      typed,
      cutter,
      chosen,
      h("div", { class: "tk-box" }, table),
    h("div", { class: "tk-bar" }, copyButton("Copy as PyTorch", () => script(known, state())), link),
    ],
  });
  draw();
  return ui.cleanup;
}

export default { render };
