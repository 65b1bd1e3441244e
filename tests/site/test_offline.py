"""The bundle as shipped: unpacked elsewhere, opened from the disk in a browser without a network, its notebook run.

That every page is whole as a file, figures and all, `test_self_contained` shows of the built site; here the unpacked
files are shown to be the same, every page is opened once, and every kind of visualizer is used.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from tests.conftest import PATIENCE
from tests.site.conftest import SITE, listen, pages_in, settled
from torchbook import viz
from torchbook.press.ship import bundle
from torchbook.press.ship.environment import SOURCE

KINDS = {
    hashlib.sha256(str(made._esm).encode()).hexdigest()[:16]: name
    for name in viz.__all__
    if isinstance(made := getattr(viz, name), type)
}
# Uses the first visualizer that has a module, as a reader would who tries one control after the other, until what it
# says has changed.
USE = """async (module) => {
  const turn = () => new Promise((done) => setTimeout(done, 30));
  const uses = (figure) => JSON.parse(figure.querySelector(":scope > script").textContent).module === module;
  const figure = [...document.querySelectorAll("figure.viz-mount[data-kind=anywidget]")].find(uses);
  for (let around = figure; (around = around.parentElement?.closest("details")); ) around.open = true;
  figure.scrollIntoView();
  while (!figure.dataset.ready) {
    if (figure.querySelector(".viz-problem")) return "does not start";
    await turn();
  }
  const words = () => [...figure.querySelectorAll(".tbviz-words, [aria-live]")].map((one) => one.textContent).join();
  const before = words();
  const act = (control) => {
    if (control.tagName === "SELECT") control.selectedIndex = (control.selectedIndex + 1) % control.length;
    else if (control.type === "range") control.value = control.value === control.max ? control.min : control.max;
    else if (control.tagName === "INPUT" && control.type === "number") control.stepUp();
    else return control.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    for (const name of ["input", "change"]) control.dispatchEvent(new Event(name, { bubbles: true }));
  };
  const controls = () => [...figure.querySelectorAll("button, select, input, [tabindex], [role=gridcell]")];
  for (let at = 0; at < controls().length; at++) {
    const control = controls()[at];
    if (control.disabled || control.closest("[hidden]")) continue;
    act(control);
    for (let turns = 0; turns < 15; turns++) {
      await turn();
      if (words() !== before) return "";
    }
  }
  return `says nothing new, whatever is pressed: ${before.slice(0, 80)}`;
}"""


@dataclass
class Tour:
    """What was seen when every page was opened once."""

    complaints: list[str] = field(default_factory=list)
    used: dict[str, str] = field(default_factory=dict)  # kind -> what was wrong with it


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
    with browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce") as context:
        context.set_default_timeout(10_000 * PATIENCE)
        context.set_offline(True)
        yield context


@pytest.fixture(scope="module")
def tour(folder: Path, offline: BrowserContext) -> Tour:
    made = Tour()
    for name in pages_in(folder / "site"):
        page = offline.new_page()
        log = listen(page)
        page.goto((folder / "site" / name).as_uri())
        if name == "index.html":
            page.wait_for_url("**/site/book/index.html")  # it leads on
        for module in page.locator("script.viz-module").evaluate_all("all => all.map((one) => one.dataset.module)"):
            kind = KINDS.get(module, f"{name}: a module that is none of the package's")
            if kind not in made.used:
                made.used[kind] = page.evaluate(USE, module)
        asked = [url for url in log.requests if not url.startswith(("file:", "data:", "blob:"))]
        made.complaints += [f"{name}: {what}" for what in (*asked, *log.errors)]
        page.close()
    return made


def test_no_page_misses_a_file_or_reports_an_error(tour: Tour) -> None:
    assert tour.complaints == []


def test_every_kind_of_visualizer_is_in_the_bundle(tour: Tour) -> None:
    assert sorted(tour.used) == sorted(KINDS.values())


def test_every_kind_of_visualizer_answers(tour: Tour) -> None:
    assert {kind: wrong for kind, wrong in tour.used.items() if wrong} == {}


def test_the_site_is_the_one_that_was_built(folder: Path) -> None:
    built = {path.relative_to(SITE).as_posix(): path for path in SITE.rglob("*") if path.is_file()}
    differ = [name for name, path in built.items() if (folder / "site" / name).read_bytes() != path.read_bytes()]
    assert differ == []


def test_search_finds_from_the_disk(folder: Path, offline: BrowserContext) -> None:
    page = offline.new_page()
    log = listen(page)
    page.goto(f"{(folder / 'site/search.html').as_uri()}?q=stride")
    found = page.locator("#search-results a[href*='p01-tensors']").first
    expect(found).to_be_visible()
    found.click()
    page.wait_for_url("**/p01-tensors.html*")
    settled(page)
    assert [*log.errors, *(url for url in log.requests if url.startswith("http"))] == []
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
    command = [sys.executable, "-c", RUN, "book/phases/p01-tensors.ipynb", str(CELLS)]
    done = subprocess.run(
        [*(alone if able else []), *command],
        cwd=folder / "notebooks",
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr + done.stdout[-2000:]
    assert Path(json.loads(done.stdout.splitlines()[-1])).is_relative_to(tmp_path)
