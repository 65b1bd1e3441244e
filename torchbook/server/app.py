"""The extension of jupyter_server: it serves the built site, its client, and the reader's progress."""

from __future__ import annotations

import json
import os
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from jupyter_server.base.handlers import APIHandler, JupyterHandler
from jupyter_server.extension.application import ExtensionApp
from jupyter_server.extension.handler import ExtensionHandlerMixin
from tornado import web
from traitlets import Unicode

from torchbook.practice import progress, shelf
from torchbook.practice.exercise import ExerciseError
from torchbook.server import site

NAME = "torchbook"
CLIENT = Path(__file__).parent / "client"
# Pages ask no other host for anything, are framed by nobody and send no form away. Scripts may stand in them.
_POLICY = (
    "default-src 'self' data: blob:",
    "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",  # plotly's maps of colours are functions made of text
    "style-src 'self' 'unsafe-inline'",
    "frame-ancestors 'none'",
    "form-action 'self'",
    "base-uri 'none'",
    "object-src 'none'",
)


def _hosts(binder: str) -> list[str]:
    """What a page may connect to for a BinderHub: the hub, and the hosts below its name, where it starts servers."""
    scheme, _, host = binder.partition("://")
    socket = {"http": "ws", "https": "wss"}.get(scheme, "")
    if not socket:
        return []
    # A hub on this machine starts its servers on other ports.
    names = ["127.0.0.1:*"] if host.startswith("127.0.0.1:") else [host, f"*.{host}"]
    return [f"{kind}://{name}" for name in names for kind in (scheme, socket)]


class _Files(ExtensionHandlerMixin, JupyterHandler, web.StaticFileHandler):
    """Files of a folder, for who is logged in."""

    binder = ""

    def initialize(self, name: str, *, path: str, binder: str = "") -> None:  # type: ignore[override]
        self.binder = binder
        self.set_header("Content-Security-Policy", self.content_security_policy)
        ExtensionHandlerMixin.initialize(self, name)
        web.StaticFileHandler.initialize(self, path, default_filename="index.html")

    @property
    def content_security_policy(self) -> str:
        return "; ".join([*_POLICY, " ".join(["connect-src 'self'", *_hosts(self.binder)])])

    def set_default_headers(self) -> None:
        super().set_default_headers()
        self.set_header("Referrer-Policy", "no-referrer")
        self.set_header("X-Frame-Options", "DENY")
        self.set_header("Cross-Origin-Resource-Policy", "same-origin")
        self.set_header("Cache-Control", "no-cache")

    def compute_etag(self) -> str | None:
        return web.StaticFileHandler.compute_etag(self)

    @web.authenticated
    async def head(self, path: str) -> None:  # type: ignore[override]
        await web.StaticFileHandler.head(self, path)

    @web.authenticated
    async def get(self, path: str, include_body: bool = True) -> None:  # type: ignore[override]
        await self.serve(path, include_body)

    async def serve(self, path: str, include_body: bool) -> None:
        """Serve a file as it is, at an address without a token."""
        if "token" in self.request.query_arguments:  # it is in a cookie by now, and no address should keep it
            rest = urlencode([pair for pair in parse_qsl(self.request.query) if pair[0] != "token"])
            self.redirect(self.request.path + (f"?{rest}" if rest else ""))
            return
        await web.StaticFileHandler.get(self, path, include_body)


class _Site(_Files):
    """The built site; its pages get the client."""

    def compute_etag(self) -> str | None:
        return super().compute_etag() if getattr(self, "absolute_path", None) else None

    @web.authenticated
    async def get(self, path: str, include_body: bool = True) -> None:  # type: ignore[override]
        asked = path or "index.html"
        if "token" in self.request.query_arguments or not asked.endswith((".html", "/")):
            await self.serve(path, include_body)
            return
        self.path = self.parse_url_path(asked)
        absolute = self.validate_absolute_path(self.root, self.get_absolute_path(self.root, self.path))
        if absolute is None:  # it has redirected
            return
        page = Path(absolute).read_text(encoding="utf-8")
        assert self.xsrf_token  # asked for once, it is in a cookie, which the client reads
        base = str(self.settings["base_url"])
        settings = {
            "base": base,
            "binder": site.build_on(self.binder, page),
            "client": f"{base}{NAME}-live/",
            "site": f"{base}{NAME}/",
        }
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.finish(site.with_client(page, settings))


class _Exercise(ExtensionHandlerMixin, JupyterHandler):
    """The way to an exercise's block: a token in an address would be lost behind its fragment."""

    def initialize(self, name: str, *, folder: Path) -> None:
        super().initialize(name)
        self.folder = folder

    @web.authenticated
    async def get(self, exercise: str) -> None:
        try:
            page = site.page_of(self.folder, exercise)
        except site.SiteError as error:
            raise web.HTTPError(404, reason=str(error)) from None
        self.redirect(f"{self.settings['base_url']}{NAME}/{page}")


class _Progress(ExtensionHandlerMixin, APIHandler):
    """What this reader has tried and solved, as terminal and notebook keep it."""

    @web.authenticated
    async def get(self) -> None:
        """`{"records": {"p01-x3": "solved", …}, "note": ""}`."""
        records, note = progress.read()
        self.finish(json.dumps({"records": {name: one.state for name, one in records.items()}, "note": note}))

    @web.authenticated
    async def post(self) -> None:
        """`{"exercise": "p01-x3", "hint": 2}`, or without `hint` that its solution was opened."""
        asked = self.get_json_body() or {}
        try:
            exercise = shelf.find(str(asked.get("exercise")))
        except ExerciseError as error:
            raise web.HTTPError(404, reason=str(error)) from None
        number = asked.get("hint")
        if number is not None and number not in range(1, len(exercise.hints) + 1):
            raise web.HTTPError(404, reason=f"{exercise.id} has no hint {number}")
        note = progress.opened(exercise.id) if number is None else progress.hinted(exercise.id, number)
        self.finish(json.dumps({"note": note}))


class Live(ExtensionApp):
    """Serves the book; `torchbook.server.start` starts a server for it, and a JupyterHub has one."""

    name = NAME
    extension_url = f"/{NAME}/index.html"
    load_other_extensions = False
    binder = Unicode(
        "", help="Address of a BinderHub that pages offer, https://mybinder.org for instance; else none."
    ).tag(config=True)
    site = Unicode("", help="Folder of the built site; else what TORCHBOOK_SITE names.").tag(config=True)

    @classmethod
    def get_extension_package(cls) -> str:
        return "torchbook.server"

    def initialize_handlers(self) -> None:
        named = self.site or os.environ.get(site.SITE, "")
        try:
            folder = site.find(Path(named) if named else None, [Path.cwd()])
        except site.SiteError as error:
            self.log.warning(f"torchbook serves no pages: {error}")
            return
        self.handlers.extend(
            [
                (rf"/{NAME}-live/progress", _Progress),
                (rf"/{NAME}-live/exercise/([\w-]+)", _Exercise, {"folder": folder}),
                (rf"/{NAME}-live/(.*)", _Files, {"path": str(CLIENT)}),
                (rf"/{NAME}/(.*)", _Site, {"path": str(folder), "binder": str(self.binder).rstrip("/")}),
            ]
        )
