"""KVCacheExplorer on the static page: by mouse, by keyboard, by link, in the dark, on a phone and without scripts."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from torchbook.viz import KVCacheExplorer
from torchbook.viz.kvcache import pools, setup

from ..conftest import Show, overflow
from ..pressing import copied, press, words

PRESETS = list(setup()["presets"])


def test_presets_say_what_python_says(show: Show) -> None:
    page = show(KVCacheExplorer(layers=5), hash="#tbviz-kvcache-1:mqa")
    expect(words(page)).to_have_text(KVCacheExplorer(preset="mqa").words)
    presets = page.get_by_role("toolbar", name="Presets")
    for preset in PRESETS:
        presets.get_by_role("button", name=setup()["presets"][preset]["label"], exact=True).click()
        expect(words(page)).to_have_text(KVCacheExplorer(preset=preset).words)
        expect(presets.get_by_role("button", pressed=True)).to_have_text([setup()["presets"][preset]["label"]])


def test_steps_by_buttons_and_keys(show: Show) -> None:
    page = show(KVCacheExplorer())
    expect(page.get_by_role("button", name="One step back")).to_have_attribute("aria-disabled", "true")
    press(page, "One step on")
    press(page, "One step on")
    expect(words(page)).to_have_text(KVCacheExplorer(step=2).words)
    assert [page.locator(f".kv-{kind}").count() - 1 for kind in ("lost", "kept", "read")] == [21, 8, 13]
    slider = page.get_by_label("step", exact=True)
    slider.focus()
    page.keyboard.press("ArrowRight")
    expect(words(page)).to_have_text(KVCacheExplorer(step=3).words)
    page.keyboard.press("End")
    expect(words(page)).to_have_text(KVCacheExplorer(step=7).words)
    expect(slider).to_be_focused()
    page.keyboard.press("Home")
    expect(words(page)).to_have_text(KVCacheExplorer().words)


@pytest.mark.parametrize("width", [390, 800])
@pytest.mark.parametrize("way", [0, 1])
def test_a_row_is_picked_by_where_it_is_pressed(show: Show, width: int, way: int) -> None:
    page = show(KVCacheExplorer(step=3), width=width, has_touch=True)
    box = page.locator(".kv-row").nth(way).bounding_box()
    assert box
    page.touchscreen.tap(box["x"] + 9, box["y"] + 1.5 * box["height"])
    expect(words(page)).to_have_text(KVCacheExplorer(step=4).words)
    page.mouse.click(box["x"] + 30, box["y"] - 1.5 * box["height"])
    expect(words(page)).to_have_text(KVCacheExplorer(step=1).words)


def test_short_tokens_stand_upright_and_long_ones_whole(show: Show) -> None:
    for prompt in (list("What is"), ["computed", "Wait", "gypsy"]):
        page = show(KVCacheExplorer(prompt=prompt, step=2), width=390)
        svg = page.locator(".kv-svg").bounding_box()
        assert svg
        boxes = page.locator(".kv-svg text").evaluate_all(
            "(all) => all.map((one) => one.getBoundingClientRect().toJSON())"
        )
        for box in boxes:
            assert svg["x"] - 1 <= box["x"]
            assert box["x"] + box["width"] <= svg["x"] + svg["width"] + 1
            assert svg["y"] - 1 <= box["y"]
            assert box["y"] + box["height"] <= svg["y"] + svg["height"] + 1
        cells = page.locator(".kv-svg rect").evaluate_all(
            "(all) => Math.min(...all.map((one) => one.getBoundingClientRect().top))"
        )
        names = page.locator(".kv-svg text:not(.kv-way):not(.kv-row-name)")
        lowest = names.evaluate_all("(all) => Math.max(...all.map((one) => one.getBoundingClientRect().bottom))")
        assert lowest <= cells + 1


def test_a_shelf_is_chosen_by_its_heads(show: Show) -> None:
    page = show(KVCacheExplorer(preset="llama-3-8b"))
    page.get_by_role("button", name="1 KV head (MQA)").click()
    expect(words(page)).to_have_text(KVCacheExplorer(preset="llama-3-8b", kv_heads=1).words)
    page.get_by_label("sequence", exact=True).press("ArrowRight")
    widget = KVCacheExplorer(preset="llama-3-8b", kv_heads=1, length=8192)
    expect(words(page)).to_have_text(widget.words)


@pytest.mark.parametrize("typed", ["", "0", "x"])
@pytest.mark.parametrize("name", ["memory, GB", "tokens of a sequence"])
def test_a_wrong_number_is_named_and_changes_nothing(show: Show, name: str, typed: str) -> None:
    page = show(KVCacheExplorer(preset="llama-3-8b"))
    page.get_by_label(name, exact=True).fill(typed)
    expect(page.get_by_role("alert").filter(has_text="a")).to_have_count(1)
    expect(page.get_by_label(name, exact=True)).to_have_attribute("aria-invalid", "true")
    expect(words(page)).to_have_text(KVCacheExplorer(preset="llama-3-8b").words)


def test_sizes_fit_each_other(show: Show) -> None:
    page = show(KVCacheExplorer(kv_heads=2))
    page.get_by_label("query heads", exact=True).fill("6")
    expect(words(page)).to_have_text(KVCacheExplorer(heads=6, kv_heads=2).words)
    page.get_by_label("query heads", exact=True).fill("7")
    expect(words(page)).to_have_text(KVCacheExplorer(heads=7).words)
    page.get_by_label("tokens of prompt", exact=True).fill("9")
    prompt = [*setup()["prompt"], *setup()["more"][:3]]
    expect(words(page)).to_have_text(KVCacheExplorer(heads=7, prompt=prompt).words)
    page.get_by_label("model", exact=True).select_option("llama-3-8b")
    page.get_by_label("KV heads", exact=True).select_option("1")
    expect(words(page)).to_have_text(KVCacheExplorer(model="llama-3-8b", kv_heads=1, prompt=prompt).words)


def test_memory_is_counted_as_it_is_typed(show: Show) -> None:
    page = show(KVCacheExplorer(preset="llama-3-8b"))
    page.get_by_label("memory, GB", exact=True).fill("80")
    page.get_by_label("bytes of a weight", exact=True).select_option("0.5")
    page.get_by_label("tokens of a sequence", exact=True).fill("8192")
    widget = KVCacheExplorer(preset="llama-3-8b", memory_gb=80.0, weight_bytes=0.5, length=8192)
    expect(words(page)).to_have_text(widget.words)
    page.get_by_label("memory, GB", exact=True).fill("2")
    expect(words(page)).to_contain_text("The weights do not fit into 2.00 GB.")


def test_block_tables_and_pages(show: Show) -> None:
    widget = KVCacheExplorer(preset="tight", moment=3)
    page = show(widget)
    now = pools(widget.setting)[0][3]
    for run in now.running:
        row = page.locator(".kv-tables tbody tr").nth(run.request)
        expect(row.locator(".kv-pages")).to_have_text(" ".join(str(number) for number in run.pages))
    expect(page.locator(".kv-pool > li.free")).to_have_count(widget.capacity - now.pages)
    assert page.locator(".kv-pool .kv-slots > .used").count() == now.used
    assert page.locator(".kv-pool .kv-slots > .spare").count() == now.held - now.used
    then = pools(widget.setting)[1][3]
    assert page.locator(".kv-reserved .kv-slots > .used").count() == then.used
    assert page.locator(".kv-reserved .kv-slots > .spare").count() == then.held - then.used
    page.get_by_label("positions in a page", exact=True).fill("1")
    expect(words(page)).to_have_text(KVCacheExplorer(view="pages", page=1, capacity=16, moment=3).words)
    press(page, "Other sequences")
    expect(words(page)).to_contain_text("6 sequences, 16 pages of 1 position. Step 1 of")


@pytest.mark.parametrize("motion", [True, False])
def test_playing_walks_to_the_end(show: Show, motion: bool) -> None:
    page = show(KVCacheExplorer(new_tokens=2), motion=motion)
    press(page, "Play")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    expect(words(page)).to_have_text(KVCacheExplorer(new_tokens=2, step=1).words)


def test_code_and_links_are_copied(show: Show) -> None:
    widget = KVCacheExplorer(heads=6, kv_heads=3, prompt="so it goes", reply=["on"], step=1, link="mine")
    page = show(widget, permissions=["clipboard-read"])
    press(page, "Copy as PyTorch")
    compile(copied(page), "copied", "exec")
    press(page, "Copy link")
    page.wait_for_function("navigator.clipboard.readText().then((text) => text.includes('#tbviz-mine'))")
    other = show(KVCacheExplorer(link="mine"), hash="#" + copied(page).split("#")[1])
    expect(words(other)).to_have_text(widget.words)
    expect(other.locator(".kv-head").first).to_contain_text("“on”")


def test_long_prompts_stay_inside_a_phone(show: Show) -> None:
    widget = KVCacheExplorer(model="llama-3-70b", prompt="unbelievably " * 16, new_tokens=16, step=15)
    page = show(widget, width=360)
    assert overflow(page) == 0
    wide = page.evaluate("[...document.querySelectorAll('.kv-box')].map((e) => e.scrollWidth - e.clientWidth)")
    assert max(wide) <= 0


def test_places_of_tokens_to_come_are_named_once(show: Show) -> None:
    for step, told in ((0, ["+7"]), (3, ["+3", "+7"])):
        page = show(KVCacheExplorer(new_tokens=8, step=step))
        texts = page.locator(".kv-svg text.quiet").all_text_contents()
        assert texts == [*told, *told]
        expect(page.locator(".kv-key").first).to_contain_text("+1, +2 …: new tokens")


def test_the_ratio_is_that_of_the_numbers_above_it(show: Show) -> None:
    page = show(KVCacheExplorer(step=2))
    for _ in range(5):
        press(page, "One step on")
        shown = [float(text) for text in re.findall(r"([\d.]+) [kMG]FLOP", page.locator(".tbviz-stage").inner_text())]
        told = float(page.locator(".tbviz-readout b").inner_text())
        assert told == float(f"{shown[0] / shown[1]:.2g}")
