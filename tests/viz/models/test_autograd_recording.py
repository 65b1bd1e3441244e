"""What the explorer recorded is what torch computes: the gradient on every edge, values, order, errors."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import torch

from torchbook.viz import AutogradExplorer, recording

from ..samples import Look, Sample, pressing

DEEP, QUICK = 60, 15
SEED = int(os.environ.get("TORCHBOOK_VIZ_SEED", "20261121"))
Made = tuple[torch.Tensor, dict[str, torch.Tensor]]

ONE: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "exp": lambda x: (x * 0.1).exp(),
    "tanh": torch.tanh,
    "relu": torch.relu,
    "sin": torch.sin,
    "sigmoid": torch.sigmoid,
    "t": lambda x: x.t(),
    "view": lambda x: x.reshape(-1).view(3, 3),
    "softmax": lambda x: x.softmax(1),
    "row": lambda x: x + x[0],
    "column": lambda x: x * x.sum(1, keepdim=True),
    "clone in place": lambda x: x.clone().mul_(2),
    "part in place": lambda x: _part_in_place(x),
    "custom": lambda x: Cube.apply(x),
    "chunks": lambda x: torch.cat([part * (i + 1) for i, part in enumerate(x.unbind(1))]).view(3, 3),
    "norm": lambda x: torch.nn.functional.layer_norm(x, (3,)),
}
TWO: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "matmul": torch.matmul,
    "div": lambda x, y: x / (y * y + 1),
    "max": torch.maximum,
    "addmm": lambda x, y: torch.addmm(x[0], x, y),
    "where": lambda x, y: torch.where(x > y, x, y * 2),
}


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        (x,) = ctx.saved_tensors
        return grad * 3 * x**2


def _part_in_place(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y[0].mul_(3)
    return y


def random_graph(rng: random.Random) -> tuple[Callable[[], Made], dict[str, torch.Tensor]]:
    """A function that builds a small random graph in double precision and names its tensors; and its leaves."""
    generator = torch.Generator().manual_seed(rng.randrange(2**31))
    names = "wxyz"[: rng.randint(1, 4)]
    leaves = {n: torch.randn(3, 3, dtype=torch.float64, generator=generator, requires_grad=True) for n in names}
    constant = torch.randn(3, 3, dtype=torch.float64, generator=generator)
    plan = [
        (rng.choice([*ONE]), rng.random(), 0.0)
        if rng.random() < 0.5
        else (rng.choice([*TWO]), rng.random(), rng.random())
        for _ in range(rng.randint(2, 8))
    ]

    def build() -> Made:
        pool, named = [*leaves.values(), constant], {}
        for name, first, second in plan:
            x, y = pool[int(first * len(pool))], pool[int(second * len(pool))]
            made = ONE[name](x) if name in ONE else TWO[name](x, y)
            pool.append(made)
            if made.requires_grad:
                named[f"t{len(pool)}"] = made
        total = sum((tensor * (i + 1)).sum() for i, tensor in enumerate([*leaves.values(), *pool[-2:]]))
        return total, named

    return build, leaves


def row_of(explorer: AutogradExplorer, index: int | None) -> list[float]:
    row = explorer.tensors[index]
    return [float(x) for x in row["data"]]


def expected(tensor: torch.Tensor) -> list[float]:
    return tensor.detach().flatten().tolist()


def close(mine: list[float], theirs: list[float]) -> bool:
    return len(mine) == len(theirs) and all(
        a == pytest.approx(b, rel=1e-9, abs=1e-12, nan_ok=True) for a, b in zip(mine, theirs, strict=True)
    )


def test_recorded_gradients_are_those_of_autograd_grad(examples: int) -> None:
    """Of every tensor on the way, of every leaf, and of every edge."""
    rng, gradients, edges = random.Random(SEED), 0, 0
    for _ in range(examples):
        build, leaves = random_graph(rng)
        explorer = AutogradExplorer(build, params=leaves, targets=0)
        graph, run = explorer.graphs[0], explorer.scenarios[0]["runs"][""]
        events = {event["node"]: event for event in run["passes"][0]["events"]}
        assert len(events) == len(graph["nodes"])
        total, named = build()
        wanted = torch.autograd.grad(total, [*leaves.values(), *named.values()], allow_unused=True, retain_graph=True)
        truth = {name: grad for name, grad in zip([*leaves, *named], wanted, strict=True) if grad is not None}
        for number, node in enumerate(graph["nodes"]):
            if node["label"] not in truth:
                continue
            gradients += 1
            assert close(row_of(explorer, events[number]["out"][0]), expected(truth[node["label"]])), node
            if node["kind"] == "leaf":
                assert close(row_of(explorer, events[number]["after"]), expected(truth[node["label"]]))
        edges += assert_edges(explorer, total, leaves)
    print(f"\nseed {SEED}: {examples} graphs, {gradients} gradients of tensors, {edges} edges, 0 disagreements")


def assert_edges(explorer: AutogradExplorer, total: torch.Tensor, leaves: dict[str, torch.Tensor]) -> int:
    """What arrives at each output of each node, and what each edge brings, by `autograd.grad` between two edges."""
    graph, nodes = recording.Graph([total], leaves), explorer.graphs[0]["nodes"]
    assert [grad_fn.name().replace("torch::autograd::", "") for grad_fn in graph.nodes] == [
        entry["name"] for entry in nodes
    ]
    events = {event["node"]: event for event in explorer.scenarios[0]["runs"][""]["passes"][0]["events"]}
    checked = 0
    for edge in explorer.graphs[0]["edges"]:
        start, end = graph.nodes[edge["from"]], graph.nodes[edge["to"]]
        target = torch.autograd.graph.GradientEdge(end, edge["output"])
        arrived = events[edge["to"]]["out"][edge["output"]]
        (truth,) = torch.autograd.grad(total, [target], retain_graph=True, allow_unused=True)
        if arrived is not None:
            assert close(row_of(explorer, arrived), expected(truth)), nodes[edge["to"]]
        sent = events[edge["from"]]["in"][edge["input"]]
        ways = sum(end in recording._reachable([after]) for after, _ in start.next_functions if after is not None)
        if sent is None or ways > 1 or len(nodes[edge["from"]]["outputs"]) > 1:
            continue  # more than this edge leads there, so autograd.grad would give their sum
        before = torch.tensor(row_of(explorer, events[edge["from"]]["out"][0]), dtype=torch.float64)
        root = torch.autograd.graph.GradientEdge(start, 0)
        shape = nodes[edge["from"]]["outputs"][0]["shape"]
        (truth,) = torch.autograd.grad([root], [target], [before.view(shape)], retain_graph=True, allow_unused=True)
        assert close(row_of(explorer, sent), expected(truth)), edge
        checked += 1
    return checked


def simple() -> tuple[Callable[[], Made], dict[str, torch.Tensor]]:
    w, x = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0, 4.0], requires_grad=True)

    def build() -> Made:
        h = (w * x).exp()
        return (h * x).sum(), {"h": h}

    return build, {"w": w, "x": x}


def scenario(explorer: AutogradExplorer, key: str) -> dict[str, Any]:
    return next(entry for entry in explorer.scenarios if entry["key"] == key)


def node(explorer: AutogradExplorer, label: str) -> int:
    return next(
        i for i, entry in enumerate(explorer.graphs[0]["nodes"]) if entry["label"] == label or entry["name"] == label
    )


def test_values_of_the_forward_are_recorded() -> None:
    build, leaves = simple()
    explorer = AutogradExplorer(build, params=leaves)
    h = build()[1]["h"]
    assert row_of(explorer, explorer.graphs[0]["nodes"][node(explorer, "h")]["value"]) == pytest.approx(expected(h))


def test_order_is_the_engines() -> None:
    build, leaves = simple()
    seen: list[str] = []
    total, _ = build()
    graph = recording.Graph([total], leaves)
    for grad_fn in graph.nodes:
        grad_fn.register_prehook(
            lambda grads, grad_fn=grad_fn: seen.append(grad_fn.name().replace("torch::autograd::", ""))
        )
    total.backward()
    wanted = [*seen]
    explorer = AutogradExplorer(build, params=leaves)
    events = explorer.scenarios[0]["runs"][""]["passes"][0]["events"]
    assert [explorer.graphs[0]["nodes"][event["node"]]["name"] for event in events] == wanted


def test_the_callers_state_is_put_back() -> None:
    build, leaves = simple()
    leaves["w"].grad = torch.tensor([7.0, 7.0])
    kept, values, version = leaves["w"].grad, leaves["w"].detach().clone(), leaves["w"]._version
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3), torch.nn.Dropout(0.5))
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    state = torch.get_rng_state()
    AutogradExplorer(build, params=leaves)
    AutogradExplorer(lambda: model(torch.ones(4, 2)).square().sum(), params=model)
    assert leaves["w"].grad is kept
    assert kept.tolist() == [7.0, 7.0]
    assert leaves["w"]._version == version
    assert leaves["w"].equal(values)
    assert leaves["x"].grad is None
    assert torch.get_rng_state().equal(state)
    assert all(tensor.equal(before[name]) for name, tensor in model.state_dict().items())
    assert all(parameter.grad is None for parameter in model.parameters())


def test_a_given_loss_stays_usable_and_says_what_needs_a_function() -> None:
    build, leaves = simple()
    total, _ = build()
    explorer = AutogradExplorer(total, params=leaves)
    can_run = {entry["key"]: bool(entry["runs"]) for entry in explorer.scenarios}
    assert can_run == {
        "backward": True,
        "again": True,
        "create_graph": True,
        "second": False,
        "retain_grad": False,
        "detach": False,
        "no_grad": False,
        "in_place": False,
    }
    assert all("function" in entry["why"] for entry in explorer.scenarios if not entry["runs"])
    total.backward()
    assert leaves["w"].grad is not None


def test_second_backward_adds_to_grad() -> None:
    build, leaves = simple()
    explorer = AutogradExplorer(build, params=leaves)
    first, second = scenario(explorer, "again")["runs"][""]["passes"]
    w = node(explorer, "w")
    first_event = next(event for event in first["events"] if event["node"] == w)
    second_event = next(event for event in second["events"] if event["node"] == w)
    assert first_event["before"] is None
    assert second_event["before"] == first_event["after"]
    assert row_of(explorer, second_event["after"]) == pytest.approx(
        [2 * x for x in row_of(explorer, first_event["after"])]
    )


def error_of(call: Callable[[], Any]) -> str:
    with pytest.raises(RuntimeError) as caught:
        call()
    return str(caught.value)


def test_second_backward_after_the_first_freed_the_graph_says_torchs_words() -> None:
    build, leaves = simple()
    explorer = AutogradExplorer(build, params=leaves)
    total, _ = build()
    total.backward()
    run = scenario(explorer, "second")["runs"][""]
    assert run["passes"][1]["error"]["text"] == error_of(total.backward)
    assert run["freed"]
    holds = {i for i, entry in enumerate(explorer.graphs[0]["nodes"]) if any("tensor" in s for s in entry["saved"])}
    assert holds <= set(run["freed"])


def test_edit_in_place_says_torchs_words_where_something_saved_the_tensor() -> None:
    build, leaves = simple()
    explorer = AutogradExplorer(build, params=leaves)
    total, named = build()
    named["h"].add_(1)
    run = scenario(explorer, "in_place")["runs"][str(node(explorer, "h"))]
    assert run["passes"][0]["error"]["text"] == error_of(total.backward)
    assert run["version"] == 1


def test_edit_of_a_leaf_says_both_of_torchs_errors() -> None:
    build, leaves = simple()
    explorer = AutogradExplorer(build, params=leaves)
    run = scenario(explorer, "in_place")["runs"][str(node(explorer, "w"))]
    assert run["refused"]["text"] == error_of(lambda: leaves["w"].add_(1))
    total, _ = build()
    with torch.no_grad():
        leaves["w"].add_(1)
    assert run["passes"][0]["error"]["text"] == error_of(total.backward)


def test_detach_cuts_the_graph_as_torch_does() -> None:
    build, leaves = simple()
    explorer = AutogradExplorer(build, params=leaves)
    run = scenario(explorer, "detach")["runs"][str(node(explorer, "h"))]
    h = (leaves["w"] * leaves["x"]).exp().detach()
    (h * leaves["x"]).sum().backward()
    x = next(event for event in run["passes"][0]["events"] if event["node"] == node(explorer, "x"))
    assert leaves["x"].grad is not None
    assert row_of(explorer, x["after"]) == pytest.approx(leaves["x"].grad.tolist())
    assert leaves["w"].grad is None
    assert node(explorer, "w") in run["missing"]
    assert node(explorer, "h") in run["missing"]


def test_detach_leaves_what_came_before_it_recorded_and_what_needs_no_gradient_after_it_not() -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    v = torch.tensor([3.0, 4.0], requires_grad=True)

    def build(cut: Callable[[torch.Tensor], torch.Tensor] = lambda h: h) -> Made:
        before = (w * w).exp()
        after = cut(before).sin()
        return (after * v).sum(), {"before": before, "after": after}

    explorer = AutogradExplorer(build, params={"w": w, "v": v})
    run = scenario(explorer, "detach")["runs"][str(node(explorer, "before"))]
    total, named = build(torch.Tensor.detach)
    total.backward()
    assert named["before"].grad_fn is not None
    assert named["after"].grad_fn is None
    assert w.grad is None
    assert run["unrecorded"] == [node(explorer, "after")]
    assert {node(explorer, "w"), node(explorer, "before")} <= set(run["missing"]) - set(run["unrecorded"])
    assert node(explorer, "v") not in run["missing"]


def test_detach_of_the_loss_itself_leaves_all_of_its_graph_recorded() -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    explorer = AutogradExplorer(lambda: (w * w).sum(), params={"w": w})
    run = scenario(explorer, "detach")["runs"][str(node(explorer, "loss"))]
    total = (w * w).sum()
    assert total.grad_fn is not None
    assert run["passes"][0]["error"]["text"] == error_of(total.detach().backward)
    assert run["unrecorded"] == []
    assert sorted(run["missing"]) == [*range(len(explorer.graphs[0]["nodes"]))]


def test_no_grad_records_nothing_and_says_torchs_words() -> None:
    build, leaves = simple()
    explorer = AutogradExplorer(build, params=leaves)
    with torch.no_grad():
        total, _ = build()
    run = scenario(explorer, "no_grad")["runs"][""]
    assert run["passes"][0]["error"]["text"] == error_of(total.backward)
    nodes = explorer.graphs[0]["nodes"]
    assert len(run["missing"]) == len(nodes)
    assert run["unrecorded"] == [number for number, entry in enumerate(nodes) if entry["kind"] != "leaf"]


def test_retain_grad_keeps_what_flows_through() -> None:
    build, leaves = simple()
    explorer = AutogradExplorer(build, params=leaves)
    total, named = build()
    named["h"].retain_grad()
    total.backward()
    kept = scenario(explorer, "retain_grad")["runs"][""]["grads"][str(node(explorer, "h"))]
    assert named["h"].grad is not None
    assert row_of(explorer, kept) == pytest.approx(named["h"].grad.tolist())


def test_graph_of_the_gradient_gives_the_second_derivative() -> None:
    x = torch.tensor(2.0, requires_grad=True)
    explorer = AutogradExplorer(lambda: x**3, params={"x": x})
    assert len(explorer.graphs) == 2
    events = scenario(explorer, "create_graph")["runs"][""]["passes"][0]["events"]
    assert row_of(explorer, events[-1]["after"]) == [12.0]  # 6 x


def test_hooks_are_named() -> None:
    build, leaves = simple()
    leaves["w"].register_hook(lambda grad: None)
    leaves["w"].register_post_accumulate_grad_hook(lambda tensor: None)
    explorer = AutogradExplorer(build, params=leaves)
    assert explorer.graphs[0]["nodes"][node(explorer, "w")]["hooks"] == ["tensor hook × 1", "post-accumulate hook × 1"]


def test_infinity_and_nan_travel_as_text() -> None:
    x = torch.tensor([0.0, -1.0], requires_grad=True)
    explorer = AutogradExplorer(lambda: x.log().sum(), params={"x": x})
    text = json.dumps([explorer.graphs, explorer.tensors, explorer.scenarios], allow_nan=False)
    assert '"-inf"' in text
    assert '"nan"' in text


def deep(blocks: int) -> torch.nn.Module:
    torch.manual_seed(0)
    layers = [torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh()) for _ in range(blocks)]
    return torch.nn.Sequential(*layers)


def test_state_of_sixty_nodes_is_small() -> None:
    model, x = deep(12), torch.ones(16, 8)
    explorer = AutogradExplorer(lambda: model(x).square().mean(), params=model)
    assert len(explorer.graphs[0]["nodes"]) >= 60
    assert len(json.dumps([explorer.graphs, explorer.tensors, explorer.scenarios])) <= 200_000


@pytest.mark.parametrize(
    ("loss", "error", "says"),
    [
        (lambda: torch.ones(2, requires_grad=True) * 2, ValueError, "one element"),
        (lambda: torch.ones(()), ValueError, "nothing recorded"),
        (lambda: 3.0, TypeError, "float"),
    ],
)
def test_what_cannot_be_explored_is_said(loss: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        AutogradExplorer(loss)


# The figure among all figures


@cache
def graph_of_a_loss() -> tuple[Callable[[], Any], dict[str, torch.Tensor]]:
    """loss = sum(exp(w x) x), with the intermediate h = exp(w x)."""
    w, x = torch.tensor([1.0, 0.5], requires_grad=True), torch.tensor([2.0, 3.0], requires_grad=True)

    def build() -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        h = (w * x).exp()
        return (h * x).sum(), {"h": h}

    return build, {"w": w, "x": x}


def autograd_explorer(**traits: Any) -> AutogradExplorer:
    """The graph of a small loss."""
    build, params = graph_of_a_loss()
    return AutogradExplorer(build, params=params, **traits)


def node_of(name: str) -> int:
    """The number of a node of that graph, by its label or its operation."""
    nodes = autograd_explorer().graphs[0]["nodes"]
    return next(number for number, node in enumerate(nodes) if name in (node["label"], node["name"]))


def sample() -> Sample:
    """How the test of all figures takes this one."""
    return Sample(
        make=autograd_explorer,
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
