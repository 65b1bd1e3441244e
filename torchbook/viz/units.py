"""How figures write numbers, amounts and counts in their words, as their ES modules write them too."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal


def significant(x: float, digits: int = 3) -> str:
    """A number with three significant digits, or all digits before the point; as the ES module writes it."""
    if x == 0:
        return "0"
    exact = Decimal(x)
    places = max(0, digits - 1 - exact.adjusted())
    text = f"{exact.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP):f}"
    if len(text.replace(".", "").lstrip("-0")) > digits and places:  # 9.996 became 10.00
        text = text[:-1].rstrip(".")
    return text


def _six(x: float) -> float:
    """Rounded to six significant digits, halves up as in the ES module."""
    exact = Decimal(x)
    return float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - 5), ROUND_HALF_UP))


def plain(x: float) -> str:
    """A learning rate: up to six digits, and an exponent below a thousandth."""
    x = _six(x)
    mantissa, exponent = f"{x:.5e}".split("e")
    if int(exponent) < -3:
        return f"{mantissa.rstrip('0').rstrip('.')}e−{-int(exponent)}"
    text = f"{Decimal(f'{x:.6g}'):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def count(x: float) -> str:
    """A whole number for people: 350 million."""
    for size, name in ((1e12, " trillion"), (1e9, " billion"), (1e6, " million")):
        if x >= size:
            return f"{_six(x / size):g}{name}"
    return f"{x:.0f}"


def duration(seconds: float) -> str:
    """Seconds in the unit that suits them."""
    for size, unit in ((1.0, "s"), (1e-3, "ms")):
        if seconds >= size:
            return f"{significant(seconds / size)} {unit}"
    return f"{significant(seconds / 1e-6)} µs" if seconds else "0 ms"


def amount(number: float) -> str:
    """Bytes in the unit that suits them; 1 GB is 10**9 bytes."""
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if number >= unit:
            return f"{significant(number / unit)} {name}"
    return f"{significant(number)} B"


def prefixed(number: float, unit: str = "") -> str:
    """A number with three digits and a prefix: "12.3 GFLOP", "33.1 k"."""
    for size, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{significant(number / size)} {prefix}{unit}"
    return f"{significant(number)} {unit}".strip()


def two(x: float) -> str:
    """Two decimals, rounded as JavaScript does."""
    return str(Decimal(x).quantize(Decimal("0.01"), ROUND_HALF_UP))


def several(words: Sequence[str]) -> str:
    """Words in a row: "3, 3 and 2"; nothing where there are none."""
    return ", ".join(words[:-1]) + f" and {words[-1]}" if len(words) > 1 else "".join(words)


def plural(number: int) -> str:
    """What a word ends in when there are so many: nothing, or an s."""
    return "" if number == 1 else "s"


def ordinal(place: int) -> str:
    """A place in an order, counted from 1: "1st", "12th"."""
    ending = "th" if place // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{ending}"


def counted(number: int, what: str) -> str:
    """So many of something: "1 page", "2 pages"."""
    return f"{number} {what}{plural(number)}"
