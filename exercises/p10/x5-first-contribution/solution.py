import unittest
from collections.abc import Callable
from typing import Any

import torch
from torch.testing import make_tensor

ISSUE = 4321  # "running_mean gives wrong numbers along any dimension but the last"


def running_mean(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """The mean of all elements up to each one, along `dim`. This is the function of the issue, and it is wrong."""
    return x.cumsum(dim) / torch.arange(1, x.shape[dim] + 1)


class TestCase(unittest.TestCase):
    """Stands in for PyTorch's own: assertEqual compares tensors by value, dtype and shape, with its tolerances."""

    def assertEqual(self, first: Any, second: Any, msg: Any = None, **tolerances: float) -> None:
        if isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor):
            torch.testing.assert_close(first, second, check_device=False, equal_nan=True, msg=msg, **tolerances)
        else:
            super().assertEqual(first, second, msg)


def instantiate(generic: type[TestCase], device: str) -> type[TestCase]:
    """The class for one device: of `test_x(self, device)` comes `test_x_cpu(self)`."""
    members: dict[str, Any] = {}
    for name, test in vars(generic).items():
        if name.startswith("test_"):
            members[f"{name}_{device}"] = lambda self, test=test: test(self, device)
    return type(f"{generic.__name__}{device.upper()}", (TestCase,), members)


def failures(cases: type[TestCase]) -> dict[str, str]:
    """Run a class of tests: the names of those that fail, and their last words."""
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(cases).run(result)
    every = [*result.failures, *result.errors]
    return {str(case).split()[0]: said.strip().splitlines()[-1] for case, said in every}


def reproduce(function: Callable) -> None:
    """Raise AssertionError if `function` has the bug of the issue."""
    ### BEGIN SOLUTION
    found = function(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), 0)
    torch.testing.assert_close(found, torch.tensor([[1.0, 2.0], [2.0, 3.0]]))
    ### END SOLUTION


def fixed(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """The mean of all elements up to each one, along `dim`."""
    ### BEGIN SOLUTION
    shape = [1] * x.ndim
    shape[dim] = -1
    count = torch.arange(1, x.shape[dim] + 1, device=x.device)
    return x.cumsum(dim) / count.view(shape)
    ### END SOLUTION


def sample_inputs(device: str, dtype: torch.dtype, requires_grad: bool) -> list[tuple[tuple, dict]]:
    """Arguments and keyword arguments of calls that are worth making."""
    ### BEGIN SOLUTION
    cases: list[tuple[tuple[int, ...], dict[str, int]]] = [
        ((5,), {}),
        ((1,), {"dim": 0}),
        ((0,), {"dim": 0}),
        ((3, 3), {"dim": 0}),
        ((2, 3), {"dim": -2}),
        ((4, 0), {"dim": 0}),
        ((2, 3, 4), {"dim": 1}),
        ((2, 3, 4), {"dim": -3}),
        ((2, 3, 4), {}),
    ]
    made: dict[str, Any] = {"device": device, "dtype": dtype, "requires_grad": requires_grad}
    found = [((make_tensor(shape, **made),), kwargs) for shape, kwargs in cases]
    found.append(((make_tensor((4, 6), noncontiguous=True, **made),), {"dim": 0}))
    return found
    ### END SOLUTION


def make_test(function: Callable) -> type[TestCase]:
    """The class of tests for `function`, to be instantiated for a device."""
    ### BEGIN SOLUTION

    def expected(x: torch.Tensor, dim: int = -1) -> torch.Tensor:
        parts = [x.narrow(dim, 0, n + 1).mean(dim) for n in range(x.shape[dim])]
        return torch.stack(parts, dim) if parts else torch.empty_like(x)

    class TestRunningMean(TestCase):
        def test_along_the_first_dimension(self, device: str) -> None:
            x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], device=device)
            self.assertEqual(function(x, 0), torch.tensor([[1.0, 2.0], [2.0, 3.0]], device=device))

        def test_samples(self, device: str) -> None:
            for dtype in (torch.float32, torch.float64):
                for args, kwargs in sample_inputs(device, dtype, False):
                    self.assertEqual(function(*args, **kwargs), expected(*args, **kwargs))

        def test_integers(self, device: str) -> None:
            for dtype in (torch.int64, torch.uint8, torch.bool):
                x = torch.tensor([[1, 0], [0, 0]], device=device).to(dtype)
                self.assertEqual(function(x, 0), torch.tensor([[1.0, 0.0], [0.5, 0.0]], device=device))

        def test_input_is_kept(self, device: str) -> None:
            x = torch.tensor([1.0, 2.0, 3.0], device=device)
            before = x.clone()
            function(x)
            self.assertEqual(x, before)

        def test_gradients(self, device: str) -> None:
            for args, kwargs in sample_inputs(device, torch.float64, True):
                if args[0].numel():
                    self.assertTrue(torch.autograd.gradcheck(lambda x, kw=kwargs: function(x, **kw), args))

    return TestRunningMean
    ### END SOLUTION


def message() -> str:
    """Title and description of the pull request."""
    ### BEGIN SOLUTION
    return f"""Fix running_mean along any dim but the last

The counts were divided by along the last dimension, whatever dim was: wrong
numbers for square inputs, an error for others. They are now a view with one
dimension that is not 1, namely dim, and are made on the device of the input.

Fixes #{ISSUE}

Test plan: python test/test_running_mean.py
The new test test_along_the_first_dimension fails without the fix.
"""
    ### END SOLUTION
