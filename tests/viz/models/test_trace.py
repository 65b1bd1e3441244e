"""TraceExplorer: what it takes from a profile against torch's own tables, trees and traces, and the page's sums."""

from __future__ import annotations

import gzip
import json
import random
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
import torch
from torch.autograd.profiler_util import EventList
from torch.profiler import profile, record_function, schedule

from torchbook.viz import TraceExplorer
from torchbook.viz.trace import PHASES, SMALL

from ..asking import Harnesses
from ..samples import Look, Sample, both, fill, opening, pressing
from .profiles import CPU, as_rows, event, from_rows, gpu_events, train

SVG = "{http://www.w3.org/2000/svg}"
Ask = Callable[[str, TraceExplorer, list[Any]], list[Any]]


@pytest.fixture(scope="module")
def ask(harnesses: Harnesses) -> Ask:
    return lambda what, widget, of: harnesses["trace"].ask(what, of, trace=widget.trace)


@pytest.fixture(scope="module")
def prof() -> Any:
    return train(3)


@pytest.fixture(scope="module")
def shown(prof: Any) -> TraceExplorer:
    return TraceExplorer(prof)


def averages(prof: Any) -> dict[tuple[str, str], Any]:
    return {(row.key, "CPU" if str(row.device_type).endswith("CPU") else "GPU"): row for row in prof.key_averages()}


def agrees(widget: TraceExplorer, prof: Any) -> None:
    wanted = averages(prof)
    rows = {(row["name"], row["where"]): row for row in widget.table}
    assert set(rows) == set(wanted)
    for key, row in rows.items():
        of = wanted[key]
        assert row["calls"] == of.count, key
        if key[1] == "CPU":
            assert row["self_us"] == pytest.approx(of.self_cpu_time_total, abs=1e-3), key
            assert row["total_us"] == pytest.approx(of.cpu_time_total, abs=1e-3), key
            assert row["gpu_us"] == pytest.approx(of.self_device_time_total, abs=1e-3), key
        else:
            assert row["total_us"] == pytest.approx(of.device_time_total, abs=1e-3), key


# Against torch


def test_table_is_that_of_key_averages(prof: Any, shown: TraceExplorer) -> None:
    agrees(shown, prof)


@pytest.mark.parametrize("limit", [40, 80, 200])
def test_merging_leaves_the_table_alone(prof: Any, limit: int) -> None:
    small = TraceExplorer(prof, limit=limit)
    assert len(small.trace["columns"]["name"]) <= limit
    agrees(small, prof)


def test_table_with_python_functions_in_the_profile(repo: Path) -> None:
    """In a process of its own: torch's tracer of Python functions hangs in one that has run for long, as tests do."""
    code = "from tests.viz.models.test_trace import table_with_python_functions; table_with_python_functions()"
    done = subprocess.run([sys.executable, "-c", code], cwd=repo, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def table_with_python_functions() -> None:
    with profile(activities=CPU, with_stack=True) as prof:
        torch.ones(8).exp().sum()
    rows = {row["name"]: row for row in TraceExplorer(prof).table}
    for of in prof.key_averages():
        assert rows[of.key]["calls"] == of.count
        assert rows[of.key]["self_us"] == pytest.approx(of.self_cpu_time_total, abs=1e-3)


def test_nesting_is_that_of_torch(prof: Any, shown: TraceExplorer, ask: Ask) -> None:
    nodes = ask("nodes", shown, [0])[0]
    events = shown._profile.drawn
    by_id = {id(recorded): recorded for recorded in prof.events()}
    assert len(nodes) == len(prof.events()) == len(events)
    for key, node in events.items():
        recorded, drawn = by_id[key], nodes[node.number]
        assert drawn["name"] == recorded.name
        parent = recorded.cpu_parent
        assert drawn["parent"] == (events[id(parent)].number if parent else -1)
        assert drawn["children"] == sorted(events[id(child)].number for child in recorded.cpu_children)
        assert drawn["total"] / 10 == pytest.approx(recorded.cpu_time_total, abs=0.11)
        assert drawn["self"] / 10 == pytest.approx(recorded.self_cpu_time_total, abs=0.16)
        assert drawn["shape"] == ", ".join(str(list(shape)) for shape in recorded.input_shapes if shape)


def test_forward_and_backward_are_tied_as_in_torch_s_trace(prof: Any, shown: TraceExplorer, tmp_path: Path) -> None:
    """The Chrome trace of the same profile has arrows from each forward operation to its backward."""
    prof.export_chrome_trace(str(tmp_path / "trace.json"))
    rows = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
    ends: dict[int, dict[str, float]] = {}
    for row in rows:
        if row.get("cat") == "fwdbwd":
            ends.setdefault(row["id"], {})[row["ph"]] = row["ts"]
    at = {(row["ts"], row["name"]): row for row in rows if row.get("ph") == "X"}
    first = min(ts for ts, _ in at)
    named: dict[float, list[str]] = {}
    for (ts, name), _ in at.items():
        named.setdefault(ts, []).append(name)
    arrows = sorted((round(arrow["s"] - first, 1), round(arrow["f"] - first, 1)) for arrow in ends.values())
    mine = sorted(
        (forward.time_range.start, backward.time_range.start, forward.name, backward.name)
        for forward, backward in shown._profile.links
    )
    assert len(arrows) == len(mine) > 10
    offset = arrows[0][0] - mine[0][0]
    for (a, b), (start, begin, *names) in zip(arrows, mine, strict=True):
        assert a - offset == pytest.approx(start, abs=0.2), names
        assert b - offset == pytest.approx(begin, abs=0.2), names


def test_pairs_of_forward_and_backward_have_matching_names(shown: TraceExplorer) -> None:
    pairs = {(forward.name, backward.name) for forward, backward in shown._profile.links}
    assert {("aten::addmm", "AddmmBackward0"), ("aten::relu", "ReluBackward0"), ("aten::t", "TBackward0")} <= pairs


def test_backward_that_runs_on_its_own_thread() -> None:
    """The engine's work is a lane of its own where it has a thread of its own."""
    shown = TraceExplorer(gpu_events())
    names = [lane["name"] for lane in shown.trace["lanes"]]
    assert names == ["CPU thread 1", "CPU thread 2", "GPU 0, stream 7", "GPU 0, stream 13", "GPU 0, your marks"]
    (pair,) = shown._profile.links
    assert [member.name for member in pair] == ["aten::mm", "MmBackward0"]


# Phases


def test_phases_of_a_training_step(shown: TraceExplorer) -> None:
    by_name: dict[str, set[str]] = {}
    for name, _, phase, *_ in shown._profile.rows():
        by_name.setdefault(name, set()).add(PHASES[phase])
    assert by_name["aten::addmm"] == {"forward"}
    assert by_name["aten::mm"] == {"backward"}
    assert by_name["AddmmBackward0"] == {"backward"}
    assert by_name["aten::stack"] == {"data"}
    assert by_name["aten::addcdiv_"] == {"optimizer"}
    assert by_name["Optimizer.step#AdamW.step"] == by_name["Optimizer.zero_grad#AdamW.zero_grad"] == {"optimizer"}
    assert by_name["aten::ones_like"] == {"other"}


def test_phases_share_all_self_time(shown: TraceExplorer, prof: Any) -> None:
    total = sum(event.self_cpu_time_total for event in prof.events())
    assert sum(shown._profile.shares().values()) == pytest.approx(total)
    assert "%" in shown.words


def test_own_marks_and_own_names_give_phases() -> None:
    with profile(activities=CPU) as prof:
        for name in ("load_batch", "augment", "model forward", "update weights", "evaluate"):
            with record_function(name):
                torch.ones(4).add(1)
    phases = {
        name: PHASES[phase] for name, _, phase, *_ in TraceExplorer(prof, phases={"augm": "data"})._profile.rows()
    }
    assert {name: phases[name]
            for name in ("load_batch", "augment", "model forward", "update weights", "evaluate")} == {
        "load_batch": "data", "augment": "data", "model forward": "forward", "update weights": "optimizer",
        "evaluate": "other",
    }  # fmt: skip


def test_kernels_have_the_phase_of_what_started_them() -> None:
    profile = TraceExplorer(gpu_events())._profile
    phases = {(name, PHASES[phase]) for name, gpu, phase, *_ in profile.rows() if gpu}
    assert {
        ("gemm_kernel", "forward"),
        ("gemm_kernel", "backward"),
        ("multi_tensor_apply_kernel", "optimizer"),
    } <= phases


# Steps and views


def test_steps_are_counted(prof: Any, shown: TraceExplorer) -> None:
    assert len(shown.trace["steps"]) == 3
    assert shown.words.startswith("Profile of 3 training steps")
    assert TraceExplorer(prof, steps=6).trace["steps"] == []
    assert TraceExplorer(gpu_events()).trace["steps"] == [[0, 10000]]  # the GPU's copy of the mark is no second step


def test_steps_of_a_schedule() -> None:
    with profile(activities=CPU, schedule=schedule(wait=1, warmup=1, active=2, repeat=1)) as prof:
        for _ in range(5):
            torch.ones(9).exp()
            prof.step()
    shown = TraceExplorer(prof)
    assert len(shown.trace["steps"]) == 2
    assert "2 training steps" in shown.words


def test_views_lead_where_they_say(shown: TraceExplorer, ask: Ask) -> None:
    views = {view["key"]: view for view in shown.trace["views"]}
    assert list(views) == ["whole", "step", "data", "forward", "backward", "optimizer", "top"]
    nodes = ask("nodes", shown, [0])[0]
    for name in ("data", "optimizer"):
        view = views[name]
        inside = [n for n in nodes if view["start"] <= n["start"] and n["end"] <= view["end"]]
        assert {PHASES[n["phase"]] for n in inside} == {name}
        assert view["end"] - view["start"] < 0.6 * shown.trace["end"]
    assert TraceExplorer(shown._profile.events, view="data").start == views["data"]["start"]
    top = max(shown.table, key=lambda row: row["self_us"])["name"]
    assert views["top"]["query"] == top == nodes[views["top"]["selected"]]["name"]


def test_longest_gap_of_a_gpu() -> None:
    view = next(v for v in TraceExplorer(gpu_events()).trace["views"] if v["key"] == "gap")
    assert view["note"].startswith("GPU 0, stream 7 waits 110 µs")
    assert view["start"] < 6550 < 7650 < view["end"]


# The page's sums


@pytest.mark.parametrize("limit", [60, 150, 3000])
def test_page_sums_to_torch_s_table(prof: Any, ask: Ask, limit: int) -> None:
    widget = TraceExplorer(prof, limit=limit)
    wanted = averages(prof)
    whole, drawn = ask("tally", widget, [{}])[0], ask("sum", widget, [0])[0]
    for row in whole:
        of = wanted[row["name"], "CPU"]
        assert (row["calls"], row["self"]) == (of.count, pytest.approx(of.self_cpu_time_total * 10, abs=1.5))
        assert row["total"] == pytest.approx(of.cpu_time_total * 10, abs=1.5)
    exact = {row["name"]: row for row in whole}
    assert {row["name"] for row in drawn} == set(exact)
    for row in drawn:  # rounded to tenths one by one
        of = exact[row["name"]]
        assert row["calls"] == of["calls"]
        assert row["self"] == pytest.approx(of["self"], abs=3 + 0.8 * of["calls"])


@pytest.mark.parametrize("limit", [60, 3000])
def test_table_of_one_event_is_that_of_its_tree(prof: Any, ask: Ask, limit: int) -> None:
    widget = TraceExplorer(prof, limit=limit)
    step = next(n for n in widget._profile.nodes if n.name.startswith("Optimizer.step#") and n.calls == 1)
    rows = {row["name"]: row for row in ask("tally", widget, [{"within": step.number}])[0]}
    inside: dict[str, list[float]] = {}
    waiting = [step.events[0]]
    while waiting:
        current = waiting.pop()
        waiting += current.cpu_children
        row = inside.setdefault(current.name, [0, 0.0])
        row[0] += 1
        row[1] += current.self_cpu_time_total
    assert set(rows) == set(inside)
    for name, (calls, own) in inside.items():
        assert rows[name]["calls"] == calls
        assert rows[name]["self"] / 10 == pytest.approx(own, abs=0.1 + 0.1 * calls)


def test_merged_events_keep_order_and_place(prof: Any, ask: Ask) -> None:
    widget = TraceExplorer(prof, limit=200)
    nodes = ask("nodes", widget, [0])[0]
    assert any(node["calls"] > 1 for node in nodes)
    for node in nodes:
        children = [nodes[i] for i in node["children"]]
        assert all(node["start"] <= c["start"] and c["end"] <= node["end"] for c in children)
        assert all(a["end"] <= b["start"] + 1 for a, b in pairwise(children))
        assert node["total"] <= node["end"] - node["start"] + 1
        assert 0 <= node["self"] <= node["total"]
    assert "merged" in widget.words


def test_many_different_small_events_become_one(ask: Ask) -> None:
    draw = random.Random(2)
    made = [event(i, draw.choice("abcdefgh"), 10 * i, 10 * i + 5) for i in range(500)]
    widget = TraceExplorer(made, limit=20)
    (node,) = ask("nodes", widget, [0])[0]
    assert (node["name"], node["calls"]) == (SMALL, 500)
    assert sum(folded["calls"] for folded in node["folded"]) == 500
    assert sum(row["calls"] for row in widget.table) == 500


def test_busy_share_of_a_lane(ask: Ask) -> None:
    widget = TraceExplorer(gpu_events())
    lane = [entry["name"] for entry in widget.trace["lanes"]].index("GPU 0, stream 7")
    assert ask("busy", widget, [[lane, 0, 10000], [lane, 6550, 7650], [lane, 2550, 4550]]) == [0.435, 0, 1]
    assert "GPU 0, stream 7 is busy 44 % of the time." in widget.words


def test_gpu_table_and_links(ask: Ask) -> None:
    widget = TraceExplorer(gpu_events())
    agrees(widget, gpu_events())
    nodes = ask("nodes", widget, [0])[0]
    started = {nodes[i]["name"] for i in (n for node in nodes for n, kind in node["links"] if kind == "kernel")}
    assert started == {"Memcpy HtoD (Pageable -> Device)", "gemm_kernel", "multi_tensor_apply_kernel"}


def test_launches_of_torch_before_2_12_come_from_kineto() -> None:
    events = gpu_events()
    raw = []
    for recorded in events:
        linked, recorded.linked_correlation_id = recorded.linked_correlation_id, 0
        start = 5000 + int(recorded.time_range.start * 1000)
        fields = {"name": recorded.trace_name, "start_ns": start, "linked_correlation_id": linked}
        raw.append(SimpleNamespace(**{key: lambda value=value: value for key, value in fields.items()}))
    results = SimpleNamespace(trace_start_ns=lambda: 5000, events=lambda: raw)
    prof = SimpleNamespace(events=lambda: events, profiler=SimpleNamespace(kineto_results=results))
    assert len(TraceExplorer(prof)._profile.launches) == 4


def test_details_tell_shares_shapes_and_the_other_side(shown: TraceExplorer, ask: Ask) -> None:
    addmm = next(n for n in shown._profile.nodes if n.name == "aten::addmm")
    text = ask("details", shown, [addmm.number])[0]
    for part in ("aten::addmm (CPU thread 1, forward, step 1)", "Call 1 of 6", "Shapes [32], [16, 64], [64, 32].",
                 "of its parent aten::linear.", "of step 1.", "Its backward: AddmmBackward0"):  # fmt: skip
        assert part in text


def test_details_of_what_is_merged(prof: Any, ask: Ask) -> None:
    widget = TraceExplorer(prof, limit=200)
    merged = next(n for n in widget._profile.nodes if n.calls > 1 and n.name != SMALL)
    text = ask("details", widget, [merged.number])[0]
    assert text.startswith(f"{merged.calls} × {merged.name}")
    assert f"{merged.calls} calls merged" in text


def test_search_tells_calls_and_self_time(prof: Any, shown: TraceExplorer, ask: Ask) -> None:
    rows = [row for row in shown.table if "mm" in row["name"].lower()]
    texts = ask("found", shown, ["MM", "aten::mm", "nothing like it"])
    assert texts[0].startswith(f"{sum(row['calls'] for row in rows)} calls of {len(rows)} operators")
    assert texts[1].startswith("9 calls of 1 operator")
    assert texts[2] == "No operator has that in its name."


@pytest.mark.parametrize("query", ["", "aten::mm", "mm", 'a "quoted" name'])
def test_copied_code_runs(prof: Any, shown: TraceExplorer, ask: Ask, query: str, capsys: Any) -> None:
    for sort in ("self", "total", "calls", "name"):
        exec(ask("script", shown, [{"query": query, "sort": sort}])[0], {"prof": prof})
        out = capsys.readouterr().out
        assert "Self CPU" in out
        if query == "aten::mm":
            assert "9 calls" in out


def test_keys_walk_the_tree(shown: TraceExplorer, ask: Ask) -> None:
    nodes = shown._profile.nodes
    linear = next(n for n in nodes if n.name == "aten::linear")
    down, up, right = ask("moved", shown, [[linear.number, k] for k in ("ArrowDown", "ArrowUp", "ArrowRight")])
    assert nodes[down].name == "aten::t"
    assert up == -1
    assert nodes[right].name == "aten::relu"
    assert ask("moved", shown, [[down, "ArrowUp"], [right, "ArrowLeft"], [-1, "ArrowDown"]]) == [linear.number] * 2 + [
        0
    ]
    for key in ("Home", "End", "PageUp", "PageDown"):
        assert ask("moved", shown, [[down, key]])[0] >= -1


def test_windows_stay_inside_the_profile(shown: TraceExplorer, ask: Ask) -> None:
    draw = random.Random(5)
    end = shown.trace["end"]
    asked = []
    for _ in range(300):
        start = draw.randrange(end - 10)
        asked.append(
            [
                {"start": start, "end": draw.randrange(start + 1, end + 1)},
                10 ** draw.uniform(-6, 6),
                draw.randrange(end),
            ]
        )
    for window in ask("zoomed", shown, asked):
        assert 0 <= window["start"] < window["end"] <= end
        assert window["end"] - window["start"] >= 10


def test_long_names_are_cut_kindly(shown: TraceExplorer, ask: Ask) -> None:
    long = "autograd::engine::evaluate_function: AddmmBackward0"
    assert ask("fitting", shown, [["aten::addmm", 20], ["aten::addmm", 6], [long, 30], [long, 8], [long, 2]]) == [
        "aten::addmm", "addmm", "engine: AddmmBackward0", "engine:…", "",
    ]  # fmt: skip


# In Python


def test_state_is_small() -> None:
    widget = TraceExplorer(train(5, samples=32))
    assert len(gzip.compress(json.dumps(widget.trace).encode())) < 40_000
    assert len(gzip.compress(widget.picture.encode())) < 20_000


def test_words_say_the_top_operators_and_what_is_merged(prof: Any) -> None:
    words = TraceExplorer(prof, limit=60).words
    first = max(prof.key_averages(), key=lambda row: row.self_cpu_time_total)
    assert f"Most self time on the CPU: {first.key} " in words
    assert f"{len(prof.events())} events" in words
    assert "60 are drawn" in words or "are drawn; events of at most" in words


def test_picture_is_well_formed(shown: TraceExplorer) -> None:
    svg = ElementTree.fromstring(shown.picture)
    assert svg.get("aria-label") == shown.words
    texts = [text.text or "" for text in svg.iter(f"{SVG}text")]
    assert "CPU thread 1" in texts
    assert any("calls" in text for text in texts)


def test_without_shapes() -> None:
    assert TraceExplorer(train(1, shapes=False)).trace["shapes"] == [""]


def test_mistakes_are_named(prof: Any) -> None:
    with pytest.raises(TypeError, match=r"finished torch\.profiler\.profile is needed, not int"):
        TraceExplorer(3)
    with pytest.raises(TypeError, match="averages"):
        TraceExplorer(prof.key_averages())
    with pytest.raises(ValueError, match="is it finished"), profile(activities=CPU) as unfinished:
        TraceExplorer(unfinished)
    with pytest.raises(ValueError, match="no events"):
        TraceExplorer([])
    with pytest.raises(ValueError, match="no view is called 'gap'"):
        TraceExplorer(prof, view="gap")
    with pytest.raises(ValueError, match="no phase is called 'fwd'"):
        TraceExplorer(prof, phases={"x": "fwd"})
    with pytest.raises(ValueError, match="too small"):
        TraceExplorer(gpu_events(), limit=2)


@pytest.mark.parametrize("number", range(12))
def test_any_profile_fits_its_limit_and_keeps_its_sums(ask: Ask, number: int) -> None:
    draw = random.Random(number)
    made: list[Any] = []

    def grow(start: float, end: float, depth: int) -> None:
        at = start
        while at < end - 1 and len(made) < 900:
            length = min(end - at, 10 ** draw.uniform(0, 3.5 - depth))
            made.append(event(len(made), draw.choice("abcde"), at, at + length))
            if depth < 3 and draw.random() < 0.7:
                grow(at, at + length * 0.9, depth + 1)
            at += length + draw.random() * 3

    grow(0, 20_000, 0)
    tree = EventList(made)
    tree._populate_cpu_children()
    tree._tree_built = True
    limit = draw.choice([5, 30, 100, 400])
    widget = TraceExplorer(list(tree), limit=limit)
    assert len(widget.trace["columns"]["name"]) <= limit
    exact = {row["name"]: row for row in ask("tally", widget, [{}])[0]}
    for row in ask("sum", widget, [0])[0]:
        of = exact[row["name"]]
        assert row["calls"] == of["calls"] == sum(operation.name == row["name"] for operation in made)
        assert row["self"] == pytest.approx(of["self"], abs=3 + 0.8 * of["calls"])


def test_a_profile_in_rows_is_the_same_profile(prof: Any, shown: TraceExplorer) -> None:
    again = TraceExplorer(from_rows(json.loads(json.dumps(as_rows(prof))))).trace
    for part in ("names", "shapes", "lanes", "links", "launches", "steps", "count", "end"):
        assert again[part] == shown.trace[part], part


# The figure among all figures


@cache
def profiled() -> Any:
    """A profile of three steps."""
    return train(3)


def trace_explorer(**traits: Any) -> TraceExplorer:
    """That profile."""
    return TraceExplorer(profiled(), **traits)


def trace_of_a_gpu(**traits: Any) -> TraceExplorer:
    """Events of a GPU."""
    return TraceExplorer(gpu_events(), **traits)


def sample() -> Sample:
    """How the test of all figures takes this one."""
    views = {view["key"]: view["label"] for view in trace_explorer().trace["views"]}
    searched = both(fill("find operators by name", "mm"), opening)
    return Sample(
        make=trace_explorer,
        act=lambda figure: figure.locator(".tr-chart").press("ArrowRight"), acted="(CPU thread 1",
        presets={name: {"view": name} for name in views}, presets_of_python=False, labels=views,
        linked={"selected": 5},
        broken=("=bnVsbA", "=eyJzdGFydCI6LTUsInNlbGVjdGVkIjo5OTk5OTl9"),  # null; start -5 and no such event
        looks=(
            Look({}, searched),
            Look({}, both(searched, pressing("optimizer"))),
            Look({}, make=trace_of_a_gpu),
            Look({}),
        ),
    )  # fmt: skip
