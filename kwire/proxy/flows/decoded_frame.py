"""A whole frame, decoded for filters and encoded again; the bytes of its header stay as they came.

Bytes that no filter changed are the bytes that came, even where Kafka would write them otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

from kwire.codec.declaration import Message
from kwire.errors import KwireError
from kwire.messages.headers import RequestHeader, ResponseHeader
from kwire.net.frames import (
    decode_request,
    decode_response,
    request_header_version,
    response_header_version,
)
from kwire.proxy.flows.flow import Flow
from kwire.proxy.flows.heads import SIZE
from kwire.proxy.flows.interest import Direction

ENCODING = (KwireError, TypeError, AttributeError, ValueError, OverflowError)
"""Errors of engines for values of the wrong type or size, which a filter may leave."""


@dataclass(slots=True, eq=False)
class DecodedFrame:
    """A frame with its size, and its body, which filters change in place.

    version: of the body. start, end: where the body's bytes are in the frame.
    """

    frame: bytes
    body: Message
    version: int
    start: int
    end: int

    def encode(self) -> bytes:
        """Encode the frame to send on: the original bytes, unless a filter has changed the message.

        Raises one of ENCODING if a filter left values that cannot be encoded.

        1. Encode. Where that gives the bytes that came, they are the answer.
        2. What came may be written otherwise than kwire would: decode it again and encode that.
           Where this is the same, nothing was changed either.
        3. Else put the new body between the header and what followed the old body.
        """
        # 1.
        body = self.body.encode(self.version)
        if body == self.frame[self.start : self.end]:
            return self.frame
        # 2. A client may pad a varint, for one: that is no change of a filter's.
        fresh, _ = type(self.body).decode_from(self.frame, self.version, self.start)
        if body == fresh.encode(self.version):
            return self.frame
        # 3.
        return self._with(body)

    def _with(self, body: bytes) -> bytes:
        rest = self.frame[SIZE.size : self.start] + body + self.frame[self.end :]
        return SIZE.pack(len(rest)) + rest


def decode_frame(frame: bytes, flow: Flow, direction: Direction) -> DecodedFrame:
    """Decode a frame of this flow, size included. Raises KwireError if it cannot be decoded."""
    data = frame[SIZE.size :]
    if direction is Direction.REQUEST:
        asked = decode_request(data)
        version = request_header_version(flow.key, flow.version)
        _, start = RequestHeader.decode_from(data, version)
        end = len(frame) - asked.left_over
        return DecodedFrame(frame, asked.body, asked.version, start + SIZE.size, end)
    answered = decode_response(data, flow.key, flow.version)
    version = response_header_version(flow.key, flow.version)
    _, start = ResponseHeader.decode_from(data, version)
    end = len(frame) - answered.left_over
    return DecodedFrame(frame, answered.body, answered.version, start + SIZE.size, end)
