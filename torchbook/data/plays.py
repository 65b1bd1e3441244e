"""Scenes that nobody wrote, of Tiny Shakespeare's length and alphabet, for a machine without the file or a network.

The same characters come out on every platform and with every NumPy since 1.26: the draws come from
`numpy.random.RandomState`, whose streams NumPy has frozen (NEP 19), and everything else is choosing words.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

LENGTH = 1_115_394
"""Characters of the text, as many as Tiny Shakespeare has."""
FINGERPRINT = "ecadfe246ac0084b3119a8f44df3bec0049453eeecdb59b4bcb24ccc7da0c79d"
"""sha256 of the text."""
WIDTH = 46  # characters after which a line of verse is broken

SPEAKERS = (
    "First Miller",
    "Second Miller",
    "KEEPER",
    "QUEEN ISOLDE",
    "JOHN OF ZELL",
    "Ferryman",
    "VALENTIN",
    "HERMIA'S Nurse",
    "Xavier",
    "Watchman",
    "LADY BRIDGEWATER",
    "OLD GAUNT",
    "Physician",
    "All",
)
WORDS = {
    "noun": "king crown river sword night morning letter mother brother winter garden mercy horse field cup fire "
    "heart tongue grave quarrel judge voyage queen village harvest oath ghost prison jewel wolf",
    "plural": "kings swords letters brothers horses fields hearts tongues graves oaths ghosts jewels wolves enemies "
    "friends neighbours lies thousand reasons",
    "adjective": "cold gentle bitter noble false weary golden quiet jealous ancient blessed zealous foolish proud "
    "sweet hollow exact",
    "verb": "love fear forgive remember follow question bury carry know forsake expect deliver judge praise vex keep",
    "past": "loved feared forgave remembered followed questioned buried carried knew forsook expected delivered judged",
    "name": "Isolde Valentin Gaunt Rosalind Oliver Ursula Edmund Quentin Yorick Zara Hermia Paul Imogen Kate Fabian "
    "Duncan Lewis Malvolio Thomas Bianca Jack Ned Xavier William",
    "adverb": "never always gladly hardly often tomorrow again alone",
}
SENTENCES = (
    "I {adverb} {verb} the {adjective} {noun}",
    "What {noun} is this, that we should {verb} it",
    "O {adjective} {noun}, why hast thou {past} me",
    "The {noun} of {name} is {adjective}; the {noun} of {name} is not",
    "If {name} {past} thee, then {verb} the {noun}",
    "Good {name}, {verb} my {adjective} {plural}",
    "He {past} the {noun}, and she {past} the {plural}",
    "Let us {verb} them all before the {noun}",
    "'Tis not the {noun} I fear, but the {adjective} {plural}",
    "Go, {name}, and {verb} the well-{past} {noun}",
    "Thou art more {adjective} than any {noun} in {name}'s house",
    "My lord, the {plural} have {past} your {noun}",
    "By this {noun} I swear: {name} shall {verb} no more {plural}",
    "She took $3 & a {noun} from the {adjective} {noun}",
)
_LISTS = {kind: words.split() for kind, words in WORDS.items()}
ENDS = ".", ".", ".", ";", "!", "?", ","


class _Draws:
    """Numbers below a bound, from a stream that is frozen."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.RandomState(seed)
        self.waiting: list[int] = []

    def below(self, bound: int) -> int:
        if not self.waiting:
            self.waiting = self.random.randint(0, 2**31 - 1, size=10_000, dtype=np.int64).tolist()
        # The lower number of two is taken, so that early words are common and late ones rare.
        return min(self.waiting.pop() % bound, self.waiting.pop() % bound)


def _words(draws: _Draws) -> Iterator[str]:
    """The words of a few sentences."""
    for _ in range(1 + draws.below(4)):
        sentence = SENTENCES[draws.below(len(SENTENCES))]
        while "{" in sentence:
            start, stop = sentence.index("{"), sentence.index("}")
            kind = _LISTS[sentence[start + 1 : stop]]
            sentence = sentence[:start] + kind[draws.below(len(kind))] + sentence[stop + 1 :]
        yield from f"{sentence}{ENDS[draws.below(len(ENDS))]}".split()


def _lines(words: Iterator[str]) -> Iterator[str]:
    line = ""
    for word in words:
        if line and len(line) + 1 + len(word) > WIDTH:
            yield line
            line = ""
        line = f"{line} {word}" if line else word[0].upper() + word[1:]
    yield line


@lru_cache(maxsize=1)
def text() -> str:
    """The whole text, ASCII, `LENGTH` characters, the 65 different ones that Tiny Shakespeare has."""
    draws, parts, length = _Draws(3_000), [], 0
    while length < LENGTH:
        speech = "\n".join([f"{SPEAKERS[draws.below(len(SPEAKERS))]}:", *_lines(_words(draws))]) + "\n\n"
        parts.append(speech)
        length += len(speech)
    return "".join(parts)[: LENGTH - 1] + "\n"
