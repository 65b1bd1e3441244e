"""What an exercise imports and is not installed is said before its check."""

from __future__ import annotations

import pytest

from tests.practice.conftest import CHECKS, SOLUTION, Write
from torchbook.practice import packages
from torchbook.practice.exercise import load


@pytest.fixture(autouse=True)
def absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where neither torch nor onnx is installed."""
    monkeypatch.setattr(packages, "_is_here", lambda module: module not in ("torch", "torchgen", "onnx"))


@pytest.mark.parametrize(("line", "message"), [
    ("import torch", "PyTorch is not installed here: pip install torch"),
    ("from torch.nn import functional", "PyTorch is not installed here: pip install torch"),
    ("import torchgen.model", "PyTorch is not installed here: pip install torch"),
    ("import torch, onnx", "onnx and PyTorch are not installed here: pip install onnx torch"),
    ("from torchbook.llm import GPT", "PyTorch is not installed here: pip install torch"),
    ("from torchbook import llm", "PyTorch is not installed here: pip install torch"),
])  # fmt: skip
def test_what_the_reference_imports_is_said_with_the_remedy(write: Write, line: str, message: str) -> None:
    exercise = load(write({"solution.py": f"{line}\n{SOLUTION}"}))
    with pytest.raises(packages.NotInstalledError, match=f"^{message}$"):
        packages.require(exercise)


def test_what_the_public_checks_import_is_said(write: Write) -> None:
    exercise = load(
        write({"checks.py": "import torch\n" + CHECKS.replace("assert add(0, 0)", "assert torch and add(0, 0)")})
    )
    with pytest.raises(packages.NotInstalledError, match="PyTorch"):
        packages.require(exercise)


@pytest.mark.parametrize("line", ["import random", "import numpy", "from torchbook import __version__", "import yaml"])
def test_what_is_here_is_not_asked_for(write: Write, line: str) -> None:
    packages.require(load(write({"solution.py": f"{line}\n{SOLUTION}"})))


def test_what_only_one_function_imports_is_left_to_it(write: Write) -> None:
    checks = CHECKS.replace("def test_zero(add):\n", "def test_zero(add):\n    import torch\n")
    assert checks != CHECKS
    packages.require(load(write({"checks.py": checks})))
