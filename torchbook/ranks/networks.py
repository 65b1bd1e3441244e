"""Two networks on one machine, joined by a virtual cable: what a second machine is, as far as the network is concerned.

Linux gives processes a network of their own, a namespace with interfaces, addresses and ports. That needs root, or a
user namespace, in which a user counts as root.
"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator

_ADDRESSES = "10.213.77.1", "10.213.77.2"
INTERFACE = "eth0"  # the end of the cable in each network


@contextlib.contextmanager
def two_networks() -> Iterator[list[tuple[list[str], str]] | None]:
    """Two namespaces with a cable between them: what starts a program in each, and its address; None if not allowed.

    They last as long as the block. Give them to `launch` as `nodes`, with GLOO_SOCKET_IFNAME=eth0.
    """
    with contextlib.ExitStack() as held:
        try:
            first = _hold(held, "unshare", "--user", "--map-root-user")
            second = _hold(held, *_enter(first), "unshare")
            _ip(first, f"link add {INTERFACE} type veth peer name {INTERFACE} netns {second}")
            for pid, address in zip([first, second], _ADDRESSES, strict=True):
                _ip(pid, f"addr add {address}/24 dev {INTERFACE}")
                for interface in (INTERFACE, "lo"):
                    _ip(pid, f"link set {interface} up")
            nodes = [(_enter(pid), address) for pid, address in zip([first, second], _ADDRESSES, strict=True)]
        except (OSError, subprocess.SubprocessError):  # no `ip`, or not allowed
            yield None
            return
        yield nodes


def _hold(held: contextlib.ExitStack, *before: str) -> int:
    """A process in a new namespace, which lasts as long as it does."""
    command = [*before, "--net", "sh", "-c", "echo; exec sleep 1h"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    held.callback(process.wait)
    held.callback(process.kill)
    assert process.stdout is not None
    held.callback(process.stdout.close)
    if not process.stdout.readline():
        raise subprocess.SubprocessError("no namespace")
    return process.pid


def _enter(pid: int) -> list[str]:
    """What starts a program in the network of a process."""
    return ["nsenter", "--preserve-credentials", "--user", "--net", "--target", str(pid)]


def _ip(pid: int, line: str) -> None:
    subprocess.run([*_enter(pid), "ip", *line.split()], check=True, capture_output=True, timeout=20)
