import io
import random
import tarfile
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from torch.utils.data import IterableDataset, get_worker_info


def write_shards(folder: str | Path, samples: Iterable[dict[str, Any]], per_shard: int) -> list[str]:
    """Write the samples to tar files in the folder; returns their paths."""
    ### BEGIN SOLUTION
    paths: list[str] = []
    iterator = iter(samples)
    for first in iterator:
        paths.append(str(Path(folder) / f"shard-{len(paths):06}.tar"))
        with tarfile.open(paths[-1], "w") as tar:
            for sample in chain([first], islice(iterator, per_shard - 1)):
                for extension, data in sample.items():
                    if extension != "__key__":
                        info = tarfile.TarInfo(f"{sample['__key__']}.{extension}")
                        info.size = len(data)
                        tar.addfile(info, io.BytesIO(data))
    return paths
    ### END SOLUTION


def read_samples(file: Any) -> Iterator[dict[str, Any]]:
    """The samples of one tar, from a file that can only be read on."""
    ### BEGIN SOLUTION
    sample: dict[str, Any] = {}
    with tarfile.open(fileobj=file, mode="r|") as tar:
        for member in tar:
            if not member.isfile():
                continue
            folder, slash, name = member.name.rpartition("/")
            stem, _, extension = name.partition(".")
            key = folder + slash + stem
            if sample and sample["__key__"] != key:
                yield sample
                sample = {}
            sample["__key__"] = key
            sample[extension] = tar.extractfile(member).read()
    if sample:
        yield sample
    ### END SOLUTION


class Shards(IterableDataset):
    """The samples of many tar files, divided between processes and their workers."""

    def __init__(
        self,
        urls: Iterable[str],
        open_url: Callable[[str], Any] | None = None,
        rank: int = 0,
        world: int = 1,
        seed: int | None = None,
    ):
        ### BEGIN SOLUTION
        self.urls, self.open_url, self.rank, self.world, self.seed = list(urls), open_url, rank, world, seed
        self.epoch = 0
        ### END SOLUTION

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of the shards, if there is a seed."""
        ### BEGIN SOLUTION
        self.epoch = epoch
        ### END SOLUTION

    def __iter__(self) -> Iterator[dict[str, Any]]:
        ### BEGIN SOLUTION
        info = get_worker_info()
        worker, workers = (info.id, info.num_workers) if info else (0, 1)
        urls = list(self.urls)
        if self.seed is not None:
            random.Random(f"{self.seed} {self.epoch}").shuffle(urls)
        for url in urls[self.rank * workers + worker :: self.world * workers]:
            with self.open_url(url) if self.open_url else open(url, "rb") as file:
                yield from read_samples(file)
        ### END SOLUTION
