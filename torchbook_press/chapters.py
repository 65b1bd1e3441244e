"""A chapter as the press sees it: a MyST notebook, its contract, and the notebook that papermill runs."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal

import nbformat
import pydantic
import yaml
from nbformat import NotebookNode
from sphinx_external_toc.api import SiteMap
from sphinx_external_toc.parsing import MalformedError, parse_toc_yaml

from torchbook import front_matter
from torchbook.front_matter import FrontMatter, FrontMatterError
from torchbook_press import errors, evidence, varying
from torchbook_press.errors import GPU_ONLY
from torchbook_proofs import Key, Store, digest

TOC = "_toc.yml"
INDEX = "index"  # the first page of a chapter that is a folder
_CELL_FENCE = re.compile(r"^`{3,}\{code-cell\}")
_HEADING = re.compile(r"^# +(.*?) *$", re.MULTILINE)
LANGUAGE = "python"
PARAMETERS = ("DEVICE", "FAST", "SEED")
EXECUTED = "executed"  # folder of what the book's runs gave
_PARSED = "parsed"  # kind of proof: a text that is a chapter, and its cells
_SHOWN = "shown"  # kind of proof: code none of whose cells shows what is another in each run, without saying so


class ChapterError(Exception):
    """A chapter's source is not as it must be; the message names file, line and remedy."""


class Contract(pydantic.BaseModel):
    """What a chapter promises and asks for, from `torchbook:` in its front matter.

    `minutes` is the limit on the CPU lane, `memory_gb` the limit on the kernel and its children, `threads` how many
    threads torch gets (fixed, because results of floating-point sums depend on it), `data` the data sets it reads,
    `packages` what a launched notebook installs beside torchbook and torch.
    """

    model_config = pydantic.ConfigDict(extra="forbid", frozen=True)

    id: str = pydantic.Field(pattern=r"^[a-z][a-z0-9-]*$")
    title: str
    outcome: str
    needs: tuple[Literal["cpu", "gpu", "processes", "compiler", "network"], ...] = ("cpu",)
    minutes: float = pydantic.Field(gt=0)
    memory_gb: float = pydantic.Field(gt=0)
    threads: int = pydantic.Field(default=1, ge=1)
    data: tuple[str, ...] = ()
    packages: tuple[Annotated[str, pydantic.Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")], ...] = ()


@dataclass(frozen=True)
class Chapter:
    """One executable page: `root` is the book's folder, `docname` its path in it without suffix.

    `kept` is the folder in `root` that holds what papermill made of it.
    """

    root: Path
    docname: str
    kept: str = EXECUTED

    @property
    def path(self) -> Path:
        """The MyST source."""
        return self.root / f"{self.docname}.md"

    @property
    def executed(self) -> Path:
        """Where the press keeps what papermill made of it."""
        return self.root / self.kept / f"{self.docname}.ipynb"

    @property
    def shown(self) -> str:
        """The source's path as errors name it."""
        return f"{self.docname}.md"

    @cached_property
    def text(self) -> str:
        try:
            return self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise ChapterError(f"{self.shown}:1: listed in {TOC}, but there is no such file") from None
        except UnicodeDecodeError as error:
            raise ChapterError(f"{self.shown}:1: not UTF-8 ({error}); save it as UTF-8") from None

    @cached_property
    def _front(self) -> FrontMatter | None:
        try:
            return front_matter.read(self.text, self.shown)
        except FrontMatterError as error:
            raise ChapterError(str(error)) from None

    @cached_property
    def front_matter(self) -> dict[str, Any]:
        """The YAML block at the top, or nothing."""
        try:
            return self._front.fields if self._front else {}
        except FrontMatterError as error:
            raise ChapterError(str(error)) from None

    @property
    def runs(self) -> bool:
        """Whether the page is a notebook, not only prose."""
        return bool({"kernelspec", "torchbook", "file_format"} & self.front_matter.keys())

    @property
    def title(self) -> str:
        """What links call it: as its contract says, or, of prose, its first heading."""
        if self.runs:
            return self.contract.title
        heading = _HEADING.search(self.text)
        return heading[1] if heading else Path(self.docname).name

    @cached_property
    def contract(self) -> Contract:
        if self._front is None or not isinstance(self.front_matter.get("torchbook"), dict):
            raise ChapterError(f"{self.shown}:1: no `torchbook:` block in the front matter; give id, title, outcome, …")
        try:
            return self._front.validated(Contract, "torchbook")
        except FrontMatterError as error:
            raise ChapterError(str(error)) from None

    @cached_property
    def notebook(self) -> NotebookNode:
        """The notebook, converted by jupytext: sources and tags, no outputs. One that was well is kept (`_PARSED`)."""
        store = Store.default()
        key = Key(_PARSED, self.docname, {"text": hashlib.sha256(self.text.encode()).hexdigest(), **_parser()})
        cells = store.get(key)
        if cells is not None:
            return nbformat.from_dict(cells)
        notebook = self._parsed()
        with suppress(OSError):  # where there is no place for it, it is parsed each time
            store.put(key, notebook)
        return notebook

    def _parsed(self) -> NotebookNode:
        import jupytext

        if self.front_matter.get("file_format") != "mystnb":
            raise ChapterError(f"{self.shown}:1: a chapter's front matter says `file_format: mystnb`")
        try:
            nb = jupytext.reads(self.text, fmt="md:myst")
        except Exception as error:
            raise ChapterError(f"{self.shown}:1: jupytext cannot read it: {error}") from error
        spec = nb.metadata.get("kernelspec", {})
        if spec.get("language") != LANGUAGE:
            raise ChapterError(
                f"{self.shown}:1: kernelspec must be {{name: python3, display_name: Python 3, language: python}}"
            )
        self._check_swallowed(nb)
        self._check_parameters(nb)
        self._check_errors(nb)
        self._check_varying(nb)
        return nbformat.from_dict(nb)

    def _check_swallowed(self, nb: NotebookNode) -> None:
        """A fence whose first line is malformed (a backtick in its title, say) would take the next cells with it."""
        fences = [n for n, line in enumerate(self.text.splitlines(), 1) if _CELL_FENCE.match(line)]
        cells = sum(cell.cell_type == "code" for cell in nb.cells)
        if len(fences) != cells:
            raise ChapterError(
                f"{self.shown}:{fences[min(cells, len(fences) - 1)] if fences else 1}: {len(fences)} code cells are "
                f"written but {cells} are read; look for a fence that is not closed, or has a backtick in its title "
                "(use ':::{name}' there)"
            )

    def _check_parameters(self, nb: NotebookNode) -> None:
        cells = [c for c in nb.cells if c.cell_type == "code"]
        tagged = [c for c in cells if "parameters" in c.metadata.get("tags", [])]
        if len(tagged) != 1 or tagged[0] is not cells[0]:
            raise ChapterError(f"{self.shown}:1: the first code cell, and no other, must be tagged [parameters]")
        missing = [name for name in PARAMETERS if f"{name} =" not in tagged[0].source]
        if missing:
            raise ChapterError(f"{self.shown}:{self.line_of(0)}: the parameters cell must set {', '.join(missing)}")

    def _check_errors(self, nb: NotebookNode) -> None:
        for number, cell in enumerate(c for c in nb.cells if c.cell_type == "code"):
            problem = errors.unnamed(cell) or evidence.misplaced(cell)
            if problem:
                raise ChapterError(f"{self.shown}:{self.line_of(number)}: cell {number + 1}: {problem}")

    def _check_varying(self, nb: NotebookNode) -> None:
        """Refuse cells that show what is another in each run; code that was well once is, whatever the prose."""
        cells = [cell for cell in nb.cells if cell.cell_type == "code"]
        code = json.dumps([[cell.source, cell.metadata.get("tags", [])] for cell in cells])
        store = Store.default()
        key = Key(_SHOWN, self.docname, {"code": hashlib.sha256(code.encode()).hexdigest(), **_parser()})
        if store.get(key) is not None:
            return
        for number, sources in enumerate(varying.shown(cell.source for cell in cells)):
            if sources and varying.TAG not in cells[number].metadata.get("tags", []):
                where = f"{self.shown}:{self.line_of(number)}: cell {number + 1}"
                what = f"shows {', '.join(sorted(sources))}, which is another in each run"
                raise ChapterError(f"{where}: {what}: tag it [{varying.TAG}], or show what stays")
        with suppress(OSError):
            store.put(key, {})

    @property
    def code(self) -> list[str]:
        """Sources of the code cells, in order."""
        return [c.source for c in self.code_cells]

    @property
    def code_cells(self) -> list[NotebookNode]:
        """The code cells, in order."""
        return [c for c in self.notebook.cells if c.cell_type == "code"]

    @property
    def gpu_only(self) -> list[int]:
        """Which code cells, counted from 0, only a GPU runs."""
        return [n for n, c in enumerate(self.code_cells) if GPU_ONLY in c.metadata.get("tags", [])]

    @cached_property
    def _code_lines(self) -> list[int]:
        # Read only when a line must be named: the reader brings Sphinx with it.
        from myst_nb.core.read import read_myst_markdown_notebook

        nb = read_myst_markdown_notebook(self.text, add_source_map=True, path=str(self.path))
        return [line for cell, line in zip(nb.cells, nb.metadata.source_map, strict=True) if cell.cell_type == "code"]

    def line_of(self, code_cell: int) -> int:
        """Line, from 1, of the fence that opens a code cell, counted from 0."""
        return self._code_lines[code_cell] if code_cell < len(self._code_lines) else 1

    def first_line_of(self, code_cell: int) -> int:
        """Line, from 1, of the first line of a code cell's code, counted from 0: behind its fence and its options."""
        fence, code = self.line_of(code_cell), self.code[code_cell].split("\n")
        lines = [line.rstrip() for line in self.text.split("\n")]
        wanted = [line.rstrip() for line in code]
        for start in range(fence, len(lines)):
            if lines[start : start + len(wanted)] == wanted:
                return start + 1
        return fence


@cache
def _parser() -> dict[str, str]:
    """What turns a text into cells, and looks whether they are as they must be."""
    press = digest(*(Path(__file__).with_name(f"{name}.py") for name in ("chapters", "errors", "varying", "world")))
    return {"press": press, **{name: version(name) for name in ("jupytext", "nbformat")}}


@dataclass(frozen=True)
class Unit:
    """A chapter as readers count them: one page, or a folder's index and the pages below it in the table of contents.

    `id` is what exercises name as their `chapter`, `head` the page that a link to the chapter leads to, `members` all
    of its pages in the order of reading, the head first.
    """

    id: str
    head: Chapter
    members: tuple[Chapter, ...]

    @property
    def pages(self) -> tuple[Chapter, ...]:
        """Those of its pages that run."""
        return tuple(page for page in self.members if page.runs)

    @property
    def names(self) -> tuple[str, ...]:
        """What the whole is called on the command line."""
        folder = self.head.docname.removesuffix(f"/{INDEX}")
        return (self.id, *((folder, Path(folder).name) if len(self.members) > 1 else ()))


def _site(root: Path) -> SiteMap:
    try:
        return parse_toc_yaml(root / TOC)
    except FileNotFoundError:
        raise ChapterError(f"{TOC}:1: missing; run from the root of the book") from None
    except (MalformedError, yaml.YAMLError) as error:
        raise ChapterError(f"{TOC}:1: {error}") from None


def pages(root: Path) -> list[Chapter]:
    """All pages of the book, in the order of the table of contents.

    Raises:
        ChapterError: the table of contents is missing or malformed.
    """
    site = _site(root)
    return [Chapter(root, name) for name in site if not name.endswith((".ipynb", ".rst"))]


def units(root: Path) -> list[Unit]:
    """The chapters of the book of which a page runs, in their order.

    Raises:
        ChapterError: a page is malformed, its id is taken, or it is not one of its chapter's.
    """
    site, listed = _site(root), {page.docname: page for page in pages(root)}

    def below(docname: str) -> Iterator[Chapter]:
        if docname in listed:
            yield listed[docname]
        for tree in site[docname].subtrees:
            for item in tree.items:
                if item in site:
                    yield from below(str(item))

    opening = site.root.docname
    heads = [str(item) for tree in site.root.subtrees for item in tree.items if item in site]
    groups = [(listed[opening],) if opening in listed else (), *(tuple(below(head)) for head in heads)]
    found = [Unit(_id_of(members[0]), members[0], members) for members in groups if any(page.runs for page in members)]
    taken: dict[str, str] = {}
    for unit in found:
        for page in unit.pages:
            own = page.contract.id
            if own in taken:
                raise ChapterError(f"{page.shown}:1: id {own!r} is taken by {taken[own]}; ids are unique")
            if page is not unit.head and not own.startswith(f"{unit.id}-"):
                where = f"a page of {unit.head.shown}, whose pages have ids of the form {unit.id}-name"
                raise ChapterError(f"{page.shown}:1: id {own!r}: this is {where}")
            taken[own] = page.shown
        owner = taken.setdefault(unit.id, unit.head.shown)
        if owner != unit.head.shown:
            raise ChapterError(f"{unit.head.shown}:1: id {unit.id!r} is taken by {owner}; ids are unique")
    return found


def _id_of(head: Chapter) -> str:
    """A chapter's id: that of its first page, or, where this is prose, what its folder's name begins with."""
    if head.runs:
        return head.contract.id
    path = Path(head.docname)
    return (path.parent if path.name == INDEX else path).name.partition("-")[0]


def by_name(root: Path) -> dict[str, tuple[Chapter, ...]]:
    """Pages by what they are called on the command line: one by id, path or file, a whole chapter by id or folder.

    Raises:
        ChapterError: as `pages` and `units`.
    """
    found: dict[str, tuple[Chapter, ...]] = {}
    several = [unit for unit in units(root) if len(unit.members) > 1]
    for unit in several:
        found |= dict.fromkeys(unit.names, unit.members)
    inside = {page for unit in several for page in unit.members}
    for page in pages(root):
        identity = [page.contract.id] if page.runs else []
        file = [] if page in inside else [Path(page.docname).name]  # several folders may have such a file
        for name in (*identity, page.docname, page.shown, *file):
            found.setdefault(name, (page,))
    return found


def chapters(root: Path, names: tuple[str, ...] = ()) -> list[Chapter]:
    """The executable pages; with `names`, those that `by_name` calls so.

    Raises:
        ChapterError: a page is malformed, two share an id, or something named is not there.
    """
    executable = [page for unit in units(root) for page in unit.pages]
    if not names:
        return executable
    named = {name: group for name, group in by_name(root).items() if any(page.runs for page in group)}
    unknown = [name for name in names if name not in named]
    if unknown:
        ids = ", ".join(page.contract.id for page in executable)
        raise ChapterError(f"no chapter {', '.join(unknown)}; there are: {ids}")
    wanted = {page for name in names for page in named[name]}
    return [page for page in executable if page in wanted]
