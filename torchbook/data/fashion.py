"""torchvision's FashionMNIST on top of the verified files or the stand-in."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
import torchvision

from torchbook import notices
from torchbook.data import Source, cache, describe, say, standin

NOTICE = "stand-in data, not FashionMNIST"


class FashionMNIST(torchvision.datasets.FashionMNIST):
    """One split of FashionMNIST (Zalando Research; Xiao et al. 2017; MIT licence), or of its stand-in.

    Indexing, transforms and `classes` are torchvision's own; only where the bytes come from differs. The checksum of
    all four files is checked at every load, so both splits are real or neither is. When the stand-in is used,
    `torchbook.notices` says so from then on, and the first load prints why.

    Args:
        root: the folder to look in first; default TORCHBOOK_DATA, then the user's cache.
        train: True for 60,000 training images, False for 10,000 test images.
        transform: applied to each PIL image.
        target_transform: applied to each label.
        download: whether missing files may be fetched.

    Attributes:
        data: uint8 tensor (N, 28, 28), 0 to 255.
        targets: int64 tensor (N,), 0 to 9.
        source: where the data come from, and whether they are real.

    Raises:
        DataError: `root` is not a folder, or another process holds the download's lock.
    """

    source: Source

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        train: bool = True,
        transform: Callable[..., Any] | None = None,
        target_transform: Callable[..., Any] | None = None,
        download: bool = True,
    ) -> None:
        dataset = cache.dataset("fashion-mnist")
        loaded = cache.load(dataset, root=root, download=download)
        self.source = describe(dataset, loaded)
        folder = "" if self.source.path is None else str(self.source.path)
        # MNIST.__init__ would look for files, unverified, in its own layout.
        torchvision.datasets.VisionDataset.__init__(
            self, folder, transform=transform, target_transform=target_transform
        )
        self.train = train
        if self.source.real:
            files = dataset.files[:2] if train else dataset.files[2:]
            images, labels = (
                _parse(loaded.files[file.name], file) for file in files if isinstance(file, cache.IdxFile)
            )
        else:
            images, labels = standin.split(train)
            notices.add(NOTICE)
            say(self.source.note)
        self.data = torch.tensor(images)
        self.targets = torch.tensor(labels, dtype=torch.int64)

    @property
    def raw_folder(self) -> str:
        """The folder of the files; empty for the stand-in."""
        return str(self.root)

    def download(self) -> None:
        """Nothing is left to do: the constructor has fetched and verified the files."""

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}\nSource: {'FashionMNIST' if self.source.real else NOTICE}"

    def __repr__(self) -> str:
        # Without the folder, so that a page shows the same on every machine.
        return "\n".join(line for line in super().__repr__().splitlines() if "Root location" not in line)


def _parse(raw: bytes, file: cache.IdxFile) -> standin.Bytes:
    return np.frombuffer(raw, dtype=np.uint8, offset=file.header).reshape(file.shape)
