"""What a page hands to others: a preview of links to it, a button that copies it, and a form for what is wrong with it.

A preview is what a page's head says to programs that show links: title, description, and one picture for all pages,
since title and description of the page stand beside it anyway. The description is the page's first paragraph, which of
a chapter is what it promises. The form is the repository's own for issues, filled in by its address; `share.js` adds
the section and the words that a reader has selected. Nothing is sent before the reader sends it there.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from docutils import nodes
from markupsafe import Markup
from PIL import Image, ImageDraw, ImageFont
from sphinx.application import Sphinx
from sphinx.config import Config

from torchbook import __version__
from torchbook_press.chapters import Chapter
from torchbook_press.run import run_metadata
from torchbook_press.site.launch import page_url
from torchbook_press.site.pages import pages_of
from torchbook_press.site.stamp import versions

FORM = "problem.yml"  # in .github/ISSUE_TEMPLATE; the form's fields are named below
CARD = "_static/card.png"
CARD_SIZE = (1200, 630)  # as Open Graph's readers crop it
_LONGEST = 300  # characters of a description
_TAGS = re.compile(r'<meta (?:name="(?:description|twitter:)|property="og:)[^>]*>')
_MATH = (nodes.math, nodes.math_block)


# Previews.


def description(doctree: nodes.document | None) -> str:
    """The first paragraph of a page, in one line and cut at a word; "" where it has none."""
    first = next(iter(doctree.findall(nodes.paragraph)), None) if doctree is not None else None
    return textwrap.shorten(first.astext(), _LONGEST, placeholder=" …") if first is not None else ""


def _head(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Hand the template what it says in the head, and whether the page has a twin."""
    base = app.config.html_baseurl
    words = Markup(context.get("title", "")).striptags()
    context["share"] = {
        "title": words if pagename != app.config.root_doc else app.config.html_title,
        "description": description(doctree),
        "book": app.config.html_title,
        "url": page_url(base, pagename) if base else "",
        "card": f"{base.rstrip('/')}/{CARD}" if base else "",
        "size": CARD_SIZE,
        "twin": context["pathto"](f"{pagename}.md", 1) if doctree is not None else "",
        "report": _report(app, pagename, words) if doctree is not None else "",
    }


def _front(app: Sphinx, exception: Exception | None) -> None:
    """Draw the card, and give the site's own address, which only leads on to the first page, that page's preview."""
    if exception or app.builder.format != "html":
        return
    pages = pages_of(app)
    front, here = pages.texts.get(f"{app.config.root_doc}.html", ""), Path(app.outdir, "index.html")
    tags = _TAGS.findall(front.partition("</head>")[0])
    if app.config.root_doc != "index" and here.is_file():
        leading = pages.texts["index.html"].partition("\n")[0]
        here.write_text("\n".join([leading, *tags]) + "\n", encoding="utf-8")
    said = next((tag for tag in tags if 'name="description"' in tag), "")
    words = Markup(said.partition('content="')[2].rpartition('"')[0]).unescape()
    card(app.config.html_title, words).save(Path(app.outdir, CARD), optimize=True)


def card(title: str, words: str) -> Image.Image:
    """The picture of all previews: the book's title, what it says of itself, and a tensor beside its storage.

    Args:
        title: one line.
        words: a sentence, set in several lines.
    """
    paper, ink, muted, accent = "#fdfcfa", "#14171a", "#565d66", "#b3370d"
    picture = Image.new("RGB", CARD_SIZE, paper)
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 0, 18, CARD_SIZE[1]), fill=accent)
    draw.text((90, 90), title, font=ImageFont.load_default(86), fill=ink)
    font = ImageFont.load_default(40)
    draw.multiline_text((92, 220), "\n".join(_lines(draw, words, font, 1000)), font=font, fill=muted, spacing=14)
    for row, column in ((row, column) for row in range(2) for column in range(3)):
        _cell(draw, 92 + 70 * column, 400 + 70 * row, 70, 3 * row + column, accent if column == 1 else ink)
    for at in range(6):
        _cell(draw, 480 + 70 * at, 435, 70, at, accent if at % 3 == 1 else ink)
    return picture.quantize(16, dither=Image.Dither.NONE)


def _lines(draw: ImageDraw.ImageDraw, words: str, font: Any, wide: float) -> Iterator[str]:
    line = ""
    for word in words.split():
        longer = f"{line} {word}".strip()
        if draw.textlength(longer, font=font) > wide:
            yield line
            longer = word
        line = longer
    yield line


def _cell(draw: ImageDraw.ImageDraw, x: int, y: int, size: int, number: int, colour: str) -> None:
    draw.rectangle((x, y, x + size, y + size), outline="#8a8d91", width=2)
    middle = (x + size / 2, y + size / 2)
    draw.text(middle, str(number), font=ImageFont.load_default(34), fill=colour, anchor="mm")


# What is wrong.


def _report(app: Sphinx, pagename: str, title: str) -> str:
    """The address of the repository's form with what is known of a page; "" where there is no such form."""
    repository = str(app.config.html_theme_options.get("repository_url", "")).rstrip("/")
    if "//github.com/" not in repository:
        return ""
    chapter = Chapter(Path(app.srcdir), pagename)
    fields = {
        "template": FORM,
        "title": f"{title}: ",
        "where": f"{title} ({page_url(app.config.html_baseurl, pagename)})",
        "run": _run(chapter, app.config.html_title),
    }
    return f"{repository}/issues/new?{urlencode(fields)}"


def _run(chapter: Chapter, book: str) -> str:
    """The book's version, and of a chapter what its outputs were made on, with the key of the run."""
    record = run_metadata(chapter) if chapter.runs else {}
    edition = f"{book} {__version__}"
    if not record:
        return edition
    commit = f", commit {record['commit']}" if record.get("commit") else ""
    return f"{edition}{commit}; {versions(record)}; run key {record['key'][:12]}"


# On the page.

_DOWNLOADS = "download-buttons"  # the theme's name of a group
_COPY = {
    "type": "javascript",
    "javascript": "",  # share.js listens
    "tooltip": "Copy this page as Markdown",
    "icon": "fas fa-copy",
    "label": "copy-page-button",
    "classes": "pst-navbar-icon pst-js-only",
}


def _buttons(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Among the theme's buttons one that copies the page; the download of its source becomes that of its twin."""
    twin, groups = context["share"]["twin"], context.get("header_buttons", [])
    labels = [group.get("label") for group in groups]
    if not twin or _DOWNLOADS not in labels:
        return
    groups.insert(labels.index(_DOWNLOADS), dict(_COPY))
    for button in (button for group in groups for button in group.get("buttons", [])):
        if button.get("label") == "download-source-button":
            button |= {"url": twin, "text": ".md", "tooltip": "Download this page as Markdown"}


def _foot(app: Sphinx, config: Config) -> None:
    config.html_theme_options.setdefault("article_footer_items", ["report.html"])


def setup(app: Sphinx) -> None:
    app.connect("config-inited", _foot)
    app.connect("html-page-context", _head, priority=400)  # before the theme looks which of its parts are empty
    app.connect("html-page-context", _buttons, priority=900)  # after the theme, as in launch
    app.connect("build-finished", _front, priority=610)
    app.add_js_file("share.js", defer="defer")
