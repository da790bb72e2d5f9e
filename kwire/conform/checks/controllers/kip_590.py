"""Envelope: requests that brokers forward to the active controller (KIP-590)."""

from __future__ import annotations

from collections.abc import Callable

from kwire.codec.declaration import Request
from kwire.conform.check import CheckSection
from kwire.conform.checks.controllers.requests import CHANGES
from kwire.conform.expectation import answers, expect, expect_equal, expect_error
from kwire.conform.quorum import DescribedQuorum, describe_quorum, leader_exchange
from kwire.conform.server import Server
from kwire.conform.vocabulary import Need, ServerRole, kafka, kip
from kwire.error_codes import ErrorCode
from kwire.messages.a18_api_versions import ApiVersionsRequest
from kwire.messages.a46_list_partition_reassignments import ListPartitionReassignmentsRequest
from kwire.messages.a58_envelope import EnvelopeRequest
from kwire.messages.forwarding import envelope
from kwire.net.frames import decode_response, encode_request
from kwire.net.service import ANONYMOUS

SECTION = CheckSection("controllers/kip-590", "Requests in envelopes")

_FORWARDED, _HANDLER = kip(590, "EnvelopeRequest"), kafka("EnvelopeUtils.handleEnvelopeRequest")
_NUMBER = 4711
_LIST = ListPartitionReassignmentsRequest()


def _envelope(request: Request, version: int) -> EnvelopeRequest:
    data = encode_request(request, version, correlation_id=_NUMBER, client_id="kwire-conform")
    return _around(data[4:])


def _around(data: bytes) -> EnvelopeRequest:
    return envelope(data, ANONYMOUS, "127.0.0.1")


def _send(envelope: EnvelopeRequest) -> Callable[[DescribedQuorum], Request]:
    return lambda quorum: envelope


@SECTION.check(1, _FORWARDED, role=ServerRole.CONTROLLER)
async def _(server: Server) -> None:
    """A request in an envelope is answered in one, under its own correlation id."""
    await describe_quorum(server)
    answer = await server.ask(_envelope(_LIST, 0))
    expect_error(answer, ErrorCode.NONE)
    data = answer.response_data or b""
    expect_equal("correlation id", int.from_bytes(data[:4], "big"), _NUMBER)
    decoded = decode_response(data, type(_LIST).key or 0, 0)
    expect_equal("bytes left over", decoded.left_over, 0)
    expect_error(decoded.body, ErrorCode.NONE)


SECTION[2] = leader_exchange(
    "An API that brokers do not forward is refused in an envelope.",
    _FORWARDED,
    send=_send(_envelope(ApiVersionsRequest(), 0)),
    expect=answers(ErrorCode.INVALID_REQUEST),
)
SECTION[3] = leader_exchange(
    "An envelope in an envelope is refused.",
    _HANDLER,
    send=_send(_envelope(_envelope(_LIST, 0), 0)),
    expect=answers(ErrorCode.INVALID_REQUEST),
)
SECTION[4] = leader_exchange(
    "Bytes in an envelope that are not a request are refused.",
    _HANDLER,
    send=_send(_around(b"\x00\x2e\x00\x00\x00\x00\x00\x01\x00\x01")),
    expect=answers(ErrorCode.UNSUPPORTED_VERSION) | answers(ErrorCode.INVALID_REQUEST),
)
SECTION[5] = leader_exchange(
    "An unknown version in an envelope gets",
    _HANDLER,
    send=_send(_around(b"\x00\x2e\x00\x63\x00\x00\x00\x01\xff\xff\x00\x00")),
    expect=answers(ErrorCode.UNSUPPORTED_VERSION),
)
SECTION[6] = leader_exchange(
    "A principal that cannot be read gets",
    _FORWARDED,
    send=_send(_envelope(_LIST, 0).replace(request_principal=b"\x7f")),
    expect=answers(ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE),
)
SECTION[7] = leader_exchange(
    "A client address that is invalid gets",
    _HANDLER,
    send=_send(_envelope(_LIST, 0).replace(client_host_address=b"\x7f\x00\x01")),
    expect=answers(ErrorCode.INVALID_REQUEST),
)


@SECTION.check(8, _FORWARDED, role=ServerRole.CONTROLLER, needs=Need.TWO_VOTERS)
async def _(server: Server) -> None:
    """NOT_CONTROLLER to a request in an envelope stands on the envelope."""
    quorum: DescribedQuorum = await describe_quorum(server)
    connection = await server.node(quorum.follower_id)
    request = CHANGES["UnregisterBroker"]
    answer = await connection.ask(_envelope(request, 0))
    expect_equal("error code of the envelope", answer.error_code, ErrorCode.NOT_CONTROLLER)
    expect(not answer.response_data, "no response in it", answer.response_data)
