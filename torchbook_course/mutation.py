"""Mutants of a reference: copies of it with one small thing changed, each as a learner could have got it wrong.

Engines that are kept (cosmic-ray 8.7, mutmut 3.8) change operators, numbers and keywords of a module and run a test
suite in a process of its own for each. What goes wrong in these exercises is more often particular to torch: a copy
that aliases, a gradient that is recorded or is not, a dtype or a device that is lost, a sum for a mean. None has
operators for these, and their own come with a dozen packages; so all of them are here, over `ast`, and a mutant is
run as a wrong answer is (`torchbook_course.mutants`).

An operator is a function of `_OPERATORS`: of a node of the reference's tree it yields edits of the text. Only what the
learner writes is changed, and neither annotations, nor messages of exceptions, nor what stands in an f-string.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from torchbook.practice.exercise import BEGIN, END, INSTEAD, reference_of

_ARITHMETIC = {"Add": "-", "Sub": "+", "Mult": "/", "Div": "*", "FloorDiv": "/", "Mod": "//", "Pow": "*"}
_SIGNS = {
    **{"Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**", "MatMult": "@"},
    **{"BitAnd": "&", "BitOr": "|", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "Eq": "==", "NotEq": "!="},
    **{"Is": "is", "IsNot": r"is\s+not", "In": "in", "NotIn": r"not\s+in"},
}
_COMPARISONS = {
    **{"Lt": ("<=", ">="), "LtE": ("<", ">"), "Gt": (">=", "<="), "GtE": (">", "<"), "Eq": ("!=",), "NotEq": ("==",)},
    **{"Is": ("is not", "=="), "IsNot": ("is", "!="), "In": ("not in",), "NotIn": ("in",)},
}
_ORDERED = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.MatMult, ast.Pow)  # of which a op b is not b op a
_LEFT_ALONE = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.BitAnd, ast.BitOr)
_SYMMETRIC = {
    "max",
    "min",
    "maximum",
    "minimum",
    "equal",
    "allclose",
    "isclose",
    "add",
    "mul",
    "gcd",
    "logaddexp",
    "mse_loss",
    "l1_loss",
}
_OTHERS = {
    **{"mean": "sum", "sum": "mean", "amax": "amin", "amin": "amax", "max": "min", "min": "max", "argmax": "argmin"},
    **{
        "argmin": "argmax",
        "any": "all",
        "all": "any",
        "std": "var",
        "softmax": "log_softmax",
        "log_softmax": "softmax",
    },
    **{"zeros": "ones", "ones": "zeros", "zeros_like": "ones_like", "ones_like": "zeros_like", "floor": "ceil"},
    **{"eval": "train", "train": "eval", "no_grad": "enable_grad", "randn": "rand", "cumsum": "cumprod"},
    **{"triu": "tril", "tril": "triu", "round": "floor", "log": "log1p", "append": "extend"},
}
_COPIES = {"clone", "copy", "deepcopy", "contiguous", "list", "dict", "tuple", "set", "sorted"}
_PLACES = {"to", "float", "double", "half", "int", "long", "bool", "cpu", "cuda", "type_as", "type", "item", "tolist"}
_GRADIENTS = {"detach", "requires_grad_"}
_WRAPPERS = _COPIES | {"float", "int", "abs", "bool", "reversed", "round", "len"}
_IN_PLACE = {
    *("add", "sub", "mul", "div", "clamp", "relu", "exp", "log", "neg", "sqrt", "abs", "square", "sigmoid", "tanh"),
    *("masked_fill", "scatter", "scatter_add", "index_add", "index_fill", "squeeze", "unsqueeze", "transpose", "pow"),
    *("lerp", "addcmul", "addcdiv", "copy", "round", "floor", "cumsum", "triu", "tril", "clamp_min", "clamp_max"),
}
_NEEDS_GRADIENTS = re.compile(r"gradient|autograd|backward|\.grad\b|requires_grad|train|differentiab", re.IGNORECASE)
SMALL = 1e-2  # below which a number is an epsilon or a rate

Edit = tuple[int, int, str]  # bytes from, bytes to, and what comes there


@dataclass(frozen=True)
class Mutant:
    """A reference with one change: the operator that made it, the line where it starts, and the whole program."""

    operator: str
    line: int
    source: str


def mutants(solution: str, statement: str = "gradients") -> list[Mutant]:
    """All mutants of a reference, in the order of the lines, none twice.

    Args:
        solution: the reference with the marks that say what the learner writes.
        statement: gradients are taken away only where it speaks of them, or of what needs them.
    """
    reference = reference_of(solution)
    code = _Code(reference, answer_lines(solution))
    seen, found = {form(reference)}, []
    of_gradients = speaks_of_gradients(statement)
    for node in code.nodes:
        for name, operator in _OPERATORS.items():
            if name == "gradient" and not of_gradients:
                continue
            for edit in operator(node, code):
                source = code.edited(edit)
                shape = form(source)
                if shape and shape not in seen:
                    seen.add(shape)
                    found.append(Mutant(name, code.line_of(edit), source))
    return sorted(found, key=lambda mutant: mutant.line)


def speaks_of_gradients(statement: str) -> bool:
    """Whether a statement speaks of gradients, or of what needs them: mutants depend on its words in nothing else."""
    return bool(_NEEDS_GRADIENTS.search(statement))


def form(source: str) -> str:
    """What is the same for two programs that differ in layout alone; nothing for what is not Python."""
    try:
        tree = ast.parse(source)
        compile(tree, "<mutant>", "exec")
    except (SyntaxError, ValueError):
        return ""
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


def chosen(found: Sequence[Mutant], most: int) -> list[Mutant]:
    """At most so many, of each operator as evenly many as there are, in an order that only their own text decides."""
    by_operator: dict[str, list[Mutant]] = {}
    for mutant in sorted(found, key=lambda mutant: hashlib.sha256(mutant.source.encode()).digest()):
        by_operator.setdefault(mutant.operator, []).append(mutant)
    rounds = max(map(len, by_operator.values()), default=0)
    spread = [group[number] for number in range(rounds) for group in by_operator.values() if number < len(group)]
    taken = {id(mutant) for mutant in spread[:most]}
    return [mutant for mutant in found if id(mutant) in taken]


def answer_lines(solution: str) -> set[int]:
    """The numbers of the lines of the reference that a learner writes."""
    lines: set[int] = set()
    number, inside, below = 1, False, False
    for line in solution.splitlines():
        mark = line.strip()
        below = (below or mark == INSTEAD) and mark != END
        inside = (inside or mark == BEGIN) and mark != END
        if not below and mark not in (BEGIN, END):
            if inside:
                lines.add(number)
            number += 1
    return lines


def block(reference: str, source: str) -> str:
    """The lines in which a mutant differs, as a block of `wrong.md` has them, with what makes them occur once."""
    before, after = reference.splitlines(), source.splitlines()
    start = next((n for n, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), len(before))
    tail = 0
    while tail < min(len(before), len(after)) - start and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    end, new_end = len(before) - tail, len(after) - tail
    first, last = start, end
    if first == last < len(before):
        last += 1  # what only comes is shown by what it stands above
    while first > 0 and (_count(before, before[first:last]) > 1 or not any(before[first:last])):
        first -= 1
    rows = [f" {line}" for line in before[first:start]]
    rows += [f"-{line}" for line in before[start:end]] + [f"+{line}" for line in after[start:new_end]]
    rows += [f" {line}" for line in before[end:last]]
    return "\n".join(row.rstrip() for row in rows)


def _count(lines: list[str], run: list[str]) -> int:
    return sum(lines[start : start + len(run)] == run for start in range(len(lines) - len(run) + 1))


class _Code:
    """A program, its tree, and where in its text (as bytes, in which a tree counts) each node stands."""

    def __init__(self, text: str, lines: Collection[int]) -> None:
        self.raw = text.encode()
        self.tree = ast.parse(text)
        self._lines = lines
        starts = [0]
        for line in self.raw.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        self._starts = starts

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """The nodes that the learner writes and that are not left alone."""
        left_alone: set[int] = set()
        for node in ast.walk(self.tree):
            for part in _left_alone(node):
                left_alone |= {id(inner) for inner in ast.walk(part)}
        return [
            node
            for node in ast.walk(self.tree)
            if getattr(node, "lineno", 0) in self._lines and id(node) not in left_alone
        ]

    @cached_property
    def functions(self) -> list[ast.FunctionDef]:
        """Functions of whose body the learner writes something."""
        functions = [node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef)]
        return [f for f in functions if any(statement.lineno in self._lines for statement in f.body)]

    @cached_property
    def asked(self) -> list[ast.FunctionDef]:
        """Those of them that are asked for by name, and not helpers."""
        outer: list[ast.Module | ast.ClassDef] = [
            self.tree,
            *(node for node in self.tree.body if isinstance(node, ast.ClassDef)),
        ]
        reachable = [statement for node in outer for statement in node.body]
        return [f for f in self.functions if f in reachable and (not f.name.startswith("_") or f.name == "__call__")]

    @cached_property
    def results(self) -> list[ast.Return]:
        """What they return: not what a function in them returns, or one that autograd calls, unrecorded."""
        inner = [node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef) and node not in self.asked]
        inner += [function for function in self.asked if function.decorator_list]
        others = {id(node) for function in inner for node in ast.walk(function)}
        returns = [node for function in self.asked for node in ast.walk(function) if isinstance(node, ast.Return)]
        return [node for node in returns if id(node) not in others]

    @cached_property
    def first_node(self) -> ast.AST | None:
        """The node at which what concerns whole functions is done."""
        return self.nodes[0] if self.nodes else None

    def start(self, node: Any) -> int:
        return self._starts[node.lineno - 1] + int(node.col_offset)

    def end(self, node: Any) -> int:
        return self._starts[node.end_lineno - 1] + int(node.end_col_offset)

    def text(self, node: Any) -> str:
        return self.raw[self.start(node) : self.end(node)].decode()

    def whole(self, node: Any, text: str) -> Edit:
        return self.start(node), self.end(node), text

    def sign(self, left: Any, right: Any, old: str, new: str) -> Iterator[Edit]:
        """The sign between two nodes replaced; brackets and comments may stand there too."""
        start, end = self.end(left), self.start(right)
        match = re.search(old, self.raw[start:end].decode())
        if match:
            yield start + match.start(), start + match.end(), new

    def indent(self, node: Any) -> str:
        return " " * int(node.col_offset)

    def line_of(self, edit: Edit) -> int:
        return self.raw.count(b"\n", 0, edit[0]) + 1

    def edited(self, edit: Edit) -> str:
        start, end, text = edit
        return (self.raw[:start] + text.encode() + self.raw[end:]).decode()


def _left_alone(node: ast.AST) -> Iterator[ast.AST]:
    """Parts of a node in which nothing is changed."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        yield from (argument.annotation for argument in arguments if argument.annotation)
        if node.returns:
            yield node.returns
    if isinstance(node, ast.AnnAssign):
        yield node.annotation
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        yield node.exc
    if isinstance(node, ast.Assert) and node.msg:
        yield node.msg
    if isinstance(node, ast.JoinedStr | ast.Import | ast.ImportFrom):
        yield node
    if isinstance(node, ast.keyword) and node.arg == "strict":  # of zip: no other result, an error more
        yield node


def _unparsed(node: ast.AST, **fields: Any) -> str:
    """A node with some fields changed, as text."""
    values = {name: getattr(node, name) for name in node._fields if hasattr(node, name)} | fields
    return ast.unparse(type(node)(**values))


def _name_of(function: ast.AST) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


# Operators.


def _arithmetic(node: ast.AST, code: _Code) -> Iterator[Edit]:
    """Another sign; one operand alone."""
    if isinstance(node, ast.BinOp):
        kind = type(node.op).__name__
        if kind in _ARITHMETIC:
            yield from code.sign(node.left, node.right, re.escape(_SIGNS[kind]), _ARITHMETIC[kind])
        if isinstance(node.op, _LEFT_ALONE):
            yield code.whole(node, f"({code.text(node.left)})")
        if isinstance(node.op, ast.Add | ast.Mult | ast.BitAnd | ast.BitOr):
            yield code.whole(node, f"({code.text(node.right)})")
    if isinstance(node, ast.AugAssign) and type(node.op).__name__ in _ARITHMETIC:
        kind = type(node.op).__name__
        yield from code.sign(node.target, node.value, re.escape(f"{_SIGNS[kind]}="), f"{_ARITHMETIC[kind]}=")
        yield from code.sign(node.target, node.value, re.escape(f"{_SIGNS[kind]}="), "=")
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield code.whole(node, f"({code.text(node.operand)})")


def _comparison(node: ast.AST, code: _Code) -> Iterator[Edit]:
    """With or without equality, the other way round, identity for equality."""
    if isinstance(node, ast.Compare):
        operands = [node.left, *node.comparators]
        for left, sign, right in zip(operands, node.ops, node.comparators, strict=False):
            is_single = isinstance(right, ast.Constant)  # None, say, to which equality and identity are one
            for new in _COMPARISONS[type(sign).__name__][
                : 1 if is_single and isinstance(sign, ast.Is | ast.IsNot) else 2
            ]:
                yield from code.sign(left, right, rf"{_SIGNS[type(sign).__name__]}", new)


def _condition(node: ast.AST, code: _Code) -> Iterator[Edit]:
    """One part of a condition alone, the other way round, always, never."""
    if isinstance(node, ast.BoolOp):
        new = "or" if isinstance(node.op, ast.And) else "and"
        for place, (left, right) in enumerate(zip(node.values, node.values[1:], strict=False)):
            yield from code.sign(left, right, r"\b(and|or)\b", new)
            rest = [*node.values[:place], *node.values[place + 1 :]]
            yield code.whole(node, "(" + (_unparsed(node, values=rest) if len(rest) > 1 else code.text(rest[0])) + ")")
        yield code.whole(node, "(" + " and ".join(f"({code.text(value)})" for value in node.values[:-1]) + ")")
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield code.whole(node, f"({code.text(node.operand)})")
    if isinstance(node, ast.If | ast.IfExp):
        yield code.whole(node.test, "True")
    if isinstance(node, ast.If | ast.IfExp | ast.While):
        yield code.whole(node.test, "False")
    if isinstance(node, ast.comprehension):
        for test in node.ifs:
            yield code.whole(test, "True")


def _comprehension(node: ast.AST, code: _Code) -> Iterator[Edit]:
    """A comprehension has no place of its own: it is looked at in what holds it."""
    for part in getattr(node, "generators", []):
        yield from _condition(part, code)
        yield from _rest_of(part.iter, code)


def _constant(node: ast.AST, code: _Code) -> Iterator[Edit]:
    """One more, one less, true for false; an epsilon or a rate gone, or ten times as large."""
    if not isinstance(node, ast.Constant):
        return
    value = node.value
    if isinstance(value, bool):
        yield code.whole(node, str(not value))
    elif isinstance(value, int):
        yield code.whole(node, str(value + 1))
        yield code.whole(node, str(value - 1) if value else "(-1)")
    elif isinstance(value, float):
        news = (0.0, value * 10) if abs(value) < SMALL and value else (0.0, 1.0, value * 2)
        yield from (code.whole(node, repr(new)) for new in news)
    elif value in ("mean", "sum"):
        yield code.whole(node, repr("sum" if value == "mean" else "mean"))


def _deleted(node: ast.AST, code: _Code) -> Iterator[Edit]:
    """A statement is not there."""
    kinds = ast.Expr | ast.AugAssign | ast.Raise | ast.Delete | ast.If | ast.For | ast.While | ast.Assert
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    if isinstance(node, kinds) or (isinstance(node, ast.Assign) and not _binds_alone(node, code)):
        is_elif = isinstance(node, ast.If) and code.text(node).startswith("elif")
        if not is_elif:
            yield code.whole(node, "pass")


def _binds_alone(node: ast.Assign, code: _Code) -> bool:
    """Whether nothing else binds what is assigned, so that without it a name would be missing."""
    targets = [name for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)]
    if any(isinstance(part, ast.Attribute | ast.Subscript) for target in node.targets for part in ast.walk(target)):
        return False
    stored = [n.id for n in ast.walk(code.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    arguments = [n.arg for n in ast.walk(code.tree) if isinstance(n, ast.arg)]
    return any(stored.count(name.id) + arguments.count(name.id) <= 1 for name in targets)


def _swapped(node: ast.AST, code: _Code) -> Iterator[Edit]:
    """Two arguments, or two operands, in the other order."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, _ORDERED):
        yield code.whole(node, f"({_unparsed(node, left=node.right, right=node.left)})")
    if isinstance(node, ast.IfExp):
        yield code.whole(node, f"({_unparsed(node, body=node.orelse, orelse=node.body)})")
    if isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load) and len(node.elts) == 2:
        yield code.whole(node, ast.unparse(ast.Tuple(node.elts[::-1], node.ctx)))
    if isinstance(node, ast.Call) and _name_of(node.func) not in _SYMMETRIC:
        for place in range(len(node.args) - 1):
            arguments = list(node.args)
            arguments[place : place + 2] = arguments[place : place + 2][::-1]
            if not any(isinstance(argument, ast.Starred) for argument in node.args):
                yield code.whole(node, _unparsed(node, args=arguments))


def _argument(node: ast.AST, code: _Code) -> Iterator[Edit]:
    """An argument is not given: dtype, device, dim, keepdim, an option, all that a star hands on."""
    if isinstance(node, ast.Call):
        for keyword in (keyword for keyword in node.keywords if keyword.arg != "strict"):
            yield code.whole(node, _unparsed(node, keywords=[k for k in node.keywords if k is not keyword]))
        for place, argument in enumerate(node.args):
            if isinstance(argument, ast.Starred) or place == len(node.args) - 1 != 0:
                yield code.whole(node, _unparsed(node, args=[a for a in node.args if a is not argument]))
        if isinstance(node.func, ast.Attribute) and len(node.args) == 1 and ast.unparse(node.args[0]) != "True":
            yield code.whole(node, _unparsed(node, args=[]))


def _in_place(node: ast.AST, code: _Code) -> Iterator[Edit]:
    """In place for a new tensor, a new one for in place."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        name, end = node.func.attr, code.end(node.func)
        if name.endswith("_") and not name.startswith("_") and name not in _GRADIENTS:
            yield end - 1, end, ""
        elif name in _IN_PLACE and _may_be_held(node.func.value):
            yield end, end, "_"
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Attribute):
        value = ast.BinOp(_loaded(node.target), node.op, node.value)
        yield code.whole(node, f"{code.text(node.target)} = {ast.unparse(value)}")
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp) and len(node.targets) == 1:
        sign = _SIGNS.get(type(node.value.op).__name__, "")
        if sign and ast.unparse(node.value.left) == ast.unparse(node.targets[0]):
            yield code.whole(node, f"{code.text(node.targets[0])} {sign}= {ast.unparse(node.value.right)}")


def _may_be_held(value: ast.expr) -> bool:
    """Whether others may have the same tensor: not if it was just computed, in the middle of a chain."""
    names = ast.Name | ast.Attribute | ast.Subscript
    return isinstance(value, names) and _name_of(value) not in ("torch", "F", "math", "np")


def _loaded(target: ast.expr) -> ast.expr:
    return ast.parse(ast.unparse(target), mode="eval").body


def _without(names: Collection[str] | None, but: Collection[str] = ()) -> Callable[[ast.AST, _Code], Iterator[Edit]]:
    """An operator that leaves a method out of a chain, or a function around its argument."""

    def operator(node: ast.AST, code: _Code) -> Iterator[Edit]:
        if not isinstance(node, ast.Call):
            return
        name = _name_of(node.func)
        if name in but or (names is not None and name not in names):
            return
        is_module = isinstance(node.func, ast.Attribute) and _name_of(node.func.value) in ("torch", "F", "copy", "math")
        if isinstance(node.func, ast.Attribute) and not is_module:
            yield code.end(node.func.value) + _brackets(node.func, code), code.end(node), ""
            return
        alone = len(node.args) == 1 and not isinstance(node.args[0], ast.Starred | ast.GeneratorExp)
        if alone and (is_module or name in _WRAPPERS):
            yield code.whole(node, f"({code.text(node.args[0])})")

    return operator


def _brackets(function: ast.Attribute, code: _Code) -> int:
    """The bytes between a value and the dot after it: closing brackets."""
    between = code.raw[code.end(function.value) : code.end(function)]
    return between.rindex(b".")


def _gradient(node: ast.AST, code: _Code) -> Iterator[Edit]:
    """Recording switched off, or a result detached, where it was not."""
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Call | ast.Name | ast.BinOp):
        is_detached = isinstance(node.value, ast.Call) and _name_of(node.value.func) == "detach"
        if is_detached or node not in code.results:
            return
        yield code.whole(node.value, f"({code.text(node.value)}).detach()")
    if node is code.first_node and re.search(rb"^import torch$", code.raw, re.MULTILINE):
        for function in code.asked:
            returned = ast.unparse(function.returns) if function.returns else "None"
            if not function.decorator_list and re.search(r"[A-Z]", returned):  # a tensor, a model, nothing, anything
                yield code.start(function), code.start(function), f"@torch.no_grad()\n{code.indent(function)}"


def _context(node: ast.AST, code: _Code) -> Iterator[Edit]:
    """A `with` without its effect, a `finally` that an exception passes by, a decorator gone, any exception caught."""
    if isinstance(node, ast.With) and not any(item.optional_vars for item in node.items):
        yield code.start(node), code.end(node.items[-1].context_expr), "if True"
    if isinstance(node, ast.Try) and node.finalbody and not node.handlers:
        start, end = code.end(node.body[-1]), code.start(node.finalbody[0])
        text = code.raw[start:end].decode().replace("finally", "if True", 1)
        body = code.raw[code.start(node) + len("try") : start].decode()
        yield code.start(node), end, f"if True{body}{text}"
    if isinstance(node, ast.ExceptHandler) and node.type and ast.unparse(node.type) != "Exception":
        yield code.whole(node.type, "Exception")
    if node is code.first_node:
        for function in code.functions:
            for decorator in function.decorator_list:
                if ast.unparse(decorator) in ("staticmethod", "property"):
                    continue
                yield code.start(decorator) - 1, code.end(decorator), "# no decorator"


def _reduction(node: ast.AST, code: _Code) -> Iterator[Edit]:
    """A sum for a mean, the smallest for the largest, train for eval."""
    if isinstance(node, ast.Attribute) and node.attr in _OTHERS:
        end = code.end(node)
        yield end - len(node.attr), end, _OTHERS[node.attr]
    if isinstance(node, ast.Name) and node.id in ("max", "min", "any", "all", "sum") and isinstance(node.ctx, ast.Load):
        yield code.whole(node, {"sum": "max"}.get(node.id) or _OTHERS[node.id])


def _loop(node: ast.AST, code: _Code) -> Iterator[Edit]:
    """Only the first time round, not the first, not the last; a return too early; `break` for `continue`."""
    if isinstance(node, ast.For | ast.While) and not isinstance(node.body[-1], ast.Return | ast.Break):
        end = code.end(node.body[-1])
        yield end, end, f"\n{code.indent(node.body[-1])}break"
    if isinstance(node, ast.For):
        yield from _rest_of(node.iter, code)
    if isinstance(node, ast.Break | ast.Continue):
        yield code.whole(node, "continue" if isinstance(node, ast.Break) else "break")
    if node is code.first_node:
        for function in code.functions:
            last = function.body[-1]
            loops = [n for n in function.body if isinstance(n, ast.For | ast.While)]
            if isinstance(last, ast.Return) and last.value and loops and last.lineno in code._lines:
                end, indent = code.end(loops[-1].body[-1]), code.indent(loops[-1].body[-1])
                yield end, end, f"\n{indent}{code.text(last)}"


def _rest_of(iterable: ast.expr, code: _Code) -> Iterator[Edit]:
    yield code.whole(iterable, f"list({code.text(iterable)})[:-1]")
    yield code.whole(iterable, f"list({code.text(iterable)})[1:]")


def _slice(node: ast.AST, code: _Code) -> Iterator[Edit]:
    """A slice without one of its ends or its step."""
    if isinstance(node, ast.Slice):
        for name in ("lower", "upper", "step"):
            if getattr(node, name):
                yield code.whole(node, _unparsed(node, **{name: None}))
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT", "mH", "H"):
        yield code.end(node.value) + _brackets(node, code), code.end(node), ""


_OPERATORS: dict[str, Callable[[ast.AST, _Code], Iterator[Edit]]] = {
    "arithmetic": _arithmetic,
    "comparison": _comparison,
    "condition": _condition,
    "filter": _comprehension,
    "constant": _constant,
    "deleted": _deleted,
    "swapped": _swapped,
    "argument": _argument,
    "in place": _in_place,
    "alias": _without(_COPIES),
    "dtype or device": _without(_PLACES),
    "detach": _without(_GRADIENTS),
    "method": _without(None, but=_COPIES | _PLACES | _GRADIENTS),
    "gradient": _gradient,
    "context": _context,
    "reduction": _reduction,
    "loop": _loop,
    "slice": _slice,
}
OPERATORS = tuple(_OPERATORS)
