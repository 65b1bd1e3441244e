"""What is measured of figures, on figures of which it is known; and what the table of the site says of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from .conftest import Show
from .gallery import Figure, Gallery, Read, cls, faults, graphs, told
from .measuring import Seen, measure

# Two words and a control in its head, a picture of which one half is seen, and a drawer.
FIGURE = """<div class="place"><div class="tbviz" role="group" aria-label="Example" style="width:400px">
<p class="tbviz-finding" style="margin:0;height:50px">Known figure</p>
<div class="tbviz-stage" style="height:150px"><p style="margin:0;height:40px">in stage</p>
<svg width="100" height="100" viewBox="0 0 200 200"><text y="40" font-size="20">of the picture</text></svg></div>
<div style="height:50px"><select style="height:30px"><option>One</option><option selected>The other</option></select>
<button style="display:none">Hidden</button><label style="position:absolute;width:1px;height:1px">Spoken</label></div>
<p class="tbviz-words" style="position:absolute;width:1px;height:1px;overflow:hidden">Words for screen readers</p>
<details class="tbviz-drawer" open><summary style="height:20px">Details</summary><button>Stored</button> More</details>
</div></div>"""
SEEN = Seen("Example", "Known figure", 500, 60, 8, 32, 60, 99, 0.6, 12.0, "least")
KEPT = Figure("p.html", "example", 390, SEEN, (), 8, 100.0, 50.0)
LIGHT = Read("p.html", ((1000.0, 0.03, "p"), (3000.0, 0.04, "figure")), 450.0)


def test_a_figure_is_measured_as_it_is_seen(show: Show) -> None:
    figure = show(f"<style>.tbviz{{padding:0}}</style>{FIGURE}", ready=False).locator(".place")
    seen = measure(figure)
    assert (seen.name, seen.title) == ("Example", "Known figure")
    assert (seen.controls, seen.in_stage) == (2, 0)  # the list and the drawer's summary
    assert seen.words == 5  # of them two of the chosen option, and that of the drawer
    assert seen.words_in_stage == 5
    assert seen.first_picture == 90
    assert (seen.type, seen.smallest) == (10, "of the picture")  # 20 in a picture that is drawn half as large
    height = figure.locator(".tbviz").evaluate("(one) => one.offsetHeight")
    assert (seen.height, seen.share) == (height, pytest.approx(150 / height))


def test_what_lies_in_a_drawer_makes_no_difference(show: Show) -> None:
    figure = show(FIGURE, ready=False).locator(".place")
    unfolded = measure(figure)
    figure.locator(".tbviz-drawer").evaluate("(drawer) => (drawer.open = false)")
    folded = measure(figure)
    assert (folded.words, folded.controls, folded.type) == (unfolded.words, unfolded.controls, unfolded.type)


@pytest.mark.parametrize(
    ("shifts", "worst"),
    [
        ([], 0),
        ([(0, 0.1), (900, 0.2), (2000, 0.1)], 0.3),  # more than a second later another session begins
        ([(900 * number, 0.1) for number in range(7)], 0.6),  # and after five seconds, at the latest
    ],
)
def test_the_worst_session_of_layout_shifts_counts(shifts: list[tuple[float, float]], worst: float) -> None:
    assert cls(shifts) == pytest.approx(worst)


def test_nothing_is_off_where_limits_are_kept() -> None:
    assert faults(Gallery([KEPT], [LIGHT])) == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"title": ""}, "titles in sight"),
        ({"height": 845}, "screen's height"),
        ({"first_picture": 81}, "first picture"),
        ({"controls": 9}, "controls around the stage"),
        ({"words": 61}, "words around the stage"),
        ({"type": 11.9}, "smallest type, px, ≥ 12: 11.9 (“least”)"),
    ],
)
def test_a_limit_that_is_not_kept_is_named(change: dict[str, object], says: str) -> None:
    (fault,) = faults(Gallery([replace(KEPT, seen=replace(SEEN, **change))], [LIGHT]))  # type: ignore[arg-type]
    assert fault.startswith("p.html · Example (example) at 390: ")
    assert says in fault


@pytest.mark.parametrize(
    ("figure", "says"),
    [
        (replace(KEPT, small=("<a>",)), "targets under 40 px, ≤ 0: 1, such as `<a>`"),
        (replace(KEPT, moved=9), "px by which a press moves what follows"),
        (replace(KEPT, answer_ms=None), "nothing that is pressed changes it"),
    ],
)
def test_what_a_figure_does_is_held_to_its_limits(figure: Figure, says: str) -> None:
    (fault,) = faults(Gallery([figure], [LIGHT]))
    assert says in fault


def test_a_page_that_jumps_or_is_heavy_is_named() -> None:
    heavy = replace(LIGHT, shifts=((0.0, 0.06, "p.note in x"),), kb=451.0)
    assert faults(Gallery([KEPT], [heavy])) == [
        "p.html: CLS 0.060, at most 0.05; most by p.note in x",
        "p.html: 451 kB gzipped, at most 450",
    ]


def test_a_stage_that_is_small_misses_an_aim_and_breaks_no_limit() -> None:
    gallery = Gallery([replace(KEPT, seen=replace(SEEN, share=0.5))], [LIGHT], failed=["x at 390: closed"])
    assert faults(gallery) == ["not measured: x at 390: closed"]
    assert "## Short of an aim: 1" in told(gallery)


def test_the_graphs_of_a_page_are_found_by_their_place() -> None:
    figure = '<figure class="viz-mount" data-kind="anywidget"><script type="x">{}</script></figure>'
    page = figure.format('{"state": {}}') + figure.format('{"state": {"graphs": [{"nodes": [1, 2]}]}}')
    assert graphs(page) == {1: 2}
