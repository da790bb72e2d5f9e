"""The proof that a Kafka node is behind an address, before anything of a client's passes there.

1. Send an ApiVersions request in a version that no node has.
2. Hand the connection over if the answer is a node's: our correlation id, and
   UNSUPPORTED_VERSION (KIP-511).
A version that the node has would be worse: Kafka takes only one such request before SASL
(SaslServerAuthenticator.handleApiVersionsRequest), and that one is the client's.
"""

from __future__ import annotations

import asyncio
from secrets import randbits
from struct import pack
from typing import cast

from kwire.error_codes import ErrorCode
from kwire.errors import KwireError, LocalError
from kwire.messages.a18_api_versions import ApiVersionsResponse
from kwire.messages.headers import RequestHeader
from kwire.messages.registry import api_key
from kwire.net.frames import decode_response
from kwire.proxy.data_path.own_requests import OWN_CLIENT_ID

ANSWER_LIMIT = 4096
"""Bytes of the longest answer that is read. Kafka's names one API, and has about 20."""

_API_VERSIONS = api_key("ApiVersions")
_NO_VERSION = (1 << 15) - 1
_SIZE = 4


class NotKafka(LocalError):
    """The answer to ApiVersions is not a Kafka node's."""


class Proof(asyncio.Protocol):
    """Proves the peer of a new connection, and hands the connection to `then`.

    proven: done when that has happened. Fails with NotKafka.
    """

    def __init__(self, then: asyncio.Protocol) -> None:
        self._then = then
        self._number = randbits(31)
        self._received = b""
        self.proven: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # Nobody waits any more where the connection has failed in another way as well.
        self.proven.add_done_callback(lambda proven: proven.cancelled() or proven.exception())

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the request."""
        self._transport = cast(asyncio.Transport, transport)
        self._transport.write(_request(self._number))

    def data_received(self, data: bytes) -> None:
        """Take the answer; hand the connection over at once, so that no byte comes in between."""
        self._received += data
        whole = _answer_size(self._received)
        if self.proven.done() or len(self._received) < whole:
            return
        if len(self._received) != whole or not _is_answer(self._received[_SIZE:], self._number):
            self._fail()
            return
        self._transport.set_protocol(self._then)
        self._then.connection_made(self._transport)
        self.proven.set_result(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail: the peer closed instead of answering."""
        self._fail()

    def _fail(self) -> None:
        self._transport.abort()
        if not self.proven.done():
            self.proven.set_exception(NotKafka("it does not answer ApiVersions as Kafka does"))


def _request(number: int) -> bytes:
    """Return an ApiVersions request, whose body no node reads (RequestContext.parseRequest)."""
    header = RequestHeader(
        request_api_key=_API_VERSIONS,
        request_api_version=_NO_VERSION,
        correlation_id=number,
        client_id=OWN_CLIENT_ID,
    ).encode(2)
    return pack(">i", len(header)) + header


def _answer_size(received: bytes) -> int:
    """Return the bytes of an answer with its size; 0 for one that is none."""
    if len(received) < _SIZE:
        return _SIZE + 1
    size = int.from_bytes(received[:_SIZE], "big", signed=True)
    return _SIZE + size if 0 < size <= ANSWER_LIMIT else 0


def _is_answer(frame: bytes, number: int) -> bool:
    try:
        answer = decode_response(frame, _API_VERSIONS, 0)
    except KwireError:
        return False
    body = answer.body
    return (
        answer.header.correlation_id == number
        and isinstance(body, ApiVersionsResponse)
        and body.error_code == ErrorCode.UNSUPPORTED_VERSION
    )
