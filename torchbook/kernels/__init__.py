"""Teaching kernels in Triton: vector add, softmax, matmul, fused MLP, FlashAttention forward.

Each is taught in the chapter "Custom kernels" (book/phases/p06-custom-kernels.md) and kept here because later chapters
and the benchmark use it again. On a machine with a CUDA device they are compiled; elsewhere Triton's interpreter runs
them on CPU tensors, program after program, which shows whether they are right and nothing about speed.

`python -m torchbook.kernels.bench` checks all of them and, on a GPU, measures them against the library.
`python -m torchbook.kernels.ptx` compiles them for a GPU that need not be there.
"""

from torchbook.kernels._start import INTERPRETED
from torchbook.kernels.flash import attention
from torchbook.kernels.fused import mlp_one_kernel, mlp_two_kernels
from torchbook.kernels.rows import softmax
from torchbook.kernels.tiles import matmul
from torchbook.kernels.vector import add

__all__ = ["INTERPRETED", "add", "attention", "matmul", "mlp_one_kernel", "mlp_two_kernels", "softmax"]
