"""`torchbook course new` and `link` as one types them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from torchbook import findings
from torchbook.cli import app
from torchbook_course import sandbox
from torchbook_course.assignment import Assignment

DUE = "2099-12-05T23:59+01:00"


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["course", *words])


@pytest.mark.parametrize(
    "ids",
    [
        ("--exercises", "p01-x3", "--exercises", "s04-x1"),
        ("--exercises", "p01-x3,s04-x1"),
        ("--exercises", "p01-x3", "s04-x1"),
        ("p01-x3", "s04-x1"),
    ],
)
def test_exercises_can_be_named_in_several_ways(tmp_path: Path, ids: tuple[str, ...]) -> None:
    out = tmp_path / "course"
    done = run("new", "--title", "Homework 1", "--seed", "7", "--due", DUE, *ids, "--out", str(out))
    assert done.exit_code == 0, done.output
    made = Assignment.load(out / "assignments" / "homework-1.yml")
    assert [item.id for item in made.exercises] == ["p01-x3", "s04-x1"]
    assert (made.title, made.seed, str(made.due)) == ("Homework 1", 7, "2099-12-05 23:59:00+01:00")


def test_a_file_says_it_all(tmp_path: Path) -> None:
    file = tmp_path / "hw1.yml"
    file.write_text("title: Homework 1\nseed: 7\nlate: {per_day: 0.1}\nexercises: [s04-x1]\n")
    done = run("new", str(file), "--out", str(tmp_path / "course"))
    assert done.exit_code == 0, done.output
    assert "s04-x1 (base); seed 7" in done.output
    assert "dist/hw1-student.zip" in done.output
    assert Assignment.load(tmp_path / "course" / "assignments" / "hw1.yml").late.per_day == 0.1


def test_what_is_late_already_is_said(tmp_path: Path) -> None:
    words = ("--title", "A", "--seed", "7", "--due", "2020-01-01T00:00Z", "--out", str(tmp_path / "course"))
    assert "every submission is late" in run("new", "s04-x1", *words).output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("p01-x33", "--title", "A", "--seed", "1"), "did you mean p01-x3"),
        (("p01-x3", "--title", "A"), "missing: --seed"),
        (("p01-x3", "--title", "A", "--seed", "-1"), "--seed: Input should be greater than or equal to 0; write"),
        (("p01-x3", "--title", "A", "--seed", "1", "--due", "tomorrow"), "2026-12-05T23:59+01:00"),
        (("p01-x3", "p01-x3", "--title", "A", "--seed", "1"), "p01-x3 is there twice"),
        (("hw9.yml",), "hw9.yml:1: no such file"),
        (("hw9.yml", "--seed", "1"), "leave out --seed"),
        (("a.yml", "b.yml"), "one assignment at a time"),
    ],
)
def test_errors_are_one_line_and_make_nothing(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    done = run("new", *words, "--out", str(tmp_path / "course"))
    assert done.exit_code == 2
    assert message in " ".join(done.output.replace("│", " ").split())
    assert "Traceback" not in done.output
    assert list(tmp_path.iterdir()) == []


def test_an_assignment_is_not_replaced_unasked(tmp_path: Path) -> None:
    words = ("--title", "A", "--out", str(tmp_path / "course"))
    assert run("new", "s04-x1", "--seed", "1", *words).exit_code == 0
    refused = run("new", "s04-x1", "--seed", "2", *words)
    assert refused.exit_code == 2
    assert "--force" in refused.output
    assert run("new", "s04-x1", "--seed", "2", "--force", *words).exit_code == 0


def test_a_link_is_printed_alone() -> None:
    words = ("--hub", "https://hub.example.org", "--repo", "https://git.example.org/a/b", "--path", "hw1.ipynb")
    done = run("link", *words)
    assert done.exit_code == 0
    assert done.output.splitlines() == [
        "https://hub.example.org/hub/user-redirect/git-pull?repo=https%3A%2F%2Fgit.example.org%2Fa%2Fb"
        "&branch=main&urlpath=lab%2Ftree%2Fb%2Fhw1.ipynb"
    ]


def test_a_link_without_its_protocol_is_refused() -> None:
    done = run("link", "--hub", "hub.example.org", "--repo", "https://git.example.org/a/b", "--path", "hw1.ipynb")
    assert done.exit_code == 2
    assert "https://" in done.output


def test_without_the_extra_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    there = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name == "nbgrader" else there(name, *a))
    done = run("new", "s04-x1", "--title", "A", "--seed", "1")
    assert done.exit_code == 2
    assert "nbgrader missing here" in done.output
    assert "make setup" in done.output


def test_the_command_line_alone_imports_nothing_of_the_extra() -> None:
    import subprocess

    code = "import sys, torchbook.cli; print([m for m in ('nbgrader', 'jinja2', 'nbformat') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("why_not", "found"),
    [
        (None, ("ok", "")),
        ("bubblewrap is not installed", ("note", "only grading needs it: bubblewrap is not installed")),
    ],
)
def test_the_doctor_looks_at_the_box_for_grading(
    monkeypatch: pytest.MonkeyPatch, why_not: str | None, found: tuple[str, str]
) -> None:
    monkeypatch.setattr(sandbox, "available", lambda: why_not)
    rows = {row.what: (row.state, row.advice) for look in findings.more for row in look()}
    assert rows["grading"] == ("ok", "")
    assert rows["box for grading"] == found
