"""Warns of certificates of listeners that are not valid, or soon will not be, once each."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kwire.proxy import Listener


class CertificateWarnings:
    """Looks at what listeners show their clients and nodes. say: takes a sentence."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._said: set[str] = set()

    def look(self, listener: Listener) -> None:
        """Say what is wrong with the certificates of a listener, unless it has been said."""
        tls = (listener.tls, listener.upstream_tls)
        files = {one.certificate for one in tls if one is not None and one.certificate is not None}
        if not files:
            return
        from kwire.net.certificates import certificate_warnings

        now = datetime.now(UTC)
        for path in sorted(files):
            for sentence in certificate_warnings(path, now):
                if sentence not in self._said:
                    self._said.add(sentence)
                    self._say(sentence)
