"""Which sentences that claim something stand in the book without evidence: today, and in the committed baseline.

The baseline only shrinks. It holds the text of each sentence, not its line, so that one that moves is no change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from torchbook_press import files
from torchbook_press.chapters import Chapter
from torchbook_press.claims.kinds import Kind, kind
from torchbook_press.claims.sentences import sentences

FILE = "book/claims/unbound.yml"
_HEAD = """\
# Sentences that claim something (a number, a comparative, an absolute) and carry no evidence yet, page by page.
# `torchbook claims --check` refuses any other; `torchbook claims --update` takes out what has evidence now, and adds
# nothing. One with a typed number says why it may: {sentence: ..., why: definition}.
"""


class BaselineError(Exception):
    """The baseline is not as it must be; the message names the file and the remedy."""


@dataclass(frozen=True)
class Claim:
    """A sentence without evidence; `near` says whether the cell before or after it asserts something."""

    page: str
    line: int
    kind: Kind
    text: str
    near: bool

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.kind}{' (near)' if self.near else ''}: {self.text}"


@dataclass(frozen=True)
class Page:
    """What a page's prose claims: how many sentences there are and have evidence, and those that claim without."""

    name: str
    sentences: int
    bound: int
    unbound: tuple[Claim, ...]


# By page and text of the sentence: why it may stand, or "".
Baseline = Mapping[str, Mapping[str, str]]


def read(page: Chapter) -> Page:
    """What the prose of a page claims."""
    everything = sentences(page.shown, page.text)
    unbound = [
        Claim(page.shown, sentence.line, found, sentence.text, sentence.near)
        for sentence in everything
        if not sentence.bound and (found := kind(sentence.masked))
    ]
    return Page(page.shown, len(everything), sum(sentence.bound for sentence in everything), tuple(unbound))


def load(root: Path) -> dict[str, dict[str, str]]:
    """The committed baseline; empty where there is none.

    Raises:
        BaselineError: it is no YAML of pages with lists of sentences.
    """
    try:
        content = yaml.load((root / FILE).read_text(encoding="utf-8"), Loader=_Loader) or {}
        return {str(page): dict(_entry(entry) for entry in entries) for page, entries in content.items()}
    except FileNotFoundError:
        return {}
    except (yaml.YAMLError, AttributeError, KeyError, TypeError) as error:
        raise BaselineError(
            f"{FILE}:1: a page's path, and below it a list of sentences or of {{sentence: ..., why: ...}}; {error}"
        ) from None


# libyaml's, where it is there, is ten times quicker.
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def _entry(entry: object) -> tuple[str, str]:
    if isinstance(entry, str):
        return entry, ""
    if not isinstance(entry, dict) or entry.keys() != {"sentence", "why"}:
        raise TypeError(f"not {entry!r}")
    return str(entry["sentence"]), str(entry["why"] or "")


def write(root: Path, baseline: Baseline) -> None:
    """Write the baseline; a page without entries is left out."""
    content = {
        page: [{"sentence": text, "why": why} if why else text for text, why in entries.items()]
        for page, entries in baseline.items()
        if entries
    }
    text = yaml.dump(content, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=10**6)
    files.write(root / FILE, _HEAD + text)


@dataclass
class Comparison:
    """The book beside its baseline.

    Attributes:
        new: claims that are not in the baseline.
        unexplained: claims with a typed number whose entry does not say why.
        gone: page and text of entries whose sentence claims nothing there any more, or has evidence.
        left: the baseline without these, with sentences that moved to another page listed there.
    """

    new: list[Claim] = field(default_factory=list)
    unexplained: list[Claim] = field(default_factory=list)
    gone: list[tuple[str, str]] = field(default_factory=list)
    left: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def problems(self) -> list[str]:
        """What is to be done, a line each."""
        return [
            *(
                f"{claim.page}:{claim.line}: {claim.kind} without evidence: mark it with {{holds}}, take the number "
                f"from {{glue:text}}, name a source with {{cited}}, or say less: {claim.text}"
                for claim in self.new
            ),
            *(
                f"{claim.page}:{claim.line}: a typed number: say `why` it may stand in {FILE}: {claim.text}"
                for claim in self.unexplained
            ),
            *(
                f"{FILE}: shrink: run torchbook claims --update; {page} is done with: {text}"
                for page, text in self.gone
            ),
        ]


def compare(pages: Iterable[Page], baseline: Baseline, *, whole: bool) -> Comparison:
    """Hold pages to the baseline.

    Args:
        pages: those to look at.
        baseline: of the whole book; entries of other pages stay as they are.
        whole: whether the pages are all there are, so that entries of others are gone.
    """
    found = {page.name: {claim.text: claim for claim in page.unbound} for page in pages}
    known = {name: baseline.get(name, {}) for name in [*baseline, *found] if whole or name in found}
    result = Comparison(left={name: {} if name in known else dict(baseline[name]) for name in baseline})
    result.gone = [(name, text) for name in known for text in known[name] if text not in found.get(name, {})]
    moved = Counter(text for _, text in result.gone)
    whys = {text: known[name][text] for name, text in result.gone}
    for name, claims in found.items():
        entries = result.left.setdefault(name, {})
        for text, claim in claims.items():
            if text in known[name]:
                entries[text] = known[name][text]
            elif moved[text]:
                moved[text] -= 1
                entries[text] = whys[text]
            else:
                result.new.append(claim)
                continue
            if claim.kind == "number" and not entries[text]:
                result.unexplained.append(claim)
    return result
