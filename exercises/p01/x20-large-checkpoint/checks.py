import io
import random

import torch


def _address(t):
    return t.untyped_storage().data_ptr()


def _snug(t):
    return t.untyped_storage().nbytes() == t.nbytes


def test_stored_whole(stored):
    big = torch.zeros(100, 8)
    assert stored({"row": big[3]}) == 3200, "torch.save writes the whole storage of a view"


def test_stored_once(stored):
    x, y = torch.zeros(4, 5), torch.zeros(7, dtype=torch.float64)
    assert stored({"x": x, "t": x.t(), "row": x[1]}) == 80, "one storage is written once, however many tensors use it"
    assert stored({"x": x, "y": y}) == 80 + 56, "two storages are both written"


def test_values(compact):
    x = torch.arange(12.0).reshape(3, 4)
    made = compact({"column": x[:, 1], "t": x.t()})
    assert list(made) == ["column", "t"], "the names, and their order, stay"
    assert made["column"].equal(x[:, 1]) and made["t"].equal(x.t()), "the tensors must be equal to those given"


def test_small(compact):
    big = torch.zeros(100, 8)
    made = compact({"row": big[3], "part": big[:, :2]})
    assert all(map(_snug, made.values())), "a tensor still lies on a larger storage than its elements need"


def test_tied_stay_tied(compact):
    weight = torch.rand(3, 2)
    made = compact({"embedding": weight, "head": weight, "other": weight.clone()})
    assert _address(made["embedding"]) == _address(made["head"]), "weights that were tied are two tensors now"
    assert _address(made["other"]) != _address(made["head"]), "equal values do not make two tensors one"


def test_same_view_by_two_objects(compact):
    x = torch.arange(6.0).reshape(2, 3)
    made = compact({"first": x[1], "again": x[1]})
    assert _address(made["first"]) == _address(made["again"]), (
        "x[1] and x[1] are two objects and the very same view: storage, offset, shape, stride and dtype decide"
    )


def test_rows_are_not_tied(compact):
    x = torch.arange(6.0).reshape(2, 3)
    made = compact({"first": x[0], "second": x[1]})
    assert made["second"].equal(x[1]), "two rows of one storage are different views: their offsets differ"
    assert _address(made["first"]) != _address(made["second"]), "different views get storages of their own"


def test_dtype_is_part_of_a_view(compact):
    x = torch.arange(6.0)
    made = compact({"numbers": x, "bits": x.view(torch.int32)})
    assert made["bits"].dtype == torch.int32 and made["bits"].equal(x.view(torch.int32)), (
        "one storage read as floats and as integers is two views: the dtype is a part of what makes a view the same"
    )


def test_memory_order(compact):
    images = torch.rand(2, 3, 4, 5).to(memory_format=torch.channels_last)
    made = compact({"weight": images})["weight"]
    assert made.is_contiguous(memory_format=torch.channels_last), "channels_last was lost: the strides have changed"


def test_apart(compact):
    x = torch.zeros(2, 3)
    made = compact({"x": x})["x"]
    made.add_(1)
    assert x.sum() == 0, "writing into the result reached the given tensor: it was not copied"


def _state(draw):
    """Some views of some tensors, a few of them twice."""
    state = {}
    for number in range(draw.randint(1, 4)):
        dtype = draw.choice([torch.float32, torch.float64, torch.int16])
        shape = [draw.randint(2, 5) for _ in range(draw.randint(2, 3))]
        whole = torch.arange(torch.Size(shape).numel()).to(dtype).reshape(shape)
        views = [whole, whole.transpose(0, 1), whole[1:], whole[..., 0], whole[0], whole.view(torch.uint8)]
        for at in range(draw.randint(1, 5)):
            state[f"{number}.{at}"] = draw.choice(views)
    return state


def test_hidden_random(stored, compact, reference, seed):
    draw = random.Random(seed)
    for _ in range(40):
        state = _state(draw)
        assert stored(state) == reference.stored(state), "the bytes of a random state are wrong"
        ours, theirs = compact(state), reference.compact(state)
        assert all(ours[name].equal(t) and ours[name].dtype == t.dtype for name, t in state.items()), (
            "a tensor of a random state came out unequal"
        )
        assert all(map(_snug, ours.values())), "a storage of a random state is still too large"
        pairs = [(a, b) for a in state for b in state]
        assert all(
            (_address(ours[a]) == _address(ours[b])) == (_address(theirs[a]) == _address(theirs[b])) for a, b in pairs
        ), "other names share memory than should: only the very same views do"


def test_hidden_file(compact, seed):
    torch.manual_seed(seed)
    big = torch.rand(500, 40)
    file = io.BytesIO()
    torch.save(compact({"row": big[7], "again": big[7]}), file)
    size = len(file.getvalue())
    assert size < 4000, "the file of one small row, under two names, is still large"
