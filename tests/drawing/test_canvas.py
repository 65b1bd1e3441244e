"""Drawings: themes, words, type on a phone, and the same bytes each time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch
from playwright.sync_api import Browser

from tests.figures.test_figures import contrast
from torchbook.drawing import ROLES, WIDTH, Box, Drawing, Part, networks, recipes

PHONE = 328  # pixels of a column on a screen of 360
SVG = "{http://www.w3.org/2000/svg}"


def sample() -> Drawing:
    """Everything that a drawing can have."""
    drawing = Drawing("All <shapes>", "A box, an arrow & more.")
    boxes = drawing.stack(0, 0, ["read me", ("kept", "kept")], w=120, gap=24, arrows=True)
    drawing.arrow(boxes[0], boxes[1], via=[(140, boxes[0].right[1]), (140, boxes[1].right[1])], text="beside")
    drawing.grid(200, 0, [[1, 2], [3, 4]], lambda r, c: "read" if r == c else "absent")
    drawing.brace((200, 60), (260, 60), "two")
    drawing.brace((300, 0), (300, 50), "rows")
    drawing.circle(330, 100, 20, "o", "refused")
    drawing.text(0, 120, "code()", mono=True, bold=True)
    drawing.lanes(0, 140, {"rank 0": [Part(2, "load", "read"), Part(1, start=3)], "rank 1": [Part(4)]}, w=WIDTH - 6)
    drawing.legend(0, 220, {"read": "is read", "write": "is written", "kept": "stays", "absent": "is not there"})
    return drawing


def test_a_drawing_is_a_picture_with_words_as_well_formed_svg() -> None:
    svg = ElementTree.fromstring(sample().svg())
    assert svg.get("role") == "img"
    assert svg.get("aria-label") == "All <shapes>. A box, an arrow & more."
    assert [svg.findtext(f"{SVG}{name}") for name in ("title", "desc")] == ["All <shapes>", "A box, an arrow & more."]


@pytest.mark.parametrize(("title", "words"), [("", "words"), ("title", " ")])
def test_a_drawing_without_words_is_refused(title: str, words: str) -> None:
    with pytest.raises(ValueError, match="title, and words"):
        Drawing(title, words)


def test_the_same_drawing_is_the_same_bytes() -> None:
    assert sample().svg() == sample().svg()
    assert "id=" not in sample().svg()  # two drawings of a page would share it


def test_a_notebook_gets_html_and_words() -> None:
    bundle = sample()._repr_mimebundle_(include=None, exclude=None)
    assert bundle["text/plain"] == "All <shapes>. A box, an arrow & more."
    assert bundle["text/html"] == f'<div class="drawing">{sample().svg()}</div>'


def test_every_color_is_a_variable_of_the_theme_and_bears_both_grounds_without() -> None:
    style = Path("web/site.css").read_text(encoding="utf-8")
    for variable, color in ROLES.values():
        if variable:
            assert style.count(f"{variable}:") >= 2, "light and dark"
            assert min(contrast(color, ground) for ground in ("#ffffff", "#121212")) >= 3


def test_an_unknown_role_is_named() -> None:
    with pytest.raises(ValueError, match=r"'raed': read, write, kept, refused, absent"):
        Drawing("a", "b").box(0, 0, "x", "raed")


def test_a_drawing_wider_than_a_phone_is_refused() -> None:
    drawing = Drawing("Wide", "Too wide.")
    drawing.box(-10, 0, w=WIDTH)
    with pytest.raises(ValueError, match="'Wide' is 386 wide, and a phone shows 380"):
        drawing.svg()


def test_an_arrow_joins_the_sides_that_are_nearer() -> None:
    from torchbook.drawing.canvas import _ends

    one, below, beside = Box(0, 0, 10, 10), Box(50, 40, 10, 10), Box(50, 0, 10, 10)
    assert _ends(one, below, []) == ((5, 10), (55, 40))
    assert _ends(below, one, []) == ((55, 40), (5, 10))
    assert _ends(one, beside, []) == ((10, 5), (50, 5))
    assert _ends(beside, one, []) == ((50, 5), (10, 5))


def test_lanes_are_to_scale_and_leave_out_what_does_not_fit() -> None:
    drawing = Drawing("Lanes", "Two.")
    lanes = drawing.lanes(0, 0, {"a": [Part(3, "x"), Part(1, "far too long")], "b": [Part(1, start=2)]}, w=200)
    (first, second), (late,) = lanes["a"], lanes["b"]
    assert first.w == pytest.approx(3 * second.w)
    assert second.x == pytest.approx(first.x + first.w)
    assert late.x == pytest.approx(first.x + 2 * second.w)
    assert "far too long" not in drawing.svg()


def drawings() -> Iterator[Drawing]:
    yield sample()
    x = torch.arange(6.0).reshape(2, 3)
    yield recipes.storage({"x": x, "x.t()": x.t()}, place=4)
    w, v = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    yield networks.line_fits([(1.0, 5.0), (8.0, 19.0)], {"MSE": (3.0, 3.0), "L1": (2.0, 3.0)})  # capitals at the edge
    wide = Drawing("At the edge", "a text of wide letters")
    wide.text(0, 0, "sum(dim=1)")
    yield wide
    yield recipes.autograd(((w * v).exp() * v).sum(), {"w": w, "v": v})


def test_on_a_phone_type_is_legible_and_within_the_drawing(browser: Browser) -> None:
    page = browser.new_page(viewport={"width": 360, "height": 640})
    for drawing in drawings():
        page.set_content(f'<body style="margin:16px">{drawing._repr_mimebundle_()["text/html"]}')
        sizes, outside, scrolls = page.evaluate(
            """() => {
              const svg = document.querySelector("svg"), all = [...svg.querySelectorAll("text")];
              const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
              const {left, right, top, bottom} = svg.getBoundingClientRect();
              const over = (one) => { const r = one.getBoundingClientRect();
                return r.left < left - 1 || r.right > right + 1 || r.top < top - 2 || r.bottom > bottom + 2; };
              return [all.map((one) => parseFloat(getComputedStyle(one).fontSize) * scale),
                all.filter(over).map((one) => one.textContent),
                document.documentElement.scrollWidth > innerWidth];
            }"""
        )
        assert min(sizes) >= 12
        assert not outside
        assert not scrolls


def test_colors_follow_the_theme(browser: Browser) -> None:
    page = browser.new_page()
    page.set_content(f'<body style="--viz-1: rgb(1, 2, 3); color: rgb(4, 5, 6)">{sample().svg()}')
    assert page.evaluate("getComputedStyle(document.querySelector('g[style*=\"--viz-1\"]')).stroke") == "rgb(1, 2, 3)"
    assert page.evaluate("getComputedStyle(document.querySelector('text')).fill") == "rgb(4, 5, 6)"
    assert not re.search(r"(fill|stroke)=\"#", sample().svg())
