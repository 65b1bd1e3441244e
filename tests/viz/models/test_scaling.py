"""ScalingCalculator: the formulas against a ring that is simulated, and the page's arithmetic against Python's."""

from __future__ import annotations

import dataclasses
import math
import random
import re
import subprocess
import sys
from typing import Any
from xml.etree import ElementTree

import pytest
import traitlets

from torchbook.viz import ScalingCalculator, units
from torchbook.viz import scaling as formulas

from ..asking import Ask
from ..samples import Look, Sample, both, fill, opening

HARNESS = "scaling"
SVG = "{http://www.w3.org/2000/svg}"
PRESETS = sorted(formulas.setup()["presets"])


def settings(count: int) -> list[dict[str, Any]]:
    """Random settings, their numbers spread over the sizes that the fields allow."""
    draw = random.Random(11)
    cases = []
    for _ in range(count):
        setting: dict[str, Any] = {}
        for name, of in formulas.setup()["fields"].items():
            low, high = max(of["low"], 1e-6), of["high"]
            value = math.exp(draw.uniform(math.log(low), math.log(high)))
            value = of["low"] if draw.random() < 0.04 else min(value, high)
            setting[name] = min(max(round(value), of["low"]), high) if of["whole"] else value
        cases.append({**setting, "rule": draw.choice(["linear", "sqrt", "none"])})
    return cases


def near(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-300)


# The formulas


def ring(gpus: int, chunks: int) -> tuple[list[list[int]], list[int], int]:
    """A ring all-reduce, message by message: sums on each GPU, elements over each link, rounds."""
    draw = random.Random(gpus)
    mine = [[draw.randrange(100) for _ in range(gpus * chunks)] for _ in range(gpus)]
    sums = [sum(column) for column in zip(*mine, strict=True)]
    sent, rounds = [0] * gpus, 0
    for phase in ("reduce", "gather"):
        for turn in range(gpus - 1):
            messages = []
            for gpu in range(gpus):
                piece = (gpu - turn + (phase == "gather")) % gpus
                part = slice(piece * chunks, (piece + 1) * chunks)
                messages.append(((gpu + 1) % gpus, part, mine[gpu][part]))
                sent[gpu] += chunks
            for to, part, values in messages:  # all at the same time
                old = mine[to][part]
                mine[to][part] = values if phase == "gather" else [a + b for a, b in zip(old, values, strict=True)]
            rounds += 1
    assert all(row == sums for row in mine)
    return mine, sent, rounds


@pytest.mark.parametrize("gpus", range(1, 17))
def test_ring_moves_what_the_formula_says(gpus: int) -> None:
    chunks, element, bandwidth, latency = 5, 4, 1e6, 1e-3
    _, sent, rounds = ring(gpus, chunks)
    size = gpus * chunks * element
    assert set(sent) == {(rounds * chunks)}
    by_hand = rounds * (chunks * element / bandwidth + latency)
    assert near(formulas.ring_allreduce_time(size, gpus, bandwidth, latency), by_hand)


@pytest.mark.parametrize("gpus", range(1, 12))
def test_naive_all_reduce_queues_at_one_link(gpus: int) -> None:
    size, bandwidth, latency = 7e6, 1e9, 2e-6
    gather = sum(size / bandwidth + latency for _ in range(gpus - 1))
    assert near(formulas.naive_allreduce_time(size, gpus, bandwidth, latency), 2 * gather)
    if gpus > 2:
        assert formulas.naive_allreduce_time(size, gpus, bandwidth) > formulas.ring_allreduce_time(
            size, gpus, bandwidth
        )


def test_example_of_the_chapter() -> None:
    shown = ScalingCalculator().results
    assert (shown.global_batch, shown.gradients) == (128, 1.4e9)
    assert shown.lr == pytest.approx(4e-4)
    assert shown.ring == pytest.approx(7.0e-3)
    assert shown.naive == pytest.approx(28e-3)
    assert round(shown.speedup, 2) == 3.68
    misread = ScalingCalculator(preset="both-directions").results
    assert misread.copy == pytest.approx(2.3333e-3, rel=1e-4)
    assert misread.ring == pytest.approx(3.5e-3)
    assert round(misread.speedup, 2) == 3.83
    assert round(4 * 80 / 3.7 - 80, 1) == 6.5


def test_more_time_to_hide_never_makes_a_step_longer() -> None:
    for setting in settings(300):
        steps = [formulas.results({**setting, "overlap": overlap}).step for overlap in (0, 20, 50, 100)]
        assert steps == sorted(steps, reverse=True)
        assert steps[-1] >= setting["compute_ms"] * 1e-3 * (1 - 1e-12)
        assert formulas.results(setting).speedup <= setting["gpus"] * (1 + 1e-12)


def test_one_gpu_waits_for_nobody() -> None:
    alone = formulas.results({**ScalingCalculator().setting, "gpus": 1, "latency_us": 100.0})
    assert (alone.ring, alone.naive, alone.speedup, alone.efficiency) == (0, 0, 1, 1)


def test_memory_of_adamw_is_what_torch_allocates() -> None:
    import torch

    model = torch.nn.Linear(100, 30)
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.ones(2, 100)).sum().backward()
    optimizer.step()
    held = [t for p in model.parameters() for t in (p, p.grad, *optimizer.state[p].values())]
    large = sum(t.nbytes for t in held if t.numel() > 1)
    assert large == formulas.adamw_bytes(sum(p.numel() for p in model.parameters()))


def test_unknown_rule_is_named() -> None:
    with pytest.raises(ValueError, match="no rule is called 'cubic'"):
        formulas.scaled_lr(1e-4, 4, "cubic")


# The page's arithmetic


def test_page_computes_what_python_computes(ask: Ask, examples: int) -> None:
    every = settings(examples)
    for setting, page in zip(every, ask("results", every), strict=True):
        for name, value in dataclasses.asdict(formulas.results(setting)).items():
            assert near(float(page[name]), float(value)), (name, setting)


def test_page_draws_the_same_curve(ask: Ask) -> None:
    every = settings(60)
    for setting, page in zip(every, ask("curve", every), strict=True):
        assert all(near(a, b) for a, b in zip(page, formulas.curve(setting), strict=True))


def test_page_says_what_python_says(ask: Ask, examples: int) -> None:
    every = settings(examples) + [ScalingCalculator(preset=name).setting for name in PRESETS]
    for setting, page in zip(every, ask("words", every), strict=True):
        assert page == formulas.describe(setting)


def test_numbers_are_written_alike(ask: Ask, examples: int) -> None:
    draw = random.Random(3)
    numbers = [math.exp(draw.uniform(-18, 34)) for _ in range(examples)]
    numbers += [0.0, 1.0, 9.995, 9.9949, 99.95, 999.5, 999.4, 1e3, 0.125, 2.345, 1e-4, 9.9995e-4, 1e-3, 0.5, 250.5, 1e9]
    for x, page in zip(numbers, ask("numbers", numbers), strict=True):
        rounded = math.floor(x + 0.5)
        python = [units.significant(x), units.plain(x), units.count(rounded), units.duration(x),
                  units.amount(x)]  # fmt: skip
        assert page == python, x


def test_three_digits() -> None:
    texts = [units.significant(x) for x in (0.0012345, 0.1, 9.996, 12.34, 99.96, 123.4, 1234.5, 87.0)]
    assert texts == ["0.00123", "0.100", "10.0", "12.3", "100", "123", "1235", "87.0"]


@pytest.mark.parametrize(
    ("text", "value"),
    [("350M", "350000000"), ("7B", "7000000000"), ("1.3e9", "1300000000"), ("350 million", "350000000"),
     ("1 000", "1000"), ("12,5", "12.5"), ("", "NaN"), ("x", "NaN"), ("4 apples", "NaN"), ("-1", "-1")],
)  # fmt: skip
def test_typed_numbers_are_read(ask: Ask, text: str, value: str) -> None:
    assert ask("read", [text]) == [value]


def test_fields_read_back_what_they_show(ask: Ask) -> None:
    pairs = [[name, setting[name]] for setting in settings(400) for name in formulas.setup()["fields"]]
    for (name, value), (shown, back) in zip(pairs, ask("typed", pairs), strict=True):
        assert back == value, (name, shown)


def test_copied_code_prints_the_same_numbers(ask: Ask, capsys: pytest.CaptureFixture[str]) -> None:
    every = settings(60) + [ScalingCalculator(preset=name).setting for name in PRESETS]
    for setting, code in zip(every, ask("script", every), strict=True):
        exec(compile(code, "copied", "exec"), {})
        printed = dict(line.split(" ", 1) for line in capsys.readouterr().out.splitlines())
        wanted = dataclasses.asdict(formulas.results(setting))
        assert set(printed) == set(wanted)
        for name, value in wanted.items():
            text = printed[name]
            assert near(float(text == "True" if isinstance(value, bool) else text), float(value)), name


def test_formulas_with_numbers_give_the_value_beside_them(ask: Ask) -> None:
    """Every formula of the page, computed from its text, agrees with its value up to the digits that are shown."""
    units = {"ms": 1e-3, "s": 1.0, "µs": 1e-6, "GB/s": 1e9, "GB": 1e9, "MB": 1e6, "TB": 1e12, "kB": 1e3, "B": 1,
             "million": 1e6, "billion": 1e9, "trillion": 1e12, "%": 0.01, "×": 1}  # fmt: skip

    def number(text: str) -> float:
        plain = re.sub(r"e−(\d+)", r"e-\1", text)
        for unit in sorted(units, key=len, reverse=True):
            pattern = r"([\d.]+)×" if unit == "×" else rf"([\d.]+)\s?{re.escape(unit)}(?![\w/])"
            plain = re.sub(pattern, rf"(\1*{units[unit]!r})", plain)
        python = plain.replace("×", "*").replace("÷", "/").replace("−", "-").replace("√", "math.sqrt ")
        python = re.sub(r"math\.sqrt (\d+)", r"math.sqrt(\1)", python)
        return float(eval(python, {"math": math, "min": min}))

    shown = [ScalingCalculator(preset=name).setting for name in PRESETS]
    shown += [ScalingCalculator(gpus=8, rule="sqrt", overlap=10, latency_us=5).setting]
    for rows in ask("values", shown):
        for name, value, formula in rows:
            assert math.isclose(number(value), number(formula), rel_tol=0.011, abs_tol=2e-5), (name, value, formula)


def test_claims_of_the_older_tutorial_are_computed_right(ask: Ask) -> None:
    text = " ".join(" ".join(claim) for claim in ask("claims", [0])[0])
    fast, each = 600e9, 300e9
    copy = formulas.copy_time(1.4e9, fast)
    wrong, right = formulas.ring_allreduce_time(1.4e9, 4, fast), formulas.ring_allreduce_time(1.4e9, 4, each)
    slow, fast_enough = (formulas.speedup(4, 0.08, formulas.step_time(0.08, ring)) for ring in (right, wrong))
    numbers = [copy * 1e3, formulas.naive_allreduce_time(1.4e9, 4, fast) * 1e3, wrong * 1e3, right * 1e3]
    told_as = [f"{x:.{digits}f} ms" for x, digits in zip(numbers, (2, 0, 1, 1), strict=True)]
    for number in [*told_as, f"{fast_enough:.2f}×", f"{slow:.2f}×", f"{4 * 80 / 3.7 - 80:.1f} ms"]:
        assert number in text


# The widget


def test_presets_and_links_set_the_numbers() -> None:
    w = ScalingCalculator(preset="ethernet", gpus=8)
    assert (w.bandwidth_gb, w.latency_us, w.gpus) == (12.5, 20, 8)
    assert ScalingCalculator(interconnect="nvlink-h100").bandwidth_gb == 450
    assert ScalingCalculator(interconnect="pcie4", bandwidth_gb=25.0).bandwidth_gb == 25


def test_notes_of_the_presets_are_true() -> None:
    hidden = ScalingCalculator(preset="overlapped").results
    assert (hidden.exposed, hidden.speedup) == (0, 4)
    wire = ScalingCalculator(preset="ethernet")
    assert wire.results.ring > 0.08 > wire.results.hidden
    small = ScalingCalculator(preset="small-model").results
    bytes_only = formulas.ring_allreduce_time(small.gradients, 64, 300e9)
    assert (2 * (64 - 1), bytes_only < 0.02 * small.ring) == (126, True)
    large = ScalingCalculator(preset="seven-billion").results
    assert (large.memory, large.fits) == (112e9, False)
    assert formulas.ring_allreduce_time(2, 4, 1) == 3  # 1.5 times the bytes


def test_mistakes_are_named_and_change_nothing() -> None:
    w = ScalingCalculator()
    with pytest.raises(traitlets.TraitError, match=r"gpus must be a whole number from 1 to 1024, not 0"):
        w.gpus = 0
    with pytest.raises(traitlets.TraitError, match="bandwidth_gb must be a number"):
        w.bandwidth_gb = -1.0
    with pytest.raises(ValueError, match="no preset is called 'none'"):
        ScalingCalculator(preset="none")
    with pytest.raises(ValueError, match="no link is called 'carrier pigeon'"):
        ScalingCalculator(interconnect="carrier pigeon")
    assert w.gpus == 4


def test_words_and_picture_follow() -> None:
    w = ScalingCalculator()
    assert "7.00 ms" in w.words
    w.gpus = 8
    assert "global batch 256" in w.words
    svg = ElementTree.fromstring(w.picture)
    assert svg.get("aria-label") == w.words
    assert len(svg.findall(f"{SVG}circle")) == 1
    w.gpus = 100
    assert not ElementTree.fromstring(w.picture).findall(f"{SVG}circle")


def test_import_leaves_torch_alone() -> None:
    code = "import sys, torchbook.viz.scaling, torchbook.viz.trace; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0


# The figure among all figures


def sample() -> Sample:
    """How the test of all figures takes this one."""
    return Sample(
        make=ScalingCalculator,
        act=fill("GPUs, K", "16", exact=False), acted={"gpus": 16},
        other={"gpus": 3},
        linked={"parameters": 123e6, "gpus": 7, "rule": "sqrt"},
        broken=("=eyJncHVzIjowfQ", "=eyJydWxlIjoiY3ViaWMifQ"),  # no GPU; a rule that is not
        looks=(Look({"overlap": 4.0}, both(fill("GPUs, K", "0", exact=False), opening)), Look({})),
        plain=({"preset": "overlapped"},),
    )  # fmt: skip
