"""A small book of its own for each test of the press."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml
from nbformat import NotebookNode
from typer.testing import CliRunner, Result

from torchbook.cli import app
from torchbook_press import seal
from torchbook_press.chapters import Chapter
from torchbook_press.key import declared
from torchbook_press.run import REQUIRE_COMPILER, RUN, Options
from torchbook_press.world import PROTECTED
from torchbook_proofs.store import FOLDER as PROOFS

from ..conftest import PATIENCE

FRONT = """\
---
file_format: mystnb
kernelspec: {{name: python3, display_name: Python 3, language: python}}
torchbook:
  id: {name}
  title: {title}
  outcome: Counts.
  minutes: {minutes}
  memory_gb: {memory_gb}
---

# {title}

```{{code-cell}} ipython3
:tags: [parameters]

DEVICE = "auto"
FAST = False
SEED = 0
```
"""
_PRINT = """\
import sys
from pathlib import Path

from torchbook_press import build

sys.exit(build.html(Path(sys.argv[1])))
"""


def cell(code: str, *tags: str, raises: str = "") -> str:
    """A code cell in MyST; `raises` names the error, as the cell's option does."""
    tags = (*tags, "raises-exception") if raises else tags
    head = f":tags: [{', '.join(tags)}]\n" if tags else ""
    head += f":raises: {raises}\n" if raises else ""
    head += "\n" if head else ""
    return f"\n```{{code-cell}} ipython3\n{head}{code}\n```\n"


def as_if_it_ran(chapter: Chapter, nb: NotebookNode, **record: Any) -> None:
    """Write a notebook as the press writes one of a run that holds.

    Args:
        chapter: the chapter, which did not run.
        nb: what came of it.
        record: what differs from a usual run.
    """
    options = Options()
    usual = {"key": "k", "lane": "cpu", "device": "CPU", "threads": 1, "date": "2026-01-02", "seconds": 1.0}
    usual |= {"commit": "", "data": {}, "versions": {"torch": "2", "python": "3"}, "peak_gb": 1.0, "observed": {}}
    usual |= {"parameters": options.parameters, "declared": declared(chapter, options.parameters, options.lane)}
    nb.metadata[RUN] = usual | record
    seal.write(chapter.executed, nb)


@dataclass
class Book:
    """A book in a temporary folder."""

    root: Path

    def page(self, name: str, text: str) -> Path:
        path = self.root / "book" / f"{name}.md"
        path.write_text(text, encoding="utf-8")
        self._list(name)
        return path

    def chapter(self, name: str, *parts: str, minutes: float = 1, memory_gb: float = 2) -> Path:
        front = FRONT.format(name=name, title=name.capitalize(), minutes=minutes, memory_gb=memory_gb)
        return self.page(name, front + "\n".join(parts))

    def folder(self, name: str, **pages: str) -> Path:
        """A chapter that is a folder: an index of prose, and its pages with what stands on them; its path."""
        folder = self.root / "book" / name
        folder.mkdir()
        index = folder / "index.md"
        index.write_text(f"# {name.capitalize()}\n\nWhat its pages are about.\n", encoding="utf-8")
        for page, text in pages.items():
            own = f"{name.partition('-')[0]}-{page}"
            front = FRONT.format(name=own, title=page.capitalize(), minutes=1, memory_gb=2)
            (folder / f"{page}.md").write_text(front + text, encoding="utf-8")
        self._list(f"{name}/index", *(f"{name}/{page}" for page in pages))
        return index

    def _list(self, name: str, *pages: str) -> None:
        contents = yaml.safe_load(self.toc.read_text())
        entries = contents.setdefault("chapters", [])
        if not any(entry["file"] == f"book/{name}" for entry in entries):
            sections = [{"file": f"book/{page}"} for page in pages]
            entries.append({"file": f"book/{name}"} | ({"sections": sections} if sections else {}))
        self.toc.write_text(yaml.safe_dump(contents, sort_keys=False))

    @property
    def toc(self) -> Path:
        return self.root / "_toc.yml"

    def executed(self, name: str) -> Path:
        return self.root / "executed" / "book" / f"{name}.ipynb"

    def torchbook(self, *arguments: str) -> Result:
        """The command, in this process; what the processes that it starts say is not in what it says."""
        return CliRunner().invoke(app, [*arguments, "--root", str(self.root)])

    def typed(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The command as a user types it."""
        command = [sys.executable, "-m", "torchbook", *arguments, "--root", str(self.root)]
        environment = {**os.environ, "COLUMNS": "200"}
        return subprocess.run(command, capture_output=True, text=True, timeout=240, env=environment)

    def printed(self) -> subprocess.CompletedProcess[str]:
        """The build of the site alone, with all that it says."""
        command = [sys.executable, "-c", _PRINT, str(self.root)]
        return subprocess.run(command, capture_output=True, text=True, timeout=240)

    def html(self, name: str) -> str:
        return (self.root / "_build" / "html" / "book" / f"{name}.html").read_text(encoding="utf-8")


def kernels(book: Book) -> list[psutil.Process]:
    """The kernels that run now for a book, in boxes or not."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        if (process.info["cmdline"] or [])[1:3] == ["-m", "ipykernel_launcher"]:
            with suppress(psutil.Error):
                if process.environ().get(PROTECTED, "").split(os.pathsep)[0] == str(book.root.resolve()):
                    found.append(process)
    return found


def without_compiler(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chapter that needs a compiler, on a machine that has none."""
    path = book.chapter("kernels", "The answer is {glue:text}`answer`.", cell("6 * 7"))
    path.write_text(path.read_text().replace("  minutes:", "  needs: [cpu, compiler]\n  minutes:"))
    monkeypatch.setenv("CXX", "no-such-compiler")
    monkeypatch.delenv(REQUIRE_COMPILER, raising=False)


def small_book(root: Path, repo: Path) -> Book:
    """A book with an index page and the repository's configuration and web folder."""
    (root / "book").mkdir()
    (root / "book" / "index.md").write_text("# A small book\n\nIts front page.\n")
    (root / "_toc.yml").write_text("format: jb-book\nroot: book/index\n")
    (root / "requirements.txt").write_text("torch==2.15.0\n")
    shutil.copy(repo / "_config.yml", root)
    shutil.copytree(repo / "web", root / "web")
    return Book(root)


@pytest.fixture(scope="package", autouse=True)
def _no_kept_runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The runs of these small books are not kept with those of the book, and none of them is taken from there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PROOFS, str(tmp_path_factory.mktemp("proofs")))
        yield


@pytest.fixture
def book(tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch) -> Book:
    """A small book that a test may change, with kept runs of its own."""
    monkeypatch.setenv(PROOFS, str(tmp_path / "proofs"))
    return small_book(tmp_path, repo)


_CODE = {
    "exercise.md": """\
---
id: t01-x1
title: Add `two` numbers
chapter: t01
stars: 2
minutes: 1
importance: 4
points: {public: 1, hidden: 2}
needs: [cpu, processes]
seconds: 5
---
`add(a, b)` returns $a + b$.

- Use *plain* Python.

## Hint: The result is `None` {test_sum}

A function without `return` returns nothing.
""",
    "solution.py": '''\
def add(a: int, b: int) -> int:
    """The sum."""
    ### BEGIN SOLUTION
    return a + b
    ### END SOLUTION
''',
    "checks.py": """\
def test_sum(add):
    assert add(1, 2) == 3, "one and two are three"


def test_hidden_many(add, reference, seed):
    for kangaroo in range(seed, seed + 20):
        assert add(kangaroo, seed) == reference.add(kangaroo, seed), "wrong for other numbers"
""",
    "wrong.md": """\
# Wrong answers

## times {test_sum}

multiplies them like rabbits

```diff
-    return a + b
+    return a * b * 1 * 1 * 1
```
""",
    "wrong/three.py": """\
# test_hidden_many: knows one case only
def add(a, b):
    three_is_always_right = 3
    return three_is_always_right
""",
}
_QUIZ = {
    "exercise.md": """\
---
id: t01-x2
title: Two questions
chapter: t01
kind: quiz
stars: 5
minutes: 2
importance: 1
points: {public: 1, hidden: 1}
seconds: 5
questions:
  - name: number
    ask: |
      What is $1 + 1$?

      ```python
      1 + 1
      ```
    options:
      - {text: "`11`", why: "That joins *texts*."}
      - {text: "`2`", right: true, why: "Integers are added."}
  - name: word
    ask: Which function gives the length of a list?
    accept: ["len(\\\\(.*\\\\))?"]
    example: len
    why: It asks the list.
    tempting:
      - {match: "(array\\\\.)?size", example: size, why: "That is what arrays have."}
---
Two short ones.

## Hint: Neither is clear

Ask Python.
"""
}
_SELF_TEST = """\
---
id: t01-x3
title: What is known
chapter: t01
kind: quiz
stars: 1
minutes: 2
importance: 1
points: {public: 1, hidden: 1}
seconds: 5
topics:
  - name: sums
    title: "Sums with `+`"
    read:
      - {title: "Blocks, its `last` section", page: blocks, section: exercises}
      - {title: All, page: all}
  - name: lists
    title: Lists
    read: [{title: Elsewhere, url: "https://example.org/lists"}]
questions:
  - name: number
    topic: sums
    ask: What is 1 + 1?
    options:
      - {text: "11", why: That joins texts.}
      - {text: "2", right: true, why: Integers are added.}
  - name: word
    topic: lists
    ask: Which function gives the length of a list?
    accept: ["len"]
    example: len
    why: It asks the list.
---
What do you know?
"""


def write_self_test(folder: Path, *changes: tuple[str, str]) -> None:
    """A quiz t01-x3 with topics; pages that it says to read are `book/blocks` and `book/all`."""
    text = _SELF_TEST.replace("page: ", "page: book/")
    for change in changes:
        text = text.replace(*change)
    path = folder / "t01/x3-known" / "exercise.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


_PRIVATE = {
    **_CODE,
    "exercise.md": _CODE["exercise.md"]
    .replace("t01-x1", "t01-x9")
    .replace("Add `two` numbers", "A secret platypus exercise")
    .replace("chapter: t01", "chapter: t01\naudience: instructor"),
}


def write_exercises(folder: Path) -> None:
    """A code exercise t01-x1, a quiz t01-x2, and t01-x9, which is for instructors alone."""
    for name, files in (("t01/x1-add", _CODE), ("t01/x2-words", _QUIZ), ("t01/x9-secret", _PRIVATE)):
        for file, text in files.items():
            path = folder / name / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


def until(happens: Callable[[], bool]) -> None:
    """Wait for what comes soon."""
    end = time.monotonic() + 60 * PATIENCE
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.05)
