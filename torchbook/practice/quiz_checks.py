"""What the checks of all quizzes have in common; `torchbook.practice.quiz` makes those of each quiz from this source.

There `_LETTERS` and `_TABLE` are the quiz's own, and `answers` is the name of its dictionary. The form is checked
without the table of answers: in class the table is only in the hidden part.
"""

import re
from typing import TypedDict

NOT_SURE = "?"  # an answer that counts as none


class _Row(TypedDict):
    right: list[str]  # patterns
    why: list[tuple[str, str]]  # patterns, and what to say of an answer that is matched


_LETTERS: dict[str, str] = {}
_TABLE: dict[str, _Row] = {}


def _answer(answers: object, name: str) -> str:
    answer = answers.get(name, "") if isinstance(answers, dict) else ""
    if str(answer).strip() in ("", NOT_SURE):
        raise NotImplementedError  # which a check that is still unsolved raises: the harness knows it
    return str(answer).strip()


def _matches(pattern: str, answer: str) -> bool:
    return re.fullmatch(pattern, answer, re.IGNORECASE) is not None


def _mark(answers: object, name: str) -> None:
    answer, row = _answer(answers, name), _TABLE[name]
    why = next((why for pattern, why in row["why"] if _matches(pattern, answer)), "That is not it.")
    assert any(_matches(pattern, answer) for pattern in row["right"]), f"{name}: {why}"


def test_form(answers: object) -> None:
    assert isinstance(answers, dict), "keep the dictionary and fill in its values"
    for name, letters in _LETTERS.items():
        answer = _answer(answers, name)
        if letters:
            fits = len(answer) == 1 and answer.lower() in letters
            assert fits, f"{name}: answer with one letter, {' or '.join(letters)}"
        else:
            fits = len(answer) <= 200 and "\n" not in answer
            assert fits, f"{name}: answer in one short line"
