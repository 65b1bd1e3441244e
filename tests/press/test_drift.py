"""Drift: other versions in an environment of their own, deprecations as failures, skips that end, one table."""

from __future__ import annotations

import datetime
import io
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
import pytest
from rich.console import Console
from typer.testing import CliRunner

from torchbook.cli import app
from torchbook_press import seal
from torchbook_press.chapters import chapters
from torchbook_press.ship import comparison, drift, environment, inside, skips
from torchbook_press.ship.drift import How, Wanted
from torchbook_press.ship.environment import Environment, ShipError
from torchbook_press.ship.skips import Skip

from .conftest import Book, cell

HERE = Environment(Path(sys.prefix))  # no test installs anything: the chapters run in the environment of the tests
FUTURE, PAST = datetime.date(2999, 1, 1), datetime.date(2001, 1, 1)


def in_environment(book: Book, *entries: Skip, unfit: Mapping[str, str] | None = None) -> dict[str, Any]:
    return drift.in_environment(book.root, chapters(book.root), HERE, Wanted(), How(jobs=1), entries, unfit)


def skip(expires: datetime.date, **versions: str) -> Skip:
    return Skip("one", versions or {"python": ">=3"}, "its library has no release yet", expires, 4)


# The run.


WARN = "import warnings\nwarnings.warn({0!r}, {1}, stacklevel=1)"
ON_PURPOSE = """\
import warnings
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    warnings.warn("on purpose", DeprecationWarning)"""


def test_deprecations_in_cells_are_failures_with_line_and_cell(book: Book) -> None:
    book.chapter("new", cell(WARN.format("quietly", "UserWarning")), cell(ON_PURPOSE))
    book.chapter("old", cell("1"), cell(WARN.format("use the other", "FutureWarning")), cell("1 / 0"))
    report = in_environment(book)
    new, old = report["chapters"]
    assert new["status"] == comparison.PASSED
    assert comparison.place(old) == "book/old.md:29: cell 3: FutureWarning: use the other"
    (kept,) = (book.root / "executed" / "_drift").iterdir()
    assert (kept / "book" / "new.ipynb").is_file()
    assert (report["error"], re.match(r"torch \S+, Python 3\.\d+$", report["label"]) is not None) == ("", True)


def test_a_press_that_does_not_start_is_said(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    book.chapter("one", cell("1"))
    monkeypatch.setattr(Environment, "python", property(lambda self: "false"))
    assert in_environment(book)["error"] == "the press does not run there: no word"


OURS = "torchbook/llm/model.py:12: FutureWarning: use the other"


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (nbformat.v4.new_output("stream", name="stderr", text=f"site-packages/{OURS}\n  old()\n"), OURS),
        (nbformat.v4.new_output("error", ename="FutureWarning", evalue="gone"), "FutureWarning: gone"),
        (nbformat.v4.new_output("stream", name="stderr", text="elsewhere.py:1: FutureWarning: theirs\n"), ""),
        (nbformat.v4.new_output("error", ename="ValueError", evalue="expected"), ""),
    ],
    ids=["in the book's package", "in a cell that may raise", "in a library", "another error"],
)
def test_deprecations_that_end_no_run_count(book: Book, output: Any, message: str) -> None:
    book.chapter("one", cell("1"))
    (chapter,) = chapters(book.root)
    done = nbformat.v4.new_notebook(cells=chapter.code_cells)
    done.cells[1].outputs = [output]
    seal.write(chapter.executed, done)
    failure = inside.deprecated(chapter)
    assert str(failure or "") == (f"book/one.md:22: cell 2: {message}" if message else "")


def test_what_lacks_a_package_is_not_run(book: Book) -> None:
    path = book.chapter("one", cell("1 / 0"))
    path.write_text(path.read_text().replace("  minutes:", "  packages: [gymnasium]\n  minutes:"))
    (row,) = in_environment(book, unfit={"gymnasium": "no wheel"})["chapters"]
    assert row == {"chapter": "one", "status": "lacking", "note": "no gymnasium for torch newest, Python 3.12"}


# Skips.


def test_a_skip_leaves_out_until_its_day(book: Book) -> None:
    book.chapter("one", cell("1 / 0"))
    (row,) = in_environment(book, skip(FUTURE))["chapters"]
    assert (row["status"], row["note"]) == ("skipped", "its library has no release yet (until 2999-01-01)")


@pytest.mark.parametrize(
    ("row", "end"),
    [
        ({"chapter": "one", "status": "passed"}, "it passes now: take the entry out"),
        (
            {"chapter": "one", "status": "failed", "file": "a.md", "line": 2, "cell": 3, "error": "E"},
            "a.md:2: cell 3: E",
        ),
        (None, "it was not run"),
    ],
    ids=["passes", "fails", "lacking"],
)
def test_an_expired_skip_is_a_failure_that_says_so(row: dict[str, Any] | None, end: str) -> None:
    failure = drift._expired("one", skip(PAST), row)
    assert (failure["status"], failure["file"], failure["line"]) == ("failed", "_drift.yml", 4)
    assert failure["error"].startswith("the skip of one expired on 2001-01-01 (its library has no release yet): ")
    assert failure["error"].endswith(end)


@pytest.mark.parametrize(
    ("versions", "fits"),
    [
        ({"torch": ">=2.16.dev0"}, True),
        ({"torch": ">=2.16.dev0", "python": ">=3.14"}, False),
        ({"torch": "<2.16"}, False),
        ({"executorch": ">=1"}, False),
    ],
    ids=str,
)
def test_a_skip_is_for_certain_versions(versions: dict[str, str], fits: bool) -> None:
    assert skip(FUTURE, **versions).fits({"torch": "2.16.0.dev20261101", "python": "3.12"}) is fits


SKIP = "- chapter: one\n  versions: {torch: '>=2.16'}\n  reason: no release for it yet\n  expires: 2027-01-31\n"


def test_skips_are_read_with_their_lines(tmp_path: Path) -> None:
    (tmp_path / skips.FILE).write_text(f"# a list\n{SKIP}{SKIP}")
    entries = skips.load(tmp_path, ["one"])
    assert [(entry.line, entry.expires) for entry in entries] == [
        (2, datetime.date(2027, 1, 31)),
        (6, datetime.date(2027, 1, 31)),
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a: 1", "_drift.yml:1: write a list of entries"),
        ("- {", "_drift.yml:1: not YAML"),
        (SKIP.replace("one", "two"), "_drift.yml:1: no chapter two; there are: one"),
        (f"{SKIP}{SKIP.replace('>=', 'new')}", "_drift.yml:5: versions.torch: .*write for instance"),
        (SKIP.replace("  expires: 2027-01-31\n", ""), "_drift.yml:1: expires: Field required"),
        (SKIP.replace("no release for it yet", "broken"), "_drift.yml:1: reason: String should have at least 10"),
    ],
    ids=["no list", "no YAML", "no such chapter", "no specifier", "no end", "no reason"],
)
def test_malformed_skips_name_file_line_and_remedy(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / skips.FILE).write_text(text)
    with pytest.raises(ShipError, match=complaint):
        skips.load(tmp_path, ["one"])


def test_the_book_s_own_skips_can_be_read(repo: Path) -> None:
    skips.load(repo, [chapter.contract.id for chapter in chapters(repo)])


# The environment.


class Uv:
    """In place of uv: what it was asked, and an error wherever a package is named that cannot be had."""

    def __init__(self, without: str) -> None:
        self.without, self.asked = without, list[tuple[str, ...]]()

    def __call__(self, *arguments: str, stdin: str = "") -> str:
        self.asked.append(arguments)
        if any(argument.startswith(f"{self.without}>") for argument in arguments if self.without):
            raise ShipError(f"uv: no wheel of {self.without}")
        return ""

    def of(self, command: str) -> list[tuple[str, ...]]:
        return [arguments for arguments in self.asked if arguments[:2] == ("pip", command)]


def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: Wanted, without: str = "") -> tuple[Uv, Any]:
    fake = Uv(without)
    monkeypatch.setattr(environment, "uv", fake)
    monkeypatch.setattr(drift, "uv", fake)
    monkeypatch.setattr(drift, "requirements", lambda path: (["numpy>=1"], ["torch>=2", "executorch>=1"]))
    tmp_path.mkdir(exist_ok=True)
    return fake, drift.build(tmp_path, wanted)[1]


def test_the_torch_that_was_asked_for_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uv, unfit = built(tmp_path, monkeypatch, Wanted("2.11", python="3.13"))
    assert uv.asked[0][-3:] == ("--python", "3.13", str(tmp_path))
    assert {"torch==2.11.*", "numpy>=1", "executorch>=1"} <= set(uv.of("install")[0])
    assert "--editable" in uv.of("install")[1]
    assert unfit == {}


def test_a_package_without_a_wheel_is_left_out_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        drift, "_unfit", lambda requirement, wanted, options: "no wheel" if "executorch" in requirement else ""
    )
    uv, unfit = built(tmp_path, monkeypatch, Wanted(python="3.14"), without="executorch")
    assert unfit == {"executorch": "no wheel"}
    assert "executorch>=1" not in uv.of("install")[1]


def test_without_torch_there_is_no_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        drift, "_unfit", lambda requirement, wanted, options: "no wheel" if "torch>" in requirement else ""
    )
    with pytest.raises(ShipError, match="no wheel of torch"):
        built(tmp_path, monkeypatch, Wanted(python="3.14"), without="torch")


def test_a_nightly_build_goes_over_what_was_resolved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uv, _ = built(tmp_path, monkeypatch, Wanted(nightly="https://example.org/nightly"))
    assert "https://example.org/nightly" in uv.of("install")[1]
    assert "allow" not in uv.of("install")[0]


def test_only_jupyter_may_be_newer_than_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built(tmp_path, monkeypatch, Wanted(jupyter_only=True))
    names = {line.partition("==")[0] for line in (tmp_path / "requirements.txt").read_text().splitlines()}
    assert {"torch", "numpy"} <= names
    assert names.isdisjoint(drift.JUPYTER)


def test_jupyter_s_packages_are_named_as_in_the_lock(repo: Path) -> None:
    locked = {line.partition("==")[0] for line in (repo / "requirements.txt").read_text().splitlines()}
    assert [name for name in drift.JUPYTER if name not in locked] == []


def test_an_environment_that_cannot_be_made_is_a_column_of_its_own(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(folder: Path, wanted: Wanted) -> Any:
        raise ShipError("uv pip install: no solution")

    monkeypatch.setattr(drift, "build", broken)
    book.chapter("one", cell("1"))
    report = drift.drift(book.root, chapters(book.root), Wanted(), How(), Console(file=io.StringIO()))
    assert comparison.failed([report])
    assert "no environment: uv pip install: no solution" in comparison.table([report])
    assert json.loads((book.root / "_build/drift" / Wanted().slug / "drift.json").read_text()) == report


@pytest.mark.parametrize(
    ("options", "complaint"),
    [(("two",), "a version, for instance 2.11"), (("2.11", "https://x"), "only one of --torch")],
    ids=["no version", "both"],
)
def test_what_cannot_be_wanted_is_refused(options: tuple[str, ...], complaint: str) -> None:
    with pytest.raises(ShipError, match=complaint):
        Wanted(*options)


# The table.

COLUMNS = [
    {
        "label": "torch 2.15.0, Python 3.12",
        "date": "2026-11-21",
        "chapters": [
            {"chapter": "p01", "status": "passed", "seconds": 31.2, "peak_gb": 0.951},
            {"chapter": "p02", "status": "failed", "file": "b.md", "line": 3, "cell": 4, "error": "E: a|b <c>"},
        ],
    },
    {
        "label": "torch 2.16.0, Python 3.14",
        "error": "no word",
        "chapters": [{"chapter": "p02", "status": "lacking", "note": "no executorch"}],
    },
]
TABLE = """\
| chapter | torch 2.15.0, Python 3.12 | torch 2.16.0, Python 3.14 |
| --- | --- | --- |
| p01 | 31 s, 0.95 GB |  |
| p02 | **fails**: b.md:3: cell 4: E: a\\|b &lt;c> | not run: no executorch |

**torch 2.15.0, Python 3.12**: 2026-11-21

**torch 2.16.0, Python 3.14**: no word
"""


def test_columns_stand_side_by_side_with_plain_python(tmp_path: Path, repo: Path) -> None:
    paths = [tmp_path / f"{number}.json" for number in range(2)]
    for path, column in zip(paths, reversed(COLUMNS), strict=True):
        path.write_text(json.dumps(column))
    command = [sys.executable, "-I", str(repo / "torchbook_press/ship/comparison.py"), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (1, TABLE, "")


def test_a_chapter_that_is_not_there_is_named(book: Book) -> None:
    done = CliRunner().invoke(app, ["drift", "nothing", "--root", str(book.root)])
    assert (done.exit_code, "no chapter nothing" in done.output) == (2, True)
