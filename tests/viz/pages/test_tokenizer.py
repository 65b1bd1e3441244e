"""TokenizerExplorer on the static page: by mouse, by keyboard, by link, in the dark, on a phone and without scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from torchbook.viz.tokenizer import setup

from ..conftest import Show
from ..models.test_tokenizer import tokenizer_explorer
from ..pressing import copied, press, tab_into, words


def test_presets_by_link_and_keyboard(show: Show) -> None:
    presets = setup()["presets"]
    page = show(tokenizer_explorer(), hash="#tbviz-tokenizer-1:emoji")
    expect(words(page)).to_have_text(tokenizer_explorer(preset="emoji").words)
    pressed = page.get_by_role("toolbar", name="Presets").get_by_role("button", pressed=True)
    expect(pressed).to_have_text([presets["emoji"]["label"]])
    for toolbar, names in (("Presets", list(presets)[:3]), ("More presets", list(presets)[3:6])):
        tab_into(page, toolbar)
        page.keyboard.press("Home")
        for name in names:
            page.keyboard.press("Enter")
            expect(words(page)).to_have_text(tokenizer_explorer(preset=name).words)
            expect(page.locator(".tk-note")).to_have_text(presets[name]["note"])
            page.keyboard.press("ArrowRight")


def test_reader_types(show: Show) -> None:
    page = show(tokenizer_explorer())
    area = page.get_by_label("text", exact=True)
    for text in ("é the<|endoftext|>and", "the\nthe", "👩🏽‍🚀 to be"):
        area.fill(text)
        expect(words(page)).to_have_text(tokenizer_explorer(text).words)
    page.get_by_label("cut into pieces by").select_option("none")
    expect(words(page)).to_have_text(tokenizer_explorer("👩🏽‍🚀 to be", pretokenizer="none").words)
    area.fill("")
    expect(words(page)).to_have_text("The text is empty: no bytes, no tokens.")
    expect(page.locator(".tk-run")).to_be_hidden()
    assert page.locator(".tk-facts").inner_text().replace("\n", " ").startswith("characters 0")
    area.fill("a" * 500)
    expect(page.get_by_role("alert").filter(has_text="500")).to_have_text("No more than 500 characters.")


@pytest.mark.parametrize("motion", [True, False])
def test_playing_merges_to_the_end(show: Show, motion: bool) -> None:
    page = show(tokenizer_explorer("the", step=0), motion=motion)
    press(page, "Play")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    expect(words(page)).to_have_text(tokenizer_explorer("the").words)


def test_a_piece_is_a_tree_of_its_merges(show: Show) -> None:
    page = show(tokenizer_explorer(" the", step=2))
    expect(page.locator(".tk-tree .tk-box-of text")).to_have_text(["␣", "t", "h", "e", "th", "the"])
    expect(page.locator(".tk-tree .used text")).to_have_text(["t", "h", "e", "th"])
    expect(page.locator(".tk-tree .tk-branch")).to_have_count(4)
    expect(page.locator(".tk-tree .tk-rank:not(.done) text")).to_have_text(["3rd"])
    expect(page.locator(".tk-tree .tk-rank.done text")).to_have_text(["1st", "2nd"])
    press(page, "One merge on")
    expect(page.locator(".tk-tree .tk-box-of:not(.used) text")).to_have_text(["␣the"])
    expect(page.locator(".tk-rank:not(.done)")).to_have_count(0)


def test_joins_of_the_piece_stand_in_the_order_in_which_they_were_learned(show: Show) -> None:
    page = show(tokenizer_explorer(" the and", step=2))
    expect(page.locator(".tk-joins li")).to_have_text(["1st t+h", "2nd th+e", "3rd ␣+the"])
    expect(page.locator(".tk-joins .next")).to_have_text("3rd ␣+the")
    expect(page.locator(".tk-key")).to_contain_text("6 tokens")
    page.locator(".tk-token").last.click()
    expect(page.locator(".tk-joins li.done, .tk-joins li.next")).to_have_text(["4th a+n"])


def test_a_piece_without_joins_says_so(show: Show) -> None:
    page = show(tokenizer_explorer("xyz"))
    expect(page.get_by_text("None of its pairs was learned.")).to_be_visible()


def test_what_was_learned_earlier_is_darker(show: Show) -> None:
    page = show(tokenizer_explorer("th and é"))
    shades = page.locator(".tk-token:not(.byte)").evaluate_all(
        "(all) => all.map((one) => one.className.match(/early[0-3]/)[0])"
    )
    assert shades == ["early0", "early3", "early3"]


def test_a_finger_takes_the_nearest_token(show: Show) -> None:
    page = show(tokenizer_explorer(), width=390, has_touch=True)
    box = page.locator(".tk-token").nth(3).bounding_box()
    assert box
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] + 2)
    expect(words(page)).to_have_text(tokenizer_explorer(token=3).words)


def test_steps_by_buttons_and_keyboard(show: Show) -> None:
    page = show(tokenizer_explorer())
    expect(page.get_by_role("button", name="One merge on")).to_have_attribute("aria-disabled", "true")
    page.get_by_label("merge", exact=True).focus()
    page.keyboard.press("Home")
    expect(words(page)).to_contain_text("After 0 of")
    expect(page.locator(".tk-token:not(.byte)")).to_have_count(0)
    press(page, "One merge on")
    expect(words(page)).to_have_text(tokenizer_explorer(step=1, token=3).words)
    expect(page.locator(".tk-box-of.new text")).to_have_text("th")
    press(page, "End of the piece")
    expect(words(page)).to_have_text(tokenizer_explorer(step=3, token=2).words)
    expect(page.locator(".tk-token[aria-selected=true]")).to_have_text("␣the")
    expect(page.locator(".tk-said")).to_contain_text("“␣” and “the”, learned 3rd, were joined to id 258.")
    press(page, "One merge back")
    expect(words(page)).to_have_text(tokenizer_explorer(step=2, token=3).words)
    expect(page.locator(".tk-rank.next")).to_have_text("3rd")
    press(page, "Start of the piece")
    expect(words(page)).to_contain_text("After 0 of")


def test_tokens_are_chosen_by_arrow_keys(show: Show) -> None:
    page = show(tokenizer_explorer())
    run = page.get_by_role("listbox", name="Tokens")
    run.get_by_role("option").first.click()
    page.keyboard.press("End")
    last = len(tokenizer_explorer().ids) - 1
    expect(words(page)).to_have_text(tokenizer_explorer(token=last).words)
    page.keyboard.press("ArrowLeft")
    expect(words(page)).to_have_text(tokenizer_explorer(token=last - 1).words)
    expect(page.locator(".tk-token[aria-selected=true]")).to_have_attribute(
        "id", run.get_attribute("aria-activedescendant") or ""
    )
    expect(page.locator(".tk-table tr.on td").first).to_have_text(str(last))


def test_a_byte_is_no_character(show: Show) -> None:
    page = show(tokenizer_explorer("è", token=1))
    expect(page.locator(".tk-lines dd").last).to_have_text("� – not a whole character")
    page = show(tokenizer_explorer("<|endoftext|>"))
    expect(page.locator(".tk-said")).to_contain_text("A special token")


def test_copied_code_holds_the_state(show: Show) -> None:
    widget = tokenizer_explorer("the é\n<|endoftext|>", step=2, token=1)
    page = show(widget, permissions=["clipboard-read"])
    press(page, "Copy as PyTorch")
    names: dict[str, object] = {}
    exec(compile(copied(page), "copied", "exec"), names)
    assert names["ids"] == widget.ids


def test_a_finger_finds_tokens_smaller_than_it(show: Show) -> None:
    page = show(tokenizer_explorer(), width=390, has_touch=True, is_mobile=True)
    token = page.locator(".tk-token").nth(4)
    box = token.bounding_box()
    assert box
    assert token.evaluate("(one) => getComputedStyle(one).pointerEvents") == "none"  # no small target of its own
    page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] + 3)
    expect(page.locator(".tk-token").nth(4)).to_have_attribute("aria-selected", "true")


def test_the_signs_of_the_key_are_of_one_size(show: Show) -> None:
    page = show(tokenizer_explorer())
    page.add_style_tag(content=".h1{font-size:2.5rem}.h2{font-size:2rem}.h3{font-size:1.75rem}")  # as themes have it
    sizes = page.locator(".tk-swatch").evaluate_all("(all) => all.map((one) => one.getBoundingClientRect().width)")
    assert len(sizes) == 5
    assert max(sizes) - min(sizes) < 0.5
