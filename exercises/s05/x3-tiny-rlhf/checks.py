import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_pre_hook


class _Bigrams(nn.Module):
    """The next token depends on the last one only."""

    def __init__(self, tokens, seed=0):
        super().__init__()
        self.table = nn.Embedding(tokens, tokens)
        with torch.no_grad():
            self.table.weight.copy_(torch.randn(tokens, tokens, generator=torch.Generator().manual_seed(seed)))

    def forward(self, x):
        return self.table(x)


def _weights(model):
    return [p.detach().clone() for p in model.parameters()]


def test_log_probs_are_shifted(token_log_probs):
    model, x = _Bigrams(4), torch.tensor([[0, 2, 1, 3], [0, 1, 0, 0]])
    found = token_log_probs(model, x)
    assert found.shape == (2, 3), "one number for each written token: (B, T - 1)"
    table = model.table.weight.log_softmax(-1)
    expected = torch.stack([table[x[:, t], x[:, t + 1]] for t in range(3)], 1)
    assert torch.allclose(found, expected, atol=1e-5), "the logits at a place are for the token after it"
    alone = token_log_probs(model, x[:1, :2])
    assert alone.shape == (1, 1), f"a single text of one written token has the shape (1, 1), not {tuple(alone.shape)}"


def test_log_probs_have_a_gradient(token_log_probs):
    found = token_log_probs(_Bigrams(4), torch.tensor([[0, 2, 1]]))
    assert found.requires_grad, "a gradient must reach the model: no detach, no no_grad, no item in here"


def test_mask_has_the_end(written):
    found = written(torch.tensor([[0, 2, 0, 0, 0], [0, 1, 2, 3, 1], [0, 0, 0, 0, 0]]))
    assert found.shape == (3, 4), "one number for each written token: (B, T - 1)"
    assert found.is_floating_point(), f"the mask is of floats, not of {found.dtype}"
    assert found.float().tolist() == [[1, 1, 0, 0], [1, 1, 1, 1], [1, 0, 0, 0]], (
        "the first end was chosen and counts, what follows it does not, and the start was never written"
    )


def _batch(seed=0, size=4, time=5):
    g = torch.Generator().manual_seed(seed)
    log_p, ref = -torch.rand(2, size, time, generator=g)
    mask = (torch.arange(time) < torch.randint(1, time + 1, (size, 1), generator=g)).float()
    return log_p.requires_grad_(), ref, mask, torch.randn(size, generator=g)


def test_loss_by_hand(rlhf_loss):
    log_p, ref = torch.tensor([[-1.0, -2.0], [-0.5, -9.0]]), torch.tensor([[-2.0, -2.0], [-0.5, -9.0]])
    found = rlhf_loss(log_p, ref, torch.tensor([[1.0, 1.0], [1.0, 0.0]]), torch.tensor([3.0, 0.0]), 1.0)
    # gains 3 - 1 * 1 = 2 and 0, advantages 2 and -2, log-probabilities -3 and -0.5
    assert found.shape == (), "the loss is one number"
    assert abs(float(found) - 2.5) < 1e-5, (
        "here it is -(2 * -3 + -2 * -0.5) / 2 = 2.5: sum over tokens, mean over texts"
    )


def test_advantage_is_a_number(rlhf_loss):
    log_p, ref, mask, reward = _batch()
    (found,) = torch.autograd.grad(rlhf_loss(log_p, ref, mask, reward, 0.7), log_p)
    gain = reward - 0.7 * ((log_p - ref) * mask).sum(1).detach()
    advantage = gain - (gain.sum() - gain) / 3
    assert torch.allclose(found, -(advantage[:, None] * mask) / 4, atol=1e-5), (
        "the gradient for a written token is minus the advantage over the batch size, and nothing else"
    )


def test_padding_is_free(rlhf_loss):
    log_p, ref, mask, reward = _batch(1)
    padding = -torch.rand(2, 4, 6, generator=torch.Generator().manual_seed(9)), torch.zeros(1, 4, 6)
    longer = [torch.cat(pair, 1) for pair in zip((log_p, ref, mask), torch.cat(padding), strict=True)]
    a, b = rlhf_loss(log_p, ref, mask, reward, 0.3), rlhf_loss(*longer, reward, 0.3)
    assert torch.allclose(a, b, atol=1e-5), "what follows the end changed the loss"


def test_constant_reward_is_free(rlhf_loss):
    log_p, ref, mask, reward = _batch(2)
    a, b = rlhf_loss(log_p, ref, mask, reward, 0.3), rlhf_loss(log_p, ref, mask, reward + 100, 0.3)
    assert torch.allclose(a, b, atol=1e-2), (
        "100 more for every text must change nothing: subtract the mean of the others"
    )


def _reward_of_twos(x):
    return (x[:, 1:] == 2).float().sum(1)


def test_train_raises_reward(sample, train):
    torch.manual_seed(0)
    model = _Bigrams(5)
    policy = train(model, _reward_of_twos, 0.05, 60, 64, 6, 0.05)
    before, after = (_reward_of_twos(sample(m, 500, 6)).mean().item() for m in (model, policy))
    assert after > before + 1, (
        f"the mean reward went from {before:.2f} to {after:.2f}; it should rise: sign? who samples?"
    )


def test_train_keeps_the_model(train):
    torch.manual_seed(0)
    model = _Bigrams(5)
    before = _weights(model)
    policy = train(model, _reward_of_twos, 0.1, 5, 16, 4, 0.05)
    assert policy is not model and all(a.equal(b) for a, b in zip(before, _weights(model), strict=True)), (
        "the given model is the reference: it must stay as it is"
    )
    assert not all(a.equal(b) for a, b in zip(before, _weights(policy), strict=True)), "the copy did not learn"


def test_train_steps(train):
    torch.manual_seed(0)
    gradients = []

    def reward_of(x):
        return x[:, 1].float() * (not gradients)  # in the first step; afterwards every text is worth the same

    def note(optimizer, *_):
        held = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        gradients.append(max(float(one.abs().max()) for one in held))

    hook = register_optimizer_step_pre_hook(note)
    try:
        train(_Bigrams(5), reward_of, 0.0, 4, 16, 4, 0.05)
    finally:
        hook.remove()
    assert len(gradients) == 4, f"4 steps are 4 steps of the optimizer, not {len(gradients)}"
    assert max(gradients[1:]) < 1e-6, (
        "where all texts are worth the same there is no gradient, and the optimizer still got that of the first step"
    )


def _distance(train, beta, seed):
    torch.manual_seed(seed)
    model, worth = _Bigrams(5, seed), torch.tensor([0.0, 1.0, -1.0, 0.5, 2.0])
    policy = train(model, lambda x: worth[x[:, 1]], beta, 250, 256, 1, 0.05)
    best = (model.table.weight[0] + worth / beta).softmax(0)
    return (policy.table.weight[0].softmax(0) - best).abs().sum().item() / 2


def test_train_finds_the_optimum(train):
    far = _distance(train, 1.0, 0)
    assert far < 0.05, (
        f"for texts of one token the optimum is softmax(ref + reward / beta); {far:.0%} of the probability "
        "is elsewhere: is the penalty in the reward, with strength beta?"
    )


def test_hidden_random(token_log_probs, written, rlhf_loss, reference, seed):
    for case in range(8):
        torch.manual_seed(seed + case)
        model = _Bigrams(3 + case, seed)
        x = reference.sample(model, 2 + case, 7)
        assert written(x).float().equal(reference.written(x)), "the mask is wrong for other texts"
        assert torch.allclose(token_log_probs(model, x), reference.token_log_probs(model, x), atol=1e-5), (
            "log-probabilities are wrong for other texts"
        )
        log_p, ref, mask, reward = _batch(seed + case, 2 + case, 3 + case)
        found = rlhf_loss(log_p, ref, mask, reward, 0.2 * case)
        assert torch.allclose(found, reference.rlhf_loss(log_p, ref, mask, reward, 0.2 * case), atol=1e-4), (
            "the loss is wrong for another batch: the mean of the others is over the batch size less one"
        )


def test_hidden_optimum(train, seed):
    for beta in (1.0, 2.0):
        assert _distance(train, beta, seed + 1) < 0.04, "another beta leads to another optimum; this one is missed"
