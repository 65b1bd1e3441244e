"""LivingModel: the forward in JavaScript against torch on a thousand texts, its words against Python, its code."""

from __future__ import annotations

import base64
import random
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import torch
import traitlets
from playwright.sync_api import Locator

from torchbook.llm import GPT, Config
from torchbook.llm.model import rotary_tables
from torchbook.llm.train import Characters
from torchbook.viz import LivingModel
from torchbook.viz import living as of

from ..asking import SOURCES, Ask, mutant
from ..samples import Look, Sample, clicking, fill

HARNESS = "living"
CLOSE = 1e-3  # of logits, between the page and torch
ALPHABET = "\n !,.:;?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
CODEC = Characters(ALPHABET)
ATTEND = torch.nn.functional.scaled_dot_product_attention
# The one that the chapter trains, but for the number of its characters.
LLAMA = {"norm": "rms", "mlp": "swiglu", "positions": "rotary", "bias": False, "tied": False, "kv_heads": 2}
PAGE = Config(vocab_size=len(ALPHABET), context=64, layers=3, heads=4, width=96, **LLAMA)
SMALL = {"vocab_size": len(ALPHABET), "context": 24, "layers": 2, "heads": 4, "width": 32}
PARTS: dict[str, dict[str, Any]] = {
    "GPT-2's parts": {},
    "Llama's parts": LLAMA,
    "without biases": {"bias": False},
    "head of its own": {"tied": False},
    "rms": {"norm": "rms"},
    "swiglu with biases": {"mlp": "swiglu"},
    "rotary, one head of keys": {"positions": "rotary", "kv_heads": 1, "rope_base": 500.0},
    "narrow": {"hidden": 23, "eps": 1e-2},
    "an odd width": {"width": 36, "heads": 4, "context": 25},
}


@cache
def gpt(config: Config, seed: int = 0) -> GPT:
    """A model whose logits are as far apart as those of a trained one."""
    torch.manual_seed(seed)
    model = GPT(config).eval()
    for name, weight in model.named_parameters():
        torch.nn.init.normal_(weight, mean=float("norm" in name and name.endswith("weight")), std=0.15)
    return model


def texts(count: int, longest: int, seed: int) -> list[str]:
    draw = random.Random(seed)
    return ["".join(draw.choices(ALPHABET, k=draw.randint(1, longest))) for _ in range(count)]


def living(config: Config = PAGE, text: str = "To be, or not", **traits: Any) -> LivingModel:
    return LivingModel(gpt(config), CODEC, text, **traits)


def given(ask: Ask, w: LivingModel) -> None:
    """The page has the weights."""
    (count,) = ask("model", [[w.shape, base64.b64encode(w.weights).decode()]])
    assert count == len(w.shape["parts"])


def apart(ask: Ask, w: LivingModel, every: list[str]) -> float:
    """How far the page's logits are from torch's, at most."""
    given(ask, w)
    worst = 0.0
    with torch.no_grad():
        for text, page in zip(every, ask("logits", every), strict=True):
            worst = max(worst, float((torch.tensor(page) - w.rounded(CODEC.encode(text)[None])[0]).abs().max()))
    return worst


# The forward


def test_half_precision_is_read_as_torch_reads_it(ask: Ask) -> None:
    bits = torch.arange(-(2**15), 2**15, dtype=torch.int16)
    values = bits.view(torch.float16)
    finite = bits[values.isfinite()].int() & 0xFFFF
    assert ask("half", finite.tolist()) == values[values.isfinite()].double().tolist()


def test_logits_of_the_chapters_model_are_those_of_torch(ask: Ask) -> None:
    w = living()
    assert apart(ask, w, texts(550, 14, seed=1)) < CLOSE
    assert apart(ask, w, texts(4, 64, seed=2)) < CLOSE


@pytest.mark.parametrize("parts", PARTS)
def test_logits_of_all_parts_are_those_of_torch(ask: Ask, parts: str) -> None:
    config = Config(**{**SMALL, **PARTS[parts]})
    every = [*texts(49, config.context, seed=3), ALPHABET[: config.context]]
    assert apart(ask, living(config), every) < CLOSE


def test_a_checksum_finds_what_is_damaged(ask: Ask) -> None:
    w = living()
    damaged = bytearray(w.weights)
    damaged[1000] ^= 1
    for weights in (bytes(damaged), w.weights[:-2]):
        assert ask("model", [[w.shape, base64.b64encode(weights).decode()]]) == ["the weights that came are damaged"]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("first * cos[at] - second * sin[at]", "first * cos[at] + second * sin[at]"),
        ("Math.floor((head * shape.kv_heads) / shape.heads) * wide", "(head % shape.kv_heads) * wide"),
        ("1 / Math.sqrt(square + shape.eps)", "1 / Math.sqrt(square)"),
        ("0.044715", "0.04"),
    ],
)
def test_another_rule_is_found(tmp_path: Path, right: str, wrong: str) -> None:
    (tmp_path / "core").symlink_to(SOURCES / "core")
    with mutant("living", tmp_path, "living/model.js", right, wrong) as harness:
        for name in ("setup.json", "words.js"):
            (tmp_path / "living" / name).symlink_to(SOURCES / "living" / name)
        parts = PARTS["narrow"] if "eps" in right or "044" in right else LLAMA
        assert apart(harness.ask, living(Config(**{**SMALL, **parts})), texts(5, 24, seed=4)) > CLOSE


# What is shown


def test_what_the_page_makes_of_a_text_is_what_python_makes_of_it(ask: Ask) -> None:
    for config in (PAGE, Config(**SMALL)):
        w = living(config)
        given(ask, w)
        longer = [text * 3 for text in texts(4, 30, seed=5)]
        every = [*texts(12, config.context, seed=6), *longer]
        for text, page in zip(every, ask("reading", every), strict=True):
            mine = of.read(w.rounded, CODEC, text)
            assert (page["text"], page["start"]) == (mine.text, mine.start)
            for layer, others in zip(page["rows"], mine.rows, strict=True):
                for head, other in zip(layer, others, strict=True):
                    for row, weights in zip(head, other, strict=True):
                        assert max(abs(a - b / 255) for a, b in zip(row, weights, strict=True)) < 0.51 / 255 + CLOSE
            for name, step in (("sizes", of._step(mine.sizes)), ("logits", of._step(mine.logits))):
                apart = torch.tensor(page[name]) - torch.tensor(getattr(mine, name))
                assert float(apart.abs().max()) < 0.51 * step + CLOSE


def test_attention_is_what_torch_attends_to() -> None:
    for parts in PARTS.values():
        w = living(Config(**{**SMALL, **parts}), text="what, to be?")
        seen: list[torch.Tensor] = []

        def spy(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, seen: Any = seen, **how: Any) -> torch.Tensor:
            unit = torch.eye(k.shape[2]).expand(1, k.shape[1], -1, -1)  # the mean of unit vectors is the weights
            seen.append(ATTEND(q, k, unit, is_causal=True, enable_gqa=how["enable_gqa"])[0])
            return ATTEND(q, k, v, **how)

        with pytest.MonkeyPatch.context() as patch, torch.no_grad():
            patch.setattr(torch.nn.functional, "scaled_dot_product_attention", spy)
            logits = w.rounded(CODEC.encode(w.text)[None])[0]
        for layer, exact in zip(w.reading.rows, seen, strict=True):
            for head, rows in zip(layer, exact, strict=True):
                for i, row in enumerate(head):
                    assert float((torch.tensor(row) / 255 - rows[i, : i + 1]).abs().max()) < 0.51 / 255
        assert float((torch.tensor(w.reading.logits) - logits).abs().max()) <= 0.51 * of._step(w.reading.logits)


def test_sizes_are_those_of_the_stream() -> None:
    w = living(text="mean")
    model, ids = w.rounded, CODEC.encode("mean")[None]
    rotary = of_rotary(model, ids.shape[1])
    with torch.no_grad():
        x = model.token_embedding(ids)
        exact = [x.square().mean(-1).sqrt()[0]]
        for block in model.blocks:
            x = block(x, rotary)
            exact.append(x.square().mean(-1).sqrt()[0])
    apart = torch.tensor(w.reading.sizes) - torch.stack(exact, -1)
    assert float(apart.abs().max()) < of._step(w.reading.sizes)


def of_rotary(model: GPT, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    return rotary_tables(torch.arange(length), model.config.head_dim, model.config.rope_base)


def test_the_page_unpacks_what_was_packed(ask: Ask) -> None:
    w = living(others=["O", "the end"])
    for reading, page in zip(w.readings, ask("recorded", [[one, w.shape] for one in w.readings]), strict=True):
        mine = of.read(w.rounded, CODEC, reading["text"])
        assert page["rows"] == [
            [[[x / 255 for x in row] for row in head] for head in layer] for layer in mine.rows
        ]  # fmt: skip
        assert page["sizes"] == mine.sizes
        assert page["logits"] == mine.logits


def test_a_full_window_drops_its_older_half(ask: Ask) -> None:
    asked = [(length, context) for context in (1, 2, 7, 24, 64) for length in range(1, 4 * context + 2)]
    found = ask("window", [[*one] for one in asked])
    assert found == [of.window(*one) for one in asked]
    for (length, context), start in zip(asked, found, strict=True):
        assert 0 < length - start <= context
        assert start % max(1, context // 2) == 0


# What comes next


def test_chances_are_those_of_torch(ask: Ask) -> None:
    draw = random.Random(8)
    asked: list[list[Any]] = []
    for seed in range(60):
        logits = torch.randn(30, generator=torch.Generator().manual_seed(seed)).mul(4).tolist()
        asked.append([logits, draw.choice([0, 0.1, 0.5, 1, 2]), draw.choice([0.05, 0.3, 0.9, 1])])
    for (logits, temperature, top_p), (listed, kept) in zip(asked, ask("chances", asked), strict=True):
        mine, mine_kept = of.chances(logits, temperature, top_p)
        assert kept == mine_kept
        assert [i for i, _ in listed] == [i for i, _ in mine]
        assert [p for _, p in listed] == pytest.approx([p for _, p in mine], rel=1e-9)
        if temperature == 0:
            assert mine == [(max(range(30), key=logits.__getitem__), 1.0)]
            continue
        p = (torch.tensor(logits, dtype=torch.float64) / temperature).softmax(-1)
        ordered, order = p.sort(descending=True, stable=True)
        assert [i for i, _ in mine] == order.tolist()
        torch.testing.assert_close(torch.tensor([q for _, q in mine], dtype=torch.float64), ordered)
        assert kept == int((ordered.cumsum(0) - ordered < top_p - 1e-9).sum())


def test_characters_are_drawn_by_their_chances(ask: Ask) -> None:
    logits = [0.0, 1.0, 2.0, -1.0, 0.5]
    (drawn,) = ask("draws", [[logits, 0.8, 0.9, 20_000]])
    p = (torch.tensor(logits) / 0.8).softmax(-1)
    kept = p.sort(descending=True).values.cumsum(0).lt(0.9).sum() + 1
    p[p.argsort(descending=True)[kept:]] = 0
    counts = torch.bincount(torch.tensor(drawn), minlength=5) / len(drawn)
    assert counts[p == 0].sum() == 0
    assert float((counts - p / p.sum()).abs().max()) < 0.015


def test_greedy_writing_is_that_of_torch_through_full_windows(ask: Ask) -> None:
    w = living(Config(**SMALL))
    given(ask, w)
    how = {"temperature": 0, "top_p": 1}
    ((page, computed),) = ask("written", [["To be", {**how, "cache": True}, 60, 1]])
    ((anew, again),) = ask("written", [["To be", {**how, "cache": False}, 60, 1]])
    text = "To be"
    with torch.no_grad():
        for _ in range(60):
            window = text[of.window(len(text), 24) :]
            text += ALPHABET[w.rounded(CODEC.encode(window)[None])[0, -1].argmax()]
    assert page == anew == text
    # With the cache one position each, but for the first text and where the window moved: there what is left of it.
    lengths = range(5, 65)
    assert again == [length - of.window(length, 24) for length in lengths]
    moved = [of.window(length, 24) != of.window(length - 1, 24) for length in lengths]
    assert computed == [5, *(again[i] if moved[i] else 1 for i in range(1, 60))]


def test_the_cache_changes_no_draw(ask: Ask) -> None:
    w = living(Config(**SMALL))
    given(ask, w)
    how = {"temperature": 1.2, "top_p": 0.95}
    kept, anew = (ask("written", [["O, ", {**how, "cache": cache}, 50, 7]])[0][0] for cache in (True, False))
    assert kept == anew
    assert ask("written", [["O, ", {**how, "cache": True}, 50, 8]])[0][0] != kept


# Words, code and links


def test_page_says_what_python_says(ask: Ask, examples: int) -> None:
    draw = random.Random(9)
    for config in (PAGE, Config(**SMALL)):
        w = living(config, others=texts(8, 24, seed=10))
        asked, wanted = [], []
        for _ in range(examples // 50):
            reading = draw.choice(w.readings)
            w.text = reading["text"]
            w.at = draw.randrange(-1, 30)
            w.temperature = draw.choice([0, 0.1, 0.8, 1.3, 2])
            w.top_p = draw.choice([0.05, 0.5, 0.9, 1])
            w.cache = draw.random() < 0.5
            asked.append([reading, w.shape, {**w.setting, "text": w.text, "at": w.at}])
            wanted.append(w.words)
        assert ask("words", asked) == wanted


def test_a_text_that_was_not_recorded_waits_for_the_model(ask: Ask) -> None:
    (told,) = ask("words", [[None, living().shape, {"text": "abc", "at": -1, "cache": False}]])
    assert told == (
        "Text of 3 characters: “abc”. The model has to be loaded before it can read it. KV cache off."
    )  # fmt: skip


@pytest.mark.parametrize("temperature", [0, 0.8])
def test_copied_code_gives_the_same_chances(ask: Ask, temperature: float, capsys: pytest.CaptureFixture[str]) -> None:
    w = living(temperature=temperature, top_p=0.7, at=5)
    (code,) = ask("script", [[w.readings[0], w.shape, {**w.setting, "text": w.text, "at": w.at}]])
    names: dict[str, Any] = {"model": gpt(PAGE), "codec": CODEC}
    exec(compile(code, "copied", "exec"), names)
    listed, kept = of.chances(w.reading.logits[5], temperature, 0.7)
    assert len(names["kept"]) == kept
    assert repr(ALPHABET[listed[0][0]]) in capsys.readouterr().out
    with pytest.raises(AssertionError):
        exec(compile(code, "copied", "exec"), {**names, "model": gpt(PAGE, seed=1)})


def test_what_the_model_cannot_read_is_named(ask: Ask) -> None:
    asked = [["to be", ALPHABET], ["", ALPHABET], ["7 é", ALPHABET], ["a" * 1001, ALPHABET]]
    assert ask("problem", asked) == [
        "", "type a character", "the model was trained without “7”, “é”", "at most 1000 characters",
    ]  # fmt: skip


# The widget


def test_the_page_has_all_weights_once_as_16_bit_floats() -> None:
    for tied in (True, False):
        model = gpt(Config(**{**SMALL, "tied": tied}))
        w = LivingModel(model, CODEC, "to be")
        assert len(w.weights) == w.shape["bytes"] == 2 * sum(p.numel() for p in model.parameters())
        assert ("head.weight" in dict(w.shape["parts"])) != tied
        for name, weight in w.rounded.state_dict().items():
            assert weight.equal(model.state_dict()[name].half().float())


def test_words_and_picture_follow() -> None:
    w = living(text="To be", others=["O"])
    before = w.picture
    w.at = 1
    assert "Most attention of character 1 “o” in layer 0: head 0 " in w.words
    assert w.picture != before
    assert ElementTree.fromstring(w.picture).get("aria-label") == w.words
    w.text = "\n\nWhat?"
    assert w.words.startswith("Text of 7 characters, 7 in a window of 64: “↵↵What?”. ")
    w.text = "O " * 50
    assert w.words.startswith("Text of 100 characters, 36 in a window of 64: ")
    w.temperature = 0
    likeliest = ALPHABET[int(torch.tensor(w.reading.logits[0]).argmax())]
    assert f"at temperature 0.00: “{of.shown(likeliest)}” 1.00" in w.words


def test_mistakes_are_named() -> None:
    model = gpt(Config(**SMALL))
    with pytest.raises(ValueError, match="the codec has 3 characters, the model 60 tokens"):
        LivingModel(model, Characters("abc"), "a")
    with pytest.raises(ValueError, match="beyond U"):
        LivingModel(model, Characters(ALPHABET[:-1] + "🙂"), "a")
    with pytest.raises(ValueError, match="a text of 25 characters; at most 24 of each go with the page"):
        LivingModel(model, CODEC, "a" * 25)
    with pytest.raises(ValueError, match=r"take 2\.\d MB as 16-bit floats, more than the 2 MB that a page may load"):
        living(Config(vocab_size=len(ALPHABET), layers=6, width=124))
    with pytest.raises(ValueError, match="13 layers of 4 heads are more than the 48 rows"):
        living(Config(vocab_size=len(ALPHABET), layers=13, width=16))
    large = GPT(Config(**SMALL))
    torch.nn.init.constant_(large.norm.weight, 1e6)
    with pytest.raises(ValueError, match=r"norm\.weight: weights above 65504, or NaN"):
        LivingModel(large, CODEC, "a")
    w = living()
    with pytest.raises(traitlets.TraitError, match="the model knows no '7', 'é': it was trained without"):
        w.text = "7 é"
    with pytest.raises(traitlets.TraitError, match="a text of 1 to 1000 characters, not of 0"):
        w.text = ""
    with pytest.raises(traitlets.TraitError, match="temperature must be a number from 0 to 2"):
        w.temperature = 3
    with pytest.raises(traitlets.TraitError, match="at must be a whole number of at least -1"):
        w.at = -2


# The figure among all figures


FIRST = "O, she doth teach"


def living_model(config: Config | None = None, **traits: Any) -> LivingModel:
    """A small model and two texts that the page knows."""
    given = {"text": FIRST, "others": ["To be,\nor not"], **traits}
    text, others = given.pop("text"), given.pop("others")
    return LivingModel(gpt(config or Config(**SMALL)), CODEC, text, others=[FIRST, *others], **given)


def loaded(figure: Locator) -> None:
    """The model is here, and wrote something."""
    figure.get_by_role("button", name="Load the model").click()
    figure.get_by_role("button", name="Write on").click()
    figure.get_by_role("button", name="Write on").wait_for()


def sample() -> Sample:
    """How the test of all figures takes this one."""
    return Sample(
        make=living_model,
        act=clicking(".lm-char", 4), acted={"at": 4},
        other={"temperature": 1.3, "cache": False},
        linked={"text": "To be,\nor not", "at": 3, "temperature": 1.5, "top_p": 0.4, "cache": False},
        broken=("=eyJ0ZXh0IjoiNyJ9", "=eyJhdCI6LTJ9"),  # text "7", at −2
        looks=(Look({"at": 4}), Look({"top_p": 0.3}), Look({}, loaded), Look({}, fill("text", "7"))),
        plain=({"temperature": 0},),
    )  # fmt: skip
