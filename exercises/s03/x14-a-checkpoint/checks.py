import contextlib
import pickle
import tempfile
from pathlib import Path
from unittest import mock

import torch
from torch import nn
from torch.nn import functional as F

X, Y = torch.linspace(-1, 1, 120).view(20, 6), torch.arange(20) % 3


def _run(seed):
    torch.manual_seed(seed)
    layers = nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 3)
    model = nn.Sequential(*layers)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    return model, optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: 0.5**n)


def _train(run, epochs):
    model, optimizer, schedule = run
    model.train()
    for _ in range(epochs):
        for index in torch.randperm(20).split(5):
            optimizer.zero_grad()
            F.cross_entropy(model(X[index]), Y[index]).backward()
            optimizer.step()
        schedule.step()
    return {name: t.clone() for name, t in model.state_dict().items()}


def _file():
    return Path(tempfile.mkdtemp()) / "run.pt"


def _resumed(save, load, seed, epochs=2):
    path, run = _file(), _run(seed)
    _train(run, epochs)
    save(path, *run, epochs)
    expected = _train(run, epochs)
    torch.rand(7)  # another process has drawn other numbers
    again = _run(seed + 1)
    epoch = load(path, *again)
    return expected, _train(again, epochs), epoch


def test_resumes(save, load):
    expected, found, _ = _resumed(save, load, 0)
    differ = [name for name, t in expected.items() if not t.equal(found[name])]
    assert not differ, f"after two epochs more these differ from the run without a restart: {', '.join(differ)}"


def test_epoch(save, load):
    assert _resumed(save, load, 0, epochs=3)[2] == 3, "load returns the epoch that save was told"


def test_random_numbers(save, load):
    path, run = _file(), _run(1)
    torch.rand(3)
    save(path, *run, 0)
    expected = torch.rand(4)
    load(path, *_run(2))
    assert torch.rand(4).equal(expected), "the random number generator is not where it was when the file was written"


def test_schedule(save, load):
    path, run = _file(), _run(1)
    _train(run, 2)
    save(path, *run, 2)
    _model, optimizer, schedule = again = _run(2)
    load(path, *again)
    schedule.step()
    rate = optimizer.param_groups[0]["lr"]
    assert abs(rate - 0.02 / 8) < 1e-9, f"after the third epoch the rate should be 0.0025, and it is {rate:g}"


def test_safe_file(save):
    path = _file()
    save(path, *_run(0), 1)
    try:
        torch.load(path, weights_only=True)
    except pickle.UnpicklingError as error:
        raise AssertionError(
            "the file holds objects, not states: torch.load refuses it with weights_only=True"
        ) from error


def test_runs_no_code(save, load):
    calls, real = [], torch.load

    def watched(*args, **kwargs):
        calls.append((args, kwargs))
        return real(*args, **kwargs)

    path = _file()
    save(path, *_run(0), 1)
    with mock.patch.object(torch, "load", watched):
        load(path, *_run(1))
    assert calls, "read the file with torch.load"
    assert all(kwargs.get("weights_only", True) is not False for _, kwargs in calls), (
        "weights_only=False runs whatever code is in the file"
    )


def test_from_a_gpu(save, load):
    path = _file()
    with mock.patch("torch.serialization.location_tag", lambda storage: "cuda:7"):
        save(path, *_run(0), 1)
    try:
        load(path, *_run(1))
    except RuntimeError as error:
        raise AssertionError("a checkpoint from a GPU cannot be loaded here: map_location says where to") from error


def test_old_file_survives(save):
    path = _file()
    save(path, *_run(0), 1)
    good = path.read_bytes()

    def breaks_off(state, file, *args, **kwargs):
        if hasattr(file, "write"):
            file.write(b"half")
        else:
            Path(file).write_bytes(b"half")
        raise OSError("no space left on device")

    with mock.patch.object(torch, "save", breaks_off), contextlib.suppress(OSError):
        save(path, *_run(1), 2)
    assert path.exists() and path.read_bytes() == good, "a save that failed destroyed the checkpoint before it"


def test_hidden_random(save, load, seed):
    for case in range(2):
        expected, found, epoch = _resumed(save, load, seed + case, epochs=1 + case)
        assert all(t.equal(found[name]) for name, t in expected.items()), "a resumed run strays"
        assert epoch == 1 + case, "the epoch is wrong"
