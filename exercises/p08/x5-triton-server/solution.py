import json
import math
from collections import deque
from collections.abc import Callable

import torch

TYPES = {torch.float32: "FP32", torch.int64: "INT64", torch.uint8: "UINT8", torch.bool: "BOOL"}
Declared = dict[str, tuple[torch.dtype, tuple[int, ...]]]  # name to dtype and shape, with the batch


def config(name: str, inputs: Declared, outputs: Declared, max_batch: int, delay: float) -> str:
    """The text of a config.pbtxt for an ONNX model."""
    ### BEGIN SOLUTION

    def described(declared: Declared) -> str:
        return ", ".join(
            f'{{ name: "{key}" data_type: TYPE_{TYPES[dtype]} dims: [ {", ".join(map(str, shape[1:]))} ] }}'
            for key, (dtype, shape) in declared.items()
        )

    return (
        f'name: "{name}"\n'
        'platform: "onnxruntime_onnx"\n'
        f"max_batch_size: {max_batch}\n"
        f"input [ {described(inputs)} ]\n"
        f"output [ {described(outputs)} ]\n"
        f"dynamic_batching {{ max_queue_delay_microseconds: {round(delay * 1e6)} }}\n"
    )
    ### END SOLUTION


def decode(body: bytes, inputs: Declared, max_batch: int) -> dict[str, torch.Tensor]:
    """The tensors of a request; ValueError, with words for the client, for anything that is wrong with it."""
    ### BEGIN SOLUTION

    def flat(data: object) -> list:
        return [x for part in data for x in flat(part)] if isinstance(data, list) else [data]

    def one(sent: dict) -> tuple[str, torch.Tensor]:
        name, shape, data = sent["name"], sent["shape"], sent["data"]
        if name not in inputs:
            raise ValueError(f"there is no input {name!r}")
        dtype, declared = inputs[name]
        if sent["datatype"] != TYPES[dtype]:
            raise ValueError(f"the datatype of {name} is {TYPES[dtype]}")
        sizes = isinstance(shape, list) and all(type(n) is int and n >= 0 for n in shape)
        if not sizes or len(shape) != len(declared):
            raise ValueError(f"the shape of {name} has {len(declared)} sizes")
        if any(b not in (-1, a) for a, b in zip(shape[1:], declared[1:], strict=True)):
            raise ValueError(f"the shape of {name} is (batch, {declared[1:]})")
        numbers = flat(data) if isinstance(data, list) else []
        kinds = {torch.bool: (bool,), torch.float32: (int, float)}.get(dtype, (int,))
        if len(numbers) != math.prod(shape) or any(type(x) not in kinds for x in numbers):
            raise ValueError(f"{name} needs {math.prod(shape)} values of datatype {TYPES[dtype]}")
        return name, torch.tensor(numbers, dtype=dtype).reshape(shape)

    try:
        pairs = [one(sent) for sent in json.loads(body)["inputs"]]
    except (KeyError, TypeError, IndexError, RuntimeError, OverflowError, RecursionError) as error:
        raise ValueError(f"this is no request: {error}") from None
    found = dict(pairs)
    if len(found) != len(pairs) or set(found) != set(inputs):
        raise ValueError(f"each of {', '.join(inputs)} is needed once")
    batches = {len(x) for x in found.values()}
    if len(batches) != 1 or not 1 <= min(batches) <= max_batch:
        raise ValueError(f"all inputs have the same batch, from 1 to {max_batch}")
    return found
    ### END SOLUTION


def encode(name: str, outputs: dict[str, torch.Tensor], identity: str | None = None) -> bytes:
    """The response to a request."""
    ### BEGIN SOLUTION
    response: dict = {"model_name": name}
    if identity is not None:
        response["id"] = identity
    response["outputs"] = [
        {"name": key, "shape": list(x.shape), "datatype": TYPES[x.dtype], "data": x.flatten().tolist()}
        for key, x in outputs.items()
    ]
    return json.dumps(response).encode()
    ### END SOLUTION


class Batcher:
    """Collects requests for one call of a model."""

    def __init__(
        self,
        run: Callable[[torch.Tensor], torch.Tensor],
        max_batch: int,
        delay: float,
        clock: Callable[[], float],
    ) -> None:
        self.run, self.max_batch, self.delay, self.clock = run, max_batch, delay, clock
        self.results: dict[int, torch.Tensor | Exception] = {}
        ### BEGIN SOLUTION
        self.waiting: deque[tuple[int, torch.Tensor, float]] = deque()  # ticket, rows, time of arrival
        self.tickets = 0
        ### END SOLUTION

    def submit(self, x: torch.Tensor) -> int:
        """Take a request into the queue; returns its ticket."""
        ### BEGIN SOLUTION
        ticket = self.tickets
        self.tickets += 1
        self.waiting.append((ticket, x, self.clock()))
        return ticket
        ### END SOLUTION

    def due(self) -> float | None:
        """When the next batch is to run; None if nothing waits."""
        ### BEGIN SOLUTION
        if not self.waiting:
            return None
        if sum(len(x) for _, x, _ in self.waiting) >= self.max_batch:
            return self.clock()
        return self.waiting[0][2] + self.delay
        ### END SOLUTION

    def poll(self) -> None:
        """Run one batch, if one is due."""
        ### BEGIN SOLUTION
        due = self.due()
        if due is None or due > self.clock():
            return
        batch: list[tuple[int, torch.Tensor]] = []
        rows = 0
        while self.waiting and rows + len(self.waiting[0][1]) <= self.max_batch:
            ticket, x, _ = self.waiting.popleft()
            batch.append((ticket, x))
            rows += len(x)
        try:
            self._finish(batch)
        except Exception as error:
            if len(batch) == 1:
                self.results[batch[0][0]] = error
            else:
                self._one_by_one(batch)

    def _one_by_one(self, batch: list[tuple[int, torch.Tensor]]) -> None:
        for one in batch:
            try:
                self._finish([one])
            except Exception as error:
                self.results[one[0]] = error

    def _finish(self, batch: list[tuple[int, torch.Tensor]]) -> None:
        outputs = self.run(torch.cat([x for _, x in batch]))
        parts = outputs.split([len(x) for _, x in batch])
        self.results.update((ticket, part) for (ticket, _), part in zip(batch, parts, strict=True))
        ### END SOLUTION
