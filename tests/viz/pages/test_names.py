"""Who sees one picture of a figure knows what its numbers are: each has a name or a unit, in sight and uncovered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from playwright.sync_api import Page

from torchbook import viz
from torchbook.viz.base import Visualizer

from ..conftest import Show
from ..models.test_autograd_recording import autograd_explorer
from ..pressing import PHONE, SCREENS, heights

Make = Callable[[], Visualizer]


def network() -> viz.AutogradExplorer:
    """A graph of tensors of which the picture tells the shapes."""
    weights = torch.ones(4, 3, requires_grad=True)
    return viz.AutogradExplorer(lambda: (torch.ones(5, 3) @ weights.t()).square().mean(), {"w": weights})


def playground() -> viz.AutogradPlayground:
    return viz.AutogradPlayground("x*x + 3*x", {"x": 2})


# What is to be read in the stage, besides the numbers.
NAMES: list[tuple[Make, tuple[str, ...]]] = [
    (autograd_explorer, ("value", "gradient received", "stored", "saved for backward", "freed")),
    (network, ("(4,3)", "a shape", "gradient received")),
    (playground, ("value", "gradient of the result", "sent along the arrow", "+ result")),
    (lambda: viz.StrideExplorer((3, 4), selected=(1, 2)), ("storage_offset", "where x begins", "[6]", "x[1, 2]")),
    (lambda: viz.BroadcastExplorer((3, 4), (3, 1)), ("a shape (3, 4)", "+ b shape (3, 1)", "= result shape (3, 4)")),
    (lambda: viz.FloatExplorer(0.1, torch.bfloat16), ("6 numbers on this line", "numbers", "becomes 0.1016")),
    (viz.StepMicroscope, ("€ per km", "€ at 0 km", "price = w · km + b", "3 km", "9 €", "paid", "pred")),
    (
        lambda: viz.OptimizerRacer(surface="ravine"),
        ("parameter x", "parameter y", "bluer is higher", "minimum", "loss above the minimum", "step", "Loss"),
    ),
]

SEEN = r"""() => {
  const stage = document.querySelector(".tbviz-stage");
  const blocks = [...stage.querySelectorAll("p, text, .sx-fact, .sx-cap, th, span, small")];
  return blocks.filter((one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
    .map((one) => one.textContent.replace(/\s+/g, " ").trim()).join("\n");
}"""

# Pairs of texts of a drawing that lie on top of each other, and texts that leave it.
COVERED = """() => [...document.querySelectorAll(".tbviz-stage svg:not([aria-hidden])")].flatMap((svg) => {
  const frame = svg.getBoundingClientRect();
  const texts = [...svg.querySelectorAll("text")].filter((one) => one.textContent && one.checkVisibility())
    .map((one) => [one.textContent, one.getBoundingClientRect()]);
  const out = texts.filter(([, box]) => box.left < frame.left - 1 || box.right > frame.right + 1);
  const over = texts.flatMap(([first, a], i) => texts.slice(i + 1)
    .filter(([, b]) => a.left < b.right && b.left < a.right && a.top + 3 < b.bottom && b.top + 3 < a.bottom)
    .map(([second]) => `${first} | ${second}`));
  return [...out.map(([text]) => text), ...over];
})"""


def opened(show: Show, widget: Visualizer, width: int) -> Page:
    """The figure on a screen of this width, its drawer closed."""
    options: dict[str, Any] = PHONE if width == PHONE["width"] else {"width": width}
    page = show(widget, **options)
    page.locator(".tbviz-drawer").evaluate("(drawer) => (drawer.open = false)")
    return page


@pytest.mark.parametrize("width", SCREENS)
@pytest.mark.parametrize(("make", "names"), NAMES)
def test_what_is_in_the_picture_has_a_name(show: Show, make: Make, names: tuple[str, ...], width: int) -> None:
    seen = opened(show, make(), width).evaluate(SEEN)
    assert [name for name in names if name not in seen] == []


@pytest.mark.parametrize("width", SCREENS)
@pytest.mark.parametrize("surface", viz.OptimizerRacer.contract["surfaces"])
def test_the_names_of_the_racers_axes_cover_nothing(show: Show, surface: str, width: int) -> None:
    assert opened(show, viz.OptimizerRacer(surface=surface), width).evaluate(COVERED) == []


@pytest.mark.parametrize("width", SCREENS)
@pytest.mark.parametrize("make", [viz.StepMicroscope, lambda: viz.FloatExplorer(1.5, torch.float16)])
def test_names_in_a_drawing_cover_nothing(show: Show, make: Make, width: int) -> None:
    assert opened(show, make(), width).evaluate(COVERED) == []


@pytest.mark.parametrize("width", SCREENS)
@pytest.mark.parametrize("make", [playground, viz.OptimizerRacer])
def test_no_preset_moves_what_stands_below(show: Show, make: Make, width: int) -> None:
    high = heights(opened(show, make(), width))
    assert max(high.values()) <= SCREENS[width]
    assert max(high.values()) - min(high.values()) <= 8


def test_a_place_in_the_storage_is_an_index_and_the_offset_a_sign(show: Show) -> None:
    page = opened(show, viz.StrideExplorer((4, 4), [("select", 0, 1)]), 800)
    assert page.locator(".sx-slot small").evaluate_all("(all) => all.map((one) => one.innerText).join('')") == "[5]"
    begin = "(one) => getComputedStyle(one, '::before').content"
    assert page.locator(".sx-slot.start small").evaluate(begin) == '"▲"'
