"""Asks the models of the page: one node process a harness, started with the first question and kept by its worker."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import playwright

Ask = Callable[[str, list[Any]], list[Any]]

HARNESSES = Path(__file__).with_name("models")
SOURCES = Path(__file__).parents[2] / "torchbook/viz/src"
_BATCH = 500  # questions in one line: answers may be long


def node() -> str:
    """Where node is: the machine's own, else the one that comes with playwright."""
    return shutil.which("node") or str(Path(playwright.__file__).parent / "driver" / "node")


class Harness:
    """A node process that runs `models/harness_<name>.mjs`: a line of JSON in, a line of JSON out."""

    def __init__(self, name: str, source: Path = SOURCES) -> None:
        self.name = name
        self._process = subprocess.Popen(
            [node(), str(HARNESSES / f"harness_{name}.mjs"), str(source)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
        )  # fmt: skip

    def __call__(self, request: Any) -> Any:
        """What it answers to one request."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        assert answer, f"harness_{self.name}.mjs failed on {str(request)[:500]}"
        return json.loads(answer)

    def ask(self, what: str, of: list[Any], **more: Any) -> list[Any]:
        """The answers to one question, asked of each of a list."""
        answers: list[Any] = []
        for start in range(0, len(of), _BATCH):
            answers += self({"ask": what, "of": of[start : start + _BATCH], **more})
        return answers

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


class Harnesses:
    """Those that run, by name."""

    def __init__(self) -> None:
        self._running: dict[str, Harness] = {}

    def __getitem__(self, name: str) -> Harness:
        if name not in self._running:
            self._running[name] = Harness(name)
        return self._running[name]

    def close(self) -> None:
        """End them all."""
        for harness in self._running.values():
            harness.close()


@contextmanager
def mutant(name: str, folder: Path, path: str, right: str, wrong: str) -> Iterator[Harness]:
    """A harness of a module in which one rule is another, written into `folder`."""
    text = (SOURCES / path).read_text(encoding="utf-8")
    assert text.count(right) == 1
    changed = folder / path
    changed.parent.mkdir(parents=True)
    changed.write_text(text.replace(right, wrong), encoding="utf-8")
    harness = Harness(name, folder)
    try:
        yield harness
    finally:
        harness.close()
