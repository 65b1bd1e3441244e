"""Which files of a package a module needs: by its imports, for the keys of proofs."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from typing import Any

_FROM = r"\bfrom\s+({0}(?:\.\w+)*)\s+import\s+(\([^)]*\)|[^\n;#]*)"


def mentioned(text: str, package: str) -> set[str]:
    """Dotted names in a text that may be modules of a package: `package.a`, and `from package import a`."""
    names = set(re.findall(rf"\b{package}(?:\.\w+)*", text))
    for base, imported in re.findall(_FROM.format(package), text):
        names |= {f"{base}.{name}" for name in re.findall(r"\w+", imported)}
    return names


def closure(package: Path, modules: Collection[str], *, parents: bool = True) -> tuple[Path, ...]:
    """The files of a package that some of its modules need, directly or not; the whole folder where grimp is missing.

    Args:
        package: the folder of the package, which can be imported by the folder's name.
        modules: dotted names; those that are no modules are passed over.
        parents: whether the packages that a module lies in count too, with what they import and their files that are
            no modules, as they do when the module is imported.
    """
    try:
        import grimp  # noqa: F401
    except ImportError:
        return (package,)
    graph = _graph(package.name)
    needed: set[str] = set()
    waiting = set(modules)
    while waiting:
        module = waiting.pop()
        if module in needed or module not in graph.modules:
            continue
        needed.add(module)
        waiting |= graph.find_upstream_modules(module)
        if parents:
            waiting.add(module.rpartition(".")[0])
    return tuple(sorted({file for module in needed for file in _files(package, module)}))


@cache
def _graph(package: str) -> Any:
    import grimp

    return grimp.build_graph(package, cache_dir=None)


def _files(package: Path, module: str) -> Iterator[Path]:
    """The file of a module; of a package within the package also what lies in it and is no module."""
    place = package.joinpath(*module.split(".")[1:])
    if (place / "__init__.py").is_file():
        yield place / "__init__.py"
        if place != package:
            files = (path for path in place.rglob("*") if path.is_file())
            yield from (path for path in files if path.suffix not in (".py", ".pyc"))
    else:
        yield place.with_suffix(".py")
