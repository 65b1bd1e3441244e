"""The program inside the box: runs students' code and the checks on it, one process for each exercise.

A job comes on stdin and results go to stdout, both as JSON. torch is imported once, in a parent that never runs a
student's code. Of each exercise a child gets what it needs, and of the child's messages only those count that begin
with a word drawn for it. In the box the parent is the first process of its namespace: no other can end it, and after
each exercise it ends all others. It also ends an exercise whose processes take too much memory or are too many.

After a student's code has run, some wrong answers are checked again, which the checks refused before (the
tripwire). If one passes now, the checks are no longer what they were, and the exercise does not count.

A look at the frames of the callers, which hold the word and the reference, is refused by a hook of the interpreter and
told before the answer can have seen any. What writes results is bound before an answer runs.

What this cannot promise. The checks call the student's functions, so both live in one process, as with every grader
whose checks look at tensors and gradients. A function that comes upon its callers in a way that the interpreter does
not report (a handler of signals, a greenlet's frame, a library that looks up names in its callers, the classes of the
grader found among the subclasses of object) can write results of its own; one that patches what a check uses and
restores it afterwards is not caught by the tripwire. Neither can harm more than its own grade;
`torchbook_course.flags` names the constructs that this takes, for a person to look at.
"""

from __future__ import annotations

import ast
import contextlib
import ctypes
import gc
import importlib
import json
import linecache
import os
import re
import resource
import secrets
import select
import shutil
import signal
import sys
import tempfile
import threading
import time
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torchbook.practice import harness
else:
    import harness

GRACE = 1.0  # seconds beyond an exercise's limit, until which the harness has itself raised the limit
REPLAY = 10.0  # seconds that the tripwire may take
TICK = 0.05  # seconds between two looks at an exercise's processes
RESULT = 400_000  # bytes that the messages of an exercise may have
MATRIX = 20_000_000  # the same of a matrix, in which no student's code runs
ANSWER, OTHERS = "<your answer>", "<your other cells>"
# What gives a view of the callers, as the interpreter's audit events name it.
LOOKS = (
    *("sys._getframe", "sys._current_frames", "sys._current_exceptions", "sys.settrace", "sys.setprofile"),
    *("gc.get_objects", "gc.get_referrers", "gc.get_referents", "object.__getattr__", "sys.addaudithook"),
    *("ctypes.dlsym", "ctypes.dlsym/handle"),
)
MEMBERS = frozenset(("tb_frame", "gi_frame", "cr_frame", "ag_frame"))
# Modules that hand out what they saw, and the functions of theirs that only print it.
HELPERS = tuple(
    f"/{name}.py"
    for name in (
        *("inspect", "traceback", "logging/__init__", "bdb", "pdb", "cmd", "trace"),
        *("asyncio/base_tasks", "ctypes/__init__", "torch/_jit_internal"),
    )
)
PRINTS = tuple(f"{kind}_{what}" for kind in ("print", "format") for what in ("exc", "exception", "tb", "last"))
PYTHONS = "Py", "_Py"  # what foreign code calls to get at the interpreter's own objects
OURS = "runner", "harness", "warm"  # modules of the box that are none of the student's business
CHECKS = "<torchbook_checks>"  # the harness's name of the file that holds the checks
_TORCHS = re.compile(r"^(?:import|from) (torch\b[\w.]*)", re.MULTILINE)
# What imports torch's compiler when it is first used, seconds in each process; even an optimizer's constructor does.
_COMPILERS = re.compile(r"\b(?:optim|compile|checkpoint|export|fx|_?dynamo|TorchDispatchMode)\b")
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4

Message = dict[str, Any]


def main() -> None:
    """Read a job, run it, write the results."""
    job = json.loads(sys.stdin.buffer.read())
    limits = job["limits"]
    _shield(limits)
    _preload(job["exercises"])
    _say({"ready": True})
    for exercise in job["exercises"]:
        start = time.monotonic()
        message, empty = _exercise(exercise, limits)
        # What an exercise left behind and cannot be removed is no room for the next, which may be another student's.
        _say({"id": exercise["id"], **message, "seconds": time.monotonic() - start, "left": not empty})
        if not empty:
            break
    os._exit(0)


def _say(message: Message) -> None:
    sys.stdout.buffer.write(json.dumps(message).encode() + b"\n")
    sys.stdout.buffer.flush()


def _shield(limits: Message) -> None:
    """Let no other process look into this one, and set the limits that its children inherit."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # which the first process of a namespace does not even notice
    _prctl(_PR_SET_DUMPABLE, 0)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_FSIZE, limits["file_mb"] * 1_000_000)
    _limit(resource.RLIMIT_NOFILE, limits["open_files"])
    if limits["sandboxed"] and limits["count_processes"]:
        _limit(resource.RLIMIT_NPROC, limits["threads"])


def _prctl(option: int, value: int) -> None:
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _limit(what: int, value: float) -> None:
    hard = resource.getrlimit(what)[1]
    value = int(value) if hard == resource.RLIM_INFINITY else min(int(value), hard)
    with contextlib.suppress(ValueError, OSError):  # the system has no such limit
        resource.setrlimit(what, (value, value))


def _preload(exercises: list[Message]) -> None:
    """Import once what the checks import; the children inherit it. None of it computes here."""
    gc.disable()  # collecting while modules are imported costs a tenth of the import
    sources = [text for e in exercises for text in (e["checks"], e.get("reference") or "")]
    names = {name for source in sources for name in _imported(source)}
    for exercise in exercises:
        if exercise.get("processes"):
            names |= set(_TORCHS.findall(exercise["checks"]))  # also those of the programs in them, which are forked
    if any(_COMPILERS.search(source) for source in sources):
        names.add("torch._dynamo")
    for name in sorted(names):
        with contextlib.suppress(Exception):  # the check will say so
            importlib.import_module(name)
    if "torch" in sys.modules and not any("DTensor" in source for source in sources):
        comparison = importlib.import_module("torch.testing._comparison")
        if hasattr(comparison, "_HAS_DTENSOR"):  # else the first assert_close imports 500 modules
            setattr(comparison, "_HAS_DTENSOR", False)  # noqa: B010  # no stub has it
    gc.freeze()


def _imported(source: str) -> Iterator[str]:
    for node in ast.parse(source).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


# The parent.


def _exercise(exercise: Message, limits: Message) -> tuple[Message, bool]:
    """Run one exercise in a child, and leave nothing of it; what it said, and whether nothing is left indeed."""
    word = secrets.token_hex(16)
    seconds = exercise["seconds"] * limits["patience"]
    matrix = exercise.get("task") == "matrix"
    total = seconds * (len(exercise["rounds"]) + len(exercise["rows"])) if matrix else seconds
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        _in_child(exercise, limits, writer, word)
    os.close(writer)
    replay, most = REPLAY * limits["patience"] + seconds, MATRIX if matrix else RESULT
    message = _result(child, reader, word, total + GRACE, replay, limits, most)
    os.close(reader)
    return message, _clear(child, limits)


def _result(
    child: int, pipe: int, word: str, seconds: float, replay: float, limits: Message, most: int = RESULT
) -> Message:
    """What the child says before its time is up, it ends, or its processes are too many or too large.

    It says first how the checks went, then, within `replay` seconds more, that the tripwire held; `most` bytes in all.
    """
    end = time.monotonic() + seconds
    pending, received = b"", 0
    messages: list[Message] = []
    while True:
        phase = "the tripwire" if messages else "the checks"
        status = _status(child)
        readable = select.select([pipe], [], [], 0 if status else TICK)[0]
        chunk = os.read(pipe, 65536) if readable else b""
        received += len(chunk)
        if received > most:
            return {"state": "tampered", "detail": "more was written as a result than a result can have"}
        *lines, pending = (pending + chunk).split(b"\n")
        for line in lines:
            message = _understood(line, word)
            if message is None:
                return {"state": "tampered", "detail": "something else than a result was written as one"}
            if "looked" in message:
                return {"state": "tampered", "detail": f"the code looked at what calls it ({message['looked']})"}
            messages.append(message)
            end = time.monotonic() + replay
            if message["last"]:
                return _merged(messages)
        if status and not chunk:
            return {"state": "died", "detail": f"{status} during {phase}"}
        if readable and not chunk:  # closed, most often because the process is about to end
            time.sleep(TICK / 10)
        if time.monotonic() > end:
            return {"state": "time", "detail": f"stopped during {phase}, after its time was up"}
        too_much = _excess(child, limits)
        if too_much:
            return too_much
        if _abandoned():
            os.kill(child, signal.SIGKILL)
            os._exit(1)  # and with the first process of a box everything in it


def _abandoned() -> bool:
    """Whether the grader has ended, so that nobody reads results."""
    poll = select.poll()
    poll.register(1, 0)
    return any(events & (select.POLLERR | select.POLLHUP) for _, events in poll.poll(0))


def _understood(line: bytes, word: str) -> Message | None:
    """A message of the child; None for anything else."""
    try:
        message = json.loads(line.removeprefix(word.encode()))
        genuine = line.startswith(word.encode()) and isinstance(message["last"], bool) and isinstance(message, dict)
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return message if genuine else None


def _merged(messages: list[Message]) -> Message:
    """All that was said, later over earlier; results that the tripwire does not stand for are not handed on."""
    merged: Message = {}
    for message in messages:
        merged |= message
    merged.pop("last")
    if merged.get("state") == "ok":
        return merged
    return {"state": merged.get("state", "tampered"), "detail": merged.get("detail", "")}


def _status(child: int) -> str:
    """How a child ended, in words; nothing while it lives."""
    with contextlib.suppress(ChildProcessError):
        while (reaped := os.waitpid(-1, os.WNOHANG))[0]:  # orphans too, whose parent this process is
            _reaped[reaped[0]] = os.waitstatus_to_exitcode(reaped[1])
    if child not in _reaped:
        return ""
    code = _reaped[child]
    if code >= 0:
        return f"the process ended itself (exit status {code})"
    names = {member.value: member.name for member in signal.Signals}
    return f"the process was ended by {names.get(-code, f'signal {-code}')}"


_reaped: dict[int, int] = {}  # exit codes of children that ended


def _clear(child: int, limits: Message) -> bool:
    """End what an exercise started, and remove what it wrote; whether all of it could be removed."""
    alone = os.getpid() == 1 and limits["sandboxed"]
    if alone or child not in _reaped:
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1 if alone else child, signal.SIGKILL)  # -1: every process of the box but this one
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)
    _reaped.clear()
    return not alone or all([_emptied("/tmp"), _emptied("/dev/shm")])


def _emptied(folder: str) -> bool:
    """Remove what is in a folder, but for the interpreter; whether nothing else is left."""
    interpreters = [Path(prefix) for prefix in (sys.prefix, sys.base_prefix)]
    written = [p for p in Path(folder).iterdir() if not any(own.is_relative_to(p) for own in interpreters)]
    for path in written:
        with contextlib.suppress(OSError, RecursionError):
            if path.is_dir() and not path.is_symlink():
                _opened(path)
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()
    return not any(os.path.lexists(path) for path in written)


def _opened(folder: Path) -> None:
    """Let folders be read and written whose owner forbade it to all, and to the runner with it."""
    folder.chmod(0o700)
    for path, folders, _ in os.walk(folder):
        for name in folders:
            inner = Path(path, name)
            if not inner.is_symlink():
                inner.chmod(0o700)


def _excess(child: int, limits: Message) -> Message:
    """What the processes of the box have too much of, this one not counted."""
    if not limits["sandboxed"]:
        return {}
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit() and name != "1"]
    if len(pids) > limits["processes"]:
        return {"state": "processes", "detail": f"more than {limits['processes']} processes"}
    limit = limits["memory_gb"] * 1e9
    own = _kilobytes("/proc/self/status", ("RssAnon",))
    fields = "RssAnon", "RssShmem", "VmSwap"
    rough = [max(0.0, _kilobytes(f"/proc/{pid}/status", fields) - (own if pid == child else 0)) for pid in pids]
    if sum(rough) * 1e3 <= limit:
        return {}
    exact = [_kilobytes(f"/proc/{pid}/smaps_rollup", ("Pss_Anon", "Pss_Shmem", "SwapPss")) for pid in pids]
    memory = sum(b if b else a for a, b in zip(rough, exact, strict=True)) * 1e3
    return {"state": "memory", "detail": f"more than {limits['memory_gb']:g} GB of memory"} if memory > limit else {}


def _kilobytes(path: str, fields: tuple[str, ...]) -> float:
    """The sum of some lines of a file in /proc; 0 for a process that has ended or may not be looked at."""
    try:
        with open(path) as file:
            lines = [line.split() for line in file]
    except OSError:
        return 0
    return sum(float(line[1]) for line in lines if line and line[0].rstrip(":") in fields)


# The child.


def _in_child(exercise: Message, limits: Message, pipe: int, word: str) -> None:
    """Do an exercise and never return."""
    try:
        pipe = _settled(pipe, limits)
        tell = _teller(pipe, word)
        if exercise.get("task") == "matrix":
            tell({"state": "ok", "detail": "", "last": True} | _matrix(exercise, limits))
        elif exercise.get("task") == "mutant":
            tell({"state": "ok", "detail": "", "last": True} | _mutant(exercise, limits))
        else:
            _graded(exercise, limits, tell)
    finally:
        os._exit(0)


def _settled(pipe: int, limits: Message) -> int:
    """Set this process up for code that is not trusted; the pipe's new number is returned."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if limits["sandboxed"]:
        _prctl(_PR_SET_DUMPABLE, 1)  # so that the parent sees how much memory is held
    devnull = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(devnull, number)
    number = 100 + secrets.randbelow(100)
    os.dup2(pipe, number, inheritable=False)
    os.closerange(3, number)
    os.closerange(number + 1, max(1024, limits["open_files"]))
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0, "r"), os.fdopen(1, "w"), os.fdopen(2, "w")
    if sys.platform.startswith("linux"):
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        _limit(resource.RLIMIT_AS, used + limits["memory_gb"] * 1e9)
    os.chdir(tempfile.mkdtemp(prefix="exercise-"))
    gc.enable()
    return number


def _teller(pipe: int, word: str) -> Callable[[Message], None]:
    dumps, write, getpid, leave = _serialiser(), os.write, os.getpid, os._exit
    teller = getpid()

    def tell(message: Message) -> None:
        if getpid() != teller:  # a fork that the student's code made
            leave(0)
        rest = word.encode() + dumps(message).encode() + b"\n"
        while rest:
            rest = rest[write(pipe, rest) :]

    return tell


def _serialiser() -> Callable[[object], str]:
    """JSON of what is told, by nothing that a student's code can put something else in the place of."""
    quoted, kind, words = json.encoder.encode_basestring_ascii, type, {True: "true", False: "false", None: "null"}
    texts, tables, numbers = str, dict, (int, float)

    def text(value: Any) -> str:
        if kind(value) is texts:
            return quoted(value)
        if value is True or value is False or value is None:
            return words[value]
        if kind(value) is tables:
            return "{" + ", ".join([quoted(key) + ": " + text(item) for key, item in value.items()]) + "}"
        if kind(value) in numbers:
            return value.__repr__()
        return "[" + ", ".join([text(item) for item in value]) + "]"

    return text


def _watch(tell: Callable[[Message], None], reference: str, bench: harness.Bench) -> None:
    """Refuse the answer a look at its callers, whichever way it is spelled, and say so before it could have seen any.

    The interpreter itself reports these calls, to a hook that cannot be taken away. Libraries make some of them too, so
    what counts is who calls: the answer's own lines, by themselves or through a module made for such looks. Lines are
    the answer's if they are of no module that was imported and not ours, whatever file they say they are from.
    """
    frame_of, ident, busy = sys._getframe, threading.get_ident, set[int]()
    looks = frozenset(name for name in LOOKS if name.rpartition(".")[2] not in reference)
    members, helpers, prints, pythons, told = MEMBERS, HELPERS, PRINTS, PYTHONS, list[str]()
    error, answers, modules = RuntimeError, (ANSWER, OTHERS, "<string>", "<stdin>", "<unknown>"), sys.modules
    ours = [globals(), vars(harness), *bench.namespaces]

    def is_answers(frame: types.FrameType) -> bool:
        if frame.f_code.co_filename in answers:
            return True
        own = frame.f_globals
        if any(own is one for one in ours):
            return False
        name = str(own.get("__name__", ""))
        return name == "__main__" or getattr(modules.get(name), "__dict__", None) is not own

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in looks:
            return
        if event == "object.__getattr__" and arguments[1] not in members:
            return
        if event.startswith("ctypes") and not str(arguments[1]).startswith(pythons):
            return
        thread = ident()
        if thread in busy:
            return
        busy.add(thread)
        try:
            caller: types.FrameType | None = frame_of(1)
            file = asked = ""  # the helper's function that was called, of several the outermost
            while caller is not None and caller.f_code.co_filename.endswith(helpers):
                file, asked = caller.f_code.co_filename, caller.f_code.co_name
                caller = caller.f_back
            harmless = asked in prints or (asked and "logging" in file and asked not in ("currentframe", "<lambda>"))
            by_answer = caller is not None and not harmless and is_answers(caller)
        finally:
            busy.discard(thread)
        if by_answer:
            what = arguments[1] if event.startswith(("object", "ctypes")) else event
            if not told:
                told.append(event)
                tell({"looked": str(what), "last": False})
            raise error("an answer may not look at what calls it")

    sys.addaudithook(hook)


def _graded(exercise: Message, limits: Message, tell: Callable[[Message], None]) -> None:
    """Run a student's answer and the checks on it, then the tripwire."""
    with _warm(exercise.get("processes", False)):
        _checked(exercise, limits, tell)


@contextlib.contextmanager
def _warm(processes: bool, headers: str = "") -> Iterator[None]:
    """Within the block, what answers start is warm. It is first entered before this process has computed anything."""
    with contextlib.ExitStack() as stack:
        if processes or headers:
            import warm
        if processes:
            stack.enter_context(warm.processes())
        if headers:
            stack.enter_context(warm.headers(headers))
        yield


def _checked(exercise: Message, limits: Message, tell: Callable[[Message], None]) -> None:
    seconds = exercise["seconds"] * limits["patience"]
    end = time.monotonic() + seconds
    bench = harness.Bench(exercise["checks"], exercise["reference"])
    restore = _torchs_settings()
    _forget(exercise["checks"], exercise.get("public", ""))
    try:
        answer = _compiled(exercise["code"], ANSWER)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        tell({"state": "syntax", "detail": _not_python(error, exercise["code"]), "last": True})
        return
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    _watch(tell, exercise["reference"] or "", bench)
    try:
        with harness.time_limit(seconds):
            errors = [_raised(lambda: _compiled(exercise["context"], OTHERS), module), _raised(lambda: answer, module)]
    except harness.TimeLimitError:
        tell({"state": "time", "detail": f"the cell itself, before any check, took {seconds:g} s", "last": True})
        return
    remaining = max(end - time.monotonic(), 0.0)
    outcomes = bench.run(vars(module), seed=exercise["seed"], source=exercise["code"], seconds=remaining)
    records = [{"name": o.name, "state": o.state, "message": o.message} for o in outcomes]
    detail = "; ".join(filter(None, errors))[: harness.MESSAGE]
    tell({"state": "ok", "detail": detail, "outcomes": records, "last": False})
    restore()
    tampering = _tripped(bench, exercise, seconds)
    tell({"state": "tampered", "detail": tampering, "last": True} if tampering else {"last": True})


def _not_python(error: BaseException, source: str) -> str:
    """Where and why an answer cannot be compiled, never without words."""
    line = error.lineno if isinstance(error, SyntaxError) else 0
    if not line:  # what nests too deep has no line of its own: that with most brackets and signs is meant
        lines = source.splitlines() or [""]
        line = 1 + max(range(len(lines)), key=lambda n: sum(not c.isalnum() and c != " " for c in lines[n]))
    why = getattr(error, "msg", None) or str(error)
    if not why or isinstance(error, RecursionError | MemoryError):
        why = "more is nested here than Python can take"
    return f"line {line}: {why}"[: harness.MESSAGE]


def _forget(checks: str, public: str) -> None:
    """Let the student's code not come upon the runner, the hidden checks and the reference by name.

    Lines of the public checks can be looked up, as where a learner runs them: an answer may quote the code it is given.
    """
    linecache.clearcache()
    known = set(public.splitlines())
    shown = [f"{line}\n" if line in known else "\n" for line in checks.splitlines()]
    linecache.cache[CHECKS] = len(checks), None, shown, CHECKS
    for name in OURS:
        sys.modules.pop(name, None)


def _compiled(source: str, file: str) -> types.CodeType:
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    return compile(source, file, "exec", dont_inherit=True)


def _raised(code: Callable[[], types.CodeType], module: types.ModuleType) -> str:
    """Run code in a module; what it raised, in words. What it defined before stays, as in a notebook."""
    try:
        exec(code(), vars(module))
    except harness.TimeLimitError:
        raise
    except BaseException as error:
        return harness.described(error)
    return ""


def _torchs_settings() -> Callable[[], None]:
    """A function that resets what code may rightly set for itself, so that the tripwire sees checks as they were."""
    torch = sys.modules.get("torch")
    if torch is None:
        return lambda: None
    set_dtype, set_device, set_gradients = torch.set_default_dtype, torch.set_default_device, torch.set_grad_enabled
    # torch.use_deterministic_algorithms would import all of torch's compiler
    set_deterministic, default = torch._C._set_deterministic_algorithms, torch.get_default_dtype()

    def restore() -> None:
        set_dtype(default)
        set_device(None)
        set_gradients(True)
        set_deterministic(False)

    return restore


def _tripped(bench: harness.Bench, exercise: Message, seconds: float) -> str:
    """A check that passes a wrong answer which it refused before, in words; or nothing."""
    wrong = {answer["name"]: answer["source"] for answer in exercise["wrong"]}
    for replay in exercise["expected"]["replay"]:
        source, checks = wrong[replay["wrong"]], replay["checks"]
        module = harness.load(source, "torchbook_wrong")
        outcomes = bench.run(vars(module), seed=exercise["seed"], source=source, only=checks, seconds=seconds)
        states = {outcome.name: outcome.state for outcome in outcomes}
        passing = [name for name in checks if states.get(name, "passed") in ("passed", "missing", "unsolved")]
        if passing:
            return f"after this code ran, {', '.join(passing)} did not refuse an answer known to be wrong"
    return ""


def _matrix(exercise: Message, limits: Message) -> Message:
    """How checks take the answers that are asked for: of each round, each outcome's name, state, message and seconds.

    A round is an answer, shown anew to some checks of the exercise under one seed. In a search, answers are shown to a
    check one after the other until it refuses one. Rows are rounds with all checks but those that took the reference,
    which comes first, longer than the tripwire may take.
    """
    show = _Show(exercise, exercise["seconds"] * limits["patience"])
    rounds = [show.shown(**request) for request in exercise["rounds"]]
    searched = {check: _first_refused(show, check, **request) for check, request in exercise["searches"].items()}
    fast = [name for name, _, _, seconds in rounds[0] if seconds <= exercise["budget"] * limits["patience"]]
    rows = [show.shown(**request, only=fast) for request in exercise["rows"]]
    return {"rounds": rounds, "searched": searched, "rows": rows}


def _first_refused(show: _Show, check: str, answers: list[str], seed: int) -> str:
    """The first of some answers that a check refuses; nothing if it refuses none."""
    for answer in answers:
        ((_, state, *_),) = show.shown(answer, seed, [check])
        if state == "refused":
            return answer
    return ""


class _Show:
    """Shows answers of one exercise to its checks, in this process."""

    def __init__(self, exercise: Message, seconds: float) -> None:
        self._answers, self._prelude, self._seconds = exercise["answers"], exercise["prelude"], seconds
        self._processes, self._headers = exercise["processes"], exercise["reference"] if exercise["compiler"] else ""
        if self._processes:
            with self._programs():
                pass
        self._bench = harness.Bench(exercise["checks"], exercise["reference"])
        self._public = exercise["public"]

    def shown(
        self,
        answer: str,
        seed: int,
        only: list[str] | None = None,
        public: bool = False,
        cold: bool = False,
        strict: bool = False,
    ) -> list[tuple[str, str, str, float]]:
        """The outcomes of one answer: name, state, message and seconds.

        Args:
            answer: its name.
            seed: of the checks.
            only: names of the checks; all by default.
            public: take the public checks alone, as a learner has them who knows no hidden ones.
            cold: keep nothing warm, as for a learner.
            strict: take a warning for an error.
        """
        restore = _torchs_settings()
        with contextlib.nullcontext() if cold else self._programs(), warnings.catch_warnings():
            if strict:
                warnings.simplefilter("error")
            try:
                with self._alone() if public else contextlib.nullcontext(self._bench) as bench:
                    outcomes = self._run(self._answers[answer], seed, only, bench)
            finally:
                restore()
        return [(outcome.name, outcome.state, outcome.message, round(outcome.seconds, 4)) for outcome in outcomes]

    def _run(self, text: str, seed: int, only: list[str] | None, bench: harness.Bench) -> list[harness.Outcome]:
        try:
            names = vars(harness.load(text, "learner"))
        except Exception as error:
            return [harness.Outcome("", "error", harness.described(error)[: harness.MESSAGE], 0.0)]
        return bench.run(names, seed=seed, source=self._prelude + text, only=only, seconds=self._seconds)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[harness.Bench]:
        """The public checks alone, whose lines have the same name as those of all checks for as long as the block."""
        lines = dict(linecache.cache)
        try:
            yield harness.Bench(self._public)
        finally:
            linecache.cache.update(lines)

    def _programs(self) -> contextlib.AbstractContextManager[None]:
        return _warm(self._processes, self._headers)


def _mutant(exercise: Message, limits: Message) -> Message:
    """How checks take one answer, one after the other, up to the first that it does not pass."""
    show = _Show(exercise, exercise["seconds"] * limits["patience"])
    outcomes: list[tuple[str, str, str, float]] = []
    for check in exercise["order"]:
        outcomes += show.shown("", exercise["seed"], [check])
        if outcomes[-1][1] != "passed":
            break
    return {"outcomes": outcomes}


if __name__ == "__main__":
    main()
