"""Profiles for the tests of the trace: real ones of a CPU, and one with a GPU, made of torch's own event objects."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.autograd import DeviceType
from torch.autograd.profiler_util import EventList, FunctionEvent
from torch.profiler import ProfilerActivity, profile, record_function

CPU = [ProfilerActivity.CPU]
RECORDED = Path(__file__).with_name("profile_of_three_steps.json")


def train(steps: int = 3, *, samples: int = 16, shapes: bool = True, marks: bool = False) -> Any:
    """A profile of a few real training steps."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    optimizer = torch.optim.AdamW(model.parameters())
    data = torch.utils.data.TensorDataset(torch.randn(256, 1, 8, 8), torch.randint(0, 10, (256,)))
    loader = iter(torch.utils.data.DataLoader(data, batch_size=samples))

    def step() -> None:
        x, y = next(loader)
        optimizer.zero_grad()
        if marks:
            with record_function("my_forward"):
                loss = nn.functional.cross_entropy(model(x), y)
        else:
            loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()

    step()
    with profile(activities=CPU, record_shapes=shapes) as prof:
        for _ in range(steps):
            step()
    return prof


def event(id: int, name: str, start: float, end: float, *, thread: int = 1, gpu: bool = False, linked: int = 0,
          mark: bool = False, stream: int = 7, **more: Any) -> FunctionEvent:  # fmt: skip
    """One event as the profiler makes it."""
    made = FunctionEvent(
        id=id, name=name, thread=thread, start_us=start, end_us=end, trace_name=name, input_shapes=[],
        device_type=DeviceType.CUDA if gpu else DeviceType.CPU, device_index=0, is_user_annotation=mark,
        use_device="cuda", device_resource_id=stream if gpu else thread, stack=[],
        **{"sequence_nr": -1, "scope": 0, **more},
    )  # fmt: skip
    made.linked_correlation_id = linked
    return made


def gpu_events() -> EventList:
    """A step on a GPU: two threads, kernels that wait for the CPU, a stream for copies, marks on both sides."""
    events = [
        event(1, "ProfilerStep*", 0, 1000, mark=True, scope=7),
        event(2, "aten::to", 20, 120),
        event(90, "cudaMemcpyAsync", 60, 110, linked=2),
        event(3, "aten::mm", 200, 260, sequence_nr=4),
        event(91, "cudaLaunchKernel", 220, 250, linked=3),
        event(4, "autograd::engine::evaluate_function: MmBackward0", 400, 480, thread=2, sequence_nr=4, fwd_thread=1),
        event(5, "MmBackward0", 405, 470, thread=2, sequence_nr=4, scope=1, fwd_thread=1),
        event(6, "aten::mm", 410, 460, thread=2),
        event(92, "cudaLaunchKernel", 430, 450, thread=2, linked=6),
        event(7, "Optimizer.step#SGD.step", 700, 900, mark=True, scope=7),
        event(8, "aten::_foreach_add_", 720, 780),
        event(93, "cudaLaunchKernel", 740, 760, linked=8),
        event(90, "Memcpy HtoD (Pageable -> Device)", 70, 115, gpu=True, linked=2, stream=13),
        event(91, "gemm_kernel", 255, 455, gpu=True, linked=3),
        event(92, "gemm_kernel", 455, 655, gpu=True, linked=6),
        event(93, "multi_tensor_apply_kernel", 765, 800, gpu=True, linked=8),
        event(94, "ProfilerStep*", 70, 800, gpu=True, mark=True, stream=7),
    ]
    by_id = {(op.id, op.name): op for op in events if op.device_type == DeviceType.CPU}
    for kernel in events:
        if kernel.device_type == DeviceType.CUDA and kernel.linked_correlation_id:
            owner = next(op for (id, _), op in by_id.items() if id == kernel.linked_correlation_id)
            owner.append_kernel(kernel.name, 0, kernel.time_range.elapsed_us())
    made = EventList(events, use_device="cuda")
    made._build_tree()
    return made


def as_rows(prof: Any) -> list[list[Any]]:
    """What the figure reads of each event of a profile of a CPU, for JSON; times in microseconds from the first."""
    events = prof.events()
    zero = min(event.time_range.start for event in events)
    threads = {thread: number for number, thread in enumerate(sorted({event.thread for event in events}), 1)}
    return [
        [event.name, round(event.time_range.start - zero, 3), round(event.time_range.end - zero, 3),
         threads[event.thread], event.sequence_nr, event.scope, threads.get(event.fwd_thread, 0),
         event.is_user_annotation, event.input_shapes]
        for event in events
    ]  # fmt: skip


def from_rows(rows: Iterable[list[Any]]) -> EventList:
    """The events that were written as rows, with their tree."""
    events = []
    for id, (name, start, end, thread, sequence, scope, forward, mark, shapes) in enumerate(rows, 1):
        made = event(id, name, start, end, thread=thread, mark=mark, sequence_nr=sequence, scope=scope,
                     fwd_thread=forward)  # fmt: skip
        made.input_shapes = shapes
        events.append(made)
    tree = EventList(events)
    tree._build_tree()
    return tree


def recorded_steps() -> EventList:
    """`as_rows(train(3, samples=2))`, recorded once on a machine that did nothing else: its times are always the same.

    Where a test walks, clicks or zooms by times, a live profile is another one each time, and torn where the machine
    did something else meanwhile.
    """
    return from_rows(json.loads(RECORDED.read_text(encoding="utf-8")))
