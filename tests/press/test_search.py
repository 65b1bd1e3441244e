"""What the search knows of a page: its places and their words, and nothing that a search must not tell."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from tests.press.conftest import Book, small_book, write_exercises
from torchbook.practice import shelf
from torchbook_press.build import html
from torchbook_press.site.search import KINDS, Place, index_of, places_of, words, write_texts

PAGE = """<nav>elsewhere</nav><article>
<section id="top"><h1>Title<a class="headerlink">#</a></h1><p>Intro <em>text</em>.</p>
<section id="one"><h2>First</h2><p>Alpha</p><p>beta</p><pre><span>torch</span>.<span>compile</span></pre>
<details class="hide"><summary>Show</summary><pre>gamma</pre></details>
<script>delta</script><span class="math">\\(epsilon\\)</span></section>
<section class="exercise" id="ex-a-x1"><h3>Exercise 1</h3><p>Do it.</p>
<details class="fold" id="ex-a-x1-hint-1"><summary>Hint: It fails</summary><p>Zeta.</p></details>
<details class="fold" id="ex-a-x1-solution"><summary>Solution</summary><pre>eta</pre></details>
<div class="quiz"><fieldset id="ex-a-x1-question-q"><legend>Why?</legend><label><input><span>Theta</span></label>
<details><summary>Answer</summary><p>Iota</p></details></fieldset></div></section>
<fieldset class="predict" id="predict-0"><legend>What?</legend><p>Kappa</p>
<details id="predict-0-answer"><summary>Answer</summary><p>Lambda</p></details></fieldset>
<dl><dt id="term-mu">mu</dt><dt id="term-nu">nu</dt><dd>Both.</dd><dt id="term-xi">xi</dt><dd>Another.</dd></dl>
</section></article><footer>omega</footer>"""


@pytest.fixture(scope="module")
def places() -> dict[str, Place]:
    return {place.anchor: place for place in places_of(PAGE)}


def test_every_place_has_a_kind_and_is_in_another(places: dict[str, Place]) -> None:
    entries = list(places.values())
    around = {place.anchor: entries[place.inside].anchor if place.inside >= 0 else "" for place in entries}
    assert [(place.kind, place.anchor, around[place.anchor]) for place in entries] == [
        ("section", "top", ""),
        ("section", "one", "top"),
        ("exercise", "ex-a-x1", "top"),
        ("hint", "ex-a-x1-hint-1", "ex-a-x1"),
        ("question", "ex-a-x1-question-q", "ex-a-x1"),
        ("prediction", "predict-0", "top"),
        ("answer", "predict-0-answer", "predict-0"),
        ("term", "term-mu", "top"),
        ("term", "term-xi", "top"),
    ]


@pytest.mark.parametrize(
    ("anchor", "title", "text"),
    [
        ("top", "Title", "Intro text."),
        ("one", "First", "Alpha beta torch.compile Show gamma"),
        ("ex-a-x1-hint-1", "Hint: It fails", "Zeta."),
        ("ex-a-x1-question-q", "Why?", "Theta"),
        ("predict-0", "What?", "Kappa"),
        ("predict-0-answer", "Answer", "Lambda"),
        ("term-mu", "mu, nu", "Both."),
    ],
)
def test_a_place_has_its_own_words(places: dict[str, Place], anchor: str, title: str, text: str) -> None:
    assert (places[anchor].title, places[anchor].text) == (title, text)


@pytest.mark.parametrize("secret", ["eta", "Iota", "delta", "epsilon", "elsewhere", "omega"])
def test_solutions_answers_of_quizzes_and_scripts_are_in_no_place(places: dict[str, Place], secret: str) -> None:
    assert not [place for place in places.values() if secret in f"{place.title} {place.text}".split()]


@pytest.mark.parametrize(
    ("text", "stems"),
    [
        ("The gradients of memories", ["gradient", "memori"]),
        ("torch.compile(f, 12)", ["torch.compile", "torch", "compil"]),
        ("a.b.views", ["view"]),
        ("all_gather", ["all_gather", "gather"]),
        ("optimizer.zero_grad()", ["zero_grad", "optim", "zero", "grad"]),
        ("torch.nn.utils.clip_grad_norm_", ["clip_grad_norm_", "torch", "nn", "util", "clip", "grad", "norm"]),
        ("CrossEntropyLoss", ["crossentropyloss", "cross", "entropi", "loss"]),
        ("nn.BatchNorm2d", ["batchnorm2d", "nn", "batch", "norm2d"]),
        ("__init__", ["init"]),
        ("bf16 and 1F1B, 42", ["bf16", "1f1b"]),
        ("all-reduce", ["reduc"]),
    ],
)
def test_words_are_stems_and_names(text: str, stems: list[str]) -> None:
    assert list(words(text)) == stems


def test_the_index_says_where_words_are_and_how_often() -> None:
    pages = {
        "a": [Place("x", "X", "section", -1, "view"), Place("y", "Y", "hint", 0, "view view view stride")],
        "b": [Place("z", "Z", "term", -1, "stride")],
    }
    index = index_of(pages)
    assert index["pages"] == [["a", 2], ["b", 1]]
    assert index["places"] == [
        *(["x", "X", KINDS.index("section"), 0], ["y", "Y", KINDS.index("hint"), 1]),
        ["z", "Z", KINDS.index("term"), 0],
    ]
    assert index["lengths"] == [[0, 1], [0, 2], [0, 1]]  # single letters are no words
    assert index["words"] == {"stride": [[], [8, 4]], "view": [[], [4, 6]]}


def test_a_title_is_indexed_once_and_not_again_for_what_is_in_its_place() -> None:
    page = [Place("x", "Strides", "section", -1, ""), Place("y", "Views", "hint", 0, "")]
    assert index_of({"a": page})["words"] == {"stride": [[4], []], "view": [[8], []]}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, repo: Path) -> Book:
    root = tmp_path_factory.mktemp("search")
    write_exercises(root / "own")
    book = small_book(root, repo)
    book.page("page", "# Page\n\n:::{exercise} t01-x1\n:::\n\n:::{exercise} t01-x2\n:::\n")
    book.page("gone", "# Gone\n\nA walrus.\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(shelf.ROOTS, str(root / "own"))
        assert html(book.root) == 0
    return book


def _site(book: Book) -> Path:
    return book.root / "_build" / "html"


def test_hints_are_in_the_index_and_solutions_are_not(built: Book) -> None:
    index = (_site(built) / "searchindex.js").read_text(encoding="utf-8")
    assert '"ex-t01-x1-hint-1"' in index
    assert '"noth"' not in index  # of the hint: a word that is everywhere
    assert '"without"' in index
    assert "ex-t01-x1-solution" not in index
    assert '"integ"' not in index  # of the quiz's answer


def test_texts_of_hints_are_no_excerpts(built: Book) -> None:
    name, _, json_text = (_site(built) / "_static/search/book.page.js").read_text(encoding="utf-8").partition(" = ")
    assert name == 'bookTexts["book/page"]'
    texts = json.loads(json_text.rstrip(";\n"))
    assert any("Use plain Python." in text for text in texts)
    assert not [text for text in texts if "without return" in text]


def test_nothing_of_sphinx_search_is_left(built: Book) -> None:
    left = {path.name for path in (_site(built) / "_static").iterdir()}
    assert not left & {"searchtools.js", "language_data.js", "sphinx_highlight.js"}
    assert "searchtools.js" not in (_site(built) / "search.html").read_text(encoding="utf-8")


def test_scripts_that_changed_are_fetched_again(built: Book) -> None:
    html = (_site(built) / "search.html").read_text(encoding="utf-8")
    asked = dict(re.findall(r'src="((?:_static/)?(?:minisearch|searchindex|search)\.js)\?v=(\w{8})"', html))
    assert set(asked) == {"_static/minisearch.js", "searchindex.js", "_static/search.js"}
    for name, version in asked.items():
        assert hashlib.sha256((_site(built) / name).read_bytes()).hexdigest().startswith(version)


def test_the_edition_of_the_texts_follows_from_them(tmp_path: Path) -> None:
    editions = {
        write_texts(tmp_path, {"page": [Place("a", "A", "section", -1, text)]}) for text in ("fox", "owl", "fox")
    }
    assert len(editions) == 2
