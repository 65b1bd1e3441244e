"""MyST prose as the plain Markdown that Colab, JupyterLab and VS Code show: for the published notebooks."""

from __future__ import annotations

import re
from collections.abc import Mapping
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


def plain(text: str, glued: Mapping[str, str], page_url: str) -> str:
    """Markdown without MyST: directives become quotes, details, pictures or a link, roles become text.

    Args:
        text: one Markdown cell.
        glued: what `{glue:text}` names stand for, from the run.
        page_url: address of the page, for what only the page can show.
    """
    lines = text.splitlines()
    for token in reversed([t for t in _PARSER.parse(text) if t.level == 0 and t.map]):
        start, end = token.map or (0, 0)
        new = _block(token, glued, page_url)
        if new is not None:
            lines[start:end] = new.splitlines()
        elif token.type not in ("fence", "code_block", "math_block"):
            # Not splitlines: the blank line that ends a list belongs to it.
            lines[start:end] = _roles("\n".join(lines[start:end]), glued, page_url).split("\n")
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


def _block(token: Token, glued: Mapping[str, str], page_url: str) -> str | None:
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
    inner = plain("\n".join(body), glued, page_url)
    if name == "predict":
        try:
            return _prediction(activities.parse(argument, body), glued, page_url)
        except ValueError:  # which the page says, with its line
            return ""
    if name == "checklist":
        return inner
    if name == "dropdown":
        return f"<details><summary>{escape(_roles(argument, glued, page_url))}</summary>\n\n{inner}\n\n</details>"
    if name in _BOXES or name == "admonition":
        return _quote(f"**{argument or name.capitalize()}.** {inner}")
    if name == "math":
        return f"$$\n{token.content.strip()}\n$$"
    if name in ("code-block", "code"):
        return f"```{argument}\n{token.content.rstrip()}\n```"
    return f"*(On the page: [{argument or name}]({page_url}).)*"


def _quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())


def _prediction(prediction: activities.Prediction, glued: Mapping[str, str], page_url: str) -> str:
    options = "\n".join(f"- {_roles(text, glued, page_url)}" for text, _ in prediction.options)
    right = next(text for text, is_right in prediction.options if is_right)
    answer = f"**{_roles(right, glued, page_url)}**\n\n{plain(prediction.answer, glued, page_url)}"
    question = _roles(prediction.question, glued, page_url)
    return f"**Predict: {question}**\n\n{options}\n\n<details><summary>Answer</summary>\n\n{answer}\n\n</details>"


def _roles(text: str, glued: Mapping[str, str], page_url: str) -> str:
    def replace(match: re.Match[str]) -> str:
        role, content = match[1], match[3]
        if role.startswith("glue"):
            return glued.get(content.split("::")[-1].split(":")[0], content)
        if role == "math":
            return f"${content}$"
        titled = _TITLED.match(content)
        label = titled[1] if titled else content
        if role in ("ref", "doc", "numref", "term", "download"):
            return f"[{label}]({page_url})" if role != "term" else label
        return label

    return _ROLE.sub(replace, text)
