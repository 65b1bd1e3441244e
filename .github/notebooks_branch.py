"""Lay out the branch `notebooks`, which the pages' Colab and Binder buttons open: `notebooks_branch.py FOLDER`.

Its notebooks are those of the built site. Its environment.yml is the repository's, with torchbook from the last commit
that changed what the wheel is made of, so that Binder builds a new image only when something in it is new.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import yaml

from torchbook_press.build import hindrance

ROOT = Path(__file__).resolve().parents[1]
LOCAL = "-e ."  # how environment.yml names torchbook in a clone


def environment(text: str, url: str, revision: str) -> str:
    """The text of environment.yml with torchbook from git instead of the clone."""
    if text.count(f"- {LOCAL}\n") != 1:
        raise ValueError(f"environment.yml must name torchbook once, as '- {LOCAL}'")
    return text.replace(f"- {LOCAL}\n", f"- torchbook @ git+{url}@{revision}\n")


def package_revision(root: Path, branch: str) -> str:
    """The last commit that changed what pip installs as torchbook; the branch where git does not say."""
    command = ["git", "log", "-1", "--format=%H", "--", *sources(root)]
    log = subprocess.run(command, cwd=root, capture_output=True, text=True)
    return log.stdout.strip() or branch


def sources(root: Path) -> list[str]:
    """What the wheel is made of: its packages, what the build hook writes an edition of, and what says so."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    return [*wheel["packages"], wheel["hooks"]["custom"]["exercises"], "hatch_build.py", "pyproject.toml"]


def lay_out(folder: Path, root: Path = ROOT) -> None:
    """Fill the folder, which is emptied first."""
    config: dict[str, Any] = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    url, branch = config["repository"]["url"], config["repository"]["branch"]
    notebooks = root / "_build" / "html" / "notebooks"
    if not notebooks.is_dir():
        raise SystemExit(f"{notebooks} is not there: run `make book` first")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(notebooks, folder / "notebooks")
    text = environment((root / "environment.yml").read_text(encoding="utf-8"), url, package_revision(root, branch))
    (folder / "environment.yml").write_text(text, encoding="utf-8")
    (folder / ".nojekyll").touch()
    readme = f"Made from [{config['title']}]({url}) by its publish workflow; changes belong there.\n"
    (folder / "README.md").write_text(readme, encoding="utf-8")


if __name__ == "__main__":
    complaint = hindrance(ROOT)
    if complaint:
        raise SystemExit(complaint)
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    lay_out(Path(sys.argv[1]))
