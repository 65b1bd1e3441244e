import math
from typing import NamedTuple


class Shape(NamedTuple):
    """The numbers of a config.json."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    ffn: int
    vocab: int


LLAMA = {
    "7b": Shape(32, 4096, 32, 32, 11008, 32_000),
    "13b": Shape(40, 5120, 40, 40, 13824, 32_000),
    "70b": Shape(80, 8192, 64, 8, 28672, 32_000),
}
METHODS = ("full", "lora", "qlora", "serve16", "serve8", "serve4")
### BEGIN SOLUTION


def _sizes(shape: Shape) -> list[tuple[int, int]]:
    """Outputs and inputs of each matrix of a block."""
    narrow = shape.kv_heads * (shape.hidden // shape.heads)
    square = (shape.hidden, shape.hidden)
    keys = (narrow, shape.hidden)
    inner = (shape.ffn, shape.hidden)
    return [square, keys, keys, square, inner, inner, inner[::-1]]


### END SOLUTION


def parameters(shape: Shape) -> tuple[int, int]:
    """Parameters in matrices of the blocks, and all others."""
    ### BEGIN SOLUTION
    matrices = shape.layers * sum(rows * columns for rows, columns in _sizes(shape))
    others = (2 * shape.layers + 1) * shape.hidden + 2 * shape.vocab * shape.hidden
    return matrices, others
    ### END SOLUTION


def state_bytes(shape: Shape, method: str, rank: int = 16) -> float:
    """Bytes of weights, gradients and optimizer on all GPUs together."""
    ### BEGIN SOLUTION
    matrices, others = parameters(shape)
    adapters = shape.layers * rank * sum(rows + columns for rows, columns in _sizes(shape))
    outputs = shape.layers * sum(rows for rows, _ in _sizes(shape))
    nibbles = matrices / 2 + 4 * matrices / 64 + 2 * others
    return {
        "full": 16 * (matrices + others),
        "lora": 2 * (matrices + others) + 16 * adapters,
        "qlora": nibbles + 16 * adapters,
        "serve16": 2 * (matrices + others),
        "serve8": matrices + 4 * outputs + 2 * others,
        "serve4": nibbles,
    }[method]
    ### END SOLUTION


def token_bytes(shape: Shape, method: str, tokens: int) -> float:
    """Bytes that tokens add: saved for the backward, or cached."""
    ### BEGIN SOLUTION
    if method.startswith("serve"):
        narrow = shape.kv_heads * (shape.hidden // shape.heads)
        return 2 * 2 * shape.layers * narrow * tokens
    return tokens * (2 * shape.layers * shape.hidden + 2 * 4 * shape.vocab)
    ### END SOLUTION


def gpus_needed(shape: Shape, method: str, memory: float, tokens: int, room: float = 0.9) -> int:
    """The smallest number of GPUs with `memory` bytes each."""
    ### BEGIN SOLUTION
    divided, whole = state_bytes(shape, method), token_bytes(shape, method, tokens)
    if method.startswith("serve"):
        divided, whole = divided + whole, 0
    left = room * memory - whole
    if left <= 0:
        raise ValueError("the tokens of one GPU fill it, however many there are")
    return max(1, math.ceil(divided / left))
    ### END SOLUTION
