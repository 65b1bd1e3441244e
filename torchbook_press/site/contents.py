"""What a build may leave as it is: decided by the contents of files, and by what pages show of one another.

Sphinx compares dates, so that a file put back with its old date is no change to it; and it writes only the pages that
it reads again, though others show their titles, link to their places, and tell what their terms mean.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.domains import Domain
from sphinx.environment import BuildEnvironment

from torchbook_press.site.exercises import Places
from torchbook_press.site.glossary import Glossary
from torchbook_press.success import READ
from torchbook_proofs import digest

# Nothing of these is shown on another page than its own.
_OF_ONE_PAGE = {
    *(("index", "entries"), ("math", "has_equations"), ("c", "root_symbol"), ("cpp", "root_symbol")),
    *(("practice", "blocks"), ("practice", "lists"), ("practice", "maps"), ("practice", "readings")),
    *(("claims", "badges"), ("claims", "shown")),
}


class Contents(Domain):
    """The digests of the files that pages were read from, and of what pages show of one another."""

    name = "contents"
    label = "Contents"
    data_version = 1
    initial_data: dict[str, Any] = {"files": {}, "shared": ""}  # noqa: RUF012

    @property
    def files(self) -> dict[str, dict[str, str]]:
        """For each page, the digests of the files that it was read from, by their paths."""
        files: dict[str, dict[str, str]] = self.data["files"]
        return files

    def clear_doc(self, docname: str) -> None:
        self.files.pop(docname, None)

    def merge_domaindata(self, docnames: Collection[str], otherdata: dict[str, Any]) -> None:
        """Nothing is known of pages before all are read."""

    def resolve_any_xref(self, *_: Any, **__: Any) -> list[tuple[str, nodes.Element]]:
        """Nothing here can be linked to."""
        return []

    def changed(self) -> list[str]:
        """The pages whose files are not what they were read from."""
        return [docname for docname, files in self.files.items() if files != self._digests(files)]

    def note(self, docnames: Iterable[str]) -> None:
        """Keep the digests of the files of pages that were read."""
        for docname in docnames:
            if docname not in self.files:
                self.files[docname] = self._digests([f"{docname}.md", *map(str, self.env.dependencies[docname])])

    def _digests(self, names: Iterable[str]) -> dict[str, str]:
        return {name: digest(Path(self.env.srcdir, name)) for name in names}


def _contents(env: BuildEnvironment) -> Contents:
    contents = env.get_domain(Contents.name)
    assert isinstance(contents, Contents)
    return contents


def _outdated(app: Sphinx, env: BuildEnvironment, *_: object) -> list[str]:
    return _contents(env).changed()


def _note(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Keep what was read; all pages are written again when something has changed that they show of one another."""
    contents = _contents(env)
    contents.note(env.found_docs)
    state = hashlib.sha256(json.dumps(_plain(_shared(app))).encode()).hexdigest()
    former, contents.data["shared"] = contents.data["shared"], state
    return [] if state == former else sorted(env.found_docs)


def _shared(app: Sphinx) -> Mapping[str, Any]:
    """What pages show of one another: titles, their order and numbers, places that can be linked to, meanings."""
    env = app.env
    places = env.get_domain(Places.name)
    assert isinstance(places, Places)
    glossary = Glossary()
    glossary.read(app)
    deep = any(not toctree["titlesonly"] for toc in env.tocs.values() for toctree in toc.findall(addnodes.toctree))
    domains = {
        f"{name} {field}": value
        for name, data in env.domaindata.items()
        for field, value in data.items()
        if name != Contents.name and (name, field) not in _OF_ONE_PAGE
    }
    return {
        "titles": [env.titles, env.longtitles],
        "order": [env.toctree_includes, env.toc_secnumbers, env.toc_fignumbers, sorted(env.found_docs)],
        "sections": env.tocs if deep else {},
        "slugs": {docname: _slugs(metadata) for docname, metadata in env.metadata.items()},
        "exercises": {name: [docname for docname, _ in blocks] for name, blocks in places.blocks.items()},
        "meanings": glossary.by_form,
        "domains": domains,
    }


def _slugs(metadata: Mapping[str, Any]) -> list[Any]:
    """The anchors of a page's headings, without their lines."""
    return [(name, anchor, title) for name, (_, anchor, title) in metadata.get("myst_slugs", {}).items()]


def _plain(value: object) -> Any:
    """A value as JSON can hold it, the same for equal ones."""
    if isinstance(value, Mapping):
        return sorted([str(key), _plain(item)] for key, item in value.items())
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else str(value)


def _write_read(app: Sphinx, exception: Exception | None) -> None:
    """Say which files the pages were read from."""
    if not exception:
        files = {name for files in _contents(app.env).files.values() for name in files}
        Path(app.doctreedir, READ).write_text(json.dumps(sorted(files)), encoding="utf-8")


_written: WeakKeyDictionary[Sphinx, set[str]] = WeakKeyDictionary()


def written(app: Sphinx) -> Collection[str]:
    """The pages that this build has written."""
    return _written.get(app, set())


def _write(app: Sphinx, pagename: str, *_: object) -> None:
    _written.setdefault(app, set()).add(pagename)


def _without_figure_numbers(app: Sphinx, config: Config) -> None:
    """No figure of the book has a number; to count them Sphinx would load every page at every build."""
    config["numfig"] = False


def setup(app: Sphinx) -> None:
    app.add_domain(Contents)
    app.connect("config-inited", _without_figure_numbers, priority=900)  # after Jupyter Book, which turns them on
    app.connect("env-get-outdated", _outdated)
    app.connect("env-updated", _note, priority=900)  # when sections have their numbers
    app.connect("html-page-context", _write)
    app.connect("build-finished", _write_read)
