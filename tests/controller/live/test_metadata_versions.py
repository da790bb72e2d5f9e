"""From 3.3-IV3 to 4.4-IV2 a controller writes the records, at the versions, that Kafka's writes."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

import pytest

from kwire.batches import read_batches
from kwire.batches.metadata_records import read_metadata_record
from kwire.codec.declaration import Request
from kwire.controller.server.node import ControllerNode
from kwire.messages.a19_create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from kwire.messages.a37_create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from kwire.messages.a44_incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kwire.messages.a57_update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
)
from kwire.messages.a62_broker_registration import (
    BrokerRegistrationRequest,
    BrokerRegistrationResponse,
    Feature,
    Listener,
)
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest
from kwire.messages.a64_unregister_broker import UnregisterBrokerRequest
from kwire.messages.metadata_versions import LATEST_PRODUCTION, METADATA_VERSION, MINIMUM, NAMES
from kwire.messages.records.feature_level import FeatureLevelRecord
from kwire.net.connection import Connection
from kwire.testing.local_kafka.node import KnownQuorum
from real_kafka.choice import Launcher
from tests.support.controller.live.admin_session import leader_of
from tests.support.controller.live.java_nodes import segment
from tests.support.controller.live.static_controller import StaticJava, StaticKwire

KAFKA = "4.4.0"
LEVELS = range(MINIMUM, LATEST_PRODUCTION + 1)
UPGRADE, SAFE_DOWNGRADE, UNSAFE_DOWNGRADE = 1, 2, 3
ANY_TIME = {"NoOp", "RegisterController"}
"""Written when it suits the controller: in a pause, or when it has registered itself."""

QUIET = {"broker.session.timeout.ms": "3600000"}


@dataclass(slots=True, kw_only=True)
class Climb:
    """The history of one controller. answers: error codes by level and step."""

    answers: dict[tuple[str, str], object] = field(default_factory=dict)
    records: dict[str, list[tuple[str, int]]] = field(default_factory=dict)


async def climb(quorum: KnownQuorum) -> Climb:
    """Raise metadata.version level by level, and have records of every kind written at each."""
    (voter,) = quorum.voters
    address = voter.address.host, voter.address.port
    await leader_of({voter.node_id: address})
    found = Climb()
    async with await Connection.open(*address) as connection:
        for level in LEVELS:
            name = NAMES[level]
            for step, request in _steps(level, quorum.cluster_id):
                answer = await connection.send(request, timeout=60)
                found.answers[name, step] = _codes(answer)
                if isinstance(answer, BrokerRegistrationResponse):
                    await _live_and_leave(connection, level, answer.broker_epoch)
    return found


def _steps(level: int, cluster_id: str) -> Iterator[tuple[str, Request]]:
    if level > MINIMUM:
        yield "two levels down, as an upgrade", _update(level - 2, UPGRADE, validate_only=True)
        yield "upgrade", _update(level, UPGRADE)
        for kind, word in ((SAFE_DOWNGRADE, "safe"), (UNSAFE_DOWNGRADE, "unsafe")):
            for lower in range(MINIMUM, level):
                step = f"{word} downgrade to {NAMES[lower]}"
                yield step, _update(lower, kind, validate_only=True)
    yield "register", _registration(level, cluster_id)


def _update(level: int, kind: int, *, validate_only: bool = False) -> Request:
    key = FeatureUpdateKey(feature=METADATA_VERSION, max_version_level=level, upgrade_type=kind)
    return UpdateFeaturesRequest(
        feature_updates=[key], validate_only=validate_only, timeout_ms=60_000
    )


def _registration(level: int, cluster_id: str) -> Request:
    return BrokerRegistrationRequest(
        broker_id=level,
        cluster_id=cluster_id,
        incarnation_id=UUID(int=(7 << 64) + level),
        listeners=[Listener(name="PLAINTEXT", host="127.0.0.1", port=9000, security_protocol=0)],
        features=[
            Feature(
                name=METADATA_VERSION,
                min_supported_version=MINIMUM,
                max_supported_version=LATEST_PRODUCTION,
            )
        ],
        rack=None,
        log_dirs=(UUID(int=(9 << 64) + level),),
    )


async def _live_and_leave(connection: Connection, level: int, epoch: int) -> None:
    """Be unfenced, host a topic that changes, shut down, be forgotten."""
    beat = BrokerHeartbeatRequest(
        broker_id=level, broker_epoch=epoch, current_metadata_offset=epoch + 1_000_000
    )
    assigned = [CreatableReplicaAssignment(partition_index=0, broker_ids=(level,))]
    topic = f"t{level}"
    requests = (
        beat,
        CreateTopicsRequest(
            topics=[
                CreatableTopic(
                    name=topic, num_partitions=-1, replication_factor=-1, assignments=assigned
                )
            ],
            timeout_ms=60_000,
        ),
        CreatePartitionsRequest(
            topics=[CreatePartitionsTopic(name=topic, count=2, assignments=None)],
            timeout_ms=60_000,
        ),
        IncrementalAlterConfigsRequest(
            resources=[
                AlterConfigsResource(
                    resource_type=2,
                    resource_name=topic,
                    configs=[AlterableConfig(name="retention.ms", value="7")],
                )
            ]
        ),
        beat.replace(want_shut_down=True),
        beat.replace(want_fence=True),
        UnregisterBrokerRequest(broker_id=level),
    )
    for request in requests:
        answer = await connection.send(request, timeout=60)
        assert not any(_codes(answer)), (level, request, answer)


def _codes(answer: object) -> list[int]:
    """Return every error code of an answer."""
    codes = [answer.error_code] if hasattr(answer, "error_code") else []
    for name in ("results", "topics", "responses"):
        codes += [item.error_code for item in getattr(answer, name, [])]
    return codes


def records(data: Path) -> dict[str, list[tuple[str, int]]]:
    """Return type and version of every record of a log, by the metadata.version then."""
    found: dict[str, list[tuple[str, int]]] = {}
    level = NAMES[MINIMUM]
    for batch in read_batches(segment(data).read_bytes()):
        if batch.is_control:
            continue
        for record in batch.records():
            metadata = read_metadata_record(record.value or b"")
            kind = type(metadata.record).__name__.removesuffix("Record")
            message = metadata.record
            if isinstance(message, FeatureLevelRecord) and message.name == METADATA_VERSION:
                level = NAMES[message.feature_level]
            if kind not in ANY_TIME:
                found.setdefault(level, []).append((kind, metadata.version))
    return found


@pytest.fixture
def java(kafka: Launcher) -> Iterator[StaticJava]:
    site = kafka.site(KAFKA, lambda text: None)
    try:
        yield StaticJava(site, NAMES[MINIMUM], QUIET)
    finally:
        site.close()


async def test_every_metadata_version_writes_the_records_that_kafka_writes(
    java: StaticJava, tmp_path: Path
) -> None:
    kwire = StaticKwire(tmp_path, NAMES[MINIMUM], QUIET)
    async with ControllerNode(kwire.config):
        ours = await climb(kwire.quorum)
    await asyncio.to_thread(java.node.start)
    theirs = await climb(java.quorum)

    assert ours.answers == theirs.answers
    assert len(ours.answers) > 700
    written = records(kwire.data)
    assert written == records(java.data)
    assert written.keys() == {NAMES[level] for level in LEVELS}
