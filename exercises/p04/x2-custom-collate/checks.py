import random

import torch
from torch.utils.data import DataLoader


def _texts():
    return [([5, 2, 9], 1), ([7], 0), ([3, 4], 2)]


def _collated(collate, samples, *pad):
    try:
        found = collate(samples, *pad)
    except NotImplementedError:
        raise
    except Exception as error:
        raise AssertionError(f"collate({samples}) raised {type(error).__name__}: {error}") from None
    assert isinstance(found, tuple) and len(found) == 3, "return (tokens, mask, labels), a tuple of three tensors"
    return found


def test_padded(collate):
    tokens, mask, labels = _collated(collate, _texts())
    expected = [[5, 2, 9], [7, 0, 0], [3, 4, 0]]
    assert tokens.tolist() == expected, f"each row begins with its tokens and ends in padding, not {tokens.tolist()}"
    assert mask.tolist() == [[True] * 3, [True, False, False], [True, True, False]], (
        "the mask is True at the tokens, not at the padding"
    )
    assert labels.tolist() == [1, 0, 2], "the labels, in the order of the samples"


def test_longest_of_the_batch(collate):
    widths = [_collated(collate, [([1] * n, 0), ([1], 0)])[0].shape[1] for n in (9, 3, 700, 2)]
    assert widths == [9, 3, 700, 2], f"a batch is as wide as its own longest text: 9, 3, 700 and 2, not {widths}"


def test_pad_is_a_token(collate):
    _, mask, _ = _collated(collate, [([0, 4, 0], 0), ([0], 1)])
    assert mask.tolist() == [[True, True, True], [True, False, False]], (
        "a token that equals the padding value is a token: make the mask from the lengths"
    )


def test_pad_value(collate):
    tokens, _, _ = _collated(collate, _texts(), 50_256)
    assert tokens[1].tolist() == [7, 50_256, 50_256], "fill with the value `pad`, here 50256"


def test_dtypes(collate):
    tokens, mask, labels = _collated(collate, [([5, 2**24 + 1], 1), ([], 0)])
    found = tokens.dtype, mask.dtype, labels.dtype
    assert found == (torch.int64, torch.bool, torch.int64), (
        f"tokens and labels are int64, the mask is bool; not {found}"
    )
    assert tokens[0, 1] == 2**24 + 1, "a large token was rounded: it went through floats"


def test_no_tokens(collate):
    tokens, mask, _ = _collated(collate, [([], 0), ([8, 1], 1)])
    assert tokens.dtype == torch.int64, "an empty list has no integers, so torch makes floats of it: name the dtype"
    assert tokens.tolist() == [[0, 0], [8, 1]] and not mask[0].any(), "an empty text is a row of padding, all masked"
    tokens, mask, labels = _collated(collate, [([], 0), ([], 1)])
    assert tokens.shape == mask.shape == (2, 0) and len(labels) == 2, "two empty texts are a batch of shape (2, 0)"


def test_tensors(collate):
    samples = [(torch.tensor([5, 2]), 1), (torch.tensor([7], dtype=torch.int32), 0)]
    tokens, _, labels = _collated(collate, samples)
    assert tokens.tolist() == [[5, 2], [7, 0]] and labels.tolist() == [1, 0], "the tokens of a sample may be a tensor"


def test_samples_stay(collate):
    samples = _texts()
    _collated(collate, samples)
    assert samples == _texts(), (
        "the samples belong to the dataset, which keeps them: do not append padding to its lists"
    )


def _meant(masked_mean, h, mask):
    found = masked_mean(h, mask)
    assert found.shape == (h.shape[0], h.shape[2]), f"the result has shape (B, D), not {tuple(found.shape)}"
    return found


def test_mean_of_tokens(masked_mean):
    h = torch.tensor([[[1.0, 2.0], [3.0, 6.0], [100.0, 100.0]], [[5.0, 7.0], [100.0, 100.0], [100.0, 100.0]]])
    mask = torch.tensor([[True, True, False], [True, False, False]])
    found = _meant(masked_mean, h, mask)
    assert torch.allclose(found, torch.tensor([[2.0, 4.0], [5.0, 7.0]])), (
        "the mean of a row is the sum over its tokens, divided by the number of its tokens"
    )


def test_mean_beside_nan(masked_mean):
    h = torch.ones(1, 3, 2)
    h[0, 2] = torch.tensor([float("nan"), float("inf")])
    found = _meant(masked_mean, h, torch.tensor([[True, True, False]]))
    assert found.tolist() == [[1.0, 1.0]], f"NaN at a padded position leaks into the mean: {found.tolist()}"


def test_mean_of_nothing(masked_mean):
    h = torch.ones(2, 3, 2, requires_grad=True)
    found = _meant(masked_mean, h, torch.tensor([[True, True, False], [False, False, False]]))
    assert found[1].tolist() == [0.0, 0.0], f"a row without tokens gives zeros, not {found[1].tolist()}"
    (gradient,) = torch.autograd.grad(found.sum(), h)
    assert gradient.isfinite().all(), "the value is mended, but the gradient of the row without tokens is NaN"
    assert torch.allclose(gradient[0, :, 0], torch.tensor([0.5, 0.5, 0.0])), "two tokens share the gradient of a mean"


def _cut(within_budget, lengths, budget):
    found = within_budget(lengths, budget)
    return [list(map(int, batch)) for batch in found]


def test_budget_counts_padding(within_budget):
    found = _cut(within_budget, [2, 2, 5], 10)
    assert found == [[0, 1], [2]], (
        f"lengths 2, 2 and 5 are 9 tokens, but 15 positions when padded: over the budget of 10, not {found}"
    )
    found = _cut(within_budget, [5, 1, 1], 10)
    assert found == [[0, 1], [2]], f"behind a text of 5 a text of 1 costs 5 positions, too; not {found}"


def test_budget_is_used(within_budget):
    found = _cut(within_budget, [2, 2, 2, 2, 2, 2], 6)
    assert found == [[0, 1, 2], [3, 4, 5]], (
        f"three texts of 2 fill a budget of 6 exactly, which is allowed; not {found}"
    )


def test_longer_than_the_budget(within_budget):
    found = _cut(within_budget, [9, 1, 1, 9, 1], 4)
    assert found == [[0], [1, 2], [3], [4]], (
        f"a text of 9 in a budget of 4 stands alone, and no batch is empty; not {found}"
    )


def test_last_batch(within_budget):
    found = _cut(within_budget, [3, 3, 3], 6)
    assert found == [[0, 1], [2]], f"the last batch need not be full, but it must be there; not {found}"
    assert _cut(within_budget, [], 6) == [], "no samples, no batches"


def test_hidden_budget(within_budget, reference, seed):
    draw = random.Random(seed)
    for _ in range(40):
        lengths = [draw.randint(0, 12) for _ in range(draw.randint(1, 30))]
        budget = draw.randint(5, 40)
        assert _cut(within_budget, lengths, budget) == reference.within_budget(lengths, budget), (
            f"other batches for lengths {lengths} and a budget of {budget}"
        )


def test_hidden_loader(collate, reference, seed):
    draw = random.Random(seed)
    for _ in range(5):
        texts = [([draw.randint(0, 3) for _ in range(draw.randint(0, 9))], draw.randint(0, 4)) for _ in range(23)]
        cut = reference.within_budget([len(t) for t, _ in texts], 20)
        read = []
        for tokens, mask, labels in DataLoader(texts, batch_sampler=cut, collate_fn=collate):
            rows = zip(tokens, mask, labels.tolist(), strict=True)
            read += [(row[keep].tolist(), label) for row, keep, label in rows]
        assert read == texts, "through a loader, the masked tokens are not those of the data set"


def test_hidden_mean(masked_mean, seed):
    torch.manual_seed(seed)
    for _ in range(5):
        h, mask = torch.randn(4, 7, 3), torch.rand(4, 7) < 0.5
        h[~mask] = float("nan")
        rows = [row[keep].sum(0) / max(int(keep.sum()), 1) for row, keep in zip(h, mask, strict=True)]
        assert torch.allclose(_meant(masked_mean, h, mask), torch.stack(rows), atol=1e-5), (
            "a mean is wrong where padding lies between tokens; the mask may be any"
        )
