"""Results of a small class, made by hand, for the tests of what is written of them."""

from __future__ import annotations

from datetime import UTC, datetime

from torchbook_course.results import Asked, Check, Flag, Part, Student, Summary

FIRST = Asked(
    id="p01-x3",
    title="Manual indexing",
    public=1,
    hidden=2,
    checks=("test_offset", "test_negative", "test_hidden_views"),
    misconceptions={"test_offset": ("forgets the storage offset",), "test_hidden_views": ("counts <one> only", "b")},
)
SECOND = Asked(id="p02-x1", title="Second", public=1, hidden=0, checks=("test_it",), misconceptions={})


def part(asked: Asked, public: float, hidden: float, state: str = "ok", **checks: str) -> Part:
    made = tuple(Check(name=f"test_{name}", state=check_state) for name, check_state in checks.items())
    return Part(exercise=asked.id, state=state, public=public, hidden=hidden, checks=made)


ANNA = Student(
    student="Anna Schmidt_48213",
    submitted=datetime(2026, 1, 2, 12, 30, tzinfo=UTC),
    parts=(
        part(FIRST, 1, 2, offset="passed", negative="passed", hidden_views="passed"),
        part(SECOND, 1, 0, it="passed"),
    ),
    seconds=1.5,
)
BERT = Student(
    student="bert@example.org",
    late=0.25,
    parts=(
        Part(
            exercise="p01-x3",
            state="ok",
            public=0.5,
            hidden=0,
            checks=(
                Check(
                    name="test_offset",
                    state="refused",
                    message="the offset <b>is</b> missing",
                    hint="Every place is too small",
                ),
                Check(name="test_negative", state="passed"),
                Check(name="test_hidden_views", state="refused", message="secret of a hidden check"),
            ),
        ),
        Part(exercise="p02-x1", state="died", detail="ended by SIGSEGV"),
    ),
    flags=(Flag(exercise="p01-x3", line=3, what="=HYPERLINK(1)", why="looks at its callers"),),
    repairs=("p01-x3: 2 cells answer it",),
    seconds=2.5,
)
CARL = Student(
    student="=cmd|' /C calc'!A0",
    problem="hw1.ipynb: the file is empty",
    parts=(Part(exercise="p01-x3", state="gone"),),
)
DORA = Student(student="dora", name="Dora D.", absent=True, problem="nothing was handed in")
CLASS = Summary(
    assignment="hw1", title="Homework 1", due=None, exercises=(FIRST, SECOND), students=(ANNA, BERT, CARL, DORA)
)
