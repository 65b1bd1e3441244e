"""TokenizerExplorer: byte-level BPE, from text over pieces and bytes to ids, one merge at a time."""

from __future__ import annotations

import base64
import struct
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from itertools import pairwise
from typing import Any

import traitlets

from torchbook.viz.base import Visualizer, Whole, contract, preset_of
from torchbook.viz.units import counted, ordinal, two

setup = partial(contract, "tokenizer")

PRETOKENIZERS = ("gpt2", "none")
MOST_MERGES = 4096
_SPACES = frozenset(map(chr, [*range(9, 14), 32, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F,
                              0x205F, 0x3000]))  # fmt: skip
_ENDINGS = ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d")
_TOLD = 40  # tokens that the words name


# Byte-level BPE


def _kind(char: str) -> str:
    if char in _SPACES:
        return "space"
    category = unicodedata.category(char)[0]
    return category if category in "LN" else "other"


def gpt2_pieces(text: str) -> list[str]:
    r"""Cut `text` as GPT-2's pattern does.

    The pattern is `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`; Python's `re` has no
    `\p`, so its alternatives are tried here by hand.

    Example:
        >>> gpt2_pieces("I'm  here, 2 be")
        ['I', "'m", ' ', ' here', ',', ' 2', ' be']
    """
    pieces = []
    at, end = 0, len(text)
    while at < end:
        start = at
        ending = next((suffix for suffix in _ENDINGS if text.startswith(suffix, at)), "")
        first = at + (text[at] == " ")
        kind = _kind(text[first]) if first < end else "space"
        if ending:
            at += len(ending)
        elif kind != "space":
            at = first + 1
            while at < end and _kind(text[at]) == kind:
                at += 1
        else:
            while at < end and text[at] in _SPACES:
                at += 1
            if at < end and at - start > 1:
                at -= 1  # the last space is left for the word after it
        pieces.append(text[start:at])
    return pieces


@dataclass(frozen=True)
class Vocabulary:
    """What the ids stand for: 0 to 255 the bytes, then the products of the merges in order, then the special tokens.

    Attributes:
        pairs: the ids that each merge joins; the rank of a merge is its place.
        tokens: the bytes of each id.
        ranks: from a pair of ids to its rank.
        specials: texts that are one token wherever they stand.
    """

    pairs: tuple[tuple[int, int], ...]
    tokens: tuple[bytes, ...]
    ranks: dict[tuple[int, int], int]
    specials: tuple[str, ...]

    @staticmethod
    def of(pairs: Sequence[tuple[int, int]], specials: Sequence[str] = ()) -> Vocabulary:
        """From the ids that are joined.

        Raises:
            ValueError: a merge joins what is not there yet, or makes what is there already.
        """
        if len(pairs) > MOST_MERGES:
            raise ValueError(f"{len(pairs)} merges are more than the {MOST_MERGES} that fit a page")
        tokens = [bytes([i]) for i in range(256)]
        seen = set(tokens)
        for rank, (left, right) in enumerate(pairs):
            if not (0 <= left < len(tokens) and 0 <= right < len(tokens)):
                raise ValueError(f"merge {rank} joins ids {left} and {right}; before it there are {len(tokens)} ids")
            product = tokens[left] + tokens[right]
            if product in seen:
                raise ValueError(f"merge {rank} makes {product!r}, which there is already")
            seen.add(product)
            tokens.append(product)
        if len(set(specials)) != len(specials) or "" in specials:
            raise ValueError("special tokens must differ and must not be empty")
        tokens += [special.encode() for special in specials]
        ranks = {(left, right): rank for rank, (left, right) in enumerate(pairs)}
        return Vocabulary(tuple(pairs), tuple(tokens), ranks, tuple(specials))

    @staticmethod
    def of_bytes(merges: Sequence[tuple[bytes, bytes]], specials: Sequence[str] = ()) -> Vocabulary:
        """From the bytes that are joined.

        Raises:
            ValueError: as `of` does.
        """
        ids = {bytes([i]): i for i in range(256)}
        pairs = []
        for rank, (left, right) in enumerate(merges):
            for part in (left, right):
                if part not in ids:
                    raise ValueError(f"merge {rank} joins {part!r}, which no merge before it makes")
            pairs.append((ids[left], ids[right]))
            ids.setdefault(bytes(left) + bytes(right), 256 + rank)
        return Vocabulary.of(pairs, specials)

    def made_of(self, id: int) -> tuple[int, int] | None:
        """The two ids that a merge joined to this one."""
        return self.pairs[id - 256] if 256 <= id < 256 + len(self.pairs) else None


@dataclass(frozen=True)
class Piece:
    """A piece of the text, within which merges are applied.

    Attributes:
        text: its characters.
        special: the id, if it is a special token.
        merges: each merge in order, as place and rank: the part there is joined with the one after it.
    """

    text: str
    special: int | None
    merges: tuple[tuple[int, int], ...]

    def parts(self, vocabulary: Vocabulary, merges: int | None = None) -> list[int]:
        """The ids after so many merges; None is all of them."""
        if self.special is not None:
            return [self.special]
        ids = list(self.text.encode())
        for at, rank in self.merges[:merges]:
            ids[at : at + 2] = [256 + rank]
        return ids


def lowest(ids: Sequence[int], vocabulary: Vocabulary) -> tuple[int, int] | None:
    """Place and rank of the pair of neighbours with the lowest rank, the leftmost if there are several."""
    pairs = [(vocabulary.ranks[pair], at) for at, pair in enumerate(pairwise(ids)) if pair in vocabulary.ranks]
    if not pairs:
        return None
    rank, at = min(pairs)
    return at, rank


def _merged(text: str, vocabulary: Vocabulary) -> Piece:
    ids = list(text.encode())
    merges = []
    while (merge := lowest(ids, vocabulary)) is not None:
        at, rank = merge
        ids[at : at + 2] = [256 + rank]
        merges.append(merge)
    return Piece(text, None, tuple(merges))


def cut(text: str, vocabulary: Vocabulary, pretokenizer: str = "gpt2") -> list[Piece]:
    """The pieces of a text with all their merges. Special tokens come first: the longest at the leftmost place."""
    pieces: list[Piece] = []
    start = at = 0
    split = gpt2_pieces if pretokenizer == "gpt2" else (lambda part: [part] if part else [])
    while at <= len(text):
        here = max((special for special in vocabulary.specials if text.startswith(special, at)), key=len, default="")
        if here or at == len(text):
            pieces += [_merged(part, vocabulary) for part in split(text[start:at])]
        if here:
            id = 256 + len(vocabulary.pairs) + vocabulary.specials.index(here)
            pieces.append(Piece(here, id, ()))
            start = at = at + len(here)
        else:
            at += 1
    return pieces


def encode(text: str, vocabulary: Vocabulary, pretokenizer: str = "gpt2") -> list[int]:
    """The ids of a text.

    Example:
        >>> encode("the", Vocabulary.of_bytes([(b"h", b"e"), (b"t", b"he")]))
        [257]
    """
    return [id for piece in cut(text, vocabulary, pretokenizer) for id in piece.parts(vocabulary)]


# The figure


@dataclass(frozen=True)
class Moment:
    """The text after some merges, piece after piece.

    Attributes:
        done, total: merges applied, and all.
        parts: for each piece its ids.
        last, next: the piece, place and rank of the merge that was applied last and of the next, if there is one.
    """

    done: int
    total: int
    parts: list[list[int]]
    last: tuple[int, int, int] | None
    next: tuple[int, int, int] | None


def moment(pieces: Sequence[Piece], vocabulary: Vocabulary, step: int) -> Moment:
    """After `step` merges; -1 is all of them."""
    every = [(i, at, rank) for i, piece in enumerate(pieces) for at, rank in piece.merges]
    done = len(every) if step < 0 else min(step, len(every))
    parts, left = [], done
    for piece in pieces:
        now = min(left, len(piece.merges))
        left -= now
        parts.append(piece.parts(vocabulary, now))
    return Moment(
        done, len(every), parts, every[done - 1] if done else None, every[done] if done < len(every) else None
    )


def chosen(now: Moment, token: int) -> int:
    """The token that is chosen, among all: -1 is what the last merge made, or what the next begins with."""
    if token >= 0:
        return min(token, sum(map(len, now.parts)) - 1)
    piece, at, _ = now.last or now.next or (0, 0, 0)
    return sum(map(len, now.parts[:piece])) + at


def shown(data: bytes) -> str:
    """Bytes as the figure writes them: characters where they are some, else hexadecimal numbers."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return f"⟨{data.hex(' ').upper()}⟩"
    signs = {" ": "␣", "\n": "↵", "\t": "⇥"}
    out = ""
    for i, char in enumerate(text):
        category = unicodedata.category(char)
        if char in signs:
            out += signs[char]
        elif category in ("Cc", "Cf", "Co", "Zl", "Zp", "Zs"):
            out += f"⟨U+{ord(char):04X}⟩"
        else:
            out += f"◌{char}" if i == 0 and category[0] == "M" else char
    return out


def describe(vocabulary: Vocabulary, text: str, pretokenizer: str, step: int, token: int) -> str:
    """The state in sentences."""
    if not text:
        return "The text is empty: no bytes, no tokens."
    pieces = cut(text, vocabulary, pretokenizer)
    now = moment(pieces, vocabulary, step)
    ids = [id for part in now.parts for id in part]
    size = len(text.encode())

    def name(id: int) -> str:
        return f"“{shown(vocabulary.tokens[id])}”"

    sentences = [
        f"{counted(len(text), 'character')}, {counted(size, 'byte')} in UTF-8, {counted(len(pieces), 'piece')} "
        f"({'GPT-2 pattern' if pretokenizer == 'gpt2' else 'no pattern'}). "
        f"After {now.done} of {counted(now.total, 'merge')}: {counted(len(ids), 'token')}, "
        f"{two(size / len(ids))} bytes a token."
    ]
    if now.last:
        piece, _, rank = now.last
        left, right = vocabulary.pairs[rank]
        sentences.append(
            f"The last merge, learned {ordinal(rank + 1)}, joined {name(left)} and {name(right)} in piece {piece + 1} "
            f"to id {256 + rank}."
        )
    if now.next:
        piece, _, rank = now.next
        left, right = vocabulary.pairs[rank]
        sentences.append(
            f"The next joins {name(left)} and {name(right)} in piece {piece + 1}: learned {ordinal(rank + 1)}, "
            "the earliest there."
        )
    else:
        sentences.append("No two neighbours in a piece are a merge any more.")
    at = chosen(now, token)
    bytes_of = vocabulary.tokens[ids[at]].hex(" ").upper()
    sentences.append(f"Token {at + 1} is chosen: {name(ids[at])}, id {ids[at]}, bytes {bytes_of}.")
    listing = ", ".join(f"{name(id)} {id}" for id in ids[:_TOLD])
    more = f" and {len(ids) - _TOLD} more" if len(ids) > _TOLD else ""
    sentences.append(f"Tokens and ids: {listing}{more}.")
    return " ".join(sentences)


class TokenizerExplorer(Visualizer):
    """Byte-level BPE at work: type a text and see its pieces, its bytes, each merge, its tokens and ids.

    The merges are those that are given, learnt in a chapter for instance. Ids 0 to 255 are the bytes, then come the
    products of the merges in order, then the special tokens. On the plain page the same figure works without a kernel.

    Args:
        merges: the bytes that each merge joins, in the order in which they were learnt.
        text: what is tokenised, at most 500 characters.
        pretokenizer: "gpt2", whose pattern cuts the text into pieces first, or "none".
        specials: texts that are one token wherever they stand, "<|endoftext|>" for instance.
        step: merges that are applied, piece after piece; -1 is all.
        token: the token that is chosen, from 0; -1 is what the last merge made.

    Attributes:
        vocabulary: the bytes of each id, and the merges by id.
        ids: the ids of the whole text, all merges applied.

    Raises:
        ValueError: a merge joins what no merge before it makes.
        traitlets.TraitError: the text is too long, or there is no such pretokenizer.

    Example:
        >>> TokenizerExplorer([(b"h", b"e"), (b"t", b"he")], "the hen").ids
        [257, 32, 256, 110]
    """

    pairs = traitlets.Unicode(help="The ids that each merge joins, 16 bits each, little-endian, base64.").tag(sync=True)
    specials = traitlets.List(traitlets.Unicode(), help="Special tokens.").tag(sync=True)
    text = traitlets.Unicode(help="What is tokenised.").tag(sync=True)
    pretokenizer = traitlets.Enum(PRETOKENIZERS, "gpt2", help="What cuts the text into pieces.").tag(sync=True)
    step = traitlets.Int(-1, help="Merges that are applied; -1 is all.").tag(sync=True)
    token = Whole(-1, low=-1, help="The token that is chosen; -1 is what the last merge made.").tag(sync=True)

    def __init__(
        self,
        merges: Sequence[tuple[bytes, bytes]],
        text: str | None = None,
        *,
        preset: str = "english",
        pretokenizer: str = "gpt2",
        specials: Sequence[str] = (),
        **traits: Any,
    ) -> None:
        self.vocabulary = Vocabulary.of_bytes(merges, specials)
        packed = b"".join(struct.pack("<HH", *pair) for pair in self.vocabulary.pairs)
        super().__init__(
            pairs=base64.b64encode(packed).decode(),
            specials=list(specials),
            text=preset_of(setup(), preset)["text"] if text is None else text,
            pretokenizer=pretokenizer,
            **traits,
        )

    @property
    def ids(self) -> list[int]:
        return encode(self.text, self.vocabulary, self.pretokenizer)

    @traitlets.validate("text")
    def _short(self, proposal: Any) -> Any:
        if len(proposal["value"]) > setup()["limit"]:
            raise traitlets.TraitError(
                f"the text has {len(proposal['value'])} characters, more than {setup()['limit']}"
            )
        try:
            proposal["value"].encode()
        except UnicodeEncodeError as error:
            raise traitlets.TraitError("the text holds half of a surrogate pair, which UTF-8 cannot write") from error
        return proposal["value"]

    @traitlets.validate("step")
    def _counted(self, proposal: Any) -> Any:
        if proposal["value"] < -1:
            raise traitlets.TraitError("step must be -1, which is the end, or a number of merges")
        return proposal["value"]

    def _describe(self) -> str:
        return describe(self.vocabulary, self.text, self.pretokenizer, self.step, self.token)

    def _draw(self) -> str:
        pieces = cut(self.text, self.vocabulary, self.pretokenizer)
        return _picture(moment(pieces, self.vocabulary, self.step).parts, self.vocabulary, self.words)


def _columns(text: str) -> int:
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text
    )


def _picture(parts: Sequence[Sequence[int]], vocabulary: Vocabulary, words: str) -> str:
    """Static drawing: a box for each token with its id below; pieces stand apart."""
    room, row, x, y = 640.0, 46.0, 8.0, 8.0
    out = []
    for part in parts:
        for at, id in enumerate(part):
            text = shown(vocabulary.tokens[id])
            wide = max(8.4 * _columns(text), 6.6 * len(str(id))) + 8
            x += 8 if at == 0 and x > 8 else 0
            if x + wide > room and x > 8:
                x, y = 8.0, y + row
            fill = f' fill-opacity="{".16" if id % 2 else ".06"}"'
            out.append(
                f'<rect x="{x:.1f}" y="{y:g}" width="{wide:.1f}" height="22" rx="3"{fill} stroke="currentColor" '
                'stroke-opacity=".5"/>'
                f'<text x="{x + wide / 2:.1f}" y="{y + 15.5:g}">{escape(text)}</text>'
                f'<text x="{x + wide / 2:.1f}" y="{y + 34:g}" font-size="11">{id}</text>'
            )
            x += wide + 2
    high = y + row
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {room:g} {high:g}" '
        f'style="max-width:min(100%,{room:g}px);height:auto" font-family="ui-monospace,monospace" font-size="14" '
        f'text-anchor="middle" fill="currentColor" aria-label="{escape(words)}">{"".join(out)}</svg>'
    )
