import random

import torch


def test_start(explore):
    t = torch.zeros(4, 3)[1:]
    assert list(explore(t, [])) == [((3, 3), (3, 1), 3, True, False)], "without steps there is one row, for t itself"


def test_transpose(explore):
    rows = explore(torch.zeros(2, 3), [("transpose", 0, 1)])
    assert len(rows) == 2, "one row for the tensor and one for each step"
    assert rows[1][:4] == ((3, 2), (1, 3), 0, False), "a transpose swaps sizes and strides, and is not contiguous"
    assert rows[1][4] is False, "a transpose copies nothing"


def test_chain(explore):
    rows = explore(torch.zeros(2, 3, 4), [("permute", 2, 0, 1), ("select", 0, 1)])
    assert rows[-1][:3] == ((2, 3), (12, 4), 1), "each step is applied to the result of the step before"


def test_slice(explore):
    row = explore(torch.zeros(5), [("narrow", 0, 2, 3)])[1]
    assert row[2] == 2, "a view that begins further in has a storage offset"
    assert row[4] is False, "a view that begins further in still lies on the same storage: it is no copy"


def test_view_of_a_slice(explore):
    row = explore(torch.zeros(5), [("narrow", 0, 2, 3), ("unsqueeze", 0)])[2]
    assert row[4] is False, (
        "a view of a tensor that itself begins further in is no copy: compare storages, not the address of an element"
    )


def test_copy(explore):
    row = explore(torch.zeros(2, 3), [("t",), ("reshape", 6)])[2]
    assert row[4] is True, "flattening a transpose cannot be done by strides: reshape copied"
    assert row[3] is True, "the copy is contiguous"


def test_copy_then_view(explore):
    rows = explore(torch.zeros(2, 3), [("t",), ("contiguous",), ("reshape", 6)])
    copied = [row[4] for row in rows]
    assert copied == [False, False, True, False], "a step copied if its result left the storage it was applied to"


def test_detached(explore):
    row = explore(torch.zeros(5), [("detach",)])[1]
    assert row[4] is False, (
        "detach() is not recorded as a view (its _base is None), and its result lies on the same storage all the same"
    )


def test_t_is_left_alone(explore):
    t = torch.arange(6).reshape(2, 3)
    explore(t, [("t",), ("reshape", 6)])
    assert t.shape == (2, 3) and t.stride() == (3, 1), "exploring must not change the tensor that was given"


def _chain(draw):
    shape = [draw.randint(1, 4) for _ in range(3)]
    steps = []
    for _ in range(5):
        kind = draw.choice(["permute", "transpose", "reshape", "contiguous", "narrow", "flip", "clone"])
        arguments = {
            "permute": draw.sample(range(3), 3),
            "transpose": draw.sample(range(3), 2),
            "reshape": [3, -1, 1] if 3 in shape else [-1, 1, 1],
            "narrow": [1, 0, 1],
            "flip": [0],
        }
        steps.append((kind, *arguments.get(kind, [])))
        if kind in ("reshape", "narrow"):
            break
    return torch.zeros(shape), steps


def test_hidden_random_chains(explore, reference, seed):
    draw = random.Random(seed)
    for _ in range(60):
        t, steps = _chain(draw)
        found = [tuple(row) for row in explore(t, steps)]
        assert found == reference.explore(t, steps), "some row of a longer chain is wrong"
