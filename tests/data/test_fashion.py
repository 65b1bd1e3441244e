"""The torchvision data set: real bytes, the stand-in, and what is said about it."""

import os
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
import torchvision

import torchbook.data as data
from tests.data.conftest import IMAGES, RAW, fill
from torchbook import notices

GIVEN = os.environ.get("TORCHBOOK_DATA")  # before the tests' own room hides it


@pytest.fixture
def real_folder(repo: Path) -> Path:
    beside = repo.parent / "shared" / "data"
    for folder in (GIVEN, beside):
        if folder and any(Path(folder).rglob(f"{IMAGES}*")):
            return Path(folder)
    pytest.skip(reason="FashionMNIST's files are neither in TORCHBOOK_DATA nor in ../shared/data beside the repository")


@pytest.fixture
def cleared_notices() -> None:
    data.say.cache_clear()


def test_the_real_files_give_the_known_mean_and_deviation(real_folder: Path):
    train = data.fashion_mnist(train=True, root=real_folder, download=False)
    pixels = train.data.double() / 255
    assert train.source.real
    assert (train.data.shape, train.data.dtype) == ((60_000, 28, 28), torch.uint8)
    assert pixels.mean().item() == pytest.approx(0.2860, abs=5e-5)
    assert pixels.std().item() == pytest.approx(0.3530, abs=5e-5)
    assert train.targets.bincount().tolist() == [6_000] * 10
    assert notices.current() == ()


def test_the_real_test_split(real_folder: Path):
    test = data.fashion_mnist(train=False, root=real_folder, download=False)
    assert (len(test), test.targets.dtype) == (10_000, torch.int64)
    assert test.targets[:6].tolist() == [9, 2, 1, 1, 6, 1]


@pytest.mark.parametrize(("train", "name"), [(True, IMAGES), (False, "t10k-images-idx3-ubyte")])
def test_the_bytes_are_those_of_the_files(tmp_path: Path, use, train: bool, name: str):
    use()
    split = data.fashion_mnist(train, root=fill(tmp_path / "given"))
    assert split.data.numpy().tobytes() == RAW[name][16:]
    assert split.targets.tolist() == [i % 10 for i in range(len(split))]


def test_it_is_torchvisions_class_with_torchvisions_items(tmp_path: Path, use):
    use()
    kind = data.FashionMNIST
    dataset = data.fashion_mnist(True, str, lambda label: -label, root=fill(tmp_path / "given"))
    assert issubclass(kind, torchvision.datasets.FashionMNIST)
    assert kind.classes == torchvision.datasets.FashionMNIST.classes
    image, label = dataset[3]
    assert "mode=L size=28x28" in image
    assert label == -3


def test_torchvision_itself_reads_the_downloaded_folder(own: Path, use, mirror):
    use(f"{mirror.url}/a/")
    ours = data.fashion_mnist(True)
    theirs = torchvision.datasets.FashionMNIST(own, train=True)
    assert torch.equal(ours.data, theirs.data)
    assert torch.equal(ours.targets, theirs.targets)


def test_two_loads_do_not_share_memory(tmp_path: Path, use):
    use()
    first, second = (data.fashion_mnist(True, download=False) for _ in range(2))
    first.data.zero_()
    assert second.data.any()


def test_a_data_set_travels_to_a_worker(tmp_path: Path, use):
    use()
    dataset = data.fashion_mnist(True, root=fill(tmp_path / "given"))
    assert pickle.loads(pickle.dumps(dataset)).source == dataset.source


def test_its_text_is_the_same_on_every_machine(tmp_path: Path, use):
    use()
    assert str(tmp_path) not in repr(data.fashion_mnist(True, root=fill(tmp_path / "given")))


def test_without_mirrors_the_stand_in_comes_with_a_notice(
    use, mirror, cleared_notices, capsys: pytest.CaptureFixture[str]
):
    use(f"{mirror.url}/a/")
    mirror.answers["/a/"] = ["status 500 always"]
    train = data.fashion_mnist(train=True)
    assert (train.source.real, train.source.path) == (False, None)
    assert (train.data.shape, train.data.dtype) == ((60_000, 28, 28), torch.uint8)
    assert (train.targets.shape, train.targets.dtype) == ((60_000,), torch.int64)
    assert notices.current() == ("stand-in data, not FashionMNIST",)
    assert capsys.readouterr().out == train.source.note + "\n"


def test_the_stand_in_is_explained_once(use, cleared_notices, capsys: pytest.CaptureFixture[str]):
    use()
    data.fashion_mnist(True, download=False)
    data.fashion_mnist(False, download=False)
    note = capsys.readouterr().out
    assert note.count("stand-in") == 1
    assert "TORCHBOOK_DATA" in note
    assert notices.current() == ("stand-in data, not FashionMNIST",)


def test_both_splits_are_real_or_neither(tmp_path: Path, use):
    use()
    folder = fill(tmp_path / "given")
    (folder / "t10k-labels-idx1-ubyte.gz").write_bytes(b"")
    with pytest.warns(UserWarning, match="t10k-labels"):
        assert not data.fashion_mnist(True, root=folder, download=False).source.real


def test_describing_the_stand_in_gives_no_notice(use):
    use()
    data.prepare(download=False)
    assert notices.current() == ()


def test_the_package_has_no_other_names():
    with pytest.raises(AttributeError, match="no attribute 'mnist'"):
        _ = data.mnist


def test_notices_are_kept_once_in_order():
    for text in ("one", "two", "one"):
        notices.add(text)
    assert notices.current() == ("one", "two")
    notices.clear()
    assert notices.current() == ()


def test_labels_are_copied_with_their_own_type(tmp_path: Path, use):
    use()
    dataset = data.fashion_mnist(False, root=fill(tmp_path / "given"))
    assert isinstance(dataset[0][1], int)
    assert np.asarray(dataset[0][0]).shape == (28, 28)
