"""What the quizzes of s04 say of PyTorch, said to PyTorch."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn


def vectors() -> tuple[torch.Tensor, torch.Tensor]:
    return torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0, 4.0])


def test_s04_x2_second_backward_adds_in_place() -> None:
    w, x = vectors()
    (w * x).sum().backward()
    first = w.grad
    (w * x).sum().backward()
    assert first is w.grad
    assert w.grad.tolist() == [6.0, 8.0]


def test_s04_x2_accumulation_sees_a_finished_sum() -> None:
    w, x = vectors()
    seen: list[list[float]] = []
    w.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.tolist()))
    ((w * x).sum() + (w * w).sum()).backward()
    assert seen == [[5.0, 8.0]]


def test_s04_x2_four_means_are_four_times_the_mean() -> None:
    model, x, y = nn.Linear(5, 1), torch.randn(64, 5), torch.randn(64, 1)
    (whole,) = torch.autograd.grad(nn.functional.mse_loss(model(x), y), [model.weight])
    for a, b in zip(x.split(16), y.split(16), strict=True):
        nn.functional.mse_loss(model(a), b).backward()
    torch.testing.assert_close(model.weight.grad, 4 * whole)


@pytest.mark.parametrize("to_none", [True, False])
def test_s04_x2_none_is_skipped_and_zero_is_not(to_none: bool) -> None:
    w, x = vectors()
    optimizer = torch.optim.SGD([w], lr=0.1, momentum=0.9)
    (w * x).sum().backward()
    optimizer.step()
    before = w.detach().clone()
    optimizer.zero_grad(set_to_none=to_none)
    optimizer.step()
    assert torch.equal(before, w) is to_none


def descended(momentum: float, clear: bool) -> list[float]:
    torch.manual_seed(0)
    x = torch.randn(100, 5)
    y = x @ torch.randn(5, 1) + 0.1 * torch.randn(100, 1)
    model = nn.Linear(5, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=momentum)
    losses = []
    for _ in range(3000):
        if clear:
            optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_s04_x2_without_clearing_the_loss_swings() -> None:
    losses = descended(0.0, clear=False)
    assert losses == pytest.approx(descended(1.0, clear=True), rel=0.05)
    assert min(losses[:5]) < 0.1 * losses[0]
    assert 0.5 * losses[0] < max(losses[-300:])
    assert max(losses) < 3 * losses[0]


def test_s04_x2_what_saves_nothing_runs_twice() -> None:
    w, x = vectors()
    loss = w.sum()
    loss.backward()
    loss.backward()
    loss = (w * x).sum()
    loss.backward(retain_graph=True)
    loss.backward()
    with pytest.raises(RuntimeError, match="a second time"):
        loss.backward()


@pytest.mark.parametrize(("retain", "error"), [(False, "a second time"), (True, "inplace operation")])
def test_s04_x2_carried_state(retain: bool, error: str) -> None:
    cell, h = nn.RNNCell(2, 3), torch.zeros(1, 3)
    optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)

    def step(h: torch.Tensor) -> torch.Tensor:
        h = cell(torch.randn(1, 2), h)
        h.sum().backward(retain_graph=retain)
        optimizer.step()
        return h

    for _ in range(3):
        h = step(h.detach())
    if retain:
        h = step(h)
    with pytest.raises(RuntimeError, match=error):
        step(h)


class Model(nn.Module):
    def __init__(self, branch: bool = False) -> None:
        super().__init__()
        self.a, self.b, self.branch = nn.Linear(8, 8), nn.Linear(8, 4), branch

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.a(x)
        if self.branch and h.mean() > 0:
            h = h * 2
        return self.b(torch.tanh(h))


def counted(model: nn.Module) -> tuple[Callable[[torch.Tensor], torch.Tensor], list[int]]:
    torch._dynamo.reset()
    compiled: list[int] = []

    def backend(graph: torch.fx.GraphModule, _: list[torch.Tensor]) -> Callable[..., object]:
        compiled.append(1)
        return graph.forward

    return torch.compile(model, backend=backend), compiled


def test_s04_x3_new_lengths_compile_once_more() -> None:
    run, compiled = counted(Model())
    for length in range(16, 32):
        run(torch.randn(2, length, 8))
    assert len(compiled) == 2


def test_s04_x3_export_holds_the_length() -> None:
    program = torch.export.export(Model().eval(), (torch.randn(2, 16, 8),))
    with pytest.raises(AssertionError, match="Guard failed"):
        program.module()(torch.randn(2, 17, 8))


@pytest.mark.filterwarnings("default")  # torch.compile asks every tensor for its gradient
def test_s04_x3_a_branch_breaks_the_graph_and_export_raises() -> None:
    model, x = Model(branch=True), torch.randn(2, 16, 8)
    run, compiled = counted(model)
    torch.testing.assert_close(run(x), model(x))
    assert len(compiled) == 2
    with pytest.raises(Exception, match="data-dependent"):
        torch.export.export(model, (x,))


def test_s04_x3_prefix_of_a_compiled_model() -> None:
    model, plain = Model(), Model()
    keys = torch.compile(model).state_dict()
    assert all(key.startswith("_orig_mod.") for key in keys)
    assert keys["_orig_mod.a.weight"].data_ptr() == model.a.weight.data_ptr()
    before = plain.a.weight.detach().clone()
    assert len(plain.load_state_dict(keys, strict=False).missing_keys) == 4
    assert plain.a.weight.equal(before)
    model.compile()
    assert list(model.state_dict()) == ["a.weight", "a.bias", "b.weight", "b.bias"]


def test_s04_x4_shapes() -> None:
    x, q, k, v = torch.zeros(32, 128, 512), *(torch.zeros(32, n, w) for n, w in ((128, 64), (50, 64), (50, 24)))
    assert nn.Linear(512, 1024)(x).shape == (32, 128, 1024)
    assert x.mean(dim=1).shape == (32, 512)
    assert nn.functional.scaled_dot_product_attention(q, k, v).shape == (32, 128, 24)
    assert x.view(32, 128, 8, 64).transpose(1, 2).shape == (32, 8, 128, 64)
    assert nn.Conv1d(512, 64, kernel_size=5, padding=2)(x.transpose(1, 2)).shape == (32, 64, 128)
    images = nn.Conv2d(3, 16, kernel_size=3, stride=2, padding=1)(torch.zeros(8, 3, 28, 28))
    assert nn.Flatten()(images).shape == (8, 3136)
    assert (torch.zeros(32, 1) - torch.zeros(32)).shape == (32, 32)
    with pytest.raises(RuntimeError, match="must match"):
        x * torch.zeros(32, 128)


def test_s04_x5_backward_of_nothing_recorded_raises() -> None:
    x = torch.randn(3, 4, requires_grad=True)
    with torch.no_grad():
        cut = x.mean()
    for loss in (x.detach().mean(), cut):
        with pytest.raises(RuntimeError, match="does not require grad"):
            loss.backward()


def test_s04_x5_backward_may_be_called_under_no_grad() -> None:
    x = torch.randn(3, 4, requires_grad=True)
    loss = x.mean()
    with torch.no_grad():
        loss.backward()
    torch.testing.assert_close(x.grad, torch.full((3, 4), 1 / 12))


def test_s04_x5_integers_are_refused_at_once() -> None:
    with pytest.raises(RuntimeError, match="floating point"):
        torch.tensor([1, 2, 3], requires_grad=True)


def test_s04_x5_detached_factor_is_a_constant() -> None:
    x = torch.tensor(3.0, requires_grad=True)
    (x * x.detach()).backward()
    assert x.grad == 3


def test_s04_x5_inference_tensors_are_not_saved() -> None:
    w = torch.randn(2, 3, requires_grad=True)
    with torch.inference_mode():
        h = torch.randn(2, 3)
    (h + w).sum().backward()
    (h.clone() * w).sum().backward()
    with pytest.raises(RuntimeError, match="cannot be saved for backward"):
        h * w


def test_s04_x5_half_a_graph_raises_nothing() -> None:
    encoder, head = nn.Linear(3, 3), nn.Linear(3, 1)
    with torch.no_grad():
        h = encoder(torch.randn(2, 3))
    head(h).sum().backward()
    assert encoder.weight.grad is None
    assert head.weight.grad is not None


@pytest.mark.parametrize("recorded", [True, False])
def test_s04_x5_what_a_graph_keeps(recorded: bool) -> None:
    layers = [nn.Sequential(nn.Linear(256, 256), nn.ReLU()) for _ in range(6)]
    model, batch, kept = nn.Sequential(*layers), torch.randn(512, 256), {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    with torch.set_grad_enabled(recorded), torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        _ = model(batch)
    for tensor in (batch, *model.parameters()):
        kept.pop(tensor.untyped_storage().data_ptr(), None)
    assert sum(tensor.nbytes for tensor in kept.values()) == (3 * 2**20 if recorded else 0)
