import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

Pair = tuple[int, int]


def split(text: str) -> list[str]:
    """Cut a text into pieces: words and signs, each with the space before it, and white space."""
    return re.findall(r" ?\w+| ?[^\w\s]+|\s+", text)


def joined(tokens: Sequence[int], pair: Pair, new: int) -> list[int]:
    """Return the tokens with `new` in place of each `pair`, from the left."""
    ### BEGIN SOLUTION
    found: list[int] = []
    at = 0
    while at < len(tokens):
        if tuple(tokens[at : at + 2]) == pair:
            found.append(new)
            at += 2
        else:
            found.append(tokens[at])
            at += 1
    return found
    ### END SOLUTION


def learn(texts: Iterable[str], n: int) -> list[Pair]:
    """Learn up to n merges."""
    ### BEGIN SOLUTION
    times = Counter(piece for text in texts for piece in split(text))
    words = {piece: list(piece.encode()) for piece in times}
    merges: list[Pair] = []
    while len(merges) < n:
        pairs: Counter[Pair] = Counter()
        for piece, tokens in words.items():
            for pair in pairwise(tokens):
                pairs[pair] += times[piece]
        if not pairs:
            break
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        if pairs[best] < 2:
            break
        words = {piece: joined(tokens, best, 256 + len(merges)) for piece, tokens in words.items()}
        merges.append(best)
    return merges
    ### END SOLUTION


def encode(text: str, merges: Sequence[Pair], specials: Sequence[str] = ()) -> list[int]:
    """Return the tokens of a text."""
    ### BEGIN SOLUTION
    rank = {pair: k for k, pair in enumerate(merges)}
    numbers = {special: 256 + len(merges) + i for i, special in enumerate(specials)}
    parts = re.split("(" + "|".join(map(re.escape, specials)) + ")", text) if specials else [text]
    found: list[int] = []
    for part in parts:
        if part in numbers:
            found.append(numbers[part])
            continue
        for piece in split(part):
            tokens = list(piece.encode())
            while True:
                known = [pair for pair in pairwise(tokens) if pair in rank]
                if not known:
                    break
                first = min(known, key=rank.__getitem__)
                tokens = joined(tokens, first, 256 + rank[first])
            found += tokens
    return found
    ### END SOLUTION


def decode(tokens: Sequence[int], merges: Sequence[Pair], specials: Sequence[str] = ()) -> str:
    """Return the text of the tokens."""
    ### BEGIN SOLUTION
    held = [bytes([b]) for b in range(256)]
    for left, right in merges:
        held.append(held[left] + held[right])
    held += [special.encode() for special in specials]
    return b"".join(held[token] for token in tokens).decode(errors="replace")
    ### END SOLUTION
