import itertools
import warnings

import torch

from torchbook.kernels import INTERPRETED
from torchbook.kernels.counting import counting

_DEVICE = "cpu" if INTERPRETED else "cuda"
_numbers = itertools.count()


def _name():
    return f"p06x6::rms_norm_{next(_numbers)}"


def _random(*shape, dtype=torch.float32, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(_DEVICE, dtype)


def _layouts(seed=0):
    """Named inputs of width 12, of many layouts."""
    x = _random(6, 12, seed=seed)
    return {
        "contiguous": x,
        "transposed": _random(12, 6, seed=seed).T,
        "made of every other column": _random(6, 24, seed=seed)[:, ::2],
        "expanded": x[:1].expand(5, 12),
        "one row, of one dimension": x[0],
        "of three dimensions": _random(2, 3, 12, seed=seed),
        "of no rows": x[:0],
    }


def _weight(seed=1, **options):
    return 1 + _random(12, seed=seed, **options)


def _exact(x, weight, eps=1e-6):
    x, weight = x.double(), weight.double()
    return x / (x.square().mean(-1, keepdim=True) + eps).sqrt() * weight


def _schema(op):
    assert isinstance(op, torch.library.CustomOpDef), "what `torch.library.custom_op` made is to be returned"
    return op._opoverload._schema


def _shown(schema):
    return str(schema).removeprefix(schema.name)


def test_schema(register):
    name = _name()
    schema = _schema(register(name))
    assert schema.name == name, "the operator has another name than the one that was given"
    found = [(argument.name, str(argument.type)) for argument in schema.arguments]
    wanted = [("x", "Tensor"), ("weight", "Tensor"), ("eps", "float")]
    assert found == wanted, f"parameters and types come from the annotations: {_shown(schema)}"
    assert schema.arguments[2].default_value == 1e-6, f"eps is 1e-6 when it is not given: {_shown(schema)}"
    assert not schema.is_mutable, f"this operator changes nothing: {_shown(schema)}"
    assert _shown(schema).endswith("-> Tensor"), f"the operator returns one tensor: {_shown(schema)}"


def test_values(register):
    op, weight = register(_name()), _weight()
    for name, x in _layouts().items():
        before = x.clone()
        with counting() as counted:
            out = op(x, weight)
        assert torch.allclose(out.double(), _exact(x, weight), atol=1e-5), f"wrong for x {name}"
        assert x.equal(before), f"x {name} was changed, and the schema says that nothing is"
        assert counted.launches == 1 or not x.numel(), "the kernel `rms_kernel` is to be launched, once"
    x, wide = _random(6, 12), _weight().repeat_interleave(2)[::2]
    assert torch.allclose(op(x, wide).double(), _exact(x, wide), atol=1e-5), "wrong for a strided weight"
    assert torch.allclose(op(x, weight, 0.5).double(), _exact(x, weight, 0.5), atol=1e-5), "eps is ignored"


def test_fake_kernel(register):
    op, weight = register(_name()), _weight()
    for name, x in _layouts().items():
        real = op(x, weight)
        try:
            fake = op(x.to("meta"), weight.to("meta"))
        except Exception as error:
            raise AssertionError(f"no result without data: register a fake kernel ({type(error).__name__})") from None
        assert fake.device.type == "meta", "a fake kernel computes nothing: its result is on the device of its operands"
        assert fake.shape == real.shape, f"x {name}: the fake result has shape {tuple(fake.shape)}"
        assert fake.dtype == real.dtype, f"x {name}: the fake result is {fake.dtype}"
        assert fake.stride() == real.stride(), (
            f"x {name}: the fake result has steps {fake.stride()}, the real {real.stride()}: what does empty_like keep?"
        )


def _opchecked(op, *operands):
    """Names of those tests of opcheck that fail."""
    tests = "test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_dynamic"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own, as errors, would be failures
        found = torch.library.opcheck(op, operands, test_utils=tests, raise_exception=False)
    return {name: result for name, result in found.items() if result != "SUCCESS"}


_MEANING = {
    "test_schema": "something is changed or aliased that the schema does not speak of",
    "test_autograd_registration": "the derivative is not registered with the operator",
    "test_faketensor": "the fake kernel and the kernel disagree",
    "test_aot_dispatch_dynamic": "compiled, forward or backward differ, or cannot be traced without data",
}


def test_opcheck(register):
    op = register(_name())
    for gradients in (False, True):
        x, weight = (t.requires_grad_(gradients) for t in (_random(4, 12), _weight()))
        turned = _random(12, 4).T.requires_grad_(gradients)
        double = x.detach().double().requires_grad_(gradients)
        for name, operand in {"contiguous": x, "transposed": turned, "of float64": double}.items():
            factors = weight.detach().to(operand.dtype).requires_grad_(gradients)
            failed = [f"{test} ({_MEANING[test]})" for test in _opchecked(op, operand, factors)]
            assert not failed, f"opcheck, x {name}, requires_grad={gradients}: {', '.join(failed)}"


def _recording(graphs):
    def backend(graph, _):
        graphs.append([str(node.target) for node in graph.graph.nodes if node.op == "call_function"])
        return graph.forward

    return backend


def _compiled(f, backend, **options):
    torch._dynamo.reset()
    return torch.compile(f, backend=backend, fullgraph=True, **options)


def test_one_node(register):
    name, graphs = _name(), []
    op, x, weight = register(name), _random(4, 12), _weight()
    expected = op(x * 2, weight) + 1
    try:
        out = _compiled(lambda x, weight: op(x * 2, weight) + 1, _recording(graphs))(x, weight)
    except Exception as error:
        raise AssertionError(
            f"with fullgraph=True it raises {type(error).__name__}: the tracer knows no shape"
        ) from None
    nodes = [target for target in graphs[0] if "rms_norm" in target]
    assert nodes == [f"{name.replace('::', '.')}.default"], f"one node with the operator, not {graphs[0]}"
    assert torch.allclose(out, expected), "compiled, the result is another one"


def test_any_number_of_rows(register):
    op, weight, graphs = register(_name()), _weight(), []
    compiled = _compiled(lambda x, weight: op(x, weight), _recording(graphs))
    for rows in (3, 4, 5, 6, 7):
        try:
            out = compiled(_random(rows, 12), weight)
        except Exception as error:
            raise AssertionError(f"compiled, it raises {type(error).__name__}: the tracer knows no shape") from None
        assert out.shape == (rows, 12), f"compiled, {rows} rows become {tuple(out.shape)}"
    assert len(graphs) <= 2, f"{len(graphs)} graphs for five numbers of rows: does the fake kernel look at a number?"


def test_derivative(register):
    op = register(_name())
    for x in (_random(3, 12), _random(12, 3).T, _random(2, 2, 12), _random(12), _random(3, 12)[:0]):
        x, weight = (t.detach().double().requires_grad_() for t in (x, _weight()))
        try:
            found = torch.autograd.grad(op(x, weight, 0.1).square().sum(), (x, weight))
        except RuntimeError as error:
            raise AssertionError("autograd finds no derivative of the operator") from error
        expected = torch.autograd.grad(_exact(x, weight, 0.1).square().sum(), (x, weight))
        for name, a, b in zip(("x", "weight"), found, expected, strict=True):
            assert torch.allclose(a, b), f"the derivative by {name} is wrong, for x of shape {tuple(x.shape)}"


def test_compiled_derivative(register):
    op = register(_name())
    x, weight = _random(5, 12).requires_grad_(), _weight().requires_grad_()
    expected = torch.autograd.grad(op(x, weight).sin().sum(), (x, weight))
    try:
        out = _compiled(lambda x, weight: op(x, weight).sin().sum(), "aot_eager")(x, weight)
        found = torch.autograd.grad(out, (x, weight))
    except Exception as error:
        kind = type(error).__name__
        raise AssertionError(
            f"{kind}: the backward is traced too, without data; there, launch through operators"
        ) from None
    right = all(torch.allclose(a, b, atol=1e-5) for a, b in zip(found, expected, strict=True))
    assert right, "compiled, the derivatives are others than in eager mode"


def test_inplace_schema(register_inplace):
    schema = _schema(register_inplace(_name()))
    found = {argument.name: argument.alias_info is not None and argument.is_write for argument in schema.arguments}
    assert found.get("x"), f"the schema does not say that x is changed: {_shown(schema)}"
    assert sum(found.values()) == 1, f"only x is changed: {_shown(schema)}"
    assert not schema.returns, f"an operator must not return its input; this one returns nothing: {_shown(schema)}"


def test_inplace_values(register_inplace):
    op, weight = register_inplace(_name()), _weight()
    for name, x in _layouts().items():
        if name == "expanded":
            continue
        x = torch.empty_strided(x.shape, x.stride(), device=x.device).copy_(x)
        expected, version = _exact(x, weight), x._version
        assert op(x, weight) is None, "nothing is returned"
        assert torch.allclose(x.double(), expected, atol=1e-5), f"x {name} does not hold the result"
        assert x._version > version, "autograd is not told of the change: x has its old version"
    x, wide = _random(6, 12), _weight().repeat_interleave(2)[::2]
    expected = _exact(x, wide)
    op(x, wide)
    assert torch.allclose(x.double(), expected, atol=1e-5), "wrong for a strided weight"
    failed = [f"{test} ({_MEANING[test]})" for test in _opchecked(op, _random(4, 12), weight)]
    assert not failed, f"opcheck, in place: {', '.join(failed)}"


def test_inplace_compiled(register_inplace):
    op, weight = register_inplace(_name()), _weight()

    def f(x, weight):
        y = x + 1
        before = y * 2
        op(y, weight)
        return before, y

    x = _random(4, 12)
    try:
        before, after = _compiled(f, "aot_eager")(x, weight)
    except Exception as error:
        raise AssertionError(f"compiled, it raises {type(error).__name__}: may the tracer look inside?") from None
    assert torch.allclose(before, (x + 1) * 2), "compiled, what was computed from x before the change is another"
    assert torch.allclose(after.double(), _exact(x + 1, weight), atol=1e-5), "compiled, the change of x is lost"


def test_hidden_random(register, register_inplace, seed):
    draw = torch.Generator().manual_seed(seed)
    op, inplace = register(_name()), register_inplace(_name())
    for case in range(6):
        rows, columns = (int(torch.randint(1, 90, (), generator=draw)) for _ in range(2))
        x = _random(columns, rows, seed=seed + case).T if case % 2 else _random(rows, columns, seed=seed + case)
        x, weight = (t.double().requires_grad_() for t in (x, _random(columns, seed=case)))
        eps, exact = 10.0**-case, _exact(x, weight, 10.0**-case)
        out = op(x, weight, eps)
        assert torch.allclose(out, exact), "a result is wrong, for another shape, layout or eps"
        upstream = torch.randn(out.shape, generator=draw, dtype=out.dtype).to(out.device)
        found, wanted = (torch.autograd.grad(y, (x, weight), upstream) for y in (out, exact))
        right = all(torch.allclose(a, b) for a, b in zip(found, wanted, strict=True))
        assert right, "a derivative is wrong, for another shape, layout or eps"
        copy = x.detach().clone()
        inplace(copy, weight.detach(), eps)
        assert torch.allclose(copy, exact), "in place, a result is wrong, for another shape, layout or eps"
        fake = op(x.detach().to("meta"), weight.detach().to("meta"), eps)
        assert (fake.shape, fake.stride()) == (out.shape, out.stride()), "the fake kernel disagrees with the kernel"
