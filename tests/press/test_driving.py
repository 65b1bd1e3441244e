"""Words of the text that set a figure of their page."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.press.conftest import Book, cell
from torchbook_press.site.driving import address

FIGURE = """from torchbook.viz import StrideExplorer
StrideExplorer((2, 3), link="strides")"""


@pytest.mark.parametrize(("words", "name"), [("x", None), ('{"a": [1, "é"]}', "a")])
def test_an_address_is_the_one_that_figures_read(repo: Path, words: str, name: str | None) -> None:
    preset, state = (words, None) if name is None else (None, words)
    source = (repo / "torchbook/viz/src/core/permalink.js").read_text(encoding="utf-8")
    start = source.index("const encode")
    module = source[start : source.index("const decode")] + source[source.index("export const hashOf") :].split(";")[0]
    script = f"{module}; console.log(hashOf('fig', {words if name else repr(words)}))".replace("export ", "")
    done = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True, timeout=60)
    assert address("fig", preset, state) == done.stdout.strip()


def test_words_lead_to_a_state(book: Book) -> None:
    book.chapter("driven", "After {sets}`a transpose <strides:transpose>` look.", cell(FIGURE))
    done = book.typed("book")
    assert done.returncode == 0, done.stdout + done.stderr
    link = re.search(r'<a class="([^"]*)" href="#tbviz-strides:transpose">a transpose</a>', book.html("driven"))
    assert link is not None
    assert "sets" in link[1].split()
    notebook = json.loads(next(book.root.glob("_build/html/notebooks/**/driven.ipynb")).read_text())
    assert "After a transpose look." in "".join("".join(each["source"]) for each in notebook["cells"])


def test_a_mistake_fails_the_build_with_file_and_line(book: Book) -> None:
    complaints = {
        "a transpose": "write {sets}`words <figure:preset>`",
        "a <stride:transpose>": "no figure of this page has link='stride'; known: strides",
        "a <strides {1}>": "the state of 'strides' is no JSON",
    }
    book.chapter("driven", *(f"After {{sets}}`{words}` look.\n" for words in complaints), cell(FIGURE))
    done = book.typed("book")
    said = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == 1
    for complaint in complaints.values():
        assert re.search(rf"book/driven\.md:\d+: WARNING: {re.escape(complaint)}", said), said
