"""Files are found where they lie, and nothing but the right bytes is ever used."""

import gzip
import io
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import torchbook.data as data
from tests.data.conftest import IMAGES, RAW, fill
from torchbook.data import cache


def flip(raw: bytes) -> bytes:
    return raw[:400] + bytes([raw[400] ^ 1]) + raw[401:]


BAD_FILES = {
    "cut short": gzip.compress(RAW[IMAGES])[:-200],
    "without its end": gzip.compress(RAW[IMAGES])[:-4],
    "empty": b"",
    "one flipped bit": gzip.compress(flip(RAW[IMAGES])),
    "one byte missing": gzip.compress(RAW[IMAGES][:-1]),
    "one byte too many": gzip.compress(RAW[IMAGES] + b"\0"),
    "gzip bomb": gzip.compress(bytes(50_000_000)),
    "error page": b"<html>404 Not Found</html>",
    "rubbish behind": gzip.compress(RAW[IMAGES]) + b"rubbish",
}


@pytest.mark.parametrize("zipped", [True, False], ids=["gzipped", "raw"])
@pytest.mark.parametrize("layout", ["FashionMNIST/raw", "raw", "."])
def test_a_given_folder_is_used_in_place(tmp_path: Path, own: Path, use, layout: str, zipped: bool):
    use()
    folder = fill(tmp_path / "given" / layout, zipped=zipped)
    before = sorted(path.name for path in folder.iterdir())
    source = data.prepare(root=tmp_path / "given")
    assert (source.real, source.path, source.note) == (True, folder, "")
    assert sorted(path.name for path in folder.iterdir()) == before
    assert not own.exists()


def test_the_environment_names_the_folder(tmp_path: Path, use, monkeypatch: pytest.MonkeyPatch):
    use()
    folder = fill(tmp_path / "given")
    monkeypatch.setenv("TORCHBOOK_DATA", str(folder))
    assert data.prepare().path == folder


def test_the_users_cache_needs_no_name(own: Path, use):
    use()
    assert data.prepare(download=False).real is False
    folder = fill(own / "FashionMNIST" / "raw")
    assert data.prepare(download=False).path == folder


@pytest.mark.parametrize("content", BAD_FILES.values(), ids=BAD_FILES)
def test_a_bad_file_in_a_given_folder_is_named_and_passed_over(tmp_path: Path, use, content: bytes):
    use()
    bad = fill(tmp_path / "given", images=content) / f"{IMAGES}.gz"
    with pytest.warns(UserWarning, match=rf"{IMAGES}\.gz .*passed over"):
        source = data.prepare(root=tmp_path / "given", download=False)
    assert not source.real
    assert bad.read_bytes() == content


def test_no_more_than_the_known_size_is_unpacked():
    file = cache.IdxFile("bomb", "", (100,))
    taken = []

    class Counting(gzip.GzipFile):
        def read(self, size: int | None = -1) -> bytes:
            taken.append(size)
            return super().read(size)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache.gzip, "GzipFile", Counting)
        with pytest.raises(cache._BadFileError, match="too long"):
            cache._verified(io.BytesIO(BAD_FILES["gzip bomb"]), file, zipped=True)
    assert taken == [file.size + 1]


@pytest.mark.parametrize("content", BAD_FILES.values(), ids=BAD_FILES)
def test_a_bad_file_in_the_users_cache_is_set_aside_and_fetched_anew(own: Path, use, mirror, content: bytes):
    use(f"{mirror.url}/a/")
    folder = fill(own / "FashionMNIST" / "raw", images=content)
    with pytest.warns(UserWarning, match=rf"{IMAGES}\.gz .* set aside as {IMAGES}\.gz\.corrupt"):
        assert data.prepare().real
    assert (folder / f"{IMAGES}.gz.corrupt").read_bytes() == content
    assert (folder / IMAGES).read_bytes() == RAW[IMAGES]
    assert mirror.hits == {f"/a/{IMAGES}.gz": 1}


def test_a_bad_file_in_the_users_cache_is_set_aside_without_a_network_too(own: Path, use):
    use()
    folder = fill(own / "FashionMNIST" / "raw", zipped=False, images=b"")
    with pytest.warns(UserWarning, match="set aside"):
        assert not data.prepare(download=False).real
    assert (folder / f"{IMAGES}.corrupt").exists()


def test_a_good_copy_beside_a_bad_one_is_used(tmp_path: Path, use):
    use()
    folder = fill(fill(tmp_path / "given"), zipped=False, images=b"bad")
    with pytest.warns(UserWarning, match="passed over"):
        assert data.prepare(root=folder).real


def test_a_changed_file_is_noticed_by_the_next_load(tmp_path: Path, use):
    wanted = use()
    folder = fill(tmp_path / "given", zipped=False)
    assert cache.load(wanted, root=folder).files
    (folder / IMAGES).write_bytes(flip(RAW[IMAGES]))
    with pytest.warns(UserWarning, match="checksum"):
        assert not cache.load(wanted, root=folder, download=False).files


def test_asking_without_download_writes_nothing(tmp_path: Path, own: Path, use):
    use("http://unused.invalid/")
    data.prepare(root=tmp_path / "given", download=False)
    assert not own.exists()
    assert not (tmp_path / "given").exists()


def test_an_unknown_name_is_refused():
    with pytest.raises(data.DataError, match=r"'fashion'.*fashion-mnist"):
        data.prepare("fashion")


def test_a_file_in_the_folders_place_is_refused(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(data.DataError, match=r"file is not a folder; set TORCHBOOK_DATA"):
        data.prepare(root=tmp_path / "file")


def test_a_lock_that_is_never_given_back_is_named(own: Path, use, mirror, monkeypatch: pytest.MonkeyPatch):
    use(f"{mirror.url}/a/")
    monkeypatch.setattr(cache, "LOCK_TIMEOUT", 0.01)
    own.mkdir()
    with cache.filelock.FileLock(own / "FashionMNIST.lock"), pytest.raises(data.DataError, match=r"FashionMNIST\.lock"):
        data.prepare()


def test_real_and_stand_in_have_different_stable_fingerprints(tmp_path: Path, use):
    official = cache.DATASETS["fashion-mnist"].fingerprint
    assert official == "5c7670c0d80880065998992781e71befbe589a48efe1b9aefb5a5736407f886e"
    use()
    real = data.prepare(root=fill(tmp_path / "given"))
    raw = data.prepare(root=fill(tmp_path / "raw", zipped=False))
    drawn = data.prepare(download=False)
    assert real.fingerprint == raw.fingerprint
    assert len({official, real.fingerprint, drawn.fingerprint}) == 3


def test_the_stand_in_can_be_asked_for_where_the_real_files_are(
    tmp_path: Path, use, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tmp_path / "data")
    use()
    assert data.prepare(root=tmp_path / "data").real
    monkeypatch.setenv("TORCHBOOK_STANDIN", "1")
    source = data.prepare(root=tmp_path / "data")
    assert not source.real
    assert source.note.endswith("the environment variable TORCHBOOK_STANDIN asks for it.")
    monkeypatch.setenv("TORCHBOOK_STANDIN", "0")
    assert data.prepare(root=tmp_path / "data").real


def test_good_files_give_no_warning(tmp_path: Path, use):
    use()
    fill(tmp_path / "given")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data.prepare(root=tmp_path / "given")


def test_preparing_imports_neither_torch_nor_torchvision(tmp_path: Path):
    code = (
        "import sys, torchbook.data as data; data.prepare(root=sys.argv[1], download=False);"
        "assert not {'torch', 'torchvision'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
