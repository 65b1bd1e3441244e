"""FloatExplorer: the bits of a number in each floating-point format, what they mean, and what rounding did to it."""

from __future__ import annotations

import ast
import math
import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import partial
from html import escape
from struct import pack, unpack
from typing import TYPE_CHECKING, Any

import traitlets

from torchbook.viz.base import Visualizer, contract, preset_of
from torchbook.viz.units import counted

if TYPE_CHECKING:
    import torch

setup = partial(contract, "floats")

_LONGEST = 300  # characters of a number that is typed; no nesting in them is too deep to read


@dataclass(frozen=True)
class Format:
    """A floating-point format: a sign bit, an exponent field and a fraction field."""

    name: str
    exponent: int
    fraction: int
    infinite: bool = True
    ones: bool = False  # a cast makes nan the pattern of all ones

    @property
    def bias(self) -> int:
        return 2 ** (self.exponent - 1) - 1

    @property
    def width(self) -> int:
        return 1 + self.exponent + self.fraction

    @property
    def sign(self) -> int:
        return 1 << (self.width - 1)

    @property
    def top(self) -> int:
        """The pattern of the largest finite number."""
        return self.sign - 2 if not self.infinite else self.sign - (1 << self.fraction) - 1

    @property
    def nan(self) -> int:
        return self.sign - 1 if self.ones else self.sign - (1 << self.fraction) + (1 << (self.fraction - 1))

    def kind(self, bits: int) -> str:
        """The class of a pattern: "zero", "subnormal", "normal", "inf" or "nan"."""
        size = bits % self.sign
        if size > self.top:
            return "inf" if self.infinite and size == self.top + 1 else "nan"
        return "zero" if size == 0 else "subnormal" if size < 1 << self.fraction else "normal"

    def decode(self, bits: int) -> float:
        """The number that a pattern stands for."""
        kind, size = self.kind(bits), bits % self.sign
        if kind == "nan":
            return math.nan
        exponent, fraction = divmod(size, 1 << self.fraction)
        whole = fraction + (1 << self.fraction if exponent else 0)
        value = math.inf if kind == "inf" else math.ldexp(whole, max(exponent, 1) - self.bias - self.fraction)
        return -value if bits >= self.sign else value

    def cast(self, x: float, saturates: bool = True) -> tuple[int, bool]:
        """The pattern that torch's cast from float64 gives, through float32, and whether `x` lay beyond the range."""
        if math.isnan(x):
            return self.nan, False
        single = abs(_single(x))
        size = self._rounded(single) if single < math.inf else self.top + 1
        beyond = size > self.top
        over = self.top + 1 if self.infinite else self.top if saturates else self.nan
        return (over if beyond else size) + (self.sign if math.copysign(1, x) < 0 else 0), beyond

    def _rounded(self, x: float) -> int:
        if x == 0:
            return 0
        least = 1 - self.bias
        at = max(math.frexp(x)[1] - 1, least)
        return ((at - least) << self.fraction) + round(math.ldexp(x, self.fraction - at))

    def next(self, bits: int, way: int) -> int | None:
        """The pattern of the next number up (1) or down (-1); None where there is none."""
        if self.kind(bits) == "nan":
            return None
        place = (-(bits % self.sign) if bits >= self.sign else bits) + way
        if abs(place) > self.top + self.infinite:
            return None
        return self.sign - place if place < 0 or (place == 0 and way > 0) else place

    def split(self, bits: int) -> tuple[str, str, str]:
        """Sign, exponent and fraction in binary."""
        text = f"{bits:0{self.width}b}"
        return text[0], text[1 : 1 + self.exponent], text[1 + self.exponent :]


FORMATS = {
    layout.name: layout
    for layout in (
        Format("float32", 8, 23),
        Format("float16", 5, 10),
        Format("bfloat16", 8, 7),
        Format("float8_e4m3fn", 4, 3, infinite=False, ones=True),
        Format("float8_e5m2", 5, 2, ones=True),
    )
}


def _single(x: float) -> float:
    try:
        return float(unpack("<f", pack("<f", x))[0])
    except OverflowError:
        return math.copysign(math.inf, x)


def read(text: str) -> float:
    """A number, or a sum, difference, product or quotient of numbers, in float64; `2**n` for a whole n.

    Raises:
        ValueError: it is something else.
    """
    digits = r"\d+(?:_\d+)*"
    literal = rf"(?:{digits}\.?(?:{digits})?|\.{digits})(?:[eE][+-]?{digits})?"
    plain = text.replace("−", "-").strip()
    if len(plain) > _LONGEST:
        raise ValueError(f"{text[:20]!r}… has more than {_LONGEST} characters")
    if not re.fullmatch(rf"(?:{literal}|inf(?:inity)?|nan|[-+*/()\s])+", plain, re.IGNORECASE | re.ASCII):
        raise ValueError(f"{text!r} is not a number, nor numbers with + - * / and 2**n")
    floats = re.sub(literal, lambda match: f" {float(match[0])!r} ", plain)
    try:
        return _evaluate(ast.parse(floats.lower().strip(), mode="eval").body)
    except (SyntaxError, ZeroDivisionError) as error:
        raise ValueError(f"{text!r} cannot be read: {error}") from None


def _evaluate(tree: ast.expr) -> float:
    match tree:
        case ast.Constant(value=value):
            return float(value)  # type: ignore[arg-type]
        case ast.Name(id="inf" | "infinity" | "nan" as name):
            return float(name)
        case ast.UnaryOp(op=sign, operand=inner):
            return -_evaluate(inner) if isinstance(sign, ast.USub) else _evaluate(inner)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_evaluate(left), _evaluate(right))
        case ast.BinOp(left=left, op=op, right=right):
            return _combine(op, _evaluate(left), _evaluate(right))
    raise SyntaxError("only numbers and + - * / ** ( )")


def _power(base: float, n: float) -> float:
    if base != 2 or not n.is_integer():
        raise SyntaxError("only 2 can be raised, to a whole power")
    return math.ldexp(1.0, int(n)) if n < 1024 else math.inf


def _combine(op: ast.operator, left: float, right: float) -> float:
    match op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div():
            return left / right
    raise SyntaxError("only + - * / **")


class FloatExplorer(Visualizer):
    """A number in one floating-point format: its bits, what each field means, its neighbours, and what rounding cost.

    The reader types numbers, flips bits, and compares what the formats make of one number. On the plain page the same
    figure works without a kernel.

    Args:
        number: a float, or text such as "1/3", "65504 + 16", "2**-24" or "inf", which torch would get as float64.
        dtype: the format whose bits are shown, as `torch.bfloat16` or "bfloat16"; float32, float16, bfloat16,
            float8_e4m3fn or float8_e5m2.
        bits: a pattern instead of a number, e.g. 0x7E.

    Attributes:
        value: what the number is in that format, a float.

    Raises:
        ValueError: the number cannot be read, or there is no such preset.
        traitlets.TraitError: there is no such format, or the pattern has too many bits.

    Example:
        >>> FloatExplorer(0.1, dtype=torch.bfloat16).value
        0.10009765625
    """

    number = traitlets.Unicode("0.1", help="The number as it was typed.").tag(sync=True)
    dtype = traitlets.Enum(tuple(FORMATS), "float32", help="The format whose bits are shown.").tag(sync=True)
    bits = traitlets.Int(0, help="The pattern that the number becomes.").tag(sync=True)
    saturates = traitlets.Bool(
        True, read_only=True, help="Does a cast to float8_e4m3fn stop at 448? In torch from 2.12 on."
    ).tag(sync=True)

    def __init__(
        self,
        number: float | str = 0.1,
        dtype: torch.dtype | str = "float32",
        *,
        bits: int | None = None,
        preset: str | None = None,
        **traits: Any,
    ) -> None:
        if preset is not None:
            ready = preset_of(setup(), preset)
            number, dtype = ready["number"], ready["dtype"]
        text = number if isinstance(number, str) else repr(float(number))
        name = str(dtype).removeprefix("torch.")
        super().__init__(number=text, dtype=name, **traits)
        self.set_trait("saturates", _saturates())
        self._follow()
        if bits is not None:
            self.bits = bits

    @property
    def format(self) -> Format:
        return FORMATS[self.dtype]

    @property
    def value(self) -> float:
        return self.format.decode(self.bits)

    @traitlets.validate("number")
    def _check_number(self, proposal: Any) -> str:
        read(proposal["value"])
        return proposal["value"]

    @traitlets.validate("bits")
    def _check_bits(self, proposal: Any) -> int:
        if not 0 <= proposal["value"] < 1 << self.format.width:
            raise traitlets.TraitError(f"{self.dtype} has {self.format.width} bits, not {proposal['value']:#x}")
        return proposal["value"]

    def _follow(self, change: Any = None) -> None:
        """The pattern follows the number, and where the pattern was set, the number follows the pattern."""
        of, typed = self.format, read(self.number)
        wanted = of.cast(typed, self.saturates)[0]
        fits = 0 <= self.bits <= of.sign * 2 - 1
        same = self.bits == wanted or (math.isnan(typed) and fits and of.kind(self.bits) == "nan")
        if not same and change is not None and change["name"] == "bits":
            self.number = repr(of.decode(self.bits))
        elif not same:
            self.bits = wanted
        super()._follow(change)

    def _describe(self) -> str:
        of, value = self.format, self.value
        kind = of.kind(self.bits)
        text = f"{_show(value)}, a {kind} number" if kind.endswith("normal") else _show(value)
        parts = f"{' '.join(of.split(self.bits))} (0x{self.bits:0{of.width // 4}x})"
        around = "" if kind == "nan" else f" Next up {self._near(1)}, next down {self._near(-1)}."
        return f"{self.number} in {self.dtype} is {text}; bits {parts}.{_fate(of, self.number, self.saturates)}{around}"

    def _near(self, way: int) -> str:
        bits = self.format.next(self.bits, way)
        return "none" if bits is None else _show(self.format.decode(bits))

    def _draw(self) -> str:
        return _Picture(self.format, self.bits, self.number, self.saturates).svg(self.words)


def _saturates() -> bool:
    """What the installed torch does with a number that is too large for float8_e4m3fn."""
    try:
        import torch
    except ModuleNotFoundError:
        return True
    return torch.tensor([1000.0]).to(torch.float8_e4m3fn).float().item() == 448


def _fate(of: Format, number: str, saturates: bool) -> str:
    """What rounding did, as a sentence."""
    x = read(number)
    bits, beyond = of.cast(x, saturates)
    value = of.decode(bits)
    largest = _show(of.decode(of.top))
    if math.isnan(x):
        return " Other patterns are nan too: which one a cast gives depends on the sign of nan and on the processor."
    if value == x and math.copysign(1, value) == math.copysign(1, x):
        return " It is exact."
    if math.isnan(value):
        return f" Too large: the largest number is {largest}, there is no inf, so it is nan."
    if beyond and math.isfinite(value):
        return f" Too large: the cast stops at {largest}."
    if beyond:
        return f" Overflow: the largest finite number is {largest}."
    if value == 0:
        return f" Underflow: the smallest number above zero is {_show(of.decode(1))}."
    error = abs(value - x)
    return f" Rounded {'up' if value > x else 'down'} by {_short(error)}, relative {_short(error / abs(x))}."


def _show(x: float) -> str:
    """For people: a real minus, and no ".0" behind a whole number; as the ES module writes it."""
    return re.sub(r"\.0$", "", repr(x)).replace("-", "−").replace("e+", "e")


def _short(x: float) -> str:
    """At most four significant digits; a whole number with all of them."""
    return _show(
        x if not math.isfinite(x) or x.is_integer() else float(Context(prec=4, rounding=ROUND_HALF_UP).plus(Decimal(x)))
    )


class _Picture:
    """Static drawing: the bits in their three fields, and what each format makes of the number."""

    CELL, ROW, WIDE = 22, 20, 16  # size of a bit, height of a line, bits in a row

    def __init__(self, of: Format, bits: int, number: str, saturates: bool) -> None:
        self.of, self.bits, self.number, self.saturates = of, bits, number, saturates
        self.parts: list[str] = []
        self.width = 16 * self.CELL + 24

    def svg(self, words: str) -> str:
        y = 16
        self._text(0, y, f"{self.number} in {self.of.name}", ' font-weight="700"')
        for name, field in zip(("sign", "exponent", "fraction"), self.of.split(self.bits), strict=True):
            y = self._field(y + 8, name, field)
        y = self._table(y + 12)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {self.width} {y}" '
            f'style="max-width:min(100%,{self.width}px);height:auto" '
            f'font-family="ui-monospace,Menlo,Consolas,monospace" font-size="13" fill="currentColor" '
            f'aria-label="{escape(words)}">{"".join(self.parts)}</svg>'
        )

    def _text(self, x: float, y: float, text: str, more: str = "") -> None:
        self.parts.append(f'<text x="{x:g}" y="{y:g}"{more}>{escape(text)}</text>')
        if "middle" not in more:
            self.width = max(self.width, math.ceil(x + 8.2 * len(text)))

    def _field(self, top: int, name: str, field: str) -> int:
        size = self.CELL
        meaning = self._meaning(name)
        self._text(0, top + 14, f"{name}, {counted(len(field), 'bit')}: {meaning}", ' fill-opacity="0.8"')
        for place, bit in enumerate(field):
            x, y = place % self.WIDE * size, top + 20 + place // self.WIDE * size
            self.parts.append(
                f'<rect x="{x + 1}" y="{y + 1}" width="{size - 2}" height="{size - 2}" rx="3" stroke="currentColor" '
                f'stroke-opacity="{0.9 if bit == "1" else 0.4}" fill-opacity="{0.16 if bit == "1" else 0}"/>'
            )
            bold = ' font-weight="700"' if bit == "1" else ""
            self._text(x + size / 2, y + size / 2 + 5, bit, f' text-anchor="middle"{bold}')
        return top + 20 + math.ceil(len(field) / self.WIDE) * size

    def _meaning(self, name: str) -> str:
        of, kind = self.of, self.of.kind(self.bits)
        _, exponent, fraction = (int(part, 2) for part in of.split(self.bits))
        if name == "sign":
            return "−" if self.bits >= of.sign else "+"
        if kind in ("inf", "nan"):
            return "all ones" if name == "exponent" or not of.infinite else "zero" if kind == "inf" else "not zero"
        if name == "fraction":
            return f"{int(exponent > 0)} + {fraction}/{1 << of.fraction}"
        return f"2^({max(exponent, 1)} − {of.bias})"

    def _table(self, top: int) -> int:
        x = read(self.number)
        for row, of in enumerate(FORMATS.values()):
            y = top + row * self.ROW + 14
            chosen = ' font-weight="700"' if of is self.of else ""
            bits = self.bits if of is self.of else of.cast(x, self.saturates)[0]
            self._text(0, y, f"{'▸' if of is self.of else ' '} {of.name}", f"{chosen} xml:space='preserve'")
            self._text(140, y, _show(of.decode(bits)), chosen)
        return top + len(FORMATS) * self.ROW + 8
