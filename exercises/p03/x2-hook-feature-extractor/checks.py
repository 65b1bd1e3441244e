import random

import torch
from torch import nn


class _Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3, padding=1)
        self.norm = nn.BatchNorm2d(width)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        return self.act(self.norm(self.conv(x)) + x)


def _net(width=3, depth=2, seed=0):
    torch.manual_seed(seed)
    blocks = nn.Sequential(*(_Residual(width) for _ in range(depth)))
    return nn.Sequential(nn.Conv2d(1, width, 1), blocks, nn.Flatten(), nn.Linear(width * 16, 2)).eval()


def _picture(n=2):
    return torch.randn(n, 1, 4, 4, generator=torch.Generator().manual_seed(1))


def _hooks(model):
    return sum(len(m._forward_hooks) + len(m._forward_pre_hooks) for m in model.modules())


def test_values(features):
    net, x = _net(), _picture()
    with features(net, ["0", "1.0"]) as seen:
        out = net(x)
    first = net[0](x)
    assert set(seen) == {"0", "1.0"}, f"the dictionary has the asked names as keys, not {sorted(seen)}"
    assert torch.allclose(seen["0"], first), "each name holds the output of its own module"
    assert torch.allclose(seen["1.0"], net[1][0](first)), "each name holds the output of its own module"
    assert torch.equal(out, net(x)), "the model's own result must not change"


def test_output_keeps_its_graph(features):
    net = _net()
    with features(net, ["0", "1"]):
        out = net(_picture())
    assert out.requires_grad, "the result lost its graph: a hook that returns something replaces the output"
    out.sum().backward()
    assert net[0].weight.grad is not None, "no gradient passes the hooked module: what did the hook return?"


def test_detached(features):
    net = _net()
    with features(net, ["0"]) as seen:
        net(_picture())
    assert not seen["0"].requires_grad, "what is kept holds the whole graph of its forward in memory: detach it"


def test_snapshot(features):
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(inplace=True), nn.Linear(8, 1))
    with features(net, ["0"]) as seen:
        net(torch.randn(20, 4, generator=torch.Generator().manual_seed(0)))
    assert (seen["0"] < 0).any(), (
        "the ReLU behind it wrote into the kept tensor: detach() shares memory, clone() does not"
    )


def test_last_call(features):
    shared = nn.Linear(2, 2)
    net = nn.Sequential(shared, shared)
    with features(net, ["0"]) as seen, torch.no_grad():
        out = net(torch.ones(1, 2))
    assert torch.equal(seen["0"], out), "a module that is called twice keeps its last call"


def test_removed(features):
    net = _net()
    with features(net, ["0", "1.1.norm"]) as seen:
        net(_picture())
    kept = seen["0"].clone()
    assert _hooks(net) == 0, "after the block hooks are still attached: remove() every handle"
    net(_picture() + 1)
    assert torch.equal(seen["0"], kept), "a call after the block still changes the dictionary"


def test_removed_after_an_error(features):
    net = _net()
    try:
        with features(net, ["0"]):
            raise ValueError("from the block")
    except ValueError:
        pass
    assert _hooks(net) == 0, "an error in the block leaves the hooks attached: remove them in a finally"


def test_unknown_name(features):
    net = _net()
    try:
        with features(net, ["0", "nowhere"]):
            pass
    except KeyError:
        assert _hooks(net) == 0, "the hook of the first name stayed: look all names up before attaching any"
        return
    except (AttributeError, IndexError, StopIteration):
        pass
    raise AssertionError("a name that does not exist raises KeyError")


def test_keeps_hooks_of_others(features):
    net, calls = _net(), []
    handle = net[0].register_forward_hook(lambda *_: calls.append(1))
    with features(net, ["0"]):
        pass
    net(_picture())
    handle.remove()
    assert calls, "a hook that was there before is gone: remove only your own"


def test_replaced(replaced):
    net, x = _net(), _picture()
    with torch.no_grad():
        plain = net(x)
        with replaced(net, "0", torch.zeros_like):
            changed = net(x)
        expected = net[1:](torch.zeros_like(net[0](x)))
        assert not torch.equal(changed, plain), "the output of the module was not replaced: return the new one"
        assert torch.allclose(changed, expected, atol=1e-6), "what follows must see change(output)"
        assert torch.equal(net(x), plain), "after the block the model is as before"


def test_replaced_keeps_hooks_of_others(replaced):
    net, calls = _net(), []
    handle = net[0].register_forward_hook(lambda *_: calls.append(1))
    with replaced(net, "0", torch.zeros_like):
        pass
    net(_picture())
    handle.remove()
    assert calls, "after the block a hook that was there before is gone: remove only your own"


def test_replaced_leaves_the_module(replaced):
    net = _net()
    before = {name: set(vars(module)) for name, module in net.named_modules()}
    with replaced(net, "0", torch.zeros_like):
        pass
    after = {name: set(vars(module)) for name, module in net.named_modules()}
    assert after == before, (
        "after the block a module has an attribute of its own that it did not have: a `forward`, say"
    )


def test_replaced_cleans_up(replaced):
    net = _net()
    for name, expected in (("0", ValueError), ("nowhere", KeyError)):
        raised = None
        try:
            with replaced(net, name, torch.zeros_like):
                raise ValueError("from the block")
        except (ValueError, KeyError, AttributeError) as error:
            raised = type(error)
        assert raised is expected, f"an error in the block must come out, and an unknown name raise KeyError: {raised}"
        assert _hooks(net) == 0, "an error in the block leaves the hook attached"


def test_hidden_random(features, replaced, reference, seed):
    draw = random.Random(seed)
    for case in range(5):
        net, x = _net(draw.randint(2, 5), draw.randint(1, 4), seed + case), _picture(draw.randint(1, 3))
        names = draw.sample([name for name, _ in net.named_modules()], 6)
        with reference.features(net, names) as expected:
            net(x)
        with features(net, names) as seen:
            net(x)
        assert set(seen) == set(names), "a name is missing, or one too many is there"
        assert all(torch.allclose(seen[name], expected[name]) for name in names), "a kept value differs"
        name = draw.choice(names)
        with reference.replaced(net, name, torch.neg):
            wanted = net(x)
        with replaced(net, name, torch.neg):
            found = net(x)
        assert torch.allclose(found, wanted), "replacing a module's output has another effect"
        assert _hooks(net) == 0, "hooks are left behind"
