"""Drawings of a GPU's memory: its levels, and what a warp fetches."""

from __future__ import annotations

from collections.abc import Sequence

from torchbook.drawing.canvas import WIDTH, Drawing

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
