from collections.abc import Callable

import torch

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def check_mse(mse: Loss) -> None:
    """Raises AssertionError if `mse(pred, target)`, of shapes (B, 1) and (B,), is not the mean squared error."""
    ### BEGIN SOLUTION
    draw = torch.Generator().manual_seed(0)
    for size in (1, 2, 5):
        pred = torch.randn(size, 1, generator=draw, requires_grad=True)
        target = torch.randn(size, generator=draw)
        expected = sum((p - t) ** 2 for p, t in zip(pred.flatten().tolist(), target.tolist(), strict=True)) / size
        loss = mse(pred, target)
        assert loss.shape == (), f"of {size} rows: a loss of shape {tuple(loss.shape)}"
        _close(loss, expected, f"of {size} rows")
        assert loss.requires_grad, "no gradient"
        (gradient,) = torch.autograd.grad(loss, pred)
        _close(gradient, 2 * (pred.detach() - target[:, None]) / size, f"gradient of {size} rows")


def _close(found: torch.Tensor, expected: object, what: str) -> None:
    found, expected = torch.as_tensor(found).double(), torch.as_tensor(expected).double()
    assert found.shape == expected.shape, f"{what}: shape {tuple(found.shape)}"
    assert torch.allclose(found, expected, rtol=1e-4, atol=1e-5), f"{what}: {found}, not {expected}"
    ### END SOLUTION


def check_split(split: Callable[[list, float, int], tuple[list[int], list[int]]]) -> None:
    """Raises AssertionError if `split(groups, fraction, seed)` is not a split by groups."""
    ### BEGIN SOLUTION
    groups = [f"patient {i % 60}" for i in range(300)] + [f"patient {i}" for i in range(60, 100)]
    for fraction in (0.2, 0.5):
        seen = set()
        for seed in range(4):
            before = torch.get_rng_state()
            train, test = (list(map(int, part)) for part in split(list(groups), fraction, seed))
            assert torch.get_rng_state().equal(before), "draws from the global generator"
            again = [list(map(int, part)) for part in split(list(groups), fraction, seed)]
            assert [train, test] == again, "the same seed, and another split"
            assert sorted(train + test) == list(range(len(groups))), "not every row exactly once"
            common = {groups[i] for i in train} & {groups[i] for i in test}
            assert not common, f"{len(common)} groups are on both sides"
            held = len({groups[i] for i in test}) / len(set(groups))
            assert abs(held - fraction) < 0.011, f"{held:.2f} of the groups are held out, not {fraction}"
            seen.add(frozenset(test))
        assert len(seen) > 1, "the seed makes no difference"
    ### END SOLUTION


def check_windows(windows: Callable) -> None:
    """Raises AssertionError if `windows(series, length, horizon, cut)` does not make pairs that may be learnt from."""
    ### BEGIN SOLUTION
    for n, length, horizon, cut in ((20, 3, 1, 12), (25, 4, 3, 15), (9, 1, 2, 5)):
        series = torch.arange(n).float() ** 2
        (x, y), (x_test, y_test) = windows(series.clone(), length, horizon, cut)
        ends = range(length - 1, n - horizon)  # the last element of a window
        train = [end for end in ends if end + horizon < cut]
        test = [end for end in ends if end + horizon >= cut]
        for part, chosen, inputs, targets in (("training", train, x, y), ("test", test, x_test, y_test)):
            assert inputs.shape == (len(chosen), length), f"{part}: {tuple(inputs.shape)}, not {len(chosen)} windows"
            assert targets.shape == (len(chosen),), f"{part}: targets of shape {tuple(targets.shape)}"
            order = sorted(range(len(chosen)), key=lambda i, inputs=inputs: inputs[i, 0].item())
            for end, i in zip(chosen, order, strict=True):
                _close(inputs[i], series[end - length + 1 : end + 1], f"{part}: the window that ends with {end}")
                _close(targets[i], series[end + horizon], f"{part}: {horizon} steps after {end}")
    ### END SOLUTION


def check_lm_loss(lm_loss: Loss) -> None:
    """Raises AssertionError if `lm_loss(logits, tokens)` is not the loss of predicting the next token."""
    ### BEGIN SOLUTION
    draw = torch.Generator().manual_seed(0)
    for b, t, v in ((1, 2, 3), (2, 5, 4), (3, 4, 4)):
        logits = torch.randn(b, t, v, generator=draw)
        tokens = torch.randint(v, (b, t), generator=draw)
        for padded in (False, True):
            if padded:
                tokens[-1, t // 2 + 1 :] = -1
            logs = logits.double().log_softmax(-1)
            terms = [-logs[i, j, k] for i in range(b) for j in range(t - 1) if (k := int(tokens[i, j + 1])) >= 0]
            given = logits.clone().requires_grad_()
            loss = lm_loss(given, tokens.clone())
            _close(loss, sum(terms) / len(terms), f"of {b} x {t} tokens, {'with' if padded else 'without'} padding")
            assert loss.requires_grad, "no gradient"
    ### END SOLUTION
