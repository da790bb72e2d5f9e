"""AssignReplicasToDirs."""

from typing import Any
from uuid import UUID

from kwire.error_codes import ErrorCode
from kwire.image.partition import LOST, MIGRATING, UNASSIGNED
from kwire.messages.a73_assign_replicas_to_dirs import (
    AssignReplicasToDirsRequest,
    DirectoryData,
    PartitionData,
    TopicData,
)


def topic(topic_id: UUID, *numbers: int) -> TopicData:
    """Partitions of a topic."""
    partitions = [PartitionData(partition_index=number) for number in numbers]
    return TopicData(topic_id=topic_id, partitions=partitions)


def assignment(three: Any, *directories: DirectoryData) -> AssignReplicasToDirsRequest:
    """Return what broker 1 says of its directories."""
    return AssignReplicasToDirsRequest(
        broker_id=1,
        broker_epoch=three.image.cluster.brokers[1].epoch,
        directories=list(directories),
    )


def test_directories_are_assigned_partition_by_partition(three: Any) -> None:
    id = three.create("foo", (1, 2))
    three.create("other", (2,))
    unknown = UUID(int=5)
    topics = [
        topic(id, 0),
        topic(id, 7),
        topic(unknown, 0),
        topic(three.image.topics.ids["other"], 0),
    ]

    response = three.ask(assignment(three, DirectoryData(id=LOST, topics=topics)))

    assert [one.partitions[0].error_code for one in response.directories[0].topics] == [
        ErrorCode.NONE,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ]
    partition = three.partition("foo")
    assert (partition.directory(1), partition.leader, partition.isr) == (LOST, 2, (2,))
    # The directory alone, then the ISR without it.
    noted, left = (record.record for record in three.log[-2:])
    assert (noted.directories, noted.isr) == ((LOST, UUID(int=2002)), None)
    assert (left.directories, left.isr, left.leader) == (None, (2,), 2)


def test_every_partition_of_every_directory_is_noted(three: Any) -> None:
    """As in ReplicationControlManagerTest.testHandleAssignReplicasToDirs."""
    id = three.create("foo", (1, 2), (1, 3), (2, 1))
    before = len(three.log)
    three.ask(
        assignment(
            three,
            DirectoryData(id=UNASSIGNED, topics=[topic(id, 0, 1)]),
            DirectoryData(id=MIGRATING, topics=[topic(id, 2)]),
        )
    )
    directories = [three.partition("foo", number).directory(1) for number in range(3)]
    assert directories == [UNASSIGNED, UNASSIGNED, MIGRATING]
    assert len(three.log) - before == 3
