"""`%%ranks`: the cell is the script, what ranks print is shown, the run is left."""

from __future__ import annotations

from typing import Any

import pytest

from torchbook import ranks
from torchbook.ranks.magic import ranks as magic

HELLO = "from torchbook.ranks.inside import rank, report\nprint('hello from', rank)\nreport(rank * rank)\n"


def test_a_cell_runs_on_its_ranks(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    magic("3 --name hello", HELLO, names)
    assert capsys.readouterr().out.splitlines() == [f"[{rank}] hello from {rank}" for rank in range(3)]
    assert names["run"].reports == [0, 1, 4]
    assert (names["run"].folder / "hello.py").read_text() == HELLO


def test_quiet_and_into(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    magic("1 --quiet --into other", HELLO, names)
    assert capsys.readouterr().out == ""
    assert list(names) == ["other"]


def test_a_failure_that_is_expected_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    magic("2 --fails", "raise ValueError('on purpose')", names)
    assert capsys.readouterr().out == "[0] ValueError: on purpose\n[1] ValueError: on purpose\n"
    assert names["run"].returncode == 1
    assert "on purpose" in names["run"].stderr


def test_one_that_is_not_raises() -> None:
    with pytest.raises(ranks.RanksError, match="on purpose"):
        magic("1", "raise ValueError('on purpose')", {})


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "required: ranks"),
        ("two", "invalid int"),
        ("2 --nmae x", "unrecognized arguments: --nmae"),
        ("2 --env LEVEL", "NAME=VALUE"),
    ],
)
def test_wrong_words_are_an_error_of_the_cell(line: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        magic(line, HELLO, {})


def test_a_notebook_knows_it() -> None:
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    try:
        from torchbook.ranks.magic import register

        register()
        result = shell.run_cell(f"%%ranks 1 --quiet\n{HELLO}")
        assert result.success
        assert shell.user_ns["run"].reports == [0]
    finally:
        InteractiveShell.clear_instance()
