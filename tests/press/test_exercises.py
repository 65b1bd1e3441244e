"""Exercises on pages and in published notebooks, and in the run key of the chapters that use them."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup, Tag

from torchbook.practice.quiz import SITE
from torchbook_press.build import html
from torchbook_press.chapters import chapters
from torchbook_press.site.launch import notebook
from torchbook_press.site.patterns import is_common
from torchbook_press.site.plain import Page, split

from .conftest import Book, cell, small_book, write_exercises, write_self_test

URL = "https://site/page.html"
PARAMETERS = {"DEVICE": "cpu", "FAST": False, "SEED": 0}
BLOCKS = "# Blocks\n\n## Exercises\n\n:::{exercise} t01-x1\n:::\n\n:::{exercise} t01-x2\n:::\n\nSee {ref}`ex-t01-x1`.\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Exercises of the test's own."""
    root = tmp_path / "own"
    write_exercises(root)
    monkeypatch.setenv("TORCHBOOK_EXERCISES", str(root))
    return root


# The block on the page.


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, repo: Path) -> Book:
    """A book with two exercises, a self-test, and the table of all, built once."""
    root = tmp_path_factory.mktemp("blocks")
    write_exercises(root / "own")
    write_self_test(root / "own")
    book = small_book(root, repo)
    book.page("blocks", BLOCKS)
    book.page("known", "# Known\n\n:::{exercise} t01-x3\n:::\n")
    book.page("all", "# All\n\n:::{exercise-list}\n:::\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TORCHBOOK_EXERCISES", str(root / "own"))
        assert html(book.root) == 0
    return book


def soup(book: Book, name: str) -> BeautifulSoup:
    return BeautifulSoup(book.html(name), "html.parser")


@pytest.fixture
def block(built: Book) -> Tag:
    section = soup(built, "blocks").select_one("section.exercise#ex-t01-x1")
    assert section
    return section


@pytest.fixture
def quiz(built: Book) -> Tag:
    section = soup(built, "blocks").select_one("section.exercise#ex-t01-x2")
    assert section
    return section


def words(tag: Tag | None) -> str:
    assert tag
    return " ".join(tag.get_text().split())


def test_heading_is_numbered_as_the_id_is_and_has_a_name(built: Book, block: Tag) -> None:
    assert words(block.select_one("h3")).startswith("Exercise 1 · Add two numbers")
    assert "Exercise 1 · Add two numbers" in words(soup(built, "blocks").select_one("p > a.reference.internal"))


def test_facts_are_said_in_words(block: Tag) -> None:
    facts = block.select_one(".exercise-facts")
    assert words(facts) == "★★☆☆☆ · about 1 minute · important · needs: CPU, several processes"
    assert [tag["aria-label"] for tag in facts.select("[role=img]")] == ["2 of 5 stars"]


def test_statement_is_markdown_with_formulas(block: Tag) -> None:
    assert words(block.select_one("li em")) == "plain"
    assert "a + b" in words(block.select_one(".math"))


def test_stub_and_how_to_check_it(block: Tag) -> None:
    assert "raise NotImplementedError" in words(block.select_one(":scope > .highlight-python"))
    instructions = words(block.select_one(".exercise-check"))
    assert 'check("t01-x1")' in instructions
    assert "torchbook check t01-x1 my.py" in instructions


def test_hints_and_solution_are_folded(block: Tag) -> None:
    folded = block.select("details")
    assert [words(details.select_one("summary")) for details in folded] == ["Hint: The result is None", "Solution"]
    assert not [details for details in folded if details.has_attr("open")]
    assert "return a + b" in words(folded[1].select_one(".highlight-python"))
    assert "SOLUTION" not in words(block)


def test_quiz_asks_and_keeps_its_answers_folded(quiz: Tag) -> None:
    choice, typed = quiz.select("fieldset")
    assert [words(tag) for tag in choice.select("label")] == ["11", "2"]
    assert [tag["value"] for tag in choice.select("[data-right]")] == ["b"]
    assert [words(tag) for tag in choice.select("dt")] == ["Right: 2", "11"]
    assert [words(tag) for tag in choice.select("dd")] == ["Integers are added.", "That joins texts."]
    assert typed["data-accept"] == r'["len(\\(.*\\))?"]'
    assert words(typed.select_one("dd[data-match]")) == "That is what arrays have."
    assert not quiz.select("details[open]")


def test_table_lists_what_everyone_may_see_and_links_what_has_a_page(built: Book) -> None:
    page = soup(built, "all")
    rows = [[words(table_cell) for table_cell in row.select("td")] for row in page.select("tbody tr")]
    assert ["t01-x1", "Add `two` numbers", "t01", "★★☆☆☆", "1", "1 + 2", "code", "CPU, several processes"] in rows
    assert not [row for row in rows if row[0] == "t01-x9"]
    links = {words(tag): tag["href"] for tag in page.select("td a")}
    places = {"t01-x1": "blocks", "t01-x2": "blocks", "t01-x3": "known"}
    assert links == {name: f"{page}.html#ex-{name}" for name, page in places.items()}


@pytest.fixture
def result(built: Book) -> Tag:
    element = soup(built, "known").select_one(".quiz > .result")
    assert element
    return element


def test_questions_of_a_self_test_stand_under_their_topics(built: Book) -> None:
    quiz = soup(built, "known").select_one(".quiz")
    assert quiz
    assert [words(tag) for tag in quiz.select(".topic")] == ["Sums with +", "Lists"]
    assert [tag["data-about"] for tag in quiz.select("fieldset")] == ["sums", "lists"]


def test_a_self_test_can_be_answered_with_not_sure(built: Book) -> None:
    choice, typed = soup(built, "known").select("fieldset")
    assert words(choice.select("label")[-1]) == "Not sure"
    assert [words(tag) for tag in typed.select("button")] == ["Check", "Not sure"]


def test_other_quizzes_cannot(quiz: Tag) -> None:
    assert "Not sure" not in words(quiz)
    assert not quiz.select(".topic, .result")


def test_a_self_test_says_what_to_read(result: Tag) -> None:
    listed = {tag["data-topic"]: tag.select(".readings a") for tag in result.select("[data-topic]")}
    assert {name: [words(a) for a in links] for name, links in listed.items()} == {
        "sums": ["Blocks, its last section", "All"],
        "lists": ["Elsewhere"],
    }


def test_what_to_read_in_the_book_is_a_relative_link(result: Tag) -> None:
    readings = [(tag["href"], "internal" in tag["class"]) for tag in result.select(".readings a")]
    expected = [("blocks.html#exercises", True), ("all.html", True), ("https://example.org/lists", False)]
    assert readings == expected


def test_an_edited_exercise_is_on_the_page_of_the_next_build(built: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHBOOK_EXERCISES", str(built.root / "own"))
    path = built.root / "own" / "t01/x2-words" / "exercise.md"
    path.write_text(path.read_text().replace("Two short ones.", "Use your head."))
    assert html(built.root) == 0
    assert "Use your head." in built.html("blocks")


# What a page may not have.


@pytest.fixture(scope="module")
def complaints(tmp_path_factory: pytest.TempPathFactory, repo: Path) -> str:
    """What the build of a book full of mistakes says."""
    root = tmp_path_factory.mktemp("mistakes")
    write_exercises(root / "own")
    quiz = root / "own" / "t01/x2-words" / "exercise.md"
    quiz.write_text(quiz.read_text().replace('accept: ["len', 'accept: ["(?P<name>len|x)", "len'))
    write_self_test(
        root / "own", ("page: book/blocks", "page: book/gone"), ("page: book/all", "page: book/once, section: nowhere")
    )
    book = small_book(root, repo)
    book.page("dead", "# Dead\n\nText.\n\n:::{exercise} t01-x3\n:::\n")
    book.page("unknown", "# Unknown\n\n:::{exercise} t01-x8\n:::\n")
    book.page("private", "# Private\n\nText.\n\n:::{exercise} t01-x9\n:::\n")
    book.page("once", "# Once\n\n:::{exercise} t01-x1\n:::\n")
    book.page("twice", "# Twice\n\nText.\n\n:::{exercise} t01-x1\n:::\n")
    book.page("pattern", "# Pattern\n\n:::{exercise} t01-x2\n:::\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TORCHBOOK_EXERCISES", str(root / "own"))
        done = book.printed()
    assert done.returncode != 0
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    "complaint",
    [
        "book/unknown.md:3: ERROR: no exercise 't01-x8'; did you mean t01-x",
        "book/private.md:5: ERROR: exercise 't01-x9' is for instructors alone",
        "book/twice.md:5: WARNING: exercise t01-x1 is at book/once.md:3 already",
        "book/pattern.md:3: ERROR: own/t01/x2-words/exercise.md: word: a browser may read '(?P<name>len|x)'",
        "book/dead.md:5: WARNING: exercise t01-x3 says to read 'Blocks, its `last` section', but there is no page",
        "book/dead.md:5: WARNING: exercise t01-x3 says to read 'All', but book/once has no section 'nowhere'",
    ],
    ids=["unknown", "instructors", "twice", "pattern", "dead page", "dead section"],
)
def test_mistakes_fail_the_build_with_file_and_line(complaints: str, complaint: str) -> None:
    assert complaint in complaints


@pytest.mark.parametrize(
    "pattern", ["len", r"len(\(.*\))?", r"(?:a|b){1,2}?", r"[^\s,]+", r"no\-one", "(?=a)a|(?!b)c", r"^\w+$", r"\bx\b"]
)
def test_patterns_that_a_browser_reads_alike(pattern: str) -> None:
    assert is_common(pattern)


@pytest.mark.parametrize(
    "pattern",
    ["(?P<n>a)", "(?i)a", "a++", "a{,3}", "[]a]", "(?<=a)b", r"(a)\1", r"\Aa", "(?>a)", "{", r"\x41", "(?#c)a", "^*"],
)
def test_patterns_that_it_may_not(pattern: str) -> None:
    assert not is_common(pattern)


# The published notebook.


def cells(book: Book) -> list[nbformat.NotebookNode]:
    (chapter,) = chapters(book.root)
    made = notebook(chapter, Page(URL), "torchbook")
    nbformat.validate(made)
    return list(made.cells)


def test_exercise_becomes_statement_stub_and_check(book: Book, folder: Path) -> None:
    book.chapter("one", "Before.\n\n:::{exercise} t01-x1\n:::\n\nAfter {term}`it`.", cell("1"))
    by_id = {nb_cell.id: nb_cell for nb_cell in cells(book)}
    assert list(by_id) == [
        *["install", "cell-0", "cell-1", "cell-2"],
        *["t01-x1-statement", "t01-x1-stub", "t01-x1-check"],
        *["cell-2-2", "cell-3"],
    ]
    assert (by_id["cell-2"].source, by_id["cell-2-2"].source) == ("Before.", "After it.")
    assert by_id["t01-x1-stub"].source.endswith("    raise NotImplementedError")
    assert {by_id[f"t01-x1-{part}"].cell_type for part in ("stub", "check")} == {"code"}
    check = by_id["t01-x1-check"].source
    assert check.startswith('from torchbook.practice import check, hint, solution\n\ncheck("t01-x1")')
    statement = by_id["t01-x1-statement"].source
    assert "### Exercise 1 · Add `two` numbers\n\n★★☆☆☆ (2 of 5 stars) · about 1 minute · important" in statement
    assert "<details><summary>Hint: The result is <code>None</code></summary>\n\nA function" in statement
    assert not [
        nb_cell for nb_cell in by_id.values() if "{exercise}" in nb_cell.source or "return a + b" in nb_cell.source
    ]


def test_quiz_in_the_notebook_has_its_options_but_not_its_answers(book: Book, folder: Path) -> None:
    book.chapter("one", ":::{exercise} t01-x2\n:::", cell("1"))
    sources = {nb_cell.id: nb_cell.source for nb_cell in cells(book)}
    statement = sources["t01-x2-statement"]
    assert (
        "**Question 1, `number`**\n\nWhat is $1 + 1$?\n\n```python\n1 + 1\n```\n\n- **a** `11`\n- **b** `2`"
        in statement
    )
    assert "Integers are added" not in statement
    assert "That is what arrays have" not in statement
    assert sources["t01-x2-stub"].startswith("t01_x2 = {")


def test_self_test_in_the_notebook_has_its_topics_and_what_to_read(book: Book, folder: Path) -> None:
    write_self_test(folder)
    book.chapter("one", ":::{exercise} t01-x3\n:::", cell("1"))
    sources = {nb_cell.id: nb_cell.source for nb_cell in cells(book)}
    assert "**Topic: Sums with `+`**\n\n**Question 1, `number`**" in sources["t01-x3-statement"]
    assert (
        f"- Sums with `+`: [Blocks, its `last` section]({SITE}/book/blocks.html#exercises); [All]"
        in (sources["t01-x3-statement"])
    )
    assert "    # Lists\n" in sources["t01-x3-stub"]


def test_neighbouring_exercises_leave_no_empty_cell(book: Book, folder: Path) -> None:
    book.chapter("one", ":::{exercise} t01-x1\n:::\n\n:::{exercise} t01-x2\n:::", cell("1"))
    assert all(nb_cell.source.strip() for nb_cell in cells(book))


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Text.", [("text", "Text.")]),
        (":::{exercise} a\n:::", [("exercise", "a")]),
        ("One.\n\n```{exercise} a\n```\nTwo.", [("text", "One."), ("exercise", "a"), ("text", "Two.")]),
        ("````\n:::{exercise} a\n:::\n````", [("text", "````\n:::{exercise} a\n:::\n````")]),
    ],
    ids=["none", "alone", "between", "quoted"],
)
def test_markdown_is_cut_at_its_exercises(text: str, parts: list[tuple[str, str]]) -> None:
    assert split(text, "exercise") == parts
