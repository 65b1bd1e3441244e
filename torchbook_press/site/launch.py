"""Publish each chapter as a clean notebook, and point the Colab, Binder and download buttons at it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.util import docname_join

from torchbook.practice.exercise import Exercise, ExerciseError
from torchbook_press import seal
from torchbook_press.chapters import GPU_ONLY, Chapter
from torchbook_press.run import RUN, run_metadata
from torchbook_press.site.cells import practice_cells
from torchbook_press.site.contents import written
from torchbook_press.site.exercises import published
from torchbook_press.site.plain import Page, plain, split

# Binder promises 2 GiB; what is less than a tenth of a gigabyte beyond is for Jupyter's server.
BINDER_GB = 2.0
MORE_THAN_BINDER = "needs more memory than Binder gives"
_ROOM = 0.9  # peaks differ a little from run to run


def fits_binder(chapter: Chapter) -> bool:
    """Whether Binder has memory enough: by what the chapter's run took, else by what its contract allows."""
    peak = run_metadata(chapter).get("peak_gb")
    return bool(chapter.contract.memory_gb <= BINDER_GB or (peak is not None and peak <= _ROOM * BINDER_GB))


INSTALL = "install"  # id of the cell that no page has


def notebook(chapter: Chapter, page: Page, install: str, executed: NotebookNode | None = None) -> NotebookNode:
    """The notebook a learner opens: plain Markdown, no outputs, a first cell that installs torchbook where missing.

    Args:
        chapter: the source.
        page: what its roles stand for; names of glued numbers that it does not know stand in the text.
        install: what pip is given.
        executed: its run, if there is one, for how it ran.
    """
    cells = [_install_cell(install, chapter.contract.packages)]
    for index, cell in enumerate(chapter.notebook.cells):
        if cell.cell_type == "markdown":
            cells += _markdown(cell.source, f"cell-{index}", page)
        else:
            new = nbformat.v4.new_code_cell(cell.source, metadata=_metadata(cell.metadata.get("tags", [])))
            new.id = f"cell-{index}"
            cells.append(new)
    metadata = {
        "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
        "colab": {"provenance": [], "toc_visible": True},
        **({"torchbook": _how_it_ran(executed)} if executed and executed.metadata.get(RUN) else {}),
    }
    return nbformat.v4.new_notebook(cells=[cell for cell in cells if cell.source], metadata=metadata)


def _how_it_ran(executed: NotebookNode) -> dict[str, Any]:
    """How the outputs of the page came about, for cells that run in the page (`torchbook live`) and are compared."""
    record = executed.metadata[RUN]
    return {name: record[name] for name in ("parameters", "threads", "cell_seconds") if name in record}


def _markdown(source: str, cell_id: str, page: Page) -> list[NotebookNode]:
    """A Markdown cell, in pieces around the exercises in it, which become cells of their own."""
    cells = []
    for number, (kind, part) in enumerate(split(source, "exercise")):
        exercise = _exercise(part) if kind == "exercise" else None
        if exercise:
            cells += practice_cells(exercise)
        else:
            text = part if kind == "text" else f":::{{{kind}}} {part}\n:::"
            name = f"{cell_id}-{number}" if number else cell_id
            cells.append(nbformat.v4.new_markdown_cell(plain(text, page), id=name))
    return cells


def _exercise(exercise_id: str) -> Exercise | None:
    """An exercise that a page shows; the page itself has said it when there is none."""
    try:
        return published(exercise_id)
    except ExerciseError:
        return None


def _install_cell(install: str, packages: tuple[str, ...]) -> NotebookNode:
    requirements = {"torchbook": install} | {package: package for package in packages}
    source = (
        f"# Installs {' and '.join(requirements)} where missing; this platform's own torch is left as it is.\n"
        "from importlib.metadata import distributions\n\n"
        'there = {d.name.lower().replace("_", "-") for d in distributions() if d.name}\n'
        + "\n".join(
            f'if "{name}" not in there:\n    %pip install -q "{requirement}"'
            for name, requirement in requirements.items()
        )
    )
    return nbformat.v4.new_code_cell(source, id=INSTALL)


def _metadata(tags: list[str]) -> dict[str, Any]:
    folded = {"hide-input", "remove-input", "remove-cell"} & set(tags)
    metadata: dict[str, Any] = {"tags": tags} if tags else {}
    if folded:
        metadata |= {"jupyter": {"source_hidden": True}, "cellView": "form"}
    if GPU_ONLY in tags:
        # Without a GPU it raises; with this tag JupyterLab goes on to the next cell.
        metadata["tags"] = [*tags, "raises-exception"]
    return metadata


def glued_texts(nb: NotebookNode) -> dict[str, str]:
    """Texts that the run handed to the prose, by name."""
    texts = {}
    for cell in nb.cells:
        for output in cell.get("outputs", []):
            record = output.get("metadata", {}).get("scrapbook")
            if record:
                texts[record["name"]] = record["text"]
    return texts


def page_url(base: str, docname: str) -> str:
    """Address of a page on the published site."""
    return f"{base.rstrip('/')}/{docname}.html"


def page_of(app: Sphinx, docname: str, executed: NotebookNode | None) -> Page:
    """What the roles of a page stand for, with the titles that the book's places have now."""
    base = app.config.html_baseurl

    def lead(role: str, target: str) -> tuple[str, str] | None:
        if role == "doc":
            name = docname_join(docname, target)
            return (app.env.titles[name].astext(), page_url(base, name)) if name in app.env.titles else None
        places = app.env.get_domain("std").data
        name, anchor = places["anonlabels"].get(target, ("", ""))
        *_, title = places["labels"].get(target, (target,))
        return (str(title), f"{page_url(base, name)}#{anchor}") if name else None

    return Page(page_url(base, docname), glued_texts(executed) if executed else {}, lead)


def run_of(chapter: Chapter) -> NotebookNode | None:
    """What papermill made of a chapter; None where that cannot be read, as the page says."""
    try:
        return seal.read(chapter.executed)
    except (OSError, ValueError):
        return None


def publish(app: Sphinx, exception: Exception | None) -> None:
    """Write `notebooks/<docname>.ipynb` into the built site, of the pages that this build wrote."""
    if exception or app.builder.format != "html":
        return
    folder = Path(app.outdir, app.config.launch_notebooks["dir"])
    for docname in sorted(app.env.found_docs):
        chapter, out = Chapter(Path(app.srcdir), docname), folder / f"{docname}.ipynb"
        if docname not in written(app) and out.is_file():
            continue
        if not chapter.path.is_file() or not chapter.runs:
            continue
        executed = run_of(chapter)
        page = page_of(app, docname, executed)
        out.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook(chapter, page, app.config.launch_notebooks["install"], executed), out)


def relink(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """The theme's buttons name the `.md`; make them name the published notebook."""
    launch = app.config.launch_notebooks
    theme = app.config.html_theme_options.get("launch_buttons", {})
    repository = f"{context.get('github_user')}/{context.get('github_repo')}"
    path = f"{launch['dir']}/{pagename}.ipynb"
    for group in context.get("header_buttons", []):
        for button in group.get("buttons", []):
            if button.get("text") == "Colab":
                base = theme["colab_url"].rstrip("/")
                button["url"] = f"{base}/github/{repository}/blob/{launch['branch']}/{path}"
            elif button.get("text") == "Binder":
                base = theme["binderhub_url"].rstrip("/")
                button["url"] = f"{base}/v2/gh/{repository}/{launch['branch']}?urlpath=lab/tree/{path}"
                _mark(Chapter(Path(app.srcdir), pagename), button)
            elif button.get("label") == "download-notebook-button":
                button["url"] = context["pathto"](path, 1)


def _mark(chapter: Chapter, button: dict[str, Any]) -> None:
    """Say on Binder's button that the chapter needs more memory."""
    if chapter.path.is_file() and chapter.runs and not fits_binder(chapter):
        button["text"] += f": {MORE_THAN_BINDER}"
        button["tooltip"] += f", which has {BINDER_GB:g} GB: this chapter {MORE_THAN_BINDER}"


def _defaults(app: Sphinx, config: Any) -> None:
    """What `_config.yml` says once (repository and branch), here too unless it is said otherwise."""
    options = config.html_theme_options
    url = str(options.get("repository_url", "")).rstrip("/")
    branch = options.get("repository_branch", "main")
    install = f"torchbook @ git+{url}@{branch}"
    config.launch_notebooks = {"branch": "notebooks", "dir": "notebooks", "install": install} | config.launch_notebooks


def setup(app: Sphinx) -> None:
    app.add_config_value("launch_notebooks", {}, "html", [dict])
    app.connect("config-inited", _defaults)
    app.connect("html-page-context", relink, priority=900)  # the theme adds its buttons at 501
    app.connect("build-finished", publish)
