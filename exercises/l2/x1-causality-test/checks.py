import contextlib

import torch
from torch import nn

from torchbook.practice.devices import misplaced


class _Reader(nn.Module):
    """Output t is the sum over s of strengths[t, s] times what token s says."""

    def __init__(self, strengths, vocab=7, dropout=0.0, channels=3):
        super().__init__()
        draw = torch.Generator().manual_seed(3)
        # steps of at least 1 between any two tokens, in each channel
        order = torch.stack([torch.randperm(vocab, generator=draw) for _ in range(channels)], dim=1)
        self.register_buffer("says", order + 0.3 * torch.arange(channels))  # no two channels alike
        self.register_buffer("strengths", torch.as_tensor(strengths, dtype=torch.float32))
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids):
        return self.dropout(self.strengths @ self.says[ids])


def _causal(length):
    return torch.ones(length, length).tril()


def _ids(*tokens):
    return torch.tensor([tokens])


def test_pattern(influence):
    found = influence(_Reader(_causal(4)), _ids(1, 2, 3, 4), 7)
    assert tuple(found.shape) == (4, 4), (
        "the table has one row for each output and one column for each changed token: (T, T)"
    )
    assert ((found > 0.5) == _causal(4).bool()).all(), (
        "here each output reads its own token and all earlier ones: a lower triangle"
    )


def test_rows_are_outputs(influence):
    only = torch.eye(4)
    only[3, 0] = 2.0
    found = influence(_Reader(only), _ids(1, 2, 3, 4), 7)
    assert found[3, 0] > 0.5 and found[0, 3] == 0, "output 3 reads token 0, which belongs in row 3, column 0"


def test_replaced_by_another(influence):
    for token in range(7):
        try:
            found = influence(_Reader(_causal(3)), _ids(token, token, token), 7)
        except IndexError:
            raise AssertionError(
                f"token {token}, in a vocabulary of 7, was replaced by a token that does not exist"
            ) from None
        assert (found.diagonal() > 0.5).all(), f"token {token} was replaced by itself, so nothing could move"


def test_largest_of_the_changes(influence):
    for token in (0, 1):  # of two tokens, only the other one is different
        model = _Reader(_causal(3), vocab=2)
        model.says = torch.tensor([[0.0, 0.0, 0.0], [0.25, -4.0, 1.0]])
        found = influence(model, _ids(token, token, token), 2)
        assert torch.allclose(found, 4 * _causal(3)), (
            f"three numbers move by 0.25, 4 and 1, up or down; the largest absolute change is 4, not {found.tolist()}"
        )


def test_pair_of_integers(first_leak):
    leaking = _causal(4)
    leaking[0, 1] = 1.0
    found = first_leak(_Reader(leaking), _ids(1, 2, 3, 4), 7)
    assert found is not None and all(type(place) is int for place in found), (
        "output 0 reads token 1: return two Python integers, not tensors"
    )


def test_leak_in_the_middle(first_leak):
    leaking = _causal(6)
    leaking[2, 4] = 1.0
    found = first_leak(_Reader(leaking), _ids(1, 2, 3, 4, 5, 6), 7)
    assert found is not None, "output 2 reads token 4, and this is the only leak: change each token alone"
    assert tuple(found) == (2, 4), "the pair is (t, s): output 2 reads token 4"


def test_training_mode(first_leak):
    torch.manual_seed(0)
    model = _Reader(_causal(5), dropout=0.5).train()
    assert first_leak(model, _ids(1, 2, 3, 4, 5), 7) is None, (
        "this model is causal, but dropout made two forward passes differ: run it in evaluation mode"
    )
    assert model.training, "the model arrived in training mode and was not put back into it"


class _Frozen(_Reader):
    """A reader whose dropout is in a different mode from the model around it."""

    def __init__(self, whole, part):
        super().__init__(_causal(4), dropout=0.5)
        self.train(whole).dropout.train(part)


def test_mode_of_each_module(influence):
    for whole, part in ((True, False), (False, True)):
        model = _Frozen(whole, part)
        found = influence(model, _ids(1, 2, 3, 4), 7)
        assert ((found > 0.5) == _causal(4).bool()).all(), (
            "dropout was still active: one module arrived in training mode"
        )
        assert (model.training, model.dropout.training) == (whole, part), (
            "the model and its dropout arrived in different modes, and each must be put back into its own"
        )


def test_mode_after_an_exception(influence):
    model = _Reader(_causal(3), dropout=0.5).train()
    with contextlib.suppress(IndexError):
        influence(model, _ids(1, 2, 8), 7)  # token 8 does not exist
    assert model.training and model.dropout.training, "the model raised an exception and was left in evaluation mode"


class _Broken(nn.Module):
    """Causal, but one number of output 1 is `instead`: in the first forward pass, in later ones, or in all."""

    def __init__(self, instead, first=True, later=True):
        super().__init__()
        self.model, self.instead, self.first, self.later, self.calls = _Reader(_causal(4)), instead, first, later, 0

    def forward(self, ids):
        out, self.calls = self.model(ids), self.calls + 1
        if self.first if self.calls == 1 else self.later:
            out[0, 1, 2] = self.instead
        return out


def test_nan_counts_as_moved(influence, first_leak):
    ids = _ids(1, 2, 3, 4)
    for when, where in (((True, True), "both"), ((True, False), "the first"), ((False, True), "the second")):
        found = influence(_Broken(torch.nan, *when), ids, 7)
        assert (found[1] == torch.inf).all(), (
            f"nan in {where} of two outputs counts as moved by inf, not by {found[1].tolist()}"
        )
        assert found[[0, 2, 3]].isfinite().all(), "outputs without a nan moved by a finite number"
        leak = first_leak(_Broken(torch.nan, *when), ids, 7)
        assert leak is not None and tuple(leak) == (1, 2), (
            f"nan in {where} of two outputs, and the model passed as causal"
        )


def test_the_same_infinity_has_not_moved(influence, first_leak):
    found = influence(_Broken(-torch.inf), _ids(1, 2, 3, 4), 7)
    assert ((found > 0.5) == _causal(4).bool()).all() and found.isfinite().all(), (
        "a number that is -inf in both outputs (for a token that must not be written, say) has not moved"
    )
    assert first_leak(_Broken(-torch.inf), _ids(1, 2, 3, 4), 7) is None, "-inf in both outputs is not a leak"


def test_dtype_and_device(influence):
    ids, model = _ids(1, 2, 3), _Reader(_causal(3))
    assert influence(model.double(), ids, 7).dtype == torch.float32, (
        "the table is float32, whatever the model computes in"
    )
    problem = misplaced(lambda: influence(model, ids, 7))
    assert not problem, problem


def test_ids_are_left(influence):
    ids = _ids(1, 2, 3)
    influence(_Reader(_causal(3)), ids, 7)
    assert ids.tolist() == [[1, 2, 3]], "the caller's ids were edited in place"


def test_weak_leak(first_leak):
    leaking = _causal(4)
    leaking[0, 1] = 1e-3
    assert first_leak(_Reader(leaking), _ids(1, 2, 3, 4), 7) == (0, 1), (
        "a leak of one thousandth is a leak, even if it does not change which number is the largest"
    )


def test_rounding(first_leak):
    rounded = _causal(4) + 1e-6
    assert first_leak(_Reader(rounded), _ids(1, 2, 3, 4), 7) is None, (
        "a change below the tolerance is rounding, not a leak: different inputs may be computed by different kernels"
    )


def test_tolerance(first_leak):
    leaking = _causal(4)
    leaking[0, 1] = 1e-2
    assert first_leak(_Reader(leaking), _ids(1, 2, 3, 4), 7, tolerance=1.0) is None, (
        "with tolerance=1.0, a change of less than 1 is not a leak"
    )
    leaking[0, 1] = 1e-6
    assert first_leak(_Reader(leaking), _ids(1, 2, 3, 4), 7, tolerance=1e-8) == (0, 1), (
        "with tolerance=1e-8, a change of one millionth is a leak"
    )


def test_hidden_any_reader(influence, first_leak, reference, seed):
    torch.manual_seed(seed)
    for _ in range(40):
        size = int(torch.randint(3, 8, ()))
        sight = (torch.rand(size, size) < 0.25).float() + torch.eye(size)
        model, given = _Reader(sight).eval(), torch.randint(7, (1, size))
        seen = influence(model, given, 7) > 1e-4
        assert seen.equal(sight.bool()), "for a random choice of which output reads which token, the table is wrong"
        wanted, told = reference.first_leak(model, given, 7), first_leak(model, given, 7)
        assert (told and tuple(told)) == wanted, "the first leak is the one with the smallest t, then the smallest s"
        assert not model.training, "the model arrived in evaluation mode and was left in training mode"
