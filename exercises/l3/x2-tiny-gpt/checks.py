import functools
import math

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

RHYME = "the cat sat on the mat; a dog ran to the hat and bit that cat."


def _numbers(text):
    letters = sorted(set(text))
    return torch.tensor([letters.index(c) for c in text]), len(letters)


class _Counter(nn.Module):
    """Predicts n + 1 modulo 7 after n, or n + 2 one time in four, and records how it was called."""

    context = 5

    def __init__(self):
        super().__init__()
        self.shift, self.calls, self.dropout = nn.Parameter(torch.zeros(())), [], nn.Dropout(0.9)

    def forward(self, ids):
        self.calls.append((tuple(ids.shape), self.training, torch.is_grad_enabled()))
        assert ids.shape[1] <= self.context, "the model was given more than its context"
        logits = torch.full((*ids.shape, 7), -30.0)
        logits.scatter_(-1, (ids[..., None] + 1) % 7, math.log(0.75))
        logits.scatter_(-1, (ids[..., None] + 2) % 7, math.log(0.25))
        return self.dropout(logits + 40) - 40 + self.shift


@functools.cache
def _fitted(make, fit, text=RHYME, seed=0):
    torch.manual_seed(seed)
    ids, vocab = _numbers(text)
    model = make(vocab, 16, 32, 2)
    return model, ids, list(fit(model, ids))


def test_shapes(TinyGPT):
    model = TinyGPT(13, 16, 32, 2)
    for shape in ((2, 16), (3, 5), (1, 1)):
        logits = model(torch.zeros(shape, dtype=torch.long))
        assert logits.shape == (*shape, 13), f"ids of shape {shape} gave logits of shape {tuple(logits.shape)}"


def test_causal(TinyGPT):
    torch.manual_seed(0)
    model = TinyGPT(13, 16, 32, 2).eval()
    ids = torch.randint(13, (2, 12))
    other = ids.clone()
    other[:, 7] = (other[:, 7] + 1) % 13
    with torch.no_grad():
        moved = (model(ids) - model(other)).abs().amax((0, 2))
    assert moved[:7].max() < 1e-5, "the token at place 7 changes the logits before it: attention sees the future"
    assert moved[7:].min() > 1e-7, "the token at place 7 should count there and at all later places"


class _Calls(TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.names = set()

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.names.add(getattr(function, "__name__", ""))
        return function(*args, **kwargs or {})


def test_fused_attention(TinyGPT):
    with _Calls() as calls:
        TinyGPT(13, 16, 32, 2)(torch.zeros(1, 4, dtype=torch.long))
    assert any("attention" in name for name in calls.names), (
        "attention written by hand holds a matrix of T × T weights: call F.scaled_dot_product_attention"
    )


def test_knows_the_text(TinyGPT, fit):
    model, ids, losses = _fitted(TinyGPT, fit)
    vocab = int(ids.max()) + 1
    assert losses[0] > 0.6 * math.log(vocab), f"the first loss is {losses[0]:.2f}: the answer is visible"
    assert all(isinstance(loss, float) for loss in losses), (
        "losses are Python numbers, because a tensor keeps the graph that it came from"
    )
    assert losses[-1] < 0.5, f"at the end the loss is {losses[-1]:.2f}; a text of {len(ids)} characters can be learned"
    with torch.no_grad():
        guess = model.eval()(ids.unfold(0, 16, 1))[:, -1].argmax(-1)
    right = (guess[:-1] == ids[16:]).float().mean().item()
    assert right > 0.9, f"from 16 characters, it predicts the next one in {right:.0%} of the cases"


def test_writes_the_text(TinyGPT, fit, sample):
    model, ids, _ = _fitted(TinyGPT, fit)
    torch.manual_seed(0)
    written = sample(model, ids[:16], 24, temperature=0)
    assert written.shape == (40,), f"16 ids and 24 more make 40, not {tuple(written.shape)}"
    right = (written[16:] == ids[16:40]).float().mean().item()
    assert right > 0.9, f"in a greedy continuation, {right:.0%} of the characters are those of the text"


def test_greedy(sample):
    written = sample(_Counter().eval(), torch.tensor([3]), 6, temperature=0)
    assert written.tolist() == [3, 4, 5, 6, 0, 1, 2], (
        "at temperature 0, each new token is the most probable one, and the prompt comes first"
    )


def test_long_prompts(sample):
    model, prompt = _Counter(), torch.arange(7).repeat(2)
    try:
        written = sample(model, prompt, 4, temperature=0)
    except NotImplementedError:
        raise
    except (AssertionError, IndexError, RuntimeError) as error:
        raise AssertionError(f"a prompt of 14 ids for a context of 5: {error}") from None
    assert written[:14].equal(prompt), "the result must begin with the whole prompt"
    assert written[14:].tolist() == [0, 1, 2, 3], "the model must see the end of a long prompt, not its beginning"


def test_leaves_the_model(sample):
    for training in (True, False):
        model = _Counter().train(training)
        sample(model, torch.tensor([0]), 2, generator=torch.Generator().manual_seed(0))
        assert not any(mode for _, mode, _ in model.calls), "dropout is active during sampling"
        assert not any(recording for _, _, recording in model.calls), "a graph is recorded during sampling"
        assert model.training is training, "after sampling, the model is not in its earlier mode"


def test_hidden_generator(sample, seed):
    model = _Counter().eval()
    draws = [sample(model, torch.tensor([0]), 30, 1.0, torch.Generator().manual_seed(seed)).tolist() for _ in range(2)]
    assert draws[0] == draws[1], "with the generator in the same state, the draws differ"


def test_hidden_temperature(sample, seed):
    for temperature in (0.5, 1.0, 2.0):
        model = _Counter().eval()
        rare, common = 0.25 ** (1 / temperature), 0.75 ** (1 / temperature)
        expected = rare / (rare + common)
        written = sample(model, torch.tensor([0]), 600, temperature, torch.Generator().manual_seed(seed))
        found = ((written[1:] - written[:-1]) % 7 == 2).float().mean().item()
        assert abs(found - expected) < 0.08, (
            f"at temperature {temperature}, an answer of probability 1/4 should come in {expected:.0%} of the draws, "
            f"but comes in {found:.0%}"
        )


def test_hidden_another_text(TinyGPT, fit, sample, seed):
    draw = torch.Generator().manual_seed(seed)
    text = "".join("abcdefghij"[int(i)] for i in torch.randint(10, (48,), generator=draw))
    model, ids, losses = _fitted(TinyGPT, fit, text, seed)
    torch.manual_seed(seed)
    written = sample(model, ids[:16], 16, temperature=0)
    right = (written[16:] == ids[16:32]).float().mean().item()
    assert right > 0.8, f"from a text of random letters, it reproduces {right:.0%}; the last loss is {losses[-1]:.2f}"
