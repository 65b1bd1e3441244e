import torch
from torch import nn
from torch.nn import functional as F


def _try(call, what):
    try:
        return call()
    except RuntimeError as error:
        raise AssertionError(f"{what}: {str(error).splitlines()[0]}") from None


_FUNCTIONS = {"softened", "descend", "in_chunks", "evaluate", "tune"}


def test_causes(causes, CAUSES):
    found = causes()
    assert set(found) == _FUNCTIONS, "causes() names the five functions, and no other"
    assert set(found.values()) <= set(CAUSES), "a cause is one of the entries of CAUSES, word for word"
    assert len(set(found.values())) == 5, "each cause occurs once: two of your five are the same"


def test_hidden_causes(causes, reference):
    assert causes() == reference.causes(), "a bug has another cause than the one that you name"


def test_softened(causes, softened):
    causes()
    x = torch.tensor([0.5, 1.0, -1.0], requires_grad=True)
    out = softened(x)
    assert torch.allclose(out, x.softmax(0)), "the value is exp(x) divided by its sum"
    weights = torch.tensor([1.0, 10.0, 100.0])
    (found,) = _try(lambda: torch.autograd.grad((out * weights).sum(), x), "the backward of softened fails")
    (expected,) = torch.autograd.grad((x.softmax(0) * weights).sum(), x)
    assert torch.allclose(found, expected), "the backward runs and gives a wrong gradient: an edit went unnoticed"


def _data(seed=0):
    draw = torch.Generator().manual_seed(seed)
    return torch.randn(20, 3, generator=draw), torch.randn(20, generator=draw)


def test_descend(causes, descend):
    causes()
    x, y = _data()
    weight = torch.ones(3, requires_grad=True)
    expected = F.mse_loss(x @ torch.ones(3), y).item()
    found = _try(lambda: descend(weight, x, y, 0.1), "descend fails")
    assert isinstance(found, float), "the loss is returned as a Python float; a tensor would keep its graph"
    assert abs(found - expected) < 1e-6, "the loss is the one before the step"


def test_step_is_in_place(causes, descend):
    causes()
    x, y = _data()
    weight = torch.ones(3, requires_grad=True)
    slope = torch.autograd.grad(F.mse_loss(x @ weight, y), weight)[0]
    _try(lambda: descend(weight, x, y, 0.1), "descend fails")
    assert torch.allclose(weight, torch.ones(3) - 0.1 * slope), "the caller's own weight must have moved, once"
    assert weight.is_leaf and weight.requires_grad, "weight must still be a leaf that requires a gradient"


def test_second_step(causes, descend):
    causes()
    x, y = _data()
    weight, losses = torch.ones(3, requires_grad=True), []
    for _ in range(30):
        losses.append(_try(lambda: descend(weight, x, y, 0.1), "the second step fails"))
    best = F.mse_loss(x @ torch.linalg.lstsq(x, y[:, None]).solution[:, 0], y).item()
    assert losses[-1] < best + 0.05, "the gradients of earlier steps are still there, so the loss swings"
    assert weight.grad is None, "grad is None after the step"


def _rnn(seed=0):
    torch.manual_seed(seed)
    return nn.RNNCell(2, 4), torch.randn(3, 5, 6, 2), torch.zeros(6, 4)


def _inside(cell, chunks, h):
    for chunk in chunks:
        h = h.detach()
        for x in chunk:
            h = cell(x, h)
        h.square().mean().backward()
    return h.detach(), [p.grad for p in cell.parameters()]


def test_chunks_run(causes, in_chunks):
    causes()
    cell, chunks, h = _rnn()
    last = _try(lambda: in_chunks(cell, chunks, h), "the second chunk fails")
    assert last.shape == (6, 4), "the last state has the shape of the first"
    assert last.grad_fn is None, "the state that is returned has no history"


def test_chunks_stay_inside(causes, in_chunks):
    causes()
    cell, chunks, h = _rnn()
    expected_last, expected = _inside(cell, chunks, h)
    cell.zero_grad()
    last = _try(lambda: in_chunks(cell, chunks, h), "the second chunk fails")
    assert torch.allclose(last, expected_last), "the state is carried on from chunk to chunk"
    found = [p.grad for p in cell.parameters()]
    assert all(torch.allclose(a, b) for a, b in zip(found, expected, strict=True)), (
        "gradients add over the chunks, and no chunk reaches into the one before it"
    )


def test_evaluate(causes, evaluate):
    causes()
    torch.manual_seed(0)
    model = nn.Linear(3, 1)
    batches = [(torch.randn(5, 3), torch.randn(5, 1)) for _ in range(4)]
    found = evaluate(model, batches)
    assert isinstance(found, float), "evaluate returns a Python float; a tensor would keep every graph"
    expected = sum(F.mse_loss(model(x), y).item() for x, y in batches) / 4
    assert abs(found - expected) < 1e-6, "it is the mean of the batches' losses"


def test_evaluate_keeps_nothing(causes, evaluate):
    causes()
    torch.manual_seed(0)
    model, saved = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)), []
    batches = [(torch.randn(5, 3), torch.randn(5, 1)) for _ in range(4)]
    with torch.autograd.graph.saved_tensors_hooks(lambda t: saved.append(1) or t, lambda t: t):
        evaluate(model, batches)
    assert not saved, "evaluation recorded a graph: every forward saved tensors for a backward that never comes"
    assert torch.is_grad_enabled(), "recording must be on again afterwards"
    assert all(p.requires_grad for p in model.parameters()), "the model must still be able to learn afterwards"


def test_prompt_learns(causes, tune):
    causes()
    torch.manual_seed(0)
    backbone = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    x, prompt = torch.randn(5, 3), torch.zeros(3, requires_grad=True)
    loss = tune(prompt, backbone, x)
    assert abs(loss.item() - backbone(x).square().mean().item()) < 1e-6, "the value is the mean square of the output"
    _try(loss.backward, "no path leads from the loss to the prompt")
    assert prompt.grad is not None, "the prompt got no gradient"
    assert all(p.grad is None for p in backbone.parameters()), "the backbone must not learn"


def test_hidden_random(causes, softened, in_chunks, tune, reference, seed):
    causes()
    for case in range(8):
        draw = torch.Generator().manual_seed(seed + case)
        x = torch.randn(7, generator=draw, requires_grad=True)
        grads = [torch.autograd.grad((f(x) * torch.arange(7.0)).sum(), x)[0] for f in (softened, reference.softened)]
        assert torch.allclose(*grads, atol=1e-6), "a gradient of softened is wrong"
        cell, chunks, h = _rnn(seed + case)
        ours = in_chunks(cell, chunks, h), [p.grad.clone() for p in cell.parameters()]
        cell.zero_grad()
        theirs = reference.in_chunks(cell, chunks, h), [p.grad for p in cell.parameters()]
        assert torch.allclose(ours[0], theirs[0]), "a state is wrong"
        assert all(torch.allclose(a, b) for a, b in zip(ours[1], theirs[1], strict=True)), "a chunk's gradient is wrong"
        torch.manual_seed(seed + case)
        backbone, prompts = nn.Linear(3, 2), [torch.zeros(3, requires_grad=True) for _ in range(2)]
        data = torch.randn(5, 3)
        for function, prompt in zip((tune, reference.tune), prompts, strict=True):
            backbone.requires_grad_(True)
            function(prompt, backbone, data).backward()
        assert torch.allclose(prompts[0].grad, prompts[1].grad), "the prompt's gradient is wrong"


def test_hidden_evaluate_and_descend(causes, evaluate, descend, reference, seed):
    causes()
    for case in range(8):
        torch.manual_seed(seed + case)
        model = nn.Linear(3, 1)
        batches = [(torch.randn(n, 3), torch.randn(n, 1)) for n in (5, 2, 9)]
        assert abs(evaluate(model, batches) - reference.evaluate(model, batches)) < 1e-6, "a mean loss is wrong"
        x, y = _data(seed + case)
        weights = [torch.randn(3).requires_grad_() for _ in range(2)]
        weights[1].data.copy_(weights[0].data)
        for function, weight in zip((descend, reference.descend), weights, strict=True):
            for _ in range(3):
                function(weight, x, y, 0.05)
        assert torch.allclose(*weights), "three steps lead to another weight"
