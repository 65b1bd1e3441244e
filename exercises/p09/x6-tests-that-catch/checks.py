import random

import torch
from torch.nn import functional as F


def _passes(check, healthy):
    """Check that the test accepts these implementations."""
    for why, implementation in healthy.items():
        try:
            check(implementation)
        except AssertionError as error:
            said = " ".join(str(error).split())[:120]
            raise AssertionError(f"your test refuses a healthy implementation, {why}: {said}") from None


def _catches(check, sick):
    """Check that the test refuses these implementations."""
    for why, implementation in sick.items():
        try:
            check(implementation)
        except AssertionError:
            continue
        except NotImplementedError:
            raise
        except Exception as error:
            said = f"{type(error).__name__} instead of AssertionError"
            raise AssertionError(f"given an implementation that {why}, your test ends in {said}") from None
        raise AssertionError(f"your test accepts an implementation that {why}")


# Mean squared error.


def _mse(pred, target):
    return (pred[:, 0] - target).square().mean()


def test_mse_passes_the_healthy(check_mse):
    _passes(
        check_mse,
        {
            "with squeeze": lambda p, t: F.mse_loss(p.squeeze(1), t),
            "which gives the target a dimension": lambda p, t: F.mse_loss(p, t[:, None]),
            "which calculates in float64": lambda p, t: (p[:, 0].double() - t).square().mean(),
            "which adds up backwards": lambda p, t: (
                sum((p[i, 0] - t[i]) ** 2 for i in reversed(range(len(t)))) / len(t)
            ),
        },
    )


def test_mse_catches(check_mse):
    _catches(
        check_mse,
        {
            "takes the sum instead of the mean": lambda p, t: (p[:, 0] - t).square().sum(),
            "subtracts (B,) from (B, 1), so every row meets every target": lambda p, t: (p - t).square().mean(),
            "cuts the gradient off": lambda p, t: _mse(p.detach(), t),
            "forgets the square": lambda p, t: (p[:, 0] - t).abs().mean(),
        },
    )


# Split by groups.


def _split(groups, fraction, seed):
    names = sorted(set(groups), key=str)
    draw = random.Random(seed)
    draw.shuffle(names)
    held = set(names[: round(fraction * len(names))])
    parts = [], []
    for row, group in enumerate(groups):
        parts[group in held].append(row)
    return parts


def _by_rows(groups, fraction, seed):
    order = torch.randperm(len(groups), generator=torch.Generator().manual_seed(seed)).tolist()
    return order[round(fraction * len(groups)) :], order[: round(fraction * len(groups))]


def _one_stays(groups, fraction, seed):
    train, test = _split(groups, fraction, seed)
    rows = {}
    for row in test:
        rows.setdefault(groups[row], []).append(row)
    moved = {some[0] for some in rows.values() if len(some) > 1}
    return sorted({*train, *moved}), [row for row in test if row not in moved]


def _without_seed(groups, fraction, seed):
    return _split(groups, fraction, random.random())


def _deduplicated(groups, fraction, seed):
    first = {group: row for row, group in reversed(list(enumerate(groups)))}
    return [[row for row in part if first[groups[row]] == row] for part in _split(groups, fraction, seed)]


def _other_way(groups, fraction, seed):
    return _split(groups, fraction, seed)[::-1]


def _backwards(groups, fraction, seed):
    return tuple(part[::-1] for part in _split(groups, fraction, seed + 7))


def _generator(groups, fraction, seed):
    names = list(dict.fromkeys(groups))
    order = torch.randperm(len(names), generator=torch.Generator().manual_seed(seed)).tolist()
    held = {names[i] for i in order[len(names) - round(fraction * len(names)) :]}
    return torch.tensor([g not in held for g in groups]).nonzero()[:, 0], [i for i, g in enumerate(groups) if g in held]


def test_split_passes_the_healthy(check_split):
    _passes(
        check_split,
        {
            "which sorts the groups first": _split,
            "which lists rows backwards": _backwards,
            "which draws with torch, and returns a tensor": _generator,
        },
    )


def test_split_catches(check_split):
    _catches(
        check_split,
        {
            "shuffles rows, so groups are on both sides": _by_rows,
            "leaves one row of a group in training, but puts the others into the test": _one_stays,
            "does not use the seed": _without_seed,
            "keeps one row of each group and loses the others": _deduplicated,
            "swaps the two sides": _other_way,
        },
    )


# Windows of a series.


def _windows(series, length, horizon, cut, target=0, test=0, train=0, first=0, last=0):
    """Right, except for what is added to some index."""
    pairs = ([], [])
    for start in range(first, len(series) - length - horizon + 1 - last):
        at = start + length - 1 + horizon
        x, y = series[start : start + length], series[at + target]
        if at < cut + train:
            pairs[0].append((x, y))
        if at >= cut + test:
            pairs[1].append((x, y))
    empty = torch.empty(0, length), torch.empty(0)
    return tuple(tuple(map(torch.stack, zip(*part, strict=True))) if part else empty for part in pairs)


def _unfolded(series, length, horizon, cut):
    x = series.unfold(0, length, 1)[: len(series) - length - horizon + 1]
    y, at = series[length - 1 + horizon :], torch.arange(length - 1 + horizon, len(series))
    return (x[at < cut], y[at < cut]), (x[at >= cut], y[at >= cut])


def _shuffled(series, length, horizon, cut):
    return tuple((x.flip(0), y.flip(0)) for x, y in _unfolded(series, length, horizon, cut))


def test_windows_passes_the_healthy(check_windows):
    _passes(
        check_windows,
        {
            "with a loop": _windows,
            "with unfold": _unfolded,
            "which lists pairs backwards": _shuffled,
        },
    )


def _split_late(series, length, horizon, cut):
    """Divides the pairs by the beginnings of their windows."""
    x, y = (torch.cat(parts) for parts in zip(*_unfolded(series, length, horizon, cut), strict=True))
    return (x[:cut], y[:cut]), (x[cut:], y[cut:])


def _first_twice(series, length, horizon, cut):
    return tuple(
        (torch.cat([x[:-1], x[:1]]), torch.cat([y[:-1], y[:1]])) for x, y in _unfolded(series, length, horizon, cut)
    )


def _one_wrong(place):
    """A mistake in one target of each part."""

    def windows(series, length, horizon, cut):
        parts = _unfolded(series.clone(), length, horizon, cut)
        for _, y in parts:
            y[place] += 1
        return parts

    return windows


def test_windows_catches(check_windows):
    _catches(
        check_windows,
        {
            "uses the last element of the window as the target": lambda s, n, h, c: _windows(s, n, h, c, target=-h),
            "trains on a target after the cut": lambda s, n, h, c: _windows(s, n, h, c, train=1, test=1),
            "divides by the beginnings of windows, and so trains on the future": _split_late,
            "leaves out the last window": lambda s, n, h, c: _windows(s, n, h, c, last=1),
            "has the first window twice, but not the last": _first_twice,
            "has a wrong target for the first window": _one_wrong(0),
            "has a wrong target for the last window": _one_wrong(-1),
        },
    )


# Loss of the next token.


def _lm_loss(logits, tokens, ahead=1):
    logits, wanted = logits[:, : logits.shape[1] - ahead], tokens[:, ahead:]
    return F.cross_entropy(logits.reshape(-1, logits.shape[-1]), wanted.reshape(-1), ignore_index=-1)


def _by_hand(logits, tokens):
    logs, wanted = logits[:, :-1].log_softmax(-1), tokens[:, 1:]
    there = wanted >= 0
    return -(logs.gather(-1, wanted.clamp(min=0)[..., None])[..., 0] * there).sum() / there.sum()


def _padded(logits, tokens):
    """A last token of padding instead of a shorter sequence."""
    wanted = torch.cat([tokens[:, 1:], torch.full_like(tokens[:, :1], -1)], 1)
    return F.cross_entropy(logits.transpose(1, 2), wanted, ignore_index=-1)


def test_lm_loss_passes_the_healthy(check_lm_loss):
    _passes(
        check_lm_loss,
        {
            "with flattened dimensions": _lm_loss,
            "without cross_entropy": _by_hand,
            "which moves classes to dimension 1": _padded,
            "in float64": lambda logits, tokens: _by_hand(logits.double(), tokens),
        },
    )


def _rolled(logits, tokens):
    return F.cross_entropy(logits.flatten(0, 1), tokens.roll(-1, 1).flatten(), ignore_index=-1)


def _counts_padding(logits, tokens):
    wanted = tokens[:, 1:]
    losses = F.cross_entropy(logits[:, :-1].transpose(1, 2), wanted, ignore_index=-1, reduction="none")
    return losses.mean()


def _scrambled(logits, tokens):
    logits, wanted = logits[:, :-1], tokens[:, 1:]
    return F.cross_entropy(logits.reshape(len(logits), logits.shape[-1], -1), wanted, ignore_index=-1)


def test_lm_loss_catches(check_lm_loss):
    _catches(
        check_lm_loss,
        {
            "predicts the token that it has already seen": lambda logits, tokens: _lm_loss(logits, tokens, ahead=0),
            "rolls the tokens, so the last predicts the first": _rolled,
            "divides by the number of all tokens, padding included": _counts_padding,
            "reshapes (B, T, V) to (B, V, T)": _scrambled,
            "takes the sum": lambda logits, tokens: _lm_loss(logits, tokens) * (tokens[:, 1:] >= 0).sum(),
        },
    )


# For grading: further ones.


def _first_groups(groups, fraction, seed):
    names = list(dict.fromkeys(groups))
    held = set(names[: round(fraction * len(names))])
    return [i for i, g in enumerate(groups) if g not in held], [i for i, g in enumerate(groups) if g in held]


def _of_rows(groups, fraction, seed):
    """The fraction of the rows, in whole groups, the largest first."""
    order = sorted(set(groups), key=lambda name: (-groups.count(name), random.Random(f"{seed}{name}").random()))
    held, rows = set(), 0
    for name in order:
        if rows < fraction * len(groups):
            held.add(name)
            rows += groups.count(name)
    return [i for i, g in enumerate(groups) if g not in held], [i for i, g in enumerate(groups) if g in held]


def _globally(groups, fraction, seed):
    torch.manual_seed(seed)
    return _generator(groups, fraction, torch.randint(1000, ()).item())


def _test_twice(groups, fraction, seed):
    train, test = _split(groups, fraction, seed)
    return train, test + test[:3]


def _two_more(groups, fraction, seed):
    more = fraction + 2 / len(set(groups))
    return tuple(part[::-1] for part in _split(groups, more, seed))


def _test_in_train(groups, fraction, seed):
    train, test = _split(groups, fraction, seed)
    return train + test, test


def test_hidden_mse(check_mse):
    _passes(check_mse, {"by a dot product": lambda p, t: (p[:, 0] - t) @ (p[:, 0] - t) / t.numel()})
    _passes(check_mse, {"in two parts": lambda p, t: (p * p).mean() - 2 * (p[:, 0] * t).mean() + (t * t).mean()})
    sick = {
        "halves the loss": lambda p, t: _mse(p, t) / 2,
        "divides by the number of rows minus one": lambda p, t: (p[:, 0] - t).square().sum() / max(len(t) - 1, 1),
        "takes the root": lambda p, t: _mse(p, t).sqrt(),
        "returns the loss of each row": lambda p, t: (p[:, 0] - t).square(),
        "keeps a dimension": lambda p, t: _mse(p, t)[None],
        "has a gradient twice too large": lambda p, t: 2 * _mse(p, t) - _mse(p, t).detach(),
        "sorts both sides": lambda p, t: _mse(p.sort(0).values, t.sort().values),
        "clips large errors": lambda p, t: (p[:, 0] - t).clamp(-1, 1).square().mean(),
        "returns a Python number": lambda p, t: torch.tensor(_mse(p, t).item()),
    }
    _catches(check_mse, sick)


def test_hidden_split(check_split):
    _passes(check_split, {"with other seeds": lambda groups, fraction, seed: _generator(groups, fraction, 1000 - seed)})
    sick = {
        "takes the first groups, whatever the seed": _first_groups,
        "holds out a fraction of the rows, in the largest groups": _of_rows,
        "seeds the global generator": _globally,
        "lists test rows twice": _test_twice,
        "holds out two groups too many": _two_more,
        "trains on everything": _test_in_train,
        "loses a row": lambda groups, fraction, seed: (
            _split(groups, fraction, seed)[0][1:],
            _split(groups, fraction, seed)[1],
        ),
        "holds out a half, whatever the fraction": lambda groups, fraction, seed: _split(groups, 0.5, seed),
        "holds out a fifth, whatever the fraction": lambda groups, fraction, seed: _split(groups, 0.2, seed),
    }
    _catches(check_split, sick)


def test_hidden_windows(check_windows):
    _passes(check_windows, {"of float64": lambda s, n, h, c: _unfolded(s.double(), n, h, c)})
    sick = {
        "looks one step further": lambda s, n, h, c: _windows(s, n, h, c, target=-1),
        "always predicts the next": lambda s, n, h, c: _windows(s, n, h, c, target=1 - h),
        "tests on training pairs": lambda s, n, h, c: _windows(s, n, h, c, test=-1),
        "has no pair at the cut": lambda s, n, h, c: _windows(s, n, h, c, test=1),
        "leaves out the first window": lambda s, n, h, c: _windows(s, n, h, c, first=1),
        "subtracts the mean of the whole series": lambda s, n, h, c: _windows(s - s.mean(), n, h, c),
        "has targets of shape (number, 1)": lambda s, n, h, c: tuple((x, y[:, None]) for x, y in _windows(s, n, h, c)),
        "has one window more than targets": lambda s, n, h, c: tuple(
            (torch.cat([x, x[-1:]]), y) for x, y in _windows(s, n, h, c)
        ),
        "makes windows that are one too long": lambda s, n, h, c: _windows(s, n + 1, h, c),
        "reverses time within a window": lambda s, n, h, c: tuple((x.flip(1), y) for x, y in _windows(s, n, h, c)),
        "pairs windows with targets of others": lambda s, n, h, c: tuple(
            (x, y.flip(0)) for x, y in _windows(s, n, h, c)
        ),
    }
    _catches(check_windows, sick)


def test_hidden_lm_loss(check_lm_loss):
    _passes(check_lm_loss, {"with views": lambda logits, tokens: _padded(logits.clone(), tokens.clone())})
    sick = {
        "predicts the token before": lambda logits, tokens: _lm_loss(logits.flip(1), tokens.flip(1)),
        "skips a token": lambda logits, tokens: _lm_loss(logits, tokens, ahead=min(2, tokens.shape[1] - 1)),
        "treats padding as class 0": lambda logits, tokens: _lm_loss(logits, tokens.clamp(min=0)),
        "is a mean of the means of rows": lambda logits, tokens: torch.stack(
            [_lm_loss(a[None], b[None]) for a, b in zip(logits, tokens, strict=True) if (b[1:] >= 0).any()]
        ).mean(),
        "takes the softmax twice": lambda logits, tokens: _lm_loss(logits.softmax(-1), tokens),
        "looks at the first row only": lambda logits, tokens: _lm_loss(logits[:1], tokens[:1]),
        "cuts the gradient off": lambda logits, tokens: _lm_loss(logits.detach(), tokens),
        "has the wrong sign": lambda logits, tokens: -_lm_loss(logits, tokens),
    }
    _catches(check_lm_loss, sick)
