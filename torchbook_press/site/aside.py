"""Large buffers of figures, a model's weights for instance: not in the page, but in a script that it loads later.

A page opened as a file may load scripts and nothing else, so a buffer is a script that holds it as base64, named after
its digest. It is kept beside the pages that Sphinx has read, and laid into the site as long as a page names it.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

from torchbook_press.site.pages import pages_of

_log = logging.getLogger(__name__)
FOLDER = "_static/aside"
LARGE = 100_000  # bytes of base64
_NAMED = re.compile(r'"aside": \{([^{}]*)\}')
_NAME = re.compile(r': "([0-9a-f]{16})"')


def kept(app: Sphinx) -> Path:
    """The folder in which the buffers of all pages are kept."""
    return Path(app.doctreedir, "aside")


def put(folder: Path, text: str) -> str:
    """Keep a buffer, as base64, in a folder; returns its name."""
    name = hashlib.sha256(text.encode()).hexdigest()[:16]
    path = folder / f"{name}.js"
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_text(f"(globalThis.vizAside ??= {{}})[{json.dumps(name)}] = {json.dumps(text)};\n", encoding="utf-8")
        part.replace(path)
    return name


def divided(buffers: list[dict[str, Any]], folder: Path | None) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """A widget's buffers: those that stay in the page, and the names of the others by trait."""
    if folder is None:
        return buffers, {}
    large = [buffer for buffer in buffers if len(buffer["path"]) == 1 and len(buffer["data"]) >= LARGE]
    small = [buffer for buffer in buffers if buffer not in large]
    return small, {buffer["path"][0]: put(folder, buffer["data"]) for buffer in large}


def named(html: str) -> list[str]:
    """The buffers that a built page names."""
    return [name for group in _NAMED.findall(html) for name in _NAME.findall(group)]


def _lay(app: Sphinx, exception: Exception | None) -> None:
    """Lay what the pages name into the built site, and nothing else."""
    if exception or app.builder.format != "html":
        return
    out = Path(app.outdir, FOLDER)
    names = {name for names in pages_of(app).each(named).values() for name in names}
    for old in out.glob("*.js"):
        if old.stem not in names:
            old.unlink()
    for name in sorted(names):
        source, target = kept(app) / f"{name}.js", out / f"{name}.js"
        if not source.is_file():
            _log.warning("what a figure loads is lost: remove the built site and build again", type="aside")
        elif not target.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def setup(app: Sphinx) -> None:
    app.connect("build-finished", _lay, priority=590)
