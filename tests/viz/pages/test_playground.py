"""AutogradPlayground on the static page: typing, dragging, presets, errors; by mouse and by keyboard alone."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Locator, Page, expect

from torchbook.viz import AutogradPlayground
from torchbook.viz.playground import by_torch, setup

from ..conftest import Show, mounted
from ..pressing import press, tab_to, words

PRESETS = [preset["set"]["expression"] for preset in setup()["presets"].values()]


def gradient(page: Page, name: str) -> str:
    row = page.locator(".tbpg-row", has=page.locator(f"label:text-is('{name}')"))
    return row.locator(".tbpg-grad-cell > span").inner_text()


def type_in(page: Page, text: str) -> None:
    page.get_by_label("Expression", exact=True).fill(text)


def preset(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def test_typed_expression_is_drawn_and_differentiated(show: Show) -> None:
    page = show(AutogradPlayground())
    type_in(page, "sin(a) * b^2")
    _, truth = by_torch("sin(a) * b^2", {"a": 2.0, "b": -3.0})
    assert [float(gradient(page, name).replace("−", "-")) for name in "ab"] == pytest.approx(
        [*truth.values()], rel=1e-3
    )
    expect(page.locator(".tbgraph-node")).to_have_count(5)


def test_new_variable_gets_a_value_and_a_slider(show: Show) -> None:
    page = show(AutogradPlayground("a"))
    type_in(page, "a * speed")
    expect(page.get_by_label("speed", exact=True)).to_be_visible()
    assert gradient(page, "a") == "1"


def test_a_drag_moves_every_gradient(show: Show) -> None:
    page = show(AutogradPlayground("a * b", {"a": 1, "b": 1}))
    slider = page.get_by_label("a", exact=True)
    box = slider.bounding_box()
    assert box
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.55, middle)
    page.mouse.down()
    seen = set()
    for part in (0.6, 0.7, 0.8, 0.9):
        page.mouse.move(box["x"] + box["width"] * part, middle)
        seen.add(gradient(page, "b"))
    page.mouse.up()
    assert len(seen) == 4
    assert gradient(page, "b") == slider.input_value().replace("-", "−")


def variable(page: Page, name: str) -> Locator:
    return page.locator(f'.tbgraph-node[aria-label^="variable {name},"]')


def test_a_variable_is_dragged_in_the_picture(show: Show) -> None:
    page = show(AutogradPlayground("a * b", {"a": 1, "b": 1}))
    scene, box = page.locator(".tbgraph svg > g"), variable(page, "a").bounding_box()
    assert box
    still = scene.get_attribute("transform")
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 50, y, steps=5)
    expect(variable(page, "a")).to_have_attribute("aria-label", "variable a, value 2, gradient 1")
    assert gradient(page, "b") == "2"
    page.mouse.move(x - 100, y, steps=5)
    page.mouse.up()
    expect(variable(page, "a")).to_have_attribute("aria-label", "variable a, value −1, gradient 1")
    assert scene.get_attribute("transform") == still  # the picture stays
    expect(page.locator(".tbgraph-node[aria-pressed=true]")).to_have_count(0)  # a drag chooses nothing
    variable(page, "a").click()
    expect(page.locator(".tbpg-detail")).to_contain_text("AccumulateGrad puts 1 into a.grad")


def test_a_variable_is_changed_by_key_in_the_picture(show: Show) -> None:
    page = show(AutogradPlayground("a * b", {"a": 1, "b": 1}))
    variable(page, "a").focus()
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowLeft")
    expect(words(page)).to_contain_text("a = 1.1,")
    expect(variable(page, "a")).to_be_focused()


@pytest.mark.parametrize("entry", ["", "  ", "x", "1e999", "--1"])
def test_a_value_that_is_no_number_is_said_and_changes_nothing(show: Show, entry: str) -> None:
    page = show(AutogradPlayground("a * b", {"a": 2, "b": 3}))
    before = words(page).inner_text()
    exact = page.get_by_label("a, exact value")
    exact.fill(entry)
    expect(page.locator(".tbpg-row .tbviz-error").first).to_have_text("a number, such as −0.5")
    assert words(page).inner_text() == before
    exact.blur()
    expect(exact).to_have_value("2")
    expect(page.locator(".tbpg-row .tbviz-error").first).to_have_text("")


# The least distance of a node from the edges of the picture, and the height of its text.
FITS = """() => {
  const frame = document.querySelector('.tbgraph').getBoundingClientRect();
  const boxes = [...document.querySelectorAll('.tbgraph-box')].map((one) => one.getBoundingClientRect());
  const least = (distance) => Math.min(...boxes.map(distance));
  return {
    left: least((box) => box.left - frame.left), right: least((box) => frame.right - box.right),
    top: least((box) => box.top - frame.top), bottom: least((box) => frame.bottom - box.bottom),
    type: 13 * document.querySelector('.tbgraph svg > g').getScreenCTM().a,
  };
}"""
LONG = "sigmoid(tanh(a*b + c)*d + exp(a)/(1 + exp(b))) * log(c^2 + d^2) + max(a, b)*sin(c*d)"


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("text", [*PRESETS, "relu(a*b + c) * d + exp(a)", "a*b + c*d"])
def test_an_expression_fits_into_the_picture(show: Show, text: str, width: int) -> None:
    page = show(AutogradPlayground("a"), width=width)
    type_in(page, text)
    seen = page.evaluate(FITS)
    assert seen["type"] >= 12
    assert min(seen[side] for side in ("left", "right", "top", "bottom")) >= 0


@pytest.mark.parametrize("width", [1280, 390])
def test_of_what_is_larger_the_beginning_is_shown_and_the_rest_hinted_at(show: Show, width: int) -> None:
    page = show(AutogradPlayground(), width=width)
    type_in(page, LONG)
    seen = page.evaluate(FITS)
    assert seen["type"] >= 12
    assert seen["top"] >= 0
    assert width < 620 or seen["left"] >= 0
    more = page.locator(".tbgraph").evaluate(
        "(one) => [...'lrtb'].filter((side) => one.style.getPropertyValue(`--${side}`) === '1')"
    )
    assert {"r", "b"} & set(more)
    press(page, "Show all")
    assert min(page.evaluate(FITS)[side] for side in ("left", "right", "top", "bottom")) >= 0


@pytest.mark.parametrize(("width", "most"), [(1280, 760), (390, 760)])
def test_its_height_stays_and_fits_a_screen(show: Show, width: int, most: int) -> None:
    page = show(AutogradPlayground(), width=width)
    page.evaluate("document.querySelector('.tbviz-drawer').open = false")
    height = "document.querySelector('.tbviz').offsetHeight"
    heights = {page.evaluate(height)}
    for one in PRESETS:
        type_in(page, one)
        heights.add(page.evaluate(height))
    type_in(page, "a * * b")
    heights.add(page.evaluate(height))
    assert len(heights) == 1
    assert heights.pop() <= most


@pytest.mark.parametrize("folded", [True, False])
def test_it_fits_anew_in_another_width(show: Show, folded: bool) -> None:
    figure = mounted(AutogradPlayground("tanh(a*b) + sigmoid(c)"))
    if folded:
        page = show(f"<details><summary>More</summary>{figure}</details>", ready=False, width=390)
        page.get_by_text("More", exact=True).click()
        page.locator(".viz-mount[data-ready] .tbviz").wait_for()
    else:
        page = show(figure, width=1280)
        page.set_viewport_size({"width": 390, "height": 900})
    page.wait_for_function(f"Object.values(({FITS})()).every((value) => value >= 0)")
    assert page.evaluate(FITS)["type"] >= 12


def test_nodes_that_stay_move_to_their_new_place(show: Show) -> None:
    page = show(AutogradPlayground("a * b"), motion=True)
    moved = page.evaluate("""async () => {
        const field = document.querySelector('.tbpg-wide input');
        field.value = 'a * b + c';
        field.dispatchEvent(new Event('input', { bubbles: true }));
        const node = document.querySelector('.tbgraph-node[aria-label^="×"]');
        const fresh = document.querySelector('.tbgraph-node[aria-label^="+"]');
        const seen = [];
        for (const until = performance.now() + 900; performance.now() < until;) {
          await new Promise(requestAnimationFrame);
          seen.push([node.getAttribute('transform'), fresh.style.opacity]);
        }
        return seen;
    }""")
    assert len({transform for transform, _ in moved}) > 3
    assert len({opacity for _, opacity in moved}) > 3
    assert moved[-1] == moved[-2]
    assert moved[-1][1] == ""


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("a used twice", "a is used 2 times, so its gradients add: 3 + 5 = 8"),
        ("Dead ReLU", "Dead ReLU: its input is −5, so it sends 0"),
        ("log at 0", "log at 0: the value is −inf, and the gradient it sends is inf"),
        ("Saturation", "Saturation: tanh of 9 is flat"),
        ("0 · inf", "nan: the gradient of b"),
    ],
)
def test_presets_show_their_point(show: Show, name: str, says: str) -> None:
    page = show(AutogradPlayground())
    preset(page, name)
    expect(page.locator(".tbpg-notes")).to_contain_text(says)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a * * b", "Character 5: a value is missing before “*”."),
        ("foo(a)", "Character 1: there is no function “foo” here"),
        ("alert(1)", "Character 1: there is no function “alert” here"),
        ("a +", "Character 4: something is missing at the end."),
    ],
)
def test_error_names_the_place_and_keeps_the_figure(show: Show, text: str, says: str) -> None:
    page = show(AutogradPlayground("a*b"))
    before = words(page).inner_text()
    type_in(page, text)
    expect(page.get_by_role("alert")).to_contain_text(says)
    expect(page.get_by_label("Expression", exact=True)).to_have_attribute("aria-invalid", "true")
    assert words(page).inner_text() == before
    type_in(page, "a*b")
    expect(page.locator(".tbpg-said .tbviz-error")).to_have_text("")


def test_finite_difference_agrees(show: Show) -> None:
    page = show(AutogradPlayground("exp(a) * tanh(b)", {"a": 0.5, "b": 0.3}))
    cells = page.locator(".tbpg-cells").first.locator("span > span").all_inner_texts()
    assert cells[0] == cells[1]
    assert float(cells[2].replace("−", "-")) < 1e-8


def test_a_chosen_node_shows_its_derivative(show: Show) -> None:
    page = show(AutogradPlayground("a*b + relu(c)", {"a": 2, "b": 3, "c": 1}))
    page.locator('.tbgraph-node[aria-label^="×"]').click()
    expect(page.locator(".tbpg-detail")).to_contain_text("MulBackward0: receives 1 and sends")
    expect(page.locator(".tbpg-detail")).to_contain_text("to a: 1 · (right) = 3; to b: 1 · (left) = 2")


def test_everything_by_keyboard(show: Show) -> None:
    page = show(AutogradPlayground("a*b", {"a": 2, "b": 3}))
    tab_to(page, "Expression")
    page.keyboard.press("End")
    page.keyboard.type(" + a")
    expect(words(page)).to_contain_text("a*b + a at")
    tab_to(page, "Dead ReLU")
    page.keyboard.press("Enter")
    expect(page.locator(".tbpg-notes")).to_contain_text("Dead ReLU")
    tab_to(page, "Graph of the expression")
    scene = page.locator(".tbgraph svg > g")
    for key in ("+", "ArrowDown", "0", "-"):
        before = scene.get_attribute("transform")
        page.keyboard.press(key)
        expect(scene).not_to_have_attribute("transform", before or "")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.locator(".tbgraph-node[aria-pressed=true]")).to_have_count(1)
    tab_to(page, "a")
    before = gradient(page, "b")
    page.keyboard.press("ArrowRight")
    assert words(page).inner_text().count("a = −1.9") == 1
    assert before == "0"
    tab_to(page, "a, exact value")
    page.keyboard.press("Control+a")
    page.keyboard.type("5")
    expect(words(page)).to_contain_text("a = 5")
    assert gradient(page, "b") == "20"


def test_a_link_opens_a_preset(show: Show) -> None:
    page = show(AutogradPlayground(), hash="#tbviz-playground-1:fan-out")
    expect(page.get_by_label("Expression", exact=True)).to_have_value("a*b + a*c")


def test_python_computes_when_a_trait_is_set() -> None:
    widget = AutogradPlayground("a * b", {"a": 2, "b": 3})
    heard: list[dict[str, float]] = []
    widget.observe(lambda change: heard.append(change["new"]), names="gradients")
    widget.values = {"a": 5.0, "b": 3.0}
    widget.expression = "a * new"
    assert heard == [{"a": 3.0, "b": 5.0}, {"a": 1.0, "new": 5.0}]


def test_state_is_json_at_infinity_too() -> None:
    widget = AutogradPlayground("a * log(b)", {"a": 2, "b": 0})
    state = {name: getattr(widget, name) for name in ("value", "values", "gradients")}
    assert json.loads(json.dumps(state, allow_nan=False))["gradients"] == {"a": "-inf", "b": "inf"}


@pytest.mark.parametrize("text", ["1 + 1", "a +", "__import__('os')", "a.b", "lambda: a", "foo(a)", "exp(a, b)"])
def test_python_refuses_what_the_page_refuses(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        AutogradPlayground(text)
