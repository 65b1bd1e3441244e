"""An exercise, read from its folder: the single source of the page's block, the notebooks and the grader's tests.

    exercises/p01-x3-manual-indexing/
      exercise.md   front matter, statement, `## Hint: <symptom> {test_a, test_b}` sections
      solution.py   the reference, its answer between ### BEGIN SOLUTION and ### END SOLUTION
      checks.py     `test_*` functions; a parameter is a name that the learner defines, or a fixture
      wrong/*.py    wrong answers; the first line is `# test_a: the misconception`
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
from typing import Any, Literal

import pydantic
import yaml

from torchbook.practice import quiz
from torchbook.practice.quiz import Question, Topic

FIXTURES = ("reference", "seed", "source")
BEGIN, INSTEAD, END = "### BEGIN SOLUTION", "### INSTEAD", "### END SOLUTION"
HIDDEN = "test_hidden_"
_FOLDER = re.compile(r"^(?P<id>[a-z][a-z0-9]*-x\d+)-(?P<slug>[a-z0-9-]+)$")
_HINT = re.compile(r"^## Hint: (?P<symptom>.+?)(?: \{(?P<checks>[\w, ]+)\})?$")
_MYST = re.compile(r"^\s*(`{3,}|:{3,})\{|(?<!`)\{[a-z][\w:-]*\}`")
_WRONG = re.compile(r"^# (?P<check>test_\w+): (?P<misconception>\S.*)$")


class ExerciseError(Exception):
    """An exercise's folder is not as it must be; the message names file, line and remedy."""


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
    """Help titled by its symptom; `checks` are those whose refusal points to it."""

    symptom: str
    text: str
    checks: tuple[str, ...]


@dataclass(frozen=True)
class Wrong:
    """A wrong answer, the check that must refuse it, and the misconception behind it."""

    name: str
    check: str
    misconception: str
    source: str


@dataclass(frozen=True)
class Exercise:
    """One exercise, in one variant; `edition` is "learner" where hidden checks and wrong answers were left out."""

    folder: Path
    contract: Contract
    statement: str
    hints: tuple[Hint, ...]
    solution: str
    checks: str
    wrong: tuple[Wrong, ...]
    variants: tuple[str, ...] = ()
    variant_name: str = ""
    edition: Literal["full", "learner"] = "full"

    def __getattr__(self, name: str) -> Any:
        """The fields of the contract: id, title, chapter, kind, audience, stars, minutes, …"""
        if name in Contract.model_fields:
            return getattr(self.contract, name)
        raise AttributeError(name)

    @property
    def slug(self) -> str:
        """The folder's name without the id."""
        return self.folder.name.removeprefix(f"{self.contract.id}-")

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
        found = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        return "".join(f"{ast.get_source_segment(self.reference, node)}\n" for node in found)

    @cached_property
    def public_checks(self) -> str:
        """Source of the checks without the hidden ones, and without what only those use."""
        return public_part(self.checks)

    @cached_property
    def check_names(self) -> tuple[str, ...]:
        """Names of all checks, in the order of their definition."""
        return tuple(node.name for node in _tests(self.checks))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names that the learner defines, in the order in which checks first ask for them."""
        asked = [a.arg for node in _tests(self.checks) for a in node.args.args if a.arg not in FIXTURES]
        return tuple(dict.fromkeys(asked))

    def variant(self, name: str) -> Exercise:
        """The exercise with an overlay of `variants/` laid over it; the name "" is the exercise itself.

        Raises:
            ExerciseError: there is no such variant, or it is malformed.
        """
        if not name:
            return self
        if name not in self.variants:
            known = ", ".join(self.variants) or "none"
            raise ExerciseError(f"{_shown(self.folder)}/variants/{name}: no such variant; there are: {known}")
        return _read(self.folder, self.edition, name)

    def for_class(self, seed: int, variant: str | None = None) -> Exercise:
        """What a class gets: a variant, drawn from the seed if not named; of a quiz also an order of the options."""
        if variant is None:
            variant = self._draw(seed, "variant").choice(("", *self.variants))
        chosen = self.variant(variant)
        return chosen.in_class(self._draw(seed, "options")) if chosen.contract.kind == "quiz" else chosen

    def _draw(self, seed: int, purpose: str) -> random.Random:
        return random.Random(hashlib.sha256(f"{self.contract.id}:{seed}:{purpose}".encode()).digest())

    def in_class(self, draw: random.Random) -> Exercise:
        """A quiz whose answers are hidden, with its options in a drawn order."""
        questions = quiz.shuffled(self.contract.questions, draw)
        contract = self.contract.model_copy(update={"questions": questions})
        derived = quiz.derive(contract.id, questions, contract.topics, hidden=True)
        wrong = tuple(Wrong(*parts) for parts in derived.wrong)
        return replace(self, contract=contract, solution=derived.solution, checks=derived.checks, wrong=wrong)

    def hint_for(self, check: str) -> Hint | None:
        """The hint that a refused check points to."""
        return next((hint for hint in self.hints if check in hint.checks), None)

    @cached_property
    def digest(self) -> str:
        """sha256 of all that decides a grade."""
        parts = [self.contract.model_dump_json(), self.variant_name, self.statement, self.solution, self.checks]
        parts += [part for wrong in self.wrong for part in (wrong.name, wrong.source)]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def load(folder: Path) -> Exercise:
    """Read an exercise.

    Raises:
        ExerciseError: something is missing or malformed; the message names file, line and remedy.
    """
    edition: Literal["full", "learner"] = "learner" if (folder / "LEARNER").is_file() else "full"
    return _read(folder, edition, "")


def _read(folder: Path, edition: Literal["full", "learner"], variant: str) -> Exercise:
    where = folder / "variants" / variant if variant else folder
    page = _overlaid(folder, variant, "exercise.md")
    contract, statement, hints = _page(page)
    named = _FOLDER.match(folder.name)
    if not named or named["id"] != contract.id:
        raise ExerciseError(
            f"{_shown(page)}:2: id {contract.id!r} does not fit the folder; name it {contract.id}-<slug>"
        )
    if contract.kind == "quiz":
        derived = quiz.derive(contract.id, contract.questions, contract.topics, hidden=False)
        solution, checks = derived.solution, derived.checks
        wrong = tuple(Wrong(*parts) for parts in derived.wrong)
    else:
        solution, checks = _code(folder, variant)
        wrong = _wrong(where if (where / "wrong").is_dir() else folder, checks) if edition == "full" else ()
    _complain_about_hints(page, hints, checks, edition)
    variants = tuple(sorted(path.name for path in folder.glob("variants/*/"))) if not variant else ()
    found = Exercise(folder, contract, statement, hints, solution, checks, wrong, variants, variant, edition)
    if contract.kind == "code" and edition == "full":
        _complain_about_checks(_overlaid(folder, variant, "checks.py"), found)
    return found


def _overlaid(folder: Path, variant: str, name: str) -> Path:
    path = folder / "variants" / variant / name
    return path if variant and path.is_file() else folder / name


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ExerciseError(f"{_shown(path)}:1: missing; every exercise of kind code has one") from None
    except UnicodeDecodeError as error:
        raise ExerciseError(f"{_shown(path)}:1: not UTF-8 ({error}); save it as UTF-8") from None


def _shown(path: Path) -> str:
    """The path as errors name it: from the folder that holds the exercises."""
    parts = path.parts
    for index, part in enumerate(parts):
        if _FOLDER.match(part):
            return Path(*parts[max(0, index - 1) :]).as_posix()
    return path.as_posix()


def _page(path: Path) -> tuple[Contract, str, tuple[Hint, ...]]:
    text = _text(path)
    head, closed, body = text.removeprefix("---\n").partition("\n---\n")
    if not text.startswith("---\n") or not closed:
        raise ExerciseError(f"{_shown(path)}:1: front matter between two lines '---' is missing")
    try:
        fields = yaml.safe_load(head)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 2 if mark else 1
        raise ExerciseError(f"{_shown(path)}:{line}: not YAML: {getattr(error, 'problem', error)}") from None
    try:
        contract = Contract.model_validate(fields)
    except pydantic.ValidationError as error:
        raise ExerciseError("\n".join(_complaint(path, head, e["loc"], e["msg"]) for e in error.errors())) from None
    if (contract.kind == "quiz") != bool(contract.questions):
        raise ExerciseError(f"{_shown(path)}:2: a quiz, and nothing else, has `questions`")
    misfit = quiz.about_topics(contract.questions, contract.topics)
    if misfit:
        raise ExerciseError(_complaint(path, head, *misfit))
    first = head.count("\n") + 4
    _complain_about_myst(path, body, first)
    statement, hints = _sections(body)
    if not statement:
        raise ExerciseError(f"{_shown(path)}:{first}: the statement is missing; write it below the front matter")
    return contract, statement, hints


def _complaint(path: Path, head: str, where: tuple[int | str, ...], what: str) -> str:
    line = _line_at(yaml.compose(head), where) + 2  # counted from 0, below the line '---'
    return f"{_shown(path)}:{line}: {'.'.join(map(str, where)) or 'front matter'}: {what}"


def _line_at(node: yaml.Node | None, where: tuple[int | str, ...]) -> int:
    """Line, from 0, of a field of a front matter, or of what it should be in."""
    line = node.start_mark.line if node else 0
    if not where:
        return line
    key, *rest = where
    if isinstance(node, yaml.SequenceNode) and isinstance(key, int):
        return _line_at(node.value[key], tuple(rest))
    for name, value in node.value if isinstance(node, yaml.MappingNode) else ():
        if name.value == key:
            return int(max(name.start_mark.line, _line_at(value, tuple(rest)) if rest else 0))
    return int(line)


def _complain_about_myst(path: Path, body: str, first: int) -> None:
    for number, line in enumerate(body.splitlines(), first):
        if _MYST.search(line):
            raise ExerciseError(
                f"{_shown(path)}:{number}: a MyST directive or role; notebooks show this text too: write plain Markdown"
            )


def _sections(body: str) -> tuple[str, tuple[Hint, ...]]:
    statement: list[str] = []
    hints: list[tuple[str, tuple[str, ...], list[str]]] = []
    for line in body.splitlines():
        found = _HINT.match(line)
        if found:
            checks = tuple(name.strip() for name in (found["checks"] or "").split(",") if name.strip())
            hints.append((found["symptom"], checks, []))
        else:
            (hints[-1][2] if hints else statement).append(line)
    made = tuple(Hint(symptom, "\n".join(text).strip(), checks) for symptom, checks, text in hints)
    return "\n".join(statement).strip(), made


def _complain_about_hints(page: Path, hints: tuple[Hint, ...], checks: str, edition: str) -> None:
    known = {node.name for node in _tests(checks)}
    for hint in hints:
        unknown = [name for name in hint.checks if name not in known]
        if unknown and edition == "full":
            raise ExerciseError(
                f"{_shown(page)}:{_line_of(page, f'## Hint: {hint.symptom}')}: the hint names {', '.join(unknown)}, "
                f"which is no check; there are: {', '.join(sorted(known))}"
            )


def _line_of(path: Path, start: str) -> int:
    return next((n for n, row in enumerate(_text(path).splitlines(), 1) if row.startswith(start)), 1)


def _code(folder: Path, variant: str) -> tuple[str, str]:
    sources = []
    for name in ("solution.py", "checks.py"):
        path = _overlaid(folder, variant, name)
        source = _text(path)
        _parse(path, source)
        sources.append(source)
    solution, checks = sources
    path = _overlaid(folder, variant, "solution.py")
    marks = [line.strip() for line in solution.splitlines() if line.strip() in (BEGIN, END)]
    if not marks or marks != [BEGIN, END] * (len(marks) // 2):
        raise ExerciseError(f"{_shown(path)}:1: mark the answer with lines '{BEGIN}' and '{END}', in pairs")
    _complain_about_instead(path, solution)
    _complain_about_class_bodies(path, solution)
    return solution, checks


def _complain_about_instead(path: Path, solution: str) -> None:
    """`INSTEAD` once in an answer, and below it nothing but comments, which make a stub that is Python."""
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
    stub = _stub_lines(solution)
    try:
        ast.parse("\n".join(line for _, line in stub))
    except SyntaxError as error:
        number = stub[min(error.lineno or 1, len(stub)) - 1][0]
        raise ExerciseError(f"{_shown(path)}:{number}: the stub is not Python there: {error.msg}") from None


def _complain_about_class_bodies(path: Path, solution: str) -> None:
    """A stub whose class body raises could not even be defined."""
    for node in ast.walk(ast.parse(stub_of(solution))):
        if isinstance(node, ast.ClassDef) and any(isinstance(one, ast.Raise) for one in node.body):
            raise ExerciseError(
                f"{_shown(path)}:{_line_of(path, f'class {node.name}')}: the whole body of {node.name} is marked; "
                "keep the heads of its methods and mark their bodies"
            )


def _parse(path: Path, source: str) -> ast.Module:
    try:
        return ast.parse(source)
    except SyntaxError as error:
        raise ExerciseError(f"{_shown(path)}:{error.lineno}: {error.msg}") from None


def _wrong(where: Path, checks: str) -> tuple[Wrong, ...]:
    known = {node.name for node in _tests(checks)}
    found = []
    for path in sorted((where / "wrong").glob("*.py")):
        source = _text(path)
        head = _WRONG.match(source.partition("\n")[0])
        if not head or head["check"] not in known:
            raise ExerciseError(
                f"{_shown(path)}:1: the first line is '# test_name: the misconception', the name one of: "
                f"{', '.join(sorted(known))}"
            )
        _parse(path, source)
        found.append(Wrong(path.stem, head["check"], head["misconception"], source))
    if len(found) < 2:
        raise ExerciseError(f"{_shown(where)}/wrong:1: {len(found)} wrong answers; write at least two")
    return tuple(found)


def _tests(checks: str) -> list[ast.FunctionDef]:
    body = ast.parse(checks).body
    return [node for node in body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]


def _complain_about_checks(path: Path, exercise: Exercise) -> None:
    tests = _tests(exercise.checks)
    public = [node for node in tests if not node.name.startswith(HIDDEN)]
    if not public or len(public) == len(tests):
        raise ExerciseError(f"{_shown(path)}:1: write at least one public check and one {HIDDEN}* check")
    for node in public:
        if "reference" in [a.arg for a in node.args.args]:
            raise ExerciseError(
                f"{_shown(path)}:{node.lineno}: {node.name} is public and asks for `reference`; only {HIDDEN}* may"
            )
    defined = _defined(ast.parse(exercise.reference))
    missing = [name for name in exercise.names if name not in defined]
    if missing:
        raise ExerciseError(f"{_shown(path)}:1: checks ask for {', '.join(missing)}, which solution.py does not define")


def _defined(tree: ast.Module) -> set[str]:
    """Names that a module's top level binds."""
    found: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        else:
            found |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return found


def stub_of(solution: str) -> str:
    """The reference with each answer replaced.

    By what stands below `INSTEAD`, where there is that; else by `raise NotImplementedError` in a body and by a comment
    at the top level.
    """
    return "\n".join(line for _, line in _stub_lines(solution)).rstrip() + "\n"


def _stub_lines(solution: str) -> list[tuple[int, str]]:
    """The stub's lines, each with the number of the line in the solution that it comes from."""
    kept: list[tuple[int, str]] = []
    answer: list[str] | None = None
    for number, line in enumerate(solution.splitlines(), 1):
        mark = line.strip()
        if mark == BEGIN:
            answer = [line]
        elif mark == END and answer is not None:
            first = number - len(answer)
            instead = replaced(answer)
            if instead is None:
                kept += [(first, text) for text in _to_be_written(answer[0], kept[-1][1] if kept else "")]
            else:
                kept += [(number - len(instead) + place, text) for place, text in enumerate(instead)]
            answer = None
        elif answer is not None:
            answer.append(line)
        else:
            kept.append((number, line))
    return kept


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
    kept: list[str] = []
    below = False
    for line in solution.splitlines(keepends=True):
        mark = line.strip()
        below = (below or mark == INSTEAD) and mark != END
        if not below and mark not in (BEGIN, END):
            kept.append(line)
    return "".join(kept)


def public_part(checks: str) -> str:
    """The source without hidden checks, and without the helpers and imports that only those use."""
    tree = ast.parse(checks)
    hidden = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith(HIDDEN)]
    kept = [node for node in tree.body if node not in hidden]
    while True:
        used = {
            n.id for node in kept for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
        }
        needed = [node for node in kept if _wanted(node, used)]
        if len(needed) == len(kept):
            break
        kept = needed
    return _without(checks, tree, kept)


def _wanted(node: ast.stmt, used: set[str]) -> bool:
    if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
        return True
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return True
    binds = _defined(ast.Module(body=[node], type_ignores=[]))
    return not binds or bool(binds & used)


def _without(source: str, tree: ast.Module, kept: list[ast.stmt]) -> str:
    lines = source.splitlines()
    previous = 0
    pieces = []
    for node in tree.body:
        start = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) - 1
        if node in kept:
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
