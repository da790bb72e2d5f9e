"""A file of TLS secrets, as SSLKEYLOGFILE has browsers, OpenSSL, Python and others write it.

Each line is a label, the client's random and a secret (draft-ietf-tls-keylogfile).
"""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from pathlib import Path

from kwire.permissions import warn_if_readable
from kwire.proxy.capture.packets.tls_ciphers import MASTER, DirectionKeys, keys_of
from kwire.proxy.capture.packets.tls_handshake import TlsHandshake

CONNECTIONS = 100_000
"""Connections whose secrets are kept, the latest ones."""

_LABELS = frozenset(
    [MASTER]
    + [
        f"{side}_{kind}"
        for side in ("CLIENT", "SERVER")
        for kind in ("HANDSHAKE_TRAFFIC_SECRET", "TRAFFIC_SECRET_0")
    ]
)
_CHUNK = 1024 * 1024  # bytes
_SHORTEST, _LONGEST = 32, 64  # bytes of a secret


class KeyLog:
    """The secrets in a file, which may grow. Raises OSError if it cannot be read at first."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._position = 0
        self._secrets: OrderedDict[bytes, dict[str, bytes]] = OrderedDict()
        warn_if_readable(path)
        path.open("rb").close()

    @property
    def content(self) -> str:
        """A sentence: the keys that it has."""
        count = len(self._secrets)
        has = "no keys" if not count else f"the keys of {count:,} other connection"
        return f"{self.path} has {has}{'s' if count > 1 else ''}"

    def keys(self, handshake: TlsHandshake) -> tuple[DirectionKeys, DirectionKeys] | None:
        """Return the keys of a connection; reads the file on where they are not known.

        None if they are not in it, or not all. Raises NoKeys.
        """
        found = keys_of(self._secrets.get(handshake.client_random, {}), handshake)
        if found is None and self._read_on():
            found = keys_of(self._secrets.get(handshake.client_random, {}), handshake)
        return found

    def _read_on(self) -> bool:
        """Read what has been added; return False if nothing has."""
        before = self._position
        with suppress(OSError), self.path.open("rb") as file:
            if file.seek(0, 2) < self._position:  # it has been written anew
                self._position = 0
            file.seek(self._position)
            while chunk := file.read(_CHUNK):
                # The last line may still be written; one without an end is none.
                whole = chunk.rfind(b"\n") + 1 or (len(chunk) if len(chunk) == _CHUNK else 0)
                self._take(chunk[:whole])
                self._position += whole
                if not whole:
                    break
                file.seek(self._position)
        return self._position != before

    def _take(self, lines: bytes) -> None:
        for line in lines.splitlines():
            words = line.split()
            if len(words) != 3:
                continue
            with suppress(ValueError):  # garbage, or a comment
                label, random, secret = words[0].decode(), *map(_unhex, words[1:])
                if label in _LABELS and _SHORTEST <= len(secret) <= _LONGEST:
                    self._secrets.setdefault(random, {})[label] = secret
        while len(self._secrets) > CONNECTIONS:
            self._secrets.popitem(last=False)


def _unhex(word: bytes) -> bytes:
    """Return the bytes of hexadecimal digits. Raises ValueError."""
    return bytes.fromhex(word.decode("ascii"))
