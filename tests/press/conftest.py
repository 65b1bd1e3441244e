"""A small book of its own for each test of the press."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

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


def cell(code: str, *tags: str) -> str:
    """A code cell in MyST."""
    head = f":tags: [{', '.join(tags)}]\n\n" if tags else ""
    return f"\n```{{code-cell}} ipython3\n{head}{code}\n```\n"


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

    def _list(self, name: str) -> None:
        names = [line.split("/")[-1] for line in self.toc.read_text().splitlines() if "- file" in line]
        names += [] if name in names else [name]
        entries = "".join(f"- file: book/{entry}\n" for entry in names)
        self.toc.write_text(f"format: jb-book\nroot: book/index\nchapters:\n{entries}")

    @property
    def toc(self) -> Path:
        return self.root / "_toc.yml"

    def executed(self, name: str) -> Path:
        return self.root / "executed" / "book" / f"{name}.ipynb"

    def torchbook(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The command as a user types it."""
        command = [sys.executable, "-m", "torchbook", *arguments, "--root", str(self.root)]
        environment = {**os.environ, "COLUMNS": "200"}
        return subprocess.run(command, capture_output=True, text=True, timeout=240, env=environment)

    def html(self, name: str) -> str:
        return (self.root / "_build" / "html" / "book" / f"{name}.html").read_text(encoding="utf-8")


@pytest.fixture
def book(tmp_path: Path, repo: Path) -> Book:
    """A book with an index page and the repository's configuration and web folder."""
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "index.md").write_text("# A small book\n\nIts front page.\n")
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: book/index\n")
    (tmp_path / "requirements.txt").write_text("torch==2.15.0\n")
    shutil.copy(repo / "_config.yml", tmp_path)
    shutil.copytree(repo / "web", tmp_path / "web")
    return Book(tmp_path)
