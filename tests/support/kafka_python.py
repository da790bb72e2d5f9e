"""Keeps what kafka-python (3.0.12) leaves behind out of tests that have nothing to do with it.

It leaves a socket to the garbage collector if the connection is refused, or is still being opened
when its client is closed. Any later test may run when that is found, and fails of the warning.
"""

from __future__ import annotations

import socket


class SelfClosingSocket(socket.socket):
    """A socket that is closed without a word when nobody has it any more."""

    def __del__(self) -> None:
        self.close()


def close_forgotten_sockets() -> None:
    """Have kafka-python open its connections with sockets that close themselves."""
    from kafka.net.inet import KafkaNetSocket

    KafkaNetSocket.socket = _open


def _open(
    _: object, family: int = socket.AF_UNSPEC, kind: int = socket.SOCK_STREAM, protocol: int = 0
) -> SelfClosingSocket:
    return SelfClosingSocket(family, kind, protocol)
