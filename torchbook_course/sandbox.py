"""The box in which submissions run: bubblewrap, limits, and a watcher outside.

In the box there is no network but its own loopback, and of this machine's files only /usr, the interpreter with its
packages, and a copy of what learners import of this package. The program in it is the first process of its process
namespace: no other can end it, and when it ends so does every other. Writable are /tmp and /dev/shm, in memory, of
limited size. Started by root, the box runs as a user id that nobody has, without capabilities.
"""

from __future__ import annotations

import compileall
import contextlib
import json
import os
import platform
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

import psutil

import torchbook
from torchbook import bubblewrap
from torchbook.data import cache
from torchbook_course import syscalls

MB = 1_000_000
GB = 1_000_000_000
LEARNERS = Path(torchbook.__file__).parent  # what a learner has is this folder, whole
RUNNER = ("runner.py", "warm.py")  # of this package, what lies in the box beside the harness
_TICK = 0.5  # seconds between two looks of the watcher
_INSIDE = "/box"  # where the learner's rooms and the runner are in the box
_DATA = "/box/data"
_SYSTEM = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_ETC = ("ld.so.cache", "alternatives", "localtime")
_BOOT = "import sys; sys.path.insert(0, {0!r}); import runner; runner.main()"


class SandboxError(Exception):
    """There is no sandbox, or nothing runs in it; the message says why, and what to do."""


@dataclass(frozen=True)
class Box:
    """Limits of each exercise. Time limits are the exercises'; `patience` multiplies them, on a busy machine say.

    `memory_gb` is for all processes of an exercise together, without the interpreter and torch; `processes` and
    `threads` likewise. `file_mb` limits one file, `disk_mb` all in /tmp, and as much all in /dev/shm.
    `python` is the interpreter, in whose environment torch is. `unsafe` runs students' code with nothing but time
    and memory limits around it.
    """

    memory_gb: float = 4.0
    processes: int = 64
    threads: int = 256
    open_files: int = 256
    file_mb: int = 64
    disk_mb: int = 256
    patience: float = 1.0
    python: str = sys.executable
    unsafe: bool = False


@dataclass(frozen=True)
class Ended:
    """What a box wrote, and why it ended: "" by itself; "time", "memory" or "processes" by the watcher."""

    output: bytes
    errors: str
    status: int
    reason: str


@lru_cache
def available(box: Box = Box()) -> str | None:
    """None when boxes work here; otherwise why not, and what to do. The first call starts a box to find out."""
    missing = bubblewrap.missing()
    if missing and not sys.platform.startswith("linux"):
        return f"{missing}; grade in a Linux virtual machine or in WSL 2"
    if not syscalls.known():
        return f"there is no filter of system calls for {platform.machine()}; grade on x86_64 or aarch64"
    if missing:
        return missing
    if bubblewrap.is_root() and not shutil.which("setpriv"):
        return "setpriv is not installed; `apt install util-linux`"
    try:
        with _started(box, ("-c", "pass"), (), b"") as (process, _):
            _, errors = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        return "a box that does nothing did not end within a minute"
    return bubblewrap.remedy(errors.decode(errors="replace").strip()) if process.returncode else None


def run(box: Box, payload: bytes, seconds: float, data: Sequence[str] = ()) -> Ended:
    """Give `payload` to the runner in a new box, and return when nothing in that box is alive any more.

    Args:
        box: the limits.
        payload: what the runner reads.
        seconds: after which the box is ended.
        data: names of data sets to be found in the box.

    Raises:
        SandboxError: there is no sandbox, and the box is not `unsafe`.
    """
    why_not = None if box.unsafe else available(box)
    if why_not:
        raise SandboxError(f"no sandbox: {why_not}; or grade without one, at your own risk, with --unsafe")
    program = ("-c", _BOOT.format(str(_stage() / "rooms") if box.unsafe else _INSIDE))
    with _started(box, program, data, payload) as (process, leader):
        return _watched(process, leader, box, seconds)


def limits(box: Box) -> dict[str, object]:
    """What the runner needs to know of its box."""
    return asdict(box) | {"sandboxed": not box.unsafe, "count_processes": _counts_per_box()}


def _watched(process: subprocess.Popen[bytes], leader: _Leader, box: Box, seconds: float) -> Ended:
    end, reason = time.monotonic() + seconds, ""
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            output, errors = process.communicate(timeout=_TICK)
            return Ended(output, errors.decode(errors="replace"), process.returncode, reason)
        if time.monotonic() > end:
            reason = "time"
        elif leader.memory() > 1.25 * box.memory_gb * GB + GB:
            reason = "processes" if leader.processes > box.processes / 2 else "memory"
        if reason:
            leader.kill()


class _Leader:
    """The box's first process, seen from outside; before that is known, bubblewrap; without a box, the runner."""

    def __init__(self, process: subprocess.Popen[bytes], info: int | None) -> None:
        self._process = process
        self._info = info
        self.processes = 0  # at the last look
        self._boxed = info is not None
        self._pid = process.pid
        self._pidfd = os.pidfd_open(process.pid) if self._boxed else None

    def _look(self) -> None:
        """Read from bubblewrap which process is the first in the box; it says so before that one starts."""
        if self._info is None or self._pidfd is None:
            return
        try:
            pid = json.loads(os.read(self._info, 4096))["child-pid"]
            pidfd = os.pidfd_open(pid)
        except (ValueError, LookupError, OSError):  # not started yet, or ended already
            return
        os.close(self._pidfd)
        self._pid, self._pidfd, self._info = pid, pidfd, None

    def kill(self) -> None:
        """End the first process, and with it everything in the box."""
        self._look()
        with contextlib.suppress(ProcessLookupError):
            if self._pidfd is not None:
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            else:
                os.killpg(self._process.pid, signal.SIGKILL)

    def memory(self) -> float:
        """Bytes that the processes of the box hold alone; what forks share counts once where that can be seen."""
        self._look()
        try:
            first = psutil.Process(self._pid)
            tree = [first, *first.children(recursive=True)]
        except psutil.Error:
            return 0
        self.processes = len(tree)
        return sum(_private(process) for process in tree)

    def close(self) -> None:
        """End what is left, and wait for it."""
        if self._process.poll() is None or not self._boxed:
            self.kill()
        self._process.wait()
        if self._pidfd is not None:
            os.close(self._pidfd)
        for stream in (self._process.stdout, self._process.stderr):
            if stream:
                stream.close()


def _private(process: psutil.Process) -> float:
    with contextlib.suppress(psutil.Error):
        usage = process.memory_info()
        if usage.rss - getattr(usage, "shared", 0) < GB / 2:
            return float(usage.rss - getattr(usage, "shared", 0))
        with contextlib.suppress(psutil.AccessDenied):
            return float(process.memory_full_info().pss)
        return float(usage.rss - getattr(usage, "shared", 0))
    return 0.0


@contextlib.contextmanager
def _started(
    box: Box, program: Sequence[str], data: Sequence[str], payload: bytes
) -> Iterator[tuple[subprocess.Popen[bytes], _Leader]]:
    """Start Python in a box, with `payload` to be read from stdin, and leave nothing alive."""
    descriptors: tuple[int, ...] = ()
    info = None
    with contextlib.ExitStack() as stack:
        # A file, not a pipe: after a timeout `communicate` may not write what a slow reader left in a pipe.
        source = stack.enter_context(tempfile.TemporaryFile())
        source.write(payload)
        source.seek(0)
        if box.unsafe:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="unsafe-", ignore_cleanup_errors=True))
            command = [box.python, "-sP", *program]
            environment = _environment(box, folder, str(_stage() / "data"))
            _data(data)
        else:
            folder, environment = "/", dict(os.environ)
            filter_ = os.open(_stage() / "syscalls.bpf", os.O_RDONLY)
            stack.callback(os.close, filter_)
            info, info_writer = os.pipe2(os.O_NONBLOCK)
            stack.callback(os.close, info)
            stack.callback(os.close, info_writer)
            descriptors = (filter_, info_writer)
            command = _command(box, program, data, filter_, info_writer)
        process = subprocess.Popen(
            command,
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=descriptors,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
        leader = _Leader(process, info)
        try:
            yield process, leader
        finally:
            leader.close()


# The command.


def _command(box: Box, program: Sequence[str], data: Sequence[str], filter_: int, info: int) -> list[str]:
    command = ["bwrap", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    command += ["--hostname", "box", "--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop", "ALL"]
    command += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"] if bubblewrap.is_root() else ["--unshare-user"]
    command += ["--info-fd", str(info), "--seccomp", str(filter_)]
    tmpfs = ["--perms", "1777", "--size", str(box.disk_mb * MB), "--tmpfs"]
    command += [*tmpfs, "/tmp", *_mounts(box.python)]  # in this order, as the interpreter may lie in /tmp
    command += ["--ro-bind", str(_stage() / "rooms"), _INSIDE]
    if data:
        command += ["--ro-bind", str(_data(data)), _DATA]
    command += ["--proc", "/proc", "--dev", "/dev", *tmpfs, "/dev/shm"]
    command += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp", "--clearenv"]
    for name, value in _environment(box, "/tmp", _DATA).items():
        command += ["--setenv", name, value]
    command += ["--"]
    if bubblewrap.is_root():
        uid = str(_stranger())
        command += ["/usr/bin/setpriv", "--reuid", uid, "--regid", uid, "--clear-groups", "--inh-caps=-all"]
    return [*command, box.python, "-sP", *program]


def _environment(box: Box, folder: str, data: str) -> dict[str, str]:
    """Variables in the box: one thread, no randomness of hashes, gloo on the loopback, and no GPU for triton."""
    return {
        "PATH": f"{Path(box.python).parent}:/usr/bin:/bin",
        "HOME": folder,
        "TMPDIR": folder,
        "USER": "learner",
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "OMP_WAIT_POLICY": "PASSIVE",
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TRITON_INTERPRET": "1",
        "MPLBACKEND": "agg",
        "GLOO_SOCKET_IFNAME": "lo",
        "TORCHBOOK_DATA": data,
    }


@lru_cache
def _mounts(python: str) -> tuple[str, ...]:
    """Options that show the box the system's libraries and the interpreter."""
    options = ["--ro-bind", "/usr", "/usr"]
    for name in _SYSTEM:
        path = Path("/", name)
        if path.is_symlink():
            options += ["--symlink", os.readlink(path), str(path)]
        elif path.is_dir():
            options += ["--ro-bind", str(path), str(path)]
    options += ["--perms", "0755", "--dir", "/etc"]
    for name in _ETC:
        options += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    for name in ("hosts", "passwd", "group"):
        options += ["--ro-bind", str(_stage() / name), f"/etc/{name}"]
    roots = _prefixes(python)
    for root in roots:
        options += [*_parents(root), "--ro-bind", str(root), str(root)]
    for link in _links(Path(python)):
        if not any(link.is_relative_to(root) for root in (*roots, Path("/usr"))):
            options += [*_parents(link), "--symlink", os.readlink(link), str(link)]
    return tuple(options)


def _parents(path: Path) -> list[str]:
    """Options that make the folders above a path passable for everyone, as bubblewrap alone would not."""
    above = [parent for parent in reversed(path.parents) if parent != Path("/")]
    return [option for parent in above for option in ("--perms", "0755", "--dir", str(parent))]


def _prefixes(python: str) -> list[Path]:
    """The folders of an interpreter and of its environment that are outside of /usr."""
    command = [python, "-sPc", "import sys; print(sys.base_prefix); print(sys.prefix)"]
    try:
        lines = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.split("\n")
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxError(f"{python} does not run ({error}); name an interpreter that has torch") from None
    paths = dict.fromkeys(Path(line) for line in lines if line)
    return [path for path in paths if not path.is_relative_to("/usr")]


def _links(path: Path) -> Iterator[Path]:
    """A path and what it points to, as long as that is a symbolic link."""
    for _ in range(20):
        if not path.is_symlink():
            return
        yield path
        path = Path(os.path.normpath(path.parent / os.readlink(path)))


def _stranger() -> int:
    """A user id that nobody has, drawn anew for each box, as the kernel counts processes by user."""
    ranges = [tuple(map(int, line.split())) for line in Path("/proc/self/uid_map").read_text().splitlines()]
    first, _, count = max(ranges, key=lambda interval: interval[2])
    last = min(first + count, 2**31) - 1
    return last - secrets.randbelow(max(1, (last - first) // 8))


def _counts_per_box() -> bool:
    """Whether a limit on processes counts those of the box alone: for its own user id, or since Linux 5.14."""
    major, minor = (int("".join(c for c in part if c.isdigit()) or 0) for part in platform.release().split(".")[:2])
    return bubblewrap.is_root() or (major, minor) >= (5, 14)


# What the box is shown.

_lock = threading.RLock()


def _stage() -> Path:
    """The folder with what boxes are shown, made once a process."""
    with _lock:
        return _made()


@lru_cache
def _made() -> Path:
    """Copies of what learners have, of the harness and of the runner; the files that a system must have; data.

    The clone itself stays out of sight: exercises lie in it.
    """
    folder = tempfile.TemporaryDirectory(prefix="torchbook-box-", ignore_cleanup_errors=True)
    _kept.append(folder)
    stage = Path(folder.name)
    rooms = stage / "rooms"
    shutil.copytree(LEARNERS, rooms / "torchbook", ignore=shutil.ignore_patterns("__pycache__"))
    for name in RUNNER:
        shutil.copy(Path(__file__).with_name(name), rooms)
    shutil.copy(LEARNERS / "practice" / "harness.py", rooms)
    (rooms / "data").mkdir()
    (stage / "data").mkdir()
    compileall.compile_dir(rooms, quiet=2)
    (stage / "hosts").write_text("127.0.0.1 localhost box\n::1 localhost\n")
    (stage / "passwd").write_text("learner:x:1000:1000::/tmp:/bin/sh\n")
    (stage / "group").write_text("learner:x:1000:\n")
    if syscalls.known():
        (stage / "syscalls.bpf").write_bytes(syscalls.program())
    for path in [stage, *stage.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    return stage


_kept: list[tempfile.TemporaryDirectory[str]] = []


def _data(names: Sequence[str]) -> Path:
    """A folder with verified copies of data sets, readable by every user; one that cannot be had is left out."""
    with _lock:
        for name in names:
            _copied(name)
    return _stage() / "data"


@lru_cache
def _copied(name: str) -> None:
    dataset = cache.dataset(name.replace("_", "-"))
    folder = _stage() / "data" / dataset.folder / dataset.inner
    folder.mkdir(parents=True, exist_ok=True)
    for parent in (folder, folder.parent):
        parent.chmod(0o755)
    for file, raw in cache.load(dataset).files.items():
        (folder / file).write_bytes(raw)
        (folder / file).chmod(0o644)
