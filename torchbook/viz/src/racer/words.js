/** The state in words, and as PyTorch. */

import { repr, several } from "../core/units.js";
import { ahead, BATCH, FAR, POINTS, RACERS, RARE, read, SURFACES } from "./model.js";
import { inView } from "./state.js";

/** As Python writes a number, but with a real minus and no ".0" behind a whole number. */
export const show = (x) => repr(x).replace(/\.0$/, "").replaceAll("-", "−");

/** At most three significant digits. */
export const short = (x) => (x !== 0 && Math.abs(x) < 1e-9 ? "below 1e−09" : show(Number(x.toPrecision(3))));

export const labels = (names) => several(names.map((name) => RACERS[name].label));

/** The settings, those that are torch's defaults left out. */
export function settingsOf(name, { lr, momentum, betas, weight_decay }) {
  const parts = [`lr ${show(lr)}`];
  if (momentum !== undefined) parts.push(`momentum ${show(momentum)}`);
  if (betas && !(betas[0] === 0.9 && betas[1] === 0.999)) parts.push(`betas ${betas.map(show).join(" and ")}`);
  if (weight_decay !== (name === "adamw" ? 0.01 : 0)) parts.push(`weight decay ${show(weight_decay)}`);
  return parts.join(", ");
}

function racer(name, { surface, step, ways, ...own }) {
  const way = ways[name];
  const told = read(surface, way, step);
  const which = `${RACERS[name].label} (${settingsOf(name, own[name])})`;
  if (!told) return `${which}: diverged at step ${way.diverged}.`;
  const where = `${short(told.distance)} from the ${SURFACES[surface].minima.length > 1 ? "nearest " : ""}minimum`;
  return `${which}: loss ${short(told.loss)}, ${where}${inView(surface, told.at) ? "" : ", outside the picture"}.`;
}

/** As `OptimizerRacer._describe`. */
export function describe(now) {
  const { surface, start, step, steps, optimizers, ways } = now;
  const head = `${SURFACES[surface].label[0].toUpperCase()}${SURFACES[surface].label.slice(1)} from (${start.map(show).join(", ")}), step ${step} of ${steps}.`;
  const first = optimizers.length > 1 && step ? ahead(ways, step) : [];
  const best = first.length ? [`Lowest loss: ${labels(first)}.`] : [];
  return [head, ...optimizers.map((name) => racer(name, now)), ...best].join(" ");
}

const CODE = {
  bowl: ["x, y = p", "return 0.5 * (x**2 + y**2)"],
  ravine: ["x, y = p", "u, v = 0.8 * x + 0.6 * y, 0.8 * y - 0.6 * x", "return 0.5 * (u**2 + 50 * v**2)"],
  rosenbrock: ["x, y = p", "return (1 - x) ** 2 + 100 * (y - x**2) ** 2"],
  saddle: ["x, y = p", "return 0.5 * (x**2 - y**2) + 0.25 * y**4"],
  valleys: ["x, y = p", "a = 20 * ((x + 1) ** 2 + y**2)", "b = 0.5 * ((x - 1) ** 2 + y**2)", "return a * b / (a + b)"],
  minibatch: [
    "dx, dy = (p - points[batches[step - 1]]).unbind(1)  # two points a step",
    "return (0.5 * dx**2 + 2 * dy**2).mean()",
  ],
  sparse: [
    "x, y = p",
    `seen = ${RARE} if step % ${RARE} == 0 else 0  # a rare feature: one step of ${RARE} sees it`,
    "return 0.5 * x**2 + 0.01 * seen * (y - 1) ** 2",
  ],
};

function data(seed, steps) {
  const rows = POINTS.map((point) => `[${point.map(repr).join(", ")}]`);
  const lines = [0, 4, 8].map((i) => `    ${rows.slice(i, i + 4).join(", ")},`);
  return [
    "points = torch.tensor([",
    ...lines,
    "], dtype=torch.float64)  # (12, 2)",
    `state, batches = ${seed + 1}, []  # Park and Miller's generator`,
    `for _ in range(${steps}):`,
    "    batch = []",
    `    for _ in range(${BATCH}):`,
    "        state = state * 48271 % 2147483647",
    `        batch.append(state % ${POINTS.length})`,
    "    batches.append(batch)",
    "",
  ];
}

function maker(name, { lr, momentum, betas, weight_decay }) {
  const given = [`lr=${repr(lr)}`];
  if (momentum !== undefined) given.push(`momentum=${repr(momentum)}`);
  if (RACERS[name].nesterov) given.push("nesterov=True");
  if (betas) given.push(`betas=(${betas.map(repr).join(", ")})`);
  if (weight_decay || name === "adamw") given.push(`weight_decay=${repr(weight_decay)}`);
  return `    "${name}": (torch.optim.${RACERS[name].make}, dict(${given.join(", ")})),`;
}

/** The same race in PyTorch: `paths[name]` has the points. */
export function script({ surface, start, steps, seed, optimizers, ...own }) {
  return [
    "import torch",
    "",
    ...(surface === "minibatch" ? data(seed, steps) : []),
    "",
    "def loss_at(p, step):",
    ...CODE[surface].map((line) => `    ${line}`),
    "",
    "",
    "racers = {",
    ...optimizers.map((name) => maker(name, own[name])),
    "}",
    "paths = {}",
    "for name, (make, settings) in racers.items():",
    `    p = torch.tensor([${start.map(repr).join(", ")}], dtype=torch.float64, requires_grad=True)`,
    "    optimizer = make([p], **settings)",
    "    path = paths[name] = [p.tolist()]",
    `    for step in range(1, ${steps + 1}):`,
    "        optimizer.zero_grad()",
    "        loss_at(p, step).backward()",
    "        optimizer.step()",
    "        path.append(p.tolist())",
    `        if not p.abs().max() <= ${FAR}:`,
    '            print(name, "diverged at step", step)',
    "            break",
    "    else:",
    "        print(name, path[-1])",
    "",
  ].join("\n");
}
