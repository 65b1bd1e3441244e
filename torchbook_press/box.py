"""The box around a chapter's kernel, where bubblewrap makes one: what `world` declares holds for every program in it.

In the box all of this machine's files are there, under their own names, and can be read; written are only the kernel's
own folder, a /tmp, a /run and a /dev/shm of its own, in memory. Its processes are a namespace of their own: they end
with the kernel, and with the press. There is no network but its own loopback, unless the contract says
`needs: [network]`. GPUs are as they are outside. It runs as who started it, without root's privileges.

Where no box is to be had, only Python's own events are watched, see `world`; `note` says what is then left open.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from torchbook import bubblewrap
from torchbook_press.world import INHERITED, World

_UNHELD = (
    "no box is around chapters here, so that programs that are no Python, and C++ in a cell, write and connect where "
    "this user may, and a process that clears its environment is neither counted nor ended"
)
# What is left to root: to read what others alone may, and to make namespaces in the box, as p07 does, for which other
# users need no privilege.
_ROOT_S = ("CAP_DAC_OVERRIDE", "CAP_SETFCAP")
# What the box has of its own, empty. Sockets of this machine's services lie in /run.
_OWN = ("/tmp", "/run")
_DEVICES = ("nvidia*", "dri", "kfd", "dxg", "accel*", "infiniband")  # GPUs, and what joins them
_HOSTS = "127.0.0.1 localhost\n127.0.0.1 {0}\n::1 localhost\n"
_TRIAL_SECONDS = 60


@cache
def why_not() -> str:
    """Why there are no boxes here, and what to do about it; "" where there are. The first call starts one to see."""
    missing = bubblewrap.missing()
    if missing:
        return missing
    with tempfile.TemporaryDirectory(prefix="torchbook-") as folder:
        world = World(Path(folder), "", (), network=False)
        command = [*command_of(world, os.environ), sys.executable, "-ISc", "pass"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_TRIAL_SECONDS)
        except subprocess.TimeoutExpired:
            return "a box that does nothing did not end within a minute"
    return bubblewrap.remedy(done.stderr.strip()) if done.returncode else ""


def note(unboxed: str) -> str:
    """What is not held without a box, and why there is none; in one line."""
    return f"note: {_UNHELD}: {unboxed}"


def command_of(world: World, variables: Mapping[str, str]) -> list[str]:
    """What is to stand before a command so that it runs in the box of a world.

    Args:
        world: of the kernel; its folder exists.
        variables: the kernel's; what they name is to be seen, be it in a folder that the box has of its own.
    """
    command = ["bwrap", "--die-with-parent", "--new-session", "--unshare-pid", "--unshare-ipc"]
    command += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    if bubblewrap.is_root():
        command += ["--cap-drop", "ALL", *(word for name in _ROOT_S for word in ("--cap-add", name))]
        command += [word for path in _settings() for word in ("--ro-bind-try", path, path)]
    else:
        command += ["--unshare-user"]
    for device in _devices():
        command += ["--dev-bind-try", device, device]
    for folder in (*_OWN, "/dev/shm"):
        command += ["--perms", "1777", "--tmpfs", folder]
    for path in _seen(_needed(world, variables)):
        command += ["--ro-bind", path, path]
    if not world.network:
        command += ["--unshare-net", *_hosts(world.folder)]
    # ipykernel ends when its parent, of this number, is no longer there; in the box the number is another one.
    command += ["--bind", str(world.folder), str(world.folder), "--setenv", "JPY_PARENT_PID", "1"]
    return [*command, "--"]


def _settings() -> Iterator[str]:
    """What of /proc is the machine's and not a process's: root may write it, with no privilege but its number."""
    with os.scandir("/proc") as entries:
        for entry in entries:
            if not (entry.name.isdigit() or entry.is_symlink()) and (entry.is_dir() or entry.stat().st_mode & 0o222):
                yield entry.path


def _devices() -> Iterator[str]:
    return (str(path) for pattern in _DEVICES for path in sorted(Path("/dev").glob(pattern)))


def _needed(world: World, variables: Mapping[str, str]) -> Iterator[str]:
    """Paths that a kernel may need, wherever they are: book, packages, interpreter, programs, libraries, data."""
    yield from world.protected
    yield from (sys.prefix, sys.base_prefix, os.path.dirname(os.path.realpath(sys.executable)))
    yield from sys.path
    for name in (*INHERITED, "TORCHBOOK_DATA"):
        yield from variables.get(name, "").split(os.pathsep)
    if world.network:
        yield os.path.realpath("/etc/resolv.conf")


def _seen(paths: Iterable[str]) -> list[str]:
    """Those of the paths that are in a folder which the box has of its own, without those below others."""
    real = {os.path.abspath(path) for path in paths if os.path.isabs(path) and os.path.exists(path)}
    hidden = sorted(path for path in real if path.startswith(tuple(f"{folder}/" for folder in _OWN)))
    return [path for path in hidden if not any(path.startswith(f"{other}/") for other in hidden)]


def _hosts(folder: Path) -> list[str]:
    """Options that give this machine's name the only address that there is."""
    target = os.path.realpath("/etc/hosts")
    if not os.path.isfile(target):
        return []
    hosts = folder / "hosts"
    hosts.write_text(_HOSTS.format(platform.node()), encoding="utf-8")
    return ["--ro-bind", str(hosts), target]
