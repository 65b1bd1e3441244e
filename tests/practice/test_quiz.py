"""Quizzes as Python: what is derived from their questions, and what is said of malformed ones."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import yaml

from tests.practice.conftest import QUIZ, SELF_TEST, Write
from torchbook.practice import harness
from torchbook.practice.exercise import Exercise, ExerciseError, load
from torchbook.practice.quiz import SITE, Reading, accepted, reading_list, tallies


def outcomes(exercise: Exercise, answer: str, checks: str | None = None) -> dict[str, tuple[str, str]]:
    names: dict[str, object] = {}
    exec(answer, names)
    results = harness.run(
        exercise.checks if checks is None else checks, names, reference=None, seed=0, source="", seconds=5
    )
    return {outcome.name: (outcome.state, outcome.message) for outcome in results}


def states(exercise: Exercise, answer: str) -> dict[str, str]:
    return {name: state for name, (state, _) in outcomes(exercise, answer).items()}


def test_the_reference_passes(quiz: Path) -> None:
    exercise = load(quiz)
    assert states(exercise, exercise.reference) == dict.fromkeys(["test_form", "test_planet", "test_word"], "passed")


def test_the_stub_is_unsolved(quiz: Path) -> None:
    exercise = load(quiz)
    assert states(exercise, exercise.stub) == dict.fromkeys(["test_form", "test_planet", "test_word"], "unsolved")


def test_the_stub_says_what_is_asked_for(quiz: Path) -> None:
    assert '"planet": "",  # "a" or "b"\n    "word": "",  # a few words or code' in load(quiz).stub


def test_every_wrong_answer_is_refused_by_its_check_and_together_they_trip_every_check(quiz: Path) -> None:
    exercise = load(quiz)
    for wrong in exercise.wrong:
        assert states(exercise, wrong.source)[wrong.check] == "refused", wrong.name
    assert {wrong.check for wrong in exercise.wrong} == set(exercise.check_names)


def test_a_wrong_choice_is_told_why_it_tempts(quiz: Path) -> None:
    results = outcomes(load(quiz), 'p09_x2 = {"planet": "A", "word": "t.cuda()"}')
    assert results["test_planet"] == ("refused", "planet: It only looks red.")
    assert results["test_word"] == ("refused", "word: It knows one device only.")


def test_any_other_wrong_answer_is_told_that_it_is_not_it(quiz: Path) -> None:
    results = outcomes(load(quiz), 'p09_x2 = {"planet": "b", "word": "move"}')
    assert results["test_word"] == ("refused", "word: That is not it.")


@pytest.mark.parametrize("word", ["to", ".to", " TO('cuda') "])
def test_a_short_answer_has_several_spellings(quiz: Path, word: str) -> None:
    assert states(load(quiz), f"p09_x2 = {{'planet': 'b', 'word': {word!r}}}")["test_word"] == "passed"


def test_one_answer_is_judged_without_the_others(quiz: Path) -> None:
    results = states(load(quiz), 'p09_x2 = {"planet": "b", "word": ""}')
    assert (results["test_planet"], results["test_word"]) == ("passed", "unsolved")


@pytest.mark.parametrize("answer", ["'ab'", "3", "None", "{'planet': 'bb', 'word': 'to'}", "{'planet': 7, 'word': 8}"])
def test_an_answer_of_another_form_is_refused_kindly(quiz: Path, answer: str) -> None:
    state, message = outcomes(load(quiz), f"p09_x2 = {answer}")["test_form"]
    assert state == "refused"
    assert "keep the dictionary" in message or "answer with one letter, a or b" in message


# In class.


def test_in_class_only_the_form_is_public(quiz: Path) -> None:
    exercise = load(quiz).for_class(3)
    assert exercise.check_names == ("test_form", "test_hidden_planet", "test_hidden_word")
    assert "test_form" in exercise.public_checks
    for secret in ("test_hidden", "Mars", "It only looks red", "cuda", r"(\.)?to"):
        assert secret not in exercise.public_checks


def test_the_public_part_runs_alone(quiz: Path) -> None:
    exercise = load(quiz).for_class(3)
    results = outcomes(exercise, exercise.reference, exercise.public_checks)
    assert {name: state for name, (state, _) in results.items()} == {"test_form": "passed"}


def test_the_order_of_options_is_the_classes_own_and_the_answer_moves_along(quiz: Path) -> None:
    exercise = load(quiz)
    classes = [exercise.for_class(seed) for seed in range(20)]
    assert {version.contract.questions[0].options[0].text for version in classes} == {"Mars", "Earth"}
    for version in classes:
        assert set(states(version, version.reference).values()) == {"passed"}
        letter = version.contract.questions[0].answer
        assert version.contract.questions[0].options["ab".index(letter)].text == "Earth"


def test_the_same_seed_gives_the_same_order(quiz: Path) -> None:
    assert load(quiz).for_class(5) == load(quiz).for_class(5)


def test_shuffling_keeps_every_option(quiz: Path) -> None:
    exercise = load(quiz)
    shuffled = exercise.in_class(random.Random(1)).contract.questions[0].options
    assert sorted(option.text for option in shuffled) == ["Earth", "Mars"]


def test_a_pattern_matches_in_full() -> None:
    assert not accepted(("to",), "auto")


BAD = {
    "both kinds": (("  accept:", "  options: [{text: a, why: b}]\n  accept:"), 17, "either `options` or `accept`"),
    "two right options": (("why: It only", "right: true, why: It only"), 12, "exactly one of them `right: true`"),
    "no example": (("  example: to\n", ""), 17, "has an `example` that is accepted"),
    "an example that is refused": (("  example: to\n", "  example: cpu\n"), 17, "does not match the example 'cpu'"),
    "tempting and accepted": (("example: x.cuda()", "example: to"), 17, "tempting 'to' must match its `match`"),
    "a pattern that is none": (("['(\\.)?to(\\(.*\\))?']", "['(to']"), 17, "'(to' is no regular expression"),
    "an unknown field": (("text: Mars", "txt: Mars"), 15, "questions.0.options.0.txt"),
}


@pytest.mark.parametrize(("change", "line", "what"), BAD.values(), ids=BAD.keys())
def test_a_malformed_question_is_complained_about(write: Write, change: tuple[str, str], line: int, what: str) -> None:
    assert change[0] in QUIZ
    folder = write({"exercise.md": QUIZ.replace(*change)}, "p09/x2-a-quiz", bare=True)
    with pytest.raises(ExerciseError) as raised:
        load(folder)
    complaint = str(raised.value).splitlines()[-1]
    assert complaint.startswith(f"exercises/p09/x2-a-quiz/exercise.md:{line}: questions.")
    assert what in complaint


# Self-tests.


@pytest.fixture
def self_test(write: Write) -> Exercise:
    return load(write({"exercise.md": SELF_TEST}, "p09/x2-a-quiz", bare=True))


def test_the_site_is_where_the_book_says(repo: Path) -> None:
    assert yaml.safe_load((repo / "_config.yml").read_text(encoding="utf-8"))["html"]["baseurl"] == SITE


@pytest.mark.parametrize(
    ("fields", "address"),
    [
        ({"page": "book/a"}, f"{SITE}/book/a.html"),
        ({"page": "book/a", "section": "b-c"}, f"{SITE}/book/a.html#b-c"),
        ({"url": "https://example.org/x#y"}, "https://example.org/x#y"),
    ],
    ids=["page", "section", "elsewhere"],
)
def test_what_to_read_has_an_address(fields: dict[str, str], address: str) -> None:
    assert Reading(title="It", **fields).address == address


def test_what_to_read_as_markdown(self_test: Exercise) -> None:
    assert reading_list(self_test.contract.topics) == (
        f"- The sky: [A page]({SITE}/book/sky.html#the-stars); [A site](https://example.org/sky)\n"
        f"- Some PyTorch: [Another page]({SITE}/book/torch.html)"
    )


def test_a_self_test_is_counted_by_topic(self_test: Exercise) -> None:
    counts = tallies(self_test.contract.questions, self_test.contract.topics, {"word"})
    assert [(tally.topic.name, tally.right, tally.asked) for tally in counts] == [("sky", 0, 1), ("torch", 1, 1)]


def test_the_stub_of_a_self_test_says_its_topics(self_test: Exercise) -> None:
    assert '    # The sky\n    "planet": "",  # "a" or "b"\n    # Some PyTorch\n    "word"' in self_test.stub


@pytest.mark.parametrize("answer", ["", " ", "?"])
def test_not_sure_is_no_wrong_answer(self_test: Exercise, answer: str) -> None:
    results = states(self_test, f"p09_x2 = {{'planet': {answer!r}, 'word': 'to'}}")
    assert (results["test_planet"], results["test_word"]) == ("unsolved", "passed")


def test_a_class_gets_the_topics_too(self_test: Exercise) -> None:
    exercise = self_test.for_class(3)
    assert exercise.contract.topics == self_test.contract.topics
    assert "# The sky" in exercise.stub


BAD_TOPICS = {
    "an unknown topic": (("topic: sky", "topic: sea"), "questions.0.topic: planet: its `topic` is one of: sky, torch"),
    "no topic": (("  topic: sky\n", ""), "questions.0.topic: planet: its `topic` is one of: sky, torch"),
    "a topic twice": (("- name: torch", "- name: sky"), "topics.1.name: 'sky' is there twice"),
    "a topic never asked": (("topic: torch", "topic: sky"), "topics.1.name: no question is about 'torch'"),
    "nowhere": ((", page: book/torch", ""), "topics.1.read.0: Value error, to read is either a `page`"),
    "a section of a site": (("url: 'https:", "section: a, url: 'https:"), "a `section` is one of a `page`"),
    "an address without https": (("'https://ex", "'http://ex"), "topics.0.read.1.url"),
}


@pytest.mark.parametrize(("change", "what"), BAD_TOPICS.values(), ids=BAD_TOPICS.keys())
def test_malformed_topics_are_complained_about(write: Write, change: tuple[str, str], what: str) -> None:
    assert change[0] in SELF_TEST
    folder = write({"exercise.md": SELF_TEST.replace(*change, 1)}, "p09/x2-a-quiz", bare=True)
    with pytest.raises(ExerciseError, match=r"exercise\.md:\d+: ") as raised:
        load(folder)
    assert what in str(raised.value)


def test_a_topic_without_topics_is_complained_about(write: Write) -> None:
    folder = write({"exercise.md": QUIZ.replace("- name: word\n", "- name: word\n  topic: x\n")}, "p09/x2-a", bare=True)
    with pytest.raises(ExerciseError, match="none, for lack of `topics`"):
        load(folder)
