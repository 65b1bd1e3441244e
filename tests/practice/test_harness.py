"""The harness: states and messages of checks, fixtures, seeds, the time limit."""

import signal
import threading
import time

import numpy as np
import pytest
import torch

from torchbook.practice import harness

CHECKS = """
import torch

EPSILON = 1e-6

def helper(value):
    return value + EPSILON

def test_sum(add):
    assert add(1, 2) == 3, "a sum is the number of both together"

def test_negative(add, sign):
    assert add(-1, 0) == sign

def test_hidden_random(add, reference, seed):
    a, b = torch.randn(2, generator=torch.Generator().manual_seed(seed))
    assert add(a, b) == reference.add(a, b), "differs from the reference"
"""
REFERENCE = "def add(a, b):\n    return a + b\n\nsign = -1\n"


def answer(source: str) -> dict[str, object]:
    names: dict[str, object] = {}
    exec(compile(source, "<answer>", "exec"), names)
    return names


def run(checks: str, learner: str | dict[str, object], **options: object) -> dict[str, harness.Outcome]:
    names = answer(learner) if isinstance(learner, str) else learner
    arguments = {"reference": None, "seed": 0, "source": "", "seconds": 10.0} | options
    return {outcome.name: outcome for outcome in harness.run(checks, names, **arguments)}  # type: ignore[arg-type]


def states(checks: str, learner: str, **options: object) -> list[str]:
    return [outcome.state for outcome in run(checks, learner, **options).values()]


def test_checks_are_found_in_order_with_their_parameters() -> None:
    checks = harness.checks_of(CHECKS)
    assert [(check.name, check.parameters, check.hidden) for check in checks] == [
        ("test_sum", ("add",), False),
        ("test_negative", ("add", "sign"), False),
        ("test_hidden_random", ("add", "reference", "seed"), True),
    ]
    assert CHECKS.splitlines()[checks[1].line - 1].startswith("def test_negative")


def test_a_parameter_with_a_default_is_not_asked_for() -> None:
    assert harness.checks_of("def test_a(f, n=3, *, g, h=1): ...")[0].parameters == ("f", "g")


def test_the_reference_passes() -> None:
    assert states(CHECKS, REFERENCE, reference=REFERENCE) == ["passed"] * 3


def test_a_refusal_carries_the_message_of_the_assertion() -> None:
    outcome = run(CHECKS, "def add(a, b): return a - b\nsign = -1", reference=REFERENCE)["test_sum"]
    assert (outcome.state, outcome.message) == ("refused", "a sum is the number of both together")


def test_a_refusal_without_a_message_says_something() -> None:
    assert run(CHECKS, "def add(a, b): return 3\nsign = -1")["test_negative"].message == "the check does not hold"


def test_a_stub_is_unsolved() -> None:
    assert states(CHECKS, "def add(a, b):\n    raise NotImplementedError\nsign = -1")[:2] == ["unsolved"] * 2


def test_not_implemented_with_a_message_is_an_error_with_that_message() -> None:
    outcome = run(CHECKS, "def add(a, b):\n    raise NotImplementedError('no kernel for this type')")["test_sum"]
    assert outcome.state == "error"
    assert "no kernel for this type" in outcome.message


def test_an_undefined_name_is_missing_and_named() -> None:
    outcomes = run(CHECKS, "def add(a, b): return a + b")
    assert (outcomes["test_negative"].state, outcomes["test_negative"].message) == ("missing", "`sign` is not defined")
    assert outcomes["test_sum"].state == "passed"


def test_an_error_names_the_learners_line_and_not_the_librarys() -> None:
    source = "import json\n\ndef add(a, b):\n    return json.loads('{')\n"
    outcome = run(CHECKS, source)["test_sum"]
    assert outcome.state == "error"
    assert outcome.message.startswith("JSONDecodeError: ")
    assert outcome.message.endswith("(line 4 of your code)")


def test_an_error_within_the_checks_names_no_line() -> None:
    assert run(CHECKS, "add = 3")["test_sum"].message == "TypeError: 'int' object is not callable"


@pytest.mark.parametrize("raised", ["SystemExit(3)", "KeyboardInterrupt", "BaseException('x')", "GeneratorExit"])
def test_no_exception_escapes(raised: str) -> None:
    assert states(CHECKS, f"def add(a, b): raise {raised}\nsign = 1")[:2] == ["error", "error"]


def test_an_exception_that_cannot_be_shown_is_named() -> None:
    source = "class Odd(Exception):\n    def __str__(self): raise SystemExit\ndef add(a, b): raise Odd"
    assert run(CHECKS, source)["test_sum"].message.startswith("Odd: ")


def test_endless_recursion_is_an_error() -> None:
    assert run(CHECKS, "def add(a, b): return add(a, b)")["test_sum"].message.startswith("RecursionError")


def test_a_long_message_is_cut() -> None:
    assert len(run(CHECKS, "def add(a, b): raise ValueError('x' * 10**6)")["test_sum"].message) == harness.MESSAGE


def test_checks_that_do_not_load_say_so() -> None:
    outcome = run("import absent_module\n\ndef test_a(): ...", "")["test_a"]
    assert outcome.state == "error"
    assert "No module named 'absent_module'" in outcome.message


def test_only_the_checks_asked_for_run() -> None:
    assert list(run(CHECKS, REFERENCE, only={"test_negative"})) == ["test_negative"]


def test_a_check_that_needs_the_reference_does_not_run_without() -> None:
    assert run(CHECKS, REFERENCE)["test_hidden_random"].state == "error"


def test_source_is_the_learners_text() -> None:
    assert states("def test_a(source): assert 'for' not in source, 'no loop'", "", source="x = 1") == ["passed"]


def test_a_check_may_define_what_needs_its_module() -> None:
    checks = (
        "from __future__ import annotations\nimport dataclasses\n@dataclasses.dataclass\nclass P:\n    x: int = 1\n"
        "def test_a(): assert P().x == 1"
    )
    assert states(checks, "") == ["passed"]


# Seeds.


def test_every_check_starts_from_the_seed() -> None:
    checks = "\n".join(
        f"def test_{name}(seen):\n    import random, numpy, torch\n"
        "    seen.append((random.random(), float(numpy.random.rand()), torch.rand(1).item()))"
        for name in "ab"
    )
    seen: list[tuple[float, ...]] = []
    run(checks, {"seen": seen}, seed=2**40 + 3)
    run(checks, {"seen": seen}, seed=4)
    assert seen[0] == seen[1] != seen[2] == seen[3]


def test_the_learners_generators_continue_as_if_nothing_was_drawn() -> None:
    torch.manual_seed(1)
    np.random.seed(1)
    expected = torch.rand(2), np.random.rand(2)
    torch.manual_seed(1)
    np.random.seed(1)
    first = torch.rand(1), np.random.rand()
    run("def test_a():\n    import numpy, torch\n    torch.rand(5); numpy.random.rand(5)", "")
    assert torch.equal(torch.cat([first[0], torch.rand(1)]), expected[0])
    assert [first[1], np.random.rand()] == list(expected[1])


# The time limit.

LOOP = "def add(a, b):\n    while True: pass\nsign = 1\n"
SWALLOWS = (
    "def add(a, b):\n    for _ in range(3):\n        try:\n            while True: pass\n        except {}: pass\n"
)


def test_a_loop_without_an_end_is_stopped_and_what_follows_does_not_run() -> None:
    outcomes = run(CHECKS, LOOP, seconds=0.2)
    assert [outcome.state for outcome in outcomes.values()] == ["time", "time", "error"]
    assert "0.2 s" in outcomes["test_sum"].message
    assert outcomes["test_negative"].message == "not run: the time was up"


@pytest.mark.parametrize("caught", ["Exception", "KeyboardInterrupt"])
def test_except_clauses_of_the_learner_do_not_catch_the_limit(caught: str) -> None:
    assert run(CHECKS, SWALLOWS.format(caught), seconds=0.2)["test_sum"].state == "time"


def test_a_limit_that_was_swallowed_comes_again() -> None:
    start = time.monotonic()
    run(CHECKS, SWALLOWS.format("BaseException") + "    while True: pass\n", only={"test_sum"}, seconds=0.2)
    assert time.monotonic() - start < 5


def test_the_limit_ends_a_sleep() -> None:
    assert run("import time\ndef test_a(): time.sleep(60)", "", seconds=0.1)["test_a"].state == "time"


def test_the_limit_holds_outside_of_the_main_thread() -> None:
    results: list[str] = []
    thread = threading.Thread(target=lambda: results.append(run(CHECKS, LOOP, seconds=0.2)["test_sum"].state))
    thread.start()
    thread.join(20)
    assert results == ["time"]


def test_the_limit_holds_without_setitimer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(signal, "setitimer")
    assert run(CHECKS, LOOP, seconds=0.2)["test_sum"].state == "time"


def test_the_previous_handler_and_timer_are_restored() -> None:
    def mine(*_: object) -> None: ...

    previous = signal.signal(signal.SIGALRM, mine)
    signal.setitimer(signal.ITIMER_REAL, 100)
    try:
        run(CHECKS, REFERENCE)
        assert signal.getsignal(signal.SIGALRM) is mine
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 100
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
