"""The Triton kernels: right in the interpreter, compiled for Hopper without one, and clear about what is missing."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest

from tests.kernels import cases
from tests.kernels.fresh import python

pytest.importorskip("triton", reason="triton is built for Linux only")
NAMES = [name for name in vars(cases) if name.startswith("case_")]


@functools.cache
def tracebacks() -> dict[str, str]:
    done = python("-m", "tests.kernels.cases")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", NAMES)
def test_interpreted(name: str) -> None:
    assert tracebacks()[name] == ""


@functools.cache
def compiled(*arguments: str) -> list[dict[str, Any]]:
    done = python("-m", "torchbook.kernels.ptx", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_kernel_compiles_for_hopper_and_uses_its_matrix_units() -> None:
    results = compiled("--first")
    kernels = {result["kernel"]: result["instructions"] for result in results}
    products = {name for name in kernels if name.startswith(("matmul", "mlp", "attention"))}
    assert len(products) == 7
    assert all(kernels[name].get("wgmma", 0) > 0 for name in products)
    assert all(kernels[name].get("tile copies", 0) > 0 for name in products if name.endswith("descriptors"))
    assert set(kernels) - products == {"add", "softmax"}


def test_no_configuration_spills_or_outgrows_shared_memory() -> None:
    results = compiled("--first")
    assert [result["kernel"] for result in results if result["stack"] or not result["fits"]] == []


def test_compiles_for_ampere_as_well() -> None:
    (result,) = compiled("mlp", "--first", "--arch", "80")
    assert result["instructions"]["mma"] > 0
    assert "wgmma" not in result["instructions"]


def test_benchmark_says_that_nothing_was_measured(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    done = python("-m", "torchbook.kernels.bench", "softmax", "--json", str(file))
    assert done.returncode == 0, done.stderr
    assert "Nothing was measured" in done.stdout
    assert "6 of 6 checks right" in done.stdout
    results = json.loads(file.read_text())
    assert len(results["checked"]) == 6
    assert results["measured"] == []


def test_importing_too_late_says_what_to_do() -> None:
    done = python("-c", "import triton, torchbook.kernels")
    assert done.returncode == 1
    assert "before anything imports triton" in done.stderr


def test_without_triton_the_error_says_what_is_missing() -> None:
    hide = "import sys; sys.modules['triton'] = None; import importlib.util as u; f = u.find_spec; "
    hide += "u.find_spec = lambda name, *a: None if name == 'triton' else f(name, *a); import torchbook.kernels"
    done = python("-c", hide)
    assert done.returncode == 1
    assert "needs triton, which is built for Linux only" in done.stderr


def test_an_explicit_choice_is_respected() -> None:
    script = "from torchbook import kernels; print(kernels.INTERPRETED)"
    assert python("-c", script).stdout.strip() == "True"
    assert python("-c", script, TRITON_INTERPRET="0").stdout.strip() == "False"


def test_tests_of_exercises_interpret_whatever_was_imported_before() -> None:
    script = "import tests.conftest, torchvision, triton.language as tl; print(type(tl.sum).__name__)"
    assert python("-c", f"{script}; import torchbook.kernels").stdout.strip() == "InterpretedFunction"
