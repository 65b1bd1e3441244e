"""What the tools beside this package add to the doctor's report: each puts a function here with its commands."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from torchbook.runtime import Finding

more: list[Callable[[], Iterable[Finding]]] = []
