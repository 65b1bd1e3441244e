"""SymptomFinder: a recorded run still has the shape that its picture shows; what is typed or pasted finds its cause."""

from __future__ import annotations

import json
import random
import re
import statistics
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import traitlets

from torchbook.viz import SymptomFinder, symptom_runs
from torchbook.viz import symptoms as of

from ..asking import Ask
from ..samples import Look, Sample, fill

HARNESS = "symptoms"
SYMPTOMS = of.setup()["symptoms"]
KEYS = [symptom["key"] for symptom in SYMPTOMS]
PICTURES = list(of.setup()["pictures"])
RUNS = of.runs()

TYPED = {
    "loss is nan": "loss-nan",
    "NaN in fp16": "nan-fp16",
    "memory leak": "memory-grows",
    "OOM at step 50": "oom-later",
    "out of memory in the first step": "oom-first",
    "gpu utilisation is low": "gpu-idle",
    "torch.compile is slower": "compile-slower",
    "training hangs": "ddp-hangs",
    "stuck at the end of the epoch": "hangs-epoch-end",
    "results are not reproducible": "runs-differ",
    "resuming from a checkpoint changes the result": "resume-differs",
    "eager and compiled disagree": "eager-compiled",
    "not learning": "loss-flat",
    "loss does not decrease": "loss-flat",
    "accuracy too good to be true": "validation-too-good",
    "the loss zigzags": "lr-high",
    "overfitting": "overfit-small",
    "learning rate too small": "lr-small",
    "train loss higher than validation, dropout": "dropout-gap",
    "gpu waits, .item() in the loop": "sync-each",
}

PASTED = {
    "RuntimeError: mat1 and mat2 shapes cannot be multiplied (8x32 and 64x10)": "matmul-shapes",
    "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!": (
        "two-devices"
    ),
    "RuntimeError: CUDA error: device-side assert triggered\nCUDA kernel errors might be asynchronously reported": (
        "device-assert"
    ),
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 79 GiB": (
        "oom-first"
    ),
    "RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors)": (
        "backward-twice"
    ),
    "RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output.": "gradient-nan",
    "[Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=41, OpType=ALLREDUCE)": "watchdog",
    "UserWarning: Using a target size (torch.Size([8])) that is different to the input size (torch.Size([8, 1]))": (
        "mediocre"
    ),
}


@pytest.mark.parametrize(("query", "key"), TYPED.items())
def test_typed_words_find_their_symptom(query: str, key: str) -> None:
    assert of.search(query)[0] == key


@pytest.mark.parametrize(("query", "key"), PASTED.items())
def test_a_pasted_error_finds_its_symptom(query: str, key: str) -> None:
    assert of.search(query)[0] == key


@pytest.mark.parametrize("symptom", SYMPTOMS, ids=KEYS)
def test_a_symptoms_own_words_find_it(symptom: of.Symptom) -> None:
    assert symptom["key"] in of.search(symptom["symptom"])[:2]


def test_endings_do_not_matter() -> None:
    assert of.search("hanging") == of.search("hangs")


def test_nothing_is_found_for_nonsense() -> None:
    assert of.search("xylophone quark") == []


@pytest.mark.parametrize("picture", PICTURES)
def test_a_picture_holds_its_own_only(picture: str) -> None:
    matches = [symptom for symptom in SYMPTOMS if symptom["key"] in of.search("", picture)]
    assert len(matches) > 1
    assert {symptom["picture"] for symptom in matches} == {picture}


def test_keys_are_different() -> None:
    assert len({*KEYS, *PICTURES}) == len(KEYS) + len(PICTURES)  # both are words of links


@pytest.mark.parametrize("symptom", SYMPTOMS, ids=KEYS)
def test_code_is_python_or_a_command(symptom: of.Symptom) -> None:
    lines = symptom["code"].splitlines()
    assert 1 <= len(lines) <= 4
    if not lines[0].startswith(("TORCH_LOGS", "torchrun", "py-spy", "pip")):
        compile(symptom["code"] + ("\n    pass" if lines[-1].endswith(":") else ""), symptom["key"], "exec")


FROM_CHAPTER = [symptom for symptom in SYMPTOMS if "# from the chapter" in symptom["code"]]


@pytest.mark.parametrize("symptom", FROM_CHAPTER, ids=[symptom["key"] for symptom in FROM_CHAPTER])
def test_what_comes_from_the_chapter_is_there(symptom: of.Symptom, repo: Path) -> None:
    (line,) = [line for line in symptom["code"].splitlines() if "# from the chapter" in line]
    (name,) = re.findall(r"^(?:with )?(\w+)\(", line)
    page = repo / f"{symptom['where'].partition('#')[0]}.md"
    assert re.search(rf"^(def|class) {name}\b", page.read_text(encoding="utf-8"), re.MULTILINE)


def queries(count: int) -> list[tuple[str, str]]:
    """Words of symptoms and others, cut, joined and with noise; with a kind or none."""
    draw = random.Random(5)
    pool = sorted({word for symptom in SYMPTOMS for word in of._words(" ".join(map(of._text, symptom.values())))})
    texts = [*TYPED, *PASTED, *(message for symptom in SYMPTOMS for message in symptom["messages"])]
    pairs = []
    for _ in range(count):
        words = [draw.choice(pool) for _ in range(draw.randrange(4))]
        words = [word[: draw.randrange(1, len(word) + 1)] if draw.random() < 0.3 else word for word in words]
        if draw.random() < 0.3:
            words.append(draw.choice(texts))
        query = draw.choice([" ", ", ", "\n\t"]).join(words)
        pairs.append((query.upper() if draw.random() < 0.1 else query, draw.choice(["", "", *PICTURES])))
    return pairs


def test_page_finds_what_python_finds(ask: Ask, examples: int) -> None:
    asked = queries(examples // 4)
    assert ask("search", asked) == [of.search(*case) for case in asked]


def test_page_says_what_python_says(ask: Ask) -> None:
    draw = random.Random(6)
    asked = [(*case, draw.choice(["", *KEYS])) for case in queries(300)]
    assert ask("words", asked) == [of.describe(*case) for case in asked]


def test_links_lead_to_sections_in_the_book_only(ask: Ask) -> None:
    where = "book/phases/p09-debugging#p09-nan"
    address = "../../book/phases/p09-debugging.html#p09-nan"
    assert ask("address", [[where, "../../"], [where, None]]) == [address, ""]


def test_states_of_links_are_looked_at(ask: Ask) -> None:
    good = [{}, {"query": "nan"}, {"opened": "nan", "chosen": "loss-nan"}, {"opened": ""}]
    bad = [None, 3, {"opened": "other"}, {"chosen": "other"}, {"query": 3}]
    assert ask("is_state", good) == [True] * len(good)
    assert ask("is_state", bad) == [False] * len(bad)


@pytest.mark.parametrize("traits", [{"opened": "other"}, {"chosen": "other"}])
def test_what_is_not_there_is_refused(traits: dict[str, str]) -> None:
    with pytest.raises(traitlets.TraitError):
        SymptomFinder(**traits)


def test_words_and_picture_follow() -> None:
    widget = SymptomFinder()
    pictures = [widget.picture]
    for traits in ({"query": "hangs"}, {"query": "", "opened": "hang"}, {"chosen": "ddp-hangs"}):
        for name, value in traits.items():
            setattr(widget, name, value)
        pictures.append(widget.picture)
    assert len(set(pictures)) == len(pictures)
    assert "Cause: A rank is elsewhere." in widget.words
    for picture in pictures:
        ElementTree.fromstring(picture)


# What is drawn was run, and looks as it is said to look.

Curve = list[float]


def ends(curve: Curve) -> float:
    return statistics.mean(curve[-8:])


def jagged(curve: Curve) -> float:
    """How far it goes for how far it comes."""
    steps = [abs(b - a) for a, b in pairwise(curve)]
    return sum(steps) / max(abs(curve[0] - ends(curve)), 0.1)


def apart(curves: list[Curve]) -> float:
    return max(abs(a - b) for a, b in zip(*curves, strict=True))


def stops(curves: list[list[float | None]]) -> bool:
    """Is there nothing any more from one step on, which is not the first?"""
    curve = curves[-1]
    start = curve.index(None) if None in curve else 0
    return start > 0 and set(curve[start:]) == {None}


def waiting(run: dict[str, Any], side: str) -> float:
    """The largest part of the time that a lane waits."""
    end = max(stop for lane in run[side] + run["waits"][side == "cured"] for _, stop in lane)
    return max(sum(stop - start for start, stop in lane) for lane in run["waits"][side == "cured"]) / end


def over(run: dict[str, Any], side: str) -> bool:
    return max(value for value in run[side][0] if value is not None) > run["level"][0]


# Of each picture: is a run of it ill, on this side?
ILL: dict[str, Callable[[dict[str, Any], str], bool]] = {
    "flat": lambda run, side: ends(run[side][0]) > 0.95 * run["level"][0],
    "zigzag": lambda run, side: jagged(run[side][0]) > 6,
    "nan": lambda run, side: stops(run[side]),
    "halfway": lambda run, side: ends(run[side][0]) > 2.5 * ends(run["cured"][0]),
    "overfit": lambda run, side: run[side][1][-1] > 1.2 * min(run[side][1]) and run[side][0][-1] < min(run[side][1]),
    "too-good": lambda run, side: ends(run[side][1]) < 1.05 * ends(run[side][0]),
    "chance": lambda run, side: ends(run[side][0]) < 0.2 and ends(run[side][1]) < 1.6 * run["level"][0],
    "apart": lambda run, side: apart(run[side]) > 0.1,
    "memory": lambda run, side: all(b > a for a, b in zip(run[side][0][1:], run[side][0][2:], strict=False)),
    "full": lambda run, side: stops(run[side]) and over(run, side),
    "spikes": lambda run, side: (
        max(run[side][0]) > max(8 * statistics.median(run["sick"][0]), 0.5 * max(run["sick"][0]))
    ),
    "idle": lambda run, side: waiting(run, side) > 0.3,
    "scaling": lambda run, side: run[side][0][-1] < 5,
    "hang": lambda run, side: waiting(run, side) > 0.3,
    "error": lambda run, side: stops(run[side]),
}


def assert_shape(run: dict[str, Any], picture: str) -> None:
    assert [ILL[picture](run, side) for side in ("sick", "cured")] == [True, False]


@pytest.mark.parametrize("symptom", SYMPTOMS, ids=KEYS)
def test_a_kept_run_is_ill_as_its_picture_says_and_then_is_not(symptom: of.Symptom) -> None:
    assert_shape(of.run_of(symptom["key"]), symptom["picture"])


PICTURE_OF = {symptom.get("run", symptom["key"]): symptom["picture"] for symptom in SYMPTOMS}


def test_each_run_is_shown() -> None:
    assert set(RUNS) == set(PICTURE_OF) == set(symptom_runs.RUNS)


@pytest.mark.parametrize("name", PICTURE_OF)
def test_a_run_repeated_is_ill_in_the_same_way(name: str) -> None:
    again = json.loads(json.dumps(symptom_runs.record(name)))
    assert_shape(again, PICTURE_OF[name])
    if RUNS[name].get("sketch"):
        assert again == RUNS[name]


def test_the_dashed_lines_are_what_they_are_called() -> None:
    assert RUNS["lr-small"]["level"] == [pytest.approx(2.302585, rel=1e-3), "ln 10, a guess"]
    assert RUNS["class-numbers"]["level"] == [0.1, "chance"]
    ones = symptom_runs.torch.eye(10)  # the surest probabilities there are, and softmax once more
    least = symptom_runs.F.cross_entropy(ones, symptom_runs.torch.arange(10)).item()
    assert RUNS["softmax-twice"]["level"][0] == pytest.approx(least, rel=1e-3)
    assert min(RUNS["softmax-twice"]["sick"][0]) > least


def test_early_stopping_keeps_the_lowest_validation_loss() -> None:
    run = RUNS["overfit-long"]
    assert run["cured"][1][-1] == min(run["sick"][1])


# The figure among all figures


def sample() -> Sample:
    """How the test of all figures takes this one."""
    return Sample(
        make=SymptomFinder,
        act=fill("What do you see?", "training hangs"), acted={"query": "training hangs"},
        presets={name: {"chosen": name} for name in KEYS} | {name: {"opened": name} for name in PICTURES},
        linked={"query": "nan", "opened": ""}, broken=("=eyJvcGVuZWQiOiJvdGhlciJ9",),  # a picture that is not
        looks=(Look({}), Look({"query": "hangs"}), Look({"opened": "overfit"}), Look({"chosen": "two-devices"}),
               Look({"chosen": "ddp-hangs"})),
        widths=(1280, 360),
    )  # fmt: skip
