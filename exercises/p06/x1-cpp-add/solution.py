import hashlib
import re
import tempfile
from pathlib import Path

import torch
from torch.utils.cpp_extension import load

HEADERS = r"""
#include <ATen/Dispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_like.h>
#include <torch/library.h>
using at::Tensor;
"""


def build(code: str) -> str:
    """Compile and load C++ code; the namespace that it got in place of `p06x1`, since none can be loaded twice."""
    namespace = "p06x1_" + hashlib.sha256(code.encode()).hexdigest()[:8]
    if not hasattr(getattr(torch.ops, namespace), "add"):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "ops.cpp")
            file.write_text(re.sub(r"\bp06x1\b", namespace, code))
            load(namespace, [str(file)], build_directory=folder, is_python_module=False, extra_cflags=["-O1"])
    return namespace


def operators() -> str:
    """C++ code of p06x1::add and p06x1::add_, to be built."""
    ### BEGIN SOLUTION
    return (
        HEADERS
        + r"""
void check(const Tensor& x, const Tensor& y) {
  TORCH_CHECK(x.sizes() == y.sizes(), "shapes ", x.sizes(), " and ", y.sizes(), " differ");
  TORCH_CHECK(x.scalar_type() == y.scalar_type(), "types ", x.scalar_type(), " and ", y.scalar_type(), " differ");
}

void add_into(const Tensor& x, const Tensor& y, const Tensor& out) {  // all contiguous
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "add", [&] {
    const scalar_t* a = x.const_data_ptr<scalar_t>();
    const scalar_t* b = y.const_data_ptr<scalar_t>();
    scalar_t* c = out.mutable_data_ptr<scalar_t>();
    for (int64_t i = 0; i < out.numel(); ++i) c[i] = a[i] + b[i];
  });
}

Tensor add(const Tensor& x, const Tensor& y) {
  check(x, y);
  const Tensor left = x.contiguous();
  const Tensor out = at::empty_like(left);
  add_into(left, y.contiguous(), out);
  return out;
}

void add_(const Tensor& x, const Tensor& y) {
  check(x, y);
  const Tensor left = x.contiguous();  // x itself, or a copy
  add_into(left, x.is_alias_of(y) ? y.clone(at::MemoryFormat::Contiguous) : y.contiguous(), left);
  if (!left.is_same(x)) x.copy_(left);
}

TORCH_LIBRARY(p06x1, m) {
  m.def("add(Tensor x, Tensor y) -> Tensor");
  m.def("add_(Tensor(a!) x, Tensor y) -> ()");
}

TORCH_LIBRARY_IMPL(p06x1, CPU, m) {
  m.impl("add", &add);
  m.impl("add_", &add_);
}
"""
    )
    ### END SOLUTION


def complete(namespace: str) -> None:
    """Register fake kernels for both operators, and the derivative of `add`."""
    ### BEGIN SOLUTION

    @torch.library.register_fake(f"{namespace}::add")
    def _(x, y):
        return torch.empty_like(x, memory_format=torch.contiguous_format)

    @torch.library.register_fake(f"{namespace}::add_")
    def _(x, y):
        return None

    torch.library.register_autograd(f"{namespace}::add", lambda ctx, upstream: (upstream, upstream))
    ### END SOLUTION
