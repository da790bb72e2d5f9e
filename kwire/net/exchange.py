"""Requests and the answers to them on one connection, without the connection.

Kafka answers the requests of a connection in the order they came in, so the oldest one open is the
one that the next frame answers; its correlation id proves it.
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
class Asked:
    """A request that was sent; `DescribeQuorum v2` to a person."""

    correlation_id: int
    key: int
    version: int

    def __str__(self) -> str:
        return f"{api_name(self.key)} v{self.version}"


class AnswerSink(Protocol):
    """Takes the answer to a request, or what is wrong with its bytes."""

    def __call__(self, asked: Asked, answer: ResponseFrame | WireError) -> None: ...


class Exchange:
    """Numbers requests, cuts what comes back into frames, and matches the two.

    client_id: what every request header says; None sends a null.
    frame_limit: largest answer that is accepted, in bytes.
    """

    def __init__(self, *, client_id: str | None, frame_limit: int = FRAME_LIMIT) -> None:
        self._client_id = client_id
        self._splitter = FrameSplitter(frame_limit)
        self._open: deque[Asked] = deque()
        self._next_id = 0

    @property
    def pending(self) -> int:
        """Bytes of an answer that has not arrived whole."""
        return self._splitter.pending

    def ask(self, request: Request, version: int, *, answered: bool = True) -> tuple[Asked, bytes]:
        """Return the frame to send, and what its answer will be known by.

        EncodeError changes nothing.

        answered: False where no answer will come (Produce with acks=0).
        """
        key = type(request).key
        assert key is not None, f"{type(request).__name__} has no API key"
        correlation_id = self._next_id
        frame = encode_request(
            request, version, correlation_id=correlation_id, client_id=self._client_id
        )
        asked = Asked(correlation_id=correlation_id, key=key, version=version)
        if answered:
            self._open.append(asked)
        self._next_id = 0 if correlation_id == _LAST_CORRELATION_ID else correlation_id + 1
        return asked, frame

    def receive(self, chunk: bytes, sink: AnswerSink) -> None:
        """Hand on every answer that is complete.

        A body that cannot be read is the answer's own trouble. FrameError means that nothing after
        it can be trusted: a size out of bounds, an answer nobody asked for or out of order.
        """
        self._splitter.feed(chunk, lambda frame: self._match(frame, sink))

    def _match(self, frame: bytes, sink: AnswerSink) -> None:
        if len(frame) < _CORRELATION_ID_SIZE:
            raise FrameError(f"an answer of {len(frame)} bytes has no correlation id")
        correlation_id = int.from_bytes(frame[:_CORRELATION_ID_SIZE], "big", signed=True)
        if not self._open:
            raise FrameError(
                f"an answer with correlation id {correlation_id} that nobody asked for"
            )
        asked = self._open.popleft()
        if correlation_id != asked.correlation_id:
            raise FrameError(
                f"an answer with correlation id {correlation_id} where {asked.correlation_id}"
                f" ({asked}) is due"
            )
        sink(asked, _decoded(frame, asked))


def _decoded(frame: bytes, asked: Asked) -> ResponseFrame | WireError:
    try:
        return decode_response(frame, asked.key, asked.version)
    except WireError as error:
        return error
