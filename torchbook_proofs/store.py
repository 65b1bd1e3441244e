"""Where proofs are kept: one JSON file each, named by kind, subject and key."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import platformdirs

FOLDER = "TORCHBOOK_PROOFS"  # environment variable: where the store is
FRESH = "TORCHBOOK_FRESH"  # environment variable: "1" keeps no proof; a time in seconds, none from before it
_EACH = 12  # proofs that are kept of one subject: the newest, for going back and forth between branches


@dataclass(frozen=True)
class Key:
    """What a proof is of: a kind, a subject of that kind, and the digest or version of each thing it depends on."""

    kind: str
    subject: str
    parts: Mapping[str, str]

    @cached_property
    def digest(self) -> str:
        """sha256 of the parts."""
        return hashlib.sha256(json.dumps(dict(self.parts), sort_keys=True).encode()).hexdigest()


@dataclass
class Store:
    """Proofs in a folder; `counts` says how many of each kind this process has "kept" and "made".

    Processes may use one folder at once: a proof is written whole or not at all, and the last one stands.
    """

    folder: Path
    fresh_since: float = 0.0
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    @staticmethod
    def default() -> Store:
        """The store that the environment names, or that of the user's cache; one a process, for its counts."""
        configured = os.environ.get(FOLDER)
        folder = Path(configured) if configured else Path(platformdirs.user_cache_dir("torchbook")) / "proofs"
        return _shared(folder, os.environ.get(FRESH, ""))

    def get(self, key: Key) -> Any | None:
        """What was stored with the proof, or None when there is none that may be kept."""
        path = self._path(key)
        try:
            proof = json.loads(path.read_text(encoding="utf-8"))
            if proof["parts"] != dict(key.parts) or proof["at"] < self.fresh_since:
                return None
        except (OSError, ValueError, KeyError, TypeError):
            return None
        self.counts[key.kind, "kept"] += 1
        return proof["value"]

    def put(self, key: Key, value: Any) -> None:
        """Store a pass that was seen; `value` is what its readers need of it, anything but None that JSON can hold."""
        path = self._path(key)
        proof = {"kind": key.kind, "subject": key.subject, "parts": dict(key.parts), "at": time.time(), "value": value}
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(f".{os.getpid()}.part")
        partial.write_text(json.dumps(proof), encoding="utf-8")
        os.replace(partial, path)
        self.counts[key.kind, "made"] += 1
        _forget(path.parent)

    def changed(self, key: Key) -> tuple[str, ...]:
        """The parts in which a key differs from the newest proof of its subject; empty when there is none."""
        newest = max(self._path(key).parent.glob("*.json"), key=lambda path: path.stat().st_mtime, default=None)
        if newest is None:
            return ()
        parts = json.loads(newest.read_text(encoding="utf-8"))["parts"]
        names = sorted(parts.keys() | key.parts.keys())
        return tuple(name for name in names if parts.get(name) != key.parts.get(name))

    def _path(self, key: Key) -> Path:
        subject = re.sub(r"[^\w.-]+", "-", key.subject)[-100:]
        suffix = hashlib.sha256(key.subject.encode()).hexdigest()[:8]
        return self.folder / key.kind / f"{subject}-{suffix}" / f"{key.digest}.json"


@cache
def _shared(folder: Path, fresh: str) -> Store:
    return Store(folder, _since(fresh))


def _since(text: str) -> float:
    """The time from which proofs count: always, never (for "1"), or a number of seconds since 1970."""
    return float("inf") if text == "1" else float(text or 0)


def _forget(folder: Path) -> None:
    """Delete the oldest proofs of one subject."""
    paths = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime)
    for path in paths[:-_EACH]:
        path.unlink(missing_ok=True)
