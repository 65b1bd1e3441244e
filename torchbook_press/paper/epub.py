"""An EPUB of the book, made from the pages of the built site.

Sphinx's own builder of EPUBs would copy the raw HTML of outputs, questions and exercises as it is, which is no XHTML,
with their scripts and controls. Here Chromium reads each page, draws its plots, and gives the article back as XHTML.
"""

from __future__ import annotations

import base64
import re
import uuid
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

import jinja2

from torchbook_press.paper.book import Book, PaperError
from torchbook_press.paper.browser import Browser
from torchbook_press.paper.mathml import mathml

_HERE = Path(__file__).parent
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first that a zip knows: the same book makes the same bytes
_COVER = {"width": 800, "height": 1200}
_TYPES = {
    ".xhtml": "application/xhtml+xml",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
}
_FORMULAS = """() => [...document.querySelectorAll("article .math")].map(
  (one) => ({text: one.textContent, display: one.tagName === "DIV"}))"""
_LINK = re.compile(r'href="([^"#]*)#([^"]*)"')
_ID = re.compile(r'\sid="([^"]*)"')
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Leaf:
    """A page of the book as a file: title, sections (id and title), its article as XHTML, and what that has in it."""

    docname: str
    file: str
    title: str
    sections: tuple[tuple[str, str], ...]
    body: str
    properties: tuple[str, ...]


def make(browser: Browser, out: Path, tell: Callable[[str], None] = lambda _: None) -> int:
    """Write the EPUB; the number of its files.

    Args:
        browser: open on the built site.
        out: the EPUB.
        tell: hears which page comes next.

    Raises:
        PaperError: a page fails; the message names it.
    """
    book = browser.book
    files: dict[str, bytes] = {}
    leaves = []
    for docname in book.docnames:
        tell(docname)
        leaves.append(_taken(browser, docname, files))
    files["images/cover.png"] = _cover(browser)
    files["book.css"] = _style(book).encode()
    leaves = _settled(leaves)
    for leaf in leaves:
        files[leaf.file] = _render("epub-page.xhtml", book=book, leaf=leaf).encode()
        _well_formed(leaf.file, files[leaf.file])
    files |= _front(book, leaves)
    _write(out, files, _package(book, files, leaves))
    return len(files)


# One page.


def name_of(docname: str) -> str:
    """A page's file in the EPUB."""
    return f"{_slug(docname)}.xhtml"


def _slug(docname: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "-", docname.removeprefix("book/"))


def _taken(browser: Browser, docname: str, files: dict[str, bytes]) -> Leaf:
    book = browser.book
    with browser.page(docname, without="vendor/mathjax") as page:
        formulas = page.evaluate(_FORMULAS)
        arguments = {
            "site": f"{book.site.as_uri()}/",
            "pages": book.docnames,
            "names": [name_of(name) for name in book.docnames],
            "here": _slug(docname),
            "online": book.url,
            "mathml": _mathml(docname, formulas),
        }
        article = page.evaluate((_HERE / "epub.js").read_text(encoding="utf-8"), arguments)
    if not article["headings"]:
        raise PaperError(f"_build/html/{docname}.html:1: no heading; a page of the book begins with its title")
    files |= {name: _clean(text).encode() for name, text in article["drawings"]}
    for name, address in article["pictures"].items():
        files[name] = _picture(docname, address)
    title, *subheadings = article["headings"]
    sections = tuple((heading["id"], heading["text"]) for heading in subheadings if heading["level"] == 2)
    has = tuple(name for name, present in article["has"].items() if present)
    return Leaf(docname, name_of(docname), title["text"], sections, _clean(article["xhtml"]), has)


def _mathml(docname: str, formulas: list[dict[str, Any]]) -> list[str]:
    try:
        return [mathml(formula["text"], formula["display"]) for formula in formulas]
    except PaperError as error:
        raise PaperError(f"{docname}.md:1: {error}") from None


def _picture(docname: str, address: str) -> bytes:
    kind, mark, content = address.partition(";base64,")
    if mark and kind.startswith("data:"):
        return base64.b64decode(content)
    path = Path(unquote(urlsplit(address).path))
    if not address.startswith("file:") or not path.is_file():
        raise PaperError(f"_build/html/{docname}.html:1: the picture {address[:80]} is not in the site; build it again")
    return path.read_bytes()


def _clean(text: str) -> str:
    """Without characters that XML forbids, such as those of a terminal's colours."""
    return _NOT_XML.sub("", text)


# The whole.


def _settled(leaves: list[Leaf]) -> list[Leaf]:
    """Links to what no page has lead to the page itself."""
    ids = {leaf.file: set(_ID.findall(leaf.body)) for leaf in leaves}

    def settle(leaf: Leaf) -> Leaf:
        def link(match: re.Match[str]) -> str:
            file, name = match[1] or leaf.file, unquote(match[2])
            resolves = file not in ids or name in ids[file]
            return match[0] if resolves else f'href="{file}"'

        return Leaf(**{**leaf.__dict__, "body": _LINK.sub(link, leaf.body)})

    return [settle(leaf) for leaf in leaves]


def _style(book: Book) -> str:
    """The EPUB's own style, with the site's colours of code."""
    code = book.site / "_static" / "pygments.css"
    lines = code.read_text(encoding="utf-8").splitlines() if code.is_file() else []
    light = (
        line.removeprefix("html[data-theme] ") for line in lines if line.startswith("html[data-theme] .highlight .")
    )
    return "\n".join([(_HERE / "epub.css").read_text(encoding="utf-8"), *light, ""])


def _cover(browser: Browser) -> bytes:
    with browser.blank() as page:
        page.set_viewport_size({"width": _COVER["width"], "height": _COVER["height"]})
        page.set_content(_render("epub-cover.html", book=browser.book))
        return page.screenshot()


def _front(book: Book, leaves: list[Leaf]) -> dict[str, bytes]:
    by_name = {leaf.docname: leaf for leaf in leaves}
    parts = [
        (part.caption, [[by_name[docname] for docname in docnames] for docnames in part.chapters])
        for part in book.parts
    ]
    files = {
        "title.xhtml": _render("epub-title.xhtml", book=book),
        "nav.xhtml": _render("epub-nav.xhtml", book=book, parts=parts),
    }
    for name, text in files.items():
        _well_formed(name, text.encode())
    return {name: text.encode() for name, text in files.items()}


def _items(files: Mapping[str, bytes], leaves: Mapping[str, Leaf]) -> Iterator[dict[str, str]]:
    special = {"nav.xhtml": "nav", "images/cover.png": "cover-image"}
    for number, name in enumerate(sorted(files)):
        properties = special.get(name) or (" ".join(leaves[name].properties) if name in leaves else "")
        kind = _TYPES.get(Path(name).suffix.lower())
        if kind is None:
            raise PaperError(f"{name}: a kind of file that no EPUB holds; use {', '.join(sorted(_TYPES))}")
        yield {"id": f"item-{number}", "href": name, "type": kind, "properties": properties}


def _render(template: str, **context: Any) -> str:
    loader = jinja2.FileSystemLoader(_HERE)
    return jinja2.Environment(loader=loader, autoescape=True).get_template(template).render(**context)


def _well_formed(name: str, content: bytes) -> None:
    try:
        ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        line = error.position[0]
        excerpt = content.decode().splitlines()[line - 1][:120] if line else ""
        raise PaperError(f"{name}:{line}: not well-formed ({error}): {escape(excerpt)}") from None


def _package(book: Book, files: Mapping[str, bytes], leaves: list[Leaf]) -> str:
    items = list(_items(files, {leaf.file: leaf for leaf in leaves}))
    ids = {item["href"]: item["id"] for item in items}
    spine = [ids[name] for name in ("title.xhtml", "nav.xhtml", *(leaf.file for leaf in leaves))]
    name = uuid.uuid5(uuid.NAMESPACE_URL, f"{book.url}#{book.version}-{book.commit}")
    modified = f"{book.date or '1980-01-01'}T00:00:00Z"
    return _render("epub-package.opf", book=book, items=items, spine=spine, identifier=name.urn, modified=modified)


def _write(out: Path, files: Mapping[str, bytes], package: str) -> None:
    inside = {f"book/{name}": content for name, content in sorted(files.items())}
    container = (_HERE / "epub-container.xml").read_bytes()
    out.parent.mkdir(parents=True, exist_ok=True)
    part = out.with_name(f"{out.name}.part")
    with zipfile.ZipFile(part, "w") as archive:
        _put(archive, "mimetype", b"application/epub+zip", zipfile.ZIP_STORED)
        _put(archive, "META-INF/container.xml", container)
        _put(archive, "book/package.opf", package.encode())
        for name, content in inside.items():
            _put(archive, name, content)
    part.replace(out)


def _put(archive: zipfile.ZipFile, name: str, content: bytes, compression: int = zipfile.ZIP_DEFLATED) -> None:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = compression
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, content)
