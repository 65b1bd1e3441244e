import random

from torchbook.practice import ward
from torchbook.practice.ranks import Ranks

RANKS = Ranks(world=2, limit=4, case_seconds=20, seconds=60.0)
AGAINST = {
    "collectives-reordered": "each rank makes one and the same call over and over; count the calls of each",
    "overflow": "the infinity comes from the sensor, and no weight ever has it",
    "seed-not-set": "the ranks start with the same weights, and hang in every run",
    "stale-workers": "each rank makes its own batches in its own process",
    "gradients-not-cleared": "gradients are cleared in every step that is made",
    "device-mismatch": "all is on the CPU, and no message speaks of devices",
    "wrong-reduction-axis": "one long vector is reduced over ranks, and there is no axis to be wrong",
}

_COMMON = """
def made(which, bad, steps):
    generator = torch.Generator().manual_seed(10 + which)
    for step in range(steps):
        x = torch.randn(8, 3, generator=generator)
        y = (1 + which) * x.sum(1, keepdim=True)
        if step in bad:
            x[5, 1] = bad[step]
        yield x, y


def flat(model):
    return [w for p in model.parameters() for w in p.flatten().tolist()]


def meant(bad, steps):
    '''One process that knows the batches of all.'''
    torch.manual_seed(0)
    model, losses = nn.Linear(3, 1), [[] for _ in bad]
    for batches in zip(*[made(which, one, steps) for which, one in enumerate(bad)]):
        found = [nn.functional.mse_loss(model(x), y) for x, y in batches]
        if not torch.stack(found).isfinite().all():
            continue
        gradients = torch.autograd.grad(sum(found) / len(found), list(model.parameters()))
        with torch.no_grad():
            for p, g in zip(model.parameters(), gradients):
                p -= 0.1 * g
        for own, loss in zip(losses, found):
            own.append(loss.item())
    return losses, flat(model)


def pair(answer, bad, steps):
    wanted, weights = meant(bad[: dist.get_world_size()], steps)
    torch.manual_seed(0)
    model = nn.Linear(3, 1)
    found = [float(loss) for loss in answer.train(model, made(rank, bad[rank], steps), lr=0.1)]
    return {"found": found, "wanted": wanted[rank], "weights": flat(model), "expected": weights}
"""

_CASES = (
    _COMMON
    + """
def cases(answer):
    yield "healthy", lambda: pair(answer, [{}, {}], 4)
    yield "one", lambda: pair(answer, [{}, {1: float("inf")}], 4)
"""
)


def test_diagnosis(diagnosis):
    ward.confirm(
        diagnosis, "ward-x10", "0fbf78ab6803c857", AGAINST, "does it explain why rank 0 waits, and rank 1 does not?"
    )


def test_every_rank_finishes(diagnosis, train, source):
    diagnosis()
    try:
        ranks = RANKS.values(_CASES, source, "one")
    except AssertionError as error:
        raise AssertionError(
            f"of 4 batches each, rank 1 has a bad one, and not all ranks come to the end: {error}"
        ) from None
    counts = [len(one["found"]) for one in ranks]
    assert counts == [3, 3], f"of 4 batches each, one of rank 1 is bad: all make 3 steps, not {counts}"


def test_left_out_by_all(diagnosis, train, source):
    diagnosis()
    for case, what in (("healthy", "without a bad batch"), ("one", "with one bad batch on rank 1")):
        _same(RANKS.values(_CASES, source, case), what)


def _same(ranks, what):
    for rank, one in enumerate(ranks):
        for name, found, expected in (
            ("losses", one["found"], one["wanted"]),
            ("weights", one["weights"], one["expected"]),
        ):
            same = len(found) == len(expected) and all(
                abs(f - e) <= 1e-4 * (1 + abs(e)) for f, e in zip(found, expected, strict=True)
            )
            assert same, f"{what}, rank {rank} ends with other {name} than one process that leaves out the same steps"


def test_hidden_bad_batches(diagnosis, train, source, seed):
    diagnosis()
    inf, nan = 'float("inf")', 'float("nan")'
    draw = random.Random(seed)
    some = [", ".join(f"{step}: {draw.choice((inf, nan))}" for step in draw.sample(range(5), 2)) for _ in range(2)]
    bad = {
        "in the first step of rank 0": f"[{{0: {inf}}}, {{}}]",
        "in the last step of rank 1": f"[{{}}, {{4: {nan}}}]",
        "on both ranks": f"[{{{some[0]}}}, {{{some[1]}}}]",
        "on rank 0 only, in every step": f"[{{step: {nan} for step in range(5)}}, {{}}]",
    }
    cases = f"{_COMMON}\ndef cases(answer):\n"
    for where, one in bad.items():
        cases += f"    yield {where!r}, lambda: pair(answer, {one}, 5)\n"
    cases += "    yield 'alone', lambda: pair(answer, [{}, {}], 5) if rank == 0 else None, 1\n"
    for where in bad:
        _same(RANKS.values(cases, source, where), f"with bad batches {where}")
    _same(RANKS.values(cases, source, "alone")[:1], "with a single rank")
