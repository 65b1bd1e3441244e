"""Plots of a page: drawings that are there without a script, and plotly in their place for who turns to them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.axe import violations
from tests.browser import Log, context, listen
from torchbook import figures
from torchbook_press import build
from torchbook_press.chapters import chapters
from torchbook_press.site.plots import drawn, number

from .conftest import as_if_it_ran, cell, small_book

PLOTLY = "vendor/plotly.min.js"
PLOT = ".viz-mount[data-kind=plotly]"
CURVES = figures.curves({"a < b": [0.5, 2, 8], "c": [1, 30, 900]}, log_y=True, ylabel="loss", title="Two")
CELLS = figures.confusion([[9, 1], [3, 7]], ["cat", "dog"], title="Four")


@pytest.fixture(scope="module")
def page_of_plots(tmp_path_factory: pytest.TempPathFactory, repo: Path) -> Path:
    book = small_book(tmp_path_factory.mktemp("plots"), repo)
    book.chapter("one", *[f"{'Text. ' * 80}\n" for _ in range(12)], cell("curves"), cell("cells"))
    (chapter,) = chapters(book.root)
    nb = nbformat.v4.new_notebook(cells=[])
    made = {"curves": CURVES, "cells": CELLS}
    for code in chapter.code_cells:
        plots = [made[code.source]] if code.source in made else []
        data = [{"application/vnd.plotly.v1+json": plot.to_plotly_json()} for plot in plots]
        outputs = [nbformat.v4.new_output("display_data", data=one) for one in data]
        nb.cells.append(nbformat.v4.new_code_cell(code.source, metadata=code.metadata, outputs=outputs))
    as_if_it_ran(chapter, nb)
    assert build.html(book.root) == 0
    return book.root / "_build" / "html" / "book" / "one.html"


def read_to_its_end(page: Page, path: Path) -> Log:
    log = listen(page)
    page.goto(path.as_uri())
    for plot in page.locator(PLOT).all():
        plot.scroll_into_view_if_needed()
    expect(page.locator(f"{PLOT} [role=img]")).to_have_count(2)
    return log


TURNS: dict[str, Callable[[Page], None]] = {
    "point": lambda page: page.locator(".plot-field").first.hover(),
    "tap": lambda page: page.locator(".plot-field").first.tap(),
    "tab": lambda page: page.locator(".plot-field").first.focus(),
}


@pytest.mark.parametrize("turn", TURNS)
def test_plotly_comes_for_who_turns_to_a_plot_and_moves_nothing(
    browser: Browser, page_of_plots: Path, turn: str
) -> None:
    with context(browser, width=390, has_touch=True) as visit:
        page = visit.new_page()
        log = read_to_its_end(page, page_of_plots)
        boxes = "all => all.map((one) => Object.values(one.getBoundingClientRect().toJSON()))"
        page.locator(".plot-field").first.scroll_into_view_if_needed()
        before = page.locator(f"{PLOT}, .plot-field, .plot-legend li").evaluate_all(boxes)
        assert not log.asked_for(PLOTLY)
        TURNS[turn](page)
        expect(page.locator(f"{PLOT}[data-ready]")).to_have_count(1)
        assert log.asked_for(PLOTLY)
        after = page.locator(f"{PLOT}, .plot-field, .plot-legend li").evaluate_all(boxes)
        assert [pytest.approx(box, abs=2) for box in before] == after
        assert not log.errors
        assert not log.foreign


def test_a_live_plot_has_the_places_of_its_drawing(browser: Browser, page_of_plots: Path) -> None:
    with context(browser, width=1000) as visit:
        page = visit.new_page()
        read_to_its_end(page, page_of_plots)
        field = page.locator(".plot-field").first
        middle = """all => all.map((one) => [one.textContent, one.getBoundingClientRect()])
          .map(([text, box]) => [text, Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)]).sort()"""
        field.scroll_into_view_if_needed()
        drawn_at = field.locator(".plot-area text").evaluate_all(middle)
        field.focus()
        expect(page.locator(f"{PLOT}[data-ready]")).to_have_count(1)
        live_at = field.locator(".xtick text, .ytick text").evaluate_all(middle)
        assert [text for text, *_ in live_at] == [text for text, *_ in drawn_at]
        for (_, *here), (_, *there) in zip(drawn_at, live_at, strict=True):
            assert here == pytest.approx(there, abs=2)


def test_it_says_that_it_will_be_live_and_then_that_it_is(browser: Browser, page_of_plots: Path) -> None:
    with context(browser) as visit:
        page = visit.new_page()
        read_to_its_end(page, page_of_plots)
        page.get_by_role("img", name="Two: drawing, becomes interactive when focused or touched").focus()
        expect(page.get_by_role("group", name="Two: interactive plot")).to_be_focused()
        name = page.get_by_role("button", name="a < b")
        name.click()
        expect(name).to_have_attribute("aria-pressed", "false")
        expect(page.locator(".scatterlayer .trace")).to_have_count(1)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_drawings_are_accessible_and_legible_on_a_phone(browser: Browser, page_of_plots: Path, theme: str) -> None:
    with context(browser, width=390) as visit:
        page = visit.new_page()
        read_to_its_end(page, page_of_plots)
        page.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
        sizes = page.locator(".plot *").evaluate_all(
            """all => all.filter((one) => one.textContent.trim())
              .map((one) => parseFloat(getComputedStyle(one).fontSize))"""
        )
        assert min(sizes) >= 12
        assert violations(page) == []


@pytest.mark.parametrize("media", ["screen", "print"])
def test_without_a_script_drawing_and_words_are_there(browser: Browser, page_of_plots: Path, media: str) -> None:
    with context(browser, java_script_enabled=False) as visit:
        page = visit.new_page()
        page.emulate_media(media=media)  # type: ignore[arg-type]
        page.goto(page_of_plots.as_uri())
        expect(page.locator(".plot-area:visible")).to_have_count(2)
        expect(page.locator(f"{PLOT} .viz-words:visible")).to_have_count(2)


def of(figure: Any) -> str:
    drawing = drawn(figure.to_plotly_json())
    assert drawing
    return drawing.html


def test_a_point_lies_where_its_value_is() -> None:
    plot = figures.curves({"y": [0, 5, 10]})
    plot.update_layout(xaxis_range=[1, 3], yaxis_range=[0, 10])
    assert 'd="M0 1000L500 500L1000 0"' in of(plot)


def test_names_are_text() -> None:
    assert re.search(r"</svg>a &lt; b</li>", of(CURVES))


def test_a_matrix_has_its_counts_and_colours() -> None:
    assert re.findall(r'text-anchor="middle" fill="([^"]+)">(\d+)<', of(CELLS)) == [
        ("#444", "9"),
        ("#444", "1"),
        ("#fff", "3"),
        ("#444", "7"),
    ]


@pytest.mark.parametrize(
    ("data", "layout"),
    [
        ([], {}),
        ([{"type": "bar", "y": [1, 2]}], {}),
        ([{"type": "scatter", "y": [1, 2], "fill": "tozeroy"}], {}),
        ([{"type": "scatter", "y": {"dtype": "i1", "bdata": "AQI="}}], {}),
        ([{"type": "scatter", "x": ["a", "b"], "y": [1, 2]}], {}),
        ([{"type": "scatter", "y": [1, 2]}], {"shapes": [{}]}),
    ],
)
def test_what_is_not_drawn_here_is_left_to_plotly(data: list[dict[str, Any]], layout: dict[str, Any]) -> None:
    assert drawn({"data": data, "layout": layout}) is None


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (-3, "−3"), (0.25, "0.25"), (2000, "2000"), (20_000, "20k"), (3e6, "3M"), (5e-6, "5×10⁻⁶")],
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert number(value) == text
