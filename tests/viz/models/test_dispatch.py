"""DispatchRoute: its tables against torch's, its routes against what probes before every kernel saw visited."""

from __future__ import annotations

import gzip
import json
import os
import random
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import torch
import traitlets

from torchbook.viz import DispatchRoute, dispatching, record_dispatch
from torchbook.viz import dispatch as of

from ..asking import Ask, Harnesses
from ..samples import Look, Sample, both, choose, pressing
from .dispatch_probes import named, recorded

C: Any = torch._C
Probed = Callable[[list[dict[str, Any]]], list[dict[str, Any]]]
GPU = torch.cuda.is_available()


@pytest.fixture(scope="module")
def recording() -> dict[str, Any]:
    return recorded()


@pytest.fixture(scope="module")
def ask(harnesses: Harnesses, recording: dict[str, Any]) -> Ask:
    dispatch = harnesses["dispatch"]
    assert dispatch.ask("recording", [recording]) == [True]
    return dispatch.ask


def settings(recording: dict[str, Any], count: int, seed: int, own: bool = True) -> list[dict[str, Any]]:
    """Random situations of all operators of a recording."""
    ops = [name for name, record in recording["ops"].items() if record["listed"] and (own or name.startswith("aten::"))]
    draw = random.Random(seed)
    choices = [(name, list(choice["of"])) for name, choice in of.setup()["choices"].items()]
    return [{"op": draw.choice(ops), **{name: draw.choice(options) for name, options in choices}} for _ in range(count)]


def can_run(recording: dict[str, Any], setting: dict[str, Any]) -> bool:
    """Without a GPU there are only fake CUDA tensors, and autocast for CUDA stays off."""
    if not of.possible(recording, setting):
        return False
    return GPU or setting["args"] != "cuda" or (setting["mode"] == "fake" and setting["autocast"] == "off")


# The tables, against torch


def test_tables_are_those_of_torch(recording: dict[str, Any]) -> None:
    compared = 0
    for op, record in recording["ops"].items():
        table = dispatching.table(op)
        for slot in recording["slots"]:
            entry = of.entry_of(recording, op, slot)
            assert (entry >= 0) == (slot in table)
            if entry >= 0:
                assert tuple(recording["entries"][entry][:2]) == table[slot][:2]
            if named(slot):
                compared += 1
                assert (entry >= 0) == C._dispatch_has_computed_kernel_for_dispatch_key(op, slot), (op, slot)
        assert record["schema"] == str(C._get_schema(op.split(".")[0], op.partition(".")[2]))
    assert compared > 1500


def test_keys_stand_in_their_order_of_precedence(recording: dict[str, Any]) -> None:
    keys = [key for key in recording["keys"] if key not in of.setup()["prefix"] and key in C.DispatchKey.__members__]
    for high, low in pairwise(keys):
        both = C.DispatchKeySet(C._dispatch_key_parse(high)) | C.DispatchKeySet(C._dispatch_key_parse(low))
        assert both.highestPriorityTypeId().name == high
    assert recording["backends"][-1] == "CPU"
    assert len(recording["backends"]) == C._dispatch_num_backends()


def test_key_sets_are_those_of_tensors_and_of_the_thread(recording: dict[str, Any]) -> None:
    draw = random.Random(1)
    for kind, (keys, backends) in recording["args"]["none"].items():
        if kind != "cuda":
            text = str(C._dispatch_keys(dispatching.tensor(kind)))
            slots = {of.runtime(key, backends[0]) for key in keys}
            assert slots == set(text.removeprefix("DispatchKeySet(").removesuffix(")").split(", "))
    every = [*recording["keys"], *recording["backends"]]
    for _ in range(2000):
        raw = draw.getrandbits(len(every))
        keys, backends = dispatching.names_in(
            C.DispatchKeySet.from_raw_repr(raw), recording["keys"], recording["backends"]
        )
        assert sum(1 << len(every) - 1 - every.index(name) for name in [*keys, *backends]) == raw


@pytest.mark.parametrize(("text", "short"), [
    ("/__w/pytorch/pytorch/build/aten/src/ATen/RegisterCPU_0.cpp:1309", "build/aten/src/ATen/RegisterCPU_0.cpp:1309"),
    ("/pytorch/torch/csrc/autograd/VariableTypeManual.cpp:11", "torch/csrc/autograd/VariableTypeManual.cpp:11"),
    ("/opt/lib/python3.12/site-packages/torch/_meta_registrations.py:53", "torch/_meta_registrations.py:53"),
    ("/somewhere/ipykernel_71/12.py:3", "this notebook"),
    ("/somewhere/else/main.cpp:7", "main.cpp:7"),
])  # fmt: skip
def test_places_are_relative(text: str, short: str) -> None:
    assert dispatching.place(text) == short


def test_no_place_is_of_this_machine(recording: dict[str, Any]) -> None:
    assert [place for place, _, _ in recording["entries"] if place.startswith("/") or ".." in place] == []


# The rule, against torch


@pytest.fixture(scope="module")
def probed(recording: dict[str, Any], repo: Path) -> Iterator[Probed]:
    """Runs situations in a process in which a probe stands before every kernel of the operators of the recording."""
    seen = {key for way in recording["args"].values() for keys, _ in way.values() for key in keys}
    seen |= {key for part in recording["thread"] for key in part} | set(of.setup()["layer"])
    seen |= {key for change in recording["changes"].values() for part in change for key in part} | {"FuncTorchVmapMode"}
    slots = [of.runtime(key, backend) for key in sorted(seen) for backend in dispatching.BACKENDS]
    names = [name for name in recording["ops"] if recording["ops"][name]["listed"] and name.startswith("aten::")]
    # as a module, so that the package is found from where the tests run
    command = [sys.executable, "-m", "tests.viz.models.dispatch_probes"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(repo)}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=repo,
                          env=environment) as process:  # fmt: skip
        assert process.stdin
        assert process.stdout
        to, back = process.stdin, process.stdout

        def answer_to(what: dict[str, Any]) -> Any:
            to.write(json.dumps(what) + "\n")
            to.flush()
            return json.loads(back.readline())

        assert answer_to({"probe": names, "slots": sorted(set(slots))}) == len(names)
        yield lambda every: answer_to({"run": every})
        process.kill()


def judge(recording: dict[str, Any], setting: dict[str, Any], ran: dict[str, Any]) -> str:
    """How a route differs from what was visited; "" where it does not, "stopped" where torch raised on the way."""
    every = [*recording["keys"], *recording["backends"]]

    def names(raw: int) -> set[str]:
        return {name for place, name in enumerate(every) if raw >> len(every) - 1 - place & 1}

    stops, visits, op = of.route(recording, setting), ran["visits"], setting["op"]
    at = next((number for number, visit in enumerate(visits) if visit[1] == op), None)
    for number, stop in enumerate(stops):
        if stop.action == "missing":
            return (
                "" if at is None and ran["error"].startswith("NotImplementedError") else f"not missing: {ran['error']}"
            )
        if at is None:
            return "stopped" if ran["error"] else f"ends before {stop.key}"
        depth, _, key, keys, include, exclude = visits[at]
        known = set(recording["keys"])
        backend = of.highest(recording["backends"], names(keys))
        left = tuple(of.runtime(name, backend) for name in recording["keys"] if name in names(keys))
        if (key, left) != (stop.key, stop.left):
            return f"{key} of {left}, not {stop.key} of {stop.left}"
        if (names(include) & known, names(exclude) & known) != (stop.state.include, stop.state.exclude):
            return f"another thread at {key}"
        inside = [place for place in range(at + 1, len(visits)) if visits[place][0] <= depth]
        inner = range(at + 1, inside[0] if inside else len(visits))
        at = next((place for place in inner if visits[place][:2] == [depth + 1, op]), None)
        # A sparse kernel calls the operator again on its parts, by a way on which some have no probe.
        ends = number + 1 == len(stops) and stop.action in ("backend", "explicit", "implicit") and "Sparse" not in key
        if ends and at is not None and op not in [name for name, _ in of.callees(recording, op, stop)]:
            return f"goes on after {key}"
    return ""


def test_routes_are_what_torch_visits(recording: dict[str, Any], probed: Probed, examples: int) -> None:
    """Kernel by kernel: its key, the key set that it was given, what the thread includes and excludes."""
    every = [
        situation for situation in settings(recording, examples // 10, 2, own=False) if can_run(recording, situation)
    ]
    every += [
        situation
        for situation in of.presets(recording).values()
        if situation["op"].startswith("aten") and can_run(recording, situation)
    ]
    verdicts: Counter[str] = Counter()
    for first in range(0, len(every), 100):
        part = every[first : first + 100]
        for setting, ran in zip(part, probed(part), strict=True):
            verdict = judge(recording, setting, ran)
            assert verdict in ("", "stopped"), (verdict, setting, ran)
            verdicts[verdict] += 1
    assert verdicts[""] > 20 * verdicts["stopped"]


def test_what_has_no_kernel_raises(recording: dict[str, Any]) -> None:
    missing = [of.presets(recording)["missing"]] + [
        {**of.DEFAULT, "op": op, "args": args} for op in dispatching.OPERATORS for args in ("sparse", "csr", "cpu")
    ]
    asked = 0
    for setting in missing:
        if of.route(recording, setting)[-1].action == "missing":
            with pytest.raises(NotImplementedError, match="Could not run"):
                dispatching.perform(setting, dispatching.OPERATORS[setting["op"]])
            asked += 1
    assert asked >= 2


def test_custom_operator_is_routed(recording: dict[str, Any]) -> None:
    widget = DispatchRoute(recording, preset="custom")
    assert [stop.key for stop in widget.route] == ["AutogradCPU", "CPU"]
    assert "torch/_library/custom_ops.py" in widget.words
    assert widget.op == "torchbook::halve"
    last = widget.route[-1]
    assert "aten::div.Tensor" in [name for name, _ in of.callees(recording, widget.op, last)]


def test_notes_of_the_presets_are_true(recording: dict[str, Any]) -> None:
    ready = of.presets(recording)

    def keys(name: str, **change: Any) -> list[str]:
        return [stop.key for stop in of.route(recording, {**ready[name], **change})]

    assert set(ready) == set(of.setup()["presets"])
    every = of.lines(recording, "aten::add.Tensor", of.route(recording, ready["add"]), 0)
    states = Counter(line.state for line in every)
    assert (len(every), states["excluded"], states["through"]) == (5, 1, 2)
    assert keys("add") == keys("add", requires="no") == ["AutogradCPU", "CPU"]
    assert keys("no-grad") == keys("no-grad", grad="on")
    assert keys("inference") == ["CPU"]
    assert keys("view") == ["AutogradCPU", "ADInplaceOrView", "CPU"]
    assert keys("composite") == ["AutogradCPU"]
    assert keys("autocast") == ["AutocastCPU", "AutogradCPU", "CPU"]
    assert keys("select")[1] == "BackendSelect"
    assert [stop.call for stop in of.route(recording, ready["vmap"])] == [0, 1, 2, 3, 3]
    last = of.route(recording, ready["functionalize"])[-1]
    assert [name for name, _ in of.callees(recording, "aten::add_.Tensor", last)] == ["aten::add.Tensor"]
    last = of.route(recording, ready["mode"])[-1]
    ((name, way),) = of.callees(recording, "aten::softmax.int", last)
    assert (name, "Python" in [stop.key for stop in way]) == ("aten::_softmax", True)
    assert "Python" in keys("mode", grad="inference")
    assert keys("fake")[1:] == ["AutogradCUDA", "Python"]


def test_recording_is_small_and_leaves_torch_as_it_was(
    recording: dict[str, Any], capfd: pytest.CaptureFixture[str]
) -> None:
    assert len(gzip.compress(json.dumps(recording).encode())) < 12_000
    state, before = torch.get_rng_state(), dispatching.table("aten::add.Tensor")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = record_dispatch(operators=["aten::add.Tensor", "aten::mm"])
    assert list(again["ops"])[:2] == ["aten::add.Tensor", "aten::mm"]
    assert again["ops"]["aten::mm"]["callees"] == recording["ops"]["aten::mm"]["callees"]
    assert torch.equal(state, torch.get_rng_state())
    assert dispatching.table("aten::add.Tensor") == before
    lines = [line for line in capfd.readouterr().err.splitlines() if not line.startswith("USDT:")]  # Kineto's own log
    assert lines == []
    with pytest.raises(ValueError, match="is not in the list"):
        record_dispatch(operators=["aten::none"])
    with pytest.raises(ValueError, match="no operator is called"):
        record_dispatch({"mine::none": lambda x: x}, operators=[])


# The page


def plain(stop: of.Stop) -> dict[str, Any]:
    return {
        "call": stop.call, "left": list(stop.left), "key": stop.key, "entry": stop.entry, "action": stop.action,
        "passed": sorted(stop.passed), "args": sorted(stop.state.args), "include": sorted(stop.state.include),
        "exclude": sorted(stop.state.exclude),
    }  # fmt: skip


def test_page_routes_as_python_does(ask: Ask, recording: dict[str, Any], examples: int) -> None:
    every = settings(recording, examples // 2, 3)
    for first in range(0, len(every), 500):
        part = every[first : first + 500]
        for situation, page in zip(part, ask("route", part), strict=True):
            assert page == [plain(stop) for stop in of.route(recording, situation)], situation


def test_page_knows_the_same_callees(ask: Ask, recording: dict[str, Any], examples: int) -> None:
    every = settings(recording, examples // 12, 4)
    for situation, page in zip(every, ask("callees", every), strict=True):
        stops = of.route(recording, situation)
        mine = of.callees(recording, situation["op"], stops[-1]) if stops else []
        assert page == [[name, [plain(stop) for stop in way]] for name, way in mine], situation


def test_page_says_what_python_says(ask: Ask, recording: dict[str, Any], examples: int) -> None:
    draw = random.Random(5)
    every = [
        [situation, draw.randrange(7), draw.randrange(-1, 5)] for situation in settings(recording, examples // 12, 6)
    ]
    for case, page in zip(every, ask("words", every), strict=True):
        assert page == of.describe(recording, *case), case
    assert ask("presets", [None]) == [of.presets(recording)]


def test_what_is_left_of_the_keys_is_what_a_call_chooses_from(recording: dict[str, Any], examples: int) -> None:
    calls = 0
    for situation in settings(recording, examples // 12, 9):
        op, stops = situation["op"], of.route(recording, situation)
        for step, stop in enumerate(stops):
            if step and stops[step - 1].call == stop.call:
                assert of.taken(recording, op, stops, step) == []
                continue
            off = of.taken(recording, op, stops, step)
            rest = [line for line in of.lines(recording, op, stops, step) if line.origin and line not in off]
            backend = of.highest(recording["backends"], stop.state.backends)
            assert tuple(of.runtime(line.key, backend) for line in rest) == stop.left, situation
            calls += 1
    assert calls > 20


def test_page_has_the_same_moments(ask: Ask, recording: dict[str, Any], examples: int) -> None:
    every = [situation for situation in settings(recording, examples // 12, 10) if of.route(recording, situation)]
    for situation, page in zip(every, ask("moments", every), strict=True):
        assert [tuple(one) for one in page] == of.moments(recording, situation["op"], of.route(recording, situation))


def test_every_key_of_a_route_has_a_purpose(recording: dict[str, Any], examples: int) -> None:
    for situation in settings(recording, examples // 12, 11):
        stops = of.route(recording, situation)
        for step in range(len(stops)):
            for line in of.lines(recording, situation["op"], stops, step):
                assert of.purpose(line.key) != "stands here", line.key


@pytest.mark.parametrize(("state", "right"), [
    ({}, True), ({"way": 2}, True), ({"way": -2}, False), ({"way": 0.5}, False),
    ({"op": "aten::mm", "autocast": "on", "step": 2}, True), ({"op": "aten::none"}, False),
    ({"args": "tpu"}, False), ({"step": -1}, False), ({"step": 1.5}, False),
    ({"op": "aten::result_type.Tensor"}, False), ({"other": 1}, False), ([], False), (None, False),
])  # fmt: skip
def test_only_states_that_can_be_shown_are_taken_from_links(ask: Ask, state: Any, right: bool) -> None:
    assert ask("state", [state]) == [right]


def test_copied_code_finds_the_first_stop(ask: Ask, recording: dict[str, Any]) -> None:
    """The program asks torch itself, and asserts that it says what the figure shows."""
    every = [
        situation
        for situation in settings(recording, 200, 7)
        if can_run(recording, situation) and situation["mode"] != "fake"
    ]
    every += [situation for situation in of.presets(recording).values() if can_run(recording, situation)]
    ran = 0
    for situation, text in zip(every, ask("script", every), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                exec(compile(text, "copied", "exec"), {"print": lambda *_: None})
            except AssertionError:
                pytest.fail(f"{situation}\n{text}")
        ran += 1
    assert ran > 60


# The figure


def test_states_of_the_figure(recording: dict[str, Any]) -> None:
    widget = DispatchRoute(recording, op="aten::mm", autocast="on", step=1)
    assert [stop.key for stop in widget.route] == ["AutocastCPU", "AutogradCPU", "CPU"]
    assert "Stop 2 of 3, call 2 of the dispatcher" in widget.words
    widget.step = 0
    assert "autocast kernel: aten/src/ATen/autocast_mode.cpp" in widget.words
    widget.grad = "inference"
    assert [stop.key for stop in widget.route] == ["AutocastCPU", "CPU"]
    assert DispatchRoute(recording, preset="no_grad").grad == "no_grad"
    assert DispatchRoute(recording, preset="autocast", op="aten::add.Tensor").autocast == "on"
    impossible = DispatchRoute(recording, args="csr", transform="vmap")
    assert impossible.route == []
    assert "could not make such arguments" in impossible.words


def test_wrong_arguments_are_refused(recording: dict[str, Any]) -> None:
    with pytest.raises(traitlets.TraitError, match="'aten::none' is not recorded"):
        DispatchRoute(recording, op="aten::none")
    with pytest.raises(traitlets.TraitError):
        DispatchRoute(recording, args="tpu")
    with pytest.raises(ValueError, match="no preset of this recording is called 'none'"):
        DispatchRoute(recording, preset="none")
    widget = DispatchRoute(recording)
    with pytest.raises(traitlets.TraitError):
        widget.op = "aten::result_type.Tensor"
    assert widget.op == "aten::add.Tensor"


def test_picture_is_drawn(recording: dict[str, Any]) -> None:
    for setting in settings(recording, 40, 8):
        widget = DispatchRoute(recording, **setting)
        drawing = ElementTree.fromstring(widget.picture)
        assert drawing.get("aria-label") == widget.words
        assert bool(drawing.findall("{http://www.w3.org/2000/svg}circle")) == bool(widget.route)


def test_torch_is_not_imported_for_the_figure() -> None:
    code = "import sys; import torchbook.viz.dispatch; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


# The figure among all figures


def dispatch_route(**traits: Any) -> DispatchRoute:
    """What this build of torch does."""
    return DispatchRoute(recorded(), **traits)


def sample() -> Sample:
    """How the test of all figures takes this one."""
    last = both(pressing("no kernel"), lambda figure: figure.locator('[aria-label="Stops"] button').last.click())
    return Sample(
        make=dispatch_route,
        act=choose("operator", "aten::view"), acted={"op": "aten::view"},
        other={"op": "aten::mm", "transform": "vmap"},
        linked={"op": "aten::_to_copy", "args": "meta", "mode": "dispatch", "step": 2},
        broken=("=eyJvcCI6ImF0ZW46Om5vbmUifQ", "=eyJzdGVwIjotMX0"),  # op aten::none; step -1
        looks=(
            Look({"preset": "vmap", "step": 1}),
            Look({"preset": "vmap", "step": 1}, last),
            Look({"args": "csr", "transform": "vmap"}),
            Look({"preset": "composite"}),
        ),
        plain=({"preset": "view", "step": 1},), widths=(1280, 360),
    )  # fmt: skip
