"""The same results are the same bytes."""

import sys
import time
from pathlib import Path

import nbformat
import pytest

from torchbook_press.normal import normalise

from .conftest import Book, cell
from .stable import stable_outputs
from .test_execute import run


def test_a_second_run_gives_the_same_bytes(book: Book) -> None:
    parts = (
        cell("object()"),
        cell("import ipywidgets as w; w.VBox([w.IntSlider(), w.Text()])", "remove-output"),
        cell("import plotly.graph_objects as go; go.Figure(go.Scatter(y=[1, 2]))"),
        cell("for i in range(500): print(i, flush=True)"),
        cell("{word for word in 'to be or not to be'.split()}"),
        cell("import warnings; warnings.warn('careful')", "stderr"),
    )
    assert run(book, *parts).notebook == run(book, *parts).notebook


def test_address_in_a_name_is_removed() -> None:
    output = nbformat.v4.new_output("stream", text="<object at 0x7f00deadbeef> and 0x7f00deadbeef")
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x", outputs=[output])])
    assert normalise(nb).cells[0].outputs[0].text == "<object> and 0x7f00deadbeef"


def test_long_data_are_not_searched_for_paths_from_each_of_their_slashes() -> None:
    output = nbformat.v4.new_output("display_data", {"text/plain": ("A" * 63 + "/") * 10_000})
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("x", outputs=[output])])
    before = time.process_time()
    normalise(nb)
    assert time.process_time() - before < 3  # seconds; it was a minute, with the square of the length


def test_paths_of_this_machine_are_removed(book: Book) -> None:
    outcome = run(book, cell("import json; json.__file__"))
    assert outcome.notebook
    assert "python3." in outcome.notebook
    assert sys.prefix not in outcome.notebook
    assert sys.base_prefix not in outcome.notebook


@pytest.mark.parametrize(("tags", "kept"), [([], 1), (["varies"], 0)])
def test_outputs_that_vary_are_left_out_of_the_comparison(tags: list[str], kept: int) -> None:
    output = nbformat.v4.new_output("stream", text="3.1 s")
    new = nbformat.v4.new_code_cell("x", outputs=[output], metadata={"tags": tags})
    assert len(stable_outputs(nbformat.v4.new_notebook(cells=[new]))[0]) == kept


def test_frames_inside_libraries_become_one_line() -> None:
    frames = ["\x1b[36mFile \x1b[39m\x1b[32m/opt/lib/site-packages/torch/a.py:1\x1b[39m", "File /opt/python3.11/b.py:2"]
    shown = ["-----", "Cell In[1], line 1", *frames, "Cell In[1], line 3", "ValueError: too many"]
    error = nbformat.v4.new_output("error", ename="ValueError", evalue="too many", traceback=shown)
    made = normalise(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("f()", outputs=[error])]))
    left = made.cells[0].outputs[0].traceback
    assert left == [*shown[:2], "(2 frames inside libraries)\n", *shown[4:]]


def test_frames_of_the_package_say_no_folder_of_this_machine(repo: Path) -> None:
    frame = f"File {repo / 'torchbook' / 'llm' / 'model.py'}:330, in GPT.forward(self)"
    error = nbformat.v4.new_output("error", ename="ValueError", evalue="too many", traceback=[frame])
    made = normalise(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("f()", outputs=[error])]))
    assert made.cells[0].outputs[0].traceback == ["File torchbook/llm/model.py:330, in GPT.forward(self)"]
