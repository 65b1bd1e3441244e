"""A cell's assertions taken apart: what they compare, rewritten so that each value can be replaced by another.

`assert len(a) == 3 and b < c` holds two comparisons. It becomes

    assert __shake__.check(0, lambda __o__: __o__(0, lambda: len(a)) == 3
                              and __o__(1, lambda: b) < __o__(2, lambda: c))

where `__o__` gives the value as it is, and notes it, or another in its place. So a value is computed once however often
the assertion is tried. Assertions in functions stay as they are: others may compile, pickle or trace these.
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeGuard

SHAKER = "__shake__"
_OPERAND = "__o__"
HOLDS = "holds"
_NEGATIVE = (ast.NotEq, ast.IsNot, ast.NotIn)
# Calls whose truth is a relation between what they are given; with one argument they are methods.
_OF_TWO = {"allclose", "isclose", "equal", "array_equal", "is_set_to", "shares_memory", "may_share_memory"}
_METHODS = {"startswith", "endswith", "issubset", "issuperset", "isdisjoint", "eq", "ne", "gt", "lt", "ge", "le"}
_OF_ONE = {"isnan", "isfinite", "isinf"}
_REDUCTIONS = {"all", "any", "item"}
_TYPES = {"isinstance", "issubclass"}
_SHOWS = {"print", "display", "glue"}
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_CONTROL = (ast.For, ast.While, ast.If, ast.With, ast.Try)


@dataclass
class Unit:
    """One comparison of an assertion.

    Attributes:
        text: as the source has it.
        negative: holds for values that differ (`!=`, `not in`, `not …`).
        operands: numbers of the values that it reads.
        constants: those of them that are literals, with "", or only name something, like `torch.float32`, with the name
            that they begin with.
        truth: of its one operand only the truth counts.
        of_type: of its one operand only the type counts.
        some: it holds for some of several, so that its values are replaced in all of them at once.
    """

    text: str
    negative: bool
    operands: list[int] = field(default_factory=list)
    constants: dict[int, str] = field(default_factory=dict)
    truth: bool = False
    of_type: bool = False
    some: bool = False


@dataclass
class Assertion:
    """An assertion of a cell.

    Attributes:
        line: in the cell, from 1.
        branch: whether it stands in a branch (`if`, `except`) that may not be taken.
        units: its comparisons; empty when it cannot be taken apart.
        reads: names that it reads.
    """

    line: int
    text: str
    branch: bool
    units: list[Unit]
    reads: frozenset[str]


@dataclass(frozen=True)
class Move:
    """A name to change after each of its assignments, to its `kind`th other value."""

    name: str
    kind: int


def assertions(tree: ast.Module) -> list[Assertion]:
    """The assertions of a cell outside of its functions, in order."""
    return _Rewriter().cell(copy.deepcopy(tree))[1]


def instrumented(tree: ast.Module, move: Move | None = None, *, alone: bool = False) -> ast.Module:
    """The cell with its assertions rewritten.

    Args:
        tree: the cell.
        move: a name to change after its assignments.
        alone: leave out what follows the last assertion.
    """
    tree, found = _Rewriter().cell(copy.deepcopy(tree))
    if alone and found:
        last = max(n for n, statement in enumerate(tree.body) if _holds_check(statement))
        tree.body = tree.body[: last + 1]
    if move:
        tree.body = list(_moving(tree.body, move.name))
    return ast.fix_missing_locations(tree)


class _Rewriter:
    def __init__(self) -> None:
        self.found: list[Assertion] = []
        self.operands = itertools.count()

    def cell(self, tree: ast.Module) -> tuple[ast.Module, list[Assertion]]:
        self._block(tree.body, branch=False)
        return tree, self.found

    def _block(self, body: list[ast.stmt], *, branch: bool) -> None:
        for statement in body:
            if isinstance(statement, ast.Assert):
                self._assertion(statement, branch)
            elif isinstance(statement, ast.Expr) and _is_holds(statement.value):
                self._held(statement.value, branch)
            elif not isinstance(statement, _SCOPES):
                inner = branch or isinstance(statement, ast.If)
                for name in ("body", "orelse", "finalbody"):
                    self._block(getattr(statement, name, []), branch=inner)
                for handler in getattr(statement, "handlers", []):
                    self._block(handler.body, branch=True)

    def _assertion(self, statement: ast.Assert, branch: bool) -> None:
        text, reads = ast.unparse(statement.test), frozenset(_names(statement.test))
        binds = any(isinstance(n, ast.NamedExpr | ast.Await | ast.Yield) for n in ast.walk(statement.test))
        assertion = Assertion(statement.lineno, text, branch, [], reads)
        number = len(self.found)
        self.found.append(assertion)
        if binds:
            statement.test = _call("plain", ast.Constant(number), statement.test)
            return
        skeleton = _Skeleton(assertion, self.operands).truth(statement.test)
        statement.test = _call("check", ast.Constant(number), _thunk(skeleton, _OPERAND))

    def _held(self, call: ast.Call, branch: bool) -> None:
        """`holds(name, value, relation, bound)` becomes `__shake__.held(number, holds, name, value, …)`."""
        unit = Unit(ast.unparse(call), False, [next(self.operands)])
        assertion = Assertion(call.lineno, unit.text, branch, [unit], frozenset(_names(call)))
        call.args = [ast.Constant(len(self.found)), call.func, *call.args]
        call.func = _attribute("held")
        self.found.append(assertion)


class _Skeleton:
    """Rewrites one assertion's condition; what it compares goes into the assertion."""

    def __init__(self, assertion: Assertion, numbers: Iterator[int]) -> None:
        self.assertion = assertion
        self.numbers = numbers

    def truth(self, node: ast.expr, negative: bool = False) -> ast.expr:
        """An expression of which only the truth counts."""
        if isinstance(node, ast.BoolOp):
            node.values = [self.truth(value, negative) for value in node.values]
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node.operand = self.truth(node.operand, not negative)
        elif isinstance(node, ast.Compare) and not _is_identity(node):
            return self._comparison(node, negative)
        elif isinstance(node, ast.Call):
            return self._called(node, negative)
        else:
            return self._leaf(node, negative)
        return node

    def _leaf(self, node: ast.expr, negative: bool) -> ast.expr:
        unit = self._unit(node, negative)
        unit.truth = True
        return self._operand(node, unit)

    def _comparison(self, node: ast.Compare, negative: bool) -> ast.expr:
        """A chain is its pairs: the value between two signs is computed once, and replaced in each pair alone."""
        values, pairs = [node.left, *node.comparators], []
        before: int | None = None
        for left, sign, right in zip(values, node.ops, values[1:], strict=False):
            pair = ast.Compare(left, [sign], [right])
            unit = self._unit(pair, negative ^ isinstance(sign, _NEGATIVE))
            first = self._operand(copy.deepcopy(left), unit, again=before)
            second = self._operand(copy.deepcopy(right), unit)
            before = unit.operands[-1]
            pairs.append(ast.copy_location(ast.Compare(first, [sign], [second]), node))
        return pairs[0] if len(pairs) == 1 else ast.BoolOp(ast.And(), list(pairs))

    def _called(self, node: ast.Call, negative: bool) -> ast.expr:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        is_method = isinstance(node.func, ast.Attribute)
        of_all = not is_method and name in ("all", "any") and len(node.args) == 1
        if of_all and isinstance(node.args[0], ast.GeneratorExp | ast.ListComp):
            before = len(self.assertion.units)
            self._comprehension(node.args[0], negative)
            for unit in self.assertion.units[before:]:
                unit.some = unit.some or name == "any"
        elif of_all:
            node.args[0] = self._operand(node.args[0], self._unit(node, negative))
        elif is_method and name in _REDUCTIONS and not node.args:
            node.func.value = self.truth(node.func.value, negative)  # type: ignore[attr-defined]
        elif any(isinstance(argument, ast.Starred) for argument in node.args):
            return self._leaf(node, negative)
        elif name in _OF_TWO and len(node.args) >= 2:
            unit = self._unit(node, negative)
            node.args[:2] = [self._operand(value, unit) for value in node.args[:2]]
        elif is_method and name in _OF_TWO | _METHODS and len(node.args) == 1:
            unit = self._unit(node, negative)
            node.func.value = self._operand(node.func.value, unit)  # type: ignore[attr-defined]
            node.args = [self._operand(node.args[0], unit)]
        elif (name in _OF_ONE and len(node.args) == 1) or (name in _TYPES and len(node.args) == 2):
            unit = self._unit(node, negative)
            unit.of_type = name in _TYPES
            node.args[0] = self._operand(node.args[0], unit)
        elif is_method and name in _OF_ONE and not node.args:
            node.func.value = self._operand(node.func.value, self._unit(node, negative))  # type: ignore[attr-defined]
        else:
            return self._leaf(node, negative)
        return node

    def _comprehension(self, node: ast.GeneratorExp | ast.ListComp, negative: bool) -> None:
        for generator in node.generators:
            number = next(self.numbers)  # of no comparison: it is noted, so that it is walked through again
            generator.iter = _noted(number, generator.iter)
            generator.ifs = [_noted(next(self.numbers), condition) for condition in generator.ifs]
        node.elt = self.truth(node.elt, negative)

    def _unit(self, node: ast.expr, negative: bool) -> Unit:
        unit = Unit(ast.unparse(node), negative)
        self.assertion.units.append(unit)
        return unit

    def _operand(self, node: ast.expr, unit: Unit, again: int | None = None) -> ast.expr:
        number = next(self.numbers)
        unit.operands.append(number)
        root = _constant_of(node)
        if root or not _counts(node):
            unit.constants[number] = root
        return _noted(number, node, again)


def _is_identity(node: ast.Compare) -> bool:
    """Whether it asks if two computed objects are one: of them only the answer can be replaced."""
    identity = len(node.ops) == 1 and isinstance(node.ops[0], ast.Is | ast.IsNot)
    return identity and not isinstance(node.comparators[0], ast.Constant)


def _counts(node: ast.expr) -> bool:
    """Whether a value is computed: it is no literal."""
    return any(isinstance(inner, ast.Name | ast.Call) for inner in ast.walk(node))


def _constant_of(node: ast.expr) -> str:
    """The name that a dotted name begins with, or a call of `math`'s; "" for what is computed."""
    if isinstance(node, ast.Call) and node.args and not any(_counts(argument) for argument in node.args):
        node = node.func
        return "math" if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "math" else ""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _noted(number: int, node: ast.expr, again: int | None = None) -> ast.expr:
    arguments = [ast.Constant(number), _thunk(node), *([] if again is None else [ast.Constant(again)])]
    return ast.copy_location(ast.Call(ast.Name(_OPERAND, ast.Load()), arguments, []), node)


def _thunk(node: ast.expr, *names: str) -> ast.Lambda:
    arguments = ast.arguments(
        posonlyargs=[], args=[ast.arg(n) for n in names], kwonlyargs=[], kw_defaults=[], defaults=[]
    )
    return ast.copy_location(ast.Lambda(arguments, node), node)


def _attribute(name: str) -> ast.Attribute:
    return ast.Attribute(ast.Name(SHAKER, ast.Load()), name, ast.Load())


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(_attribute(name), list(arguments), [])


def _is_holds(node: ast.expr) -> TypeGuard[ast.Call]:
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name == HOLDS and len(node.args) >= 2


def _holds_check(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.Name) and node.id == SHAKER for node in ast.walk(statement))


def _names(node: ast.AST) -> Iterator[str]:
    """Names that are read."""
    return (n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))


def _stored(nodes: Iterable[ast.AST]) -> set[str]:
    """Plain names that are set, by assignments and loops alike, outside of functions and comprehensions."""
    names, queue = set(), list(nodes)
    while queue:
        node = queue.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        if not isinstance(node, (*_SCOPES, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            queue += ast.iter_child_nodes(node)
    return names


def _targets(statement: ast.stmt) -> set[str]:
    """Names that a statement itself sets, not those of its body."""
    if isinstance(statement, ast.Assign):
        return _stored(statement.targets)
    if isinstance(statement, ast.AugAssign | ast.AnnAssign | ast.For):
        return _stored([statement.target])
    if isinstance(statement, ast.With):
        return _stored(item.optional_vars for item in statement.items if item.optional_vars)
    return set()


def _moving(body: list[ast.stmt], name: str) -> Iterator[ast.stmt]:
    """Statements with a change of the name after each of its assignments."""

    def change() -> ast.stmt:
        moved = _call("move", ast.Constant(name), ast.Name(name, ast.Load()))
        return ast.Assign([ast.Name(name, ast.Store())], moved)

    for statement in body:
        sets = name in _targets(statement)
        if isinstance(statement, _CONTROL):
            for part in ("body", "orelse", "finalbody"):
                inner = list(_moving(getattr(statement, part, []), name))
                if part == "body" and sets:
                    inner.insert(0, change())
                if hasattr(statement, part):
                    setattr(statement, part, inner)
        yield statement
        if sets and not isinstance(statement, _CONTROL):
            yield change()


def assigned(tree: ast.Module) -> list[str]:
    """Names that a cell sets outside of its functions, in order."""
    names: dict[str, None] = {}
    for statement in _flat(tree.body):
        names |= dict.fromkeys(sorted(_targets(statement)))
    return list(names)


def _flat(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements and those in them, in order, but for functions' bodies."""
    for statement in body:
        yield statement
        if isinstance(statement, _CONTROL):
            for part in ("body", "orelse", "finalbody"):
                yield from _flat(getattr(statement, part, []))
            for handler in getattr(statement, "handlers", []):
                yield from _flat(handler.body)


def depending(tree: ast.Module, name: str, steady: Container[str] = ()) -> set[int]:
    """Numbers of the cell's assertions that a name's value may reach: by assignments, calls and branches.

    Args:
        tree: the cell.
        name: what is changed.
        steady: names of modules, functions and the like, which a call does not change.
    """
    tainted, reached = {name}, set()
    known = {assertion.line: number for number, assertion in enumerate(assertions(tree))}
    for _ in range(3):  # loops carry values back
        for statement in _flat(tree.body):
            header = _header(statement)
            if not any(tainted.intersection(_names(node)) for node in header):
                continue
            tainted |= {touched for touched in _touched(statement) if touched not in steady}
            for inner in _flat([statement]):
                if inner.lineno in known and isinstance(inner, ast.Assert | ast.Expr):
                    reached.add(known[inner.lineno])
    return reached


def _header(statement: ast.stmt) -> list[ast.AST]:
    """What a statement itself evaluates; a function stands for all that it reads."""
    if isinstance(statement, ast.For):
        return [statement.iter]
    if isinstance(statement, ast.While | ast.If):
        return [statement.test]
    if isinstance(statement, ast.With):
        return list(statement.items)
    return [] if isinstance(statement, ast.Try) else [statement]


def _touched(statement: ast.stmt) -> set[str]:
    """Names whose values change when what a statement reads does."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.Expr):  # a call may change what it is given
        return set() if _shows(statement) else set(_names(statement))
    if isinstance(statement, _CONTROL):
        return _stored([statement])
    sets = _stored([statement])
    places = [t for t in getattr(statement, "targets", []) if isinstance(t, ast.Attribute | ast.Subscript)]
    return sets.union(*(_names(place) for place in places)) if places else sets


def _shows(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.Expr):
        return False
    call = statement.value
    return not isinstance(call, ast.Call) or getattr(call.func, "id", "") in _SHOWS


def why_unread(tree: ast.Module, name: str) -> str:
    """Why no assertion of the cell depends on a name."""
    statements = list(_flat(tree.body))
    readers = [s for s in statements if name in {n for node in _header(s) for n in _names(node)}]
    loops = [s for s in statements if isinstance(s, ast.For | ast.While)]
    outside = [
        s for s in statements if name in _targets(s) and not any(s is i for loop in loops for i in _flat([loop]))
    ]
    if not outside:
        return "left over from a loop"
    if not readers:
        return "read by later cells alone"
    return "shown alone" if all(map(_shows, readers)) else "read by no assertion"
