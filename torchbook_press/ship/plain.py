"""The book without Jupyter Book: printed by plain Sphinx, in an environment with the newest of all that prints it.

The configuration is the one that the press hands over (`torchbook_press.build.sphinx_conf`), made here where Jupyter
Book is; in the environment nothing of it is installed. No chapter runs: pages show what ran here, though on other
versions, so that it does not count whether a run is stale. Any other warning is a failure of the page that it names.
"""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from rich.console import Console

from torchbook_press.build import sphinx_conf
from torchbook_press.chapters import Chapter
from torchbook_press.ship.comparison import FAILED, PASSED
from torchbook_press.ship.drift import How, Wanted, column
from torchbook_press.ship.environment import SOURCE, Environment, make

# What Jupyter Book brings beside itself, and the configuration that it makes names.
SPHINX = (
    "linkify-it-py",
    "myst-nb",
    "myst-parser",
    "sphinx",
    "sphinx-book-theme",
    "sphinx-comments",
    "sphinx-copybutton",
    "sphinx-design",
    "sphinx-external-toc",
    "sphinx-jupyterbook-latex",
    "sphinx-multitoc-numbering",
    "sphinx-thebe",
    "sphinx-togglebutton",
)
_LEFT_OUT = "jupyter-book"
_NAMED = ("sphinx", "myst-nb", "sphinx-book-theme")  # in the column's label
_STALE = ["executed.stale"]
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_COMPLAINT = re.compile(r"^(?:(?P<file>[^:\n]+\.\w+):(?:(?P<line>\d+):)? )?(?:WARNING|ERROR|CRITICAL): (?P<what>.*)$")
_LINES = 40  # of complaints; one that is on every page says no more on the next


def drift(root: Path, chapters: Sequence[Chapter], target: Wanted, how: How, console: Console) -> dict[str, Any]:
    """Print the chapters as they ran, in an environment of the newest; the report, as of `ship.drift`."""
    return column(
        root, target, how, console, lambda folder: in_environment(root, chapters, build(folder, target.python), folder)
    )


def requirements(pyproject: Path) -> list[str]:
    """What prints the book, without Jupyter Book."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    press = [*project["dependencies"], *project["optional-dependencies"]["press"]]
    return [*(one for one in press if canonicalize_name(Requirement(one).name) != _LEFT_OUT), *SPHINX]


def build(folder: Path, python: str) -> Environment:
    """An environment with the newest of what prints the book.

    Raises:
        ShipError: there is none.
    """
    environment = make(folder, python)
    environment.install(*requirements(SOURCE / "pyproject.toml"))
    environment.install("--no-deps", "--editable", str(SOURCE))
    return environment


def configuration(root: Path) -> str:
    """The press's `conf.py`, for which it is no fault that a run was on other versions."""
    return f"{sphinx_conf(root)}suppress_warnings += {_STALE!r}\n"


def in_environment(root: Path, chapters: Sequence[Chapter], environment: Environment, folder: Path) -> dict[str, Any]:
    """Print the book there; the report, with a row a chapter and one for all other pages.

    Args:
        root: the book's folder, where its chapters have run.
        chapters: those that have a row.
        environment: where it is printed.
        folder: for the configuration and the site.
    """
    versions = environment.versions()
    (folder / "conf.py").write_text(configuration(root), encoding="utf-8")
    command = [str(environment.python), "-m", "sphinx", "-b", "html", "-n", "-W", "--keep-going", "-q"]
    done = subprocess.run(
        [*command, "-c", str(folder), str(root), str(folder / "site")], capture_output=True, text=True, cwd=folder
    )
    complaints = _complaints(root, done.stdout + done.stderr)
    error = ""
    if done.returncode and not complaints:
        error = f"Sphinx does not print the book there: {' '.join((done.stderr or done.stdout).split())[-1000:]}"
    newest = ", ".join(f"{name} {versions.get(name, 'missing')}" for name in _NAMED)
    return {
        "label": f"{newest}, Python {versions['python']}",
        "error": error,
        "versions": versions,
        "chapters": [] if error else _rows(root, chapters, complaints, folder / "site"),
    }


def _complaints(root: Path, said: str) -> list[dict[str, Any]]:
    """The warnings of a build, by file and line as far as they have them."""
    found = []
    for line in _COLOUR.sub("", said).splitlines():
        match = _COMPLAINT.match(line.strip())
        if match:
            file = (match["file"] or "").removeprefix(f"{root}/")
            found.append({"file": file, "line": int(match["line"] or 0), "error": match["what"]})
    return found[:_LINES]


def _rows(
    root: Path, chapters: Sequence[Chapter], complaints: Sequence[dict[str, Any]], site: Path
) -> list[dict[str, Any]]:
    pages = {chapter.shown: chapter.contract.id for chapter in chapters}
    failed: dict[str, dict[str, Any]] = {}
    for complaint in complaints:
        name = pages.get(complaint["file"], complaint["file"] or "the site")
        where = {key: value for key, value in complaint.items() if value}
        failed.setdefault(name, {"chapter": name, "status": FAILED, **where})
    rows = [
        failed.pop(name, {"chapter": name, "status": PASSED})
        for file, name in pages.items()
        if (site / file).with_suffix(".html").is_file() or name in failed
    ]
    return [*rows, *failed.values()]
