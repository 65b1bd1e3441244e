"""The first page: a picture that moves and a question on the first screen, and the answer when it has been given."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.axe import violations
from tests.browser import listen, settled
from tests.site.built import Site
from tests.site.conftest import Open
from torchbook.viz import racer
from torchbook_press.site import race

NAMES = ("sgd", "momentum", "adam")
FRONT = "book/index.html"
SCREENS = {"wide": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
MOVING = {"reduced_motion": "no-preference"}

# Where the marks of the racers are that are seen now, in units of the picture.
_MARKS = """() => [...document.querySelectorAll('.race-map .race-mark')]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }))
  .map((one) => one.getAttribute('transform').match(/[\\d.-]+/g).slice(0, 2).map(Number))"""
# The layout shifts so far.
_SHIFT = """() => new Promise((done) => new PerformanceObserver((list) =>
  done(list.getEntries().filter((one) => !one.hadRecentInput).reduce((sum, one) => sum + one.value, 0))
).observe({ type: 'layout-shift', buffered: true }) || setTimeout(() => done(0), 300))"""


def place(point: race.Point) -> list[float]:
    """Of a point of the surface in the picture."""
    return [640 / 5.4 * (point[0] + 3.4), 640 / 5.4 * (1.8 - point[1])]


def at(page: Page, step: int, *, turn: bool = False) -> bool:
    """Whether all racers stand where torch.optim was after a step."""
    expected = [place(way.points[step]) for way in race.ways(NAMES, turn=turn)]
    marks: list[list[float]] = page.evaluate(_MARKS)
    return len(marks) == len(expected) and all(math.dist(*pair) < 0.1 for pair in zip(marks, expected, strict=True))


def option(page: Page, name: str) -> Locator:
    return page.locator(".race label").nth(NAMES.index(name))


def arrivals(page: Page) -> dict[str, str]:
    return dict(zip(NAMES, page.locator(".race-arrival").all_text_contents(), strict=True))


def steps(*, turn: bool = False) -> dict[str, str]:
    return {name: f"step {step}" for name, step in race.settled(NAMES, turn=turn).items()}


@pytest.fixture
def front(site: Site, open_page: Open) -> Page:
    page = open_page(site.address(FRONT, "http"))
    settled(page)
    return page


@pytest.mark.parametrize("screen", SCREENS)
def test_picture_and_question_are_on_the_first_screen(site: Site, open_page: Open, screen: str) -> None:
    options: dict[str, Any] = {"viewport": SCREENS[screen]}
    page = open_page("about:blank", has_touch=screen == "phone")
    page.set_viewport_size(options["viewport"])
    page.goto(site.address(FRONT, "http"))
    settled(page)
    for part in (page.locator(".race-map svg"), page.locator(".race legend"), page.locator(".race label").last):
        box = part.bounding_box()
        assert box
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= SCREENS[screen]["height"], part
    assert page.locator(".race-map svg").evaluate("one => one.clientWidth") >= 300


def test_its_first_steps_are_made_as_one_looks(site: Site, open_page: Open) -> None:
    page = open_page(site.address(FRONT, "http"), **MOVING)
    count = page.locator(".race-count")
    expect(count).to_have_text(re.compile("Step [1-7]$"))
    expect(count).to_have_text(f"Step {race.SHOWN}")
    assert at(page, race.SHOWN)
    assert arrivals(page) == dict.fromkeys(NAMES, "")


def test_an_answer_lets_the_picture_show_who_was_right(site: Site, open_page: Open) -> None:
    page = open_page(site.address(FRONT, "http"), **MOVING)
    settled(page)
    details = page.locator(".race details")
    option(page, "adam").click()
    expect(details).to_have_attribute("open", "")
    expect(details.locator("p").last).not_to_be_visible()  # its place is taken, no more
    expect(page.locator(".race .verdict")).to_be_empty()
    expect(option(page, "momentum").locator(".race-arrival")).to_have_text(steps()["momentum"], timeout=20_000)
    assert arrivals(page)["adam"] == ""  # which is still on its way
    expect(page.locator(".race .verdict")).to_contain_text("Not this one", timeout=20_000)
    expect(details.locator("p").last).to_be_visible()
    assert arrivals(page) == steps()
    assert at(page, max(race.settled(NAMES).values()))
    assert page.evaluate(_SHIFT) < 0.02


def test_the_article_has_its_width_before_the_list_of_sections_has_arrived(front: Page) -> None:
    width = "() => document.querySelector('.race').clientWidth"
    before = front.evaluate(width)
    front.locator(".bd-sidebar-secondary").evaluate("one => one.remove()")
    assert front.evaluate(width) == before


def test_with_less_motion_it_is_told_at_once(front: Page) -> None:
    assert at(front, race.SHOWN)
    option(front, "momentum").click()
    expect(front.locator(".race .verdict")).to_have_text("Right.", timeout=1_000)
    assert arrivals(front) == steps()
    assert violations(front) == []
    front.evaluate("document.documentElement.dataset.theme = 'dark'")
    assert violations(front) == []


def test_the_answer_is_the_one_that_the_run_gives(site: Site) -> None:
    labels = site.soup(FRONT).select(".race label")
    right = [bool(label.select_one("[data-right]")) for label in labels]
    assert NAMES[right.index(True)] == next(iter(race.settled(NAMES)))
    told = site.soup(FRONT).select_one(".race details")
    assert told
    text = " ".join(told.get_text().split())
    rates = [racer.defaults(race.SURFACE, name)["lr"] for name in NAMES]
    for number in [*race.settled(NAMES).values(), race.settled(NAMES, turn=True)["adam"], *rates]:
        assert re.search(rf"\b{number}\b", text), number


def test_it_is_answered_and_turned_by_keyboard_alone(front: Page) -> None:
    front.locator(".race-again").focus()
    front.keyboard.press("Tab")
    expect(front.locator(".race input").first).to_be_focused()
    front.keyboard.press("ArrowDown")
    expect(front.locator(".race .verdict")).to_be_empty()  # to look is not to answer
    front.keyboard.press("Space")
    expect(front.locator(".race .verdict")).to_have_text("Right.")
    front.keyboard.press("Shift+Tab")
    expect(front.locator(".race-turn")).to_be_focused()
    front.keyboard.press("Enter")
    assert arrivals(front) == steps(turn=True)
    assert at(front, max(race.settled(NAMES, turn=True).values()), turn=True)
    first = front.locator(".race-arrival[data-first]")
    expect(first).to_have_text(steps(turn=True)["adam"])
    expect(front.locator(".race-said")).to_contain_text(
        re.compile(r"stay: Adam after step \d+, SGD with momentum after step")
    )
    front.keyboard.press("Enter")
    assert arrivals(front) == steps()


def test_who_has_answered_finds_it_answered(front: Page) -> None:
    option(front, "sgd").click()
    front.reload()
    expect(front.locator(".race .verdict")).to_contain_text("Not this one")
    assert arrivals(front) == steps()


def test_another_answer_during_the_race_is_the_one_that_counts(site: Site, open_page: Open) -> None:
    page = open_page(site.address(FRONT, "http"), **MOVING)
    settled(page)
    option(page, "adam").click()
    option(page, "momentum").click()
    expect(page.locator(".race .verdict")).to_have_text("Right.", timeout=20_000)


def test_without_scripts_the_answer_unfolds_the_picture_too(site: Site, open_page: Open) -> None:
    page = open_page(site.address(FRONT, "file"), java_script_enabled=False)
    rest = page.locator(".race-field:not(.turned) .race-line.rest")
    assert [one.is_visible() for one in rest.all()] == [False] * len(NAMES)
    expect(page.locator(".race-bar")).to_be_hidden()
    page.locator(".race summary").click()
    assert [one.is_visible() for one in rest.all()] == [True] * len(NAMES)
    expect(page.locator(".race-field.turned .race-line.rest").first).not_to_be_visible()


def test_paper_has_the_whole_race(front: Page) -> None:
    front.emulate_media(media="print")
    shown = front.locator(".race-field .race-line.rest").evaluate_all(
        "all => all.map((one) => one.checkVisibility({ visibilityProperty: true }))"
    )
    assert shown == [True] * len(NAMES) + [False] * len(NAMES)
    marks = front.evaluate(_MARKS)
    ends = [place(way.points[-1]) for way in race.ways(NAMES)]
    assert all(math.dist(*pair) < 0.1 for pair in zip(marks, ends, strict=True))


def test_it_needs_nothing_from_elsewhere(site: Site, open_page: Open) -> None:
    page = open_page("about:blank")
    log = listen(page)
    page.goto(site.address(FRONT, "http"))
    settled(page)
    option(page, "momentum").click()
    assert not [*log.foreign, *log.missing, *log.errors]
    assert not log.asked_for("viz-static.js")
