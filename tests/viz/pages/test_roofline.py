"""Roofline on the static page: by mouse, by keyboard, by link, in the dark, on a phone and without scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from torchbook.viz import Roofline
from torchbook.viz.roofline import OPS, setup

from ..conftest import Show
from ..pressing import copied, press, tab_into, words

MACHINE = {"bandwidth": 29e9, "flops": 441e9}
POINTS = {"eager softmax": (83.9e6, 134e6, 9e-3), "matmul": (2.1e9, 12.6e6, 6e-3)}


def value(page: Page, name: str) -> Locator:
    """What the table says of a result."""
    row = page.locator(".sc-table tr", has=page.get_by_role("rowheader", name=name, exact=True))
    return row.locator(".sc-value")


def test_machine_and_points_are_drawn(show: Show) -> None:
    widget = Roofline(machine=MACHINE, points=POINTS, dtype="fp32", device="machine")
    page = show(widget)
    expect(words(page)).to_have_text(widget.words)
    expect(page.locator(".rl-plot .rl-roof")).to_have_count(4)
    expect(page.locator(".rl-plot .rl-point")).to_have_count(2)
    expect(page.locator(".rl-list").first.get_by_role("listitem")).to_have_count(2)
    expect(page.get_by_role("button", name="this machine:")).to_have_attribute("aria-pressed", "true")


@pytest.mark.parametrize("op", OPS)
def test_every_op_and_its_sizes(show: Show, op: str) -> None:
    page = show(Roofline(machine=MACHINE))
    page.get_by_label("op", exact=True).select_option(op)
    widget = Roofline(op=op, machine=MACHINE)
    expect(words(page)).to_have_text(widget.words)
    fields = setup()["ops"][op]["fields"]
    for name, of in fields.items():
        expect(page.get_by_label(of["label"], exact=True)).to_have_value(str(widget.sizes[name]))
    first = next(iter(fields))
    page.get_by_label(fields[first]["label"], exact=True).fill("64")
    expect(words(page)).to_have_text(Roofline(op=op, sizes={first: 64}, machine=MACHINE).words)
    kernels = expect(page.get_by_label("kernels", exact=True))
    kernels.to_be_visible() if setup()["ops"][op]["fusable"] else kernels.to_be_hidden()


def test_fusing_and_dtype(show: Show) -> None:
    page = show(Roofline(preset="written-out"))
    expect(value(page, "H100")).to_have_text("5.29 ms")
    expect(page.locator(".rl-other")).to_have_count(1)
    page.get_by_label("kernels", exact=True).select_option("true")
    expect(value(page, "H100")).to_have_text("1.11 ms")
    page.get_by_label("dtype", exact=True).select_option("fp8")
    expect(value(page, "A100")).to_have_text("–")
    expect(words(page)).to_have_text(Roofline(preset="flash", dtype="fp8").words)


def test_device_is_chosen_below_the_plot(show: Show) -> None:
    page = show(Roofline())
    page.get_by_role("button", name="A100:").click()
    expect(words(page)).to_have_text(Roofline(device="a100").words)
    expect(page.locator(".sc-head")).to_contain_text("A100 waits for arithmetic, at most")


def test_the_dot_slides_along_the_roof(show: Show) -> None:
    page = show(Roofline())
    grip = page.locator(".rl-grip")
    box, field = grip.bounding_box(), page.locator(".rl-plot").bounding_box()
    assert box
    assert field
    assert box["width"] >= 44
    page.mouse.move(box["x"] + 22, box["y"] + 22)
    page.mouse.down()
    page.mouse.move(field["x"] + field["width"] / 2, field["y"] + 30, steps=6)
    page.mouse.up()
    rows = int(page.get_by_label("rows, M", exact=True).input_value())
    assert 1 < rows < 4096
    expect(words(page)).to_have_text(Roofline(sizes={"m": rows}).words)
    now = grip.bounding_box()
    assert now
    assert abs(now["x"] + 22 - field["x"] - field["width"] / 2) < 6
    grip.press("ArrowRight")
    expect(page.get_by_label("rows, M", exact=True)).to_have_value(str(2 * rows))
    page.get_by_label("op", exact=True).select_option("softmax")
    expect(words(page)).to_have_text(Roofline(op="softmax").words)
    expect(grip).to_have_attribute("tabindex", "-1")


@pytest.mark.parametrize("motion", [True, False])
def test_the_dot_glides_to_another_operation(show: Show, motion: bool) -> None:
    page = show(Roofline(), motion=motion)
    page.evaluate("""() => { window.seen = new Set(); const grip = document.querySelector('.rl-grip');
        new MutationObserver(() => seen.add(grip.style.transform)).observe(grip, { attributes: true }); }""")
    press(page, "one token")
    expect(words(page)).to_have_text(Roofline(preset="decode").words)
    page.wait_for_timeout(600)
    places = page.evaluate("seen.size")
    assert places > 3 if motion else places == 1


@pytest.mark.parametrize("width", [360, 390, 800])
def test_labels_stay_in_the_plot_and_off_one_another(show: Show, width: int) -> None:
    points = {"add": (33.6e6, 403e6, 30e-3), "matrix times vector": (33.5e6, 67.1e6, 3e-3),
              "matrix times matrix": (17.2e9, 50.3e6, 41e-3), "exp": (33.6e6, 268e6, 20e-3)}  # fmt: skip
    for traits in ({"op": "pointwise"}, {"preset": "decode"}, {"preset": "matmul"}):
        page = show(Roofline(machine=MACHINE, points=points, dtype="fp32", device="machine", **traits), width=width)
        plot = page.locator(".rl-plot").bounding_box()
        assert plot
        texts = page.locator(".rl-plot :is(.rl-halo, .sc-here)").all()
        boxes = [box for box in (text.bounding_box() for text in texts) if box]
        assert len(boxes) >= 5
        for i, a in enumerate(boxes):
            assert plot["x"] - 1 <= a["x"]
            assert a["x"] + a["width"] <= plot["x"] + plot["width"] + 1
            for b in boxes[i + 1 :]:
                across = min(a["x"] + a["width"], b["x"] + b["width"]) - max(a["x"], b["x"])
                down = min(a["y"] + a["height"], b["y"] + b["height"]) - max(a["y"], b["y"])
                assert min(across, down) < 3, (width, traits)


def test_sizes_by_arrow_keys(show: Show) -> None:
    page = show(Roofline())
    page.get_by_label("rows, M", exact=True).focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("rows, M", exact=True)).to_have_value("2048")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(page.get_by_label("rows, M", exact=True)).to_have_value("8192")
    page.keyboard.press("Shift+ArrowUp")
    expect(page.get_by_label("rows, M", exact=True)).to_have_value("8193")
    page.get_by_label("pointwise ops after it", exact=True).focus()
    page.keyboard.press("ArrowUp")
    expect(words(page)).to_have_text(Roofline(sizes={"m": 8193, "extra": 1}).words)


def test_a_wrong_size_is_named_and_changes_nothing(show: Show) -> None:
    page = show(Roofline())
    field = page.get_by_label("columns, N", exact=True)
    for typed in ("0", "2.5", "x", "", "2000000"):
        field.fill(typed)
        expect(page.get_by_role("alert").filter(has_text="whole")).to_have_text("a whole number from 1 to 1000000")
        expect(field).to_have_attribute("aria-invalid", "true")
    expect(words(page)).to_have_text(Roofline().words)
    field.blur()
    expect(field).to_have_value("4096")


def test_ops_that_compute_nothing(show: Show) -> None:
    widget = Roofline(op="embedding")
    page = show(widget)
    expect(words(page)).to_have_text(widget.words)
    expect(page.locator(".rl-dot")).to_have_count(0)


def test_copied_code_prints_the_results(show: Show, capsys: pytest.CaptureFixture[str]) -> None:
    page = show(Roofline(preset="conv"), permissions=["clipboard-read"])
    press(page, "Copy as Python")
    exec(copied(page), {})
    printed = dict(line.split(" ", 1) for line in capsys.readouterr().out.splitlines() if "|" not in line)
    assert float(printed["flops"]) == Roofline(preset="conv").cost.flops


def test_presets_by_keyboard(show: Show) -> None:
    page = show(Roofline())
    tab_into(page, "Presets")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(words(page)).to_have_text(Roofline(preset="small-matmul").words)
    page.keyboard.press("Tab")  # the drawer
    page.keyboard.press("Tab")  # the presets in it
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.labels[0].textContent") == "op"


@pytest.mark.parametrize("width", [390, 800])
def test_a_label_that_is_not_beside_its_mark_is_led_to(show: Show, width: int) -> None:
    points = {"add": (33.6e6, 403e6, 30e-3), "matrix times vector": (33.5e6, 67.1e6, 3e-3),
              "matrix times matrix": (17.2e9, 50.3e6, 41e-3), "exp": (33.6e6, 268e6, 20e-3)}  # fmt: skip
    page = show(Roofline(machine=MACHINE, points=points, dtype="fp32", device="machine", op="pointwise"), width=width)
    far = page.evaluate("""() => {
      const boxes = (name) => [...document.querySelectorAll(name)].map((one) => one.getBoundingClientRect());
      const [marks, labels] = [boxes(".rl-point"), boxes(".rl-halo:not(.sc-muted)")];
      return labels.map((box, i) => {
        const [x, y] = [marks[i].left + marks[i].width / 2, marks[i].top + marks[i].height / 2];
        return Math.hypot(Math.max(box.left - x, x - box.right, 0), Math.max(box.top - y, y - box.bottom, 0));
      }); }""")
    assert len(far) == 4
    assert sum(one > 24 for one in far) <= page.locator(".rl-lead").count()
    assert max(far) < 60


def test_a_point_above_the_roof_is_explained(show: Show) -> None:
    machine = {"name": "this machine", **MACHINE}
    under = {"copy": (1e6, 1e6, 1e6 / 29e9)}
    page = show(Roofline(machine=machine, points=under, dtype="fp32", device="machine"))
    expect(page.locator(".rl-over")).to_be_hidden()
    page = show(
        Roofline(machine=machine, points={**under, "cached": (1e6, 1e6, 0.5e6 / 29e9)}, dtype="fp32", device="machine")
    )
    expect(page.locator(".rl-over")).to_contain_text("Above the roof: “cached”.")


def test_a_preset_stays_in_a_dtype_that_the_machine_has(show: Show) -> None:
    machine = {"name": "this machine", **MACHINE}
    page = show(Roofline(machine=machine, dtype="fp32", device="machine"))
    lit = page.get_by_role("toolbar", name="Presets").get_by_role("button", pressed=True)
    expect(lit).to_have_text(["large matmul"])
    press(page, "small matmul")
    expect(lit).to_have_text(["small matmul"])
    expect(words(page)).to_have_text(
        Roofline(preset="small-matmul", machine=machine, dtype="fp32", device="machine").words
    )
