"""The router of DeepSeek-V3 chooses by score plus bias within the best groups, and weighs by score alone."""

from __future__ import annotations

import torch
from torch import Tensor

from torchbook.llm.experts import V3Router

SCORES = torch.tensor([[0.9, 0.1, 0.6, 0.5, 0.55, 0.3]])


def routed(bias: list[float], **sizes: int) -> tuple[Tensor, Tensor]:
    router = V3Router(6, experts=6, k=2, **({"groups": 3, "kept": 1} | sizes), factor=2.0)
    router.weight.data, router.bias = torch.eye(6), torch.tensor(bias)
    return router(SCORES.logit())


def test_the_best_expert_of_a_weak_group_is_ruled_out() -> None:
    weights, experts = routed([0.0] * 6)
    assert experts.tolist() == [[2, 3]]
    torch.testing.assert_close(weights, torch.tensor([[2 * 0.6 / 1.1, 2 * 0.5 / 1.1]]))


def test_all_groups_kept_leave_the_best_experts() -> None:
    assert routed([0.0] * 6, kept=3)[1].tolist() == [[0, 2]]


def test_the_bias_takes_part_in_the_choice_and_not_in_the_weights() -> None:
    weights, experts = routed([0.0, 0.0, -0.2, 0.0, 0.0, 0.2], kept=3)
    assert experts.tolist() == [[0, 4]]
    torch.testing.assert_close(weights, torch.tensor([[2 * 0.9 / 1.45, 2 * 0.55 / 1.45]]))
    assert routed([0.0, 0.0, 0.0, 0.0, 0.0, 0.4])[1].tolist() == [[5, 4]]


def test_it_is_the_router_of_transformers() -> None:
    from transformers import DeepseekV3Config
    from transformers.models.deepseek_v3.modeling_deepseek_v3 import DeepseekV3TopkRouter

    sizes = {"hidden_size": 8, "n_routed_experts": 12, "num_experts_per_tok": 3, "n_group": 4, "topk_group": 2}
    theirs = DeepseekV3TopkRouter(DeepseekV3Config(**sizes))
    ours = V3Router(8, experts=12, k=3, groups=4, kept=2)
    torch.nn.init.normal_(theirs.weight)
    theirs.e_score_correction_bias.normal_(std=0.3)
    ours.weight, ours.bias = theirs.weight, theirs.e_score_correction_bias
    x = torch.randn(50, 8)
    (weights, experts), (_, expected, chosen) = ours(x), theirs(x)
    order, other = experts.argsort(-1), chosen.argsort(-1)
    assert torch.equal(experts.gather(1, order), chosen.gather(1, other))
    torch.testing.assert_close(weights.gather(1, order), expected.gather(1, other))
