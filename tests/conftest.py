"""Shared by all rooms of the tests: where the repository is, and one browser."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

# torch reads these when it is imported. With as many threads as cores, two processes on few cores wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import pytest
import torch
from playwright.sync_api import Browser, expect, sync_playwright

from torchbook.runtime import find_chromium

# All exercises are checked in one process, and modules of other rooms import triton, torchvision's for one, as soon as
# they are collected: its interpreter is chosen before any of them.
if not torch.cuda.is_available():
    os.environ.setdefault("TRITON_INTERPRET", "1")

# On a shared machine a page may wait for its turn for seconds.
PATIENCE = max(1.0, float(os.environ.get("TORCHBOOK_PATIENCE", "1")))
expect.set_options(timeout=5_000 * PATIENCE)
# A budget of milliseconds is meant for a machine of one's own; where patience is asked for, others are on it too.
SLACK = 1.5 if PATIENCE > 1 else 1.0

# The last one puts every other host out of reach.
_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


@pytest.fixture(scope="session")
def repo() -> Path:
    """The root of the repository."""
    return Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium; without one its tests are skipped, or fail where `TORCHBOOK_REQUIRE_BROWSER` is 1."""
    chromium = find_chromium()
    if chromium is None:
        reason = "no Chromium on this machine: install it or set CHROMIUM"
        if os.environ.get("TORCHBOOK_REQUIRE_BROWSER") == "1":
            pytest.fail(reason)
        pytest.skip(reason=reason)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=_ARGUMENTS)
        yield started
        started.close()
