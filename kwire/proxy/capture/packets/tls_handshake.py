"""The hellos of a TLS handshake, as far as keys depend on them (RFC 5246, 7.4; RFC 8446, 4.1)."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from struct import error, unpack_from

HELLO_LIMIT = 64 * 1024
"""Bytes of the longest hello that is read."""

_CLIENT_HELLO, _SERVER_HELLO = 1, 2
_EARLY_DATA, _SUPPORTED_VERSIONS = 42, 43
_TLS_13 = b"\x03\x04"
_RETRY = sha256(b"HelloRetryRequest").digest()  # the random of a server that asks once more


class NoKeys(Exception):
    """A connection is not decrypted, for a reason in one sentence."""


@dataclass(slots=True)
class TlsHandshake:
    """The hellos of both sides, as far as they came.

    client: the side that said the first, None for neither. suite: None before the server's hello.
    early: the client sends data before it.
    """

    client: int | None = None
    client_random: bytes = b""
    server_random: bytes = b""
    suite: int | None = None
    is_13: bool = False
    early: bool = False

    def take(self, side: int, data: bytes) -> bytes:
        """Take the messages in handshake records; return the rest, which is not whole."""
        while len(data) >= 4:
            end = 4 + int.from_bytes(data[1:4], "big")
            if end > HELLO_LIMIT:
                return b""
            if len(data) < end:
                break
            self._read(side, data[0], data[4:end])
            data = data[end:]
        return data

    def _read(self, side: int, kind: int, body: bytes) -> None:
        """Read a message; one that is none changes nothing."""
        try:
            random, place = body[2:34], 35 + body[34]
            if kind == _CLIENT_HELLO:
                place += 2 + unpack_from(">H", body, place)[0]  # suites
                place += 1 + body[place]  # compressions
                self.early = _EARLY_DATA in _extensions(body, place)
                self.client, self.client_random = side, random
            elif kind == _SERVER_HELLO and random != _RETRY:
                (suite,) = unpack_from(">H", body, place)
                extensions = _extensions(body, place + 3)
                self.is_13 = extensions.get(_SUPPORTED_VERSIONS) == _TLS_13
                self.server_random, self.suite = random, suite
        except (IndexError, error):
            pass


def _extensions(body: bytes, place: int) -> dict[int, bytes]:
    """Return the extensions by type. Raises struct.error if they are cut."""
    found: dict[int, bytes] = {}
    end = place + 2 + (unpack_from(">H", body, place)[0] if place < len(body) else -2)
    place += 2
    while place < end:
        kind, size = unpack_from(">HH", body, place)
        found[kind] = body[place + 4 : place + 4 + size]
        place += 4 + size
    return found
