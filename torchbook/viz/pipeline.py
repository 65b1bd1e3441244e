"""PipelineTimeline: an input pipeline as lanes over time, recorded from a real run or simulated.

A recorded run comes from `record_pipeline`. The model, `simulate`, follows what a DataLoader does: indices are given to
the workers in turn, `prefetch_factor` for each worker ahead, the next one whenever a batch is handed out; batches are
handed out in order. Every worker has a core of its own, and nothing else takes time. Times are milliseconds.
"""

from __future__ import annotations

import copy as copying
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from html import escape
from itertools import pairwise
from typing import Any

import traitlets

from torchbook.viz.base import Visualizer, contract, preset_of
from torchbook.viz.units import counted, duration, plain, significant

setup = partial(contract, "pipeline")

AHEAD = 2  # steps that the host issues before the device has finished them
MAIN = -1  # the worker that is none: the main process


@dataclass(frozen=True)
class Batch:
    """The way of one batch, in milliseconds since the loader's iterator was made.

    Attributes:
        worker: number of the worker that loaded it; -1 is the main process.
        load_start, load_end: when its items were fetched and collated.
        ask, got: when the main process asked for it, and when it had it.
        copy_start, copy_end: its copy to the device; equal if there is none.
        step_start, step_end: the step that used it.
    """

    worker: int
    load_start: float
    load_end: float
    ask: float
    got: float
    copy_start: float
    copy_end: float
    step_start: float
    step_end: float


# The model


def simulate(setting: Mapping[str, Any], batches: int | None = None) -> list[Batch]:
    """The pipeline of a setting, a mapping with the traits of `PipelineTimeline`.

    Args:
        setting: workers, load_ms, copy_ms, step_ms, prefetch, startup_ms, slow_every, slow_times, batches, transfer.
        batches: how many batches, if not those of the setting.
    """
    workers, transfer = setting["workers"], setting["transfer"]
    ahead = workers * setting["prefetch"]
    free = [float(setting["startup_ms"])] * workers
    done: list[Batch] = []
    for i in range(setting["batches"] if batches is None else batches):
        slow = setting["slow_every"] and (i + 1) % setting["slow_every"] == 0
        load = setting["load_ms"] * (setting["slow_times"] if slow else 1)
        last = done[-1] if done else None
        if last is None:
            ask = 0.0
        elif transfer == "wait":
            ask = last.step_end
        else:
            ask = max(last.got, done[i - AHEAD - 1].step_end if i > AHEAD else 0.0)
        if workers:
            worker = i % workers
            load_start = max(free[worker], done[i - ahead].got if i >= ahead else 0.0)
            free[worker] = load_end = load_start + load
        else:
            worker, load_start, load_end = MAIN, ask, ask + load
        got = max(ask, load_end)
        before = 0.0 if last is None else last.copy_end if transfer == "side" else last.step_end
        copy_start = max(got, before)
        copy_end = copy_start + setting["copy_ms"]
        step_start = max(copy_end, last.step_end if last else 0.0)
        step_end = step_start + setting["step_ms"]
        done.append(Batch(worker, load_start, load_end, ask, got, copy_start, copy_end, step_start, step_end))
    return done


@dataclass(frozen=True)
class Steady:
    """A pipeline once it has started.

    Attributes:
        period: milliseconds from the end of one step to the end of the next, on average.
        bound: what the formula says; no pipeline with these times is faster.
        limit: what sets the bound: "load", "copy", "step", "copy and step" or "all three".
        workers, copy, compute: fractions of the time in which these are busy; of the workers, on average.
        first: milliseconds until the main process has the first batch.
    """

    period: float
    bound: float
    limit: str
    workers: float
    copy: float
    compute: float
    first: float


def terms(setting: Mapping[str, Any]) -> dict[str, float]:
    """The times of which the longest is the steady state's milliseconds a batch, by what they are spent on."""
    every = setting["slow_every"]
    load = setting["load_ms"] * (1 + (setting["slow_times"] - 1) / every if every else 1)
    copy, step = setting["copy_ms"], setting["step_ms"]
    if not setting["workers"]:
        if setting["transfer"] == "wait":
            return {"all three": load + copy + step}
        share = load
    else:
        share = load / setting["workers"]
    if setting["transfer"] == "side":
        return {"load": share, "copy": copy, "step": step}
    return {"load": share, "copy and step": copy + step}


def steady(setting: Mapping[str, Any]) -> Steady:
    """The steady state of the model: the second part of a long simulation, and the formula beside it."""
    round_ = max(1, setting["workers"]) * max(1, setting["slow_every"])
    warm = max(64, 4 * setting["workers"] * setting["prefetch"])
    count = round_ * -(-128 // round_)
    done = simulate(setting, warm + count)
    period = (done[-1].step_end - done[warm - 1].step_end) / count
    of = terms(setting)
    limit = max(of, key=lambda name: of[name])
    every = setting["slow_every"]
    load = setting["load_ms"] * (1 + (setting["slow_times"] - 1) / every if every else 1)
    return Steady(
        period=period,
        bound=of[limit],
        limit=limit,
        workers=load / (max(1, setting["workers"]) * period),
        copy=setting["copy_ms"] / period,
        compute=setting["step_ms"] / period,
        first=done[0].got,
    )


# A real run


@dataclass(frozen=True)
class PipelineRun:
    """What `record_pipeline` saw.

    Attributes:
        batches: the way of each batch.
        workers, prefetch, transfer: as the loader and the recording were set.
        device: where the step ran, in words.
    """

    batches: tuple[Batch, ...]
    workers: int
    prefetch: int
    transfer: str
    device: str = "cpu"

    @property
    def period(self) -> float:
        """Milliseconds a batch, from the end of the first step to the end of the last."""
        first, last = self.batches[0], self.batches[-1]
        return (last.step_end - first.step_end) / max(1, len(self.batches) - 1)

    @property
    def waited(self) -> float:
        """Milliseconds that the main process waited for data after the first batch."""
        return sum(batch.got - batch.ask for batch in self.batches[1:])

    def setting(self) -> dict[str, Any]:
        """The model's setting with the median times of this run."""
        fields = setup()["fields"]

        def within(name: str, ms: float) -> float:
            return min(max(fields[name]["low"], float(significant(ms))), fields[name]["high"])

        def median(name: str, of: Callable[[Batch], float]) -> float:
            return within(name, statistics.median(of(batch) for batch in self.batches))

        return {
            "workers": min(self.workers, fields["workers"]["high"]),
            "load_ms": median("load_ms", lambda batch: batch.load_end - batch.load_start),
            "copy_ms": median("copy_ms", lambda batch: batch.copy_end - batch.copy_start),
            "step_ms": median("step_ms", lambda batch: batch.step_end - batch.step_start),
            "prefetch": min(self.prefetch, fields["prefetch"]["high"]),
            "startup_ms": within("startup_ms", min(batch.load_start for batch in self.batches))
            if self.workers
            else 0.0,
            "slow_every": 0,
            "slow_times": 5.0,
            "batches": max(fields["batches"]["low"], min(len(self.batches), fields["batches"]["high"])),
            "transfer": self.transfer,
        }


class _Clock:
    """Notes when a worker begins a batch; dataset and collate function share one."""

    def __init__(self) -> None:
        self.start: dict[int, float] = {}

    def begin(self) -> None:
        self.start.setdefault(_worker(), time.perf_counter())

    def end(self) -> tuple[int, float, float]:
        worker, now = _worker(), time.perf_counter()
        return worker, self.start.pop(worker, now), now


def _worker() -> int:
    from torch.utils.data import get_worker_info

    info = get_worker_info()
    return MAIN if info is None else info.id


class _Timed:
    """A dataset that notes when it is first asked for an item of a batch; else it is the dataset it stands for."""

    def __init__(self, dataset: Any, clock: _Clock) -> None:
        self.__dict__.update(_dataset=dataset, _clock=clock)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "_dataset" not in self.__dict__:  # while it is unpickled
            raise AttributeError(name)
        return getattr(self._dataset, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._dataset, name, value)

    def __len__(self) -> int:
        return len(self._dataset)

    def __getitem__(self, index: Any) -> Any:
        self._clock.begin()
        return self._dataset[index]

    def __getitems__(self, indices: Sequence[Any]) -> Any:
        self._clock.begin()
        several = getattr(self._dataset, "__getitems__", None)
        return several(indices) if several else [self._dataset[index] for index in indices]

    def __iter__(self) -> Any:
        items = iter(self._dataset)
        while True:
            self._clock.begin()
            try:
                item = next(items)
            except StopIteration:
                return
            yield item


class _Stamped:
    """A collate function that sends along which worker made the batch, and when."""

    def __init__(self, collate: Any, clock: _Clock) -> None:
        self.collate, self.clock = collate, clock

    def __call__(self, items: Any) -> Any:
        batch = self.collate(items)
        return batch, self.clock.end()


def _timed(loader: Any) -> Any:
    """A copy of a DataLoader whose batches come with their times; the loader itself is left as it is."""
    clock = _Clock()
    twin = copying.copy(loader)
    twin.__dict__.update(dataset=_Timed(loader.dataset, clock), collate_fn=_Stamped(loader.collate_fn, clock))
    if "_iterator" in twin.__dict__:
        twin.__dict__["_iterator"] = None  # persistent workers of the loader go on with its own dataset
    return twin


def _moved(batch: Any, device: Any, non_blocking: bool) -> Any:
    if hasattr(batch, "to"):
        return batch.to(device, non_blocking=non_blocking)
    if isinstance(batch, Mapping):
        return {name: _moved(part, device, non_blocking) for name, part in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*(_moved(part, device, non_blocking) for part in batch))
    if isinstance(batch, list | tuple):
        return type(batch)(_moved(part, device, non_blocking) for part in batch)
    return batch


def record_pipeline(
    loader: Any,
    step: Callable[[Any], Any],
    *,
    steps: int = 20,
    device: Any = None,
    copy: Callable[[Any], Any] | None = None,
    transfer: str = "wait",
) -> PipelineRun:
    """Run a DataLoader and a training step, and note when each batch was loaded, handed over, copied and used.

    The workers send their times along with the batches: dataset and collate function are wrapped in a copy of the
    loader. With a GPU the times of copies and steps are those of CUDA events.

    Args:
        loader: a `torch.utils.data.DataLoader`.
        step: what is done with a batch; its result is dropped.
        steps: how many batches at most.
        device: where a batch is moved before the step. None leaves it where it is.
        copy: moves a batch in place of `device`; for other kinds of batches, or to try out a slower link.
        transfer: "wait" waits for each copy and step; "same" copies with non_blocking=True and lets the host run up to
            two steps ahead; "side" does so in a stream of its own. The last two need a GPU.

    Returns:
        The run; `PipelineTimeline(run)` shows it.

    Raises:
        ValueError: there is no such transfer, it needs a GPU, or the loader gave no batch.
    """
    import torch

    if transfer not in setup()["transfers"]:
        raise ValueError(f"no transfer is called {transfer!r}; there are {', '.join(setup()['transfers'])}")
    where = torch.device(device) if device is not None else torch.device("cpu")
    if transfer != "wait" and where.type != "cuda":
        raise ValueError(f"transfer={transfer!r} needs a CUDA device: on {where.type} a copy does not run by itself")
    move = copy or ((lambda batch: _moved(batch, where, transfer != "wait")) if device is not None else None)
    twin = _timed(loader)
    run = _on_streams if transfer != "wait" else _waiting
    batches = run(twin, step, steps, move, where, transfer)
    if not batches:
        raise ValueError("the loader gave no batch")
    return PipelineRun(tuple(batches), loader.num_workers, loader.prefetch_factor or 2, transfer, str(where))


def _waiting(loader: Any, step: Any, steps: int, move: Any, where: Any, transfer: str) -> list[Batch]:
    import torch

    def wait() -> float:
        if where.type != "cpu":
            torch.accelerator.synchronize()
        return time.perf_counter()

    zero = time.perf_counter()
    items = iter(loader)
    records = []
    for _ in range(steps):
        ask = time.perf_counter()
        try:
            batch, (worker, began, ended) = next(items)
        except StopIteration:
            break
        got = time.perf_counter()
        moved = got
        if move is not None:
            batch = move(batch)
            moved = wait()
        step(batch)
        times = [began, ended, ask, got, got, moved, moved, wait()]
        records.append(Batch(worker, *((stamp - zero) * 1e3 for stamp in times)))
    return records


def _on_streams(loader: Any, step: Any, steps: int, move: Any, where: Any, transfer: str) -> list[Batch]:
    import torch

    def mark() -> Any:
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    compute = torch.cuda.current_stream(where)
    copies = torch.cuda.Stream(where) if transfer == "side" else compute
    torch.cuda.synchronize(where)
    base = mark()
    base.synchronize()
    zero = time.perf_counter()
    items = iter(loader)
    records: list[tuple[int, list[float], list[Any]]] = []
    for i in range(steps):
        if i > AHEAD:
            records[i - AHEAD - 1][2][-1].synchronize()
        ask = time.perf_counter()
        try:
            batch, (worker, began, ended) = next(items)
        except StopIteration:
            break
        got = time.perf_counter()
        with torch.cuda.stream(copies):
            copied = [mark()]
            if move is not None:
                batch = move(batch)
            copied.append(mark())
        if transfer == "side":
            compute.wait_stream(copies)
            _keep(batch, compute)
        used = [mark()]
        step(batch)
        used.append(mark())
        records.append((worker, [(stamp - zero) * 1e3 for stamp in (began, ended, ask, got)], [*copied, *used]))
    torch.cuda.synchronize(where)
    return [Batch(worker, *host, *(base.elapsed_time(event) for event in events)) for worker, host, events in records]


def _keep(batch: Any, stream: Any) -> None:
    """Tell the allocator that a stream still uses these tensors."""
    if hasattr(batch, "record_stream"):
        batch.record_stream(stream)
    elif isinstance(batch, Mapping):
        for part in batch.values():
            _keep(part, stream)
    elif isinstance(batch, list | tuple):
        for part in batch:
            _keep(part, stream)


# The figure


class PipelineTimeline(Visualizer):
    """Lanes of an input pipeline over time: the workers, the main process, the copies and the steps.

    It shows a recorded run, and a model of one whose numbers the reader changes: who waits, how busy each part is, how
    long a batch takes and which part sets the pace. On the plain page the same figure works without a kernel.

    Args:
        run: what `record_pipeline` returned; the model then starts from its median times. Without a run there is only
            the model.
        selected: number of the batch whose way is followed.
        source: "recorded" or "model".

    Attributes:
        rows: the way of each batch that is shown.
        result: the model's steady state.

    Raises:
        ValueError: there is no such preset.
        traitlets.TraitError: a number is out of its range, or `source` is "recorded" without a run.

    Example:
        >>> round(PipelineTimeline(preset="four").result.period, 1)
        14.0
    """

    run = traitlets.Dict(help="The recorded run, if any; times in microseconds.").tag(sync=True)
    source = traitlets.Enum(("recorded", "model"), "model", help="What the lanes show.").tag(sync=True)
    selected = traitlets.Int(0, help="The batch that is followed.").tag(sync=True)
    skip = traitlets.Bool(False, help="Leave out what is before the first batch.").tag(sync=True)

    def __init__(self, run: PipelineRun | None = None, *, preset: str | None = None, **traits: Any) -> None:
        initial: dict[str, Any] = {}
        if run is not None:
            initial |= {**run.setting(), "run": _packed(run), "source": "recorded"}
        if preset is not None:
            initial |= {**preset_of(setup(), preset), "source": "model"}
        super().__init__(**{**initial, **traits})

    @property
    def rows(self) -> list[Batch]:
        return _unpacked(self.run) if self.source == "recorded" else simulate(self.setting)

    @property
    def result(self) -> Steady:
        return steady(self.setting)

    @traitlets.validate("source")
    def _has_run(self, proposal: Any) -> Any:
        if proposal["value"] == "recorded" and not self.run:
            raise traitlets.TraitError("there is no recorded run: pass what record_pipeline returned")
        return proposal["value"]

    def _describe(self) -> str:
        return describe(self.setting, self.run if self.source == "recorded" else None)

    def _draw(self) -> str:
        return _picture(self.rows, self.words, self.skip)


def _packed(run: PipelineRun) -> dict[str, Any]:
    """A run as it travels in the page: whole microseconds."""
    rows = []
    for batch in run.batches:
        worker, *times = asdict(batch).values()
        rows.append([worker, *(round(t * 1e3) for t in times)])
    return {
        "workers": run.workers,
        "prefetch": run.prefetch,
        "transfer": run.transfer,
        "device": run.device,
        "rows": rows,
    }


def _unpacked(run: Mapping[str, Any]) -> list[Batch]:
    return [Batch(row[0], *(t / 1e3 for t in row[1:])) for row in run["rows"]]


@dataclass(frozen=True)
class Seen:
    """How a number of batches went, from the end of the first step to the end of the last.

    Attributes:
        span: milliseconds.
        period: milliseconds a batch.
        starved: milliseconds in which the device had nothing to do because no batch was there.
        copying: milliseconds in which it had nothing to do because the batch was still being copied, or not yet sent.
        workers, copy, compute: fractions of the time in which these are busy; of the workers, on average.
    """

    span: float
    period: float
    starved: float
    copying: float
    workers: float
    copy: float
    compute: float


def seen(rows: Sequence[Batch], workers: int) -> Seen:
    """How these batches went."""
    start, end = rows[0].step_end, rows[-1].step_end
    span = end - start
    starved = copying_ = 0.0
    for before, batch in pairwise(rows):
        gap = batch.step_start - before.step_end
        data = min(gap, max(0.0, batch.got - before.step_end))
        starved += data
        copying_ += gap - data

    def share(parts: list[tuple[float, float]]) -> float:
        return sum(max(0.0, min(end, b) - max(start, a)) for a, b in parts) / span if span else 0.0

    return Seen(
        span=span,
        period=span / max(1, len(rows) - 1),
        starved=starved,
        copying=copying_,
        workers=share([(batch.load_start, batch.load_end) for batch in rows]) / max(1, workers),
        copy=share([(batch.copy_start, batch.copy_end) for batch in rows]),
        compute=share([(batch.step_start, batch.step_end) for batch in rows]),
    )


def time_(ms: float) -> str:
    """Milliseconds in the unit that suits them."""
    return duration(ms * 1e-3)


def percent(part: float) -> str:
    """A fraction as whole per cent."""
    return f"{int(100 * part + 0.5)} %"


def loaders(workers: int) -> str:
    """How many processes load, in words."""
    return "no workers, the main process loads" if not workers else f"{counted(workers, 'worker')}"


def formula(setting: Mapping[str, Any]) -> str:
    """The steady state's formula with its numbers."""
    of = terms(setting)
    if "all three" in of:
        load = of["all three"] - setting["copy_ms"] - setting["step_ms"]
        return " + ".join(time_(ms) for ms in (load, setting["copy_ms"], setting["step_ms"]))
    workers = setting["workers"]
    loading = time_(of["load"] * max(1, workers)) + (f" ÷ {workers}" if workers > 1 else "")
    if "copy" in of:
        return f"max({loading}, {time_(setting['copy_ms'])}, {time_(setting['step_ms'])})"
    return f"max({loading}, {time_(setting['copy_ms'])} + {time_(setting['step_ms'])})"


LIMITS = {
    "load": "loading",
    "copy": "the copy",
    "step": "the step",
    "copy and step": "copy and step, one after the other",
    "all three": "loading, copy and step, one after the other",
}


def describe(setting: Mapping[str, Any], run: Mapping[str, Any] | None = None) -> str:
    """The lanes in sentences: of the recorded run, or of the model."""
    if run:
        rows = _unpacked(run)
        all_of = seen(rows, run["workers"])
        return (
            f"Recorded on {run['device']}: {len(rows)} batches, {loaders(run['workers'])}. The first batch came after "
            f"{time_(rows[0].got)}; from then on a batch took {time_(all_of.period)}, "
            f"{significant(1e3 / all_of.period) if all_of.period else '0'} a second. Busy: "
            f"{'workers' if run['workers'] else 'loading'} {percent(all_of.workers)}, copy {percent(all_of.copy)}, "
            f"compute {percent(all_of.compute)}. Compute waited {time_(all_of.starved)} for data and "
            f"{time_(all_of.copying)} for copies."
        )
    state = steady(setting)
    every = setting["slow_every"]
    slow = f", one in {every} {plain(setting['slow_times'])} times as long" if every else ""
    more = state.period > 1.01 * state.bound
    return (
        f"Model: {loaders(setting['workers'])}, {time_(setting['load_ms'])} to load a batch{slow}, "
        f"{time_(setting['copy_ms'])} to copy it, {time_(setting['step_ms'])} for its step, prefetch factor "
        f"{setting['prefetch']}; {setup()['transfers'][setting['transfer']]['brief']}. The first batch comes after "
        f"{time_(state.first)}; in the steady state a batch takes {time_(state.period)}, "
        f"{significant(1e3 / state.period)} a second. The formula says {formula(setting)} = {time_(state.bound)}, "
        f"set by {LIMITS[state.limit]}{'; uneven batches cost the rest' if more else ''}. Busy: "
        f"{'workers' if setting['workers'] else 'loading'} {percent(state.workers)}, copy {percent(state.copy)}, "
        f"compute {percent(state.compute)}."
    )


def _picture(rows: Sequence[Batch], words: str, skip: bool) -> str:
    """Static drawing: the lanes."""
    wide, left, high, gap = 560.0, 92.0, 18, 8
    zero = max(0.0, rows[0].got - 0.02 * (rows[-1].step_end - rows[0].got)) if skip else 0.0
    scale = wide / (rows[-1].step_end - zero)
    lanes = sorted({batch.worker for batch in rows})
    names = ["main process" if lane == MAIN else f"worker {lane}" for lane in lanes] + ["copy", "step"]
    parts = []

    def bar(lane: int, start: float, end: float, opacity: str, label: str) -> None:
        x, right = (max(0.0, t - zero) * scale for t in (start, end))
        if right <= 0 or end <= start:
            return
        y = lane * (high + gap)
        w = max(right - x, 0.6)
        parts.append(
            f'<rect x="{left + x:.1f}" y="{y}" width="{w:.1f}" height="{high}" fill-opacity="{opacity}" '
            f'stroke="currentColor" stroke-width=".8"/>'
        )
        if w > 8 * len(label) + 4:
            parts.append(
                f'<text x="{left + x + w / 2:.1f}" y="{y + 13}" text-anchor="middle" font-size="11">{label}</text>'
            )

    for i, name in enumerate(names):
        y = i * (high + gap)
        parts.append(f'<text x="{left - 8}" y="{y + 13}" text-anchor="end">{name}</text>')
        parts.append(f'<path d="M{left} {y + high + 3.5}h{wide:g}" stroke="currentColor" stroke-opacity=".2"/>')
    for i, batch in enumerate(rows):
        bar(lanes.index(batch.worker), batch.load_start, batch.load_end, ".12", str(i))
        bar(len(lanes), batch.copy_start, batch.copy_end, ".3", str(i))
        bar(len(lanes) + 1, batch.step_start, batch.step_end, ".05", str(i))
    bottom = len(names) * (high + gap)
    parts.append(f'<text x="{left}" y="{bottom + 14}">{time_(zero)}</text>')
    parts.append(f'<text x="{left + wide}" y="{bottom + 14}" text-anchor="end">{time_(rows[-1].step_end)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 -1 {left + wide + 4:g} {bottom + 21}" '
        f'style="max-width:min(100%,{left + wide + 4:g}px);height:auto" font-family="system-ui,sans-serif" '
        f'font-size="13" fill="currentColor" aria-label="{escape(words)}">{"".join(parts)}</svg>'
    )
