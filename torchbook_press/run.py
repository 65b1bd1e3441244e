"""Run the chapters that need it, side by side, and keep what they gave under `executed/`."""

from __future__ import annotations

import datetime
import json
import os
import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import psutil
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from torchbook_press import box, evidence, orphans, reads, seal, why
from torchbook_press.chapters import EXECUTED, Chapter
from torchbook_press.files import unwritable, write
from torchbook_press.kept import Runs
from torchbook_press.key import changed, declared, observed, run_key
from torchbook_press.reads import roots as protected
from torchbook_proofs import Store

if TYPE_CHECKING:  # what runs chapters is loaded when one runs
    from torchbook_press.execute import Failure, Job, Outcome

RUN = "torchbook_run"  # the key of our block in an executed notebook's metadata
LACKS = "torchbook_lacks"  # in its place, why the chapter could not run on this machine
REQUIRE_COMPILER = "TORCHBOOK_REQUIRE_COMPILER"  # set where a chapter that cannot run is an error
COMMIT = "TORCHBOOK_COMMIT"  # the book's commit, where there is no git to ask
# The CUDA libraries and each process's context take memory of the host that no contract counts.
_CUDA_HOST_GB = 8.0
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_FEW = 3  # chapters that are named of those that were not finished
_SAY_EVERY = 30.0  # seconds between lines on what runs, where there is no terminal
REHEARSAL = "rehearsal"  # the GPU lane on a CPU: the same cells, for where no GPU is
_PARAMETERS: dict[str, dict[str, Any]] = {
    "cpu": {"DEVICE": "cpu"},
    "gpu": {"DEVICE": "cuda"},
    REHEARSAL: {"DEVICE": "cpu"},
}


class RunError(Exception):
    """The chapters cannot be run at all; the message says why and what to do."""


@dataclass(frozen=True)
class Options:
    """How to run: see `torchbook run --help`."""

    lane: str = "cpu"
    fast: bool = False
    seed: int = 0
    force: bool = False
    jobs: int = 0  # 0: as many as cores, threads and memory allow
    backend: str = "loky"
    scheduler: str = ""
    patience: float = 1.0
    strict: bool = False  # a time that does not hold fails, instead of being said on its page

    @property
    def parameters(self) -> dict[str, Any]:
        return {**_PARAMETERS[self.lane], "FAST": self.fast, "SEED": self.seed}


@dataclass
class Report:
    """What came of each chapter.

    Attributes:
        kept: was up to date.
        reused: taken from the kept runs.
        ran: ran, in so many seconds.
        failed: ran, and failed.
        lacking: cannot run on this machine, and why.
    """

    kept: list[str] = field(default_factory=list)
    reused: list[str] = field(default_factory=list)
    ran: dict[str, float] = field(default_factory=dict)
    failed: list[Failure] = field(default_factory=list)
    lacking: dict[str, str] = field(default_factory=dict)


def run_metadata(chapter: Chapter) -> dict[str, Any]:
    """The run metadata of a chapter's executed notebook; empty when there is none whose seal holds."""
    return dict(seal.metadata(chapter.executed).get(RUN, {}))


def lacks_of(chapter: Chapter) -> str:
    """Why the chapter could not run on this machine; "" when it did, or was never tried."""
    return str(seal.metadata(chapter.executed).get(LACKS, ""))


def unheld(chapter: Chapter) -> list[str]:
    """What the chapter's sentences rest on and was not so in its run: times, on a busy machine."""
    return evidence.unheld(chapter.executed.read_text(encoding="utf-8")) if chapter.executed.is_file() else []


@dataclass(frozen=True)
class SortedOut:
    """Which chapters would run, and why.

    Attributes:
        kept: are up to date.
        reusable: have a kept run, the notebook.
        stale: would run, the longest first, each with its reasons in words.
        seconds: of the last run of each of these; None where there was none.
        declared: the parts of each chapter's key that are known before a run.
    """

    kept: tuple[Chapter, ...]
    reusable: tuple[tuple[Chapter, str], ...]
    stale: Mapping[Chapter, tuple[str, ...]]
    seconds: tuple[float | None, ...]
    declared: Mapping[str, Mapping[str, str]]

    def plan(self) -> list[str]:
        """Lines: how many chapters run and how long that took last time, then each with its reasons."""
        lines = [f"  {why.line(chapter, reasons)}" for chapter, reasons in self.stale.items()]
        return [why.head(self.seconds), *lines] if lines else ["nothing to run: every chapter is up to date"]


def sort_out(chapters: list[Chapter], options: Options) -> SortedOut:
    """Which chapters are up to date, have kept runs, or would run, with the reasons; nothing is written."""
    store = Store.default()
    declared_parts = {c.docname: declared(c, options.parameters, options.lane) for c in chapters}
    runs = {c.docname: run_metadata(c) for c in chapters}
    state_of = cache(reads.now)  # many chapters read the same files
    kept: list[Chapter] = []
    reusable: list[tuple[Chapter, str]] = []
    stale: dict[Chapter, tuple[str, ...]] = {}
    for chapter in chapters:
        last, parts = runs[chapter.docname], declared_parts[chapter.docname]
        spoilt = unheld(chapter) if options.strict else []
        if not options.force and not spoilt and up_to_date(last, parts, store.fresh_since, state_of):
            kept.append(chapter)
        elif not options.force and (notebook := _kept_run(chapter, parts, store)):
            reusable.append((chapter, notebook))
        else:
            found = why.reasons(chapter, last, parts, state_of)
            stale[chapter] = tuple(found or [_asked_for(options, spoilt)])
    longest = sorted(stale, key=lambda c: -float(runs[c.docname].get("seconds") or 60 * c.contract.minutes))
    seconds = tuple(runs[c.docname].get("seconds") for c in longest)
    return SortedOut(tuple(kept), tuple(reusable), {c: stale[c] for c in longest}, seconds, declared_parts)


def _asked_for(options: Options, spoilt: list[str]) -> str:
    """Why a chapter runs although nothing changed."""
    if options.force:
        return "--force"
    return "a time that did not hold in its last run" if spoilt else "its last run is older than what is asked for"


def run(chapters: list[Chapter], options: Options, console: Console) -> Report:
    """Bring `executed/`, or where they are kept instead, up to date: only chapters whose run key has changed run.

    What is not up to date is looked for among the kept runs first. Each chapter is written when it finishes, so that a
    killed run loses only the chapters that were running.
    """
    for place in sorted({chapter.executed.parent for chapter in chapters}):
        complaint = unwritable(place)  # before kept runs are taken, and chapters run for minutes; not after
        if complaint:
            raise RunError(complaint)
    report = Report()
    started = time.time()
    store = Store.default()
    sorted_out = sort_out(chapters, options)
    report.kept += [chapter.docname for chapter in sorted_out.kept]
    for chapter, notebook in sorted_out.reusable:
        write(chapter.executed, notebook)
        failed_copy(chapter).unlink(missing_ok=True)
        report.reused.append(chapter.docname)
    stale, declared_parts = list(sorted_out.stale), sorted_out.declared
    if not stale:
        return report
    for text in sorted_out.plan():
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    by_name = {c.docname: c for c in stale}
    said: set[str] = set()

    def say(unboxed: str) -> None:
        if unboxed and unboxed not in said:
            said.add(unboxed)
            console.print(box.note(unboxed), style="yellow", markup=False, highlight=False, soft_wrap=True)

    if options.backend != "dask":  # whose workers may be other machines
        say(box.why_not())
    with tempfile.TemporaryDirectory(prefix="torchbook-progress-") as folder:
        jobs = [job_of(c, options, Path(folder, f"{index}.json")) for index, c in enumerate(stale)]
        with _progress(jobs, console) as finished, _stopped(report, stale, console):
            for outcome in _outcomes(jobs, options):
                chapter = by_name[outcome.docname]
                say(outcome.unboxed)
                parts = Parts(declared_parts[outcome.docname], observed(outcome.reads, started))
                _keep(chapter, outcome, parts, options, report)
                if outcome.docname in report.ran and _shares(chapter) and not unheld(chapter):
                    notebook = chapter.executed.read_text(encoding="utf-8")
                    with suppress(OSError):  # where there is no place for kept runs, all else is as it would be
                        Runs(store).keep(chapter, parts.declared, parts.observed, notebook)
                finished(outcome)
    return report


@contextmanager
def _stopped(report: Report, stale: list[Chapter], console: Console) -> Iterator[None]:
    """When a run is interrupted, say what is kept and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        failed = {failure.docname for failure in report.failed}
        left = [c.contract.id for c in stale if c.docname not in report.ran.keys() | report.lacking.keys() | failed]
        some = ", ".join(left[:_FEW]) + (", …" if len(left) > _FEW else "")
        kept = f"stopped: {len(report.ran)} of {len(stale)} chapters ran and are kept"
        text = f"{kept}; not finished: {some}, of which former outputs stay; the same command goes on with them"
        console.print(text, markup=False, highlight=False, soft_wrap=True)
        raise


@dataclass(frozen=True)
class Parts:
    """The parts of a run's key: those known before, and those that it noted itself."""

    declared: Mapping[str, str]
    observed: Mapping[str, str]


def up_to_date(
    run: Mapping[str, Any],
    declared_parts: Mapping[str, str],
    fresh_since: float = 0.0,
    state_of: Callable[[str], str] = reads.now,
) -> bool:
    """Whether a run, as its metadata say, is one of the chapter as it is now, and not from before a time."""
    return float(run.get("at", 0)) >= fresh_since and not changed(run, declared_parts, state_of)


def _shares(chapter: Chapter) -> bool:
    """Whether runs of the chapter are kept for other clones: a GPU's, and trials of versions, stay where made."""
    return chapter.kept == EXECUTED


def _kept_run(chapter: Chapter, declared_parts: Mapping[str, str], store: Store) -> str | None:
    return Runs(store).find(chapter, declared_parts) if _shares(chapter) else None


def job_of(chapter: Chapter, options: Options, progress: Path) -> Job:
    from torchbook_press.execute import Job

    contract = chapter.contract
    return Job(
        docname=chapter.docname,
        notebook=nbformat.writes(chapter.notebook),
        parameters=options.parameters,
        lines=tuple(chapter.line_of(index) for index in range(len(chapter.code))),
        firsts=tuple(chapter.first_line_of(index) for index in range(len(chapter.code))),
        seconds=60 * contract.minutes * options.patience,
        memory_gb=contract.memory_gb + (_CUDA_HOST_GB if options.lane == "gpu" else 0),
        threads=contract.threads,
        needs=contract.needs,
        data=contract.data,
        lane=options.lane,
        strict=options.strict,
        protected=tuple(str(folder) for folder in dict.fromkeys((chapter.root.resolve(), *protected()))),
        progress=str(progress),
        press=os.getpid() if options.backend != "dask" else 0,
    )


def _outcomes(jobs: list[Job], options: Options) -> Iterator[Outcome]:
    """Outcomes as they come, through joblib: loky here, or the workers of a Dask scheduler."""
    import joblib

    from torchbook_press.execute import execute

    with _backend(options):
        parallel = joblib.Parallel(n_jobs=_side_by_side(jobs, options), return_as="generator_unordered", batch_size=1)
        yield from parallel(joblib.delayed(execute)(job) for job in jobs)


def _side_by_side(jobs: list[Job], options: Options) -> int:
    if options.backend == "dask":
        return -1
    if options.jobs:
        return options.jobs
    import joblib

    cores = joblib.cpu_count()
    count = max(1, min(len(jobs), cores // max(job.threads for job in jobs)))
    memory = sorted((job.memory_gb for job in jobs), reverse=True)
    while count > 1 and sum(memory[:count]) > psutil.virtual_memory().total / 1e9:
        count -= 1
    return count


@contextmanager
def _backend(options: Options) -> Iterator[None]:
    import joblib

    if options.backend != "dask":
        processes = {"initializer": orphans.end_with, "initargs": (os.getpid(),)} if options.backend == "loky" else {}
        with joblib.parallel_config(backend=options.backend, **processes):
            yield
        return
    from distributed import Client

    try:
        client = Client(options.scheduler, timeout=10)
    except OSError:
        raise RunError(f"no Dask scheduler answers at {options.scheduler}; start one with `dask scheduler`") from None
    with client, joblib.parallel_config(backend="dask"):
        yield


def _keep(chapter: Chapter, outcome: Outcome, parts: Parts, options: Options, report: Report) -> None:
    from torchbook_press.execute import Failure

    if outcome.lacks and os.environ.get(REQUIRE_COMPILER):
        outcome.failure, outcome.notebook = Failure(chapter.docname, 1, 0, outcome.lacks), None
    if outcome.failure or outcome.notebook is None:
        failure = outcome.failure or Failure(chapter.docname, 1, 0, "papermill wrote no notebook")
        failure = replace(failure, reason=f"{failure.reason}{_installing(failure.reason, chapter.root)}")
        report.failed.append(failure)
        # Its former outputs stay until there are new ones: their key, which no longer holds, makes it run again.
        if outcome.notebook:
            write(failed_copy(chapter), outcome.notebook)
        return
    nb = nbformat.reads(outcome.notebook, as_version=4)
    if outcome.lacks:
        report.lacking[chapter.docname] = outcome.lacks
        nb.metadata[LACKS] = outcome.lacks
        seal.write(chapter.executed, nb)
        return
    nb.metadata[RUN] = {
        "key": run_key({**parts.declared, **parts.observed}),
        "declared": dict(parts.declared),
        "observed": dict(parts.observed),
        "at": time.time(),
        "lane": options.lane,
        "parameters": options.parameters,
        "threads": chapter.contract.threads,
        "commit": commit(chapter.root),
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d"),
        "seconds": round(outcome.seconds, 1),
        "peak_gb": round(outcome.peak_gb, 2),
        "cell_seconds": outcome.cell_seconds,
        **({} if options.lane == "cpu" else {"peak_device_gb": round(outcome.peak_device_gb, 2)}),
        **outcome.facts,
    }
    seal.write(chapter.executed, nb)
    failed_copy(chapter).unlink(missing_ok=True)
    report.ran[chapter.docname] = outcome.seconds


def _installing(reason: str, root: Path) -> str:
    """How to install the module that a cell missed; "" where it missed none."""
    missing = _NO_MODULE.search(reason)
    if not missing:
        return ""
    package = missing[1].partition(".")[0]
    named = re.compile(rf'"{package.replace("_", "[-_]")}(?![\w.-])', re.IGNORECASE)
    project = root / "pyproject.toml"
    listed = project.is_file() and named.search(project.read_text(encoding="utf-8"))
    if listed:
        return ": pyproject.toml lists it, so `make setup` installs it"
    return ": name its package in pyproject.toml (extra `chapters`) and environment.yml, then `make lock setup`"


def drop_orphans(root: Path, chapters: list[Chapter]) -> list[Path]:
    """Delete outputs whose chapter's source is gone; which those were."""
    known = {chapter.executed for chapter in chapters}
    folder = root / EXECUTED
    gone = [
        path
        for path in sorted(folder.rglob("*.ipynb"))
        if path not in known
        and not path.relative_to(folder).parts[0].startswith("_")
        and not (root / path.relative_to(folder)).with_suffix(".md").is_file()
    ]
    for path in gone:
        path.unlink()
    return [path.relative_to(root) for path in gone]


def failed_copy(chapter: Chapter) -> Path:
    """Where the notebook of a failed run is kept to be looked at."""
    return chapter.root / chapter.kept / "_failed" / f"{chapter.docname}.ipynb"


def commit(root: Path) -> str:
    """Short commit of the book, with "+" when the working tree differs from it; outside git what COMMIT says."""
    try:
        completed = subprocess.run(
            ["git", "describe", "--always", "--exclude=*", "--dirty=+"],
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return os.environ.get(COMMIT, "")
    return completed.stdout.strip()


@contextmanager
def _progress(jobs: list[Job], console: Console) -> Iterator[Any]:
    """A bar for all chapters and one for each that runs, with its running cell; a plain line when one ends."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    total = len(jobs)
    with Progress(*columns, console=console, transient=True) as bars:
        chapters = bars.add_task("chapters", total=total)
        cells: dict[str, Any] = {}
        ended: set[str] = set()
        began = time.monotonic()
        stopped = threading.Event()

        def look() -> None:
            for job in jobs:
                progress = _progress_of(job)
                if progress and job.docname not in cells:
                    cells[job.docname] = bars.add_task(job.docname, total=progress["of"])
                if progress:
                    bars.update(cells[job.docname], completed=progress["cell"], description=f"{job.docname} cell")

        def say() -> None:
            running = {job.docname: found for job in jobs if job.docname not in ended and (found := _progress_of(job))}
            cells_now = "; ".join(f"{name} at cell {at['cell']} of {at['of']}" for name, at in running.items())
            minutes = (time.monotonic() - began) / 60
            ends = f"{len(ended)} of {total} chapters after {minutes:.1f} min"
            console.print(f"{ends}; {cells_now or 'starting'}", markup=False, highlight=False, soft_wrap=True)

        def follow() -> None:
            said = began
            while not stopped.wait(0.3):
                look()
                if not console.is_terminal and time.monotonic() - said > _SAY_EVERY:
                    said = time.monotonic()
                    say()

        def finished(outcome: Outcome) -> None:
            look()
            ended.add(outcome.docname)
            bars.advance(chapters)
            if outcome.docname in cells:
                bars.update(cells[outcome.docname], visible=False)
            word = "[red]failed[/red]" if outcome.failure else "[green]ran[/green]"
            console.print(f"{word} {outcome.docname} in {outcome.seconds:.1f} s, peak {outcome.peak_gb:.2f} GB")

        follower = threading.Thread(target=follow, daemon=True)
        follower.start()
        try:
            yield finished
        finally:
            stopped.set()
            follower.join()


def _progress_of(job: Job) -> dict[str, int]:
    try:
        return dict(json.loads(Path(job.progress or "").read_text()))
    except (OSError, ValueError):
        return {}
