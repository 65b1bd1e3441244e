"""Links inside the site lead somewhere; the buttons of a chapter lead to its notebook and its source."""

from __future__ import annotations

import functools
import re
from collections import Counter
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import yaml

from tests.site.built import Site
from torchbook.server.app import CLIENT
from torchbook.server.site import META, with_client


def _targets(site: Site, page: str) -> list[tuple[str, str, str]]:
    """Links of a page to this site, as (as written, file, anchor)."""
    targets = []
    for tag in site.tags(page):
        if not {"href", "src"} & tag.attributes.keys():
            continue
        written = tag.attributes.get("href") or tag.attributes.get("src") or ""
        parts = urlsplit(written)
        if parts.scheme or parts.netloc or tag.name == "base":
            continue
        here = site.folder / page
        file = (here.parent / unquote(parts.path)).resolve() if parts.path else here.resolve()
        targets.append((written, str(file), unquote(parts.fragment)))
    return targets


def _name(site: Site, file: Path) -> str:
    return file.relative_to(site.folder.resolve()).as_posix()


@functools.cache
def _anchors(site: Site, file: Path) -> set[str]:
    tags = site.tags(_name(site, file))
    return {tag.attributes[key] for key in ("id", "name") for tag in tags if key in tag.attributes} | {"top"}


def test_internal_links_and_anchors_exist(site: Site) -> None:
    broken = []
    for page in site.pages:
        for written, file, anchor in _targets(site, page):
            path = Path(file)
            if not path.is_relative_to(site.folder.resolve()) or not site.file(_name(site, path)).is_file():
                broken.append(f"{page}: {written}")
            elif anchor.startswith("tbviz-"):
                continue  # the state of a figure; `has_links_that_set_its_figures` follows it
            elif anchor and path.suffix == ".html" and anchor not in _anchors(site, path):
                broken.append(f"{page}: {written} (no such anchor)")
    assert not broken


def test_without_the_command_no_page_asks_for_anything_of_live_cells(site: Site) -> None:
    assert META in with_client("<head></head>", {"client": "/"})
    clients = {client.name for client in CLIENT.iterdir()}
    for page in site.pages:
        assert META not in site.file(page).read_text(encoding="utf-8"), page
        assert clients.isdisjoint(Path(file).name for _, file, _ in _targets(site, page)), page


def test_no_id_is_used_twice(site: Site) -> None:
    for page in site.pages:
        ids = Counter(tag.attributes["id"] for tag in site.tags(page) if "id" in tag.attributes)
        assert [name for name, count in ids.items() if count > 1] == [], page


def test_chapters_launch_and_download_their_notebook(site: Site) -> None:
    wrong = []
    chapters = [page for page in site.pages if any(tag.has_class("chapter-head") for tag in site.tags(page))]
    assert chapters, "no page of the book is a chapter that ran"
    for page in chapters:
        notebook = f"notebooks/{page.removesuffix('.html')}.ipynb"
        links = [tag["href"] for tag in site.before_article(page).select(".article-header-buttons a[href]")]
        for host, form in (("mybinder.org", f"urlpath=lab/tree/{notebook}"), ("colab.research.google.com", notebook)):
            if not any(host in link and link.endswith(form) for link in links):
                wrong.append(f"{page}: no link to {host} that ends with {form}")
        if not any(link.endswith(notebook) and not urlsplit(link).scheme for link in links):
            wrong.append(f"{page}: no download of {notebook}")
        if not site.file(notebook).is_file():
            wrong.append(f"{page}: {notebook} is not on the site")
    assert not wrong


_EDIT = re.compile(r'<a href="([^"]+)"[^>]* class="[^"]*btn-source-edit-button')


def test_the_edit_button_leads_to_the_source(site: Site, repo: Path) -> None:
    branch = yaml.safe_load((repo / "_config.yml").read_text(encoding="utf-8"))["repository"]["branch"]
    texts = ((page, site.file(page).read_text(encoding="utf-8")) for page in site.pages)
    edits = [(page, unescape(link)) for page, text in texts for link in _EDIT.findall(text)]
    assert edits, "no page has an edit button"
    for page, link in edits:
        source = link.partition(f"/edit/{branch}/")[2]
        assert source.endswith(".md"), f"{page}: {link}"
        assert (repo / source).is_file(), f"{page}: {link}"
