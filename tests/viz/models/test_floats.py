"""FloatExplorer in Python: what it takes, what it refuses, what it says and draws."""

from __future__ import annotations

import math
import subprocess
import sys
from xml.etree import ElementTree

import pytest
import torch
import traitlets

from torchbook.viz import FloatExplorer
from torchbook.viz.floats import FORMATS, read, setup

from ..samples import Look, Sample, clicking

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("dtype", FORMATS)
def test_number_and_dtype_give_the_pattern_of_torch(dtype: str) -> None:
    x = torch.tensor(0.1, dtype=torch.float64).to(getattr(torch, dtype))
    for argument in (dtype, getattr(torch, dtype)):
        w = FloatExplorer(0.1, argument)
        assert w.value == x.item()
        assert w.bits == x.view({1: torch.uint8, 2: torch.uint16, 4: torch.uint32}[x.element_size()]).item()


def test_traits_follow_each_other() -> None:
    w = FloatExplorer("1/3", torch.float16)
    assert (w.bits, w.value) == (0x3555, 0.333251953125)
    w.dtype = "bfloat16"
    assert (w.number, w.bits) == ("1/3", 0x3EAB)
    w.bits = 0x3F80
    assert (w.number, w.value) == ("1.0", 1.0)
    w.number = "-2**-133"
    assert w.bits == 0x8001
    assert "a subnormal number" in w.words


def test_patterns_of_nan_are_kept() -> None:
    w = FloatExplorer(bits=0x7C01, dtype="float16")
    assert (w.number, w.bits) == ("nan", 0x7C01)
    assert math.isnan(w.value)
    w.dtype = "bfloat16"
    assert w.bits == 0x7FC0
    w.number = "inf"
    assert (w.value, w.words.split(";")[0]) == (math.inf, "inf in bfloat16 is inf")


def test_what_a_reader_sends_at_once_fits_together() -> None:
    w = FloatExplorer(0.1, torch.float8_e4m3fn)
    w.set_state({"number": "70000.0", "dtype": "float32", "bits": 0x4788B800})
    assert (w.value, w.dtype) == (70000.0, "float32")
    w.set_state({"number": "nan", "dtype": "float8_e5m2", "bits": 0xFD})
    assert (w.number, w.bits) == ("nan", 0xFD)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("256 + 1", 257),
        ("1_000", 1000),
        ("1/3", 1 / 3),
        ("2**-24", 2**-24),
        ("-2**2", -4),
        ("(1 - 3)*.5", -1),
        ("−1e-8", -1e-8),
    ],
)
def test_numbers_that_can_be_typed(text: str, value: float) -> None:
    assert read(text) == value


@pytest.mark.parametrize(
    "text", ["", "x", "1/0", "3**2", "2**.5", "1 2", "__import__('os')", "2**2**0.5", "(1", "1__0", "_1", "0x10"]
)
def test_what_cannot_be_read_is_named(text: str) -> None:
    with pytest.raises(ValueError, match=r"cannot be read|is not a number"):
        FloatExplorer(text)


def test_mistakes_are_named_and_change_nothing() -> None:
    w = FloatExplorer(1.0, "float16")
    with pytest.raises(traitlets.TraitError, match="float16 has 16 bits, not 0x10000"):
        w.bits = 0x10000
    with pytest.raises(traitlets.TraitError, match="float64"):
        w.dtype = "float64"
    with pytest.raises(ValueError, match="no preset is called 'none'"):
        FloatExplorer(preset="none")
    assert (w.number, w.dtype, w.bits) == ("1.0", "float16", 0x3C00)


@pytest.mark.parametrize("preset", sorted(setup()["presets"]))
def test_picture_shows_every_bit_and_every_format(preset: str) -> None:
    w = FloatExplorer(preset=preset)
    svg = ElementTree.fromstring(w.picture)
    assert len(svg.findall(f"{SVG}rect")) == FORMATS[w.dtype].width
    texts = [text.text or "" for text in svg.findall(f"{SVG}text")]
    assert all(any(name in text for text in texts) for name in FORMATS)
    assert svg.get("aria-label") == w.words


def test_notes_of_the_presets_are_true() -> None:
    half, brain, e4m3 = torch.float16, torch.bfloat16, torch.float8_e4m3fn

    def cast(x: float, dtype: torch.dtype) -> float:
        return torch.tensor(x, dtype=torch.float64).to(dtype).item()

    assert cast(0.1, torch.float32) > 0.1
    assert (cast(65519, half), cast(65520, half), torch.finfo(half).max) == (65504, math.inf, 65504)
    assert cast(1e-8, half) == 0
    assert FORMATS["float16"].decode(1) / 2 > 1e-8
    unit = torch.tensor(1, dtype=brain)
    assert torch.tensor(256, dtype=brain) + unit == 256
    assert FORMATS["bfloat16"].decode(FORMATS["bfloat16"].cast(256)[0] + 1) == 258
    assert FloatExplorer(bits=0x7F, dtype=e4m3).number == "nan"
    if FloatExplorer().saturates:
        assert cast(1000, e4m3) == cast(math.inf, e4m3) == 448
    assert cast(1000, torch.float8_e5m2) == 1024
    assert 0 < cast(1e-5, half) < torch.finfo(half).smallest_normal
    twice = 1 + 2**-11 + 2**-40
    assert torch.tensor(twice).item() == 1 + 2**-11
    assert cast(twice, half) == 1


def test_import_leaves_torch_alone() -> None:
    code = "import sys, torchbook.viz.floats; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0


def test_without_torch_it_says_the_same() -> None:
    code = """if True:
        import sys
        sys.modules["torch"] = None
        from torchbook.viz import FloatExplorer
        print(FloatExplorer(preset="bf16-count").words)
    """
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert ran.stdout.strip() == FloatExplorer(preset="bf16-count").words, ran.stderr


# The figure among all figures


def sample() -> Sample:
    """How the test of all figures takes this one."""
    numbers = ("0.1", "-inf", "nan", "1e-45")
    return Sample(
        make=FloatExplorer,
        act=clicking('[data-bit="0"]'), acted="is −0.1",
        other={"number": 7},
        linked={"bits": 0xFE, "dtype": "float8_e5m2"}, broken=("=e30",),
        looks=tuple(Look({"number": number, "dtype": dtype}) for dtype in FORMATS for number in numbers),
        plain=({"preset": "third"},),
    )  # fmt: skip
