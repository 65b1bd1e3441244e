"""Drawings of attention from outside and inside say what their numbers say."""

from __future__ import annotations

import re

import pytest
import torch

from torchbook.drawing import Drawing, heads

ALL = torch.ones(3, 3, dtype=torch.bool)
RATES = {"back": torch.tensor([[0.5, 0.1]]), "itself": torch.tensor([[0.25, 0.05]])}


def texts(drawing: Drawing) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", drawing.svg())


def test_outputs_are_the_means_of_what_they_read() -> None:
    drawing = heads.leak({"no mask": ALL, "mask": ALL.tril()}, "the", [2, 4, 9], [2, 4, 0])
    assert "no mask: outputs 5, 5, 5 become 2, 2, 2, so t, h, e moves" in drawing.words
    assert "mask: outputs 2, 3, 5 become 2, 3, 2, so e moves" in drawing.words
    assert drawing.svg().count("var(--viz-6") == 2 + 1  # two early outputs, and the legend's


def test_a_line_leads_from_each_input_to_its_readers() -> None:
    drawing = heads.leak({"mask": ALL.tril()}, "the", [2, 4, 9], [2, 4, 0])
    assert drawing.svg().count("<polyline") == 2 * int(ALL.tril().sum())


@pytest.mark.parametrize(
    ("mask", "after", "problem"),
    [
        (ALL, [1.0], "an input for each"),
        (ALL[:2], [1.0, 2, 3], "each row reads"),
        (~ALL, [1.0, 2, 3], "each row reads"),
    ],
)
def test_a_leak_whose_sizes_do_not_fit_is_refused(mask: torch.Tensor, after: list[float], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        heads.leak({"mask": mask}, "the", [2, 4, 9], after)


def test_readers_are_drawn_as_they_are() -> None:
    drawing = heads.readers({"BERT": ALL, "GPT": ALL.tril()})
    assert "BERT: from the first output to the last, they read 3, 3, 3 inputs, and some inputs after" in drawing.words
    assert "GPT: from the first output to the last, they read 1, 2, 3 inputs, and no input after" in drawing.words
    assert drawing.svg().count("stroke-dasharray") == 3 + 1  # and the legend's


def test_readers_that_are_not_square_are_refused() -> None:
    with pytest.raises(ValueError, match="square"):
        heads.readers({"GPT": ALL[:2]})


def test_rows_from_later_tokens_are_found() -> None:
    token = torch.arange(6)[:, None].expand(6, 8).contiguous()
    right, wrong = token.unflatten(-1, (2, -1)).transpose(0, 1), token.view(2, 6, 4)
    drawing = heads.cut_heads({"right": right, "wrong": wrong})
    later = sum(int(wrong[h, t, d]) > t for h in range(2) for t in range(6) for d in range(4))
    assert (
        drawing.words == f"right: no number comes from a later token; wrong: {later} numbers come from a later token."
    )
    assert drawing.svg().count("var(--viz-6") == later + 1  # and the legend's


def test_more_heads_than_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="two heads"):
        heads.cut_heads({"three": torch.zeros(3, 6, 4)})


def test_a_silenced_head_adds_nothing() -> None:
    drawing = heads.head_writes((0, 1), {"head 0": (2, 0), "head 1": (1, 1)}, "head 0")
    assert "Where both heads write, the stream is (3, 2) afterwards" in drawing.words
    assert "Where head 0 is silenced, the stream is (1, 2) afterwards" in drawing.words
    assert [texts(drawing).count(what) for what in ("(2, 0)", "(0, 0)", "(1, 1)")] == [1, 1, 2]


@pytest.mark.parametrize(("stream", "silent"), [((0, 1), "head 2"), ((0, 1, 2), "head 0")])
def test_a_head_that_there_is_not_is_refused(stream: tuple[float, ...], silent: str) -> None:
    with pytest.raises(ValueError, match="two heads"):
        heads.head_writes(stream, {"head 0": (2, 0), "head 1": (1, 1)}, silent)


def test_shares_of_a_head_are_written_where_they_fit() -> None:
    drawing = heads.weight_shares(RATES)
    assert drawing.words == "layer 0, head 0: back 50%, itself 25%; layer 0, head 1: back 10%, itself 5%."
    assert [text for text in texts(drawing) if "%" in text] == ["50%", "25%"]


@pytest.mark.parametrize(
    ("rates", "problem"),
    [
        ({"back": torch.ones(2, 2), "itself": torch.ones(2, 1)}, "of one shape"),
        ({"back": torch.ones(2, 2), "itself": torch.ones(2, 2)}, "1 together"),
    ],
)
def test_shares_that_cannot_be_are_refused(rates: dict[str, torch.Tensor], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        heads.weight_shares(rates)


def test_what_is_copied_is_what_followed() -> None:
    drawing = heads.copying("the king, the k")
    assert "writes at 'i' that 'k' comes before it" in drawing.words
    assert {"before me: k", "next: i"} <= set(texts(drawing))


@pytest.mark.parametrize("text", ["", "abc", "aa", "a text that is too long a"])
def test_a_text_without_anything_to_copy_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="occurred before"):
        heads.copying(text)
