"""MyST prose as plain Markdown, for the published notebooks."""

import pytest

from torchbook_press.site.plain import plain

URL = "https://site/page.html"


def test_plain_markdown_is_left_as_it_is() -> None:
    text = "# Title\n\nText, *stress*, `code`.\n\n- one\n- two\n\nAfter, $x^2$.\n\n| a | b |\n| - | - |\n| 1 | 2 |"
    assert plain(text, {}, URL) == text


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
        ("```{provenance}\n```", f"*(On the page: [provenance]({URL}).)*"),
        ("```python\n{glue:text}`answer`\n```", "```python\n{glue:text}`answer`\n```"),
    ],
)
def test_myst_becomes_markdown(myst: str, markdown: str) -> None:
    assert plain(myst, {"answer": "42"}, URL) == markdown


def test_prediction_keeps_its_answer_folded() -> None:
    made = plain(":::{predict} Is it `42`?\n- [ ] no\n- [x] yes\n\nCounted.\n:::", {}, URL)
    question, answer = made.split("<details>")
    assert question == "**Predict: Is it `42`?**\n\n- no\n- yes\n\n"
    assert "**yes**\n\nCounted." in answer


def test_a_prediction_without_an_answer_is_left_out_and_raises_nothing() -> None:
    assert plain(":::{predict} Is it `42`?\n- [ ] no\n- [ ] yes\n\nCounted.\n:::", {}, URL).strip() == ""
