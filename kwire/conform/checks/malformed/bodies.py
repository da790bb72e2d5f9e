"""Bodies that are cut off, have odd values or tagged fields out of order."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from kwire.codec.compiler.runtime import uvarint
from kwire.conform.bad_bytes import (
    ANSWERS,
    API_VERSIONS,
    CLOSES,
    NOT_CLOSED,
    REFUSED,
    send_bytes,
    sends,
)
from kwire.conform.check import Check, CheckSection, Member, family
from kwire.conform.expectation import Expectation, answers
from kwire.conform.lengths import offered_forms, request_frame
from kwire.conform.raw_frames import tagged_fields
from kwire.conform.safe_requests import safe_request
from kwire.conform.server import Server
from kwire.conform.vocabulary import ServerRole, guide, kafka, kip
from kwire.error_codes import ErrorCode
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.messages.registry import api_key, api_name

SECTION = CheckSection("malformed/body", "Bodies that cannot be read")

_TYPES = guide("Protocol Primitive Types")
_TAGS = kip(482, "Serializing tagged fields")
_DESCRIBE_CLUSTER = api_key("DescribeCluster")
_BROKERS, _CONTROLLERS = 1, 2
_UNSET = -(2**31)
_NAME = b"\x06kwire\x021"
"""The body of ApiVersions v3 without its tagged fields."""


def _body(key: int, version: int) -> bytes:
    body = safe_request(key, version)
    return b"" if body is None else body.encode(version)


def cut(sentence: str, key: int | None = None) -> Check:
    """Return a family of bodies cut off: of one API at each byte, or of each by its last byte."""

    def members(server: Server) -> Iterator[Member]:
        for offered, version in offered_forms(server):
            body = _body(offered, version)
            ends = range(len(body) - 1, len(body)) if key is None else range(len(body))
            for end in ends if body and key in (None, offered) else ():
                frame = request_frame(offered, version, body[:end])
                run = partial(send_bytes, frame, CLOSES, NOT_CLOSED, offered, version)
                yield Member(id=f"{api_name(offered)}-v{version}-{end}", run=run)

    return family(sentence, _TYPES, members, alone=True)


def tags(
    sentence: str, data: bytes, expected: Expectation, differs: Expectation | None = None
) -> Check:
    """Return a check of tagged fields in the body of ApiVersions v3."""
    frame = request_frame(API_VERSIONS, 3, _NAME + data)
    return sends(sentence, _TAGS, frame, expected, differs, version=3, alone=True)


def _untold(response: Any) -> str:
    return "no operations" if response.cluster_authorized_operations == _UNSET else ""


_TOLD = answers(ErrorCode.NONE, text="with the operations asked for", lacks=_untold)


def _boolean_members(server: Server) -> Iterator[Member]:
    """Yield DescribeCluster, whose first byte is a boolean, in its last version."""
    for key, version in offered_forms(server):
        if key == _DESCRIBE_CLUSTER:
            kind = _CONTROLLERS if server.target.role is ServerRole.CONTROLLER else _BROKERS
            body = DescribeClusterRequest(endpoint_type=kind).encode(version)
            for number in (2, 0x7F, 0xFF):
                frame = request_frame(key, version, bytes([number]) + body[1:])
                run = partial(send_bytes, frame, _TOLD, CLOSES, key, version)
                yield Member(id=f"{number:#x}", run=run)


SECTION[1] = cut("A body without its last byte ends the connection.")
SECTION[2] = cut("A CreateTopics that is cut off ends the connection.", api_key("CreateTopics"))
SECTION[3] = cut("A DescribeQuorum that is cut off ends the connection.", api_key("DescribeQuorum"))
SECTION[4] = cut("A Fetch that is cut off ends the connection.", api_key("Fetch"))
SECTION[5] = cut(
    "An UpdateFeatures that is cut off ends the connection.", api_key("UpdateFeatures")
)
SECTION[6] = family("A boolean is true for every byte other than 0.", _TYPES, _boolean_members)
SECTION[7] = tags(
    "Tagged fields of a body with one tag twice are refused, or ignored.",
    tagged_fields([(5, b"a"), (5, b"b")]),
    ANSWERS,
    CLOSES,
)
SECTION[8] = tags(
    "Tagged fields of a body in descending order are refused, or ignored.",
    tagged_fields([(6, b"a"), (5, b"b")]),
    ANSWERS,
    CLOSES,
)
SECTION[9] = tags(
    "A number of tagged fields beyond the body ends the connection.",
    uvarint((1 << 31) - 1),
    CLOSES,
    NOT_CLOSED,
)
SECTION[10] = tags(
    "A tagged field longer than its body ends the connection.",
    b"\x01\x05" + uvarint((1 << 31) - 1),
    CLOSES,
    NOT_CLOSED,
)
SECTION[11] = tags(
    "A hundred thousand tagged fields are refused, or ignored.",
    tagged_fields((tag, b"") for tag in range(100_000)),
    REFUSED,
)
SECTION[12] = sends(
    "A varint longer than it needs to be counts as its number, or is refused.",
    _TYPES,
    request_frame(API_VERSIONS, 3, b"\x86\x00kwire\x021\x00"),
    ANSWERS,
    CLOSES,
    version=3,
    alone=True,
)
SECTION[13] = sends(
    "A string that is not UTF-8 gets INVALID_REQUEST, or ends the connection.",
    kafka("ApiVersionsRequest.isValid"),
    request_frame(API_VERSIONS, 3, b"\x03\xc3\x28\x021\x00"),
    REFUSED,
    version=3,
    alone=True,
)
