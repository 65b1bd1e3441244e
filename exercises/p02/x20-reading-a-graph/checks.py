import random

import torch


def _leaf(value):
    return torch.tensor(float(value), requires_grad=True)


def _nodes(loss):
    """Every node below `loss`, once."""
    found, seen = [loss.grad_fn], {loss.grad_fn}
    for node in found:
        for after, _ in node.next_functions:
            if after is not None and after not in seen:
                seen.add(after)
                found.append(after)
    return found


def _really(loss):
    """The names in the order in which PyTorch runs the nodes; the graph stays usable, and so do the leaves."""
    log, nodes = [], _nodes(loss)
    handles = [n.register_prehook(lambda g, n=n: log.append(n.name().split("::")[-1])) for n in nodes]
    variables = [n.variable for n in nodes if hasattr(n, "variable")]
    before = [v.grad for v in variables]
    for v in variables:
        v.grad = None
    try:
        loss.backward(retain_graph=True)
    finally:
        for v, grad in zip(variables, before, strict=True):
            v.grad = grad
        for handle in handles:
            handle.remove()
    return log


def _pool(side, depth):
    area = side * side
    return area.exp() * depth + area.sin()


def test_leaves(leaves):
    a, b, c = _leaf(1), _leaf(2), _leaf(3)
    found = leaves((a * a + a * b).exp() * torch.tensor(2.0))
    assert len(found) == 2, "each leaf is there once, and only leaves that require a gradient and were used are there"
    assert {id(leaf) for leaf in found} == {id(a), id(b)}, "the leaves are the tensors a and b themselves"
    assert c.grad is None, "nothing may run"


def test_chain(order):
    a = _leaf(1)
    expected = ["SinBackward0", "ExpBackward0", "AccumulateGrad"]
    assert order(a.exp().sin()) == expected, "a chain runs from the result to the leaf"


def test_waits(order):
    side = _leaf(1)
    loss = _pool(side, _leaf(2)) * side
    found, expected = order(loss), _really(loss)
    assert sorted(found) == sorted(expected), "every node runs exactly once, also one that two edges lead to"
    assert found == expected, "a node that is used twice runs only when both of its gradients have arrived"


def test_latest_first(order):
    a, b = _leaf(1), _leaf(2)
    one, two = a.sin().tanh(), b.exp().cos()
    loss = two * one
    assert order(loss) == _really(loss), "of two nodes that are ready, the one that was recorded last runs first"


def test_leaves_at_once(order):
    a, b = _leaf(1), _leaf(2)
    loss = a.sin() * b.exp().cos()
    loss = loss + a.tanh()
    assert order(loss) == _really(loss), "a leaf runs as soon as it is ready, before operations that are waiting"


def test_obstacle(obstacle):
    a, b = _leaf(1), _leaf(2)
    h = (a * b).exp()
    loss = (h * b).reshape(1).sum()
    assert obstacle(loss) is None, "a fresh graph has no obstacle"
    h.add_(1)
    assert obstacle(loss) == "MulBackward0", (
        "exp and the product both saved the edited tensor; the product runs first, so it is the obstacle"
    )
    loss = (a * b).exp()
    loss.backward()
    assert obstacle(loss) == "ExpBackward0", "the loss's own node, which runs first, may be the obstacle"
    loss = (a * b).exp().reshape(1).sum()
    loss.backward()
    assert obstacle(loss) == "ExpBackward0", (
        "sum and reshape saved no tensor and run again; exp is the first whose tensor was freed"
    )


def test_nothing_runs(leaves, order, obstacle):
    a, b = _leaf(1), _leaf(2)
    loss = _pool(a, b)
    calls = []
    for node in _nodes(loss):
        node.register_prehook(lambda g: calls.append(g))
    leaves(loss)
    order(loss)
    obstacle(loss)
    assert not calls, "backward was run; the graph was to be read"
    assert a.grad is None and b.grad is None, "no gradient may appear in .grad"


def test_deep(leaves, order):
    a = _leaf(1)
    total = a
    for _ in range(1500):
        total = total * 0.5 + total * 0.5
    try:
        assert len(leaves(total)) == 1, "there is one leaf at the bottom of a deep graph"
        found = order(total)
    except RecursionError:
        raise AssertionError("a graph thousands of nodes deep is too much for recursion") from None
    assert len(found) == 4501, "every node of a ladder of diamonds runs once"


class _Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 3

    @staticmethod
    def backward(ctx, g):
        return g * 3 + 0 * ctx.saved_tensors[0]


def test_own_function(obstacle):
    a = _leaf(1)
    inside = a * 2
    loss = _Own.apply(inside) + 1
    assert obstacle(loss) is None, "a Function's node has no obstacle either"
    inside.add_(1)
    assert obstacle(loss) == "_OwnBackward", "a Function keeps its tensors in saved_tensors, and they can be edited too"


_STEPS = (
    lambda a, b: a * b,
    lambda a, b: a + b,
    lambda a, b: a - b * b,
    lambda a, b: a.sin(),
    lambda a, b: a.exp() * 0.1,
    lambda a, b: a.tanh(),
)


def _random_loss(seed):
    """A graph at random, and its intermediate tensors."""
    draw = random.Random(seed)
    pool = [_leaf(draw.uniform(0.2, 1.0)) for _ in range(4)]
    made = []
    for _ in range(draw.randint(5, 14)):
        a, b = draw.choice(pool), draw.choice(pool)
        out = draw.choice(_STEPS)(a, b)
        pool.append(out)
        made.append(out)
    loss = made[-1]
    for other in draw.sample(made, min(3, len(made))):
        loss = loss + other
    return loss, made, draw


def test_hidden_random_orders(order, leaves, seed):
    for case in range(60):
        loss, _, _ = _random_loss(seed + case)
        assert order(loss) == _really(loss), "the order of a random graph is wrong"
        expected = {id(n.variable) for n in _nodes(loss) if hasattr(n, "variable")}
        found = leaves(loss)
        assert len(found) == len(expected), "the number of leaves of a random graph is wrong"
        assert {id(leaf) for leaf in found} == expected, "the leaves of a random graph are wrong"


def test_hidden_random_obstacles(obstacle, reference, seed):
    for case in range(80):
        loss, made, draw = _random_loss(seed + case)
        if case % 3:
            draw.choice(made).detach().add_(0.5)
        else:
            loss.backward()
        assert obstacle(loss) == reference.obstacle(loss), "the obstacle of a random graph is another node"
