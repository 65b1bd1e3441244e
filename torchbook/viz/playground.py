"""AutogradPlayground: type an expression, drag a value, and see every gradient move."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Mapping
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

import traitlets

from torchbook.viz.base import Visualizer, contract, preset_of

if TYPE_CHECKING:
    import torch

setup = partial(contract, "playground")

FUNCTIONS = {
    **dict.fromkeys(("exp", "log", "sqrt", "sin", "cos", "tanh", "sigmoid", "relu"), 1),
    **dict.fromkeys(("pow", "max"), 2),
}
_SIGNS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.Pow: "pow",
}
_NAMES = {"max": "maximum"}  # in torch


class AutogradPlayground(Visualizer):
    """The autograd graph of a scalar expression with values and gradients, recomputed as you type and drag.

    In the browser the gradients come from the module's own scalar autograd, which is tested against torch in double
    precision; in Python, `gradients` comes from torch itself.

    Args:
        expression: variables, numbers, `+ - * / ^`, parentheses, exp, log, sqrt, sin, cos, tanh, sigmoid,
            relu, pow, max.
        values: a number for each variable; a variable without one starts at 1.

    Attributes:
        gradients: d expression / d variable, for the variables in the expression; what JSON cannot say is text ("inf",
            "-inf", "nan"), which `float` reads.
        value: the expression's value, told in the same way.

    Raises:
        ValueError: the expression cannot be read, or has no variable; the message says what and where.

    Example:
        >>> w = AutogradPlayground("a*b + relu(c)", values={"a": 2, "b": -3, "c": 1.5})
        >>> w.observe(print, names="gradients")
    """

    _speaks = False  # what is seen is said by the page alone
    expression = traitlets.Unicode(help="The expression.").tag(sync=True)
    values = traitlets.Dict(help="The value of each variable.").tag(sync=True)
    gradients = traitlets.Dict(help="The gradient of each variable, by torch.").tag(sync=True)
    value = traitlets.Any(0.0, help="The value of the expression, by torch.").tag(sync=True)
    selected = traitlets.Int(-1, help="The node whose formula is shown; -1 for none.").tag(sync=True)

    def __init__(
        self,
        expression: str | None = None,
        values: Mapping[str, float] | None = None,
        *,
        preset: str = "start",
        **traits: Any,
    ) -> None:
        ready = preset_of(setup(), preset)
        start = {name: float(value) for name, value in (ready["values"] if values is None else values).items()}
        super().__init__(expression=ready["expression"] if expression is None else expression, values=start, **traits)
        self._compute()

    @traitlets.validate("expression")
    def _readable(self, proposal: Any) -> str:
        read(proposal["value"])
        return proposal["value"]

    @traitlets.observe("expression", "values")
    def _compute(self, change: Any = None) -> None:
        names = variables(read(self.expression))
        missing = {name: 1.0 for name in names if name not in self.values}
        if missing:
            self.values = {**self.values, **missing}
        value, gradients = by_torch(self.expression, self.values)
        self.value, self.gradients = _plain(value), {name: _plain(gradient) for name, gradient in gradients.items()}

    def _describe(self) -> str:
        at = ", ".join(f"{name} = {self.values[name]:g}" for name in self.gradients)
        slopes = ", ".join(f"d/d{name} = {float(gradient):.4g}" for name, gradient in self.gradients.items())
        return f"{self.expression} at {at} is {float(self.value):.4g}; its gradients are {slopes}."

    def _draw(self) -> str:
        rows = [("", "value", "gradient"), (self.expression, f"{float(self.value):.4g}", "1")]
        rows += [(name, f"{self.values[name]:g}", f"{float(g):.4g}") for name, g in self.gradients.items()]
        wide = max(240, 9 * len(self.expression) + 24)
        text = "".join(
            f'<text x="{x}" y="{26 * row + 22}"{anchor}>{escape(cell)}</text>'
            for row, cells in enumerate(rows)
            for cell, x, anchor in zip(
                cells, (8, wide + 70, wide + 170), ("", *[' text-anchor="end"'] * 2), strict=True
            )
        )
        high = 26 * len(rows) + 10
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide + 180} {high}" width="{wide + 180}" '
            f'style="max-width:100%;height:auto" role="img" aria-label="Table of values and gradients" '
            f'font-family="monospace" font-size="14" fill="currentColor">'
            f'<path d="M0 30H{wide + 180}M0 56H{wide + 180}" stroke="currentColor" stroke-opacity=".4"/>{text}</svg>'
        )


def read(expression: str) -> ast.expr:
    """The tree of an expression, through Python's own parser, with only what the playground knows.

    Raises:
        ValueError: it cannot be read, or has no variable.
    """
    text = expression.strip().replace("^", "**")
    if not re.fullmatch(r"[\w\s.+\-*/(),]*", text, re.ASCII):
        raise ValueError(f"{expression!r}: only names, numbers, + - * / ^ ( ) and commas")
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"{expression!r} cannot be read: {error.msg} at character {error.offset}") from None
    for node in ast.walk(tree):
        _known(node, expression)
    if not variables(tree):
        raise ValueError(f"{expression!r} has no variable, so autograd records nothing")
    return tree


def _known(node: ast.AST, expression: str) -> None:
    fits = isinstance(node, (ast.expr_context, *_SIGNS, ast.USub, ast.UAdd))
    if isinstance(node, ast.Call):
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        fits = FUNCTIONS.get(name) == len(node.args) and not node.keywords
    elif isinstance(node, ast.Constant):
        fits = type(node.value) in (int, float)
    elif isinstance(node, ast.BinOp):
        fits = type(node.op) in _SIGNS
    elif isinstance(node, ast.UnaryOp):
        fits = isinstance(node.op, (ast.USub, ast.UAdd))
    elif isinstance(node, ast.Name):
        fits = not keyword.iskeyword(node.id)
    if not fits:
        what = ast.unparse(node) if isinstance(node, ast.expr) else type(node).__name__
        raise ValueError(f"{expression!r}: {what!r} is not known here; functions are {', '.join(FUNCTIONS)}")


def variables(tree: ast.expr) -> list[str]:
    """The variables in the order in which they are first met."""
    names: dict[str, None] = {}

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.Name):
            names[node.id] = None
        for child in node.args if isinstance(node, ast.Call) else ast.iter_child_nodes(node):
            visit(child)

    visit(tree)
    return [*names]


def by_torch(expression: str, values: Mapping[str, float]) -> tuple[float, dict[str, float]]:
    """Value and gradients by torch in double precision; numbers without a variable are folded first, as Python does."""
    import torch

    tree = read(expression)
    leaves = {
        name: torch.tensor(float(values[name]), dtype=torch.float64, requires_grad=True) for name in variables(tree)
    }
    out = _evaluate(tree, leaves)
    out.backward()
    return out.item(), {name: leaf.grad.item() for name, leaf in leaves.items() if leaf.grad is not None}


def _evaluate(tree: ast.expr, leaves: Mapping[str, torch.Tensor]) -> Any:
    import torch

    if isinstance(tree, ast.Constant):
        return float(tree.value)  # type: ignore[arg-type]
    if isinstance(tree, ast.Name):
        return leaves[tree.id]
    if isinstance(tree, ast.UnaryOp):
        inner = _evaluate(tree.operand, leaves)
        return -inner if isinstance(tree.op, ast.USub) else inner
    if isinstance(tree, ast.BinOp):
        name, parts = _SIGNS[type(tree.op)], [tree.left, tree.right]
    else:
        assert isinstance(tree, ast.Call)
        assert isinstance(tree.func, ast.Name)
        name, parts = tree.func.id, tree.args
    args = [_evaluate(part, leaves) for part in parts]
    if all(isinstance(arg, float) for arg in args):
        function = getattr(torch, _NAMES.get(name, name))
        return function(*(torch.tensor(arg, dtype=torch.float64) for arg in args)).item()
    if len(args) == 1:
        return getattr(torch, name)(args[0])
    left, right = args
    if name == "max":
        return torch.maximum(*(torch.as_tensor(arg, dtype=torch.float64) for arg in args))
    if name == "add":
        return left + right
    if name == "sub":
        return left - right
    if name == "mul":
        return left * right
    if name == "div":
        return left / right
    return left**right


def _plain(number: float) -> float | str:
    return number if abs(number) < float("inf") else str(number)
