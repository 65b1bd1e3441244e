"""A mixture adds up what its experts answer; the router of DeepSeek-V3 chooses by score plus bias; the loop learns."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from torchbook.llm.experts import Mixture, SwiGLUExperts, V3Router, learn, v3_router

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
    config = DeepseekV3Config(**sizes)
    theirs, ours = DeepseekV3TopkRouter(config), v3_router(config)
    torch.nn.init.normal_(theirs.weight)
    theirs.e_score_correction_bias.normal_(std=0.3)
    ours.weight, ours.bias = theirs.weight, theirs.e_score_correction_bias
    x = torch.randn(50, 8)
    (weights, experts), (_, expected, chosen) = ours(x), theirs(x)
    order, other = experts.argsort(-1), chosen.argsort(-1)
    assert torch.equal(experts.gather(1, order), chosen.gather(1, other))
    torch.testing.assert_close(weights.gather(1, order), expected.gather(1, other))


def test_a_mixture_adds_the_weighted_answers_of_the_chosen_experts() -> None:
    experts = SwiGLUExperts(8, inner=12, count=6)
    mixture = Mixture(V3Router(8, experts=6, k=2, groups=3, kept=2), experts)
    torch.nn.init.normal_(mixture.router.weight)  # type: ignore[arg-type]
    x = torch.randn(2, 5, 8)
    weights, chosen = mixture.router(x.flatten(0, 1))
    expected = [
        sum(w * experts.mlp(e, token[None])[0] for w, e in zip(of, which, strict=True))
        for token, of, which in zip(x.flatten(0, 1), weights, chosen.tolist(), strict=True)
    ]
    torch.testing.assert_close(mixture(x), torch.stack(expected).view_as(x))  # type: ignore[arg-type]


def test_experts_of_one_are_a_swiglu_mlp() -> None:
    experts = SwiGLUExperts(8, inner=12, count=1)
    gate, up = experts.gate_up[0].chunk(2)
    x = torch.randn(5, 8)
    one = torch.ones(5, 1)
    expected = (torch.nn.functional.silu(x @ gate.T) * (x @ up.T)) @ experts.down[0].T
    torch.testing.assert_close(experts(x, one, one.long() - 1), expected)


def doubled(n: int) -> tuple[Tensor, Tensor, str]:
    x = torch.randn(n, 2)
    return x, 2 * x, "ignored"


def test_the_loop_learns_and_sees_the_same_tokens() -> None:
    errors = learn(nn.Linear(2, 2), doubled, seed=0, steps=300, batch=16, lr=0.05)
    assert len(errors) == 300
    assert errors[-1] < 1e-3 < errors[0]
    zero = nn.Linear(2, 2)
    nn.init.zeros_(zero.weight)
    nn.init.zeros_(zero.bias)
    twice = [learn(zero, doubled, seed=3, steps=2, batch=4, lr=0.0) for _ in range(2)]
    assert twice[0] == twice[1]


def test_a_second_loss_pulls_and_what_follows_a_step_is_called() -> None:
    model, calls = nn.Linear(2, 2, bias=False), []
    learn(
        model,
        doubled,
        seed=0,
        steps=300,
        batch=16,
        lr=0.05,
        extra=lambda m: 1000 * m.weight.square().sum(),
        after=calls.append,
    )
    assert model.weight.abs().max() < 0.1
    assert len(calls) == 300
