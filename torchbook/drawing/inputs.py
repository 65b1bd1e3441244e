"""Drawings of how batches reach the device: workers and their queues, and two kinds of copy."""

from __future__ import annotations

from torchbook.drawing.canvas import WIDTH, Box, Drawing, Part


def worker_queues(workers: int, prefetch: int = 2) -> Drawing:
    """From the sampler through the workers to the loop: who holds indices, who samples, and who batches.

    Args:
        workers: their number, 1 to 3.
        prefetch: lists of indices that wait with each worker, 1 to 3.

    Raises:
        ValueError: there are fewer or more.
    """
    if not 1 <= workers <= 3 or not 1 <= prefetch <= 3:
        raise ValueError(f"{workers} workers with {prefetch} lists each: 1 to 3 of both can be read on a phone")
    drawing = Drawing(
        f"A DataLoader with {workers} workers",
        f"The main process keeps the sampler and puts lists of indices into a queue for each of {workers} workers, "
        f"{prefetch} ahead. A worker fetches the samples, collates them, and puts the batch into shared memory and a "
        "handle of it into one queue for all. The loop takes batches out in the order of their indices.",
    )
    main = drawing.box(0, 0, "main process: sampler", "kept", w=WIDTH - 8)
    each = (WIDTH - 8) / workers
    ends: list[Box] = []
    for worker in range(workers):
        middle = each * (worker + 0.5)
        left = middle - prefetch * 32 / 2
        drawing.grid(left, 64, [[worker + turn * workers for turn in reversed(range(prefetch))]], cell=(32, 26))
        drawing.arrow((middle, main.y + main.h), (middle, 64))
        box = drawing.box(middle - 58, 122, f"worker {worker}\nfetch, collate", "read", w=116)
        drawing.arrow((middle, 64 + 24), box)
        ends.append(box)
    drawing.text(0, 46, "indices")
    total = workers * prefetch
    out = drawing.grid(
        (WIDTH - 8) / 2 - 24 * total / 2 - 4 * total,
        216,
        [list(reversed(range(total)))],
        lambda r, c: "read",
        cell=(32, 26),
    )[0]
    for box in ends:
        drawing.arrow(box, (min(max(box.bottom[0], out[0].x + 10), out[-1].x + 20), 216))
    drawing.text(out[-1].x + 40, 229, "one queue")
    loop = drawing.box(0, 280, "main process: for batch in loader", "kept", w=WIDTH - 8)
    middle = (out[0].x + out[-1].x + 30) / 2
    drawing.arrow((middle, 240), (middle, loop.y), text="in order")
    return drawing


def host_copies() -> Drawing:
    """A pageable copy beside a pinned one: who is busy while a batch travels. Schematic, not to scale."""
    drawing = Drawing(
        "A pageable copy and a pinned one",
        "Pageable: the host copies the batch into a pinned buffer of the driver's, the copy engine reads that, and the "
        "host waits for both before it can launch the next step. Pinned, with non_blocking: the copy engine reads the "
        "batch itself, in a stream of its own, while the device computes the step before and the host goes on.",
    )
    pageable = {
        "host": [Part(2, "stage", "write"), Part(3, "waits", "absent"), Part(1, "go", "read")],
        "copy": [Part(3, "copy", "write", start=2)],
        "device": [Part(2, "step", "kept"), Part(3, "idle", "absent"), Part(3, "step", "kept", start=6)],
    }
    pinned = {
        "host": [Part(1, "go", "read"), Part(2, "free", "")],
        "copy": [Part(3, "copy", "write", start=0)],
        "device": [Part(3, "step", "kept"), Part(3, "step", "kept", start=3.2)],
    }
    for y, name, rows in ((0.0, "pageable", pageable), (132.0, "pinned, in a stream of its own", pinned)):
        drawing.text(0, y, name, bold=True)
        drawing.lanes(0, y + 14, rows, w=WIDTH - 10, longest=9)
    drawing.text(0, 254, "time →, schematic, not to scale")
    return drawing
