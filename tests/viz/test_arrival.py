"""A figure that walks through steps plays a few of them when the reader comes to it, and ends as it was found."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from torchbook import viz

from .conftest import Show
from .samples import sample_of

WALKERS = [
    "AutogradExplorer", "DispatchRoute", "KVCacheExplorer", "OptimizerRacer", "RingAllReduce", "TileExplorer",
    "TokenizerExplorer",
]  # fmt: skip
# A step takes a frame or two, not a second. The figure begins below the screen; what it shows when it has started, and
# each time that this changes, is kept: the picture, and what is read in it.
BEFORE = """<script>
{ const plain = setInterval; window.setInterval = (run, ms, ...more) => plain(run, Math.min(ms, 50), ...more); }
const seen = [], read = [], look = () => {
  const stage = document.querySelector(".tbviz-stage"), now = stage?.innerHTML;
  if (!now || now === seen.at(-1)) return;
  seen.push(now);
  read.push(stage.textContent);
};
new MutationObserver((changes) => {
  if (!changes.some(({ attributeName }) => attributeName === "data-ready")) return;
  look();
  const each = () => { look(); requestAnimationFrame(each); };
  requestAnimationFrame(each);
}).observe(document, { subtree: true, attributeFilter: ["data-ready"] });
</script><div style="height:2000px"></div>"""
COME = "document.querySelector('figure.viz-mount').scrollIntoView({ block: 'center' })"
AT_REST = """async () => {
  for (let count = -1, still = 0; still < 40; still++) {
    await new Promise(requestAnimationFrame);
    if (seen.length !== count) { count = seen.length; still = 0; }
  }
}"""

Arrive = Callable[..., Page]


@pytest.fixture
def arrive(show: Show) -> Arrive:
    """A reader scrolls to a figure, and waits until nothing moves."""

    def arrived(figure: viz.RingAllReduce, *, motion: bool = True, hash: str = "", wait: bool = True) -> Page:
        page = show(BEFORE, figure, motion=motion, arrival=True, hash=hash, ready=False)
        page.evaluate(COME)
        page.locator(".viz-mount[data-ready] .tbviz").wait_for()
        page.evaluate(COME)
        if wait:
            page.evaluate(AT_REST)
        return page

    return arrived


def ring() -> viz.RingAllReduce:
    """After three of six steps."""
    return viz.RingAllReduce(ranks=4, elements=8, step=3, link="ring")


def shown(page: Page) -> int:
    """How many states the figure was seen in."""
    return int(page.evaluate("new Set(seen).size"))


def step(page: Page) -> str:
    """The step that the figure is at."""
    return page.locator(".tbviz-player input[type=range]").input_value()


@pytest.mark.parametrize("name", WALKERS)
def test_it_plays_and_ends_as_it_was_found(arrive: Arrive, name: str) -> None:
    page = arrive(sample_of(name).make())
    assert shown(page) > 2
    assert page.evaluate("read.at(-1)") == page.evaluate("read[0]")


def test_it_plays_once(arrive: Arrive) -> None:
    page = arrive(ring())
    before = shown(page)
    page.evaluate("scrollTo(0, 0)")
    page.evaluate(COME)
    page.evaluate(AT_REST)
    assert shown(page) == before


def test_it_does_not_play_for_who_wants_less_motion(arrive: Arrive) -> None:
    assert shown(arrive(ring(), motion=False)) == 1


def test_it_stays_at_the_state_that_a_link_gives(arrive: Arrive) -> None:
    page = arrive(ring(), hash="#tbviz-ring:four")
    assert shown(page) <= 2
    assert page.evaluate("location.hash") == "#tbviz-ring:four"


def test_a_key_in_the_figure_ends_it_where_it_is(arrive: Arrive) -> None:
    page = arrive(ring(), wait=False)
    page.wait_for_function("seen.length > 1")
    page.locator(".tbviz-player input[type=range]").press("Home")
    page.evaluate(AT_REST)
    assert step(page) == page.locator(".tbviz-player input[type=range]").get_attribute("min")


def test_the_address_does_not_follow_it(arrive: Arrive) -> None:
    assert arrive(ring()).evaluate("location.hash") == ""
