"""The world of a chapter's kernel, as far as it can be declared: what it sees, where it writes, what it leaves behind.

A kernel has a home of its own, in which nothing is, a folder for what it writes, a fixed language, time zone and hash
seed, and of this process's environment only what `INHERITED` names. Its Pythons, and those that they start, load
`hook/sitecustomize.py`: they write nothing below the book, the package and the exercises, and connect to no other
machine unless the chapter's contract says `needs: [network]`. Every process that comes of a kernel carries its mark, by
which it is found and ended, whatever group or parent it gave itself.

By this alone nothing but Python's own events is held: programs that are no Python, and C++ in a process, write and
connect where this user may; a process that drops its environment drops its mark. `box` holds these too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import platformdirs
import psutil

MARK = "TORCHBOOK_RUN"
PROTECTED, NETWORK = "TORCHBOOK_PROTECTED", "TORCHBOOK_NETWORK"
_SHELL = Path(__file__).resolve().parent / "hook" / "shell.py"
# Variables that a kernel inherits: where programs, libraries, compilers and GPUs are, who runs it, what is on the
# network, and what the book's own data and exercises are.
INHERITED = (
    *("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "CC", "CXX", "CPATH", "LIBRARY_PATH", "VIRTUAL_ENV"),
    *("CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES"),
    *("USER", "LOGNAME", "USERNAME", "SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT", "SYSTEMDRIVE"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE"),
    *("PYTHONPATH", "TORCHBOOK_DATA", "TORCHBOOK_EXERCISES", "TORCHBOOK_STANDIN"),
)


@dataclass(frozen=True)
class World:
    """Of one kernel. `folder` is its own; below `protected` nothing is written."""

    folder: Path
    mark: str
    protected: tuple[str, ...]
    network: bool

    def variables(self, environment: Mapping[str, str]) -> dict[str, str]:
        """The environment of the kernel, made of this process's; its folders are laid out."""
        home, scratch = self.folder / "home", self.folder / "tmp"
        startup = home / ".ipython" / "profile_default" / "startup"
        for folder in (startup, scratch):
            folder.mkdir(parents=True, exist_ok=True)
        (startup / "00-shell.py").write_text(_SHELL.read_text(encoding="utf-8"), encoding="utf-8")
        data = environment.get("TORCHBOOK_DATA") or str(platformdirs.user_cache_path("torchbook"))
        return {
            **{name: environment[name] for name in INHERITED if name in environment},
            "HOME": str(home),
            "USERPROFILE": str(home),
            "TMPDIR": str(scratch),
            "TEMP": str(scratch),
            "IPYTHONDIR": str(home / ".ipython"),
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "PYTHONHASHSEED": "0",
            "TORCHBOOK_DATA": data,
            MARK: self.mark,
            PROTECTED: os.pathsep.join(self.protected),
            NETWORK: "1" if self.network else "",
        }

    def processes(self) -> list[psutil.Process]:
        """All processes that carry the mark."""
        return list(_marked(f"{MARK}={self.mark}".encode()))

    def end(self) -> list[str]:
        """End what is left of the kernel's processes; their names."""
        names = []
        for process in self.processes():
            with suppress(psutil.Error):
                names.append(process.name())
                process.kill()
        return names


def _marked(entry: bytes) -> Iterable[psutil.Process]:
    if not sys.platform.startswith("linux"):
        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                name, _, value = entry.decode().partition("=")
                if process.environ().get(name) == value:
                    yield process
        return
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError, psutil.Error):
            if entry in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                yield psutil.Process(int(pid))
