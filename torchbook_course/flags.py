"""Constructs in an answer that a person should look at, since an exercise hardly ever needs them.

A flag is no verdict: an honest answer may have one, and who hides a construct well enough gets none. Flags say where
to look first, for what `torchbook_course.runner` cannot rule out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

_FRAMES = "can read or change what calls the answer: the checks and the reference"
_PROCESS = "reaches beyond Python's own objects, or ends or starts processes"
_CODE = "runs or fetches code that is not written here"
_OUTSIDE = "reaches for files, the network or the system"
_PATCH = "changes what the checks are made of"
_TRUTH = "an object that decides itself whether it equals another"

_MODULES = {
    **dict.fromkeys(("inspect", "gc", "traceback", "linecache", "tracemalloc", "bdb", "pdb"), _FRAMES),
    **dict.fromkeys(("harness", "runner", "torchbook_checks", "torchbook_reference"), _FRAMES),
    **dict.fromkeys(("ctypes", "cffi", "signal", "subprocess", "faulthandler", "mmap", "resource"), _PROCESS),
    **dict.fromkeys(("atexit", "pty", "threading", "_thread"), _PROCESS),
    **dict.fromkeys(("importlib", "imp", "runpy", "code", "marshal", "pickle", "dill", "zipimport"), _CODE),
    **dict.fromkeys(("socket", "urllib", "http", "requests", "ftplib", "asyncio", "shutil", "tempfile"), _OUTSIDE),
    **dict.fromkeys(("builtins", "unittest"), _PATCH),
}
_NAMES = {
    **dict.fromkeys(("exec", "eval", "compile", "__import__"), _CODE),
    **dict.fromkeys(("globals", "locals", "vars", "__builtins__", "__loader__", "__spec__"), _FRAMES),
    **dict.fromkeys(("open", "input"), _OUTSIDE),
    "get_ipython": "changes how cells run",
}
_ATTRIBUTES = {
    **dict.fromkeys(("_getframe", "_current_frames", "settrace", "setprofile", "modules", "meta_path"), _FRAMES),
    **dict.fromkeys(("tb_frame", "f_back", "f_globals", "f_locals", "f_builtins", "f_code", "gi_frame"), _FRAMES),
    **dict.fromkeys(("__globals__", "__builtins__", "__subclasses__", "__code__", "__closure__"), _FRAMES),
    **dict.fromkeys(("__traceback__", "__loader__"), _FRAMES),
}
_OF_OS = {
    **dict.fromkeys(("_exit", "abort", "kill", "killpg", "fork", "forkpty", "system", "popen"), _PROCESS),
    **dict.fromkeys(("write", "dup", "dup2", "close", "closerange", "fdopen", "pipe"), _PROCESS),
    **dict.fromkeys(
        ("remove", "unlink", "rmdir", "rename", "replace", "chmod", "listdir", "scandir", "walk"), _OUTSIDE
    ),
}
_PREFIXES = {"exec": _PROCESS, "spawn": _PROCESS, "posix_spawn": _PROCESS}  # of functions of os
_LOOKUPS = ("getattr", "attrgetter", "methodcaller", "__getattribute__")
_TORCHS = ("torch", "np", "numpy", "nn", "F", "sys", "os", "math", "random", "builtins", "optim")
_SETTERS = ("setattr", "delattr")
_EQUALITIES = ("__eq__", "__ne__", "__bool__", "__instancecheck__", "__subclasscheck__", "__torch_function__")
_STRINGS = re.compile(r"__main__|/proc\b|/dev/(?!null)|torchbook_(checks|reference|wrong)|_getframe|__globals__")
_MAIN = re.compile(r"__name__\s*==\s*['\"]__main__['\"]")


class Flag(NamedTuple):
    """A place to look at: line of the code, what is there, why it is of interest."""

    line: int
    construct: str
    why: str


def flags(code: str) -> list[Flag]:
    """What to look at in the code of an answer, in the order of its lines; each construct once a line."""
    try:
        tree = ast.parse(code)
        modules = {name for node in ast.walk(tree) for name in _imported(node)}
        bound = {name for node in ast.walk(tree) for name in _bound(node)} - modules
        candidates = {flag for node in ast.walk(tree) for flag in _of(node, bound, modules)}
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = error.lineno or 1 if isinstance(error, SyntaxError) else 1
        return [Flag(line, "not Python", f"it could not be looked through: {getattr(error, 'msg', error)}")]
    main_lines = {number for number, line in enumerate(code.splitlines(), 1) if _MAIN.search(line)}
    return sorted(flag for flag in candidates if not (flag.construct == "__main__" and flag.line in main_lines))


def _of(node: ast.AST, bound: set[str], modules: set[str]) -> Iterator[Flag]:
    line = getattr(node, "lineno", 1)
    match node:
        case ast.Import(names=names):
            for alias in names:
                yield from _module(alias.name, line)
        case ast.ImportFrom(module=module, names=names):
            yield from _module(module or "", line)
            for alias in names:
                yield from _attribute(module or "", alias.name, line)
                yield from _module(f"{module}.{alias.name}", line)
        case ast.Name(id=name) if name in _NAMES:
            yield Flag(line, name, _NAMES[name])
        case ast.Attribute(value=value, attr=name):
            yield from _attribute(ast.unparse(value) if isinstance(value, ast.Name | ast.Attribute) else "", name, line)
        case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in _SETTERS and _is_foreign(
            first, bound, modules
        ):
            yield Flag(line, f"{name}({ast.unparse(first)}, …)", _PATCH)
        case ast.Constant(value=str(text)):
            for hit in _STRINGS.finditer(text):
                yield Flag(line, hit[0], _FRAMES)
        case ast.FunctionDef(name=name) if name in _EQUALITIES:
            yield Flag(line, name, _TRUTH)
        case ast.ClassDef(body=body):
            for leaf in (leaf for part in body for leaf in _targets(part)):
                if isinstance(leaf, ast.Name) and leaf.id in _EQUALITIES:
                    yield Flag(leaf.lineno, leaf.id, _TRUTH)
    if isinstance(node, ast.Call):
        called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        place = 1 if called == "getattr" else 0
        if called in _LOOKUPS and len(node.args) > place:
            asked = node.args[place]
            if isinstance(asked, ast.Constant):
                yield from _attribute("", str(asked.value), line)
            else:
                yield Flag(line, f"{called} of a computed name", _FRAMES)
    for target in _targets(node):
        if isinstance(target, ast.Attribute | ast.Subscript) and _is_foreign(target, bound, modules):
            yield Flag(line, f"{ast.unparse(target)} =", _PATCH)


def _module(name: str, line: int) -> Iterator[Flag]:
    first = name.split(".")[0]
    if first in _MODULES:
        yield Flag(line, f"import {first}", _MODULES[first])
    elif name.startswith(("torch.testing", "numpy.testing", "torchbook_course", "torchbook.practice")):
        yield Flag(line, f"import {name}", "is part of the checks")


def _attribute(owner: str, name: str, line: int) -> Iterator[Flag]:
    why = _ATTRIBUTES.get(name)
    if name == "modules" and owner != "sys":
        why = None  # a network's method
    if owner == "os":
        why = _OF_OS.get(name) or next((_PREFIXES[prefix] for prefix in _PREFIXES if name.startswith(prefix)), why)
    if owner == "torch" and name == "load":
        why = _CODE
    if why:
        yield Flag(line, f"{owner}.{name}" if owner in ("os", "sys", "torch") else name, why)


def _targets(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.Assign(targets=targets) | ast.Delete(targets=targets):
            return [leaf for target in targets for leaf in getattr(target, "elts", [target])]
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            return [target]
    return []


def _bound(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            yield name


def _imported(node: ast.AST) -> Iterator[str]:
    """Names that an import binds: modules, and what was taken out of them."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name.split(".")[0] for alias in node.names)


def _is_foreign(value: ast.expr, bound: set[str], modules: set[str]) -> bool:
    """Whether an expression is a part of a module that goes by its usual name: `torch.testing`, `np.random`, …"""
    if ast.unparse(value).startswith("torch.backends."):  # settings
        return False
    while isinstance(value, ast.Attribute | ast.Subscript):
        value = value.value
    return isinstance(value, ast.Name) and (value.id in _TORCHS or value.id in modules) and value.id not in bound
