"""The prose of a page, sentence by sentence: where each stands, and what evidence it has or may have beside it.

Prose is paragraphs, list items, table cells, and what admonitions and the like hold. Code, headings, comments, the
questions and options of `{predict}`, and directives that hold no prose are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

EVIDENCE = ("holds", "cited", "glue")  # roles that bind a sentence to a cell's result or to a source
VERDICT = "verdict"  # an entry of the errata: all of it rests on what its badge leads to, or says that nothing does
CODE, BOUND, QUOTED = "\ue000", "\ue001", "\ue002"  # stand in `masked` for each character of code, evidence, quotation

_EXTENSIONS = {"amsmath", "colon_fence", "deflist", "dollarmath"}
_PARSER = create_md_parser(MdParserConfig(enable_extensions=_EXTENSIONS), RendererHTML)
_BOXES = {"note", "warning", "tip", "important", "attention", "caution", "danger", "error", "hint", "seealso"}
_WRAPPERS = _BOXES | {"admonition", "container", "dropdown", "margin", "sidebar", "topic"}
_OPTION_LINE = re.compile(r"\s*:[\w-]+:.*$")
_TITLED = re.compile(r"(.*?)\s*<([^<>]+)>$", re.DOTALL)
_QUOTATION = re.compile(r"“[^”]*”|(?<!\w)\"[^\"]*\"")
_ASSERTION = re.compile(r"^\s*(?:assert\b|holds\(|(?:\w+\.)*assert_\w+\(|raise AssertionError)|; assert ", re.MULTILINE)
_END = re.compile(rf"[.!?…][\"”’'){QUOTED}]*(?=\s+[\"“'(\[{CODE}{BOUND}{QUOTED}]*[A-Z0-9{CODE}{BOUND}{QUOTED}])")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|cf|vs|etc|al|approx|ca|Fig|Sec|Eq|No|Ch|Dr|St|pp?)|\b[A-Z]|^\d+)\.$")


@dataclass(frozen=True)
class Sentence:
    """A sentence of a page.

    `line` counts from 1. `text` is as a reader sees it, in one line. `masked` has as many characters, with `CODE`,
    `BOUND` and `QUOTED` for those that are no words of the sentence itself. `near` says whether the code cell before or
    after it asserts something.
    """

    page: str
    line: int
    text: str
    masked: str
    near: bool = False

    @property
    def bound(self) -> bool:
        return BOUND in self.masked


@dataclass(frozen=True)
class _Piece:
    """A block's text, and how many code cells stand before it."""

    line: int
    text: str
    masked: str
    cells: int


def sentences(page: str, text: str) -> list[Sentence]:
    """The sentences of a page's prose, in order.

    Args:
        page: its path, as findings name it.
        text: its source, with front matter.
    """
    cells: list[bool] = []  # whether each code cell asserts
    pieces = list(_pieces(_PARSER.parse(text), 0, cells))
    return [
        Sentence(page, line, shown, masked, any(cells[max(0, piece.cells - 1) : piece.cells + 1]))
        for piece in pieces
        for line, shown, masked in _split(piece)
    ]


def _pieces(tokens: Sequence[Token], offset: int, cells: list[bool]) -> Iterator[_Piece]:
    """Blocks of prose; `cells` grows as code cells go by.

    Args:
        tokens: of a text that begins after so many lines of the page.
        offset: these lines.
        cells: for each code cell so far, whether it asserts.
    """
    for before, token in zip([None, *tokens], tokens, strict=False):
        first = offset + (token.map or (0, 0))[0]
        if token.type == "inline" and before is not None and before.type not in ("heading_open", "th_open", "dt_open"):
            yield _Piece(first + 1, *_flat(token.children or []), len(cells))
        elif token.type in ("fence", "colon_fence") and token.info.strip().startswith("{"):
            name = token.info.strip()[1:].partition("}")[0]
            if name == "code-cell":
                cells.append(bool(_ASSERTION.search(token.content)))
            elif name in _WRAPPERS or name == "predict":
                lines, skipped = _body(token.content.splitlines(), name == "predict")
                yield from _pieces(_PARSER.parse("\n".join(lines)), first + 1 + skipped, cells)


def _body(lines: list[str], predicts: bool) -> tuple[list[str], int]:
    """A directive's lines without its options, or a prediction's without question and answers to choose from; and how
    many lines are left out."""
    start = 0
    while start < len(lines) and (not lines[start].strip() or _OPTION_LINE.match(lines[start])):
        start += 1
    while predicts and start < len(lines) and lines[start].strip():
        start += 1
    return lines[start:], start


def _flat(children: Sequence[Token]) -> tuple[str, str]:
    """Text without markup, and the same masked; a line break stays one."""
    shown, masked, outside = "", "", 0
    judged = any(token.type == "myst_role" and token.meta["name"] == VERDICT for token in children)
    for token in children:
        text, mask = _inline(token)
        outside += {"link_open": str(token.attrGet("href") or "").startswith("http"), "link_close": -outside}.get(
            token.type, 0
        )
        shown += text
        masked += "".join(c if c == "\n" else (BOUND if judged else CODE if outside else mask or c) for c in text)
    quoted = _QUOTATION.sub(lambda match: re.sub(r"[^\n]", QUOTED, match[0]), masked)
    # Evidence within a quotation stays evidence.
    return shown, "".join(BOUND if m == BOUND else q for m, q in zip(masked, quoted, strict=True))


def _inline(token: Token) -> tuple[str, str]:
    """A token's text, and what masks it, if anything."""
    if token.type == "myst_role":
        name = str(token.meta["name"])
        titled = _TITLED.match(token.content)
        if name.partition(":")[0] in EVIDENCE:
            return (titled[1] if titled else token.content), BOUND
        return (titled[1], "") if titled else (token.content, "" if name == "term" else CODE)
    if token.type in ("code_inline", "math_inline"):
        return token.content, CODE
    if token.type in ("softbreak", "hardbreak"):
        return "\n", ""
    return (token.content, "") if token.type == "text" else ("", "")


def _split(piece: _Piece) -> Iterator[tuple[int, str, str]]:
    """The line, the text and the masked text of each sentence of a block."""
    start = 0
    ends = [match.end() for match in _END.finditer(piece.masked)]
    for end in [*ends, len(piece.masked)]:
        part = piece.masked[start:end]
        if _ABBREVIATION.search(part.rstrip()) and end != len(piece.masked):
            continue
        if part.strip():
            lead = len(part) - len(part.lstrip())
            line = piece.line + piece.masked.count("\n", 0, start + lead)
            yield line, " ".join(piece.text[start:end].split()), " ".join(part.split())
        start = end
