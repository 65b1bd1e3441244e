"""The float model of the page against torch: values, classes, neighbours, texts and casts, bit for bit.

Every pattern of the formats of 8 and 16 bits is compared, every special one and 120,000 random ones of float32, and
more than 200,000 casts to each format. More of them: `TORCHBOOK_VIZ_EXAMPLES=1000000`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Any

import hypothesis.strategies as st
import pytest
import torch
from hypothesis import given, seed, settings

from torchbook.viz.floats import FORMATS, FloatExplorer, read, setup

from ..asking import Harnesses

DEEP, QUICK = 120_000, 1000
NAMES = list(FORMATS)
SATURATES = torch.tensor([1000.0]).to(torch.float8_e4m3fn).float().item() == 448
RAW = {8: torch.uint8, 16: torch.int16, 32: torch.int32}

Ask = Callable[..., list[Any]]


@pytest.fixture(scope="module")
def ask(harnesses: Harnesses) -> Ask:
    """Asks the page's model, of one format."""

    def of_format(
        what: str, name: str = "float32", of: list[Any] | None = None, saturates: bool = SATURATES
    ) -> list[Any]:
        return harnesses["floats"].ask(what, of or [0], format=name, saturates=saturates)

    return of_format


def tensor_of(name: str, patterns: list[int]) -> torch.Tensor:
    """A tensor with these bits."""
    width = FORMATS[name].width
    signed = [bits - (1 << width) if width > 8 and bits >> (width - 1) else bits for bits in patterns]
    return torch.tensor(signed, dtype=RAW[width]).view(getattr(torch, name))


def bits_of(x: torch.Tensor) -> list[int]:
    width = 8 * x.element_size()
    return [bits % (1 << width) for bits in x.view(RAW[width]).tolist()]


def packed(values: torch.Tensor) -> list[str]:
    """Float64 as 16 hexadecimal digits, with one nan."""
    plain = torch.where(values.isnan(), math.nan, values.double())
    return [f"{bits % (1 << 64):016x}" for bits in plain.view(torch.int64).tolist()]


@cache
def patterns(name: str, examples: int) -> list[int]:
    """All patterns of a small format; of a larger one the special ones, and many at random."""
    of = FORMATS[name]
    if of.width == 8 or 1 << of.width <= examples:
        return list(range(1 << of.width))
    last = (1 << of.fraction) - 1
    ends = [0, 1, 2, 1 << (of.fraction - 1), (1 << (of.fraction - 1)) - 1, last - 1, last]
    special = [
        s << (of.width - 1) | e << of.fraction | f for s in (0, 1) for e in range(1 << of.exponent) for f in ends
    ]
    draw = random.Random(7)
    return special + [draw.getrandbits(of.width) for _ in range(examples)]


def kinds(x: torch.Tensor, name: str) -> list[str]:
    values = x.double()
    normal = torch.finfo(getattr(torch, name)).smallest_normal
    zero, small = values == 0, values.abs() < normal
    return [
        "nan" if n else "inf" if i else "zero" if z else "subnormal" if s else "normal"
        for n, i, z, s in zip(*(t.tolist() for t in (values.isnan(), values.isinf(), zero, small)), strict=True)
    ]


def step(x: torch.Tensor, way: int) -> list[int | None]:
    """`torch.nextafter`; None where it stays, at inf and nan."""
    towards = torch.full_like(x, way * math.inf)
    there, here = bits_of(torch.nextafter(x, towards)), bits_of(x)
    still = (x.isnan() | (x == towards)).tolist()
    return [None if stays else to for to, _, stays in zip(there, here, still, strict=True)]


def ranked(x: torch.Tensor, way: int) -> list[int | None]:
    """The same where torch has no nextafter: by sorting all numbers of the format."""
    values, bits = x.double().tolist(), bits_of(x)
    by_value = {v: b for v, b in zip(values, bits, strict=True) if v == v and (v or b == 0)}
    order = sorted(by_value)
    place = {v: i for i, v in enumerate(order)}
    minus_zero = 1 << (8 * x.element_size() - 1)

    def of(value: float) -> int | None:
        if value != value or not 0 <= place[value] + way < len(order):
            return None
        to = by_value[order[place[value] + way]]
        return minus_zero if to == 0 and way > 0 else to

    return [of(value) for value in values]


@pytest.mark.parametrize("name", NAMES)
def test_every_pattern_is_what_torch_says(ask: Ask, name: str, examples: int, record_property: Any) -> None:
    chosen = patterns(name, examples)
    x = tensor_of(name, chosen)
    walk = ranked if FORMATS[name].width == 8 else step
    answers = ask("patterns", name, chosen)
    expected = zip(packed(x), kinds(x, name), walk(x, 1), walk(x, -1), strict=True)
    wrong = [(hex(bits), *pair) for bits, *pair in zip(chosen, answers, map(list, expected), strict=True)
             if pair[0] != pair[1]]  # fmt: skip
    record_property("patterns", len(answers))
    print(f"{name}: {len(answers):,} patterns, {len(wrong)} disagreements")
    assert wrong[:5] == []


@pytest.mark.parametrize("name", NAMES)
def test_texts_are_exact(ask: Ask, name: str, examples: int) -> None:
    chosen = patterns(name, examples)
    if FORMATS[name].width == 32:
        chosen = chosen[:20_000]
    values = tensor_of(name, chosen).double().tolist()
    for bits, value, (plain, exact, hexed, digits, pattern) in zip(
        chosen, values, ask("texts", name, chosen), strict=True
    ):
        assert plain == repr(value)
        assert int(digits, 2) == bits == int(pattern, 16)
        assert len(digits) == FORMATS[name].width
        if math.isfinite(value):
            assert Decimal(exact.replace("−", "-")) == Decimal(value)
            assert float.fromhex(hexed) == value


@pytest.mark.parametrize("name", NAMES)
def test_limits_are_those_of_finfo(ask: Ask, name: str) -> None:
    info = torch.finfo(getattr(torch, name))
    limits = ask("limits", name)[0]
    assert (limits["largest"], limits["normal"], limits["eps"]) == (info.max, info.smallest_normal, info.eps)
    assert limits["bits"] == info.bits
    assert limits["subnormal"] == tensor_of(name, [1]).double().item()


def numbers(name: str, examples: int) -> torch.Tensor:
    """Float64 numbers: at random over the format's range, around every border and every tie, and special ones."""
    make = torch.Generator().manual_seed(11)
    of = FORMATS[name]
    sample = patterns(name, examples)[:: max(1, examples // 30_000) if of.width == 32 else 1]
    own = tensor_of(name, sample).double()
    own = own[own.isfinite()]
    after = torch.nextafter(own, torch.full_like(own, math.inf))
    size = torch.where(own == 0, FORMATS[name].decode(1), own.abs())
    ulp = torch.exp2(size.log2().floor().clamp(min=1 - of.bias) - of.fraction)
    ties = torch.cat([own + ulp / 2, own - ulp / 2])
    near = [ties * (1 + sign * 2.0**-k) for k in (52, 40, 30, 25, 24) for sign in (1, -1)]
    largest = of.decode(of.top)
    exponents = torch.rand(examples, generator=make, dtype=torch.float64) * (of.bias * 2 + of.fraction + 8)
    spread = torch.exp2(exponents - of.bias - of.fraction - 4) * torch.where(
        torch.rand(examples, generator=make) < 0.5, -1.0, 1.0
    )
    edge = largest * (1 + torch.linspace(-1, 1, 2001, dtype=torch.float64) * 2.0 ** (1 - of.fraction))
    tiny = of.decode(1) * torch.linspace(-3, 3, 2401, dtype=torch.float64)
    raw = torch.randint(-(2**63), 2**63 - 1, (examples // 2,), generator=make).view(torch.float64)
    special = torch.tensor(
        [0.0, -0.0, math.inf, -math.inf, math.nan, 5e-324, -5e-324, 1.7e308, -1.7e308, 2.0**-149, 2.0**-150, 3.4e38]
    ).double()
    return torch.cat([own, after, ties, *near, spread, spread.float().double(), edge, -edge, tiny, raw, special])


@pytest.mark.parametrize("name", NAMES)
def test_casts_are_those_of_torch(ask: Ask, name: str, examples: int, record_property: Any) -> None:
    x = numbers(name, examples)
    cast = x.to(getattr(torch, name))
    direct, single = cast.double(), x.float().to(getattr(torch, name)).double()
    assert torch.equal(direct.nan_to_num(nan=7e77), single.nan_to_num(nan=7e77)), "torch goes through float32"
    answers = ask("casts", name, packed(x))
    nan = direct.isnan().tolist()
    wrong = [
        (number, hex(answer), hex(torchs))
        for number, answer, torchs, lost in zip(x.tolist(), answers, bits_of(cast), nan, strict=True)
        if answer != torchs and not (lost and FORMATS[name].kind(answer) == "nan")
    ]
    record_property("casts", len(answers))
    print(f"{name}: {len(answers):,} casts, {len(wrong)} disagreements")
    assert len(answers) > examples
    assert wrong[:5] == []
    python = [FORMATS[name].cast(value, SATURATES)[0] for value in x[::7].tolist()]
    assert python == answers[::7]


@pytest.mark.parametrize("saturates", [True, False])
def test_what_is_too_large_for_e4m3_stops_or_is_nan(ask: Ask, saturates: bool, examples: int) -> None:
    of = FORMATS["float8_e4m3fn"]
    x = numbers(of.name, examples)[::3]
    kept = x.float().abs() <= 464  # halfway from 448 to the 480 that would come next; the tie goes down
    cast = x.clamp(-464, 464).to(torch.float8_e4m3fn)
    for value, fits, answer, bits in zip(
        x.tolist(), kept.tolist(), ask("casts", of.name, packed(x), saturates), bits_of(cast), strict=True
    ):
        over = 0x7E if saturates and not math.isnan(value) else 0x7F
        assert answer == of.cast(value, saturates)[0]
        assert answer % 0x80 == (bits % 0x80 if fits else over)


@pytest.mark.parametrize("name", NAMES)
def test_a_number_alone_is_cast_as_in_a_long_tensor(name: str, examples: int) -> None:
    dtype = getattr(torch, name)
    x = numbers(name, examples)[::997]
    together = bits_of(x.to(dtype))
    for value, bits in zip(x.tolist(), together, strict=True):
        if not math.isnan(value):
            assert (
                bits_of(torch.tensor([value], dtype=dtype))
                == bits_of(torch.tensor([value]).double().to(dtype))
                == [bits]
            )


@pytest.mark.parametrize("name", NAMES)
def test_fates(ask: Ask, name: str, examples: int) -> None:
    x = numbers(name, examples)[::11]
    became = x.to(getattr(torch, name)).double()
    top = torch.finfo(getattr(torch, name)).max
    for typed, value, (fate, error) in zip(x.tolist(), became.tolist(), ask("fates", name, packed(x)), strict=True):
        if math.isnan(typed):
            assert fate == "nan"
        elif typed == value:
            assert fate == "exact"
        elif math.isnan(value):
            assert fate == "lost"
        elif math.isinf(value):
            assert fate == "overflow"
        elif value == 0:
            assert fate == "underflow"
        elif fate == "saturated":
            assert abs(value) == top < abs(typed)
        else:
            assert fate == ("up" if value > typed else "down")
            assert error == packed(torch.tensor([abs(value - typed)], dtype=torch.float64))[0]


def test_numbers_are_written_as_python_writes_them(ask: Ask) -> None:
    raw = torch.randint(-(2**63), 2**63 - 1, (20_000,), generator=torch.Generator().manual_seed(3))
    shown = raw.view(torch.float64)
    decimal = torch.tensor([k * 10.0**e for e in range(-25, 26) for k in (1, 1.5, 2.0625, 9.9995, 123456)])
    x = torch.cat([shown, decimal.double(), -decimal.double()])
    for value, (plain, exact, short) in zip(x.tolist(), ask("reprs", of=packed(x)), strict=True):
        assert plain == repr(value)
        if math.isfinite(value):
            assert Decimal(exact.replace("−", "-")) == Decimal(value)
            assert float(short.replace("−", "-")) == pytest.approx(value, rel=5.01e-4)


# --- what is typed ---------------------------------------------------------------------------------------------------

LITERALS = st.one_of(
    st.sampled_from(
        [
            "0",
            "007",
            "00.5",
            ".5",
            "5.",
            "1e-8",
            "2E3",
            "1e400",
            "inf",
            "nan",
            "Inf",
            "65504",
            "1e-400",
            "2",
            "infinity",
            "1_000",
        ]
    ),
    st.floats(min_value=0, allow_infinity=False).map(repr),
    st.integers(0, 10**20).map(str),
)
POWERS = st.integers(-1080, 1030).map(lambda n: f"2**{n}")
SUMS = st.recursive(
    LITERALS | POWERS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", " - ", "*", " / ", "**", "−"]), inner).map("".join),
        inner.map(lambda text: f"({text})"),
        inner.map(lambda text: f"-{text}"),
        inner.map(lambda text: f" {text} "),
    ),
    max_leaves=5,
)
DEEP_TEXTS = [
    "(" * 5000,
    "-" * 5000 + "1",
    "(" * 149 + "1" + ")" * 149,
    "-" * 299 + "1",
    "(" * 150 + "1" + ")" * 150,
    "   ",
]
JUNK = st.text("0123456789.eE+-*/() infax,_", max_size=9)


def test_page_and_python_read_the_same_numbers(ask: Ask, examples: int) -> None:
    @seed(5)
    @settings(max_examples=max(examples // 40, 200), deadline=None, database=None)
    @given(text=SUMS | JUNK)
    def holds(text: str) -> None:
        answer = ask("reads", of=[text])[0]
        try:
            value = read(text)
        except ValueError:
            assert isinstance(answer, dict), (text, answer)
        else:
            assert answer == packed(torch.tensor([value], dtype=torch.float64))[0], text

    holds()


@pytest.mark.parametrize("text", ["infinity", "-Infinity", "1_000", "1_0.2_5e1_0", *DEEP_TEXTS, "1__0", "1_", "_1"])
def test_what_python_reads_is_read_and_all_else_refused_in_words(ask: Ask, text: str) -> None:
    answer = ask("reads", of=[text])[0]
    try:
        value = read(text)
    except ValueError:
        assert isinstance(answer, dict)
        assert "stack" not in answer["refused"]
        assert "“”" not in answer["refused"]
    else:
        assert answer == packed(torch.tensor([value], dtype=torch.float64))[0]


@pytest.mark.parametrize("name", NAMES)
def test_a_positive_nan_alone_becomes_the_pattern_shown(name: str) -> None:
    [pattern] = bits_of(torch.tensor([math.nan], dtype=torch.float64).to(getattr(torch, name)))
    assert FORMATS[name].kind(pattern) == "nan"
    assert FORMATS[name].cast(math.nan)[0] == pattern
    assert "depends on the sign of nan" in FloatExplorer("-nan", name).words


@pytest.mark.parametrize("name", NAMES)
def test_page_and_python_say_the_same(ask: Ask, name: str, examples: int) -> None:
    draw = random.Random(1)
    x = numbers(name, examples)
    texts = [repr(value) for value in x[:: max(len(x) // min(examples, 900), 1)].tolist()]
    texts += ["1/3", "-0.0", "inf", "-inf", "nan", "1000", "464", "465", "1e-8", "65519", "65520"]
    texts += [f"{draw.uniform(-9, 9):.3f}" for _ in range(50)]
    for text, words in zip(texts, ask("words", name, texts), strict=True):
        assert FloatExplorer(text, name).words == words


@pytest.mark.parametrize("name", NAMES)
def test_copied_code_holds_in_torch(ask: Ask, name: str) -> None:
    texts = ["0.1", "1/3", "-2**-24", "65520", "1e-8", "1000", "1e39", "-inf", "nan", "0"]
    texts += [preset["set"]["number"] for preset in setup()["presets"].values()]
    for script in ask("scripts", name, texts):
        exec(script, {})
