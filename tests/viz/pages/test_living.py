"""LivingModel on the static page: its weights come when they are asked for; it reads what is typed, and writes on."""

from __future__ import annotations

import json
import shutil
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from torchbook.viz import LivingModel
from torchbook_press.site import aside
from torchbook_press.site.mount import mount

from ..conftest import Pages, Show, document, static_state
from ..models.test_living import FIRST, living_model
from ..pressing import press, words

Open = Callable[..., Page]


@pytest.fixture
def opened(pages: Pages, repo: Path, tmp_path: Path) -> Open:
    """Opens a page as the press makes it, with the weights beside it, and tells which of its files it asked for."""

    def opened(widget: LivingModel, *, damage: str = "") -> Page:
        static = tmp_path / "_static"
        static.mkdir()
        for name in ("viz-static.js", "site.css"):
            shutil.copy(repo / "web" / name, static / name)
        payload = {"esm": str(widget._esm), "css": "", "buffers": [], "state": static_state(widget)}
        payload["state"].pop("weights")
        payload["aside"] = {"weights": aside.put(static / "aside", b64encode(widget.weights).decode())}
        (script,) = (static / "aside").iterdir()
        if damage == "gone":
            script.rename(script.with_suffix(".away"))
        if damage == "another":
            script.write_text(script.read_text().replace('= "', '= "AAAA'), encoding="utf-8")
        path = tmp_path / "page.html"
        figure = mount("anywidget", payload, widget.words, widget.picture)["text/html"]
        path.write_text(document(figure, static), encoding="utf-8")
        page = pages.take(own=True)
        page.emulate_media(reduced_motion="reduce")
        page.goto(path.as_uri())
        page.locator(".viz-mount[data-ready] .tbviz").wait_for()
        return page

    return opened


def asked(page: Page) -> list[str]:
    """The scripts of large buffers that the page has asked for."""
    return list(page.evaluate("[...document.querySelectorAll('script[src*=\"/aside/\"]')].map(({ src }) => src)"))


def test_the_weights_come_with_the_press_and_not_before(opened: Open) -> None:
    widget = living_model()
    page = opened(widget)
    assert json.dumps(b64encode(widget.weights).decode()) not in page.content()
    expect(words(page)).to_have_text(widget.words)
    page.get_by_label("text", exact=True).fill("whom")
    expect(words(page)).to_contain_text("The model has to be loaded")
    assert asked(page) == []
    press(page, "Load the model (0.1 MB)")
    expect(words(page)).to_contain_text("“whom”. Most attention of character 3 “m” in layer 0")
    assert len(asked(page)) == 1


@pytest.mark.parametrize(("damage", "reason"), [("gone", "could not be loaded"), ("another", "damaged")])
def test_weights_that_do_not_come_can_be_asked_for_again(opened: Open, damage: str, reason: str, pages: Pages) -> None:
    page = opened(living_model(), damage=damage)
    press(page, "Load the model (0.1 MB)")
    expect(page.locator(".lm-status")).to_contain_text(reason)
    expect(page.get_by_role("button", name="Load the model (0.1 MB)")).to_be_enabled()
    expect(words(page)).to_have_text(living_model().words)
    for away in Path(page.url.removeprefix("file://")).parent.glob("_static/aside/*.away"):
        away.rename(away.with_suffix(".js"))
        press(page, "Load the model (0.1 MB)")
        expect(page.get_by_role("button", name="Write on")).to_be_visible()
    pages.complaints.clear()  # of the file that was not there


def test_it_writes_the_same_with_and_without_the_cache(show: Show) -> None:
    page = show(living_model())
    press(page, "Load the model (0.1 MB)")
    texts = []
    for cache in (True, False):
        press(page, "Start again")
        if not cache:
            press(page, "KV cache (faster)")
        press(page, "Write on")
        page.wait_for_function(f"document.querySelector('.tbviz textarea').value.length === {len(FIRST) + 100}")
        texts.append(page.get_by_label("text", exact=True).input_value())
    assert texts[0] == texts[1]
    assert texts[0].startswith(FIRST)
    expect(page.locator(".lm-status")).to_contain_text("times as long as with it.")
    widget = living_model(cache=False)
    widget.text = texts[0]
    expect(words(page)).to_contain_text(widget.words.partition(" in layer 0")[0])


def test_it_stops_where_the_text_is_full(show: Show) -> None:
    page = show(living_model())
    press(page, "Load the model (0.1 MB)")
    area = page.get_by_label("text", exact=True)
    area.fill("O" * 998)
    press(page, "Write on")
    page.wait_for_function("document.querySelector('.tbviz textarea').value.length === 1000")
    press(page, "Write on")
    expect(page.locator(".lm-status")).to_contain_text("The text has 1000 characters")
    assert len(area.input_value()) == 1000


def test_it_types_one_character_after_the_other_and_can_be_paused(show: Show) -> None:
    page = show(living_model(), motion=True)
    press(page, "Load the model (0.1 MB)")
    length = "document.querySelector('.tbviz textarea').value.length"
    press(page, "Write on")
    page.wait_for_function(f"{length} > {len(FIRST) + 3}")
    press(page, "Pause")
    before = page.evaluate(length)
    assert before < len(FIRST) + 100
    page.wait_for_timeout(200)
    assert page.evaluate(length) == before
    expect(page.get_by_role("button", name="Write on")).to_be_visible()


def test_what_it_cannot_read_is_refused_kindly(show: Show) -> None:
    widget = living_model()
    page = show(widget)
    area = page.get_by_label("text", exact=True)
    area.fill("2 be")
    expect(page.get_by_role("alert")).to_have_text("the model was trained without “2”")
    expect(words(page)).to_have_text(widget.words)
    area.blur()
    expect(area).to_have_value(FIRST)
    expect(page.locator(".tbviz-error")).to_have_text("")


def test_the_frame_goes_by_arrow_keys(show: Show) -> None:
    page = show(living_model())
    strip = page.get_by_role("slider", name="Character")
    for key, at in (("Home", 0), ("ArrowRight", 1), ("PageUp", 9), ("ArrowLeft", 8), ("End", -1)):
        strip.press(key)
        expect(words(page)).to_have_text(living_model(at=at).words)


def test_both_ways_are_timed(show: Show) -> None:
    page = show(living_model())
    expect(page.get_by_role("button", name="Time both ways")).to_have_attribute("aria-disabled", "true")
    press(page, "Load the model (0.1 MB)")
    press(page, "Time both ways")
    chart = page.locator(".lm-chart")
    expect(chart).to_be_visible()
    assert chart.locator("path.lm-without").get_attribute("d").count("L") == 23
    expect(page.locator(".lm-times")).to_contain_text("the 24th character takes")
    expect(page.get_by_label("text", exact=True)).to_have_value(FIRST)
