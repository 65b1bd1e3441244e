import hashlib
import itertools
import logging
import os
import random
import re
import tempfile
import warnings
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile

if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")  # opcheck imports triton, and later exercises need its interpreter
os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # the profiler's own log
logging.getLogger("torch.utils.cpp_extension").setLevel(logging.ERROR)  # that there is no CUDA
from torch.utils.cpp_extension import load  # noqa: E402


def _ops(operators, source):
    """The operators, built once for a text of the learner's."""
    code = operators()
    namespace = "p06x1_" + hashlib.sha256((code + source).encode()).hexdigest()[:16]
    ops = getattr(torch.ops, namespace)
    if "p06x1" not in vars(ops):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            file = Path(folder, "ops.cpp")
            file.write_text(re.sub(r"\bp06x1\b", namespace, code))
            try:
                load(namespace, [str(file)], build_directory=folder, is_python_module=False, extra_cflags=["-O1"])
            except RuntimeError as error:
                said = [line for line in str(error).splitlines() if "error" in line.lower()]
                raise RuntimeError("your C++ does not compile: " + "; ".join(said)[:1500]) from None
        for name in ("add", "add_"):
            assert hasattr(ops, name), f"the library defines no operator {name} in the namespace p06x1"
        ops.p06x1 = {}
    return ops


def _completed(operators, complete, source):
    """The operators with what Python adds to them, once."""
    ops = _ops(operators, source)
    if not ops.p06x1:
        try:
            complete(ops.add.default.namespace)
            ops.p06x1["error"] = None
        except BaseException as error:
            ops.p06x1["error"] = error
    if ops.p06x1["error"]:
        raise ops.p06x1["error"]
    return ops


def _layouts(rows=6, columns=6, dtype=torch.float32):
    """One shape in several orders of memory."""

    def make(*shape):
        return torch.randn(shape).to(dtype)

    return {
        "contiguous": make(rows, columns),
        "transposed": make(columns, rows).T,
        "of every second column": make(rows, 2 * columns)[:, ::2],
        "a slice": make(rows + 1, columns)[1:],
        "expanded": make(rows, 1).expand(rows, columns),
    }


def _refused(call):
    try:
        call()
    except RuntimeError:
        return True
    return False


def _allocated(call):
    """Bytes that a call asks the allocator for."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True, acc_events=True) as prof:
        result = call()
    del result
    events = prof.profiler.kineto_results.events()
    return sum(max(0, e.nbytes()) for e in events if e.name() == "[memory]")


def test_adds(operators, source):
    ops, x, y = _ops(operators, source), torch.randn(7, 5), torch.randn(7, 5)
    assert ops.add(x, y).equal(x + y), "add(x, y) of two contiguous matrices is not x + y"
    assert ops.add(x[:0], y[:0]).shape == (0, 5), "operands without elements have a sum without elements"


def test_layouts(operators, source):
    ops = _ops(operators, source)
    for (a, x), (b, y) in itertools.product(_layouts().items(), repeat=2):
        assert torch.allclose(ops.add(x, y), x + y), (
            f"wrong for x {a} and y {b}: a pointer walks memory and knows no strides"
        )


def test_result_is_contiguous(operators, source):
    ops, x = _ops(operators, source), torch.randn(4, 6).T
    out = ops.add(x, x)
    assert out.is_contiguous(), (
        f"the result of transposed operands has strides {out.stride()}; a contiguous one is asked"
    )


def test_types(operators, source):
    ops = _ops(operators, source)
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        x, y = torch.randn(50).to(dtype), torch.randn(50).to(dtype)
        try:
            found = ops.add(x, y)
        except RuntimeError as error:
            said = str(error).splitlines()[0]
            raise AssertionError(f"no kernel for {dtype}: is there a case for it in the switch? ({said})") from None
        assert found.dtype == dtype and found.equal(x + y), f"the sum of two {dtype} vectors is wrong"


def test_refuses(operators, source):
    ops, x = _ops(operators, source), torch.ones(10)
    memory = torch.ones(20)
    assert _refused(lambda: ops.add(x, memory[:5])), "y has 5 elements and x 10: the kernel reads past the end of y"
    assert _refused(lambda: ops.add(x.view(2, 5), memory[:10].view(5, 2))), "(2, 5) and (5, 2) have no sum"
    assert _refused(lambda: ops.add(x, x.double())), "float32 and float64: the types must be the same"
    assert _refused(lambda: ops.add_(x, memory[:5])), "add_ must refuse another shape as well"


def test_in_place(operators, source):
    ops, x, y = _ops(operators, source), torch.randn(4, 5), torch.randn(4, 5)
    expected = x + y
    assert ops.add_(x, y) is None, "add_ returns nothing; the schema is (Tensor(a!) x, Tensor y) -> ()"
    assert x.equal(expected), "add_(x, y) changes x to x + y"


def test_in_place_layouts(operators, source):
    ops = _ops(operators, source)
    for (a, x), (b, y) in itertools.product(_layouts().items(), repeat=2):
        if a != "expanded":
            expected = x + y
            ops.add_(x, y)
            assert torch.allclose(x, expected), (
                f"x {a}, y {b}: what is written to a copy of x that contiguous() made does not reach x"
            )


def test_in_place_allocates_nothing(operators, source):
    ops, x, y = _ops(operators, source), torch.randn(100, 100), torch.randn(100, 100)
    ops.add_(x, y)
    found = _allocated(lambda: ops.add_(x, y)) / x.nbytes
    assert found == 0, f"add_ of contiguous operands allocates {found:.2f} times the bytes of x, and needs none"


def test_allocates_the_result(operators, source):
    ops, x, y = _ops(operators, source), torch.randn(100, 100), torch.randn(100, 100)
    ops.add(x, y)
    found = _allocated(lambda: ops.add(x, y)) / x.nbytes
    assert 0.99 < found < 1.1, f"add of contiguous operands allocates {found:.2f} times its result's bytes; 1 is needed"


def test_shared_memory(operators, source):
    ops = _ops(operators, source)
    x = torch.arange(9.0).view(3, 3)
    expected = x + x.T
    ops.add_(x, x.T)
    assert x.equal(expected), "add_(x, x.T) must add the values from before the call"
    memory = torch.ones(6)
    ops.add_(memory[1:], memory[:-1])
    assert memory[1:].equal(torch.full((5,), 2.0)), (
        "add_(m[1:], m[:-1]) reads elements that it has just written; y is to be read as it was before the call"
    )


def _opcheck(operator, arguments, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of opcheck's own code
        return torch.library.opcheck(operator, arguments, raise_exception=False, **more)


def _held(test, operator, arguments, say):
    """Run one of opcheck's tests."""
    found = _opcheck(operator, arguments, test_utils=test)[test]
    assert found == "SUCCESS", f"{say} ({str(found).strip().splitlines()[0][:200]})"


def test_schema_tells_the_truth(operators, source):
    ops = _ops(operators, source)
    x, y = torch.randn(3, 4), torch.randn(3, 4)
    _held("test_schema", ops.add.default, (x, y), "the schema of add does not say what it does")
    _held("test_schema", ops.add_.default, (x, y), "the schema of add_ must say that it changes x: Tensor(a!) x")


def test_fake_kernels(operators, complete, source):
    ops = _completed(operators, complete, source)
    x = torch.ones(3, 4, device="meta")
    try:
        out = ops.add(x, x)
        ops.add_(x, x)
    except NotImplementedError as error:
        raise AssertionError(f"no fake kernel: {str(error).splitlines()[0][:200]}") from None
    assert out.shape == (3, 4) and out.is_meta, "the fake kernel of add returns a tensor of x's shape, on x's device"


def test_fake_kernels_agree(operators, complete, source):
    ops, every = _completed(operators, complete, source), _layouts()
    for name in ("contiguous", "transposed", "of every second column"):
        for operator in (ops.add.default, ops.add_.default):
            say = f"for x {name} the fake kernel promises another result than the kernel gives: shape, type or strides"
            _held("test_faketensor", operator, (every[name], every["a slice"]), say)


def test_gradients(operators, complete, source):
    ops = _completed(operators, complete, source)
    x, y = torch.randn(2, 3, 4, dtype=torch.float64).requires_grad_()
    weights = torch.randn(3, 4, dtype=torch.float64)
    out = ops.add(x, y)
    assert out.requires_grad, "the result is not part of the graph: no derivative is registered"
    found = torch.autograd.grad((out * weights).sum(), (x, y), allow_unused=True)
    for name, gradient in zip("xy", found, strict=True):
        assert gradient is not None and gradient.equal(weights), f"the gradient of {name} is upstream's, unchanged"


def test_gradcheck(operators, complete, source):
    ops = _completed(operators, complete, source)
    x = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    y = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    right = torch.autograd.gradcheck(lambda x, y: ops.add(x, y.T), (x, y), raise_exception=False)
    assert right, "gradcheck: the derivative is not that of the function"


def test_hidden_opcheck(operators, complete, source, seed):
    ops, draw = _completed(operators, complete, source), random.Random(seed)
    every = [(name, x) for name, x in _layouts(3, 5).items() if name != "expanded"]
    for _ in range(2):
        (a, x), (b, y) = draw.sample(every, 2)
        for operator, grad in ((ops.add.default, False), (ops.add.default, True), (ops.add_.default, False)):
            given = x.detach().requires_grad_(grad), y.detach().requires_grad_(grad)
            found = _opcheck(operator, given)
            bad = ", ".join(name for name, said in found.items() if said != "SUCCESS")
            assert not bad, f"opcheck of {operator._opname} for x {a}, y {b}, requires_grad={grad}: {bad}"


def test_hidden_random(operators, source, seed):
    ops, draw = _ops(operators, source), random.Random(seed)
    for _ in range(30):
        rows, columns = draw.randint(1, 9), draw.randint(1, 9)
        dtype = draw.choice([torch.float32, torch.float64, torch.bfloat16])
        (a, x), (b, y) = draw.sample(list(_layouts(rows, columns, dtype).items()), 2)
        if draw.random() < 0.5:
            depth = draw.randint(2, 4)
            memory = torch.randn(rows, depth, columns).to(dtype)
            (a, x), (b, y) = (
                ("permuted", memory.permute(2, 0, 1)),
                ("dense", torch.randn(columns, rows, depth).to(dtype)),
            )
        before, expected = x.clone(), x + y
        assert ops.add(x, y).equal(expected), f"add is wrong for x {a} and y {b}, {tuple(x.shape)}, {dtype}"
        assert x.equal(before), "add must not change x"
        if a != "expanded":
            ops.add_(x, y)
            assert x.equal(expected), f"add_ is wrong for x {a} and y {b}, {tuple(x.shape)}, {dtype}"
