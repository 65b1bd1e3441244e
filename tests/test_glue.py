"""Numbers handed to the prose."""

import ast
from collections.abc import Iterator
from typing import Any

import pytest

from torchbook import _glue, glue, notices


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[Any, Any]]]:
    """What was displayed: (MIME bundle, metadata) for each call."""
    calls: list[tuple[Any, Any]] = []
    monkeypatch.setattr(_glue, "display", lambda data, metadata, raw: calls.append((data, metadata)))
    yield calls
    notices.clear()


def text(calls: list[tuple[Any, Any]]) -> str:
    (call,) = calls
    literal = ast.literal_eval(call[0]["application/papermill.record/text/plain"])  # as the page does
    assert literal == call[1]["scrapbook"]["text"]
    return str(literal)


def test_value_is_formatted_once(shown: list[tuple[Any, Any]]) -> None:
    glue("accuracy", 0.91234, ".1%")
    assert text(shown) == "91.2%"


def test_tensor_of_one_element_is_unwrapped(shown: list[tuple[Any, Any]]) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    glue("loss", torch.tensor(0.5), ".2f")
    assert text(shown) == "0.50"


def test_notice_is_said_beside_a_result(shown: list[tuple[Any, Any]]) -> None:
    notices.add("stand-in data")
    glue("accuracy", 0.5, ".0%")
    assert text(shown) == "50% (stand-in data)"


def test_nothing_is_said_beside_what_no_data_can_change(shown: list[tuple[Any, Any]]) -> None:
    notices.add("stand-in data")
    glue("parameters", 269_322, ",", of_data=False)
    assert text(shown) == "269,322"


def test_name_is_needed() -> None:
    with pytest.raises(ValueError, match="glue needs a name"):
        glue("", 1)


def test_a_value_that_lanes_must_agree_on_is_recorded_as_it_is(shown: list[tuple[Any, Any]]) -> None:
    glue("loss", 0.123456, ".2f", agree=0.01)
    record = shown[0][1]["scrapbook"]
    assert (record["text"], record["value"], record["agree"]) == ("0.12", 0.123456, 0.01)


@pytest.mark.parametrize("value", ["high", float("nan")])
def test_only_finite_numbers_can_agree(value: object) -> None:
    with pytest.raises(ValueError, match="compares numbers"):
        glue("loss", value, agree=0.01)
