"""A visualizer in JupyterLab with a kernel: what the reader does reaches Python, and Python moves the picture."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator

import nbformat
import pytest
import urllib3
from playwright.sync_api import Browser, Locator, Page, expect

from torchbook import viz

SHOW = """\
import ipywidgets
from torchbook.viz import StrideExplorer

w = StrideExplorer((2, 3))
kernel = ipywidgets.Label("kernel heard nothing")

def heard(_):
    kernel.value = f"kernel: shape {tuple(w.size)} stride {tuple(w.stride)} selected {w.selected} steps {len(w.ops)}"

w.observe(heard, ["ops", "selected"])
display(w, kernel)
"""
SET = """\
w.ops = [("t",), ("select", 0, 1)]
w.selected = [1]
"""
REFUSED = "w.ops = [('t',), ('view', -1)]"

ALL = """\
import os

os.environ["KINETO_LOG_LEVEL"] = "99"
import torch
from torch.profiler import ProfilerActivity, profile
from torchbook import viz
from torchbook.llm import GPT, Config, characters

x = torch.tensor([1.0, 2.0], requires_grad=True)
with profile(activities=[ProfilerActivity.CPU]) as prof:
    (x.sin() * x).sum().backward()

silent = {name for name in viz.__all__ if name[0].isupper()}

def listening(figure):
    figure.observe(lambda change: silent.discard(type(figure).__name__))
    return figure
"""
# What a figure is made of, where it is made of something.
ARGUMENTS = {
    "AttentionExplorer": "['to', 'be', 'or'], torch.eye(3).expand(2, 2, 3, 3)",
    "AutogradExplorer": "lambda: (x * x).sum(), params={'x': x}",
    "DispatchRoute": "viz.record_dispatch()",
    "LivingModel": "GPT(Config(vocab_size=4, width=16)), characters('abcd'), 'abcd'",
    "TokenizerExplorer": "[(b't', b'o'), (b'b', b'e')]",
    "TraceExplorer": "prof",
}
FIGURES = [name for name in viz.__all__ if name[0].isupper()]
SHOWN = [f"listening(viz.{name}({ARGUMENTS.get(name, '')}))" for name in FIGURES]
SILENT = 'print("silent:", sorted(silent))'
NOTEBOOKS = {"live": (SHOW, SET, REFUSED), "all": (ALL, *SHOWN, SILENT)}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a JupyterLab opens its notebooks."""
    home = tmp_path_factory.mktemp("lab")
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    for name, codes in NOTEBOOKS.items():
        cells = [nbformat.v4.new_code_cell(code) for code in codes]
        nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), home / f"{name}.ipynb")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folders = {f"JUPYTER_{kind}_DIR": str(home / kind.lower()) for kind in ("CONFIG", "DATA", "RUNTIME")}
    environment = {**os.environ, **folders, "IPYTHONDIR": str(home / "ipython"), "OMP_NUM_THREADS": "1"}
    settings = home / "config" / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    (settings / "notification.jupyterlab-settings").write_text('{"fetchNews": "false", "checkForUpdates": false}')
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}",
        "--ServerApp.port_retries=0", "--IdentityProvider.token=", f"--ServerApp.root_dir={home}",
    ]  # fmt: skip
    log = home / "server.log"
    with log.open("w") as out, subprocess.Popen(command, cwd=home, env=environment, stdout=out, stderr=out) as server:
        address = f"http://127.0.0.1:{port}"
        retry = urllib3.Retry(60, connect=60, backoff_factor=0.2, backoff_max=0.5, status_forcelist=[404, 500, 503])
        try:
            urllib3.PoolManager().request("GET", f"{address}/api/status", retries=retry, timeout=30)
        except urllib3.exceptions.HTTPError:
            server.kill()
            pytest.fail(f"JupyterLab did not start:\n{log.read_text()[-2000:]}")
        yield f"{address}/lab/workspaces"
        server.terminate()


@pytest.fixture
def notebook(browser: Browser, lab: str, request: pytest.FixtureRequest) -> Iterator[Page]:
    """One of the notebooks, `live` unless a test asks for another, with its kernel."""
    context = browser.new_context(viewport={"width": 1280, "height": 1800}, reduced_motion="reduce")
    context.set_default_timeout(60_000)
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(f"{error}\n{error.stack}"))
    name = getattr(request, "param", "live")
    page.goto(f"{lab}/{name}/tree/{name}.ipynb")  # a workspace of its own: no other notebook is open
    page.locator(".jp-Notebook .jp-CodeCell").first.wait_for()
    expect(page.get_by_role("button", name="Python 3 (ipykernel) | Idle")).to_be_visible(timeout=60_000)
    yield page
    context.close()
    assert complaints == []


def run_cell(page: Page, number: int) -> None:
    page.locator(".jp-CodeCell .cm-content").nth(number).click()
    page.keyboard.press("Shift+Enter")


def unfold(figure: Locator) -> None:
    """Open the figure's drawer."""
    figure.locator(".tbviz-drawer").evaluate("drawer => { drawer.open = true; }")


def use(figure: Locator) -> None:
    """As a reader who tries things: a button, a field, a slider and a place in the picture by key, a choice."""
    unfold(figure)
    for button in figure.locator("button:enabled:visible:not([aria-disabled='true'])").all()[:1]:
        button.click()
    for text in figure.locator("input:not([type]), [type=text], [type=search]").all()[:1]:
        text.fill("out of memory")
    for moved in ("input[type=range]", "[tabindex='0']", "select"):
        for control in figure.locator(f"{moved}:visible").all()[:1]:
            control.press("ArrowDown" if moved == "select" else "ArrowRight")
    for head in figure.locator(".at-head").all()[1:2]:
        head.click()


def test_reader_and_kernel_share_one_state(notebook: Page) -> None:
    page = notebook
    run_cell(page, 0)
    figure = page.locator(".tbviz")
    kernel = page.locator(".widget-label", has_text="kernel")
    expect(figure.locator(".sx-facts")).to_contain_text("(2, 3)", timeout=60_000)
    expect(kernel).to_have_text("kernel heard nothing")

    # By keyboard: JupyterLab, which has arrow keys of its own, must not take them.
    figure.locator('[data-at="0,0"]').click()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(kernel).to_have_text("kernel: shape (2, 3) stride (3, 1) selected [1, 1] steps 0")

    # By a drag.
    unfold(figure)
    figure.get_by_role("button", name="as_strided").click()
    slider = figure.get_by_role("slider", name="dim 1 size")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] - 9, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 4, box["y"] + box["height"] / 2, steps=5)
    page.mouse.up()
    expect(kernel).to_have_text("kernel: shape (2, 1) stride (3, 1) selected [1, 0] steps 1")
    expect(figure.locator(".sx-facts")).to_contain_text("(2, 1)")

    # From Python.
    run_cell(page, 1)
    expect(figure.locator(".sx-program code")).to_have_count(3)
    expect(figure.locator(".sx-facts")).to_contain_text("(2,)")
    expect(figure.locator(".sx-sum .big")).to_have_text("x[1] = storage[1 + 1×3] = storage[4] = 4")
    expect(kernel).to_have_text("kernel: shape (2,) stride (3,) selected [1] steps 2")

    # What torch refuses, the widget refuses, and nothing changes.
    run_cell(page, 2)
    expect(page.locator(".jp-OutputArea-output").filter(has_text="RuntimeError")).to_contain_text("view size is not")
    expect(figure.locator(".sx-program code")).to_have_count(3)


@pytest.mark.parametrize("notebook", ["all"], indirect=True)
def test_every_visualizer_answers_and_tells_the_kernel(notebook: Page) -> None:
    page = notebook
    run_cell(page, 0)
    for number, code in enumerate(SHOWN, 1):
        run_cell(page, number)
        figure = page.locator(".jp-CodeCell").nth(number).locator(".tbviz")
        expect(figure, code).to_be_visible(timeout=60_000)
        use(figure)
    run_cell(page, len(SHOWN) + 1)
    expect(page.locator(".jp-OutputArea-output").filter(has_text="silent:")).to_have_text("silent: []")
