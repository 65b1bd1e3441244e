"""Figures: the text alternative says the right numbers, notices are shown, and wrong shapes are named."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from PIL import Image

from torchbook import figures, notices

NOTICE = "stand-in <data>, not FashionMNIST"


@pytest.fixture
def notice() -> Iterator[str]:
    notices.add(NOTICE)
    yield NOTICE
    notices.clear()


def luminance(color: str) -> float:
    channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def test_curves_alt_gives_start_end_and_extremes() -> None:
    figure = figures.curves({"loss": [3.0, 0.5, 0.75]}, x=[10, 20, 30], xlabel="step", ylabel="loss", title="Run")
    alt = figure.layout.meta["alt"]
    assert alt.startswith("Run. Line plot, loss against step.")
    assert "loss: from 3 at 10 to 0.75 at 30, lowest 0.5 at 20, highest 3 at 10." in alt


def test_curves_takes_tensors_that_need_gradients_and_a_given_alt() -> None:
    figure = figures.curves({"a": torch.ones(2, requires_grad=True)}, alt="Flat.")
    assert figure.layout.meta["alt"] == "Flat."
    assert list(figure.data[0].y) == [1, 1]


def test_curves_differ_in_more_than_colour() -> None:
    figure = figures.curves({name: [1, 2] for name in "abcdef"})
    for of in (lambda t: t.line.dash, lambda t: t.marker.symbol, lambda t: t.line.color):
        assert len({of(trace) for trace in figure.data}) == 6


@pytest.mark.parametrize("background", ["#ffffff", "#121212"])
def test_colours_are_legible_in_light_and_dark(background: str) -> None:
    assert all(contrast(color, background) >= 3 for color in figures.COLORS)
    assert contrast(figures.TEXT, background) >= 4.2


def test_figures_are_small_and_without_background() -> None:
    figure = figures.curves({"a": [1, 2]})
    assert len(figure.to_json()) < 2000
    assert figure.layout.paper_bgcolor == figure.layout.plot_bgcolor == "rgba(0,0,0,0)"
    assert figure.layout.width is None


def test_curves_says_how_shapes_are_wrong() -> None:
    with pytest.raises(ValueError, match="at least one series"):
        figures.curves({})
    with pytest.raises(ValueError, match="'b' has 3 values for 2 positions"):
        figures.curves({"a": [1, 2], "b": [1, 2, 3]})
    with pytest.raises(ValueError, match=r"'a' must be a sequence of numbers, got the shape \(1, 2\)"):
        figures.curves({"a": [[1, 2]]})  # type: ignore[list-item]


def test_confusion_alt_counts_and_names_the_most_frequent_mistakes() -> None:
    figure = figures.confusion(torch.tensor([[5, 3, 0], [1, 6, 0], [0, 0, 7]]), ["coat", "shirt", "bag"])
    alt = figure.layout.meta["alt"]
    assert "3 classes: 18 of 22 right." in alt
    assert alt.endswith("coat taken for shirt 3 times; shirt taken for coat 1 times.")


def test_confusion_colours_mistakes_only_and_writes_every_count() -> None:
    figure = figures.confusion([[5, 3], [1, 6]], ["a", "b"])
    assert [list(row) for row in figure.data[0].z] == [[0, 3], [1, 0]]
    assert [list(row) for row in figure.data[0].text] == [[5, 3], [1, 6]]
    assert "No mistakes." in figures.confusion([[1, 0], [0, 1]], ["a", "b"]).layout.meta["alt"]


def test_confusion_says_how_shapes_are_wrong() -> None:
    with pytest.raises(ValueError, match=r"square matrix, got the shape \(1, 2\)"):
        figures.confusion([[1, 2]], ["a", "b"])
    with pytest.raises(ValueError, match="3 class names for a 2 x 2 matrix"):
        figures.confusion([[1, 2], [3, 4]], ["a", "b", "c"])


def test_image_grid_is_escaped_and_pngs_hold_the_pixels() -> None:
    pixels = np.arange(2 * 4 * 5, dtype=np.uint8).reshape(2, 4, 5)
    html = figures.image_grid(pixels, ["a < b", "c"], alts=['say "x"', "y"])._repr_html_()
    assert "a &lt; b" in html
    assert 'alt="say &quot;x&quot;"' in html
    assert "<script" not in html
    sources = re.findall(r'src="data:image/png;base64,([^"]+)"', html)
    shown = [np.asarray(Image.open(io.BytesIO(base64.b64decode(source)))) for source in sources]
    assert np.array_equal(shown, pixels)


def test_image_grid_is_deterministic_and_stretches_floats() -> None:
    images = torch.linspace(-1, 2, 18).reshape(2, 1, 3, 3)
    first, second = (figures.image_grid(images, ["a", "b"]) for _ in range(2))
    assert first._repr_html_() == second._repr_html_()
    shown = np.asarray(Image.open(io.BytesIO(first.png[0])))
    assert (shown.min(), shown.max()) == (0, 255)
    assert first.alts == ("Picture: a", "Picture: b")
    assert repr(first) == "a\nb"


def test_image_grid_says_how_shapes_are_wrong() -> None:
    with pytest.raises(ValueError, match=r"got \(3, 3\)"):
        figures.image_grid(np.zeros((3, 3)), ["a"])
    with pytest.raises(ValueError, match="1 captions for 2 images"):
        figures.image_grid(np.zeros((2, 3, 3)), ["a"])
    with pytest.raises(ValueError, match="1 alts for 2 images"):
        figures.image_grid(np.zeros((2, 3, 3)), ["a", "b"], alts=["a"])


def test_every_figure_says_what_must_be_said(notice: str) -> None:
    for figure in (figures.curves({"a": [1, 2]}, title="T"), figures.confusion([[1, 0], [0, 1]], ["a", "b"])):
        assert "stand-in &lt;data&gt;" in figure.layout.title.text
        assert notice in figure.layout.meta["alt"]
    assert "stand-in &lt;data&gt;" in figures.image_grid(np.zeros((1, 2, 2)), ["a"])._repr_html_()


def test_without_notices_nothing_is_said() -> None:
    assert notices.current() == ()
    assert figures.curves({"a": [1, 2]}, title="T").layout.title.text == "T"
    assert "<p" not in figures.image_grid(np.zeros((1, 2, 2)), ["a"])._repr_html_()


def test_a_long_title_is_broken_for_phones() -> None:
    title = figures.curves({"a": [1, 2]}, title="REINFORCE on CartPole, mean of three seeds").layout.title.text
    assert title == "REINFORCE on CartPole, mean of three<br>seeds"
