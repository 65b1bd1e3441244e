"""Proofs of pages: kept until a file that the browser loaded for them changes, or the browser, or the test itself.

They are of two kinds: the tour's record of a page (`tour.seen`), and a test that uses some pages, here.

Which files a page loads is known once it was opened. Beside each proof the list of its files is kept, under the same
key without them; with it the files' digests of today make the whole key. The list of a page whose own bytes are the
same can only differ if one of the files on it does, and then the proof is made again, and with it the list.
"""

from __future__ import annotations

import ast
import functools
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import axe_playwright_python.base as axe
import pytest

from tests.browser import chromium, chromium_version
from tests.site.built import Notes, is_chosen, pages_in
from torchbook_proofs import Key, Store, digest, installed, processor

_TESTS = Path(__file__).resolve().parents[1]
_REPOSITORY = _TESTS.parent


def tools(*sources: Path) -> dict[str, str]:
    """The parts of a key that are not of the site: browser, axe, and the sources of what looks at the page."""
    own = (_TESTS / "browser.py", _TESTS / "axe.py", *sources)
    return {
        "chromium": chromium_version(chromium()),
        "axe": digest(Path(axe.AXE_FILE_PATH)),
        "tests": digest(*own, root=_TESTS),
    }


@dataclass(frozen=True)
class Ledger:
    """Proofs that depend on files of a site."""

    store: Store
    root: Path  # of the site

    def get(self, key: Key) -> Any | None:
        """What was stored with the proof, or None when there is none that may be kept."""
        files = self._lists.get(self._listed(key))
        return None if files is None else self.store.get(self._whole(key, files))

    def put(self, key: Key, files: Iterable[str], value: Any) -> None:
        """Store a pass that was seen, and the files of the site that it depends on."""
        names = sorted(files)
        self._lists.put(self._listed(key), names)
        self.store.put(self._whole(key, names), value)

    @property
    def _lists(self) -> Store:
        return Store(self.store.folder, self.store.fresh_since)  # lists are no proofs, and not counted as such

    def _listed(self, key: Key) -> Key:
        return Key(f"{key.kind}-files", key.subject, key.parts)

    def _whole(self, key: Key, files: Iterable[str]) -> Key:
        parts = {f"file {name}": digest(self.root / name, root=self.root) for name in files}
        return Key(key.kind, key.subject, {**key.parts, **parts})


# Tests that are kept.

_WHOLE = ""  # the name of the site's own folder, below it
# What a test may lean on besides the site: the packages of the repository.
_ROOMS = tuple(sorted(path.parent.name for path in _REPOSITORY.glob("torchbook*/__init__.py")))
_EXERCISES = "exercises"  # which a test that leans on a room knows by name, and those that it looks into
_NO_SOURCES = {"_build", "tests", "node_modules", "__pycache__"}  # and what begins with a dot
# Fixtures that outlive a test, and that read nothing of the site, or note it. What another one reads for the first test
# that asks for it, the next one would not be known to have read.
_NOTED = {"browser", "kernel", "site", "shared"}


def may_be_kept(item: pytest.Item) -> bool:
    """Whether a test is one to keep; those of the tour look at its records, which are kept themselves."""
    return isinstance(item, pytest.Function) and "record" not in item.fixturenames


def may_read_anything(item: pytest.Item) -> bool:
    """Whether a test may read what nobody notes, of the site and of the repository."""
    assert isinstance(item, pytest.Function)
    lasting = {
        name
        for name, fixtures in item._fixtureinfo.name2fixturedefs.items()
        if fixtures[-1].scope != "function" and fixtures[-1].baseid
    }
    return "site" not in item.fixturenames or not lasting <= _NOTED or "browser" in item._fixtureinfo.argnames


def key_of(item: pytest.Item) -> Key:
    """The key of a test, but for the files of the site that it reads."""
    return Key("reader", item.nodeid, _parts(item.path) | (_repository() if may_read_anything(item) else {}))


@functools.cache
def _parts(module: Path) -> dict[str, str]:
    helpers = sorted({*module.parent.glob("*.py"), _TESTS / "conftest.py"} - set(module.parent.glob("test_*.py")))
    parts = {**tools(*helpers, module), "installed": installed(), "processor": processor(), "data": _data()}
    if not _imports_rooms(module):
        return parts
    names = sorted(path.name for path in (_REPOSITORY / _EXERCISES).glob("*/*"))
    return parts | {room: digest(_REPOSITORY / room) for room in _ROOMS} | {_EXERCISES: ", ".join(names)}


def look_for_exercises(notes: Notes) -> None:
    """From now on note the folders of exercises that this process lists or in which it opens a file.

    A shelf that remembers an exercise still lists its folder each time, to see whether a file has changed.
    """
    above = f"{_REPOSITORY / _EXERCISES}{os.sep}"

    def seen(event: str, arguments: tuple[Any, ...]) -> None:
        if event in ("open", "os.listdir", "os.scandir") and arguments and isinstance(arguments[0], str | Path):
            path = os.path.abspath(arguments[0])
            if path.startswith(above) and path.count(os.sep, len(above)):
                notes.exercises.add("/".join(path[len(above) :].split(os.sep)[:2]))

    sys.addaudithook(seen)


def _of_exercise(name: str) -> str:
    return digest(_REPOSITORY / _EXERCISES / name)


def _data() -> str:
    """The data sets that are there; their bytes are checked by whoever loads them."""
    folder = Path(os.environ.get("TORCHBOOK_DATA", os.devnull))
    return ", ".join(sorted(path.name for path in folder.iterdir())) if folder.is_dir() else ""


@functools.cache
def _repository() -> dict[str, str]:
    sources = [path for path in sorted(_REPOSITORY.iterdir()) if path.name not in _NO_SOURCES and path.name[0] != "."]
    return {"repository": digest(*sources), "press's tests": digest(_TESTS / "press" / "conftest.py")}


def _imports_rooms(module: Path) -> bool:
    """Whether a test's module imports more of the project than what opens pages."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    names = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    return any(name.partition(".")[0] in _ROOMS for name in names)


def is_kept(ledger: Ledger, item: pytest.Item) -> bool:
    """Whether a test has passed with all that it depends on as it is now."""
    answers = ledger.get(key_of(item))
    return (
        answers is not None
        and answers["pages"] in (None, pages_in(ledger.root))
        and all(_of_exercise(name) == before for name, before in answers["exercises"].items())
        and all(is_chosen(ledger.root, *choice) for choice in answers["choices"].items())
    )


def keep(ledger: Ledger, item: pytest.Item, notes: Notes) -> None:
    """Keep that a test passed, with what it has read of the site."""
    files = {name for name in notes.files if (ledger.root / name).is_file()}
    whole = notes.whole or may_read_anything(item)
    answers = {
        "choices": notes.choices,
        "pages": pages_in(ledger.root) if notes.pages else None,
        "exercises": {name: _of_exercise(name) for name in sorted(notes.exercises)},
    }
    ledger.put(key_of(item), {_WHOLE} if whole else files, answers)
