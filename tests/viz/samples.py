"""What the test of all figures needs to know of each: how it is made, its states and links, something a reader does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import torch
from playwright.sync_api import Locator

from torchbook import viz
from torchbook.viz import (
    attention,
    bottleneck,
    broadcast,
    dispatch,
    floats,
    kvcache,
    memory,
    pipeline,
    racer,
    ring,
    roofline,
    scaling,
    schedule,
    strategy,
    stride,
    symptoms,
    tiles,
    tokenizer,
)
from torchbook.viz.base import Visualizer

from .models.dispatch_probes import recorded
from .models.profiles import gpu_events, train
from .pressing import press

Traits = Mapping[str, Any]
Hand = Callable[[Locator], None]


@dataclass(frozen=True)
class Look:
    """A state in which a figure must be accessible, and what a reader does first."""

    traits: Traits
    hand: Hand = lambda figure: None
    make: Callable[..., Visualizer] | None = None  # another way to make the figure than that of its sample


@dataclass(frozen=True)
class Sample:
    """A figure for the test of all figures. States are traits, given to `make`."""

    make: Callable[..., Visualizer]
    kind: str  # the first part of its name in links
    act: Hand  # what a reader does in a view of `make()`
    acted: Traits | str  # the state after that, or a part of its words
    presets: Mapping[str, Traits]  # the words of its links
    labels: Mapping[str, str] = field(default_factory=dict)  # what stands on the pressed button of a preset
    toolbar: str = "Presets"
    other: Traits = field(default_factory=dict)  # a state unlike that of the presets
    linked: Traits = field(default_factory=dict)  # a state of the reader's own
    broken: tuple[str, ...] = ()  # links that mean nothing, beside those that mean nothing to any figure
    looks: tuple[Look, ...] = (Look({}),)
    plain: tuple[Traits, ...] = ({},)  # states that are seen without scripts
    widths: tuple[int, ...] = (800, 360)  # of the screens on which it is looked at
    presets_of_python: bool = True  # are the presets' words those of Python?
    says_what_python_says: bool = True
    pictured_in_words: bool = True  # has the static picture the words as its name?
    targets: str = "button, input, select, textarea, [tabindex]"

    def after(self) -> str:
        """Words, or a part of them, once `act` was done."""
        return self.acted if isinstance(self.acted, str) else self.make(**self.acted).words


def fill(label: str, text: str, exact: bool = True) -> Hand:
    """Types into a field, or moves a slider."""
    return lambda figure: figure.get_by_label(label, exact=exact).fill(text)


def choose(label: str, option: str) -> Hand:
    """Chooses from a list."""

    def hand(figure: Locator) -> None:
        figure.get_by_label(label, exact=True).select_option(option)

    return hand


def pressing(*names: str) -> Hand:
    """Presses buttons, one after the other."""

    def hand(figure: Locator) -> None:
        for name in names:
            press(figure, name)

    return hand


def clicking(selector: str, number: int = 0) -> Hand:
    """Clicks on one element."""
    return lambda figure: figure.locator(selector).nth(number).click()


def opening(figure: Locator) -> None:
    """Opens all that is folded."""
    for summary in figure.locator("details:not(.tbviz-drawer) > summary").all():
        summary.click()


def both(*hands: Hand) -> Hand:
    """One after the other."""

    def hand(figure: Locator) -> None:
        for action in hands:
            action(figure)

    return hand


def by_name(presets: Mapping[str, Any]) -> dict[str, Traits]:
    """Presets that Python knows by their names too."""
    return {name: {"preset": name} for name in presets}


def labelled(presets: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """What stands on the buttons of presets."""
    return {name: str(preset["label"]) for name, preset in presets.items()}


# Figures that are made of something


@cache
def graph_of_a_loss() -> tuple[Callable[[], Any], dict[str, torch.Tensor]]:
    """loss = sum(exp(w x) x), with the intermediate h = exp(w x)."""
    w, x = torch.tensor([1.0, 0.5], requires_grad=True), torch.tensor([2.0, 3.0], requires_grad=True)

    def build() -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        h = (w * x).exp()
        return (h * x).sum(), {"h": h}

    return build, {"w": w, "x": x}


def autograd_explorer(**traits: Any) -> viz.AutogradExplorer:
    """The graph of a small loss."""
    build, params = graph_of_a_loss()
    return viz.AutogradExplorer(build, params=params, **traits)


def node_of(name: str) -> int:
    """The number of a node of that graph, by its label or its operation."""
    nodes = autograd_explorer().graphs[0]["nodes"]
    return next(number for number, node in enumerate(nodes) if name in (node["label"], node["name"]))


TEXT = "To be or\nnot to be, that"


def attention_explorer(layers: int = 3, heads: int = 4, causal: bool = True, **traits: Any) -> viz.AttentionExplorer:
    """Weights at random, of several layers and heads."""
    size = len(TEXT)
    scores = 2 * torch.randn(layers, heads, size, size, generator=torch.Generator().manual_seed(3))
    if causal:
        scores.masked_fill_(~torch.ones(size, size).tril().bool(), -torch.inf)
    return viz.AttentionExplorer(list(TEXT), scores.softmax(-1), **traits)


def attention_presets() -> dict[str, Traits]:
    """The head to which each preset leads."""
    rows = attention_explorer().rows
    heads = {name: divmod(attention.find(rows, name), 4) for name in attention.setup()["presets"]}
    return {name: {"layer": layer, "head": head, "query": 5} for name, (layer, head) in heads.items()}


MERGES = [(b"t", b"h"), (b"th", b"e"), (b" ", b"the"), (b"a", b"n"), (b"an", b"d"), (b" ", b"t"), (b" t", b"o"),
          (b"b", b"e"), (b"\xc3", b"\xa9")]  # fmt: skip


def tokenizer_explorer(text: str = "to the end, and then", **traits: Any) -> viz.TokenizerExplorer:
    """Nine merges and a special token."""
    return viz.TokenizerExplorer(MERGES, text, specials=["<|endoftext|>"], **traits)


def dispatch_route(**traits: Any) -> viz.DispatchRoute:
    """What this build of torch does."""
    return viz.DispatchRoute(recorded(), **traits)


@cache
def profiled() -> Any:
    """A profile of three steps."""
    return train(3)


def trace_explorer(**traits: Any) -> viz.TraceExplorer:
    """That profile."""
    return viz.TraceExplorer(profiled(), **traits)


def trace_of_a_gpu(**traits: Any) -> viz.TraceExplorer:
    """Events of a GPU."""
    return viz.TraceExplorer(gpu_events(), **traits)


def timeline_of_a_run(**traits: Any) -> viz.PipelineTimeline:
    """A recorded run beside the model."""
    start = {name: of["value"] for name, of in pipeline.setup()["fields"].items()}
    setting = {**start, "transfer": "wait", "workers": 2, "load_ms": 30.0, "batches": 13}
    return viz.PipelineTimeline(pipeline.PipelineRun(tuple(pipeline.simulate(setting)), 2, 2, "wait"), **traits)


def roofline_of_a_machine(**traits: Any) -> viz.Roofline:
    """Measured ceilings and kernels."""
    points = {"eager softmax": (83.9e6, 134e6, 9e-3), "matmul": (2.1e9, 12.6e6, 6e-3)}
    return viz.Roofline(machine={"bandwidth": 29e9, "flops": 441e9}, points=points, **traits)


# The samples


def attention_sample() -> Sample:
    return Sample(
        make=attention_explorer, kind="attention",
        act=clicking(".at-token", 2), acted={"query": 2},
        presets=attention_presets(), other={"layer": 1, "head": 1, "query": 5},
        linked={"layer": 2, "head": 1, "query": 4}, broken=("=eyJsYXllciI6OX0",),  # layer 9
        looks=(Look({"query": 4}), Look({"heads": 12, "query": 4})), plain=({"layer": 1},),
        targets="button, input, select",
    )  # fmt: skip


def autograd_sample() -> Sample:
    return Sample(
        make=autograd_explorer, kind="autograd",
        act=pressing("Step forward"), acted="Step 8 of 11. Backward, 4 of 6",
        presets={name: {"scenario": name} for name in ("no_grad", "second", "again")}, presets_of_python=False,
        says_what_python_says=False, pictured_in_words=False,
        linked={"scenario": "retain_grad", "step": 5}, widths=(1280, 800, 360),
        looks=(
            Look({"step": 8, "selected": 3}),
            Look({"scenario": "in_place", "target": node_of("h"), "step": 99}),
            Look({"scenario": "detach", "target": node_of("h"), "step": 5}),
        ),
        targets="button, select",
    )  # fmt: skip


def playground_sample() -> Sample:
    spoiled = both(fill("Expression", "a * * b"), opening)
    return Sample(
        make=viz.AutogradPlayground, kind="playground",
        act=fill("Expression", "exp(a)"), acted="exp(a)",
        presets={
            "fan-out": {"expression": "a*b + a*c", "values": {"a": 2, "b": 3, "c": 5}},
            "log-at-0": {"expression": "a * log(b)", "values": {"a": 2, "b": 0}},
        },
        pictured_in_words=False,
        linked={"expression": "exp(a) * b", "values": {"a": 0.5, "b": 3.0}}, widths=(1280, 360),
        looks=(Look({"expression": "a * log(b)", "values": {"a": 2, "b": 0}, "selected": 1}), Look({}, spoiled)),
        targets="button, input[type=range], select",
    )  # fmt: skip


def bottleneck_sample() -> Sample:
    presets = bottleneck.setup()["presets"]
    return Sample(
        make=viz.BottleneckTool, kind="bottleneck",
        act=fill("the full run, for", "41", exact=False), acted={"full_ms": 41.0},
        presets=by_name(presets), labels=labelled(presets), other={"step_ms": 7.0},
        linked={"step_ms": 3.5, "loader_ms": 8.0, "full_ms": 12.0, "workers": 0},
        looks=(Look({}, fill("the full run, for", "0", exact=False)),),
    )  # fmt: skip


def broadcast_sample() -> Sample:
    presets = broadcast.presets()
    states: tuple[Traits, ...] = (
        {"a": (), "b": ()}, {"preset": "empty"}, {"preset": "mask-refused"}, {"preset": "in-place"},
        {"a": (5, 5, 5), "b": (5, 1)}, {"preset": "mask"}, {"a": (5, 5, 5, 5, 5), "b": (5, 1), "c": (1, 1, 1, 1, 1)},
    )  # fmt: skip
    return Sample(
        make=viz.BroadcastExplorer, kind="broadcast",
        act=choose("Size of dimension 0 of b, under dimension 1 of the result: equal", "5"), acted={"b": (5,)},
        presets=by_name(presets), labels=labelled(presets), other={"a": (2, 2), "b": (2,)},
        linked={"a": (2, 1), "b": (2, 1, 3), "op": "*", "selected": (1, 0, 2)}, broken=("=e30",),
        looks=tuple(map(Look, states)), plain=({"preset": "loss"},),
    )  # fmt: skip


def dispatch_sample() -> Sample:
    presets = dispatch.setup()["presets"]
    last = both(pressing("no kernel"), lambda figure: figure.locator('[aria-label="Stops"] button').last.click())
    return Sample(
        make=dispatch_route, kind="dispatch",
        act=choose("operator", "aten::view"), acted={"op": "aten::view"},
        presets=by_name(presets), labels=labelled(presets), other={"op": "aten::mm", "transform": "vmap"},
        linked={"op": "aten::_to_copy", "args": "meta", "mode": "dispatch", "step": 2},
        broken=("=eyJvcCI6ImF0ZW46Om5vbmUifQ", "=eyJzdGVwIjotMX0"),  # op aten::none; step -1
        looks=(
            Look({"preset": "vmap", "step": 1}),
            Look({"preset": "vmap", "step": 1}, last),
            Look({"args": "csr", "transform": "vmap"}),
            Look({"preset": "composite"}),
        ),
        plain=({"preset": "view", "step": 1},), widths=(1280, 360),
    )  # fmt: skip


def floats_sample() -> Sample:
    presets = floats.presets()
    numbers = ("0.1", "-inf", "nan", "1e-45")
    return Sample(
        make=viz.FloatExplorer, kind="floats",
        act=clicking('[data-bit="0"]'), acted="is −0.1",
        presets=by_name(presets), labels=labelled(presets), other={"number": 7},
        linked={"bits": 0xFE, "dtype": "float8_e5m2"}, broken=("=e30",),
        looks=tuple(Look({"number": number, "dtype": dtype}) for dtype in floats.FORMATS for number in numbers),
        plain=({"preset": "third"},),
    )  # fmt: skip


def kvcache_sample() -> Sample:
    presets = kvcache.setup()["presets"]
    return Sample(
        make=viz.KVCacheExplorer, kind="kvcache",
        act=fill("step", "3"), acted={"step": 2},
        presets=by_name(presets), labels=labelled(presets), other={"layers": 5},
        linked={"heads": 6, "kv_heads": 3, "prompt": "so it goes", "reply": ["on"], "step": 1},
        broken=("=eyJsYXllcnMiOjk5OX0",),  # layers 999
        looks=tuple(Look({"preset": name, "step": 5, "moment": 5}) for name in ("steps", "llama-3-70b", "tight")),
        plain=({"step": 3},), targets="button, input, select",
    )  # fmt: skip


def memory_sample() -> Sample:
    presets = memory.setup()["presets"]
    spoiled = both(fill("GPUs, K", "0"), opening)
    return Sample(
        make=viz.MemoryBudget, kind="memory",
        act=fill("GPUs, K", "16"), acted={"gpus": 16},
        presets=by_name(presets), labels=labelled(presets), other={"batch": 3},
        linked={"preset": "70b", "bits": 4, "gpus": 7},
        broken=("=eyJncHVzIjowfQ", "=eyJtb2RlIjoieCJ9", "=eyJ4IjoxfQ"),  # no GPU; a mode and a field that are not
        looks=(Look({"preset": "8b"}, spoiled), Look({"preset": "8b"}, both(spoiled, pressing("8B, QLoRA"))), Look({})),
        plain=({"preset": "8b-sharded"},),
    )  # fmt: skip


def pipeline_sample() -> Sample:
    presets = pipeline.setup()["presets"]
    return Sample(
        make=viz.PipelineTimeline, kind="pipeline",
        act=fill("workers", "2"), acted={"workers": 2},
        presets=by_name(presets), labels=labelled(presets), other={"workers": 3},
        linked={"workers": 7, "load_ms": 33.3, "transfer": "same"}, broken=("=eyJ3b3JrZXJzIjo5OX0", ":recorded"),
        looks=(Look({}, make=timeline_of_a_run), Look({"preset": "uneven"})),
    )  # fmt: skip


def racer_sample() -> Sample:
    presets = racer.presets()
    adam = {"lr": 0.3, "betas": (0.5, 0.9), "weight_decay": 0.2}
    return Sample(
        make=viz.OptimizerRacer, kind="racer",
        act=lambda figure: fill("lr", "0.5")(figure.get_by_role("group", name="SGD", exact=True)),
        acted={"sgd": {"lr": 0.5}},
        presets=by_name(presets), labels=labelled(presets), other={"surface": "bowl", "optimizers": ()},
        linked={"surface": "minibatch", "optimizers": ("adam", "nesterov"), "start": (1, -1), "steps": 77, "step": 33,
                "seed": 5, "adam": adam, "nesterov": {"momentum": 0.5}},
        broken=(":toString", "=e30", "=bnVsbA"),
        looks=(
            *(Look({"preset": name}) for name in ("race", "diverge", "overshoot", "noise")),
            Look({"surface": "minibatch"}),
        ),
        plain=({"preset": "race"},),
    )  # fmt: skip


def ring_sample() -> Sample:
    presets = ring.setup()["presets"]
    return Sample(
        make=viz.RingAllReduce, kind="ring",
        act=fill("step", "2"), acted={"step": 2},
        presets=by_name(presets), labels=labelled(presets), other={"elements": 5},
        linked={"values": [[5, 6, 7, 8]] * 3, "size_mb": 12.5, "step": 2},
        broken=("=eyJyYW5rcyI6OTl9", "=eyJzdGVwIjo5OX0"),  # ranks 99; step 99
        looks=tuple(Look({"preset": name, "step": 3}) for name in ("four", "sixteen", "few")),
        plain=({"preset": "sixteen", "step": 7},),
    )  # fmt: skip


def roofline_sample() -> Sample:
    presets = roofline.setup()["presets"]
    spoiled = both(fill("queries", "0"), opening)
    return Sample(
        make=viz.Roofline, kind="roofline",
        act=choose("op", "softmax"), acted={"op": "softmax"},
        presets=by_name(presets), labels=labelled(presets), other={"op": "layer_norm"},
        linked={"op": "attention", "sizes": {"queries": 5}, "dtype": "fp8", "device": "h200", "fused": False},
        broken=("=eyJvcCI6IngifQ", "=e30", ":toString"),  # an op that is not
        looks=(Look({"preset": "written-out"}, spoiled, roofline_of_a_machine), Look({}, make=roofline_of_a_machine)),
        plain=({"dtype": "fp32"},),
    )  # fmt: skip


def scaling_sample() -> Sample:
    presets = scaling.setup()["presets"]
    return Sample(
        make=viz.ScalingCalculator, kind="scaling",
        act=fill("GPUs, K", "16", exact=False), acted={"gpus": 16},
        presets=by_name(presets), labels=labelled(presets), other={"gpus": 3},
        linked={"parameters": 123e6, "gpus": 7, "rule": "sqrt"},
        broken=("=eyJncHVzIjowfQ", "=eyJydWxlIjoiY3ViaWMifQ"),  # no GPU; a rule that is not
        looks=(Look({"overlap": 4.0}, both(fill("GPUs, K", "0", exact=False), opening)), Look({})),
        plain=({"preset": "overlapped"},),
    )  # fmt: skip


def schedule_sample() -> Sample:
    presets = schedule.setup()["presets"]
    return Sample(
        make=viz.PipelineSchedule, kind="schedule",
        act=fill("moment", "5"), acted={"cursor": 4},
        presets=by_name(presets), labels=labelled(presets), other={"stages": 5},
        linked={"kind": "interleaved", "stages": 3, "microbatches": 8, "virtual": 3, "backward": 1.5, "hop": 0.25,
                "cursor": 5},
        broken=("=eyJzdGFnZXMiOjk5fQ", "=eyJtaWNyb2JhdGNoZXMiOjN9"),  # stages 99; 3 micro-batches
        looks=tuple(Look({"preset": name, "cursor": 9}) for name in ("gpipe", "more", "interleaved")),
        plain=({"preset": "interleaved"},),
    )  # fmt: skip


def strategy_sample() -> Sample:
    presets = strategy.setup()["presets"]
    return Sample(
        make=viz.StrategyTool, kind="strategy",
        act=fill("nodes", "16"), acted={"nodes": 16},
        presets=by_name(presets), labels=labelled(presets), other={"nodes": 3, "show": "ddp"},
        linked={"preset": "70b", "nodes": 7, "show": "tp"},
        broken=("=eyJub2RlcyI6MH0", "=eyJzaG93IjoieCJ9", "=eyJ4IjoxfQ"),  # no node; a strategy and a field that are not
        looks=(Look({"preset": "405b"}, both(fill("nodes", "0"), opening)), Look({})),
        plain=({"preset": "long"},),
    )  # fmt: skip


def stride_sample() -> Sample:
    presets = stride.presets()
    states: tuple[Traits, ...] = (
        {"shape": ()}, {"preset": "sliding-window"}, {"shape": (0, 3)}, {"preset": "view-fails"},
        {"preset": "channels-last"}, {"shape": (3, 24)},
    )  # fmt: skip
    write = pressing("Write to an element", "as_strided")
    walk = pressing("Write to an element", "Walk through memory", "view")
    return Sample(
        make=viz.StrideExplorer, kind="stride",
        act=pressing("t"), acted={"ops": ["t"]},
        presets=by_name(presets), labels=labelled(presets), other={"shape": (2, 2)},
        linked={"shape": (2, 3, 4), "ops": [("permute", 2, 0, 1), ("select", 0, 1)], "dtype": "int16",
                "selected": (1, 2)},
        broken=("=e30",),
        looks=(
            *(Look(state, hand) for state in states for hand in (write, walk)),
            Look({"shape": (4, 12)}, pressing("as_strided")),
        ),
        plain=({"preset": "channels-last"},),
    )  # fmt: skip


def symptoms_sample() -> Sample:
    return Sample(
        make=viz.SymptomFinder, kind="symptoms",
        act=fill("What do you see?", "training hangs"), acted={"query": "training hangs"},
        presets={symptom["key"]: {"chosen": symptom["key"]} for symptom in symptoms.setup()["symptoms"]},
        linked={"query": "nan", "kind": "nan"}, broken=("=eyJraW5kIjoib3RoZXIifQ",),  # a kind that is not
        looks=(Look({"chosen": "ddp-hangs"}),), widths=(1280, 360),
    )  # fmt: skip


def tiles_sample() -> Sample:
    presets = tiles.setup()["presets"]
    return Sample(
        make=viz.TileExplorer, kind="tiles",
        act=pressing("One step on"), acted={"step": 1},
        presets=by_name(presets), labels=labelled(presets), other={"m": 5},
        linked={"m": 9, "n": 5, "k": 7, "block_k": 3, "step": 6, "seed": 4},
        broken=("=eyJtIjowfQ", "=eyJzdGVwIjo5OX0"),  # M 0; step 99
        looks=tuple(Look({"preset": name}) for name in ("grouped", "ragged", "causal", "large")),
        plain=({"preset": "ragged"}, {"preset": "causal"}),
    )  # fmt: skip


def tokenizer_sample() -> Sample:
    presets = tokenizer.setup()["presets"]
    return Sample(
        make=tokenizer_explorer, kind="tokenizer",
        act=fill("text, up to", "and", exact=False), acted={"text": "and"},
        presets={name: {"text": preset["text"]} for name, preset in presets.items()}, labels=labelled(presets),
        linked={"text": "the é\n<|endoftext|>", "step": 2, "token": 1}, broken=("=eyJ0ZXh0IjozfQ",),  # text 3
        looks=tuple(Look({"text": presets[name]["text"], "step": 2}) for name in ("english", "emoji")),
        plain=({"text": "to be or not to be, 你好 the end"},), targets="button, input, select, textarea",
    )  # fmt: skip


def trace_sample() -> Sample:
    views = {view["key"]: view["label"] for view in trace_explorer().trace["views"]}
    searched = both(fill("find operators by name", "mm"), opening)
    return Sample(
        make=trace_explorer, kind="trace",
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


SAMPLES: dict[str, Callable[[], Sample]] = {
    "AttentionExplorer": attention_sample,
    "AutogradExplorer": autograd_sample,
    "AutogradPlayground": playground_sample,
    "BottleneckTool": bottleneck_sample,
    "BroadcastExplorer": broadcast_sample,
    "DispatchRoute": dispatch_sample,
    "FloatExplorer": floats_sample,
    "KVCacheExplorer": kvcache_sample,
    "MemoryBudget": memory_sample,
    "OptimizerRacer": racer_sample,
    "PipelineSchedule": schedule_sample,
    "PipelineTimeline": pipeline_sample,
    "RingAllReduce": ring_sample,
    "Roofline": roofline_sample,
    "ScalingCalculator": scaling_sample,
    "StrategyTool": strategy_sample,
    "StrideExplorer": stride_sample,
    "SymptomFinder": symptoms_sample,
    "TileExplorer": tiles_sample,
    "TokenizerExplorer": tokenizer_sample,
    "TraceExplorer": trace_sample,
}
