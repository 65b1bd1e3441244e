"""The book's search: an index of its places, in place of Sphinx's, which knows pages only and none of what is folded.

A place is what a result leads to: a section, an exercise, a hint, a question, a prediction, its answer, a term. It is
read from the built page, so that the index can hold nothing that no page shows. Solutions of exercises and answers of
quizzes are left out: a search is no way to come upon them. `searchindex.js` says which word is in which place;
`search.js` gives it to the library MiniSearch, and asks that. The text of a page, for excerpts, comes as a script of
its own where a result needs it, since a page opened as a file may load scripts and nothing else.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.search.en import SearchEnglish

from torchbook_press.site.pages import pages_of

INDEX, TEXTS = "searchindex.js", "_static/search"
KINDS = ("section", "exercise", "question", "hint", "prediction", "answer", "term")
# What is folded gives no excerpt: that a hint answers is enough to open it.
_TOLD = ("section", "exercise", "question", "prediction", "term")
# What is indexed of a place. Of the titles of the places that it is in, which are searched too, search.js finds the
# words by these. As STORED in search.js.
FIELDS = ("title", "text")
_OFTEN = 4  # no more counts
_TITLE = 140  # characters

_ENGLISH = SearchEnglish({})
# A name with its dots; a word with digits in it. Numbers alone are no words. As WORD and BETWEEN in search.js.
_WORD = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*|\d+[^\W\d]\w*")
_BETWEEN = re.compile(r"[._]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# Of names with dots only these are words as a whole, unless they end with a name that has parts (torch.no_grad), which
# is a word itself; of others the parts are.
_LIBRARIES = frozenset({"dist", "f", "nn", "np", "optim", "tl", "torch", "triton"})
# Beside Sphinx's: small words of prose, and Python's keywords, which stand in every cell.
_STOP = """
about all also an any been before because both can could do does each every from had has have here how its it may more
most no not nothing only our out other same should so some than them us versus vs we what when where which who why would
you your one two i
assert def elif else false if import none print return self true
"""
STOPWORDS = frozenset({*_ENGLISH.stopwords, *_STOP.split()})


# Places of a page.


@dataclass
class Place:
    """One place of a page: where a link finds it, what it is called, what it is, in which other place, what it says."""

    anchor: str
    title: str
    kind: str
    inside: int
    text: str


@dataclass
class _Open:
    """An element that is not closed yet: the place that it begins, and what becomes of the text in it."""

    tag: str
    classes: frozenset[str]
    place: int | None = None
    silent: bool = False
    title: bool = False


_VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
_TITLES = {"h1", "h2", "h3", "h4", "h5", "h6", "legend", "summary", "dt"}
_INLINE = {"a", "abbr", "b", "code", "em", "i", "kbd", "mark", "q", "s", "small", "span", "strong", "sub", "sup", "u"}
_SILENT = {"script", "style", "svg", "button", "option", "nav"}
# What is no text of the page's own, or stands in every place of its kind; tables of numbers.
_SILENT_CLASSES = {
    *("headerlink", "viz-words", "math", "not-sure", "lane-name", "text_html"),
    *("exercise-facts", "exercise-check", "chapter-facts", "provenance"),
    "hunts",  # programs that are nearly solutions
}


class _Reader(HTMLParser):
    """Collects the places of a page as it is parsed."""

    def __init__(self) -> None:
        super().__init__()
        self.places: list[Place] = []
        self._open: list[_Open] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._part(tag)
        if tag in _VOID:
            return
        attributes = dict(attrs)
        element = _Open(tag, frozenset((attributes.get("class") or "").split()))
        anchor = attributes.get("id") or ""
        element.silent = tag in _SILENT or bool(element.classes & _SILENT_CLASSES) or self._is_answer(element, anchor)
        kind = "" if element.silent or not anchor else self._kind(element, anchor)
        if kind == "term":
            self._term(anchor)
        elif kind:
            element.place = self._begin(anchor, kind)
        element.title = tag in _TITLES and (tag != "summary" or self._open[-1].place is not None)
        self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        self._part(tag)
        for index in range(len(self._open) - 1, -1, -1):
            if self._open[index].tag == tag:
                del self._open[index:]
                return

    def handle_data(self, data: str) -> None:
        index = self._here()
        if index is None or any(element.silent for element in self._open):
            return
        place = self.places[index]
        if any(element.title for element in self._open):
            place.title += data
        else:
            place.text += data

    def _part(self, tag: str) -> None:
        """Words of neighbouring blocks are not one word."""
        if tag not in _INLINE:
            self.handle_data(" ")

    def _is_answer(self, element: _Open, anchor: str) -> bool:
        """Whether this is a solution, or the folded answer of a quiz."""
        if element.tag != "details":
            return False
        return anchor.endswith("-solution") or any("quiz" in around.classes for around in self._open)

    def _kind(self, element: _Open, anchor: str) -> str:
        if element.tag == "section":
            return "exercise" if "exercise" in element.classes else "section"
        if element.tag == "details":
            return "hint" if "fold" in element.classes else "answer" if anchor.endswith("-answer") else ""
        if element.tag == "fieldset":
            return "prediction" if "predict" in element.classes else "question"
        return "term" if element.tag == "dt" and anchor.startswith("term-") else ""

    def _begin(self, anchor: str, kind: str) -> int:
        inside = self._here()
        self.places.append(Place(anchor, "", kind, -1 if inside is None else inside, ""))
        return len(self.places) - 1

    def _term(self, anchor: str) -> None:
        """Begin a place that lasts to the next term; terms that share a meaning are one."""
        glossary = self._open[-1]
        last = glossary.place
        if last is not None and not self.places[last].text.strip():
            self.places[last].title += ", "
            return
        glossary.place = None
        glossary.place = self._begin(anchor, "term")

    def _here(self) -> int | None:
        return next((element.place for element in reversed(self._open) if element.place is not None), None)


def places_of(html: str) -> list[Place]:
    """The places of a page's article, in its order, with their text in one line."""
    reader = _Reader()
    reader.feed(html[html.find("<article") :].partition("</article>")[0])
    for place in reader.places:
        place.title, place.text = _shortened(_one_line(place.title)), _one_line(place.text)
    return reader.places


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace(" ,", ",")


def _shortened(title: str) -> str:
    return title if len(title) <= _TITLE else title[:_TITLE].rpartition(" ")[0] + " …"


# The index.


@cache
def _stem(word: str) -> str:
    return _ENGLISH.stem(word)


def words(text: str) -> Iterator[str]:
    """The words of a text as they are indexed: in lower case, stemmed; of a name the whole and its parts."""
    for token in _WORD.findall(text):
        parts = [part.lower() for part in _BETWEEN.split(token) if part]
        yield from _wholes(token)
        yield from (_stem(part) for part in parts if len(part) > 1 and part not in STOPWORDS)


def _wholes(token: str) -> Iterator[str]:
    """What of a name is a word as it stands: zero_grad of optimizer.zero_grad, torch.compile."""
    library, *rest = token.split(".")
    last = rest[-1] if rest else library
    if len([part for part in _BETWEEN.split(last) if part]) > 1:
        yield last.lower()
    elif rest and library.lower() in _LIBRARIES:
        yield token.lower()


Counts = tuple[Counter[str], ...]


def counts_of(page: list[Place]) -> list[Counts]:
    """How often each of its words is in each of the `FIELDS` of a place, for the places of a page."""
    return [tuple(Counter(words(text)) for text in (place.title, place.text)) for place in page]


def _indexed(html: str) -> tuple[list[Place], list[Counts]]:
    """The places of a page, and the counts of their words."""
    page = places_of(html)
    return page, counts_of(page)


def index_of(pages: Mapping[str, list[Place]], counts: Mapping[str, list[Counts]] | None = None) -> dict[str, Any]:
    """The index of a book, page by page.

    `pages` are [page, how many places]; `places` [anchor, title, kind's number, how many places before is the one that
    it is in, or 0]; `lengths` how many words each of a place's `FIELDS` has; `words` has for each word and each of the
    `FIELDS` the places, as steps from one to the next: four times the step, and how often less one.

    Args:
        pages: the places of each page.
        counts: what `counts_of` says of each page, where that is known.
    """
    postings: dict[str, list[list[tuple[int, int]]]] = defaultdict(lambda: [[] for _ in FIELDS])
    places: list[list[object]] = []
    lengths = []
    for name, page in pages.items():
        fields_of = counts[name] if counts else counts_of(page)
        for number, (place, fields) in enumerate(zip(page, fields_of, strict=True)):
            for field, counter in enumerate(fields):
                for word, count in counter.items():
                    postings[word][field].append((len(places), count))
            distance = 0 if place.inside < 0 else number - place.inside
            places.append([place.anchor, place.title, KINDS.index(place.kind), distance])
            lengths.append([len(counter) for counter in fields])
    return {
        "kinds": KINDS,
        "stop": sorted(STOPWORDS),
        "pages": [[name, len(page)] for name, page in pages.items()],
        "places": places,
        "lengths": lengths,
        "words": {word: [_steps(entries) for entries in fields] for word, fields in sorted(postings.items())},
    }


def _steps(entries: Iterable[tuple[int, int]]) -> list[int]:
    steps, last = [], -1
    for place, count in entries:
        steps.append(4 * (place - last) + min(count, _OFTEN) - 1)
        last = place
    return steps


def text_name(page: str) -> str:
    """The script with a page's text, below `TEXTS`."""
    return page.replace("/", ".") + ".js"


# In the build.


def _write(app: Sphinx, exception: Exception | None) -> None:
    """Lay the index and the pages' texts into the built site."""
    if exception or app.builder.format != "html":
        return
    out = Path(app.outdir)
    built = pages_of(app)
    indexed = built.each(_indexed)
    names = [name for name in sorted(app.env.found_docs) if f"{name}.html" in indexed]
    pages = {name: indexed[f"{name}.html"][0] for name in names}
    edition = write_texts(out / TEXTS, pages)
    index = index_of(pages, {name: indexed[f"{name}.html"][1] for name in names})
    text = json.dumps({"edition": edition, **index}, separators=(",", ":"), ensure_ascii=False)
    (out / INDEX).write_text(f"{_ENGLISH.js_stemmer_code}\nconst bookIndex = {text};\n", encoding="utf-8")


def write_texts(folder: Path, pages: Mapping[str, list[Place]]) -> str:
    """Lay the pages' texts into the folder, and nothing else; a hash of them all."""
    folder.mkdir(parents=True, exist_ok=True)
    scripts = {}
    for docname, places in pages.items():
        texts = json.dumps([entry.text if entry.kind in _TOLD else "" for entry in places], ensure_ascii=False)
        scripts[text_name(docname)] = f"bookTexts[{json.dumps(docname)}] = {texts};\n"
    for name, script in scripts.items():
        (folder / name).write_text(script, encoding="utf-8")
    for path in folder.iterdir():
        if path.name not in scripts:
            path.unlink()
    return _hash("".join(scripts.values()).encode())


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:8]


def _replace_sphinx(app: Sphinx) -> None:
    """Sphinx makes neither its index nor its page of results."""
    if app.builder.format == "html":
        vars(app.builder)["search"] = False


def _page(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    yield "search", {}, "search.html"


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", _replace_sphinx)
    app.connect("html-collect-pages", _page)
    app.connect("build-finished", _write, priority=550)
