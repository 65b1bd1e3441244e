import torch


def _arms(found, runs, arms):
    assert isinstance(found, torch.Tensor) and found.shape == (runs,), (
        f"one arm for each run: a tensor of shape ({runs},)"
    )
    assert not found.is_floating_point(), "arms are integers, numbers of columns"
    assert ((found >= 0) & (found < arms)).all(), f"there are {arms} arms, counted from 0"
    return found.tolist()


def test_greedy_takes_the_best(greedy):
    mean = torch.tensor([[0.1, 0.7, 0.3], [0.5, 0.2, -1.0], [-3.0, -2.0, -1.0]])
    assert _arms(greedy(mean, torch.ones(3, 3)), 3, 3) == [1, 0, 2], "each run takes the best arm of its own row"


def test_greedy_tries_each_arm(greedy):
    mean = torch.tensor([[0.0, 2.0, 0.5], [-1.0, -1.0, 0.0]])
    pulls = torch.tensor([[0.0, 5.0, 5.0], [1.0, 1.0, 0.0]])
    assert _arms(greedy(mean, pulls), 2, 3) == [0, 2], (
        "an arm that was never pulled comes first: its mean of 0 is not a measurement"
    )


def test_epsilon_explores_each_run(epsilon_greedy):
    torch.manual_seed(0)
    mean = torch.zeros(4000, 4)
    mean[:, 2] = 1.0
    found = torch.tensor(_arms(epsilon_greedy(mean, torch.ones(4000, 4), 0.4), 4000, 4))
    away = (found != 2).float().mean().item()
    assert away > 0, "nobody explores: the random number must decide in each run"
    assert abs(away - 0.3) < 0.04, (
        "with ε = 0.4 and 4 arms, 30 % of the runs leave the best arm: each run draws its own number, any arm may come"
    )


def test_epsilon_takes_any_arm(epsilon_greedy):
    torch.manual_seed(0)
    found = epsilon_greedy(torch.rand(4000, 4), torch.ones(4000, 4), 1.0)
    share = torch.tensor(_arms(found, 4000, 4)).bincount(minlength=4) / 4000
    assert (share - 0.25).abs().max() < 0.04, "with ε = 1 all arms are equally likely, in each run independently"


def test_epsilon_zero_is_greedy(epsilon_greedy):
    mean, pulls = torch.rand(50, 6), torch.randint(1, 3, (50, 6)).float()
    assert _arms(epsilon_greedy(mean, pulls, 0.0), 50, 6) == mean.argmax(1).tolist(), "with ε = 0 nobody explores"


def test_ucb_tries_each_arm(ucb):
    for pulls in ([[0.0, 0.0, 0.0]], [[1.0, 0.0, 0.0]], [[50.0, 50.0, 0.0]]):
        for best in (9.0, 9e6):
            (arm,) = _arms(ucb(torch.tensor([[best, 5.0, 0.0]]), torch.tensor(pulls), 1.0), 1, 3)
            assert pulls[0][arm] == 0, (
                "an arm that was never pulled comes first, also in the first two steps (0/0!), whatever the other means"
            )


def test_ucb_prefers_the_unsure(ucb):
    mean, pulls = torch.tensor([[0.5, 0.4]]), torch.tensor([[100.0, 2.0]])
    assert _arms(ucb(mean, pulls, 1.0), 1, 2) == [1], "two pulls say little: the bonus of that arm is larger"
    assert _arms(ucb(mean, pulls, 0.01), 1, 2) == [0], "c scales the bonus"


def test_ucb_counts_each_run(ucb):
    # bonus of the second arm: sqrt(ln(12) / 2) = 1.11 in the first run, sqrt(ln(1002) / 2) = 1.86 in the second
    mean, pulls = torch.tensor([[2.0, 1.2], [2.0, 0.3]]), torch.tensor([[10.0, 2.0], [1000.0, 2.0]])
    assert _arms(ucb(mean, pulls, 1.0), 2, 2) == [0, 1], (
        "t is the number of pulls of that run, not of all runs together"
    )


def test_ucb_by_the_natural_logarithm(ucb):
    # sqrt(ln 3 / 1) - sqrt(ln 3 / 2) is 0.307, and with ln 4 it would be 0.345
    found = _arms(ucb(torch.tensor([[0.32, 0.0]]), torch.tensor([[2.0, 1.0]]), 1.0), 1, 2)
    assert found == [0], "the bonus is sqrt(ln(t) / n), and t is 3 here: neither ln(t + 1) nor another logarithm"


def test_arguments_are_kept(greedy, ucb):
    for rule in (greedy, lambda mean, pulls: ucb(mean, pulls, 1.0)):
        mean, pulls = torch.tensor([[0.0, 2.0]]), torch.tensor([[0.0, 5.0]])
        rule(mean, pulls)
        assert mean.equal(torch.tensor([[0.0, 2.0]])) and pulls.equal(torch.tensor([[0.0, 5.0]])), (
            "a rule changed mean or pulls, with which the next step goes on: leave them as they are"
        )


def test_regret_of_each_run(regret):
    truth = torch.tensor([[0.0, 1.0], [3.0, 1.0]])
    found = regret(truth, torch.tensor([[0, 0], [1, 1], [0, 1]]))
    assert isinstance(found, torch.Tensor) and found.shape == (3,), "one number after each step, averaged over the runs"
    assert torch.allclose(found.float(), torch.tensor([0.5, 1.5, 3.0])), (
        "each run is compared with its own best arm, and what was lost adds up over the steps"
    )


def test_regret_never_falls(regret):
    torch.manual_seed(1)
    found = regret(torch.randn(20, 5), torch.randint(5, (30, 20)))
    assert (found.diff() >= -1e-5).all() and found[0] >= 0, "no pull can be better than the best arm"


def test_hidden_random(greedy, ucb, regret, reference, seed):
    torch.manual_seed(seed)
    for runs, arms in ((1, 2), (7, 3), (300, 9)):
        mean, pulls = torch.randn(runs, arms), torch.randint(1, 9, (runs, arms)).float()
        expected = reference.greedy(mean, pulls), reference.ucb(mean, pulls, 0.7)
        assert greedy(mean, pulls).equal(expected[0]), "another arm is taken, for other means and counts"
        assert ucb(mean, pulls, 0.7).equal(expected[1]), "another bound is highest: natural logarithm, root, c?"
        pulls[:, 1:].masked_fill_(torch.rand(runs, arms - 1) < 0.3, 0.0)
        for found in (greedy(mean, pulls), ucb(mean, pulls, 0.7)):
            new = pulls.gather(1, found[:, None])[:, 0] == 0
            assert new.equal((pulls == 0).any(1)), "an arm that was never pulled comes first"
        truth, pulled = torch.randn(runs, arms), torch.randint(arms, (11, runs))
        assert torch.allclose(regret(truth, pulled), reference.regret(truth, pulled), atol=1e-4), "the regret differs"
