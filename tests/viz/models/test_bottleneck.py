"""BottleneckTool: its rules against pipelines whose limit is known, the page against Python, and real measurements."""

from __future__ import annotations

import dataclasses
import random
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest
import torch
import traitlets
from torch.utils.data import DataLoader, Dataset

from torchbook.viz import BottleneckTool
from torchbook.viz import bottleneck as of
from torchbook.viz.pipeline import setup as pipeline_setup
from torchbook.viz.pipeline import steady, terms

from ..asking import Ask
from ..samples import Look, Sample, fill

HARNESS = "pipeline"
PRESETS = sorted(of.setup()["presets"])
EMPTY = {name: field["value"] for name, field in pipeline_setup()["fields"].items()} | {"transfer": "wait"}


def measurements(count: int) -> list[dict[str, Any]]:
    """Random measurements, many of them near the limits of the rules."""
    draw = random.Random(3)
    rows = []
    for _ in range(count):
        step, loader, copy = (draw.choice([1.0, 10.0, 40.0]) * draw.uniform(0.5, 2) for _ in range(3))
        base = draw.choice([step, loader, copy, step + copy, step + loader, step + loader + copy, max(step, loader)])
        rows.append(
            {
                "step_ms": step,
                "loader_ms": draw.choice([loader, 0.0]),
                "full_ms": base * draw.choice([1.0, draw.uniform(0.8, 1.3), 1.1, 1 / 1.1]),
                "copy_ms": draw.choice([None, 0.0, copy]),
                "utilisation": draw.choice([None, 0.0, 69.9, 70.0, draw.uniform(0, 100)]),
                "workers": draw.choice([0, 1, 2, 8, 40]),
                "cpu": draw.choice(["unknown", "busy", "idle"]),
            }
        )
    return rows


def measured(setting: dict[str, Any]) -> of.Diagnosis:
    """The diagnosis of a modelled pipeline, measured as a reader would."""
    return of.diagnose(
        setting["step_ms"],
        setting["load_ms"] / max(1, setting["workers"]),
        steady(setting).period,
        setting["copy_ms"] or None,
        workers=setting["workers"],
    )


def clear(setting: dict[str, Any], limit: str) -> bool:
    """Is this term of the formula well above the other?"""
    parts = terms(setting)
    return all(parts[limit] > 1.3 * other for name, other in parts.items() if name != limit)


# The rules


def random_pipelines(count: int, **fixed: Any) -> list[dict[str, Any]]:
    draw = random.Random(8)
    return [
        {**EMPTY, "workers": draw.randrange(1, 9), "load_ms": draw.uniform(5, 400), "copy_ms": draw.uniform(5, 60),
         "step_ms": draw.uniform(5, 60), **fixed}
        for _ in range(count)
    ]  # fmt: skip


def test_a_pipeline_that_waits_for_its_loader_is_told() -> None:
    causes = [measured(setting).cause for setting in random_pipelines(500) if clear(setting, "load")]
    assert len(causes) > 50
    assert set(causes) == {"loader"}


def test_a_copy_that_does_not_overlap_is_told() -> None:
    causes = [measured(setting).cause for setting in random_pipelines(500) if clear(setting, "copy and step")]
    assert len(causes) > 50
    assert set(causes) <= {"transfer", "compute"}
    slow_copies = [setting for setting in random_pipelines(500, copy_ms=30.0) if clear(setting, "copy and step")]
    assert {measured(setting).cause for setting in slow_copies if setting["step_ms"] < 100} == {"transfer"}


def test_a_step_that_hides_everything_is_told() -> None:
    pipelines = random_pipelines(500, transfer="side", load_ms=5.0, copy_ms=1.0, step_ms=40.0)
    assert {measured(setting).cause for setting in pipelines} == {"compute"}


def test_a_loader_without_workers_is_told() -> None:
    for setting in random_pipelines(300, workers=0, copy_ms=0.0):
        parts = sorted((setting["load_ms"], setting["step_ms"]))
        if parts[0] > 0.15 * parts[1]:
            assert measured(setting).cause in ("serial", "nearly")  # the sum of the model is rounded
            assert any("num_workers=1" in text for text in measured(setting).remedies)


def test_workers_that_are_asked_for_feed_the_step() -> None:
    for setting in random_pipelines(300):
        diagnosis = measured(setting)
        if diagnosis.cause == "loader":
            needed = int(diagnosis.remedies[-1].split("num_workers=")[1].split()[0])
            assert terms({**setting, "workers": needed})["load"] <= setting["step_ms"] + setting["copy_ms"] + 1e-9
            assert terms({**setting, "workers": needed - 1})["load"] > setting["step_ms"] + setting["copy_ms"]


def test_what_is_promised_is_faster_and_not_below_the_parts() -> None:
    for measurement in measurements(2000):
        diagnosis = of.diagnose(**measurement)
        if diagnosis.reach is not None:
            assert diagnosis.gain is not None
            assert diagnosis.gain > 1
            assert diagnosis.reach >= min(measurement["step_ms"], measurement["full_ms"])


@pytest.mark.parametrize(
    ("preset", "cause"),
    [("starved", "loader"), ("disk", "loader"), ("serial", "serial"), ("transfer", "transfer"), ("compute", "compute"),
     ("launch", "launch"), ("uneven", "uneven"), ("impossible", "check")],
)  # fmt: skip
def test_presets_lead_where_their_notes_say(preset: str, cause: str) -> None:
    assert BottleneckTool(preset=preset).diagnosis.cause == cause


def test_every_cause_is_reached() -> None:
    assert {of.diagnose(**measurement).cause for measurement in measurements(2000)} == set(of.setup()["causes"])
    asked = {question.key for measurement in measurements(2000) for question in of.diagnose(**measurement).path}
    assert asked == set(of.setup()["questions"])


def test_idle_cpu_points_to_storage_and_a_busy_one_to_workers() -> None:
    first = {cpu: of.diagnose(10, 50, 51, cpu=cpu).remedies[0] for cpu in ("busy", "idle", "unknown")}
    assert first["busy"].startswith("num_workers=5")
    assert "storage" in first["idle"]
    assert first["unknown"].startswith("Look at the CPU")


def test_high_utilisation_is_not_called_compute_bound() -> None:
    text = " ".join(of.diagnose(40, 10, 41, utilisation=98).remedies)
    assert "only says that some kernel was running" in text


def test_mistakes_are_named() -> None:
    for wrong in ((0, 1, 1), (1, -1, 1), (1, 1, 0), (1, 1, 1, -1)):
        with pytest.raises(ValueError, match="times must be positive"):
            of.diagnose(*wrong)
    with pytest.raises(ValueError, match="cpu must be one of unknown, busy, idle, not 'hot'"):
        of.diagnose(1, 1, 1, cpu="hot")
    with pytest.raises(ValueError, match="no preset is called 'x'"):
        BottleneckTool(preset="x")
    with pytest.raises(traitlets.TraitError, match="utilisation must be a number from 0 to 100, not 120"):
        BottleneckTool(utilisation=120.0)


# The page


def test_page_decides_what_python_decides(ask: Ask, examples: int) -> None:
    every = measurements(examples)
    for measurement, page in zip(every, ask("diagnose", every), strict=True):
        mine = dataclasses.asdict(of.diagnose(**measurement))
        mine |= {"remedies": list(mine["remedies"]), "path": list(mine["path"])}
        assert page == mine, measurement


def test_page_says_what_python_says(ask: Ask) -> None:
    every = measurements(1000) + [BottleneckTool(preset=name).setting for name in PRESETS]
    for measurement, page in zip(every, ask("neck_words", every), strict=True):
        assert page == of.describe(measurement)


# Real measurements


class Slept(Dataset[torch.Tensor]):
    def __len__(self) -> int:
        return 400

    def __getitem__(self, i: int) -> torch.Tensor:
        time.sleep(0.003)
        return torch.ones(2)


def within_three(causes: str, measure: Callable[[], dict[str, Any]]) -> bool:
    """Is one of these the diagnosis? A busy machine may spoil a measurement, hardly three."""
    return any(of.diagnose(**measure()).cause in causes.split() for _ in range(3))


def test_measurements_of_a_real_loader_are_diagnosed() -> None:
    loader = DataLoader(Slept(), batch_size=5)
    result = of.measure(loader, lambda batch: None, steps=2)
    assert (result["workers"], result["copy_ms"]) == (0, None)
    assert within_three("serial nearly", lambda: of.measure(loader, lambda batch: time.sleep(0.012), steps=10))
    assert within_three("loader", lambda: of.measure(loader, lambda batch: None, steps=10))


def test_a_copy_is_measured_where_there_is_a_device() -> None:
    result = of.measure(DataLoader(Slept(), batch_size=2), lambda batch: None, device="cpu", steps=3)
    assert result["copy_ms"] >= 0
    with pytest.raises(ValueError, match="two batches"):
        of.measure(DataLoader(Slept(), batch_size=400), lambda batch: None)


def test_copied_code_measures_the_same(ask: Ask) -> None:
    names: dict[str, Any] = {}
    exec(compile(ask("neck_script", [0])[0], "copied", "exec"), names)
    loader = DataLoader(Slept(), batch_size=5)
    assert within_three("serial nearly", lambda: names["measure"](loader, lambda batch: time.sleep(0.012), steps=10))
    assert set(names["measure"](loader, lambda batch: None, steps=2)) <= set(of.setup()["fields"])


# The widget


@pytest.mark.parametrize("preset", PRESETS)
def test_words_and_picture(preset: str) -> None:
    w = BottleneckTool(preset=preset)
    assert ElementTree.fromstring(w.picture).get("aria-label") == w.words
    assert w.words.startswith(w.diagnosis.title)


def test_words_and_picture_follow() -> None:
    w = BottleneckTool()
    w.full_ms = 41.0
    assert w.words.startswith("The measurements do not fit together")
    w.loader_ms = 5.0
    assert w.words.startswith("The step sets the pace")
    assert "The step sets the pace" in w.picture


# The lanes


def test_lanes_take_the_times_that_were_measured(ask: Ask) -> None:
    every = measurements(400)
    for measurement, page in zip(every, ask("neck_lanes", every), strict=True):
        step, loader, full = (measurement[f"{name}_ms"] for name in ("step", "loader", "full"))
        copy = measurement["copy_ms"] or 0.0
        for lane, size in (("loader", loader), ("copy", copy), ("step", step)):
            own = [block for block in page["blocks"] if block["lane"] == lane]
            assert [block["end"] - block["start"] for block in own] == pytest.approx([size] * len(own))
            starts = [block["start"] for block in own]
            assert [b - a for a, b in pairwise(starts)] == pytest.approx([full] * (len(own) - 1))
            clash = [one for one in page["clashes"] if one["lane"] == lane]
            assert (clash != []) == (size > full)
        assert page["end"] == pytest.approx(max(block["end"] for block in page["blocks"]))
        assert (page["waits"] != []) == (full > step)
        assert (page["gaps"] != []) == (full > loader + copy + step)


def test_what_cannot_be_is_what_the_rules_refuse_and_a_gap_is_what_no_part_explains(ask: Ask) -> None:
    every = measurements(400)
    for measurement, page in zip(every, ask("neck_lanes", every), strict=True):
        cause = of.diagnose(**measurement).cause
        if cause == "check":
            assert page["clashes"]
        if cause == "more":
            assert page["gaps"]


def test_a_gpu_that_is_idle_within_its_step_is_drawn_so(ask: Ask) -> None:
    (lanes,) = ask("neck_lanes", [BottleneckTool(preset="launch").setting])
    for block in lanes["blocks"]:
        assert block["busy"] == pytest.approx(0.34 * 9.4 / 9 if block["lane"] == "step" else 1)
    (lanes,) = ask("neck_lanes", [BottleneckTool(preset="starved").setting])
    assert {block["busy"] for block in lanes["blocks"]} == {1}


# The figure among all figures


def sample() -> Sample:
    """How the test of all figures takes this one."""
    return Sample(
        make=BottleneckTool,
        act=fill("the full run, for", "41", exact=False), acted={"full_ms": 41.0},
        other={"step_ms": 7.0},
        linked={"step_ms": 3.5, "loader_ms": 8.0, "full_ms": 12.0, "workers": 0},
        looks=(Look({}, fill("the full run, for", "0", exact=False)),),
    )  # fmt: skip


def overlapping(blocks: list[dict[str, Any]]) -> bool:
    """Do blocks of two batches take place at the same time, as the lanes draw them?"""
    parts = [(block["start"], block["end"], block["batch"]) for block in blocks if block["end"] > block["start"]]
    return any(a < d - 1e-9 and c < b - 1e-9 and m != n for a, b, m in parts for c, d, n in parts)


def test_what_is_said_of_overlap_is_what_the_lanes_show(ask: Ask) -> None:
    every = measurements(3000)
    times = {"step_ms": 5.1, "loader_ms": 21.4, "copy_ms": None, "utilisation": None, "workers": 1, "cpu": "idle"}
    every += [{**times, "full_ms": full} for full in (21.4, 23.5, 24.3, 25.4, 25.6, 26.4, 26.5, 26.6, 29.1, 29.3, 40.0)]
    seen = set()
    for measurement, lanes in zip(every, ask("neck_lanes", every), strict=True):
        found = of.diagnose(**measurement)
        step, loader, copy = measurement["step_ms"], measurement["loader_ms"], measurement["copy_ms"] or 0.0
        hidden = loader + copy + step - measurement["full_ms"]
        could = loader + copy + step - max(loader, copy + step)
        said = {
            "serial": "Nothing overlaps",
            "nearly": "Almost nothing overlaps",
            "uneven": "The stages overlap only in part",
        }
        assert found.title == said.get(found.cause, found.title)
        if found.cause in said:
            assert overlapping(lanes["blocks"]) == (found.cause != "serial"), measurement
        if found.cause == "nearly":
            assert 0 < hidden <= of.HIDDEN * could
        if found.cause == "more":
            assert hidden < 0
        seen.add(found.cause)
    assert seen == set(of.setup()["causes"])
    assert of.diagnose(**times, full_ms=24.3).title == "The stages overlap only in part"
