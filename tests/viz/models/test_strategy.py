"""StrategyTool: its estimates against the formulas they share and against torch, and the page against Python."""

from __future__ import annotations

import json
import math
import random
import re
import shutil
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import torch
import traitlets
from torch.utils.flop_counter import FlopCounterMode

from torchbook.viz import StrategyTool, memory, strategy
from torchbook.viz.cluster import groups_of, simulate, simulate_pipeline
from torchbook.viz.memory import Model
from torchbook.viz.strategy import Layout, communication, estimate, memory_per_gpu, plan, setting

from ..asking import Ask
from ..samples import Look, Sample, both, fill, opening
from . import strategy_ranks
from .launching import torchrun
from .reference_block import Transformer

DEEP = 1_200
HARNESS = "strategy"
SETUP = strategy.setup()
PRESETS = list(SETUP["presets"])
SMALL = Model(3, 64, 4, 2, 172, 500, 0, "llama", tied=False)


def settings(many: int, seed: int = 7) -> list[dict[str, Any]]:
    """Random settings: half of them anything that the fields allow, half of them like clusters that exist."""
    draw = random.Random(seed)
    configs = []
    for turn in range(many):
        config: dict[str, Any] = {}
        for name, of in SETUP["fields"].items():
            value = math.exp(draw.uniform(math.log(max(of["low"], 1e-2)), math.log(of["high"])))
            config[name] = min(max(round(value), of["low"]), of["high"]) if of["whole"] else max(value, of["low"])
        for name, of in SETUP["choices"].items():
            config[name] = draw.choice(of["of"])[0]
        if turn % 2:
            config |= SETUP["models"][draw.choice(list(SETUP["models"]))]["shape"]
            config |= {name: 2 ** draw.randint(*to) for name, to in
                    (("seq", (9, 19)), ("batch", (0, 5)), ("global_batch", (2, 12)), ("gpus_per_node", (0, 4)),
                     ("nodes", (0, 11)))}  # fmt: skip
            config |= {"memory_gb": draw.choice([16, 24, 40, 80, 141]), "intra_gb": draw.choice([32, 300, 450]),
                    "inter_gb": draw.choice([1.5625, 12.5, 50]), "latency_us": draw.choice([0, 2, 5, 20]),
                    "tflops": draw.choice([165, 312, 989]), "utilisation": draw.choice([30, 50])}  # fmt: skip
        configs.append(config)
    return configs


def shown(name: str) -> dict[str, Any]:
    of = SETUP["presets"][name]
    return setting(of["model"], **of["set"])


def near(a: float, b: float, scale: float = 0.0) -> bool:
    return math.isclose(a, b, rel_tol=1e-11, abs_tol=1e-11 * scale + 1e-15)


# What is shared with the other figures


@pytest.mark.parametrize("precision", ["fp32", "mixed", "bf16"])
@pytest.mark.parametrize("checkpoint", [False, True])
def test_ddp_holds_what_memory_budget_says(precision: str, checkpoint: bool) -> None:
    for name in SETUP["models"]:
        config = setting(name, precision=precision, checkpoint=checkpoint, seq=1024, batch=3)
        held = memory_per_gpu(config, Layout(replicate=8))
        budget = memory.budget(
            name, precision=strategy.UNSHARDED[precision], checkpoint=checkpoint, seq=1024, batch=3, gpus=8, zero=0
        )
        assert near(held.parameters, budget.weights)
        assert near(held.gradients, budget.gradients)
        assert near(held.optimizer, budget.optimizer)
        assert near(held.gathered, budget.copies)
        assert near(held.activations, budget.activations)
        assert near(held.logits, budget.logits)
        assert near(held.total, budget.total)


def test_sharding_divides_the_state_and_nothing_else() -> None:
    for config in settings(200):
        whole = memory_per_gpu({**config, "precision": "bf16"}, Layout(replicate=8))
        part = memory_per_gpu({**config, "precision": "bf16"}, Layout(shard=8))
        kept = memory_per_gpu({**config, "precision": "bf16"}, Layout(shard=8, reshard=False))
        for name in ("parameters", "gradients", "optimizer"):
            assert near(getattr(part, name) * 8, getattr(whole, name))
        assert part.activations == whole.activations == kept.activations
        assert kept.gathered >= part.gathered - 2 * strategy.share(strategy.shape_of(config), Layout(), True).block * 2


@pytest.mark.parametrize("ranks", [2, 8, 64])
def test_communication_is_that_of_the_simulator(ranks: int) -> None:
    """Where every parameter can be cut evenly, formula and simulation agree to the byte."""
    config = setting("8b", global_batch=ranks)
    groups = groups_of(memory.model_of("8b"))
    cases: tuple[tuple[Layout, str, dict[str, Any]], ...] = (
        (Layout(replicate=ranks), "ddp", {}),
        (Layout(shard=ranks), "fsdp", {"gather": 2, "reduce": 4}),
        (Layout(shard=ranks, reshard=False), "zero2", {"gather": 2, "reduce": 4}),
    )
    for layout, name, more in cases:
        step = simulate(name, groups, ranks, **more)
        transfers = communication(config, layout)
        assert sum(t.sent for t in transfers) == pytest.approx(step.sent[0], rel=1e-6)
        for kind in ("all-reduce", "all-gather", "reduce-scatter"):
            size = sum(t.size for t in transfers if t.kind == kind)
            assert size == pytest.approx(step.payload.get(kind.replace("-", "_"), 0))
            if kind != "all-reduce":
                assert sum(t.calls for t in transfers if t.kind == kind) == step.counts.get(kind.replace("-", "_"), 0)
        held = memory_per_gpu(config, layout)
        assert held.parameters + held.gradients + held.optimizer == pytest.approx(step.state[0])


def test_pipeline_sends_are_those_of_the_simulator() -> None:
    config = setting(replace(memory.model_of("8b"), layers=4), global_batch=6, seq=128)
    sends = [t for t in communication(config, Layout(pp=4)) if t.dim == "pp"]
    step = simulate_pipeline(4, 6, 128 * 4096, element=2)
    assert [t.sent for t in sends] == [max(step.sent)]
    assert sends[0].calls == max(step.messages)


def test_flops_are_those_of_the_flop_counter() -> None:
    net, ids = Transformer(SMALL, flash=False), torch.zeros(2, 32, dtype=torch.long)
    with FlopCounterMode(display=False) as counter:
        net(ids).sum().backward()
    config = setting(SMALL, seq=32)
    causal = 6 * SMALL.layers * SMALL.hidden * 32  # the counter sees the whole square, of which half is needed
    assert counter.get_total_flops() == 2 * 32 * (strategy.compute_flops(config) + causal)
    again = strategy.compute_flops({**config, "checkpoint": True}) - strategy.compute_flops(config)
    assert 3 * (again + 2 * SMALL.vocab * SMALL.hidden) == strategy.compute_flops(config)


# The tree


def test_presets_end_where_their_notes_say() -> None:
    ends = {"gpt2": "ddp", "1b": "zero2", "8b": "fsdp", "long": "cp", "70b": "fsdp", "wide": "tp", "405b": "3d"}
    assert {name: plan(shown(name)).strategy for name in PRESETS} == ends


def test_notes_of_the_presets_are_true() -> None:
    of = {name: plan(shown(name)).candidates for name in PRESETS}
    assert len(of["gpt2"]["ddp"].transfers) == 1
    held = of["1b"]["zero2"].memory
    assert not of["1b"]["ddp"].fits
    assert 2 * memory.parameters(memory.model_of("1b")).total < 24e9
    held = of["8b"]["fsdp"].memory
    assert 8 * (held.parameters + held.gradients + held.optimizer) == pytest.approx(128e9, rel=0.01)
    assert not of["8b"]["zero2"].fits
    candidate = of["70b"]["fsdp"]
    assert candidate.exposed == 0 < candidate.communication
    held = of["wide"]["fsdp"].memory
    assert held.parameters + held.gradients + held.optimizer < 72e9 < held.total
    assert strategy.share(memory.model_of("405b"), Layout(), True).block == pytest.approx(3.2e9, rel=0.02)
    held = of["long"]["fsdp"].memory
    assert held.total - held.activations - held.logits < 72e9 < held.activations
    candidate = of["405b"]["fsdp"]
    assert candidate.wide
    assert candidate.memory.parameters + candidate.memory.gradients + candidate.memory.optimizer < 1e9


def test_every_answer_is_that_of_its_numbers() -> None:
    for config in settings(400) + [shown(name) for name in PRESETS]:
        result = plan(config)
        limit = 0.9 * config["memory_gb"] * 1e9
        for step in result.steps:
            if step.key in ("fits", "barely", "shard", "tp", "cp") or (step.key == "3d" and "≤" in step.compare):
                assert step.yes == (step.left <= step.right) or step.compare == "none"
                assert step.right == limit
            if step.key == "sequence":
                assert step.yes == (step.left > step.right)
        chosen = result.chosen
        assert (chosen is None) == (result.strategy == "none")
        if chosen:
            assert chosen.fits
        world = config["gpus_per_node"] * config["nodes"]
        for name, other in result.candidates.items():
            assert other.layout.world == (1 if name == "single" else world)
            assert other.exposed >= 0
            assert other.step >= other.compute > 0
            parts = asdict(other.memory)
            assert near(parts.pop("total"), sum(v for k, v in parts.items() if k != "fits"))


def test_one_gpu_and_nothing_that_fits() -> None:
    assert plan(setting("gpt2", gpus_per_node=1)).strategy == "single"
    lost = plan(setting("8b", gpus_per_node=1))
    assert (lost.strategy, lost.chosen, lost.fastest) == ("none", None, "none")
    assert plan(setting("405b", gpus_per_node=8, nodes=1)).strategy == "none"


def test_links_of_a_group() -> None:
    config = setting(intra_gb=400, inter_gb=50, latency_us=5)
    assert strategy.link(config, 8, 1) == (400e9, 0)
    assert strategy.link(config, 16, 1) == pytest.approx((400e9, 5e-6))  # eight cards in each node
    assert strategy.link(config, 4, 8) == pytest.approx((50e9, 5e-6))
    assert strategy.link(config, 4, 4) == pytest.approx((100e9, 5e-6))


def test_published_layout_of_llama_405b_fits() -> None:
    """Llama 3.1 405B ran on 16 384 H100 with 8 × tensor, 16 × pipeline and 128 × sharded data parallelism."""
    candidate = estimate(shown("405b"), Layout(shard=128, tp=8, pp=16, reshard=False))
    assert candidate.fits
    assert candidate.micros == 16


# The page


def test_page_plans_what_python_plans(ask: Ask, examples: int) -> None:
    every = settings(examples) + [shown(name) for name in PRESETS]
    for start in range(0, len(every), 500):
        some = every[start : start + 500]
        for config, page in zip(some, ask("plan", some), strict=True):
            expected = plan(config)
            assert (page["strategy"], page["fastest"]) == (expected.strategy, expected.fastest), config
            assert [(s["key"], s["question"], s["yes"], s["compare"], s["told"]) for s in page["steps"]] == [
                (s.key, s.question, s.yes, s.compare, s.told) for s in expected.steps
            ]
            assert list(page["candidates"]) == list(expected.candidates)
            for name, python in expected.candidates.items():
                theirs, ours = page["candidates"][name], asdict(python)
                for key, value in ours["layout"].items():
                    assert theirs["layout"][key] == value
                for key, value in ours["memory"].items():
                    assert near(float(theirs["memory"][key]), float(value), ours["memory"]["total"]), (key, config)
                for a, b in zip(theirs["transfers"], ours["transfers"], strict=True):
                    for key, value in b.items():
                        assert a[key] == value if isinstance(value, str) else near(a[key], value), (key, config)
                for key in ("micros", "sequences", "wide", "compute", "bubble", "sent", "communication", "hidden",
                            "exposed", "step", "tokens_per_second"):  # fmt: skip
                    assert near(float(theirs[key]), float(ours[key]), ours["step"]), (key, name, config)


def test_page_says_what_python_says(ask: Ask, examples: int) -> None:
    every = [(config, "") for config in settings(examples // 4, 8)]
    every += [(shown(name), other) for name in PRESETS for other in ("", *strategy.STRATEGIES)]
    for (config, show), page in zip(every, ask("words", every), strict=True):
        assert page == strategy.describe(config, show)


def test_presets_and_names_are_those_of_python(ask: Ask) -> None:
    every = [StrategyTool(preset=name).setting for name in PRESETS]
    assert ask("start", PRESETS) == every == [shown(name) for name in PRESETS]
    assert [row[:2] for row in ask("names", every)] == [[name, SETUP["presets"][name]["model"]] for name in PRESETS]
    assert ask("names", [StrategyTool(model="8b", card="a100", seq=77).setting]) == [[None, "8b", "a100", "ib400"]]


@pytest.mark.parametrize(
    "degrees",
    [{"replicate": 4}, {"shard": 8}, {"replicate": 3, "shard": 4}, {"shard": 4, "cp": 2}, {"shard": 3, "tp": 4},
     {"shard": 2, "cp": 2, "tp": 2, "pp": 4, "replicate": 2}],
)  # fmt: skip
def test_parts_lie_where_the_mesh_puts_them_and_fill_the_model(ask: Ask, degrees: dict[str, Any]) -> None:
    pp, replicate, shard, cp, tp = (degrees.get(name, 1) for name in ("pp", "replicate", "shard", "cp", "tp"))
    mesh = torch.arange(pp * replicate * shard * cp * tp).view(pp, replicate, shard * cp, tp)
    parts = ask("part", [[rank, degrees] for rank in range(mesh.numel())])
    for stage, replica, piece, column in torch.cartesian_prod(*map(torch.arange, mesh.shape)).tolist():
        part = parts[mesh[stage, replica, piece, column]]
        assert part["y"] == pytest.approx(stage / pp)
        assert part["slice"] == pytest.approx(column / tp)
        assert part["x"] == pytest.approx(column / tp + piece / (tp * shard * cp))
        data, sequence = replica * shard + piece // cp, piece % cp
        assert part["from"] == pytest.approx((data + sequence / cp) / (replicate * shard))
    area = sum(part["width"] * part["height"] for part in parts)
    assert area == pytest.approx(replicate)  # each replica holds the model once
    assert sum(part["tokens"] for part in parts) == pytest.approx(tp * pp)  # these see the same tokens
    assert {part["piece"] for part in parts} == set(range(parts[0]["pieces"]))
    for rank, part in enumerate(parts):
        ours = asdict(strategy.part_of(rank, Layout(**degrees)))
        ours["from"] = ours.pop("start")
        assert {name: part[name] for name in ours} == pytest.approx(ours)


def test_peers_are_those_of_the_mesh(ask: Ask) -> None:
    """Every group of every candidate: its ranks, the bytes of its collectives, and whether a node holds it."""
    for name in ("long", "70b", "wide", "405b"):
        config = shown(name)
        for kind, candidate in strategy.candidates(config).items():
            layout = candidate.layout
            sizes = [layout.pp, layout.replicate, layout.shard, layout.cp, layout.tp]
            mesh = torch.arange(layout.world).view(sizes)
            ranks = sorted({0, layout.world // 3, layout.world - 1})
            for rank, groups in zip(ranks, ask("peers", [[rank, config, kind] for rank in ranks]), strict=True):
                pp, replicate, shard, cp, tp = torch.unravel_index(torch.tensor(rank), sizes)
                every = {
                    "pp": mesh[:, replicate, shard, cp, tp], "replicate": mesh[pp, :, shard, cp, tp],
                    "shard": mesh[pp, replicate, :, :, tp].flatten(), "cp": mesh[pp, replicate, shard, :, tp],
                    "tp": mesh[pp, replicate, shard, cp, :],
                }  # fmt: skip
                assert {group["dim"] for group in groups} == {t.dim for t in candidate.transfers}
                for group in groups:
                    members = every[group["dim"]].tolist()
                    if group["dim"] == "pp":
                        at = members.index(rank)
                        looped = strategy.chunks(config, layout) > 1
                        stages = [i % layout.pp for i in (at - 1, at + 1) if looped or 0 <= i < layout.pp]
                        members = [rank, *(members[i] for i in stages)]
                    assert set(group["ranks"]) == set(members) - {rank}
                    assert near(group["sent"], sum(t.sent for t in candidate.transfers if t.dim == group["dim"]))
                    node = config["gpus_per_node"]
                    assert group["near"] == (len({member // node for member in every[group["dim"]].tolist()}) == 1)


def test_formulas_with_numbers_give_the_value_beside_them(ask: Ask) -> None:
    """Every formula of the page, computed from its text, agrees with its value up to the digits that are shown."""
    units = {"GB": 1e9, "MB": 1e6, "TB": 1e12, "kB": 1e3, "B": 1, "million": 1e6, "billion": 1e9, "trillion": 1e12,
             "k tokens/s": 1e3, "M tokens/s": 1e6, "G tokens/s": 1e9, "tokens/s": 1, "ms": 1e-3, "µs": 1e-6,
             "s": 1}  # fmt: skip

    def number(text: str) -> float:
        for unit in sorted(units, key=len, reverse=True):
            text = re.sub(rf"([\d.]+(?:e-?\d+)?)\s{unit}(?!\w)", rf"(\1*{units[unit]!r})", text)
            text = re.sub(rf"\)\s{unit}(?!\w)", f")*{units[unit]!r}", text)
        return float(eval(text.replace("×", "*").replace("÷", "/").replace("−", "-"), {}))

    configs = [shown(name) for name in PRESETS]
    configs += [{**config, **more} for config in configs for more in
              ({"precision": "fp32", "optimizer": "momentum"},
               {"precision": "bf16", "optimizer": "sgd", "flash": False},
               {"checkpoint": False, "optimizer": "adamw8", "batch": 2}, {"nodes": 16, "layers": 5})]  # fmt: skip
    seen = 0
    for config, every in zip(configs, ask("rows", configs), strict=True):
        for rows in every:
            for name, value, formula in rows:
                if not formula:
                    continue
                wanted, got = number(value), number(formula)
                assert math.isclose(got, wanted, rel_tol=0.02, abs_tol=1e-3), (name, value, formula, config)
                seen += 1
    assert seen > 2000


# The code that is given away


def small(**more: Any) -> dict[str, Any]:
    shape = Model(4, 32, 4, 4, 64, 64, 0, "llama", tied=False)
    return setting(shape, **{"seq": 16, "batch": 2, "global_batch": 16, "gpus_per_node": 4, **more})


def test_copied_code_compiles_everywhere(ask: Ask) -> None:
    every = [
        (config, name) for config in [*settings(300, 9), *map(shown, PRESETS)] for name in strategy.candidates(config)
    ]
    for (config, name), code in zip(every, ask("script", every), strict=True):
        compile(code, name, "exec")
        world = config["gpus_per_node"] * config["nodes"]
        assert code.startswith("# python train.py" if name == "single" else "# torchrun "), (world, name)


def test_copied_code_trains_on_four_ranks(ask: Ask, tmp_path: Path) -> None:
    """Every strategy but context parallelism, whose causal attention gloo's build lacks, finds the loss of one rank."""
    cases = [(f"{name} {precision}", small(precision=precision), name)
             for name in ("ddp", "zero2", "fsdp", "tp", "3d") for precision in ("fp32", "mixed")]  # fmt: skip
    cases.append(("hsdp mixed", small(gpus_per_node=2, nodes=2), "hsdp"))
    scripts = ask("script", [(config, name) for _, config, name in cases])
    jobs = {key: (code, 8 if name == "3d" else 2, 16) for (key, _, name), code in zip(cases, scripts, strict=True)}
    (tmp_path / "scripts.json").write_text(json.dumps(jobs))
    torchrun(Path(shutil.copy(Path(__file__).with_name("strategy_ranks.py"), tmp_path)), 4)
    ranks = [json.loads((tmp_path / f"losses{rank}.json").read_text()) for rank in range(4)]
    for key, (_, batch, seq) in jobs.items():
        torch.manual_seed(0)
        net = strategy_ranks.Net()
        ids = torch.randint(64, (batch, seq + 1), generator=torch.Generator().manual_seed(1))
        wanted = float(strategy_ranks.loss_fn(net(ids[:, :-1]), ids[:, 1:]).detach())
        losses = [rank_losses[key] for rank_losses in ranks if not math.isnan(rank_losses[key])]
        assert len(losses) == (2 if key.startswith("3d") else 4)  # the last of two stages, on two ranks
        assert losses == pytest.approx([wanted] * len(losses), abs=1e-5 if "fp32" in key else 0.02), key


# The widget


def test_a_preset_a_model_and_a_card_set_the_numbers() -> None:
    w = StrategyTool(preset="70b", nodes=16)
    assert (w.layers, w.nodes, w.checkpoint) == (80, 16, True)
    w = StrategyTool(card="rtx4090", model="1b")
    assert (w.memory_gb, w.layers) == (24, 16)


def test_mistakes_are_named_and_change_nothing() -> None:
    w = StrategyTool()
    with pytest.raises(traitlets.TraitError, match="nodes must be a whole number from 1 to 10000, not 0"):
        w.nodes = 0
    for wrong in ({"preset": "none"}, {"model": "gpt5"}, {"card": "tpu"}):
        with pytest.raises(ValueError, match="is called"):
            StrategyTool(**wrong)
    with pytest.raises(ValueError, match="there is no setting 'gpus'"):
        setting("8b", gpus=8)
    assert w.nodes == 1


def test_words_and_picture_follow() -> None:
    w = StrategyTool(preset="8b")
    assert "The tree ends at fully sharded" in w.words
    w.memory_gb = 80
    assert "The tree ends at sharded optimizer" in w.words
    w.show = "ddp"
    assert "Shown instead is DDP" in w.words
    svg = ElementTree.fromstring(w.picture)
    assert svg.get("aria-label") == w.words
    space = "{http://www.w3.org/2000/svg}"
    assert len(svg.findall(f"{space}g")) == 8  # GPUs, each with what it keeps and what it sees
    assert len(svg.findall(f"{space}g/{space}rect")) == 3 * 8
    assert sum("too much" in (label.text or "") for label in svg.iter(f"{space}text")) == 1


def test_import_leaves_torch_alone() -> None:
    code = "import sys, torchbook.viz.strategy, torchbook.viz.cluster; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0


# The figure among all figures


def sample() -> Sample:
    """How the test of all figures takes this one."""
    return Sample(
        make=StrategyTool,
        act=fill("nodes", "16"), acted={"nodes": 16},
        other={"nodes": 3, "show": "ddp"},
        linked={"preset": "70b", "nodes": 7, "show": "tp"},
        broken=("=eyJub2RlcyI6MH0", "=eyJzaG93IjoieCJ9", "=eyJ4IjoxfQ"),  # no node; a strategy and a field that are not
        looks=(Look({"preset": "405b"}, both(fill("nodes", "0"), opening)), Look({})),
        plain=({"preset": "long"},),
    )  # fmt: skip
