import json
from collections.abc import Iterable
from typing import Any

import torch
from torch.autograd.profiler import record_function
from torch.utils.data import Dataset


class Store:
    """Files behind a network: what is read is counted."""

    def __init__(self, files: dict[str, bytes]):
        self.files, self.requests, self.bytes = files, 0, 0

    def read(self, name: str, start: int = 0, size: int | None = None) -> bytes:
        data = self.files[name][start : None if size is None else start + size]
        self.requests += 1
        self.bytes += len(data)
        return data


def made_up(samples: int = 256, size: int = 28, per_shard: int = 64) -> Store:
    """A store of random pictures, to try things on."""
    classes = ["boot", "coat", "shirt"]
    index = {"shape": [size, size], "mean": 0.5, "std": 0.29, "classes": classes, "samples": []}
    files: dict[str, bytes] = {}
    for i in range(samples):
        name = f"shard-{i // per_shard}.bin"
        offset = len(files.setdefault(name, b""))
        files[name] += bytes(torch.randint(256, (size * size,)).tolist())
        index["samples"].append({"shard": name, "offset": offset, "label": classes[i % 3]})
    return Store(files | {"index.json": json.dumps(index).encode()})


class Slow(Dataset):
    """Right, and slow. Which of its parts, and why?"""

    def __init__(self, store: Store):
        self.store = store

    def index(self) -> dict[str, Any]:
        with record_function("index"):
            return json.loads(self.store.read("index.json"))

    def __len__(self) -> int:
        return len(self.index()["samples"])

    def __getitem__(self, i: int) -> tuple[torch.Tensor, int]:
        if not 0 <= i < len(self):
            raise IndexError(i)
        sample = self.index()["samples"][i]
        height, width = self.index()["shape"]
        with record_function("read"):
            shard = self.store.read(sample["shard"])
        with record_function("decode"):
            start = sample["offset"]
            rows = [shard[start + row * width : start + (row + 1) * width] for row in range(height)]
            picture = torch.tensor([[float(pixel) for pixel in row] for row in rows])  # (H, W)
        with record_function("normalise"):
            mean, std = self.index()["mean"], self.index()["std"]
            for row in range(height):
                picture[row] = (picture[row] / 255 - mean) / std
        with record_function("label"):
            label = self.index()["classes"].index(sample["label"])
        return picture, label


def waiting_share(events: Iterable[Any]) -> float:
    """The share of a training loop that was spent waiting for its loader."""
    ### BEGIN SOLUTION
    waits = [e.time_range for e in events if e.name.startswith("enumerate(DataLoader)")]
    if not waits:
        return 0.0
    loop = max(w.end for w in waits) - min(w.start for w in waits)
    return sum(w.end - w.start for w in waits) / loop
    ### END SOLUTION


class Fast(Dataset):
    """The samples of `Slow`."""

    def __init__(self, store: Store):
        ### BEGIN SOLUTION
        self.store = store
        index = json.loads(store.read("index.json"))
        self.height, self.width = index["shape"]
        self.scale, self.shift = 1 / (255 * index["std"]), index["mean"] / index["std"]
        number = {name: k for k, name in enumerate(index["classes"])}
        self.samples = [(s["shard"], s["offset"], number[s["label"]]) for s in index["samples"]]
        ### END SOLUTION

    def __len__(self) -> int:
        ### BEGIN SOLUTION
        return len(self.samples)
        ### END SOLUTION

    def __getitem__(self, i: int) -> tuple[torch.Tensor, int]:
        ### BEGIN SOLUTION
        if not 0 <= i < len(self.samples):
            raise IndexError(i)
        shard, offset, label = self.samples[i]
        data = bytearray(self.store.read(shard, offset, self.height * self.width))
        picture = torch.frombuffer(data, dtype=torch.uint8).float()  # (H * W)
        return picture.mul_(self.scale).sub_(self.shift).view(self.height, self.width), label
        ### END SOLUTION
