"""Shared by all rooms of the tests: where the repository is."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def repo() -> Path:
    """The root of the repository."""
    return Path(__file__).resolve().parents[1]
