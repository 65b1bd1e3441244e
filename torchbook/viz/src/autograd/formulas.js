/** What the backward of common nodes computes, in words of PyTorch. `grad` is the gradient that arrives. */

export const ROWS = {
  Add: { self: "grad", other: "alpha · grad" },
  Sub: { self: "grad", other: "−alpha · grad" },
  Rsub: { self: "−alpha · grad" },
  Mul: { self: "grad · other", other: "grad · self" },
  Div: { self: "grad / other", other: "−grad · self / other²" },
  Reciprocal: { self: "−grad · result²" },
  Neg: { self: "−grad" },
  Exp: { self: "grad · result" },
  Log: { self: "grad / self" },
  Sqrt: { self: "grad / (2 · result)" },
  Rsqrt: { self: "−½ · grad · result³" },
  Sin: { self: "grad · cos(self)" },
  Cos: { self: "−grad · sin(self)" },
  Tanh: { self: "grad · (1 − result²)" },
  TanhBackward: { grad_output: "grad · (1 − output²)", output: "−2 · grad · grad_output · output" },
  Sigmoid: { self: "grad · result · (1 − result)" },
  Relu: { self: "grad where result > 0, else 0" },
  LeakyRelu: { self: "grad where self > 0, else negative_slope · grad" },
  Threshold: { self: "grad where self > threshold, else 0" },
  ThresholdBackward: { grad_output: "grad where the forward was > threshold, else 0" },
  Silu: { self: "grad · σ(self) · (1 + self · (1 − σ(self)))" },
  Gelu: { self: "grad · (Φ(self) + self · φ(self)), or the tanh approximation" },
  Abs: { self: "grad · sign(self)" },
  Softplus: { self: "grad · sigmoid(beta · self)" },
  Pow: { self: "grad · exponent · self^(exponent − 1)", exponent: "grad · result · log(self)" },
  Sum: { self: "grad, repeated over the dimensions that were summed" },
  Mean: { self: "grad / number of elements, repeated" },
  Max: { self: "grad at the greatest element; equal ones share it" },
  Min: { self: "grad at the least element; equal ones share it" },
  Clamp: { self: "grad between min and max, 0 outside" },
  Where: { self: "grad where the condition is true", other: "grad where it is false" },
  Addmm: { self: "beta · grad, summed where it was broadcast", mat1: "alpha · grad @ mat2ᵀ", mat2: "alpha · mat1ᵀ @ grad" },
  Mm: { self: "grad @ mat2ᵀ", mat2: "selfᵀ @ grad" },
  Mv: { self: "outer product of grad and vec", vec: "selfᵀ @ grad" },
  Dot: { self: "grad · tensor", tensor: "grad · self" },
  Bmm: { self: "grad @ mat2ᵀ, for each of the batch", mat2: "selfᵀ @ grad, for each of the batch" },
  T: { self: "gradᵀ" },
  Transpose: { self: "grad with the same two dimensions swapped" },
  Permute: { self: "grad with the dimensions put back" },
  View: { self: "grad in the shape of self" },
  UnsafeView: { self: "grad in the shape of self" },
  Squeeze: { self: "grad in the shape of self" },
  Unsqueeze: { self: "grad in the shape of self" },
  Expand: { self: "grad summed over the dimensions that were expanded" },
  Select: { self: "zeros, with grad at the place that was selected" },
  Slice: { self: "zeros, with grad in the part that was sliced" },
  Index: { self: "zeros, with grad added at each index" },
  Embedding: { weight: "zeros, with each row of grad added to the row that was looked up" },
  Cat: { tensors: "for each tensor its part of grad" },
  Stack: { tensors: "for each tensor its part of grad" },
  Clone: { self: "grad" },
  ToCopy: { self: "grad, in the dtype of self" },
  MseLoss: { self: "grad · 2 · (self − target), divided by the number of elements for a mean", target: "its negative" },
  Softmax: { self: "result · (grad − sum(grad · result))" },
  LogSoftmax: { self: "grad − exp(result) · sum(grad)" },
  NllLoss: { self: "−grad · weight at each target, divided by the total weight for a mean; 0 elsewhere" },
};

/**
 * The formula of a node for each input, or null where none is written here.
 * @param {string} name as torch gives it, e.g. "MulBackward0"
 */
export function formula(name) {
  if (name === "AccumulateGrad") return { "leaf.grad": "leaf.grad + grad, or grad itself when there was none" };
  const base = name.replace(/Backward\d*$/, "");
  return Object.hasOwn(ROWS, base) ? ROWS[base] : null;
}
