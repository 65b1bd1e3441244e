"""`{deck}`: the review deck, in which predictions, quizzes and hunts of the book come again at growing intervals.

Its cards are cut out of the built pages, so that the deck holds nothing that no page shows. Like the texts of the
search they come as scripts, a page's own when one of its cards is due, since a page opened as a file may load scripts
and nothing else. `web/review.js` asks and schedules.
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import re
from collections.abc import Iterator
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from torchbook_press.site.activities import html
from torchbook_press.site.pages import pages_of
from torchbook_press.site.search import text_name

FOLDER = "_static/deck"
_FIELDSET = r"(<fieldset\b(?:(?!</fieldset>).)*</fieldset>)"
_PROGRAM = r'(<div class="highlight-python3[^"]*"><div class="highlight"><pre>(?:(?!</pre>).)*</pre></div>\s*</div>)\s*'
_TASK = r'(<p class="hunt-task">(?:(?!</p>).)*</p>\s*)'
_HUNT = re.compile(rf'{_TASK}{_PROGRAM}<div class="prediction hunt[^"]*">\s*{_FIELDSET}', re.DOTALL)
_PREDICTION = re.compile(rf'<div class="prediction(?: docutils| container)*">\s*{_FIELDSET}', re.DOTALL)
_QUESTION = re.compile(r'(<fieldset id="[^"]*" data-question="(?:(?!</fieldset>).)*</fieldset>)', re.DOTALL)
_LEGEND = re.compile(r"<legend>(.*?)</legend>", re.DOTALL)
_EXERCISE = re.compile(r'href="[^"]*#(ex-[a-z0-9]+-x\d+)"')
_ID = re.compile(r' (?:id|aria-describedby)="[^"]*"')
_ADDRESS = re.compile(r'(?<= )(href|src)="(?![a-z]+:|/)([^"#]*)(#[^"]*)?"')
_TITLE = re.compile(r'<h1>((?:(?!</h1>).)*)<a class="headerlink"', re.DOTALL)
_TAG = re.compile(r"<[^>]+>")


class Card(NamedTuple):
    """One card: what names it in the reader's memory, what it is, its HTML, and the exercise that it would spoil."""

    name: str
    kind: str
    html: str
    spoils: str = ""


def words(fragment: str) -> str:
    """The text of some HTML, in one line."""
    return " ".join(unescape(_TAG.sub(" ", fragment)).split())


def cards_in(page: str) -> list[Card]:
    """The cards of a page's text, with addresses as they are there; a question that comes twice is one card."""
    article = page[page.find("<article") :].partition("</article>")[0]
    cards = [
        *(_card("prediction", match[1]) for match in _PREDICTION.finditer(article)),
        *(_card("question", match[1]) for match in _QUESTION.finditer(article)),
        *(_hunt(match) for match in _HUNT.finditer(article)),
    ]
    told = (card for card in cards if 'class="math' not in card.html)  # MathJax weighs more than the deck
    return list({card.name: card for card in told}.values())


def _card(kind: str, fieldset: str) -> Card:
    legend = _LEGEND.search(fieldset)
    asked = words(legend[1]) if legend else ""
    digest = hashlib.sha256(f"{kind} {asked}".encode()).hexdigest()[:12]
    return Card(digest, kind, _ID.sub("", fieldset))


def _hunt(match: re.Match[str]) -> Card:
    card = _card("hunt", match[3])
    exercise = _EXERCISE.search(match[3])
    return card._replace(html=_ID.sub("", match[1] + match[2]) + card.html, spoils=exercise[1] if exercise else "")


def from_root(page: str, fragment: str) -> str:
    """HTML of a page whose addresses are told from the root of the site instead."""

    def told(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), match[2])) if match[2] else page
        return f'{match[1]}="{path}{match[3] or ""}" data-from-root'

    return _ADDRESS.sub(told, fragment)


def _titled(page: str) -> str:
    title = _TITLE.search(page)
    return words(title[1]) if title else ""


def scripts(pages: dict[str, tuple[str, list[Card]]]) -> Iterator[tuple[str, str]]:
    """The scripts of the deck, by name: that of the pages, and one for each page with its cards.

    Args:
        pages: title and cards of each page, by its path in the site.
    """
    listed = [[page.removesuffix(".html"), title, len(cards)] for page, (title, cards) in pages.items()]
    yield "pages.js", f"const bookDeck = {_json(listed)}, bookCards = {{}};\n"
    for page, (_, cards) in pages.items():
        name = page.removesuffix(".html")
        told = [[card.name, card.kind, from_root(page, card.html), card.spoils] for card in cards]
        yield text_name(name), f"bookCards[{_json(name)}] = {_json(told)};\n"


_json = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))


def _write(app: Sphinx, exception: Exception | None) -> None:
    """Lay the deck into the built site."""
    if exception or app.builder.format != "html":
        return
    built = pages_of(app)
    cards, titles = built.each(cards_in), built.each(_titled)
    names = [f"{name}.html" for name in _in_order(app) if cards.get(f"{name}.html")]
    folder = Path(app.outdir) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    made = dict(scripts({name: (titles[name], cards[name]) for name in names}))
    for name, script in made.items():
        (folder / name).write_text(script, encoding="utf-8")
    for path in folder.iterdir():
        if path.name not in made:
            path.unlink()


def _in_order(app: Sphinx) -> list[str]:
    """The pages as a reader turns them."""
    followed = app.env.collect_relations()
    return [name for name in followed if name in app.env.found_docs]


class Deck(SphinxDirective):
    """Where the deck is laid out."""

    def run(self) -> list[nodes.Node]:
        return [
            html(
                '<div class="deck"><noscript><p>The deck needs JavaScript; predictions, quizzes and hunts stand on '
                "their pages all the same.</p></noscript></div>"
            )
        ]


def _load(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """The page of the deck, and no other, loads what it needs."""
    if 'class="deck"' in context.get("body", ""):
        app.add_js_file("deck/pages.js", defer="defer")
        app.add_js_file("review.js", defer="defer")


def setup(app: Sphinx) -> None:
    app.add_directive("deck", Deck)
    app.connect("html-page-context", _load, priority=900)
    app.connect("build-finished", _write, priority=550)
