"""Every exercise of the book, in every variant: its checks accept what is right and refuse what is wrong."""

from __future__ import annotations

import ast
import contextlib
import random
import shutil
import warnings
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import pytest

from tests.exercises import warm
from torchbook.practice import harness
from torchbook.practice.exercise import HIDDEN, Exercise, Wrong, load
from torchbook.practice.harness import Outcome

EXERCISES = Path(__file__).resolve().parents[2] / "exercises"
SEEDS = (0, 1, 2)


@dataclass(frozen=True)
class Case:
    """An exercise as a learner or a class gets it."""

    name: str
    exercise: Exercise

    @cached_property
    def bench(self) -> harness.Bench:
        return harness.Bench(self.exercise.checks, self.exercise.reference)

    @property
    def slow(self) -> bool:
        """Whether a check costs a training, processes, or as much by the limit that it is given."""
        exercise = self.exercise
        return bool(exercise.data) or "processes" in exercise.needs or exercise.seconds >= 90

    @property
    def seeds(self) -> tuple[int, ...]:
        """Seeds under which each wrong answer is checked."""
        return SEEDS[:1] if self.slow else SEEDS

    @property
    def seeds_of_reference(self) -> tuple[int, ...]:
        """Seeds under which the reference is checked."""
        return SEEDS[:2] if self.slow else SEEDS

    def depending_on(self, seed: int) -> tuple[str, ...]:
        """The checks, after the first seed only those that look at the seed where checks are slow."""
        checks = self.bench.checks
        every = seed == SEEDS[0] or not self.slow
        return tuple(check.name for check in checks if every or "seed" in check.parameters)

    def outcomes(
        self, answer: str, seed: int, only: tuple[str, ...] | None = None, *, cold: bool = False
    ) -> dict[str, Outcome]:
        """What the checks say of an answer; `cold` as a learner would start them, else with processes kept warm."""
        source = self.exercise.prelude + answer
        with contextlib.nullcontext() if cold else warm.processes():
            learner = vars(harness.load(answer, "learner"))
            ran = self.bench.run(learner, seed=seed, source=source, only=only, seconds=self.exercise.seconds)
        return {outcome.name: outcome for outcome in ran}

    @cached_property
    def refusals(self) -> dict[tuple[str, str, int], Outcome]:
        """What checks said of wrong answers, kept because several tests ask for the same."""
        return {}

    def refusal(self, wrong: Wrong, check: str, seed: int) -> Outcome:
        key = wrong.name, check, seed
        if key not in self.refusals:
            with warm.headers(self.exercise):
                self.refusals[key] = self.outcomes(wrong.source, seed, (check,))[check]
        return self.refusals[key]

    def untripped(self) -> list[str]:
        """Checks that accept every wrong answer."""
        names = self.exercise.check_names
        return [name for name in names if not any(self.trips(wrong, name) for wrong in self.likeliest_first(name))]

    def likeliest_first(self, check: str) -> list[Wrong]:
        """The wrong answers: those meant for the check, then those meant for checks of the same functions."""
        asked = {one.name: set(one.parameters) - set(harness.FIXTURES) for one in self.bench.checks}
        return sorted(
            self.exercise.wrong,
            key=lambda wrong: (wrong.check != check, -len(asked[wrong.check] & asked[check])),
        )

    def trips(self, wrong: Wrong, check: str) -> bool:
        return self.refusal(wrong, check, self.seeds[0]).state == "refused"


@cache
def accepted(case_name: str, seed: int) -> dict[str, Outcome]:
    """How the checks took the reference, with each warning an error.

    With the first seed it is run as learners run it, without warm processes; of exercises that start processes this
    holds for the public checks only.
    """
    case = CASES[case_name]
    names = case.depending_on(seed)
    later = [name for name in names if "processes" in case.exercise.needs and name.startswith(HIDDEN)]
    cold = tuple(name for name in names if name not in later) if seed == SEEDS[0] else ()
    warmed = tuple(name for name in names if name not in cold)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = case.outcomes(case.exercise.reference, seed, cold, cold=True) if cold else {}
        return found | (case.outcomes(case.exercise.reference, seed, warmed) if warmed else {})


def cases(folder: Path) -> list[Case]:
    """The exercise itself, its variants, and for a quiz the form that a class gets."""
    base = load(folder)
    found = [Case(base.id, base)]
    found += [Case(f"{base.id}-{name}", base.variant(name)) for name in base.variants]
    if base.kind == "quiz":
        found.append(Case(f"{base.id}-class", base.in_class(random.Random(1))))
    return found


CASES = {case.name: case for folder in sorted(EXERCISES.iterdir()) if folder.is_dir() for case in cases(folder)}
EVERY = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
SEEDED = [(case, seed) for case in CASES.values() for seed in case.seeds_of_reference]
WRONG = [(case, wrong) for case in CASES.values() for wrong in case.exercise.wrong]


@pytest.mark.parametrize(("case", "seed"), SEEDED, ids=[f"{case.name}-{seed}" for case, seed in SEEDED])
def test_reference_is_accepted(case: Case, seed: int) -> None:
    found = {name: (o.state, o.message) for name, o in accepted(case.name, seed).items()}
    assert found
    assert found == dict.fromkeys(case.depending_on(seed), ("passed", ""))


@EVERY
def test_reference_takes_half_of_the_limit_at_most(case: Case) -> None:
    assert sum(o.seconds for o in accepted(case.name, SEEDS[0]).values()) < case.exercise.seconds / 2


@EVERY
def test_stub_is_unsolved(case: Case) -> None:
    states = {o.name: o.state for o in case.outcomes(case.exercise.stub, SEEDS[0]).values()}
    assert states == dict.fromkeys(case.exercise.check_names, "unsolved")


@EVERY
def test_nothing_at_all_is_missing(case: Case) -> None:
    states = {o.name: o.state for o in case.outcomes("", SEEDS[0]).values()}
    assert states == dict.fromkeys(case.exercise.check_names, "missing")


@pytest.mark.parametrize(("case", "wrong"), WRONG, ids=[f"{case.name}-{wrong.name}" for case, wrong in WRONG])
def test_wrong_answer_is_refused(case: Case, wrong: Wrong) -> None:
    for seed in case.seeds:
        outcome = case.refusal(wrong, wrong.check, seed)
        assert outcome.state == "refused", outcome
        assert outcome.message != "the check does not hold", "the check says nothing of the misconception"


@EVERY
def test_same_seed_gives_the_same_words(case: Case) -> None:
    for seed in case.seeds:
        wrong = case.exercise.wrong[seed % len(case.exercise.wrong)]
        again = case.outcomes(wrong.source, seed, (wrong.check,))[wrong.check]
        assert case.refusal(wrong, wrong.check, seed).message == again.message


@EVERY
def test_every_check_refuses_a_wrong_answer(case: Case) -> None:
    assert case.untripped() == []


@EVERY
def test_public_checks_run_alone(case: Case) -> None:
    public = case.exercise.public_checks
    assert HIDDEN not in public
    assert not any(isinstance(node, ast.Name) and node.id == "reference" for node in ast.walk(ast.parse(public)))
    names = {name for name in case.exercise.check_names if not name.startswith(HIDDEN)}
    alone = harness.Bench(public)
    assert {check.name for check in alone.checks} == names
    learner = vars(harness.load(case.exercise.stub, "learner"))
    with warm.processes():
        ran = alone.run(learner, seed=0, source=case.exercise.stub, seconds=case.exercise.seconds)
    assert {o.state for o in ran} == {"unsolved"}, "without the hidden part, a name is missing"


VARIANTS = [(CASES[case.exercise.id], case) for case in CASES.values() if case.exercise.variant_name]


@pytest.mark.parametrize(("base", "variant"), VARIANTS, ids=[variant.name for _, variant in VARIANTS])
def test_published_solution_is_refused_by_the_variant(base: Case, variant: Case) -> None:
    states = {o.state for o in variant.outcomes(base.exercise.reference, SEEDS[0]).values()}
    assert states != {"passed"}


def test_check_that_checks_nothing_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "p01-x3-manual-indexing"
    shutil.copytree(EXERCISES / folder.name, folder)
    checks = folder / "checks.py"
    tree = ast.parse(checks.read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "test_offset":
            node.body = [ast.Pass()]
    checks.write_text(ast.unparse(tree), encoding="utf-8")

    broken = Case("broken", load(folder))

    assert broken.untripped() == ["test_offset"]
    wrong = next(wrong for wrong in broken.exercise.wrong if wrong.check == "test_offset")
    assert broken.refusal(wrong, wrong.check, 0).state == "passed"
