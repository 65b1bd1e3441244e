"""The bundle as shipped: unpacked elsewhere, its files those of the site, its search and a notebook used.

That every page is whole as a file without a network, figures and all, `test_pages` shows of the built site.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from tests.browser import context, listen, settled
from tests.site.built import SITE, first_page
from torchbook_press.ship import bundle
from torchbook_press.ship.environment import SOURCE
from torchbook_proofs import digest


@pytest.fixture(scope="module")
def folder(repo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked bundle, in a path with a blank and an umlaut, as on readers' disks."""
    out = tmp_path_factory.mktemp("bundle") / "to take along.zip"
    bundle.bundle(repo, SOURCE, out)
    with zipfile.ZipFile(out) as archive:
        archive.extractall(out.parent / "Bücher, offline")
    (unpacked,) = (out.parent / "Bücher, offline").iterdir()
    return unpacked


@pytest.fixture(scope="module")
def offline(browser: Browser) -> Iterator[BrowserContext]:
    """A context whose network is off."""
    with context(browser) as without_network:
        without_network.set_offline(True)
        yield without_network


def _files(root: Path) -> dict[str, str]:
    """The digest of each file of a folder, by its name."""
    return {path.relative_to(root).as_posix(): digest(path) for path in root.rglob("*") if path.is_file()}


def test_the_site_is_the_one_that_was_built(folder: Path) -> None:
    assert _files(folder / "site") == _files(SITE)


def test_search_finds_from_the_disk(folder: Path, offline: BrowserContext) -> None:
    page = offline.new_page()
    log = listen(page)
    page.goto(f"{(folder / 'site/search.html').as_uri()}?q=stride")
    result = page.locator("#search-results a[href*='p01-tensors']").first
    expect(result).to_be_visible()
    result.click()
    page.wait_for_url(re.compile(r"p01-tensors[./]"))
    settled(page)
    assert [*log.errors, *log.beyond_files] == []
    page.close()


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="sha256sum, which the guide names, is not installed")
def test_the_guides_check_of_the_files_passes(folder: Path) -> None:
    (command,) = re.findall(r"^sha256sum .+$", (folder / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


# Runs cells of a notebook as Jupyter does, in this process: a kernel would need a network, if only this machine's own.
RUN = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
cells = json.load(open(sys.argv[1], encoding="utf-8"))["cells"]
for cell in [cell for cell in cells if cell["cell_type"] == "code"][: int(sys.argv[2])]:
    done = shell.run_cell("".join(cell["source"]))
    if not done.success and "raises-exception" not in cell["metadata"].get("tags", []):
        sys.exit("".join(cell["source"]))
import torchbook
print(json.dumps(torchbook.__file__))
"""
CELLS = 12  # as far as the first visualizers


def test_a_notebook_runs_from_the_unpacked_folder(folder: Path, tmp_path: Path) -> None:
    """With the wheel, installed without an index, and where the system allows it in a namespace without a network."""
    (wheel,) = folder.glob("torchbook-*.whl")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", str(tmp_path)]
    subprocess.run([*pip, str(wheel)], check=True)
    alone = ["unshare", "--map-root-user", "--net"]
    able = shutil.which("unshare") and subprocess.run([*alone, "true"], capture_output=True).returncode == 0
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PIP_NO_INDEX": "1"}
    command = [sys.executable, "-c", RUN, first_page("p01").replace(".html", ".ipynb"), str(CELLS)]
    done = subprocess.run(
        [*(alone if able else []), *command],
        cwd=folder / "notebooks",
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr + done.stdout[-2000:]
    assert Path(json.loads(done.stdout.splitlines()[-1])).is_relative_to(tmp_path)
