"""Envelope (KIP-590)."""

from typing import Any

import pytest

import vectors
from kwire.controller.handlers.envelope import opened, refused, sealed
from kwire.controller.handlers.update_features import CHANGED_METADATA
from kwire.error_codes import ErrorCode
from kwire.errors import ApiError
from kwire.messages.a19_create_topics import CreatableTopicResult, CreateTopicsResponse
from kwire.messages.a46_list_partition_reassignments import ListPartitionReassignmentsRequest
from kwire.messages.a58_envelope import EnvelopeRequest
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.messages.forwarding import FORWARDABLE
from kwire.net.frames import encode_request

PRINCIPAL = b"\x00\x00\x05User\x0aANONYMOUS\x00\x00"
"""As a real 4.3.1 broker sends it."""


def envelope(data: bytes, principal: bytes | None = PRINCIPAL) -> EnvelopeRequest:
    return EnvelopeRequest(
        request_data=data, request_principal=principal, client_host_address=b"\x7f\0\0\1"
    )


def request_data(request: Any, version: int) -> bytes:
    return encode_request(request, version, correlation_id=7, client_id="me")[4:]


def test_an_envelope_is_opened_and_sealed_again() -> None:
    """KIP-590."""
    forwarded = opened(envelope(request_data(ListPartitionReassignmentsRequest(), 0)))
    assert forwarded.request == ListPartitionReassignmentsRequest()
    assert (forwarded.version, forwarded.client_id) == (0, "me")
    assert forwarded.principal == "User:ANONYMOUS"

    answer = sealed(forwarded, CreateTopicsResponse())

    assert (answer.error_code, (answer.response_data or b"")[:4]) == (0, b"\0\0\0\7")


@pytest.mark.parametrize("size", [0, 3, 5, 17])
def test_an_address_of_another_size_is_refused(size: int) -> None:
    """As Java's InetAddress.getByAddress refuses it."""
    request = envelope(request_data(ListPartitionReassignmentsRequest(), 0))
    with pytest.raises(ApiError) as refusal:
        opened(request.replace(client_host_address=bytes(size)))
    assert refusal.value.code == ErrorCode.INVALID_REQUEST


def test_not_controller_stands_on_the_envelope() -> None:
    """Pitfall: else brokers do not look for the leader again."""
    forwarded = opened(envelope(request_data(ListPartitionReassignmentsRequest(), 0)))
    result = CreatableTopicResult(name="foo", error_code=ErrorCode.NOT_CONTROLLER)

    answer = sealed(forwarded, CreateTopicsResponse(topics=[result]))

    assert answer == refused(ErrorCode.NOT_CONTROLLER)
    assert answer.response_data is None


@pytest.mark.parametrize(
    ("data", "principal", "code"),
    [
        (b"", PRINCIPAL, ErrorCode.INVALID_REQUEST),
        (b"\x00\x13\x00\x07\0\0\0\0\xff", PRINCIPAL, ErrorCode.INVALID_REQUEST),
        (b"\x00\x13\x00\x63\0\0\0\0\xff\xff\0", PRINCIPAL, ErrorCode.UNSUPPORTED_VERSION),
        (b"\x03\xe7\x00\x00\0\0\0\0", PRINCIPAL, ErrorCode.UNSUPPORTED_VERSION),
        (
            request_data(DescribeClusterRequest(), 0),
            PRINCIPAL,
            ErrorCode.INVALID_REQUEST,
        ),
        (b"", b"", ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE),
        (b"", None, ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE),
        (b"", b"\x00\x09abc", ErrorCode.PRINCIPAL_DESERIALIZATION_FAILURE),
    ],
)
def test_an_envelope_with_nonsense_is_refused(
    data: bytes, principal: bytes | None, code: ErrorCode
) -> None:
    with pytest.raises(ApiError) as caught:
        opened(envelope(data, principal))
    assert caught.value.code == code


@pytest.mark.java
def test_what_brokers_forward_and_what_changes_metadata_is_kafkas() -> None:
    facts = vectors.facts("4.4.0")
    assert {row["key"] for row in facts["api_keys"] if row["forwardable"]} == FORWARDABLE
    changed = {
        row["level"]
        for row in facts["metadata_version"]["levels"]
        if row["supports"]["didMetadataChange"] and row["level"] > 7
    }
    assert changed == CHANGED_METADATA
