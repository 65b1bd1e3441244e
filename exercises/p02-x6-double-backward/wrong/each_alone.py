# test_parameters_meet: differentiates the norm of each parameter's gradient with respect to that parameter alone
import torch

Tensors = list[torch.Tensor]


def squared_gradient_norm(loss: torch.Tensor, parameters: Tensors) -> torch.Tensor:
    """Sum of the squares of all elements of the gradient, differentiable."""
    gradients = torch.autograd.grad(loss, parameters, create_graph=True, materialize_grads=True)
    return sum((g.square().sum() for g in gradients), start=torch.zeros(()))


def penalty_gradients(loss: torch.Tensor, parameters: Tensors) -> Tensors:
    """Gradient of the squared norm of the gradient, with respect to each parameter."""
    found = []
    for p in parameters:
        norm = squared_gradient_norm(loss, [p])
        zero = torch.zeros_like(p)
        found.append(
            torch.autograd.grad(norm, [p], materialize_grads=True, retain_graph=True)[0] if norm.requires_grad else zero
        )
    return found


def hessian_vector(loss: torch.Tensor, parameters: Tensors, vectors: Tensors) -> Tensors:
    """Product of the Hessian of the loss with a vector, without building the Hessian."""
    gradients = torch.autograd.grad(loss, parameters, create_graph=True, materialize_grads=True)
    along = sum(((g * v).sum() for g, v in zip(gradients, vectors, strict=True)), start=torch.zeros(()))
    if not along.requires_grad:
        return [torch.zeros_like(p) for p in parameters]
    return [g.detach() for g in torch.autograd.grad(along, parameters, materialize_grads=True)]
