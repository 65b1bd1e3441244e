/**
 * PyTorch's strided tensors on the CPU, without PyTorch: what each view operation makes of shape, stride and storage
 * offset, which operations copy, and what PyTorch says when a call is not allowed.
 *
 * Everything here is pure: a state is never changed, each operation answers a new one. The rules follow ATen
 * (TensorShape.cpp, TensorUtils.cpp, ExpandUtils.cpp, MemoryFormat.h); test_stride_model.py compares them with
 * the installed torch on random chains of operations. Error texts are those of torch 2.15. (Torch 2.11 says the same on
 * 4,000 chains but for one text: `as_strided` with a negative storage offset says "Storage size calculation overflowed".)
 *
 * @typedef {object} State
 * @property {number[]} shape
 * @property {number[]} stride in elements
 * @property {number} offset the storage offset, in elements
 * @property {number} storageId changes when an operation copies
 * @property {number[]} storage the values, in memory order
 * @property {string} dtype
 * @property {number} itemsize bytes of one element
 * @property {{name: string, args: object, code: string}[]} ops what made this state, first to last
 * @property {string} origin the line of PyTorch that makes the first state
 */

/** Bytes of an element, how torch's messages name a CPU tensor of that type, and how they name a number of that type. */
const DTYPES = {
  float64: [8, "torch.DoubleTensor"],
  float32: [4, "torch.FloatTensor", "float"],
  float16: [2, "torch.HalfTensor"],
  bfloat16: [2, "CPUBFloat16Type"],
  int64: [8, "torch.LongTensor", "int64_t"],
  int32: [4, "torch.IntTensor", "int"],
  int16: [2, "torch.ShortTensor", "int16_t"],
  int8: [1, "torch.CharTensor", "int8_t"],
  uint8: [1, "torch.ByteTensor", "uint8_t"],
};

/** The names of the types a tensor can have here. */
export const dtypes = Object.keys(DTYPES);

/** An error that torch would raise: `type` is the Python class, the message torch's own text. */
class TorchError extends Error {
  constructor(type, message, extra = {}) {
    super(message);
    this.type = type;
    this.extra = extra;
  }
}

const check = (condition, type, message, extra) => {
  if (!condition) throw new TorchError(type, message, extra);
};

const product = (numbers) => numbers.reduce((a, b) => a * b, 1);
const list = (numbers) => `[${numbers.join(", ")}]`;
const tuple = (numbers) => (numbers.length === 1 ? `(${numbers[0]},)` : `(${numbers.join(", ")})`);
const variadic = (numbers) => (numbers.length ? numbers.join(", ") : "()");
const equal = (a, b) => a.length === b.length && a.every((value, i) => value === b[i]);
const without = (items, i) => [...items.slice(0, i), ...items.slice(i + 1)];
const changed = (items, i, value) => [...items.slice(0, i), value, ...items.slice(i + 1)];
const inserted = (items, i, value) => [...items.slice(0, i), value, ...items.slice(i)];

/** A dimension counted from the end, or out of range, as torch treats it; a tensor of rank 0 counts as one of rank 1. */
function wrapDim(dim, rank) {
  const n = Math.max(rank, 1);
  check(-n <= dim && dim < n, "IndexError", `Dimension out of range (expected to be in range of [${-n}, ${n - 1}], but got ${dim})`);
  return dim < 0 ? dim + n : dim;
}

/** The strides of a contiguous tensor; an empty dimension counts as one of size 1. */
export function contiguousStride(shape) {
  const stride = new Array(shape.length);
  let step = 1;
  for (let d = shape.length - 1; d >= 0; d--) {
    stride[d] = step;
    step *= Math.max(shape[d], 1);
  }
  return stride;
}

/** The strides of a rank-4 tensor (N, C, H, W) laid out with C fastest; an empty dimension makes the next strides 0. */
function channelsLastStride([, c, h, w]) {
  return [h * w * c, 1, w * c, c];
}

/** Do the dimensions, given from the fastest to the slowest, follow one another without gaps? Size 1 is not asked. */
function followsOrder(shape, stride, order) {
  let expected = 1;
  for (const d of order) {
    if (shape[d] === 1) continue;
    if (stride[d] !== expected) return false;
    expected *= shape[d];
  }
  return true;
}

const CHANNELS_LAST_ORDER = [1, 3, 2, 0];

/**
 * As `Tensor.is_contiguous`.
 * @param {State} state
 * @param {"contiguous_format"|"channels_last"} [format]
 */
export function isContiguous({ shape, stride }, format = "contiguous_format") {
  if (format === "channels_last") return shape.length === 4 && followsOrder(shape, stride, CHANNELS_LAST_ORDER);
  return product(shape) === 0 || followsOrder(shape, stride, shape.map((_, d) => shape.length - 1 - d));
}

/**
 * What `.to(memory_format=torch.channels_last)` asks before it copies: do the strides look like channels_last? It is
 * less strict about gaps than `isContiguous`, and stricter where sizes of 1 leave both answers open.
 */
function looksChannelsLast({ shape, stride }) {
  if (shape.length !== 4 || stride[1] === 0) return false;
  let least = 0;
  for (const d of CHANNELS_LAST_ORDER) {
    if (shape[d] === 0 || stride[d] < least) return false;
    if (d === 0 && least === stride[1]) return false;
    least = stride[d] * Math.max(shape[d], 1);
  }
  return true;
}

/** Does every element have its own place and is every place in the span used, in whatever order of dimensions? */
function isNonOverlappingAndDense(state) {
  const { shape, stride } = state;
  if (isContiguous(state)) return true;
  const order = shape.map((_, d) => d).filter((d) => shape[d] > 1);
  return followsOrder(shape, stride, order.sort((a, b) => stride[a] - stride[b]));
}

/** Strides without gaps that keep the order of the given ones, as `empty_like` chooses them for a tensor with gaps. */
function inferDenseStride(shape, stride) {
  const order = shape.map((_, d) => shape.length - 1 - d);
  const compare = (a, b) => {
    if (stride[a] === 0 || stride[b] === 0) return 0;
    return Math.sign(stride[a] - stride[b]) || (shape[a] > shape[b] ? 1 : 0);
  };
  for (let i = 1; i < order.length; i++) {
    let here = i;
    for (let there = i - 1; there >= 0; there--) {
      const comparison = compare(order[there], order[here]);
      if (comparison < 0) break;
      if (comparison > 0) {
        [order[there], order[here]] = [order[here], order[there]];
        here = there;
      }
    }
  }
  const dense = new Array(shape.length);
  let step = 1;
  for (const d of order) {
    dense[d] = step;
    step *= Math.max(shape[d], 1);
  }
  return dense;
}

/** The strides that `torch.empty_like` gives, `torch.preserve_format`. */
const preservedStride = (state) => (isNonOverlappingAndDense(state) ? state.stride : inferDenseStride(state.shape, state.stride));

/** A shape with its -1 filled in, as `view` and `reshape` do it. */
function inferSize(shape, numel) {
  let inferred = -1;
  let known = 1;
  shape.forEach((size, i) => {
    if (size === -1) {
      check(inferred < 0, "RuntimeError", "only one dimension can be inferred");
      inferred = i;
      return;
    }
    check(size >= 0, "RuntimeError", `invalid shape dimension ${size} at index ${i} of shape ${list(shape)}`);
    known *= size;
  });
  const fits = known === numel || (inferred >= 0 && known > 0 && numel % known === 0);
  check(fits, "RuntimeError", `shape '${list(shape)}' is invalid for input of size ${numel}`);
  if (inferred < 0) return shape;
  const ambiguous = `cannot reshape tensor of 0 elements into shape ${list(shape)} because the unspecified dimension size -1 can be any value and is ambiguous`;
  check(known !== 0, "RuntimeError", ambiguous);
  return changed(shape, inferred, numel / known);
}

/** The strides with which the same storage has another shape, or null where no strides do. */
function computeStride({ shape, stride }, newShape) {
  if (shape.length === 0) return newShape.map(() => 1);
  if (product(shape) === 0) return equal(shape, newShape) ? stride : contiguousStride(newShape);
  const newStride = new Array(newShape.length);
  let view = newShape.length - 1;
  let base = stride[stride.length - 1];
  let numel = 1;
  let viewNumel = 1;
  for (let d = shape.length - 1; d >= 0; d--) {
    numel *= shape[d];
    const chunkEnds = d === 0 || (shape[d - 1] !== 1 && stride[d - 1] !== numel * base);
    if (!chunkEnds) continue;
    while (view >= 0 && (viewNumel < numel || newShape[view] === 1)) {
      newStride[view] = viewNumel * base;
      viewNumel *= newShape[view];
      view--;
    }
    if (viewNumel !== numel) return null;
    if (d > 0) {
      base = stride[d - 1];
      numel = 1;
      viewNumel = 1;
    }
  }
  return view === -1 ? newStride : null;
}

/**
 * The pairs of neighbouring dimensions (those of size 1 left aside) that the new shape would merge although no single
 * stride steps through both.
 */
function unmergeable({ shape, stride }, newShape) {
  const suffixes = new Set([1]);
  newShape.reduceRight((numel, size) => (suffixes.add(numel * size), numel * size), 1);
  const dims = shape.map((_, d) => d).filter((d) => shape[d] !== 1);
  const pairs = [];
  let inner = 1;
  for (let k = dims.length - 1; k > 0; k--) {
    const [outer, here] = [dims[k - 1], dims[k]];
    inner *= shape[here];
    if (stride[outer] !== shape[here] * stride[here] && !suffixes.has(inner)) pairs.unshift([outer, here]);
  }
  return pairs;
}

const U64 = 1n << 64n;
const I64 = 1n << 63n;

/** torch counts elements in 64 bits without a sign, so a negative size overflows (unless a size of 0 comes first). */
function checkNumel(shape) {
  let numel = 1n;
  let overflows = false;
  for (const size of shape) {
    numel *= BigInt.asUintN(64, BigInt(size));
    overflows ||= numel >= U64;
    numel %= U64;
  }
  check(!overflows && numel < I64, "RuntimeError", "numel: integer multiplication overflow");
  check(shape.every((size) => size >= 0), "unsupported", "torch makes a tensor with a negative size here; this model does not");
}

/** The bytes from the first element to the end of the last, 0 for an empty tensor; in 64 bits, as torch counts. */
function spanBytes(shape, stride, itemsize) {
  let elements = 1n;
  let overflows = false;
  for (let d = 0; d < shape.length; d++) {
    if (shape[d] === 0) return 0n;
    const steps = BigInt.asUintN(64, BigInt(shape[d] - 1)) * BigInt(stride[d]);
    elements += steps % U64;
    overflows ||= steps >= U64 || elements >= U64;
    elements %= U64;
  }
  overflows ||= elements * BigInt(itemsize) >= U64;
  check(!overflows, "RuntimeError", `Storage size calculation overflowed with sizes=${list(shape)} and strides=${list(stride)}`);
  return elements * BigInt(itemsize);
}

/** Checks what `as_strided` checks. */
function checkStrided(state, shape, stride, offset) {
  check(shape.length === stride.length, "RuntimeError", "mismatch in length of strides and shape");
  const negative = `as_strided: Negative strides are not supported at the moment, got strides: ${list(stride)}`;
  check(stride.every((step) => step >= 0), "RuntimeError", negative);
  check(offset >= 0, "RuntimeError", `Tensor: invalid storage offset ${offset}`);
  const span = spanBytes(shape, stride, state.itemsize);
  const needed = span + BigInt(offset * state.itemsize);
  const out = `setStorage: sizes ${list(shape)}, strides ${list(stride)}, storage offset ${offset}, and itemsize ${state.itemsize} requiring a storage size of ${needed} are out of bounds for storage of size ${storageBytes(state)}`;
  check(span === 0n || needed <= BigInt(storageBytes(state)), "RuntimeError", out);
  checkNumel(shape);
}

/** The same storage seen otherwise. */
const viewed = (state, shape, stride, offset = state.offset) => ({ state: { ...state, shape, stride, offset }, copied: false });

/** The same tensor object, not even a new view. */
const itself = (state) => ({ state, copied: false, same: true });

/** A new storage with the values in the order that the strides ask for; `from` says which logical index goes where. */
function copiedTo(state, shape, stride, from = (index) => index) {
  const storage = new Array(product(shape)).fill(0);
  const made = { ...state, shape, stride, offset: 0, storage, storageId: state.storageId + 1 };
  for (const at of indices(shape)) storage[index(made, at)] = state.storage[index(state, from(at))];
  return { state: made, copied: true };
}

function slice(state, dim, start, stop, step) {
  const { shape, stride, offset } = state;
  const size = shape[dim];
  const from = Math.min(Math.max(start < 0 ? start + size : start, 0), size);
  const to = Math.min(Math.max(stop < 0 ? stop + size : stop, from), size);
  const newSize = Math.ceil((to - from) / step);
  return viewed(state, changed(shape, dim, newSize), changed(stride, dim, stride[dim] * step), offset + from * stride[dim]);
}

function select(state, dim, i) {
  const { shape, stride, offset } = state;
  const at = i < 0 ? i + shape[dim] : i;
  return viewed(state, without(shape, dim), without(stride, dim), offset + at * stride[dim]);
}

function swap(state, a, b) {
  const order = state.shape.map((_, d) => (d === a ? b : d === b ? a : d));
  return viewed(state, order.map((d) => state.shape[d]), order.map((d) => state.stride[d]));
}

function reshape(state, shape) {
  const wanted = inferSize(shape, product(state.shape));
  const stride = computeStride(state, wanted);
  if (stride) return viewed(state, wanted, stride);
  return copiedTo(state, wanted, contiguousStride(wanted), (at) => unravel(ravel(at, wanted), state.shape));
}

/** Position in row-major order of a logical index, and back. */
const ravel = (at, shape) => at.reduce((flat, i, d) => flat * shape[d] + i, 0);

function unravel(flat, shape) {
  const at = new Array(shape.length);
  for (let d = shape.length - 1; d >= 0; d--) {
    at[d] = flat % shape[d];
    flat = Math.floor(flat / shape[d]);
  }
  return at;
}

const RULES = {
  transpose(state, { dim0, dim1 }) {
    const rank = state.shape.length;
    return swap(state, wrapDim(dim0, rank), wrapDim(dim1, rank));
  },

  permute(state, { dims }) {
    const rank = state.shape.length;
    const counts = `input.dim() = ${rank} is not equal to len(dims) = ${dims.length}`;
    // The words "sparse_coo" are in torch's text for every tensor.
    check(dims.length === rank, "RuntimeError", `permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. ${counts}`);
    const order = [];
    for (const dim of dims) {
      const d = wrapDim(dim, rank);
      check(!order.includes(d), "RuntimeError", "permute(): duplicate dims are not allowed.");
      order.push(d);
    }
    return viewed(state, order.map((d) => state.shape[d]), order.map((d) => state.stride[d]));
  },

  view(state, { shape }) {
    const wanted = inferSize(shape, product(state.shape));
    const stride = computeStride(state, wanted);
    const text = "view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use .reshape(...) instead.";
    if (!stride) throw new TorchError("RuntimeError", text, { unmergeable: unmergeable(state, wanted) });
    return viewed(state, wanted, stride);
  },

  reshape: (state, { shape }) => reshape(state, shape),

  narrow(state, { dim, start, length }) {
    const { shape } = state;
    check(shape.length > 0, "RuntimeError", "narrow() cannot be applied to a 0-dim tensor.");
    check(length >= 0, "RuntimeError", "narrow(): length must be non-negative.");
    const d = wrapDim(dim, shape.length);
    const size = shape[d];
    check(-size <= start && start <= size, "IndexError", `start out of range (expected to be in range of [${-size}, ${size}], but got ${start})`);
    const from = start < 0 ? start + size : start;
    check(from + length <= size, "RuntimeError", `start (${from}) + length (${length}) exceeds dimension size (${size}).`);
    return slice(state, d, from, from + length, 1);
  },

  slice(state, { dim, start, stop, step }) {
    const rank = state.shape.length;
    const used = dim < 0 ? -dim : dim + 1;
    const by = step ?? 1;
    // x[a:b] alone goes another way through torch than x[:, a:b] and x[..., a:b].
    if (dim !== 0) check(used <= rank, "IndexError", `too many indices for tensor of dimension ${rank}`);
    check(by !== 0, "ValueError", "slice step cannot be zero");
    check(by > 0, "ValueError", "step must be greater than zero");
    check(rank > 0, "IndexError", "slice() cannot be applied to a 0-dim tensor.");
    return slice(state, wrapDim(dim, rank), start ?? 0, stop ?? Infinity, by);
  },

  select(state, { dim, index: i }) {
    const { shape } = state;
    check(shape.length > 0, "IndexError", "select() cannot be applied to a 0-dim tensor.");
    const d = wrapDim(dim, shape.length);
    check(-shape[d] <= i && i < shape[d], "IndexError", `select(): index ${i} out of range for tensor of size ${list(shape)} at dimension ${d}`);
    return select(state, d, i);
  },

  index(state, { index: i }) {
    const { shape } = state;
    const scalar = "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor to a number";
    check(shape.length > 0 || i !== 0, "IndexError", scalar);
    const size = shape[0] ?? 0;
    check(-size <= i && i < size, "IndexError", `index ${i} is out of bounds for dimension 0 with size ${size}`);
    return select(state, 0, i);
  },

  expand(state, { shape: wanted }) {
    const { shape, stride, dtype } = state;
    const added = wanted.length - shape.length;
    const few = `expand(${DTYPES[dtype][1]}{${list(shape)}}, size=${list(wanted)}): the number of sizes provided (${wanted.length}) must be greater or equal to the number of dimensions in the tensor (${shape.length})`;
    check(added >= 0, "RuntimeError", few);
    const newShape = new Array(wanted.length);
    const newStride = new Array(wanted.length).fill(0);
    for (let i = wanted.length - 1; i >= 0; i--) {
      if (shape.length === 0) {
        newShape[i] = wanted[i];
        continue;
      }
      const d = i - added;
      const size = d >= 0 ? shape[d] : 1;
      let target = wanted[i];
      if (target === -1) {
        check(d >= 0, "RuntimeError", `The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension ${i}`);
        target = size;
      }
      if (size !== target) {
        check(size === 1, "RuntimeError", `The expanded size of the tensor (${target}) must match the existing size (${size}) at non-singleton dimension ${i}.  Target sizes: ${list(wanted)}.  Tensor sizes: ${list(shape)}`);
        newStride[i] = 0;
      } else {
        newStride[i] = d >= 0 ? stride[d] : newShape[i + 1] * newStride[i + 1];
      }
      newShape[i] = target;
    }
    checkNumel(newShape);
    return viewed(state, newShape, newStride);
  },

  unsqueeze(state, { dim }) {
    const { shape, stride } = state;
    const d = wrapDim(dim, shape.length + 1);
    const step = d < shape.length ? shape[d] * stride[d] : 1;
    return viewed(state, inserted(shape, d, 1), inserted(stride, d, step));
  },

  squeeze(state, { dim }) {
    const { shape, stride } = state;
    const only = dim === null ? null : wrapDim(dim, shape.length);
    const kept = shape.map((_, d) => d).filter((d) => shape[d] !== 1 || (only !== null && d !== only));
    return viewed(state, kept.map((d) => shape[d]), kept.map((d) => stride[d]));
  },

  flatten(state, { start_dim: first, end_dim: last }) {
    const { shape } = state;
    const start = wrapDim(first, shape.length);
    const end = wrapDim(last, shape.length);
    check(start <= end, "RuntimeError", "flatten() has invalid args: start_dim cannot come after end_dim");
    if (shape.length === 0) return reshape(state, [1]);
    if (start === end) return itself(state);
    return reshape(state, [...shape.slice(0, start), product(shape.slice(start, end + 1)), ...shape.slice(end + 1)]);
  },

  unfold(state, { dim, size, step }) {
    const { shape, stride } = state;
    const rank = shape.length;
    const d = wrapDim(dim, rank);
    const most = rank === 0 ? 1 : shape[d];
    check(size >= 0, "RuntimeError", `size is ${size} but must be >= 0`);
    check(size <= most, "RuntimeError", `maximum size for tensor at dimension ${d} is ${most} but size is ${size}`);
    check(step > 0, "RuntimeError", `step is ${step} but must be > 0`);
    if (rank === 0) return viewed(state, [size], [1]);
    const windows = Math.floor((most - size) / step) + 1;
    return viewed(state, [...changed(shape, d, windows), size], [...changed(stride, d, step * stride[d]), stride[d]]);
  },

  diagonal(state, { offset: shift, dim1, dim2 }) {
    const { shape, stride, offset } = state;
    const a = wrapDim(dim1, shape.length);
    const b = wrapDim(dim2, shape.length);
    check(a !== b, "RuntimeError", `diagonal dimensions cannot be identical ${dim1}, ${dim2}`);
    const size = Math.max(Math.min(shape[a] + Math.min(shift, 0), shape[b] - Math.max(shift, 0)), 0);
    const start = size === 0 ? 0 : shift >= 0 ? shift * stride[b] : -shift * stride[a];
    const rest = (items) => items.filter((_, d) => d !== a && d !== b);
    return viewed(state, [...rest(shape), size], [...rest(stride), stride[a] + stride[b]], offset + start);
  },

  contiguous(state, { memory_format: format }) {
    if (isContiguous(state, format)) return itself(state);
    if (format !== "channels_last") return copiedTo(state, state.shape, contiguousStride(state.shape));
    return toChannelsLast(state);
  },

  channels_last: (state) => (looksChannelsLast(state) ? itself(state) : toChannelsLast(state)),

  as_strided(state, { size, stride, storage_offset: offset }) {
    checkStrided(state, size, stride, offset);
    return viewed(state, size, stride, offset);
  },

  flip(state, { dims }) {
    const { shape } = state;
    const flipped = new Set();
    for (const dim of dims) {
      const d = wrapDim(dim, shape.length);
      check(!flipped.has(d), "RuntimeError", `dim ${d} appears multiple times in the list of dims`);
      flipped.add(d);
    }
    return copiedTo(state, shape, preservedStride(state), (at) => at.map((i, d) => (flipped.has(d) ? shape[d] - 1 - i : i)));
  },

  t(state) {
    const rank = state.shape.length;
    check(rank <= 2, "RuntimeError", `t() expects a tensor with <= 2 dimensions, but self is ${rank}D`);
    return rank < 2 ? viewed(state, state.shape, state.stride) : swap(state, 0, 1);
  },

  mT(state) {
    const rank = state.shape.length;
    check(rank !== 1, "RuntimeError", "tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor.");
    return rank === 0 ? itself(state) : swap(state, rank - 2, rank - 1);
  },
};

function toChannelsLast(state) {
  check(state.shape.length === 4, "RuntimeError", "required rank 4 tensor to use channels_last format");
  return copiedTo(state, state.shape, channelsLastStride(state.shape));
}

/** `:` for every dimension before, `...` where it is counted from the end. */
function sliceCode({ dim, start, stop, step }) {
  const part = `${start ?? ""}:${stop ?? ""}${step === null || step === 1 ? "" : `:${step}`}`;
  if (dim >= 0) return `x[${":, ".repeat(dim)}${part}]`;
  return `x[..., ${part}${", :".repeat(-dim - 1)}]`;
}

const CODE = {
  transpose: ({ dim0, dim1 }) => `x.transpose(${dim0}, ${dim1})`,
  permute: ({ dims }) => `x.permute(${variadic(dims)})`,
  view: ({ shape }) => `x.view(${variadic(shape)})`,
  reshape: ({ shape }) => `x.reshape(${variadic(shape)})`,
  narrow: ({ dim, start, length }) => `x.narrow(${dim}, ${start}, ${length})`,
  slice: sliceCode,
  select: ({ dim, index: i }) => `x.select(${dim}, ${i})`,
  index: ({ index: i }) => `x[${i}]`,
  expand: ({ shape }) => `x.expand(${variadic(shape)})`,
  unsqueeze: ({ dim }) => `x.unsqueeze(${dim})`,
  squeeze: ({ dim }) => `x.squeeze(${dim ?? ""})`,
  flatten: ({ start_dim: a, end_dim: b }) => (a === 0 && b === -1 ? "x.flatten()" : `x.flatten(${a}, ${b})`),
  unfold: ({ dim, size, step }) => `x.unfold(${dim}, ${size}, ${step})`,
  diagonal: ({ offset, dim1, dim2 }) => `x.diagonal(${offset}, ${dim1}, ${dim2})`,
  contiguous: ({ memory_format: format }) =>
    format === "channels_last" ? "x.contiguous(memory_format=torch.channels_last)" : "x.contiguous()",
  as_strided: ({ size, stride, storage_offset: offset }) => `x.as_strided(${tuple(size)}, ${tuple(stride)}, ${offset})`,
  flip: ({ dims }) => `x.flip(${variadic(dims)})`,
  channels_last: () => "x.to(memory_format=torch.channels_last)",
  t: () => "x.t()",
  mT: () => "x.mT",
};

const dimension = (name, fallback) => ({ name, kind: "dim", default: fallback });
const integer = (name, fallback) => ({ name, kind: "int", default: fallback });
const numbers = (name, kind) => ({ name, kind });

/**
 * The operations with their arguments: `kind` is "dim" (one dimension, negative from the end), "int", "shape" (sizes;
 * -1 where `infer` is set), "perm" (every dimension once), "dims" (some dimensions), "ints" or "choice" (of `choices`).
 * `default` is what torch or this model takes where the argument is left out; `optional` arguments may be null.
 */
export const OPS = [
  { name: "transpose", args: [dimension("dim0", 0), dimension("dim1", 1)], does: "swaps two dimensions: their sizes and strides trade places" },
  { name: "t", args: [], does: "swaps the two dimensions of a matrix" },
  { name: "mT", args: [], does: "swaps the last two dimensions" },
  { name: "permute", args: [numbers("dims", "perm")], does: "puts the dimensions in another order" },
  { name: "view", args: [{ ...numbers("shape", "shape"), infer: true }], does: "gives the same storage another shape, or refuses" },
  { name: "reshape", args: [{ ...numbers("shape", "shape"), infer: true }], does: "a view where one is possible, otherwise a copy" },
  { name: "flatten", args: [dimension("start_dim", 0), dimension("end_dim", -1)], does: "merges a run of dimensions into one, copying if it must" },
  { name: "narrow", args: [dimension("dim", 0), integer("start", 0), integer("length", 1)], does: "keeps a run of one dimension" },
  {
    name: "slice",
    args: [dimension("dim", 0), ...["start", "stop", "step"].map((name) => ({ ...integer(name, null), optional: true }))],
    does: "keeps every step-th entry of one dimension from start to stop",
  },
  { name: "select", args: [dimension("dim", 0), integer("index", 0)], does: "takes one entry of a dimension and drops the dimension" },
  { name: "index", args: [integer("index", 0)], does: "takes one entry of the first dimension" },
  { name: "expand", args: [{ ...numbers("shape", "shape"), infer: true }], does: "repeats size-1 dimensions without copying: their stride becomes 0" },
  { name: "unsqueeze", args: [dimension("dim", 0)], does: "adds a dimension of size 1" },
  { name: "squeeze", args: [{ ...dimension("dim", null), optional: true }], does: "drops dimensions of size 1" },
  { name: "unfold", args: [dimension("dim", 0), integer("size", 1), integer("step", 1)], does: "sliding windows over a dimension, sharing the elements they overlap in" },
  {
    name: "diagonal",
    args: [integer("offset", 0), dimension("dim1", 0), dimension("dim2", 1)],
    does: "walks two dimensions at once: its stride is the sum of theirs",
  },
  {
    name: "as_strided",
    args: [numbers("size", "shape"), numbers("stride", "ints"), integer("storage_offset", 0)],
    does: "any shape, stride and offset that stay inside the storage",
  },
  {
    name: "contiguous",
    args: [{ name: "memory_format", kind: "choice", choices: ["contiguous_format", "channels_last"], default: "contiguous_format" }],
    does: "the tensor itself if its elements already lie in order, otherwise a copy that does",
  },
  { name: "channels_last", args: [], does: "a rank-4 copy with the channels next to each other in memory" },
  { name: "flip", args: [numbers("dims", "dims")], does: "reverses dimensions; strides are never negative, so it copies" },
];

const SCHEMAS = new Map(OPS.map((op) => [op.name, op]));

/** Arguments by name, from an object or a list in the order of the schema, with the defaults filled in. */
function argumentsOf(schema, args = {}) {
  const given = Array.isArray(args) ? Object.fromEntries(args.map((value, i) => [schema.args[i].name, value])) : args;
  return Object.fromEntries(schema.args.map(({ name, default: fallback = [] }) => [name, given[name] ?? fallback]));
}

/**
 * The line of PyTorch that an operation is.
 * @param {{name: string, args: object|Array}} op
 */
export function codeOf({ name, args }) {
  return CODE[name](argumentsOf(SCHEMAS.get(name), args));
}

/**
 * Applies an operation. `copied` says whether the result has a storage of its own, `same` whether torch answers the very
 * same tensor. An error has torch's text, the Python class as `type` ("unsupported" for what only this model refuses) and,
 * for a refused `view`, the pairs of dimensions that cannot be merged.
 * @param {State} state
 * @param {{name: string, args: object|Array}} op
 * @returns {{state: State, copied: boolean, same: boolean, code: string} | {error: string, type: string, code: string, unmergeable?: number[][]}}
 */
export function apply(state, { name, args }) {
  const schema = SCHEMAS.get(name);
  if (!schema) throw new Error(`no operation is called ${name}`);
  const named = argumentsOf(schema, args);
  const code = CODE[name](named);
  try {
    const { same = false, copied, state: next } = RULES[name](state, named);
    return { state: { ...next, ops: [...state.ops, { name, args: named, code }] }, copied, same, code };
  } catch (error) {
    if (!(error instanceof TorchError)) throw error;
    return { error: error.message, type: error.type, code, ...error.extra };
  }
}

/**
 * The first state: `torch.arange` in the given shape, or the given storage seen with shape, stride and offset.
 * @param {{shape: number[], dtype?: string, storage?: number[], stride?: number[], offset?: number}} start
 * @returns {State}
 */
export function create({ shape, dtype = "float32", storage, stride, offset = 0 }) {
  const plain = !stride && offset === 0;
  const values = storage ?? Array.from({ length: plain ? product(shape) : lastIndex(shape, stride ?? contiguousStride(shape), offset) + 1 }, (_, i) => i);
  const data = storage ? `torch.tensor(${list(storage)}, dtype=torch.${dtype})` : `torch.arange(${values.length}, dtype=torch.${dtype})`;
  const strides = stride ?? contiguousStride(shape);
  const whole = plain && values.length === product(shape);
  const seen = whole ? `.reshape(${variadic(shape)})` : `.as_strided(${tuple(shape)}, ${tuple(strides)}, ${offset})`;
  return {
    shape: [...shape],
    stride: [...strides],
    offset,
    storageId: 0,
    storage: values.map((value) => cast(value, dtype)),
    dtype,
    itemsize: DTYPES[dtype][0],
    ops: [],
    origin: whole && shape.length === 1 ? data : `${data}${seen}`,
  };
}

/** The largest storage index that is reached; -1 for an empty tensor. */
function lastIndex(shape, stride, offset) {
  if (product(shape) === 0) return -1;
  return offset + shape.reduce((sum, size, d) => sum + (size - 1) * stride[d], 0);
}

/** The whole history as PyTorch code, one line an operation. */
export function script(state) {
  const lines = state.ops.map(({ name, code }) => (name === "write" ? code : `x = ${code}`));
  return [`x = ${state.origin}`, ...lines].join("\n");
}

/** Where the element with this logical index lies in the storage. */
export function index({ offset, stride }, at) {
  return at.reduce((sum, i, d) => sum + i * stride[d], offset);
}

/** Every logical index of a shape, the last dimension fastest. */
export function* indices(shape) {
  const numel = product(shape);
  for (let flat = 0; flat < numel; flat++) yield unravel(flat, shape);
}

/** The elements in logical (row-major) order, flat. */
export function values(state) {
  return Array.from(indices(state.shape), (at) => state.storage[index(state, at)]);
}

/**
 * Which logical elements share each storage element: storage index → logical indices.
 * @returns {Map<number, number[][]>}
 */
export function aliases(state) {
  const shared = new Map();
  for (const at of indices(state.shape)) {
    const place = index(state, at);
    if (!shared.has(place)) shared.set(place, []);
    shared.get(place).push(at);
  }
  return shared;
}

/** Elements × bytes of one, as `Tensor.nbytes`: what a copy of the view would take. */
export const bytes = (state) => product(state.shape) * state.itemsize;

/** The bytes of the storage behind the view, as `Tensor.untyped_storage().nbytes()`. */
export const storageBytes = (state) => state.storage.length * state.itemsize;

/** A number as the type stores it: rounded to its precision, or cut to its integer range. */
function cast(value, dtype) {
  if (dtype === "float64") return value;
  if (dtype === "float32") return Math.fround(value);
  if (dtype === "float16") return roundTo(Math.fround(value), 10, -14, 65504);
  if (dtype === "bfloat16") return roundTo(Math.fround(value), 7, -126, (2 - 2 ** -7) * 2 ** 127);
  const whole = Math.trunc(value) + 0; // no -0
  if (dtype === "int64") return whole;
  const bits = 8 * DTYPES[dtype][0];
  const low = BigInt.asUintN(bits, BigInt(Number.isFinite(whole) ? whole : 0));
  return Number(dtype === "uint8" ? low : BigInt.asIntN(bits, low));
}

/** Rounds half to even to a float with that many bits after the leading one. */
function roundTo(value, bits, minExponent, largest) {
  if (!Number.isFinite(value) || value === 0) return value;
  const exponent = Math.max(Math.floor(Math.log2(Math.abs(value))), minExponent);
  const quantum = 2 ** (exponent - bits);
  const scaled = value / quantum;
  const down = Math.floor(scaled);
  const tie = scaled - down === 0.5;
  const rounded = (tie ? down + (Math.abs(down) % 2) : Math.round(scaled)) * quantum;
  return Math.abs(rounded) > largest ? Math.sign(rounded) * Infinity : rounded;
}

/** Is the number a Python int where it is written as one, and not a float? */
const isInt = (value) => Number.isInteger(value) && Math.abs(value) < 1e21 && !Object.is(value, -0);

/** As Python writes it. */
function literal(value) {
  if (isInt(value)) return String(BigInt(value));
  if (Object.is(value, -0)) return "-0.0";
  return Number.isFinite(value) ? String(value) : `float("${String(value).replace("Infinity", "inf")}")`;
}

/** What torch refuses to write into an element of that type. From an int, uint8 takes −255 to −1 as 1 to 255. */
function checkFits(value, dtype) {
  const [size, , name] = DTYPES[dtype];
  const int = isInt(value);
  check(!int || (-(2 ** 63) <= value && value < 2 ** 63), "ValueError", "Overflow when unpacking long long");
  if (!name) return;
  let fits;
  if (dtype === "float32") fits = !Number.isFinite(value) || Math.abs(value) <= (2 - 2 ** -23) * 2 ** 127;
  else if (dtype === "uint8") fits = (int ? -255 : 0) <= value && value < 256;
  else fits = -(2 ** (8 * size - 1)) <= value && value < 2 ** (8 * size - 1);
  check(fits, "RuntimeError", `value cannot be converted to type ${name} without overflow`);
}

/**
 * Writes one element: `x[i, j] = value`. `changed` are all logical indices that now read the new value. An error has
 * torch's text and the Python class as `type`.
 * @param {State} state
 * @param {number[]} at
 * @param {number} value
 * @returns {{state: State, changed: number[][], code: string} | {error: string, type: string, code: string}}
 */
export function write(state, at, value) {
  const code = `x[${at.length ? at.join(", ") : "()"}] = ${literal(value)}`;
  try {
    checkFits(value, state.dtype);
  } catch (error) {
    if (!(error instanceof TorchError)) throw error;
    return { error: error.message, type: error.type, code };
  }
  const place = index(state, at);
  const storage = changed(state.storage, place, cast(value, state.dtype));
  const ops = [...state.ops, { name: "write", args: { index: [...at], value }, code }];
  return { state: { ...state, storage, ops }, changed: aliases(state).get(place), code };
}

/**
 * The values that one number of `as_strided` may take while the others stay, so that the view never leaves the storage:
 * `legalRange(state, "offset")`, `legalRange(state, 1, "size")`, `legalRange(state, 1, "stride")`. Where torch sets no
 * limit (a stride that no step uses, a size with stride 0, an empty view) the upper end is the length of the storage.
 * @param {{shape: number[], stride: number[], offset: number, storage: number[]}} state
 * @param {number|"offset"} dim
 * @param {"stride"|"size"} [what]
 * @returns {[number, number]}
 */
export function legalRange({ shape, stride, offset, storage }, dim, what = "stride") {
  const last = storage.length - 1;
  const now = dim === "offset" ? offset : what === "size" ? shape[dim] : stride[dim];
  const free = [0, Math.max(storage.length, now)];
  if (dim === "offset") {
    return product(shape) === 0 ? free : [0, last - lastIndex(shape, stride, 0)];
  }
  const others = without(shape, dim);
  if (product(others) === 0) return free;
  const room = last - lastIndex(others, without(stride, dim), offset);
  if (what === "size") {
    if (room < 0) return [0, 0];
    return stride[dim] === 0 ? free : [0, Math.floor(room / stride[dim]) + 1];
  }
  return shape[dim] <= 1 ? free : [0, Math.floor(room / (shape[dim] - 1))];
}

/**
 * Walks all elements, the last dimension fastest ("row") or the first ("column"), and counts the cache lines loaded. The
 * storage starts at the start of a line. The cache keeps the `kept` lines used last: with 1, a load is counted whenever
 * the walk steps into another line than the one before.
 * @param {State} state
 * @param {"row"|"column"} order
 * @param {number} [lineBytes]
 * @param {number} [kept]
 * @returns {{order: number[], lines: number[], loads: boolean[], touched: number, distinct: number}} `order` are storage
 *   indices, `lines` the line of each, `loads` whether it had to be loaded
 */
export function cacheLines(state, order, lineBytes = 64, kept = 1) {
  const { shape } = state;
  const reversed = [...shape].reverse();
  const walk = order === "column" ? Array.from(indices(reversed), (at) => at.reverse()) : Array.from(indices(shape));
  const visited = walk.map((at) => index(state, at));
  const lines = visited.map((place) => Math.floor((place * state.itemsize) / lineBytes));
  const cache = [];
  const loads = lines.map((line) => {
    const at = cache.indexOf(line);
    if (at >= 0) cache.splice(at, 1);
    cache.unshift(line);
    cache.length = Math.min(cache.length, kept);
    return at < 0;
  });
  return { order: visited, lines, loads, touched: loads.filter(Boolean).length, distinct: new Set(lines).size };
}

/**
 * Arguments to start a form with: allowed by torch wherever the operation allows any.
 * @param {State} state
 * @param {string} name
 */
export function suggest(state, name) {
  const { shape, stride, offset } = state;
  const rank = shape.length;
  const long = Math.max(shape.findIndex((size) => size > 1), 0);
  const given = {
    transpose: { dim0: 0, dim1: rank > 1 ? 1 : 0 },
    permute: { dims: shape.map((_, d) => rank - 1 - d) },
    view: { shape: computeStride(state, [product(shape)]) ? [-1] : shape },
    reshape: { shape: [-1] },
    narrow: { dim: long, start: shape[long] > 1 ? 1 : 0, length: Math.max((shape[long] ?? 0) - 1, 0) },
    slice: { dim: long, start: null, stop: null, step: 2 },
    select: { dim: Math.max(shape.findIndex((size) => size > 0), 0), index: 0 },
    expand: { shape: rank ? shape.map((size) => (size === 1 ? 3 : -1)) : [3] },
    unfold: { dim: long, size: Math.min(2, rank ? shape[long] : 1), step: 1 },
    as_strided: { size: [...shape], stride: [...stride], storage_offset: offset },
    flip: { dims: rank ? [rank - 1] : [] },
  }[name];
  return argumentsOf(SCHEMAS.get(name), given);
}
