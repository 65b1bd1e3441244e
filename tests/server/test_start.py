"""How `torchbook live` finds the site, and what it says where something is missing."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.server.conftest import Printed, make_site
from torchbook.cli import app
from torchbook.server import inside, site, start


def live(*options: str) -> Result:
    return CliRunner().invoke(app, ["live", *options])


def without(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(start.importlib.util, "find_spec", lambda name: None if name in names else find(name))


def test_without_a_site_it_says_where_one_comes_from(tmp_path: Path) -> None:
    result = live("--site", str(tmp_path))
    assert result.exit_code == 2
    assert "make book" in result.stderr
    assert "unpack the offline zip" in result.stderr


def test_without_jupyter_server_it_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "jupyter_server")
    result = live()
    assert result.exit_code == 2
    assert 'jupyter_server missing, which run cells: pip install "torchbook[live]"' in result.stderr


def test_without_torch_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "torch")
    result = live()
    assert result.exit_code == 2
    assert "pip install torch" in result.stderr


def test_an_exercise_that_no_page_has(tmp_path: Path) -> None:
    made = make_site(tmp_path)
    assert "no page of the site has an exercise 'p77-x1'" in live("--site", str(made), "--check", "p77-x1").stderr


@pytest.mark.parametrize("place", ["_build/html", "site", "."])
def test_a_site_is_found_in_a_clone_and_in_an_offline_zip(tmp_path: Path, place: str) -> None:
    made = make_site(tmp_path / place)
    assert site.find(tmp_path) == made.resolve()
    assert site.find(None, [tmp_path / "none", tmp_path]) == made.resolve()


def test_a_variable_names_the_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(site.SITE, str(make_site(tmp_path)))
    assert site.find() == tmp_path.resolve()


def test_an_exercise_s_page_is_found(tmp_path: Path) -> None:
    made = make_site(tmp_path, Printed("1"), stubs={"p01-x3": "x = 1"})
    assert site.page_of(made, "p01-x3") == "book/one.html#ex-p01-x3"


def test_a_page_gets_one_meta_and_else_stays_as_it_is() -> None:
    page = "<html><head lang='en'><title>T</title></head><body><head></body></html>"
    made = site.with_client(page, {"base": "/", "client": "/c/", "site": "/s/"})
    assert made.count("<meta") == 1
    assert made.endswith(page.removeprefix("<html><head lang='en'>"))
    assert json.dumps({"base": "/", "client": "/c/", "site": "/s/"}).replace('"', "&quot;") in made


def test_a_kernel_begins_in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(start.FOLDER, str(tmp_path))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("MKL_NUM_THREADS", "1")
    monkeypatch.chdir(tmp_path)  # and back again
    assert inside.begin(1)["torch"]
    assert Path.cwd().parent == tmp_path
    assert list(Path.cwd().iterdir()) == []
