import torch

Tensors = list[torch.Tensor]


def squared_gradient_norm(
    loss: torch.Tensor,
    parameters: Tensors,
) -> torch.Tensor:
    """Return the squared norm of the gradient, recorded."""
    ### BEGIN SOLUTION
    gradients = torch.autograd.grad(loss, parameters, create_graph=True, materialize_grads=True)
    return sum((g.square().sum() for g in gradients), start=torch.zeros(()))
    ### END SOLUTION


def penalty_gradients(
    loss: torch.Tensor,
    parameters: Tensors,
) -> Tensors:
    """Return the gradient of that squared norm, by parameter."""
    ### BEGIN SOLUTION
    norm = squared_gradient_norm(loss, parameters)
    if not norm.requires_grad:
        return [torch.zeros_like(p) for p in parameters]
    return [g.detach() for g in torch.autograd.grad(norm, parameters, materialize_grads=True)]
    ### END SOLUTION


def hessian_vector(
    loss: torch.Tensor,
    parameters: Tensors,
    vectors: Tensors,
) -> Tensors:
    """Return the Hessian of the loss times a vector.

    The Hessian is never built.
    """
    ### BEGIN SOLUTION
    gradients = torch.autograd.grad(loss, parameters, create_graph=True, materialize_grads=True)
    along = sum(((g * v).sum() for g, v in zip(gradients, vectors, strict=True)), start=torch.zeros(()))
    if not along.requires_grad:
        return [torch.zeros_like(p) for p in parameters]
    return [g.detach() for g in torch.autograd.grad(along, parameters, materialize_grads=True)]
    ### END SOLUTION
