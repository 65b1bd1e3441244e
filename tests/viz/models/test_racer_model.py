"""The racer's model on the page against torch.optim, in float64: gradients, single steps, whole paths, words, code.

Some 4,800 single steps from random states, each of 16 parameters, and 280 whole races are compared; more of
them: `TORCHBOOK_VIZ_EXAMPLES=200000`.
"""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
import torch

from torchbook.viz import OptimizerRacer
from torchbook.viz.racer import RACERS, batches, defaults, loss, seen_loss, setup, surfaces

from ..asking import Ask

DEEP = 4_800
HARNESS = "racer"
SURFACES = sorted(surfaces())
NAMES = list(RACERS)
WIDE = 16  # parameters in one step

Given = dict[str, Any]


# --- random cases ----------------------------------------------------------------------------------------------------


def float64(values: Any) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def spread(draw: random.Random, low: float, high: float) -> float:
    """Spread evenly over the orders of magnitude."""
    return math.exp(draw.uniform(math.log(low), math.log(high)))


def any_settings(draw: random.Random, name: str, low: float = 1e-4, high: float = 10.0) -> Given:
    values = {
        "lr": spread(draw, low, high),
        "momentum": draw.choice([0.9, 0.5, 0.99, 0.999, draw.uniform(0.01, 0.99), 0 if name != "nesterov" else 0.1]),
        "betas": [draw.choice([0.9, 0.0, 0.5, 0.3, draw.random()]), draw.choice([0.999, 0.99, 0.0, 0.9999])],
        "weight_decay": draw.choice([0, 0, 0.01, 0.1, spread(draw, 1e-4, 10)]),
    }
    return {key: values[key] for key in RACERS[name].takes}


def any_start(draw: random.Random, surface: str) -> list[float]:
    left, right, bottom, top = surfaces()[surface]["view"]
    return [round(draw.uniform(left, right), 3), round(draw.uniform(bottom, top), 3)]


CALM = {
    "bowl": 1.0,
    "ravine": 0.03,
    "rosenbrock": 5e-4,
    "saddle": 0.1,
    "valleys": 0.02,
    "minibatch": 0.3,
    "sparse": 1.0,
}


def calm_settings(draw: random.Random, surface: str, name: str) -> Given:
    """Such that a difference in the last digit stays small: rates at which the surface damps it."""
    slow = 0.1 if name in ("adam", "adamw") else CALM[surface] * (0.3 if name != "sgd" else 1)
    settings = any_settings(draw, name, slow / 100, slow)
    settings["weight_decay"] = draw.choice([0, 0, 0.01, 0.1])
    if "momentum" in settings:
        settings["momentum"] = draw.choice([0.9, 0.5, draw.uniform(0.1, 0.95)])
    if "betas" in settings:
        settings["betas"] = [draw.choice([0.9, 0.8, 0.95]), draw.choice([0.999, 0.99, 0.9999])]
    return settings


def calm_state(draw: random.Random, surface: str, steps: int) -> Given:
    own = {name: calm_settings(draw, surface, name) for name in NAMES}
    return {
        "surface": surface,
        "optimizers": NAMES,
        "start": any_start(draw, surface),
        "steps": steps,
        "step": draw.randint(0, steps),
        "seed": draw.randint(0, 9999),
        **own,
    }


def widget_of(state: Given) -> OptimizerRacer:
    return OptimizerRacer(**state)


def apart(path: list[list[float]], other: list[tuple[float, float]]) -> float:
    """The largest distance of two paths, relative to the largest number on them."""
    assert len(path) == len(other)
    size = max(max(abs(v) for at in other for v in at), 1e-3)
    return max(math.dist(a, b) for a, b in zip(path, other, strict=True)) / size


# --- what both sides know --------------------------------------------------------------------------------------------


def test_defaults_and_surfaces_are_the_same(ask: Ask) -> None:
    pairs = [(surface, name) for surface in SURFACES for name in NAMES]
    for (surface, name), answer in zip(pairs, ask("defaults", pairs), strict=True):
        assert answer == defaults(surface, name)
    known = ask("surfaces", [None])[0]
    assert sorted(known) == SURFACES


@pytest.mark.parametrize("surface", SURFACES)
def test_minima_are_minima(ask: Ask, surface: str) -> None:
    lowest = ask("surfaces", [None])[0][surface]["lowest"]
    for minimum in surfaces()[surface]["minima"]:
        at = float64(minimum).requires_grad_()
        value = loss(surface, *at.unbind())
        assert value.item() == pytest.approx(lowest, abs=1e-15)
        (slope,) = torch.autograd.grad(value, at)
        assert slope.abs().max() < 1e-14
        bend = torch.autograd.functional.hessian(lambda p: loss(surface, *p.unbind()), at.detach())
        assert torch.linalg.eigvalsh(bend).min() > 0
    points = torch.rand(5000, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64) * 8 - 4
    assert (loss(surface, *points.unbind(1)) >= lowest).all()


def test_curvatures_are_those_the_text_names() -> None:
    def bend(surface: str, at: tuple[float, float]) -> list[float]:
        matrix = torch.autograd.functional.hessian(lambda p: loss(surface, *p.unbind()), float64(at))
        return [round(v, 9) for v in torch.linalg.eigvalsh(matrix).tolist()]

    assert bend("bowl", (0.3, 2)) == [1, 1]
    assert bend("ravine", (1, 1)) == [1, 50]
    assert bend("saddle", (0, 0)) == [-1, 1]
    assert bend("valleys", (-1, 0)) == [40, 40]
    assert bend("valleys", (1, 0)) == [1, 1]
    assert bend("sparse", (0, 0)) == [0.02, 1]


def test_batches_are_the_same(ask: Ask) -> None:
    asked = [(seed, 1000) for seed in (0, 1, 2, 77, 4711, 9999)]
    answers = ask("batches", asked)
    assert answers == [batches(*case) for case in asked]
    drawn = [i for batch in answers[0] + answers[3] + answers[5] for i in batch]
    counts = torch.bincount(torch.tensor(drawn), minlength=12)
    assert counts.min() > 0.8 * len(drawn) / 12


# --- gradients -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("surface", SURFACES)
def test_gradients_are_those_of_autograd(ask: Ask, surface: str, examples: int) -> None:
    draw = random.Random(3)
    cases: list[Given] = [
        {"surface": surface, "at": [draw.gauss(0, far), draw.gauss(0, far)], "step": draw.randint(1, 30), "seed": k}
        for far in (0.01, 1, 3, 1000)
        for k in range(examples // 40)
    ]
    for case, (value, *slope) in zip(cases, ask("slopes", cases), strict=True):
        p = float64(case["at"]).requires_grad_()
        assert value == pytest.approx(loss(surface, *p.unbind()).item(), rel=1e-12)
        x, y = p.unbind()
        step, number = int(case["step"]), int(case["seed"])
        seen = seen_loss(surface, x, y, step, batches(number, step))
        (exact,) = torch.autograd.grad(seen, p)
        assert (float64(slope) - exact).abs().max() <= 1e-12 * max(1, exact.abs().max().item()), case


def test_steps_see_the_whole_loss_on_average() -> None:
    x, y = float64(1.25), float64(-0.75)
    sparse = sum(seen_loss("sparse", x, y, step, []) for step in range(1, 11)) / 10
    assert sparse.item() == pytest.approx(loss("sparse", 1.25, -0.75))
    picks = [[i, j] for i in range(12) for j in range(12)]
    whole = sum(seen_loss("minibatch", x, y, step, picks) for step in range(1, 145)) / 144
    assert whole.item() == pytest.approx(loss("minibatch", 1.25, -0.75))


# --- one step --------------------------------------------------------------------------------------------------------


def torch_step(case: Given) -> tuple[torch.Tensor, Given]:
    """The step that torch.optim makes from this state, and what it keeps then."""
    racer, kept = RACERS[case["name"]], case["kept"]
    p = float64(case["at"]).requires_grad_()
    optimizer = getattr(torch.optim, racer.make)([p], **racer.arguments(case["settings"]))
    p.grad = float64(case["grad"])
    m, v = (float64([k[key] for k in kept]) for key in "mv")
    step = kept[0]["step"]
    if step:
        if racer.make == "SGD":
            optimizer.state[p]["momentum_buffer"] = m
        else:
            optimizer.state[p].update(step=torch.tensor(float(step)), exp_avg=m, exp_avg_sq=v)
    optimizer.step()
    return p.detach(), dict(optimizer.state[p])


def any_step(draw: random.Random, name: str) -> Given:
    step = draw.choice([0, 0, 1, 2, 10, draw.randint(3, 1000)])
    far, steep = spread(draw, 1e-6, 1e3), spread(draw, 1e-9, 1e6)
    grad = [draw.choice([0, draw.gauss(0, steep), draw.gauss(0, 1)]) for _ in range(WIDE)]
    held = [(draw.gauss(0, steep), draw.choice([0, spread(draw, 1e-18, 1e12)])) for _ in range(WIDE)]
    kept = [{"step": step, "m": m if step else 0, "v": v if step else 0} for m, v in held]
    at = [draw.gauss(0, far) for _ in range(WIDE)]
    return {"name": name, "settings": any_settings(draw, name), "at": at, "kept": kept, "grad": grad}


def scale_of(case: Given, v: torch.Tensor) -> torch.Tensor:
    """The largest terms that a step adds up, for each parameter: rounding is relative to them."""
    settings = case["settings"]
    at, grad = float64(case["at"]).abs(), float64(case["grad"]).abs()
    m = float64([k["m"] for k in case["kept"]]).abs()
    pulled = grad + settings["weight_decay"] * at + m
    if "betas" not in settings:
        return at + settings["lr"] * 2 * pulled
    step = case["kept"][0]["step"] + 1
    beta1, beta2 = settings["betas"]
    return at + settings["lr"] / (1 - beta1**step) * pulled / ((v / (1 - beta2**step)).sqrt() + 1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_a_step_is_that_of_torch(ask: Ask, name: str, record_property: Any, examples: int) -> None:
    draw = random.Random(name)
    cases = [any_step(draw, name) for _ in range(examples // len(NAMES))]
    worst = 0.0
    for case, answer in zip(cases, ask("moves", cases), strict=True):
        at, kept = torch_step(case)
        v = float64(answer["v"])
        off = (float64(answer["at"]) - at).abs() / scale_of(case, v)
        worst = max(worst, off.nan_to_num(0).max().item())
        assert worst <= 1e-12, case
        pulled = float64(case["grad"]).abs() + float64([k["m"] for k in case["kept"]]).abs()
        pulled += case["settings"]["weight_decay"] * torch.tensor(case["at"]).abs()
        if kept.get("momentum_buffer") is not None and case["settings"].get("momentum"):
            assert ((float64(answer["m"]) - kept["momentum_buffer"]).abs() <= 1e-12 * pulled).all(), case
        if "exp_avg" in kept:
            assert ((float64(answer["m"]) - kept["exp_avg"]).abs() <= 1e-12 * pulled).all(), case
            assert torch.allclose(v, kept["exp_avg_sq"], rtol=1e-12, atol=1e-300), case
            assert answer["step"] == kept["step"].item()
    record_property("steps", len(cases) * WIDE)
    print(f"{name}: {len(cases):,} steps of {WIDE} parameters, largest difference {worst:.1e}")


# --- whole paths -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("surface", SURFACES)
def test_paths_are_those_of_torch(ask: Ask, surface: str, record_property: Any, examples: int) -> None:
    draw = random.Random(surface)
    states = [calm_state(draw, surface, draw.choice([1, 20, 100, 200])) for _ in range(max(4, examples // 600))]
    apartness: list[tuple[float, Any]] = []
    for state, answer in zip(states, ask("runs", states), strict=True):
        for name, run in widget_of(state).runs.items():
            assert answer[name]["diverged"] == run.diverged
            apartness.append((apart(answer[name]["points"], run.points), (name, state[name], state["start"])))
            assert answer[name]["losses"][-1] == pytest.approx(run.losses[-1], rel=1e-6, abs=1e-9)
    record_property("paths", len(apartness))
    largest = max(apartness, key=lambda pair: pair[0])
    print(f"{surface}: {len(apartness)} paths, largest difference {largest[0]:.1e}")
    assert largest[0] <= 1e-9, largest


def test_divergence_is_seen_at_the_same_step(ask: Ask, examples: int) -> None:
    draw = random.Random(9)
    states = []
    for _ in range(examples // 100):
        surface = draw.choice(["bowl", "ravine", "minibatch"])  # not those where bounces are chaotic
        state = calm_state(draw, surface, 150)
        names = ["sgd", "momentum", "nesterov"]
        state["optimizers"] = names
        for name in names:
            state[name]["lr"] = draw.uniform(0.9, 4) * {"bowl": 2, "ravine": 2 / 50, "minibatch": 2 / 4}[surface]
        states.append(state)
    divergences = 0
    for state, answer in zip(states, ask("runs", states), strict=True):
        for name, run in widget_of(state).runs.items():
            assert answer[name]["diverged"] == run.diverged, (state, name)
            divergences += run.diverged is not None
    assert divergences > len(states)


# --- words, numbers and code -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("surface", SURFACES)
def test_page_and_python_say_the_same(ask: Ask, surface: str) -> None:
    draw = random.Random(surface + "words")
    states = [calm_state(draw, surface, draw.choice([1, 7, 90])) for _ in range(12)]
    for state in states:
        state["optimizers"] = [name for name in NAMES if draw.random() < 0.6]
    for state, answer in zip(states, ask("words", states), strict=True):
        assert widget_of(state).words == answer


@pytest.mark.parametrize("preset", sorted(setup()["presets"]))
def test_presets_are_the_same_on_both_sides(ask: Ask, preset: str) -> None:
    state = ask("presets", [preset])[0]
    widget = OptimizerRacer(preset=preset)
    assert {name: getattr(widget, name) for name in state} == state
    assert ask("words", [state])[0] == widget.words


def test_numbers_of_the_table(ask: Ask) -> None:
    draw = random.Random(4)
    states = [{**calm_state(draw, surface, 40), "step": step} for surface in SURFACES for step in (0, 1, 5, 40)]
    for state, rows in zip(states, ask("reads", states), strict=True):
        step, surface = state["step"], state["surface"]
        picks = batches(state["seed"], state["steps"])
        for run, row in zip(widget_of(state).runs.values(), rows, strict=True):
            at = run.points[step]
            assert row["loss"] == pytest.approx(run.losses[step], rel=1e-6, abs=1e-9)
            away = min(math.dist(at, minimum) for minimum in surfaces()[surface]["minima"])
            assert row["distance"] == pytest.approx(away, rel=1e-6, abs=1e-9)
            if not step:
                assert row["moved"] is row["rate"] is None
                continue
            moved = math.dist(at, run.points[step - 1])
            assert row["moved"] == pytest.approx(moved, rel=1e-6, abs=1e-9)
            p = float64(run.points[step - 1]).requires_grad_()
            (slope,) = torch.autograd.grad(seen_loss(surface, p[0], p[1], step, picks), p)
            if slope.norm() > 1e-6:
                assert row["rate"] == pytest.approx(moved / slope.norm().item(), rel=1e-5)


def rerun(script: str) -> dict[str, list[list[float]]]:
    scope: dict[str, Any] = {"print": lambda *_: None}
    exec(script, scope)
    return scope["paths"]


@pytest.mark.parametrize("surface", SURFACES)
def test_copied_code_walks_the_same_paths(ask: Ask, surface: str) -> None:
    draw = random.Random(surface + "code")
    states = [calm_state(draw, surface, draw.choice([1, 30, 80])) for _ in range(6)]
    for state, answer, script in zip(states, ask("runs", states), ask("scripts", states), strict=True):
        paths = rerun(script)
        assert list(paths) == list(answer)
        for name, path in paths.items():
            assert apart(path, [tuple(at) for at in answer[name]["points"]]) <= 1e-9, (name, state)


@pytest.mark.parametrize("preset", sorted(setup()["presets"]))
def test_copied_code_of_the_presets(ask: Ask, preset: str) -> None:
    state = ask("presets", [preset])[0]
    paths, answer = rerun(ask("scripts", [state])[0]), ask("runs", [state])[0]
    for name, path in paths.items():
        assert apart(path, [tuple(at) for at in answer[name]["points"]]) <= 1e-9
    assert all(len(line) <= 88 for line in ask("scripts", [state])[0].splitlines())


# --- links -----------------------------------------------------------------------------------------------------------

ODD: list[Any] = [None, "x", -1, 0, 1e-3, 0.5, 0.9995, 1, 11, True, [0.9, 0.999], [0.9], [0.9, 1], [], {}]


@pytest.mark.parametrize("name", NAMES)
def test_page_and_python_take_the_same_settings(ask: Ask, name: str) -> None:
    keys = ["lr", "momentum", "betas", "weight_decay", "eps"]
    cases = [{key: value} for key in keys for value in ODD]
    states = [{"surface": "bowl", "optimizers": [name], "settings": {name: case}} for case in cases]
    for case, accepted in zip(cases, ask("valid", states), strict=True):
        settings: Given = {name: case}
        try:
            OptimizerRacer("bowl", (), **settings)
        except ValueError:
            assert accepted is False, case
        else:
            assert accepted is True, case


def test_links_with_odd_states_are_refused(ask: Ask) -> None:
    good: Given = {"surface": "bowl", "optimizers": ["sgd"], "start": [1, 1], "steps": 10, "step": 3, "seed": 4}
    odds: list[Any] = [None, "x", -1, 1.5, [9, 9], ["sgd", "sgd"], {}]
    bad: list[Any] = [{**good, key: odd} for key in good for odd in odds]
    bad += [
        None,
        3,
        "x",
        [],
        {},
        {**good, "step": 11},
        {**good, "settings": {"lion": {}}},
        {**good, "settings": 3},
        {**good, "settings": None},
    ]
    assert ask("valid", [good, {**good, "settings": {"sgd": {"lr": 0.1}}}, *bad])[:2] == [True, True]
    assert [case for case, accepted in zip(bad, ask("valid", bad), strict=True) if accepted] == []


# --- contour lines ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("surface", SURFACES)
def test_contours_lie_at_their_level(ask: Ask, surface: str) -> None:
    left, right, bottom, top = surfaces()[surface]["view"]
    first, factor, count = surfaces()[surface]["levels"]
    lowest = loss(surface, *surfaces()[surface]["minima"][0])
    values = [lowest + first * factor**k for k in range(count)]
    for level, segments in zip(
        values, ask("contours", [{"surface": surface, "level": v} for v in values]), strict=True
    ):
        assert segments, (surface, level)
        for x, y, *_ in segments[:: max(1, len(segments) // 40)]:
            at = float64([left + (right - left) * x, top - (top - bottom) * y]).requires_grad_()
            value = loss(surface, *at.unbind())
            (slope,) = torch.autograd.grad(value, at)
            # Linear between two corners of a cell: off by less than a twentieth of the picture's height.
            assert abs(value.item() - level) <= max(1e-3, slope.norm().item() * (top - bottom) / 50), (surface, level)
