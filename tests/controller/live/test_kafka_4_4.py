"""KIP-1242, KIP-1312 and new limits of Kafka 4.4: kwire answers as Kafka does."""

import asyncio
from dataclasses import dataclass
from uuid import UUID

from kwire.codec.declaration import Request, Response
from kwire.error_codes import ErrorCode
from kwire.messages.a18_api_versions import ApiVersionsRequest, ApiVersionsResponse
from kwire.messages.a19_create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.messages.a37_create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from kwire.messages.a45_alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    ReassignablePartition,
    ReassignableTopic,
)
from kwire.messages.a63_broker_heartbeat import BrokerHeartbeatRequest
from kwire.messages.a70_controller_registration import (
    ControllerRegistrationRequest,
    ControllerRegistrationResponse,
)
from kwire.messages.a94_unregister_controller import (
    UnregisterControllerRequest,
    UnregisterControllerResponse,
)
from kwire.net.connection import Connection
from kwire.testing.quorum import Quorum
from real_kafka import Layout
from tests.support.controller.live.admin_session import Session
from tests.support.real_kafka.own_cluster import OwnCluster

SOFTWARE = ApiVersionsRequest(client_software_name="test", client_software_version="1")
DESCRIBE_CLIENT_QUOTAS = 48
"""KIP-919 lists it for controllers; Kafka's have no handler."""
UNKNOWN, GONE = 77, 3999


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The answers of one controller.

    identities: error codes of ApiVersions v5, by what it names. unregistered: error code and
    message, or not, for an unknown controller, the active one, one that is gone, that one again.
    """

    identities: dict[str, int]
    unregistered: list[tuple[int, bool]]
    apis: dict[int, tuple[int, int]]
    features: dict[str, tuple[int, int]]
    finalized: dict[str, int]


async def answers(host: str, port: int, cluster_id: str, node_id: int) -> Answers:
    async with await Connection.open(host, port) as connection:
        identities = {
            "itself": (cluster_id, node_id),
            "another node": (cluster_id, UNKNOWN),
            "another cluster": ("another", node_id),
            "a cluster alone": (cluster_id, -1),
            "a node alone": (None, node_id),
        }
        codes = {}
        for name, (cluster, node) in identities.items():
            named = await connection.send(SOFTWARE.replace(cluster_id=cluster, node_id=node), 5)
            assert isinstance(named, ApiVersionsResponse)
            codes[name] = named.error_code
        gone = ControllerRegistrationRequest(controller_id=GONE, incarnation_id=UUID(int=GONE))
        registered = await connection.send(gone)
        assert isinstance(registered, ControllerRegistrationResponse)
        assert registered.error_code == ErrorCode.NONE
        ids = (UNKNOWN, node_id, GONE, GONE)
        unregistered = [await unregister(connection, id) for id in ids]
        offered = connection.node
    return Answers(
        identities=codes,
        unregistered=unregistered,
        apis={
            key: (versions.min_version, versions.max_version)
            for key, versions in offered.api_versions.items()
        },
        features={
            name: (levels.min_version, levels.max_version)
            for name, levels in offered.supported_features.items()
        },
        finalized={name: levels.max_version for name, levels in offered.finalized_features.items()},
    )


CORDONED = 2
"""The broker of `placements` whose only directory is cordoned."""


async def placements(at: tuple[str, int], cluster_id: str) -> dict[str, list[int]]:
    """Place replicas on two brokers by hand, and ask for many partitions; the error codes."""
    session = Session(
        leader_id=3000,
        cluster_id=cluster_id,
        leader=await Connection.open(*at),
        follower=await Connection.open(*at),
    )
    async with session.leader as connection, session.follower:
        await session.learn_features()
        for broker_id in (1, CORDONED):
            await session.register(broker_id)
        codes = {"created": _codes(await connection.send(_topics(("a", (1, 2)), ("b", (1,)))))}
        beat = BrokerHeartbeatRequest(
            broker_id=CORDONED,
            broker_epoch=session.epochs[CORDONED],
            current_metadata_offset=1_000_000,
            cordoned_log_dirs=(UUID(int=(9 << 64) + CORDONED),),
        )
        await connection.send(beat)
        requests: dict[str, Request] = {
            "a topic, cordoned": _topics(("c", (1, 2)), ("d", (1,))),
            "a partition, cordoned": _growth(("a", 2), assigned=((2, 1),)),
            "a move, cordoned": _moves((1, CORDONED), (CORDONED, 1), (CORDONED,), (1,)),
            "10,001 partitions of one": _growth(("b", 10_002)),
            "10,001 partitions of two": _growth(("a", 5_001), ("b", 5_002), ("none", 9)),
            "2,147,483,647 partitions": _growth(("b", 2**31 - 1), ("a", 2**31 - 1)),
        }
        for name, request in requests.items():
            codes[name] = _codes(await connection.send(request, timeout=60))
    return codes


def _topics(*topics: tuple[str, tuple[int, ...]]) -> Request:
    created = [
        CreatableTopic(
            name=name,
            num_partitions=-1,
            replication_factor=-1,
            assignments=[CreatableReplicaAssignment(partition_index=0, broker_ids=ids)],
        )
        for name, ids in topics
    ]
    return CreateTopicsRequest(topics=created, timeout_ms=30_000)


def _growth(*topics: tuple[str, int], assigned: tuple[tuple[int, ...], ...] = ()) -> Request:
    assignments = [CreatePartitionsAssignment(broker_ids=ids) for ids in assigned] or None
    grown = [
        CreatePartitionsTopic(name=name, count=count, assignments=assignments)
        for name, count in topics
    ]
    return CreatePartitionsRequest(topics=grown, timeout_ms=30_000)


def _moves(*targets: tuple[int, ...]) -> Request:
    """Move the only partition of a to one target after the other."""
    partitions = [ReassignablePartition(partition_index=0, replicas=ids) for ids in targets]
    topic = ReassignableTopic(name="a", partitions=partitions)
    return AlterPartitionReassignmentsRequest(topics=[topic], timeout_ms=30_000)


def _codes(answer: Response | None) -> list[int]:
    match answer:
        case CreateTopicsResponse(topics=topics):
            return [topic.error_code for topic in topics]
        case CreatePartitionsResponse(results=results):
            return sorted(result.error_code for result in results)
        case AlterPartitionReassignmentsResponse(responses=responses):
            return [item.error_code for topic in responses for item in topic.partitions]
    raise AssertionError(answer)


async def unregister(connection: Connection, controller_id: int) -> tuple[int, bool]:
    """The error code, and whether there is a message."""
    answer = await connection.send(UnregisterControllerRequest(controller_id=controller_id))
    assert isinstance(answer, UnregisterControllerResponse)
    return answer.error_code, bool(answer.error_message)


async def test_a_controller_of_4_4_and_kwires_answer_alike(own_cluster: OwnCluster) -> None:
    cluster = own_cluster(Layout(controllers=(3000,), version="4.4.0"))
    await asyncio.to_thread(cluster.start)
    at = cluster.controllers[3000].controller_address
    theirs = await answers(at.host, at.port, cluster.cluster_id, 3000)
    their_codes = await placements((at.host, at.port), cluster.cluster_id)
    async with Quorum(1, release="4.4") as quorum:
        leader = await quorum.active_controller()
        await leader.metadata.until(lambda: 3000 in leader.metadata.image.cluster.controllers)
        host, port = quorum.addresses[3000]
        ours = await answers(host, port, quorum.cluster_id, 3000)
        our_codes = await placements((host, port), quorum.cluster_id)
    assert ours.identities == theirs.identities
    assert theirs.identities["another node"] == ErrorCode.NONE  # only brokers look at it
    assert ours.unregistered == theirs.unregistered
    unknown, itself = ErrorCode.CONTROLLER_ID_NOT_REGISTERED, ErrorCode.INVALID_REQUEST
    assert theirs.unregistered == [(unknown, True), (itself, True), (0, False), (unknown, True)]
    assert ours.apis.pop(DESCRIBE_CLIENT_QUOTAS)
    assert ours.apis == theirs.apis
    assert ours.features == theirs.features
    assert ours.finalized == theirs.finalized
    assert our_codes == their_codes
    assert their_codes["created"] == [0, 0]
    assert their_codes["a topic, cordoned"] == [ErrorCode.INVALID_REPLICA_ASSIGNMENT, 0]
    assert their_codes["10,001 partitions of one"] == [ErrorCode.POLICY_VIOLATION]
