"""AutogradExplorer on the static page: by mouse, by keyboard alone, by link, on a phone and without scripts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from playwright.sync_api import Locator, Page, expect

from tests.browser import SLACK
from torchbook.viz import AutogradExplorer

from ..conftest import Show, gallery
from ..models.test_autograd_recording import autograd_explorer, node_of
from ..pressing import press, tab_to, words


def deep() -> AutogradExplorer:
    torch.manual_seed(0)
    model = torch.nn.Sequential(*[torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh()) for _ in range(12)])
    x = torch.ones(16, 8)
    return AutogradExplorer(lambda: model(x).square().mean(), params=model, targets=2)


def small_network(**traits: int) -> AutogradExplorer:
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    inputs, targets = torch.randn(5, 3), torch.randn(5, 1)
    return AutogradExplorer(lambda: torch.nn.functional.mse_loss(model(inputs), targets), params=model, **traits)


def node(page: Page, name: str) -> Locator:
    return page.locator(f'.tbgraph-node[aria-label^="{name}"]')


def test_steps_run_the_forward_then_the_engines_order(show: Show) -> None:
    widget = autograd_explorer(step=0)
    page = show(widget)
    nodes = widget.graphs[0]["nodes"]
    operations = [entry["name"] for entry in nodes if entry["kind"] != "leaf"]
    reached = [nodes[event["node"]] for event in widget.scenarios[0]["runs"][""]["passes"][0]["events"]]
    order = [entry["label" if entry["kind"] == "leaf" else "name"] for entry in reached]
    sentences = []
    for _ in range(len(operations) + len(order)):
        press(page, "Step forward")
        sentences.append(words(page).inner_text())
    for sentence, name in zip(sentences, [*operations, *order], strict=True):
        assert name in sentence
    assert [("recorded" in sentence) for sentence in sentences] == [True] * len(operations) + [False] * len(order)


def test_backward_fills_grad_with_the_recorded_numbers(show: Show) -> None:
    page = show(autograd_explorer(step=0))
    press(page, "Jump to the next part")
    expect(page.locator(".tbviz-words")).to_contain_text("Backward, 1 of 6: SumBackward0 (loss) receives 1")
    press(page, "Jump to the next part")
    w, x = torch.tensor([1.0, 0.5], requires_grad=True), torch.tensor([2.0, 3.0], requires_grad=True)
    ((w * x).exp() * x).sum().backward()
    assert w.grad is not None
    row = page.locator(".tbag-table tbody tr", has_text=re.compile("^w"))
    shown = row.locator("td").last.inner_text()
    assert [float(part) for part in shown.strip("[]").split(",")] == pytest.approx(w.grad.tolist(), rel=5e-3)
    expect(row.locator("td").nth(2)).to_have_text("None")


def test_a_clicked_node_shows_formula_saved_tensors_and_gradients(show: Show) -> None:
    page = show(autograd_explorer(step=0))
    press(page, "Jump to the next part")
    press(page, "Jump to the next part")
    node(page, "ExpBackward0 (h)").click()
    side = page.locator(".tbag-side")
    expect(side).to_contain_text("grad · result")
    expect(side).to_contain_text("Saved for the backward: freed now")
    expect(side).to_contain_text("Gradient that arrives")
    expect(side).to_contain_text("Gradients it sends")
    node(page, "ExpBackward0 (h)").click()
    expect(node(page, "ExpBackward0 (h)")).to_have_attribute("aria-pressed", "false")


@pytest.mark.parametrize(
    ("scenario", "target", "says"),
    [
        ("second", "", "Trying to backward through the graph a second time"),
        ("no_grad", "", "element 0 of tensors does not require grad and does not have a grad_fn"),
        ("in_place", "h", "has been modified by an inplace operation"),
    ],
)
def test_torchs_own_error_is_shown(show: Show, scenario: str, target: str, says: str) -> None:
    page = show(autograd_explorer())
    page.get_by_label("What to run").select_option(scenario)
    if target:
        page.get_by_label("on which tensor").select_option(str(node_of(target)))
    slider = page.get_by_label("Step", exact=True)
    slider.focus()
    page.keyboard.press("End")
    expect(page.locator(".tbag-error")).to_contain_text(says)
    assert says in words(page).inner_text()


def test_detached_part_is_recorded_and_then_not_reached(show: Show) -> None:
    page = show(autograd_explorer(scenario="detach", target=node_of("h")))
    expect(node(page, "w,")).to_have_attribute("aria-label", "w, not reached")
    expect(node(page, "ExpBackward0 (h)")).to_have_attribute("aria-label", "ExpBackward0 (h), recorded, not reached")
    press(page, "Step back")
    expect(words(page)).to_have_text(re.compile(r"MulBackward0 receives .*; it sends \[.*\] to x\.$"))
    slider = page.get_by_label("Step", exact=True)
    slider.focus()
    page.keyboard.press("Home")
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    expect(words(page)).to_contain_text("ExpBackward0 (h) is recorded")
    page.keyboard.press("ArrowRight")
    expect(words(page)).to_contain_text("is detached")
    expect(node(page, "ExpBackward0 (h)")).to_have_attribute("aria-label", "ExpBackward0 (h), recorded, not reached")


def test_under_no_grad_no_operation_is_recorded(show: Show) -> None:
    page = show(autograd_explorer(scenario="no_grad"))
    expect(node(page, "ExpBackward0 (h)")).to_have_attribute("aria-label", "ExpBackward0 (h), not recorded")
    expect(node(page, "w,")).to_have_attribute("aria-label", "w, not reached")


def test_retain_grad_shows_the_gradient_that_was_kept(show: Show) -> None:
    page = show(autograd_explorer(scenario="retain_grad", step=99))
    node(page, "ExpBackward0 (h)").click()
    expect(page.locator(".tbag-side")).to_contain_text(".grad, kept by retain_grad()")


def test_second_backward_adds(show: Show) -> None:
    page = show(autograd_explorer(scenario="again", step=99))
    before, after = (page.locator(".tbag-table tbody tr").first.locator("td").nth(i).inner_text() for i in (2, 3))
    first, second = ([float(x) for x in text.strip("[]").split(",")] for text in (before, after))
    assert second == pytest.approx([2 * x for x in first], rel=1e-2)


def test_graph_of_the_gradient_is_a_larger_graph(show: Show) -> None:
    widget = autograd_explorer(scenario="create_graph")
    page = show(widget)
    expect(page.locator(".tbgraph .tbgraph-node")).to_have_count(len(widget.graphs[1]["nodes"]))
    page.get_by_label("What to run").select_option("backward")
    expect(page.locator(".tbgraph .tbgraph-node")).to_have_count(len(widget.graphs[0]["nodes"]))


def test_what_a_plain_loss_cannot_answer_says_what_to_do(show: Show) -> None:
    w = torch.tensor(2.0, requires_grad=True)
    page = show(AutogradExplorer(w * w, params={"w": w}))
    page.get_by_label("What to run").select_option("in_place")
    expect(page.locator(".tbag-error")).to_contain_text("Give a function that computes the loss")


def test_everything_by_keyboard(show: Show) -> None:
    page = show(autograd_explorer())
    tab_to(page, "What to run")
    page.keyboard.press("e")  # “edit in place”
    assert "Backward, 3 of 6: " in words(page).inner_text()
    tab_to(page, "on which tensor")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".tbviz-words")).to_contain_text("add_(1)")
    tab_to(page, "Step back")
    page.keyboard.press("Enter")
    tab_to(page, "Step forward")
    page.keyboard.press("Enter")
    tab_to(page, "Play")
    tab_to(page, "Step")
    page.keyboard.press("End")
    expect(page.locator(".tbviz-words")).to_contain_text(re.compile("torch raises|Done"))
    tab_to(page, "Graph")
    scene = page.locator(".tbgraph svg > g")
    for key in ("ArrowRight", "ArrowDown", "+", "0", "-"):
        before = scene.get_attribute("transform")
        page.keyboard.press(key)
        expect(scene).not_to_have_attribute("transform", before or "")
    page.keyboard.press("Tab")
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    focused = page.evaluate("document.activeElement.getAttribute('aria-label')")
    page.keyboard.press("Enter")
    assert page.locator(".tbgraph-node[aria-pressed=true]").get_attribute("aria-label") == focused
    expect(page.locator(".tbag-title")).to_have_text(focused.split(",")[0])
    tab_to(page, "Zoom in")
    tab_to(page, "Copy as PyTorch")


def test_canvas_moves_by_mouse_and_zooms(show: Show) -> None:
    page = show(autograd_explorer())
    scene, box = page.locator(".tbgraph svg > g"), page.locator(".tbgraph").bounding_box()
    assert box
    start = scene.get_attribute("transform")
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 90, box["y"] + 60, steps=5)
    page.mouse.up()
    moved = scene.get_attribute("transform")
    assert moved != start
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    expect(scene).not_to_have_attribute("transform", moved or "")


def test_it_opens_amid_the_story(show: Show) -> None:
    figures = gallery(show, [autograd_explorer(), autograd_explorer(step=0), autograd_explorer(scenario="second")])
    said = [figure.locator(".tbviz-words").inner_text() for figure in figures]
    assert said[0].startswith("Step 7 of 11. Backward, 3 of 6: ")
    assert said[1].startswith("Step 0 of 11. Before the forward ")
    assert "torch raises RuntimeError: Trying to backward through the graph a second time" in said[2]


def marks(page: Page, look: str) -> Locator:
    return page.locator(f".tbgraph-mark-{look}")


# Presses a button, and tells of the marks that are on their way at once, in the middle and at the end: how many there
# are, and how far they are from the middle of the node that the step is about.
TRAVEL = """async ([name, look]) => {
  const middle = (one) => {
    const box = one.getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  const button = document.querySelector(`.tbviz [aria-label="${name}"]`);
  button.click();
  const [x, y] = middle(document.querySelector('.tbag-box-now rect.tbgraph-box'));
  const seen = [];
  for (const until = performance.now() + 2000; performance.now() < until;) {
    const all = [...document.querySelectorAll(`.tbgraph-mark-${look}`)];
    if (!all.length) break;
    seen.push(all.map((one) => Math.hypot(middle(one)[0] - x, middle(one)[1] - y)));
    await new Promise(requestAnimationFrame);
  }
  return seen;
}"""


def test_gradients_travel_along_the_edges(show: Show) -> None:
    page = show(autograd_explorer(), motion=True)
    for name, look, away in (("Step forward", "gradient", True), ("Step back", "gradient", None)):
        seen = page.evaluate(TRAVEL, [name, look])
        if away is None:
            assert seen == []  # going back is no event of the engine
            continue
        assert {len(marks) for marks in seen} == {2}  # MulBackward0 sends to w and to x
        assert all(last > first for first, last in zip(seen[0], seen[-1], strict=True))
        expect(marks(page, look)).to_have_count(0)
    page = show(autograd_explorer(step=0), motion=True)
    seen = page.evaluate(TRAVEL, ["Step forward", "value"])
    assert all(last < first for first, last in zip(seen[0], seen[-1], strict=True))  # to the node that reads them


def test_a_quick_reader_interrupts_what_travels(show: Show) -> None:
    page = show(autograd_explorer(step=4), motion=True)
    for _ in range(3):
        page.evaluate("document.querySelector('[aria-label=\"Step forward\"]').click()")
    assert page.locator(".tbgraph-mark").count() <= 2  # those of the last step
    expect(page.locator(".tbgraph-mark")).to_have_count(0)
    assert page.locator(".tbgraph-label").evaluate_all("(all) => all.every((one) => one.style.opacity === '')")


def test_with_reduced_motion_nothing_travels(show: Show) -> None:
    page = show(autograd_explorer())
    assert page.evaluate(TRAVEL, ["Step forward", "gradient"]) == []


def test_what_torch_refuses_shakes(show: Show) -> None:
    shaking = """() => [...document.querySelectorAll('.tbgraph-node > g')]
        .filter((one) => one.getAnimations().some((motion) => motion.effect.getKeyframes().some((k) => k.transform)))
        .map((one) => one.parentElement.classList.contains('tbag-box-fail'))"""
    page = show(autograd_explorer(scenario="second"), motion=True)
    press(page, "Step back")
    page.wait_for_function(f"!({shaking})().length")
    assert page.evaluate(
        f"() => {{ document.querySelector('[aria-label=\"Step forward\"]').click(); return ({shaking})() }}"
    ) == [True]
    page = show(autograd_explorer(scenario="second", step=12))
    assert (
        page.evaluate(
            f"() => {{ document.querySelector('[aria-label=\"Step forward\"]').click(); return ({shaking})() }}"
        )
        == []
    )


HEIGHT = "document.querySelector('.tbviz').offsetHeight"


def closed(page: Page) -> Page:
    """As a reader finds the figure: what is in its drawer is not in sight."""
    page.evaluate("document.querySelector('.tbviz-drawer').open = false")
    return page


@pytest.mark.parametrize(("width", "most"), [(1280, 860), (390, 760)])
def test_its_height_stays_and_fits_a_screen(show: Show, width: int, most: int) -> None:
    page = closed(show(autograd_explorer(), width=width))
    heights = {page.evaluate(HEIGHT)}
    for scenario in ("second", "again", "detach", "no_grad", "in_place", "create_graph", "retain_grad", "backward"):
        page.get_by_label("What to run").select_option(scenario, force=True)
        heights.add(page.evaluate(HEIGHT))
    node(page, "ExpBackward0 (h)").click()
    heights.add(page.evaluate(HEIGHT))
    assert len(heights) == 1
    assert heights.pop() <= most


@pytest.mark.parametrize("width", [1280, 390])
def test_details_leave_the_chosen_node_in_sight(show: Show, width: int) -> None:
    page = show(autograd_explorer(), width=width)
    node(page, "MulBackward0").last.click()
    chosen, side = (
        page.locator(".tbgraph-node[aria-pressed=true]").bounding_box(),
        page.locator(".tbag-side").bounding_box(),
    )
    assert chosen
    assert side
    beside, above = chosen["x"] + chosen["width"] <= side["x"], chosen["y"] + chosen["height"] <= side["y"]
    assert beside or above
    press(page, "Close the details")
    expect(page.locator(".tbag-side")).to_be_hidden()
    expect(page.locator(".tbgraph-node[aria-pressed=true]")).to_have_count(0)


# Pairs of labels, and of a label and a box, that lie on one another in the picture.
CROWDED = """() => {
  const boxes = [...document.querySelectorAll('.tbgraph-box, .tbag-badge')]
    .map((one) => [one, one.getBoundingClientRect()]);
  const labels = [...document.querySelectorAll('.tbgraph-label')].filter((one) => one.textContent)
    .map((one) => [one, one.getBoundingClientRect()]);
  const on = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
  return labels.flatMap(([label, at], i) => [...boxes, ...labels.slice(i + 1)].filter(([, other]) => on(at, other))
    .map(([one]) => `${label.textContent} on ${one.textContent || one.parentElement.textContent}`));
}"""


@pytest.mark.parametrize("width", [1280, 390])
def test_numbers_on_edges_cover_nothing(show: Show, width: int) -> None:
    for widget in (autograd_explorer(step=4), small_network(step=0)):
        page = show(widget, width=width)
        slider = page.get_by_label("Step", exact=True)
        for step in range(int(slider.input_value()), int(slider.get_attribute("max") or 0)):
            slider.fill(str(step))
            assert page.evaluate(CROWDED) == [], step


def test_text_is_readable_and_what_is_out_of_sight_is_hinted_at(show: Show) -> None:
    page = show(deep(), width=390)
    scale = page.locator(".tbgraph svg > g").evaluate("(scene) => scene.getScreenCTM().a")
    assert scale * 13 >= 12
    assert page.locator(".tbgraph").evaluate("(one) => one.style.getPropertyValue('--b')") == "1"
    expect(page.get_by_role("button", name="Show all")).to_be_visible()
    expect(show(autograd_explorer(), width=1280).get_by_role("button", name="Show all")).to_be_hidden()


def test_play_runs_to_the_end_and_stops(show: Show) -> None:
    page = show(autograd_explorer(), own=True)
    page.clock.install()
    press(page, "Play")
    page.clock.run_for(60_000)
    expect(page.locator(".tbviz-words")).to_contain_text("Done.")
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_a_link_opens_the_state(show: Show) -> None:
    page = show(autograd_explorer(), hash="#tbviz-autograd-1:no_grad")
    expect(page.get_by_label("What to run")).to_have_value("no_grad")


MOST = 10  # whatever else a machine does can only spoil a try


def tried(measure: Callable[[], Any], good: Callable[[Any], bool]) -> list[Any]:
    """What was measured, until it is good or was measured often enough to say that it is not."""
    tries = [measure()]
    while not good(tries[-1]) and len(tries) < MOST:
        tries.append(measure())
    return tries


FRAMES = """async (steps) => {
  const slider = document.querySelector('.tbag-slide input'), gaps = [], work = [];
  let last = await new Promise(requestAnimationFrame);
  for (let i = 1; i <= steps; i += 1) {
    const before = performance.now();
    slider.value = i;
    slider.dispatchEvent(new Event('input', { bubbles: true }));
    document.querySelector('.tbgraph').getBoundingClientRect();
    work.push(performance.now() - before);
    const now = await new Promise(requestAnimationFrame);
    gaps.push(now - last);
    last = now;
  }
  work.sort((a, b) => a - b);
  const dropped = gaps.filter((gap) => gap > 25).length;
  return { dropped, worst: Math.max(...gaps), middle: work[work.length >> 1], most: work.at(-1) };
}"""


@pytest.mark.alone
def test_sixty_nodes_are_stepped_without_dropped_frames(show: Show) -> None:
    """One step a frame, the hardest there is: script and layout of a step must leave room in a frame of 16.7 ms.

    On a shared machine a frame may be late because of others: the gate is the median work of a step; gaps are told.
    """
    page = show(deep(), width=1280, motion=True)
    steps = page.get_by_label("Step", exact=True).get_attribute("max")
    assert page.locator(".tbgraph .tbgraph-node").count() >= 60
    page.evaluate(FRAMES, 10)
    tries = tried(lambda: page.evaluate(FRAMES, int(steps or 0)), lambda frames: frames["middle"] < 8)
    print(f"\n{steps} steps, one a frame: {tries}")
    assert tries[-1]["middle"] < 8


PLAYED = """(frames) => new Promise((done) => {
  document.querySelector('.tbag-bar .tbviz-primary').click();
  const gaps = [];
  let last;
  requestAnimationFrame(function tick(now) {
    if (last !== undefined) gaps.push(now - last);
    last = now;
    if (gaps.length < frames) return requestAnimationFrame(tick);
    document.querySelector('.tbag-bar .tbviz-primary').click();
    done({ dropped: gaps.filter((gap) => gap > 25).length, worst: Math.max(...gaps) });
  });
})"""


@pytest.mark.alone
def test_sixty_nodes_play_with_few_dropped_frames(show: Show) -> None:
    """Five seconds of playing, with gradients and the view in motion. Others on a machine may spoil a try, not all.

    The scene is a layer, painted once: painted in each frame it dropped a tenth of them, where no GPU paints.
    """
    page = show(deep(), width=1280, motion=True)
    assert page.locator(".tbgraph .tbgraph-node").count() >= 60
    tries = tried(lambda: page.evaluate(PLAYED, 300), lambda frames: frames["dropped"] == 0)
    print(f"\n300 frames of playing, each time: {tries}")
    assert min(frames["dropped"] for frames in tries) <= (15 if SLACK > 1 else 0)  # of 300


def test_the_scene_is_a_layer_only_while_it_moves_at_one_scale(show: Show) -> None:
    page = show(deep(), width=1280)
    page.clock.install()
    page.emulate_media(reduced_motion="no-preference")
    layer = "document.querySelector('.tbgraph svg > g').style.willChange"
    assert page.evaluate(layer) == ""
    press(page, "Step forward")
    assert page.evaluate(layer) == "transform"
    page.clock.run_for(5_000)
    assert page.evaluate(layer) == "", "it rests"
    press(page, "Step forward")
    press(page, "Zoom in")
    page.clock.run_for(50)
    assert page.evaluate(layer) == "", "at another scale it would be blurred"


START = """() => new Promise((done) => {
  const mount = document.querySelector('.viz-mount'), from = performance.now();
  const watch = new MutationObserver(() => { if (mount.dataset.ready) done(performance.now() - from); });
  watch.observe(mount, { attributes: true });
  mount.scrollIntoView();
})"""


@pytest.mark.alone
def test_it_is_ready_soon_after_it_comes_into_view(show: Show) -> None:
    def measure() -> float:
        page = show('<div style="height:4000px"></div>', autograd_explorer(), width=1280, ready=False)
        page.locator(".viz-mount").wait_for(state="attached")
        return page.evaluate(START)

    tries = tried(measure, lambda took: took < 1000)  # 100 ms is the aim; a shared machine may be slower
    print(f"\nready so many ms after it came into view: {tries}")
    assert tries[-1] < 1000


def test_the_sign_of_saved_tensors_is_explained(show: Show) -> None:
    page = show(small_network())
    expect(page.locator(".tbag-legend")).to_contain_text("saved for backwardfreed")
    assert page.locator(".tbag-legend .tbag-store").first.is_visible()
