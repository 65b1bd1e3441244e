"""The broadcasting model of the page against torch: shapes, error texts, strides, the elements used, and values.

Random operands run in torch and, in one node process, in `model.js`. `TORCHBOOK_VIZ_EXAMPLES=1000000` runs more of them
than the default, which is 52,000.
"""

from __future__ import annotations

import json
import math
import operator
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch

from ..asking import SOURCES, Harness, Harnesses, mutant

DEEP = 52_000
DEEP = 52_000
SEED = 7
RANK, MOST = 5, 5
LOOKS = 3  # elements of a result that are compared
SOURCE = "broadcast/model.js"

Shape = tuple[int, ...]
Given = dict[str, Any]

TORCH: dict[str, Callable[..., torch.Tensor]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "+=": operator.iadd,
    "-=": operator.isub,
    "*=": operator.imul,
    "where": torch.where,
}


# --- random operands -----------------------------------------------------------------------------------------------


def _any_shape(draw: random.Random) -> Shape:
    return tuple(draw.choices(range(MOST + 1), k=draw.randint(0, RANK)))


def _fitting_shape(draw: random.Random, result: Shape) -> Shape:
    """One that can be stretched to `result`, but for a slip now and then."""
    shape = [1 if draw.random() < 0.35 else n for n in result[draw.randint(0, len(result)) :]]
    if shape and draw.random() < 0.15:
        shape[draw.randrange(len(shape))] = draw.randint(0, MOST)
    return tuple(shape)


def random_given(draw: random.Random) -> Given:
    """Operands and an operation; most of them fit one another."""
    op = draw.choice([*TORCH, "where", "where"])
    names = ("c", "a", "b")[op != "where" :]
    if draw.random() < 0.15:
        shapes = [_any_shape(draw) for _ in names]
    else:
        result = _any_shape(draw)
        shapes = [_fitting_shape(draw, result) for _ in names]
        if op.endswith("=") and draw.random() < 0.8:
            shapes[0] = result
    return {"op": op, "c": [], **{name: list(shape) for name, shape in zip(names, shapes, strict=True)}}


@dataclass
class Case:
    """A case, and what torch makes of it."""

    given: Given
    at: list[list[int]]
    expected: dict[str, Any]


def operands(setting: Given) -> dict[str, torch.Tensor]:
    """Those that the figure shows."""
    names = ("c", "a", "b")[setting["op"] != "where" :]
    make = {"a": lambda x: 10 * x, "b": lambda x: x, "c": lambda x: x % 2 == 0}
    return {
        name: make[name](torch.arange(math.prod(setting[name]), dtype=torch.float32)).reshape(setting[name])
        for name in names
    }


def _sizes(shapes: list[list[int]]) -> list[int | None]:
    """The size of each dimension of the result by itself; None where torch does not allow it."""
    rank = max(map(len, shapes))
    sizes: list[int | None] = []
    for column in zip(*([1] * (rank - len(shape)) + shape for shape in shapes), strict=True):
        try:
            sizes.extend(torch.broadcast_shapes(*((n,) for n in column)))
        except RuntimeError:
            sizes.append(None)
    return sizes


def by_torch(setting: Given, draw: random.Random) -> Case:
    tensors = operands(setting)
    sizes = _sizes([list(x.shape) for x in tensors.values()])
    wide = None if None in sizes else torch.broadcast_tensors(*tensors.values())
    places = [torch.arange(x.numel()).reshape(x.shape) for x in tensors.values()]
    before = {name: x.data_ptr() for name, x in tensors.items()}
    try:
        result = TORCH[setting["op"]](*tensors.values())
    except RuntimeError as refusal:
        return Case(setting, [], {"error": str(refusal), "sizes": sizes})
    assert wide is not None
    shape = list(result.shape)
    at = [[draw.randrange(n) for n in shape] for _ in range(LOOKS)] if result.numel() else []
    spread = torch.broadcast_tensors(*places)
    elements = [
        {"places": [int(x[tuple(index)]) for x in spread], "value": result[tuple(index)].item()} for index in at
    ]
    memory = {
        "of": [
            {
                "name": name,
                "own": x.nbytes,
                "full": view.numel() * x.element_size(),
                "spared": max(0, view.numel() * x.element_size() - x.nbytes),
            }
            for (name, x), view in zip(tensors.items(), wide, strict=True)
        ],
        "result": result.nbytes,
        "fresh": 0 if result.data_ptr() == before["a"] and setting["op"].endswith("=") else result.nbytes,
    }
    strides = [list(view.stride()) for view in wide]
    expected = {"shape": shape, "sizes": sizes, "strides": strides, "elements": elements, "memory": memory}
    return Case(setting, at, expected)


def random_cases(count: int, seed: int = SEED) -> Iterator[Case]:
    draw = random.Random(seed)
    for _ in range(count):
        yield by_torch(random_given(draw), draw)


# --- node ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model(harnesses: Harnesses) -> Harness:
    return harnesses["broadcast"]


def answers(model: Harness, cases: Iterable[Case], text: bool = False) -> list[dict[str, Any]]:
    """What the page makes of the same operands, all in one request."""
    return list(model([{"given": case.given, "at": case.at, "text": text} for case in cases]))


def disagreements(model: Harness, cases: Iterator[Case]) -> Iterator[tuple[Given, Any, Any]]:
    while some := tuple(islice(cases, 500)):
        for case, got in zip(some, answers(model, some), strict=True):
            if got != case.expected:
                yield case.given, got, case.expected


# --- the two agree -------------------------------------------------------------------------------------------------


def test_the_model_is_what_torch_does(
    model: Harness, record_property: Callable[[str, object], None], examples: int
) -> None:
    seen: Counter[str] = Counter()

    def counted() -> Iterator[Case]:
        for case in random_cases(examples):
            kind = case.expected.get("error", "allowed").split(" ")[0]
            seen[f"{case.given['op']} {kind}"] += 1
            yield case

    different = list(disagreements(model, counted()))
    record_property("cases", dict(seen))
    print(f"{seen.total()} cases, {len(different)} disagreements: {dict(sorted(seen.items()))}")
    assert not different, different[:3]
    rare = examples // 100 if examples >= DEEP else 0  # of few examples hardly one may be of a rare kind
    assert min(seen[f"{op} allowed"] for op in TORCH) > examples // 40
    assert min(seen[f"{op} The"] for op in TORCH) > rare
    assert min(seen[f"{op} output"] for op in TORCH if op.endswith("=")) > rare


def test_the_copied_code_runs_and_its_asserts_hold(model: Harness, examples: int) -> None:
    cases = tuple(random_cases(max(examples // 60, 1), SEED + 1))
    for case, got in zip(cases, answers(model, cases, text=True), strict=True):
        scope: dict[str, Any] = {}
        exec(got["code"], scope)
        assert ("result" in scope) == ("shape" in case.expected and not case.given["op"].endswith("="))
        assert f"assert str(refusal) == {json.dumps(case.expected.get('error'))}" in got["code"] or "shape" in got


def test_a_wrong_assert_in_the_copied_code_would_fail(model: Harness) -> None:
    case = by_torch({"op": "+", "a": [4, 1], "b": [3], "c": []}, random.Random(0))
    code = answers(model, [case], text=True)[0]["code"]
    shown = f"== {case.expected['elements'][0]['value']:g}"
    for right, wrong in [("(4, 3)", "(3, 4)"), ("(1, 0)", "(1, 1)"), (shown, "== -1")]:
        assert right in code
        with pytest.raises(AssertionError):
            exec(code.replace(right, wrong), {})


MUTANTS = {
    "1 is not stretched to 0": ("shape[d] = x === 1 ? y : x;", "shape[d] = Math.max(x, y);"),
    "aligned from the left": ("shape[d - rank + shape.length] ?? null", "shape[d] ?? null"),
    "the first dimension is named": ("for (let d = rank - 1; d >= 0; d--)", "for (let d = 0; d < rank; d++)"),
    "the condition comes last": ('["c", "a", "b"]', '["a", "b", "c"]'),
    "in place grows": ("if (inPlace(given.op) && !equal", "if (false && !equal"),
    "a word of a message": ("doesn't match the broadcast", "does not match the broadcast"),
    "a missing dimension has stride 0": (": [1, target[d + 1] * strides[d + 1]]", ": [1, 0]"),
    "a stretched dimension keeps its step": ("size === target[d] ? step : 0", "step"),
    "strides of an empty tensor": ("step *= Math.max(n, 1)", "step *= n"),
    "the last copy is used": ("(n === 1 ? 0 :", "(n === 9 ? 0 :"),
    "a condition of four bytes": ("c: 1 }", "c: 4 }"),
    "where picks the other": ("x ? y : z", "x ? z : y"),
    "in place takes memory": ("fresh: inPlace(given.op) ? 0 : 4 * count", "fresh: 4 * count"),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_changed_rule_is_noticed(tmp_path: Path, name: str) -> None:
    with mutant("broadcast", tmp_path, SOURCE, *MUTANTS[name]) as running:
        assert next(disagreements(running, random_cases(1500)), None)


def test_torchs_texts_are_those_of_the_version_named() -> None:
    named = re.search(r"texts are those of torch (\d+\.\d+)", (SOURCES / SOURCE).read_text(encoding="utf-8"))
    assert named
    assert torch.__version__.startswith(named[1] + ".")
