import torch

HALVES = (torch.float16, torch.bfloat16)


def test_sequential(sequential_sum):
    x = torch.tensor([1.0, 2.0, 4.0])
    assert sequential_sum(x) == 7, "the sum of 1, 2 and 4 is 7"
    assert sequential_sum(x[:0]) == 0, "the sum of nothing is 0"


def test_sequential_dtype(sequential_sum):
    for dtype in HALVES:
        found = sequential_sum(torch.ones(3, dtype=dtype))
        assert isinstance(found, torch.Tensor) and found.dtype == dtype, "the total must be a tensor of x's own dtype"
        assert found.shape == (), "the total has no dimensions"


def test_sequential_stalls(sequential_sum):
    found = sequential_sum(torch.full((1000,), 1e-4, dtype=torch.bfloat16))
    assert found == 0.03125, "the running total was wider than bfloat16, or was rounded only at the end"


def test_stall(stall):
    total, additions = stall(1e-4, torch.float16)
    assert type(total) is float, f"the sum is asked for as a Python float, and is a {type(total).__name__}"
    assert total == 0.25, "float16 stops where half a step is larger than what is added"
    assert additions == 2181, "count the additions that changed the sum, and round `small` to the dtype first"


def test_stall_at_once(stall):
    assert tuple(stall(1e-9, torch.float16)) == (0.0, 0), (
        "1e-9 underflows in float16: not even the first addition does anything"
    )


def test_compensated(compensated_sum):
    found = compensated_sum(torch.full((5000,), 1e-4, dtype=torch.bfloat16))
    assert found.dtype == torch.bfloat16, "the compensated sum stays in x's own dtype"
    assert abs(found.item() - 0.5) < 0.005, (
        "what was rounded away is not given back: the sum should be within 1 % of 0.5"
    )


def test_compensated_in_double(compensated_sum):
    x = torch.full((2001,), 1e-16, dtype=torch.float64)
    x[0] = 1.0
    gained = compensated_sum(x).item() - 1.0
    assert abs(gained - 2e-13) < 1e-15, "a wider dtype is no compensation: for float64 there is none"


def test_compensated_as_described(compensated_sum):
    for large, dtype in ((1e30, torch.float64), (1e10, torch.float32), (3e4, torch.float16)):
        x = torch.tensor([1.0, 1.0, large, -large], dtype=dtype)
        assert compensated_sum(x) == 0.0, (
            f"in {dtype}, added to {-large:g}, the 2 that {large:g} had swallowed is rounded away again: the method "
            "described loses it here, and another one was used, or another dtype"
        )


def test_hidden_random_sums(sequential_sum, compensated_sum, reference, seed):
    draw = torch.Generator().manual_seed(seed)
    for dtype in (*HALVES, torch.float32):
        x = torch.rand(700, generator=draw).to(dtype)
        assert sequential_sum(x) == reference.sequential_sum(x), "the sequential sum differs on random numbers"
        near = reference.compensated_sum(x).item()
        assert abs(compensated_sum(x).item() - near) <= 2 * torch.finfo(dtype).eps * near, "the compensated sum is off"
        x[0] = 1.0  # none is larger than the total, so that what was rounded away is exact however it is worked out
        assert compensated_sum(x) == reference.compensated_sum(x), (
            "the sum is near, but not the one that Kahan's method gives, element after element and in x's own dtype"
        )


def test_hidden_stalls(stall, reference, seed):
    draw = torch.Generator().manual_seed(seed)
    for dtype in HALVES:
        small = 10 ** (-3 + torch.rand((), generator=draw).item())
        assert tuple(stall(small, dtype)) == reference.stall(small, dtype), "the stall is wrong for another number"
