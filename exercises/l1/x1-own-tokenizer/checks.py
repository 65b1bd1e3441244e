import random


def _learnt(learn, texts, n):
    found = [tuple(pair) for pair in learn(texts, n)]
    assert all(type(number) is int for pair in found for number in pair), "a merge is a pair of plain integers"
    return found


def test_classic(learn):
    found = _learnt(learn, ["aaabdaaabac"], 3)
    assert found == [(97, 97), (97, 98), (256, 257)], (
        f"aaabdaaabac: first aa, then ab, then the pair of these two new tokens; not {found}"
    )


def test_ties(learn):
    found = _learnt(learn, ["zy", "zy", "ab", "ab"], 2)
    assert found == [(97, 98), (122, 121)], f"zy and ab occur twice each: the smaller pair comes first, not {found}"


def test_overlap(learn):
    found = _learnt(learn, ["bbb", "ca", "ca"], 2)
    assert found == [(98, 98), (99, 97)], (
        f"bbb has the pair (98, 98) twice, and after this merge, no pair occurs twice; not {found}"
    )


def test_pieces(learn):
    found = _learnt(learn, ["ab ab ab ab ab ab"], 20)
    made = [bytes([b]) for b in range(256)]
    for left, right in found:
        made.append(made[left] + made[right])
    across = [token.decode() for token in made[256:] if b" " in token[1:]]
    assert not across, f"the token {across[0]!r} crosses the end of a piece: a space begins the next piece"


def test_frequencies(learn):
    found = _learnt(learn, ["the the the the", "cat", "cab", "the"], 1)
    assert found[0] == (104, 101), f"`the` occurs five times in two texts; the first merge is `h`, `e`, not {found[0]}"


def test_stops(learn):
    assert _learnt(learn, ["abc"], 5) == [], "no pair of abc occurs twice"
    for nothing in ([], [""], ["a"]):
        try:
            assert _learnt(learn, nothing, 3) == [], "without a pair, there is no merge"
        except (ValueError, IndexError, KeyError) as error:
            raise AssertionError(
                f"learn({nothing}, 3) raised {type(error).__name__}: stop when no pair is left"
            ) from None
    assert len(_learnt(learn, ["abab"], 100)) == 1, "abab has one merge, because afterwards (256, 256) occurs only once"


def test_encode(encode):
    assert list(encode("abab", [(97, 98), (256, 256)])) == [257], "merges apply to what earlier merges made"
    assert list(encode("xyz", [])) == [120, 121, 122], "without merges, the tokens of a text are its bytes"
    assert list(encode("", [(97, 98)])) == [], "an empty text has no tokens"


def test_encode_overlap(encode):
    assert list(encode("aaa", [(97, 97)])) == [256, 97], (
        "aaa with the merge aa: go from the left, and use each letter once"
    )


def test_order_of_the_rules(encode):
    found = list(encode("abc", [(98, 99), (97, 98)]))
    assert found == [97, 256], f"the merge that was learned first is applied first: a, bc; not {found}"


def test_round_trip(encode, decode):
    merges = [(104, 101), (195, 169), (32, 256)]
    for text in ("the hé é", "naïve – 図書館", "👩‍🚀\n\n\t x", "he<|end|>"):
        try:
            tokens = list(encode(text, merges))
            assert all(0 <= token < 259 for token in tokens), "every token is a byte or a merge"
            found = decode(tokens, merges)
        except (ValueError, IndexError, KeyError, OverflowError) as error:
            raise AssertionError(f"{text!r}: {type(error).__name__}; a byte-level tokenizer knows every text") from None
        assert found == text, f"{text!r} came back as {found!r}"


def test_incomplete(decode):
    try:
        found = decode([97, 195], [])
    except UnicodeDecodeError:
        raise AssertionError(
            "a sequence may be cut within a character: decode the rest to a replacement character"
        ) from None
    assert found == "a\ufffd", f"the first byte of é alone is one replacement character, not {found!r}"
    assert decode([195, 169], []) == "é", "two tokens, one character: join the bytes before you decode them"


def test_specials(encode, decode):
    merges, specials = [(97, 98)], ["<|end|>", "<|pad|>"]
    found = list(encode("ab<|end|>ab<|pad|>", merges, specials))
    assert found == [256, 257, 256, 258], (
        f"a special token is one token, with a number after those of the merges; not {found}"
    )
    assert decode(found, merges, specials) == "ab<|end|>ab<|pad|>", "special tokens have a text too"


def test_specials_of_strangers(encode):
    found = list(encode("ab<|end|>", [(97, 98)]))
    assert found == [256, *b"<|end|>"], f"no special tokens were passed, so these are plain characters, not {found}"


def _corpus(draw):
    letters = "abcé 'x\n"
    return ["".join(draw.choice(letters) for _ in range(draw.randint(0, 60))) for _ in range(8)]


def test_hidden_random(learn, encode, decode, reference, seed):
    draw = random.Random(seed)
    for _ in range(8):
        corpus = _corpus(draw)
        size = draw.randint(1, 25)
        expected = reference.learn(corpus, size)
        assert _learnt(learn, list(corpus), size) == expected, "for random texts, the merges are wrong"
        for line in _corpus(draw):
            wanted = reference.encode(line, expected)
            assert list(encode(line, expected)) == wanted, "for a random text, the tokens are wrong"
            assert decode(wanted, expected) == line, "a random text does not come back"


def test_hidden_library(encode, reference, seed):
    try:
        from tokenizers import Tokenizer, models
    except ImportError:
        return
    draw = random.Random(seed + 1)
    words = ["".join(draw.choice("abcd") for _ in range(draw.randint(1, 30))) for _ in range(40)]
    rules = reference.learn(words, 30)
    names = [chr(number) for number in range(256)]
    for one, two in rules:
        names.append(names[one] + names[two])
    named = [(names[one], names[two]) for one, two in rules]
    theirs = Tokenizer(models.BPE(vocab={name: i for i, name in enumerate(names)}, merges=named))
    for word in words:
        assert list(encode(word, rules)) == theirs.encode(word).ids, "Hugging Face's tokenizers gives other tokens"
