import gc
import weakref
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


def alive(step: Callable[[], Any], steps: int) -> list[tuple[int, int]]:
    """After each call of `step`, number and bytes of the storages that the calls made and that are still there."""
    ### BEGIN SOLUTION
    made: dict[int, weakref.ref] = {}

    def storages(values: Any) -> list[torch.UntypedStorage]:
        return [leaf.untyped_storage() for leaf in tree_leaves(values) if isinstance(leaf, torch.Tensor)]

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
            operands = {id(storage) for storage in storages((args, kwargs or {}))}
            out = func(*args, **(kwargs or {}))
            for storage in storages(out):
                if id(storage) not in operands:
                    made[id(storage)] = weakref.ref(storage)
            return out

    found = []
    for _ in range(steps):
        with Watch():
            step()
        gc.collect()
        left = [storage for ref in made.values() if (storage := ref()) is not None]
        found.append((len(left), sum(storage.nbytes() for storage in left)))
        del left
    return found
    ### END SOLUTION


def judge(series: list[tuple[int, int]]) -> str:
    """ "leak", "cache", "lengths" or "steady"."""
    ### BEGIN SOLUTION
    quarter = len(series) // 4
    floors = [min(number for number, _ in series[i * quarter : (i + 1) * quarter]) for i in range(4)]
    if floors[1] < floors[2] < floors[3]:
        return "leak"
    if floors[0] < floors[2] == floors[3]:
        return "cache"
    half = len(series) // 2
    sizes = {size for _, size in series[half:]}
    return "lengths" if len(sizes) > 1 else "steady"
    ### END SOLUTION


def holder(step: Callable[[], Any], steps: int = 12) -> str | None:
    """What holds the tensors that the steps leave: the type of a container, "graph", or None."""
    ### BEGIN SOLUTION
    kept = _tensors()  # until the end, so that no identity is used again
    before, nodes = {id(one) for one in kept}, _nodes(kept)
    for _ in range(steps):
        step()
    gc.collect()
    left = [one for one in _tensors() if id(one) not in before]
    identities = {id(one) for one in left}
    counts: Counter = Counter()
    for container in gc.get_referrers(*left) if left else []:
        if container is not left:
            counts[type(container).__name__, id(container)] = len(
                identities & {id(one) for one in gc.get_referents(container)}
            )
    for (name, _), count in counts.most_common(1):
        if 2 * count >= steps:
            return name
    return "graph" if _nodes(_tensors()) - nodes >= steps else None


def _tensors() -> list[torch.Tensor]:
    """All tensors that the collector knows."""
    return [one for one in gc.get_objects() if issubclass(type(one), torch.Tensor)]


def _nodes(tensors: list[torch.Tensor]) -> int:
    """How many nodes the graphs of the tensors have."""
    seen: set[Any] = set()
    stack = [tensor.grad_fn for tensor in tensors]
    while stack:
        node = stack.pop()
        if node is not None and node not in seen:
            seen.add(node)
            stack += [other for other, _ in node.next_functions]
    return len(seen)
    ### END SOLUTION


class Leaky:
    """Trains a model on series of any length. Its numbers are right, and it holds on to what it should let go."""

    def __init__(self, model: nn.Module, lr: float) -> None:
        self.model, self.lr = model, lr
        self.total, self.steps = 0.0, 0
        self.history, self.norms, self.tables = [], [], {}

    def table(self, length: int) -> torch.Tensor:
        """Weights of the times, made once for each length."""
        if length not in self.tables:
            self.tables[length] = torch.linspace(0.5, 1.5, length)
        return self.tables[length]

    def loss(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """The loss on series x (B, T) and targets y (B, 1)."""
        return F.mse_loss(self.model((x * self.table(x.shape[1])).mean(1, keepdim=True)), y)

    def step(self, x: torch.Tensor, y: torch.Tensor) -> float:
        """One update; the loss."""
        loss = self.loss(x, y)
        self.model.zero_grad()
        loss.backward()
        with torch.no_grad():
            for p in self.model.parameters():
                p -= self.lr * p.grad
        self.total += loss
        self.steps += 1
        self.history.append(loss)
        return loss

    def mean(self) -> float:
        """The mean of the losses so far."""
        return self.total / self.steps

    def evaluate(self, batches: Iterable[tuple[torch.Tensor, torch.Tensor]]) -> float:
        """The mean of the losses; `norms` gets the norm of the model's output on each batch."""
        self.model.register_forward_hook(lambda module, args, output: self.norms.append(output.norm()))
        self.last = torch.stack([self.loss(x, y) for x, y in batches])
        return self.last.mean()


class Trainer(Leaky):
    """The same, and nothing stays behind."""

    def __init__(self, model: nn.Module, lr: float) -> None:
        ### BEGIN SOLUTION
        super().__init__(model, lr)
        ### END SOLUTION

    def step(self, x: torch.Tensor, y: torch.Tensor) -> float:
        """One update; the loss."""
        ### BEGIN SOLUTION
        loss = self.loss(x, y)
        self.model.zero_grad()
        loss.backward()
        with torch.no_grad():
            for p in self.model.parameters():
                p -= self.lr * p.grad
        value = loss.item()
        self.total += value
        self.steps += 1
        self.history.append(value)
        return value
        ### END SOLUTION

    def evaluate(self, batches: Iterable[tuple[torch.Tensor, torch.Tensor]]) -> float:
        """The mean of the losses; `norms` gets the norm of the model's output on each batch."""
        ### BEGIN SOLUTION
        handle = self.model.register_forward_hook(lambda module, args, output: self.norms.append(output.norm().item()))
        try:
            with torch.no_grad():
                losses = [self.loss(x, y).item() for x, y in batches]
        finally:
            handle.remove()
        return sum(losses) / len(losses)
        ### END SOLUTION


def sites(snapshot: dict[str, Any]) -> dict[str, int]:
    """Live bytes of a snapshot of the CUDA allocator, by the line that asked for them."""
    ### BEGIN SOLUTION
    found: Counter = Counter()
    for segment in snapshot["segments"]:
        for block in segment["blocks"]:
            if block["state"] == "active_allocated":
                found[_site(block.get("frames", []))] += block["size"]
    return dict(found)


def _site(frames: list[dict[str, Any]]) -> str:
    for frame in frames:
        if frame["filename"].endswith(".py") and "/torch/" not in frame["filename"]:
            return f"{frame['filename']}:{frame['line']}"
    return "unknown"
    ### END SOLUTION


def suspect(before: dict[str, Any], after: dict[str, Any]) -> str | None:
    """The line whose live bytes have grown most from one snapshot to the other."""
    ### BEGIN SOLUTION
    old = sites(before)
    growth = {site: size - old.get(site, 0) for site, size in sites(after).items()}
    site = max(growth, key=growth.__getitem__, default=None)
    return site if site is not None and growth[site] > 0 else None
    ### END SOLUTION
