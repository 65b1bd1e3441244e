"""Reader of the `.md` pages: under each code cell, what papermill made of it, or nothing and a warning.

Registered in `nb_custom_formats`, myst-nb's public door, so Sphinx itself never executes a cell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import nbformat
from myst_nb.core.read import is_myst_markdown_notebook, read_myst_markdown_notebook
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from torchbook_press import bundles, errors, evidence, reads, seal
from torchbook_press.chapters import Chapter, ChapterError
from torchbook_press.key import changed, declared
from torchbook_press.normal import WIDGET_STATE, own_cells
from torchbook_press.recordings import Recording, is_recorded
from torchbook_press.run import lacks_of, run_metadata
from torchbook_press.site import aside, rooms
from torchbook_press.site.driving import note_links
from torchbook_press.site.evidence import gather
from torchbook_press.site.lanes import Recordings, of_page
from torchbook_press.site.mount import Page, static_output

_log = logging.getLogger(__name__)
Warn = Callable[[str, str, int], None]


_GLUED = re.compile(r"\{glue:text\}`[^`]+`")
_UNKNOWN = "(not computed)"
_NAMED = 3  # parts of a key
_SAID = "said of its run"  # among what Sphinx's environment keeps of a page
_AGAIN = "run the chapter again"  # where the command follows


class _Reading:
    """The page that Sphinx is reading now; myst-nb hands a reader the text alone."""

    app: Sphinx
    docname: str


def read(text: str) -> NotebookNode:
    """The page's notebook with papermill's outputs; a page without a kernel is read as prose."""
    app, docname = _Reading.app, _Reading.docname
    # 'myst_config' is put there by myst-parser.
    config = app.env.myst_config  # type: ignore[attr-defined]
    chapter = Chapter(Path(app.srcdir), docname)
    path = Path(app.srcdir, app.config.executed_dir, f"{docname}.ipynb")
    if lacks_of(chapter) or not path.is_file():  # else myst-nb warns of each value, of hundreds in a fresh clone
        text = _GLUED.sub(_UNKNOWN, text)
    nb = read_myst_markdown_notebook(text, config=config, add_source_map=True, path=app.env.doc2path(docname))
    _correct_lines(nb, text)
    _number(nb)
    if not is_myst_markdown_notebook(text):
        return nb
    app.env.metadata[docname][_SAID] = _to_say(chapter)
    for file in (path, *bundles.named(path)) if path.is_file() else ():  # Sphinx reads again what depends on no file
        app.env.note_dependency(str(file))

    def warn(kind: str, message: str, line: int) -> None:
        if message.endswith(_AGAIN):
            message = f"{message}: `torchbook run {chapter.contract.id}`"
        _log.warning(message, location=(docname, line), type="executed", subtype=kind)

    try:
        executed = bundles.put_back(seal.read(path))
    except FileNotFoundError:
        warn("missing", f"never run: `torchbook run {chapter.contract.id}` makes its outputs", 1)
        return nb
    except seal.SealError as error:
        warn("changed", f"{path.name} was {error}; its outputs are left out: run the chapter again", 1)
        return nb
    except (ValueError, nbformat.ValidationError) as error:
        warn("broken", f"{path.name} cannot be read ({error}); run the chapter again with --force", 1)
        return nb
    parts = _changed(chapter)
    if parts:
        more = "" if len(parts) <= _NAMED else f" and {len(parts) - _NAMED} more"
        warn("stale", f"{', '.join(parts[:_NAMED])}{more} changed since it ran: run the chapter again", 1)
    note_links(app, executed)
    recordings = of_page(app, chapter, warn)
    if not lacks_of(chapter):
        gather(app, nb, executed, recordings, warn)
    if (Path(app.srcdir) / rooms.FILE).is_file():
        app.env.note_dependency(str(Path(app.srcdir, rooms.FILE)))
    heights = rooms.of_page(Path(app.srcdir), docname)
    return merge(nb, executed, warn, recordings, heights, aside.kept(app))


def _changed(chapter: Chapter, state_of: Callable[[str], str] = reads.now) -> tuple[str, ...]:
    """The parts of a chapter's run key that are not what they were when it ran, under the parameters that it had.

    Of its code `merge` says at which cell it is another. `state_of` is as for `torchbook_press.key.observed`.
    """
    run = run_metadata(chapter)
    if not run:
        return ()
    try:
        parts = changed(run, declared(chapter, run["parameters"], run["lane"]), state_of)
        return tuple(part for part in parts if part != "cells")
    except ChapterError:
        return ()  # said elsewhere


def _to_say(chapter: Chapter, state_of: Callable[[str], str] = reads.now) -> tuple[str, ...]:
    """What is to be said of a page's run as a whole: that there is none, or what changed since."""
    return _changed(chapter, state_of) if chapter.executed.is_file() else ("missing",)


def _outdated(app: Sphinx, env: BuildEnvironment, *_: object) -> list[str]:
    """Pages of whose runs there is something else to say: they are read again, though no file of theirs changed."""
    pages = (Chapter(Path(app.srcdir), docname) for docname in env.all_docs)
    state_of = cache(reads.now)
    return [
        page.docname
        for page in pages
        if page.path.is_file() and page.runs and _to_say(page, state_of) != env.metadata[page.docname].get(_SAID)
    ]


def _number(nb: NotebookNode) -> None:
    """Give cells the ids that stay in the site's copy of the page: myst-nb draws them anew in each build."""
    for index, cell in enumerate(nb.cells):
        cell.id = f"cell-{index}"


def _correct_lines(nb: NotebookNode, text: str) -> None:
    """Make complaints about prose name its line: myst-nb counts from before a cell's blank lines, and adds two."""
    rows = text.splitlines()
    starts = nb.metadata.get("source_map", [])
    for index, cell in enumerate(nb.cells):
        if cell.cell_type == "markdown":
            start = starts[index]
            blank = next((n for n, row in enumerate(rows[start:]) if row.strip()), 0)
            starts[index] = start + blank - 1


def merge(
    page: NotebookNode,
    executed: NotebookNode,
    warn: Warn,
    recordings: Sequence[Recording] = (),
    heights: rooms.Rooms = MappingProxyType({}),
    large: Path | None = None,
) -> NotebookNode:
    """Put the outputs of `executed` under the cells of `page`, up to the first cell whose code differs from what ran.

    Cells that depend on the device have beside them what was recorded elsewhere. Large buffers of figures go into the
    folder `large`, if there is one.
    """
    lines = page.metadata.get("source_map") or [1] * len(page.cells)
    cells = [(cell, line) for cell, line in zip(page.cells, lines, strict=True) if cell.cell_type == "code"]
    executed_cells = own_cells(executed)
    shared = Page(executed.metadata.get("widgets", {}).get(WIDGET_STATE, {}).get("state", {}), heights, aside=large)
    recorded = Recordings(recordings, [cell for cell, _ in cells], shared)
    for number, (cell, line) in enumerate(cells):
        if number >= len(executed_cells) or cell.source.strip() != executed_cells[number].source.strip():
            warn(
                "stale",
                "not the code that papermill ran; outputs left out from here on: run the chapter again",
                line,
            )
            return page
        _fill(cell, executed_cells[number], line, shared, warn)
        if is_recorded(cell):
            cell.outputs = recorded.beside(number, cell, cell.outputs)
    if len(executed_cells) > len(cells):
        warn("stale", "papermill ran more cells than the page has: run the chapter again", lines[-1] if lines else 1)
    page.metadata["language_info"] = executed.metadata.get("language_info", {})
    return page


def _fill(cell: NotebookNode, executed: NotebookNode, line: int, page: Page, warn: Warn) -> None:
    tags = set(cell.metadata.get("tags", []))
    hidden = bool({"remove-output", "remove-cell"} & tags)
    problem = errors.complaint(cell, executed)
    if problem:
        warn(
            "error", f"when papermill ran it, this cell {problem if errors.TAG in tags else f'raised {problem}'}", line
        )
    for output in executed.outputs:
        if output.get("name") == "stderr" and not {"raises-exception", "stderr"} & tags:
            excerpt = output.text.strip().splitlines()[0] if output.text.strip() else ""
            warn("stderr", f"wrote to stderr ({excerpt}); mend it, or tag it [stderr] if that is the point", line)
        if _picture_without_words(cell, output) and not hidden:
            warn("alt", "this picture has no text alternative: set `mystnb: {image: {alt: …}}` in the cell", line)

    def say(message: str) -> None:
        if not hidden:
            warn("static", message, line)

    cell.execution_count = executed.execution_count
    # What is not shown cannot carry a module for the figures below.
    shared = Page(page.models, aside=page.aside) if hidden else page
    shown = (output for output in executed.outputs if not evidence.record_of(output))
    cell.outputs = [static_output(output, shared, say) for output in shown]


def _picture_without_words(cell: NotebookNode, output: NotebookNode) -> bool:
    data = output.get("data", {})
    if not any(mime.startswith("image/") for mime in data):
        return False
    image = cell.metadata.get("mystnb", {}).get("image", {})
    return not image.get("alt")


def setup(app: Sphinx) -> None:
    def reading(app: Sphinx, docname: str, source: list[str]) -> None:
        _Reading.app, _Reading.docname = app, docname

    def register(app: Sphinx, config: Any) -> None:
        config.nb_custom_formats[".md"] = [f"{__name__}.read", {}, False]

    app.add_config_value("executed_dir", "executed", "env", [str])
    app.connect("source-read", reading)
    app.connect("config-inited", register, priority=1)
    app.connect("env-get-outdated", _outdated)
