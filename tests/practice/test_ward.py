"""The ward's list of diseases, and what is said of a diagnosis."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from torchbook.practice import ward

RIGHT = ward.digest("ward-x1", "overflow")


def says(answer: object) -> Callable[[], str]:
    return lambda: answer  # type: ignore[return-value]


def test_the_list_is_long_enough_for_guessing_to_be_work() -> None:
    assert len(ward.DISEASES) > 25
    assert list(ward.DISEASES) == sorted(ward.DISEASES)
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", name) for name in ward.DISEASES)
    assert all(line[0].isupper() or line.startswith("torch.") for line in ward.DISEASES.values())
    assert all(line.endswith(".") and len(line) < 110 for line in ward.DISEASES.values())
    assert len(set(ward.DISEASES.values())) == len(ward.DISEASES)


def test_no_two_diseases_and_no_two_patients_have_the_same_digest() -> None:
    digests = {ward.digest(f"ward-x{n}", name) for n in range(1, 15) for name in ward.DISEASES}
    assert len(digests) == 14 * len(ward.DISEASES)


@pytest.mark.parametrize("answer", ["overflow", " Overflow\n", "OVERFLOW"])
def test_the_right_diagnosis_is_accepted(answer: str) -> None:
    ward.confirm(says(answer), "ward-x1", RIGHT)


@pytest.mark.parametrize("answer", ["wrong mode", "wrong_mode", "Wrong-Mode"])
def test_a_name_may_be_written_in_words(answer: str) -> None:
    ward.confirm(says(answer), "ward-x2", ward.digest("ward-x2", "wrong-mode"))


def test_of_another_it_is_said_what_speaks_against_it() -> None:
    against = {"dead-units": "every unit is active for some example"}
    with pytest.raises(AssertionError, match=r"^not dead-units: every unit is active"):
        ward.confirm(says("dead-units"), "ward-x1", RIGHT, against)
    with pytest.raises(AssertionError, match=r"^not leaky-split: what the patient shows") as raised:
        ward.confirm(says("leaky-split"), "ward-x1", RIGHT, against)
    assert "overflow" not in str(raised.value)
    with pytest.raises(AssertionError, match=r"^not leaky-split: look at the weights"):
        ward.confirm(says("leaky-split"), "ward-x1", RIGHT, against, otherwise="look at the weights")


def test_a_digest_is_of_one_patient() -> None:
    with pytest.raises(AssertionError, match=r"^not overflow: "):
        ward.confirm(says("overflow"), "ward-x2", RIGHT)


def test_what_is_not_on_the_list_is_told_so() -> None:
    with pytest.raises(AssertionError, match=r"'overflows' is not on the list, .*; is it overflow\?$"):
        ward.confirm(says("overflows"), "ward-x1", RIGHT)
    with pytest.raises(AssertionError, match=r"'measles' is not on the list, torchbook\.practice\.ward\.DISEASES$"):
        ward.confirm(says("measles"), "ward-x1", RIGHT)


def test_a_diagnosis_is_a_text() -> None:
    with pytest.raises(AssertionError, match=r"returns a name of DISEASES, a text, not a NoneType"):
        ward.confirm(says(None), "ward-x1", RIGHT)


def test_a_stub_stays_unsolved() -> None:
    def diagnosis() -> str:
        raise NotImplementedError

    with pytest.raises(NotImplementedError):
        ward.confirm(diagnosis, "ward-x1", RIGHT)


def test_the_standard_library_is_enough() -> None:
    code = Path(ward.__file__).read_text(encoding="utf-8")
    completed = subprocess.run([sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, timeout=60)
    assert (completed.returncode, completed.stderr) == (0, "")
