"""The offline bundle: one zip with the site, the notebooks, the package as a wheel, checksums and a guide."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from string import Template
from typing import Any

import yaml

from torchbook import __version__
from torchbook_press.ship.environment import ShipError

GUIDE = Path(__file__).with_name("guide.md")
SUMS = "SHA256SUMS"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first that a zip knows: the same files make the same bytes
_PACKED = {".png", ".jpg", ".gif", ".webp", ".woff", ".woff2", ".gz", ".zip", ".whl"}


def name_of(root: Path) -> str:
    """What the bundle is called, after the repository."""
    return str(_config(root)["repository"]["url"]).rstrip("/").rpartition("/")[2]


def _config(root: Path) -> dict[str, Any]:
    path = root / "_config.yml"
    if not path.is_file():
        raise ShipError("_config.yml:1: missing; run from the root of the book")
    return dict(yaml.safe_load(path.read_text(encoding="utf-8")))


def wheel(source: Path, folder: Path) -> Path:
    """Build the package's wheel into a folder, with the hatchling that is installed here.

    Raises:
        ShipError: it cannot be built; with hatchling's own words.
    """
    if not (source / "pyproject.toml").is_file():
        raise ShipError(f"{source.name}/pyproject.toml:1: missing; the wheel is built from a clone")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    completed = subprocess.run(command, cwd=source, capture_output=True, text=True)
    if completed.returncode:
        raise ShipError(f"hatchling builds no wheel: {(completed.stderr or completed.stdout).strip()}")
    return max(folder.glob("torchbook-*.whl"))


def bundle(root: Path, source: Path, out: Path) -> Path:
    """Write the zip.

    Args:
        root: the book's folder, with a built site.
        source: the clone that the wheel is built from.
        out: the zip.

    Raises:
        ShipError: there is no site, or no wheel can be built.
    """
    site = root / "_build" / "html"
    if not (site / "index.html").is_file():
        raise ShipError("_build/html/index.html:1: missing; build the book first: make book")
    with tempfile.TemporaryDirectory(prefix="torchbook-bundle-") as folder:
        files = dict(sorted(_files(root, site, wheel(source, Path(folder)), out.resolve())))
        out.parent.mkdir(parents=True, exist_ok=True)
        part = out.with_name(f"{out.name}.part")
        with zipfile.ZipFile(part, "w") as archive:
            _fill(archive, name_of(root), files)
    part.replace(out)
    return out


def _files(root: Path, site: Path, package: Path, out: Path) -> Iterator[tuple[str, bytes]]:
    """Names in the zip, and what they hold."""
    for path in site.rglob("*"):
        name = path.relative_to(site).as_posix()
        if path.is_file() and path.resolve() != out and name != f"{name_of(root)}.zip":
            yield f"site/{name}", path.read_bytes()
            if name.startswith("notebooks/"):
                yield name, path.read_bytes()
    yield package.name, package.read_bytes()
    yield "README.md", _guide(root, package.name).encode()


def _guide(root: Path, package: str) -> str:
    config = _config(root)
    words = {"title": config["title"], "version": __version__, "wheel": package, "url": config["repository"]["url"]}
    return Template(GUIDE.read_text(encoding="utf-8")).substitute(words)


def _fill(archive: zipfile.ZipFile, folder: str, files: dict[str, bytes]) -> None:
    sums = "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in files.items())
    for name, content in {**files, SUMS: sums.encode()}.items():
        entry = zipfile.ZipInfo(f"{folder}/{name}", _EPOCH)
        entry.external_attr = 0o644 << 16
        entry.compress_type = zipfile.ZIP_STORED if Path(name).suffix in _PACKED else zipfile.ZIP_DEFLATED
        archive.writestr(entry, content)
