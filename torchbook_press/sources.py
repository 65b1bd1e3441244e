"""What the book cites: `book/sources.yml`, by key, with date and the quoted words."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Iterator
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


def outdated(root: Path) -> Iterator[str]:
    """The quotations that are no longer in the installed package that they are from, with the remedy."""
    for key, source in load(root).items():
        if source.file and _squeezed(source.quote) not in _squeezed(_text(source.file)):
            name = source.file.partition("/")[0]
            version = importlib.metadata.version(name)
            yield f"{FILE}: {key}: {source.file} of {name} {version} no longer says {source.quote!r}; mend the page"


def _text(file: str) -> str:
    package, _, rest = file.partition("/")
    spec = importlib.util.find_spec(package)
    folders = spec.submodule_search_locations if spec else None
    target = Path(next(iter(folders or [""])), rest)
    return target.read_text(encoding="utf-8") if target.is_file() else ""


def _squeezed(text: str) -> str:
    """Without white space and the marks of comments, so that a quotation may cross lines."""
    return "".join(text.replace("#", "").split())
