"""What the book cites."""

from __future__ import annotations

from pathlib import Path

import pytest

from torchbook_press import sources


def cited(root: Path, text: str) -> Path:
    (root / "book").mkdir(exist_ok=True)
    sources.path(root).write_text(text, encoding="utf-8")
    return root


ADAM = "adam:\n  title: Adam\n  date: '2014-12-22'\n"


def test_a_book_without_sources_has_none(tmp_path: Path) -> None:
    assert sources.load(tmp_path) == {}


def test_sources_are_read_by_key(tmp_path: Path) -> None:
    assert sources.load(cited(tmp_path, ADAM))["adam"].title == "Adam"


@pytest.mark.parametrize("text", ["adam: 3\n", "adam:\n  title: Adam\n", ADAM + "  pages: 3\n", "- adam\n", "a: [\n"])
def test_malformed_sources_are_named(tmp_path: Path, text: str) -> None:
    with pytest.raises(sources.SourceError, match=r"^book/sources\.yml: "):
        sources.load(cited(tmp_path, text))


def test_a_quotation_must_stand_in_its_package(tmp_path: Path) -> None:
    package = tmp_path / "packages" / "adam"
    package.mkdir(parents=True)
    (package / "step.py").write_text("# Scales are\n#   divided out.\n")
    other = "\nother:\n  title: Adam\n  date: '2014'\n  file: adam/step.py\n  quote: "
    root = cited(tmp_path, f"{ADAM}{other}Scales are divided out.\n")
    assert list(sources.outdated(root, package.parent)) == []
    root = cited(tmp_path, f"{ADAM}{other}Scales are kept.\n")
    (found,) = sources.outdated(root, package.parent)
    assert str(found) == ("book/sources.yml:5: other: adam/step.py does not say 'Scales are kept.': mend the sentence")
