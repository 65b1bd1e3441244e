"""What the book cites: `book/sources.yml`, by key, with date and the quoted words."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pydantic
import yaml

FILE = "book/sources.yml"


class SourceError(ValueError):
    """The sources are not as they must be; the message names the file and the remedy."""


class Source(pydantic.BaseModel):
    """One source.

    Attributes:
        title: as it calls itself, with its authors where it has some.
        date: of publication, or on which it was read: 2019, 2019-12 or 2019-12-03.
        url: where it can be read.
        quote: words of it that carry the claim.
        file: of an installed package, e.g. "torch/optim/adam.py", in which the quoted words must stand.
    """

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)

    title: str
    date: str = pydantic.Field(pattern=r"^\d{4}(-\d{2}){0,2}$")
    url: str = ""
    quote: str = ""
    file: str = ""


def path(root: Path) -> Path:
    return root / FILE


def load(root: Path) -> dict[str, Source]:
    """The sources by key; none where the book has no file of them.

    Raises:
        SourceError: the file is malformed.
    """
    file = path(root)
    if not file.is_file():
        return {}
    try:
        entries = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
        return {str(key): Source.model_validate(entry) for key, entry in entries.items()}
    except (yaml.YAMLError, pydantic.ValidationError, AttributeError) as error:
        raise SourceError(f"{FILE}: {' '.join(str(error).split())}") from None


@dataclass(frozen=True)
class Outdated:
    """A quotation that is not, or no longer, in the installed package that it is from."""

    key: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{FILE}:{self.line}: {self.key}: {self.reason}"


def outdated(root: Path, packages: Path | None = None) -> Iterator[Outdated]:
    """The quotations that must be mended.

    Args:
        root: the book's folder.
        packages: where the packages are installed; else those of this Python.
    """
    folder = packages or Path(sysconfig.get_path("purelib"))
    for key, source in load(root).items():
        file = folder / source.file
        if source.file and not (file.is_file() and _squeezed(source.quote) in _squeezed(file.read_text("utf-8"))):
            yield Outdated(key, _line(root, key), f"{source.file} does not say {source.quote!r}: mend the sentence")


def _line(root: Path, key: str) -> int:
    lines = path(root).read_text(encoding="utf-8").splitlines()
    return next((number for number, line in enumerate(lines, 1) if line.startswith(f"{key}:")), 1)


def _squeezed(text: str) -> str:
    """Without white space and the marks of comments, so that a quotation may cross lines."""
    return "".join(text.replace("#", "").split())
