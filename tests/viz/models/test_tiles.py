"""TileExplorer: its products and its online softmax against torch, the page against both."""

from __future__ import annotations

import dataclasses
import math
import random
from typing import Any
from xml.etree import ElementTree

import pytest
import torch
import traitlets
from torch.nn import functional

from torchbook.viz import TileExplorer
from torchbook.viz import tiles as of

from ..asking import Ask
from ..samples import Look, Sample, pressing

HARNESS = "pipeline"
PRESETS = sorted(of.setup()["presets"])
CLOSE = {"rtol": 1e-12, "atol": 1e-12}


def cases(count: int, kind: str, seed: int = 2) -> list[list[Any]]:
    """Random settings, each with one of its steps."""
    draw = random.Random(seed)
    pairs = []
    for _ in range(count):
        setting: dict[str, Any] = {}
        for name, field in of.setup()["fields"].items():
            if not field["whole"]:
                continue
            setting[name] = draw.randint(field["low"], min(field["high"], 13) if name in "mnk" else field["high"])
        setting |= {"kind": kind, "order": draw.choice(["row", "grouped"]), "causal": draw.random() < 0.5}
        setting["gain"] = draw.choice([1.0, 1.0, 0.01, 7.5, 100.0, 1000.0])
        pairs.append([setting, draw.randrange(of.steps(setting))])
    return pairs


def tensor(rows: Any) -> torch.Tensor:
    return torch.tensor(rows, dtype=torch.float64)


def numbers(value: Any) -> Any:
    """What JSON cannot say: infinities."""
    if isinstance(value, dict):
        return {name: numbers(item) for name, item in value.items()}
    if isinstance(value, list):
        return [numbers(item) for item in value]
    return {"inf": math.inf, "-inf": -math.inf}.get(value, value) if isinstance(value, str) else value


# Products, of the page and of Python, against torch


def check_product(setting: dict[str, Any], step: int, actual: dict[str, Any]) -> None:
    a, b = map(tensor, of.operands(setting))
    bm, bn, bk = (setting[f"block_{axis}"] for axis in "mnk")
    rows = slice(actual["row"] * bm, (actual["row"] + 1) * bm)
    columns = slice(actual["column"] * bn, (actual["column"] + 1) * bn)
    until = (actual["depth"] + 1) * bk
    expected = a[rows, :until] @ b[:until, columns]
    got = tensor(actual["accumulator"])
    torch.testing.assert_close(got[: expected.shape[0], : expected.shape[1]], expected, **CLOSE)
    outside = torch.ones_like(got)
    outside[: expected.shape[0], : expected.shape[1]] = 0
    assert not (got * outside).any()
    assert actual["last"] == (until >= setting["k"])
    tile = tensor(actual["a"])[: expected.shape[0]]
    part = a[rows, actual["depth"] * bk : until]
    assert tile[:, : part.shape[1]].equal(part)


def test_product_is_that_of_torch(ask: Ask, examples: int) -> None:
    every = cases(examples // 2, "matmul")
    for (setting, step), page in zip(every, ask("product", every), strict=True):
        mine = dataclasses.asdict(of.product(setting, step))
        check_product(setting, step, mine)
        assert page == mine, (setting, step)


def test_all_tiles_together_are_the_product() -> None:
    for setting, _ in cases(60, "matmul", seed=3):
        a, b = map(tensor, of.operands(setting))
        bm, bn = setting["block_m"], setting["block_n"]
        c = torch.full((setting["m"], setting["n"]), torch.nan, dtype=torch.float64)
        for step in range(of.steps(setting)):
            now = of.product(setting, step)
            if now.last:
                part = c[now.row * bm : (now.row + 1) * bm, now.column * bn : (now.column + 1) * bn]
                assert part.isnan().all()
                part.copy_(tensor(now.accumulator)[: part.shape[0], : part.shape[1]])
        torch.testing.assert_close(c, a @ b, **CLOSE)


# The online softmax


def check_online(setting: dict[str, Any], step: int, actual: dict[str, Any]) -> None:
    q, k, v = map(tensor, of.heads(setting))
    scores = q @ k.T / setting["head_dim"] ** 0.5
    if setting["causal"]:
        scores.masked_fill_(~torch.ones_like(scores).tril().bool(), -torch.inf)
    until = min((actual["tile"] + 1) * setting["block_kv"], setting["tokens"])
    start = actual["tile"] * setting["block_kv"]
    full = functional.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=setting["causal"])[0]
    for row in actual["rows"]:
        seen = scores[row["query"], :until]
        before = scores[row["query"], :start]
        maximum = seen.max()
        close = {"rtol": 1e-12, "atol": 1e-12 * max(1.0, float(maximum.abs()))}
        torch.testing.assert_close(tensor(row["scores"]), seen[start:], **close)
        torch.testing.assert_close(tensor(row["maximum"]), maximum, **close)
        weights = torch.exp(seen - maximum)
        loose = {"rtol": 1e-12 * max(1.0, float(maximum.abs())), "atol": 1e-12}
        torch.testing.assert_close(tensor(row["weights"]), weights[start:], **loose)
        torch.testing.assert_close(tensor(row["total"]), weights.sum(), **loose)
        torch.testing.assert_close(tensor(row["accumulator"]), weights @ v[:until], **loose)
        expected = torch.exp(before.max() - maximum) if len(before) else tensor(0.0)
        torch.testing.assert_close(tensor(row["rescale"]), expected, **loose)
        if actual["last"]:
            torch.testing.assert_close(tensor(row["output"]), full[row["query"]], **loose)


def test_online_softmax_is_that_of_torch(ask: Ask, examples: int) -> None:
    every = cases(examples // 4, "attention")
    for (setting, step), page in zip(every, ask("online", every), strict=True):
        mine = dataclasses.asdict(of.online(setting, step))
        check_online(setting, step, mine)
        check_online(setting, step, numbers(page))
        assert [row["query"] for row in page["rows"]] == [row["query"] for row in mine["rows"]]
        assert (page["program"], page["tile"], page["last"]) == (mine["program"], mine["tile"], mine["last"])


def test_no_exponent_is_above_zero() -> None:
    for setting, step in cases(500, "attention", seed=5):
        for row in of.online(setting, step).rows:
            assert all(0 <= weight <= 1 for weight in row.weights)
            assert 0 <= row.rescale <= 1
            assert row.total >= 1


def test_large_scores_overflow_without_the_maximum() -> None:
    scores = [score for row in TileExplorer(preset="large").state.rows for score in row.scores]  # type: ignore[union-attr]
    assert max(scores) < 709
    all_of = [of.online(TileExplorer(preset="large").setting, step) for step in range(8)]
    assert max(score for state in all_of for row in state.rows for score in row.scores) > 300


def test_maximum_of_the_first_preset_rises_in_every_tile() -> None:
    setting = TileExplorer(preset="attention").setting
    first = [of.online(setting, step).rows[0] for step in range(4)]
    assert all(row.maximum > row.before for row in first)


# Order, cache, bytes


def cover(setting: dict[str, Any]) -> set[tuple[int, int]]:
    rows, columns = (-(-setting[axis] // setting[f"block_{axis}"]) for axis in "mn")
    return {(i, j) for i in range(rows) for j in range(columns)}


def test_each_tile_of_c_has_one_program() -> None:
    for setting, _ in cases(400, "matmul", seed=6):
        order = of.programs(setting)
        assert len(order) == len(set(order))
        assert set(order) == cover(setting)


def test_grouped_order_is_that_of_triton_s_tutorial() -> None:
    for setting, _ in cases(200, "matmul", seed=7):
        setting["order"] = "grouped"
        num_m, num_n = (-(-setting[axis] // setting[f"block_{axis}"]) for axis in "mn")
        for pid, place in enumerate(of.programs(setting)):
            num_pid_in_group = setting["group"] * num_n
            group_id = pid // num_pid_in_group
            first_pid_m = group_id * setting["group"]
            group_size_m = min(num_m - first_pid_m, setting["group"])
            assert place == (
                first_pid_m + ((pid % num_pid_in_group) % group_size_m),
                (pid % num_pid_in_group) // group_size_m,
            )


def test_first_nine_programs_load_90_or_54_tiles() -> None:
    assert of.traffic(TileExplorer(preset="row-order").setting, 80).tiles == 90
    assert of.traffic(TileExplorer(preset="grouped").setting, 80).tiles == 54
    row, grouped = (of.traffic(TileExplorer(preset=name).setting, 80) for name in ("row-order", "grouped"))
    assert (row.tiled, row.untiled) == (grouped.tiled, grouped.untiled)
    assert row.cached > 2 * grouped.cached


def test_note_of_the_row_order_is_true() -> None:
    """No tile of B is found in the cache again."""
    setting = TileExplorer(preset="row-order").setting
    loads = [load for now in of.loads(setting) for load in now]
    assert not any(load.hit for load in loads if load.matrix == "B")
    first = {(load.matrix, load.row, load.column) for load in loads[: 2 * 81]}
    assert [sum(key[0] == name for key in first) for name in "AB"] == [9, 81]


def test_bytes_are_what_the_formulas_say() -> None:
    for setting, step in cases(300, "matmul", seed=8):
        m, n, k = (setting[axis] for axis in "mnk")
        traffic = of.traffic(setting, step)
        rows, columns = (-(-setting[axis] // setting[f"block_{axis}"]) for axis in "mn")
        assert traffic.tiled == 4 * (m * k * columns + k * n * rows)
        assert traffic.least <= traffic.cached <= traffic.tiled <= traffic.untiled
        assert of.traffic({**setting, "cache": 0}, step).cached == traffic.tiled
        assert of.traffic(setting, of.steps(setting) - 1).sofar == traffic.cached
        assert of.traffic({**setting, "cache": 10**6}, step).cached == traffic.least


def test_cache_drops_what_was_not_used_for_longest() -> None:
    for setting, _ in cases(200, "matmul", seed=9):
        used: list[tuple[str, int, int]] = []
        for now in of.loads(setting):
            for load in now:
                key = (load.matrix, load.row, load.column)
                recent = list(dict.fromkeys(reversed(used)))[: setting["cache"]]
                assert load.hit == (key in recent)
                used.append(key)


def test_page_counts_the_same(ask: Ask) -> None:
    every = cases(300, "matmul", seed=10)
    for (setting, step), page in zip(every, ask("traffic", every), strict=True):
        assert page == dataclasses.asdict(of.traffic(setting, step))
    for (setting, _), page in zip(every, ask("loads", [options for options, _ in every]), strict=True):
        assert page == [[dataclasses.asdict(load) for load in now] for now in of.loads(setting)]
    for (setting, step), page in zip(every, ask("held", every), strict=True):
        keys = [(load.matrix, load.row, load.column) for now in of.loads(setting)[: step + 1] for load in now]
        kept = list(dict.fromkeys(reversed(keys)))[: setting["cache"]]
        assert {tuple(tile.values()) for tile in page} == set(kept)
    attention = cases(300, "attention", seed=11)
    for (setting, _), page in zip(attention, ask("passes", [options for options, _ in attention]), strict=True):
        assert page == dataclasses.asdict(of.passes(setting))


def test_skipped_tiles_are_those_with_nothing_to_see() -> None:
    for setting, _ in cases(300, "attention", seed=12):
        tokens, high, wide = setting["tokens"], setting["block_q"], setting["block_kv"]
        mask = torch.ones(tokens, tokens).tril() if setting["causal"] else torch.ones(tokens, tokens)
        tiles = {
            (i, j): mask[i * high : (i + 1) * high, j * wide : (j + 1) * wide]
            for i in range(-(-tokens // high))
            for j in range(-(-tokens // wide))
        }
        assert set(of.visits(setting)) == {place for place, part in tiles.items() if part.any()}
        passes = of.passes(setting)
        assert passes.skipped == sum(not part.any() for part in tiles.values())
        assert passes.masked == sum(bool(part.any()) and not bool(part.all()) for part in tiles.values())
        assert passes.computed == len(of.visits(setting))


# The page


def test_page_says_what_python_says(ask: Ask) -> None:
    every = [[*case, 1] for kind in ("matmul", "attention") for case in cases(500, kind, seed=13)]
    every += [[TileExplorer(preset=name).setting, TileExplorer(preset=name).step, 0] for name in PRESETS]
    for case, page in zip(every, ask("tile_words", every), strict=True):
        assert page == of.describe(*case), case


def test_numbers_are_written_alike(ask: Ask) -> None:
    draw = random.Random(4)
    every = [draw.choice([-1, 1]) * math.exp(draw.uniform(-40, 20)) for _ in range(3000)]
    every += [0.0, -0.0, 1e6, 999999.5, 5e-5, 4.9e-5, 1e-283, 12.0]
    for x, page in zip(every, ask("fixed", every), strict=True):
        assert page == of.fixed(x)
    assert of.fixed(-math.inf) == "−∞"


def test_program_buttons_go_to_first_steps(ask: Ask) -> None:
    for setting, step in cases(200, "attention", seed=14) + cases(100, "matmul", seed=15):
        depth = -(-setting["k"] // setting["block_k"])
        owner = [i for i, _ in of.visits(setting)] if setting["kind"] == "attention" else None
        program = owner or [at // depth for at in range(of.steps(setting))]
        on, back = ask("jump", [[setting, step, 1], [setting, step, -1]])
        later = [at for at, p in enumerate(program) if p > program[step]]
        assert on == (later[0] if later else len(program) - 1)
        assert back == (program.index(program[step] - 1) if program[step] else 0)


@pytest.mark.parametrize("kind", ["matmul", "attention"])
def test_copied_code_prints_the_step_and_agrees_with_torch(
    ask: Ask, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    every = cases(30, kind, seed=16)
    every = [case for case in every if case[0]["gain"] < 100]
    torch.set_printoptions(precision=4, sci_mode=False, threshold=10**6)
    for (setting, step), code in zip(every, ask("tile_script", every), strict=True):
        exec(compile(code, "copied", "exec"), {})
        printed = capsys.readouterr().out
        if kind == "matmul":
            now = of.product(setting, step)
            bm, bn = setting["block_m"], setting["block_n"]
            part = tensor(now.accumulator)[: setting["m"] - now.row * bm, : setting["n"] - now.column * bn]
            assert printed == f"{now.program}\n{part}\n"
        else:
            rows = of.online(setting, step).rows
            assert f"{tensor([row.accumulator for row in rows])}\n" in printed
    torch.set_printoptions(profile="default")


def test_states_of_links_are_checked(ask: Ask) -> None:
    good = [{"step": 3}, {"kind": "attention", "tokens": 5, "causal": True}, {"gain": 0.5}, {}]
    bad = [{"m": 0}, {"m": 25}, {"m": 2.5}, {"x": 1}, {"step": 8}, {"step": -1}, {"kind": "conv"}, {"gain": 0}, None, 3]
    assert ask("is_state", good) == [True] * len(good)
    assert not any(ask("is_state", bad))


# The widget


@pytest.mark.parametrize("preset", PRESETS)
def test_words_and_picture(preset: str) -> None:
    w = TileExplorer(preset=preset)
    assert ElementTree.fromstring(w.picture).get("aria-label") == w.words
    assert f"of {of.steps(w.setting)}:" in w.words


def test_words_and_picture_follow() -> None:
    w = TileExplorer()
    before = w.picture
    w.step = 3
    assert "Step 4 of 8" in w.words
    assert "writes the tile to C" in w.words
    assert w.picture != before
    w.kind = "attention"
    assert w.words.startswith("Attention of 8 tokens")
    w.step = 99
    assert "Step 4 of 4" in w.words


def test_mistakes_are_named() -> None:
    with pytest.raises(ValueError, match="no preset is called 'x'"):
        TileExplorer(preset="x")
    w = TileExplorer()
    with pytest.raises(traitlets.TraitError, match="block_m must be a whole number from 1 to 4, not 5"):
        w.block_m = 5
    with pytest.raises(traitlets.TraitError, match="step must be a whole number of at least 0, not -1"):
        w.step = -1
    with pytest.raises(traitlets.TraitError, match="gain must be a number"):
        w.gain = 0.0
    assert w.block_m == 4


# The figure among all figures


def sample() -> Sample:
    """How the test of all figures takes this one."""
    return Sample(
        make=TileExplorer,
        act=pressing("One step on"), acted={"step": 1},
        other={"m": 5},
        linked={"m": 9, "n": 5, "k": 7, "block_k": 3, "step": 6, "seed": 4},
        broken=("=eyJtIjowfQ", "=eyJzdGVwIjo5OX0"),  # M 0; step 99
        looks=tuple(Look({"preset": name}) for name in ("grouped", "ragged", "causal", "large")),
        plain=({"preset": "ragged"}, {"preset": "causal"}),
    )  # fmt: skip
