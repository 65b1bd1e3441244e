"""What the answers of the self-test p00-x1 say, run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from torchbook.practice import shelf
from torchbook.practice.quiz import Question


def question(name: str) -> Question:
    return next(candidate for candidate in shelf.find("p00-x1").contract.questions if candidate.name == name)


def right(name: str) -> str:
    """The right option, or the example of a short answer."""
    asked = question(name)
    return next((option.text for option in asked.options if option.right), asked.example)


def test_made() -> None:
    class C:
        def __new__(cls, argument: int) -> C | None:
            assert argument == 1
            return None

        def __init__(self, argument: int) -> None:
            raise AssertionError("not reached: `__new__` returned no C")

    assert C(1) is None
    assert right("made").startswith("`__new__`; `__init__`")


def test_shared() -> None:
    class Log:
        lines: list[str] = []  # noqa: RUF012

    a, b = Log(), Log()
    a.lines.append("x")
    assert f"`{b.lines}`" == right("shared")


def test_decorated() -> None:
    calls = []

    def timed(function: object) -> object:
        calls.append(function)
        return function

    @timed
    def step(batch: object) -> None: ...

    assert len(calls) == 1
    step(1), step(2)
    assert len(calls) == 1
    assert right("decorated").startswith("Once")


def test_leaving() -> None:
    left = []

    class Manager:
        def __enter__(self) -> None: ...

        def __exit__(self, *error: object) -> None:
            left.append(error)

    with pytest.raises(ValueError, match="inside"), Manager():
        raise ValueError("inside")
    assert left[0][0] is ValueError
    assert right("leaving").startswith("It runs, and the exception goes on")


def test_lazy(capsys: pytest.CaptureFixture[str]) -> None:
    def numbers():
        print("start")
        yield 1

    it = numbers()
    assert capsys.readouterr().out == ""
    assert right("lazy") == "Nothing"
    assert next(it) == 1
    assert capsys.readouterr().out == "start\n"


def test_twice() -> None:
    it = (n * n for n in range(3))
    assert right("twice") == f"`{sum(it)}` and `{sum(it)}`"


def test_axis() -> None:
    x = np.zeros((2, 3, 4))
    assert right("axis") == str(x.sum(axis=1).shape)
    assert x.sum(axis=1, keepdims=True).shape == (2, 1, 4)


def test_broadcast() -> None:
    a, b = np.zeros((5, 3)), np.zeros(5)
    with pytest.raises(ValueError, match="broadcast"):
        a + b
    assert (a + b[:, None]).shape == (5, 3)
    assert (a + b[:, None, None]).shape == (5, 5, 3)
    assert right("broadcast") == "An error"


def test_slice_and_listed() -> None:
    a = np.arange(5)
    b = a[1:3]
    b[0] = 99
    assert right("slice") == f"`{a[1]}`"
    a = np.arange(5)
    c = a[[1, 2]]
    c[0] = 99
    assert right("listed") == f"`{a[1]}`"
    t = torch.arange(5)
    t[[1, 2]][0] = 99
    assert t[1] == 1


def test_overflow() -> None:
    u, v = np.array([200], np.uint8), np.array([100], np.uint8)
    assert right("overflow") == f"`{(u + v).item()}`"


def test_strides() -> None:
    x = np.zeros((3, 4))
    assert right("strides") == str(x.strides)
    assert torch.from_numpy(x).stride() == (4, 1)


def test_product() -> None:
    a, b = np.zeros((3, 4)), np.zeros((4, 5))
    assert (a @ b).shape == (3, 5)
    with pytest.raises(ValueError, match="broadcast"):
        a * b
    assert right("product") == "`A @ B` has shape `(3, 5)`, `A * B` raises"


def flops(m: int, k: int, n: int) -> int:
    with FlopCounterMode(display=False) as counter:
        torch.zeros(m, k) @ torch.zeros(k, n)
    return counter.get_total_flops()


def test_cost_and_growth() -> None:
    assert right("cost") == str(flops(10, 20, 30))
    assert flops(20, 20, 20) == 8 * flops(10, 10, 10)
    assert right("growth") == "Eight times as much"


def test_chain_and_partial() -> None:
    x = torch.tensor(1.0, requires_grad=True)
    ((3 * x + 1) ** 2).backward()
    assert float(right("chain")) == x.grad
    x, y = torch.tensor(2.0, requires_grad=True), torch.tensor(5.0, requires_grad=True)
    (x**2 * y).backward()
    assert float(right("partial")) == x.grad
    assert x.grad + y.grad == 24
    assert y.grad == 4


@pytest.mark.parametrize(("both", "where"), [("", "screen"), (" 2>&1", "log")])
def test_redirect(tmp_path: Path, both: str, where: str) -> None:
    (tmp_path / "train.py").write_text("raise RuntimeError('diverged')")
    line = f'"{sys.executable}" train.py > log.txt{both}'
    done = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True)
    outputs = {"screen": done.stderr, "log": (tmp_path / "log.txt").read_text()}
    assert [name for name, text in outputs.items() if "diverged" in text] == [where]
    assert right("redirect") == "On the screen"


def test_release_and_lines(tmp_path: Path) -> None:
    who = {f"GIT_{role}_{what}": "a@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}

    def git(words: str) -> subprocess.CompletedProcess[str]:
        command = ["git", *words.removeprefix("git ").split()]
        return subprocess.run(command, cwd=tmp_path, env=os.environ | who, capture_output=True, text=True)

    git("init -q")
    for text in ("one\n", "two\n"):
        (tmp_path / "model.py").write_text(text)
        git("add model.py")
        git(f"commit -qm {text.strip()}")
        git(f"tag v2.{text.strip()}")
    release = right("release").strip("`").replace("v2.1", "v2.one")
    assert git(f"{right('lines')} model.py").stdout.endswith("two\n")
    assert git("pull v2.one").returncode != 0
    assert (tmp_path / "model.py").read_text() == "two\n"
    assert git(release).returncode == 0
    assert (tmp_path / "model.py").read_text() == "one\n"
    assert git("switch --detach v2.two").returncode == 0


def test_cleared() -> None:
    w = torch.ones(1, requires_grad=True)
    for _ in range(10):
        (3 * w).sum().backward()
    assert w.grad == 30
    assert right("cleared").startswith("The sum")


def test_evaluation() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5)).eval()
    out = model(torch.ones(1, 2))
    assert out.requires_grad
    assert model[0].weight.requires_grad
    assert out.equal(model(torch.ones(1, 2)))
    assert "dropout" in right("evaluation")


def test_transposed() -> None:
    x = torch.zeros(1000, 1000)
    assert x.t().data_ptr() == x.data_ptr()
    assert right("transposed") == "None"


def test_recorded() -> None:
    x = torch.ones(1, requires_grad=True)
    first, second = x * 2, x * 2
    assert first.grad_fn is not None
    assert first.grad_fn is not second.grad_fn
    assert right("recorded").startswith("While the forward runs")
