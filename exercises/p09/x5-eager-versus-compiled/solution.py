from collections.abc import Callable
from typing import Any

import torch
from torch import fx, nn

Backend = Callable[[fx.GraphModule, list], Callable]


def agree(eager: Any, found: Any, exact: torch.Tensor | None = None) -> bool:
    """Whether a result can pass for that of the eager program."""
    ### BEGIN SOLUTION
    if not isinstance(eager, torch.Tensor):
        return type(eager) is type(found) and eager == found
    if not isinstance(found, torch.Tensor):
        return False
    try:
        torch.testing.assert_close(found, eager, equal_nan=True)
    except AssertionError:
        same = found.shape == eager.shape and found.dtype == eager.dtype
        return bool(exact is not None and same and _error(found, exact) <= _error(eager, exact))
    return True


def _error(t: torch.Tensor, exact: torch.Tensor) -> float:
    return (t.double() - exact.double()).abs().max().item()
    ### END SOLUTION


def captured(model: nn.Module, *args: Any) -> tuple[fx.GraphModule, list]:
    """The graph that Dynamo hands to a backend for `model(*args)`, and its inputs."""
    ### BEGIN SOLUTION
    handed: list[tuple[fx.GraphModule, list]] = []

    def backend(graph: fx.GraphModule, inputs: list) -> Callable:
        handed.append((graph, list(inputs)))
        return graph.forward

    torch._dynamo.reset()
    torch.compile(model, backend=backend, fullgraph=True)(*args)
    return handed[0]
    ### END SOLUTION


def operations(graph: fx.GraphModule) -> list[fx.Node]:
    """The nodes that call something, in order."""
    return [node for node in graph.graph.nodes if node.op.startswith("call_")]


def prefix(graph: fx.GraphModule, count: int) -> fx.GraphModule:
    """The first `count` operations, all of whose results are returned, as a tuple."""
    ### BEGIN SOLUTION
    made, copies = fx.Graph(), {}
    kept = set(operations(graph)[:count])
    for node in graph.graph.nodes:
        if node in kept or not node.op.startswith(("call_", "output")):
            copies[node] = made.node_copy(node, copies.__getitem__)
    made.output(tuple(copies[node] for node in operations(graph)[:count]))
    return fx.GraphModule(graph, made)
    ### END SOLUTION


def culprit(graph: fx.GraphModule, inputs: list, backend: Backend) -> int | None:
    """The number, from 0, of the first operation whose result the backend gets wrong."""
    ### BEGIN SOLUTION
    low, high = 0, len(operations(graph))  # the first `low` operations are right, the first `high` are not
    if _right(prefix(graph, high), inputs, backend):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if _right(prefix(graph, middle), inputs, backend):
            low = middle
        else:
            high = middle
    return low


def _right(graph: fx.GraphModule, inputs: list, backend: Backend) -> bool:
    """Whether the backend's results are those of the graph; both from the same state of the generator."""
    state = torch.get_rng_state()
    expected = graph(*_copies(inputs))
    compiled = backend(graph, _copies(inputs))
    torch.set_rng_state(state)
    found = compiled(*_copies(inputs))
    torch.set_rng_state(state)
    return all(map(agree, _flat(expected), _flat(found)))


def _copies(values: list) -> list:
    return [v.detach().clone() if isinstance(v, torch.Tensor) else v for v in values]


def _flat(values: Any) -> list:
    if isinstance(values, tuple | list):
        return [leaf for value in values for leaf in _flat(value)]
    return [values]
    ### END SOLUTION


def repro(graph: fx.GraphModule, inputs: list, number: int) -> tuple[fx.GraphModule, list]:
    """The one operation as a graph of its own, and the values that go into it."""
    ### BEGIN SOLUTION
    node = operations(graph)[number]
    before = [*node.all_input_nodes]
    made = fx.Graph()
    copies = {one: made.placeholder(one.name) for one in before}
    made.output((made.node_copy(node, copies.__getitem__),))
    values: dict[fx.Node, Any] = {}

    class Watch(fx.Interpreter):
        def run_node(self, n: fx.Node) -> Any:
            if n is node:
                values.update({one: self.env[one] for one in before})
                values.update({k: v.detach().clone() for k, v in values.items() if isinstance(v, torch.Tensor)})
            return super().run_node(n)

    state = torch.get_rng_state()
    Watch(graph, garbage_collect_values=False).run(*_copies(inputs))
    torch.set_rng_state(state)
    return fx.GraphModule(graph, made), [values[one] for one in before]
    ### END SOLUTION
