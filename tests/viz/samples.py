"""What the test of all figures needs to know of each: how it is made, its states and links, something a reader does.

Each figure's is `sample()` in the test of its truth, `models/test_<figure>*.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator

from torchbook import viz
from torchbook.viz.base import Visualizer

from .pressing import press

Traits = Mapping[str, Any]
Hand = Callable[[Locator], None]
OF_CONTRACT: Mapping[str, Any] = {}  # stands for what the contract says of the presets


@dataclass(frozen=True)
class Look:
    """A state in which a figure must be accessible, and what a reader does first."""

    traits: Traits
    hand: Hand = lambda figure: None
    make: Callable[..., Visualizer] | None = None  # another way to make the figure than that of its sample


@dataclass(frozen=True)
class Sample:
    """A figure for the test of all figures. States are traits, given to `make`."""

    make: Callable[..., Visualizer]
    act: Hand  # what a reader does in a view of `make()`
    acted: Traits | str  # the state after that, or a part of its words
    kind: str = ""  # the first part of its name in links; unless given, that of its folder
    presets: Mapping[str, Traits] = field(default_factory=lambda: OF_CONTRACT)  # the words of its links
    labels: Mapping[str, str] = field(default_factory=lambda: OF_CONTRACT)  # what stands on a preset's pressed button
    toolbar: str = "Presets"
    other: Traits = field(default_factory=dict)  # a state unlike that of the presets
    linked: Traits = field(default_factory=dict)  # a state of the reader's own
    broken: tuple[str, ...] = ()  # links that mean nothing, beside those that mean nothing to any figure
    looks: tuple[Look, ...] = (Look({}),)
    plain: tuple[Traits, ...] = ({},)  # states that are seen without scripts
    widths: tuple[int, ...] = (800, 360)  # of the screens on which it is looked at
    presets_of_python: bool = True  # are the presets' words those of Python?
    says_what_python_says: bool = True
    pictured_in_words: bool = True  # has the static picture the words as its name?
    targets: str = "button, input, select, textarea, [tabindex]"

    def after(self) -> str:
        """Words, or a part of them, once `act` was done."""
        return self.acted if isinstance(self.acted, str) else self.make(**self.acted).words


def fill(label: str, text: str, exact: bool = True) -> Hand:
    """Types into a field, or moves a slider."""
    return lambda figure: figure.get_by_label(label, exact=exact).fill(text)


def choose(label: str, option: str) -> Hand:
    """Chooses from a list."""

    def hand(figure: Locator) -> None:
        figure.get_by_label(label, exact=True).select_option(option)

    return hand


def pressing(*names: str) -> Hand:
    """Presses buttons, one after the other."""

    def hand(figure: Locator) -> None:
        for name in names:
            press(figure, name)

    return hand


def clicking(selector: str, number: int = 0) -> Hand:
    """Clicks on one element."""
    return lambda figure: figure.locator(selector).nth(number).click()


def opening(figure: Locator) -> None:
    """Opens all that is folded."""
    for summary in figure.locator("details:not(.tbviz-drawer) > summary").all():
        summary.click()


def both(*hands: Hand) -> Hand:
    """One after the other."""

    def hand(figure: Locator) -> None:
        for action in hands:
            action(figure)

    return hand


def sample_of(name: str) -> Sample:
    """The sample of a figure, with what its contract says of its presets.

    Raises:
        LookupError: no test of its truth has one.
    """
    figure: type[Visualizer] = getattr(viz, name)
    folder = figure.__module__.rpartition(".")[2]
    for path in sorted(Path(__file__).with_name("models").glob(f"test_{folder}*.py")):
        made = getattr(import_module(f"{__package__}.models.{path.stem}"), "sample", None)
        if made is not None:
            return _whole(made(), folder, figure.contract.get("presets", {}))
    raise LookupError(f"{name}: no tests/viz/models/test_{folder}*.py has a function `sample`")


def _whole(sample: Sample, folder: str, presets: Mapping[str, Mapping[str, Any]]) -> Sample:
    whole = replace(sample, kind=folder)
    if sample.presets is OF_CONTRACT:
        whole = replace(whole, presets={name: {"preset": name} for name in presets})
        labels = {name: str(preset["label"]) for name, preset in presets.items()}
    else:
        labels = {}
    return replace(whole, labels=labels) if sample.labels is OF_CONTRACT else whole
