"""Requests and responses of one connection, without the connection.

Kafka answers the requests of a connection in the order they came in, so that each frame
answers the oldest open request; its correlation id proves it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Protocol

from kwire.codec.declaration import Request
from kwire.errors import FrameError, WireError
from kwire.messages.registry import api_name
from kwire.net.frames import (
    FRAME_LIMIT,
    FrameSplitter,
    ResponseFrame,
    decode_response,
    encode_request,
)

_LAST_CORRELATION_ID = 0x7FFFFFFF
_CORRELATION_ID_SIZE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class SentRequest:
    """A request that waits for its response; as text `DescribeQuorum v2`."""

    correlation_id: int
    key: int
    version: int

    def __str__(self) -> str:
        return f"{api_name(self.key)} v{self.version}"


class ResponseSink(Protocol):
    """Takes the response to a request, or the error of its bytes."""

    def __call__(self, sent: SentRequest, answer: ResponseFrame | WireError) -> None: ...


class Exchange:
    """Numbers requests, splits the received bytes into frames, and matches the two.

    client_id: stands in every request header; None sends a null.
    frame_limit: size of the largest response that is accepted, in bytes.
    """

    def __init__(self, *, client_id: str | None, frame_limit: int = FRAME_LIMIT) -> None:
        self._client_id = client_id
        self._splitter = FrameSplitter(frame_limit)
        self._open: deque[SentRequest] = deque()
        self._next_id = 0

    @property
    def pending(self) -> int:
        """Bytes of an answer that has not arrived whole."""
        return self._splitter.pending

    def send(
        self, request: Request, version: int, *, answered: bool = True
    ) -> tuple[SentRequest, bytes]:
        """Return the request as it will be answered, and the frame to send.

        EncodeError changes nothing.

        answered: False where no answer will come (Produce with acks=0).
        """
        key = type(request).key
        assert key is not None, f"{type(request).__name__} has no API key"
        correlation_id = self._next_id
        frame = encode_request(
            request, version, correlation_id=correlation_id, client_id=self._client_id
        )
        sent = SentRequest(correlation_id=correlation_id, key=key, version=version)
        if answered:
            self._open.append(sent)
        self._next_id = 0 if correlation_id == _LAST_CORRELATION_ID else correlation_id + 1
        return sent, frame

    def receive(self, chunk: bytes, sink: ResponseSink) -> None:
        """Hand on every complete response.

        A body that cannot be read fails its own request only. Raises FrameError if nothing after it
        can be trusted: a size out of bounds, a response nobody asked for or out of order.
        """
        self._splitter.feed(chunk, lambda frame: self._match(frame, sink))

    def _match(self, frame: bytes, sink: ResponseSink) -> None:
        if len(frame) < _CORRELATION_ID_SIZE:
            raise FrameError(f"an answer of {len(frame)} bytes has no correlation id")
        correlation_id = int.from_bytes(frame[:_CORRELATION_ID_SIZE], "big", signed=True)
        if not self._open:
            raise FrameError(
                f"an answer with correlation id {correlation_id}, which no request had"
            )
        sent = self._open.popleft()
        if correlation_id != sent.correlation_id:
            raise FrameError(
                f"an answer with correlation id {correlation_id} where {sent.correlation_id}"
                f" ({sent}) is due"
            )
        sink(sent, _decoded(frame, sent))


def _decoded(frame: bytes, sent: SentRequest) -> ResponseFrame | WireError:
    try:
        return decode_response(frame, sent.key, sent.version)
    except WireError as error:
        return error
