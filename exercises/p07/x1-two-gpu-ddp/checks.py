from torchbook.practice.ranks import Ranks

RANKS = Ranks(world=2)

# The model keeps what it sees; the first feature of a row is its number. Rows of the dataset are followed until they
# are sent to a device, and graphs are counted as long as anything holds them.
_COMMON = """
import copy, pathlib, tempfile, time, weakref
from numbers import Real

import torch._dynamo  # DistributedDataParallel would import it, once in each rank
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves
from torch.utils.data import TensorDataset

seen, held, graphs = [], [], weakref.WeakSet()


class Counted(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        graphs.add(ctx)
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient


class Followed(TorchFunctionMode):
    '''Finds tensors that are still where the dataset is when they meet tensors on the device of the model.'''

    def __init__(self, start):
        super().__init__()
        self.left, self.met = {id(t): t for t in start}, set()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        given = [t for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)]
        name, named = func.__name__, kwargs or {}
        goes = "device" in named or name in ("cpu", "cuda", "type_as", "copy_", "__setitem__")
        goes |= name == "to" and any(isinstance(a, torch.device | str | torch.Tensor) for a in args[1:])
        left = not goes and any(id(t) in self.left for t in given)
        if left and name != "__getitem__" and any(t.dim() and id(t) not in self.left for t in given):
            self.met.add(name.strip("_"))
            left = False
        out = func(*args, **named)
        for t in tree_leaves(out):
            if isinstance(t, torch.Tensor):
                self.left.pop(id(t), None)  # `to` returns the same tensor if it need not move it
                if left:
                    self.left[id(t)] = t
        return out


class Seeing(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(4, 6), nn.Linear(6, 3)

    def forward(self, x):
        if self.training:
            held.append(len(graphs))
            seen.append(x[:, 0].round().long().tolist())
        return self.last(Counted.apply(torch.tanh(self.first(x * torch.tensor([0.05, 1.0, 1.0, 1.0])))))


def numbered(rows):
    torch.manual_seed(3)
    x = torch.randn(rows, 4)
    x[:, 0] = torch.arange(rows)
    return TensorDataset(x, torch.randint(3, (rows,)))


def trained(answer, name, rows, **how):
    '''Runs the learner's training, and measures all that the checks ask about.'''
    dataset, path = numbered(rows), folder / f"{name}.pt"
    torch.manual_seed(10 + rank)
    model = Seeing()
    start = {key: value.clone() for key, value in model.state_dict().items()}
    saving, saved = torch.save, []

    def save(what, where, *rest, **more):
        saved.append(type(what).__name__)
        time.sleep(0.5 * (rank == 0))
        saving(what, where, *rest, **more)

    seen.clear(), held.clear(), graphs.clear()
    followed = Followed(dataset.tensors)
    torch.save = save
    activities = [torch.profiler.ProfilerActivity.CPU]
    try:
        with torch.profiler.profile(activities=activities, record_shapes=True) as prof, followed:
            losses = answer.train(model, dataset, lr=0.5, path=str(path), **how)
        there = path.exists()
    finally:
        torch.save = saving
    reduced = [event.input_shapes for event in prof.events() if event.name == "gloo:all_reduce"]
    numbers = sum(torch.Size(shape).numel() for shapes in reduced for shape in shapes)
    dist.barrier()
    mine = list(seen)
    everyone = [None] * dist.get_world_size()
    dist.all_gather_object(everyone, (mine, start))
    said = {
        "losses": [float(loss) for loss in losses],
        "types": sorted({type(loss).__name__ for loss in losses if not isinstance(loss, Real)}),
        "met": sorted(followed.met),
        "held": max(held, default=0),
        "seen": mine,
        "numbers": numbers,
        "saves": len(saved),
        "there": there,
        "size": sum(p.numel() for p in model.parameters()),
        "weights": [p.flatten()[:8].tolist() for p in model.parameters()],
    }
    try:
        keys = list(torch.load(path)) if path.exists() else []
    except Exception as error:
        keys = [f"{type(error).__name__} when it was loaded"]
    said |= {"keys": keys, "wanted": list(start)}
    return said | again(model, dataset, everyone, **how)


def again(model, dataset, everyone, *, epochs, batch_size, accumulate):
    '''Trains in one process, from rank 0's weights, with the batches that the ranks have seen.'''
    one = Seeing().eval()
    one.load_state_dict(everyone[0][1])
    x, y = dataset.tensors
    total, steps = [], len(everyone[0][0]) // accumulate
    for step in range(steps):
        part = slice(step * accumulate, (step + 1) * accumulate)
        rows = [row for batches, _ in everyone for batch in batches[part] for row in batch]
        loss = nn.functional.cross_entropy(one(x[rows]), y[rows])
        gradients = torch.autograd.grad(loss, list(one.parameters()))
        with torch.no_grad():
            for p, g in zip(one.parameters(), gradients):
                p -= 0.5 * g
        total.append((loss.item() * len(rows), len(rows)))
    each = max(steps // epochs, 1)
    losses = []
    for epoch in range(epochs):
        part = total[epoch * each : (epoch + 1) * each] or [(0.0, 1)]
        losses.append(sum(loss for loss, _ in part) / sum(rows for _, rows in part))
    worst = max((p - q).abs().max().item() for p, q in zip(model.parameters(), one.parameters()))
    return {"worst": worst, "wanted_losses": losses}
"""

_CASES = (
    _COMMON
    + """
def cases(answer):
    yield "plain", lambda: trained(answer, "plain", 24, epochs=2, batch_size=8, accumulate=1)
    yield "four", lambda: trained(answer, "four", 32, epochs=2, batch_size=16, accumulate=4)
"""
)


def _values(source, case="plain"):
    return RANKS.values(_CASES, source, case)


def test_same_weights(train, source):
    first, second = _values(source)
    assert first["weights"] == second["weights"], (
        "after training, the ranks have different weights: each of them has trained its own model"
    )


def test_every_row_once(train, source):
    first, second = (one["seen"] for one in _values(source))
    together = sorted(row for batches in (first, second) for batch in batches for row in batch)
    both = {row for batch in first[: len(first) // 2] for row in batch}
    both &= {row for batch in second[: len(second) // 2] for row in batch}
    assert not both, (
        f"in the first epoch, {len(both)} of 24 rows were used on both ranks: DDP does not split data, a sampler does"
    )
    assert together == sorted(2 * list(range(24))), (
        f"in two epochs of 24 rows, each row is used twice; you used {len(together)} rows in all, "
        f"{len(set(together))} of them different"
    )


def test_batch_size(train, source):
    for case, expected in (("plain", 4), ("four", 2)):
        sizes = {len(batch) for one in _values(source, case) for batch in one["seen"]}
        assert sizes == {expected}, (
            f"{'a batch of 8' if case == 'plain' else 'a batch of 16 in 4 micro-batches'} on two ranks means "
            f"{expected} rows in each forward pass of a rank, not {', '.join(map(str, sorted(sizes))) or 'none'}: "
            "`batch_size` counts the rows of all ranks together"
        )


def test_new_order(train, source):
    for rank, one in enumerate(_values(source)):
        rows = [row for batch in one["seen"] for row in batch]
        half = len(rows) // 2
        assert rows[:half] != rows[half:], f"rank {rank} uses the same rows in the same order in both epochs"
        assert rows[:half] != sorted(rows[:half]), f"rank {rank} uses its rows in the order of the dataset"


def test_one_process(train, source):
    for case in ("plain", "four"):
        worst = max(one["worst"] for one in _values(source, case))
        assert worst < 1e-4, (
            "one process with rank 0's weights and the same batches gets different weights"
            f"{', with 4 micro-batches a step' if case == 'four' else ''}; the largest difference is {worst:.1g}"
        )


def test_one_exchange_a_step(train, source):
    one = _values(source, "four")[0]
    steps, sent = 4, one["numbers"] / one["size"]
    assert sent > steps - 0.5, f"4 steps need 4 exchanges of all gradients, but there were {sent:.1f}"
    assert sent < 2 * steps, (
        f"4 steps of 4 micro-batches exchanged all gradients {sent:.0f} times: accumulation alone saves nothing, "
        "because DDP exchanges gradients in every backward pass"
    )


def test_mean_loss(train, source):
    first, second = _values(source)
    assert first["losses"] == second["losses"], "each rank returns the loss of its own rows, not the mean over all rows"
    assert not first["types"], f"the list holds numbers, not a {' or a '.join(first['types'])}"
    found, expected = first["losses"], first["wanted_losses"]
    assert len(found) == 2, f"two epochs give two losses, not {len(found)}"
    assert all(abs(f - e) < 1e-3 for f, e in zip(found, expected, strict=True)), (
        f"the mean losses over all rows are {', '.join(f'{e:.4f}' for e in expected)}, not "
        f"{', '.join(f'{f:.4f}' for f in found)}"
    )


def test_device(train, source):
    met = _values(source)[0]["met"]
    assert not met or "device_ids" in source, (  # with device_ids, DDP moves what goes through it
        f"rows of the dataset are on the CPU, but {', '.join(met)} gets them together with tensors on the "
        "model's device: nothing has moved them there, which fails on a GPU"
    )


def test_no_history(train, source):
    held = _values(source, "four")[0]["held"]
    assert held <= 4, (
        f"a forward pass begins while {held} graphs of earlier ones are kept, more than the 4 micro-batches of a step: "
        "a sum of losses keeps the graph of each loss, so memory grows from step to step"
    )


def test_one_writer(train, source):
    saves = [one["saves"] for one in _values(source)]
    assert saves != [1, 1], "both ranks wrote the same file: a program that reads it meanwhile may find half of it"
    assert saves == [1, 0], f"rank 0 saves once and rank 1 never, not {saves[0]} and {saves[1]} times"


def test_file_is_there(train, source):
    for rank, one in enumerate(_values(source)):
        assert one["there"], f"`train` returned on rank {rank} before the file was complete"


def test_plain_keys(train, source):
    one = _values(source)[0]
    assert one["keys"] == one["wanted"], (
        f"a model without a wrapper has the keys {', '.join(one['wanted'])}, but the file has "
        f"{', '.join(one['keys']) or 'none'}"
    )


_RANDOM = (
    _COMMON
    + """
import random

draw = random.Random(SEED)


def cases(answer):
    for number in range(2):
        accumulate = draw.choice([1, 2, 3])
        batch_size = 2 * accumulate * draw.randint(1, 4)
        how = dict(epochs=draw.randint(1, 3), batch_size=batch_size, accumulate=accumulate)
        yield f"{number}", lambda number=number, how=how: trained(answer, f"{number}", 3 * how["batch_size"], **how)
"""
)


def test_hidden_one_process(train, source, seed):
    for case in "01":
        for one in RANKS.values(f"SEED = {seed}\n{_RANDOM}", source, case):
            assert one["worst"] < 1e-4, "with different sizes, the weights differ from those of one process"
            found, expected = one["losses"], one["wanted_losses"]
            right = len(found) == len(expected) and all(
                abs(f - e) < 1e-3 for f, e in zip(found, expected, strict=False)
            )
            assert right, "with different sizes, the losses are wrong"
