"""What `torchbook drift` starts in an environment: the chapters run there, and what came of each is written down."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from rich.console import Console

from torchbook_press import run as press
from torchbook_press import seal
from torchbook_press.chapters import Chapter, chapters
from torchbook_press.execute import DEPRECATIONS, Failure
from torchbook_press.ship.comparison import FAILED, LACKING, PASSED

_OURS = re.compile(rf"torchbook/\S+\.py:\d+: (?:{'|'.join(DEPRECATIONS)}): .*")


def main(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Run what is asked for; a row for each chapter."""
    candidates = [replace(chapter, kept=request["kept"]) for chapter in chapters(Path(request["root"]))]
    selected = [chapter for chapter in candidates if chapter.contract.id in request["chapters"]]
    options = press.Options(fast=request["fast"], jobs=request["jobs"], patience=request["patience"])
    report = press.run(selected, options, Console())
    failures = {failure.docname: failure for failure in report.failed}
    return [
        row(chapter, failures.get(chapter.docname), report.lacking.get(chapter.docname, "")) for chapter in selected
    ]


def row(chapter: Chapter, failure: Failure | None, lacks: str) -> dict[str, Any]:
    """What came of a chapter."""
    if lacks:
        return {"chapter": chapter.contract.id, "status": LACKING, "note": lacks}
    failure = failure or deprecated(chapter)
    if failure:
        return {
            "chapter": chapter.contract.id,
            "status": FAILED,
            "file": chapter.shown,
            "line": failure.line,
            "cell": failure.cell,
            "error": failure.reason,
        }
    run = press.run_metadata(chapter)
    took = {"seconds": run["seconds"], "peak_gb": run["peak_gb"]}
    return {"chapter": chapter.contract.id, "status": PASSED, **took}


def deprecated(chapter: Chapter) -> Failure | None:
    """The first deprecation that did not end the run: in a cell that may raise, or in the book's own package."""
    executed = seal.read(chapter.executed)
    cells = [cell for cell in executed.cells if cell.cell_type == "code" and not _injected(cell)]
    for index, cell in enumerate(cells):
        for output in cell.outputs:
            message = _deprecation(output)
            if message:
                return Failure(chapter.docname, chapter.line_of(index), index + 1, message)
    return None


def _injected(cell: NotebookNode) -> bool:
    return "injected-parameters" in cell.metadata.get("tags", [])


def _deprecation(output: NotebookNode) -> str:
    if output.output_type == "error" and output.ename in DEPRECATIONS:
        return f"{output.ename}: {output.evalue}"
    if output.output_type == "stream" and output.name == "stderr":
        ours = _OURS.search(output.text)
        return ours[0] if ours else ""
    return ""


if __name__ == "__main__":
    asked = json.loads(sys.argv[1])
    Path(asked["report"]).write_text(json.dumps(main(asked)), encoding="utf-8")
