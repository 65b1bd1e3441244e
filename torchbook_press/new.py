"""Lays out a new chapter, and a new figure, as CONTRIBUTING describes them, in a form that works as it is."""

from __future__ import annotations

import re
import string
from pathlib import Path

from torchbook_press.chapters import TOC, Chapter, ChapterError, chapters

BLANK = Path(__file__).with_name("blank")
VIZ, TESTS = Path("torchbook/viz"), Path("tests/viz/models")


def lay_out(root: Path, part: str, name: str, title: str) -> Chapter:
    """Write the page of a new chapter and name it in the table of contents.

    Args:
        root: the book's folder.
        part: a folder of `book/` that has chapters, for instance "phases".
        name: the chapter's id, for instance "p11".
        title: from which the file's name is made, too.

    Raises:
        ChapterError: the part, the id or the title cannot be used, or there is such a chapter; nothing was written.
    """
    toc = root / TOC
    lines = toc.read_text(encoding="utf-8").splitlines(keepends=True) if toc.is_file() else []
    at = max((index for index, line in enumerate(lines) if f"file: book/{part}/" in line), default=-1)
    slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    if at < 0:
        parts = sorted({found[1] for line in lines if (found := re.search(r"file: book/(\w+)/", line))})
        raise ChapterError(f"no chapters in book/{part}; there are those of: {', '.join(parts) or 'none'}")
    if not re.fullmatch(r"[a-z][a-z0-9]*", name):
        raise ChapterError(f"{name!r} is no id of a chapter; write small letters and digits, such as p11")
    if not slug:
        raise ChapterError(f"no file can be named after the title {title!r}; write it with letters")
    ids = {chapter.contract.id.partition("-")[0]: chapter.shown for chapter in chapters(root)}
    if name in ids:
        raise ChapterError(f"{name} is there already: {ids[name]}; take another id")
    chapter = Chapter(root, f"book/{part}/{name}-{slug}")
    if chapter.path.exists():
        raise ChapterError(f"{chapter.shown} is there already; take another title")
    quoted = title if re.fullmatch(r"[A-Za-z][\w ,()-]*", title) else "'" + title.replace("'", "''") + "'"
    chapter.path.write_text(_filled("chapter.md", id=name, title=title, quoted=quoted), encoding="utf-8")
    first = next(line for line in lines if f"file: book/{part}/" in line)
    lines.insert(at + 1, f"{first.partition('file:')[0]}file: {chapter.docname}\n")
    toc.write_text("".join(lines), encoding="utf-8")
    return chapter


def _filled(blank: str, **fields: str) -> str:
    return string.Template((BLANK / f"{blank}.txt").read_text(encoding="utf-8")).substitute(fields)


def lay_out_figure(root: Path, name: str, title: str) -> list[Path]:
    """Write a figure that works: class, contract, module, test of its truth; and name its class in `torchbook.viz`.

    Args:
        root: the clone.
        name: of its module and folder, for instance "echo"; its class is `EchoFigure`.
        title: its spoken name.

    Returns:
        what was written or changed, relative to the clone.

    Raises:
        ChapterError: the name or the title cannot be used, or there is such a figure; nothing was written.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*", name):
        raise ChapterError(f"{name!r} is no name of a figure; write small letters and digits, such as echo")
    if not re.fullmatch(r"[^\"\\\n]+", title):
        raise ChapterError(f"{title!r} is no title; leave out quotation marks and backslashes")
    index = root / VIZ / "__init__.py"
    if not index.is_file():
        raise ChapterError(f"{index}: missing; run this in a clone of the book")
    files = {
        VIZ / f"{name}.py": "figure.py",
        VIZ / "src" / name / "setup.json": "setup.json",
        VIZ / "src" / name / "index.js": "index.js",
        TESTS / f"test_{name}.py": "test_figure.py",
    }
    there = [path for path in files if (root / path).exists()]
    if there:
        raise ChapterError(f"{there[0]} is there already; take another name")
    kind = f"{name.capitalize()}Figure"
    for path, blank in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(_filled(blank, name=name, kind=kind, title=title), encoding="utf-8")
    index.write_text(_with_import(index.read_text(encoding="utf-8"), name, kind), encoding="utf-8")
    return [*files, VIZ / "__init__.py"]


def _with_import(text: str, name: str, kind: str) -> str:
    """The package's text with one import more, in its alphabetical place."""
    lines = text.splitlines(keepends=True)
    new = f"    from torchbook.viz.{name} import {kind}\n"
    imports = [number for number, line in enumerate(lines) if line.startswith("    from torchbook.viz.")]
    at = next((number for number in imports if lines[number] > new), imports[-1] + 1)
    return "".join([*lines[:at], new, *lines[at:]])


def next_steps_of_figure(written: list[Path], name: str) -> str:
    """What to do with a figure that was laid out."""
    return "\n".join(
        (
            *map(str, written),
            f"1. make viz bundles it; .venv/bin/python -m pytest tests/viz -k {name} tries what every figure promises",
            f"2. write contract (setup.json), class and index.js; {TESTS / f'test_{name}.py'} holds them to PyTorch",
            f"3. a cell of a page shows it: from torchbook.viz import {name.capitalize()}Figure",
        )
    )


def next_steps(chapter: Chapter) -> str:
    """What to do with a chapter that was laid out."""
    name = chapter.contract.id
    return "\n".join(
        (
            f"{chapter.shown}, named in {TOC}",
            "1. write outcome, minutes (at most, on a CPU) and memory_gb into its front matter, then text and cells",
            f"2. .venv/bin/torchbook run {name}, with --fast at small sizes; make serve ONLY={name} shows the page",
            f'3. .venv/bin/torchbook exercises new {name} x1 "Title" lays an exercise out',
            "4. make check, then make test",
        )
    )
