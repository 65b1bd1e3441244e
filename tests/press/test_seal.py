"""What ran is sealed: whatever is changed in it afterwards, no reader takes it for what ran."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from torchbook_press import seal
from torchbook_press.build import WarmBuilder, Work
from torchbook_press.chapters import Chapter, chapters
from torchbook_press.run import RUN, run_metadata
from torchbook_press.seal import SealError

from .conftest import Book, as_if_it_ran, cell

Change = Callable[[dict[str, Any]], object]


def outputs_of(nb: dict[str, Any]) -> list[list[Any]]:
    return [code["outputs"] for code in nb["cells"]]


def exchange(nb: dict[str, Any]) -> None:
    """Give the first cell what the last one printed, and the last one what the first did."""
    first, *_, last = outputs_of(nb)
    first[:], last[:] = last[:], first[:]


CHANGES: dict[str, Change] = {
    "a printed text": lambda nb: outputs_of(nb)[0][0].update(text="99999"),
    "a glued number": lambda nb: outputs_of(nb)[1][0]["metadata"]["scrapbook"].update(value=77777),
    "its text alone": lambda nb: outputs_of(nb)[1][0]["metadata"]["scrapbook"].update(text="42"),
    "two outputs swapped": exchange,
    "cells in another order": lambda nb: nb["cells"].reverse(),
    "an output deleted": lambda nb: outputs_of(nb)[0].clear(),
    "an error deleted": lambda nb: outputs_of(nb)[2].clear(),
    "an output of a cell that varies": lambda nb: outputs_of(nb)[3][0].update(text="0 s"),
    "the device": lambda nb: nb["metadata"][RUN].update(device="Quantum CPU"),
    "the versions": lambda nb: nb["metadata"][RUN]["versions"].update(torch="9.9.9"),
    "the date": lambda nb: nb["metadata"][RUN].update(date="1999-01-01"),
    "a figure's state": lambda nb: nb["metadata"]["widgets"].update(state=1),
    "the code": lambda nb: nb["cells"][0].update(source="6 * 9"),
    "the seal": lambda nb: nb["metadata"].update({seal.SEAL: "0" * 64}),
    "no seal": lambda nb: nb["metadata"].pop(seal.SEAL),
}


def notebook() -> nbformat.NotebookNode:
    new = nbformat.v4.new_output
    glued = {"scrapbook": {"name": "answer", "value": 42, "text": "42.0"}}
    outputs = [
        new("stream", text="sum is 5"),
        new("display_data", data={}, metadata=glued),
        new("error", ename="E", evalue="e", traceback=["E: e"]),
        new("stream", text="3 s"),
    ]
    cells = [nbformat.v4.new_code_cell(str(number), outputs=[output]) for number, output in enumerate(outputs)]
    cells[3].metadata["tags"] = ["varies"]
    return nbformat.v4.new_notebook(cells=cells, metadata={"widgets": {}})


@pytest.fixture
def chapter(book: Book) -> Chapter:
    book.chapter("one", cell("1"))
    (loaded,) = chapters(book.root)
    as_if_it_ran(loaded, notebook())
    return loaded


def edit(path: Path, change: Change) -> None:
    nb = json.loads(path.read_text())
    change(nb)
    path.write_text(json.dumps(nb))


def test_what_was_not_changed_is_read(chapter: Chapter) -> None:
    edit(chapter.executed, lambda nb: None)
    assert seal.read(chapter.executed).cells[0].outputs[0].text == "sum is 5"
    assert run_metadata(chapter)["device"] == "CPU"


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_breaks_the_seal(chapter: Chapter, change: Change) -> None:
    edit(chapter.executed, change)
    with pytest.raises(SealError, match="changed since papermill wrote it"):
        seal.read(chapter.executed)
    assert run_metadata(chapter) == {}, "and the chapter runs again"


def test_a_link_to_another_notebook_is_no_seal(chapter: Chapter, tmp_path: Path) -> None:
    other = tmp_path / "other.ipynb"
    chapter.executed.rename(other)
    edit(other, CHANGES["a printed text"])
    chapter.executed.symlink_to(other)
    with pytest.raises(SealError):
        seal.read(chapter.executed)


def test_a_page_without_its_seal_shows_nothing_and_fails_the_build(book: Book) -> None:
    for name, change in (("good", None), ("bad", CHANGES["a printed text"]), ("stale", None)):
        book.chapter(name, cell("0"))
        chapter = Chapter(book.root, f"book/{name}")
        done = nbformat.v4.new_notebook(cells=[nbformat.from_dict(code) for code in chapter.code_cells])
        done.cells[1].outputs = [nbformat.v4.new_output("stream", text="sum is 5")]
        as_if_it_ran(chapter, done, **({"observed": {"package torch": "1.0"}} if name == "stale" else {}))
        if change:
            edit(chapter.executed, lambda nb: nb["cells"][1]["outputs"][0].update(text="99999"))
    for _ in range(2):  # the second time as the first
        printed = book.printed()
        assert printed.returncode
        message = printed.stdout + printed.stderr
        assert "bad.md:1: WARNING: bad.ipynb was changed since papermill wrote it; its outputs are left out" in message
        assert "stale.md:1: WARNING: package torch changed since it ran: run the chapter again" in message
        assert "good.md" not in message
    assert not (book.root / "_build" / "html").exists()


def test_while_serving_it_is_said_once_and_a_run_is_seen(book: Book, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "two"):
        book.chapter(name, cell("0"))
    one = Chapter(book.root, "book/one")
    as_if_it_ran(one, one.notebook, observed={"package torch": "1.0"})
    build = WarmBuilder(Work(book.root), "")

    def said() -> set[str]:
        build([])
        err = capsys.readouterr().err
        return {name for name in ("one", "two") if f"{name}.md:1: WARNING" in err}

    assert said() == {"one", "two"}
    assert said() == set(), "nothing changed"
    two = Chapter(book.root, "book/two")
    as_if_it_ran(two, two.notebook, observed={"package torch": "1.0"})
    assert said() == {"two"}
