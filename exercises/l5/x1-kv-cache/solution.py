import torch

from torchbook.llm import GPT, Config


class KVCache:
    """Keys and values of one sequence, in memory that is reserved once."""

    def __init__(self, config: Config, capacity: int) -> None:
        ### BEGIN SOLUTION
        self.layers, self.capacity, self.length = config.layers, capacity, 0
        self._memory = torch.zeros(2, config.layers, 1, config.key_heads, capacity, config.head_dim)
        ### END SOLUTION

    def update(self, layer: int, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Store the new keys and values of a layer, and return all of them, as views."""
        ### BEGIN SOLUTION
        stop = self.length + k.shape[2]
        if stop > self.capacity:
            raise ValueError(f"{stop} positions, but there is room for {self.capacity}")
        keys, values = self._memory[:, layer]
        keys[:, :, self.length : stop] = k
        values[:, :, self.length : stop] = v
        if layer == self.layers - 1:
            self.length = stop
        return keys[:, :, :stop], values[:, :, :stop]
        ### END SOLUTION

    def rewind(self, length: int) -> None:
        """Forget all positions from `length` on."""
        ### BEGIN SOLUTION
        if not 0 <= length <= self.length:
            raise ValueError(f"cannot go back to {length} from {self.length}")
        self.length = length
        ### END SOLUTION

    @property
    def nbytes(self) -> int:
        """The number of reserved bytes."""
        ### BEGIN SOLUTION
        return self._memory.nbytes
        ### END SOLUTION


@torch.inference_mode()
def generate(model: GPT, ids: torch.Tensor, new: int, cache: KVCache) -> torch.Tensor:
    """Continue (1, T) greedily by `new` tokens."""
    ### BEGIN SOLUTION
    for _ in range(new):
        cache.rewind(min(cache.length, ids.shape[1] - 1))
        best = model(ids[:, cache.length :], cache=cache)[:, -1].argmax(-1)
        ids = torch.cat([ids, best[:, None]], dim=1)
    return ids
    ### END SOLUTION
