import json
import random
import re

import torch

_IMAGES = {"images": (torch.float32, (-1, 2, 3))}
_TWO = {"tokens": (torch.int64, (-1, -1)), "mask": (torch.bool, (-1, 4))}


def _parsed(text):
    """A text in the format of protobuf, as a dictionary; lists stay lists."""
    tokens = re.findall(r'"[^"]*"|[\[\]{}:,]|[^\s\[\]{}:,"]+', text)
    assert "".join(tokens) == re.sub(r'\s(?=(?:[^"]*"[^"]*")*[^"]*$)', "", text), "this text is not of the form shown"
    at = 0

    def peek():
        assert at < len(tokens), "the text ends too early: is a bracket open?"
        return tokens[at]

    def value():
        nonlocal at
        token = peek()
        at += 1
        if token == "{":
            found = {}
            while peek() != "}":
                field(found)
            at += 1
            return found
        if token == "[":
            found = []
            while peek() != "]":
                found.append(value())
                if peek() == ",":
                    at += 1
            at += 1
            return found
        return token.strip('"') if token.startswith('"') else int(token) if token.lstrip("-").isdigit() else token

    def field(into):
        nonlocal at
        name = peek()
        at += 1
        if peek() == ":":
            at += 1
        into[name] = value()

    found = {}
    while at < len(tokens):
        field(found)
    return found


def test_config(config):
    outputs = {"logits": (torch.float32, (-1, 10))}
    found = _parsed(config("two", _TWO, outputs, 16, 0.0005))
    assert (found.get("name"), found.get("max_batch_size")) == ("two", 16), f"name or max_batch_size is wrong: {found}"
    assert found.get("platform") == "onnxruntime_onnx", f"the platform is {found.get('platform')!r}"
    missing = {"input", "output", "dynamic_batching"} - set(found)
    assert not missing, f"the text does not mention {', '.join(sorted(missing))}"
    inputs = {entry["name"]: (entry["data_type"], entry["dims"]) for entry in found["input"]}
    assert inputs["tokens"][0] == "TYPE_INT64" and inputs["mask"][0] == "TYPE_BOOL", (
        f"data types must be TYPE_INT64 and TYPE_BOOL: {inputs}"
    )
    assert (inputs["tokens"][1], inputs["mask"][1]) == ([-1], [4]), (
        f"dims leave out the batch, [ -1 ] and [ 4 ], because Triton adds it: {inputs}"
    )
    expected = [{"name": "logits", "data_type": "TYPE_FP32", "dims": [10]}]
    assert found["output"] == expected, f"the output is {expected}, not {found['output']}"
    waits = found["dynamic_batching"]["max_queue_delay_microseconds"]
    assert waits == 500 and type(waits) is int, f"a delay of 0.0005 s is 500 microseconds, as an integer, not {waits!r}"


def _body(*inputs, **more):
    return json.dumps({**more, "inputs": list(inputs)}).encode()


def _input(**changed):
    """A right input for `_IMAGES`, with some parts changed; None leaves one out."""
    parts = {"name": "images", "shape": [1, 2, 3], "datatype": "FP32", "data": [0, 1, 2, 3, 4, 5.5]} | changed
    return {name: part for name, part in parts.items() if part is not None}


def test_decode(decode):
    for data in ([0, 1, 2, 3, 4, 5.5], [[[0, 1, 2], [3, 4, 5.5]]]):
        x = decode(_body(_input(data=data), id="7"), _IMAGES, 8)["images"]
        assert (x.dtype, tuple(x.shape)) == (torch.float32, (1, 2, 3)), (
            f"float32 of (1, 2, 3), not {x.dtype}, {x.shape}"
        )
        assert x.flatten().tolist() == [0, 1, 2, 3, 4, 5.5], f"row-major data {data} became {x.tolist()}"
    tokens = {"name": "tokens", "shape": [2, 3], "datatype": "INT64", "data": [2**40 + 1, 2, 3, 4, 5, 6]}
    mask = {"name": "mask", "shape": [2, 4], "datatype": "BOOL", "data": [True, False] * 4}
    found = decode(_body(mask, tokens), _TWO, 8)
    assert found["tokens"].dtype == torch.int64 and found["tokens"][0, 0].item() == 2**40 + 1, (
        f"an INT64 went through a float: {found['tokens'][0, 0].item()}"
    )
    assert found["mask"].dtype == torch.bool and tuple(found["mask"].shape) == (2, 4), "the mask holds booleans, (2, 4)"


_FAULTS = {
    "no JSON": b"{",
    "no object": b"3",
    "no inputs": b'{"id": "7"}',
    "inputs that are not a list": b'{"inputs": 5}',
    "a missing input": _body(),
    "an unknown input": _body(_input(), _input(name="x")),
    "an input twice": _body(_input(), _input()),
    "no datatype": _body(_input(datatype=None)),
    "a different datatype": _body(_input(datatype="FP64")),
    "a different shape": _body(_input(shape=[1, 3, 2])),
    "one size that is different": _body(_input(shape=[1, 2, 4], data=[0] * 8)),
    "too few dimensions": _body(_input(shape=[6])),
    "a size of -1": _body(_input(shape=[-1, 2, 3])),
    "a shape that is not a list": _body(_input(shape="1,2,3")),
    "too few numbers": _body(_input(data=[0, 1, 2])),
    "more numbers than the shape says": _body(_input(data=[0.5] * 12)),
    "words for numbers": _body(_input(data=["0"] * 6)),
    "null for a number": _body(_input(data=[0, 1, 2, 3, 4, None])),
    "true for a number": _body(_input(data=[0, 1, 2, 3, 4, True])),
    "data that is a number": _body(_input(data=3)),
    "an empty batch": _body(_input(shape=[0, 2, 3], data=[])),
    "a batch above max_batch": _body(_input(shape=[9, 2, 3], data=[0] * 54)),
}


def test_refuses(decode):
    decode(_body(_input()), _IMAGES, 8)
    for fault, body in _FAULTS.items():
        try:
            found = decode(body, _IMAGES, 8)
        except NotImplementedError:
            raise
        except ValueError:
            continue
        except Exception as error:
            found = f"a {type(error).__name__}, which the server would answer with 500, as if the fault were its own"
        raise AssertionError(f"a request with {fault} must raise ValueError; it gave {found}")


def test_encode(encode):
    x = torch.tensor([[1.5, 2.0], [3.0, 4.0], [5.0, 6.0]])
    found = json.loads(encode("fashion", {"logits": x.T, "best": torch.tensor([1, 2])}, "7"))
    assert (found.get("model_name"), found.get("id")) == ("fashion", "7"), f"model_name or id is missing: {found}"
    expected = [
        {"name": "logits", "shape": [2, 3], "datatype": "FP32", "data": [1.5, 3.0, 5.0, 2.0, 4.0, 6.0]},
        {"name": "best", "shape": [2], "datatype": "INT64", "data": [1, 2]},
    ]
    assert found.get("outputs") == expected, (
        f"flat row-major data, with name, shape and datatype, not {found['outputs']}"
    )
    assert "id" not in json.loads(encode("fashion", {"logits": x})), (
        "a request without an id gets an answer without one"
    )


class _Time:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


class _Model:
    """Adds 1; remembers the rows of each call; raises for rows with a negative number."""

    def __init__(self):
        self.calls = []

    def __call__(self, x):
        self.calls.append(len(x))
        if (x < 0).any():
            raise RuntimeError("negative")
        return x + 1


def _rows(*values):
    return torch.tensor([[float(v), 10.0 * v] for v in values])


def _batcher(make, max_batch=4, delay=0.25):
    clock, model = _Time(), _Model()
    return make(model, max_batch, delay, clock), model, clock


def test_full_batch(Batcher):
    batcher, model, _ = _batcher(Batcher)
    assert batcher.due() is None, "nothing waits, so nothing is due"
    batcher.poll()
    tickets = [batcher.submit(_rows(1)), batcher.submit(_rows(2))]
    batcher.poll()
    assert tickets == [0, 1] and model.calls == [], "two rows of four wait for others, and for 0.25 s"
    batcher.submit(_rows(3, 4))
    assert batcher.due() == 100.0, (
        f"four rows, in three requests, fill the batch, so it is due now, at 100, not {batcher.due()}"
    )
    batcher.poll()
    assert model.calls == [4], f"one call with four rows, not calls with {model.calls}"
    assert batcher.due() is None, "nothing waits any more, so nothing is due"


def test_oldest_decides(Batcher):
    batcher, model, clock = _batcher(Batcher, max_batch=3)
    for i in range(2):
        batcher.submit(_rows(i))
        clock.now += 0.125
        if i == 0:
            assert batcher.due() == 100.25, f"the first request came at 100 and waits until 100.25, not {batcher.due()}"
            batcher.poll()
    assert batcher.due() == 100.25, f"a second request does not start the time again: 100.25, not {batcher.due()}"
    batcher.poll()
    assert model.calls == [2], (
        f"at 100.25, the oldest request has waited long enough: one call with two rows, not {model.calls}"
    )
    batcher.submit(_rows(1, 2))
    clock.now += 0.125
    batcher.submit(_rows(3, 4))
    batcher.poll()
    assert batcher.due() == 100.625, f"what is left came at 100.375 and is due at 100.625, not {batcher.due()}"


def test_rows(Batcher):
    batcher, model, clock = _batcher(Batcher)
    sent = [_rows(1), _rows(2, 3), _rows(4, 5), _rows(6), _rows(7, 8, 9, 10)]
    for x in sent:
        batcher.submit(x)
    for _ in range(2):
        batcher.poll()
    assert model.calls == [3, 3], (
        "requests of 1, 2, 2, 1 and 4 rows, at most 4 together, in order, none split: batches of 3, 3 and 4, "
        f"not {model.calls}"
    )
    clock.now += 1
    batcher.poll()
    assert model.calls == [3, 3, 4], f"the last request fills a batch by itself: {model.calls}"
    for ticket, x in enumerate(sent):
        found = batcher.results[ticket]
        assert found.equal(x + 1), f"request {ticket} has {len(x)} rows, {x.tolist()}; its answer is {found.tolist()}"


def test_bad_neighbour(Batcher):
    batcher, model, _ = _batcher(Batcher)
    for x in (_rows(1), _rows(-2), _rows(3), _rows(3)):
        batcher.submit(x)
    batcher.poll()
    assert isinstance(batcher.results[1], RuntimeError), (
        f"the bad request gets its own exception, not {batcher.results.get(1)!r}"
    )
    good = batcher.results[0]
    assert isinstance(good, torch.Tensor) and good.equal(_rows(1) + 1), (
        f"a good request got {good!r} because of its neighbour"
    )
    assert max(model.calls) == 4, "the requests must be tried together first"
    for x in (torch.ones(1, 5), _rows(4), _rows(5, 6)):
        batcher.submit(x)
    batcher.poll()
    found = batcher.results[5]
    assert isinstance(found, torch.Tensor) and found.equal(_rows(4) + 1), (
        f"a request of a different shape cannot join the batch, but its good neighbour got {found!r}"
    )
    before = len(model.calls)
    ticket = batcher.submit(_rows(-1, -2, -3, -4))
    batcher.poll()
    assert isinstance(batcher.results[ticket], RuntimeError), "a bad request that fills a batch gets its exception, too"
    assert len(model.calls) == before + 1, "a batch of one request raised an exception and was run again"


def test_hidden_wire(decode, encode, config, seed):
    torch.manual_seed(seed)
    draw = random.Random(seed)
    kinds = {torch.float32: "FP32", torch.int64: "INT64", torch.uint8: "UINT8", torch.bool: "BOOL"}
    for _ in range(10):
        batch, declared, tensors = draw.randint(1, 5), {}, {}
        for name in draw.sample(["a", "b", "c_d"], draw.randint(1, 3)):
            shape = [draw.randint(1, 4) for _ in range(draw.randint(0, 3))]
            dtype = draw.choice(list(kinds))
            tensors[name] = torch.randint(0, 2, (batch, *shape)).to(dtype)
            declared[name] = dtype, (-1, *(draw.choice([n, -1]) for n in shape))
        parts = json.loads(encode("m", tensors))["outputs"]
        found = decode(_body(*parts), declared, 5)
        same = all(found[k].dtype == x.dtype and found[k].equal(x) for k, x in tensors.items())
        assert same, f"what was encoded is not what is decoded: {found}"
        written = _parsed(config("m", declared, declared, 5, 0.001 * batch))
        dims = {e["name"]: (e["data_type"], e["dims"]) for e in written["input"]}
        expected = {name: (f"TYPE_{kinds[dtype]}", list(shape[1:])) for name, (dtype, shape) in declared.items()}
        assert dims == expected, f"the inputs are {expected}, not {dims}"
        waits = written["dynamic_batching"]["max_queue_delay_microseconds"]
        assert waits == 1000 * batch, f"{0.001 * batch} s are {1000 * batch} microseconds, not {waits}"


def test_hidden_batcher(Batcher, reference, seed):
    draw = random.Random(seed)
    for _ in range(10):
        most = draw.randint(2, 6)
        found, right = (_batcher(make, most) for make in (Batcher, reference.Batcher))
        for k in range(40):
            x = _rows(*[draw.choice([k, k, k, -k]) for _ in range(draw.randint(1, most))])
            step, polls = draw.choice([0.0, 0.0, 0.125, 0.25]), draw.randint(0, 2)
            for batcher, _, clock in (found, right):
                batcher.submit(x)
                clock.now += step
                for _ in range(polls):
                    batcher.poll()
            times = found[0].due(), right[0].due()
            assert times[0] == times[1], f"due at {times[1]}, not {times[0]}"
            assert found[1].calls == right[1].calls, f"the rows of the calls are {right[1].calls}, not {found[1].calls}"
        answers = found[0].results
        assert set(answers) == set(right[0].results), "the wrong requests are answered"
        for ticket, expected in right[0].results.items():
            if isinstance(expected, torch.Tensor):
                assert isinstance(answers[ticket], torch.Tensor) and answers[ticket].equal(expected), (
                    f"request {ticket} got {answers[ticket]!r}"
                )
            else:
                assert isinstance(answers[ticket], RuntimeError), f"bad request {ticket} got {answers[ticket]!r}"
