"""The learner's progress: kept, and never in the way."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

import filelock
import platformdirs
import pytest

from torchbook.practice import progress


def state(exercise_id: str = "p01-x3") -> str:
    return progress.read()[0][exercise_id].state


def test_nothing_was_tried_at_first() -> None:
    assert progress.read() == ({}, "")


def test_reading_makes_no_file(progress_file: Path) -> None:
    progress.read()
    assert not progress_file.parent.exists()


def test_a_failed_check_is_a_try() -> None:
    assert progress.tried("p01-x3", solved=False) == ""
    assert state() == "tried"


def test_the_first_success_is_kept() -> None:
    progress.tried("p01-x3", solved=True)
    solved_at = progress.read()[0]["p01-x3"].solved
    progress.tried("p01-x3", solved=True)
    progress.tried("p01-x3", solved=False)
    record = progress.read()[0]["p01-x3"]
    assert (record.tries, record.solved, record.state) == (3, solved_at, "solved")


def test_a_solution_opened_first_is_said() -> None:
    progress.opened("p01-x3")
    assert state() == "solution opened"
    progress.tried("p01-x3", solved=True)
    assert state() == "solved, solution opened"


def test_a_solution_opened_afterwards_takes_nothing_away() -> None:
    progress.tried("p01-x3", solved=True)
    progress.opened("p01-x3")
    assert state() == "solved"


def test_hints_are_kept_once_each() -> None:
    for number in (2, 1, 2):
        progress.hinted("p01-x3", number)
    record = progress.read()[0]["p01-x3"]
    assert (record.hints, record.state) == ([1, 2], "new")


def test_what_a_newer_version_keeps_beside_is_left(progress_file: Path) -> None:
    progress_file.parent.mkdir()
    progress_file.write_text('{"p01-x3": {"tries": 1, "mood": "good"}}')
    progress.tried("p01-x3", solved=False)
    record = json.loads(progress_file.read_text())["p01-x3"]
    assert (record["tries"], record["mood"]) == (2, "good")


def test_it_is_in_the_user_s_folder_if_nothing_else_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(progress.FILE)
    assert progress.path() == Path(platformdirs.user_data_dir("torchbook", False)) / "progress.json"


@pytest.mark.parametrize("damaged", [b"", b"{", b"\xff\xfe", b"[1]", b'{"p01-x3": 3}', b'{"p01-x3": {"tries": -1}}'])
def test_a_damaged_file_is_moved_aside_and_said(progress_file: Path, damaged: bytes) -> None:
    progress_file.parent.mkdir()
    progress_file.write_bytes(damaged)
    note = progress.tried("p01-x3", solved=True)
    (aside,) = progress_file.parent.glob("*.unreadable-*")
    assert str(aside) in note
    assert aside.read_bytes() == damaged
    assert state() == "solved"


@pytest.fixture
def unwritable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place where not even root can write: below a file."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(progress.FILE, str(tmp_path / "file" / "progress.json"))
    return tmp_path / "file"


def test_where_nothing_can_be_written_that_is_said(unwritable: Path) -> None:
    note = progress.tried("p01-x3", solved=True)
    assert note.startswith("Your progress is not kept (")
    assert progress.FILE in note


def test_where_nothing_can_be_read_that_is_said(unwritable: Path) -> None:
    records, note = progress.read()
    assert records == {}
    assert note.startswith("Earlier progress cannot be read (")


def test_a_lock_that_is_never_freed_costs_one_try(progress_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", 0.01)
    progress_file.parent.mkdir()
    with filelock.FileLock(f"{progress_file}.lock", is_singleton=False):
        assert "not kept" in progress.tried("p01-x3", solved=True)


def test_a_write_that_fails_leaves_the_old_file(progress_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    progress.tried("p01-x3", solved=True)
    before = progress_file.read_bytes()

    def fail(self: Path, target: Path) -> None:
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", fail)
        assert "the disk is full" in progress.tried("p01-x3", solved=False)
    assert progress_file.read_bytes() == before
    assert {path.name for path in progress_file.parent.iterdir()} <= {"progress.json", "progress.json.lock"}


def _tries(number: int) -> None:
    for _ in range(number):
        progress.tried("p01-x3", solved=False)


def test_processes_do_not_lose_each_other_s_tries() -> None:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_tries, args=(20,)) for _ in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert progress.read()[0]["p01-x3"].tries == 60
