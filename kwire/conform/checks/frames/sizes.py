"""The size in front of a frame; in Kafka NetworkReceive, which has the listener's limit."""

from __future__ import annotations

from kwire.conform.bad_bytes import (
    API_VERSIONS,
    CLOSES,
    NOT_CLOSED,
    SHORT_PATIENCE,
    good_frame,
    others_served,
    sends,
    sends_each,
)
from kwire.conform.check import CheckSection
from kwire.conform.expectation import answers, judge, stays_silent
from kwire.conform.raw_frames import raw_header, sized, tagged_fields
from kwire.conform.server import Server
from kwire.conform.vocabulary import guide, kafka
from kwire.error_codes import ErrorCode

SECTION = CheckSection("frames/size", "The size in front of a frame")

_RECEIVE = kafka("NetworkReceive.readFrom")
_HEADER = kafka("RequestHeader.parse")
_LIMIT = 100 * 1024 * 1024
"""Kafka's socket.request.max.bytes."""
_MEBIBYTE = bytes(1 << 20)


def _size(number: int) -> bytes:
    return number.to_bytes(4, "big", signed=True)


SECTION[1] = sends("A negative size ends the connection.", _RECEIVE, _size(-1), differs=NOT_CLOSED)
SECTION[2] = sends(
    "The lowest size ends the connection.", _RECEIVE, _size(-(1 << 31)), differs=NOT_CLOSED
)
SECTION[3] = sends("A size of 0 ends the connection.", _HEADER, _size(0), differs=NOT_CLOSED)
SECTION[4] = sends(
    "The largest size is refused before its bytes come.",
    guide("Network"),
    _size((1 << 31) - 1),
    differs=NOT_CLOSED,
)
SECTION[5] = sends(
    "A size one above the limit of 100 MiB is refused before its bytes come.",
    guide("Network"),
    _size(_LIMIT + 1),
    differs=NOT_CLOSED,
)
SECTION[6] = sends_each(
    "A frame too short for a header ends the connection.",
    _HEADER,
    {f"{size}-bytes": sized(raw_header(API_VERSIONS, 0, 1)[:size]) for size in range(1, 8)},
    differs=NOT_CLOSED,
)


@SECTION.check(7, guide("Network"))
async def _(server: Server) -> None:
    """The server waits for the rest of a frame."""
    connection = await server.connection()
    server.allow(stays_silent())
    await connection.send(good_frame()[:-1])
    judge(await connection.reaction(API_VERSIONS, 0, 1, SHORT_PATIENCE), stays_silent())
    await others_served(server)


@SECTION.check(8, guide("Network"))
async def _(server: Server) -> None:
    """The server waits for the rest of a size, and serves others meanwhile."""
    connection = await server.connection()
    frame = good_frame()
    await connection.send(frame[:2])
    await others_served(server)
    await connection.send(frame[2:])
    judge(await connection.reaction(API_VERSIONS, 0, 1), answers(ErrorCode.NONE))


@SECTION.check(9, guide("Network"))
async def _(server: Server) -> None:
    """The server waits for the rest of a header, and serves others meanwhile."""
    connection = await server.connection()
    frame = good_frame()
    await connection.send(frame[:9])
    await others_served(server)
    await connection.send(frame[9:])
    judge(await connection.reaction(API_VERSIONS, 0, 1), answers(ErrorCode.NONE))


SECTION[10] = sends(
    "A request of 1 MiB is answered.",
    guide("Network"),
    sized(
        raw_header(API_VERSIONS, 3, 1, tags=tagged_fields([(9, _MEBIBYTE)])) + b"\x06kwire\x021\x00"
    ),
    answers(ErrorCode.NONE),
    CLOSES,  # socket.request.max.bytes may be less
    version=3,
)
