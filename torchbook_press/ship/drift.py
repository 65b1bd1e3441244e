"""Drift: run the chapters on other versions than the locked ones, and say which no longer hold, and where."""

from __future__ import annotations

import datetime
import hashlib
import json
import re
import shutil
import subprocess
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from rich.console import Console

from torchbook_press import sources
from torchbook_press.chapters import Chapter
from torchbook_press.files import write
from torchbook_press.ship.comparison import FAILED, LACKING, PASSED, SKIPPED, place
from torchbook_press.ship.environment import CACHE, SOURCE, Environment, ShipError, constraints, make, thrown_away, uv
from torchbook_press.ship.skips import Skip, load

FOLDER = Path("_build/drift")
KEPT = "executed/_drift"
REPORT = "drift.json"
LOCK = "requirements.txt"
# What notebooks run on; all else stays as locked where only this is renewed.
JUPYTER = (
    "anywidget",
    "comm",
    "ipykernel",
    "ipython",
    "ipywidgets",
    "jupyter-client",
    "jupyter-core",
    "jupyter-events",
    "jupyter-server",
    "jupyterlab",
    "jupyterlab-server",
    "jupyterlab-widgets",
    "jupytext",
    "nbclient",
    "nbconvert",
    "nbformat",
    "papermill",
    "pyzmq",
    "traitlets",
    "widgetsnbextension",
)
_TORCH = re.compile(r"\d+(\.\d+)*")


@dataclass(frozen=True)
class Wanted:
    """The versions to run on: newest where nothing else is said."""

    torch: str = ""
    nightly: str = ""  # package index of nightly builds
    python: str = "3.12"
    jupyter_only: bool = False  # all else as locked
    press: bool = False  # print what ran, without Jupyter Book

    def __post_init__(self) -> None:
        if self.torch and not _TORCH.fullmatch(self.torch):
            raise ShipError(f"--torch {self.torch}: a version, for instance 2.11")
        if sum(map(bool, (self.torch, self.nightly, self.jupyter_only, self.press))) > 1:
            raise ShipError("only one of --torch, --nightly-index, --jupyter-only and --press")

    @property
    def label(self) -> str:
        """In words, before anything is installed."""
        if self.press:
            return f"newest Sphinx without Jupyter Book, Python {self.python}"
        torch = self.torch or ("nightly" if self.nightly else "locked" if self.jupyter_only else "newest")
        return f"torch {torch}, Python {self.python}{', newest Jupyter' if self.jupyter_only else ''}"

    @property
    def slug(self) -> str:
        return re.sub(r"[^a-z0-9.]+", "-", self.label.lower())

    @property
    def torch_requirement(self) -> str:
        return f"torch=={self.torch}.*" if self.torch else "torch"


@dataclass(frozen=True)
class How:
    """How the chapters are run."""

    fast: bool = False
    jobs: int = 0
    patience: float = 3.0
    keep: bool = False  # the environment, to be looked at


def drift(root: Path, chapters: Sequence[Chapter], target: Wanted, how: How, console: Console) -> dict[str, Any]:
    """Run the chapters in an environment of these versions; the report, which is also written below `_build/drift`.

    Raises:
        ShipError: `_drift.yml` is malformed.
    """
    skips = load(root, [chapter.contract.id for chapter in chapters])

    def filled(folder: Path) -> dict[str, Any]:
        environment, unfit = build(folder, target)
        return in_environment(root, chapters, environment, target, how, skips, unfit)

    return column(root, target, how, console, filled)


def column(
    root: Path, target: Wanted, how: How, console: Console, filled: Callable[[Path], dict[str, Any]]
) -> dict[str, Any]:
    """The report that `filled` makes in an empty folder, or why there is none; it is also written."""
    with thrown_away(root / CACHE / target.slug, keep=how.keep) as folder:
        try:
            console.print(f"an environment with {target.label}", highlight=False)
            report = filled(folder)
        except ShipError as error:
            report = {"label": target.label, "error": f"no environment: {error}", "versions": {}, "chapters": []}
    write(root / FOLDER / target.slug / REPORT, json.dumps(report, indent=1) + "\n")
    return report


# The environment.


def build(folder: Path, target: Wanted) -> tuple[Environment, dict[str, str]]:
    """An environment for the chapters, and what they import that cannot be had for it, with why.

    Raises:
        ShipError: there is none, even without the packages that single chapters want.
    """
    environment = make(folder, target.python)
    dependencies, extras = requirements(SOURCE / "pyproject.toml")
    options = [option for requirement in extras for option in ("--only-binary", Requirement(requirement).name)]
    if target.jupyter_only:
        options += ["--constraint", str(constraints(SOURCE / LOCK, folder / LOCK, JUPYTER))]
    unfit: dict[str, str] = {}
    try:
        environment.install(*options, target.torch_requirement, *dependencies, *extras)
    except ShipError:
        unfit = {
            Requirement(requirement).name: why
            for requirement in extras
            if (why := _unfit(requirement, target, options))
        }
        fit = [requirement for requirement in extras if Requirement(requirement).name not in unfit]
        if not unfit or "torch" in unfit:
            raise
        environment.install(*options, target.torch_requirement, *dependencies, *fit)
    if target.nightly:
        _nightly(environment, target.nightly)
    environment.install("--no-deps", "--editable", str(SOURCE))
    return environment, unfit


def requirements(pyproject: Path) -> tuple[list[str], list[str]]:
    """What the package and the press need, and what single chapters import."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    return [*project["dependencies"], *extras["press"]], list(extras["chapters"])


def _unfit(requirement: str, target: Wanted, options: Sequence[str]) -> str:
    """Why a package cannot be had beside this torch on this Python; "" where it can."""
    lines = f"{target.torch_requirement}\n{requirement}\n"
    try:
        uv("pip", "compile", "-", "--quiet", "--python-version", target.python, *options, stdin=lines)
    except ShipError as error:
        return str(error)
    return ""


def _nightly(environment: Environment, index: str) -> None:
    """Put nightly builds over what was resolved: other packages may not admit them yet, and are to be tried anyway."""
    options = ["--prerelease", "allow", "--extra-index-url", index, "--index-strategy", "unsafe-best-match"]
    upgrades = [option for name in ("torch", "torchvision") for option in ("--upgrade-package", name)]
    environment.install(*options, *upgrades, "torch", "torchvision")


# The run.


def in_environment(
    root: Path,
    chapters: Sequence[Chapter],
    environment: Environment,
    target: Wanted,
    how: How,
    skips: Iterable[Skip] = (),
    unfit: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Run the chapters there, without those that are skipped or whose packages cannot be had; the report."""
    versions = environment.versions()
    today = datetime.datetime.now(datetime.UTC).date()
    applicable = [skip for skip in skips if skip.fits(versions)]
    expired = {skip.chapter: skip for skip in applicable if skip.expired(today)}
    rows = {skip.chapter: _row(skip.chapter, SKIPPED, str(skip)) for skip in applicable if not skip.expired(today)}
    for chapter in chapters:
        lacks = [name for name in chapter.contract.packages if canonicalize_name(name) in (unfit or {})]
        if lacks:
            note = f"no {' or '.join(lacks)} for {target.label}"
            rows[chapter.contract.id] = _row(chapter.contract.id, LACKING, note)
    ids = [chapter.contract.id for chapter in chapters]
    run_rows, error = _run(root, [name for name in ids if name not in rows], environment, versions, target, how)
    rows |= {row["chapter"]: row for row in run_rows}
    rows |= {name: _expired(name, skip, rows.get(name)) for name, skip in expired.items() if name in ids}
    quotations = [
        {"chapter": one.key, "status": FAILED, "file": sources.FILE, "line": one.line, "error": one.reason}
        for one in sources.outdated(root, environment.packages)
    ]
    return {
        "label": _label(target, versions),
        "error": error,
        "date": today.isoformat(),
        "versions": versions,
        "unfit": dict(unfit or {}),
        "chapters": [*(rows[name] for name in ids if name in rows), *quotations],
    }


def _row(chapter: str, status: str, note: str) -> dict[str, Any]:
    return {"chapter": chapter, "status": status, "note": note}


def _expired(chapter: str, skip: Skip, row: Mapping[str, Any] | None) -> dict[str, Any]:
    """A failure that says so, and what came of the chapter."""
    end = "it was not run"
    if row and row["status"] == PASSED:
        end = "it passes now: take the entry out"
    elif row and row["status"] == FAILED:
        end = f"it fails: {place(dict(row))}"
    file, line, reason = skip.complaint.split(":", 2)
    error = f"{reason.strip()}; {end}"
    return {"chapter": chapter, "status": FAILED, "file": file, "line": int(line), "error": error}


def _label(target: Wanted, versions: Mapping[str, str]) -> str:
    label = f"torch {versions.get('torch', 'missing')}, Python {versions['python']}"
    return f"{label}, newest Jupyter" if target.jupyter_only else label


def _run(
    root: Path, names: Sequence[str], environment: Environment, versions: Mapping[str, str], target: Wanted, how: How
) -> tuple[list[dict[str, Any]], str]:
    """The rows of the chapters that ran, and what went wrong with all of them."""
    if not names:
        return [], ""
    kept = _kept(root, target, versions)
    with tempfile.TemporaryDirectory(prefix="torchbook-drift-") as folder:
        report = Path(folder, "rows.json")
        request = {
            "root": str(root),
            "kept": kept,
            "chapters": list(names),
            "report": str(report),
            "fast": how.fast,
            "jobs": how.jobs,
            "patience": how.patience,
        }
        command = [str(environment.python), "-m", "torchbook_press.ship.inside", json.dumps(request)]
        completed = subprocess.run(command, cwd=root, stderr=subprocess.PIPE)
        if completed.returncode or not report.is_file():
            lines = completed.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["no word"]
            return [], f"the press does not run there: {lines[0]}"
        return list(json.loads(report.read_text(encoding="utf-8"))), ""


def _kept(root: Path, target: Wanted, versions: Mapping[str, str]) -> str:
    """Where the notebooks go: a folder for just these versions, so that what is finished there may be kept."""
    digest = hashlib.sha256(json.dumps(versions, sort_keys=True).encode()).hexdigest()[:8]
    name = f"{target.slug}-{digest}"
    for other in (root / KEPT).glob(f"{target.slug}-????????"):
        if other.name != name:
            shutil.rmtree(other)
    return f"{KEPT}/{name}"
