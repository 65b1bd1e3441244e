"""BottleneckTool: from four measurements of an input pipeline to what limits it, and what to do."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

from torchbook.viz.base import Visualizer, contract
from torchbook.viz.units import duration, significant

setup = partial(contract, "bottleneck")

NEAR = 1.1  # two times are the same when neither is more than a tenth longer
BUSY = 70  # per cent of GPU utilisation below which the GPU counts as idle
HIDDEN = 0.2  # the parts take turns when no more is hidden, as a share of what could be


@dataclass(frozen=True)
class Question:
    """One step of the decision: its key, the numbers that were compared, and the answer."""

    key: str
    sum: str
    yes: bool


@dataclass(frozen=True)
class Diagnosis:
    """What limits a pipeline.

    Attributes:
        cause: "check", "compute", "launch", "loader", "transfer", "serial", "nearly", "uneven" or "more".
        title, why: the cause in words.
        remedies: what to do, the first first.
        path: the questions that led here.
        reach: milliseconds a batch once the cause is gone and the parts overlap; None where nothing says how many.
        gain: how many times as fast that is; None likewise.
    """

    cause: str
    title: str
    why: str
    remedies: tuple[str, ...]
    path: tuple[Question, ...]
    reach: float | None
    gain: float | None


def diagnose(
    step_ms: float,
    loader_ms: float,
    full_ms: float,
    copy_ms: float | None = None,
    utilisation: float | None = None,
    workers: int = 0,
    cpu: str = "unknown",
) -> Diagnosis:
    """What limits a training run, from measurements of its parts; all times are milliseconds a batch.

    Args:
        step_ms: a step on a batch that is on the device already.
        loader_ms: the loader alone, with nothing done to its batches.
        full_ms: the full run.
        copy_ms: the copy of a batch to the device; None if not measured.
        utilisation: per cent of GPU utilisation in the full run; None if not measured.
        workers: num_workers of the loader.
        cpu: what the CPU does while the loader runs alone: "busy", "idle" or "unknown".

    Raises:
        ValueError: a time is negative, a full run or a step took no time, or there is no such `cpu`.
    """
    if cpu not in setup()["cpus"]:
        raise ValueError(f"cpu must be one of {', '.join(setup()['cpus'])}, not {cpu!r}")
    if min(step_ms, full_ms) <= 0 or min(loader_ms, copy_ms or 0) < 0:
        raise ValueError("times must be positive")
    copy = copy_ms or 0.0
    path: list[Question] = []

    def ask(key: str, total: str, yes: bool) -> bool:
        path.append(Question(key, total, yes))
        return yes

    def same(total: float) -> bool:
        return total / NEAR <= full_ms <= total * NEAR

    def against(total: float, parts: str = "") -> str:
        return f"{_ms(full_ms)} against {f'{parts} = ' if parts else ''}{_ms(total)}"

    longest = max(step_ms, loader_ms, copy)
    serial = loader_ms + copy + step_ms
    best = max(loader_ms, step_ms + copy)
    apart = serial - full_ms <= HIDDEN * (serial - best)
    cause = "uneven"
    if not ask("check", against(longest), full_ms * NEAR >= longest):
        cause = "check"
    elif ask("compute", against(step_ms), same(step_ms)):
        busy = utilisation is None or ask("launch", f"{significant(utilisation)} %", utilisation >= BUSY)
        cause = "compute" if busy else "launch"
    elif ask("loader", against(loader_ms), same(loader_ms)):
        cause = "loader"
    elif copy and (
        ask("copy", against(copy), same(copy))
        or ask("transfer", against(copy + step_ms, f"{_ms(copy)} + {_ms(step_ms)}"), same(copy + step_ms))
    ):
        cause = "transfer"
    elif ask("serial", against(serial, _parts(loader_ms, copy, step_ms)), same(serial) and apart):
        cause = "nearly" if full_ms < serial else "serial"
    elif ask("more", against(serial), full_ms > serial):
        cause = "more"
    of = setup()["causes"][cause]
    remedies = list(of["remedies"])
    if cause == "loader":
        needed = max(1, math.ceil(max(1, workers) * loader_ms / (step_ms + copy) - 1e-9))
        remedies = [text.replace("{needed}", str(needed)) for text in setup()["loader_remedies"][cpu]]
    elif cause in ("serial", "nearly"):
        remedies = setup()["serial_remedies"]["some" if workers else "none"]
    reach = {
        "loader": step_ms + copy,
        "transfer": longest,
        "serial": best,
        "nearly": best,
        "uneven": best,
        "more": best,
    }.get(cause)
    if reach is not None and reach >= full_ms:
        reach = None
    gain = None if reach is None else full_ms / reach
    return Diagnosis(cause, of["title"], of["why"], tuple(remedies), tuple(path), reach, gain)


def _ms(ms: float) -> str:
    return duration(ms * 1e-3)


def _parts(*parts: float) -> str:
    return " + ".join(_ms(part) for part in parts if part)


def measure(loader: Any, step: Callable[[Any], Any], *, device: Any = None, steps: int = 20) -> dict[str, Any]:
    """The measurements that `diagnose` and `BottleneckTool` take.

    Args:
        loader: a `torch.utils.data.DataLoader`; it is run through twice, for at most `steps` batches and one.
        step: what is done with a batch.
        device: where batches are moved; None leaves them where they are, and there is no copy.
        steps: how many batches are timed, after one that is not.

    Returns:
        step_ms, loader_ms, full_ms, copy_ms (None without a device) and workers.

    Raises:
        ValueError: the loader has fewer than two batches.
    """
    import torch

    from torchbook.viz.pipeline import _moved

    where = None if device is None else torch.device(device)

    def now() -> float:
        if where is not None and where.type != "cpu":
            torch.accelerator.synchronize()
        return time.perf_counter()

    def move(batch: Any) -> Any:
        return batch if where is None else _moved(batch, where, False)

    def each(use: Callable[[Any], Any]) -> float:
        start, count = 0.0, -1
        for count, batch in enumerate(loader):
            use(batch)
            if count == 0:
                start = now()
            if count == steps:
                break
        if count < 1:
            raise ValueError("the loader must have two batches at least")
        return (now() - start) * 1e3 / count

    def repeated(work: Callable[[], Any]) -> float:
        for _ in range(3):
            work()
        start = now()
        for _ in range(steps):
            work()
        return (now() - start) * 1e3 / steps

    loader_ms = each(lambda batch: None)
    full_ms = each(lambda batch: (step(move(batch)), now()))
    batch = next(iter(loader))
    ready = move(batch)
    return {
        "step_ms": repeated(lambda: step(ready)),
        "loader_ms": loader_ms,
        "full_ms": full_ms,
        "copy_ms": None if where is None else repeated(lambda: (move(batch), now())),
        "workers": loader.num_workers,
    }


class BottleneckTool(Visualizer):
    """What limits a training run: its measurements, the questions that they answer, the cause and the remedies.

    On the plain page the same figure works without a kernel.

    Attributes:
        diagnosis: what `diagnose` says.

    Raises:
        ValueError: there is no such preset.
        traitlets.TraitError: a number is out of its range.

    Example:
        >>> BottleneckTool(step_ms=40, loader_ms=95, full_ms=98).diagnosis.cause
        'loader'
    """

    @property
    def diagnosis(self) -> Diagnosis:
        return diagnose(**self.setting)

    def _describe(self) -> str:
        return describe(self.setting)

    def _draw(self) -> str:
        return _picture(self.setting, self.words)


def describe(setting: Mapping[str, Any]) -> str:
    """The diagnosis in sentences."""
    diagnosis = diagnose(**setting)
    sentences = [f"{diagnosis.title}. {diagnosis.why}"]
    if diagnosis.reach is not None and diagnosis.gain is not None:
        sentences.append(
            f"Once that is mended a batch could take {_ms(diagnosis.reach)}, {significant(diagnosis.gain)} times as "
            f"fast."
        )
    return " ".join([*sentences, "Remedies:", *diagnosis.remedies])


def _picture(setting: Mapping[str, Any], words: str) -> str:
    """Static drawing: the measurements as bars, and the path of the decision."""
    wide, left = 380.0, 150.0
    shown = [("step", "step_ms"), ("loader", "loader_ms"), ("copy", "copy_ms"), ("full run", "full_ms")]
    times = [(label, setting[name]) for label, name in shown if setting[name] is not None]
    scale = wide / max(value for _, value in times)
    parts, y = [], 0
    for label, value in times:
        parts.append(f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">{label}</text>')
        parts.append(
            f'<rect x="{left}" y="{y}" width="{max(value * scale, 0.5):.1f}" height="18" fill-opacity=".15" '
            f'stroke="currentColor"/><text x="{left + 6}" y="{y + 14}">{_ms(value)}</text>'
        )
        y += 26
    diagnosis = diagnose(**setting)
    y += 14
    for question in diagnosis.path:
        parts.append(f'<text x="0" y="{y}">{escape(setup()["questions"][question.key])}</text>')
        parts.append(
            f'<text x="{left + wide}" y="{y}" text-anchor="end" font-weight="700">'
            f"{'yes' if question.yes else 'no'}</text>"
        )
        y += 22
    parts.append(f'<text x="0" y="{y + 4}" font-weight="700" font-size="15">{escape(diagnosis.title)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 -1 {left + wide + 6:g} {y + 15}" '
        f'style="max-width:min(100%,{left + wide + 6:g}px);height:auto" font-family="system-ui,sans-serif" '
        f'font-size="13" fill="currentColor" aria-label="{escape(words)}">{"".join(parts)}</svg>'
    )
