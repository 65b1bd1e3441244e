"""TokenizerExplorer on the static page: by mouse, by keyboard, by link, in the dark, on a phone and without scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.axe import violations
from torchbook.viz import TokenizerExplorer
from torchbook.viz.tokenizer import setup

from .conftest import Show, mounted, overflow

MERGES = [(b"t", b"h"), (b"th", b"e"), (b" ", b"the"), (b"a", b"n"), (b"an", b"d"), (b" ", b"to"[:1]), (b" t", b"o"),
          (b"b", b"e"), (b"\xc3", b"\xa9")]  # fmt: skip
SPECIALS = ["<|endoftext|>"]


def made(text: str = "to the end, and then", **more: object) -> TokenizerExplorer:
    return TokenizerExplorer(MERGES, text, specials=SPECIALS, **more)


def words(page: Page) -> Locator:
    return page.locator(".tbviz-words")


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def copied(page: Page) -> str:
    expect(page.locator(".tbviz-status").filter(has_text="Copied")).to_be_visible()
    return str(page.evaluate("navigator.clipboard.readText()"))


def test_presets_by_link_and_keyboard(show: Show) -> None:
    presets = setup()["presets"]
    page = show(made(), hash="#tbviz-tokenizer-1:emoji")
    expect(words(page)).to_have_text(made(presets["emoji"]["text"]).words)
    pressed = page.get_by_role("toolbar", name="Presets").get_by_role("button", pressed=True)
    expect(pressed).to_have_text([presets["emoji"]["label"]])
    page.keyboard.press("Tab")
    for name in list(presets)[1:4]:
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        expect(words(page)).to_have_text(made(presets[name]["text"]).words)
        expect(page.locator(".tk-note")).to_have_text(presets[name]["note"])


def test_reader_types(show: Show) -> None:
    page = show(made())
    area = page.get_by_label("text, up to 500 characters")
    for text in ("é the<|endoftext|>and", "the\nthe", "👩🏽‍🚀 to be"):
        area.fill(text)
        expect(words(page)).to_have_text(made(text).words)
    page.get_by_label("cut into pieces by").select_option("none")
    expect(words(page)).to_have_text(made("👩🏽‍🚀 to be", pretokenizer="none").words)
    area.fill("")
    expect(words(page)).to_have_text("The text is empty: no bytes, no tokens.")
    expect(page.locator(".tk-run")).to_be_hidden()
    assert page.locator(".tk-facts").inner_text().replace("\n", " ").startswith("characters 0")


def test_steps_by_buttons_and_keyboard(show: Show) -> None:
    page = show(made())
    expect(page.get_by_role("button", name="One merge on")).to_have_attribute("aria-disabled", "true")
    page.get_by_label("merge", exact=True).focus()
    page.keyboard.press("Home")
    expect(words(page)).to_contain_text("After 0 of")
    expect(page.locator(".tk-token:not(.byte)")).to_have_count(0)
    press(page, "One merge on")
    expect(words(page)).to_have_text(made(step=1, token=3).words)
    expect(page.locator(".tk-part.new")).to_have_text("th")
    press(page, "End of the piece")
    expect(words(page)).to_have_text(made(step=3, token=2).words)
    expect(page.locator(".tk-token[aria-pressed=true]")).to_have_text("␣the258")
    press(page, "One merge back")
    expect(words(page)).to_have_text(made(step=2, token=3).words)
    expect(page.locator(".tk-rank.next")).to_have_text("2 lowest")
    press(page, "Start of the piece")
    expect(words(page)).to_contain_text("After 0 of")


def test_tokens_are_chosen_by_arrow_keys(show: Show) -> None:
    page = show(made())
    first = page.get_by_role("toolbar", name="Tokens").get_by_role("button").first
    first.click()
    page.keyboard.press("End")
    last = len(made().ids) - 1
    expect(words(page)).to_have_text(made(token=last).words)
    page.keyboard.press("ArrowLeft")
    expect(words(page)).to_have_text(made(token=last - 1).words)
    expect(page.locator(".tk-token[aria-pressed=true]")).to_be_focused()
    expect(page.locator(".tk-table tr.on td").first).to_have_text(str(last))


def test_a_byte_is_no_character(show: Show) -> None:
    page = show(made("è", token=1))
    expect(page.locator(".tk-lines dd").last).to_have_text("� – not a whole character")
    page = show(made("<|endoftext|>"))
    expect(page.locator(".tk-box .tk-small").first).to_contain_text("A special token")


def test_code_and_link_hold_the_state(show: Show) -> None:
    widget = made("the é\n<|endoftext|>", step=2, token=1, link="mine")
    page = show(widget, permissions=["clipboard-read"])
    press(page, "Copy as PyTorch")
    names: dict[str, object] = {}
    exec(compile(copied(page), "copied", "exec"), names)
    assert names["ids"] == widget.ids
    press(page, "Copy link")
    page.wait_for_function("navigator.clipboard.readText().then((text) => text.includes('#tbviz'))")
    address = str(page.evaluate("navigator.clipboard.readText()"))
    other = show(made(link="mine"), hash="#" + address.split("#")[1])
    expect(words(other)).to_have_text(widget.words)
    expect(words(show(made(), hash="#tbviz-tokenizer-1=eyJ0ZXh0IjozfQ"))).to_have_text(made().words)  # text 3


@pytest.mark.parametrize(("theme", "width", "preset"), [("light", 800, "english"), ("dark", 360, "emoji")])
def test_accessible_and_inside_the_page(show: Show, preset: str, theme: str, width: int) -> None:
    page = show(made(setup()["presets"][preset]["text"], step=2), theme=theme, width=width)
    assert violations(page) == []
    assert overflow(page) == 0
    small = page.evaluate("""() => [...document.querySelectorAll('.tbviz :is(button, input, select, textarea)')]
        .map((e) => [e.getBoundingClientRect(), e.outerHTML.slice(0, 80)])
        .filter(([box]) => box.width && (box.width < 24 || box.height < 24)).map(([, html]) => html)""")
    assert small == []


def test_without_scripts_picture_and_words_are_there(show: Show) -> None:
    widget = made("to be or not to be, 你好 the end")
    page = show(widget, java_script_enabled=False, ready=False, width=360)
    expect(page.get_by_role("img", name=widget.words)).to_be_visible()
    expect(page.locator(".viz-words")).to_have_text(widget.words)
    assert overflow(page) == 0


def test_two_views_show_one_state(show: Show) -> None:
    widget = made()
    page = show(mounted(widget, model="m1"), mounted(widget, model="m1"))
    page.locator(".tbviz").nth(1).wait_for()
    page.get_by_label("text, up to").nth(0).fill("and")
    expect(words(page).nth(1)).to_have_text(made("and").words)
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))
