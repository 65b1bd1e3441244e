"""The PDF and the EPUB: of a small book, whose places are known, and of two pages of the built one."""

from __future__ import annotations

import base64
import dataclasses
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Browser
from pypdf import PageObject, PdfReader
from typer.testing import CliRunner

from tests.conftest import PATIENCE
from torchbook.cli import app
from torchbook_press.chapters import chapters
from torchbook_press.paper import book as books
from torchbook_press.paper import browser as browsers
from torchbook_press.paper import epub, pdf
from torchbook_press.paper.book import Book, PaperError
from torchbook_press.paper.mathml import mathml

XHTML = "{http://www.w3.org/1999/xhtml}"
OPF = "{http://www.idpf.org/2007/opf}"

CONFIG = """\
title: A Small Book
author: Two Authors
repository: {url: https://example.org/small/small-book}
html: {baseurl: https://small.example.org}
"""
TOC = """\
format: jb-book
root: book/index
parts:
- caption: First part
  chapters:
  - file: book/one
- caption: Second part
  chapters:
  - file: book/two
"""
PAGE = """<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8"><title>{title}</title></head>
<body><article>{body}</article></body></html>"""
PAGES = {
    "index": """<section id="a-small-book"><h1>A Small Book<a class="headerlink" href="#a-small-book">#</a></h1>
<p>Read <a class="reference internal" href="two.html#deep">what is deep</a> and
<a href="https://pytorch.org/docs">the manual</a>, or <a href="../notebooks/one.ipynb">the notebook</a>.</p>
</section>""",
    "one": """<section id="one"><h1>Chapter one</h1><p>Formula <span class="math">\\(x_1^2\\)</span>.</p>
<section id="near"><h2>Near &amp; dear</h2><p>See <a href="two.html">the other</a>, <a href="#near">this</a>,
<a href="two.html#gone">what is gone</a>.</p>
<figure class="viz-mount" data-kind="anywidget"><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10" width="10"
role="img" aria-label="dot"><linearGradient id="g"/><circle r="4" cx="5" cy="5"/></svg>
<script type="application/json">{}</script>
<figcaption class="viz-words">A dot in words.</figcaption></figure>
<div class="prediction"><fieldset class="predict"><legend>Which?</legend><label><input type="radio" name="p"><span>this
one</span></label><label><input type="radio" name="p" data-right="1"><span>that one</span></label>
<p class="verdict"></p><details><summary>Answer</summary><p>that one, since</p></details></fieldset></div>
<pre>code \x1b[31mred\x1b[0m</pre><img src="../dot.png" alt="a dot"><hr>
<img src="data:image/png;base64,INLINE" alt="a dot">
<img src="data:image/png;base64,INLINE" alt="again"><table border="1"><tr><td>cell</table>
</section></section>""",
    "two": """<section id="two"><h1>Chapter two</h1><p>It is <a class="holds" id="mark-1" data-n="1"
href="#holds-3">faster</a>.</p><div style="break-before: page; height: 60mm"></div>
<section id="deep"><h2>Deep down</h2><p>Here.</p><section id="deeper"><h3>Deeper</h3><p>There.</p></section></section>
<section class="exercise" id="ex-two-x1"><h3>Exercise 1 · Try</h3><p>Do it.</p><p class="exercise-check">Check it.</p>
<details class="fold"><summary>Solution</summary><pre>the_solution = 1</pre></details></section>
<div class="cell" id="holds-3"><pre>code()</pre><details class="checks"><summary>1 check</summary><pre>assert it</pre>
</details></div><details class="evidence" id="evidence"><summary>What the claims rest on</summary><ol>
<li id="evidence-1"><a href="#mark-1">faster</a>: <span>1.83 &gt; 1.2</span></li></ol></details></section>""",
}
DOT = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763f8cfc0000003010100"
    "18dd8db00000000049454e44ae426082"
)


def written(root: Path) -> Path:
    """A small book with its site."""
    (root / "_config.yml").write_text(CONFIG)
    (root / "_toc.yml").write_text(TOC)
    for name, body in PAGES.items():
        path = root / "_build" / "html" / "book" / f"{name}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        inline = base64.b64encode(DOT).decode()
        path.write_text(PAGE.format(title=name, body=body.replace("INLINE", inline)))
    (root / "_build" / "html" / "dot.png").write_bytes(DOT)
    return root


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Book:
    book = books.load(written(tmp_path_factory.mktemp("small")))
    return dataclasses.replace(book, date="2026-05-04", commit="abc1234")


@pytest.fixture(scope="module")
def real(repo: Path) -> Book:
    """Two chapters of the built book: one with formulas and visualizers, one with a plot."""
    wanted = tuple(page.docname for page in chapters(repo, ("p01", "p02")))
    book = books.load(repo)
    return dataclasses.replace(book, parts=(books.Part("Inside PyTorch", wanted),))


def as_pdf(chromium: Browser, book: Book, out: Path) -> Path:
    with browsers.opened(chromium, book, PATIENCE) as opened:
        pdf.make(opened, out)
    return out


def as_epub(chromium: Browser, book: Book, out: Path) -> Path:
    with browsers.opened(chromium, book, PATIENCE) as opened:
        epub.make(opened, out)
    return out


# The PDF.


@pytest.fixture(scope="module")
def printed(small: Book, browser: Browser) -> PdfReader:
    return PdfReader(as_pdf(browser, small, small.root / "made.pdf"))


def _titles(items: Any, depth: int = 0) -> Iterator[tuple[int, str]]:
    for item in items:
        if isinstance(item, list):
            yield from _titles(item, depth + 1)
        else:
            yield depth, item.title


def _links(reader: PdfReader, number: int) -> list[dict[str, Any]]:
    return [annotation.get_object() for annotation in reader.pages[number].get("/Annots", ())]


def _page_of(reader: PdfReader, destination: Any) -> int:
    return next(n for n, page in enumerate(reader.pages) if page.indirect_reference == destination[0])


def _heights(page: PageObject) -> dict[str, float]:
    """Height of each run of text above the sheet's lower edge, in points."""
    heights: dict[str, float] = {}

    def visit(text: str, cm: list[float], tm: list[float], *_: Any) -> None:
        if text.strip():
            heights[text.strip()] = tm[4] * cm[1] + tm[5] * cm[3] + cm[5]

    page.extract_text(visitor_text=visit)
    return heights


def test_the_outline_has_parts_chapters_and_sections(printed: PdfReader) -> None:
    assert list(_titles(printed.outline)) == [
        (0, "A Small Book"),
        (0, "Contents"),
        (0, "A Small Book"),
        (0, "First part"),
        (1, "Chapter one"),
        (2, "Near & dear"),
        (0, "Second part"),
        (1, "Chapter two"),
        (2, "Deep down"),
        (3, "Deeper"),
        (3, "Exercise 1 · Try"),
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Book:
    """The small book, with one chapter that is a folder: the second page is of the first one's chapter."""
    root = written(tmp_path_factory.mktemp("folder"))
    (root / "_toc.yml").write_text(TOC.partition("- caption: Second part")[0] + "    sections: [{file: book/two}]\n")
    return books.load(root)


@pytest.fixture(scope="module")
def printed_folder(folder: Book, browser: Browser) -> PdfReader:
    return PdfReader(as_pdf(browser, folder, folder.root / "made.pdf"))


def test_the_outline_has_pages_below_their_chapter(printed_folder: PdfReader) -> None:
    assert list(_titles(printed_folder.outline))[3:] == [
        (0, "First part"),
        (1, "Chapter one"),
        (2, "Near & dear"),
        (2, "Chapter two"),
        (3, "Deep down"),
        (4, "Deeper"),
        (4, "Exercise 1 · Try"),
    ]


def test_contents_have_pages_below_their_chapter(printed_folder: PdfReader) -> None:
    left = {
        title: min(place for text, place in _lefts(printed_folder.pages[1]) if text.startswith(title))
        for title in ("Chapter one", "Near", "Chapter two", "Deep down")
    }
    assert left["Chapter one"] < left["Near"] == left["Chapter two"] < left["Deep down"]


def _lefts(page: PageObject) -> list[tuple[str, float]]:
    """Runs of text, and how far from the left each begins."""
    runs: list[tuple[str, float]] = []

    def visit(text: str, cm: list[float], tm: list[float], *_: Any) -> None:
        if text.strip():
            runs.append((text.strip(), round(tm[4] * cm[0] + tm[5] * cm[2] + cm[4])))

    page.extract_text(visitor_text=visit)
    return runs


def test_sheets_are_numbered_over_the_whole_book(printed: PdfReader) -> None:
    assert printed.page_labels == ["i", "ii", "1", "2", "3", "4"]
    for sheet, label in zip(printed.pages[1:], printed.page_labels[1:], strict=True):
        assert label in sheet.extract_text().split()


def test_contents_name_the_sheet_that_they_lead_to(printed: PdfReader) -> None:
    text = " ".join(printed.pages[1].extract_text().split())
    targets = [_page_of(printed, link["/Dest"]) for link in _links(printed, 1)]
    assert [printed.page_labels[target] for target in targets] == ["1", "2", "2", "3", "4"]
    for title, label in (("Chapter one", 2), ("Near & dear", 2), ("Chapter two", 3), ("Deep down", 4)):
        assert re.search(rf"{re.escape(title)} {label}\b", text), text


def test_a_link_to_a_section_jumps_to_its_heading(printed: PdfReader) -> None:
    link = _links(printed, 2)[0]
    assert "/A" not in link
    number, top = _page_of(printed, link["/Dest"]), float(link["/Dest"][3])
    heading = _heights(printed.pages[number])["Deep down"]
    assert (number, 0 < top - heading < 60) == (5, True)


def test_links_to_pages_and_to_what_is_gone_jump_to_the_page(printed: PdfReader) -> None:
    assert [_page_of(printed, link["/Dest"]) for link in _links(printed, 3)] == [4, 3, 4]


def test_what_is_not_in_the_book_is_linked_to_online(printed: PdfReader) -> None:
    addresses = [link["/A"]["/URI"] for link in _links(printed, 2)[1:]]
    assert addresses == ["https://pytorch.org/docs", "https://small.example.org/notebooks/one.ipynb"]
    solution = _links(printed, 5)[-1]
    assert solution["/A"]["/URI"] == "https://small.example.org/book/two.html#ex-two-x1"


def test_it_says_what_it_is(printed: PdfReader) -> None:
    about = printed.metadata
    assert about is not None
    assert (about.title, about.author) == ("A Small Book", "Two Authors")
    assert about.subject is not None
    assert about.subject.endswith("2026-05-04 · commit abc1234")
    assert about.subject in printed.pages[0].extract_text()
    assert printed.trailer["/Root"]["/Lang"] == "en"


def test_headings_and_links_are_tagged_for_screen_readers(printed: PdfReader) -> None:
    root: Any = printed.trailer["/Root"]
    assert root["/MarkInfo"]["/Marked"]
    tree = root["/StructTreeRoot"]
    numbers = tree["/ParentTree"]["/Nums"][::2]
    assert numbers == sorted(set(numbers))
    assert all(page["/StructParents"] in numbers for page in printed.pages)
    kinds = [element["/S"] for element in _elements(tree["/K"])]
    assert (kinds.count("/H1"), kinds.count("/H3")) == (4, 2)
    sheets = {page.indirect_reference.idnum for page in printed.pages if page.indirect_reference}
    named = [element.raw_get("/Pg").idnum for element in _elements(tree["/K"]) if "/Pg" in element]
    assert set(named) == sheets


def _elements(element: Any) -> Iterator[Any]:
    element = element.get_object()
    if isinstance(element, list):
        for child in element:
            yield from _elements(child)
    elif isinstance(element, dict) and "/S" in element:
        yield element
        yield from _elements(element.get("/K", []))


def test_the_same_book_makes_the_same_pdf(printed: PdfReader, small: Book, browser: Browser) -> None:
    again = as_pdf(browser, small, small.root / "again.pdf")
    assert again.read_bytes() == (small.root / "made.pdf").read_bytes()


def test_a_chapter_of_the_book_as_pdf(real: Book, tmp_path: Path, browser: Browser) -> None:
    (part,) = real.parts
    one_chapter = dataclasses.replace(real, parts=(books.Part(part.caption, part.docnames[-1:]),))
    reader = PdfReader(as_pdf(browser, one_chapter, tmp_path / "one.pdf"))
    jumps = [link for n in range(len(reader.pages)) for link in _links(reader, n)]
    assert not [link for link in jumps if str(link.get("/A", {}).get("/URI", "")).startswith(("file:", pdf.JUMP))]
    for (_, title), item in zip(_titles(reader.outline), _flat(reader.outline), strict=True):
        sheet = reader.pages[reader.get_destination_page_number(item) or 0]
        assert title == "Inside PyTorch" or _plain(title) in _plain(sheet.extract_text())


def _flat(items: Any) -> Iterator[Any]:
    for item in items:
        yield from _flat(item) if isinstance(item, list) else (item,)


def _plain(text: str) -> str:
    return re.sub(r"\W+", "", text)


# The EPUB.


def unpacked(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def packed(small: Book, browser: Browser) -> Path:
    return as_epub(browser, small, small.root / "made.epub")


@pytest.fixture(scope="module")
def packed_real(real: Book, tmp_path_factory: pytest.TempPathFactory, browser: Browser) -> Path:
    return as_epub(browser, real, tmp_path_factory.mktemp("epub") / "two.epub")


@pytest.fixture(params=["packed", "packed_real"])
def either(request: pytest.FixtureRequest) -> Path:
    path: Path = request.getfixturevalue(request.param)
    return path


def test_the_zip_begins_with_its_kind(either: Path) -> None:
    with zipfile.ZipFile(either) as archive:
        first = archive.infolist()[0]
        assert (first.filename, first.compress_type) == ("mimetype", zipfile.ZIP_STORED)
        assert archive.read("mimetype") == b"application/epub+zip"
        assert archive.testzip() is None


def test_the_manifest_names_every_file_and_no_other(either: Path) -> None:
    files = unpacked(either)
    package = ElementTree.fromstring(files["book/package.opf"])
    items = {f"book/{item.attrib['href']}" for item in package.iter(f"{OPF}item")}
    assert items == {name for name in files if name.startswith("book/")} - {"book/package.opf"}
    ids = {item.attrib["id"] for item in package.iter(f"{OPF}item")}
    assert {item.attrib["idref"] for item in package.iter(f"{OPF}itemref")} <= ids
    for item in package.iter(f"{OPF}item"):
        content = files[f"book/{item.attrib['href']}"]
        if item.attrib["href"].endswith(".xhtml"):
            properties = set(item.attrib.get("properties", "").split()) - {"nav"}
            assert properties == {
                what for what in ("svg", "mathml") if f"<{'math' if what == 'mathml' else what}".encode() in content
            }


def test_links_and_anchors_resolve_and_nothing_is_fetched_or_run(either: Path) -> None:
    pages = {
        name.removeprefix("book/"): ElementTree.fromstring(content)
        for name, content in unpacked(either).items()
        if name.endswith(".xhtml")
    }
    ids = {name: [node.attrib["id"] for node in page.iter() if "id" in node.attrib] for name, page in pages.items()}
    files = {name.removeprefix("book/") for name in unpacked(either)}
    assert {
        name: sorted({anchor_id for anchor_id in page_ids if page_ids.count(anchor_id) > 1})
        for name, page_ids in ids.items()
    } == {name: [] for name in pages}
    for name, page in pages.items():
        for element in page.iter():
            assert element.tag.rpartition("}")[2] not in ("script", "input", "button", "iframe", "details", "form"), (
                name
            )
            assert not any(attribute.startswith("on") for attribute in element.attrib), name
            assert "src" not in element.attrib or element.attrib["src"] in files, element.attrib
            file, mark, anchor = element.attrib.get("href", "").partition("#")
            if not file.startswith(("http:", "https:", "mailto:")) and (file or mark):
                assert not file or file in files, (name, element.attrib)
                assert not anchor or unquote(anchor) in ids[file or name], (name, element.attrib)


def test_formulas_figures_and_answers_are_there(packed: Path) -> None:
    files = {name: content.decode() for name, content in unpacked(packed).items() if name.endswith(".xhtml")}
    first_page, second_page = files["book/one.xhtml"], files["book/two.xhtml"]
    assert "<msubsup>" in first_page
    assert "A dot in words." in first_page
    assert first_page.index("Which?") < first_page.index("that one, since")
    assert "code [31mred[0m" in first_page
    assert 'href="two.xhtml#answers-ex-two-x1"' in second_page
    assert second_page.index('id="hints-and-solutions"') < second_page.index("the_solution = 1")
    assert "Hints and solutions" in second_page


def test_a_number_leads_to_what_a_sentence_rests_on(packed: Path) -> None:
    with zipfile.ZipFile(packed) as archive:
        text = archive.read("book/two.xhtml").decode()
    assert re.search(r'href="two\.xhtml#evidence-1">faster<sup[^>]*>1</sup></a>', text)
    assert re.search(r'<div class="evidence" id="evidence">.*1\.83 &gt; 1\.2', text, re.DOTALL)
    assert "assert it" not in text


def test_the_navigation_has_pages_below_their_chapter(folder: Book, browser: Browser) -> None:
    files = unpacked(as_epub(browser, folder, folder.root / "made.epub"))
    contents = ElementTree.fromstring(files["book/nav.xhtml"]).find(f".//{XHTML}nav[@id='toc']")
    assert contents is not None
    lists = [[item.find(f"{XHTML}a") for item in one.findall(f"{XHTML}li")] for one in contents.iter(f"{XHTML}ol")]
    targets = [[link.attrib["href"] for link in links if link is not None] for links in lists]
    deeper = ["two.xhtml#deep", "two.xhtml#hints-and-solutions"]
    assert targets == [["index.xhtml"], ["one.xhtml"], ["one.xhtml#near", "two.xhtml"], deeper]


def test_a_plot_is_a_drawing_with_its_words(packed_real: Path) -> None:
    files = unpacked(packed_real)
    pattern = re.compile(r"book/images/(phases-p02-.+)-plot-1\.svg")
    plotted = next(match for match in map(pattern.fullmatch, sorted(files)) if match)
    drawing = ElementTree.fromstring(files[plotted[0]])
    assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
    assert drawing.find(".//{http://www.w3.org/2000/svg}path") is not None
    page = ElementTree.fromstring(files[f"book/{plotted[1]}.xhtml"])
    figure = next(
        element for element in page.iter(f"{XHTML}figure") if element.find(f".//{XHTML}img[@class='plot']") is not None
    )
    assert " plot" in "".join(figure.itertext())  # as it is said in words
    assert "".join(figure.find(f"{XHTML}figcaption").itertext())  # type: ignore[union-attr]


def test_the_same_book_makes_the_same_epub(packed: Path, small: Book, browser: Browser) -> None:
    assert as_epub(browser, small, small.root / "again.epub").read_bytes() == packed.read_bytes()


@pytest.mark.parametrize("tex", [r"\frac{1}{n}\sum_{i=1}^n x_i", r"\operatorname{softmax}(x)", r"\text{offset} + i"])
def test_tex_becomes_mathml(tex: str) -> None:
    root = ElementTree.fromstring(mathml(f"\\[{tex}\\]", display=True))
    assert (root.tag, root.attrib["display"]) == ("{http://www.w3.org/1998/Math/MathML}math", "block")
    assert not [
        element.tag for element in root.iter() if element.tag.endswith(("}mi", "}mn", "}mo", "}mtext")) and len(element)
    ]


def test_tex_that_is_not_understood_is_quoted() -> None:
    with pytest.raises(PaperError, match=r"latex2mathml .*\\\\nosuchthing"):
        mathml(r"\(\nosuchthing{x}\)", display=False)


# What can go wrong.


@pytest.mark.parametrize("command", ["pdf", "epub"])
def test_without_a_site_it_says_what_to_do(tmp_path: Path, command: str) -> None:
    (tmp_path / "_config.yml").write_text(CONFIG)
    (tmp_path / "_toc.yml").write_text(TOC)
    done = CliRunner().invoke(app, [command, "--root", str(tmp_path)])
    assert (done.exit_code, "_build/html/index.html:1: missing; build the book first" in done.output) == (2, True)


def test_without_a_browser_it_says_what_to_install(small: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torchbook_press.build.hindrance", lambda root: "")
    monkeypatch.setattr(browsers, "find_chromium", lambda: None)
    done = CliRunner().invoke(app, ["pdf", "--root", str(small.root)])
    message = "no Chromium or Chrome on this machine: install one"
    assert (done.exit_code, message in " ".join(done.output.split())) == (2, True)


def test_a_page_that_fails_names_itself(tmp_path: Path, browser: Browser) -> None:
    book = books.load(written(tmp_path))
    broken = PAGE.format(title="two", body="<h1>Two</h1><script>throw new Error('out of ink')</script>")
    book.path("book/two").write_text(broken)
    with pytest.raises(PaperError, match=r"^_build/html/book/two\.html:1: .*out of ink"):
        as_pdf(browser, book, tmp_path / "none.pdf")
    assert not list(tmp_path.glob("none.pdf*"))


def test_paper_of_another_size_is_refused(small: Book) -> None:
    done = CliRunner().invoke(app, ["pdf", "--root", str(small.root), "--paper", "B5"])
    assert (done.exit_code, "A4 or Letter" in done.output) == (2, True)
