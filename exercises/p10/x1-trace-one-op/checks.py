import contextlib
import random

import torch
from torch.utils._python_dispatch import TorchDispatchMode

ATEN = torch.ops.aten


class Plain(torch.Tensor):
    """A subclass that changes nothing."""


class Wrapper(torch.Tensor):
    """A subclass with its own __torch_dispatch__."""

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        bare = [arg.inner if isinstance(arg, Wrapper) else arg for arg in args]
        return func(*bare, **(kwargs or {}))


class Quiet(TorchDispatchMode):
    """A mode that only looks on."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def _x(**kwargs):
    return torch.ones(2, 2, **kwargs)


def test_plain(route):
    found = list(route(ATEN.mm.default, _x(), _x()))
    assert "ADInplaceOrView" not in found and "BackendSelect" not in found, (
        "this key is in the key set, but its entry in the table is a fallthrough, so nothing runs there"
    )
    assert found == ["AutogradCPU", "CPU"], (
        f"mm of two CPU tensors runs AutogradCPU and then CPU, with the highest priority first; found {found}"
    )


def test_autograd_is_always_passed(route):
    plain = ["AutogradCPU", "CPU"]
    assert list(route(ATEN.mm.default, _x(requires_grad=True), _x())) == plain, "requires_grad adds no key"
    assert list(route(ATEN.mm.default, _x(), _x())) == plain, (
        "a tensor that requires no gradient also has the autograd key, whose kernel sees that there is nothing to do"
    )
    with torch.no_grad():
        found = list(route(ATEN.mm.default, _x(), _x()))
    assert found == plain, "no_grad sets a flag that the autograd kernel reads; it changes no key set"


def test_inference_mode(route):
    x = _x()
    with torch.inference_mode():
        inside = list(route(ATEN.mm.default, _x(), _x()))
        normal = list(route(ATEN.mm.default, x, x))
    assert inside == ["CPU"], "a tensor made under inference_mode has no autograd key"
    assert normal == ["CPU"], "inference_mode excludes autograd for this thread, for ordinary tensors too"


def test_autocast(route):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        mm = list(route(ATEN.mm.default, _x(), _x()))
        add = list(route(ATEN.add.Tensor, _x(), _x()))
    assert mm == ["AutocastCPU", "AutogradCPU", "CPU"], "under autocast, the casting kernel of mm runs before autograd"
    assert add == ["AutogradCPU", "CPU"], "autocast does not list add: its entry at AutocastCPU is a fallthrough"


def test_view(route):
    found = list(route(ATEN.view.default, _x(), [4]))
    assert found == ["AutogradCPU", "ADInplaceOrView", "CPU"], (
        "ADInplaceOrView has a kernel for views and in-place operators: it records the view or counts the version"
    )


def test_composite_ends(route):
    found = list(route(ATEN.matmul.default, _x(), _x()))
    assert found == ["AutogradCPU"], (
        "matmul's composite kernel is at AutogradCPU; it calls other operators, and the route of matmul ends there"
    )
    with torch.inference_mode():
        found = list(route(ATEN.matmul.default, _x(), _x()))
    assert found == ["CPU"], "without autograd keys, the same composite kernel runs at CPU"


def test_python(route):
    assert list(route(ATEN.mm.default, _x().as_subclass(Plain), _x())) == ["AutogradCPU", "CPU"], (
        "a subclass without __torch_dispatch__ has no Python key"
    )
    expected = ["PythonTLSSnapshot", "AutogradCPU", "Python"]
    found = list(route(ATEN.mm.default, Wrapper(_x()), _x()))
    assert found == expected, (
        f"__torch_dispatch__ is called at the key Python, below autograd, and takes over; found {found}"
    )
    with Quiet():
        found = list(route(ATEN.mm.default, _x(), _x()))
    assert found == expected, f"an active mode puts the key Python into this thread's included keys; found {found}"


def test_tensors_in_lists(route):
    found = list(route(ATEN.cat.default, [_x(), Wrapper(_x())]))
    assert "Python" in found, "the dispatcher also looks at the tensors inside a list"


def test_kernel_of(kernel_of):
    found = kernel_of(ATEN.add.Tensor, "CPU")
    assert found is not None and found.sort == "kernel" and "RegisterCPU" in found.file, (
        f"add.Tensor has its own kernel for CPU; found {found}"
    )
    assert isinstance(found.line, int) and f"{found.file}:{found.line}" in torch._C._dispatch_dump(
        "aten::add.Tensor"
    ), f"the dispatcher gives the file and the line of each registration, and the line is an int; found {found}"


def test_kernel_of_table(kernel_of):
    found = kernel_of(ATEN.add.Tensor, "AutogradCPU")
    assert found is not None and "VariableType" in found.file and found.sort == "autograd kernel", (
        "it is registered for Autograd, an alias key: the *computed* table has it at each autograd key"
    )
    found = kernel_of(ATEN.matmul.default, "CPU")
    assert found is not None and found.sort == "math kernel", (
        f"matmul is not registered for any ordinary backend; the table has its composite kernel there. Found {found}"
    )
    found = kernel_of(ATEN.add.Tensor, "ADInplaceOrView")
    assert found is not None and found.sort == "fallthrough", (
        f"where an operator has no entry, the key's fallback counts, and this one is a fallthrough; found {found}"
    )


def test_kernel_of_nothing(kernel_of):
    for key in ("SparseHIP", "CP"):
        assert kernel_of(ATEN.mm.default, key) is None, f"mm has no line for {key} in the table"


def test_trace(trace):
    x, w = torch.ones(2, 3), torch.ones(4, 3)
    found = list(trace(torch.nn.functional.linear, x, w, torch.ones(4)))
    assert found == ["aten::t", "aten::addmm"], (
        f"linear is composite, so only the operators that it calls arrive below autograd; found {found}"
    )
    sums = []
    found = list(trace(lambda: sums.append(torch.add(x, x, alpha=2))))
    assert found == ["aten::add.Tensor"], f"an operator's name includes its namespace and its overload; found {found}"
    assert sums[0].equal(3 * x), "x + 2 x was not 3 x: pass on keyword arguments, and return what the operator returned"


def test_trace_backward(trace):
    w = torch.ones(3, requires_grad=True)
    found = list(trace(lambda: w.exp().sum().backward()))
    assert "aten::exp" in found and "aten::mul.Tensor" in found, (
        f"the backward pass also calls operators, for exp this is mul, and they arrive at the same place; found {found}"
    )
    assert w.grad is not None and torch.allclose(w.grad, w.detach().exp()), "the recorded operators must also run"


def test_backward_of(backward_of):
    found = backward_of(ATEN.exp.default)
    assert set(found) == {"self"}, f"return only the argument's formula, not the one for forward mode; found {found}"
    assert "result" in found["self"], "exp's gradient is computed from its result"
    found = backward_of(ATEN.mul.Tensor)
    assert set(found) == {"self", "other"} and "other" in found["self"], (
        f"mul has a formula for each factor; found {found}"
    )


def test_backward_of_overloads(backward_of):
    whole, rows = backward_of(ATEN.sum.default), backward_of(ATEN.sum.dim_IntList)
    assert "expand" in whole.get("self", "") and "dim" in rows.get("self", ""), (
        "sum and sum.dim_IntList are two entries, and under `dispatch` the ordinary formula is under Default"
    )
    found = backward_of(ATEN.atan2.default)
    assert set(found) == {"self", "other"}, f"a line `self, other: …` gives the formula for both; found {sorted(found)}"


def test_backward_of_in_place(backward_of):
    assert backward_of(ATEN.mul_.Tensor) == backward_of(ATEN.mul.Tensor), (
        "mul_ has no entry, so it shares the entry of mul"
    )
    assert "zeros" in backward_of(ATEN.fill_.Scalar).get("self", ""), "fill_ has an entry under its own name"


def test_backward_of_composite(backward_of):
    for op in (ATEN.softmax.int, ATEN.matmul.default):
        assert backward_of(op) == {}, (
            f"{op.name()} decomposes before autograd; an entry in the file, if any, is for nested tensors only"
        )


SWITCHES = {
    "nothing": contextlib.nullcontext,
    "no_grad": torch.no_grad,
    "inference_mode": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
}


def test_hidden_what_really_happens(route, seed):
    roulette = random.Random(seed)
    for _ in range(8):
        footsteps = []
        with torch.library._scoped_library("p10x1", "FRAGMENT") as registry:
            registry.define("probe(Tensor first, Tensor[] others) -> Tensor")
            probe = torch.ops.p10x1.probe.default

            def install(key, registry=registry, probe=probe, footsteps=footsteps):
                def passer_by(keyset, *given):
                    footsteps.append(key)
                    below = torch._C._dispatch_keyset_full_after(getattr(torch._C.DispatchKey, key))
                    return torch.empty(()) if key == "CPU" else probe.redispatch(keyset & below, *given)

                registry.impl("probe", passer_by, key, with_keyset=True)

            for key in ("AutocastCPU", "AutogradCPU", "ADInplaceOrView"):
                if roulette.random() < 0.7:
                    install(key)
                else:
                    registry.impl("probe", torch.library.fallthrough_kernel, key)
            install("CPU")
            outside = _x(requires_grad=roulette.random() < 0.5)
            outer, inner = roulette.sample(sorted(SWITCHES), 2)
            with SWITCHES[outer](), SWITCHES[inner]():
                operands = outside, [_x(), outside][roulette.randrange(2) :]
                predicted = list(route(probe, *operands))
                footsteps.clear()
                probe(*operands)
        assert predicted == footsteps, (
            f"under {outer} and {inner}, kernels ran at {footsteps}, but your route was {predicted}"
        )


def test_hidden_every_operator(backward_of, kernel_of, reference, seed):
    roulette = random.Random(seed + 1)
    everything = [name for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::")]
    for name in roulette.sample(sorted(everything), 60):
        packet, _, overload = name.removeprefix("aten::").partition(".")
        operator = getattr(getattr(ATEN, packet), overload or "default")
        assert backward_of(operator) == reference.backward_of(operator), f"the formulas of {name} are different"
        for key in roulette.sample(["CPU", "Meta", "AutogradCPU", "SparseCPU", "Conjugate", "AutocastCPU"], 2):
            right, yours = reference.kernel_of(operator, key), kernel_of(operator, key)
            same = yours is None if right is None else yours is not None and tuple(yours) == tuple(right)
            assert same, f"for {name} at {key}, the table says {right and right[1:]}, but you say {yours and yours[1:]}"
