/** Playing the race: play or pause and the slider that scrubs; and for the drawer single steps and the speed. */

import { button, h, select, slider, still, toolbar } from "../core/index.js";

const SPEEDS = { slow: 8, medium: 25, fast: 80 };

/**
 * @param {{get: () => {step: number, steps: number}, seek: (step: number, playing: boolean) => void}} options `seek` is
 *   told whether it is a picture of a film or a step at which the reader stays.
 * @returns {{node: Element, more: Element, draw: (now: object) => void, stop: () => void}}
 */
export function player({ get, seek }) {
  let speed = "medium";
  let frame = 0;
  let last = 0;
  let at = 0;

  const playing = () => frame !== 0;
  function tick(time) {
    const { step, steps } = get();
    last ||= time;
    // Whoever wants less motion sees four pictures a second, not sixty.
    if (time - last >= (still() ? 250 : 0)) {
      at = Math.min(steps, at + ((time - last) / 1000) * SPEEDS[speed]);
      last = time;
      if (Math.floor(at) !== step) seek(Math.floor(at), true);
    }
    if (at >= steps) stop();
    else frame = requestAnimationFrame(tick);
  }
  function stop() {
    if (!playing()) return;
    cancelAnimationFrame(frame);
    frame = 0;
    label();
    seek(get().step, false);
  }
  function start() {
    const { step, steps } = get();
    at = step >= steps ? 0 : step;
    last = 0;
    seek(at, true);
    frame = requestAnimationFrame(tick);
    label();
  }
  const go = (step) => {
    const { steps } = get();
    stop();
    seek(Math.max(0, Math.min(steps, step)), false);
  };

  const play = button("Play", () => (playing() ? stop() : start()), { kind: "primary" });
  const label = () => (play.textContent = playing() ? "Pause" : "Play");
  const first = button("|◂", () => go(0), { name: "To the start", title: "To the start" });
  const back = button("◂", () => go(get().step - 1), { name: "One step back", title: "One step back" });
  const next = button("▸", () => go(get().step + 1), { name: "One step on", title: "One step on" });
  const end = button("▸|", () => go(get().steps), { name: "To the end", title: "To the end" });
  const scrub = slider({ label: "step", min: 0, max: 1, value: 0, oninput: go });
  const pace = select({ label: "speed", options: Object.keys(SPEEDS), value: speed, onchange: (name) => (speed = name) });
  const node = h("div", { class: "rx-player" }, play, scrub);
  const more = h("div", { class: "rx-bar rx-steps" }, toolbar("Steps", [first, back, next, end]), pace);

  function draw({ step, steps }) {
    scrub.update({ max: steps, value: step });
    for (const one of [first, back]) one.disable(step <= 0);
    for (const one of [next, end]) one.disable(step >= steps);
  }
  return { node, more, draw, stop };
}
