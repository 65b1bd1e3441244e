"""What the explorer writes above a graph computes what torch computed, or nothing is written."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
import torch

from torchbook.viz import AutogradExplorer

from ..asking import SOURCES, node

SEED, MANY = 20261127, 40
Named = dict[str, torch.Tensor]
FUNCTIONS = ("exp", "log", "relu", "tanh", "sigmoid", "sin", "cos", "sqrt", "abs")


def scalars(*values: float) -> list[torch.Tensor]:
    return [torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in values]


def random_scalars(rng: random.Random) -> AutogradExplorer:
    """The graph of a few operations on two scalars and constants; some results have names."""
    x, y = scalars(rng.uniform(0.5, 2), rng.uniform(0.5, 2))
    plan = [(rng.randrange(7), rng.random(), rng.random(), rng.choice(FUNCTIONS)) for _ in range(rng.randint(1, 5))]

    def build() -> tuple[torch.Tensor, Named]:
        pool, names = [x, y], {}
        for number, (kind, first, second, function) in enumerate(plan):
            a, b = pool[int(first * len(pool))], pool[int(second * len(pool))]
            made = [a + b, a - b, a * b, a / (b * b), a * 3.0, a**2, getattr(torch, function)(a * a)][kind]
            pool.append(made)
            if second < 0.4:
                names[f"t{number}"] = made
        return pool[-1] * x, names

    return AutogradExplorer(build, {"x": x, "y": y})


def scaled(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.add(x, y, alpha=3) * x


def constant(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (2 - x) * (y + 3)


def cut(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x * y.detach()


def negative(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x * -2.0 * y


def reductions(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.stack([x, y]).sum() * x


@pytest.fixture(scope="module")
def lines_of() -> Callable[[list[AutogradExplorer]], list[list[str]]]:
    """What written.js makes of the first graph of each of them."""

    def ask(explorers: list[AutogradExplorer]) -> list[list[str]]:
        shown = [{"graph": one.graphs[0], "tensors": one.tensors} for one in explorers]
        script = (SOURCES / "autograd" / "written.js").as_uri()
        code = f"""import {{ written }} from {json.dumps(script)};
let text = ""; for await (const part of process.stdin) text += part;
console.log(JSON.stringify(JSON.parse(text).map(({{ graph, tensors }}) => written(graph, tensors).lines)));"""
        command = [node(), "--input-type=module", "-e", code]
        ran = subprocess.run(command, input=json.dumps(shown), capture_output=True, text=True, timeout=60, check=True)
        return json.loads(ran.stdout)

    return ask


def computed(lines: list[str], explorer: AutogradExplorer) -> tuple[dict[str, float], dict[str, float]]:
    """The values that the lines give to their names, and those that were recorded."""
    rows = {row["label"]: row for row in explorer.graphs[0]["nodes"] if row["label"]}
    recorded = {name: float(explorer.tensors[row["value"]]["data"][0]) for name, row in rows.items()}
    known: dict[str, Any] = {name: getattr(torch, name) for name in FUNCTIONS}
    known |= {n: torch.tensor(recorded[n], dtype=torch.float64) for n, row in rows.items() if row["kind"] == "leaf"}
    for line in lines:
        exec(line, {}, known)
    names = [line.partition(" = ")[0] for line in lines]
    return {name: float(known[name]) for name in names}, {name: recorded[name] for name in names}


def test_lines_compute_what_was_recorded(lines_of: Callable[[list[AutogradExplorer]], list[list[str]]]) -> None:
    rng = random.Random(SEED)
    explorers = [random_scalars(rng) for _ in range(MANY)]
    written = lines_of(explorers)
    for lines, explorer in zip(written, explorers, strict=True):
        found, recorded = computed(lines, explorer)
        assert found == pytest.approx(recorded, rel=1e-9), lines
    assert sum(map(bool, written)) > MANY / 2, "most of them are brief enough"


@pytest.mark.parametrize("build", [scaled, constant, cut, negative, reductions], ids=lambda build: build.__name__)
def test_what_is_not_all_known_is_written_rightly_or_not(
    build: Callable[..., torch.Tensor], lines_of: Callable[[list[AutogradExplorer]], list[list[str]]]
) -> None:
    x, y = scalars(1.5, 0.75)
    explorer = AutogradExplorer(lambda: (build(x, y), {}), {"x": x, "y": y})
    (lines,) = lines_of([explorer])
    found, recorded = computed(lines, explorer)
    assert found == pytest.approx(recorded, rel=1e-9), lines
