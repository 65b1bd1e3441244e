/** What a line did, in words, and the lines that ran as a program. */

import { plain } from "../core/units.js";
import { LINES, REFUSALS, RIDES, run } from "./model.js";

/** A number with four digits, or all before the point; halves go away from zero, and noise of the last bits does not count. */
export function shown(x) {
  if (Math.abs(x) < 1e-9) return "0";
  const [digits, power] = Math.abs(x).toExponential(9).split("e");
  let exponent = Number(power);
  const all = Number(digits.replace(".", ""));
  const kept = exponent > 5 ? 4 : Math.max(4, exponent + 1);
  let mantissa = Math.floor(all / 10 ** (10 - kept) + 0.5);
  if (mantissa >= 10 ** kept) [mantissa, exponent] = [mantissa / 10, exponent + 1];
  const sign = x < 0 ? "−" : "";
  const text = String(mantissa);
  if (exponent > 5) return `${sign}${trimmed(`${text[0]}.${text.slice(1, 4)}`)}e${exponent}`;
  if (exponent < 0) return `${sign}${trimmed(`0.${"0".repeat(-exponent - 1)}${text}`)}`;
  const whole = text.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  return `${sign}${trimmed(`${whole}.${text.slice(exponent + 1)}`)}`;
}

const trimmed = (text) => text.replace(/0+$/, "").replace(/\.$/, "");
const inside = (x) => (shown(x).startsWith("−") ? `(${shown(x)})` : shown(x));

/** What the last line did. */
export function told(before, now, { lr, momentum }) {
  if (now.refused) return `${REFUSALS[now.refused].error}. ${REFUSALS[now.refused].why}`;
  const [w] = now.params;
  switch (now.line) {
    case "forward":
      return `It predicts ${now.pred.values.map(shown).join(" and ")} and records a graph. w, b and .grad stay.`;
    case "loss":
      return now.loss.root ? `The mean squared error is ${shown(now.loss.value)}. The graph now leads from it to w and b.` : `The mean squared error is ${shown(now.loss.value)}, but the values saved behind pred are freed.`;
    case "zero":
      return before.grad ? ".grad is None again. w and b stay." : ".grad was None already: nothing changes.";
    case "backward":
      if (!before.grad) return "It writes the gradients into .grad and frees the values that the graph had saved. w and b stay.";
      return `It adds to what .grad held: for w, ${shown(before.grad[0])} becomes ${shown(now.grad[0])}. w and b stay.`;
    case "step":
      if (!now.grad) return ".grad is None, so step skips w and b: nothing changes.";
      if (!momentum) return `Now the model moves: w = ${shown(before.params[0])} − ${plain(lr)} · ${inside(now.grad[0])} = ${shown(w)}. .grad stays.`;
      if (!before.buffer) return `.grad starts the buffer: w = ${shown(before.params[0])} − ${plain(lr)} · ${inside(now.buffer[0])} = ${shown(w)}.`;
      return `The buffer is ${plain(momentum)} · ${inside(before.buffer[0])} + ${inside(now.grad[0])} = ${shown(now.buffer[0])}, so w = ${shown(before.params[0])} − ${plain(lr)} · ${inside(now.buffer[0])} = ${shown(w)}.`;
    default:
      return "No line has run: no predictions, no graph, no gradient.";
  }
}

/** The same, with what is seen in the picture left out. */
export const brief = (...run) => told(...run).replace(/\.(?: w, b and \.grad| w and b| \.grad) stay\.$/, ".").replace(" and frees the values that the graph had saved", " and frees what the graph saved");

/** How far the graph reaches. */
export function graph({ pred, loss }) {
  if (!pred) return "none";
  const older = loss?.alive && loss.of !== pred.id ? ", and the loss holds an older one" : "";
  if (!pred.alive) return `without its saved values${older}`;
  return `recorded up to ${loss?.alive && !older ? "the loss" : "pred"}${older}`;
}

const pair = (values, none) => (values ? `${shown(values[0])} and ${shown(values[1])}` : none);

/** The state in sentences, as `describe` in torchbook/viz/microscope.py says it. */
export function describe(setting) {
  const states = run(setting);
  const now = states.at(-1);
  const { lr, momentum, without } = setting;
  const left = without === "nothing" ? "" : ` Left out: ${LINES[without]}.`;
  const line = now.line && `Line ${states.length - 1}, ${LINES[now.line]}: `;
  return (
    `Price = w · km + b for two rides, learning rate ${plain(lr)}, momentum ${plain(momentum)}.${left} ` +
    `${line}${told(states.at(-2), now, setting)} Now w and b are ${pair(now.params)}, .grad is ${pair(now.grad, "None")}, the momentum buffer is ${pair(now.buffer, "absent")}, ` +
    `the loss is ${now.loss ? shown(now.loss.value) : "not computed"}, the graph is ${graph(now)}.`
  );
}

/** The same run as a program; what torch refuses is a comment. */
export function script(setting) {
  const states = run(setting);
  const column = (at) => `torch.tensor([${RIDES.map((ride) => `[${ride[at].toFixed(1)}]`).join(", ")}], dtype=torch.float64)`;
  const lines = states.slice(1).map(({ line, refused }) => (refused ? `# ${LINES[line]}  # ${REFUSALS[refused].error}` : LINES[line]));
  return `import torch
from torch import nn

x = ${column(0)}  # km
y = ${column(1)}  # price
model = nn.Linear(1, 1, dtype=torch.float64)
nn.init.constant_(model.weight, ${states[0].params[0].toFixed(1)})
nn.init.constant_(model.bias, ${states[0].params[1].toFixed(1)})
loss_fn = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=${setting.lr}, momentum=${setting.momentum})

${lines.join("\n")}

print(model.weight.item(), model.bias.item(), model.weight.grad)
`;
}
