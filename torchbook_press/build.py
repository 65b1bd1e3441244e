"""Build the site with Jupyter Book, or with plain Sphinx; serve it while writing.

Sphinx works in a folder of its own, `_build/.press`, and what it made becomes `_build/html` only when it succeeded: a
failed build leaves the last good site in place.
"""

from __future__ import annotations

import contextlib
import gc
import json
import shutil
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from torchbook_press import success
from torchbook_press.files import refused, unwritable
from torchbook_press.success import Stamp
from torchbook_proofs import digest

_WITHOUT_IRIS = "import sys; sys.modules['rfc3987_syntax'] = None"  # for a faster start, as in `torchbook.cli`


@dataclass(frozen=True)
class Work:
    """Where Sphinx works on a book, what it keeps for the next build, and where the site is published."""

    root: Path
    name: str = ".press"

    @property
    def folder(self) -> Path:
        return self.root / "_build" / self.name

    @property
    def html(self) -> Path:
        """The pages as Sphinx writes them."""
        return self.folder / "html"

    @property
    def doctrees(self) -> Path:
        return self.folder / ".doctrees"

    @property
    def stamp(self) -> Path:
        return self.root / "_build" / ".stamp.json"

    @property
    def site(self) -> Path:
        """The pages for readers."""
        return self.root / "_build" / "html"

    def state(self) -> str:
        """Digest of all that the next build goes on from."""
        return digest(self.html, self.doctrees, self.folder / "jupyter_execute")

    def publish(self) -> None:
        """Make what Sphinx wrote the site, at once."""
        following, former = self.folder / "next", self.folder / "former"
        for folder in (following, former):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.html, following)
        if self.site.exists():
            self.site.rename(former)
        following.rename(self.site)
        shutil.rmtree(former, ignore_errors=True)


def html(root: Path) -> int:
    """Build `_build/html`, or only what changed, or nothing; any warning fails. Returns the exit status."""
    work = Work(root)
    with alone(root):
        stamp = Stamp.load(work.stamp)
        if stamp and stamp.inputs == success.inputs(root, stamp.read) and stamp.site == digest(work.site):
            print(f"{work.site.relative_to(root)} is up to date")
            return 0
        work.stamp.unlink(missing_ok=True)
        if not _can_go_on(work, stamp):
            shutil.rmtree(work.folder, ignore_errors=True)
        before = success.inputs(root)
        code = 1 if unwritable(work.folder) else _sphinx(work)
        complaint = _hand_over(work, before) if code == 0 else unwritable(work.folder)
        if complaint:
            print(complaint, file=sys.stderr)
        return code or int(bool(complaint))


def _hand_over(work: Work, before: str) -> str:
    """Publish the site, and leave the stamp; why that cannot be, where it cannot."""
    try:
        work.publish()
        _stamp(work, before)
    except shutil.Error as error:  # of a folder's copy: a line for each file
        return unwritable(work.folder) or f"{work.folder}: the site cannot be copied: {error.args[0][0][-1]}"
    except OSError as error:
        return refused(work.folder, error)
    return ""


def hindrance(root: Path) -> str:
    """Why the built site is not to be printed, packed or handed on: "" where it is what the book as it is gives."""
    work = Work(root)
    stamp = Stamp.load(work.stamp)
    if not (work.site / "index.html").is_file():
        return "_build/html/index.html:1: missing; build the book first: make book"
    if stamp is None or stamp.site != digest(work.site):
        return "_build/html: not what a build that succeeded left there; build the book again: make book"
    if stamp.inputs != success.inputs(root, stamp.read):
        return "_build/html: the book has changed since it was built; build it again: make book"
    return ""


def _can_go_on(work: Work, stamp: Stamp | None) -> bool:
    """Whether the last build succeeded, nothing else touched what it left, and Sphinx can follow what changed since."""
    return (
        stamp is not None
        and stamp.base == success.base(work.root, stamp.code)
        and stamp.work == work.state()
        and stamp.site == digest(work.site)
    )


def _stamp(work: Work, before: str) -> None:
    """Write the stamp, unless a file was saved during the build."""
    files = tuple(json.loads((work.doctrees / success.READ).read_text(encoding="utf-8")))
    if success.inputs(work.root) == before:
        inputs, code = success.inputs(work.root, files), success.imported()
        stamp = Stamp(inputs, success.base(work.root, code), work.state(), digest(work.site), files, code)
        stamp.save(work.stamp)


@contextlib.contextmanager
def alone(root: Path) -> Iterator[None]:
    """Wait for another build of this book, and say so; who waited once need not again inside."""
    folder = root / "_build"
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / ".lock", is_singleton=True)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        print("another build of this book runs: waiting for it", flush=True)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _sphinx(work: Work, strict: bool = True) -> int:
    """Jupyter Book's build of HTML, as `jupyter-book build -n -W --keep-going --quiet` does it, in this process.

    Args:
        work: where.
        strict: whether references that lead nowhere are warned of, and warnings fail (`-n -W`).
    """
    from jupyter_book.sphinx import build_sphinx

    overrides = {"external_toc_path": (work.root / "_toc.yml").as_posix(), "latex_individualpages": False}
    with warnings.catch_warnings(), _no_collection():
        warnings.simplefilter("ignore")
        status = build_sphinx(
            work.root,
            work.html,
            doctreedir=work.doctrees,
            noconfig=True,
            path_config=work.root / "_config.yml",
            confoverrides={**overrides, "nitpicky": strict},
            warningiserror=strict,
            keep_going=True,
            quiet=True,
        )
    return status if isinstance(status, int) else 1


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Leave the garbage collector off: what Sphinx makes and loads lives until its build ends, and a third of a small
    build's time went into looking at all of it again."""
    enabled = gc.isenabled()
    gc.collect()  # sphinx-external-toc looks at all objects that there are, and stumbles over what is left of a build
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


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


# Serving.

_IGNORED = (".venv", ".git", "_build", ".cache", "tests", "node_modules", ".mypy_cache", ".ruff_cache", ".pytest_cache")


def serve(root: Path, port: int) -> None:
    """Serve the book until interrupted: a saved page is built again and the browser reloads it.

    The server is sphinx-autobuild's; in place of its builder, which starts Python and Sphinx for each change, stands
    one that is warm.
    """
    import uvicorn
    from sphinx_autobuild.filter import IgnoreFilter
    from sphinx_autobuild.middleware import JavascriptInjectorMiddleware
    from sphinx_autobuild.server import RebuildServer
    from sphinx_autobuild.utils import find_free_port
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.routing import Mount, WebSocketRoute
    from starlette.staticfiles import StaticFiles

    builder = WarmBuilder(Work(root, "serve"), f"127.0.0.1:{port or find_free_port()}")
    builder([])
    watcher = RebuildServer([root], IgnoreFilter([str(root / name) for name in _IGNORED], []), builder)
    pages = StaticFiles(directory=builder.work.html, html=True)
    app = Starlette(
        routes=[WebSocketRoute("/websocket-reload", watcher), Mount("/", pages)],
        middleware=[Middleware(JavascriptInjectorMiddleware, ws_url=builder.address)],
        lifespan=watcher.lifespan,
    )
    # In this process, so that whatever ends it ends the server.
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.run(app, host="127.0.0.1", port=int(builder.address.partition(":")[2]), log_level="warning")


@dataclass(frozen=True)
class WarmBuilder:
    """Builds the served pages in this process, in which Sphinx stays loaded from one change to the next."""

    work: Work
    address: str

    @property
    def _base(self) -> Path:
        return self.work.folder / "base"

    def __call__(self, changed_paths: Sequence[Path]) -> None:
        """Build what changed; a warning is said and does no harm."""
        start = time.monotonic()
        base = success.base(self.work.root, ())
        if not self._base.is_file() or self._base.read_text(encoding="utf-8") != base:
            self._start_over()
        self._base.unlink(missing_ok=True)
        code = _sphinx(self.work, strict=False)
        if code == 0:
            self._base.write_text(base, encoding="utf-8")
        outcome = "succeeded" if code == 0 else "failed: mend what is said above, and save"
        print(f"build {outcome} in {time.monotonic() - start:.1f} s")
        print(f"Serving on http://{self.address}", flush=True)

    def _start_over(self) -> None:
        """Begin with the pages of the last `torchbook book`, where it succeeded, else with none."""
        shutil.rmtree(self.work.folder, ignore_errors=True)
        book = Work(self.work.root)
        if _can_go_on(book, Stamp.load(book.stamp)):
            shutil.copytree(book.folder, self.work.folder)
