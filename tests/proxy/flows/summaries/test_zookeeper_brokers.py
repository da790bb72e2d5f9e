"""Summaries of requests to ZooKeeper-era brokers: the controller, its epochs, and the extent."""

import re
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest

import kwire
import vectors
from kwire.capture.reading import read_capture
from kwire.codec.declaration import Request, Response
from kwire.messages.a04_leader_and_isr import (
    LeaderAndIsrPartitionError,
    LeaderAndIsrPartitionState,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    LeaderAndIsrTopicError,
    LeaderAndIsrTopicState,
)
from kwire.messages.a05_stop_replica import (
    StopReplicaPartitionError,
    StopReplicaPartitionState,
    StopReplicaPartitionV0,
    StopReplicaRequest,
    StopReplicaResponse,
    StopReplicaTopicState,
    StopReplicaTopicV1,
)
from kwire.messages.a06_update_metadata import (
    UpdateMetadataBroker,
    UpdateMetadataPartitionState,
    UpdateMetadataRequest,
    UpdateMetadataResponse,
    UpdateMetadataTopicState,
)
from kwire.messages.a07_controlled_shutdown import (
    ControlledShutdownRequest,
    ControlledShutdownResponse,
    RemainingPartition,
)
from kwire.proxy import DecodedFlow, Flow, summarize
from kwire.proxy.capture.records import events
from tests.support.paths import FIXTURES
from tests.support.proxy.dialogue import asked
from tests.support.proxy.flows.dialogue_flows import decoded, rpc

KRAFT: dict[str, Any] = {
    "controller_id": 3000,
    "is_k_raft_controller": True,
    "controller_epoch": 5,
    "broker_epoch": 50,
}
"""The head that Kafka 3.9.1 sent in a migration: the epoch of /controller_epoch, not raft's."""

ZOOKEEPER: dict[str, Any] = {"controller_id": 0, "controller_epoch": 3}

FROM_KRAFT = "KRaft controller 3000, ZooKeeper epoch 5, to broker epoch 50"
FROM_ZOOKEEPER = "ZooKeeper controller 0, epoch 3"
ONE = UUID(int=1)


def role(index: int, controller_epoch: int = 3, **values: Any) -> LeaderAndIsrPartitionState:
    values = {"leader": 0, "leader_epoch": 2, "isr": (0, 1), **values}
    return LeaderAndIsrPartitionState(
        partition_index=index, controller_epoch=controller_epoch, **values
    )


def state(index: int, leader: int, topic: str = "") -> UpdateMetadataPartitionState:
    return UpdateMetadataPartitionState(
        topic_name=topic, partition_index=index, controller_epoch=3, leader=leader, leader_epoch=2
    )


def roles(*states: LeaderAndIsrPartitionState) -> list[LeaderAndIsrTopicState]:
    return [LeaderAndIsrTopicState(topic_name="one", topic_id=ONE, partition_states=list(states))]


def metadata(*states: UpdateMetadataPartitionState) -> list[UpdateMetadataTopicState]:
    return [UpdateMetadataTopicState(topic_name="one", partition_states=list(states))]


def live(*numbers: int) -> list[UpdateMetadataBroker]:
    return [UpdateMetadataBroker(id=number) for number in numbers]


LINES: list[tuple[Request, Response, int, str]] = [
    (
        LeaderAndIsrRequest(**KRAFT, type=2, topic_states=roles(role(0), role(1, 2), role(2))),
        LeaderAndIsrResponse(),
        7,
        f"{FROM_KRAFT}: full, 1 topic, 3 partitions of controller epochs 2 3,"
        " one-0 leader 0 epoch 2 ISR 0,1 one-1 leader 0 epoch 2 ISR 0,1 and 1 more: done",
    ),
    (
        LeaderAndIsrRequest(
            **KRAFT, type=1, topic_states=roles(role(0, leader=-1, isr=(), leader_recovery_state=1))
        ),
        LeaderAndIsrResponse(
            topics=[
                LeaderAndIsrTopicError(
                    topic_id=ONE,
                    partition_errors=[
                        LeaderAndIsrPartitionError(partition_index=0, error_code=56),
                        LeaderAndIsrPartitionError(partition_index=1),
                    ],
                )
            ]
        ),
        7,
        f"{FROM_KRAFT}: incremental, 1 topic, 1 partition of controller epoch 3,"
        " one-0 no leader, epoch 2 ISR empty recovering: one-0 KAFKA_STORAGE_ERROR",
    ),
    (
        LeaderAndIsrRequest(**KRAFT, type=2),
        LeaderAndIsrResponse(error_code=77),
        7,
        f"{FROM_KRAFT}: full, no partitions: STALE_BROKER_EPOCH",
    ),
    (
        LeaderAndIsrRequest(**ZOOKEEPER, ungrouped_partition_states=[role(0, topic_name="one")]),
        LeaderAndIsrResponse(
            partition_errors=[LeaderAndIsrPartitionError(topic_name="one", error_code=3)]
        ),
        1,
        f"{FROM_ZOOKEEPER}: 1 topic, 1 partition of controller epoch 3,"
        " one-0 leader 0 epoch 2 ISR 0,1: one-0 UNKNOWN_TOPIC_OR_PARTITION",
    ),
    (
        LeaderAndIsrRequest(**ZOOKEEPER, broker_epoch=24, type=7, topic_states=roles(role(0))),
        LeaderAndIsrResponse(error_code=11),
        6,
        f"{FROM_ZOOKEEPER}, to broker epoch 24: type 7, 1 topic, 1 partition of controller epoch 3,"
        " one-0 leader 0 epoch 2 ISR 0,1: STALE_CONTROLLER_EPOCH",
    ),
    (
        UpdateMetadataRequest(
            **KRAFT, type=2, topic_states=metadata(state(0, 1)), live_brokers=live(0)
        ),
        UpdateMetadataResponse(),
        8,
        f"{FROM_KRAFT}: full, 1 topic, 1 partition of controller epoch 3, live brokers 0,"
        " one-0 leader 1 epoch 2: done",
    ),
    (
        UpdateMetadataRequest(**KRAFT, topic_states=metadata(state(0, -2), state(1, -1))),
        UpdateMetadataResponse(error_code=77),
        8,
        f"{FROM_KRAFT}: 1 topic, 2 partitions of controller epoch 3, 1 being deleted,"
        " no live broker, one-0 being deleted one-1 no leader, epoch 2: STALE_BROKER_EPOCH",
    ),
    (
        UpdateMetadataRequest(**ZOOKEEPER, live_brokers=live(*reversed(range(10)))),
        UpdateMetadataResponse(),
        4,
        f"{FROM_ZOOKEEPER}: no partitions, live brokers 0 1 2 3 4 5 6 7 and 2 more: done",
    ),
    (
        UpdateMetadataRequest(**ZOOKEEPER, ungrouped_partition_states=[state(0, 1, "two")]),
        UpdateMetadataResponse(),
        0,
        f"{FROM_ZOOKEEPER}: 1 topic, 1 partition of controller epoch 3, no live broker,"
        " two-0 leader 1 epoch 2: done",
    ),
    (
        StopReplicaRequest(
            **KRAFT,
            topic_states=[
                StopReplicaTopicState(
                    topic_name="one",
                    partition_states=[
                        StopReplicaPartitionState(
                            partition_index=0, leader_epoch=-2, delete_partition=True
                        ),
                        StopReplicaPartitionState(
                            partition_index=1, leader_epoch=4, delete_partition=True
                        ),
                        StopReplicaPartitionState(partition_index=2),
                    ],
                )
            ],
        ),
        StopReplicaResponse(),
        4,
        f"{FROM_KRAFT}: delete 2 replicas one-0 of a deleted topic one-1, stop 1 replica one-2:"
        " done",
    ),
    (
        StopReplicaRequest(
            **ZOOKEEPER,
            delete_partitions=True,
            topics=[StopReplicaTopicV1(name="one", partition_indexes=(0, 1, 2))],
        ),
        StopReplicaResponse(
            partition_errors=[
                StopReplicaPartitionError(topic_name="one", partition_index=1, error_code=56)
            ]
        ),
        2,
        f"{FROM_ZOOKEEPER}: delete 3 replicas one-0 one-1 and 1 more: one-1 KAFKA_STORAGE_ERROR",
    ),
    (
        StopReplicaRequest(
            **ZOOKEEPER,
            ungrouped_partitions=[StopReplicaPartitionV0(topic_name="one", partition_index=7)],
        ),
        StopReplicaResponse(),
        0,
        f"{FROM_ZOOKEEPER}: stop 1 replica one-7: done",
    ),
    (
        StopReplicaRequest(**ZOOKEEPER),
        StopReplicaResponse(error_code=11),
        3,
        f"{FROM_ZOOKEEPER}: no replicas: STALE_CONTROLLER_EPOCH",
    ),
    (
        ControlledShutdownRequest(broker_id=1, broker_epoch=24),
        ControlledShutdownResponse(
            remaining_partitions=[RemainingPartition(topic_name="one", partition_index=2)]
        ),
        3,
        "broker 1 at broker epoch 24 wants to shut down: still leads one-2",
    ),
    (
        ControlledShutdownRequest(broker_id=1),
        ControlledShutdownResponse(),
        1,
        "broker 1 wants to shut down: leads nothing any more",
    ),
    (
        ControlledShutdownRequest(broker_id=1),
        ControlledShutdownResponse(error_code=11),
        0,
        "broker 1 wants to shut down: STALE_CONTROLLER_EPOCH",
    ),
]


@pytest.mark.parametrize(("request_", "response", "version", "line"), LINES)
def test_a_flow_is_told_in_one_line(
    request_: Request, response: Response, version: int, line: str
) -> None:
    assert summarize(rpc(request_, response, version)) == line


VERSIONS = {"LeaderAndIsrRequest": 7, "StopReplicaRequest": 4, "UpdateMetadataRequest": 8}
"""The newest version of each API: nothing after Kafka 3.9 has them."""

TYPES = {0: "", 1: "incremental, ", 2: "full, "}
"""The schema: "a Full metadata snapshot (2), Incremental (1), or Unknown (0)"."""


@pytest.mark.java
def test_every_version_that_kafka_wrote_is_told_as_kafka_prints_it() -> None:
    seen = set()
    for vector in vectors.messages("3.9.1"):
        if vector.name in VERSIONS:
            message = kwire.message(vector.name).decode(vector.data, vector.version)
            assert isinstance(message, Request)
            line = summarize(decoded(asked(message, vector.version, 1)))
            assert re.match(beginning(vector.name, vector.json), line), (vector, line)
            seen.add((vector.name, vector.version))
    every = {(name, number) for name, last in VERSIONS.items() for number in range(last + 1)}
    assert seen == every


def beginning(name: str, tree: Any) -> str:
    """Return how the line of a request begins, by the JSON that Kafka's converter made of it."""
    by_kraft = tree.get("isKRaftController", False)
    sender = f"{'KRaft' if by_kraft else 'ZooKeeper'} controller {tree['controllerId']}"
    sender += f", {'ZooKeeper ' if by_kraft else ''}epoch {tree['controllerEpoch']}"
    if tree.get("brokerEpoch", -1) >= 0:
        sender += f", to broker epoch {tree['brokerEpoch']}"
    number = tree.get("type", 0)
    kind = TYPES.get(number, f"type {number}, ")
    if name == "StopReplicaRequest":
        return re.escape(f"{sender}: ") + replicas(tree)
    partitions = list(listed(tree))
    count = f"{len(partitions)} partition{'' if len(partitions) == 1 else 's'} of controller epoch"
    topics = "[0-9]+ topics?, " if partitions else ""
    return re.escape(f"{sender}: {kind}") + topics + (count if partitions else "no partitions")


def listed(tree: Any) -> Iterator[Any]:
    yield from tree.get("ungroupedPartitionStates", ())
    for topic in tree.get("topicStates", ()):
        yield from topic["partitionStates"]


def replicas(tree: Any) -> str:
    deleted = [state["deletePartition"] for state in listed(tree)]
    old = tree.get("ungroupedPartitions", [])
    old = [
        *old,
        *(index for topic in tree.get("topics", ()) for index in topic["partitionIndexes"]),
    ]
    deleted += [tree.get("deletePartitions", False)] * len(old)
    if not deleted:
        return "no replicas"
    count = deleted.count(True) or len(deleted)
    return f"{'delete' if any(deleted) else 'stop'} {count} replicas? "


CAPTURE = FIXTURES / "migrating" / "recordings" / "kafka-3.9.1" / "rpcs.avro"
"""A real migration; `python -m migrating.real_clusters.golden_capture` makes it anew."""

TAKEN_OVER = (
    r"topics?, \d+ partitions of controller epoch 1, live brokers 0 1, .*: done",
    r"full, \d+ topics?, \d+ partitions of controller epoch 1, \w+-\d leader .* ISR .*: done",
    r"full, \d+ topics?, \d+ partitions of controller epoch 1, live brokers 0 1, .*: done",
)
"""The first three requests of the quorum to a broker: 3.9's MigrationPropagator sends them so."""


def lines_of(sender: str) -> dict[int | None, list[str]]:
    """Return the lines of a controller in the capture, by broker."""
    lines: dict[int | None, list[str]] = {}
    for flow in events(read_capture(CAPTURE)):
        if isinstance(flow, Flow) and flow.key in (4, 5, 6):
            line = summarize(DecodedFlow(flow))
            if line.startswith(sender):
                lines.setdefault(flow.connection.node_id, []).append(line)
    return lines


def test_a_real_migration_tells_each_broker_all_of_it_first() -> None:
    lines = lines_of("KRaft controller 3000, ZooKeeper epoch ")
    assert lines.keys() == {0, 1}
    for first in (broker_lines[:3] for broker_lines in lines.values()):
        for line, form in zip(first, TAKEN_OVER, strict=True):
            assert re.search(f": (\\d+ )?{form}$", line), line


def test_a_real_migration_deletes_the_replicas_of_a_deleted_topic() -> None:
    (line,) = {
        line.partition(": ")[2]
        for lines in lines_of("KRaft controller 3000").values()
        for line in lines
        if "of a deleted topic" in line
    }
    assert line == "delete 1 replica late-deleted-0 of a deleted topic: done"


def test_the_brokers_heard_from_a_zookeeper_controller_before() -> None:
    lines = [line for some in lines_of("ZooKeeper controller").values() for line in some]
    assert len(lines) > 20
    assert not [line for line in lines if re.search(": (full|incremental),", line)]
