"""The text of what a learner defined, complete enough to run in a file of its own, in processes of its own."""

from __future__ import annotations

import ast
import inspect
import linecache
import symtable
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any


class SourceError(Exception):
    """The text of a definition cannot be had; the message says of which one, and what to do."""


def source_of(names: Sequence[str], namespace: Mapping[str, Any], prelude: str = "") -> str:
    """Source of the named functions and classes, after all that they need of the namespace.

    What they need are the functions and classes that they use and that were defined beside them, names that were
    imported, and constants that have a literal (numbers, strings, tuples of these). It works in a notebook, whose
    cells `linecache` knows, and for a file.

    Args:
        names: of functions, classes or constants in the namespace.
        namespace: of the notebook or module.
        prelude: source to begin with, imports mostly; what it binds is not looked for.

    Raises:
        SourceError: a source cannot be had, of a lambda that was passed around or a tensor for instance.
    """
    collector = _Gathered(namespace, prelude)
    for name in names:
        collector.add(name, "the check")
    return collector.text()


class _Gathered:
    def __init__(self, namespace: Mapping[str, Any], prelude: str) -> None:
        self.namespace = namespace
        self.imports = [prelude.rstrip()] if prelude.strip() else []
        self.definitions: list[str] = []
        self.done = _bound(prelude)

    def text(self) -> str:
        parts = ["\n".join(self.imports)] if self.imports else []
        return "\n\n\n".join([*parts, *self.definitions]) + "\n"

    def add(self, name: str, user: str) -> None:
        if name in self.done:
            return
        self.done.add(name)
        value = self.namespace[name]
        if isinstance(value, types.ModuleType):
            self.imports.append(f"import {value.__name__} as {name}")
        elif _is_defined_here(value, self.namespace):
            self._define(name, value)
        elif _is_importable(value):
            self.imports.append(f"from {value.__module__} import {value.__name__} as {name}")
        elif _is_literal(value):
            self.definitions.append(f"{name} = {value!r}")
        else:
            raise SourceError(
                f"{user} uses `{name}`, whose source cannot be had (its type is {type(value).__name__}); "
                "make it inside of the function, or pass it as an argument"
            )

    def _define(self, name: str, value: Any) -> None:
        text = _statement(value, name, self.namespace)
        if text is None:
            raise SourceError(
                f"the source of `{name}` cannot be had; define it with `def` or `class` in a cell or file, and run it"
            )
        for dependency in _globals_of(text):
            if dependency in self.namespace:
                self.add(dependency, f"`{name}`")
        self.definitions.append(text)
        if name not in _bound(text):
            self.definitions.append(f"{name} = {value.__name__}")


def _bound(source: str) -> set[str]:
    table = symtable.symtable(source, "<prelude>", "exec")
    return {symbol.get_name() for symbol in table.get_symbols() if symbol.is_imported() or symbol.is_assigned()}


def _is_defined_here(value: Any, namespace: Mapping[str, Any]) -> bool:
    unwrapped = inspect.unwrap(value) if callable(value) else value
    if isinstance(unwrapped, types.FunctionType):
        return unwrapped.__globals__ is namespace or unwrapped.__module__ == namespace.get("__name__")
    return isinstance(value, type) and value.__module__ == namespace.get("__name__", "builtins")


def _is_importable(value: Any) -> bool:
    return isinstance(getattr(value, "__module__", None), str) and isinstance(getattr(value, "__name__", None), str)


def _is_literal(value: Any) -> bool:
    try:
        return bool(ast.literal_eval(repr(value)) == value)
    except Exception:  # whatever a foreign repr or comparison raises
        return False


def _statement(value: Any, name: str, namespace: Mapping[str, Any]) -> str | None:
    """The statement, with its decorators, that defined a function or class."""
    for function in _functions_of(value):
        lines = linecache.getlines(function.__code__.co_filename)
        try:
            tree = ast.parse("".join(lines))
        except SyntaxError:
            continue
        for node in tree.body:
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
            if first <= function.__code__.co_firstlineno <= (node.end_lineno or first) and _binds(node, value, name):
                return "".join(lines[first - 1 : node.end_lineno]).rstrip()
    return _definition_in(namespace.get("In"), name)


def _definition_in(cells: Any, name: str) -> str | None:
    """The last definition in the cells that a notebook keeps as `In`: of a class without methods, for instance."""
    for cell in reversed(cells if isinstance(cells, list) else []):
        try:
            body = ast.parse(cell).body
        except (SyntaxError, TypeError, ValueError):
            continue
        for node in reversed(body):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
                first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                return "\n".join(cell.splitlines()[first - 1 : node.end_lineno])
    return None


def _binds(node: ast.stmt, value: Any, name: str) -> bool:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return node.name in (name, value.__name__)
    return isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets)


def _functions_of(value: Any) -> list[types.FunctionType]:
    """The function itself, or a class's own methods: a notebook keeps the source of these, of a class it does not."""
    members = vars(value).values() if isinstance(value, type) else [value]
    callables = [inspect.unwrap(member) for member in map(_undecorated, members) if callable(member)]
    return [member for member in callables if isinstance(member, types.FunctionType)]


def _undecorated(member: Any) -> Any:
    if isinstance(member, classmethod | staticmethod):
        return member.__func__
    return member.fget if isinstance(member, property) else member


def _globals_of(source: str) -> list[str]:
    """Names that a source reads and does not itself bind."""
    table = symtable.symtable(source, "<definition>", "exec")
    assigned = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned()}
    referenced = [symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced()]
    referenced += [name for child in table.get_children() for name in _read_inside(child)]
    return [name for name in dict.fromkeys(referenced) if name not in assigned]


def _read_inside(table: symtable.SymbolTable) -> Iterator[str]:
    yield from (symbol.get_name() for symbol in table.get_symbols() if symbol.is_global() and symbol.is_referenced())
    for child in table.get_children():
        yield from _read_inside(child)
