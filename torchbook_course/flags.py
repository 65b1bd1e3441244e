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
_MADE = "makes a class, or a part of one, that is not written out here"
_ALIAS = "is handed on under a name that a search does not follow"

_MODULES = {
    **dict.fromkeys(("inspect", "gc", "traceback", "linecache", "tracemalloc", "bdb", "pdb"), _FRAMES),
    **dict.fromkeys(("harness", "runner", "torchbook_checks", "torchbook_reference"), _FRAMES),
    **dict.fromkeys(("greenlet", "gevent"), _FRAMES),
    **dict.fromkeys(("ctypes", "cffi", "signal", "subprocess", "faulthandler", "mmap", "resource"), _PROCESS),
    **dict.fromkeys(("_ctypes", "_signal", "_posixsubprocess", "posix", "nt", "_io"), _PROCESS),
    **dict.fromkeys(("atexit", "pty", "threading", "_thread", "concurrent"), _PROCESS),
    **dict.fromkeys(("importlib", "imp", "runpy", "code", "marshal", "pickle", "dill", "zipimport"), _CODE),
    **dict.fromkeys(("cloudpickle", "joblib", "shelve", "pkgutil", "pydoc", "sympy"), _CODE),
    **dict.fromkeys(("socket", "urllib", "http", "requests", "ftplib", "asyncio", "shutil", "tempfile"), _OUTSIDE),
    **dict.fromkeys(("builtins", "unittest"), _PATCH),
    **dict.fromkeys(("pytest", "_pytest", "mock"), _TRUTH),
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
    **dict.fromkeys(("__traceback__", "__loader__", "cr_frame", "ag_frame", "gr_frame", "get_stack"), _FRAMES),
    **dict.fromkeys(("_jit_internal", "createResolutionCallbackFromFrame", "get_field"), _FRAMES),
    **dict.fromkeys(("dictConfig", "get_type_hints", "ForwardRef", "unsafe_load", "UnsafeLoader"), _CODE),
    "__self__": _PATCH,  # of a function of Python's own: the module `builtins`
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
_OWN_SETTERS = ("__setattr__", "__delattr__")
_EQUALITIES = (
    *("__eq__", "__ne__", "__bool__", "__class__", "__instancecheck__", "__subclasscheck__"),
    *("__torch_function__", "__torch_dispatch__"),
)
_MAKERS = ("make_dataclass", "new_class")
_KERNELS = ("impl", "register_kernel", "register_fake", "register_autograd", "Library")  # of torch.library
_ASKERS = ("getattr", "hasattr", "dir", "help", "print", "isinstance", "vars")  # to which a module is handed honestly
_STRINGS = re.compile(
    r"__main__|/proc\b|/dev/(?!null)|torchbook_(checks|reference|wrong)|_getframe|__globals__|__subclasses__"
    r"|\b(?:f_back|f_locals|f_globals|tb_frame|gi_frame)\b|^__(?:eq|ne|bool|torch_function|torch_dispatch)__$"
)
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
        modules |= {name for node in ast.walk(tree) for name in _aliases(node, modules)}
        bound = {name for node in ast.walk(tree) for name in _bound(node)} - modules
        candidates = {flag for node in ast.walk(tree) for flag in _of(node, bound, modules)}
        candidates |= set(_handed_on(tree)) | set(_classes_changed(tree))
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
                yield from _module(alias.name, line)
                if alias.name in _LOOKUPS and alias.asname:
                    yield Flag(line, alias.name, _ALIAS)
        case ast.Name(id=name) if name in _NAMES:
            yield Flag(line, name, _NAMES[name])
        case ast.Attribute(value=value, attr=name):
            owner = ast.unparse(value) if isinstance(value, ast.Name | ast.Attribute) else ""
            yield from _attribute(owner, name, line)
            if name in _MODULES and _is_foreign(value, bound, modules) and (owner, name) != ("torch", "signal"):
                yield Flag(line, f"{owner}.{name}", _MODULES[name])
            if name == "__dict__" and _root(value) not in bound | {"self", "cls"}:
                yield Flag(line, f"{owner or '…'}.__dict__", _PATCH)
            if name == "eval" and _is_foreign(value, bound, modules):  # of pandas, which looks names up in its callers
                yield Flag(line, f"{owner}.eval", _FRAMES)
        case ast.MatchClass(cls=cls, kwd_attrs=attributes):
            for attribute in attributes:
                yield from _attribute("", attribute, cls.lineno)
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
        yield from _call(node, bound, modules)
        called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        place = 1 if called == "getattr" else 0
        if called in _LOOKUPS and len(node.args) > place:
            asked = node.args[place]
            if isinstance(asked, ast.Constant):
                yield from _attribute("", str(asked.value), line)
            else:
                yield Flag(line, f"{called} of a computed name", _FRAMES)
    for target in _targets(node):
        if isinstance(target, ast.Attribute | ast.Subscript) and (
            _is_foreign(target, bound, modules) or _is_of_a_class(target)
        ):
            yield Flag(line, f"{ast.unparse(target)} =", _PATCH)
        elif isinstance(target, ast.Attribute) and target.attr in _EQUALITIES:
            yield Flag(line, f"{target.attr} =", _TRUTH)


def _call(node: ast.Call, bound: set[str], modules: set[str]) -> Iterator[Flag]:
    """What a call does that is written otherwise as a class or as an assignment."""
    line, first = node.lineno, node.args[0] if node.args else None
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    if (name == "type" and len(node.args) == 3) or name in _MAKERS:
        yield Flag(line, f"{name}(…)", _MADE)
    for keyword in node.keywords:
        if keyword.arg == "level" and name in ("eval", "query"):
            yield Flag(line, f"{name}(level=…)", _FRAMES)
        if keyword.arg == "_frames_up":
            yield Flag(line, keyword.arg, _FRAMES)
        option = keyword.arg, getattr(keyword.value, "value", None)
        if option in (("weights_only", False), ("allow_pickle", True)):
            yield Flag(line, f"{option[0]}={option[1]}", _CODE)
    if name in _OWN_SETTERS and isinstance(node.func, ast.Attribute):
        given = [node.func.value, *([first] if first else [])]
        if any(_is_foreign(value, bound, modules) or _is_of_a_class(value) for value in given):
            yield Flag(line, name, _PATCH)
    if name in _KERNELS and first:
        literal = first.value if isinstance(first, ast.Constant) else "aten"
        if name != "Library" and isinstance(node.func, ast.Attribute) and not isinstance(first, ast.Constant):
            literal = ""
        if str(literal).partition("::")[0] == "aten":
            yield Flag(line, f"{name} of aten", _PATCH)


def _handed_on(tree: ast.AST) -> Iterator[Flag]:
    """Modules, and functions that look up names, which are used as values instead of being asked or called."""
    taken = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    taken |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _ASKERS:
            taken |= {id(argument) for argument in node.args}
    modules = {
        alias.asname or alias.name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    for node in ast.walk(tree):
        if id(node) in taken:
            continue
        name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            if name in (*_LOOKUPS, *_SETTERS):
                yield Flag(node.lineno, name, _ALIAS)
            elif isinstance(node, ast.Name) and name in modules:
                yield Flag(node.lineno, f"{name} as a value", _ALIAS)


def _classes_changed(tree: ast.AST) -> Iterator[Flag]:
    """`setattr` of a computed name on a class that is defined here."""
    classes = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id=owner), name, _]) if owner in classes:
                if not isinstance(name, ast.Constant):
                    yield Flag(node.lineno, "setattr of a computed name", _MADE)


def _module(name: str, line: int) -> Iterator[Flag]:
    first = name.split(".")[0]
    if first in _MODULES:
        yield Flag(line, f"import {first}", _MODULES[first])
    elif name.startswith(("torch.testing", "numpy.testing", "torchbook_course", "torchbook.practice")):
        yield Flag(line, f"import {name}", "is part of the checks")


def _attribute(owner: str, name: str, line: int) -> Iterator[Flag]:
    why, place = _ATTRIBUTES.get(name), owner.rpartition(".")[2]
    if name == "modules" and place != "sys":
        why = None  # a network's method
    if place == "os":
        why = _OF_OS.get(name) or next((_PREFIXES[prefix] for prefix in _PREFIXES if name.startswith(prefix)), why)
    if owner == "torch" and name == "load":
        why = _CODE
    if why:
        yield Flag(line, f"{owner}.{name}" if place in ("os", "sys", "torch") else name, why)


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


def _aliases(node: ast.AST, modules: set[str]) -> Iterator[str]:
    """Names that are assigned a part of a module: `F = torch.nn.functional`."""
    if (
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Name | ast.Attribute)
        and _root(node.value) in modules
    ):
        yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def _root(value: ast.expr) -> str:
    """The name that an expression begins with; "" if it begins with none."""
    while isinstance(value, ast.Attribute | ast.Subscript):
        value = value.value
    return value.id if isinstance(value, ast.Name) else ""


def _is_of_a_class(value: ast.expr) -> bool:
    """Whether an expression is a part of a class that goes by an object's name: `type(x).equal`, `x.__class__.equal`.

    Of `self` it may be: a class may count its objects.
    """
    if _root(value) in ("self", "cls"):
        return False
    while isinstance(value, ast.Attribute | ast.Subscript):
        value = value.value
        if isinstance(value, ast.Attribute) and value.attr == "__class__":
            return True
    if not (isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "type"):
        return False
    return not (value.args and _root(value.args[0]) in ("self", "cls"))


def _is_foreign(value: ast.expr, bound: set[str], modules: set[str]) -> bool:
    """Whether an expression is a part of a module that goes by its usual name: `torch.testing`, `np.random`, …"""
    if ast.unparse(value).startswith("torch.backends."):  # settings
        return False
    root = _root(value)
    return (root in _TORCHS or root in modules) and root not in bound
