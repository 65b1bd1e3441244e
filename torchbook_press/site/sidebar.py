"""The side bar's chapters that are folders: what unfolds the pages of one says whose they are."""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx


def label(soup: Any) -> Any:
    """Name the toggles of a side bar, as the theme gives it: they have a picture alone."""
    for summary in soup.select("li.has-children > details > summary"):
        link = summary.find_previous("a")
        if link:
            summary["aria-label"] = f"Pages of {link.get_text(strip=True)}"
    return soup


def _labelled(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    generate = context.get("generate_toctree_html")
    if generate:
        context["generate_toctree_html"] = lambda *args, **options: label(generate(*args, **options))


def setup(app: Sphinx) -> None:
    app.connect("html-page-context", _labelled, priority=900)  # the theme makes side bars from 500 on
