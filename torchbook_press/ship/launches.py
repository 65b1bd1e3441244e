"""Launches: run the published notebooks as a learner does, from their first cell, where nothing of the book is."""

from __future__ import annotations

import copy
import datetime
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import yaml
from nbformat import NotebookNode
from packaging.requirements import Requirement
from rich.console import Console

from torchbook_press.chapters import Chapter
from torchbook_press.execute import SHIPPED, Failure, Job, Outcome, execute
from torchbook_press.files import write
from torchbook_press.run import commit
from torchbook_press.ship.bundle import wheel
from torchbook_press.ship.comparison import FAILED, PASSED, place
from torchbook_press.ship.environment import (
    CACHE,
    SOURCE,
    Environment,
    ShipError,
    constraints,
    fingerprints,
    make,
    thrown_away,
    touched,
)
from torchbook_press.site.launch import BINDER_GB, MORE_THAN_BINDER, fits_binder

FOLDER = Path("_build/shipped")
NOTEBOOKS = Path("_build/html/notebooks")
EMPTY, BINDER = "empty", "binder"
MODES = (EMPTY, BINDER)
# What a platform such as Colab has: PyTorch, and what runs notebooks.
PLATFORM = ("ipykernel", "torch", "torchvision")
PLATFORM_S_OWN = ("torch", "torchvision", "triton")
LOCK = "requirements.txt"
PYPI_NAMES = {"pytorch-cpu": "torch"}  # what conda calls otherwise
CONDA_ALONE = ("cxx-compiler",)  # what is no Python package; here the machine's own is taken
CONDAS = ("mamba", "micromamba", "conda")
_INSTALL_SECONDS = 900  # a launched notebook installs its packages within its time
_GIT = re.compile(r"git\+(?P<url>[^\"@\s]+)@(?P<branch>[^\"\\\s]+)")  # also in a notebook's JSON
_CELL_ID = re.compile(r"cell-(\d+)")


@dataclass(frozen=True)
class How:
    """How the notebooks are run: see `torchbook shipped --help`."""

    mode: str = EMPTY
    twice: bool = False
    patience: float = 3.0
    keep: bool = False

    @property
    def name(self) -> str:
        return f"{self.mode}-twice" if self.twice else self.mode

    @property
    def label(self) -> str:
        words = {EMPTY: "empty folder", BINDER: "Binder-like"}[self.mode]
        return f"{words}, twice in one kernel" if self.twice else words


def shipped(root: Path, chapters: Sequence[Chapter], how: How, console: Console) -> dict[str, Any]:
    """Run the published notebooks of the chapters; the report, which is written after each of them.

    Raises:
        ShipError: a chapter was never published, or an environment cannot be made.
    """
    for chapter in chapters:
        published(root, chapter)
    report = _former(root, how)
    with _origin(root, chapters) as git, _environments(root, how) as environment_for:
        for chapter in chapters:
            row = _launch(root, chapter, how, git, environment_for)
            console.print(_summary(row), highlight=False, markup=False, soft_wrap=True)
            rows = {**{former_row["chapter"]: former_row for former_row in report["chapters"]}, row["chapter"]: row}
            report |= _of_run(root, how) | {"chapters": [rows[name] for name in sorted(rows)]}
            write(root / FOLDER / f"{how.name}.json", json.dumps(report, indent=1) + "\n")
    return report


def published(root: Path, chapter: Chapter) -> Path:
    """The notebook behind a chapter's launch buttons.

    Raises:
        ShipError: there is none.
    """
    path = root / NOTEBOOKS / f"{chapter.docname}.ipynb"
    if not path.is_file():
        raise ShipError(f"{NOTEBOOKS}/{chapter.docname}.ipynb:1: never published; build the book first: make book")
    return path


def _launch(root: Path, chapter: Chapter, how: How, git: Mapping[str, str], environment_for: Any) -> dict[str, Any]:
    notebook = nbformat.read(published(root, chapter), as_version=4)
    with environment_for(chapter) as environment:
        before = fingerprints(environment, PLATFORM_S_OWN)
        outcome = execute(job(chapter, notebook, how, environment, git))
        changes = touched(before, fingerprints(environment, PLATFORM_S_OWN))
    return _row(chapter, notebook, how, outcome, changes)


def job(chapter: Chapter, notebook: NotebookNode, how: How, environment: Environment, git: Mapping[str, str]) -> Job:
    """The published notebook as the runner takes it, with its own parameters; its cells twice where that is asked."""
    nb = copy.deepcopy(notebook)
    rounds = 2 if how.twice else 1
    nb.cells = [copy.deepcopy(cell) for _ in range(rounds) for cell in nb.cells]
    for number, cell in enumerate(nb.cells):
        cell.id = f"launched-{number}"
    return Job(
        docname=chapter.docname,
        notebook=nbformat.writes(nb),
        parameters={},
        lines=(),
        seconds=(60 * chapter.contract.minutes * rounds + _INSTALL_SECONDS) * how.patience,
        memory_gb=memory_limit(chapter, how),
        threads=chapter.contract.threads,
        needs=chapter.contract.needs,
        lane=SHIPPED,
        python=str(environment.python),
        variables=tuple(git.items()),
    )


def memory_limit(chapter: Chapter, how: How) -> float:
    """What Binder gives, for a chapter that is said to fit there; else what the chapter promises."""
    if how.mode == BINDER and fits_binder(chapter):
        return BINDER_GB
    return chapter.contract.memory_gb


# What came of it.


def _row(
    chapter: Chapter, notebook: NotebookNode, how: How, outcome: Outcome, changes: Sequence[str]
) -> dict[str, Any]:
    row: dict[str, Any] = {
        "chapter": chapter.contract.id,
        "status": PASSED,
        "seconds": round(outcome.seconds, 1),
        "peak_gb": round(outcome.peak_gb, 2),
    }
    if how.twice:
        row["first_seconds"] = round(sum(outcome.cell_seconds[: len(outcome.cell_seconds) // 2]), 1)
    if how.mode == BINDER and not fits_binder(chapter):
        row["note"] = MORE_THAN_BINDER
    file = f"{NOTEBOOKS}/{chapter.docname}.ipynb"
    if outcome.lacks:
        row |= {"status": FAILED, "file": file, "error": outcome.lacks}
    elif outcome.failure:
        row |= {"status": FAILED, **_where(chapter, notebook, outcome.failure)}
    elif changes:
        row |= {"status": FAILED, "file": file, "cell": 1, "error": f"the platform's own: {'; '.join(changes)}"}
    return row


def _where(chapter: Chapter, notebook: NotebookNode, failure: Failure) -> dict[str, Any]:
    """The place of a failure: in the chapter's source where the cell comes from there, else in the notebook."""
    codes = [cell for cell in notebook.cells if cell.cell_type == "code"]
    repetition, index = divmod(failure.cell - 1, len(codes))
    reason = f"the second time: {failure.reason}" if repetition else failure.reason
    source = _CELL_ID.fullmatch(codes[index].get("id", ""))
    if not source:
        return {"file": f"{NOTEBOOKS}/{chapter.docname}.ipynb", "cell": index + 1, "error": reason}
    above = chapter.notebook.cells[: int(source[1])]
    number = sum(cell.cell_type == "code" for cell in above)
    return {"file": chapter.shown, "line": chapter.line_of(number), "cell": number + 1, "error": reason}


def _summary(row: Mapping[str, Any]) -> str:
    took = f"{row['seconds']:.0f} s, peak {row['peak_gb']:.2f} GB"
    return f"{row['status']} {row['chapter']} in {took}" + (f": {place(dict(row))}" if row["status"] == FAILED else "")


def _former(root: Path, how: How) -> dict[str, Any]:
    """What an earlier run of the same kind left, for the chapters that are not run now."""
    try:
        return dict(json.loads((root / FOLDER / f"{how.name}.json").read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return {"chapters": []}


def _of_run(root: Path, how: How) -> dict[str, Any]:
    environment = {BINDER: f"by {_conda()}", EMPTY: "with PyTorch, pip and ipykernel"}[how.mode]
    return {
        "label": how.label,
        "environment": environment,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "commit": commit(root),
    }


# Where torchbook comes from: the notebooks name a branch of a repository, which is this clone as it stands.


@contextmanager
def _origin(root: Path, chapters: Sequence[Chapter]) -> Iterator[dict[str, str]]:
    """Variables with which git finds this clone, as it stands, where the notebooks say that torchbook is."""
    origins = {
        (match["url"], match["branch"])
        for chapter in chapters
        for match in _GIT.finditer(published(root, chapter).read_text(encoding="utf-8"))
    }
    with tempfile.TemporaryDirectory(prefix="torchbook-origin-") as folder:
        variables = {"GIT_CONFIG_COUNT": str(len(origins))}
        for number, (url, branch) in enumerate(sorted(origins)):
            repository = Path(folder, str(number))
            snapshot(SOURCE, repository, branch)
            variables[f"GIT_CONFIG_KEY_{number}"] = f"url.{repository.as_uri()}.insteadOf"
            variables[f"GIT_CONFIG_VALUE_{number}"] = url
        yield variables


def snapshot(source: Path, target: Path, branch: str) -> None:
    """A repository with one commit on a branch: all that git has, or would have, of the source.

    Raises:
        ShipError: the source is no clone.
    """
    names = _git(source, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    for name in names:
        if name and (source / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, target / name)
    identity = ("-c", "user.name=torchbook", "-c", "user.email=torchbook@example.org", "-c", "commit.gpgsign=false")
    _git(target, "init", "--quiet", "--initial-branch", branch)
    _git(target, "add", "--all", "--force")
    _git(target, *identity, "commit", "--quiet", "--no-verify", "--message", "As it stands")


def _git(folder: Path, *arguments: str) -> str:
    completed = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True)
    if completed.returncode:
        raise ShipError(f"git {arguments[0]}: {completed.stderr.strip()}; launches are tried from a clone")
    return completed.stdout


# Where it runs.


@contextmanager
def _environments(root: Path, how: How) -> Iterator[Any]:
    """A function from a chapter to a context with its environment: a fresh one each, or Binder's for all."""
    if how.mode == EMPTY:
        yield lambda chapter: _platform(root, chapter, how)
        return
    with thrown_away(root / CACHE / "binder", keep=how.keep) as folder:
        environment = binder(root, folder)

        @contextmanager
        def always(chapter: Chapter) -> Iterator[Environment]:
            yield environment

        yield always


@contextmanager
def _platform(root: Path, chapter: Chapter, how: How) -> Iterator[Environment]:
    with thrown_away(root / CACHE / f"empty-{chapter.contract.id}", keep=how.keep) as folder:
        environment = make(folder, sys.executable, pip=True)
        environment.install("--constraint", str(constraints(SOURCE / LOCK, folder / LOCK)), *PLATFORM)
        yield environment


def binder(root: Path, folder: Path) -> Environment:
    """What repo2docker makes of environment.yml: by conda where there is one, else the same ranges by uv.

    torchbook is a wheel of this clone, in place of the commit that the published environment.yml names.
    """
    text = (SOURCE / "environment.yml").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="torchbook-wheel-") as work:
        text = text.replace("- -e .\n", f"- {wheel(SOURCE, Path(work))}\n")
        conda = _conda()
        if conda == "uv":
            python, requirements = from_conda(text)
            environment = make(folder, python, pip=True)
            environment.install(*requirements)
            return environment
        file = Path(work, "environment.yml")
        file.write_text(text, encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        command = [conda, "env", "create", "--yes", "--quiet", "--prefix", str(folder), "--file", str(file)]
        completed = subprocess.run(command, capture_output=True, text=True)
        if completed.returncode:
            raise ShipError(f"{conda}: {' '.join((completed.stderr or completed.stdout).split())[-1500:]}")
        return Environment(folder)


def _conda() -> str:
    return next((name for name in CONDAS if shutil.which(name)), "uv")


def from_conda(text: str) -> tuple[str, list[str]]:
    """The version of Python and the requirements of an environment.yml, as pip names them.

    conda's own list goes by ranges; pip's below it is taken as it is.
    """
    entries = yaml.safe_load(text)["dependencies"]
    python, requirements = "", ["ipykernel"]  # which repo2docker adds
    for entry in entries:
        if isinstance(entry, dict):
            requirements += entry["pip"]
            continue
        requirement = Requirement(re.sub(r"^([\w-]+)=(?=\d)", r"\1==", entry))
        if requirement.name == "python":
            python = next(iter(requirement.specifier)).version
        elif requirement.name not in CONDA_ALONE:
            requirements.append(f"{PYPI_NAMES.get(requirement.name, requirement.name)}{requirement.specifier}")
    if not python:
        raise ShipError("environment.yml:1: names no version of python; write '- python=3.12'")
    return python, requirements


def reports(root: Path) -> list[Path]:
    """What runs of any kind have left."""
    return [path for how in _KINDS if (path := root / FOLDER / f"{how.name}.json").is_file()]


_KINDS = tuple(How(mode, twice) for mode in MODES for twice in (False, True))
