"""StrategyTool on the static page: by mouse, by keyboard, by link, in the dark, on a phone and without scripts."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from playwright.sync_api import Locator, Page, expect

from torchbook.viz import StrategyTool
from torchbook.viz.strategy import STRATEGIES, setup
from torchbook.viz.units import amount

from ..conftest import Show, gallery
from ..pressing import copied, press, tab_into, words

PRESETS = list(setup()["presets"])


def test_plans_of_presets_are_written_out(show: Show) -> None:
    widgets = [StrategyTool(preset=preset) for preset in PRESETS]
    for widget, figure in zip(widgets, gallery(show, widgets), strict=True):
        expect(figure.locator(".st-walk li")).to_have_count(len(widget.plan.steps))
        expect(figure.locator(".st-question")).to_have_text([step.question for step in widget.plan.steps])
        expect(figure.locator(".st-board tbody tr")).to_have_count(len(widget.plan.candidates))
        chosen = figure.get_by_role("listbox").get_by_role("option", selected=True)
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


def way(page: Page, name: str) -> Locator:
    """The way to split the work, in the list of them."""
    return page.get_by_role("listbox").get_by_role("option", name=re.compile(f"^{re.escape(STRATEGIES[name])}: "))


def test_a_candidate_is_shown_by_its_name(show: Show) -> None:
    page = show(StrategyTool(preset="70b"))
    ways = page.get_by_role("listbox")
    ways.focus()
    page.keyboard.press("ArrowRight")
    expect(words(page)).to_have_text(StrategyTool(preset="70b", show="hsdp").words)
    expect(ways).to_be_focused()
    expect(way(page, "hsdp")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".sc-table")).to_contain_text("all-reduce: gradient shards")
    expect(page.locator(".st-about")).to_contain_text("mesh of two dimensions")
    page.keyboard.press("Home")
    expect(words(page)).to_have_text(StrategyTool(preset="70b", show="ddp").words)


def test_the_cluster_shows_what_each_gpu_keeps(show: Show) -> None:
    page = show(StrategyTool(preset="70b"), width=1280)
    kept, boxes = page.locator(".st-kept"), page.locator(".st-box")
    expect(boxes).to_have_count(64)
    size = "(all, side) => all.map((one) => Number(one.getAttribute(side)))"
    for show_one, part in (("fsdp", 1 / 64), ("ddp", 1), ("hsdp", 1 / 8)):
        way(page, show_one).click()
        expect(words(page)).to_have_text(StrategyTool(preset="70b", show=show_one).words)
        wide, whole = (one.evaluate_all(size, "width") for one in (kept, boxes))
        assert wide == pytest.approx([max(4, part * width) for width in whole])  # no narrower than can be seen
        assert kept.evaluate_all(size, "height") == boxes.evaluate_all(size, "height")
    hues = "(all) => new Set(all.map((one) => one.style.getPropertyValue('--hue'))).size"
    for show_one, different in (("fsdp", 64), ("ddp", 1), ("hsdp", 8)):
        way(page, show_one).click()
        expect(words(page)).to_have_text(StrategyTool(preset="70b", show=show_one).words)
        assert page.locator(".st-gpu").evaluate_all(hues) == different  # a colour for each piece of the model


def test_one_gpu_alone_leaves_the_others_idle(show: Show) -> None:
    page = show(StrategyTool(preset="70b", show="single"))
    expect(page.locator(".st-idle")).to_have_count(63)
    expect(way(page, "single")).to_have_attribute("aria-selected", "true")


@pytest.mark.parametrize("name", ["8b", "long", "70b", "405b"])
def test_who_talks_to_whom(show: Show, name: str) -> None:
    widget = StrategyTool(preset=name)
    chosen = widget.plan.chosen
    assert chosen
    page = show(widget, width=1280)
    page.locator("[data-part=gpu1]").hover()
    told = page.locator(".st-who")
    dims = list(dict.fromkeys(one.dim for one in chosen.transfers))
    expect(told).to_have_count(len(dims))
    for line, dim in zip(told.all(), dims, strict=True):
        sent = amount(sum(one.sent for one in chosen.transfers if one.dim == dim))
        expect(line).to_contain_text(f", {sent} a step")
        expect(page.locator(f"[data-wire={dim}]").first).to_be_attached()
    if chosen.layout.tp > 1:
        expect(page.locator("[data-wire=tp]")).to_have_count(chosen.layout.tp - 1)
    page.mouse.move(0, 0)
    expect(page.locator("[data-wire]")).to_have_count(0)


def test_gpus_by_keyboard(show: Show) -> None:
    page = show(StrategyTool(preset="70b", show="hsdp"))
    cells = page.get_by_role("slider", name="GPUs of the cluster")
    page.keyboard.press("Tab")
    expect(cells).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(cells).to_have_attribute("aria-valuetext", re.compile(r"^GPU 2: shard 2/8, batch 2/64; shards: 7 in the"))
    expect(page.locator("[data-wire=shard]")).to_have_count(7)
    expect(page.locator("[data-wire=replicate]")).to_have_count(7)


def test_model_and_gpus_are_dragged(show: Show) -> None:
    page = show(StrategyTool(preset="8b"))
    page.get_by_role("slider", name="GPUs", exact=True).press("ArrowRight")
    expect(words(page)).to_have_text(StrategyTool(preset="8b", nodes=2).words)
    page.get_by_role("slider", name="GPUs", exact=True).press("Home")
    expect(words(page)).to_have_text(StrategyTool(preset="8b", gpus_per_node=1).words)
    size = page.get_by_role("slider", name="Model", exact=True)
    size.press("ArrowRight")
    expect(size).to_have_attribute("aria-valuetext", "13B")
    expect(words(page)).to_have_text(re.compile(r"^13\.\d+ billion parameters on one GPU\."))


def test_a_model_and_a_cluster_of_ones_own_stand_at_the_sliders(show: Show) -> None:
    page = show(StrategyTool(preset="8b", layers=30, gpus_per_node=7))
    expect(page.get_by_role("slider", name="GPUs", exact=True)).to_have_attribute("aria-valuetext", "7")
    expect(page.get_by_role("slider", name="Model", exact=True)).to_have_attribute("aria-valuetext", "7.6 billion")


def test_what_does_not_fit_stands_over_the_limit(show: Show) -> None:
    page = show(StrategyTool(preset="8b"))
    over = page.locator(".st-over")
    expect(over).to_have_attribute("height", "0")
    way(page, "zero2").click()
    expect(words(page)).to_have_text(StrategyTool(preset="8b", show="zero2").words)
    box, line = (page.locator(one).bounding_box() for one in (".st-over", ".st-limit"))
    assert box
    assert line
    assert box["height"] > 3
    assert box["y"] + box["height"] == pytest.approx(line["y"] + line["height"] / 2, abs=2.5)


def test_what_a_cluster_cannot_do_is_in_the_list_too(show: Show) -> None:
    page = show(StrategyTool(preset="8b"))
    off = page.get_by_role("option", name=f"{STRATEGIES['hsdp']}: not on this cluster")
    expect(off).to_have_attribute("aria-disabled", "true")
    off.dispatch_event("click")
    expect(words(page)).to_have_text(StrategyTool(preset="8b").words)
    ways = page.get_by_role("listbox").get_by_role("option")
    expect(ways).to_have_count(len(STRATEGIES) - 1)  # one GPU alone is a way only where there is no other


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
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.labels[0].textContent") == "model"


def test_copied_code_is_of_what_is_shown(show: Show) -> None:
    page = show(StrategyTool(preset="8b", show="zero2"), permissions=["clipboard-read"])
    press(page, "Copy as PyTorch")
    code = copied(page)
    compile(code, "copied", "exec")
    assert "torchrun --standalone --nproc-per-node=8" in code
    assert "reshard_after_forward=False" in code


@pytest.mark.parametrize("width", [390, 800])
def test_the_limit_bears_its_name(show: Show, width: int) -> None:
    page = show(StrategyTool(), width=width)
    expect(page.locator(".st-named")).to_have_text("limit 72 of 80 GB" if width > 640 else "limit 72 GB")
    name, line = (page.locator(one).bounding_box() for one in (".st-named", ".st-limit"))
    assert name
    assert line
    assert abs(name["y"] + name["height"] / 2 - line["y"] - line["height"] / 2) < 3
    assert line["x"] + line["width"] <= name["x"] + 1
    assert name["x"] + name["width"] <= width


@pytest.mark.parametrize("width", [360, 390])
def test_the_ways_stand_in_one_row_on_a_phone(show: Show, width: int) -> None:
    page = show(StrategyTool(preset="8b"), width=width, has_touch=True, is_mobile=True)
    boxes = [one.bounding_box() for one in page.locator(".st-ways [role=option]:visible").all()]
    assert len(boxes) == 7
    assert len({round(box["y"]) for box in boxes if box}) == 1
    assert min(box["width"] for box in boxes if box) >= 40
    cut = page.locator(".st-ways .st-name").evaluate_all(
        "(all) => all.filter((one) => one.scrollWidth > one.parentElement.clientWidth).length"
    )
    assert cut == 0


@pytest.mark.parametrize("width", [390, 800])
def test_every_size_in_the_stack_has_its_unit(show: Show, width: int) -> None:
    page = show(StrategyTool(preset="70b"), width=width)
    sizes = [text for text in page.locator(".st-size").all_text_contents() if text.strip()]
    assert sizes
    assert all(text.endswith(" GB") for text in sizes)
    assert page.locator(".st-stack text").evaluate_all(
        f"(all) => all.every((one) => one.getBoundingClientRect().right <= {width})"
    )


@pytest.mark.parametrize("width", [390, 800])
@pytest.mark.parametrize("state", [{}, {"show": "ddp"}])
def test_every_piece_of_the_stack_has_its_name(show: Show, width: int, state: dict[str, str]) -> None:
    page = show(StrategyTool(preset="8b", **state), width=width)
    pieces = page.locator(".st-piece").evaluate_all(
        "(all) => all.filter((one) => Number(one.getAttribute('height')) > 0).length"
    )
    named = page.locator(".st-stack text:has(tspan)")
    assert named.count() >= pieces > 1
    boxes = sorted(named.evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().toJSON())"),
                   key=lambda box: box["y"])  # fmt: skip
    assert all(b["bottom"] + b["top"] - a["bottom"] - a["top"] >= 26 for a, b in pairwise(boxes))
