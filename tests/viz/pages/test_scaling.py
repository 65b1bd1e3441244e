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
    bar = page.locator(".sc-svg").first
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
    plot.click(position={"x": 34 + (box["width"] - 46) * 31 / 63, "y": box["height"] / 2})
    expect(page.get_by_label("GPUs, K")).to_have_value("32")
    page.get_by_label("GPUs, K").fill("100")
    expect(page.locator(".sc-dot")).to_have_count(0)


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
    page.keyboard.press("Tab")  # the drawer
    page.keyboard.press("Tab")  # the presets in it
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.labels[0].textContent") == "parameters"
