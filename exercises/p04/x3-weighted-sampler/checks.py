import random

import torch
from torch.utils.data import DataLoader

_LABELS = [0] * 950 + [1] * 50


def _given(probabilities, labels):
    try:
        found = probabilities(labels)
    except NotImplementedError:
        raise
    except Exception as error:
        raise AssertionError(f"probabilities({labels}) raised {type(error).__name__}: {error}") from None
    assert torch.is_tensor(found) and found.is_floating_point(), "return a floating-point tensor"
    return found.double()


def _close(found, expected):
    return found.shape == expected.shape and torch.allclose(found, expected.double(), rtol=1e-5, atol=1e-9)


def test_one_for_each_sample(probabilities):
    found = _given(probabilities, [0, 1, 0, 0])
    assert found.shape == (4,), (
        f"four samples need four probabilities, whatever the number of classes; not {len(found)}"
    )
    assert _close(found, torch.tensor([1 / 6, 1 / 2, 1 / 6, 1 / 6], dtype=torch.float64)), (
        f"each class gets one half, the three samples of class 0 share theirs; not {found.tolist()}"
    )


def test_sum(probabilities):
    found = _given(probabilities, torch.tensor([2, 0, 1, 1, 2, 2]))
    assert abs(found.sum().item() - 1) < 1e-5, f"probabilities add up to 1, not to {found.sum().item():.3g}"


def test_any_labels(probabilities):
    found = _given(probabilities, [-100, 7, 7])
    assert _close(found, torch.tensor([0.5, 0.25, 0.25])), (
        f"labels may be any integers, and what does not occur is no class: -100, 7, 7 gave {found.tolist()}"
    )


def _draws(sampler, epoch=None):
    if epoch is not None:
        sampler.set_epoch(epoch)
    return [int(i) for i in sampler]


def test_balanced(BalancedSampler):
    draws = _draws(BalancedSampler(_LABELS, 4000))
    assert len(draws) == 4000 and set(draws) <= set(range(1000)), "draw num_samples indices of samples"
    share = sum(_LABELS[i] for i in draws) / 4000
    assert 0.45 < share < 0.55, f"the rare class should be half of the draws; it is {share:.0%}"


def test_with_replacement(BalancedSampler):
    draws = _draws(BalancedSampler(_LABELS, 1000))
    rare = [i for i in draws if _LABELS[i] == 1]
    assert len(rare) > 400, f"only {len(rare)} of 1000 draws are of the rare class: draw with replacement"


def test_ranks_divide_one_draw(BalancedSampler):
    everything = _draws(BalancedSampler(_LABELS, 600))
    parts = [_draws(BalancedSampler(_LABELS, 600, rank=rank, world=3)) for rank in range(3)]
    assert parts[0] != parts[1], "rank 0 and rank 1 draw the same samples: the step of three would see each thrice"
    assert all(part == everything[rank::3] for rank, part in enumerate(parts)), (
        "rank r gets the draws number r, r + 3, r + 6, …, of one list that all ranks draw alike"
    )


def test_ranks_are_equally_long(BalancedSampler):
    samplers = [BalancedSampler(_LABELS, 11, rank=rank, world=4) for rank in range(4)]
    found = [len(_draws(sampler)) for sampler in samplers]
    assert found == [2, 2, 2, 2], f"11 draws for 4 ranks are 2 for each, or the longer ones wait for ever; not {found}"
    said = [len(sampler) for sampler in samplers]
    assert said == found, f"len() must say what a process gets, 2, not {said}"


def test_epochs(BalancedSampler):
    sampler = BalancedSampler(_LABELS, 100)
    first = _draws(sampler, 0)
    assert _draws(sampler, 1) != first, "set_epoch(1) must choose other draws than set_epoch(0)"
    assert _draws(BalancedSampler(_LABELS, 100, seed=1), 0) != first, "another seed must choose other draws"


def test_epoch_repeats(BalancedSampler):
    sampler = BalancedSampler(_LABELS, 100)
    fifth = _draws(sampler, 5)
    assert _draws(sampler) == fifth, (
        "a second pass of the same epoch drew anew: the draws depend on seed and epoch only"
    )
    assert _draws(BalancedSampler(_LABELS, 100), 5) == fifth, (
        "a run that is resumed at epoch 5 must draw as the first did"
    )


def test_global_generator(BalancedSampler):
    torch.manual_seed(1)
    before = torch.get_rng_state()
    sampler = BalancedSampler(_LABELS, 100)
    first = _draws(sampler)
    assert torch.get_rng_state().equal(before), (
        "the global generator was used: dropout and others would draw differently"
    )
    torch.manual_seed(2)
    assert _draws(BalancedSampler(_LABELS, 100)) == first, (
        "the draws depend on torch.manual_seed, which differs by rank"
    )


def test_in_a_loader(BalancedSampler):
    samples = dict(enumerate(_LABELS))  # a dataset can be anything that integers index
    loader = DataLoader(samples, batch_size=32, sampler=BalancedSampler(_LABELS, 100))
    try:
        sizes = [len(batch) for batch in loader]
    except KeyError as error:
        raise AssertionError(f"indices are integers, by which a dictionary finds a sample; not {error}") from None
    assert sizes == [32, 32, 32, 4] and len(loader) == 4, f"100 draws are batches of 32, 32, 32 and 4, not {sizes}"


def _corrected(as_in_the_world, logits, frequencies):
    found = as_in_the_world(torch.tensor(logits), torch.tensor(frequencies))
    assert found.isfinite().all(), f"not all probabilities are finite: {found.tolist()}"
    return found


def test_zero_logits(as_in_the_world):
    found = _corrected(as_in_the_world, [[0.0, 0.0]], [0.95, 0.05])
    assert torch.allclose(found, torch.tensor([[0.95, 0.05]])), (
        f"where the model cannot tell, only the frequencies remain: 0.95 and 0.05, not {found.tolist()}"
    )


def test_bayes(as_in_the_world):
    logits = torch.tensor([[0.1, 0.9], [0.5, 0.5]]).log().tolist()
    found = _corrected(as_in_the_world, logits, [0.95, 0.05])
    expected = torch.tensor([0.05 * 0.9 / (0.95 * 0.1 + 0.05 * 0.9), 0.05])
    assert torch.allclose(found.sum(1), torch.ones(2)), "the probabilities of a sample add up to 1"
    assert torch.allclose(found[:, 1], expected), (
        f"0.9 for a class of 5 % becomes 0.05 * 0.9 / (0.05 * 0.9 + 0.95 * 0.1) = 0.32, not {found[0, 1]:.2f}"
    )


def test_counts(as_in_the_world):
    found = _corrected(as_in_the_world, [[0.0, 1.0, 2.0]], [900, 90, 10])
    expected = _corrected(as_in_the_world, [[0.0, 1.0, 2.0]], [0.9, 0.09, 0.01])
    assert torch.allclose(found, expected), "counts of 900, 90 and 10 say the same as shares of 0.9, 0.09 and 0.01"


def test_never_seen(as_in_the_world):
    found = _corrected(as_in_the_world, [[0.0, 0.0, 5.0]], [3, 1, 0])
    assert torch.allclose(found, torch.tensor([[0.75, 0.25, 0.0]])), (
        f"a class that does not occur has the probability 0, whatever its logit; not {found.tolist()}"
    )


def test_large_logits(as_in_the_world):
    found = _corrected(as_in_the_world, [[1000.0, 1001.0]], [0.5, 0.5])
    expected = torch.tensor([[0.0, 1.0]]).softmax(1)
    assert torch.allclose(found, expected), "only differences of logits count: 1000 and 1001 are 0 and 1"


def test_hidden_sampler(BalancedSampler, seed):
    draw = random.Random(seed)
    for _ in range(4):
        sizes = [draw.randint(20, 200) for _ in range(draw.randint(2, 5))]
        labels = [7 * kind - 9 for kind, size in enumerate(sizes) for _ in range(size)]
        draw.shuffle(labels)
        world, rest, own = draw.randint(2, 5), draw.randint(0, 1), draw.randrange(10**6)
        n = 2000 * world + rest
        ranks = [BalancedSampler(labels, n, rank, world, seed=own) for rank in range(world)]
        parts = [_draws(sampler, 3) for sampler in ranks]
        whole = _draws(BalancedSampler(labels, n, seed=own), 3)
        assert all(part == whole[r : 2000 * world : world] for r, part in enumerate(parts)), (
            f"the parts of {world} ranks do not fit together to one drawing of {n}"
        )
        for kind in set(labels):
            share = sum(labels[i] == kind for i in whole) / n
            assert abs(share - 1 / len(sizes)) < 0.06, f"of {len(sizes)} classes one has a share of {share:.0%}"
        seen = [whole.count(i) for i in range(len(labels)) if labels[i] == 7 * sizes.index(max(sizes)) - 9]
        assert sum(map(bool, seen)) > 0.8 * len(seen) and max(seen) < 6 * sum(seen) / len(seen), (
            "within a class the samples must be equally probable"
        )


def test_hidden_correction(as_in_the_world, reference, seed):
    torch.manual_seed(seed)
    for classes in (2, 5, 30):
        likelihood, frequencies = torch.rand(40, classes) + 1e-3, torch.randint(1, 1000, (classes,))
        logits = likelihood.log() + 50 * torch.randn(40, 1)
        posterior = likelihood * frequencies
        expected = posterior / posterior.sum(1, keepdim=True)
        assert torch.allclose(as_in_the_world(logits, frequencies), expected, rtol=1e-3, atol=1e-6), (
            f"the probabilities of {classes} classes are not those of Bayes' rule"
        )
