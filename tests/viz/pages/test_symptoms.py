"""SymptomFinder on the static page: picked, typed, pasted, by keyboard and by link, on a screen and on a phone."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from torchbook.viz import SymptomFinder
from torchbook.viz import symptoms as of

from ..conftest import Show, mounted

SYMPTOMS = {symptom["key"]: symptom for symptom in of.setup()["symptoms"]}
PICTURES = of.setup()["pictures"]

# Of each state, given by a link: the height of the figure, and texts that have no room.
STATES = """async (states) => {
  const figure = document.querySelector(".tbviz");
  figure.querySelector(".tbviz-drawer").open = false;
  const seen = [];
  for (const state of states) {
    location.hash = `#tbviz-symptoms-1:${state}`;
    await new Promise((done) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 0));
    const cut = [...figure.querySelectorAll(".sy-causes .tbviz-button, .sy-causes")].filter(
      (one) => one.scrollHeight > one.clientHeight + 1 || one.scrollWidth > one.clientWidth + 1);
    const overlapping = [...figure.querySelectorAll(".sy-causes li")].slice(1).filter((one) =>
      one.firstChild.getBoundingClientRect().top < one.previousSibling.firstChild.getBoundingClientRect().bottom);
    seen.push([state, figure.offsetHeight, [...cut, ...overlapping].map((one) => one.textContent)]);
  }
  return seen;
}"""

WORDS = """() => {
  const parts = [...document.querySelector(".tbviz").children].filter((part) =>
    !part.matches("style, .tbviz-words, .tbviz-drawer"));
  return parts.map((part) => part.innerText).join(" ").split(/\\s+/).filter((word) => /\\w/.test(word));
}"""


def cards(page: Page) -> Locator:
    return page.locator(".sy-card:visible")


def causes(page: Page) -> Locator:
    return page.locator(".sy-causes .tbviz-button")


def curve(page: Page) -> Locator:
    """The curve that is or was ill, of the open picture."""
    return page.locator("[aria-expanded=true] :is(.sy-ill,.sy-well)")


def pick(page: Page, name: str) -> None:
    page.get_by_role("button", name=PICTURES[name]["label"], exact=True).click()


def ask(page: Page, text: str) -> None:
    page.get_by_label("What do you see?").fill(text)


def causes_named(name: str) -> list[re.Pattern[str]]:
    return [re.compile(rf"{i}\. {re.escape(one['cause'])}") for i, one in enumerate(of.causes_of(name), 1)]


def test_it_opens_with_all_pictures_and_few_words(show: Show) -> None:
    page = show(SymptomFinder())
    expect(cards(page)).to_have_text([picture["label"] for picture in PICTURES.values()])
    assert len(page.evaluate(WORDS)) <= 60
    assert page.locator(".tbviz :is(button,input,select):visible:not(.sy-card):not(.tbviz-drawer *)").count() <= 8


@pytest.mark.parametrize("name", ["nan", "hang", "full"])
def test_a_picture_that_is_picked_grows_and_shows_its_causes(show: Show, name: str) -> None:
    page = show(SymptomFinder())
    card = page.get_by_role("button", name=PICTURES[name]["label"], exact=True)
    handle, small = card.element_handle(), card.bounding_box()
    card.click()
    expect(cards(page)).to_have_count(1)
    large = page.locator(".sy-card[aria-expanded=true]")
    assert large.evaluate("(node, small) => node === small", handle)
    box = large.bounding_box()
    assert box
    assert small
    assert box["width"] * box["height"] > 5 * small["width"] * small["height"]
    expect(causes(page)).to_have_text(causes_named(name))
    expect(page.locator(".tbviz-words")).to_have_text(of.describe(opened=name))


def test_a_cause_shows_the_run_cured_over_the_ill_one(show: Show) -> None:
    page = show(SymptomFinder(opened="flat"))
    ill = curve(page).get_attribute("d")
    causes(page).first.click()
    expect(causes(page).first).to_have_attribute("aria-pressed", "true")
    expect(page.locator("[aria-expanded=true] .sy-ghost")).to_have_attribute("d", ill or "")
    expect(curve(page)).to_have_class("sy-well")
    assert curve(page).get_attribute("d") != ill
    run = of.run_of("loss-flat")
    expect(page.locator(".sy-seen .sy-t-ill")).to_have_text(f"{run['sick'][0][-1]:.2f}")
    expect(page.locator(".sy-seen .sy-t-well")).to_have_text(f"{run['cured'][0][-1]:.3f}")
    expect(page.locator(".sy-seen")).to_contain_text(SYMPTOMS["loss-flat"]["then"])
    causes(page).first.click()
    expect(curve(page)).to_have_class("sy-ill")
    assert curve(page).get_attribute("d") == ill


def test_the_curve_glides_to_its_cure(show: Show) -> None:
    page = show(SymptomFinder(opened="overfit"), motion=True)
    causes(page).first.click()
    moves = "() => document.getAnimations().map((one) => one.transitionProperty).filter((name) => name === 'd').length"
    page.wait_for_function(f"({moves})() >= 2")


@pytest.mark.parametrize("way", ["Escape", "button", "picture"])
def test_the_way_back_to_all(show: Show, way: str) -> None:
    page = show(SymptomFinder(chosen="lr-high"))
    if way == "Escape":
        causes(page).first.press("Escape")
        expect(page.get_by_role("button", name=PICTURES["zigzag"]["label"], exact=True)).to_be_focused()
    elif way == "button":
        page.get_by_role("button", name="All pictures").click()
    else:
        pick(page, "zigzag")
    expect(cards(page)).to_have_count(len(PICTURES))
    expect(causes(page)).to_have_count(0)


def test_arrows_walk_and_enter_opens(show: Show) -> None:
    page = show(SymptomFinder())
    cards(page).first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(causes(page)).to_have_text(causes_named("nan"))


def test_typing_leaves_the_pictures_that_match(show: Show) -> None:
    page = show(SymptomFinder())
    ask(page, "training hangs")
    found = of.search("training hangs")
    lit = {SYMPTOMS[key]["picture"] for key in found}
    expect(page.locator(".sy-card:not(.sy-off)")).to_have_text(
        [picture["label"] for name, picture in PICTURES.items() if name in lit]
    )
    expect(page.get_by_role("toolbar", name="Causes that match").get_by_role("button")).to_have_text(
        [SYMPTOMS[key]["cause"] for key in found[:3]]
    )
    expect(page.locator(".tbviz-words")).to_have_text(of.describe("training hangs"))


def test_enter_opens_the_best_match(show: Show) -> None:
    page = show(SymptomFinder())
    ask(page, "loss is nan")
    page.keyboard.press("Enter")
    expect(page.locator(".sy-causes [aria-pressed=true]")).to_contain_text(SYMPTOMS["loss-nan"]["cause"])


def test_a_picture_that_matches_opens_at_its_match(show: Show) -> None:
    page = show(SymptomFinder())
    ask(page, "out of memory at step 50")
    pick(page, "full")
    expect(page.locator(".sy-causes [aria-pressed=true]")).to_contain_text(SYMPTOMS["oom-later"]["cause"])


def test_nothing_found_says_what_to_do(show: Show) -> None:
    page = show(SymptomFinder())
    ask(page, "xylophone quark")
    expect(page.locator(".sy-card:not(.sy-off)")).to_have_count(0)
    expect(page.locator(".sy-seen")).to_contain_text("Nothing matches. Try fewer words")


def test_a_pasted_error_of_several_lines_is_one_query(show: Show) -> None:
    page = show(SymptomFinder(), permissions=["clipboard-read", "clipboard-write"])
    error = "RuntimeError: CUDA error: device-side assert triggered\nCUDA kernel errors might be asynchronous"
    page.evaluate("text => navigator.clipboard.writeText(text)", error)
    page.get_by_label("What do you see?").focus()
    page.keyboard.press("Control+v")
    expect(page.get_by_label("What do you see?")).to_have_value(" ".join(error.split()))
    page.keyboard.press("Enter")
    expect(page.locator(".sy-causes [aria-pressed=true]")).to_contain_text(SYMPTOMS["device-assert"]["cause"])
    expect(page.locator(".sy-message")).to_have_text(SYMPTOMS["device-assert"]["messages"][0])


def test_code_is_copied(show: Show) -> None:
    page = show(SymptomFinder(chosen="two-devices"), permissions=["clipboard-read", "clipboard-write"])
    expect(page.locator(".sy-move pre")).to_have_text(SYMPTOMS["two-devices"]["code"])
    page.locator(".sy-move").get_by_role("button", name="Copy").click()
    expect(page.locator(".sy-move .tbviz-status")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == SYMPTOMS["two-devices"]["code"]


@pytest.mark.parametrize("key", ["gradient-nan", "watchdog"])
def test_a_link_opens_a_cause(show: Show, key: str) -> None:
    page = show(SymptomFinder(), hash=f"#tbviz-symptoms-1:{key}")
    expect(page.locator(".sy-causes [aria-pressed=true]")).to_contain_text(SYMPTOMS[key]["cause"])


def test_a_link_opens_a_picture(show: Show) -> None:
    page = show(SymptomFinder(), hash="#tbviz-symptoms-1:idle")
    expect(causes(page)).to_have_text(causes_named("idle"))


def test_each_cause_leads_to_its_cure(show: Show) -> None:
    page = show(f'<script>document.documentElement.dataset.content_root="../"</script>{mounted(SymptomFinder())}')
    pick(page, "nan")
    links = page.locator(".sy-causes").get_by_role("link")
    wanted = [of_where(one["where"]) for one in of.causes_of("nan")]
    assert [link.get_attribute("href") for link in links.all()] == wanted
    expect(links.first).to_have_accessible_name(f"Cure: {of.causes_of('nan')[0]['section']}")


def of_where(where: str) -> str:
    page, _, section = where.partition("#")
    return f"../{page}.html#{section}"


def test_a_sketch_says_so(show: Show) -> None:
    page = show(SymptomFinder(opened="hang"))
    expect(page.locator("[aria-expanded=true] .sy-labels")).to_contain_text("a sketch")
    page.get_by_role("button", name="All pictures").click()
    pick(page, "nan")
    expect(page.locator("[aria-expanded=true] .sy-labels")).not_to_contain_text("a sketch")


@pytest.mark.parametrize(("width", "height"), [(720, 900), (390, 844)])
def test_every_state_has_room_and_the_same_height(show: Show, width: int, height: int) -> None:
    script = '<script>document.documentElement.dataset.content_root="../"</script>'
    page = show(script + mounted(SymptomFinder()), width=width, has_touch=True, is_mobile=width < 500)
    page.set_viewport_size({"width": width, "height": height})
    seen = page.evaluate(STATES, [*PICTURES, *SYMPTOMS])
    assert [(state, cut) for state, _, cut in seen if cut] == []
    heights = {state: high for state, high, _ in seen}
    assert max(heights.values()) <= height
    assert max(heights.values()) - min(heights.values()) <= 8, sorted(heights.items(), key=lambda pair: -pair[1])[:6]


def test_the_list_leaves_the_wheel_to_the_page(show: Show) -> None:
    page = show(SymptomFinder(opened="error"))
    room = page.locator(".sy-stage").evaluate("list => list.scrollHeight - list.clientHeight")
    assert room == 0
