"""Front matter: what is read, and the file and line that complaints name."""

from __future__ import annotations

import pydantic
import pytest

from torchbook import front_matter
from torchbook.front_matter import FrontMatter, FrontMatterError

TEXT = """---
title: A page
parts:
  - {name: one, size: 1}
  - name: two
    size: 2
inner:
  minutes: 3
---

Body.
"""


class Part(pydantic.BaseModel):
    name: str
    size: int


class Page(pydantic.BaseModel):
    title: str
    parts: tuple[Part, ...]


class Inner(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")
    minutes: int


def read(text: str) -> FrontMatter:
    front = front_matter.read(text, "book/a.md")
    assert front is not None
    return front


def complaint(text: str, model: type[pydantic.BaseModel], *under: str) -> str:
    with pytest.raises(FrontMatterError) as raised:
        read(text).validated(model, *under)
    return str(raised.value)


def test_fields_and_body_are_read() -> None:
    front = read(TEXT)
    assert front.validated(Page).parts[1] == Part(name="two", size=2)
    assert front.validated(Inner, "inner").minutes == 3
    assert front.body.splitlines() == TEXT.splitlines()[front.body_line - 1 :] == ["", "Body."]


def test_a_page_may_have_none() -> None:
    assert front_matter.read("# A page\n\n---\n", "book/a.md") is None


def test_it_may_end_with_the_file() -> None:
    assert (read("---\na: 1\n---").fields, read("---\na: 1\n---").body) == ({"a": 1}, "")


def test_it_may_be_empty() -> None:
    assert read("---\n\n---\nBody.\n").fields == {}


def test_one_that_is_not_closed_is_refused() -> None:
    with pytest.raises(FrontMatterError, match=r"^book/a\.md:1: .* not closed; end it with a line '---'$"):
        read("---\na: 1\n")


def test_one_that_is_not_yaml_names_the_line() -> None:
    with pytest.raises(FrontMatterError, match=r"^book/a\.md:3: the front matter is not YAML: "):
        _ = read("---\na: 1\nb: {c: [}\n---\n").fields


def test_a_quote_that_is_not_closed_names_the_line_where_it_begins() -> None:
    with pytest.raises(FrontMatterError, match=r"^book/a\.md:3: the front matter is not YAML: .*, which begins here$"):
        _ = read('---\na: 1\nb: "c\nd: 2\ne: 3\n---\n').fields


def test_one_that_is_a_list_is_refused() -> None:
    with pytest.raises(FrontMatterError, match=r"^book/a\.md:2: the front matter must be a mapping of keys to values$"):
        _ = read("---\n- 1\n---\n").fields


@pytest.mark.parametrize(
    ("change", "model", "under", "start"),
    [
        (("size: 2", "size: x"), Page, (), "book/a.md:6: parts.1.size: "),
        (("size: 1", "size: x"), Page, (), "book/a.md:4: parts.0.size: "),
        (("title: A page", "name: A page"), Page, (), "book/a.md:2: title: Field required"),
        (("minutes: 3", "minutes: x"), Inner, ("inner",), "book/a.md:8: inner.minutes: "),
        (("minutes: 3", "minutes: 3\n  more: 1"), Inner, ("inner",), "book/a.md:9: inner.more: Extra"),
    ],
    ids=["in a list", "in one line", "missing", "below a key", "unknown"],
)
def test_a_misfit_names_the_line_of_its_field(
    change: tuple[str, str], model: type[pydantic.BaseModel], under: tuple[str, ...], start: str
) -> None:
    assert complaint(TEXT.replace(*change), model, *under).startswith(start)


def test_every_misfit_has_a_line() -> None:
    assert len(complaint(TEXT.replace("size: 2", "size: x").replace("size: 1", "size: y"), Page).splitlines()) == 2
