"""Pack what a machine lacks to record the chapters, for where nothing can be installed from outside."""

from __future__ import annotations

import importlib.metadata
import json
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from torchbook_press.chapters import Chapter
from torchbook_press.run import commit

# What runs chapters, beside what torchbook itself depends on; nothing of the site.
RUNS = (
    "ipykernel",
    "joblib",
    "jupytext",
    "myst-nb",
    "nbclient",
    "nbformat",
    "packaging",
    "papermill",
    "pip",
    "psutil",
    "pydantic",
    "pyyaml",
    "rich",
    "sphinx-external-toc",
    "typer",
)
# A GPU machine's own builds, which fit its driver.
MACHINE_S_OWN = ("torch", "torchvision", "triton")
_ALWAYS = ("pip",)  # its wheel runs as it is, so that the machine needs no pip
SCRIPT = Path(__file__).with_name("pack.sh")


class PackError(Exception):
    """What is wanted cannot be packed; the message says why and what to do."""


def there(listing: Path) -> dict[str, str]:
    """Packages of a machine, from what `python -m pip list --format=json` says on it.

    Raises:
        PackError: the file is not such a list, or has no torch in it.
    """
    remedy = "make it there: python -m pip list --format=json"
    try:
        entries = json.loads(listing.read_text("utf-8"))
        versions: dict[str, str] = {canonicalize_name(entry["name"]): str(entry["version"]) for entry in entries}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise PackError(f"{listing}:1: no list of a machine's packages ({error}); {remedy}") from None
    if "torch" not in versions:
        raise PackError(f"{listing}:1: no torch in it; install it on that machine first, then list it again")
    return versions


def wanted(chapters: Sequence[Chapter]) -> list[str]:
    """What recording these chapters needs, as requirements."""
    requirements = [text for text in importlib.metadata.requires("torchbook") or [] if "extra ==" not in text]
    return sorted({*requirements, *RUNS, *(name for chapter in chapters for name in chapter.contract.packages)})


def resolve(requirements: Iterable[str], lock: Path, python: str, index: Sequence[str] = ()) -> dict[str, str]:
    """The requirements and all that they need, in the versions of the lock, for a Python on Linux.

    Raises:
        PackError: uv finds no such set; with its own words.
    """
    command = [sys.executable, "-m", "uv", "pip", "compile", "-", "--quiet", "--no-header", "--no-annotate"]
    command += ["--python-version", python, "--python-platform", "linux", "--constraint", str(lock), *index]
    completed = subprocess.run(command, input="\n".join(requirements), capture_output=True, text=True)
    if completed.returncode:
        raise PackError(f"uv cannot resolve what recording needs: {completed.stderr.strip()}")
    pinned = [Requirement(line) for line in completed.stdout.splitlines() if line.strip()]
    return {canonicalize_name(requirement.name): next(iter(requirement.specifier)).version for requirement in pinned}


def missing(resolved: Mapping[str, str], machine: Mapping[str, str]) -> dict[str, str]:
    """Of the resolved packages, those that the machine has not, or too old for what the others ask of them."""
    requirements: dict[str, list[Requirement]] = {}
    for name in resolved:
        for requirement in _requirements_of(name):
            requirements.setdefault(canonicalize_name(requirement.name), []).append(requirement)

    def has(name: str) -> bool:
        fits = all(
            requirement.specifier.contains(machine.get(name, "0"), prereleases=True)
            for requirement in requirements.get(name, [])
        )
        return name in machine and fits and name not in _ALWAYS

    return {name: version for name, version in resolved.items() if name not in MACHINE_S_OWN and not has(name)}


def _requirements_of(name: str) -> list[Requirement]:
    """What a package asks for, as far as it is installed here."""
    try:
        requirements = [Requirement(text) for text in importlib.metadata.requires(name) or []]
    except importlib.metadata.PackageNotFoundError:
        return []
    return [
        requirement
        for requirement in requirements
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""})
    ]


def pack(
    folder: Path,
    chapters: Sequence[Chapter],
    machine: Mapping[str, str],
    python: str,
    platforms: Sequence[str] = (),
    index: Sequence[str] = (),
) -> dict[str, str]:
    """Fill the folder with wheels, their list, the book's commit and `run.sh`; returns what it carries.

    Args:
        folder: made anew.
        chapters: those that are to be recorded.
        machine: its packages and their versions.
        python: its version of Python, for instance 3.12.
        platforms: tags of its platform, e.g. manylinux_2_28_x86_64; none: as this machine.
        index: more options for uv and pip, e.g. --no-index and --find-links.
    """
    lock = chapters[0].root / "requirements.txt"
    packages = missing(resolve(wanted(chapters), lock, python, index), machine)
    shutil.rmtree(folder, ignore_errors=True)
    wheels = folder / "wheels"
    wheels.mkdir(parents=True)
    lines = [f"{name}=={version}" for name, version in packages.items()]
    (folder / "install.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "commit").write_text(commit(chapters[0].root) + "\n", encoding="utf-8")
    shutil.copy(SCRIPT, folder / "run.sh")
    download(folder / "install.txt", wheels, python, platforms, index)
    return packages


def download(listing: Path, wheels: Path, python: str, platforms: Sequence[str], index: Sequence[str]) -> None:
    """Put the listed wheels into a folder.

    Raises:
        PackError: pip cannot; with its own words.
    """
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    command += ["--python-version", python, *(option for tag in platforms for option in ("--platform", tag))]
    command += ["--dest", str(wheels), "--requirement", str(listing), *index]
    completed = subprocess.run(command, capture_output=True, text=True)
    if completed.returncode:
        raise PackError(f"pip cannot fetch the wheels: {completed.stderr.strip()}")
