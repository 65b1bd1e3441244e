"""ScalingCalculator on the static page: by mouse, by keyboard, by link, in the dark, on a phone and without scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from torchbook.viz import ScalingCalculator
from torchbook.viz.scaling import results

from ..conftest import Show
from ..pressing import copied, press, tab_into, words


def value(page: Page, name: str) -> Locator:
    """What the table says of a result."""
    row = page.locator(".sc-table tr", has=page.get_by_role("rowheader", name=name, exact=True))
    return row.locator(".sc-value")


def test_a_typed_number_changes_everything(show: Show) -> None:
    page = show(ScalingCalculator())
    expect(value(page, "ring all-reduce")).to_have_text("7.00 ms")
    page.get_by_label("parameters", exact=True).fill("700M")
    expect(value(page, "ring all-reduce")).to_have_text("14.0 ms")
    page.get_by_label("bandwidth, one direction, GB/s").fill("600")
    expect(value(page, "ring all-reduce")).to_have_text("7.00 ms")
    expect(page.get_by_label("link between GPUs")).to_have_value("other")
    expect(words(page)).to_have_text(ScalingCalculator(parameters=700e6, bandwidth_gb=600.0).words)


def test_a_wrong_number_is_named_and_changes_nothing(show: Show) -> None:
    page = show(ScalingCalculator())
    field = page.get_by_label("GPUs, K")
    for typed in ("0", "2.5", "x", "", "2000"):
        field.fill(typed)
        expect(page.get_by_role("alert").filter(has_text="whole")).to_have_text("a whole number from 1 to 1024")
        expect(field).to_have_attribute("aria-invalid", "true")
    expect(value(page, "global batch")).to_have_text("128")
    field.blur()
    expect(field).to_have_value("4")
    expect(field).not_to_have_attribute("aria-invalid", "true")


def test_fields_by_arrow_keys(show: Show) -> None:
    page = show(ScalingCalculator())
    page.get_by_label("GPUs, K").focus()
    page.keyboard.press("ArrowUp")
    expect(page.get_by_label("GPUs, K")).to_have_value("5")
    page.keyboard.press("Shift+ArrowUp")
    expect(value(page, "global batch")).to_have_text("480")
    page.get_by_label("backward usable to hide communication, %").focus()
    page.keyboard.press("ArrowUp")
    expect(page.get_by_label("backward usable to hide communication, %")).to_have_value("5")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("backward usable to hide communication, %")).to_have_value("0")
    page.get_by_label("parameters", exact=True).focus()
    page.keyboard.press("ArrowUp")
    expect(page.get_by_label("parameters", exact=True)).to_have_value("360M")


def test_links_and_rules_are_chosen(show: Show) -> None:
    page = show(ScalingCalculator())
    page.get_by_label("link between GPUs").select_option("ethernet-100g")
    expect(page.get_by_label("bandwidth, one direction, GB/s")).to_have_value("12.5")
    expect(page.locator(".sc-told")).to_have_text("100 Gb Ethernet: 100 Gbit/s in each direction, 12.5 GB/s.")
    page.get_by_label("link between GPUs").select_option("nvlink-a100")
    expect(page.locator(".sc-told")).to_contain_text("data sheets say 600 GB/s, both directions together")
    page.get_by_label("rule for the learning rate").select_option("sqrt")
    expect(value(page, "learning rate")).to_have_text("2e−4")


def test_bar_and_curve_follow(show: Show) -> None:
    page = show(ScalingCalculator(overlap=5.0))
    bar = page.locator(".sc-step")
    expect(bar).to_have_attribute(
        "aria-label",
        "One step of 84.3 ms: 80.0 ms compute, 2.67 ms of communication hidden behind it, 4.33 ms exposed.",
    )
    boxes = [page.locator(f"svg.sc-svg > .sc-{name}").bounding_box() for name in ("compute", "hidden", "exposed")]
    widths = [box["width"] for box in boxes if box]
    assert widths[0] / sum(widths[::2]) == pytest.approx(80 / 84.33, abs=0.01)
    assert widths[1] / widths[0] == pytest.approx(2.667 / 80, abs=0.01)


def test_curve_sets_the_number_of_gpus(show: Show) -> None:
    page = show(ScalingCalculator())
    plot = page.locator(".sc-curve")
    box = plot.bounding_box()
    assert box
    plot.click(position={"x": 30 + (box["width"] - 46) * 31 / 63, "y": box["height"] / 4})
    expect(page.get_by_label("GPUs, K")).to_have_value("32")
    page.get_by_label("GPUs, K").fill("100")
    expect(page.locator(".sc-point")).to_have_count(0)


def test_the_point_is_dragged_along_the_curve(show: Show) -> None:
    page = show(ScalingCalculator())
    point = page.get_by_role("slider", name="Number of GPUs")
    box = point.bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 200, y, steps=4)
    page.mouse.up()
    gpus = int(point.get_attribute("aria-valuenow") or 0)
    assert gpus > 16
    expect(page.get_by_label("GPUs, K")).to_have_value(str(gpus))
    point.press("ArrowLeft")
    point.press("PageDown")
    expect(words(page)).to_have_text(ScalingCalculator(gpus=gpus - 9).words)
    point.press("End")
    point.press("ArrowRight")
    expect(words(page)).to_have_text(ScalingCalculator(gpus=64).words)
    assert min(box["width"], box["height"]) > 43.9


def test_sliders_of_sizes_move_by_every_key(show: Show) -> None:
    page = show(ScalingCalculator(bandwidth_gb=1.0))
    link = page.get_by_label("link", exact=True)
    seen = [link.get_attribute("aria-valuetext")]
    for _ in range(12):
        link.press("ArrowRight")
        seen.append(link.get_attribute("aria-valuetext"))
    assert seen[0] == "1 GB/s"
    assert seen[-1] == "4 GB/s"
    assert len(set(seen)) == len(seen)
    expect(words(page)).to_have_text(ScalingCalculator(bandwidth_gb=4.0).words)
    page.get_by_label("overlap", exact=True).fill("40")
    page.get_by_label("model", exact=True).fill("60")
    expect(words(page)).to_have_text(ScalingCalculator(bandwidth_gb=4.0, overlap=40.0, parameters=1e9).words)
    expect(page.get_by_label("parameters", exact=True)).to_have_value("1B")


def test_the_curve_glides(show: Show) -> None:
    page = show(ScalingCalculator(), motion=True)
    curve = page.locator(".sc-line")
    before = curve.get_attribute("d")
    press(page, "over Ethernet")
    between = curve.evaluate("path => new Promise((done) => setTimeout(() => done(path.getAttribute('d')), 120))")
    page.wait_for_timeout(600)
    assert len({before, between, curve.get_attribute("d")}) == 3


def test_copied_code_prints_the_results(show: Show, capsys: pytest.CaptureFixture[str]) -> None:
    page = show(ScalingCalculator(preset="ethernet"), permissions=["clipboard-read"])
    press(page, "Copy as Python")
    exec(copied(page), {})
    printed = dict(line.split(" ", 1) for line in capsys.readouterr().out.splitlines())
    assert float(printed["ring"]) == results(ScalingCalculator(preset="ethernet").setting).ring


def test_presets_by_keyboard(show: Show) -> None:
    page = show(ScalingCalculator())
    tab_into(page, "Presets")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(words(page)).to_have_text(ScalingCalculator(preset="both-directions").words)
    for _ in range(5):  # three sliders, the drawer, the presets in it
        page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.labels[0].textContent") == "parameters"


@pytest.mark.parametrize("width", [360, 390, 800])
def test_the_first_presets_are_seen_without_scrolling(show: Show, width: int) -> None:
    page = show(ScalingCalculator(), width=width)
    few = page.get_by_role("toolbar", name="Presets", exact=True)
    assert few.evaluate("(bar) => bar.scrollWidth - bar.clientWidth") <= 0


def test_the_key_says_how_long_the_parts_of_a_step_take(show: Show) -> None:
    page = show(ScalingCalculator(overlap=80.0, bandwidth_gb=30.0), width=390)
    key = page.locator(".sc-key > span")
    expect(key.nth(0)).to_have_text("computes 80.0 ms")
    expect(key.nth(1)).to_have_text("waits, sending 27.3 ms")
    expect(key.nth(2)).to_have_text("sends gradients during backward 42.7 ms")
