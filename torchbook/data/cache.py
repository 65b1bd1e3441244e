"""Finds, verifies and downloads the files of a data set, without torch.

A file counts only when the md5 of its raw bytes is the known one, checked on the very bytes that are handed on.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import math
import os
import random
import socket
import tempfile
import time
import urllib.error
import urllib.request
import warnings
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import BinaryIO

import filelock
import platformdirs

ROUNDS = 3  # times that all mirrors are tried
BACKOFF = 0.5  # seconds before the second round, doubled before each later one
TIMEOUT = 10.0  # seconds that a connection or a read may stall
LOCK_TIMEOUT = 900.0  # seconds to wait for another process's download

STANDIN = "TORCHBOOK_STANDIN"  # environment variable: 1 passes over the real files, to try the book without them

_jitter = random.Random()  # not the module's own generator, which the reader may have seeded
_unreachable: dict[str, str] = {}  # data sets that this process could not download, and why


class DataError(RuntimeError):
    """The data cannot be had as asked; the message names the file, what is wrong with it, and the remedy."""


class _BadFileError(Exception):
    """A file's content is not what it should be."""


@dataclass(frozen=True)
class IdxFile:
    """A file in the idx format of MNIST: big-endian header, then uint8 of the given shape."""

    name: str
    md5: str  # of the raw, decompressed file
    shape: tuple[int, ...]

    @property
    def header(self) -> int:
        """Length of the header in bytes."""
        return 4 + 4 * len(self.shape)

    @property
    def size(self) -> int:
        """Length of the raw file in bytes."""
        return self.header + math.prod(self.shape)


@dataclass(frozen=True)
class PlainFile:
    """A file that is used as it is."""

    name: str
    md5: str
    size: int  # bytes


@dataclass(frozen=True)
class Dataset:
    """What identifies a data set: its folder, its files and where copies of them are published."""

    name: str
    folder: str
    files: tuple[IdxFile | PlainFile, ...]
    mirrors: tuple[str, ...]  # folders, which end in a slash; or the address of the only file
    inner: str = ""  # a folder inside `folder`
    zipped: bool = False  # whether the mirrors publish gzipped copies

    def address(self, mirror: str, file: IdxFile | PlainFile) -> str:
        """Where a mirror publishes a file."""
        return f"{mirror}{file.name}{'.gz' if self.zipped else ''}" if mirror.endswith("/") else mirror

    @property
    def fingerprint(self) -> str:
        """sha256 hex of the files' names and checksums, hence of their verified content."""
        return hashlib.sha256("\n".join(f"{file.name} {file.md5}" for file in self.files).encode()).hexdigest()


DATASETS = {
    "fashion-mnist": Dataset(
        name="fashion-mnist",
        folder="FashionMNIST",
        inner="raw",
        zipped=True,
        files=(  # training images and labels, test images and labels
            IdxFile("train-images-idx3-ubyte", "f4a8712d7a061bf5bd6d2ca38dc4d50a", (60_000, 28, 28)),
            IdxFile("train-labels-idx1-ubyte", "9018921c3c673c538a1fc5bad174d6f9", (60_000,)),
            IdxFile("t10k-images-idx3-ubyte", "8181f5470baa50b63fa0f6fddb340f0a", (10_000, 28, 28)),
            IdxFile("t10k-labels-idx1-ubyte", "15d484375f8d13e6eb1aabb0c3f46965", (10_000,)),
        ),
        mirrors=(
            "https://storage.googleapis.com/tensorflow/tf-keras-datasets/",  # keras.datasets.fashion_mnist
            "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/",  # the authors'
            "https://fashion-mnist.s3.eu-central-1.amazonaws.com/",  # torchvision's bucket, its https address
        ),
    ),
    "tiny-shakespeare": Dataset(
        name="tiny-shakespeare",
        folder="tinyshakespeare",
        files=(PlainFile("input.txt", "6fb458f1232090904fb40fe944165e91", 1_115_394),),
        mirrors=(
            "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/",  # the collector's
            "https://storage.googleapis.com/download.tensorflow.org/data/shakespeare.txt",  # TensorFlow's tutorial
        ),
    ),
}


@dataclass(frozen=True)
class Loaded:
    """Verified raw files by name, and the folder of the first of them; or, without files, the reason why not."""

    files: dict[str, bytes]
    path: Path | None = None
    reason: str = ""


def dataset(name: str) -> Dataset:
    """The entry of a data set; `DataError` for an unknown name."""
    if name not in DATASETS:
        raise DataError(f"There is no data set {name!r} here; ask for one of: {', '.join(DATASETS)}.")
    return DATASETS[name]


def load(dataset: Dataset, *, root: str | os.PathLike[str] | None = None, download: bool = True) -> Loaded:
    """All files of a data set, from the given folder, the user's cache or, if allowed, a mirror."""
    if standin_wanted():
        return Loaded({}, reason=f"{STANDIN} is set")
    bases = folders(root)
    copies = _find(dataset, bases)
    if copies.complete(dataset):
        _pass_over(copies.bad)
        return copies.loaded(dataset)
    user_cache = bases[-1]
    download = download and dataset.name not in _unreachable
    repair = any(user_cache in path.parents for path in copies.bad)
    target = next((base for base in bases if _writable(base)), None) if download or repair else None
    _pass_over(
        {
            path: problem
            for path, problem in copies.bad.items()
            if target != user_cache or user_cache not in path.parents
        }
    )
    if target is None:
        return Loaded({}, reason="no folder for it can be written" if download else _why_not(dataset))
    try:
        with filelock.FileLock(target / f"{dataset.folder}.lock", timeout=LOCK_TIMEOUT):
            return _complete(dataset, bases, target, download)
    except filelock.Timeout as error:
        raise DataError(
            f"{error.lock_file} is still held by another process that downloads {dataset.folder}; "
            "wait for that process or end it, then run this again."
        ) from error


def standin_wanted() -> bool:
    """Whether the stand-in is to be used even where the real files are."""
    return os.environ.get(STANDIN) == "1"


def _why_not(dataset: Dataset) -> str:
    return _unreachable.get(dataset.name, "downloading was not asked for")


def _complete(dataset: Dataset, bases: list[Path], target: Path, download: bool) -> Loaded:
    """Under the lock: look again, set bad files of the user's cache aside, and fetch what is missing."""
    copies = _find(dataset, bases)
    for path, problem in copies.bad.items():
        if target == bases[-1] and target in path.parents:
            _set_aside(path, problem)
    if copies.complete(dataset):
        return copies.loaded(dataset)
    if not download:
        return Loaded({}, reason=_why_not(dataset))
    try:
        _fetch_missing(dataset, copies, target / dataset.folder / dataset.inner)
    except _NoMirrorError as error:
        _unreachable[dataset.name] = str(error)
        return Loaded({}, reason=str(error))
    except OSError as error:
        return Loaded({}, reason=f"it could not be written ({error.strerror or type(error).__name__})")
    return copies.loaded(dataset)


def _fetch_missing(dataset: Dataset, copies: _Found, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for leftover in folder.glob(".*.part"):
        leftover.unlink(missing_ok=True)
    for file in dataset.files:
        if file.name not in copies.good:
            raw = _fetch(dataset, file)
            _store(folder / file.name, raw)
            copies.good[file.name] = (raw, folder)


# Where files may lie.


def folders(root: str | os.PathLike[str] | None = None) -> list[Path]:
    """Where files are looked for: `root` or else TORCHBOOK_DATA, if there is one, then the user's cache."""
    base, user_cache = _given_folder(root), platformdirs.user_cache_path("torchbook")
    return [user_cache] if base is None or base == user_cache else [base, user_cache]


def _given_folder(root: str | os.PathLike[str] | None) -> Path | None:
    setting = root if root is not None else os.environ.get("TORCHBOOK_DATA")
    if not setting:
        return None
    folder = Path(setting).expanduser()
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder} is not a folder; set TORCHBOOK_DATA (or root) to the folder that holds the files.")
    return folder


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


# Reading.


@dataclass
class _Found:
    good: dict[str, tuple[bytes, Path]]
    bad: dict[Path, str]

    def complete(self, dataset: Dataset) -> bool:
        return len(self.good) == len(dataset.files)

    def loaded(self, dataset: Dataset) -> Loaded:
        return Loaded({name: raw for name, (raw, _) in self.good.items()}, self.good[dataset.files[0].name][1])


def _places(dataset: Dataset, bases: list[Path], file: IdxFile | PlainFile) -> Iterator[Path]:
    for base in bases:
        for folder in dict.fromkeys((base / dataset.folder / dataset.inner, base / dataset.inner, base)):
            yield folder / file.name
            yield folder / f"{file.name}.gz"


def _find(dataset: Dataset, bases: list[Path]) -> _Found:
    copies = _Found({}, {})
    for file in dataset.files:
        for path in _places(dataset, bases, file):
            if not path.is_file():
                continue
            try:
                with path.open("rb") as stream:
                    copies.good[file.name] = (_verified(stream, file, zipped=path.suffix == ".gz"), path.parent)
                break
            except _BadFileError as error:
                copies.bad[path] = str(error)
            except OSError as error:
                copies.bad[path] = f"cannot be read ({error.strerror or error})"
    return copies


def _verified(stream: BinaryIO, file: IdxFile | PlainFile, *, zipped: bool) -> bytes:
    """The raw bytes, once they are known to be the right ones; never reads more than one byte too many."""
    try:
        raw = gzip.GzipFile(fileobj=stream).read(file.size + 1) if zipped else stream.read(file.size + 1)
    except EOFError:
        raise _BadFileError("is cut short") from None
    except (gzip.BadGzipFile, zlib.error):
        raise _BadFileError("is not a valid gzip file") from None
    if len(raw) != file.size:
        raise _BadFileError(f"is cut short: {len(raw)} of {file.size} bytes" if len(raw) < file.size else "is too long")
    if hashlib.md5(raw, usedforsecurity=False).hexdigest() != file.md5:
        raise _BadFileError("does not have the known checksum")
    return raw


def _warn(text: str) -> None:
    warnings.warn(text, stacklevel=4)


def _pass_over(bad: dict[Path, str]) -> None:
    for path, problem in bad.items():
        _warn(f"{path} {problem}; it is passed over. Remove it or replace it by a good copy.")


def _set_aside(path: Path, problem: str) -> None:
    aside = path.with_name(path.name + ".corrupt")
    with suppress(OSError):
        os.replace(path, aside)
        _warn(f"{path} {problem}; it was set aside as {aside.name}.")


# Downloading.


class _NoMirrorError(Exception):
    """No mirror gave a good copy."""


def _fetch(dataset: Dataset, file: IdxFile | PlainFile) -> bytes:
    """The verified raw bytes of a file from the first mirror that has them.

    A mirror that may recover (timeout, 5xx, reset) stays in the next round; one that cannot be reached at all,
    refuses, or gives other bytes is out.
    """
    mirrors, reached = list(dataset.mirrors), False
    for attempt in range(ROUNDS):
        if attempt:
            time.sleep(BACKOFF * 2 ** (attempt - 1) * _jitter.uniform(0.5, 1.5))
        for mirror in list(mirrors):
            try:
                return _get(dataset.address(mirror, file), file, zipped=dataset.zipped)
            except (_BadFileError, OSError, HTTPException) as error:
                reached = reached or not _is_offline(error)
                if not _may_recover(error):
                    mirrors.remove(mirror)
        if not mirrors:
            break
    raise _NoMirrorError("no mirror gave a good copy" if reached else "no mirror could be reached")


def _get(url: str, file: IdxFile | PlainFile, *, zipped: bool) -> bytes:
    request = urllib.request.Request(url, headers={"User-Agent": "torchbook"})
    with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
        limit = 2 * file.size + 1_000  # more than any gzip of it, and yet no endless response fills the memory
        content = response.read(limit)
        if len(content) == limit:
            raise _BadFileError("is too long")
        if response.length:
            raise ConnectionResetError(errno.ECONNRESET, "the answer was cut short")
    return _verified(io.BytesIO(content), file, zipped=zipped)


def _cause(error: Exception) -> object:
    return error.reason if isinstance(error, urllib.error.URLError) else error


def _is_offline(error: Exception) -> bool:
    cause = _cause(error)
    if isinstance(cause, socket.gaierror | ConnectionRefusedError):
        return True
    return isinstance(cause, OSError) and cause.errno in (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN)


def _may_recover(error: Exception) -> bool:
    if isinstance(error, urllib.error.HTTPError):
        return error.code >= 500 or error.code in (408, 429)
    return isinstance(_cause(error), TimeoutError | ConnectionResetError | BrokenPipeError | HTTPException)


def _store(path: Path, raw: bytes) -> None:
    """Put a verified file in place at once or not at all."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".part")
    try:
        with open(descriptor, "wb") as stream:
            stream.write(raw)
            stream.flush()
            os.fsync(stream.fileno())
        if path.exists():
            _set_aside(path, "is not a good copy")
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
