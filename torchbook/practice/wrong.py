"""Wrong answers to an exercise, each told as an edit of the reference: `wrong.md`.

    # Wrong answers                        what stands above the first heading is for readers

    ## breadth_first {test_diamond}        its name, and the check that must refuse it

    runs nodes level by level              the misconception: what its author thought

    ```diff
         order = [root]                    context: a line of the reference
    -    seen = set()                      a line that goes
    +    seen = {root}                     a line that comes
    ```

The lines of a block that are not new must occur exactly once in the reference (the solution without its marks), one
below the other. Several blocks apply each by itself, so they share no line. An empty line of a block is an empty line
of context. An answer that is another program altogether is a file `wrong/<name>.py`, whose first line says
`# test_diamond: the misconception`.

An entry `## any_order {equivalent}` has edits that are right: each of its blocks, by itself, is a change of the
reference that no check can refuse, and the sentence says why. They are mutants (`torchbook exercises mutants`) that
were looked at.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NoReturn

from torchbook.practice.errors import ExerciseError

EQUIVALENT = "equivalent"  # in place of a check's name: what stands there is right
_HEADING = re.compile(rf"^## (?P<name>[a-z]\w*) \{{(?P<check>test_\w+|{EQUIVALENT})\}}$")
_PROGRAM = re.compile(r"^# (?P<check>test_\w+): (?P<misconception>\S.*)$")
_OPEN, _CLOSE = "```diff", "```"


@dataclass(frozen=True)
class Edit:
    """A block of `wrong.md`: its lines, each with its mark (`-`, `+`, or a space), and the line that opens it."""

    line: int
    rows: tuple[str, ...]

    @property
    def diff(self) -> str:
        """The block as it stands there."""
        return "\n".join(self.rows)

    @property
    def before(self) -> list[str]:
        """The lines of the reference that it stands for."""
        return [row[1:] for row in self.rows if not row.startswith("+")]

    @property
    def after(self) -> list[str]:
        """What stands in their place in the wrong answer."""
        return [row[1:] for row in self.rows if not row.startswith("-")]


@dataclass(frozen=True)
class Wrong:
    """A wrong answer, the check that must refuse it, and the misconception behind it.

    It is either a `program`, or `edits` of the `reference`; `place` is file and line of it, as errors name them.
    """

    name: str
    check: str
    misconception: str
    program: str = field(default="", repr=False)
    edits: tuple[Edit, ...] = field(default=(), repr=False)
    reference: str = field(default="", repr=False)
    place: str = ""

    @cached_property
    def source(self) -> str:
        """The whole program.

        Raises:
            ExerciseError: it is not Python.
        """
        source = _edited(self.reference, self.edits) if self.edits else self.program
        try:
            ast.parse(source)
        except SyntaxError as error:
            raise ExerciseError(self._not_python(error.lineno or 1, error.msg)) from None
        return source

    def _not_python(self, line: int, why: str) -> str:
        file, _, start = self.place.rpartition(":")
        if self.edits:
            listing = "what `torchbook exercises wrong` prints"
            return f"{self.place}: {self.name} is not Python, {why}: line {line} of {listing}"
        return f"{file}:{line + int(start)}: {self.name} is not Python, {why}"


@dataclass(frozen=True)
class Equivalent:
    """A change of the reference that leaves it right, the reason, and file and line of its block."""

    reason: str
    source: str = field(repr=False)
    place: str


def equivalents(folder: Path, shown: str, checks: Sequence[str], reference: str) -> tuple[Equivalent, ...]:
    """What `wrong.md` of a folder says is as right as the reference; the arguments are those of `read`.

    Raises:
        ExerciseError: an entry is malformed, or does not fit the reference.
    """
    page = folder / "wrong.md"
    if not page.is_file():
        return ()
    entries = _Page(page, f"{shown}/wrong.md", checks, reference).entries()
    return tuple(
        Equivalent(entry.misconception, _edited(reference, [edit]), f"{shown}/wrong.md:{edit.line}")
        for entry in entries
        if entry.check == EQUIVALENT
        for edit in entry.edits
    )


def read(folder: Path, shown: str, checks: Sequence[str], reference: str) -> tuple[Wrong, ...]:
    """The wrong answers of a folder: those of `wrong.md` as they stand there, then those that are files in `wrong/`.

    Args:
        folder: of the exercise, or of a variant with wrong answers of its own.
        shown: the folder as errors name it.
        checks: the names of the checks.
        reference: the source that edits apply to.

    Raises:
        ExerciseError: an answer is malformed, or does not fit the reference or the checks, or there are less than two.
    """
    page = folder / "wrong.md"
    answers = list(_Page(page, f"{shown}/wrong.md", checks, reference).answers()) if page.is_file() else []
    names = {answer.name: answer.place for answer in answers}
    for path in sorted((folder / "wrong").glob("*.py")):
        answer = _program(path, f"{shown}/wrong/{path.name}", checks)
        if answer.name in names:
            raise ExerciseError(f"{answer.place}: {answer.name} is at {names[answer.name]} already; rename one of them")
        answers.append(answer)
    if len(answers) < 2:
        raise ExerciseError(f"{shown}/wrong.md:1: {len(answers)} wrong answers; write at least two")
    return tuple(answers)


def exist(folder: Path) -> bool:
    """Whether a folder has wrong answers of its own."""
    return (folder / "wrong.md").is_file() or (folder / "wrong").is_dir()


def text_of(path: Path, shown: str) -> str:
    """The text of a file of an exercise.

    Raises:
        ExerciseError: it is missing, or not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ExerciseError(f"{shown}:1: missing; every exercise of kind code has one") from None
    except UnicodeDecodeError as error:
        raise ExerciseError(f"{shown}:1: not UTF-8 ({error}); save it as UTF-8") from None


def _program(path: Path, shown: str, checks: Sequence[str]) -> Wrong:
    head, _, body = text_of(path, shown).partition("\n")
    match = _PROGRAM.match(head)
    if not match or match["check"] not in checks:
        raise ExerciseError(
            f"{shown}:1: the first line is '# test_name: the misconception', the name one of: "
            f"{', '.join(sorted(checks))}"
        )
    return Wrong(path.stem, match["check"], match["misconception"], program=body, place=f"{shown}:1")


class _Page:
    """Reads one `wrong.md`, line by line."""

    def __init__(self, path: Path, shown: str, checks: Sequence[str], reference: str) -> None:
        self.shown, self.checks, self.reference = shown, checks, reference
        self.lines = text_of(path, shown).splitlines()
        self.seen: dict[str, int] = {}

    def answers(self) -> Iterator[Wrong]:
        """The entries that are wrong, in order."""
        return (entry for entry in self.entries() if entry.check != EQUIVALENT)

    def entries(self) -> Iterator[Wrong]:
        """All entries, in order."""
        starts = [number for number, line in enumerate(self.lines, 1) if line.startswith("## ")]
        for start, end in zip(starts, [*starts[1:], len(self.lines) + 1], strict=False):
            yield self._entry(start, end)

    def refuse(self, line: int, why: str) -> NoReturn:
        raise ExerciseError(f"{self.shown}:{line}: {why}")

    def _entry(self, start: int, end: int) -> Wrong:
        name, check = self._heading(start)
        words: list[str] = []
        edits: list[Edit] = []
        number = start + 1
        while number < end:
            line = self.lines[number - 1]
            if line == _OPEN:
                edits.append(self._block(number, end))
                number += len(edits[-1].rows) + 1
            elif line.strip() and edits:
                self.refuse(number, f"{line!r} stands below a block; write what the learner thought above the first")
            elif line.startswith(_CLOSE):
                self.refuse(number, f"a block opens with {_OPEN!r}, not with {line!r}")
            elif line.strip():
                words.append(line.strip())
            number += 1
        if not words:
            self.refuse(start, f"{name} does not say what the learner thought; write a sentence below the heading")
        if not edits:
            self.refuse(start, f"{name} has no block {_OPEN!r}; write one, or the whole program as wrong/{name}.py")
        for alone in [[edit] for edit in edits] if check == EQUIVALENT else [edits]:
            self._complain_about_edits(alone)
        return Wrong(name, check, " ".join(words), "", tuple(edits), self.reference, f"{self.shown}:{start}")

    def _heading(self, number: int) -> tuple[str, str]:
        match = _HEADING.match(self.lines[number - 1])
        if not match:
            self.refuse(number, "a heading is '## name {test_check}', the name that of a Python file")
        name, check = match["name"], match["check"]
        if check not in (*self.checks, EQUIVALENT):
            self.refuse(number, f"{check} is no check; there are: {', '.join(sorted(self.checks))}")
        if name in self.seen:
            self.refuse(number, f"{name} is at line {self.seen[name]} already; rename one of them")
        self.seen[name] = number
        return name, check

    def _block(self, start: int, end: int) -> Edit:
        rows: list[str] = []
        for number in range(start + 1, end):
            line = self.lines[number - 1]
            if line == _CLOSE:
                return Edit(start, tuple(rows))
            if line and line[0] not in "-+ ":
                self.refuse(number, f"{line!r} starts with none of '-' (goes), '+' (comes) and ' ' (stays)")
            rows.append(line or " ")
        self.refuse(start, f"the block is not closed; end it with {_CLOSE!r}")

    def _complain_about_edits(self, edits: list[Edit]) -> None:
        lines = self.reference.splitlines()
        block_at: dict[int, int] = {}
        for edit in edits:
            if edit.before == edit.after:
                self.refuse(edit.line, "the block changes nothing; mark what goes with '-' and what comes with '+'")
            starts = _places(lines, edit.before)
            if len(starts) != 1:
                self.refuse(edit.line, _misfit(lines, edit.before, len(starts)))
            for index in range(starts[0], starts[0] + len(edit.before)):
                if index in block_at:
                    earlier = f"the block at line {block_at[index]}"
                    self.refuse(edit.line, f"shares the line {lines[index]!r} with {earlier}; join the two")
                block_at[index] = edit.line


def _misfit(lines: list[str], block: list[str], count: int) -> str:
    """Why a block fits nowhere or in several places, and what to do."""
    if not block:
        return "the block only adds; show where, by a line of the reference above or below, with a space before it"
    if count:
        return f"these lines occur {count} times in solution.py; add lines around them until they occur once"
    unknown = next((line for line in block if line not in lines), None)
    detail = "one below the other" if unknown is None else f"which has no line {unknown!r}"
    return (
        f"these lines occur 0 times in solution.py, {detail}; copy them from there, without the marks of the solution"
    )


def _places(lines: list[str], run: list[str]) -> list[int]:
    """Where a run of lines begins, each time that it occurs."""
    width = len(run)
    return [start for start in range(len(lines) - width + 1) if width and lines[start : start + width] == run]


def _edited(reference: str, edits: Sequence[Edit]) -> str:
    """The reference with each edit applied; without blank lines at its ends."""
    lines = reference.splitlines()
    ordered = sorted(((_places(lines, edit.before)[0], edit) for edit in edits), key=lambda pair: pair[0], reverse=True)
    result = list(lines)
    for start, edit in ordered:
        result[start : start + len(edit.before)] = edit.after
    return "\n".join(result).strip("\n") + "\n"
