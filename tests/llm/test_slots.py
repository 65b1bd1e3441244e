"""The Llama with slots is Llama while they are empty, and another model when one is filled."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import torch

from torchbook.llm import GPT
from torchbook.llm.ports import Change, large, loaded
from torchbook.llm.slots import CONFIG, SIZES, Block, Model, build, port, proof, qk_norm, wider_heads, without

IDS = torch.arange(80).view(2, 40)
CHANGES: Mapping[str, Change] = {"wider": wider_heads, "norm": qk_norm}


def test_with_empty_slots_it_is_the_llama_of_the_book() -> None:
    torch.manual_seed(0)
    ours = large(GPT(CONFIG))
    with torch.no_grad():
        logits = loaded(build({}), ours.state_dict())(IDS)
        torch.testing.assert_close(logits, ours(IDS), rtol=1e-4, atol=1e-4)


def test_both_names_of_the_sizes_say_the_same() -> None:
    pairs = {"hidden_size": CONFIG.width, "num_hidden_layers": CONFIG.layers, "intermediate_size": CONFIG.inner}
    pairs |= {"num_attention_heads": CONFIG.heads, "num_key_value_heads": CONFIG.key_heads}
    pairs |= {"vocab_size": CONFIG.vocab_size, "max_position_embeddings": CONFIG.context}
    assert {name: SIZES[name] for name in pairs} == pairs


def test_wider_heads_leave_the_width_of_the_stream() -> None:
    block = build({"wider": wider_heads}).blocks[0]
    assert isinstance(block, Block)
    assert [tuple(p.shape) for p in block.attention.parameters()] == [(64, 32), (32, 32), (32, 32), (32, 64)]


@pytest.mark.parametrize("slot", ["window", "base", "act", "attention_after"])
def test_a_filled_slot_of_a_block_changes_the_logits(slot: str) -> None:
    torch.manual_seed(0)
    model = large(build({}))
    filled = {"window": 8, "base": 1e6, "act": torch.relu, "attention_after": torch.tanh}[slot]
    with torch.no_grad():
        before = model(IDS)
        for block in model.blocks:
            setattr(block, slot, filled)
        assert not torch.allclose(model(IDS), before, atol=1e-2)


def test_a_window_counts_the_token_itself() -> None:
    torch.manual_seed(0)
    block = large(build({})).blocks[0]
    assert isinstance(block, Block)
    block.window = 3
    x = torch.randn(1, 8, CONFIG.width, requires_grad=True)
    block(x, torch.arange(8))[0, -1].square().sum().backward()
    assert x.grad is not None
    assert x.grad[0].abs().sum(-1).nonzero().flatten().tolist() == [5, 6, 7]


def test_a_forgotten_change_that_has_weights_is_refused() -> None:
    theirs = build(CHANGES)
    assert isinstance(port(theirs, CHANGES, {}), Model)
    with pytest.raises(RuntimeError, match="query_norm"):
        port(theirs, without(CHANGES, "norm"), {})


def test_a_proof_says_which_change_was_forgotten(capsys: pytest.CaptureFixture[str]) -> None:
    from transformers import LlamaConfig, LlamaForCausalLM

    proof(large(LlamaForCausalLM(LlamaConfig(**SIZES))), {"none": lambda model: model}, "none", ids=IDS)
    said = capsys.readouterr().out
    assert "complete" in said
    assert "without none" in said
