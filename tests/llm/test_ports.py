"""What compares a port with the published model notices what it should."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor, nn

from torchbook.llm import GPT, Config
from torchbook.llm.ports import (
    DEEPSEEK_NAMES,
    Change,
    compare,
    gap,
    large,
    loaded,
    met,
    renamed,
    three_tests,
    tiny,
    traits,
)

LLAMA = Config(
    vocab_size=13, context=16, layers=1, heads=2, width=8, norm="rms", mlp="swiglu", positions="rotary", bias=False
)


class Theirs(nn.Module):
    """A model of ours that answers as those of transformers do."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor) -> SimpleNamespace:
        return SimpleNamespace(logits=self.model(ids))


def test_names_are_replaced_one_after_the_other() -> None:
    state = {
        "model.layers.0.self_attn.q_proj.weight": torch.ones(1),
        "model.layers.0.mlp.up_proj.weight": torch.ones(1),
    }
    assert list(renamed(state)) == ["blocks.0.attention.query.weight", "blocks.0.mlp.up.weight"]


def test_two_weights_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two weights would be called 'c'"):
        renamed({"a": torch.ones(1), "b": torch.ones(1)}, {"a": "c", "b": "c"})


def test_every_parameter_is_large() -> None:
    torch.manual_seed(0)
    model = large(nn.Sequential(nn.Linear(64, 64), nn.LayerNorm(64)), std=2.0)
    assert all(1 < p.std() < 3 for p in model.parameters())


def test_a_large_model_is_in_eval() -> None:
    assert not large(nn.Dropout()).training


def test_loading_refuses_what_does_not_fit() -> None:
    with pytest.raises(RuntimeError, match="Unexpected key"):
        loaded(nn.Linear(2, 2), {"weight": torch.ones(2, 2), "bias": torch.ones(2), "other": torch.ones(1)})


class Families:
    """A model that is doubled, and moved by a vector of its own, from which a port may leave either out."""

    def __init__(self) -> None:
        self.model = large(GPT(LLAMA))
        self.theirs = Theirs(nn.Sequential(self.model, Doubled()))
        self.theirs.config = SimpleNamespace(head_dim=4)  # type: ignore[assignment]
        self.ids = torch.arange(8)[None]

    def fit(self, changes: Mapping[str, Change]) -> nn.Module:
        if "shape" not in changes:
            raise RuntimeError("size mismatch")
        return nn.Sequential(self.model, Doubled()) if "double" in changes else self.model


class Doubled(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return 2 * x


CHANGES: dict[str, Change] = {"double": print, "shape": print}


def test_ports_without_one_change_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    models = Families()
    compare(models.theirs, models.fit, CHANGES, ["double", "shape"], models.ids)
    rows = [line.rsplit(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    assert rows[:2] == [["theirs:", "head_dim=4"], ["ours:    double,", "shape"]]
    complete, double, shape = rows[2:]
    assert complete == ["complete", "0e+00"]
    assert double[0] == "without double"
    assert float(double[1]) > 0.3
    assert shape == ["without shape                 load", "error"]


def test_a_port_that_is_off_with_all_changes_fails() -> None:
    models = Families()
    with pytest.raises(AssertionError, match=r"off by .* standard deviations with all changes"):
        compare(models.theirs, lambda _: models.model, CHANGES, [], models.ids)


def test_a_change_that_is_not_there_cannot_be_forgotten() -> None:
    models = Families()
    with pytest.raises(KeyError, match="window"):
        compare(models.theirs, models.fit, CHANGES, ["window"], models.ids)


@pytest.mark.parametrize(("change", "expected"), [(0.0, 0.0), (0.5, 0.5)])
def test_the_gap_is_counted_in_standard_deviations(change: float, expected: float) -> None:
    theirs = Theirs(large(GPT(LLAMA)))
    ids = torch.randint(13, (2, 10))
    spread = theirs(ids).logits.std().item()

    class Other(nn.Module):
        def forward(self, ids: Tensor) -> Tensor:
            logits: Tensor = theirs(ids).logits.clone()
            logits[1, 3, 7] -= change * spread
            return logits

    assert gap(Other(), theirs, ids) == pytest.approx(expected, abs=1e-4)


class Tiny(Theirs):
    """A model that can be made anew from its config."""

    def __init__(self, config: Config) -> None:
        super().__init__(large(GPT(config), std=0.1))
        self.config = config


def test_a_right_port_passes_all_three_tests() -> None:
    found = three_tests(Tiny(LLAMA), lambda theirs: theirs.model, torch.arange(12)[None])
    assert found == (0.0, 0.0, 0.0)


def test_a_mistake_that_needs_a_long_text_is_not_seen_in_a_short_one() -> None:
    def fit(theirs: Tiny) -> Callable[[Tensor], Tensor]:
        return lambda ids: theirs.model(ids) + (ids.shape[1] > 8)

    long, short, new = three_tests(Tiny(LLAMA), fit, torch.arange(12)[None]) or (0.0, 1.0, 0.0)
    assert short == 0 < min(long, new)


def test_a_port_that_does_not_load_has_no_gaps() -> None:
    def fit(theirs: Tiny) -> Callable[[Tensor], Tensor]:
        raise RuntimeError("size mismatch")

    assert three_tests(Tiny(LLAMA), fit, torch.arange(12)[None]) is None


def test_a_llama_differs_in_nothing() -> None:
    from transformers import LlamaConfig

    said = traits(LlamaConfig(hidden_size=64, num_attention_heads=4, num_hidden_layers=2))
    assert said["width → heads"] == "64 → 64"
    assert said["norms"] == "2"
    assert {name for name, value in said.items() if value == "–"} == {"QK norm", "window", "caps", "experts"}


def test_what_gemma_adds_is_said() -> None:
    from transformers import Gemma2Config

    said = traits(Gemma2Config(hidden_size=64, num_attention_heads=4, head_dim=32, num_hidden_layers=2))
    assert [said[name] for name in ("width → heads", "norms", "window", "caps")] == ["64 → 128", "4", "4096", "50, 30"]


def test_experts_and_latent_vectors_are_said() -> None:
    from transformers import DeepseekV3Config

    said = traits(DeepseekV3Config(hidden_size=64, num_hidden_layers=2))
    assert (said["width → heads"], said["experts"]) == ("64 → latent", "8 of 256")


def test_a_norm_of_queries_is_read_off_the_parameters() -> None:
    from transformers import Qwen3Config

    assert traits(Qwen3Config(hidden_size=64, num_attention_heads=4, num_hidden_layers=2))["QK norm"] == "yes"


def test_a_token_meets_some_experts_one_row_and_all_else() -> None:
    from transformers import MixtralConfig

    sizes = {"hidden_size": 16, "num_attention_heads": 2, "num_key_value_heads": 1, "num_hidden_layers": 1}
    config = MixtralConfig(**sizes, vocab_size=10, intermediate_size=8, num_local_experts=4, num_experts_per_tok=1)
    experts, table = 4 * 3 * 16 * 8, 10 * 16
    rest = table + 2 * 16 * 16 + 2 * 16 * 8 + 4 * 16 + 3 * 16  # head, q and o, k and v, router, norms
    assert met(config) == (experts + table + rest, pytest.approx(experts / 4 + 16 + rest))


def test_names_of_a_router_and_of_latent_attention() -> None:
    state = {
        "model.layers.1.mlp.gate.e_score_correction_bias": torch.ones(1),
        "model.layers.1.self_attn.kv_a_proj_with_mqa.weight": torch.ones(1),
    }
    assert list(renamed(state, DEEPSEEK_NAMES)) == ["blocks.1.mlp.router.bias", "blocks.1.attention.down.weight"]


def test_tiny_models_have_the_parts_of_their_family() -> None:
    names = {name for name, _ in tiny("mixtral").named_parameters()}
    assert "model.layers.0.mlp.gate.weight" in names
    deepseek = tiny("deepseek-v3")
    state = renamed(deepseek.state_dict(), DEEPSEEK_NAMES)
    assert state["blocks.0.mlp.up.weight"].shape == (96, 32)
    assert state["blocks.1.attention.down.weight"].shape == (12 + 8, 32)
    assert state["blocks.2.mlp.router.bias"].abs().min() > 0
    assert deepseek(torch.tensor([[1, 2]])).logits.shape == (1, 2, 101)


def test_another_family_is_refused() -> None:
    with pytest.raises(KeyError, match="gpt"):
        tiny("gpt")
