"""The stamp of success: what a site was built from, and what was built. With it a build knows what is left to do.

A stamp is removed before a build and written after one that succeeded. It holds digests, of contents and never of
dates: of everything that the site depends on, of the part of that which an incremental build cannot follow, of the
folder in which Sphinx works, and of the published site. Where all match there is nothing to do; where those of the
work do not, something else than a finished build touched it, and the build starts clean.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import torchbook
from torchbook_proofs import digest, installed

_LEARNERS = Path(torchbook.__file__).resolve().parent
_PRESS = Path(__file__).resolve().parent
_CONFIG, _TOC, _WEB = "_config.yml", "_toc.yml", "web"
_FOLDERS = ("executed", "recordings", _WEB)
READ = "read.json"  # in the folder of doctrees: the files that pages were read from


@dataclass(frozen=True)
class Stamp:
    """Digests of a build that succeeded; `read` are files that its pages name, `code` the modules that it imported."""

    inputs: str
    base: str
    work: str
    site: str
    read: tuple[str, ...]
    code: tuple[str, ...]

    @classmethod
    def load(cls, path: Path) -> Stamp | None:
        """The stamp in a file; None where there is none that can be read."""
        try:
            fields = json.loads(path.read_text(encoding="utf-8"))
            return cls(**{**fields, "read": tuple(fields["read"]), "code": tuple(fields["code"])})
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def save(self, path: Path) -> None:
        """Write it whole or not at all."""
        part = path.with_suffix(f".{os.getpid()}.part")
        part.write_text(json.dumps(asdict(self)), encoding="utf-8")
        os.replace(part, path)


def inputs(root: Path, read: Iterable[str] = ()) -> str:
    """Digest of all that a site is made from: the book's folders, exercises, both packages, what is installed.

    Args:
        root: the book's folder.
        read: files beside those, relative to the book's folder or not.
    """
    folders = [root / name for name in (*_sources(root), *_FOLDERS, _CONFIG, _TOC)]
    parts = [digest(*folders, root=root), digest(*_exercises(), _LEARNERS, _PRESS), installed()]
    return _joined([*parts, *(digest(root / name) for name in sorted(read))])


def base(root: Path, code: Iterable[str] | None = None) -> str:
    """Digest of what an incremental build cannot follow, so that it starts clean when this changes.

    Args:
        root: the book's folder.
        code: the modules of what learners have that the last build imported; else those imported now.
    """
    web = sorted(path.relative_to(root).as_posix() for path in (root / _WEB).rglob("*"))
    modules = [_LEARNERS / name for name in (imported() if code is None else code)]
    roots = [str(path) for path in _exercises()]
    return _joined([digest(_PRESS, root / _CONFIG), digest(*modules, root=_LEARNERS), installed(), *web, *roots])


def imported() -> tuple[str, ...]:
    """The files of what learners have that this process imported."""
    package = torchbook.__name__
    modules = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == package]
    files = {getattr(module, "__file__", None) for module in modules}
    paths = (Path(file).resolve() for file in files if file)
    return tuple(sorted(path.relative_to(_LEARNERS).as_posix() for path in paths))


def _sources(root: Path) -> list[str]:
    """The folders of the book's pages, and pages that are in none."""
    from torchbook_press.chapters import pages

    names = (page.shown for page in pages(root))
    return sorted({name.partition("/")[0] for name in names})


def _exercises() -> tuple[Path, ...]:
    from torchbook.practice import shelf

    return shelf.roots()


def _joined(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
