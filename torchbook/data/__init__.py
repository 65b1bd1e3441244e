"""FashionMNIST and Tiny Shakespeare on any machine: the verified files where they can be had, elsewhere a stand-in.

The images are Zalando Research's (Xiao, Rasul and Vollgraf, "Fashion-MNIST: a Novel Image Dataset for Benchmarking
Machine Learning Algorithms", 2017), under the MIT licence. Tiny Shakespeare is 40,000 lines of Shakespeare's plays, in
the public domain, collected by Andrej Karpathy for char-rnn (2015). Importing this package imports neither torch nor
torchvision.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache as once
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torchbook.data import cache
from torchbook.data.cache import DataError, Loaded

if TYPE_CHECKING:
    from torchbook.data.fashion import FashionMNIST

__all__ = ["DataError", "FashionMNIST", "Source", "Text", "fashion_mnist", "prepare", "tiny_shakespeare"]

TEXT_NOTICE = "stand-in text, not Tiny Shakespeare"

_prepared: dict[tuple[cache.Dataset, tuple[Path, ...]], Source] = {}


@dataclass(frozen=True)
class Source:
    """Which data a reader gets, and from where."""

    name: str
    """The data set's name, "fashion-mnist" or "tiny-shakespeare"."""
    real: bool
    """False for the stand-in."""
    path: Path | None
    """The folder of the files; None for the stand-in."""
    fingerprint: str
    """sha256, hex, that identifies the content; the same on every machine that gets the same content."""
    note: str
    """Why these data are not the real ones, in one sentence; empty when they are."""


def prepare(
    name: str = "fashion-mnist", *, root: str | os.PathLike[str] | None = None, download: bool = True
) -> Source:
    """Find, verify and, if needed, download a data set; or describe the stand-in that takes its place.

    Real files are verified once a process here, and again at every load. Nothing is drawn and torch is not imported.

    Args:
        name: the data set, "fashion-mnist" or "tiny-shakespeare".
        root: the folder to look in first; by default that of the environment variable TORCHBOOK_DATA. Then comes
            the user's cache. Files are used in place, raw or gzipped, in the data set's own folder
            (`FashionMNIST/raw`, `tinyshakespeare`) or in the folder itself.
        download: whether missing files (30 MB; 1 MB) may be fetched.

    Raises:
        DataError: the name is unknown, `root` is not a folder, or another process holds the download's lock.
    """
    dataset = cache.dataset(name)
    key = dataset, tuple(cache.folders(root))
    if key in _prepared and not cache.standin_wanted():
        return _prepared[key]
    source = describe(dataset, cache.load(dataset, root=root, download=download))
    if source.real:
        _prepared[key] = source
    return source


def describe(dataset: cache.Dataset, loaded: Loaded) -> Source:
    """The source of what was loaded, or of the stand-in when nothing was."""
    if loaded.files:
        return Source(dataset.name, True, loaded.path, dataset.fingerprint, "")
    kind, fingerprint = _standin(dataset.name)
    if cache.standin_wanted():
        why = f"the environment variable {cache.STANDIN} asks for it."
    else:
        why = (
            f"no good copy of it is on this machine and {loaded.reason}; "
            "set TORCHBOOK_DATA to a folder that holds it, or go online, and restart the kernel."
        )
    note = f"This is {kind}, not {_CALLED[dataset.name]}: {why}"
    return Source(dataset.name, False, None, fingerprint, note)


_CALLED = {"fashion-mnist": "FashionMNIST", "tiny-shakespeare": "Tiny Shakespeare"}


def _standin(name: str) -> tuple[str, str]:
    """What takes a data set's place, and its fingerprint."""
    if name == "fashion-mnist":
        from torchbook.data import standin

        return "a set of drawn stand-in images", standin.FINGERPRINT
    from torchbook.data import plays

    return "a generated stand-in text", plays.FINGERPRINT


@once
def say(text: str) -> None:
    """Print a sentence, once a process."""
    print(text)


def fashion_mnist(
    train: bool,
    transform: Callable[..., Any] | None = None,
    target_transform: Callable[..., Any] | None = None,
    *,
    root: str | os.PathLike[str] | None = None,
    download: bool = True,
) -> FashionMNIST:
    """One split of FashionMNIST: 60,000 training or 10,000 test images of ten kinds of clothes.

    Args:
        train: True for the training images, False for the test images.
        transform: applied to each PIL image (28 x 28, mode "L").
        target_transform: applied to each label, an int from 0 to 9.
        root: the folder to look in first, as in `prepare`.
        download: whether missing files may be fetched; without them the stand-in is returned.

    Returns:
        torchvision's data set: `data` (N, 28, 28) uint8, 0 to 255; `targets` (N,) int64; and `source`.

    Raises:
        DataError: `root` is not a folder, or another process holds the download's lock.
    """
    from torchbook.data.fashion import FashionMNIST

    return FashionMNIST(root, train, transform, target_transform, download)


@dataclass(frozen=True)
class Text:
    """A text, and where it comes from."""

    text: str
    source: Source


def tiny_shakespeare(*, root: str | os.PathLike[str] | None = None, download: bool = True) -> Text:
    """Tiny Shakespeare: 1,115,394 characters of Shakespeare's plays, 65 different ones; or its stand-in.

    When the stand-in is used, `torchbook.notices` says so from then on, and the first call prints why.

    Args:
        root: the folder to look in first, as in `prepare`.
        download: whether the missing file (1 MB) may be fetched.

    Raises:
        DataError: `root` is not a folder, or another process holds the download's lock.
    """
    dataset = cache.dataset("tiny-shakespeare")
    loaded = cache.load(dataset, root=root, download=download)
    source = describe(dataset, loaded)
    if source.real:
        return Text(loaded.files[dataset.files[0].name].decode("ascii"), source)
    from torchbook import notices
    from torchbook.data import plays

    notices.add(TEXT_NOTICE)
    say(source.note)
    return Text(plays.text(), source)


def __getattr__(name: str) -> Any:
    if name == "FashionMNIST":
        from torchbook.data.fashion import FashionMNIST

        return FashionMNIST
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
