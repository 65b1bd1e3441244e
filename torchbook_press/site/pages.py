"""The built pages, and what is asked of each of them: places, words, icons. It is asked once, until a page changes."""

from __future__ import annotations

import hashlib
import os
import pickle
import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from sphinx.application import Sphinx

from torchbook_proofs import digest

T = TypeVar("T")
_VERSION = re.compile(r"\?v=[0-9a-f]{8}(?=\")")
# A style sheet or script of the book's own, or of an extension; the theme's have versions of their own.
_ASSET = re.compile(
    r'(?<=")((?:\.\./)*(?:\./)?(?:_static/[^"?<>]+\.(?:css|js)|searchindex\.js))(?:\?v=[0-9a-f]{8})?(?=")'
)
_ANSWERS = "pages.pickle"


class Pages:
    """The pages of a site, as Sphinx wrote them now or in an earlier build."""

    def __init__(self, app: Sphinx) -> None:
        self.out = Path(app.outdir)
        self._path = Path(app.doctreedir) / _ANSWERS
        self._salt = digest(Path(__file__).parent)
        self._answers: dict[str, Any] = {}

    @cached_property
    def texts(self) -> dict[str, str]:
        """Each page by its path in the site."""
        paths = sorted(self.out.rglob("*.html"))
        return {path.relative_to(self.out).as_posix(): path.read_text(encoding="utf-8") for path in paths}

    @cached_property
    def _digests(self) -> dict[str, str]:
        # Which version of a style sheet or script a page asks for is no answer's concern.
        return {name: hashlib.sha256(_VERSION.sub("", text).encode()).hexdigest() for name, text in self.texts.items()}

    @cached_property
    def _before(self) -> dict[str, Any]:
        try:
            cache = pickle.loads(self._path.read_bytes())
        except (OSError, EOFError, pickle.UnpicklingError, AttributeError, ImportError):
            return {}
        return dict(cache["answers"]) if cache["salt"] == self._salt else {}

    def each(self, question: Callable[[str], T], key: str = "") -> dict[str, T]:
        """What a function of a page's text gives for each page.

        Args:
            question: the function; what it gives can be pickled.
            key: all that it depends on beside the page.
        """
        answers = {}
        for name, text in self.texts.items():
            cache_key = f"{question.__qualname__} {key} {self._digests[name]}"
            if cache_key not in self._answers:
                self._answers[cache_key] = self._before[cache_key] if cache_key in self._before else question(text)
            answers[name] = self._answers[cache_key]
        return answers

    def save(self) -> None:
        """Keep the answers for the next build."""
        part = self._path.with_suffix(".part")
        part.write_bytes(pickle.dumps({"salt": self._salt, "answers": self._answers}))
        os.replace(part, self._path)

    def fetch_again(self) -> None:
        """Have browsers fetch style sheets and scripts again when they have changed.

        Sphinx says only of pages that it writes, and before all of these files are there, which version they load.
        """
        versions: dict[Path, str] = {}

        def versioned(asset: re.Match[str]) -> str:
            path = (page.parent / asset[1]).resolve()
            if path not in versions:
                versions[path] = _version(path)
            return asset[1] + versions[path]

        for name, text in self.texts.items():
            page = self.out / name
            # What a page shows is no place for its own assets, and most of its bytes.
            head, article, rest = text.partition("<article")
            body, end, tail = rest.rpartition("</article>")
            fresh = _ASSET.sub(versioned, head) + article + body + end + _ASSET.sub(versioned, tail)
            if fresh != text:
                page.write_text(fresh, encoding="utf-8")


def _version(path: Path) -> str:
    return f"?v={hashlib.sha256(path.read_bytes()).hexdigest()[:8]}" if path.is_file() else ""


_now: WeakKeyDictionary[Sphinx, Pages] = WeakKeyDictionary()


def pages_of(app: Sphinx) -> Pages:
    """The pages of the build that ends now."""
    return _now[app]


def _begin(app: Sphinx, exception: Exception | None) -> None:
    if not exception and app.builder.format == "html":
        _now[app] = Pages(app)


def _end(app: Sphinx, exception: Exception | None) -> None:
    pages = _now.pop(app, None)
    if pages and not exception:
        pages.save()
        pages.fetch_again()


def setup(app: Sphinx) -> None:
    app.connect("build-finished", _begin, priority=540)
    app.connect("build-finished", _end, priority=990)
