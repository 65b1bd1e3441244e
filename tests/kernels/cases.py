"""What runs in a process of its own, where Triton interprets: `python -m tests.kernels.cases` says what became of each.

A name is reported as "" or with its error. Functions `case_*` assert; nothing here imports triton before it is told to.
"""

from __future__ import annotations

import json
import math
import re
import traceback
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest
import torch


def case_every_check_of_the_benchmark_is_right() -> None:
    from torchbook.kernels import bench

    checked = list(bench.check(torch.device("cpu")))
    assert len(checked) > 50
    assert [row.name for row in checked if not row.right] == []


def case_counting_tells_bytes_products_and_tensors() -> None:
    from torchbook import kernels
    from torchbook.kernels.counting import counting

    a, b = torch.randn(32, 48), torch.randn(48, 32)
    with counting() as counted:
        kernels.matmul(a, b)
    assert counted.launches == 1
    assert counted.flops >= 2 * 32 * 48 * 32
    assert counted.loaded == a.nbytes + b.nbytes
    assert counted.stored == counted.allocated == 32 * 32 * 4
    assert counted.largest == 32 * 32
    assert counted.rounded == 0
    with counting() as counted:
        torch.relu(a @ b).T.sum()
    assert [name for name, _, _ in counted.tensors] == ["mm", "relu", "sum"]
    assert counted.tensors[0] == ("mm", (32, 32), 32 * 32 * 4)
    assert counted.launches == counted.loaded == counted.flops == 0


def case_counting_finds_accesses_outside_of_operands() -> None:
    from torchbook.kernels.counting import counting
    from torchbook.kernels.vector import add_kernel

    x, y, out = torch.ones(100), torch.ones(90), torch.zeros(100)
    with pytest.raises(IndexError, match=r"program \(1, 0, 0\) reads 10 elements outside"), counting():
        add_kernel[(2,)](x, y, out, 100, BLOCK=64)
    with pytest.raises(IndexError, match=r"program \(1, 0, 0\) writes 10 elements outside"), counting():
        add_kernel[(2,)](x, x, y, 100, BLOCK=64)
    with counting():
        add_kernel[(2,)](x, x, out, 100, BLOCK=64)
    assert out.equal(x + x)


def case_counting_gives_no_value_to_lanes_that_a_mask_leaves_out() -> None:
    from tests.kernels.masked import sum_kernel
    from torchbook.kernels.counting import counting

    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int32):
        x, filled, unknown = torch.ones(5, dtype=dtype), torch.zeros(1), torch.zeros(1)
        with counting() as counted:
            sum_kernel[(1,)](x, filled, unknown, 5, BLOCK=8)
        assert filled.item() == 5
        assert unknown.isnan().item() == dtype.is_floating_point, (dtype, unknown)
        assert counted.loaded == 2 * x.nbytes


def case_counting_refuses_a_number_of_warps_as_a_compiler_does() -> None:
    from tests.kernels.masked import product_kernel
    from torchbook.kernels.counting import counting

    x, out = torch.ones(16, 16), torch.zeros(16, 16)
    for warps, refused in ((1, False), (4, False), (0, True), (5, True)):
        said = ""
        try:
            with counting():
                product_kernel[(1,)](x, out, PRECISION="ieee", num_warps=warps)
        except AssertionError as error:
            said = str(error)
        assert ("power of 2" in said) == refused, (warps, said)


def case_counting_tells_products_that_are_rounded() -> None:
    from tests.kernels.masked import product_kernel
    from torchbook.kernels.counting import counting

    for dtype, precision, rounded in (
        (torch.float32, "tf32", 1),
        (torch.float32, None, 1),
        (torch.float32, "ieee", 0),
        (torch.float16, None, 0),
    ):
        x, out = torch.ones(16, 16, dtype=dtype), torch.zeros(16, 16)
        with counting() as counted:
            product_kernel[(1,)](x, out, PRECISION=precision)
        assert (out == 16).all()
        assert counted.rounded == rounded, (dtype, precision)


def case_benchmark_tells_wrong_from_right() -> None:
    from torchbook.kernels import bench

    assert bench.error(torch.ones(3), torch.ones(3)) == 0
    assert not bench.Checked("nan", math.nan, 1.0).right
    assert not bench.Checked("far", 0.1, 0.01).right


def case_benchmark_measures_with_at_least_twenty_runs() -> None:
    """The measuring half, with a stand-in for the device's clock, which is not there."""
    from torchbook.kernels import bench

    asked = []

    def clock(compute: Any, warmup: int, rep: int, return_mode: str) -> list[float]:
        asked.append(rep)
        compute()
        return [0.5] * (rep // 10)

    def few(device: torch.device) -> Any:
        x = torch.ones(8)
        yield "add", lambda: bench.kernels.add(x, x), lambda: x + x, "TB/s", 96.0, 2.0
        yield "softmax", lambda: x, lambda: x, "TB/s", 96.0, None

    with patch.object(bench.triton.testing, "do_bench", clock), patch.object(bench, "races", few):
        (race,) = bench.measure(torch.device("cpu"), "add")
    assert asked == [100, 400] * 2
    assert race.runs >= bench.RUNS
    assert race.speed == 1.0
    assert not race.reached
    assert race.difference == 0


def case_races_cover_the_targets() -> None:
    from torchbook.kernels import bench

    scalar = torch.randn(1, dtype=torch.bfloat16)
    with patch.object(torch, "randn", lambda shape, device: scalar.expand(shape)):  # no memory
        targets = {name: target for name, *_, target in bench.races(torch.device("cpu"))}
    assert [target for name, target in targets.items() if name.startswith("softmax")] == [1.0, 1.0]
    assert targets["matmul 4096³, bfloat16"] == 0.85
    attention = [name for name, target in targets.items() if target == 0.6]
    assert len(attention) == 4
    assert sum("16384" in name for name in attention) == sum("causal" in name for name in attention) == 2


def _layouts(shape: tuple[int, int]) -> list[torch.Tensor]:
    rows, columns = shape
    return [
        torch.randn(rows, columns),
        torch.randn(columns, rows).T,
        torch.randn(rows, 2 * columns)[:, ::2],
        torch.randn(rows, 1).expand(rows, columns),
        torch.randn(rows + 1, columns)[1:],
    ]


def case_add_is_right_for_all_layouts() -> None:
    from torchbook.kernels import add

    for x in _layouts((9, 13)):
        for y in _layouts((9, 13)):
            assert add(x, y).equal(x + y)
    x = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
    assert add(x, x).equal(x + x)
    assert add(x, x).stride() == x.stride()
    assert add(torch.empty(0), torch.empty(0)).shape == (0,)


def case_softmax_is_right_for_all_layouts_and_large_scores() -> None:
    from torchbook.kernels import softmax

    for x in _layouts((5, 33)):
        for shifted in (x, x - 50, 1000 * x):
            torch.testing.assert_close(softmax(shifted), shifted.softmax(-1))
    assert softmax(torch.randn(0, 3)).shape == (0, 3)


def case_matmul_is_right_for_all_layouts() -> None:
    from torchbook.kernels import matmul

    for a in _layouts((35, 17)):
        for b in _layouts((17, 40)):
            torch.testing.assert_close(matmul(a, b), a @ b, atol=1e-4, rtol=1e-4)
    assert matmul(torch.randn(2, 0), torch.randn(0, 3)).equal(torch.zeros(2, 3))
    assert matmul(torch.randn(0, 2), torch.randn(2, 3)).shape == (0, 3)
    bias = torch.randn(40)
    torch.testing.assert_close(
        matmul(a, b, bias[::1], activation="relu"), torch.relu(a @ b + bias), atol=1e-4, rtol=1e-4
    )


def case_every_tile_has_one_program() -> None:
    import triton
    import triton.language as tl

    from torchbook.kernels.tiles import tile_of

    globals()["tile_of"] = tile_of  # a kernel sees globals only

    @triton.jit
    def record(out, m, n, GROUP: tl.constexpr):  # type: ignore[no-untyped-def]  # noqa: N803
        program = tl.program_id(0)
        row, column = tile_of(program, m, n, 16, 16, GROUP)
        tl.store(out + 2 * program, row)
        tl.store(out + 2 * program + 1, column)

    for rows, columns, group in ((5, 7, 2), (1, 4, 8), (9, 9, 3)):
        out = torch.empty(rows * columns, 2, dtype=torch.int32)
        record[(rows * columns,)](out, rows * 16, columns * 16 - 3, GROUP=group)
        assert sorted(map(tuple, out.tolist())) == [(i, j) for i in range(rows) for j in range(columns)]


def case_attention_takes_a_scale_and_one_token() -> None:
    from torch.nn.functional import scaled_dot_product_attention

    from torchbook.kernels import attention

    q, k, v = torch.randn(3, 1, 2, 1, 16)
    torch.testing.assert_close(attention(q, k, v, scale=0.7), scaled_dot_product_attention(q, k, v, scale=0.7))
    q, k, v = 30 * torch.randn(3, 1, 1, 40, 16)
    torch.testing.assert_close(
        attention(q, k, v, causal=True), scaled_dot_product_attention(q, k, v, is_causal=True), atol=1e-4, rtol=1e-4
    )


def _refused(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        call()


def case_wrong_operands_are_refused() -> None:
    from torchbook import kernels

    x = torch.randn(4, 4)
    _refused(lambda: kernels.add(x, x[0]), "does not broadcast")
    _refused(lambda: kernels.add(x, x.half()), "float16")
    _refused(lambda: kernels.add(x.double(), x.double()), "float64")
    _refused(lambda: kernels.add(x, x.to("meta")), "meta")
    _refused(lambda: kernels.softmax(x[0]), "a matrix")
    _refused(lambda: kernels.softmax(x[:, :1].expand(4, 70000)), "columns")
    _refused(lambda: kernels.matmul(x, x[:3]), "cannot be multiplied")
    _refused(lambda: kernels.matmul(x, x, x[0, :2]), "a bias of shape")
    _refused(lambda: kernels.matmul(x, x, activation="tanh"), "is none of")
    _refused(lambda: kernels.matmul(x, x, descriptors=True), "16-bit")
    far = torch.empty(2**31 + 1, dtype=torch.float16, device="meta")
    _refused(lambda: kernels.add(far, far), "32-bit")
    # Operands that fit, and results that do not.
    one = torch.empty(1, dtype=torch.float16, device="meta")
    tall, heads = one.expand(2**16, 2**15 + 1), one.expand(1, 2**12 + 1, 2**12, 128)
    _refused(lambda: kernels.add(one.expand(2**31 + 1), one.expand(2**31 + 1)), "32-bit, and a result")
    _refused(lambda: kernels.softmax(tall), "32-bit, and a result")
    _refused(lambda: kernels.matmul(tall[:, :1], tall[:1]), "32-bit, and a result")
    long = one.expand(2**23 + 1, 256)
    narrow = one.expand(256, 256)
    _refused(lambda: kernels.mlp_one_kernel(long, narrow, narrow[0], narrow, narrow[0]), "32-bit, and a result")
    _refused(lambda: kernels.attention(heads, heads, heads), "32-bit, and a result")
    wide = torch.zeros(2, 300)
    zeros = torch.zeros
    _refused(
        lambda: kernels.mlp_one_kernel(wide, zeros(300, 8), zeros(8), zeros(8, 4), zeros(4)), "use mlp_two_kernels"
    )
    _refused(lambda: kernels.mlp_one_kernel(x, zeros(5, 8), zeros(8), zeros(8, 4), zeros(4)), "do not fit")
    q = torch.randn(1, 1, 4, 16)
    _refused(lambda: kernels.attention(q[0], q[0], q[0]), "(B, H, T, D)")
    _refused(lambda: kernels.attention(q[..., :12], q[..., :12], q[..., :12]), "D one of")
    _refused(lambda: kernels.attention(q, q, q, scale=-1.0), "positive scale")
    _refused(lambda: kernels.attention(q, q, q, descriptors=True), "16-bit")
    turned = q.half().mT.contiguous().mT
    _refused(lambda: kernels.attention(turned, turned, turned, descriptors=True), "multiples of 16 bytes")


def main() -> None:
    """Run all cases; one JSON object at the end."""
    torch.manual_seed(0)
    tracebacks = {}
    for name, case in list(globals().items()):
        if name.startswith("case_"):
            try:
                case()
                tracebacks[name] = ""
            except Exception:
                tracebacks[name] = traceback.format_exc()
    print(json.dumps(tracebacks))


if __name__ == "__main__":
    main()
