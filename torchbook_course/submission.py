"""A student's notebook, read without trust: which code answers which exercise, whatever became of the notebook.

An answer is the cell with nbgrader's id `<exercise>-solution`; where metadata were stripped, the cell with the line
`# exercise <exercise> (keep this line)`. Of several the last one that was worked on counts. Around it are put, as its
context, definitions from the student's other cells, so that a helper written in a cell of its own counts while
experiments are not run again: imports, functions, classes, and assignments whose value takes no call. Names of cells
above come first; of cells below only those that nothing above defines, as in a notebook that was run from the top.
"""

from __future__ import annotations

import ast
import json
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import nbformat
from IPython.core.inputtransformer2 import TransformerManager

FILE_MB = 50  # a larger notebook is not read
NESTED = 1_000_000  # lists and objects in a notebook
CELL_CHARACTERS = 64_000  # a longer cell is not graded
NOTEBOOK_CHARACTERS = 1_000_000  # of all cells together
MAGICS = 200  # lines of IPython's own syntax in a notebook

_MARKER = re.compile(r"^# exercise (?P<id>[a-z][a-z0-9]*-x\d+) \(keep this line\)[ \t]*$", re.MULTILINE)
_SOLUTION = "-solution"
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


class SubmissionError(Exception):
    """A submission cannot be read; the message says what it is and what the student can do."""


@dataclass(frozen=True)
class Cell:
    """A cell as the student left it; `grade_id` is nbgrader's, empty where there is none."""

    kind: str
    source: str
    grade_id: str = ""

    @property
    def marked(self) -> str:
        """The exercise that the cell's marker line names, or nothing."""
        match = _MARKER.search(self.source)
        return match["id"] if match else ""

    @cached_property
    def body(self) -> str:
        """The code as it would be typed: without the marker line."""
        return _MARKER.sub("", self.source).strip()


@dataclass(frozen=True)
class Repair:
    """What was not as it was handed out, and what was made of it; `look` where a person should see whether rightly."""

    exercise: str
    what: str
    look: bool = True


@dataclass(frozen=True)
class Answer:
    """The code of an exercise. `source` is the cell as it stands, `code` and `context` are plain Python."""

    source: str
    code: str
    context: str


@dataclass(frozen=True)
class Extracted:
    """Answers by exercise; an exercise whose cell is gone has none."""

    answers: Mapping[str, Answer]
    repairs: tuple[Repair, ...]


# Reading.


def read(path: Path) -> tuple[Cell, ...]:
    """The cells of a notebook file of any version of the format; outputs are not looked at.

    Raises:
        SubmissionError: it is no notebook, or too large to be one.
    """
    notebook = _parsed(_bytes(path), path.name)
    cells = tuple(_cells(notebook))
    if sum(len(cell.source) for cell in cells) > NOTEBOOK_CHARACTERS:
        raise SubmissionError(f"{path.name}: more than {NOTEBOOK_CHARACTERS} characters of code and text")
    return cells


def _bytes(path: Path) -> bytes:
    try:
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode) or not stat.S_ISREG(status.st_mode):
            raise SubmissionError(f"{path.name}: a link or a device, not a file; submit the notebook itself")
        if status.st_size > FILE_MB * 1_000_000:
            size = status.st_size / 1e6
            raise SubmissionError(
                f"{path.name}: {size:.0f} MB, more than {FILE_MB}; clear all outputs, save and submit again"
            )
        if not status.st_size:
            raise SubmissionError(f"{path.name}: the file is empty; save the notebook and submit again")
        return path.read_bytes()
    except OSError as error:
        raise SubmissionError(f"{path.name}: cannot be read ({error.strerror})") from None


def _parsed(content: bytes, name: str) -> dict[str, Any]:
    if content.count(b"[") + content.count(b"{") > NESTED:
        raise SubmissionError(f"{name}: more than {NESTED} lists and objects; clear all outputs and submit again")
    try:
        document = json.loads(content.decode("utf-8-sig"), object_pairs_hook=_without_outputs)
    except (*_UNREADABLE, UnicodeDecodeError) as error:
        reason = str(error).partition(":")[0] or type(error).__name__
        raise SubmissionError(f"{name}: not a notebook, its content is not JSON ({reason})") from None
    holders = [document.get(key) for key in ("cells", "worksheets")] if isinstance(document, dict) else []
    if not any(isinstance(holder, list) for holder in holders):
        raise SubmissionError(f"{name}: JSON, but not a notebook: it has no cells")
    return document


def _without_outputs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {key: value for key, value in pairs if key not in ("outputs", "attachments", "widgets")}


def _cells(notebook: dict[str, Any]) -> Iterator[Cell]:
    for cell in _raw_cells(notebook):
        if not isinstance(cell, dict):
            continue
        source = cell.get("source", cell.get("input", ""))
        metadata = cell.get("metadata")
        nbgrader = metadata.get("nbgrader") if isinstance(metadata, dict) else None
        grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
        kind = cell.get("cell_type")
        yield Cell(
            kind if kind in ("code", "markdown", "raw") else "markdown",
            _text(source),
            _text(grade_id) if isinstance(grade_id, str) else "",
        )


def _raw_cells(notebook: dict[str, Any]) -> Iterator[Any]:
    sheets = notebook.get("worksheets", [])
    holders = [notebook, *(sheets if isinstance(sheets, list) else [])]
    for holder in holders:
        cells = holder.get("cells", []) if isinstance(holder, dict) else []
        yield from cells if isinstance(cells, list) else []


def _text(source: Any) -> str:
    lines = source if isinstance(source, list) else [source]
    joined = "".join(line for line in lines if isinstance(line, str))
    unified = joined.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return unified.encode("utf-8", "replace").decode("utf-8")


# Answers.


def extract(cells: Sequence[Cell], stubs: Mapping[str, str], ours: Iterable[str] = ()) -> Extracted:
    """Find the answers in a notebook.

    Args:
        cells: the student's cells.
        stubs: by id of the assignment's exercises, in order, the source of the solution cell as handed out.
        ours: sources of the cells that were handed out; no student's code even where their metadata were stripped.
    """
    magics = _Magics()
    handed_out = {source.strip() for source in ours}
    chosen: dict[str, int] = {}
    repairs: list[Repair] = []
    for exercise, stub in stubs.items():
        index, oddities = _chosen(exercise, stub, cells)
        repairs += oddities
        if index is not None:
            chosen[exercise] = index
    own_cells = _own_cells(cells, handed_out)
    plain = {index: magics.stripped(cells[index].source) for index in sorted({*own_cells, *chosen.values()})}
    if magics.left < 0:
        repairs.append(Repair("", f"more than {MAGICS} lines of IPython's own syntax; the rest was left as it is"))
    definitions = {index: _definitions(code) for index, code in plain.items()}
    answers = {
        exercise: Answer(
            cells[index].source, plain[index], _context(index, chosen, own_cells, definitions, plain[index])
        )
        for exercise, index in chosen.items()
    }
    return Extracted(answers, tuple(repairs))


def _chosen(exercise: str, stub: str, cells: Sequence[Cell]) -> tuple[int | None, list[Repair]]:
    """The cell that answers an exercise, and what is odd about it."""
    by_id = [i for i, cell in enumerate(cells) if cell.grade_id == exercise + _SOLUTION]
    marked = [i for i, cell in enumerate(cells) if cell.marked == exercise]
    candidates = sorted({i for i in by_id if cells[i].marked in ("", exercise)} | set(marked)) or by_id
    if not candidates:
        return None, [Repair(exercise, "the cell of the answer is gone; the exercise counts as unsolved")]
    repairs = []
    too_long = [i for i in candidates if len(cells[i].source) > CELL_CHARACTERS]
    if too_long:
        repairs.append(Repair(exercise, f"a cell of more than {CELL_CHARACTERS} characters, which is not graded"))
        candidates = [i for i in candidates if i not in too_long]
        if not candidates:
            return None, repairs
    stub_body = Cell("code", stub).body
    attempted = [i for i in candidates if cells[i].body not in ("", stub_body)]
    index = (attempted or candidates)[-1]
    if len(candidates) > 1:
        repairs.append(
            Repair(exercise, f"{len(candidates)} cells answer it; the last one that was worked on is graded")
        )
    if index not in by_id:
        repairs.append(
            Repair(exercise, "nbgrader's metadata are gone from its cell, found by its first line", look=False)
        )
    if cells[index].kind != "code":
        repairs.append(Repair(exercise, f"its cell had become a {cells[index].kind} cell; graded as code", look=False))
    return index, repairs


def _own_cells(cells: Sequence[Cell], handed_out: set[str]) -> list[int]:
    """Code cells that the student added: neither handed out nor an answer."""
    return [
        index
        for index, cell in enumerate(cells)
        if cell.kind == "code"
        and not cell.grade_id.endswith(("-public", "-hidden"))
        and cell.source.strip() not in handed_out
        and len(cell.source) <= CELL_CHARACTERS
    ]


@dataclass(frozen=True)
class _Definition:
    node: ast.stmt
    source: str
    names: frozenset[str]

    @cached_property
    def guarded(self) -> str:
        """The definition so that, if it fails, for a package that is not here say, it stops no other one."""
        handler = ast.ExceptHandler(type=ast.Name("Exception", ast.Load()), name=None, body=[ast.Pass()])
        try:
            return ast.unparse(ast.Try(body=[self.node], handlers=[handler], orelse=[], finalbody=[]))
        except RecursionError:
            return ""


def _context(
    index: int,
    chosen: Mapping[str, int],
    own_cells: Sequence[int],
    definitions: Mapping[int, Sequence[_Definition]],
    code: str,
) -> str:
    solutions = set(chosen.values())
    above = [i for i in sorted({*own_cells, *solutions}) if i < index]
    below = [i for i in own_cells if i > index and i not in solutions]
    used = [definition for i in above for definition in definitions[i]]
    defined = {name for definition in used for name in definition.names} | _top_names(code)
    for i in below:
        lacking = [d for d in definitions[i] if not d.names & defined]
        used += lacking
        defined |= {name for d in lacking for name in d.names}
    return "\n".join(definition.guarded for definition in used)


# IPython's own syntax.


class _Magics:
    """Takes IPython's syntax out of cells without running anything; there is a limit for each notebook."""

    _LINE = re.compile(r"^[ \t]*(?:[%!?/,;]|[\w.]+[ \t]*=[ \t]*[%!])|\?[ \t]*$", re.MULTILINE)
    _RUNS_ITS_BODY = re.compile(r"^%%(?:time|capture)\b.*\n")

    def __init__(self) -> None:
        self.left = MAGICS
        self._manager = TransformerManager()

    def stripped(self, source: str) -> str:
        """The cell as plain Python with the same line numbers; as it is where that cannot be done."""
        head, blank = source, ""
        lead = len(head) - len(head.lstrip("\n"))
        cell_magic = self._RUNS_ITS_BODY.match(head[lead:])
        if cell_magic:
            head, blank = head[lead + cell_magic.end() :], "\n" * (lead + 1)
        elif head[lead:].startswith("%%"):
            return ""
        count = len(self._LINE.findall(head))
        self.left -= count
        if not count or self.left < 0:
            return blank + head
        try:
            return blank + _without_calls(self._manager.transform_cell(head), head)
        except (*_UNREADABLE, RuntimeError):
            return blank + head


def _without_calls(transformed: str, original: str) -> str:
    """Blank the statements that IPython made of its syntax; the student's own lines stay."""
    typed_lines = {line.strip() for line in original.split("\n")}
    lines = transformed.rstrip("\n").split("\n")
    for node in ast.walk(ast.parse(transformed)):
        if not isinstance(node, ast.Expr | ast.Assign) or not _is_ipythons(node.value):
            continue
        first = lines[node.lineno - 1]
        if first.strip() in typed_lines:
            continue
        indent = first[: len(first) - len(first.lstrip())]
        assigned = [ast.unparse(target) for target in node.targets] if isinstance(node, ast.Assign) else []
        lines[node.lineno - 1] = indent + (" = ".join([*assigned, "None"]) if assigned else "pass")
        for number in range(node.lineno, node.end_lineno or node.lineno):
            lines[number] = ""
    return "\n".join(lines) + "\n"


def _is_ipythons(value: ast.expr) -> bool:
    callee = value.func if isinstance(value, ast.Call) else None
    owner = callee.value if isinstance(callee, ast.Attribute) else None
    return isinstance(owner, ast.Call) and isinstance(owner.func, ast.Name) and owner.func.id == "get_ipython"


# Definitions.


def definitions(code: str) -> str:
    """Imports, functions, classes and assignments without calls of a module's top level; nothing when not Python."""
    return "\n".join(definition.source for definition in _definitions(code))


def _definitions(code: str) -> list[_Definition]:
    tree = _tree(code)
    if tree is None:
        return []
    lines = code.split("\n")
    definitions, previous_end = [], 0
    for node, following in zip(tree.body, [*tree.body[1:], None], strict=False):
        separate = node.lineno > previous_end and (following is None or following.lineno > _end(node))
        previous_end = _end(node)
        if separate and _defines(node):
            definitions.append(_Definition(node, _lines_of(lines, node), frozenset(_names(node))))
    return definitions


def _end(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _tree(code: str) -> ast.Module | None:
    try:
        return ast.parse(code)
    except _UNREADABLE:
        return None


def _defines(node: ast.stmt) -> bool:
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return False
    if isinstance(node, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return True
    if isinstance(node, ast.Assign):
        return all(_is_name(target) for target in node.targets) and _is_plain(node.value)
    if isinstance(node, ast.AnnAssign):
        return node.value is not None and _is_name(node.target) and _is_plain(node.value)
    if isinstance(node, ast.Try):
        parts = [*node.body, *node.orelse, *node.finalbody, *(s for h in node.handlers for s in h.body)]
        return all(_defines(part) or isinstance(part, ast.Pass) for part in parts)
    return False


def _is_name(target: ast.expr) -> bool:
    if isinstance(target, ast.Tuple | ast.List):
        return all(_is_name(part) for part in target.elts)
    return isinstance(target, ast.Name)


def _is_plain(value: ast.expr) -> bool:
    """Whether an expression takes no call, loop or look-up: a literal, a name, `torch.float32`, `2 * n`, a lambda."""
    if isinstance(value, ast.Lambda):
        return True
    refused = (
        ast.Call | ast.Await | ast.Yield | ast.YieldFrom | ast.NamedExpr | ast.Subscript | ast.Pow
        | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    )  # fmt: skip
    return not any(isinstance(part, refused) for part in ast.walk(value))


def _names(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement of the top level binds."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield statement.name
        return
    for node in ast.walk(statement):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((alias.asname or alias.name).split(".")[0] for alias in node.names)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _top_names(code: str) -> set[str]:
    tree = _tree(code)
    return {name for node in tree.body for name in _names(node)} if tree else set()


def _lines_of(lines: Sequence[str], node: ast.stmt) -> str:
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
    return "\n".join(lines[first - 1 : node.end_lineno])


# What nbgrader gets.


def repaired(cells: Sequence[Cell], extracted: Extracted, release: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """The notebook as handed out, with the student's answers in it and the student's own cells after them.

    nbgrader thus always finds its cells as it made them, whatever became of metadata, flags and cells.
    """
    notebook = deepcopy(release)
    handed_out = {cell.source.strip() for cell in notebook.cells}
    for cell in notebook.cells:
        grade_id = str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))
        exercise = grade_id.removesuffix(_SOLUTION)
        if grade_id.endswith(_SOLUTION):
            answer = extracted.answers.get(exercise)
            cell.source = _harmless(answer.source) if answer else "# this cell was not in the submission"
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    answered = {answer.source for answer in extracted.answers.values()}
    extra = [cells[i] for i in _own_cells(cells, handed_out) if cells[i].source not in answered]
    nonempty = [cell for cell in extra if cell.source.strip()]
    if nonempty:
        note = nbformat.v4.new_markdown_cell("**Other code cells of the submission**")
        notebook.cells += [note, *(nbformat.v4.new_code_cell(_harmless(cell.source)) for cell in nonempty)]
    notebook.nbformat_minor = 5
    for index, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{index}"
    return notebook


def _harmless(source: str) -> str:
    """Without nbgrader's own marks, which would cut the notebook short."""
    return re.sub(r"(BEGIN|END) (HIDDEN TESTS|SOLUTION|MARK SCHEME)", "\\1\u00a0\\2", source)
