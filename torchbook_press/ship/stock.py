"""The same pages as plain Jupyter Book prints them, to compare with: nothing of ours but the content.

A chapter is its published notebook, which holds plain Markdown and the same code, with the outputs of the run that the
page shows and the state of its widgets; of plotly's figures a stock page shows nothing, and is not charged for them. A
prose page is taken as it stands, unless it has a directive of ours. They are built by `jupyter-book build` with a
title, without execution, and with nothing else in the configuration: its theme with icons and search index on every
page, its scripts, and from other hosts MathJax, RequireJS and Jupyter's widget manager. What these hosts would send is
taken from the same packages by npm; RequireJS's minified file is made by its own optimizer. The stock site has no other
pages than those compared, so that its navigation and its search index are smaller than the whole book's.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat
from nbformat import NotebookNode

from torchbook_press import bundles, seal
from torchbook_press.chapters import Chapter
from torchbook_press.normal import WIDGET_STATE
from torchbook_press.ship.environment import ShipError

CACHE = Path(".cache/speed")  # in the book's folder; git ignores it
_JUPYTER_BOOK = "from jupyter_book.cli.main import main; main()"
_REQUIREJS = re.compile(r"/ajax/libs/require\.js/([\d.]+)/require\.min\.js")
_PACKAGED = re.compile(r"/npm/((?:@[\w.-]+/)?[\w.-]+)@([^/]+)/(.+)")
_ELSEWHERE = re.compile(r'(?:src|href)="(https://[^"]+\.(?:js|css))"')
_INTEGRITY = re.compile(r' integrity="[^"]*"')
_DIRECTIVE = re.compile(r"^[:`]{3,}\{([\w-]+)\}", re.MULTILINE)
_STOCK_HAS = {"admonition", "container", "dropdown", "figure", "glossary", "image", "math", "note", "tip", "warning"}
_NETWORK = "cdn.jsdelivr.net"  # where Jupyter's widget manager looks for widgets
_ANYWIDGET = re.compile(r'"_view_module": "anywidget", "_view_module_version": "([^"]+)"')


class NoComparisonError(ShipError):
    """What stock pages take from other hosts cannot be had on this machine."""


def build(root: Path, pages: Sequence[str], folder: Path) -> Path:
    """Build the stock site of some pages; its root.

    Args:
        root: the book's folder, with a built site.
        pages: names on the site, such as book/phases/p01-tensors/views.html.
        folder: where; it is emptied first.

    Raises:
        ShipError: a page cannot be built without our directives, or Jupyter Book failed; with its own words.
    """
    shutil.rmtree(folder, ignore_errors=True)
    names = [page.removesuffix(".html") for page in pages]
    for name in names:
        _source(root, name, folder / name)
    contents = {"format": "jb-book", "root": names[0], "chapters": [{"file": name} for name in names[1:]]}
    config = {"title": "Stock", "execute": {"execute_notebooks": "off"}}
    for file, content in (("_toc.yml", contents), ("_config.yml", config)):
        (folder / file).write_text(json.dumps(content), encoding="utf-8")  # JSON is YAML
    command = [sys.executable, "-W", "ignore", "-c", _JUPYTER_BOOK, "build", str(folder), "--quiet"]
    completed = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    site = folder / "_build" / "html"
    if completed.returncode or not all((site / page).is_file() for page in pages):
        raise ShipError(f"jupyter-book builds no stock pages: {(completed.stderr or completed.stdout).strip()[-1500:]}")
    for page in pages:
        # The files below are the same programs, not the same bytes.
        text = (site / page).read_text(encoding="utf-8")
        (site / page).write_text(_INTEGRITY.sub("", text), encoding="utf-8")
    return site


def hindrance(root: Path, page: str) -> str:
    """Why a page has no stock build; nothing when it has one."""
    name = page.removesuffix(".html")
    chapter = Chapter(root, name)
    if not chapter.path.is_file():
        return f"{name}.md:1: missing; a page that Sphinx makes has no stock build to compare with"
    directives = [] if chapter.runs else sorted(set(_DIRECTIVE.findall(chapter.text)) - _STOCK_HAS)
    return (
        f"{name}.md:1: has the directive {directives[0]}, so that there is no stock build to compare with"
        if directives
        else ""
    )


def _source(root: Path, name: str, target: Path) -> None:
    """Write what stands for a page: a notebook with outputs, or the prose as it is."""
    complaint = hindrance(root, name)
    if complaint:
        raise ShipError(complaint)
    chapter = Chapter(root, name)
    target.parent.mkdir(parents=True, exist_ok=True)
    if not chapter.runs:
        target.with_name(f"{target.name}.md").write_text(chapter.text, encoding="utf-8")
        return
    published = nbformat.read(root / "_build/html/notebooks" / f"{name}.ipynb", as_version=4)
    executed = bundles.put_back(seal.read(chapter.executed))
    try:
        nbformat.write(with_outputs(published, executed), target.with_name(f"{target.name}.ipynb"))
    except ShipError as error:
        raise ShipError(f"{name}.md:1: {error}") from None


def with_outputs(published: NotebookNode, executed: NotebookNode) -> NotebookNode:
    """The published notebook with what the run gave, cell by cell, and the state of the run's widgets.

    Raises:
        ShipError: the notebook is not of that run.
    """
    executed_cells = [cell for cell in executed.cells if cell.cell_type == "code" and cell.outputs]
    for cell in published.cells:
        if executed_cells and cell.cell_type == "code" and cell.source.strip() == executed_cells[0].source.strip():
            cell.outputs, cell.execution_count = executed_cells[0].outputs, executed_cells[0].execution_count
            executed_cells.pop(0)
    if executed_cells:
        raise ShipError("the site is not of the last run: make book")
    if WIDGET_STATE in executed.metadata.get("widgets", {}):
        published.metadata["widgets"] = executed.metadata["widgets"]
    return published


def elsewhere(site: Path, page: str) -> list[str]:
    """Addresses on other hosts from which a stock page takes scripts and styles, as far as it names them."""
    text = (site / page).read_text(encoding="utf-8")
    widgets = [f"https://{_NETWORK}/npm/anywidget@{version}/dist/index.js" for version in _ANYWIDGET.findall(text)]
    return list(dict.fromkeys([*_ELSEWHERE.findall(text), *widgets]))


class Packages:
    """The files behind the addresses of content delivery networks, fetched by npm once and kept."""

    def __init__(self, root: Path) -> None:
        self.folder = root / CACHE

    def __call__(self, url: str) -> Path:
        """The file that stands for an address.

        Raises:
            NoComparisonError: npm is not there, or cannot fetch it.
            ShipError: the address is not one that a stock page is known to ask for.
        """
        path = unquote(urlsplit(url).path)
        if match := _REQUIREJS.fullmatch(path):
            return self._requirejs(match[1])
        if match := _PACKAGED.fullmatch(path):
            file = self._package(match[1], match[2]) / match[3]
            if file.is_file():
                return file
        raise ShipError(f"{url}: no package is known in which this file is")

    def _package(self, name: str, version: str) -> Path:
        """A package as npm packs it, unpacked."""
        folder = self.folder / re.sub(r"[^\w.@-]+", "-", f"{name}@{version}")
        if not folder.is_dir():
            part = folder.with_name(f"{folder.name}.part")
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir(parents=True)
            _run("npm", "pack", f"{name}@{version}", "--silent", "--ignore-scripts", "--pack-destination", str(part))
            with tarfile.open(next(part.glob("*.tgz"))) as archive:
                archive.extractall(part, filter="data")
            (part / "package").rename(folder)
            shutil.rmtree(part)
        return folder

    def _requirejs(self, version: str) -> Path:
        folder = self._package("requirejs", version)
        minified = folder / "require.min.js"
        if not minified.is_file():
            options = ("baseUrl=.", "paths.itself=require", "name=itself", f"out={minified.name}", "optimize=uglify")
            _run("node", "bin/r.js", "-o", *options, cwd=folder)
        return minified


def _run(*command: str, cwd: Path | None = None) -> None:
    try:
        completed = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300)
    except FileNotFoundError:
        raise NoComparisonError(f"no comparison with stock pages: {command[0]} is not installed") from None
    except subprocess.TimeoutExpired:
        raise NoComparisonError(f"no comparison with stock pages: {' '.join(command[:3])} took too long") from None
    if completed.returncode:
        message = " ".join((completed.stderr or completed.stdout).split())[-300:]
        raise NoComparisonError(f"no comparison with stock pages: {' '.join(command[:3])} failed: {message}")
