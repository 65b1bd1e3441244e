import math
import statistics
import time
from collections.abc import Callable

import torch
from functorch.compile import make_boxed_func
from torch import nn
from torch._dynamo.backends.common import aot_autograd


def ops_per_graph(f: Callable, *args: object) -> list[int]:
    """The number of operations of each graph that Dynamo makes of one call."""
    ### BEGIN SOLUTION
    found = []

    def backend(graph: torch.fx.GraphModule, _inputs: list) -> Callable:
        found.append(sum(node.op.startswith("call_") for node in graph.graph.nodes))
        return graph.forward

    torch._dynamo.reset()
    torch.compile(f, backend=backend)(*args)
    return found
    ### END SOLUTION


def training_graphs(f: Callable, *args: object) -> tuple[list[int], list[int]]:
    """The numbers of operations of the forward and of the backward graphs that AOTAutograd makes."""
    ### BEGIN SOLUTION
    forward, backward = [], []

    def counting(found: list[int]) -> Callable:
        def compile_graph(graph: torch.fx.GraphModule, _inputs: list) -> Callable:
            found.append(sum(node.op.startswith("call_") for node in graph.graph.nodes))
            return make_boxed_func(graph.forward)

        return compile_graph

    torch._dynamo.reset()
    backend = aot_autograd(fw_compiler=counting(forward), bw_compiler=counting(backward))
    out = torch.compile(f, backend=backend)(*args)
    if out.requires_grad:
        out.sum().backward()
    return forward, backward
    ### END SOLUTION


def differences(model: nn.Module, compiled: Callable, x: torch.Tensor) -> tuple[float, float]:
    """The largest relative differences of outputs and of gradients."""
    ### BEGIN SOLUTION
    state = torch.get_rng_state()
    parameters = list(model.parameters())

    def run(function: Callable) -> tuple[torch.Tensor, list[torch.Tensor]]:
        torch.set_rng_state(state)
        leaves = [x.detach().clone().requires_grad_(), *parameters]
        out = function(leaves[0])
        grads = torch.autograd.grad(out.square().sum(), leaves, allow_unused=True)
        return out, [torch.zeros_like(w) if g is None else g for w, g in zip(leaves, grads, strict=True)]

    def distance(a: torch.Tensor, b: torch.Tensor) -> float:
        return (a - b).abs().max().item() / (a.abs().max().item() or 1.0)

    (out, grads), (other, others) = run(model), run(compiled)
    return distance(out, other), max(distance(a, b) for a, b in zip(grads, others, strict=True))
    ### END SOLUTION


def break_even(
    eager: Callable[[], object],
    compiled: Callable[[], object],
    rounds: int = 5,
    clock: Callable[[], float] = time.perf_counter,
    synchronize: Callable[[], None] | None = None,
) -> float:
    """After how many calls a compiled function has caught up with the eager one."""
    ### BEGIN SOLUTION
    wait = synchronize or (lambda: None)

    def seconds(function: Callable[[], object]) -> float:
        wait()
        start = clock()
        function()
        wait()
        return clock() - start

    eager()
    first = seconds(compiled)
    times = [(seconds(eager), seconds(compiled)) for _ in range(rounds)]
    slow, fast = (statistics.median(column) for column in zip(*times, strict=True))
    if first <= slow:
        return 1
    return math.ceil((first - fast) / (slow - fast)) if fast < slow else math.inf
    ### END SOLUTION
