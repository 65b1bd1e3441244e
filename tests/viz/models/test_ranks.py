"""RankStepper: its outcomes against four real processes with gloo; its words and states."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import traitlets

from torchbook.viz import RankStepper
from torchbook.viz import ranks as of

from ..asking import Ask
from ..samples import Look, Sample, pressing

HARNESS = "ranks"
PRESETS = [preset["set"]["programs"] for preset in of.setup()["presets"].values()]
QUICK, DEEP = 9, 24  # programs beside the presets


def edited(ask: Ask, count: int, seed: int = 1) -> list[str]:
    """Presets with one to three random edits."""
    draw = random.Random(seed)
    programs = []
    for _ in range(count):
        one = draw.choice(PRESETS[:4])
        for _ in range(draw.randrange(1, 4)):
            way = draw.choice(["remove", "repeat", "swap"])
            one = ask("edit", [[one, draw.randrange(4), draw.randrange(4), way]])[0] or one
        programs.append(one)
    return programs


def launched(programs: list[str], folder: Path) -> list[list[dict[str, Any]]]:
    """What real ranks saw."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo", "TORCH_FR_BUFFER_SIZE": "100"}
    command = [sys.executable, str(Path(__file__).with_name("ranks_ranks.py")), str(folder)]
    done = subprocess.run(
        command, input=json.dumps(programs), env=environment, capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def told(program: str, page: dict[str, Any], real: list[dict[str, Any]]) -> list[str]:
    """In what the page and real ranks differ."""
    differences = []
    for rank, (mine, seen) in enumerate(zip(page["ranks"], real, strict=True)):
        ends = {"timeout": ("timeout", "closed"), "closed": ("timeout", "closed")}.get(mine["end"], (mine["end"],))
        if seen["end"] not in ends or seen["done"] != mine["seq"]:
            differences.append(f"{program}: rank {rank} {mine['end']}, {mine['seq']} != {seen['end']}, {seen['done']}")
        if seen["end"] == "finished" and seen["held"] != {name: [x] for name, x in mine["held"].items()}:
            differences.append(f"{program}: rank {rank} holds {mine['held']} != {seen['held']}")
        sizes = [[[entry["size"]]] if entry["op"] != "barrier" else [[]] for entry in mine["log"]]
        log = [[e["seq"], f"gloo:{e['op']}", *size] for e, size in zip(mine["log"], sizes, strict=True)]
        log = [[seq, op, [size] if size else []] for seq, op, size in log]
        if seen["end"] != "aborted" and [entry[:3] for entry in seen["flight"]] != log:
            differences.append(f"{program}: rank {rank} recorded {log} != {seen['flight']}")
    if page["outcome"] == "hangs" and "timeout" not in {seen["end"] for seen in real}:
        differences.append(f"{program}: nobody timed out")
    return differences


def test_real_ranks_end_as_the_page_says(ask: Ask, tmp_path: Path, examples: int) -> None:
    programs = [*PRESETS, *edited(ask, examples)]
    pages = ask("run", programs)
    real = launched(programs, tmp_path)
    assert [line for one in zip(programs, pages, real, strict=True) for line in told(*one)] == []


def test_presets_end_as_their_labels_say(ask: Ask) -> None:
    ends = dict(zip(of.setup()["presets"], (page["outcome"] for page in ask("run", PRESETS)), strict=True))
    hanging = dict.fromkeys(("skip", "logging", "swapped", "sources", "uneven"), "hangs")
    assert ends == {"well": "finished", "silent": "wrong", "sizes": "aborted", "exits": "raised", **hanging}


def test_page_begins_with_what_python_says(ask: Ask) -> None:
    for programs, page in zip(PRESETS, ask("words", PRESETS), strict=True):
        assert page.startswith(f"{RankStepper(programs=programs).words} Step")


@pytest.mark.parametrize(("state", "right"), [
    ({}, True), ({"programs": "a a a a"}, True), ({"programs": "a a a"}, False), ({"programs": "q a a a"}, False),
    ({"programs": "aaaaaaa a a a"}, False), ({"step": -1}, False), ({"step": 3}, True), ({"other": 1}, False),
])  # fmt: skip
def test_only_states_that_can_be_shown_are_taken(ask: Ask, state: Any, right: bool) -> None:
    assert ask("state", [state]) == [right]
    if "other" not in state:
        try:
            RankStepper(**state)
        except traitlets.TraitError:
            assert not right
        else:
            assert right


def test_a_removed_call_comes_back(ask: Ask) -> None:
    assert ask("edit", [["ab a a a", 0, 1, "remove"], ["a-b a a a", 0, 1, "repeat"], ["ab a a a", 0, 1, "swap"]]) == [
        "a-b a a a", "ab a a a", None,
    ]  # fmt: skip


def sample() -> Sample:
    """How the test of all figures takes this one."""
    return Sample(
        make=RankStepper,
        act=pressing("Rank 0, call 4: barrier()"),
        acted="Rank 0: all_reduce(a), all_reduce(b), broadcast(w, 0). Rank 1",
        other={"programs": "ab ab ab a"},
        linked={"programs": "abc abc ac abc", "step": 3},
        broken=("=eyJzdGVwIjotMX0",),  # step -1
        looks=(Look({}), Look({"preset": "silent"}), Look({"preset": "well", "step": 4})),
        presets_of_python=False,
        says_what_python_says=False,
    )
