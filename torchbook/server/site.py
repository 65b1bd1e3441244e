"""Where the built site is, and what is written into a page of it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path

SITE = "TORCHBOOK_SITE"  # names a built site, as `--site` does
META = "torchbook-live"
_BUILT = ("_build/html", "site", ".")  # in a clone, in an unpacked offline zip, and a site itself
_HEAD = re.compile(r"<head\b[^>]*>")
_BINDER = re.compile(r'href="https?://[^"/]+/v2/([^"?]+)\?')  # the page's own button
_BLOCK = '<section class="exercise" id="ex-{}">'


class SiteError(Exception):
    """There is no site, or not what was asked for of it; the message says what to do."""


def find(named: Path | None = None, beside: Iterable[Path] = ()) -> Path:
    """The folder of the built site.

    Args:
        named: the folder that the reader names: a site, an unpacked offline zip, or a clone.
        beside: where it is looked for otherwise, the working folder and those around it for instance.

    Raises:
        SiteError: none is there.
    """
    if named is None and os.environ.get(SITE):
        named = Path(os.environ[SITE])
    for folder in [named.expanduser()] if named else beside:
        for place in _BUILT:
            site = folder / place
            if (site / "index.html").is_file() and (site / "_static").is_dir() and (site / "book").is_dir():
                return site.resolve()
    where = f"in {named}" if named else "here"
    raise SiteError(
        f"there is no built site of the book {where}: run `make book` in a clone, or unpack the offline zip and say "
        "`torchbook live --site FOLDER`"
    )


def page_of(site: Path, exercise: str) -> str:
    """The address, below the site, of an exercise's block.

    Raises:
        SiteError: no page has it.
    """
    block = _BLOCK.format(exercise)
    for page in sorted((site / "book").rglob("*.html")):
        if block in page.read_text(encoding="utf-8"):
            return f"{page.relative_to(site).as_posix()}#ex-{exercise}"
    raise SiteError(f"no page of the site has an exercise {exercise!r}; `torchbook exercises` lists them")


def build_on(binder: str, page: str) -> str:
    """Where a BinderHub builds the book that a page's Binder button names; "" without a hub, or a button.

    Args:
        binder: the hub's address, "" for none.
        page: the page's HTML.
    """
    book = _BINDER.search(page)
    return f"{binder}/build/{book[1]}" if binder and book else ""


def with_client(page: str, settings: Mapping[str, str]) -> str:
    """A page with one `<meta>` for the client, and the client.

    Args:
        page: its HTML.
        settings: what the client is told: the paths of the server (`base`), of itself (`client`) and of the built site
            (`site`), each with a slash at its end.
    """
    client = settings["client"]
    said = escape(json.dumps(settings, sort_keys=True))
    added = (
        f'<meta name="{META}" content="{said}">'
        f'<link rel="stylesheet" href="{client}live.css"><script type="module" src="{client}live.js"></script>'
    )
    return _HEAD.sub(lambda head: head[0] + added, page, count=1)
