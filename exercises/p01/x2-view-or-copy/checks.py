import random

import torch
from torch.overrides import TorchFunctionMode


def test_transpose(verdict):
    assert verdict(lambda t: t.t(), torch.zeros(2, 3)) == "view", "a transpose lies on the same storage"


def test_slice(verdict):
    assert verdict(lambda t: t[1:], torch.zeros(3, 2)) == "view", "a slice begins further in, on the same storage"


def test_view_of_a_slice(verdict):
    t = torch.zeros(4, 3)[1:]
    assert verdict(lambda t: t.t(), t) == "view", (
        "t itself begins further in on its storage: compare storages, and not with the address of an element"
    )


def test_equal_values(verdict):
    assert verdict(torch.clone, torch.ones(3)) == "copy", "a clone has equal values on a storage of its own"


def test_same(verdict):
    t = torch.zeros(2, 3)
    assert verdict(torch.Tensor.contiguous, t) == "same", "contiguous() of a contiguous tensor is that tensor"
    assert verdict(lambda t: t.view(2, 3), t) == "view", "a view of equal shape is another object on the same storage"


def test_depends_on_strides(verdict):
    t = torch.zeros(2, 3)
    found = verdict(lambda t: t.reshape(6), t), verdict(lambda t: t.reshape(6), t.t())
    assert found == ("view", "copy"), "reshape copies exactly where no view exists"


def test_expanded(verdict):
    t = torch.arange(3.0).expand(4, 3)
    assert verdict(lambda t: t[0], t) == "view", "several elements may share a place; addresses still tell"


def test_detached(verdict):
    t = torch.zeros(2, 3)
    assert verdict(torch.Tensor.detach, t) == "view", (
        "detach() is not recorded as a view (its _base is None), and lies on the same storage all the same"
    )


_IN_PLACE = "__setitem__", "__iadd__", "__isub__", "__imul__", "__itruediv__"


class _Writes(TorchFunctionMode):
    """Notes operations that write into the memory of a tensor, under whatever name."""

    def __init__(self, t):
        super().__init__()
        self.memory, self.seen = t.untyped_storage().data_ptr(), []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        name = function.__name__
        in_place = name in _IN_PLACE or (name.endswith("_") and not name.endswith("__"))
        if in_place and args[0].untyped_storage().data_ptr() == self.memory:
            self.seen.append(name)
        return function(*args, **kwargs or {})


def test_nothing_is_written(verdict):
    t = torch.arange(6.0).reshape(2, 3)
    before = t._version
    with _Writes(t) as writes:
        verdict(lambda t: t.t(), t)
    assert t._version == before and not writes.seen, (
        "the tensor was written to, by itself or by way of .data: someone else may have been reading it"
    )


def test_other_dtype(verdict):
    assert verdict(lambda t: t.view(torch.int32), torch.zeros(2, 3)) == "view", (
        "floats that are read as integers lie on the same storage: the dtype has no say"
    )


OPERATIONS = {
    "reshape": lambda t: t.reshape(-1),
    "transpose": lambda t: t.t(),
    "clone": lambda t: t.clone(),
    "contiguous": lambda t: t.contiguous(),
    "list": lambda t: t[[0]],
}


def test_silent_copies(silent_copies):
    t = torch.zeros(2, 3)
    found = silent_copies(OPERATIONS, [t, t.t()])
    assert "clone" not in found and "list" not in found, "what always copies is not silent: everybody knows"
    assert "transpose" not in found, "what never copies is no silent copy"
    assert set(found) == {"reshape", "contiguous"}, "reshape and contiguous copy the transpose and not the matrix"


def test_never_a_copy(silent_copies):
    t = torch.zeros(2, 3)
    found = silent_copies({"rows": lambda t: t if t.is_contiguous() else t.t()}, [t, t.t()])
    assert not found, "here the verdicts are `same` and `view`: they differ, and nothing was copied"


def _some(draw):
    t = torch.zeros([draw.randint(1, 3) for _ in range(2)])
    return draw.choice([t, t.t(), t.expand(2, *t.shape)[0], t[:, :1], t.t().contiguous()])


def test_hidden_random(verdict, silent_copies, reference, seed):
    draw = random.Random(seed)
    tensors = [_some(draw) for _ in range(30)]
    more = OPERATIONS | {
        "to": lambda t: t.to(torch.float32),
        "wide": lambda t: t.double(),
        "flat": lambda t: t.flatten(),
    }
    for operation in more.values():
        for t in tensors:
            assert verdict(operation, t) == reference.verdict(operation, t), "some verdict on a random view is wrong"
    for k in (1, 5, 30):
        found = set(silent_copies(more, tensors[:k]))
        assert found == reference.silent_copies(more, tensors[:k]), (
            "the set of silent copies is wrong for other tensors"
        )
