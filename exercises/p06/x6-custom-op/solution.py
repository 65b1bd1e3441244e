import torch

# Before triton, since it chooses the interpreter where there is no GPU.
import torchbook.kernels  # noqa: F401  # isort: skip
import triton
import triton.language as tl


@triton.jit
def rms_kernel(x, weight, out, columns, eps, BLOCK: tl.constexpr):
    """One row a program: out = x / sqrt(mean(x²) + eps) * weight."""
    row, lane = tl.program_id(0), tl.arange(0, BLOCK)
    inside = lane < columns
    values = tl.load(x + row * columns + lane, mask=inside, other=0.0)
    scale = tl.sqrt(tl.sum(values * values, axis=0) / columns + eps)
    factors = tl.load(weight + lane, mask=inside, other=0.0)
    tl.store(out + row * columns + lane, values / scale * factors, mask=inside)


def launch(x: torch.Tensor, weight: torch.Tensor, out: torch.Tensor, eps: float) -> None:
    """Normalise rows of x into out. It trusts that all are contiguous; out may be x."""
    columns = x.shape[-1]
    if x.numel():
        rms_kernel[(x.numel() // columns,)](x, weight, out, columns, eps, BLOCK=triton.next_power_of_2(columns))


def register(name: str) -> torch.library.CustomOpDef:
    """Register rms_norm(x, weight, eps=1e-6) as an operator of this name, with fake kernel and derivative."""
    ### BEGIN SOLUTION

    @torch.library.custom_op(name, mutates_args=())
    def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6) -> torch.Tensor:
        out = torch.empty(x.shape, dtype=x.dtype, device=x.device)
        launch(x.contiguous(), weight.contiguous(), out, eps)
        return out

    @rms_norm.register_fake
    def _(x, weight, eps=1e-6):
        return torch.empty(x.shape, dtype=x.dtype, device=x.device)

    def keep(ctx, inputs, output):
        x, weight, ctx.eps = inputs
        ctx.save_for_backward(x, weight)

    def derive(ctx, upstream):
        x, weight = ctx.saved_tensors
        scale = torch.rsqrt(x.square().mean(-1, keepdim=True) + ctx.eps)
        unit = x * scale
        inner = upstream * weight
        to_x = scale * (inner - unit * (inner * unit).mean(-1, keepdim=True))
        return to_x, (upstream * unit).reshape(-1, weight.shape[0]).sum(0), None

    rms_norm.register_autograd(derive, setup_context=keep)
    return rms_norm
    ### END SOLUTION


def register_inplace(name: str) -> torch.library.CustomOpDef:
    """Register rms_norm_(x, weight, eps=1e-6), which overwrites x and returns nothing, as an operator of this name."""
    ### BEGIN SOLUTION

    @torch.library.custom_op(name, mutates_args=("x",))
    def rms_norm_(x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6) -> None:
        out = x.contiguous()
        launch(out, weight.contiguous(), out, eps)
        if out is not x:
            x.copy_(out)

    @rms_norm_.register_fake
    def _(x, weight, eps=1e-6):
        return None

    return rms_norm_
    ### END SOLUTION
