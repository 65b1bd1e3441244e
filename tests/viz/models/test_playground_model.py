"""The playground's scalar autograd in the browser against torch in double precision.

Every random expression must give the value and the gradients that torch gives: relative difference at most 1e-9,
infinities and NaN alike, at kinks too (relu at 0 has slope 0, as torch says). Where rounding alone moves torch's own
answer by more, because the expression is ill-conditioned (a difference of nearly equal numbers, the sine of a huge
one), 1e-9 means nothing: such a case is counted, and may be as far from torch as torch is from itself when every
intermediate result is changed by a few units in its last place. At most 3 in 100 cases may be of this kind.
"""

from __future__ import annotations

import ast
import math
import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from torchbook.viz import AutogradPlayground, playground

from ..asking import Harnesses
from ..samples import Look, Sample, both, fill, opening

DEEP = 2500
SEED = int(os.environ.get("TORCHBOOK_VIZ_SEED", "20261121"))
RELATIVE = 1e-9
Answer = dict[str, Any]
Ask = Callable[[str, dict[str, float]], Answer]


@pytest.fixture(scope="module")
def page(harnesses: Harnesses) -> Ask:
    """What the page makes of an expression at some values."""
    return lambda text, values: harnesses["playground"]({"text": text, "values": values})


NAMES = "abcd"
CORNERS = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -0.5, 3.0, 10.0, -10.0, 40.0, 800.0, -800.0, 1e-8, 1e8, 1e-300, 1e300]
numbers = st.sampled_from(CORNERS) | st.floats(-4, 4) | st.floats(-1e6, 1e6)
literals = st.sampled_from(["0", "1", "2", "3", "0.5", "1e-3", "2.5", "10", "1e3"]) | st.floats(0, 20).map(repr)
spaces = st.sampled_from(["", " "])


@st.composite
def larger(draw: st.DrawFn, inner: st.SearchStrategy[str]) -> str:
    kind = draw(st.sampled_from(["infix", "infix", "infix", "call", "minus", "paren", "pow"]))
    if kind == "infix":
        sign, space = draw(st.sampled_from(["+", "-", "*", "/", "^", "**"])), draw(spaces)
        return f"{draw(inner)}{space}{sign}{space}{draw(inner)}"
    if kind == "call":
        name = draw(st.sampled_from([name for name, count in playground.FUNCTIONS.items() if count == 1]))
        return f"{name}({draw(inner)})"
    if kind == "pow":
        return f"{draw(st.sampled_from(['pow', 'max']))}({draw(inner)}, {draw(inner)})"
    return f"-{draw(inner)}" if kind == "minus" else f"({draw(inner)})"


def grown(rng: random.Random) -> str:
    """A random expression of 2 to 14 operations; hypothesis alone prefers short ones."""
    parts = [rng.choice(NAMES)]
    for _ in range(rng.randint(2, 12)):
        other = rng.choice([*NAMES, *NAMES, "2", "0.5", "3", "-1", repr(round(rng.uniform(0, 5), 3))])
        left = parts.pop(rng.randrange(len(parts)))
        right = parts.pop() if parts and rng.random() < 0.5 else other
        if rng.random() < 0.5:
            left, right = right, left
        name = rng.choice([*playground.FUNCTIONS, *"+-*/^+-*/^+-*", "neg", "(", "new"])
        if name == "new":
            parts += [left, right]
        elif name in ("neg", "("):
            parts += [f"-{left}" if name == "neg" else f"({left})", right]
        elif playground.FUNCTIONS.get(name) == 1:
            parts += [f"{name}({left})", right]
        else:
            parts.append(f"{name}({left}, {right})" if name in playground.FUNCTIONS else f"{left} {name} {right}")
    return rng.choice("+*-").join(parts)


expressions = st.recursive(
    st.sampled_from(NAMES) | st.sampled_from(NAMES) | literals, lambda inner: larger(inner), max_leaves=10
)
points = st.fixed_dictionaries(dict.fromkeys(NAMES, numbers))


def agree(value: float, other: float, relative: float = RELATIVE) -> bool:
    if math.isnan(value) or math.isnan(other):
        return math.isnan(value) and math.isnan(other)
    return value == other or abs(value - other) <= relative * max(abs(value), abs(other))


def nudged(expression: str, values: dict[str, float], rng: random.Random) -> list[float]:
    """Torch's answer when every intermediate result is changed by a few units in its last place."""

    class Nudge(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            if isinstance(result, torch.Tensor) and result.grad_fn is not None:
                result.data.mul_(1 + rng.uniform(-4, 4) * 2**-52)  # also what the node saved for its backward
            return result

    moved = {name: value * (1 + rng.uniform(-4, 4) * 2**-52) for name, value in values.items()}
    with Nudge():
        value, gradients = playground.by_torch(expression, moved)
    return [value, *gradients.values()]


def ill_conditioned(expression: str, values: dict[str, float], mine: list[float], torchs: list[float]) -> bool:
    """Whether the difference is one that rounding explains."""
    rng = random.Random(0)
    runs = [nudged(expression, values, rng) for _ in range(24)]
    for place, (value, other) in enumerate(zip(mine, torchs, strict=True)):
        if agree(value, other):
            continue
        seen = [run[place] for run in runs] + [other]
        if all(math.isfinite(x) for x in [value, *seen]):
            if abs(value - other) > 16 * (max(seen) - min(seen)):
                return False
        elif not any(agree(value, x, 0.5) for x in seen):
            return False
    return True


def constant_is_finite(tree: ast.expr) -> bool:
    """Whether all parts without a variable are finite, which the module asks for."""
    parts = [tree, *ast.walk(tree)]
    constant = [p for p in parts if isinstance(p, (ast.Constant, ast.UnaryOp, ast.BinOp, ast.Call))]
    return all(math.isfinite(playground._evaluate(p, {})) for p in constant if not playground.variables(p))


@dataclass
class Judge:
    """Compares, counts, and lets nothing pass."""

    ask: Ask
    seen: set[str] = field(default_factory=set)
    ill: int = 0
    odd: int = 0
    refused: int = 0

    def compare(self, expression: str, values: dict[str, float]) -> None:
        answer = self.ask(expression, values)
        try:
            tree = playground.read(expression)
        except ValueError:
            assert "no variable" in answer["error"] or "not finite" in answer["error"]
            self.refused += 1
            return
        if not constant_is_finite(tree):
            assert answer.get("error") == "this number is not finite"
            self.refused += 1
            return
        assert "error" not in answer, (expression, answer)
        value, gradients = playground.by_torch(expression, values)
        torchs = [value, *gradients.values()]
        assert [*answer["gradients"]] == [*gradients]
        mine = [float(answer["value"]), *(float(x) for x in answer["gradients"].values())]
        self.seen.add(expression)
        self.odd += not all(map(math.isfinite, torchs))
        if not all(map(agree, mine, torchs)):
            assert ill_conditioned(expression, values, mine, torchs), (expression, values, mine, torchs)
            self.ill += 1

    def report(self) -> None:
        print(
            f"\nseed {SEED}: {len(self.seen)} different expressions, 0 disagreements; "
            f"{self.odd} cases with inf or nan, {self.ill} ill-conditioned, {self.refused} refused by both"
        )
        assert self.ill <= 0.03 * len(self.seen)


def test_corner_cases_are_torchs(page: Ask, examples: int) -> None:
    judge = Judge(page)

    @seed(SEED)
    @settings(max_examples=examples // 10, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
    @given(expressions, points)
    def check(expression: str, values: dict[str, float]) -> None:
        judge.compare(expression, values)

    check()
    judge.report()


def test_random_expressions_are_torchs(page: Ask, examples: int) -> None:
    judge, rng = Judge(page), random.Random(SEED)
    while len(judge.seen) < examples:
        values = {
            name: rng.choice([rng.choice(CORNERS), rng.uniform(-3, 3), rng.uniform(-3, 3), rng.gauss(0, 30)])
            for name in NAMES
        }
        judge.compare(grown(rng), values)
    judge.report()


@pytest.mark.parametrize(
    ("text", "at", "says"),
    [
        ("", 0, "type an expression"),
        ("a +", 3, "missing at the end"),
        ("a b", 2, "an operator is missing"),
        ("2a", 1, "an operator is missing"),
        ("(a", 2, "“)” is missing"),
        ("a)", 1, "closes nothing"),
        ("a * * b", 4, "a value is missing"),
        ("foo(a)", 0, "no function “foo”"),
        ("exp", 0, "is a function"),
        ("pow(a)", 0, "takes two values"),
        ("exp(a, b)", 0, "takes one value"),
        ("max(a)", 0, "takes two values"),
        ("a; b", 1, "means nothing"),
        ("alert`1`", 5, "means nothing"),
        ("1 + 2", 0, "no variable"),
        ("a / (1 - 1) + 1/0", 15, "not finite"),
        ("lambda + a", 0, "cannot be the name"),
        ("__proto__ + a", 0, "cannot be the name"),
        ("(" * 99 + "a", 61, "deep"),
        ("a+" * 99 + "a", 161, "operations"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(page: Ask, text: str, at: int, says: str) -> None:
    answer = page(text, {"a": 1.0, "b": 1.0})
    assert says in answer["error"]
    assert answer["at"] == at


@pytest.mark.parametrize(
    "text", ["a*b + relu(c)", "2/a - -b^2^-1", "(a^b)^c * -(a - b - c)", "pow(a, 2)*exp(1)/(2*c)", "max(a, max(b, 3))"]
)
def test_copied_code_computes_the_same(page: Ask, text: str) -> None:
    same_as_copied(page, text, {"a": 2.0, "b": 0.5, "c": 1.5})


@pytest.mark.parametrize("text", ["1/a", "a/b", "b/(0*-1)", "max(-0, a)^-1", "b^-0"])
def test_copied_code_keeps_the_sign_of_zero(page: Ask, text: str) -> None:
    same_as_copied(page, text, {"a": -0.0, "b": 2.0})


@pytest.mark.parametrize("text", ["max(a, b)", "max(b, a)", "max(a, 1)", "max(1, a)"])
@pytest.mark.parametrize("a", [1.0, 2.0, -1.0])
def test_max_shares_the_gradient_at_a_tie(page: Ask, text: str, a: float) -> None:
    gradient = page(text, {"a": a, "b": 1.0})["gradients"]["a"]
    assert gradient == {1.0: 0.5, 2.0: 1.0, -1.0: 0.0}[a]


def same_as_copied(page: Ask, text: str, values: dict[str, float]) -> None:
    """The copied code gives what the page shows."""
    answer = page(text, values)
    space: dict[str, Any] = {"print": lambda *args: None}
    exec(answer["code"], space)
    assert agree(space["out"].item(), float(answer["value"]))
    for name, gradient in answer["gradients"].items():
        assert agree(space[name].grad.item(), float(gradient))


# The figure among all figures


def sample() -> Sample:
    """How the test of all figures takes this one."""
    spoiled = both(fill("Expression", "a * * b"), opening)
    return Sample(
        make=AutogradPlayground,
        act=fill("Expression", "exp(a)"), acted="exp(a)",
        presets={
            "fan-out": {"expression": "a*b + a*c", "values": {"a": 2, "b": 3, "c": 5}},
            "log-at-0": {"expression": "a * log(b)", "values": {"a": 2, "b": 0}},
        },
        pictured_in_words=False,
        linked={"expression": "exp(a) * b", "values": {"a": 0.5, "b": 3.0}}, widths=(1280, 360),
        looks=(Look({"expression": "a * log(b)", "values": {"a": 2, "b": 0}, "selected": 1}), Look({}, spoiled)),
        targets="button, input[type=range], select",
    )  # fmt: skip
