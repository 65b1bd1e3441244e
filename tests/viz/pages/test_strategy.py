"""StrategyTool on the static page: by mouse, by keyboard, by link, in the dark, on a phone and without scripts."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from torchbook.viz import StrategyTool
from torchbook.viz.strategy import STRATEGIES, setup

from ..conftest import Show, gallery
from ..pressing import copied, press, tab_into, words

PRESETS = list(setup()["presets"])


def test_plans_of_presets_are_written_out(show: Show) -> None:
    widgets = [StrategyTool(preset=preset) for preset in PRESETS]
    for widget, figure in zip(widgets, gallery(show, widgets), strict=True):
        expect(figure.locator(".st-walk li")).to_have_count(len(widget.plan.steps))
        expect(figure.locator(".st-question")).to_have_text([step.question for step in widget.plan.steps])
        expect(figure.locator(".st-board tbody tr")).to_have_count(len(widget.plan.candidates))
        chosen = figure.locator(".st-rows").get_by_role("button", pressed=True)
        expect(chosen).to_have_count(1)
        expect(chosen).to_have_accessible_name(re.compile(f"^{re.escape(STRATEGIES[widget.plan.strategy])}: "))


def test_numbers_and_choices_change_everything(show: Show) -> None:
    page = show(StrategyTool())
    page.get_by_label("tokens of a sequence, s", exact=True).fill("8k")
    expect(words(page)).to_have_text(StrategyTool(seq=8000).words)
    page.get_by_label("precision", exact=True).select_option("bf16")
    page.get_by_label("checkpointing", exact=True).select_option("true")
    expect(words(page)).to_have_text(StrategyTool(seq=8000, precision="bf16", checkpoint=True).words)
    page.get_by_label("model", exact=True).select_option("70b")
    page.get_by_label("GPU", exact=True).select_option("rtx4090")
    expect(page.get_by_label("memory of a GPU, GB", exact=True)).to_have_value("24")
    page.get_by_label("network between nodes", exact=True).select_option("eth100")
    expect(page.get_by_label("link between nodes, per GPU, GB/s", exact=True)).to_have_value("12.5")
    wanted = StrategyTool(model="70b", card="rtx4090", inter_gb=12.5, seq=8000, precision="bf16", checkpoint=True)
    expect(words(page)).to_have_text(wanted.words)


def test_a_candidate_is_shown_by_its_name(show: Show) -> None:
    page = show(StrategyTool(preset="70b"))
    name = page.locator(".st-rows").get_by_role("button", name=STRATEGIES["hsdp"])
    name.focus()
    page.keyboard.press("Enter")
    expect(words(page)).to_have_text(StrategyTool(preset="70b", show="hsdp").words)
    expect(name).to_be_focused()
    expect(page.locator(".sc-table")).to_contain_text("all-reduce: gradient shards")
    expect(page.locator(".st-about")).to_contain_text("mesh of two dimensions")


def test_the_cluster_shows_what_each_gpu_keeps(show: Show) -> None:
    page = show(StrategyTool(preset="70b"))
    kept, boxes = page.locator(".st-kept"), page.locator(".st-box")
    expect(boxes).to_have_count(16)  # of two of the eight nodes
    size = "(all) => all.map((one) => Number(one.getAttribute('width')) * Number(one.getAttribute('height')))"
    for show_one, part in (("fsdp", 1 / 64), ("ddp", 1), ("hsdp", 1 / 8)):
        page.locator(".st-rows").get_by_role("button", name=f"{STRATEGIES[show_one]}: ").click()
        expect(words(page)).to_have_text(StrategyTool(preset="70b", show=show_one).words)
        for area, whole in zip(kept.evaluate_all(size), boxes.evaluate_all(size), strict=True):
            assert area / whole == pytest.approx(part, abs=0.02)
    page.locator(".st-rows").get_by_role("button", name=f"{STRATEGIES['single']}: ").click()
    expect(page.locator(".st-idle")).to_have_count(15)


def test_what_a_cluster_cannot_do_has_its_row_too(show: Show) -> None:
    page = show(StrategyTool(preset="8b"))
    row = page.get_by_role("button", name=f"{STRATEGIES['hsdp']}: not on this cluster")
    expect(row).to_have_attribute("aria-disabled", "true")
    row.press("Enter")
    expect(words(page)).to_have_text(StrategyTool(preset="8b").words)
    expect(page.locator(".st-rows").get_by_role("button")).to_have_count(len(STRATEGIES))


def test_a_wrong_number_is_named_and_changes_nothing(show: Show) -> None:
    page = show(StrategyTool())
    field = page.get_by_label("nodes", exact=True)
    for typed in ("0", "2.5", "x", ""):
        field.fill(typed)
        expect(page.get_by_role("alert").filter(has_text="whole")).to_have_text("a whole number from 1 to 10000")
        expect(field).to_have_attribute("aria-invalid", "true")
    expect(words(page)).to_have_text(StrategyTool().words)
    field.blur()
    expect(field).to_have_value("1")


def test_fields_by_arrow_keys(show: Show) -> None:
    page = show(StrategyTool())
    page.get_by_label("nodes", exact=True).focus()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(page.get_by_label("nodes", exact=True)).to_have_value("4")
    page.get_by_label("tokens of a sequence, s", exact=True).focus()
    page.keyboard.press("ArrowUp")
    expect(page.get_by_label("tokens of a sequence, s", exact=True)).to_have_value("2304")
    expect(words(page)).to_have_text(StrategyTool(nodes=4, seq=2304).words)


def test_presets_by_keyboard(show: Show) -> None:
    page = show(StrategyTool())
    tab_into(page, "Presets")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(words(page)).to_have_text(StrategyTool(preset=PRESETS[1]).words)
    for _ in range(3):  # the drawer, the other presets, and the first field
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.labels[0].textContent") == "model"


def test_copied_code_is_of_what_is_shown(show: Show) -> None:
    page = show(StrategyTool(preset="8b", show="zero2"), permissions=["clipboard-read"])
    press(page, "Copy as PyTorch")
    code = copied(page)
    compile(code, "copied", "exec")
    assert "torchrun --standalone --nproc-per-node=8" in code
    assert "reshard_after_forward=False" in code


# The right edge of the words before the limit's name.
MEMORY = """(words) => {
  const range = document.createRange();
  range.selectNodeContents(words);
  range.setEndBefore(words.lastChild);
  return range.getBoundingClientRect().right;
}"""


@pytest.mark.parametrize("width", [390, 800])
def test_strip_and_limit_bear_their_names(show: Show, width: int) -> None:
    page = show(StrategyTool(), width=width)
    expect(page.locator(".st-caption")).to_have_text("a box: the whole model")
    expect(page.locator(".st-named")).to_have_text("limit 72 GB")
    name, line = (page.locator(one).first.bounding_box() for one in (".st-named", ".st-limit"))
    assert name
    assert line
    assert abs(name["x"] + name["width"] / 2 - line["x"] - line["width"] / 2) < 3
    memory = page.locator(".st-over-bars").evaluate(MEMORY)
    assert memory < name["x"]
