"""TokenizerExplorer: its ids against the library `tokenizers` on random texts, the page against Python."""

from __future__ import annotations

import base64
import random
import struct
import unicodedata
from collections import Counter
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest
import regex
import traitlets
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from torchbook.viz import TokenizerExplorer
from torchbook.viz import tokenizer as of

from ..asking import Ask, Harnesses
from ..samples import Look, Sample, fill

SPECIALS = ("<|endoftext|>", "<|end|>", "<|end|>x", "ß€")
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CORPUS = """To be, or not to be, that is the question:
Whether 'tis nobler in the mind to suffer the slings and arrows of outrageous fortune, or to take arms
against a sea of troubles, and by opposing end them. I'll say we're not what they've said he'd do; it's 1603, 1604.
Über Fußgänger schön größer; 你好，世界。你好。 🙂🙂👩🏽‍🚀 café café aaaaaaa aaa    if x:\n        return  x\n"""
ALPHABET = [
    *"etaoinshrdlu ETA   \n\t\r\u00a0'''’.,;!?0123456789äöüßéı",
    *"\u0301\u0308\u200d\u200b\ufeff\u0085\u2028\u3000\u001c\x00\x7f\u00ad",
    *"你好世界。，アカサ한글שלוםمرحبا٣४Ⅳ½²ⅷ〇🙂👩🏽🚀🇩🇪\ufe0f𝔘𐍈",
]  # fmt: skip


def learn(text: str, count: int) -> list[tuple[bytes, bytes]]:
    """Merges of byte-level BPE, the plain way."""
    words = Counter(tuple(bytes([b]) for b in piece.encode()) for piece in regex.findall(GPT2, text))
    merges = []
    for _ in range(count):
        pairs: Counter[tuple[bytes, bytes]] = Counter()
        for word, times in words.items():
            for pair in pairwise(word):
                pairs[pair] += times
        best = max(pairs, key=lambda pair: (pairs[pair], pair), default=None)
        if best is None:
            break
        merges.append(best)
        after: Counter[tuple[bytes, ...]] = Counter()
        for word, times in words.items():
            parts, at = [], 0
            while at < len(word):
                double = word[at : at + 2] == best
                parts.append(word[at] + word[at + 1] if double else word[at])
                at += 1 + double
            after[tuple(parts)] += times
        words = after
    return merges


MERGES = learn(CORPUS * 2, 260)


def vocabulary(merges: list[tuple[bytes, bytes]] = MERGES, specials: tuple[str, ...] = SPECIALS) -> of.Vocabulary:
    return of.Vocabulary.of_bytes(merges, specials)


def library(known: of.Vocabulary, pretokenizer: str) -> Tokenizer:
    """The same tokeniser, by Hugging Face's library."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {byte: chr(byte) for byte in plain}
    letters |= {byte: chr(256 + i) for i, byte in enumerate(byte for byte in range(256) if byte not in plain)}
    names = ["".join(letters[b] for b in token) for token in known.tokens[: 256 + len(known.pairs)]]
    merges = [(names[left], names[right]) for left, right in known.pairs]
    made = Tokenizer(models.BPE(vocab={name: i for i, name in enumerate(names)}, merges=merges))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=pretokenizer == "gpt2")
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens(list(known.specials))
    return made


def texts(count: int, seed: int, longest: int = 40) -> list[str]:
    """Random texts of words of the corpus, characters that matter, and any others that are assigned."""
    draw = random.Random(seed)
    any_of = [chr(i) for i in range(0x2FA1E) if unicodedata.ucd_3_2_0.category(chr(i)) not in ("Cs", "Cn", "Co")]
    words = CORPUS.split(" ")
    strings = []
    for _ in range(count):
        parts = []
        for _ in range(draw.randint(0, longest)):
            kind = draw.random()
            if kind < 0.5:
                parts.append(draw.choice(ALPHABET))
            elif kind < 0.8:
                parts.append(draw.choice(["", " "]) + draw.choice(words))
            elif kind < 0.97:
                parts.append(draw.choice(any_of))
            else:
                parts.append(draw.choice(SPECIALS))
        strings.append("".join(parts)[: of.setup()["limit"]])
    return strings


def packed(known: of.Vocabulary) -> str:
    return base64.b64encode(b"".join(struct.pack("<HH", *pair) for pair in known.pairs)).decode()


@pytest.fixture(scope="module")
def ask(harnesses: Harnesses) -> Ask:
    known, language = vocabulary(), harnesses["language"]
    assert language.ask("vocabulary", [[packed(known), list(known.specials)]]) == [len(known.tokens)]
    return language.ask


# Ids, of the page and of Python, against the library


def test_pieces_are_those_of_the_pattern(ask: Ask, examples: int) -> None:
    every = texts(examples // 2, seed=1)
    for text, page in zip(every, ask("pieces", every), strict=True):
        assert of.gpt2_pieces(text) == page == regex.findall(GPT2, text), repr(text)


@pytest.mark.parametrize("pretokenizer", of.PRETOKENIZERS)
def test_ids_are_those_of_the_library(ask: Ask, pretokenizer: str, examples: int) -> None:
    known = vocabulary()
    theirs = library(known, pretokenizer)
    every = texts(examples // 2, seed=2)
    expected = [encoding.ids for encoding in theirs.encode_batch(every)]
    for text, wanted, page in zip(every, expected, ask("encode", [[t, pretokenizer] for t in every]), strict=True):
        assert page == wanted, repr(text)
        assert of.encode(text, known, pretokenizer) == wanted, repr(text)


def test_other_merges_too(ask: Ask, examples: int) -> None:
    """Merges in a random order that is possible, such as no training would give."""
    draw = random.Random(3)
    try:
        for _ in range(12):
            tokens = [bytes([i]) for i in range(256)]
            merges: list[tuple[bytes, bytes]] = []
            while len(merges) < 90:
                of_these = [bytes([b]) for b in b"aet h\xc3\xa4"] + tokens[256:]
                pair = (draw.choice(of_these), draw.choice(of_these))
                if pair[0] + pair[1] not in tokens and len(pair[0] + pair[1]) < 9:
                    merges.append(pair)
                    tokens.append(pair[0] + pair[1])
            known = vocabulary(merges)
            ask("vocabulary", [[packed(known), list(known.specials)]])
            every = ["".join(draw.choices("aaaeth ä", k=draw.randint(1, 60))) for _ in range(examples // 80)]
            expected = [encoding.ids for encoding in library(known, "none").encode_batch(every)]
            assert ask("encode", [[text, "none"] for text in every]) == expected
            assert [of.encode(text, known, "none") for text in every] == expected
    finally:
        known = vocabulary()
        ask("vocabulary", [[packed(known), list(known.specials)]])


def test_ids_decode_to_the_text(ask: Ask, examples: int) -> None:
    known = vocabulary()
    every = texts(examples // 8, seed=4)
    ids = [of.encode(text, known) for text in every]
    assert ask("decode", ids) == every
    assert [b"".join(known.tokens[id] for id in sequence).decode() for sequence in ids] == every
    half = [[0xC3], [0xE4, 0xBD], [0xF0, 0x9F, 0x41], [0xFF, 0xA4]]
    assert ask("decode", half) == [bytes(sequence).decode(errors="replace") for sequence in half]


def test_steps_are_the_same_on_the_page(ask: Ask, examples: int) -> None:
    known = vocabulary()
    draw = random.Random(5)
    every = [[text, draw.choice(of.PRETOKENIZERS), draw.randint(-1, 60)] for text in texts(examples // 8, seed=6)]
    for (text, pretokenizer, step), page in zip(every, ask("moment", every), strict=True):
        pieces = of.cut(text, known, pretokenizer)
        now = of.moment(pieces, known, step)
        mine = [now.done, now.total, now.parts, now.last and list(now.last), now.next and list(now.next)]
        assert page == mine, repr(text)
        assert sum(map(len, now.parts)) == sum(p.special is not None or len(p.text.encode()) for p in pieces) - now.done


def test_each_merge_is_the_lowest_of_its_piece() -> None:
    known = vocabulary()
    for text in texts(150, seed=7):
        for piece in of.cut(text, known, "none"):
            for done, merge in enumerate(piece.merges):
                ids = piece.parts(known, done)
                ranks = [known.ranks.get(pair, 10**6) for pair in pairwise(ids)]
                assert merge == (ranks.index(min(ranks)), min(ranks))
            assert of.lowest(piece.parts(known), known) is None


def test_tree_of_a_piece_spans_its_bytes(ask: Ask) -> None:
    known = vocabulary()
    draw = random.Random(12)
    every = [["".join(draw.choices(ALPHABET, k=draw.randint(1, 25))), draw.randint(0, 12)] for _ in range(200)]
    for (text, merges), (nodes, roots) in zip(every, ask("tree", every), strict=True):
        (piece,) = of.cut(text, known, "none")
        assert roots == piece.parts(known, merges)
        raw = text.encode()
        for id, first, size, level, parts in nodes:
            assert known.tokens[id] == raw[first : first + size]
            below = [nodes[part] for part in parts]
            assert [part[0] for part in below] == (list(known.pairs[id - 256]) if id >= 256 else [])
            assert level == (1 + max(part[3] for part in below) if below else 0)
        assert len(nodes) == len(raw) + min(merges, len(piece.merges))


# The page


def test_page_says_what_python_says(ask: Ask, examples: int) -> None:
    known = vocabulary()
    draw = random.Random(8)
    every: list[list[Any]] = [
        [text, draw.choice(of.PRETOKENIZERS), draw.randint(-1, 50), draw.randint(0, 30)]
        for text in texts(examples // 8, seed=9)
    ]
    every += [[preset["set"]["text"], "gpt2", -1, 0] for preset in of.setup()["presets"].values()]
    for case, page in zip(every, ask("tokenizer_words", every), strict=True):
        assert page == of.describe(known, *case), case


def test_bytes_are_written_alike(ask: Ask) -> None:
    every = [text.encode()[i : i + 7] for i, text in enumerate(texts(300, seed=10))]
    every += [bytes([i]) for i in range(256)] + ["\u0301a".encode(), "\ufeff".encode(), b"\xed\xa0\x80"]
    assert ask("shown", [list(raw) for raw in every]) == [of.shown(raw) for raw in every]
    assert of.shown(b" a\n") == "␣a↵"
    assert of.shown(b"\xe4\xbd") == "⟨E4 BD⟩"


def test_copied_code_runs_and_agrees(ask: Ask, capsys: pytest.CaptureFixture[str]) -> None:
    known = vocabulary()
    every = [[text, draw] for text in texts(6, seed=11) for draw in of.PRETOKENIZERS]
    for (text, pretokenizer), code in zip(every, ask("tokenizer_script", every), strict=True):
        names: dict[str, Any] = {}
        exec(compile(code, "copied", "exec"), names)
        assert names["ids"] == of.encode(text, known, pretokenizer)
        assert max(len(line) for line in code.split("PAIRS = [")[1].split("]")[0].splitlines()) <= 88
        assert "tensor" in capsys.readouterr().out


def test_states_of_links_are_checked(ask: Ask) -> None:
    good = [{}, {"text": "a"}, {"text": "🙂" * 500}, {"pretokenizer": "none", "step": -1, "token": 3}]
    bad = [None, 3, {"text": 3}, {"text": "a" * 501}, {"text": "\ud83d"}, {"step": -2}, {"step": 0.5}, {"token": -2}]
    bad += [{"pretokenizer": "bert"}, {"pairs": ""}]
    assert ask("tokenizer_state", good) == [True] * len(good)
    assert not any(ask("tokenizer_state", bad))


# The presets' notes


def test_notes_of_presets_are_true() -> None:
    presets = of.setup()["presets"]
    assert all(len(preset["set"]["text"]) <= of.setup()["limit"] for preset in presets.values())
    assert all(
        piece[0] == " " for piece in of.gpt2_pieces(presets["english"]["set"]["text"])[1:] if piece[0] not in ",."
    )
    case = ["the", " The", " THE", " ", " the", "\n", "the", " the", "."]
    assert of.gpt2_pieces(presets["case"]["set"]["text"]) == case
    assert of.gpt2_pieces(presets["code"]["set"]["text"])[5:8] == ["\n   ", " if", " x"]
    assert of.gpt2_pieces(presets["chinese"]["set"]["text"]) == ["你好", "，", "世界", "。", "今天天气很好", "。"]
    astronaut = presets["emoji"]["set"]["text"].split(" ")[0]
    assert (len(astronaut), len(astronaut.encode())) == (4, 15)
    same, alike = presets["emoji"]["set"]["text"].split(" ")[-2:]
    assert same != alike
    assert same == unicodedata.normalize("NFC", alike)
    assert of.gpt2_pieces(presets["trailing"]["set"]["text"])[-2:] == [" be", " "]


# The widget


@pytest.mark.parametrize("preset", sorted(of.setup()["presets"]))
def test_words_and_picture(preset: str) -> None:
    w = TokenizerExplorer(MERGES, of.setup()["presets"][preset]["set"]["text"])
    assert ElementTree.fromstring(w.picture).get("aria-label") == w.words
    assert f" {w.ids[0]}," in w.words


def test_words_and_picture_follow() -> None:
    w = TokenizerExplorer(MERGES, "to be", specials=SPECIALS)
    before = w.picture
    w.step = 0
    assert "After 0 of" in w.words
    assert w.picture != before
    w.text = ""
    assert w.words == "The text is empty: no bytes, no tokens."
    ElementTree.fromstring(w.picture)
    w.text = "<|endoftext|>"
    assert w.ids == [256 + len(MERGES)]


def test_mistakes_are_named() -> None:
    with pytest.raises(ValueError, match=r"merge 0 joins b'he', which no merge before it makes"):
        TokenizerExplorer([(b"t", b"he")])
    with pytest.raises(ValueError, match="merge 2 makes b'aaa', which there is already"):
        TokenizerExplorer([(b"a", b"a"), (b"aa", b"a"), (b"a", b"aa")])
    with pytest.raises(ValueError, match="special tokens must differ"):
        TokenizerExplorer(MERGES, specials=["x", "x"])
    w = TokenizerExplorer(MERGES)
    with pytest.raises(traitlets.TraitError, match="501 characters, more than 500"):
        w.text = "a" * 501
    with pytest.raises(traitlets.TraitError, match="half of a surrogate pair"):
        w.text = "\ud83d"
    with pytest.raises(traitlets.TraitError, match="step must be -1"):
        w.step = -2
    with pytest.raises(traitlets.TraitError, match="token must be a whole number of at least -1, not -2"):
        w.token = -2


# The figure among all figures


NINE = [(b"t", b"h"), (b"th", b"e"), (b" ", b"the"), (b"a", b"n"), (b"an", b"d"), (b" ", b"t"), (b" t", b"o"),
          (b"b", b"e"), (b"\xc3", b"\xa9")]  # fmt: skip


def tokenizer_explorer(text: str | None = None, **traits: Any) -> TokenizerExplorer:
    """Nine merges and a special token."""
    usual = None if "preset" in traits else "to the end, and then"
    return TokenizerExplorer(NINE, usual if text is None else text, specials=["<|endoftext|>"], **traits)


def sample() -> Sample:
    """How the test of all figures takes this one."""
    return Sample(
        make=tokenizer_explorer,
        act=fill("text", "and"), acted={"text": "and"},
        linked={"text": "the é\n<|endoftext|>", "step": 2, "token": 1}, broken=("=eyJ0ZXh0IjozfQ",),  # text 3
        looks=tuple(Look({"preset": name, "step": 2}) for name in ("english", "emoji")),
        plain=({"text": "to be or not to be, 你好 the end"},), targets="button, input, select, textarea",
    )  # fmt: skip
