"""What a reader sees of a figure, in numbers, and the limits: for their tests and for the table of the site."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Locator

# The most that a figure may have around its stage, and the pixels from its top to that of its first picture.
WORDS, CONTROLS, PICTURE_PX = 60, 8, 80
_MEASURE = Path(__file__).with_name("measure.js").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Seen:
    """A figure on one screen, whose drawer is closed. Lengths are pixels."""

    name: str  # as it is spoken
    title: str  # empty where none is in sight
    height: int
    first_picture: int  # from the figure's top
    controls: int  # around the stage
    in_stage: int  # controls that are part of the picture, as the bits of a number
    words: int  # around the stage
    words_in_stage: int
    share: float  # of the figure's area, the stage's
    type: float  # the smallest
    smallest: str  # what is written in it


def measure(figure: Locator) -> Seen:
    """What a reader sees of the figure in this place of a page."""
    return Seen(**figure.evaluate(_MEASURE))
