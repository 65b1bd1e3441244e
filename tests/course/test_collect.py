"""Downloads of learning platforms become one folder a student."""

from __future__ import annotations

import io
import os
import zipfile
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
