def gpt(layers: int, width: int, vocab_size: int, context: int, tied: bool = True) -> int:
    """Count the parameters of a GPT-2: learned positions, biases everywhere but in the head, a final norm."""
    ### BEGIN SOLUTION
    block = 12 * width**2 + 13 * width
    tables = (vocab_size + context) * width
    head = 0 if tied else vocab_size * width
    return layers * block + tables + 2 * width + head
    ### END SOLUTION


def llama(layers: int, width: int, heads: int, kv_heads: int, hidden: int, vocab_size: int, tied: bool = False) -> int:
    """Count the parameters of a Llama: no biases, RMSNorm, SwiGLU, rotary positions, grouped keys and values."""
    ### BEGIN SOLUTION
    shared = width // heads * kv_heads
    attention = 2 * width * width + 2 * width * shared
    block = attention + 3 * width * hidden + 2 * width
    return layers * block + width + vocab_size * width * (1 if tied else 2)
    ### END SOLUTION


def blocks_for(total: int, width: int) -> int:
    """Return how many GPT-2 blocks of this width come closest to `total` parameters; at least 1."""
    ### BEGIN SOLUTION
    return max(1, round(total / (12 * width**2 + 13 * width)))
    ### END SOLUTION
