"""DispatchRoute: the way of an operator through the dispatcher, from the key set of its arguments to its kernel.

The rule is that of c10: the keys of all tensor arguments together, with those that the thread includes, without those
that it excludes and those under which the operator's table holds a fallthrough; the highest that is left is looked up
in the table. What a kernel does then, redispatch below itself or call the operator again, is known here by its key and
kind. The tests hold both to torch: they put probes before every kernel and compare what is visited.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

import traitlets

from torchbook.viz.base import Visualizer, contract, defaults, named
from torchbook.viz.units import several

setup = partial(contract, "dispatch")

_FRONT, _BACK, _BATCHED = "FuncTorchDynamicLayerFrontMode", "FuncTorchDynamicLayerBackMode", "FuncTorchBatched"
_PYTHON = ("Python", "PythonTLSSnapshot")
_LIMIT = 24  # stops of a route


DEFAULT: dict[str, Any] = {"op": "aten::add.Tensor", **defaults(setup())}


@dataclass(frozen=True)
class State:
    """What a call of an operator meets.

    Attributes:
        args: functionality keys of the tensor arguments.
        backends: their backends.
        include, exclude: what the thread adds and takes away.
        transform: the transform of torch.func that has not yet taken the call.
        outer: the state outside of the transform that has taken it.
        mode: a dispatch mode that has not yet taken it.
        device: backend that is asked for where an operator without tensor arguments makes one.
        wrapped: keys and backends of arguments that are all inside of the transform.
    """

    args: frozenset[str]
    backends: frozenset[str]
    include: frozenset[str]
    exclude: frozenset[str]
    transform: str = "none"
    outer: State | None = None
    mode: str = "none"
    device: str = "CPU"
    wrapped: tuple[frozenset[str], frozenset[str]] | None = None

    def but(self, **changes: Any) -> State:
        """The same with other values."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return State(**{**values, **changes})


@dataclass(frozen=True)
class Stop:
    """One kernel on the way.

    Attributes:
        call: number of the call of the dispatcher; a redispatch belongs to its call.
        state: what the thread and the arguments are when the kernel is looked up.
        passed: functionality keys that this call has behind it.
        left: runtime keys among which the highest is chosen, the highest first.
        functionality, key: the chosen one, as a functionality and as a slot of the table.
        entry: number of what the table has there; -1 for nothing.
        action: what the kernel does, a key of the setup's actions.
        after: the state in which it calls others.
    """

    call: int
    state: State
    passed: frozenset[str]
    left: tuple[str, ...]
    functionality: str
    key: str
    entry: int
    action: str
    after: State


# The rule


def runtime(functionality: str, backend: str) -> str:
    """The slot of a functionality in the table; some have one for each backend.

    Example:
        >>> runtime("AutogradFunctionality", "CUDA"), runtime("ADInplaceOrView", "CUDA")
        ('AutogradCUDA', 'ADInplaceOrView')
    """
    prefix = setup()["prefix"]
    return prefix[functionality] + backend if functionality in prefix else functionality


def entry_of(recording: Mapping[str, Any], op: str, slot: str) -> int:
    """Number of the entry that an operator's table has in a slot; -1 for none."""
    slots = recording["slots"]
    return recording["ops"][op]["table"][slots.index(slot)] if slot in slots else -1


def falls_through(recording: Mapping[str, Any], op: str, slot: str) -> bool:
    """Is the kernel in a slot one that is skipped?"""
    entry = entry_of(recording, op, slot)
    return entry >= 0 and bool(recording["entries"][entry][2])


def highest(order: Sequence[str], of: Iterable[str]) -> str:
    """The first of an order that is among these; empty for none."""
    among = set(of)
    return next((name for name in order if name in among), "")


def start(recording: Mapping[str, Any], setting: Mapping[str, Any]) -> State:
    """What the first call of an operator meets in a situation."""
    transform = setting["transform"]
    args, backends = _keys_of(recording, setting, "none", "none")
    include, exclude = (set(part) for part in recording["thread"])
    names = [setting["grad"], setting["mode"]]
    if setting["autocast"] == "on":
        # What autocast was seen to do for the CPU, for the device of the arguments.
        exclude.discard(f"Autocast{highest(recording['backends'], backends)}")
    for name in names:
        added, taken, kept_out, let_in = recording["changes"].get(name, ((), (), (), ()))
        include, exclude = (include | set(added)) - set(taken), (exclude | set(kept_out)) - set(let_in)
    device = highest(recording["backends"], backends)
    state = State(args, backends, frozenset(include), frozenset(exclude), mode=setting["mode"], device=device)
    if transform == "none":
        return state
    added, taken, kept_out, let_in = (set(part) for part in recording["changes"][transform])
    args, backends = _keys_of(recording, setting, transform, "none")
    return state.but(
        args=args,
        backends=backends,
        include=(state.include | added) - taken,
        exclude=(state.exclude | kept_out) - let_in,
        transform=transform,
        outer=state,
        wrapped=_keys_of(recording, {**setting, "mode": "none"}, transform, transform),
    )


def _way(setting: Mapping[str, Any], transform: str) -> str:
    return f"{transform} inference" if transform != "none" and setting["grad"] == "inference" else transform


def _keys_of(
    recording: Mapping[str, Any], setting: Mapping[str, Any], transform: str, index: str
) -> tuple[frozenset[str], frozenset[str]]:
    """The keys and backends of all arguments together; indices are dense, and may stay outside of a transform."""
    kind, every = setting["args"], recording["args"]
    key_sets = [every[_way(setting, transform)][kind]]
    if recording["ops"][setting["op"]]["index"]:
        key_sets.append(every[_way(setting, index)][kind if kind in setup()["dense"] else "cpu"])
    keys, backends = (frozenset(name for key_set in key_sets for name in key_set[part]) for part in (0, 1))
    return (keys | set(recording["fake"]) if setting["mode"] == "fake" else keys), backends


def possible(recording: Mapping[str, Any], setting: Mapping[str, Any]) -> bool:
    """Did torch make such arguments when it was recorded? It cannot put every layout into a transform."""
    return setting["args"] in recording["args"][_way(setting, setting["transform"])]


def seen(recording: Mapping[str, Any], op: str, stop_key: str, entry: int) -> list[str] | None:
    """What the kernel in a slot was seen to call; that of another slot where it is the same kernel; None for unseen."""
    of = recording["ops"][op]
    if stop_key in of["callees"]:
        return of["callees"][stop_key]
    same = (names for slot, names in of["callees"].items() if entry_of(recording, op, slot) == entry)
    return next(same, None)


def route(recording: Mapping[str, Any], setting: Mapping[str, Any]) -> list[Stop]:
    """The kernels that a call visits, until one computes, calls other operators, or is missing.

    Args:
        recording: of `record_dispatch`.
        setting: "op" and the situation, as the traits of `DispatchRoute`.

    Returns:
        The stops; none where there are no such arguments.
    """
    if not possible(recording, setting):
        return []
    return follow(recording, setting["op"], start(recording, setting))


def follow(recording: Mapping[str, Any], op: str, state: State) -> list[Stop]:
    """The route of an operator from a state."""
    stops: list[Stop] = []
    if not recording["ops"][op]["tensors"]:
        state = state.but(args=frozenset(), backends=frozenset())
    keys, call = _first(recording, op, state), 0
    passed: frozenset[str] = frozenset()
    backends = state.backends
    while len(stops) < _LIMIT:
        stop = _stop(recording, op, call, state, passed, keys, backends)
        stops.append(stop)
        done = _onward(recording, op, stop, keys, backends)
        if done is None:
            break
        state, keys, backends, again = done
        if again:
            call, passed = call + 1, frozenset()
        else:
            order = recording["keys"]
            passed = frozenset(order[: order.index(stop.functionality) + 1])
            if stop.action == "autograd":
                passed = frozenset(order[: order.index("AutogradOther") + 1])
    return stops


def _first(recording: Mapping[str, Any], op: str, state: State) -> frozenset[str]:
    """The functionality keys that a new call chooses from."""
    backend = highest(recording["backends"], state.backends)
    keys = (state.args | state.include) - state.exclude
    return frozenset(key for key in keys if not falls_through(recording, op, runtime(key, backend)))


def _stop(recording: Mapping[str, Any], op: str, call: int, state: State, passed: frozenset[str],
          keys: frozenset[str], backends: frozenset[str]) -> Stop:  # fmt: skip
    order = recording["keys"]
    backend = highest(recording["backends"], backends)
    chosen = highest(order, keys)
    slot = runtime(chosen, backend) if chosen else "Undefined"
    left = tuple(runtime(key, backend) for key in order if key in keys)
    entry = entry_of(recording, op, slot)
    action = _action(recording, op, chosen, entry, state)
    return Stop(
        call, state, passed, left, chosen, slot, entry, action, _after(recording, op, chosen, entry, action, state)
    )


def _action(recording: Mapping[str, Any], op: str, key: str, entry: int, state: State) -> str:
    if entry < 0:
        return "missing"
    _, kind, _ = recording["entries"][entry]
    if kind in ("math kernel", "batched kernel", "nested kernel"):
        return "implicit"
    if kind == "default backend kernel":
        return "explicit"
    if key == _FRONT and kind == "kernel":
        return "parts"
    if key in setup()["autograd"]:
        return "autograd"
    if key.startswith("Autocast"):
        return "autocast"
    if key == "Python":
        return "fake" if state.mode == "fake" else "python"
    if key == "Functionalize":
        if kind == "kernel" and _composite(recording, op):
            return "implicit"
        return "mutation" if recording["ops"][op]["mutates"] else "functionalize"
    if key == _BATCHED:
        return "batched" if recording["ops"][op]["callees"].get(key) == [op] else "batching"
    known = {
        "ADInplaceOrView": "inplace", "BackendSelect": "select", "Conjugate": "bit", "Negative": "bit",
        "PythonTLSSnapshot": "snapshot", _FRONT: "front", _BACK: "back",
    }  # fmt: skip
    if key in known:
        return known[key]
    return "backend" if key in setup()["prefix"] and kind == "kernel" else "unknown"


def _composite(recording: Mapping[str, Any], op: str) -> bool:
    """Is the operator made of others whatever its backend?"""
    entry = entry_of(recording, op, "Undefined")
    return entry >= 0 and recording["entries"][entry][1] == "math kernel"


def _after(recording: Mapping[str, Any], op: str, key: str, entry: int, action: str, state: State) -> State:
    """The state in which a kernel calls on."""
    order, autograd = recording["keys"], set(setup()["autograd"])
    if action == "autograd":
        place = recording["entries"][entry][0]
        view = not falls_through(recording, op, "ADInplaceOrView") or place.endswith(".py") or ".py:" in place
        return state.but(exclude=state.exclude | autograd | (set() if view else {"ADInplaceOrView"}))
    if action == "inplace":
        return state.but(exclude=state.exclude | autograd | {"ADInplaceOrView"})
    if action == "autocast":
        cast = seen(recording, op, key, entry) and "Conjugate" not in (state.outer or state).args
        return (_cast(state) if cast else state).but(exclude=state.exclude | {key})
    if action == "bit":
        return state.but(args=state.args - {key})
    if action in ("functionalize", "mutation", "batched", "batching"):
        inner = state.outer or state
        return state.but(args=inner.args, backends=inner.backends, exclude=state.exclude | {key})
    if action == "python":
        above = set(order[: order.index("Python")]) - {"PythonDispatcher"}
        state = state.but(exclude=state.exclude | above)
        if state.mode == "dispatch":
            return state.but(include=state.include - set(_PYTHON), mode="none")
        return state.but(args=state.args - set(_PYTHON))
    if action == "front":
        own = set(setup()["layers"][state.transform])
        layer = (set(setup()["layer"]) | autograd) - own
        added = {"vmap": {"FuncTorchVmapMode"}, "functionalize": {"Functionalize"}}.get(state.transform, set())
        if state.transform == "grad" and state.wrapped:  # every tensor is put into a wrapper
            state = state.but(args=state.wrapped[0], backends=state.wrapped[1])
        return state.but(include=state.include | added, exclude=(state.exclude | (layer & set(order))) - own)
    if action == "back" and state.outer is not None:
        return state.outer
    return state


def _cast(state: State) -> State:
    """After a cast: the tensors are new ones, made by this thread."""
    args = state.args - {"Negative"}
    if "ADInplaceOrView" in state.include and state.outer is None:
        args |= {"ADInplaceOrView", "AutogradFunctionality"}
    return state.but(args=args, outer=state.outer and _cast(state.outer))


def _onward(recording: Mapping[str, Any], op: str, stop: Stop, keys: frozenset[str],
            backends: frozenset[str]) -> tuple[State, frozenset[str], frozenset[str], bool] | None:  # fmt: skip
    """What comes after a stop: the state, the keys to choose from, and whether the operator is called again."""
    order, after = recording["keys"], stop.after
    if stop.action in ("autocast", "functionalize", "python", "front", "back", "batched"):
        return after, _first(recording, op, after), after.backends, True
    below = set(order[order.index(stop.functionality) + 1 :]) if stop.functionality else set()
    if stop.action == "autograd":
        below = set(order[order.index("AutogradOther") + 1 :])
    if stop.action in ("autograd", "inplace", "bit", "snapshot"):
        return after, keys & below, backends, False
    if stop.action == "select":
        if not recording["ops"][op]["tensors"]:
            return after, frozenset({"Dense"}), frozenset({after.device}), False
        active = (after.args | {"Dense"} | after.include) - after.exclude
        return after, active & below, after.backends | {"CPU"}, False
    return None


def callees(recording: Mapping[str, Any], op: str, stop: Stop) -> list[tuple[str, list[Stop]]]:
    """What the kernel of a stop was seen to call, each with its own route from there.

    Args:
        recording: of `record_dispatch`.
        op: the operator whose stop it is.
        stop: one of its route.
    """
    if stop.entry < 0 or stop.action == "batched":
        return []
    return [(name, follow(recording, name, stop.after)) for name in seen(recording, op, stop.key, stop.entry) or []]


@dataclass(frozen=True)
class Line:
    """A key on the way, as it is at a stop.

    Attributes:
        key, slot: the functionality, and its slot of the table.
        origin: where it is from: "arguments", "thread", "both" or "".
        state: "chosen", "later", "passed", "through", "excluded" or "absent".
        entry: number of what the operator's table has there; -1 for nothing.
    """

    key: str
    slot: str
    origin: str
    state: str
    entry: int


def lines(recording: Mapping[str, Any], op: str, stops: Sequence[Stop], step: int) -> list[Line]:
    """The keys of the whole route, the highest first, and what each is at a stop."""
    stop = stops[step]
    state = next(other for other in stops if other.call == stop.call).state
    order = recording["backends"]
    backend = highest(order, state.backends) or highest(order, stops[-1].state.backends)
    every = {key for other in stops for key in (*other.state.args, *other.state.include, other.functionality)}
    rows = []
    for key in recording["keys"]:
        if key not in every:
            continue
        slot, args, thread = runtime(key, backend), key in state.args, key in state.include
        if key == stop.functionality:
            is_ = "chosen"
        elif not args and not thread:
            is_ = "absent"
        elif key in state.exclude:
            is_ = "excluded"
        elif falls_through(recording, op, slot):
            is_ = "through"
        else:
            is_ = "passed" if key in stop.passed else "later"
        origin = "both" if args and thread else "arguments" if args else "thread" if thread else ""
        rows.append(Line(key, slot, origin, is_, entry_of(recording, op, slot)))
    return rows


def taken(recording: Mapping[str, Any], op: str, stops: Sequence[Stop], step: int) -> list[Line]:
    """The keys that are taken off before the first stop of a call: by the thread, then those that let it through."""
    if step and stops[step - 1].call == stops[step].call:
        return []
    rows = lines(recording, op, stops, step)
    return [line for state in ("excluded", "through") for line in rows if line.state == state]


def moments(recording: Mapping[str, Any], op: str, stops: Sequence[Stop]) -> list[tuple[int, int]]:
    """All that happens, in order, as step and way; see `DispatchRoute`."""
    every = []
    for step, stop in enumerate(stops):
        if not step or stops[step - 1].call != stop.call:
            every += [(step, way) for way in range(len(taken(recording, op, stops, step)) + 1)]
        every.append((step, -1))
    return every


# The figure


class DispatchRoute(Visualizer):
    """The route of an operator through the dispatcher, stop by stop, from a dump of the installed torch.

    The reader chooses an operator and a situation. The figure shows the keys of the arguments and of the thread in
    order of precedence, which of them is chosen and why the others are not, the kernel that is registered there with
    its kind and place, and what it does next, until a kernel computes or calls other operators.

    Args:
        recording: of `record_dispatch`.
        op: name of the operator, as the dispatcher has it.
        step: number of the stop that is looked at, from 0.
        way: how far on the way to a stop that is the first of its call: 0 is the call with all of its keys, then one
            more for each key that is taken off; -1 is the stop itself.

    Attributes:
        route: the stops.

    Raises:
        ValueError: there is no such preset, or not in this recording.
        traitlets.TraitError: the recording has no such operator, or there is no such choice.

    Example:
        >>> recording = record_dispatch()
        >>> [stop.key for stop in DispatchRoute(recording, op="aten::view").route]
        ['AutogradCPU', 'ADInplaceOrView', 'CPU']
    """

    recording = traitlets.Dict(help="What the dispatcher holds, from `record_dispatch`.").tag(sync=True)
    op = traitlets.Unicode(DEFAULT["op"], help="Name of the operator.").tag(sync=True)
    step = traitlets.Int(0, help="The stop that is looked at.").tag(sync=True)
    way = traitlets.Int(-1, help="How far on the way to that stop; -1 is there.").tag(sync=True)

    def __init__(self, recording: Mapping[str, Any], op: str | None = None, *, preset: str | None = None,
                 **traits: Any) -> None:  # fmt: skip
        initial: dict[str, Any] = {"op": next(name for name, of in recording["ops"].items() if of["listed"])}
        if DEFAULT["op"] in recording["ops"]:
            initial = {}
        if preset is not None:
            initial = dict(named(presets(recording), preset, "preset of this recording"))
        if op is not None:
            initial["op"] = op
        super().__init__(recording=dict(recording), **{**initial, **traits})

    @property
    def setting(self) -> dict[str, Any]:
        """The operator and the situation."""
        return {"op": self.op, **super().setting}

    @property
    def route(self) -> list[Stop]:
        return route(self.recording, self.setting)

    @traitlets.validate("op")
    def _check_op(self, proposal: Any) -> Any:
        listed = [name for name, of in self.recording["ops"].items() if of["listed"]]
        if proposal["value"] not in listed:
            raise traitlets.TraitError(f"{proposal['value']!r} is not recorded; there are {', '.join(listed)}")
        return proposal["value"]

    @traitlets.validate("step")
    def _check_step(self, proposal: Any) -> Any:
        return max(0, proposal["value"])

    @traitlets.validate("way")
    def _check_way(self, proposal: Any) -> Any:
        return max(-1, proposal["value"])

    def _describe(self) -> str:
        return describe(self.recording, self.setting, self.step, self.way)

    def _draw(self) -> str:
        return _picture(self.recording, self.setting, self.step, self.words)


def presets(recording: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The presets of a recording: name to setting."""
    listed = [name for name, of in recording["ops"].items() if of["listed"]]
    own = next((name for name in listed if not name.startswith("aten::")), None)
    settings = {}
    for name, preset in setup()["presets"].items():
        op = own if name == "custom" else preset["set"].get("op")
        if op in listed:
            settings[name] = {**DEFAULT, **preset["set"], "op": op}
    return settings


def situation(setting: Mapping[str, Any]) -> str:
    """The arguments, and what is not as usual, in words."""
    choices = setup()["choices"]
    names = [name for name in choices if name == "args" or setting[name] != DEFAULT[name]]
    return ", ".join(choices[name]["of"][setting[name]][1] for name in names)


def _keys_in(stops: Sequence[Stop]) -> str:
    return " → ".join(stop.key for stop in stops)


def _grouped(every: Sequence[tuple[str, list[Stop]]]) -> list[tuple[str, list[Stop]]]:
    """Callees, with equal neighbours counted."""
    groups: list[tuple[str, list[Stop], int]] = []
    for name, stops in every:
        if groups and groups[-1][0] == name:
            groups[-1] = (name, groups[-1][1], groups[-1][2] + 1)
        else:
            groups.append((name, stops, 1))
    return [(f"{count} × {name}" if count > 1 else name, stops) for name, stops, count in groups]


def purpose(key: str) -> str:
    """What a key is for."""
    return str(setup()["keys"].get("Autocast" if key.startswith("Autocast") else key, "stands here"))


def _on_the_way(
    recording: Mapping[str, Any], setting: Mapping[str, Any], stops: Sequence[Stop], at: int, way: int
) -> str:
    """The call, or a key that is taken off before its first stop."""
    if way:
        off = taken(recording, setting["op"], stops, at)
        line = off[way - 1]
        because = {"excluded": "the thread excludes it", "through": "a fallthrough"}[line.state]
        return f"Taken off, {way} of {len(off)}: {line.slot}, {because}. It {purpose(line.key)}."
    rows = lines(recording, setting["op"], stops, at)
    args, thread = (
        several([line.slot for line in rows if line.origin in (origin, "both")]) or "none"
        for origin in ("arguments", "thread")
    )
    return (
        f"Call {stops[at].call + 1} of the dispatcher, and its keys. From the tensors: {args}. "
        f"From the thread: {thread}."
    )


def describe(recording: Mapping[str, Any], setting: Mapping[str, Any], step: int, way: int = -1) -> str:
    """The route, and one of its stops or what comes before it, in sentences."""
    op, stops = setting["op"], route(recording, setting)
    head = f"{op}: {situation(setting)}; torch {recording['torch']}."
    if not stops:
        return f"{head} This torch could not make such arguments when it was recorded."
    at = min(step, len(stops) - 1)
    stop = stops[at]
    if way >= 0 and (at, way) in moments(recording, op, stops):
        return f"{head} The route: {_keys_in(stops)}. {_on_the_way(recording, setting, stops, at, way)}"
    name, does = setup()["actions"][stop.action]
    place = "nothing registered" if stop.entry < 0 else recording["entries"][stop.entry][0]
    sentences = [
        head,
        f"The route: {_keys_in(stops)}.",
        f"Stop {at + 1} of {len(stops)}, call {stop.call + 1} of the dispatcher: the highest of "
        f"{several(stop.left) or 'no key'} is {stop.key}; there, {name}: {place}.",
        does,
    ]
    every = lines(recording, op, stops, at)
    for state, text in (("through", "Skipped, a fallthrough"), ("excluded", "Excluded by the thread")):
        if slots := [line.slot for line in every if line.state == state]:
            sentences.append(f"{text}: {several(slots)}.")
    if called := _grouped(callees(recording, op, stop)):
        ways = "; ".join(f"{text} ({_keys_in(way)})" for text, way in called)
        sentences.append(f"It was seen to call {ways}.")
    return " ".join(sentences)


_NOTES = {"chosen": "", "later": "", "passed": "", "through": "fallthrough, skipped",
          "excluded": "excluded by the thread", "absent": "in another call only"}  # fmt: skip


def _picture(recording: Mapping[str, Any], setting: Mapping[str, Any], step: int, words: str) -> str:
    """Static drawing: the keys on a line, with the stops of the shown call."""
    op, stops = setting["op"], route(recording, setting)
    parts, y = [], 14
    if stops:
        at = min(step, len(stops) - 1)
        every = lines(recording, op, stops, at)
        own = {other.functionality: number for number, other in enumerate(stops) if other.call == stops[at].call}
        parts.append(f'<text x="0" y="{y}" font-weight="700">{escape(op)}: {escape(situation(setting))}</text>')
        parts.append(
            f'<path d="M14 {y + 24}V{y + 24 + 34 * (len(every) - 1)}" stroke="currentColor" stroke-opacity=".3"/>'
        )
        for place, line in enumerate(every):
            top = y + 24 + 34 * place
            stop = own.get(line.key)
            dashed = ' stroke-dasharray="3 2"' if line.state in ("through", "excluded", "absent") else ""
            solid = "currentColor" if stop == at else "none"
            note = _NOTES[line.state]
            name = stops[at].key if stop == at else line.slot
            if stop is not None:
                _, kind, _ = recording["entries"][stops[stop].entry] if stops[stop].entry >= 0 else ("", "no kernel", 0)
                note = f"stop {stop + 1}: {kind}"
            elif line.state == "later":
                note = "in the set, lower"
            if stop is None:
                parts.append(f'<circle cx="14" cy="{top}" r="5" fill="none" stroke="currentColor"{dashed}/>')
            else:
                parts.append(
                    f'<circle cx="14" cy="{top}" r="8" fill="{solid}" fill-opacity=".25" stroke="currentColor" '
                    f'stroke-width="{2 if stop == at else 1}"/>'
                )
            weight = ' font-weight="700"' if stop is not None else ""
            parts.append(f'<text x="30" y="{top + 4}"{weight}>{escape(name)}</text>')
            parts.append(f'<text x="280" y="{top + 4}" fill-opacity=".8">{escape(note)}</text>')
            if stop is not None and stops[stop].entry >= 0:
                where = recording["entries"][stops[stop].entry][0]
                parts.append(f'<text x="280" y="{top + 17}" font-size="10.5" fill-opacity=".75">{escape(where)}</text>')
        y += 24 + 34 * (len(every) - 1) + 34
        parts.append(f'<text x="0" y="{y}">route: {escape(_keys_in(stops))}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 660 {y + 8}" '
        f'style="max-width:min(100%,660px);height:auto" font-family="system-ui,sans-serif" font-size="12" '
        f'fill="currentColor" aria-label="{escape(words)}">{"".join(parts)}</svg>'
    )
