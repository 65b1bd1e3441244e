import json
import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from torch.profiler import profile


def record(step: Callable[[], object], warmup: int = 2) -> list[dict]:
    """The events of one call of `step`, after some calls that are not recorded."""
    ### BEGIN SOLUTION
    for _ in range(warmup):
        step()
    with profile(acc_events=True) as prof:  # by default of all devices that there are
        step()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        prof.export_chrome_trace(str(path))
        events = json.loads(path.read_text())["traceEvents"]
    wanted = ("cpu_op", "user_annotation", "kernel")
    return [event for event in events if event["ph"] == "X" and event.get("cat") in wanted]
    ### END SOLUTION


def self_times(events: list[dict]) -> dict[str, tuple[float, int]]:
    """For each name the time that its events spend outside those inside them, and their number."""
    ### BEGIN SOLUTION
    lanes = defaultdict(list)
    for event in events:
        lanes[event["pid"], event["tid"]].append(event)
    times, calls = defaultdict(float), defaultdict(int)
    for lane in lanes.values():
        around: list[dict] = []  # the events that are open, the innermost last
        for event in sorted(lane, key=lambda e: (e["ts"], -e["dur"])):
            while around and around[-1]["ts"] + around[-1]["dur"] <= event["ts"]:
                around.pop()
            if around:
                times[around[-1]["name"]] -= event["dur"]
            times[event["name"]] += event["dur"]
            calls[event["name"]] += 1
            around.append(event)
    return {name: (times[name], calls[name]) for name in calls}
    ### END SOLUTION


def top(events: list[dict], n: int = 3) -> list[str]:
    """The names of the n kernels, or without kernels operators, with the largest own time."""
    ### BEGIN SOLUTION
    kernels = [event for event in events if event["cat"] == "kernel"]
    times = self_times(kernels or [event for event in events if event["cat"] == "cpu_op"])
    return sorted(times, key=lambda name: -times[name][0])[:n]
    ### END SOLUTION


def idle_share(events: list[dict], region: str) -> float:
    """The share of a region's time in which no operator runs on its thread."""
    ### BEGIN SOLUTION
    total = covered = 0.0
    for place in events:
        if (place["cat"], place["name"]) != ("user_annotation", region):
            continue
        inside = [e for e in events if e["cat"] == "cpu_op" and (e["pid"], e["tid"]) == (place["pid"], place["tid"])]
        at, end = place["ts"], place["ts"] + place["dur"]  # up to `at` all is dealt with
        for event in sorted(inside, key=lambda e: e["ts"]):
            left, right = max(event["ts"], at), min(event["ts"] + event["dur"], end)
            if right > left:
                covered += right - left
                at = right
        total += place["dur"]
    return 1 - covered / total
    ### END SOLUTION
