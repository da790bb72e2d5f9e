"""Requests of no API, and bytes of other protocols; Kafka's RequestContext, SocketServer."""

from __future__ import annotations

from kwire.conform.bad_bytes import NOT_CLOSED, sends, sends_each
from kwire.conform.check import CheckSection
from kwire.conform.raw_frames import NO_TAGS, raw_header, sized
from kwire.conform.vocabulary import guide, kafka

SECTION = CheckSection("frames/strangers", "Requests of no API, and bytes of other protocols")

_KEYS = kafka("ApiKeys.forId")
_HTTP = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
_HELLO = bytes.fromhex("16030100a5010000a10303") + bytes(160)
_PROTOCOLS = {
    "http": _HTTP,
    "http2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "tls": _HELLO,
    "ssh": b"SSH-2.0-OpenSSH_9.2\r\n",
    "redis": b"*1\r\n$4\r\nPING\r\n",
    "proxy-v1": b"PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n",
    "proxy-v2": b"\r\n\r\n\0\r\nQUIT\n" + bytes(16),
    "newlines": b"\n" * 64,
}


def stranger(key: int, version: int = 0, tags: bytes | None = None) -> bytes:
    """Return a request without a body."""
    return sized(raw_header(key, version, 1, tags=tags))


SECTION[1] = sends(
    "An unknown API key ends the connection, and nothing else.",
    _KEYS,
    stranger(999),
    differs=NOT_CLOSED,
    alone=True,
)
SECTION[2] = sends(
    "The greatest API key ends the connection, and nothing else.",
    _KEYS,
    stranger(32_767),
    differs=NOT_CLOSED,
    alone=True,
)
SECTION[3] = sends(
    "A negative API key ends the connection, and nothing else.",
    _KEYS,
    stranger(-1),
    differs=NOT_CLOSED,
    alone=True,
)
SECTION[4] = sends(
    "An unknown API key in a flexible header ends the connection.",
    _KEYS,
    stranger(999, 3, NO_TAGS),
    differs=NOT_CLOSED,
    alone=True,
)
SECTION[5] = sends(
    "A negative version of an API other than ApiVersions ends the connection.",
    guide("Compatibility"),
    stranger(3, -1),
    differs=NOT_CLOSED,
    alone=True,
)
SECTION[6] = sends_each(
    "The first bytes of another protocol end the connection.",
    kafka("NetworkReceive.readFrom"),
    _PROTOCOLS,
    differs=NOT_CLOSED,
    alone=True,
)
