"""Only the browser that has brought the key reaches the screen, and only from its own page."""

from dataclasses import replace
from itertools import count

import pytest

from kwire.cli.watch.browser_access import BrowserAccess, BrowserRequest, cookies_named

HOST = "127.0.0.1:8080"
PAGE = BrowserRequest(
    path="/r1/",
    hosts=[HOST],
    origins=[],
    sites=["same-origin"],
    cookies=["r3"],
)
SOCKET = replace(PAGE, path="/r1/ws", origins=[f"http://{HOST}"])
DOWNLOAD = replace(PAGE, path="/download/1f", cookies=["r4"])
KEY = BrowserRequest(path="/", hosts=[HOST], origins=[], sites=["none"], cookies=[])


def access() -> BrowserAccess:
    """Draw r1 for the folder, r2 for the key, r3 and r4 for the cookies."""
    numbers = count(1)
    return BrowserAccess(HOST, lambda: f"r{next(numbers)}")


def test_the_key_of_the_address_is_good_once() -> None:
    server = access()
    assert server.url == f"http://{HOST}/?key=r2"
    assert "was used" in server.use_key("")
    assert "was used" in server.use_key("é")
    assert server.use_key("r2") == ""
    assert "was used" in server.use_key("r2")
    assert server.url == f"http://{HOST}/?key=r5"
    assert server.use_key("r5") == ""
    assert list(server.cookies) == [("/r1", "r3"), ("/download", "r4")]


@pytest.mark.parametrize("request_", [PAGE, SOCKET, DOWNLOAD, KEY], ids=lambda one: one.path)
def test_the_browser_with_the_cookies_is_let_through(request_: BrowserRequest) -> None:
    assert access().why_refused(request_) == ""
    assert access().why_refused(replace(request_, sites=[])) == ""  # an older browser


REFUSED = {
    "a name that is resolved to here": ({"hosts": ["evil.example:8080"]}, "no other host"),
    "localhost": ({"hosts": ["localhost:8080"]}, "no other host"),
    "another port": ({"hosts": ["127.0.0.1:8081"]}, "no other host"),
    "no host": ({"hosts": []}, "no other host"),
    "two hosts": ({"hosts": [HOST, HOST]}, "no other host"),
    "another origin": ({"origins": ["http://evil.example"]}, "a page from elsewhere"),
    "the origin of another port": ({"origins": ["http://127.0.0.1:1"]}, "a page from elsewhere"),
    "the origin of a file": ({"origins": ["null"]}, "a page from elsewhere"),
    "two origins": ({"origins": [f"http://{HOST}", "null"]}, "a page from elsewhere"),
    "another site": ({"sites": ["cross-site"]}, "a link from another page"),
    "another port of the host": ({"sites": ["same-site"]}, "a link from another page"),
}


@pytest.mark.parametrize(("changes", "said"), REFUSED.values(), ids=list(REFUSED))
@pytest.mark.parametrize("request_", [PAGE, SOCKET, DOWNLOAD, KEY], ids=lambda one: one.path)
def test_pages_from_elsewhere_are_refused(
    request_: BrowserRequest, changes: dict[str, list[str]], said: str
) -> None:
    assert said in access().why_refused(replace(request_, **changes))  # type: ignore[arg-type]


def test_a_websocket_without_an_origin_is_no_browsers() -> None:
    assert "a page from elsewhere" in access().why_refused(replace(SOCKET, origins=[]))


WITHOUT = {
    "none": [],
    "empty": [""],
    "wrong": ["r5"],
    "several": ["r5", "r6"],
    "strange": ["\udcff"],
}


@pytest.mark.parametrize("cookies", WITHOUT.values(), ids=list(WITHOUT))
@pytest.mark.parametrize("request_", [PAGE, SOCKET, DOWNLOAD], ids=lambda one: one.path)
def test_others_without_the_cookie_are_refused(
    request_: BrowserRequest, cookies: list[str]
) -> None:
    assert "was used" in access().why_refused(replace(request_, cookies=cookies))


def test_a_cookie_of_another_port_is_no_other_cookie() -> None:
    headers = ["kwire-watch-8081=r1; kwire-watch-8080=r3", "kwire-watch-8080=x;a=kwire-watch-8080"]
    assert cookies_named("kwire-watch-8080", headers) == ["r3", "x"]


@pytest.mark.parametrize("path", ["/r1x/", "/ws", "/static/js/textual.js", "//", "/favicon.ico"])
def test_there_is_nothing_outside_the_folder(path: str) -> None:
    assert "was used" in access().why_refused(replace(PAGE, path=path))
