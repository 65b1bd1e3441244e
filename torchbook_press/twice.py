"""Whether a chapter gives the same bytes again: `torchbook run --twice`.

Every cell that is not tagged `varies` must: what a page says of its outputs would else hold for one run alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from nbformat import NotebookNode
from rich.console import Console

from torchbook_press import run as press
from torchbook_press import seal
from torchbook_press.chapters import Chapter
from torchbook_press.normal import WIDGET_VIEW, own_cells, widget_models
from torchbook_press.run import Options, Report
from torchbook_press.varying import TAG

FOLDER = "_build/twice"
_MODEL = re.compile(r"IPY_MODEL_(\w+)")
_SHOWN = 120  # characters of an output


def run(chapters: list[Chapter], options: Options, console: Console) -> tuple[Report, list[str]]:
    """Run chapters a second time, beside what they gave before; the report, and the cells that differ."""
    again = [replace(chapter, kept=FOLDER) for chapter in chapters]
    report = press.run(again, replace(options, force=True), console)
    pairs = [pair for pair in zip(chapters, again, strict=True) if pair[1].docname in report.ran]
    return report, [line for chapter, second in pairs for line in differing(chapter, second)]


def differing(chapter: Chapter, second: Chapter) -> Iterator[str]:
    """The cells whose outputs differ between two runs, with file, line and the first words that do."""
    before, after = seal.read(chapter.executed), seal.read(second.executed)
    for number, (cell, one, two) in enumerate(
        zip(chapter.code_cells, own_cells(before), own_cells(after), strict=True)
    ):
        if TAG in cell.metadata.get("tags", []):
            continue
        first, other = _content(before, one), _content(after, two)
        if first != other:
            where = f"{chapter.shown}:{chapter.line_of(number)}: cell {number + 1}"
            yield f"{where}: {_difference(first, other)}; mend it, or tag it [{TAG}]"


def _content(nb: NotebookNode, cell: NotebookNode) -> str:
    """A cell's outputs, and the states of the figures in them, as text."""
    states = widget_models(nb)
    views = (output.get("data", {}).get(WIDGET_VIEW) for output in cell.outputs)
    models = list(_reachable((view["model_id"] for view in views if view), states))
    numbers = {model: f"figure{number}" for number, model in enumerate(models)}
    text = json.dumps([cell.outputs, [states[model] for model in models]], sort_keys=True, indent=0)
    return re.sub("|".join(map(re.escape, numbers)) or "(?!)", lambda match: numbers[match[0]], text)


def _reachable(models: Iterable[str], states: Mapping[str, Any]) -> Iterator[str]:
    queue, reached = list(models), set()
    while queue:
        model = queue.pop(0)
        if model in states and model not in reached:
            reached.add(model)
            yield model
            queue += _MODEL.findall(json.dumps(states[model], sort_keys=True))


def _difference(first: str, second: str) -> str:
    one, two = first.splitlines(), second.splitlines()
    place = next((n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    was, now = (" ".join(lines[place : place + 1])[:_SHOWN] for lines in (one, two))
    return f"{was or 'nothing'} the first time, {now or 'nothing'} the second"
