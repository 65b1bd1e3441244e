import torch


def test_perfect_predictions(mean_squared_error):
    targets = torch.tensor([1.0, 2.0, 3.0])
    found = mean_squared_error(targets.unsqueeze(1), targets)
    assert found.shape == (), "a loss is one number, a tensor without dimensions"
    assert found == 0, (
        f"the predictions are perfect and the error is {found.item():.3g}: each was compared with every target"
    )


def test_no_broadcast(mean_squared_error):
    found = mean_squared_error(torch.tensor([[1.0], [4.0]]), torch.tensor([2.0, 2.0]))
    assert abs(found - 2.5) < 1e-6, "(1 - 2)² = 1 and (4 - 2)² = 4, so the mean is 2.5"


def test_columns(standardised):
    x = torch.tensor([[1.0, 10.0, 7.0], [2.0, 30.0, 9.0], [3.0, 20.0, 2.0], [6.0, 20.0, 2.0]])
    found = standardised(x)
    assert found.shape == x.shape, "standardising keeps the shape"
    assert torch.allclose(found.mean(0), torch.zeros(3), atol=1e-5), "each column should have mean 0 over its rows"
    assert torch.allclose(found.std(0), torch.ones(3), atol=1e-5), "each column should have standard deviation 1"


def test_square(standardised):
    x = torch.tensor([[1.0, 8.0, 3.0], [2.0, 6.0, 5.0], [6.0, 1.0, 4.0]])
    found = standardised(x)
    assert torch.allclose(found.mean(0), torch.zeros(3), atol=1e-5), (
        "with as many rows as columns nothing raises, and the columns do not have mean 0"
    )


def test_pixels(channels_first):
    pictures = torch.arange(2 * 3 * 4 * 5.0).view(2, 3, 4, 5)
    found = channels_first(pictures)
    assert found.shape == (2, 5, 3, 4), f"(2, 3, 4, 5) should become (2, 5, 3, 4), not {tuple(found.shape)}"
    assert found[1, 4, 2, 3] == pictures[1, 2, 3, 4], "[n, h, w, c] must be found at [n, c, h, w]"
    assert found[0, 1, 0, 0] == pictures[0, 0, 0, 1], "the pixels were mixed up: the order of reading was kept"


def test_hidden_random(mean_squared_error, standardised, channels_first, reference, seed):
    generator = torch.Generator().manual_seed(seed)
    for n in (1, 2, 6):
        p, t = torch.randn(n, 1, generator=generator), torch.randn(n, generator=generator)
        assert torch.allclose(mean_squared_error(p, t), reference.mean_squared_error(p, t)), "wrong for other sizes"
        x = torch.randn(n + 1, 4, generator=generator)
        assert torch.allclose(standardised(x), reference.standardised(x), atol=1e-5), "wrong for other sizes"
        pictures = torch.randn(n, 2, 3, 3, generator=generator)
        assert channels_first(pictures).equal(reference.channels_first(pictures)), "wrong for other sizes"
