from collections.abc import Callable, Sequence

import torch


def percentile(values: Sequence[float], p: int) -> float:
    """The p-th percentile by nearest rank."""
    ### BEGIN SOLUTION
    rank = -(-p * len(values) // 100)  # rounded up, in integers
    return sorted(values)[rank - 1]
    ### END SOLUTION


def profile(
    run: Callable[[torch.Tensor], object],
    make: Callable[[int], torch.Tensor],
    sizes: Sequence[int],
    clock: Callable[[], float],
    warmup: int,
    repeats: int,
) -> dict[int, dict[str, float]]:
    """For each batch size the percentiles of a call, and the samples per second."""
    ### BEGIN SOLUTION
    table = {}
    for size in sizes:
        x = make(size)
        for _ in range(warmup):
            run(x)
        laps = []
        for _ in range(repeats):
            start = clock()
            run(x)
            laps.append(clock() - start)
        table[size] = {f"p{p}": percentile(laps, p) for p in (50, 95, 99)}
        table[size]["rate"] = size * repeats / sum(laps)
    return table
    ### END SOLUTION


def corrected(laps: Sequence[float], interval: float) -> list[float]:
    """The laps, and those of the requests that were not sent during long ones."""
    ### BEGIN SOLUTION
    found = []
    for lap in laps:
        found.append(lap)
        missing = lap - interval
        while missing >= interval:
            found.append(missing)
            missing -= interval
    return found
    ### END SOLUTION


def scheduled(
    run: Callable[[], object],
    interval: float,
    count: int,
    clock: Callable[[], float],
    sleep: Callable[[float], object],
) -> list[float]:
    """Latencies of requests on a schedule, from the planned time of each."""
    ### BEGIN SOLUTION
    start = clock()
    laps = []
    for i in range(count):
        planned = start + i * interval
        early = planned - clock()
        if early > 0:
            sleep(early)
        run()
        laps.append(clock() - planned)
    return laps
    ### END SOLUTION
