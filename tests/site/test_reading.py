"""What a reader does: search, turn pages, predict, tick off; with mouse, with keyboard, without JavaScript."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.axe import violations
from tests.browser import listen, settled
from tests.site.built import KINDS_OF_PAGES, Site
from tests.site.conftest import Open

# Storage that refuses the book's own entries. The theme reads its mode without asking whether it may.
REFUSING = """for (const name of ['getItem', 'setItem']) {
  const real = Storage.prototype[name];
  Storage.prototype[name] = function (key, ...rest) {
    if (key.startsWith('torchbook')) throw new DOMException('refused', 'SecurityError');
    return real.call(this, key, ...rest);
  };
}"""


def test_search_finds_a_word_of_a_chapter(site: Site, open_page: Open) -> None:
    page = open_page(site.address("search.html?q=provenance", "http"))
    expect(page.locator("#search-results li a[href*='provenance']").first).to_be_visible()


def test_slash_opens_the_search(site: Site, open_page: Open) -> None:
    page = open_page(site.address("book/index.html", "http"))
    settled(page)
    page.keyboard.press("/")
    field = page.locator("#pst-search-dialog input[name=q]")
    expect(field).to_be_focused()
    page.keyboard.type("n provenance")
    expect(field).to_have_value("n provenance")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"search\.html\?q=n(\+|%20)provenance"))


def test_n_and_p_turn_the_page(site: Site, open_page: Open) -> None:
    first = site.having("link[rel=next]")
    page = open_page(site.address(first, "http"))
    settled(page)
    second = page.locator("head link[rel=next]").evaluate("link => link.href")
    page.keyboard.press("n")
    page.wait_for_url(second)
    page.wait_for_load_state("load")
    page.keyboard.press("p")
    page.wait_for_url(f"**/{first}")


def test_keys_can_be_turned_off(site: Site, open_page: Open) -> None:
    page = open_page(site.address(site.having("link[rel=next]"), "http"))
    page.locator(".keys button").click()
    page.reload()
    expect(page.locator(".keys")).to_contain_text("Keys are off.")
    page.locator("h1:visible").click()
    page.keyboard.press("/")
    expect(page.locator("#pst-search-dialog")).to_be_hidden()


@pytest.fixture
def predicting(site: Site, open_page: Open) -> Page:
    page = open_page(site.address(site.having(".prediction"), "http"))
    settled(page)
    return page


def _question(page: Page) -> Locator:
    return page.locator(".prediction fieldset").first


def test_a_prediction_is_judged_and_kept(predicting: Page) -> None:
    question = _question(predicting)
    wrong = question.locator("label").filter(has=predicting.locator("input:not([data-right])")).first
    right = question.locator("label").filter(has=predicting.locator("input[data-right]"))
    expect(question.locator("details")).not_to_have_attribute("open", "")
    wrong.click()
    expect(question.get_by_role("status")).to_contain_text("Not this one")
    expect(question.locator("details")).to_have_attribute("open", "")
    right.click()
    expect(question.get_by_role("status")).to_have_text("Right.")
    predicting.reload()
    expect(right.locator("input")).to_be_checked()
    expect(question.get_by_role("status")).to_have_text("Right.")


def test_a_prediction_by_keyboard(predicting: Page) -> None:
    question = _question(predicting)
    radios = question.get_by_role("radio")
    radios.first.focus()
    predicting.keyboard.press("ArrowDown")
    expect(radios.nth(1)).to_be_focused()
    expect(question.get_by_role("status")).to_be_empty()
    predicting.keyboard.press("ArrowUp")
    predicting.keyboard.press("ArrowUp")
    expect(radios.last).to_be_focused()
    predicting.keyboard.press("Space")
    expect(radios.last).to_be_checked()
    expect(question.get_by_role("status")).not_to_be_empty()
    predicting.keyboard.press("Tab")
    expect(question.locator("summary")).to_be_focused()


def test_ticks_are_counted_and_kept(site: Site, open_page: Open) -> None:
    page = open_page(site.address(site.having(".checklist"), "http"))
    settled(page)
    boxes = page.locator(".checklist").first.get_by_role("checkbox")
    count = page.locator(".checklist").first.get_by_role("status")
    total = boxes.count()
    expect(count).to_have_text(f"0 of {total} done")
    page.locator(".checklist label").first.click()
    expect(count).to_have_text(f"1 of {total} done")
    boxes.last.focus()
    page.keyboard.press("Space")
    expect(count).to_have_text(f"{min(2, total)} of {total} done")
    page.reload()
    expect(boxes.first).to_be_checked()
    expect(boxes.last).to_be_checked()
    boxes.first.uncheck()
    page.reload()
    expect(count).to_have_text(f"1 of {total} done")


def test_a_browser_that_keeps_nothing_is_no_error(site: Site, open_page: Open) -> None:
    page = open_page("about:blank")
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.add_init_script(REFUSING)
    page.goto(site.address(site.having(".prediction"), "http"))
    _question(page).locator("label").first.click()
    expect(_question(page).get_by_role("status")).not_to_be_empty()
    assert not errors


def test_without_javascript_answers_and_lists_are_there(site: Site, open_page: Open) -> None:
    page = open_page(site.address(site.having(".prediction"), "http"), java_script_enabled=False)
    question = _question(page)
    answer = question.locator("details > :last-child")
    expect(answer).to_be_hidden()
    question.locator("summary").click()
    expect(answer).to_be_visible()
    page = open_page(site.address(site.having(".checklist"), "http"), java_script_enabled=False)
    expect(page.locator(".checklist li").first).to_be_visible()


# The list of keys.


@pytest.fixture
def keyed(site: Site, open_page: Open) -> Page:
    page = open_page(site.address(site.having("link[rel=next]"), "file"))
    page.wait_for_load_state("load")
    return page


def test_question_mark_lists_the_keys_and_gives_the_focus_back(keyed: Page) -> None:
    link = keyed.locator("article a:visible").first
    link.focus()
    keyed.keyboard.press("?")
    keys = keyed.get_by_role("dialog", name="Keys")
    expect(keys.get_by_role("button", name="Close")).to_be_focused()
    assert keys.locator("kbd").all_inner_texts() == ["/", "n", "p", "w", "?", "Esc"]
    before = keyed.url
    keyed.keyboard.press("n")
    keyed.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    expect(link).to_be_focused()
    assert keyed.url == before


def test_the_list_of_keys_is_accessible(keyed: Page) -> None:
    keyed.keyboard.press("?")
    expect(keyed.get_by_role("dialog", name="Keys")).to_be_visible()
    assert violations(keyed) == []


def test_keys_are_turned_off_in_their_list_too(keyed: Page) -> None:
    keyed.keyboard.press("?")
    keyed.get_by_role("dialog").get_by_role("button", name="Turn off").click()
    keyed.keyboard.press("Escape")
    expect(keyed.locator(".keys")).to_contain_text("Keys are off.")
    keyed.keyboard.press("?")
    expect(keyed.get_by_role("dialog", name="Keys")).to_be_hidden()


@pytest.mark.parametrize("focused", [".predict input[type=radio]", ".viz-mount[data-ready] .tbviz button"])
def test_question_mark_works_in_a_prediction_and_in_a_figure(site: Site, open_page: Open, focused: str) -> None:
    page = open_page(site.address(KINDS_OF_PAGES[0], "file"))
    page.locator("figure.viz-mount").first.scroll_into_view_if_needed()
    page.locator(focused).first.focus()
    before = page.url
    page.keyboard.press("n")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(focused).first).to_be_focused()
    assert page.url == before


@pytest.mark.parametrize("key", ["?", "/", "n"])
def test_keys_do_nothing_where_one_types(keyed: Page, key: str) -> None:
    keyed.evaluate("document.querySelector('article').insertAdjacentHTML('afterbegin', '<input id=own>')")
    keyed.locator("#own").focus()
    keyed.keyboard.press(key)
    expect(keyed.locator("#own")).to_have_value(key)
    expect(keyed.locator("dialog[open]")).to_have_count(0)


# How far the reader is.

KEPT = "Object.keys(localStorage).find((key) => key.startsWith('torchbook:reading'))"
_NOTED = f"(id) => (localStorage[{KEPT}] ?? '').includes(`\"${{id}}\"`)"


def _read(page: Page, sections: list[str]) -> None:
    """Have sections of a chapter in the middle of the screen until they are noted."""
    for anchor in sections:
        page.locator(f"[id='{anchor}'] h2").first.evaluate(
            "(one) => scrollBy(0, one.getBoundingClientRect().top - 100)"
        )
        page.wait_for_function(_NOTED, arg=anchor)


@pytest.fixture
def chapter(site: Site) -> str:
    return site.having(".chapter-head ~ section")


def _sections(site: Site, chapter: str) -> list[str]:
    return [str(section["id"]) for section in site.soup(chapter).select("section:has(> .chapter-head) > section[id]")]


@pytest.mark.parametrize("scheme", ["http", "file"])
def test_the_first_page_offers_to_continue(site: Site, open_page: Open, chapter: str, scheme: str) -> None:
    second = _sections(site, chapter)[1]
    page = open_page(site.address(chapter, scheme))
    page.wait_for_load_state("load")
    _read(page, [second])
    title = (page.locator("article h1").text_content() or "").removesuffix("#")
    page.goto(site.address("book/index.html", scheme))
    link = page.locator(".continue a")
    expect(link).to_contain_text(f"Continue: {title}")
    expect(page.locator(".continue")).to_contain_text("Pages begun: 1, read: 0.")
    mark = page.locator(f".bd-sidebar-primary a[href$='{chapter.removeprefix('book/')}']")
    expect(mark).to_have_attribute("data-read", "some")
    expect(mark).to_contain_text("(begun, ")
    expect(page.locator(".part-map a[data-read=some]")).to_have_count(1)
    link.click()
    page.wait_for_url(f"**/{chapter}#{second}")


def test_storage_is_first_used_when_a_file_was_asked_for(site: Site) -> None:
    """Else a page opened from files may get, from Chromium, an empty storage that is lost with its process."""
    for name in site.pages:
        # What stands in the article is data of figures, which no browser runs.
        early = site.before_article(name).select_one("script:not([src]):-soup-contains('localStorage')")
        assert early is None or early.find_previous("link", rel="stylesheet"), name


def _remember(page: Page, chapter: str, seen: int, of: int, at: str = "gone", section: str = "Some section") -> None:
    """As if sections of an edition had been read."""
    page.evaluate(
        """([page, seen, of, at, section]) => {
          const root = new URL(document.documentElement.dataset.content_root, location.href);
          const ids = Array.from({ length: seen }, (_, nth) => `s${nth}`);
          const pages = { [page]: { seen: ids, of, at, section, title: 'Some chapter' } };
          localStorage.setItem(`torchbook:reading:${root.pathname}`, JSON.stringify({ last: page, pages }));
        }""",
        [chapter.removesuffix(".html"), seen, of, at, section],
    )
    page.reload()


def test_a_chapter_is_read_when_all_its_sections_were_seen(site: Site, open_page: Open, chapter: str) -> None:
    page = open_page(site.address("book/index.html", "http"))
    _remember(page, chapter, 7, 7)
    mark = page.locator(".bd-sidebar-primary a[data-read=all]")  # a chapter of several pages has a mark of its own
    expect(mark).to_have_attribute("href", re.compile(re.escape(chapter.removeprefix("book/")) + "$"))
    expect(mark).to_contain_text("(read)")
    expect(page.locator(".continue")).to_contain_text("read: 1.")


def test_it_can_be_forgotten(site: Site, open_page: Open, chapter: str) -> None:
    page = open_page(site.address("book/index.html", "http"))
    before = page.locator(".continue").inner_text()
    _remember(page, chapter, 2, 7)
    page.get_by_role("button", name="Forget it").click()
    expect(page.locator("[data-read]")).to_have_count(0)
    assert page.locator(".continue").inner_text() == before
    page.reload()
    assert page.locator(".continue").inner_text() == before


def test_sections_of_an_older_edition_are_no_harm(site: Site, open_page: Open, chapter: str) -> None:
    page = open_page(site.address("book/index.html", "http"))
    _remember(page, chapter, 40, 41)
    page.locator(".continue a").click()
    page.wait_for_url(f"**/{chapter}#gone")
    first = _sections(site, chapter)[0]
    _read(page, [first])
    kept = page.evaluate(f"JSON.parse(localStorage[{KEPT}])")["pages"][chapter.removesuffix(".html")]
    assert kept["of"] == len(_sections(site, chapter))
    assert first in kept["seen"]
    assert not [section_id for section_id in kept["seen"] if section_id not in _sections(site, chapter)]


# Of what stands below the box, once the fonts are there.
_PLACE = """async () => {
  await document.fonts.ready;
  return document.querySelector('#the-map').getBoundingClientRect().top + scrollY;
}"""


@pytest.mark.parametrize("lengthy", [1, 20])
@pytest.mark.parametrize("width", [1280, 768, 360])
def test_marks_move_nothing(site: Site, open_page: Open, chapter: str, width: int, lengthy: int) -> None:
    page = open_page(site.address("book/index.html", "http"), width=width)
    page.wait_for_load_state("load")
    before = page.evaluate(_PLACE)
    _remember(page, chapter, 2, 7, section="A heading that says " + "rather " * lengthy + "much")
    expect(page.locator(".continue a")).to_contain_text("Continue")
    page.wait_for_load_state("load")
    assert abs(page.evaluate(_PLACE) - before) < 1
    assert violations(page) == []


def test_a_browser_that_keeps_nothing_offers_the_beginning(site: Site, open_page: Open) -> None:
    page = open_page("about:blank")
    log = listen(page)
    page.add_init_script(REFUSING)
    page.goto(site.address("book/index.html", "http"))
    expect(page.locator(".continue a").first).to_be_visible()
    expect(page.locator(".continue")).not_to_contain_text("Continue:")
    assert not log.errors


# Cards of the glossary.


def test_a_card_covers_no_line_of_its_link(site: Site, open_page: Open) -> None:
    page = open_page(site.address(site.having("article p > a.gloss"), "http"), width=360)
    page.wait_for_load_state("load")
    link = page.locator("article p > a.gloss").first
    link.evaluate("(one) => one.append(' and so many words more that the link is on two lines or on three of them')")
    page.keyboard.press("Tab")  # the keyboard is in use, so that the focus shows
    link.focus()
    card, box = page.locator(".gloss-card").bounding_box(), link.bounding_box()
    assert card
    assert box
    assert card["y"] >= box["y"] + box["height"] or card["y"] + card["height"] <= box["y"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_card_is_accessible(site: Site, open_page: Open, theme: str) -> None:
    page = open_page(site.address(site.having("article p > a.gloss"), "http"), theme=theme)
    page.wait_for_load_state("load")
    page.keyboard.press("Tab")
    page.locator("article p > a.gloss").first.focus()
    expect(page.locator(".gloss-card")).to_be_visible()
    assert violations(page) == []


def test_a_finger_is_led_to_the_glossary(site: Site, open_page: Open) -> None:
    address = site.address(site.having("article p > a.gloss"), "http")
    page = open_page(address, width=360, has_touch=True, is_mobile=True)
    page.locator("article p > a.gloss").first.tap()
    page.wait_for_url(re.compile(r"glossary\.html#term-"))


def test_a_card_is_not_printed(site: Site, open_page: Open) -> None:
    page = open_page(site.address(site.having("article p > a.gloss"), "http"))
    page.keyboard.press("Tab")
    page.locator("article p > a.gloss").first.focus()
    expect(page.locator(".gloss-card")).to_be_visible()
    page.emulate_media(media="print")
    expect(page.locator(".gloss-card")).to_be_hidden()
