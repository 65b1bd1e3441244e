/** The line of control of a figure that walks through steps: play, one step back, one step on, and a slider. */

import { button, slider, toolbar } from "./controls.js";
import { h } from "./dom.js";
import { still } from "./motion.js";

/**
 * Playing shows one step after the other with `show`, which need not save or say anything; at rest again, by the end or
 * by the reader, it calls `rest`. A reader's own move is a `seek`.
 * @param {{at: () => number, last: () => number, seek: (step: number) => void, show: (step: number) => void,
 *   rest: () => void, ms: number, from?: number, label?: string, one?: string, traits?: string[]}} options steps count from 0, and are shown
 *   from `from` on, with `label` before them; `ms` is the time of a step; `one` is a step's name on the buttons;
 *   `traits` are those that `show` changes, "step" unless given.
 * @returns {HTMLElement} with what it walks through as `walk` (for arrival.js), `playing()`, `stop()`, `refresh()` and `cleanup()`; its `play` is the button.
 */
export function player({ at, last, seek, show, rest, ms, from = 1, label = "step", one = "step", traits }) {
  let timer = 0;
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    play.textContent = "Play";
  };
  const end = () => {
    stop();
    rest();
  };
  const go = (step) => {
    stop();
    seek(Math.max(0, Math.min(last(), step)));
  };
  const play = button(
    "Play",
    () => {
      if (timer) return end();
      if (at() >= last()) show(0);
      timer = setInterval(() => {
        show(Math.min(last(), at() + 1));
        if (at() >= last()) end();
      }, still() ? 1.7 * ms : ms);
      play.textContent = "Pause";
    },
    { kind: "primary" },
  );
  const named = (text, way, name) => button(text, () => go(at() + way), { name, title: name });
  const [back, on] = [named("◂", -1, `One ${one} back`), named("▸", 1, `One ${one} on`)];
  const scrub = slider({ label, min: from, max: from + 1, value: from, format: (x) => `${x}/${last() + from}`, oninput: (x) => go(x - from) });
  const el = h("div", { class: "tbviz-player" }, toolbar("Steps", [play, back, on]), scrub);
  el.play = play;
  el.walk = { at, last, show, rest, ms, traits, hidden: () => el.hidden };
  el.playing = () => timer !== 0;
  el.stop = stop;
  el.cleanup = () => clearInterval(timer);
  el.refresh = () => {
    scrub.update({ max: from + Math.max(last(), 1), value: from + at() });
    scrub.input.disabled = last() < 1;
    play.disable(last() < 1);
    back.disable(at() <= 0);
    on.disable(at() >= last());
  };
  return el;
}
