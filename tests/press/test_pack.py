"""A pack for a machine that can install nothing: what goes in, and that its script records from it, offline."""

from __future__ import annotations

import ensurepip
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from torchbook_press import pack
from torchbook_press.chapters import chapters

from .conftest import Book, cell


def listing(folder: Path, text: str) -> Path:
    path = folder / "machine.json"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("text", "complaint"), [("no", "no list of a machine's packages"), ("[{}]", "no list"), ("[]", "no torch in it")]
)
def test_what_is_no_list_of_a_machine_is_refused_with_the_remedy(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(pack.PackError, match=f"machine.json:1: {complaint}.*list"):
        pack.there(listing(tmp_path, text))


def test_names_are_compared_as_packages_are_named(tmp_path: Path) -> None:
    text = '[{"name": "torch", "version": "2.11"}, {"name": "Jupyter_Core", "version": "5"}]'
    assert pack.there(listing(tmp_path, text)) == {"torch": "2.11", "jupyter-core": "5"}


@pytest.mark.parametrize(
    ("machine", "carried"),
    [
        ({"torch": "2.11"}, {"nbclient", "nbformat"}),
        ({"torch": "2.11", "nbformat": "5.10"}, {"nbclient"}),
        ({"torch": "2.11", "nbformat": "4.0"}, {"nbclient", "nbformat"}),
    ],
    ids=["lacking", "there", "too old for nbclient"],
)
def test_only_what_is_missing_or_too_old_is_carried(machine: dict[str, str], carried: set[str]) -> None:
    resolved = {"nbclient": "0.11.0", "nbformat": "5.11.1", "torch": "2.15.0", "triton": "3.9.0"}
    assert set(pack.missing(resolved, machine)) == carried


def test_chapters_say_what_they_need(book: Book) -> None:
    path = book.chapter("one", cell("1"))
    path.write_text(path.read_text().replace("  minutes:", "  packages: [gymnasium]\n  minutes:"))
    wanted = pack.wanted(chapters(book.root))
    assert {"gymnasium", "papermill", "pip"} <= set(wanted)
    assert any(requirement.startswith("anywidget") for requirement in wanted)


def wheel(folder: Path, name: str, code: str) -> None:
    """The smallest wheel there is."""
    metadata = f"{name}-1.dist-info"
    with zipfile.ZipFile(folder / f"{name}-1-py3-none-any.whl", "w") as made:
        made.writestr(f"{name}.py", code)
        made.writestr(f"{metadata}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
        made.writestr(f"{metadata}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        made.writestr(f"{metadata}/RECORD", "")


@pytest.fixture
def carried(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pack with pip and one module that this machine has not."""
    folder = tmp_path_factory.mktemp("pack")
    (folder / "wheels").mkdir()
    (bundled,) = (Path(ensurepip.__file__).parent / "_bundled").glob("pip-*.whl")
    shutil.copy(bundled, folder / "wheels")
    wheel(folder / "wheels", "carried_module", "answer = 42\n")
    (folder / "install.txt").write_text("carried_module==1\n")
    (folder / "commit").write_text("abc1234\n")
    shutil.copy(pack.SCRIPT, folder / "run.sh")
    return folder


def test_the_script_records_offline_with_what_it_carries(book: Book, carried: Path, repo: Path) -> None:
    book.chapter("one", cell("import carried_module\ncarried_module.answer", "gpu-only"))
    environment = {**os.environ, "PYTHON": sys.executable, "PYTHONPATH": str(repo), "ARCHIVE": "made.tar.gz"}
    command = ["sh", str(carried / "run.sh"), "one", "--lane", "rehearsal", "--name", "Far Away"]
    done = subprocess.run(command, cwd=book.root, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    with tarfile.open(book.root / "made.tar.gz") as packed:
        content = packed.extractfile("recordings/far-away/one.ipynb")
        assert content
        text = content.read().decode()
    assert '"42"' in text
    assert "abc1234" in text


def test_the_script_says_where_it_belongs(carried: Path, tmp_path: Path) -> None:
    done = subprocess.run(["sh", str(carried / "run.sh")], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, "run this from the book's folder" in done.stderr) == (2, True)
