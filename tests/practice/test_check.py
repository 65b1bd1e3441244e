"""What a learner sees: of a check, in plain Python and in a kernel; of hints, the solution and the list."""

from __future__ import annotations

import inspect
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

from tests.practice.conftest import CHECKS, PAGE, QUIZ, SELF_TEST, SOLUTION, Write
from torchbook import practice
from torchbook.practice import learner, progress, shelf
from torchbook.practice.exercise import load
from torchbook.practice.quiz import SITE
from torchbook.practice.report import Result, marked

GOOD = "def add(a, b):\n    return a + b\n"
STUB = "def add(a, b):\n    raise NotImplementedError\n"
MINUS = "def add(a, b):\n    return a - b\n"


def answer(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "answer"}
    exec(compile(source, "<answer>", "exec"), names)
    return names


@pytest.fixture(autouse=True)
def exercise(write: Write) -> Path:
    return write()


def check(source: str, exercise_id: str = "p09-x1", **options: Any) -> Result:
    return practice.check(exercise_id, namespace=answer(source), **options)


# What is said.


def test_a_solved_exercise_is_true_and_says_so() -> None:
    result = check(GOOD)
    assert result
    assert str(result).splitlines() == [
        "p09-x1 A sum: solved, 2 checks passed",
        "  passed  sum",
        "  passed  zero",
        'To compare with the reference: `solution("p09-x1")`',
    ]


def test_hidden_checks_do_not_run() -> None:
    assert [outcome.name for outcome in check(GOOD).outcomes] == ["test_sum", "test_zero"]


def test_a_refused_check_tells_the_misconception_and_the_hint_by_its_symptom() -> None:
    result = check(MINUS)
    assert not result
    assert result.headline == "p09-x1 A sum: 1 of 2 checks passed"
    assert result.advice == (
        "Sum: a sum is the number of both together",
        'Hint `hint("p09-x1", 1)`: The sum is a difference',
    )


def test_only_the_first_failure_is_explained() -> None:
    result = check("def add(a, b): return 7")
    assert [row.word for row in result.rows] == ["refused", "refused"]
    assert not any("nothing" in paragraph for paragraph in result.advice)


def test_the_first_failure_that_a_hint_speaks_of_is_explained_before_one_without(write: Write) -> None:
    write({"exercise.md": PAGE.replace("{test_sum, test_hidden_random}", "{test_zero}")})
    result = check("def add(a, b): return 7")
    assert result.advice == (
        "Zero: nothing and nothing is nothing",
        'Hint `hint("p09-x1", 1)`: The sum is a difference',
    )


def test_where_no_hint_fits_the_list_is_offered() -> None:
    result = check("def add(a, b): return a + b + (a == 0)")
    assert result.advice == ("Zero: nothing and nothing is nothing", '2 hints: `hint("p09-x1")`')


def test_a_stub_is_met_kindly() -> None:
    result = check(STUB)
    assert not result
    assert str(result).splitlines() == [
        "p09-x1 A sum: not solved yet, the stub is still there",
        "Write `add` where the stub says `raise NotImplementedError`, and run that cell again.",
        '2 hints: `hint("p09-x1")`',
    ]


def test_of_a_stub_to_repair_only_what_is_to_be_written_is_named(write: Write) -> None:
    head, body = SOLUTION.split("    ### BEGIN")
    mul = f"{head.partition('def')[2].replace('add', 'mul')}    ### BEGIN{body}"
    mul = mul.replace("    ### END", "    ### INSTEAD\n    # return a - b\n    ### END")
    checks = CHECKS.replace("(add", "(add, mul")
    exercise = load(write({"solution.py": f"{SOLUTION}\n\ndef{mul}", "checks.py": checks}))
    result = check(exercise.stub)
    assert result.advice[0].startswith("Write `add` where the stub says")


def test_of_several_functions_the_open_one_is_named(write: Write) -> None:
    write(
        {
            "checks.py": CHECKS.replace("zero(add)", "zero(add, mul)"),
            "solution.py": f"### BEGIN SOLUTION\n{GOOD}mul = 1\n### END SOLUTION\n",
        }
    )
    result = check(f"{GOOD}mul = add\ndef mul(a, b): raise NotImplementedError")
    assert result
    result = check(STUB + "mul = 1")
    assert "Write `add`" in result.advice[0]


def test_a_name_that_is_not_defined_is_asked_for_and_near_ones_are_named() -> None:
    result = check("def Add(a, b): return a + b\ndef _add(a, b): ...\nimport ast as addd")
    assert result.advice == (
        "`add` is not defined here: define it under this name, or run the cell that does. There is `Add`: is that it?",
    )
    assert result.rows == ()


def test_what_raises_is_named_with_the_learner_s_line_and_no_traceback() -> None:
    result = check("def add(a, b):\n    c = {}\n    return c['a']\n")
    assert result.rows[0].word == "error"
    assert result.advice[0].startswith("Sum did not get through: KeyError: 'a' (line 3 of your code")
    assert "Traceback" not in str(result)


def test_time_is_up_after_the_limit_of_the_exercise_times_patience() -> None:
    start = time.monotonic()
    result = check("def add(a, b):\n    while True: pass\n", patience=0.05)
    assert time.monotonic() - start < 5
    assert [outcome.state for outcome in result.outcomes] == ["time", "time"]
    assert result.advice[0].startswith("Sum: not finished after 0.25 s")


@pytest.mark.parametrize("spelled", ["P09-X1", " p09_x1 "])
def test_an_id_may_be_spelled_in_other_ways(spelled: str) -> None:
    assert check(GOOD, spelled)


@pytest.mark.parametrize("odd", ["p09-x77", "", "p09-x1-a-sum", None, 3, answer])
def test_an_unknown_id_is_a_sentence_and_no_exception(odd: Any, capsys: pytest.CaptureFixture[str]) -> None:
    result = practice.check(odd, namespace={})
    assert not result
    assert capsys.readouterr().out.startswith("Nothing was checked: ")


def test_a_near_id_is_proposed() -> None:
    assert "did you mean p09-x1" in practice.check("p09-x11", namespace={}).headline


def test_a_malformed_exercise_is_a_sentence_and_no_exception(write: Write) -> None:
    write({"exercise.md": "nothing"})
    assert "exercises/p09/x1-a-sum/exercise.md:1: the front matter is missing" in check(GOOD).headline


def test_checks_that_cannot_load_are_no_exception(write: Write) -> None:
    write({"checks.py": CHECKS.replace("def test_sum", "CASES = 1 / 0\n\n\ndef test_sum")
           .replace("assert add(1, 2)", "assert CASES and add(1, 2)")})  # fmt: skip
    assert "could not be loaded: ZeroDivisionError: division by zero" in check(GOOD).advice[0]


def test_a_package_that_is_not_installed_is_said_and_no_try_is_kept(write: Write) -> None:
    write({"checks.py": "import absent_module\n" + CHECKS.replace("random.Random", "absent_module.Random")
           .replace("assert add(1, 2)", "assert absent_module and add(1, 2)")})  # fmt: skip
    assert check(GOOD).headline == "Nothing was checked: absent_module is not installed here: pip install absent_module"
    assert progress.read()[0] == {}


def test_definitions_are_found_where_the_call_is() -> None:
    names = answer(f"from torchbook.practice import check\n{GOOD}result = check('p09-x1')")
    assert names["result"]


def test_the_result_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    result = check(MINUS)
    assert capsys.readouterr().out == f"{result}\n"
    assert repr(result) == "<p09-x1 A sum: 1 of 2 checks passed>"


# As HTML.


class _Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += attrs
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_html_says_the_same_in_words_and_sets_no_colour() -> None:
    result = check(MINUS)
    html = _Tags(result._repr_html_())
    assert html.open == []
    text = "".join(html.words)
    for row in result.rows:
        assert f"{row.word}: {row.what}" in text
    assert "color" not in result._repr_html_()
    assert ("role", "status") in html.attributes


def test_html_of_what_a_learner_wrote_is_text() -> None:
    result = check("def add(a, b): raise ValueError('<script>alert(1)</script>')")
    assert "<script" not in result._repr_html_()
    assert "<script" in str(result)
    assert marked("`a<b` & c") == "<code>a&lt;b</code> &amp; c"


# Quizzes.


@pytest.fixture
def quiz_page(write: Write) -> None:
    write({"exercise.md": QUIZ}, "p09/x2-a-quiz", bare=True)


@pytest.mark.usefixtures("quiz_page")
def test_a_quiz_says_for_each_question_what_is_behind_it() -> None:
    result = check("p09_x2 = {'planet': 'a', 'word': 'to'}", "p09-x2")
    assert not result
    assert str(result).splitlines() == [
        "p09-x2 A quiz: 1 of 2 answers right",
        "  not right  planet",
        "             It only looks red.",
        "  right      word",
        "             It moves and casts.",
    ]


@pytest.mark.usefixtures("quiz_page")
def test_an_untouched_quiz_is_met_kindly() -> None:
    result = check("p09_x2 = {'planet': '', 'word': ''}", "p09-x2")
    assert result.headline == "p09-x2 A quiz: not answered yet"
    assert progress.read() == ({}, "")


@pytest.mark.usefixtures("quiz_page")
def test_an_open_question_is_not_wrong() -> None:
    result = check("p09_x2 = {'planet': 'b', 'word': ''}", "p09-x2")
    assert [(row.what, row.word) for row in result.rows] == [("planet", "right"), ("word", "not answered")]


@pytest.mark.usefixtures("quiz_page")
def test_an_answer_of_another_form_is_said() -> None:
    result = check("p09_x2 = {'planet': 'Earth', 'word': 'to'}", "p09-x2")
    assert (result.rows[0].what, result.rows[0].detail) == ("form", "planet: answer with one letter, a or b")


@pytest.mark.usefixtures("quiz_page")
def test_a_quiz_solved_is_solved() -> None:
    assert check("p09_x2 = {'planet': 'b', 'word': 'to'}", "p09-x2").headline == "p09-x2 A quiz: 2 of 2 answers right"


@pytest.mark.usefixtures("quiz_page")
def test_the_solution_of_a_quiz_has_answers_and_reasons(capsys: pytest.CaptureFixture[str]) -> None:
    practice.solution("p09-x2")
    assert "**planet**: `b`. There is water." in capsys.readouterr().out


@pytest.fixture
def self_test_page(write: Write) -> None:
    write({"exercise.md": SELF_TEST}, "p09/x2-a-quiz", bare=True)


@pytest.mark.usefixtures("self_test_page")
def test_a_self_test_says_what_to_read_for_what_was_missed() -> None:
    result = check("p09_x2 = {'planet': 'a', 'word': 'to'}", "p09-x2")
    assert result.advice[-2:] == (
        f"The sky: 0 of 1 right, to read:\n  A page: {SITE}/book/sky.html#the-stars\n  A site: https://example.org/sky",
        "Some PyTorch: 1 of 1 right",
    )


@pytest.mark.usefixtures("self_test_page")
def test_what_to_read_is_a_link_in_a_notebook() -> None:
    result = check("p09_x2 = {'planet': 'a', 'word': 'to'}", "p09-x2")
    assert f'<a href="{SITE}/book/sky.html#the-stars">' in result._repr_html_()


@pytest.mark.usefixtures("self_test_page")
def test_an_open_question_of_a_self_test_is_one_missed() -> None:
    result = check("p09_x2 = {'planet': '', 'word': 'to'}", "p09-x2")
    assert result.advice[-2].startswith("The sky: 0 of 1 right, to read:")


@pytest.mark.usefixtures("self_test_page")
def test_an_untouched_self_test_recommends_nothing() -> None:
    assert check("p09_x2 = {'planet': '', 'word': ''}", "p09-x2").advice == ()


@pytest.mark.usefixtures("self_test_page")
def test_a_self_test_without_a_miss_recommends_nothing() -> None:
    result = check("p09_x2 = {'planet': 'b', 'word': 'to'}", "p09-x2")
    assert result
    assert "to read" not in str(result)


# Progress.


def state() -> str:
    return progress.read()[0].get("p09-x1", progress.Record()).state


def test_an_untouched_stub_is_no_try() -> None:
    check(STUB)
    check("")
    assert state() == "new"


def test_a_failed_and_a_solved_check_are_kept() -> None:
    check(MINUS)
    assert state() == "tried"
    check(GOOD)
    assert state() == "solved"


def test_a_progress_that_cannot_be_kept_is_said_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(progress.FILE, str(tmp_path / "file" / "x.json"))
    first, second = check(GOOD), check(GOOD)
    assert first
    assert "Your progress is not kept" in first.advice[-1]
    assert "not kept" not in str(second)


# Hints, the solution, the list, the reference.


def test_hints_are_listed_by_symptom(capsys: pytest.CaptureFixture[str]) -> None:
    practice.hint("p09-x1")
    output = capsys.readouterr().out
    assert "1. The sum is a difference\n2. Nothing helps" in output
    assert "Look at the sign" not in output
    practice.hints("p09-x1")
    assert capsys.readouterr().out == output


def test_one_hint_is_shown_and_kept(capsys: pytest.CaptureFixture[str]) -> None:
    practice.hint("p09-x1", 1)
    assert "Look at the sign." in capsys.readouterr().out
    assert progress.read()[0]["p09-x1"].hints == [1]


@pytest.mark.parametrize(("arguments", "message"), [
    (("p09-x1", 3), "p09-x1 has no hint 3; there are 1 to 2"),
    (("p09-x1", 0), "p09-x1 has no hint 0"),
    (("p09-x11",), "no exercise 'p09-x11'; did you mean p09-x1"),
])  # fmt: skip
def test_a_hint_that_is_not_there_is_a_sentence(
    arguments: tuple[Any, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    practice.hint(*arguments)
    assert capsys.readouterr().out.startswith(message)


def test_the_solution_is_shown_without_marks_and_that_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    practice.solution("p09-x1")
    output = capsys.readouterr().out
    assert "    return a + b\n```" in output
    assert "###" not in output
    assert state() == "solution opened"


def test_the_list_says_how_far_one_is(capsys: pytest.CaptureFixture[str]) -> None:
    check(MINUS)
    capsys.readouterr()
    practice.exercises("own")
    assert "| p09-x1 | A sum | 1 of 5 | 5 | tried |" in capsys.readouterr().out


def test_the_list_of_what_is_to_do_leaves_out_the_solved(capsys: pytest.CaptureFixture[str]) -> None:
    check(GOOD)
    capsys.readouterr()
    practice.exercises("own", todo=True)
    assert capsys.readouterr().out == "No exercise to show.\n"


def test_the_list_leaves_out_what_is_for_instructors(write: Write) -> None:
    page = (write() / "exercise.md").read_text().replace("stars: 1", "audience: instructor\nstars: 1")
    write({"exercise.md": page})
    assert learner.listing("own") == ([], "")


def test_a_reference_is_imported_with_its_source() -> None:
    reference = practice.reference("p09-x1")
    assert (reference.add(1, 2), reference.LIMIT) == (3, 3)
    assert inspect.getsource(reference.add).endswith("    return a + b\n")
    assert not hasattr(reference, "math")


def test_the_references_of_two_exercises_live_side_by_side() -> None:
    place = practice.reference("p01-x3").place
    practice.reference("p09-x1")
    assert "stride" in inspect.getsource(place)


def test_a_traceback_shows_the_lines_of_a_reference() -> None:
    with pytest.raises(TypeError) as raised:
        practice.reference("p09-x1").add(1, "a")
    assert str(raised.traceback[-1].statement).strip() == "return a + b"


# In a real kernel.


def run(*cells: str) -> list[dict[str, str]]:
    """The outputs of a notebook's cells: for each cell its texts, plain and as HTML."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    outputs = []
    for cell in notebook.cells:
        bundles = [output.get("data", {"text/plain": output.get("text", "")}) for output in cell.outputs]
        outputs.append(
            {form: "\n".join(bundle.get(form, "") for bundle in bundles) for form in ("text/plain", "text/html")}
        )
    return outputs


IMPORT = "from torchbook.practice import check, hint, solution"


def test_p01_x3_in_a_kernel() -> None:
    exercise = shelf.find("p01-x3")
    endless = exercise.reference + "\n\ndef place(shape, stride, offset, index):\n    while True:\n        pass\n"
    clock = "import time; start = time.monotonic()"
    outputs = run(
        IMPORT,
        'check("p01-x3")',
        exercise.stub,
        'check("p01-x3");',
        exercise.reference,
        'result = check("p01-x3")\nassert result',
        endless,
        f'{clock}\ncheck("p01-x3", patience=0.2)\nassert time.monotonic() - start < 2 + 5',
        'hint("p01-x3", 1)',
    )
    before, stub, solved, stopped = (outputs[n]["text/plain"] for n in (1, 3, 5, 7))
    assert "`place` is not defined here" in before
    assert stub.startswith("p01-x3 Manual indexing: not solved yet, the stub is still there")
    assert solved.startswith("p01-x3 Manual indexing: solved, 9 checks passed")
    assert "time is up" in stopped
    assert "not finished after 2 s" in stopped
    assert "solved, 9 checks passed" in outputs[5]["text/html"]
    assert "Every place is too small" in outputs[8]["text/plain"]


def test_a_result_is_displayed_once_a_cell_and_again_when_asked_for() -> None:
    outputs = run(IMPORT, GOOD + 'check("p09-x1")', "result = _", "result")
    assert outputs[1]["text/plain"].count("A sum: solved") == 1
    assert outputs[2]["text/plain"] == ""
    assert outputs[3]["text/plain"].count("A sum: solved") == 1


PROCESSES = """import subprocess
import sys
import tempfile
from pathlib import Path


def test_sum(source):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "answer.py"
        file.write_text(source + "\\n\\nif __name__ == '__main__':\\n    print(add(1, 2))\\n")
        done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=False)
    assert done.stdout == "3\\n", done.stderr


def test_zero(add):
    assert add(0, 0) == 0


def test_hidden_same(add, reference):
    assert add(3, 4) == reference.add(3, 4)
"""


def test_an_answer_is_run_in_a_process_of_its_own_from_a_kernel(write: Write) -> None:
    page = (write() / "exercise.md").read_text().replace(", test_hidden_random", "")
    write({"checks.py": PROCESSES, "exercise.md": page})
    helper = "@functools.cache\ndef plus(a, b):\n    return a + b + NOTHING.real\n"
    outputs = run(
        f"{IMPORT}\nimport functools\nNOTHING = 0",
        helper,
        "class Adder:\n    start = 0\n    def sum(self, a, b):\n        return plus(a, b) + self.start",
        "def add(a, b):\n    return Adder().sum(a, b)",
        'assert check("p09-x1")',
        "weights = object()\ndef add(a, b):\n    return plus(a, b) if weights else 0",
        'check("p09-x1")',
    )
    assert "solved, 2 checks passed" in outputs[4]["text/plain"]
    assert "`add` uses `weights`, whose source cannot be had (its type is object)" in outputs[6]["text/plain"]
