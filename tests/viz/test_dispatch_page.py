"""DispatchRoute on the static page: by mouse, by keyboard, by link, in the dark, on a phone and without scripts."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.axe import violations
from torchbook.viz import DispatchRoute
from torchbook.viz.dispatch import callees, lines, presets, setup

from .conftest import Show, mounted, overflow
from .dispatch_probes import recorded

PRESETS = list(setup()["presets"])  # all of them are in the words that test_dispatch.py compares


def figure(**traits: Any) -> DispatchRoute:
    return DispatchRoute(recorded(), **traits)


def words(page: Page) -> Locator:
    return page.locator(".tbviz-words")


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def copied(page: Page) -> str:
    expect(page.locator(".tbviz-status").filter(has_text="Copied")).to_be_visible()
    return str(page.evaluate("navigator.clipboard.readText()"))


def test_presets_say_what_python_says(show: Show) -> None:
    page = show(figure())
    for name in PRESETS[::3]:
        widget = figure(preset=name)
        press(page, setup()["presets"][name]["label"])
        expect(words(page)).to_have_text(widget.words)
        pressed = page.get_by_role("toolbar", name="Presets").get_by_role("button", pressed=True)
        expect(pressed).to_have_text([setup()["presets"][name]["label"]])
        expect(page.locator(".dr-note")).to_have_text(setup()["presets"][name]["note"])
        assert page.url.endswith(f"#tbviz-dispatch-1:{name}")
        expect(page.get_by_role("toolbar", name="Stops").get_by_role("button")).to_have_count(len(widget.route))


@pytest.mark.parametrize("preset", ["autocast", "missing"])
def test_preset_by_link(show: Show, preset: str) -> None:
    page = show(figure(op="aten::mm", transform="vmap"), hash=f"#tbviz-dispatch-1:{preset}")
    expect(words(page)).to_have_text(figure(preset=preset).words)


def test_steps_by_buttons(show: Show) -> None:
    page = show(figure(preset="autocast"))
    back, on = page.get_by_role("button", name="One stop back"), page.get_by_role("button", name="One stop on")
    expect(back).to_have_attribute("aria-disabled", "true")
    on.click()
    expect(words(page)).to_have_text(figure(preset="autocast", step=1).words)
    on.click()
    expect(words(page)).to_have_text(figure(preset="autocast", step=2).words)
    expect(on).to_have_attribute("aria-disabled", "true")
    expect(on).to_be_focused()
    back.click()
    expect(words(page)).to_have_text(figure(preset="autocast", step=1).words)


def test_everything_by_keyboard(show: Show) -> None:
    page = show(figure())
    page.keyboard.press("Tab")
    page.keyboard.press("End")
    page.keyboard.press("Home")
    for _ in range(PRESETS.index("vmap")):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(words(page)).to_have_text(figure(preset="vmap").words)
    page.get_by_role("toolbar", name="Stops").get_by_role("button").first.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(words(page)).to_have_text(figure(preset="vmap", step=3).words)
    page.get_by_label("grad mode", exact=True).focus()
    page.keyboard.press("i")
    expect(words(page)).to_have_text(figure(preset="vmap", grad="inference").words)


def test_situations_by_their_lists(show: Show) -> None:
    page = show(figure())
    chosen = {"operator": ("op", "aten::view"), "arguments": ("args", "meta"), "requires_grad": ("requires", "yes"),
              "grad mode": ("grad", "inference"), "autocast": ("autocast", "on"),
              "torch.func": ("transform", "functionalize"), "dispatch mode": ("mode", "dispatch")}  # fmt: skip
    now: dict[str, Any] = {}
    for label, (trait, value) in chosen.items():
        page.get_by_label(label, exact=True).select_option(value)
        now[trait] = value
        expect(words(page)).to_have_text(figure(**now).words)


def test_line_shows_the_keys_in_order_and_says_what_they_are(show: Show) -> None:
    widget = figure(preset="vmap", step=1)
    page = show(widget)
    every = lines(widget.recording, widget.op, widget.route, 1)
    rows = page.locator(".dr-line li")
    expect(rows).to_have_count(len(every))
    texts = {"chosen": "chosen", "later": "in the set, lower", "passed": "behind it", "through": "fallthrough, skipped",
             "excluded": "excluded by the thread", "absent": "not in this call"}  # fmt: skip
    for row, one in zip(rows.all(), every, strict=True):
        assert row.locator(".dr-name").inner_text() == one.slot
        assert row.locator(".dr-state").inner_text() == texts[one.state]
    expect(page.locator(".dr-line [aria-current=step]")).to_have_count(1)
    expect(page.locator(".dr-chosen")).to_contain_text(widget.recording["entries"][widget.route[1].entry][0])


def test_callees_have_their_routes_and_lead_on(show: Show) -> None:
    widget = figure(op="aten::linear")
    page = show(widget)
    (first, _), (second, way) = callees(widget.recording, widget.op, widget.route[-1])
    parts = page.locator(".dr-parts li")
    expect(parts).to_have_count(2)
    expect(parts.nth(0)).to_contain_text(first)
    expect(parts.nth(1)).to_contain_text(f"{second}{way[0].key}: composite, implicit")
    parts.nth(1).get_by_role("button").press("Enter")
    expect(words(page)).to_have_text(figure(op="aten::matmul").words)
    expect(page.get_by_label("operator", exact=True)).to_be_focused()


def test_what_cannot_be_made_is_said(show: Show) -> None:
    widget = figure(args="csr", transform="vmap")
    page = show(widget)
    expect(words(page)).to_have_text(widget.words)
    expect(page.locator(".dr-box").last).to_contain_text("could not make such arguments")
    assert violations(page) == []
    page.get_by_label("torch.func", exact=True).select_option("none")
    expect(words(page)).to_have_text(figure(args="csr").words)
    expect(page.locator(".dr-line")).to_be_visible()


def test_copied_code_asks_torch(show: Show) -> None:
    page = show(figure(preset="view"), permissions=["clipboard-read"])
    press(page, "Copy as PyTorch")
    code = copied(page)
    assert 'assert found == ["AutogradCPU"]' in code
    exec(compile(code, "copied", "exec"), {"print": lambda *_: None})


def test_any_state_by_link(show: Show) -> None:
    widget = figure(op="aten::_to_copy", args="meta", mode="dispatch", step=2, link="mine")
    page = show(widget, permissions=["clipboard-read"])
    press(page, "Copy link")
    other = show(figure(link="mine"), hash="#" + copied(page).split("#")[1])
    expect(words(other)).to_have_text(widget.words)


@pytest.mark.parametrize("rest", [":nothing", "=%", "=eyJvcCI6ImF0ZW46Om5vbmUifQ", "=eyJzdGVwIjotMX0"])
def test_a_broken_link_changes_nothing(show: Show, rest: str) -> None:
    widget = figure(op="aten::mm")
    expect(words(show(widget, hash=f"#tbviz-dispatch-1{rest}"))).to_have_text(widget.words)


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 360)])
def test_accessible_and_inside_the_page(show: Show, theme: str, width: int) -> None:
    page = show(figure(preset="vmap", step=1), theme=theme, width=width)
    assert (violations(page), overflow(page)) == ([], 0)
    press(page, "no kernel")
    page.get_by_role("toolbar", name="Stops").get_by_role("button").last.click()
    expect(page.locator(".dr-missing")).to_contain_text("nothing registered in this build")
    assert (violations(page), overflow(page)) == ([], 0)


def test_targets_are_large_enough(show: Show) -> None:
    page = show(figure(preset="composite"), width=360)
    small = page.evaluate("""() => [...document.querySelectorAll('.tbviz :is(button, input, select, [tabindex])')]
        .map((e) => [e.getBoundingClientRect(), e.outerHTML.slice(0, 80)])
        .filter(([box]) => box.width && (box.width < 24 || box.height < 24)).map(([, html]) => html)""")
    assert small == []


def test_without_scripts_picture_and_words_are_there(show: Show) -> None:
    widget = figure(preset="view", step=1)
    page = show(widget, java_script_enabled=False, ready=False, width=360)
    expect(page.get_by_role("img", name=widget.words)).to_be_visible()
    expect(page.locator(".viz-words")).to_have_text(widget.words)
    assert overflow(page) == 0


def test_two_views_show_one_state(show: Show) -> None:
    widget = figure()
    page = show(mounted(widget, model="m1"), mounted(widget, model="m1"))
    page.locator(".tbviz").nth(1).wait_for()
    page.get_by_label("operator", exact=True).nth(0).select_option("aten::view")
    expect(words(page).nth(1)).to_have_text(figure(op="aten::view").words)
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))


def test_recording_without_an_operator_of_its_own_has_no_such_preset(show: Show) -> None:
    recording = {**recorded(), "ops": {n: one for n, one in recorded()["ops"].items() if n.startswith("aten::")}}
    page = show(DispatchRoute(recording))
    names = page.get_by_role("toolbar", name="Presets").get_by_role("button")
    expect(names).to_have_count(len(presets(recording)))
    assert len(presets(recording)) == len(PRESETS) - 1
