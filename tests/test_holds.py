"""Evidence of sentences, recorded in a cell."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from torchbook import _holds, holds, notices


@pytest.fixture
def records(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, Any]]]:
    """What was recorded."""
    calls: list[dict[str, Any]] = []
    monkeypatch.setattr(_holds, "display", lambda data, metadata, raw: calls.append(metadata[_holds.KEY]))
    monkeypatch.delenv(_holds.STRICT, raising=False)
    yield calls
    notices.clear()


@pytest.mark.parametrize(
    ("value", "relation", "bound"),
    [(1, "==", 1), (1, "!=", 2), (1, "<", 2), (2, "<=", 2), (2, ">", 1), (2, ">=", 2), ("a", "in", "abc")],
)
def test_what_is_so_is_recorded(records: list[dict[str, Any]], value: Any, relation: str, bound: Any) -> None:
    holds("it", value, relation, bound)
    assert (records[0]["name"], records[0]["relation"], records[0]["held"]) == ("it", relation, True)


@pytest.mark.parametrize(
    ("value", "relation", "bound"),
    [
        (2, "==", 1),
        (1, "!=", 1),
        (2, "<", 2),
        (3, "<=", 2),
        (1, ">", 1),
        (1, ">=", 2),
        ("d", "in", "abc"),
        ([], "is", []),
    ],
)
def test_what_is_not_so_fails(records: list[dict[str, Any]], value: Any, relation: str, bound: Any) -> None:
    with pytest.raises(AssertionError, match=r"it: .* does not hold"):
        holds("it", value, relation, bound)
    assert not records


def test_nothing_holds_of_what_is_no_number(records: list[dict[str, Any]]) -> None:
    with pytest.raises(AssertionError):
        holds("it", float("nan"), "<", 1)


def test_near_is_within_a_distance(records: list[dict[str, Any]]) -> None:
    holds("it", 0.52, "~", 0.5, within=0.03)
    assert records[0]["bound"] == "0.5 ± 0.03"
    with pytest.raises(AssertionError):
        holds("it", 0.54, "~", 0.5, within=0.03)
    holds("it", 0.52, "~", 0.5, within=0.03, spec=".1%")
    assert records[1]["bound"] == "50.0% ± 3.0%"


@pytest.mark.parametrize(
    ("value", "spec", "unit", "said"),
    [
        (1.83456, "", "×", "1.835×"),
        (0.1234, ".1%", "", "12.3%"),
        (1234567, "", " bytes", "1,234,567 bytes"),
        (123456.7, "", "", "123,457"),
        (float("inf"), "", "", "inf"),
        (True, "", "", "True"),
        ((3, 4), "", "", "(3, 4)"),
        ("x" * 100, "", "", "x" * 59 + "…"),
    ],
)
def test_values_are_said_shortly(records: list[dict[str, Any]], value: Any, spec: str, unit: str, said: str) -> None:
    holds("it", value, "==", value, spec=spec, unit=unit)
    assert records[0]["value"] == said


def test_all_elements_of_a_tensor_must_hold(records: list[dict[str, Any]]) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    holds("it", torch.tensor([2.0, 3.0]), ">", 1)
    assert records[0]["value"] == "2 (smallest of shape (2,))"
    with pytest.raises(AssertionError):
        holds("it", torch.tensor([2.0, 3.0]), ">", 2.5)


def test_tensors_of_other_shapes_are_not_equal(records: list[dict[str, Any]]) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    holds("it", torch.ones(2, 2), "==", torch.ones(2, 2))
    assert (records[0]["value"], records[0]["bound"]) == ("each of 4 elements", "the other's")
    with pytest.raises(AssertionError):
        holds("it", torch.ones(2, 2), "==", torch.ones(2))


def test_a_time_is_measured_again(records: list[dict[str, Any]]) -> None:
    times = iter([1.1, 1.5])
    holds("it", lambda: next(times), ">", 1.2)
    assert (records[0]["value"], records[0]["tries"], records[0]["timed"]) == ("1.5", 2, True)


def test_a_time_that_never_holds_is_said(records: list[dict[str, Any]], capsys: pytest.CaptureFixture[str]) -> None:
    holds("it", lambda: 1.1, ">", 1.2, unit="×")
    assert (records[0]["held"], records[0]["tries"]) == (False, 3)
    assert capsys.readouterr().out == "it did not hold in this run: 1.1× > 1.2×\n"


def test_a_time_that_never_holds_fails_a_strict_run(
    records: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(_holds.STRICT, "1")
    with pytest.raises(AssertionError, match=r"it: 1\.1 > 1\.2 does not hold"):
        holds("it", lambda: 1.1, ">", 1.2)


def test_a_measurement_takes_no_random_numbers(records: list[dict[str, Any]]) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    torch.manual_seed(0)
    random.seed(0)
    states = torch.get_rng_state(), random.getstate()
    holds("it", lambda: float(torch.rand(1)) + random.random(), "<", 3)
    assert torch.equal(torch.get_rng_state(), states[0])
    assert random.getstate() == states[1]


def test_functions_that_are_compared_are_not_called(records: list[dict[str, Any]]) -> None:
    def function() -> float:
        raise ValueError

    holds("it", function, "is", function)
    assert not records[0]["timed"]


def test_notices_stand_beside_what_data_change(records: list[dict[str, Any]]) -> None:
    notices.add("stand-in data")
    holds("it", 2, ">", 1)
    holds("other", 2, ">", 1, of_data=False)
    assert [record["notices"] for record in records] == [["stand-in data"], []]


def test_a_value_that_lanes_must_agree_on_is_a_number(records: list[dict[str, Any]]) -> None:
    holds("it", 0.123456, ">", 0, agree=0.01)
    assert (records[0]["measured"], records[0]["agree"]) == (0.123456, 0.01)
    with pytest.raises(ValueError, match="compares numbers"):
        holds("it", "a", "==", "a", agree=0.01)


def test_a_name_is_needed() -> None:
    with pytest.raises(ValueError, match="holds needs a name"):
        holds("", 1, "==", 1)


def test_relations_are_known() -> None:
    with pytest.raises(ValueError, match="unknown relation '=>'"):
        holds("it", 1, "=>", 1)
