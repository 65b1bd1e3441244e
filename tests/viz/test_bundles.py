"""The bundled modules: what ships is what the source makes, small, and on its own."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from ipywidgets import Layout
from pygments.token import STANDARD_TYPES

from torchbook import viz

FIGURES = [name for name in viz.__all__ if name[0].isupper()]
NAMES = [getattr(viz, name).__module__.rpartition(".")[2] for name in FIGURES]
SMALL = 60 * 1024
SOURCE = Path("torchbook/viz/src")
STATIC = Path("torchbook/viz/static")


def _skip(reason: str) -> None:
    if os.environ.get("TORCHBOOK_REQUIRE_NPM") == "1":
        pytest.fail(reason)
    pytest.skip(reason=reason)


def _installed(tools: Path, manifest: Path) -> bool:
    """Is every package there in the very version that the manifest names?"""
    for name, version in json.loads(manifest.read_text())["devDependencies"].items():
        package = tools / "node_modules" / name / "package.json"
        if not package.is_file() or json.loads(package.read_text())["version"] != version:
            return False
    return True


@pytest.fixture(scope="session")
def tools(repo: Path) -> Path:
    """Folder in which npm has installed the bundler and what is bundled, as `make viz` does."""
    if shutil.which("npm") is None:
        _skip("npm is not installed")
    folder, manifest = repo / ".cache" / "npm", repo / SOURCE / "package.json"
    if not _installed(folder, manifest):
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(repo / SOURCE / name, folder)
        command = ["npm", "ci", "--prefix", str(folder), "--no-audit", "--no-fund"]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if ran.returncode:
            _skip(f"npm cannot install the bundler: {ran.stderr.strip()[-300:]}")
    return folder


def _made(repo: Path, tools: Path, script: str, out: str) -> None:
    modules = tools / "node_modules"
    path = f"{modules / '.bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "NODE_PATH": str(modules), "PATH": path}
    command = ["npm", "run", "--silent", script, "--", out]
    ran = subprocess.run(command, cwd=repo / SOURCE, env=environment, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr


def test_bundles_are_what_the_source_makes(repo: Path, tools: Path, tmp_path: Path) -> None:
    _made(repo, tools, "build", f"--outdir={tmp_path}")
    bundled, committed = (
        {path.name: path.read_bytes() for path in folder.glob("*.js")} for folder in (tmp_path, repo / STATIC)
    )
    assert bundled.keys() == committed.keys() == {f"{name}.js" for name in NAMES}
    stale = [name for name in bundled if bundled[name] != committed[name]]
    assert not stale, "bundled from older source: make viz"


def test_the_search_page_has_minisearch_as_npm_has_it(repo: Path, tools: Path, tmp_path: Path) -> None:
    _made(repo, tools, "search", f"--outfile={tmp_path / 'minisearch.js'}")
    assert (tmp_path / "minisearch.js").read_bytes() == (repo / "web/minisearch.js").read_bytes(), "older: make viz"


def test_the_editor_of_live_cells_is_what_the_source_makes(repo: Path, tools: Path, tmp_path: Path) -> None:
    _made(repo, tools, "live", f"--outdir={tmp_path}")
    committed = repo / "torchbook/server/client"
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert made.keys() == {"editor.js", "purify.js"}
    assert {name: (committed / name).read_bytes() for name in made} == made, "bundled from older source: make viz"


def test_the_first_edit_of_a_live_cell_loads_less_than_200_kb(repo: Path) -> None:
    assert len(gzip.compress((repo / "torchbook/server/client/editor.js").read_bytes(), 6)) <= 200_000


@pytest.mark.parametrize("name", NAMES)
def test_bundle_is_small(repo: Path, name: str) -> None:
    assert len(gzip.compress((repo / STATIC / f"{name}.js").read_bytes(), 6)) <= SMALL


@pytest.mark.parametrize("name", NAMES)
def test_bundle_stands_alone_and_evaluates_no_text(repo: Path, name: str) -> None:
    text = (repo / STATIC / f"{name}.js").read_text(encoding="utf-8")
    forbidden = [
        r"\bimport\s*[\"'({]",
        r"\brequire\(",
        r"\beval\([^)]",
        r"new Function\b",
        r"\bfetch\(",
        r"XMLHttpRequest",
    ]
    assert [pattern for pattern in forbidden if re.search(pattern, text)] == []
    assert set(re.findall(r"https?://[\w./-]+", text)) <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xhtml"}


@pytest.mark.parametrize("name", FIGURES)
def test_no_trait_has_a_name_that_the_view_of_ipywidgets_reads_as_a_widget(name: str) -> None:
    """Its view makes a child of whatever it finds as `layout` or `style`."""
    traits = getattr(viz, name).class_traits(sync=True)
    assert "style" not in traits
    assert traits["layout"].klass is Layout


def test_no_style_of_a_figure_is_one_of_listings(repo: Path) -> None:
    """`.sd` by itself is a docstring in every listing of the page."""
    tokens = "|".join(sorted(filter(None, STANDARD_TYPES.values())))
    for style in repo.glob("torchbook/viz/src/*/*.js"):
        assert not re.findall(rf"(?m)^\.(?:{tokens})\{{", style.read_text(encoding="utf-8")), style
