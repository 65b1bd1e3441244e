"""Pages keep the room that a live figure takes."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbformat.v4 import new_output

from torchbook_press.chapters import ChapterError
from torchbook_press.normal import WIDGET_VIEW
from torchbook_press.site import rooms
from torchbook_press.site.mount import Page, static_output


def test_heights_are_read_as_they_were_written(tmp_path: Path) -> None:
    (tmp_path / "book").mkdir()
    rooms.write(tmp_path, {"book/p": {"model000": (620, 771), "model001": (500, 640)}})
    assert rooms.of_page(tmp_path, "book/p") == {"model000": (620, 771), "model001": (500, 640)}
    assert rooms.of_page(tmp_path, "book/q") == {}


def test_a_book_that_was_never_measured_keeps_no_room(tmp_path: Path) -> None:
    assert rooms.of_page(tmp_path, "book/p") == {}


@pytest.mark.parametrize("text", ["- 1", "book/p: 3", "book/p: {model000: [1]}", "book/p: {model000: [a, b]}", "a: ["])
def test_another_table_is_named_with_the_remedy(tmp_path: Path, text: str) -> None:
    (tmp_path / "book").mkdir()
    (tmp_path / rooms.FILE).write_text(text)
    with pytest.raises(ChapterError, match=r"rooms\.yml: no table of heights .*`torchbook rooms` writes it"):
        rooms.of_page(tmp_path, "book/p")


def test_the_figure_bears_its_room() -> None:
    state = {"model_module": "anywidget", "state": {"_esm": "export default {}", "words": "A figure."}}
    output = new_output("display_data", {WIDGET_VIEW: {"model_id": "model000"}})
    for heights, style in ({"model000": (620, 771)}, 'style="--room:620px;--room-narrow:771px"'), ({}, ""):
        html = static_output(output, Page({"model000": state}, heights), pytest.fail).data["text/html"]
        assert f'data-kind="anywidget"{style and " " + style}>' in html
