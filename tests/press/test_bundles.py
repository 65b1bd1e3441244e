"""Figures' scripts: a run is kept without them, and what is printed has them as they are now."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from torchbook_press import bundles
from torchbook_press.normal import WIDGET_STATE


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Bundles of two figures."""
    monkeypatch.setattr(bundles, "_FOLDER", tmp_path)
    for name in ("stride", "ring"):
        (tmp_path / f"{name}.js").write_text(f"export default '{name}';")
    return tmp_path


def notebook(*modules: str) -> NotebookNode:
    models = {f"model{n}": {"state": {"_esm": text, "words": "Two rows."}} for n, text in enumerate(modules)}
    nb = nbformat.v4.new_notebook()
    nb.metadata["widgets"] = {WIDGET_STATE: {"state": models}}
    return nb


def modules(nb: NotebookNode) -> list[str]:
    return [model["state"]["_esm"] for model in nb.metadata["widgets"][WIDGET_STATE]["state"].values()]


def test_the_name_of_a_bundle_stands_for_its_text(folder: Path) -> None:
    kept = bundles.leave_out(notebook("export default 'stride';", "export default 'ring';"))
    assert modules(kept) == ["torchbook:bundle:stride", "torchbook:bundle:ring"]


def test_what_is_printed_has_the_text_as_it_is_now(folder: Path) -> None:
    kept = bundles.leave_out(notebook("export default 'stride';"))
    (folder / "stride.js").write_text("export default 'new';")
    assert modules(bundles.put_back(kept)) == ["export default 'new';"]


def test_a_module_of_a_chapter_s_own_stays(folder: Path) -> None:
    kept = bundles.leave_out(notebook("export default {};"))
    assert modules(bundles.put_back(kept)) == ["export default {};"]


def test_a_figure_is_named_by_its_class_when_its_bundle_was_made_anew_during_the_run(folder: Path) -> None:
    nb = notebook("export default 'as the kernel read it';")
    (state,) = (model["state"] for model in nb.metadata["widgets"][WIDGET_STATE]["state"].values())
    state["_anywidget_id"] = "torchbook.viz.stride.StrideExplorer"
    assert modules(bundles.leave_out(nb)) == ["torchbook:bundle:stride"]


def test_all_else_of_the_state_stays(folder: Path) -> None:
    (model,) = (
        bundles.leave_out(notebook("export default 'stride';")).metadata["widgets"][WIDGET_STATE]["state"].values()
    )
    assert model["state"]["words"] == "Two rows."


def test_a_bundle_that_is_gone_is_named_with_the_remedy(folder: Path) -> None:
    kept = bundles.leave_out(notebook("export default 'stride';"))
    (folder / "stride.js").unlink()
    with pytest.raises(FileNotFoundError, match=r"stride\.js is missing: `make viz` bundles it"):
        bundles.put_back(kept)


def test_a_page_is_printed_again_when_one_of_its_bundles_changes(folder: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran.ipynb"
    nbformat.write(bundles.leave_out(notebook("export default 'stride';")), ran)
    assert bundles.named(ran) == [folder / "stride.js"]


def test_a_page_that_never_ran_has_none(tmp_path: Path) -> None:
    assert bundles.named(tmp_path / "ran.ipynb") == []


def test_a_notebook_without_widgets_is_left_as_it_is() -> None:
    nb = nbformat.v4.new_notebook()
    assert bundles.put_back(bundles.leave_out(nb)) == nbformat.v4.new_notebook()
