"""TraceExplorer: a finished profile as a flame chart over time, with the table of its operators."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from typing import Any

import traitlets

from torchbook.viz.base import Visualizer
from torchbook.viz.units import counted

LIMIT = 3000  # events that are drawn; the state travels in the page and in the notebook
PHASES = ("data", "forward", "backward", "optimizer", "other")
_OTHER = PHASES.index("other")
_RULES = (
    (r"^enumerate\(DataLoader\)", "data"),
    (r"^Optimizer\.(step|zero_grad)#", "optimizer"),
    (r"^autograd::engine::evaluate_function|^torch::autograd::(AccumulateGrad|GraphRoot|CopyBackwards)", "backward"),
)
_ANNOTATIONS = (
    (r"\b(data|load\w*|batch|fetch|dataloader|collate)\b", "data"),
    (r"\b(forward|fwd|model|loss)\b", "forward"),
    (r"\b(backward|bwd)\b", "backward"),
    (r"\b(optimizer|optim|zero_grad|update)\b", "optimizer"),
)
_STEP = "ProfilerStep"
_KINDS = ("CPU", "async", "GPU", "marks")  # of lanes, in this order


@dataclass
class _Node:
    """An event of the profile, or several merged into one; times in microseconds from the first event."""

    name: str
    start: float
    end: float
    total: float
    own: float
    calls: int = 1
    shape: str = ""
    phase: int = -1
    gpu: float = 0.0
    children: list[_Node] = field(default_factory=list)
    events: list[Any] = field(default_factory=list)
    folded: dict[str, list[float]] = field(default_factory=dict)  # of what is not drawn: calls, self, total, GPU
    number: int = -1

    def walk(self) -> Iterator[_Node]:
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += reversed(node.children)


@dataclass
class _Lane:
    """A CPU thread, or a stream of a GPU."""

    name: str
    gpu: bool
    roots: list[_Node]


class TraceExplorer(Visualizer):
    """A finished `torch.profiler.profile` as a flame chart over time, and the table of its operators.

    Events, their nesting, times and shapes are those of the profile. Phases (data, forward, backward, optimizer) come
    from what torch itself names: the DataLoader's, the optimizer's and the engine's events, the numbers that tie a
    backward to its forward, and your own `record_function` marks with such words in their names. The reader zooms,
    searches, sorts, and goes from a forward operation to its backward. On the plain page the same figure works without
    a kernel.

    Args:
        prof: the profile, after its `with` block; or its `events()`.
        steps: how many training steps it covers. By default they are counted: `prof.step()`'s marks, else the calls of
            an optimizer's step.
        phases: more names for phases, e.g. `{"augment": "data"}`: part of an event's name, and one of "data",
            "forward", "backward", "optimizer", "other".
        limit: how many events are drawn. In a larger profile the smallest are merged with neighbours of their name or
            left out below their parent; the words say how many, and the table counts all of them.
        view: name of a ready view to start from: "whole", "step", "data", "forward", "backward", "optimizer", "gap" or
            "top", as far as the profile has them.

    Attributes:
        table: a dict for each operator: name, where ("CPU" or "GPU"), calls, self_us, total_us, gpu_us.

    Raises:
        TypeError: `prof` is not a profile.
        ValueError: it is not finished, has no events, or there is no such view or phase.

    Example:
        >>> with torch.profiler.profile() as prof:
        ...     train_step()
        >>> TraceExplorer(prof)
    """

    _speaks = False  # what is seen is said by the page alone
    trace = traitlets.Dict(help="Lanes, events and table of the profile; times in tenths of a microsecond.").tag(
        sync=True
    )
    start = traitlets.Int(0, help="Left end of what is in view, in tenths of a microsecond.").tag(sync=True)
    end = traitlets.Int(0, help="Right end of what is in view.").tag(sync=True)
    selected = traitlets.Int(-1, help="Number of the chosen event; -1 for none.").tag(sync=True)
    query = traitlets.Unicode("", help="What is searched for in the names.").tag(sync=True)
    phase = traitlets.Unicode("", help="The phase that is singled out; empty for all.").tag(sync=True)
    scope = traitlets.Enum(("all", "view", "event"), "all", help="What the table counts.").tag(sync=True)
    sort = traitlets.Enum(("self", "total", "calls", "name", "gpu"), "self", help="Column of the order.").tag(sync=True)

    def __init__(
        self,
        prof: Any,
        *,
        steps: int | None = None,
        phases: Mapping[str, str] | None = None,
        limit: int = LIMIT,
        view: str | None = None,
        **traits: Any,
    ) -> None:
        self._profile = _Profile(prof, steps, dict(phases or {}), limit)
        trace = self._profile.as_json()
        chosen: dict[str, Any] = {"start": 0, "end": trace["end"]}
        if view is not None:
            ready = {entry["key"]: entry for entry in trace["views"]}
            if view not in ready:
                raise ValueError(f"no view is called {view!r}; there are {', '.join(ready)}")
            chosen |= {name: ready[view][name] for name in ("start", "end", "selected", "query", "phase")}
        super().__init__(trace=trace, **{**chosen, **traits})

    @property
    def table(self) -> list[dict[str, Any]]:
        rows: dict[tuple[str, bool], list[float]] = {}
        for name, gpu, _, *numbers in self._profile.rows():
            _add(rows.setdefault((name, gpu), [0, 0.0, 0.0, 0.0]), numbers)
        return [
            {"name": name, "where": "GPU" if gpu else "CPU", "calls": int(calls), "self_us": own, "total_us": total,
             "gpu_us": on_gpu}
            for (name, gpu), (calls, own, total, on_gpu) in sorted(rows.items(), key=lambda row: -row[1][1])
        ]  # fmt: skip

    def _describe(self) -> str:
        return self.trace["summary"]

    def _draw(self) -> str:
        return self._profile.picture(self.trace["summary"])


class _Profile:
    """What the explorer shows of a profile."""

    def __init__(self, prof: Any, steps: int | None, phases: dict[str, str], limit: int) -> None:
        for phase in phases.values():
            if phase not in PHASES:
                raise ValueError(f"no phase is called {phase!r}; there are {', '.join(PHASES)}")
        self.events = _events(prof)
        self.marks = phases
        self.zero = min(event.time_range.start for event in self.events)
        self.last = max(event.time_range.end for event in self.events)
        self.node_of: dict[int, _Node] = {}
        self.has_gpu = not all(map(_on_cpu, self.events))
        self.lanes = self._lanes()
        self.links = self._links()
        self.launches = self._launches(prof)
        self._label()
        self.boundaries = self._boundaries()
        self.steps = steps if steps is not None else len(self.boundaries)
        if len(self.boundaries) != self.steps:
            self.boundaries = []
        self.all_rows = self._rows()
        self.count = sum(1 for lane in self.lanes for root in lane.roots for _ in root.walk())
        self.full = self.lanes
        self.threshold = 0.0
        self._compact(limit)
        self.nodes = [node for lane in self.lanes for root in lane.roots for node in root.walk()]
        self.drawn: dict[int, _Node] = {}
        for number, node in enumerate(self.nodes):
            node.number = number
            self.drawn |= {id(event): node for event in node.events}

    # Reading the profile

    def _lanes(self) -> list[_Lane]:
        threads: dict[tuple[Any, ...], list[Any]] = {}
        for event in self.events:
            threads.setdefault(_lane_of(event), []).append(event)
        lanes = []
        for key in sorted(threads, key=lambda key: (_KINDS.index(key[0]), *(str(part).zfill(20) for part in key[1:]))):
            kind, number, stream = key
            if kind == "CPU":
                roots = [self._node(event) for event in threads[key] if event.cpu_parent is None]
                lanes.append(_Lane(f"CPU thread {number}", False, _by_time(roots)))
            else:
                name = {"async": f"CPU thread {number}, asynchronous", "marks": f"GPU {number}, your marks"}.get(
                    kind, f"GPU {number}, stream {stream}"
                )
                roots = _nested([self._node(event) for event in threads[key]])
                for node in roots if kind == "marks" else []:
                    for mark in node.walk():
                        mark.own = 0.0  # a mark is no work of the GPU
                lanes.append(_Lane(name, kind in ("GPU", "marks"), roots))
        return lanes

    def _node(self, event: Any) -> _Node:
        start, end = event.time_range.start - self.zero, event.time_range.end - self.zero
        on_cpu = _on_cpu(event)
        children = [self._node(child) for child in _by_start(event.cpu_children)] if on_cpu else []
        total = end - start
        node = _Node(
            name=event.name,
            start=start,
            end=end,
            total=total,
            own=(event.self_cpu_time_total if on_cpu and not event.is_async else 0.0 if on_cpu else total),
            shape=_shapes(event.input_shapes),
            gpu=float(event.self_device_time_total) if on_cpu and self.has_gpu else 0.0,
            children=children,
            events=[event],
        )
        self.node_of[id(event)] = node
        return node

    def _links(self) -> list[tuple[Any, Any]]:
        """Pairs of a forward operation and its backward: the last operation that began with the same number."""
        forwards: dict[tuple[int, int], list[Any]] = {}
        for event in _by_start(self.events):
            if event.sequence_nr >= 0 and event.scope == 0 and not event.name.startswith("autograd::engine"):
                forwards.setdefault((event.thread, event.sequence_nr), []).append(event)
        pairs = []
        for event in self.events:
            if event.scope == 1 and event.sequence_nr >= 0 and event.fwd_thread:
                candidates = forwards.get((event.fwd_thread, event.sequence_nr), [])
                before = [forward for forward in candidates if forward.time_range.start < event.time_range.start]
                if before:
                    pairs.append((before[-1], event))
        return pairs

    def _launches(self, prof: Any) -> list[tuple[Any, Any]]:
        """Pairs of an operation on the CPU and a kernel that it started."""
        kernels = [event for event in self.events if not _on_cpu(event)]
        if not kernels:
            return []
        linked = {id(event): getattr(event, "linked_correlation_id", 0) for event in kernels}
        if not any(linked.values()):
            linked = _linked_by_kineto(prof, kernels)
        operations = {event.id: event for event in self.events if _on_cpu(event) and not event.is_async}
        return [(operations[linked[id(e)]], e) for e in kernels if linked.get(id(e)) in operations]

    # Phases

    def _label(self) -> None:
        tied = {id(forward) for forward, _ in self.links}
        for lane in self.lanes:
            if not lane.gpu:
                for root in lane.roots:
                    self._guess(root, tied)
                self._settle(lane.roots, -1)
        for operation, kernel in self.launches:
            self.node_of[id(kernel)].phase = self.node_of[id(operation)].phase
        for lane in self.lanes:
            for root in lane.roots:
                for node in root.walk():
                    if node.phase < 0:
                        node.phase = _OTHER

    def _guess(self, node: _Node, tied: set[int]) -> set[int]:
        """Give this event the phase that its own name or number tells, and return those at and below it."""
        below: set[int] = set()
        for child in node.children:
            below |= self._guess(child, tied)
        event = node.events[0]
        node.phase = self._own_phase(event)
        if node.phase < 0 and id(event) in tied:
            node.phase = PHASES.index("forward")
        if node.phase < 0 and len(below) == 1:
            node.phase = next(iter(below))
        return {node.phase} if node.phase >= 0 else below

    def _own_phase(self, event: Any) -> int:
        for part, phase in self.marks.items():
            if part in event.name:
                return PHASES.index(phase)
        if event.scope == 1:
            return PHASES.index("backward")
        phase_index = _first(_RULES, event.name)
        if phase_index < 0 and getattr(event, "is_user_annotation", False) and not event.name.startswith(_STEP):
            return _first(_ANNOTATIONS, event.name.replace("_", " ").lower())
        return phase_index

    def _settle(self, siblings: list[_Node], above: int) -> None:
        """Events without a phase take that of their parent, or of the forward or backward around them."""
        left, right = [-1], [-1]
        for node in siblings:
            left.append(node.phase if node.phase >= 0 else left[-1])
        for node in reversed(siblings):
            right.append(node.phase if node.phase >= 0 else right[-1])
        inside = PHASES.index("forward"), PHASES.index("backward")
        for node, before, after in zip(siblings, left[1:], reversed(right[1:]), strict=True):
            if node.phase < 0:
                node.phase = above if above >= 0 else before if before == after and before in inside else -1
            self._settle(node.children, node.phase)

    def _boundaries(self) -> list[tuple[float, float]]:
        on_cpu = [node for lane in self.lanes if not lane.gpu for root in lane.roots for node in root.walk()]
        spans = [(node.start, node.end) for node in on_cpu if node.name.startswith(_STEP)]
        if spans:
            return sorted(spans)
        ends = sorted(node.end for node in on_cpu if node.name.startswith("Optimizer.step#"))
        return list(zip([0.0, *ends[:-1]], ends, strict=True)) if ends else []

    def _all(self) -> Iterator[_Node]:
        for lane in self.lanes:
            for root in lane.roots:
                yield from root.walk()

    # Making it small

    def _compact(self, limit: int) -> None:
        if self.count <= limit:
            return
        sizes = sorted({node.total for node in self._all()})
        sizes.append(sizes[-1] / _MIXED)
        if _size(self.full, sizes[-1]) > limit:
            raise ValueError(f"limit={limit} is too small for the {len(self.lanes)} lanes of this profile")
        place = bisect.bisect_left(range(len(sizes)), True, key=lambda i: _size(self.full, sizes[i]) <= limit)
        self.threshold = sizes[place]
        self.lanes = [_Lane(lane.name, lane.gpu, _merged(lane.roots, self.threshold)) for lane in self.full]

    # What travels

    def _rows(self) -> dict[tuple[str, bool, int], list[float]]:
        rows: dict[tuple[str, bool, int], list[float]] = {}
        for lane in self.lanes:
            for root in lane.roots:
                for node in root.walk():
                    _add(rows.setdefault((node.name, lane.gpu, node.phase), [0, 0.0, 0.0, 0.0]), _numbers(node))
        return rows

    def rows(self) -> list[tuple[Any, ...]]:
        """Name, on the GPU?, phase, calls, self, total and GPU microseconds of every operator, most self time first."""
        ordered = sorted(self.all_rows.items(), key=lambda row: -row[1][1])
        return [(*key, *numbers) for key, numbers in ordered]

    def as_json(self) -> dict[str, Any]:
        names: dict[str, int] = {}
        shapes: dict[str, int] = {"": 0}
        columns: dict[str, list[int]] = {
            key: [] for key in ("name", "depth", "start", "span", "inner", "phase", "shape")
        }
        sparse: dict[str, dict[str, Any]] = {"merged": {}, "folded": {}, "gpu": {}}
        lanes = []
        number, before = 0, 0
        for lane in self.lanes:
            lanes.append({"name": lane.name, "gpu": lane.gpu, "first": number})
            for node, depth in _preorder(lane.roots):
                start, end = _tenths(node.start), _tenths(node.end)
                total = _tenths(node.total) if node.calls > 1 else end - start
                inner = max(0, min(total, total - _tenths(node.own))) if node.children or node.folded else 0
                row = {"name": names.setdefault(node.name, len(names)), "depth": depth, "start": start - before,
                       "span": end - start, "inner": inner, "phase": node.phase,
                       "shape": shapes.setdefault(node.shape, len(shapes))}  # fmt: skip
                for key, value in row.items():
                    columns[key].append(value)
                if node.calls > 1:
                    sparse["merged"][str(number)] = [node.calls, total]
                if node.folded:
                    sparse["folded"][str(number)] = [
                        [
                            names.setdefault(name, len(names)),
                            int(calls),
                            *map(_tenths, times if times[2] else times[:2]),
                        ]
                        for name, (calls, *times) in sorted(node.folded.items(), key=lambda item: -item[1][1])
                    ]
                if node.gpu:
                    sparse["gpu"][str(number)] = _tenths(node.gpu)
                before, number = start, number + 1
        rows = [[names.setdefault(name, len(names)), int(gpu), phase, int(calls), *map(_tenths, times)]
                for name, gpu, phase, calls, *times in self.rows()]  # fmt: skip
        return {
            "names": [*names],
            "shapes": [*shapes],
            "lanes": lanes,
            "columns": columns,
            **sparse,
            "links": _pairs(self.links, self.drawn),
            "launches": _pairs(self.launches, self.drawn),
            "rows": rows,
            "steps": [[_tenths(start), _tenths(end)] for start, end in self.boundaries],
            "count": self.count,
            "end": max(1, _tenths(self.last - self.zero)),
            "views": self._views(),
            "summary": self._summary(),
        }

    # Views that have a name

    def _views(self) -> list[dict[str, Any]]:
        wall = self.last - self.zero
        views = [_view("whole", "whole profile", 0, wall, note="")]
        within = (0.0, wall)
        if len(self.boundaries) > 1:
            by_length = sorted(self.boundaries, key=lambda step: step[1] - step[0])
            within = by_length[len(by_length) // 2]
            place = self.boundaries.index(within) + 1
            note = f"Step {place} of {len(self.boundaries)}, the one of median length: {_time(within[1] - within[0])}."
            views.append(_view("step", "one step", *within, note=note))
        labels = {"data": "data loading", "forward": "forward", "backward": "backward", "optimizer": "optimizer"}
        inside = f"of step {self.boundaries.index(within) + 1}" if len(self.boundaries) > 1 else "of the profile"
        for name, label in labels.items():
            mine = [
                node for lane in self.full if not lane.gpu for root in lane.roots for node in root.walk()
                if node.phase == PHASES.index(name) and within[0] <= node.start and node.end <= within[1]
            ]  # fmt: skip
            if mine:
                own = sum(node.own for node in mine)
                share = own / ((within[1] - within[0]) or 1)
                events = counted(len(mine), "event")
                note = f"The {label} {inside}: {_time(own)} in {events}, {_percent(share)} of its time."
                if name in ("data", "optimizer"):  # zero_grad and step may lie far apart
                    longest = max(mine, key=lambda node: ("zero_grad" not in node.name, node.end - node.start))
                    begin, end = longest.start, longest.end
                else:
                    begin, end = min(node.start for node in mine), max(node.end for node in mine)
                views.append(_view(name, label, begin, end, note=note, phase=name))
        gap = self._gap()
        if gap:
            lane, begin, end = gap
            note = (
                f"{lane} waits {_time(end - begin)}: the longest time without a kernel between its first and its last."
            )
            margin = (end - begin) * 0.15
            views.append(_view("gap", "longest GPU gap", max(0, begin - margin), min(wall, end + margin), note=note))
        top = self.rows()[0]
        calls = [node for node in self.nodes if node.name == top[0]]
        if calls:
            longest = max(calls, key=lambda node: node.total)
            note = f"{top[0]} has the most self time: {_time(top[4])} in {counted(int(top[3]), 'call')}."
            views.append(_view("top", "most self time", 0, wall, note=note, query=top[0], selected=longest.number))
        return views

    def _gap(self) -> tuple[str, float, float] | None:
        gaps = []
        for lane in self.full:
            if lane.gpu and "your marks" not in lane.name:
                busy = _union([(node.start, node.end) for node in lane.roots])
                gaps += [(b[0] - a[1], lane.name, a[1], b[0]) for a, b in pairwise(busy)]
        return max(gaps)[1:] if gaps else None

    # In words, and as a picture

    def _summary(self) -> str:
        wall = (self.last - self.zero) or 1e-9
        cpu = [lane for lane in self.full if not lane.gpu]
        steps = f" of {counted(self.steps, 'training step')}" if self.steps else ""
        text = [
            f"Profile{steps}, {_time(wall)}: {counted(self.count, 'event')} on {counted(len(cpu), 'CPU thread')}"
            + (f" and {counted(len(self.full) - len(cpu), 'lane')} of a GPU" if len(cpu) < len(self.full) else "")
            + "."
        ]
        rows: dict[str, float] = {}
        for name, gpu, _, _, own, *_ in self.rows():
            if not gpu:
                rows[name] = rows.get(name, 0.0) + own
        spent = sum(rows.values()) or 1e-9
        first = sorted(rows.items(), key=lambda row: -row[1])[:4]
        if first:
            listing = ", ".join(f"{name} {_time(own)} ({_percent(own / spent)})" for name, own in first)
            text.append(f"Most self time on the CPU: {listing}.")
        shares = self.shares()
        if len(shares) > 1:
            listing = ", ".join(f"{name} {_time(own)} ({_percent(own / spent)})" for name, own in shares.items())
            text.append(f"By phase: {listing}.")
        if cpu:
            busiest = max(cpu, key=lambda lane: _busy(lane))
            free = wall - _busy(busiest)
            if free > 0.005 * wall:
                text.append(
                    f"For {_time(free)} ({_percent(free / wall)}) {busiest.name} is in no event: "
                    f"plain Python, or waiting."
                )
        for lane in self.full:
            if lane.gpu and "your marks" not in lane.name:
                text.append(f"{lane.name} is busy {_percent(_busy(lane) / wall)} of the time.")
        hidden = self.count - len(self.nodes)
        if hidden > 0:
            text.append(
                f"{len(self.nodes)} are drawn; events of at most {_time(self.threshold)} are merged with neighbours or "
                f"counted in their parent, and the table has all of them."
            )
        return " ".join(text)

    def shares(self) -> dict[str, float]:
        """Self microseconds on the CPU by phase; the phases that do not occur are left out."""
        spent = dict.fromkeys(PHASES, 0.0)
        for _, gpu, phase, _, own, *_ in self.rows():
            if not gpu:
                spent[PHASES[phase]] += own
        return {name: own for name, own in spent.items() if own > 0}

    def picture(self, words: str) -> str:
        return _Picture(self).svg(words)


def _events(prof: Any) -> list[Any]:
    """The events of a profile, with their tree."""
    if isinstance(prof, (list, tuple)):
        events = prof
    elif callable(getattr(prof, "events", None)):
        try:
            events = prof.events()
        except (AssertionError, RuntimeError) as error:
            raise ValueError(f"the profile is not finished: leave its with block, or call stop() ({error})") from None
    elif hasattr(prof, "function_events"):
        events = prof.function_events
    else:
        raise TypeError(f"a finished torch.profiler.profile is needed, not {type(prof).__name__}")
    if not events:
        raise ValueError(
            "the profile has no events: is it finished (leave its with block first), and did anything run?"
        )
    if not all(hasattr(event, "time_range") for event in events):
        raise TypeError("these are averages, not events: give the profile itself")
    return list(events)


def _on_cpu(event: Any) -> bool:
    return str(event.device_type).rsplit(".", 1)[-1] == "CPU"


def _first(rules: Sequence[tuple[str, str]], name: str) -> int:
    """The phase of the first pattern that is in a name; -1 for none."""
    return next((PHASES.index(phase) for pattern, phase in rules if re.search(pattern, name)), -1)


def _lane_of(event: Any) -> tuple[Any, ...]:
    if not _on_cpu(event):
        if getattr(event, "is_user_annotation", False):
            return "marks", event.device_index, -1
        return "GPU", event.device_index, getattr(event, "device_resource_id", 0)
    return ("async" if event.is_async else "CPU"), event.thread, -1


def _linked_by_kineto(prof: Any, kernels: list[Any]) -> dict[int, int]:
    """For torch before 2.12: which operation started a kernel, from the raw results of the profiler."""
    raw = getattr(getattr(prof, "profiler", prof), "kineto_results", None)
    if raw is None:
        return {}
    zero = raw.trace_start_ns()
    known = {
        (raw_event.name(), (raw_event.start_ns() - zero) / 1000): raw_event.linked_correlation_id()
        for raw_event in raw.events()
    }
    return {id(event): known.get((event.trace_name, event.time_range.start), 0) for event in kernels}


def _shapes(shapes: Any) -> str:
    texts = [str(list(shape)) for shape in shapes or [] if shape]
    return ", ".join(texts)


def _by_start(events: Iterable[Any]) -> list[Any]:
    return sorted(events, key=lambda event: (event.time_range.start, -event.time_range.end))


def _by_time(nodes: list[_Node]) -> list[_Node]:
    return sorted(nodes, key=lambda node: (node.start, -node.end))


def _nested(nodes: list[_Node]) -> list[_Node]:
    """Nodes of a lane without parents of its own, put inside each other by their times."""
    roots: list[_Node] = []
    open_: list[_Node] = []
    for node in _by_time(nodes):
        while open_ and (node.start >= open_[-1].end or node.end > open_[-1].end):
            open_.pop()
        (open_[-1].children if open_ else roots).append(node)
        if open_:
            open_[-1].own -= node.total
        open_.append(node)
    return roots


def _numbers(node: _Node) -> list[float]:
    return [node.calls, node.own, node.total, node.gpu]


def _add(to: list[float], numbers: Sequence[float]) -> None:
    for place, number in enumerate(numbers):
        to[place] += number


def _fold(into: _Node, node: _Node, itself: bool) -> None:
    """Count `node`'s descendants, and the node where `itself`, in `into` instead of drawing them."""
    for inner in node.walk():
        if inner is not node or itself:
            _add(into.folded.setdefault(inner.name, [0, 0.0, 0.0, 0.0]), _numbers(inner))
        if inner is not node:
            into.events += inner.events
        for name, numbers in inner.folded.items():
            _add(into.folded.setdefault(name, [0, 0.0, 0.0, 0.0]), numbers)


SMALL = "small events"  # the name of merged events that have different names


_MIXED = 0.3  # up to this part of the threshold, events of different names are merged too


def _joins(before: _Node | None, node: _Node, threshold: float) -> bool:
    """Is `node` merged with the event before it? That is None where it is not small."""
    if before is None or node.total > threshold or before.phase != node.phase:
        return False
    return before.name == node.name or max(before.total, node.total) <= threshold * _MIXED


def _merged(siblings: list[_Node], threshold: float) -> list[_Node]:
    """Copies in which events up to `threshold` microseconds are joined with their like, and hold what is inside."""
    made: list[_Node] = []
    before: _Node | None = None
    for node in siblings:
        joins, small = _joins(before, node, threshold), node.total <= threshold
        before = node if small else None
        if joins:
            last = made[-1]
            if last.name != node.name and last.name != SMALL:
                _add(last.folded.setdefault(last.name, [0, 0.0, 0.0, 0.0]), _numbers(last))
                last.name, last.own, last.gpu = SMALL, 0.0, 0.0
            if last.name == SMALL:
                _fold(last, node, itself=True)
            else:
                _fold(last, node, itself=False)
                last.own += node.own
                last.gpu += node.gpu
            last.calls += node.calls
            last.total += node.total
            last.end = max(last.end, node.end)
            last.events += node.events
            last.shape = last.shape if last.shape == node.shape else ""
            continue
        copy = _Node(
            node.name, node.start, node.end, node.total, node.own, node.calls, node.shape, node.phase, node.gpu
        )
        copy.events = [*node.events]
        if small:
            _fold(copy, node, itself=False)
        else:
            copy.children = _merged(node.children, threshold)
        made.append(copy)
    return made


def _size(lanes: list[_Lane], threshold: float) -> int:
    """How many nodes `_merged` would leave."""
    count = 0
    waiting = [lane.roots for lane in lanes]
    while waiting:
        before: _Node | None = None
        for node in waiting.pop():
            small = node.total <= threshold
            count += not _joins(before, node, threshold)
            if not small:
                waiting.append(node.children)
            before = node if small else None
    return count


def _preorder(roots: list[_Node], depth: int = 0) -> Iterator[tuple[_Node, int]]:
    for node in roots:
        yield node, depth
        yield from _preorder(node.children, depth + 1)


def _pairs(pairs: list[tuple[Any, Any]], drawn: dict[int, _Node]) -> list[list[int]]:
    return [[a, b] for a, b in sorted({(drawn[id(a)].number, drawn[id(b)].number) for a, b in pairs})]


def _tenths(microseconds: float) -> int:
    return round(microseconds * 10)


def _view(key: str, label: str, start: float, end: float, *, note: str, query: str = "", phase: str = "",
          selected: int = -1) -> dict[str, Any]:  # fmt: skip
    first = max(0, int(start * 10))
    return {"key": key, "label": label, "note": note, "start": first, "end": max(first + 1, _tenths(end) + 1),
            "query": query, "phase": phase, "selected": selected}  # fmt: skip


def _union(intervals: list[tuple[float, float]]) -> list[tuple[float, float]]:
    joined: list[tuple[float, float]] = []
    for start, end in sorted(intervals):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return joined


def _busy(lane: _Lane) -> float:
    return sum(end - start for start, end in _union([(node.start, node.end) for node in lane.roots]))


def _time(microseconds: float) -> str:
    """For people: at least two significant digits."""
    for size, unit in ((1e6, "s"), (1e3, "ms")):
        if microseconds >= size:
            return f"{_digits(microseconds / size)} {unit}"
    return f"{_digits(microseconds)} µs"


def _digits(x: float) -> str:
    return f"{x:.0f}" if x >= 100 else f"{x:.1f}" if x >= 10 else f"{x:.2f}"


def _percent(share: float) -> str:
    x = 100 * share
    return f"{x:.0f} %" if x >= 9.95 or x == 0 else f"{x:.1f} %" if x >= 0.05 else "< 0.1 %"


class _Picture:
    """Static drawing: the upper rows of the chart, and the operators with the most self time as bars."""

    WIDTH, ROW, ROWS, BARS, RECTS = 720, 16, 4, 7, 420
    SHADE = (".30", ".10", ".20", ".38", ".03")  # by phase

    def __init__(self, profile: _Profile) -> None:
        self.profile = profile
        self.wall = (profile.last - profile.zero) or 1e-9

    def svg(self, words: str) -> str:
        parts: list[str] = []
        y = 0.0
        for lane in self.profile.lanes[:4]:
            parts.append(f'<text x="0" y="{y + 12:g}" fill-opacity=".75">{escape(lane.name)}</text>')
            y = self._lane(lane, y + 17, parts) + 8
        parts.append(
            f'<text x="0" y="{y + 10:g}" fill-opacity=".75">0</text><text x="{self.WIDTH}" y="{y + 10:g}" '
            f'text-anchor="end" fill-opacity=".75">{_time(self.wall)}</text>'
        )
        y = self._bars(self._phases(y + 26, parts), parts)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {self.WIDTH} {y:g}" '
            f'style="max-width:min(100%,{self.WIDTH}px);height:auto" font-family="system-ui,sans-serif" font-size="12" '
            f'fill="currentColor" aria-label="{escape(words)}">{"".join(parts)}</svg>'
        )

    def _lane(self, lane: _Lane, top: float, parts: list[str]) -> float:
        scale = self.WIDTH / self.wall
        row, depth, room = lane.roots, 0, self.RECTS
        while row and depth < self.ROWS and room > 0:
            edge = -1.0
            for node in row:
                x, w = node.start * scale, max((node.end - node.start) * scale, 0.6)
                if x + w < edge + 0.8:
                    continue
                edge, room = x + w, room - 1
                opacity = self.SHADE[node.phase]
                parts.append(
                    f'<rect x="{x:.1f}" y="{top + depth * self.ROW:g}" width="{w:.1f}" height="{self.ROW - 2}" '
                    f'fill-opacity="{opacity}" stroke="currentColor" stroke-opacity=".45" stroke-width=".6"/>'
                )
                if w > 7 * min(len(node.name), 8):
                    name = escape(node.name[: int(w / 6.6)])
                    parts.append(
                        f'<text x="{x + 3:.1f}" y="{top + depth * self.ROW + 11:g}" font-size="11">{name}</text>'
                    )
            row, depth = [child for node in row for child in node.children], depth + 1
        return top + max(depth, 1) * self.ROW

    def _phases(self, top: float, parts: list[str]) -> float:
        """Self time by phase, as one bar whose parts are named."""
        shares = self.profile.shares()
        if len(shares) < 2:
            return top
        spent, x = sum(shares.values()), 0.0
        parts.append(f'<text x="0" y="{top + 4:g}" font-weight="700">Self time on the CPU by phase</text>')
        for name, own in shares.items():
            w = self.WIDTH * own / spent
            parts.append(
                f'<rect x="{x:.1f}" y="{top + 12:g}" width="{max(w - 1, 0.5):.1f}" height="18" '
                f'fill-opacity="{self.SHADE[PHASES.index(name)]}" stroke="currentColor" stroke-opacity=".6"/>'
            )
            x += w
        listing = ", ".join(f"{name} {_percent(own / spent)}" for name, own in shares.items())
        parts.append(f'<text x="0" y="{top + 46:g}">from the left: {listing}</text>')
        return top + 74

    def _bars(self, top: float, parts: list[str]) -> float:
        rows: dict[str, list[float]] = {}
        for name, gpu, _, calls, own, *_ in self.profile.rows():
            if not gpu:
                _add(rows.setdefault(name, [0, 0.0]), [calls, own])
        first = sorted(rows.items(), key=lambda row: -row[1][1])[: self.BARS]
        most = max((own for _, (_, own) in first), default=1) or 1
        parts.append(f'<text x="0" y="{top + 4:g}" font-weight="700">Most self time on the CPU</text>')
        for place, (name, (calls, own)) in enumerate(first):
            y = top + 12 + place * 20
            short = name if len(name) <= 44 else f"{name[:43]}…"
            parts.append(f'<text x="0" y="{y + 13:g}">{escape(short)}</text>')
            parts.append(f'<rect x="320" y="{y + 2:g}" width="{250 * own / most:.1f}" height="14" fill-opacity=".35"/>')
            parts.append(f'<text x="{578}" y="{y + 13:g}">{_time(own)}, {counted(int(calls), "call")}</text>')
        return top + 12 + len(first) * 20 + 4
