"""Front matter: the YAML between two lines `---` at the head of a page; complaints about it name file and line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import pydantic
import yaml

# libyaml's reader is many times faster; not every build of PyYAML has it.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FENCE = "---"
Model = TypeVar("Model", bound=pydantic.BaseModel)
Where = tuple[int | str, ...]


class FrontMatterError(Exception):
    """A front matter is not as it must be; the message names file, line and remedy."""


@dataclass(frozen=True)
class FrontMatter:
    """The front matter of one page and what stands below it; `shown` is the page's path as errors name it."""

    shown: str
    head: str
    body: str

    @property
    def body_line(self) -> int:
        """The line, from 1, at which the body begins."""
        return self.head.count("\n") + 3

    @cached_property
    def fields(self) -> dict[str, Any]:
        """What it says.

        Raises:
            FrontMatterError: it is not YAML, or no mapping.
        """
        try:
            fields = yaml.load(self.head, Loader=_LOADER)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            problem = getattr(error, "problem", None) or error
            begun = getattr(error, "context_mark", None)
            if begun and mark and mark.line >= self.head.count("\n"):  # what was not closed is found at the end only
                mark, problem = begun, f"{problem} {getattr(error, 'context', '')}, which begins here"
            raise FrontMatterError(
                f"{self.shown}:{mark.line + 2 if mark else 1}: the front matter is not YAML: {problem}"
            ) from None
        if fields is not None and not isinstance(fields, dict):
            raise FrontMatterError(f"{self.shown}:2: the front matter must be a mapping of keys to values")
        return fields or {}

    def validated(self, model: type[Model], *under: str) -> Model:
        """The fields, or those below a key, as a model.

        Raises:
            FrontMatterError: they do not fit; each misfit has a line of its own in the message.
        """
        fields: Any = self.fields
        for key in under:
            fields = fields[key]
        try:
            return model.model_validate(fields)
        except pydantic.ValidationError as error:
            lines = [self.complaint((*under, *misfit["loc"]), misfit["msg"]) for misfit in error.errors()]
            raise FrontMatterError("\n".join(lines)) from None

    def complaint(self, where: Where, what: str) -> str:
        """What is wrong with a field, with its file and line."""
        return f"{self.shown}:{self.line_of(where)}: {'.'.join(map(str, where))}: {what}"

    def line_of(self, where: Where) -> int:
        """The line, from 1, of a field, or of what it should be in."""
        return max(_lines_on_the_way(yaml.compose(self.head), where), default=0) + 2


def read(text: str, shown: str) -> FrontMatter | None:
    """The front matter of a page's text; None where there is none.

    Raises:
        FrontMatterError: it is not closed.
    """
    if not text.startswith(f"{_FENCE}\n"):
        return None
    head, closed, body = f"{text}\n".partition("\n")[2].partition(f"\n{_FENCE}\n")
    if not closed:
        raise FrontMatterError(f"{shown}:1: the front matter is not closed; end it with a line '{_FENCE}'")
    return FrontMatter(shown, f"{head}\n", body.removesuffix("\n"))


def _lines_on_the_way(node: yaml.Node | None, where: Where) -> Iterator[int]:
    """Lines, from 0, of a node and of each node on the way to a field, as far as there are any."""
    if node is None:
        return
    yield node.start_mark.line
    if not where:
        return
    key, *rest = where
    if isinstance(node, yaml.SequenceNode) and isinstance(key, int):
        yield from _lines_on_the_way(node.value[key], tuple(rest))
    for name, value in node.value if isinstance(node, yaml.MappingNode) else ():
        if name.value == key:
            yield name.start_mark.line
            if rest:
                yield from _lines_on_the_way(value, tuple(rest))
