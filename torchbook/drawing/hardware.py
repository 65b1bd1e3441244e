"""Drawings of GPUs and machines: what a memory holds, what a warp fetches, which rank is where and meets whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torchbook.drawing.canvas import WIDTH, Drawing, Part

SECTOR = 32  # bytes that device memory is read in


def memory_levels(multiprocessors: int) -> Drawing:
    """The levels of a GPU's memory and who shares each: near and small above, far and large below.

    Args:
        multiprocessors: of the chip.

    Raises:
        ValueError: there are fewer than 3.
    """
    if multiprocessors < 3:
        raise ValueError(f"{multiprocessors} multiprocessors: 3 are drawn")
    drawing = Drawing(
        "Where a GPU keeps numbers",
        f"Each of {multiprocessors} multiprocessors has registers, which belong to its threads, and shared memory, "
        "which belongs to a block. All of them share one L2 cache, and below it lies the device memory, where the "
        "tensors are.",
    )
    wide = WIDTH - 8
    each = (wide - 16) / 3
    for number, name in enumerate(("SM 0", "SM 1", f"… SM {multiprocessors - 1}")):
        x = number * (each + 8)
        drawing.box(x, 0, w=each, h=118)
        drawing.text(x + each / 2, 14, name, "middle", bold=True)
        drawing.box(x + 6, 28, "registers\nof a thread", "kept", w=each - 12, h=40)
        drawing.box(x + 6, 72, "shared\nof a block", "read", w=each - 12, h=40)
        drawing.arrow((x + each / 2, 146), (x + each / 2, 118))
    drawing.box(0, 146, "L2 cache, of all", "read", w=wide)
    drawing.arrow((wide / 2, 200), (wide / 2, 173))
    drawing.box(0, 200, "device memory: the tensors", "write", w=wide, h=40)
    return drawing


def coalescing(strides: Sequence[int], threads: int = 8, item: int = 4) -> Drawing:
    """Which sectors of device memory neighbouring threads fetch when each reads one number, for several strides.

    Args:
        strides: numbers from one thread's to the next one's.
        threads: how many read.
        item: bytes of a number.

    Raises:
        ValueError: a stride is less than 1, or a row would be longer than a phone shows.
    """
    per = SECTOR // item
    if any(stride < 1 for stride in strides) or not strides:
        raise ValueError("strides are 1 or more")
    shown = 4 * per
    side = (WIDTH - 10) / shown
    fetched = {stride: sorted({thread * stride * item // SECTOR for thread in range(threads)}) for stride in strides}
    drawing = Drawing(
        f"What {threads} threads fetch",
        " ".join(
            f"With stride {stride} they touch {len(found)} {'sector' if len(found) == 1 else 'sectors'} of {SECTOR} "
            f"bytes and use {threads * item} of {len(found) * SECTOR} bytes."
            for stride, found in fetched.items()
        ),
    )
    y = 0.0
    for stride, found in fetched.items():
        used = 100 * threads * item / (len(found) * SECTOR)
        drawing.text(0, y, f"stride {stride}: {len(found) * SECTOR} bytes fetched, {used:.3g} % used", bold=True)
        wanted = {thread * stride for thread in range(threads)}
        for place in range(shown):
            role = "read" if place in wanted else "write" if place // per in found else "absent"
            gap = place // per * 2
            drawing.box(place * (side - 0.2) + gap - 2, y + 14, role=role, w=side - 1.6, h=22)
        if max(wanted) >= shown:
            drawing.text(0, y + 50, f"and so on, to number {max(wanted)}")
            y += 18
        y += 62
    drawing.legend(0, y, {"read": "read by a thread", "write": "fetched for nothing", "absent": "not fetched"})
    return drawing


def needs(plans: Mapping[str, Mapping[str, float]], limit: float, unit: str = " GB") -> Drawing:
    """What one GPU must hold in several plans, kind by kind: a bar under each plan's name, and a line at the limit.

    Args:
        plans: their names, to how much of each kind; at most four kinds, the same in all plans.
        limit: how much the GPU may hold, in the same unit.
        unit: after the totals.

    Raises:
        ValueError: there is no plan, there are more than four kinds, or the limit is not positive.
    """
    kinds = list(dict.fromkeys(kind for plan in plans.values() for kind in plan))
    roles = dict(zip(kinds, ("kept", "read", "write", ""), strict=False))
    if not 1 <= len(kinds) <= len(roles) or limit <= 0:
        raise ValueError(f"{len(kinds)} kinds and a limit of {limit}: 1 to 4 kinds and a positive limit are drawn")
    said = [
        f"{name}: " + ", ".join(f"{kind} {size:.3g}" for kind, size in plan.items()) + f", together "
        f"{sum(plan.values()):.3g}{unit}, which {'fits' if sum(plan.values()) <= limit else 'does not fit'}"
        for name, plan in plans.items()
    ]
    drawing = Drawing("What one GPU must hold", f"The limit is {limit:.3g}{unit}. " + "; ".join(said) + ".")
    scale = (WIDTH - 10) / max(limit, *(sum(plan.values()) for plan in plans.values()))
    for number, (name, plan) in enumerate(plans.items()):
        y, x = 64.0 * number, 0.0
        drawing.text(0, y, f"{name}: {sum(plan.values()):.3g}{unit}", bold=True)
        for kind, size in plan.items():
            drawing.box(x, y + 12, role=roles[kind], w=size * scale, h=24)
            x += size * scale
        drawing.line([(limit * scale, y + 9), (limit * scale, y + 42)], "refused")
    low = 64.0 * len(plans)
    drawing.legend(0, low, {**{role: kind for kind, role in roles.items()}, "refused": f"the limit, {limit:.3g}{unit}"})
    return drawing


def devices(ways: Mapping[str, Sequence[int]], gpus: int) -> Drawing:
    """Which GPU the tensors of each rank are on, in several ways: an arrow from each rank to its GPU.

    Args:
        ways: their names, to the GPU of each rank.
        gpus: of the machine.

    Raises:
        ValueError: a rank's GPU does not exist, or there is no way.
    """
    if not ways or any(not 0 <= gpu < gpus for chosen in ways.values() for gpu in chosen):
        raise ValueError(f"the GPUs are 0 to {gpus - 1}")
    said = [
        f"{name}: " + ", ".join(f"rank {rank} uses GPU {gpu}" for rank, gpu in enumerate(chosen))
        for name, chosen in ways.items()
    ]
    drawing = Drawing("Whose tensors are on which GPU", "; ".join(said) + ".")
    wide, y = 74.0, 0.0
    for name, chosen in ways.items():
        drawing.text(0, y, name, bold=True)
        filled = [list(chosen).count(gpu) for gpu in range(gpus)]
        below = [
            drawing.box(
                gpu * (wide + 14), y + 86, f"GPU {gpu}", "refused" if many > 1 else "kept" if many else "absent", w=wide
            )
            for gpu, many in enumerate(filled)
        ]
        for rank, gpu in enumerate(chosen):
            above = drawing.box(rank * (wide + 14), y + 16, f"rank {rank}", "read", w=wide)
            drawing.arrow(above.bottom, below[gpu].top)
        y += 140
    return drawing


def queued() -> Drawing:
    """A rank that waits in a collective of NCCL: its program has gone on, its GPU waits, and then the program does."""
    drawing = Drawing(
        "A rank that waits, with NCCL",
        "Time runs from left to right. On the CPU, all_reduce() returns at once, the program goes on with the "
        "next lines, and then it waits in .item(). On the GPU, the all-reduce waits all the time for the other rank, "
        "and what was put on the stream after it has not begun.",
    )
    rows = {
        "CPU": [Part(1.1, "call"), Part(4.4, "next lines", "kept"), Part(5.5, ".item() waits", "refused")],
        "GPU": [Part(1.1, "", ""), Part(9.9, "all_reduce waits", "refused")],
    }
    drawing.lanes(0, 0, rows, w=WIDTH - 10, h=30)
    drawing.arrow((40, 90), (WIDTH - 12, 90))
    drawing.text(WIDTH / 2, 104, "time", "middle")
    return drawing


def machines(dimensions: Mapping[str, Sequence[Sequence[int]]], rank: int, per_machine: int) -> Drawing:
    """Where the partners of one rank are: the ranks of a mesh in their machines, with an arrow to each partner.

    Args:
        dimensions: their names, to the ranks of each group; at most three.
        rank: whose partners are shown.
        per_machine: ranks in a machine; neighbours are in the same.

    Raises:
        ValueError: there are more than three dimensions, or one lacks that rank.
    """
    mine = {name: next((list(one) for one in found if rank in one), []) for name, found in dimensions.items()}
    if not all(mine.values()) or not 1 <= len(mine) <= 3:
        raise ValueError(f"1 to 3 dimensions, each with a group of rank {rank}, are drawn")
    ranks = sorted({one for found in dimensions.values() for group in found for one in group})
    partners = {one: name for name, group in mine.items() for one in group if one != rank}
    home = rank // per_machine
    said = [
        f"{name}: rank {one}, in {'the same machine' if one // per_machine == home else 'another machine'}"
        for one, name in partners.items()
    ]
    drawing = Drawing(f"Where the partners of rank {rank} are", "; ".join(said) + ".")
    side, across, between = 36.0, 88.0, 46.0
    inside = [one for one in partners if one // per_machine == home]
    tall = side + 44 + 26 * len(inside)
    boxes, y = {}, 0.0
    for machine in range(-(-len(ranks) // per_machine)):
        high = tall if machine == home else side + 44
        drawing.box(0, y, w=per_machine * across, h=high)
        drawing.text(12, y + 15, f"machine {machine}", bold=True)
        for place, one in enumerate(ranks[machine * per_machine : (machine + 1) * per_machine]):
            role = "kept" if one == rank else "read" if one in partners else ""
            box = drawing.box(place * across + 14, y + 32, str(one), role, w=across - 28, h=side)
            boxes[one] = box
        y += high + between
    for one, name in partners.items():
        if one in inside:
            low = boxes[rank].bottom[1] + 26 * inside.index(one) + 22
            shift = 8.0 * inside.index(one)
            (x, top), (far, _) = boxes[rank].bottom, boxes[one].bottom
            drawing.arrow((x + shift, top), (far, top), "write", via=[(x + shift, low), (far, low)])
            drawing.text((x + shift + far) / 2, low - 10, name, "middle")
        else:
            start, end = (boxes[rank].top, boxes[one].bottom) if one < rank else (boxes[rank].bottom, boxes[one].top)
            drawing.arrow(start, end, "write")
            drawing.text((start[0] + end[0]) / 2 + 10, end[1] + (34 if one < rank else -34), name)
    return drawing


def meeting(ranks: Mapping[str, Sequence[int]], address: str, announced: str = "") -> Drawing:
    """How ranks on two machines find each other: through the store, then directly.

    Args:
        ranks: names of the two machines, to their ranks; the first has the store.
        address: of the store.
        announced: the address at which every rank says that it can be reached; by default its own, which works.

    Raises:
        ValueError: there are not two machines with ranks.
    """
    if len(ranks) != 2 or not all(ranks.values()):
        raise ValueError("two machines with ranks are drawn")
    (first, near), (second, far) = ranks.items()
    lost = (
        f" Each says that it can be reached at {announced}, so it is sought on the wrong machine." if announced else ""
    )
    drawing = Drawing(
        "How ranks on two machines find each other",
        f"The store is at {address} on {first}. All ranks, {_listed(near)} on {first} and {_listed(far)} on {second}, "
        f"leave their addresses there and read those of the others.{lost or ' Then they connect to each other.'}",
    )
    wide, high, apart = 168.0, 150.0, 34.0
    boxes = []
    for number, (name, held) in enumerate(ranks.items()):
        x = number * (wide + apart)
        drawing.box(x, 0, w=wide, h=high)
        drawing.text(x + 10, 14, name, bold=True)
        each = (wide - 12) / len(held)
        boxes.append(
            [
                drawing.box(x + 8 + place * each, 102, f"rank {one}", "read", w=each - 4, h=34)
                for place, one in enumerate(held)
            ]
        )
    store = drawing.box(8, 30, f"store\n{address}", "kept", w=wide - 16, h=42)
    for box in boxes[0]:
        drawing.arrow(box.top, (box.top[0], 72))
    for box in boxes[1]:
        drawing.line([box.top, (box.top[0], 51)])
    drawing.arrow((boxes[1][-1].top[0], 51), store.right)
    left, right = boxes[0][-1], boxes[1][0]
    if announced:
        for box, turn in ((left, 1), (right, -1)):
            x, y = box.bottom
            drawing.arrow((x - 14, y), (x + 14, y), "refused", via=[(x - 14, high + 22), (x + 14, high + 22)])
            drawing.text(x - turn * 22, high + 38, announced, "middle")
    else:
        x, y = left.bottom
        drawing.arrow((x, y), right.bottom, "write", via=[(x, high + 22), (right.bottom[0], high + 22)])
        drawing.text(wide + apart / 2, high + 38, "then directly", "middle")
    return drawing


def _listed(numbers: Sequence[int]) -> str:
    return " and ".join(map(str, numbers))
