"""The GPU lane, rehearsed on the CPU: what is recorded, what no longer holds, and what a page then shows."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest
from bs4 import BeautifulSoup
from rich.console import Console
from typer.testing import CliRunner

from torchbook import runtime
from torchbook.cli import app
from torchbook_press import record, recordings, seal
from torchbook_press import run as press
from torchbook_press.chapters import Chapter, chapters
from torchbook_press.execute import Failure
from torchbook_press.normal import WIDGET_STATE, WIDGET_VIEW
from torchbook_press.recordings import MARK, Recording, RecordingError, findings
from torchbook_press.run import RUN, Options, Report, RunError
from torchbook_press.site import launch
from torchbook_press.site.reader import merge

from .conftest import Book, as_if_it_ran, cell

NAME = "Fake GPU 1"
REHEARSAL = Options("rehearsal")


def notebook(chapter: Chapter, outputs: dict[int, list[Any]], **run: Any) -> nbformat.NotebookNode:
    """What papermill would have made of a chapter; outputs by code cell."""
    cells = [
        nbformat.v4.new_code_cell(code_cell.source, metadata=code_cell.metadata, outputs=outputs.get(number, []))
        for number, code_cell in enumerate(chapter.code_cells)
    ]
    cells.insert(1, nbformat.v4.new_code_cell("DEVICE = 'cpu'", metadata={"tags": ["injected-parameters"]}))
    nb = nbformat.v4.new_notebook(cells=cells)
    facts = {"key": "k", "date": "2026-01-02", "seconds": 1.0, "parameters": {"SEED": 0, "FAST": False}, "data": {}}
    nb.metadata[RUN] = {**facts, "lane": "rehearsal", **run}
    return nb


def text(printed: str) -> list[Any]:
    return [nbformat.v4.new_output("stream", text=printed)]


def glued(name: str, value: float, agree: float) -> list[Any]:
    scrapbook = {"name": name, "text": str(value), "value": value, "agree": agree}
    return [nbformat.v4.new_output("display_data", data={}, metadata={"scrapbook": scrapbook})]


@pytest.fixture
def chapter(book: Book) -> Chapter:
    """Plain cell 2, device cell 3, gpu-only cell 4."""
    book.chapter("one", cell("1"), cell("2", "device"), cell("3", "gpu-only"))
    (loaded,) = chapters(book.root)
    return loaded


def keep(chapter: Chapter, outputs: dict[int, list[Any]], **run: Any) -> Recording:
    """A recording of the chapter as it is now."""
    path = chapter.root / "recordings" / record.slug(NAME) / f"{chapter.contract.id}.ipynb"
    seal.write(path, record.distil(chapter, notebook(chapter, outputs, **run), NAME))
    return Recording(path)


def changed(chapter: Chapter, before: str, after: str) -> Chapter:
    chapter.path.write_text(chapter.path.read_text().replace(before, after))
    return replace(chapter)


def finding_texts(chapter: Chapter) -> list[str]:
    return [str(finding) for finding in findings(chapter.root / "recordings", [chapter], [chapter])]


# What is kept of a run.


def test_only_cells_that_depend_on_the_device_are_kept(chapter: Chapter) -> None:
    nb = record.distil(chapter, notebook(chapter, {1: text("a"), 2: text("b"), 3: text("c")}), NAME)
    assert [(code_cell.source, code_cell.outputs[0].text) for code_cell in nb.cells] == [("2", "b"), ("3", "c")]


def test_warnings_that_the_page_does_not_expect_are_left_out_and_told(chapter: Chapter) -> None:
    nb = notebook(chapter, {2: [nbformat.v4.new_output("stream", name="stderr", text="UserWarning: slow\nat x\n")]})
    assert record.distil(chapter, nb, NAME).cells[0].outputs == []
    assert record.silenced(nb) == ["left out of the recording: UserWarning: slow"]


def test_a_widget_comes_with_its_state_under_ids_of_its_own(chapter: Chapter) -> None:
    view = nbformat.v4.new_output("display_data", data={WIDGET_VIEW: {"model_id": "model000"}})
    nb = notebook(chapter, {2: [view]})
    states = {"model000": {"child": "IPY_MODEL_model001"}, "model001": {}, "model002": {}}
    nb.metadata["widgets"] = {WIDGET_STATE: {"state": {name: {"state": state} for name, state in states.items()}}}
    made = record.distil(chapter, nb, NAME)
    (state,) = made.metadata["widgets"].values()
    assert state["state"] == {
        "fake-gpu-1-model000": {"state": {"child": "IPY_MODEL_fake-gpu-1-model001"}},
        "fake-gpu-1-model001": {"state": {}},
    }
    assert made.cells[0].outputs[0].data[WIDGET_VIEW]["model_id"] == "fake-gpu-1-model000"


@pytest.mark.parametrize(
    ("limit", "complaint"),
    [("LARGEST_FILE", "more than the 0.0001 of one; the heaviest is cell 2"), ("LARGEST_FOLDER", "of all recordings")],
)
def test_what_is_too_large_is_refused_with_the_heaviest_cell(
    chapter: Chapter, monkeypatch: pytest.MonkeyPatch, limit: str, complaint: str
) -> None:
    monkeypatch.setattr(record, limit, 100)
    nb = record.distil(chapter, notebook(chapter, {2: text("b" * 200)}), NAME)
    path = chapter.root / "recordings/x/one.ipynb"
    with pytest.raises(RecordingError, match=re.escape(complaint)):
        record.check_size(path.parents[1], path, nbformat.writes(nb), nb)


def test_a_lane_needs_a_gpu_or_a_rehearsal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "gpu", dict)
    assert record.device("rehearsal") == "CPU rehearsal"
    with pytest.raises(RunError, match="no CUDA device"):
        record.device("gpu")


# What runs, and how many at once.

Ran = Callable[[list[Chapter], Options, Console], Report]


def runner(monkeypatch: pytest.MonkeyPatch, seen: list[tuple[list[str], int]], failing: str = "") -> None:
    """In place of papermill: every chapter gives one output, but the failing one."""

    def run(some: list[Chapter], options: Options, console: Console) -> Report:
        seen.append(([chapter.contract.id for chapter in some], options.jobs))
        report = Report()
        for chapter in some:
            if chapter.contract.id == failing:
                report.failed.append(Failure(chapter.docname, 20, 2, "no"))
                continue
            known = record.declared(chapter, options.parameters, options.lane)
            seal.write(chapter.executed, notebook(chapter, {2: text("new")}, declared=known, observed={}))
            report.ran[chapter.docname] = 1.0
        return report

    monkeypatch.setattr(press, "run", run)


def make(book: Book, options: Options = REHEARSAL) -> record.Recorded:
    return record.record(chapters(book.root), options, book.root / "recordings", NAME, Console(quiet=True))


def test_one_gpu_runs_few_at_once_and_those_that_measure_alone(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    book.chapter("plain", cell("1"))
    book.chapter("measuring", cell("1"), cell("2", "device", "varies"))
    seen: list[tuple[list[str], int]] = []
    runner(monkeypatch, seen)
    make(book, replace(REHEARSAL, jobs=8))
    assert seen == [(["plain"], 2), (["measuring"], 1)]


def test_what_is_up_to_date_is_not_recorded_again(
    chapter: Chapter, book: Book, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner(monkeypatch, [])
    assert list(make(book).written) == ["book/one"]
    assert make(book).kept == ["book/one"]
    assert list(make(book, replace(REHEARSAL, force=True)).written) == ["book/one"]


def test_a_failing_chapter_keeps_its_former_recording(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("good", "bad"):
        book.chapter(name, cell("1"), cell("2", "device"))
    former = keep(chapters(book.root, ("bad",))[0], {2: text("former")}).path.read_text()
    runner(monkeypatch, [], failing="bad")
    report = make(book)
    assert (report.problems, list(report.written)) == (["book/bad.md:20: cell 2: no"], ["book/good"])
    assert (book.root / "recordings/fake-gpu-1/bad.ipynb").read_text() == former


def test_the_kernels_are_checked_where_a_chapter_names_them(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    book.chapter("p06", cell("from torchbook import kernels"), cell("2", "device"))
    runner(monkeypatch, [])
    commands = []

    def bench(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        if "--json" in command:  # not git, which is asked for the commit
            commands.append(command)
            Path(command[-1]).write_text('{"checked": [], "measured": []}')
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(record.subprocess, "run", bench)
    make(book)
    assert commands[0][1:4] == ["-m", "torchbook.kernels.bench", "add"]
    assert recordings.kernels_table(book.root / "recordings/fake-gpu-1")["digest"] == recordings.kernels_digest()


# What no longer holds.


def test_nothing_recorded_is_said(chapter: Chapter) -> None:
    assert finding_texts(chapter) == [
        "recordings/: nothing was recorded on a GPU yet: `torchbook record`, on a machine that has one"
    ]


def test_a_fresh_recording_has_nothing_to_mend(chapter: Chapter) -> None:
    keep(chapter, {})
    assert finding_texts(chapter) == []


def test_a_changed_cell_is_named(chapter: Chapter) -> None:
    keep(chapter, {})
    stale = changed(chapter, "\n3\n", "\n4\n")
    assert finding_texts(stale) == [
        "book/one.md:34: cell 4: stale: the recording on Fake GPU 1 of 2026-01-02 is of other code"
    ]


def test_changed_code_above_is_named_once(chapter: Chapter) -> None:
    keep(chapter, {})
    (finding,) = finding_texts(changed(chapter, "\n1\n", "\n0\n"))
    assert finding.startswith("book/one.md:27: cell 3: code above it has changed since")


def test_a_cell_that_moved_is_still_its_recording_s(chapter: Chapter) -> None:
    recording = keep(chapter, {2: text("b")})
    sources = ["a new one", *chapter.code]
    assert recording.match(sources, [3])[3].outputs[0].text == "b"


def test_missing_and_orphaned_recordings_are_named(book: Book, chapter: Chapter) -> None:
    keep(chapter, {}).path.rename(book.root / "recordings/fake-gpu-1/gone.ipynb")
    assert finding_texts(chapter) == [
        "book/one.md:1: not recorded in recordings/fake-gpu-1",
        "recordings/fake-gpu-1/gone.ipynb:1: belongs to no chapter; delete it",
    ]


@pytest.mark.parametrize("content", ["", "{}", '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'])
def test_a_broken_recording_is_named(chapter: Chapter, content: str) -> None:
    keep(chapter, {}).path.write_text(content)
    (finding,) = finding_texts(chapter)
    assert re.fullmatch(r"recordings/fake-gpu-1/one\.ipynb:1: cannot be read \(.*\); delete it, .*", finding, re.DOTALL)


FORGED: dict[str, Callable[[dict[str, Any]], object]] = {
    "an output": lambda nb: nb["cells"][0]["outputs"][0].update(text="1000x faster"),
    "the lane": lambda nb: nb["metadata"][RUN].update(lane="gpu"),
    "the sizes": lambda nb: nb["metadata"][RUN]["parameters"].update(FAST=True),
    "the versions": lambda nb: nb["metadata"][RUN].update(versions={"torch": "1.0.0"}),
    "the key": lambda nb: nb["metadata"][RUN].update(key="0" * 64),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_a_forged_recording_is_named_and_not_shown(chapter: Chapter, forge: Callable[[dict[str, Any]], object]) -> None:
    path = keep(chapter, {2: text("b")}).path
    nb = json.loads(path.read_text())
    forge(nb)
    path.write_text(json.dumps(nb))
    (finding,) = finding_texts(chapter)
    assert finding.startswith("recordings/fake-gpu-1/one.ipynb:1: cannot be read (changed since papermill wrote it)")
    assert recordings.readable([Recording(path)]) == []


def test_a_forged_recording_fails_the_build(chapter: Chapter, book: Book) -> None:
    as_if_it_ran(chapter, notebook(chapter, {2: text("on CPU")}))
    path = keep(chapter, {2: text("there")}).path
    nb = json.loads(path.read_text())
    FORGED["an output"](nb)
    path.write_text(json.dumps(nb))
    printed = book.printed()
    complaint = "one.md:1: WARNING: recordings/fake-gpu-1/one.ipynb:1: cannot be read (changed since"
    assert (printed.returncode, complaint in printed.stdout + printed.stderr) == (1, True)
    assert not (book.root / "_build/html").exists()


def test_changed_kernels_make_their_table_stale(chapter: Chapter) -> None:
    path = keep(chapter, {}).path.with_name("kernels.json")
    path.write_text(json.dumps({"digest": "old"}))
    assert finding_texts(chapter) == ["recordings/fake-gpu-1/kernels.json:1: stale: the kernels have changed since"]


def test_oversize_is_named(chapter: Chapter, monkeypatch: pytest.MonkeyPatch) -> None:
    keep(chapter, {})
    monkeypatch.setattr(recordings, "LARGEST_FOLDER", 100)
    (finding,) = finding_texts(chapter)
    assert "more than 0.0001" in finding


@pytest.mark.parametrize(
    ("recorded", "run", "verdict"),
    [
        (0.501, {}, []),
        (0.52, {}, ["loss differs: 0.5 on the CPU, 0.52 on Fake GPU 1, more than 0.01 apart; find out why"]),
        (0.52, {"parameters": {"SEED": 1, "FAST": False}}, []),
        (0.52, {"data": {"d": {"fingerprint": "other"}}}, []),
    ],
    ids=["within", "apart", "other seed", "other data"],
)
def test_lanes_must_agree_on_marked_numbers(
    chapter: Chapter, recorded: float, run: dict[str, Any], verdict: list[str]
) -> None:
    keep(chapter, {1: glued("loss", recorded, 0.01)}, **run)
    seal.write(chapter.executed, notebook(chapter, {1: glued("loss", 0.5, 0.01)}))
    assert finding_texts(chapter) == [f"book/one.md:1: {message}" for message in verdict]


# What the page is given.


def page_of(chapter: Chapter, recorded: list[Recording]) -> list[list[str]]:
    """For each code cell, the texts of its outputs, marks included."""
    done = notebook(chapter, {1: text("plain"), 2: text("on CPU")})
    page = nbformat.v4.new_notebook(cells=chapter.code_cells)
    complaints: list[Any] = []
    nb = merge(page, done, lambda *complaint: complaints.append(complaint), recorded)
    assert complaints == []
    return [[output.get("text") or output.data["text/html"] for output in code.outputs] for code in nb.cells]


CPU = '<!--lane ["cpu", "CPU (this build)"]-->'
FAKE = '<!--lane ["fake-gpu-1", "Fake GPU 1 (rehearsed on a CPU 2026-01-02)"]-->'
END = "<!--lane []-->"


def test_without_a_recording_a_device_cell_is_as_it_was(chapter: Chapter) -> None:
    assert page_of(chapter, [])[2] == ["on CPU"]


def test_without_a_recording_a_gpu_only_cell_says_so(chapter: Chapter) -> None:
    (notice,) = page_of(chapter, [])[3]
    assert "nothing was recorded on one yet" in notice


def test_recorded_outputs_stand_beside_the_cpu_s(chapter: Chapter) -> None:
    recording = keep(chapter, {2: text("there"), 3: text("only there")})
    assert page_of(chapter, [recording])[1:] == [
        ["plain"],
        [CPU, "on CPU", FAKE, "there", END],
        [FAKE, "only there", END],
    ]


def test_the_tab_of_a_real_gpu_says_recorded(chapter: Chapter) -> None:
    recording = keep(chapter, {2: text("there")}, lane="gpu")
    assert "Fake GPU 1 (recorded 2026-01-02)" in page_of(chapter, [recording])[2][2]


def test_a_stale_cell_drops_the_recorded_output_and_says_so(chapter: Chapter) -> None:
    recording = keep(chapter, {2: text("there")})
    shown, notice = page_of(changed(chapter, "\n2\n", "\n5\n"), [recording])[2]
    assert shown == "on CPU"
    assert "is stale: the code of this cell has changed since" in notice


def test_changed_code_above_drops_the_recorded_outputs_and_is_said(chapter: Chapter) -> None:
    recording = keep(chapter, {2: text("there"), 3: text("only there")})
    (shown, notice), (other, needs) = page_of(changed(chapter, "\n1\n", "\n0\n"), [recording])[2:]
    assert shown == "on CPU"
    assert "Fake GPU 1 of 2026-01-02 is stale: code above this cell has changed since" in notice
    assert other == notice
    assert "it did not run in this build" in needs


def test_a_launched_notebook_goes_on_where_a_gpu_only_cell_raises() -> None:
    assert launch._metadata(["gpu-only"])["tags"] == ["gpu-only", "raises-exception"]


# The repository's own.


def test_committed_recordings_come_from_gpus_and_are_small(repo: Path) -> None:
    paths = (repo / "recordings").rglob("*.ipynb")
    assert [path.name for path in paths if Recording(path).run["lane"] != "gpu"] == []
    assert [str(finding) for finding in recordings.oversize(repo / "recordings")] == []


# End to end.


def test_a_changed_gpu_only_cell_is_said_by_page_and_check_and_the_build_passes(book: Book) -> None:
    book.page("runs", "# Runs\n\n```{provenance}\n```\n\n```{recordings}\n```\n")
    glue = "from torchbook import glue\nglue('loss', 0.5, agree=0.01)"
    path = book.chapter("one", cell(glue), cell("'here'", "device"), cell("'only ' + 'there'", "gpu-only"))
    done = book.torchbook("record", "--lane", "rehearsal", "--name", NAME)
    assert done.exit_code == 0, done.output
    recording = Recording(book.root / "recordings/fake-gpu-1/one.ipynb")
    assert {"commit", "date", "peak_device_gb", "peak_gb", "seconds", "versions"} <= recording.run.keys()
    assert recording.notebook.metadata[MARK]["agree"]["loss"]["value"] == 0.5

    path.write_text(path.read_text().replace("'only '", "'now only '"))
    done = book.torchbook("book")
    assert done.exit_code == 0, done.output
    assert "note book/one.md:35: cell 4: stale: the recording on Fake GPU 1" in done.stderr
    page = BeautifulSoup(book.html("one"), "html.parser")
    assert "is stale: the code of this cell has changed since" in page.select(".cell_output")[-1].get_text()
    assert "only there" not in page.get_text()
    assert [lane["data-lane"] for lane in page.select(".lanes > .lane")] == ["cpu", "fake-gpu-1"]
    assert "What was recorded on Fake GPU 1 comes from another" in page.select_one(".provenance").get_text()
    runs = BeautifulSoup(book.html("runs"), "html.parser").get_text(" ")
    for phrase in ("rehearsal on a CPU, no GPU", "1 of 1", "agree"):
        assert phrase in runs

    done = book.torchbook("record", "--check", "--strict")
    assert (done.exit_code, "cell 4: stale" in done.stderr) == (1, True)


@pytest.mark.parametrize(("options", "status"), [((), 0), (("--strict",), 1)], ids=["", "strict"])
def test_only_strict_makes_notes_an_error(chapter: Chapter, options: tuple[str, ...], status: int) -> None:
    done = CliRunner().invoke(app, ["record", "--check", *options, "--root", str(chapter.root)])
    assert (done.exit_code, "nothing was recorded on a GPU yet" in done.output) == (status, True)
