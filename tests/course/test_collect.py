"""Downloads of learning platforms become one folder a student."""

from __future__ import annotations

import io
import os
import shutil
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from torchbook_course.collect import CollectError, Platform, collect

NOTEBOOK = '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'


def download(folder: Path, members: dict[str, str | bytes], day: int = 2) -> Path:
    path = folder / "download.zip"
    path.write_bytes(packed(members, day))
    return path


def packed(members: dict[str, str | bytes], day: int = 2) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 1, day, 12, 30, 0)), content)
    return file.getvalue()


def collected(tmp_path: Path, members: dict[str, str | bytes], platform: Platform) -> dict[str, str]:
    collect([download(tmp_path, members)], platform, "hw1", tmp_path / "out")
    return {path.parts[-3]: path.read_text() for path in sorted((tmp_path / "out").glob("*/hw1/hw1.ipynb"))}


def test_moodle(tmp_path: Path) -> None:
    members: dict[str, str | bytes] = {
        "Anna Schmidt_48213_assignsubmission_file_/hw1.ipynb": NOTEBOOK,
        "Anna Schmidt_48214_assignsubmission_file_/my homework.ipynb": NOTEBOOK,
        "Seán O'Neil_9_assignsubmission_file/hw1.ipynb": NOTEBOOK,
    }
    assert list(collected(tmp_path, members, "moodle")) == ["Anna Schmidt_48213", "Anna Schmidt_48214", "Seán O'Neil_9"]


def test_canvas(tmp_path: Path) -> None:
    members: dict[str, str | bytes] = {
        "schmidtanna_48213_1720345_hw1.ipynb": NOTEBOOK,
        "oneilsean_LATE_9_1720346_hw1-2.ipynb": NOTEBOOK,
    }
    assert list(collected(tmp_path, members, "canvas")) == ["oneilsean_9", "schmidtanna_48213"]


def test_a_folder_of_zips_and_notebooks(tmp_path: Path) -> None:
    members: dict[str, str | bytes] = {
        "anna.ipynb": NOTEBOOK,
        "bert/hw1/hw1.ipynb": NOTEBOOK,
        "carl.zip": packed({"hw1.ipynb": NOTEBOOK}),
        "__MACOSX/._anna.ipynb": "junk",
    }
    assert list(collected(tmp_path, members, "folder")) == ["anna", "bert", "carl"]


def test_the_latest_of_a_student_counts(tmp_path: Path) -> None:
    folder = "Anna Schmidt_1_assignsubmission_file_"
    late, early = (tmp_path / name for name in ("late", "early"))
    for place, day, text in ((late, 9, "late"), (early, 3, "early")):
        place.mkdir()
        download(place, {f"{folder}/hw1.ipynb": text}, day)
    collect([late / "download.zip", early / "download.zip"], "moodle", "hw1", tmp_path / "out")
    assert (tmp_path / "out" / "Anna Schmidt_1" / "hw1" / "hw1.ipynb").read_text() == "late"


def test_the_time_in_the_zip_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    collected(tmp_path, {"Anna_1_assignsubmission_file_/hw1.ipynb": NOTEBOOK}, "moodle")
    stamp = (tmp_path / "out" / "Anna_1" / "hw1" / "timestamp.txt").read_text()
    assert stamp.startswith("2026-01-02 12:30:00")


def test_the_time_of_a_file_is_kept(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "anna.ipynb").write_text(NOTEBOOK)
    os.utime(tmp_path / "in" / "anna.ipynb", (1_700_000_000, 1_700_000_000))
    collect([tmp_path / "in"], "folder", "hw1", tmp_path / "out")
    assert (tmp_path / "out" / "anna" / "hw1" / "timestamp.txt").read_text().startswith("2023-11-14 22:13:20")


def test_what_is_no_notebook_is_named(tmp_path: Path) -> None:
    members: dict[str, str | bytes] = {
        "Anna_1_assignsubmission_file_/hw1.ipynb": NOTEBOOK,
        "Bert_2_assignsubmission_file_/hw1.pdf": "%PDF",
        "Carl_3_assignsubmission_file_/hw1.zip": "no zip",
    }
    done = collect([download(tmp_path, members)], "moodle", "hw1", tmp_path / "out")
    assert done.students == 1
    assert [name.split("_")[0] for name in done.skipped] == ["Bert", "Carl"]


def test_a_name_that_leads_elsewhere_stays_inside(tmp_path: Path) -> None:
    collected(tmp_path, {"../../evil.ipynb": NOTEBOOK, "anna/../../../bert.ipynb": NOTEBOOK, "c.ipynb": "{}"}, "folder")
    outside = [path for path in tmp_path.rglob("*.ipynb") if "out" not in path.relative_to(tmp_path).parts]
    assert outside == []


def test_a_zip_that_swells_costs_its_student_only(tmp_path: Path) -> None:
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("hw1.ipynb", "w") as file:
        for _ in range(101):
            file.write(b"\0" * 1_000_000)
    members: dict[str, str | bytes] = {"anna.zip": bomb.getvalue(), "bert.ipynb": NOTEBOOK}
    assert list(collected(tmp_path, members, "folder")) == ["bert"]


def test_the_wrong_platform_is_asked_about(tmp_path: Path) -> None:
    with pytest.raises(CollectError, match="is --from right"):
        collected(tmp_path, {"anna.ipynb": NOTEBOOK}, "moodle")


def test_a_broken_download_is_named(tmp_path: Path) -> None:
    (tmp_path / "download.zip").write_text("no zip")
    with pytest.raises(CollectError, match=r"download\.zip: not a zip that can be read"):
        collect([tmp_path / "download.zip"], "moodle", "hw1", tmp_path / "out")


# A student's own zip says neither whose work it is nor when it came.

HOSTILE: dict[Platform, tuple[str, str, str]] = {
    "moodle": (
        "Anna_1_assignsubmission_file_/",
        "Bob Victim_2_assignsubmission_file_/hw1.ipynb",
        "Bob Victim_2",
    ),
    "canvas": ("anna_1_77_", "victimbob_2_999_hw1.ipynb", "victimbob_2"),
}
STUDENT: dict[Platform, str] = {"moodle": "Anna_1", "canvas": "anna_1"}


def inner(members: dict[str, bytes], year: int = 2030) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, (year, 1, 1, 0, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return file.getvalue()


@pytest.mark.parametrize("platform", HOSTILE)
@pytest.mark.parametrize("year", [1990, 2030, 2107])
def test_no_zip_of_a_student_reaches_another(tmp_path: Path, platform: Platform, year: int) -> None:
    own, others, victim = HOSTILE[platform]
    for victim_hands_in in (True, False):
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        members: dict[str, str | bytes] = {f"{own}work.zip": inner({others: b"of anna"}, year)}
        members |= {others: "of bob"} if victim_hands_in else {}
        found = collected(tmp_path, members, platform)
        assert found == {STUDENT[platform]: "of anna"} | ({victim: "of bob"} if victim_hands_in else {})
        for stamp in (tmp_path / "out").glob("*/hw1/timestamp.txt"):
            assert stamp.read_text().startswith("2026-01-02")


def test_a_folder_in_moodles_folder_of_a_student_is_that_students(tmp_path: Path) -> None:
    own, others, _ = HOSTILE["moodle"]
    assert collected(tmp_path, {own + others: "of anna"}, "moodle") == {"Anna_1": "of anna"}


def test_what_canvas_calls_late_is_late(tmp_path: Path) -> None:
    members: dict[str, str | bytes] = {"anna_LATE_1_77_hw1.ipynb": "{}", "bob_2_78_hw1.ipynb": "{}"}
    late_from = datetime(2026, 2, 1, 0, 15, 1, tzinfo=UTC)
    collect([download(tmp_path, members)], "canvas", "hw1", tmp_path / "out", late_from)
    stamps = {path.parts[-3]: path.read_text()[:19] for path in (tmp_path / "out").glob("*/hw1/timestamp.txt")}
    assert stamps["anna_1"] == "2026-02-01 00:15:01"
    assert stamps["bob_2"].startswith("2026-01-02")


def test_an_unpacked_download_with_zips_in_it(tmp_path: Path) -> None:
    room = tmp_path / "in" / "Anna_1_assignsubmission_file_"
    room.mkdir(parents=True)
    (room / "work.zip").write_bytes(inner({HOSTILE["moodle"][1]: b"of anna"}))
    (tmp_path / "in" / "more.zip").write_bytes(packed({"Carl_3_assignsubmission_file_/hw1.ipynb": "of carl"}))
    assert collect([tmp_path / "in"], "moodle", "hw1", tmp_path / "out").students == 2
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["Anna_1", "Carl_3"]


def test_of_several_in_a_zip_the_one_of_the_assignments_name_is_taken_and_the_others_are_named(tmp_path: Path) -> None:
    work = inner({"old/hw1.ipynb": b"old", "hw1.ipynb": b"new", "a.ipynb": b"a", "../b.ipynb": b"b", "x.csv": b""})
    done = collect([download(tmp_path, {"anna.zip": work})], "folder", "hw1", tmp_path / "out")
    assert (tmp_path / "out" / "anna" / "hw1" / "hw1.ipynb").read_text() == "new"
    assert sorted(done.skipped) == [f"anna.zip/{name}" for name in ("../b.ipynb", "a.ipynb", "old/hw1.ipynb", "x.csv")]


# What swells.

ZEROS = bytes(30_000_000)
BOMBS = {
    "zips of a large one each": lambda: {f"{n}.zip": inner({"hw1.ipynb": ZEROS}) for n in range(20)},
    "large ones": lambda: {f"{n}.ipynb": ZEROS for n in range(4)},
    "many": lambda: {f"{n}.txt": b"" for n in range(6_000)},
    "more than can be listed": lambda: {f"{n:0200d}.txt": b"" for n in range(5_000)},
    "deep": lambda: {"1.zip": inner({"2.zip": inner({"3.zip": inner({"hw1.ipynb": b"{}"})})})},
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_without_being_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    written = 0
    copy = shutil.copyfileobj

    def counting(source: io.BufferedIOBase, target: io.BufferedIOBase, *rest: int) -> None:
        nonlocal written
        copy(source, target, *rest)
        written += target.tell()

    monkeypatch.setattr(shutil, "copyfileobj", counting)
    bomb = inner(BOMBS[name]())
    done = collect([download(tmp_path, {"anna.zip": bomb, "bob.ipynb": NOTEBOOK})], "folder", "hw1", tmp_path / "out")
    assert done.students == 1
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["bob"]
    assert done.skipped
    assert all(skipped.startswith("anna.zip") for skipped in done.skipped)
    assert written < 1_000_000


def test_what_is_left_out_is_named_up_to_a_number(tmp_path: Path) -> None:
    members = {"hw1.ipynb": b"{}"} | {f"{n}.txt": b"" for n in range(100)}
    done = collect([download(tmp_path, {"anna.zip": inner(members)})], "folder", "hw1", tmp_path / "out")
    assert len(done.skipped) == 21
    assert done.skipped[-1] == "and 80 more in anna.zip"


def test_a_damaged_member_costs_its_student_only(tmp_path: Path) -> None:
    whole = packed({"anna.ipynb": "AAAA", "bob.ipynb": "BBBB"})
    (tmp_path / "download.zip").write_bytes(whole.replace(b"AAAA", b"AAAB"))
    done = collect([tmp_path / "download.zip"], "folder", "hw1", tmp_path / "out")
    assert done.students == 1
    assert done.skipped[0].startswith("the notebook of anna (Bad CRC-32")
