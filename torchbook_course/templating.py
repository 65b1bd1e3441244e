"""Texts that are handed out, from the files in `templates`."""

from __future__ import annotations

import jinja2

_TEMPLATES = jinja2.Environment(
    loader=jinja2.PackageLoader("torchbook_course"),
    autoescape=jinja2.select_autoescape(["html"]),
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)


def rendered(template: str, **words: object) -> str:
    """A template with its words filled in; a word that is missing is an error."""
    return _TEMPLATES.get_template(template).render(words)
