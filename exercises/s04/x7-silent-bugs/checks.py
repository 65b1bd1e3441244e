import copy
import random

import torch
from torch import nn


def _says(found, sick, message):
    assert found is not None, "return True or False"
    assert bool(found) == sick, message


def _net(width=8, inputs=5, outputs=3):
    return nn.Sequential(nn.Linear(inputs, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, outputs))


def _deep(inner):
    """A model that holds a module two levels down."""
    return nn.Sequential(nn.Linear(4, 4), nn.ModuleDict({"a": nn.Sequential(nn.Linear(4, 4), inner)}))


class _DropsPaths(nn.Module):
    """A module of somebody's own, which looks at `self.training`."""

    def forward(self, x):
        return x * 2 if self.training and torch.rand(()) < 0.5 else x


# left_in_eval


def test_eval_whole(left_in_eval):
    _says(left_in_eval(_net().eval()), True, "a model after model.eval() is left in evaluation mode")
    _says(left_in_eval(_net().train()), False, "after model.train() nothing is in evaluation mode")


def test_eval_inside(left_in_eval):
    for inner in (nn.Dropout(), nn.BatchNorm1d(4), _DropsPaths()):
        model = _deep(inner)
        _says(left_in_eval(model), False, "nothing here is in evaluation mode")
        inner.eval()
        _says(
            left_in_eval(model),
            True,
            f"a {type(inner).__name__} two levels down is in evaluation mode, though the model's flag says training",
        )


def test_hidden_eval(left_in_eval, seed):
    draw = random.Random(seed)
    for _ in range(10):
        model = nn.Sequential(*(_deep(draw.choice([nn.Dropout, nn.Dropout1d, nn.AlphaDropout])()) for _ in range(4)))
        _says(left_in_eval(model), False, "a model in training mode is called ill")
        draw.choice([m for m in model.modules() if "Dropout" in type(m).__name__]).eval()
        _says(left_in_eval(model), True, "one dropout layer of four is in evaluation mode, and goes unseen")
        assert model.training and model[0].training, "looking must not change any mode"


# not_in_optimizer


def test_new_head(not_in_optimizer):
    model = _net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    _says(not_in_optimizer(model, optimizer), False, "the optimizer has every parameter of this model")
    model[3] = nn.Linear(8, 3)
    _says(
        not_in_optimizer(model, optimizer),
        True,
        "the head was replaced after the optimizer was made: as many parameters of the same shapes, but others",
    )


def test_a_copy(not_in_optimizer):
    model = _net()
    optimizer = torch.optim.SGD(copy.deepcopy(model).parameters(), lr=0.1)
    _says(
        not_in_optimizer(model, optimizer),
        True,
        "the optimizer has a copy's parameters: the same values today, but not the same tensors",
    )


def test_groups(not_in_optimizer):
    model = _net()
    groups = [{"params": model[0].parameters()}, {"params": [*model[1].parameters(), *model[3].parameters()]}]
    _says(
        not_in_optimizer(model, torch.optim.SGD(groups, lr=0.1)),
        False,
        "an optimizer may have several groups: all count",
    )
    _says(not_in_optimizer(model, torch.optim.SGD(model[0].parameters(), lr=0.1)), True, "only one layer is trained")


def test_frozen(not_in_optimizer):
    model = _net()
    model[0].requires_grad_(False)
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)
    _says(not_in_optimizer(model, optimizer), False, "a frozen parameter need not be in the optimizer")
    model[0].requires_grad_(True)
    _says(not_in_optimizer(model, optimizer), True, "a layer was unfrozen, and the optimizer never heard of it")


def test_hidden_optimizer(not_in_optimizer, seed):
    draw = random.Random(seed)
    for _ in range(10):
        model, other = _net(draw.randint(3, 9)), _net()
        names = [name for name, _ in model.named_parameters()]
        frozen, lost = draw.sample(names, 2)
        model.get_parameter(frozen).requires_grad_(False)
        model.register_module("tied", nn.Identity())
        model.tied.weight = model[0].weight
        kept = [p for name, p in model.named_parameters() if name not in (frozen, lost)]
        groups = [{"params": kept[:2]}, {"params": kept[2:]}, {"params": list(other.parameters())}]
        _says(not_in_optimizer(model, torch.optim.SGD(groups, lr=0.1)), True, "one parameter of many is in no group")
        groups[1]["params"] = [*kept[2:], model.get_parameter(lost)]
        _says(
            not_in_optimizer(model, torch.optim.SGD(groups, lr=0.1)),
            False,
            "all trainable parameters are in some group; that the optimizer has others besides does no harm",
        )


# cut_off


def _head_and_trunk():
    return nn.ModuleDict({"trunk": nn.Linear(5, 4), "head": nn.Linear(4, 1)})


def _loss(model, between=lambda h: h):
    return model["head"](between(model["trunk"](torch.randn(6, 5)).relu())).square().mean()


def test_whole_graph(cut_off):
    model = _head_and_trunk()
    _says(cut_off(_loss(model), model), False, "backward reaches every parameter of this model")
    model = _head_and_trunk()
    model["trunk"].requires_grad_(False)
    _says(cut_off(_loss(model), model), False, "that a frozen parameter is not reached is no disease")


def test_rewrapped(cut_off):
    model = _head_and_trunk()
    again = torch.tensor(_loss(model).item(), requires_grad=True)
    _says(
        cut_off(again, model),
        True,
        "a loss made anew from .item() requires a gradient, and its backward runs: but its graph has only itself in it",
    )


def test_not_recorded(cut_off):
    model = _head_and_trunk()
    with torch.no_grad():
        loss = _loss(model)
    try:
        found = cut_off(loss, model)
    except NotImplementedError:
        raise
    except RuntimeError:
        raise AssertionError("a loss without a graph reaches nothing: the answer is True, not an error") from None
    _says(found, True, "a loss computed under no_grad reaches nothing")


def test_detached_inside(cut_off):
    model = _head_and_trunk()
    loss = _loss(model, torch.detach)
    _says(cut_off(loss, model), True, "the head is reached, the trunk behind the detach is not: one is enough")


def test_zero_is_reached(cut_off):
    model = _head_and_trunk()
    loss = _loss(model, lambda h: h * 0)
    _says(cut_off(loss, model), False, "a gradient of zero is a gradient: the trunk is reached, it is None that counts")


def test_backward_still_works(cut_off):
    model = _head_and_trunk()
    loss = _loss(model)
    model["head"].weight.grad = torch.ones(1, 4)
    cut_off(loss, model)
    grads = [p.grad for p in model.parameters()]
    assert grads[0] is None and grads[2].equal(torch.ones(1, 4)), "looking has filled or changed .grad"
    try:
        loss.backward()
    except RuntimeError:
        raise AssertionError("after you looked, loss.backward() raises: keep the graph") from None


def test_one_parameter_is_missed(cut_off):
    for missed in range(3):
        layers = nn.ModuleList(nn.Linear(4, 4, bias=False) for _ in range(3))
        h = torch.randn(3, 4)
        for place, layer in enumerate(layers):
            h = h if place == missed else layer(h).tanh()
        _says(cut_off(h.sum(), layers), True, f"of three parameters the one at place {missed} is not reached")


def test_hidden_cut(cut_off, seed):
    draw = random.Random(seed)
    for _ in range(10):
        layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(draw.randint(2, 5)))
        broken = draw.randrange(len(layers))
        for sick in (False, True):
            h = torch.randn(3, 4)
            for place, layer in enumerate(layers):
                h = layer(h).tanh()
                h = h.detach() if sick and place == broken else h
            _says(cut_off(h.sum(), layers), sick, "a chain of layers, whole or cut at one place, is judged wrongly")


# never_cleared


def _step(model, clear, *, sick=False, parts=1, scale=lambda n: 1.0, momentum=0.0):
    """A function that makes one step; `clear` says when and how it clears."""
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=momentum)
    zero = (lambda: None) if sick else (lambda: optimizer.zero_grad(set_to_none="none" in clear))
    count = []

    def step():
        count.append(1)
        if "before" in clear:
            zero()
        for _ in range(parts):
            (scale(len(count)) * model(torch.randn(7, 5)).square().mean() / parts).backward()
        optimizer.step()
        if "after" in clear:
            zero()

    return step


def test_clears_or_not(never_cleared):
    for clear in ("before none", "before zeros"):
        model = _net()
        _says(never_cleared(_step(model, clear), model), False, "zero_grad() before backward: this loop is healthy")
    model = _net()
    _says(never_cleared(_step(model, "before", sick=True), model), True, "this loop never calls zero_grad()")


def test_clears_after(never_cleared):
    for clear in ("after none", "after zeros"):
        model = _net()
        _says(
            never_cleared(_step(model, clear), model),
            False,
            "this loop clears at its end: what you plant before its first step, or into its zeros, is not its fault",
        )


def test_micro_batches(never_cleared):
    model = _net()
    _says(
        never_cleared(_step(model, "before none", parts=3), model),
        False,
        "within one step several backward calls may add up; only what is left from the step before is stale",
    )


def test_norms_deceive(never_cleared):
    model = _net()
    _says(
        never_cleared(_step(model, "before none", scale=lambda n: 3.0**n), model),
        False,
        "gradients grow here because the loss does; every step clears them",
    )
    model = _net()
    _says(
        never_cleared(_step(model, "before", sick=True, scale=lambda n: -((-0.9) ** n)), model),
        True,
        "nothing is cleared here, and the sum of the gradients shrinks all the same: its norm is no proof",
    )


def test_cleared_in_part(never_cleared):
    for place in (0, -1):
        model = _net()
        optimizer, kept = torch.optim.SGD(model.parameters(), lr=1e-3), list(model.parameters())[place]

        def step(model=model, optimizer=optimizer, kept=kept):
            for p in model.parameters():
                p.grad = p.grad if p is kept else None
            model(torch.randn(7, 5)).square().mean().backward()
            optimizer.step()

        found = never_cleared(step, model)
        _says(found, True, "one parameter, the first or the last, is never cleared, and goes unseen")


def test_rows_without_gradient(never_cleared):
    model = nn.Embedding(6, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def step():
        model(torch.tensor([1, 4])).square().mean().backward()
        optimizer.step()

    _says(never_cleared(step, model), True, "this loop clears nothing, though most of its gradient is zero")


def test_parts_take_turns(never_cleared):
    model, count = nn.ModuleList(nn.Linear(5, 3) for _ in range(2)), []
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def step():
        optimizer.zero_grad()
        model[len(count) % 2](torch.randn(7, 5)).square().mean().backward()
        count.append(1)
        optimizer.step()

    try:
        found = never_cleared(step, model)
    except (AttributeError, TypeError) as error:
        raise AssertionError(f"after the second step the first layer has no gradient any more: {error}") from None
    _says(found, False, "two layers take turns, and every step clears")


def test_hidden_cleared(never_cleared, seed):
    draw = random.Random(seed)
    for _ in range(12):
        model = _net(draw.randint(3, 9))
        if draw.random() < 0.5:
            model[0].requires_grad_(False)
        sick = draw.random() < 0.5
        clear = draw.choice(["before none", "before zeros", "after none", "after zeros"])
        step = _step(model, clear, sick=sick, parts=draw.randint(1, 3), momentum=draw.choice([0.0, 0.9]))
        _says(never_cleared(step, model), sick, "a loop is misjudged, for another model, place and way of clearing")


# ends_in_softmax


class _Then(nn.Module):
    """A network and what its forward does last, without a module for it."""

    def __init__(self, net, last):
        super().__init__()
        self.net, self.last = net, last

    def forward(self, x):
        return self.last(self.net(x))


class _Inside(nn.Module):
    """A softmax in the middle, as in attention, and logits at the end."""

    def __init__(self):
        super().__init__()
        self.gate, self.softmax, self.out = nn.Linear(5, 5), nn.Softmax(dim=1), nn.Linear(5, 3)

    def forward(self, x):
        return self.out(x * self.softmax(self.gate(x)))


def test_softmax_at_the_end(ends_in_softmax):
    x = torch.randn(6, 5)
    _says(ends_in_softmax(_net(), x), False, "this model returns logits")
    _says(ends_in_softmax(_net().append(nn.Softmax(dim=1)), x), True, "this model ends in nn.Softmax")


def test_softmax_as_function(ends_in_softmax):
    model = _Then(_net(), lambda z: z.softmax(1))
    _says(
        ends_in_softmax(model, torch.randn(6, 5)), True, "a softmax called in forward is no module: look at the output"
    )


def test_softmax_inside(ends_in_softmax):
    _says(
        ends_in_softmax(_Inside(), torch.randn(6, 5)),
        False,
        "the softmax of this model is in its middle, and its output are logits",
    )


def test_log_softmax(ends_in_softmax):
    _says(
        ends_in_softmax(_net().append(nn.LogSoftmax(dim=1)), torch.randn(6, 5)),
        False,
        "log-probabilities do no harm: cross entropy takes the log-softmax, and that of a log-softmax is itself",
    )


def test_not_probabilities(ends_in_softmax):
    x = torch.randn(6, 5)
    positive = _Then(_net(), lambda z: z.sigmoid() / 3)
    _says(ends_in_softmax(positive, x), False, "numbers between 0 and 1 are no softmax unless they add up to 1")
    centred = _Then(_net(), lambda z: 5 * (z - z.mean(1, keepdim=True)) + 1 / 3)
    _says(ends_in_softmax(centred, x), False, "numbers that add up to 1 are no softmax if some are negative")


def test_softmax_over_classes(ends_in_softmax):
    x = torch.randn(4, 5, 7)
    tagger = nn.Conv1d(5, 3, 1)
    _says(
        ends_in_softmax(_Then(tagger, lambda z: z.softmax(1)), x),
        True,
        "cross entropy expects the classes in dimension 1, also in (B, C, T): there the sums are 1",
    )
    _says(ends_in_softmax(tagger, x), False, "this model returns logits of shape (B, C, T)")


def test_leaves_no_trace(ends_in_softmax):
    model = _net().append(nn.Dropout())
    model[4].eval()
    before = copy.deepcopy(model.state_dict())
    modes = [m.training for m in model.modules()]
    ends_in_softmax(model, torch.randn(6, 5))
    assert all(value.equal(before[key]) for key, value in model.state_dict().items()), (
        "running statistics changed: BatchNorm learns from every forward in training mode"
    )
    assert [m.training for m in model.modules()] == modes, (
        "a mode changed: model.train() at the end also switches on what was off before"
    )


def test_hidden_softmax(ends_in_softmax, seed):
    draw = random.Random(seed)
    for _ in range(10):
        net = _net(draw.randint(3, 9), outputs=draw.randint(2, 12))
        if draw.random() < 0.5:
            net.insert(3, nn.Dropout())
        heat, x = draw.uniform(0.5, 3), torch.randn(draw.randint(2, 9), 5)
        _says(ends_in_softmax(_Then(net, lambda z, t=heat: z / t), x), False, "logits are taken for probabilities")
        _says(ends_in_softmax(_Then(net, lambda z, t=heat: (z / t).softmax(1)), x), True, "a softmax goes unseen")


# paired_wrongly


def _shapes(paired_wrongly, pred, target):
    return paired_wrongly(torch.zeros(pred), torch.zeros(target))


def test_classic(paired_wrongly):
    _says(_shapes(paired_wrongly, (8,), (8,)), False, "equal shapes: element meets element")
    _says(_shapes(paired_wrongly, (8, 1), (8,)), True, "(8, 1) and (8,) have 8 elements each and make 64 pairs")
    _says(_shapes(paired_wrongly, (8,), (8, 1)), True, "(8,) and (8, 1) make 64 pairs, whichever is the target")


def test_one_side_is_repeated(paired_wrongly):
    _says(_shapes(paired_wrongly, (8, 3), (3,)), True, "one target row is used for all 8 predictions")
    _says(_shapes(paired_wrongly, (8, 3), ()), True, "one target number is used for all 24 predictions")


def test_harmless(paired_wrongly):
    _says(
        _shapes(paired_wrongly, (1, 8), (8,)),
        False,
        "(1, 8) and (8,) differ, but every element is used once, in its place",
    )


def test_raises_by_itself(paired_wrongly):
    try:
        found = _shapes(paired_wrongly, (8, 3), (8,))
    except NotImplementedError:
        raise
    except RuntimeError:
        raise AssertionError("(8, 3) and (8,) do not broadcast: the answer is False, not an error") from None
    _says(found, False, "(8, 3) and (8,) do not broadcast: the subtraction raises, so that bug is not silent")


def _size(draw, s):
    return draw.choices([s, 1, s + 1], [12, 7, 1])[0]


def test_hidden_pairs(paired_wrongly, reference, seed):
    draw = random.Random(seed)
    for _ in range(80):
        sizes = [draw.randint(2, 4) for _ in range(3)]
        pred, target = (tuple(_size(draw, s) for s in sizes[draw.randint(0, 2) :]) for _ in range(2))
        expected = _shapes(reference.paired_wrongly, pred, target)
        _says(_shapes(paired_wrongly, pred, target), expected, f"the shapes {pred} and {target} are misjudged")
