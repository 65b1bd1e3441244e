import random

import torch
from torch import nn
from torch.nn import functional as F

ROWS = [[5, 6, 9], [7], [1, 2, 3, 4, 9]]  # 9 is the end


def test_shapes(collate):
    ids, mask, labels = collate(ROWS, 9)
    for name, t, dtype in (("ids", ids, torch.int64), ("mask", mask, torch.bool), ("labels", labels, torch.int64)):
        assert t.shape == (3, 5), f"{name} should be (B, T) = (3, 5), T the longest row; not {tuple(t.shape)}"
        assert t.dtype == dtype, f"{name} should be {dtype}, not {t.dtype}"
    assert ids.tolist() == [[5, 6, 9, 9, 9], [7, 9, 9, 9, 9], [1, 2, 3, 4, 9]], "ids hold the rows, padded with `end`"
    assert mask.sum(1).tolist() == [3, 1, 5], "the mask is True at every token of a text, also at a real end"


def test_ends_are_targets(collate):
    _, _, labels = collate(ROWS, 9)
    assert labels[2, 4] == 9 and labels[0, 2] == 9, (
        "a text's own end has become -100: if you go by the id instead of the length, the model never learns to stop"
    )
    assert (labels[0, 3:] == -100).all() and (labels[1, 1:] == -100).all(), (
        "padding is a target here, but its label must be -100"
    )


def test_first_token(collate):
    for side in ("right", "left"):
        _, mask, labels = collate(ROWS, 9, side=side)
        first = mask.long().argmax(1)
        assert (labels[torch.arange(3), first] == -100).all(), (
            f"padding on the {side}: nothing in a text predicts its first token, so its label is -100"
        )
    assert labels[2].tolist() == [-100, 2, 3, 4, 9], "labels are the ids without a shift, because the loss shifts"


def test_truncation(collate):
    ids, mask, _ = collate(ROWS, 9, max_length=2)
    assert ids.tolist() == [[5, 6], [7, 9], [1, 2]], f"max_length=2 keeps the first two tokens; not {ids.tolist()}"
    assert mask.tolist() == [[True, True], [True, False], [True, True]], "a short row stays short when others are cut"
    assert collate(ROWS, 9, max_length=50)[0].shape == (3, 5), "max_length is a limit, not the width of every batch"


def test_rows_stay(collate):
    rows = [list(row) for row in ROWS]
    collate(rows, 9, max_length=4, side="left")
    assert rows == ROWS, "the rows that were given have been changed"


def test_left(collate):
    ids, mask, labels = collate(ROWS, 9, side="left")
    assert ids[1].tolist() == [9, 9, 9, 9, 7], (
        f"with padding on the left, the text is at the end of its row; not {ids[1].tolist()}"
    )
    assert mask[0].tolist() == [False, False, True, True, True], "with padding on the left, the mask begins with False"
    assert labels[0].tolist() == [-100, -100, -100, 6, 9], "with padding on the left, the labels move with the text"


def test_positions(positions):
    mask = torch.tensor([[True, True, False], [False, True, True], [True, True, True]])
    found = positions(mask)
    assert found.dtype == torch.int64, f"positions are looked up in an embedding: int64, not {found.dtype}"
    assert found.tolist() == [[0, 1, 0], [0, 0, 1], [0, 1, 2]], (
        f"the first token of a text has position 0 wherever it is, and padding has 0 too; not {found.tolist()}"
    )


def _alone(h):
    return F.scaled_dot_product_attention(h, h, h, is_causal=True)


def _padded(h, before, after):
    draw = torch.Generator().manual_seed(3)
    filler = [torch.randn(1, n, h.shape[-1], generator=draw) * 500 for n in (before, after)]
    mask = torch.tensor([[False] * before + [True] * h.shape[1] + [False] * after])
    return torch.cat([filler[0], h, filler[1]], 1), mask


def test_company(attend):
    h = torch.randn(1, 4, 8, generator=torch.Generator().manual_seed(1))
    for before, after in ((0, 0), (0, 3), (3, 0)):
        padded, mask = _padded(h, before, after)
        found = attend(padded, padded, padded, mask)
        assert found.shape == padded.shape, f"the result has the shape of v, not {tuple(found.shape)}"
        inside = found[:, before : before + 4]
        assert torch.allclose(inside, _alone(h), atol=1e-5), (
            f"{before} positions of padding before a text and {after} after it change the results for its tokens"
        )


def test_causal(attend):
    h = torch.randn(2, 5, 8, generator=torch.Generator().manual_seed(2))
    mask = torch.ones(2, 5, dtype=torch.bool)
    changed = h.clone()
    changed[:, 4] += 1
    first, second = attend(h, h, h, mask), attend(changed, changed, changed, mask)
    assert torch.allclose(first[:, :4], second[:, :4], atol=1e-6), "a position sees a later one"
    assert torch.allclose(first[:, 0], h[:, 0], atol=1e-5), "the first position sees itself, and nothing else"


def test_nothing_to_see(attend):
    h, mask = _padded(torch.randn(1, 2, 4), 2, 0)
    found = attend(h, h, h, mask)
    assert not found.isnan().any(), "padding on the left sees nothing but padding: a softmax over nothing is NaN"
    assert found[0, :2].abs().max() == 0, "if nothing can be seen, the result is zero"


def test_gradients(attend):
    h, mask = _padded(torch.randn(1, 2, 4), 2, 1)
    h.requires_grad_()
    attend(h, h, h, mask).sum().backward()
    assert h.grad.isfinite().all(), "the result is finite, but a gradient is not: mask before the softmax, not after it"


def test_device(attend):
    q = torch.empty(2, 3, 4, device="meta")  # in place of a GPU
    try:
        attend(q, q, q, torch.ones(2, 3, dtype=torch.bool, device="meta"))
    except RuntimeError as error:
        if "meta" not in str(error):
            raise
        # What looks at values cannot do so here, although it could on a GPU.
        assert "expected device" not in str(error), (
            "q is on another device than the CPU, and a tensor that you make is not: on a GPU, this fails"
        )


def test_shift(next_token_loss):
    labels = torch.tensor([[-100, 2, 3]])
    logits = torch.zeros(1, 3, 4)
    logits[0, 0, 2] = logits[0, 1, 3] = 50.0
    assert next_token_loss(logits, labels) < 1e-3, "position t predicts the label at t + 1; these logits are perfect"
    same = F.one_hot(torch.tensor([[1, 2, 3]]), 4) * 50.0
    assert next_token_loss(same, labels) > 1, "logits that repeat their own token must not be rewarded"


def test_mean_over_targets(next_token_loss):
    logits = torch.zeros(2, 4, 8)
    logits[0, 0, 1] = 3.0
    labels = torch.tensor([[-100, 1, -100, -100], [-100, 2, 3, 4]])
    logs = logits.log_softmax(-1)
    expected = -(logs[0, 0, 1] + logs[1, 0, 2] + logs[1, 1, 3] + logs[1, 2, 4]) / 4
    assert torch.allclose(next_token_loss(logits, labels), expected, atol=1e-5), (
        "four targets: divide their sum by 4, whatever text they belong to and however wide the batch is"
    )


def test_no_targets(next_token_loss):
    logits = torch.randn(2, 3, 5, requires_grad=True)
    loss = next_token_loss(logits, torch.full((2, 3), -100))
    assert loss.item() == 0, f"without a target, the loss is 0, not {loss.item()}"
    try:
        loss.backward()
    except RuntimeError:
        raise AssertionError(
            "without a target, the loss has no grad_fn, but a backward pass through it must work"
        ) from None
    assert logits.grad is not None and not logits.grad.isnan().any(), "without a target, every gradient is 0"


def test_hidden_company(collate, positions, attend, next_token_loss, seed):
    draw = random.Random(seed)
    torch.manual_seed(seed)
    words, places, head = nn.Embedding(20, 16), nn.Embedding(40, 16), nn.Linear(16, 20)
    with torch.no_grad():
        for trial in range(12):
            texts = [[draw.randrange(20) for _ in range(draw.randint(1, 14))] for _ in range(draw.randint(1, 5))]
            limit, which = draw.choice([None, 3, 10]), draw.choice(["left", "right"])
            tokens, real, goals = collate(texts, 0, limit, side=which)
            inner = words(tokens) + places(positions(real))
            output = head(attend(inner, inner, inner, real))
            summed, number = 0.0, 0
            for b, sequence in enumerate(texts):
                shorter = torch.tensor([sequence[:limit]])
                single = words(shorter) + places(torch.arange(shorter.shape[1]))
                answer = head(_alone(single))
                assert torch.allclose(output[b][real[b]], answer[0], atol=1e-4), (
                    f"in a batch padded on the {which}, a text does not have the logits that it has alone ({trial})"
                )
                summed += F.cross_entropy(answer[0, :-1], shorter[0, 1:], reduction="sum").item()
                number += shorter.shape[1] - 1
            measured = next_token_loss(output, goals).item()
            assert abs(measured - summed / max(number, 1)) < 1e-3, "the loss of a batch is not that of its texts"
