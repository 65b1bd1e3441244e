"""Each page once more as plain Markdown, for programs and clipboards: `PAGE.md` beside `PAGE.html`, and `llms.txt`.

A twin is made from the page's source, as its notebook is: roles are words and links, exercises stand in full without
their solutions. Below each code cell stands what it printed, and of a figure its words. No page loads a twin; the head
of each names it, and its button copies it. `llms.txt`, as https://llmstxt.org has it, lists them all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import unescape
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from sphinx.application import Sphinx

from torchbook import front_matter
from torchbook_press import evidence
from torchbook_press.chapters import Chapter, pages
from torchbook_press.normal import WIDGET_VIEW, own_cells, widget_models
from torchbook_press.recordings import Recording, above_changed, is_recorded
from torchbook_press.run import run_metadata
from torchbook_press.site import launch
from torchbook_press.site.contents import written
from torchbook_press.site.mount import PLOTLY
from torchbook_press.site.pages import pages_of
from torchbook_press.site.plain import plain
from torchbook_press.site.stamp import origins, recordings_of

LIST = "llms.txt"
_CELL = re.compile(r"cell-\d+$")  # a code cell of the chapter's own; an exercise's cells never ran
_ESCAPES = re.compile(r"\x1b\[[\d;]*m")
_DESCRIPTION = re.compile(r'<meta name="description" content="([^"]*)"')


def of_chapter(
    chapter: Chapter, nb: NotebookNode, executed: NotebookNode | None, recorded: Sequence[Recording] = ()
) -> str:
    """A chapter as Markdown.

    Args:
        chapter: the source.
        nb: its published notebook.
        executed: its run; without it no cell has outputs.
        recorded: its recordings, whose outputs stand below the run's.
    """
    sources = chapter.code
    runs = [("", executed, dict(enumerate(own_cells(executed))))] if executed else []
    for one in recorded:
        cells = one.match(sources, [number for number, cell in enumerate(chapter.code_cells) if is_recorded(cell)])
        fresh = {number: cell for number, cell in cells.items() if not above_changed(cell, sources, number)}
        runs.append((f"Recorded on {one.name}:", one.notebook, fresh))
    blocks: list[str] = []
    number = 0
    for cell in nb.cells:
        if cell.cell_type == "markdown":
            blocks.append(cell.source)
        elif _CELL.fullmatch(cell.id):
            tags = set(chapter.code_cells[number].metadata.get("tags", []))
            if not {"remove-input", "remove-cell"} & tags:
                blocks.append(_fenced(cell.source, "python"))
            if not {"remove-output", "remove-cell"} & tags:
                blocks += _shown(number, chapter, runs)
            number += 1
        elif cell.id != launch.INSTALL:
            blocks.append(_fenced(cell.source, "python"))
    return "\n\n".join(filter(None, blocks))


_Run = tuple[str, NotebookNode, Mapping[int, NotebookNode]]  # its heading, the notebook, its cells by their number


def _shown(number: int, chapter: Chapter, runs: Sequence[_Run]) -> Iterator[str]:
    """What a code cell showed in each run in which it had the code that it has."""
    for head, notebook, cells in runs:
        ran = cells.get(number)
        if ran is not None and (head or ran.source.strip() == chapter.code[number].strip()):
            parts = [*_outputs(ran, chapter.code_cells[number], widget_models(notebook))]
            yield from [head, *parts] if parts else []


def _outputs(ran: NotebookNode, cell: NotebookNode, models: Mapping[str, Any]) -> Iterator[str]:
    """The outputs of a cell, each as a block of Markdown."""
    printed = ""
    for output in ran.outputs:
        if output.output_type == "stream":
            printed += output.text
            continue
        if printed.strip():
            yield _fenced(_ESCAPES.sub("", printed), "text")
        printed = ""
        if output.output_type == "error":
            yield _fenced(f"{output.ename}: {output.evalue}".rstrip(": "), "text")
        elif not evidence.record_of(output):
            yield _display(output.data, cell, models)
    if printed.strip():
        yield _fenced(_ESCAPES.sub("", printed), "text")


def _display(data: Mapping[str, Any], cell: NotebookNode, models: Mapping[str, Any]) -> str:
    """What a cell displayed: figures by their words, all else as text; "" where it has none."""
    if WIDGET_VIEW in data:
        return _figure(models.get(data[WIDGET_VIEW]["model_id"], {}).get("state", {}).get("words", ""))
    if PLOTLY in data:
        return _figure((data[PLOTLY].get("layout", {}).get("meta") or {}).get("alt", ""))
    if any(kind.startswith("image/") for kind in data):
        return _figure(cell.metadata.get("mystnb", {}).get("image", {}).get("alt", ""))
    if "text/markdown" in data:
        return str(data["text/markdown"]).strip()
    text = str(data.get("text/plain", "")).strip("\n")
    if "<svg" in data.get("text/html", ""):
        return _figure(text)
    return _fenced(_ESCAPES.sub("", text), "text") if text else ""


def _figure(words: str) -> str:
    return f"*Figure: {' '.join(words.split())}*" if words else ""


def _fenced(text: str, language: str) -> str:
    """A listing, in a fence that is longer than any in it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text.strip(chr(10))}\n{fence}"


def of_page(app: Sphinx, docname: str) -> str:
    """A page of the book as Markdown, and where it is from."""
    chapter = Chapter(Path(app.srcdir), docname)
    if chapter.runs:
        executed = launch.run_of(chapter)
        page = launch.page_of(app, docname, executed)
        nb = launch.notebook(chapter, page, app.config.launch_notebooks["install"])
        recorded, record = recordings_of(chapter), run_metadata(chapter)
        text, sources = of_chapter(chapter, nb, executed, recorded), origins(record, recorded) if record else []
    else:
        page = launch.page_of(app, docname, None)
        front = front_matter.read(chapter.text, chapter.shown)
        text, sources = plain(front.body if front else chapter.text, page), []
    return "\n\n".join([text, "---", f"From *{app.config.html_title}*: {page.url}", *sources]) + "\n"


def _write(app: Sphinx, exception: Exception | None) -> None:
    """Write the twins of the pages that this build wrote."""
    if exception or app.builder.format != "html":
        return
    for page in _twins(app):
        out = Path(app.outdir, page.shown)
        if page.docname in written(app) or not out.is_file():
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_text(of_page(app, page.docname), encoding="utf-8")


def _twins(app: Sphinx) -> list[Chapter]:
    """The pages that have a twin, in the order of reading."""
    return [page for page in pages(Path(app.srcdir)) if page.docname in app.env.found_docs and page.path.is_file()]


def _list(app: Sphinx, exception: Exception | None) -> None:
    """Write `llms.txt`: the pages by the captions of the table of contents, each with what it promises."""
    if exception or app.builder.format != "html":
        return
    promises = pages_of(app).each(description_in)
    opening = app.config.external_site_map.root
    front = f"{opening.docname}.html"
    lines = [f"# {app.config.html_title}", "", f"> {promises.get(front, '')}", "", _ABOUT]
    for tree in opening.subtrees:
        lines += ["", f"## {tree.caption or 'Pages'}", ""]
        lines += [line for item in tree.items for line in _listed(app, str(item), promises)]
    Path(app.outdir, LIST).write_text("\n".join(lines) + "\n", encoding="utf-8")


_ABOUT = (
    "Each link is a page as Markdown, with its code and what the code printed. The same address with .html at its end "
    "is the page for people, with live figures."
)


def _listed(app: Sphinx, docname: str, promises: Mapping[str, str]) -> Iterator[str]:
    """A page and those below it, a line each."""
    if docname not in app.env.found_docs:
        return
    address = launch.page_url(app.config.html_baseurl, docname).removesuffix(".html")
    title, promise = app.env.titles[docname].astext(), promises.get(f"{docname}.html", "")
    yield f"- [{title}]({address}.md){f': {promise}' if promise else ''}"
    for tree in app.config.external_site_map[docname].subtrees:
        for item in tree.items:
            yield from _listed(app, str(item), promises)


def description_in(html: str) -> str:
    """What the head of a built page says that it is about."""
    found = _DESCRIPTION.search(html.partition("</head>")[0])
    return unescape(found[1]) if found else ""


def setup(app: Sphinx) -> None:
    app.connect("build-finished", _write)
    app.connect("build-finished", _list, priority=600)  # when it is known what is in the pages
