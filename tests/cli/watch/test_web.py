"""`kwire watch --web` in a real browser: what its terminal shows, and what its keys do."""

from __future__ import annotations

import asyncio
import re
import socket
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import PIPE
from threading import Event
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from aiohttp import ClientSession, CookieJar, WSCloseCode

from real_kafka import free_port
from tests.support.browser import chromium
from tests.support.cli.command import KWIRE
from tests.support.cli.proxy_process import ANSWER, ASKED, talk
from tests.support.cli.watch.feeding_proxy import feeding_proxy
from tests.support.eventually import eventually_blocking

if TYPE_CHECKING:
    from selenium.webdriver import Chrome


__all__ = ["chromium"]

CATCH_TERMINAL = """
Object.defineProperty(Object.prototype, "terminal", {configurable: true, set(found) {
    window.caught = found;
    Object.defineProperty(this, "terminal", {value: found, writable: true, configurable: true});
}});
"""
"""xterm.js draws on a canvas; its buffer is what stands there."""

READ_TERMINAL = """
const lines = [];
for (let y = 0; window.caught && y < window.caught.rows; y++) {
    lines.push(window.caught.buffer.active.getLine(y).translateToString());
}
return lines.join("\\n");
"""


class Browser:
    """Chromium with the page open."""

    def __init__(self, driver: Chrome, url: str) -> None:
        self._driver = driver
        source = {"source": CATCH_TERMINAL}
        driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", source)
        driver.get(url)

    @property
    def text(self) -> str:
        """Return the text on its terminal."""
        return str(self._driver.execute_script(READ_TERMINAL))

    def until(self, condition: Callable[[str], bool]) -> None:
        """Wait for something to stand there."""
        eventually_blocking(lambda: self.text, condition, timeout=90)

    def press(self, *keys: str) -> None:
        """Press keys, as after a click into the terminal."""
        from selenium.webdriver.common.action_chains import ActionChains

        self._driver.execute_script("window.caught.focus()")
        ActionChains(self._driver).send_keys(*keys).perform()


@contextmanager
def served(feed: str, *options: str) -> Iterator[str]:
    """Serve the screen; yield the address that is printed, with its key."""
    port = str(free_port())
    run = [str(KWIRE), "watch", feed, "--web", port, *options]
    with subprocess.Popen(run, stdout=PIPE, stderr=PIPE, text=True) as server:
        try:
            assert server.stderr
            line = server.stderr.readline()
            told = re.fullmatch(
                r"open (http://127\.0\.0\.1:\d+/\?key=[\w-]{43}); Ctrl-C ends it\n", line
            )
            assert told
            _wait_for_listener(int(port))
            yield told[1]
            server.terminate()
            _, err = server.communicate(timeout=60)
            assert "Traceback" not in err
        finally:
            server.terminate()  # and with it the screens that it has started


def _wait_for_listener(port: int) -> None:
    """Wait until a port accepts connections: textual-serve prints its address a moment before."""

    def accepts() -> bool:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=90).close()
        except ConnectionRefusedError:
            return False
        return True

    eventually_blocking(accepts, timeout=90)


def hold_and_resume(browser: Browser, address: tuple[str, int], mark: str) -> None:
    """A request is asked; it, or its response, is held, marked so, and let go."""
    with socket.create_connection(address, timeout=90) as client:
        client.sendall(ASKED)
        browser.until(lambda text: mark in text and "1 held" in text)
        browser.press("r")
        assert client.recv(len(ANSWER), socket.MSG_WAITALL) == ANSWER
    browser.until(lambda text: "HELD" not in text)


def test_a_browser_shows_filters_holds_and_resumes(node: str, chromium: Chrome) -> None:
    from selenium.webdriver import Keys

    with feeding_proxy(node) as (address, feed), served(feed) as url:
        browser = Browser(chromium, url)
        browser.until(lambda text: "kwire watch" in text and "0 lost" in text)
        assert "?" not in chromium.current_url  # the key is gone from the address
        log = chromium.get_log("browser")  # type: ignore[no-untyped-call]
        assert [entry for entry in log if entry["level"] == "SEVERE"] == []
        talk(address)
        browser.until(lambda text: "ApiVersions v4" in text and "API 9999 v3" in text)
        browser.press("/")
        browser.until(lambda text: "Pause" not in text)  # keys go into the filter now
        browser.press("~api ApiVersions", Keys.ENTER)
        browser.until(lambda text: "ApiVersionsRequest v4" in text and "API 9999 v3" not in text)
        browser.press("h")
        browser.until(lambda text: "Hold requests of which this is so" in text)
        browser.press(Keys.ARROW_UP)  # the filter, where nothing was held before
        browser.press(Keys.ENTER)
        browser.until(lambda text: "0 held" in text)
        hold_and_resume(browser, address, "HELD")
        browser.press("h")
        browser.until(lambda text: "Hold requests of which this is so" in text)
        browser.press(Keys.ARROW_UP, " ~response", Keys.ENTER)
        browser.until(lambda text: "of ~api ApiVersions ~response" in text)
        hold_and_resume(browser, address, "HELD ←")


def close_code(url: str, opened: Event, pages: list[str]) -> int | None:
    """Open a screen as a browser does; return the code with which the server closes it."""

    async def browse() -> int | None:
        jar = CookieJar(unsafe=True)  # also for a host that is an address
        async with ClientSession(cookie_jar=jar) as session, asyncio.timeout(90):
            async with session.get(url) as page:
                pages.append(await page.text())
                headers = {"Origin": str(page.url.origin())}
            browser = await session.ws_connect(page.url / "ws", headers=headers)
            await browser.receive()  # the screen has begun
            opened.set()
            async for _ in browser:
                pass
            return browser.close_code

    return asyncio.run(browse())


def test_the_server_closes_a_screen_that_is_open_when_it_ends(node: str, tmp_path: Path) -> None:
    """It would wait for the browser otherwise, for half a minute.

    The token is in no argument meanwhile, and a request that is no HTTP prints nothing.
    """
    opened, pages, token = Event(), list[str](), tmp_path / "token"
    token.write_text("0123456789abcdef")
    with (
        feeding_proxy(node, "--feed-token", str(token)) as (_, feed),
        ThreadPoolExecutor(1) as pool,
    ):
        with served(feed, "--token", str(token)) as url:
            code = pool.submit(close_code, url, opened, pages)
            assert opened.wait(90)
            commands = [read(file) for file in Path("/proc").glob("[0-9]*/cmdline")]
            assert any(f"watch\0{feed}\0--backlog" in command for command in commands)
            assert not any(token.read_text() in text for text in (*commands, *pages))
            at = urlsplit(url)
            with socket.create_connection((at.hostname, at.port), timeout=90) as stranger:
                stranger.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
                assert stranger.recv(12) == b"HTTP/1.0 400"
        assert code.result() == WSCloseCode.OK


def read(file: Path) -> str:
    """Return what a file holds; nothing if the process has ended meanwhile."""
    with suppress(OSError):
        return file.read_text(errors="replace")
    return ""
