"""MyST prose as plain Markdown, for the published notebooks."""

import pytest

from torchbook_press.site.plain import Page, plain

URL = "https://site/page.html"


def test_plain_markdown_is_left_as_it_is() -> None:
    text = "# Title\n\nText, *stress*, `code`.\n\n- one\n- two\n\nAfter, $x^2$.\n\n| a | b |\n| - | - |\n| 1 | 2 |"
    assert plain(text, Page(URL)) == text


@pytest.mark.parametrize(
    ("myst", "markdown"),
    [
        ("It is {glue:text}`answer`.", "It is 42."),
        ("See {doc}`the lab </book/lab>`.", f"See [the lab]({URL})."),
        ("A {term}`tensor`.", "A tensor."),
        ("(target)=\n# Title", "# Title"),
        (":::{note}\nSaid.\n:::", "> **Note.** Said."),
        (":::{dropdown} More\nFolded.\n:::", "<details><summary>More</summary>\n\nFolded.\n\n</details>"),
        ("```{math}\nx^2\n```", "$$\nx^2\n$$"),
        (":::{checklist}\n- one\n:::", "- one"),
        ("::::{container} ways\n:::{container} way\nText.\n:::\n::::", "Text."),
        (
            "```{glossary}\nleaf\nleaves\n  Not computed.\n\n  {term}`More`\n```",
            "**leaf, leaves**: Not computed.\n\nMore",
        ),
        ("```{provenance}\n```", f"*(On the page: [provenance]({URL}).)*"),
        ("```python\n{glue:text}`answer`\n```", "```python\n{glue:text}`answer`\n```"),
    ],
)
def test_myst_becomes_markdown(myst: str, markdown: str) -> None:
    assert plain(myst, Page(URL, {"answer": "42"})) == markdown


def test_prediction_keeps_its_answer_folded() -> None:
    made = plain(":::{predict} Is it `42`?\n- [ ] no\n- [x] yes\n\nCounted.\n:::", Page(URL))
    question, answer = made.split("<details>")
    assert question == "**Predict: Is it `42`?**\n\n- no\n- yes\n\n"
    assert "**yes**\n\nCounted." in answer


def test_a_prediction_that_is_none_is_left_to_the_page() -> None:
    assert plain(":::{predict} Is it?\n- [ ] yes\n\nNo.\n:::", Page(URL)) == f"*(On the page: [Is it?]({URL}).)*"


def test_a_reference_without_words_of_its_own_has_the_title_and_address_of_what_it_leads_to() -> None:
    def lead(role: str, target: str) -> tuple[str, str] | None:
        return {("ref", "ex-1"): ("Add two", "https://site/other.html#ex-1")}.get((role, target))

    page = Page(URL, lead=lead)
    assert plain("See {ref}`ex-1`.", page) == "See [Add two](https://site/other.html#ex-1)."
    assert plain("See {ref}`it <ex-1>`, {ref}`ex-2`.", page) == (
        f"See [it](https://site/other.html#ex-1), [ex-2]({URL})."
    )
