"""A web server for the files of a folder: compressed, from a thread, for as long as it is needed."""

from __future__ import annotations

import functools
import gzip
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from mimetypes import guess_type
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit


@functools.cache
def gzipped(path: Path) -> bytes:
    """A file as the wire carries it: compressed, unless that makes it larger; nothing where there is no file."""
    body = path.read_bytes() if path.is_file() else b""
    compressed = gzip.compress(body, mtime=0)
    return min(body, compressed, key=len)


class _Handler(BaseHTTPRequestHandler):
    """Files of a folder, compressed, to be kept by the browser's cache."""

    protocol_version = "HTTP/1.1"
    root: Path

    def do_GET(self) -> None:
        path = self.root / unquote(urlsplit(self.path).path).lstrip("/")
        if not path.is_file():
            self.send_error(404)
            return
        body = gzipped(path)
        self.send_response(200)
        self.send_header("Content-Type", guess_type(path.name)[0] or "application/octet-stream")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=3600")
        if body[:2] == b"\x1f\x8b" and path.suffix != ".gz":
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    """A server to which it is no error when a browser hangs up."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serving(root: Path) -> Iterator[str]:
    """Serve a folder with gzip from a thread; the address."""
    handler = type("Handler", (_Handler,), {"root": root})
    server = _Server(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
