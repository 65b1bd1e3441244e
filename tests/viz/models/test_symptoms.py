"""SymptomFinder: what people type or paste finds its symptom, and the page finds what Python finds."""

from __future__ import annotations

import random
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
import traitlets

from torchbook.viz import SymptomFinder
from torchbook.viz import symptoms as of

from ..asking import Ask
from ..samples import Look, Sample, fill

HARNESS = "symptoms"
SYMPTOMS = of.setup()["symptoms"]
KEYS = [symptom["key"] for symptom in SYMPTOMS]
KINDS = list(of.setup()["kinds"])

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


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_holds_its_own_only(kind: str) -> None:
    matches = [symptom for symptom in SYMPTOMS if symptom["key"] in of.search("", kind)]
    assert matches
    assert {symptom["kind"] for symptom in matches} == {kind}


def test_keys_are_different() -> None:
    assert len(set(KEYS)) == len(KEYS)


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
        pairs.append((query.upper() if draw.random() < 0.1 else query, draw.choice(["", "", *KINDS])))
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
    good = [{}, {"query": "nan"}, {"kind": "nan", "chosen": "loss-nan"}, {"kind": ""}]
    bad = [None, 3, {"kind": "other"}, {"chosen": "other"}, {"query": 3}]
    assert ask("is_state", good) == [True] * len(good)
    assert ask("is_state", bad) == [False] * len(bad)


@pytest.mark.parametrize("traits", [{"kind": "other"}, {"chosen": "other"}])
def test_what_is_not_there_is_refused(traits: dict[str, str]) -> None:
    with pytest.raises(traitlets.TraitError):
        SymptomFinder(**traits)


def test_words_and_picture_follow() -> None:
    widget = SymptomFinder()
    whole = widget.picture
    widget.query = "hangs"
    assert "for “hangs”" in widget.words
    assert len(widget.picture) < len(whole)
    ElementTree.fromstring(widget.picture)


# The figure among all figures


def sample() -> Sample:
    """How the test of all figures takes this one."""
    return Sample(
        make=SymptomFinder,
        act=fill("What do you see?", "training hangs"), acted={"query": "training hangs"},
        presets={symptom["key"]: {"chosen": symptom["key"]} for symptom in SYMPTOMS},
        linked={"query": "nan", "kind": "nan"}, broken=("=eyJraW5kIjoib3RoZXIifQ",),  # a kind that is not
        looks=(Look({"chosen": "ddp-hangs"}),), widths=(1280, 360),
    )  # fmt: skip
