"""Every figure's contract: it is whole, and what Python and the page make of it is the same."""

from __future__ import annotations

import random
from typing import Any

import pytest
import traitlets

from torchbook import viz
from torchbook.viz import base
from torchbook.viz.base import Choice, Number, Visualizer, Whole

from ..asking import Ask
from ..samples import sample_of

HARNESS = "contract"
FIGURES = [name for name in viz.__all__ if name[0].isupper()]
SET = [name for name in FIGURES if base.settings(getattr(viz, name).contract)]
NUMBER = {"label", "value", "low", "high", "whole", "help"}


def folder(name: str) -> str:
    """The folder of a figure in torchbook/viz/src."""
    return str(getattr(viz, name).__module__.rpartition(".")[2])


def candidates(field: dict[str, Any], draw: random.Random) -> list[Any]:
    """Values for a field: its ends, beyond them, between them, whole ones and others, and what is no number."""
    low, high = field["low"], field["high"]
    near = 1 if field["whole"] else 1e-9 * max(1, abs(high))
    between = [draw.uniform(low, high) for _ in range(5)]
    return [low, high, low - near, high + near, -high - 1, *between, *map(round, between), None, True, "1", "x", []]


def taken(figure: Visualizer, name: str, value: Any) -> str:
    """Empty where the figure takes the value, else what it says."""
    before = getattr(figure, name)
    try:
        setattr(figure, name, value)
    except traitlets.TraitError as error:
        return str(error)
    setattr(figure, name, before)
    return ""


@pytest.mark.parametrize("name", FIGURES)
def test_the_contract_is_whole(name: str) -> None:
    figure: type[Visualizer] = getattr(viz, name)
    of = figure.contract
    assert all(of[part].strip() == of[part] != "" for part in ("title", "finding", "invitation"))
    assert not of["finding"].endswith(".")
    assert of["invitation"][-1] in ".?"
    for field in of.get("fields", {}).values():
        assert field.keys() >= NUMBER
        assert field["low"] < field["high"]
        assert field["value"] is None or field["low"] <= field["value"] <= field["high"]
    for choice in of.get("choices", {}):
        assert of["choices"][choice]["value"] in base.values(of, choice)
        assert of["choices"][choice]["help"].endswith(".")
    for preset in of.get("presets", {}).values():
        assert preset["label"]
        assert preset["note"].endswith((".", "!", "?"))


@pytest.mark.parametrize("name", FIGURES)
def test_the_documentation_names_what_the_contract_names(name: str) -> None:
    figure: type[Visualizer] = getattr(viz, name)
    arguments = str(figure.__doc__).partition("\n\nArgs:\n    ")[2].partition("\n\n")[0]
    arguments = f"    {arguments}"
    listed = [line.strip().partition(":")[0] for line in arguments.splitlines() if line[4:5].strip()]
    every = [part for names in listed for part in names.split(", ")]
    assert len(every) == len(set(every)), "an argument is described twice"
    assert {*base.settings(figure.contract), "link"} <= set(every)


@pytest.mark.parametrize("name", SET)
def test_fields_take_the_same_values_in_python_and_on_the_page(name: str, ask: Ask) -> None:
    figure = sample_of(name).make()
    draw = random.Random(3)
    for field, of in figure.contract.get("fields", {}).items():
        values = candidates(of, draw)
        on_page = ask("problem", [[folder(name), field, value] for value in values])
        fits = ask("fits", [[folder(name), {**figure.setting, field: value}] for value in values])
        for value, problem, fit in zip(values, on_page, fits, strict=True):
            refused = taken(figure, field, value)
            if problem:  # a value of its own, not one that does not go with the others
                assert refused.startswith(f"{field} must be a "), value
                assert refused.endswith(f"not {value!r}")
                assert problem.startswith("a whole number from" if of["whole"] else "a number from")
                assert not fit
            elif name not in ("KVCacheExplorer", "PipelineSchedule", "RingAllReduce"):
                assert not refused, value
                assert fit
    assert taken(figure, next(iter(figure.contract.get("fields", {"link": 0}))), object())


@pytest.mark.parametrize("name", SET)
def test_choices_are_the_same_in_python_and_on_the_page(name: str, ask: Ask) -> None:
    figure = sample_of(name).make()
    for choice in figure.contract.get("choices", {}):
        known = base.values(figure.contract, choice)
        assert ask("options", [[folder(name), choice]]) == [known]
        for value in [*known, "none of them", None, 99]:
            problem = ask("problem", [[folder(name), choice, value]])[0]
            refused = taken(figure, choice, value)
            assert bool(problem) == (value not in known)
            assert bool(refused) >= bool(problem)
            if problem and not isinstance(known[0], bool):
                assert refused == f"{choice} must be one of {', '.join(map(str, known))}, not {value!r}"


@pytest.mark.parametrize("name", SET)
def test_defaults_and_presets_are_the_same_in_python_and_on_the_page(name: str, ask: Ask) -> None:
    figure: type[Visualizer] = getattr(viz, name)
    names = base.settings(figure.contract)
    start = ask("start", [[folder(name)]])[0]
    assert base.defaults(figure.contract) == {key: start[key] for key in names}
    for preset, entry in figure.contract.get("presets", {}).items():
        if "set" in entry:
            setting = ask("setting", [[folder(name), preset]])[0]
            ready = base.preset_of(figure.contract, preset)
            assert {key: setting[key] for key in ready} == ready


def test_unknown_names_are_refused_with_those_that_there_are() -> None:
    with pytest.raises(ValueError, match="no preset is called 'none'; there are start, other-one"):
        base.preset_of({"presets": {"start": {}, "other-one": {}}}, "none")
    assert base.named({"other-one": 1}, "other_one", "preset") == 1


class Numbers(traitlets.HasTraits):
    """Traits of each kind."""

    whole = Whole(2, low=0)
    free = Number(None, 0.5, 1048576)
    pick = Choice(["Adam", "sgd", 3], "sgd")


def test_traits_say_what_they_take() -> None:
    of = Numbers(whole=4.0, free=1, pick="ADAM")
    assert (of.whole, of.free, of.pick) == (4, 1.0, "Adam")
    assert isinstance(of.whole, int)
    of.free = None
    for name, value, message in (
        ("whole", -1, "whole must be a whole number of at least 0, not -1"),
        ("whole", 1.5, "whole must be a whole number of at least 0, not 1.5"),
        ("whole", None, "whole must be a whole number of at least 0, not None"),
        ("free", float("nan"), "free must be a number from 0.5 to 1048576, not nan"),
        ("free", True, "free must be a number from 0.5 to 1048576, not True"),
        ("pick", "lion", "pick must be one of Adam, sgd, 3, not 'lion'"),
    ):
        with pytest.raises(traitlets.TraitError) as refused:
            setattr(of, name, value)
        assert str(refused.value) == message
