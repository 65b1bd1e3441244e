"""Runs a chapter's cells as its kernel does, and shakes their assertions: `python -m` this module `JOB OUT`.

Each assertion is tried, where it stands, on other values than those that it read. Before each cell that has
assertions, one forked child for each name that the cell sets runs the cell with that name changed.
"""

from __future__ import annotations

import ast
import builtins
import functools
import json
import os
import random
import select
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from torchbook_press.claims.instrument import (
    SHAKER,
    Assertion,
    Move,
    Unit,
    assertions,
    assigned,
    depending,
    instrumented,
    why_unread,
)
from torchbook_press.claims.perturb import SIGN, moved, others

FAILED, ERROR, SURVIVED, NOT_RUN = "failed", "error", "survived", "not run"
_LONGEST = 20.0  # seconds for one assertion on all its other values
_REHEARSAL = 90.0  # seconds for a cell as it is, in a child
_SPARE = 10.0  # seconds that a child has beside three times what the cell takes
_SAMPLES = 3  # of the times that a value is read: the first, one between, the last


class _Noting:
    """Gives each value of an assertion as it is, and keeps it."""

    def __init__(self) -> None:
        self.values: dict[int, list[Any]] = {}

    def __call__(self, number: int, thunk: Callable[[], Any], again: int | None = None) -> Any:
        value = thunk() if again is None else self.values[again][-1]
        if hasattr(value, "__next__"):
            value = list(value)
        self.values.setdefault(number, []).append(value)
        return value


class _Replaying:
    """Gives the values that were noted, but one: at one of the times that it was read, or with `kind` at all times."""

    def __init__(self, noted: _Noting, number: int, time_read: int, other: Any, kind: str = "") -> None:
        self.noted, self.number, self.time_read, self.other, self.kind = noted, number, time_read, other, kind
        self.counts: dict[int, int] = {}

    def __call__(self, number: int, thunk: Callable[[], Any], again: int | None = None) -> Any:
        count = self.counts[number] = self.counts.get(number, -1) + 1
        if number == self.number and count == self.time_read:
            return self.other
        values = self.noted.values.get(number, ())
        value = values[count] if count < len(values) else thunk()
        return dict(others(value)).get(self.kind, value) if self.kind and number == self.number else value


class _Given:
    """What `holds` is given, so that its last measurement is known."""

    def __init__(self, arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
        named = dict(zip(("name", "value", "relation", "bound"), arguments, strict=False)) | options
        self.value = named["value"]
        self.relation, self.bound = named.get("relation", "=="), named.get("bound", True)
        self.within = named.get("within", 0.0)
        self.arguments, self.options = arguments, options
        if callable(self.value):  # a time, which `holds` itself measures
            measured = functools.partial(self._measure, self.value)
            self.arguments = (arguments[0], measured, *arguments[2:]) if len(arguments) > 1 else arguments
            self.options = options | ({"value": measured} if "value" in options else {})

    def _measure(self, value: Callable[[], Any]) -> Any:
        self.value = value()
        return self.value

    def measured(self) -> Any:
        return self.value

    def holds(self, value: Any) -> bool:
        from torchbook._holds import _holds

        return _holds(value, self.relation, self.bound, self.within)


class _OutOfTimeError(Exception):
    """An assertion took too long on other values."""


@dataclass
class Tried:
    """What came of an assertion on other values: by comparison, then by operand and kind."""

    assertion: Assertion
    runs: int = 0
    results: dict[int, dict[tuple[int, str], str]] = field(default_factory=dict)

    def note(self, unit: int, key: tuple[int, str], result: str) -> None:
        """Keep a result; one that fails in any run of the assertion has failed."""
        results = self.results.setdefault(unit, {})
        order = (FAILED, ERROR, SURVIVED)
        results[key] = min(result, results.get(key, SURVIVED), key=order.index)


class Shaker:
    """What the rewritten assertions of a cell call."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.namespace = namespace
        self.tried: list[Tried] = []
        self.move_to: Move | None = None
        self.child: dict[str, Any] | None = None  # in a child: what to tell the parent

    def begin(self, found: list[Assertion]) -> None:
        self.tried = [Tried(assertion) for assertion in found]

    def check(self, number: int, condition: Callable[[Any], Any]) -> Any:
        """The truth of an assertion, which is tried on other values when it holds."""
        noted = _Noting()
        held = condition(noted)
        if self.child is not None:
            return bool(held) or self._failed_in_child(number)
        self.tried[number].runs += 1
        if held:
            self._shake(number, condition, noted)
        return held

    def plain(self, number: int, held: Any) -> Any:
        """The truth of an assertion that also sets names: it is not tried on other values."""
        if self.child is not None:
            return bool(held) or self._failed_in_child(number)
        self.tried[number].runs += 1
        return held

    def held(self, number: int, holds: Callable[..., Any], *arguments: Any, **options: Any) -> None:
        """A call of `holds`, whose value is replaced by others."""
        if self.child is not None:
            try:
                holds(*arguments, **options)
            except AssertionError:
                self._failed_in_child(number)
            return
        given = _Given(arguments, options)
        holds(*given.arguments, **given.options)
        self.tried[number].runs += 1
        operand, noted = self.tried[number].assertion.units[0].operands[0], _Noting()
        value = noted(operand, given.measured)
        if given.holds(value):
            self._shake(number, lambda o: given.holds(o(operand, given.measured)), noted)

    def move(self, name: str, value: Any) -> Any:
        """Another value for a name, in a child that changes it."""
        assert self.move_to is not None
        assert self.child is not None
        kinds = moved(value)
        self.child["kinds"] = max(self.child.get("kinds", 0), len(kinds))
        if self.move_to.kind >= len(kinds):
            return value
        kind, other = kinds[self.move_to.kind]
        self.child["kind"] = kind
        return other

    def _failed_in_child(self, number: int) -> bool:
        assert self.child is not None
        self.child["failed"].append(number)
        self.child.setdefault("first", FAILED)
        return True

    def _shake(self, number: int, condition: Callable[[Any], Any], noted: _Noting) -> None:
        tried = self.tried[number]
        with _deadline(_LONGEST), _random_state(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for index, unit in enumerate(tried.assertion.units):
                for operand in self._values_of(unit):
                    values = noted.values.get(operand, [])
                    for read in sorted({0, len(values) // 2, len(values) - 1} if values else ())[:_SAMPLES]:
                        for kind, other in self._replacements(unit, operand, read, noted):
                            every = kind if unit.some else ""
                            result = _outcome(condition, _Replaying(noted, operand, read, other, every))
                            tried.note(index, (operand, kind), result)

    def _values_of(self, unit: Unit) -> list[int]:
        """Operands to replace: no literals, and none that name what a module or Python itself holds, unless all do."""

        def fixed(number: int) -> bool:
            root = unit.constants.get(number)
            return root == "" or (root is not None and self._is_fixed(root))

        return [number for number in unit.operands if not fixed(number)] or unit.operands

    def _is_fixed(self, root: str) -> bool:
        if root in self.namespace:
            return isinstance(self.namespace[root], ModuleType)
        return hasattr(builtins, root)

    def _replacements(self, unit: Unit, operand: int, read: int, noted: _Noting) -> Iterator[tuple[str, Any]]:
        value = noted.values[operand][read]
        if unit.negative:
            for partner in unit.operands:
                values = noted.values.get(partner, [])
                if partner != operand and read < len(values):
                    yield "the same", values[read]
        try:
            yield from others(value)
        except _OutOfTimeError:
            raise
        except Exception:
            yield "replaced", object()
        if unit.truth:
            with suppress(Exception):
                yield "not", not value
        elif unit.of_type:
            yield "of no type", object()  # other values of a type are of that type
        elif unit.negative and " not in " in unit.text and operand == unit.operands[-1]:
            yield "holds it", [noted.values[unit.operands[0]][min(read, len(noted.values[unit.operands[0]]) - 1)]]


def _outcome(condition: Callable[[Any], Any], values: _Replaying) -> str:
    try:
        return SURVIVED if condition(values) else FAILED
    except AssertionError:
        return FAILED
    except _OutOfTimeError:
        raise
    except Exception:
        return ERROR


@contextmanager
def _deadline(seconds: float) -> Iterator[None]:
    """Go on after so many seconds, with what is known by then; not where a chapter uses the alarm itself."""

    def ring(*_: object) -> None:
        raise _OutOfTimeError

    if signal.getsignal(signal.SIGALRM) not in (signal.SIG_DFL, None):
        yield
        return
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        with suppress(_OutOfTimeError):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _random_state() -> Iterator[None]:
    """What is drawn meanwhile is drawn again."""
    torch, state = sys.modules.get("torch"), random.getstate()
    drawn = torch.get_rng_state() if torch is not None else None
    try:
        yield
    finally:
        random.setstate(state)
        if torch is not None:
            torch.set_rng_state(drawn)


class _Transformer:
    """Rewrites a cell's tree when IPython has parsed it."""

    def __init__(self, shaker: Shaker) -> None:
        self.shaker = shaker

    def visit(self, tree: ast.Module) -> ast.Module:
        return instrumented(tree, self.shaker.move_to, alone=self.shaker.child is not None)


class Session:
    """A chapter's cells, run one after another in this process."""

    def __init__(self, folders: list[Path]) -> None:
        self.shell = _shell()
        self.shaker = Shaker(self.shell.user_ns)
        setattr(builtins, SHAKER, self.shaker)
        self.shell.ast_transformers.append(_Transformer(self.shaker))
        self.kept = _Kept(folders)

    def cell(self, source: str, *, names: bool) -> dict[str, Any]:
        """Run a cell; what came of its assertions, and with `names` of the names that it sets."""
        tree = self._tree(source)
        found = assertions(tree)
        self.shaker.begin(found)
        began = time.monotonic()
        changed = self._names(source, tree) if names and found else {}
        middle = time.monotonic()
        error = self._run(source)
        return {
            "error": error,
            "seconds": round(time.monotonic() - middle, 3),
            "names_seconds": round(middle - began, 3),
            "assertions": [_said(tried) for tried in self.shaker.tried],
            **changed,
        }

    def _tree(self, source: str) -> ast.Module:
        try:
            return ast.parse(self.shell.transform_cell(source))
        except SyntaxError:
            return ast.Module([], [])

    def _run(self, source: str) -> str:
        result = self.shell.run_cell(source, store_history=True)
        error = result.error_before_exec or result.error_in_exec
        return f"{type(error).__name__}: {error}" if error else ""

    def _names(self, source: str, tree: ast.Module) -> dict[str, Any]:
        """Run the cell in children, each with another name changed."""
        names = assigned(tree)
        if not names:
            return {}
        rehearsal = self._child(source, None, _REHEARSAL)
        if rehearsal is None or rehearsal.get("first"):
            return {"unforked": "it hangs in a child" if rehearsal is None else rehearsal.get("said", "it fails there")}
        longest = 3 * rehearsal["seconds"] + _SPARE
        return {"names": [self._name(source, tree, name, longest) for name in names if rehearsal["movable"].get(name)]}

    def _name(self, source: str, tree: ast.Module, name: str, longest: float) -> dict[str, Any]:
        reached = sorted(depending(tree, name, self._steady(tree)))
        row: dict[str, Any] = {"name": name, "reaches": reached, "results": []}
        if not reached:
            row["why"] = why_unread(tree, name)
        kind, kinds = 0, 1
        while kind < kinds:
            told = self._child(source, Move(name, kind), longest)
            result = NOT_RUN if told is None or "kind" not in told else told.get("first", SURVIVED)
            row["results"].append({"kind": (told or {}).get("kind", ""), "result": result})
            row.setdefault("failed", []).extend((told or {}).get("failed", []))
            kinds = (told or {}).get("kinds", 0) if reached and result == SURVIVED else 0
            kind += 1
        row["failed"] = sorted(set(row["failed"]))
        return row

    def _steady(self, tree: ast.Module) -> set[str]:
        """Names that stand for modules, functions and classes, before the cell or by its imports."""
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
        imported = {(alias.asname or alias.name).partition(".")[0] for node in imports for alias in node.names}
        kinds = (ModuleType, FunctionType, type)
        held = {name for name, value in self.shell.user_ns.items() if isinstance(value, kinds)}
        return held | imported | set(vars(builtins))

    def _child(self, source: str, move: Move | None, longest: float) -> dict[str, Any] | None:
        """What a forked child says of the cell; None when it hangs or dies."""
        self.kept.keep()
        reading, writing = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            self._in_child(source, move, writing)
        os.close(writing)
        text = _read(reading, pid, longest)
        self.kept.restore()
        return json.loads(text) if text else None

    def _in_child(self, source: str, move: Move | None, writing: int) -> None:
        """Never returns."""
        try:
            os.setpgid(0, 0)
            shaker = self.shaker
            shaker.child, shaker.move_to = {"failed": []}, move
            began = time.monotonic()
            error = self._run(source)
            told = shaker.child | {"seconds": time.monotonic() - began, "said": error[:200]}
            if error:
                told.setdefault("first", FAILED if error.startswith("AssertionError") else ERROR)
            if move is None:
                told["movable"] = {
                    name: _movable(value) for name, value in self.shell.user_ns.items() if not name.startswith("_")
                }
            os.write(writing, json.dumps(told).encode())
        finally:
            os._exit(0)


def _movable(value: Any) -> bool:
    try:
        return bool(moved(value))
    except Exception:
        return False


def _read(reading: int, pid: int, longest: float) -> bytes:
    """All that a child writes; nothing, and its end, when it takes longer."""
    text, ends = b"", time.monotonic() + longest
    while True:
        ready, _, _ = select.select([reading], [], [], max(0.0, ends - time.monotonic()))
        part = os.read(reading, 1 << 16) if ready else b""
        text += part
        if not part:
            break
    os.close(reading)
    for end in (os.killpg, os.kill):
        with suppress(OSError):
            end(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return text if ready else b""


class _Kept:
    """The folders that a chapter writes in, as they are before a child runs."""

    def __init__(self, folders: list[Path]) -> None:
        self.folders = folders
        self.copy = Path(tempfile.mkdtemp(prefix="kept-", dir=folders[0].parent))
        self.state: list[Any] = []

    def keep(self) -> None:
        state = self._state()
        if state == self.state:
            return
        for number, folder in enumerate(self.folders):
            shutil.rmtree(self.copy / str(number), ignore_errors=True)
            shutil.copytree(folder, self.copy / str(number), symlinks=True, ignore=_special)
        self.state = state

    def restore(self) -> None:
        if self._state() == self.state:
            return
        for number, folder in enumerate(self.folders):
            _mirror(self.copy / str(number), folder)
        self.state = self._state()

    def _state(self) -> list[Any]:
        return [_listing(folder) for folder in self.folders]


def _listing(folder: Path) -> list[tuple[str, int, int]]:
    found = []
    for path in sorted(folder.rglob("*")):
        with suppress(OSError):
            status = path.lstat()
            found.append(
                (str(path), status.st_size if path.is_file() else 0, status.st_mtime_ns if path.is_file() else 0)
            )
    return found


def _special(folder: str, names: list[str]) -> list[str]:
    """Sockets and pipes, which cannot be copied."""
    paths = {name: Path(folder, name) for name in names}
    return [name for name, path in paths.items() if not (path.is_symlink() or path.is_file() or path.is_dir())]


def _mirror(source: Path, folder: Path) -> None:
    """Make a folder what its copy is; files that are the same stay, since processes may have them open."""
    for path in sorted(folder.rglob("*"), reverse=True):
        if not os.path.lexists(source / path.relative_to(folder)):
            with suppress(OSError):
                path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    for path in sorted(source.rglob("*")):
        target = folder / path.relative_to(source)
        if path.is_dir() and not path.is_symlink():
            target.mkdir(exist_ok=True)
        elif not os.path.lexists(target) or _differ(path, target):
            shutil.copy2(path, target, follow_symlinks=False)


def _differ(one: Path, two: Path) -> bool:
    first, second = one.lstat(), two.lstat()
    return (first.st_size, first.st_mtime_ns) != (second.st_size, second.st_mtime_ns)


def _said(tried: Tried) -> dict[str, Any]:
    """What came of an assertion, as plain data."""
    units = []
    for index, unit in enumerate(tried.assertion.units):
        results = tried.results.get(index, {})
        broke = {kind for (_, kind), result in results.items() if result == FAILED}
        counts = {name: list(results.values()).count(name) for name in (FAILED, ERROR, SURVIVED)}
        units.append({"text": unit.text, **counts, "wide": bool(broke) and broke <= {SIGN, f"last {SIGN}"}})
    found = tried.assertion
    return {"line": found.line, "text": found.text, "branch": found.branch, "runs": tried.runs, "units": units}


def _shell() -> Any:
    """IPython's shell as a kernel has it, without history."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    shell = InteractiveShell.instance(config=config)
    for path in sorted(Path(os.environ["IPYTHONDIR"], "profile_default", "startup").glob("*.py")):
        shell.safe_execfile(str(path), shell.user_ns, raise_exceptions=True)
    return shell


def main(job: Path, out: Path) -> None:
    """Run the cells of a job file, and write what came of each as it ends."""
    asked = json.loads(job.read_text(encoding="utf-8"))
    session = Session([Path.cwd(), Path(tempfile.gettempdir())])
    rows = []
    for number, cell in enumerate(asked["cells"]):
        row = (
            {"skipped": True, "assertions": []} if cell["skip"] else session.cell(cell["source"], names=asked["names"])
        )
        rows.append(row | {"cell": number})
        out.write_text(json.dumps(rows), encoding="utf-8")
        if number == 0:
            session.shell.user_ns.update(asked["parameters"])
    os._exit(0)  # what a chapter left running must not hold this process


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
