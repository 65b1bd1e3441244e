"""Terms of the glossary: found in running text, once a page, and nowhere else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, Tag

from tests.press.conftest import small_book
from torchbook_press.build import html
from torchbook_press.site.glossary import pattern_of

GLOSSARY = """# Glossary

```{glossary}
leaf
  A tensor that no operation made.

gradient checkpointing
activation checkpointing
  Activations are dropped in the forward
  and computed again in the backward.

  *Also* see elsewhere.

DDP
  Data parallelism, one process a GPU.

kernel
  A function on a GPU; or a process of Jupyter.
```
"""


PAGES = {
    "first": "A leaf, and another leaf.\n\nLeaf again.",
    "around": "Each *single* leaf of `it`.",
    "synonyms": "Activation checkpointing is gradient checkpointing.",
    "code": "`leaf`",
    "link": "[a leaf](https://example.org)",
    "heading": "## A leaf",
    "block": "```\na leaf\n```",
    "table": "| leaf |\n| --- |\n| leaf |",
    "hand": "A kernel. A {term}`kernel`.",
}


@pytest.fixture(scope="module")
def links(tmp_path_factory: pytest.TempPathFactory, repo: Path) -> dict[str, list[Tag]]:
    """By page, its links to terms, in a book with the glossary above."""
    book = small_book(tmp_path_factory.mktemp("glossary"), repo)
    config = book.root / "_config.yml"
    text = re.sub(r"torchbook_terms_by_hand: \[[^\]]*\]", "torchbook_terms_by_hand: [kernel]", config.read_text())
    config.write_text(text, encoding="utf-8")
    for name, body in PAGES.items():
        book.page(name, f"# Words of leaf\n\n{body}\n")
    book.page("glossary", GLOSSARY)
    html(book.root)
    return {name: BeautifulSoup(book.html(name), "html.parser").select("article a.gloss") for name in PAGES}


def test_first_use_leads_to_the_term_and_tells_its_meaning(links: dict[str, list[Tag]]) -> None:
    (link,) = links["first"]
    assert link["href"] == "glossary.html#term-leaf"
    assert link["data-gloss"] == "leaf: A tensor that no operation made."
    assert link.get_text() == "leaf"


def test_words_around_a_term_stay(links: dict[str, list[Tag]]) -> None:
    (link,) = links["around"]
    assert link.parent is not None
    assert link.parent.get_text() == "Each single leaf of it."


def test_synonyms_are_one_term_under_its_first_name(links: dict[str, list[Tag]]) -> None:
    (link,) = links["synonyms"]
    assert link.get_text() == "Activation checkpointing"
    meaning = "gradient checkpointing: Activations are dropped in the forward and computed again in the backward."
    assert link["data-gloss"] == meaning


@pytest.mark.parametrize("place", ["code", "link", "heading", "block", "table"])
def test_nothing_is_linked_outside_of_running_text(links: dict[str, list[Tag]], place: str) -> None:
    assert links[place] == []


def test_everyday_words_are_linked_by_hand_only(links: dict[str, list[Tag]]) -> None:
    assert [(link.get_text(), link["href"]) for link in links["hand"]] == [("kernel", "glossary.html#term-kernel")]
    assert links["hand"][0]["data-gloss"] == "kernel: A function on a GPU; or a process of Jupyter."


@pytest.mark.parametrize("text", ["Leaf", "leaf", "leafs", "(leaf)", "leaf.", "leaf,"])
def test_whole_words_are_found(text: str) -> None:
    pattern = pattern_of(["leaf"])
    assert pattern is not None
    assert pattern.search(text)


@pytest.mark.parametrize("text", ["leafy", "is_leaf", "tensor.leaf", "leaf.grad", "non-leaf", "leaf()", "LEAF"])
def test_parts_of_words_and_code_are_not(text: str) -> None:
    pattern = pattern_of(["leaf"])
    assert pattern is not None
    assert not pattern.search(text)


def test_names_keep_their_case() -> None:
    pattern = pattern_of(["DDP"])
    assert pattern is not None
    assert [bool(pattern.search(text)) for text in ("DDP", "ddp", "Ddp")] == [True, False, False]


# The book's own glossary: what a page calls a term that it shows under another name.
OTHER_NAMES = {
    "gradient checkpointing": "checkpointing",
    "Apache Arrow": "arrow",
    "backend (distributed)": "backend",
    "broadcast (collective)": "broadcast",
    "computation graph": "graph",
    "compute-bound": "bound by",
    "copy-on-write": "copied",
    "cosine schedule": "cosine",
    "dynamic quantisation": "dynamic",
    "gradient clipping": "clip",
    "Kaiming initialisation": "Kaiming",
    "kernel fusion": "fus",
    "kernel size": "kernel",
    "launch overhead": "launch",
    "MAE": "L1Loss",
    "memory-bound": "bound by memory",
    "meta device": "meta",
    "micro-batch": "accumul",
    "NLL": "cross-entropy",
    "nsys": "Nsight Systems",
    "prefetching": "prefetch",
    "profiler trace": "trace",
    "residual connection": "residual",
    "thread block": "block",
    "top-k sampling": "top-k",
    "top-p sampling": "top-p",
    "weight tying": "tied",
}
_ENTRY = re.compile(r"((?:^\S.*\n)+)((?:^(?:[ ].*)?\n)+)", re.MULTILINE)


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _shown(names: list[str], page: str) -> bool:
    words = [*names, *(OTHER_NAMES[name] for name in names if name in OTHER_NAMES)]
    return any(_plain(word).removesuffix("s") in page for word in words)


def test_each_pointer_of_the_glossary_leads_to_a_page_that_has_the_term(repo: Path) -> None:
    text = (repo / "book/appendix/glossary.md").read_text(encoding="utf-8")
    (body,) = re.findall(r"^```\{glossary\}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    pages: dict[str, str] = {}
    astray, pointers = [], 0
    for names, meaning in _ENTRY.findall(body):
        for where in re.findall(r"\{doc\}`[^<`]*</([^>`]+)>`", meaning):
            if where not in pages:
                files = (repo / where).parent.glob("*.md") if where.endswith("/index") else [repo / f"{where}.md"]
                pages[where] = _plain(" ".join(file.read_text(encoding="utf-8") for file in files))
            pointers += 1
            if not _shown(names.splitlines(), pages[where]):
                astray.append((names.splitlines()[0], where))
    assert pointers > 250
    assert astray == []
