# test_memory_is_reserved_once: appends to what is there, so that every step copies the whole past
import torch

from torchbook.llm import GPT, Config


class KVCache:
    """Keys and values of one sequence, in memory that is reserved once."""

    def __init__(self, config: Config, capacity: int) -> None:
        self.layers, self.capacity, self.length = config.layers, capacity, 0
        self._memory = [None] * config.layers

    def update(self, layer: int, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Keep the new keys and values of a layer; give back all of them, as views."""
        stop = self.length + k.shape[2]
        joined = torch.stack((k, v))
        if self.length:
            joined = torch.cat((self._memory[layer][:, :, :, : self.length], joined), 3)
        self._memory[layer] = joined
        keys, values = joined
        if layer == self.layers - 1:
            self.length = stop
        return keys[:, :, :stop], values[:, :, :stop]

    def rewind(self, length: int) -> None:
        """Forget all positions from `length` on."""
        if not 0 <= length <= self.length:
            raise ValueError(f"cannot go back to {length} from {self.length}")
        self.length = length

    @property
    def nbytes(self) -> int:
        """Bytes that are reserved."""
        return sum(each.nbytes for each in self._memory if each is not None)


@torch.inference_mode()
def generate(model: GPT, ids: torch.Tensor, new: int, cache: KVCache) -> torch.Tensor:
    """Continue (1, T) greedily by `new` tokens."""
    for _ in range(new):
        cache.rewind(min(cache.length, ids.shape[1] - 1))
        best = model(ids[:, cache.length :], cache=cache)[:, -1].argmax(-1)
        ids = torch.cat([ids, best[:, None]], dim=1)
    return ids
