"""Whether bubblewrap makes boxes on this machine, and what to do where it does not: for grading, and for chapters."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from contextlib import suppress
from pathlib import Path

# What Linux distributions set so that users make no namespaces: the forbidding value, and the allowing one.
_SWITCHES = {
    "kernel.apparmor_restrict_unprivileged_userns": ("1", "0"),
    "kernel.unprivileged_userns_clone": ("0", "1"),
    "user.max_user_namespaces": ("0", "10000"),
}


def missing() -> str:
    """Why there is no bubblewrap, and where there is one; "" when it is installed."""
    if not sys.platform.startswith("linux"):
        return f"bubblewrap needs Linux, and this is {platform.system()}"
    if not shutil.which("bwrap"):
        return "bubblewrap is not installed; `sudo apt install bubblewrap` (Fedora: `sudo dnf install bubblewrap`)"
    return ""


def is_root() -> bool:
    """Whether this process makes boxes without a user namespace."""
    return os.geteuid() == 0


def remedy(errors: str) -> str:
    """What a box said that did not start, and what to do about it."""
    last = errors.splitlines()[-1] if errors else "no message"
    if "Unknown option" in errors:
        return f"this bubblewrap is too old ({last}); 0.7 or newer is needed"
    for name, (bad, good) in _SWITCHES.items():
        path = Path("/proc/sys", *name.split("."))
        with suppress(OSError):
            if path.read_text().strip() == bad and not is_root():
                return f"user namespaces are forbidden here ({last}); `sudo sysctl -w {name}={good}`"
    if "bwrap:" in last:
        return f"{last}; within a container, allow it namespaces (podman, or docker with --privileged)"
    return f"the interpreter does not start in a box ({last}); it must be readable by every user"
