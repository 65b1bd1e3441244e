"""StrategyTool on the static page: by mouse, by keyboard, by link, in the dark, on a phone and without scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.axe import violations
from torchbook.viz import StrategyTool
from torchbook.viz.strategy import STRATEGIES, setup

from .conftest import Show, mounted, overflow

PRESETS = list(setup()["presets"])


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def words(page: Page) -> Locator:
    return page.locator(".tbviz-words")


def copied(page: Page) -> str:
    expect(page.locator(".tbviz-status").filter(has_text="Copied")).to_be_visible()
    return str(page.evaluate("navigator.clipboard.readText()"))


@pytest.mark.parametrize("preset", PRESETS)
def test_page_says_what_python_says(show: Show, preset: str) -> None:
    widget = StrategyTool(preset=preset)
    page = show(widget)
    expect(words(page)).to_have_text(widget.words)
    pressed = page.get_by_role("toolbar", name="Presets").get_by_role("button", pressed=True)
    expect(pressed).to_have_text([setup()["presets"][preset]["label"]])
    expect(page.locator(".st-walk li")).to_have_count(len(widget.plan.steps))
    expect(page.locator(".st-question")).to_have_text([step.question for step in widget.plan.steps])
    expect(page.locator(".st-board tbody tr")).to_have_count(len(widget.plan.candidates))
    chosen = page.locator(".st-board").get_by_role("button", pressed=True)
    expect(chosen).to_have_text([STRATEGIES[widget.plan.strategy]])


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
    name = page.locator(".st-board").get_by_role("button", name=STRATEGIES["hsdp"], exact=True)
    name.focus()
    page.keyboard.press("Enter")
    expect(words(page)).to_have_text(StrategyTool(preset="70b", show="hsdp").words)
    expect(name).to_be_focused()
    expect(page.locator(".sc-table")).to_contain_text("all-reduce: gradient shards")
    expect(page.locator(".st-about")).to_contain_text("mesh of two dimensions")


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
    page.keyboard.press("Tab")
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


@pytest.mark.parametrize("preset", PRESETS)
def test_preset_by_link(show: Show, preset: str) -> None:
    page = show(StrategyTool(nodes=3, show="ddp"), hash=f"#tbviz-strategy-1:{preset}")
    expect(words(page)).to_have_text(StrategyTool(preset=preset).words)


def test_any_state_by_link(show: Show) -> None:
    widget = StrategyTool(preset="70b", nodes=7, show="tp", link="mine")
    page = show(widget, permissions=["clipboard-read"])
    press(page, "Copy link")
    address = copied(page)
    assert "#tbviz-mine=" in address
    other = show(StrategyTool(link="mine"), hash="#" + address.split("#")[1])
    expect(words(other)).to_have_text(widget.words)


@pytest.mark.parametrize("rest", [":nothing", "=e30x", "=%", "=eyJub2RlcyI6MH0", "=eyJzaG93IjoieCJ9", "=eyJ4IjoxfQ"])
def test_a_broken_link_changes_nothing(show: Show, rest: str) -> None:
    widget = StrategyTool(nodes=5)
    expect(words(show(widget, hash=f"#tbviz-strategy-1{rest}"))).to_have_text(widget.words)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 800])
def test_accessible_and_inside_the_page(show: Show, theme: str, width: int) -> None:
    page = show(StrategyTool(preset="405b"), theme=theme, width=width)
    page.get_by_label("nodes", exact=True).fill("0")
    for summary in page.locator("summary").all():
        summary.click()
    assert violations(page) == []
    assert overflow(page) == 0


def test_targets_are_large_enough(show: Show) -> None:
    page = show(StrategyTool(), width=360)
    small = page.evaluate("""() => [...document.querySelectorAll('.tbviz :is(button, input, select, [tabindex])')]
        .map((e) => [e.getBoundingClientRect(), e.outerHTML.slice(0, 80)])
        .filter(([box]) => box.width && (box.width < 24 || box.height < 24)).map(([, html]) => html)""")
    assert small == []


def test_without_scripts_picture_and_words_are_there(show: Show) -> None:
    widget = StrategyTool(preset="long")
    page = show(widget, java_script_enabled=False, ready=False, width=360)
    expect(page.get_by_role("img", name=widget.words)).to_be_visible()
    expect(page.locator(".viz-words")).to_have_text(widget.words)
    assert overflow(page) == 0


def test_two_views_show_one_state(show: Show) -> None:
    widget = StrategyTool()
    page = show(mounted(widget, model="m1"), mounted(widget, model="m1"))
    page.locator(".tbviz").nth(1).wait_for()
    page.get_by_label("nodes", exact=True).nth(0).fill("16")
    expect(words(page).nth(1)).to_have_text(StrategyTool(nodes=16).words)
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))
