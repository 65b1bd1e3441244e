"""Lays out a new chapter as CONTRIBUTING describes it: its page with a contract, and its place in the contents."""

from __future__ import annotations

import re
import string
from pathlib import Path

from torchbook_press.chapters import TOC, Chapter, ChapterError, chapters

_PAGE = string.Template("""\
---
file_format: mystnb
kernelspec: {name: python3, display_name: Python 3, language: python}
torchbook:
  id: $id
  title: $title
  outcome: Say in one sentence what the reader can do afterwards.
  minutes: 2
  memory_gb: 2
---

# $title

What this chapter is about, and what it needs from earlier ones.

```{code-cell} ipython3
:tags: [parameters]

DEVICE = "auto"
FAST = False
SEED = 0
```

```{code-cell} ipython3
from torchbook import glue, holds
from torchbook.runtime import seed_everything

seed_everything(SEED)
```

## The first question

A number in the text is one that a cell measured, here {glue:text}`$name-sum`, and a comparison rests on one:
{holds}`more than two <$name-more>`.

```{code-cell} ipython3
total = 1 + 2
glue("$name-sum", total)
holds("$name-more", total, ">", 2)
```

## Exercises
""")


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
    page = _PAGE.substitute(id=name, name=name, title=quoted).replace(f"# {quoted}\n", f"# {title}\n")
    chapter.path.write_text(page, encoding="utf-8")
    first = next(line for line in lines if f"file: book/{part}/" in line)
    lines.insert(at + 1, f"{first.partition('file:')[0]}file: {chapter.docname}\n")
    toc.write_text("".join(lines), encoding="utf-8")
    return chapter


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
