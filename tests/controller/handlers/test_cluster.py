"""Features, controllers, DescribeCluster, Envelope, and what is advertised."""

from typing import Any
from uuid import UUID

import pytest

import vectors
from kwire.controller.errors import ApiError
from kwire.controller.handlers.envelope import FORWARDABLE, opened, refused, sealed
from kwire.controller.handlers.registry import HANDLERS
from kwire.controller.handlers.result import QuorumView
from kwire.controller.handlers.update_features import CHANGED_METADATA
from kwire.error_codes import ErrorCode
from kwire.messages.a19_create_topics import CreatableTopicResult, CreateTopicsResponse
from kwire.messages.a46_list_partition_reassignments import ListPartitionReassignmentsRequest
from kwire.messages.a57_update_features import FeatureUpdateKey, UpdateFeaturesRequest
from kwire.messages.a58_envelope import EnvelopeRequest
from kwire.messages.a60_describe_cluster import DescribeClusterRequest
from kwire.messages.a62_broker_registration import BrokerRegistrationRequest
from kwire.messages.a62_broker_registration import Feature as BrokerFeature
from kwire.messages.a70_controller_registration import (
    ControllerRegistrationRequest,
    Feature,
    Listener,
)
from kwire.messages.metadata_versions import (
    ELIGIBLE_LEADER_REPLICAS,
    FEATURES,
    KRAFT_VERSION,
    METADATA_VERSION,
)
from kwire.net.frames import encode_request

UPGRADE, SAFE, UNSAFE = 1, 2, 3
BROKERS, CONTROLLERS = 1, 2


def register(lab: Any, id: int, **levels: tuple[int, int]) -> int:
    ranges = {METADATA_VERSION: (7, 30)} | {
        name: (0, feature.latest) for name, feature in FEATURES.items()
    }
    request = ControllerRegistrationRequest(
        controller_id=id,
        incarnation_id=UUID(int=id),
        zk_migration_ready=True,
        listeners=[
            Listener(name="CONTROLLER", host=f"c{id}", port=9000 + id),
            Listener(name="INTERNAL", host="inside", port=1),
        ],
        features=[
            Feature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in (ranges | levels).items()
        ],
    )
    code: int = lab.ask(request).error_code
    return code


def update(lab: Any, name: str, level: int, kind: int = UPGRADE, **more: Any) -> tuple[int, str]:
    key = FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=kind)
    response = lab.ask(UpdateFeaturesRequest(feature_updates=[key]).replace(**more))
    return response.error_code, response.error_message or ""


def test_a_feature_is_raised_and_lowered(lab: Any) -> None:
    assert update(lab, "group.version", 1) == (0, "")
    assert lab.image.features.level("group.version") == 1
    assert update(lab, "group.version", 0, SAFE) == (0, "")
    assert lab.image.features.level("group.version") == 0


@pytest.mark.parametrize(
    ("name", "level", "kind", "reason"),
    [
        ("group.version", 1, 9, "9 is not a type of update"),
        ("group.version", -1, SAFE, "levels begin at 0"),
        ("group.version", 7, UPGRADE, "controller 3000 supports 0-1"),
        ("nonsense", 1, UPGRADE, "controller 3000 supports 0"),
        ("group.version", 1, SAFE, "which a downgrade cannot raise"),
        (METADATA_VERSION, 29, UPGRADE, "is at 30"),
        (METADATA_VERSION, 29, SAFE, "from 4.3-IV0 to 4.2-IV1 metadata might be lost"),
        (METADATA_VERSION, 29, UNSAFE, "metadata might be lost"),
        (METADATA_VERSION, 34, UPGRADE, "supports 7-33"),
        (METADATA_VERSION, 6, SAFE, "supports 7-33"),
    ],
)
def test_a_level_that_cannot_be_is_refused(
    lab: Any, name: str, level: int, kind: int, reason: str
) -> None:
    before = lab.end_offset

    code, message = update(lab, name, level, kind)

    assert code == ErrorCode.INVALID_UPDATE_VERSION
    assert reason in message
    assert lab.end_offset == before


def test_eligible_leader_replicas_stay_at_level_0(lab: Any) -> None:
    """Pitfall: half of their rules loses data, so that none is promised."""
    code, message = update(lab, ELIGIBLE_LEADER_REPLICAS, 1)

    assert code == ErrorCode.INVALID_UPDATE_VERSION
    assert "its rules are not complete here" in message


def test_metadata_version_is_lowered_where_nothing_can_be_lost(make_lab: Any) -> None:
    lab = make_lab(level=29)

    assert update(lab, METADATA_VERSION, 24, SAFE) == (0, "")
    assert lab.image.features.metadata_version.level == 24


def test_a_feature_may_need_a_metadata_version(make_lab: Any) -> None:
    lab = make_lab(level=22)
    assert update(lab, METADATA_VERSION, 26)[0] == ErrorCode.NONE
    assert FEATURES[ELIGIBLE_LEADER_REPLICAS].needs == {1: 23}


def test_a_broker_that_does_not_support_a_level_holds_it_back(lab: Any) -> None:
    lab.start(1)

    code, message = update(lab, "group.version", 1)

    assert (code, "broker 1 supports 0" in message) == (ErrorCode.INVALID_UPDATE_VERSION, True)


def test_a_controller_that_does_not_support_a_level_holds_it_back(lab: Any) -> None:
    register(lab, 3001, **{"group.version": (0, 0)})

    assert "controller 3001 supports 0" in update(lab, "group.version", 1)[1]


def test_a_voter_that_has_not_registered_holds_every_level_back(lab: Any) -> None:
    lab.controller.quorum = QuorumView(leader_id=3000, voter_ids=frozenset({3000, 3001}))

    assert "controller 3001 has not registered" in update(lab, "group.version", 1)[1]
    register(lab, 3001)
    assert update(lab, "group.version", 1)[0] == ErrorCode.NONE


def test_kraft_version_is_left_to_raft(lab: Any) -> None:
    """KIP-853."""
    key = FeatureUpdateKey(feature=KRAFT_VERSION, max_version_level=1)

    answer = lab.answer(UpdateFeaturesRequest(feature_updates=[key]))

    assert (answer.kraft_version, answer.records) == (1, ())
    only = UpdateFeaturesRequest(feature_updates=[key], validate_only=True)
    assert lab.answer(only).kraft_version is None
    lab.controller.quorum = QuorumView(kraft_version=1)
    assert update(lab, KRAFT_VERSION, 0, SAFE)[0] == ErrorCode.INVALID_UPDATE_VERSION


def test_an_update_is_all_or_nothing_and_may_only_validate(lab: Any) -> None:
    before = lab.end_offset
    good = FeatureUpdateKey(feature="group.version", max_version_level=1)
    bad = FeatureUpdateKey(feature="share.version", max_version_level=9)

    response = lab.ask(UpdateFeaturesRequest(feature_updates=[good, bad]))
    assert response.error_code == ErrorCode.INVALID_UPDATE_VERSION
    assert update(lab, "group.version", 1, validate_only=True)[0] == ErrorCode.NONE
    assert lab.end_offset == before


def test_a_registered_broker_has_every_finalised_feature(lab: Any) -> None:
    update(lab, "group.version", 1)
    assert lab.ask(lab.registration(1)).error_code == ErrorCode.UNSUPPORTED_VERSION
    request: BrokerRegistrationRequest = lab.registration(1)
    request.features.append(
        BrokerFeature(name="group.version", min_supported_version=0, max_supported_version=1)
    )
    assert lab.ask(request).error_code == ErrorCode.NONE


def test_a_registered_controller_is_never_ready_to_migrate(lab: Any) -> None:
    assert register(lab, 3001) == ErrorCode.NONE
    assert not lab.image.cluster.controllers[3001].zk_migration_ready


def test_controllers_are_not_registered_before_3_7(make_lab: Any) -> None:
    lab = make_lab(level=14)

    assert register(lab, 3001) == ErrorCode.UNSUPPORTED_VERSION
    asked = lab.ask(DescribeClusterRequest(endpoint_type=CONTROLLERS))
    assert asked.error_code == ErrorCode.UNSUPPORTED_VERSION


def test_the_cluster_is_described_as_the_listener_reaches_it(lab: Any) -> None:
    """KIP-919."""
    register(lab, 3001)
    register(lab, 3000)
    lab.controller.quorum = QuorumView(leader_id=3001)

    response = lab.ask(
        DescribeClusterRequest(
            endpoint_type=CONTROLLERS, include_cluster_authorized_operations=True
        )
    )

    nodes = [(node.broker_id, node.host, node.port) for node in response.brokers]
    assert nodes == [(3000, "c3000", 12000), (3001, "c3001", 12001)]
    assert (response.controller_id, response.endpoint_type) == (3001, CONTROLLERS)
    assert response.cluster_authorized_operations == 0b1111110100000
    assert response.cluster_id == lab.controller.config.cluster_id


def test_a_leader_that_has_not_registered_is_not_named(lab: Any) -> None:
    lab.controller.quorum = QuorumView(leader_id=3001)

    assert lab.ask(DescribeClusterRequest(endpoint_type=CONTROLLERS)).controller_id == -1


@pytest.mark.parametrize(
    ("version", "type", "code"),
    [
        (0, BROKERS, ErrorCode.INVALID_REQUEST),
        (1, BROKERS, ErrorCode.MISMATCHED_ENDPOINT_TYPE),
        (2, BROKERS, ErrorCode.MISMATCHED_ENDPOINT_TYPE),
        (2, 7, ErrorCode.UNSUPPORTED_ENDPOINT_TYPE),
    ],
)
def test_who_asks_a_controller_for_brokers_is_told(
    lab: Any, version: int, type: int, code: ErrorCode
) -> None:
    """KIP-919."""
    assert lab.ask(DescribeClusterRequest(endpoint_type=type), version).error_code == code


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


def test_versions_are_those_that_a_real_controller_advertises() -> None:
    """As Kafka 4.4.0 answers ApiVersions at its controller listener."""
    advertised = {
        19: "2-7", 20: "1-6", 32: "1-4", 37: "0-3", 43: "0-2", 44: "0-1", 46: "0", 56: "2-3",
        57: "0-2", 60: "0-2", 62: "0-4", 63: "0-2", 64: "0", 67: "0", 70: "0", 73: "0", 94: "0",
    }  # fmt: skip
    assert {key: str(handler.versions) for key, handler in HANDLERS.items()} == advertised


def test_apis_that_do_not_work_yet_are_not_advertised() -> None:
    assert not {29, 30, 31, 38, 45, 48, 49, 50, 51} & set(HANDLERS)
