"""The hellos of a TLS handshake, as far as keys depend on them (RFC 5246, 7.4; RFC 8446, 4.1)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from struct import error, unpack_from

HELLO_LIMIT = 64 * 1024
"""Bytes of the longest hello that is read."""

_CLIENT_HELLO, _SERVER_HELLO = 1, 2
_SESSION, _LONGEST_SESSION = 34, 32  # the place of its size, and bytes
_SUPPORTED_VERSIONS = 43
_TLS_13 = b"\x03\x04"
_RETRY = sha256(b"HelloRetryRequest").digest()  # the random of a server that asks once more


class NoKeys(Exception):
    """A connection is not decrypted, for a reason in one sentence."""


@dataclass(slots=True)
class TlsHandshake:
    """The hellos of both sides, as far as they came.

    client: the side that said the first, None for neither. suite: None before the server's hello.
    """

    client: int | None = None
    client_random: bytes = b""
    server_random: bytes = b""
    suite: int | None = None
    is_13: bool = False

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
        if len(body) <= _SESSION or body[_SESSION] > _LONGEST_SESSION:
            return
        random = body[2:_SESSION]
        if kind == _CLIENT_HELLO:
            self.client, self.client_random = side, random
        elif kind == _SERVER_HELLO and random != _RETRY:
            place = _SESSION + 1 + body[_SESSION]
            with suppress(error):
                (suite,) = unpack_from(">H", body, place)
                self.is_13 = _is_13(body[place + 5 :])
                self.server_random, self.suite = random, suite


def _is_13(extensions: bytes) -> bool:
    """Return True if a server has chosen TLS 1.3. Raises struct.error if extensions are cut."""
    place = 0
    while place < len(extensions):
        kind, size = unpack_from(">HH", extensions, place)
        place += 4 + size
        if kind == _SUPPORTED_VERSIONS:
            return extensions[place - size : place] == _TLS_13
    return False
