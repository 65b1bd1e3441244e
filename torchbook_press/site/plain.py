"""MyST prose as the plain Markdown that any reader shows: for the published notebooks, and the pages' twins."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from html import escape

from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

from torchbook_press.site import activities

_PARSER = create_md_parser(MdParserConfig(enable_extensions={"colon_fence", "dollarmath"}), RendererHTML)
_ROLE = re.compile(r"\{([a-zA-Z:_-]+)\}(`+)(.+?)\2", re.DOTALL)
_TITLED = re.compile(r"^(.*?)\s*<([^<>]+)>$", re.DOTALL)
_OPTION_LINE = re.compile(r"^:[\w-]+:.*$")
_BOXES = {"note", "warning", "tip", "important", "attention", "caution", "danger", "error", "hint", "seealso"}


Lead = Callable[[str, str], tuple[str, str] | None]


def _nowhere(role: str, target: str) -> None:
    """Of no target anything is known."""


@dataclass(frozen=True)
class Page:
    """What the roles and directives of a page stand for.

    Attributes:
        url: address of the page, for what only the page can show.
        glued: what `{glue:text}` names stand for, from the run.
        lead: title and address of what a role (`doc`, `ref`, ...) leads to by its target; None where that is not known.
    """

    url: str
    glued: Mapping[str, str] = field(default_factory=dict)
    lead: Lead = _nowhere


def plain(text: str, page: Page) -> str:
    """Markdown without MyST, of one cell: directives become quotes, details or a link, roles become text."""
    lines = text.splitlines()
    for token in reversed([t for t in _PARSER.parse(text) if t.level == 0 and t.map]):
        start, end = token.map or (0, 0)
        new = _block(token, page)
        if new is not None:
            lines[start:end] = new.splitlines()
        elif token.type not in ("fence", "code_block", "math_block"):
            # Not splitlines: the blank line that ends a list belongs to it.
            lines[start:end] = _roles("\n".join(lines[start:end]), page).split("\n")
    return "\n".join(lines).strip()


def split(text: str, name: str) -> list[tuple[str, str]]:
    """A Markdown cell cut at its directives of one name, as ("text", Markdown) and (name, the directive's argument)."""
    lines = text.splitlines()
    pieces: list[tuple[str, str]] = []
    end = 0
    for token in _PARSER.parse(text):
        if token.level == 0 and token.map and _name_of(token) == name:
            pieces.append(("text", "\n".join(lines[end : token.map[0]]).strip()))
            pieces.append((name, token.info.partition("}")[2].strip()))
            end = token.map[1]
    pieces.append(("text", "\n".join(lines[end:]).strip()))
    return [(kind, part) for kind, part in pieces if part]


def _name_of(token: Token) -> str | None:
    """The name of the directive that a fence is, if it is one."""
    if token.type not in ("fence", "colon_fence") or not token.info.strip().startswith("{"):
        return None
    return token.info.strip()[1:].partition("}")[0]


def _block(token: Token, page: Page) -> str | None:
    """What stands for a block in plain Markdown; None when it is plain already."""
    if token.type in ("myst_target", "myst_line_comment", "myst_block_break"):
        return ""
    name = _name_of(token)
    if name is None:
        return None
    argument = token.info.partition("}")[2].strip()
    body = token.content.splitlines()
    while body and (_OPTION_LINE.match(body[0]) or not body[0].strip()):
        body.pop(0)
    inner = plain("\n".join(body), page)
    if name == "predict":
        with suppress(ValueError):  # of a prediction that is none the page itself complains
            return _prediction(activities.parse(argument, body), page)
    if name in ("checklist", "container"):
        return inner
    if name == "glossary":
        return _glossary(body, page)
    if name == "dropdown":
        return f"<details><summary>{escape(_roles(argument, page))}</summary>\n\n{inner}\n\n</details>"
    if name in _BOXES or name == "admonition":
        return _quote(f"**{argument or name.capitalize()}.** {inner}")
    if name == "math":
        return f"$$\n{token.content.strip()}\n$$"
    if name in ("code-block", "code"):
        return f"```{argument}\n{token.content.rstrip()}\n```"
    return f"*(On the page: [{argument or name}]({page.url}).)*"


def _glossary(lines: list[str], page: Page) -> str:
    """Terms, each with its other forms, and below them what they mean."""
    entries: list[str] = []
    terms: list[str] = []
    for line in lines:
        if line and not line[0].isspace():
            terms.append(line.strip())
        elif line.strip():
            meaning = _roles(line.strip(), page)
            entries.append(f"**{', '.join(terms)}**: {meaning}" if terms else meaning)
            terms = []
    return "\n\n".join(entries)


def _quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _prediction(prediction: activities.Prediction, page: Page) -> str:
    options = "\n".join(f"- {_roles(text, page)}" for text, _ in prediction.options)
    right = next(text for text, is_right in prediction.options if is_right)
    answer = f"**{_roles(right, page)}**\n\n{plain(prediction.answer, page)}"
    question = _roles(prediction.question, page)
    return f"**Predict: {question}**\n\n{options}\n\n<details><summary>Answer</summary>\n\n{answer}\n\n</details>"


def _roles(text: str, page: Page) -> str:
    def replace(match: re.Match[str]) -> str:
        role, content = match[1], match[3]
        if role.startswith("glue"):
            return page.glued.get(content.split("::")[-1].split(":")[0], content)
        if role == "math":
            return f"${content}$"
        titled = _TITLED.match(content)
        label = titled[1] if titled else content
        if role not in ("ref", "doc", "numref", "download"):
            return label
        title, address = page.lead(role, titled[2] if titled else content) or (content, page.url)
        return f"[{titled[1] if titled else title}]({address})"

    return _ROLE.sub(replace, text)
