"""`torchbook check`, `exercises`, `hint` and `solution`: what learners see in a terminal."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.practice.conftest import Write
from torchbook import cli
from torchbook.cli import app
from torchbook.practice import authors, progress, shelf, terminal

GOOD = "def add(a, b):\n    return a + b\n"


@pytest.fixture(autouse=True)
def exercise(write: Write) -> Path:
    return write()


def call(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": "200"})


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "mine").mkdir()
    return tmp_path / "mine" / "my.py"


def check(file: Path, source: str, *options: object) -> Result:
    file.write_text(source)
    return call("check", "p09-x1", file, *options)


def test_solved_is_status_0_and_kept(file: Path) -> None:
    result = check(file, GOOD)
    assert result.exit_code == 0
    assert "p09-x1 A sum: solved, 2 checks passed" in result.output
    assert "`torchbook solution p09-x1`" in result.output
    assert progress.read()[0]["p09-x1"].state == "solved"


def test_not_yet_is_status_1_with_the_hint_as_a_command(file: Path) -> None:
    result = check(file, "def add(a, b):\n    return a - b\n")
    assert result.exit_code == 1
    assert "Sum: a sum is the number of both together" in result.output
    assert "Hint `torchbook hint p09-x1 1`: The sum is a difference" in result.output


def test_a_name_that_is_missing_is_asked_for(file: Path) -> None:
    result = check(file, "ad = 3\n")
    assert result.exit_code == 1
    assert "`add` is not defined here" in result.output
    assert "There is `ad`" in result.output


def test_a_file_that_raises_is_said_with_its_line_and_what_it_defined_is_checked(file: Path) -> None:
    result = check(file, GOOD + "add[0]\n")
    assert result.exit_code == 0
    assert "my.py: TypeError: 'function' object is not subscriptable (line 3 of your code: add[0])" in result.output


def test_a_syntax_error_is_said(file: Path) -> None:
    result = check(file, "def add(:\n")
    assert result.exit_code == 1
    assert "my.py: SyntaxError: " in result.output
    assert "line 1" in result.output
    assert "not defined" not in result.output


def test_a_stub_in_a_file_is_told_of_no_cell(file: Path) -> None:
    result = check(file, "def add(a, b):\n    raise NotImplementedError\n")
    assert "Write `add` where the stub says `raise NotImplementedError`, and save the file." in result.output
    assert "cell" not in check(file, "ad = 3\n").output


def test_of_the_engine_that_overwrites_gradients_the_message_with_a_hint_is_shown(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(shelf.ROOTS)
    file.write_text(authors.wrong_answer(shelf.find("p02-x1"), "overwrites").source)
    output = call("check", "p02-x1", file).output
    assert "Used twice: " in output
    assert "Hint `torchbook hint p02-x1 1`" in output


# Watching.


def saved(file: Path, *sources: str) -> Iterator[None]:
    """Save one source after the other, each when the one before was checked."""
    file.write_text(sources[0])
    for source in sources[1:]:
        yield
        file.write_text(source)
    yield


def test_a_watched_file_is_checked_at_every_save_and_a_mistake_in_it_ends_nothing(file: Path) -> None:
    saving = saved(file, "def add(:\n", GOOD, "def add(a, b):\n    return a - b\n")
    next(saving)
    said = []
    for result in terminal.watch("p09-x1", file):
        said.append(str(result))
        if next(saving, "no more") == "no more":
            break
    assert "my.py: SyntaxError: invalid syntax (my.py, line 1)" in said[0]
    assert "solved, 2 checks passed" in said[1]
    assert "Hint `torchbook hint p09-x1 1`" in said[2]


def test_what_cannot_be_read_ends_a_watch_at_its_start_only(file: Path) -> None:
    with pytest.raises(terminal.FileError):
        next(terminal.watch("p09-x1", file))
    file.write_text(GOOD)
    watch = terminal.watch("p09-x1", file)
    assert next(watch)
    file.write_bytes(b"# \xe4")
    assert isinstance(next(watch), terminal.FileError)


def test_ctrl_c_ends_a_watch_with_status_0_and_one_line(file: Path) -> None:
    file.write_text(GOOD)
    command = [sys.executable, "-u", "-m", "torchbook", "check", "--watch", "p09-x1", str(file)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout
        for line in process.stdout:
            if "Ctrl-C ends this" in line:
                break
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == f"{file} is no longer watched.\n"
        assert process.wait(20) == 0


@pytest.mark.parametrize(("body", "reason"), [
    ("import ctypes; ctypes.string_at(0)", "your code crashed Python (Segmentation fault)"),
    ("import os; os._exit(0)", "your code ended Python (exit status 0)"),
])  # fmt: skip
def test_code_that_ends_python_is_said(file: Path, body: str, reason: str) -> None:
    result = check(file, f"def add(a, b):\n    {body}\n")
    assert result.exit_code == 1
    assert f"p09-x1 A sum: no result, {reason}" in result.output


def test_an_endless_loop_in_a_function_is_stopped(file: Path) -> None:
    result = check(file, "def add(a, b):\n    while True: pass\n", "--patience", 0.1)
    assert result.exit_code == 1
    assert "Sum: not finished after 0.5 s" in result.output


def test_an_endless_loop_of_the_file_is_stopped(file: Path) -> None:
    result = check(file, f"{GOOD}while True: pass\n", "--patience", 0.1)
    assert "my.py itself was stopped after 6 s, before its checks." in result.output


def test_what_cannot_be_interrupted_is_killed_with_all_that_it_started(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "_MARGIN", 2.0)
    child = file.with_name("child")
    source = f"""
import os, signal, subprocess, sys
signal.pthread_sigmask(signal.SIG_BLOCK, {{signal.SIGALRM}})
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open({str(child)!r}, "w").write(str(child.pid))
while True: pass
"""
    monkeypatch.setattr(terminal, "FILE_SECONDS", 1.0)
    result = check(file, source, "--patience", 0.5)
    assert "no result, your code was stopped after 5 s" in result.output
    end = time.monotonic() + 20
    while Path(f"/proc/{child.read_text()}/cmdline").exists() and time.monotonic() < end:
        if not Path(f"/proc/{child.read_text()}/cmdline").read_bytes():
            break  # ended, and nobody has asked for its status
        os.sched_yield()
    assert time.monotonic() < end


def test_a_thread_that_never_ends_does_not_hold_up_the_result(file: Path) -> None:
    start = time.monotonic()
    result = check(file, f"{GOOD}import threading\nthreading.Thread(target=threading.Event().wait).start()\n")
    assert result.exit_code == 0
    assert time.monotonic() - start < 20


def test_the_main_part_of_a_script_does_not_run_and_neighbours_can_be_imported(file: Path) -> None:
    file.with_name("neighbour.py").write_text("def plus(a, b):\n    return a + b\n")
    source = "from neighbour import plus as add\nif __name__ == '__main__':\n    raise SystemExit('main')\n"
    result = check(file, source)
    assert result.exit_code == 0
    assert "main" not in result.output


def test_a_check_inside_of_the_file_is_left_to_the_command(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    source = f"{GOOD}from torchbook.practice import check\nassert not check('p09-x1')\nprint('printed')\n"
    assert check(file, source).exit_code == 0
    assert capfd.readouterr().out == "printed\n"
    assert progress.read()[0]["p09-x1"].tries == 1


# Notebooks.


def notebook(file: Path, *cells: object) -> Path:
    """A notebook; a cell is code, or an entry as it is in the file."""
    entries = [cell if isinstance(cell, dict) else {"cell_type": "code", "source": cell} for cell in cells]
    path = file.with_suffix(".ipynb")
    path.write_text(json.dumps({"cells": entries, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}))
    return path


def test_the_code_cells_of_a_notebook_are_checked(file: Path) -> None:
    text = {"cell_type": "markdown", "source": "def add(: # no code"}
    assert call("check", "p09-x1", notebook(file, text, "one = 1\n", GOOD.splitlines(keepends=True))).exit_code == 0


def test_what_a_script_prints_is_shown_and_what_a_notebook_prints_is_not(
    file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source = f"print('look here')\n{GOOD}"
    check(file, source)
    call("check", "p09-x1", notebook(file, source))
    assert capfd.readouterr().out.count("look here") == 1


def test_magics_are_left_out_and_their_lines_kept(file: Path) -> None:
    cells = [
        "%matplotlib inline\n!exit 3\nfiles = !ls\n",
        "%%bash\nrm nothing",
        "%%time\nSIZE = 1\nassert SIZE\n",
        "?len",
        "%pip install x\n\ndef add(a, b):\n    return a + b + 1 / 0\n",
    ]
    result = call("check", "p09-x1", notebook(file, *cells))
    assert "ZeroDivisionError: division by zero (line 4 of your code: return a + b + 1 / 0)" in result.output
    assert "cell" not in result.output


def test_a_cell_that_raises_is_named_and_the_others_run(file: Path) -> None:
    result = call("check", "p09-x1", notebook(file, "1 / 0", GOOD))
    assert result.exit_code == 0
    assert "cell 1: ZeroDivisionError" in result.output


def test_source_of_a_notebook_is_found(file: Path, write: Write) -> None:
    checks = "def test_sum(source, add):\n    assert 'class Pair' in source and 'def add' in source\n\n\n"
    hidden = "def test_hidden_a(add): ...\n\n\ndef test_zero(add): ...\n"
    page = (write() / "exercise.md").read_text().replace(", test_hidden_random", "")
    write({"checks.py": checks + hidden, "exercise.md": page})
    cells = ["class Pair:\n    x = 1\n", "def add(a, b):\n    return Pair.x\n"]
    assert call("check", "p09-x1", notebook(file, *cells)).exit_code == 0


# What cannot be checked.


@pytest.mark.parametrize(("name", "content", "complaint"), [
    ("absent.py", None, "absent.py: No such file or directory"),
    ("my.txt", b"", "neither a Python file (.py) nor a notebook (.ipynb)"),
    ("latin.py", b"# \xe4", "latin.py: 'utf-8' codec can't decode"),
    ("old.ipynb", b'{"worksheets": []}', "not a notebook of format 4"),
    ("half.ipynb", b'{"cells"', "not a notebook of format 4"),
])  # fmt: skip
def test_a_file_that_is_none_is_status_2(tmp_path: Path, name: str, content: bytes | None, complaint: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    result = call("check", "p09-x1", tmp_path / name)
    assert result.exit_code == 2
    assert complaint in result.stderr


def test_an_unknown_exercise_is_status_2(file: Path) -> None:
    result = call("check", "p09-x11", file)
    assert result.exit_code == 2
    assert "no exercise 'p09-x11'; did you mean p09-x1" in result.stderr


# The other commands.


def test_the_list_of_a_chapter() -> None:
    result = call("exercises", "--chapter", "own")
    assert result.exit_code == 0
    (row,) = (line for line in result.output.splitlines() if "p09-x1" in line)
    assert row.split() == ["p09-x1", "A", "sum", "1", "of", "5", "5", "new"]
    assert "p01-x3" not in result.output


def test_the_list_of_what_is_to_do(file: Path) -> None:
    check(file, GOOD)
    assert "p09-x1" not in call("exercises", "--todo").output
    assert "p09-x1" in call("exercises").output


def test_the_list_says_that_an_exercise_is_malformed(write: Write) -> None:
    write({"exercise.md": "nothing"})
    result = call("exercises")
    assert result.exit_code == 0  # it stops no other
    assert "exercises/p09/x1-a-sum/exercise.md:1: the front matter is missing" in result.stderr


def test_the_list_says_that_progress_was_damaged(progress_file: Path) -> None:
    progress_file.parent.mkdir()
    progress_file.write_text("{")
    result = call("exercises")
    assert result.exit_code == 0
    assert "the file was damaged" in result.stderr


def test_hints_in_a_terminal() -> None:
    assert "torchbook hint p09-x1 1" in call("hint", "p09-x1").output
    assert "Look at the sign." in call("hint", "p09-x1", 1).output
    assert call("hint", "p09-x1", 9).exit_code == 2


def test_the_solution_in_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli.console, "_force_terminal", True)
    shown = call("solution", "p09-x1").output
    assert "return a + b" in re.sub(r"\x1b\[[\d;]*m", "", shown)
    assert progress.read()[0]["p09-x1"].state == "solution opened"


def test_a_solution_into_a_file_is_python(tmp_path: Path) -> None:
    file = tmp_path / "my.py"
    file.write_text(call("solution", "p09-x1").output)
    assert call("check", "p09-x1", file).exit_code == 0
    assert file.read_text().startswith("# Solution of p09-x1 A sum\n\n")


@pytest.mark.usefixtures("quiz")
def test_answers_of_a_quiz_into_a_file_are_comments() -> None:
    lines = call("solution", "p09-x2").output.splitlines()
    assert len(lines) > 1
    assert [line for line in lines if line and not line.startswith("#")] == []
