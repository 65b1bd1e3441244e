"""The search as a reader uses it: over http and from files, into what is folded, with the keyboard alone."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.axe import violations
from tests.browser import listen, page_width
from tests.site.built import Site
from tests.site.conftest import Open
from torchbook.practice import shelf
from torchbook.practice.exercise import Exercise

SCHEMES = ("http", "file")


def results(page: Page) -> Locator:
    return page.locator("#search-results li > a")


def ask(site: Site, open_page: Open, query: str, scheme: str = "http", width: int = 1280) -> Page:
    page = open_page(site.address("search.html", scheme) + f"?q={query.replace(' ', '+')}", width=width)
    expect(page.locator(".search-summary")).not_to_be_empty()
    return page


def opened(page: Page) -> list[str]:
    return page.locator("article details[open]").evaluate_all("all => all.map((one) => one.id)")


def marked(page: Page) -> list[str]:
    return page.evaluate("[...(CSS.highlights.get('found') ?? [])].map((range) => range.toString().toLowerCase())")


def seen(page: Page, anchor: str) -> None:
    """Wait until the place is on the screen."""
    box = "(id) => { const box = document.getElementById(id).getBoundingClientRect(); return box.top < innerHeight }"
    page.wait_for_function(f"{box}", arg=anchor)


@pytest.fixture
def hinted(site: Site) -> Exercise:
    """An exercise with several hints, one of which has a word that no other text of its block has."""
    return shelf.find("p01-x3")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_result_leads_to_its_section_without_a_failed_request(site: Site, open_page: Open, scheme: str) -> None:
    page = open_page("about:blank")
    log = listen(page)
    page.goto(site.address("search.html", scheme) + "?q=view+refuse")
    expect(page.locator(".excerpt mark").first).to_be_visible()
    link = results(page).filter(has_text="Why view() refuses").first
    link.click()
    page.wait_for_url(re.compile(r"p01-tensors[./].*#why-view-refuses$"))
    seen(page, "why-view-refuses")
    assert "refuse" in marked(page)
    assert not log.errors


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_hint_is_found_and_it_alone_is_opened(site: Site, open_page: Open, hinted: Exercise, scheme: str) -> None:
    page = ask(site, open_page, "numbers right for contiguous tensors wrong for transposed ones", scheme)
    hint = page.locator("#search-results li[data-kind=hint]").first
    expect(hint.locator(".excerpt")).to_be_empty()
    hint.locator("a").click()
    page.wait_for_url(re.compile(r"#ex-p01-x3-hint-\d$"))
    anchor = page.url.rpartition("#")[2]
    expect(page.locator(f"#{anchor}")).to_have_attribute("open", "")
    assert opened(page) == [anchor]
    assert len(hinted.hints) > 1
    seen(page, anchor)


def test_the_answer_of_a_prediction_is_opened_only_for_its_own_words(site: Site, open_page: Open) -> None:
    name = site.having(".predict details[id]")
    answer = site.soup(name).select_one(".predict details[id]")
    assert answer is not None
    page = open_page(f"{site.address(name, 'http')}#{answer['id']}")
    expect(page.locator(f"#{answer['id']}")).to_have_attribute("open", "")
    page = open_page(f"{site.address(name, 'http')}#{str(answer['id']).removesuffix('-answer')}")
    assert opened(page) == []


def test_a_link_to_what_is_folded_opens_all_around_it(site: Site, open_page: Open) -> None:
    page = open_page(site.address(site.having("details.fold"), "file"))
    outer = page.locator("details.fold").first
    outer.evaluate(
        """(outer) => outer.insertAdjacentHTML('beforeend',
          '<details class="inner"><summary>More</summary><p id="deep">Deep</p></details>')"""
    )
    page.evaluate("location.hash = '#deep'")
    expect(page.locator("#deep")).to_be_visible()
    page.locator("details.inner").evaluate("(one) => (one.open = false)")
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<a id=again href=\"#deep\">again</a>')")
    page.locator("#again").evaluate("(link) => link.click()")
    expect(page.locator("#deep")).to_be_visible()


def test_escape_unmarks(site: Site, open_page: Open) -> None:
    page = ask(site, open_page, "stride")
    results(page).nth(1).click()
    page.wait_for_function("CSS.highlights.get('found')?.size > 0")
    page.keyboard.press("Escape")
    assert marked(page) == []


def test_what_is_marked_are_the_words_of_the_book_not_the_misspelt_ones(site: Site, open_page: Open) -> None:
    page = ask(site, open_page, "brodcasting")
    expect(page.locator(".excerpt mark").first).to_have_text(re.compile("^broadcast", re.IGNORECASE))
    results(page).first.click()
    page.wait_for_function("CSS.highlights.get('found')?.size > 0")
    assert {word[:9] for word in marked(page)} == {"broadcast"}


def test_a_name_is_found_by_a_part_of_it_too(site: Site, open_page: Open) -> None:
    page = ask(site, open_page, "entropy")
    assert any("CrossEntropyLoss" in title for title in results(page).all_inner_texts())


def test_a_section_is_found_by_the_title_of_its_page_too(site: Site, open_page: Open) -> None:
    page = ask(site, open_page, "prerequisites decorator replace")
    assert "What does a decorator replace?" in results(page).all_inner_texts()


def test_by_keyboard_alone(site: Site, open_page: Open) -> None:
    page = open_page(site.address("book/index.html", "file"))
    page.keyboard.press("/")
    page.keyboard.type("broadcasting")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"search\.html\?q=broadcasting"))
    expect(page.locator(".bd-article-container input[name=q]")).to_be_focused()
    expect(page.get_by_role("status")).to_have_text(re.compile(r"^\d+ places on \d+ pages\.$"))
    page.keyboard.press("Tab")
    expect(results(page).first).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"#term-broadcasting"))


def test_results_follow_what_is_typed(site: Site, open_page: Open) -> None:
    page = ask(site, open_page, "stride")
    page.locator(".bd-article-container input[name=q]").fill("perplexity")
    expect(results(page).first).to_have_text("perplexity")
    assert page.url.endswith("?q=perplexity")


def test_all_results_can_be_shown(site: Site, open_page: Open) -> None:
    page = ask(site, open_page, "tensor")
    total = int(page.locator(".search-summary").inner_text().split()[0])
    assert results(page).count() < total
    page.get_by_role("button", name="Show all").click()
    expect(results(page)).to_have_count(total)


FIRST = {
    "stride": "stride",
    "contiguous view": "Why view() refuses",
    "broadcasting bug": "What does broadcasting do",
    "torch.compile": "torch.compile",
    "scaled_dot_product_attention": "attention",
    "graph break": "graph break",
    "kv cache": "KV cache",
    "learning rate schedule": "schedule",
    "no_grad vs inference_mode": "no_grad or inference_mode?",
    "memories": "memory",
    "view size is not compatible": "Why view() refuses",
    "speculative decod": "speculative decoding",
    "FSDP": "FSDP",
    "cross entropy": "CrossEntropyLoss",
    "all_gather": "all-gather",
    "nan loss": "nan",
    "CUDA out of memory": "Out of memory",
    "gradient checkpointing": "gradient checkpointing",
    "brodcasting": "broadcasting",
    "zero_grad": "Why do gradients accumulate",
    "optimizer.zero_grad": "Why do gradients accumulate",
    "freeze layers": "What can be reused from a trained network?",
    "vjp": "VJP",
    "torch.func.vjp": "VJP",
    "contigous": "contiguous",
    "gradeint": "Gradients",
    "softmax stabel": "When is a kernel worth writing?",
}


@pytest.mark.parametrize("query", ["zero_grad", "optimizer.zero_grad", "torch.no_grad", "register_buffer"])
def test_places_with_the_very_name_come_first(site: Site, open_page: Open, query: str) -> None:
    name = query.rpartition(".")[2]
    page = ask(site, open_page, query, "file")
    found_by = results(page).evaluate_all(
        "all => all.slice(0, 3).map((one) => new URL(one.href).searchParams.get('find'))"
    )
    assert [words for words in found_by if name not in words.split()] == []


def test_what_readers_ask_for_comes_among_the_first(site: Site, open_page: Open) -> None:
    page = open_page(site.address("search.html", "file"))
    missed = []
    for query, wanted in FIRST.items():
        page.goto(site.address("search.html", "file") + f"?q={query.replace(' ', '+')}")
        expect(page.locator(".search-summary")).not_to_be_empty()
        titles = results(page).all_inner_texts()[:3]
        if not any(wanted.lower() in title.lower() for title in titles):
            missed.append(f"{query}: {titles}")
    assert not missed, "\n".join(missed)


@pytest.mark.parametrize(
    ("query", "notice"),
    [
        ("the of is", "Numbers, signs and words such as “the” are everywhere"),
        ("wombatology", "Nothing in the book has these words."),
        ("stride wombatology", "No place has all of these words"),
        ("trnspose", "No place has this word"),
        ("trnspose view", "with words like them"),
    ],
)
def test_it_says_why_nothing_is_found(site: Site, open_page: Open, query: str, notice: str) -> None:
    expect(ask(site, open_page, query).get_by_role("status")).to_contain_text(notice)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_results_are_accessible_and_fit_a_phone(site: Site, open_page: Open, theme: str) -> None:
    page = open_page(site.address("search.html", "http") + "?q=contiguous+view", width=360, theme=theme)
    expect(page.locator(".excerpt mark").first).to_be_visible()
    assert violations(page) == []
    assert page_width(page) <= 360


def _index(site: Site) -> dict[str, list[list[object]]]:
    text = site.file("searchindex.js").read_text(encoding="utf-8")
    index: dict[str, list[list[object]]] = json.loads(text.partition("const bookIndex = ")[2].rstrip(";\n"))
    return index


_ID = re.compile(r'<[a-z][^<>]*? id="([^"]+)"')
_FOLDED = re.compile(r'<(?:details class="(?:[^"]* )?fold|[a-z]+ class="(?:[^"]* )?predict)(?: [^"]*)?" id="([^"]+)"')


def _article(site: Site, page: str) -> str:
    """The article of a page as it is written."""
    return site.file(page).read_text(encoding="utf-8").partition("<article")[2].rpartition("</article>")[0]


def test_every_place_of_the_index_is_on_its_page(site: Site) -> None:
    index = _index(site)
    places = iter(index["places"])
    for name, count in index["pages"]:
        ids = set(_ID.findall(_article(site, f"{name}.html")))
        assert not {str(next(places)[0]) for _ in range(int(str(count)))} - ids


def test_every_hint_and_prediction_is_in_it_and_no_solution(site: Site) -> None:
    anchors = {str(place[0]) for place in _index(site)["places"]}
    exercises = [exercise for exercise in shelf.shelf().values() if exercise.contract.audience == "everyone"]
    hints = {
        f"ex-{exercise.id}-hint-{number}" for exercise in exercises for number in range(1, len(exercise.hints) + 1)
    }
    on_pages = {id_ for name in site.pages for id_ in _FOLDED.findall(_article(site, name))}
    solutions = {anchor for anchor in on_pages if anchor.endswith("-solution")}
    assert solutions
    assert on_pages - solutions <= anchors
    assert hints & on_pages <= anchors
    assert not solutions & anchors
