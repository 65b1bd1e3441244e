import random

import torch
from torch.nn import functional as F


def _model(seed=0):
    """One layer of attention over embeddings of tokens and of positions."""
    draw = torch.Generator().manual_seed(seed)
    tokens, places = (torch.randn(40, 8, generator=draw) for _ in range(2))
    q, k, v = (torch.randn(8, 8, generator=draw) for _ in range(3))

    def run(ids, mask, positions):
        x = tokens[ids] + places[positions]
        return F.scaled_dot_product_attention(x @ q, x @ k, x @ v, attn_mask=mask) @ tokens.T

    return run


def test_best_fit(pack):
    assert [list(row) for row in pack([5, 7, 3, 2], 10)] == [[1, 2], [0, 3]], (
        "longest first: 7, 5, 3, 2; then 3 goes to the 7, whose row has the least room in which it fits"
    )
    assert [list(row) for row in pack([6, 4, 8, 2], 10)] == [[2, 3], [0, 1]], (
        "each document goes into the fullest row that has room, even if this is an earlier one"
    )
    assert [list(row) for row in pack([4, 6, 7, 3], 10)] == [[2, 3], [1, 0]], (
        "3 goes to the 7, which it fills; documents are not kept in their own order"
    )


def test_causal(layout):
    mask, _ = layout([3, 2])
    assert not mask.triu(1).any(), "a token must not attend to a later one, not even in its own document"
    assert mask.diagonal().all(), "each token attends to itself"


def test_blocks(layout):
    mask, _ = layout([3, 2])
    assert mask.dtype == torch.bool and mask.shape == (5, 5), "the mask is bool, (T, T)"
    assert not mask[3:, :3].any(), "document 2 must not attend to document 1"
    assert mask[2, :3].all() and mask[4, 3:].all(), (
        "within its document, a token attends to itself and all earlier tokens"
    )


def test_positions(layout):
    _, positions = layout([3, 2])
    assert positions.tolist() == [0, 1, 2, 0, 1], "positions begin again at 0 in each document"


def test_labels(labels):
    documents = [torch.tensor([5, 6, 7]), torch.tensor([8, 9])]
    assert labels(documents).tolist() == [-100, 6, 7, -100, 9], (
        "labels are not shifted, and -100 at the first token of each document, which no token of it predicts"
    )
    assert documents[1].tolist() == [8, 9], "the given documents must not be changed"


def test_leak_is_shown(leak):
    a, b, c = torch.arange(4), torch.arange(10, 14), torch.arange(20, 26)
    assert leak(_model(), a, b, c, isolated=False) > 0.1, (
        "in a plain packed row, document 2 reads document 1, so its logits must change"
    )
    one, other = leak(_model(), a, b, c, isolated=False), leak(_model(), b, a, c, isolated=False)
    assert isinstance(one, float), f"the leak is a float, not {type(one).__name__}"
    assert abs(one - other) < 1e-5, (
        f"a change of -1 is as large as one of 1, so swapping first and other must not matter; {one} and {other}"
    )


def test_leak_is_repaired(leak):
    a, b, c = torch.arange(4), torch.arange(10, 14), torch.arange(20, 26)
    assert leak(_model(), a, b, c, isolated=True) < 1e-5, (
        "with a mask of blocks, the logits of document 2 must not change"
    )


def test_hidden_random(pack, layout, labels, leak, reference, seed):
    draw = random.Random(seed)
    for _ in range(30):
        lengths = [draw.randint(1, 9) for _ in range(draw.randint(1, 12))]
        found = [list(row) for row in pack(lengths, 12)]
        assert found == reference.pack(lengths, 12), "pack differs from best-fit decreasing on a random case"
        mine, expected = layout(lengths), reference.layout(lengths)
        assert all(torch.equal(a, b) for a, b in zip(mine, expected, strict=True)), "layout is wrong for many documents"
        documents = [torch.randint(40, (n,)) for n in lengths]
        assert torch.equal(labels(documents), reference.labels(documents)), "labels are wrong for some documents"
    a, b, c = torch.randint(20, (5,)), torch.randint(20, 40, (5,)), torch.randint(40, (7,))
    for isolated in (False, True):
        amount = leak(_model(seed), a, b, c, isolated)
        assert abs(amount - reference.leak(_model(seed), a, b, c, isolated)) < 1e-4, (
            "for random documents, leak returns a different number"
        )
