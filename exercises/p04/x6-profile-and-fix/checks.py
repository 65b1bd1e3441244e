import json
import random
import statistics
import sys
import time
from types import SimpleNamespace

import torch
from torch.overrides import TorchFunctionMode
from torch.utils.data import DataLoader

_NEXT = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
_OF_WORKERS = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"


def _event(name, start, end):
    return SimpleNamespace(name=name, time_range=SimpleNamespace(start=start, end=end))


def _share(waiting_share, *events):
    try:
        found = waiting_share([_event(*event) for event in events])
    except NotImplementedError:
        raise
    except Exception as error:
        raise AssertionError(f"waiting_share raised {type(error).__name__}: {error}") from None
    return found


def _near(found, expected):
    return abs(found - expected) < 1e-9


def test_share(waiting_share):
    for name in (_NEXT, _OF_WORKERS):
        found = _share(
            waiting_share, (name, 0, 30), ("step", 30, 70), (name, 70, 90), ("step", 90, 198), (name, 198, 200)
        )
        assert _near(found, 0.26), f"30 + 20 + 2 of 200 microseconds were spent waiting: 0.26, not {found:.3g}"


def test_nested_parts(waiting_share):
    found = _share(
        waiting_share, (_NEXT, 0, 60), ("read", 10, 50), ("step", 60, 90), (_NEXT, 90, 100), ("read", 91, 99)
    )
    assert _near(found, 0.7), f"`read` happens while the loop waits, and is in those 70 of 100 already: not {found:.3g}"


def test_the_loop_only(waiting_share):
    found = _share(
        waiting_share,
        ("load", 0, 900),
        (_NEXT, 1000, 1050),
        ("step", 1050, 1090),
        (_NEXT, 1090, 1100),
        ("save", 1100, 2000),
    )
    assert _near(found, 0.6), (
        f"the loop lasts from the first wait to the end of the last one: 60 of 100, not {found:.3g}"
    )


def test_any_order(waiting_share):
    found = _share(waiting_share, (_NEXT, 90, 100), ("step", 50, 90), (_NEXT, 0, 50))
    assert _near(found, 0.6), f"events may come in any order; 60 of 100, not {found:.3g}"


def test_no_loader(waiting_share):
    assert _share(waiting_share, ("step", 0, 10)) == 0, "without a loader nothing was waited for: 0"
    assert _share(waiting_share) == 0, "without events nothing was waited for: 0"


class _Store:
    def __init__(self, files):
        self.files, self.requests, self.bytes, self.asked = files, 0, 0, []

    def read(self, name, start=0, size=None):
        data = self.files[name][start : None if size is None else start + size]
        self.requests += 1
        self.bytes += len(data)
        self.asked.append(name)
        return data


def _store(n=24, shape=(28, 28), seed=0, per_shard=8):
    """A store and its samples, made without torch's generator."""
    draw = random.Random(seed)
    size = shape[0] * shape[1]
    classes = [f"class {k}" for k in range(7)]
    mean, std = draw.uniform(0.2, 0.7), draw.uniform(0.1, 0.4)
    files, samples, expected = {}, [], []
    for i in range(n):
        name = f"shard-{i // per_shard}.bin"
        before, pixels, label = draw.randbytes(draw.randint(0, 5)), draw.randbytes(size), draw.randrange(7)
        files[name] = files.get(name, b"") + before
        samples.append({"shard": name, "offset": len(files[name]), "label": classes[label]})
        files[name] += pixels
        expected.append(((torch.tensor(list(pixels)).view(shape) / 255 - mean) / std, label))
    order = draw.sample(range(n), n)
    index = {"shape": shape, "mean": mean, "std": std, "classes": classes, "samples": [samples[i] for i in order]}
    return _Store(files | {"index.json": json.dumps(index).encode()}), [expected[i] for i in order]


def _same(dataset, expected):
    assert len(dataset) == len(expected), f"{len(expected)} samples, not {len(dataset)}"
    for i, (picture, label) in enumerate(expected):
        found, number = dataset[i]
        assert found.shape == picture.shape and found.dtype == torch.float32, (
            f"pictures are float32 of shape {tuple(picture.shape)}, not {found.dtype} of {tuple(found.shape)}"
        )
        assert torch.allclose(found, picture, atol=1e-4), f"the picture of sample {i} is not that of `Slow`"
        assert number == label, f"the label of sample {i} is {label} in `Slow`, not {number}"


def test_same_samples(Fast):
    store, expected = _store()
    _same(Fast(store), expected)


def test_no_shared_memory(Fast):
    store, expected = _store(3)
    dataset = Fast(store)
    for picture, _ in [dataset[0], dataset[1]]:
        picture.zero_()
    _same(dataset, expected)
    kept = [dataset[i] for i in range(3)]
    assert all(torch.allclose(a, b, atol=1e-4) for (a, _), (b, _) in zip(kept, expected, strict=True)), (
        "a sample that was kept has changed when the next one was read: they share their memory"
    )


def test_end(Fast):
    store, _ = _store(3)
    dataset = Fast(store)
    for i in (3, 50, -1):
        try:
            dataset[i]
        except IndexError:
            continue
        raise AssertionError(f"there are 3 samples, and dataset[{i}] gave one: raise IndexError, as `Slow` does")


def _epoch(dataset):
    return list(DataLoader(dataset, batch_size=None))


def test_index_once(Fast):
    store, _ = _store()
    dataset = Fast(store)
    for _ in range(2):
        _epoch(dataset)
        len(dataset)
    asked = store.asked.count("index.json")
    assert asked == 1, f"index.json was read {asked} times in two epochs of 24 samples: once is enough"


def test_bytes(Fast):
    store, _ = _store()
    _epoch(Fast(store))
    pictures, index = 24 * 28 * 28, len(store.files["index.json"])
    assert store.bytes <= pictures + index, (
        f"an epoch read {store.bytes} bytes; its pictures have {pictures}, the index {index}: read pictures only"
    )
    assert store.requests <= 24 + 1, f"{store.requests} requests for 24 pictures and an index"


def test_keeps_no_pictures(Fast):
    store, _ = _store()
    dataset = Fast(store)
    _epoch(dataset)
    before = store.bytes
    _epoch(dataset)
    again = store.bytes - before
    assert again >= 24 * 28 * 28, (
        f"the second epoch read {again} bytes, so pictures were kept: they do not fit into memory"
    )


def _instructions(function):
    """How many instructions of Python were executed."""
    count = 0

    def trace(frame, event, _):
        nonlocal count
        frame.f_trace_opcodes = True
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(before)
    return count


def test_instructions(Fast):
    counts = []
    for side in (16, 32):
        dataset = Fast(_store(4, (side, side))[0])
        dataset[0]
        counts.append(_instructions(lambda dataset=dataset: [dataset[i] for i in range(4)]) // 4)
    assert counts[1] < 2000 and counts[1] < 1.5 * counts[0] + 100, (
        f"a picture of 16 by 16 takes {counts[0]} instructions of Python, one of 32 by 32 takes {counts[1]}: "
        "where are pixels or rows handled one by one?"
    )


class _Counter(TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.calls += 1
        return function(*args, **kwargs or {})


def test_operations(Fast):
    dataset = Fast(_store(4)[0])
    dataset[0]
    with _Counter() as counter:
        for i in range(4):
            dataset[i]
    assert counter.calls <= 4 * 16, (
        f"{counter.calls // 4} operations of torch for a picture: take it as a whole, not row by row"
    )


def _slow(store, i):
    """`Slow`, in short."""
    index = json.loads(store.read("index.json"))
    sample, (height, width) = index["samples"][i], index["shape"]
    shard, start = store.read(sample["shard"]), sample["offset"]
    rows = [shard[start + row * width : start + (row + 1) * width] for row in range(height)]
    picture = torch.tensor([[float(pixel) for pixel in row] for row in rows])
    for row in range(height):
        picture[row] = (picture[row] / 255 - index["mean"]) / index["std"]
    return picture


def _seconds(function):
    start = time.perf_counter()
    for i in range(24):
        function(i)
    return time.perf_counter() - start


def test_ratio(Fast):
    store, _ = _store()
    dataset = Fast(store)
    ratio = statistics.median(_seconds(lambda i: _slow(store, i)) / _seconds(dataset.__getitem__) for _ in range(9))
    assert ratio > 3, "in one run, by the median of nine rounds, it is not even three times as fast as `Slow`"


def test_hidden_share(waiting_share, seed):
    draw = random.Random(seed)
    for _ in range(20):
        now, waited, events = draw.uniform(0, 1e6), 0.0, []
        first = now
        for _ in range(draw.randint(1, 20)):
            wait, step = draw.uniform(0, 100), draw.uniform(0, 100)
            events += [(draw.choice([_NEXT, _OF_WORKERS]), now, now + wait), ("read", now, now + wait / 2)]
            events.append(("step of enumerate(DataLoader)", now + wait, now + wait + step))
            waited += wait
            end, now = now + wait, now + wait + step
        draw.shuffle(events)
        found = _share(waiting_share, *events)
        assert abs(found - waited / (end - first)) < 1e-6, "the share of a random loop is wrong"


def test_hidden_samples(Fast, seed):
    draw = random.Random(seed)
    for case in range(5):
        shape = draw.randint(1, 20), draw.randint(1, 20)
        store, expected = _store(draw.randint(1, 12), shape, seed + case, draw.randint(1, 5))
        _same(Fast(store), expected)
