"""What is read out of a student's notebook, whatever became of it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from torchbook_course import submission
from torchbook_course.submission import Cell, SubmissionError, definitions, extract, read, repaired

STUBS = {
    "p01-x3": "# exercise p01-x3 (keep this line)\ndef place(x):\n    # your code here\n    raise NotImplementedError",
    "p01-x4": "# exercise p01-x4 (keep this line)\ndef other(x):\n    # your code here\n    raise NotImplementedError",
}


def solved(exercise: str, body: str, *, named: bool = True, kind: str = "code") -> Cell:
    return Cell(kind, f"# exercise {exercise} (keep this line)\n{body}", f"{exercise}-solution" if named else "")


def answer(cells: list[Cell], exercise: str = "p01-x3") -> submission.Answer:
    return extract(cells, STUBS).answers[exercise]


def context(cells: list[Cell]) -> dict[str, object]:
    """What the context of the answer defines when it is run."""
    names: dict[str, object] = {}
    exec(answer(cells).context, names)
    return {name: value for name, value in names.items() if name != "__builtins__"}


def repair_text(cells: list[Cell]) -> str:
    return "\n".join(f"{repair.exercise}: {repair.what}" for repair in extract(cells, STUBS).repairs)


# Files.


def written(folder: Path, content: Any) -> Path:
    path = folder / "hw1.ipynb"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def test_a_notebook_is_read(tmp_path: Path) -> None:
    cell = new_code_cell("a = 1\nb = 2", metadata={"nbgrader": {"grade_id": "p01-x3-solution"}})
    cell.outputs = [nbformat.v4.new_output("stream", text="x" * 10_000)]
    path = tmp_path / "hw1.ipynb"
    nbformat.write(new_notebook(cells=[new_markdown_cell("Text"), cell]), path)
    assert read(path) == (Cell("markdown", "Text"), Cell("code", "a = 1\nb = 2", "p01-x3-solution"))


def test_a_notebook_of_version_3_is_read(tmp_path: Path) -> None:
    cells = [{"cell_type": "code", "input": ["a = 1\n", "b = 2"], "outputs": [], "metadata": {}}]
    path = written(tmp_path, {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": cells}]})
    assert read(path) == (Cell("code", "a = 1\nb = 2"),)


def test_what_is_no_cell_is_left_out(tmp_path: Path) -> None:
    cells = [None, 3, {}, {"cell_type": "code", "source": 5, "metadata": []}, {"cell_type": "code", "source": "ok"}]
    read_cells = read(written(tmp_path, {"cells": cells}))
    assert [cell.source for cell in read_cells] == ["", "", "ok"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"\x89PNG\r\n\x1a\n\x00", "not a notebook"),
        (b"import torch\n", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"cells": ' + b"9" * 100_000 + b"}", "not JSON"),
        (b"[1, 2]", "no cells"),
        (b'{"hello": 1}', "no cells"),
        (b'{"cells": [' + b"[]," * 1_000_001 + b"[]]}", "lists and objects"),
    ],
    ids=["empty", "picture", "python", "deep", "number", "list", "object", "many"],
)
def test_what_is_no_notebook_is_said_to_be_none(tmp_path: Path, content: bytes, reason: str) -> None:
    with pytest.raises(SubmissionError, match=reason):
        read(written(tmp_path, content))


def test_a_huge_file_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "hw1.ipynb"
    with path.open("wb") as file:
        file.truncate(3_000_000_000)
    with pytest.raises(SubmissionError, match="3000 MB, more than 50; clear all outputs"):
        read(path)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    written(tmp_path, {"cells": []})
    (tmp_path / "link.ipynb").symlink_to(tmp_path / "hw1.ipynb")
    with pytest.raises(SubmissionError, match="a link"):
        read(tmp_path / "link.ipynb")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "hw1.ipynb")
    with pytest.raises(SubmissionError, match="a link or a device"):
        read(tmp_path / "hw1.ipynb")


def test_a_missing_file_is_a_problem_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(SubmissionError, match="cannot be read"):
        read(tmp_path / "hw1.ipynb")


def test_half_a_surrogate_pair_can_be_written_again(tmp_path: Path) -> None:
    (cell,) = read(written(tmp_path, b'{"cells": [{"cell_type": "code", "source": "a = \'\\ud800\'"}]}'))
    assert cell.source == "a = '?'"


# Which cell answers.


def test_an_answer_is_found_by_its_grade_id() -> None:
    assert answer([Cell("code", "def place(x):\n    return x", "p01-x3-solution")]).code.strip().endswith("return x")


def test_an_answer_is_found_by_its_first_line() -> None:
    cells = [solved("p01-x3", "def place(x):\n    return x", named=False)]
    assert "return x" in answer(cells).code
    assert "p01-x3: nbgrader's metadata are gone" in repair_text(cells)


def test_an_untouched_notebook_needs_no_repair_but_for_what_is_gone() -> None:
    cells = [Cell("code", STUBS["p01-x3"], "p01-x3-solution")]
    assert repair_text(cells) == "p01-x4: the cell of the answer is gone; the exercise counts as unsolved"


def test_the_last_of_several_answers_counts() -> None:
    cells = [solved("p01-x3", "def place(x):\n    return 1"), solved("p01-x3", "def place(x):\n    return 2")]
    assert "return 2" in answer(cells).code
    assert "2 cells answer it" in repair_text(cells)


def test_an_untouched_copy_does_not_count_as_the_last_answer() -> None:
    cells = [solved("p01-x3", "def place(x):\n    return 1"), Cell("code", STUBS["p01-x3"], "p01-x3-solution")]
    assert "return 1" in answer(cells).code


def test_a_cell_that_was_split_keeps_both_halves() -> None:
    halves = [solved("p01-x3", "def place(x):\n    return 1"), Cell("code", "def twice(x): ...", "p01-x3-solution")]
    joined = answer(halves)
    assert "def twice" in joined.code
    assert "def place" in joined.context


def test_the_marker_counts_more_than_a_copied_grade_id() -> None:
    copied = Cell("code", "# exercise p01-x4 (keep this line)\ndef other(x): ...", "p01-x3-solution")
    cells = [solved("p01-x3", "def place(x):\n    return 1"), copied]
    assert "return 1" in answer(cells).code


def test_a_cell_turned_into_text_is_still_the_answer() -> None:
    cells = [solved("p01-x3", "def place(x):\n    return 1", kind="markdown")]
    assert "return 1" in answer(cells).code
    assert "had become a markdown cell" in repair_text(cells)


def test_an_endless_cell_is_not_graded() -> None:
    cells = [solved("p01-x3", "x = 1\n" * 20_000)]
    assert "p01-x3" not in extract(cells, STUBS).answers
    assert "64000 characters" in repair_text(cells)


# The context.


def test_a_helper_above_counts() -> None:
    cells = [Cell("code", "import math\n\ndef helper(x):\n    return x + 1"), solved("p01-x3", "place = helper")]
    assert list(context(cells)) == ["math", "helper"]


def test_what_fails_in_the_context_stops_nothing_else() -> None:
    cells = [
        Cell("code", "from google.colab import drive\n@nowhere\ndef f(): ...\ndef helper(x):\n    '''Says\nit.'''"),
        solved("p01-x3", "place = helper"),
    ]
    namespace = context(cells)
    assert list(namespace) == ["helper"]
    assert namespace["helper"].__doc__ == "Says\nit."


def test_a_helper_below_fills_a_gap_and_no_more() -> None:
    cells = [
        Cell("code", "n = 1"),
        solved("p01-x3", "def place(x):\n    return x"),
        Cell("code", "n = 2\nm = 3\ndef place(x):\n    return -x"),
    ]
    assert context(cells) == {"n": 1, "m": 3}


def test_earlier_answers_are_context_and_later_ones_are_not() -> None:
    cells = [solved("p01-x3", "def place(x):\n    return x"), solved("p01-x4", "def other(x):\n    return place(x)")]
    assert "def place" in answer(cells, "p01-x4").context
    assert answer(cells, "p01-x3").context == ""


def test_cells_that_were_handed_out_are_no_context() -> None:
    check = "def test_it(place):\n    assert place(1)"
    cells = [Cell("code", check), Cell("code", check, "p01-x3-public"), solved("p01-x3", "place = 1")]
    assert extract(cells, STUBS, [check]).answers["p01-x3"].context == ""


@pytest.mark.parametrize(
    "kept",
    [
        "import torch\nfrom torch import nn",
        "@decorator\ndef f(x=1):\n    return x",
        "class A(nn.Module):\n    pass",
        "n: int = 3",
        "lr, steps = 0.1, [1, 2]",
        "dtype = torch.float32",
        "total = 2 * n - 1",
        "square = lambda x: x * x",
        "try:\n    import google.colab\nexcept ImportError:\n    pass",
    ],
)
def test_definitions_are_kept(kept: str) -> None:
    assert definitions(kept) == kept


@pytest.mark.parametrize(
    "left_out",
    [
        "print('x')",
        "model = train()",
        "for i in range(9):\n    n = i",
        "while True:\n    pass",
        "x[0] = 1",
        "obj.attribute = 1",
        "n = 3; train()",
        "n = 9**9**9**9",
        "l = [i for i in range(10**9)]",
        "del torch",
        "with open('x') as f:\n    n = 1",
        "this is not python",
        "from __future__ import annotations",
        "a = " + "-" * 60_000 + "1",
    ],
)
def test_experiments_are_left_out(left_out: str) -> None:
    assert definitions(left_out) == ""


def test_ipythons_syntax_is_taken_out_and_lines_stay_where_they_are() -> None:
    source = "%matplotlib inline\n!pip install x\nfiles = !ls\ndef place(x):\n    %timeit x\n    return x\nplace?"
    cleaned = answer([Cell("code", source, "p01-x3-solution")]).code
    assert cleaned == "pass\npass\nfiles = None\ndef place(x):\n    pass\n    return x\npass\n"


def test_a_timed_cell_is_still_an_answer() -> None:
    timed = answer([Cell("code", "%%time\n# exercise p01-x3 (keep this line)\ndef place(x): ...")])
    assert timed.code.splitlines()[2] == "def place(x): ..."


def test_a_cell_in_another_language_defines_nothing() -> None:
    cells = [Cell("code", "%%bash\nrm -rf /"), Cell("code", "%%writefile x.py\ny = 1"), solved("p01-x3", "place = 1")]
    assert answer(cells).context == ""


def test_the_learners_own_get_ipython_is_not_taken_out() -> None:
    source = "get_ipython().input_transformers_cleanup.append(list)\n%time 1"
    assert "input_transformers_cleanup" in answer([Cell("code", source, "p01-x3-solution")]).code


def test_endless_magics_are_given_up() -> None:
    cells = [Cell("code", "%time 1\n" * 5_000, "p01-x3-solution")]
    assert "%time 1" in answer(cells).code
    assert "200 lines of IPython" in repair_text(cells)


# What nbgrader gets.


def handed_out() -> nbformat.NotebookNode:
    cells = []
    for exercise, stub in STUBS.items():
        for part, source in (("solution", stub), ("public", f"test({exercise!r})")):
            metadata = {"nbgrader": {"grade_id": f"{exercise}-{part}", "checksum": "c"}}
            cells.append(new_code_cell(source, metadata=metadata))
    return new_notebook(cells=cells)


def made(cells: list[Cell]) -> nbformat.NotebookNode:
    release = handed_out()
    return repaired(cells, extract(cells, STUBS, [cell.source for cell in release.cells]), release)


def test_the_repaired_notebook_has_the_cells_as_handed_out() -> None:
    notebook = made([Cell("code", "junk", "p01-x3-public"), solved("p01-x3", "place = 1", named=False)])
    nbformat.validate(notebook)
    assert [cell.metadata.nbgrader.grade_id for cell in notebook.cells] == [
        "p01-x3-solution",
        "p01-x3-public",
        "p01-x4-solution",
        "p01-x4-public",
    ]
    assert notebook.cells[0].source.endswith("place = 1")
    assert notebook.cells[1].source == "test('p01-x3')"
    assert notebook.cells[2].source == "# this cell was not in the submission"


def test_the_repaired_notebook_shows_the_students_own_cells() -> None:
    notebook = made([Cell("code", "def helper(): ..."), solved("p01-x3", "place = helper")])
    assert [cell.source for cell in notebook.cells[4:]] == [
        "**Other code cells of the submission**",
        "def helper(): ...",
    ]


def test_nbgraders_marks_in_an_answer_are_harmless() -> None:
    notebook = made([solved("p01-x3", "### BEGIN HIDDEN TESTS")])
    assert "BEGIN HIDDEN TESTS" not in notebook.cells[0].source


@pytest.mark.parametrize("cells", [{}, {"0": {"cell_type": "code"}}, None, "code", 3])
def test_cells_that_are_no_list_make_no_notebook(tmp_path: Path, cells: Any) -> None:
    path = tmp_path / "hw1.ipynb"
    path.write_text(json.dumps({"cells": cells}))
    with pytest.raises(SubmissionError, match="not a notebook"):
        read(path)
