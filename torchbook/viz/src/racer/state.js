/** The state that the traits hold, and changes to it. Nothing here draws. */

import { batches, defaults, MOST, NAMES, RACERS, run, SURFACES } from "./model.js";
import { presets as PRESETS } from "./setup.json";

const within = (x, low, high) => typeof x === "number" && x >= low && x <= high;

/** What a setting may be, in words; the check and the words are those of the Python side. */
export const LIMITS = {
  lr: { ok: (x) => within(x, 0, 10) && x > 0, words: "above 0, up to 10" },
  momentum: { ok: (x, name) => within(x, 0, 0.999) && (x > 0 || name !== "nesterov"), words: "from 0 up to 0.999" },
  beta: { ok: (x) => within(x, 0, 0.9999), words: "from 0 up to 0.9999" },
  weight_decay: { ok: (x) => within(x, 0, 10), words: "from 0 up to 10" },
};

/** Are these, from a link, settings that `name` takes? */
function fits(name, given) {
  const { takes } = RACERS[name];
  if (!given || typeof given !== "object" || !Object.keys(given).every((key) => takes.includes(key))) return false;
  return Object.entries(given).every(([key, value]) =>
    key === "betas" ? Array.isArray(value) && value.length === 2 && value.every((b) => LIMITS.beta.ok(b)) : LIMITS[key].ok(value, name),
  );
}

export const inView = (surface, [x, y]) => {
  const [left, right, bottom, top] = SURFACES[surface].view;
  return within(x, left, right) && within(y, bottom, top);
};

const whole = (n, low, high) => Number.isInteger(n) && within(n, low, high);

/** Is this, from a link, a state that can be shown? */
export function isState(given) {
  if (!given || !Object.hasOwn(SURFACES, given.surface)) return false;
  const { surface, start, steps = 200, step = steps, seed = 0, optimizers, settings = {} } = given;
  return (
    (start === undefined || (Array.isArray(start) && start.length === 2 && inView(surface, start))) &&
    whole(steps, 1, MOST) &&
    whole(step, 0, steps) &&
    whole(seed, 0, 9999) &&
    Array.isArray(optimizers) &&
    optimizers.every((name, i) => NAMES.includes(name) && optimizers.indexOf(name) === i) &&
    settings !== null &&
    typeof settings === "object" &&
    Object.entries(settings).every(([name, own]) => NAMES.includes(name) && fits(name, own))
  );
}

/** A state in full: what is not given is the surface's own. */
export function full({ surface, start, steps = 200, step = steps, seed = 0, optimizers, settings = {} }) {
  const own = Object.fromEntries(NAMES.map((name) => [name, { ...defaults(surface, name), ...settings[name] }]));
  return { surface, start: start ?? SURFACES[surface].start, steps, step, seed, optimizers, ...own };
}

const TRAITS = ["surface", "start", "steps", "step", "seed", "optimizers", ...NAMES];
const text = (state) => JSON.stringify(TRAITS.map((name) => (NAMES.includes(name) ? RACERS[name].takes.map((key) => state[name][key]) : state[name])));

/** The bond to the model's traits. */
export function session(ui, model) {
  const traits = () => Object.fromEntries(TRAITS.map((name) => [name, model.get(name)]));
  let known = "";
  let ways = {};

  /** The traits, and the way of each racer. */
  function now() {
    const state = traits();
    state.optimizers = NAMES.filter((name) => state.optimizers.includes(name));
    state.step = Math.min(state.step, state.steps);
    const key = text({ ...state, step: 0 });
    if (key !== known) {
      const picks = batches(state.seed, state.steps);
      const go = (name) => run(state.surface, name, state[name], state.start, state.steps, picks);
      ways = Object.fromEntries(state.optimizers.map((name) => [name, go(name)]));
      known = key;
    }
    return { ...state, picks: batches(state.seed, state.steps), ways };
  }

  return {
    traits: TRAITS,
    now,
    set: (changed) => ui.set(changed),
    start: (given) => ui.set(full(given)),
    surface(surface) {
      const { steps, seed, optimizers } = traits();
      ui.set(full({ surface, steps, seed, optimizers }));
    },
    tune: (name, changed) => ui.set({ [name]: { ...model.get(name), ...changed } }),
    steps(steps) {
      ui.set({ steps, step: steps });
    },
    move([x, y]) {
      const { surface } = traits();
      const [left, right, bottom, top] = SURFACES[surface].view;
      const round = (v, low, high) => Math.min(high, Math.max(low, Math.round(v * 1000) / 1000));
      ui.set({ start: [round(x, left, right), round(y, bottom, top)] });
    },
    toggle(name, on) {
      const shown = model.get("optimizers");
      ui.set({ optimizers: NAMES.filter((one) => (one === name ? on : shown.includes(one))) });
    },
    state() {
      const { surface, start, steps, step, seed, optimizers, ...own } = traits();
      return { surface, start, steps, step, seed, optimizers, settings: Object.fromEntries(NAMES.map((name) => [name, own[name]])) };
    },
    preset() {
      const state = traits();
      return Object.keys(PRESETS).find((name) => text({ ...full(PRESETS[name].set), step: 0 }) === text({ ...state, step: 0 }));
    },
  };
}
