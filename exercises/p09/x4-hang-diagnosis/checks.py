import random
import re

from torchbook.practice.ranks import Ranks

RANKS = Ranks(world=2, limit=5)

# A hang that is provoked, looked at, and ended by rank 1, which comes late.
_HANG = """
import faulthandler
import threading
import time

journal = []


def call(name, function, *args):
    entry = {"group": "world", "number": len(journal) + 1, "call": name, "done": False}
    journal.append(entry)
    function(*args)
    entry["done"] = True


def average(t):
    call("all_reduce", dist.all_reduce, t)


def load():
    while not ((folder / "looked0").exists() and (folder / "looked1").exists()): time.sleep(0.02)  # a slow disk


def look(seen):
    while rank == 0 and len(journal) < 3:
        time.sleep(0.02)
    time.sleep(0.4)  # it stands now
    with (folder / f"stack{rank}.txt").open("w") as file:
        faulthandler.dump_traceback(file, all_threads=True)
    seen.extend(dict(entry) for entry in journal)
    (folder / f"looked{rank}").touch()


def evidence():
    seen = []
    call("broadcast", dist.broadcast, torch.zeros(2), 0)
    average(torch.zeros(3))
    threading.Thread(target=look, args=(seen,)).start()
    if rank == 1:
        load()
    average(torch.zeros(3))
    return {"journal": seen, "stack": (folder / f"stack{rank}.txt").read_text()}


def cases(answer):
    yield "evidence", evidence
"""

_WORK = """
def cases(answer):
    def means():
        mine = {"loss": 2.0, "a": 1.0, "b": 3.0} if rank == 0 else {"b": 5.0, "c": 7.0, "loss": 4.0}
        return answer.means(mine)

    def nothing():
        return [answer.means({"x": 3.0} if rank == 0 else {}), answer.means({})]

    def same():
        return answer.means({"x": 1.0 + rank})

    def outcome(work):
        try:
            return {"value": answer.together(work)}
        except NotImplementedError:
            raise  # it is a RuntimeError, too
        except RuntimeError as error:
            return {"error": str(error)}

    def fails(where):
        def work():
            if rank in where:
                raise ValueError("the file is damaged")
            return 10 * rank

        return lambda: outcome(work)

    yield "means", means
    yield "nothing", nothing
    yield "same", same
    yield "none", fails([])
    yield "recorded", lambda: outcome(lambda: (torch.ones(2, requires_grad=True) * 3).requires_grad)
    yield "one", fails([1])
    yield "both", fails([0, 1])
    yield "alone", lambda: [answer.means({"x": 3.0}), answer.together(lambda: 5)], 1
"""

_C10D = "/usr/lib/python3.11/site-packages/torch/distributed/distributed_c10d.py"
_LOGGER = "/usr/lib/python3.11/site-packages/torch/distributed/c10d_logger.py"


def _dump(*threads):
    """The text of a dump; a thread is a list of (file, line, function), innermost first."""
    text = "Timeout (0:01:00)!\n"
    for number, frames in enumerate(threads):
        text += f"Thread 0x00007f2c1d2f9{number}40 (most recent call first):\n"
        text += "".join(f'  File "{file}", line {line} in {function}\n' for file, line, function in frames) + "\n"
    return text


def _stands(standing, dump, expected, why):
    found = tuple(standing(dump))
    assert found == expected, f"{why}: the answer is {expected}, not {found}"


def test_standing(standing):
    inside = [(_C10D, 3004, "all_reduce"), (_LOGGER, 83, "wrapper")]
    script = [("/data/me/train.py", 31, "average"), ("/data/me/train.py", 58, "<module>")]
    _stands(standing, _dump(inside + script), ("all_reduce", "/data/me/train.py:31"), "a wrapper is not a collective")
    inside = [
        (_C10D, 4817, "all_gather"),
        (_LOGGER, 83, "wrapper"),
        (_C10D, 3200, "all_gather_object"),
        (_LOGGER, 83, "wrapper"),
    ]
    _stands(
        standing,
        _dump(inside + script),
        ("all_gather_object", "/data/me/train.py:31"),
        "the script called all_gather_object, which calls all_gather",
    )


def test_standing_elsewhere(standing):
    helper = [("/usr/lib/python3.11/threading.py", 327, "wait"), ("/data/me/prefetch.py", 12, "fill")]
    reading = [("/usr/lib/python3.11/json/__init__.py", 293, "load"), ("/data/me/train.py", 20, "load")]
    _stands(
        standing,
        _dump(helper, reading),
        (None, "/data/me/train.py:20"),
        "the main thread, which is the last one, reads a file",
    )
    gathering = [(_C10D, 3004, "barrier"), ("/data/me/other.py", 5, "watch")]
    _stands(standing, _dump(gathering, reading), (None, "/data/me/train.py:20"), "only a helper thread is in a barrier")


def _journal(*calls, done=True):
    """A journal; a call is "group name". The last is done or not."""
    entries, numbers = [], {}
    for call in calls:
        group, name = call.split()
        numbers[group] = numbers.get(group, 0) + 1
        entries.append({"group": group, "number": numbers[group], "call": name, "done": True})
    if entries:
        entries[-1]["done"] = done
    return entries


def _waits(waiting, groups, journals, expected, why):
    found = {rank: (*one[:3], sorted(one[3])) for rank, one in waiting(groups, journals).items()}
    assert found == expected, f"{why}: the answer is {expected}, not {found}"


def _judged(verdict, groups, journals, expected, why):
    found = verdict(groups, journals)
    found = None if found is None else (found[0], list(found[1]))
    assert found == expected, f"{why}: the verdict is {expected}, not {found}"


_WORLD = {"world": [0, 1, 2]}
_PAIRS = {"world": [0, 1, 2, 3], "left": [0, 1], "right": [2, 3], "middle": [1, 2]}


def test_waiting(waiting):
    reduced = "world all_reduce"
    journals = [_journal(*[reduced] * 3, done=False), _journal(*[reduced] * 2), _journal(*[reduced] * 3, done=False)]
    expected = {0: ("world", 3, "all_reduce", [1]), 2: ("world", 3, "all_reduce", [1])}
    _waits(waiting, _WORLD, journals, expected, "ranks 0 and 2 have begun call 3, but rank 1 has not")
    journals = [
        _journal(reduced, "left barrier", done=False),
        _journal(*[reduced] * 2, done=False),
        _journal(reduced),
        [],
    ]
    expected = {0: ("left", 1, "barrier", [1]), 1: ("world", 2, "all_reduce", [0, 2, 3])}
    _waits(waiting, _PAIRS, journals, expected, "each group has its own count, and rank 3 has begun no call at all")


def test_absent(verdict):
    journals = [_journal("world barrier", "world barrier", done=False), [], _journal("world barrier", done=False)]
    _judged(verdict, _WORLD, journals, ("absent", [1]), "rank 1 has begun no call at all, and the others wait for it")
    journals = [_journal("world barrier", done=False), [], []]
    _judged(verdict, _WORLD, journals, ("absent", [1, 2]), "two ranks are in no call, and rank 0 waits for both")


def test_chain(verdict):
    journals = [
        _journal("left all_reduce", done=False),
        _journal("middle all_reduce", done=False),
        _journal("right all_reduce", done=False),
        _journal("world barrier"),
    ]
    _judged(
        verdict,
        _PAIRS,
        journals,
        ("absent", [3]),
        "0 waits for 1, 1 for 2, and 2 for 3, in three groups: look at the end of the chain",
    )


def test_mismatch(verdict):
    journals = [
        _journal("world all_reduce", f"world {name}", done=False) for name in ("barrier", "barrier", "broadcast")
    ]
    _judged(
        verdict,
        _WORLD,
        journals,
        ("mismatch", [0, 1, 2]),
        "all ranks are in call number 2, but not in the same collective",
    )
    journals = [[] for _ in range(9)]
    journals[1], journals[8] = _journal("pair barrier", done=False), _journal("pair all_reduce", done=False)
    _judged(verdict, {"pair": [8, 1]}, journals, ("mismatch", [1, 8]), "two of nine ranks, in a sorted list")


def test_cycle(verdict):
    groups = {"a": [0, 1], "b": [0, 1], "world": [0, 1, 2]}
    journals = [
        _journal("a all_reduce", done=False),
        _journal("b all_reduce", done=False),
        _journal("world barrier", done=False),
    ]
    _judged(
        verdict,
        groups,
        journals,
        ("cycle", [0, 1]),
        "0 waits for 1 in group a, and 1 for 0 in group b; 2 waits for both, but nobody waits for 2",
    )


def test_nothing(verdict):
    _judged(verdict, _WORLD, [_journal("world barrier", done=False)] * 3, None, "all have begun the same call")
    _judged(verdict, _WORLD, [_journal("world barrier")] * 3, None, "all calls are done")
    _judged(verdict, _WORLD, [[], [], []], None, "there are no calls")


def test_real_hang(standing, waiting, verdict):
    standing(_dump([("train.py", 1, "f")])), waiting({}, []), verdict({}, [])
    seen = RANKS.values(_HANG, "", "evidence")
    rows = _HANG.splitlines()
    line = [
        1 + next(n for n, row in enumerate(rows) if text in row) for text in ("    function(*args)", "# a slow disk")
    ]
    for rank, (expected, one) in enumerate(zip(("all_reduce", None), seen, strict=True)):
        _stands(standing, one["stack"], (expected, f"cases.py:{line[rank]}"), f"rank {rank} of a hang on this machine")
    groups, journals = {"world": [0, 1]}, [one["journal"] for one in seen]
    expected = {0: ("world", 3, "all_reduce", [1])}
    _waits(waiting, groups, journals, expected, "rank 0 has begun its third call, and rank 1 loads data")
    _judged(verdict, groups, journals, ("absent", [1]), "rank 1 loads data, and rank 0 waits for it")


def _said(source, case, why):
    try:
        return RANKS.values(_WORK, source, case)
    except AssertionError as error:
        raise AssertionError(f"{why} ({re.sub(r'[0-9]+ ?ms', 'some time', str(error))})") from None


def test_means(means, source):
    why = "each rank goes through its own dictionary, but the ranks' dictionaries differ in their order or their length"
    expected = {"loss": 3.0, "a": 1.0, "b": 4.0, "c": 7.0}
    for rank, found in enumerate(_said(source, "means", why)):
        assert sorted(found) == sorted(expected), f"rank {rank} gets {', '.join(found)}, not all metrics of all ranks"
        wrong = [name for name, value in expected.items() if abs(found[name] - value) > 1e-4]
        assert not wrong, f"rank {rank}: the mean of {wrong[0]!r}, over the ranks that have it, is {expected[wrong[0]]}"
    for found in _said(source, "same", why):
        assert abs(found["x"] - 1.5) < 1e-4, f"the mean of 1 and 2 is 1.5, not {found['x']}"
    for found in _said(source, "nothing", "rank 1 has no metric at all, but rank 0 has one"):
        assert found == [{"x": 3.0}, {}], (
            f"first the one metric of rank 0, and then none, because nobody has any; found {found}"
        )


def test_together(together, source):
    why = "rank 1 raised an error, but rank 0 waits for it"
    found = _said(source, "none", "nobody has raised an error")
    assert found == [{"value": 0}, {"value": 10}], "without an error, each rank gets the result of its own work"
    found = _said(source, "recorded", "nobody has raised an error")
    assert found == [{"value": True}] * 2, (
        "`work` must run as it would without `together`, with gradients recorded as usual"
    )
    for case, numbers in (("one", [1]), ("both", [0, 1])):
        for rank, one in enumerate(_said(source, case, why)):
            assert "error" in one, f"an error was raised on ranks {numbers}, but rank {rank} goes on"
            late = re.search("time|closed|reset", one["error"], re.IGNORECASE)
            assert not late, f"rank {rank} waits for a rank that raised an error, until it times out"
            named = {int(number) for number in re.findall(r"[0-9]+", one["error"])}
            assert named >= set(numbers), (
                f"ranks {numbers} failed, and the message of rank {rank} must have all these numbers"
            )
            assert 0 in numbers or 0 not in named, f"the message of rank {rank} names rank 0, but only rank 1 failed"


def test_hidden_alone(means, together, source):
    found = _said(source, "alone", "a single rank waits for nobody")
    assert found == [[{"x": 3.0}, 5]] * 2, "a single rank gets its own metrics and its own result"


def test_hidden_verdict(waiting, verdict, reference, seed):
    draw = random.Random(seed)
    for _ in range(80):
        world = draw.randint(2, 5)
        groups = {"world": list(range(world))}
        for name in "abc":
            groups[name] = sorted(draw.sample(range(world), draw.randint(2, world)))
        journals = []
        for one in range(world):
            mine = sorted(name for name in groups if one in groups[name])
            calls = [
                f"{draw.choice(mine)} {draw.choice(['all_reduce'] * 4 + ['barrier'])}"
                for _ in range(draw.randint(0, 3))
            ]
            journals.append(_journal(*calls, done=draw.random() < 0.3))
        _waits(waiting, groups, journals, reference.waiting(groups, journals), "the ranks that wait")
        _judged(verdict, groups, journals, reference.verdict(groups, journals), "several groups")
