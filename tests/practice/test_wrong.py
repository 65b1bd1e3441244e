"""Wrong answers: edits of the reference, read when asked for, and what is said of those that do not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.practice.conftest import SOLUTION, WRONG, Write
from torchbook.practice.errors import ExerciseError
from torchbook.practice.exercise import load

REFERENCE = """import math

LIMIT = 3


def add(a: float, b: float) -> float:
    \"\"\"The sum.\"\"\"
    return a + b
"""
PROGRAM = "# test_sum: knows one case only\ndef add(a, b):\n    return 3\n"


def entry(*blocks: str, head: str = "## more {test_sum}", thought: str = "thinks so") -> str:
    """One more entry of the page; each block is its lines between the fences."""
    fenced = "\n".join(f"```diff\n{block}\n```\n" for block in blocks)
    return f"\n{head}\n\n{thought}\n\n{fenced}"


def source_of(folder: Path, name: str) -> str:
    return next(wrong.source for wrong in load(folder).wrong if wrong.name == name)


def test_an_answer_is_the_reference_with_its_edit(write: Write) -> None:
    assert source_of(write(), "minus") == REFERENCE.replace("a + b", "a - b")


def test_several_blocks_apply_each_by_itself(write: Write) -> None:
    page = WRONG + entry("-LIMIT = 3\n+LIMIT = 4", "     return a + b\n+    return 0", "-import math\n-")
    answer = source_of(write({"wrong.md": page}), "more")
    assert answer == REFERENCE.replace("import math\n\n", "").replace("= 3", "= 4") + "    return 0\n"


def test_a_line_that_occurs_twice_is_told_by_those_around_it(write: Write) -> None:
    solution = SOLUTION + "\n\nLIMIT = 3\n"
    page = WRONG + entry(" import math\n\n-LIMIT = 3\n+LIMIT = 4")
    answer = source_of(write({"solution.py": solution, "wrong.md": page}), "more")
    assert answer == REFERENCE.replace("= 3", "= 4") + "\n\nLIMIT = 3\n"


def test_the_diff_is_what_the_page_shows(write: Write) -> None:
    answers = load(write()).wrong
    assert [[edit.diff for edit in answer.edits] for answer in answers] == [
        ["-    return a + b\n+    return a - b"],
        ["-    return a + b\n+    return a + b + 1"],
    ]


def test_another_program_altogether_is_a_file(write: Write) -> None:
    answers = load(write({"wrong/case.py": PROGRAM})).wrong
    assert [answer.name for answer in answers] == ["minus", "one", "case"]
    assert (answers[2].check, answers[2].misconception, answers[2].edits) == ("test_sum", "knows one case only", ())
    assert answers[2].source == "def add(a, b):\n    return 3\n"


def test_a_variants_answers_are_edits_of_its_own_solution(write: Write) -> None:
    overlay = {"variants/times/solution.py": SOLUTION.replace("LIMIT = 3", "LIMIT = 9")}
    page = WRONG.replace("## minus", "## less")
    inherited = load(write(overlay)).variant("times").wrong
    own = load(write({**overlay, "variants/times/wrong.md": page})).variant("times").wrong
    assert [answer.name for answer in inherited] == ["minus", "one"]
    assert [answer.name for answer in own] == ["less", "one"]
    assert inherited[0].source == own[0].source == REFERENCE.replace("= 3", "= 9").replace("a + b", "a - b")


def test_answers_are_read_when_asked_for(write: Write) -> None:
    exercise = load(write({"wrong.md": "## nonsense\n"}))
    assert (exercise.title, exercise.check_names[0]) == ("A sum", "test_sum")
    with pytest.raises(ExerciseError, match=r"wrong\.md:1: a heading is"):
        _ = exercise.wrong


def test_a_program_is_made_when_asked_for(write: Write) -> None:
    broken = load(write({"wrong.md": WRONG.replace("+    return a - b", "+    return a - -")})).wrong[0]
    assert broken.misconception == "takes a sum for a difference"
    with pytest.raises(ExerciseError, match=r"/wrong\.md:3: minus is not Python, .*: line 8 of what"):
        _ = broken.source


# What is said of wrong answers that are not as they must be: file, line, remedy. The page above ends at line 19.

BAD: dict[str, tuple[dict[str, str | None], str, str]] = {
    "a heading without a check": (
        {"wrong.md": WRONG + entry("-LIMIT = 3", head="## more")},
        "wrong.md:21:",
        "a heading is '## name {test_check}'",
    ),
    "a heading for no check": (
        {"wrong.md": WRONG + entry("-LIMIT = 3", head="## more {test_some}")},
        "wrong.md:21:",
        "test_some is no check; there are: test_hidden_random, test_sum, test_zero",
    ),
    "a name that is there already": (
        {"wrong.md": WRONG + entry("-LIMIT = 3", head="## one {test_sum}")},
        "wrong.md:21:",
        "one is at line 12 already; rename one of them",
    ),
    "a name that a file has, too": (
        {"wrong/one.py": PROGRAM},
        "wrong/one.py:1:",
        "one is at exercises/p09/x1-a-sum/wrong.md:12 already; rename one of them",
    ),
    "no thought": (
        {"wrong.md": WRONG + entry("-LIMIT = 3", thought="")},
        "wrong.md:21:",
        "more does not say what the learner thought; write a sentence below the heading",
    ),
    "a thought below the block": (
        {"wrong.md": WRONG + entry("-LIMIT = 3") + "\nand this\n"},
        "wrong.md:29:",
        "'and this' stands below a block; write what the learner thought above the first",
    ),
    "no block": (
        {"wrong.md": WRONG + entry()},
        "wrong.md:21:",
        "more has no block '```diff'; write one, or the whole program as wrong/more.py",
    ),
    "a block that is no diff": (
        {"wrong.md": WRONG + entry("-LIMIT = 3").replace("```diff", "```python")},
        "wrong.md:25:",
        "a block opens with '```diff', not with '```python'",
    ),
    "a block that is not closed": (
        {"wrong.md": (WRONG + entry("-LIMIT = 3")).rstrip("`\n")},
        "wrong.md:25:",
        "the block is not closed; end it with '```'",
    ),
    "a line without a mark": (
        {"wrong.md": WRONG + entry("-LIMIT = 3\nLIMIT = 4")},
        "wrong.md:27:",
        "'LIMIT = 4' starts with none of '-' (goes), '+' (comes) and ' ' (stays)",
    ),
    "a block that changes nothing": (
        {"wrong.md": WRONG + entry(" LIMIT = 3")},
        "wrong.md:25:",
        "the block changes nothing; mark what goes with '-' and what comes with '+'",
    ),
    "a block that only adds": (
        {"wrong.md": WRONG + entry("+LIMIT = 4")},
        "wrong.md:25:",
        "the block only adds; show where, by a line of the reference above or below",
    ),
    "a line that the reference lacks": (
        {"wrong.md": WRONG + entry("-LIMIT = 5\n+LIMIT = 4")},
        "wrong.md:25:",
        "these lines occur 0 times in solution.py, which has no line 'LIMIT = 5'; copy them from there, without",
    ),
    "lines in another order": (
        {"wrong.md": WRONG + entry("-LIMIT = 3\n-import math")},
        "wrong.md:25:",
        "these lines occur 0 times in solution.py, one below the other; copy them from there",
    ),
    "lines that occur twice": (
        {"solution.py": SOLUTION + "\n\nLIMIT = 3\n", "wrong.md": WRONG + entry("-LIMIT = 3")},
        "wrong.md:25:",
        "these lines occur 2 times in solution.py; add lines around them until they occur once",
    ),
    "blocks that share a line": (
        {"wrong.md": WRONG + entry("-LIMIT = 3", " LIMIT = 3\n+b = 2")},
        "wrong.md:29:",
        "shares the line 'LIMIT = 3' with the block at line 25; join the two",
    ),
    "one answer": (
        {"wrong.md": WRONG.partition("## one")[0]},
        "wrong.md:1:",
        "1 wrong answers; write at least two",
    ),
    "no answers": ({"wrong.md": None}, "wrong.md:1:", "0 wrong answers; write at least two"),
    "a page that is not UTF-8": ({"wrong.md": "\udcff"}, "wrong.md:1:", "save it as UTF-8"),
    "a program without its line": (
        {"wrong/case.py": "def add(a, b):\n    return 1\n"},
        "wrong/case.py:1:",
        "the first line is '# test_name: the misconception', the name one of: test_hidden_random, test_sum, test_zero",
    ),
    "a program for no check": ({"wrong/case.py": "# test_some: why\n"}, "wrong/case.py:1:", "the name one of"),
    "a program that is not Python": (
        {"wrong/case.py": "# test_sum: why\nadd = = 1\n"},
        "wrong/case.py:2:",
        "case is not Python, invalid syntax",
    ),
}


@pytest.mark.parametrize(("changed", "where", "what"), BAD.values(), ids=BAD.keys())
def test_the_complaint_names_file_line_and_remedy(
    write: Write, changed: dict[str, str | None], where: str, what: str
) -> None:
    latin = {name for name, text in changed.items() if text == "\udcff"}
    folder = write({name: text for name, text in changed.items() if name not in latin})
    for name in latin:
        (folder / name).write_bytes(b"\xff")
    with pytest.raises(ExerciseError) as raised:
        _ = [answer.source for answer in load(folder).wrong]
    assert str(raised.value).startswith(f"exercises/p09/x1-a-sum/{where} ")
    assert what in str(raised.value)


RIGHT = entry("-LIMIT = 3\n+LIMIT = 4", "-LIMIT = 3\n+LIMIT = 5", head="## any_limit {equivalent}", thought="unused")


def test_an_equivalent_is_no_wrong_answer_and_each_of_its_blocks_stands_by_itself(write: Write) -> None:
    exercise = load(write({"wrong.md": WRONG + RIGHT}))
    assert [answer.name for answer in exercise.wrong] == ["minus", "one"]
    assert [found.source for found in exercise.equivalents] == [REFERENCE.replace("= 3", f"= {n}") for n in (4, 5)]
    assert {found.reason for found in exercise.equivalents} == {"unused"}
    lines = (exercise.folder / "wrong.md").read_text(encoding="utf-8").splitlines()
    places = [int(found.place.rpartition(":")[2]) for found in exercise.equivalents]
    assert [lines[place] for place in places] == ["-LIMIT = 3", "-LIMIT = 3"]


def test_an_equivalent_that_does_not_fit_is_refused_with_its_line(write: Write) -> None:
    exercise = load(write({"wrong.md": WRONG + RIGHT.replace("-LIMIT = 3", "-LIMIT = 7")}))
    with pytest.raises(ExerciseError, match=r"wrong\.md:\d+: these lines occur 0 times"):
        _ = exercise.equivalents


def test_equivalents_alone_are_not_enough(write: Write) -> None:
    with pytest.raises(ExerciseError, match="0 wrong answers; write at least two"):
        _ = load(write({"wrong.md": "# Wrong answers\n" + RIGHT})).wrong
