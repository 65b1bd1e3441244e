/** Expressions that each show one thing. */
export const PRESETS = [
  { key: "start", label: "Start", why: "A product and a ReLU", expression: "a*b + relu(c)", values: { a: 2, b: -3, c: 1.5 } },
  { key: "fan-out", label: "Fan-out", why: "A variable used twice: its gradients add", expression: "a*b + a*c", values: { a: 2, b: 3, c: 5 } },
  { key: "dead-relu", label: "Dead ReLU", why: "A negative input: no gradient comes through", expression: "relu(a*b + c) * d", values: { a: -2, b: 3, c: 1, d: 4 } },
  { key: "log-at-0", label: "log at 0", why: "The value is −inf and the gradient inf", expression: "a * log(b)", values: { a: 2, b: 0 } },
  { key: "saturation", label: "Saturation", why: "tanh far from 0: the gradient vanishes", expression: "tanh(a*b) + sigmoid(c)", values: { a: 3, b: 3, c: 9 } },
  { key: "nan", label: "0 · inf", why: "An infinite slope times a zero is nan", expression: "a * sqrt(b)", values: { a: 0, b: 0 } },
];
