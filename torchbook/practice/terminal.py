"""`torchbook check p01-x3 my.py`: the same checks on a file or notebook, in a process of their own.

That process may hang, crash or end itself; the one that started it says so and goes on. This module is both: imported
it starts the other, run with `python -m` it is the other.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import linecache
import os
import signal
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from torchbook.practice import harness, learner, packages, shelf
from torchbook.practice.exercise import Exercise
from torchbook.practice.report import Result, ResultJson

FILE_SECONDS = 60.0  # for running the file itself, before its checks
_MARGIN = 30.0  # seconds for starting Python and importing torch
LOOKS = 0.3  # seconds between two looks at a file that is watched
_BODY_COUNTS = ("%%time", "%%capture")  # cell magics whose cell is Python still
_MODULE = "learners_code"


class FileError(Exception):
    """The learner's file cannot be read; the message says which and why."""


class Piece(NamedTuple):
    """Code that is run at once: a whole file, or one cell; `label` is how messages name it."""

    label: str
    name: str
    source: str


def check_file(exercise_id: str, file: Path, *, patience: float = 1.0) -> Result:
    """Run the public checks of an exercise on a Python file or a notebook, and keep the result in the progress.

    Args:
        exercise_id: for instance "p01-x3".
        file: `.py`, or `.ipynb` whose code cells are run in order, without their magics.
        patience: multiplies the limits: 60 s for the file itself, and the exercise's own for its checks.

    Raises:
        ExerciseError: there is no such exercise.
        FileError: the file is missing, or no Python file or notebook.
        NotInstalledError: the exercise needs a package that is not installed.
    """
    exercise = shelf.find(learner.named(exercise_id))
    packages.require(exercise)
    pieces(file)
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "result.json"
        ending = _run(exercise, file, output, patience)
        try:
            result = ResultJson.validate_json(output.read_bytes())
        except (OSError, ValueError):
            result = Result(exercise.id, f"{exercise.id} {exercise.title}: no result, {ending}")
    result.advice += learner.keep(exercise, result)
    return result


def watch(exercise_id: str, file: Path, *, patience: float = 1.0) -> Iterator[Result | FileError]:
    """What `check_file` says of a file, now and after each time that it is saved; it never ends by itself.

    Once the file could be read, a save that leaves something unreadable is said, and the next one is waited for.

    Raises:
        ExerciseError: there is no such exercise, or what its author writes just now is malformed.
        FileError: the file cannot be read when the watch begins.
        NotInstalledError: the exercise needs a package that is not installed.
    """
    begun = False
    for _ in _saves(file):
        try:
            result: Result | FileError = check_file(exercise_id, file, patience=patience)
        except FileError as error:
            if not begun:
                raise
            result = error
        begun = True
        yield result


def _saves(file: Path, wait: Callable[[float], None] = time.sleep) -> Iterator[None]:
    """At once, then after each time that a file was saved; a save is over when two looks find the same file."""
    known = now = _stamp(file)
    yield
    while True:
        wait(LOOKS)
        before, now = now, _stamp(file)
        if now is not None and now == before != known:
            known = now
            yield


def _stamp(file: Path) -> tuple[int, int, int] | None:
    """What changes when a file is saved; None while an editor has it moved away."""
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _run(exercise: Exercise, file: Path, output: Path, patience: float) -> str:
    """Run the other process, and say how it ended."""
    command = [sys.executable, "-m", __name__, exercise.id, str(file.resolve()), str(output), str(patience)]
    limit = (FILE_SECONDS + exercise.contract.seconds) * patience + _MARGIN
    process = subprocess.Popen(command, start_new_session=os.name == "posix")
    try:
        code = process.wait(limit)
    except subprocess.TimeoutExpired:
        return f"your code was stopped after {limit:g} s"
    finally:
        _end(process)
    if code < 0:
        return f"your code crashed Python ({signal.strsignal(-code) or f'signal {-code}'})"
    return f"your code ended Python (exit status {code})"


def _end(process: subprocess.Popen[bytes]) -> None:
    """Stop the process, and where there are groups also what it started."""
    if os.name == "posix":
        with contextlib.suppress(ProcessLookupError, PermissionError):  # all of the group has ended
            os.killpg(process.pid, signal.SIGKILL)
    elif process.poll() is None:
        process.kill()
    process.wait()


# The file.


def pieces(file: Path) -> list[Piece]:
    """The code of a Python file, or of a notebook's cells without their magics.

    Raises:
        FileError: the file is missing, or no Python file or notebook.
    """
    if file.suffix not in (".py", ".ipynb"):
        raise FileError(f"{file}: neither a Python file (.py) nor a notebook (.ipynb)")
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{file}: {getattr(error, 'strerror', None) or error}") from None
    return [Piece(file.name, str(file), text)] if file.suffix == ".py" else _cells(file, text)


def _cells(file: Path, text: str) -> list[Piece]:
    try:
        cells = json.loads(text)["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, LookupError, TypeError):
        raise FileError(f"{file}: not a notebook of format 4; save it again in Jupyter") from None
    return [Piece(f"cell {n}", f"{file}[{n}]", _python(source)) for n, source in enumerate(code, 1)]


def _python(cell: str) -> str:
    """A cell's Python: magics and shell commands taken out, their lines kept."""
    from IPython.core.inputtransformer2 import TransformerManager

    head, _, body = cell.partition("\n")
    source = TransformerManager().transform_cell(f"\n{body}" if head.startswith(_BODY_COUNTS) else cell)
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return source
    lines = source.splitlines()
    for node in tree.body:
        if any(isinstance(child, ast.Name) and child.id == "get_ipython" for child in ast.walk(node)):
            lines[node.lineno - 1 : node.end_lineno] = [""] * ((node.end_lineno or node.lineno) - node.lineno + 1)
    return "\n".join(lines) + "\n"


# The other process.


def main(exercise_id: str, file: str, output: str, patience: str) -> None:
    """Run a learner's file and the checks on it, and write the result as JSON."""
    exercise = shelf.find(exercise_id)
    code = pieces(Path(file))
    module, notes = run(code, Path(file), FILE_SECONDS * float(patience))
    result = learner.examine(exercise, vars(module), patience=float(patience), call=learner.in_terminal)
    # Where not a line ran, that nothing is defined is no news.
    advice = () if len(code) == 1 and _is_not_python(code[0]) else result.advice
    result = replace(result, advice=(*notes, *advice))
    Path(output).write_bytes(ResultJson.dump_json(result))


def _is_not_python(piece: Piece) -> bool:
    try:
        compile(piece.source, piece.name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return True
    return False


def run(code: list[Piece], file: Path, seconds: float) -> tuple[types.ModuleType, list[str]]:
    """Run pieces one after the other in one module; the second value says which of them raised what.

    As in a notebook, a cell that raises does not keep the following ones from running. What a notebook's cells print
    stands in the notebook already, and is not printed here.
    """
    module = types.ModuleType(_MODULE)
    module.__file__ = str(file)
    vars(module)["In"] = [piece.source for piece in code]
    sys.modules[_MODULE] = module
    sys.modules[learner.checking_a_file] = types.ModuleType(learner.checking_a_file)
    sys.path.insert(0, str(file.parent))
    sys.argv = [str(file)]
    notes: list[str] = []
    printed = contextlib.nullcontext() if file.suffix == ".py" else contextlib.redirect_stdout(io.StringIO())
    try:
        with printed, harness.time_limit(seconds):
            for piece in code:
                notes += _run_piece(piece, module)
    except harness.TimeLimitError:
        notes.append(f"{file.name} itself was stopped after {seconds:g} s, before its checks.")
    del sys.modules[learner.checking_a_file]
    return module, notes


def _run_piece(piece: Piece, module: types.ModuleType) -> list[str]:
    linecache.cache[piece.name] = len(piece.source), None, piece.source.splitlines(keepends=True), piece.name
    try:
        exec(compile(piece.source, piece.name, "exec", dont_inherit=True), vars(module))
    except harness.TimeLimitError:
        raise
    except BaseException as error:
        return [f"{piece.label}: {harness.described(error)}"]
    return []


if __name__ == "__main__":
    main(*sys.argv[1:])
    sys.stdout.flush()
    os._exit(0)  # whatever threads the learner's code has left running
