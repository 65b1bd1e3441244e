"""Shared by all rooms of the tests: where the repository is, and one browser."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
from collections.abc import Iterator
from pathlib import Path

# torch reads these when it is imported. With as many threads as cores, two processes on few cores wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import pytest
import torch
from playwright.sync_api import Browser, expect

from tests.browser import KEPT, started
from tests.browser import PATIENCE as PATIENCE
from tests.browser import SLACK as SLACK

pytest_plugins = ["tests.kept"]

# With torch there are half a million objects. Looking for garbage among them after every 700 new ones, as Python does
# by itself, takes a tenth of the processor's time of all tests.
gc.set_threshold(50_000, 20, 50)

# Started in the background of a shell, the tests have SIGINT ignored, and so would what they start and interrupt.
with contextlib.suppress(ValueError):  # not in the main thread
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)

# All exercises are checked in one process, and modules of other rooms import triton, torchvision's for one, as soon as
# they are collected: its interpreter is chosen before any of them.
if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")

expect.set_options(timeout=5_000 * PATIENCE)


def pytest_report_teststatus(report: pytest.CollectReport | pytest.TestReport) -> tuple[str, str, str] | None:
    """Say of tests whose proofs are kept that they are kept, not that they are skipped."""
    is_kept = report.skipped and isinstance(report.longrepr, tuple) and report.longrepr[2].endswith(KEPT)
    return ("kept", "k", "KEPT") if is_kept else None


@pytest.fixture(scope="session")
def repo() -> Path:
    """The root of the repository."""
    return Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium; without one its tests are skipped, or fail where `TORCHBOOK_REQUIRE_BROWSER` is 1."""
    with started() as chromium:
        yield chromium
