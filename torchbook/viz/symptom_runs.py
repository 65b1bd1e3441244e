"""Small runs that are ill and the same runs cured, as SymptomFinder draws them: each is trained, and each can be again.

`write()` records them all into `src/symptoms/runs.json`. Where nothing was run but a plan was drawn (lanes of
processes, a speed by formula), the run says that it is a sketch.
"""

from __future__ import annotations

import copy
import json
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

FILE = Path(__file__).parent / "src/symptoms/runs.json"
POINTS = 48  # of each curve
CLASSES, WIDE, BATCH = 10, 16, 64
CHANCE = torch.log(torch.tensor(float(CLASSES))).item()

Curve = list[float | None]  # None is nan
Span = tuple[float, float]


@dataclass(frozen=True)
class Run:
    """What is seen of a run, ill and cured.

    Attributes:
        x, y: what the axes are.
        names: of the curves, or of the lanes.
        sick, cured: for each name its values, or as lanes the spans in which it works.
        waits: as lanes, the spans in which it waits, ill and cured.
        level: a dashed line: its height, and what it is.
        bars: is each value a bar?
        sketch: was it drawn, not run?
    """

    x: str
    y: str
    names: tuple[str, ...]
    sick: list[Any]
    cured: list[Any]
    waits: list[list[list[Span]]] = field(default_factory=list)
    level: tuple[float, str] | None = None
    bars: bool = False
    sketch: bool = False


# Data and model


def blobs(count: int, seed: int, spread: float = 1.0) -> tuple[Tensor, Tensor]:
    """Points of ten classes, and their classes."""
    centres = torch.randn(CLASSES, WIDE, generator=torch.Generator().manual_seed(7)) * 1.2
    draw = torch.Generator().manual_seed(seed)
    y = torch.randint(CLASSES, (count,), generator=draw)
    return centres[y] + spread * torch.randn(count, WIDE, generator=draw), y


def network(out: int = CLASSES, wide: int = 64, *, norm: bool = False, drop: float = 0.0) -> nn.Sequential:
    torch.manual_seed(1)
    middle = [nn.BatchNorm1d(wide)] if norm else []
    return nn.Sequential(nn.Linear(WIDE, wide), *middle, nn.ReLU(), nn.Dropout(drop), nn.Linear(wide, out))


def batches(x: Tensor, y: Tensor, steps: int = POINTS, seed: int = 3, *, shuffle: bool = True) -> Iterator[Any]:
    draw = torch.Generator().manual_seed(seed)
    for step in range(steps):
        rows = torch.randint(len(x), (BATCH,), generator=draw) if shuffle else torch.arange(BATCH) + step * BATCH
        yield x[rows % len(x)], y[rows % len(x)]


def descend(model: nn.Module, data: Iterator[Any], loss_of: Callable[..., Tensor] = F.cross_entropy, *,
            lr: float = 0.1, optimizer: Any = None, after: Callable[[], Any] = lambda: None) -> Curve:  # fmt: skip
    """The loss of each step."""
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=lr)
    seen: Curve = []
    for x, y in data:
        optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        after()
        seen.append(loss.item())
    return seen


def losses(sick: Curve, cured: Curve, *, y: str = "loss", level: tuple[float, str] | None = None) -> Run:
    return Run("step", y, (y,), [sick], [cured], level=level)


GUESS = (CHANCE, "ln 10, a guess")
DATA, CROWDED = blobs(4000, 5), blobs(4000, 5, 1.6)


# The loss never falls


def lr_small() -> Run:
    sick, cured = (descend(network(), batches(*DATA), lr=lr) for lr in (1e-4, 0.1))
    return losses(sick, cured, level=GUESS)


def loss_flat() -> Run:
    """The optimizer holds the parameters of a model that was copied since."""
    model = network()
    other = torch.optim.SGD(copy.deepcopy(model).parameters(), lr=0.1)
    sick = descend(model, batches(*DATA), optimizer=other)
    return losses(sick, descend(network(), batches(*DATA)), level=GUESS)


def labels_mixed() -> Run:
    x, y = DATA
    mixed = y[torch.randperm(len(y), generator=torch.Generator().manual_seed(2))]
    sick, cured = (descend(network(), batches(x, labels)) for labels in (mixed, y))
    return losses(sick, cured, level=GUESS)


# The loss zigzags


def lr_high() -> Run:
    sick, cured = (descend(network(), batches(*CROWDED), lr=lr) for lr in (2.0, 0.1))
    return losses(sick, cured)


def loss_scale() -> Run:
    """The sum over a batch has a gradient as many times as large; what is drawn is the loss of an example."""

    def summed(out: Tensor, y: Tensor) -> Tensor:
        return F.cross_entropy(out, y, reduction="sum")

    sick = [loss / BATCH for loss in descend(network(), batches(*CROWDED), summed, lr=0.03) if loss is not None]
    return losses(list(sick), descend(network(), batches(*CROWDED), lr=0.03), y="loss of an example")


def not_shuffled() -> Run:
    x, y = DATA
    order = y.argsort(stable=True)
    x, y = x[order], y[order]
    sick, cured = (descend(network(), batches(x, y, shuffle=shuffle), lr=0.2) for shuffle in (False, True))
    return losses(sick, cured)


# The loss is nan


def loss_nan() -> Run:
    """0 · log 0: the logarithm of 1 − p, once a model is so sure that p is 1."""

    def by_hand(out: Tensor, y: Tensor) -> Tensor:
        p, one = out.sigmoid(), F.one_hot(y, CLASSES)
        return -(one * p.log() + (1 - one) * (1 - p).log()).sum(-1).mean()

    def kept_apart(out: Tensor, y: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(out, F.one_hot(y, CLASSES).float(), reduction="sum") / len(y)

    x, y = blobs(4000, 5, 0.7)
    many = 6 * POINTS
    sick, cured = (descend(network(), batches(4 * x, y, many), loss, lr=0.2) for loss in (by_hand, kept_apart))
    return losses(sick[5::6], cured[5::6])


def gradient_nan() -> Run:
    """The derivative of a square root at 0: a distance of two that are the same."""

    def training(eps: float) -> Curve:
        def far(out: Tensor, y: Tensor) -> Tensor:
            a, b = out.chunk(2)
            distance = ((a - b).square().sum(-1) + eps).sqrt()
            same = (y.chunk(2)[0] == y.chunk(2)[1]).float()
            return (same * distance + (1 - same) * F.relu(3 - distance)).mean()

        data = list(batches(*DATA))
        x, y = (part.clone() for part in data[29])
        x[BATCH // 2], y[BATCH // 2] = x[0], y[0]
        data[29] = x, y
        return descend(network(8), iter(data), far, lr=0.1)

    return losses(training(0.0), training(1e-8), y="loss of pairs")


def nan_fp16() -> Run:
    """exp ends at 65504 in float16: a softmax by hand, of logits that pass 11."""

    def by_hand(dtype: torch.dtype) -> Callable[..., Tensor]:
        def loss(out: Tensor, y: Tensor) -> Tensor:
            each = out.to(dtype).exp()
            p = (each / each.sum(-1, keepdim=True)).float()
            return -p.gather(1, y[:, None]).clamp(min=1e-6).log().mean()

        return loss

    sick, cured = (descend(network(), batches(*DATA), by_hand(d), lr=0.5) for d in (torch.float16, torch.bfloat16))
    return losses(sick, cured)


def nan_late() -> Run:
    """One sample has no value, and its batch comes late."""

    def training(*, cleaned: bool) -> Curve:
        x, y = DATA[0].clone(), DATA[1]
        data = list(batches(x, y))
        data[38][0][5, 3] = float("nan")
        kept = [(a[a.isfinite().all(-1)], b[a.isfinite().all(-1)]) for a, b in data] if cleaned else data
        return descend(network(), iter(kept))

    return losses(training(cleaned=False), training(cleaned=True))


# It stops halfway


def mediocre() -> Run:
    """(N, 1) against (N,) is (N, N): the mean of all targets is learned."""
    x, _ = DATA
    y = torch.sin(x[:, 0]) + x[:, 1]

    def broadcast(out: Tensor, y: Tensor) -> Tensor:
        return (out - y).square().mean()

    def paired(out: Tensor, y: Tensor) -> Tensor:
        return (out[:, 0] - y).square().mean()

    sick, cured = (descend(network(1), batches(x, y + 2), loss, lr=0.02) for loss in (broadcast, paired))
    return losses(sick, cured, level=(y.var().item(), "variance of the targets"))


def softmax_twice() -> Run:
    def twice(out: Tensor, y: Tensor) -> Tensor:
        return F.cross_entropy(out.softmax(-1), y)

    least = torch.log(torch.tensor(torch.e + CLASSES - 1)).item() - 1
    sick, cured = (descend(network(), batches(*DATA), loss, lr=1.0) for loss in (twice, F.cross_entropy))
    return losses(sick, cured, level=(least, "least loss of two softmaxes"))


def schedule_fast() -> Run:
    def training(every: int) -> Curve:
        model = network()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.15)
        schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.8)
        count = iter(range(1, 1000))

        def step() -> None:
            if next(count) % every == 0:
                schedule.step()

        return descend(model, batches(*DATA), optimizer=optimizer, after=step)

    return losses(training(1), training(16))


# Train and validation


def _both(train: tuple[Tensor, Tensor], valid: tuple[Tensor, Tensor], *, decay: float = 0.0, drop: float = 0.0,
          evaluated: bool = True, epochs: int = POINTS, every: int = 4) -> tuple[Curve, Curve]:  # fmt: skip
    """Loss of training and validation after each epoch; `evaluated`: is that of training without dropout?"""
    model = network(wide=256, drop=drop)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=decay)
    seen: tuple[Curve, Curve] = ([], [])
    for epoch in range(epochs):
        model.train()
        descend(model, batches(*train, steps=every, seed=epoch), optimizer=optimizer)
        with torch.no_grad():
            model.train(not evaluated)
            seen[0].append(F.cross_entropy(model(train[0]), train[1]).item())
            model.eval()
            seen[1].append(F.cross_entropy(model(valid[0]), valid[1]).item())
    return seen


BOTH = ("training", "validation")


def overfit_small() -> Run:
    valid = blobs(1000, 9, 2.2)
    sick, cured = (_both(blobs(count, 8, 2.2), valid) for count in (80, 4000))
    return Run("epoch", "loss", BOTH, [*sick], [*cured])


def overfit_long() -> Run:
    """From the lowest validation loss on, nothing more is trained."""
    sick = _both(blobs(160, 8, 2.2), blobs(1000, 9, 2.2))
    best = min(range(POINTS), key=lambda epoch: sick[1][epoch] or 0.0)
    return Run("epoch", "loss", BOTH, [*sick], [[*c[: best + 1], *[c[best]] * (POINTS - best - 1)] for c in sick])


def validation_too_good() -> Run:
    """All examples of the validation, with their wrong labels too, are in the training set."""
    x, y = blobs(240, 8, 1.6)
    draw = torch.Generator().manual_seed(4)
    y = torch.where(torch.rand(len(y), generator=draw) < 0.15, torch.randint(CLASSES, y.shape, generator=draw), y)
    train, other = (x[:160], y[:160]), (x[160:], y[160:])
    leaked = x[:80], y[:80]
    sick, cured = (_both(train, valid, every=2, epochs=POINTS // 2) for valid in (leaked, other))
    stretch = lambda c: [value for value in c for _ in (0, 1)]  # noqa: E731
    return Run("epoch", "loss", BOTH, [*map(stretch, sick)], [*map(stretch, cured)])


def dropout_gap() -> Run:
    """Training is measured with dropout, validation without it."""
    train, valid = blobs(2000, 8, 1.6), blobs(1000, 9, 1.6)
    sick, cured = (_both(train, valid, drop=0.75, evaluated=evaluated, every=2) for evaluated in (False, True))
    return Run("epoch", "loss", BOTH, [*sick], [*cured])


# The loss falls, the accuracy does not rise


def _accuracy(valid: Callable[[], Iterator[tuple[Tensor, Tensor]]], *, norm: bool = False, evaluating: bool = True,
              ) -> tuple[Curve, Curve]:  # fmt: skip
    """Loss in training as a share of the first, and accuracy on validation, after each step."""
    model = network(norm=norm)
    accuracies: Curve = []

    def look() -> None:
        held = copy.deepcopy(model).train(not evaluating)
        with torch.no_grad():
            right = torch.cat([held(x).argmax(-1) == y for x, y in valid()])
        accuracies.append(right.float().mean().item())

    loss = descend(model, batches(*DATA), lr=0.2, after=look)
    return [one / (loss[0] or 1.0) for one in loss if one is not None], accuracies


def _at_chance(sick: tuple[Curve, Curve], cured: tuple[Curve, Curve]) -> Run:
    return Run("step", "share", ("training loss", "accuracy"), [*sick], [*cured], level=(1 / CLASSES, "chance"))


def class_numbers() -> Run:
    """Validation counts its classes in another order."""
    x, y = blobs(1000, 9)
    other = torch.randperm(CLASSES, generator=torch.Generator().manual_seed(12))
    return _at_chance(_accuracy(lambda: iter([(x, other[y])])), _accuracy(lambda: iter([(x, y)])))


def not_normalised() -> Run:
    """What training subtracts, validation does not."""
    x, y = blobs(1000, 9)
    far = torch.randn(WIDE, generator=torch.Generator().manual_seed(5)) * 12
    return _at_chance(_accuracy(lambda: iter([(x + far, y)])), _accuracy(lambda: iter([(x, y)])))


def eval_forgotten() -> Run:
    """Batch normalisation over batches of one class each, and without `eval()`."""
    x, y = blobs(1000, 9)

    def by_class() -> Iterator[tuple[Tensor, Tensor]]:
        return ((x[y == one], y[y == one]) for one in range(CLASSES))

    sick, cured = (_accuracy(by_class, norm=True, evaluating=evaluating) for evaluating in (False, True))
    return _at_chance(sick, cured)


# Two runs part


def _apart(first: Curve, sick: Curve, cured: Curve) -> Run:
    return Run("step", "loss", ("first run", "second run"), [first, sick], [first, cured])


def runs_differ() -> Run:
    """The order of the data has a generator that nobody seeds."""
    first, sick, cured = (descend(network(), batches(*CROWDED, seed=seed), lr=0.8) for seed in (3, 4, 3))
    return _apart(first, sick, cured)


def resume_differs() -> Run:
    """At half the way the state of the optimizer is not loaded."""

    def training(*, saved: bool) -> Curve:
        model, data = network(), list(batches(*DATA))
        make = lambda: torch.optim.SGD(model.parameters(), lr=0.006, momentum=0.97)  # noqa: E731
        optimizer = make()
        half = POINTS // 2
        before = descend(model, iter(data[:half]), optimizer=optimizer)
        state = optimizer.state_dict()
        optimizer = make()
        if saved:
            optimizer.load_state_dict(state)
        return before + descend(model, iter(data[half:]), optimizer=optimizer)

    return _apart(training(saved=True), training(saved=False), training(saved=True))


def rounding() -> Run:
    """The same batches, each in another order: equal but for rounding, and a large step makes that visible."""

    def training(dtype: torch.dtype, *, turned: bool) -> Curve:
        data = [(x.flip(0), y.flip(0)) if turned else (x, y) for x, y in batches(*CROWDED, steps=5 * POINTS)]
        return descend(network().to(dtype), iter([(x.to(dtype), y) for x, y in data]), lr=2.0)[::5]

    first, sick = (training(torch.float32, turned=turned) for turned in (False, True))
    return _apart(first, sick, first)


# Memory


class Held:
    """Bytes that graphs hold of what they saved."""

    def __init__(self) -> None:
        self.bytes = 0

    @contextmanager
    def counting(self) -> Iterator[None]:
        def pack(tensor: Tensor) -> _Saved:
            return _Saved(tensor, self)

        with torch.autograd.graph.saved_tensors_hooks(pack, lambda saved: saved.tensor):
            yield


class _Saved:
    def __init__(self, tensor: Tensor, of: Held) -> None:
        self.tensor, self.of = tensor.detach(), of  # an output that held its own node would never die
        of.bytes += tensor.nbytes

    def __del__(self) -> None:
        self.of.bytes -= self.tensor.nbytes


def _held(step: Callable[[nn.Module, Tensor, Tensor, list[Any]], Any]) -> Curve:
    """Megabytes that are held after each step."""
    held, model, kept = Held(), network(), []  # type: ignore[var-annotated]
    seen: Curve = []
    with held.counting():
        for x, y in batches(*DATA):
            step(model, x, y, kept)
            seen.append(held.bytes / 1e6)
    return seen


def _grows(sick: Curve, cured: Curve) -> Run:
    return Run("step", "MB held", ("MB held",), [sick], [cured])


def memory_grows() -> Run:
    def losses_kept(model: nn.Module, x: Tensor, y: Tensor, kept: list[Any]) -> None:
        kept.append(F.cross_entropy(model(x), y))

    def numbers_kept(model: nn.Module, x: Tensor, y: Tensor, kept: list[Any]) -> None:
        kept.append(F.cross_entropy(model(x), y).item())

    return _grows(_held(losses_kept), _held(numbers_kept))


def oom_eval() -> Run:
    """Outputs of an evaluation are kept, with the graphs that made them."""

    def recorded(model: nn.Module, x: Tensor, _y: Tensor, kept: list[Any]) -> None:
        kept.append(model.eval()(x))

    def plain(model: nn.Module, x: Tensor, y: Tensor, kept: list[Any]) -> None:
        with torch.no_grad():
            recorded(model, x, y, kept)

    return _grows(_held(recorded), _held(plain))


def host_memory() -> Run:
    """A log in the process of Python, which nobody empties."""

    def training(*, logs: bool) -> Curve:
        log: list[Any] = []
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        seen: Curve = []
        for step in range(POINTS):
            line = [{"step": step, "row": row} for row in range(100)]
            if logs:
                log.append(line)
            seen.append((tracemalloc.get_traced_memory()[0] - before) / 1e6)
        tracemalloc.stop()
        return seen

    return Run("step", "MB of Python", ("MB of Python",), [training(logs=True)], [training(logs=False)])


def oom_first() -> Run:
    """What graphs hold within one step, for a batch and for a quarter of it; the memory of this GPU is made up."""

    def step(size: int) -> Curve:
        held, seen = Held(), []
        torch.manual_seed(1)
        model = nn.Sequential(*[nn.Sequential(nn.Linear(WIDE, WIDE), nn.GELU()) for _ in range(POINTS // 2)])

        def look(*_: Any) -> None:
            seen.append(held.bytes / 1e6)

        for layer in model:
            layer.register_forward_hook(look)
            layer.register_full_backward_hook(look)
        with held.counting():
            model(torch.randn(size, WIDE, requires_grad=True)).sum().backward()
        return list(seen)

    sick, cured = step(4096), step(1024)
    limit = 0.75 * max(value or 0.0 for value in sick)
    over = next(place for place, value in enumerate(sick) if (value or 0.0) > limit)
    stopped: Curve = [*sick[: over + 1], *[None] * (POINTS - over - 1)]
    return Run("within one step", "MB held", ("MB held",), [stopped], [cured], level=(limit, "memory of the GPU"))


def oom_later() -> Run:
    """The peak of each step follows the length of its batch, and one is long."""

    def peaks(longest: int) -> Curve:
        model, seen = network(), []
        lengths = torch.randint(40, 90, (POINTS,), generator=torch.Generator().manual_seed(6))
        lengths[37] = 260
        for length in lengths.clamp(max=longest).tolist():
            held = Held()
            with held.counting():
                loss = model(torch.randn(8 * length, WIDE)).sum()
                seen.append(held.bytes / 1e6)
            del loss
        return list(seen)

    sick, cured = peaks(10_000), peaks(110)
    limit = 1.5 * max(value or 0.0 for value in cured)
    stopped: Curve = [*sick[:38], *[None] * (POINTS - 38)]
    return Run("step", "MB at the peak", ("MB at the peak",), [stopped], [cured], level=(limit, "memory of the GPU"),
               bars=True)  # fmt: skip


# It stops with an error


def error() -> Run:
    whole = descend(network(), batches(*DATA))
    return losses([*whole[:21], *[None] * (POINTS - 21)], whole)


# Steps that are slow


def _seconds(sizes: list[int], *, dynamic: bool, warm: bool) -> Curve:
    """Milliseconds of each step of a compiled model; `eager` is the backend, so that it is Dynamo that is measured."""
    torch._dynamo.reset()
    model = network()
    step = torch.compile(model, backend="eager", dynamic=dynamic)
    if warm:
        for size in (BATCH, BATCH + 8):
            step(torch.randn(size, WIDE))
    seen: Curve = []
    for size in sizes:
        x = torch.randn(size, WIDE)
        start = time.perf_counter()
        step(x).sum().backward()
        seen.append((time.perf_counter() - start) * 1e3)
    return seen


def slow_start() -> Run:
    sick, cured = (_seconds([BATCH] * POINTS, dynamic=False, warm=warm) for warm in (False, True))
    return Run("step", "ms", ("ms",), [sick], [cured], bars=True)


def compile_slower() -> Run:
    """Every eighth batch has a size that was not there before."""
    sizes = [BATCH + 8 * (step // 8 if step % 8 == 0 else 0) for step in range(POINTS)]
    sick = _seconds(sizes, dynamic=False, warm=True)
    cured = _seconds(sizes, dynamic=True, warm=True)
    return Run("step", "ms", ("ms",), [sick], [cured], bars=True)


# Plans of who works when


def _fed(load: float, step: float, *, ahead: bool, count: int = 6) -> tuple[list[Span], list[Span], list[Span]]:
    """Spans of loader, GPU, and of the GPU's waits, when a batch is loaded ahead or in turn."""
    loads, steps, waits = [], [], []
    free = ready = 0.0
    for _ in range(count):
        start = ready if ahead else free
        ready = start + load
        loads.append((start, ready))
        waits.append((free, max(free, ready)))
        steps.append((max(free, ready), max(free, ready) + step))
        free = steps[-1][1]
    return loads, steps, waits


def _lanes(names: tuple[str, ...], sick: list[Any], cured: list[Any], waits: list[list[list[Span]]]) -> Run:
    return Run("time", "", names, sick, cured, waits, sketch=True)


def gpu_idle() -> Run:
    sick, cured = _fed(3.0, 1.2, ahead=False), _fed(1.1, 1.2, ahead=True)
    return _lanes(("loader", "GPU"), [sick[0], sick[1]], [cured[0], cured[1]], [[[], sick[2]], [[], cured[2]]])


def launch_bound() -> Run:
    """The CPU calls kernel after kernel; each is done before the next is called."""

    def turns(call: float, kernel: float, count: int) -> list[list[Span]]:
        calls = [(k * call, (k + 1) * call) for k in range(count)]
        kernels: list[Span] = []
        free = 0.0
        for _, end in calls:
            free = max(free, end)
            kernels.append((free, free + kernel))
            free += kernel
        return [calls, kernels]

    def rests(kernels: list[Span]) -> list[Span]:
        return [(a[1], b[0]) for a, b in pairwise(kernels)]

    sick, cured = turns(2.0, 0.5, 12), turns(0.6, 2.0, 12)
    return _lanes(("CPU", "GPU"), sick, cured, [[[], rests(sick[1])], [[], rests(cured[1])]])


def sync_each() -> Run:
    """The CPU waits for the GPU's number before it calls the next step."""

    def turns(call: float, step: float, *, asked: bool, count: int = 6) -> tuple[list[list[Span]], list[list[Span]]]:
        calls, steps, idle, rests = [], [], [], []
        cpu = gpu = 0.0
        for _ in range(count):
            calls.append((cpu, cpu + call))
            start = max(gpu, cpu + 0.3) if not asked else cpu + call
            rests.append((gpu, start))
            steps.append((start, start + step))
            gpu = start + step
            idle.append((cpu + call, gpu) if asked else (cpu + call, cpu + call))
            cpu = gpu if asked else cpu + call
        return [calls, steps], [idle, rests]

    sick, cured = turns(1.6, 1.6, asked=True), turns(1.4, 1.6, asked=False)
    return _lanes(("CPU", "GPU"), sick[0], cured[0], [sick[1], cured[1]])


RANKS = tuple(f"rank {rank}" for rank in range(4))


def _ranks(last: list[int], *, steps: int = 6, end: float = 12.0) -> tuple[list[list[Span]], list[list[Span]]]:
    """Spans of work and of waiting, when each rank comes to so many all-reduces."""
    each = [1.75, 1.6, 1.8, 1.7]
    works, waits = [], []
    for rank, mine in enumerate(last):
        work: list[Span] = [(2.0 * k, 2.0 * k + each[rank]) for k in range(steps)]
        wait: list[Span] = [(stop, 2.0 * k + 2.0) for k, (_, stop) in enumerate(work)]
        met = min(last)  # all-reduces that all ranks come to
        for k in range(met, steps):
            at = 2.0 * met + each[rank]
            first = k == met
            here = mine > met
            work[k] = (2.0 * met, at) if first and here else (at, at) if here else (2.0 * met, 2.0 * met + 0.4 * first)
            wait[k] = (at, end) if first and here else (end, end)
        works.append(work)
        waits.append(wait)
    return works, waits


def _hang(last: list[int]) -> Run:
    (sick, sick_waits), (cured, cured_waits) = _ranks(last), _ranks([6] * 4)
    return _lanes(RANKS, sick, cured, [sick_waits, cured_waits])


def ddp_hangs() -> Run:
    return _hang([6, 6, 2, 6])


def hangs_epoch_end() -> Run:
    return _hang([6, 3, 3, 3])


def hangs_alone() -> Run:
    """A worker that was forked waits for a lock that nobody in it holds."""
    names = ("main", "worker 0", "worker 1")
    main: list[Span] = [(2.0 * k + 1.2, 2.0 * k + 2.0) for k in range(6)]
    workers = [[(2.0 * k, 2.0 * k + 1.2) for k in range(6)], [(2.0 * k + 0.3, 2.0 * k + 1.5) for k in range(6)]]
    stuck = [*main[:2], *[(4.0, 4.0)] * 4]
    sick = [stuck, [*workers[0][:2], (4.0, 4.5), *[(4.5, 4.5)] * 3], [*workers[1][:3], *[(5.5, 5.5)] * 3]]
    waits: list[list[Span]] = [[(4.0, 12.0)], [(4.5, 12.0)], [(12.0, 12.0)]]
    return _lanes(names, sick, [main, *workers], [waits, [[(12.0, 12.0)]] * 3])


def _speeds(sick: Callable[[int], float], cured: Callable[[int], float]) -> Run:
    counts = [1 + 7 * k / (POINTS - 1) for k in range(POINTS)]
    curves = [[n / time_of(n) for n in counts] for time_of in (sick, cured)]  # type: ignore[arg-type]
    return Run("GPUs, 1 to 8", "times as fast", ("speed", "as many as GPUs"), [curves[0], counts], [curves[1], counts],
               sketch=True)  # fmt: skip


def more_gpus() -> Run:
    """A step of 1 and an all-reduce of 1.4, for which a rank sends 2 (n − 1) / n of it; cured, backward hides most."""
    return _speeds(lambda n: 1 + 1.4 * (n - 1) / n, lambda n: 1 + 0.12 * (n - 1) / n)


def gpus_loader() -> Run:
    """A loader that can feed two and a half GPUs, and one that feeds all."""
    return _speeds(lambda n: max(1.0, n / 2.5), lambda n: 1.0)


RUNS: dict[str, Callable[[], Run]] = {
    one.__name__.replace("_", "-"): one
    for one in (
        lr_small, loss_flat, labels_mixed, lr_high, loss_scale, not_shuffled, loss_nan, gradient_nan, nan_fp16,
        nan_late,
        mediocre, softmax_twice, schedule_fast, overfit_small, overfit_long, validation_too_good, dropout_gap,
        class_numbers, not_normalised, eval_forgotten, runs_differ, resume_differs, rounding, memory_grows, oom_eval,
        host_memory, oom_first, oom_later, error, slow_start, compile_slower, gpu_idle, launch_bound, sync_each,
        ddp_hangs, hangs_epoch_end, hangs_alone, more_gpus, gpus_loader,
    )
}  # fmt: skip


def _short(value: Any) -> Any:
    """JSON of values: four digits, and nothing for nan."""
    if isinstance(value, float):
        return float(f"{value:.4g}") if abs(value) < float("inf") else None
    if isinstance(value, list | tuple):
        return [_short(one) for one in value]
    if isinstance(value, dict):
        return {name: _short(one) for name, one in value.items()}
    return value


def record(name: str) -> dict[str, Any]:
    """A run as it is kept.

    Raises:
        KeyError: there is no such run.
    """
    return _short({part: value for part, value in asdict(RUNS[name]()).items() if value or part in ("sick", "cured")})


def write() -> None:
    """Record all runs anew into `src/symptoms/runs.json`."""
    lines = [f"{json.dumps(name)}: {json.dumps(record(name), separators=(',', ':'))}" for name in RUNS]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
