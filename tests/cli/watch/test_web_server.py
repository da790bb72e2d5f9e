"""The server of `kwire watch --web` over real sockets: who is let in, and how many screens run."""

from __future__ import annotations

import shlex
import sys
from collections.abc import AsyncIterator

import pytest
from aiohttp import ClientSession, CookieJar, WSServerHandshakeError, web

from kwire.cli import watch_web
from kwire.cli.watch_web import BrowserScreen, WatchServer
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
    monkeypatch.setattr(watch_web, "SCREENS", 1)
    monkeypatch.setattr(watch_web, "PATIENCE", 0.2)
    server = WatchServer(shlex.join([sys.executable, "-Sc", DEAF]), free_port())
    runner = web.AppRunner(await server._make_app())
    await runner.setup()
    await web.TCPSite(runner, server.host, server.port).start()
    async with ClientSession(cookie_jar=CookieJar(unsafe=True)) as browser:
        async with browser.get(server._access.url) as response:
            assert response.status == 200
            page = str(response.url)
        yield Served(server, browser, page)
    await runner.cleanup()


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
