"""Drawings of the way of a batch have one place for each worker and list."""

from __future__ import annotations

import pytest

from torchbook.drawing import inputs


@pytest.mark.parametrize(("workers", "prefetch"), [(1, 1), (2, 2), (3, 2)])
def test_each_worker_has_a_queue_and_all_share_one(workers: int, prefetch: int) -> None:
    svg = inputs.worker_queues(workers, prefetch).svg()
    assert [svg.count(f">worker {w}<") for w in range(workers)] == [1] * workers
    assert [svg.count(f">{batch}<") for batch in range(workers * prefetch)] == [2] * (workers * prefetch)


@pytest.mark.parametrize(("workers", "prefetch"), [(0, 2), (4, 2), (2, 0), (2, 4)])
def test_more_workers_than_can_be_read_are_refused(workers: int, prefetch: int) -> None:
    with pytest.raises(ValueError, match="1 to 3 of both"):
        inputs.worker_queues(workers, prefetch)


def test_only_the_pageable_copy_keeps_the_host_waiting() -> None:
    pageable, pinned = inputs.host_copies().svg().split(">pinned, in a stream of its own<")
    assert [half.count(">waits<") for half in (pageable, pinned)] == [1, 0]
    assert [half.count(">idle<") for half in (pageable, pinned)] == [1, 0]
