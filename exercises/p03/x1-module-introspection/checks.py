import random

import torch
from torch import nn


def _encoder():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Sequential(nn.Linear(8, 2, bias=False)))


class _Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(3))
        self.inner = nn.Linear(3, 1)


class _Blocks(nn.Module):
    def __init__(self, blocks):
        super().__init__()
        self.sizes = [1, 2, 3]
        self.blocks = blocks


def test_rows_own(rows):
    found = [(name, kind) for name, kind, _ in rows(_encoder())]
    assert ("", "Sequential") not in found and ("2", "Sequential") not in found, (
        "a container holds no parameters of its own: they belong to its children"
    )


def test_rows_paths(rows):
    expected = [("0", "Linear", {"weight": (8, 4), "bias": (8,)}), ("2.0", "Linear", {"weight": (2, 8)})]
    found = [tuple(row) for row in rows(_encoder())]
    assert len(found) == 2, f"two modules of this tree hold parameters, at any depth; {len(found)} were found"
    assert found == expected, f"names are paths from the root, shapes are tuples: {expected[1]}, not {found[1]}"


def test_rows_root(rows):
    found = [row[0] for row in rows(_Scaled())]
    assert found == ["", "inner"], f"the model itself may hold parameters, under the empty name; found {found}"


def test_totals_frozen(totals):
    model = _encoder()
    model[0].requires_grad_(False)
    found = totals(model)
    assert (found["trainable"], found["frozen"]) == (16, 40), (
        "whether a parameter is trained is said by requires_grad: 16 are, 40 are frozen"
    )


def test_totals_shared(totals):
    model = nn.ModuleDict({"embed": nn.Embedding(5, 3), "score": nn.Linear(3, 5, bias=False)})
    model["score"].weight = model["embed"].weight
    assert totals(model)["trainable"] == 15, "one parameter filed under two names is one parameter: 15 elements"


def test_totals_buffers(totals):
    model = nn.BatchNorm1d(4)
    model.register_buffer("mask", torch.ones(6), persistent=False)
    assert totals(model)["buffers"] == 4 + 4 + 1 + 6, "a buffer that is not saved is a buffer all the same: 15 elements"


def test_totals_shared_buffer(totals):
    model, table = nn.ModuleList(nn.ReLU() for _ in range(2)), torch.ones(6)
    for layer in model:
        layer.register_buffer("table", table)
    assert totals(model)["buffers"] == 6, "one buffer filed under two names is one buffer: 6 elements"


def test_overlooked_list(overlooked):
    for container in (list, tuple):
        found = overlooked(_Blocks(container([nn.Linear(1, 1)])))
        assert list(found) == ["blocks"], f"a plain {container.__name__} hides its modules from the registry"
    assert list(overlooked(_Blocks([nn.Parameter(torch.ones(1))]))) == ["blocks"], "it hides parameters as well"


def test_overlooked_nested(overlooked):
    assert list(overlooked(_Blocks({"left": nn.ReLU()}))) == ["blocks"], "a plain dictionary hides its modules too"
    assert list(overlooked(_Blocks([1, {"deep": (nn.ReLU(),)}]))) == ["blocks"], "look inside of nested containers"


def test_overlooked_paths(overlooked):
    model = nn.Sequential(nn.Linear(1, 1), _Blocks([nn.ReLU()]), _Blocks([nn.ReLU()]))
    found = list(overlooked(model))
    assert found == ["1.blocks", "2.blocks"], f"every module of the tree is searched, and paths are full: {found}"


def test_overlooked_private(overlooked):
    model = nn.Linear(1, 1)
    model._layers = [nn.ReLU()]
    found = list(overlooked(model))
    assert found == ["_layers"], f"a name that begins with _ hides modules as any other does; found {found}"


def test_overlooked_proper(overlooked):
    model = _Blocks(nn.ModuleList([_encoder(), nn.BatchNorm1d(2)]))
    found = list(overlooked(model))
    assert found == [], f"what is registered is not overlooked, and numbers in a list are no modules: {found}"


def _random_model(draw, depth=0):
    width = draw.randint(1, 5)
    if depth == 3 or draw.random() < 0.3:
        return draw.choice([nn.Linear(width, 2), nn.BatchNorm1d(width), nn.ReLU(), nn.LayerNorm(width), _Scaled()])
    parts = [_random_model(draw, depth + 1) for _ in range(draw.randint(1, 3))]
    parts += [parts[0]] if draw.random() < 0.3 else []  # shared
    for part in parts:
        part.requires_grad_(draw.random() < 0.7)
    kind = draw.choice([nn.ModuleList, nn.Sequential, list, tuple, lambda p: {"a": p}])
    made = kind(parts) if kind is not nn.Sequential else nn.Sequential(*parts)
    return made if isinstance(made, nn.Module) else _Blocks(made)


def test_hidden_random(rows, totals, overlooked, reference, seed):
    draw = random.Random(seed)
    for _ in range(40):
        model = _Blocks([_random_model(draw), nn.ModuleList([_random_model(draw), _random_model(draw)])])
        model.more = nn.ModuleList([_random_model(draw), _random_model(draw)])
        assert [tuple(row) for row in rows(model)] == reference.rows(model), "rows differ for a random tree"
        assert dict(totals(model)) == reference.totals(model), "totals differ for a random tree"
        assert list(overlooked(model)) == reference.overlooked(model), "another list of hidden attributes"
