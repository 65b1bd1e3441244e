import torch
from torch import nn

from torchbook.practice.devices import misplaced


class _Mixer(nn.Module):
    """Sequence i's output is the sum over j of strengths[i, j] times sequence j."""

    def __init__(self, strengths):
        super().__init__()
        self.register_buffer("strengths", torch.as_tensor(strengths, dtype=torch.float32))

    def forward(self, x):
        return torch.einsum("ij,jtc->itc", self.strengths, x)


def _x(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def test_every_pair(mixing):
    strengths = torch.eye(4)
    strengths[0, 3] = strengths[2, 1] = 1.0
    found = mixing(_Mixer(strengths), _x(4, 5, 6))
    assert tuple(found.shape) == (4, 4), (
        "the table has one row for each output and one column for each replaced sequence"
    )
    assert (found > 1e-3).equal(strengths.bool()), (
        "sequence 0 reads sequence 3, and 2 reads 1: row 0, column 3, and row 2, column 1"
    )


def test_replaced_by_something_else(mixing):
    everyone = torch.ones(3, 3)
    for x in (torch.zeros(3, 4, 2), torch.ones(3, 4, 2), _x(3, 4, 2)):
        found = mixing(_Mixer(everyone), x)
        assert (found > 1e-3).all(), "a sequence was replaced by itself (zeros by zeros, say), so nothing moved"


class _Normed(nn.Module):
    """Mixes all sequences, behind a layer norm: adding a number to all channels of a token moves nothing."""

    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return x + self.norm(x).mean(0)


def test_norm_hides_no_replacement(mixing, independent):
    found = mixing(_Normed(6), _x(3, 4, 6))
    assert (found > 1e-3).all() and not independent(_Normed(6), _x(3, 4, 6)), (
        "a sequence was replaced by itself plus a number, which a layer norm removes: draw new numbers instead"
    )


def test_asked_as_it_comes(independent):
    norm = nn.Sequential(nn.Flatten(0, 1), nn.BatchNorm1d(3), nn.Unflatten(0, (4, 5)))
    assert not independent(norm.train(), _x(4, 5, 3)), "batch norm in training mixes the sequences of a batch"
    assert independent(norm.eval(), _x(4, 5, 3)), "in evaluation it does not"


def test_own_movement(independent):
    assert independent(nn.Linear(3, 3), _x(4, 5, 3)), "a sequence moves its own output, of course: that is not mixing"


def test_faint_mixing(independent):
    faint = torch.eye(3)
    faint[1, 2] = -1e-3
    assert not independent(_Mixer(faint), _x(3, 4, 2)), "a thousandth of sequence 2 in sequence 1 is mixing too"


class _Ramp(nn.Module):
    """All its outputs rise, or all fall, when a sequence of zeros is replaced."""

    def __init__(self, sign):
        super().__init__()
        self.sign = sign

    def forward(self, x):
        return self.sign * x.abs().sum(dim=(0, 1, 2)).expand_as(x)


def test_sign(mixing):
    for sign in (1, -1):
        found = mixing(_Ramp(sign), torch.zeros(3, 4, 2))
        assert (found > 1e-3).all(), "outputs that only rise, or only fall, have moved: take the absolute change"


class _Broken(nn.Module):
    """Independent, but one number of sequence 1 is `instead`: in the first forward pass, in later ones, or in all."""

    def __init__(self, instead, first=True, later=True):
        super().__init__()
        self.instead, self.first, self.later, self.calls = instead, first, later, 0

    def forward(self, x):
        out, self.calls = 2 * x, self.calls + 1
        if self.first if self.calls == 1 else self.later:
            out[1, 1, 0] = self.instead
        return out


def test_nan_counts_as_moved(mixing, independent):
    for when, where in (((True, True), "both"), ((True, False), "the first"), ((False, True), "the second")):
        found = mixing(_Broken(torch.nan, *when), _x(3, 4, 2))
        assert (found[1] == torch.inf).all(), (
            f"nan in {where} of two outputs counts as moved by inf, not by {found[1].tolist()}"
        )
        assert found[[0, 2]].isfinite().all(), "sequences without a nan moved by a finite number"
        assert not independent(_Broken(torch.nan, *when), _x(3, 4, 2)), (
            f"nan in {where} of two outputs, and the module passed as independent"
        )


def test_the_same_infinity_has_not_moved(mixing, independent):
    found = mixing(_Broken(-torch.inf), _x(3, 4, 2))
    assert (found > 1e-3).equal(torch.eye(3).bool()) and found.isfinite().all(), (
        "a number that is -inf in both outputs has not moved"
    )
    assert independent(_Broken(-torch.inf), _x(3, 4, 2)), "-inf in both outputs is not mixing"


class _Steep(nn.Module):
    def forward(self, x):
        return torch.where(x > 0, torch.inf, x)


def test_infinite_own_movement(independent):
    assert independent(_Steep(), _x(3, 4, 2)), "a sequence moved its own output by inf, and that is still not mixing"


def test_dtype_and_device(mixing):
    x = _x(3, 4, 2)
    assert mixing(nn.Linear(2, 2).double(), x.double()).dtype == torch.float32, (
        "the table is float32, whatever dtype x has"
    )
    problem = misplaced(lambda: mixing(nn.Identity(), x))
    assert not problem, problem


def test_tolerance(independent):
    faint = torch.eye(3)
    faint[1, 2] = 1e-3
    assert independent(_Mixer(faint), _x(3, 4, 2), tolerance=1.0) is True, (
        "with tolerance=1.0, a change of less than 1 is none"
    )
    faint[1, 2] = 1e-6
    assert independent(_Mixer(faint), _x(3, 4, 2), tolerance=1e-9) is False, (
        "with tolerance=1e-9, a change of one millionth counts"
    )


def test_x_is_left(mixing):
    x = _x(3, 4, 2)
    mixing(nn.Linear(2, 2), x)
    assert x.equal(_x(3, 4, 2)), "the caller's tensor was edited in place"


def _block(Block, width=8, heads=2):
    torch.manual_seed(1)
    block = Block(width, heads)
    for p in block.parameters():
        nn.init.normal_(p, std=0.3)
    return block


@torch.no_grad()
def test_block_is_independent(Block):
    block, x = _block(Block), _x(5, 5, 8)  # as many sequences as tokens, so a mask for the wrong dimension fits
    other = x.clone()
    other[1] = _x(5, 8, seed=1)
    away = (block(other) - block(x))[[0, 2, 3, 4]].abs().max()
    assert away < 1e-5, "the other sequences moved when sequence 1 was replaced: attention runs across the batch"


def test_block_is_on_the_device_of_x(Block):
    block, x = _block(Block), _x(2, 4, 8)
    problem = misplaced(lambda: block(x))
    assert not problem, problem


@torch.no_grad()
def test_block_is_causal(Block):
    block, x = _block(Block), _x(3, 5, 8)
    for t in range(1, 5):
        other = x.clone()
        other[:, t] = _x(3, 8, seed=1)
        moved = (block(other) - block(x)).abs().amax(dim=(0, 2))
        assert moved[:t].max() < 1e-5, f"token {t} was changed, and outputs before it moved: the future is visible"
        assert moved[t:].min() > 1e-4, f"token {t} was changed, but its own output or a later one did not move"


def test_block_can_learn(Block):
    block = _block(Block)
    out = block(_x(2, 4, 8))
    assert out.requires_grad, "the output has no grad_fn: this block cannot be trained"
    out.square().sum().backward()
    left = [name for name, p in block.named_parameters() if p.grad is None or not p.grad.any()]
    assert not left, f"no gradient reaches {', '.join(left)}"


@torch.no_grad()
def test_block_is_pre_norm(Block):
    block, x = _block(Block), _x(2, 4, 8)
    for last in (block.attention.out_proj, block.feed_forward[-1]):
        last.weight.zero_()
        last.bias.zero_()
    assert torch.allclose(block(x), x, atol=1e-6), (
        "if both branches return 0, a pre-norm block returns its input unchanged"
    )


@torch.no_grad()
def test_hidden_block_numbers(Block, reference, seed):
    for width, heads, batch, steps in ((4, 1, 1, 1), (8, 4, 2, 3), (12, 3, 3, 7)):
        theirs = _block(Block, width, heads)
        right = reference.Block(width, heads)
        try:
            right.load_state_dict(theirs.state_dict())
        except RuntimeError:
            raise AssertionError(
                "the parts of the block have different names or shapes, so saved weights do not fit"
            ) from None
        given = 2 * _x(batch, steps, width, seed=seed) + 1
        gap = (theirs(given) - right(given)).abs().max()
        assert gap < 1e-4, "with the same weights, your block has a different output: which part reads which norm?"


def test_hidden_random_mixing(mixing, independent, seed):
    torch.manual_seed(seed)
    for _ in range(10):
        size = int(torch.randint(2, 6, ()))
        links = (torch.rand(size, size) < 0.2).float().fill_diagonal_(1.0)
        rows = _x(size, 3, 2, seed=seed)
        assert (mixing(_Mixer(links), rows) > 1e-4).equal(links.bool()), (
            "for a random choice of which sequence reads which, the table is wrong"
        )
        assert independent(_Mixer(links), rows) == bool(links.sum() == size), (
            "for a random choice of which sequence reads which, independent is wrong"
        )
