"""What every figure promises on the static page. Each is visited once a kind of promise; the tests read the record.

What only one figure does is in `pages/`. A new figure needs a `sample()` in the test of its truth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page

from tests.axe import COLOURS
from tests.axe import look as axe
from torchbook import viz

from .conftest import Pages, Show, Theme, mounted, overflow, shower, start_all
from .measuring import CONTROLS, PICTURE_PX, WORDS, Seen, measure
from .pressing import copied, press
from .samples import Look, sample_of

FIGURES = [name for name in viz.__all__ if name[0].isupper()]
BACKGROUND = {"light": "rgb(255, 255, 255)", "dark": "rgb(21, 24, 28)"}
THEMES: tuple[Theme, ...] = ("light", "dark")
BROKEN = (":nothing", "=%", "=x")  # no word of a figure, no text of a link, no base64

# Of a figure in each of the states of its gallery; and the figures that have more, with what they have and why.
LIMITS: dict[str, tuple[Callable[[Seen], int], int]] = {
    "words": (lambda seen: seen.words, WORDS),
    "controls": (lambda seen: seen.controls, CONTROLS),
    "picture": (lambda seen: seen.first_picture, PICTURE_PX),
}
FONTS_PX = 8  # by which a line may be higher on another machine
OVER: dict[tuple[str, str], tuple[int, str]] = {
    ("MemoryBudget", "controls"): (10, "three models, and six ways to save memory"),
    ("TokenizerExplorer", "controls"): (9, "text and vocabulary are given, then the merges are played"),
}

STATES = """(toolbar) => {
  const name = (control) => control.labels?.[0]?.textContent ?? control.ariaLabel ?? control.textContent;
  const value = (control) => control.matches('button') ? control.ariaPressed
    : control.matches('[type=checkbox], [type=radio]') ? String(control.checked) : control.value;
  return [...document.querySelectorAll('figure.viz-mount')].map((figure) => ({
    words: (figure.querySelector('.tbviz-words') ?? {}).textContent,
    pressed: [...figure.querySelectorAll(
      `[role=toolbar]:is([aria-label="${toolbar}"], [aria-label="More presets"]) [aria-pressed=true]`)]
      .map((button) => button.textContent.trim()),
    fields: [...figure.querySelectorAll('.tbviz :is(button, input, select, textarea)')]
      .filter((control) => !control.closest('[hidden]'))
      .map((control) => [name(control).trim(), value(control), String(control.disabled)]).sort(),
  }));
}"""

# In a page that hurries, a figure has drawn and spoken when two frames and a turn have passed.
SETTLE = """() => new Promise((done) =>
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => setTimeout(done, 20), 0))))"""

# A figure hears of a new address before this does.
FOLLOW = """(hash) => new Promise((done) => {
  addEventListener('hashchange', done, { once: true });
  location.hash = hash;
})"""

# Of a field of cells, in which the cell nearest to the pointer is picked, the field is the target.
SMALL = """(targets) => [...document.querySelectorAll('.tbviz')]
  .flatMap((figure) => [...figure.querySelectorAll(`:is(${targets})`)])
  .map((element) => [element.closest('.tbviz-cells') ?? element, element.outerHTML.slice(0, 80)])
  .map(([element, html]) => [element.getBoundingClientRect(), html])
  .filter(([box]) => box.width && (box.width < 24 || box.height < 24)).map(([, html]) => html)"""

REPEATED = """() => {
  const ids = [...document.querySelectorAll('[id]')].map((element) => element.id);
  return ids.filter((id, i) => ids.indexOf(id) !== i);
}"""

# axe's rule that landmarks are unique, within each figure: many states of one figure, on one page, are alike. Of those
# that are alike axe gives the first, with the others as related to it.
LANDMARKS = """async () => {
  const { violations } = await axe.run({ runOnly: ['landmark-unique'], elementRef: true });
  const groups = violations.flatMap(({ nodes }) => nodes).map(({ element, any }) =>
    [element, ...any.flatMap((check) => check.relatedNodes.map((related) => related.element))]);
  return groups.flatMap((alike) => alike.filter((element, i) =>
    alike.slice(0, i).some((before) => before.closest('.tbviz') === element.closest('.tbviz'))))
    .map((element) => element.outerHTML.slice(0, 120));
}"""

BACKGROUNDS = "() => [...document.querySelectorAll('.tbviz')].map((figure) => getComputedStyle(figure).backgroundColor)"

# A control is reached when it has the focus itself; one that was drawn anew meanwhile, when one in its place had it.
LISTEN = """() => {
  window.controls = () =>
    [...document.querySelectorAll('.tbviz :is(button, input, select, textarea, summary, a[href])')].filter((one) =>
      !one.disabled && one.checkVisibility({ visibilityProperty: true }) && !one.closest('[aria-hidden=true]'));
  window.present = new Set(controls());
  window.reached = new WeakSet();
  window.places = new Set();
  window.leaked = [];
  addEventListener('focusin', ({ target }) => { reached.add(target); places.add(controls().indexOf(target)); });
  addEventListener('keydown', (event) => event.target.closest('.tbviz') && leaked.push(event.key));
}"""

# Of a group of which Tab takes one, and the arrow keys the others: how many there are, in how many rows.
GROUP = """() => {
  const here = document.activeElement, toolbar = here.closest('[role=toolbar]');
  if (!here.matches('button')) return [0, 0];
  const like = toolbar ? 'button' : `button.${here.classList[0] ?? 'none'}`;
  const group = [...(toolbar ?? here.closest('.tbviz')).querySelectorAll(like)];
  if (!group.some((other) => other.tabIndex < 0)) return [0, 0];
  const rows = new Set(group.map((other) => Math.round(other.getBoundingClientRect().top))).size;
  return [group.length, rows];
}"""

# Letters, digits and arrows, typed into all that can have the focus.
TYPE = """() => {
  for (const one of document.querySelectorAll('.tbviz :is(button, input, select, textarea, summary, [tabindex])')) {
    for (const key of ['b', '1', 'ArrowDown']) one.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
  }
}"""


def plain(text: str | None) -> str:
    """Text as it is read: a line break is a space."""
    return " ".join((text or "").split())


@dataclass(frozen=True)
class State:
    """Words of a figure, what is pressed in the toolbar of its presets, and the controls that matter in it."""

    words: str
    pressed: tuple[str, ...]
    fields: tuple[tuple[str, ...], ...]  # of each control its name, its value or whether it is pressed, if it is off


def states(page: Page, toolbar: str) -> list[State]:
    """The state of each figure of a page."""
    return [
        State(plain(state["words"]), tuple(map(plain, state["pressed"])), tuple(map(tuple, state["fields"])))
        for state in page.evaluate(STATES, toolbar)
    ]


@dataclass(frozen=True)
class Looks:
    """What was seen in one theme and width."""

    theme: str
    width: int
    structure: list[str]
    colours: list[str]
    landmarks: list[str]
    overflow: int
    small: list[str]
    backgrounds: set[str]


@dataclass(frozen=True)
class Views:
    """Two views of one model, a figure of its own, and one in what was folded: before and after a reader's act."""

    before: list[State]
    after: list[State]
    repeated_ids: list[str]
    folded: str
    unfolded: str
    unfolded_width: float


@dataclass(frozen=True)
class Walk:
    """By keyboard through a figure: what was never reached, and the keys that left the figure."""

    controls: int
    missed: list[str]
    leaked: list[str]


class Tour:
    """One figure, visited for each kind of promise when it is asked for first."""

    def __init__(self, name: str, pages: Pages, show: Show, known: dict[str, set[str]]) -> None:
        self.name, self.sample = name, sample_of(name)
        self._pages, self._show, self._known = pages, show, known
        self.complaints: list[str] = []

    def _done(self) -> None:
        """The pages are free again."""
        self.complaints += self._pages.give_back(clean=True)

    def said(self, words: str) -> str:
        """The page writes a minus sign where Python writes a hyphen in the words of an expression."""
        return words.replace("-", "−") if self.name == "AutogradPlayground" else words

    @cached_property
    def gallery(self) -> list[tuple[State, str]]:
        """States given by Python, all on one page, and the words of Python; how large they are is noted."""
        presets = self.sample.presets.values() if self.sample.presets_of_python else ()
        widgets = [self.sample.make(**traits) for traits in ({}, self.sample.other, *presets)]
        page = self._show(*(mounted(widget, model=f"m{number}") for number, widget in enumerate(widgets)))
        self.sizes = [measure(figure) for figure in start_all(page)]
        seen = states(page, self.sample.toolbar)
        self._done()
        return [(state, plain(self.said(widget.words))) for state, widget in zip(seen, widgets, strict=True)]

    @cached_property
    def links(self) -> dict[str, State]:
        """What each preset's link leads to: the first as the page opens, the others as its address changes.

        A page that opens and an address that changes go the same way (`apply` in core/permalink.js), and the presets
        of a figure differ in nothing but their data: one is opened.
        """
        return self._followed([f":{name}" for name in self.sample.presets], self.sample.other)

    @cached_property
    def broken(self) -> dict[str, State]:
        """What is there after links that mean nothing."""
        return self._followed([*BROKEN, *self.sample.broken], self.sample.other)

    def _followed(self, rests: list[str], traits: Any) -> dict[str, State]:
        address = f"#tbviz-{self.sample.kind}-1"
        page = self._show(self.sample.make(**traits), hash=f"{address}{rests[0]}", hurry=True)
        seen = {}
        for number, rest in enumerate(rests):
            if number:
                page.evaluate(FOLLOW, f"{address}{rest}")
            page.evaluate(SETTLE)
            seen[rest] = states(page, self.sample.toolbar)[0]
        self._done()
        return seen

    @cached_property
    def linked(self) -> tuple[str, State, State]:
        """A state of the reader's own: its link, the figure where it was copied, and the one where it was opened."""
        first = self._show(self.sample.make(**self.sample.linked, link="mine"), permissions=["clipboard-read"])
        here = states(first, self.sample.toolbar)[0]
        press(first, "Copy link")
        address = copied(first)
        second = self._show(self.sample.make(link="mine"), hash=f"#{address.split('#')[1]}", hurry=True)
        second.evaluate(SETTLE)
        there = states(second, self.sample.toolbar)[0]
        self._done()
        return address, here, there

    @cached_property
    def views(self) -> Views:
        sample, widget = self.sample, self.sample.make()
        shared = mounted(widget, model="shared")
        folded = f"<details><summary>More</summary>{mounted(sample.make())}</details>"
        page = self._show(shared, shared, mounted(sample.make()), folded, hurry=True)
        figures = start_all(page)
        before = states(page, sample.toolbar)
        sample.act(figures[0].locator(".tbviz"))
        page.evaluate(SETTLE)
        after = states(page, sample.toolbar)
        page.get_by_text("More", exact=True).click()
        start_all(page)
        inside = figures[3].locator(".tbviz")
        box = inside.bounding_box()
        views = Views(
            before[:3], after[:3], page.evaluate(REPEATED), before[3].words, states(page, sample.toolbar)[3].words,
            box["width"] if box else 0,
        )  # fmt: skip
        self._done()
        return views

    @cached_property
    def looks(self) -> list[Looks]:
        """All states of a reader on one page: on screens of its widths, in the light and in the dark."""
        page = self._show(*map(self._made, self.sample.looks), width=self.sample.widths[0])
        for figure, look in zip(start_all(page), self.sample.looks, strict=True):
            look.hand(figure.locator(".tbviz"))
        seen: list[Looks] = []
        for number, width in enumerate(self.sample.widths):
            for theme in THEMES if number % 2 == 0 else THEMES[::-1]:
                # A theme has colours of its own, but not another structure: of a width it is looked at in one of them.
                at_width = bool(seen) and seen[-1].width == width
                seen.append(self._looked(page, theme, width, COLOURS if at_width else ()))
        self._done()
        return seen

    def _made(self, look: Look) -> Any:
        return (look.make or self.sample.make)(**look.traits)

    def _looked(self, page: Page, theme: Theme, width: int, rules: Sequence[str]) -> Looks:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=theme)
        page.evaluate("(theme) => { document.documentElement.dataset.theme = theme; }", theme)
        page.evaluate(SETTLE)
        findings = axe(page, self._known[theme], rules)
        return Looks(
            theme=theme,
            width=width,
            structure=[fault for fault in findings.structure if not fault.startswith("landmark-unique")],
            landmarks=page.evaluate(LANDMARKS),
            colours=findings.colours,
            overflow=overflow(page),
            small=page.evaluate(SMALL, self.sample.targets),
            backgrounds=set(page.evaluate(BACKGROUNDS)),
        )

    @cached_property
    def plain(self) -> list[tuple[str, bool, str]]:
        """Without scripts: the words of Python, is a picture of that name in sight, and the words that are in sight."""
        widgets = [self.sample.make(**traits) for traits in self.sample.plain]
        page = self._show(*widgets, java_script_enabled=False, ready=False, width=360)
        figures = page.locator("figure.viz-mount").all()
        seen = [
            (plain(widget.words), self._pictured(figure, widget.words),
             plain(figure.locator(".viz-words:visible").text_content()))
            for widget, figure in zip(widgets, figures, strict=True)
        ]  # fmt: skip
        self.plain_overflow = overflow(page)
        self._done()
        return seen

    def _pictured(self, figure: Locator, words: str) -> bool:
        if self.sample.pictured_in_words:
            return figure.get_by_role("img", name=words).is_visible()
        return figure.locator("svg").first.is_visible()

    @cached_property
    def walk(self) -> Walk:
        page = self._show(self.sample.make(), width=1000)
        page.evaluate(LISTEN)
        controls = page.evaluate("controls().length")
        missing = (
            "controls().filter((one, i) => !reached.has(one) && (present.has(one) || !places.has(i)))"
            ".map((one) => one.outerHTML.slice(0, 120))"
        )
        inside = "document.activeElement.closest('.tbviz') !== null"
        page.keyboard.press("Tab")
        while page.evaluate(inside):
            members, rows = page.evaluate(GROUP)
            if members:
                self._by_arrows(page, 1, members)
            if rows > 1:
                self._by_arrows(page, rows, -(-members // rows))
            page.keyboard.press("Tab")
        page.evaluate(TYPE)
        walk = Walk(controls, page.evaluate(missing), page.evaluate("leaked"))
        self._done()
        return walk

    def _by_arrows(self, page: Page, rows: int, columns: int) -> None:
        """Through a group, row by row: from left to right and back."""
        page.keyboard.press("Home")
        for row in range(rows):
            for _ in range(columns - 1):
                page.keyboard.press("ArrowLeft" if row % 2 else "ArrowRight")
            if row < rows - 1:
                page.keyboard.press("ArrowDown")


@pytest.fixture(scope="module")
def known_looks() -> dict[str, set[str]]:
    """Text in each theme that looks like text that was looked at before."""
    return {"light": set(), "dark": set()}


@pytest.fixture(scope="module", params=FIGURES)
def tour(
    request: pytest.FixtureRequest,
    pages: Pages,
    repo: Path,
    tmp_path_factory: pytest.TempPathFactory,
    known_looks: dict[str, set[str]],
) -> Tour:
    """One figure's visits."""
    name = request.param
    return Tour(name, pages, shower(pages, repo, tmp_path_factory.mktemp(name)), known_looks)


@pytest.mark.parametrize(("names", "alike"), [("ab", 0), ("aa", 1)])
def test_landmarks_are_told_apart_within_a_figure(show: Show, names: str, alike: int) -> None:
    regions = "".join(f'<section aria-label="{name}">A region</section>' for name in names)
    page = show(*[f'<div class="tbviz">{regions}</div>'] * 2, ready=False)
    assert any(fault.startswith("landmark-unique") for fault in axe(page).structure)
    assert len(page.evaluate(LANDMARKS)) == 2 * alike


def test_a_look_at_colours_alone_finds_what_cannot_be_read(show: Show) -> None:
    page = show('<p style="color:#777;background:#888">Grey on grey</p><img src="data:,">', ready=False)
    findings = axe(page, rules=COLOURS)
    assert len(findings.colours) == 1
    assert findings.structure == []


def test_page_says_what_python_says(tour: Tour) -> None:
    if not tour.sample.says_what_python_says:
        pytest.skip(reason="Python describes the whole, the page a step")
    assert [state.words for state, _ in tour.gallery] == [words for _, words in tour.gallery]


def test_a_preset_of_python_is_pressed_on_the_page(tour: Tour) -> None:
    if not tour.sample.labels or not tour.sample.presets_of_python:
        pytest.skip(reason="it has no buttons of presets that stay pressed")
    pressed = [state.pressed for state, _ in tour.gallery[2:]]
    assert pressed == [(tour.sample.labels[name],) for name in tour.sample.presets]


def test_preset_by_link(tour: Tour) -> None:
    sample = tour.sample
    if sample.presets_of_python:
        wanted = {f":{name}": plain(tour.said(sample.make(**traits).words)) for name, traits in sample.presets.items()}
        assert {rest: state.words for rest, state in tour.links.items()} == wanted
        assert [state.fields for state in tour.links.values()] == [state.fields for state, _ in tour.gallery[2:]]
    if not sample.labels and not sample.presets_of_python:
        words = [tour.gallery[1][0].words, *(state.words for state in tour.links.values())]
        assert len(set(words)) == len(words)
    for name, label in sample.labels.items():
        assert tour.links[f":{name}"].pressed == (label,)


def test_any_state_by_link(tour: Tour) -> None:
    address, here, there = tour.linked
    assert "#tbviz-mine=" in address
    assert there == here
    assert here.words != tour.gallery[0][0].words


def test_a_broken_link_changes_nothing(tour: Tour) -> None:
    assert tour.broken == dict.fromkeys(tour.broken, tour.gallery[1][0])


def test_two_views_show_one_state(tour: Tour) -> None:
    first, second, _ = tour.views.after
    assert first == second
    assert first.fields
    wanted = plain(tour.said(tour.sample.after()))
    assert wanted in first.words if isinstance(tour.sample.acted, str) else wanted == first.words
    assert first.words != tour.views.before[0].words


def test_several_figures_are_independent(tour: Tour) -> None:
    assert tour.views.after[2] == tour.views.before[2]
    assert tour.views.repeated_ids == []


def test_a_folded_figure_starts_when_it_is_unfolded(tour: Tour) -> None:
    assert tour.views.folded == ""
    assert tour.views.unfolded == tour.views.before[2].words
    assert tour.views.unfolded_width > 500


def test_its_structure_is_accessible(tour: Tour) -> None:
    assert [(look.theme, look.width, fault) for look in tour.looks for fault in look.structure] == []


def test_its_landmarks_have_names_of_their_own(tour: Tour) -> None:
    assert [(look.theme, look.width, html) for look in tour.looks for html in look.landmarks] == []


@pytest.mark.parametrize("theme", THEMES)
def test_its_colours_are_legible(tour: Tour, theme: str) -> None:
    looks = [look for look in tour.looks if look.theme == theme]
    assert [(look.width, fault) for look in looks for fault in look.colours] == []
    assert [look.backgrounds for look in looks] == [{BACKGROUND[theme]}] * len(tour.sample.widths)


def test_it_stays_inside_the_page(tour: Tour) -> None:
    assert [(look.theme, look.width, look.overflow) for look in tour.looks if look.overflow > 0] == []


@pytest.mark.parametrize("limit", LIMITS)
def test_it_is_a_picture_first_and_then_few_words_and_controls(tour: Tour, limit: str) -> None:
    assert tour.gallery
    of, most = LIMITS[limit]
    value = max(map(of, tour.sizes))
    if (tour.name, limit) not in OVER:
        assert value <= most
        return
    present, reason = OVER[tour.name, limit]
    slack = FONTS_PX if limit == "picture" else 0
    assert max(most + 1, present - slack) <= value <= present + slack, f"not {present} any more ({reason})"


def test_its_targets_are_large_enough(tour: Tour) -> None:
    assert [(look.theme, look.width, html) for look in tour.looks for html in look.small] == []


def test_without_scripts_picture_and_words_are_there(tour: Tour) -> None:
    for words, pictured, shown in tour.plain:
        assert pictured
        assert shown == words
    assert tour.plain_overflow <= 0


def test_every_control_is_reached_by_keyboard(tour: Tour) -> None:
    assert tour.walk.controls > 0
    assert tour.walk.missed == []


def test_keys_stay_inside_the_figure(tour: Tour) -> None:
    assert tour.walk.leaked == []


def test_nothing_is_fetched_and_nothing_complains(tour: Tour) -> None:
    tour.gallery, tour.links, tour.broken, tour.linked, tour.views, tour.looks, tour.plain, tour.walk  # noqa: B018
    assert tour.complaints == []
