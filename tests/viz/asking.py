"""Asks the models of the page in one node process, for the tests of several visualizers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

Ask = Callable[[str, list[Any]], list[Any]]
EXAMPLES = int(os.environ.get("TORCHBOOK_VIZ_EXAMPLES", "4000"))


def asking(repo: Path, harness: str = "harness_pipeline.mjs") -> Iterator[Ask]:
    """Yields a function that asks a question of each of a list."""
    node = shutil.which("node")
    if node is None:
        if os.environ.get("TORCHBOOK_REQUIRE_NODE") == "1":
            pytest.fail("node is not installed")
        pytest.skip(reason="node is not installed")
    command = [node, str(Path(__file__).with_name(harness)), str(repo / "torchbook/viz/src")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        to, back = process.stdin, process.stdout

        def asked(what: str, of: list[Any]) -> list[Any]:
            to.write(json.dumps({"ask": what, "of": of}) + "\n")
            to.flush()
            return json.loads(back.readline())

        yield asked
        to.close()
