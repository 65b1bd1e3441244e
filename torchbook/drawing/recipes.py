"""Drawings of what torch says: tensors over their storage, the graph that autograd recorded, a call's way down."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from torchbook.drawing.canvas import WIDTH, Drawing, Point, text_width

_GAP = 14.0


def storage(tensors: Mapping[str, Tensor], place: int | None = None) -> Drawing:
    """Vectors and matrices over the one storage that they share, with sizes, strides and offsets as torch gives them.

    Args:
        tensors: by the name that stands over each.
        place: an element of the storage, marked wherever a tensor shows it.

    Raises:
        ValueError: there is none, they have more than two dimensions, or they do not share their storage.
    """
    if not tensors or len({x.untyped_storage().data_ptr() for x in tensors.values()}) != 1:
        raise ValueError("storage draws tensors that share one storage")
    if any(x.dim() not in (1, 2) for x in tensors.values()):
        raise ValueError("storage draws vectors and matrices")
    first = next(iter(tensors.values()))
    flat = torch.empty(0, dtype=first.dtype).set_(first.untyped_storage()).tolist()
    notes = {
        name: f"shape {tuple(x.shape)}, stride {x.stride()}, offset {x.storage_offset()}" for name, x in tensors.items()
    }
    drawing = Drawing(
        f"{', '.join(tensors)} over one storage",
        f"The storage holds {', '.join(f'{value:g}' for value in flat)}. "
        + " ".join(f"{name} reads it with {note}." for name, note in notes.items())
        + (f" Place {place} is marked." if place is not None else ""),
    )
    y = 0.0
    for name, x in tensors.items():
        rows = x.reshape(1, -1) if x.dim() == 1 else x
        steps = [0] * (2 - x.dim()) + [int(step) for step in x.stride()]
        places = [
            [int(x.storage_offset()) + r * steps[0] + c * steps[1] for c in range(rows.shape[1])]
            for r in range(rows.shape[0])
        ]
        drawing.text(0, y + 8, name, bold=True)
        drawing.text(0, y + 26, notes[name])
        texts = [[f"{value:g}" for value in row] for row in rows.tolist()]

        def look(r: int, c: int, places: list[list[int]] = places) -> str:
            return "read" if places[r][c] == place else ""

        drawing.grid(0, y + 40, texts, look)
        y += 40 + 26 * len(texts) + _GAP
    drawing.text(0, y + 8, "storage", bold=True)
    across = int(WIDTH // 30)
    reached = {p for x in tensors.values() for p in _places(x)}
    for at in range(0, len(flat), across):
        row = flat[at : at + across]

        def seen(_: int, c: int, at: int = at) -> str:
            return "read" if at + c == place else "" if at + c in reached else "absent"

        drawing.grid(0, y + 22, [[f"{value:g}" for value in row]], seen)
        for c in range(len(row)):
            drawing.text(30 * c + 14, y + 56, str(at + c), "middle")
        y += 52
    return drawing


def _places(x: Tensor) -> list[int]:
    if not x.dim():
        return [int(x.storage_offset())]
    return [p for row in x.unbind(0) for p in _places(row)]


def descent(frames: Sequence[tuple[str, str]]) -> Drawing:
    """A call's way down through the layers of a library, from its frames.

    Args:
        frames: from the outermost: which layer, and the function in it. Neighbours of one layer share its colour.

    Raises:
        ValueError: there are none.
    """
    if not frames:
        raise ValueError("there is no frame to draw")
    layers = list(dict.fromkeys(layer for layer, _ in frames))
    colors = ["kept", "read", "write"]
    drawing = Drawing(
        f"The way of {frames[0][1]}",
        "From above: " + "; ".join(f"{layer}, {name}" for layer, name in frames) + ".",
    )
    left = max(map(text_width, layers)) + 14
    wide = WIDTH - 10 - left
    before = None
    for number, (layer, name) in enumerate(frames):
        y = 44.0 * number
        if number == 0 or layer != frames[number - 1][0]:
            drawing.text(0, y + 14, layer)
        box = drawing.box(left, y, name, colors[layers.index(layer) % 3], w=wide, h=28, mono=True)
        if before is not None:
            drawing.arrow(before, box)
        before = box
    return drawing


def chain(steps: Mapping[str, Tensor]) -> Drawing:
    """Operations in a row: values forward, above; gradients of the last value backward, below, with each local slope.

    Args:
        steps: the operation that made a tensor to the tensor, recorded by autograd; the first is the input with its
            name. Each has one element.

    Raises:
        ValueError: there are fewer than two steps, or more than a phone shows.
    """
    if not 2 <= len(steps) <= 5:
        raise ValueError(f"{len(steps)} steps: 2 to 5 can be read on a phone")
    names, tensors = list(steps), list(steps.values())
    gradients = [
        1.0 if t is tensors[-1] else float(torch.autograd.grad(tensors[-1], t, retain_graph=True)[0]) for t in tensors
    ]
    slopes = [float(torch.autograd.grad(b, a, retain_graph=True)[0]) for a, b in pairwise(tensors)]
    values = [f"{t.item():g}" for t in tensors]
    drawing = Drawing(
        "Forward, and backward by the chain rule",
        f"Forward, {names[0]} is {values[0]}"
        + "".join(f", then {name} gives {value}" for name, value in zip(names[1:], values[1:], strict=True))
        + ". Backward, the gradient begins with 1"
        + "".join(
            f", times the slope {slope:g} of {name} it is {gradient:g}"
            for slope, name, gradient in zip(slopes[::-1], names[:0:-1], gradients[-2::-1], strict=True)
        )
        + ".",
    )
    step = (WIDTH - 8 - 48) / (len(steps) - 1)
    forward = [drawing.box(step * n, 34, value, "read", w=48) for n, value in enumerate(values)]
    backward = [drawing.box(step * n, 106, f"{g:g}", "write", w=48) for n, g in enumerate(gradients)]
    drawing.text(0, 0, "forward: values", bold=True)
    drawing.text(0, 152, "backward: gradients of the last value", bold=True)
    drawing.text(24, 20, names[0], "middle", mono=True)
    for n, (a, b) in enumerate(pairwise(forward)):
        drawing.arrow(a, b, "read")
        drawing.text((a.right[0] + b.left[0]) / 2, a.y + 1, names[n + 1], "middle", mono=True)
    for slope, a, b in zip(slopes, backward, backward[1:], strict=False):
        drawing.arrow(b, a, "write")
        drawing.text((a.right[0] + b.left[0]) / 2, a.y + 1, f"· {slope:g}", "middle")
    return drawing


def autograd(result: Tensor, names: Mapping[str, Tensor], *, saved: bool = True) -> Drawing:
    """The graph behind a tensor, from its real `grad_fn`: an arrow goes from each node to those that get its gradient.

    Args:
        result: where the backward would start.
        names: what the leaves are called.
        saved: whether a node says, below its name and in green, what it saved for the backward.

    Raises:
        ValueError: nothing was recorded.
    """
    if result.grad_fn is None:
        raise ValueError("nothing was recorded: the tensor has no grad_fn")
    rows = _rows(result.grad_fn)
    labels = {node: _label(node, names, saved=saved) for row in rows for node in row}
    edges = [(node, after) for row in rows for node in row for after, _ in node.next_functions if after is not None]
    said = [f"{_flat(labels[a])} leads to {_flat(labels[b])}" for a, b in edges]
    drawing = Drawing("The recorded graph", f"From the result down to the leaves: {'; '.join(said)}.")
    # An edge that passes rows is drawn through a free place in each of them.
    depth = {node: number for number, row in enumerate(rows) for node in row}
    slots: list[list[Any]] = [list(row) for row in rows]
    chains = []
    for number, (a, b) in enumerate(edges):
        chain: list[Any] = [a]
        for between in range(depth[a] + 1, depth[b]):
            chain.append((number, between))
            slots[between].append(chain[-1])
        chains.append([*chain, b])
    before: dict[Any, list[Any]] = {}
    for chain in chains:
        for one, two in pairwise(chain):
            before.setdefault(two, []).append(one)
    places: dict[Any, Point] = {}
    boxes = {}
    y = 0.0
    for slot in slots:
        known = {one: [places[b][0] for b in before.get(one, ()) if b in places] for one in slot}
        slot.sort(key=lambda one: sum(known[one]) / (len(known[one]) or 1))
        widths = [text_width(labels[one]) + 16 if one in labels else 10.0 for one in slot]
        x = -(sum(widths) + 2 * _GAP * (len(slot) - 1)) / 2
        for one, w in zip(slot, widths, strict=True):
            places[one] = (x + w / 2, y + 22)
            if one in labels:
                role = "write" if hasattr(one, "variable") else "kept" if "\n" in labels[one] else ""
                boxes[one] = drawing.box(x, y, labels[one], role, w=w, h=44)
            x += w + 2 * _GAP
        y += 44 + 32
    for chain in chains:
        drawing.arrow(boxes[chain[0]], boxes[chain[-1]], "write", via=[places[one] for one in chain[1:-1]])
    meanings = {"kept": "has saved tensors"} if saved else {}
    meanings["write"] = "the gradient's way, and its end"
    drawing.legend(min(box.x for box in boxes.values()), y - 12, meanings)
    return drawing


def operations(result: Tensor) -> int:
    """How many recorded operations are behind a tensor: the nodes of its graph, without those of the leaves."""
    found: set[Any] = set()
    waiting = [result.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in found:
            found.add(node)
            waiting += [after for after, _ in node.next_functions]
    return sum(not hasattr(node, "variable") for node in found)


def _rows(root: Any) -> list[list[Any]]:
    """The nodes by the longest way from the root."""
    depth: dict[Any, int] = {}
    waiting = [(root, 0)]
    while waiting:
        node, at = waiting.pop()
        if depth.get(node, -1) < at:
            depth[node] = at
            waiting += [(after, at + 1) for after, _ in node.next_functions if after is not None]
    last = max(depth.values())
    for node in depth:  # leaves end the picture, all in one row
        if hasattr(node, "variable"):
            depth[node] = last
    ordered: dict[Any, None] = {}
    waiting_nodes = [root]
    while waiting_nodes:
        node = waiting_nodes.pop(0)
        if node not in ordered:
            ordered[node] = None
            waiting_nodes += [after for after, _ in node.next_functions if after is not None]
    return [[node for node in ordered if depth[node] == at] for at in range(last + 1)]


def _label(node: Any, names: Mapping[str, Tensor], *, saved: bool) -> str:
    if hasattr(node, "variable"):
        found = [name for name, tensor in names.items() if tensor is node.variable]
        return f"{node.name().split('::')[-1]}\n{found[0] if found else tuple(node.variable.shape)}"
    if not saved:
        return str(node.name())
    kept = [
        attribute.removeprefix("_saved_")
        for attribute in dir(node)
        if attribute.startswith("_saved_") and isinstance(getattr(node, attribute), Tensor)
    ]
    return node.name() + (f"\nkeeps {', '.join(kept)}" if kept else "")


def _flat(label: str) -> str:
    return label.replace("\n", ", ")
