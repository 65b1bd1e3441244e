"""PipelineTimeline: its model against processes simulated event by event, and against a real DataLoader."""

from __future__ import annotations

import dataclasses
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest
import torch
import traitlets
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info

from torchbook.viz import PipelineTimeline
from torchbook.viz import pipeline as of

from ..asking import Ask
from ..samples import Look, Sample, fill

HARNESS = "pipeline"
PRESETS = sorted(of.setup()["presets"])
EMPTY = {name: field["value"] for name, field in of.setup()["fields"].items()} | {"transfer": "wait"}


def settings(count: int, seed: int = 5, *, whole: bool = False) -> list[dict[str, Any]]:
    """Random settings."""
    draw = random.Random(seed)

    def ms(high: float) -> float:
        return float(draw.randrange(1, 40)) if whole else draw.choice([draw.uniform(0.1, high), draw.uniform(0.1, 20)])

    return [
        {
            "workers": draw.choice([0, 1, 2, 3, 4, 5, 8, 16]),
            "load_ms": ms(500),
            "copy_ms": draw.choice([0.0, ms(50)]),
            "step_ms": ms(200),
            "prefetch": draw.choice([1, 2, 3, 4, 8, 16]),
            "startup_ms": draw.choice([0.0, ms(3000)]),
            "slow_every": draw.choice([0, 0, 1, 2, 3, 7, 10, 20]),
            "slow_times": draw.choice([1.0, 2.5, 8.0, 20.0]),
            "batches": draw.randrange(4, 65),
            "transfer": draw.choice(["wait", "same", "side"]),
        }
        for _ in range(count)
    ]


# The model, against what it models


class World:
    """Processes that wait for times and for conditions; nothing here knows the model's formulas."""

    def __init__(self) -> None:
        self.now = 0.0
        self.processes: list[tuple[Iterator[Any], Any]] = []

    def start(self, process: Iterator[Any]) -> None:
        self.processes.append((process, True))

    def run(self) -> None:
        while self.processes:
            moved = True
            while moved:
                moved = False
                for entry in list(self.processes):
                    process, waits = entry
                    if (
                        waits is True
                        or (callable(waits) and waits())
                        or (isinstance(waits, float) and waits <= self.now)
                    ):
                        moved = True
                        place = self.processes.index(entry)
                        try:
                            wish = next(process)
                            self.processes[place] = (process, wish)
                        except StopIteration:
                            self.processes.remove(entry)
            times = [waits for _, waits in self.processes if isinstance(waits, float)]
            assert times or not self.processes, "everything waits for something else"
            if times:
                self.now = min(times)


def by_events(setting: dict[str, Any]) -> list[of.Batch]:
    """The same pipeline as queues, worker processes, a host and streams."""
    world, count = World(), setting["batches"]
    workers, wait = setting["workers"], setting["transfer"] == "wait"
    indices: list[list[int]] = [[] for _ in range(workers)]
    sent = 0
    arrived: set[int] = set()
    copies: list[int] = []
    kernels: list[tuple[str, int]] = []
    log: dict[int, dict[str, float]] = {i: {} for i in range(count)}

    def load(i: int) -> float:
        slow = setting["slow_every"] and (i + 1) % setting["slow_every"] == 0
        return setting["load_ms"] * (setting["slow_times"] if slow else 1)

    def send() -> None:
        nonlocal sent
        if sent < count:
            indices[sent % workers].append(sent)
            sent += 1

    def worker(me: int) -> Iterator[Any]:
        yield float(setting["startup_ms"])
        for i in range(me, count, workers):
            while not indices[me]:
                yield lambda: bool(indices[me])
            indices[me].pop(0)
            log[i] |= {"worker": me, "load_start": world.now}
            yield world.now + load(i)
            log[i]["load_end"] = world.now
            arrived.add(i)

    def copier() -> Iterator[Any]:  # a stream for copies only
        for i in range(count):
            while i not in copies:
                yield lambda i=i: i in copies
            log[i]["copy_start"] = world.now
            yield world.now + setting["copy_ms"]
            log[i]["copy_end"] = world.now

    def device() -> Iterator[Any]:  # the stream of the steps
        for i in range(count):
            while ("step", i) not in kernels:
                yield lambda i=i: ("step", i) in kernels
            if setting["transfer"] == "side":
                while "copy_end" not in log[i]:
                    yield lambda i=i: "copy_end" in log[i]
            else:
                log[i]["copy_start"] = world.now
                yield world.now + setting["copy_ms"]
                log[i]["copy_end"] = world.now
            log[i]["step_start"] = world.now
            yield world.now + setting["step_ms"]
            log[i]["step_end"] = world.now

    def host() -> Iterator[Any]:
        for i in range(count):
            if not wait and i > 2:
                while "step_end" not in log[i - 3]:
                    yield lambda i=i: "step_end" in log[i - 3]
            log[i]["ask"] = world.now
            if workers:
                while i not in arrived:
                    yield lambda i=i: i in arrived
                send()
            else:
                log[i] |= {"worker": -1, "load_start": world.now}
                yield world.now + load(i)
                log[i]["load_end"] = world.now
            log[i]["got"] = world.now
            copies.append(i)
            kernels.append(("step", i))
            if wait:
                while "step_end" not in log[i]:
                    yield lambda i=i: "step_end" in log[i]

    for _ in range(workers * setting["prefetch"]):
        send()
    for me in range(workers):
        world.start(worker(me))
    if setting["transfer"] == "side":
        world.start(copier())
    world.start(device())
    world.start(host())
    world.run()
    return [of.Batch(**log[i]) for i in range(count)]  # type: ignore[arg-type]


def test_model_is_what_queues_and_processes_do() -> None:
    for setting in settings(400, seed=1, whole=True):
        setting["batches"] = min(setting["batches"], 40)
        for mine, theirs in zip(of.simulate(setting), by_events(setting), strict=True):
            assert dataclasses.astuple(mine) == pytest.approx(dataclasses.astuple(theirs), abs=1e-9), setting


def test_steady_state_is_the_formula_when_batches_are_alike() -> None:
    for setting in settings(400, seed=2):
        setting["slow_every"] = 0
        state, parts = of.steady(setting), sorted(of.terms(setting).values())
        clear = len(parts) == 1 or parts[-1] > 1.1 * parts[-2]
        assert state.period == pytest.approx(state.bound, rel=1e-9 if clear else 0.02), setting


def test_no_pipeline_is_faster_than_the_formula() -> None:
    for setting in settings(400, seed=3):
        state = of.steady(setting)
        assert state.period >= state.bound * 0.98, setting
        assert max(state.workers, state.copy, state.compute) <= 1.02


def test_prefetching_helps_uneven_batches_and_only_those() -> None:
    even = [of.steady({**EMPTY, "prefetch": prefetch}).period for prefetch in (1, 2, 4, 8)]
    assert even == pytest.approx([even[0]] * 4)
    uneven = {**EMPTY, **of.setup()["presets"]["uneven"]["set"]}
    periods = [of.steady({**uneven, "prefetch": prefetch}).period for prefetch in (1, 2, 4, 8)]
    assert periods == sorted(periods, reverse=True)
    assert periods[0] > 1.3 * periods[-1]


def test_non_blocking_alone_changes_no_steady_state() -> None:
    for setting in settings(100, seed=4):
        setting |= {"workers": max(1, setting["workers"]), "slow_every": 0}
        wait, same = (of.steady({**setting, "transfer": way}) for way in ("wait", "same"))
        assert same.bound == wait.bound
        assert of.steady({**setting, "transfer": "side"}).bound <= same.bound


def test_notes_of_the_presets_are_true() -> None:
    states = {name: of.steady({**EMPTY, **preset["set"]}) for name, preset in of.setup()["presets"].items()}
    assert states["none"].period == pytest.approx(40 + 4 + 10)
    assert (states["one"].limit, states["one"].period) == ("load", pytest.approx(40))
    assert states["four"].period == pytest.approx(14)
    assert of.steady({**EMPTY, "workers": 5}).period == pytest.approx(14)
    assert states["non-blocking"].period == pytest.approx(states["four"].period)
    assert states["overlap"].period == pytest.approx(10)
    assert states["uneven"].period > states["prefetched"].period * 1.3
    assert states["start-up"].first == pytest.approx(2040)


# The page


def test_page_simulates_what_python_simulates(ask: Ask, examples: int) -> None:
    assert ask("keys", [0])[0] == [field.name for field in dataclasses.fields(of.Batch)]
    every = settings(examples)
    for setting, page in zip(every, ask("simulate", every), strict=True):
        assert page == [list(dataclasses.astuple(batch)) for batch in of.simulate(setting)], setting


def test_page_computes_the_same_steady_state(ask: Ask) -> None:
    every = settings(500, seed=6)
    for setting, page in zip(every, ask("steady", every), strict=True):
        assert page == dataclasses.asdict(of.steady(setting)), setting
    for setting, page in zip(every, ask("terms", every), strict=True):
        assert page == of.terms(setting), setting


def test_page_says_what_python_says(ask: Ask) -> None:
    every = settings(500, seed=7) + [PipelineTimeline(preset=name).setting for name in PRESETS]
    for setting, page in zip(every, ask("pipe_words", [[setting, None] for setting in every]), strict=True):
        assert page == of.describe(setting)


def packed(setting: dict[str, Any]) -> dict[str, Any]:
    run = of.PipelineRun(tuple(of.simulate(setting)), setting["workers"], setting["prefetch"], setting["transfer"])
    return of._packed(run)


def test_page_says_the_same_of_a_run(ask: Ask) -> None:
    every = settings(300, seed=8)
    runs = [packed(setting) for setting in every]
    for run, page in zip(runs, ask("pipe_words", [[EMPTY, run] for run in runs]), strict=True):
        assert page == of.describe(EMPTY, run)
    pairs = [[run, run["workers"]] for run in runs]
    for run, page in zip(runs, ask("seen", pairs), strict=True):
        assert page == pytest.approx(dataclasses.asdict(of.seen(of._unpacked(run), run["workers"])))


def test_waits_add_up_to_the_idle_time() -> None:
    for setting in settings(200, seed=9):
        rows = of.simulate(setting)
        summary = of.seen(rows, setting["workers"])
        idle = summary.span - setting["step_ms"] * (len(rows) - 1)
        assert summary.starved + summary.copying == pytest.approx(idle, abs=1e-6)


def test_way_of_a_batch_in_words(ask: Ask) -> None:
    texts = ask("way", [[EMPTY, 0], [EMPTY, 9], [{**EMPTY, "workers": 0, "copy_ms": 0.0}, 1]])
    assert "worker 0 loads it from 50.0 ms to 90.0 ms" in texts[0]
    assert "The main process asks at 0 ms and waits 90.0 ms" in texts[0]
    assert "stands ready for" in texts[1]
    assert "the main process loads it" in texts[2]
    assert "No copy." in texts[2]


@pytest.mark.parametrize("transfer", ["wait", "same", "side"])
@pytest.mark.parametrize("workers", [0, 2])
def test_copied_code_measures_what_the_formula_says(
    ask: Ask, capsys: pytest.CaptureFixture[str], transfer: str, workers: int
) -> None:
    setting = {**EMPTY, "workers": workers, "load_ms": 14.0, "copy_ms": 5.0, "step_ms": 12.0, "transfer": transfer}
    exec(compile(ask("pipe_script", [setting])[0], "copied", "exec"), {"__name__": "__main__"})
    measured, predicted = capsys.readouterr().out.split(" ms a batch; the formula says ")
    assert float(predicted) == pytest.approx(of.steady(setting).bound, abs=0.01)
    assert 0.85 * float(predicted) <= float(measured) <= 3 * float(predicted)


def test_copied_code_of_uneven_batches_runs(ask: Ask, capsys: pytest.CaptureFixture[str]) -> None:
    setting = {**EMPTY, "workers": 2, "load_ms": 1.0, "step_ms": 1.0, "slow_every": 4, "slow_times": 2.5}
    exec(compile(ask("pipe_script", [setting])[0], "copied", "exec"), {"__name__": "__main__"})
    assert "ms a batch" in capsys.readouterr().out


# A real run


class Slept(Dataset[torch.Tensor]):
    """Each item takes a while."""

    def __init__(self, seconds: float, size: int = 200) -> None:
        self.seconds, self.size = seconds, size

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, i: int) -> torch.Tensor:
        time.sleep(self.seconds)
        return torch.full((3,), i)


class Stream(IterableDataset[int]):
    """Numbers, shared out among the workers by one of them."""

    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        step, first = (info.num_workers, info.id) if info else (1, 0)
        yield from range(first, 20, step)


def sleeper(seconds: float) -> Callable[[Any], None]:
    return lambda _: time.sleep(seconds)


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_model_predicts_a_real_dataloader(workers: int) -> None:
    """Loading that sleeps, so that noise comes from the machine only; the bounds are generous."""

    def copy(batch: torch.Tensor) -> torch.Tensor:
        time.sleep(0.004)
        return batch.clone()

    loader = DataLoader(Slept(0.005), batch_size=4, num_workers=workers)
    run = of.record_pipeline(loader, sleeper(0.008), steps=24, copy=copy)
    assert len(run.batches) == 24
    predicted = of.steady({**EMPTY, "workers": workers, "load_ms": 20.0, "copy_ms": 4.0, "step_ms": 8.0})
    assert 0.8 * predicted.period <= run.period <= 3 * predicted.period
    again = of.steady(run.setting())
    assert 0.3 * run.period <= again.period <= 1.6 * run.period


def test_recorded_times_are_in_order() -> None:
    run = of.record_pipeline(DataLoader(Slept(0.001), batch_size=4, num_workers=2), sleeper(0.001), steps=10)
    for i, record in enumerate(run.batches):
        assert record.load_start <= record.load_end <= record.got + 1e-3
        assert record.ask <= record.got <= record.copy_start <= record.copy_end <= record.step_start <= record.step_end
        assert record.worker == i % 2
    assert run.workers == 2
    assert run.waited >= 0


def test_recording_gives_the_step_what_the_loader_gives() -> None:
    loader = DataLoader(Slept(0.0), batch_size=4, num_workers=2)
    got: list[torch.Tensor] = []
    of.record_pipeline(loader, lambda batch: got.append(batch.clone()), steps=5)
    assert torch.stack(got).equal(torch.stack(list(loader)[:5]))
    assert isinstance(loader.dataset, Slept)
    assert type(loader.collate_fn).__name__ == "function"


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("batch_size", [None, 3])
def test_streams_are_recorded(workers: int, batch_size: int | None) -> None:
    got: list[Any] = []
    loader = DataLoader(Stream(), batch_size=batch_size, num_workers=workers)
    run = of.record_pipeline(loader, got.append, steps=100)
    plain = sorted(int(x) for batch in got for x in torch.as_tensor(batch).flatten())
    assert plain == list(range(20))
    assert all(record.load_end >= record.load_start for record in run.batches)


def own(worker: int) -> None:
    """Changes the dataset of a worker, as a worker_init_fn may."""
    info = get_worker_info()
    assert info is not None
    info.dataset.size = 7
    info.dataset.seconds = 0.0


def test_spawned_persistent_workers_with_an_init_function() -> None:
    loader = DataLoader(
        Slept(5.0), batch_size=2, num_workers=1, persistent_workers=True, worker_init_fn=own,
        multiprocessing_context="spawn",
    )  # fmt: skip
    run = of.record_pipeline(loader, lambda batch: None, steps=3)
    assert [record.worker for record in run.batches] == [0, 0, 0]
    assert max(record.load_end - record.load_start for record in run.batches) < 4000


def test_a_model_starts_from_the_medians_of_a_run() -> None:
    setting = {**EMPTY, "workers": 3, "load_ms": 30.0, "batches": 20}
    run = of.PipelineRun(tuple(of.simulate(setting)), 3, 2, "wait")
    assert {k: v for k, v in run.setting().items() if k != "batches"} == {
        k: v for k, v in setting.items() if k != "batches"
    }
    w = PipelineTimeline(run)
    assert w.source == "recorded"
    assert w.words.startswith("Recorded on cpu: 20 batches, 3 workers.")
    w.source = "model"
    assert w.words == of.describe(setting)


def test_mistakes_are_named() -> None:
    loader = DataLoader(Slept(0.0, 0))
    with pytest.raises(ValueError, match="gave no batch"):
        of.record_pipeline(loader, print)
    with pytest.raises(ValueError, match="no transfer is called 'fast'"):
        of.record_pipeline(loader, print, transfer="fast")
    with pytest.raises(ValueError, match="needs a CUDA device"):
        of.record_pipeline(loader, print, transfer="side")
    with pytest.raises(ValueError, match="no preset is called 'six'"):
        PipelineTimeline(preset="six")
    with pytest.raises(traitlets.TraitError, match="no recorded run"):
        PipelineTimeline(source="recorded")
    w = PipelineTimeline()
    with pytest.raises(traitlets.TraitError, match="workers must be a whole number from 0 to 16, not 17"):
        w.workers = 17
    assert w.workers == 4


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("transfer", ["wait", "same", "side"])
def test_copies_and_steps_of_a_gpu_are_recorded(transfer: str) -> None:
    weight = torch.randn(2048, 2048, device="cuda")
    data = torch.randn(64, 2048, 256)

    class Rows(Dataset[torch.Tensor]):
        def __len__(self) -> int:
            return 256

        def __getitem__(self, i: int) -> torch.Tensor:
            return data[i % 64]

    def step(batch: torch.Tensor) -> None:
        for _ in range(20):
            weight @ weight

    loader = DataLoader(Rows(), batch_size=8, pin_memory=True, num_workers=2)
    run = of.record_pipeline(loader, step, steps=16, device="cuda", transfer=transfer)
    rows = run.batches
    for before, after in pairwise(rows):
        assert after.copy_end > after.copy_start
        assert after.step_end > after.step_start >= before.step_end - 0.05
        if transfer != "side":
            assert after.copy_start >= before.step_end - 0.05


# The widget


@pytest.mark.parametrize("preset", PRESETS)
def test_words_and_picture(preset: str) -> None:
    w = PipelineTimeline(preset=preset, skip=preset == "four")
    svg = ElementTree.fromstring(w.picture)
    assert svg.get("aria-label") == w.words
    assert of.setup()["transfers"][w.transfer]["brief"] in w.words


def test_words_and_picture_follow() -> None:
    w = PipelineTimeline()
    before = w.picture
    w.workers = 0
    assert "no workers" in w.words
    assert w.picture != before
    assert w.rows[0].worker == of.MAIN


def test_import_leaves_torch_alone() -> None:
    names = "torchbook.viz.pipeline, torchbook.viz.bottleneck, torchbook.viz.tiles"
    code = f"import sys, {names}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0


# The figure among all figures


def timeline_of_a_run(**traits: Any) -> PipelineTimeline:
    """A recorded run beside the model."""
    setting = {**EMPTY, "workers": 2, "load_ms": 30.0, "batches": 13}
    return PipelineTimeline(of.PipelineRun(tuple(of.simulate(setting)), 2, 2, "wait"), **traits)


def sample() -> Sample:
    """How the test of all figures takes this one."""
    return Sample(
        make=PipelineTimeline,
        act=fill("workers", "2"), acted={"workers": 2},
        other={"workers": 3},
        linked={"workers": 7, "load_ms": 33.3, "transfer": "same"}, broken=("=eyJ3b3JrZXJzIjo5OX0", ":recorded"),
        looks=(Look({}, make=timeline_of_a_run), Look({"preset": "uneven"})),
    )  # fmt: skip
