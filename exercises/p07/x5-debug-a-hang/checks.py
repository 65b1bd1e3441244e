import random

from torchbook.practice.ranks import Ranks

RANKS = Ranks(world=2, limit=10, variables={"TORCH_FR_BUFFER_SIZE": "1000"})

_COMMON = """
def recorded():
    '''Returns the flight recorder's dump of a training in which rank 1 has one batch fewer, and leaves.'''
    store = dist.FileStore(str(folder / "recorded"), 2)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2, timeout=limit)
    dist.broadcast(torch.zeros(2, 5), 0)
    try:
        for _ in range(3 - rank):
            for gradient in (torch.zeros(2, 5), torch.zeros(2)):
                dist.all_reduce(gradient)
    except RuntimeError:
        pass  # rank 1 has closed the connection
    finally:
        dump = json.loads(torch._C._distributed_c10d._dump_fr_trace_json())
        dist.destroy_process_group()
    keys = "collective_seq_id", "profiling_name", "input_sizes", "input_dtypes", "is_p2p", "state", "process_group"
    return {"entries": [{key: entry[key] for key in keys} for entry in dump["entries"]]}


def batch(which, step):
    generator = torch.Generator().manual_seed(100 * which + step)
    x = torch.randn(4, 3, generator=generator)
    return x, (1 + which) * x.sum(1, keepdim=True)


def trained(answer, counts, target):
    torch.manual_seed(0)
    model, log = nn.Linear(3, 1), []
    batches = (batch(rank, step) for step in range(counts[rank]))
    answer.train(model, batches, lr=0.1, target=target, log=log)
    return {"log": [float(loss) for loss in log], "weights": flat(model)}


def flat(model):
    return [w for p in model.parameters() for w in p.flatten().tolist()]


def simulated(counts, target):
    '''Does what was meant, in one process.'''
    torch.manual_seed(0)
    model, log = nn.Linear(3, 1), []
    for step in range(min(counts)):
        losses = [nn.functional.mse_loss(model(x), y) for x, y in (batch(which, step) for which in range(len(counts)))]
        loss = sum(losses) / len(losses)
        gradients = torch.autograd.grad(loss, list(model.parameters()))
        with torch.no_grad():
            for p, g in zip(model.parameters(), gradients):
                p -= 0.1 * g
        log.append(loss.item())
        if loss < target:
            break
    return {"log": log, "weights": flat(model)}


def at_target(answer):
    '''Trains with a loss that is 1 in each step, on all ranks, and so never below the target of 1.'''
    model, log = nn.Linear(3, 1), []
    nn.init.zeros_(model.weight)
    nn.init.zeros_(model.bias)
    answer.train(model, [(torch.zeros(4, 3), torch.ones(4, 1))] * 3, lr=0.0, target=1.0, log=log)
    return [float(loss) for loss in log]


def pair(answer, counts, target):
    return {"found": trained(answer, counts, target), "wanted": simulated(counts[: dist.get_world_size()], target)}
"""

_CASES = (
    _COMMON
    + """
def cases(answer):
    yield "recorded", recorded, 0
    yield "even", lambda: pair(answer, (4, 4), 0.0)
    yield "uneven", lambda: pair(answer, (5, 3), 0.0)
    yield "stop", lambda: pair(answer, (30, 30), 0.8)
    yield "target", lambda: at_target(answer)
    yield "alone", lambda: pair(answer, (4, 4), 0.0) if rank == 0 else None, 1
"""
)


def _dump(first, *calls, p2p=()):
    """Return a dump whose first call has the given number; a call is a name, or a name and sizes."""
    entries = []
    for number, call in enumerate(calls, first):
        name, *sizes = call.split()
        entries.append(_entry(number, name, [int(size) for size in sizes] or [10]))
        entries += [_entry(n, "send", [1], True) for n, after in enumerate(p2p, 1) if after == number]
    return {"version": "2.10", "entries": entries}


def _entry(number, name, sizes, p2p=False, dtype="Float"):
    return {
        "record_id": number,
        "process_group": ["0", "default_pg"],
        "collective_seq_id": number,
        "p2p_seq_id": number if p2p else 0,
        "profiling_name": f"nccl:{name}",
        "input_sizes": [sizes],
        "input_dtypes": [dtype],
        "output_sizes": [sizes],
        "output_dtypes": [dtype],
        "state": "scheduled",
        "is_p2p": p2p,
    }


def _found(diagnose, dumps):
    found = diagnose(dumps)
    if found is None:
        return None
    number, ranks = found
    return int(number), sorted(int(rank) for rank in ranks)


def test_missing_call(diagnose):
    dumps = [_dump(1, *["all_reduce"] * count) for count in (5, 5, 3, 5)]
    found = _found(diagnose, dumps)
    assert found == (4, [2]), (
        f"ranks 0, 1 and 3 made 5 calls, but rank 2 made 3, so they wait for it in call 4: (4, [2]), not {found}"
    )
    found = _found(diagnose, [_dump(1, "barrier"), {"entries": []}])
    assert found == (1, [1]), f"rank 1 never called anything, and rank 0 called one barrier: (1, [1]), not {found}"


def test_other_call(diagnose):
    usual = _dump(1, "broadcast", "all_reduce", "all_reduce", "all_reduce")
    odd = _dump(1, "broadcast", "all_reduce", "barrier", "all_reduce")
    found = _found(diagnose, [usual, odd, usual])
    assert found == (3, [1]), (
        f"all ranks made 4 calls, but the third of rank 1 is a barrier where the others reduce: (3, [1]), not {found}"
    )


def test_other_size(diagnose):
    usual, odd = _dump(1, "all_reduce 4 5", "all_reduce 20"), _dump(1, "all_reduce 4 5", "all_reduce 10")
    found = _found(diagnose, [usual, usual, odd])
    assert found == (2, [2]), f"in call 2, rank 2 reduces 10 numbers and the others reduce 20: (2, [2]), not {found}"


def test_ring(diagnose):
    long = [f"all_reduce {10 + number % 3}" for number in range(60)]
    dumps = [_dump(21, *long[20:50]), _dump(31, *long[30:47]), _dump(26, *long[25:50])]
    found = _found(diagnose, dumps)
    assert found == (48, [1]), (
        "the buffers begin with calls 21, 31 and 26, and what came before is unknown; only rank 1 has no call 48: "
        f"(48, [1]), not {found}"
    )


def test_majority(diagnose):
    odd, usual = _dump(1, "all_reduce", "all_gather"), _dump(1, "all_reduce", "all_reduce")
    found = _found(diagnose, [odd, usual, usual])
    assert found == (2, [0]), f"two ranks reduce and rank 0 gathers, so look at rank 0: (2, [0]), not {found}"
    found = _found(diagnose, [odd, usual])
    assert found == (2, [0, 1]), f"of two ranks that differ, neither is the majority: (2, [0, 1]), not {found}"
    found = _found(diagnose, [odd, usual, usual, odd])
    assert found == (2, [0, 1, 2, 3]), f"two against two are no majority: (2, [0, 1, 2, 3]), not {found}"


def test_point_to_point(diagnose):
    calls = ["all_reduce", "all_reduce", "barrier"]
    found = _found(diagnose, [_dump(1, *calls, p2p=(1, 1, 2)), _dump(1, *calls), _dump(1, *calls[:2], p2p=(2, 2, 2))])
    assert found == (3, [2]), (
        f"sends are numbered separately, and only rank 2 has no collective number 3: (3, [2]), not {found}"
    )


def test_agreement(diagnose):
    calls = ["all_reduce 3", "all_gather 3", "barrier"]
    found = _found(diagnose, [_dump(1, *calls) for _ in range(4)])
    assert found is None, f"four ranks made the same three calls, so there is nothing to find: None, not {found}"
    sends = {"entries": [_entry(1, "send", [1], True)]}
    for dumps in ([{"entries": []}] * 3, [{"entries": []}, sends]):
        found = _found(diagnose, dumps)
        assert found is None, f"no rank has called a collective, so none is missing: None, not {found}"


def test_real_dumps(diagnose, source):
    found = _found(diagnose, RANKS.values(_CASES, source, "recorded"))
    assert found == (6, [1]), (
        f"after a broadcast, with two gradients per step, rank 0 made 3 steps and rank 1 made 2: (6, [1]), not {found}"
    )


def _right(source, case, why):
    """Check that both ranks finish, with the weights and the log of one process that does what was meant."""
    try:
        ranks = RANKS.values(_CASES, source, case)
    except AssertionError as error:
        raise AssertionError(f"{why} ({error})") from None
    for rank, one in enumerate(ranks):
        steps = len(one["wanted"]["log"])
        found, expected = one["found"]["log"], one["wanted"]["log"] if rank == 0 else []
        assert len(found) == len(expected), (
            f"on rank {rank}, the log should have {len(expected)} losses after {steps} steps, but it has {len(found)}"
        )
        assert all(abs(f - e) < 1e-4 * (1 + e) for f, e in zip(found, expected, strict=True)), (
            f"rank 0 logs the mean of the loss over the ranks: {expected[0]:.3f} first, not {found[0]:.3f}"
        )
        pairs = zip(one["found"]["weights"], one["wanted"]["weights"], strict=True)
        assert all(abs(f - e) < 1e-4 * (1 + abs(e)) for f, e in pairs), (
            f"after {steps} steps, the weights of rank {rank} are not those of one process with the batches of both"
        )


def test_uneven_batches(train, source):
    _right(
        source,
        "uneven",
        "rank 0 has 5 batches and rank 1 has 3, so one of them waits for a call that the other never makes",
    )


def test_log(train, source):
    _right(source, "even", "computing the mean for the log takes a collective, and not all ranks call it")


def test_stops_together(train, source):
    _right(source, "stop", "each rank looks at its own loss, so one leaves the loop before the other")


def test_at_the_target(train, source):
    found = RANKS.values(_CASES, source, "target")[0]
    assert found == [1.0] * 3, f"a mean of 1 is not below a target of 1, so all 3 steps are made, not {len(found)}"


def test_any_world(train, source):
    one = RANKS.values(_CASES, source, "alone")[0]
    found, expected = one["found"]["log"], one["wanted"]["log"]
    assert len(found) == len(expected) and all(
        abs(f - e) < 1e-4 * (1 + e) for f, e in zip(found, expected, strict=False)
    ), f"a single rank logs its losses as they are: {expected[0]:.3f} first, not {', '.join(f'{f:.3f}' for f in found)}"


def test_hidden_diagnose(diagnose, reference, seed):
    draw = random.Random(seed)
    for _ in range(60):
        world = draw.randint(2, 5)
        common = [draw.choice(["all_reduce 8", "all_reduce 9", "barrier", "broadcast 8"]) for _ in range(40)]
        dumps = []
        for _rank in range(world):
            calls = common[: draw.choice([30, 30, 30, 25, 28])]
            if draw.random() < 0.3:
                calls[draw.randrange(12, len(calls))] = "all_gather 8"
            if draw.random() < 0.2:
                calls.insert(draw.randrange(12, len(calls)), "barrier")
            first = draw.choice([1, 1, 8, 12])
            dumps.append(_dump(first, *calls[first - 1 :], p2p=[draw.randint(first, 25) for _ in range(3)]))
            if draw.random() < 0.1:
                dumps[-1]["entries"][-1]["input_dtypes"] = ["BFloat16"]
        found, expected = _found(diagnose, dumps), _found(reference.diagnose, dumps)
        assert found == expected, f"for {world} ranks, the answer is {expected}, not {found}"


def test_hidden_training(train, source, seed):
    draw = random.Random(seed)
    fewer, more = draw.randint(1, 4), draw.randint(5, 8)
    tried = [(draw.sample([fewer, more], 2), 0.0), ([more, more], draw.uniform(0.5, 3.0))]
    cases = f"{_COMMON}\ndef cases(answer):\n"
    for number, (counts, target) in enumerate(tried):
        cases += f"    yield '{number}', lambda: pair(answer, {counts}, {target})\n"
    for number, (counts, target) in enumerate(tried):
        first, second = RANKS.values(cases, source, str(number))
        where = f"with {counts[0]} and {counts[1]} batches and the target {target:.2f}"
        steps = len(first["wanted"]["log"])
        assert len(first["found"]["log"]) == steps, f"{where}, rank 0 must log {steps} steps"
        assert not second["found"]["log"], f"{where}, the log of rank 1 must stay empty"
        for one in (first, second):
            pairs = zip(one["found"]["weights"], one["wanted"]["weights"], strict=True)
            assert all(abs(f - e) < 1e-4 * (1 + abs(e)) for f, e in pairs), f"{where}, the weights are wrong"
