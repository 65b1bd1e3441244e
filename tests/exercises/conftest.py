"""Shared by the tests of exercises."""

from __future__ import annotations

import os

import pytest

from tests.exercises.cases import CASES, Run


@pytest.fixture(scope="session")
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """What all processes of this run of the tests share: each collects the same tests."""
    own = tmp_path_factory.getbasetemp()
    specs = [item.callspec for item in request.session.items if hasattr(item, "callspec")]
    asked = {str(spec.params["name"]) for spec in specs if "name" in spec.params}
    return Run(own.parent if "PYTEST_XDIST_WORKER" in os.environ else own, frozenset(asked & CASES.keys()))
