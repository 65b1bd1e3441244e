import copy
import random

import torch
from torch import nn


def _model(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 3))


def _same(found, expected):
    return torch.allclose(found, expected, rtol=1e-5, atol=1e-6)


def _modes(model):
    return [module.training for module in model.modules()]


def test_eval_mode(Predictor):
    model, x = _model(), torch.ones(5, 4)
    expected = copy.deepcopy(model).eval()(x).detach()
    assert _same(Predictor(model)(x), expected), "the prediction is not that of the model in eval mode"


def test_even_after_train(Predictor):
    model, x = _model(), torch.ones(5, 4)
    expected = copy.deepcopy(model).eval()(x).detach()
    predictor = Predictor(model)
    model.train()
    assert _same(predictor(x), expected), (
        "after model.train() the wrapper predicts in train mode: switch at every call, not once in __init__"
    )


def test_current_weights(Predictor):
    model, x = _model(), torch.ones(5, 4)
    predictor = Predictor(model)
    predictor(x)
    with torch.no_grad():
        model[4].bias.add_(1.0)
    expected = copy.deepcopy(model).eval()(x).detach()
    assert _same(predictor(x), expected), (
        "the model has learned since, and the wrapper answers with old weights: keep the model, not a copy"
    )


def test_no_graph(Predictor):
    with torch.enable_grad():
        out = Predictor(_model())(torch.ones(2, 4))
    assert not out.requires_grad, "the result requires a gradient, so its graph and all activations are kept"


def test_statistics_stay(Predictor):
    model = _model().train()
    before = copy.deepcopy(model.state_dict())
    Predictor(model)(torch.randn(6, 4))
    for name, t in model.state_dict().items():
        assert t.equal(before[name]), f"{name} changed: the forward ran in train mode, which no_grad does not prevent"


def test_mode_is_put_back(Predictor):
    for mode in (True, False):
        model = _model().train(mode)
        Predictor(model)(torch.ones(2, 4))
        assert model.training is mode and _modes(model) == [mode] * 6, (
            f"a model in {'train' if mode else 'eval'} mode is not in that mode after a prediction"
        )


def test_each_mode_is_put_back(Predictor):
    model = _model().train()
    model[1].eval()  # a frozen normalisation
    before = _modes(model)
    Predictor(model)(torch.ones(2, 4))
    assert _modes(model) == before, (
        "model.train() woke a part up that was in eval mode: put back the mode of each module, not of the whole"
    )


def test_mode_of_the_moment_is_put_back(Predictor):
    model = _model().train()
    predictor = Predictor(model)
    model.eval()
    predictor(torch.ones(2, 4))
    assert _modes(model) == [False] * 6, (
        "the model was in train mode when it was wrapped, in eval mode when it was asked, and is in train mode again: "
        "look at the modes at every call"
    )


def test_nothing_is_recorded(Predictor):
    model, recording = _model(), []
    model.register_forward_hook(lambda *_: recording.append(torch.is_grad_enabled()))
    with torch.enable_grad():
        Predictor(model)(torch.ones(2, 4))
    assert recording == [False], (
        "the forward was recorded and its result detached afterwards: until then all activations were kept"
    )


def _refuse(*_):
    raise ValueError("a layer fails")


def test_put_back_after_an_error(Predictor):
    model = _model().train()
    model[2].register_forward_pre_hook(_refuse)
    try:
        Predictor(model)(torch.ones(2, 4))
    except ValueError:
        pass
    else:
        raise AssertionError("the model's error was swallowed: who asked must hear of it")
    assert _modes(model) == [True] * 6, "after an error in the model it stays in eval mode: use try and finally"


def test_training_goes_on(Predictor):
    model, x = _model().train(), torch.randn(6, 4)
    model(x).sum().backward()
    gradient = model[0].weight.grad.clone()
    Predictor(model)(x)
    on = torch.is_grad_enabled()
    torch.set_grad_enabled(True)  # for the checks that follow
    assert on, "recording is switched off for the rest of the program: switch it off in a with block"
    assert all(p.requires_grad for p in model.parameters()), "the parameters no longer require a gradient"
    assert model[0].weight.grad is not None and model[0].weight.grad.equal(gradient), "a gradient was changed"


def test_the_model_is_called(Predictor):
    model, seen = _model(), []
    model.register_forward_hook(lambda *_: seen.append(1))
    Predictor(model)(torch.ones(2, 4))
    assert seen == [1], "the forward hook did not run once: call model(x), not model.forward(x)"


class _Scaled(nn.Module):
    def __init__(self, parts):
        super().__init__()
        self.parts = nn.ModuleList(parts)

    def forward(self, x, scale, *, shift=0.0):
        for part in self.parts:
            x = part(x)
        return {"out": scale * x + shift}


def test_hidden_arguments(Predictor):
    model = _Scaled([nn.Linear(4, 4)])
    try:
        found = Predictor(model)(torch.ones(2, 4), 2.0, shift=1.0)["out"]
    except TypeError as refusal:
        raise AssertionError(f"all arguments go to the model, positional and by name: {refusal}") from None
    assert _same(found, model(torch.ones(2, 4), 2.0, shift=1.0)["out"].detach()), "an argument did not arrive"


def test_hidden_random(Predictor, reference, seed):
    draw = random.Random(seed)
    for case in range(20):
        torch.manual_seed(case)
        kinds = [nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), _model()[:4].append(nn.Linear(8, 4))]
        model = _Scaled(draw.sample(kinds, draw.randint(1, 4)))
        for module in model.modules():
            module.training = draw.random() < 0.5
        twin, x, before = copy.deepcopy(model), torch.randn(3, 4), _modes(model)
        found = Predictor(model)(x, 3.0)["out"]
        expected = reference.Predictor(twin)(x, 3.0)["out"]
        assert _same(found, expected), "a prediction is wrong for a model whose parts are in different modes"
        assert _modes(model) == before, "the mode of a part is not what it was before the prediction"
