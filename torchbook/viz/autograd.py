"""AutogradExplorer: a real autograd graph, stepped forward and backward."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import traitlets

from torchbook.viz.base import Visualizer

if TYPE_CHECKING:
    import torch

    from torchbook.viz import recording

LIMIT = 200_000  # characters of JSON: the state travels in the page and in the notebook
NODES = 160  # a graph of a gradient that is larger than this is counted, not drawn
AGAIN = "Give a function that computes the loss, so that it can run again: AutogradExplorer(lambda: …)."


class AutogradExplorer(Visualizer):
    """The graph that autograd recorded, what it saved, and a real backward through it, step by step.

    Nothing is simulated: nodes come from `grad_fn` and `next_functions`, gradients from hooks during backwards of the
    engine, error messages from torch. `.grad`, buffers and the random state are put back, and the graph you gave stays
    usable. Your own hooks on its tensors run at each recorded backward.

    Args:
        loss: a tensor of one element with a `grad_fn`, or a function without arguments that computes one. With a
            function the questions that need another run are answered too: a second backward after the first freed the
            graph, `detach`, `no_grad`, `retain_grad`, an edit in place. It must do the same each time; random numbers
            come out the same. It may return `(loss, {"h": h})` to name tensors.
        params: names of tensors: an `nn.Module`, or a dict; leaves and intermediate tensors alike. Hooks are told for
            named tensors; torch does not list those of nodes.
        targets: for how many tensors, at most, `detach` and the edit in place are tried.
        traits: `scenario`, `target`, `step`, `selected` to start from.

    Raises:
        TypeError: `loss` is neither a tensor nor a function that returns one.
        ValueError: the loss has several elements, or nothing recorded it.

    Example:
        >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> AutogradExplorer(lambda: (w * w).sum(), params={"w": w})
    """

    _speaks = False  # what is seen is said by the page alone
    graphs: traitlets.List[dict[str, Any]] = traitlets.List(
        help="The recorded graph and, where it was recorded, the graph of the gradient."
    ).tag(sync=True)
    tensors: traitlets.List[dict[str, Any]] = traitlets.List(
        help="Summaries of all tensors; graphs and scenarios refer to them by index."
    ).tag(sync=True)
    scenarios: traitlets.List[dict[str, Any]] = traitlets.List(help="What was really run, and what came of it.").tag(
        sync=True
    )
    scenario = traitlets.Unicode("backward", help="Key of the scenario that is shown.").tag(sync=True)
    target = traitlets.Int(-1, help="The node that the scenario is about, where it is about one; else -1.").tag(
        sync=True
    )
    step = traitlets.Int(
        -1,
        help="How far the picture has run: 0 is before the first operation, and -1, where nobody chose, amid the "
        "backward or where torch raises an error.",
    ).tag(sync=True)
    selected = traitlets.Int(-1, help="The node whose details are shown; -1 for none.").tag(sync=True)

    def __init__(
        self,
        loss: torch.Tensor | Callable[[], Any],
        params: torch.nn.Module | Mapping[str, torch.Tensor] | None = None,
        *,
        targets: int = 12,
        **traits: Any,
    ) -> None:
        record = _Record(loss, params, targets)
        super().__init__(graphs=record.graphs, tensors=record.tensors.rows, scenarios=record.scenarios, **traits)

    def _describe(self) -> str:
        nodes, run = self.graphs[0]["nodes"], self.scenarios[0]["runs"][""]
        leaves = [node["label"] or "a leaf without a name" for node in nodes if node["kind"] == "leaf"]
        order = [nodes[event["node"]]["name"] for event in run["passes"][0]["events"]]
        first = ", ".join(order[:6]) + (", …" if len(order) > 6 else "")
        return (
            f"Autograd graph of {len(nodes)} nodes: {len(nodes) - len(leaves)} operations and {len(leaves)} leaves "
            f"({', '.join(leaves[:8])}{', …' if len(leaves) > 8 else ''}). Backward runs {first}."
        )

    def _draw(self) -> str:
        return _picture(self.graphs[0])


@dataclass
class _Run:
    """One run of the caller's function."""

    loss: torch.Tensor
    names: dict[str, torch.Tensor]
    watch: recording.Watch
    operations: recording.Operations


class _Record:
    """All that the explorer shows, from real runs."""

    def __init__(self, loss: Any, params: Any, targets: int) -> None:
        from torchbook.viz import recording

        self.tool, self.tensors, self.limit = recording, recording.Tensors(), targets
        self.names, self.buffers = _named(params)
        self.fn = loss if callable(loss) and not hasattr(loss, "grad_fn") else None
        self.first: _Run | None = None
        if self.fn:
            with self._kept([*self.names.values()]):
                self.first = self._run(values=True)
            self.loss = self.first.loss
            self.names = {**self.names, **self.first.names}
        else:
            self.loss = loss
        _check(self.loss)
        self.graph = recording.Graph([self.loss], {**self.names, "loss": self.loss})
        operations = self.first.operations if self.first else None
        self.graphs = [recording.describe(self.graph, self.tensors, operations)]
        self.keys = operations.keys(self.graph) if operations else {}
        self.scenarios = [self._backward(), self._again(), self._second(), self._retain_grad()]
        self.scenarios += [self._detach(), self._no_grad(), self._in_place(), self._create_graph()]
        self._fit()

    # Running the caller's function, and coming back to where we were

    def _run(self, edit: Any = None, grad: bool = True, values: bool = False) -> _Run:
        import torch

        assert self.fn
        watch = self.tool.Watch(edit)
        operations = self.tool.Operations(watch, values)
        with nullcontext() if grad else torch.no_grad(), watch, operations:
            made = self.fn()
        loss, names = made if isinstance(made, tuple) else (made, {})
        return _Run(loss, dict(names), watch, operations)

    @contextmanager
    def _kept(self, tensors: list[torch.Tensor] | None = None) -> Iterator[None]:
        mine = self.graph.leaves if tensors is None else tensors
        named = [tensor for tensor in self.names.values() if tensor.is_leaf or tensor.retains_grad]
        all_of_them = {id(tensor): tensor for tensor in [*mine, *named] if tensor.requires_grad}
        with self.tool.kept([t for t in all_of_them.values() if t.is_leaf or t.retains_grad], self.buffers):
            yield

    def _again_graph(self, run: _Run) -> recording.Graph:
        """The graph of another run, with the numbers that its nodes had in the first."""
        graph = self.tool.Graph([run.loss], {})
        numbers = run.operations.keys(graph)
        if any(key not in self.keys for key in numbers):
            raise _OtherGraphError
        graph.ids = {graph.nodes[number]: self.keys[key] for key, number in numbers.items()}
        return graph

    def _missing(self, run: _Run, there: set[int]) -> dict[str, list[int]]:
        """Nodes of the first run that a backward of this one cannot reach, and which of them it never recorded."""
        made = [t for t in [*run.watch.replaced, *(t for _, t in run.watch.results)] if t.grad_fn is not None]
        keys = run.operations.keys(self.tool.Graph(made, {}))
        recorded = {self.keys[key] for key in keys if key in self.keys}
        operations = {number for node, number in self.graph.ids.items() if not self.tool.is_leaf(node)}
        missing = {*self.graph.ids.values()} - there
        return {"missing": sorted(missing), "unrecorded": sorted(missing & operations - recorded)}

    def _pass(self, graph: recording.Graph, call: Callable[[], Any]) -> dict[str, Any]:
        return self.tool.backward(graph, self.tensors, call)

    def _rerun(self, then: Callable[[_Run, recording.Graph], dict[str, Any]], edit: Any = None) -> dict[str, Any]:
        with self._kept():
            try:
                run = self._run(edit)
                return then(run, self._again_graph(run))
            except _OtherGraphError:
                return {
                    "passes": [],
                    "note": "The function built other nodes when it ran again, so this was not recorded.",
                }

    # What was run

    def _backward(self) -> dict[str, Any]:
        if self.first is None:
            with self._kept():
                passes = [self._pass(self.graph, lambda: self.loss.backward(retain_graph=True))]
            note = (
                "Recorded with retain_graph=True, so that the loss you gave stays usable; the gradients are the same."
            )
            return _scenario("backward", "backward()", "loss.backward()", {"": {"passes": passes, "note": note}})

        def once(run: _Run, graph: recording.Graph) -> dict[str, Any]:
            done = {"passes": [self._pass(graph, run.loss.backward)]}
            nodes, message = self.tool.freed(graph)
            return {**done, "freed": nodes, "freed_error": message}

        return _scenario("backward", "backward()", "loss.backward()", {"": self._rerun(once)})

    def _again(self) -> dict[str, Any]:
        code = "loss.backward(retain_graph=True)\nloss.backward(retain_graph=True)  # adds to every .grad"
        with self._kept():
            passes = [self._pass(self.graph, lambda: self.loss.backward(retain_graph=True)) for _ in range(2)]
        return _scenario("again", "backward twice, retain_graph=True", code, {"": {"passes": passes}})

    def _second(self) -> dict[str, Any]:
        code = "loss.backward()\nloss.backward()  # what the first saved is gone"

        def twice(run: _Run, graph: recording.Graph) -> dict[str, Any]:
            first = self._pass(graph, run.loss.backward)
            nodes, message = self.tool.freed(graph)
            return {"passes": [first, self._pass(graph, run.loss.backward)], "freed": nodes, "freed_error": message}

        return self._if_again("second", "backward twice", code, lambda: {"": self._rerun(twice)})

    def _retain_grad(self) -> dict[str, Any]:
        code = "for tensor in intermediates:\n    tensor.retain_grad()\nloss.backward()"

        def retaining(run: _Run, graph: recording.Graph) -> dict[str, Any]:
            made = self._made(run, graph)
            for tensor in made.values():
                tensor.retain_grad()
            passes = [self._pass(graph, run.loss.backward)]
            return {"passes": passes, "grads": {str(node): self.tensors.add(t.grad) for node, t in made.items()}}

        return self._if_again("retain_grad", "retain_grad()", code, lambda: {"": self._rerun(retaining)})

    def _detach(self) -> dict[str, Any]:
        code = "{0} = {0}.detach()  # as soon as it is computed\n# the rest of the forward\nloss.backward()"

        def cut(run: _Run, graph: recording.Graph) -> dict[str, Any]:
            missing = self._missing(run, {*graph.ids.values()})
            return {"passes": [self._pass(graph, run.loss.backward)], **missing}

        def runs() -> dict[str, Any]:
            assert self.first
            by_node = {}
            for node, place in self._places(self.first).items():
                edit = {place: lambda tensor: tensor.detach()}
                with self._kept():
                    run = self._run(edit)
                    error = self._error(run.loss.backward) if run.loss.grad_fn is None else None
                if error:
                    by_node[str(node)] = {"passes": [{"events": [], "error": error}], **self._missing(run, set())}
                else:
                    by_node[str(node)] = self._rerun(cut, edit)
            return by_node

        return self._if_again("detach", "detach()", code, runs)

    def _no_grad(self) -> dict[str, Any]:
        code = "with torch.no_grad():\n    loss = compute()\nloss.backward()"

        def runs() -> dict[str, Any]:
            with self._kept():
                run = self._run(grad=False)
                error = self._error(run.loss.backward)
            return {"": {"passes": [{"events": [], "error": error}], **self._missing(run, set())}}

        return self._if_again("no_grad", "no_grad()", code, runs)

    def _in_place(self) -> dict[str, Any]:
        code = "{0}.add_(1)  # after the forward\nloss.backward()"

        def runs() -> dict[str, Any]:
            assert self.first
            by_node = {}
            for node in self._places(self.first):

                def edited(run: _Run, graph: recording.Graph, node: int = node) -> dict[str, Any]:
                    tensor = self._made(run, graph)[node]
                    error = self._error(lambda: tensor.add_(1))
                    if error:
                        return {"passes": [], "edit_error": error}
                    return {"passes": [self._pass(graph, run.loss.backward)], "version": tensor._version}

                by_node[str(node)] = self._rerun(edited)
            for leaf in self.graph.leaves[: self.limit]:
                by_node[str(self._number(leaf))] = self._rerun(self._leaf_edit(leaf))
            return by_node

        scenario = self._if_again("in_place", "edit in place", code, runs)
        return {**scenario, "leaf_code": "with torch.no_grad():\n    {0}.add_(1)  # after the forward\nloss.backward()"}

    def _leaf_edit(self, leaf: torch.Tensor) -> Callable[[_Run, recording.Graph], dict[str, Any]]:
        import torch

        def edited(run: _Run, graph: recording.Graph) -> dict[str, Any]:
            refused = self._error(lambda: leaf.add_(1))
            with self.tool.same_values(leaf):
                with torch.no_grad():
                    leaf.add_(1)
                passes = [self._pass(graph, run.loss.backward)]
                return {"passes": passes, "refused": refused, "version": leaf._version}

        return edited

    def _create_graph(self) -> dict[str, Any]:
        import torch

        code = (
            "grads = torch.autograd.grad(loss, params, create_graph=True)\n"
            "torch.autograd.backward(grads, [torch.ones_like(g) for g in grads])"
        )
        leaves = self.graph.leaves
        operations = self.tool.Operations()
        with self._kept(), operations:
            try:
                grads = torch.autograd.grad(self.loss, leaves, create_graph=True, allow_unused=True)
            except RuntimeError as error:
                return _scenario("create_graph", "create_graph=True", code, why=f"torch: {error}")
        roots = {
            f"{self.graph.name(leaf) or 'leaf'}.grad": grad
            for leaf, grad in zip(leaves, grads, strict=True)
            if grad is not None and grad.grad_fn is not None
        }
        if not roots:
            why = "No gradient of this loss depends on anything that requires a gradient, so nothing was recorded."
            return _scenario("create_graph", "create_graph=True", code, why=why)
        graph = self.tool.Graph([*roots.values()], {**self.names, **roots})
        if len(graph.nodes) > NODES:
            why = f"The graph of the gradient has {len(graph.nodes)} nodes, too many to draw."
            return _scenario("create_graph", "create_graph=True", code, why=why)
        drawn = self.tool.describe(graph, self.tensors, operations)
        for node, number in self.graph.ids.items():
            if node in graph.ids:
                here = drawn["nodes"][graph.ids[node]]
                here["first"] = number
                if here["value"] is None:
                    here |= {name: self.graphs[0]["nodes"][number][name] for name in ("value", "source")}
        with self._kept():
            ones = [torch.ones_like(root) for root in roots.values()]
            call = lambda: torch.autograd.backward([*roots.values()], ones, retain_graph=True)  # noqa: E731
            passes = [self._pass(graph, call)]
        self.graphs.append(drawn)
        return {**_scenario("create_graph", "create_graph=True", code, {"": {"passes": passes}}), "graph": 1}

    # Small parts

    def _if_again(self, key: str, label: str, code: str, runs: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        return _scenario(key, label, code, runs()) if self.first else _scenario(key, label, code, why=AGAIN)

    @staticmethod
    def _error(call: Callable[[], Any]) -> dict[str, Any] | None:
        try:
            call()
        except RuntimeError as error:
            return {"kind": type(error).__name__, "text": str(error), "node": None}
        return None

    def _number(self, leaf: torch.Tensor) -> int:
        return next(n for node, n in self.graph.ids.items() if getattr(node, "variable", None) is leaf)

    def _made(self, run: _Run, graph: recording.Graph) -> dict[int, torch.Tensor]:
        """The tensors that the function's calls returned, by the node that made them."""
        made = {}
        for _, tensor in run.watch.results:
            if tensor.grad_fn in graph.ids and tensor.output_nr == 0:
                made[graph.ids[tensor.grad_fn]] = tensor
        return made

    def _places(self, run: _Run) -> dict[int, int]:
        """For each tensor that can be asked about: its node, and which call returned it; spread if there are many."""
        places = {}
        for place, (_, tensor) in enumerate(run.watch.results):
            if tensor.grad_fn in self.graph.ids and tensor.output_nr == 0:
                places[self.graph.ids[tensor.grad_fn]] = place
        if len(places) > self.limit:
            keys = sorted(places)
            picked = {keys[index * len(keys) // self.limit] for index in range(self.limit)}
            places = {node: place for node, place in places.items() if node in picked}
        return dict(sorted(places.items()))

    def _fit(self) -> None:
        """Leave out the last targets while the state is too large to travel in a page."""

        def size() -> int:
            return len(json.dumps([self.graphs, self.tensors.rows, self.scenarios]))

        while size() > LIMIT:
            long = [s for s in self.scenarios if len(s["runs"]) > 1]
            if long:
                for scenario in long:
                    scenario["runs"].pop([*scenario["runs"]][-1])
            elif len(self.graphs) > 1:
                self.graphs.pop()
                last = self.scenarios[-1]
                last |= {"runs": {}, "graph": 0, "why": "The graph of the gradient is too large for a page."}
            else:
                break


class _OtherGraphError(Exception):
    """The function did not build the same graph again."""


def _scenario(key: str, label: str, code: str, runs: dict[str, Any] | None = None, why: str = "") -> dict[str, Any]:
    runs = runs or {}
    targets = [int(node) for node in runs if node]
    return {"key": key, "label": label, "code": code, "runs": runs, "targets": targets, "why": why, "graph": 0}


def _named(params: Any) -> tuple[dict[str, Any], list[Any]]:
    if params is None:
        return {}, []
    if hasattr(params, "named_parameters"):
        return dict(params.named_parameters()), list(params.buffers())
    return dict(params), []


def _check(loss: Any) -> None:
    import torch

    if not isinstance(loss, torch.Tensor):
        raise TypeError(f"AutogradExplorer needs a tensor or a function that returns one, got {type(loss).__name__}")
    if loss.numel() != 1:
        raise ValueError(f"AutogradExplorer needs a loss of one element, got the shape {tuple(loss.shape)}")
    if loss.grad_fn is None:
        raise ValueError("nothing recorded this loss: no tensor that it was computed from requires a gradient")


def _picture(graph: dict[str, Any]) -> str:
    """Boxes in rows, the leaves on top and the loss below, as SVG that needs no colour."""
    nodes = graph["nodes"]
    after: dict[int, list[int]] = {number: [] for number in range(len(nodes))}
    for edge in graph["edges"]:
        after[edge["from"]].append(edge["to"])
    depth: dict[int, int] = {}
    for number in range(len(nodes)):  # inputs have smaller numbers than what is made of them
        depth[number] = max((depth.get(to, 0) + 1 for to in after[number]), default=0)
    for number, node in enumerate(nodes):  # a leaf stands just above its first use
        if node["kind"] == "leaf":
            uses = [depth[edge["from"]] for edge in graph["edges"] if edge["to"] == number]
            depth[number] = min(uses, default=1) - 1
    rows: dict[int, list[int]] = {}
    for number in range(len(nodes)):
        rows.setdefault(depth[number], []).append(number)
    wide, high, gap = 176, 34, 64
    levels = {row: level for level, row in enumerate(sorted(rows))}
    margin = 70 if any(levels[depth[e["from"]]] - levels[depth[e["to"]]] > 1 for e in graph["edges"]) else 0
    width = max(len(row) for row in rows.values()) * (wide + 16) + 2 * margin
    spot = {}
    for row, level in levels.items():
        for place, number in enumerate(rows[row]):
            spot[number] = (margin + (place + 0.5) * (width - 2 * margin) / len(rows[row]), level * gap + high)
    height = len(rows) * gap + 16
    lines = []
    for edge in graph["edges"]:
        (x0, y0), (x1, y1) = spot[edge["to"]], spot[edge["from"]]
        side = (
            min(x0, x1) - wide / 2 - 44
            if levels[depth[edge["from"]]] - levels[depth[edge["to"]]] > 1
            else (x0 + x1) / 2
        )
        ends = f"{x0:.0f} {y0 + high / 2:.0f}", f"{x1:.0f} {y1 - high / 2:.0f}"
        lines.append(f'<path d="M{ends[0]}Q{side:.0f} {(y0 + y1) / 2:.0f} {ends[1]}"/>')
    boxes = []
    for number, node in enumerate(nodes):
        x, y = spot[number]
        leaf = node["kind"] == "leaf"
        text = escape((node["label"] or "leaf") if leaf else node["name"])
        boxes.append(
            f'<rect x="{x - wide / 2:.0f}" y="{y - high / 2:.0f}" width="{wide}" height="{high}" '
            f'rx="{17 if leaf else 4}" fill="#808080" fill-opacity=".12" stroke="currentColor"/>'
            f'<text x="{x:.0f}" y="{y + 5:.0f}" text-anchor="middle" fill="currentColor">{text}</text>'
        )
    label = "Autograd graph: rounded boxes are leaves, lines join each operation to its inputs above it"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'style="max-width:100%;max-height:36rem;height:auto" role="img" aria-label="{label}" '
        f'font-family="sans-serif" font-size="14">'
        f'<g stroke="currentColor" stroke-opacity=".6" fill="none">{"".join(lines)}</g>{"".join(boxes)}</svg>'
    )
