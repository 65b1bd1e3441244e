"""One PDF of the book: each page printed by Chromium, then bound into one file with contents, outline and jumps.

A page is printed alone, so that one that fails can be named. Chromium knows where an id lies if a link of the same page
leads there; these places are what the contents, the outline and the links between pages are made of.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote

import jinja2
from pypdf import PdfReader, PdfWriter
from pypdf.constants import PageLabelStyle
from pypdf.generic import (
    ArrayObject,
    BooleanObject,
    DictionaryObject,
    Fit,
    FloatObject,
    NameObject,
    NullObject,
    TextStringObject,
)

from torchbook_press.paper.book import Book, PaperError
from torchbook_press.paper.browser import Browser
from torchbook_press.paper.tags import Tags

Size = Literal["A4", "Letter"]
JUMP = "https://book.invalid/"  # what a link within the book leads to until it is bound
_HERE = Path(__file__).parent
_FRONT = "front"
_TOP = 22 / 25.4 * 72  # points: the margin above, as in pdf.css


@dataclass(frozen=True)
class Heading:
    """A heading of a page: its level from 1, its words, and the id of its section."""

    level: int
    text: str
    id: str


@dataclass(frozen=True)
class Place:
    """A point in the PDF: page from 0, and height above the sheet's lower edge in points."""

    page: int
    top: float


@dataclass
class Leaf:
    """A page of the book as printed: its sheets, its headings, and where its ids lie on them."""

    docname: str
    sheets: PdfReader
    headings: list[Heading] = field(default_factory=list)
    places: dict[str, Place] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.sheets.pages)


def make(browser: Browser, out: Path, size: Size = "A4", tell: Callable[[str], None] = lambda _: None) -> int:
    """Print the book and write it as one PDF; the number of its sheets.

    Args:
        browser: open on the built site.
        out: the PDF.
        size: of the paper.
        tell: hears which page comes next.

    Raises:
        PaperError: a page fails; the message names it.
    """
    book = browser.book
    leaves: list[Leaf] = []
    for docname in book.docnames:
        tell(docname)
        leaves.append(_printed(browser, docname, size, sum(map(len, leaves))))
    front = _front(browser, leaves, size)
    bound = bind(book, front, leaves)
    out.parent.mkdir(parents=True, exist_ok=True)
    part = out.with_name(f"{out.name}.part")
    bound.write(part)
    part.replace(out)
    return len(bound.pages)


# One page.


def _printed(browser: Browser, docname: str, size: Size, before: int) -> Leaf:
    """A page of the book on paper, numbered after `before` sheets."""
    book = browser.book
    arguments = {
        "site": f"{book.site.as_uri()}/",
        "pages": book.docnames,
        "here": docname,
        "online": book.url,
        "jump": JUMP,
    }
    with browser.page(docname) as page:
        article = page.evaluate((_HERE / "links.js").read_text(encoding="utf-8"), arguments)
        headings = [Heading(**fields) for fields in article["headings"]]
        if not headings:
            raise PaperError(f"_build/html/{docname}.html:1: no heading; a page of the book begins with its title")
        page.evaluate((_HERE / "anchors.js").read_text(encoding="utf-8"), article["ids"])
        page.add_style_tag(content=_style(headings[0].text, size, before))
        sheets = PdfReader(io.BytesIO(page.pdf(tagged=True, prefer_css_page_size=True, print_background=True)))
    return Leaf(docname, sheets, headings, _places(sheets))


def _style(title: str, size: Size, before: int) -> str:
    words = json.dumps(title, ensure_ascii=False).replace("</", "<\\/")
    return (
        (_HERE / "pdf.css").read_text(encoding="utf-8")
        + f"@page {{ size: {size}; @top-left {{ content: {words}; }} @bottom-center {{ content: counter(page); }} }}\n"
        + f"@page :first {{ counter-increment: page {before + 1}; }}\n"
    )


def _places(sheets: PdfReader) -> dict[str, Place]:
    """Where the ids lie. Chromium leaves the margin of the sheet out of their heights."""
    numbers = {page.indirect_reference.idnum: number for number, page in enumerate(sheets.pages)}  # type: ignore[union-attr]
    positions = {}
    for name, place in sheets.named_destinations.items():
        page = place.page
        if page is not None and not isinstance(page, NullObject) and page.idnum in numbers:
            positions[str(name).removeprefix("/")] = Place(numbers[page.idnum], float(place.top or 0) - _TOP)
    return positions


# Title page and contents.


def _front(browser: Browser, leaves: list[Leaf], size: Size) -> Leaf:
    html = jinja2.Template((_HERE / "front.html").read_text(encoding="utf-8"), autoescape=True).render(
        book=browser.book, size=size, parts=list(_contents(browser.book, leaves))
    )
    with browser.blank() as page:
        page.set_content(html)
        page.evaluate((_HERE / "anchors.js").read_text(encoding="utf-8"), ["title", "contents"])
        sheets = PdfReader(io.BytesIO(page.pdf(tagged=True, prefer_css_page_size=True, print_background=True)))
    headings = [Heading(1, browser.book.title, "title"), Heading(1, "Contents", "contents")]
    return Leaf(_FRONT, sheets, headings, _places(sheets))


def _contents(book: Book, leaves: list[Leaf]) -> Iterator[dict[str, Any]]:
    """The parts, with an entry for each chapter: below it its sections, then its pages, each with their own."""
    starts = _starts(leaves)
    by_name = {leaf.docname: leaf for leaf in leaves}

    def entry(leaf: Leaf, heading: Heading, target: str, number: int, *inner: dict[str, Any]) -> dict[str, Any]:
        return {"title": heading.text, "target": JUMP + target, "number": starts[leaf.docname] + number, "inner": inner}

    def page(docname: str, *pages: str) -> dict[str, Any]:
        leaf = by_name[docname]
        sections = [
            entry(leaf, heading, f"{docname}#{heading.id}", 1 + _at(leaf, heading).page)
            for heading in leaf.headings
            if heading.level == 2
        ]
        return entry(leaf, leaf.headings[0], docname, 1, *sections, *map(page, pages))

    for part in book.parts:
        yield {"caption": part.caption, "chapters": [page(*docnames) for docnames in part.chapters]}


def _starts(leaves: list[Leaf]) -> dict[str, int]:
    """How many sheets come before each page of the book."""
    return {leaf.docname: sum(map(len, leaves[:number])) for number, leaf in enumerate(leaves)}


def _at(leaf: Leaf, heading: Heading) -> Place:
    return leaf.places.get(heading.id, _beginning(leaf))


def _beginning(leaf: Leaf) -> Place:
    return Place(0, float(leaf.sheets.pages[0].mediabox.top))


# The whole.


def bind(book: Book, front: Leaf, leaves: list[Leaf]) -> PdfWriter:
    """Title page, contents and pages as one document, with outline, jumps, labels, tags and metadata."""
    writer = PdfWriter()
    tags = Tags(writer)
    places: dict[str, Place] = {}
    for leaf in (front, *leaves):
        start = len(writer.pages)
        for page in leaf.sheets.pages:
            writer.add_page(page)
        tags.add(leaf.sheets, start)
        places[leaf.docname] = Place(start, _beginning(leaf).top)
        for name, place in leaf.places.items():
            places[f"{leaf.docname}#{name}"] = Place(start + place.page, place.top)
    _jump(writer, places)
    _outline(writer, book, front, leaves, places)
    tags.finish(book.language)
    writer.set_page_label(0, len(front) - 1, style=PageLabelStyle.LOWERCASE_ROMAN)
    writer.set_page_label(len(front), len(writer.pages) - 1, style=PageLabelStyle.DECIMAL, start=1)
    _describe(writer, book)
    writer.compress_identical_objects(remove_duplicates=True, remove_unreferenced=True)
    return writer


def _jump(writer: PdfWriter, places: Mapping[str, Place]) -> None:
    """Turn links within the book into jumps; one to an id that is not printed leads to its page."""
    for page in writer.pages:
        for annotation in page.get("/Annots", ()):
            link = annotation.get_object()
            address = link.get("/A", DictionaryObject()).get("/URI", "")
            if str(address).startswith(JUMP):
                target = unquote(str(address).removeprefix(JUMP))
                place = places.get(target) or places[target.partition("#")[0]]
                link[NameObject("/Dest")] = _destination(writer, place)
                del link["/A"]


def _destination(writer: PdfWriter, place: Place) -> ArrayObject:
    reference = writer.pages[place.page].indirect_reference
    assert reference is not None
    return ArrayObject([reference, NameObject("/XYZ"), NullObject(), FloatObject(round(place.top, 2)), NullObject()])


def _outline(writer: PdfWriter, book: Book, front: Leaf, leaves: list[Leaf], places: Mapping[str, Place]) -> None:
    """Parts, chapters, their pages where they are folders, sections, and what is below them."""

    def add(title: str, place: Place, parent: Any = None, open_: bool = False) -> Any:
        fit = Fit.xyz(top=round(place.top, 2))
        return writer.add_outline_item(title=title, page_number=place.page, parent=parent, fit=fit, is_open=open_)

    for heading in front.headings:
        add(heading.text, places.get(f"{_FRONT}#{heading.id}", Place(0, 0)))
    by_name = {leaf.docname: leaf for leaf in leaves}
    for part in book.parts:
        start = places[part.docnames[0]]
        above = {0: add(part.caption, start, open_=True)} if part.caption else {0: None}
        for leaf in (by_name[docname] for docname in part.docnames):
            for heading in leaf.headings:
                place = places.get(f"{leaf.docname}#{heading.id}", places[leaf.docname])
                first = heading is leaf.headings[0]
                level = (1 if first else heading.level) + (leaf.docname in part.inner)
                parent = next((above[depth] for depth in range(level - 1, -1, -1) if depth in above), None)
                for deeper in [depth for depth in above if depth >= level]:
                    del above[deeper]
                above[level] = add(heading.text, places[leaf.docname] if first else place, parent)


def _describe(writer: PdfWriter, book: Book) -> None:
    day = book.date.replace("-", "")
    dates = {"/CreationDate": f"D:{day}000000Z", "/ModDate": f"D:{day}000000Z"} if day else {}
    info = {"/Title": book.title, "/Author": book.author, "/Subject": book.edition, "/Producer": "torchbook"}
    writer.add_metadata({**info, **dates})
    root = writer.root_object
    root[NameObject("/Lang")] = TextStringObject(book.language)
    root[NameObject("/PageMode")] = NameObject("/UseOutlines")
    root[NameObject("/ViewerPreferences")] = DictionaryObject({NameObject("/DisplayDocTitle"): BooleanObject(True)})
