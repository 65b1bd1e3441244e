"""Kept runs: a chapter that once ran with just this key need not run again, in another clone or after a change undone.

What a run reads is known only when it has run. So two kinds of proofs are stored (`torchbook_proofs`): under the parts
that are known before, the names of what each such run read; and under these and what they read, the notebook.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torchbook_press.chapters import Chapter
from torchbook_press.key import observed
from torchbook_proofs import Key, Store

_READS, _RUN = "run-reads", "run"
_MOST = 12  # lists of names that are kept for the same declared parts: code reads other files after they changed


@dataclass(frozen=True)
class Runs:
    """Kept runs in a store of proofs."""

    store: Store

    def find(self, chapter: Chapter, declared: Mapping[str, str]) -> str | None:
        """The notebook of a kept run whose parts are all as they are now."""
        for names in self._lists(chapter, declared):
            run = self.store.get(_run_key(chapter, declared, observed(names)))
            if run is not None:
                return gzip.decompress(base64.b64decode(run["notebook"])).decode()
        return None

    def keep(self, chapter: Chapter, declared: Mapping[str, str], read: Mapping[str, str], notebook: str) -> None:
        """Store a run that ended well."""
        packed = base64.b64encode(gzip.compress(notebook.encode(), mtime=0)).decode()
        self.store.put(_run_key(chapter, declared, read), {"notebook": packed})
        names = sorted(read)
        others = [other for other in self._lists(chapter, declared) if other != names]
        self.store.put(Key(_READS, _subject(chapter, declared), declared), [names, *others][:_MOST])

    def _lists(self, chapter: Chapter, declared: Mapping[str, str]) -> list[list[str]]:
        lists: Any = self.store.get(Key(_READS, _subject(chapter, declared), declared))
        return lists or []


def _run_key(chapter: Chapter, declared: Mapping[str, str], read: Mapping[str, str]) -> Key:
    return Key(_RUN, _subject(chapter, declared), {**declared, **read})


def _subject(chapter: Chapter, declared: Mapping[str, str]) -> str:
    return f"{chapter.docname} {declared['lane']} {declared['parameters']}"
