"""`kwire watch` in browsers: textual-serve starts the same screen for each of them."""

from __future__ import annotations

import asyncio
import os
import shlex
import socket
import sys
from contextlib import suppress
from typing import ClassVar

from aiohttp import web
from textual_serve import server
from textual_serve.app_service import AppService

from kwire.cli.errors import CommandFailed
from kwire.cli.screen import screen

HOST = "127.0.0.1"

PATIENCE = 10.0
"""Seconds that a screen may take to end."""


class BrowserScreen(AppService):
    """The process of one browser's screen; `stop` waits until it has ended.

    asyncio complains, with a traceback, of a process that outlives its loop.
    """

    running: ClassVar[set[BrowserScreen]] = set()

    async def start(self, width: int, height: int) -> None:
        """Start the process."""
        self.running.add(self)
        await super().start(width, height)

    async def stop(self) -> None:
        """Stop the process and wait until it has ended."""
        self.running.discard(self)
        await super().stop()
        if self._process is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    await self._process.wait()


vars(server)["AppService"] = BrowserScreen  # the name by which `handle_websocket` makes one


class WatchServer(server.Server):
    """Serves browsers of this machine. Refuses pages of other origins, which could command it."""

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        """Serve one screen to one browser."""
        if request.headers.get("Origin") != self.public_url:
            raise web.HTTPForbidden(text=f"open {self.public_url} itself")
        return await super().handle_websocket(request)

    async def on_startup(self, app: web.Application) -> None:
        """Print the address."""
        screen(stderr=True).print(f"open {self.public_url}; Ctrl-C ends it", style="dim")

    async def on_shutdown(self, app: web.Application) -> None:
        """Close the browsers' connections, which the server would wait for otherwise."""
        closing = [browser.remote_close() for browser in BrowserScreen.running.copy()]
        await asyncio.gather(*closing, return_exceptions=True)  # a browser may be gone already

    def initialize_logging(self) -> None:
        """Log no requests."""


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
    WatchServer(command, host=HOST, port=port, title="kwire watch").serve()
