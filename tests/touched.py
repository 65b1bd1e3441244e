"""`python -m tests.touched`: the tests of the rooms that the change at hand touches, for `make check`.

The change is what differs from the last commit, or, where nothing does, that commit itself; in a branch, all since it
left main.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ALWAYS = ("tests/test_style.py", "tests/test_repository.py")
_PACKAGES = {"torchbook_course": "course", "torchbook_press": "press", "torchbook_proofs": "proofs"}


def changed() -> list[str]:
    """Paths of the files that differ, from the root."""
    base = _git("merge-base", "HEAD", "origin/main") or _git("rev-parse", "HEAD")
    names = {*_git("diff", "--name-only", base).split(), *_git("ls-files", "--others", "--exclude-standard").split()}
    return sorted(names or _git("diff", "--name-only", "HEAD~1").split())


def tests_of(path: str) -> Iterator[str]:
    """Files or folders of tests that mirror a file: of its own name where there are such, else those of its room."""
    first, *rest = Path(path).parts
    if first == "tests" and rest:
        yield (
            path if Path(path).name.startswith("test_") else str(Path(path).parent) if len(rest) > 1 else "tests/proofs"
        )
    elif first == "exercises":
        yield "tests/exercises"
    elif first in _PACKAGES or first == "torchbook":
        room = _PACKAGES.get(first) or (rest[0] if len(rest) > 1 else "")
        folder = ROOT / "tests" / room
        stem = (rest[2] if rest[:2] == ["viz", "src"] and len(rest) > 3 else Path(path).stem).removeprefix("_")
        named = sorted(folder.rglob(f"test_{stem}*.py")) if room else sorted(folder.glob(f"*/test_{stem}*.py"))
        yield from (str(file.relative_to(ROOT)) for file in named)
        if not named and room and folder.is_dir():
            yield f"tests/{room}"
    elif first == "web":
        yield "tests/press/test_assets.py"
    elif first == ".github":
        yield "tests/test_workflows.py"


def selection(paths: Iterable[str]) -> list[str]:
    """What pytest is to be given for a change of these files, without what another entry holds already."""
    wanted = {name for path in paths for name in tests_of(path)} | set(ALWAYS)
    there = {name for name in wanted if (ROOT / name).exists()}
    return sorted(name for name in there if not any(str(above) in there for above in Path(name).parents))


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else ""


if __name__ == "__main__":
    print(*selection(changed()))
