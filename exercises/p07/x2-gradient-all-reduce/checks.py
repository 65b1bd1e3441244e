from torchbook.practice.ranks import Ranks

RANKS = Ranks(world=2)

_CASES = """
def cases(answer):
    average = answer.average_gradients

    def two_layers():
        torch.manual_seed(5 + rank)
        return nn.Sequential(nn.Linear(3, 4, bias=False), nn.Tanh(), nn.Linear(4, 2, bias=False))

    def mean():
        model = two_layers()
        before = [p.detach().clone() for p in model.parameters()]
        for p in model.parameters():
            p.grad = torch.full_like(p, 1.0 + 2 * rank)
        average(model)
        stayed = all(torch.equal(p, b) for p, b in zip(model.parameters(), before))
        return [p.grad.flatten()[0].item() for p in model.parameters()], stayed

    def whole_batch():
        torch.manual_seed(6)
        model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
        x, y = torch.randn(8, 3), torch.randint(2, (8,))
        whole = nn.functional.cross_entropy(model(x), y)
        expected = torch.autograd.grad(whole, list(model.parameters()))
        nn.functional.cross_entropy(model(x[rank::2]), y[rank::2]).backward()
        average(model)
        return max((p.grad - e).abs().max().item() for p, e in zip(model.parameters(), expected))

    def none_on_one_rank():
        model = two_layers()
        model.append(nn.Linear(2, 2).requires_grad_(False))
        model[0].weight.grad = torch.full_like(model[0].weight, 1.0)
        if rank == 0:
            model[2].weight.grad = torch.full_like(model[2].weight, 3.0)
        average(model)
        last = model[2].weight.grad
        return None if last is None else last.flatten()[0].item()

    def frozen():
        model = two_layers()
        model[0].requires_grad_(False)
        model[2].weight.grad = torch.full_like(model[2].weight, 1.0 + 2 * rank)
        model.append(nn.Linear(2, 2).requires_grad_(False))
        model[3].bias.grad = torch.full((2,), 1.0 + 2 * rank)  # of a step before it was frozen
        average(model)
        return [None if p.grad is None else p.grad.flatten()[0].item() for p in model.parameters()]

    yield "mean", mean
    yield "alone", mean, 1
    yield "whole", whole_batch
    yield "none", none_on_one_rank
    yield "frozen", frozen
"""


def test_mean(average_gradients, source):
    gradients, _ = RANKS.values(_CASES, source, "mean")[0]
    why = {4.0: ": that is the sum", 1.0: ": it is rank 0's own gradient", 0.5: ": divided, but not added up first"}
    for found in gradients:
        assert abs(found - 2.0) < 1e-6, f"gradients 1 and 3 have the mean 2, not {found:g}{why.get(found, '')}"


def test_every_rank(average_gradients, source):
    (first, _), (second, _) = RANKS.values(_CASES, source, "mean")
    assert first == second, f"rank 0 ends with gradients {first}, rank 1 with {second}: every rank needs the mean"


def test_parameters_stay(average_gradients, source):
    for rank, (_, stayed) in enumerate(RANKS.values(_CASES, source, "mean")):
        assert stayed, f"on rank {rank} the parameters themselves changed: reduce .grad, and leave the weights alone"


def test_world_size(average_gradients, source):
    gradients, _ = RANKS.values(_CASES, source, "alone")[0]
    assert gradients == [1.0, 1.0], f"in a group of one rank, gradients of 1 stay 1, and do not become {gradients[0]:g}"


def test_whole_batch(average_gradients, source):
    error = max(RANKS.values(_CASES, source, "whole"))
    assert error < 1e-6, (
        f"two ranks with half of the batch each differ by {error:.1e} from one process with all of it: average every "
        "parameter's gradient, biases too"
    )


def test_none_on_one_rank(average_gradients, source):
    first, second = (said.get("none", {}).get("error") for said in RANKS.run(_CASES, source))
    assert not second, f"rank 1, where one gradient is None: {second}"
    assert not first, (
        "rank 1 has no gradient for one parameter, and rank 0 waits for it in vain: every rank must make the same "
        f"calls, whatever its own gradients are ({first})"
    )
    for rank, found in enumerate(RANKS.values(_CASES, source, "none")):
        assert found == 1.5, (
            f"a gradient of 3 on rank 0 and None on rank 1 have the mean 1.5 on both ranks, not {found} on rank {rank}"
        )


def test_frozen(average_gradients, source):
    for rank, (none, trained, still_none, old) in enumerate(RANKS.values(_CASES, source, "frozen")):
        assert abs(trained - 2.0) < 1e-6, f"next to frozen layers, gradients 1 and 3 have the mean 2, not {trained:g}"
        assert none is still_none is None, f"on rank {rank}, a frozen parameter without a gradient was given one"
        assert old == 1.0 + 2 * rank, f"on rank {rank}, the old gradient of a frozen parameter has changed"


_DDP = '''
import copy

import torch._dynamo  # DistributedDataParallel would import it, once in each rank


def cases(answer):
    average = answer.average_gradients

    class Branches(nn.Module):
        """Rank 1 leaves out a layer in some steps; one layer is frozen."""

        def __init__(self, width):
            super().__init__()
            self.first, self.extra = nn.Linear(3, width), nn.Linear(width, width)
            self.frozen, self.last = nn.Linear(width, width).requires_grad_(False), nn.Linear(width, 2)

        def forward(self, x, leave_out):
            x = torch.tanh(self.first(x))
            x = x if leave_out else x + self.extra(x)
            return self.last(torch.tanh(self.frozen(x)))

    def like_ddp():
        torch.manual_seed(SEED)
        mine = Branches(int(torch.randint(3, 9, ()))).double()
        twin = nn.parallel.DistributedDataParallel(copy.deepcopy(mine), find_unused_parameters=True)
        optimizers = [torch.optim.SGD(m.parameters(), lr=0.3, momentum=0.9) for m in (mine, twin)]
        generator = torch.Generator().manual_seed(2 * SEED + rank)
        worst = 0.0
        for step in range(4):
            x = torch.randn(5, 3, generator=generator, dtype=torch.float64)
            y = torch.randint(2, (5,), generator=generator)
            for model, optimizer in zip((mine, twin), optimizers):
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(x, rank == 1 and step % 2 == 1), y).backward()
                if model is mine:
                    average(mine)
                optimizer.step()
            pairs = zip(mine.parameters(), twin.parameters())
            worst = max(worst, *((p - q).abs().max().item() for p, q in pairs))
        return worst

    yield "ddp", like_ddp
'''


def test_hidden_like_ddp(average_gradients, source, seed):
    error = max(RANKS.values(f"SEED = {seed}\n{_DDP}", source, "ddp"))
    assert error < 1e-12, f"after four steps in float64, the weights differ from those of DDP by {error:.1e}"
