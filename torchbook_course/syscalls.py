"""The system calls that a box refuses, as a seccomp filter in the kernel's own format.

Refused is what would reach around the other limits: namespaces of one's own (with them file systems of any size),
memory that belongs to no process (memfd, System V, message queues), other processes' memory, limits, priority and
processors, and interfaces that no exercise needs. A refused call fails with EPERM; `clone3`, whose arguments a filter
cannot see, with ENOSYS, after which the C library uses `clone`.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterator

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # AUDIT_ARCH_*
_REFUSED = {
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "mount_setattr": (442, 442),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
}
_CLONE, _CLONE3 = (56, 220), (435, 435)
# Calls whose first argument is a process, and which 0 lets set what is one's own.
_OF_OTHERS = {
    "prlimit": (302, 261),
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
}
_NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_X32 = 0x40000000  # calls of x86_64's other ABI begin here

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06  # of the BPF machine
_NUMBER, _ARCHITECTURE, _ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000


def known() -> bool:
    """Whether there is a filter for this machine's architecture."""
    return platform.machine() in _ARCHITECTURES


def program() -> bytes:
    """The filter as an array of `struct sock_filter`, as `bwrap --seccomp` reads it.

    Raises:
        KeyError: there is none for this machine's architecture.
    """
    architecture = _ARCHITECTURES[platform.machine()]
    column = list(_ARCHITECTURES).index(platform.machine())
    return b"".join(struct.pack("=HBBI", *step) for step in _steps(architecture, column))


def _steps(architecture: int, column: int) -> Iterator[tuple[int, int, int, int]]:
    """Instructions: what to do, how many to skip if true, how many if not, operand."""
    allow, refuse = (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _ERROR | errno.EPERM)
    absent = (_RETURN, 0, 0, _ERROR | errno.ENOSYS)
    yield from [(_LOAD, 0, 0, _ARCHITECTURE), (_EQUAL, 1, 0, architecture), absent]
    yield (_LOAD, 0, 0, _NUMBER)
    yield from [(_AT_LEAST, 0, 1, _X32), absent]
    yield from [(_EQUAL, 0, 1, _CLONE3[column]), absent]
    for numbers in _REFUSED.values():
        yield from [(_EQUAL, 0, 1, numbers[column]), refuse]
    for numbers in _OF_OTHERS.values():
        yield from [(_EQUAL, 0, 4, numbers[column]), (_LOAD, 0, 0, _ARGUMENT), (_EQUAL, 0, 1, 0), allow, refuse]
    yield from [(_EQUAL, 0, 3, _CLONE[column]), (_LOAD, 0, 0, _ARGUMENT), (_ANY_BIT, 0, 1, _NAMESPACES), refuse]
    yield allow
