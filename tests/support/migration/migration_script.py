"""The requests to a controller before, in and after a migration from ZooKeeper (KIP-866)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from kwire.codec.declaration import Request
from kwire.controller.handlers.registry import HANDLERS
from kwire.messages.a20_delete_topics import DeleteTopicsRequest, DeleteTopicState
from kwire.messages.a33_alter_configs import (
    AlterableConfig,
    AlterConfigsRequest,
    AlterConfigsResource,
)
from kwire.messages.a45_alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kwire.messages.a49_alter_client_quotas import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kwire.messages.a51_alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
)
from kwire.messages.a56_alter_partition import AlterPartitionRequest, PartitionData, TopicData
from kwire.messages.a57_update_features import FeatureUpdateKey, UpdateFeaturesRequest
from kwire.messages.a62_broker_registration import BrokerRegistrationRequest, Feature, Listener
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest
from kwire.messages.a70_controller_registration import ControllerRegistrationRequest
from kwire.messages.a73_assign_replicas_to_dirs import AssignReplicasToDirsRequest, DirectoryData
from kwire.messages.metadata_versions import METADATA_VERSION
from tests.support.controller.live.admin_session import Step
from tests.support.controller.live.session import every_api

LEVEL = 21
"""3.9-IV0, the inter.broker.protocol.version of the broker."""

BROKER = 1
UPGRADE, SAFE_DOWNGRADE = 1, 2


def registration(cluster_id: str, level: int = LEVEL, **changes: Any) -> BrokerRegistrationRequest:
    """Return the request of a broker with ZooKeeper."""
    features = {METADATA_VERSION: (level, level), "kraft.version": (0, 1)}
    request = BrokerRegistrationRequest(
        broker_id=BROKER,
        cluster_id=cluster_id,
        incarnation_id=UUID(int=(7 << 64) + 1),
        is_migrating_zk_broker=True,
        listeners=[Listener(name="PLAINTEXT", host="127.0.0.1", port=9, security_protocol=0)],
        features=[
            Feature(name=name, min_supported_version=low, max_supported_version=high)
            for name, (low, high) in features.items()
        ],
        rack=None,
        log_dirs=(UUID(int=(9 << 64) + 1),),
    )
    return request.replace(**changes)


def heartbeat(epoch: int, broker_id: int = BROKER) -> BrokerHeartbeatRequest:
    """Return the heartbeat of a broker that has all metadata."""
    return BrokerHeartbeatRequest(
        broker_id=broker_id, broker_epoch=epoch, current_metadata_offset=epoch + 1_000_000
    )


def registrations(cluster_id: str) -> Iterator[Step]:
    """Yield registrations that a controller may refuse, and one of a second broker."""
    two: dict[str, Any] = {
        "broker_id": 2,
        "incarnation_id": UUID(int=(7 << 64) + 2),
        "log_dirs": (UUID(int=(9 << 64) + 2),),
    }
    kraft = {**two, "is_migrating_zk_broker": False}
    cases: dict[str, BrokerRegistrationRequest] = {
        "with ZooKeeper, of another cluster": registration("another", **two),
        "with ZooKeeper, older": registration(cluster_id, 20, **two),
        "with ZooKeeper, newer": registration(cluster_id, 22, **two),
        "with ZooKeeper, no listener among brokers": registration(
            cluster_id, **two, listeners=[Listener(name="OTHER", host="h", port=1)]
        ),
        "with ZooKeeper, no directories": registration(cluster_id, **{**two, "log_dirs": ()}),
        "with ZooKeeper, a directory of another": registration(
            cluster_id, **{**two, "log_dirs": (UUID(int=(9 << 64) + 1),)}
        ),
        "without": registration(cluster_id, **kraft),
        "without, of the first's id": registration(cluster_id, **{**kraft, "broker_id": BROKER}),
        "with ZooKeeper": registration(cluster_id, **two),
    }
    for name, asked in cases.items():
        yield Step(name=f"BrokerRegistration {name}", request=asked)
    yield Step(name="BrokerHeartbeat of an unknown broker", request=heartbeat(5, 7))
    for id in (2, 7):
        yield Step(name=f"UnregisterBroker {id}", request=UnregisterBrokerRequest(broker_id=id))
    controller = ControllerRegistrationRequest(
        controller_id=3009, incarnation_id=UUID(int=5), zk_migration_ready=True
    )
    yield Step(name="ControllerRegistration", request=controller)


def changes() -> Iterator[Step]:
    """Yield requests that change metadata, with and without content."""
    yield from (step for step in every_api.empty_requests() if _is_metadata(step))
    # 3.9's brokers have no configurations of groups.
    yield from (step for step in every_api.lowest_and_highest() if "of a group" not in step.name)
    named: dict[str, Request] = {
        "DeleteTopics of nothing known": DeleteTopicsRequest(
            topics=[DeleteTopicState(name="unknown"), DeleteTopicState(topic_id=UUID(int=5))],
            timeout_ms=60_000,
        ),
        "AlterConfigs": AlterConfigsRequest(resources=[_topic("t"), _topic("t")]),
        "AlterConfigs of one": AlterConfigsRequest(resources=[_topic("t")]),
        "AlterPartitionReassignments": AlterPartitionReassignmentsRequest(
            topics=[ReassignableTopic(name="t", partitions=[ReassignablePartition()])]
        ),
        "AlterClientQuotas": AlterClientQuotasRequest(
            entries=[
                EntryData(
                    entity=[EntityData(entity_type="user", entity_name="alice")],
                    ops=[OpData(key="producer_byte_rate", value=7.0)],
                )
            ]
        ),
        "AlterUserScramCredentials": AlterUserScramCredentialsRequest(
            deletions=[ScramCredentialDeletion(name="alice", mechanism=1)]
        ),
        "AssignReplicasToDirs": AssignReplicasToDirsRequest(
            broker_id=9, directories=[DirectoryData(id=UUID(int=4))]
        ),
        "AlterPartition": AlterPartitionRequest(
            broker_id=9,
            topics=[TopicData(topic_id=UUID(int=5), partitions=[PartitionData()])],
        ),
    }
    for name, asked in named.items():
        yield Step(name=f"{name} with more content", request=asked)
    for level, kind in ((20, SAFE_DOWNGRADE), (LEVEL, UPGRADE), (22, UPGRADE)):
        key = FeatureUpdateKey(feature=METADATA_VERSION, max_version_level=level, upgrade_type=kind)
        asked = UpdateFeaturesRequest(feature_updates=[key], validate_only=True)
        yield Step(name=f"UpdateFeatures to {level}", request=asked)


def _topic(name: str) -> AlterConfigsResource:
    config = AlterableConfig(name="retention.ms", value="7")
    return AlterConfigsResource(resource_type=2, resource_name=name, configs=[config])


def _is_metadata(step: Step) -> bool:
    return not step.follower and type(step.request).key in HANDLERS
