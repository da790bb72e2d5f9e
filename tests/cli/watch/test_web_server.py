"""The server of `kwire watch --web` over real sockets: who is let in, and how many screens run."""

from __future__ import annotations

import asyncio
import logging
import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
from aiohttp import ClientSession, CookieJar, WSServerHandshakeError

from kwire.cli.watch import web
from kwire.cli.watch.web import STRANGERS, BrowserScreen, WatchServer
from real_kafka import free_port
from tests.support.eventually import eventually

DEAF = "import sys, time; print('__GANGLION__', flush=True); time.sleep(600)"
"""A screen that starts, and does not hear that it shall end."""


class Served:
    """A server in this process. origin: of its page. browser: a session that was let in."""

    def __init__(self, server: WatchServer, browser: ClientSession, page: str) -> None:
        self.server = server
        self.browser = browser
        self.page = page
        self.origin = server._access.origin


@pytest.fixture
async def served(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Served]:
    """Serve screens that are deaf, one at a time."""
    monkeypatch.setattr(web, "SCREENS", 1)
    monkeypatch.setattr(web, "PATIENCE", 0.2)
    server = WatchServer(shlex.join([sys.executable, "-Sc", DEAF]), free_port())
    async with server.listening(), ClientSession(cookie_jar=CookieJar(unsafe=True)) as browser:
        async with browser.get(server._access.url) as response:
            assert response.status == 200
            page = str(response.url)
        yield Served(server, browser, page)


async def test_the_key_is_good_once_and_brings_strict_cookies(served: Served) -> None:
    url, folder = served.server._access.url, served.server._access.folder
    async with ClientSession() as other:
        async with other.get(url, allow_redirects=False) as response:
            assert (response.status, response.headers["Location"]) == (303, f"/{folder}/")
            cookies = response.headers.getall("Set-Cookie")
        async with other.get(url) as response:
            assert response.status == 403
            assert "open the last one that kwire watch has printed" in await response.text()
    parts = [cookie.split("; ") for cookie in cookies]
    assert [part[1:] for part in parts] == [
        [f"Path=/{folder}", "HttpOnly", "SameSite=Strict"],
        ["Path=/download", "HttpOnly", "SameSite=Strict"],
    ]
    assert len({part[0] for part in parts}) == 2


async def test_the_key_is_printed_anew_for_another_browser(
    served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    async with ClientSession() as other:
        await other.get(served.server._access.url)
    printed = f"a browser is connected; for another one open {served.server._access.url}\n"
    assert capsys.readouterr().err == printed


async def test_every_answer_keeps_the_page_to_itself(served: Served) -> None:
    paths = ("/", "/?key=x", served.page, f"{served.page}static/js/textual.js", f"{served.page}x")
    statuses = []
    for path in paths:
        async with served.browser.get(path if "://" in path else served.origin + path) as response:
            statuses.append(response.status)
            headers = response.headers
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cache-Control"] == "no-store"
        assert headers["X-Frame-Options"] == "DENY"
        assert headers["X-Content-Type-Options"] == "nosniff"
        policy = headers["Content-Security-Policy"].split("; ")
        assert {"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'"} <= {*policy}
    assert statuses == [403, 403, 200, 200, 404]


def test_the_port_of_http_is_no_part_of_the_address() -> None:
    assert WatchServer("", 80)._access.origin == "http://127.0.0.1"
    assert WatchServer("", 81)._access.origin == "http://127.0.0.1:81"


@pytest.mark.parametrize("origin", [None, "http://evil.example", "null"])
async def test_a_page_from_elsewhere_gets_no_screen(served: Served, origin: str | None) -> None:
    """The cookie alone does not help: a browser may send it along."""
    await expect_no_screen(served.browser, served, {"Origin": origin} if origin else {})


async def test_a_cookie_that_a_page_of_another_port_has_set_locks_nobody_out(
    served: Served,
) -> None:
    """Browsers send the cookie of the longer path first (RFC 6265, section 5.4), then that of /."""
    name, own = served.server._access.cookie_name, dict(served.server._access.cookies)
    cookie = f"{name}={own[f'/{served.server._access.folder}']}"
    for header in (f"{cookie}; {name}=x", f"{name}=x; {cookie}"):
        async with (
            ClientSession() as browser,
            browser.get(served.page, headers={"Cookie": header}) as response,
        ):
            assert response.status == 200


async def test_all_cookies_that_pages_of_other_ports_can_set_lock_nobody_out(
    served: Served,
) -> None:
    """Browsers keep 180 cookies of a host, each of at most 4,096 bytes."""
    tossed = "".join(f"; {number:03}={'x' * 4093}" for number in range(180))
    own = dict(served.server._access.cookies)[f"/{served.server._access.folder}"]
    cookie = f"{served.server._access.cookie_name}={own}{tossed}"
    async with (
        ClientSession() as browser,
        browser.get(served.page, headers={"Cookie": cookie}) as response,
    ):
        assert response.status == 200


async def test_many_idle_connections_keep_no_browser_out(served: Served) -> None:
    """The newest connections are kept."""
    async with idle_connections(served, 100) as idle:
        url = served.server._access.url
        async with ClientSession() as other, other.get(url, allow_redirects=False) as response:
            assert response.status == 303
        await eventually(
            lambda: sum(reader.at_eof() for reader in idle) >= 100 - STRANGERS, timeout=5
        )
        assert not idle[-1].at_eof()


async def test_a_screen_outlives_many_connections(served: Served) -> None:
    headers = {"Origin": served.origin}
    browser = await served.browser.ws_connect(f"{served.page}ws", headers=headers)
    async with idle_connections(served, 2 * STRANGERS) as idle:
        await eventually(idle[0].at_eof, timeout=5)
        with pytest.raises(TimeoutError):  # nor is it told that the websocket is closed
            await browser.receive(timeout=0.3)
    await browser.close()


@asynccontextmanager
async def idle_connections(served: Served, count: int) -> AsyncIterator[list[asyncio.StreamReader]]:
    """Connections on which nothing is asked."""
    here = served.server.host, served.server.port
    opened = [await asyncio.open_connection(*here) for _ in range(count)]
    try:
        yield [reader for reader, _ in opened]
    finally:
        for _, writer in opened:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the server wait for a request for a moment only."""
    assert web.HANDLER["keepalive_timeout"] == 10
    monkeypatch.setitem(web.HANDLER, "keepalive_timeout", 0.2)


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHost: 127"])
@pytest.mark.usefixtures("impatient")
async def test_who_sends_no_whole_request_is_closed(served: Served, sent: bytes) -> None:
    reader, writer = await asyncio.open_connection(served.server.host, served.server.port)
    writer.write(sent)
    async with asyncio.timeout(10):
        assert await reader.read() == b""
    writer.close()
    await writer.wait_closed()


@pytest.mark.parametrize(("line", "body", "status"), [("GET /x", 0, b"403"), ("POST /", 9, b"405")])
async def test_who_is_refused_asks_nothing_more_on_the_connection(
    served: Served, line: str, body: int, status: bytes
) -> None:
    """Whoever reads no answers would keep it busy without an end."""
    reader, writer = await asyncio.open_connection(served.server.host, served.server.port)
    host = served.server._access.host
    asked = f"{line} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {body}\r\n\r\n"
    writer.write(asked.encode())
    async with asyncio.timeout(5):
        answer = await reader.read()
    assert answer.startswith(b"HTTP/1.1 %s " % status)
    assert b"\r\nConnection: close\r\n" in answer
    writer.close()
    await writer.wait_closed()


def test_nobody_fills_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python prints what a logger has no handler for: each accept that fails, with a traceback."""
    loggers = [logging.getLogger(name) for name in ("aiohttp", "asyncio")]
    for logger in loggers:
        monkeypatch.setattr(logger, "handlers", [])
    WatchServer("", 80).initialize_logging()
    assert [len(logger.handlers) for logger in loggers] == [1, 1]


async def test_a_process_without_the_cookie_gets_no_screen(served: Served) -> None:
    """It may send whatever Origin it likes."""
    async with ClientSession() as process:
        await expect_no_screen(process, served, {"Origin": served.origin})


async def test_a_name_that_leads_here_gets_no_screen(served: Served) -> None:
    """A page may have its own name resolved to this machine (DNS rebinding)."""
    headers = {"Origin": served.origin, "Host": "evil.example"}
    await expect_no_screen(served.browser, served, headers)


async def expect_no_screen(browser: ClientSession, served: Served, headers: dict[str, str]) -> None:
    with pytest.raises(WSServerHandshakeError) as refused:
        await browser.ws_connect(f"{served.page}ws", headers=headers)
    assert refused.value.status == 403
    assert BrowserScreen.running == set()


async def test_there_are_few_screens_and_each_ends_with_its_websocket(served: Served) -> None:
    headers = {"Origin": served.origin}
    first = await served.browser.ws_connect(f"{served.page}ws", headers=headers)
    await eventually(lambda: len(BrowserScreen.running) == 1)
    (running,) = BrowserScreen.running
    await eventually(lambda: running._process is not None)
    async with served.browser.get(served.page) as response:
        assert response.status == 503
        assert (
            await response.text()
            == "1 screens are open, and no more can be: close one, then reload"
        )
    with pytest.raises(WSServerHandshakeError) as refused:
        await served.browser.ws_connect(f"{served.page}ws", headers=headers)
    assert refused.value.status == 503
    await first.close()
    await eventually(lambda: served.server._screens == 0)
    assert running._process is not None
    assert running._process.returncode == -9  # it did not hear that it shall end
    async with served.browser.get(served.page) as response:
        assert response.status == 200


async def test_a_websocket_ends_with_its_screen(served: Served) -> None:
    browser = await served.browser.ws_connect(f"{served.page}ws", headers={"Origin": served.origin})
    await eventually(lambda: len(BrowserScreen.running) == 1)
    (running,) = BrowserScreen.running
    await eventually(lambda: running._process is not None)
    assert running._process is not None
    running._process.kill()
    async for _ in browser:
        pass
    assert browser.closed
