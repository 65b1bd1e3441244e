"""What PyTorch's autograd really did, as plain data: the graph, what it saved, and the gradient on every edge.

Nothing here is computed on torch's behalf. Nodes and edges are read from `grad_fn` and `next_functions`; gradients are
what hooks saw during a backward of the engine; errors are the engine's own text. Tensors of at most 16 elements are
kept whole, others as shape, least, greatest, mean and norm.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

WHOLE = 16
Names = Mapping[str, torch.Tensor]
Result = tuple[torch.Tensor, dict[str, torch.Tensor]]


class Tensors:
    """Summaries of tensors, each kept once; everything else refers to them by their place."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self._places: dict[str, int] = {}

    def add(self, tensor: torch.Tensor | None) -> int | None:
        return None if tensor is None else self.put(summary(tensor))

    def put(self, row: dict[str, Any]) -> int:
        text = json.dumps(row, sort_keys=True)
        if text not in self._places:
            self._places[text] = len(self.rows)
            self.rows.append(row)
        return self._places[text]


@torch.no_grad()
def summary(tensor: torch.Tensor) -> dict[str, Any]:
    """A tensor as JSON: shape, dtype, and its data, or what describes it when it is large."""
    row: dict[str, Any] = {"shape": list(tensor.shape), "dtype": str(tensor.dtype).removeprefix("torch.")}
    try:
        values = tensor.detach().to_dense().cpu().flatten()
    except RuntimeError:  # a layout or a subclass that has no plain values
        return {**row, "text": "values of this kind are not shown"}
    if values.is_complex():
        return {**row, "text": ", ".join(f"{value:.4g}" for value in values[:WHOLE].tolist())}
    if len(values) <= WHOLE:
        return {**row, "data": [_number(value, tensor.dtype) for value in values.tolist()]}
    exact = values.double()
    sane = exact[exact.isfinite()]
    numbers = (sane.min(), sane.max(), sane.mean(), sane.norm()) if len(sane) else (torch.tensor(float("nan")),) * 4
    least = zip(("min", "max", "mean", "norm"), (_number(n.item(), torch.float32) for n in numbers), strict=True)
    odd = {"nan": int(exact.isnan().sum()), "inf": int(exact.isinf().sum())}
    return {**row, **dict(least), **{name: count for name, count in odd.items() if count}}


def _number(value: float, dtype: torch.dtype) -> float | int | bool | str:
    """The shortest number that reads back as the same value of its dtype; text where JSON has no number."""
    if not isinstance(value, float):
        return value
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    return value if dtype == torch.float64 else float(f"{value:.9g}")


class Graph:
    """The nodes that a backward from `roots` can reach, numbered: leaves first, then operations in recorded order."""

    def __init__(self, roots: Sequence[torch.Tensor], names: Names) -> None:
        starts = [
            root.grad_fn if root.grad_fn is not None else torch.autograd.graph.get_gradient_edge(root).node
            for root in roots
        ]
        self.names = {id(tensor): name for name, tensor in names.items()}
        self.nodes = sorted(_reachable(starts), key=self._age)
        self.ids = {node: number for number, node in enumerate(self.nodes)}
        self.roots = [[self.ids[start], root.output_nr] for start, root in zip(starts, roots, strict=True)]
        self.named_outputs = {
            (tensor.grad_fn, tensor.output_nr): (name, tensor)
            for name, tensor in names.items()
            if tensor.grad_fn is not None
        }

    def _age(self, node: Any) -> tuple[bool, int]:
        """Leaves in the order of their names, then operations in the order in which they were recorded."""
        if not is_leaf(node):
            return True, node._sequence_nr()
        known = [*self.names]
        return False, known.index(id(node.variable)) if id(node.variable) in self.names else len(known)

    def name(self, tensor: torch.Tensor) -> str:
        return self.names.get(id(tensor), "")

    @property
    def leaves(self) -> list[torch.Tensor]:
        return [node.variable for node in self.nodes if is_leaf(node)]


def _reachable(starts: Sequence[Any]) -> list[Any]:
    seen: dict[Any, None] = dict.fromkeys(starts)
    waiting = list(seen)
    while waiting:
        for node, _ in waiting.pop().next_functions:
            if node is not None and node not in seen:
                seen[node] = None
                waiting.append(node)
    return list(seen)


def is_leaf(node: Any) -> bool:
    return getattr(node, "variable", None) is not None


class Watch(TorchFunctionMode):
    """The tensors that the calls of a function returned, in order; `edit` may replace the result of a call.

    What it replaced is kept, so that its graph stays.
    """

    def __init__(self, edit: Mapping[int, Callable[[torch.Tensor], torch.Tensor]] | None = None) -> None:
        super().__init__()
        self.results: list[tuple[str, torch.Tensor]] = []
        self.replaced: list[torch.Tensor] = []
        self.edit = edit or {}
        self.quiet = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor):
            if len(self.results) in self.edit:
                self.quiet = True
                self.replaced.append(result)
                result = self.edit[len(self.results)](result)
                self.quiet = False
            self.results.append((getattr(func, "__name__", "call"), result))
        return result


class Operations(TorchDispatchMode):
    """The operations that ran below autograd: which node each belongs to, and what it computed."""

    def __init__(self, watch: Watch | None = None, values: bool = True) -> None:
        super().__init__()
        self.watch, self.values = watch, values
        self.rows: list[tuple[int, str, bool, dict[str, Any] | None]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        # The node of an operation is made, and numbered, before the operation runs.
        number, recording = torch._C._autograd._get_sequence_nr() - 1, torch.is_grad_enabled()
        result = func(*args, **(kwargs or {}))
        if "detach" not in str(func) and not (self.watch and self.watch.quiet):
            first = result[0] if isinstance(result, (tuple, list)) and result else result
            keep = self.values and recording and isinstance(first, torch.Tensor)
            value = summary(first) if keep else None
            self.rows.append((number, str(func), recording, value))
        return result

    def of(self, node: Any) -> tuple[str, dict[str, Any] | None]:
        """Name of the operation that made this node, and a summary of its value; empty if none is known."""
        for number, name, recording, value in self.rows:
            if number == node._sequence_nr() and recording:
                shapes = [list(meta.shape) for meta in node._input_metadata]
                fits = value is not None and shapes and value["shape"] == shapes[0]
                return (name, value) if fits else ("", None)
        return "", None

    def keys(self, graph: Graph) -> dict[tuple[Any, ...], int]:
        """A key for each node that is the same when the same function runs again."""
        keys: dict[tuple[Any, ...], int] = {}
        for number, node in enumerate(graph.nodes):
            if is_leaf(node):
                keys["leaf", id(node.variable)] = number
                continue
            at = next((i for i, row in enumerate(self.rows) if row[0] >= node._sequence_nr()), len(self.rows))
            nth = 0
            while (at, node.name(), nth) in keys:
                nth += 1
            keys[at, node.name(), nth] = number
        return keys


def describe(graph: Graph, tensors: Tensors, operations: Operations | None = None) -> dict[str, Any]:
    """The graph as JSON: nodes with what they saved, and edges from each node to those that its gradient goes to."""
    rows = [_node(node, graph, tensors, operations) for node in graph.nodes]
    edges = [
        {"from": graph.ids[node], "input": index, "to": graph.ids[after], "output": output}
        for node in graph.nodes
        for index, (after, output) in enumerate(node.next_functions)
        if after is not None
    ]
    saved: dict[int, tuple[int, bool]] = {}
    leaves = {leaf.untyped_storage().data_ptr() for leaf in graph.leaves}
    for node, row in zip(graph.nodes, rows, strict=True):
        for name, tensor, item in _saved(node, graph, tensors):
            row["saved"].append({"name": name, **item})
            if tensor is None:
                continue
            storage = tensor.untyped_storage()
            saved[storage.data_ptr()] = (storage.nbytes(), storage.data_ptr() in leaves)
            _value_from_saved(rows, item, row)
    for start, _ in graph.roots:
        rows[start]["root"] = True
    return {
        "nodes": rows,
        "edges": edges,
        "roots": graph.roots,
        "bytes": {
            "activations": sum(size for size, leaf in saved.values() if not leaf),
            "leaves": sum(size for size, leaf in saved.values() if leaf),
        },
    }


def _value_from_saved(rows: list[dict[str, Any]], item: dict[str, Any], holder: dict[str, Any]) -> None:
    """A tensor that one node saved is the value of the node that made it."""
    made = item.get("node")
    if made is None or item.get("output"):
        return
    if rows[made]["value"] is None:
        rows[made]["value"] = item["tensor"]
        rows[made]["source"] = f"saved by {holder['name']}"


def _node(node: Any, graph: Graph, tensors: Tensors, operations: Operations | None) -> dict[str, Any]:
    outputs = [
        {"shape": list(meta.shape), "dtype": str(meta.dtype).removeprefix("torch.")} for meta in node._input_metadata
    ]
    row: dict[str, Any] = {"name": node.name().replace("torch::autograd::", ""), "outputs": outputs, "saved": []}
    row |= {"value": None, "source": "", "hooks": [], "label": ""}
    if is_leaf(node):
        leaf = node.variable
        row |= {"kind": "leaf", "label": graph.name(leaf), "value": tensors.add(leaf), "source": "now"}
        row |= {"version": leaf._version, "hooks": _hooks(leaf)}
        return row
    row["kind"] = "custom" if isinstance(node, torch.autograd.function.BackwardCFunction) else "op"
    for output in range(len(outputs)):
        if (node, output) in graph.named_outputs:
            name, tensor = graph.named_outputs[node, output]
            row |= {"label": name, "hooks": _hooks(tensor), "retains": tensor.retains_grad}
            if output == 0:
                row |= {"value": tensors.add(tensor), "source": "now"}
    if operations is not None:
        operation, value = operations.of(node)
        row["op"] = operation
        if value is not None:
            row |= {"value": tensors.put(value), "source": "forward"}
    return row


def _hooks(tensor: torch.Tensor) -> list[str]:
    counts = {"tensor hook": tensor._backward_hooks, "post-accumulate hook": tensor._post_accumulate_grad_hooks}
    return [f"{name} × {len(hooks)}" for name, hooks in counts.items() if hooks]


def _saved(node: Any, graph: Graph, tensors: Tensors) -> Iterator[tuple[str, torch.Tensor | None, dict[str, Any]]]:
    names = [name for name in dir(node) if name.startswith("_saved_")]
    if isinstance(node, torch.autograd.function.BackwardCFunction):
        names = ["saved_tensors"]
    for name in names:
        short = name.removeprefix("_saved_")
        try:
            value = getattr(node, name)
        except RuntimeError as error:
            yield short, None, {"error": str(error)}
            continue
        if isinstance(value, (tuple, list)) and any(isinstance(part, torch.Tensor) for part in value):
            for index, part in enumerate(value):
                yield _saved_item(f"{short}[{index}]", part, graph, tensors)
        else:
            yield _saved_item(short, value, graph, tensors)


def _saved_item(
    name: str, value: Any, graph: Graph, tensors: Tensors
) -> tuple[str, torch.Tensor | None, dict[str, Any]]:
    if not isinstance(value, torch.Tensor):
        return name, None, {"text": "nothing: no gradient needs it" if value is None else str(value)[:80]}
    item: dict[str, Any] = {"tensor": tensors.add(value), "version": value._version}
    if value.grad_fn is not None and value.grad_fn in graph.ids:
        item |= {"node": graph.ids[value.grad_fn], "output": value.output_nr}
    elif value.is_leaf and value.requires_grad:
        item["leaf"] = graph.name(value) or "a leaf"
    return name, value, item


def freed(graph: Graph) -> tuple[list[int], str]:
    """Which nodes no longer hold what they saved, and what torch says when it is asked for."""
    nodes, message = [], ""
    for node in graph.nodes:
        for name in (name for name in dir(node) if name.startswith("_saved_") or name == "saved_tensors"):
            try:
                getattr(node, name)
            except RuntimeError as error:
                nodes.append(graph.ids[node])
                message = message or str(error)
                break
    return nodes, message


def backward(graph: Graph, tensors: Tensors, call: Callable[[], Any]) -> dict[str, Any]:
    """Run `call`, a backward through `graph`, and record it: the engine's order, gradients and errors.

    For each node, `out` is the gradient of each of its outputs (what arrived, summed) and `in` the gradient of each of
    its inputs (what it sends along each edge). A leaf also has its `.grad` before and after.
    """
    events: list[dict[str, Any]] = []
    running: dict[int, dict[str, Any]] = {}
    handles = [handle for node in graph.nodes for handle in _listen(node, graph, tensors, events, running)]
    done: dict[str, Any] = {"events": events}
    try:
        call()
    except RuntimeError as error:
        unfinished = [event["node"] for event in events if "in" not in event]
        done["error"] = {
            "kind": type(error).__name__,
            "text": str(error),
            "node": unfinished[-1] if unfinished else None,
        }
    finally:
        for handle in handles:
            handle.remove()
    return done


def _listen(
    node: Any, graph: Graph, tensors: Tensors, events: list[dict[str, Any]], running: dict[int, dict[str, Any]]
) -> list[Any]:
    number = graph.ids[node]

    def enter(gradients: tuple[torch.Tensor | None, ...]) -> None:
        event: dict[str, Any] = {"node": number, "out": [tensors.add(gradient) for gradient in gradients]}
        if is_leaf(node):
            event["before"] = tensors.add(node.variable.grad)
        running[number] = event
        events.append(event)

    def leave(sent: tuple[torch.Tensor | None, ...], _: tuple[torch.Tensor | None, ...]) -> None:
        event = running.pop(number)
        event["in"] = [tensors.add(gradient) for gradient in sent]
        if is_leaf(node):
            event["after"] = tensors.add(node.variable.grad)

    return [node.register_prehook(enter), node.register_hook(leave)]


@contextmanager
def kept(leaves: Sequence[torch.Tensor], buffers: Sequence[torch.Tensor] = ()) -> Iterator[None]:
    """Leave `.grad` of the leaves, values of the buffers and the random state as they were."""
    grads = [leaf.grad for leaf in leaves]
    copies = [buffer.detach().clone() for buffer in buffers]
    devices = [leaf.device.index for leaf in leaves if leaf.device.type == "cuda"]
    with ExitStack() as stack:
        stack.enter_context(torch.random.fork_rng(devices=sorted(set(devices))))
        for buffer in buffers:
            stack.enter_context(torch.autograd._unsafe_preserve_version_counter(buffer))
        for leaf, grad in zip(leaves, grads, strict=True):
            leaf.grad = None if grad is None else grad.clone()
        try:
            yield
        finally:
            for leaf, grad in zip(leaves, grads, strict=True):
                leaf.grad = grad
            with torch.no_grad():
                for buffer, copy in zip(buffers, copies, strict=True):
                    buffer.copy_(copy)


@contextmanager
def same_values(tensor: torch.Tensor) -> Iterator[None]:
    """Let an edit of `tensor` happen inside, and leave its values and its version as they were."""
    with torch.autograd._unsafe_preserve_version_counter(tensor):
        before = tensor.detach().clone()
        try:
            yield
        finally:
            with torch.no_grad():
                tensor.copy_(before)
