"""StepMicroscope: what each of the five lines of a training step changes, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from html import escape
from typing import Any

import traitlets

from torchbook.viz.base import Visualizer, contract
from torchbook.viz.units import plain

setup = partial(contract, "microscope")

Pair = tuple[float, float]


@dataclass(frozen=True)
class State:
    """What there is after a line, read off torch's objects.

    Attributes:
        params: w and b.
        grad: their `.grad`; None where it is None.
        buffer: their momentum buffers in the optimizer; None before there are any.
        pred: the predictions; None before the first forward.
        loss: the loss; None before there is one.
        recorded: does `pred` still hold its part of the graph?
        reaches: does `loss` still hold its own part?
        current: was the loss computed from these predictions?
        line: the name of the line that ran; empty at the start.
        refused: what Python or PyTorch said to it; empty where it ran.
    """

    params: Pair
    grad: Pair | None = None
    buffer: Pair | None = None
    pred: Pair | None = None
    loss: float | None = None
    recorded: bool = False
    reaches: bool = False
    current: bool = False
    line: str = ""
    refused: str = ""


@lru_cache(maxsize=256)
def run(lr: float, momentum: float, ran: tuple[str, ...]) -> list[State]:
    """Runs lines of the loop with `torch.nn.Linear` and `torch.optim.SGD`, in float64.

    Args:
        lr: learning rate.
        momentum: of the optimizer.
        ran: the names of the lines, in any order.

    Returns:
        The states before the first line and after each one.
    """
    import torch
    from torch import nn

    rides = torch.tensor(setup()["rides"], dtype=torch.float64)
    model = nn.Linear(1, 1, dtype=torch.float64)
    nn.init.constant_(model.weight, setup()["start"]["w"])
    nn.init.constant_(model.bias, setup()["start"]["b"])
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=momentum)
    names: dict[str, Any] = {
        "model": model, "optimizer": optimizer, "loss_fn": nn.MSELoss(), "x": rides[:, :1], "y": rides[:, 1:],
    }  # fmt: skip
    states = [_seen(names)]
    for line in ran:
        refused = ""
        try:
            exec(setup()["lines"][line], names)
        except (NameError, RuntimeError) as error:
            refused = f"{type(error).__name__}: {error}"
        states.append(_seen(names, line, refused))
    return states


def _seen(names: Mapping[str, Any], line: str = "", refused: str = "") -> State:
    """The state of the objects that the lines work on."""
    params = [*names["model"].parameters()]
    pred, loss = names.get("pred"), names.get("loss")
    buffers = [names["optimizer"].state.get(p, {}).get("momentum_buffer") for p in params]
    return State(
        params=(params[0].item(), params[1].item()),
        grad=_pair([p.grad for p in params]),
        buffer=_pair(buffers),
        pred=None if pred is None else _pair([*pred.detach().flatten()]),
        loss=None if loss is None else loss.item(),
        recorded=pred is not None and _kept(pred.grad_fn, "_saved_mat1"),
        reaches=loss is not None and _kept(loss.grad_fn, "_saved_self"),
        current=loss is not None and pred is not None and loss.grad_fn.next_functions[0][0] is pred.grad_fn,
        line=line,
        refused=refused,
    )


def _pair(tensors: Sequence[Any]) -> Pair | None:
    return None if tensors[0] is None else (tensors[0].item(), tensors[1].item())


def _kept(node: Any, saved: str) -> bool:
    """Does a node of the graph still have what it saved for the backward?"""
    try:
        getattr(node, saved)
    except RuntimeError:
        return False
    return True


# Words, as in words.js


def shown(x: float) -> str:
    """A number with four digits, or all before the point; halves go up, and noise of the last bits does not count."""
    if abs(x) < 1e-9:
        return "0"
    digits, power = f"{abs(x):.9e}".split("e")
    exponent = int(power)
    kept = 4 if exponent > 5 else max(4, exponent + 1)
    size = 10 ** (10 - kept)
    mantissa = (2 * int(digits.replace(".", "")) + size) // (2 * size)
    if mantissa >= 10**kept:
        mantissa, exponent = mantissa // 10, exponent + 1
    sign, text = "−" if x < 0 else "", str(mantissa)
    if exponent > 5:
        return f"{sign}{_trimmed(f'{text[0]}.{text[1:4]}')}e{exponent}"
    if exponent < 0:
        return f"{sign}{_trimmed('0.' + '0' * (-exponent - 1) + text)}"
    whole = text[: exponent + 1].ljust(exponent + 1, "0")
    return f"{sign}{_trimmed(f'{whole}.{text[exponent + 1 :]}')}"


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".")


def _inside(x: float) -> str:
    return f"({shown(x)})" if shown(x).startswith("−") else shown(x)


def _both(values: Pair | None, none: str = "") -> str:
    return f"{shown(values[0])} and {shown(values[1])}" if values else none


def told(before: State, now: State, lr: float, momentum: float) -> str:
    """What the last line did."""
    if now.refused:
        known = setup()["refusals"].values()
        error, why = next((one["error"], one["why"]) for one in known if now.refused.startswith(one["error"]))
        return f"{error}. {why}"
    if now.line == "forward":
        return f"It predicts {_both(now.pred)} and records a graph. w, b and .grad stay."
    if now.line == "loss" and now.loss is not None:
        graph = (
            ". The graph now leads from it to w and b."
            if now.recorded
            else ", but the values saved behind pred are freed."
        )
        return f"The mean squared error is {shown(now.loss)}{graph}"
    if now.line == "zero":
        return ".grad is None again. w and b stay." if before.grad else ".grad was None already: nothing changes."
    if now.line == "backward" and now.grad:
        if not before.grad:
            return "It writes the gradients into .grad and frees the values that the graph had saved. w and b stay."
        was, sum_ = shown(before.grad[0]), shown(now.grad[0])
        return f"It adds to what .grad held: for w, {was} becomes {sum_}. w and b stay."
    if now.line == "step":
        return _step_told(before, now, lr, momentum)
    return "No line has run: no predictions, no graph, no gradient."


def _step_told(before: State, now: State, lr: float, momentum: float) -> str:
    if not now.grad:
        return ".grad is None, so step skips w and b: nothing changes."
    w, by = now.params[0], now.grad[0] if now.buffer is None else now.buffer[0]
    moved = f"w = {shown(before.params[0])} − {plain(lr)} · {_inside(by)} = {shown(w)}."
    if now.buffer is None:
        return f"Now the model moves: {moved} .grad stays."
    if before.buffer is None:
        return f".grad starts the buffer: {moved}"
    sum_ = f"{plain(momentum)} · {_inside(before.buffer[0])} + {_inside(now.grad[0])} = {shown(now.buffer[0])}"
    return f"The buffer is {sum_}, so {moved}"


def graph(state: State) -> str:
    """How far the graph reaches."""
    if state.pred is None:
        return "none"
    older = ", and the loss holds an older one" if state.reaches and not state.current else ""
    if not state.recorded:
        return f"without its saved values{older}"
    return f"recorded up to {'the loss' if state.reaches and state.current else 'pred'}{older}"


def describe(setting: Mapping[str, Any], ran: Sequence[str]) -> str:
    """The state in sentences."""
    lr, momentum, without = (setting[name] for name in ("lr", "momentum", "without"))
    states = run(lr, momentum, tuple(ran))
    now, lines = states[-1], setup()["lines"]
    left = "" if without == "nothing" else f" Left out: {lines[without]}."
    line = f"Line {len(ran)}, {lines[now.line]}: " if now.line else ""
    return (
        f"Price = w · km + b for two rides, learning rate {plain(lr)}, momentum {plain(momentum)}.{left} "
        f"{line}{told(states[len(ran) - 1], now, lr, momentum)} Now w and b are {_both(now.params)}, .grad is "
        f"{_both(now.grad, 'None')}, the momentum buffer is {_both(now.buffer, 'absent')}, the loss is "
        f"{'not computed' if now.loss is None else shown(now.loss)}, the graph is {graph(now)}."
    )


# The figure


class StepMicroscope(Visualizer):
    """A training step line by line: what each line changes in parameters, gradients, optimizer and graph.

    The model is the smallest that learns: price = w · km + b for two rides, mean squared error, `torch.optim.SGD`. The
    reader runs the five lines in any order, takes them back, and leaves one out; what PyTorch refuses is refused with
    its own words. What the widget says in Python is what torch does; on the plain page the same figure works without a
    kernel.

    Args:
        ran: the lines that have run, in order: "forward", "loss", "zero", "backward", "step"; 40 at most.

    Attributes:
        states: a `State` before the first line and after each one.

    Raises:
        ValueError: there is no such preset.
        traitlets.TraitError: a number is out of its range, or there is no such line.

    Example:
        >>> StepMicroscope(ran=["forward", "loss", "backward", "step"]).states[-1].params
        (3.2, 1.0)
    """

    ran: Any = traitlets.List(traitlets.Unicode(), setup()["ran"], help="The lines that have run.").tag(sync=True)

    @property
    def states(self) -> list[State]:
        return run(self.lr, self.momentum, tuple(self.ran))

    @traitlets.validate("ran")
    def _check_ran(self, proposal: Any) -> Any:
        known, most = setup()["lines"], setup()["most"]
        unknown = [name for name in proposal["value"] if name not in known]
        if unknown:
            raise traitlets.TraitError(f"no line is called {unknown[0]!r}; there are {', '.join(known)}")
        if len(proposal["value"]) > most:
            raise traitlets.TraitError(f"ran must be {most} lines at most, not {len(proposal['value'])}")
        return proposal["value"]

    def _describe(self) -> str:
        return describe(self.setting, self.ran)

    def _draw(self) -> str:
        states = self.states
        return _picture(states[max(0, len(states) - 2)], states[-1], self.words)


def _picture(before: State, now: State, words: str) -> str:
    """Static drawing: cells with the value before, struck, where the line changed it; below them the loss."""
    left, wide, high, top = 84, 104, 46, 24
    parts: list[str] = []

    def cell(x: int, y: int, was: str | None, is_: str | None, none: str, name: str = "") -> None:
        dash = ' stroke-dasharray="4 3"' if is_ is None else ""
        thick = 2.4 if was != is_ else 0.8
        parts.append(
            f'<rect x="{x}" y="{y}" width="{wide - 6}" height="{high - 6}" rx="5" fill="none" stroke="currentColor" '
            f'stroke-width="{thick}"{dash}/>'
        )
        middle = x + wide / 2 - 3
        lines = [(f"{was or none} →", 400), (is_ or none, 700)] if was != is_ else [(is_ or none, 400)]
        for i, (text, weight) in enumerate(lines):
            at = y + high / 2 + 1 + 16 * (i - (len(lines) - 1) / 2)
            parts.append(f'<text x="{middle:g}" y="{at:g}" text-anchor="middle" font-weight="{weight}">{text}</text>')
        if name:
            parts.append(f'<text x="{x - 8}" y="{y + high / 2 + 1:g}" text-anchor="end">{name}</text>')

    for i, (name, unit) in enumerate(setup()["units"].items()):
        parts.append(f'<text x="{left + i * wide + wide / 2 - 3:g}" y="15" text-anchor="middle">{name}, {unit}</text>')
        for row, (kind, label) in enumerate((("params", "value"), ("grad", ".grad"), ("buffer", "momentum"))):
            was, is_ = (
                None if pair is None else shown(pair[i]) for pair in (getattr(before, kind), getattr(now, kind))
            )
            cell(left + i * wide, top + row * high, was, is_, "None" if kind == "grad" else "none", "" if i else label)
    was, is_ = (None if state.loss is None else shown(state.loss) for state in (before, now))
    cell(left, top + 3 * high, was, is_, "none", "loss")
    graph_at = top + 3 * high + high / 2 + 1
    parts.append(
        f'<text x="{left + wide + 4}" y="{graph_at:g}">graph: {graph(now).partition(",")[0].partition(" up")[0]}</text>'
    )
    width, height = left + 2 * wide, top + 4 * high
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height}" '
        f'style="max-width:min(100%,{width}px);height:auto" font-family="system-ui,sans-serif" '
        f'font-size="13" fill="currentColor" aria-label="{escape(words)}">{"".join(parts)}</svg>'
    )
