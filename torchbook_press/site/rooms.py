"""The height that a page keeps for each live figure, so that nothing below it moves when it starts or changes.

`torchbook rooms` measures them in a browser and writes them to `book/rooms.yml`; for a figure that is not in it none
is kept.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

import yaml

from torchbook_press.chapters import ChapterError

FILE = "book/rooms.yml"
WIDTHS = (1280, 390)  # of the screens on which figures are measured
_HEAD = """\
# The height of each live figure with the highest of its presets, in pixels, by page and model: on screens 1280 and 390
# pixels wide.
# Written by `torchbook rooms`, which measures them on the built site.
"""

Rooms = Mapping[str, tuple[int, int]]


def of_page(book: Path, docname: str) -> Rooms:
    """The heights of a page's figures, wide and narrow, by the name of the model in its run.

    Raises:
        ChapterError: the file is not such a table; the message names it and the remedy.
    """
    path = book / FILE
    return _read(path, path.stat().st_mtime_ns).get(docname, {}) if path.is_file() else {}


@functools.lru_cache(maxsize=2)
def _read(path: Path, changed: int) -> dict[str, Rooms]:
    del changed  # a part of the key
    try:
        pages = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
        return {
            str(page): {str(model): (int(wide), int(narrow)) for model, (wide, narrow) in figures.items()}
            for page, figures in pages.items()
        }
    except (yaml.YAMLError, AttributeError, TypeError, ValueError) as error:
        what = " ".join(str(error).split())
        raise ChapterError(f"{path}: no table of heights ({what}); `torchbook rooms` writes it") from None


def write(book: Path, pages: Mapping[str, Rooms]) -> Path:
    """Write the table of all pages."""
    rows = [
        f"{page}:\n" + "".join(f"  {model}: [{wide}, {narrow}]\n" for model, (wide, narrow) in sorted(figures.items()))
        for page, figures in sorted(pages.items())
    ]
    path = book / FILE
    path.write_text(_HEAD + "".join(rows), encoding="utf-8")
    return path
