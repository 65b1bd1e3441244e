"""Old addresses: where a page was before, one is left that leads on, to the place that was asked for.

`formerly: book/phases/p01-tensors` in a page's front matter is its old name; several are a list. What follows the `#`
is looked for on the page itself and on those below it in the table of contents, since a page that became a folder has
its places on several. The extensions of Sphinx for redirects know one new page for an old one, and lose the place.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import jinja2
import nbformat
from markupsafe import Markup
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from torchbook_press.chapters import Chapter
from torchbook_press.site.launch import page_url
from torchbook_press.site.pages import pages_of

KEY = "formerly"
MARK = '<meta name="torchbook-moved"'
_log = logging.getLogger(__name__)
_TEMPLATE = Path(__file__).with_suffix(".html")
_ID = re.compile(r'\sid="([^"]+)"')
_SCRIPT = re.compile(r"<script\b.*?</script>", re.DOTALL)
_FIGURE = re.compile(r'"link": ?"([\w-]+)"')  # what a figure is called in links to its states


def is_moved(html: str) -> bool:
    """Whether this is no page, but what leads from an old address to one."""
    return MARK in html[:1000]


def hashes_in(html: str) -> set[str]:
    """What can follow a page's address: the `#` and the ids in its article, and the names of its live figures."""
    article = html[html.find("<article") :].partition("</article>")[0]
    figures = (name for script in _SCRIPT.findall(article) for name in _FIGURE.findall(script))
    return {f"#{name}" for name in _ID.findall(_SCRIPT.sub("", article))} | {f"#tbviz-{name}" for name in figures}


def former_names(root: Path, docname: str) -> tuple[str, ...]:
    """The old names of a page, as its front matter has them."""
    names = Chapter(root, docname).front_matter.get(KEY, ())
    return (names,) if isinstance(names, str) else tuple(map(str, names))


def _below(env: BuildEnvironment, docname: str) -> Iterator[str]:
    """A page, and all below it, in the order of reading."""
    yield docname
    for name in env.toctree_includes.get(docname, ()):
        yield from _below(env, name)


def _moves(app: Sphinx) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """For each old name the page that it is now; and pages with what is wrong with the names that they give."""
    moves: dict[str, str] = {}
    wrong = []
    for docname in sorted(name for name in app.env.found_docs if KEY in app.env.metadata[name]):
        for name in former_names(Path(app.srcdir), docname):
            owner = name if name in app.env.found_docs else moves.get(name)
            if owner:
                wrong.append((docname, f"{KEY}: {name} is the address of {owner}"))
            else:
                moves[name] = docname
    return moves, wrong


def _complain(app: Sphinx, env: BuildEnvironment) -> None:
    for docname, what in _moves(app)[1]:
        _log.warning(what, location=docname, type="moved")


def _write(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    source = _TEMPLATE.read_text(encoding="utf-8")
    template = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined).from_string(source)
    for name, docname in _moves(app)[0].items():
        out = Path(app.outdir, f"{name}.html")
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(template.render(_context(app, name, docname)), encoding="utf-8")
        _write_notebook(app, name, docname)


def _write_notebook(app: Sphinx, name: str, docname: str) -> None:
    """Where the old page's notebook was, one that names the new ones; none where no page runs."""
    folder = Path(app.outdir, app.config.launch_notebooks["dir"])
    running = [page for page in _below(app.env, docname) if (folder / f"{page}.ipynb").is_file()]
    if running:
        lines = ["This notebook has moved:", ""]
        for page in running:
            title, there = app.env.titles[page].astext(), posixpath.relpath(page, posixpath.dirname(name))
            lines += [f"- [{title}]({page_url(app.config.html_baseurl, page)}): `{there}.ipynb`"]
        cell = nbformat.v4.new_markdown_cell("\n".join(lines), id="moved")
        out = folder / f"{name}.ipynb"
        out.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(nbformat.v4.new_notebook(cells=[cell]), out)


def _context(app: Sphinx, name: str, docname: str) -> dict[str, object]:
    def address(page: str) -> str:
        return quote(posixpath.relpath(f"{page}.html", posixpath.dirname(name)))

    places: dict[str, str] = {}
    for page in _below(app.env, docname):
        for place in sorted(hashes_in(pages_of(app).texts[f"{page}.html"])):
            places.setdefault(place, address(page))
    elsewhere = {place: page for place, page in places.items() if page != address(docname)}
    baseurl = app.config.html_baseurl
    return {
        "language": app.config.language or "en",
        "target": address(docname),
        "target_json": _json(address(docname)),
        "places": _json(elsewhere),
        "title": app.env.titles[docname].astext(),
        "canonical": page_url(baseurl, docname) if baseurl else "",
    }


def _json(value: object) -> Markup:
    """A value as a script may hold it."""
    return Markup(json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"))


def setup(app: Sphinx) -> None:
    app.connect("env-check-consistency", _complain)
    app.connect(
        "build-finished", _write, priority=980
    )  # after all that is asked of pages, before their answers are kept
