/** Loss surfaces with their exact gradients, and the optimizers of torch.optim, in float64. Nothing here draws. */

import { points as POINTS, surfaces as ABOUT } from "./setup.json";

export const BATCH = 2;
export const RARE = 5;
export const FAR = 1000;
export const MOST = 1000;

const mean = (points, of) => points.reduce((sum, point) => sum + of(point), 0) / points.length;

const valley = (x, y) => {
  const a = 20 * ((x + 1) ** 2 + y ** 2);
  const b = 0.5 * ((x - 1) ** 2 + y ** 2);
  return { a, b, sum: a + b };
};

/** `loss(x, y)` of the whole surface, and `grad(x, y, step, picked)`, which a step sees. */
const RULES = {
  bowl: {
    loss: (x, y) => 0.5 * (x ** 2 + y ** 2),
    grad: (x, y) => [x, y],
  },
  ravine: {
    loss: (x, y) => 0.5 * ((0.8 * x + 0.6 * y) ** 2 + 50 * (0.8 * y - 0.6 * x) ** 2),
    grad(x, y) {
      const u = 0.8 * x + 0.6 * y;
      const v = 50 * (0.8 * y - 0.6 * x);
      return [0.8 * u - 0.6 * v, 0.6 * u + 0.8 * v];
    },
  },
  rosenbrock: {
    loss: (x, y) => (1 - x) ** 2 + 100 * (y - x ** 2) ** 2,
    grad: (x, y) => [-2 * (1 - x) - 400 * x * (y - x ** 2), 200 * (y - x ** 2)],
  },
  saddle: {
    loss: (x, y) => 0.5 * (x ** 2 - y ** 2) + 0.25 * y ** 4,
    grad: (x, y) => [x, y ** 3 - y],
  },
  valleys: {
    loss(x, y) {
      const { a, b, sum } = valley(x, y);
      return (a * b) / sum;
    },
    grad(x, y) {
      const { a, b, sum } = valley(x, y);
      const [of_a, of_b] = [40 * (b / sum) ** 2, (a / sum) ** 2];
      return [of_a * (x + 1) + of_b * (x - 1), (of_a + of_b) * y];
    },
  },
  minibatch: {
    loss: (x, y) => mean(POINTS, ([a, b]) => 0.5 * (x - a) ** 2 + 2 * (y - b) ** 2),
    grad(x, y, _step, picked) {
      const seen = picked.map((i) => POINTS[i]);
      return [x - mean(seen, ([a]) => a), 4 * (y - mean(seen, ([, b]) => b))];
    },
  },
  sparse: {
    loss: (x, y) => 0.5 * x ** 2 + 0.01 * (y - 1) ** 2,
    grad: (x, y, step) => [x, step % RARE ? 0 : 0.02 * RARE * (y - 1)],
  },
};

export const SURFACES = Object.fromEntries(
  Object.entries(ABOUT).map(([name, about]) => {
    const { loss, grad } = RULES[name];
    return [name, { name, ...about, loss, grad, lowest: loss(...about.minima[0]) }];
  }),
);

export { POINTS };

/** The points that each step sees, by Park and Miller's generator: element t is for step t + 1. */
export function batches(seed, steps) {
  let state = seed + 1;
  const next = () => (state = (state * 48271) % 2147483647) % POINTS.length;
  return Array.from({ length: steps }, () => Array.from({ length: BATCH }, next));
}

/** What a racer is in torch.optim, and the settings that it takes. */
export const RACERS = {
  sgd: { label: "SGD", make: "SGD", takes: ["lr", "weight_decay"] },
  momentum: { label: "SGD with momentum", short: "momentum", make: "SGD", takes: ["lr", "momentum", "weight_decay"] },
  nesterov: { label: "SGD with Nesterov momentum", short: "Nesterov", make: "SGD", nesterov: true, takes: ["lr", "momentum", "weight_decay"] },
  adam: { label: "Adam", make: "Adam", takes: ["lr", "betas", "weight_decay"] },
  adamw: { label: "AdamW", make: "AdamW", takes: ["lr", "betas", "weight_decay"] },
};
export const NAMES = Object.keys(RACERS);

/** torch's defaults, but momentum 0.9, and on each surface rates that suit it. */
export function defaults(surface, name) {
  const own = { lr: SURFACES[surface].rates[name] };
  if (RACERS[name].takes.includes("momentum")) own.momentum = 0.9;
  if (RACERS[name].takes.includes("betas")) own.betas = [0.9, 0.999];
  return { ...own, weight_decay: name === "adamw" ? 0.01 : 0 };
}

const EPS = 1e-8;

/** One parameter: where it is, and what the optimizer keeps of it. */
const sgd = (settings, nesterov) => (p, g, kept) => {
  const decayed = settings.weight_decay ? g + settings.weight_decay * p : g;
  if (!settings.momentum) return [p - settings.lr * decayed, kept];
  const m = kept.step ? settings.momentum * kept.m + decayed : decayed;
  return [p - settings.lr * (nesterov ? decayed + settings.momentum * m : m), { ...kept, m }];
};

const adam = (settings, decoupled) => (at, given, kept) => {
  const { lr, weight_decay: decay, betas: [beta1, beta2] } = settings;
  const p = decay && decoupled ? at * (1 - lr * decay) : at;
  const g = decay && !decoupled ? given + decay * at : given;
  const weight = 1 - beta1;
  const m = weight < 0.5 ? kept.m + weight * (g - kept.m) : g - (g - kept.m) * (1 - weight); // as torch.lerp
  const v = kept.v * beta2 + (1 - beta2) * g * g;
  const step = kept.step + 1;
  const spread = Math.sqrt(v) / (1 - beta2 ** step) ** 0.5 + EPS;
  return [p - (lr / (1 - beta1 ** step)) * (m / spread), { ...kept, m, v }];
};

/** How `name` moves one parameter: (p, gradient, kept) to [p, kept]. */
export const mover = (name, settings) =>
  RACERS[name].make === "SGD" ? sgd(settings, RACERS[name].nesterov) : adam(settings, name === "adamw");

/** One step from `state`, {at, kept}, whose `kept` has one entry a parameter. */
export function advance(move, { at, kept }, grad) {
  const moved = at.map((p, i) => move(p, grad[i], kept[i]));
  return { at: moved.map(([p]) => p), kept: moved.map(([, k]) => ({ ...k, step: k.step + 1 })) };
}

export const fresh = (start) => ({ at: start, kept: start.map(() => ({ step: 0, m: 0, v: 0 })) });

/**
 * A racer's way: `points` and `losses`, `grads` of each step, and the step at which it `diverged`, left the range ±1000,
 * if it did: the way ends there.
 */
export function run(surface, name, settings, start, steps, picks) {
  const { loss, grad } = SURFACES[surface];
  const move = mover(name, settings);
  const way = { points: [start], losses: [loss(...start)], grads: [], diverged: null };
  for (let state = fresh(start), step = 1; step <= steps; step += 1) {
    const g = grad(...state.at, step, picks[step - 1]);
    state = advance(move, state, g);
    way.points.push(state.at);
    way.losses.push(loss(...state.at));
    way.grads.push(g);
    if (!state.at.every((p) => Math.abs(p) <= FAR)) {
      way.diverged = step;
      break;
    }
  }
  return way;
}

/** How far a point is from the nearest minimum. */
export const distance = (surface, [x, y]) => Math.min(...SURFACES[surface].minima.map(([a, b]) => Math.hypot(x - a, y - b)));

/** What a racer is at in a step: null once it has diverged. */
export function read(surface, way, step) {
  if (way.diverged !== null && step >= way.diverged) return null;
  const at = way.points[step];
  const from = way.points[step - 1];
  const moved = from ? Math.hypot(at[0] - from[0], at[1] - from[1]) : null;
  const slope = from ? Math.hypot(...way.grads[step - 1]) : 0;
  return { at, loss: way.losses[step], distance: distance(surface, at), moved, rate: slope ? moved / slope : null };
}

/** The racers that have the lowest loss in a step; what is within 1e-9 of the lowest counts as it. */
export function ahead(ways, step) {
  const there = Object.entries(ways).filter(([, way]) => way.diverged === null || step < way.diverged);
  const best = Math.min(...there.map(([, way]) => way.losses[step]));
  return there.filter(([, way]) => way.losses[step] - best < 1e-9).map(([name]) => name);
}
