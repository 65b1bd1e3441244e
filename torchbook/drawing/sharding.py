"""Drawings of models cut over ranks: what ZeRO leaves on each, how a layer is split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torchbook.drawing.canvas import WIDTH, Box, Drawing, Part

_GB = 1e9


def zero_stages(parameters: float, ranks: int, weight: float = 2, gradient: float = 2, state: float = 12) -> Drawing:
    """Bytes that each rank holds under DDP (stage 0) and the three stages of ZeRO, as bars.

    Args:
        parameters: their number.
        ranks: over how many they are cut.
        weight: bytes of a parameter.
        gradient: bytes of its gradient.
        state: bytes of the optimizer for it.

    Raises:
        ValueError: a number is not positive.
    """
    if min(parameters, ranks, weight, gradient, state) <= 0:
        raise ValueError("parameters, ranks and bytes are positive")
    kinds = {"parameters": (weight, "read", 3), "gradients": (gradient, "write", 2), "optimizer": (state, "kept", 1)}
    rows = {}
    said = []
    for stage in range(4):
        parts = [
            Part(parameters * size / (ranks if stage >= cut else 1) / _GB, role=role)
            for size, role, cut in kinds.values()
        ]
        total = sum(part.length for part in parts)
        rows[f"stage {stage}: {total:.1f} GB"] = parts
        said.append(f"stage {stage} {total:.1f} GB")
    drawing = Drawing(
        f"What each of {ranks} ranks holds",
        f"{parameters / 1e9:g} billion parameters on {ranks} ranks, bytes of parameters, gradients and optimizer on "
        f"each: {', '.join(said)}.",
    )
    drawing.lanes(0, 0, rows, w=WIDTH - 10)
    drawing.legend(0, 4 * 32 + 14, {role: name for name, (_, role, _) in kinds.items()}, w=WIDTH - 10)
    return drawing


def memory_bars(rows: Mapping[str, Mapping[str, float]], limit: float | None = None, unit: str = "") -> Drawing:
    """What is held in memory, kind by kind, in some cases: a bar for each, and a line where the memory ends.

    Args:
        rows: names of the cases, to how much of which kind: parameters, gradients, optimizer, buckets, whole copies.
        limit: where the memory ends, in the same unit.
        unit: after the totals, such as " GB".

    Raises:
        ValueError: a kind is unknown, or there is no case.
    """
    roles = {"parameters": "read", "gradients": "write", "optimizer": "kept", "buckets": "", "whole copies": ""}
    kinds = [kind for kind in roles if any(kind in row for row in rows.values())]
    if not rows or any(kind not in roles for row in rows.values() for kind in row):
        raise ValueError(f"kinds are {', '.join(roles)}")
    bars = {
        f"{name}: {sum(row.values()):.3g}{unit}": [Part(row[kind], role=roles[kind]) for kind in kinds if kind in row]
        for name, row in rows.items()
    }
    said = [
        f"{name}: " + ", ".join(f"{kind} {row[kind]:.3g}{unit}" for kind in kinds if kind in row)
        for name, row in rows.items()
    ]
    end = "" if limit is None else f" The memory ends at {limit:.3g}{unit}."
    drawing = Drawing("What is held in memory", "; ".join(said) + "." + end)
    longest = max(*(sum(row.values()) for row in rows.values()), limit or 0.0)
    width = WIDTH - 10
    boxes = drawing.lanes(0, 0, bars, w=width, longest=longest)
    low = 32.0 * len(bars)
    if limit is not None:
        left = min(box.x for row in boxes.values() for box in row)
        x = left + (width - left) * limit / longest
        drawing.line([(x, -6), (x, low)])
        drawing.text(x, low + 10, f"limit {limit:.3g}{unit}", "end")
        low += 24
    meanings = {role: " or ".join(kind for kind in kinds if roles[kind] == role) for role in roles.values()}
    drawing.legend(0, low + 14, {role: words for role, words in meanings.items() if words}, w=width)
    return drawing


def cut_rows(ways: Mapping[str, Sequence[tuple[int, int]]], rows: int) -> Drawing:
    """Which rows of a matrix each rank has, in several ways to cut it: a lane for each rank.

    Args:
        ways: their names, to the first row of each rank and how many it has.
        rows: of the whole matrix.

    Raises:
        ValueError: there is no way, or a rank has rows that the matrix lacks.
    """
    if not ways or not all(ways.values()):
        raise ValueError("every way needs the rows of at least one rank")
    if any(first < 0 or count < 1 or first + count > rows for held in ways.values() for first, count in held):
        raise ValueError(f"a matrix of {rows} rows has the rows 0 to {rows - 1}")
    spans = {name: [f"{first}–{first + count - 1}" for first, count in held] for name, held in ways.items()}
    said = [f"{name}: " + ", ".join(f"rank {r} has {span}" for r, span in enumerate(spans[name])) for name in ways]
    drawing = Drawing(f"Which of {rows} rows each rank has", "; ".join(said) + ".")
    y = 0.0
    for name, held in ways.items():
        drawing.text(0, y, name, bold=True)
        lanes = {
            f"rank {rank}": [Part(count, span, "read", first)]
            for rank, ((first, count), span) in enumerate(zip(held, spans[name], strict=True))
        }
        drawing.lanes(0, y + 14, lanes, w=WIDTH - 10, h=22, gap=4, longest=rows)
        y += 14 + 26 * len(held) + 16
    return drawing


def fused_qkv(heads: int = 4) -> Drawing:
    """Which rows of a fused q, k, v matrix two ranks get, cut in halves and cut by heads.

    Args:
        heads: 2 or 4.

    Raises:
        ValueError: there are fewer or more, or they cannot be halved.
    """
    if heads not in (2, 4):
        raise ValueError(f"{heads} heads: 2 or 4 can be read on a phone")
    rows = [(part, head) for part in "qkv" for head in range(heads)]
    owners = {
        "cut in halves": [number >= len(rows) / 2 for number in range(len(rows))],
        "cut by heads": [head >= heads / 2 for _, head in rows],
    }
    said = []
    for name, found in owners.items():
        held = [" ".join(f"{p}{h}" for (p, h), own in zip(rows, found, strict=True) if own == rank) for rank in (0, 1)]
        said.append(f"{name}: rank 0 has {held[0]}, rank 1 has {held[1]}")
    drawing = Drawing("Rows of a fused q, k, v matrix on two ranks", "; ".join(said) + ".")
    side = (WIDTH - 10) / len(rows)
    for number, (name, found) in enumerate(owners.items()):
        y = 62.0 * number
        drawing.text(0, y, name)
        cells = [[f"{part}{head}" for part, head in rows]]
        drawing.grid(0, y + 14, cells, lambda r, c, found=found: "kept" if found[c] else "read", cell=(side, 28))  # type: ignore[misc]
    drawing.legend(0, 130, {"read": "rank 0", "kept": "rank 1"})
    return drawing


def placements(held: Mapping[str, Sequence[Sequence[Sequence[float]]]]) -> Drawing:
    """What the ranks hold of one matrix under each placement: pieces, copies or partial sums.

    Args:
        held: names such as Shard(0), Replicate() or Partial(), to the local matrix of each rank.

    Raises:
        ValueError: a name begins with none of the three, or there are more ranks than a phone shows.
    """
    roles = {"Shard": ("read", "pieces"), "Replicate": ("kept", "copies"), "Partial": ("write", "partial sums")}
    kinds = [next((kind for kind in roles if name.startswith(kind)), "") for name in held]
    if not held or not all(kinds) or max(map(len, held.values())) > 3:
        raise ValueError("placements are Shard, Replicate and Partial, on at most 3 ranks")
    said = [
        f"{name}: " + ", ".join(f"rank {rank} has {_rows(local)}" for rank, local in enumerate(ranks))
        for name, ranks in held.items()
    ]
    drawing = Drawing("What each rank holds of one matrix", "; ".join(said) + ".")
    above = max(map(len, held)) > 13  # letters of a name that fit before the first rank's cells
    left, side = 0.0 if above else 112.0, 30.0
    wide = max(len(local[0]) for ranks in held.values() for local in ranks) * side + 24
    for rank in range(max(map(len, held.values()))):
        drawing.text(left + rank * wide, 0, f"rank {rank}")
    y = 14.0
    for kind, (name, ranks) in zip(kinds, held.items(), strict=True):
        drawing.text(0, y + (8 if above else 13), name, mono=True)
        y += 22 * above
        for rank, local in enumerate(ranks):
            cells = [[f"{number:g}" for number in row] for row in local]
            drawing.grid(left + rank * wide, y, cells, lambda r, c, role=roles[kind][0]: role, cell=(side, 26))  # type: ignore[misc]
        y += 26 * max(map(len, ranks)) + 16
    drawing.legend(0, y + 4, {roles[kind][0]: roles[kind][1] for kind in kinds})
    return drawing


def _rows(matrix: Sequence[Sequence[float]]) -> str:
    return " / ".join(" ".join(f"{number:g}" for number in row) for row in matrix)


Numbers = Sequence[Sequence[float]]  # by rank, its number for each of four weights

_SIDE = 40.0  # width of a cell with one number of a step
_ACROSS = 4 * _SIDE + 48  # from one rank's cells to the next one's


def handed_over(collective: str, before: Numbers, after: Numbers) -> Drawing:
    """What two ranks send each other in a step of ZeRO by hand: each owns one half of four weights.

    Args:
        collective: "reduce-scatter" of gradients, or "all-gather" of weights.
        before: the four numbers of each rank.
        after: what each has afterwards: after a reduce-scatter the two numbers of its own half, after an all-gather
            all four.

    Raises:
        ValueError: the collective is another one, or there are not two ranks with four weights.
    """
    scatters = collective == "reduce-scatter"
    if not scatters and collective != "all-gather":
        raise ValueError(f"{collective!r}: reduce-scatter or all-gather")
    _two_ranks(before, 4)
    _two_ranks(after, 2 if scatters else 4)
    article, of, letter = ("A", "gradients", "g") if scatters else ("An", "weights", "w")
    said = [
        f"rank {rank} begins with {_rows([before[rank]])} and ends with {_rows([after[rank]])}" for rank in range(2)
    ]
    drawing = Drawing(f"{article} {collective} of {of}", "; ".join(said) + ". Each sends two numbers to the other.")
    role = "write" if scatters else "read"
    tops, ends = [], []
    for rank in range(2):
        x, own = rank * _ACROSS, _half(rank)
        drawing.text(x, 0, f"rank {rank}", bold=True)
        for position in range(4):
            drawing.text(x + (position + 0.5) * _SIDE - 1, 22, letter + _SUBSCRIPTS[position], "middle")
        every = range(4)
        tops.append(_cells(drawing, x, 34, dict(enumerate(before[rank])), role, every if scatters else own, rest=""))
        has = dict(zip(own, after[rank], strict=True)) if scatters else dict(enumerate(after[rank]))
        ends.append(_cells(drawing, x, 144, has, role, own if scatters else every))
    for rank in range(2):
        own, other = _half(rank), _half(1 - rank)
        drawing.arrow(_between(tops[rank], own, 1, 2), _between(ends[rank], own, 0, -2))
        sent = other if scatters else own
        start, end = _between(tops[rank], sent, 1, 2), _between(ends[1 - rank], sent, 0, -2)
        drawing.arrow(start, end, role)
    if scatters:
        drawing.legend(0, 194, {role: f"{of}, then their means", "absent": "not needed on this rank"})
    else:
        drawing.legend(0, 194, {role: of, "": "out of date"})
    return drawing


def updated_halves(weights: Numbers, gradients: Numbers, updated: Numbers) -> Drawing:
    """The update of a step of ZeRO by hand: each of two ranks subtracts from the half of the weights that it owns.

    Args:
        weights: the four weights of each rank.
        gradients: the two numbers that each rank subtracts from its own.
        updated: the four weights of each rank afterwards, the half that it does not own as before.

    Raises:
        ValueError: there are not two ranks with four weights.
    """
    _two_ranks(weights, 4)
    _two_ranks(gradients, 2)
    _two_ranks(updated, 4)
    said = []
    for rank in range(2):
        for position, gradient in zip(_half(rank), gradients[rank], strict=True):
            was, now = weights[rank][position], updated[rank][position]
            said.append(f"rank {rank}: w{_SUBSCRIPTS[position]} {was:g} − {gradient:g} = {now:g}")
    drawing = Drawing("Each rank updates its own half", "; ".join(said) + ".")
    for rank in range(2):
        x, own = rank * _ACROSS, _half(rank)
        drawing.text(x, 0, f"rank {rank}", bold=True)
        for position in range(4):
            drawing.text(x + (position + 0.5) * _SIDE - 1, 22, "w" + _SUBSCRIPTS[position], "middle")
        _cells(drawing, x, 34, dict(enumerate(weights[rank])), "read", range(4))
        minus = _cells(drawing, x, 66, dict(zip(own, gradients[rank], strict=True)), "write", own, rest=None, sign="− ")
        new = _cells(drawing, x, 124, dict(enumerate(updated[rank])), "read", own, rest="")
        for position in own:
            drawing.arrow(minus[position], new[position])
    drawing.legend(0, 174, {"read": "weights", "write": "mean gradients", "": "out of date"})
    return drawing


def kept_by_stage(weights: int = 4, ranks: int = 2) -> Drawing:
    """Which numbers each rank keeps until the update under DDP and the stages of ZeRO, as cells; dashed ones are not.

    Args:
        weights: their number, 2 or 4.
        ranks: 2, which own equal shares.

    Raises:
        ValueError: there are more than a phone shows, or the shares are unequal.
    """
    if ranks != 2 or weights not in (2, 4):
        raise ValueError(f"{weights} weights on {ranks} ranks: 2 or 4 on 2 can be read on a phone")
    kinds = {"w": ("read", 3), "g": ("write", 2), "m": ("kept", 1), "v": ("kept", 1)}  # the stage that cuts it
    share, said, blocks = weights // ranks, [], []
    for stage in range(4):
        counts = sum(share if stage >= cut else weights for _, cut in kinds.values())
        name = "DDP" if stage == 0 else f"stage {stage}"
        blocks.append(f"{name}: {counts} numbers")
        whole = [letter for letter, (_, cut) in kinds.items() if stage < cut]
        cut = [letter for letter, (_, cut) in kinds.items() if stage >= cut]
        parts = [f"all of {', '.join(whole)}"] * bool(whole) + [f"its own part of {', '.join(cut)}"] * bool(cut)
        said.append(f"{name}: each rank keeps {' and '.join(parts)}, {counts} numbers")
    drawing = Drawing(f"What each of {ranks} ranks keeps", "; ".join(said) + ".")
    side, high = 84.0 / weights, 22.0
    for stage, title in enumerate(blocks):
        left, top = (stage % 2) * 194.0, (stage // 2) * 152.0
        drawing.text(left, top, title, bold=True)
        for rank in range(ranks):
            x, own = left + rank * 92.0, range(rank * share, (rank + 1) * share)
            drawing.text(x, top + 20, f"rank {rank}")
            cells = [[f"{letter}{_SUBSCRIPTS[i]}" for i in range(weights)] for letter in kinds]

            def role(row: int, column: int, stage: int = stage, own: range = own) -> str:
                look, cut = list(kinds.values())[row]
                return look if stage < cut or column in own else "absent"

            texts = [
                [one if role(r, c) != "absent" else "" for c, one in enumerate(row)] for r, row in enumerate(cells)
            ]
            drawing.grid(x, top + 32, texts, role, cell=(side, high))
    meanings = {"read": "weights", "write": "gradients", "kept": "moments", "absent": "not kept"}
    drawing.legend(0, 152.0 * 2 - 4, meanings)
    return drawing


def sent_by_stage(steps: Mapping[str, Sequence[str]]) -> Drawing:
    """What a rank computes and sends in a step, in order from left to right, in several ways to train.

    Args:
        steps: their names, to what happens in order: forward, backward, update, reduce (gradients), gather (weights),
            or "gather gradients".

    Raises:
        ValueError: nothing happens, or something else.
    """
    widths = {"forward": 64.0, "backward": 72.0, "update": 58.0, "reduce": 56.0, "gather": 56.0}
    roles = {"reduce": "write", "gather gradients": "write", "gather": "read"}
    if not steps or any(not order or not {*order} <= {*widths, *roles} for order in steps.values()):
        raise ValueError(f"what happens is one of {', '.join(sorted({*widths, *roles}))}")
    sends = {name: sum(one in roles for one in order) for name, order in steps.items()}
    said = [f"{name}: {', '.join(order)}; sends {sends[name]} times" for name, order in steps.items()]
    drawing = Drawing("What is sent in a step", ". ".join(said) + ".")
    for number, (name, order) in enumerate(steps.items()):
        y, x = 58.0 * number, 0.0
        drawing.text(0, y, f"{name}: {sends[name]}", bold=True)
        for one in order:
            text = one.split()[0]
            box = drawing.box(x, y + 14, text, roles.get(one, ""), w=widths[text], h=26)
            x += box.w + 2
    drawing.legend(0, 58.0 * len(steps) + 4, {"write": "sends gradients", "read": "sends weights", "": "computes"})
    return drawing


def unit_copies(shards: float, copy: float, unit: str = " MB") -> Drawing:
    """Where the memory of a rank under FSDP goes while a unit computes: its shards, and four copies of the unit.

    Args:
        shards: what the rank keeps of parameters, gradients and moments.
        copy: one copy of the unit, in the same unit.
        unit: after the numbers.

    Raises:
        ValueError: a number is not positive.
    """
    if min(shards, copy) <= 0:
        raise ValueError("shards and copies are positive")
    size = f"{copy:.3g}{unit}"
    drawing = Drawing(
        "Four copies of a unit",
        f"The shards of a rank take {shards:.3g}{unit}. An all-gather collects the unit in a buffer of {size}; its "
        f"parameters are copied out, {size}; the backward computes its gradients, {size}; they are copied into the "
        f"buffer of a reduce-scatter, {size}, which leaves this rank's share in the shards.",
    )
    wide, right = 124.0, 350.0  # of a box, and where the boxes end
    gather = drawing.box(18, 0, f"gather buffer\n{size}", "read", w=wide, h=46)
    weights = drawing.box(18, 84, f"parameters\n{size}", "read", w=wide, h=46)
    gradients = drawing.box(right - wide, 84, f"gradients\n{size}", "write", w=wide, h=46)
    reduce = drawing.box(right - wide, 0, f"reduce buffer\n{size}", "write", w=wide, h=46)
    kept = drawing.box(18, 164, f"this rank's shards: {shards:.3g}{unit}", "kept", w=right - 18, h=34)
    drawing.arrow(gather, weights, text="copy")
    drawing.arrow(weights, gradients, text="backward")
    drawing.arrow(gradients, reduce)
    drawing.text(reduce.bottom[0] - 8, 65, "copy", "end")
    for shard, buffer, x, role in ((kept.left, gather.left, 2.0, "read"), (reduce.right, kept.right, 366.0, "write")):
        drawing.arrow(shard, buffer, role, via=[(x, shard[1]), (x, buffer[1])])
    return drawing


def padded_rows(held: Sequence[int], storage: int) -> Drawing:
    """Which rows of a tensor each rank has, one column for each rank, and the padding that makes all storages equal.

    Args:
        held: rows of each rank, in order.
        storage: rows for which every rank has memory.

    Raises:
        ValueError: a rank has more rows than memory, or there are more than a phone shows.
    """
    if not 1 <= len(held) <= 4 or not 1 <= storage <= 6 or not all(0 <= one <= storage for one in held):
        raise ValueError("1 to 4 ranks with at most 6 rows each can be read on a phone")
    starts = [sum(held[:rank]) for rank in range(len(held))]
    said = []
    for rank, (start, count) in enumerate(zip(starts, held, strict=True)):
        rows = "no row" if not count else f"row {start}" if count == 1 else f"rows {start} to {start + count - 1}"
        said.append(f"rank {rank} has {rows}" + (f" and padding for {storage - count}" if count < storage else ""))
    drawing = Drawing(f"{sum(held)} rows on {len(held)} ranks", "; ".join(said) + ".")
    side = 88.0
    for rank in range(len(held)):
        drawing.text(rank * side, 0, f"rank {rank}", bold=True)
    texts = [
        [f"row {s + r}" if r < n else "padding" for s, n in zip(starts, held, strict=True)] for r in range(storage)
    ]
    drawing.grid(0, 14, texts, lambda r, rank: "read" if r < held[rank] else "", cell=(side, 28))
    return drawing


def collectives_by_pass(settings: Mapping[str, Sequence[tuple[int, int]]]) -> Drawing:
    """How often FSDP gathers and reduces in each pass of two micro-batches, for some settings.

    Args:
        settings: their names, to gathers and reductions in each of four passes: forward, backward, and again.

    Raises:
        ValueError: there is no setting, or one has another number of passes.
    """
    passes = ["forward", "backward", "forward", "backward"]
    if not settings or any(len(counts) != len(passes) for counts in settings.values()):
        raise ValueError("every setting has four passes")
    said = [
        f"{name}: " + ", ".join(f"{p} {g} gathers {r} reductions" for p, (g, r) in zip(passes, counts, strict=True))
        for name, counts in settings.items()
    ]
    drawing = Drawing("Collectives in each pass", "; ".join(said) + ".")
    side = 74.0
    drawing.text(side - 2, 0, "micro-batch 1", "middle", bold=True)
    drawing.text(3 * side - 2, 0, "micro-batch 2", "middle", bold=True)
    for column, name in enumerate([*passes, "sum"]):
        drawing.text((column + 0.5) * side - 2, 20, name, "middle")
    y = 34.0
    for name, counts in settings.items():
        drawing.text(0, y + 8, name, bold=True)
        for column, (gathers, reduces) in enumerate([*counts, (sum(g for g, _ in counts), sum(r for _, r in counts))]):
            x, wide = column * side, side - 4
            parts = [(str(n), role) for n, role in ((gathers, "read"), (reduces, "write")) if n] or [("", "absent")]
            each = wide / len(parts)
            for place, (number, role) in enumerate(parts):
                drawing.box(x + place * each, y + 20, number, role, w=each - 1, h=26)
        y += 58
    drawing.legend(0, y + 8, {"read": "gathers", "write": "reductions", "absent": "neither"})
    return drawing


def issued(passes: Mapping[str, Sequence[tuple[str, int]]]) -> Drawing:
    """In which order FSDP calls gathers and blocks run: two lanes for each pass, time from left to right.

    Args:
        passes: their names, to what happened in order: ("gather", 2) or ("run", 2), with the number of the block.

    Raises:
        ValueError: something else happened, or more than a phone shows.
    """
    if not passes or any(kind not in ("gather", "run") for events in passes.values() for kind, _ in events):
        raise ValueError("what happens is a gather or a run")
    if max(map(len, passes.values())) > 10:
        raise ValueError("10 events can be read on a phone")
    said = [f"{name}: " + ", ".join(f"{kind} {block}" for kind, block in events) for name, events in passes.items()]
    drawing = Drawing("When gathers are called", "; ".join(said) + ".")
    left = 64.0
    side = (WIDTH - 10 - left) / max(map(len, passes.values()))
    for number, (name, events) in enumerate(passes.items()):
        y = 90.0 * number
        drawing.text(left, y, f"{name} →", bold=True)
        drawing.text(left - 8, y + 26, "gather", "end")
        drawing.text(left - 8, y + 56, "run", "end")
        for place, (kind, block) in enumerate(events):
            gathers = kind == "gather"
            at = y + (13 if gathers else 43)
            drawing.box(left + place * side, at, str(block), "read" if gathers else "kept", w=side - 3, h=26)
    drawing.legend(0, 90.0 * len(passes) + 2, {"read": "its gather is called", "kept": "the block runs"})
    return drawing


def resharded(rows: int, before: int, after: int) -> Drawing:
    """Which saved pieces of a tensor each rank reads when a checkpoint is loaded on another number of ranks.

    Args:
        rows: of the tensor, cut along them.
        before: ranks that saved it, 1 to 4.
        after: ranks that load it, 1 to 4.

    Raises:
        ValueError: there are more ranks than a phone shows, or than rows.
    """
    if not (1 <= before <= 4 and 1 <= after <= 4) or rows < max(before, after):
        raise ValueError("1 to 4 ranks, each with a row, can be read on a phone")
    cuts = {
        ranks: [(r * -(-rows // ranks), min(rows, (r + 1) * -(-rows // ranks))) for r in range(ranks)]
        for ranks in (before, after)
    }
    read = {
        new: [
            old for old, (a, b) in enumerate(cuts[before]) if max(a, cuts[after][new][0]) < min(b, cuts[after][new][1])
        ]
        for new in range(after)
    }
    said = [
        f"rank {new} wants rows {cuts[after][new][0]} to {cuts[after][new][1] - 1}, from the files of "
        f"{', '.join(f'rank {old}' for old in found)}"
        for new, found in read.items()
    ]
    drawing = Drawing(f"A checkpoint of {before} ranks on {after}", "; ".join(said) + ".")
    wide = WIDTH - 10

    def lane(y: float, ranks: int, role: str, text: str) -> list[Box]:
        boxes = []
        for rank, (a, b) in enumerate(cuts[ranks]):
            words = f"{text} {rank}\n{a}–{b - 1}"
            boxes.append(drawing.box(a / rows * wide, y, words, role, w=(b - a) / rows * wide - 4, h=44))
        return boxes

    drawing.text(0, 0, f"saved by {before} ranks")
    tops = lane(14, before, "kept", "file")
    ends = lane(106, after, "read", "rank")
    drawing.text(0, 164, f"loaded by {after} ranks")
    for new, found in read.items():
        for old in found:
            a, b = max(cuts[before][old][0], cuts[after][new][0]), min(cuts[before][old][1], cuts[after][new][1])
            x = (a + b) / 2 / rows * wide - 2
            drawing.arrow((x, tops[old].bottom[1]), (x, ends[new].top[1]))
    return drawing


def early_optimizer() -> Drawing:
    """Why an optimizer that was made before `fully_shard` changes nothing: it holds the old parameters."""
    drawing = Drawing(
        "An optimizer that was created too early",
        "The optimizer holds the old parameters, which get no gradients. The model holds the new ones, DTensors, which "
        "get the gradients and which no optimizer changes.",
    )
    for y, holder, held, role, gets in (
        (0.0, "optimizer", "old parameters", "refused", "no gradients"),
        (60.0, "model", "DTensors", "kept", "gradients"),
    ):
        one = drawing.box(0, y, holder, w=92, h=34)
        two = drawing.box(118, y, held, role, w=128, h=34)
        three = drawing.box(272, y, gets, "absent" if role == "refused" else "write", w=102, h=34)
        drawing.arrow(one, two)
        if role == "kept":
            drawing.arrow(three, two)
    return drawing


def flat_and_each(numbers: Mapping[str, int], ranks: int = 2) -> Drawing:
    """How FSDP1 and FSDP2 cut the parameters of a unit for two ranks: all as one flat tensor, or each by itself.

    Args:
        numbers: names of the parameters, each of one letter, to how many numbers they have.
        ranks: 2.

    Raises:
        ValueError: a parameter cannot be halved, or there are more numbers or ranks than a phone shows.
    """
    letters = [name for name, count in numbers.items() for _ in range(count)]
    if ranks != 2 or not 2 <= len(letters) <= 16 or any(count % 2 for count in numbers.values()):
        raise ValueError("2 ranks and up to 16 numbers, even ones of each parameter, can be read on a phone")
    flat = [place >= len(letters) / 2 for place in range(len(letters))]
    each = [place >= count / 2 for count in numbers.values() for place in range(count)]
    ways = {"FSDP1: one flat tensor, cut once": flat, "FSDP2: each parameter cut": each}
    said = []
    for name, second in ways.items():
        held = [
            " and ".join(
                f"{sum(n == one and s == bool(rank) for n, s in zip(letters, second, strict=True))} of {one}"
                for one in numbers
            )
            for rank in range(2)
        ]
        said.append(f"{name}: rank 0 has {held[0]}, rank 1 has {held[1]}")
    drawing = Drawing("Which numbers each rank has", "; ".join(said) + ".")
    for number, (name, second) in enumerate(ways.items()):
        y = 64.0 * number
        drawing.text(0, y, name, bold=True)
        roles = ["kept" if one else "read" for one in second]
        drawing.grid(0, y + 14, [letters], lambda r, c, roles=roles: roles[c], cell=(23, 28))  # type: ignore[misc]
    drawing.legend(0, 132, {"read": "rank 0", "kept": "rank 1"})
    return drawing


_SUBSCRIPTS = "₀₁₂₃"


def _two_ranks(held: Numbers, numbers: int) -> None:
    if len(held) != 2 or any(len(one) != numbers for one in held):
        raise ValueError(f"two ranks with {numbers} numbers each are drawn")


def _half(rank: int) -> range:
    """The weights, of four, that one of two ranks owns."""
    return range(2 * rank, 2 * rank + 2)


def _cells(
    drawing: Drawing,
    x: float,
    y: float,
    numbers: Mapping[int, float],
    role: str,
    coloured: Sequence[int],
    *,
    rest: str | None = "absent",
    sign: str = "",
) -> dict[int, Box]:
    """Four cells in a row; `rest` is the role of those that are not coloured, and None leaves them out."""
    boxes = {}
    for position in range(4):
        look = role if position in coloured else rest
        if look is not None:
            text = f"{sign}{numbers[position]:g}" if position in numbers else ""
            boxes[position] = drawing.box(x + position * _SIDE, y, text, look, w=_SIDE - 2, h=28)
    return boxes


def _between(boxes: Mapping[int, Box], positions: Sequence[int], low: float, away: float) -> tuple[float, float]:
    """The middle of some cells' upper side (low = 0) or lower side (1), some units away from it."""
    found = [boxes[position] for position in positions]
    return (found[0].x + found[-1].x + found[-1].w) / 2, found[0].y + low * found[0].h + away
