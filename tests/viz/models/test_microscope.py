"""StepMicroscope: its page against torch.nn.Linear and torch.optim.SGD, line by line, in any order."""

from __future__ import annotations

import contextlib
import io
import math
import random
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import torch
import traitlets

from torchbook.viz import StepMicroscope
from torchbook.viz import microscope as of

from ..asking import SOURCES, Ask, mutant
from ..samples import Look, Sample, pressing

HARNESS = "microscope"
QUICK, DEEP = 800, 2400
LINES = [*of.setup()["lines"]]
PRESETS = [*of.setup()["presets"]]
NUMBERS = ("params", "grad", "buffer", "pred", "loss")
FLAGS = ("recorded", "reaches", "current", "line")


def settings(count: int, seed: int = 1) -> list[dict[str, Any]]:
    """Random settings and lines: the loop in order, with a line left out, with some that are pressed by the way."""
    draw = random.Random(seed)
    made = []
    for _ in range(count):
        without = draw.choice(["nothing", "nothing", "zero", "backward", "step"])
        astray = draw.choice([0, 0, 0.15, 0.5, 1])
        ran: list[str] = []
        for _ in range(draw.choice([1, 2, 5, 10, 15, draw.randrange(41)])):
            loop = [name for name in LINES if name != without]
            following = loop[(loop.index(ran[-1]) + 1) % len(loop)] if ran and ran[-1] in loop else loop[0]
            ran.append(draw.choice(LINES) if draw.random() < astray else following)
        made.append(
            {
                "lr": draw.choice([0.001, 0.01, 0.05, 0.1, 0.2, 0.5, draw.uniform(0.001, 0.5)]),
                "momentum": draw.choice([0, 0, 0.1, 0.5, 0.9, draw.uniform(0, 0.95)]),
                "without": without,
                "ran": ran,
            }
        )
    return made


def states(setting: dict[str, Any]) -> list[of.State]:
    return of.run(setting["lr"], setting["momentum"], tuple(setting["ran"]))


def flat(value: Any) -> list[float]:
    return [] if value is None else [*value] if isinstance(value, tuple | list) else [value]


def differs(page: dict[str, Any], state: of.State) -> str:
    """What the page has other than torch; empty where nothing is."""
    for name in NUMBERS:
        mine, other = flat(getattr(state, name)), flat(page[name])
        size = max([1.0, *map(abs, mine)])
        if len(mine) != len(other) or not all(math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9 * size)
                                              for a, b in zip(mine, other, strict=True)):  # fmt: skip
            return name
    if any(getattr(state, name) != page[name] for name in FLAGS):
        return "flags"
    error = of.setup()["refusals"][page["refused"]]["error"] if page["refused"] else ""
    return "" if state.refused.startswith(error) and bool(state.refused) == bool(error) else "refused"


# torch


def test_the_states_are_those_of_a_loop_written_out() -> None:
    """Two steps by hand, with zero_grad, in torch's own words."""
    x, y = torch.tensor([1.0, 3.0]).double(), torch.tensor([5.0, 9.0]).double()
    w, b = (torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in (1.0, 0.0))
    optimizer = torch.optim.SGD([w, b], lr=0.05, momentum=0.5)
    for step in (1, 2):
        loss = ((w * x + b - y) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        seen = states({"lr": 0.05, "momentum": 0.5, "ran": LINES * step})[-1]
        assert w.grad is not None
        assert b.grad is not None
        assert seen.loss == pytest.approx(loss.item(), rel=1e-12)
        assert seen.params == pytest.approx((w.item(), b.item()), rel=1e-12)
        assert seen.grad == pytest.approx((w.grad.item(), b.grad.item()), rel=1e-12)
        buffers = [optimizer.state[p]["momentum_buffer"].item() for p in (w, b)]
        assert seen.buffer == pytest.approx(buffers, rel=1e-12)


def test_the_numbers_of_the_first_step_by_hand() -> None:
    first = states({"lr": 0.1, "momentum": 0, "ran": LINES})
    assert (first[2].loss, first[4].grad, first[4].params) == (26, (-22, -10), (1, 0))
    assert first[5].params == pytest.approx((3.2, 1), rel=1e-12)
    assert first[5].buffer is None
    assert states({"lr": 0.1, "momentum": 0, "ran": LINES * 2})[-1].params[0] == pytest.approx(2.8, rel=1e-12)


def test_only_step_moves_the_parameters() -> None:
    """The finding: whatever ran before, no other line changes w or b; and only backward and zero_grad change .grad."""
    for setting in settings(300, seed=2):
        every = states(setting)
        for before, now in pairwise(every):
            assert now.params == before.params or now.line == "step"
            assert now.grad == before.grad or now.line in ("zero", "backward")
            assert now.buffer == before.buffer or now.line == "step"


def test_refusals_are_those_of_python_and_torch() -> None:
    for kind, ran in {
        "pred": ["loss"],
        "loss": ["backward"],
        "freed": ["forward", "loss", "backward", "backward"],
    }.items():
        assert states({"lr": 0.1, "momentum": 0, "ran": ran})[-1].refused.startswith(
            of.setup()["refusals"][kind]["error"]
        )


def test_notes_of_the_presets_are_true() -> None:
    ready = {name: StepMicroscope(preset=name).states for name in PRESETS}
    assert ready["everything"][-1].grad is not None
    assert ready["everything"][-1].params == ready["everything"][0].params
    assert [state.grad and of.shown(state.grad[0]) for state in ready["no-zero"][-2:]] == ["−22", "−18"]
    assert of.shown(ready["momentum"][7].grad[0] if ready["momentum"][7].grad else 0) == "−22"
    slope = states({"lr": 0.1, "momentum": 0, "ran": [*LINES, "forward", "loss", "zero", "backward"]})[-1].grad
    assert slope == pytest.approx((4, 0.8), rel=1e-9)
    going = StepMicroscope(without="zero", ran=[*StepMicroscope(preset="no-zero").ran, "step"]).states
    assert going[-1].params[0] > going[-2].params[0]
    assert ready["no-backward"][-1].grad is None
    assert ready["no-backward"][-1].params == ready["no-backward"][0].params
    buffers = [state.buffer for state in ready["momentum"]]
    assert buffers[5] == buffers[8] != buffers[10]
    grad = ready["momentum"][10].grad
    assert buffers[5]
    assert grad
    assert buffers[10] == pytest.approx([m / 2 + g for m, g in zip(buffers[5], grad, strict=True)])
    assert [of.shown(ready["too-large"][at].loss or 0) for at in (2, 7, 12)] == ["26", "45.2", "79.35"]
    for before, now in ((4, 5), (9, 10)):
        moved, slopes = ready["too-large"][now].params, ready["too-large"][before].grad
        assert slopes
        assert all((p - q) * g < 0 for p, q, g in zip(moved, ready["too-large"][before].params, slopes, strict=True))


# The page


def test_page_runs_as_torch_runs(ask: Ask, examples: int) -> None:
    every = settings(examples, seed=3)
    for setting, page in zip(every, ask("states", every), strict=True):
        mine = states(setting)
        assert len(page) == len(mine)
        faults = [differs(one, state) for one, state in zip(page, mine, strict=True)]
        assert not any(faults), (setting, faults)


def test_page_says_what_python_says(ask: Ask, examples: int) -> None:
    """To the last digit that is shown."""
    every = settings(examples, seed=4)
    for setting, page in zip(every, ask("words", every), strict=True):
        assert page == of.describe(setting, setting["ran"])


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("momentum * m + grad[i]", "momentum * m + (1 - momentum) * grad[i]"),
        ("p - lr * by[i]", "p - lr * grad[i]"),
        ("grad[0] + dw, grad[1] + db", "dw, db"),
        ("if (!grad) return {};", "if (!grad) grad = [0, 0];"),
        ('return { refused: "freed", loss: freed };', 'return { refused: "freed" };'),
        ("pred.alive && pred.id !== loss.of", "false"),
    ],
)
def test_a_wrong_rule_is_noticed(tmp_path: Path, right: str, wrong: str) -> None:
    (tmp_path / "core").symlink_to(SOURCES / "core")
    every = settings(600, seed=5)
    with mutant(HARNESS, tmp_path, "microscope/model.js", right, wrong) as harness:
        for name in ("setup.json", "words.js"):
            (tmp_path / "microscope" / name).symlink_to(SOURCES / "microscope" / name)
        answers = harness.ask("states", every)
    assert any(
        differs(page, state)
        for setting, run in zip(every, answers, strict=True)
        for page, state in zip(run, states(setting), strict=True)
    )


def test_numbers_are_written_alike_and_rounded(ask: Ask) -> None:
    draw = random.Random(6)
    numbers = [0, 1, -1, 3.2, 4.1625, -0.00012345, 12345.6, 99999.5, 999999.6, 1234567, 1e300, 9.9996, 1e-10, 12340.0]
    numbers += [draw.choice([-1, 1]) * 10 ** draw.uniform(-8, 14) for _ in range(4000)]
    numbers += [round(draw.uniform(-100, 100), 5) for _ in range(2000)]
    for x, page in zip(numbers, ask("shown", numbers), strict=True):
        assert page == of.shown(x)
        back = float(page.replace("−", "-"))
        assert abs(back - x) <= max(0.501 * 10 ** (Decimal(x).adjusted() - 3), 1e-9)
    assert [of.shown(x) for x in (3.2000000000000002, 4.1625, 12340.0, 1234567, -0.5)] == [
        "3.2", "4.163", "12340", "1.235e6", "−0.5"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("ran", "without", "following"),
    [
        ([], "nothing", "forward"), (["forward"], "nothing", "loss"), (LINES, "nothing", "forward"),
        (["forward", "loss"], "zero", "backward"), (["zero"], "backward", "step"), (["backward"], "step", "forward"),
        (["backward", "backward"], "nothing", "step"), (["zero"], "zero", "backward"),
    ],
)  # fmt: skip
def test_the_next_line_is_that_of_the_loop(ask: Ask, ran: list[str], without: str, following: str) -> None:
    assert ask("next", [{"ran": ran, "without": without}]) == [following]


@pytest.mark.parametrize(("state", "right"), [
    ({}, True), ({"ran": []}, True), ({"ran": LINES * 8}, True), ({"ran": [*LINES * 8, "zero"]}, False),
    ({"ran": ["fly"]}, False), ({"ran": "zero"}, False), ({"lr": 0.6}, False), ({"momentum": 0.5}, True),
    ({"without": "forward"}, False), ({"other": 1}, False), ([], False), (None, False), ({"ran": ["toString"]}, False),
])  # fmt: skip
def test_only_states_that_can_be_shown_are_taken_from_links(ask: Ask, state: Any, right: bool) -> None:
    assert ask("fits", [state]) == [right]


def test_copied_code_prints_what_the_figure_shows(ask: Ask) -> None:
    every = settings(60, seed=7)
    for setting, code in zip(every, ask("script", every), strict=True):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, "copied", "exec"), {})
        last = states(setting)[-1]
        w, b, *grad = out.getvalue().split(maxsplit=2)
        assert (float(w), float(b)) == pytest.approx(last.params, rel=1e-9, abs=1e-9)
        assert (grad == ["None\n"]) == (last.grad is None)


# The figure


def test_states_of_the_figure() -> None:
    widget = StepMicroscope()
    assert [state.line for state in widget.states] == ["", "forward", "loss", "zero", "backward"]
    widget.ran = [*widget.ran, "step"]
    assert "w = 1 − 0.1 · (−22) = 3.2." in widget.words
    widget.momentum = 0.5
    assert "the momentum buffer is −22 and −10" in widget.words
    assert "No line has run" in StepMicroscope(ran=[]).words


@pytest.mark.parametrize(
    ("traits", "message"),
    [
        ({"ran": ["fly"]}, "no line is called 'fly'; there are forward, loss, zero, backward, step"),
        ({"ran": ["zero"] * 41}, "ran must be 40 lines at most, not 41"),
        ({"lr": 0}, "lr must be a number from 0.001 to 0.5"),
        ({"without": "forward"}, "without must be one of"),
    ],
)
def test_wrong_arguments_are_refused(traits: dict[str, Any], message: str) -> None:
    with pytest.raises(traitlets.TraitError, match=message):
        StepMicroscope(**traits)


@pytest.mark.parametrize("preset", PRESETS)
def test_picture_is_drawn(preset: str) -> None:
    widget = StepMicroscope(preset=preset)
    drawing = ElementTree.fromstring(widget.picture)
    assert drawing.get("aria-label") == widget.words
    texts = [text.text for text in drawing.iter("{http://www.w3.org/2000/svg}text")]
    names = {"w, € per km", "b, € at 0 km", "value", ".grad", "momentum", "loss"}
    assert names | {of.shown(widget.states[-1].params[0])} <= {*texts}


# The figure among all figures


def sample() -> Sample:
    """How the test of all figures takes this one."""
    return Sample(
        make=StepMicroscope,
        act=pressing("Next line"), acted={"ran": LINES},
        other={"ran": ["forward", "loss", "backward", "backward"], "lr": 0.02},
        linked={"lr": 0.025, "momentum": 0.9, "without": "zero", "ran": ["forward", "loss", "backward"]},
        broken=("=eyJyYW4iOlsiZmx5Il19", "=eyJsciI6OX0"),  # a line that is none; lr 9
        looks=(
            Look({}), Look({"preset": "momentum"}), Look({"preset": "no-zero"}), Look({"ran": []}),
            Look({"ran": ["forward", "loss", "backward", "backward"]}), Look({"ran": ["forward", "loss", "forward"]}),
            Look({"ran": LINES * 8}),
        ),
        plain=({}, {"preset": "momentum"}),
    )  # fmt: skip
