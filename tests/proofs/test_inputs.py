"""The inputs that folders of tests declare cover what their tests import, however deep."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path

import grimp
import pytest

from tests import kept

PACKAGES = ("tests", "torchbook", "torchbook_course", "torchbook_press", "torchbook_proofs")
FILES = sorted(path.relative_to(kept.ROOT).as_posix() for path in kept.ROOT.glob("tests/**/test_*.py"))
NARROW = [file for file in FILES if "." not in kept.inputs_of(file)]


@cache
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(*PACKAGES, cache_dir=None)


def source(module: str) -> str:
    """The path of a module's file, from the root."""
    path = Path(*module.split("."))
    return (path / "__init__.py" if (kept.ROOT / path).is_dir() else path.with_suffix(".py")).as_posix()


def within(name: str, inputs: tuple[str, ...]) -> bool:
    return any(name == path or name.startswith(f"{path}/") for path in inputs)


@pytest.mark.parametrize("file", NARROW)
def test_what_a_test_imports_is_among_its_inputs(file: str) -> None:
    module = file.removesuffix(".py").replace("/", ".")
    needed = {source(name) for name in graph().find_upstream_modules(module)}
    assert sorted(name for name in needed if not within(name, (file, *kept.inputs_of(file)))) == []


def test_every_folder_that_is_named_exists() -> None:
    assert [name for name in kept.INPUTS if not (kept.ROOT / name).exists()] == []


def test_the_packages_are_all_that_there_are() -> None:
    packages = {path.parent.name for path in kept.ROOT.glob("*/__init__.py")}
    assert packages == set(PACKAGES)
    assert all(importlib.util.find_spec(name) for name in PACKAGES)
