"""LivingModel: a small GPT that runs in the page, on the reader's own text.

A page gets the weights as 16-bit floats, which it loads when the reader asks for them, and of a few texts what the
model makes of them, so that there is a picture before that: attention weights in 255ths, and logits and sizes of the
residual stream in 32767ths of the largest. All of it, here and on the page, is computed with the rounded weights.
"""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

import traitlets

from torchbook.viz.base import Visualizer, Whole, contract
from torchbook.viz.units import counted, several, two

if TYPE_CHECKING:
    import torch

    from torchbook.llm import GPT
    from torchbook.llm.train import Characters

setup = partial(contract, "living")

UNIT = 255
_MOST = 32767
_TOLD = 5  # characters that may come next, in the words


@dataclass(frozen=True)
class Reading:
    """What a model makes of a text, or of what of it fits the model's window.

    Attributes:
        text: all of it.
        start: where the window begins.
        rows: for each layer and head the attention of each character of the window, in 255ths.
        sizes: for each character the root mean square of the residual stream, after the embedding and each layer.
        logits: for each character those of the one that follows, (window, V).
    """

    text: str
    start: int
    rows: list[list[list[list[int]]]]
    sizes: list[list[float]]
    logits: list[list[float]]

    def synced(self) -> dict[str, Any]:
        """What the page gets."""
        weights = bytes(w for layer in self.rows for head in layer for row in head for w in row)
        return {
            "text": self.text,
            "weights": base64.b64encode(weights).decode(),
            "sizes": _words(self.sizes),
            "logits": _words(self.logits),
        }


def _step(rows: list[list[float]]) -> float:
    return (max(abs(x) for row in rows for x in row) or 1.0) / _MOST


def _words(rows: list[list[float]]) -> dict[str, Any]:
    """Numbers that are whole multiples of their `_step`, 16 bits each, little-endian, base64."""
    step = _step(rows)
    numbers = [round(x / step) for row in rows for x in row]
    return {"step": step, "packed": base64.b64encode(struct.pack(f"<{len(numbers)}h", *numbers)).decode()}


def _stepped(rows: list[list[float]]) -> list[list[float]]:
    """The same numbers, each rounded to a whole multiple of a step."""
    step = _step(rows)
    return [[round(x / step) * step for x in row] for row in rows]


def window(length: int, context: int) -> int:
    """Where the model begins to read a text: once its window is full, the older half of it is dropped.

    Example:
        >>> [window(length, 64) for length in (1, 64, 65, 96, 97)]
        [0, 0, 32, 32, 64]
    """
    half = max(1, context // 2)
    return 0 if length <= context else half * math.ceil((length - context) / half)


def chances(logits: Sequence[float], temperature: float, top_p: float) -> tuple[list[tuple[int, float]], int]:
    """The numbers of the tokens with their probabilities, the likeliest first, and how many of them top-p keeps.

    Example:
        >>> chances([0.0, 1.0, 0.0], 0, 1)
        ([(1, 1.0)], 1)
    """
    order = sorted(range(len(logits)), key=lambda i: (-logits[i], i))
    if temperature == 0:
        return [(order[0], 1.0)], 1
    powers = [math.exp((logits[i] - logits[order[0]]) / temperature) for i in order]
    total = sum(powers)
    listed, reached, kept = [], 0.0, 0
    for i, power in zip(order, powers, strict=True):
        kept += reached < top_p - 1e-9
        reached += power / total
        listed.append((i, power / total))
    return listed, kept


def rounded(model: GPT) -> GPT:
    """A copy of a model in evaluation mode on the CPU, with the weights that 16-bit floats hold.

    Raises:
        ValueError: a weight is larger than 16 bits can say, or is no number.
    """
    import torch

    copy = type(model)(model.config)
    halves = {name: weight.detach().cpu().half().float() for name, weight in model.state_dict().items()}
    wrong = [name for name, weight in halves.items() if not torch.isfinite(weight).all()]
    if wrong:
        raise ValueError(f"{', '.join(wrong)}: weights above 65504, or NaN, which 16-bit floats cannot hold")
    copy.load_state_dict(halves)
    return copy.eval()


def exported(model: GPT) -> tuple[list[tuple[str, int]], bytes]:
    """Names and sizes of a model's weights, and all of them as 16-bit floats, little-endian; a tied head is left out.

    Raises:
        ValueError: they take more bytes than a page may load.
    """
    weights = {name: w for name, w in model.state_dict().items() if not (model.config.tied and name == "head.weight")}
    size, most = 2 * sum(w.numel() for w in weights.values()), setup()["most_bytes"]
    if size > most:
        raise ValueError(
            f"{size // 2:,} weights take {size / 1e6:.1f} MB as 16-bit floats, more than the {most / 1e6:g} MB that a "
            "page may load: take fewer layers, less width or a smaller vocabulary"
        )
    data = b"".join(w.detach().cpu().half().numpy().astype("<f2").tobytes() for w in weights.values())
    return [(name, w.numel()) for name, w in weights.items()], data


def read(model: GPT, codec: Characters, text: str) -> Reading:
    """What a model makes of a text; see `Reading`.

    Raises:
        KeyError: a character is not in the codec's alphabet.
    """
    import torch

    start = window(len(text), model.config.context)
    ids = codec.encode(text[start:])[None]
    streams: list[torch.Tensor] = []
    rows: list[Any] = []

    def look(block: Any, given: tuple[Any, ...]) -> None:
        streams.append(given[0])
        rows.append(_weights(block, *given[:2]))

    hooks = [block.register_forward_pre_hook(look) for block in model.blocks]
    hooks.append(model.norm.register_forward_pre_hook(lambda _, given: streams.append(given[0])))
    with torch.no_grad():
        logits = model(ids)[0]
    for hook in hooks:
        hook.remove()
    sizes = torch.stack([stream[0].square().mean(-1).sqrt() for stream in streams], dim=-1)  # (T, layers + 1)
    return Reading(text, start, rows, _stepped(sizes.tolist()), _stepped(logits.tolist()))


def _weights(block: Any, x: torch.Tensor, rotary: tuple[torch.Tensor, torch.Tensor] | None) -> list[list[list[int]]]:
    """The attention of a block's heads on its input (1, T, C), in 255ths: head, query, key."""
    from torchbook.llm.model import rotate

    attention = block.attention
    x = block.attention_norm(x)
    q = attention.query(x).unflatten(-1, (attention.heads, -1)).transpose(1, 2)
    k = attention.key(x).unflatten(-1, (attention.kv_heads, -1)).transpose(1, 2)
    if rotary is not None:
        q, k = rotate(q, *rotary), rotate(k, *rotary)
    scores = q @ k.repeat_interleave(attention.heads // attention.kv_heads, dim=1).mT / math.sqrt(q.shape[-1])
    later = scores.new_ones(scores.shape[-2:]).triu(1).bool()
    weights = scores.masked_fill(later, -math.inf).softmax(-1)[0].mul(UNIT).round().int().tolist()
    return [[row[: i + 1] for i, row in enumerate(head)] for head in weights]


def shown(text: str) -> str:
    """Characters as the figure writes them."""
    return text.replace(" ", "␣").replace("\n", "↵").replace("\t", "⇥")


def describe(
    of: Reading, alphabet: str, context: int, *, at: int, temperature: float, top_p: float, cache: bool
) -> str:
    """The state in sentences."""
    place = _place(of, at)
    chars = of.text[of.start :]
    heads = [
        f"head {h} {two(row[key] / UNIT)} to {of.start + key} “{shown(chars[key])}”"
        for layer in of.rows
        for h, head in enumerate(layer)
        for row in [head[place]]
        for key in [row.index(max(row))]
    ]
    count = len(of.rows[0])
    layers = [f"layer {i}: {', '.join(heads[i * count : (i + 1) * count])}" for i in range(len(of.rows))]
    listed, kept = chances(of.logits[place], temperature, top_p)
    comes = ", ".join(f"“{shown(alphabet[i])}” {two(p)}" for i, p in listed[:_TOLD])
    cut = f", of which top-p {two(top_p)} keeps {kept}" if top_p < 1 and temperature else ""
    return (
        f"Text of {counted(len(of.text), 'character')}, {len(chars)} in a window of {context}: “{shown(of.text)}”. "
        f"Most attention of character {of.start + place} “{shown(chars[place])}” in {'; '.join(layers)}. "
        f"Size of its residual stream: {several([two(x) for x in of.sizes[place]])}, "
        "after the embedding and each layer. "
        f"Likeliest to come next at temperature {two(temperature)}: {comes}{cut}. "
        f"KV cache {'on' if cache else 'off'}."
    )


def _place(of: Reading, at: int) -> int:
    """The place in the window of the character pointed at; -1 is the last."""
    last = len(of.text) - 1
    return (last if at < 0 else max(of.start, min(at, last))) - of.start


class LivingModel(Visualizer):
    """A small GPT that runs in the page: its attention, its residual stream, and what may come next, on any text.

    The weights go with the figure as 16-bit floats. On the book's page they are loaded when the reader asks for them;
    until then it shows what the model makes of the texts that are given.

    Args:
        model: whose weights are taken, as they are now.
        codec: numbers its characters.
        text: what it reads.
        others: further texts of which the page knows what the model makes before its weights are loaded.
        at: the character whose attention is shown, from 0; -1 is the last.

    Attributes:
        rounded: the model with the weights that the page has.
        reading: what it makes of the text.

    Raises:
        ValueError: the weights take more than 2 MB or do not fit 16 bits, the codec has other characters than the
            model or some beyond U+FFFF, there are more heads than the picture has room for, or a text is too long to
            go with the page.
        traitlets.TraitError: a text is empty, too long, or has characters that the model does not know.

    Example:
        >>> from torchbook.llm import GPT, Config, characters
        >>> codec = characters("to be or not")
        >>> model = GPT(Config(vocab_size=len(codec.alphabet), layers=2, width=32))
        >>> LivingModel(model, codec, "to be").shape["bytes"]
        59584
    """

    weights = traitlets.Bytes(help="All weights, 16-bit floats, little-endian.").tag(sync=True)
    shape = traitlets.Dict(help="The model's configuration, its alphabet, and its weights' names and sizes.").tag(
        sync=True
    )
    readings = traitlets.List(traitlets.Dict(), help="What the model makes of some texts.").tag(sync=True)
    text = traitlets.Unicode(help="What the model reads.").tag(sync=True)
    at = Whole(-1, low=-1, help="The character whose attention is shown; -1 is the last.").tag(sync=True)

    def __init__(
        self,
        model: GPT,
        codec: Characters,
        text: str,
        *,
        others: Iterable[str] = (),
        **traits: Any,
    ) -> None:
        config = model.config
        if len(codec.alphabet) != config.vocab_size:
            raise ValueError(
                f"the codec has {len(codec.alphabet)} characters, the model {config.vocab_size} tokens: give the codec "
                "with which the model was trained"
            )
        if max(codec.alphabet) > "\uffff":
            raise ValueError("characters beyond U+FFFF are two for a browser: train the model without them")
        if config.layers * config.heads > setup()["most_rows"]:
            raise ValueError(
                f"{config.layers} layers of {config.heads} heads are more than the "
                f"{setup()['most_rows']} rows of the picture"
            )
        parts, data = exported(model)
        self.rounded, self.codec = rounded(model), codec
        recorded = [text, *others]
        most = min(config.context, setup()["most_recorded"])
        for one in recorded:
            self._known(one)
            if len(one) > most:
                raise ValueError(f"a text of {len(one)} characters; at most {most} of each go with the page")
        readings = {one: read(self.rounded, codec, one) for one in recorded}
        self.reading = readings[text]
        shape = {
            **asdict(config), "kv_heads": config.key_heads, "hidden": config.inner, "alphabet": codec.alphabet,
            "parts": parts, "bytes": len(data), "crc": zlib.crc32(data),
        }  # fmt: skip
        super().__init__(
            weights=data, shape=shape, readings=[one.synced() for one in readings.values()], text=text, **traits
        )

    def _known(self, text: str) -> None:
        """Whether the model can read a text."""
        strange = sorted(set(text) - set(self.codec.alphabet))
        most = setup()["most_characters"]
        if strange:
            raise traitlets.TraitError(f"the model knows no {', '.join(map(repr, strange))}: it was trained without")
        if not 0 < len(text) <= most:
            raise traitlets.TraitError(f"a text of 1 to {most} characters, not of {len(text)}")

    @traitlets.validate("text")
    def _readable(self, proposal: Any) -> Any:
        self._known(proposal["value"])
        return proposal["value"]

    def _follow(self, change: Any = None) -> None:
        if self.reading.text != self.text:
            self.reading = read(self.rounded, self.codec, self.text)
        super()._follow(change)

    def _describe(self) -> str:
        return describe(self.reading, self.codec.alphabet, self.rounded.config.context, at=self.at, **self.setting)

    def _draw(self) -> str:
        listed, _ = chances(self.reading.logits[_place(self.reading, self.at)], self.temperature, self.top_p)
        likely = [(self.codec.alphabet[i], p) for i, p in listed[:_TOLD]]
        return _picture(self.reading, _place(self.reading, self.at), likely, self.words)


def _picture(of: Reading, place: int, likely: Sequence[tuple[str, float]], words: str) -> str:
    """Static drawing: the text, above it what each head gives to each character, and what may come next."""
    chars = of.text[of.start :]
    column, row, left = min(18.0, 560 / len(chars)), 12.0, 62.0
    parts, y = [], 20.0
    for layer in reversed(range(len(of.rows))):
        parts.append(f'<text x="{left - 8}" y="{y + 16:g}" text-anchor="end">layer {layer}</text>')
        for head in of.rows[layer]:
            cells = (
                f'<rect x="{left + i * column:.1f}" y="{y:g}" width="{column:.1f}" height="{row - 1:g}" '
                f'fill-opacity="{math.sqrt(w / UNIT):.2f}"/>'
                for i, w in enumerate(head[place])
                if w
            )
            parts += [*cells]
            y += row
        y += 8
    letters = (
        f'<text x="{left + (i + 0.5) * column:.1f}" y="{y + 12:g}" text-anchor="middle" '
        f'fill-opacity="{1 if i <= place else 0.6}">{escape(shown(char))}</text>'
        for i, char in enumerate(chars)
    )
    parts += letters
    parts.append(
        f'<rect x="{left + place * column:.1f}" y="16" width="{column:.1f}" height="{y + 2:g}" fill="none" '
        'stroke="currentColor" stroke-width="1.5"/>'
    )
    y += 34
    told = ", ".join(f"{shown(char)} {two(p)}" for char, p in likely)
    parts.append(f'<text x="{left}" y="{y + 12:g}">likeliest next: {escape(told)}</text>')
    width = left + column * len(chars) + 8
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {max(width, 420):g} {y + 20:g}" '
        f'style="max-width:min(100%,{max(width, 420):g}px);height:auto" font-family="ui-monospace,monospace" '
        f'font-size="13" fill="currentColor" aria-label="{escape(words)}">{"".join(parts)}</svg>'
    )
