"""Presets of a figure: each of them fits on a phone and on a screen, and none moves what stands below."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, ViewportSize

from torchbook import viz
from torchbook.viz.base import Visualizer

from ..conftest import Show, mounted
from ..models.test_attention import attention_explorer
from ..models.test_dispatch import dispatch_route
from ..models.test_living import living_model
from ..models.test_pipeline import timeline_of_a_run
from ..models.test_roofline import roofline_of_a_machine
from ..models.test_tokenizer import tokenizer_explorer
from ..pressing import heights

Make = Callable[[], Visualizer]
FIGURES: list[Make] = [
    viz.MemoryBudget, viz.ScalingCalculator, viz.StrategyTool, viz.BottleneckTool, viz.PipelineSchedule,
    viz.PipelineTimeline, timeline_of_a_run, viz.SymptomFinder, attention_explorer, tokenizer_explorer,
    viz.KVCacheExplorer, viz.TileExplorer, viz.Roofline, roofline_of_a_machine, dispatch_route, viz.RingAllReduce,
    living_model,
]  # fmt: skip
SCREENS: dict[str, ViewportSize] = {
    "phone": {"width": 390, "height": 844},
    "wide": {"width": 720, "height": 900},
}

SMALL = """() => {
  const shown = (one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const controls = document.querySelectorAll(
    ".tbviz :is(button, select, input, textarea, summary, [role=slider])",
  );
  return [...controls].filter(shown).map((one) => [one, one.getBoundingClientRect()])
    .filter(([, box]) => box.width && Math.min(box.width, box.height) < 43.5)
    .map(([one, box]) => `${one.outerHTML.slice(0, 80)} ${box.width}x${box.height}`);
}"""


def opened(show: Show, make: Make, screen: str) -> Page:
    """The figure as a reader of this screen finds it."""
    options = {"has_touch": True, "is_mobile": True} if screen == "phone" else {}
    page = show(make(), width=SCREENS[screen]["width"], **options)
    page.set_viewport_size(SCREENS[screen])
    return page


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("make", FIGURES)
def test_no_preset_is_higher_than_the_screen_or_than_another(show: Show, make: Make, screen: str) -> None:
    high = heights(opened(show, make, screen)).values()
    assert max(high) <= SCREENS[screen]["height"]
    assert max(high) - min(high) <= 8


@pytest.mark.parametrize("make", FIGURES)
def test_a_finger_finds_every_control(show: Show, make: Make) -> None:
    page = opened(show, make, "phone")
    heights(page)  # with the drawer closed, in each state
    assert page.evaluate(SMALL) == []


@pytest.mark.parametrize(("width", "kept"), [(1280, 900), (540, 1000), (390, 1000)])
def test_a_figure_takes_the_room_that_its_page_keeps(show: Show, width: int, kept: int) -> None:
    figure = mounted(viz.MemoryBudget()).replace("<figure ", '<figure style="--room:900px;--room-narrow:1000px" ', 1)
    # A theme may pad every figure.
    page = show(f'<style>figure{{padding:.5em}}</style><div class="bd-article">{figure}</div>', width=width)
    page.locator(".tbviz-drawer").evaluate("(drawer) => (drawer.open = false)")
    assert page.locator(".viz-mount").evaluate("(mount) => mount.offsetHeight") == kept
