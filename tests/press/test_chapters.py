"""What the press says of a malformed chapter: file, line and remedy."""

import re
from collections.abc import Iterable

import pytest
from nbformat import NotebookNode

from torchbook_press import varying
from torchbook_press.chapters import Chapter, ChapterError, chapters, pages, units

from .conftest import Book, cell


def complaint(book: Book, *wanted: str) -> str:
    with pytest.raises(ChapterError) as caught:
        [chapter.notebook for chapter in chapters(book.root, wanted)]
    return str(caught.value)


def test_chapters_come_in_the_order_of_the_contents(book: Book) -> None:
    for name in ("two", "one"):
        book.chapter(name)
    assert [c.contract.id for c in chapters(book.root)] == ["two", "one"]


def test_a_prose_page_is_not_a_chapter(book: Book) -> None:
    book.page("prose", "# Prose\n")
    assert [p.docname for p in pages(book.root)] == ["book/index", "book/prose"]
    assert chapters(book.root) == []


@pytest.mark.parametrize("name", ["one", "book/one", "book/one.md"])
def test_a_chapter_is_found_by_id_or_path(book: Book, name: str) -> None:
    book.chapter("one")
    assert len(chapters(book.root, (name,))) == 1


@pytest.fixture
def folder(book: Book) -> Book:
    """A book with a chapter of two pages between two of one."""
    book.chapter("one")
    book.folder("two-pages", first="Text.", second="Text.")
    book.chapter("three")
    return book


def ids(book: Book, *wanted: str) -> list[str]:
    return [page.contract.id for page in chapters(book.root, wanted)]


def test_the_pages_of_a_chapter_come_where_it_stands(folder: Book) -> None:
    assert ids(folder) == ["one", "two-first", "two-second", "three"]


@pytest.mark.parametrize("name", ["two", "two-pages", "book/two-pages"])
def test_a_chapter_that_is_a_folder_is_all_its_pages(folder: Book, name: str) -> None:
    assert ids(folder, name) == ["two-first", "two-second"]


@pytest.mark.parametrize("name", ["two-first", "book/two-pages/first", "book/two-pages/first.md"])
def test_a_page_of_a_chapter_is_found_by_id_or_path(folder: Book, name: str) -> None:
    assert ids(folder, name) == ["two-first"]


def test_a_chapter_has_its_id_its_title_and_all_its_pages(folder: Book) -> None:
    one, two, three = units(folder.root)
    assert (one.id, two.id, three.id) == ("one", "two", "three")
    assert (two.head.title, three.head.title) == ("Two-pages", "Three")
    assert [page.docname for page in two.members] == [f"book/two-pages/{name}" for name in ("index", "first", "second")]


def test_the_index_of_a_folder_may_run_too(folder: Book) -> None:
    index = folder.root / "book/two-pages/index.md"
    index.write_text((folder.root / "book/one.md").read_text().replace("id: one", "id: two"))
    assert ids(folder, "two") == ["two", "two-first", "two-second"]


def test_the_id_of_a_page_begins_with_its_chapter_s(folder: Book) -> None:
    page = folder.root / "book/two-pages/second.md"
    page.write_text(page.read_text().replace("id: two-second", "id: second"))
    where = "a page of book/two-pages/index.md, whose pages have ids of the form two-name"
    assert complaint(folder) == f"book/two-pages/second.md:1: id 'second': this is {where}"


def test_a_page_elsewhere_cannot_take_a_chapter_s_id(folder: Book) -> None:
    folder.chapter("two")
    assert "id 'two' is taken by book/two-pages/index.md" in complaint(folder)


def test_unknown_chapter_names_those_there_are(book: Book) -> None:
    book.chapter("one")
    assert complaint(book, "won") == "no chapter won; there are: one"


def test_page_that_is_listed_but_missing(book: Book) -> None:
    book.chapter("one").unlink()
    assert "book/one.md:1: listed in _toc.yml, but there is no such file" in complaint(book)


def test_missing_table_of_contents(book: Book) -> None:
    book.toc.unlink()
    assert complaint(book).startswith("_toc.yml:1: missing")


def test_front_matter_that_is_not_closed(book: Book) -> None:
    book.page("one", "---\nfile_format: mystnb\n")
    assert complaint(book).startswith("book/one.md:1: the front matter is not closed")


def test_front_matter_that_is_not_yaml_names_the_line(book: Book) -> None:
    book.page("one", "---\nfile_format: mystnb\nkernelspec: {name: [}\n---\n")
    assert complaint(book).startswith("book/one.md:3: the front matter is not YAML")


def test_contract_with_a_wrong_value_names_its_line(book: Book) -> None:
    path = book.chapter("one", minutes=1)
    path.write_text(path.read_text().replace("minutes: 1", "minutes: soon"))
    assert re.match(r"book/one.md:8: torchbook.minutes: .*valid number", complaint(book))


def test_contract_with_an_unknown_key(book: Book) -> None:
    path = book.chapter("one")
    path.write_text(path.read_text().replace("  minutes: 1", "  minutes: 1\n  minuts: 1"))
    assert "book/one.md:9: torchbook.minuts: Extra inputs" in complaint(book)


def test_chapter_without_a_contract(book: Book) -> None:
    book.page("one", "---\nfile_format: mystnb\n---\n# One\n")
    assert "book/one.md:1: no `torchbook:` block" in complaint(book)


def test_chapter_that_myst_nb_would_read_as_prose(book: Book) -> None:
    path = book.chapter("one")
    path.write_text(path.read_text().replace("file_format: mystnb\n", ""))
    assert "file_format: mystnb" in complaint(book)


def test_ids_are_unique(book: Book) -> None:
    book.chapter("one")
    path = book.chapter("two")
    path.write_text(path.read_text().replace("id: two", "id: one"))
    assert complaint(book) == "book/two.md:1: id 'one' is taken by book/one.md; ids are unique"


def test_parameters_cell_must_be_first(book: Book) -> None:
    path = book.chapter("one")
    path.write_text(path.read_text().replace(":tags: [parameters]\n", ""))
    assert "book/one.md:1: the first code cell, and no other, must be tagged [parameters]" in complaint(book)


def test_parameters_cell_must_set_all_three(book: Book) -> None:
    path = book.chapter("one")
    path.write_text(path.read_text().replace("SEED = 0\n", ""))
    assert "book/one.md:14: the parameters cell must set SEED" in complaint(book)


def test_fence_that_swallows_a_cell_is_found(book: Book) -> None:
    # CommonMark: a backtick in a fence's title makes it no fence, and its end opens one.
    book.chapter("one", "```{predict} Is `1` one?\n- [x] yes\n- [ ] no\n\nYes.\n```\n", cell("1 + 1"))
    assert re.search(r"book/one.md:\d+: 2 code cells are written but 1 are read", complaint(book))


def test_line_of_a_cell_is_its_fence(book: Book) -> None:
    path = book.chapter("one", "Text.", cell("1 + 1"))
    (chapter,) = chapters(book.root)
    lines = path.read_text().splitlines()
    assert [lines[chapter.line_of(i) - 1][:14] for i in (0, 1)] == ["```{code-cell}"] * 2


# A text that is a chapter is parsed once.


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are parsed from now on."""
    texts: list[str] = []
    parse = Chapter._parsed

    def noted(chapter: Chapter) -> NotebookNode:
        texts.append(chapter.text)
        return parse(chapter)

    monkeypatch.setattr(Chapter, "_parsed", noted)
    return texts


def read(book: Book) -> NotebookNode:
    return Chapter(book.root, "book/one").notebook


def test_what_was_parsed_is_kept(book: Book, parsed: list[str]) -> None:
    book.chapter("one", "Prose.", cell("1 + 1", "varies"))
    assert read(book) == read(book)
    assert len(parsed) == 1


def test_another_text_is_parsed(book: Book, parsed: list[str]) -> None:
    for code in ("1 + 1", "1 + 2"):
        book.chapter("one", cell(code))
        assert read(book).cells[-1].source == code
    assert len(parsed) == 2


def test_another_parser_parses_again(book: Book, parsed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    book.chapter("one")
    read(book)
    monkeypatch.setattr("torchbook_press.chapters._parser", lambda: {"jupytext": "another"})
    read(book)
    assert len(parsed) == 2


def test_a_text_that_is_no_chapter_is_complained_of_each_time(book: Book, parsed: list[str]) -> None:
    path = book.chapter("one")
    path.write_text(path.read_text().replace("SEED = 0", ""))
    for _ in range(2):
        assert "the parameters cell must set SEED" in complaint(book)
    assert len(parsed) == 2


# Code none of whose cells shows what is another in each run is looked at once, whatever the prose around it.


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The code that is looked at from now on."""
    looks: list[list[str]] = []
    shown = varying.shown

    def noted(sources: Iterable[str]) -> list[set[str]]:
        looks.append(list(sources))
        return shown(looks[-1])

    monkeypatch.setattr(varying, "shown", noted)
    return looks


def test_other_prose_is_no_reason_to_look_at_the_code(book: Book, looked_at: list[list[str]]) -> None:
    for prose in ("Prose.", "Other prose."):
        book.chapter("one", prose, cell("1 + 1"))
        read(book)
    assert len(looked_at) == 1


@pytest.mark.parametrize("another", [cell("1 + 2"), cell("1 + 1", "varies")], ids=["code", "tag"])
def test_another_code_or_tag_is_looked_at(book: Book, looked_at: list[list[str]], another: str) -> None:
    for code in (cell("1 + 1"), another):
        book.chapter("one", code)
        read(book)
    assert len(looked_at) == 2


def test_code_that_is_refused_is_refused_each_time(book: Book, looked_at: list[list[str]]) -> None:
    for prose in ("Prose.", "Other prose."):
        book.chapter("one", prose, cell("import time\ntime.time()"))
        assert "time.time()" in complaint(book)
    assert len(looked_at) == 2
