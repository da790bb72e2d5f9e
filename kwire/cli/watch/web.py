"""`kwire watch` in browsers: textual-serve starts the same screen for each of them."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import shlex
import socket
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from string import Template
from typing import ClassVar

from aiohttp import web
from textual_serve import server
from textual_serve.app_service import AppService

from kwire.cli.errors import CommandFailed
from kwire.cli.screen import screen
from kwire.cli.watch.browser_access import (
    DOWNLOADS,
    SOCKET,
    BrowserAccess,
    BrowserRequest,
    cookies_named,
)
from kwire.operating_system import TERMINATION, on_signal

HOST = "127.0.0.1"

SCREENS = 4
"""Most screens at a time: each of them is a process."""

PATIENCE = 10.0
"""Seconds that a screen may take to end before its process is killed."""

STRANGERS = 32
"""Connections without a cookie that stay open when others come: older ones are closed for them.

So whoever opens many keeps no browser out.
"""

HANDLER = {
    "keepalive_timeout": 10.0,  # seconds without a whole head of a request
    "lingering_time": 0.0,  # no request has a body: none is waited for
    # What another port's page can set: browsers keep 180 cookies of a host, of 4 KiB each.
    "max_field_size": 768 * 1024,
    "max_headers": 32,
}
"""Bounds of a connection, as aiohttp names them."""

PAGE = Path(__file__).with_name("page.html")

_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",  # the address of the first request has the key
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
# xterm.js writes its styles into the page; everything else is a file of this server.
_CONTENT = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; "
    "img-src 'self' data:; connect-src 'self' ws://{host}; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)


class BrowserScreen(AppService):
    """The process of one browser's screen. It and the browser's websocket end together.

    `stop` waits until the process has ended: asyncio complains, with a traceback, of one that
    outlives its loop.
    """

    running: ClassVar[set[BrowserScreen]] = set()

    async def start(self, width: int, height: int) -> None:
        """Start the process."""
        self.running.add(self)
        await super().start(width, height)

    async def run(self) -> None:
        """Show what the process draws until it ends; then close the websocket."""
        await super().run()
        with suppress(ConnectionError):  # the browser has gone
            await self.remote_close()

    async def stop(self) -> None:
        """Stop the process and wait until it has ended; kill it if it takes too long."""
        self.running.discard(self)
        if self._process is None:
            return
        # In tasks: `run` swallows a cancellation, and with it that of a timeout around it.
        stopping = [asyncio.create_task(super().stop()), asyncio.create_task(self._process.wait())]
        _, unfinished = await asyncio.wait(stopping, timeout=PATIENCE)
        if unfinished:
            with suppress(ProcessLookupError):
                self._process.kill()
            await asyncio.wait(unfinished)

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        """Open the process itself: a shell would be killed in its place."""
        self._process = process = await asyncio.create_subprocess_exec(
            *shlex.split(self.command),
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            env=self._build_environment(width, height),
        )
        self._stdin = process.stdin
        return process


vars(server)["AppService"] = BrowserScreen  # the name by which `handle_websocket` makes one


class WatchServer(server.Server):
    """Serves browsers of this machine that `BrowserAccess` does not refuse."""

    def __init__(self, command: str, port: int) -> None:
        super().__init__(command, host=HOST, port=port, title="kwire watch")
        # Browsers leave the port of http out, in Host and in Origin.
        host = HOST if port == 80 else f"{HOST}:{port}"
        self._access = BrowserAccess(host, secrets.token_urlsafe)
        self._screens = 0
        self._browsers: set[asyncio.BaseProtocol] = set()  # connections that have shown a cookie

    async def _make_app(self) -> web.Application:
        folder = f"/{self._access.folder}"
        app = web.Application(middlewares=[self._refuse_others], handler_args=HANDLER)
        app.add_routes(
            [
                web.get("/", self._let_in, allow_head=False),
                web.get(f"{folder}/", self._show_page),
                web.get(f"{folder}/{SOCKET}", self.handle_websocket),
                web.get(f"/{DOWNLOADS}/{{key}}", self.handle_download),
                web.static(f"{folder}/static", self.statics_path),
            ]
        )
        app.on_response_prepare.append(self._add_headers)
        app.on_startup.append(self.on_startup)
        app.on_shutdown.append(self.on_shutdown)
        return app

    @web.middleware
    async def _refuse_others(
        self,
        request: web.Request,
        handler: Callable[[web.Request], Awaitable[web.StreamResponse]],
    ) -> web.StreamResponse:
        headers = request.headers
        asked = BrowserRequest(
            path=request.path,
            hosts=headers.getall("Host", ()),
            origins=headers.getall("Origin", ()),
            sites=headers.getall("Sec-Fetch-Site", ()),
            cookies=cookies_named(self._access.cookie_name, headers.getall("Cookie", ())),
        )
        if problem := self._access.why_refused(asked):
            raise web.HTTPForbidden(text=problem)
        if request.path != "/":
            self._browsers.add(request.protocol)
        return await handler(request)

    async def _add_headers(self, _: web.Request, response: web.StreamResponse) -> None:
        response.headers.update(_HEADERS)
        response.headers["Content-Security-Policy"] = _CONTENT.format(host=self._access.host)
        if response.status >= HTTPStatus.BAD_REQUEST:
            response.headers["Connection"] = "close"
            response.force_close()  # who reads no answers may not ask on and on

    async def _let_in(self, request: web.Request) -> web.Response:
        """Exchange the key for cookies, and redirect the browser to the page."""
        if problem := self._access.use_key(request.query.get("key", "")):
            raise web.HTTPForbidden(text=problem)
        response = web.Response(status=303, headers={"Location": f"/{self._access.folder}/"})
        for path, value in self._access.cookies:
            response.headers.add("Set-Cookie", self._cookie(path, value))
        self._print(f"a browser is connected; for another one open {self._access.url}")
        return response

    def _cookie(self, path: str, value: str) -> str:
        # Two cookies have one name: aiohttp's set_cookie would keep only the second.
        name = self._access.cookie_name
        return f"{name}={value}; Path={path}; HttpOnly; SameSite=Strict"

    async def _show_page(self, _: web.Request) -> web.Response:
        self._expect_room()
        address = f"ws://{self._access.host}/{self._access.folder}/{SOCKET}"
        page = Template(PAGE.read_text()).substitute(socket=address)
        return web.Response(text=page, content_type="text/html")

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Serve one screen to one browser."""
        self._expect_room()
        self._screens += 1
        try:
            return await super().handle_websocket(request)
        finally:
            self._screens -= 1

    def _expect_room(self) -> None:
        if self._screens >= SCREENS:
            sentence = f"{SCREENS} screens are open, and no more can be: close one, then reload"
            raise web.HTTPServiceUnavailable(text=sentence)

    async def on_startup(self, app: web.Application) -> None:
        """Print the address."""
        self._print(f"open {self._access.url}; Ctrl-C ends it")

    def _print(self, line: str) -> None:
        screen(stderr=True).print(line, style="dim", markup=False, highlight=False, soft_wrap=True)

    async def on_shutdown(self, app: web.Application) -> None:
        """Close the browsers' connections, which the server would wait for otherwise."""
        closing = [browser.remote_close() for browser in BrowserScreen.running.copy()]
        await asyncio.gather(*closing, return_exceptions=True)  # a browser may be gone already

    def initialize_logging(self) -> None:
        """Log no request, no bytes that are no HTTP, no failed accept.

        Anybody could fill the terminal with them.
        """
        for name in ("aiohttp", "asyncio"):
            logging.getLogger(name).addHandler(logging.NullHandler())

    def serve(self, debug: bool = False) -> None:
        """Serve until a signal ends it."""
        self.initialize_logging()
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        ended = asyncio.Event()
        on_signal(("SIGINT", *TERMINATION), ended.set)
        async with self.listening():
            await ended.wait()

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Serve while the context lasts."""
        runner = web.AppRunner(await self._make_app(), access_log=None)
        await runner.setup()
        requests = runner.server
        assert requests is not None

        def connect() -> asyncio.Protocol:
            self._browsers.intersection_update(requests.connections)
            strangers = [one for one in requests.connections if one not in self._browsers]
            for old in strangers[: 1 - STRANGERS]:
                old.force_close()
            return requests()

        try:
            loop = asyncio.get_running_loop()
            # So many are accepted at a time, too, before the first of them counts.
            listener = await loop.create_server(connect, HOST, self.port, backlog=STRANGERS)
            try:
                yield
            finally:
                listener.close()
        finally:
            await runner.cleanup()


def serve(port: int, arguments: list[str]) -> None:
    """Serve until Ctrl-C. Raises CommandFailed.

    arguments: of the `kwire` that runs for each browser.
    """
    try:  # textual-serve says where it serves before it knows that it can
        socket.create_server((HOST, port)).close()
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise CommandFailed(
            f"cannot serve at {HOST}:{port}: {reason}; give another --web"
        ) from error
    program = "from kwire.cli.main import main; main()"
    command = shlex.join([sys.executable, "-c", program, *arguments])
    WatchServer(command, port).serve()
