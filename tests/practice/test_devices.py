"""What would fail on a GPU is found without one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from torchbook.practice.devices import misplaced

X = torch.randn(3, 3)

RIGHT: dict[str, Callable[[], object]] = {
    "made there": lambda: X.masked_fill(torch.ones(3, 3, dtype=torch.bool, device=X.device).triu(1), 0.0),
    "moved there": lambda: X + torch.arange(3).to(X.device),
    "moved by name": lambda: X + torch.arange(3).to(device=X.device),
    "moved to another": lambda: X + torch.eye(3).to(X),
    "like another": lambda: X + torch.eye(3).type_as(X),
    "made like another": lambda: torch.zeros_like(X) + X.new_ones(3),
    "a number": lambda: X / torch.tensor(2.0).sqrt(),
    "an index": lambda: X[torch.arange(2)],
    "written into": lambda: X.clone().copy_(torch.zeros(3, 3)),
    "an item written into": lambda: X.clone().__setitem__(0, torch.zeros(3)),
    "not used": lambda: (torch.zeros(3), X)[1],
    "not a tensor": lambda: int(torch.arange(3).sum()),
}
WRONG: dict[str, Callable[[], object]] = {
    "a mask": lambda: X.masked_fill(torch.ones(3, 3, dtype=torch.bool).triu(1), 0.0),
    "a sum": lambda: X + torch.arange(3),
    "in a list": lambda: torch.cat([X, torch.zeros(1, 3)]),
    "by name": lambda: F.scaled_dot_product_attention(X, X, X, attn_mask=torch.ones(3, 3).tril().bool()),
    "another dtype": lambda: X + torch.arange(3).to(torch.float64),
    "moved to one like it": lambda: X + torch.arange(3).to(torch.zeros(1)),
    "the result": lambda: torch.zeros(3, 3),
    "a result of several": lambda: {"out": X, "table": [torch.arange(3).float()]},
    "filled afterwards": lambda: torch.zeros(3, 3).copy_(X),
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_where_the_arguments_are_is_no_problem(name: str) -> None:
    assert misplaced(RIGHT[name]) == ""


@pytest.mark.parametrize("name", WRONG)
def test_what_was_made_on_the_default_device_is_a_problem(name: str) -> None:
    assert "without `device=`" in misplaced(WRONG[name])


def test_the_problem_names_function_and_shape() -> None:
    assert misplaced(WRONG["a sum"]).startswith("`add` got a tensor of shape (3,) that")


def test_own_exceptions_are_raised() -> None:
    def unsolved() -> Tensor:
        raise NotImplementedError

    with pytest.raises(NotImplementedError):
        misplaced(unsolved)


def test_numbers_are_what_they_are() -> None:
    found: list[Tensor] = []
    assert misplaced(lambda: found.append(X * 2)) == ""
    assert found[0].equal(2 * X)
