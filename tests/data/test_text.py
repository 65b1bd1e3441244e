"""Tiny Shakespeare: the verified file, a download, or scenes that nobody wrote."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

import torchbook.data as data
from torchbook import notices
from torchbook.data import cache, plays

SCENE = b"First Citizen:\nBefore we proceed any further, hear me speak.\n"


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch):
    """Put one short scene, with these mirrors, in Tiny Shakespeare's place."""

    def replace(*mirrors: str) -> cache.Dataset:
        file = cache.PlainFile("input.txt", hashlib.md5(SCENE, usedforsecurity=False).hexdigest(), len(SCENE))
        wanted = cache.Dataset("tiny-shakespeare", "tinyshakespeare", (file,), mirrors)
        monkeypatch.setitem(cache.DATASETS, "tiny-shakespeare", wanted)
        return wanted

    return replace


@pytest.mark.parametrize("folder", ["tinyshakespeare", "."])
def test_a_file_in_place_is_used(scene, tmp_path: Path, folder: str):
    scene()
    place = tmp_path / "given" / folder
    place.mkdir(parents=True)
    (place / "input.txt").write_bytes(SCENE)
    read = data.tiny_shakespeare(root=tmp_path / "given", download=False)
    assert read.text == SCENE.decode()
    assert read.source.real
    assert notices.current() == ()


def test_another_file_of_that_name_is_passed_over(scene, tmp_path: Path):
    scene()
    (tmp_path / "input.txt").write_bytes(SCENE.replace(b"hear", b"hare"))
    with pytest.warns(UserWarning, match=r"input\.txt does not have the known checksum; it is passed over"):
        read = data.tiny_shakespeare(root=tmp_path, download=False)
    assert not read.source.real


def test_without_file_and_mirror_the_stand_in_comes_with_a_notice(scene, refused: str, capsys):
    scene(refused)
    data.say.cache_clear()
    read = data.tiny_shakespeare()
    assert read.text == plays.text()
    assert notices.current() == ("stand-in text, not Tiny Shakespeare",)
    assert "generated stand-in text, not Tiny Shakespeare" in capsys.readouterr().out
    assert data.prepare("tiny-shakespeare").fingerprint == plays.FINGERPRINT


def test_a_mirror_may_be_a_folder_or_the_file_itself(scene):
    wanted = scene()
    assert wanted.address("https://a.example/b/", wanted.files[0]) == "https://a.example/b/input.txt"
    assert wanted.address("https://a.example/c.txt", wanted.files[0]) == "https://a.example/c.txt"


def test_the_mirrors_name_the_published_file():
    wanted = cache.DATASETS["tiny-shakespeare"]
    assert (wanted.files[0].size, len(wanted.files)) == (plays.LENGTH, 1)
    assert all(mirror.startswith("https://") for mirror in wanted.mirrors)


def test_every_character_of_the_stand_in_is_the_recorded_one():
    assert hashlib.sha256(plays.text().encode()).hexdigest() == plays.FINGERPRINT


def test_the_stand_in_has_the_length_and_alphabet_of_the_plays():
    text = plays.text()
    assert len(text) == plays.LENGTH
    assert "".join(sorted(set(text))) == "\n !$&',-.3:;?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def test_the_readers_random_numbers_are_left_alone():
    np.random.seed(0)
    before = np.random.get_state()[1].tolist()
    plays.text.cache_clear()
    plays.text()
    assert np.random.get_state()[1].tolist() == before
