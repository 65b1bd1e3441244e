"""Build hook of the wheel: the learner's edition of the exercises, written into `torchbook/practice/edition/`.

It holds what the page shows anyhow (statement, hints, stub and solution) and the public checks. Hidden checks, wrong
answers, variants and exercises for instructors are no part of it; grading needs a clone. In an editable install the
clone's own `exercises/` are found, so nothing is written.
"""

from __future__ import annotations

import importlib
import re
import sys
import tempfile
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

if TYPE_CHECKING:
    from torchbook.practice.exercise import Exercise

EDITION = "torchbook/practice/edition"
_MARKER = "The learner's edition: public checks only. The full folder is in the repository of the book.\n"
_HIDDEN_IN_HINT = re.compile(r",? ?\btest_hidden_\w+")


class EditionHook(BuildHookInterface):
    """Adds the edition to the wheel, by way of a temporary folder."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        write_edition(Path(self.root), Path(self._folder.name), self.config["exercises"])
        build_data["force_include"][self._folder.name] = EDITION

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self._folder.cleanup()


def write_edition(root: Path, target: Path, folder: str = "exercises") -> None:
    """Write the learner's edition of the exercises in a folder of `root`.

    Raises:
        FileNotFoundError: there are none, in an incomplete source tree for instance.
        torchbook.practice.exercise.ExerciseError: one of them is malformed.
    """
    exercises = root / folder
    if not any(exercises.rglob("exercise.md")):
        raise FileNotFoundError(f"{exercises}: no exercises; build from a complete clone")
    reader = _reader(root)
    pages = sorted(exercises.glob(reader.PAGES))
    for page in pages:
        exercise = reader.load(page.parent)
        if exercise.contract.audience == "everyone":
            _write(exercise, page, target / page.parent.relative_to(exercises))


def _write(exercise: Exercise, page: Path, target: Path) -> None:
    files = {"LEARNER": _MARKER, "exercise.md": _without_hidden(page.read_text(encoding="utf-8"))}
    if exercise.contract.kind == "code":  # a quiz is derived from its page
        files |= {"solution.py": exercise.solution, "checks.py": exercise.public_checks}
    target.mkdir(parents=True)
    for name, content in files.items():
        (target / name).write_text(content, encoding="utf-8", newline="\n")


def _without_hidden(page: str) -> str:
    """The page with hidden checks taken out of the braces of its hints."""
    lines = page.splitlines(keepends=True)
    return "".join(_plain(line) if line.startswith("## Hint: ") else line for line in lines)


def _plain(line: str) -> str:
    kept = _HIDDEN_IN_HINT.sub("", line)
    return re.sub(r" \{\}$", "", kept.replace("{, ", "{"), flags=re.MULTILINE)


def _reader(root: Path) -> types.ModuleType:
    """The reader of exercises, without the rest of the package: its dependencies are not there during a build."""
    before = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "torchbook"}
    try:
        for name in ("torchbook", "torchbook.practice"):
            package = types.ModuleType(name)
            package.__path__ = [str(root / Path(*name.split(".")))]
            sys.modules[name] = package
        return importlib.import_module("torchbook.practice.exercise")
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "torchbook"]:
            del sys.modules[name]
        sys.modules.update(before)
