"""SymptomFinder on the static page: typed, pasted, by keyboard and by link, in the dark and on a phone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from torchbook.viz import SymptomFinder
from torchbook.viz import symptoms as of

from ..conftest import Show

SYMPTOMS = {symptom["key"]: symptom for symptom in of.setup()["symptoms"]}

EXAMPLES = ("loss-nan", "oom-first", "hangs-epoch-end")  # what is seen before anything is asked


def names(page: Page) -> Locator:
    return page.locator(".sy-name")


def opened(page: Page) -> Locator:
    return page.locator(".sy-open")


def ask(page: Page, text: str) -> None:
    page.get_by_label("What do you see?").fill(text)


def test_all_symptoms_are_listed_when_asked_for(show: Show) -> None:
    page = show(SymptomFinder())
    expect(names(page)).to_have_text([SYMPTOMS[key]["symptom"] for key in EXAMPLES])
    page.get_by_role("button", name="30 more").click()
    expect(names(page)).to_have_text([symptom["symptom"] for symptom in SYMPTOMS.values()])


def test_typing_finds(show: Show) -> None:
    page = show(SymptomFinder())
    ask(page, "training hangs")
    expect(names(page)).to_have_text([SYMPTOMS[key]["symptom"] for key in of.search("training hangs")])
    expect(page.locator(".tbviz-words")).to_have_text(of.describe("training hangs"))


def test_nothing_found_says_what_to_do(show: Show) -> None:
    page = show(SymptomFinder())
    ask(page, "xylophone quark")
    expect(names(page)).to_have_count(0)
    expect(page.locator(".sy-count")).to_contain_text("Nothing matches. Try fewer words")


def test_a_pasted_error_of_several_lines_is_one_query(show: Show) -> None:
    page = show(SymptomFinder(), permissions=["clipboard-read", "clipboard-write"])
    error = "RuntimeError: CUDA error: device-side assert triggered\nCUDA kernel errors might be asynchronous"
    page.evaluate("text => navigator.clipboard.writeText(text)", error)
    page.get_by_label("What do you see?").focus()
    page.keyboard.press("Control+v")
    expect(page.get_by_label("What do you see?")).to_have_value(" ".join(error.split()))
    expect(names(page).first).to_have_text(SYMPTOMS["device-assert"]["symptom"])


def test_a_kind_by_keyboard(show: Show) -> None:
    page = show(SymptomFinder())
    kind = page.get_by_label("kind", exact=True)
    kind.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(kind).to_have_value("nan")
    expect(names(page)).to_have_text([SYMPTOMS[key]["symptom"] for key in of.search("", "nan")])


def test_a_symptom_opens_by_keyboard_and_one_at_a_time(show: Show) -> None:
    page = show(SymptomFinder())
    names(page).nth(1).focus()
    page.keyboard.press("Enter")
    expect(names(page).nth(1)).to_have_attribute("aria-expanded", "true")
    names(page).nth(2).click()
    expect(opened(page)).to_have_count(1)
    symptom = SYMPTOMS[EXAMPLES[2]]
    expect(opened(page).locator(".sy-name")).to_have_text(symptom["symptom"])
    expect(opened(page).locator("pre")).to_have_text(symptom["code"])
    expect(page.locator(".tbviz-words")).to_have_text(of.describe(chosen=symptom["key"]))


def test_code_is_copied(show: Show) -> None:
    page = show(SymptomFinder(chosen="two-devices"), permissions=["clipboard-read", "clipboard-write"])
    opened(page).get_by_role("button", name="Copy").click()
    expect(opened(page).locator(".tbviz-status")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == SYMPTOMS["two-devices"]["code"]


@pytest.mark.parametrize("key", ["gradient-nan", "watchdog"])  # neither is among the examples
def test_a_link_opens_a_symptom(show: Show, key: str) -> None:
    page = show(SymptomFinder(), hash=f"#tbviz-symptoms-1:{key}")
    expect(opened(page).locator(".sy-name")).to_have_text(SYMPTOMS[key]["symptom"])


def test_the_list_leaves_the_wheel_to_the_page(show: Show) -> None:
    page = show(SymptomFinder())
    room = page.locator(".sy-table").evaluate("list => list.scrollHeight - list.clientHeight")
    assert room == 0


def test_it_is_a_table_whose_rows_are_named(show: Show) -> None:
    page = show(SymptomFinder())
    table = page.get_by_role("table")
    expect(table.get_by_role("columnheader")).to_have_text(["Symptom", "First move"])
    first = SYMPTOMS[EXAMPLES[0]]
    expect(table.get_by_role("row").nth(1)).to_contain_text(first["first"])
    expect(table.get_by_role("rowheader").first).to_have_text(first["symptom"])
    assert page.locator(".tbviz").evaluate("root => getComputedStyle(root).borderTopWidth") == "0px"
