"""OptimizerRacer in Python: what it takes, what it refuses, what it says and draws, and whether its notes are true."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest
import torch

from torchbook.viz import OptimizerRacer
from torchbook.viz.racer import RACERS, Run, loss, setup, surfaces

from ..samples import Look, Sample, fill

SVG = "{http://www.w3.org/2000/svg}"


def test_arguments_become_the_state() -> None:
    w = OptimizerRacer("bowl", ("adam", "sgd"), (1, -0.5), 30, adam={"lr": 0.2, "betas": (0.8, 0.99)}, link="race")
    assert (w.surface, w.optimizers, w.start, w.steps, w.step, w.link) == (
        "bowl",
        ["sgd", "adam"],
        [1, -0.5],
        30,
        30,
        "race",
    )
    assert w.adam == {"lr": 0.2, "betas": [0.8, 0.99], "weight_decay": 0}
    assert w.sgd == {"lr": 0.05, "weight_decay": 0}


def test_runs_are_those_of_torch() -> None:
    runs = OptimizerRacer("bowl", ("sgd", "momentum"), (2, 1), 3, sgd={"lr": 0.5}, momentum={"lr": 0.5}).runs
    assert runs["sgd"].points == [(2, 1), (1, 0.5), (0.5, 0.25), (0.25, 0.125)]
    assert runs["sgd"].losses == [2.5, 0.625, 0.15625, 0.0390625]
    p = torch.tensor([2.0, 1.0], dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.SGD([p], lr=0.5, momentum=0.9)
    for at in runs["momentum"].points[1:]:
        optimizer.zero_grad()
        (p.square().sum() / 2).backward()
        optimizer.step()
        assert p.tolist() == pytest.approx(at, rel=1e-12)


def test_words_say_where_each_racer_is() -> None:
    w = OptimizerRacer("bowl", ("sgd", "adam"), (2, 1), 4, step=1, sgd={"lr": 0.5}, adam={"lr": 1, "betas": (0.5, 0.5)})
    assert w.words == (
        "Bowl from (2, 1), step 1 of 4. SGD (lr 0.5): loss 0.625, 1.12 from the minimum. "
        "Adam (lr 1, betas 0.5 and 0.5): loss 0.5, 1 from the minimum. Lowest loss: Adam."
    )
    w.step = 0
    assert "Lowest" not in w.words
    w.sgd = {"lr": 2.5, "weight_decay": 0.1}
    w.step = 3
    assert "SGD (lr 2.5, weight decay 0.1): loss 71.8, 12 from the minimum, outside the picture." in w.words
    w.sgd = {"lr": 10}
    w.step = 4
    assert "SGD (lr 10): diverged at step 3." in w.words
    assert w.runs["sgd"].diverged == 3


def test_traits_follow_each_other() -> None:
    w = OptimizerRacer("rosenbrock", ("sgd",), (0, 2.2), 50)
    w.surface = "bowl"
    assert w.start == surfaces()["bowl"]["start"]
    w.steps = 80
    assert w.step == 80
    w.step = 60
    w.steps = 20
    assert w.step == 20
    w.sgd = {"lr": 1}
    assert (w.sgd, w.runs["sgd"].losses[-1]) == ({"lr": 1, "weight_decay": 0}, 0)
    assert w.words == "Bowl from (−2.4, 1.4), step 20 of 20. SGD (lr 1): loss 0, 0 from the minimum."


def test_what_a_reader_sends_at_once_fits_together() -> None:
    w = OptimizerRacer("rosenbrock", start=(0, 2.2))
    w.set_state({"surface": "bowl", "start": [2.9, -2], "steps": 9, "step": 9, "sgd": {"lr": 1, "weight_decay": 0}})
    assert (w.surface, w.start, w.step) == ("bowl", [2.9, -2], 9)
    w.set_state({"adam": {"lr": 1, "betas": [0, 0.5], "weight_decay": 0}})  # as JSON writes 0.0
    assert "Adam (lr 1, betas 0 and 0.5)" in w.words


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"surface": "hill"}, "no surface is called 'hill'; there are bowl, ravine"),
    ({"optimizers": ("sgd", "lion")}, "no racer is called 'lion'; there are sgd, momentum"),
    ({"start": (9, 0)}, r"start \(9, 0\) lies outside the picture of 'ravine': x goes from -3 to 3, y from -2 to 2"),
    ({"start": 3}, r"start is a pair \(x, y\) of numbers, not 3"),
    ({"start": (1, math.nan)}, "lies outside the picture"),
    ({"steps": 0}, "steps is a whole number from 1 to 1000, not 0"),
    ({"steps": 10.5}, "steps is a whole number from 1 to 1000, not 10.5"),
    ({"step": -1}, "step is a whole number from 0"),
    ({"seed": -1}, "seed is a whole number from 0 to 9999"),
    ({"sgd": {"lr": 0}}, "lr of sgd is above 0, up to 10, not 0"),
    ({"sgd": {"momentum": 0.9}}, "sgd has no setting 'momentum'; it takes lr, weight_decay"),
    ({"momentum": 0.9}, r"momentum takes its settings as a dict, momentum=\{'lr': 0.1\}"),
    ({"nesterov": {"momentum": 0}}, "nesterov needs a momentum above 0"),
    ({"adam": {"betas": 0.9}}, r"betas of adam is a pair, \(0.9, 0.999\)"),
    ({"adam": {"betas": (0.9, 1)}}, "betas of adam is from 0 up to 0.9999, not 1"),
    ({"adamw": {"weight_decay": "x"}}, "weight_decay of adamw is from 0 up to 10, not 'x'"),
    ({"lr": 0.1}, r"lr belongs to one racer: adam=\{'lr': ...\}"),
    ({"preset": "none"}, "no preset is called 'none'; there are race"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_mistakes_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OptimizerRacer(**arguments)


def test_mistakes_change_nothing() -> None:
    w = OptimizerRacer("bowl")
    before = dict(w.get_state())
    wrong: list[tuple[str, Any]] = [("start", [9, 9]), ("surface", "hill"), ("steps", 0), ("sgd", {"lr": -1})]
    for name, value in wrong:
        with pytest.raises(ValueError, match=r"outside|no surface|whole number|above 0"):
            setattr(w, name, value)
    assert {k: v for k, v in w.get_state().items() if k != "layout"} == {k: before[k] for k in before if k != "layout"}


# --- picture ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", sorted(setup()["presets"]))
def test_picture_shows_every_racer(preset: str) -> None:
    w = OptimizerRacer(preset=preset)
    svg = ElementTree.fromstring(w.picture)
    assert [text.text for text in svg.findall(f"{SVG}text")] == [RACERS[name].label for name in w.optimizers]
    assert svg.get("aria-label") == w.words
    ways = svg.findall(f"{SVG}svg/{SVG}g[2]/{SVG}path")
    assert len(ways) == 2 * len(w.optimizers)  # a line and its head
    assert len(w.picture) < 24_000


@pytest.mark.parametrize("surface", sorted(surfaces()))
def test_contours_of_the_picture_lie_at_their_level(surface: str) -> None:
    svg = ElementTree.fromstring(OptimizerRacer(surface, ()).picture)
    left, right, bottom, top = surfaces()[surface]["view"]
    first, factor, count = surfaces()[surface]["levels"]
    lowest = loss(surface, *surfaces()[surface]["minima"][0])
    lines = svg.findall(f"{SVG}svg/{SVG}g[1]/{SVG}path")
    assert len(lines) == count
    for k, line in enumerate(lines):
        level = lowest + first * factor**k
        d = line.get("d") or ""
        starts = [part.split("l")[0].split() for part in d.split("M")[1:]]
        assert starts, level
        for x, y in starts:
            at = (left + (right - left) * int(x) / 480, top - (top - bottom) * int(y) / 320)
            p = torch.tensor(at, dtype=torch.float64, requires_grad=True)
            (slope,) = torch.autograd.grad(loss(surface, *p.unbind()), p)
            assert abs(loss(surface, *at) - level) <= slope.norm().item() * (top - bottom) / 40 + 1e-3


def test_words_and_picture_are_the_same_again() -> None:
    first, second = (OptimizerRacer(preset="noise") for _ in range(2))
    assert (first.words, first.picture) == (second.words, second.picture)


# --- what the notes of the presets claim -----------------------------------------------------------------------------


def run_of(preset: str, name: str, **more: Any) -> Run:
    return OptimizerRacer(preset=preset, **more).runs[name]


def across(run: Run) -> list[float]:
    """The distance across the ravine."""
    return [0.8 * y - 0.6 * x for x, y in run.points]


def test_note_bounce() -> None:
    way = across(run_of("bounce", "sgd"))
    assert all(b / a == pytest.approx(-0.95) for a, b in pairwise(way[:101]))


def test_note_diverge() -> None:
    run = run_of("diverge", "sgd")
    way = across(run)
    assert all(b / a == pytest.approx(-1.25) for a, b in pairwise(way))
    assert run.diverged is not None
    along = [0.8 * x + 0.6 * y for x, y in run.points]
    assert along[30] / along[0] == pytest.approx(0.955**30)


def test_note_race() -> None:
    runs = OptimizerRacer(preset="race").runs
    assert runs["momentum"].losses[-1] < runs["adam"].losses[-1] < runs["sgd"].losses[-1] / 1000


def test_note_overshoot() -> None:
    runs = OptimizerRacer(preset="overshoot").runs
    swings = {}
    for name, run in runs.items():
        along = [0.8 * x + 0.6 * y for x, y in run.points]
        swings[name] = (sum(a * b < 0 for a, b in pairwise(along)), max(along))
    assert swings["sgd"][0] == 0
    assert swings["momentum"][0] >= 3
    assert 0 < swings["nesterov"][1] < swings["momentum"][1]


def test_note_sparse() -> None:
    runs = OptimizerRacer(preset="sparse").runs
    x, y = runs["sgd"].points[50]
    assert abs(x) < 1e-6
    assert abs(y - 1) > 0.7 * 2.5
    assert abs(runs["adam"].points[50][1] - 1) < 0.65 * 2.5
    assert runs["adam"].losses[-1] < runs["momentum"].losses[-1] < runs["sgd"].losses[-1]


def test_note_decay() -> None:
    w = OptimizerRacer(preset="decay")
    l2, decoupled = (w.runs[name].points[-1][1] for name in ("adam", "adamw"))
    assert abs(l2 - 0.02 / 0.12) < 0.01  # where the gradient of 0.01 (y − 1)² + 0.05 y² is zero
    assert 0.8 < decoupled < 1


def test_note_saddle() -> None:
    w = OptimizerRacer(preset="saddle")
    y = {name: [at[1] for at in run.points] for name, run in w.runs.items()}
    assert y["sgd"][40] / y["sgd"][39] == pytest.approx(1.05, rel=1e-3)
    left = {name: next(step for step, v in enumerate(way) if v > 0.3) for name, way in y.items()}
    assert left["adam"] < 10 < left["momentum"] < 60 < 100 < left["sgd"]


def test_note_valleys() -> None:
    assert math.dist(run_of("valleys", "sgd").points[-1], (1, 0)) < 1e-6
    assert math.dist(run_of("valleys", "sgd", sgd={"lr": 0.02}).points[-1], (-1, 0)) < 1e-6
    draw = random.Random(2)
    for _ in range(20):
        start = (draw.uniform(-1.3, -0.7), draw.uniform(-0.3, 0.3))
        last = OptimizerRacer("valleys", ("sgd",), start, 400, sgd={"lr": 0.055}).runs["sgd"].points[-1]
        assert math.dist(last, (-1, 0)) > 1e-3, "beyond 2/40 it cannot rest there"


def test_note_noise() -> None:
    def hover(lr: float, seed: int) -> float:
        run = OptimizerRacer("minibatch", ("sgd",), steps=400, seed=seed, sgd={"lr": lr}).runs["sgd"]
        return sum(run.losses[200:]) / 201 - loss("minibatch", 0.5, -0.25)

    spread = {lr: sum(hover(lr, seed) for seed in range(8)) for lr in (0.02, 0.1, 0.3)}
    assert 0 < spread[0.02] < spread[0.1] < spread[0.3]


def test_surface_texts_name_true_limits() -> None:
    for surface, limit in {"bowl": 2, "ravine": 2 / 50}.items():
        slow, fast = (
            OptimizerRacer(surface, ("sgd",), steps=1000, sgd={"lr": limit * factor}).runs["sgd"]
            for factor in (0.98, 1.02)
        )
        assert slow.losses[-1] < 1e-9
        assert fast.diverged is not None


# --- imports ---------------------------------------------------------------------------------------------------------


def test_import_leaves_torch_alone() -> None:
    code = "import sys, torchbook.viz.racer; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0


def test_without_torch_it_still_shows_the_surface() -> None:
    code = """if True:
        import sys
        sys.modules["torch"] = None
        from torchbook.viz import OptimizerRacer
        w = OptimizerRacer("ravine", ("sgd", "adam"))
        assert w.picture.count("<path") == 11, w.picture.count("<path")
        print(w.words)
    """
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert ran.stdout.strip() == "Ravine from (−2.3, −1.1), step 200 of 200. SGD (lr 0.02). Adam (lr 0.1).", ran.stderr


# The figure among all figures


def sample() -> Sample:
    """How the test of all figures takes this one."""
    adam = {"lr": 0.3, "betas": (0.5, 0.9), "weight_decay": 0.2}
    return Sample(
        make=OptimizerRacer,
        act=lambda figure: fill("lr", "0.5")(figure.get_by_role("group", name="SGD", exact=True)),
        acted={"sgd": {"lr": 0.5}},
        other={"surface": "bowl", "optimizers": ()},
        linked={"surface": "minibatch", "optimizers": ("adam", "nesterov"), "start": (1, -1), "steps": 77, "step": 33,
                "seed": 5, "adam": adam, "nesterov": {"momentum": 0.5}},
        broken=(":toString", "=e30", "=bnVsbA"),
        looks=(
            *(Look({"preset": name}) for name in ("race", "diverge", "overshoot", "noise")),
            Look({"surface": "minibatch"}),
        ),
        plain=({"preset": "race"},),
    )  # fmt: skip
