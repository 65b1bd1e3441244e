import hashlib
import inspect
import math

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.nn import functional as F

HEALTHY = {
    "pre-norm": "deep models of today have their norms before attention and MLP; it is not a defect",
    "logits-flattened": "cross entropy of (B * T, vocab) against (B * T) is one of the two right ways to call it",
    "cleared-late": "gradients may be cleared anywhere between a step and the next backward pass",
    "wrong-optimizer": "such models are usually trained with AdamW; its learning rate is a different question",
}
SICK = "4b3f8ff98943b178"


def _digest(names):
    return hashlib.sha256("|".join(sorted(names)).encode()).hexdigest()[:16]


def _tried(work, what):
    """Return the result, or raise an assertion that says what failed."""
    try:
        return work()
    except NotImplementedError:
        raise
    except (RuntimeError, AssertionError, IndexError, ValueError, TypeError) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise AssertionError(f"{what} raises: {first}") from None


def _language(count, length, seed=0):
    """Sequences in which s is followed by 3 s + 1 modulo 11, plus 1: symbols 1 to 11."""
    draw = torch.Generator().manual_seed(seed)
    columns = [torch.randint(11, (count,), generator=draw)]
    for _ in range(length - 1):
        columns.append((3 * columns[-1] + 1) % 11)
    return torch.stack(columns, 1) + 1


class _Knows(nn.Module):
    """A model that is sure of one answer for each token: the next one, the one after it, or the token itself."""

    def __init__(self, jumps):
        super().__init__()
        self.jumps, self.weight = jumps, nn.Parameter(torch.zeros(()))

    def forward(self, ids):
        place = (ids - 1).clamp(min=0)
        for _ in range(self.jumps):
            place = (3 * place + 1) % 11
        return 20.0 * F.one_hot(place + 1, 12) + self.weight


class _Table(nn.Module):
    """Logits that depend on token and place only."""

    def __init__(self, seed=0):
        super().__init__()
        draw = torch.Generator().manual_seed(seed)
        self.table = nn.Parameter(torch.randn(40, 12, 12, generator=draw))

    def forward(self, ids):
        return self.table[torch.arange(ids.shape[1]), ids]


def test_defects(defects):
    found = set(defects())
    for name in sorted(found & set(HEALTHY)):
        raise AssertionError(f"{name}: {HEALTHY[name]}")
    assert _digest(found) == SICK, (
        f"you named {len(found)}, but the script has ten defects: some are missing, or some of yours are not on the "
        "list or not wrong in the script"
    )


def test_runs(defects, Model):
    defects()
    ids = torch.tensor([[900, 5, 7, 3, 2], [31, 8, 1, 0, 0]])
    logits = _tried(lambda: Model(1000, 32, 2)(ids), "Model(1000, 32, 2) on ids of shape (2, 5)")
    assert logits.shape == (2, 5, 1000), f"one score for each token of the vocabulary, not {tuple(logits.shape)}"


def test_first_loss(defects, Model, loss_of):
    defects()
    torch.manual_seed(0)
    ids = torch.randint(1, 500, (16, 20))
    loss = _tried(lambda: loss_of(Model(500), ids).item(), "the loss of an untrained model")
    assert abs(loss - math.log(500)) < 1, f"an untrained model's loss is about ln 500 = 6.2, not {loss:.1f}"


def test_next_token(defects, loss_of):
    defects()
    ids = _language(8, 12)
    losses = [_tried(lambda k=k: loss_of(_Knows(k), ids).item(), "the loss of a model that knows") for k in range(3)]
    assert losses[0] > 5, "a model that repeats the token it sees has a loss near 0: the targets are not shifted"
    assert losses[2] > 5, "a model that knows the token after the next has a loss near 0: the targets are shifted twice"
    assert losses[1] < 0.1, f"a model that knows the next token has the loss {losses[1]:.1f} instead of about 0"


def test_pads(defects, loss_of):
    defects()
    ids, longer = _language(4, 9), torch.zeros(4, 30, dtype=torch.long)
    longer[:, :9] = ids
    expected = loss_of(_Table(), ids).item()
    found = _tried(lambda: loss_of(_Table(), longer).item(), "the loss of padded sequences")
    assert abs(found - expected) < 1e-4, "with more padding, the loss changes: pads are targets"


def test_sees_no_future(defects, Model):
    defects()
    torch.manual_seed(0)
    model, ids = Model(12).eval(), _language(3, 10)
    other = ids.clone()
    other[:, 6] = 1 + other[:, 6] % 11
    with torch.no_grad():
        moved = _tried(lambda: (model(ids) - model(other)).abs().amax((0, 2)), "the model")
    assert moved[:6].max() < 1e-5, "the token at place 6 changes the logits before it: attention sees the future"
    assert moved[6:].min() > 1e-6, "the token at place 6 should count there and at all later places"


def test_rate(defects, rate):
    defects()
    shares = [rate(step, 44, 4) for step in range(44)]
    assert all(abs(share - (step + 1) / 4) < 1e-6 for step, share in enumerate(shares[:4])), (
        f"the first four of 44 steps should rise to 1 in equal parts, but they are {[round(s, 3) for s in shares[:4]]}"
    )
    assert max(shares) < 1 + 1e-6, f"no step may have more than the peak rate, but step {shares.index(max(shares))} has"
    half, last = shares[24], rate(44, 44, 4)
    assert abs(half - 0.55) < 0.02, f"halfway down, the rate is {half:.2f}, not the middle between 1 and 0.1"
    assert abs(last - 0.1) < 1e-6, f"after the last step, the rate is {last:.2f}, not a tenth"
    assert abs(shares[14] - 0.868) < 0.02, "the decay must follow half a cosine, which is flat at both ends"


def test_clips(defects, update):
    defects()
    for scale, longest in ((100.0, 0.5), (1e-3, 1.0)):
        model = nn.Linear(3, 1)
        before = nn.utils.parameters_to_vector(model.parameters()).detach()
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        loss = scale * model(torch.tensor([[1.0, 2.0, 2.0]])).sum()
        norm = update(model, optimizer, loss, longest)
        assert isinstance(norm, float), f"the norm is a Python number, not {type(norm).__name__}"
        moved = (nn.utils.parameters_to_vector(model.parameters()).detach() - before).norm().item()
        true = scale * math.sqrt(10)
        assert abs(moved - min(true, longest)) < 1e-3 * max(moved, 1e-3) + 1e-5, (
            f"a gradient of norm {true:.3g} with a limit of {longest} made a step of {moved:.3g}"
        )
        assert abs(norm - true) < 1e-3 * true, f"the norm before clipping is {true:.3g}, but {norm:.3g} was returned"


class _Elsewhere:
    """Ids that are on a different device until `to` or a similar call moves them."""

    device = torch.device("meta")

    def __init__(self, ids):
        self.ids = ids

    def to(self, *_, **__):
        return self.ids


class _Watched(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.seen = nn.Embedding(12, 12), []

    def forward(self, ids):
        self.seen.append((self.training, ids.device.type))
        return self.table(ids)


def test_mode_and_device(defects, train):
    defects()
    model = _Watched().eval()
    _tried(lambda: train(model, [{"input_ids": _language(2, 5)}] * 2), "training on the device of the model, a CPU,")
    assert model.seen, "the model was never called"
    assert all(training for training, _ in model.seen), (
        "the model arrived in evaluation mode and was trained in that mode"
    )
    assert {kind for _, kind in model.seen} == {"cpu"}, "the batch should be on the model's device"
    try:
        train(model, [{"input_ids": _Elsewhere(_language(2, 5))}])
    except (TypeError, AttributeError):
        raise AssertionError("a batch from a different device is not moved to the model's device") from None


def test_another_device(defects, Model):
    defects()
    with FakeTensorMode():  # its tensors have no numbers, and may say that they are on a GPU
        with torch.device("cuda"):
            model, ids = Model(12), torch.ones(2, 5, dtype=torch.long)
        _tried(lambda: model(ids), "on a GPU, with ids that are there, the model")


def test_learns(defects, Model, loss_of, train):
    defects()
    model = Model(12)
    _tried(lambda: loss_of(model, _language(4, 8)).backward(), "the backward of the loss")
    still = [name for name, p in model.named_parameters() if p.grad is None]
    assert not still, f"no gradient reaches {still[0]} and {len(still) - 1} others: they stay as they were drawn"
    peak = inspect.signature(train).parameters["peak"].default
    assert 3e-4 <= peak <= 3e-2, f"a peak of {peak} is not one for a small model from scratch"
    torch.manual_seed(0)
    batches = [{"input_ids": _language(16, 10, seed)} for seed in range(60)]
    losses = _tried(lambda: train(Model(12), batches, peak=1e-2), "training")
    assert len(losses) == 60, "return one loss for each batch"
    assert losses[-1] < 0.5, f"after 60 steps, the loss is {losses[-1]:.2f}, although the next token is always certain"


def test_hidden_order(defects, Model, seed):
    defects()
    torch.manual_seed(seed)
    model = Model(12).eval()
    ids = torch.tensor([[1, 2, 3, 4, 5], [2, 1, 3, 4, 5]])
    with torch.no_grad():
        logits = _tried(lambda: model(ids)[:, -1], "the model")
    assert (logits[0] - logits[1]).abs().max() > 1e-5, (
        "two tokens change places, but nothing moves: the model has no positions"
    )


def test_hidden_pads(defects, loss_of, seed):
    defects()
    ids, model = _language(6, 11, seed), _Table(seed)
    lengths = torch.tensor([11, 4, 7, 2, 9, 3])
    padded = ids.masked_fill(torch.arange(11) >= lengths[:, None], 0)
    with torch.no_grad():
        each = F.cross_entropy(model(ids[:, :-1]).transpose(1, 2), ids[:, 1:], reduction="none")
        expected = each[torch.arange(10) < lengths[:, None] - 1].mean().item()
        found = _tried(lambda: loss_of(model, padded).item(), "the loss of sequences of unequal lengths")
    assert abs(found - expected) < 1e-4, "each real target counts once, and the sum is divided by their number"


def test_hidden_schedule_is_used(defects, train, rate):
    defects()
    model = _Watched()
    before = model.table.weight.detach().clone()
    _tried(lambda: train(model, [{"input_ids": _language(4, 6)}], peak=1e-2, warmup=10), "training")
    moved = (model.table.weight.detach() - before).abs().max().item()
    assert 0.5e-3 < moved < 2e-3, (
        f"the first of ten warm-up steps should use a tenth of the rate, but a weight moved by {moved:.1e}"
    )
