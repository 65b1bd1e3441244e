"""The LoRA layer that the chapter on fine-tuning teaches is the one of peft: outputs, gradients, merged weights."""

from __future__ import annotations

import copy
import math
from pathlib import Path
from typing import Any

import jupytext
import peft
import pytest
import torch
from torch import nn

PAGE = Path(__file__).parents[2] / "book" / "llm" / "l4-finetuning.md"


def _taught() -> Any:
    """The class as the page has it, so that the test is of what readers see."""
    cells = jupytext.reads(PAGE.read_text(encoding="utf-8"), fmt="md:myst").cells
    source = next(c.source for c in cells if c.cell_type == "code" and "class LoRALinear" in c.source)
    names: dict[str, Any] = {"nn": nn, "torch": torch, "math": math, "copy": copy}
    exec(source, names)
    return names["LoRALinear"]


def _both(bias: bool, r: int, alpha: int, **choices: Any) -> tuple[nn.Module, nn.Module, Any]:
    torch.manual_seed(r)
    plain = nn.Linear(24, 16, bias=bias)
    config = peft.LoraConfig(r=r, lora_alpha=alpha, target_modules=["0"], **choices)
    theirs = peft.get_peft_model(nn.Sequential(copy.deepcopy(plain)), config)
    layer = theirs.base_model.model[0]
    effective = layer.scaling["default"] * r  # the page's layer takes alpha and divides by r
    ours = _taught()(copy.deepcopy(plain), r, effective)
    nn.init.normal_(ours.B)
    layer.lora_A["default"].weight.data = ours.A.detach().clone()
    layer.lora_B["default"].weight.data = ours.B.detach().clone()
    return ours, theirs, layer


CASES = [(True, 4, 8, {}), (False, 1, 3, {}), (True, 9, 6, {"use_rslora": True})]


@pytest.mark.parametrize(("bias", "r", "alpha", "choices"), CASES)
def test_outputs_and_gradients_are_equal(bias: bool, r: int, alpha: int, choices: dict[str, Any]) -> None:
    ours, theirs, layer = _both(bias, r, alpha, **choices)
    x = torch.randn(5, 7, 24)
    for model in (ours, theirs):
        model(x).square().mean().backward()
    torch.testing.assert_close(ours(x), theirs(x))
    torch.testing.assert_close(ours.A.grad, layer.lora_A["default"].weight.grad)
    torch.testing.assert_close(ours.B.grad, layer.lora_B["default"].weight.grad)
    assert ours.linear.weight.grad is None
    assert layer.base_layer.weight.grad is None


@pytest.mark.parametrize(("bias", "r", "alpha", "choices"), CASES)
def test_merged_weights_are_equal(bias: bool, r: int, alpha: int, choices: dict[str, Any]) -> None:
    ours, theirs, _ = _both(bias, r, alpha, **choices)
    x = torch.randn(3, 24)
    before, merged = ours(x), ours.merged()
    whole = theirs.merge_and_unload()[0]
    torch.testing.assert_close(merged.weight, whole.weight)
    torch.testing.assert_close(merged(x), before)
    torch.testing.assert_close(ours(x), before)  # merging left the layer as it was


def test_rank_stabilised_scaling_divides_by_the_root() -> None:
    _, _, layer = _both(True, 9, 6, use_rslora=True)
    assert layer.scaling["default"] == pytest.approx(6 / 3)


def test_both_start_without_effect_and_train_the_same_number() -> None:
    plain = nn.Linear(24, 16)
    ours = _taught()(copy.deepcopy(plain), 4, 8)
    config = peft.LoraConfig(r=4, lora_alpha=8, target_modules=["0"])
    theirs = peft.get_peft_model(nn.Sequential(copy.deepcopy(plain)), config)
    x = torch.randn(3, 24)
    assert ours(x).equal(plain(x))
    assert theirs(x).equal(plain(x))
    count = sum(p.numel() for p in ours.parameters() if p.requires_grad)
    assert count == theirs.get_nb_trainable_parameters()[0] == 4 * (24 + 16)
