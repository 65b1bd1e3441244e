import copy

import torch
from torch import nn


class _Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.query, self.up = nn.LayerNorm(6), nn.Linear(6, 6), nn.Linear(6, 10, bias=False)
        self.down = nn.Linear(10, 6)

    def forward(self, x):
        return x + self.down(torch.tanh(self.up(self.query(self.norm(x)))))


def _model():
    torch.manual_seed(3)
    return nn.ModuleDict({"blocks": nn.Sequential(_Block(), nn.Sequential(_Block()))})


def _run(model, x):
    return model["blocks"](x)


def _learned(add, names=("query", "up")):
    """A model whose adapters hold something."""
    model = add(_model(), list(names), 2, 6.0)
    torch.manual_seed(4)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.requires_grad:
                weight.normal_(std=0.5)
    return model


def _kinds(model, kind):
    return sum(isinstance(module, kind) for module in model.modules())


def test_starts_without_effect(Adapter):
    layer, x = nn.Linear(5, 4), torch.randn(3, 5)
    expected = layer(x).detach()
    assert torch.allclose(Adapter(layer, 2, 4)(x), expected), (
        "a new adapter must not change the output: start B at zero"
    )


def test_can_learn(Adapter):
    layer = Adapter(nn.Linear(5, 4), 2, 4)
    layer(torch.randn(3, 5)).square().sum().backward()
    assert any(m.grad is not None and m.grad.abs().sum() > 0 for m in (layer.A, layer.B)), (
        "if A and B are both zero, every gradient stays zero: start A at random"
    )


def test_scale(Adapter):
    layer = nn.Linear(5, 4)
    x = torch.randn(2, 3, 5)
    with torch.no_grad():
        expected = layer(x)
        for r, alpha in ((1, 3.0), (4, 2.0)):
            adapter = Adapter(copy.deepcopy(layer), r, alpha)
            adapter.A.normal_()
            adapter.B.normal_()
            product = torch.einsum("oi,...i->...o", adapter.B @ adapter.A, x)
            assert torch.allclose(adapter(x) - expected, alpha / r * product, atol=1e-4), (
                "the product must be multiplied by alpha / r and added to the layer's output"
            )


def test_layer_is_frozen(Adapter):
    layer = nn.Linear(5, 4)
    trained = {name for name, p in Adapter(layer, 2, 4).named_parameters() if p.requires_grad}
    assert trained == {"A", "B"}, f"an adapter freezes its layer and trains only A and B, not {sorted(trained)}"


def test_starts_at_random(Adapter):
    starts = []
    for seed in (0, 1, 0):
        layer = nn.Linear(50, 40)
        torch.manual_seed(seed)
        starts.append(Adapter(layer, 20, 4).A.detach().clone())
    assert starts[0].equal(starts[2]) and not starts[0].equal(starts[1]), (
        "A is not drawn from torch's generator: it is the same for every seed, or it is uninitialized memory"
    )


def test_only_adapters_train(add):
    model = add(_model(), ["query"], 2, 4.0)
    count = sum(p.numel() for p in model.parameters() if p.requires_grad)
    assert count == 2 * 2 * (6 + 6), f"{count} parameters train instead of 48: freeze everything but A and B"


def test_the_given_model(add):
    model = _model()
    assert add(model, ["query"], 2, 4.0) is model, "replace the layers in the given model, not in a copy"


def test_nested(add, Adapter):
    model = add(_model(), ["query", "up"], 2, 4.0)
    assert _kinds(model, Adapter) == 4, "each block has two of the named layers, and so has the nested block"


def test_whole_names(add, Adapter):
    model = add(_model(), ["quer", "own", "blocks.0.up"], 2, 4.0)
    assert _kinds(model, Adapter) == 0, "adapt a layer only if its whole name is in the list, not a part of it"


def test_children_of_the_model(add, merge, Adapter):
    model = add(nn.ModuleDict({"up": nn.Linear(3, 3)}), ["up"], 2, 4.0)
    assert _kinds(model, Adapter) == 1, "a named layer may be a child of the model itself, its first or its only one"
    assert _kinds(merge(model), Adapter) == 0, "the only child of the model is still an adapter after merge"


def test_linear_layers_only(add, Adapter):
    try:
        model = add(_model(), ["norm", "query"], 2, 4.0)
    except AttributeError as error:
        raise AssertionError(f"a layer norm with a given name was treated as a linear layer: {error}") from None
    assert _kinds(model, Adapter) == 2, "only linear layers are adapted, and `norm` is not one"


def test_merge(add, merge, Adapter):
    model, x = _learned(add), torch.randn(7, 6)
    plain = merge(model)
    assert _kinds(plain, Adapter) == 0, "a merged model has no adapters"
    assert torch.allclose(_run(plain, x), _run(model, x), atol=1e-4), (
        "the merged weight must be W + alpha / r * B A, in this order and with this factor"
    )


def test_merge_leaves_the_model(add, merge):
    model = _learned(add)
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    merge(model)
    now = model.state_dict()
    assert now.keys() == before.keys() and all(now[name].equal(before[name]) for name in before), (
        "merge must leave the given model as it was, adapters and weights: work on a copy"
    )


def test_strip(add, strip):
    model, x = _learned(add), torch.randn(7, 6)
    assert torch.allclose(_run(strip(model), x), _run(_model(), x), atol=1e-6), (
        "without its adapters, the model must give the outputs from before the training"
    )


def test_hidden_models(add, merge, Adapter, seed):
    torch.manual_seed(seed)
    for names in (["up"], ["down", "query"], ["query", "up", "down"]):
        model, inputs = _learned(add, names), torch.randn(2, 4, 6)
        assert _kinds(model, Adapter) == 2 * len(names), f"wrong layers were replaced for {names}"
        twice = [_run(merge(model), inputs) for _ in range(2)]
        for outputs in twice:
            assert torch.allclose(outputs, _run(model, inputs), atol=1e-4), (
                "after merging some of the layers, the outputs are wrong"
            )
