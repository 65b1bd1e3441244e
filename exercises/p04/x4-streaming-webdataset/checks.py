import io
import pickle
import random
import tarfile
import tempfile
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import torch
from torch.utils.data import DataLoader


def _samples(n, size=300, first=0):
    return [
        {"__key__": f"{i:05}", "png": bytes([i % 251]) * (size + i), "cls": str(i % 10).encode()}
        for i in range(first, first + n)
    ]


def _written(write_shards, samples, per_shard):
    """Names of the shards, and of each shard the members as (name, bytes)."""
    with tempfile.TemporaryDirectory() as folder:
        paths = write_shards(folder, iter(samples), per_shard)
        assert isinstance(paths, list) and all(isinstance(path, str) for path in paths), (
            "return a list of paths, strings"
        )
        shards = []
        for path in paths:
            try:
                with tarfile.open(path) as tar:
                    shards.append([(m.name, tar.extractfile(m).read()) for m in tar])
            except (OSError, tarfile.TarError) as error:
                raise AssertionError(f"{Path(path).name} is no readable tar file: {type(error).__name__}") from None
        return [Path(path).name for path in paths], shards


def test_written(write_shards):
    names, shards = _written(write_shards, _samples(5), 2)
    assert names == [f"shard-{k:06}.tar" for k in range(3)], f"5 samples, 2 in a shard, are three shards, not {names}"
    members = [name for name, _ in shards[0]]
    assert members == ["00000.png", "00000.cls", "00001.png", "00001.cls"], (
        f"the files of a sample stand next to each other, as key.extension; not {members}"
    )


def test_shard_sizes(write_shards):
    for n, expected in ((4, [2, 2]), (5, [2, 2, 1]), (1, [1]), (0, [])):
        _, shards = _written(write_shards, _samples(n), 2)
        found = [len(shard) // 2 for shard in shards]
        assert found == expected, f"{n} samples, 2 in a shard: shards of {expected}, not of {found}"


def test_contents(write_shards):
    samples = [{"__key__": "a", "bin": b"\0\1\xff" * 400, "empty": b"", "seg.png": b"12"}]
    _, shards = _written(write_shards, samples, 3)
    assert dict(shards[0]) == {"a.bin": b"\0\1\xff" * 400, "a.empty": b"", "a.seg.png": b"12"}, (
        "the files of the shard do not hold the bytes of the sample"
    )


def _tar(members):
    """The bytes of a tar with these members (name, bytes), or (name, None) for a folder."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, data in members:
            info = tarfile.TarInfo(name)
            if data is None:
                info.type = tarfile.DIRTYPE
            else:
                info.size = len(data)
            tar.addfile(info, io.BytesIO(data or b""))
    return buffer.getvalue()


def _members(samples):
    return [(f"{s['__key__']}.{e}", data) for s in samples for e, data in s.items() if e != "__key__"]


class _Stream:
    """Can be read on, and nothing else."""

    def __init__(self, data, where=None):
        self.buffer, self.count, self.where = io.BytesIO(data), 0, where

    def read(self, size=-1):
        data = self.buffer.read(size)
        self.count += len(data)
        return data

    def close(self):
        if self.where is not None and self in self.where:
            self.where.remove(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _read(read_samples, members):
    try:
        return list(read_samples(_Stream(_tar(members))))
    except NotImplementedError:
        raise
    except Exception as error:
        raise AssertionError(f"read_samples raised {type(error).__name__}: {error}") from None


def test_groups(read_samples):
    expected = _samples(3)
    found = _read(read_samples, _members(expected))
    assert found == expected, f"three samples with a png and a cls each, not {[sorted(s) for s in found]}"


def test_last_sample(read_samples):
    found = _read(read_samples, [("a.txt", b"1"), ("b.txt", b"2")])
    assert [s["__key__"] for s in found] == ["a", "b"], "the last sample is complete when the tar ends; it is missing"
    assert _read(read_samples, []) == [], "a tar without members has no samples"


def test_first_dot(read_samples):
    found = _read(read_samples, [("7.seg.png", b"1"), ("7.png", b"2"), ("8.json", b"3")])
    assert found == [{"__key__": "7", "seg.png": b"1", "png": b"2"}, {"__key__": "8", "json": b"3"}], (
        f"7.seg.png is the `seg.png` of sample 7: split at the first dot; not {found}"
    )


def test_folders(read_samples):
    found = _read(read_samples, [("v1.0", None), ("v1.0/a.txt", b"1"), ("v1.0/b.txt", b"2"), ("w/b.txt", b"3")])
    assert found == [
        {"__key__": "v1.0/a", "txt": b"1"},
        {"__key__": "v1.0/b", "txt": b"2"},
        {"__key__": "w/b", "txt": b"3"},
    ], f"folders belong to the key, dots in them mean nothing, and a folder is no file; not {found}"


def test_a_stream(read_samples):
    stream = _Stream(_tar(_members(_samples(2))))
    try:
        found = list(read_samples(stream))
    except AttributeError as error:
        raise AssertionError(f"a connection can only be read on, by read(n): {error}") from None
    assert len(found) == 2, f"2 samples, not {len(found)}"


def test_first_sample_first(read_samples):
    data = _tar(_members(_samples(200, 2000)))
    stream = _Stream(data)
    first = next(iter(read_samples(stream)), {})
    assert first.get("__key__") == "00000", "the first sample of the tar comes first"
    assert stream.count < 50_000, (
        f"before the first sample of 2 KB was there, {stream.count} of {len(data)} bytes had been read"
    )


@contextmanager
def _as_worker(worker, workers):
    """What `get_worker_info` says, as in one of so many workers; 0 workers are the main process."""
    module = torch.utils.data._utils.worker
    before = module._worker_info
    module._worker_info = (
        SimpleNamespace(id=worker, num_workers=workers, seed=worker, dataset=None) if workers else None
    )
    try:
        yield
    finally:
        module._worker_info = before


class _Net:
    """Shards behind addresses, and the streams that are open."""

    def __init__(self, shards, per_shard=3):
        self.files = {f"net:{k}": _tar(_members(_samples(per_shard, first=per_shard * k))) for k in range(shards)}
        self.open, self.most, self.asked = [], 0, []

    def __call__(self, url):
        stream = _Stream(self.files[url], self.open)
        self.open.append(stream)
        self.most = max(self.most, len(self.open))
        self.asked.append(url)
        return stream

    def keys(self, Shards, worker=0, workers=0, epoch=None, **given):
        """Keys of the samples that one worker gets."""
        dataset = Shards(list(self.files), self, **given)
        if epoch is not None:
            dataset.set_epoch(epoch)
        with _as_worker(worker, workers):
            try:
                return [sample["__key__"] for sample in dataset]
            except AttributeError as error:
                raise AssertionError(f"a connection can only be read on: {error}") from None

    def division(self, Shards, world, workers, **given):
        """The keys of every worker of every process."""
        everyone = [(rank, worker) for rank in range(world) for worker in range(max(workers, 1))]
        return [self.keys(Shards, worker, workers, rank=rank, world=world, **given) for rank, worker in everyone]


def _once(parts, n, where):
    got = [key for part in parts for key in part]
    twice, lost = len(got) - len(set(got)), n - len(set(got))
    assert not twice and not lost, f"{where}: {twice} samples come more than once, and {lost} of {n} never"


def test_alone(Shards):
    keys = _Net(4).keys(Shards)
    assert keys == [f"{i:05}" for i in range(12)], (
        "in one process, without a seed, all samples in the order of the shards"
    )


def test_addresses(Shards):
    net = _Net(2)
    dataset = Shards(iter(net.files), net)
    passes = [[sample["__key__"] for sample in dataset] for _ in range(2)]
    assert passes == [[f"{i:05}" for i in range(6)]] * 2, (
        f"the addresses may come from an iterator, of which nothing is left for a second pass: keep a list; {passes}"
    )


def test_paths(Shards, write_shards):
    with tempfile.TemporaryDirectory() as folder:
        paths = write_shards(folder, _samples(5), 2)
        found = [sample["__key__"] for sample in DataLoader(Shards(paths), batch_size=None)]
    assert found == [f"{i:05}" for i in range(5)], f"without open_url, urls are paths; 5 samples, not {found}"


def test_workers(Shards):
    _once(_Net(6).division(Shards, 1, 2), 18, "2 workers")


def test_ranks(Shards):
    _once(_Net(6).division(Shards, 3, 0), 18, "3 processes without workers")


def test_ranks_and_workers(Shards):
    parts = _Net(14).division(Shards, 2, 3)
    _once(parts, 42, "2 processes with 3 workers each")
    sizes = sorted(len(part) // 3 for part in parts)
    assert sizes == [2, 2, 2, 2, 3, 3], f"14 shards for 6 workers are 2 or 3 for each, not {sizes}"


def test_one_at_a_time(Shards):
    net = _Net(5)
    net.keys(Shards)
    assert net.most == 1, f"{net.most} shards were open at the same time: close one before the next"
    assert not net.open, "after the last sample a shard is still open"


def test_opens_late(Shards):
    net = _Net(5)
    dataset = Shards(list(net.files), net)
    iterator = iter(dataset)
    next(iterator)
    assert net.asked == ["net:0"], f"after the first sample these had been opened: {net.asked}, instead of the first"
    del iterator
    try:
        pickle.dumps(Shards(["a.tar", "b.tar"]))
    except Exception as error:
        raise AssertionError(f"the dataset cannot be sent to a worker: {type(error).__name__}: {error}") from None


def test_shuffled_shards(Shards):
    net = _Net(12)
    parts = net.division(Shards, 2, 2, seed=5)
    _once(parts, 36, "with a seed, 2 processes with 2 workers each")
    alone = net.keys(Shards, seed=5)
    assert alone != sorted(alone), "with a seed, the shards still come in their order"
    assert net.division(Shards, 2, 2, seed=5) == parts, "the same seed and epoch must give the same order"
    assert net.division(Shards, 2, 2, seed=6) != parts, "another seed gave the same order"
    dataset = Shards(list(net.files), net, seed=5)
    first, second = ([sample["__key__"] for sample in dataset] for _ in range(2))
    assert first == second, "a second pass of the same epoch has another order: shuffle a copy of the list"


def test_epochs(Shards):
    net = _Net(12)
    epochs = [net.division(Shards, 2, 2, seed=5, epoch=epoch) for epoch in range(5)]
    _once(epochs[1], 36, "in epoch 1")
    for parts in zip(*epochs, strict=True):
        assert len(set(map(frozenset, parts))) > 1, "in five epochs a worker always had the same shards"
    assert len({tuple(map(tuple, parts)) for parts in epochs}) == 5, "two epochs have the same order"


def test_hidden_division(Shards, seed):
    draw = random.Random(seed)
    for _ in range(12):
        shards, world, workers = draw.randint(1, 15), draw.randint(1, 4), draw.randint(0, 4)
        net = _Net(shards, 1)
        given = {} if draw.random() < 0.5 else {"seed": draw.randrange(100), "epoch": draw.randrange(5)}
        parts = net.division(Shards, world, workers, **given)
        _once(parts, shards, f"{shards} shards, {world} processes, {workers} workers each, {given}")
        assert max(map(len, parts)) - min(map(len, parts)) <= 1, f"{shards} shards are divided unevenly: {parts}"
        assert net.most == 1, "more than one shard of a worker was open at the same time"


def test_hidden_round_trip(write_shards, read_samples, seed):
    draw = random.Random(seed)
    for _ in range(4):
        extensions = draw.sample(["png", "cls", "seg.png", "json", "txt.gz"], draw.randint(1, 4))
        samples = [
            {"__key__": f"part{i // 5}.x/{i:04}"} | {e: draw.randbytes(draw.randint(0, 2000)) for e in extensions}
            for i in range(draw.randint(1, 20))
        ]
        with tempfile.TemporaryDirectory() as folder:
            paths = write_shards(folder, iter(samples), draw.randint(1, 7))
            found = [s for path in paths for s in read_samples(_Stream(Path(path).read_bytes()))]
        assert found == samples, f"samples with {extensions} are not read as they were written"
