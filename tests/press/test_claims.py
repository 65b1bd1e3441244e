"""Which sentences claim something without evidence, and a baseline of them that only shrinks."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchbook_press.chapters import pages
from torchbook_press.claims import baseline
from torchbook_press.claims.baseline import Baseline, Claim, Page
from torchbook_press.claims.kinds import KINDS, kind
from torchbook_press.claims.sentences import Sentence, sentences

from .conftest import Book, cell

NUMBERS = [
    "A step takes 80 ms.",
    "It saves 99 percent of them.",
    "A card has 80 GB.",
    "It gains 2.5×.",
    "The accuracy ends near 0.46.",
    "The accuracy is 0.87.",
    "Its loss falls from 2.3 to 0.4.",
    "The model has 124 million parameters.",
    "The default is ten minutes.",
]
COMPARATIVES = [
    "The compiled one is faster.",
    "A copy takes longer than the work.",
    "It needs far less memory.",
    "Each forward runs twice.",
    "It reads half of the bytes.",
    "Links there are ten times as fast.",
    "The first call takes as long as many later ones.",
    "Slower where nothing fuses it.",
    "Larger batches make it worse.",
]
ABSOLUTES = [
    "Backward always raises.",
    "The order never changes.",
    "The losses are identical.",
    "It is equal bit for bit.",
    "A worker cannot see it.",
    "It happens only when the cache is full.",
    "None of these raises.",
    "Both give the same numbers.",
    "It changes nothing.",
    "No rank ever holds the whole.",
    "The kernel takes float16 only.",
]
SILENT = {
    "a question": "Is it always faster?",
    "an instruction": "Never call it twice.",
    "an instruction with a number": "Set the limit to 10 GB.",
    "a leave": "You can always run it again.",
    "a condition": "When a batch is larger, split it.",
    "a possibility": "It may be exactly zero.",
    "no longer": "The flag is no longer needed.",
    "rather than": "It asks for more memory rather than time.",
    "not only": "It is not only with workers that it stops.",
    "a determiner": "All of this page ran on one machine.",
    "a counter": "Two things come with the table.",
    "a selection": "What is longer than a row is cut.",
    "a quotation": '"Half precision is always faster."',
    "code": "The option `always on` is read.",
    "a version": "It came with torch 2.11, in 2026.",
    "a shape": "The mask has the shape (64, 256), as in Figure 1.",
    "a date": "The table is of 2026-11-23.",
    "an assignment": "A momentum of µ = 0.9 is usual.",
    "a link": "The [Faster and always better kernels](https://example.org) tells more of that story.",
    "a reference": "The pages are {doc}`/book/always`.",
}


def only(text: str) -> Sentence:
    (sentence,) = sentences("page.md", text)
    return sentence


def claims(text: str) -> list[str | None]:
    return [kind(sentence.masked) for sentence in sentences("page.md", text)]


@pytest.mark.parametrize(
    ("name", "text"),
    [(name, text) for name, texts in zip(KINDS, (NUMBERS, COMPARATIVES, ABSOLUTES), strict=True) for text in texts],
)
def test_a_claim_is_seen(name: str, text: str) -> None:
    assert claims(text) == [name]


@pytest.mark.parametrize("text", SILENT.values(), ids=SILENT.keys())
def test_what_claims_nothing_is_left_out(text: str) -> None:
    assert claims(text) == [None]


@pytest.mark.parametrize("role", ["holds", "cited", "glue:text", "glue"])
def test_a_role_is_evidence(role: str) -> None:
    assert only(f"It is {{{role}}}`faster <name>` here.").bound


@pytest.mark.parametrize("role", ["ref", "doc", "term"])
def test_a_link_is_no_evidence(role: str) -> None:
    assert not only(f"It is {{{role}}}`faster <name>` here.").bound


def test_a_badge_is_evidence_for_its_entry() -> None:
    assert only("- {verdict}`refuted <x>` *It never copies.* It always does.").bound
    assert not only("- *It never copies.*").bound


def test_evidence_is_of_one_sentence() -> None:
    assert [s.bound for s in sentences("p", "It takes {glue:text}`t`. The other is faster.")] == [True, False]


@pytest.mark.parametrize(
    "text",
    [
        "It is slower, e.g. On a CPU.",
        "It takes 1.5 s here.",
        "See R. Sutton for more.",
        "Call `a. B` first.",
        "Compare eager vs. Triton.",
    ],
)
def test_a_point_may_end_no_sentence(text: str) -> None:
    assert len(sentences("page.md", text)) == 1


def test_sentences_are_split_and_without_markup() -> None:
    text = "**One** of `them.` *Is*\nhere. {ref}`Two <x>` are [there](y.md)! (A third.)"
    assert [s.text for s in sentences("p", text)] == ["One of them. Is here.", "Two are there!", "(A third.)"]


PAGE = """\
---
file_format: mystnb
---
# A heading is always larger

(anchor)=
First line,
always so. Second line never.

% A comment is always faster.

| faster | head |
| --- | --- |
| It is faster. | cell |

- An item is slower.

```{code-cell} ipython3
# always faster
```

:::{predict} Is it always faster?
- [ ] It is always slower.
- [x] It is always faster,
  twice

The answer is never given.
:::

```{note}
:class: tip

A note is always read.
```

:::{dropdown} Always a title
Opened, it is larger.
:::

:::{exercise} p01-x1
It is always slower.
:::

:::{checklist}
- It is always slower.
:::
"""


def test_prose_is_found_where_it_stands() -> None:
    found = [(s.line, s.text) for s in sentences("page.md", PAGE) if kind(s.masked)]
    assert found == [
        (7, "First line, always so."),
        (8, "Second line never."),
        (14, "It is faster."),
        (16, "An item is slower."),
        (27, "The answer is never given."),
        (33, "A note is always read."),
        (37, "Opened, it is larger."),
    ]


@pytest.mark.parametrize(
    ("before", "after", "near"),
    [
        ("x = 1", "y = 2", False),
        ("assert x", "y = 2", True),
        ("x = 1", 'holds("name", x, ">", 1)', True),
        ("torch.testing.assert_close(a, b)", "y = 2", True),
        ("asserted = 1", "y = 2", False),
    ],
)
def test_an_assertion_next_to_a_sentence_is_near(before: str, after: str, near: bool) -> None:
    text = f"{cell('assert True')}{cell(before)}\nIt is faster.\n{cell(after)}{cell('assert True')}"
    assert only(text).near == near


# The baseline.


def claim(text: str, page: str = "a.md", kind: str = "absolute") -> Claim:
    return Claim(page, 3, kind, text, False)  # type: ignore[arg-type]


def page_of(*claims: Claim, name: str = "a.md") -> Page:
    return Page(name, 9, 0, claims)


def compare(pages: list[Page], known: Baseline, whole: bool = True) -> baseline.Comparison:
    return baseline.compare(pages, known, whole=whole)


def test_what_is_in_the_baseline_is_no_problem() -> None:
    comparison = compare([page_of(claim("One."), claim("Two."))], {"a.md": {"Two.": "", "One.": ""}})
    assert comparison.problems == []


def test_a_new_claim_is_named_with_its_remedy() -> None:
    (problem,) = compare([page_of(claim("One."))], {}).problems
    assert problem.startswith("a.md:3: absolute without evidence: mark it with {holds}")
    assert problem.endswith("One.")


def test_a_new_claim_does_not_enter_the_baseline() -> None:
    assert compare([page_of(claim("One."), claim("Two."))], {"a.md": {"One.": ""}}).left == {"a.md": {"One.": ""}}


def test_an_entry_that_is_done_with_is_named_and_goes() -> None:
    comparison = compare([page_of()], {"a.md": {"One.": ""}})
    assert comparison.problems == [
        "book/claims/unbound.yml: shrink: run torchbook claims --update; a.md is done with: One."
    ]
    assert comparison.left == {"a.md": {}}


def test_entries_of_a_page_that_is_no_more_go() -> None:
    comparison = compare([page_of()], {"b.md": {"One.": ""}})
    assert (comparison.gone, comparison.left) == ([("b.md", "One.")], {"a.md": {}, "b.md": {}})


def test_entries_of_pages_that_were_not_asked_for_stay() -> None:
    comparison = compare([page_of()], {"b.md": {"One.": ""}}, whole=False)
    assert (comparison.gone, comparison.left) == ([], {"b.md": {"One.": ""}, "a.md": {}})


def test_a_sentence_may_move_to_another_page() -> None:
    comparison = compare([page_of(), page_of(claim("One.", "b.md"), name="b.md")], {"a.md": {"One.": "cited"}})
    assert (comparison.new, comparison.left) == ([], {"a.md": {}, "b.md": {"One.": "cited"}})


def test_a_sentence_is_not_copied_to_another_page() -> None:
    copied = page_of(claim("One.", "b.md"), name="b.md")
    assert compare([page_of(claim("One.")), copied], {"a.md": {"One.": ""}}).new == [claim("One.", "b.md")]


@pytest.mark.parametrize(("why", "problems"), [("", 1), ("definition", 0)])
def test_a_typed_number_says_why_it_may_stand(why: str, problems: int) -> None:
    comparison = compare([page_of(claim("It takes 3 s.", kind="number"))], {"a.md": {"It takes 3 s.": why}})
    assert len(comparison.problems) == problems


def test_a_baseline_is_read_as_it_was_written(tmp_path: Path) -> None:
    known = {"a.md": {"One: 'two'.": "", "It takes 3 s.": "definition", "no": ""}}
    baseline.write(tmp_path, known)
    assert baseline.load(tmp_path) == known


@pytest.mark.parametrize("text", ["a.md: [", "- One.", "a.md: [{text: One.}]", "a.md: 3", "a.md: [1]"])
def test_a_malformed_baseline_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / baseline.FILE
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(baseline.BaselineError, match=r"^book/claims/unbound\.yml:1: "):
        baseline.load(tmp_path)


def test_the_order_of_pages_stays() -> None:
    known = {"a.md": {"One.": ""}, "b.md": {"Two.": ""}}
    assert list(compare([page_of(claim("One."))], known, whole=False).left) == ["a.md", "b.md"]


# The command.


@pytest.fixture
def claiming(book: Book) -> Book:
    """A book of one chapter with a claim below a cell that asserts, and a page with another."""
    book.chapter("one", cell("assert True"), "It is faster.\n")
    book.page("two", "# Two\n\nThe order never changes. It takes 3 s.\n")
    return book


def test_the_command_lists_and_counts(claiming: Book) -> None:
    done = claiming.torchbook("claims")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[:3] == [
        "book/one.md:26: comparative (near): It is faster.",
        "book/two.md:3: absolute: The order never changes.",
        "book/two.md:3: number: It takes 3 s.",
    ]
    assert "3 claim without (1 number, 1 comparative, 1 absolute), 2 of them with no assertion" in done.stdout


@pytest.mark.parametrize("name", ["two", "book/two", "book/two.md"])
def test_the_command_takes_pages_by_name(claiming: Book, name: str) -> None:
    done = claiming.torchbook("claims", name)
    assert "book/two.md:3" in done.stdout
    assert "book/one.md" not in done.stdout


def test_the_command_refuses_a_page_that_is_not_there(claiming: Book) -> None:
    done = claiming.torchbook("claims", "three")
    assert done.exit_code == 2
    assert "no page three" in done.stderr


def test_check_fails_on_what_is_new(claiming: Book) -> None:
    done = claiming.torchbook("claims", "one", "--check")
    assert done.exit_code == 1
    assert "error book/one.md:26: comparative without evidence" in done.stderr


def test_check_passes_what_stands_in_the_baseline(claiming: Book) -> None:
    baseline.write(claiming.root, {"book/one.md": {"It is faster.": ""}})
    assert claiming.torchbook("claims", "one", "--check").exit_code == 0


def test_update_shrinks_and_refuses_to_grow(claiming: Book) -> None:
    known = {"book/one.md": {"It is faster.": "", "It was slower.": ""}}
    baseline.write(claiming.root, known)
    done = claiming.torchbook("claims", "--update")
    assert done.exit_code == 1
    assert "book/two.md:3: absolute without evidence" in done.stderr
    assert baseline.load(claiming.root) == {"book/one.md": {"It is faster.": ""}}


def test_the_book_fits_its_baseline(repo: Path) -> None:
    found = [baseline.read(page) for page in pages(repo)]
    assert baseline.compare(found, baseline.load(repo), whole=True).problems == []
