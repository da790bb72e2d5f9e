"""Request headers: correlation id, client id, tagged fields (KIP-482)."""

from __future__ import annotations

from kwire.codec.compiler.runtime import uvarint
from kwire.conform.bad_bytes import (
    ANSWERS,
    API_VERSIONS,
    CLOSES,
    NOT_CLOSED,
    REFUSED,
    good_frame,
    sends,
    sends_each,
)
from kwire.conform.check import CheckSection
from kwire.conform.expectation import expect_equal, stays_silent
from kwire.conform.raw_frames import raw_header, sized, tagged_fields, text16
from kwire.conform.server import Server
from kwire.conform.vocabulary import guide, kafka, kip, schema

SECTION = CheckSection("frames/header", "Request headers")

_HEADER = "RequestHeader"
_TAGS = kip(482, "Serializing tagged fields")
_SOFTWARE = b"\x06kwire\x021\x00"
"""The body of ApiVersions v3."""


def client(client_id: bytes) -> bytes:
    """Return ApiVersions v0 with a client id, which has its length in front."""
    return sized(raw_header(API_VERSIONS, 0, 1, client_id))


def tagged(tags: bytes) -> bytes:
    """Return ApiVersions v3 with tagged fields in its header, which have their number in front."""
    return sized(raw_header(API_VERSIONS, 3, 1, text16(b"kwire"), tags) + _SOFTWARE)


@SECTION.check(1, schema(_HEADER, "CorrelationId"))
async def _(server: Server) -> None:
    """A correlation id comes back as it was, whatever it is."""
    connection = await server.connection()
    for number in (0, 1, -1, (1 << 31) - 1, -(1 << 31), 0x01020304):
        await connection.send(good_frame(number))
        frame = await connection.receive() or b""
        expect_equal("correlation id", int.from_bytes(frame[:4], "big", signed=True), number)


@SECTION.check(2, schema(_HEADER, "CorrelationId"))
async def _(server: Server) -> None:
    """Correlation ids need not differ."""
    connection = await server.connection()
    await connection.send(good_frame(7) * 3)
    for _ in range(3):
        frame = await connection.receive() or b""
        expect_equal("correlation id", int.from_bytes(frame[:4], "big"), 7)


SECTION[3] = sends(
    "A client id may be null.", schema(_HEADER, "ClientId"), client(b"\xff\xff"), ANSWERS
)
SECTION[4] = sends(
    "A client id may be empty.", schema(_HEADER, "ClientId"), client(b"\0\0"), ANSWERS
)
SECTION[5] = sends(
    "A client id may have the greatest possible length.",
    schema(_HEADER, "ClientId"),
    client(text16(b"k" * 32_767)),
    ANSWERS,
)
SECTION[6] = sends(
    "A request whose client id is not UTF-8 is answered.",
    kafka("RequestHeader"),
    client(text16(b"\xc3\x28\xff")),
    ANSWERS,
    CLOSES,
)
SECTION[7] = sends(
    "A client id of length -2 counts as null.",
    kafka("RequestHeader"),
    client(b"\xff\xfe"),
    ANSWERS,
    CLOSES,
)
SECTION[8] = sends(
    "A client id that is longer than its frame ends the connection.",
    guide("Protocol Primitive Types"),
    client(b"\x7f\xff"),
    differs=NOT_CLOSED,
)
SECTION[9] = sends_each(
    "Tagged fields that the server does not know are ignored.",
    _TAGS,
    {
        "one": tagged(tagged_fields([(5, b"kwire")])),
        "empty": tagged(tagged_fields([(5, b"")])),
        "hundred": tagged(tagged_fields((tag, b"k") for tag in range(100))),
        "greatest": tagged(tagged_fields([((1 << 31) - 1, b"k")])),
        "long": tagged(tagged_fields([(1, b"k" * 100_000)])),
    },
    ANSWERS,
    version=3,
)
SECTION[10] = sends(
    "Tagged fields with one tag twice are refused, or ignored.",
    _TAGS,
    tagged(tagged_fields([(5, b"a"), (5, b"b")])),
    ANSWERS,
    CLOSES,
    version=3,
)
SECTION[11] = sends(
    "Tagged fields in descending order are refused, or ignored.",
    _TAGS,
    tagged(tagged_fields([(6, b"a"), (5, b"b")])),
    ANSWERS,
    CLOSES,
    version=3,
)
SECTION[12] = sends(
    "A number of tagged fields beyond the frame ends the connection.",
    _TAGS,
    tagged(uvarint((1 << 31) - 1)),
    differs=NOT_CLOSED,
    version=3,
)
SECTION[13] = sends(
    "A tagged field longer than its frame ends the connection.",
    _TAGS,
    tagged(b"\x01\x05" + uvarint((1 << 31) - 1)),
    differs=NOT_CLOSED,
    version=3,
)
SECTION[14] = sends(
    "A varint of six bytes ends the connection.",
    guide("Protocol Primitive Types"),
    tagged(b"\xff\xff\xff\xff\xff\x01"),
    differs=NOT_CLOSED,
    version=3,
)
SECTION[15] = sends(
    "The client id of a flexible header is not compact.",
    kip(482, "Request and response headers"),
    sized(raw_header(API_VERSIONS, 3, 1, b"\x06kwire", b"\0") + _SOFTWARE),
    differs=NOT_CLOSED,
    version=3,
)
SECTION[16] = sends(
    "A number of tagged fields above 2^31 is refused, or taken for a negative one.",
    kafka("RequestHeader.parse"),
    tagged(uvarint((1 << 32) - 1)),
    REFUSED,
    stays_silent(),
    version=3,
)
