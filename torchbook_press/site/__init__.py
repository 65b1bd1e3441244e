"""The book's Sphinx extension: pages show what papermill produced, and carry everything they need with them.

Plain Sphinx builds the book with it too: `extensions = [..., "torchbook_press.site"]`.
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from torchbook import __version__
from torchbook_press.site import (
    activities,
    aside,
    assets,
    checks,
    contents,
    course_map,
    deck,
    driving,
    evidence,
    exercises,
    glossary,
    hunts,
    lanes,
    launch,
    listings,
    machines,
    moved,
    pages,
    pictures,
    race,
    reader,
    search,
    share,
    sidebar,
    stamp,
    twin,
    verdicts,
)


def setup(app: Sphinx) -> dict[str, Any]:
    about_pages = (
        reader,
        launch,
        stamp,
        activities,
        hunts,
        deck,
        race,
        exercises,
        course_map,
        glossary,
        lanes,
        machines,
        evidence,
        driving,
        checks,
        verdicts,
    )
    for part in (contents, listings, pictures, *about_pages, pages, share, twin, assets, aside, search, sidebar, moved):
        part.setup(app)
    return {"version": __version__, "parallel_read_safe": True, "parallel_write_safe": True}
