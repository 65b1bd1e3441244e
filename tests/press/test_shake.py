"""Assertions are tried on other values: which of them nothing can break is found, and held to a baseline."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from torchbook_press.chapters import Chapter
from torchbook_press.claims import instrument, shake
from torchbook_press.claims.shake import Entry, Place, Shaken
from torchbook_press.run import Options

from .conftest import Book, cell, small_book

# Cells and, of each, its comparisons that nothing breaks, its wide bounds, and the names whose change is not noticed.
CELLS: dict[str, tuple[str, list[str], list[str], list[str]]] = {
    "equal": ("a = 2\nassert a == 2", [], [], []),
    "loose": ("b = 0.1\nassert b < 100", ["b < 100"], [], ["b"]),
    "wide": ("c = 8.0\nassert c > 1.2", [], ["c > 1.2"], ["c"]),
    "tolerance": ("assert abs(len('abc') / 3 - 1) < 1e-6", [], [], []),
    "chain": ("d = 5\nassert 0 < d < 1000", ["d < 1000"], ["0 < d"], ["d"]),
    "each comparison": ("e = 3\nassert e == 3 and e < 90", ["e < 90"], [], []),
    "either": ("f = 3\nassert f == 3 or f < 90", ["f == 3", "f < 90"], [], ["f"]),
    "negative": ("g = [1]\nassert g != [2] and not (g == [3]) and 7 not in g", [], [], []),
    "identity": ("h = None\nassert h is None", [], [], []),
    "one object": ("jj = iter([1])\nassert iter(jj) is jj and iter([1]) is not jj", [], [], []),
    "loop": ("for i in []:\n    assert i == 3", ["i == 3"], [], []),
    "generator": ("j = [1, 2]\nassert all(0 < k for k in j)", [], [], ["j"]),
    "some of several": ("assert any(ff == 1 for ff in [1, 1, 2])", [], [], []),
    "empty generator": ("assert all(x == 1 for x in iter([]))", ["x == 1"], [], []),
    "used up": ("m = iter([1, 2])\nassert all(n in (1, 2) for n in m)", [], [], []),
    "computed once": ("o = []\nassert len(o) == 0 and o.append(1) is None and len(o) == 1", [], [], []),
    "text": ("p = 'word'\nassert 'or' in p and p.startswith('w')", [], [], ["p"]),
    "one of a set": ("gg = {'a', 'b', 'c'}\nassert 'a' in gg and {'a'} <= gg", [], [], ["gg"]),
    "one of a dictionary": ("hh = {'a': 1, 'b': 2}\nassert 'a' in hh", [], [], ["hh"]),
    "a type": ("import torch\nii = torch.ones(2)\nassert isinstance(ii, torch.Tensor)", [], [], ["ii"]),
    "another type": ("kk = 1\nassert not isinstance(kk, str)", ["isinstance(kk, str)"], [], ["kk"]),
    "holds for any": ("q = 3\nassert (q + 1) ** 2 == q * q + 2 * q + 1", [], [], ["q"]),
    "through a function": ("def s(): return r\nr = 3\nassert s() == 3", [], [], []),
    "leftover": ("for t in range(3): pass\nu = 1\nassert u == 1", [], [], []),
    "tensors": ("import torch\nw = torch.ones(3)\nassert torch.allclose(w + 0, torch.ones(3))", [], [], []),
    "any tensor": ("y = torch.ones(3)\nassert torch.allclose(y, torch.ones(3), atol=9)", ["…"], [], ["y"]),
    "starred": ("pair = [torch.ones(2)] * 2\nassert torch.allclose(*pair)", [], [], []),
    "a number's shape": ("ll = torch.tensor(1.0)\nassert ll.shape == ()", [], [], ["ll"]),
    "not a number": ("ee = torch.tensor([torch.nan, torch.nan])\nassert ee.isnan().all()", [], [], []),
    "backward": (
        "z = torch.ones(2, requires_grad=True)\n(z * z).sum().backward()\nassert z.grad.tolist() == [2, 2]",
        [],
        [],
        [],
    ),
    "shell": ("lines = !echo one\nassert lines == ['one']", [], [], []),
    "walrus": ("assert (aa := 3) == 3\nassert aa == 3", [], [], []),
    "seed": (
        "import random\ncc = 0\nrandom.seed(cc)\ndd = random.random() < 2\nassert dd is True",
        [],
        [],
        [],  # `cc` reaches none by `random`
    ),
    "files": (
        "from pathlib import Path\nbb = 'x'\nPath('new').mkdir()\nPath('new', bb).touch()\n"
        "assert [path.name for path in Path('new').iterdir()] == ['x']",
        [],
        [],
        [],
    ),
    "small sizes": ("assert FAST is True and DEVICE == 'cpu'", [], [], []),
    "held": (
        "from torchbook import holds\nholds('first', 0.5, '<', 100)\nholds('second', 2, '==', 2)\n"
        "holds('third', 2.0, '~', 2, within=0.1, unit='s')\nholds('fourth', lambda: 0.3, '<', 100)",
        ["holds('first', 0.5, '<', 100)", "holds('fourth', lambda: 0.3, '<', 100)"],
        [],
        [],
    ),
}
_RAISES = "assert 1 == 2"


@pytest.fixture(scope="module")
def chapter(tmp_path_factory: pytest.TempPathFactory, repo: Path) -> Chapter:
    book = small_book(tmp_path_factory.mktemp("shaken"), repo)
    parts = [cell(code) for code, *_ in CELLS.values()]
    book.chapter("one", *parts, cell(_RAISES, raises="AssertionError"), cell("assert 3 == 4"), minutes=2, memory_gb=4)
    return Chapter(book.root, "book/one")


@pytest.fixture(scope="module")
def shaken(chapter: Chapter) -> Shaken:
    return shake.shake(chapter, Options(fast=True))


def of(places: list[Place], chapter: Chapter, name: str) -> Iterator[Place]:
    """Those that stand in a cell."""
    number = list(CELLS).index(name) + 1
    first = chapter.line_of(number)
    return (place for place in places if first <= place.line < chapter.line_of(number + 1))


@pytest.mark.parametrize("name", CELLS)
def test_what_nothing_breaks_is_found(shaken: Shaken, chapter: Chapter, name: str) -> None:
    _, unbroken, wide, unnoticed = CELLS[name]
    expected = [text if text != "…" else "torch.allclose(y, torch.ones(3), atol=9)" for text in unbroken]
    assert [place.text for place in of(shaken.unbroken, chapter, name)] == expected
    assert [place.text for place in of(shaken.wide, chapter, name)] == wide
    assert [place.text for place in of(shaken.unnoticed, chapter, name)] == unnoticed
    assert [*of(shaken.unforked, chapter, name)] == []


def test_a_comparison_is_named_with_its_line(shaken: Shaken, chapter: Chapter) -> None:
    (place,) = of(shaken.unbroken, chapter, "loose")
    assert chapter.text.splitlines()[place.line - 1] == "assert b < 100"


def test_the_books_baseline_can_be_read(repo: Path) -> None:
    assert all(entry.why for entry in shake.load(repo))


def test_a_baseline_that_is_no_yaml_is_refused_at_its_line(tmp_path: Path) -> None:
    (tmp_path / shake.FILE).parent.mkdir(parents=True)
    (tmp_path / shake.FILE).write_text("book/a:\n- assertion: holds(lambda: 1)\n  why: a time\n", encoding="utf-8")
    with pytest.raises(shake.ShakeError, match=f"^{shake.FILE}:2: mapping values are not allowed here"):
        shake.load(tmp_path)


def test_a_cell_that_fails_unchanged_is_a_problem_unless_it_says_so(shaken: Shaken) -> None:
    assert [place.text for place in shaken.problems] == ["AssertionError: "]


def test_names_that_no_assertion_could_notice_are_told_apart() -> None:
    code = "for a in range(3): pass\nb = 1\nc = 2\nprint(c)\nd = 3\ne = d + 1\nf = 1\nassert f == 1"
    tree = ast.parse(code)
    whys = {name: instrument.why_unread(tree, name) for name in "abcd"}
    assert whys == {
        "a": "left over from a loop",
        "b": "read by later cells alone",
        "c": "shown alone",
        "d": "read by no assertion",
    }
    assert [instrument.depending(tree, name) for name in "df"] == [set(), {0}]


PAGE, FOUND = "book/one", Place("book/one", 7, "b < 100")


def test_a_new_one_fails_with_its_remedy() -> None:
    (problem,) = shake.problems([], [Shaken(PAGE, unbroken=[FOUND])])
    assert problem.startswith("book/one.md:7: b < 100: ")
    assert shake.FILE in problem


def test_one_with_a_reason_stays() -> None:
    assert [*shake.problems([Entry(PAGE, FOUND.text, "a limit")], [Shaken(PAGE, unbroken=[FOUND])])] == []


def test_a_reason_must_be_given() -> None:
    (problem,) = shake.problems([Entry(PAGE, FOUND.text, " ")], [Shaken(PAGE, unbroken=[FOUND])])
    assert "say why" in problem


def test_one_that_is_mended_leaves_the_baseline_but_not_that_of_pages_that_did_not_run() -> None:
    entries = [Entry(PAGE, FOUND.text, "a limit"), Entry("book/two", "c < 1", "a limit")]
    assert shake.broken(entries, [Shaken(PAGE)]) == entries[:1]
    assert shake.broken(entries, [Shaken(PAGE, problems=[FOUND])]) == []


def test_the_command_holds_pages_to_the_baseline_and_only_shrinks_it(book: Book) -> None:
    book.chapter("one", cell("b = 0.1\nassert b < 100"), cell("a = 1\nassert a == 1"))
    first = book.torchbook("claims", "--shake", "--check")
    assert first.exit_code == 1
    assert "book/one.md:24: b < 100" in first.stderr
    entries = [Entry(PAGE, "b < 100", "a limit"), Entry(PAGE, "a == 1", "none")]
    shake.save(book.root, entries)
    second = book.torchbook("claims", "--shake", "--update")
    assert (second.exit_code, shake.load(book.root)) == (0, entries[:1])
