from typing import Any

import torch


def leaves(loss: torch.Tensor) -> list[torch.Tensor]:
    """Return the leaves that would get a gradient, each once."""
    ### BEGIN SOLUTION
    return [node.variable for node in _uses(loss) if hasattr(node, "variable")]
    ### END SOLUTION


def order(loss: torch.Tensor) -> list[str]:
    """Return the nodes' names in the order in which they will run."""
    ### BEGIN SOLUTION
    return [_name(node) for node in _order(loss)]
    ### END SOLUTION


def obstacle(loss: torch.Tensor) -> str | None:
    """Return the name of the first node that cannot run, or None.

    A node cannot run if a tensor that it saved was freed or edited.
    """
    ### BEGIN SOLUTION
    for node in _order(loss):
        for attribute in dir(node):
            if attribute.startswith("_saved_") or attribute == "saved_tensors":
                try:
                    getattr(node, attribute)
                except RuntimeError:
                    return _name(node)
    return None
    ### END SOLUTION


### BEGIN SOLUTION
def _name(node: Any) -> str:
    return node.name().split("::")[-1]


def _uses(loss: torch.Tensor) -> dict[Any, int]:
    """How many edges lead to each node."""
    uses = {loss.grad_fn: 0}
    found = [loss.grad_fn]
    for node in found:
        for after, _ in node.next_functions:
            if after is not None:
                if after not in uses:
                    found.append(after)
                uses[after] = uses.get(after, 0) + 1
    return uses


def _order(loss: torch.Tensor) -> list[Any]:
    """The nodes as backward will run them."""
    waiting, ready, done = _uses(loss), [loss.grad_fn], []
    while ready:
        node = max(ready, key=lambda one: one._sequence_nr())
        ready.remove(node)
        done.append(node)
        for after, _ in node.next_functions:
            if after is not None:
                waiting[after] -= 1
                if not waiting[after]:
                    ready.append(after)
    return done


### END SOLUTION
