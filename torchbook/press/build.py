"""Build the site with Jupyter Book, or with plain Sphinx; serve it while writing."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_WITHOUT_IRIS = "import sys; sys.modules['rfc3987_syntax'] = None"  # for a faster start, as in `torchbook.cli`
_JUPYTER_BOOK = f"{_WITHOUT_IRIS}; from jupyter_book.cli.main import main; main()"
_STRICT = ("-n", "-W", "--keep-going")


def html(root: Path) -> int:
    """Build `_build/html`; any warning fails. Returns the exit status."""
    command = [sys.executable, "-c", _JUPYTER_BOOK, "build", str(root), *_STRICT, "--quiet"]
    code = subprocess.run(command, cwd=root, env=_environment()).returncode
    if code:
        # Sphinx does not look again at pages that have not changed: the next build must not pass for that.
        shutil.rmtree(root / "_build" / ".doctrees", ignore_errors=True)
    return code


def sphinx_conf(root: Path) -> str:
    """The text of a `conf.py` with which plain Sphinx builds the book, made from `_config.yml` and `_toc.yml`."""
    from jupyter_book.config import get_final_config

    overrides = {"external_toc_path": str(root / "_toc.yml"), "latex_individualpages": False}
    config, _ = get_final_config(user_yaml=root / "_config.yml", sourcedir=root, cli_config=overrides)
    values = {
        **config,
        "extensions": [name for name in config["extensions"] if name != "jupyter_book"],
        "html_static_path": [str(root / path) for path in config["html_static_path"]],
    }
    return f"{_WITHOUT_IRIS}\n" + "".join(f"{name} = {value!r}\n" for name, value in sorted(values.items()))


def serve(root: Path, port: int) -> None:
    """Serve the book with sphinx-autobuild until interrupted: a saved page is rebuilt and the browser reloads it."""
    from sphinx_autobuild.__main__ import main as sphinx_autobuild

    with tempfile.TemporaryDirectory(prefix="torchbook-conf-") as conf:
        Path(conf, "conf.py").write_text(sphinx_conf(root), encoding="utf-8")
        arguments = ["-c", conf, "--port", str(port)]
        for ignored in (".venv", ".git", "_build", ".cache", "tests"):
            arguments += ["--ignore", str(root / ignored)]
        # In this process, so that whatever ends it ends the server.
        with contextlib.suppress(KeyboardInterrupt):
            sphinx_autobuild([*arguments, str(root), str(root / "_build" / "serve")])


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONWARNINGS": "ignore"}
