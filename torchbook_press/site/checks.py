"""What a page folds into quiet lines, unlike its notebook: its set-up, the checks of a cell, the frames of an error."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx

from torchbook_press.chapters import Chapter
from torchbook_press.run import run_metadata

_CALLS = ("holds", "glue")
_RAISED = re.compile(r"(?P<error>\w+) +Traceback \(most recent call last\)")  # as IPython begins


def split(source: str) -> tuple[str, str]:
    """A cell's code in two: what a reader would write, and its last assertions, `holds` and `glue`.

    They stand at its end, or just before the expression that it shows.
    """
    try:
        statements = ast.parse(source).body
    except SyntaxError:  # IPython's own lines
        return source, ""
    lines = source.splitlines()
    last = statements[-1] if statements else None
    displayed = isinstance(last, ast.Expr) and not _is_check(last)  # what the cell shows may stand behind its checks
    end = last.lineno - 1 if last is not None and displayed else len(lines)
    start = end
    for statement in reversed(statements[:-1] if displayed else statements):
        if not _is_check(statement):
            break
        start = statement.lineno - 1
    while 0 < start < end and lines[start - 1].lstrip().startswith("#"):
        start -= 1
    if start == end:
        return source, ""
    shown = ("\n".join(lines[:start]).rstrip(), "\n".join(lines[end:]))
    return "\n".join(filter(None, shown)), "\n".join(lines[start:end]).strip("\n")


def _is_check(statement: ast.stmt) -> bool:
    match statement:
        case ast.Assert():
            return True
        case ast.Expr(value=ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name))):
            return name in _CALLS or name.startswith("assert_")
        case ast.For(body=body, orelse=[]) | ast.If(body=body, orelse=[]) | ast.With(body=body):
            return all(map(_is_check, body))
    return False


def summary(checks: str) -> str:
    """What the line says: "3 checks", "2 checks and 1 number for the text"."""
    calls = [statement for statement in ast.walk(ast.parse(checks)) if isinstance(statement, ast.Assert | ast.Expr)]
    glued = sum(isinstance(call, ast.Expr) and _name(call) == "glue" for call in calls)
    counts = ((len(calls) - glued, "check"), (glued, "number"))
    parts = [f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in counts if count]
    return " and ".join(parts) + (" for the text" if glued else "")


def _name(statement: ast.Expr) -> str:
    function = statement.value.func if isinstance(statement.value, ast.Call) else None
    return getattr(function, "id", getattr(function, "attr", ""))


def fold(app: Sphinx, doctree: nodes.document) -> None:
    """Fold a page's set-up, the checks of all its cells and the frames of their errors."""
    fold_set_up(doctree, run_metadata(Chapter(Path(app.srcdir), app.env.docname)).get("parameters", {}))
    fold_frames(doctree)
    for container in doctree.findall(nodes.container):
        if container.get("nb_element") != "cell_code_source":
            continue
        for block in [child for child in container.children if isinstance(child, nodes.literal_block)]:
            shown, checks = split(block.astext())
            if checks:
                container.replace(block, [*([_block(block, shown)] if shown else []), *_folded(block, checks)])


def fold_frames(doctree: nodes.Element) -> None:
    """Show an error's message first, and fold where it was raised: its frames repeat the cell above them."""
    for block in [block for block in doctree.findall(nodes.literal_block) if "traceback" in block["classes"]]:
        frames, message = split_traceback(block.astext())
        if frames:
            block.parent.replace(
                block, [_block(block, message), _opening("Traceback"), _block(block, frames), _closing()]
            )


def split_traceback(text: str) -> tuple[str, str]:
    """The frames of a traceback, and its message; no frames where it is not IPython's, as that of a syntax error."""
    raised = _RAISED.search(text)
    at = text.rfind(f"\n{raised['error']}:") if raised else -1
    return (text[:at].strip("\n"), text[at:].strip("\n")) if at >= 0 else ("", text)


def fold_set_up(doctree: nodes.Element, given: Mapping[str, object]) -> None:
    """Fold the parameters, and the cells right after them that show nothing: they are no part of the page's story.

    The line names the parameters that the run was `given` in place of those that the page's cell sets.
    """
    for cell in list(doctree.findall(nodes.container)):
        if "tag_parameters" in cell["classes"] and _is_silent(cell):
            parent, first = cell.parent, cell.parent.index(cell)
            silent = list(takewhile(_is_silent, parent.children[first:]))
            for each in silent:
                each.attributes.pop("hide_mode", None)  # one fold is enough
            line = f"Set-up of this page{_others(cell.astext(), given)}"
            parent[first : first + len(silent)] = [_opening(line), *silent, _closing()]


def _others(source: str, given: Mapping[str, object]) -> str:
    """The parameters that differ from those a cell sets: " (run here with FAST = True)". The foot names the device."""
    others = []
    for statement in ast.parse(source).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=value)):
                if name != "DEVICE" and given.get(name, value) != value:
                    others.append(f"{name} = {given[name]!r}")
    return f" (run here with {', '.join(others)})" if others else ""


def _is_silent(node: nodes.Node) -> bool:
    """Whether this is a code cell without outputs."""
    if not isinstance(node, nodes.container) or node.get("nb_element") != "cell_code":
        return False
    parts = (part for part in node.children if isinstance(part, nodes.container))
    return all(part.get("nb_element") != "cell_code_output" for part in parts)


def _folded(block: nodes.literal_block, checks: str) -> list[nodes.Node]:
    return [_opening(summary(checks)), _block(block, checks), _closing()]


def _opening(line: str) -> nodes.raw:
    return nodes.raw("", f'<details class="checks"><summary>{line}</summary>', format="html")


def _closing() -> nodes.raw:
    return nodes.raw("", "</details>", format="html")


def _block(block: nodes.literal_block, text: str) -> nodes.literal_block:
    new = nodes.literal_block(text, text, **block.attributes)
    new.source, new.line = block.source, block.line
    return new


def setup(app: Sphinx) -> None:
    app.connect("doctree-read", fold)
