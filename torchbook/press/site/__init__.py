"""The book's Sphinx extension: pages show what papermill produced, and carry everything they need with them.

Plain Sphinx builds the book with it too: `extensions = [..., "torchbook.press.site"]`.
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from torchbook import __version__
from torchbook.press.site import (
    activities,
    assets,
    course_map,
    exercises,
    glossary,
    lanes,
    launch,
    machines,
    reader,
    search,
    stamp,
)


def setup(app: Sphinx) -> dict[str, Any]:
    for part in (reader, assets, launch, stamp, activities, exercises, course_map, glossary, lanes, machines, search):
        part.setup(app)
    return {"version": __version__, "parallel_read_safe": True, "parallel_write_safe": True}
