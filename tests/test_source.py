"""Quotations of torch's source: found by their text, linked at the version, and loud when they move."""

import re
import sys

import pytest
import torch

from torchbook.source import Citation, Library, MovedError, cite, demangle, in_wheel, permalink, ships, version

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="ELF files are Linux's")


@pytest.mark.parametrize(
    "path",
    [
        "c10/core/TensorImpl.h",
        "aten/src/ATen/native/BinaryOps.h",
        "aten/src/ATen/native/native_functions.yaml",
        "aten/src/ATen/native/tags.yaml",
        "aten/src/ATen/templates/RegisterDispatchKey.cpp",
        "tools/autograd/derivatives.yaml",
        "torch/csrc/autograd/engine.h",
        "torch/headeronly/core/ScalarType.h",
        "torch/library.py",
        "torch/library.h",
        "torchgen/model.py",
        "build/aten/src/ATen/ops/add_ops.h",
    ],
)
def test_where_the_wheel_keeps_it(path: str) -> None:
    assert ships(path)


@pytest.mark.parametrize("path", ["aten/src/ATen/native/BinaryOps.cpp", "c10/core/Gone.h", "torch", "c10/core"])
def test_what_is_not_in_the_wheel_says_so(path: str) -> None:
    with pytest.raises(MovedError, match=re.escape(f"{torch.__version__} has no {path}")):
        in_wheel(path)


def test_a_quotation_is_the_line() -> None:
    quoted = cite("torch/library.py", "class Library", 2)
    lines = in_wheel("torch/library.py").read_text().splitlines()
    assert quoted.text.splitlines() == lines[quoted.line - 1 : quoted.line + 1]
    assert "class Library" in quoted.text
    assert quoted.url == permalink("torch/library.py", quoted.line, quoted.line + 1)
    assert str(quoted) == f"torch/library.py:{quoted.line}\n{quoted.text}"


def test_the_line_that_packaging_adds_is_not_counted() -> None:
    path = "aten/src/ATen/native/DispatchStub.h"
    lines = in_wheel(path).read_text().splitlines()
    quoted = cite(path, "#pragma once")
    assert quoted.line == lines.index("#pragma once") + 1 - lines[0].startswith("#if !defined(TORCH_STABLE_ONLY)") == 1


def test_a_quotation_that_moved_names_version_file_and_text() -> None:
    with pytest.raises(MovedError) as caught:
        cite("c10/core/TensorImpl.h", "THTensor* tensor_;")
    for phrase in (torch.__version__, "c10/core/TensorImpl.h", "THTensor* tensor_;"):
        assert phrase in str(caught.value)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("build/aten/src/ATen/ops/add_ops.h", "struct TORCH_API add_Tensor"),
        ("torch/csrc/autograd/generated/Functions.h", "AddBackward0"),
        ("torch/_C/_VariableFunctions.pyi", "def add("),
    ],
)
def test_what_the_build_writes_has_no_address(path: str, text: str) -> None:
    quoted = cite(path, text)
    assert quoted.url is None
    assert "written by the build" in quoted._repr_html_()


def test_html_is_escaped_and_holds_no_path_of_this_machine() -> None:
    shown = Citation("a<b>.h", 3, "x < y && z", "https://example.org/?a&b")._repr_html_()
    assert "&lt;b&gt;" in shown
    assert "x &lt; y &amp;&amp; z" in shown
    shown = cite("c10/core/TensorImpl.h", "Storage storage_;")._repr_html_()
    assert "site-packages" not in shown
    assert f"/blob/v{version()}/c10/core/TensorImpl.h#L" in shown


def test_builds_without_a_tag_are_linked_by_their_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "__version__", "2.16.0.dev20261101+cpu")
    monkeypatch.setattr(torch.version, "git_version", "0123abc")
    assert permalink("README.md") == "https://github.com/pytorch/pytorch/blob/0123abc/README.md"
    monkeypatch.setattr(torch, "__version__", "2.15.0+cu132")
    assert permalink("README.md", 3, 5).endswith("/v2.15.0/README.md#L3-L5")
    assert permalink("README.md", 3, 3).endswith("README.md#L3")


@LINUX
def test_symbols() -> None:
    library = Library("libtorch_cpu.so")
    (call,) = library.find("^_ZN2at4_ops10add_Tensor4callE[^.]*$")
    assert call.name.startswith("at::_ops::add_Tensor::call(at::Tensor const&")
    assert call.exported
    assert library.at(call.offset) == library.at(call.offset + call.size - 1)
    assert library.at(call.offset).name == call.name  # type: ignore[union-attr]
    assert library.at(-1) is None
    assert library.at(2**48) is None
    assert library.find("noSuchNameInTorch") == []


@LINUX
def test_a_pointer_is_followed() -> None:
    library = Library("libtorch_cpu.so")
    (slot,) = library.find("30add_stub_DECLARE_DISPATCH_typeEE7DEFAULTE$")
    function = library.pointer(slot)
    if library.local:
        assert function is not None
        assert function.name.endswith("add_kernel(at::TensorIteratorBase&, c10::Scalar const&)")


@LINUX
def test_names() -> None:
    assert demangle("_ZN2at6native8add_stubE") == "at::native::add_stub"
    assert demangle("main") == "main"
    assert demangle("_ZN2at6native8add_stubE.cold") == "at::native::add_stub [cold]"
    with pytest.raises(MovedError, match="libnone"):
        Library("libnone.so")
