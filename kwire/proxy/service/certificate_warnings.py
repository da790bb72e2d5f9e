"""Warnings of listeners' certificates that are not valid, or soon will not be, once each."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from kwire.net.certificates import certificate_warnings
from kwire.proxy.data_path.listener import Listener


class CertificateWarnings:
    """Checks the certificates that listeners show clients and nodes. warn: takes a sentence."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        self._warn = warn
        self._warned: set[str] = set()

    def check(self, listener: Listener) -> None:
        """Warn of the certificates of a listener, with each sentence at most once."""
        sides = (listener.tls, listener.upstream_tls)
        files = {
            tls.certificate for tls in sides if tls is not None and tls.certificate is not None
        }
        if not files:
            return
        now = datetime.now(UTC)
        for path in sorted(files):
            for sentence in certificate_warnings(path, now):
                if sentence not in self._warned:
                    self._warned.add(sentence)
                    self._warn(sentence)
