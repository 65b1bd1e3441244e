"""The race of the first page: its ways are those of torch.optim, its picture is theirs, and its marks are checked."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import pytest

from tests.press.conftest import Book
from torchbook.viz import OptimizerRacer, racer
from torchbook_press.site import race

NAMES = ("sgd", "momentum", "adam")
_ELLIPSE = re.compile(r'<ellipse rx="([\d.]+)" ry="([\d.]+)"/>')


def away(points: Sequence[race.Point], one: Sequence[race.Point]) -> float:
    return max(math.dist(a, b) for a, b in zip(points, one, strict=True))


def test_its_ways_are_those_of_the_racer() -> None:
    runs = OptimizerRacer(race.SURFACE, NAMES, race.START, race.STEPS).runs
    assert {way.name: list(way.points) for way in race.ways(NAMES)} == {name: run.points for name, run in runs.items()}


def test_who_has_settled_stays_and_was_outside_a_step_before() -> None:
    runs = OptimizerRacer(race.SURFACE, NAMES, race.START, 1000).runs
    for name, step in race.settled(NAMES).items():
        far = [math.hypot(*point) for point in runs[name].points]
        assert far[step - 1] >= race.RING > max(far[step:]), name


def test_only_adam_minds_which_way_the_valley_lies() -> None:
    askew, along = (race.ways(NAMES, turn=turn) for turn in (False, True))
    moved = {
        a.name: away([race.turned(point) for point in a.points], b.points) for a, b in zip(askew, along, strict=True)
    }
    assert max(moved["sgd"], moved["momentum"]) < 1e-9
    assert moved["adam"] > 1


def test_the_first_steps_do_not_give_it_away() -> None:
    """Who is first in the end has the highest loss when the question is asked, and who is last is not far behind."""
    there = {way.name: racer.loss(race.SURFACE, *way.points[race.SHOWN]) for way in race.ways(NAMES)}
    assert max(there, key=lambda name: there[name]) == next(iter(race.settled(NAMES)))


def test_turning_the_valley_changes_who_wins() -> None:
    assert next(iter(race.settled(NAMES))) == "momentum"
    assert next(iter(race.settled(NAMES, turn=True))) == "adam"


def test_a_way_settles_when_it_is_last_seen_to_come_in() -> None:
    far, near = (1.0, 0.0), (0.1, 0.0)
    assert [race.Way("sgd", way).settles for way in ((far, near, far, near), (near, near), (near, far))] == [3, 0, None]


def test_a_race_that_has_no_single_winner_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for names, problem in ((("sgd", "sgd"), "arrive together"), (("adagrad",), "no racer is called 'adagrad'")):
        with pytest.raises(ValueError, match=problem):
            race.settled(names)
    monkeypatch.setattr(race, "STEPS", 10)
    race.ways.cache_clear()
    with pytest.raises(ValueError, match="sgd is not in the ring after 10 steps"):
        race.settled(("sgd",))
    race.ways.cache_clear()


def test_its_picture_is_of_the_surface_and_of_the_ways() -> None:
    html = race.figure(NAMES)
    scale = 640 / 5.4  # from −3.4 to 2.0
    losses = []
    for rx, ry in _ELLIPSE.findall(html):
        along, across = float(rx) / scale, float(ry) / scale
        ends = (0.8 * along, 0.6 * along), (-0.6 * across, 0.8 * across)
        losses.append([racer.loss(race.SURFACE, *end) for end in ends])
    assert losses
    assert all(abs(one - other) < 0.01 * one for one, other in losses)
    for turn, field in zip((False, True), html.split('<g class="race-field')[1:], strict=True):
        for way, drawn in zip(race.ways(NAMES, turn=turn), field.split('<g class="race-way')[1:], strict=True):
            begun, rest = re.findall(r'race-line (?:begun|rest)" d="M([^"]+)"', drawn)
            pairs = [[float(v) for v in pair.split()] for pair in [*begun.split("L"), *rest.split("L")[1:]]]
            points = [(x / scale - 3.4, 1.8 - y / scale) for x, y in pairs]
            assert away(points, way.points) < 0.1 / scale, way.name
            assert f'data-settles="{way.settles}"' in drawn
    words = race.words(NAMES)
    assert words in html
    for way in race.ways(NAMES):
        assert f"{math.hypot(*way.points[race.SHOWN]):.2f}" in words


def page(racers: str, marks: str, answer: str) -> str:
    options = "\n".join(f"- [{mark}] option" for mark in marks)
    return f":::{{race}} Who?\n:racers: {racers}\n\n{options}\n\n{answer}\n:::\n"


def test_the_page_has_the_numbers_of_the_run(book: Book) -> None:
    told = page("sgd momentum adam", " x ", "After {momentum}, turned {turned adam}.")
    book.page("races", f"# Races\n\n{told}")
    done = book.printed()
    assert done.returncode == 0, done.stdout + done.stderr
    html = book.html("races")
    first, turned = race.settled(NAMES), race.settled(NAMES, turn=True)
    assert f"After {first['momentum']}, turned {turned['adam']}." in html
    assert html.count('class="race-map"') == 1
    assert html.index("activities.js") < html.index("race.js")  # what was answered is known when the picture starts
    assert "race.js" not in book.html("index")


def test_the_build_refuses_a_race_that_is_told_wrong(book: Book) -> None:
    wrong = {
        page("sgd momentum adam", "x  ", "So."): "momentum is first in the ring, not the option that is marked right",
        page("sgd momentum", " x ", "So."): "3 options for 2 racers",
        page("sgd fast", " x", "So."): "no racer is called 'fast'",
        page("sgd momentum", " x", "After {adam}."): "{adam}: no racer of this race",
    }
    book.page("races", "# Races\n\n" + "\n".join(wrong))
    done = book.printed()
    told = " ".join((done.stdout + done.stderr).split())
    for problem in wrong.values():
        assert problem in told
