"""BroadcastExplorer in Python: what it takes, what torch says, what it says and draws."""

from __future__ import annotations

import subprocess
import sys
from xml.etree import ElementTree

import pytest
import torch
import traitlets

from torchbook.viz import BroadcastExplorer
from torchbook.viz.broadcast import setup

from ..samples import Look, Sample, Traits, choose


def test_the_result_is_that_of_torch() -> None:
    w = BroadcastExplorer((4, 1), (3,))
    assert (w.result, w.error) == ([4, 3], "")
    w.b = [4, 1, 3]
    assert w.result == [4, 4, 3]
    w.op = "*="
    with pytest.raises(RuntimeError) as refusal:
        torch.zeros(4, 1).mul_(torch.zeros(4, 1, 3))
    assert (w.result, w.error) == (None, str(refusal.value))


def test_a_condition_means_where() -> None:
    w = BroadcastExplorer((2, 3), (), c=(2, 1))
    assert (w.op, w.result) == ("where", [2, 3])
    w.c = [3]
    assert w.words.startswith("where((3,), (2, 3), ()) gives shape (2, 3)")
    w.op = "+"
    assert w.shapes == {"a": (2, 3), "b": ()}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"a": (1,) * 6}, "up to 5 dimensions"),
        ({"b": (6,)}, "sizes 0 to 5"),
        ({"a": (-1,)}, "sizes 0 to 5"),
        ({"preset": "none"}, "no preset is called 'none'"),
        ({"c": (1,), "op": "+"}, "a condition is for op='where'"),
    ],
)
def test_mistakes_are_named(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BroadcastExplorer(**arguments)  # type: ignore[arg-type]


def test_what_follows_cannot_be_set() -> None:
    with pytest.raises(traitlets.TraitError, match="read-only"):
        BroadcastExplorer().result = [1]
    with pytest.raises(traitlets.TraitError):
        BroadcastExplorer().op = "/"
    with pytest.raises(IndexError, match="no element"):
        BroadcastExplorer((2, 3), (3,), selected=(2, 0))


def test_selection_stays_inside_the_result() -> None:
    w = BroadcastExplorer((4, 1), (3,), selected=(3, 2))
    assert w.words.endswith("result[3, 2] = a[3, 0] + b[2] = 30 + 2 = 32.")
    w.b = [2]
    assert w.selected == [1, 1]
    w.b = [0]
    assert w.selected is None


def test_what_the_reader_does_arrives_at_once() -> None:
    w = BroadcastExplorer((4, 1), (3,))
    done = {"a": [2, 2], "b": [2], "c": [], "op": "+=", "result": [2, 2], "error": "", "selected": [1, 0]}
    w.set_state(done)
    assert {name: getattr(w, name) for name in done} == done
    assert w.words.endswith("a[1, 0] = a[1, 0] + b[0] = 20 + 0 = 20.")


@pytest.mark.parametrize("preset", sorted(setup()["presets"]))
def test_presets_are_what_they_say(preset: str) -> None:
    w = BroadcastExplorer(preset=preset)
    assert bool(w.error) == (preset in {"mask-refused", "channels-refused", "in-place"})
    assert w.words in ElementTree.fromstring(w.picture).get("aria-label", "")


@pytest.mark.parametrize("shapes", [((4, 1), (3,)), ((4,), (4, 1)), ((2,), (2,))])
def test_picture_shows_every_size_and_element(shapes: tuple[tuple[int, ...], ...]) -> None:
    w = BroadcastExplorer(*shapes)
    assert w.result is not None
    cells = ElementTree.fromstring(w.picture).findall("{http://www.w3.org/2000/svg}rect")
    assert len(cells) == 3 * len(w.result) + 3 * torch.Size(w.result).numel()
    copied = [cell for cell in cells if cell.get("stroke-dasharray")]
    stretched = sum(torch.Size(w.result).numel() - torch.Size(shape).numel() for shape in shapes)
    assert len(copied) - stretched == sum(
        n != (1, *shape)[-len(w.result) :][d] if d >= len(w.result) - len(shape) else True
        for shape in shapes
        for d, n in enumerate(w.result)
    )


def test_without_torch_the_page_works_it_out() -> None:
    code = """if True:
        import sys
        sys.modules["torch"] = None
        from torchbook.viz import BroadcastExplorer
        w = BroadcastExplorer((2, 1), (3,))
        print(w.words)
        assert "<svg" in w.picture
    """
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    expected = "(2, 1) + (3,). Dimension 1: 3; a has 1, repeated 3 times. "
    expected += "Dimension 0: 2; b has none and counts as 1, repeated 2 times.\n"
    assert ran.stdout == expected, ran.stderr


# The figure among all figures


def sample() -> Sample:
    """How the test of all figures takes this one."""
    states: tuple[Traits, ...] = (
        {"a": (), "b": ()}, {"preset": "empty"}, {"preset": "mask-refused"}, {"preset": "in-place"},
        {"a": (5, 5, 5), "b": (5, 1)}, {"preset": "mask"}, {"a": (5, 5, 5, 5, 5), "b": (5, 1), "c": (1, 1, 1, 1, 1)},
    )  # fmt: skip
    return Sample(
        make=BroadcastExplorer,
        act=choose("Size of dimension 0 of b, under dimension 1 of the result: equal", "5"), acted={"b": (5,)},
        other={"a": (2, 2), "b": (2,)},
        linked={"a": (2, 1), "b": (2, 1, 3), "op": "*", "selected": (1, 0, 2)}, broken=("=e30",),
        looks=tuple(map(Look, states)), plain=({"preset": "loss"},),
    )  # fmt: skip
