"""What `torchbook drift` leaves out: `_drift.yml`, each entry with its reason and the day on which it ends."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pydantic
import yaml
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import canonicalize_name

from torchbook_press.ship.environment import ShipError

FILE = "_drift.yml"


def _specifier(text: str) -> str:
    try:
        SpecifierSet(text)
    except InvalidSpecifier as error:
        raise ValueError(f"{error}; write for instance '>=2.16.dev0'") from None
    return text


class _Entry(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)

    chapter: str
    versions: dict[str, Annotated[str, pydantic.AfterValidator(_specifier)]] = pydantic.Field(min_length=1)
    reason: str = pydantic.Field(min_length=10)
    expires: datetime.date


@dataclass(frozen=True)
class Skip:
    """A chapter that is not run where all these versions are installed, until a day."""

    chapter: str
    versions: Mapping[str, str]
    reason: str
    expires: datetime.date
    line: int

    def expired(self, today: datetime.date) -> bool:
        return today > self.expires

    def fits(self, installed: Mapping[str, str]) -> bool:
        """Whether every version named is among the installed ones; "python" is Python's."""
        return all(
            canonicalize_name(name) in installed
            and SpecifierSet(text).contains(installed[canonicalize_name(name)], prereleases=True)
            for name, text in self.versions.items()
        )

    def __str__(self) -> str:
        return f"{self.reason} (until {self.expires})"

    @property
    def complaint(self) -> str:
        """What is said once it has expired."""
        return (
            f"{FILE}:{self.line}: the skip of {self.chapter} expired on {self.expires} ({self.reason}): "
            "mend the chapter, or say why it needs longer"
        )


def load(root: Path, chapter_ids: Iterable[str]) -> list[Skip]:
    """The entries of the book's `_drift.yml`; none where there is no such file.

    Args:
        root: the book's folder.
        chapter_ids: those of all chapters.

    Raises:
        ShipError: the file is malformed, or names a chapter that is not there.
    """
    path = root / FILE
    if not path.is_file():
        return []
    text = path.read_text(encoding="utf-8")
    try:
        tree, entries = yaml.compose(text), yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise ShipError(f"{FILE}:{mark.line + 1 if mark else 1}: not YAML: {error}") from None
    if not isinstance(tree, yaml.SequenceNode):
        raise ShipError(f"{FILE}:1: write a list of entries with chapter, versions, reason and expires; [] for none")
    ids = set(chapter_ids)
    return [_skip(entry, node.start_mark.line + 1, ids) for entry, node in zip(entries, tree.value, strict=True)]


def _skip(entry: Any, line: int, ids: set[str]) -> Skip:
    try:
        checked = _Entry.model_validate(entry)
    except pydantic.ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}" for detail in error.errors())
        raise ShipError(f"{FILE}:{line}: {problems}") from None
    if checked.chapter not in ids:
        raise ShipError(f"{FILE}:{line}: no chapter {checked.chapter}; there are: {', '.join(sorted(ids))}")
    return Skip(checked.chapter, checked.versions, checked.reason, checked.expires, line)
