"""What `torchbook course new` leaves on the disk, for whom, and what it never overwrites."""

from __future__ import annotations

import hashlib
import io
import shutil
import zipfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import nbformat
import pytest
import yaml
from bs4 import BeautifulSoup
from nbgrader.api import Gradebook

from tests.course.assigned import assignment, exercises, python
from torchbook.practice.exercise import HIDDEN
from torchbook_course import generate, gradescope
from torchbook_course.assignment import Assignment
from torchbook_course.otter import cannot, otter_notebook

DUE = "2026-12-05T23:59+01:00"
DIST = ["description.html", "description.md", "gradescope.zip", "instructor.zip", "otter.ipynb", "student.zip"]


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    course = tmp_path_factory.mktemp("pristine") / "course"
    generate.make(assignment(due=DUE, title="Homework <1>"), course, link="https://hub.example.org/x?a=1&b=2")
    return course


@pytest.fixture
def course(pristine: Path, tmp_path: Path) -> Path:
    """A course of one's own with homework 1."""
    return shutil.copytree(pristine, tmp_path / "course")


def tree(folder: Path) -> dict[str, str]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_course_has_all_of_its_parts(pristine: Path) -> None:
    wanted = ["assignments/hw1.yml", "gradebook.db", "nbgrader_config.py", "release/hw1/hw1.ipynb"]
    wanted += ["source/hw1/hw1.ipynb", *(f"dist/hw1-{name}" for name in DIST)]
    assert sorted(tree(pristine)) == sorted(wanted)
    assert [path.name for path in pristine.parent.iterdir()] == ["course"]


def test_what_is_said_to_be_made_is_there(tmp_path: Path) -> None:
    made = generate.make(assignment(), tmp_path / "course")
    assert all((tmp_path / "course" / path).exists() for path in made.files)


def test_the_assignment_is_kept_in_full(pristine: Path) -> None:
    kept = Assignment.load(pristine / "assignments" / "hw1.yml")
    assert kept == assignment(due=DUE, title="Homework <1>").resolved()
    assert all(item.digest and item.points and item.variant for item in kept.exercises)


def test_the_gradebook_knows_cells_points_and_due_time(pristine: Path) -> None:
    with Gradebook(f"sqlite:///{pristine / 'gradebook.db'}") as book:
        notebook = book.find_notebook("hw1", "hw1")
        points = {cell.name: cell.max_score for cell in notebook.grade_cells}
        due = book.find_assignment("hw1").duedate
    assert points == {"p01-x3-public": 1, "p01-x3-hidden": 2, "s04-x1-public": 1, "s04-x1-hidden": 3}
    assert due == datetime(2026, 12, 5, 22, 59)


def test_the_student_zip_has_the_notebook_and_a_readme(pristine: Path) -> None:
    with zipfile.ZipFile(pristine / "dist" / "hw1-student.zip") as packed:
        assert sorted(packed.namelist()) == ["hw1/README.md", "hw1/hw1.ipynb"]
        assert packed.read("hw1/hw1.ipynb") == (pristine / "release" / "hw1" / "hw1.ipynb").read_bytes()
        assert "hw1.ipynb" in packed.read("hw1/README.md").decode()


def test_the_instructor_zip_has_notebook_and_assignment(pristine: Path) -> None:
    with zipfile.ZipFile(pristine / "dist" / "hw1-instructor.zip") as packed:
        assert sorted(packed.namelist()) == ["hw1-instructor/hw1-instructor.ipynb", "hw1-instructor/hw1.yml"]
        text = packed.read("hw1-instructor/hw1-instructor.ipynb").decode()
        assert yaml.safe_load(packed.read("hw1-instructor/hw1.yml"))["seed"] == assignment().seed
    assert "test_hidden_random_views" in text


def test_nothing_for_students_holds_what_is_hidden(pristine: Path) -> None:
    with zipfile.ZipFile(pristine / "dist" / "hw1-student.zip") as packed:
        seen = "".join(packed.read(name).decode() for name in packed.namelist())
    seen += "".join((pristine / "dist" / f"hw1-description.{kind}").read_text() for kind in ("md", "html"))
    assert "hidden_random" not in seen
    assert all(exercise.reference.strip().splitlines()[-1].strip() not in seen for exercise in exercises())


def test_the_same_assignment_makes_the_same_zips(pristine: Path, tmp_path: Path) -> None:
    again = tmp_path / "course"
    generate.make(assignment(due=DUE, title="Homework <1>"), again, link="https://hub.example.org/x?a=1&b=2")
    for name in DIST:
        assert (again / "dist" / f"hw1-{name}").read_bytes() == (pristine / "dist" / f"hw1-{name}").read_bytes(), name


@pytest.mark.parametrize("kind", ["md", "html"])
def test_the_description_says_when_what_and_where(pristine: Path, kind: str) -> None:
    text = (pristine / "dist" / f"hw1-description.{kind}").read_text(encoding="utf-8")
    for part in ("Saturday, 05 December 2026, 23:59 (UTC+01:00)", "7 points", "s04-x1", "hw1.ipynb", "hub.example.org"):
        assert part in text, part


def test_the_html_description_is_html(pristine: Path) -> None:
    page = BeautifulSoup((pristine / "dist" / "hw1-description.html").read_text(encoding="utf-8"), "html.parser")
    assert page.h2 is not None
    assert page.h2.text == "Homework <1>"
    assert [cell.text for cell in page.select("tbody tr:first-child td")][1:] == ["3", "25"]
    assert page.select_one("a[href='https://hub.example.org/x?a=1&b=2']")


# Making it again.


def test_made_again_with_another_due_time_it_replaces_itself(course: Path) -> None:
    generate.make(assignment(due="2027-01-01T12:00+00:00"), course)
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        assert book.find_assignment("hw1").duedate == datetime(2027, 1, 1, 12)
    assert "2027" in (course / "release" / "hw1" / "hw1.ipynb").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [({"seed": 8}, "its seed would change"), ({"exercises": [{"id": "p01-x3"}]}, "its exercises")],
)
def test_another_assignment_of_that_name_is_refused(course: Path, fields: dict[str, object], reason: str) -> None:
    before = tree(course)
    with pytest.raises(generate.GenerateError, match=rf"assignments/hw1\.yml: hw1 is there already.*{reason}.*--force"):
        generate.make(assignment(**fields), course)
    assert tree(course) == before


def test_by_force_another_assignment_takes_its_place(course: Path) -> None:
    generate.make(assignment("p01-x3", seed=8), course, force=True)
    assert Assignment.load(course / "assignments" / "hw1.yml").seed == 8
    assert "s04-x1" not in (course / "release" / "hw1" / "hw1.ipynb").read_text(encoding="utf-8")


def handed_in(course: Path) -> None:
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        book.add_student("ada")
        book.add_submission("hw1", "ada")
        grade = book.find_grade("p01-x3-public", "hw1", "hw1", "ada")
        grade.auto_score = 1
        book.db.commit()


def test_cells_of_what_was_handed_in_cannot_change_even_by_force(course: Path) -> None:
    handed_in(course)
    before = tree(course)
    with pytest.raises(generate.GenerateError, match=r"submissions.*another --name"):
        generate.make(assignment("p01-x3"), course, force=True)
    assert tree(course) == before


def test_submissions_and_grades_stay(course: Path) -> None:
    handed_in(course)
    place = course / "submitted" / "ada" / "hw1"
    place.mkdir(parents=True)
    (place / "hw1.ipynb").write_text("hers")
    generate.make(assignment(title="New title"), course)
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        assert book.find_grade("p01-x3-public", "hw1", "hw1", "ada").auto_score == 1
    assert (place / "hw1.ipynb").read_text() == "hers"


def test_a_second_assignment_joins_the_first(course: Path) -> None:
    before = tree(course)
    generate.make(assignment("p01-x3", name="hw2"), course)
    after = tree(course)
    assert {k: after[k] for k in before if k != "gradebook.db"} == {k: before[k] for k in before if k != "gradebook.db"}
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        assert sorted(entry.name for entry in book.assignments) == ["hw1", "hw2"]


def test_a_configuration_of_ones_own_is_kept(course: Path) -> None:
    (course / "nbgrader_config.py").write_text("# mine\n")
    generate.make(assignment(), course)
    assert (course / "nbgrader_config.py").read_text() == "# mine\n"


def broken(*_: object) -> dict[str, bytes]:
    raise OSError("no space left on device")


def test_a_failure_leaves_no_half_course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gradescope, "files", broken)
    with pytest.raises(OSError, match="no space"):
        generate.make(assignment(), tmp_path / "course")
    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_a_course_as_it_was(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = tree(course)
    monkeypatch.setattr(gradescope, "files", broken)
    with pytest.raises(OSError, match="no space"):
        generate.make(assignment(seed=9), course, force=True)
    assert tree(course) == before


def test_what_is_late_already_is_noted(tmp_path: Path) -> None:
    due = datetime.fromisoformat(DUE) - timedelta(days=3650)
    assert "every submission is late" in generate.make(assignment("s04-x1", due=due), tmp_path / "course").notes[0]


def test_nbgraders_own_command_makes_the_same_release(course: Path) -> None:
    release = course / "release" / "hw1" / "hw1.ipynb"
    before = release.read_bytes()
    release.unlink()
    done = python("-m", "nbgrader", "generate_assignment", "hw1", "--force", cwd=course)
    assert done.returncode == 0, done.stderr
    assert release.read_bytes() == before


# Otter.


def test_otters_questions_hold_stub_and_shares_of_the_points() -> None:
    cells = otter_notebook(assignment(), exercises()).cells
    raw = [cell.source for cell in cells if cell.cell_type == "raw"]
    kinds = ["SOLUTION", "TESTS"]
    each = ["# BEGIN QUESTION", *(f"# {side} {kind}" for kind in kinds for side in ("BEGIN", "END")), "# END QUESTION"]
    assert [source.splitlines()[0] for source in raw] == ["# ASSIGNMENT CONFIG", *each, *each]
    tests = [cell.source for cell in cells if "# BEGIN TEST CONFIG" in cell.source]
    settings = [yaml.safe_load(test.split('""" # ')[1].removeprefix("BEGIN TEST CONFIG\n")) for test in tests]
    for hidden, points in ((False, 1 + 1), (True, 2 + 3)):
        assert sum(setting["points"] for setting in settings if setting["hidden"] is hidden) == pytest.approx(
            points, abs=1e-3
        )


def test_otters_tests_accept_the_reference_and_refuse_the_stub() -> None:
    for exercise in exercises():
        cells = otter_notebook(assignment(exercise.id), [exercise]).cells
        for cell in cells:
            if "# BEGIN TEST CONFIG" in cell.source:
                right: dict[str, Any] = {}
                stub: dict[str, Any] = {}
                exec(f"{exercise.reference}\n{cell.source}", right)
                exec(f"{exercise.stub}\n{cell.source}", stub)
                name = next(name for name in right if name.startswith("test_"))
                arguments = right[name].__code__.co_varnames[: right[name].__code__.co_argcount]
                right[name](*(right[a] for a in arguments))
                with pytest.raises((NotImplementedError, AssertionError)):
                    stub[name](*(stub[a] for a in arguments))


def test_otters_public_tests_hold_no_hidden_check() -> None:
    for cell in otter_notebook(assignment(), exercises()).cells:
        if "hidden: false" in cell.source:
            assert HIDDEN not in cell.source
            assert "_TABLE" not in cell.source


def test_otter_says_what_it_cannot_grade() -> None:
    assert all(not cannot(exercise) for exercise in exercises())


# Links.


def test_a_link_for_nbgitpuller() -> None:
    link = generate.nbgitpuller_link(
        "https://hub.example.org/", "https://git.example.org/a/b.git", "main", "hw1/hw 1.ipynb"
    )
    parts = urlsplit(link)
    assert (parts.netloc, parts.path) == ("hub.example.org", "/hub/user-redirect/git-pull")
    assert {key: values[0] for key, values in parse_qs(parts.query).items()} == {
        "repo": "https://git.example.org/a/b.git",
        "branch": "main",
        "urlpath": "lab/tree/b/hw1/hw 1.ipynb",
    }


@pytest.mark.parametrize(
    ("hub", "repo", "path"),
    [
        ("hub.example.org", "https://git.example.org/a/b", "hw1.ipynb"),
        ("https://hub.example.org", "git@git.example.org:a/b", "hw1.ipynb"),
        ("https://hub.example.org", "https://git.example.org/a/b", "../hw1.ipynb"),
        ("https://hub.example.org", "https://git.example.org/a/b", "/hw1.ipynb"),
    ],
)
def test_addresses_that_are_none_are_refused(hub: str, repo: str, path: str) -> None:
    with pytest.raises(generate.GenerateError, match="write the"):
        generate.nbgitpuller_link(hub, repo, "main", path)


def test_a_zip_keeps_what_can_be_executed(tmp_path: Path) -> None:
    generate.write_zip(tmp_path / "a.zip", {"run": "#!/bin/sh\n", "text": b"text"}, "folder")
    with zipfile.ZipFile(io.BytesIO((tmp_path / "a.zip").read_bytes())) as packed:
        modes = {info.filename: info.external_attr >> 16 for info in packed.infolist()}
    assert modes == {"folder/run": 0o755, "folder/text": 0o644}


def test_the_release_is_a_valid_notebook(pristine: Path) -> None:
    nbformat.validate(nbformat.read(pristine / "release" / "hw1" / "hw1.ipynb", as_version=4))
