"""Grades as tables for people, Canvas and Moodle."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tests.course.results import CLASS
from torchbook_course import exports, roster
from torchbook_course.results import ResultsError, Summary, number, shares
from torchbook_course.roster import Roster, RosterError

CANVAS = """Student,ID,SIS User ID,SIS Login ID,Section,Homework 1 (77),Final Score
    Points Possible,,,,,4,
"Schmidt, Anna",48213,s1,anna,A,,91.2
"Berg, Bert",9,s2,bert@example.org,A,,
"D., Dora",10,s3,dora,B,,
"""
MOODLE = """Identifier,Full name,Email address,Status,Grade,Maximum Grade,Last modified (grade),Feedback comments
Participant 48213,Anna Schmidt,anna@example.org,Submitted,,100,-,
Participant 9,Bert Berg,bert@example.org,Submitted,,100,-,
"""


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def loaded(folder: Path, text: str) -> Roster:
    path = folder / "roster.csv"
    path.write_text(text, encoding="utf-8")
    return roster.load(path, [student.student for student in CLASS.present])


def test_the_gradebook_has_a_column_for_each_exercise() -> None:
    anna, bert, _, dora = rows(exports.gradebook(CLASS))
    assert (anna["total"], anna["max"], anna["p01-x3 public"], anna["p01-x3 hidden"]) == ("4", "4", "1", "2")
    assert (bert["total"], bert["late"], bert["p01-x3 points"], bert["p02-x1 points"]) == ("0.25", "0.25", "0.5", "0")
    assert (bert["flags"], bert["note"]) == ("1", "p02-x1: died")
    assert (dora["name"], dora["total"], dora["note"]) == ("Dora D.", "0", "nothing was handed in")


def test_no_cell_is_taken_for_a_formula() -> None:
    assert rows(exports.gradebook(CLASS))[2]["student"].startswith("'=")
    assert rows(exports.flags(CLASS))[0]["construct"] == "'=HYPERLINK(1)"


def test_flags_say_where() -> None:
    (flag,) = rows(exports.flags(CLASS))
    assert (flag["student"], flag["exercise"], flag["line"]) == ("bert@example.org", "p01-x3", "3")


def test_canvas_gets_its_own_columns_back(tmp_path: Path) -> None:
    possible, anna, bert, dora = rows(exports.canvas(CLASS, loaded(tmp_path, CANVAS)))
    assert list(anna) == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Homework 1 (77)"]
    assert possible["Homework 1 (77)"] == "4"
    assert (anna["Student"], anna["ID"], anna["Homework 1 (77)"]) == ("Schmidt, Anna", "48213", "4")
    assert (bert["Homework 1 (77)"], dora["Homework 1 (77)"]) == ("0.25", "0")


def test_an_assignment_that_canvas_does_not_know_is_a_new_column(tmp_path: Path) -> None:
    text = CANVAS.replace("Homework 1 (77)", "Homework 2 (78)")
    assert list(rows(exports.canvas(CLASS, loaded(tmp_path, text)))[0])[-1] == "Homework 1"


def test_moodle_gets_its_worksheet_back(tmp_path: Path) -> None:
    worksheet = rows(exports.moodle(CLASS, loaded(tmp_path, MOODLE)))
    anna, bert = worksheet[:2]
    assert list(anna)[:2] == ["Identifier", "Full name"]
    assert (anna["Identifier"], anna["Grade"], anna["Maximum Grade"]) == ("Participant 48213", "4", "4")
    assert (anna["Status"], bert["Grade"]) == ("Submitted", "0.25")


def test_moodle_without_a_worksheet_takes_names_that_collecting_gave() -> None:
    anna = rows(exports.moodle(CLASS, Roster()))[0]
    assert (anna["Identifier"], anna["Full name"], anna["Grade"]) == ("Participant 48213", "Anna Schmidt", "4")


def test_canvas_is_written_only_with_its_roster(tmp_path: Path) -> None:
    assert exports.tables(CLASS, Roster()).keys() == {"gradebook.csv", "flags.csv", "moodle.csv"}
    assert "canvas.csv" in exports.tables(CLASS, loaded(tmp_path, CANVAS))


def test_a_roster_knows_who_is_absent(tmp_path: Path) -> None:
    known = roster.matched(loaded(tmp_path, CANVAS), ["schmidtanna_48213", "bert@example.org"])
    assert known.absent == ("dora",)
    assert [known.places[name] for name in ("schmidtanna_48213", "bert@example.org", "dora")] == [0, 1, 2]


def test_a_roster_with_semicolons_is_read(tmp_path: Path) -> None:
    assert loaded(tmp_path, "student;name\nanna;Anna S.\n").names["anna"] == "Anna S."


def test_a_roster_without_students_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(RosterError, match=r"roster\.csv:1: no column that tells students apart"):
        loaded(tmp_path, "a,b\n1,2\n")


def test_results_are_read_as_they_were_written(tmp_path: Path) -> None:
    CLASS.save(tmp_path)
    assert Summary.load(tmp_path) == CLASS


def test_a_folder_without_results_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="grade first"):
        Summary.load(tmp_path)


@pytest.mark.parametrize(("passed", "points"), [(0, 0.0), (1, 0.67), (2, 1.33), (3, 2.0)])
def test_points_are_shared_among_checks(passed: int, points: float) -> None:
    assert shares(passed, 3, 2.0) == points


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (10.0, "10"), (1.5, "1.5"), (2 / 3, "0.67"), (12345.25, "12345.25")]
)
def test_points_are_written_as_people_write_them(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("=1", "'=1"),
        (" =1", "' =1"),
        ("\t=1", "'\t=1"),
        ("x;=cmd|' /C calc'!A0", "x;'=cmd|' /C calc'!A0"),
        ("a;b; +1", "a;b;' +1"),
        ("@x", "'@x"),
        ("-2", "'-2"),
        ("a\u202eb", "a\\u202eb"),
        ("a\x1b[31mb\x00", "a\\x1b[31mb\\x00"),
        ("Seán O'Neil-Smith", "Seán O'Neil-Smith"),
        ("李 🎉", "李 🎉"),
    ],
)
def test_no_cell_is_a_formula_or_turns_the_row(text: str, shown: str) -> None:
    assert exports._text(text) == shown
