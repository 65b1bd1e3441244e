"""Downloads survive bad mirrors, leave nothing half done, and happen once."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import torchbook.data as data
from tests.data.conftest import IMAGES, RAW, fill
from torchbook.data import cache

WORKER = """
import sys
from pathlib import Path
import tests.data.conftest as conftest
import torchbook.data as data
from torchbook.data import cache

cache.platformdirs.user_cache_path = lambda _: Path(sys.argv[1])
cache.DATASETS["fashion-mnist"] = conftest.tiny(sys.argv[2])
{before}
print("started", flush=True)
print(data.prepare().real, flush=True)
"""


def worker(repo: Path, own: Path, url: str, before: str = "") -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WORKER.format(before=before), str(own), url]
    return subprocess.Popen(command, cwd=repo, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_all_files_are_fetched_once_and_kept(own: Path, use, mirror):
    wanted = use(f"{mirror.url}/a/")
    assert data.prepare().path == own / "FashionMNIST" / "raw"
    assert cache.load(wanted).files == RAW
    assert mirror.hits == {f"/a/{name}.gz": 1 for name in RAW}


def test_a_given_folder_takes_the_download(tmp_path: Path, own: Path, use, mirror):
    use(f"{mirror.url}/a/")
    assert data.prepare(root=tmp_path / "given").path == tmp_path / "given" / "FashionMNIST" / "raw"
    assert not own.exists()


def test_only_what_is_missing_is_fetched(own: Path, use, mirror):
    use(f"{mirror.url}/a/")
    folder = fill(own / "FashionMNIST" / "raw")
    (folder / f"{IMAGES}.gz").unlink()
    assert data.prepare().real
    assert mirror.hits == {f"/a/{IMAGES}.gz": 1}


@pytest.mark.parametrize("answer", ["status 500", "status 404", "html", "short", "reset"])
def test_the_next_mirror_is_asked_at_once(use, mirror, answer: str, monkeypatch: pytest.MonkeyPatch):
    use(f"{mirror.url}/a/", f"{mirror.url}/b/")
    mirror.answers["/a/"] = [f"{answer} always"]
    monkeypatch.setattr(cache.time, "sleep", lambda _: pytest.fail("waited although another mirror was left"))
    assert data.prepare().real
    assert mirror.hits[f"/a/{IMAGES}.gz"] == mirror.hits[f"/b/{IMAGES}.gz"] == 1


@pytest.mark.parametrize("answer", ["status 500", "status 503", "status 429", "short", "reset"])
def test_a_passing_failure_is_tried_again(own: Path, use, mirror, answer: str):
    use(f"{mirror.url}/a/")
    mirror.answers[f"/a/{IMAGES}.gz"] = [answer, answer]
    assert data.prepare().real
    assert mirror.hits[f"/a/{IMAGES}.gz"] == 3
    assert sorted(path.name for path in (own / "FashionMNIST" / "raw").iterdir()) == sorted(RAW)


def test_the_pauses_grow(use, mirror, monkeypatch: pytest.MonkeyPatch):
    use(f"{mirror.url}/a/")
    mirror.answers["/a/"] = ["status 500 always"]
    pauses: list[float] = []
    monkeypatch.setattr(cache, "BACKOFF", 1.0)
    monkeypatch.setattr(cache.time, "sleep", pauses.append)
    data.prepare()
    assert len(pauses) == cache.ROUNDS - 1
    assert all(0.5 * 2**i <= pause <= 1.5 * 2**i for i, pause in enumerate(pauses))


def test_a_silent_mirror_is_given_up(use, mirror, monkeypatch: pytest.MonkeyPatch):
    use(f"{mirror.url}/a/")
    mirror.gate.clear()
    monkeypatch.setattr(cache, "TIMEOUT", 0.05)
    assert not data.prepare().real
    mirror.gate.set()


@pytest.mark.parametrize("answer", ["status 404", "html"])
def test_a_mirror_without_the_file_is_not_asked_again(use, mirror, answer: str):
    use(f"{mirror.url}/a/")
    mirror.answers["/a/"] = [f"{answer} always"]
    source = data.prepare()
    assert not source.real
    assert "no mirror gave a good copy" in source.note
    assert mirror.hits.total() == 1


def test_without_a_network_each_mirror_is_tried_once_a_process(
    own: Path, use, refused, monkeypatch: pytest.MonkeyPatch
):
    use(refused, f"{refused}other/")
    attempts: list[str] = []
    get = cache._get
    monkeypatch.setattr(cache, "_get", lambda url, *a, **k: attempts.append(url) or get(url, *a, **k))
    monkeypatch.setattr(cache.time, "sleep", lambda _: pytest.fail("waited for a network that is not there"))
    assert not data.prepare().real
    source = data.prepare()
    assert len(attempts) == 2
    assert "no mirror could be reached" in source.note
    assert list((own / "FashionMNIST" / "raw").iterdir()) == []


def test_an_unknown_host_counts_as_no_network(use, monkeypatch: pytest.MonkeyPatch):
    def no_name(*_: object, **__: object) -> None:
        raise cache.urllib.error.URLError(cache.socket.gaierror(-2, "Name or service not known"))

    use("https://one.invalid/", "https://two.invalid/")
    monkeypatch.setattr(cache.urllib.request, "urlopen", no_name)
    assert "no mirror could be reached" in data.prepare().note


def test_download_false_asks_nobody(use, mirror):
    use(f"{mirror.url}/a/")
    assert not data.prepare(download=False).real
    assert mirror.hits == {}


def test_a_folder_that_cannot_be_made_falls_back_to_the_users_cache(tmp_path: Path, own: Path, use, mirror):
    use(f"{mirror.url}/a/")
    unmounted = tmp_path / "link"
    unmounted.symlink_to(tmp_path / "nowhere" / "at all")
    assert data.prepare(root=unmounted).path == own / "FashionMNIST" / "raw"


def test_a_read_only_folder_falls_back_to_the_users_cache(
    tmp_path: Path, own: Path, use, mirror, monkeypatch: pytest.MonkeyPatch
):
    use(f"{mirror.url}/a/")
    folder = tmp_path / "given"
    folder.mkdir()
    folder.chmod(0o555)
    temporary = cache.tempfile.TemporaryFile

    def refuse(dir: Path):  # the superuser may write in spite of the mode
        if dir == folder:
            raise PermissionError(13, "Permission denied")
        return temporary(dir=dir)

    monkeypatch.setattr(cache.tempfile, "TemporaryFile", refuse)
    assert data.prepare(root=folder).path == own / "FashionMNIST" / "raw"
    assert list(folder.iterdir()) == []


def test_a_full_disk_leaves_no_part(own: Path, use, mirror, monkeypatch: pytest.MonkeyPatch):
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    use(f"{mirror.url}/a/")
    monkeypatch.setattr(cache.os, "fsync", full)
    source = data.prepare()
    assert "No space left on device" in source.note
    assert list((own / "FashionMNIST" / "raw").iterdir()) == []


def test_a_bad_file_in_a_given_folder_is_kept_beside_its_successor(tmp_path: Path, use, mirror):
    use(f"{mirror.url}/a/")
    folder = fill(tmp_path / "FashionMNIST" / "raw", zipped=False, images=b"bad")
    with pytest.warns(UserWarning, match="passed over"), pytest.warns(UserWarning, match="set aside"):
        assert data.prepare(root=tmp_path).real
    assert (folder / f"{IMAGES}.corrupt").read_bytes() == b"bad"


def test_two_processes_download_once(repo: Path, own: Path, mirror):
    mirror.gate.clear()
    workers = [worker(repo, own, f"{mirror.url}/a/") for _ in range(2)]
    for process in workers:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
    mirror.gate.set()
    assert [process.communicate(timeout=30)[0] for process in workers] == ["True\n", "True\n"]
    assert mirror.hits == {f"/a/{name}.gz": 1 for name in RAW}


def test_what_a_killed_download_left_is_not_used(repo: Path, own: Path, use, mirror):
    die = "import os, signal; os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)"
    process = worker(repo, own, f"{mirror.url}/a/", before=die)
    process.communicate(timeout=30)
    assert process.returncode == -signal.SIGKILL
    folder = own / "FashionMNIST" / "raw"
    assert [path.suffix for path in folder.iterdir()] == [".part"]
    use(f"{mirror.url}/a/")
    assert not data.prepare(download=False).real
    assert data.prepare().real
    assert sorted(os.listdir(folder)) == sorted(RAW)
