"""What a run read: files of the package, exercises, distributions; and what all of these are now.

Every Python that a chapter starts loads `hook/sitecustomize.py`, which notes in one file what is opened, which modules
are imported or only looked for, and of which distributions the version is asked. Files of the package and the exercises
count by their names there, data sets by theirs; all others count by their paths, modules of no distribution among them,
but for the run's own, those of Python and its distributions, whose versions count, and those of the system. So ranks,
workers of a DataLoader and scripts count too. If a process was started so that it does not load the hook (`python -I`,
or with an environment of its own), what it read is unknown: then all of the package counts, and every distribution that
chapters may import.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

import torchbook
from torchbook import data
from torchbook.data.cache import DATASETS, folders
from torchbook.practice import shelf
from torchbook_proofs import digest

PACKAGE = Path(torchbook.__file__).resolve().parent
HOOK = Path(__file__).resolve().parent / "hook"
ALL = "torchbook"  # name of the part that is the whole package
# Their text is not kept with a run (see `bundles`), so that no output depends on it.
_BUNDLES = "viz/static/"
# What the exercise's `reference` and `check` never look at.
_NOT_READ = ("wrong.md", "wrong", "variants")
# Of the system's libraries and devices counts which machine it is, not what is in each file.
_SYSTEM = ("/bin", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/opt", "/proc", "/run", "/sbin", "/sys", "/usr")
_SITE = sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
# What editors leave beside what they save.
_LEFT = re.compile(r"[.#]|.*~$")
_VERSION = re.compile(r"^Version: *(\S+)", re.MULTILINE)


def variables(log: Path, inherited: Mapping[str, str]) -> dict[str, str]:
    """What a kernel's environment needs for its reads to be noted in a file."""
    path = inherited.get("PYTHONPATH")
    return {
        "PYTHONPATH": os.pathsep.join([str(HOOK), *([path] if path else [])]),
        "TORCHBOOK_READS": str(log),
        "TORCHBOOK_READS_UNDER": os.pathsep.join(str(root) for root in roots()),
        "TORCHBOOK_READS_BESIDE": os.pathsep.join(_beside(log.parent)),
    }


def _beside(own: Path) -> list[str]:
    """Folders that are no part of a key by their files: the run's own, Python's and its packages', the system's."""
    folders = [own, Path(sys.prefix), Path(sys.base_prefix), *map(Path, _SYSTEM)]
    return list(dict.fromkeys(str(path) for folder in folders for path in (folder.absolute(), folder.resolve())))


def roots() -> list[Path]:
    """The folders of the package and the exercises, below which reads count, by each name that they may have."""
    folders = [PACKAGE, Path(torchbook.__file__).parent, *shelf.roots()]
    return list(dict.fromkeys(path for root in folders for path in (root.absolute(), root.resolve())))


def names(log: Path) -> list[str]:
    """The parts of a run's key that its log of reads makes, in order."""
    lines = log.read_text(encoding="utf-8", errors="surrogateescape").splitlines() if log.is_file() else []
    pairs = [(kind, name) for kind, _, name in (line.partition(" ") for line in lines)]
    by_kind = {kind: {name for other_kind, name in pairs if other_kind == kind} for kind, _ in pairs}
    parts = set(_of_files(by_kind.get("file", ())))
    parts |= set(_of_others(by_kind.get("outside", set()) - by_kind.get("made", set())))
    parts |= set(_of_modules(by_kind.get("module", ()), by_kind.get("distribution", ())))
    if "process" not in by_kind or "unseen" in by_kind:
        parts |= {ALL, *(f"package {name}" for name in closure(_chapters_import()))}
    return sorted(parts)


def _of_files(paths: Iterable[str]) -> Iterator[str]:
    """Files of the package by their names in it, and exercises by their ids."""
    folders = {folder.resolve(): name for name, folder in shelf.folders().items()}
    for path in (Path(path).resolve() for path in paths):
        exercise = next((folders[parent] for parent in path.parents if parent in folders), None)
        if exercise:
            # All of an exercise counts, but for what only the grader reads.
            yield f"exercise {exercise}"
        elif path.is_relative_to(PACKAGE):
            name = _source(path.relative_to(PACKAGE)).as_posix()
            if not name.startswith(_BUNDLES):
                yield f"file {name}"


def _of_others(paths: Iterable[str]) -> Iterator[str]:
    """Files that are neither the package's nor the run's own: data sets by their names, all others by their paths."""
    for path in (_source(Path(path)) for path in paths):
        name = _data(path)
        yield f"data {name}" if name else f"outside {path}"


def _data(path: Path) -> str:
    """The data set that a file is of, whose content `torchbook.data` verifies; "" for all other files."""
    for dataset in DATASETS.values():
        places = (folder / dataset.folder for folder in folders())
        if path.name.removesuffix(".gz") in (file.name for file in dataset.files) and any(
            map(path.is_relative_to, places)
        ):
            return dataset.name
    return ""


def _source(path: Path) -> Path:
    """The module's file of a compiled one."""
    if path.parent.name == "__pycache__":
        return path.parents[1] / f"{path.name.partition('.')[0]}.py"
    return path


def _of_modules(modules: Iterable[str], distribution_names: Iterable[str]) -> Iterator[str]:
    """The distributions that modules are of, with all that these require; modules of none by themselves."""
    owners = _owners()
    distributions: set[str] = {canonicalize_name(name) for name in distribution_names}
    for name in modules:
        if name in sys.stdlib_module_names or name in ("torchbook", "__main__"):
            continue
        if name in owners:
            distributions |= owners[name]
        elif name.isidentifier():
            yield f"module {name}"
    for name in closure(distributions):
        yield f"package {name}"


@cache
def _owners() -> dict[str, set[str]]:
    """Distributions by the modules that they bring."""
    packages = importlib.metadata.packages_distributions()
    return {module: {canonicalize_name(name) for name in owners} for module, owners in packages.items()}


def closure(names: Iterable[str]) -> set[str]:
    """Distributions with all that they require here, extras left aside: libraries that are loaded without an import."""
    queue: list[str] = [canonicalize_name(name) for name in names]
    reached: set[str] = set()
    while queue:
        name = queue.pop()
        if name not in reached:
            reached.add(name)
            queue += _required(name)
    return reached


def _chapters_import() -> list[str]:
    """What chapters may import, as the package asks for it."""
    needs = _parsed(importlib.metadata.requires("torchbook") or [])
    return [need.name for need in needs if not need.marker or need.marker.evaluate({"extra": "chapters"})]


@cache
def _required(name: str) -> tuple[str, ...]:
    try:
        texts = importlib.metadata.requires(name) or []
    except importlib.metadata.PackageNotFoundError:
        return ()
    return tuple(
        canonicalize_name(requirement.name)
        for requirement in _parsed(texts)
        if not requirement.marker or requirement.marker.evaluate({"extra": ""})
    )


def _parsed(texts: Iterable[str]) -> Iterator[Requirement]:
    for text in texts:
        try:
            yield Requirement(text)
        except InvalidRequirement:  # of a distribution older than the rules
            continue


def now(name: str) -> str:
    """What a named part is now: a digest, a version, or whether it is there."""
    kind, _, what = name.partition(" ")
    if kind == "package":
        return version(what)
    if kind == "module":
        return "there" if PathFinder.find_spec(what, _SITE) else "missing"
    if kind == "exercise":
        return _exercise(what)
    if kind == "file":
        return digest(PACKAGE / what, root=PACKAGE)
    if kind == "outside":
        return digest(Path(what))
    if kind == "data":
        return data.prepare(what).fingerprint
    return _whole()


@cache
def version(package: str) -> str:
    """The version of a distribution as its metadata have it, or "missing"."""
    try:
        metadata = importlib.metadata.distribution(package).read_text("METADATA") or ""
    except importlib.metadata.PackageNotFoundError:
        return "missing"
    match = _VERSION.search(metadata)
    return match[1] if match else "unknown"


def modified(name: str) -> float:
    """When a file or folder that a part is made of was last written; 0 for versions."""
    kind, _, what = name.partition(" ")
    if kind in ("file", "outside"):
        return _written(PACKAGE / what)  # of a path from the root, itself
    if kind == "exercise":
        folder = shelf.folders().get(what)
        return max((_written(path) for path in folder.rglob("*")), default=0.0) if folder else 0.0
    return 0.0


def _written(path: Path) -> float:
    return path.stat().st_mtime if path.exists() else 0.0


def _exercise(exercise: str) -> str:
    folder = shelf.folders().get(exercise)
    if folder is None:
        return "missing"
    paths = [path for path in sorted(folder.iterdir()) if path.name not in _NOT_READ]
    return digest(*paths, root=folder)


def _whole() -> str:
    """All of the package that Python can read: everything but figures' scripts, and what editors leave."""
    files = [path for path in sorted(PACKAGE.rglob("*")) if path.is_file() and path.suffix != ".js"]
    return digest(*(path for path in files if not _aside(path.relative_to(PACKAGE))), root=PACKAGE)


def _aside(name: Path) -> bool:
    """Whether a file of the package is none of its sources: compiled, or left there by an editor."""
    return any(part == "__pycache__" or _LEFT.match(part) for part in name.parts)
