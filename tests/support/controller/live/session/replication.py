"""The requests of replicas: Fetch and FetchSnapshot, right and wrong ones, and DescribeQuorum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from kwire.logdir.names import OffsetAndEpoch
from kwire.messages.a01_fetch import FetchPartition, FetchRequest, FetchTopic, ReplicaState
from kwire.messages.a55_describe_quorum import (
    DescribeQuorumRequest,
    PartitionData,
    TopicData,
)
from kwire.messages.a59_fetch_snapshot import (
    FetchSnapshotRequest,
    PartitionSnapshot,
    SnapshotId,
    TopicSnapshot,
)
from kwire.messages.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from tests.support.controller.live.admin_session import Step

OBSERVER = 900
"""The id of the replica that fetches; it votes nowhere."""

DIRECTORY = UUID(int=(3 << 64) + 900)
ANOTHER = "AAAAAAAAAAAAAAAAAAAAAQ"
"""The id of another cluster."""

BY_NAME, BY_ID, ENDPOINTS, LATEST = 12, 13, 17, 18
"""Versions of Fetch: the last with topic names, the first with ids, and two later ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicatedLog:
    """A controller's log as the script asks for it.

    epoch: of its leader. size: of the snapshot, in bytes.
    """

    cluster_id: str
    leader_id: int
    epoch: int
    snapshot: OffsetAndEpoch
    size: int


def script(log: ReplicatedLog) -> Iterator[Step]:
    """Return the steps, for one controller that leads alone."""
    yield from _fetches(log)
    yield from _positions(log)
    yield from _snapshots(log)
    yield from _quorums()


def _fetches(log: ReplicatedLog) -> Iterator[Step]:
    for version in (4, 11, BY_NAME, BY_ID, 14, 15, 16, ENDPOINTS, LATEST):
        yield _fetch(f"the log, v{version}", log, version=version)
        yield _fetch(f"a low epoch, v{version}", log, version=version, epoch=log.epoch - 1)
        yield _fetch(f"another topic, v{version}", log, version=version, topic="other")
    yield _fetch("another cluster", log, cluster_id=ANOTHER)
    yield _fetch("no cluster", log, cluster_id=None)
    yield _fetch("a cluster id of nothing", log, cluster_id="")
    yield _fetch("a greater epoch", log, epoch=log.epoch + 1)
    yield _fetch("no epoch", log, epoch=-1)
    yield _fetch("partition 1", log, partitions=(1,))
    yield _fetch("no partition", log, partitions=())
    yield _fetch("two partitions", log, partitions=(0, 1))
    yield _fetch("a negative wait", log, wait=-1)
    yield _fetch("by a consumer", log, replica_id=-1)
    yield _fetch("by the leader's id", log, replica_id=log.leader_id)
    none = FetchRequest(cluster_id=log.cluster_id, max_wait_ms=0, min_bytes=0, topics=[])
    yield Step(name="Fetch of no topic", request=none, version=LATEST)


def _positions(log: ReplicatedLog) -> Iterator[Step]:
    yield _fetch("a negative offset", log, offset=-1)
    yield _fetch("a negative last epoch", log, last_epoch=-1)
    yield _fetch("a last epoch above the current", log, last_epoch=log.epoch + 1)
    yield _fetch("an offset that is not there yet", log, offset=1 << 40, last_epoch=log.epoch)
    yield _fetch("an offset of no epoch", log, offset=5)
    yield _fetch("no bytes", log, max_bytes=0)
    yield _fetch("a negative number of bytes", log, max_bytes=-1)


def _fetch(
    name: str,
    log: ReplicatedLog,
    *,
    version: int = LATEST,
    cluster_id: str | None = "this",
    topic: str = METADATA_TOPIC,
    partitions: tuple[int, ...] = (0,),
    epoch: int | None = None,
    offset: int = 0,
    last_epoch: int = 0,
    wait: int = 0,
    max_bytes: int = 1 << 20,
    replica_id: int = OBSERVER,
) -> Step:
    wanted = [
        FetchPartition(
            partition=number,
            current_leader_epoch=log.epoch if epoch is None else epoch,
            fetch_offset=offset,
            last_fetched_epoch=last_epoch if version >= BY_NAME else -1,
            partition_max_bytes=max_bytes,
            replica_directory_id=DIRECTORY,
        )
        for number in partitions
    ]
    is_metadata = topic == METADATA_TOPIC
    request = FetchRequest(
        cluster_id=log.cluster_id if cluster_id == "this" else cluster_id,
        replica_id=replica_id if version < 15 else -1,
        replica_state=ReplicaState(replica_id=replica_id) if version >= 15 else None,
        max_wait_ms=wait,
        min_bytes=0,
        max_bytes=max_bytes,
        topics=[
            FetchTopic(
                topic=topic,
                topic_id=METADATA_TOPIC_ID if is_metadata else UUID(int=77),
                partitions=wanted,
            )
        ],
    )
    return Step(name=f"Fetch of {name}", request=request, version=version)


def _snapshots(log: ReplicatedLog) -> Iterator[Step]:
    for version in (0, 1):
        yield _snapshot(f"its beginning, v{version}", log, version=version)
        yield _snapshot(f"a low epoch, v{version}", log, version=version, epoch=log.epoch - 1)
        yield _snapshot(f"another topic, v{version}", log, version=version, topics=("other",))
    yield _snapshot("another cluster", log, cluster_id=ANOTHER)
    yield _snapshot("no cluster", log, cluster_id=None)
    yield _snapshot("a greater epoch", log, epoch=log.epoch + 1)
    yield _snapshot("partition 1", log, partitions=(1,))
    yield _snapshot("partitions 0 and 1", log, partitions=(0, 1))
    yield _snapshot("partitions 1 and 0", log, partitions=(1, 0))
    yield _snapshot("two topics", log, topics=(METADATA_TOPIC, "other"))
    yield _snapshot("an unknown one", log, snapshot=OffsetAndEpoch(offset=1 << 40, epoch=1))
    yield _snapshot("the bootstrap checkpoint", log, snapshot=OffsetAndEpoch(offset=0, epoch=0))
    yield _snapshot("a negative one", log, snapshot=OffsetAndEpoch(offset=-1, epoch=-1))
    yield _snapshot("a negative position", log, position=-1)
    yield _snapshot("its end", log, position=log.size)
    yield _snapshot("a position behind it", log, position=1 << 40)
    yield _snapshot("its last byte", log, position=log.size - 1)
    yield _snapshot("no bytes", log, max_bytes=0)


def fatal(log: ReplicatedLog) -> list[Step]:
    """Return requests that end a controller of Kafka's: its fault handler halts the process."""
    return [
        _snapshot("no topic", log, topics=()),
        _snapshot("a negative number of bytes", log, max_bytes=-1),
    ]


def _snapshot(
    name: str,
    log: ReplicatedLog,
    *,
    version: int = 1,
    cluster_id: str | None = "this",
    topics: tuple[str, ...] = (METADATA_TOPIC,),
    partitions: tuple[int, ...] = (0,),
    epoch: int | None = None,
    snapshot: OffsetAndEpoch | None = None,
    position: int = 0,
    max_bytes: int = 1 << 20,
) -> Step:
    id = snapshot or log.snapshot
    wanted = [
        PartitionSnapshot(
            partition=number,
            current_leader_epoch=log.epoch if epoch is None else epoch,
            snapshot_id=SnapshotId(end_offset=id.offset, epoch=id.epoch),
            position=position,
            replica_directory_id=DIRECTORY,
        )
        for number in partitions
    ]
    request = FetchSnapshotRequest(
        cluster_id=log.cluster_id if cluster_id == "this" else cluster_id,
        replica_id=OBSERVER,
        max_bytes=max_bytes,
        topics=[TopicSnapshot(name=topic, partitions=wanted) for topic in topics],
    )
    return Step(name=f"FetchSnapshot of {name}", request=request, version=version)


def _quorums() -> Iterator[Step]:
    for version in (0, 1, 2):
        for topic, number in ((METADATA_TOPIC, 0), (METADATA_TOPIC, 1), ("other", 0)):
            wanted = TopicData(topic_name=topic, partitions=[PartitionData(partition_index=number)])
            yield Step(
                name=f"DescribeQuorum of {topic}-{number}, v{version}",
                request=DescribeQuorumRequest(topics=[wanted]),
                version=version,
            )
    yield Step(name="DescribeQuorum of no topic", request=DescribeQuorumRequest(topics=[]))
