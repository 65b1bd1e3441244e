"""Reading an exercise: what is derived from its folder, and what is said of a folder that is not as it must be."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import pytest

from tests.practice.conftest import CHECKS, PAGE, SOLUTION, WRONG, Write
from torchbook.practice import shelf
from torchbook.practice.exercise import Exercise, ExerciseError, Hint, load, public_part, reference_of, stub_of


def test_what_is_read(write: Write) -> None:
    exercise = load(write())
    assert (exercise.id, exercise.slug, exercise.title, exercise.contract.seconds) == ("p09-x1", "a-sum", "A sum", 5)
    assert (exercise.contract.points.public, exercise.contract.points.hidden, exercise.contract.points.total) == (
        1,
        2,
        3,
    )
    assert (exercise.contract.kind, exercise.contract.audience, exercise.contract.needs, exercise.contract.data) == (
        "code",
        "everyone",
        ("cpu",),
        (),
    )
    assert exercise.statement == "Write `add(a, b)`."
    assert [(hint.symptom, hint.text, hint.checks) for hint in exercise.hints] == [
        ("The sum is a difference", "Look at the sign.", ("test_sum", "test_hidden_random")),
        ("Nothing helps", "Sleep over it.", ()),
    ]
    assert exercise.names == ("add",)
    assert exercise.check_names == ("test_sum", "test_zero", "test_hidden_random")
    assert [(wrong.name, wrong.check, wrong.misconception) for wrong in exercise.wrong] == [
        ("minus", "test_sum", "takes a sum for a difference"),
        ("one", "test_zero", "adds one"),
    ]


def test_the_stub_is_the_reference_without_the_answer(write: Write) -> None:
    exercise = load(write())
    assert exercise.stub == SOLUTION.split("    ### BEGIN")[0] + "    # your code here\n    raise NotImplementedError\n"
    assert "###" not in exercise.reference
    assert "    return a + b\n" in exercise.reference


def test_at_the_top_level_the_stub_has_a_comment() -> None:
    assert stub_of("a = 1\n### BEGIN SOLUTION\na = 2\n### END SOLUTION\nb = 3\n") == "a = 1\n# your code here\nb = 3\n"


def test_a_stub_of_several_answers_is_python() -> None:
    solution = (
        "class A:\n    ### BEGIN SOLUTION\n    x = 1\n    ### END SOLUTION\n\n\ndef f():\n    ### BEGIN SOLUTION\n"
    )
    assert ast.parse(stub_of(f"{solution}    return 1\n    ### END SOLUTION\n"))


REPAIR = """def mean(xs):
    ### BEGIN SOLUTION
    total = sum(xs)
    return total / len(xs)
    ### INSTEAD
    # total = 0
    # for x in xs:
    #     total += x  # one by one
    #
    # return total
    ### END SOLUTION


SCALE = 3
### BEGIN SOLUTION
SCALE = 2
### INSTEAD
### END SOLUTION
"""


def test_the_stub_has_what_is_instead_of_an_answer() -> None:
    stub = (
        "def mean(xs):\n    total = 0\n    for x in xs:\n        total += x  # one by one\n\n    return total\n"
        "\n\nSCALE = 3\n"
    )
    assert stub_of(REPAIR) == stub


def test_the_reference_has_nothing_of_what_is_instead() -> None:
    reference = "def mean(xs):\n    total = sum(xs)\n    return total / len(xs)\n\n\nSCALE = 3\nSCALE = 2\n"
    assert reference_of(REPAIR) == reference


def test_an_exercise_may_mix_answers_to_write_and_code_to_repair(write: Write) -> None:
    add = SOLUTION.replace("    ### END", "    ### INSTEAD\n    # return a - b\n    ### END")
    exercise = load(
        write({"solution.py": f"{add}\n\n{SOLUTION.partition('LIMIT = 3')[2].replace('add', 'again').strip()}\n"})
    )
    assert exercise.stub.count("return a - b") == exercise.stub.count("raise NotImplementedError") == 1
    assert exercise.reference.count("return a + b") == 2
    assert "INSTEAD" not in exercise.stub + exercise.reference


def test_the_prelude_is_the_imports(write: Write) -> None:
    assert load(write()).prelude == "import math\n"


def test_public_checks_hold_nothing_that_only_hidden_ones_use(write: Write) -> None:
    public = load(write()).public_checks
    assert [node.name for node in ast.parse(public).body] == ["test_sum", "test_zero"]  # type: ignore[attr-defined]


def test_public_checks_keep_what_they_use() -> None:
    checks = (
        "from __future__ import annotations\nimport math, json\nimport os\n\nSCALE = 2\n\n\n# why\n@staticmethod\n"
        "def _half(x):\n    return math.floor(x / SCALE)\n\n\ndef test_a(f):\n    assert _half(f) == 1\n\n\n"
        "def test_hidden_b(f):\n    assert os.sep\n"
    )
    expected = checks.replace("import os\n", "").split("def test_hidden_b")[0]
    assert public_part(checks).split() == expected.split()


def test_a_hint_is_found_by_its_check(write: Write) -> None:
    exercise = load(write())
    assert exercise.hint_for("test_sum") is exercise.hints[0]
    assert exercise.hint_for("test_zero") is None


def test_a_hint_for_what_a_check_said_comes_before_one_for_its_name() -> None:
    general, words = Hint("a", "", ("test_sum",)), Hint("b", "", (), (("test_sum", "is NaN"),))
    exercise = replace(shelf.find("p01-x3"), hints=(general, words))
    assert exercise.hint_for("test_sum", "the sum is NaN") is words
    assert exercise.hint_for("test_sum", "the sum is 3") is general
    assert exercise.hint_for("test_sum") is general


@pytest.mark.parametrize(
    ("exercise", "check", "message", "symptom"),
    [
        ("lab-x2", "test_once_an_epoch", "the scheduler moved 3 times", "The scheduler does not move once an epoch"),
        ("lab-x2", "test_once_an_epoch", "the scheduler moved 12 times", "The rate falls far too fast"),
        ("p01-x3", "test_out_of_range", "", "An index that does not exist gives a place all the same"),
        ("l1-x2", "test_nothing_to_see", "the result is zero", "A row that sees nothing gets a mean of the padding"),
        ("l1-x2", "test_nothing_to_see", "a softmax over nothing is NaN", "NaN"),
        ("p03-x3", "test_velocity_is_its_own", "", "The velocity changes when gradients are cleared"),
        ("p04-x2", "test_mean_beside_nan", "", "NaN from a padded position"),
    ],
)
def test_the_hint_is_for_the_error_that_was_made(exercise: str, check: str, message: str, symptom: str) -> None:
    found = shelf.find(exercise).hint_for(check, message)
    assert found is not None
    assert found.symptom == symptom


# Variants.

OVERLAY = {"variants/times/exercise.md": PAGE.replace("A sum", "A product"), "variants/times/wrong.md": None}


def test_a_variant_inherits_what_it_lacks(write: Write) -> None:
    exercise = load(write(OVERLAY))
    variant = exercise.variant("times")
    assert exercise.variants == ("times",)
    assert (variant.title, variant.variant_name) == ("A product", "times")
    assert (variant.solution, variant.checks, variant.wrong) == (exercise.solution, exercise.checks, exercise.wrong)
    assert variant.digest != exercise.digest


def test_a_variant_that_is_not_there_is_said(write: Write) -> None:
    with pytest.raises(ExerciseError, match=r"exercises/p09/x1-a-sum/variants/nope: no such variant; there are: times"):
        load(write(OVERLAY)).variant("nope")


def test_a_class_gets_the_same_variant_every_time_and_seeds_differ(write: Write) -> None:
    exercise = load(write(OVERLAY))
    names = [exercise.for_class(seed).variant_name for seed in range(40)]
    assert names == [exercise.for_class(seed).variant_name for seed in range(40)]
    assert set(names) == {"", "times"}


def test_the_digest_follows_what_decides_a_grade(write: Write) -> None:
    before = load(write()).digest
    assert before == load(write()).digest
    assert before != load(write({"wrong.md": WRONG.replace("+ b + 1", "+ b + 2")})).digest


# The learner's edition.


def test_an_edition_has_no_wrong_answers_and_may_lack_hidden_checks(write: Write) -> None:
    public = load(write()).public_checks
    exercise = load(write({"LEARNER": "", "checks.py": public}))
    assert (exercise.edition, exercise.wrong) == ("learner", ())
    assert exercise.check_names == ("test_sum", "test_zero")


# What is said of a folder that is not as it must be: file, line, remedy.


def without(text: str, line: str) -> str:
    return text.replace(f"{line}\n", "", 1)


def below_the_answer(*lines: str) -> dict[str, str | None]:
    """The solution with lines before the end of its answer, which is at line 10."""
    return {"solution.py": SOLUTION.replace("    ### END", "".join(f"    {line}\n" for line in lines) + "    ### END")}


BAD: dict[str, tuple[dict[str, str | None], str, str]] = {
    "something instead of nothing": (
        {"solution.py": f"{SOLUTION}### INSTEAD\n# a = 1\n"},
        "solution.py:11:",
        "'### INSTEAD' stands outside of '### BEGIN SOLUTION' and '### END SOLUTION'",
    ),
    "something instead, twice": (
        below_the_answer("### INSTEAD", "# return a", "### INSTEAD", "# return b"),
        "solution.py:12:",
        "'### INSTEAD' a second one in the same answer; write it once",
    ),
    "something instead that is no comment": (
        below_the_answer("### INSTEAD", "# return a", "return b"),
        "solution.py:12:",
        "below '### INSTEAD' each line is a comment, '# ' before what the stub has there",
    ),
    "something instead that is an empty line": (
        {"solution.py": SOLUTION.replace("    ### END", "    ### INSTEAD\n\n    # return a\n    ### END")},
        "solution.py:11:",
        "'#' for an empty line; this one is ''",
    ),
    "something instead that is not Python": (
        below_the_answer("### INSTEAD", "# a = 1", "# return a +"),
        "solution.py:12:",
        "the stub is not Python there: invalid syntax",
    ),
    "nothing instead of a whole body": (
        {
            "solution.py": SOLUTION.replace('    """The sum."""\n', "").replace(
                "    ### END", "    ### INSTEAD\n    ### END"
            )
        },
        "solution.py:6:",
        "the stub is not Python there: expected an indented block",
    ),
    "no front matter": ({"exercise.md": "Write."}, "exercise.md:1:", "write the contract between two lines '---'"),
    "front matter without an end": ({"exercise.md": "---\nid: p09-x1\n"}, "exercise.md:1:", "front matter"),
    "not YAML": ({"exercise.md": PAGE.replace("stars: 1", "stars: [1")}, "exercise.md:6:", "not YAML"),
    "a list": ({"exercise.md": "---\n- 1\n---\nWrite.\n"}, "exercise.md:2:", "the front matter must be a mapping"),
    "not UTF-8": ({"exercise.md": "\udcff"}, "exercise.md:1:", "save it as UTF-8"),
    "a field of the wrong kind": ({"exercise.md": PAGE.replace("stars: 1", "stars: 9")}, "exercise.md:5:", "stars: "),
    "a field inside of another": (
        {"exercise.md": PAGE.replace("hidden: 2", "hidden: -2")},
        "exercise.md:8:",
        "points.hidden: ",
    ),
    "an unknown field": ({"exercise.md": PAGE.replace("stars: 1", "stars: 1\nstarz: 1")}, "exercise.md:6:", "starz: "),
    "a missing field": ({"exercise.md": without(PAGE, "seconds: 5")}, "exercise.md:2:", "seconds: Field required"),
    "an id of another folder": (
        {"exercise.md": PAGE.replace("p09-x1", "p09-x2")},
        "exercise.md:2:",
        "name it p09/x2-<slug>",
    ),
    "questions without a quiz": (
        {
            "exercise.md": PAGE.replace(
                "seconds: 5",
                "seconds: 5\nquestions:\n- {name: a, ask: b, accept: [c], example: c, why: d}",
            )
        },
        "exercise.md:2:",
        "a quiz, and nothing else, has `questions`",
    ),
    "a quiz without questions": (
        {"exercise.md": PAGE.replace("seconds: 5", "seconds: 5\nkind: quiz")},
        "exercise.md:2:",
        "a quiz, and nothing else, has `questions`",
    ),
    "no statement": ({"exercise.md": without(PAGE, "Write `add(a, b)`.")}, "exercise.md:11:", "write it below"),
    "a directive": (
        {"exercise.md": PAGE.replace("Look at", ":::{note}\nLook at")},
        "exercise.md:15:",
        "write plain Markdown",
    ),
    "a role": ({"exercise.md": PAGE.replace("the sign", "{ref}`sign`")}, "exercise.md:15:", "write plain Markdown"),
    "a hint for no check": (
        {"exercise.md": PAGE.replace("{test_sum,", "{test_some,")},
        "exercise.md:13:",
        "the hint names test_some, which is no check; there are: test_hidden_random, test_sum, test_zero",
    ),
    "no solution": ({"solution.py": None}, "solution.py:1:", "missing; every exercise of kind code has one"),
    "no checks": ({"checks.py": None}, "checks.py:1:", "missing"),
    "a solution that is not Python": ({"solution.py": "a = 1\ndef\n"}, "solution.py:2:", "invalid syntax"),
    "a solution without marks": (
        {"solution.py": "def add(a, b):\n    return a + b\n"},
        "solution.py:1:",
        "'### BEGIN SOLUTION' and '### END SOLUTION', in pairs",
    ),
    "marks that do not pair": (
        {"solution.py": without(SOLUTION, "    ### END SOLUTION")},
        "solution.py:1:",
        "in pairs",
    ),
    "checks that are not Python": ({"checks.py": "\n\ndef test_(:\n"}, "checks.py:3:", "invalid syntax"),
    "no hidden check": (
        {"checks.py": CHECKS.replace("test_hidden_", "test_"), "exercise.md": PAGE.replace("test_hidden_", "test_")},
        "checks.py:1:",
        "one test_hidden_* check",
    ),
    "a public check of the reference": (
        {"checks.py": CHECKS.replace("test_zero(add)", "test_zero(add, reference)")},
        "checks.py:13:",
        "test_zero is public and asks for `reference`; only test_hidden_* may",
    ),
    "a name that the reference lacks": (
        {"checks.py": CHECKS.replace("test_zero(add)", "test_zero(mul)")},
        "checks.py:1:",
        "checks ask for mul, which solution.py does not define",
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
        load(folder)
    assert str(raised.value).startswith(f"exercises/p09/x1-a-sum/{where} ")
    assert what in str(raised.value)


def test_every_wrong_field_is_named(write: Write) -> None:
    folder = write({"exercise.md": PAGE.replace("stars: 1", "stars: 0").replace("minutes: 5", "minutes: x")})
    with pytest.raises(ExerciseError) as raised:
        load(folder)
    assert len(str(raised.value).splitlines()) == 2


def test_a_folder_without_a_slug_is_refused(tmp_path: Path, write: Write) -> None:
    with pytest.raises(ExerciseError, match=r"name it p09/x1-<slug>"):
        load(write(None, "p09/x1"))


def test_a_complaint_in_a_variant_names_its_file(write: Write) -> None:
    exercise: Exercise = load(write({"variants/times/checks.py": "def test_(:\n"}))
    with pytest.raises(ExerciseError, match=r"^exercises/p09/x1-a-sum/variants/times/checks.py:1: "):
        exercise.variant("times")
