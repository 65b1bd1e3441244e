"""MemoryBudget on the static page: by mouse, by keyboard, by link, in the dark, on a phone and without scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from torchbook.viz import MemoryBudget
from torchbook.viz.memory import PARTS, results, setup

from ..conftest import Show, gallery
from ..pressing import copied, press, tab_into, words


def value(page: Page, name: str) -> Locator:
    """What the table says of a part."""
    row = page.locator(".sc-table tr", has=page.get_by_role("rowheader", name=name, exact=True))
    return row.locator(".sc-value")


def test_presets_choose_a_model_and_draw_its_parts(show: Show) -> None:
    presets = setup()["presets"]
    widgets = [MemoryBudget(preset=preset) for preset in presets]
    for widget, figure, preset in zip(widgets, gallery(show, widgets), presets.values(), strict=True):
        expect(figure.get_by_label("model", exact=True)).to_have_value(preset["model"])
        parts = [name for name in PARTS if getattr(widget.results, name) > 0]
        expect(figure.locator(".mb-part")).to_have_count(len(parts))
        widths = [float(box.get_attribute("width") or 0) for box in figure.locator(".mb-part").all()]
        whole = widget.results.total
        for name, width in zip(parts, widths, strict=True):
            assert width / sum(widths) == pytest.approx(getattr(widget.results, name) / whole, abs=0.01)
        over = float(figure.locator(".mb-over").get_attribute("width") or 0)
        assert (over > 0) == (not widget.results.fits)


def test_numbers_and_choices_change_everything(show: Show) -> None:
    page = show(MemoryBudget())
    page.get_by_label("tokens of a sequence, s", exact=True).fill("8k")
    expect(words(page)).to_have_text(MemoryBudget(seq=8000).words)
    page.get_by_label("precision", exact=True).select_option("bf16")
    page.get_by_label("checkpointing", exact=True).select_option("true")
    page.get_by_label("optimizer", exact=True).select_option("adamw8")
    expect(words(page)).to_have_text(
        MemoryBudget(seq=8000, precision="bf16", checkpoint=True, optimizer="adamw8").words
    )
    page.get_by_label("model", exact=True).select_option("1b")
    press(page, "24 GB")
    expect(page.get_by_label("memory of a GPU, GB", exact=True)).to_have_value("24")
    expect(value(page, "whole model")).to_have_text("1.23581 billion")


def test_a_shape_of_your_own(show: Show) -> None:
    page = show(MemoryBudget())
    page.get_by_text("Shape of the model").click()
    page.get_by_label("layers, L", exact=True).fill("16")
    expect(page.get_by_label("model", exact=True)).to_have_value("other")
    expect(words(page)).to_have_text(MemoryBudget(layers=16).words)
    page.get_by_label("attention heads, a", exact=True).fill("31")
    expect(page.locator(".mb-told")).to_contain_text("not a multiple of the heads")


def test_only_what_matters_is_shown(show: Show) -> None:
    page = show(MemoryBudget())
    expect(page.get_by_label("optimizer", exact=True)).to_be_visible()
    expect(page.get_by_label("rank of LoRA, r", exact=True)).to_be_hidden()
    page.get_by_label("what runs", exact=True).select_option("lora")
    expect(page.get_by_label("rank of LoRA, r", exact=True)).to_be_visible()
    page.get_by_label("what runs", exact=True).select_option("infer")
    expect(page.get_by_label("optimizer", exact=True)).to_be_hidden()
    expect(page.get_by_label("KV cache", exact=True)).to_be_visible()
    expect(value(page, "KV cache")).to_be_visible()


def test_a_wrong_number_is_named_and_changes_nothing(show: Show) -> None:
    page = show(MemoryBudget())
    field = page.get_by_label("sequences per GPU, b", exact=True)
    for typed in ("0", "2.5", "x", ""):
        field.fill(typed)
        expect(page.get_by_role("alert").filter(has_text="whole")).to_have_text("a whole number from 1 to 100000")
        expect(field).to_have_attribute("aria-invalid", "true")
    expect(words(page)).to_have_text(MemoryBudget().words)
    field.blur()
    expect(field).to_have_value("1")


def test_changes_are_a_press_away(show: Show) -> None:
    page = show(MemoryBudget(preset="8b"))
    first = page.locator(".mb-list li", has_text="change this first")
    expect(first).to_have_count(1)
    first.get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(words(page)).to_have_text(MemoryBudget(preset="8b", gpus=8, zero=3).words)
    expect(page.locator(".mb-list li", has_text="change this first")).to_have_count(0)
    assert page.evaluate("document.activeElement.closest('.mb-list') !== null")


def test_a_remedy_is_taken_and_taken_back(show: Show) -> None:
    page = show(MemoryBudget(preset="8b", seq=4096))
    remedy = page.get_by_role("button", name="8 GPUs, split", exact=True)
    line, gone = page.locator(".mb-card"), page.locator(".mb-gone")
    before = line.get_attribute("d")
    expect(remedy).to_have_attribute("aria-pressed", "false")
    remedy.click()
    expect(words(page)).to_have_text(MemoryBudget(preset="8b", seq=4096, gpus=8, zero=3).words)
    expect(remedy).to_have_attribute("aria-pressed", "true")
    assert line.get_attribute("d") == before
    assert float(gone.get_attribute("width") or 0) > 50
    expect(page.locator(".mb-less")).to_contain_text("−")
    remedy.click()
    expect(words(page)).to_have_text(MemoryBudget(preset="8b", seq=4096).words)
    assert float(gone.get_attribute("width") or 0) == 0


def test_a_remedy_gives_back_what_it_replaced(show: Show) -> None:
    page = show(MemoryBudget(preset="8b", precision="master", optimizer="muon"))
    for name in ("8-bit optimizer", "bf16 only", "8-bit optimizer", "bf16 only"):
        press(page, name)
    expect(words(page)).to_have_text(MemoryBudget(preset="8b", precision="master", optimizer="muon").words)


def test_remedies_are_those_of_what_runs_and_the_first_is_marked(show: Show) -> None:
    page = show(MemoryBudget(preset="8b"))
    bar = page.get_by_role("toolbar", name="What saves memory")
    expect(bar.get_by_role("button")).to_have_text(
        ["flash attention", "recompute layers", "8-bit optimizer", "8 GPUs, split", "bf16 only", "LoRA"]
    )
    expect(bar.locator(".mb-first")).to_have_text(["8 GPUs, split"])
    bar.get_by_role("button", name="LoRA").click()
    expect(bar.get_by_role("button", name="LoRA")).to_be_focused()
    expect(bar.get_by_role("button")).to_have_text(
        ["flash attention", "recompute layers", "8-bit optimizer", "8 GPUs, split", "LoRA", "4-bit weights"]
    )
    expect(bar.locator(".mb-first")).to_have_count(0)
    page.get_by_label("what runs", exact=True).select_option("infer")
    expect(bar.get_by_role("button")).to_have_text(["8-bit weights", "4-bit weights", "8-bit KV cache"])


def test_parts_glide_to_their_new_places(show: Show) -> None:
    page = show(MemoryBudget(preset="8b"), motion=True)
    part = page.locator(".mb-part.mb-optimizer")
    before = part.evaluate("part => (window.part = part).getBoundingClientRect().width")
    press(page, "8-bit optimizer")
    between = part.evaluate(
        "part => new Promise((done) => setTimeout(() => done(part.getBoundingClientRect().width), 120))"
    )
    page.wait_for_function("before => part.getBoundingClientRect().width < before / 3", arg=before)
    after = part.evaluate("part => part.getBoundingClientRect().width")
    assert after < between < before
    assert part.evaluate("part => part === window.part")


def test_fields_by_arrow_keys(show: Show) -> None:
    page = show(MemoryBudget())
    page.get_by_label("GPUs, K", exact=True).focus()
    page.keyboard.press("ArrowUp")
    expect(page.get_by_label("GPUs, K", exact=True)).to_have_value("2")
    page.get_by_label("tokens of a sequence, s", exact=True).focus()
    page.keyboard.press("ArrowUp")
    expect(page.get_by_label("tokens of a sequence, s", exact=True)).to_have_value("2304")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Shift+ArrowUp")
    expect(page.get_by_label("tokens of a sequence, s", exact=True)).to_have_value("4096")
    expect(words(page)).to_have_text(MemoryBudget(gpus=2, seq=4096).words)


def test_copied_code_prints_the_results(show: Show, capsys: pytest.CaptureFixture[str]) -> None:
    page = show(MemoryBudget(preset="8b-qlora"), permissions=["clipboard-read"])
    press(page, "Copy as Python")
    exec(copied(page), {})
    printed = dict(line.split(" ", 1) for line in capsys.readouterr().out.splitlines())
    assert float(printed["total"]) == pytest.approx(results(MemoryBudget(preset="8b-qlora").setting).total, rel=1e-12)


def test_presets_by_keyboard(show: Show) -> None:
    page = show(MemoryBudget())
    tab_into(page, "Presets")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(words(page)).to_have_text(MemoryBudget(preset="1b").words)
    page.keyboard.press("Tab")  # what saves memory
    page.keyboard.press("Tab")  # the drawer
    page.keyboard.press("Tab")  # the presets in it
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.labels[0].textContent") == "model"
