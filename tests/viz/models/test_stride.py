"""StrideExplorer in Python: what it takes, what torch refuses, what it says and draws."""

from __future__ import annotations

import subprocess
import sys
from xml.etree import ElementTree

import pytest
import torch

from torchbook.viz import StrideExplorer
from torchbook.viz.stride import operation, setup

from ..samples import Look, Sample, Traits, pressing


def test_traits_follow_from_the_program() -> None:
    w = StrideExplorer((2, 3, 4), [("permute", 2, 0, 1), ("slice", 0, 1, None, 2)], "int16")
    x = torch.arange(24, dtype=torch.int16).reshape(2, 3, 4).permute(2, 0, 1)[1::2]
    assert (w.size, w.stride, w.offset) == (list(x.shape), list(x.stride()), x.storage_offset())
    assert (w.contiguous, w.shares) == (False, True)
    w.ops = [*w.ops, "contiguous"]
    assert (w.contiguous, w.shares) == (True, False)


@pytest.mark.parametrize(
    ("written", "named"),
    [
        ("t", {"name": "t", "args": {}}),
        (("transpose", 0, 1), {"name": "transpose", "args": {"dim0": 0, "dim1": 1}}),
        (("view", 3, -1), {"name": "view", "args": {"shape": [3, -1]}}),
        (("view", (3, -1)), {"name": "view", "args": {"shape": [3, -1]}}),
        ({"name": "unfold", "args": {"size": 2}}, {"name": "unfold", "args": {"dim": 0, "size": 2, "step": 1}}),
    ],
)
def test_ways_to_write_an_operation(written: object, named: dict[str, object]) -> None:
    assert operation(written) == named  # type: ignore[arg-type]


def test_torch_refuses_and_nothing_changes() -> None:
    w = StrideExplorer((2, 3), ["t"])
    with pytest.raises(RuntimeError, match="view size is not compatible"):
        w.ops = ["t", ("view", -1)]
    assert [op["name"] for op in w.ops] == ["t"]
    with pytest.raises(RuntimeError, match="t\\(\\) expects a tensor with <= 2 dimensions"):
        w.shape = [2, 3, 4]
    assert w.shape == [2, 3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ops": ["turn"]}, "no operation is called 'turn'"),
        ({"preset": "none"}, "no preset is called 'none'"),
        ({"shape": (2,) * 5}, "up to 4 dimensions"),
        ({"shape": (600,)}, "512 elements"),
        ({"shape": (3, 1), "ops": [("expand", 3, 600)]}, "512 elements; here there would be 1800"),
        ({"attempt": ("view", -1)}, "does not refuse"),
    ],
)
def test_mistakes_are_named(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        StrideExplorer(**arguments)  # type: ignore[arg-type]


def test_what_follows_cannot_be_set() -> None:
    with pytest.raises(Exception, match="read-only"):
        StrideExplorer().stride = [1, 1]
    with pytest.raises(IndexError, match="no element"):
        StrideExplorer((2, 3)).selected = [2, 0]


def test_attempt_keeps_the_text_of_torch() -> None:
    w = StrideExplorer(preset="view-fails")
    with pytest.raises(RuntimeError) as refusal:
        torch.zeros(2, 3).t().view(-1)
    assert w.error == str(refusal.value)
    w.ops = []
    assert (w.attempt, w.error) == (None, "")


@pytest.mark.parametrize("preset", sorted(setup()["presets"]))
def test_picture_shows_every_element_and_the_storage(preset: str) -> None:
    w = StrideExplorer(preset=preset)
    svg = ElementTree.fromstring(w.picture)
    cells = svg.findall("{http://www.w3.org/2000/svg}rect")
    storage = torch.Size(w.shape).numel()
    assert len(cells) == torch.Size(w.size).numel() + storage
    assert svg.get("aria-label") == w.words


def test_writes_are_seen_through_every_view() -> None:
    w = StrideExplorer((3, 1), [("expand", 3, 2), ("write", [1, 0], 7)], selected=(1, 1))
    assert w.words.endswith("Element [1, 1] is storage[0 + 1×1 + 1×0] = storage[1] = 7.")


def test_import_leaves_torch_alone() -> None:
    code = "import sys, torchbook.viz; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0


def test_without_torch_the_page_works_it_out() -> None:
    code = """if True:
        import sys
        sys.modules["torch"] = None
        from torchbook.viz import StrideExplorer
        w = StrideExplorer((2, 3), ["t"])
        print(w.words)
        assert "<svg" in w.picture
    """
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert ran.stdout == "torch.arange(6, dtype=torch.float32).reshape(2, 3), then t.\n", ran.stderr


def test_picture_says_the_words_of_the_same_state() -> None:
    explorer = StrideExplorer((2, 3))
    explorer.selected = [1, 2]
    label = ElementTree.fromstring(explorer.picture).attrib["aria-label"]
    assert label == explorer.words


# The figure among all figures


def sample() -> Sample:
    """How the test of all figures takes this one."""
    states: tuple[Traits, ...] = (
        {"shape": ()}, {"preset": "sliding-window"}, {"shape": (0, 3)}, {"preset": "view-fails"},
        {"preset": "channels-last"}, {"shape": (3, 24)},
    )  # fmt: skip
    write = pressing("Write to an element", "as_strided")
    walk = pressing("Write to an element", "Walk through memory", "view")
    return Sample(
        make=StrideExplorer,
        act=pressing("t"), acted={"ops": ["t"]},
        other={"shape": (2, 2)},
        linked={"shape": (2, 3, 4), "ops": [("permute", 2, 0, 1), ("select", 0, 1)], "dtype": "int16",
                "selected": (1, 2)},
        broken=("=e30",),
        looks=(
            *(Look(state, hand) for state in states for hand in (write, walk)),
            Look({"shape": (4, 12)}, pressing("as_strided")),
        ),
        plain=({"preset": "channels-last"},),
    )  # fmt: skip
