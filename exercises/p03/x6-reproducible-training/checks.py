import contextlib
import io
import random

import torch
from torch import nn
from torch.nn import functional as F


def _data(n=64, seed=0):
    draw = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 4, generator=draw)
    return x, x.sum(1, keepdim=True)


def _net():
    return nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 1))


def _same(a, b):
    pairs = zip(a.state_dict().values(), b.state_dict().values(), strict=True)
    return all(torch.equal(one, other) for one, other in pairs)


def _distance(a, b):
    pairs = zip(a.state_dict().values(), b.state_dict().values(), strict=True)
    return max((one - other).abs().max().item() for one, other in pairs)


class _Values(nn.Module):
    def __init__(self, *values, name="values", dtype=torch.float32):
        super().__init__()
        self.register_buffer(name, torch.tensor(values, dtype=dtype))


def test_fingerprint_bits(fingerprint):
    one = fingerprint(_Values(1.0, 2.0, 0.0))
    assert isinstance(one, str) and one == fingerprint(_Values(1.0, 2.0, 0.0)), "equal bits give equal strings"
    last_bit = torch.nextafter(torch.tensor(2.0), torch.tensor(3.0)).item()
    for other, why in (
        (_Values(2.0, 1.0, 0.0), "the order of the values"),
        (_Values(1.0, last_bit, 0.0), "the last bit of one value"),
        (_Values(1.0, 2.0, -0.0), "the sign of a zero"),
    ):
        assert fingerprint(other) != one, f"{why} is different, and the fingerprint is the same: hash the bytes"


def test_fingerprint_names(fingerprint):
    assert fingerprint(_Values(1.0)) != fingerprint(_Values(1.0, name="others")), "names belong to the state as well"


def test_fingerprint_every_tensor(fingerprint):
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    one = fingerprint(model)
    for name, parameter in reversed(list(model.named_parameters())):
        with torch.no_grad():
            parameter.view(-1)[-1] += 1.0
        assert fingerprint(model) != one, f"a change in {name} is not seen: every tensor of the state counts"
        one = fingerprint(model)


def test_fingerprint_long(fingerprint):
    values = [float(i) for i in range(5000)]
    one = fingerprint(_Values(*values))
    values[2500] += 1
    assert one != fingerprint(_Values(*values)), (
        "a change in the middle of a long tensor is not seen: print abbreviates"
    )


def test_fingerprint_dtypes(fingerprint):
    for dtype in (torch.bfloat16, torch.float64, torch.int64, torch.bool):
        try:
            found = fingerprint(_Values(1, 0, dtype=dtype)), fingerprint(_Values(1, 1, dtype=dtype))
        except TypeError:
            raise AssertionError(f"tensors of dtype {dtype} have bits as well") from None
        assert found[0] != found[1], f"a change in a {dtype} tensor is not seen"
    one, other = (fingerprint(_Values(2**60 + k, dtype=torch.int64)) for k in range(2))
    assert one != other, "2**60 and 2**60 + 1 are other bits, which float64 cannot tell: hash a tensor's own bytes"
    assert fingerprint(nn.BatchNorm1d(2)) == fingerprint(nn.BatchNorm1d(2)), "buffers without dimensions count too"


def test_learns(Run):
    x, y = _data()
    run = Run(_net, x, y, 0)
    before = F.mse_loss(run.net.eval()(x), y).item()
    run.net.train()
    run.advance(200)
    after = F.mse_loss(run.net.eval()(x), y).item()
    assert after < before / 2, (
        f"after 200 steps the loss has gone from {before:.2f} to {after:.2f} only: does it train?"
    )


def test_rate(Run):
    run = Run(lambda: nn.Linear(4, 1), *_data(), 0)
    before = run.net.weight.detach().clone()
    run.advance(1)
    moved = (run.net.weight - before).abs().max().item()
    assert abs(moved - 0.01) < 1e-3, (
        f"Adam's first step is as long as its rate, 0.01, and a weight moved by {moved:.3g}"
    )


class _Looks(nn.Module):
    """Keeps each batch that it sees."""

    def __init__(self, seen):
        super().__init__()
        self.layer, self.seen = nn.Linear(4, 1), seen

    def forward(self, x):
        self.seen.append(x.detach().clone())
        return self.layer(x)


def test_draws_batches(Run):
    seen = []
    Run(lambda: _Looks(seen), *_data(), 0).advance(3)
    assert [len(batch) for batch in seen] == [16] * 3, "each step takes 16 rows"
    assert not torch.equal(seen[0], seen[1]), "each step draws its rows anew"


def test_same_twice(Run):
    nets = []
    for before in (1, 2):
        torch.manual_seed(before)
        run = Run(_net, *_data(), 7)
        torch.rand(before)
        run.advance(5)
        torch.rand(before)
        run.advance(5)
        nets.append(run.net)
    assert _same(*nets), "two runs of one seed differ when the rest of the program draws other numbers"


def test_seeds_differ(Run):
    first, second = Run(_net, *_data(), 1), Run(_net, *_data(), 2)
    assert not _same(first.net, second.net), "another seed must give other initial weights"
    second.net.load_state_dict(first.net.state_dict())
    first.advance(2)
    second.advance(2)
    assert not _same(first.net, second.net), "another seed must draw other rows and drop other units"


def test_goes_on(Run):
    seen = []
    run = Run(lambda: _Looks(seen), *_data(), 0)
    run.advance(1)
    run.advance(1)
    assert not torch.equal(*seen), "each call of advance draws the same numbers again: go on where the last one ended"


def test_leaves_the_generator(Run):
    torch.manual_seed(3)
    before = torch.get_rng_state()
    run = Run(_net, *_data(), 0)
    assert torch.equal(torch.get_rng_state(), before), "building a run moved or seeded the caller's generator"
    run.advance(2)
    assert torch.equal(torch.get_rng_state(), before), "advance moved or seeded the caller's generator"


def test_in_turns(Run):
    alone, a, b = (Run(_net, *_data(), seed) for seed in (0, 0, 1))
    alone.advance(6)
    for _ in range(3):
        a.advance(2)
        b.advance(2)
    assert _same(alone.net, a.net), "two runs in turns disturb each other: each needs a state of its own"


def _saved(run):
    file = io.BytesIO()
    torch.save(run.state_dict(), file)
    file.seek(0)
    try:
        return torch.load(file)
    except Exception as error:
        raise AssertionError(f"torch.load refuses the state: {str(error).splitlines()[0]}") from None


def test_resumes(Run):
    whole, half, resumed = (Run(_net, *_data(), seed) for seed in (0, 0, 5))
    whole.advance(8)
    half.advance(4)
    resumed.load_state_dict(_saved(half))
    assert _same(half.net, resumed.net), "right after loading the weights are not those that were saved"
    resumed.advance(4)
    off = _distance(whole.net, resumed.net)
    assert off == 0, f"resumed, the run ends {off:.1e} away from an uninterrupted one: what was not saved?"


class _Probe(nn.Module):
    """Notes whether deterministic algorithms are on when it runs."""

    def __init__(self, notes):
        super().__init__()
        self.layer, self.notes = nn.Linear(4, 1), notes

    def forward(self, x):
        self.notes.append(torch.are_deterministic_algorithms_enabled())
        if len(self.notes) > 2:
            raise ValueError("from the net")
        return self.layer(x)


def _setting():
    return torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()


def test_deterministic_inside(Run):
    before, notes = _setting(), []
    torch.use_deterministic_algorithms(False)
    try:
        Run(lambda: _Probe(notes), *_data(), 0).advance(2)
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])
    assert notes == [True, True], "deterministic algorithms are off while the run computes"


def test_setting_is_restored(Run):
    before = _setting()
    try:
        for wanted in ((False, False), (True, True)):
            torch.use_deterministic_algorithms(wanted[0], warn_only=wanted[1])
            run = Run(lambda: _Probe([]), *_data(), 0)
            run.advance(2)
            after = _setting()
            with contextlib.suppress(ValueError):
                run.advance(2)
            assert after == wanted, "after advance the setting of deterministic algorithms is another"
            assert _setting() == wanted, "an error inside advance leaves the setting changed"
    finally:
        torch.use_deterministic_algorithms(before[0], warn_only=before[1])


def test_hidden_random(Run, seed):
    draw = random.Random(seed)

    def net():
        width = 8
        return nn.Sequential(
            nn.Linear(4, width), nn.BatchNorm1d(width), nn.Dropout(0.5), nn.Linear(width, width), nn.Tanh(),
            nn.Dropout(0.1), nn.Linear(width, 1),
        )  # fmt: skip

    for _ in range(3):
        data, own = _data(draw.randint(16, 80), seed), draw.randint(0, 2**30)
        first, second = draw.randint(1, 9), draw.randint(1, 9)
        whole, half, resumed = Run(net, *data, own), Run(net, *data, own), Run(net, *data, own + 1)
        whole.advance(first + second)
        half.advance(first)
        resumed.load_state_dict(_saved(half))
        torch.rand(draw.randint(1, 5))
        resumed.advance(second)
        assert _distance(whole.net, resumed.net) == 0, "a resumed run with batch normalisation and dropout differs"
        other = Run(net, *data, own)
        other.advance(first + second)
        assert _same(whole.net, other.net), "the same seed gave other bits"


def test_hidden_state_is_a_snapshot(Run):
    run = Run(_net, *_data(), 0)
    run.advance(2)
    state = _saved(run)
    one, two = Run(_net, *_data(), 1), Run(_net, *_data(), 2)
    one.load_state_dict(state)
    one.advance(3)
    two.load_state_dict(state)
    two.advance(3)
    assert _same(one.net, two.net), "two runs resumed from one loaded state differ: the first has changed the state"
