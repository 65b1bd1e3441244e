"""Every formula that the explorer shows is the gradient that torch computes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from ..asking import SOURCES, node

Tensor = torch.Tensor
Gradients = dict[str, Callable[[Tensor], Tensor]]

torch.manual_seed(7)
x, y = torch.rand(3, 3, dtype=torch.float64) + 0.2, torch.rand(3, 3, dtype=torch.float64) + 0.2
z = torch.randn(3, 3, dtype=torch.float64)
v = torch.rand(3, dtype=torch.float64)
b = torch.randn(2, 3, 3, dtype=torch.float64)
i = torch.tensor([0, 2, 0])
logp = z.log_softmax(1)
phi, density = torch.special.ndtr, lambda t: torch.exp(-t * t / 2) / (2 * torch.pi) ** 0.5
eye = torch.eye(3, dtype=torch.float64)


def at(place: Any, grad: Tensor, like: Tensor = x) -> Tensor:
    """Zeros with `grad` in one place."""
    made = torch.zeros_like(like)
    made[place] = grad
    return made


def added(grad: Tensor) -> Tensor:
    return torch.zeros_like(x).index_add(0, i, grad)


ties = torch.tensor([1.0, 2.0, 2.0], dtype=torch.float64)
low = torch.tensor([1.0, 1.0, 2.0], dtype=torch.float64)
# name: (forward, its tensors in the order of the node's inputs, for each of these the formula's gradient)
CASES: dict[str, tuple[Callable[..., Tensor], list[Tensor], Gradients]] = {
    "Add": (lambda p, q: torch.add(p, q, alpha=2), [x, y], {"self": lambda g: g, "other": lambda g: 2 * g}),
    "Sub": (lambda p, q: torch.sub(p, q, alpha=2), [x, y], {"self": lambda g: g, "other": lambda g: -2 * g}),
    "Rsub": (lambda p: 3 - p, [x], {"self": lambda g: -g}),
    "Mul": (torch.mul, [x, y], {"self": lambda g: g * y, "other": lambda g: g * x}),
    "Div": (torch.div, [x, y], {"self": lambda g: g / y, "other": lambda g: -g * x / y**2}),
    "Reciprocal": (torch.reciprocal, [x], {"self": lambda g: -g * (1 / x) ** 2}),
    "Neg": (torch.neg, [x], {"self": lambda g: -g}),
    "Exp": (torch.exp, [x], {"self": lambda g: g * x.exp()}),
    "Log": (torch.log, [x], {"self": lambda g: g / x}),
    "Sqrt": (torch.sqrt, [x], {"self": lambda g: g / (2 * x.sqrt())}),
    "Rsqrt": (torch.rsqrt, [x], {"self": lambda g: -0.5 * g * x.rsqrt() ** 3}),
    "Sin": (torch.sin, [x], {"self": lambda g: g * x.cos()}),
    "Cos": (torch.cos, [x], {"self": lambda g: -g * x.sin()}),
    "Tanh": (torch.tanh, [x], {"self": lambda g: g * (1 - x.tanh() ** 2)}),
    "TanhBackward": (
        torch.ops.aten.tanh_backward,
        [x, y],
        {"grad_output": lambda g: g * (1 - y**2), "output": lambda g: -2 * g * x * y},
    ),
    "Sigmoid": (torch.sigmoid, [z], {"self": lambda g: g * z.sigmoid() * (1 - z.sigmoid())}),
    "Relu": (torch.relu, [z], {"self": lambda g: torch.where(z.relu() > 0, g, 0.0)}),
    "LeakyRelu": (lambda p: F.leaky_relu(p, 0.1), [z], {"self": lambda g: torch.where(z > 0, g, 0.1 * g)}),
    "Threshold": (lambda p: F.threshold(p, 0.5, 7.0), [z], {"self": lambda g: torch.where(z > 0.5, g, 0.0)}),
    "ThresholdBackward": (
        lambda p: torch.ops.aten.threshold_backward(p, z, 0.0),
        [x],
        {"grad_output": lambda g: torch.where(z > 0, g, 0.0)},
    ),
    "Silu": (F.silu, [z], {"self": lambda g: g * z.sigmoid() * (1 + z * (1 - z.sigmoid()))}),
    "Gelu": (F.gelu, [z], {"self": lambda g: g * (phi(z) + z * density(z))}),
    "Abs": (torch.abs, [z], {"self": lambda g: g * z.sign()}),
    "Softplus": (lambda p: F.softplus(p, beta=2), [z], {"self": lambda g: g * (2 * z).sigmoid()}),
    "Pow": (torch.pow, [x, y], {"self": lambda g: g * y * x ** (y - 1), "exponent": lambda g: g * x**y * x.log()}),
    "Sum": (lambda p: p.sum(1), [x], {"self": lambda g: g[:, None].expand(3, 3)}),
    "Mean": (lambda p: p.mean(), [x], {"self": lambda g: (g / 9).expand(3, 3)}),
    "Max": (lambda p: p.max(), [ties], {"self": lambda g: g * torch.tensor([0.0, 0.5, 0.5], dtype=torch.float64)}),
    "Min": (lambda p: p.min(), [low], {"self": lambda g: g * torch.tensor([0.5, 0.5, 0.0], dtype=torch.float64)}),
    "Clamp": (lambda p: p.clamp(-0.5, 0.5), [z], {"self": lambda g: torch.where(z.abs() < 0.5, g, 0.0)}),
    "Where": (
        lambda p, q: torch.where(z > 0, p, q),
        [x, y],
        {"self": lambda g: torch.where(z > 0, g, 0.0), "other": lambda g: torch.where(z > 0, 0.0, g)},
    ),
    "Addmm": (
        lambda p, q, r: torch.addmm(p, q, r, beta=2, alpha=3),
        [v, x, y],
        {"self": lambda g: 2 * g.sum(0), "mat1": lambda g: 3 * g @ y.T, "mat2": lambda g: 3 * x.T @ g},
    ),
    "Mm": (torch.mm, [x, y], {"self": lambda g: g @ y.T, "mat2": lambda g: x.T @ g}),
    "Mv": (torch.mv, [x, v], {"self": lambda g: torch.outer(g, v), "vec": lambda g: x.T @ g}),
    "Dot": (torch.dot, [v, x[0]], {"self": lambda g: g * x[0], "tensor": lambda g: g * v}),
    "Bmm": (torch.bmm, [b, b + 1], {"self": lambda g: g @ (b + 1).mT, "mat2": lambda g: b.mT @ g}),
    "T": (torch.t, [x], {"self": lambda g: g.T}),
    "Transpose": (lambda p: p.transpose(0, 2), [b], {"self": lambda g: g.transpose(0, 2)}),
    "Permute": (lambda p: p.permute(1, 2, 0), [b], {"self": lambda g: g.permute(2, 0, 1)}),
    "View": (lambda p: p.view(9), [x], {"self": lambda g: g.view(3, 3)}),
    "UnsafeView": (lambda p: torch.ops.aten._unsafe_view(p, [9]), [x], {"self": lambda g: g.view(3, 3)}),
    "Squeeze": (lambda p: p.squeeze(), [x[:, None]], {"self": lambda g: g[:, None]}),
    "Unsqueeze": (lambda p: p.unsqueeze(0), [x], {"self": lambda g: g[0]}),
    "Expand": (lambda p: p.expand(4, 3), [v], {"self": lambda g: g.sum(0)}),
    "Select": (lambda p: p.select(0, 1), [x], {"self": lambda g: at(1, g)}),
    "Slice": (lambda p: p[1:], [x], {"self": lambda g: at(slice(1, None), g)}),
    "Index": (lambda p: p[i], [x], {"self": added}),
    "Embedding": (lambda p: F.embedding(i, p), [x], {"weight": added}),
    "Cat": (lambda p, q: torch.cat([p, q]), [x, y], {"first": lambda g: g[:3], "second": lambda g: g[3:]}),
    "Stack": (lambda p, q: torch.stack([p, q]), [x, y], {"first": lambda g: g[0], "second": lambda g: g[1]}),
    "Clone": (torch.clone, [x], {"self": lambda g: g}),
    "ToCopy": (lambda p: p.to(torch.float32), [x], {"self": lambda g: g.double()}),
    "MseLoss": (
        F.mse_loss,
        [x, y],
        {"self": lambda g: g * 2 * (x - y) / 9, "target": lambda g: -g * 2 * (x - y) / 9},
    ),
    "Softmax": (
        lambda p: p.softmax(1),
        [z],
        {"self": lambda g: z.softmax(1) * (g - (g * z.softmax(1)).sum(1, keepdim=True))},
    ),
    "LogSoftmax": (lambda p: p.log_softmax(1), [z], {"self": lambda g: g - logp.exp() * g.sum(1, keepdim=True)}),
    "NllLoss": (
        lambda p: F.nll_loss(p, i, weight=v),
        [logp],
        {"self": lambda g: -g * v[i][:, None] * eye[i] / v[i].sum()},
    ),
}


@pytest.fixture(scope="module")
def rows() -> dict[str, dict[str, str]]:
    """What formulas.js has."""
    script = SOURCES / "autograd" / "formulas.js"
    code = f"import {{ ROWS }} from {json.dumps(script.as_uri())}; console.log(JSON.stringify(ROWS))"
    ran = subprocess.run(
        [node(), "--input-type=module", "-e", code], capture_output=True, text=True, timeout=30, check=True
    )
    return json.loads(ran.stdout)


def test_every_formula_is_tested(rows: dict[str, dict[str, str]]) -> None:
    assert set(rows) == set(CASES)
    for name, (_, tensors, gradients) in CASES.items():
        assert len(tensors) == len(gradients)
        assert [*rows[name]] == [*gradients] or name in ("Cat", "Stack"), name


@pytest.mark.parametrize("name", CASES)
def test_formula_is_the_gradient(name: str) -> None:
    forward, tensors, gradients = CASES[name]
    leaves = [tensor.clone().requires_grad_() for tensor in tensors]
    out = forward(*leaves)
    assert out.grad_fn is not None
    assert out.grad_fn.name().startswith(f"{name}Backward")
    grad = torch.rand_like(out)
    for truth, formula in zip(torch.autograd.grad(out, leaves, grad), gradients.values(), strict=True):
        torch.testing.assert_close(formula(grad), truth, rtol=1e-6, atol=1e-7)
