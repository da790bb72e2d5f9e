"""Keys and cookies of `kwire watch --web`, and the requests that are refused.

Any page that the same browser shows, and any process of the machine, can send requests to the port:

1. Pages of other sites are known by Host (a name of theirs that they resolve to this machine),
   Origin and Sec-Fetch-Site.
2. Other users and their processes do not know the key of the address that is printed. It is good
   once; the browser that brings it gets cookies.
3. Browsers send the cookies of a host to all of its ports, and each port can set some. That of the
   screens is bound to a folder with a random name, so that no other server of the machine
   is sent it. One of the same name for `/` comes beside it, and must not stand in its way.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

SOCKET = "ws"
"""The websocket of a screen, in the folder. Browsers send an Origin with its request."""

DOWNLOADS = "download"
"""The folder of textual's downloads: its page asks for it at the root of the server."""

_REUSED = "this address was used, or is not whole: open the last one that kwire watch has printed"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserRequest:
    """The parts of a request that decide about it. A header may have come more than once.

    cookies: the values of those with the name of the server's, in any order.
    """

    path: str
    hosts: Sequence[str]
    origins: Sequence[str]
    sites: Sequence[str]
    cookies: Sequence[str]


@dataclass(slots=True)
class BrowserAccess:
    """The key, the folder and the cookies of one server. draw: returns a random text for a URL."""

    host: str
    draw: Callable[[], str]
    folder: str = field(init=False)
    _key: str = field(init=False)
    _cookies: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.folder, self._key = self.draw(), self.draw()
        self._cookies = {folder: self.draw() for folder in (self.folder, DOWNLOADS)}

    @property
    def origin(self) -> str:
        """The origin of the page."""
        return f"http://{self.host}"

    @property
    def url(self) -> str:
        """The address for the next browser."""
        return f"{self.origin}/?key={self._key}"

    @property
    def cookie_name(self) -> str:
        """The name of the cookies, by port: those of two servers must not replace each other."""
        return "kwire-watch-" + self.host.rpartition(":")[2]

    @property
    def cookies(self) -> Iterable[tuple[str, str]]:
        """The path and the value of each cookie."""
        return [(f"/{folder}", value) for folder, value in self._cookies.items()]

    def use_key(self, key: str) -> str:
        """Use the key, which is then replaced; return why it is refused, or nothing."""
        if not _is_same(key, self._key):
            return _REUSED
        self._key = self.draw()
        return ""

    def why_refused(self, request: BrowserRequest) -> str:
        """Return why a request is refused, or nothing; one for `/` has a key and no cookie."""
        folder, _, rest = request.path.lstrip("/").partition("/")
        # 1.
        if list(request.hosts) != [self.host]:
            return f"this is {self.host} and no other host"
        needs_origin = (folder, rest) == (self.folder, SOCKET)
        if set(request.origins) - {self.origin} or (needs_origin and not request.origins):
            return f"a page from elsewhere: open {self.origin} itself"
        if set(request.sites) - {"same-origin", "none"}:
            return "a link from another page: paste the address into the browser instead"
        if request.path == "/":
            return ""
        # 2. and 3.
        expected = self._cookies.get(folder)
        if expected is None or not any(_is_same(cookie, expected) for cookie in request.cookies):
            return _REUSED
        return ""


def cookies_named(name: str, headers: Iterable[str]) -> list[str]:
    """Return the values of all cookies of a name; one mapping would keep the last of them alone."""
    pairs = [pair.strip().partition("=") for header in headers for pair in header.split(";")]
    return [value for key, _, value in pairs if key == name]


def _is_same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode(errors="replace"), expected.encode())
