"""Recipes say what torch says."""

from __future__ import annotations

import re

import pytest
import torch

from torchbook.drawing import recipes


def texts(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


def test_storage_shows_each_tensor_and_the_flat_row() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    drawing = recipes.storage({"x": x, "x.t()": x.t()}, place=4)
    said = texts(drawing.svg())
    assert "shape (2, 3), stride (3, 1), offset 0" in said
    assert "shape (3, 2), stride (1, 3), offset 0" in said
    cells = [text for text in said if text.isdigit()]
    assert cells == [*"012345", *"031425", *"012345", *"012345"]
    assert drawing.svg().count("--viz-1") == 3  # the marked place, in x, in x.t() and in the storage
    assert "x.t() reads it with shape (3, 2), stride (1, 3), offset 0" in drawing.words


def test_storage_dashes_what_no_tensor_reaches() -> None:
    x = torch.arange(6.0)
    assert recipes.storage({"x[::2]": x[::2]}).svg().count("stroke-dasharray") == 3


def test_storage_wraps_a_row_that_is_longer_than_a_phone() -> None:
    x = torch.arange(30)
    assert recipes.storage({"x[:4]": x[:4]}).svg()


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({}, "share one storage"),
        ({"a": torch.ones(2), "b": torch.ones(2)}, "share one storage"),
        ({"a": torch.ones(2, 2, 2)}, "vectors and matrices"),
    ],
)
def test_storage_refuses_what_it_cannot_draw(tensors: dict[str, torch.Tensor], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        recipes.storage(tensors)


def test_autograd_has_each_node_once_and_each_edge() -> None:
    w, x = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    drawing = recipes.autograd(((w * x).exp() * x).sum(), {"w": w, "x": x})
    said = texts(drawing.svg())
    assert said.count("MulBackward0") == 2
    assert said.count("AccumulateGrad") == 2
    assert {"w", "x", "keeps result"} <= set(said)
    assert drawing.svg().count("<polygon") == 6
    assert drawing.words.count("leads to") == 6


def test_autograd_names_a_leaf_without_a_name_by_its_shape() -> None:
    assert "(3,)" in texts(recipes.autograd(torch.ones(3, requires_grad=True).sum(), {}).svg())


def test_autograd_can_leave_out_what_was_saved() -> None:
    w = torch.ones(2, requires_grad=True)
    said = texts(recipes.autograd((w * w).sum(), {"w": w}, saved=False).svg())
    assert "MulBackward0" in said
    assert not any("keeps" in text or "saved" in text for text in said)


def test_operations_are_counted_without_leaves_and_once_each() -> None:
    w = torch.ones(2, requires_grad=True)
    h = w.exp()
    assert recipes.operations((h * h).sum()) == 3
    assert recipes.operations(torch.ones(2)) == 0


def test_autograd_needs_a_record() -> None:
    with pytest.raises(ValueError, match="no grad_fn"):
        recipes.autograd(torch.ones(3), {})


def test_a_call_passes_its_layers_in_order() -> None:
    drawing = recipes.descent([("Python", "f(x)"), ("C++", "add"), ("C++", "loop")])
    assert drawing.words == "From above: Python, f(x); C++, add; C++, loop."
    assert drawing.svg().count("<polygon") == 2
    assert drawing.svg().count(">C++<") == 1  # neighbours share the name of their layer


def test_a_call_without_frames_is_refused() -> None:
    with pytest.raises(ValueError, match="no frame"):
        recipes.descent([])


def test_a_chain_has_the_values_and_gradients_of_torch() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    squared = x**2
    drawing = recipes.chain({"x": x, "** 2": squared, "* 3": 3 * squared})
    assert drawing.words == (
        "Forward, x is 2, then ** 2 gives 4, then * 3 gives 12. Backward, the gradient begins with 1"
        ", times the slope 3 of * 3 it is 3, times the slope 4 of ** 2 it is 12."
    )
    assert x.grad is None
    assert drawing.svg()


def test_a_chain_that_a_phone_cannot_show_is_refused() -> None:
    with pytest.raises(ValueError, match="2 to 5"):
        recipes.chain({"x": torch.tensor(1.0, requires_grad=True)})
