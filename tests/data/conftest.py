"""A tiny data set in FashionMNIST's place, a cache of its own for each test, and a mirror on this machine."""

from __future__ import annotations

import gzip
import hashlib
import socket
import struct
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import torchbook.data as data
from torchbook import notices
from torchbook.data import cache

SHAPES = {
    "train-images-idx3-ubyte": (20, 28, 28),
    "train-labels-idx1-ubyte": (20,),
    "t10k-images-idx3-ubyte": (10, 28, 28),
    "t10k-labels-idx1-ubyte": (10,),
}
IMAGES = "train-images-idx3-ubyte"


def idx(shape: tuple[int, ...]) -> bytes:
    """A raw idx file whose pixels count up, and whose labels run from 0 to 9."""
    count = 1
    for length in shape:
        count *= length
    header = struct.pack(f">I{len(shape)}I", 0x800 + len(shape), *shape)
    modulus = 251 if len(shape) > 1 else 10
    return header + bytes(i % modulus for i in range(count))


RAW = {name: idx(shape) for name, shape in SHAPES.items()}


def tiny(*mirrors: str) -> cache.Dataset:
    files = tuple(
        cache.IdxFile(name, hashlib.md5(RAW[name], usedforsecurity=False).hexdigest(), shape)
        for name, shape in SHAPES.items()
    )
    return cache.Dataset("fashion-mnist", "FashionMNIST", files, mirrors, "raw", True)


def fill(folder: Path, *, zipped: bool = True, **instead: bytes) -> Path:
    """Write the tiny files into a folder; `images` gives other bytes for the training images."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, raw in RAW.items():
        content = gzip.compress(raw) if zipped else raw
        if name == IMAGES and "images" in instead:
            content = instead["images"]
        (folder / (f"{name}.gz" if zipped else name)).write_bytes(content)
    return folder


@dataclass
class Mirror:
    """An HTTP server: each hit of a file takes that file's next answer; without one left, the good file is sent."""

    url: str
    answers: dict[str, list[str]] = field(default_factory=dict)  # by "/mirror/file.gz"
    hits: Counter[str] = field(default_factory=Counter)
    gate: threading.Event = field(default_factory=threading.Event)

    def next_answer(self, path: str) -> str:
        self.hits[path] += 1
        waiting = self.answers.get(path) or self.answers.get(path.rsplit("/", 1)[0] + "/") or []
        return "good" if not waiting else waiting[0] if waiting[0].endswith("always") else waiting.pop(0)


class Handler(BaseHTTPRequestHandler):
    mirror: Mirror

    def do_GET(self) -> None:
        answer = self.mirror.next_answer(self.path)
        self.mirror.gate.wait(30)
        body = gzip.compress(RAW[Path(self.path).stem])
        if answer.startswith("status"):
            self.send_error(int(answer.split()[1]))
            return
        if answer.startswith("html"):
            body = b"<html>Please log in to this network</html>"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if answer.startswith(("reset", "short")):
            body = body[: len(body) // 2]
        self.wfile.write(body)
        if answer.startswith("reset"):
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.rfile.close()
            self.connection.close()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def mirror() -> Iterator[Mirror]:
    handler = type("MirrorHandler", (Handler,), {})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        handler.mirror = Mirror(f"http://127.0.0.1:{server.server_address[1]}")
        handler.mirror.gate.set()
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield handler.mirror
        server.shutdown()
        thread.join()


@pytest.fixture
def refused() -> str:
    """The address of a mirror that nobody serves."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{unused.getsockname()[1]}/"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """The user's cache folder of this test."""
    return tmp_path / "cache"


@pytest.fixture(autouse=True)
def clean_room(monkeypatch: pytest.MonkeyPatch, own: Path) -> Iterator[None]:
    monkeypatch.delenv("TORCHBOOK_DATA", raising=False)
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(cache.platformdirs, "user_cache_path", lambda _: own)
    monkeypatch.setattr(cache, "BACKOFF", 0.0)
    monkeypatch.setattr(cache, "_unreachable", {})
    monkeypatch.setattr(data, "_prepared", {})
    notices.clear()
    yield
    notices.clear()


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch):
    """Put the tiny data set, with these mirrors, in FashionMNIST's place."""

    def replace(*mirrors: str) -> cache.Dataset:
        monkeypatch.setitem(cache.DATASETS, "fashion-mnist", tiny(*mirrors))
        return cache.DATASETS["fashion-mnist"]

    return replace
