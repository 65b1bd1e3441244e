import random

import torch
from torch import nn


def _old(Old, width=6, depth=2, classes=3, seed=0):
    torch.manual_seed(seed)
    model = Old(width, depth, classes)
    model(torch.randn(20, 4))  # the running statistics move
    return model.eval()


def _wrapped(model):
    return {f"module.{name}": value for name, value in model.state_dict().items()}


def test_prefix(migrate):
    found = migrate({"module.embed.weight": torch.ones(2, 4), "norm.bias": torch.ones(2)})
    assert set(found) == {"embed.weight", "norm.bias"}, f"'module.' goes, if it is there; found {sorted(found)}"


def test_prefix_only_in_front(migrate):
    found = set(migrate({"module.side.module.weight": torch.ones(1), "my_blocks.0.qkv.bias": torch.ones(3)}))
    assert found == {"side.module.weight", "my_blocks.0.qkv.bias"}, (
        f"names change where the table says, not wherever the letters occur: {sorted(found)}"
    )


def test_qkv(migrate):
    weight = torch.arange(27.0).reshape(9, 3)
    found = migrate({"blocks.0.qkv.weight": weight, "blocks.0.qkv.bias": torch.arange(9.0)})
    expected = {f"layers.0.{letter}.{kind}" for letter in "qkv" for kind in ("weight", "bias")}
    assert set(found) == expected, f"qkv becomes q, k and v, weights and biases: {sorted(found)}"
    rows = {letter: found[f"layers.0.{letter}.weight"] for letter in "qkv"}
    assert all(torch.equal(rows[letter], weight[3 * i : 3 * i + 3]) for i, letter in enumerate("qkv")), (
        "query, key and value are consecutive rows: a weight has the shape (out, in)"
    )
    assert found["layers.0.k.bias"].tolist() == [3.0, 4.0, 5.0], "the bias is split like the rows of the weight"


def test_ff(migrate):
    names = [f"blocks.1.ff.{i}.{kind}" for i in (0, 2) for kind in ("weight", "bias")]
    found = migrate({name: torch.full((2,), float(i)) for i, name in enumerate(names)})
    expected = {"layers.1.expand.weight": 0, "layers.1.expand.bias": 1, "layers.1.shrink.weight": 2}
    assert set(found) == {*expected, "layers.1.shrink.bias"}, f"ff.0 is expand, ff.2 is shrink: {sorted(found)}"
    assert all(found[name][0] == value for name, value in expected.items()), "expand and shrink are the wrong way round"


def test_ten_blocks(migrate, Old, New):
    found = migrate(_old(Old, depth=12).state_dict())
    wrong = set(found) ^ (set(New(6, 12, 3).state_dict()) - {"gain"})
    assert not wrong, f"with twelve blocks, these names are wrong or missing: {sorted(wrong)[:4]}"


def test_state_untouched(migrate, Old):
    state = _wrapped(_old(Old))
    names = list(state)
    migrate(state)
    assert list(state) == names, "the given dictionary has changed: build a new one"


def test_same_outputs(migrate, adopt, Old, New):
    old, new = _old(Old), New(6, 2, 3).eval()
    adopt(new, migrate(_wrapped(old)))
    x = torch.randn(5, 4)
    assert torch.allclose(new(x), old(x), atol=1e-5), (
        "New does not compute what Old did: is everything loaded, running statistics too, and q, k, v in order?"
    )


def test_adopt_reports(adopt):
    model = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 4))
    state = {"0.weight": torch.ones(3, 2), "1.weight": torch.ones(5, 3), "1.bias": torch.ones(4), "x": torch.ones(1)}
    try:
        report = adopt(model, state)
    except RuntimeError as error:
        if isinstance(error, NotImplementedError):
            raise
        raise AssertionError(
            "a tensor of another shape is left out and reported; strict=False does not do that"
        ) from None
    expected = {"loaded": ["0.weight", "1.bias"], "missing": ["0.bias"], "unexpected": ["x"], "shape": ["1.weight"]}
    assert {what: list(names) for what, names in report.items()} == expected, (
        f"the report should be {expected}, not {report}"
    )


def test_adopt_wants_the_shape(adopt):
    model = nn.Linear(4, 3)
    before = model.weight.detach().clone()
    report = adopt(model, {"weight": torch.ones(2, 6)})
    assert torch.equal(model.weight, before) and list(report["shape"]) == ["weight"], (
        "twelve numbers in the shape (2, 6) are another tensor than twelve in the shape (3, 4): do not reshape"
    )


def test_adopt_leaves_the_rest(adopt):
    model = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 4))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    adopt(model, {"0.weight": torch.ones(3, 2), "1.weight": torch.ones(4, 1), "1.bias": torch.ones(1)})
    after = model.state_dict()
    assert (after["0.weight"] == 1).all(), "what fits by name and shape is copied"
    changed = [name for name in before if name != "0.weight" and not torch.equal(before[name], after[name])]
    assert not changed, f"{changed} has another shape in the state: it is left alone, not broadcast, cut or zeroed"


def test_adopt_copies(adopt):
    model, state = nn.Linear(2, 3), {"weight": torch.ones(3, 2), "bias": torch.ones(3)}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    adopt(model, state)
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    assert (state["weight"] == 1).all(), "a step of training changed the checkpoint: copy, do not share memory"
    assert (model.weight == 0.5).all(), "the optimizer no longer holds the model's parameters: copy into them"


def test_adopt_is_quiet(adopt):
    model = nn.Linear(2, 3).requires_grad_(False).double()
    adopt(model, {"weight": torch.ones(3, 2)})
    assert model.weight.dtype == torch.float64 and not model.weight.requires_grad, (
        "dtype and requires_grad are the model's business, not the checkpoint's"
    )


def test_hidden_random(migrate, adopt, reference, seed):
    draw = random.Random(seed)
    for case in range(4):
        width, depth, classes = draw.randint(2, 8), draw.randint(1, 13), draw.randint(2, 5)
        old = _old(reference.Old, width, depth, classes, seed + case)
        state = _wrapped(old) if draw.random() < 0.5 else dict(old.state_dict())
        found, expected = migrate(state), reference.migrate(state)
        assert set(found) == set(expected), "other names for a random size"
        assert all(torch.equal(found[name], expected[name]) for name in expected), "other values for a random size"
        model = reference.New(width, depth + draw.randint(0, 1), classes + draw.randint(0, 1))
        for name in draw.sample(sorted(expected), 2):
            del expected[name]
        assert adopt(model, expected) == reference.adopt(model, expected), "another report for a random model"


def test_hidden_dtype_and_buffers(adopt):
    model = nn.BatchNorm1d(2)
    state = {name: torch.ones_like(value) * 3 for name, value in model.state_dict().items()}
    report = adopt(model, state)
    assert model.num_batches_tracked == 3 and (model.running_mean == 3).all(), "buffers are loaded like parameters"
    assert len(report["loaded"]) == 5, "buffers are reported like parameters"
