"""Maps one function over many submissions: threads on this machine, or a Dask cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any


class EngineError(Exception):
    """The engine cannot be reached; the message says what to do."""


def jobs_of(jobs: int) -> int:
    """How many submissions side by side: as asked, or one a core that this process may use."""
    return jobs or len(os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else range(os.cpu_count() or 1))


def mapped(
    function: Callable[..., Any], calls: Mapping[str, tuple[Any, ...]], *, jobs: int = 0, scheduler: str = ""
) -> Iterator[tuple[str, Any]]:
    """Call a function once for each key, and yield key and result as they come; an exception is a result too.

    The function's work is in processes of its own, so threads are enough on one machine. With the address of a Dask
    scheduler it is called on that cluster's workers, where this package must be installed.

    Raises:
        EngineError: the scheduler does not answer.
    """
    return _on_cluster(function, calls, scheduler) if scheduler else _here(function, calls, jobs_of(jobs))


def _here(function: Callable[..., Any], calls: Mapping[str, tuple[Any, ...]], jobs: int) -> Iterator[tuple[str, Any]]:
    pool = ThreadPoolExecutor(jobs, thread_name_prefix="grade")
    try:
        futures = {pool.submit(function, *arguments): key for key, arguments in calls.items()}
        for future in as_completed(futures):
            yield futures.pop(future), future.exception() or future.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _on_cluster(
    function: Callable[..., Any], calls: Mapping[str, tuple[Any, ...]], scheduler: str
) -> Iterator[tuple[str, Any]]:
    from distributed import Client
    from distributed import as_completed as completed

    try:
        client = Client(scheduler, timeout="10s")
    except (OSError, ValueError) as error:
        raise EngineError(
            f"--scheduler {scheduler}: no Dask scheduler answers there ({error}); start one with "
            "`dask scheduler`, its workers with `dask worker`, or leave the option out"
        ) from None
    with client:
        futures = {client.submit(function, *arguments, pure=False): key for key, arguments in calls.items()}
        for future in completed(list(futures)):
            yield futures[future], future.exception() or future.result()
