"""MemoryBudget: the formulas against what torch holds, and the page's arithmetic against Python's."""

from __future__ import annotations

import dataclasses
import math
import random
import re
import subprocess
import sys
import weakref
from typing import Any
from xml.etree import ElementTree

import pytest
import torch
import traitlets
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from torchbook.viz import MemoryBudget, memory
from torchbook.viz.memory import Model

from ..asking import Ask
from ..samples import Look, Sample, both, fill, opening, pressing
from .reference_block import Block, Transformer, saved_bytes

HARNESS = "memory"
SVG = "{http://www.w3.org/2000/svg}"
SETUP = memory.setup()
MODELS = {name: Model(**of["shape"]) for name, of in SETUP["models"].items()}
PRESETS = sorted(SETUP["presets"])


def settings(count: int) -> list[dict[str, Any]]:
    """Random settings, their numbers spread over the sizes that the fields allow."""
    draw = random.Random(7)
    cases = []
    for _ in range(count):
        setting: dict[str, Any] = {}
        for name, of in SETUP["fields"].items():
            value = math.exp(draw.uniform(math.log(max(of["low"], 1)), math.log(of["high"])))
            value = of["low"] if draw.random() < 0.05 else value
            setting[name] = min(max(round(value), of["low"]), of["high"]) if of["whole"] else value
        for name, of in SETUP["choices"].items():
            setting[name] = draw.choice(of["of"])[0]
        cases.append(setting)
    return cases


def near(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-3)  # a thousandth of a byte, where room is a difference


# Parameters, against modules

SMALL = [
    Model(3, 64, 4, 4, 256, 500, 256, "gpt", tied=True),
    Model(2, 96, 6, 2, 384, 300, 0, "gpt", tied=False),
    Model(3, 64, 4, 4, 172, 500, 0, "llama", tied=False),
    Model(2, 128, 8, 2, 352, 400, 0, "llama", tied=True),
    Model(1, 96, 6, 1, 256, 700, 0, "llama", tied=False),
]
NAMED = [f"{m.family}-{m.hidden}-{m.heads}-{m.kv_heads}" for m in SMALL]


def total(module: Any) -> int:
    return sum(p.numel() for p in module.parameters())


@pytest.mark.parametrize("model", SMALL, ids=NAMED)
def test_parameters_are_those_of_a_module(model: Model) -> None:
    with torch.device("meta"):
        net = Transformer(model)
    p = memory.parameters(model)
    assert p.total == total(net)
    assert p.block == total(net.blocks[0])
    assert p.matrices == sum(w.numel() for w in net.blocks.parameters() if w.ndim == 2)
    assert p.norms == total(net.blocks[0].norm1) + total(net.blocks[0].norm2)
    assert p.final == total(net.norm)


@pytest.mark.parametrize("name", MODELS)
def test_parameters_are_those_of_transformers(name: str) -> None:
    from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

    m = MODELS[name]
    gpt = {"n_positions": m.positions, "n_embd": m.hidden, "n_layer": m.layers, "n_head": m.heads, "n_inner": m.ffn}
    llama = {"hidden_size": m.hidden, "intermediate_size": m.ffn, "num_hidden_layers": m.layers,
             "num_attention_heads": m.heads, "num_key_value_heads": m.kv_heads,
             "tie_word_embeddings": m.tied}  # fmt: skip
    with torch.device("meta"):
        if m.family == "gpt":
            net: Any = GPT2LMHeadModel(GPT2Config(vocab_size=m.vocab, **gpt))
        else:
            net = LlamaForCausalLM(LlamaConfig(vocab_size=m.vocab, **llama))
    net.tie_weights()
    assert memory.parameters(m).total == total(net)


def test_parameters_are_the_published_ones() -> None:
    published = {
        "gpt2": 124_439_808,
        "1b": 1_235_814_400,
        "3b": 3_212_749_824,
        "7b": 6_738_415_616,
        "8b": 8_030_261_248,
        "13b": 13_015_864_320,
        "70b": 70_553_706_496,
        "405b": 405_853_388_800,
    }
    assert {name: memory.parameters(model).total for name, model in MODELS.items()} == published


@pytest.mark.parametrize("targets", ["attention", "all"])
@pytest.mark.parametrize("model", SMALL, ids=NAMED)
def test_adapters_stand_beside_the_matrices(model: Model, targets: str) -> None:
    with torch.device("meta"):
        block = Block(model, flash=True)
    linears = {name: m for name, m in block.named_modules() if isinstance(m, torch.nn.Linear)}
    chosen = [m for name, m in linears.items() if targets == "all" or name in ("qkv", "q", "k", "v", "proj")]
    pairs = [torch.nn.Linear(m.in_features, 4, bias=False, device="meta") for m in chosen]
    pairs += [torch.nn.Linear(4, m.out_features, bias=False, device="meta") for m in chosen]
    assert memory.adapter_parameters(model, 4, targets) == model.layers * sum(map(total, pairs))


@pytest.mark.parametrize("model", SMALL, ids=NAMED)
def test_frozen_weights_in_few_bits(model: Model) -> None:
    net = Transformer(model).bfloat16()
    inside = [m for m in net.blocks.modules() if isinstance(m, torch.nn.Linear)]
    plain = sum(p.nbytes for p in net.parameters())
    assert memory.frozen_bytes(model, 16, 2) == plain
    rest = plain - sum(m.weight.nbytes for m in inside)
    absmax = [m.weight.float().abs().amax(1, keepdim=True) for m in inside]
    rounded = [(m.weight / scale * 127).round().to(torch.int8) for m, scale in zip(inside, absmax, strict=True)]
    assert memory.frozen_bytes(model, 8, 2) == rest + sum(t.nbytes for t in [*absmax, *rounded])
    halves = [torch.empty(m.weight.numel() // 2, dtype=torch.uint8) for m in inside]
    scales = [torch.empty(m.weight.numel() // 64) for m in inside]
    assert memory.frozen_bytes(model, 4, 2) == rest + sum(t.nbytes for t in [*halves, *scales])


# Gradients and optimizer states, against torch


def optimizers(name: str, net: Transformer) -> list[torch.optim.Optimizer]:
    matrices = [p for p in net.blocks.parameters() if p.ndim == 2]
    rest = [p for p in net.parameters() if all(p is not other for other in matrices)]
    if name == "muon":
        return [torch.optim.Muon(matrices, lr=1e-3), torch.optim.AdamW(rest)]
    momentum = 0.9 if name == "momentum" else 0
    return [
        torch.optim.AdamW(net.parameters()) if name == "adamw" else torch.optim.SGD(net.parameters(), 1e-3, momentum)
    ]


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("name", ["sgd", "momentum", "adamw", "muon"])
@pytest.mark.parametrize("model", SMALL[1:4:2], ids=NAMED[1:4:2])
def test_states_and_gradients_are_what_torch_allocates(model: Model, name: str, precision: str) -> None:
    net = Transformer(model)
    if precision == "bf16":
        net = net.bfloat16()
    net(torch.zeros(1, 4, dtype=torch.long)).sum().backward()
    setting = {**MemoryBudget(precision=precision, optimizer=name, **dataclasses.asdict(model)).setting, "batch": 1}
    predicted = memory.results(setting)
    assert predicted.weights == sum(p.nbytes for p in net.parameters())
    assert predicted.gradients == sum(p.grad.nbytes for p in net.parameters() if p.grad is not None)
    states = 0
    for optimizer in optimizers(name, net):
        optimizer.step()
        held = [t for state in optimizer.state.values() for t in state.values() if isinstance(t, torch.Tensor)]
        states += sum(t.nbytes for t in held if t.ndim)  # not AdamW's step, a number for each tensor
    assert predicted.optimizer == states


def test_eight_bit_states_are_a_byte_and_a_scale_per_block() -> None:
    elements = 512 * 512
    codes, scales = torch.empty(elements, dtype=torch.uint8), torch.empty(elements // 256)
    assert memory.optimizer_bytes(elements, 0, "adamw8") == 2 * (codes.nbytes + scales.nbytes)


def test_unknown_optimizer_is_named() -> None:
    with pytest.raises(ValueError, match="no optimizer is called 'lion'"):
        memory.optimizer_bytes(1, 0, "lion")


# Activations, against what autograd saves


def ready(model: Model, precision: str, flash: bool) -> Transformer:
    net = Transformer(model, flash)
    return net if precision in ("fp32", "autocast") else net.bfloat16()


def casting(precision: str) -> torch.autocast:
    return torch.autocast("cpu", torch.bfloat16, enabled=precision == "autocast")


@pytest.mark.parametrize("precision", ["fp32", "autocast", "bf16"])
@pytest.mark.parametrize(
    ("batch", "seq", "flash"),
    [(4, 128, True), (1, 256, True), (7, 48, True), (4, 128, False), (2, 256, False), (7, 48, False)],
)
@pytest.mark.parametrize("model", SMALL, ids=NAMED)
def test_saved_for_backward(model: Model, batch: int, seq: int, precision: str, flash: bool) -> None:
    """The whole network and its loss: within 2 per cent. Constants (mask, rotary tables) are what is missing."""
    if model.positions and seq > model.positions:
        pytest.skip(reason="fewer positions than tokens")
    net = ready(model, precision, flash)
    ids = torch.randint(model.vocab, (batch, seq))
    own = {p.untyped_storage().data_ptr() for p in net.parameters()}
    logits: list[torch.Tensor] = []

    def run() -> torch.Tensor:
        with casting(precision):
            logits.append(net(ids))
            return functional.cross_entropy(logits[0].view(-1, model.vocab), ids.view(-1))

    saved, _ = saved_bytes(run, lambda t: t.untyped_storage().data_ptr() in own)
    constants = seq * (model.hidden // model.heads) * 2 * 4 * (model.family == "llama") + seq * seq * (not flash)
    copies = memory.autocast_copies(model) if precision == "autocast" else 0
    predicted = memory.activations(model, batch, seq, precision, flash) + memory.logits_bytes(
        model, batch, seq, precision
    )
    measured = saved + logits[0].nbytes
    assert predicted + copies == pytest.approx(measured, rel=0.05)
    assert predicted + copies == pytest.approx(measured, abs=0.01 * measured + model.layers * constants)


@pytest.mark.parametrize("flash", [True, False], ids=["flash", "written out"])
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("model", SMALL, ids=NAMED)
def test_one_block_saves_what_its_formula_says(model: Model, precision: str, flash: bool) -> None:
    net = ready(model, precision, flash)
    block, seq = net.blocks[0], 64
    own = {p.untyped_storage().data_ptr() for p in net.parameters()}
    x = torch.randn(8, seq, model.hidden, dtype=net.head.weight.dtype, requires_grad=True)
    saved, _ = saved_bytes(lambda: block(x, net.turn(seq)), lambda t: t.untyped_storage().data_ptr() in own)
    assert memory.block_activations(model, 8, seq, precision, flash) == pytest.approx(saved, rel=0.03)


class Live(TorchDispatchMode):
    """Bytes of the storages that ops made and that are still alive."""

    def __init__(self) -> None:
        super().__init__()
        self.alive: dict[int, int] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        inputs = {t.untyped_storage()._cdata for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)}
        for t in tree_leaves(out):
            if isinstance(t, torch.Tensor):
                storage = t.untyped_storage()
                key = storage._cdata
                if key not in self.alive and key not in inputs:
                    self.alive[key] = storage.nbytes()
                    weakref.finalize(storage, self.alive.pop, key, None)
        return out

    @property
    def bytes(self) -> int:
        return sum(self.alive.values())


@pytest.mark.parametrize("checkpointed", [False, True], ids=["all kept", "checkpointed"])
@pytest.mark.parametrize("model", SMALL, ids=NAMED)
def test_alive_at_the_end_of_the_forward(model: Model, checkpointed: bool) -> None:
    """All that the forward leaves alive, with checkpoints too; the block that is computed again is not there yet."""
    batch, seq = 4, 128
    net, ids = Transformer(model, checkpointed=checkpointed), torch.randint(model.vocab, (batch, seq))
    with Live() as live:
        logits = net(ids)
        loss = functional.cross_entropy(logits.view(-1, model.vocab), ids.view(-1))
    predicted = memory.activations(model, batch, seq, checkpoint=checkpointed) + memory.logits_bytes(model, batch, seq)
    if checkpointed:
        predicted -= memory.block_activations(model, batch, seq) - batch * seq * model.hidden * 4
    turns = 2 * seq * (model.hidden // model.heads) * 4 * (model.family == "llama")
    assert predicted == pytest.approx(live.bytes - turns, rel=0.02)
    loss.backward()


class Peak(Live):
    top = 0

    def __torch_dispatch__(self, *args: Any, **more: Any) -> Any:
        out = super().__torch_dispatch__(*args, **more)
        self.top = max(self.top, self.bytes)
        return out


@pytest.mark.parametrize("checkpointed", [False, True], ids=["all kept", "checkpointed"])
@pytest.mark.parametrize("model", SMALL[::3], ids=NAMED[::3])
def test_the_sum_is_about_the_peak_of_a_step_or_above_it(model: Model, checkpointed: bool) -> None:
    net, ids = Transformer(model, checkpointed=checkpointed), torch.randint(model.vocab, (4, 128))
    with Peak() as peak:
        functional.cross_entropy(net(ids).view(-1, model.vocab), ids.view(-1)).backward()
    held = 3 * 4 * memory.parameters(model).total  # weights and AdamW's moments
    predicted = memory.budget(model, precision="fp32", batch=4, seq=128, checkpoint=checkpointed).total
    assert 0.7 * predicted < held + peak.top < 1.05 * predicted


def test_checkpointing_changes_no_gradient() -> None:
    model, ids = SMALL[3], torch.randint(400, (2, 16))
    nets = [Transformer(model, checkpointed=checkpointed) for checkpointed in (False, True)]
    nets[1].load_state_dict(nets[0].state_dict())
    for net in nets:
        net(ids).square().mean().backward()
    for a, b in zip(*(net.parameters() for net in nets), strict=True):
        assert torch.equal(a.grad, b.grad)  # type: ignore[arg-type]


def test_reference_norm_is_right() -> None:
    from .reference_block import FusedRMSNorm

    x, w = (torch.randn(*s, dtype=torch.double, requires_grad=True) for s in ((3, 8), (8,)))
    other = [t.detach().clone().requires_grad_() for t in (x, w)]
    ours, theirs = FusedRMSNorm.apply(x, w), functional.rms_norm(other[0], (8,), other[1], 1e-6)
    assert torch.allclose(ours, theirs, atol=1e-6)
    for y in (ours, theirs):
        y.square().sum().backward()
    for a, b in zip((x, w), other, strict=True):
        assert torch.allclose(a.grad, b.grad, rtol=1e-4, atol=1e-5)  # type: ignore[arg-type]


def test_cache_is_that_of_transformers() -> None:
    from transformers import LlamaConfig, LlamaForCausalLM

    m = Model(3, 64, 4, 2, 128, 100)
    config = LlamaConfig(vocab_size=100, hidden_size=64, intermediate_size=128, num_hidden_layers=3,
                         num_attention_heads=4, num_key_value_heads=2)  # fmt: skip
    net = LlamaForCausalLM(config).eval()
    with torch.no_grad():
        held = net(torch.zeros(5, 17, dtype=torch.long), use_cache=True).past_key_values
    size = sum(layer.keys.nbytes + layer.values.nbytes for layer in held.layers)
    assert memory.kv_cache_bytes(m, 5, 17, 4) == size


# What follows


def test_sharding_divides_and_changes_nothing_else() -> None:
    for setting in settings(400):
        setting = {**setting, "mode": "train", "gpus": setting["gpus"] + 1}
        none, first, second, third = (memory.results({**setting, "zero": zero}) for zero in range(4))
        assert near(first.optimizer * setting["gpus"], none.optimizer)
        assert (first.gradients, first.weights) == (none.gradients, none.weights)
        assert near(second.gradients * setting["gpus"], none.gradients)
        assert near(third.weights * setting["gpus"], none.weights)
        assert third.activations == none.activations
        whole = (none.weights + none.copies) * memory.parameters(Model(**{n: setting[n] for n in memory.SHAPE})).block
        assert third.gathered < 2 * whole / none.parameters


def test_changes_do_what_they_say() -> None:
    for setting in settings(300):
        now = memory.results(setting)
        for change in memory.changes(setting):
            after = memory.results({**setting, **change.set})
            assert (after.total, after.fits) == (change.total, change.fits)
            assert after.total < now.total
        first = memory.first_change(setting)
        assert (first is None) == (now.fits or not memory.changes(setting))


def test_notes_of_the_presets_are_true() -> None:
    of = {name: MemoryBudget(preset=name) for name in PRESETS}
    shown = {name: w.results for name, w in of.items()}
    p = shown["gpt2"]
    probabilities = 12 * 8 * 1024 * 12 * 1024 * 4
    assert probabilities > 0.45 * p.activations > 4 * p.weights
    p = shown["1b"]
    assert p.weights + p.gradients + p.optimizer == 16 * p.parameters
    assert p.copies == pytest.approx(2 * p.parameters, rel=1e-3)
    assert p.logits > 0.4 * p.activations
    assert not p.fits
    p = shown["8b"]
    assert p.gradients + p.optimizer == 12 * p.parameters > 80e9
    assert shown["8b-sharded"].fits
    p = shown["8b-qlora"]
    assert 0.0045 < p.trained / p.parameters < 0.0055
    assert p.fits
    p = shown["13b"]
    assert p.cache == pytest.approx(p.weights / 2, rel=0.05)
    assert (p.fits, MODELS["13b"].kv_heads / MODELS["13b"].heads, MODELS["8b"].kv_heads / 32) == (True, 1, 0.25)
    p = shown["70b"]
    assert p.weights == pytest.approx(141e9, rel=0.01)
    assert memory.results({**of["70b"].setting, "bits": 8}).weights == pytest.approx(141e9 / 2, rel=0.04)
    assert shown["405b"].fits
    assert not memory.results({**of["405b"].setting, "gpus": 64}).fits


# The page's arithmetic


def test_page_computes_what_python_computes(ask: Ask, examples: int) -> None:
    every = settings(examples)
    for setting, page in zip(every, ask("results", every), strict=True):
        expected = dataclasses.asdict(memory.results(setting))
        assert list(page) == list(expected)
        for name, value in expected.items():
            tolerance = 1e-12 * expected["total"] if name == "room" else 0
            assert near(float(page[name]), float(value)) or abs(page[name] - value) <= tolerance, (name, setting)


def test_page_offers_the_same_changes(ask: Ask, examples: int) -> None:
    every = settings(examples // 10) + [MemoryBudget(preset=name).setting for name in PRESETS]
    for setting, (page, first) in zip(every, ask("changes", every), strict=True):
        python = memory.changes(setting)
        assert [(c["name"], c["set"], c["fits"]) for c in page] == [(c.name, c.set, c.fits) for c in python]
        assert all(near(c["total"], d.total) for c, d in zip(page, python, strict=True))
        best = memory.first_change(setting)
        assert (first and first["name"]) == (best and best.name)


def test_remedies_are_taken_and_save_memory(ask: Ask) -> None:
    (remedies,) = ask("remedies", [None])
    start = MemoryBudget(preset="8b", flash=False, seq=4096).setting
    for name, remedy in remedies.items():
        for mode in remedy["modes"]:
            before = start | {"mode": "train" if name == "lora" else mode} | remedy["unset"]
            after = before | remedy["set"]
            taken = ask("taken", [before, after])
            assert (taken[0][name], taken[1][name]) == (False, True)
            assert MemoryBudget(**after).results.total < MemoryBudget(**before).results.total
            assert after | remedy["unset"] == before


def test_page_says_what_python_says(ask: Ask, examples: int) -> None:
    every = settings(examples) + [MemoryBudget(preset=name).setting for name in PRESETS]
    for setting, page in zip(every, ask("words", every), strict=True):
        assert page == memory.describe(setting)


def test_presets_and_models_are_those_of_python(ask: Ask) -> None:
    every = [MemoryBudget(preset=name).setting for name in PRESETS]
    assert ask("start", PRESETS) == every
    assert ask("preset", every) == [[name, SETUP["presets"][name]["model"]] for name in PRESETS]
    assert ask("preset", [MemoryBudget(model="8b", layers=3).setting]) == [[None, None]]


def test_copied_code_prints_the_same_numbers(ask: Ask, capsys: pytest.CaptureFixture[str], examples: int) -> None:
    every = settings(examples // 8) + [MemoryBudget(preset=name).setting for name in PRESETS]
    for setting, code in zip(every, ask("script", every), strict=True):
        exec(compile(code, "copied", "exec"), {})
        printed = dict(line.split(" ", 1) for line in capsys.readouterr().out.splitlines())
        wanted = dataclasses.asdict(memory.results(setting))
        assert set(printed) == set(wanted)
        for name, value in wanted.items():
            text = printed[name]
            got = float(text == "True" if isinstance(value, bool) else text)
            assert math.isclose(got, float(value), rel_tol=1e-12, abs_tol=1e-12 * wanted["total"]), (name, setting)


def test_formulas_with_numbers_give_the_value_beside_them(ask: Ask) -> None:
    """Every formula of the page, computed from its text, agrees with its value up to the digits that are shown."""
    units = {"GB": 1e9, "MB": 1e6, "TB": 1e12, "kB": 1e3, "B": 1, "million": 1e6, "billion": 1e9, "trillion": 1e12}

    def number(text: str) -> float:
        plain = text
        for unit in sorted(units, key=len, reverse=True):
            plain = re.sub(rf"([\d.]+)\s?{unit}(?!\w)", rf"(\1*{units[unit]!r})", plain)
            plain = re.sub(rf"\)\s{unit}(?!\w)", f")*{units[unit]!r}", plain)
        return float(eval(plain.replace("×", "*").replace("÷", "/").replace("−", "-"), {}))

    shown = [MemoryBudget(preset=name).setting for name in PRESETS]
    for changed in (
        {"mode": "lora", "bits": 8, "optimizer": "muon", "gpus": 4, "zero": 3, "flash": False},
        {"mode": "lora", "precision": "autocast", "optimizer": "adamw8", "targets": "attention"},
        {"mode": "infer", "bits": 4, "gpus": 2, "kv_bits": 8, "precision": "bf16"},
        {"optimizer": "muon", "precision": "master", "gpus": 16, "zero": 2, "checkpoint": True},
        {"optimizer": "momentum", "precision": "bf16", "family": "gpt", "positions": 512, "flash": False},
        {"optimizer": "adamw8", "precision": "fp32", "tied": True},
    ):
        shown.append(MemoryBudget(preset="8b", **changed).setting)
    for setting, rows in zip(shown, ask("values", shown), strict=True):
        assert rows
        for name, value, formula in rows:
            assert math.isclose(number(value), number(formula), rel_tol=0.011), (name, value, formula, setting)


# The widget


def test_a_preset_and_a_model_set_the_numbers() -> None:
    w = MemoryBudget(preset="8b-sharded", gpus=16)
    assert (w.layers, w.zero, w.gpus, w.checkpoint) == (32, 3, 16, True)
    w = MemoryBudget(preset="8b_qlora", model="70b")
    assert (w.layers, w.bits) == (80, 4)


def test_a_budget_without_a_figure() -> None:
    results = memory.budget("8b", mode="infer", precision="bf16", batch=4, seq=8192)
    assert results == MemoryBudget(model="8b", mode="infer", precision="bf16", batch=4, seq=8192).results
    assert memory.budget(SMALL[0], bits=4).parameters == memory.parameters(SMALL[0]).total
    assert memory.model_of("405b").layers == 126
    with pytest.raises(ValueError, match="no model is called 'gpt5'"):
        memory.budget("gpt5")
    with pytest.raises(ValueError, match="a budget has no setting 'gpu'"):
        memory.budget("8b", gpu=3)


def test_mistakes_are_named_and_change_nothing() -> None:
    w = MemoryBudget()
    with pytest.raises(traitlets.TraitError, match="layers must be a whole number from 1 to 1000, not 0"):
        w.layers = 0
    with pytest.raises(ValueError, match="no preset is called 'none'"):
        MemoryBudget(preset="none")
    with pytest.raises(ValueError, match="no model is called 'gpt5'"):
        MemoryBudget(model="gpt5")
    assert w.layers == 32


def test_words_and_picture_follow() -> None:
    w = MemoryBudget(preset="8b")
    assert "does not fit in 80 GB" in w.words
    assert "Change first: 8 GPUs with ZeRO-3" in w.words
    w.mode, w.bits, w.checkpoint = "lora", 4, True
    assert "fits in 80 GB" in w.words
    svg = ElementTree.fromstring(w.picture)
    assert svg.get("aria-label") == w.words
    assert (
        len(svg.findall(f"{SVG}rect")) == sum(value > 0 for value in (getattr(w.results, n) for n in memory.PARTS)) + 1
    )


def test_import_leaves_torch_alone() -> None:
    code = "import sys, torchbook.viz.memory, torchbook.viz.roofline; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0


# The figure among all figures


def sample() -> Sample:
    """How the test of all figures takes this one."""
    spoiled = both(fill("GPUs, K", "0"), opening)
    return Sample(
        make=MemoryBudget,
        act=fill("GPUs, K", "16"), acted={"gpus": 16},
        other={"batch": 3},
        linked={"preset": "70b", "bits": 4, "gpus": 7},
        broken=("=eyJncHVzIjowfQ", "=eyJtb2RlIjoieCJ9", "=eyJ4IjoxfQ"),  # no GPU; a mode and a field that are not
        looks=(Look({"preset": "8b"}, spoiled), Look({"preset": "8b"}, both(spoiled, pressing("8B, QLoRA"))), Look({})),
        plain=({"preset": "8b-sharded"},),
    )  # fmt: skip
