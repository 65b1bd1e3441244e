"""Reading PyTorch in the installed wheel: quote a line by its text, link to it at the tag, look into the symbol tables.

Taught in "Reading the source of PyTorch". A line is always found by what it says, never by its number, so a quotation
whose text has moved says so in place of pointing at something else.
"""

from __future__ import annotations

import ctypes
import functools
import html
import mmap
import re
import struct
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

REPOSITORY = "https://github.com/pytorch/pytorch"
GUARD = "#if !defined(TORCH_STABLE_ONLY)"  # setup.py puts this line, and only this, above most headers of the wheel

# Where the wheel keeps a file of the repository, most special first. What the build writes is under build/.
_PLACES = (
    ("aten/src/ATen/native/native_functions.yaml", "torchgen/packaged/ATen/native/native_functions.yaml"),
    ("aten/src/ATen/native/tags.yaml", "torchgen/packaged/ATen/native/tags.yaml"),
    ("aten/src/ATen/templates/", "torchgen/packaged/ATen/templates/"),
    ("tools/autograd/", "torchgen/packaged/autograd/"),
    ("build/aten/src/", "torch/include/"),
    ("aten/src/", "torch/include/"),
    ("c10/", "torch/include/c10/"),
    ("torch/library.h", "torch/include/torch/library.h"),
    ("torch/headeronly/", "torch/include/torch/headeronly/"),
    ("torch/csrc/", "torch/include/torch/csrc/"),
)


class MovedError(LookupError):
    """What was to be quoted is not where it was: the message names the version, the file and the text."""


@dataclass(frozen=True)
class Citation:
    """Lines of PyTorch's source, with the place where they were found.

    Attributes:
        path: the file, by its name in the repository.
        line: the number of the first line in the repository's file.
        text: the lines, as the wheel has them.
        url: the same lines on GitHub, at the tag of the installed version; None for what the build writes.
    """

    path: str
    line: int
    text: str
    url: str | None

    def __str__(self) -> str:
        return f"{self.path}:{self.line}\n{self.text}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        place = f"<code>{html.escape(self.path)}</code>, line {self.line}"
        if self.url:
            place = f'<a href="{html.escape(self.url)}">{place}</a>'
        else:
            place += " (written by the build)"
        return f'<div><p>{place}</p><pre tabindex="0">{html.escape(textwrap.dedent(self.text))}</pre></div>'


def version() -> str:
    """The version of torch without what the build added to it: 2.15.0 of 2.15.0+cu132."""
    return torch.__version__.partition("+")[0]


def permalink(path: str, line: int | None = None, last: int | None = None) -> str:
    """The address on GitHub of a file of the installed version: made from its name, not looked up.

    A release has a tag. Other builds are linked by their commit.
    """
    release = re.fullmatch(r"\d+\.\d+\.\d+", version())
    point = f"v{version()}" if release else torch.version.git_version
    lines = "" if line is None else f"#L{line}" + (f"-L{last}" if last and last > line else "")
    return f"{REPOSITORY}/blob/{point}/{path}{lines}"


def in_wheel(path: str) -> Path:
    """The file of the wheel that is `path` in the repository.

    Raises:
        MovedError: the wheel has none. Headers, Python and torchgen's tables are in it; C++ and CUDA sources are not.
    """
    packages = Path(torch.__file__).parents[1]
    file = packages / path
    for start, place in _PLACES:
        if path.startswith(start):
            file = packages / (place + path.removeprefix(start))
            break
    if not file.is_file():
        raise MovedError(f"the wheel of torch {torch.__version__} has no {path}: not packaged, renamed or removed")
    return file


def ships(path: str) -> bool:
    """Whether the wheel has this file of the repository."""
    try:
        in_wheel(path)
    except MovedError:
        return False
    return True


def cite(path: str, text: str, lines: int = 1) -> Citation:
    """Quote the first line of a file that contains `text`, and the lines after it.

    Args:
        path: the file, by its name in the repository; `build/...` for what the build writes.
        text: what the line says, or a part of it.
        lines: how many lines to quote.

    Raises:
        MovedError: the file is not in the wheel, or no line of it says that.
    """
    written = in_wheel(path).read_text(encoding="utf-8").splitlines()
    first = next((row for row, line in enumerate(written) if text in line), None)
    if first is None:
        raise MovedError(f"no line of {path} in torch {torch.__version__} says {text!r}")
    quoted = written[first : first + lines]
    number = first + 1 - written[0].startswith(GUARD)
    made = path.startswith("build/") or any("@generated" in line for line in written[:20])
    return Citation(path, number, "\n".join(quoted), None if made else permalink(path, number, number + lines - 1))


@dataclass(frozen=True)
class Symbol:
    """A name in a library: as the compiler wrote it, its offset, its size, and whether other libraries see it."""

    mangled: str
    offset: int
    size: int
    exported: bool

    @property
    def name(self) -> str:
        return demangle(self.mangled)

    def __repr__(self) -> str:
        return self.name


@functools.cache
def _demangler() -> Any:
    names = ctypes.CDLL("libstdc++.so.6")
    names.__cxa_demangle.restype = ctypes.c_void_p
    names.__cxa_demangle.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)]
    return names.__cxa_demangle


def demangle(mangled: str) -> str:
    """A C++ name as it was written: the text that `c++filt` prints."""
    whole, _, rest = mangled.partition(".")  # gcc's clones: .cold, .isra.0
    status = ctypes.c_int()
    made = _demangler()(whole.encode(), None, None, ctypes.byref(status))
    if status.value or not made:
        return mangled
    name = ctypes.string_at(made).decode()
    free = ctypes.CDLL(None).free
    free.argtypes = [ctypes.c_void_p]
    free(made)
    return f"{name} [{rest}]" if rest else name


_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("at", "<u8"), ("size", "<u8")]
)


class Library:
    """The symbols of one of torch's shared libraries, read from the file (ELF, which is to say Linux).

    Attributes:
        path: the file.
        local: whether the file still has the names that only its own code uses; a stripped one has not.
    """

    def __init__(self, name: str) -> None:
        if sys.platform != "linux":
            raise NotImplementedError("symbols are read from ELF files, which are Linux's")
        self.path = Path(torch.__file__).parent / "lib" / name
        if not self.path.exists():
            raise MovedError(f"torch {torch.__version__} has no library {name}")
        with self.path.open("rb") as file:
            self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if self._bytes[:6] != b"\x7fELF\x02\x01":
            raise NotImplementedError(f"{name} is not a 64-bit little-endian ELF file")
        (table,) = struct.unpack_from("<Q", self._bytes, 40)
        size, count = struct.unpack_from("<HH", self._bytes, 58)
        sections = [_SECTION.unpack_from(self._bytes, table + size * i) for i in range(count)]
        self._tables = []  # symbols, start of their names, length of these, exported
        for _, kind, _, _, offset, length, link, *_ in sections:
            if kind in (2, 11):  # SYMTAB, DYNSYM
                symbols = np.frombuffer(self._bytes, _SYMBOL, length // _SYMBOL.itemsize, offset)
                self._tables.append((symbols, sections[link][4], sections[link][5], kind == 11))
        self._tables.sort(key=lambda table: table[3])  # the complete one first, if there is one
        self.local = not self._tables[0][3]

    def __repr__(self) -> str:
        return f"{self.path.name}: {len(self._tables[0][0]):,} symbols"

    def _symbol(self, table: int, index: int) -> Symbol:
        symbols, start, _, exported = self._tables[table]
        row = symbols[index]
        at = start + int(row["name"])
        name = self._bytes[at : self._bytes.find(b"\0", at)].decode()
        exported = exported or (int(row["info"]) >> 4 != 0 and int(row["other"]) & 3 in (0, 3))
        return Symbol(name, int(row["at"]), int(row["size"]), exported)

    def _matching(self, pattern: str) -> Iterator[Symbol]:
        symbols, start, length, _ = self._tables[0]
        names = self._bytes[start : start + length].replace(b"\0", b"\n")  # so that `.` and `$` keep to one name
        begun = re.sub("^\\^", "\n", pattern).encode()  # a literal first byte makes the search fast
        hits = re.finditer(begun, names, re.MULTILINE)
        wanted = {names.rfind(b"\n", 0, hit.start() + 1) + 1 for hit in hits}
        for index in np.flatnonzero(np.isin(symbols["name"], np.fromiter(wanted, np.uint32)) & (symbols["at"] > 0)):
            yield self._symbol(0, int(index))

    def find(self, pattern: str) -> list[Symbol]:
        """The defined symbols whose mangled name matches a regular expression, by offset."""
        return sorted(self._matching(pattern), key=lambda symbol: (symbol.offset, symbol.mangled))

    @functools.cached_property
    def _by_offset(self) -> list[tuple[Any, Any, Any]]:
        """For each table the rows of its functions and variables, where they begin and where they end, by offset."""
        sorted_tables = []
        for symbols, *_ in self._tables:
            kinds = symbols["info"] & 15
            rows = np.flatnonzero((kinds > 0) & (kinds <= 2) & (symbols["size"] > 0))
            rows = rows[np.argsort(symbols["at"][rows], kind="stable")]
            starts = symbols["at"][rows]
            sorted_tables.append((rows, starts, starts + symbols["size"][rows]))
        return sorted_tables

    def at(self, offset: int) -> Symbol | None:
        """The function or variable that lies at an offset, or None where no symbol says."""
        for table, (rows, starts, ends) in enumerate(self._by_offset if offset >= 0 else ()):
            place = int(np.searchsorted(starts, np.uint64(offset), side="right")) - 1
            if place >= 0 and offset < ends[place]:
                return self._symbol(table, int(rows[place]))
        return None

    @functools.cached_property
    def _loaded(self) -> ctypes.CDLL:
        return ctypes.CDLL(str(self.path))

    def pointer(self, variable: Symbol) -> Symbol | None:
        """The function that an exported variable of the running process points to; None if it points nowhere."""
        held = ctypes.c_void_p.in_dll(self._loaded, variable.mangled)
        if held.value is None:
            return None
        return self.at(held.value - ctypes.addressof(held) + variable.offset)
