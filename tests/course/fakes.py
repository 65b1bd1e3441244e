"""A class of students that nobody wants, made from a real assignment: each with the points it deserves and its reason.

The assignment has three light exercises: a copy of p01-x3 (3 points), one on `torch.testing.assert_close` that lies in
a private folder (3 points), and the quiz s04-x1 (4 points).
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from torchbook.practice import shelf
from torchbook.practice.exercise import Exercise
from torchbook_course.assignment import Assignment, Item, resolve
from torchbook_course.generate import make

SEED = 7
SECONDS = 3
PLACE, SCALED, QUIZ = "q1-x1", "q2-x1", "s04-x1"
FULL = 10.0
CANARY = "canary-of-another-student"

_PAGE = """---
id: q2-x1
title: Scaled
chapter: q2
audience: instructor
stars: 1
minutes: 5
importance: 1
points: {public: 1, hidden: 2}
seconds: 3
---
`scaled(x, factor)` returns the tensor `x` times `factor`, without changing `x`.

## Hint: The numbers are off {test_values}

Multiply.
"""
_SOLUTION = """import torch


def scaled(x: torch.Tensor, factor: float) -> torch.Tensor:
    \"\"\"`x` times `factor`.\"\"\"
    ### BEGIN SOLUTION
    return x * factor
    ### END SOLUTION
"""
_CHECKS = """import torch


def test_values(scaled):
    torch.testing.assert_close(scaled(torch.ones(2), 3.0), torch.full((2,), 3.0), msg="one times three is three")


def test_unchanged(scaled):
    x = torch.ones(2)
    scaled(x, 3.0)
    assert x.sum() == 2, "x itself was changed"


def test_hidden_random_tensors(scaled, reference, seed):
    x = torch.rand(50, generator=torch.Generator().manual_seed(seed))
    torch.testing.assert_close(scaled(x, -2.5), reference.scaled(x, -2.5), msg="differs on random numbers")
"""
_WRONG = {
    "adds": "# test_values: adds\ndef scaled(x, factor):\n    return x + factor\n",
    "in_place": "# test_unchanged: scales in place\ndef scaled(x, factor):\n    return x.mul_(factor)\n",
    "absolute": "# test_hidden_random_tensors: drops the sign\ndef scaled(x, factor):\n    return x * abs(factor)\n",
}


@dataclass(frozen=True)
class Course:
    """A course with one assignment, and where its parts lie."""

    folder: Path
    assignment: Assignment
    exercises: dict[str, Exercise]
    release: NotebookNode


def course_in(root: Path) -> Course:
    """Make the private exercises and the assignment, by what `torchbook course new` calls."""
    private = root / "private"
    light_copy(private, PLACE, SECONDS)
    _private_exercise(private / f"{SCALED.replace('-', '/')}-scaled")
    items = tuple(Item(id=name, variant="base") for name in (PLACE, SCALED, QUIZ))
    wanted = Assignment(name="hw1", title="Homework 1", seed=SEED, exercises=items, folders=(private,))
    assignment = make(wanted, root / "course").assignment
    return course_of(root / "course", assignment)


def course_of(folder: Path, assignment: Assignment) -> Course:
    """The course of an assignment that was made."""
    exercises = {exercise.id: exercise for exercise in resolve(assignment)}
    release = nbformat.read(folder / "release" / assignment.name / f"{assignment.name}.ipynb", 4)
    return Course(folder, assignment, exercises, release)


def light_copy(private: Path, exercise_id: str, seconds: float) -> None:
    """Put p01-x3 without its variants into a private folder, under another id."""
    folder = private / f"{exercise_id.replace('-', '/')}-place"
    shutil.copytree(shelf.find("p01-x3").folder, folder, ignore=shutil.ignore_patterns("variants", "__pycache__"))
    page = (folder / "exercise.md").read_text()
    page = page.replace("id: p01-x3", f"id: {exercise_id}").replace("seconds: 10", f"seconds: {seconds:g}")
    (folder / "exercise.md").write_text(page)


def _private_exercise(folder: Path) -> None:
    (folder / "wrong").mkdir(parents=True)
    for name, text in (("exercise.md", _PAGE), ("solution.py", _SOLUTION), ("checks.py", _CHECKS)):
        (folder / name).write_text(text)
    for name, text in _WRONG.items():
        (folder / "wrong" / f"{name}.py").write_text(text)


# Submissions.


@dataclass(frozen=True)
class Place:
    """What a hostile submission knows of the machine: paths, and a port that listens on it."""

    submissions: Path
    course: Path
    private: Path
    results: Path
    canary: Path
    port: int


@dataclass(frozen=True)
class Fake:
    """A student. `person`: whether the grader must ask a person to look."""

    student: str
    what: str
    content: Callable[[Course, Place], NotebookNode | bytes | None]
    points: float
    person: bool = False


def write(fake: Fake, course: Course, place: Place) -> Path:
    """Hand a submission in."""
    folder = place.submissions / fake.student
    folder.mkdir(parents=True)
    content = fake.content(course, place)
    path = folder / "hw1.ipynb"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content is not None:
        path.write_text(nbformat.writes(content) if isinstance(content, NotebookNode) else content, encoding="utf-8")
    return path


def answered(course: Course, **answers: str) -> NotebookNode:
    """The notebook as handed out with answers in it: `place`, `scaled` and `quiz`; right ones by default."""
    notebook = nbformat.from_dict(json.loads(json.dumps(course.release)))
    named = {PLACE: "place", SCALED: "scaled", QUIZ: "quiz"}
    for exercise, key in named.items():
        cell = cell_of(notebook, f"{exercise}-solution")
        cell.source = (
            f"# exercise {exercise} (keep this line)\n{answers.get(key, course.exercises[exercise].reference)}"
        )
    return notebook


def cell_of(notebook: NotebookNode, grade_id: str) -> NotebookNode:
    """A cell by nbgrader's id."""
    return next(cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == grade_id)


def placing(body: str) -> Callable[[Course, Place], NotebookNode]:
    """All right but for `place`, whose body does something else first."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    measured = "\n\ndef measured_place(t, index):\n    return place((), (), 0, ())\n"
    return lambda course, place: answered(
        course, place=f"def place(shape, stride, offset, index):\n{_filled(lines, place)}    return 0\n{measured}"
    )


def _filled(text: str, place: Place) -> str:
    """Text with paths and port filled in."""
    known = {name: str(getattr(place, name)) for name in ("submissions", "course", "private", "results", "canary")}
    for name, value in {**known, "port": str(place.port)}.items():
        text = text.replace(f"<{name}>", value)
    return text


def _source(what: Callable[[str], str]) -> Callable[[Course, Place], NotebookNode]:
    """All right, the cell of `place` rewritten."""
    return lambda course, place: answered(course, place=_filled(what(course.exercises[PLACE].reference), place))


def _notebook(change: Callable[[NotebookNode], Any]) -> Callable[[Course, Place], NotebookNode]:
    """All right, then something happens to the notebook."""

    def made(course: Course, place: Place) -> NotebookNode:
        notebook = answered(course)
        change(notebook)
        return notebook

    return made


def _wrong(check: str) -> Callable[[Course, Place], NotebookNode]:
    """All right, but for `place` the wrong answer that a check must refuse, without the line that says so."""

    def made(course: Course, place: Place) -> NotebookNode:
        source = next(wrong.source for wrong in course.exercises[PLACE].wrong if wrong.check == check)
        return answered(course, place=source)

    return made


def _strip(notebook: NotebookNode) -> None:
    for cell in notebook.cells:
        cell.metadata = {}


def _without(*grade_ids: str) -> Callable[[NotebookNode], None]:
    def remove(notebook: NotebookNode) -> None:
        gone = [cell_of(notebook, grade_id) for grade_id in grade_ids]
        notebook.cells = [cell for cell in notebook.cells if cell not in gone]

    return remove


def _duplicate(notebook: NotebookNode) -> None:
    for part in ("solution", "public", "hidden"):
        cell = cell_of(notebook, f"{PLACE}-{part}")
        copy = nbformat.from_dict(json.loads(json.dumps(cell)))
        copy.id = f"copy-of-{part}"
        if part == "solution":
            copy.source = f"# exercise {PLACE} (keep this line)\ndef place(shape, stride, offset, index):\n    return 0"
        notebook.cells.insert(notebook.cells.index(cell), copy)


def _flip(notebook: NotebookNode) -> None:
    for cell in notebook.cells:
        known = cell.metadata.get("nbgrader", {})
        known |= {"grade": not known.get("grade"), "locked": False, "points": 100, "schema_version": 1}
    notebook.metadata.kernelspec = {"name": "ruby", "display_name": "Ruby", "language": "ruby"}


def _helper(notebook: NotebookNode) -> None:
    cell = cell_of(notebook, f"{SCALED}-solution")
    cell.source = f"# exercise {SCALED} (keep this line)\ndef scaled(x, factor):\n    return _times(x, factor)"
    helper = "from google.colab import drive\nimport operator\n\ndef _times(x, y):\n    return operator.mul(x, y)"
    notebook.cells.insert(notebook.cells.index(cell), new_code_cell(f"{helper}\n\nprint(_times(2, 3))"))
    notebook.cells.append(new_code_cell("while True:\n    pass"))


def _breaks_marks(notebook: NotebookNode) -> None:
    notebook.cells.append(new_markdown_cell("### BEGIN HIDDEN TESTS"))


def _only_first(course: Course, place: Place) -> NotebookNode:
    return answered(course, scaled=course.exercises[SCALED].stub, quiz=course.exercises[QUIZ].stub)


def _patches_close(course: Course, place: Place) -> NotebookNode:
    replaced = "import torch\ntorch.testing.assert_close = lambda *a, **k: None"
    return answered(course, scaled=f"{replaced}\n\ndef scaled(x, factor):\n    return x")


def _version_3(course: Course, place: Place) -> bytes:
    cells = []
    for cell in answered(course).cells:
        key = "input" if cell.cell_type == "code" else "source"
        cells.append({"cell_type": cell.cell_type, key: cell.source, "metadata": {}, "outputs": []})
    return json.dumps({"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": cells}]}).encode()


def _huge(course: Course, place: Place) -> bytes:
    notebook = answered(course)
    cell_of(notebook, f"{PLACE}-solution").outputs = [nbformat.v4.new_output("stream", text="x" * 60_000_000)]
    return str(nbformat.writes(notebook)).encode()


def _reads(*paths: str) -> Callable[[Course, Place], NotebookNode]:
    """Tries to read files, and to say in an error what was in them."""
    listed = ", ".join(repr(path) for path in paths)
    return placing(
        f"import pathlib\nfound = ''\nfor path in [{listed}]:\n"
        "    for file in [pathlib.Path(path), *pathlib.Path(path).rglob('*')]:\n"
        "        try:\n            found += file.read_text()[:40]\n        except Exception:\n            pass\n"
        "raise ValueError(found or 'nothing was read')"
    )


def _fixed_size(source: str) -> str:
    return source.replace("// t.element_size()", "// 4")


_REACHES = """import socket
for host in ('127.0.0.1', '::1', '10.0.0.1', '192.0.2.1'):
    try:
        socket.create_connection((host, <port>), timeout=0.3).sendall(b'hello')
    except OSError:
        pass"""
_WIPES = """import os, shutil
for path in ('<canary>', '<submissions>', '<course>', '<private>', '<results>', os.path.expanduser('~'), '/usr', '/'):
    shutil.rmtree(path, ignore_errors=True)
    try:
        os.remove(path)
    except OSError:
        pass
    os.system(f'rm -rf {path} 2>/dev/null')"""
_BOOKS = """import sqlite3
db = sqlite3.connect('<course>/gradebook.db')
db.execute('UPDATE grade SET auto_score = 99')
db.commit()"""
_FRAMES = """import sys, os, json
frame = sys._getframe()
found = []
while frame:
    found += [str(frame.f_locals), str(frame.f_globals.get('test_hidden_random_views'))]
    code = frame.f_code
    found += [repr(c) for c in code.co_consts]
    frame = frame.f_back
raise ValueError(''.join(found)[:500])"""
_TRIES_EVERYTHING = """class Same(int):
    def __eq__(self, other):
        return True
    __hash__ = int.__hash__
for size, i in zip(shape, index):
    if not -size <= i < size:
        raise IndexError(i)
return Same(0)"""

_SWALLOWS = """while True:
    try:
        while True:
            pass
    except BaseException:
        pass"""
_HOGS = """held = []
while True:
    held.append(bytearray(100_000_000))"""
_STAYS = """import subprocess, sys
wait = 'import time; time.sleep(987654)'
subprocess.Popen([sys.executable, '-c', wait], start_new_session=True)"""
_DRAWS = "import random\nrandom.Random.randint = lambda self, a, b: a\n"
_TRANSFORMS = "get_ipython().input_transformers_cleanup.append(lambda lines: [])"
_MARKUP = "raise ValueError('<script>alert(1)</script><img src=http://x.example/>')"
_IPYTHONS = ("%load_ext autoreload\n!pip install x\n", "\n%timeit place((1,), (1,), 0, (0,))")

REST = FULL - 3  # everything but the first exercise
CLASS = (
    Fake("unsolved", "as handed out", lambda course, place: course.release, 0.0),
    Fake("right", "all right", lambda course, place: answered(course), FULL),
    Fake("noisy", "right, prints and warns", _source(lambda s: f"import warnings\nwarnings.warn('w')\n{s}"), FULL),
    Fake("partly", "a visible check and a hidden one refuse", _wrong("test_hidden_measured"), FULL - 1 - 0.11),
    Fake("partly-2", "two visible checks and a hidden one refuse", _source(_fixed_size), FULL - 1 - 0.22),
    Fake("wrong", "place is always 0", placing("return 0"), REST),
    Fake("first-only", "only the first exercise", _only_first, 3.0),
    Fake("loop", "an endless loop", placing("while True:\n    pass"), REST),
    Fake("loop-swallows", "an endless loop that swallows interrupts", placing(_SWALLOWS), REST),
    Fake("loop-in-cell", "an endless loop beside the answer", _source(lambda s: f"{s}\nwhile True: pass"), REST),
    Fake("segfault", "a segmentation fault", placing("import ctypes\nctypes.string_at(0)"), REST, person=True),
    Fake("exits", "os._exit", placing("import os\nos._exit(0)"), REST, person=True),
    Fake("sys-exit", "right, sys.exit in the cell", _source(lambda s: f"{s}\nimport sys\nsys.exit(0)"), FULL),
    Fake("fork-bomb", "a fork bomb", placing("import os\nwhile True:\n    os.fork()"), REST, person=True),
    Fake("memory", "a memory hog", placing(_HOGS), REST),
    Fake("prints", "prints 100 MB", placing("print('x' * 100_000_000)"), REST),
    Fake("wipes", "wipes all files", placing(_WIPES), REST, person=True),
    Fake("network", "opens connections", placing(_REACHES), REST, person=True),
    Fake("reads-others", "reads other submissions", _reads("<canary>", "<submissions>"), REST),
    Fake("reads-checks", "reads hidden checks", _reads("<private>", "<course>", "<results>"), REST),
    Fake("books", "edits the gradebook", placing(_BOOKS), REST),
    Fake("frames", "looks for hidden checks in the callers", placing(_FRAMES), REST, person=True),
    Fake("patches-close", "replaces assert_close", _patches_close, FULL - 3, person=True),
    Fake("patches-random", "replaces what draws the cases", _source(lambda s: f"{_DRAWS}{s}"), REST, person=True),
    Fake("equals-all", "an object that equals everything", placing(_TRIES_EVERYTHING), REST + 0.22, person=True),
    Fake("transformer", "an input transformer", _source(lambda s: _TRANSFORMS), REST, person=True),
    Fake("stripped", "right, metadata stripped", _notebook(_strip), FULL),
    Fake("deleted", "the first answer's cell is gone", _notebook(_without(f"{PLACE}-solution")), REST, person=True),
    Fake("no-checks", "right, cells of checks deleted", _notebook(_without(f"{PLACE}-public", f"{QUIZ}-hidden")), FULL),
    Fake("duplicates", "right, an older copy above", _notebook(_duplicate), FULL, person=True),
    Fake("flags", "right, flags flipped and points raised", _notebook(_flip), FULL),
    Fake("syntax", "a syntax error", _source(lambda s: s.replace("def place(", "def place((")), REST),
    Fake("picture", "a picture", lambda c, p: b"\x89PNG\r\n\x1a\n" + bytes(range(256)), 0.0, person=True),
    Fake("json", "JSON, but no notebook", lambda c, p: b'{"hello": [1, 2]}', 0.0, person=True),
    Fake("empty", "an empty file", lambda c, p: b"", 0.0, person=True),
    Fake("huge", "right, with 60 MB of output", _huge, 0.0, person=True),
    Fake("nothing", "a folder without a notebook", lambda c, p: None, 0.0, person=True),
    Fake("helper", "right, a helper in a cell of its own", _notebook(_helper), FULL),
    Fake("version-3", "right, in the format of 2013", _version_3, FULL),
    Fake("magics", "right, with IPython's syntax", _source(lambda s: s.join(_IPYTHONS)), FULL),
    Fake("Seán O'Neil", "right, a name with blank and apostrophe", lambda c, p: answered(c), FULL),
    Fake("李 Zoë", "right, unicode in name and code", _source(lambda s: f"größe = '李 🎉 \u2028'\n{s}"), FULL),
    Fake("markup", "an error with HTML in it", placing(_MARKUP), REST),
    Fake("background", "a process that wants to stay", placing(_STAYS), REST, person=True),
    Fake("deep", "endless recursion", placing("return place(shape, stride, offset, index)"), REST),
    Fake("marks", "right, a text with nbgrader's marks", _notebook(_breaks_marks), FULL),
)
