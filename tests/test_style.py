"""Style, types and doors: one test for each tool, with the tool's own words when it fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def run(repo: Path, *command: str) -> None:
    done = subprocess.run(command, cwd=repo, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_ruff_finds_nothing(repo: Path) -> None:
    run(repo, sys.executable, "-m", "ruff", "check", ".")


def test_code_is_formatted(repo: Path) -> None:
    run(repo, sys.executable, "-m", "ruff", "format", "--check", "--diff", ".")


def test_types_hold(repo: Path) -> None:
    run(repo, sys.executable, "-m", "mypy")


def test_doors_between_the_rooms_hold(repo: Path) -> None:
    run(repo, sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()")
