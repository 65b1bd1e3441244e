"""Run one chapter's notebook with papermill, watched: time, memory, the running cell, and one clear error."""

from __future__ import annotations

import json
import os
import platform
import re
import secrets
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import papermill
import psutil
from jupyter_client import KernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import Engine, papermill_engines

from torchbook import data, runtime
from torchbook._holds import STRICT
from torchbook_press import box, bundles, errors, reads
from torchbook_press.errors import GPU_ONLY
from torchbook_press.normal import BANNER_TAG, normalise
from torchbook_press.world import World

_GB = 1e9
_LOOK_EVERY = 0.2  # seconds between looks at the kernel, at least
_LONGEST_REST = 2.0  # seconds; a look at many children takes the machine long, and rests ten times as long
_LONGEST_REASON = 300
_SOCKET = "connection-ipc-1"
_LONGEST_SOCKET = 100  # bytes of a path; Linux takes 107, macOS 103
MOST_OUTPUT = 5_000_000  # characters that one cell may write
_MEMORY_TAG = "torchbook-device-memory"
# The last thing that a kernel beside the CPU lane is asked.
_MEMORY_CELL = """\
import sys

torch = sys.modules.get("torch")
print(torch.cuda.max_memory_reserved() if torch and torch.cuda.is_initialized() else 0)"""
SHIPPED = "shipped"  # the lane of a published notebook, run as a learner runs it
# What this process has and a learner's environment has not.
_OURS = (
    "MKL_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OMP_WAIT_POLICY",
    "PYTHONPATH",
    "PYTHONWARNINGS",
    "TORCHBOOK_EXERCISES",
    "TORCHBOOK_FAST",
    "TORCHBOOK_STANDIN",
    "VIRTUAL_ENV",
)
DEPRECATIONS = ("DeprecationWarning", "FutureWarning")
# Of the chapter's own cells, and of the programs that they start. IPython's filter for cells comes after these.
WARNINGS = ",".join(f"error::{kind}:__main__" for kind in DEPRECATIONS)
_NOT_THE_CHAPTER_S = {"injected-parameters", BANNER_TAG, _MEMORY_TAG}
# torch.compile believes what the processor says of its instructions. Otherwise each kernel, whose folders are empty,
# would first build and load a library to see whether the compiler knows them, for ten seconds.
INSTRUCTIONS = "TORCHINDUCTOR_VEC_ISA_OK"
_VERSIONS = ("torch", "torchvision", "triton", "transformers", "numpy", "plotly")
_ANSI = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Job:
    """One chapter to run, as plain data: it may travel to a worker on another machine."""

    docname: str
    notebook: str  # nbformat JSON, no outputs
    parameters: dict[str, Any]
    lines: tuple[int, ...]  # line of each code cell in the MyST source
    seconds: float
    memory_gb: float
    threads: int
    firsts: tuple[int, ...] = ()  # line of the first line of each code cell's code there
    needs: tuple[str, ...] = ("cpu",)
    data: tuple[str, ...] = ()
    lane: str = "cpu"
    strict: bool = False  # a time that does not hold fails
    protected: tuple[str, ...] = ()  # folders in which it may not write
    progress: str | None = None  # file that is told the running cell; only used where it can be written
    python: str = ""  # interpreter of another environment that runs it
    variables: tuple[tuple[str, str], ...] = ()  # of the environment, beside those that every kernel gets
    press: int = 0  # process that asked for it, on this machine: without it the kernel is ended


@dataclass(frozen=True)
class Failure:
    """Why a chapter failed: where in its source, which cell, and the last line of the traceback."""

    docname: str
    line: int
    cell: int
    reason: str

    def __str__(self) -> str:
        return f"{self.docname}.md:{self.line}: cell {self.cell}: {self.reason}"


@dataclass
class Outcome:
    """What came of a job: the normalised notebook and what the run took, or a failure (and the notebook so far)."""

    docname: str
    notebook: str | None
    failure: Failure | None
    seconds: float
    peak_gb: float
    peak_device_gb: float = 0.0  # as torch's allocator in the kernel counts
    cell_seconds: list[float] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    lacks: str = ""  # what the machine has not and the chapter needs; then nothing ran
    reads: list[str] = field(default_factory=list)  # parts of the key: what the kernel and its children read
    unboxed: str = ""  # why no box was around its kernel; `box.note` says what that means


class Watch(threading.Thread):
    """Looks at a kernel and its children until `stop`; kills them when they pass the time or memory they promised."""

    def __init__(self, job: Job, on_cell: Callable[[int], None], kernel: Kernel) -> None:
        super().__init__(daemon=True, name=f"watch-{job.docname}")
        self.job = job
        self.world = kernel.world
        self.boxed = bool(kernel.box)
        self.on_cell = on_cell
        self.peak = 0.0
        self.verdict = ""
        self.code_cell = 0
        self.started = time.monotonic()
        self._done = threading.Event()
        self._press = _running(job.press)
        self._root: psutil.Process | None = None
        self._kernel: psutil.Process | None = None

    def attach(self, pid: int) -> None:
        """Watch what was started as a process: a kernel, or bubblewrap with one in its box."""
        self._root = psutil.Process(pid)
        self.start()

    def stop(self) -> None:
        self._done.set()
        if self.is_alive():
            self.join()

    def run(self) -> None:
        rest = _LOOK_EVERY
        while True:
            last = self._done.wait(rest)
            began = time.monotonic()
            with suppress(psutil.Error):
                self._look()
            if last:
                return
            rest = min(max(_LOOK_EVERY, 10 * (time.monotonic() - began)), _LONGEST_REST)

    def _look(self) -> None:
        kernel = self._kernel = self._kernel or self._found()
        used = kernel.memory_info().rss + sum(_private(process) for process in self._others(kernel))
        self.peak = max(self.peak, used / _GB)
        if self.peak > self.job.memory_gb:
            self.end(f"used {self.peak:.1f} GB, more than its memory_gb: {self.job.memory_gb:g}")
        elif time.monotonic() - self.started > self.job.seconds:
            self.end(f"ran longer than its minutes: {self.job.seconds / 60:g}")
        elif self.job.press and not _alive(self._press):
            self.end("the press that asked for it is gone")

    def _found(self) -> psutil.Process:
        """The kernel: what was started, or in a box the first child of the first process there.

        Raises:
            psutil.NoSuchProcess: the box has not started it yet, or nothing is left of it.
        """
        assert self._root is not None
        process = self._root
        for _ in range(2 if self.boxed else 0):
            children = process.children()
            if not children:
                raise psutil.NoSuchProcess(process.pid)
            process = min(children, key=lambda child: child.create_time())
        return process

    def _others(self, kernel: psutil.Process) -> list[psutil.Process]:
        """The other processes: of the box all, else the kernel's children, theirs, and all that carry its mark.

        In a box whoever loses its parent becomes a child of the box's first process, so that none is missed.
        """
        assert self._root is not None
        found = {process.pid: process for process in (self._root, *self._root.children(recursive=True))}
        if self.world and not self.boxed:
            found |= {process.pid: process for process in self.world.processes()}
        found.pop(kernel.pid, None)
        return list(found.values())

    def end(self, verdict: str) -> None:
        """End the kernel and all that it started."""
        assert self._root is not None
        self.verdict = self.verdict or verdict
        for process in [*self._others(self._root), self._root]:
            with suppress(psutil.NoSuchProcess):
                process.kill()


def _running(pid: int) -> psutil.Process | None:
    """The process of a number, which another one may get later; None where there is none."""
    try:
        return psutil.Process(pid) if pid else None
    except psutil.NoSuchProcess:
        return None


def _alive(process: psutil.Process | None) -> bool:
    try:
        return process is not None and process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _private(process: psutil.Process) -> int:
    """Memory that a forked child does not share with its parent."""
    try:
        return int(getattr(process.memory_full_info(), "uss", 0))
    except psutil.Error:
        return 0


@dataclass(frozen=True)
class Kernel:
    """How a job's kernel is started: nothing of it is set in this process, whose other threads may run other jobs."""

    work: Path
    variables: dict[str, str]
    stderr: Path
    log: Path  # of what it reads
    specs: Path  # folder in which Jupyter finds it, under the usual name
    world: World | None = None  # a learner's kernel has none
    box: tuple[str, ...] = ()  # what stands before its command
    unboxed: str = ""  # why it has no box


class PressEngine(Engine):
    """papermill's own engine, with a `Watch` on the kernel and the notebook kept when the kernel dies."""

    @classmethod
    def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, **kwargs: Any) -> Any:
        watch: Watch = kwargs["watch"]
        kernel: Kernel = kwargs["kernel"]
        client = _Client(
            nb_man,
            watch=watch,
            specs=kernel.specs,
            folder=kernel.work.parent,
            kernel_name=kernel_name,
            timeout=None,
            startup_timeout=120,
            coalesce_streams=True,
            **({"skip_cells_with_tag": GPU_ONLY} if watch.job.lane == "cpu" else {}),
        )
        # papermill writes the notebook before and after each cell, which waits for it; here once, at the end.
        path, nb_man.output_path = nb_man.output_path, None
        try:
            with kernel.stderr.open("wb") as stderr:
                return client.execute(stderr=stderr, cwd=str(kernel.work), env=kernel.variables)
        finally:
            nb_man.output_path = path


class _Client(PapermillNotebookClient):
    """papermill's client, which tells a watch the kernel's process and the cell that runs."""

    def __init__(self, *args: Any, watch: Watch, specs: Path, folder: Path, **kwargs: Any) -> None:
        super().__init__(*args, on_cell_start=self._on_cell, **kwargs)
        self.watch = watch
        self.specs = specs
        self.folder = folder  # the run's own
        self.started = 0  # of the chapter's own code cells
        self.written = 0  # characters of output, by the running cell

    def create_kernel_manager(self) -> KernelManager:
        manager = super().create_kernel_manager()
        manager.connection_file = str(self.folder / "connection.json")
        # A port that was free when it was chosen may be taken when the kernel asks for it; a file in its folder is not.
        if len(os.fsencode(str(self.folder / _SOCKET))) < _LONGEST_SOCKET:
            manager.transport = "ipc"
        manager.kernel_spec_manager = KernelSpecManager(kernel_dirs=[str(self.specs)])
        return manager

    def papermill_execute_cells(self) -> None:
        assert self.km is not None
        self.watch.attach(self.km.provisioner.pid)
        try:
            super().papermill_execute_cells()
        except DeadKernelError as error:
            status = getattr(self.km.provisioner.process, "returncode", None)
            raise DeadKernelError(f"it ended with status {status}" if status is not None else str(error)) from None
        finally:
            self.watch.stop()

    def process_message(self, msg: dict[str, Any], cell: NotebookNode, cell_index: int) -> Any:
        """Take a message of the kernel; a cell that writes without end is ended, before its outputs fill the memory."""
        if self.watch.verdict:
            return None
        self.written += _characters(msg["content"])
        if self.written > MOST_OUTPUT:
            self.watch.end(f"its output is more than {MOST_OUTPUT / 1e6:g} MB: show less")
            return None
        return super().process_message(msg, cell, cell_index)

    def _on_cell(self, cell: NotebookNode, cell_index: int) -> None:
        self.written = 0
        if cell.cell_type == "code":
            self.started += not _NOT_THE_CHAPTER_S & set(cell.metadata.get("tags", []))
            self.watch.code_cell = max(0, self.started - 1)
            self.watch.on_cell(self.watch.code_cell)


papermill_engines.register("press", PressEngine)


def _characters(content: Mapping[str, Any]) -> int:
    return len(content.get("text", "")) + sum(len(str(value)) for value in content.get("data", {}).values())


def _lacks(job: Job) -> str:
    """What the chapter needs and this machine has not, and the remedy; "" when it has all."""
    if "compiler" not in job.needs:
        return ""
    compiler = runtime.compiler()
    return "" if compiler.state == "ok" else f"it needs a C++ compiler, {compiler.found}: {compiler.advice}"


def execute(job: Job) -> Outcome:
    """Run a job to its end, whatever it does; never raises for what the chapter does."""
    lacks = _lacks(job)
    if lacks:
        return Outcome(job.docname, job.notebook, None, 0.0, 0.0, lacks=lacks)
    nb = nbformat.reads(job.notebook, as_version=4)
    if job.lane != "cpu":
        nb.cells.append(nbformat.v4.new_code_cell(_MEMORY_CELL, metadata={"tags": [_MEMORY_TAG]}))
    failure = None
    for name in job.data if job.lane != SHIPPED else ():
        data.prepare(name)  # fetched here if need be: the kernel may have no network, and writes nothing there
    started = time.monotonic()
    with _folder() as folder, tempfile.TemporaryDirectory(prefix="torchbook-press-") as own:
        output = Path(own, "ran.ipynb")
        kernel = kernel_of(job, Path(folder), Path(own))
        watch = Watch(job, _teller(job, len(job.lines)), kernel)
        stderr = kernel.stderr
        try:
            papermill.execute_notebook(
                nb,
                str(output),
                parameters=job.parameters,
                engine_name="press",
                kernel_name="python3",
                language="python",
                progress_bar=False,
                watch=watch,
                kernel=kernel,
            )
        except papermill.PapermillExecutionError:
            pass  # looked at below
        except (DeadKernelError, CellTimeoutError) as error:
            failure = _at(job, watch.code_cell, watch.verdict or f"the kernel died: {_last_words(stderr) or error}")
        except Exception as error:  # whatever the tools raise is this chapter's failure, not the whole run's
            said = f"{type(error).__name__}: {_last_line(str(error))}"
            failure = _at(job, watch.code_cell, watch.verdict or " ".join([said, _last_words(stderr)]).strip())
        finally:
            watch.stop()
            if kernel.world:
                kernel.world.end()
        executed = nbformat.read(output, 4) if output.is_file() else None
        if watch.verdict:
            failure = failure or _at(job, watch.code_cell, watch.verdict)
        if executed and not failure:
            failure = _unexpected_error(job, executed)
        parts = [] if job.lane == SHIPPED else reads.names(kernel.log)
        device_bytes = _take_memory_cell(executed) if executed else 0
    return Outcome(
        docname=job.docname,
        notebook=nbformat.writes(normalise(bundles.leave_out(executed))) if executed else None,
        failure=failure,
        seconds=time.monotonic() - started,
        peak_gb=watch.peak,
        peak_device_gb=device_bytes / _GB,
        cell_seconds=_cell_seconds(executed) if executed else [],
        facts=_facts(job),
        reads=parts,
        unboxed=kernel.unboxed,
    )


def _folder() -> tempfile.TemporaryDirectory[str]:
    """A folder for a kernel, in which the paths of its sockets are short enough."""
    longest = os.path.join(tempfile.gettempdir(), "torchbook-12345678", _SOCKET)
    place = "/tmp" if len(os.fsencode(longest)) >= _LONGEST_SOCKET and os.access("/tmp", os.W_OK) else None
    return tempfile.TemporaryDirectory(prefix="torchbook-", dir=place)


def _take_memory_cell(nb: NotebookNode) -> int:
    """Take the cell that is not the chapter's out of its notebook; what it said, or 0 when it did not run."""
    memory_cells = [cell for cell in nb.cells if _MEMORY_TAG in cell.metadata.get("tags", [])]
    nb.cells = [cell for cell in nb.cells if cell not in memory_cells]
    text = "".join(output.get("text", "") for cell in memory_cells for output in cell.outputs).strip()
    return int(text) if text.isdigit() else 0


def _facts(job: Job) -> dict[str, Any]:
    """Where the job ran and on what data, as its worker sees it."""
    sources = {name: data.prepare(name) for name in job.data}
    return {
        "device": _device(job.lane),
        "platform": f"{platform.system()} {platform.machine()}",
        "versions": versions(),
        **({"gpu": runtime.gpu()} if job.lane == "gpu" else {}),
        "data": {name: {"real": s.real, "fingerprint": s.fingerprint, "note": s.note} for name, s in sources.items()},
    }


def versions() -> dict[str, str]:
    """Versions that a page names, as installed here."""
    return {
        "python": ".".join(platform.python_version_tuple()[:2]),
        **{name: reads.version(name) for name in _VERSIONS},
    }


def _device(lane: str) -> str:
    if lane == "gpu":
        import torch

        return runtime.device_name(torch.accelerator.current_accelerator() or "cpu")
    cpuinfo = Path("/proc/cpuinfo")
    text = cpuinfo.read_text() if cpuinfo.is_file() else ""
    model = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return f"{model[1].strip() if model else platform.processor() or platform.machine()}, {os.cpu_count()} cores"


def _teller(job: Job, total: int) -> Callable[[int], None]:
    def tell(cell: int) -> None:
        if job.progress:
            with suppress(OSError):
                Path(job.progress).write_text(json.dumps({"cell": cell + 1, "of": total}))

    return tell


def kernel_of(job: Job, folder: Path, own: Path) -> Kernel:
    """Lay out the folder that a kernel works in, and what else it is started with.

    Args:
        job: what it is to run.
        folder: the kernel's.
        own: the press's, in which no kernel writes.
    """
    work = folder / "work"
    work.mkdir()
    stderr, log, python = own / "kernel-stderr.txt", folder / "reads.txt", job.python or sys.executable
    if job.lane == SHIPPED:
        return Kernel(work, _learners_variables(job, folder), stderr, log, _specs(python, own))
    world = World(folder, secrets.token_hex(16), job.protected, "network" in job.needs)
    variables = world.variables(os.environ) | _variables(job)
    variables |= reads.variables(log, variables)
    unboxed = box.why_not()
    before = () if unboxed else tuple(box.command_of(world, variables))
    return Kernel(work, variables, stderr, log, _specs(python, own, before), world, before, unboxed)


def _variables(job: Job) -> dict[str, str]:
    """What a chapter's kernel gets beside its world. Waiting threads sleep: two kernels on few cores don't fight."""
    return {
        "PATH": _path(job),
        "PYTHONFAULTHANDLER": "1",
        "OMP_NUM_THREADS": str(job.threads),
        "MKL_NUM_THREADS": str(job.threads),
        "OMP_WAIT_POLICY": "PASSIVE",
        "TORCHBOOK_PRESS": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "PYTHONWARNINGS": WARNINGS,
        INSTRUCTIONS: "1",
        **({STRICT: "1"} if job.strict else {}),
        **dict(job.variables),
    }


def _learners_variables(job: Job, folder: Path) -> dict[str, str]:
    """A published notebook gets nothing that a learner's kernel has not, but a progress of its own."""
    inherited = {name: value for name, value in os.environ.items() if name not in _OURS}
    own = {"PATH": _path(job), "PYTHONFAULTHANDLER": "1", "TORCHBOOK_PROGRESS": str(folder / "progress.json")}
    return {**inherited, **own, **dict(job.variables)}


def _path(job: Job) -> str:
    """The programs of the kernel's Python (ninja, torchrun) come first, as in an activated environment."""
    python = job.python or sys.executable
    return os.pathsep.join([str(Path(python).parent), os.environ.get("PATH", os.defpath)])


def _specs(python: str, folder: Path, before: tuple[str, ...] = ()) -> Path:
    """A folder in which Jupyter finds a Python under the usual name, and starts it after the words of a box."""
    spec = {
        "argv": [*before, python, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Python 3",
        "language": "python",
        # A signal to what was started would reach the box, and end it.
        "interrupt_mode": "message" if before else "signal",
    }
    kernel = folder / "kernels" / "python3" / "kernel.json"
    kernel.parent.mkdir(parents=True)
    kernel.write_text(json.dumps(spec), encoding="utf-8")
    return folder / "kernels"


def _unexpected_error(job: Job, nb: NotebookNode) -> Failure | None:
    """The first cell that ended otherwise than its source says."""
    index = -1
    for cell in nb.cells:
        if cell.cell_type != "code" or _NOT_THE_CHAPTER_S & set(cell.metadata.get("tags", [])):
            continue
        index += 1
        problem = errors.complaint(cell, cell)
        if problem:
            return _at(job, index, problem[:_LONGEST_REASON], errors.line_in(cell))
    return None


def _at(job: Job, code_cell: int, reason: str, line_of_cell: int = 0) -> Failure:
    """A failure in a cell, counted from 0; at one of its lines, counted from 1, where that is known."""
    if line_of_cell and code_cell < len(job.firsts):
        line = job.firsts[code_cell] + line_of_cell - 1
    else:
        line = job.lines[code_cell] if code_cell < len(job.lines) else 1
    return Failure(job.docname, line, code_cell + 1, reason)


def _last_words(stderr: Path) -> str:
    """What the kernel's process said as it died: the fatal error, or its last line."""
    text = stderr.read_text(errors="replace") if stderr.is_file() else ""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("[IPKernelApp]")]
    fatal = [line for line in lines if line.startswith("Fatal Python error")]
    return (fatal or lines[-1:] or [""])[0]


def _last_line(text: str) -> str:
    lines = [line.strip() for line in _ANSI.sub("", text).splitlines() if line.strip()]
    return lines[-1] if lines else ""


def _cell_seconds(nb: NotebookNode) -> list[float]:
    """Seconds that each code cell of the source took, in order."""
    cells = [
        cell
        for cell in nb.cells
        if cell.cell_type == "code" and not _NOT_THE_CHAPTER_S & set(cell.metadata.get("tags", []))
    ]
    return [round(cell.metadata.get("papermill", {}).get("duration") or 0.0, 3) for cell in cells]
