"""Large buffers of figures lie beside the page, in scripts that it loads later."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from nbformat.v4 import new_output

from torchbook_press.normal import WIDGET_VIEW
from torchbook_press.site import aside
from torchbook_press.site.mount import Page, static_output

LARGE = base64.b64encode(bytes(range(256)) * 400).decode()
SMALL = base64.b64encode(b"few").decode()


def html(buffers: list[dict[str, Any]], folder: Path | None) -> str:
    """A figure on a page."""
    state = {"_esm": "export default {}", "words": "A figure."}
    model = {"model_module": "anywidget", "state": state, "buffers": buffers}
    output = new_output("display_data", {WIDGET_VIEW: {"model_id": "model000"}})
    return str(static_output(output, Page({"model000": model}, aside=folder), pytest.fail).data["text/html"])


def buffer(data: str, *path: str) -> dict[str, Any]:
    return {"encoding": "base64", "path": [*path], "data": data}


def test_a_large_buffer_is_not_in_the_page(tmp_path: Path) -> None:
    page = html([buffer(LARGE, "weights"), buffer(SMALL, "mark")], tmp_path)
    assert LARGE not in page
    assert SMALL in page
    (name,) = aside.named(page)
    text = (tmp_path / f"{name}.js").read_text(encoding="utf-8")
    assert text == f"(globalThis.vizAside ??= {{}})[{json.dumps(name)}] = {json.dumps(LARGE)};\n"
    assert [path.name for path in tmp_path.iterdir()] == [f"{name}.js"]


def test_small_and_nested_buffers_stay_where_they_were(tmp_path: Path) -> None:
    page = html([buffer(SMALL, "mark"), buffer(LARGE, "all", "weights")], tmp_path)
    assert SMALL in page
    assert LARGE in page
    assert aside.named(page) == []
    assert [*tmp_path.iterdir()] == []


def test_without_a_folder_all_stay() -> None:
    assert LARGE in html([buffer(LARGE, "weights")], None)


def test_other_contents_have_another_name(tmp_path: Path) -> None:
    names = {aside.put(tmp_path, text) for text in (LARGE, LARGE[:-4], LARGE)}
    assert len(names) == len([*tmp_path.iterdir()]) == 2
