import functools
from functools import cache
from pathlib import Path

import torch
import torchgen
import yaml

SAMPLE = """
- func: frob.Tensor(Tensor self, Tensor other) -> Tensor
  structured_delegate: frob.out
  variants: function, method
  dispatch:
    SparseCPU, SparseCUDA: frob_sparse
  tags: [core, pointwise]

- func: frob.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU, CUDA: frob_out
    SparseCPU: frob_out_sparse
    SparseCsrCPU: frob_out_csr
  tags: pointwise

- func: frob.Scalar(Tensor self, Scalar other) -> Tensor
  variants: method
  dispatch:
    CompositeExplicitAutograd: frob_scalar
  autogen: frob.Scalar_out

- func: plus(Tensor self, Tensor other) -> Tensor
  structured_delegate: plus.out

- func: plus.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  ufunc_inner_loop:
    Generic: plus (AllAndComplex)
  dispatch:
    MPS: plus_out_mps

- func: sway.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  ufunc_inner_loop:
    Generic: sway (AllAndComplex)

- func: twirl(Tensor self, int[] dims) -> Tensor

- func: swirl(Tensor self) -> Tensor
  python_module: nn
  dispatch:
    CPU: swirl_cpu
    CUDA: swirl_cuda

- func: whirl(Tensor self) -> Tensor
  dispatch:
    CompositeImplicitAutograd: whirl_symint
    NestedTensorCPU, NestedTensorCUDA: whirl_nested
  tags: core
"""


def _entries(text):
    return {entry["func"].split("(")[0]: entry for entry in yaml.load(text, _loader())}


def _loader():
    return getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache
def _sample():
    return _entries(SAMPLE)


@cache
def _text():
    folder = Path(torchgen.__file__).parent / "packaged" / "ATen" / "native"
    return (folder / "native_functions.yaml").read_text(encoding="utf-8")


@cache
def _file():
    return _entries(_text())


def test_read(read):
    found = read(SAMPLE)
    assert len(found) == 9, f"the text has 9 entries, but {len(found)} were read: each overload is an entry"
    assert "frob.Scalar" in found, f"the name ends at the bracket and includes the overload; found {sorted(found)}"
    assert found["twirl"] == {"func": "twirl(Tensor self, int[] dims) -> Tensor"}, "keep an entry as it is written"


def test_kernels(kernels):
    found = kernels(_sample(), "swirl")
    assert found == {"CPU": "swirl_cpu", "CUDA": "swirl_cuda"}, (
        f"the kernels are those under `dispatch`, key by key; found {found}"
    )
    found = kernels(_sample(), "whirl")
    assert "NestedTensorCUDA" in found, f"one line may name several keys, separated by commas; found {sorted(found)}"


def test_kernels_default(kernels):
    found = kernels(_sample(), "twirl")
    assert found == {"CompositeImplicitAutograd": "twirl"}, (
        f"without `dispatch`, there is one composite function with the operator's name; found {found}"
    )


def test_kernels_delegate(kernels):
    found = kernels(_sample(), "frob.Tensor")
    assert found.get("CPU") == "frob_out" and found.get("CUDA") == "frob_out", (
        f"frob.Tensor is computed by what it delegates to, frob.out; found {found}"
    )
    assert found.get("SparseCPU") == "frob_sparse" and "SparseCsrCPU" not in found, (
        f"torchgen writes structured kernels for dense devices; sparse keys come from the entry itself: {found}"
    )


def test_kernels_ufunc(kernels):
    found = kernels(_sample(), "plus")
    expected = {"MPS": "plus_out_mps", "CPU": "ufunc_plus_CPU", "CUDA": "ufunc_plus_CUDA"}
    assert found == expected, f"from `ufunc_inner_loop`, torchgen writes the kernels of CPU and CUDA; found {found}"
    found = kernels(_sample(), "sway.out")
    expected = {"CPU": "ufunc_sway_CPU", "CUDA": "ufunc_sway_CUDA"}
    assert found == expected, f"a structured entry needs no `dispatch` to have kernels; found {found}"
    found = kernels(_file(), "add.Tensor")
    assert found.get("CPU") == "ufunc_add_CPU", "add.Tensor has this kernel too, through add.out"
    functions = _entries(SAMPLE)
    kernels(functions, "plus")
    assert functions == _entries(SAMPLE), (
        "kernels that torchgen writes were added to the entry, although the file does not have them"
    )


def test_kernels_are_registered(kernels):
    for name in ("add.Tensor", "matmul", "_softmax", "embedding", "mm", "native_layer_norm", "cross_entropy_loss"):
        keys = kernels(_file(), name)
        for key in ("CPU", "SparseCPU", "CompositeImplicitAutograd", "CompositeExplicitAutograd"):
            there = torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{name}", key)
            assert (key in keys) == there, (
                f"{name} at {key}: the dispatcher has {'a' if there else 'no'} kernel there, and your keys are {keys}"
            )


def test_kind(kind):
    kinds = {"frob.Tensor": "structured", "frob.out": "structured", "frob.Scalar": "explicit", "twirl": "implicit"}
    kinds |= {"swirl": "backend", "whirl": "implicit"}
    for name, expected in kinds.items():
        found = kind(_sample(), name)
        assert found == expected, f"{name} is {expected}, not {found}"


def test_kind_daily(kind):
    kinds = {"add.Tensor": "structured", "matmul": "implicit", "softmax.int": "implicit", "_softmax": "structured"}
    kinds |= {"embedding": "explicit", "cross_entropy_loss": "implicit", "layer_norm": "implicit"}
    for name, expected in kinds.items():
        found = kind(_file(), name)
        assert found == expected, f"{name} is {expected}, not {found}"
    assert kind(_file(), "native_layer_norm") == "explicit", (
        "it has a kernel for CPU *and* one for all other backends: with CompositeExplicitAutograd, it is explicit"
    )


def test_doors(doors):
    assert doors(_sample(), "frob.Tensor") == {"torch.frob", "torch.Tensor.frob"}, "two variants, without the overload"
    assert doors(_sample(), "twirl") == {"torch.twirl"}, "without `variants`, it is a function"
    assert doors(_sample(), "frob.Scalar") == {"torch.Tensor.frob"}, "with `variants: method`, it is not a function"
    assert doors(_sample(), "swirl") == {"torch._C._nn.swirl"}, "python_module: nn puts it into torch._C._nn"


def test_tagged(tagged):
    assert tagged(_sample(), "pointwise") == {"frob.Tensor", "frob.out"}, "`tags` may be a list, or a single word"
    assert tagged(_sample(), "core") == {"frob.Tensor", "whirl"}, "the first entry and the last have it"
    assert tagged(_sample(), "wise") == set(), "a tag is a whole word"
    core = tagged(_file(), "core")
    for name, there in {"mm": True, "add.Tensor": True, "matmul": False}.items():
        assert (name in core) == there, f"{name} {'is' if there else 'is not'} in the core set of operators"


def test_decompose(decompose):
    x, functional = torch.randn(3, 4), torch.nn.functional
    target, ids = torch.tensor([0, 1, 2]), torch.tensor([2, 0])
    cases = {
        "add": (torch.add, x, x),
        "matmul": (torch.matmul, x, x.T),
        "softmax": (torch.softmax, x, 1),
        "embedding": (functional.embedding, ids, x),
        "cross_entropy": (functional.cross_entropy, x, target),
        "layer_norm": (functional.layer_norm, x, [4]),
    }
    became = {
        "add": ["add.Tensor"],
        "matmul": ["mm"],
        "softmax": ["_softmax"],
        "embedding": ["embedding"],
        "cross_entropy": ["_log_softmax", "nll_loss_forward"],
        "layer_norm": ["native_layer_norm"],
    }
    for name, (function, *args) in cases.items():
        found = list(decompose(_file(), function, *args))
        assert [one for one, _ in found] == became[name], f"{name} becomes {became[name]}, not {found}"
        assert all(sort in ("structured", "explicit", "backend") for _, sort in found), (
            f"what arrives below autograd has its own kernel and is not composite implicit: {found}"
        )


def test_decompose_elsewhere(decompose):
    x = torch.ones(2)
    found = list(decompose(_file(), lambda: torch.ops.prims.sin(x)))
    assert ("prims::sin", "elsewhere") in found, f"prims::sin is an operator, but not in the file; found {found}"
    rows = torch.empty(2, 1)
    into = functools.partial(torch.ops.aten.embedding.out, out=rows)
    found = list(decompose(_file(), into, x.view(2, 1), torch.tensor([0, 1])))
    assert ("aten::embedding.out", "elsewhere") in found, f"no entry has the name embedding.out; found {found}"
    found = list(decompose(_sample(), torch.mm, x.view(2, 1), x.view(1, 2)))
    assert found == [("aten::mm", "elsewhere")], f"the given entries, `functions`, have no mm; found {found}"


def test_decompose_runs(decompose):
    results = []
    found = list(
        decompose(_file(), lambda x, y: results.append(torch.sub(x, y, alpha=3)), torch.ones(2), torch.ones(2))
    )
    assert found == [("sub.Tensor", "structured")], f"a difference is one operator; found {found}"
    assert results and results[0].tolist() == [-2, -2], (
        f"1 - 3 * 1 is -2: pass an operator all its arguments, keyword arguments too; the result was {results}"
    )


def test_registered(registered):
    found = registered(_file())
    assert set(found) == {"file", "autogen", "aten", "other"}
    everything = set(torch._C._dispatch_get_all_op_names())
    assert sum(map(len, found.values())) == len(everything), "each registered operator belongs to one of the four"
    assert {"aten::add.Tensor", "aten::mm"} <= found["file"], "names are those of the dispatcher, including aten::"
    for name in ("embedding.out", "native_layer_norm.out"):
        assert f"aten::{name}" in found["autogen"], f"{name} has no entry; `autogen` says that torchgen writes it"
    assert "aten::quantized_lstm.input" in found["aten"], "aten::quantized_lstm comes from a TORCH_LIBRARY in C++"
    assert "quantized::add" in found["other"], "quantized::add belongs to a different library"


def test_registered_really(registered):
    found = registered(_file())
    unknown = set().union(*found.values()) - set(torch._C._dispatch_get_all_op_names())
    assert not unknown, f"not every line of the file is registered: {sorted(unknown)[:3]} are not"
    found = registered(_sample())
    assert found["file"] == set() and found["autogen"] == set(), (
        f"made-up entries are not registered: {found['file']}, {found['autogen']}"
    )
    assert "aten::mm" in found["aten"], "the given entries do not have mm, so it is not in the file"


def test_hidden_read_the_whole(read):
    found = read(_text())
    assert set(found) == set(_file()), f"the file has {len(_file())} entries, but you read {len(found)}"


def test_hidden_against_the_dispatcher(kernels, kind):
    for name in _file():
        if not torch._C._dispatch_has_kernel(f"aten::{name}"):
            continue
        mine = kernels(_file(), name)
        for place in ("CPU", "MkldnnCPU", "SparseCPU", "SparseCsrCPU", "CompositeImplicitAutograd"):
            actual = torch._C._dispatch_has_kernel_for_dispatch_key(f"aten::{name}", place)
            assert actual == (place in mine), f"{name} at {place}: registered {actual}, yours {sorted(mine)}"
        alone = set(mine) == {"CompositeImplicitAutograd"}
        assert not alone or kind(_file(), name) == "implicit", f"{name} has a composite kernel and no other"


def test_hidden_same_answers(kernels, kind, doors, tagged, registered, reference):
    for name in _file():
        assert kernels(_file(), name) == reference.kernels(_file(), name), f"the kernels of {name} are wrong"
        assert kind(_file(), name) == reference.kind(_file(), name), f"the kind of {name} is wrong"
        assert set(doors(_file(), name)) == reference.doors(_file(), name), f"the names of {name} in Python are wrong"
    for label in ("core", "pointwise", "reduction", "inplace_view"):
        assert set(tagged(_file(), label)) == reference.tagged(_file(), label), (
            f"the entries with the tag {label} are wrong"
        )
    assert registered(_file()) == reference.registered(_file()), "the registered operators are divided wrongly"
