"""Breaks of `security/tls`: the relay sees records, and can answer, close, or keep open."""

from breaking import Break, answers_instead, closes_on_chunk, cuts_chunks, keeps_open
from breaking.breaks import SeenRequest
from kwire.conform.checks.security.tls import TLS_10, TLS_11, TLS_12
from kwire.conform.checks.security.tls_session import client_hello

_DATA = b"\x17\x03\x03\x00"
"""The beginning of a record of less than 256 bytes."""


def _plain_answer(request: SeenRequest) -> bytes:
    return request.correlation_id.to_bytes(4, "big") + bytes(6)


def _hello(chunk: bytes) -> bytes:
    """Return a hello of TLS 1.2 in place of an older one: the server accepts it."""
    old = {client_hello(TLS_10), client_hello(TLS_11)}
    return client_hello(TLS_12) if chunk in old else chunk


BREAKS: dict[int, Break] = {
    1: answers_instead(_plain_answer),
    2: cuts_chunks(_hello),
    3: cuts_chunks(_hello),
    4: closes_on_chunk(lambda chunk: chunk.startswith(b"\x16")),
    5: closes_on_chunk(lambda chunk: chunk.count(_DATA) > 2),
    **dict.fromkeys((6, 7, 8, 9, 10), keeps_open()),
}
