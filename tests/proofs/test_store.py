"""The store: a pass is found again under its key, and under no other."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from torchbook_proofs import Key, Store
from torchbook_proofs.store import FOLDER, FRESH

KEY = Key("kind", "subject/of it", {"file": "a", "version": "1"})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "proofs")


def test_a_proof_is_found_again(store: Store) -> None:
    store.put(KEY, {"states": ["passed"]})
    assert store.get(KEY) == {"states": ["passed"]}


def test_nothing_is_found_before(store: Store) -> None:
    assert store.get(KEY) is None


@pytest.mark.parametrize(
    "other",
    [
        replace(KEY, kind="other"),
        replace(KEY, subject="subject-of it"),
        replace(KEY, parts={"file": "b", "version": "1"}),
        replace(KEY, parts={"file": "a", "version": "2"}),
        replace(KEY, parts={"file": "a"}),
        replace(KEY, parts={"file": "a", "version": "1", "more": ""}),
    ],
)
def test_another_key_finds_nothing(store: Store, other: Key) -> None:
    store.put(KEY, True)
    assert store.get(other) is None


def test_the_order_of_the_parts_does_not_matter(store: Store) -> None:
    store.put(KEY, True)
    assert store.get(replace(KEY, parts={"version": "1", "file": "a"})) is True


def test_a_proof_that_was_cut_off_is_none(store: Store) -> None:
    store.put(KEY, True)
    (path,) = store.folder.rglob("*.json")
    path.write_text(path.read_text()[:20])
    assert store.get(KEY) is None


def test_a_proof_under_a_name_that_is_not_its_own_is_none(store: Store) -> None:
    """A file that was copied or edited by hand counts only for the parts that it names."""
    store.put(KEY, True)
    (path,) = store.folder.rglob("*.json")
    proof = json.loads(path.read_text())
    path.write_text(json.dumps(proof | {"parts": {"file": "b"}}))
    assert store.get(KEY) is None


def test_a_fresh_run_keeps_only_its_own(store: Store) -> None:
    store.put(KEY, True)
    fresh = Store(store.folder, fresh_since=time.time() + 0.001)
    assert fresh.get(KEY) is None
    time.sleep(0.01)
    fresh.put(KEY, True)
    assert fresh.get(KEY) is True


def test_variables_name_the_folder_and_distrust(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path / "mine"))
    monkeypatch.delenv(FRESH, raising=False)
    Store.default().put(KEY, True)
    assert Store(tmp_path / "mine").get(KEY) is True
    monkeypatch.setenv(FRESH, "1")
    assert Store.default().get(KEY) is None


def test_it_is_counted_what_is_kept_and_made(store: Store) -> None:
    store.get(KEY)
    store.put(KEY, True)
    store.get(KEY)
    store.get(KEY)
    assert store.counts == {("kind", "made"): 1, ("kind", "kept"): 2}


def test_what_changed_is_said_by_its_part(store: Store) -> None:
    store.put(KEY, True)
    assert store.changed(KEY) == ()
    assert store.changed(replace(KEY, parts={"file": "b", "version": "1", "new": "x"})) == ("file", "new")


def test_of_a_subject_the_newest_proofs_stay(store: Store) -> None:
    for number in range(40):
        store.put(replace(KEY, parts={"file": str(number)}), number)
    assert len(list(store.folder.rglob("*.json"))) < 20
    assert store.get(replace(KEY, parts={"file": "39"})) == 39
