"""KVCacheExplorer: its formulas against a real model and its cache, its pool against its rules, both on the page."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import random
import subprocess
import sys
from typing import Any
from xml.etree import ElementTree

import pytest
import torch
import traitlets
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from torchbook.llm import GPT, Config
from torchbook.viz import KVCacheExplorer
from torchbook.viz import kvcache as of
from torchbook.viz.memory import kv_cache_bytes, parameters

from ..asking import Ask
from ..samples import Look, Sample, fill

HARNESS = "kvcache"
PRESETS = list(of.setup()["presets"])
START = KVCacheExplorer().setting


def settings(count: int, seed: int = 1) -> list[dict[str, Any]]:
    """Random settings: published shapes and others, prompts, memories and pools."""
    draw = random.Random(seed)
    models = [model["shape"] for model in of.setup()["models"].values()]
    cases: list[dict[str, Any]] = []
    for _ in range(count):
        heads = draw.choice([1, 2, 4, 6, 8, 12, 32, 71, 128])
        shape: dict[str, Any] = {
            "family": draw.choice(["gpt", "llama"]),
            "layers": draw.randrange(1, 129),
            "heads": heads,
            "head_dim": draw.randrange(1, 257),
            "hidden": draw.randrange(1, 131073),
            "vocab": draw.randrange(1, 300001),
            "context": draw.choice([0, draw.randrange(1, 4096)]),
            "tied": draw.random() < 0.5,
        }
        if draw.random() < 0.4:
            shape = {name: value for name, value in draw.choice(models).items() if name != "kv_heads"}
        requests = [[draw.randrange(1, 17), draw.randrange(1, 17)] for _ in range(draw.randrange(1, 9))]
        reserve = draw.randrange(max(of.cache_positions(*request) for request in requests), 33)
        page = draw.randrange(1, 17)
        cases.append(
            {
                **START,
                **shape,
                "view": draw.choice(["steps", "memory", "pages"]),
                "kv_heads": draw.choice([n for n in range(1, shape["heads"] + 1) if shape["heads"] % n == 0]),
                "prompt": ["t"] * draw.randrange(1, 17),
                "new_tokens": draw.randrange(1, 17),
                "bytes_per_value": draw.choice([4, 2, 1]),
                "weight_bytes": draw.choice([4.0, 2.0, 1.0, 0.5]),
                "memory_gb": draw.choice([24.0, 80.0, 141.5, draw.uniform(0.01, 5000)]),
                "length": draw.choice([128, 4096, draw.randrange(1, 1_000_001)]),
                "requests": requests,
                "reserve": reserve,
                "page": page,
                "capacity": draw.randrange(of.pages_needed(reserve, page), 49),
            }
        )
    return cases


class Kept:
    """A cache that concatenates, and counts what goes through it."""

    def __init__(self, layers: int) -> None:
        self.tensors: list[tuple[Tensor, Tensor] | None] = [None] * layers
        self.length = self.computed = self.read = 0

    def update(self, layer: int, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        head_dim = k.shape[-1]
        self.computed += (k.numel() + v.numel()) // head_dim
        old = self.tensors[layer]
        if old is not None:
            self.read += sum(tensor.numel() for tensor in old) // head_dim
            k, v = torch.cat((old[0], k), dim=2), torch.cat((old[1], v), dim=2)
        self.tensors[layer] = (k, v)
        if layer == len(self.tensors) - 1:
            self.length = k.shape[2]
        return k, v

    @property
    def nbytes(self) -> int:
        return sum(tensor.nbytes for pair in self.tensors for tensor in pair or ())


# The formulas, against a real model


@pytest.mark.parametrize(
    ("config", "sequences"),
    [
        (Config(vocab_size=65, context=32, layers=2, heads=4, width=32), 1),
        (Config(vocab_size=65, context=32, layers=2, heads=4, width=32, kv_heads=1), 3),
        (
            Config(vocab_size=50, context=32, layers=3, heads=4, width=24, kv_heads=2, hidden=40, norm="rms",
                   mlp="swiglu", positions="rotary", bias=False, tied=False),
            2,
        ),
    ],
)  # fmt: skip
def test_a_real_run_computes_reads_and_keeps_what_is_predicted(config: Config, sequences: int) -> None:
    """FLOPs by FlopCounterMode, rows and bytes of the cache's tensors, all exact, in every step."""
    torch.manual_seed(0)
    model, shape = GPT(config).eval().to(torch.bfloat16), of.shape_of(config)
    prompt, new = 5, 6
    tokens = torch.randint(config.vocab_size, (sequences, prompt + new))
    plan = {cached: of.generation(shape, prompt, new, cached=cached) for cached in (False, True)}
    kept = Kept(config.layers)
    with torch.no_grad(), sdpa_kernel(SDPBackend.MATH):  # torch 2.11 does not count the CPU's fused kernel
        for step in range(new):
            computed, read = kept.computed, kept.read
            with FlopCounterMode(display=False) as bare:
                model(tokens[:, : prompt + step])
            with FlopCounterMode(display=False) as counter:
                model(tokens[:, kept.length : prompt + step], cache=kept)
            without, with_it = plan[False][step], plan[True][step]
            assert bare.get_total_flops() == sequences * without.flops
            assert counter.get_total_flops() == sequences * with_it.flops
            assert kept.computed - computed == sequences * with_it.computed
            assert kept.read - read == sequences * with_it.read
            assert kept.length == with_it.kept
            assert kept.nbytes == of.cache_bytes(
                with_it.kept, layers=config.layers, kv_heads=config.key_heads, head_dim=config.head_dim,
                bytes_per_value=2, sequences=sequences,
            )  # fmt: skip
    assert kept.length == of.cache_positions(prompt, new)


@pytest.mark.parametrize(
    ("name", "config", "published"),
    [
        ("gpt2", Config.gpt2(), 124_439_808),
        ("llama-2-7b", Config.llama("llama-2-7b"), 6_738_415_616),
        ("llama-3-8b", Config.llama("llama-3-8b"), 8_030_261_248),
        ("llama-3-70b", Config.llama("llama-3-70b"), 70_553_706_496),
    ],
)
def test_published_models_have_their_published_sizes(name: str, config: Config, published: int) -> None:
    explorer = KVCacheExplorer(model=name)
    assert explorer.shape == of.shape_of(config)
    assert of.room(explorer.setting).parameters == published
    with torch.device("meta"):
        assert (
            sum(parameter.numel() for parameter in GPT(dataclasses.replace(config, layers=1)).parameters())
            == parameters(dataclasses.replace(explorer.shape, layers=1)).total
        )


def test_bytes_are_those_of_the_memory_budget() -> None:
    for setting in settings(200, seed=2):
        sizes = {name: setting[name] for name in ("layers", "kv_heads", "head_dim", "bytes_per_value")}
        assert of.cache_bytes(setting["length"], **sizes, sequences=3) == kv_cache_bytes(
            of._shape(setting), 3, setting["length"], setting["bytes_per_value"]
        )


def test_logits_of_the_last_position_only_cost_less() -> None:
    shape = of.shape_of(Config(vocab_size=65, layers=2, heads=4, width=32))
    every, last = of.forward_flops(shape, 7), of.forward_flops(shape, 7, logits=1)
    assert every - last == 2 * 6 * 32 * 65


# The pool


def test_pool_keeps_its_rules(examples: int) -> None:
    for setting in settings(examples // 10, seed=3):
        requests, page, capacity = setting["requests"], setting["page"], setting["capacity"]
        moments = of.serve(requests, page, capacity)
        for now in moments:
            held = [number for run in now.running for number in run.pages]
            assert len(set(held)) == len(held) == now.pages <= capacity
            assert now.held - now.used < page * max(1, len(now.running))
            for run in now.running:
                prompt, new = requests[run.request]
                assert run.positions == prompt + run.generated - 1 <= of.cache_positions(prompt, new)
                assert len(run.pages) == of.pages_needed(run.positions, page)
                assert run.done == (run.generated == new)
            if now.waiting and not now.evicted:  # the next one does not fit
                known = requests[now.waiting[0]][0]
                again = any(now.waiting[0] in then.evicted for then in moments)
                assert again or of.pages_needed(known, page) > capacity - now.pages
        assert sum(run.done for now in moments for run in now.running) == len(requests)


def test_a_reservation_is_one_page_for_each() -> None:
    for setting in settings(100, seed=4):
        _, whole = of.pools(setting)
        assert of.summary(whole).evicted == 0
        most = setting["page"] * setting["capacity"] // setting["reserve"]
        for now in whole:
            assert all(len(run.pages) == 1 for run in now.running)
            assert len(now.running) == most or not now.waiting


def test_what_can_never_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="a request of 9 and 8 tokens does not fit in 3 pages of 5"):
        of.serve([(1, 1), (9, 8)], page=5, capacity=3)


# The page


def test_page_counts_what_python_counts(ask: Ask, examples: int) -> None:
    every = settings(examples // 2, seed=5)
    for first in range(0, len(every), 1000):
        part = every[first : first + 1000]
        pairs = [[setting, cached] for setting in part for cached in (False, True)]
        for (setting, cached), page in zip(pairs, ask("generation", pairs), strict=True):
            steps = of.generation(of._shape(setting), len(setting["prompt"]), setting["new_tokens"], cached=cached)
            assert page == [list(dataclasses.astuple(step)) for step in steps]
        for setting, page in zip(part, ask("room", [[setting, 1] for setting in part]), strict=True):
            assert page == list(dataclasses.astuple(of.room(setting, 1)))


def test_page_serves_as_python_serves(ask: Ask, examples: int) -> None:
    every = [[setting["requests"], setting["page"], setting["capacity"]] for setting in settings(examples // 5, seed=6)]
    for case, page in zip(every, ask("serve", every), strict=True):
        mine = [
            [[[run.request, run.positions, run.generated, list(run.pages), run.done] for run in now.running],
             *[list(each) for each in (now.waiting, now.ended, now.started, now.evicted)],
             now.used, now.held, now.pages]
            for now in of.serve(*case)
        ]  # fmt: skip
        assert page == mine


def test_page_says_what_python_says(ask: Ask) -> None:
    draw = random.Random(7)
    every = [[setting, draw.randrange(18), draw.randrange(30)] for setting in settings(900, seed=8)]
    for case, page in zip(every, ask("words", every), strict=True):
        assert page == of.describe(*case)


def test_what_does_not_fit_together_is_the_same_on_the_page_and_in_python(ask: Ask) -> None:
    every = [{**setting, "kv_heads": n, "reserve": n + 8} for n, setting in enumerate(settings(200, seed=9), 1)]
    assert ask("mismatch", every) == [of.mismatch(setting) for setting in every]


@pytest.mark.parametrize(("state", "right"), [
    ({}, True), ({"view": "pages", "moment": 3}, True), ({"view": "all"}, False), ({"kv_heads": 3}, False),
    ({"heads": 6, "kv_heads": 3}, True), ({"layers": "4"}, False), ({"other": 1}, False), ([], False), (None, False),
    ({"prompt": []}, False), ({"prompt": ["a"] * 17}, False), ({"prompt": [1]}, False), ({"step": -1}, False),
    ({"requests": [[9, 9]]}, False), ({"requests": [[8, 9]]}, True), ({"requests": [[0, 1]]}, False),
    ({"capacity": 3}, False), ({"weight_bytes": 0.5, "memory_gb": 0.5}, True), ({"bytes_per_value": 3}, False),
])  # fmt: skip
def test_only_states_that_can_be_shown_are_taken_from_links(ask: Ask, state: Any, right: bool) -> None:
    assert ask("state", [state]) == [right]


def test_other_sequences_can_be_shown(ask: Ask) -> None:
    for requests in ask("other", list(range(200))):
        assert len(requests) <= of.setup()["most"]
        assert max(of.cache_positions(*request) for request in requests) <= 16


# What is copied


def run(script: str) -> str:
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(script, "copied", "exec"), {"__name__": "__main__"})
    return output.getvalue()


@pytest.mark.parametrize("setting", [{}, {"model": "llama-3-8b", "bytes_per_value": 1, "new_tokens": 3}])
def test_copied_steps_count_the_same(ask: Ask, setting: dict[str, Any]) -> None:
    explorer = KVCacheExplorer(**setting)
    output = run(ask("script", [[explorer.setting, 0, 0]])[0])  # it asserts the totals
    flops = sum(step.flops for step in of.generation(explorer.shape, 6, explorer.new_tokens, cached=True))
    assert f"{flops:,} FLOPs so far" in output.splitlines()[-1]


def test_copied_memory_counts_the_same(ask: Ask) -> None:
    for preset in ("gpt2", "llama-2-7b", "llama-3-70b"):
        setting = KVCacheExplorer(preset=preset).setting
        assert f"{of.room(setting).fit} fit" in run(ask("script", [[setting, 0, 0]])[0])


def test_copied_pages_are_the_same(ask: Ask) -> None:
    for base in [KVCacheExplorer(preset="tight").setting, *settings(12, seed=10)]:
        setting = {**base, "view": "pages", "head_dim": 4}
        moments = of.pools(setting)[0]
        for at in (0, len(moments) // 2):
            output = run(ask("script", [[setting, 0, at]])[0])
            now = moments[at]
            tables = {of.letter(run.request): list(run.pages) for run in now.running}
            assert output == f"{tables} held {now.held} used {now.used}\nsteps {len(moments)}\n"


# The figure


def test_states_of_the_figure() -> None:
    widget = KVCacheExplorer(layers=2, heads=8, head_dim=16, prompt="to be or not", new_tokens=3, page=8)
    assert (widget.kv_heads, widget.hidden, widget.prompt) == (8, 512, ["to", "be", "or", "not"])
    assert "Step 1 of 3, prefill" in widget.words
    widget.step = 99
    assert "The cache holds 6 positions of 2 × 2 layers × 8 KV heads × 16 × 2 B = 1.02 kB: 6.14 kB." in widget.words
    widget.view = "pages"
    assert "Block tables: A keeps 5 positions in page 0;" in widget.words
    widget.view = "memory"
    assert widget.picture.startswith("<svg")
    with widget.hold_trait_notifications():
        widget.heads, widget.kv_heads = 6, 3
    assert widget.shape.hidden == 96


@pytest.mark.parametrize("arguments", [
    {"kv_heads": 3}, {"bytes_per_value": 3}, {"weight_bytes": 3.0}, {"memory_gb": 0.0}, {"prompt": ""},
    {"prompt": "a " * 17}, {"requests": []}, {"requests": [[16, 2]]}, {"capacity": 3}, {"reserve": 10},
])  # fmt: skip
def test_wrong_arguments_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(traitlets.TraitError):
        KVCacheExplorer(**arguments)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match="no preset is called 'four'"):
        KVCacheExplorer(preset="four")
    with pytest.raises(ValueError, match="no model is called 'gpt5'"):
        KVCacheExplorer(model="gpt5")


@pytest.mark.parametrize("preset", PRESETS)
def test_picture_is_drawn(preset: str) -> None:
    widget = KVCacheExplorer(preset=preset, step=3, moment=2)
    drawing = ElementTree.fromstring(widget.picture)
    assert drawing.get("aria-label") == widget.words


def test_notes_of_the_presets_are_true() -> None:
    own = {name: KVCacheExplorer(preset=name) for name in PRESETS}
    rooms = {name: of.room(explorer.setting) for name, explorer in own.items()}
    assert rooms["steps"].position == 2 * rooms["gqa"].position == 4 * rooms["mqa"].position
    macs = [of.generation(own[name].shape, 6, 8, cached=True)[3].macs for name in ("steps", "gqa", "mqa")]
    assert len(set(macs)) == 1
    assert (round(rooms["gpt2"].parameters / 1e6), rooms["gpt2"].each) == (124, 37_748_736)
    assert rooms["gpt2"].each < rooms["gpt2"].weights
    assert (rooms["llama-2-7b"].position, rooms["llama-2-7b"].fit) == (2**19, 4)
    assert rooms["llama-3-8b"].position * 4 == rooms["llama-2-7b"].position
    assert rooms["llama-3-8b"].parameters > rooms["llama-2-7b"].parameters
    assert (round(rooms["llama-3-70b"].parameters / 1e8), rooms["llama-3-70b"].fit) == (706, 7)
    paged, whole = (of.summary(run) for run in of.pools(own["pages"].setting))
    assert (len(own["pages"].requests), own["pages"].capacity, whole.most) == (8, 12, 3)
    assert whole.used < 0.5 < paged.used
    large = of.summary(of.pools(own["large-pages"].setting)[0])
    assert large.used < paged.used
    assert of.summary(of.pools(own["tight"].setting)[0]).evicted


def test_formulas_need_no_torch() -> None:
    code = "import sys; import torchbook.viz.kvcache; assert 'torch' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=120).returncode == 0


# The figure among all figures


def sample() -> Sample:
    """How the test of all figures takes this one."""
    return Sample(
        make=KVCacheExplorer,
        act=fill("step", "3"), acted={"step": 2},
        other={"layers": 5},
        linked={"heads": 6, "kv_heads": 3, "prompt": "so it goes", "reply": ["on"], "step": 1},
        broken=("=eyJsYXllcnMiOjk5OX0",),  # layers 999
        looks=tuple(Look({"preset": name, "step": 5, "moment": 5}) for name in ("steps", "llama-3-70b", "tight")),
        plain=({"step": 3},), targets="button, input, select",
    )  # fmt: skip
