"""LivingModel: the forward in JavaScript against torch on a thousand texts, its words against Python, its code."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable
from functools import cache
from typing import Any
from xml.etree import ElementTree

import pytest
import torch
import traitlets

from torchbook.llm import GPT, Config
from torchbook.llm.train import Characters
from torchbook.viz import LivingModel
from torchbook.viz import living as of

from ..asking import Ask, mutant
from ..samples import Look, Sample, pressing

HARNESS = "living"
CLOSE = 1e-3  # of logits, between the page and torch
ALPHABET = "\n !,.:;?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
CODEC = Characters(ALPHABET)
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
    assert apart(ask, w, texts(550, 20, seed=1)) < CLOSE
    assert apart(ask, w, texts(4, 64, seed=2)) < CLOSE


@pytest.mark.parametrize("parts", PARTS)
def test_logits_of_all_parts_are_those_of_torch(ask: Ask, parts: str) -> None:
    config = Config(**{**SMALL, **PARTS[parts]})
    every = [*texts(49, config.context, seed=3), ALPHABET[: config.context]]
    assert apart(ask, living(config), every) < CLOSE
