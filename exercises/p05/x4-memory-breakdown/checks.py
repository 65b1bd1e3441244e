import random
from itertools import accumulate

import torch
from torch import nn
from torch.nn import functional as F
from torch.profiler import ProfilerActivity, profile

KINDS = ("parameters", "gradients", "state", "activations")


class _Block(nn.Module):
    """The block of the exercise."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        q, k, v = self.qkv(self.norm1(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


def _model(layers, width, heads):
    torch.manual_seed(0)
    return nn.Sequential(*[_Block(width, heads) for _ in range(layers)])


def _optimizer(kind, parameters):
    if kind == "adamw":
        return torch.optim.AdamW(parameters, foreach=False)
    return torch.optim.SGD(parameters, lr=1e-3, momentum=0.9 if kind == "momentum" else 0.0, foreach=False)


def _saved(model, x):
    """What the graph of a forward keeps, by an instrument of the check's own."""
    own = {p.untyped_storage().data_ptr() for p in model.parameters()}
    kept = {}

    def pack(t):
        if t.untyped_storage().data_ptr() not in own:
            kept[t.untyped_storage().data_ptr()] = t.untyped_storage().nbytes(), t
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        model(x)
    return sum(size for size, _ in kept.values())


def _close(found, expected, message):
    assert abs(found - expected) <= 0.01 * expected, f"{message}: {expected} bytes, not {found}"


def test_parameters(predict):
    for layers, width in ((1, 8), (3, 32)):
        found = predict(layers, width, 4, 2, 5, "sgd")
        expected = sum(p.nbytes for p in _model(layers, width, 4).parameters())
        _close(found["parameters"], expected, f"parameters of {layers} blocks of width {width}")
        _close(found["gradients"], expected, "each parameter has a gradient of its own size")


def test_state(predict):
    for kind in ("sgd", "momentum", "adamw"):
        model = _model(2, 4, 2)
        optimizer = _optimizer(kind, model.parameters())
        model(torch.randn(1, 3, 4)).sum().backward()
        optimizer.step()
        tensors = [t for of in optimizer.state.values() for t in of.values() if isinstance(t, torch.Tensor)]
        _close(predict(2, 4, 2, 1, 3, kind)["state"], sum(t.nbytes for t in tensors), f"state of {kind}")


def test_activations(predict):
    for layers, width, heads, batch, length in ((1, 16, 2, 1, 8), (2, 32, 8, 3, 10), (3, 16, 4, 2, 64)):
        expected = _saved(_model(layers, width, heads), torch.randn(batch, length, width))
        found = predict(layers, width, heads, batch, length, "sgd")["activations"]
        _close(found, expected, f"kept for backward by {layers} blocks, D={width}, H={heads}, B={batch}, T={length}")


def test_nothing_is_built(predict):
    found = predict(400, 12_288, 96, 1, 2048, "adamw")
    assert found["parameters"] > 2.8e12, "400 blocks of width 12288 have more than 700 billion parameters"


class _Tied(nn.Module):
    """An embedding whose weight is also that of the last layer."""

    def __init__(self):
        super().__init__()
        self.embed, self.last = nn.Embedding(50, 8), nn.Linear(8, 50, bias=False)
        self.last.weight = self.embed.weight

    def forward(self, x):
        return self.last(torch.tanh(self.embed(x)))


def _measured(measure, model, kind, forward):
    found = measure(model, _optimizer(kind, model.parameters()), forward)
    assert set(found) >= set(KINDS), f"a breakdown has the keys {KINDS}"
    return found


def test_measures_parameters(measure):
    model, x = _Tied(), torch.randint(50, (4, 6))
    found = _measured(measure, model, "sgd", lambda: model(x).square().mean())
    assert found["parameters"] == found["gradients"] == 50 * 8 * 4, (
        "one weight in two places is one parameter and one gradient, of 1600 bytes, "
        f"not {found['parameters']} and {found['gradients']}"
    )


def test_measures_the_state(measure):
    for kind, factor in (("sgd", 0), ("momentum", 1), ("adamw", 2)):
        model = nn.Linear(30, 20)
        found = _measured(measure, model, kind, lambda model=model: model(torch.ones(2, 30)).sum())
        expected = factor * 620 * 4 + (8 if kind == "adamw" else 0)
        assert found["state"] == expected, f"{kind} keeps {expected} bytes for 620 parameters, not {found['state']}"


def test_measures_storages(measure):
    w = nn.Linear(10, 10, bias=False)

    def forward():
        y = w(torch.ones(3, 10)).exp()
        return (y * y + y.view(6, 5).t().t().reshape(3, 10)).sum()

    found = _measured(measure, w, "sgd", forward)["activations"]
    assert found == 240, f"the input and y, each once, also through views, are 240 bytes, not {found}"


def test_parameters_are_free(measure):
    torch.manual_seed(0)
    model, x = nn.Sequential(nn.Linear(10, 40), nn.Linear(40, 5)), torch.ones(3, 10)
    found = _measured(measure, model, "sgd", lambda: model(x).sum())["activations"]
    assert found == 4 * 3 * (10 + 40), f"two inputs are kept, 600 bytes; weights and their transposes not: {found}"
    bare = nn.Sequential(nn.Linear(10, 40), nn.Linear(40, 5, bias=False))
    found = _measured(measure, bare, "sgd", lambda: bare(x).sum())["activations"]
    assert found == 4 * 3 * (10 + 40), f"the last parameter is a weight, and is not counted either: 600, not {found}"


def test_one_step(measure):
    model, calls = nn.Linear(4, 4), []
    before = model.weight.detach().clone()
    model.weight.grad = torch.full_like(model.weight, 1e6)  # of an earlier step

    def forward():
        calls.append(1)
        return model(torch.ones(2, 4)).sum()

    _measured(measure, model, "sgd", forward)
    assert len(calls) == 1, f"the forward runs once, not {len(calls)} times"
    assert not model.weight.equal(before), "the optimizer makes a step"
    assert (model.weight - before).abs().max() < 1, "gradients that were there before are added to those of this step"
    assert all(p.grad is None for p in model.parameters()), "at the end the gradients are None"


def test_peak(peak):
    found = peak({"parameters": 10, "gradients": 10, "state": 20, "activations": 500})
    assert found == 530, f"when activations are complete there are no gradients yet: 10 + 20 + 500 = 530, not {found}"
    found = peak({"parameters": 10, "gradients": 10, "state": 20, "activations": 3})
    assert found == 40, f"with few activations the optimizer's step is the peak: 10 + 10 + 20 = 40, not {found}"


def test_true_peak(predict, peak):
    layers, width, heads, batch, length = 6, 64, 4, 4, 64
    model, x = _model(layers, width, heads), torch.randn(batch, length, width)
    optimizer = _optimizer("adamw", model.parameters())
    for _ in range(2):  # in the second round the state is there
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True, acc_events=True) as prof:
            model(x).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()
    notes = sorted(
        (e for e in prof.profiler.kineto_results.events() if e.name() == "[memory]"), key=lambda e: e.start_ns()
    )
    always = predict(layers, width, heads, batch, length, "adamw")
    held = always["parameters"] + always["state"] + x.nbytes
    true, found = held + max(accumulate(e.nbytes() for e in notes)), peak(always)
    assert 0.8 < found / true <= 1.001, f"the allocator saw a peak of {true} bytes, and predicted are {found}"


def test_largest_batch(largest_batch):
    for memory in (10**9, 3 * 10**9, 80 * 10**9):
        found = largest_batch(memory, 4, 512, 8, 256, "adamw")
        parameters = 4 * 4 * (12 * 512**2 + 13 * 512)
        row = 4 * 4 * 256 * (16 * 512 + 4 + 8)
        expected = (memory - 3 * parameters - 4 * 48) // row
        assert found == expected, f"in {memory} bytes the largest batch is {expected}, not {found}"


def test_nothing_fits(largest_batch):
    parameters = 4 * 4 * (12 * 512**2 + 13 * 512)
    assert largest_batch(3 * parameters, 4, 512, 8, 1, "adamw") == 0, "parameters and state alone fill the memory"
    found = largest_batch(int(3.5 * parameters), 4, 512, 8, 1, "adamw")
    assert found == 0, f"there is room for activations and none for the gradients of the step: 0, not {found}"
    exact = 4 * parameters + 4 * 48  # with gradients, two moments, and a count for each of 48 parameters
    found = largest_batch(exact - 1, 4, 512, 8, 1, "adamw")
    assert found == 0, f"one byte is lacking for the gradients of the step: 0, not {found}"
    found, expected = largest_batch(exact, 4, 512, 8, 1, "adamw"), parameters // (4 * 4 * (16 * 512 + 4 + 8))
    assert found == expected, f"what fits to the last byte fits: {expected} rows, not {found}"


def test_hidden_agree(predict, measure, seed):
    draw = random.Random(seed)
    for kind in ("sgd", "momentum", "adamw"):
        heads = draw.choice([1, 2, 4])
        layers, width, batch, length = (
            draw.randint(1, 3),
            heads * draw.randint(2, 6),
            draw.randint(1, 4),
            draw.randint(2, 20),
        )
        model, x = _model(layers, width, heads), torch.randn(batch, length, width)
        told = f"{layers} blocks, D={width}, H={heads}, B={batch}, T={length}, {kind}"
        expected = _saved(model, x)
        found = _measured(measure, model, kind, lambda model=model, x=x: model(x).sum())
        foreseen = predict(layers, width, heads, batch, length, kind)
        assert found["activations"] == expected, f"measured activations are wrong for {told}"
        for key in KINDS:
            _close(foreseen[key], found[key], f"predicted and measured {key} differ for {told}")


def test_hidden_batches(largest_batch, predict, peak, seed):
    draw = random.Random(seed)
    for _ in range(30):
        heads = draw.choice([2, 4, 8])
        sizes = draw.randint(1, 20), heads * draw.randint(4, 100), heads, draw.randint(1, 2000)
        kind = draw.choice(["sgd", "momentum", "adamw"])
        memory = int(10 ** draw.uniform(6, 11))
        found = largest_batch(memory, *sizes, kind)
        layers, width, heads, length = sizes

        def fits(batch, kind=kind, memory=memory, shape=(layers, width, heads), length=length):
            return peak(predict(*shape, batch, length, kind)) <= memory

        assert found == 0 or fits(found), f"a batch of {found} does not fit for {sizes}, {kind}"
        assert not fits(found + 1), f"a batch of {found + 1} fits as well for {sizes}, {kind}"
