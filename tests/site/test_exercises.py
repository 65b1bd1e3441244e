"""Exercises on the built site: on their chapters' pages, at work in a browser, and in the published notebooks."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import run_sync
from nbclient import NotebookClient
from playwright.sync_api import Browser, Locator, Page, expect

from tests.axe import violations
from tests.browser import page_width, reachable, settled
from tests.site.built import SITE, Site
from tests.site.conftest import Open
from torchbook.practice import shelf
from torchbook.practice.quiz import accepted
from torchbook_press.chapters import units
from torchbook_press.site.patterns import is_common


def test_each_exercise_is_on_one_page_of_its_chapter(site: Site, repo: Path) -> None:
    pages = {unit.id: [f"{page.docname}.html" for page in unit.members] for unit in units(repo)}
    everyone = [exercise for exercise in shelf.shelf().values() if exercise.contract.audience == "everyone"]
    expected = {
        exercise.id: pages[exercise.contract.chapter] for exercise in everyone if exercise.contract.chapter in pages
    }
    assert expected, "no exercise belongs to a chapter of the book"
    blocks: dict[str, list[str]] = {name: [] for name in expected}
    for page in site.pages:
        for name in re.findall(r' id="ex-([^"]+)"', site.file(page).read_text(encoding="utf-8")):
            if name in blocks:
                blocks[name].append(page)
    misplaced = {name: on for name, on in blocks.items() if len(on) != 1 or on[0] not in expected[name]}
    assert misplaced == {}


# In the browser.

BOTH_KINDS = "article:has(.quiz):has(section.exercise:not(:has(.quiz)))"


@pytest.fixture
def page(site: Site, open_page: Open) -> Page:
    """The page with a quiz, which has exercises of the other kind, too."""
    opened = open_page(site.address(site.having(BOTH_KINDS), "http"))
    settled(opened)
    return opened


def _block(page: Page) -> Locator:
    return page.locator("section.exercise:not(:has(.quiz))").first


def _quiz(page: Page) -> Locator:
    return page.locator("section.exercise:has(.quiz)").first


def _choice(page: Page) -> Locator:
    return _quiz(page).locator("fieldset:has(input[type=radio])").first


def _typed(page: Page) -> Locator:
    return _quiz(page).locator("fieldset:has(input[type=text])").first


def test_a_solved_exercise_is_ticked_and_stays_so(page: Page) -> None:
    box = _block(page).get_by_role("checkbox", name="Solved")
    expect(box).not_to_be_checked()
    box.focus()
    page.keyboard.press("Space")
    expect(box).to_be_checked()
    page.reload()
    expect(box).to_be_checked()
    expect(_quiz(page).get_by_role("checkbox", name="Solved")).not_to_be_checked()


def test_hints_and_solution_unfold_by_keyboard(page: Page) -> None:
    for folded in _block(page).locator("details").all():
        expect(folded.locator("> :last-child")).to_be_hidden()
        folded.locator("summary").focus()
        page.keyboard.press("Enter")
        expect(folded.locator("> :last-child")).to_be_visible()


def test_stub_can_be_copied(page: Page) -> None:
    expect(_block(page).locator("> .highlight-python button.copybtn")).to_have_count(1)


def test_a_wrong_option_says_why_it_is_tempting(page: Page) -> None:
    question = _choice(page)
    wrong = question.locator("input:not([data-right])").first
    why = question.locator(f"dd[data-option={wrong.get_attribute('value')}]").text_content()
    wrong.click()
    expect(question.get_by_role("status")).to_contain_text("Not this one.")
    expect(question.get_by_role("status")).to_contain_text(why.strip())
    expect(question.locator("details")).not_to_have_attribute("open", "")
    page.reload()
    expect(wrong).to_be_checked()
    expect(question.get_by_role("status")).to_contain_text("Not this one.")


def test_a_choice_by_keyboard(page: Page) -> None:
    question = _choice(page)
    radios = question.get_by_role("radio")
    radios.first.focus()
    page.keyboard.press("ArrowDown")
    expect(radios.nth(1)).to_be_focused()
    expect(question.get_by_role("status")).to_be_empty()
    page.keyboard.press("Space")
    expect(radios.nth(1)).to_be_checked()
    expect(question.get_by_role("status")).not_to_be_empty()


def test_a_short_answer_is_marked_and_kept(page: Page) -> None:
    question = _typed(page)
    field, status = question.get_by_role("textbox"), question.get_by_role("status")
    question.get_by_role("button", name="Check").click()
    expect(status).to_be_empty()
    expect(field).to_be_focused()
    field.fill("no idea at all")
    question.get_by_role("button", name="Check").click()
    expect(status).to_have_text("Not this one.")
    example = question.locator("dt code").first.text_content()
    field.fill(f"  {example.upper()} ")
    page.keyboard.press("Enter")
    expect(status).to_contain_text("Right.")
    page.reload()
    expect(field).to_have_value(example.upper())  # without the spaces around it
    expect(status).to_contain_text("Right.")


def test_a_quiz_whose_answers_are_all_right_is_solved(page: Page) -> None:
    for question in _quiz(page).locator("fieldset").all():
        expect(_quiz(page).get_by_role("checkbox", name="Solved")).not_to_be_checked()
        if question.get_attribute("data-accept"):
            question.get_by_role("textbox").fill(question.locator("dt code").first.text_content())
            question.get_by_role("button", name="Check").click()
        else:
            question.locator("input[data-right]").click()
    expect(_quiz(page).get_by_role("checkbox", name="Solved")).to_be_checked()


def test_browser_and_python_mark_short_answers_alike(page: Page) -> None:
    quizzes = {exercise.id: exercise for exercise in shelf.shelf().values() if exercise.contract.kind == "quiz"}
    tried = 0
    for typed in page.locator("fieldset[data-accept]").all():
        exercise_id, name = typed.get_attribute("data-question").split(".")
        question = next(candidate for candidate in quizzes[exercise_id].contract.questions if candidate.name == name)
        for answer in (question.example, *(tempting.example for tempting in question.tempting)):
            typed.get_by_role("textbox").fill(answer)
            typed.get_by_role("button", name="Check").click()
            why = next((tempting for tempting in question.tempting if accepted((tempting.match,), answer)), None)
            expect(typed).to_have_attribute("data-state", "right" if accepted(question.accept, answer) else "wrong")
            matched = None if why is None else [tempting.match for tempting in question.tempting].index(why.match)
            if matched is not None and answer != question.example:
                reason = typed.locator("dd[data-match]").nth(matched).text_content()
                expect(typed.get_by_role("status")).to_contain_text(reason.strip())
            tried += 1
    assert tried


_PIECES = ["a", "B", "_", r"\.", r"\(", r"\s", r"\d", r"\w", r"\b", "[ab]", r"[^a\s]", "[0-9_]", "."]
_PIECES += ["(?:", "(", "(?=", "(?!", ")", ")", "|", "*", "+", "?", "{2}", "{1,}", "*?", "^", "$"]


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return False
    return is_common(pattern)


def test_browser_and_python_read_the_common_patterns_alike(browser: Browser) -> None:
    draw = random.Random(0)
    drawn = ("".join(draw.choices(_PIECES, k=draw.randint(1, 7))) for _ in range(15_000))
    patterns = sorted({pattern for pattern in drawn if _compiles(pattern)})
    answers = ["".join(draw.choices("aAbB_.( 01", k=draw.randint(0, 5))) for _ in range(60)]
    assert len(patterns) > 2000
    by_python = [[bool(re.fullmatch(pattern, answer, re.IGNORECASE)) for answer in answers] for pattern in patterns]
    page = browser.new_page()
    by_browser = page.evaluate(
        "([ps, answers]) => ps.map((p) => answers.map((one) => new RegExp(`^(?:${p})$`, 'i').test(one)))",
        [patterns, answers],
    )
    page.close()
    both = zip(patterns, by_python, by_browser, strict=True)
    assert [pattern for pattern, python, browsers in both if python != browsers] == []


def test_without_javascript_everything_can_be_read(site: Site, open_page: Open) -> None:
    page = open_page(site.address(site.having(BOTH_KINDS), "http"), java_script_enabled=False)
    for folded in (_block(page).locator("details").last, _choice(page).locator("details")):
        expect(folded.locator("> :last-child")).to_be_hidden()
        folded.locator("summary").click()
        expect(folded.locator("> :last-child")).to_be_visible()
    expect(_typed(page).locator("button")).to_be_hidden()


def test_paper_has_of_what_is_folded_only_what_was_opened(page: Page) -> None:
    fold = _block(page).locator("details.fold").first
    page.emulate_media(media="print")
    expect(fold).to_be_hidden()
    fold.evaluate("one => (one.open = true)")
    expect(fold.locator("> :last-child")).to_be_visible()
    expect(_typed(page).get_by_role("textbox")).to_be_visible()
    expect(_typed(page).locator("button")).to_be_hidden()


# The rest of the page is looked at by itself, as it is before anything is unfolded.
_EXERCISES_ALONE = """document.querySelectorAll('article section:not(.exercise, :has(.exercise), .exercise *)')
  .forEach((section) => section.remove())"""


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (360, "dark")])
def test_axe_finds_nothing_in_what_was_unfolded_and_answered(
    site: Site, open_page: Open, width: int, theme: str
) -> None:
    page = open_page(site.address(site.having(BOTH_KINDS), "http"), width=width, theme=theme)
    settled(page)
    for index, question in enumerate(_quiz(page).locator("fieldset:has(input[type=radio])").all()):
        question.locator("input[data-right]" if index else "input:not([data-right])").first.click()
    _typed(page).get_by_role("textbox").fill("no idea at all")
    _typed(page).get_by_role("button").click()
    page.evaluate("document.querySelectorAll('section.exercise details').forEach((one) => (one.open = true))")
    page.evaluate(_EXERCISES_ALONE)
    page.evaluate("dispatchEvent(new Event('resize'))")
    reachable(page)
    assert violations(page) == []
    assert page_width(page) <= width


# The published notebooks.

_STUB = re.compile(r"^(?P<id>.+-x\d+)-stub$")


def _notebooks() -> list[str]:
    paths = [path for path in SITE.glob("notebooks/**/*.ipynb") if _exercises_in(nbformat.read(path, as_version=4))]
    return sorted(path.relative_to(SITE).as_posix() for path in paths)


def _exercises_in(nb: nbformat.NotebookNode) -> list[str]:
    return [stub["id"] for cell in nb.cells if (stub := _STUB.match(cell.id))]


# Without a site, or a notebook with exercises, this one case fails.
each_notebook = pytest.mark.parametrize("name", _notebooks() or ["notebooks/none.ipynb"])


_QUICK = 60  # an exercise whose checks may take as many seconds is not quick


def _seconds(exercise: str) -> float:
    return shelf.find(exercise).contract.seconds


def _shown(notebook: Path) -> list[str]:
    """The quick exercises of a notebook, or the quickest: what the checks accept has tests of its own."""
    exercises = _exercises_in(nbformat.read(notebook, as_version=4))
    return [name for name in exercises if _seconds(name) < _QUICK] or [min(exercises, key=_seconds)]


@pytest.fixture(scope="module")
def kernel() -> Iterator[AsyncKernelManager]:
    """One kernel for all notebooks, which imports torch once; each begins without the names of those before."""
    manager = AsyncKernelManager(kernel_name="python3")
    yield manager
    run_sync(manager.shutdown_kernel)(now=True)


def _run(notebook: Path, folder: Path, kernel: AsyncKernelManager, rounds: list[tuple[dict[str, str], str]]) -> None:
    """Run a notebook's installing cell in a folder, then its exercises once a round.

    In each round its answers are pasted into the stubs, and its claim is said of every check.
    """
    nb = nbformat.read(notebook, as_version=4)
    source = {cell.id: cell.source for cell in nb.cells}
    progress = f"os.environ['TORCHBOOK_PROGRESS'] = {str(folder / 'progress.json')!r}"
    codes = ["%reset -f", f"import os; os.chdir({str(folder)!r}); {progress}", source["install"]]
    for answers, claim in rounds:
        for exercise in _shown(notebook):
            codes += [answers.get(exercise, source[f"{exercise}-stub"]), source[f"{exercise}-check"], claim]
    nb.cells = [nbformat.v4.new_code_cell(code) for code in codes]
    NotebookClient(nb, km=kernel, timeout=600).execute()


@each_notebook
def test_exercises_of_a_notebook_are_unsolved_until_the_references_are_pasted_into_it(
    name: str, site: Site, tmp_path: Path, kernel: AsyncKernelManager
) -> None:
    notebook = site.file(name)
    references = {exercise: shelf.find(exercise).reference for exercise in _shown(notebook)}
    _run(notebook, tmp_path, kernel, [({}, "assert _.outcomes and not _"), (references, "assert _, str(_)")])


@each_notebook
def test_no_cell_after_an_exercise_needs_what_its_stub_takes_over(name: str, site: Site) -> None:
    taken: dict[str, str] = {}
    clashes = []
    for cell in nbformat.read(site.file(name), as_version=4).cells:
        if cell.cell_type != "code" or cell.id == "install" or cell.source.startswith("%%"):
            continue  # what a magic makes of a cell, a file for instance, has names of its own
        tree = ast.parse(cell.source)
        stub = _STUB.match(cell.id)
        if stub:
            taken |= {node.name: stub["id"] for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        elif not cell.id.endswith("-check"):
            used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
            clashes += [f"{cell.id}: {used_name} of {taken[used_name]}" for used_name in used & taken.keys()]
    assert clashes == []
