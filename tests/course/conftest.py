"""Shared by the tests of courses."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import pytest
from nbgrader import api


@pytest.fixture(scope="session", autouse=True)
def _revision() -> Iterator[None]:
    """For each new gradebook nbgrader starts `alembic` to ask for the revision of its tables: once is enough."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api, "get_alembic_version", functools.cache(api.get_alembic_version))
        yield
