"""A file of TLS secrets, as SSLKEYLOGFILE has browsers, OpenSSL, Python and others write it.

Each line is a label, the client's random and a secret (draft-ietf-tls-keylogfile).
"""

from __future__ import annotations

import os
from collections import OrderedDict
from contextlib import suppress
from pathlib import Path

from kwire.permissions import warn_if_readable
from kwire.proxy.capture.packets.tls_ciphers import LABELS, DirectionKeys, keys_of
from kwire.proxy.capture.packets.tls_handshake import TlsHandshake
from kwire.proxy.data_path.copies import Copies

CONNECTIONS = 100_000
"""Connections whose secrets are kept, the latest ones."""

HELD_LIMIT, ALL_HELD = 256 * 1024, 32 * 1024 * 1024
"""Bytes of records of one connection, and of all, that may wait for keys."""

_DIGITS = range(64, 129)  # of a secret


class KeyLog:
    """The secrets in a file, which may grow. Raises OSError if it cannot be read at first.

    held: the room for records that wait for keys.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.held = Copies(HELD_LIMIT, ALL_HELD)
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
            if file.seek(0, os.SEEK_END) < self._position:  # it has been written anew
                self._position = 0
            file.seek(self._position)
            for line in file:
                if not line.endswith(b"\n"):  # it may still be written
                    break
                self._position += len(line)
                with suppress(ValueError):  # garbage, or a comment
                    self._take(line.decode("ascii"))
        return self._position != before

    def _take(self, line: str) -> None:
        """Keep the secret in a line. Raises ValueError if it has none."""
        label, random, secret = line.split()
        if label in LABELS and len(secret) in _DIGITS:
            self._secrets.setdefault(bytes.fromhex(random), {})[label] = bytes.fromhex(secret)
            if len(self._secrets) > CONNECTIONS:
                self._secrets.popitem(last=False)
