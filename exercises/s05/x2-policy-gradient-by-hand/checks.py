from unittest import mock

import torch


def _draw(n, seed=0):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(n, generator=g, dtype=torch.float64), 3 * torch.rand(n, generator=g, dtype=torch.float64)


def _autograd(f, logits):
    raw = logits.clone().requires_grad_()
    return torch.autograd.grad(f(raw), raw)[0]


def _close(found, expected, message, atol=1e-9):
    assert isinstance(found, torch.Tensor), "return a tensor"
    assert found.shape == expected.shape, f"the shape must be {tuple(expected.shape)}, it is {tuple(found.shape)}"
    assert torch.allclose(found.double(), expected, atol=atol), message


def test_score(score):
    logits, _ = _draw(5)
    for action in range(5):
        expected = _autograd(lambda raw, a=action: raw.log_softmax(0)[a], logits)
        _close(score(logits, action), expected, "score is 1 at the action taken, minus the probability of every action")


def test_score_sums_to_zero(score):
    logits, _ = _draw(6)
    mean = sum(p * score(logits, a) for a, p in enumerate(logits.softmax(0)))
    _close(mean, torch.zeros(6).double(), "the mean of the score over the policy is 0: that is why baselines are free")


def test_exact_gradient(exact_gradient):
    logits, rewards = _draw(5)
    expected = _autograd(lambda raw: (raw.softmax(0) * rewards).sum(), logits)
    _close(exact_gradient(logits, rewards), expected, "not the gradient of the expected reward")


def test_exact_is_shift_free(exact_gradient):
    logits, rewards = _draw(5)
    _close(
        exact_gradient(logits, rewards + 10),
        exact_gradient(logits, rewards).double(),
        "10 more for every action changes nothing that could be climbed: compare with the mean reward",
    )


def test_finite_difference(finite_difference):
    logits, rewards = _draw(5)
    found = finite_difference(lambda raw: (raw.softmax(0) * rewards).sum(), logits, 1e-5)
    expected = _autograd(lambda raw: (raw.softmax(0) * rewards).sum(), logits)
    _close(found, expected, "the two points are 2 * step apart, and only one component moves", atol=1e-7)


def test_finite_needs_both_sides(finite_difference):
    point = torch.tensor([1.0, 2.0], dtype=torch.float64)
    found = finite_difference(lambda t: (t**2).sum(), point, 0.1)
    _close(found, 2 * point, "a central difference is exact for squares, at any step; a one-sided one is not")


def test_finite_is_a_difference(finite_difference):
    point = torch.tensor([1.0, 2.0], dtype=torch.float64)
    found = finite_difference(lambda t: (t**3).sum(), point, 0.5)
    _close(
        found, 3 * point**2 + 0.25, "of a cube, points 0.5 to both sides give 3x² + 0.25: ask for values, not autograd"
    )


def test_arguments_are_kept(score, exact_gradient, finite_difference, sampled_gradient):
    logits, rewards = _draw(4)
    kept, kept_rewards = logits.clone(), rewards.clone()
    score(logits, 1)
    exact_gradient(logits, rewards)
    finite_difference(lambda raw: raw.sum(), logits, 1e-4)
    sampled_gradient(logits, torch.tensor([0, 1, 2, 3]), rewards, 1.0)
    assert logits.equal(kept) and rewards.equal(kept_rewards), "the arguments were changed: work on copies"


def test_no_autograd(score, exact_gradient, sampled_gradient):
    logits, rewards = _draw(4)
    message = "write the formula down: autograd is not to be called, by torch.func either"

    def used(*_, **__):
        raise AssertionError(message)

    names = dict.fromkeys(("grad", "backward"), used)  # which torch.func uses too
    dual = mock.patch.object(torch.autograd.forward_ad, "make_dual", used)
    with torch.inference_mode(), mock.patch.multiple(torch.autograd, **names), dual:
        try:
            (
                score(logits, 1),
                exact_gradient(logits, rewards),
                sampled_gradient(logits, torch.tensor([1]), rewards[:1], 0.0),
            )
        except NotImplementedError:
            raise
        except RuntimeError:
            raise AssertionError(message) from None


def test_sampled_by_hand(sampled_gradient):
    logits = torch.zeros(2, dtype=torch.float64)
    found = sampled_gradient(logits, torch.tensor([0, 1, 1]), torch.tensor([4.0, 1.0, 1.0]).double(), 1.0)
    _close(
        found, torch.tensor([0.5, -0.5]).double(), "mean of (reward - baseline) times score: here (3 * 0.5 + 0 + 0) / 3"
    )


def test_sampled_approaches_exact(sampled_gradient):
    logits, rewards = _draw(5, 3)
    torch.manual_seed(0)
    actions = torch.multinomial(logits.softmax(0), 20_000, replacement=True)  # few enough for a loop
    expected = _autograd(lambda raw: (raw.softmax(0) * rewards).sum(), logits)
    for baseline in (0.0, 1.5):
        found = sampled_gradient(logits, actions, rewards[actions], baseline)
        _close(found, expected, "the mean over many samples must be the exact gradient, for any baseline", atol=0.04)


def test_hidden_random(score, exact_gradient, finite_difference, sampled_gradient, reference, seed):
    for case in range(10):
        n = 2 + case
        logits, rewards = _draw(n, seed + case)
        logits = logits * (1 + case)
        actions = torch.randint(n, (case + 1,), generator=torch.Generator().manual_seed(seed + case))
        _close(score(logits, n - 1), reference.score(logits, n - 1), "score is wrong for other logits")
        _close(
            exact_gradient(logits, rewards), reference.exact_gradient(logits, rewards), "the exact gradient is wrong"
        )
        found = sampled_gradient(logits, actions, rewards[actions], 0.3)
        _close(found, reference.sampled_gradient(logits, actions, rewards[actions], 0.3), "the estimate is wrong")
        found = finite_difference(lambda t: (t**3).sum() * t[0], logits, 1e-4)
        expected = reference.finite_difference(lambda t: (t**3).sum() * t[0], logits, 1e-4)
        _close(found, expected, "the finite difference is wrong for another function", atol=1e-5)
