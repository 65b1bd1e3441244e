import torch
from torch import nn

from torchbook import llm
from torchbook.practice.devices import misplaced

_SIZES = (11, 8, 2, 2, 8)  # vocabulary, context, layers, heads, width


def _draw(seed=0):
    return torch.Generator().manual_seed(seed)


def _large(module, seed=0):
    """The module, with weights so large that every part matters."""
    draw = _draw(seed)
    with torch.no_grad():
        for p in module.parameters():
            p.normal_(std=0.3, generator=draw)
    return module


def _ids(*shape, vocab=11, seed=0):
    return torch.randint(vocab, shape, generator=_draw(seed))


def _pair(GPT, sizes=_SIZES, seed=0):
    """The learner's model and the package's, with the same weights."""
    right = _large(llm.GPT(llm.Config(*sizes)), seed).eval()
    model = GPT(*sizes).eval()
    try:
        model.load_state_dict(right.state_dict())
    except RuntimeError:
        raise AssertionError("the state_dict must keep its names and shapes, so that saved weights fit") from None
    return model, right


def _as_gpt2(state):
    """A state_dict of the package's, with GPT-2's names and layouts."""
    theirs = {}
    for name, t in state.items():
        if ".attention." in name and ".output." not in name:
            continue
        turned = t.T.contiguous() if t.dim() == 2 and name.startswith("blocks.") else t.clone()
        for old, new in (
            *(("token_embedding", "transformer.wte"), ("position_embedding", "transformer.wpe"), ("head", "lm_head")),
            *(("attention_norm", "ln_1"), ("mlp_norm", "ln_2"), ("blocks", "transformer.h"), ("mlp.up", "mlp.c_fc")),
            *(("mlp.down", "mlp.c_proj"), ("attention.output", "attn.c_proj")),
        ):
            name = name.replace(old, new)
        theirs["transformer.ln_f" + name.removeprefix("norm") if name.startswith("norm.") else name] = turned
    layers = {name.split(".")[1] for name in state if name.startswith("blocks.")}
    for layer in layers:
        for kind in ("weight", "bias"):
            parts = [state[f"blocks.{layer}.attention.{part}.{kind}"] for part in ("query", "key", "value")]
            theirs[f"transformer.h.{layer}.attn.c_attn.{kind}"] = (
                torch.cat(parts).mT.contiguous() if kind == "weight" else torch.cat(parts)
            )
    return theirs


def _tried(call):
    """What a call gives, or nothing if PyTorch refuses it."""
    try:
        return call()
    except NotImplementedError:
        raise
    except (RuntimeError, ValueError):
        return None


def _gap(a, b):
    return (a - b).abs().max().item()


def test_faults(faults, FAULTS, PLACES):
    found = faults()
    assert len(found) == 4, f"the program has four faults, but faults() has {len(found)} entries"
    assert set(found) <= set(PLACES), "each key is an entry of PLACES, word for word"
    assert set(found.values()) <= set(FAULTS), "each value is an entry of FAULTS, word for word"
    assert len(set(found.values())) == 4, "no fault is in two places: two of your four are the same"


def test_hidden_faults(faults, reference):
    found, right = faults(), reference.faults()
    assert set(found) == set(right), (
        "at least one of your places was right as it was, and a place that has a fault is missing"
    )
    assert found == right, (
        "the places are right, but at least one of them has a different fault from the one that you name"
    )


def test_split(faults, Attention):
    faults()
    t = torch.arange(48.0).reshape(2, 3, 8)
    found = Attention(8, 2).split(t)
    assert tuple(found.shape) == (2, 2, 3, 4), f"split turns (B, T, C) into (B, H, T, D), not {tuple(found.shape)}"
    assert found[0, 0, 1].tolist() == [8, 9, 10, 11], (
        f"head 0 of token 1 is its first half, 8 to 11, not {found[0, 0, 1].tolist()}"
    )
    assert found[1, 1, 2].tolist() == [44, 45, 46, 47], "head 1 of the last token is its second half, 44 to 47"


@torch.no_grad()
def test_causal(faults, Attention):
    faults()
    attention = _large(Attention(8, 2))
    x = torch.randn(2, 5, 8, generator=_draw())
    for s in range(5):
        other = x.clone()
        other[:, s] = torch.randn(2, 8, generator=_draw(1))
        moved = (attention(other) - attention(x)).abs().amax(dim=(0, 2))
        assert s == 0 or moved[:s].max() < 1e-6, f"token {s} was changed, and outputs before it moved"
        assert moved[s:].min() > 1e-5, f"token {s} was changed, but its own output or a later one did not move"


@torch.no_grad()
def test_model_is_causal(faults, GPT):
    faults()
    model, _ = _pair(GPT)
    ids = _ids(3, 6)
    for s in range(1, 6):
        other = ids.clone()
        other[:, s] = (other[:, s] + 1) % 11
        gap = _gap(model(other)[:, :s], model(ids)[:, :s])
        assert gap < 1e-5, f"token {s} was changed, and logits before it moved: the future is visible"


@torch.no_grad()
def test_sequences_are_apart(faults, GPT):
    faults()
    model, _ = _pair(GPT)
    ids = _ids(3, 6)
    alone = torch.cat([model(row[None]) for row in ids])
    assert _gap(model(ids), alone) < 1e-5, "a sequence has different logits alone and in a batch"


@torch.no_grad()
def test_final_norm(faults, GPT):
    faults()
    model, _ = _pair(GPT)
    model.norm.weight.zero_()
    model.norm.bias.fill_(0.5)
    found, expected = model(_ids(2, 5)), 0.5 * model.head.weight.sum(dim=1)
    assert _gap(found, expected.expand_as(found)) < 1e-5, (
        "with a weight of 0, the final norm returns its bias for every token, and the head reads nothing else"
    )


@torch.no_grad()
def test_same_logits(faults, GPT):
    faults()
    model, right = _pair(GPT)
    for shape in ((2, 8), (1, 1), (3, 5)):
        found, expected = model(_ids(*shape)), right(_ids(*shape))
        assert found.shape == expected.shape, "logits are (B, T, V)"
        assert _gap(found, expected) < 1e-4, "with the same weights, torchbook.llm.GPT has different logits"


@torch.no_grad()
def test_dtype(faults, GPT):
    faults()
    model, right = _pair(GPT)
    found = _tried(lambda: model.double()(_ids(2, 8)))
    assert found is not None and found.dtype == torch.float64, "a model of float64 has logits of float64"
    assert _gap(found, right.double()(_ids(2, 8))) < 1e-9, (
        "with the same weights in float64, the logits differ: is something rounded to float32 on the way?"
    )


def test_device(faults, GPT):
    faults()
    (model, _), ids = _pair(GPT), _ids(2, 5)
    problem = misplaced(lambda: model(ids))
    assert not problem, problem


def test_gradients(faults, GPT):
    faults()
    model, _ = _pair(GPT)
    logits = model(_ids(2, 8))
    assert logits.requires_grad, "the logits have no grad_fn: this model cannot be trained"
    logits.square().sum().backward()
    left = [name for name, p in model.named_parameters() if p.grad is None or not p.grad.any()]
    assert not left, f"no gradient reaches {', '.join(left)}"


def test_names(faults, GPT):
    faults()
    found, expected = GPT(*_SIZES).state_dict(), llm.GPT(llm.Config(*_SIZES)).state_dict()
    assert {n: tuple(t.shape) for n, t in found.items()} == {n: tuple(t.shape) for n, t in expected.items()}, (
        "the state_dict must keep its names and shapes"
    )


def _loaded(from_gpt2, sizes=_SIZES, seed=0):
    state = _large(llm.GPT(llm.Config(*sizes)), seed).state_dict()
    found = from_gpt2(_as_gpt2(state))
    assert set(found) == set(state), "from_gpt2 returns the names of GPT's state_dict, all of them"
    return found, state


def test_square_weight(faults, from_gpt2):
    faults()
    found, state = _loaded(from_gpt2)
    for layer in range(2):
        name = f"blocks.{layer}.attention.output.weight"
        assert found[name].equal(state[name]), f"{name} is square, and was loaded as GPT-2 stores it, (in, out)"


def test_other_weights(faults, from_gpt2):
    faults()
    found, state = _loaded(from_gpt2)
    for name in state:
        if name.startswith("blocks.") and "output.weight" not in name:
            assert found[name].shape == state[name].shape, f"{name} has the wrong shape, {tuple(found[name].shape)}"
            assert found[name].equal(state[name]), f"{name} was loaded with the wrong numbers"


def test_embeddings_stay(faults, from_gpt2):
    faults()
    found, state = _loaded(from_gpt2, (8, 8, 1, 2, 8))  # all tables are square
    for name in ("token_embedding.weight", "position_embedding.weight", "head.weight"):
        assert found[name].equal(state[name]), f"{name} does not belong to a Conv1D, so it must not be transposed"


def test_state_is_left(faults, from_gpt2):
    faults()
    theirs = _as_gpt2(_large(llm.GPT(llm.Config(*_SIZES))).state_dict())
    before = {name: t.clone() for name, t in theirs.items()}
    from_gpt2(theirs)
    assert list(theirs) == list(before), "an entry of the caller's state_dict was taken out or renamed"
    assert all(t.shape == theirs[n].shape and t.equal(theirs[n]) for n, t in before.items()), (
        "a tensor of the caller's state_dict was changed in place"
    )


@torch.no_grad()
def test_hidden_whole_way(faults, GPT, from_gpt2, seed):
    faults()
    sizes = _draw(seed + 9)
    for case in range(5):
        vocab, context, layers, heads, width = torch.randint(1, 5, (5,), generator=sizes).tolist()
        shape = (8 * vocab, 4 + context, layers, heads, 2 * heads * width)
        _, right = _pair(GPT, shape, seed + case)
        model = GPT(*shape).eval()
        fits = _tried(lambda m=model, r=right: m.load_state_dict(from_gpt2(_as_gpt2(r.state_dict()))))
        assert fits is not None, f"GPT{shape}: weights of a GPT-2 do not fit"
        ids = _ids(2, 4 + context, vocab=8 * vocab, seed=seed)
        assert _gap(model(ids), right(ids)) < 1e-4, f"GPT{shape}: loaded from a GPT-2, it has different logits"


@torch.no_grad()
def test_hidden_parts(faults, Attention, MLP, Block, reference, seed):
    faults()
    x = torch.randn(2, 6, 12, generator=_draw(seed))
    for name, made, right in (
        ("Attention", Attention(12, 3), reference.Attention(12, 3)),
        ("MLP", MLP(12), reference.MLP(12)),
        ("Block", Block(12, 3), reference.Block(12, 3)),
    ):
        _large(right, seed)
        assert isinstance(made, nn.Module) and {*made.state_dict()} == {*right.state_dict()}, (
            f"{name} has different parts"
        )
        made.load_state_dict(right.state_dict())
        assert _gap(made(x), right(x)) < 1e-4, f"with the same weights, {name} computes something else"
