"""An exercise, read from its folder: the single source of the page's block, the notebooks and the grader's tests.

    exercises/p01/x3-manual-indexing/      the exercise p01-x3
      exercise.md   front matter, statement, `## Hint: <symptom> {test_a, test_b}` sections
      solution.py   the reference, its answer between ### BEGIN SOLUTION and ### END SOLUTION
      checks.py     `test_*` functions; a parameter is a name that the learner defines, or a fixture
      wrong.md      wrong answers as edits of the reference (`torchbook.practice.wrong`)
      variants/*/   overlays of any of these, chosen by the seed of a class

The stub is derived from the reference, so the two cannot drift apart: `raise NotImplementedError` for each answer, or,
where there is working code to repair, what stands as comments below the mark `### INSTEAD`. A quiz is an `exercise.md`
alone; the rest is derived from its questions (`torchbook.practice.quiz`).
"""

from __future__ import annotations

import ast
import hashlib
import random
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

import pydantic

from torchbook import front_matter
from torchbook.front_matter import FrontMatter, FrontMatterError
from torchbook.practice import quiz
from torchbook.practice import wrong as wrong_answers
from torchbook.practice.errors import ExerciseError
from torchbook.practice.harness import FIXTURES, HIDDEN, Check, checks_of
from torchbook.practice.quiz import Question, Topic
from torchbook.practice.wrong import Equivalent, Wrong

BEGIN, INSTEAD, END = "### BEGIN SOLUTION", "### INSTEAD", "### END SOLUTION"
PAGES = "*/x*-*/exercise.md"  # of a folder of exercises: the pages of those in it
_PART = re.compile(r"^[a-z][a-z0-9]*$")
_FOLDER = re.compile(r"^(?P<number>x\d+)-(?P<slug>[a-z0-9-]+)$")
_HINT = re.compile(r"^## Hint: (?P<symptom>.+?)(?: \{(?P<checks>\w[^{}]*)\})?$")
_MYST = re.compile(r"^\s*(`{3,}|:{3,})\{|(?<!`)\{[a-z][\w:-]*\}`")


class Points(pydantic.BaseModel):
    """Points for the checks that a learner sees and for those kept for grading."""

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)
    public: float = pydantic.Field(ge=0)
    hidden: float = pydantic.Field(ge=0)

    @property
    def total(self) -> float:
        return self.public + self.hidden


class Contract(pydantic.BaseModel):
    """The front matter of `exercise.md`.

    `stars` is the difficulty and `importance` the weight in the book, both from 1 to 5; `minutes` what a prepared
    learner needs; `seconds` the limit of all checks of the exercise together.
    """

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)
    id: str = pydantic.Field(pattern=r"^[a-z][a-z0-9]*-x\d+$")
    title: str = pydantic.Field(min_length=1)
    chapter: str = pydantic.Field(pattern=r"^[a-z][a-z0-9-]*$")
    kind: Literal["code", "quiz"] = "code"
    audience: Literal["everyone", "instructor"] = "everyone"
    stars: int = pydantic.Field(ge=1, le=5)
    minutes: int = pydantic.Field(ge=1)
    importance: int = pydantic.Field(ge=1, le=5)
    points: Points
    needs: tuple[Literal["cpu", "gpu", "processes", "compiler"], ...] = ("cpu",)
    data: tuple[str, ...] = ()
    seconds: float = pydantic.Field(gt=0)
    questions: tuple[Question, ...] = ()
    topics: tuple[Topic, ...] = ()


@dataclass(frozen=True)
class Hint:
    """Help titled by its symptom; `checks` are those whose refusal points to it, `said` those with certain words."""

    symptom: str
    text: str
    checks: tuple[str, ...]
    said: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Exercise:
    """One exercise, in one variant; `edition` is "learner" where hidden checks and wrong answers were left out."""

    folder: Path
    contract: Contract
    statement: str
    hints: tuple[Hint, ...]
    solution: str
    checks: str
    variants: tuple[str, ...] = ()
    variant_name: str = ""
    edition: Literal["full", "learner"] = "full"
    in_exam: bool = False  # a quiz whose answers only hidden checks look at

    @property
    def id(self) -> str:
        """For instance p01-x3."""
        return self.contract.id

    @property
    def title(self) -> str:
        """What headings and lists call it."""
        return self.contract.title

    @property
    def slug(self) -> str:
        """The folder's name without the number."""
        return self.folder.name.partition("-")[2]

    @property
    def shown(self) -> str:
        """The folder as errors name it."""
        return _shown(self.folder)

    @cached_property
    def wrong(self) -> tuple[Wrong, ...]:
        """The wrong answers, read when first asked for; a learner's edition has only those of a quiz.

        Raises:
            ExerciseError: one of them is malformed.
        """
        if self.contract.kind == "quiz":
            return quiz.wrong_answers(self.contract.id, self.contract.questions, hidden=self.in_exam)
        if self.edition == "learner":
            return ()
        folder = self._folder_of_wrong
        return wrong_answers.read(folder, _shown(folder), self.check_names, self.reference)

    @cached_property
    def equivalents(self) -> tuple[Equivalent, ...]:
        """Changes of the reference that its author found to be as right as it, read when first asked for.

        Raises:
            ExerciseError: one of them is malformed.
        """
        if self.contract.kind == "quiz":
            return ()
        folder = self._folder_of_wrong
        return wrong_answers.equivalents(folder, _shown(folder), self.check_names, self.reference)

    @property
    def _folder_of_wrong(self) -> Path:
        """The folder whose `wrong.md` counts."""
        overlay = self.folder / "variants" / self.variant_name
        return overlay if self.variant_name and wrong_answers.exist(overlay) else self.folder

    @cached_property
    def reference(self) -> str:
        """The reference's source without the markers, and without what the stub has instead of an answer."""
        return reference_of(self.solution)

    @cached_property
    def stub(self) -> str:
        """What the learner starts from: the reference with `raise NotImplementedError`, or what is `INSTEAD`."""
        return stub_of(self.solution)

    @cached_property
    def prelude(self) -> str:
        """Imports of the reference: what a learner's functions need around them in a file of their own."""
        tree = ast.parse(self.reference)
        imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        return "".join(f"{ast.get_source_segment(self.reference, node)}\n" for node in imports)

    @cached_property
    def public_checks(self) -> str:
        """Source of the checks without the hidden ones, and without what only those use."""
        return public_part(self.checks)

    @cached_property
    def tests(self) -> tuple[Check, ...]:
        """All checks, in the order of their definition: name, parameters, line."""
        return tuple(checks_of(self.checks))

    @property
    def check_names(self) -> tuple[str, ...]:
        """Names of all checks."""
        return tuple(check.name for check in self.tests)

    @property
    def names(self) -> tuple[str, ...]:
        """Names that the learner defines, in the order in which checks first ask for them."""
        parameters = [name for check in self.tests for name in check.parameters if name not in FIXTURES]
        return tuple(dict.fromkeys(parameters))

    def variant(self, name: str) -> Exercise:
        """The exercise with an overlay of `variants/` laid over it; the name "" is the exercise itself.

        Raises:
            ExerciseError: there is no such variant, or it is malformed.
        """
        if not name:
            return self
        if name not in self.variants:
            available = ", ".join(self.variants) or "none"
            raise ExerciseError(f"{_shown(self.folder)}/variants/{name}: no such variant; there are: {available}")
        return _read(self.folder, self.edition, name)

    def for_class(self, seed: int, variant: str | None = None) -> Exercise:
        """What a class gets: a variant, drawn from the seed if not named; of a quiz also an order of the options."""
        if variant is None:
            variant = self._draw(seed, "variant").choice(("", *self.variants))
        exercise = self.variant(variant)
        return exercise.in_class(self._draw(seed, "options")) if exercise.contract.kind == "quiz" else exercise

    def _draw(self, seed: int, purpose: str) -> random.Random:
        return random.Random(hashlib.sha256(f"{self.contract.id}:{seed}:{purpose}".encode()).digest())

    def in_class(self, draw: random.Random) -> Exercise:
        """A quiz whose answers are hidden, with its options in a drawn order."""
        questions = quiz.shuffled(self.contract.questions, draw)
        contract = self.contract.model_copy(update={"questions": questions})
        derived = quiz.derive(contract.id, questions, contract.topics, hidden=True)
        return replace(self, contract=contract, solution=derived.solution, checks=derived.checks, in_exam=True)

    def hint_for(self, check: str, message: str = "") -> Hint | None:
        """The hint that a refused check points to: one for what it said, before one for whatever it says."""
        for hint in self.hints:
            if any(name == check and words in message for name, words in hint.said):
                return hint
        return next((hint for hint in self.hints if check in hint.checks), None)

    @cached_property
    def digest(self) -> str:
        """sha256 of all that decides a grade."""
        parts = [self.contract.model_dump_json(), self.variant_name, self.statement, self.solution, self.checks]
        parts += [part for wrong in self.wrong for part in (wrong.name, wrong.check, wrong.source)]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def load(folder: Path) -> Exercise:
    """Read an exercise.

    Raises:
        ExerciseError: something is missing or malformed; the message names file, line and remedy.
    """
    edition: Literal["full", "learner"] = "learner" if (folder / "LEARNER").is_file() else "full"
    return _read(folder, edition, "")


def id_of(folder: Path) -> str:
    """The id that a folder's name and place give it: p01-x3 for `p01/x3-manual-indexing`; "" if they give none."""
    match = _FOLDER.match(folder.name)
    return f"{folder.parent.name}-{match['number']}" if match and _PART.match(folder.parent.name) else ""


def _read(folder: Path, edition: Literal["full", "learner"], variant: str) -> Exercise:
    page = _overlaid(folder, variant, "exercise.md")
    contract, statement, hints = _page(page)
    if id_of(folder) != contract.id:
        part, _, number = contract.id.partition("-")
        raise ExerciseError(
            f"{_shown(page)}:2: id {contract.id!r} does not fit the folder; name it {part}/{number}-<slug>"
        )
    if contract.kind == "quiz":
        solution, checks = quiz.derive(contract.id, contract.questions, contract.topics, hidden=False)
    else:
        solution, checks = (_text(_overlaid(folder, variant, name)) for name in ("solution.py", "checks.py"))
    variants = tuple(sorted(path.name for path in folder.glob("variants/*/"))) if not variant else ()
    exercise = Exercise(folder, contract, statement, hints, solution, checks, variants, variant, edition)
    if contract.kind == "code":
        tree = _parsed(_overlaid(folder, variant, "solution.py"), solution)
        _complain_about_checks(_overlaid(folder, variant, "checks.py"), exercise, _defined(tree))
    if edition == "full":
        _complain_about_hints(page, exercise)
    return exercise


def _overlaid(folder: Path, variant: str, name: str) -> Path:
    path = folder / "variants" / variant / name
    return path if variant and path.is_file() else folder / name


def _text(path: Path) -> str:
    return wrong_answers.text_of(path, _shown(path))


def _shown(path: Path) -> str:
    """The path as errors name it: from the folder that holds the exercises."""
    parts = path.parts
    for index in range(1, len(parts)):
        if _FOLDER.match(parts[index]) and _PART.match(parts[index - 1]):
            return Path(*parts[max(0, index - 2) :]).as_posix()
    return path.as_posix()


def _page(path: Path) -> tuple[Contract, str, tuple[Hint, ...]]:
    try:
        return _read_page(_text(path), _shown(path))
    except FrontMatterError as error:
        raise ExerciseError(str(error)) from None


def _read_page(text: str, shown: str) -> tuple[Contract, str, tuple[Hint, ...]]:
    front = front_matter.read(text, shown)
    if front is None:
        raise ExerciseError(f"{shown}:1: the front matter is missing; write the contract between two lines '---'")
    contract = front.validated(Contract)
    if (contract.kind == "quiz") != bool(contract.questions):
        raise ExerciseError(f"{shown}:2: a quiz, and nothing else, has `questions`")
    misfit = quiz.about_topics(contract.questions, contract.topics)
    if misfit:
        raise ExerciseError(front.complaint(*misfit))
    _complain_about_myst(shown, front)
    statement, hints = _sections(front.body)
    if not statement:
        raise ExerciseError(f"{shown}:{front.body_line}: the statement is missing; write it below the front matter")
    return contract, statement, hints


def _complain_about_myst(shown: str, front: FrontMatter) -> None:
    for number, line in enumerate(front.body.splitlines(), front.body_line):
        if _MYST.search(line):
            raise ExerciseError(
                f"{shown}:{number}: a MyST directive or role; notebooks show this text too: write plain Markdown"
            )


def _sections(body: str) -> tuple[str, tuple[Hint, ...]]:
    statement: list[str] = []
    hints: list[tuple[str, tuple[str, ...], list[str]]] = []
    for line in body.splitlines():
        match = _HINT.match(line)
        if match:
            checks = tuple(name.strip() for name in (match["checks"] or "").split(",") if name.strip())
            hints.append((match["symptom"], checks, []))
        else:
            (hints[-1][2] if hints else statement).append(line)
    parsed = tuple(_hint(symptom, "\n".join(text).strip(), entries) for symptom, entries, text in hints)
    return "\n".join(statement).strip(), parsed


def _hint(symptom: str, text: str, entries: tuple[str, ...]) -> Hint:
    """A hint by its entries in braces: a check's name, or `name: words` of what the check says."""
    pairs = [(name.strip(), words.strip()) for name, _, words in (entry.partition(":") for entry in entries)]
    plain = tuple(name for name, words in pairs if not words)
    return Hint(symptom, text, plain, tuple((name, words) for name, words in pairs if words))


def _complain_about_hints(page: Path, exercise: Exercise) -> None:
    for hint in exercise.hints:
        named = [*hint.checks, *(name for name, _ in hint.said)]
        unknown = [name for name in named if name not in exercise.check_names]
        if unknown:
            raise ExerciseError(
                f"{_shown(page)}:{_line_of(page, f'## Hint: {hint.symptom}')}: the hint names {', '.join(unknown)}, "
                f"which is no check; there are: {', '.join(sorted(exercise.check_names))}"
            )


def _line_of(path: Path, start: str) -> int:
    return next((n for n, row in enumerate(_text(path).splitlines(), 1) if row.startswith(start)), 1)


def _parsed(path: Path, solution: str) -> ast.Module:
    """The solution's tree, which is the reference's too: what it has more are comments."""
    try:
        tree = ast.parse(solution)
    except SyntaxError as error:
        raise ExerciseError(f"{_shown(path)}:{error.lineno}: {error.msg}") from None
    marks = [line.strip() for line in solution.splitlines() if line.strip() in (BEGIN, END)]
    if not marks or marks != [BEGIN, END] * (len(marks) // 2):
        raise ExerciseError(f"{_shown(path)}:1: mark the answer with lines '{BEGIN}' and '{END}', in pairs")
    _complain_about_instead(path, solution)
    _complain_about_stub(path, solution)
    return tree


def _complain_about_instead(path: Path, solution: str) -> None:
    """`INSTEAD` once in an answer, and below it nothing but comments."""
    inside = below = False
    for number, line in enumerate(solution.splitlines(), 1):
        mark = line.strip()
        if mark == INSTEAD and (below or not inside):
            why = "a second one in the same answer" if below else f"stands outside of '{BEGIN}' and '{END}'"
            raise ExerciseError(f"{_shown(path)}:{number}: '{INSTEAD}' {why}; write it once, below an answer")
        inside = (inside or mark == BEGIN) and mark != END
        if below and inside and mark != "#" and not mark.startswith("# "):
            raise ExerciseError(
                f"{_shown(path)}:{number}: below '{INSTEAD}' each line is a comment, '# ' before what the stub "
                f"has there and '#' for an empty line; this one is {line!r}"
            )
        below = inside and (below or mark == INSTEAD)


def _complain_about_stub(path: Path, solution: str) -> None:
    """The stub is Python, and no body of a class in it raises: such a class could not even be defined."""
    stub = _stub_lines(solution)
    try:
        tree = ast.parse("\n".join(line for _, line in stub))
    except SyntaxError as error:
        number = stub[min(error.lineno or 1, len(stub)) - 1][0]
        raise ExerciseError(f"{_shown(path)}:{number}: the stub is not Python there: {error.msg}") from None
    for node in ast.walk(tree) if "class " in solution else ():
        if isinstance(node, ast.ClassDef) and any(isinstance(statement, ast.Raise) for statement in node.body):
            raise ExerciseError(
                f"{_shown(path)}:{_line_of(path, f'class {node.name}')}: the whole body of {node.name} is marked; "
                "keep the heads of its methods and mark their bodies"
            )


def _complain_about_checks(path: Path, exercise: Exercise, defined: set[str]) -> None:
    try:
        tests = exercise.tests
    except SyntaxError as error:
        raise ExerciseError(f"{_shown(path)}:{error.lineno}: {error.msg}") from None
    if exercise.edition == "learner":
        return
    public = [check for check in tests if not check.hidden]
    if not public or len(public) == len(tests):
        raise ExerciseError(f"{_shown(path)}:1: write at least one public check and one {HIDDEN}* check")
    for check in public:
        if "reference" in check.parameters:
            raise ExerciseError(
                f"{_shown(path)}:{check.line}: {check.name} is public and asks for `reference`; only {HIDDEN}* may"
            )
    missing = [name for name in exercise.names if name not in defined]
    if missing:
        raise ExerciseError(f"{_shown(path)}:1: checks ask for {', '.join(missing)}, which solution.py does not define")


def _defined(tree: ast.Module) -> set[str]:
    """Names that a module's top level binds."""
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        else:
            names |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return names


def stub_of(solution: str) -> str:
    """The reference with each answer replaced.

    By what stands below `INSTEAD`, where there is that; else by `raise NotImplementedError` in a body and by a comment
    at the top level.
    """
    return "\n".join(line for _, line in _stub_lines(solution)).rstrip() + "\n"


def _stub_lines(solution: str) -> list[tuple[int, str]]:
    """The stub's lines, each with the number of the line in the solution that it comes from."""
    stub: list[tuple[int, str]] = []
    answer: list[str] | None = None
    for number, line in enumerate(solution.splitlines(), 1):
        mark = line.strip()
        if mark == BEGIN:
            answer = [line]
        elif mark == END and answer is not None:
            begin = number - len(answer)
            instead = replaced(answer)
            if instead is None:
                stub += [(begin, text) for text in _to_be_written(answer[0], stub[-1][1] if stub else "")]
            else:
                stub += [(number - len(instead) + offset, text) for offset, text in enumerate(instead)]
            answer = None
        elif answer is not None:
            answer.append(line)
        else:
            stub.append((number, line))
    return stub


def replaced(answer: Sequence[str]) -> list[str] | None:
    """What the stub has in place of an answer: the lines below `INSTEAD` without their `# `. None without the mark."""
    marks = [line.strip() for line in answer]
    if INSTEAD not in marks:
        return None
    return [_uncommented(line) for line in answer[marks.index(INSTEAD) + 1 :]]


def _uncommented(line: str) -> str:
    text = line.lstrip()
    return (line[: len(line) - len(text)] + text.removeprefix("#").removeprefix(" ")).rstrip()


def _to_be_written(begin: str, above: str) -> list[str]:
    """What a stub says where an answer is to be written; `begin` is the line that opens it."""
    indent = begin[: len(begin) - len(begin.lstrip())]
    if indent:
        return [f"{indent}# your code here", f"{indent}raise NotImplementedError"]
    return [] if above.endswith("}") else ["# your code here"]  # below a dictionary to be filled, nothing is written


def reference_of(solution: str) -> str:
    """The solution without marks, and without what stands below `INSTEAD`."""
    lines: list[str] = []
    below = False
    for line in solution.splitlines(keepends=True):
        mark = line.strip()
        below = (below or mark == INSTEAD) and mark != END
        if not below and mark not in (BEGIN, END):
            lines.append(line)
    return "".join(lines)


def public_part(checks: str) -> str:
    """The source without hidden checks, and without the helpers and imports that only those use."""
    tree = ast.parse(checks)
    hidden = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith(HIDDEN)]
    statements = [node for node in tree.body if node not in hidden]
    while True:
        used = {
            n.id
            for node in statements
            for n in ast.walk(node)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
        }
        needed = [node for node in statements if _wanted(node, used)]
        if len(needed) == len(statements):
            break
        statements = needed
    return _without(checks, tree, statements)


def _wanted(node: ast.stmt, used: set[str]) -> bool:
    if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
        return True
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return True
    binds = _defined(ast.Module(body=[node], type_ignores=[]))
    return not binds or bool(binds & used)


def _without(source: str, tree: ast.Module, statements: list[ast.stmt]) -> str:
    lines = source.splitlines()
    previous = 0
    pieces = []
    for node in tree.body:
        start = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) - 1
        if node in statements:
            pieces.append("\n".join(lines[max(previous, _comment_above(lines, start)) : node.end_lineno]))
        previous = node.end_lineno or start + 1
    return _spaced(pieces)


def _comment_above(lines: list[str], start: int) -> int:
    while start > 0 and lines[start - 1].lstrip().startswith("#"):
        start -= 1
    return start


def _spaced(pieces: list[str]) -> str:
    """Statements joined as ruff would: two lines around definitions, none between imports."""
    text = ""
    for piece in pieces:
        block = piece.lstrip().startswith(("def ", "class ", "@", "#"))
        text += ("\n\n" if text and block else "") + textwrap.dedent(piece) + "\n"
    return text
