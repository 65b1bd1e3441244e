"""Runs the checks of an exercise on what a learner defined, and says of each how it went.

The standard library is all it needs, and of this package nothing, so that the grader's box can take the file alone.
"""

from __future__ import annotations

import ast
import linecache
import random
import signal
import sys
import sysconfig
import threading
import time
import types
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

FIXTURES = ("reference", "seed", "source")
HIDDEN = "test_hidden_"
MESSAGE = 2_000  # characters of a message that are kept

# Bound here, since a learner's code may put something else where others would look these up.
_Namespace, _Module = types.SimpleNamespace, types.ModuleType
_compile, _exec = compile, exec

State = Literal["passed", "refused", "unsolved", "error", "missing", "time"]


@dataclass(frozen=True)
class Outcome:
    """How one check went.

    `state` is "passed"; "refused" when the check's assertion did not hold; "unsolved" when the stub's
    `raise NotImplementedError` is still there; "missing" when a name that the check asks for is not defined; "time"
    when the limit came first; "error" for any other exception. `message` is for the learner, empty when passed.
    """

    name: str
    state: State
    message: str
    seconds: float


@dataclass(frozen=True)
class Check:
    """A check as its source shows it: the parameters are names that the learner defines, or fixtures."""

    name: str
    parameters: tuple[str, ...]
    hidden: bool
    line: int


class TimeLimitError(BaseException):
    """The time limit was reached. No `Exception`, so that a learner's `except Exception` lets it pass."""


def checks_of(source: str) -> list[Check]:
    """The functions `test_*` of a source, in the order of their definition.

    Raises:
        SyntaxError: the source is not Python.
    """
    return [
        Check(node.name, _parameters(node.args), node.name.startswith(HIDDEN), node.lineno)
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    ]


def _parameters(arguments: ast.arguments) -> tuple[str, ...]:
    positional = arguments.posonlyargs + arguments.args
    required = positional[: len(positional) - len(arguments.defaults)]
    keywords = [a for a, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if default is None]
    return tuple(argument.arg for argument in required + keywords)


def run(
    checks: str,
    learner: dict[str, object],
    *,
    reference: str | None,
    seed: int,
    source: str,
    only: Collection[str] | None = None,
    seconds: float,
) -> list[Outcome]:
    """Run checks on what a learner defined. No exception escapes, whatever the learner's code raises.

    Args:
        checks: source of the checks.
        learner: the learner's names, for instance the namespace of a notebook.
        reference: source of the reference, for checks with a parameter `reference`.
        seed: value of the fixture `seed`; the generators of torch, numpy and `random` start from it in every check
            and continue afterwards as if nothing had been drawn.
        source: value of the fixture `source`, the text of the learner's definitions.
        only: names of the checks to run; all by default.
        seconds: limit of all checks together.

    Returns:
        One outcome for each check, in the order of their definition.
    """
    return Bench(checks, reference).run(learner, seed=seed, source=source, only=only, seconds=seconds)


class Bench:
    """The checks and the reference of one exercise, loaded once and run on one answer after the other."""

    def __init__(self, checks: str, reference: str | None = None) -> None:
        self.broken = ""
        self.checks: list[Check] = []
        try:
            self.checks = checks_of(checks)
            self._functions = load(checks, "torchbook_checks")
            self._reference = load(reference, "torchbook_reference") if reference is not None else None
        except BaseException as error:
            self.broken = f"the checks of this exercise could not be loaded: {described(error)}"
        finally:
            for name in ("torchbook_checks", "torchbook_reference"):  # not to be come upon by the learner's code
                sys.modules.pop(name, None)

    @property
    def namespaces(self) -> list[dict[str, Any]]:
        """Those in which the code of checks and reference runs."""
        return [] if self.broken else [module.__dict__ for module in (self._functions, self._reference) if module]

    def run(
        self,
        learner: dict[str, object],
        *,
        seed: int,
        source: str,
        only: Collection[str] | None = None,
        seconds: float,
    ) -> list[Outcome]:
        """As the function `run`."""
        values = {"seed": seed, "source": source}
        if not self.broken and self._reference is not None:
            values["reference"] = _Namespace(**self._reference.__dict__)
        end = time.monotonic() + seconds
        outcomes: list[Outcome] = []
        with _generators():
            for check in self.checks:
                if only is None or check.name in only:
                    outcomes.append(self._outcome(check, learner, values, seconds, end))
        return outcomes

    def _outcome(
        self, check: Check, learner: dict[str, object], values: dict[str, Any], seconds: float, end: float
    ) -> Outcome:
        if self.broken:
            return Outcome(check.name, "error", self.broken, 0.0)
        undefined = [p for p in check.parameters if p not in FIXTURES and p not in learner]
        if undefined:
            return Outcome(check.name, "missing", f"`{'`, `'.join(undefined)}` is not defined", 0.0)
        lacking = [p for p in check.parameters if p in FIXTURES and p not in values]
        if lacking:
            return Outcome(check.name, "error", "this check needs the reference, which is not here", 0.0)
        arguments = {p: values[p] if p in FIXTURES else learner[p] for p in check.parameters}
        function = self._functions.__dict__[check.name]
        start = time.monotonic()
        _seed(values["seed"])
        state, message = _call(lambda: function(**arguments), end - start, seconds)
        return Outcome(check.name, state, message[:MESSAGE], time.monotonic() - start)


def load(source: str, name: str) -> types.ModuleType:
    """Run a source as a module of its own; its lines are known to tracebacks, its name to `sys.modules`."""
    module = _Module(name)
    module.__file__ = f"<{name}>"
    code = _compile(source, module.__file__, "exec", dont_inherit=True)
    linecache.cache[module.__file__] = len(source), None, source.splitlines(keepends=True), module.__file__
    sys.modules[name] = module
    _exec(code, module.__dict__)
    return module


def _call(function: Callable[[], object], remaining: float, seconds: float) -> tuple[State, str]:
    """Call a check within the seconds that are left, and sort what it raised."""
    slow = f"not finished after {seconds:g} s; is there a loop without an end?"
    if remaining <= 0:
        return "time", "not run: the time was up"
    try:
        with time_limit(remaining):
            try:
                function()
            except TimeLimitError:
                raise
            except AssertionError as error:
                return "refused", str(error) or "the check does not hold"
            except NotImplementedError as error:
                return ("error", described(error)) if error.args else ("unsolved", "not written yet")
            except BaseException as error:
                return "error", described(error)
    except TimeLimitError:
        return "time", slow
    except BaseException as error:  # an AssertionError whose text cannot be had
        return "error", described(error)
    return "passed", ""


def described(error: BaseException) -> str:
    """Type and message of an exception, and the learner's line that led to it."""
    try:
        text = str(error)
    except TimeLimitError:
        raise
    except BaseException:
        text = "its message cannot be shown"
    summary = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if isinstance(error, SyntaxError):
        return summary
    location = _learners_line(error)
    if not location:
        return summary
    file, line = location
    code = linecache.getline(file, line).strip()
    return f"{summary} (line {line} of your code{f': {code}' if code else ''})"


def _learners_line(error: BaseException) -> tuple[str, int] | None:
    """File and line of the innermost frame that is neither ours nor a library's."""
    location = None
    step = error.__traceback__
    while step:
        file = step.tb_frame.f_code.co_filename
        if not _is_ours(file):
            location = file, step.tb_lineno
        step = step.tb_next
    return location


_LIBRARIES = tuple(
    {sysconfig.get_path(part) for part in ("stdlib", "platstdlib", "purelib", "platlib")}
    | {str(Path(__file__).parents[1])}
)


def _is_ours(file: str) -> bool:
    return file.startswith(("<torchbook_", "<frozen ", "<string>", *_LIBRARIES))


# The time limit.


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `TimeLimitError` in this thread when the block takes longer, and again while it goes on.

    By signal in the main thread of Unix, where it also ends a sleep; elsewhere by an exception set from another
    thread, which takes effect between two instructions of Python.
    """
    main = threading.current_thread() is threading.main_thread()
    with _by_signal(seconds) if main and hasattr(signal, "setitimer") else _by_thread(seconds):
        yield


AGAIN = 0.2  # seconds until a limit that was swallowed is raised again


@contextmanager
def _by_signal(seconds: float) -> Iterator[None]:
    armed = True

    def raise_it(*_: object) -> None:
        if armed:
            raise TimeLimitError

    start = time.monotonic()
    handler = signal.signal(signal.SIGALRM, raise_it)
    delay, interval = signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        yield
    finally:
        armed = False
        remaining = max(delay - (time.monotonic() - start), 1e-3) if delay else 0.0
        signal.signal(signal.SIGALRM, handler if handler is not None else signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, remaining, interval)


@contextmanager
def _by_thread(seconds: float) -> Iterator[None]:
    import ctypes

    thread = ctypes.c_ulong(threading.get_ident())
    finished, lock = threading.Event(), threading.Lock()

    def raise_it() -> None:
        delay = seconds
        while not finished.wait(delay):
            with lock:
                if not finished.is_set():
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(TimeLimitError))
            delay = AGAIN

    threading.Thread(target=raise_it, daemon=True).start()
    try:
        yield
    finally:
        with lock:
            finished.set()
            ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, None)


# Random generators.


@contextmanager
def _generators() -> Iterator[None]:
    """Leave the generators of `random`, numpy and torch as they were found."""
    state = random.getstate()
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    numpy_state = numpy.random.get_state() if numpy else None
    torch_state = torch.get_rng_state() if torch else None
    try:
        yield
    finally:
        random.setstate(state)
        if numpy:
            numpy.random.set_state(numpy_state)
        if torch:
            torch.set_rng_state(torch_state)


def _seed(seed: int) -> None:
    random.seed(seed)
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy:
        numpy.random.seed(seed % 2**32)
    if torch:
        torch.default_generator.manual_seed(seed)  # torch.manual_seed would import what other devices need
        if torch.cuda.is_initialized():
            torch.cuda.manual_seed_all(seed)
